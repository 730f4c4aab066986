//===- Shapes.cpp - Broadcast, transpose, reverse -------------------------===//
#include "RuleUtils.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// Result dims are factors; an operand dim of one element that is repeated has
/// none.
static FailureOr<ShardingRule>
broadcastInDimRule(stablehlo::BroadcastInDimOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()),
                    to = shapeOf(op.getResult());
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, to));
  TensorRule &operand = rule.operands.emplace_back();
  for (auto [size, dim] : llvm::zip(from, op.getBroadcastDimensions()))
    operand.dims.push_back(size == to[dim] ? rule.results[0].dims[dim]
                                           : IndexMap());
  return rule;
}

/// The local broadcast of `operand` to result 0. Says which dims are repeated
/// where sizes are not known.
static LocalResults broadcastLocal(Operation *op, Localization &localization,
                                   ArrayRef<int64_t> dims) {
  OpBuilder &builder = localization.builder();
  RankedTensorType type = localization.resultType(0);
  Value operand = localization.operands()[0];
  if (type.hasStaticShape() &&
      cast<RankedTensorType>(operand.getType()).hasStaticShape()) {
    Value local = stablehlo::BroadcastInDimOp::create(builder, op->getLoc(),
                                                      type, operand, dims);
    return SmallVector<Value>{local};
  }
  Value shape =
      shapeTensor(builder, op->getLoc(), resultSizes(localization, 0));
  auto local = stablehlo::DynamicBroadcastInDimOp::create(
      builder, op->getLoc(), type, operand, shape, dims);
  SmallVector<int64_t> expanding, kept;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0))))
    (size == shapeOf(op->getResult(0))[dims[dim]] ? kept : expanding)
        .push_back(dim);
  local.setKnownExpandingDimensions(ArrayRef<int64_t>(expanding));
  local.setKnownNonexpandingDimensions(ArrayRef<int64_t>(kept));
  return SmallVector<Value>{local.getResult()};
}

static LocalResults localizeBroadcastInDim(stablehlo::BroadcastInDimOp op,
                                           Localization &localization) {
  return broadcastLocal(op, localization, op.getBroadcastDimensions());
}

static FailureOr<ShardingRule> broadcastRule(stablehlo::BroadcastOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  TensorRule &operand = rule.operands.emplace_back();
  llvm::append_range(operand.dims,
                     ArrayRef<IndexMap>(rule.results[0].dims)
                         .drop_front(op.getBroadcastSizes().size()));
  return rule;
}

static LocalResults localizeBroadcast(stablehlo::BroadcastOp op,
                                      Localization &localization) {
  int64_t first = op.getBroadcastSizes().size(),
          count = shapeOf(op.getResult()).size();
  return broadcastLocal(op, localization,
                        llvm::to_vector(llvm::seq<int64_t>(first, count)));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> transposeRule(stablehlo::TransposeOp op) {
  ShardingRule rule;
  rule.operands.push_back(newFactors(rule, shapeOf(op.getOperand())));
  TensorRule &result = rule.results.emplace_back();
  for (int64_t dim : op.getPermutation())
    result.dims.push_back(rule.operands[0].dims[dim]);
  return rule;
}

/// A reversed dim is read from its end: shard i needs the block that mirrors
/// it, which the local op reverses.
static FailureOr<ShardingRule> reverseRule(stablehlo::ReverseOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  rule.operands.push_back(rule.results[0]);
  for (int64_t dim : op.getDimensions()) {
    IndexMap &map = rule.operands[0].dims[dim];
    map.terms[0].coefficient = -1;
    map.offset = shapeOf(op.getOperand())[dim] - 1;
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> padRule(spmd::PadOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  rule.operands.push_back(rule.results[0]);
  rule.operands[0].padding = static_cast<Padding>(op.getMode());
  for (auto [map, low] : llvm::zip_equal(rule.operands[0].dims, op.getLow()))
    map.offset = -low;
  return rule;
}

/// All is done when the operand is there.
static LocalResults localizePad(spmd::PadOp, Localization &localization) {
  return SmallVector<Value>{localization.operands()[0]};
}

void rules::attachPad(MLIRContext *context) {
  attach<spmd::PadOp, padRule, localizePad>(context);
}

void rules::attachShapes(MLIRContext *context) {
  attach<stablehlo::BroadcastInDimOp, broadcastInDimRule,
         localizeBroadcastInDim>(context);
  attach<stablehlo::BroadcastOp, broadcastRule, localizeBroadcast>(context);
  attach<stablehlo::TransposeOp, transposeRule>(context);
  attach<stablehlo::ReverseOp, reverseRule>(context);
}
