//===- Compilation.cpp - Programs that are being compiled -----------------===//

#include "shardc/Engine/Compilation.h"
#include <algorithm>
#include <sys/resource.h>

using namespace shardc::engine;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void CompileThread::run() {
  CompiledModel made;
  MaybeFailure why;
  try {
    why = work(made);
  } catch (const std::exception &) {
    why = failForMemory();
  }
  work = nullptr;
  std::lock_guard lock(mutex);
  failure = std::move(why);
  model = std::move(made);
  isEnded = true;
  ended.notify_all();
}

/// As much as a process has for its first thread: programs nest, and so do the
/// compiler's calls.
static size_t stackBytes() {
  constexpr size_t least = size_t(8) << 20, most = size_t(64) << 20;
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0)
    return least;
  return std::clamp<size_t>(limit.rlim_cur, least, most);
}

/// Starts it; false if there are no threads to be had.
static bool startThread(std::shared_ptr<CompileThread> thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, stackBytes());
  auto held = std::make_unique<std::shared_ptr<CompileThread>>(thread);
  int status = pthread_create(
      &thread->thread, &attributes,
      [](void *given) -> void * {
        std::unique_ptr<std::shared_ptr<CompileThread>> held(
            static_cast<std::shared_ptr<CompileThread> *>(given));
        (*held)->run();
        return nullptr;
      },
      held.get());
  pthread_attr_destroy(&attributes);
  if (status == 0)
    (void)held.release();
  return status == 0;
}

void Engine::keep(std::shared_ptr<CompileThread> thread) {
  std::vector<std::shared_ptr<CompileThread>> over;
  {
    std::lock_guard lock(mutex);
    // Those that were left, and have ended since.
    auto first = std::partition(
        compiling.begin(), compiling.end(), [](const auto &other) {
          std::lock_guard lock(other->mutex);
          return !other->isEnded || !other->cancelled->load();
        });
    over.assign(first, compiling.end());
    compiling.erase(first, compiling.end());
    if (closed.load()) {
      thread->cancelled->store(true);
      over.push_back(std::move(thread));
    } else {
      compiling.push_back(std::move(thread));
    }
  }
  for (const auto &other : over)
    pthread_join(other->thread, nullptr);
}

void Engine::join(const std::shared_ptr<CompileThread> &thread) {
  {
    std::lock_guard lock(mutex);
    auto found = std::find(compiling.begin(), compiling.end(), thread);
    // Who closes the engine joins those that it finds.
    if (found == compiling.end())
      return;
    compiling.erase(found);
  }
  pthread_join(thread->thread, nullptr);
}

std::shared_ptr<std::atomic<bool>> Engine::makeCancelFlag() {
  auto flag = std::make_shared<std::atomic<bool>>(false);
  std::lock_guard lock(mutex);
  std::erase_if(cancelFlags, [](const auto &other) { return other.expired(); });
  cancelFlags.push_back(flag);
  return flag;
}

void Engine::cancelCompilations() {
  std::lock_guard lock(mutex);
  for (const auto &held : cancelFlags)
    if (auto flag = held.lock())
      flag->store(true);
}

void Engine::joinCompilations() {
  std::vector<std::shared_ptr<CompileThread>> all;
  {
    std::lock_guard lock(mutex);
    all.swap(compiling);
  }
  for (const auto &thread : all)
    pthread_join(thread->thread, nullptr);
}

//===----------------------------------------------------------------------===//
// Compilations
//===----------------------------------------------------------------------===//

MaybeFailure Compilation::start(Engine &engine, std::string_view text,
                                std::string_view name, Program::Options options,
                                std::unique_ptr<Compilation> &compilation) {
  if (MaybeFailure failure = engine.checkUsable())
    return failure;
  std::unique_ptr<Compilation> made(new Compilation(engine));
  made->identity = Program::identify(text, options);
  made->known = Program::find(engine, made->identity);
  if (!made->known) {
    auto thread = std::make_shared<CompileThread>();
    thread->cancelled = engine.makeCancelFlag();
    if (MaybeFailure failure = prepareCompile(engine, text, name, options,
                                              thread->cancelled, thread->work))
      return failure;
    made->thread = thread;
    if (startThread(thread))
      engine.keep(std::move(thread));
    else
      thread->run();
  }
  compilation = std::move(made);
  return nullptr;
}

bool Compilation::waitFor(std::chrono::nanoseconds most) {
  if (!thread)
    return true;
  std::unique_lock lock(thread->mutex);
  return thread->ended.wait_for(lock, most, [&] { return thread->isEnded; });
}

MaybeFailure Compilation::finish(Ref<Program> &program) {
  if (known) {
    program = known;
    return nullptr;
  }
  {
    std::unique_lock lock(thread->mutex);
    thread->ended.wait(lock, [&] { return thread->isEnded; });
  }
  engine->join(thread);
  // What ended for that reason does not say so.
  if (MaybeFailure failure = engine->checkUsable())
    return failure;
  if (thread->failure)
    return std::move(thread->failure);
  return Program::make(*engine, std::move(thread->model), identity, program);
}

Compilation::~Compilation() {
  if (!thread)
    return;
  thread->cancelled->store(true);
  bool isEnded;
  {
    std::lock_guard lock(thread->mutex);
    isEnded = thread->isEnded;
  }
  if (isEnded)
    engine->join(thread);
}
