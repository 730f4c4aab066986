//===- Sinks.cpp - Calls that only look at values -------------------------===//
//
// They take values where they are. One that says that a value is used stays in
// the local view, where callers read that it is; one that asks how a value lies
// is answered, and gone.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "RuleUtils.h"
#include "Sinks.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

static FailureOr<ShardingRule> customCallRule(stablehlo::CustomCallOp op) {
  if (!stablehlo::isSink(op))
    return failure();
  ShardingRule rule;
  for (Value operand : op.getInputs())
    rule.operands.push_back(
        newFactors(rule, shapeOf(operand), FactorKind::PassThrough));
  return rule;
}

/// A value that is asked about is told of in a remark that callers read: whose
/// question it is, and for each dim the numbers of the mesh axes that cut it.
static LocalResults localizeCustomCall(stablehlo::CustomCallOp op,
                                       Localization &localization) {
  if (op.getCallTargetName() != stablehlo::kInspectSink) {
    IRMapping mapping;
    mapping.map(op->getOperands(), localization.operands());
    localization.builder().clone(*op, mapping);
    return SmallVector<Value>();
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  auto key = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  out << "inspected " << (key ? key.getValue() : "") << ":";
  for (const IntervalTable &table : localization.operandTables(0)) {
    SmallVector<int64_t> axes;
    for (int64_t axis : table.axes)
      if (localization.meshSizes()[axis] > 1)
        axes.push_back(axis);
    out << " [";
    llvm::interleave(axes, out, " ");
    out << "]";
  }
  emitRemark(op.getLoc()) << text;
  return SmallVector<Value>();
}

void rules::attachSinks(MLIRContext *context) {
  attach<stablehlo::CustomCallOp, customCallRule, localizeCustomCall>(context);
}
