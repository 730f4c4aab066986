//===- Levels.h - Kernels by level of CPU, shared by threads ----*- C++ -*-===//
#ifndef SHARDRT_DEVICE_CPU_LEVELS_H
#define SHARDRT_DEVICE_CPU_LEVELS_H

#include "Host/Pool.h"
#include <algorithm>
#include <cstdint>

namespace shardrt {

/// The best of kernels that this CPU can run.
template <typename Kernels>
const Kernels &bestOf(const Kernels &base, [[maybe_unused]] const Kernels &v3,
                      [[maybe_unused]] const Kernels &v4) {
  // ThreadSanitizer sees no access of more than 16 bytes.
#if defined(SHARDRT_LEVELS) && !__has_feature(thread_sanitizer)
  if (__builtin_cpu_supports("x86-64-v4"))
    return v4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return v3;
#endif
  return base;
}

/// Runs `body(part)` for all parts.
template <typename Body>
void share(Pool &pool, int64_t parts, const Body &body) {
  if (parts == 1)
    return body(0);
  pool.run([](const void *env,
              int64_t part) { (*static_cast<const Body *>(env))(part); },
           &body, parts);
}

/// Where part `part` of `parts` begins.
inline int64_t bound(int64_t size, int64_t part, int64_t parts) {
  return size / parts * part + std::min(size % parts, part);
}

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_LEVELS_H
