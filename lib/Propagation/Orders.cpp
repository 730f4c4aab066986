//===- Orders.cpp - Which dims may be in any order ------------------------===//
#include "Orders.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

bool propagation::isOrderEdge(Operation *op) {
  // An argument comes in order, and is to lie as others do before it is put in
  // another.
  if (auto constrain = dyn_cast_or_null<spmd::ConstrainOp>(op))
    return llvm::none_of(
        constrain.getSharding().getDims(),
        [](spmd::DimShardingAttr dim) { return dim.getDynamicSizes(); });
  return isa_and_nonnull<spmd::ReshardOp>(op);
}

bool propagation::isForwarded(OpOperand &use, func::FuncOp function) {
  Operation *op = use.getOwner();
  if (op->getNumRegions() > 0)
    return getControlFlow(op).has_value();
  return op->hasTrait<OpTrait::IsTerminator>() &&
         op->getParentOp() != function && getControlFlow(op->getParentOp());
}

/// Which factors of `node` treat their elements alike, whatever their order.
static void findFree(OrderNode &node) {
  Operation *op = node.op;
  const ShardingRule &rule = node.rule;
  node.mayZigzag.assign(rule.factors.size(), false);
  // Blocks in manual regions are in order, and so is what other processes see.
  if (op->getParentOfType<spmd::ManualOp>() || isa<spmd::HostCallOp>(op))
    return;
  if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
    if (auto forward = dyn_cast<spmd::AllPairsOp>(op);
        forward && forward.getCombine() == spmd::PairCombine::TopK)
      return;
    node.keyFactor = pairs.getKeyDim();
    node.firstCopy = pairs.getNumDims();
    node.mayZigzag[pairs.getQueryDim()] = node.mayZigzag[pairs.getKeyDim()] =
        true;
    return;
  }
  // Of what no operand has, an op knows where it is.
  bool isSource = isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(op);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    isSource = isa<SplatElementsAttr>(constant.getValue());
  for (auto [factor, may] : llvm::zip_equal(rule.factors, node.mayZigzag))
    may = isSource && factor.kind == FactorKind::PassThrough;
  for (const TensorRule &operand : rule.operands)
    for (const IndexMap &map : operand.dims)
      for (const IndexTerm &term : map.terms)
        node.mayZigzag[term.factor] =
            rule.factors[term.factor].kind == FactorKind::PassThrough ||
            rule.factors[term.factor].kind == FactorKind::Reduction;
  auto look = [&](ArrayRef<TensorRule> tensors, ValueRange values) {
    for (auto [tensor, value] : llvm::zip_equal(tensors, values))
      for (auto [dim, map] : llvm::enumerate(tensor.dims))
        if (!map.isIdentity() || tensor.padding != Padding::Constant ||
            rule.factors[map.terms[0].factor].size !=
                cast<RankedTensorType>(value.getType()).getDimSize(dim))
          for (const IndexTerm &term : map.terms)
            node.mayZigzag[term.factor] = false;
  };
  look(rule.operands, op->getOperands());
  look(rule.results, op->getResults());
}

FailureOr<OrderGraph> propagation::readOrders(func::FuncOp function) {
  OrderGraph graph;
  splitSharedSources(function);
  graph.ops = collectOps(function);
  for (Operation *op : graph.ops) {
    if (auto flow =
            op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt) {
      for (auto [from, to] : flow->edges)
        if (isa<RankedTensorType>(to.getType())) {
          graph.edges.push_back({from, to});
          graph.targets.insert(to);
          graph.targetOf.try_emplace(from, to);
        }
      continue;
    }
    if (isOrderEdge(op)) {
      graph.edges.push_back({op->getOperand(0), op->getResult(0)});
      continue;
    }
    FailureOr<std::optional<ShardingRule>> rule = getRule(op);
    if (failed(rule))
      return failure();
    if (!*rule)
      continue;
    graph.nodeOf[op] = graph.nodes.size();
    findFree(graph.nodes.emplace_back(OrderNode{op, std::move(**rule), {}}));
  }
  return graph;
}

void propagation::forEachDim(
    OrderNode &node, llvm::function_ref<void(Value, int64_t, int64_t)> visit) {
  auto look = [&](ArrayRef<TensorRule> tensors, ValueRange values) {
    for (auto [tensor, value] : llvm::zip_equal(tensors, values))
      for (auto [dim, map] : llvm::enumerate(tensor.dims))
        if (map.isIdentity())
          if (int64_t factor = node.numberOf(map.terms[0].factor);
              node.mayZigzag[factor])
            visit(value, dim, factor);
  };
  look(node.rule.results, node.op->getResults());
  look(node.rule.operands, node.op->getOperands());
}
