//===- ConvertSdy.cpp - Shardy's annotations to those of spmd -------------===//
#include "MeshAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/BoundaryAttributes.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_CONVERTSDYPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {

class Converter {
public:
  Converter(ModuleOp module, bool deviceOrder)
      : deviceOrder(deviceOrder), module(module), context(module.getContext()),
        main(module.lookupSymbol<func::FuncOp>("main")) {}
  LogicalResult run();

private:
  LogicalResult uniteMeshes();
  LogicalResult addMesh(Attribute name, sdy::MeshAttr mesh, Location loc);
  LogicalResult forEachSharding(
      llvm::function_ref<LogicalResult(sdy::TensorShardingAttr, Location)>
          visit);
  /// Puts the one mesh in the place of all others; null: one without axes.
  LogicalResult createMesh(spmd::MeshAttr attr);
  /// The mesh that `on`, a mesh or its symbol, is; null if it has no axes.
  sdy::MeshAttr meshOf(Attribute on) const;
  /// Null for a sharding that says nothing: on a mesh without axes.
  spmd::ShardingAttr convert(sdy::TensorShardingAttr sharding) const;
  spmd::ShardingAttr onMesh(spmd::ShardingAttr sharding) const;
  /// `sharding` with the orders that `attrs` ask for (`spmd.order =
  /// "2=zigzag"`, or the same as a frontend attribute); an error at `loc` for
  /// what is no order, or one of a dim that is not cut.
  spmd::ShardingAttr withOrder(spmd::ShardingAttr sharding,
                               DictionaryAttr attrs, Location loc);
  void convertSignature();
  void convertOps();
  void convertManual(sdy::ManualComputationOp op);
  void convertTie(Operation *op);
  void keepUnreadTies();
  void convertDevices(Operation *op);
  /// Places arguments on the devices that their meshes name, and results
  /// leave there.
  void placeBorders();
  /// `value`, laid out as `sharding`, with the shard of rank `pairs[i].first`
  /// at rank `pairs[i].second`.
  Value moveShards(OpBuilder &builder, Location loc, Value value,
                   spmd::ShardingAttr sharding,
                   ArrayRef<std::pair<int64_t, int64_t>> pairs) const;
  spmd::ShardingAttr convertBoundary(sdy::TensorShardingAttr sharding,
                                     RankedTensorType type,
                                     RankedTensorType inner) const;
  void dropAttributes();

  bool deviceOrder;
  ModuleOp module;
  MLIRContext *context;
  func::FuncOp main;
  MeshAxes meshes;
  StringAttr meshName; ///< of the first mesh with axes
  Location meshLoc = UnknownLoc::get(context);
  spmd::MeshOp ownMesh;   ///< an spmd.mesh of the input
  spmd::MeshAttr refined; ///< the one mesh; null if there is none with axes
  bool hasErrors = false;
  /// What the devices of a manual region are numbered by.
  DenseMap<Operation *, sdy::MeshAttr> meshOfRegion;
};

} // namespace

static sdy::AxisRefAttr axisOf(stablehlo::AxisRefAttr axis) {
  sdy::SubAxisInfoAttr part;
  if (stablehlo::SubAxisInfoAttr given = axis.getSubAxisInfo())
    part = sdy::SubAxisInfoAttr::get(axis.getContext(), given.getPreSize(),
                                     given.getSize());
  return sdy::AxisRefAttr::get(axis.getContext(), axis.getName(), part);
}

/// The mesh that is in an attribute of a collective.
static sdy::MeshAttr meshHere(stablehlo::MeshAttr on) {
  SmallVector<sdy::MeshAxisAttr> axes;
  for (stablehlo::MeshAxisAttr axis : on.getAxes())
    axes.push_back(sdy::MeshAxisAttr::get(on.getContext(), axis.getName(),
                                          axis.getSize()));
  SmallVector<int64_t> ids;
  if (on.getDeviceIds())
    for (const APInt &id : on.getDeviceIds())
      ids.push_back(id.getSExtValue());
  return sdy::MeshAttr::get(on.getContext(), axes, ids);
}

sdy::MeshAttr Converter::meshOf(Attribute on) const {
  auto mesh = dyn_cast_or_null<sdy::MeshAttr>(on);
  if (auto here = dyn_cast_or_null<stablehlo::MeshAttr>(on))
    mesh = meshHere(here);
  if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(on))
    if (auto op = ModuleOp(module).lookupSymbol<sdy::MeshOp>(name.getAttr()))
      mesh = op.getMesh();
  return mesh && !mesh.getAxes().empty() ? mesh : sdy::MeshAttr();
}

LogicalResult Converter::addMesh(Attribute name, sdy::MeshAttr mesh,
                                 Location loc) {
  sdy::MeshAttr first = meshes.getFirst();
  if (!meshName)
    meshName = dyn_cast_or_null<StringAttr>(name);
  if (!first)
    meshLoc = loc;
  if (meshes.add(mesh))
    return success();
  InFlightDiagnostic diag =
      emitUnsupported(loc)
      << "mesh " << mesh
      << " differs from another of this module; a program runs on one mesh";
  diag.attachNote(meshLoc) << "the other is " << first;
  return diag;
}

LogicalResult Converter::forEachSharding(
    llvm::function_ref<LogicalResult(sdy::TensorShardingAttr, Location)>
        visit) {
  auto visitAll = [&](Attribute attr, Location loc) {
    bool failedOnce = false;
    if (attr)
      attr.walk([&](sdy::TensorShardingAttr sharding) {
        failedOnce |= failed(visit(sharding, loc));
        return failedOnce ? WalkResult::interrupt() : WalkResult::advance();
      });
    return failure(failedOnce);
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (failed(visitAll(main.getArgAttr(i, sdy::kShardingAttr),
                        main.getArgument(i).getLoc())))
      return failure();
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (failed(
            visitAll(main.getResultAttr(i, sdy::kShardingAttr), main.getLoc())))
      return failure();
  WalkResult result = main.walk([&](Operation *op) {
    if (op == main)
      return WalkResult::advance();
    for (NamedAttribute attr : op->getAttrs())
      if (failed(visitAll(attr.getValue(), op->getLoc())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Converter::uniteMeshes() {
  // Those that are named at all, in the module's order, then those inlined.
  llvm::SetVector<Attribute> used;
  auto note = [&](sdy::TensorShardingAttr sharding, Location) {
    used.insert(sharding.getMeshOrRef());
    return success();
  };
  (void)forEachSharding(note);
  SmallVector<std::pair<stablehlo::ReplicaGroupMeshAxesAttr, Location>>
      groupsByAxes;
  main.walk([&](Operation *op) {
    if (auto groups = op->getAttrOfType<stablehlo::ReplicaGroupMeshAxesAttr>(
            "replica_groups")) {
      used.insert(groups.getMesh());
      groupsByAxes.push_back({groups, op->getLoc()});
    }
  });
  bool usesAny =
      llvm::any_of(used, [&](Attribute on) { return bool(meshOf(on)); });
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!op.getMesh().getAxes().empty() &&
        (usesAny ? used.contains(FlatSymbolRefAttr::get(op))
                 : !meshes.getFirst()) &&
        failed(addMesh(op.getSymNameAttr(), op.getMesh(), op.getLoc())))
      return failure();
  if (failed(forEachSharding(
          [&](sdy::TensorShardingAttr sharding, Location loc) -> LogicalResult {
            sdy::MeshAttr mesh = meshOf(sharding.getMeshOrRef());
            if (!mesh)
              return success();
            if (isa<sdy::MeshAttr>(sharding.getMeshOrRef()) &&
                failed(addMesh({}, mesh, loc)))
              return failure();
            for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
              for (sdy::AxisRefAttr axis : dim.getAxes())
                meshes.use(mesh, axis);
            for (sdy::AxisRefAttr axis : llvm::concat<const sdy::AxisRefAttr>(
                     sharding.getReplicatedAxes(), sharding.getUnreducedAxes()))
              meshes.use(mesh, axis);
            return success();
          })))
    return failure();
  for (auto [groups, loc] : groupsByAxes) {
    sdy::MeshAttr mesh = meshOf(groups.getMesh());
    if (!mesh)
      continue;
    if (isa<stablehlo::MeshAttr>(groups.getMesh()) &&
        failed(addMesh({}, mesh, loc)))
      return failure();
    for (auto axis : groups.getAxes().getAsRange<stablehlo::AxisRefAttr>())
      if (mesh.getAxis(axis.getName()))
        meshes.use(mesh, axisOf(axis));
  }
  for (auto op : module.getOps<spmd::MeshOp>()) {
    if (ownMesh && ownMesh.getMesh() != op.getMesh()) {
      InFlightDiagnostic diag =
          emitUnsupported(op, "mesh @")
          << op.getSymName()
          << " differs from another of this module; a program runs on one mesh";
      diag.attachNote(ownMesh.getLoc())
          << "the other is @" << ownMesh.getSymName();
      return diag;
    }
    if (!ownMesh)
      ownMesh = op;
  }
  return success();
}

LogicalResult Converter::createMesh(spmd::MeshAttr attr) {
  if (ownMesh) {
    if (attr && attr != ownMesh.getMesh()) {
      InFlightDiagnostic diag =
          emitUnsupported(ownMesh, "mesh @")
          << ownMesh.getSymName()
          << " differs from another of this module; a program runs on one mesh";
      diag.attachNote(meshLoc) << "the other is " << meshes.getFirst();
      return diag;
    }
    attr = ownMesh.getMesh();
    meshLoc = ownMesh.getLoc();
  }
  for (Operation &op : llvm::make_early_inc_range(module.getOps()))
    if (isa<sdy::MeshOp, spmd::MeshOp>(op))
      op.erase();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  spmd::MeshOp::create(builder, meshLoc, meshName,
                       attr ? attr : spmd::MeshAttr::get(context, {}, {}));
  return success();
}

static spmd::ReductionKind convertKind(sdy::ReductionKind kind) {
  switch (kind) {
  case sdy::ReductionKind::Sum:
    return spmd::ReductionKind::Sum;
  case sdy::ReductionKind::Max:
    return spmd::ReductionKind::Max;
  case sdy::ReductionKind::Min:
    return spmd::ReductionKind::Min;
  }
  llvm_unreachable("all kinds are listed");
}

spmd::ShardingAttr Converter::convert(sdy::TensorShardingAttr sharding) const {
  // On the maximal or the empty mesh nothing is cut, and nothing asked for.
  sdy::MeshAttr mesh = meshOf(sharding.getMeshOrRef());
  if (!mesh)
    return {};
  SmallVector<spmd::DimShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    SmallVector<StringAttr> axes;
    for (sdy::AxisRefAttr axis : dim.getAxes())
      meshes.expand(mesh, axis, axes);
    dims.push_back(spmd::DimShardingAttr::get(
        context, axes, {}, /*dynamicSizes=*/false,
        /*open=*/!dim.getIsClosed(), dim.getPriority().value_or(-1)));
  }
  SmallVector<StringAttr> replicated, unreduced;
  for (sdy::AxisRefAttr axis : sharding.getReplicatedAxes())
    meshes.expand(mesh, axis, replicated);
  for (sdy::AxisRefAttr axis : sharding.getUnreducedAxes())
    meshes.expand(mesh, axis, unreduced);
  SmallVector<spmd::PartialAxisAttr> partial;
  for (StringAttr axis : unreduced)
    partial.push_back(spmd::PartialAxisAttr::get(
        context, axis, convertKind(sharding.getUnreducedKind())));
  return spmd::ShardingAttr::get(context, FlatSymbolRefAttr::get(meshName),
                                 dims, replicated, partial);
}

/// The same sharding on the one mesh there is.
spmd::ShardingAttr Converter::onMesh(spmd::ShardingAttr sharding) const {
  return spmd::ShardingAttr::get(context, FlatSymbolRefAttr::get(meshName),
                                 sharding.getDims(), sharding.getReplicated(),
                                 sharding.getPartial());
}

/// What Shardy's text cannot say: that the blocks of a dim are in zigzag order.
static constexpr StringLiteral kOrderAttr = spmd::contract::Order::name();

spmd::ShardingAttr Converter::withOrder(spmd::ShardingAttr sharding,
                                        DictionaryAttr attrs, Location loc) {
  StringAttr text = spmd::contract::Order::in(attrs);
  if (auto frontend =
          attrs ? attrs.getAs<DictionaryAttr>("mhlo.frontend_attributes")
                : DictionaryAttr();
      frontend && !text)
    text = frontend.getAs<StringAttr>(kOrderAttr);
  if (!text)
    return sharding;
  auto refuse = [&](const Twine &why) {
    hasErrors = true;
    emitError(loc) << "'" << kOrderAttr << "' is \"" << text.getValue()
                   << "\", " << why;
    return sharding;
  };
  SmallVector<spmd::DimShardingAttr> dims;
  if (sharding)
    llvm::append_range(dims, sharding.getDims());
  SmallVector<StringRef> entries;
  text.getValue().split(entries, ',');
  for (StringRef entry : entries) {
    auto [number, order] = entry.trim().split('=');
    size_t dim;
    if (number.trim().getAsInteger(10, dim) || order.trim() != "zigzag")
      return refuse("expected DIM=zigzag, such as \"2=zigzag\"");
    if (dim >= dims.size() || dims[dim].getAxes().empty())
      return refuse("but dim " + Twine(dim) +
                    " is not cut there; an order is one of blocks");
    dims[dim] = spmd::DimShardingAttr::get(
        context, dims[dim].getAxes(), dims[dim].getSizes(),
        dims[dim].getDynamicSizes(), dims[dim].getOpen(),
        dims[dim].getPriority(), /*zigzag=*/true);
  }
  return spmd::ShardingAttr::get(context, sharding.getMesh(), dims,
                                 sharding.getReplicated(),
                                 sharding.getPartial());
}

void Converter::convertSignature() {
  auto pick = [&](Attribute own, Attribute foreign) -> spmd::ShardingAttr {
    if (auto sharding = dyn_cast_or_null<spmd::ShardingAttr>(own))
      return onMesh(sharding);
    if (auto sharding = dyn_cast_or_null<sdy::TensorShardingAttr>(foreign))
      return convert(sharding);
    return {};
  };
  BoundaryAttributes boundary(main);
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    NamedAttrList &attributes = boundary.ofArgument(i);
    auto asked = pick(main.getArgAttr(i, spmd::kShardingAttrName),
                      main.getArgAttr(i, sdy::kShardingAttr));
    if (auto sharding = withOrder(asked, main.getArgAttrDict(i),
                                  main.getArgument(i).getLoc()))
      attributes.set(spmd::kShardingAttrName, sharding);
    attributes.erase(spmd::contract::Order::name());
    // What JAX says of donated arguments.
    if (auto result =
            main.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      attributes.set(spmd::contract::Donated::name(),
                     OpBuilder(context).getI64IntegerAttr(result.getInt()));
    else if (auto flag = main.getArgAttrOfType<BoolAttr>(i, "jax.buffer_donor");
             flag && flag.getValue())
      attributes.set(spmd::contract::Donated::name(),
                     OpBuilder(context).getI64IntegerAttr(-1));
    if (auto memory = main.getArgAttrOfType<StringAttr>(i, "mhlo.memory_kind"))
      attributes.set(spmd::contract::MemoryKind::name(), memory);
    if (auto name = dyn_cast<NameLoc>(main.getArgument(i).getLoc());
        name && !spmd::contract::Name::ofArgument(main, i))
      attributes.set(spmd::contract::Name::name(), name.getName());
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    NamedAttrList &attributes = boundary.ofResult(i);
    auto asked = pick(main.getResultAttr(i, spmd::kShardingAttrName),
                      main.getResultAttr(i, sdy::kShardingAttr));
    if (auto sharding =
            withOrder(asked, main.getResultAttrDict(i), main.getLoc()))
      attributes.set(spmd::kShardingAttrName, sharding);
    if (auto memory =
            main.getResultAttrOfType<StringAttr>(i, "mhlo.memory_kind"))
      attributes.set(spmd::contract::MemoryKind::name(), memory);
    attributes.erase(spmd::contract::Order::name());
    if (auto name = main.getResultAttrOfType<StringAttr>(i, "jax.result_info");
        name && !spmd::contract::Name::ofResult(main, i))
      attributes.set(spmd::contract::Name::name(), name);
  }
  boundary.write();
}

/// The sharding that `value` was given where it comes from; null if none.
static spmd::ShardingAttr annotationOf(Value value) {
  if (auto constrain = value.getDefiningOp<spmd::ConstrainOp>())
    return constrain.getSharding();
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function ? function.getArgAttrOfType<spmd::ShardingAttr>(
                        argument.getArgNumber(), spmd::kShardingAttrName)
                  : spmd::ShardingAttr();
}

/// `value` with `sharding` asked for; itself where that says nothing new. What
/// is asked to stay unreduced is summed where it is made.
static Value constrain(OpBuilder &builder, Location loc, Value value,
                       spmd::ShardingAttr sharding) {
  if (sharding && !sharding.getPartial().empty()) {
    // Whoever reads it may be given its own part of the sum: its dims are open.
    SmallVector<spmd::DimShardingAttr> dims;
    for (spmd::DimShardingAttr dim : sharding.getDims())
      dims.push_back(
          spmd::DimShardingAttr::get(sharding.getContext(), dim.getAxes(),
                                     dim.getSizes(), dim.getDynamicSizes(),
                                     /*open=*/true, dim.getPriority()));
    sharding = spmd::ShardingAttr::get(sharding.getContext(),
                                       sharding.getMesh(), dims, {}, {});
  }
  if (!sharding || cast<RankedTensorType>(value.getType()).getRank() == 0 ||
      annotationOf(value) == sharding)
    return value;
  return spmd::ConstrainOp::create(builder, loc, value.getType(), value,
                                   sharding);
}

/// A sharding at the edge of a manual region, with sizes where a block is cut
/// unevenly over free axes: all blocks alike. A sharding that says nothing
/// leaves all open.
spmd::ShardingAttr Converter::convertBoundary(sdy::TensorShardingAttr sharding,
                                              RankedTensorType type,
                                              RankedTensorType inner) const {
  auto on = FlatSymbolRefAttr::get(meshName);
  spmd::ShardingAttr converted = convert(sharding);
  if (!converted)
    return spmd::ShardingAttr::getReplicated(on, type.getRank());
  sdy::MeshAttr mesh = meshOf(sharding.getMeshOrRef());
  SmallVector<spmd::DimShardingAttr> dims(converted.getDims());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t shards = 1;
    for (sdy::AxisRefAttr axis : sharding.getDimShardings()[i].getAxes())
      shards *= axis.getSize(mesh);
    int64_t block = inner.getDimSize(i),
            blocks = block == 0 ? 1 : type.getDimSize(i) / block;
    if (blocks <= 1 || type.getDimSize(i) % shards == 0)
      continue;
    SmallVector<int64_t> sizes;
    for (int64_t k = 0; k < blocks; ++k)
      llvm::append_range(sizes,
                         Boundaries::balanced(block, shards / blocks).sizes());
    dim = spmd::DimShardingAttr::get(
        context, dim.getAxes(), DenseI64ArrayAttr::get(context, sizes),
        /*dynamicSizes=*/false, dim.getOpen(), dim.getPriority());
  }
  return spmd::ShardingAttr::get(context, on, dims, converted.getReplicated(),
                                 converted.getPartial());
}

void Converter::convertManual(sdy::ManualComputationOp op) {
  OpBuilder builder(op);
  Block &body = op.getBody().front();
  SmallVector<Attribute> in, out;
  SmallVector<StringAttr> axes;
  for (auto [sharding, outer, inner] :
       llvm::zip(op.getInShardings().getShardings(), op.getTensors().getTypes(),
                 body.getArgumentTypes()))
    in.push_back(convertBoundary(sharding, cast<RankedTensorType>(outer),
                                 cast<RankedTensorType>(inner)));
  for (auto [sharding, outer, inner] :
       llvm::zip(op.getOutShardings().getShardings(), op.getResultTypes(),
                 body.getTerminator()->getOperandTypes()))
    out.push_back(convertBoundary(sharding, cast<RankedTensorType>(outer),
                                  cast<RankedTensorType>(inner)));
  sdy::MeshAttr mesh;
  for (sdy::TensorShardingAttr sharding :
       llvm::concat<const sdy::TensorShardingAttr>(
           op.getInShardings().getShardings(),
           op.getOutShardings().getShardings()))
    if (!mesh)
      mesh = meshOf(sharding.getMeshOrRef());
  if (!mesh)
    mesh = meshes.getFirst();
  if (mesh)
    for (StringAttr axis : op.getManualAxes().getAxes())
      if (mesh.getAxis(axis.getValue()))
        meshes.expand(mesh, sdy::AxisRefAttr::get(context, axis.getValue(), {}),
                      axes);
  auto manual = spmd::ManualOp::create(
      builder, op.getLoc(), op.getResultTypes(), op.getTensors(),
      builder.getArrayAttr(in), builder.getArrayAttr(out),
      builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())));
  meshOfRegion[manual] = mesh;
  manual.getBody().takeBody(op.getBody());
  Operation *terminator = manual.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  spmd::ReturnOp::create(builder, terminator->getLoc(),
                         terminator->getOperands());
  terminator->erase();
  op.replaceAllUsesWith(manual.getResults());
  op.erase();
}

/// Replica groups as axes of a mesh: the ranks along them, in their order.
static DenseIntElementsAttr
spellGroups(stablehlo::ReplicaGroupMeshAxesAttr groups, const MeshAxes &meshes,
            sdy::MeshAttr on, spmd::MeshAttr mesh) {
  SmallVector<int64_t> axes, others;
  for (auto axis : groups.getAxes().getAsRange<stablehlo::AxisRefAttr>()) {
    SmallVector<StringAttr> names;
    if (on.getAxis(axis.getName()))
      meshes.expand(on, axisOf(axis), names);
    for (StringAttr name : names)
      axes.push_back(mesh.getAxisIndex(name));
  }
  ArrayRef<int64_t> sizes = mesh.getAxisSizes();
  for (int64_t axis = 0; axis < int64_t(sizes.size()); ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  int64_t members = 1;
  for (int64_t axis : axes)
    members *= sizes[axis];
  int64_t rows = mesh.getNumRanks() / members;
  SmallVector<int64_t> table(mesh.getNumRanks());
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    table[coordinateAlong(sizes, others, rank) * members +
          coordinateAlong(sizes, axes, rank)] = rank;
  return DenseIntElementsAttr::get(
      RankedTensorType::get({rows, members},
                            IntegerType::get(mesh.getContext(), 64)),
      ArrayRef<int64_t>(table));
}

/// Ties between shardings: what a group's values are is one tensor to
/// propagation, and a barrier lets shardings through in one direction.
void Converter::convertTie(Operation *op) {
  OpBuilder builder(op);
  Value value = op->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op))
    if (type.getRank() == 0 ||
        barrier.getAllowedDirection() == sdy::PropagationDirection::BOTH ||
        !refined) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      return;
    }
  if (type.getRank() == 0 || !refined) {
    op->erase();
    return;
  }
  auto free =
      spmd::DimShardingAttr::get(context, ArrayRef<StringAttr>(), {},
                                 /*dynamicSizes=*/false, /*open=*/true, -1);
  SmallVector<spmd::DimShardingAttr> dims(type.getRank(), free);
  auto open = spmd::ShardingAttr::get(context, FlatSymbolRefAttr::get(meshName),
                                      dims, {}, {});
  // All uses of a group's value are of the group, earlier ones too.
  bool isHere = value.getParentBlock() == op->getBlock();
  if (isa<sdy::ShardingGroupOp>(op) && isHere)
    builder.setInsertionPointAfterValue(value);
  auto tie =
      spmd::ConstrainOp::create(builder, op->getLoc(), type, value, open);
  if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
    spmd::FlowDirection direction =
        barrier.getAllowedDirection() == sdy::PropagationDirection::FORWARD
            ? spmd::FlowDirection::Forward
        : barrier.getAllowedDirection() == sdy::PropagationDirection::BACKWARD
            ? spmd::FlowDirection::Backward
            : spmd::FlowDirection::None;
    spmd::contract::Direction::set(
        tie, spmd::FlowDirectionAttr::get(context, direction));
    op->getResult(0).replaceAllUsesWith(tie);
  } else {
    spmd::contract::Group::set(tie,
                               cast<sdy::ShardingGroupOp>(op).getGroupIdAttr());
    value.replaceUsesWithIf(tie, [&](OpOperand &use) {
      Operation *user = tie->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && tie->isBeforeInBlock(user) && use.getOwner() != op;
    });
  }
  op->erase();
}

/// Ranks are positions in the mesh; collectives of a program name devices,
/// which `device_ids` may number otherwise.
void Converter::convertDevices(Operation *op) {
  sdy::MeshAttr mesh = meshes.getFirst();
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto found = meshOfRegion.find(parent); found != meshOfRegion.end()) {
      mesh = found->second;
      break;
    }
  ArrayRef<int64_t> devices = mesh ? mesh.getDeviceIds() : ArrayRef<int64_t>();
  if (devices.empty())
    return;
  SmallVector<int64_t> positions(devices.size());
  for (auto [position, device] : llvm::enumerate(devices))
    positions[device] = position;
  for (StringRef name : {"replica_groups", "source_target_pairs"})
    if (auto ranks = op->getAttrOfType<DenseIntElementsAttr>(name))
      op->setAttr(
          name,
          ranks.mapValues(ranks.getElementType(), [&](const APInt &device) {
            int64_t number = device.getSExtValue();
            bool isDevice =
                number >= 0 && number < static_cast<int64_t>(positions.size());
            return isDevice ? APInt(device.getBitWidth(), positions[number])
                            : device;
          }));
  if (!isa<stablehlo::PartitionIdOp>(op))
    return;
  // The device of this position: an entry of a table.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto row = type.clone({static_cast<int64_t>(devices.size())});
  SmallVector<APInt> numbers;
  for (int64_t device : devices)
    numbers.push_back(APInt(type.getElementTypeBitWidth(), device));
  Value table = stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(row, numbers))));
  auto entry =
      stablehlo::DynamicSliceOp::create(builder, loc, type.clone({1}), table,
                                        op->getResult(0), ArrayRef<int64_t>{1});
  Value device = stablehlo::ReshapeOp::create(builder, loc, type, entry);
  op->getResult(0).replaceAllUsesExcept(device, entry);
}

void Converter::convertOps() {
  SmallVector<Operation *> ops;
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // A region's return goes with the region's op.
    if (op != main && !isa<sdy::ReturnOp>(op))
      ops.push_back(op);
  });
  OpBuilder builder(context);
  auto replace = [&](Operation *op, sdy::TensorShardingAttr sharding) {
    builder.setInsertionPoint(op);
    Value value = op->getOperand(0);
    if (sharding)
      value = constrain(builder, op->getLoc(), value,
                        withOrder(convert(sharding),
                                  op->getDiscardableAttrDictionary(),
                                  op->getLoc()));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  };
  for (Operation *op : ops) {
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
      convertManual(manual);
      continue;
    }
    if (isa<stablehlo::ReplicaIdOp>(op)) {
      // One replica, of many partitions.
      builder.setInsertionPoint(op);
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      op->replaceAllUsesWith(stablehlo::ConstantOp::create(
          builder, op->getLoc(),
          cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
              type, APInt(type.getElementTypeBitWidth(), 0))))));
      op->erase();
      continue;
    }
    if (auto groups = op->getAttrOfType<stablehlo::ReplicaGroupMeshAxesAttr>(
            "replica_groups"))
      if (sdy::MeshAttr on = meshOf(groups.getMesh())) {
        op->setAttr("replica_groups", spellGroups(groups, meshes, on, refined));
        continue;
      }
    convertDevices(op);
    if (isa<sdy::ShardingGroupOp, sdy::PropagationBarrierOp>(op)) {
      convertTie(op);
      continue;
    }
    if (auto own = dyn_cast<spmd::ConstrainOp>(op)) {
      own.setShardingAttr(onMesh(own.getSharding()));
      continue;
    }
    if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op)) {
      replace(op, constraint.getSharding());
      continue;
    }
    if (auto reshard = dyn_cast<sdy::ReshardOp>(op)) {
      replace(op, reshard.getSharding());
      continue;
    }
    if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
      replace(op, edge.getSharding().value_or(nullptr));
      continue;
    }
    // Shardy's collectives leave the value as it is and say its new sharding.
    if (op->getName().getDialectNamespace() == "sdy" &&
        op->hasAttrOfType<sdy::TensorShardingAttr>("out_sharding")) {
      replace(op, op->getAttrOfType<sdy::TensorShardingAttr>("out_sharding"));
      continue;
    }
    if (auto constant = dyn_cast<sdy::ConstantOp>(op)) {
      builder.setInsertionPoint(op);
      auto copy = stablehlo::ConstantOp::create(builder, op->getLoc(),
                                                constant.getValue());
      op->replaceAllUsesWith(copy);
      op->erase();
      continue;
    }
    auto shardings =
        op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::kShardingAttr);
    if (!shardings)
      continue;
    builder.setInsertionPointAfter(op);
    for (auto [result, sharding] :
         llvm::zip(op->getResults(), shardings.getShardings())) {
      Value asked = constrain(builder, op->getLoc(), result, convert(sharding));
      if (asked != result)
        result.replaceAllUsesExcept(asked, asked.getDefiningOp());
    }
  }
}

Value Converter::moveShards(OpBuilder &builder, Location loc, Value value,
                            spmd::ShardingAttr sharding,
                            ArrayRef<std::pair<int64_t, int64_t>> pairs) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [size, dim] : llvm::zip(shape, sharding.getDims())) {
    size /= dim.getNumShards(refined);
    dims.push_back(spmd::DimShardingAttr::get(context, dim.getAxes()));
  }
  SmallVector<Attribute> axes;
  for (auto [name, size] :
       llvm::zip(refined.getAxisNames(), refined.getAxisSizes()))
    if (size > 1)
      axes.push_back(name);
  ArrayAttr boundary = builder.getArrayAttr({spmd::ShardingAttr::get(
      context, sharding.getMesh(), dims, {}, sharding.getPartial())});
  auto manual =
      spmd::ManualOp::create(builder, loc, TypeRange{type}, ValueRange{value},
                             boundary, boundary, builder.getArrayAttr(axes));
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&manual.getBody(), {}, {type.clone(shape)}, {loc});
  SmallVector<int64_t> numbers;
  for (auto [from, to] : pairs)
    numbers.append({from, to});
  auto table = DenseIntElementsAttr::get(
      RankedTensorType::get({int64_t(pairs.size()), 2}, builder.getI64Type()),
      ArrayRef<int64_t>(numbers));
  Value moved = stablehlo::CollectivePermuteOp::create(
      builder, loc, body->getArgument(0), table,
      stablehlo::ChannelHandleAttr::get(context, 1, 1));
  spmd::ReturnOp::create(builder, loc, moved);
  return manual.getResult(0);
}

void Converter::placeBorders() {
  if (!deviceOrder || !refined)
    return;
  // The device of each position, if `foreign` is on a mesh in another order and
  // not all ranks have the same of the value.
  auto devicesOf = [&](Attribute foreign,
                       spmd::ShardingAttr sharding) -> ArrayRef<int64_t> {
    auto asked = dyn_cast_or_null<sdy::TensorShardingAttr>(foreign);
    sdy::MeshAttr mesh = asked ? meshOf(asked.getMeshOrRef()) : sdy::MeshAttr();
    if (!mesh || !sharding || llvm::is_sorted(mesh.getDeviceIds()) ||
        (sharding.getPartial().empty() &&
         llvm::all_of(sharding.getDims(), [&](spmd::DimShardingAttr dim) {
           return dim.getNumShards(refined) == 1;
         })))
      return {};
    return mesh.getDeviceIds();
  };
  OpBuilder builder(context);
  using Pairs = SmallVector<std::pair<int64_t, int64_t>>;
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto sharding =
        main.getArgAttrOfType<spmd::ShardingAttr>(i, spmd::kShardingAttrName);
    ArrayRef<int64_t> devices =
        devicesOf(main.getArgAttr(i, sdy::kShardingAttr), sharding);
    if (devices.empty())
      continue;
    spmd::contract::Ranks::setOfArgument(main, i,
                                         builder.getDenseI64ArrayAttr(devices));
    Pairs pairs;
    for (auto [position, device] : llvm::enumerate(devices))
      pairs.push_back({device, position});
    builder.setInsertionPointToStart(&main.getBody().front());
    Value moved =
        moveShards(builder, argument.getLoc(), argument, sharding, pairs);
    argument.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  Operation *terminator = main.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    auto sharding = main.getResultAttrOfType<spmd::ShardingAttr>(
        i, spmd::kShardingAttrName);
    ArrayRef<int64_t> devices =
        devicesOf(main.getResultAttr(i, sdy::kShardingAttr), sharding);
    if (devices.empty())
      continue;
    spmd::contract::Ranks::setOfResult(main, i,
                                       builder.getDenseI64ArrayAttr(devices));
    Pairs pairs;
    for (auto [position, device] : llvm::enumerate(devices))
      pairs.push_back({position, device});
    operand.set(moveShards(builder, terminator->getLoc(), operand.get(),
                           sharding, pairs));
  }
}

/// A tie that nobody reads would be dropped, and what is known of its value be
/// lost: another one of its group says it instead.
void Converter::keepUnreadTies() {
  llvm::MapVector<Attribute, SmallVector<spmd::ConstrainOp>> groups;
  main.walk([&](spmd::ConstrainOp op) {
    if (IntegerAttr group = spmd::contract::Group::get(op))
      groups[group].push_back(op);
  });
  for (auto &[group, ties] : groups) {
    auto read = llvm::find_if(
        ties, [](spmd::ConstrainOp op) { return !op->use_empty(); });
    if (read == ties.end())
      continue;
    for (spmd::ConstrainOp op : ties)
      if (spmd::ShardingAttr known = annotationOf(op.getInput());
          known && op->use_empty()) {
        read->setShardingAttr(known);
        break;
      }
  }
}

void Converter::dropAttributes() {
  auto isForeign = [](StringAttr name) {
    StringRef dialect = name.getValue().split('.').first;
    return name.getValue().contains('.') &&
           llvm::is_contained({"mhlo", "jax", "tf", "sdy"}, dialect);
  };
  module->walk([&](Operation *op) {
    // That of a call whose author cuts it is all that is known of it.
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    bool hasRule = call && stablehlo::isPartitioned(call);
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      if (isForeign(attr.getName()) &&
          !(hasRule && attr.getName() == sdy::kShardingRuleAttr))
        op->removeDiscardableAttr(attr.getName());
  });
  auto foreignIn = [&](DictionaryAttr attrs) {
    SmallVector<StringAttr> names;
    if (attrs)
      for (NamedAttribute attr : attrs)
        if (isForeign(attr.getName()))
          names.push_back(attr.getName());
    return names;
  };
  BoundaryAttributes boundary(main);
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    for (StringAttr name : foreignIn(main.getArgAttrDict(i)))
      boundary.ofArgument(i).erase(name);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    for (StringAttr name : foreignIn(main.getResultAttrDict(i)))
      boundary.ofResult(i).erase(name);
  boundary.write();
}

LogicalResult Converter::run() {
  if (failed(uniteMeshes()))
    return failure();
  // Meshes are looked up while shardings are converted, so their symbols go
  // last.
  if (!meshName)
    meshName =
        ownMesh ? ownMesh.getSymNameAttr() : StringAttr::get(context, "mesh");
  if (meshes.getFirst() &&
      !(refined = meshes.refine([&] { return emitError(meshLoc); })))
    return failure();
  convertSignature();
  convertOps();
  keepUnreadTies();
  placeBorders();
  dropAttributes();
  return hasErrors ? failure() : createMesh(refined);
}

namespace {
struct ConvertSdyPass final : shardc::impl::ConvertSdyPassBase<ConvertSdyPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(Converter(getOperation(), deviceOrder).run()))
      signalPassFailure();
  }
};
} // namespace
