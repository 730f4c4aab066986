//===- PairTensorMemory.h - Steps of attention on sm_100a -------*- C++ -*-===//
//
// A block has 128 rows (PairTensorWide), or twice as many (PairTensorTall), and
// two warpgroups whose threads have a row each. One warp of a third begins
// products (tcgen05.mma), whose sums are in tensor memory; others load. A
// thread loads its row's scores, and stores their weights, rounded to 16 bits,
// in their place, where the second product reads its left matrix. A thread's
// products are carried out in their order, so that scores may take the place of
// weights that a product before reads.
//
// Sums stay in tensor memory as well. Weights are relative to a score of the
// row that need not be its largest: only when one is found that is greater by
// more than 2^8, sums are loaded, rescaled and stored. What a row has come to
// in the end is relative to its largest.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRTENSORMEMORY_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRTENSORMEMORY_H

#include "../TensorMemory.h"
#include "PairRing.h"
#include "PairScores.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace shardc::gpukernels::pairs {

/// The depth of one product, and columns of tensor memory that it takes of a
/// left matrix that is there. [shape]
inline constexpr int64_t kTensorStep = 16, kTensorStepColumns = kTensorStep / 2;
/// Columns of tensor memory that a thread loads or stores at once. [shape]
inline constexpr int64_t kColumnsAtOnce = 32;
/// The warp of the first warpgroup that multiplies. [shape]
inline constexpr int64_t kMultiplies = 1;

/// A softmax's row of one thread, whose scores are in pairs: two at once are
/// multiplied and added.
class RowSoftmax : public ThreadRow {
public:
  /// Scores are `scale` times what is taken. `base`: what weights are relative
  /// to.
  RowSoftmax(PairBlock &block, double scale, Value &base, Value &largest,
             Value &sum)
      : ThreadRow(block, base, sum), largest(largest), scale(scale) {}

  Value rises;      ///< whether the base does
  Value sumsFactor; ///< what sums in tensor memory are rescaled by then

  /// exp(from - to): 1 where they are the same.
  Value powerOf(Value from, Value to);

protected:
  /// What weights become relative to, of what they were and the greatest of a
  /// tile.
  Value raise(Value old, Value most) override;
  Value factorOf(Value old) override {
    return sumsFactor =
               block.choose(rises, powerOf(old, relativeTo), number(1));
  }

  Value &largest;
  Value relativeTo; ///< the base, or 0 where that is -inf

private:
  Type pairType() { return VectorType::get({2}, block.step.type); }
  Value both(Value value);
  Value half(Value pair, int64_t which);
  /// All of `values`, combined in chains.
  Value combine(ArrayRef<Value> values,
                llvm::function_ref<Value(Value, Value)> two);

  Value largestOf(ArrayRef<Value> scores) override;
  Value sumOf(ArrayRef<Value> weights) override;
  void setBase(Value value) override { relativeTo = value; }
  Value power(Value pair) override;

  double scale;
};

/// The kernel of one pass.
class TensorMemorySteps {
public:
  virtual ~TensorMemorySteps() = default;

  void emit();

protected:
  /// Takes shared memory of `launch`, in which the builder inserts: a ring
  /// whose stages have `parts`, and `ownBytes` more.
  TensorMemorySteps(PairBlock &block, Ring &ring, gpu::LaunchOp launch,
                    int64_t parts, int64_t ownBytes)
      : block(block), b(block.b), loc(block.loc), step(block.step),
        pass(block.pass), w(b, loc), t(b, loc), ring(ring),
        shared(block, ring, launch, parts, ownBytes + 8), ownBytes(ownBytes) {}

  // Roles.
  /// Makes the kernel's own mbarriers.
  virtual void initBarriers() = 0;
  /// Of the first warpgroup, and of one of its warps, which has to do with no
  /// other.
  virtual void load() = 0;
  virtual void multiply() = 0;
  /// Of thread `own` of the other warpgroups.
  virtual void findWeights(Value own) = 0;
  /// Registers of a thread that multiplies, and of one that works on scores.
  virtual std::pair<int64_t, int64_t> registers() const = 0;
  /// Columns of tensor memory that are used.
  virtual int64_t usedColumns() const = 0;

  void loadRows();
  Value allocated() {
    return LLVM::LoadOp::create(b, loc, b.getI32Type(), slot(), 4);
  }

  /// Products that scores (and gradients of weights) are, and columns of tensor
  /// memory: of scores of a tile, and of sums.
  int64_t products() const { return static_cast<int64_t>(ring.lefts.size()); }
  int64_t scoreColumns() const { return products() * block.shape.columns; }
  /// The pass without sums: what a row keeps beside these.
  PairPass keptOf() const {
    PairPass kept = pass;
    kept.features = 0;
    return kept;
  }

  /// The same columns of tensor memory from `columns` on.
  Value behind(Value address, Value columns) {
    return arith::AddIOp::create(b, loc, address, block.toI32(columns));
  }
  Value behind(Value address, int64_t columns) {
    return behind(address, block.index(columns));
  }
  /// Scores (and gradients of weights) of a tile, which come first in tensor
  /// memory.
  Value scoresAt(Value address, Value tile) {
    return behind(address, block.mul(tile, scoreColumns()));
  }
  /// The lanes of the warp, whose threads have rows `own` of a tile.
  Value lanesOf(Value address, Value own);

  /// Emits `body` for one thread of a warp.
  void forOne(llvm::function_ref<void()> body) { onlyIf(t.elect(), body); }
  /// Emits `body` where `number` is `which`.
  void onlyOneOf(Value number, int64_t which, llvm::function_ref<void()> body);
  void onlyIf(Value condition, llvm::function_ref<void()> body);
  /// One arrival of the warp, when all its threads are here.
  void arriveAsWarp(Value barrier);

  /// Stores what the thread's row has come to before to columns `from` to `to`
  /// of its sums.
  void beginSums(Value sums, int64_t from, int64_t to);
  /// Multiplies all `columns` of the sums of the warp's rows by `factor`, one a
  /// row.
  void rescaleSums(Value sums, int64_t columns, Value factor);
  /// Stores columns `from` to `to` of the sums of the warp's rows, times
  /// `factor` (null: 1), where they belong.
  void storeSums(Value sums, int64_t from, int64_t to, Value factor);

  /// Stores weights of the thread's row of a tile in the place of its scores.
  /// `rescales` rescales sums where any row of the warp rises.
  void weighScores(Value scores, RowSoftmax &row,
                   llvm::function_ref<void()> rescales);
  /// The same backward: weights, or slopes.
  void weighGradients(Value scores);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  const Step &step;
  const PairPass &pass;
  WarpgroupBuilder w;
  TensorMemoryBuilder t;
  Ring &ring;
  SharedRing shared;

private:
  /// Where tensor memory's address is kept.
  Value slot() { return shared.own(ownBytes); }
  int64_t allColumns() const {
    return static_cast<int64_t>(llvm::PowerOf2Ceil(usedColumns()));
  }
  /// All words of a thread's lane of `columns` columns.
  SmallVector<Value> loadColumns(Value address, int64_t columns);
  /// Neighbours of `values`, which have an even number.
  SmallVector<Value> inPairs(ArrayRef<Value> values);
  Value fourAt(int64_t feature);
  void storeWeights(Value address, ArrayRef<Value> pairs);

  int64_t ownBytes;
};

/// The kernels for two tiles of rows, and for one.
std::unique_ptr<TensorMemorySteps> makeTallSteps(PairBlock &block, Ring &ring,
                                                 gpu::LaunchOp launch);
std::unique_ptr<TensorMemorySteps> makeWideSteps(PairBlock &block, Ring &ring,
                                                 gpu::LaunchOp launch);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRTENSORMEMORY_H
