//===- VerifyPropagated.cpp - What Partition relies on --------------------===//
#include "Bodies.h"
#include "Reasons.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Propagation/Passes.h"
#include "shardc/Propagation/Projection.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;
using spmd::ShardingAttr;

namespace shardc {
#define GEN_PASS_DEF_VERIFYPROPAGATEDPASS
#include "shardc/Propagation/Passes.h.inc"
} // namespace shardc

namespace {

class Verifier {
public:
  Verifier(func::FuncOp function, spmd::MeshOp mesh) : p(function, mesh) {}
  LogicalResult run();

private:
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyRuled(Operation *op, ArrayAttr factors);
  LogicalResult verifyReshard(spmd::ReshardOp op);
  /// Checks that `from`, a value, has the layout of `to`.
  LogicalResult verifySame(Operation *op, const Twine &what, Value from,
                           ShardingAttr to);
  /// The same at the edge of a manual region, where a value may be in parts.
  LogicalResult verifyEdge(Operation *op, const Twine &what, Value value,
                           ShardingAttr boundary);
  LogicalResult verifyLayout(Operation *op, const Twine &what, Value value,
                             const TensorState &expected,
                             const ShardingRule *rule,
                             ArrayRef<RuleView::Dim> dims);

  Projection p;
};

} // namespace

static RankedTensorType tensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static SmallVector<ArrayRef<int64_t>> shapesOf(ValueRange values) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value value : values)
    shapes.push_back(tensorType(value) ? tensorType(value).getShape()
                                       : ArrayRef<int64_t>());
  return shapes;
}

LogicalResult Verifier::verifyLayout(Operation *op, const Twine &what,
                                     Value value, const TensorState &expected,
                                     const ShardingRule *rule,
                                     ArrayRef<RuleView::Dim> dims) {
  ShardingAttr sharding = spmd::getSharding(value);
  if (!sharding)
    return op->emitOpError() << what << " has no sharding";
  if (!sharding.getPartial().empty())
    return op->emitOpError() << what << " is partial: " << sharding
                             << "; expected a reshard before";
  std::string difference = describeDifference(
      p, p.toState(sharding, tensorType(value)), expected, rule, dims);
  if (difference.empty())
    return success();
  return op->emitOpError() << what << " has " << sharding << ": it "
                           << difference;
}

LogicalResult Verifier::verifySame(Operation *op, const Twine &what, Value from,
                                   ShardingAttr to) {
  if (!tensorType(from))
    return success();
  if (!to)
    return op->emitOpError() << what << " becomes a value without a sharding";
  return verifyLayout(op, what, from, p.toState(to, tensorType(from)), nullptr,
                      {});
}

LogicalResult Verifier::verifyEdge(Operation *op, const Twine &what,
                                   Value value, ShardingAttr boundary) {
  ShardingAttr sharding = spmd::getSharding(value);
  if (!sharding || sharding.getPartial().empty() ||
      sharding.getPartial() != boundary.getPartial())
    return verifySame(op, what, value, boundary);
  if (sharding == boundary)
    return success();
  return op->emitOpError() << what << " has " << sharding << ", expected "
                           << boundary;
}

LogicalResult Verifier::verifyRuled(Operation *op, ArrayAttr factors) {
  FailureOr<std::optional<ShardingRule>> rule = getRule(op);
  if (failed(rule))
    return failure();
  if (!*rule)
    return op->emitOpError()
           << "has '" << spmd::kFactorsAttrName << "', but no sharding rule";
  if (factors.size() != (*rule)->factors.size())
    return op->emitOpError()
           << "has " << factors.size() << " factor shardings, but its rule has "
           << (*rule)->factors.size() << ": " << (*rule)->str();
  RuleView view(**rule, shapesOf(op->getOperands()),
                shapesOf(op->getResults()));
  view.extents = &p.problem.extents;
  SmallVector<FactorState, 8> states;
  SmallVector<int64_t> used;
  for (auto [i, attr] :
       llvm::enumerate(factors.getAsRange<spmd::DimShardingAttr>())) {
    FactorState &state = states.emplace_back();
    state.bounds = attr.getAxes().empty()
                       ? Boundaries::whole(view.sizes[i])
                       : attr.getBoundaries(p.mesh, view.sizes[i]);
    for (StringAttr axis : attr.getAxes()) {
      state.axes.push_back(p.mesh.getAxisIndex(axis));
      if ((*rule)->factors[i].travels)
        continue;
      if (llvm::is_contained(used, state.axes.back()))
        return op->emitOpError()
               << "is cut twice along \"" << axis.getValue() << '"';
      used.push_back(state.axes.back());
    }
    if (!state.axes.empty() && !view.canCut[i])
      return op->emitOpError() << "is cut along factor " << i
                               << ", which must be whole: " << (*rule)->str();
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!tensorType(operand))
      continue;
    TensorState current = TensorState::open(tensorType(operand).getShape(), 1);
    if (ShardingAttr sharding = spmd::getSharding(operand))
      current = p.toState(sharding, tensorType(operand));
    TensorState implied = impliedOperand(p.problem, view, states, i, current);
    if (failed(verifyLayout(op, "operand " + Twine(i), operand, implied,
                            &**rule, view.operands[i])))
      return failure();
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!tensorType(result))
      continue;
    TensorState current = TensorState::open(tensorType(result).getShape(), 1);
    TensorState implied = impliedResult(p.problem, view, states, i, current);
    if (failed(verifyLayout(op, "result " + Twine(i), result, implied, &**rule,
                            view.results[i])))
      return failure();
  }
  return success();
}

LogicalResult Verifier::verifyReshard(spmd::ReshardOp op) {
  if (spmd::getSharding(op.getInput()) != op.getSource())
    return op.emitOpError()
           << "comes from " << op.getSource() << ", but its operand has "
           << spmd::getSharding(op.getInput());
  if (spmd::getSharding(op.getResult()) != op.getTarget())
    return op.emitOpError()
           << "goes to " << op.getTarget() << ", but its result has "
           << spmd::getSharding(op.getResult());
  return success();
}

LogicalResult Verifier::verifyOp(Operation *op) {
  if (isa<spmd::ConstrainOp>(op))
    return op->emitOpError() << "is left after propagation";
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (tensorType(result) && !spmd::getSharding(result))
      return op->emitOpError() << "result " << i << " has no sharding";
  if (auto reshard = dyn_cast<spmd::ReshardOp>(op))
    return verifyReshard(reshard);
  if (auto manual = dyn_cast<spmd::ManualOp>(op)) {
    for (auto [i, operand, sharding] :
         llvm::enumerate(op->getOperands(), manual.getInShardings()))
      if (failed(verifyEdge(op, "operand " + Twine(i), operand,
                            cast<ShardingAttr>(sharding))))
        return failure();
    for (auto [i, result, sharding] :
         llvm::enumerate(op->getResults(), manual.getOutShardings()))
      if (failed(verifyEdge(op, "result " + Twine(i), result,
                            cast<ShardingAttr>(sharding))))
        return failure();
    return success();
  }
  if (isa<spmd::ReturnOp>(op)) {
    auto manual = cast<spmd::ManualOp>(op->getParentOp());
    for (auto [i, operand, sharding] :
         llvm::enumerate(op->getOperands(), manual.getOutShardings()))
      if (failed(
              verifySame(op, "operand " + Twine(i), operand,
                         manual.getBodySharding(cast<ShardingAttr>(sharding)))))
        return failure();
    return success();
  }
  if (auto flow = op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt) {
    if (flow->isLoop)
      for (auto [i, operand, result] :
           llvm::enumerate(op->getOperands(), op->getResults()))
        if (failed(verifySame(op, "operand " + Twine(i), operand,
                              spmd::getSharding(result))))
          return failure();
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (failed(verifySame(op, "operand " + Twine(i), operand,
                            p.function.getResultAttrOfType<ShardingAttr>(
                                i, spmd::kShardingAttrName))))
        return failure();
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    Operation *parent = op->getParentOp();
    auto flow = getControlFlow(parent);
    if (!flow ||
        (flow->isLoop && op->getParentRegion()->getRegionNumber() == 0))
      return success();
    for (auto [i, operand, result] :
         llvm::enumerate(op->getOperands(), parent->getResults()))
      if (failed(verifySame(op, "operand " + Twine(i), operand,
                            spmd::getSharding(result))))
        return failure();
    return success();
  }
  if (auto factors = op->getAttrOfType<ArrayAttr>(spmd::kFactorsAttrName))
    return verifyRuled(op, factors);
  auto isWhole = [&](const Twine &what, Value value) -> LogicalResult {
    if (!tensorType(value))
      return success();
    return verifyLayout(op, what, value,
                        TensorState::open(tensorType(value).getShape(), 1),
                        nullptr, {});
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(isWhole("operand " + Twine(i), operand)))
      return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (failed(isWhole("result " + Twine(i), result)))
      return failure();
  return success();
}

LogicalResult Verifier::run() {
  for (BlockArgument argument : p.function.getArguments())
    if (tensorType(argument) && !spmd::getSharding(argument))
      return p.function.emitOpError()
             << "argument " << argument.getArgNumber() << " has no sharding";
  for (Operation *op : collectOps(p.function))
    if (failed(verifyOp(op)))
      return failure();
  return success();
}

namespace {
struct VerifyPropagatedPass final
    : shardc::impl::VerifyPropagatedPassBase<VerifyPropagatedPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(spmd::verifyLevel<spmd::SpmdDialect, spmd::PairsDialect>(
            getOperation(), "propagation")) ||
        failed(forEachBody(getOperation(),
                           [](func::FuncOp function, spmd::MeshOp mesh) {
                             return Verifier(function, mesh).run();
                           })))
      signalPassFailure();
  }
};
} // namespace
