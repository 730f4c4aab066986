//===- SandboxTest.cpp - Programs of people that are not trusted ----------===//
//
// What a program could try once it had taken over a tool: each call ends the
// run, by its name, and does nothing.
//
//===----------------------------------------------------------------------===//

#include "Sandbox.h"
#include "Tool.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace {
class Sandbox : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "sandbox" + std::to_string(getpid());
    sys::fs::remove_directories(folder);
    ASSERT_FALSE(sys::fs::create_directory(folder));
    in = folder + "/in";
    out = folder + "/out";
    std::ofstream(in) << "input";
    std::ofstream(folder + "/other") << "other";
    log = folder + "/log";
    setenv("SHARDC_SANDBOX_LOG", log.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("SHARDC_SANDBOX_LOG");
    sys::fs::remove_directories(folder);
  }

  /// What `body` ends with in a sandbox.
  int run(std::function<Error()> body, bool hidesFiles = false) {
    SandboxRules rules;
    rules.tool = "test";
    rules.readable = {in};
    rules.writable = {out};
    rules.hidesFiles = hidesFiles;
    rules.seal = [](StringRef code,
                    StringRef program) -> Expected<std::string> {
      return (code + "|" + program).str();
    };
    int code = -1;
    Error error = runSandboxed(rules, body, code);
    EXPECT_FALSE(bool(error));
    consumeError(std::move(error));
    return code;
  }

  /// That doing `body` ends the run, and the log names `call`.
  void expectForbidden(std::function<void()> body, StringRef call) {
    std::remove(log.c_str());
    int code = run([&] {
      body();
      return Error::success();
    });
    EXPECT_EQ(code, 1) << call.str();
    auto said = MemoryBuffer::getFile(log);
    ASSERT_TRUE(bool(said)) << call.str() << " was not noticed";
    EXPECT_TRUE((*said)->getBuffer().starts_with(("test: " + call).str()))
        << (*said)->getBuffer().str();
  }

  std::string folder, in, out, log;
};
} // namespace

TEST_F(Sandbox, EndsAsItsToolDoes) {
  EXPECT_EQ(run([] { return Error::success(); }), 0);
  EXPECT_EQ(run([] { return toolError(ExitCode::Differs, "differs"); }), 3);
  // A crash stays one.
  auto signalOf = [&](void (*body)()) {
    pid_t child = fork();
    if (child == 0)
      _exit(run([body]() -> Error {
        body();
        return Error::success();
      }));
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  };
  EXPECT_EQ(signalOf([] {
              std::signal(SIGABRT, SIG_DFL);
              std::abort();
            }),
            SIGABRT);
  // LLVM's handler says where it was, and sends the signal again.
  EXPECT_EQ(signalOf([] {
              std::signal(SIGSEGV, SIG_DFL);
              siginfo_t info = {};
              info.si_signo = SIGSEGV;
              info.si_code = SI_QUEUE;
              syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGSEGV,
                      &info);
            }),
            SIGSEGV);
  EXPECT_FALSE(isSandboxed());
}

TEST_F(Sandbox, ServicesThatAreNone) {
  testing::internal::CaptureStderr();
  int code = run([]() -> Error {
    int file = memfd_create("request", MFD_CLOEXEC);
    std::string path = "/shardc-sandbox/cook/" + std::to_string(file);
    if (open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0 || errno != EIO)
      return toolError(ExitCode::Differs, "somebody cooked");
    return Error::success();
  });
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 0) << said;
  EXPECT_NE(said.find("test: 'cook' is no service of the sandbox"),
            std::string::npos)
      << said;
}

TEST_F(Sandbox, ReadsWritesAndComputes) {
  int code = run([&]() -> Error {
    auto text = MemoryBuffer::getFile(in);
    if (!text || (*text)->getBuffer() != "input")
      return toolError(ExitCode::IO, "not read");
    int sum = 0;
    std::thread([&] { sum = 5; }).join();
    int ends[2];
    if (pipe(ends) != 0)
      return toolError(ExitCode::IO, "no pipe");
    pid_t child = fork();
    if (child == 0)
      _exit(sum);
    int status = 0;
    waitpid(child, &status, 0);
    void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (WEXITSTATUS(status) != 5 || memory == MAP_FAILED)
      return toolError(ExitCode::IO, "cannot compute");
    return writeFile(out, [](raw_ostream &to) { to << "output"; });
  });
  EXPECT_EQ(code, 0);
  auto written = MemoryBuffer::getFile(out);
  ASSERT_TRUE(bool(written));
  EXPECT_EQ((*written)->getBuffer(), "output");
}

TEST_F(Sandbox, SignsOutside) {
  EXPECT_EQ(run([]() -> Error {
              Expected<std::string> sealed = sealOutside("code", "program");
              if (!sealed)
                return sealed.takeError();
              return *sealed == "code|program"
                         ? Error::success()
                         : toolError(ExitCode::IO, *sealed);
            }),
            0);
}

TEST_F(Sandbox, OpensNothingElse) {
  expectForbidden([] { (void)!open("/etc/passwd", O_RDONLY); }, "openat");
  expectForbidden([&] { (void)!open((in + "/../other").c_str(), O_RDONLY); },
                  "openat");
  expectForbidden([&] { (void)!open((folder + "/./in").c_str(), O_RDONLY); },
                  "openat");
  expectForbidden([&] { (void)!open(in.c_str(), O_RDWR); }, "openat");
  expectForbidden(
      [&] { (void)!open((out + "2").c_str(), O_WRONLY | O_CREAT, 0600); },
      "openat");
  expectForbidden(
      [&] { (void)!open((out + ".tmp-../other").c_str(), O_WRONLY); },
      "openat");
  expectForbidden([] { (void)!open("/proc/self/mem", O_RDWR); }, "openat");
  expectForbidden([] { (void)!open("/proc/self/environ", O_RDONLY); },
                  "openat");
  expectForbidden([] { (void)!open("/", O_RDONLY | O_DIRECTORY); }, "openat");
  expectForbidden([] { (void)!open("/tmp", O_TMPFILE | O_RDWR, 0600); },
                  "openat");
  expectForbidden([] { (void)!open("/dev/tty", O_RDWR); }, "openat");
  expectForbidden([] { (void)!openat(3, "other", O_RDONLY); }, "openat");
  expectForbidden([] { syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", 0, 0); },
                  "openat2");
  expectForbidden([] { dlopen("libcrypt.so.1", RTLD_NOW); }, "openat");
#ifdef SYS_open
  expectForbidden([] { syscall(SYS_open, "/etc/passwd", O_RDONLY); }, "open");
  expectForbidden([] { syscall(SYS_creat, "/tmp/x", 0600); }, "creat");
#endif
}

TEST_F(Sandbox, HidesFilesWhereAskedTo) {
  EXPECT_EQ(run(
                []() -> Error {
                  return open("/etc/passwd", O_RDONLY) < 0 && errno == ENOENT
                             ? Error::success()
                             : toolError(ExitCode::IO, "it is there");
                },
                /*hidesFiles=*/true),
            0);
}

TEST_F(Sandbox, ChangesNothing) {
  std::string other = folder + "/other";
  expectForbidden([&] { unlink(other.c_str()); }, "unlink");
  expectForbidden([&] { rename(other.c_str(), out.c_str()); }, "rename");
  expectForbidden([&] { rename(in.c_str(), other.c_str()); }, "rename");
  expectForbidden([&] { (void)!link(other.c_str(), out.c_str()); }, "link");
  expectForbidden(
      [&] {
        (void)!linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, other.c_str(),
                      AT_SYMLINK_FOLLOW);
      },
      "linkat");
  expectForbidden([&] { (void)!symlink("/etc/passwd", out.c_str()); },
                  "symlink");
  expectForbidden([&] { mkdir((folder + "/new").c_str(), 0700); }, "mkdir");
  expectForbidden([&] { rmdir(folder.c_str()); }, "rmdir");
  expectForbidden([&] { chmod(other.c_str(), 0777); }, "chmod");
  expectForbidden([&] { (void)!truncate(other.c_str(), 0); }, "");
  expectForbidden([&] { (void)!chdir("/"); }, "chdir");
  auto left = MemoryBuffer::getFile(other);
  ASSERT_TRUE(bool(left));
  EXPECT_EQ((*left)->getBuffer(), "other");
  EXPECT_FALSE(sys::fs::exists(folder + "/new"));
}

TEST_F(Sandbox, StartsAndReachesNobody) {
  expectForbidden([] { execl("/bin/true", "true", nullptr); }, "execve");
  expectForbidden(
      [] {
        char *const none[] = {nullptr};
        syscall(SYS_execveat, 0, "", none, none, AT_EMPTY_PATH);
      },
      "execveat");
  expectForbidden([] { (void)!system("true"); }, "execve");
  expectForbidden([] { (void)!socket(AF_INET, SOCK_STREAM, 0); }, "socket");
  expectForbidden([] { (void)!socket(AF_UNIX, SOCK_STREAM, 0); }, "socket");
  expectForbidden(
      [] {
        int ends[2];
        (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
      },
      "socketpair");
  expectForbidden([] { (void)!connect(0, nullptr, 0); }, "connect");
  expectForbidden([] { (void)!sendto(0, "", 0, 0, nullptr, 0); }, "sendto");
  expectForbidden([] { ptrace(PTRACE_ATTACH, getppid(), 0, 0); }, "ptrace");
  expectForbidden([] { kill(getppid(), SIGTERM); }, "kill");
  expectForbidden([] { syscall(SYS_tgkill, getppid(), getppid(), SIGTERM); },
                  "tgkill");
  expectForbidden([] { syscall(SYS_tkill, getppid(), SIGTERM); }, "tkill");
  expectForbidden(
      [] {
        siginfo_t info = {};
        syscall(SYS_rt_tgsigqueueinfo, getppid(), getppid(), SIGTERM, &info);
      },
      "rt_tgsigqueueinfo");
  expectForbidden(
      [] { syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0); },
      "process_vm_readv");
  expectForbidden([] { syscall(SYS_pidfd_open, getppid(), 0); }, "pidfd_open");
  expectForbidden([] { unshare(CLONE_NEWUSER); }, "unshare");
  expectForbidden(
      [] { syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }, "clone");
  expectForbidden([] { syscall(SYS_io_uring_setup, 1, nullptr); },
                  "io_uring_setup");
  expectForbidden([] { syscall(SYS_bpf, 0, nullptr, 0); }, "bpf");
  expectForbidden(
      [] { syscall(SYS_prlimit64, getppid(), 0, nullptr, nullptr); },
      "prlimit64");
  expectForbidden([] { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }, "prctl");
  expectForbidden([] { syscall(9999); }, "system call 9999");
  // In a process that it has forked, too.
  expectForbidden(
      [] {
        if (fork() == 0) {
          (void)!open("/etc/passwd", O_RDONLY);
          _exit(0);
        }
        pause();
      },
      "openat");
}
