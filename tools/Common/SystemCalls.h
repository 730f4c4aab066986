//===- SystemCalls.h - What a confined process may ask for ------*- C++ -*-===//
//
// Filters of system calls, which the kernel applies: for a sandboxed process,
// and for the linker that works for it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_COMMON_SYSTEMCALLS_H
#define SHARDC_TOOLS_COMMON_SYSTEMCALLS_H

#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace shardc {

#if defined(__x86_64__)
inline constexpr uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif

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

/// All bits of an argument.
inline constexpr uint32_t kAllBits = 0xffffffff;

/// Decisions that all filters share: computing, which opens, names, starts and
/// connects nothing.
void allowComputing(Filter &filter);

/// The name of a system call, for messages.
std::string nameOfCall(long number);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_SYSTEMCALLS_H
