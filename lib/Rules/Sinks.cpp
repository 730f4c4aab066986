//===- Sinks.cpp - Custom calls that stay in programs ---------------------===//
//
// Those that only look at values take them where they are. One that says that a
// value is used stays in the local view, where callers read that it is; one
// that asks how a value is sharded is answered, and gone. One that its author
// cuts has the author's rule, so that what is around it can be laid out; it has
// no local form.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "RuleUtils.h"
#include "Sinks.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

/// The tensors of a side of `given`, whose factors `rule` has; dims that are
/// mapped to none, or to others than they have elements, are cut like no other.
static void addMapped(ShardingRule &rule,
                      ArrayRef<sdy::TensorMappingAttr> mappings,
                      ValueRange values, SmallVectorImpl<TensorRule> &tensors) {
  for (auto [i, value] : llvm::enumerate(values)) {
    TensorRule &tensor = tensors.emplace_back();
    ArrayRef<int64_t> shape = shapeOf(value);
    ArrayRef<sdy::DimMappingAttr> dims;
    if (i < mappings.size() &&
        mappings[i].getDimMappings().size() == shape.size())
      dims = mappings[i].getDimMappings();
    for (auto [dim, size] : llvm::enumerate(shape)) {
      IndexMap map;
      int64_t elements = 1;
      for (int64_t factor :
           llvm::reverse(dims.empty() ? ArrayRef<int64_t>()
                                      : dims[dim].getFactorIndices())) {
        if (rule.factors[factor].size > 1)
          map.terms.insert(map.terms.begin(), {factor, elements});
        elements *= rule.factors[factor].size;
      }
      if (elements != size)
        map = wholeDim(rule, size);
      // A minor part cannot be cut: its elements would not be one block.
      for (const IndexTerm &term :
           llvm::drop_begin(map.terms, map.terms.empty() ? 0 : 1))
        rule.factors[term.factor].kind = FactorKind::NeedReplication;
      tensor.dims.push_back(std::move(map));
    }
  }
}

/// What the author of a function says of its dims. What is cut along a factor
/// that some result lacks is the author's to combine.
static ShardingRule partitionedRule(stablehlo::CustomCallOp op) {
  ShardingRule rule;
  auto given = op->getAttrOfType<sdy::OpShardingRuleAttr>(
      StringRef(sdy::kShardingRuleAttr));
  if (!given) {
    for (Value operand : op.getInputs())
      rule.operands.push_back(newFactors(rule, shapeOf(operand)));
    for (Value result : op.getResults())
      rule.results.push_back(newFactors(rule, shapeOf(result)));
    return rule;
  }
  for (auto [factor, size] : llvm::enumerate(given.getFactorSizes())) {
    bool isInAll = llvm::all_of(
        given.getResultMappings(), [&](sdy::TensorMappingAttr mapping) {
          return llvm::any_of(
              mapping.getDimMappings(), [&](sdy::DimMappingAttr dim) {
                return llvm::is_contained(dim.getFactorIndices(), factor);
              });
        });
    bool isWhole =
        llvm::is_contained(given.getNeedReplicationFactors(), factor);
    rule.addFactor(size, isWhole   ? FactorKind::NeedReplication
                         : isInAll ? FactorKind::PassThrough
                                   : FactorKind::Distributed);
  }
  addMapped(rule, given.getOperandMappings(), op.getInputs(), rule.operands);
  addMapped(rule, given.getResultMappings(), op.getResults(), rule.results);
  return rule;
}

static FailureOr<ShardingRule> customCallRule(stablehlo::CustomCallOp op) {
  if (stablehlo::isPartitioned(op))
    return partitionedRule(op);
  if (!stablehlo::isSink(op))
    return failure();
  ShardingRule rule;
  for (Value operand : op.getInputs())
    rule.operands.push_back(
        newFactors(rule, shapeOf(operand), FactorKind::PassThrough));
  return rule;
}

/// A value that is asked about is named in a remark that callers read: whose
/// question it is, and for each dim the numbers of the mesh axes that cut it.
static LocalResults localizeCustomCall(stablehlo::CustomCallOp op,
                                       Localization &localization) {
  if (stablehlo::isPartitioned(op))
    return emitUnsupported(op)
           << "custom call @" << op.getCallTargetName()
           << " is cut by a function of the process that traced the program, "
              "which is not known here; run it by JAX on shardc's devices, or "
              "export the program without custom_partitioning";
  if (op.getCallTargetName() != stablehlo::kInspectSink)
    return localizeByCloning(op, localization);
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
