//===- PairBlock.h - A block of threads and its tile of scores --*- C++ -*-===//
//
// Kernels of pair steps are written at a point of the step's dims (PairPoint):
// an element of each tensor is there. A block of threads (PairBlock) has
// some rows and goes through tile after tile of columns; each of its threads
// has some rows and columns of a tile, four threads a row.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRBLOCK_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRBLOCK_H

#include "../../Common/PairAlgebra.h"
#include "PairStep.h"
#include "shardc/Support/IndexBuilder.h"

namespace shardc::gpukernels::pairs {

/// Writes code at a point of a step's dims.
class PairPoint : public IndexBuilder {
public:
  PairPoint(OpBuilder &b, const Step &step)
      : IndexBuilder(b, step.loc), step(step), at(step.sizes.size()) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(step.type, value));
  }
  /// The lesser; `y` where one is NaN.
  Value smaller(Value x, Value y) {
    return choose(
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y), x, y);
  }
  Value toI32(Value value) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  }

  SmallVector<Value> subscripts(const Tensor &tensor) const;
  /// The element here, as it is in memory.
  Value element(const Tensor &tensor);
  /// The same as a number of the step's type; of a state, what it begins with.
  Value load(const Tensor &tensor);
  void store(Value value, const Tensor &tensor);

  /// All that `region` makes of `arguments`.
  SmallVector<Value> evaluateAll(Region &region, ArrayRef<Value> arguments);
  /// The first of what `region` makes of `first` and `around`.
  Value evaluate(Region &region, ArrayRef<Value> first, ArrayRef<Value> around);
  /// An element of each extra, then the global positions.
  SmallVector<Value> surroundings();
  /// True where query and key are no farther apart than the band allows; null
  /// where there is none.
  Value inBand();

  const Step &step;
  SmallVector<Value> at; ///< by dim
  /// Backward, what the query here has in registers; null where it is loaded.
  Value largest, delta;
};

/// How a tile of scores is shared out among a block's threads.
struct TileShape {
  /// Rows and columns of a thread are those of a fragment of mma: a warp has
  /// 16 rows, and of a thread's two the second is eight below.
  bool fragments = false;
  int64_t columns = kColumns;
  int64_t rowsOfThread = 1;
  int64_t rows = 0; ///< of the block
  /// Groups of a block's threads that have the same rows, each with features of
  /// its own.
  int64_t featureGroups = 1;
  /// Groups of a block's warps that have the same rows of a tile of scores, and
  /// columns of its own each, side by side.
  int64_t columnGroups = 1;
  /// Threads that share a row. Where one has it alone, its columns are side by
  /// side, as tensor memory has them.
  int64_t threadsOfRow = kPerRow;

  /// Whether tensor cores multiply weights.
  bool onTensorCores() const { return fragments || threadsOfRow == 1; }
  int64_t columnsOfThread() const {
    return columns / columnGroups / threadsOfRow;
  }
  int64_t scoresOfThread() const { return rowsOfThread * columnsOfThread(); }
};

/// What a thread carries from tile to tile.
struct Carried {
  SmallVector<Value> most, sum; // by row; softmax (and others: `sum` alone)
  SmallVector<Value> totals;    // by row and feature
  SmallVector<Value> others;    // the same of the pass beside
  SmallVector<Value> ring;      // where it is in a ring of stages

  SmallVector<Value> flat() const;
  /// The same with other values.
  Carried with(ValueRange values) const;
};

/// Writes what threads of a block do for one pass.
class PairBlock : public PairPoint {
public:
  PairBlock(OpBuilder &b, const Step &step, const PairPass &pass,
            const TileShape &shape)
      : PairPoint(b, step), pass(pass), shape(shape) {}

  /// A launch of `threads` a block, a block for each of the shape's rows. The
  /// builder and the point are in it.
  gpu::LaunchOp launch(int64_t threads);
  /// The same of a block that is yet to be placed (placeBlock).
  gpu::LaunchOp launchUnplaced(int64_t threads);
  /// Moves to block number `block`: of neighbours rows are side by side; or the
  /// batch is another one, where `rowsLast`.
  void placeBlock(Value block, bool rowsLast = false);
  /// The address of `count` elements of the launch's shared memory.
  Value shared(gpu::LaunchOp launch, int64_t count, Type type);
  /// The address `offset` bytes behind `area`, in shared memory.
  Value sharedByte(Value area, Value offset);
  /// The first row of thread `number`, where a warp has `rowsOfWarp` rows and
  /// four lanes share one.
  Value rowInWarps(Value number, int64_t rowsOfWarp);

  // A thread's rows and columns in a tile.
  Value rowAt(int64_t row) {
    return add(rowOfThread, index(row * (shape.fragments ? 8 : kRows)));
  }
  Value columnAt(int64_t column) {
    return add(firstColumnAt(), index(columnBehind(column)));
  }
  /// How far behind a thread's first column another is.
  int64_t columnBehind(int64_t column) const {
    return shape.fragments ? column / 2 * 8 + column % 2
                           : column * shape.threadsOfRow;
  }
  /// Moves to a thread's row; past the edge to the last one, whose results are
  /// not stored.
  void placeRow(int64_t row);
  /// Backward, loads what rows have of gradients, if it is the same for all
  /// tiles.
  void keepRows();
  void placeColumn(int64_t column);
  /// Moves to a column of a thread, whose row the point has; true where its
  /// score counts, null where each does.
  Value countsAt(int64_t column);
  /// The band, in column - row.
  shardc::pairs::Band bandOfRows() const;
  /// Whether all scores of the block's tile count; null where they always do.
  Value allCount();
  bool hasEdge() const { return step.hasEdge(pass, shape.columns); }

  // Rows.
  /// All values of all four threads of a row, combined.
  Value foldRow(ArrayRef<Value> values,
                llvm::function_ref<Value(Value, Value)> combine);
  /// What a thread's rows have come to before `of`.
  Carried beginRows(const PairPass &of);
  /// Stores what they have come to.
  void finishRows(const PairPass &of, const Carried &carried);

  // Columns.
  /// Those that any of the block's rows uses, from the first of a tile on.
  std::pair<Value, Value> columnRange();
  /// The first of the blocks, by their rows, that go through the tile of
  /// columns from `column` on.
  Value firstBlockOf(Value column);
  Carried carry(Value from, Value to, Value by, const Carried &carried,
                llvm::function_ref<Carried(Value, Carried)> body);
  /// Goes over the batch dims that a block goes through.
  Carried overInner(Carried carried, llvm::function_ref<Carried(Carried)> body);
  /// Goes over the tiles of columns that any of the block's rows uses.
  Carried overColumns(Carried carried,
                      llvm::function_ref<Carried(Value, Carried)> body);

  const PairPass &pass;
  const TileShape &shape;
  Value thread, rowOfThread, laneOfRow, firstRow, firstColumn;
  Value firstFeature; ///< of a thread, behind the pass's; null: 0
  Value firstOfWarp;  ///< row of the block; null: warps are one below the other
  Value firstOfGroup; ///< column of the tile; null: 0

private:
  Value firstColumnAt() {
    Value first = shape.fragments ? mul(laneOfRow, 2) : laneOfRow;
    return firstOfGroup ? add(first, firstOfGroup) : first;
  }
  SmallVector<std::pair<Value, Value>> kept; ///< largest and delta, by row
  Value rowTiles;                            ///< blocks that have all rows

  Value withinTile(Value behind);
  bool fills(const PairPass &of) const;
  Value featureAt(const PairPass &of, int64_t i);
  Carried overDims(ArrayRef<unsigned> dims, Carried carried,
                   llvm::function_ref<Carried(Carried)> body);
};

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRBLOCK_H
