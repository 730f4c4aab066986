//===- Spin.h - Waiting on a core -------------------------------*- C++ -*-===//
#ifndef SHARDRT_HOST_SPIN_H
#define SHARDRT_HOST_SPIN_H

namespace shardrt {

/// Tells the core that its thread looks again and again at something.
inline void relaxCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace shardrt

#endif // SHARDRT_HOST_SPIN_H
