//===- Fiber.cpp - Stacks that one thread switches between ----------------===//

#include "Device/Emulated/Fiber.h"
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_UNPOISON_MEMORY_REGION
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (void)0
#endif

using namespace shardrt;

// Kernels are not optimised, so that values that live across a branch or a call
// are all in their frames. Pages that nothing touches cost no memory.
static constexpr size_t stackBytes = 256 << 10;

static size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

static size_t mappedBytes() { return stackBytes + pageBytes(); }

namespace {
/// The stacks of a process that no fiber has.
class IdleStacks {
public:
  /// Null if there is no memory for another.
  char *take() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!all.empty()) {
        char *stack = all.back();
        all.pop_back();
        return stack;
      }
    }
    void *memory = mmap(nullptr, mappedBytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    mprotect(memory, pageBytes(), PROT_NONE);
    return static_cast<char *>(memory);
  }
  void give(char *stack) {
    // AddressSanitizer does not see that calls which had not returned are over.
    ASAN_UNPOISON_MEMORY_REGION(stack, mappedBytes());
    std::lock_guard<std::mutex> lock(mutex);
    all.push_back(stack);
  }

private:
  std::mutex mutex;
  std::vector<char *> all;
};
} // namespace

/// Never destroyed: devices may end after it would be.
static IdleStacks &idleStacks() {
  static auto *stacks = new IdleStacks;
  return *stacks;
}

void Fiber::end() {
  if (stack)
    idleStacks().give(std::exchange(stack, nullptr));
}

#ifdef __x86_64__

// Saves what the System V ABI says a call keeps, changes stacks, restores.
asm(R"(
.text
.p2align 4
.type shardrt_switch_stack,@function
shardrt_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size shardrt_switch_stack, .-shardrt_switch_stack
.p2align 4
.type shardrt_begin_stack,@function
shardrt_begin_stack:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size shardrt_begin_stack, .-shardrt_begin_stack
)");
extern "C" {
void shardrt_switch_stack(void **from, void *to)
    __attribute__((visibility("hidden")));
void shardrt_begin_stack(void) __attribute__((visibility("hidden")));
}

void shardrt::switchContext(Context &from, Context &to) {
  shardrt_switch_stack(&from.stackPointer, to.stackPointer);
}

bool Fiber::start(void (*entry)(void *), void *argument) {
  if (!stack && !(stack = idleStacks().take()))
    return false;
  // As shardrt_switch_stack leaves a stack: six registers and where to go on. A
  // call finds the stack 16-byte aligned.
  auto top =
      (reinterpret_cast<uintptr_t>(stack) + mappedBytes()) & ~uintptr_t(15);
  auto *slots = reinterpret_cast<void **>(top) - 9;
  std::memset(slots, 0, 8 * sizeof(void *));
  slots[3] = argument;                        // r12
  slots[4] = reinterpret_cast<void *>(entry); // rbx
  slots[6] = reinterpret_cast<void *>(&shardrt_begin_stack);
  context.stackPointer = slots;
  return true;
}

#else

void shardrt::switchContext(Context &from, Context &to) {
  swapcontext(&from.context, &to.context);
}

/// makecontext passes ints: the address comes in two halves.
static void begin(unsigned high, unsigned low) {
  auto *fiber = reinterpret_cast<Fiber *>(
      static_cast<uintptr_t>(uint64_t(high) << 32 | low));
  fiber->entry(fiber->argument);
}

bool Fiber::start(void (*newEntry)(void *), void *newArgument) {
  if (!stack && !(stack = idleStacks().take()))
    return false;
  entry = newEntry;
  argument = newArgument;
  getcontext(&context.context);
  context.context.uc_stack.ss_sp = stack + pageBytes();
  context.context.uc_stack.ss_size = stackBytes;
  context.context.uc_link = nullptr;
  auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(this));
  makecontext(&context.context, reinterpret_cast<void (*)()>(&begin), 2,
              static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  return true;
}

#endif
