//===- ForwardCopies.cpp - Build results where they are wanted ------------===//
//
// Bufferization copies a result into its destination where it could not prove
// early enough that it may be built there. On buffers the proof is short: the
// destination is an argument that nothing else touches, and the copy is the
// last use of the buffer.
//
//===----------------------------------------------------------------------===//
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Buffers/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FORWARDCOPIESPASS
#include "shardc/Buffers/Passes.h.inc"

/// True if `copy` comes after all other uses of `buffer` and of what may be a
/// view of it.
static bool isLastUse(memref::CopyOp copy, Value buffer) {
  SmallVector<Value> work{buffer};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (user == copy)
        continue;
      Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || !ancestor->isBeforeInBlock(copy))
        return false;
      if (isa<ViewLikeOpInterface>(user)) {
        work.append(user->result_begin(), user->result_end());
        continue;
      }
      // Passed on through control flow or arithmetic: out of sight.
      for (Type type : user->getResultTypes())
        if (isa<BaseMemRefType>(type))
          return false;
      if (isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(user))
        return false;
    }
  }
  return true;
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
          (isReshaped && !alloc.getType().hasStaticShape()) ||
          !isLastUse(copy, alloc))
        continue;
      OpBuilder builder(alloc);
      Value result = target;
      if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(view))
        result = memref::ExpandShapeOp::create(
            builder, alloc.getLoc(), alloc.getType(), target,
            collapse.getReassociationIndices());
      else if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(view))
        result = memref::CollapseShapeOp::create(
            builder, alloc.getLoc(), target, expand.getReassociationIndices());
      if (result.getType() != alloc.getType())
        continue;
      alloc.replaceAllUsesWith(result);
      copy.erase();
      alloc.erase();
    }
  }
};
} // namespace
} // namespace shardc
