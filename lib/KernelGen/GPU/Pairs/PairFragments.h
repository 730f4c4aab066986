//===- PairFragments.h - Steps of 16-bit floats on tensor cores -*- C++ -*-===//
//
// A warp has 16 rows; the four lanes that share a row are the four of a
// fragment. Scores are products of 16-bit numbers, as the program has them.
// Weights are f32: each is split into 16-bit numbers that add up to it, so that
// it is not rounded to one of these (bf16: three, which is all of an f32; f16:
// two, of a weight of at most 1).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRFRAGMENTS_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRFRAGMENTS_H

#include "PairBlock.h"

namespace shardc::gpukernels::pairs {

/// Words of two 16-bit numbers, `terms` of them, that add up to both f32.
SmallVector<Value> splitToHalves(PairPoint &point, Value low, Value high,
                                 int64_t terms, bool isFinite);

/// A thread's weights as left fragments: for each term of the weights, and each
/// 16 columns of a tile, four words. Those of a softmax are finite, or NaN.
SmallVector<SmallVector<Value>>
weightFragments(PairBlock &block, ArrayRef<Value> weights, bool isFinite);

/// Lines of 16-bit numbers in shared memory. Where they are swizzled, pieces of
/// 16 bytes change places within 128 bytes, so that eight lines' pieces of one
/// column use all banks though nothing is between lines.
struct HalfLines {
  Value area;
  int64_t pitch; ///< bytes from one line to the next
  bool isSwizzled = false;
  /// Bytes behind `area`: lanes' places in several lines are one and a
  /// constant.
  int64_t offset = 0;
};

/// Where piece `piece` of line number `line` is in a swizzled line.
Value swizzledPiece(PairBlock &block, Value line, Value piece);

/// Adds to `sums`, by row and column of a thread, the products of a warp's rows
/// of `left` and the lines of `right`, along `depth` numbers of both.
void multiplyLines(PairBlock &block, const HalfLines &left,
                   const HalfLines &right, int64_t depth,
                   MutableArrayRef<Value> sums);

/// Stores a thread's `weights` of a tile, rounded to 16 bits, to `lines`, which
/// are the block's rows.
void storeWeights(PairBlock &block, ArrayRef<Value> weights,
                  const HalfLines &lines);

/// Adds to `sums`, by row and column of a thread, the products of `rows` rows
/// of `left` from `firstRow` on and columns of `right` from `firstColumn` on,
/// along `depth` numbers: of lines of `right`, and of columns of `left`, or
/// where it `isTransposed` of its lines too. The firsts are multiples of 16,
/// and of what they begin in swizzled lines.
void addProducts(PairBlock &block, const HalfLines &left, bool isTransposed,
                 Value firstRow, const HalfLines &right, Value firstColumn,
                 int64_t rows, int64_t depth, MutableArrayRef<Value> sums);

/// Adds to `totals`, by row and feature of a thread, the products of weights,
/// as fragments of 16 rows each, and features of the lines of `factor`: to a
/// thread's `count` totals of a row from number `first` on, those from number
/// `begin` on in a line.
void addFragments(PairBlock &block,
                  ArrayRef<SmallVector<SmallVector<Value>>> weights,
                  const HalfLines &factor, int64_t begin, int64_t first,
                  int64_t count, MutableArrayRef<Value> totals);

/// A tile's weights as fragments, by 16 rows of a warp (weightFragments).
SmallVector<SmallVector<SmallVector<Value>>>
weightFragmentsOfRows(PairBlock &block, ArrayRef<Value> weights, bool isFinite);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRFRAGMENTS_H
