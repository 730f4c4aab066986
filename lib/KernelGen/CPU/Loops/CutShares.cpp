//===- CutShares.cpp - A share of a dim for each part ---------------------===//
//
// Whatever is written is written by elementwise ops that are alike along one
// dim: each part does all iterations, for its share of that dim. Wherever the
// rows of a scatter fall, a part has its own columns of them.
//
//===----------------------------------------------------------------------===//
#include "../Nests/Nest.h"
#include "CutLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu::loops;
using cpu::mayAlias;
using cpu::Quantity;

namespace {
/// Along which loop of each op parts have shares.
struct Shares {
  llvm::MapVector<Operation *, unsigned> loops;
  OpFoldResult extent; ///< of these loops
  int64_t granule = 1; ///< multiples of it begin in lines of the cache alone
};
} // namespace

/// The dim of its root that `access` walks along by loop `loop` of its op.
static std::optional<unsigned> dimOfRoot(const Access &access, unsigned loop) {
  auto op = cast<linalg::GenericOp>(access.op);
  AffineMap map = op.getMatchingIndexingMap(access.operand);
  unsigned result = 0;
  for (unsigned dim : llvm::seq<unsigned>(access.offsets.size())) {
    if (access.dropped[dim])
      continue;
    AffineExpr position = map.getResult(result++);
    if (position == getAffineDimExpr(loop, map.getContext()))
      return dim;
  }
  return std::nullopt;
}

/// The loop of `access`'s op that walks along dim `dim` of its root.
static std::optional<unsigned> loopOf(const Access &access, unsigned dim) {
  if (access.offsets.empty() || access.dropped[dim])
    return std::nullopt;
  auto op = cast<linalg::GenericOp>(access.op);
  unsigned result = 0;
  for (unsigned before : llvm::seq<unsigned>(dim))
    result += !access.dropped[before];
  auto position = dyn_cast<AffineDimExpr>(
      op.getMatchingIndexingMap(access.operand).getResult(result));
  if (!position)
    return std::nullopt;
  return position.getPosition();
}

/// The shares of parts if the first op of `accesses` that writes has them along
/// its loop `loop`; nothing if ops do not agree.
static std::optional<Shares> sharesAlong(ArrayRef<Access> accesses,
                                         unsigned loop) {
  Shares shares;
  const Access *first =
      llvm::find_if(accesses, [](const Access &a) { return a.writes; });
  auto follow = [&](Operation *op, unsigned loop) {
    auto [entry, isNew] = shares.loops.insert({op, loop});
    return isNew || entry->second == loop;
  };
  auto isElementwise = [](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && !generic.getNumReductionLoops() &&
           generic.getBody()->getOps<linalg::IndexOp>().empty() &&
           llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
             return map.isProjectedPermutation();
           });
  };
  if (!isElementwise(first->op))
    return std::nullopt;
  follow(first->op, loop);
  // Ops are added while others lead to them.
  for (size_t i = 0; i < shares.loops.size(); ++i) {
    auto [op, along] = *(shares.loops.begin() + i);
    for (const Access &write : accesses) {
      if (write.op != op || !write.writes)
        continue;
      std::optional<unsigned> dim =
          write.offsets.empty() ? std::nullopt : dimOfRoot(write, along);
      int64_t stride = dim ? strideBytes(write.root, *dim) : 0;
      if (!stride)
        return std::nullopt;
      shares.extent = write.sizes[*dim];
      shares.granule =
          std::max<int64_t>(shares.granule, llvm::divideCeil(64, stride));
      for (const Access &access : accesses) {
        if (access.root != write.root) {
          if (mayAlias(access.root, write.root))
            return std::nullopt;
          continue;
        }
        std::optional<unsigned> loop;
        if (access.operand && isElementwise(access.op))
          loop = loopOf(access, *dim);
        if (!loop || access.offsets[*dim] != write.offsets[*dim] ||
            access.sizes[*dim] != write.sizes[*dim] ||
            !follow(access.op, *loop))
          return std::nullopt;
      }
    }
  }
  bool isWhole = llvm::all_of(accesses, [&](const Access &access) {
    return !access.writes || shares.loops.contains(access.op);
  });
  // Sizes that are not known differ from op to op.
  if (!isWhole ||
      (!getConstantIntValue(shares.extent) && shares.loops.size() > 1))
    return std::nullopt;
  return shares;
}

/// What `op` does, for `size` of its iterations along `loop` from `from` on.
static void narrow(linalg::GenericOp op, unsigned loop, Value from,
                   OpFoldResult size) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(b, loc, operand.get());
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
        ones(sizes.size(), b.getIndexAttr(1));
    bool changes = false;
    for (auto [i, position] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (position == getAffineDimExpr(loop, b.getContext())) {
        offsets[i] = from;
        sizes[i] = size;
        changes = true;
      }
    if (changes)
      operand.set(memref::SubViewOp::create(b, loc, operand.get(), offsets,
                                            sizes, ones));
  }
}

std::pair<Value, Value> cpu::loops::shareOf(OpBuilder &b, Location loc,
                                            Value part, int64_t parts,
                                            Value whole, int64_t granule) {
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  Value lines = arith::CeilDivUIOp::create(b, loc, whole, index(granule));
  Value each = arith::CeilDivUIOp::create(b, loc, lines, index(parts));
  each = arith::MulIOp::create(b, loc, each, index(granule));
  Value from = arith::MulIOp::create(b, loc, part, each);
  from = arith::MinSIOp::create(b, loc, from, whole);
  Value rest = arith::SubIOp::create(b, loc, whole, from);
  return {from, arith::MinSIOp::create(b, loc, each, rest)};
}

/// Puts parts around `nest`, at most `parts`, each with a share of what
/// `shares` says; false if that is too little.
static bool cutAlong(scf::ForOp nest, const Shares &shares, int64_t parts) {
  Location loc = nest.getLoc();
  std::optional<int64_t> extent = getConstantIntValue(shares.extent);
  int64_t share = 0;
  if (extent) {
    int64_t lines = llvm::divideCeil(*extent, shares.granule);
    share = llvm::divideCeil(lines, parts) * shares.granule;
    parts = llvm::divideCeil(*extent, share);
    if (parts < 2)
      return false;
  }
  scf::ForOp partLoop = beginParts(nest, parts);
  Value part = partLoop.getInductionVar();
  // The nest, with shares of `size` or, where that is 0, of what is known then.
  auto write = [&](Operation *before, int64_t size) {
    OpBuilder b(before);
    IRMapping map;
    Operation *copy = b.clone(*nest, map);
    SmallVector<linalg::GenericOp> ops, copies;
    nest.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    copy->walk([&](linalg::GenericOp op) { copies.push_back(op); });
    for (auto [op, mine] : llvm::zip_equal(ops, copies)) {
      auto entry = shares.loops.find(op);
      if (entry == shares.loops.end())
        continue;
      b.setInsertionPoint(mine);
      auto index = [&](int64_t number) -> Value {
        return arith::ConstantIndexOp::create(b, loc, number);
      };
      if (size) {
        Value from = arith::MulIOp::create(b, loc, part, index(share));
        narrow(mine, entry->second, from, b.getIndexAttr(size));
        continue;
      }
      OpOperand *init = mine.getDpsInitOperand(0);
      AffineMap map = mine.getMatchingIndexingMap(init);
      unsigned dim = *map.getResultPosition(
          getAffineDimExpr(entry->second, b.getContext()));
      Value whole = memref::DimOp::create(b, loc, init->get(), dim);
      auto [from, count] = shareOf(b, loc, part, parts, whole, shares.granule);
      narrow(mine, entry->second, from, count);
    }
  };
  Operation *end = partLoop.getBody()->getTerminator();
  int64_t last = extent ? *extent - (parts - 1) * share : 0;
  if (last == share) {
    write(end, share);
  } else {
    OpBuilder b(end);
    Value number = arith::ConstantIndexOp::create(b, loc, parts - 1);
    Value isLast =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, number);
    auto branch = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/true);
    write(branch.thenBlock()->getTerminator(), last);
    write(branch.elseBlock()->getTerminator(), share);
  }
  nest.erase();
  return true;
}

bool cpu::loops::cutShares(scf::ForOp nest, ArrayRef<Access> accesses,
                           int64_t parts) {
  auto writes = [](const Access &access) { return access.writes; };
  auto first = dyn_cast<linalg::GenericOp>(llvm::find_if(accesses, writes)->op);
  // The outermost dim whose lines of the cache are enough for all parts, or
  // else the one that makes the most of them.
  std::optional<Shares> best;
  int64_t most = 1;
  for (unsigned loop : llvm::seq<unsigned>(first ? first.getNumLoops() : 0)) {
    std::optional<Shares> shares = sharesAlong(accesses, loop);
    if (!shares)
      continue;
    int64_t extent = Quantity::of(shares->extent).guess();
    int64_t lines = llvm::divideCeil(extent, shares->granule);
    if (std::min(lines, parts) > most) {
      most = std::min(lines, parts);
      best = shares;
    }
  }
  return best && cutAlong(nest, *best, parts);
}
