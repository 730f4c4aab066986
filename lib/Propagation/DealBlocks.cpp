//===- DealBlocks.cpp - Dims in zigzag order ------------------------------===//
//
// A dim in zigzag order is a dim like any other once its
// elements are in that order: blocks are contiguous, and whatever treats
// elements alike does not care. So an order spreads along factors of rules,
// forward and backward, as shardings do; where it cannot, the value is put in
// order again. Ops that know positions are changed: iota, and ops on all pairs.
//
//===----------------------------------------------------------------------===//
#include "Bodies.h"
#include "Orders.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

namespace shardc {
#define GEN_PASS_DEF_DEALBLOCKSPASS
#include "shardc/Propagation/Passes.h.inc"
} // namespace shardc

namespace {

using Orders = SmallVector<Order, 4>;

class ZigzagRewriter {
public:
  /// With `mayChoose`, orders that nobody asks for where they cost less than
  /// none.
  ZigzagRewriter(func::FuncOp function, spmd::MeshOp meshOp, bool mayChoose)
      : function(function), meshOp(meshOp), mesh(meshOp.getMesh()),
        mayChoose(mayChoose), builder(function.getContext()) {}
  LogicalResult run();

private:
  LogicalResult readAnnotations();
  spmd::ShardingAttr takeOrders(spmd::ShardingAttr sharding, Value value);
  Boundaries shardsOf(spmd::DimShardingAttr dim, Value value, int64_t number);
  LogicalResult refuse(Operation *op);
  bool spread(OrderNode &node);
  bool spread(Value from, Value to);
  bool spreadAll();
  void settleControlFlow();
  /// The order of each factor of `node`.
  SmallVector<Order> decide(OrderNode &node);
  Orders needed(OpOperand &use);
  Orders produced(Value value);
  Value convert(OpOperand &use, const Orders &to);
  void rewriteIota(stablehlo::IotaOp op, Order order);
  void remarkMoves(ArrayRef<std::pair<OpOperand *, Orders>> moves);

  Order &wish(Value value, int64_t dim) {
    Orders &orders = wishes[value];
    orders.resize(cast<RankedTensorType>(value.getType()).getRank());
    return orders[dim];
  }
  OrderNode *nodeOf(Operation *op) {
    return const_cast<OrderNode *>(graph.find(op));
  }
  static Orders inOrder(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return Orders(type ? type.getRank() : 0);
  }

  func::FuncOp function;
  spmd::MeshOp meshOp;
  spmd::MeshAttr mesh;
  bool mayChoose;
  OpBuilder builder;
  OrderGraph graph;
  Wishes wishes;
  /// Why the program is in zigzag order though nobody asked for it.
  std::string note;
  DenseMap<std::pair<Value, Attribute>, Value> converted;
  /// Of arguments whose sizes are left open the shards of the first, by axes
  /// and size: they are all in one order.
  DenseMap<std::pair<Attribute, int64_t>, Boundaries> openShards;
};

} // namespace

static bool hasOrder(spmd::ShardingAttr sharding) {
  return sharding &&
         llvm::any_of(sharding.getDims(), [](spmd::DimShardingAttr dim) {
           return dim.getZigzag();
         });
}

/// The shards whose order dim `number` of `value` is asked to be in.
Boundaries ZigzagRewriter::shardsOf(spmd::DimShardingAttr dim, Value value,
                                    int64_t number) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(number);
  if (!dim.getDynamicSizes())
    return dim.getBoundaries(mesh, size);
  SmallVector<Attribute> axes(dim.getAxes().begin(), dim.getAxes().end());
  auto argument = dyn_cast<BlockArgument>(value);
  auto [first, isNew] =
      openShards.try_emplace({builder.getArrayAttr(axes), size});
  if (isNew)
    first->second = argument ? givenBoundaries(mesh, argument.getArgNumber(),
                                               number, size, dim)
                             : dim.getBoundaries(mesh, size);
  return first->second;
}

/// Takes note of the orders of `sharding` on `value`; the sharding without
/// them.
spmd::ShardingAttr ZigzagRewriter::takeOrders(spmd::ShardingAttr sharding,
                                              Value value) {
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    dims.push_back(spmd::DimShardingAttr::get(
        dim.getContext(), dim.getAxes(), dim.getSizes(), dim.getDynamicSizes(),
        dim.getOpen(), dim.getPriority()));
    if (!dim.getZigzag() || dim.getNumShards(mesh) < 2)
      continue;
    if (Order &order = wish(value, i); !order)
      order = Order::get(builder.getContext(), shardsOf(dim, value, i));
  }
  return spmd::ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                                 dims, sharding.getReplicated(),
                                 sharding.getPartial());
}

LogicalResult ZigzagRewriter::refuse(Operation *op) {
  return op->emitOpError() << "asks for 'order zigzag' in a manual region, "
                              "whose blocks are in order; ask for it outside";
}

LogicalResult ZigzagRewriter::readAnnotations() {
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

SmallVector<Order> ZigzagRewriter::decide(OrderNode &node) {
  SmallVector<Order> orders(node.rule.factors.size());
  forEachDim(node, [&](Value value, int64_t dim, int64_t factor) {
    if (!orders[factor])
      orders[factor] = wish(value, dim);
  });
  return orders;
}

bool ZigzagRewriter::spread(OrderNode &node) {
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

bool ZigzagRewriter::spread(Value from, Value to) {
  bool changed = false;
  for (size_t dim = 0; dim < inOrder(to).size(); ++dim) {
    Order first = wish(from, dim), second = wish(to, dim);
    changed |= bool(first) != bool(second);
    wish(from, dim) = first ? first : second;
    wish(to, dim) = second ? second : first;
  }
  return changed;
}

bool ZigzagRewriter::spreadAll() {
  bool changed = false;
  for (OrderNode &node : graph.nodes)
    changed |= spread(node);
  for (auto [from, to] : graph.edges)
    changed |= spread(from, to);
  for (OrderNode &node : llvm::reverse(graph.nodes))
    changed |= spread(node);
  return changed;
}

/// Lets all that one value becomes be in one order: that of the first.
void ZigzagRewriter::settleControlFlow() {
  for (auto [from, to] : graph.edges)
    if (auto target = graph.targetOf.find(from);
        target != graph.targetOf.end() && graph.targets.contains(to) &&
        target->second != to)
      for (size_t dim = 0; dim < inOrder(to).size(); ++dim)
        wish(to, dim) = Order(wish(target->second, dim));
}

Orders ZigzagRewriter::produced(Value value) {
  Orders orders = inOrder(value);
  Operation *op = value.getDefiningOp();
  if (graph.targets.contains(value) || isOrderEdge(op))
    return wishes.contains(value) ? wishes[value] : orders;
  OrderNode *node = nodeOf(op);
  if (!node)
    return orders;
  SmallVector<Order> decided = decide(*node);
  for (auto [order, map] : llvm::zip(
           orders,
           node->rule.results[cast<OpResult>(value).getResultNumber()].dims))
    if (map.isIdentity())
      order = decided[node->numberOf(map.terms[0].factor)];
  return orders;
}

Orders ZigzagRewriter::needed(OpOperand &use) {
  Operation *op = use.getOwner();
  Orders orders = inOrder(use.get());
  if (isOrderEdge(op))
    return wishes.contains(op->getResult(0)) ? wishes[op->getResult(0)]
                                             : orders;
  if (isForwarded(use, function)) {
    auto target = graph.targetOf.find(use.get());
    return target != graph.targetOf.end() && wishes.contains(target->second)
               ? wishes[target->second]
               : orders;
  }
  OrderNode *node = nodeOf(op);
  if (!node)
    return orders;
  SmallVector<Order> decided = decide(*node);
  for (auto [order, map] :
       llvm::zip(orders, node->rule.operands[use.getOperandNumber()].dims))
    if (map.isIdentity())
      order = decided[node->numberOf(map.terms[0].factor)];
  return orders;
}

/// What wants a value in order, or in zigzag order, in words.
static std::string describeUser(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return "as a result of the program";
  return ("for '" + op->getName().getStringRef() + "' at ").str() +
         userLocation(op->getLoc());
}

/// The value of `use` in the orders `to`.
Value ZigzagRewriter::convert(OpOperand &use, const Orders &to) {
  Value value = use.get();
  Orders from = produced(value);
  SmallVector<Attribute> key =
      llvm::map_to_vector(to, [&](Order order) -> Attribute {
        return order.formula
                   ? builder.getArrayAttr({order.sizes, order.formula})
               : order ? Attribute(order.sizes)
                       : builder.getUnitAttr();
      });
  auto [known, isNew] =
      converted.try_emplace({value, builder.getArrayAttr(key)});
  if (!isNew)
    return known->second;
  builder.setInsertionPointAfterValue(value);
  Value result = value;
  auto reorder = [&](int64_t dim, Order order, bool isBack) {
    auto op =
        spmd::createDeal(builder, value.getLoc(), result, dim, order, isBack);
    std::string why = describeUser(use.getOwner());
    op.setReason(note.empty() ? why : why + " (" + note + ")");
    result = op;
  };
  for (auto [dim, before, after] : llvm::enumerate(from, to)) {
    if (before == after)
      continue;
    if (before)
      reorder(dim, before, /*isBack=*/true);
    if (after)
      reorder(dim, after, /*isBack=*/false);
  }
  return converted[{value, builder.getArrayAttr(key)}] = result;
}

/// Counts in `order`.
void ZigzagRewriter::rewriteIota(stablehlo::IotaOp op, Order order) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  int64_t dim = op.getIotaDimension(), size = type.getDimSize(dim);
  builder.setInsertionPoint(op);
  Type index = builder.getIntegerType(
      size > std::numeric_limits<int32_t>::max() ? 64 : 32);
  Value row = spmd::createDealtIota(
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

/// Says of ops that read a dim in order, though it was asked to be in zigzag
/// order, that they do.
void ZigzagRewriter::remarkMoves(
    ArrayRef<std::pair<OpOperand *, Orders>> moves) {
  DenseSet<Value> said;
  for (auto &[use, to] : moves) {
    Operation *user = use->getOwner();
    Orders from = produced(use->get());
    bool isBack = llvm::any_of(llvm::zip(from, to), [](auto pair) {
      return std::get<0>(pair) && !std::get<1>(pair);
    });
    if (!isBack || isa<func::ReturnOp>(user) || !said.insert(use->get()).second)
      continue;
    emitRemark(user->getLoc())
        << "'" << user->getName().getStringRef() << "' reads operand "
        << use->getOperandNumber()
        << " in order, so it is put in order again: " << use->get().getType();
  }
}

LogicalResult ZigzagRewriter::run() {
  if (failed(readAnnotations()))
    return failure();
  bool isAsked = !wishes.empty();
  if (!isAsked && !(mayChoose && mayChooseOrders(function)))
    return success();
  FailureOr<OrderGraph> read = readOrders(function);
  if (failed(read))
    return failure();
  graph = std::move(*read);
  if (isAsked) {
    while (spreadAll())
      ;
    settleControlFlow();
  } else {
    FailureOr<std::string> chosen =
        chooseOrders(graph, wishes, function, meshOp);
    if (failed(chosen))
      return failure();
    if (wishes.empty())
      return success();
    note = *chosen;
  }
  // Everything is decided before anything changes.
  SmallVector<std::pair<OpOperand *, Orders>> moves;
  SmallVector<std::pair<stablehlo::IotaOp, Order>> counts;
  for (Operation *op : graph.ops) {
    for (OpOperand &use : op->getOpOperands())
      if (Orders to = needed(use); to != produced(use.get()))
        moves.push_back({&use, to});
    OrderNode *node = nodeOf(op);
    if (!node)
      continue;
    SmallVector<Order> decided = decide(*node);
    if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
      if (const IndexMap &map =
              node->rule.results[0].dims[iota.getIotaDimension()];
          map.isIdentity() && decided[map.terms[0].factor])
        counts.push_back({iota, decided[map.terms[0].factor]});
    if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
      if (Order order = decided[pairs.getQueryDim()])
        spmd::setQueryOrder(pairs, order);
      if (Order order = decided[pairs.getKeyDim()])
        spmd::setKeyOrder(pairs, order);
    }
  }
  if (isAsked)
    remarkMoves(moves);
  SmallVector<Value> values = llvm::map_to_vector(
      moves, [&](auto &move) { return convert(*move.first, move.second); });
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
    if (failed(forEachBody(
            getOperation(), [&](func::FuncOp function, spmd::MeshOp mesh) {
              // Propagation, which follows, says what is wrong with others.
              return function.getBody().hasOneBlock()
                         ? ZigzagRewriter(function, mesh, choose).run()
                         : success();
            })))
      signalPassFailure();
  }
};
} // namespace
