//===- ScarceMemory.h - An operator new that fails on request ---*- C++ -*-===//
//
// One file of a program includes it. On the thread that makes a `Scarce` one
// allocation fails, or all from there on: whatever a library allocates there,
// it has to say that it cannot.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_SCARCEMEMORY_H
#define SHARDRT_TEST_SCARCEMEMORY_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace shardrt::test {
/// Sanitizers have an operator new of their own: no memory is scarce there.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
    __has_feature(memory_sanitizer)
inline constexpr bool canBeScarce = false;
#define SHARDRT_TEST_KEEPS_NEW
#else
inline constexpr bool canBeScarce = true;
#endif

/// Allocations of this thread that still succeed; all where negative.
inline thread_local int64_t left = -1;
/// Whether all that follow fail as well.
inline thread_local bool isOut = false;

/// Lets allocations of this thread fail: after `succeed` one, or all.
class Scarce {
public:
  Scarce(int64_t succeed, bool staysOut) {
    isOut = staysOut;
    left = succeed;
  }
  ~Scarce() { left = -1; }
};

inline void *take(std::size_t bytes, std::size_t alignment) {
  if (left == 0) {
    left = isOut ? 0 : -1;
    return nullptr;
  }
  left -= left > 0;
  void *made = nullptr;
  if (alignment <= alignof(std::max_align_t))
    return std::malloc(std::max<std::size_t>(bytes, 1));
  return posix_memalign(&made, alignment, bytes) ? nullptr : made;
}
} // namespace shardrt::test

#ifndef SHARDRT_TEST_KEEPS_NEW
void *operator new(std::size_t bytes) {
  if (void *made = shardrt::test::take(bytes, 1))
    return made;
  throw std::bad_alloc();
}
void *operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void *made =
          shardrt::test::take(bytes, static_cast<std::size_t>(alignment)))
    return made;
  throw std::bad_alloc();
}
void *operator new[](std::size_t bytes) { return operator new(bytes); }
void *operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
void operator delete(void *made) noexcept { std::free(made); }
void operator delete(void *made, std::size_t) noexcept { std::free(made); }
void operator delete(void *made, std::align_val_t) noexcept { std::free(made); }
void operator delete(void *made, std::size_t, std::align_val_t) noexcept {
  std::free(made);
}
void operator delete[](void *made) noexcept { std::free(made); }
void operator delete[](void *made, std::size_t) noexcept { std::free(made); }
void operator delete[](void *made, std::align_val_t) noexcept {
  std::free(made);
}
void operator delete[](void *made, std::size_t, std::align_val_t) noexcept {
  std::free(made);
}
#endif // SHARDRT_TEST_KEEPS_NEW

#endif // SHARDRT_TEST_SCARCEMEMORY_H
