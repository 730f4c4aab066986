//===- ReplicaGroups.cpp - Who takes part in a collective -----------------===//

#include "shardc/Analysis/ReplicaGroups.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;

using Groups = SmallVector<SmallVector<int64_t>>;

bool shardc::isCollective(Operation *op) {
  return isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
             stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
             stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp>(
      op);
}

/// The rows of `attr`, a matrix of ranks, without the -1 that fill up shorter
/// ones.
static FailureOr<Groups> readRows(Operation *op, Attribute attr) {
  // Of numbers, the verifiers have seen that they are a matrix.
  auto dense = dyn_cast<DenseIntElementsAttr>(attr);
  if (!dense)
    return emitOpUnsupported(op)
           << ": replica groups " << attr << ", expected a matrix of ranks";
  auto type = cast<ShapedType>(dense.getType());
  auto values =
      llvm::map_to_vector(dense.getValues<APInt>(), [](const APInt &value) {
        return value.getSExtValue();
      });
  Groups rows;
  for (int64_t row = 0; row < type.getDimSize(0); ++row) {
    SmallVector<int64_t> list;
    for (int64_t rank :
         ArrayRef(values).slice(row * type.getDimSize(1), type.getDimSize(1)))
      if (rank != -1)
        list.push_back(rank);
    if (!list.empty())
      rows.push_back(std::move(list));
  }
  return rows;
}

static LogicalResult checkRank(Operation *op, int64_t rank, spmd::MeshAttr mesh,
                               StringRef where) {
  if (rank >= 0 && rank < mesh.getNumRanks())
    return success();
  return op->emitOpError() << "has rank " << rank << " in a " << where
                           << ", but mesh " << mesh << " has "
                           << mesh.getNumRanks() << " ranks";
}

template <typename OpT> static bool isByPartition(OpT op) {
  bool global = false;
  if constexpr (requires { op.getUseGlobalDeviceIds(); })
    global = op.getUseGlobalDeviceIds();
  return global ||
         (op.getChannelHandle() && op.getChannelHandle()->getHandle() > 0);
}

FailureOr<Groups> shardc::readReplicaGroups(Operation *op,
                                            spmd::MeshAttr mesh) {
  int64_t numRanks = mesh.getNumRanks();
  bool byPartition = true;
  Attribute attr = llvm::TypeSwitch<Operation *, Attribute>(op)
                       .Case<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
                             stablehlo::ReduceScatterOp, stablehlo::AllToAllOp>(
                           [&](auto collective) {
                             byPartition = isByPartition(collective);
                             return collective.getReplicaGroups();
                           });
  FailureOr<Groups> groups = readRows(op, attr);
  if (failed(groups))
    return failure();
  if (!byPartition &&
      (groups->empty() ||
       (groups->size() == 1 && groups->front() == SmallVector<int64_t>{0}))) {
    groups->clear();
    for (int64_t rank = 0; rank < numRanks; ++rank)
      groups->push_back({rank});
  }
  if (groups->empty())
    groups->push_back(llvm::to_vector(llvm::seq<int64_t>(0, numRanks)));

  SmallVector<bool> seen(numRanks, false);
  for (ArrayRef<int64_t> list : *groups) {
    assert((list.size() == groups->front().size() ||
            isa<stablehlo::AllReduceOp>(op)) &&
           "the verifiers refuse groups of several sizes");
    for (int64_t rank : list) {
      if (failed(checkRank(op, rank, mesh, "replica group")))
        return failure();
      assert(!seen[rank] && "the verifiers refuse a rank that is named twice");
      seen[rank] = true;
    }
  }
  if (auto missing = llvm::find(seen, false); missing != seen.end())
    return op->emitOpError() << "has no replica group for rank "
                             << missing - seen.begin() << " of mesh " << mesh;
  return groups;
}

FailureOr<SmallVector<int64_t>> shardc::readSources(Operation *op,
                                                    spmd::MeshAttr mesh) {
  SmallVector<int64_t> sources(mesh.getNumRanks(), -1);
  if (auto broadcast = dyn_cast<stablehlo::CollectiveBroadcastOp>(op)) {
    FailureOr<Groups> groups = readRows(op, broadcast.getReplicaGroups());
    if (failed(groups))
      return failure();
    for (ArrayRef<int64_t> list : *groups)
      for (int64_t rank : list) {
        if (failed(checkRank(op, rank, mesh, "replica group")))
          return failure();
        sources[rank] = list.front();
      }
    return sources;
  }
  auto permute = cast<stablehlo::CollectivePermuteOp>(op);
  auto flat = llvm::map_to_vector(
      permute.getSourceTargetPairs().getValues<APInt>(),
      [](const APInt &value) { return value.getSExtValue(); });
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    for (int64_t rank : {flat[i], flat[i + 1]})
      if (failed(checkRank(op, rank, mesh, "pair")))
        return failure();
    sources[flat[i + 1]] = flat[i];
  }
  return sources;
}
