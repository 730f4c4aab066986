//===- WriteBack.cpp - The answer, into the IR ----------------------------===//
//
// Ops in order. A value has the layout of its tensor; where an op makes it
// otherwise, a reshard stands after the op, and where an op needs it otherwise,
// before the op: in the block of the value, so that a loop or a branch that
// uses it does not move it again.
//
//===----------------------------------------------------------------------===//
#include "Reasons.h"
#include "Settle.h"
#include "mlir/IR/Builders.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/Explain.h"
#include "shardc/Analysis/Origins.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/BoundaryAttributes.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;
using spmd::PartialAxisAttr;
using spmd::ShardingAttr;

namespace {

class Writer {
public:
  Writer(Projection &p, const PropagationOptions &options)
      : p(p), builder(p.function.getContext()), noFallback(options.noFallback),
        explain(options.explain), origins(options.origins),
        partialResults(options.partialResults) {}
  LogicalResult run();

private:
  void writeRuled(Operation *op, const OpNode &node);
  LogicalResult writeGathered(Operation *op);
  void writeControlFlow(Operation *op, const ControlFlow &flow);
  void writeYield(Operation *terminator);
  /// Lets `operand` arrive in the layout of the result that it becomes.
  void forward(OpOperand &operand, OpResult result, StringRef what);
  void writeManual(spmd::ManualOp op);
  void writeManualReturn(spmd::ReturnOp op);
  /// The layout in which `op` passes on its result `number`, inside.
  TensorState yieldedLayout(spmd::ManualOp op, unsigned number) const;
  /// The layout outside of what is laid out as `inside` in a manual region.
  TensorState aroundRegion(spmd::ManualOp op, ShardingAttr boundary,
                           const TensorState &inside) const;
  void writeConstraint(Operation *op);
  void writeReturn(func::ReturnOp op);
  void explainArguments();
  void explainAsking(Operation *op, const OpNode &node, const RuleView &view,
                     ArrayRef<FactorState> factors);
  void joinReshards();
  void planReshardsOf(Value value, ArrayRef<spmd::ReshardOp> reshards);
  void planAllReshards();
  /// The number of the annotation that `axis` came from in `value`, or -1.
  int64_t originIn(const TensorState &state, int64_t axis) const;
  int64_t originAround(Value value, int64_t axis) const;
  /// Where the axes of each dim of `value` came from; null where it has no
  /// sharding.
  ArrayAttr originsOf(Value value);
  void noteWhatAvoids(spmd::ReshardOp op);

  bool hasTensor(Value value) const { return p.tensorOf.contains(value); }
  const TensorState &stateOf(Value value) const {
    return p.problem.tensors[p.tensorOf.find(value)->second];
  }
  /// The sharding that `value` has now.
  ShardingAttr shardingOf(Value value) const;
  /// The layout of a value at an op, of which each rank has a part along
  /// `parts`; by which dims of which rule, for whoever asks why.
  struct Layout {
    const TensorState &state;
    ArrayRef<PartialAxisAttr> parts = {};
    const ShardingRule *rule = nullptr;
    ArrayRef<RuleView::Dim> dims = {};
  };
  /// `value` in the layout `target` for `user`; itself if it is so already.
  /// `who` wants it so.
  Value arrive(Value value, const Layout &target, Operation *user,
               const Twine &who);
  /// Records that `result` is made as `computed`, and reshards it to its own
  /// layout.
  void depart(OpResult result, const Layout &computed);
  /// `state` as an attribute, of which each rank has a part along `parts`.
  ShardingAttr toAttr(const TensorState &state,
                      ArrayRef<PartialAxisAttr> parts) const;
  /// A layout, and the same as an attribute.
  using Spelt = std::pair<const TensorState &, ShardingAttr>;
  spmd::ReshardOp reshard(Value value, Spelt source, Spelt target, Location loc,
                          const std::string &reason);

  Projection &p;
  OpBuilder builder;
  bool noFallback, explain, origins, partialResults;
  DenseMap<std::pair<Value, Attribute>, Value> arrived;
};

} // namespace

ShardingAttr Writer::toAttr(const TensorState &state,
                            ArrayRef<PartialAxisAttr> parts) const {
  ShardingAttr sharding = p.toAttr(state);
  if (parts.empty())
    return sharding;
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                           sharding.getDims(), {}, parts);
}

ShardingAttr Writer::shardingOf(Value value) const {
  int64_t tensor = p.tensorOf.find(value)->second;
  auto found = p.partial.find(tensor);
  return toAttr(p.problem.tensors[tensor], found == p.partial.end()
                                               ? ArrayRef<PartialAxisAttr>()
                                               : found->second);
}

spmd::ReshardOp Writer::reshard(Value value, Spelt source, Spelt target,
                                Location loc, const std::string &reason) {
  const TensorState &from = source.first, &to = target.first;
  auto op = spmd::ReshardOp::create(builder, loc, value.getType(), value,
                                    source.second, target.second,
                                    builder.getStringAttr(reason));
  op->setAttr(spmd::kShardingsAttrName, builder.getArrayAttr({target.second}));
  if (explain) {
    InFlightDiagnostic remark =
        emitRemark(loc) << "moves " << int64_t(bytesMoved(p.problem, from, to))
                        << " bytes: " << reason;
    for (const TensorState *state : {&from, &to})
      for (const DimState &dim : state->dims)
        for (auto [axis, origin] : llvm::zip(dim.axes, dim.origins))
          if (origin >= 0)
            remark.attachNote()
                << '"' << p.mesh.getAxisNames()[axis].getValue()
                << "\" comes from " << p.problem.origins[origin];
  }
  return op;
}

Value Writer::arrive(Value value, const Layout &target, Operation *user,
                     const Twine &who) {
  const TensorState &state = stateOf(value);
  ShardingAttr source = shardingOf(value),
               wanted = toAttr(target.state, target.parts);
  if (source == wanted)
    return value;
  Value &known = arrived[{value, wanted}];
  if (known)
    return known;
  Block *block = value.getParentBlock();
  builder.setInsertionPoint(block->findAncestorOpInBlock(*user));
  std::string reason =
      describeDifference(p, state, target.state, target.rule, target.dims);
  if (reason.empty())
    reason =
        target.parts.empty() ? "is still to be combined" : "is taken in parts";
  known = reshard(value, {state, source}, {target.state, wanted},
                  user->getLoc(), who.str() + ' ' + reason);
  return known;
}

void Writer::depart(OpResult result, const Layout &computed) {
  ShardingAttr made = toAttr(computed.state, computed.parts),
               wanted = shardingOf(result);
  spmd::setSharding(result, made);
  if (made == wanted)
    return;
  Operation *op = result.getOwner();
  builder.setInsertionPointAfter(op);
  std::string difference = describeDifference(
      p, computed.state, stateOf(result), computed.rule, computed.dims);
  if (difference.empty())
    difference = "is still to be combined";
  std::string reason = ("result " + Twine(result.getResultNumber()) + " of '" +
                        op->getName().getStringRef() + "' ")
                           .str() +
                       difference;
  spmd::ReshardOp moved =
      reshard(result, {computed.state, made}, {stateOf(result), wanted},
              op->getLoc(), reason);
  result.replaceAllUsesExcept(moved.getResult(), moved);
  p.tensorOf[moved.getResult()] = p.tensorOf[result];
}

static std::string describeOperand(Operation *op, unsigned number) {
  return ("operand " + Twine(number) + " of '" + op->getName().getStringRef() +
          "'")
      .str();
}

/// True if nothing but `op` reads `value`, as it is or transposed.
static bool isReadBy(Operation *op, Value value) {
  if (auto transpose = value.getDefiningOp<stablehlo::TransposeOp>())
    value = transpose.getOperand();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op ||
           (isa<stablehlo::TransposeOp>(user) &&
            llvm::all_of(user->getUsers(),
                         [&](Operation *reader) { return reader == op; }));
  });
}

void Writer::writeRuled(Operation *op, const OpNode &node) {
  RuleView view = viewOf(p.problem, node);
  bool isOnly = llvm::all_of(
      op->getOperands(), [&](Value operand) { return isReadBy(op, operand); });
  SmallVector<FactorState, 8> factors =
      isOnly ? decideFactorsOfOnly(p.problem, node)
             : decideFactors(p.problem, node);
  SmallVector<Attribute> attrs;
  for (const FactorState &factor : factors)
    attrs.push_back(p.toAttr(factor.axes, factor.bounds));
  op->setAttr(spmd::kFactorsAttrName, builder.getArrayAttr(attrs));
  if (explain)
    explainAsking(op, node, view, factors);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!hasTensor(value))
      continue;
    unsigned number = operand.getOperandNumber();
    TensorState target =
        impliedOperand(p.problem, view, factors, number, stateOf(value));
    operand.set(arrive(value, {target, {}, &node.rule, view.operands[number]},
                       op, describeOperand(op, number)));
  }
  for (OpResult result : op->getResults()) {
    if (!hasTensor(result))
      continue;
    unsigned number = result.getResultNumber();
    depart(result,
           {impliedResult(p.problem, view, factors, number, stateOf(result)),
            {},
            &node.rule,
            view.results[number]});
  }
}

LogicalResult Writer::writeGathered(Operation *op) {
  double gathered = 0;
  for (Value operand : op->getOperands())
    if (hasTensor(operand)) {
      const TensorState &state = stateOf(operand);
      gathered += bytesMoved(
          p.problem, state, TensorState::open(state.shape, state.elementBytes));
    }
  if (gathered > 0) {
    InFlightDiagnostic diag =
        noFallback ? emitError(op->getLoc()) : emitRemark(op->getLoc());
    diag << "gathered: '" << op->getName().getStringRef() << "' at "
         << userLocation(op->getLoc()) << " has no sharding rule, "
         << int64_t(gathered) << " bytes";
    if (noFallback)
      return diag << "; leave out no-fallback to allow it, or constrain its "
                     "operands to be whole";
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!hasTensor(value))
      continue;
    const TensorState &state = stateOf(value);
    operand.set(arrive(value,
                       {TensorState::open(state.shape, state.elementBytes)}, op,
                       describeOperand(op, operand.getOperandNumber()) +
                           ", which has no sharding rule,"));
  }
  for (OpResult result : op->getResults())
    if (hasTensor(result)) {
      const TensorState &state = stateOf(result);
      depart(result, {TensorState::open(state.shape, state.elementBytes)});
    }
  return success();
}

void Writer::forward(OpOperand &operand, OpResult result, StringRef what) {
  Value value = operand.get();
  if (!hasTensor(value) || !hasTensor(result))
    return;
  operand.set(arrive(value, {stateOf(result)}, operand.getOwner(),
                     what + " " + Twine(result.getResultNumber()) + " of '" +
                         result.getOwner()->getName().getStringRef() + "'"));
}

void Writer::writeControlFlow(Operation *op, const ControlFlow &flow) {
  for (OpResult result : op->getResults())
    if (hasTensor(result))
      spmd::setSharding(result, shardingOf(result));
  if (flow.isLoop)
    for (auto [operand, result] :
         llvm::zip(op->getOpOperands(), op->getResults()))
      forward(operand, result, "operand");
}

/// What a region yields takes the layout of the results. A loop's condition
/// yields a predicate, which has no dims.
void Writer::writeYield(Operation *terminator) {
  Operation *parent = terminator->getParentOp();
  std::optional<ControlFlow> flow = getControlFlow(parent);
  if (!flow ||
      (flow->isLoop && terminator->getParentRegion()->getRegionNumber() == 0))
    return;
  for (auto [operand, result] :
       llvm::zip(terminator->getOpOperands(), parent->getResults()))
    forward(operand, result, "the value yielded for result");
}

TensorState Writer::aroundRegion(spmd::ManualOp op, ShardingAttr boundary,
                                 const TensorState &inside) const {
  TensorState outside = inside;
  for (auto [i, attr] : llvm::enumerate(boundary.getDims())) {
    SmallVector<int64_t, 2> axes;
    for (StringAttr axis : attr.getAxes())
      if (op.isManual(axis) && p.mesh.getAxisSize(axis) > 1)
        axes.push_back(p.mesh.getAxisIndex(axis));
    if (axes.empty())
      continue;
    DimState &dim = outside.dims[i];
    dim.origins.insert(dim.origins.begin(), axes.size(), -1);
    axes.append(dim.axes);
    dim.axes = axes;
    SmallVector<int64_t> sizes;
    for (int64_t block = op.countBlocks(attr, p.mesh); block > 0; --block)
      llvm::append_range(sizes, inside.dims[i].bounds.sizes());
    dim.bounds = *Boundaries::fromSizes(sizes);
    outside.shape[i] = dim.bounds.size();
  }
  return outside;
}

TensorState Writer::yieldedLayout(spmd::ManualOp op, unsigned number) const {
  auto boundary = cast<ShardingAttr>(op.getOutShardings()[number]);
  Value yielded = op.getBody().front().getTerminator()->getOperand(number);
  // Free axes that the region itself asks for; in other dims, those of the
  // result.
  TensorState layout = p.toState(op.getBodySharding(boundary),
                                 cast<RankedTensorType>(yielded.getType()));
  const TensorState &result = stateOf(op.getResult(number));
  layout.elementBytes = result.elementBytes;
  for (auto [dim, attr, outside] :
       llvm::zip(layout.dims, boundary.getDims(), result.dims))
    if (!op.hasManualAxes(attr))
      dim = outside;
  return layout;
}

void Writer::writeManual(spmd::ManualOp op) {
  SmallVector<Attribute> in, out;
  auto partsOf = [&](ShardingAttr boundary) {
    SmallVector<PartialAxisAttr> parts;
    for (PartialAxisAttr partial : boundary.getPartial())
      if (op.isManual(partial.getAxis()) &&
          p.mesh.getAxisSize(partial.getAxis()) > 1)
        parts.push_back(partial);
    return parts;
  };
  for (auto [operand, argument, boundary] :
       llvm::zip(op->getOpOperands(), op.getBody().getArguments(),
                 op.getInShardings())) {
    TensorState target =
        aroundRegion(op, cast<ShardingAttr>(boundary), stateOf(argument));
    auto parts = partsOf(cast<ShardingAttr>(boundary));
    operand.set(arrive(operand.get(), {target, parts}, op,
                       describeOperand(op, operand.getOperandNumber())));
    in.push_back(toAttr(target, parts));
  }
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    auto boundary = cast<ShardingAttr>(op.getOutShardings()[number]);
    TensorState computed =
        aroundRegion(op, boundary, yieldedLayout(op, number));
    auto parts = partsOf(boundary);
    out.push_back(toAttr(computed, parts));
    depart(result, {computed, parts});
  }
  op.setInShardingsAttr(builder.getArrayAttr(in));
  op.setOutShardingsAttr(builder.getArrayAttr(out));
}

void Writer::writeManualReturn(spmd::ReturnOp op) {
  auto manual = cast<spmd::ManualOp>(op->getParentOp());
  for (OpOperand &operand : op->getOpOperands()) {
    auto inside = manual.getBodySharding(cast<ShardingAttr>(
        manual.getOutShardings()[operand.getOperandNumber()]));
    TensorState target =
        p.toState(inside, cast<RankedTensorType>(operand.get().getType()));
    operand.set(arrive(operand.get(), {target}, op,
                       "the value returned for result " +
                           Twine(operand.getOperandNumber()) +
                           " of 'spmd.manual'"));
  }
}

void Writer::writeConstraint(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Value moved =
      arrive(input, {stateOf(result)}, op, "the value constrained here");
  result.replaceAllUsesWith(moved);
  // The same reshard may serve several constraints that ask for one layout.
  if (moved != input)
    p.tensorOf[moved] = p.tensorOf[result];
}

void Writer::writeReturn(func::ReturnOp op) {
  BoundaryAttributes boundary(p.function);
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t tensor = p.resultTensors[operand.getOperandNumber()];
    if (tensor < 0)
      continue;
    const TensorState &target = p.problem.tensors[tensor];
    operand.set(arrive(operand.get(), {target}, op,
                       "result " + Twine(operand.getOperandNumber()) + " of @" +
                           p.function.getSymName()));
    ShardingAttr sharding = p.toAttr(target);
    auto asked = p.function.getResultAttrOfType<ShardingAttr>(
        operand.getOperandNumber(), spmd::kShardingAttrName);
    if (partialResults && asked)
      sharding = ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                                   sharding.getDims(), {}, asked.getPartial());
    boundary.ofResult(operand.getOperandNumber())
        .set(spmd::kShardingAttrName, sharding);
  }
  boundary.write();
}

/// Says, of each operand that is addressed along a cut dim, whether its rows
/// are asked for or it is gathered, and what the other would have moved.
void Writer::explainAsking(Operation *op, const OpNode &node,
                           const RuleView &view,
                           ArrayRef<FactorState> factors) {
  for (auto [operand, dims] : llvm::zip(op->getOpOperands(), view.operands)) {
    if (!hasTensor(operand.get()))
      continue;
    const TensorState &state = stateOf(operand.get());
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (dim.factor < 0 || state.dims[d].axes.empty() ||
          node.rule.factors[dim.factor].askedBytes <= 0 ||
          node.rule.factors[dim.factor].kind != FactorKind::Distributed)
        continue;
      SmallVector<FactorState, 8> asking(factors);
      asking[dim.factor].axes = state.dims[d].axes;
      TensorState whole = state;
      whole.dims[d].axes.clear();
      whole.dims[d].bounds = Boundaries::whole(state.shape[d]);
      auto asked = int64_t(bytesAsked(p.problem, node, asking, dim.factor));
      auto gathered = int64_t(bytesMoved(p.problem, state, whole));
      InFlightDiagnostic remark = emitRemark(op->getLoc());
      remark << describeOperand(op, operand.getOperandNumber())
             << " is addressed along dim " << d << ", which is cut: ";
      if (factors[dim.factor].axes.empty())
        remark << "gathered, " << gathered << " bytes; asking for rows counts "
               << asked;
      else
        remark << "its rows are asked for, at most about " << asked
               << " bytes; gathering it moves " << gathered;
    }
  }
}

void Writer::explainArguments() {
  for (BlockArgument argument : p.function.getArguments()) {
    if (!hasTensor(argument) ||
        p.function.getArgAttr(argument.getArgNumber(), spmd::kShardingAttrName))
      continue;
    for (auto [i, dim] : llvm::enumerate(stateOf(argument).dims))
      for (auto [axis, origin] : llvm::zip(dim.axes, dim.origins))
        if (origin >= 0)
          emitRemark(argument.getLoc())
              << "argument " << argument.getArgNumber() << " is cut along \""
              << p.mesh.getAxisNames()[axis].getValue() << "\" in dim " << i
              << ", which comes from " << p.problem.origins[origin];
  }
}

/// A reshard of a reshard that nobody else uses goes there at once, or nowhere.
void Writer::joinReshards() {
  SmallVector<spmd::ReshardOp> reshards;
  p.function.walk([&](spmd::ReshardOp op) { reshards.push_back(op); });
  for (spmd::ReshardOp op : reshards) {
    auto first = op.getInput().getDefiningOp<spmd::ReshardOp>();
    if (!first || !first->hasOneUse() || first->getBlock() != op->getBlock())
      continue;
    op.setSourceAttr(first.getSource());
    op.getInputMutable().assign(first.getInput());
  }
  for (spmd::ReshardOp op : llvm::reverse(reshards)) {
    if (op.getSource() == op.getTarget())
      op.getResult().replaceAllUsesWith(op.getInput());
    if (op->use_empty())
      op->erase();
  }
}

/// Lets the reshards of one value, in one block, come from one another where
/// that moves less.
void Writer::planReshardsOf(Value value, ArrayRef<spmd::ReshardOp> reshards) {
  auto type = cast<RankedTensorType>(value.getType());
  auto stateFor = [&](ShardingAttr sharding) {
    TensorState state = p.toState(sharding, type);
    state.elementBytes = hasTensor(value) ? stateOf(value).elementBytes : 4;
    return state;
  };
  spmd::ReshardOp first = reshards.front();
  std::vector<TensorState> targets;
  for (spmd::ReshardOp op : reshards)
    targets.push_back(stateFor(op.getTarget()));
  ReshardPlan plan =
      planReshards(p.problem, stateFor(first.getSource()), targets);
  if (llvm::all_of(plan.from, [](int64_t from) { return from < 0; }))
    return;
  SmallVector<spmd::ReshardOp> ops(reshards);
  if (plan.layouts.size() > ops.size()) {
    // On the way to several; it takes over the reason of the first that needs
    // it.
    int64_t reader =
        llvm::find(plan.from, int64_t(ops.size())) - plan.from.begin();
    builder.setInsertionPoint(ops[reader]);
    ops.push_back(cast<spmd::ReshardOp>(builder.clone(*ops[reader])));
    ShardingAttr target = p.toAttr(plan.layouts.back());
    ops.back().setTargetAttr(target);
    ops.back()->setAttr(spmd::kShardingsAttrName,
                        builder.getArrayAttr({target}));
  }
  // Those nearest to the source last, so that each is before all that it
  // leads to.
  SmallVector<int64_t> depth(ops.size(), 0),
      order = llvm::to_vector(llvm::seq<int64_t>(0, ops.size()));
  for (int64_t i : order)
    for (int64_t at = plan.from[i]; at >= 0; at = plan.from[at])
      ++depth[i];
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair(depth[b], a) < std::pair(depth[a], b);
  });
  for (int64_t i : order) {
    int64_t from = plan.from[i];
    if (from < 0)
      continue;
    ops[i].getInputMutable().assign(ops[from].getResult());
    ops[i].setSourceAttr(ops[from].getTarget());
    if (!ops[from]->isBeforeInBlock(ops[i]))
      ops[from]->moveBefore(ops[i]);
  }
}

void Writer::planAllReshards() {
  llvm::MapVector<std::pair<Value, Block *>, SmallVector<spmd::ReshardOp>>
      groups;
  p.function.walk([&](spmd::ReshardOp op) {
    SmallVector<spmd::ReshardOp> &group =
        groups[{op.getInput(), op->getBlock()}];
    if (op.getSource().getPartial().empty() &&
        op.getTarget().getPartial().empty() &&
        llvm::none_of(group, [&](spmd::ReshardOp other) {
          return other.getTarget() == op.getTarget();
        }))
      group.push_back(op);
  });
  for (auto &[key, group] : groups)
    if (group.size() > 1)
      planReshardsOf(key.first, group);
}

int64_t Writer::originIn(const TensorState &state, int64_t axis) const {
  for (const DimState &dim : state.dims)
    for (auto [known, origin] : llvm::zip(dim.axes, dim.origins))
      if (known == axis && origin >= 0)
        return origin;
  return -1;
}

/// Looks at the value, then at what it is made from and for.
int64_t Writer::originAround(Value value, int64_t axis) const {
  SmallVector<Value> around = {value};
  if (Operation *op = value.getDefiningOp()) {
    llvm::append_range(around, op->getResults());
    llvm::append_range(around, op->getOperands());
  }
  for (Value each : around)
    if (hasTensor(each))
      if (int64_t origin = originIn(stateOf(each), axis); origin >= 0)
        return origin;
  for (OpOperand &use : value.getUses()) {
    if (isa<func::ReturnOp>(use.getOwner())) {
      int64_t tensor = p.resultTensors[use.getOperandNumber()];
      if (int64_t origin =
              tensor < 0 ? -1 : originIn(p.problem.tensors[tensor], axis);
          origin >= 0)
        return origin;
    }
    for (Value result : use.getOwner()->getResults())
      if (hasTensor(result))
        if (int64_t origin = originIn(stateOf(result), axis); origin >= 0)
          return origin;
  }
  return -1;
}

ArrayAttr Writer::originsOf(Value value) {
  ShardingAttr sharding = spmd::getSharding(value);
  if (!sharding)
    return {};
  SmallVector<Attribute> dims;
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    SmallVector<NamedAttribute> known;
    for (StringAttr axis : dim.getAxes())
      if (int64_t origin = originAround(value, p.mesh.getAxisIndex(axis));
          origin >= 0)
        known.push_back(
            {axis, builder.getStringAttr(p.problem.origins[origin])});
    if (int64_t origin = hasTensor(value) && i < stateOf(value).dims.size()
                             ? stateOf(value).dims[i].sizeOrigin
                             : -1;
        origin >= 0)
      known.push_back(builder.getNamedAttr(
          kSizesOrigin, builder.getStringAttr(p.problem.origins[origin])));
    dims.push_back(builder.getDictionaryAttr(known));
  }
  return builder.getArrayAttr(dims);
}

/// Names the annotations without which both sides would agree.
void Writer::noteWhatAvoids(spmd::ReshardOp op) {
  std::string text;
  auto add = [&](Value value, spmd::DimShardingAttr from,
                 spmd::DimShardingAttr other) {
    for (StringAttr axis : from.getAxes())
      if (!llvm::is_contained(other.getAxes(), axis))
        if (int64_t origin = originAround(value, p.mesh.getAxisIndex(axis));
            origin >= 0) {
          std::string part = "leave \"" + axis.str() + "\" out of " +
                             p.problem.origins[origin];
          if (!StringRef(text).contains(part))
            text += (text.empty() ? "" : ", or ") + part;
        }
  };
  for (auto [source, target] :
       llvm::zip(op.getSource().getDims(), op.getTarget().getDims())) {
    add(op.getInput(), source, target);
    add(op.getResult(), target, source);
    if (source.getAxes() == target.getAxes() && source != target &&
        text.empty())
      text = "give both the same sizes";
  }
  for (OpOperand &use : op.getResult().getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      for (auto [i, source, target] :
           llvm::enumerate(op.getSource().getDims(), op.getTarget().getDims()))
        for (StringAttr axis : source.getAxes())
          if (target.isWhole())
            text +=
                (text.empty() ? "" : ", or ") +
                ("ask for \"" + axis.str() + "\" in dim " + std::to_string(i) +
                 " of result " + std::to_string(use.getOperandNumber()));
  Reason why{op.getReason().str() + " at " + userLocation(op.getLoc()),
             userNameOf(op.getInput()), "", text};
  // Who asked is in the same line: a reader, or who makes the value.
  SmallVector<Operation *> near(op.getResult().getUsers());
  near.push_back(op.getInput().getDefiningOp());
  for (Operation *other : near)
    if (auto node = p.nodeOf.find(other); other && why.rule.empty() &&
                                          node != p.nodeOf.end() &&
                                          other->getLoc() == op.getLoc())
      why.rule = p.problem.ops[node->second].rule.str();
  op.setReason(printReason(why));
}

LogicalResult Writer::run() {
  if (explain)
    explainArguments();
  BoundaryAttributes boundary(p.function);
  for (BlockArgument argument : p.function.getArguments())
    if (hasTensor(argument))
      boundary.ofArgument(argument.getArgNumber())
          .set(spmd::kShardingAttrName, shardingOf(argument));
  boundary.write();
  SmallVector<Operation *> gone;
  for (Operation *op : p.ops) {
    if (auto manual = dyn_cast<spmd::ManualOp>(op)) {
      writeManual(manual);
    } else if (auto manualReturn = dyn_cast<spmd::ReturnOp>(op)) {
      writeManualReturn(manualReturn);
    } else if (auto flow = op->getNumRegions() > 0 ? getControlFlow(op)
                                                   : std::nullopt) {
      writeControlFlow(op, *flow);
    } else if (auto node = p.nodeOf.find(op); node != p.nodeOf.end()) {
      writeRuled(op, p.problem.ops[node->second]);
    } else if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op)) {
      writeConstraint(op);
      gone.push_back(op);
    } else if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
      writeReturn(returnOp);
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      writeYield(op);
    } else if (failed(writeGathered(op))) {
      return failure();
    }
  }
  for (Operation *op : llvm::reverse(gone))
    op->erase();
  joinReshards();
  planAllReshards();
  if (origins) {
    spmd::contract::Explain::set(p.function);
    BoundaryAttributes known(p.function);
    for (BlockArgument argument : p.function.getArguments())
      if (ArrayAttr origins = originsOf(argument))
        known.ofArgument(argument.getArgNumber())
            .set(spmd::contract::Origins::name(), origins);
    known.write();
    p.function.walk([&](Operation *op) {
      if (auto reshard = dyn_cast<spmd::ReshardOp>(op))
        noteWhatAvoids(reshard);
      for (Value result : op->getResults())
        if (ArrayAttr origins = originsOf(result))
          setOrigins(result, origins);
    });
  }
  return success();
}

LogicalResult propagation::writeBack(Projection &projection,
                                     const PropagationOptions &options) {
  return Writer(projection, options).run();
}
