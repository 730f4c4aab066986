//===- FuseRows.cpp - Find ops to be done block by block ------------------===//
//
// A normalisation is reductions of rows and work on elements that reads them:
// op by op, each passes over all of memory. Done for a block of rows at a time,
// what one op has read or written is in the cache when the next one wants it,
// and what none but them touches needs no memory but a block's.
//
//===----------------------------------------------------------------------===//
#include "MergeSums.h"
#include "RowFinder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

namespace shardc {
#define GEN_PASS_DEF_FUSEROWSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

/// Ops to look at before and behind a reduction. [limit]
static constexpr int64_t kMostBefore = 48, kMostBehind = 160;
/// True if ops on the other side of it may have its elements in any order:
/// neither calls nor communication, but one whole exchange.
static bool mayBeBetween(Operation *op) {
  if (isa<linalg::GenericOp, memref::LoadOp, memref::StoreOp, memref::AllocOp>(
          op))
    return true;
  if (auto site = dyn_cast<spmd::RunSiteOp>(op))
    return !site.getToken();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isMemoryEffectFree(op))
    return true;
  if (!isa<scf::ForOp, scf::IfOp>(op))
    return false;
  return !op->walk([&](Operation *inner) {
              if (inner == op || isMemoryEffectFree(inner) ||
                  inner->hasTrait<OpTrait::IsTerminator>() ||
                  isa<memref::LoadOp, memref::StoreOp, linalg::GenericOp,
                      scf::ForOp, scf::IfOp>(inner))
                return WalkResult::advance();
              return WalkResult::interrupt();
            }).wasInterrupted();
}

/// What is read again and again belongs to a kernel of its own.
static bool isProduct(linalg::GenericOp op) {
  if (!isContraction(op))
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() < op.getNumLoops();
  });
}

static bool isCandidate(linalg::GenericOp op) {
  return canDescribe(op) && !isProduct(op);
}

void RowFinder::collectWindow() {
  Operation *first = seed;
  for (int64_t i = 0; i < kMostBefore; ++i) {
    Operation *before = first->getPrevNode();
    if (!before || !mayBeBetween(before))
      break;
    first = before;
  }
  int64_t left = kMostBehind;
  bool isBehind = false;
  for (Operation *op = first; op && mayBeBetween(op); op = op->getNextNode()) {
    isBehind |= op == seed;
    if (isBehind && left-- == 0)
      break;
    window.push_back(op);
  }
}

/// True if `op` uses what an op of `late` gives.
static bool usesLate(Operation *op,
                     const llvm::SmallDenseSet<Operation *> &late) {
  if (late.empty())
    return false;
  auto isLate = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && late.contains(maker);
  };
  if (llvm::any_of(op->getOperands(), isLate))
    return true;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::any_of(captured, isLate);
}

std::optional<RowGroup> RowFinder::tryCuts(const Cuts &cuts) {
  counts = cuts.counts;
  hints.clear();
  hints[wholeBehind(largest)] = {cuts.units, cuts.outside};
  spreadHints();
  RowGroup group;
  group.counts = counts;
  group.sizes = cuts.sizes;
  llvm::SmallDenseSet<Operation *> late;
  Touches lateTouches;
  bool siteIsLate = false;
  auto putOff = [&](Operation *op) {
    group.after.push_back(op);
    late.insert(op);
    siteIsLate |= isa<spmd::RunSiteOp>(op);
    for (const auto &[root, touch] : touchesOf(op)) {
      Touch &mine = lateTouches[root];
      mine.writes |= touch.writes;
    }
  };
  // Fills that wait for the op that they are of.
  SmallVector<linalg::GenericOp> fills;
  auto settleFills = [&](const Touches &own, bool join) {
    for (linalg::GenericOp &fill : fills) {
      if (!fill || !conflict(touchesOf(fill), own))
        continue;
      linalg::GenericOp op = fill;
      fill = {};
      if (join) {
        std::optional<Member> member = map(op);
        std::optional<Touches> touches = member && !member->accumulates
                                             ? touchesOfMember(*member)
                                             : std::nullopt;
        if (touches && !usesLate(op, late) &&
            !conflict(*touches, lateTouches) &&
            mayJoin(group.touches, *touches)) {
          for (auto &[root, touch] : *touches) {
            Touch &mine = group.touches[root];
            if (mine.count == 0)
              mine = touch;
            mine.writes = true;
          }
          group.members.push_back(*member);
          continue;
        }
      }
      if (usesLate(op, late) || conflict(touchesOf(op), group.touches) ||
          conflict(touchesOf(op), lateTouches))
        putOff(op);
    }
  };
  for (Operation *op : window) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && filledWith(generic) && canDescribe(generic)) {
      fills.push_back(generic);
      continue;
    }
    Touches plain = touchesOf(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<Member> member;
    if (generic && !usesLate(op, late) && !conflict(plain, lateTouches))
      member = map(generic);
    if (member && !isCandidate(generic))
      member.reset();
    if (member && member->accumulates) {
      bool canCombine = !exact;
      for (unsigned i : llvm::seq<unsigned>(generic.getNumDpsInits())) {
        Operation *combiner = combinerOf(generic, i);
        canCombine &=
            combiner && spmd::neutralElement(combiner) &&
            bytesOf(generic.getDpsInits()[i]) <= cost.getMachine().cacheBytes;
      }
      if (!canCombine)
        member.reset();
    }
    if (member && placeLoads(*member, group.touches))
      if (std::optional<Touches> own = touchesOfMember(*member);
          own && mayJoin(group.touches, *own)) {
        settleFills(*own, /*join=*/true);
        // A fill that had to wait makes its reader wait.
        if (!conflict(plain, lateTouches) && mayJoin(group.touches, *own)) {
          for (auto &[root, touch] : *own) {
            Touch &mine = group.touches[root];
            if (mine.count == 0) {
              mine = touch;
              continue;
            }
            ++mine.count;
            mine.writes |= touch.writes;
            if (mine.key != touch.key || mine.units != touch.units ||
                mine.outside != touch.outside) {
              mine.isMixed = true;
              mine.isOwn = false;
            }
            mine.isMixed |= touch.isMixed;
            mine.isOwn &= touch.isOwn;
          }
          group.members.push_back(std::move(*member));
          continue;
        }
      }
    settleFills(plain, /*join=*/false);
    if (usesLate(op, late) || conflict(plain, group.touches) ||
        conflict(plain, lateTouches) ||
        (siteIsLate && isa<spmd::RunSiteOp>(op)))
      putOff(op);
  }
  if (group.members.empty())
    return std::nullopt;
  // What comes behind the last member stays where it is; a fill before it that
  // overwrites what members read waits for them.
  Operation *end = group.members.back().op;
  for (linalg::GenericOp fill : fills)
    if (fill && fill->isBeforeInBlock(end) &&
        (usesLate(fill, late) || conflict(touchesOf(fill), group.touches) ||
         conflict(touchesOf(fill), lateTouches)))
      putOff(fill);
  llvm::erase_if(group.after,
                 [&](Operation *op) { return end->isBeforeInBlock(op); });
  if (!llvm::any_of(group.members,
                    [&](const Member &m) { return m.op == seed; }) ||
      !isWorth(group))
    return std::nullopt;
  findLocal(group);
  return group;
}

std::optional<RowGroup> RowFinder::find() {
  SmallVector<Cuts> all = candidates();
  if (all.empty() || bytesOf(largest) < cost.getMachine().cacheBytes / 8)
    return std::nullopt;
  collectWindow();
  for (const Cuts &cuts : all)
    if (std::optional<RowGroup> group = tryCuts(cuts))
      return group;
  return std::nullopt;
}

namespace {
struct FuseRowsPass final : shardc::impl::FuseRowsPassBase<FuseRowsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      fuseIn(function);
  }

  void fuseIn(func::FuncOp function) {
    mergeSums(function);
    ShardSizes sizes(function);
    SmallVector<linalg::GenericOp> seeds;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() && isCandidate(op))
        seeds.push_back(op);
    });
    llvm::DenseSet<Operation *> gone;
    for (linalg::GenericOp seed : seeds) {
      if (gone.contains(seed))
        continue;
      std::optional<RowGroup> group =
          RowFinder(seed, sizes, threads, exact).find();
      if (!group)
        continue;
      for (const Member &member : group->members)
        gone.insert(member.op);
      emitRows(*group);
    }
    // Behind blocks of rows, in which what is read is near anyway.
    mergePoints(function, sizes);
  }
};
} // namespace
