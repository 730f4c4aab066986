//===- PairScores.h - What becomes of a tile of scores ----------*- C++ -*-===//
//
// The algorithms of pair steps: scores become weights (Scores), or gradients
// (Gradient), and these are multiplied into sums (visitTile). How tiles are
// loaded and multiplied is a target's (TileProducts).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSCORES_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSCORES_H

#include "PairBlock.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc::gpukernels::pairs {

/// How a target loads and multiplies tiles. Numbers of a tile of scores, and of
/// a thread's sums, are by row and column, or feature, of a thread.
class TileProducts {
public:
  virtual ~TileProducts() = default;

  /// The tile from column `column` on may be read.
  virtual void beginTile(Value column, Carried &carried) {}
  /// The products of the block's rows and the tile: of queries and keys; for
  /// slopes also of values and their cotangents.
  virtual SmallVector<SmallVector<Value>> multiply() = 0;
  /// Adds the products of `weights` and the pass's factor to the pass's totals.
  virtual void addWeighted(ArrayRef<Value> weights, Carried &carried) = 0;
  /// All sums are there, and nobody reads the tile any more.
  virtual void endTile(Carried &carried) {}
};

/// What the pass does with one tile of columns.
Carried visitTile(PairBlock &block, TileProducts &products, Value column,
                  Carried carried);

/// A softmax's row as a thread keeps it: in values.
class ThreadRow : public shardc::pairs::SoftmaxRow {
public:
  Value factor;

protected:
  /// `kept`: the largest score so far, or what weights are relative to.
  ThreadRow(PairBlock &block, Value &kept, Value &sum)
      : SoftmaxRow(block.b, block.loc), block(block), kept(kept), sum(sum) {}

  Value getLargest() override { return kept; }
  void setLargest(Value value) override { kept = value; }
  Value getSum() override { return sum; }
  void setSum(Value value) override { sum = value; }
  void setFactor(Value value) override { factor = value; }
  Value number(double value) override { return block.number(value); }
  Value greater(Value x, Value y) override;
  Value multiplyAdd(Value x, Value y, Value z) override;

  PairBlock &block;
  Value &kept, &sum;
};

/// exp in kernels: where weights are rounded to 16 bits, they need not be exact
/// to more, and are powers of two.
class Exponential {
public:
  /// Of scores that are `scale` times what `of` is given.
  Exponential(PairPoint &point, bool isShort, double scale = 1)
      : point(point), isShort(isShort), scale(scale) {}

  bool isRounded() const { return isShort; }
  /// What is taken off a score, as `of` wants it.
  Value baseOf(Value base);
  /// exp(score - base); of no more than `limit`.
  Value of(Value score, Value base, std::optional<double> limit = std::nullopt);
  /// exp(from - base), for a base that is `to`: 1 where both are the same,
  /// which the unit's power need not be.
  Value ratio(Value from, Value base, Value to);

private:
  PairPoint &point;
  bool isShort;
  double scale;
};

/// Forward: scores of a tile as weights, and what a row keeps of them.
class Scores {
public:
  explicit Scores(PairBlock &block)
      : block(block), b(block.b), loc(block.loc),
        exponential(block, roundsWeights(block),
                    laterScale(block).value_or(1)) {}

  /// Whether weights of the block are rounded to 16 bits.
  static bool roundsWeights(const PairBlock &block) {
    return block.step.shortWeights && block.shape.onTensorCores();
  }
  /// Where weights are rounded, what scores are still to be multiplied by, if
  /// that is all: the multiply-add does it that takes off the largest.
  static std::optional<double> laterScale(const PairBlock &block) {
    bool isLater = roundsWeights(block) &&
                   block.step.combine == spmd::PairCombine::Softmax;
    return isLater ? block.step.scale : std::nullopt;
  }
  /// The weights of a tile; none where rows keep all there is. `carried` takes
  /// in what a row keeps.
  SmallVector<Value> weigh(ArrayRef<Value> raw, Carried &carried);
  /// The scores of a tile, but for their scale, -inf where one does not count
  /// (of other ops than a softmax: what changes nothing).
  SmallVector<Value> counted(ArrayRef<Value> raw);
  /// The scores of a tile, whether they count or not.
  SmallVector<Value> all(ArrayRef<Value> raw);

private:
  SmallVector<Value> masked(ArrayRef<Value> raw, double neutral, bool allCount);
  void rescale(MutableArrayRef<Value> sums, Value factor);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  Exponential exponential;
};

/// Backward: what the current score is in gradients.
class Gradient final : public shardc::pairs::ScoreGradient {
public:
  /// With `rounds` weights are rounded to 16 bits.
  Gradient(PairPoint &point, bool rounds)
      : ScoreGradient(point.b, point.loc,
                      {point.step.score, point.step.weight, point.step.slope}),
        point(point), powers(point, rounds) {}

private:
  Value getLargest() override;
  Value getDelta() override;
  Value exponential(Value score, Value base) override;
  SmallVector<Value> surroundings() override;
  SmallVector<Value> evaluate(Region &region,
                              ArrayRef<Value> arguments) override;
  Value choose(Value counts, Value value) override;

  PairPoint &point;
  Exponential powers;
};

/// What `body` makes of each score of a thread, at the current point; it is
/// told whether the score counts (null: it does).
SmallVector<Value> overScores(PairBlock &block,
                              llvm::function_ref<Value(size_t, Value)> body);

/// Puts the scores of a tile into their rows' lists: one thread a row.
/// `scoreAt` loads the score of a thread's row and a column of the tile.
void putIntoLists(PairBlock &block,
                  llvm::function_ref<Value(int64_t, Value)> scoreAt);

/// Launches the gradient of extra number `which`: a thread for each element, or
/// a block where many pairs add to one.
void launchExtraGradient(OpBuilder &b, const Step &step, unsigned which);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSCORES_H
