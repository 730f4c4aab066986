//===- ConvertSdy.cpp - Shardy's annotations to those of spmd -------------===//
#include "SdyConverter.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/BoundaryAttributes.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

namespace shardc {
#define GEN_PASS_DEF_CONVERTSDYPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

void SdyConverter::convertSignature() {
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

void SdyConverter::convertManual(sdy::ManualComputationOp op) {
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
void SdyConverter::convertTie(Operation *op) {
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

void SdyConverter::convertOps() {
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

/// A tie that nobody reads would be dropped, and what is known of its value be
/// lost: another one of its group says it instead.
void SdyConverter::keepUnreadTies() {
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

void SdyConverter::dropAttributes() {
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

LogicalResult SdyConverter::run() {
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
    if (failed(SdyConverter(getOperation(), deviceOrder).run()))
      signalPassFailure();
  }
};
} // namespace
