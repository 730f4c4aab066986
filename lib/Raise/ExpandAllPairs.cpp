//===- ExpandAllPairs.cpp - Ops on all pairs in plain StableHLO -----------===//
//
// What docs/Rationale/Ring.md says, on whole score tensors: the reference that
// local forms are checked against.
//
//===----------------------------------------------------------------------===//
#include "Plain.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_EXPANDALLPAIRSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
class Expander : PlainOps {
public:
  explicit Expander(spmd::AllPairsOpInterface op)
      : PlainOps(OpBuilder(op), op->getLoc(), op.getDimSizes(),
                 op.getAccumulatorType()),
        op(op) {
    for (int64_t dim = 0; dim <= op.getKeyDim(); ++dim)
      scoreDims.push_back(dim);
    rowDims.assign(scoreDims.begin(), scoreDims.end() - 1);
  }

  void expandForward(spmd::AllPairsOp forward);
  void expandBackward(spmd::AttentionBackwardOp backward);

private:
  static SmallVector<unsigned> dimsOf(AffineMap map) {
    return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
      return cast<AffineDimExpr>(expr).getPosition();
    });
  }
  Placed operand(int64_t number) {
    return {op->getOperand(number), dimsOf(op.getMap(number))};
  }
  /// Runs `region` on whole tensors along `dims`.
  SmallVector<Value> run(Region &region, ValueRange first,
                         ArrayRef<unsigned> dims, bool withPositions = true);
  Value rawScores(Region *pair);
  Value result(Placed placed, int64_t number);

  spmd::AllPairsOpInterface op;
  SmallVector<unsigned> scoreDims, rowDims;
};
} // namespace

SmallVector<Value> Expander::run(Region &region, ValueRange first,
                                 ArrayRef<unsigned> dims, bool withPositions) {
  SmallVector<int64_t> shape = shapeOf(dims);
  IRMapping mapping;
  Block &block = region.front();
  SmallVector<Value> arguments(first);
  if (withPositions) {
    for (size_t i = 0; i < op.getExtras().size(); ++i)
      arguments.push_back(spread(operand(op.getFirstExtra() + i), dims));
    for (unsigned dim : scoreDims)
      arguments.push_back(stablehlo::IotaOp::create(
          builder, loc, RankedTensorType::get(shape, builder.getI32Type()),
          dim));
  }
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(inner)) {
      auto value = cast<DenseElementsAttr>(Attribute(constant.getValue()));
      auto type = cast<RankedTensorType>(constant.getType()).clone(shape);
      mapping.map(constant.getResult(),
                  stablehlo::ConstantOp::create(
                      builder, loc,
                      cast<ElementsAttr>(Attribute(value.resizeSplat(type))))
                      .getResult());
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
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookup(value); });
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
  Placed pairs{
      run(*pair, {spread(query, dims), spread(key, dims)}, dims, false)[0],
      dims};
  return reduce<stablehlo::AddOp>(pairs, scoreDims, 0).value;
}

Value Expander::result(Placed placed, int64_t number) {
  SmallVector<unsigned> dims = dimsOf(op.getResultMap(number));
  return convert(spread(placed, dims),
                 typeOf(op->getResult(number)).getElementType());
}

void Expander::expandForward(spmd::AllPairsOp forward) {
  Value score =
      run(forward.getScore(), rawScores(&forward.getPair()), scoreDims)[0];
  Placed scores{score, scoreDims};
  SmallVector<Value> results;
  switch (forward.getCombine()) {
  case spmd::PairCombine::Softmax: {
    Placed largest = reduce<stablehlo::MaxOp>(scores, rowDims, -INFINITY),
           base = largest;
    // Nothing but -inf has the sum 0, where exp(-inf - -inf) would be NaN.
    Value lowest = number(-INFINITY, shapeOf(rowDims));
    Value isNone =
        stablehlo::CompareOp::create(builder, loc, largest.value, lowest,
                                     stablehlo::ComparisonDirection::EQ);
    base.value =
        stablehlo::SelectOp::create(builder, loc, lowest.getType(), isNone,
                                    number(0, shapeOf(rowDims)), largest.value);
    Value shifted =
        binary<stablehlo::SubtractOp>(score, spread(base, scoreDims));
    Value p =
        stablehlo::ExpOp::create(builder, loc, shifted.getType(), shifted);
    Placed sum = reduce<stablehlo::AddOp>({p, scoreDims}, rowDims, 0);
    if (!forward.getUnnormalized())
      p = binary<stablehlo::DivOp>(p, spread(sum, scoreDims));
    if (!forward.getWeight().empty())
      p = run(forward.getWeight(), p, scoreDims)[0];
    SmallVector<unsigned> outDims = dimsOf(op.getResultMap(0));
    results.push_back(result({contract({p, scoreDims}, operand(2),
                                       {unsigned(op.getKeyDim())}, outDims),
                              outDims},
                             0));
    results.push_back(result(largest, 1));
    results.push_back(result(sum, 2));
    break;
  }
  case spmd::PairCombine::Sum:
    if (forward.getValue()) {
      SmallVector<unsigned> outDims = dimsOf(op.getResultMap(0));
      results.push_back(result(
          {contract(scores, operand(2), {unsigned(op.getKeyDim())}, outDims),
           outDims},
          0));
    } else {
      results.push_back(
          result(reduce<stablehlo::AddOp>(scores, rowDims, 0), 0));
    }
    break;
  case spmd::PairCombine::Max:
    results.push_back(
        result(reduce<stablehlo::MaxOp>(scores, rowDims, -INFINITY), 0));
    break;
  case spmd::PairCombine::Min:
    results.push_back(
        result(reduce<stablehlo::MinOp>(scores, rowDims, INFINITY), 0));
    break;
  case spmd::PairCombine::TopK: {
    SmallVector<unsigned> dims(rowDims);
    dims.push_back(op.getFeatureDim());
    auto values = RankedTensorType::get(shapeOf(dims), accumulator);
    auto top = chlo::TopKOp::create(builder, loc, values,
                                    values.clone(builder.getI32Type()), score,
                                    sizes[op.getFeatureDim()]);
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
  Value shifted =
      binary<stablehlo::SubtractOp>(score, spread(operand(3), scoreDims));
  Value p = stablehlo::ExpOp::create(builder, loc, shifted.getType(), shifted);
  Placed dout = operand(5);
  Value dp = contract(dout, operand(2), {unsigned(op.getFeatureDim())},
                      scoreDims),
        weighted = p;
  if (!backward.getWeight().empty()) {
    weighted = run(backward.getWeight(), p, scoreDims)[0];
    dp = run(backward.getWeight(), dp, scoreDims)[0];
  }
  Value ds = binary<stablehlo::MulOp>(
      p, binary<stablehlo::SubtractOp>(dp, spread(operand(4), scoreDims)));
  SmallVector<Value> slopes = run(backward.getSlope(), {ds, raw}, scoreDims),
                     results;
  Placed draw{slopes[0], scoreDims};
  auto gradient = [&](const Placed &lhs, const Placed &rhs, unsigned summed,
                      int64_t number) {
    SmallVector<unsigned> dims = dimsOf(op.getResultMap(number));
    results.push_back(
        result({contract(lhs, rhs, {summed}, dims), dims}, number));
  };
  gradient(draw, operand(1), op.getKeyDim(), 0);
  gradient(draw, operand(0), op.getQueryDim(), 1);
  gradient({weighted, scoreDims}, dout, op.getQueryDim(), 2);
  for (size_t i = 0; i < backward.getDextras().size(); ++i)
    results.push_back(
        result(reduce<stablehlo::AddOp>({slopes[1 + i], scoreDims},
                                        dimsOf(op.getResultMap(3 + i)), 0),
               3 + i));
  op->replaceAllUsesWith(results);
  op->erase();
}

void raise::expand(spmd::AllPairsOpInterface op) {
  Expander expander(op);
  if (auto forward = dyn_cast<spmd::AllPairsOp>(op.getOperation()))
    expander.expandForward(forward);
  else
    expander.expandBackward(cast<spmd::AttentionBackwardOp>(op.getOperation()));
}

namespace {
struct ExpandAllPairsPass final
    : shardc::impl::ExpandAllPairsPassBase<ExpandAllPairsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<spmd::AllPairsOpInterface> ops;
    getOperation().walk([&](spmd::AllPairsOpInterface op) {
      if (!spmd::contract::WholeSum::has(op))
        ops.push_back(op);
    });
    for (spmd::AllPairsOpInterface op : ops) {
      for (Value value :
           llvm::concat<Value>(op->getOperands(), op->getResults()))
        if (!typeOf(value).hasStaticShape()) {
          op->emitOpError()
              << "has a tensor of unknown size, " << value.getType()
              << ", and cannot be expanded; expand before partition";
          return signalPassFailure();
        }
      if (!op.getQueryOrder().empty() || !op.getKeyOrder().empty()) {
        op->emitOpError() << "has a dim in zigzag order, and cannot be "
                             "expanded; expand before --spmd-deal-blocks";
        return signalPassFailure();
      }
      expand(op);
    }
  }
};
} // namespace
