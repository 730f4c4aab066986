//===- Sandbox.cpp - Programs of people that are not trusted --------------===//
//
// The sandboxed process asks by system calls that the filter forwards: what
// it wants opened it opens, and gets a descriptor that the supervisor has
// opened by a name that it read once. What it wants linked or signed it opens
// under /shardc-sandbox, which no file system has: the name ends in the
// descriptor of what is to be worked on.
//
// The linker runs for the supervisor and reads what the sandboxed process has
// made, so it is under a filter too: it reads files, writes to what it was
// given, and starts nothing.
//
//===----------------------------------------------------------------------===//

#include "Sandbox.h"
#include "Start.h"
#include "Tool.h"
#include "shardc/Seal/PrivateFile.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Translation/Artifact.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

static constexpr StringLiteral kServices = "/shardc-sandbox/";

static bool sandboxed = false;
bool shardc::isSandboxed() { return sandboxed; }

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
static constexpr uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static constexpr uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif

namespace {
struct Call {
  long number;
  const char *name;
};
} // namespace
#define CALL(NAME) {SYS_##NAME, #NAME}

/// What computing needs. None of them opens, names, starts or connects
/// anything; metadata of files (whether there is one, its size) can be seen.
static constexpr Call kAllowed[] = {
    CALL(read),
    CALL(write),
    CALL(readv),
    CALL(writev),
    CALL(pread64),
    CALL(pwrite64),
    CALL(preadv),
    CALL(pwritev),
    CALL(close),
    CALL(lseek),
    CALL(fstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlinkat),
    CALL(getcwd),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(fsync),
    CALL(fdatasync),
    CALL(fchmod),
    CALL(umask),
    CALL(fcntl),
    CALL(flock),
    CALL(dup),
    CALL(dup3),
    CALL(pipe2),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(msync),
    CALL(mincore),
    CALL(mlock),
    CALL(munlock),
    CALL(brk),
    CALL(memfd_create),
    CALL(membarrier),
    CALL(futex),
    CALL(set_robust_list),
    CALL(get_robust_list),
    CALL(set_tid_address),
    CALL(rseq),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(getcpu),
    CALL(getpriority),
    CALL(nanosleep),
    CALL(clock_nanosleep),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(gettimeofday),
    CALL(times),
    CALL(getpid),
    CALL(getppid),
    CALL(gettid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(getpgid),
    CALL(getrusage),
    CALL(getrlimit),
    CALL(setrlimit),
    CALL(sysinfo),
    CALL(uname),
    CALL(getrandom),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigpending),
    CALL(rt_sigtimedwait),
    CALL(rt_sigsuspend),
    CALL(sigaltstack),
    CALL(setitimer),
    CALL(getitimer),
    CALL(restart_syscall),
    CALL(exit),
    CALL(exit_group),
    CALL(wait4),
    CALL(waitid),
    CALL(ppoll),
    CALL(pselect6),
    CALL(eventfd2),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_pwait),
#ifdef SYS_poll
    CALL(poll),
    CALL(select),
    CALL(pipe),
    CALL(dup2),
    CALL(stat),
    CALL(lstat),
    CALL(access),
    CALL(readlink),
    CALL(time),
    CALL(alarm),
    CALL(pause),
    CALL(getpgrp),
    CALL(epoll_wait),
    CALL(arch_prctl),
    CALL(fork),
#endif
};

/// Names of what programs may try and is not allowed, for messages.
static constexpr Call kForbidden[] = {
    CALL(openat),
    CALL(execve),
    CALL(execveat),
    CALL(socket),
    CALL(socketpair),
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(accept4),
    CALL(sendto),
    CALL(sendmsg),
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(kill),
    CALL(tkill),
    CALL(tgkill),
    CALL(rt_sigqueueinfo),
    CALL(rt_tgsigqueueinfo),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(mount),
    CALL(unshare),
    CALL(setns),
    CALL(chroot),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(io_uring_setup),
    CALL(userfaultfd),
    CALL(init_module),
    CALL(unlinkat),
    CALL(mkdirat),
    CALL(linkat),
    CALL(symlinkat),
    CALL(renameat),
    CALL(renameat2),
    CALL(fchmodat),
    CALL(fchownat),
    CALL(setuid),
    CALL(setgid),
    CALL(prctl),
    CALL(ioctl),
    CALL(clone),
    CALL(prlimit64),
    CALL(openat2),
    CALL(getdents64),
    CALL(chdir),
    CALL(memfd_secret),
    CALL(keyctl),
    CALL(add_key),
    CALL(shmget),
#ifdef SYS_open
    CALL(open),
    CALL(creat),
    CALL(unlink),
    CALL(rename),
    CALL(mkdir),
    CALL(rmdir),
    CALL(link),
    CALL(symlink),
    CALL(chmod),
    CALL(chown),
    CALL(vfork),
#endif
};

static std::string nameOfCall(long number) {
  for (const Call &call : kForbidden)
    if (call.number == number)
      return call.name;
  for (const Call &call : kAllowed)
    if (call.number == number)
      return call.name;
  return "system call " + std::to_string(number);
}

namespace {
/// A filter as the kernel takes it, one decision after another.
class Filter {
public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArch, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#ifdef __x86_64__
    // Numbers of the x32 interface.
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    answer(SECCOMP_RET_KILL_PROCESS);
#endif
  }
  /// Answers the call `number`.
  void on(long number, uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1);
    answer(action);
  }
  /// Allows `number` where argument `which` has none of the bits `mask` but
  /// those of `value`; goes on to the next decision elsewhere.
  void allowIf(long number, int which, uint32_t mask, uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 5);
    load(offsetof(seccomp_data, args) + 8 * which);
    add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, nr));
  }
  void otherwise(uint32_t action) { answer(action); }

  /// Puts it on this thread; a descriptor for what is forwarded if `listens`,
  /// else 0. −1 with errno.
  int install(bool listens) {
    sock_fprog program = {static_cast<unsigned short>(code.size()),
                          code.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return -1;
    return static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program));
  }

private:
  void load(size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0);
  }
  void answer(uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }
  void add(int what, uint32_t value, uint8_t ifTrue, uint8_t ifFalse) {
    code.push_back({static_cast<uint16_t>(what), ifTrue, ifFalse, value});
  }
  std::vector<sock_filter> code;
};
} // namespace

static constexpr uint32_t kAll = 0xffffffff;
static constexpr uint32_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
static constexpr uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;

/// Decisions that both filters share.
static void allowComputing(Filter &filter) {
  for (const Call &call : kAllowed)
    filter.on(call.number, SECCOMP_RET_ALLOW);
  // Flags of clone3 are in memory, where no filter sees them; clone does.
  filter.on(SYS_clone3, kNoSuchCall);
  filter.allowIf(SYS_clone, 0, kNewNamespaces, 0);
  filter.allowIf(SYS_prlimit64, 0, kAll, 0);
  for (uint32_t request : {TCGETS, TIOCGWINSZ})
    filter.allowIf(SYS_ioctl, 1, kAll, request);
  for (uint32_t what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE,
                        PR_SET_PDEATHSIG, 0x53564d41 /*PR_SET_VMA*/})
    filter.allowIf(SYS_prctl, 0, kAll, what);
}

//===----------------------------------------------------------------------===//
// The linker
//===----------------------------------------------------------------------===//

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
  filter.allowIf(SYS_execveat, 0, kAll, kLinkerFile);
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

static std::string contentsOf(int file) {
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

/// Links `object` in a process that can read and compute.
static Expected<std::string> linkConfined(StringRef object) {
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

//===----------------------------------------------------------------------===//
// The supervisor
//===----------------------------------------------------------------------===//

/// What tools and libraries read of the system, whatever they are given.
static constexpr StringLiteral kSystemFiles[] = {
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/self/statm",
    "/proc/self/maps",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/proc/sys/vm/overcommit_memory",
    "/dev/null"};

namespace {
class Supervisor {
public:
  Supervisor(const SandboxRules &rules, pid_t child, int listener)
      : rules(rules), child(child), listener(listener) {}

  /// Serves until the sandboxed process is over; the code to end with.
  int serve();

private:
  /// What is answered to a call.
  struct Reply {
    int error = 0;       ///< errno, or 0
    int descriptor = -1; ///< to be given; owned
    bool goesOn = false; ///< the kernel does the call: it has numbers alone
    bool forbidden = false;
  };
  Reply decide(const seccomp_notif &call);
  Reply open(const seccomp_notif &call, const std::string &path, int flags,
             mode_t mode);
  Reply serveFile(const seccomp_notif &call, StringRef request);
  Reply remove(const std::string &path);
  Reply rename(const std::string &from, const std::string &to);
  /// The text at `address` of the caller; empty where there is none.
  std::string textAt(const seccomp_notif &call, uint64_t address);
  void send(const seccomp_notif &call, const Reply &reply);
  void forbid(const seccomp_notif &call);

  /// Gives the file that the caller has open as `from` the name `to`.
  Reply link(const seccomp_notif &call, const std::string &from,
             const std::string &to);

  /// A file beside a writable one, which becomes that in the end.
  bool isTemporary(StringRef path) const;
  /// Whether a writable file is in the folder `path`.
  bool isFolder(StringRef path) const;

  const SandboxRules &rules;
  pid_t child;
  int listener;
  std::string asked; ///< the path of the call, for messages
  std::vector<std::string> created;
  bool ended = false; ///< by us, for a forbidden call
};
} // namespace

static volatile sig_atomic_t signalled = 0;
static void noteSignal(int number) { signalled = number; }

std::string Supervisor::textAt(const seccomp_notif &call, uint64_t address) {
  int memory = ::open(("/proc/" + std::to_string(call.pid) + "/mem").c_str(),
                      O_RDONLY | O_CLOEXEC);
  if (memory < 0)
    return {};
  std::string text;
  // Page by page: the next one may not be there.
  while (text.size() < 4096) {
    char piece[256];
    size_t size = std::min<size_t>(sizeof(piece), 4096 - (address & 4095));
    ssize_t count = pread(memory, piece, size, static_cast<off_t>(address));
    if (count <= 0) {
      text.clear();
      break;
    }
    size_t length = strnlen(piece, static_cast<size_t>(count));
    text.append(piece, length);
    if (length < static_cast<size_t>(count))
      break;
    address += static_cast<uint64_t>(count);
  }
  close(memory);
  return text;
}

bool Supervisor::isTemporary(StringRef path) const {
  return any_of(rules.writable, [&](StringRef file) {
    StringRef rest = path;
    return rest.consume_front((file + ".tmp-").str()) && rest.size() == 8 &&
           all_of(rest, isHexDigit);
  });
}

bool Supervisor::isFolder(StringRef path) const {
  return any_of(rules.writable, [&](StringRef file) {
    StringRef folder = sys::path::parent_path(file);
    return path == (folder.empty() ? "." : folder);
  });
}

Supervisor::Reply Supervisor::serveFile(const seccomp_notif &call,
                                        StringRef request) {
  auto [what, number] = request.split('/');
  unsigned file;
  Reply reply;
  if (number.getAsInteger(10, file)) {
    reply.forbidden = true;
    return reply;
  }
  PrivateFile given;
  std::string path =
      "/proc/" + std::to_string(call.pid) + "/fd/" + std::to_string(file);
  if (!given.read(path).empty()) {
    reply.error = EBADF;
    return reply;
  }
  auto serve = [&]() -> Expected<std::string> {
    if (what == "link")
      return linkConfined(given.text());
    if (what == "seal" && rules.seal && given.text().size() >= 8) {
      StringRef bytes(given.text());
      uint64_t code = support::endian::read64le(bytes.data());
      bytes = bytes.drop_front(8);
      if (code <= bytes.size())
        return rules.seal(bytes.take_front(code), bytes.drop_front(code));
    }
    return createStringError("'" + what + "' is no service of the sandbox");
  };
  Expected<std::string> made = serve();
  if (!made) {
    Error error = made.takeError();
    reply.error = isAboutMemory(error) ? ENOMEM : EIO;
    errs() << rules.tool << ": " << toString(std::move(error)) << "\n";
    return reply;
  }
  PrivateFile answer;
  if (!answer.hold(*made, "shardc-answer").empty())
    reply.error = ENOMEM;
  else
    reply.descriptor = answer.release();
  return reply;
}

Supervisor::Reply Supervisor::open(const seccomp_notif &call,
                                   const std::string &path, int flags,
                                   mode_t mode) {
  Reply reply;
  asked = path;
  if (StringRef(path).starts_with(kServices))
    return serveFile(call, StringRef(path).drop_front(kServices.size()));
  bool writes =
      (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  std::string own = path;
  constexpr StringLiteral kSelf = "/proc/self/";
  if (StringRef(path).starts_with(kSelf))
    own = "/proc/" + std::to_string(call.pid) + "/" + path.substr(kSelf.size());
  bool allowed = false;
  if (StringRef(path).starts_with("/proc/self/fd/")) {
    // What has no name but this one.
    char target[64] = "";
    allowed = !writes &&
              readlink(own.c_str(), target, sizeof(target) - 1) > 0 &&
              StringRef(target).starts_with("/memfd:");
  } else if (path == "/dev/null") {
    allowed = true;
    flags &= ~(O_CREAT | O_TRUNC);
  } else if ((flags & O_TMPFILE) == O_TMPFILE) {
    // A file without a name, until it is linked.
    allowed = isFolder(path);
  } else if (writes) {
    allowed = is_contained(rules.writable, path) || isTemporary(path);
  } else {
    allowed = is_contained(rules.readable, path) ||
              is_contained(rules.writable, path) ||
              is_contained(kSystemFiles, StringRef(path)) ||
              is_contained(created, path);
  }
  if (!allowed) {
    reply.forbidden = writes || !rules.hidesFiles;
    reply.error = ENOENT;
    return reply;
  }
  reply.descriptor = ::open(own.c_str(), flags | O_CLOEXEC, mode);
  if (reply.descriptor < 0)
    reply.error = errno;
  else if ((flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE)
    created.push_back(path);
  return reply;
}

Supervisor::Reply Supervisor::remove(const std::string &path) {
  Reply reply;
  asked = path;
  reply.forbidden =
      !is_contained(created, path) && !is_contained(rules.writable, path);
  if (!reply.forbidden && unlink(path.c_str()) != 0)
    reply.error = errno;
  return reply;
}

Supervisor::Reply Supervisor::rename(const std::string &from,
                                     const std::string &to) {
  Reply reply;
  asked = from + "\" and \"" + to;
  reply.forbidden =
      !is_contained(created, from) || !is_contained(rules.writable, to);
  if (!reply.forbidden && ::rename(from.c_str(), to.c_str()) != 0)
    reply.error = errno;
  return reply;
}

Supervisor::Reply Supervisor::link(const seccomp_notif &call,
                                   const std::string &from,
                                   const std::string &to) {
  Reply reply;
  asked = from + "\" and \"" + to;
  StringRef number(from);
  unsigned file;
  reply.forbidden = !number.consume_front("/proc/self/fd/") ||
                    number.getAsInteger(10, file) ||
                    !(is_contained(rules.writable, to) || isTemporary(to));
  if (reply.forbidden)
    return reply;
  std::string own =
      "/proc/" + std::to_string(call.pid) + "/fd/" + std::to_string(file);
  if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) !=
      0)
    reply.error = errno;
  else
    created.push_back(to);
  return reply;
}

/// The process that the thread `thread` belongs to.
static int64_t processOf(uint32_t thread) {
  int file = open(("/proc/" + std::to_string(thread) + "/status").c_str(),
                  O_RDONLY | O_CLOEXEC);
  char text[1024] = "";
  if (file >= 0) {
    if (read(file, text, sizeof(text) - 1) < 0)
      text[0] = '\0';
    close(file);
  }
  int64_t process = -1;
  if (const char *at = std::strstr(text, "\nTgid:"))
    process = std::atoll(at + 6);
  return process;
}

Supervisor::Reply Supervisor::decide(const seccomp_notif &call) {
  const __u64 *args = call.data.args;
  auto isHere = [&](int which) {
    return static_cast<int>(args[which]) == AT_FDCWD;
  };
  auto absolute = [&](const std::string &path) { return path[0] == '/'; };
  Reply forbidden;
  forbidden.forbidden = true;
  asked.clear();
  std::string path, other;
  auto flags = [&](int which) { return static_cast<int>(args[which]); };
  switch (call.data.nr) {
  case SYS_openat:
    path = textAt(call, args[1]);
    asked = path;
    if (path.empty() || (!isHere(0) && !absolute(path)))
      return forbidden;
    return open(call, path, flags(2), static_cast<mode_t>(args[3]));
  case SYS_unlinkat:
    path = textAt(call, args[1]);
    return !isHere(0) || flags(2) != 0 ? forbidden : remove(path);
  case SYS_linkat:
    path = textAt(call, args[1]);
    other = textAt(call, args[3]);
    return isHere(0) && isHere(2) ? link(call, path, other) : forbidden;
  case SYS_renameat:
  case SYS_renameat2:
    path = textAt(call, args[1]);
    other = textAt(call, args[3]);
    return isHere(0) && isHere(2) ? rename(path, other) : forbidden;
#ifdef SYS_open
  case SYS_open:
    path = textAt(call, args[0]);
    return open(call, path, flags(1), static_cast<mode_t>(args[2]));
  case SYS_unlink:
    return remove(textAt(call, args[0]));
  case SYS_rename:
    path = textAt(call, args[0]);
    return rename(path, textAt(call, args[1]));
#endif
  case SYS_tgkill:
  case SYS_rt_tgsigqueueinfo:
  case SYS_kill: {
    // Its own, as abort() and LLVM's handler of crashes do.
    Reply reply;
    reply.goesOn = static_cast<int>(args[0]) > 0 &&
                   processOf(call.pid) == static_cast<int>(args[0]);
    reply.forbidden = !reply.goesOn;
    return reply;
  }
  case SYS_execve:
    asked = textAt(call, args[0]);
    return forbidden;
  case SYS_execveat:
    asked = textAt(call, args[1]);
    return forbidden;
  default:
    return forbidden;
  }
}

void Supervisor::send(const seccomp_notif &call, const Reply &reply) {
  if (reply.descriptor >= 0) {
    seccomp_notif_addfd give = {};
    give.id = call.id;
    give.flags = SECCOMP_ADDFD_FLAG_SEND;
    give.srcfd = static_cast<uint32_t>(reply.descriptor);
    give.newfd_flags = O_CLOEXEC;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give);
    close(reply.descriptor);
    return;
  }
  seccomp_notif_resp answer = {};
  answer.id = call.id;
  answer.error = -reply.error;
  answer.flags = reply.goesOn ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void Supervisor::forbid(const seccomp_notif &call) {
  std::string what = nameOfCall(call.data.nr);
  if (!asked.empty())
    what += " of \"" + asked + "\"";
  if (const char *log = std::getenv("SHARDC_SANDBOX_LOG")) {
    std::string line = rules.tool + ": " + what + "\n";
    int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    // One write: runs beside this one append to the same file.
    (void)!::write(file, line.data(), line.size());
    close(file);
  }
  if (!ended)
    errs() << rules.tool << ": error: sandbox: the program was ended: it tried "
           << what << ", which is forbidden\n";
  ended = true;
  kill(child, SIGKILL);
  // Processes that read for it.
  if (call.pid != static_cast<uint32_t>(child))
    if (int64_t process = processOf(call.pid); process > 1)
      kill(static_cast<pid_t>(process), SIGKILL);
}

int Supervisor::serve() {
  int process = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  while (true) {
    pollfd files[2] = {{process, POLLIN, 0}, {listener, POLLIN, 0}};
    int count = poll(files, 2, process < 0 ? 100 : -1);
    if (signalled != 0) {
      kill(child, signalled);
      signalled = 0;
    }
    if (count < 0 && errno != EINTR)
      break;
    if (count > 0 && (files[0].revents != 0 || (files[1].revents & POLLHUP)))
      break;
    if (count <= 0 || (files[1].revents & POLLIN) == 0)
      continue;
    seccomp_notif call = {};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
      continue;
    Reply reply = decide(call);
    // Whoever asked may be gone, and its number another's.
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) != 0) {
      if (reply.descriptor >= 0)
        close(reply.descriptor);
      continue;
    }
    if (reply.forbidden)
      forbid(call);
    else
      send(call, reply);
  }
  if (process >= 0)
    close(process);
  close(listener);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  for (const std::string &path : created)
    if (isTemporary(path))
      unlink(path.c_str());
  if (ended)
    return static_cast<int>(ExitCode::Refused);
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  if (number == SIGSYS) {
    errs() << rules.tool
           << ": error: sandbox: the program was ended: it made a "
           << "system call of another kind of processor\n";
    return static_cast<int>(ExitCode::Refused);
  }
  // As it would have ended without a supervisor.
  std::signal(number, SIG_DFL);
  raise(number);
  return 128 + number;
}

//===----------------------------------------------------------------------===//
// The sandboxed process
//===----------------------------------------------------------------------===//

/// Asks the supervisor for the service `what` on `bytes`.
static Expected<std::string> askOutside(StringRef what, StringRef bytes) {
  PrivateFile given, answer;
  if (std::string why = given.hold(bytes, "shardc-request"); !why.empty())
    return createStringError(noMemoryCode(), why);
  std::string path =
      (kServices + what + "/").str() + std::to_string(given.descriptor());
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return createStringError(errnoAsErrorCode(),
                             "the sandbox's supervisor did not " + what + ": " +
                                 std::strerror(errno));
  std::string made = contentsOf(file);
  close(file);
  return made;
}

Expected<std::string> shardc::sealOutside(StringRef code, StringRef program) {
  char size[8];
  support::endian::write64le(size, code.size());
  return askOutside("seal", std::string(size, sizeof(size)) + code.str() +
                                program.str());
}

/// Sends a descriptor over a socket; false with errno.
static bool sendDescriptor(int over, int file) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof(int));
  return sendmsg(over, &message, MSG_NOSIGNAL) == 1;
}

/// Receives one; −1 where none comes, with the errno that came instead.
static int receiveDescriptor(int over) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t count;
  while ((count = recvmsg(over, &message, MSG_CMSG_CLOEXEC)) < 0 &&
         errno == EINTR)
    ;
  cmsghdr *header = count == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS) {
    errno = count == 1 ? static_cast<unsigned char>(byte) : EPIPE;
    return -1;
  }
  int file;
  std::memcpy(&file, CMSG_DATA(header), sizeof(int));
  return file;
}

/// Puts the filter on this process and passes what it listens with to `over`.
static bool confine(int over) {
  Filter filter;
  allowComputing(filter);
  // One message, on the socket that there is; no call makes another one.
  filter.allowIf(SYS_sendmsg, 0, kAll, static_cast<uint32_t>(over));
  filter.otherwise(SECCOMP_RET_USER_NOTIF);
  int listener = filter.install(/*listens=*/true);
  if (listener < 0) {
    char why = static_cast<char>(errno);
    (void)!write(over, &why, 1);
    return false;
  }
  bool sent = sendDescriptor(over, listener);
  close(listener);
  close(over);
  return sent;
}

Error shardc::runSandboxed(const SandboxRules &rules,
                           function_ref<Error()> body, int &code) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return toolError(ExitCode::IO,
                     Twine("--sandbox: no socket: ") + std::strerror(errno));
  outs().flush();
  errs().flush();
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    sandboxed = true;
    setLinker([](StringRef object) { return askOutside("link", object); });
    if (!confine(ends[1]))
      _exit(1);
    int ended = endTool(rules.tool.c_str(), body());
    std::fflush(nullptr);
    _exit(ended);
  }
  close(ends[1]);
  int listener = child < 0 ? -1 : receiveDescriptor(ends[0]);
  int why = errno;
  close(ends[0]);
  if (listener < 0) {
    if (child > 0)
      waitpid(child, nullptr, 0);
    return toolError(
        ExitCode::Refused,
        Twine("--sandbox: this system has no seccomp filters that a process "
              "can supervise (Linux 5.14 has): ") +
            std::strerror(why) + "; nothing was read");
  }
  struct sigaction action = {};
  action.sa_handler = noteSignal;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  code = Supervisor(rules, child, listener).serve();
  return Error::success();
}
