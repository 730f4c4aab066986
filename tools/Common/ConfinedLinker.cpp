//===- ConfinedLinker.cpp - Links what is not trusted ---------------------===//
//
// The linker runs for the supervisor and reads what the sandboxed process has
// made, so it is under a filter too: it reads files, writes to what it was
// given, and starts nothing.
//
//===----------------------------------------------------------------------===//
#include "ConfinedLinker.h"
#include "SystemCalls.h"
#include "shardc/Seal/PrivateFile.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Translation/Artifact.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

/// The linker is started as a descriptor of this number, which is above those
/// that it can have: so it cannot start anything else.
static constexpr int kLinkerFile = 900;
static constexpr rlim_t kLinkerFiles = 256;

/// In a process of its own: becomes the linker.
[[noreturn]] static void becomeLinker(const std::string &linker, int object,
                                      int output, int log) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_DFL);
  int file = open(linker.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || dup3(file, kLinkerFile, O_CLOEXEC) < 0 ||
      dup2(object, 3) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(log, STDERR_FILENO) < 0)
    _exit(126);
  if (close_range(4, kLinkerFile - 1, 0) != 0)
    _exit(126);
  rlimit files = {kLinkerFiles, kLinkerFiles};
  setrlimit(RLIMIT_NOFILE, &files);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Filter filter;
  allowComputing(filter);
  filter.allowIf(SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY);
#ifdef SYS_open
  filter.allowIf(SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY);
#endif
  filter.on(SYS_getdents64, SECCOMP_RET_ALLOW);
  filter.allowIf(SYS_execveat, 0, kAllBits, kLinkerFile);
  filter.otherwise(SECCOMP_RET_KILL_PROCESS);
  if (filter.install(/*listens=*/false) < 0)
    _exit(126);
  std::vector<const char *> arguments = {"ld.lld"};
  append_range(arguments, kLinkerOptions);
  arguments.insert(arguments.end(), {"/proc/self/fd/3", nullptr});
  const char *environment[] = {nullptr};
  syscall(SYS_execveat, kLinkerFile, "", arguments.data(), environment,
          AT_EMPTY_PATH);
  _exit(126);
}

std::string shardc::contentsOf(int file) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return {};
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = pread(file, bytes.data() + done, bytes.size() - done,
                          static_cast<off_t>(done));
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Expected<std::string> shardc::linkConfined(StringRef object) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  PrivateFile input;
  if (std::string why = input.hold(object, "shardc-object"); !why.empty())
    return createStringError(noMemoryCode(), why);
  int output = memfd_create("shardc-code", MFD_CLOEXEC);
  int log = memfd_create("shardc-log", MFD_CLOEXEC);
  scope_exit closeAll([&] {
    close(output);
    close(log);
  });
  if (output < 0 || log < 0)
    return createStringError(noMemoryCode(), Twine("no memory to link in: ") +
                                                 std::strerror(errno));
  pid_t child = fork();
  if (child == 0)
    becomeLinker(*linker, input.descriptor(), output, log);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (child < 0)
    return createStringError(noMemoryCode(), Twine("no process to link in: ") +
                                                 std::strerror(errno));
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return createStringError("linking failed: the linker did what is forbidden "
                             "in a sandbox");
  if (status != 0) {
    std::string said = contentsOf(log);
    return createStringError(codeOfProgram(said),
                             "linking failed: " + StringRef(said).trim());
  }
  return contentsOf(output);
}
