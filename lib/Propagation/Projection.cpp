//===- Projection.cpp - A function as a Problem ---------------------------===//
//
// One tensor for each value, except that the arguments of a loop's regions are
// its results: a loop would otherwise move data in every iteration. Everything
// else that forwards values unchanged (operands and terminators of loops and
// branches, constraints, returns) is an edge, so that a disagreement becomes
// one reshard outside the loop.
//
//===----------------------------------------------------------------------===//
#include "shardc/Propagation/Projection.h"
#include "AlignedDims.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Interfaces/ProgramCost.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "shardc/Support/Uses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;
using spmd::ShardingAttr;

spmd::DimShardingAttr Projection::toAttr(ArrayRef<int64_t> axes,
                                         const Boundaries &bounds) const {
  SmallVector<StringAttr> names;
  for (int64_t axis : axes)
    names.push_back(mesh.getAxisNames()[axis]);
  return spmd::DimShardingAttr::get(mesh.getContext(), names, bounds);
}

ShardingAttr Projection::toAttr(const TensorState &state) const {
  SmallVector<spmd::DimShardingAttr> dims;
  for (const DimState &dim : state.dims)
    dims.push_back(toAttr(dim.axes, dim.bounds));
  return ShardingAttr::get(mesh.getContext(), meshName, dims);
}

TensorState Projection::toState(ShardingAttr sharding,
                                RankedTensorType type) const {
  TensorState state = TensorState::open(type.getShape(), 1);
  for (auto [dim, attr] : llvm::zip(state.dims, sharding.getDims())) {
    for (StringAttr axis : attr.getAxes())
      if (mesh.getAxisSize(axis) > 1)
        dim.axes.push_back(mesh.getAxisIndex(axis));
    if (!dim.axes.empty())
      dim.bounds = attr.getBoundaries(mesh, dim.bounds.size());
  }
  return state;
}

SmallVector<Operation *> propagation::collectOps(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    ops.push_back(op);
    if (op->getNumRegions() > 0 && !getControlFlow(op) &&
        !isa<spmd::ManualOp>(op))
      return WalkResult::skip();
    return WalkResult::advance();
  });
  return ops;
}

static int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

FailureOr<std::optional<ShardingRule>> propagation::getRule(Operation *op) {
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!interface)
    return std::optional<ShardingRule>();
  FailureOr<ShardingRule> rule = interface.getShardingRule();
  if (failed(rule))
    return std::optional<ShardingRule>();
  auto fits = [](ArrayRef<TensorRule> tensors, TypeRange types) {
    return tensors.size() == types.size() &&
           llvm::all_of(llvm::zip(tensors, types), [](auto pair) {
             return int64_t(std::get<0>(pair).dims.size()) ==
                    rankOf(std::get<1>(pair));
           });
  };
  if (!fits(rule->operands, op->getOperandTypes()) ||
      !fits(rule->results, op->getResultTypes()))
    return op->emitOpError()
           << "has a sharding rule that does not fit it: " << rule->str()
           << "; this is a mistake in shardc, please report it";
  return std::optional<ShardingRule>(std::move(*rule));
}

Projection::Projection(func::FuncOp function, spmd::MeshOp mesh)
    : function(function),
      meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())),
      mesh(mesh.getMesh()) {
  problem.meshSizes.assign(this->mesh.getAxisSizes().begin(),
                           this->mesh.getAxisSizes().end());
  problem.extents = this->mesh.getExtents().getExtents();
  problem.symbolicAxes.assign(this->mesh.getSymbolicAxes().begin(),
                              this->mesh.getSymbolicAxes().end());
}

/// More ops than this are not computed once more. [limit]
static constexpr size_t kMostRepeated = 64;

/// True if `op` is made anew in less time than its result is gathered, if its
/// operands are there.
static bool isCheap(Operation *op) {
  return op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (op->hasTrait<stablehlo::ElementwiseTrait>() ||
          isa<stablehlo::ConstantOp, stablehlo::IotaOp,
              stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
              stablehlo::TransposeOp, stablehlo::ReduceOp>(op));
}

/// Makes anew for each of their uses, as far as that is cheap, tensors that
/// follow from no argument: no rank has to send another what it can compute.
/// What then is cut alike is computed once.
static void splitSharedConstants(func::FuncOp function) {
  // Of each such op those that it follows from, itself the last.
  llvm::MapVector<Operation *, SmallVector<Operation *, 0>> ways;
  for (Operation *op : collectOps(function)) {
    if (!isCheap(op))
      continue;
    llvm::SetVector<Operation *> way;
    bool isConstant = llvm::all_of(op->getOperands(), [&](Value operand) {
      auto found = ways.find(operand.getDefiningOp());
      if (found == ways.end())
        return false;
      way.insert(found->second.begin(), found->second.end());
      return way.size() < kMostRepeated;
    });
    way.insert(op);
    if (isConstant)
      ways.insert({op, llvm::to_vector<0>(way)});
  }
  SmallVector<Value> ends;
  for (auto &[op, way] : ways)
    if (op->getNumOperands() > 0 && llvm::any_of(way, [](Operation *made) {
          return rankOf(made->getResult(0).getType()) > 0 &&
                 !made->getResult(0).hasOneUse();
        }))
      ends.push_back(op->getResult(0));
  UsesOfValues uses = usesInOrder(function, ends);
  for (Value value : ends)
    for (OpOperand *use : uses[value]) {
      // What follows from it is made anew with all of it; a loop would make it
      // again and again.
      Operation *user = use->getOwner();
      if (ways.contains(user) || user->getBlock() != value.getParentBlock())
        continue;
      IRMapping copies;
      OpBuilder builder(user);
      for (Operation *op : ways[value.getDefiningOp()])
        builder.clone(*op, copies);
      use->set(copies.lookup(value));
    }
  for (auto &[op, way] : llvm::reverse(ways))
    if (op->use_empty())
      op->erase();
}

void propagation::splitSharedSources(func::FuncOp function) {
  splitSharedConstants(function);
  SmallVector<Value> sources;
  for (Operation *op : collectOps(function))
    if (op->getNumResults() == 1 && op->getNumRegions() == 0 &&
        isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
        rankOf(op->getResult(0).getType()) != 0 && !op->use_empty() &&
        !op->getResult(0).hasOneUse() &&
        llvm::all_of(op->getOperandTypes(),
                     [](Type type) { return rankOf(type) == 0; }))
      sources.push_back(op->getResult(0));
  UsesOfValues uses = usesInOrder(function, sources);
  for (Value source : sources) {
    Operation *op = source.getDefiningOp();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (OpOperand *use : llvm::drop_begin(uses[source]))
      use->set(builder.clone(*op)->getResult(0));
  }
}

namespace {

class Projector {
public:
  Projector(func::FuncOp function, spmd::MeshOp mesh) : p(function, mesh) {
    p.problem.cost = costOn(mesh);
  }
  LogicalResult run();
  Projection p;

private:
  LogicalResult addTensor(Value value, Location loc);
  LogicalResult annotate(int64_t tensor, ShardingAttr sharding, Location loc,
                         const Twine &origin, bool mayBePartial,
                         llvm::function_ref<Boundaries(unsigned)> late = {});
  LogicalResult annotateAligned();
  LogicalResult addOp(Operation *op);
  LogicalResult addManual(spmd::ManualOp op);
  void addManualEdge(spmd::ManualOp op, ShardingAttr boundary, int64_t from,
                     int64_t to);
  LogicalResult annotateBoundary(spmd::ManualOp op, ShardingAttr boundary,
                                 int64_t tensor, const Twine &where);
  void lock(int64_t tensor, StringAttr axis);
  void addEdge(Value from, int64_t to, Flow flow = Flow::Both);
  LogicalResult joinGroup(spmd::ConstrainOp op);

  /// What the members of a sharding group are.
  DenseMap<int64_t, int64_t> tensorOfGroup;
  /// Constraints of arguments whose sizes are left open: they ask for the
  /// shards of the first of those that ops combine.
  SmallVector<spmd::ConstrainOp> aligned;
};

} // namespace

LogicalResult Projector::addTensor(Value value, Location loc) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  if (!type.hasStaticShape())
    return emitUnsupported(loc)
           << type << " has a dynamic shape; propagation needs static ones";
  int64_t tensor = p.tensorOf[value] =
      p.problem.addTensor(type.getShape(), elementBytes(type.getElementType()));
  for (StringAttr axis : spmd::getManualAxes(value.getParentRegion()))
    lock(tensor, axis);
  return success();
}

/// Keeps `axis` from cutting a tensor.
void Projector::lock(int64_t tensor, StringAttr axis) {
  int64_t number = p.mesh.getAxisIndex(axis);
  SmallVector<int64_t, 2> &locked = p.problem.tensors[tensor].locked;
  if (p.mesh.getAxisSize(axis) > 1 && !llvm::is_contained(locked, number))
    locked.push_back(number);
}

LogicalResult
Projector::annotate(int64_t tensor, ShardingAttr sharding, Location loc,
                    const Twine &origin, bool mayBePartial,
                    llvm::function_ref<Boundaries(unsigned)> late) {
  if (sharding.getMesh() != p.meshName)
    return emitError(loc) << "sharding is over mesh " << sharding.getMesh()
                          << ", expected " << p.meshName;
  int64_t originNumber = p.problem.addOrigin(origin.str());
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    if (dim.getZigzag())
      return emitError(loc)
             << "sharding has dim " << i
             << " in 'order zigzag'; run --spmd-deal-blocks first";
    SmallVector<int64_t> axes;
    for (StringAttr axis : dim.getAxes())
      if (p.mesh.getAxisSize(axis) > 1)
        axes.push_back(p.mesh.getAxisIndex(axis));
    // Sizes that only a binding knows; of values other than arguments they
    // follow from those.
    Formula formula;
    SmallVector<int64_t> sizes;
    if (dim.getSizes())
      llvm::append_range(sizes, dim.getSizes().asArrayRef());
    if (dim.getDynamicSizes() && late) {
      Boundaries bounds = late(i);
      formula = bounds.formula();
      llvm::append_range(sizes, bounds.sizes());
    }
    p.problem.annotate(tensor, i,
                       {axes, sizes, dim.getOpen(),
                        std::max<int64_t>(0, dim.getPriority()), originNumber,
                        formula});
  }
  for (StringAttr axis : sharding.getReplicated())
    lock(tensor, axis);
  for (spmd::PartialAxisAttr partial : sharding.getPartial()) {
    if (p.mesh.getAxisSize(partial.getAxis()) <= 1)
      continue;
    // Values that are made here are combined where they are made.
    if (!mayBePartial)
      continue;
    p.problem.tensors[tensor].locked.push_back(
        p.mesh.getAxisIndex(partial.getAxis()));
    p.partial[tensor].push_back(partial);
  }
  return success();
}

Boundaries propagation::givenBoundaries(spmd::MeshAttr mesh, int64_t argument,
                                        int64_t dim, int64_t size,
                                        spmd::DimShardingAttr cut) {
  return cut.getBoundaries(mesh, size)
      .with(Formula::given(argument, dim, size,
                           mesh.getSymbolicAxes().empty()
                               ? std::vector<int64_t>()
                               : cut.countShards(mesh).factors()));
}

void Projector::addEdge(Value from, int64_t to, Flow flow) {
  auto found = p.tensorOf.find(from);
  if (found == p.tensorOf.end() || found->second == to ||
      p.problem.tensors[to].dims.empty())
    return;
  p.problem.addEdge(found->second, to, flow);
}

/// Lets the result of `op` be the one tensor of its group.
LogicalResult Projector::joinGroup(spmd::ConstrainOp op) {
  IntegerAttr group = spmd::contract::Group::get(op);
  if (!group)
    return success();
  int64_t &tensor = p.tensorOf[op.getResult()];
  auto [known, isNew] = tensorOfGroup.try_emplace(group.getInt(), tensor);
  if (isNew)
    return success();
  if (p.problem.tensors[known->second].shape != p.problem.tensors[tensor].shape)
    return op.emitError("sharding group ")
           << group.getInt() << " has values of different shapes, here "
           << op.getType() << "; values of one group are cut alike";
  llvm::append_range(p.problem.tensors[known->second].locked,
                     p.problem.tensors[tensor].locked);
  tensor = known->second;
  return success();
}

/// The function argument as a user knows it: `argument 0 "x"`.
static std::string describeArgument(func::FuncOp function, unsigned number) {
  std::string text = "argument " + std::to_string(number);
  if (StringAttr name = spmd::contract::Name::ofArgument(function, number))
    text += " \"" + name.str() + '"';
  return text;
}

/// Ties a value outside a manual region to the one inside that it becomes, or
/// the other way round: in dims that no manual axis cuts.
void Projector::addManualEdge(spmd::ManualOp op, ShardingAttr boundary,
                              int64_t from, int64_t to) {
  if (boundary.getDims().empty())
    return;
  OpNode &edge = p.problem.ops.emplace_back();
  TensorRule outer, inner;
  for (auto [dim, before, after] :
       llvm::zip(boundary.getDims(), p.problem.tensors[from].shape,
                 p.problem.tensors[to].shape)) {
    bool isCut = op.hasManualAxes(dim);
    int64_t factor = edge.rule.addFactor(
        before, isCut ? FactorKind::NeedReplication : FactorKind::PassThrough);
    outer.dims.push_back(IndexMap::identity(factor));
    inner.dims.push_back(IndexMap::identity(
        isCut ? edge.rule.addFactor(after, FactorKind::NeedReplication)
              : factor));
  }
  edge.rule.operands = {outer};
  edge.rule.results = {inner};
  edge.operands = {from};
  edge.results = {to};
  edge.isEdge = true;
}

/// Lays a tensor out as the region says: for good in dims with manual axes.
LogicalResult Projector::annotateBoundary(spmd::ManualOp op,
                                          ShardingAttr boundary, int64_t tensor,
                                          const Twine &where) {
  if (failed(annotate(tensor, boundary, op.getLoc(), where, false)))
    return failure();
  for (auto [dim, state] :
       llvm::zip(boundary.getDims(), p.problem.tensors[tensor].dims))
    if (op.hasManualAxes(dim)) {
      state.open = false;
      state.pinned = true;
    }
  for (auto axis : op.getManualAxes().getAsRange<StringAttr>())
    lock(tensor, axis);
  return success();
}

/// Inside, the free axes are spread as anywhere else. Outside, dims with manual
/// axes are cut as the region says.
LogicalResult Projector::addManual(spmd::ManualOp op) {
  std::string where = "the manual region at " + userLocation(op.getLoc());
  Block &body = op.getBody().front();
  for (auto [operand, argument, attr] :
       llvm::zip(op.getInputs(), body.getArguments(), op.getInShardings())) {
    auto boundary = cast<ShardingAttr>(attr);
    int64_t inside = p.tensorOf.lookup(argument);
    if (failed(annotate(inside, op.getBodySharding(boundary), op.getLoc(),
                        where, false)))
      return failure();
    // Blocks side by side are numbers: what they are cut into is no formula.
    if (!p.problem.openBoundaries.empty())
      for (auto [dim, state] :
           llvm::zip(boundary.getDims(), p.problem.tensors[inside].dims))
        if (op.hasManualAxes(dim)) {
          state.open = false;
          state.pinned = true;
        }
    // The operand as it arrives: who makes it is asked to make it so.
    int64_t arriving = p.problem.addTensor(
        cast<RankedTensorType>(operand.getType()).getShape(),
        p.problem.tensors[inside].elementBytes);
    if (failed(annotateBoundary(op, boundary, arriving, where)))
      return failure();
    for (StringAttr axis : spmd::getManualAxes(op->getParentRegion()))
      lock(arriving, axis);
    addEdge(operand, arriving);
    addManualEdge(op, boundary, arriving, inside);
  }
  for (auto [value, result, attr] :
       llvm::zip(body.getTerminator()->getOperands(), op.getResults(),
                 op.getOutShardings())) {
    auto boundary = cast<ShardingAttr>(attr);
    int64_t tensor = p.tensorOf.lookup(result);
    if (failed(annotateBoundary(op, boundary, tensor, where)))
      return failure();
    addManualEdge(op, boundary, p.tensorOf.lookup(value), tensor);
  }
  return success();
}

LogicalResult Projector::addOp(Operation *op) {
  if (auto manual = dyn_cast<spmd::ManualOp>(op))
    return addManual(manual);
  if (auto flow = op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt) {
    for (auto [from, to] : flow->edges)
      if (auto result = dyn_cast<OpResult>(to))
        if (auto found = p.tensorOf.find(result); found != p.tensorOf.end())
          addEdge(from, found->second);
    return success();
  }
  if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
    for (auto [value, tensor] :
         llvm::zip(returnOp.getOperands(), p.resultTensors))
      if (tensor >= 0)
        addEdge(value, tensor);
    return success();
  }
  if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op)) {
    int64_t tensor = p.tensorOf.lookup(op->getResult(0));
    auto constrain = dyn_cast<spmd::ConstrainOp>(op);
    ShardingAttr sharding = constrain ? constrain.getSharding()
                                      : cast<spmd::ReshardOp>(op).getTarget();
    // Of the members of a group, those that know nothing have nothing to say.
    bool isSilent =
        spmd::contract::Group::has(op) &&
        llvm::all_of(sharding.getDims(), [](spmd::DimShardingAttr dim) {
          return dim.getOpen() && dim.getAxes().empty();
        });
    bool isAligned =
        constrain &&
        llvm::is_contained(p.function.getArguments(), op->getOperand(0)) &&
        llvm::any_of(sharding.getDims(), [](spmd::DimShardingAttr dim) {
          return dim.getDynamicSizes();
        });
    if (isAligned)
      aligned.push_back(constrain);
    else if (!isSilent &&
             failed(annotate(tensor, sharding, op->getLoc(),
                             "the constraint at " + userLocation(op->getLoc()),
                             false)))
      return failure();
    spmd::FlowDirectionAttr direction = spmd::contract::Direction::get(op);
    if (!direction)
      addEdge(op->getOperand(0), tensor);
    else if (direction.getValue() != spmd::FlowDirection::None)
      addEdge(op->getOperand(0), tensor,
              direction.getValue() == spmd::FlowDirection::Forward
                  ? Flow::Forward
                  : Flow::Backward);
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  FailureOr<std::optional<ShardingRule>> rule = getRule(op);
  if (failed(rule))
    return failure();
  if (!*rule)
    return success();
  p.nodeOf[op] = p.problem.ops.size();
  OpNode &node = p.problem.ops.emplace_back();
  node.rule = std::move(**rule);
  auto numberOf = [&](Value value) {
    auto found = p.tensorOf.find(value);
    return found == p.tensorOf.end() ? int64_t(-1) : found->second;
  };
  for (Value operand : op->getOperands())
    node.operands.push_back(numberOf(operand));
  for (Value result : op->getResults())
    node.results.push_back(numberOf(result));
  node.hasSingleUse = llvm::all_of(
      op->getResults(), [](Value result) { return result.hasOneUse(); });
  return success();
}

LogicalResult Projector::run() {
  func::FuncOp function = p.function;
  p.ops = collectOps(function);
  size_t tensors = function.getNumArguments() + function.getNumResults();
  for (Operation *op : p.ops)
    tensors += op->getNumResults();
  p.problem.tensors.reserve(tensors);
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (failed(addTensor(argument, argument.getLoc())))
      return failure();
    auto sharding = function.getArgAttrOfType<ShardingAttr>(
        number, spmd::kShardingAttrName);
    if (sharding && p.tensorOf.contains(argument) &&
        failed(annotate(
            p.tensorOf[argument], sharding, argument.getLoc(),
            describeArgument(function, number), true, [&](unsigned dim) {
              return givenBoundaries(
                  p.mesh, number, dim,
                  cast<ShapedType>(argument.getType()).getDimSize(dim),
                  sharding.getDims()[dim]);
            })))
      return failure();
    if (sharding && p.tensorOf.contains(argument))
      for (DimState &dim : p.problem.tensors[p.tensorOf[argument]].dims)
        dim.pinned = !dim.axes.empty();
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    p.resultTensors.push_back(-1);
    if (!tensor || !tensor.hasStaticShape())
      continue;
    p.resultTensors.back() = p.problem.addTensor(
        tensor.getShape(), elementBytes(tensor.getElementType()));
    auto sharding =
        function.getResultAttrOfType<ShardingAttr>(i, spmd::kShardingAttrName);
    if (sharding &&
        failed(annotate(p.resultTensors.back(), sharding, function.getLoc(),
                        "result " + Twine(i), false)))
      return failure();
    // Along these every rank has a part of all elements, or all of it.
    if (sharding)
      for (spmd::PartialAxisAttr partial : sharding.getPartial())
        lock(p.resultTensors.back(), partial.getAxis());
  }

  for (Operation *op : p.ops) {
    for (Value result : op->getResults())
      if (failed(addTensor(result, op->getLoc())))
        return failure();
    if (auto constrain = dyn_cast<spmd::ConstrainOp>(op);
        constrain && failed(joinGroup(constrain)))
      return failure();
    if (auto manual = dyn_cast<spmd::ManualOp>(op))
      for (BlockArgument argument : manual.getBody().getArguments())
        if (failed(addTensor(argument, op->getLoc())))
          return failure();
    auto flow = op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt;
    if (!flow || !flow->isLoop)
      continue;
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (argument.getArgNumber() < op->getNumResults())
          if (auto found =
                  p.tensorOf.find(op->getResult(argument.getArgNumber()));
              found != p.tensorOf.end())
            p.tensorOf[argument] = found->second;
  }
  // Nodes are large; edges come on top.
  p.problem.ops.reserve(p.ops.size() + p.resultTensors.size());
  for (Operation *op : p.ops)
    if (failed(addOp(op)))
      return failure();
  return annotateAligned();
}

LogicalResult Projector::annotateAligned() {
  if (aligned.empty())
    return success();
  llvm::sort(aligned, [](spmd::ConstrainOp a, spmd::ConstrainOp b) {
    return cast<BlockArgument>(a.getInput()).getArgNumber() <
           cast<BlockArgument>(b.getInput()).getArgNumber();
  });
  AlignedDims dims(p.problem);
  for (Operation *op : p.ops)
    if (auto deal = dyn_cast<spmd::DealOp>(op))
      if (std::optional<Boundaries> shards = getOrder(deal).getShards();
          shards && shards->formula().isOpen())
        dims.prefer(p.tensorOf.lookup(deal.getResult()), deal.getDim(),
                    *shards);
  for (spmd::ConstrainOp op : aligned) {
    int64_t number = cast<BlockArgument>(op.getInput()).getArgNumber();
    int64_t tensor = p.tensorOf.lookup(op.getResult());
    auto boundariesOf = [&](unsigned dim) {
      spmd::DimShardingAttr cut = op.getSharding().getDims()[dim];
      std::vector<StringRef> axes;
      for (StringAttr axis : cut.getAxes())
        axes.push_back(axis.getValue());
      int64_t size = op.getType().getDimSize(dim);
      return dims.lie(tensor, dim, axes,
                      givenBoundaries(p.mesh, number, dim, size, cut));
    };
    if (failed(annotate(tensor, op.getSharding(), op.getLoc(),
                        "the constraint at " + userLocation(op.getLoc()), false,
                        boundariesOf)))
      return failure();
  }
  return success();
}

FailureOr<Projection> propagation::project(func::FuncOp function,
                                           spmd::MeshOp mesh) {
  Projector projector(function, mesh);
  if (failed(projector.run()))
    return failure();
  return std::move(projector.p);
}
