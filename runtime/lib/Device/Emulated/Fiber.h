//===- Fiber.h - Stacks that one thread switches between --------*- C++ -*-===//
//
// A switch saves what a call must keep and nothing else. On x86-64 that is six
// registers; elsewhere the system's ucontext does it, slowly.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_EMULATED_FIBER_H
#define SHARDRT_DEVICE_EMULATED_FIBER_H

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

/// A stack with a guard page below it, from start to end. Fibers of a process
/// share the stacks that none has: each is two of the mappings that a process
/// may have (65,530 on Linux), and devices stay as long as their programs.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber() { end(); }

  /// Lets the fiber begin, when it is next switched to, in `entry(argument)`,
  /// which must not return. False if there is no memory for its stack.
  bool start(void (*entry)(void *), void *argument);
  /// Leaves it where it is, for good.
  void end();

  Context context;

private:
  char *stack = nullptr;
#ifndef __x86_64__
public:
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
#endif
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_FIBER_H
