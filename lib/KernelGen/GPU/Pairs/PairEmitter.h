//===- PairEmitter.h - Writes the kernels of one pair step ------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIREMITTER_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIREMITTER_H

#include "../Warpgroups.h"
#include "PairSteps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdPairs.h"

namespace shardc::gpukernels::pairs {

inline constexpr int64_t kThreads = 128, kPerRow = 4;
inline constexpr int64_t kRows = kThreads / kPerRow; // of a thread's first row
inline constexpr int64_t kColumns = 32;              // of a tile
inline constexpr int64_t kPart = 32; // of a depth, or of features, at once
inline constexpr int64_t kOwn =
    kPart / kPerRow; // features of a thread, of these
/// Features whose sums stay in registers: more take another pass.
inline constexpr int64_t kSlab = 256;

/// A tensor of the step, read and written through its map.
struct Tensor {
  Value memref;
  AffineMap map;
  bool has(unsigned dim) const { return map.isFunctionOfDim(dim); }
};

/// What a tile of scores becomes, before it is multiplied.
enum class Weigh { Forward, Weights, Slopes };

/// What a thread carries from tile to tile.
struct Carried {
  SmallVector<Value> most, sum; // by row; softmax (and others: `sum` alone)
  SmallVector<Value> totals;    // by row and feature
  SmallVector<Value> others;    // the same of the pass beside
  SmallVector<Value> ring;      // where it stands in a ring of stages

  SmallVector<Value> flat() const {
    SmallVector<Value> all(most);
    llvm::append_range(all, sum);
    llvm::append_range(all, totals);
    llvm::append_range(all, others);
    llvm::append_range(all, ring);
    return all;
  }
  /// The same with other values.
  Carried with(ValueRange values) const {
    Carried next;
    auto take = [&](size_t count) {
      SmallVector<Value> taken(values.take_front(count));
      values = values.drop_front(count);
      return taken;
    };
    next.most = take(most.size());
    next.sum = take(sum.size());
    next.totals = take(totals.size());
    next.others = take(others.size());
    next.ring = take(ring.size());
    return next;
  }
};

/// What one launch computes: some features of `target` from `slab` on (null:
/// rows keep all there is). Rows of a softmax keep their maximum and sum if
/// `last`.
struct Pass {
  Weigh weigh;
  unsigned rows; ///< the dim that its rows run over
  const Tensor *target;
  unsigned feature;
  const Tensor *factor;
  int64_t slab;
  bool last;
  int64_t features = 0; ///< of sums in registers
  /// What else the same scores are for: `Weights` of a pass of slopes.
  const Pass *beside = nullptr;
};

class PairSteps {
public:
  /// With `onWarpgroups` also kernels for sm_90a.
  PairSteps(spmd::PairStepOp op, bool onWarpgroups, bool shortWeights);
  void emit();

private:
  // Numbers.
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, loc, x, index(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(b, loc, x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(b, loc, x, index(y));
  }
  Value compare(arith::CmpIPredicate how, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, how, x, y);
  }
  Value less(Value x, Value y) {
    return compare(arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value smallerIndex(Value x, Value y) {
    return arith::MinSIOp::create(b, loc, x, y);
  }
  Value largerIndex(Value x, Value y) {
    return arith::MaxSIOp::create(b, loc, x, y);
  }
  /// The greater; the other where one is NaN.
  Value greater(Value x, Value y) {
    return LLVM::MaxNumOp::create(b, loc, x, y);
  }
  Value smaller(Value x, Value y) {
    return select(
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y), x, y);
  }
  Value toI32(Value value) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  }

  // Memory.
  SmallVector<Value> subscripts(const Tensor &tensor) {
    return llvm::map_to_vector(tensor.map.getResults(), [&](AffineExpr expr) {
      return at[cast<AffineDimExpr>(expr).getPosition()];
    });
  }
  /// The element where `at` stands, as it is in memory.
  Value element(const Tensor &tensor) {
    return memref::LoadOp::create(b, loc, tensor.memref, subscripts(tensor));
  }
  /// The same as a number of the float type.
  Value load(const Tensor &tensor) {
    Value value = element(tensor);
    if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type, value);
    return value;
  }
  void store(Value value, const Tensor &tensor) {
    memref::StoreOp::create(b, loc, value, tensor.memref, subscripts(tensor));
  }
  Value sharedByte(Value area, Value offset);
  Value sharedAt(Value area, Value row, Value column);
  void stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
             int64_t lines, unsigned dim, Value first, Value area,
             bool halves = false);

  // Scores.
  Value evaluate(Region &region, ArrayRef<Value> first, ArrayRef<Value> around,
                 unsigned result = 0);
  SmallVector<Value> surroundings();
  int64_t ownColumns() const { return tileColumns / kPerRow; }
  Value inBand();
  Value countsAt(int64_t column);
  Value allCount();
  SmallVector<Value> scoresOf(ArrayRef<Value> raw, double neutral,
                              bool allCount);
  SmallVector<Value> contract(const Tensor &rows, const Tensor &columns,
                              unsigned dim, Region *pair);
  /// A thread's rows and columns in a tile: fragments of mma on tensor cores.
  Value rowAt(int64_t row) {
    return add(rowOfThread, index(row * (tensor ? 8 : kRows)));
  }
  int64_t columnBehind(int64_t column) { ///< behind the thread's first
    return tensor ? column / 2 * 8 + column % 2 : column * kPerRow;
  }
  Value firstColumnAt() { return tensor ? mul(laneOfRow, 2) : laneOfRow; }
  Value columnAt(int64_t column) {
    return add(firstColumnAt(), index(columnBehind(column)));
  }
  Value withinTile(Value behind);
  bool hasEdge() {
    return ShapedType::isDynamic(sizeOf(columnDim)) ||
           sizeOf(columnDim) % tileColumns != 0;
  }
  std::pair<std::optional<int64_t>, std::optional<int64_t>> bandOfRows();
  void placeRow(int64_t row);
  void placeColumn(int64_t column);
  Value foldRow(ArrayRef<Value> values,
                llvm::function_ref<Value(Value, Value)> combine);
  class ThreadSoftmax;
  class RowList;
  /// Weights are rounded to 16 bits: they need not be exact to more, and are
  /// powers of two.
  bool roundsWeights() const { return shortWeights && tensor; }
  /// What `powerOfTwo` takes off, of what is taken off scores.
  Value inPowersOfTwo(Value base);
  /// exp(score - base); of no more than `limit`.
  Value powerOfTwo(Value score, Value shifted, std::optional<double> limit);
  void rescale(MutableArrayRef<Value> sums, Value factor);
  SmallVector<Value> forwardScores(ArrayRef<Value> raw, Carried &carried);
  Value backwardPower(Value raw, Value counts);
  Value backwardWeight(Value power, Value counts);
  Value backwardSlope(Value power, Value raw, Value dp, Value counts,
                      unsigned which = 0);
  void putIntoLists();
  // On tensor cores.
  bool isHalf(const Tensor &tensor) const {
    return getElementTypeOrSelf(tensor.memref.getType()) == half;
  }
  /// With `orWide` also where the factor is f32 that is rounded.
  bool fitsTensorCores(Weigh weigh, const Tensor *factor, bool orWide = false);
  /// Whether f32 of `tensor` are rounded to 16 bits on their way: those of f16
  /// end early.
  bool roundsWide(const Tensor &tensor) const {
    return shortWeights && half.isBF16() &&
           getElementTypeOrSelf(tensor.memref.getType()).isF32();
  }
  Value halfAt(Value area, Value row, Value column);
  SmallVector<Value> multiplyParts(ArrayRef<Value> sums);
  /// Words of two 16-bit numbers, that add up to both values.
  SmallVector<Value> takeApart(Value low, Value high, int64_t terms,
                               bool isFinite);
  Value wideOf(Value word, int64_t i);
  SmallVector<SmallVector<Value>> weightFragments(ArrayRef<Value> weights,
                                                  bool isFinite);
  void accumulateOnCores(ArrayRef<Value> weights, const Tensor &columns,
                         unsigned dim, int64_t from, Carried &carried,
                         bool isFinite);
  /// exp of a number that is at most 88 is finite; what else weights are made
  /// of may be anything.
  bool hasFiniteWeights(const Pass &pass) {
    return pass.weigh != Weigh::Slopes && op.getWeight().empty();
  }
  void accumulate(const Tensor &columns, unsigned dim, int64_t from,
                  Carried &carried);

  // Passes.
  int64_t sizeOf(unsigned dim) const { return known[dim]; }
  bool isSoftmax(const Pass &pass) {
    return pass.weigh == Weigh::Forward &&
           op.getCombine() == spmd::PairCombine::Softmax;
  }
  void begin(const Pass &pass);
  gpu::LaunchOp launchBlocks(int64_t rows, int64_t threads);
  Value featureAt(const Pass &pass, int64_t i);
  int64_t parts(const Pass &pass) const;
  bool fills(const Pass &pass) const;
  Carried beginRows(const Pass &pass);
  std::pair<Value, Value> columnRange();
  Carried overColumns(Carried carried,
                      llvm::function_ref<Carried(Value, Carried)> body);
  void finishRows(const Pass &pass, const Carried &carried);
  gpu::LaunchOp emitPass(const Pass &pass);
  void passes(Weigh weigh, unsigned rows, const Tensor &target,
              unsigned feature, const Tensor &factor, bool isDone = false);
  SmallVector<Value> overScores(llvm::function_ref<Value(size_t, Value)> body);
  SmallVector<Value> weigh(const Pass &pass, ArrayRef<Value> raw,
                           ArrayRef<Value> dps, Carried &carried);
  Carried tile(const Pass &pass, Value column, Carried carried);
  Carried overDims(ArrayRef<unsigned> dims, Carried carried,
                   llvm::function_ref<Carried(Carried)> body);
  Carried carry(Value from, Value to, Value step, const Carried &carried,
                llvm::function_ref<Carried(Value, Carried)> body);
  void extraGradient(unsigned which);

  // In shared memory.
  /// Lines of a tensor: those of a block's rows, or of a tile of columns.
  struct Lines {
    const Tensor *tensor;
    unsigned lineDim; ///< whose indices are lines
    int64_t lines;
    unsigned dim;  ///< along which neighbours lie
    int64_t first; ///< along it
    int64_t length;
  };
  struct Operands {
    SmallVector<Lines> lefts, tiles; ///< for each product of scores
    /// The one of `tiles` that weights are multiplied with: it is of scores as
    /// well, or the last.
    size_t factor = 0;
  };
  /// What `pass` multiplies, with `leftLines` rows of a block, tiles of
  /// tileColumns, and `numFeatures` of its factor; nothing where dims are
  /// longer than a slab, or a block's rows cannot be brought once.
  std::optional<Operands> operandsOf(const Pass &pass, int64_t leftLines,
                                     int64_t numFeatures);

  // With copies ahead.
  /// Scores and weights need few registers beside them.
  bool leavesRegisters() {
    return shortWeights && extras.empty() && op.getWeight().empty();
  }
  struct Strip;
  struct Strips;
  std::optional<Strips> stripsFor(const Pass &pass);
  void bringStrip(const Strip &strip, Value firstLine, Value area);
  void bringRounded(Value from, Value inside, Value to);
  SmallVector<Value> multiplyStrips(const Strip &left, Value leftArea,
                                    const Strip &right, Value rightArea);
  void addWeighted(ArrayRef<Value> weights, bool isFinite, const Strip &factor,
                   Value area, int64_t begin, Carried &carried);
  gpu::LaunchOp emitOnCopies(const Pass &pass);

  // On warpgroups.
  struct Panels;
  struct Ring;
  std::optional<Ring> ringFor(const Pass &pass, bool together);
  bool emitOnWarpgroups(Pass pass, bool together = false);
  bool emitBothOfKeys();
  void bringBoxes(const Panels &panels, Value firstLine, Value area,
                  Value full);
  void bringApart(const Panels &panels, Value firstLine, Value area);
  Carried tileOnWarpgroup(const Pass &pass, const Ring &ring, Value column,
                          Carried carried);

  spmd::PairStepOp op;
  OpBuilder b;
  Location loc;
  FloatType type;
  unsigned numDims, q, k, d, e;
  SmallVector<Value> sizes;
  SmallVector<int64_t> known;
  Tensor query, key, value;
  SmallVector<Tensor> rows, extras, states;
  OperandRange start;

  // Of the pass.
  bool tensor = false; ///< products of 16-bit floats, of this type
  Type half;
  bool onWarpgroups; ///< such kernels are made as well
  bool shortWeights; ///< one term of each is enough
  unsigned rowDim = 0, columnDim = 0;
  int64_t perThread = 1; ///< rows of a thread
  int64_t blockRows = 0; ///< of a block
  int64_t tileColumns = kColumns;
  SmallVector<unsigned> outer, inner; ///< batch dims of blocks, and others
  int64_t lanes = 4;                  ///< numbers of 16 bytes
  int64_t pitch = 0;                  ///< of a row in shared memory
  Value thread, rowOfThread, laneOfRow, firstRow, firstColumn;
  Value firstFeature; ///< of a thread, behind the pass's; null: 0
  Value leftArea, rightArea, scoreArea;
  SmallVector<Value> at; ///< where the code stands, by dim
};

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIREMITTER_H
