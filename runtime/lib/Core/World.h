//===- World.h - The ranks of one program in this process -------*- C++ -*-===//
//
// All ranks of the program, or, in a job of processes, one of them. One thread
// a rank, asleep between runs. The thread that calls run() is the watchdog
// while it waits. State is shared by the handle and the threads, so that a rank
// that never comes back can be left behind.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_CORE_WORLD_H
#define SHARDRT_CORE_WORLD_H

#include "Comm/Bootstrap/Transport.h"
#include "Comm/Comm.h"
#include "Core/Context.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shardrt {

class World {
public:
  struct Options {
    GroupOptions group;
    Job *job = nullptr; ///< NULL: all ranks are threads
    Wire wire = Wire::Auto;
    int64_t graceNs = 0; ///< negative: for ever
    bool pin = false;
    int kernelSchedule = 0;
    uint64_t kernelSeed = 0;
    int transport = SHARDRT_TRANSPORT_AUTO;
    bool record = true;
    shardrt_host_fn host = nullptr;
    void *hostUser = nullptr;
    bool trace = false;
    bool deterministic = false;
  };
  World(std::shared_ptr<const Program> program, Options options);
  ~World();

  /// What the thread of a rank, number `index` of those of this process, does
  /// until stop().
  void serve(size_t index);
  void stop();
  /// True once it has left serve().
  bool gone(size_t index) const;
  int run(void *const *const *inputs, void *const *const *outputs,
          int64_t repeat, double *milliseconds);
  /// Runs `task` on each rank in place of the program.
  int call(shardrt_task_fn task, void *user);
  /// Between runs: brings `bytes` bytes of each process to rank `root`.
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

  std::shared_ptr<const Program> program;
  /// What all ranks share; gone after what they hold, which may lie in it.
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<shardrt_context>> contexts; ///< of this process
  int status = SHARDRT_OK; ///< why there is no world
  std::string error;
  std::string transport;       ///< between devices, and why that one
  bool hasToldFailure = false; ///< to who called, of a group that stays failed
  std::vector<std::string> rankErrors; ///< by rank

private:
  /// What ranks are to do in a run.
  struct Work {
    void *const *const *inputs = nullptr;
    void *const *const *outputs = nullptr;
    int64_t repeat = 0;
    double *milliseconds = nullptr;
    int64_t lastEndNs = 0;          ///< when the step before ended
    shardrt_task_fn task = nullptr; ///< in place of the program
    void *user = nullptr;
  };
  int start(const Work &work);
  void runTask(shardrt_context &ctx);
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
  void runRepeated(shardrt_context &ctx, void *const *inputs,
                   void *const *outputs);
  void runSteps(shardrt_context &ctx, void *const *inputs,
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
  bool runStep(shardrt_context &ctx, void *const *inputs, void *const *outputs);
  void waitForRanks(std::unique_lock<std::mutex> &lock);
  int reportFailure();
  std::string describe(int64_t site, bool full) const;

  Options options;
  std::string name; ///< of this world in its job
  nccl::UniqueId ncclId;
  int64_t ncclIds = 0;          ///< made so far
  bool recordsTogether = false; ///< the first device has begun to record

  mutable std::mutex mutex; ///< guards what follows, except inside a run
  std::condition_variable wake, done;
  Work job;
  int64_t generation = 0;
  int64_t running = 0; ///< ranks that are not done with the job
  bool stopping = false;
  std::vector<char> back; ///< by context: done with the job
  std::vector<char> left; ///< by context: has left serve()
};

} // namespace shardrt

/// The C handle.
struct shardrt_job {
  shardrt::Job job;
};

/// The C handle.
struct shardrt_world {
  std::shared_ptr<shardrt::World> world;
  std::vector<std::thread> threads;
};

#endif // SHARDRT_CORE_WORLD_H
