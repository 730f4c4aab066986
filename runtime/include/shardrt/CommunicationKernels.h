//===- CommunicationKernels.h - Kernels that communication calls -*- C++
//-*-===//
//
// A program for GPUs holds, beside its own kernels, those that the runtime
// launches to combine and to move elements at its sites: the compiler makes
// them (lib/Calls/CommunicationKernels.cpp), the runtime finds them by name
// (lib/Collectives/DeviceKernels.cpp). A program that lacks one is older: its
// elements go through host memory.
//
// All take blocks of `communicationThreads` threads along x, as many as there
// is work for, and arguments of 8 bytes: addresses of device memory (A) and
// numbers (N), in the order given here.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMMUNICATIONKERNELS_H
#define SHARDRT_COMMUNICATIONKERNELS_H

#include "shardrt/ElementType.h"
#include "shardrt/Sites.h"
#include <algorithm>
#include <string>

namespace shardrt {

inline constexpr int64_t communicationThreads = 256;
/// How many addresses of parts a combining kernel takes.
inline constexpr int64_t combineAddresses = 8;

/// How many elements of `type` a thread combines at once where all addresses
/// are multiples of 16.
constexpr int64_t combineWidth(ElementType type) {
  return std::max<int64_t>(16 / elementBytes(type), 1);
}

/// "complex_f32" for complex<f32>: part of a kernel's name.
inline std::string kernelTypeName(ElementType type) {
  std::string name;
  for (char c : elementTypeName(type))
    if (c != '>')
      name += c == '<' ? '_' : c;
  return name;
}

/// Combines parts from left to right, as the host's functions do (Combine.h):
/// the same bits, NaN aside. Part i begins at address i, and from the last
/// address on `stride` bytes behind the one before.
///   A destination, which may be a part; N elements; N elements of a thread, 1
///   or combineWidth; N parts, 1 at least; N stride; A... combineAddresses
inline std::string combineKernelName(ElementType type, Reduction reduction) {
  return "shardrt_combine_" + kernelTypeName(type) + "_" +
         std::string(reductionName(reduction));
}

/// Moves rows, given as pairs of 8-byte numbers: the row in the source, and
/// that in the destination, once for each of several blocks.
///   A destination; A source; A pairs; N words in all; N words of a row; N
///   pairs; N words between blocks of the destination; N the same of the source
/// A word has `bytes` bytes: 1, 2, 4, 8 or 16.
inline std::string rowsKernelName(int64_t bytes) {
  return "shardrt_rows_" + std::to_string(bytes);
}

/// Combines rows with updates of them, each with its own one after the other,
/// rounded after each. Segments are triples of 8-byte numbers: a row, where its
/// updates begin, and where they end.
///   A destination; A updates; A segments; N elements in all; N elements of a
///   row; N segments; N elements between blocks of the destination; N the
///   same of the updates
inline std::string updateKernelName(ElementType type, Reduction reduction) {
  return "shardrt_update_" + kernelTypeName(type) + "_" +
         std::string(reductionName(reduction));
}

} // namespace shardrt

#endif // SHARDRT_COMMUNICATIONKERNELS_H
