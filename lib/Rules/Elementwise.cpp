//===- Elementwise.cpp - Result element i from operand elements i ---------===//
#include "RuleUtils.h"
#include "shardc/Support/ElementwiseTrait.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// Ops with ElementwiseTrait
//===----------------------------------------------------------------------===//

/// One factor a dim. A scalar operand beside larger ones (select, clamp) has no
/// dims.
static FailureOr<ShardingRule> elementwiseRule(Operation *op) {
  if (op->getNumResults() == 0)
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  ShardingRule rule;
  TensorRule same = newFactors(rule, shape);
  auto add = [&](Value value, SmallVectorImpl<TensorRule> &tensors) {
    ArrayRef<int64_t> own = shapeOf(value);
    if (!own.empty() && own != shape)
      return failure();
    tensors.push_back(own.empty() ? TensorRule() : same);
    return success();
  };
  for (Value operand : op->getOperands())
    if (failed(add(operand, rule.operands)))
      return failure();
  for (Value result : op->getResults())
    if (failed(add(result, rule.results)))
      return failure();
  return rule;
}

namespace {
// Fallback models: one instance serves all ops of all dialects with the trait.
struct ElementwiseRule
    : ShardingRuleOpInterface::FallbackModel<ElementwiseRule> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    if (!hasStaticShapes(op))
      return failure();
    return elementwiseRule(op);
  }
};
struct ElementwiseLocalize
    : LocalizeOpInterface::FallbackModel<ElementwiseLocalize> {
  LocalResults localize(Operation *op, Localization &localization) const {
    return localizeByCloning(op, localization);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Ops like them
//===----------------------------------------------------------------------===//

/// Leading dims pass; where widths differ, the narrower type's last dim holds
/// the parts of one element and stays whole.
static FailureOr<ShardingRule>
bitcastConvertRule(stablehlo::BitcastConvertOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()),
                    to = shapeOf(op.getResult());
  size_t common = std::min(from.size(), to.size());
  if (std::max(from.size(), to.size()) > common + 1 ||
      from.take_front(common) != to.take_front(common))
    return failure();
  ShardingRule rule;
  TensorRule shared = newFactors(rule, from.take_front(common));
  rule.operands = {shared};
  rule.results = {shared};
  if (from.size() > common)
    rule.operands[0].dims.push_back(wholeDim(rule, from.back()));
  if (to.size() > common)
    rule.results[0].dims.push_back(wholeDim(rule, to.back()));
  return rule;
}

/// Each operand with its result, apart from the others: one axis may cut all of
/// them.
static FailureOr<ShardingRule>
optimizationBarrierRule(stablehlo::OptimizationBarrierOp op) {
  ShardingRule rule;
  for (Value operand : op->getOperands()) {
    rule.operands.push_back(newFactors(rule, shapeOf(operand)));
    rule.results.push_back(rule.operands.back());
  }
  for (Factor &factor : rule.factors)
    factor.travels = op->getNumOperands() > 1;
  return rule;
}

void rules::attachElementwise(MLIRContext *context, StringRef dialect) {
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        name.hasTrait<stablehlo::ElementwiseTrait>())
      name.attachInterface<ElementwiseRule, ElementwiseLocalize>();
  if (dialect != stablehlo::StablehloDialect::getDialectNamespace())
    return;
  attach<stablehlo::BitcastConvertOp, bitcastConvertRule>(context);
  attach<stablehlo::OptimizationBarrierOp, optimizationBarrierRule>(context);
}
