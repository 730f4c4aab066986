//===- DealBlocks.cpp - Dims in the order in which they are dealt out -----===//
//
// A dim that is dealt out from both ends is a dim like any other once its
// elements stand in that order: blocks are contiguous, and whatever treats
// elements alike does not care. So an order spreads along factors of rules,
// forward and backward, as shardings do; where it cannot, the value is put in
// order again. What knows positions is told: iota, and ops on all pairs.
//
//===----------------------------------------------------------------------===//
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Propagation/Projection.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

namespace shardc {
#define GEN_PASS_DEF_DEALBLOCKSPASS
#include "shardc/Propagation/Passes.h.inc"
} // namespace shardc

namespace {

/// Sizes of the shards that a dim is dealt out to; null where it is in order.
using Order = DenseI64ArrayAttr;
using Orders = SmallVector<Order, 4>;

/// An op with a rule, and which of its factors may be in any order.
struct Node {
  Operation *op;
  ShardingRule rule;
  SmallVector<bool> mayDeal;
  /// Of ops on all pairs: factors that are the key dim as well.
  int64_t keyFactor = -1, firstCopy = std::numeric_limits<int64_t>::max();

  int64_t numberOf(int64_t factor) const {
    return factor >= firstCopy ? keyFactor : factor;
  }
};

class Dealer {
public:
  Dealer(func::FuncOp function, spmd::MeshAttr mesh)
      : function(function), mesh(mesh), builder(function.getContext()) {}
  LogicalResult run();

private:
  LogicalResult readAnnotations();
  spmd::ShardingAttr takeOrders(spmd::ShardingAttr sharding, Value value);
  LogicalResult refuse(Operation *op);
  LogicalResult addNodes();
  bool spread(Node &node);
  bool spread(Value from, Value to);
  bool spreadAll();
  void settleControlFlow();
  /// The order of each factor of `node`.
  SmallVector<Order> decide(Node &node);
  Orders needed(OpOperand &use);
  Orders produced(Value value);
  Value convert(Value value, const Orders &to);
  void rewriteIota(stablehlo::IotaOp op, Order order);

  /// Calls `visit` for each dim, of results first, that one factor indexes
  /// unchanged.
  void forEachDim(
      Node &node,
      llvm::function_ref<void(Value value, int64_t dim, int64_t factor)> visit);
  Order &wish(Value value, int64_t dim) {
    Orders &orders = wishes[value];
    orders.resize(cast<RankedTensorType>(value.getType()).getRank());
    return orders[dim];
  }
  static Orders inOrder(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return Orders(type ? type.getRank() : 0);
  }

  func::FuncOp function;
  spmd::MeshAttr mesh;
  OpBuilder builder;
  SmallVector<Operation *> ops;
  std::vector<Node> nodes;
  DenseMap<Operation *, size_t> nodeOf;
  DenseMap<Value, Orders> wishes;
  /// What region arguments and results of loops and branches come from, and
  /// what they are.
  SmallVector<std::pair<Value, Value>> edges;
  DenseMap<Value, Value> targetOf;
  DenseSet<Value> targets;
  DenseMap<std::pair<Value, Attribute>, Value> converted;
};

} // namespace

static bool hasOrder(spmd::ShardingAttr sharding) {
  return sharding &&
         llvm::any_of(sharding.getDims(), [](spmd::DimShardingAttr dim) {
           return dim.getZigzag();
         });
}

/// Takes note of the orders of `sharding` on `value`; the sharding without
/// them.
spmd::ShardingAttr Dealer::takeOrders(spmd::ShardingAttr sharding,
                                      Value value) {
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    dims.push_back(spmd::DimShardingAttr::get(
        dim.getContext(), dim.getAxes(), dim.getSizes(), dim.getDynamicSizes(),
        dim.getOpen(), dim.getPriority()));
    if (!dim.getZigzag() || dim.getNumShards(mesh) < 2)
      continue;
    if (Order &order = wish(value, i); !order) {
      std::vector<int64_t> sizes =
          dim.getBoundaries(
                 mesh, cast<RankedTensorType>(value.getType()).getDimSize(i))
              .sizes();
      order = builder.getDenseI64ArrayAttr(sizes);
    }
  }
  return spmd::ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                                 dims, sharding.getReplicated(),
                                 sharding.getPartial());
}

LogicalResult Dealer::refuse(Operation *op) {
  return op->emitOpError() << "asks for 'order zigzag' in a manual region, "
                              "whose blocks are in order; ask for it outside";
}

LogicalResult Dealer::readAnnotations() {
  for (BlockArgument argument : function.getArguments())
    if (auto sharding = function.getArgAttrOfType<spmd::ShardingAttr>(
            argument.getArgNumber(), spmd::kShardingAttrName);
        hasOrder(sharding))
      function.setArgAttr(argument.getArgNumber(), spmd::kShardingAttrName,
                          takeOrders(sharding, argument));
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (auto sharding = function.getResultAttrOfType<spmd::ShardingAttr>(
            i, spmd::kShardingAttrName);
        hasOrder(sharding))
      function.setResultAttr(i, spmd::kShardingAttrName,
                             takeOrders(sharding, value));
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (auto manual = dyn_cast<spmd::ManualOp>(op)) {
      auto asks = [](Attribute attr) {
        return hasOrder(cast<spmd::ShardingAttr>(attr));
      };
      if (llvm::any_of(manual.getInShardings(), asks) ||
          llvm::any_of(manual.getOutShardings(), asks))
        return refuse(op);
    }
    auto constrain = dyn_cast<spmd::ConstrainOp>(op);
    if (!constrain || !hasOrder(constrain.getSharding()))
      return WalkResult::advance();
    if (op->getParentOfType<spmd::ManualOp>())
      return refuse(op);
    constrain.setShardingAttr(
        takeOrders(constrain.getSharding(), constrain.getResult()));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Which factors of `node` treat their elements alike, whatever their order.
static void findFree(Node &node) {
  Operation *op = node.op;
  const ShardingRule &rule = node.rule;
  node.mayDeal.assign(rule.factors.size(), false);
  if (op->getParentOfType<spmd::ManualOp>())
    return;
  if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
    if (auto forward = dyn_cast<spmd::AllPairsOp>(op);
        forward && forward.getCombine() == spmd::PairCombine::TopK)
      return;
    node.keyFactor = pairs.getKeyDim();
    node.firstCopy = pairs.getNumDims();
    node.mayDeal[pairs.getQueryDim()] = node.mayDeal[pairs.getKeyDim()] = true;
    return;
  }
  // Of what no operand has, an op knows where it is.
  bool isSource = isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(op);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    isSource = isa<SplatElementsAttr>(constant.getValue());
  for (auto [factor, may] : llvm::zip_equal(rule.factors, node.mayDeal))
    may = isSource && factor.kind == FactorKind::PassThrough;
  for (const TensorRule &operand : rule.operands)
    for (const IndexMap &map : operand.dims)
      for (const IndexTerm &term : map.terms)
        node.mayDeal[term.factor] =
            rule.factors[term.factor].kind == FactorKind::PassThrough ||
            rule.factors[term.factor].kind == FactorKind::Reduction;
  auto look = [&](ArrayRef<TensorRule> tensors, ValueRange values) {
    for (auto [tensor, value] : llvm::zip_equal(tensors, values))
      for (auto [dim, map] : llvm::enumerate(tensor.dims))
        if (!map.isIdentity() || tensor.padding != Padding::Constant ||
            rule.factors[map.terms[0].factor].size !=
                cast<RankedTensorType>(value.getType()).getDimSize(dim))
          for (const IndexTerm &term : map.terms)
            node.mayDeal[term.factor] = false;
  };
  look(rule.operands, op->getOperands());
  look(rule.results, op->getResults());
}

LogicalResult Dealer::addNodes() {
  splitSharedSources(function);
  ops = collectOps(function);
  for (Operation *op : ops) {
    if (auto flow =
            op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt) {
      for (auto [from, to] : flow->edges)
        if (isa<RankedTensorType>(to.getType())) {
          edges.push_back({from, to});
          targets.insert(to);
          targetOf.try_emplace(from, to);
        }
      continue;
    }
    if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op)) {
      edges.push_back({op->getOperand(0), op->getResult(0)});
      continue;
    }
    FailureOr<std::optional<ShardingRule>> rule = getRule(op);
    if (failed(rule))
      return failure();
    if (!*rule)
      continue;
    nodeOf[op] = nodes.size();
    findFree(nodes.emplace_back(Node{op, std::move(**rule), {}}));
  }
  return success();
}

void Dealer::forEachDim(
    Node &node, llvm::function_ref<void(Value, int64_t, int64_t)> visit) {
  auto look = [&](ArrayRef<TensorRule> tensors, ValueRange values) {
    for (auto [tensor, value] : llvm::zip_equal(tensors, values))
      for (auto [dim, map] : llvm::enumerate(tensor.dims))
        if (map.isIdentity())
          if (int64_t factor = node.numberOf(map.terms[0].factor);
              node.mayDeal[factor])
            visit(value, dim, factor);
  };
  look(node.rule.results, node.op->getResults());
  look(node.rule.operands, node.op->getOperands());
}

SmallVector<Order> Dealer::decide(Node &node) {
  SmallVector<Order> orders(node.rule.factors.size());
  forEachDim(node, [&](Value value, int64_t dim, int64_t factor) {
    if (!orders[factor])
      orders[factor] = wish(value, dim);
  });
  return orders;
}

bool Dealer::spread(Node &node) {
  bool changed = false;
  SmallVector<Order> orders = decide(node);
  forEachDim(node, [&](Value value, int64_t dim, int64_t factor) {
    Order &order = wish(value, dim);
    changed |= !order && orders[factor];
    if (!order)
      order = orders[factor];
  });
  return changed;
}

bool Dealer::spread(Value from, Value to) {
  bool changed = false;
  for (size_t dim = 0; dim < inOrder(to).size(); ++dim) {
    Order first = wish(from, dim), second = wish(to, dim);
    changed |= bool(first) != bool(second);
    wish(from, dim) = first ? first : second;
    wish(to, dim) = second ? second : first;
  }
  return changed;
}

bool Dealer::spreadAll() {
  bool changed = false;
  for (Node &node : nodes)
    changed |= spread(node);
  for (auto [from, to] : edges)
    changed |= spread(from, to);
  for (Node &node : llvm::reverse(nodes))
    changed |= spread(node);
  return changed;
}

/// Lets all that one value becomes be in one order: that of the first.
void Dealer::settleControlFlow() {
  for (auto [from, to] : edges)
    if (auto target = targetOf.find(from); target != targetOf.end() &&
                                           targets.contains(to) &&
                                           target->second != to)
      for (size_t dim = 0; dim < inOrder(to).size(); ++dim)
        wish(to, dim) = Order(wish(target->second, dim));
}

Orders Dealer::produced(Value value) {
  Orders orders = inOrder(value);
  Operation *op = value.getDefiningOp();
  if (targets.contains(value) ||
      (op && isa<spmd::ConstrainOp, spmd::ReshardOp>(op)))
    return wishes.contains(value) ? wishes[value] : orders;
  auto node = op ? nodeOf.find(op) : nodeOf.end();
  if (node == nodeOf.end())
    return orders;
  SmallVector<Order> decided = decide(nodes[node->second]);
  for (auto [order, map] : llvm::zip(
           orders, nodes[node->second]
                       .rule.results[cast<OpResult>(value).getResultNumber()]
                       .dims))
    if (map.isIdentity())
      order = decided[nodes[node->second].numberOf(map.terms[0].factor)];
  return orders;
}

Orders Dealer::needed(OpOperand &use) {
  Operation *op = use.getOwner();
  Orders orders = inOrder(use.get());
  if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op))
    return wishes.contains(op->getResult(0)) ? wishes[op->getResult(0)]
                                             : orders;
  bool flows =
      (op->getNumRegions() > 0 && getControlFlow(op)) ||
      (op->hasTrait<OpTrait::IsTerminator>() && op->getParentOp() != function &&
       getControlFlow(op->getParentOp()));
  if (flows) {
    auto target = targetOf.find(use.get());
    return target != targetOf.end() && wishes.contains(target->second)
               ? wishes[target->second]
               : orders;
  }
  auto node = nodeOf.find(op);
  if (node == nodeOf.end())
    return orders;
  SmallVector<Order> decided = decide(nodes[node->second]);
  for (auto [order, map] : llvm::zip(
           orders,
           nodes[node->second].rule.operands[use.getOperandNumber()].dims))
    if (map.isIdentity())
      order = decided[nodes[node->second].numberOf(map.terms[0].factor)];
  return orders;
}

/// `value` in the orders `to`.
Value Dealer::convert(Value value, const Orders &to) {
  Orders from = produced(value);
  SmallVector<Attribute> key = llvm::map_to_vector(to, [&](Order order) {
    return order ? Attribute(order) : builder.getUnitAttr();
  });
  auto [known, isNew] =
      converted.try_emplace({value, builder.getArrayAttr(key)});
  if (!isNew)
    return known->second;
  builder.setInsertionPointAfterValue(value);
  Value result = value;
  for (auto [dim, before, after] : llvm::enumerate(from, to)) {
    if (before == after)
      continue;
    if (before)
      result = spmd::DealOp::create(builder, value.getLoc(), result, dim,
                                    before, /*back=*/true);
    if (after)
      result = spmd::DealOp::create(builder, value.getLoc(), result, dim, after,
                                    /*back=*/false);
  }
  return converted[{value, builder.getArrayAttr(key)}] = result;
}

/// Counts in `order`.
void Dealer::rewriteIota(stablehlo::IotaOp op, Order order) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  int64_t dim = op.getIotaDimension(), size = type.getDimSize(dim);
  builder.setInsertionPoint(op);
  Type index = builder.getIntegerType(
      size > std::numeric_limits<int32_t>::max() ? 64 : 32);
  Value row = spmd::DealtIotaOp::create(
      builder, op.getLoc(), RankedTensorType::get({size}, index), order);
  if (type.getElementType() != index)
    row = stablehlo::ConvertOp::create(
        builder, op.getLoc(),
        RankedTensorType::get({size}, type.getElementType()), row);
  Value whole =
      type.getRank() == 1
          ? row
          : stablehlo::BroadcastInDimOp::create(builder, op.getLoc(), type, row,
                                                ArrayRef<int64_t>{dim})
                .getResult();
  op.replaceAllUsesWith(whole);
  op.erase();
}

LogicalResult Dealer::run() {
  if (failed(readAnnotations()))
    return failure();
  if (wishes.empty())
    return success();
  if (failed(addNodes()))
    return failure();
  while (spreadAll())
    ;
  settleControlFlow();
  // Everything is decided before anything changes.
  SmallVector<std::pair<OpOperand *, Orders>> moves;
  SmallVector<std::pair<stablehlo::IotaOp, Order>> counts;
  for (Operation *op : ops) {
    for (OpOperand &use : op->getOpOperands())
      if (Orders to = needed(use); to != produced(use.get()))
        moves.push_back({&use, to});
    auto node = nodeOf.find(op);
    if (node == nodeOf.end())
      continue;
    SmallVector<Order> decided = decide(nodes[node->second]);
    if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
      if (const IndexMap &map =
              nodes[node->second].rule.results[0].dims[iota.getIotaDimension()];
          map.isIdentity() && decided[map.terms[0].factor])
        counts.push_back({iota, decided[map.terms[0].factor]});
    if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
      if (Order order = decided[pairs.getQueryDim()])
        op->setAttr("query_order", order);
      if (Order order = decided[pairs.getKeyDim()])
        op->setAttr("key_order", order);
    }
  }
  SmallVector<Value> values = llvm::map_to_vector(moves, [&](auto &move) {
    return convert(move.first->get(), move.second);
  });
  for (auto [move, value] : llvm::zip_equal(moves, values))
    move.first->set(value);
  for (auto [iota, order] : counts)
    rewriteIota(iota, order);
  return success();
}

namespace {
struct DealBlocksPass final : shardc::impl::DealBlocksPassBase<DealBlocksPass> {
  using Base::Base;
  void runOnOperation() override {
    spmd::MeshOp mesh = spmd::getOnlyMesh(getOperation());
    if (!mesh)
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock() &&
          failed(Dealer(function, mesh.getMesh()).run()))
        return signalPassFailure();
  }
};
} // namespace
