//===- PlanRing.cpp - The schedule of an op on all pairs ------------------===//
//
// From an op to the plain data that RingPlan.cpp plans on, and which of its
// ways is gone: the one that is asked for, or else the cheapest.
//
//===----------------------------------------------------------------------===//
#include "PlanRing.h"
#include "shardc/Dialect/Pairs/IR/PairsContracts.h"
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Interfaces/OrderCost.h"
#include "shardc/Interfaces/ProgramCost.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

PairBand rules::bandOf(AllPairsOpInterface op) {
  PairBand band;
  if (auto attr = op.getBandLowerAttr())
    band.lower = attr.getInt();
  if (auto attr = op.getBandUpperAttr())
    band.upper = attr.getInt();
  return band;
}

static PairTensor tensorOf(Value value, AffineMap map, bool isResult) {
  PairTensor tensor;
  for (AffineExpr expr : map.getResults())
    tensor.dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  auto type = cast<RankedTensorType>(value.getType());
  tensor.elementBytes = double(elementBytes(type.getElementType()));
  tensor.isResult = isResult;
  return tensor;
}

/// `op`, whose iteration dims are cut as `cuts` says, in natural order.
static RingProblem problemOf(AllPairsOpInterface op,
                             ArrayRef<IntervalTable> cuts,
                             ArrayRef<int64_t> mesh) {
  RingProblem problem;
  problem.mesh.assign(mesh.begin(), mesh.end());
  problem.sizes = op.getDimSizes();
  problem.band = bandOf(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    problem.tensors.push_back(
        tensorOf(operand, op.getMap(number), /*isResult=*/false));
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    problem.tensors.push_back(
        tensorOf(result, op.getResultMap(number), /*isResult=*/true));
  problem.cuts.assign(cuts.begin(), cuts.end());
  problem.hasValue = op->getNumOperands() > 2 && op.getFirstExtra() > 2;
  problem.isBackward = isa<AttentionBackwardOp>(op.getOperation());
  auto pairs = dyn_cast<AllPairsOp>(op.getOperation());
  problem.keepsBest = pairs && pairs.getCombine() == PairCombine::TopK;
  problem.mayReceiveAll = contract::Way::has(op);
  problem.cost = costOn(op);
  return problem;
}

/// How each iteration dim of `op` is cut.
static SmallVector<IntervalTable> cutsOf(AllPairsOpInterface op,
                                         Localization &localization) {
  return llvm::map_to_vector(
      llvm::seq<int64_t>(0, op.getNumDims()),
      [&](int64_t dim) { return localization.factorTable(dim); });
}

/// `cuts` as they may be bound. Who leaves sizes open has shards that differ,
/// and ways differ in what that costs: 5 : 3 represents it.
static SmallVector<IntervalTable> unevenCuts(ArrayRef<IntervalTable> cuts) {
  SmallVector<IntervalTable> result(cuts);
  for (IntervalTable &table : result) {
    int64_t shards = table.intervals.size();
    if (!table.formula.isOpen() || shards < 2)
      continue;
    int64_t size = 0, begin = 0;
    for (Interval interval : table.intervals)
      size = std::max(size, interval.end);
    for (auto [number, interval] : llvm::enumerate(table.intervals)) {
      // Of the sum of 5, 3, 5 ... what is up to here.
      auto upTo = [](int64_t count) { return 5 * count - count / 2 * 2; };
      int64_t end = size * upTo(number + 1) / upTo(shards);
      interval = {begin, end};
      begin = end;
    }
  }
  return result;
}

/// Lets what each of `ways` takes of shards that differ count as much as what
/// it takes of those of `problem`.
static void countUneven(RingProblem problem, MutableArrayRef<RingPlan> ways) {
  problem.cuts = unevenCuts(problem.cuts);
  problem.queryOrder = problem.keyOrder = std::nullopt;
  SmallVector<RingPlan, 0> uneven = ringWays(problem);
  for (RingPlan &way : ways)
    for (const RingPlan &other : uneven)
      if (other.way == way.way)
        way.milliseconds = (way.milliseconds + other.milliseconds) / 2;
}

/// The way that `op` asks for, with an error where it cannot go that; else the
/// cheapest.
static FailureOr<RingPlan> chooseWay(AllPairsOpInterface op,
                                     SmallVector<RingPlan, 0> ways) {
  PairWayAttr asked = contract::Way::get(op);
  if (!asked)
    return cheapestWay(std::move(ways));
  for (RingPlan &way : ways)
    if (asked.getValue() == way.way)
      return std::move(way);
  InFlightDiagnostic error =
      op->emitOpError() << "asks for pairs.way = \""
                        << stringifyPairWay(asked.getValue())
                        << "\", expected one of those that it can go: \"ring\"";
  for (const RingPlan &way : ArrayRef(ways).drop_front())
    error << ", \"" << stringifyPairWay(way.way) << "\"";
  return error;
}

FailureOr<RingPlan> rules::planRing(AllPairsOpInterface op,
                                    Localization &localization) {
  // Steps of a ring are unrolled where sizes are known late. [limit]
  constexpr int64_t kLongestRing = 32;
  bool isLate = localization.isBoundLate();
  if (isLate)
    localization.carriesFormulas();
  RingProblem problem =
      problemOf(op, cutsOf(op, localization), localization.meshSizes());
  problem.queryOrder = getQueryOrder(op).getShards();
  problem.keyOrder = getKeyOrder(op).getShards();
  Localization *late = isLate ? &localization : nullptr;
  if (isLate) {
    RingPlan ring = ringInPlace(problem, late);
    bool isZigzag = problem.queryOrder || problem.keyOrder;
    if (ring.isRecut &&
        localization.countCoordinates(ring.cuts[op.getQueryDim()].axes)
            .isOpen())
      localization.refuse("the number of ranks, to cut queries anew");
    if (localization.countCoordinates(ring.places).isOpen()) {
      if (isZigzag)
        localization.refuse("a ring whose number of ranks is known, for dims "
                            "in zigzag order");
      if (!ring.merged.empty())
        localization.refuse("a ring whose number of ranks is not known, beside "
                            "axes along which keys are cut as well");
      return ringPassingAll(problem, late);
    }
    // Longer ones are the loop of any number of ranks: blocks are passed whole.
    const IntervalTable &keys = ring.cuts[op.getKeyDim()];
    bool isLong = ring.length > kLongestRing;
    if (isLong && ring.merged.empty() && !ring.isRecut && !isZigzag &&
        keys.formula.isOpen() && keys.formula.kind() == FormulaKind::Shards)
      return ringPassingAll(problem, late);
    if (isLong)
      localization.refuse("the blocks of a ring of more than " +
                          std::to_string(kLongestRing) + " ranks");
  }
  SmallVector<RingPlan, 0> ways = ringWays(problem, late);
  if (isLate)
    countUneven(problem, ways);
  FailureOr<RingPlan> plan = chooseWay(op, std::move(ways));
  // What was decided about the order of the whole program.
  if (StringAttr note = contract::OrderNote::get(op); note && succeeded(plan))
    plan->note += (plan->note.empty() ? "" : ", ") + note.str();
  return plan;
}

std::optional<double> rules::estimateRing(AllPairsOpInterface op,
                                          ArrayRef<IntervalTable> cuts,
                                          ArrayRef<int64_t> meshSizes,
                                          ArrayRef<int64_t> queryOrder,
                                          ArrayRef<int64_t> keyOrder) {
  auto pairs = dyn_cast<AllPairsOp>(op.getOperation());
  if (contract::Way::has(op) ||
      (pairs && pairs.getCombine() == PairCombine::TopK))
    return std::nullopt;
  auto shardsOf = [](ArrayRef<int64_t> sizes) -> std::optional<Boundaries> {
    if (sizes.empty())
      return std::nullopt;
    return Boundaries::fromSizes({sizes.data(), sizes.size()});
  };
  RingProblem problem = problemOf(op, cuts, meshSizes);
  problem.queryOrder = shardsOf(queryOrder);
  problem.keyOrder = shardsOf(keyOrder);
  return cheapestWay(ringWays(problem)).milliseconds;
}
