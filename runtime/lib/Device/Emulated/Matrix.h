//===- Matrix.h - Matrices in shared memory, by descriptors -----*- C++ -*-===//
#ifndef SHARDRT_DEVICE_EMULATED_MATRIX_H
#define SHARDRT_DEVICE_EMULATED_MATRIX_H

#include "Device/Emulated/Block.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace shardrt {

/// The number of a code of e5m2, which has infinities, or of e4m3, which has
/// none.
inline float ofEightBits(uint8_t code, bool isE5M2) {
  int fractionBits = isE5M2 ? 2 : 3, bias = isE5M2 ? 15 : 7;
  int fraction = code & ((1 << fractionBits) - 1);
  int exponent = (code & 0x7f) >> fractionBits;
  float sign = code & 0x80 ? -1.0f : 1.0f;
  if (isE5M2 && exponent == 31)
    return sign * (fraction ? NAN : INFINITY);
  if (!isE5M2 && (code & 0x7f) == 0x7f)
    return NAN;
  float whole =
      static_cast<float>(exponent ? fraction + (1 << fractionBits) : fraction);
  return sign * std::ldexp(whole, std::max(exponent, 1) - bias - fractionBits);
}

/// A matrix in shared memory, as a descriptor of wgmma or tcgen05 gives it:
/// rows of 128 bytes, eight of them a block, pieces of 16 bytes swapped by the
/// row.
struct Matrix {
  int64_t start = 0, leading = 0, stride = 0;
  bool alongLines = false;
  int64_t bytes = 2; ///< of an element

  Matrix(int64_t bits, bool alongLines, int64_t bytes)
      : alongLines(alongLines), bytes(bytes) {
    start = (bits & 0x3fff) << 4;
    leading = (bits >> 16 & 0x3fff) << 4;
    stride = (bits >> 32 & 0x3fff) << 4;
  }
  /// The address of element (`line`, `depth`), counted from 0; 18 bits.
  int64_t at(int64_t line, int64_t depth) const {
    int64_t place =
        alongLines ? start + line / 64 * leading + depth / 8 * stride +
                         depth % 8 * 128 + line % 64 * 2
                   : start + line / 8 * stride + line % 8 * 128 + depth * bytes;
    return place ^ (place >> 7 & 7) << 4;
  }
  /// The offset in shared memory of address `place` of 18 bits, as descriptors
  /// hold it.
  static int64_t offsetOf(const char *shared, int64_t place) {
    auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(shared));
    return (place - base) & 0x3ffff;
  }
  /// Appends the offset, `behind` further, of each 16 bytes that a product of
  /// `lines` reads, a depth of 32 bytes. Returns one that is outside of
  /// `sharedBytes`, or -1.
  int64_t pieces(const char *shared, int64_t lines, int64_t sharedBytes,
                 std::vector<int32_t> &reads, int64_t behind = 0) const {
    int64_t lineStep = alongLines ? 8 : 1,
            depthStep = alongLines ? 1 : pieceBytes / bytes;
    for (int64_t line = 0; line < lines; line += lineStep)
      for (int64_t depth = 0; depth < 32 / bytes; depth += depthStep) {
        int64_t offset = offsetOf(shared, at(line, depth));
        if (offset + pieceBytes > sharedBytes)
          return offset;
        reads.push_back(static_cast<int32_t>(behind + offset));
      }
    return -1;
  }
  /// `lines` times `depths` elements, of tf32 where they have four bytes, of
  /// e5m2 or e4m3 where they have one; those `behind` further.
  std::vector<float> read(const char *shared, int64_t lines, int64_t depths,
                          bool isBF16, int64_t behind = 0,
                          bool isE5M2 = false) const {
    std::vector<float> values(lines * depths);
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t depth = 0; depth < depths; ++depth) {
        const char *from = shared + behind + offsetOf(shared, at(line, depth));
        float &value = values[line * depths + depth];
        if (bytes == 4) {
          uint32_t bits;
          std::memcpy(&bits, from, sizeof(bits));
          value = asTF32(bits);
        } else if (bytes == 1) {
          value = ofEightBits(static_cast<uint8_t>(*from), isE5M2);
        } else {
          uint16_t bits;
          std::memcpy(&bits, from, sizeof(bits));
          value = widened(bits, isBF16);
        }
      }
    return values;
  }
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_MATRIX_H
