//===- Recovery.cpp - Faults of the compiler as values --------------------===//
//
// LLVM and MLIR end a process that has no memory, by abort() or by reading
// through a null pointer: Operation::create uses what malloc gives without a
// look. LLVM's CrashRecoveryContext takes both, and mistakes of the compiler,
// to where the work began.
//
//===----------------------------------------------------------------------===//

#include "Recovery.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>

using namespace llvm;
using namespace shardc::engine;

namespace {
/// How work ends that no signal ends.
enum End : int { NoMemory = 1 << 10, Fatal };
/// A signal ends work with this and its number.
constexpr int kSignal = 128;

/// What LLVM's fatal error said, on the thread that it ends work of.
thread_local char fatalReason[512];

[[noreturn]] void endProcess(const char *reason) {
  std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
  std::abort();
}

void onBadAlloc(void *, const char *reason, bool) {
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent())
    context->HandleExit(NoMemory);
  endProcess(reason);
}

void onFatalError(void *, const char *reason, bool) {
  CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent();
  if (!context)
    endProcess(reason);
  std::snprintf(fatalReason, sizeof(fatalReason), "%s", reason);
  context->HandleExit(Fatal);
}

/// Handlers belong to the process: they are there while somebody needs them.
class Handlers {
public:
  Handlers() {
    std::lock_guard lock(mutex);
    if (users++ != 0)
      return;
    CrashRecoveryContext::Enable();
    install_bad_alloc_error_handler(onBadAlloc);
    install_fatal_error_handler(onFatalError);
  }
  ~Handlers() {
    std::lock_guard lock(mutex);
    if (--users != 0)
      return;
    remove_fatal_error_handler();
    remove_bad_alloc_error_handler();
    CrashRecoveryContext::Disable();
  }

private:
  static std::mutex mutex;
  static int users;
};
std::mutex Handlers::mutex;
int Handlers::users = 0;
} // namespace

/// Whether this process gets no more memory: a limit of its address space.
static bool isShortOfMemory() {
  constexpr size_t bytes = size_t(64) << 20;
  void *memory = mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  munmap(memory, bytes);
  return false;
}

static MaybeFailure withoutMemory(const std::string &what) {
  try {
    return fail(Status::Memory, "no memory while " + what);
  } catch (const std::bad_alloc &) {
    return failForMemory();
  }
}

static MaybeFailure failureOf(int end, const std::string &what) {
  if (end == NoMemory || isShortOfMemory())
    return withoutMemory(what);
  std::string how = end == Fatal ? fatalReason : strsignal(end - kSignal);
  return fail(Status::Internal,
              "a fault of the compiler while " + what + ": " + how +
                  "; please report it, with the program. This process goes "
                  "on, without the memory that the compiler held");
}

MaybeFailure
shardc::engine::recoverably(const std::string &what,
                            llvm::function_ref<MaybeFailure()> work) {
  Handlers handlers;
  const void *trace = SavePrettyStackState();
  CrashRecoveryContext context;
  MaybeFailure failure;
  bool isDone = context.RunSafely([&] {
    try {
      failure = work();
    } catch (const std::bad_alloc &) {
      failure = withoutMemory(what);
    }
  });
  RestorePrettyStackState(trace);
  return isDone ? std::move(failure) : failureOf(context.RetCode, what);
}
