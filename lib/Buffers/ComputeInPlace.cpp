//===- ComputeInPlace.cpp - Results in place of operands ------------------===//
//
// An elementwise op reads an element before it writes that of its result. So
// its result may take the place of an operand that nothing reads any more: what
// makes the operand writes to where the result will be. After all passes that
// ask which op makes a buffer, and before kernels, which find in one buffer
// what they would find in two.
//
//===----------------------------------------------------------------------===//
#include "Touches.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Support/Views.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_COMPUTEINPLACEPASS
#include "shardc/Buffers/Passes.h.inc"

using Touches = llvm::SetVector<Operation *>;

static bool allBefore(const Touches &touches, Operation *op) {
  return llvm::all_of(touches, [&](Operation *other) {
    return other == op || other->isBeforeInBlock(op);
  });
}

/// The first of `touches`.
static Operation *firstOf(const Touches &touches) {
  return *llvm::min_element(touches, [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  });
}

/// True if one of `touches` makes elements as sums, say, which nothing but `op`
/// reads: a kernel may do both, and needs no buffer between.
static bool isFinishedBy(const Touches &touches, Operation *op) {
  auto reduces = [](Operation *other) {
    auto generic = dyn_cast<linalg::GenericOp>(other);
    return generic && generic.getNumReductionLoops();
  };
  return llvm::any_of(touches, reduces) &&
         llvm::all_of(touches, [&](Operation *other) {
           auto generic = dyn_cast<linalg::GenericOp>(other);
           return other == op || reduces(other) ||
                  (generic && generic.getNumDpsInputs() == 0);
         });
}

/// True if one of `touches` makes what `op` finishes: a kernel that does both
/// writes the result while it still reads what `touches` are of.
static bool isReadBeforeFinished(const Touches &touches, linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    std::optional<Touches> makers = touchesIn(op->getBlock(), input);
    return makers && isFinishedBy(*makers, op) &&
           llvm::any_of(*makers, [&](Operation *maker) {
             return maker != op && touches.contains(maker);
           });
  });
}

/// True if the function's argument `to` may be written before `op`, from
/// `first` on: the donated argument whose memory it may be is read earlier.
static bool mayBeWrittenFrom(Operation *first, BlockArgument to) {
  auto function = dyn_cast<func::FuncOp>(to.getOwner()->getParentOp());
  if (!function || to.getOwner() != first->getBlock())
    return false;
  IntegerAttr donated =
      spmd::contract::InPlace::ofArgument(function, to.getArgNumber());
  if (!donated)
    return true;
  std::optional<Touches> reads =
      touchesIn(to.getOwner(), function.getArgument(donated.getInt()));
  return reads && llvm::all_of(*reads, [&](Operation *reader) {
           return reader->isBeforeInBlock(first);
         });
}

/// Lets `op` write the result `to` over its operand `from`; true if it may.
static bool overwrite(linalg::GenericOp op, memref::AllocOp from, Value to) {
  Block *block = op->getBlock();
  if (from->getBlock() != block || from.getType() != to.getType() ||
      !from.getType().hasStaticShape() || from.getResult() == to ||
      !readsAsItWrites(op, from, to))
    return false;
  auto made = to.getDefiningOp<memref::AllocOp>();
  if (made ? made->getBlock() != block || made->getAttrs() != from->getAttrs()
           : !isa<BlockArgument>(to))
    return false;
  std::optional<Touches> before = touchesIn(block, from);
  // Peers may see what is in the buffer of a site.
  if (!before || !allBefore(*before, op) || isFinishedBy(*before, op) ||
      isReadBeforeFinished(*before, op) ||
      llvm::any_of(*before, spmd::runsSites))
    return false;
  std::optional<Touches> after = touchesIn(block, to);
  if (!after || firstOf(*after) != op)
    return false;
  if (!made && !mayBeWrittenFrom(firstOf(*before), cast<BlockArgument>(to)))
    return false;
  // The earlier one stays: an op that moves has its whole block numbered anew.
  if (made && from->isBeforeInBlock(made)) {
    made.replaceAllUsesWith(from.getResult());
    made.erase();
    return true;
  }
  from.replaceAllUsesWith(to);
  from.erase();
  return true;
}

namespace {
struct ComputeInPlacePass final
    : shardc::impl::ComputeInPlacePassBase<ComputeInPlacePass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0)
        ops.push_back(op);
    });
    // Backwards: what a chain of ops ends in is where all of it is.
    for (linalg::GenericOp op : llvm::reverse(ops))
      for (Value to : SmallVector<Value>(op.getDpsInits()))
        for (Value input : SmallVector<Value>(op.getDpsInputs()))
          if (auto from = input.getDefiningOp<memref::AllocOp>();
              from && overwrite(op, from, to))
            break;
  }
};
} // namespace
} // namespace shardc
