//===- Collectives.cpp - StableHLO's own communication --------------------===//
//
// In a manual region: shapes are those of blocks, and the axes that may cut
// them are not the ones along which these ops communicate. So each coordinate
// of the free axes acts on its own, dim by dim, but for the dims that are
// joined or cut. The local forms are Partition's, which knows the ranks.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

/// Operands and results pair by pair: the same dims, except that `wholeDims`
/// are whole on both sides.
static ShardingRule pairwise(Operation *op, ArrayRef<int64_t> wholeDims = {}) {
  ShardingRule rule;
  for (auto [operand, result] :
       llvm::zip(op->getOperands(), op->getResults())) {
    TensorRule from, to;
    for (auto [dim, before, after] :
         llvm::enumerate(shapeOf(operand), shapeOf(result))) {
      if (llvm::is_contained(wholeDims, static_cast<int64_t>(dim))) {
        from.dims.push_back(wholeDim(rule, before));
        to.dims.push_back(wholeDim(rule, after));
        continue;
      }
      from.dims.push_back(passingDim(rule, before));
      to.dims.push_back(from.dims.back());
    }
    rule.operands.push_back(std::move(from));
    rule.results.push_back(std::move(to));
  }
  return rule;
}

static FailureOr<ShardingRule> allReduceRule(stablehlo::AllReduceOp op) {
  return pairwise(op);
}
static FailureOr<ShardingRule> permuteRule(stablehlo::CollectivePermuteOp op) {
  return pairwise(op);
}
static FailureOr<ShardingRule>
broadcastRule(stablehlo::CollectiveBroadcastOp op) {
  return pairwise(op);
}
static FailureOr<ShardingRule> allGatherRule(stablehlo::AllGatherOp op) {
  return pairwise(op, {static_cast<int64_t>(op.getAllGatherDim())});
}
static FailureOr<ShardingRule>
reduceScatterRule(stablehlo::ReduceScatterOp op) {
  return pairwise(op, {static_cast<int64_t>(op.getScatterDimension())});
}
static FailureOr<ShardingRule> allToAllRule(stablehlo::AllToAllOp op) {
  return pairwise(op, {static_cast<int64_t>(op.getSplitDimension()),
                       static_cast<int64_t>(op.getConcatDimension())});
}

void rules::attachCollectives(MLIRContext *context) {
  stablehlo::AllReduceOp::attachInterface<
      RuleModel<stablehlo::AllReduceOp, allReduceRule>>(*context);
  stablehlo::CollectivePermuteOp::attachInterface<
      RuleModel<stablehlo::CollectivePermuteOp, permuteRule>>(*context);
  stablehlo::CollectiveBroadcastOp::attachInterface<
      RuleModel<stablehlo::CollectiveBroadcastOp, broadcastRule>>(*context);
  stablehlo::AllGatherOp::attachInterface<
      RuleModel<stablehlo::AllGatherOp, allGatherRule>>(*context);
  stablehlo::ReduceScatterOp::attachInterface<
      RuleModel<stablehlo::ReduceScatterOp, reduceScatterRule>>(*context);
  stablehlo::AllToAllOp::attachInterface<
      RuleModel<stablehlo::AllToAllOp, allToAllRule>>(*context);
}
