//===- KernelSites.cpp - Lowered communication ----------------------------===//
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelSites.cpp.inc"

//===----------------------------------------------------------------------===//
// RunSiteOp
//===----------------------------------------------------------------------===//

void RunSiteOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Peers take part: never dropped, never moved across one another.
  effects.emplace_back(MemoryEffects::Write::get());
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getInitsMutable())
    if (isa<BaseMemRefType>(operand.get().getType())) {
      if (getAccumulates())
        effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}

bool shardc::spmd::isSite(Operation *op) {
  return isa<RunSiteOp, StartSiteOp, ReleaseSiteOp>(op);
}

bool shardc::spmd::runsSites(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isSite(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
