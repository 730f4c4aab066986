//===- ExpandAllPairs.cpp - Ops on all pairs in plain StableHLO -----------===//
//
// What docs/Rationale/Ring.md says, on whole score tensors: the reference that
// local forms are checked against.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace shardc {
#define GEN_PASS_DEF_EXPANDALLPAIRSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// A tensor and the iteration dim of each of its dims.
struct Placed {
  Value value;
  SmallVector<unsigned> dims;
};

class Expander {
public:
  explicit Expander(spmd::AllPairsOpInterface op)
      : op(op), builder(op), loc(op->getLoc()), sizes(op.getDimSizes()), accumulator(op.getAccumulatorType()) {
    for (int64_t dim = 0; dim <= op.getKeyDim(); ++dim)
      scoreDims.push_back(dim);
    rowDims.assign(scoreDims.begin(), scoreDims.end() - 1);
  }

  void expandForward(spmd::AllPairsOp forward);
  void expandBackward(spmd::AttentionBackwardOp backward);

private:
  static SmallVector<unsigned> dimsOf(AffineMap map) {
    return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) { return cast<AffineDimExpr>(expr).getPosition(); });
  }
  Placed operand(int64_t number) { return {op->getOperand(number), dimsOf(op.getMap(number))}; }
  SmallVector<int64_t> shapeOf(ArrayRef<unsigned> dims) {
    return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  }
  Value convert(Value value, Type type) {
    if (typeOf(value).getElementType() == type)
      return value;
    return stablehlo::ConvertOp::create(builder, loc, typeOf(value).clone(type), value);
  }
  Value number(double value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, accumulator);
    return stablehlo::ConstantOp::create(builder, loc,
                                         cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, builder.getFloatAttr(accumulator, value)))));
  }
  /// `placed` along `dims`: transposed, and repeated along those it lacks.
  Value spread(const Placed &placed, ArrayRef<unsigned> dims);
  /// The sum, or the largest or smallest element, over all dims but `dims`.
  template <typename OpT> Placed reduce(const Placed &placed, ArrayRef<unsigned> dims, double start);
  /// The sum of products over `summed`, along `dims`, in the accumulator type.
  Value contract(const Placed &lhs, const Placed &rhs, ArrayRef<unsigned> summed, ArrayRef<unsigned> dims);
  /// Runs `region` on whole tensors along `dims`.
  SmallVector<Value> run(Region &region, ValueRange first, ArrayRef<unsigned> dims, bool withPositions = true);
  Value rawScores(Region *pair);
  Value result(Placed placed, int64_t number);
  template <typename OpT> Value binary(Value lhs, Value rhs) { return OpT::create(builder, loc, lhs.getType(), lhs, rhs); }

  spmd::AllPairsOpInterface op;
  OpBuilder builder;
  Location loc;
  SmallVector<int64_t> sizes;
  FloatType accumulator;
  SmallVector<unsigned> scoreDims, rowDims;
};
} // namespace

Value Expander::spread(const Placed &placed, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> order, places;
  SmallVector<unsigned> kept;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    auto it = llvm::find(placed.dims, dim);
    if (it == placed.dims.end())
      continue;
    order.push_back(it - placed.dims.begin());
    places.push_back(place);
    kept.push_back(dim);
  }
  Value value = placed.value;
  Type element = typeOf(value).getElementType();
  if (!llvm::is_sorted(order))
    value = stablehlo::TransposeOp::create(builder, loc, RankedTensorType::get(shapeOf(kept), element), value,
                                           builder.getDenseI64ArrayAttr(order));
  if (kept.size() == dims.size())
    return value;
  return stablehlo::BroadcastInDimOp::create(builder, loc, RankedTensorType::get(shapeOf(dims), element), value,
                                             builder.getDenseI64ArrayAttr(places));
}

template <typename OpT> Placed Expander::reduce(const Placed &placed, ArrayRef<unsigned> dims, double start) {
  SmallVector<int64_t> gone;
  Placed result;
  for (auto [place, dim] : llvm::enumerate(placed.dims)) {
    if (llvm::is_contained(dims, dim))
      result.dims.push_back(dim);
    else
      gone.push_back(place);
  }
  result.value = placed.value;
  if (gone.empty())
    return result;
  auto type = RankedTensorType::get(shapeOf(result.dims), accumulator), scalar = RankedTensorType::get({}, accumulator);
  auto reduceOp = stablehlo::ReduceOp::create(builder, loc, TypeRange{type}, ValueRange{placed.value}, ValueRange{number(start, {})},
                                              builder.getDenseI64ArrayAttr(gone));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduceOp.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value combined = OpT::create(builder, loc, scalar, body->getArgument(0), body->getArgument(1));
  stablehlo::ReturnOp::create(builder, loc, combined);
  result.value = reduceOp->getResult(0);
  return result;
}

Value Expander::contract(const Placed &lhs, const Placed &rhs, ArrayRef<unsigned> summed, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsSummed, rhsSummed;
  Placed result;
  for (auto [place, dim] : llvm::enumerate(lhs.dims)) {
    auto it = llvm::find(rhs.dims, dim);
    if (it == rhs.dims.end())
      continue;
    // What neither the caller nor the result wants is summed as well.
    bool isSummed = llvm::is_contained(summed, dim) || !llvm::is_contained(dims, dim);
    (isSummed ? lhsSummed : lhsBatch).push_back(place);
    (isSummed ? rhsSummed : rhsBatch).push_back(it - rhs.dims.begin());
    if (!isSummed)
      result.dims.push_back(dim);
  }
  for (const Placed *side : {&lhs, &rhs})
    for (unsigned dim : side->dims)
      if (!llvm::is_contained((side == &lhs ? rhs : lhs).dims, dim))
        result.dims.push_back(dim);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), lhsBatch, rhsBatch, lhsSummed, rhsSummed);
  result.value = stablehlo::DotGeneralOp::create(
      builder, loc, RankedTensorType::get(shapeOf(result.dims), accumulator), convert(lhs.value, accumulator),
      convert(rhs.value, accumulator), numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return spread(reduce<stablehlo::AddOp>(result, dims, 0), dims);
}

SmallVector<Value> Expander::run(Region &region, ValueRange first, ArrayRef<unsigned> dims, bool withPositions) {
  SmallVector<int64_t> shape = shapeOf(dims);
  IRMapping mapping;
  Block &block = region.front();
  SmallVector<Value> arguments(first);
  if (withPositions) {
    for (size_t i = 0; i < op.getExtras().size(); ++i)
      arguments.push_back(spread(operand(op.getFirstExtra() + i), dims));
    for (unsigned dim : scoreDims)
      arguments.push_back(stablehlo::IotaOp::create(builder, loc, RankedTensorType::get(shape, builder.getI32Type()), dim));
  }
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(inner)) {
      auto value = cast<DenseElementsAttr>(Attribute(constant.getValue()));
      auto type = cast<RankedTensorType>(constant.getType()).clone(shape);
      mapping.map(constant.getResult(), stablehlo::ConstantOp::create(builder, loc, cast<ElementsAttr>(Attribute(value.resizeSplat(type)))).getResult());
      continue;
    }
    OperationState state(loc, inner.getName());
    for (Value value : inner.getOperands())
      state.addOperands(mapping.lookup(value));
    for (Type type : inner.getResultTypes())
      state.addTypes(cast<RankedTensorType>(type).clone(shape));
    state.addAttributes(inner.getAttrDictionary().getValue());
    Operation *whole = builder.create(state);
    mapping.map(inner.getResults(), whole->getResults());
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return mapping.lookup(value); });
}

Value Expander::rawScores(Region *pair) {
  unsigned depth = op.getDepthDim();
  Placed query = operand(0), key = operand(1);
  if (!pair || pair->empty())
    return contract(query, key, {depth}, scoreDims);
  SmallVector<unsigned> dims(scoreDims);
  dims.push_back(depth);
  query.value = convert(query.value, accumulator);
  key.value = convert(key.value, accumulator);
  Placed pairs{run(*pair, {spread(query, dims), spread(key, dims)}, dims, false)[0], dims};
  return reduce<stablehlo::AddOp>(pairs, scoreDims, 0).value;
}

Value Expander::result(Placed placed, int64_t number) {
  SmallVector<unsigned> dims = dimsOf(op.getResultMap(number));
  return convert(spread(placed, dims), typeOf(op->getResult(number)).getElementType());
}

void Expander::expandForward(spmd::AllPairsOp forward) {
  Value score = run(forward.getScore(), rawScores(&forward.getPair()), scoreDims)[0];
  Placed scores{score, scoreDims};
  SmallVector<Value> results;
  switch (forward.getCombine()) {
  case spmd::PairCombine::Softmax: {
    Placed largest = reduce<stablehlo::MaxOp>(scores, rowDims, -INFINITY), base = largest;
    // Nothing but -inf has the sum 0, where exp(-inf - -inf) would be NaN.
    Value lowest = number(-INFINITY, shapeOf(rowDims));
    Value isNone = stablehlo::CompareOp::create(builder, loc, largest.value, lowest, stablehlo::ComparisonDirection::EQ);
    base.value = stablehlo::SelectOp::create(builder, loc, lowest.getType(), isNone, number(0, shapeOf(rowDims)), largest.value);
    Value shifted = binary<stablehlo::SubtractOp>(score, spread(base, scoreDims));
    Value p = stablehlo::ExpOp::create(builder, loc, shifted.getType(), shifted);
    Placed sum = reduce<stablehlo::AddOp>({p, scoreDims}, rowDims, 0);
    if (!forward.getUnnormalized())
      p = binary<stablehlo::DivOp>(p, spread(sum, scoreDims));
    if (!forward.getWeight().empty())
      p = run(forward.getWeight(), p, scoreDims)[0];
    SmallVector<unsigned> outDims = dimsOf(op.getResultMap(0));
    results.push_back(result({contract({p, scoreDims}, operand(2), {unsigned(op.getKeyDim())}, outDims), outDims}, 0));
    results.push_back(result(largest, 1));
    results.push_back(result(sum, 2));
    break;
  }
  case spmd::PairCombine::Sum:
    if (forward.getValue()) {
      SmallVector<unsigned> outDims = dimsOf(op.getResultMap(0));
      results.push_back(result({contract(scores, operand(2), {unsigned(op.getKeyDim())}, outDims), outDims}, 0));
    } else {
      results.push_back(result(reduce<stablehlo::AddOp>(scores, rowDims, 0), 0));
    }
    break;
  case spmd::PairCombine::Max:
    results.push_back(result(reduce<stablehlo::MaxOp>(scores, rowDims, -INFINITY), 0));
    break;
  case spmd::PairCombine::Min:
    results.push_back(result(reduce<stablehlo::MinOp>(scores, rowDims, INFINITY), 0));
    break;
  case spmd::PairCombine::TopK: {
    SmallVector<unsigned> dims(rowDims);
    dims.push_back(op.getFeatureDim());
    auto values = RankedTensorType::get(shapeOf(dims), accumulator);
    auto top = chlo::TopKOp::create(builder, loc, values, values.clone(builder.getI32Type()), score, sizes[op.getFeatureDim()]);
    for (int64_t number : {0, 1})
      results.push_back(result({top->getResult(number), dims}, number));
    break;
  }
  }
  op->replaceAllUsesWith(results);
  op->erase();
}

void Expander::expandBackward(spmd::AttentionBackwardOp backward) {
  Value raw = rawScores(nullptr);
  Value score = run(backward.getScore(), raw, scoreDims)[0];
  Value shifted = binary<stablehlo::SubtractOp>(score, spread(operand(3), scoreDims));
  Value p = stablehlo::ExpOp::create(builder, loc, shifted.getType(), shifted);
  Placed dout = operand(5);
  Value dp = contract(dout, operand(2), {unsigned(op.getFeatureDim())}, scoreDims), weighted = p;
  if (!backward.getWeight().empty()) {
    weighted = run(backward.getWeight(), p, scoreDims)[0];
    dp = run(backward.getWeight(), dp, scoreDims)[0];
  }
  Value ds = binary<stablehlo::MulOp>(p, binary<stablehlo::SubtractOp>(dp, spread(operand(4), scoreDims)));
  SmallVector<Value> slopes = run(backward.getSlope(), {ds, raw}, scoreDims), results;
  Placed draw{slopes[0], scoreDims};
  auto gradient = [&](const Placed &lhs, const Placed &rhs, unsigned summed, int64_t number) {
    SmallVector<unsigned> dims = dimsOf(op.getResultMap(number));
    results.push_back(result({contract(lhs, rhs, {summed}, dims), dims}, number));
  };
  gradient(draw, operand(1), op.getKeyDim(), 0);
  gradient(draw, operand(0), op.getQueryDim(), 1);
  gradient({weighted, scoreDims}, dout, op.getQueryDim(), 2);
  for (size_t i = 0; i < backward.getDextras().size(); ++i)
    results.push_back(result(reduce<stablehlo::AddOp>({slopes[1 + i], scoreDims}, dimsOf(op.getResultMap(3 + i)), 0), 3 + i));
  op->replaceAllUsesWith(results);
  op->erase();
}

namespace {
struct ExpandAllPairsPass final : shardc::impl::ExpandAllPairsPassBase<ExpandAllPairsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<spmd::AllPairsOpInterface> ops;
    getOperation().walk([&](spmd::AllPairsOpInterface op) { ops.push_back(op); });
    for (spmd::AllPairsOpInterface op : ops) {
      for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
        if (!typeOf(value).hasStaticShape()) {
          op->emitOpError() << "has a tensor of unknown size, " << value.getType() << ", and cannot be expanded; expand before partition";
          return signalPassFailure();
        }
      if (!op.getQueryOrder().empty() || !op.getKeyOrder().empty()) {
        op->emitOpError() << "has a dim that is dealt out, and cannot be expanded; expand before --spmd-deal-blocks";
        return signalPassFailure();
      }
      Expander expander(op);
      if (auto forward = dyn_cast<spmd::AllPairsOp>(op.getOperation()))
        expander.expandForward(forward);
      else
        expander.expandBackward(cast<spmd::AttentionBackwardOp>(op.getOperation()));
    }
  }
};
} // namespace
