//===- ChooseOrders.cpp - Zigzag order once, or at each op ----------------===//
//
// Ops on all pairs under a causal mask gain by rows that are taken from
// both ends; what is between them does not care, and everything else wants
// its dims in order. Each factor of each op that may be in any order, and each
// value that a loop carries, is on one of two sides. A value between the sides
// is put in its other order, once, at a cost; an op on all pairs on the wrong
// side loses what it would gain. The cheapest way to take sides is a minimum
// cut: natural order everywhere is one of its answers.
//
// Layouts, and so costs, are those of propagation without any order.
//
//===----------------------------------------------------------------------===//
#include "Orders.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/OrderCost.h"
#include "shardc/Layout/Zigzag.h"
#include "shardc/Propagation/MinimumCut.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

/// The trip count of a loop where the program does not say it: a guess about
/// programs, not a price. [guess]
static constexpr double kAssumedTripCount = 8;

//===----------------------------------------------------------------------===//
// How often
//===----------------------------------------------------------------------===//

/// How often what is in `block` runs.
static double timesOf(Block *block) {
  double times = 1;
  for (Operation *op = block->getParentOp(); op && !isa<func::FuncOp>(op);
       op = op->getParentOp())
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
      std::optional<CountedLoop> counted = readCountedLoop(loop);
      times *= counted ? double(counted->tripCount()) : kAssumedTripCount;
    }
  return times;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {

/// An order that dims of its number of elements may be in, cut along `axes`.
struct Candidate {
  Order order;
  Boundaries bounds;
  SmallVector<int64_t, 2> axes;
  /// The part of all elements that zigzag order moves.
  double moved = 0;
};

/// Chooses orders for all candidates, one after the other.
class Chooser {
  friend class OrderCut;

public:
  Chooser(OrderGraph &graph, Projection &projection)
      : graph(graph), p(projection) {}
  std::string run(Wishes &wishes);

private:
  SmallVector<Candidate> findCandidates();
  /// Milliseconds to put `dim` of `value` in its other order.
  double priceOf(Value value, int64_t dim, const Candidate &candidate) const;
  /// Milliseconds that an op on all pairs gains by `candidate`, of its queries
  /// and, or, keys.
  double gainOf(const OrderNode &node, const Candidate &candidate, bool queries,
                bool keys) const;
  SmallVector<FactorState, 8> factorsOf(const OrderNode &node) const {
    return decideFactors(p.problem, p.problem.ops[p.nodeOf.lookup(node.op)]);
  }
  Value leaderOf(Value target) {
    return Value::getFromOpaquePointer(
        flows.getOrInsertLeaderValue(target.getAsOpaquePointer()));
  }

  OrderGraph &graph;
  Projection &p;
  /// Targets that are in one order.
  llvm::EquivalenceClasses<const void *> flows;
  /// What was decided, for each factor of each node, and for each dim of
  /// targets and of results of constraints.
  DenseMap<std::pair<const OrderNode *, int64_t>, Order> zigzag;
  DenseMap<std::pair<Value, int64_t>, Order> zigzagValues;
};
} // namespace

/// The part of all elements that is not on its rank when shards are put in
/// zigzag order.
static double movedPart(const Boundaries &bounds) {
  Zigzag zigzag(bounds);
  int64_t stays = 0;
  for (auto [number, piece] : llvm::enumerate(zigzag.pieces()))
    stays += intersect(piece.natural, bounds.shard(number / 2)).size();
  return bounds.size() ? 1 - double(stays) / double(bounds.size()) : 0;
}

SmallVector<Candidate> Chooser::findCandidates() {
  SmallVector<Candidate> candidates;
  for (const OrderNode &node : graph.nodes) {
    auto pairs = dyn_cast<spmd::AllPairsOpInterface>(node.op);
    if (!pairs || !isa<OrderCostOpInterface>(node.op) || !pairs.hasBand() ||
        !node.mayZigzag[pairs.getQueryDim()])
      continue;
    FactorState queries = factorsOf(node)[pairs.getQueryDim()];
    if (queries.bounds.numShards() < 2 || queries.bounds.countShards().isOpen())
      continue;
    auto known = llvm::find_if(candidates, [&](const Candidate &other) {
      return other.axes == queries.axes && other.bounds == queries.bounds;
    });
    if (known != candidates.end())
      continue;
    candidates.push_back({Order::get(node.op->getContext(), queries.bounds),
                          queries.bounds, queries.axes,
                          movedPart(queries.bounds)});
  }
  return candidates;
}

double Chooser::priceOf(Value value, int64_t dim,
                        const Candidate &candidate) const {
  auto found = p.tensorOf.find(value);
  if (found == p.tensorOf.end())
    return 0;
  const TensorState &state = p.problem.tensors[found->second];
  double shards = 1;
  for (const DimState &cut : state.dims)
    shards *= double(p.problem.shards(cut.axes));
  double bytes = double(state.bytes()) / shards;
  const DimState &cut = state.dims[dim];
  if (cut.axes.empty())
    return p.problem.cost.copy(bytes) * 1e3;
  // Two exchanges; blocks that are cut otherwise are whole in between.
  bool fits = cut.axes == candidate.axes && cut.bounds == candidate.bounds;
  double arriving = fits ? bytes * candidate.moved
                         : bytes * (double(cut.bounds.numShards()) + 1);
  return (p.problem.cost.move(arriving, cut.axes) +
          2 * p.problem.cost.synchronize(cut.axes)) *
         1e3;
}

double Chooser::gainOf(const OrderNode &node, const Candidate &candidate,
                       bool queries, bool keys) const {
  auto cost = dyn_cast<OrderCostOpInterface>(node.op);
  if (!cost)
    return 0;
  SmallVector<IntervalTable> cuts;
  for (const FactorState &factor : factorsOf(node)) {
    IntervalTable &table = cuts.emplace_back();
    table.axes.assign(factor.axes.begin(), factor.axes.end());
    for (int64_t i = 0; i < factor.bounds.numShards(); ++i)
      table.intervals.push_back(factor.bounds.shard(i));
  }
  ArrayRef<int64_t> order = candidate.order.sizes;
  std::optional<double> inOrder =
      cost.estimateOrder(cuts, p.problem.meshSizes, {}, {});
  std::optional<double> zigzag = cost.estimateOrder(
      cuts, p.problem.meshSizes, queries ? order : ArrayRef<int64_t>(),
      keys ? order : ArrayRef<int64_t>());
  // Whoever said how an op runs wants it so.
  return inOrder && zigzag ? *inOrder - *zigzag : -1e9;
}

namespace {
/// The choice between natural order and the order of one candidate, as a
/// minimum cut. Vertices on the source's side are in the candidate's order.
class OrderCut {
public:
  OrderCut(Chooser &chooser, const Candidate &candidate)
      : chooser(chooser), graph(chooser.graph), candidate(candidate),
        size(candidate.bounds.size()) {}

  /// Takes the decision to the chooser. Returns it, in words; empty for none.
  std::string run();

private:
  /// A vertex for each factor and each dim of a forwarded value that may be in
  /// either order.
  void addVertices();
  /// What ops on all pairs gain by the candidate's order.
  void addGains();
  /// What it costs where a dim of `value` is made in one order and used in the
  /// other.
  void addMoves(Value value);
  std::string describe(const std::vector<bool> &side) const;

  /// The dims of `value` that are as large as the candidate's.
  SmallVector<int64_t> dimsOf(Value value) const;
  /// The vertices of what makes and what uses a dim; the sink for what has no
  /// vertex, as it is in natural order.
  int32_t vertexOf(const OrderNode *node, const TensorRule &tensor,
                   int64_t dim) const;
  int32_t vertexOfValue(Value target, int64_t dim) const;
  int32_t producer(Value value, int64_t dim) const;
  int32_t consumer(OpOperand &use, int64_t dim) const;

  static int64_t units(double milliseconds) {
    return int64_t(std::min(milliseconds, 1e9) * 1e6);
  }

  struct Gain {
    const OrderNode *node;
    int32_t vertex;
    double milliseconds;
  };
  struct Move {
    int32_t from;
    SmallVector<int32_t, 4> to;
    double milliseconds;
  };

  Chooser &chooser;
  const OrderGraph &graph;
  const Candidate &candidate;
  int64_t size;
  MinimumCut cut;
  DenseMap<std::pair<const OrderNode *, int64_t>, int32_t> factorVertex;
  DenseMap<std::pair<Value, int64_t>, int32_t> valueVertex;
  SmallVector<Gain> gains;
  SmallVector<Move> moves;
};
} // namespace

SmallVector<int64_t> OrderCut::dimsOf(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) == size)
      dims.push_back(dim);
  return dims;
}

void OrderCut::addVertices() {
  for (const OrderNode &node : graph.nodes)
    for (auto [factor, may] : llvm::enumerate(node.mayZigzag))
      if (may && node.rule.factors[factor].size == size &&
          !chooser.zigzag.contains({&node, factor}))
        factorVertex[{&node, factor}] = cut.addVertex();
  for (auto [from, to] : graph.edges)
    for (int64_t dim : dimsOf(to)) {
      std::pair<Value, int64_t> key{chooser.leaderOf(to), dim};
      if (!valueVertex.contains(key) && !chooser.zigzagValues.contains(key) &&
          !to.getParentRegion()->getParentOfType<spmd::ManualOp>())
        valueVertex[key] = cut.addVertex();
    }
}

int32_t OrderCut::vertexOf(const OrderNode *node, const TensorRule &tensor,
                           int64_t dim) const {
  const IndexMap &map = tensor.dims[dim];
  if (!map.isIdentity())
    return MinimumCut::Sink;
  auto found = factorVertex.find({node, node->numberOf(map.terms[0].factor)});
  return found == factorVertex.end() ? int32_t(MinimumCut::Sink)
                                     : found->second;
}

int32_t OrderCut::vertexOfValue(Value target, int64_t dim) const {
  auto found = valueVertex.find({chooser.leaderOf(target), dim});
  return found == valueVertex.end() ? int32_t(MinimumCut::Sink) : found->second;
}

int32_t OrderCut::producer(Value value, int64_t dim) const {
  Operation *op = value.getDefiningOp();
  if (graph.targets.contains(value) || isOrderEdge(op))
    return vertexOfValue(value, dim);
  const OrderNode *node = graph.find(op);
  return node ? vertexOf(
                    node,
                    node->rule.results[cast<OpResult>(value).getResultNumber()],
                    dim)
              : int32_t(MinimumCut::Sink);
}

int32_t OrderCut::consumer(OpOperand &use, int64_t dim) const {
  Operation *op = use.getOwner();
  if (isOrderEdge(op))
    return vertexOfValue(op->getResult(0), dim);
  if (isForwarded(use, chooser.p.function)) {
    auto target = graph.targetOf.find(use.get());
    return target == graph.targetOf.end() ? int32_t(MinimumCut::Sink)
                                          : vertexOfValue(target->second, dim);
  }
  const OrderNode *node = graph.find(op);
  return node ? vertexOf(node, node->rule.operands[use.getOperandNumber()], dim)
              : int32_t(MinimumCut::Sink);
}

void OrderCut::addGains() {
  for (const OrderNode &node : graph.nodes) {
    auto pairs = dyn_cast<spmd::AllPairsOpInterface>(node.op);
    if (!pairs)
      continue;
    auto query = factorVertex.find({&node, pairs.getQueryDim()}),
         key = factorVertex.find({&node, pairs.getKeyDim()});
    bool hasQuery = query != factorVertex.end(),
         hasKey = key != factorVertex.end();
    if (!hasQuery && !hasKey)
      continue;
    if (hasQuery && hasKey) {
      cut.addEdge(query->second, key->second, MinimumCut::kInfinite);
      cut.addEdge(key->second, query->second, MinimumCut::kInfinite);
    }
    int32_t vertex = hasQuery ? query->second : key->second;
    double gain = chooser.gainOf(node, candidate, hasQuery, hasKey) *
                  timesOf(node.op->getBlock());
    if (gain > 0)
      cut.addEdge(MinimumCut::Source, vertex, units(gain));
    else
      cut.addEdge(vertex, MinimumCut::Sink, units(-gain));
    gains.push_back({&node, vertex, gain});
  }
}

void OrderCut::addMoves(Value value) {
  for (int64_t dim : dimsOf(value)) {
    Move move{producer(value, dim), {}, 0};
    bool some = move.from != MinimumCut::Sink;
    for (OpOperand &use : value.getUses()) {
      move.to.push_back(consumer(use, dim));
      some |= move.to.back() != MinimumCut::Sink;
    }
    if (!some || move.to.empty())
      continue;
    move.milliseconds = chooser.priceOf(value, dim, candidate) *
                        timesOf(value.getParentBlock());
    int64_t price = units(move.milliseconds * Cost::kMargin) + 1;
    // Either side pays once, however many want it.
    int32_t there = cut.addVertex(), back = cut.addVertex();
    cut.addEdge(move.from, there, price);
    cut.addEdge(back, move.from, price);
    for (int32_t to : move.to) {
      cut.addEdge(there, to, MinimumCut::kInfinite);
      cut.addEdge(to, back, MinimumCut::kInfinite);
    }
    moves.push_back(std::move(move));
  }
}

/// Says what `side` decides, to the ops that gain too; empty where no op could.
std::string OrderCut::describe(const std::vector<bool> &side) const {
  int64_t count = 0, all = 0;
  double saved = 0, paid = 0, possible = 0;
  for (const Gain &gain : gains) {
    if (side[gain.vertex]) {
      ++count;
      saved += gain.milliseconds;
    }
    if (gain.milliseconds > 0) {
      ++all;
      possible += gain.milliseconds;
    }
  }
  for (const Move &move : moves)
    if (llvm::any_of(move.to,
                     [&](int32_t to) { return side[to] != side[move.from]; }))
      paid += move.milliseconds;
  std::string note;
  auto numbered = [](int64_t number) {
    return std::to_string(number) + (number == 1 ? " op" : " ops") +
           " on all pairs";
  };
  if (count)
    note = llvm::formatv(
        "order zigzag carried through the program for {0}: dealing out takes "
        "{1:f3} ms, each op for itself {2:f3} ms more",
        numbered(count), paid, saved);
  else if (all)
    note =
        llvm::formatv("order zigzag not carried through the program: dealing "
                      "out takes more than the {0:f3} ms that {1} would gain",
                      possible, numbered(all));
  for (const Gain &gain : gains)
    if (!note.empty() &&
        (count ? bool(side[gain.vertex]) : gain.milliseconds > 0))
      spmd::contract::OrderNote::set(
          gain.node->op, StringAttr::get(gain.node->op->getContext(), note));
  return count ? note : std::string();
}

std::string OrderCut::run() {
  addVertices();
  addGains();
  for (BlockArgument argument : chooser.p.function.getArguments())
    addMoves(argument);
  for (Operation *op : graph.ops) {
    for (Value result : op->getResults())
      addMoves(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (graph.targets.contains(argument))
            addMoves(argument);
  }
  std::vector<bool> side = cut.cut();
  std::string note = describe(side);
  if (note.empty())
    return note;
  for (auto [place, vertex] : factorVertex)
    if (side[vertex])
      chooser.zigzag[place] = candidate.order;
  for (auto [place, vertex] : valueVertex)
    if (side[vertex])
      chooser.zigzagValues[place] = candidate.order;
  return note;
}

std::string Chooser::run(Wishes &wishes) {
  // All that one value becomes is in one order.
  DenseMap<Value, Value> firstOf;
  for (auto [from, to] : graph.edges) {
    flows.insert(to.getAsOpaquePointer());
    if (!graph.targets.contains(to))
      continue;
    auto [known, isNew] = firstOf.try_emplace(from, to);
    flows.unionSets(known->second.getAsOpaquePointer(),
                    to.getAsOpaquePointer());
  }
  std::string all;
  for (const Candidate &candidate : findCandidates())
    if (std::string note = OrderCut(*this, candidate).run(); !note.empty())
      all += (all.empty() ? "" : ", ") + note;
  if (zigzag.empty())
    return all;
  auto wish = [&](Value value, int64_t dim, Order order) {
    auto &orders = wishes[value];
    orders.resize(cast<RankedTensorType>(value.getType()).getRank());
    orders[dim] = order;
  };
  for (OrderNode &node : graph.nodes) {
    for (auto [factor, may] : llvm::enumerate(node.mayZigzag))
      may = zigzag.contains({&node, factor});
    forEachDim(node, [&](Value value, int64_t dim, int64_t factor) {
      if (!graph.targets.contains(value) && !isOrderEdge(value.getDefiningOp()))
        wish(value, dim, zigzag[{&node, factor}]);
    });
  }
  for (auto [from, to] : graph.edges)
    for (int64_t dim = 0; dim < cast<RankedTensorType>(to.getType()).getRank();
         ++dim)
      if (Order order = zigzagValues.lookup({leaderOf(to), dim}))
        wish(to, dim, order);
  return all;
}

bool propagation::mayChooseOrders(func::FuncOp function) {
  return function
      .walk([](spmd::AllPairsOpInterface op) {
        bool may = isa<OrderCostOpInterface>(op.getOperation()) && op.hasBand();
        return may ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<std::string> propagation::chooseOrders(OrderGraph &graph,
                                                 Wishes &wishes,
                                                 func::FuncOp function,
                                                 spmd::MeshOp mesh) {
  FailureOr<Projection> projection = project(function, mesh);
  if (failed(projection))
    return failure();
  propagate(projection->problem);
  return Chooser(graph, *projection).run(wishes);
}
