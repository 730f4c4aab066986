//===- PairAlgebra.cpp - What becomes of a row of scores ------------------===//
#include "PairAlgebra.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using spmd::PairCombine;

static bool isScalarRegion(Region &region) {
  return region.empty() ||
         llvm::all_of(region.getArgumentTypes(),
                      [](Type type) { return type.isIntOrFloat(); });
}

FloatType pairs::computeTypeOf(spmd::PairStepOp op) {
  if (cast<ShapedType>(op.getQuery().getType()).getElementType().isF64())
    return Float64Type::get(op.getContext());
  return Float32Type::get(op.getContext());
}

LogicalResult pairs::verifyPairStep(spmd::PairStepOp op) {
  for (Region &region : op->getRegions())
    if (!isScalarRegion(region))
      return op.emitOpError()
             << "has a region on tensors; run --spmd-lower-to-linalg first";
  for (Value operand : op->getOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref && isa<ShapedType>(operand.getType()))
      return op.emitOpError() << "is on tensors, expected buffers";
    if (memref &&
        (!memref.isStrided() || !memref.getElementType().isIntOrFloat()))
      return op.emitOpError() << "has an operand of type " << memref
                              << ", expected strided numbers";
  }
  FloatType type = computeTypeOf(op);
  // Rows of scratch are as long as depth and feature.
  int64_t numDims = op.getMap(0).getNumDims();
  SmallVector<Value> tensors = op.getShapedInputs();
  llvm::append_range(tensors, op.getInits());
  for (int64_t dim : {numDims - 2, numDims - 1}) {
    bool isKnown = false, has = false;
    for (auto [number, tensor] : llvm::enumerate(tensors))
      for (auto [i, expr] : llvm::enumerate(op.getMap(number).getResults()))
        if (cast<AffineDimExpr>(expr).getPosition() == dim) {
          has = true;
          isKnown |= !cast<ShapedType>(tensor.getType()).isDynamicDim(i);
        }
    if (has && !isKnown)
      return op.emitOpError()
             << "has a " << (dim == numDims - 2 ? "depth" : "feature")
             << " of unknown size, expected a static one; do not cut that dim "
                "unevenly";
  }
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    auto memref = cast<MemRefType>(init.getType());
    bool isKeys = op.getCombine() == PairCombine::TopK && i == 1;
    if (memref.getElementType() != type && !isKeys)
      return op.emitOpError()
             << "has a state of type " << memref << ", expected " << type;
    AffineMap map = op.getInitMap(i);
    auto [strides, offset] = memref.getStridesAndOffset();
    for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
      if (int64_t(cast<AffineDimExpr>(expr).getPosition()) >= numDims - 2 &&
          stride != 1)
        return op.emitOpError()
               << "has a state of type " << memref
               << ", whose depth or feature is not its last dim";
  }
  return success();
}

double pairs::neutralScore(PairCombine combine) {
  return combine == PairCombine::Sum   ? 0
         : combine == PairCombine::Min ? INFINITY
                                       : -INFINITY;
}

pairs::Band pairs::bandOf(std::optional<int64_t> lower,
                          std::optional<int64_t> upper, bool mineAreQueries) {
  if (mineAreQueries)
    return {lower, upper};
  auto minus = [](std::optional<int64_t> bound) {
    return bound ? std::optional(-*bound) : std::nullopt;
  };
  return {minus(upper), minus(lower)};
}

double pairs::largestExponent(FloatType type) {
  return type.isF64() ? 709.0 : 88.0;
}

void pairs::SoftmaxRow::take(MutableArrayRef<Value> scores) {
  Value old = getLargest();
  // A row with NaN has NaN in its sum; its maximum does not matter.
  Value largest = raise(old, largestOf(scores));
  setLargest(largest);
  // Nothing but -inf so far: exp(-inf - -inf) would be NaN.
  Value lowest = number(-INFINITY);
  Value none =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, largest, lowest);
  Value zero = number(0);
  setBase(arith::SelectOp::create(b, loc, none, zero, largest));
  Value factor = factorOf(old);
  setFactor(factor);
  for (Value &score : scores)
    score = power(score);
  Value before = getSum();
  setSum(multiplyAdd(before, factor, sumOf(scores)));
}

SmallVector<Value> pairs::ScoreGradient::evaluate(Region &region,
                                                  ArrayRef<Value> scores,
                                                  ArrayRef<Value> around) {
  SmallVector<Value> arguments(scores);
  llvm::append_range(arguments, around);
  return evaluate(region, arguments);
}

Value pairs::ScoreGradient::power(Value raw, Value counts) {
  Value largest = getLargest();
  Value score = evaluate(*regions.score, raw, surroundings()).front();
  return keep(exponential(score, largest), counts);
}

Value pairs::ScoreGradient::weight(Value power, Value counts) {
  if (!regions.weight)
    return power;
  return keep(evaluate(*regions.weight, power, surroundings()).front(), counts);
}

// The weight is linear in its power, so its gradient is that of the power times
// what the same region makes of it.
SmallVector<Value> pairs::ScoreGradient::allSlopes(Value power, Value raw,
                                                   Value dp) {
  SmallVector<Value> around = surroundings();
  Value delta = getDelta();
  if (regions.weight)
    dp = evaluate(*regions.weight, dp, around).front();
  Value rest = arith::SubFOp::create(b, loc, dp, delta);
  Value ds = arith::MulFOp::create(b, loc, power, rest);
  return evaluate(*regions.slope, {ds, raw}, around);
}

SmallVector<Value> pairs::ScoreGradient::slopes(Value power, Value raw,
                                                Value dp, Value counts) {
  SmallVector<Value> all = allSlopes(power, raw, dp);
  for (Value &slope : all)
    slope = keep(slope, counts);
  return all;
}

Value pairs::ScoreGradient::slope(Value power, Value raw, Value dp,
                                  Value counts, unsigned which) {
  return keep(allSlopes(power, raw, dp)[which], counts);
}

Value pairs::BestList::isBetter(Value score, Value number, Value place) {
  Value other = scoreAt(place), otherNumber = numberAt(place);
  Value above =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, score, other);
  Value same =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, score, other);
  Value lower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number,
                                      otherNumber);
  Value first = arith::AndIOp::create(b, loc, same, lower);
  return arith::OrIOp::create(b, loc, above, first);
}

void pairs::BestList::insert(Value score, Value number, Value last) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  // From the end, worse ones move down.
  auto shift = scf::WhileOp::create(
      b, loc, TypeRange(b.getIndexType()), ValueRange(last),
      [&](OpBuilder &, Location, ValueRange args) {
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                             args[0], zero);
        Value above = arith::SubIOp::create(b, loc, args[0], one);
        Value before = arith::SelectOp::create(b, loc, inside, above, zero);
        Value moves = arith::AndIOp::create(b, loc, inside,
                                            isBetter(score, number, before));
        scf::ConditionOp::create(b, loc, moves, args);
      },
      [&](OpBuilder &, Location, ValueRange args) {
        Value before = arith::SubIOp::create(b, loc, args[0], one);
        move(before, args[0]);
        scf::YieldOp::create(b, loc, before);
      });
  put(score, number, shift.getResult(0));
}
