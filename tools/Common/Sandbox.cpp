//===- Sandbox.cpp - Programs of people that are not trusted --------------===//
//
// The sandboxed process asks by system calls that the filter forwards: what
// it wants opened it opens, and gets a descriptor that the supervisor has
// opened by a name that it read once. What it wants linked or signed it opens
// under /shardc-sandbox, which no file system has: the name ends in the
// descriptor of what is to be worked on.
//
// SystemCalls has what the filter allows, ConfinedLinker the linker, which is
// under one too.
//
//===----------------------------------------------------------------------===//

#include "Sandbox.h"
#include "ConfinedLinker.h"
#include "Start.h"
#include "SystemCalls.h"
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
  filter.allowIf(SYS_sendmsg, 0, kAllBits, static_cast<uint32_t>(over));
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
