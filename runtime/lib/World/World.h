//===- World.h - The ranks of one program in this process -------*- C++ -*-===//
//
// All ranks of the program, or, in a job of processes, some of them, each at a
// place of a crew, which may be this world's alone. A run is one task for each
// of these places. What ranks that are threads synchronise through is the
// run's, borrowed from the crew; that of processes is their team's, which keeps
// the order of places, or the world's, as that of devices is, and runs go one
// after the other.
//
// State is shared by the handle and the runs, so that a rank that never comes
// back can be left behind.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_WORLD_WORLD_H
#define SHARDRT_WORLD_WORLD_H

#include "Collectives/Context.h"
#include "Comm/Bootstrap/Team.h"
#include "Comm/Bootstrap/Transport.h"
#include "Comm/Comm.h"
#include "World/Crew.h"
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace shardrt {

class World;

/// What ranks are to do in a run.
struct Work {
  void *const *const *inputs = nullptr;
  void *const *const *outputs = nullptr;
  int64_t repeat = 1;
  double *milliseconds = nullptr;
  shardrt_task_fn task = nullptr; ///< in place of the program
  void *user = nullptr;           ///< the task's, or a start's
  int64_t lastEndNs = 0;          ///< when the step before ended
};

/// Who waits for a run, and its result.
struct Waiter {
  std::mutex mutex;
  std::condition_variable done;
  bool isDone = false;
  int status = SHARDRT_OK;
  std::string error;
  std::vector<std::string> rankErrors; ///< by rank; none after a good run
};

/// The result of a run, and who is to be notified.
struct Outcome {
  int status = SHARDRT_OK;
  std::string error;
  std::vector<std::string> rankErrors;
  Waiter *waiter = nullptr;
  shardrt_done_fn done = nullptr;
  void *user = nullptr;

  /// Nothing, where there is nobody.
  void notify();
};

/// What one rank of this process does of a run.
struct RunPart final : Task {
  Run *of = nullptr;
  size_t context = 0;
  void *const *inputs = nullptr;
  void *const *outputs = nullptr;
  std::atomic<bool> hasBegun{false}, hasLeft{false};
  /// In the step that was weighed last. A rank may be in the next one while
  /// another reads it.
  std::atomic<int64_t> busyNs{0};
  void run(int status, Outcome &outcome) override;
  /// Reads what the run's caller gave.
  void begin();
};

/// A run, from its start until its last rank has left.
struct Run {
  std::shared_ptr<World> world;
  Work work;
  std::unique_ptr<RunPart[]> allParts; ///< by place
  size_t numParts = 0;
  std::span<RunPart> parts() const { return {allParts.get(), numParts}; }
  int64_t number = 0;    ///< of the world's, where they go one after the other
  int64_t firstStep = 0; ///< steps of the world's earlier runs
  std::atomic<size_t> weighed{0}; ///< ranks, of the step that is weighed
  Waiter *waiter = nullptr;
  shardrt_done_fn done = nullptr;

  std::atomic<int64_t> toBegin{0}, toLeave{0}; ///< ranks
  std::atomic<int64_t> begunNs{0};             ///< when all had; 0: not yet
  std::atomic<bool> isReported{false};
  Group *group = nullptr;
  // Guarded by the crew.
  std::unique_ptr<LocalGroup> borrowed;
  bool isWatched = false;
  int64_t failedNs = 0; ///< when that was noticed
  // Guarded by the world.
  bool isPrepared = false;
  /// How often the world has run with these addresses before, as far as it
  /// remembers, of arguments and results that are on devices; and which.
  int64_t sightings = 0;
  std::vector<void *> binding;
  int refusal = SHARDRT_OK; ///< why it does not happen
  std::string whyRefused;
};

/// The longest wait, in nanoseconds (0: for ever), of what a caller asked for,
/// in milliseconds.
int64_t readTimeout(int64_t asked, bool hasHost);

class World : public std::enable_shared_from_this<World> {
public:
  struct Options {
    GroupOptions group;
    Job *job = nullptr; ///< NULL: all ranks are threads
    Wire wire = Wire::Auto;
    /// Where processes share connections, and the job's rank of each rank.
    std::shared_ptr<Team> team;
    std::vector<int64_t> teamRanks;
    uint64_t digest = 0;         ///< of the program, for the team
    int64_t graceNs = 0;         ///< negative: for ever
    std::vector<int64_t> places; ///< by context; empty: 0, 1, …
    int kernelSchedule = 0;
    uint64_t kernelSeed = 0;
    int transport = SHARDRT_TRANSPORT_AUTO;
    bool record = true;
    shardrt_host_fn host = nullptr;
    void *hostUser = nullptr;
    bool trace = false;
    bool deterministic = false;
    /// By rank; empty: arguments and results are in host memory.
    std::vector<shardrt_memory *> memories;
    int64_t numInputs = 0, numOutputs = 0;
  };
  World(std::shared_ptr<const Program> program, std::shared_ptr<Crew> crew,
        Options options);
  ~World();

  /// Begins a run; whoever asked is notified when it is over, unless this
  /// fails.
  int start(const Work &work, Waiter *waiter, shardrt_done_fn done);
  /// Does a run and waits for it.
  int run(const Work &work);
  /// Does it on the calling thread, rank by rank, or returns SHARDRT_BUSY.
  int runHere(const Work &work, std::string &why);
  /// What a rank does of a run; not, where `status` says that its place will
  /// not come to it.
  void doPart(Run &run, RunPart &part, int status, Outcome &outcome);
  /// The result of a run that is over, or will never be.
  Outcome outcomeOf(const Run &run);
  const GroupOptions &groupOptions() const { return options.group; }
  int64_t graceNs() const { return options.graceNs; }
  const DescribeSite describeSite;
  /// Between runs: gathers `bytes` bytes of each process at rank `root`.
  int gather(int64_t root, const void *mine, int64_t bytes, void *const *parts,
             const int64_t *partBytes);
  /// The context of `rank`, if it is one of this process.
  shardrt_context *find(int64_t rank) const {
    for (const auto &ctx : contexts)
      if (ctx->rank == rank)
        return ctx.get();
    return nullptr;
  }
  int64_t numRanks() const { return program->table.numRanks(); }
  /// Whether `rank` is one of this process.
  bool isHere(int64_t rank) const {
    return options.job    ? rank == options.job->launch.rank
           : options.team ? options.team->isHere(options.teamRanks[rank])
                          : true;
  }

  std::shared_ptr<const Program> program;
  std::shared_ptr<Crew> crew;
  /// What all ranks share, unless runs borrow it; gone after what they hold,
  /// which may be in it.
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<shardrt_context>> contexts; ///< of this process
  int status = SHARDRT_OK; ///< why there is no world
  std::string error;
  std::string transport; ///< between devices, and why that one
  /// To who called, of a group that stays failed.
  std::atomic<bool> hasReportedFailure{false};
  std::vector<std::string> rankErrors; ///< by rank

private:
  /// Gives a rank the run's group; false, where the run does not happen.
  bool join(RunPart &part);
  /// Where the world has the group: waits for the run before; false if that
  /// never ends.
  bool takeGroup(Run &run);
  void refuse(Run &run, int status, const std::string &why);
  /// The rank publishes to other processes which program it runs, and what it
  /// is bound to; false, where the run does not happen.
  bool agree(Run &run, int64_t rank);
  /// The last one to leave ends the run.
  void leave(Run &run, RunPart &part, Outcome &outcome);
  /// With the mutex held: notes where arguments and results of a run are.
  void noteBinding(Run &run);
  void doWork(shardrt_context &ctx, Run &run, void *const *inputs,
              void *const *outputs);
  void runTask(shardrt_context &ctx, const Work &work);
  /// One rank's part of a run on the calling thread, which has its place.
  int runPartHere(size_t context, Run &run, std::string &why);
  bool makeGroup();
  bool makeContexts();
  /// What this process of a job can do, for the others.
  TransportOffer transportOffer();
  /// How collectives are carried out; false, with `status`, if not as asked.
  bool pickCollectives();
  /// Gives each rank its part of NCCL; 0, or a status and why not.
  int makeNcclRanks(std::string &why);
  /// A new id: what communicators were made by the last one are aborted.
  int renewNccl(std::string &why);
  void runRepeated(shardrt_context &ctx, Run &run, void *const *inputs,
                   void *const *outputs);
  void runSteps(shardrt_context &ctx, Run &run, void *const *inputs,
                void *const *outputs);
  /// Who records what a rank's device does in a step: nobody, the device of the
  /// only rank, each device what it does, or all devices of this process
  /// together.
  enum class Replay { Never, Alone, Each, Together };
  Replay howToReplay(const shardrt_context &ctx) const;
  /// Whether no rank's host has looked at its data in this run. All ask
  /// together; false after failing the step as well.
  bool hasNoneLooked(shardrt_context &ctx);
  /// From here on work is recorded; false if not, or after failing the step.
  bool beginRecording(shardrt_context &ctx, Replay how);
  /// Does what was recorded; false after failing the step.
  bool endRecording(shardrt_context &ctx, Replay how);
  /// The work of a step that was recorded, once more.
  bool replayStep(shardrt_context &ctx, Replay how);
  /// Step `number` of the world, which is of `run`.
  bool runStep(shardrt_context &ctx, Run &run, int64_t number,
               void *const *inputs, void *const *outputs);
  /// Notes what processor time a step took a rank, and has threads of ranks
  /// that share cores change places where one has most of the work.
  void weighStep(const shardrt_context &ctx, Run &run, int64_t busyNs);
  /// A failure of the group, in words.
  void reportFailure(const Run &run, std::string &error,
                     std::vector<std::string> &rankErrors) const;
  std::string describe(int64_t site, bool full) const;

  Options options;
  std::string name; ///< of this world in its job
  /// What it shares with other programs on the same ranks of several processes,
  /// and its number there.
  TeamGroup *teamGroup = nullptr;
  int64_t number = 0;
  int64_t unbound = 0; ///< that of what its program was bound from; 0: none
  std::vector<int64_t> bound; ///< … and to what
  nccl::UniqueId ncclId;
  int64_t ncclIds = 0;          ///< made so far
  bool recordsTogether = false; ///< the first device has begun to record

  std::vector<int64_t> places; ///< by context
  std::vector<size_t> order;   ///< contexts by place
  /// Ranks have no core each; the system's own balance takes tens of
  /// milliseconds to see who has work and who only waits.
  bool sharesCores = false;
  std::atomic<int64_t> stepsStarted{0};

  std::mutex mutex;                  ///< guards what follows
  std::condition_variable ended;     ///< a run has
  int64_t started = 0, complete = 0; ///< runs, where one follows the other
  /// Where arguments and results lay in the last runs, and how often.
  std::deque<std::pair<std::vector<void *>, int64_t>> seen;
};

} // namespace shardrt

/// The C handle.
struct shardrt_job {
  shardrt::Job job;
  std::shared_ptr<shardrt::Team> team; ///< in place of it
};

/// The C handle.
struct shardrt_world {
  std::shared_ptr<shardrt::World> world;
  std::unique_ptr<shardrt::CrewHandle> own; ///< none with a crew of others
};

#endif // SHARDRT_WORLD_WORLD_H
