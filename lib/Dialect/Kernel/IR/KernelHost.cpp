//===- KernelHost.cpp - Calls of the process that runs a program ----------===//
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

void RunHostOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getHasEffect())
    effects.emplace_back(MemoryEffects::Write::get());
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<BaseMemRefType>(operand.get().getType())) {
      if (isDpsInit(&operand))
        effects.emplace_back(MemoryEffects::Write::get(), &operand);
      else
        effects.emplace_back(MemoryEffects::Read::get(), &operand);
    }
}
