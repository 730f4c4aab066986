//===- Run.h - One execution that is under way ------------------*- C++ -*-===//
#ifndef SHARDC_LIB_ENGINE_RUN_H
#define SHARDC_LIB_ENGINE_RUN_H

#include "shardc/Engine/Program.h"

namespace shardc::engine {

/// The run's own address comes before each rank's addresses.
struct Run {
  /// An argument whose contents were not there when the run was enqueued.
  struct Wait {
    int64_t rank;
    Ref<Event> event;
    /// The work that makes it is before this run on the same device: it
    /// need not be waited for.
    bool isInOrder;
  };

  /// What the runtime calls as the program's entry point.
  static int runRank(shardrt_context *context, void *const *inputs,
                     void *const *outputs);
  /// Answers calls of the host.
  static int callHost(void *user, const shardrt_host_call *call, char *message,
                      size_t messageSize);
  /// Ends a run that was started; `user` is the run, and deleted.
  static void finish(void *user, int status, const char *error);

  Program *program = nullptr;
  const Program::World *world = nullptr;
  Ref<Program> kept; ///< of a run that was started
  Ref<Event> event;  ///< null on the caller's thread
  HostCalls host;
  std::vector<Wait> waits;
  std::vector<std::pair<Device *, int64_t>> work; ///< devices and numbers
  std::vector<Block *> held; ///< memory of other devices, or given up by them
  std::vector<void *> addresses;
  std::vector<void *const *> inputs, outputs;   ///< by rank, in `addresses`
  std::atomic<Event *> failedArgument{nullptr}; ///< one of `waits`
  std::atomic<int64_t> tookNs{0}, ranksDone{0}; ///< on the ranks' threads
};

} // namespace shardc::engine

#endif // SHARDC_LIB_ENGINE_RUN_H
