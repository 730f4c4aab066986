//===- Fiber.h - Stacks that one thread switches between --------*- C++ -*-===//
//
// A switch saves what a call must keep and nothing else. On x86-64 that is six
// registers; elsewhere the system's ucontext does it, slowly.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_EMULATED_FIBER_H
#define SHARDRT_DEVICE_EMULATED_FIBER_H

#include <cstddef>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace shardrt {

/// Where a stack was left.
struct Context {
#ifdef __x86_64__
  void *stackPointer = nullptr;
#else
  ucontext_t context;
#endif
};

/// Leaves the running stack at `from` and goes on where `to` was left.
void switchContext(Context &from, Context &to);

/// A stack of its own with a guard page below it.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Lets the fiber begin, when it is next switched to, in `entry(argument)`,
  /// which must not return. False if there is no memory for its stack.
  bool start(void (*entry)(void *), void *argument);

  Context context;

private:
  char *stack = nullptr;
  size_t bytes = 0;
#ifndef __x86_64__
public:
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
#endif
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_FIBER_H
