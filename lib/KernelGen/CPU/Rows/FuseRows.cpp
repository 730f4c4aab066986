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

bool RowFinder::mustWait(const Gathering &g, Operation *op,
                         const Touches &touches) {
  return usesLate(op, g.late) || conflict(touches, g.group.touches) ||
         conflict(touches, g.lateTouches);
}

void RowFinder::putOff(Gathering &g, Operation *op) {
  g.group.after.push_back(op);
  g.late.insert(op);
  g.siteIsLate |= isa<spmd::RunSiteOp>(op);
  for (const auto &[root, touch] : touchesOf(op))
    g.lateTouches[root].writes |= touch.writes;
}

bool RowFinder::joinFill(Gathering &g, linalg::GenericOp fill) {
  std::optional<Member> member = map(fill);
  std::optional<Touches> touches =
      member && !member->accumulates ? touchesOfMember(*member) : std::nullopt;
  if (!touches || usesLate(fill, g.late) || conflict(*touches, g.lateTouches) ||
      !mayJoin(g.group.touches, *touches))
    return false;
  for (auto &[root, touch] : *touches) {
    Touch &mine = g.group.touches[root];
    if (mine.count == 0)
      mine = touch;
    mine.writes = true;
  }
  g.group.members.push_back(*member);
  return true;
}

void RowFinder::settleFills(Gathering &g, const Touches &own, bool join) {
  for (linalg::GenericOp &fill : g.fills) {
    if (!fill || !conflict(touchesOf(fill), own))
      continue;
    linalg::GenericOp op = fill;
    fill = {};
    if (join && joinFill(g, op))
      continue;
    if (mustWait(g, op, touchesOf(op)))
      putOff(g, op);
  }
}

bool RowFinder::canCombine(linalg::GenericOp op) {
  return !exact && llvm::all_of(llvm::seq<unsigned>(op.getNumDpsInits()),
                                [&](unsigned i) {
                                  Operation *combiner = combinerOf(op, i);
                                  return combiner &&
                                         spmd::neutralElement(combiner) &&
                                         bytesOf(op.getDpsInits()[i]) <=
                                             cost.getMachine().cacheBytes;
                                });
}

bool RowFinder::join(Gathering &g, linalg::GenericOp op, const Touches &plain) {
  if (usesLate(op, g.late) || conflict(plain, g.lateTouches))
    return false;
  std::optional<Member> member = map(op);
  if (!member || !isCandidate(op) || (member->accumulates && !canCombine(op)) ||
      !placeLoads(*member, g.group.touches))
    return false;
  std::optional<Touches> own = touchesOfMember(*member);
  if (!own || !mayJoin(g.group.touches, *own))
    return false;
  settleFills(g, *own, /*join=*/true);
  // A fill that had to wait makes its reader wait.
  if (conflict(plain, g.lateTouches) || !mayJoin(g.group.touches, *own))
    return false;
  for (auto &[root, touch] : *own) {
    Touch &mine = g.group.touches[root];
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
  g.group.members.push_back(std::move(*member));
  return true;
}

std::optional<RowGroup> RowFinder::tryCuts(const Cuts &cuts) {
  counts = cuts.counts;
  hints.clear();
  hints[wholeBehind(largest)] = {cuts.units, cuts.outside};
  spreadHints();
  Gathering g;
  RowGroup &group = g.group;
  group.counts = counts;
  group.sizes = cuts.sizes;
  for (Operation *op : window) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && filledWith(generic) && canDescribe(generic)) {
      g.fills.push_back(generic);
      continue;
    }
    Touches plain = touchesOf(op);
    if (generic && join(g, generic, plain))
      continue;
    settleFills(g, plain, /*join=*/false);
    if (mustWait(g, op, plain) || (g.siteIsLate && isa<spmd::RunSiteOp>(op)))
      putOff(g, op);
  }
  if (group.members.empty())
    return std::nullopt;
  // What comes behind the last member stays where it is; a fill before it that
  // overwrites what members read waits for them.
  Operation *end = group.members.back().op;
  for (linalg::GenericOp fill : g.fills)
    if (fill && fill->isBeforeInBlock(end) &&
        mustWait(g, fill, touchesOf(fill)))
      putOff(g, fill);
  llvm::erase_if(group.after,
                 [&](Operation *op) { return end->isBeforeInBlock(op); });
  if (!llvm::any_of(group.members,
                    [&](const Member &m) { return m.op == seed; }) ||
      !isWorth(group))
    return std::nullopt;
  findLocal(group);
  return std::move(group);
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
