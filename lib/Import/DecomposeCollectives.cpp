//===- DecomposeCollectives.cpp - Communication of one process ------------===//
#include "Decompose.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// Whether the module is written for one device alone.
bool import::isForOneDevice(ModuleOp module) {
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"})
    if (auto count = module->getAttrOfType<IntegerAttr>(name);
        count && count.getInt() != 1)
      return false;
  bool sdyHasOne =
      llvm::all_of(module.getOps<sdy::MeshOp>(), [](sdy::MeshOp mesh) {
        return mesh.getMesh().getTotalSize() == 1;
      });
  return sdyHasOne &&
         llvm::all_of(module.getOps<spmd::MeshOp>(), [](spmd::MeshOp mesh) {
           return mesh.getMesh().getNumRanks() == 1;
         });
}

/// A collective of one process among itself, as pmap over an axis of one device
/// prints it. False for others, which CheckSupported will refuse.
bool import::dropExchange(Operation *op) {
  auto groups = op->getAttrOfType<DenseIntElementsAttr>(
      isa<CollectivePermuteOp>(op) ? "source_target_pairs" : "replica_groups");
  if (op->getParentOfType<sdy::ManualComputationOp>() ||
      op->getParentOfType<spmd::ManualOp>())
    return false;
  if (isa<PartitionIdOp, ReplicaIdOp>(op)) {
    Ops ops(op);
    replace(op, ops.splat(Ops::typeOf(op->getResult(0)), 0));
    return true;
  }
  if (!groups || groups.getNumElements() == 0 ||
      !llvm::all_of(groups.getValues<APInt>(),
                    [](const APInt &member) { return member.isZero(); }) ||
      !llvm::equal(TypeRange(op->getOperands()).take_front(op->getNumResults()),
                   op->getResultTypes()))
    return false;
  replace(op, op->getOperands().take_front(op->getNumResults()));
  return true;
}

/// One op for each value that is sent; a member that is computed is read from
/// the values of all.
LogicalResult import::decompose(CollectiveBroadcastOp op) {
  if (op.getNumResults() == 1 && !op.getHasDynamicRoot())
    return success();
  Ops ops(op);
  SmallVector<Value> results;
  for (auto [i, sent] : llvm::enumerate(op.getSent())) {
    RankedTensorType type = Ops::typeOf(sent);
    if (!op.getHasDynamicRoot()) {
      auto one = CollectiveBroadcastOp::create(
          ops.b, TypeRange(type), ValueRange(sent), op.getReplicaGroups(),
          op.getChannelHandleAttr(), /*has_dynamic_root=*/false);
      results.push_back(one.getResult(0));
      continue;
    }
    auto groups = dyn_cast<DenseIntElementsAttr>(op.getReplicaGroups());
    if (!groups || groups.getType().getRank() != 2 || !type.hasStaticShape())
      return emitOpUnsupported(
          op, ": reads its root from an operand; give groups as "
              "a matrix of numbers and tensors of known shape");
    auto index = static_cast<int64_t>(i);
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, type.getShape());
    Value mine = ops.reshape(sent, shape);
    shape[0] = groups.getType().getDimSize(1);
    Value all =
        AllGatherOp::create(
            ops.b,
            TypeRange(RankedTensorType::get(shape, type.getElementType())),
            ValueRange(mine),
            /*all_gather_dim=*/0, op.getReplicaGroups(),
            ChannelHandleAttr::get(op.getContext(), /*handle=*/1, /*type=*/1),
            /*use_global_device_ids=*/true)
            .getResult(0);
    Value root = op.getOperands().back();
    Value place =
        SliceOp::create(ops.b, root, ArrayRef<int64_t>(index),
                        ArrayRef<int64_t>(index + 1), ArrayRef<int64_t>(1));
    SmallVector<Value> from = {ops.reshape(place, {})};
    from.append(type.getRank(), ops.splat(Ops::typeOf(from[0]), 0));
    shape[0] = 1;
    Value block = DynamicSliceOp::create(
        ops.b, RankedTensorType::get(shape, type.getElementType()), all, from,
        shape);
    results.push_back(ops.reshape(block, type.getShape()));
  }
  replace(op, results);
  return success();
}
