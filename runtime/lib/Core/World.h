//===- World.h - The ranks of one program in this process -------*- C++ -*-===//
//
// One thread a rank, asleep between runs. The thread that calls run() is the
// watchdog while it waits. State is shared by the handle and the threads, so
// that a rank that never comes back can be left behind.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_CORE_WORLD_H
#define SHARDRT_CORE_WORLD_H

#include "Comm/Local/LocalComm.h"
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
    LocalGroup::Options group;
    int64_t graceNs = 0; ///< negative: for ever
    bool pin = false;
    int kernelSchedule = 0;
    uint64_t kernelSeed = 0;
    int transport = SHARDRT_TRANSPORT_AUTO;
    bool record = true;
    bool trace = false;
  };
  World(std::shared_ptr<const Program> program, Options options);
  ~World();

  /// What the thread of `rank` does until stop().
  void serve(int64_t rank);
  void stop();
  /// True once `rank` has left serve().
  bool gone(int64_t rank) const;
  int run(void *const *const *inputs, void *const *const *outputs,
          int64_t repeat, double *milliseconds);

  std::shared_ptr<const Program> program;
  std::vector<std::unique_ptr<shardrt_context>> contexts;
  int status = SHARDRT_OK; ///< why there is no world
  std::string error;
  std::vector<std::string> rankErrors;

private:
  struct Job {
    void *const *const *inputs = nullptr;
    void *const *const *outputs = nullptr;
    int64_t repeat = 0;
    double *milliseconds = nullptr;
    int64_t lastEndNs = 0; ///< when the step before ended
  };
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
  /// The work of a step that a device has recorded, once more.
  bool replayStep(shardrt_context &ctx);
  bool runStep(shardrt_context &ctx, void *const *inputs, void *const *outputs);
  void waitForRanks(std::unique_lock<std::mutex> &lock);
  int reportFailure();

  Options options;
  LocalGroup group;
  nccl::UniqueId ncclId;

  mutable std::mutex mutex; ///< guards what follows, except inside a run
  std::condition_variable wake, done;
  Job job;
  int64_t generation = 0;
  int64_t running = 0; ///< ranks that are not done with the job
  bool stopping = false;
  std::vector<char> back; ///< by rank: done with the job
  std::vector<char> left; ///< by rank: has left serve()

  // The barrier at the end of each step.
  std::atomic<int64_t> arrived{0};
  std::atomic<int64_t> stepsDone{0};
};

} // namespace shardrt

/// The C handle.
struct shardrt_world {
  std::shared_ptr<shardrt::World> world;
  std::vector<std::thread> threads;
};

#endif // SHARDRT_CORE_WORLD_H
