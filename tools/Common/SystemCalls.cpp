//===- SystemCalls.cpp - What a confined process may ask for --------------===//
#include "SystemCalls.h"
#include <cerrno>
#include <sched.h>
#include <sys/ioctl.h>

using namespace shardc;

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

std::string shardc::nameOfCall(long number) {
  for (const Call &call : kForbidden)
    if (call.number == number)
      return call.name;
  for (const Call &call : kAllowed)
    if (call.number == number)
      return call.name;
  return "system call " + std::to_string(number);
}

static constexpr uint32_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
static constexpr uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;

void shardc::allowComputing(Filter &filter) {
  for (const Call &call : kAllowed)
    filter.on(call.number, SECCOMP_RET_ALLOW);
  // Flags of clone3 are in memory, where no filter sees them; clone does.
  filter.on(SYS_clone3, kNoSuchCall);
  filter.allowIf(SYS_clone, 0, kNewNamespaces, 0);
  filter.allowIf(SYS_prlimit64, 0, kAllBits, 0);
  for (uint32_t request : {TCGETS, TIOCGWINSZ})
    filter.allowIf(SYS_ioctl, 1, kAllBits, request);
  for (uint32_t what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE,
                        PR_SET_PDEATHSIG, 0x53564d41 /*PR_SET_VMA*/})
    filter.allowIf(SYS_prctl, 0, kAllBits, what);
}
