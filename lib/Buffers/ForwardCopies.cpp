//===- ForwardCopies.cpp - Build results where they are wanted ------------===//
//
// Bufferization copies a result into its destination where it could not prove
// early enough that it may be built there. On buffers the proof is short: the
// destination is an argument that nothing else touches, and the copy is the
// last use of the buffer, perhaps in the branch that makes it. Fourier
// transforms of several dims go from buffer to buffer in the same way: they are
// one.
//
//===----------------------------------------------------------------------===//
#include "Touches.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FORWARDCOPIESPASS
#include "shardc/Buffers/Passes.h.inc"

/// True if `op` comes after all other uses of `buffer` and of what may be a
/// view of it.
static bool isLastUse(Operation *op, Value buffer) {
  std::optional<llvm::SetVector<Operation *>> touches =
      touchesIn(op->getBlock(), buffer);
  return touches && llvm::all_of(*touches, [&](Operation *other) {
           return other == op || other->isBeforeInBlock(op);
         });
}

/// A line is read as a whole before it is written, so lines that nothing reads
/// any more are transformed where they are: what makes them writes to where the
/// transform would.
static void transformInPlace(spmd::LinesOp op) {
  if (op.getKind() != spmd::LineKind::Fourier || op.getInits().size() != 1)
    return;
  auto from = op.getInputs().front().getDefiningOp<memref::AllocOp>();
  Value to = op.getInits().front();
  auto made = to.getDefiningOp<memref::AllocOp>();
  Block *block = op->getBlock();
  if (!from || from->getBlock() != block || from.getType() != to.getType() ||
      !from.getType().hasStaticShape() || !isLastUse(op, from) ||
      (made ? made->getBlock() != block
            : !isa<BlockArgument>(to) || to.getParentBlock() != block))
    return;
  std::optional<llvm::SetVector<Operation *>> before = touchesIn(block, from),
                                              after = touchesIn(block, to);
  // Peers may see what is in the buffer of a site.
  if (!after || llvm::any_of(*before, spmd::runsSites) ||
      !llvm::all_of(*after, [&](Operation *other) {
        return other == op || op->isBeforeInBlock(other);
      }))
    return;
  if (made && from->isBeforeInBlock(made))
    made->moveBefore(from);
  from.replaceAllUsesWith(to);
  from.erase();
}

/// True if `a` and `b` are in different branches, of which one runs.
static bool areAlternatives(Operation *a, Operation *b) {
  while (auto branches = dyn_cast<scf::IfOp>(a->getParentOp())) {
    if (branches->isAncestor(b))
      return !a->getParentRegion()->isAncestor(b->getParentRegion());
    a = branches;
  }
  return false;
}

/// True if nothing but `copy`, and copies in other branches beside it, touches
/// its target.
static bool isItsAlone(memref::CopyOp copy, Value target) {
  return llvm::all_of(target.getUsers(), [&](Operation *user) {
    return user == copy || areAlternatives(copy, user);
  });
}

/// Lets each branch copy what it gives, where `copy` is all that reads it and
/// what is between only writes other results. Adds these copies to `copies`;
/// false if `copy` stays.
static bool copyInBranches(memref::CopyOp copy,
                           SmallVectorImpl<memref::CopyOp> &copies) {
  auto result = dyn_cast<OpResult>(copy.getSource());
  auto branches = copy.getSource().getDefiningOp<scf::IfOp>();
  auto target = dyn_cast<BlockArgument>(copy.getTarget());
  if (!branches || !result.hasOneUse() || !target ||
      !isItsAlone(copy, target) || branches->getBlock() != copy->getBlock())
    return false;
  for (Operation *op = branches->getNextNode(); op != copy;
       op = op->getNextNode()) {
    auto other = dyn_cast<memref::CopyOp>(op);
    if (!isMemoryEffectFree(op) && !isa<memref::AllocOp>(op) &&
        !(other && isa<BlockArgument>(other.getTarget())))
      return false;
  }
  for (Region *region :
       {&branches.getThenRegion(), &branches.getElseRegion()}) {
    Operation *yield = region->front().getTerminator();
    OpBuilder builder(yield);
    copies.push_back(memref::CopyOp::create(
        builder, copy.getLoc(), yield->getOperand(result.getResultNumber()),
        target));
    yield->eraseOperand(result.getResultNumber());
  }
  copy.erase();
  SmallVector<Value> others(branches.getResults());
  others.erase(others.begin() + result.getResultNumber());
  OpBuilder builder(branches);
  auto remaining = scf::IfOp::create(builder, branches.getLoc(),
                                     ValueRange(others).getTypes(),
                                     branches.getCondition(), true);
  remaining.getThenRegion().takeBody(branches.getThenRegion());
  remaining.getElseRegion().takeBody(branches.getElseRegion());
  for (auto [other, now] : llvm::zip_equal(others, remaining.getResults()))
    other.replaceAllUsesWith(now);
  branches.erase();
  return true;
}

/// Makes what `copy` copies to a result where the result is.
static void forward(memref::CopyOp copy) {
  Operation *view = copy.getSource().getDefiningOp();
  bool isReshaped =
      isa_and_nonnull<memref::CollapseShapeOp, memref::ExpandShapeOp>(view);
  Value source = isReshaped ? view->getOperand(0) : copy.getSource();
  auto alloc = source.getDefiningOp<memref::AllocOp>();
  auto target = dyn_cast<BlockArgument>(copy.getTarget());
  if (!alloc || !target || !isItsAlone(copy, target) ||
      alloc->getBlock() != copy->getBlock() ||
      !isa<func::FuncOp>(target.getOwner()->getParentOp()) ||
      copy.getSource().getType() != target.getType() || !isLastUse(copy, alloc))
    return;
  OpBuilder builder(alloc);
  Value result = target;
  if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(view))
    result = memref::ExpandShapeOp::create(
        builder, alloc.getLoc(), alloc.getType(), target,
        collapse.getReassociationIndices(), alloc.getMixedSizes());
  else if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(view))
    result = memref::CollapseShapeOp::create(builder, alloc.getLoc(), target,
                                             expand.getReassociationIndices());
  if (result.getType() != alloc.getType())
    return;
  alloc.replaceAllUsesWith(result);
  copy.erase();
  alloc.erase();
}

namespace {
struct ForwardCopiesPass final
    : shardc::impl::ForwardCopiesPassBase<ForwardCopiesPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies(
        getOperation().getBody().getOps<memref::CopyOp>());
    while (!copies.empty()) {
      memref::CopyOp copy = copies.pop_back_val();
      if (!copyInBranches(copy, copies))
        forward(copy);
    }
    if (!transforms)
      return;
    // Backwards: what one of several dims is built in becomes what the one
    // before is.
    SmallVector<spmd::LinesOp> lines;
    getOperation().walk([&](spmd::LinesOp op) { lines.push_back(op); });
    for (spmd::LinesOp op : llvm::reverse(lines))
      transformInPlace(op);
  }
};
} // namespace
} // namespace shardc
