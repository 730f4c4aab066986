//===- RowGains.cpp - What is gained by blocks of rows --------------------===//
#include "RowFinder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Partial results of sums over all rows: enough for threads, and where they
/// are next to nothing beside what is summed, so many that each is a sum of few
/// blocks. [limit]
static constexpr int64_t kMostChunks = 16, kMostSmallChunks = 64;

/// With what sizes are at most; what nobody knows is taken to be large.
int64_t RowFinder::elementsOf(Value memref) {
  int64_t elements = 1;
  for (int64_t dim : llvm::seq(cast<MemRefType>(memref.getType()).getRank())) {
    OpFoldResult known = sizes.of(memref, dim);
    elements *= (known ? Quantity::of(known) : Quantity()).guess();
  }
  return elements;
}

bool RowFinder::isWorth(RowGroup &group) {
  const Machine &machine = cost.getMachine();
  double rows = 1;
  for (const Quantity &size : group.sizes)
    rows *= std::max<int64_t>(size.guess(), 1);
  // What is small enough to be left out of account.
  double few = machine.cacheBytes / 32;
  double all = 0, ofRow = 0, again = 0, partial = 0;
  for (const auto &[root, touch] : group.touches) {
    double bytes = touch.key ? bytesOf(touch.key) : bytesOf(root);
    all += bytes;
    ofRow += touch.isOwn ? bytes / rows : bytes;
    if (bytes > few && touch.isOwn)
      again += (touch.count - 1) * bytes;
  }
  for (const Member &member : group.members) {
    if (!member.accumulates)
      continue;
    linalg::GenericOp op = member.op;
    for (Value init : op.getDpsInits())
      partial += bytesOf(init);
  }
  // Otherwise all is in the cache anyway.
  if (all < machine.cacheBytes / 2)
    return false;
  if (partial > 0) {
    auto grow = [&](int64_t most, double bytes) {
      while (group.chunks < most && 2 * group.chunks * partial <= bytes)
        group.chunks *= 2;
    };
    grow(kMostChunks, all / 16);
    grow(kMostSmallChunks, all / 256);
    if (group.chunks == 1)
      return false;
  }
  // A sum over all rows gains from blocks by itself: threads share them.
  bool hasTotal = partial > 0 && all >= machine.cacheBytes;
  if (again < 4 * few && (!hasTotal || ofRow > machine.cacheBytes / 2))
    return false;
  // A row that does not fit is as far away in the second pass as in the first.
  if (ofRow > all / 4 || ofRow > 8 * machine.cacheBytes)
    return false;
  // A block and what is read beside it stay in the first cache: its second pass
  // is as good as free.
  double blockBytes =
      std::min(machine.firstCacheBytes * 5 / 8, machine.cacheBytes / 32);
  int64_t block = std::max<int64_t>(blockBytes / std::max(ofRow, 1.0), 1);
  const Quantity &last = group.sizes.back();
  block = std::clamp<int64_t>(last.guess(), 1, block);
  // Without a rest on any rank, if that is not far off.
  SmallVector<int64_t> ofRanks = last.entries();
  if (ofRanks.empty())
    ofRanks = {last.multiple()};
  for (int64_t smaller = block; smaller > block / 2; --smaller)
    if (llvm::all_of(ofRanks, [&](int64_t n) { return n % smaller == 0; })) {
      block = smaller;
      break;
    }
  group.rowsOfBlock = block;
  bool isLarge = cost.access(all) >= machine.forkSeconds;
  double blocks = rows / block;
  if (threads > 1 && isLarge && blocks >= threads)
    group.parts =
        partial > 0 ? std::min<int64_t>(threads, group.chunks) : threads;
  return true;
}

/// Buffers that begin and end in the group.
void RowFinder::findLocal(RowGroup &group) {
  llvm::SmallDenseSet<Operation *> members;
  for (const Member &member : group.members)
    members.insert(member.op);
  for (const auto &[root, touch] : group.touches) {
    auto alloc = root.getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != seed->getBlock() || !touch.isOwn ||
        touch.isMixed || !touch.writes || touch.key != root)
      continue;
    // A block's share has to have a known size.
    std::optional<Place> place =
        placeByUnits(alloc.getType(), touch.units, touch.outside, counts);
    if (!place)
      continue;
    bool isLocal = true;
    for (int dim : llvm::seq<int>(alloc.getType().getRank()))
      isLocal &= !alloc.getType().isDynamicDim(dim) ||
                 llvm::is_contained(place->at, dim);
    SmallVector<Value> work{root};
    while (!work.empty() && isLocal) {
      for (Operation *user : work.pop_back_val().getUsers()) {
        if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(user)) {
          work.push_back(user->getResult(0));
          continue;
        }
        Operation *op = seed->getBlock()->findAncestorOpInBlock(*user);
        isLocal &= op && members.contains(op) &&
                   (op == user || isa<memref::LoadOp>(user));
      }
    }
    if (isLocal)
      group.local.push_back(root);
  }
}
