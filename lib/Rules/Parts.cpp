//===- Parts.cpp - Slice, pad, concatenate --------------------------------===//
#include "RuleUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> sliceRule(stablehlo::SliceOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  TensorRule &operand = rule.operands.emplace_back(rule.results[0]);
  for (auto [map, start, stride] :
       llvm::zip(operand.dims, op.getStartIndices(), op.getStrides())) {
    map.terms[0].coefficient = stride;
    map.offset = start;
  }
  return rule;
}

/// Cut dims arrive sliced but for the stride.
static LocalResults localizeSlice(stablehlo::SliceOp op,
                                  Localization &localization) {
  OpBuilder &builder = localization.builder();
  RankedTensorType type = localization.resultType(0);
  Value operand = localization.operands()[0];
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices());
  ArrayRef<int64_t> strides = op.getStrides(), sizes = shapeOf(op.getOperand());
  bool changes = false;
  for (size_t d = 0; d < starts.size(); ++d) {
    if (localization.isOperandDimLocal(0, d)) {
      starts[d] = 0;
      limits[d] = shapeOf(operand)[d];
      changes |= strides[d] != 1;
    } else {
      changes |= starts[d] != 0 || limits[d] != sizes[d] || strides[d] != 1;
    }
  }
  if (!changes)
    return SmallVector<Value>{castTo(builder, op.getLoc(), operand, type)};
  if (type.hasStaticShape() &&
      cast<RankedTensorType>(operand.getType()).hasStaticShape()) {
    auto local = cast<stablehlo::SliceOp>(cloneLocal(op, localization));
    local.setStartIndices(starts);
    local.setLimitIndices(limits);
    return SmallVector<Value>{local.getResult()};
  }
  SmallVector<OpFoldResult> sizesNow = resultSizes(localization, 0);
  Value local = takePart(
      builder, op.getLoc(), type, operand,
      llvm::map_to_vector(
          starts, [&](int64_t start) { return localization.numberOf(start); }),
      sizesNow, getAsIndexOpFoldResult(op.getContext(), strides));
  return SmallVector<Value>{local};
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> padRule(stablehlo::PadOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  TensorRule operand = rule.results[0];
  for (auto [map, low, interior] : llvm::zip(
           operand.dims, op.getEdgePaddingLow(), op.getInteriorPadding())) {
    map.offset = -low;
    map.baseDilation = interior + 1;
  }
  operand.fill = Fill::Operand;
  operand.fillOperand = 1;
  rule.operands = {operand, TensorRule()};
  return rule;
}

/// Cut dims arrive padded.
static LocalResults localizePad(stablehlo::PadOp op,
                                Localization &localization) {
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
  bool changes = false;
  for (size_t d = 0; d < low.size(); ++d) {
    if (localization.isOperandDimLocal(0, d))
      low[d] = high[d] = interior[d] = 0;
    changes |= low[d] != 0 || high[d] != 0 || interior[d] != 0;
  }
  if (!changes)
    return SmallVector<Value>{castTo(localization.builder(), op.getLoc(),
                                     localization.operands()[0],
                                     localization.resultType(0))};
  auto local = cast<stablehlo::PadOp>(cloneLocal(op, localization));
  local.setEdgePaddingLow(low);
  local.setEdgePaddingHigh(high);
  local.setInteriorPadding(interior);
  return SmallVector<Value>{local.getResult()};
}

//===----------------------------------------------------------------------===//
// concatenate
//===----------------------------------------------------------------------===//

/// Along the dim, each operand is a stretch of the result; a rank holds what it
/// needs of each, of most of them nothing.
static FailureOr<ShardingRule> concatenateRule(stablehlo::ConcatenateOp op) {
  int64_t dim = op.getDimension(), start = 0;
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  for (Value input : op.getInputs()) {
    TensorRule &operand = rule.operands.emplace_back(rule.results[0]);
    operand.dims[dim].offset = -start;
    operand.fill = Fill::Clip;
    start += shapeOf(input)[dim];
  }
  return rule;
}

static LocalResults localizeConcatenate(stablehlo::ConcatenateOp op,
                                        Localization &localization) {
  int64_t dim = op.getDimension();
  SmallVector<Value> parts;
  for (Value operand : localization.operands())
    if (shapeOf(operand)[dim] != 0)
      parts.push_back(operand);
  if (parts.empty())
    parts.push_back(localization.operands().front());
  RankedTensorType type = localization.resultType(0);
  if (parts.size() == 1)
    return SmallVector<Value>{
        castTo(localization.builder(), op.getLoc(), parts[0], type)};
  return SmallVector<Value>(cloneLocal(op, localization, parts)->getResults());
}

void rules::attachParts(MLIRContext *context) {
  attach<stablehlo::SliceOp, sliceRule, localizeSlice>(context);
  attach<stablehlo::PadOp, padRule, localizePad>(context);
  attach<stablehlo::ConcatenateOp, concatenateRule, localizeConcatenate>(
      context);
}
