//===- ConvertShardings.cpp - Meshes and shardings of Shardy, as spmd's ---===//
#include "SdyConverter.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

sdy::AxisRefAttr import::axisOf(stablehlo::AxisRefAttr axis) {
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

sdy::MeshAttr SdyConverter::meshOf(Attribute on) const {
  auto mesh = dyn_cast_or_null<sdy::MeshAttr>(on);
  if (auto here = dyn_cast_or_null<stablehlo::MeshAttr>(on))
    mesh = meshHere(here);
  if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(on))
    if (auto op = ModuleOp(module).lookupSymbol<sdy::MeshOp>(name.getAttr()))
      mesh = op.getMesh();
  return mesh && !mesh.getAxes().empty() ? mesh : sdy::MeshAttr();
}

LogicalResult SdyConverter::addMesh(Attribute name, sdy::MeshAttr mesh,
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

LogicalResult SdyConverter::forEachSharding(
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

LogicalResult SdyConverter::uniteMeshes() {
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

LogicalResult SdyConverter::createMesh(spmd::MeshAttr attr) {
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

spmd::ShardingAttr
SdyConverter::convert(sdy::TensorShardingAttr sharding) const {
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
spmd::ShardingAttr SdyConverter::onMesh(spmd::ShardingAttr sharding) const {
  return spmd::ShardingAttr::get(context, FlatSymbolRefAttr::get(meshName),
                                 sharding.getDims(), sharding.getReplicated(),
                                 sharding.getPartial());
}

/// What Shardy's text cannot say: that the blocks of a dim are in zigzag order.
static constexpr StringLiteral kOrderAttr = spmd::contract::Order::name();

spmd::ShardingAttr SdyConverter::withOrder(spmd::ShardingAttr sharding,
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

spmd::ShardingAttr import::annotationOf(Value value) {
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

Value import::constrain(OpBuilder &builder, Location loc, Value value,
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
spmd::ShardingAttr
SdyConverter::convertBoundary(sdy::TensorShardingAttr sharding,
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
