//===- PairStrips.h - Lines of a pair step in shared memory -----*- C++ -*-===//
//
// What kernels for all GPUs have in shared memory: the block's rows, and tiles
// of columns, which cp.async copies 16 bytes at once. Lines of a multiple of
// 128 bytes are swizzled, and the stride of others is 16 bytes more than their
// length, so that eight of them use all banks.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTRIPS_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTRIPS_H

#include "PairFragments.h"

namespace shardc::gpukernels::pairs {

/// Elements of a piece of 16 bytes. [shape]
inline constexpr int64_t kPieceHalves = 8;
/// Shared memory that two blocks of a multiprocessor may have each, and that
/// one may on the least of them. [shape]
inline constexpr int64_t kHalfBytes = 80 * 1024, kMostBytes = 99 * 1024;

/// Lines of a tensor as they are in shared memory.
struct Strip : Lines {
  bool isWide; ///< f32 in memory

  bool isSwizzled() const { return length % (8 * kPieceHalves) == 0; }
  int64_t pitchBytes() const {
    return (isSwizzled() ? length : length + kPieceHalves) * 2;
  }
  int64_t bytes() const { return lines * pitchBytes(); }
};

/// What the block's rows are, for each product of scores, and behind it stages
/// of what tiles of columns are: two, or one, which is loaded again as soon as
/// all have read it, while another block multiplies.
struct Strips {
  SmallVector<Strip> lefts, tiles;
  size_t factor = 0; ///< the one of `tiles` that weights are multiplied with
  int64_t stages = 2;

  static int64_t bytesOf(ArrayRef<Strip> all) {
    int64_t bytes = 0;
    for (const Strip &strip : all)
      bytes += strip.bytes();
    return bytes;
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
};

/// Whether neighbours along `dim`, if there are any, are in pieces of 16 bytes,
/// or of 32 where they are f32.
bool isInPieces(const Tensor &tensor, unsigned dim);

/// What a kernel for `pass` reads; nothing where it is none.
std::optional<Strips> stripsFor(const Step &step, const PairPass &pass,
                                const TileShape &shape, int64_t stages);

/// Writes what a block's threads do to load strips.
class StripCopies {
public:
  StripCopies(PairBlock &block) : block(block), b(block.b), loc(block.loc) {}

  /// Lets copies load the lines of all strips from `line` on, one behind the
  /// other from `to` on: zeros past the edges.
  void load(ArrayRef<Strip> all, Value line, Value to);
  /// Number `which` of `all` strips, which begin at `from`.
  static HalfLines linesOf(ArrayRef<Strip> all, size_t which, Value from);

private:
  void loadStrip(const Strip &strip, Value firstLine, Value area);
  void loadRounded(Value from, Value inside, Value to);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
};

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTRIPS_H
