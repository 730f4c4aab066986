//===- Compilation.h - Programs that are being compiled ---------*- C++ -*-===//
//
// A program is compiled on a thread of its own where whoever wants it may stop
// waiting: an interrupt (Ctrl-C) then takes effect at once, whatever pass the
// compiler is in. A compilation that nobody waits for leaves out the passes to
// come. Its thread belongs to the engine, which waits for it when it closes.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_COMPILATION_H
#define SHARDC_ENGINE_COMPILATION_H

#include "shardc/Engine/Program.h"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <pthread.h>

namespace shardc::engine {

/// The thread of one compilation, and what it leaves behind.
struct CompileThread {
  /// What is to be done; it ends early once `cancelled` is set.
  std::function<MaybeFailure(CompiledModel &)> work;
  std::shared_ptr<std::atomic<bool>> cancelled;
  pthread_t thread = {};

  std::mutex mutex;
  std::condition_variable ended;
  bool isEnded = false; ///< guarded by `mutex`; then the rest is there
  MaybeFailure failure;
  CompiledModel model;

  void run();
};

class Compilation {
public:
  /// Begins what Program::compile does. Calls that their author cuts are cut
  /// here, on the caller's thread.
  static MaybeFailure start(Engine &engine, std::string_view text,
                            std::string_view name, Program::Options options,
                            std::unique_ptr<Compilation> &compilation);
  /// Stops waiting, if nobody has waited to the end.
  ~Compilation();
  /// Whether it has ended, or does within `most`.
  bool waitFor(std::chrono::nanoseconds most);
  /// Waits for its end, links the program and hands it over. Once.
  MaybeFailure finish(Ref<Program> &program);

private:
  explicit Compilation(Engine &engine) : engine(&engine) {}

  const Ref<Engine> engine;
  Program::Identity identity;
  Ref<Program> known; ///< the engine had it
  std::shared_ptr<CompileThread> thread;
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_COMPILATION_H
