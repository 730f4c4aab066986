//===- Core.h - What instructions take on a core, in cycles -----*- C++ -*-===//
//
// Tiles of registers are compared by the cycles that their instructions take
// on one core. These figures are alike in the server cores of ten years (Intel
// since Skylake, AMD since Zen 2, ARM since Neoverse V1) and only sequences of
// one core are compared by them, so they are no figures of a Machine: what is
// compared with other work is seconds, of Cost.h.
//
// Standard library alone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_MACHINE_CORE_H
#define SHARDC_MACHINE_CORE_H

#include <cstdint>

namespace shardc::core {

/// Vectors that are loaded in a cycle, and multiply-adds that begin in one.
inline constexpr double kLoads = 2, kMultiplyAdds = 2;
/// Cycles until a multiply-add is done.
inline constexpr double kMultiplyAddLatency = 4;
/// Cycles from one iteration of a loop to the next, beside its work.
inline constexpr double kIteration = 1;
/// Cycles of a line that another has pushed out of its set, from the cache
/// behind, as a mean: some are asked for at the same time.
inline constexpr double kPushedOut = 0.3;
/// Bytes of a page, and of a line: a way of a first-level cache is a page.
inline constexpr uint64_t kPageBytes = 4096, kLineBytes = 64;
/// Lines of a set that stay while others pass through, of eight.
inline constexpr int64_t kLinesOfSet = 6;
/// Operations that are under way at once.
inline constexpr int64_t kWindow = 320;
/// Cycles until a line from memory is there.
inline constexpr int64_t kMemoryLatency = 350;
/// Rows, each a stream of lines, that a core prefetches at once; and cycles
/// that a line of another is waited for, as others are under way.
inline constexpr int64_t kStreams = 7;
inline constexpr double kLateLine = 48;

} // namespace shardc::core

#endif // SHARDC_MACHINE_CORE_H
