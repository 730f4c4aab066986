//===- AllPairs.cpp - Rules of ops on all pairs ---------------------------===//
//
// docs/Rationale/Ring.md section 4. The local forms are in Ring.cpp.
//
//===----------------------------------------------------------------------===//
#include "PlanRing.h"
#include "Ring.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Interfaces/OrderCost.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

/// Factors are the iteration dims; `moved` operands travel along the key dim.
static ShardingRule pairsRule(AllPairsOpInterface op, bool isFeatureWhole) {
  ShardingRule rule;
  for (int64_t size : op.getDimSizes())
    rule.addFactor(size);
  int64_t query = op.getQueryDim(), key = op.getKeyDim();
  rule.factors[op.getDepthDim()].kind = FactorKind::NeedReplication;
  // Kernels have rows of one size on all ranks.
  rule.factors[op.getFeatureDim()].evenOnly = true;
  if (isFeatureWhole)
    rule.factors[op.getFeatureDim()].kind = FactorKind::NeedReplication;
  rule.factors[key].kind = FactorKind::Distributed;
  rule.factors[key].travels = true;
  auto mapsOf = [&](AffineMap map, int64_t keyFactor) {
    TensorRule tensor;
    for (AffineExpr expr : map.getResults()) {
      int64_t dim = cast<AffineDimExpr>(expr).getPosition();
      tensor.dims.push_back(IndexMap::identity(dim == key ? keyFactor : dim));
    }
    return tensor;
  };
  auto add = [&](SmallVectorImpl<TensorRule> &tensors, Value tensor,
                 AffineMap map) {
    bool hasBoth = map.isFunctionOfDim(query) && map.isFunctionOfDim(key);
    // Rows of one rank, all keys.
    int64_t keyFactor = hasBoth ? rule.addFactor(rule.factors[key].size,
                                                 FactorKind::NeedReplication)
                                : key;
    tensors.push_back(mapsOf(map, keyFactor));
    if (map.isFunctionOfDim(key) && !hasBoth)
      rule.factors[key].movedBytes += bytesOf(tensor);
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    add(rule.operands, operand, op.getMap(i));
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    add(rule.results, result, op.getResultMap(i));
  return rule;
}

static void keepWhole(Factor &factor) {
  factor.kind = FactorKind::NeedReplication;
  factor.travels = false;
  factor.movedBytes = 0;
}

/// Lets no rank have a part of what is summed over, if that is asked.
static void keepSumsWhole(AllPairsOpInterface op, ShardingRule &rule) {
  if (!contract::WholeSum::has(op))
    return;
  for (int64_t dim = 0; dim <= op.getKeyDim(); ++dim)
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (!op.getResultMap(i).isFunctionOfDim(dim))
        keepWhole(rule.factors[dim]);
}

static FailureOr<ShardingRule> allPairsRule(AllPairsOp op) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  ShardingRule rule = pairsRule(self, op.getCombine() == PairCombine::TopK);
  keepSumsWhole(self, rule);
  return rule;
}

static FailureOr<ShardingRule> backwardRule(AttentionBackwardOp op) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  ShardingRule rule = pairsRule(self, /*isFeatureWhole=*/true);
  // Gradients of what scores are made of are whole along keys.
  for (unsigned i = 3; i < op->getNumResults(); ++i)
    if (self.getResultMap(i).isFunctionOfDim(self.getKeyDim()))
      keepWhole(rule.factors[self.getKeyDim()]);
  keepSumsWhole(self, rule);
  return rule;
}

namespace {
template <typename OpT>
struct OrderCostModel
    : OrderCostOpInterface::ExternalModel<OrderCostModel<OpT>, OpT> {
  std::optional<double> estimateOrder(Operation *op,
                                      ArrayRef<IntervalTable> cuts,
                                      ArrayRef<int64_t> meshSizes,
                                      ArrayRef<int64_t> queryOrder,
                                      ArrayRef<int64_t> keyOrder) const {
    return estimateRing(cast<AllPairsOpInterface>(op), cuts, meshSizes,
                        queryOrder, keyOrder);
  }
};
} // namespace

void rules::attachAllPairs(MLIRContext *context) {
  attach<AllPairsOp, allPairsRule, localizeAllPairs>(context);
  attach<AttentionBackwardOp, backwardRule, localizeAttentionBackward>(context);
  AllPairsOp::attachInterface<OrderCostModel<AllPairsOp>>(*context);
  AttentionBackwardOp::attachInterface<OrderCostModel<AttentionBackwardOp>>(
      *context);
}
