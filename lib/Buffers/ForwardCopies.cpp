//===- ForwardCopies.cpp - Build results where they are wanted ------------===//
//
// Bufferization copies a result into its destination where it could not prove
// early enough that it may be built there. On buffers the proof is short: the
// destination is an argument that nothing else touches, and the copy is the
// last use of the buffer. Fourier transforms of several dims go from buffer to
// buffer in the same way: they are one.
//
//===----------------------------------------------------------------------===//
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FORWARDCOPIESPASS
#include "shardc/Buffers/Passes.h.inc"

/// The ops of `block` that touch `buffer` or what may be a view of it, or have
/// one in them that does; nothing if it goes out of sight.
static std::optional<llvm::SetVector<Operation *>> touchesIn(Block *block,
                                                             Value buffer) {
  llvm::SetVector<Operation *> touches;
  SmallVector<Value> work{buffer};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor)
        return std::nullopt;
      if (isa<ViewLikeOpInterface>(user)) {
        work.append(user->result_begin(), user->result_end());
        continue;
      }
      touches.insert(ancestor);
      // Passed on through control flow or arithmetic.
      for (Type type : user->getResultTypes())
        if (isa<BaseMemRefType>(type))
          return std::nullopt;
      if (isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(user))
        return std::nullopt;
    }
  }
  return touches;
}

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

namespace {
struct ForwardCopiesPass final
    : shardc::impl::ForwardCopiesPassBase<ForwardCopiesPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    for (memref::CopyOp op : getOperation().getBody().getOps<memref::CopyOp>())
      copies.push_back(op);
    for (memref::CopyOp copy : copies) {
      Operation *view = copy.getSource().getDefiningOp();
      bool isReshaped =
          isa_and_nonnull<memref::CollapseShapeOp, memref::ExpandShapeOp>(view);
      Value source = isReshaped ? view->getOperand(0) : copy.getSource();
      auto alloc = source.getDefiningOp<memref::AllocOp>();
      auto target = dyn_cast<BlockArgument>(copy.getTarget());
      if (!alloc || !target || !target.hasOneUse() ||
          alloc->getBlock() != copy->getBlock() ||
          target.getOwner() != copy->getBlock() ||
          copy.getSource().getType() != target.getType() ||
          !isLastUse(copy, alloc))
        continue;
      OpBuilder builder(alloc);
      Value result = target;
      if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(view))
        result = memref::ExpandShapeOp::create(
            builder, alloc.getLoc(), alloc.getType(), target,
            collapse.getReassociationIndices(), alloc.getMixedSizes());
      else if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(view))
        result = memref::CollapseShapeOp::create(
            builder, alloc.getLoc(), target, expand.getReassociationIndices());
      if (result.getType() != alloc.getType())
        continue;
      alloc.replaceAllUsesWith(result);
      copy.erase();
      alloc.erase();
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
