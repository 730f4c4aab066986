//===- PairSplit.cpp - Few queries, keys divided among blocks -------------===//
//
// Decoding: of few queries there is a block a head, which leaves most of a GPU
// idle. Keys are divided into parts, each with blocks of its own, whose states
// are kept apart: a batch dim more, before all others, that states alone have.
// A second kernel combines them in the parts' order, so that results do not
// depend on which block ends first.
//
//===----------------------------------------------------------------------===//
#include "PairSplit.h"
#include "PairBlock.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

/// From this many rows on there are kernels with tiles of so many. [shape]
static constexpr int64_t kManyRows = 64;
/// Columns of a part are a multiple of every tile's. [shape]
static constexpr int64_t kPartColumns = 192;
/// Threads that combine a row. [shape]
static constexpr int64_t kCombining = 128;

/// A tensor of the step whose dims begin with that of parts.
static Tensor behindParts(const Tensor &tensor) {
  return {tensor.memref, tensor.map ? tensor.map.shiftDims(1) : tensor.map};
}

/// Memory for the states of all parts, which begin with `start`: what there was
/// before is combined with all of them.
static Tensor statesOfParts(OpBuilder &b, const Step &step, const Tensor &state,
                            double start, int64_t parts) {
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape,
                     cast<MemRefType>(state.memref.getType()).getShape());
  AffineMap shifted = state.map.shiftDims(1);
  SmallVector<AffineExpr> dims{b.getAffineDimExpr(kPartDim)};
  llvm::append_range(dims, shifted.getResults());
  Value memref =
      memref::AllocOp::create(b, step.loc, MemRefType::get(shape, step.type));
  return {memref, AffineMap::get(shifted.getNumDims(), 0, dims, b.getContext()),
          b.getFloatAttr(step.type, start)};
}

std::optional<Step> gpukernels::pairs::splitKeys(OpBuilder &b, Operation *op,
                                                 const Step &step) {
  auto isKnown = [](int64_t size) {
    return ShapedType::isStatic(size) && size > 0;
  };
  int64_t columns = step.sizeOf(step.k), blocks = 1;
  if (step.combine != PairCombine::Softmax || !step.hasValue ||
      !llvm::all_of(step.known, isKnown) || step.sizeOf(step.q) >= kManyRows)
    return std::nullopt;
  const Tensor &sums = step.states[2];
  for (unsigned dim : llvm::seq(step.q)) {
    // What blocks go through adds to one state.
    if (!sums.has(dim) && step.sizeOf(dim) > 1)
      return std::nullopt;
    blocks *= step.sizeOf(dim);
  }
  int64_t parts = std::min(blocksOfGpu(op) / blocks, columns / kPartColumns);
  if (parts < 2)
    return std::nullopt;
  Step split = step;
  split.partColumns =
      llvm::alignTo(llvm::divideCeil(columns, parts), kPartColumns);
  parts = llvm::divideCeil(columns, split.partColumns);
  if (parts < 2)
    return std::nullopt;
  for (unsigned *dim : {&split.q, &split.k, &split.d, &split.e})
    ++*dim;
  for (Tensor *tensor : {&split.query, &split.key, &split.value})
    *tensor = behindParts(*tensor);
  for (SmallVector<Tensor> *tensors : {&split.rows, &split.extras})
    for (Tensor &tensor : *tensors)
      tensor = behindParts(tensor);
  double scores = shardc::pairs::neutralScore(PairCombine::Softmax);
  for (auto [state, start] :
       llvm::zip_equal(split.states, std::array{scores, 0.0, 0.0}))
    state = statesOfParts(b, step, state, start, parts);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, step.loc, number);
  };
  split.start.insert(split.start.begin(), index(0));
  split.sizes.insert(split.sizes.begin(), index(parts));
  split.known.insert(split.known.begin(), parts);
  return split;
}

void gpukernels::pairs::launchCombine(OpBuilder &b, const Step &step,
                                      const Step &split) {
  OpBuilder::InsertionGuard outside(b);
  PairPoint mine(b, step), theirs(b, split);
  Location loc = step.loc;
  SmallVector<Value> counts(ArrayRef(step.sizes).take_front(step.q + 1));
  gpu::LaunchOp launch =
      beginLaunch(b, loc, product(b, loc, counts), kCombining);
  Value thread = launch.getThreadIds().x, row = launch.getBlockIds().x;
  for (unsigned dim : llvm::reverse(llvm::seq(step.q + 1))) {
    mine.at[dim] = mine.rem(row, step.sizes[dim]);
    theirs.at[dim + 1] = mine.at[dim];
    row = mine.div(row, step.sizes[dim]);
  }
  auto overParts = [&](ArrayRef<Value> begin,
                       llvm::function_ref<SmallVector<Value>(ValueRange)> body)
      -> SmallVector<Value> {
    auto loop = scf::ForOp::create(b, loc, mine.index(0), split.sizes[kPartDim],
                                   mine.index(1), begin);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    theirs.at[kPartDim] = loop.getInductionVar();
    scf::YieldOp::create(b, loc, body(loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  };
  // Where nothing counts there is no score to be relative to.
  Value nothing =
      mine.number(shardc::pairs::neutralScore(PairCombine::Softmax));
  Value before = mine.load(step.states[0]);
  Value largest =
      overParts({before}, [&](ValueRange now) -> SmallVector<Value> {
        return {arith::MaxNumFOp::create(b, loc, now[0],
                                         theirs.element(split.states[0]))
                    .getResult()};
      })[0];
  auto factorOf = [&](Value from) -> Value {
    Value none =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, from, nothing);
    Value power = math::ExpOp::create(
        b, loc, arith::SubFOp::create(b, loc, from, largest));
    return mine.choose(none, mine.number(0), power);
  };
  /// What `of` adds up to, relative to the largest score. Parts' states are
  /// what blocks have stored, no longer what they began with.
  auto total = [&](unsigned of) -> Value {
    Value begin = arith::MulFOp::create(b, loc, factorOf(before),
                                        mine.load(step.states[of]));
    return overParts({begin}, [&](ValueRange now) -> SmallVector<Value> {
      Value factor = factorOf(theirs.element(split.states[0]));
      Value part = arith::MulFOp::create(b, loc, factor,
                                         theirs.element(split.states[of]));
      return {arith::AddFOp::create(b, loc, now[0], part).getResult()};
    })[0];
  };
  auto features = scf::ForOp::create(b, loc, thread, step.sizes[step.e],
                                     mine.index(kCombining));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(features.getBody());
    mine.at[step.e] = features.getInductionVar();
    theirs.at[split.e] = features.getInductionVar();
    mine.store(total(2), step.states[2]);
  }
  Value sum = total(1);
  // All have read what there was before.
  gpu::BarrierOp::create(b, loc);
  auto first =
      scf::IfOp::create(b, loc, mine.equal(thread, mine.index(0)), false);
  b.setInsertionPointToStart(first.thenBlock());
  mine.store(largest, step.states[0]);
  mine.store(sum, step.states[1]);
}
