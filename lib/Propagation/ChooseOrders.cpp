//===- ChooseOrders.cpp - Zigzag order once, or at each op
//--------------------===//
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
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/OrderCost.h"
#include "shardc/Layout/Zigzag.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/FormatVariadic.h"
#include <queue>

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

/// The trip count of a loop where the program does not say it.
static constexpr double kAssumedTripCount = 8;

//===----------------------------------------------------------------------===//
// Minimum cut
//===----------------------------------------------------------------------===//

namespace {
/// A directed graph with capacities, and its minimum cut (Dinic).
class CutGraph {
public:
  static constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 4;
  enum : int32_t { Source = 0, Sink = 1 };

  CutGraph() : first(2) {}
  int32_t addVertex() {
    first.emplace_back();
    return first.size() - 1;
  }
  void addEdge(int32_t from, int32_t to, int64_t capacity) {
    if (capacity <= 0 || from == to)
      return;
    first[from].push_back(edges.size());
    edges.push_back({to, capacity});
    first[to].push_back(edges.size());
    edges.push_back({from, 0});
  }
  /// True for vertices on the source's side of the cut: as few as can be.
  std::vector<bool> cut() {
    while (rank())
      augment();
    std::vector<bool> side(first.size());
    for (size_t i = 0; i < side.size(); ++i)
      side[i] = level[i] >= 0;
    return side;
  }

private:
  struct Edge {
    int32_t to;
    int64_t left;
  };
  bool rank() {
    level.assign(first.size(), -1);
    level[Source] = 0;
    std::queue<int32_t> next({Source});
    while (!next.empty()) {
      int32_t at = next.front();
      next.pop();
      for (int32_t number : first[at])
        if (const Edge &edge = edges[number];
            edge.left > 0 && level[edge.to] < 0) {
          level[edge.to] = level[at] + 1;
          next.push(edge.to);
        }
    }
    return level[Sink] >= 0;
  }
  /// Fills all shortest ways, one after the other; without recursion, since
  /// programs are long.
  void augment() {
    std::vector<size_t> tried(first.size(), 0);
    std::vector<int32_t> path;
    while (true) {
      int32_t at = path.empty() ? int32_t(Source) : edges[path.back()].to;
      if (at == Sink) {
        int64_t amount = kInfinite;
        for (int32_t number : path)
          amount = std::min(amount, edges[number].left);
        size_t keep = path.size();
        for (size_t i = path.size(); i-- > 0;) {
          edges[path[i]].left -= amount;
          edges[path[i] ^ 1].left += amount;
          if (edges[path[i]].left == 0)
            keep = i;
        }
        path.resize(keep);
        continue;
      }
      bool found = false;
      for (size_t &i = tried[at]; i < first[at].size(); ++i) {
        const Edge &edge = edges[first[at][i]];
        if (edge.left > 0 && level[edge.to] == level[at] + 1) {
          path.push_back(first[at][i]);
          found = true;
          break;
        }
      }
      if (found)
        continue;
      if (path.empty())
        return;
      int32_t back = edges[path.back() ^ 1].to;
      path.pop_back();
      ++tried[back];
    }
  }

  std::vector<SmallVector<int32_t, 4>> first;
  std::vector<Edge> edges;
  std::vector<int32_t> level;
};
} // namespace

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

class Chooser {
public:
  Chooser(OrderGraph &graph, Projection &projection)
      : graph(graph), p(projection) {}
  std::string run(Wishes &wishes);

private:
  SmallVector<Candidate> findCandidates();
  std::string consider(const Candidate &candidate);
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
    if (!pairs || !isa<OrderCostOpInterface>(node.op) ||
        !(node.op->hasAttr("band_upper") || node.op->hasAttr("band_lower")) ||
        !node.mayZigzag[pairs.getQueryDim()])
      continue;
    FactorState queries = factorsOf(node)[pairs.getQueryDim()];
    if (queries.bounds.numShards() < 2)
      continue;
    auto known = llvm::find_if(candidates, [&](const Candidate &other) {
      return other.axes == queries.axes && other.bounds == queries.bounds;
    });
    if (known != candidates.end())
      continue;
    std::vector<int64_t> sizes = queries.bounds.sizes();
    candidates.push_back({DenseI64ArrayAttr::get(node.op->getContext(), sizes),
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
  ArrayRef<int64_t> order = candidate.order.asArrayRef();
  std::optional<double> inOrder =
      cost.estimateOrder(cuts, p.problem.meshSizes, {}, {});
  std::optional<double> zigzag = cost.estimateOrder(
      cuts, p.problem.meshSizes, queries ? order : ArrayRef<int64_t>(),
      keys ? order : ArrayRef<int64_t>());
  // Whoever said how an op runs wants it so.
  return inOrder && zigzag ? *inOrder - *zigzag : -1e9;
}

std::string Chooser::consider(const Candidate &candidate) {
  CutGraph cut;
  DenseMap<std::pair<const OrderNode *, int64_t>, int32_t> factorVertex;
  DenseMap<std::pair<Value, int64_t>, int32_t> valueVertex;
  int64_t size = candidate.bounds.size();
  auto units = [](double milliseconds) {
    return int64_t(std::min(milliseconds, 1e9) * 1e6);
  };

  for (const OrderNode &node : graph.nodes)
    for (auto [factor, may] : llvm::enumerate(node.mayZigzag))
      if (may && node.rule.factors[factor].size == size &&
          !zigzag.contains({&node, factor}))
        factorVertex[{&node, factor}] = cut.addVertex();
  auto dimsOf = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) == size)
        dims.push_back(dim);
    return dims;
  };
  for (auto [from, to] : graph.edges)
    for (int64_t dim : dimsOf(to)) {
      std::pair<Value, int64_t> key{leaderOf(to), dim};
      if (!valueVertex.contains(key) && !zigzagValues.contains(key) &&
          !to.getParentRegion()->getParentOfType<spmd::ManualOp>())
        valueVertex[key] = cut.addVertex();
    }
  auto vertexOf = [&](const OrderNode *node, const TensorRule &tensor,
                      int64_t dim) -> int32_t {
    const IndexMap &map = tensor.dims[dim];
    if (!map.isIdentity())
      return CutGraph::Sink;
    auto found = factorVertex.find({node, node->numberOf(map.terms[0].factor)});
    return found == factorVertex.end() ? int32_t(CutGraph::Sink)
                                       : found->second;
  };
  auto vertexOfValue = [&](Value target, int64_t dim) -> int32_t {
    auto found = valueVertex.find({leaderOf(target), dim});
    return found == valueVertex.end() ? int32_t(CutGraph::Sink) : found->second;
  };
  auto producer = [&](Value value, int64_t dim) -> int32_t {
    Operation *op = value.getDefiningOp();
    if (graph.targets.contains(value) || isOrderEdge(op))
      return vertexOfValue(value, dim);
    const OrderNode *node = graph.find(op);
    return node
               ? vertexOf(node,
                          node->rule
                              .results[cast<OpResult>(value).getResultNumber()],
                          dim)
               : int32_t(CutGraph::Sink);
  };
  auto consumer = [&](OpOperand &use, int64_t dim) -> int32_t {
    Operation *op = use.getOwner();
    if (isOrderEdge(op))
      return vertexOfValue(op->getResult(0), dim);
    if (isForwarded(use, p.function)) {
      auto target = graph.targetOf.find(use.get());
      return target == graph.targetOf.end()
                 ? int32_t(CutGraph::Sink)
                 : vertexOfValue(target->second, dim);
    }
    const OrderNode *node = graph.find(op);
    return node ? vertexOf(node, node->rule.operands[use.getOperandNumber()],
                           dim)
                : int32_t(CutGraph::Sink);
  };

  // What ops gain.
  struct Gain {
    const OrderNode *node;
    int32_t vertex;
    double milliseconds;
  };
  SmallVector<Gain> gains;
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
      cut.addEdge(query->second, key->second, CutGraph::kInfinite);
      cut.addEdge(key->second, query->second, CutGraph::kInfinite);
    }
    int32_t vertex = hasQuery ? query->second : key->second;
    double gain = gainOf(node, candidate, hasQuery, hasKey) *
                  timesOf(node.op->getBlock());
    if (gain > 0)
      cut.addEdge(CutGraph::Source, vertex, units(gain));
    else
      cut.addEdge(vertex, CutGraph::Sink, units(-gain));
    gains.push_back({&node, vertex, gain});
  }

  // What values cost that some want in another order than they are made in.
  struct Move {
    int32_t from;
    SmallVector<int32_t, 4> to;
    double milliseconds;
  };
  SmallVector<Move> moves;
  auto addValue = [&](Value value) {
    for (int64_t dim : dimsOf(value)) {
      Move move{producer(value, dim), {}, 0};
      bool some = move.from != CutGraph::Sink;
      for (OpOperand &use : value.getUses()) {
        move.to.push_back(consumer(use, dim));
        some |= move.to.back() != CutGraph::Sink;
      }
      if (!some || move.to.empty())
        continue;
      move.milliseconds =
          priceOf(value, dim, candidate) * timesOf(value.getParentBlock());
      int64_t price = units(move.milliseconds * Cost::kMargin) + 1;
      // Either side pays once, however many want it.
      int32_t there = cut.addVertex(), back = cut.addVertex();
      cut.addEdge(move.from, there, price);
      cut.addEdge(back, move.from, price);
      for (int32_t to : move.to) {
        cut.addEdge(there, to, CutGraph::kInfinite);
        cut.addEdge(to, back, CutGraph::kInfinite);
      }
      moves.push_back(std::move(move));
    }
  };
  for (BlockArgument argument : p.function.getArguments())
    addValue(argument);
  for (Operation *op : graph.ops) {
    for (Value result : op->getResults())
      addValue(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (graph.targets.contains(argument))
            addValue(argument);
  }

  std::vector<bool> side = cut.cut();
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
  if (!count)
    return {};
  for (auto [place, vertex] : factorVertex)
    if (side[vertex])
      zigzag[place] = candidate.order;
  for (auto [place, vertex] : valueVertex)
    if (side[vertex])
      zigzagValues[place] = candidate.order;
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
    if (std::string note = consider(candidate); !note.empty())
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
        bool may = isa<OrderCostOpInterface>(op.getOperation()) &&
                   (op->hasAttr("band_upper") || op->hasAttr("band_lower"));
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
