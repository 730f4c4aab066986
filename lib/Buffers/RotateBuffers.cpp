//===- RotateBuffers.cpp - Loop-carried buffers change places -------------===//
//
// A loop that ends with copies of what it has computed into the buffers that
// the next iteration reads does not need them: the buffers themselves become
// loop-carried and change their roles.
//
//===----------------------------------------------------------------------===//
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_ROTATEBUFFERSPASS
#include "shardc/Buffers/Passes.h.inc"

namespace {
/// What a loop's last copies amount to.
struct Rotation {
  SmallVector<memref::CopyOp> copies;
  SmallVector<Value> carried; // buffers from outside the loop
  SmallVector<Value> spares;  // buffers that the body allocates
  /// For each of carried, then spares: the place in that list of the buffer
  /// that takes its role.
  SmallVector<size_t> source;
};
} // namespace

/// True if nothing outside `loop` but plain ops before it, and ops after it,
/// use `buffer`, and none of them makes a view of it.
static bool isPlainlyUsed(Value buffer, Operation *loop) {
  for (Operation *user : buffer.getUsers()) {
    if (loop->isProperAncestor(user))
      continue;
    Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor)
      return false;
    if (isa<ViewLikeOpInterface>(user) && ancestor->isBeforeInBlock(loop)) {
      // A view made before the loop must not outlive its beginning.
      for (Operation *viewUser : user->getUsers()) {
        Operation *place = loop->getBlock()->findAncestorOpInBlock(*viewUser);
        if (!place || !place->isBeforeInBlock(loop) ||
            isa<ViewLikeOpInterface>(viewUser))
          return false;
      }
    }
    if (isa<RegionBranchTerminatorOpInterface>(user))
      return false;
  }
  return true;
}

/// True if both are allocated with the same type and sizes.
static bool areAlike(Value a, Value b) {
  auto first = a.getDefiningOp<memref::AllocOp>();
  auto second = b.getDefiningOp<memref::AllocOp>();
  return first && second && first.getType() == second.getType() &&
         first.getDynamicSizes() == second.getDynamicSizes();
}

static std::optional<Rotation> findRotation(Operation *loop, Block *body) {
  Rotation rotation;
  for (Operation *op = body->getTerminator()->getPrevNode(); op;
       op = op->getPrevNode()) {
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      rotation.copies.push_back(copy);
      continue;
    }
    if (!isMemoryEffectFree(op) && !isa<memref::AllocOp>(op))
      break;
  }
  std::reverse(rotation.copies.begin(), rotation.copies.end());
  // What each buffer holds in the end, by the buffer that holds it now.
  llvm::MapVector<Value, Value> holds;
  auto held = [&](Value buffer) {
    auto found = holds.find(buffer);
    return found == holds.end() ? buffer : found->second;
  };
  for (memref::CopyOp copy : rotation.copies)
    holds[copy.getTarget()] = held(copy.getSource());
  auto isOutside = [&](Value buffer) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    return alloc && alloc->getBlock() == loop->getBlock();
  };
  auto isInside = [&](Value buffer) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    return alloc && alloc->getBlock() == body &&
           llvm::all_of(alloc.getDynamicSizes(), [&](Value size) {
             return !loop->isAncestor(size.getParentRegion()->getParentOp());
           });
  };
  DenseSet<Value> sources;
  for (auto &[buffer, value] : holds) {
    if (isInside(buffer))
      continue; // a snapshot; nothing reads it after the loop's body
    if (buffer == value)
      continue;
    if (!isOutside(buffer) || !areAlike(buffer, value) ||
        !(isOutside(value) || isInside(value)) ||
        !sources.insert(value).second || !isPlainlyUsed(buffer, loop))
      return std::nullopt;
    rotation.carried.push_back(buffer);
    if (isInside(value))
      rotation.spares.push_back(value);
  }
  if (rotation.carried.empty())
    return std::nullopt;
  // A source from outside must be carried itself, or it would be lost.
  SmallVector<Value> all(rotation.carried);
  all.append(rotation.spares);
  for (Value buffer : rotation.carried)
    if (!llvm::is_contained(all, held(buffer)))
      return std::nullopt;
  SmallVector<bool> taken(all.size(), false);
  for (Value buffer : rotation.carried) {
    size_t at = llvm::find(all, held(buffer)) - all.begin();
    rotation.source.push_back(at);
    taken[at] = true;
  }
  for (Value spare : rotation.spares) {
    size_t at = 0;
    while (at < all.size() && (taken[at] || !areAlike(all[at], spare)))
      ++at;
    if (at == all.size())
      return std::nullopt;
    taken[at] = true;
    rotation.source.push_back(at);
  }
  return rotation;
}

/// Snapshots that only the removed copies read are dropped with them.
static void eraseCopies(Rotation &rotation) {
  for (memref::CopyOp copy : llvm::reverse(rotation.copies))
    copy.erase();
}

static SmallVector<Value> hoistSpares(Operation *loop, Rotation &rotation) {
  SmallVector<Value> initial(rotation.carried);
  for (Value spare : rotation.spares) {
    spare.getDefiningOp()->moveBefore(loop);
    initial.push_back(spare);
  }
  return initial;
}

static void replaceInside(Region &region, ValueRange from, ValueRange to) {
  for (auto [old, replacement] : llvm::zip_equal(from, to))
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses()))
      if (region.isAncestor(use.getOwner()->getParentRegion()))
        use.set(replacement);
}

static void replaceAfter(Operation *loop, ValueRange from, ValueRange to) {
  for (auto [old, replacement] : llvm::zip_equal(from, to))
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
      Operation *ancestor =
          loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (ancestor && loop->isBeforeInBlock(ancestor))
        use.set(replacement);
    }
}

static void rotate(scf::WhileOp loop) {
  std::optional<Rotation> rotation = findRotation(loop, loop.getAfterBody());
  if (!rotation)
    return;
  eraseCopies(*rotation);
  SmallVector<Value> initial = hoistSpares(loop, *rotation);
  SmallVector<Value> operands(loop.getInits());
  operands.append(initial);
  SmallVector<Type> types(loop.getResultTypes());
  for (Value buffer : initial)
    types.push_back(buffer.getType());
  OpBuilder builder(loop);
  auto next = scf::WhileOp::create(builder, loop.getLoc(), types, operands);
  spmd::contract::Rotated::set(next);
  next.getBefore().takeBody(loop.getBefore());
  next.getAfter().takeBody(loop.getAfter());
  SmallVector<Value> before, after;
  for (Value buffer : initial) {
    before.push_back(
        next.getBeforeBody()->addArgument(buffer.getType(), loop.getLoc()));
    after.push_back(
        next.getAfterBody()->addArgument(buffer.getType(), loop.getLoc()));
  }
  replaceInside(next.getBefore(), initial, before);
  replaceInside(next.getAfter(), initial, after);
  next.getConditionOp().getArgsMutable().append(before);
  SmallVector<Value> yielded;
  for (size_t at : rotation->source)
    yielded.push_back(after[at]);
  next.getYieldOp().getResultsMutable().append(yielded);
  unsigned first = loop.getNumResults();
  replaceAfter(next, ArrayRef(initial), next.getResults().drop_front(first));
  loop->replaceAllUsesWith(next.getResults().take_front(first));
  loop.erase();
}

static void rotate(scf::ForOp loop) {
  std::optional<Rotation> rotation = findRotation(loop, loop.getBody());
  if (!rotation)
    return;
  eraseCopies(*rotation);
  SmallVector<Value> initial = hoistSpares(loop, *rotation);
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto replaced = loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/true,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        SmallVector<Value> yielded;
        for (size_t at : rotation->source)
          yielded.push_back(arguments[at]);
        return yielded;
      });
  if (failed(replaced))
    return;
  auto next = cast<scf::ForOp>(replaced->getOperation());
  spmd::contract::Rotated::set(next);
  replaceAfter(next, ArrayRef(initial),
               next.getResults().take_back(initial.size()));
}

namespace {
struct RotateBuffersPass final
    : shardc::impl::RotateBuffersPassBase<RotateBuffersPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      if (auto loop = dyn_cast<scf::WhileOp>(op))
        rotate(loop);
      else
        rotate(cast<scf::ForOp>(op));
    }
  }
};
} // namespace
} // namespace shardc
