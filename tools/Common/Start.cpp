//===- Start.cpp - How every tool begins and ends -------------------------===//
//
// LLVM ends a process that gets no memory with a stack dump. Here it ends with
// code 9 and a line that says which rank it was, how much was asked for and
// what for. Nothing on that way allocates.
//
//===----------------------------------------------------------------------===//

#include "Start.h"
#include "Tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

static const char *toolName = "shardc";
static std::atomic<const char *> activity = nullptr;
/// Bytes that operator new was last asked for in vain.
static std::atomic<size_t> lastRequest = 0;

//===----------------------------------------------------------------------===//
// No memory
//===----------------------------------------------------------------------===//

// LLVM's and the runtime's requests come through here too: a handler of new
// does not get to know how much was asked for. Sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&         \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&   \
    !__has_feature(memory_sanitizer)
void *operator new(size_t bytes) {
  while (true) {
    if (void *memory = std::malloc(bytes ? bytes : 1))
      return memory;
    lastRequest.store(bytes, std::memory_order_relaxed);
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      std::abort();
    handler();
  }
}
#endif

/// MiB of address space that this process has; 0 where that is not known.
static long mebibytesInUse() {
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  char text[64] = {};
  ssize_t count = read(file, text, sizeof(text) - 1);
  close(file);
  long pages = count > 0 ? std::atol(text) : 0;
  return pages / 256 * (sysconf(_SC_PAGESIZE) / 4096);
}

static void writeAll(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = write(file, text, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    text += count;
    size -= count;
  }
}

/// Ends the process with `code` and one line; where shard-run --processes
/// started it, what it says goes there.
[[noreturn]] static void endNow(ExitCode code, const char *text) {
  // One of the threads speaks.
  static std::atomic_flag isEnding;
  if (isEnding.test_and_set())
    while (true)
      pause();
  const char *rank = std::getenv("SHARDRT_RANK");
  const char *launcher = std::getenv("SHARDRT_ERRORS");
  char line[768];
  size_t size = 0;
  auto add = [&](int count) {
    if (count > 0)
      size = std::min(size + count, sizeof(line) - 1);
  };
  if (!launcher)
    add(std::snprintf(line, sizeof(line), "%s: error: ", toolName));
  if (rank)
    add(std::snprintf(line + size, sizeof(line) - size,
                      "rank %s (process %d): ", rank,
                      static_cast<int>(getpid())));
  add(std::snprintf(line + size, sizeof(line) - size, "%s%s", text,
                    launcher ? "" : "\n"));
  writeAll(launcher ? std::atoi(launcher) : STDERR_FILENO, line, size);
  _exit(static_cast<int>(code));
}

[[noreturn]] static void endWithoutMemory(size_t bytes, const char *what) {
  char text[512];
  size_t size = 0;
  auto add = [&](int count) {
    if (count > 0)
      size = std::min(size + count, sizeof(text) - 1);
  };
  if (bytes)
    add(std::snprintf(text, sizeof(text), "no memory for %zu bytes", bytes));
  else
    add(std::snprintf(text, sizeof(text), "no memory"));
  if (const char *doing = activity.load())
    add(std::snprintf(text + size, sizeof(text) - size, " while %s", doing));
  if (what)
    add(std::snprintf(text + size, sizeof(text) - size, " (%s)", what));
  if (long used = mebibytesInUse())
    add(std::snprintf(text + size, sizeof(text) - size,
                      "; the process has %ld MiB of address space", used));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    add(std::snprintf(text + size, sizeof(text) - size,
                      " and may have %llu MiB (ulimit -v)",
                      static_cast<unsigned long long>(limit.rlim_cur >> 20)));
  endNow(ExitCode::Memory, text);
}

/// What LLVM could not go on after; returns where that was not the machine's
/// fault: LLVM ends the process then, with a trace for those who mend it.
static void handleFatal(void *, const char *reason, bool) {
  StringRef text(reason);
  if (text.contains("pthread_create") || text.contains("out of memory") ||
      text.contains("llocation failed"))
    endWithoutMemory(0, reason);
  if (text.starts_with("IO failure on output stream"))
    endNow(ExitCode::IO, reason);
  // The handler takes the place of LLVM's own line.
  char line[640];
  int size = std::snprintf(line, sizeof(line), "LLVM ERROR: %s\n", reason);
  writeAll(STDERR_FILENO, line, std::min<size_t>(size, sizeof(line) - 1));
}

//===----------------------------------------------------------------------===//
// Begin, end
//===----------------------------------------------------------------------===//

/// What whoever starts a process asks it to ignore (nohup, shells of jobs in
/// the background). LLVM handles it all.
static const int kAskedOf[] = {SIGHUP, SIGINT, SIGTERM};

EarlyStart::EarlyStart(const char *tool) {
  toolName = tool;
  for (auto [number, ignored] : zip_equal(kAskedOf, isIgnored)) {
    struct sigaction action;
    ignored = sigaction(number, nullptr, &action) == 0 &&
              action.sa_handler == SIG_IGN;
  }
  // What is opened next would get the number of a standard stream, and results
  // would go there. These cannot be used in the way that such a stream is.
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", file == STDOUT_FILENO  ? O_RDONLY
                               : file == STDIN_FILENO ? O_WRONLY
                                                      : O_RDWR);
  // A trace of addresses: to name them, LLVM would start a program and leave
  // files behind.
  setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 0);
}

ToolStart::ToolStart(const char *tool, int &argc, char **&argv)
    : tool(tool), early(tool),
      init(argc, argv, /*InstallPipeSignalExitHandler=*/false) {
  std::signal(SIGPIPE, SIG_IGN);
  for (auto [number, ignored] : zip_equal(kAskedOf, early.isIgnored))
    if (ignored)
      std::signal(number, SIG_IGN);
  std::set_new_handler([] { endWithoutMemory(lastRequest.load(), nullptr); });
  remove_bad_alloc_error_handler();
  install_bad_alloc_error_handler([](void *, const char *reason, bool) {
    endWithoutMemory(lastRequest.exchange(0), reason);
  });
  install_fatal_error_handler(handleFatal);
}

void shardc::forgetStreamErrors() {
  outs().flush();
  outs().clear_error();
  errs().flush();
  errs().clear_error();
}

int shardc::endTool(const char *tool, Error error, int code) {
  if (Error failed = endOutput()) {
    if (error || code != 0)
      consumeError(std::move(failed));
    else
      error = std::move(failed);
  }
  if (error)
    code = reportAndGetExitCode(tool, std::move(error));
  forgetStreamErrors();
  return code;
}

int ToolStart::end(Error error, int code) {
  return endTool(tool, std::move(error), code);
}

Activity::Activity(const char *what) : before(activity.exchange(what)) {}
Activity::~Activity() { activity.store(before); }
