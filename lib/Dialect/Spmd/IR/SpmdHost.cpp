//===- SpmdHost.cpp - Calls of the process that runs a program ------------===//
#include "shardc/Dialect/Spmd/IR/SpmdSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// HostCallOp
//===----------------------------------------------------------------------===//

/// What is called may say something else each time: calls are neither repeated
/// nor moved across one another; those without effects may go.
void HostCallOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getHasEffect())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult HostCallOp::verify() {
  if (static_cast<int64_t>(getIndex()) < 0)
    return emitOpError() << "calls function " << int64_t(getIndex())
                         << ", expected 0 or more";
  if (getShards() && getNumResults() > 0)
    return emitOpError() << "is made on shards, but has " << getNumResults()
                         << " results, expected none";
  size_t numValues = getNumOperands() + getNumResults();
  if (getTypes() && getTypes()->size() != numValues)
    return emitOpError() << "lists " << getTypes()->size()
                         << " types, expected " << numValues
                         << ": those of its operands and results";
  if (std::optional<ArrayAttr> types = getTypes())
    for (Attribute attr : *types)
      if (auto type =
              dyn_cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
          !type || !type.hasStaticShape())
        return emitOpError() << "lists type " << attr
                             << ", expected tensors of static shapes";
  return success();
}

//===----------------------------------------------------------------------===//
// RunHostOp
//===----------------------------------------------------------------------===//

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
