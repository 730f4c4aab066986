//===- PairSteps.cpp - Blocks that travel past every rank -----------------===//
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Pairs/IR/PairsOps.cpp.inc"

//===----------------------------------------------------------------------===//
// PairStepOp
//===----------------------------------------------------------------------===//

SmallVector<Value> PairStepOp::getShapedInputs() {
  SmallVector<Value> inputs{getQuery(), getKey()};
  if (Value value = getValue())
    inputs.push_back(value);
  llvm::append_range(inputs, getRows());
  llvm::append_range(inputs, getExtras());
  return inputs;
}

void PairStepOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult PairStepOp::verify() {
  SmallVector<Value> tensors = getShapedInputs();
  llvm::append_range(tensors, getInits());
  if (getMaps().size() != tensors.size())
    return emitOpError() << "has " << getMaps().size() << " maps, expected "
                         << tensors.size()
                         << ": one for each operand and state";
  int64_t numDims = getMap(0).getNumDims();
  if (numDims < 4)
    return emitOpError()
           << "has maps over " << numDims
           << " dims, expected at least query, key, depth and feature";
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    AffineMap map = getMap(i);
    if (map.getNumDims() != numDims || map.getNumSymbols() != 0 ||
        !map.isProjectedPermutation() ||
        map.getNumResults() != cast<ShapedType>(tensor.getType()).getRank())
      return emitOpError() << "has map " << AffineMapAttr::get(map) << " for "
                           << tensor.getType()
                           << ", expected each of its dims to be one of "
                           << numDims << " dims";
  }
  if (static_cast<int64_t>(getAt().size()) != numDims - 2)
    return emitOpError() << "begins at " << getAt().size()
                         << " indices, expected " << numDims - 2;
  size_t states = getBackward()                          ? 3
                  : getCombine() == PairCombine::Softmax ? 3
                  : getCombine() == PairCombine::TopK    ? 2
                                                         : 1;
  if (getBackward() ? getInits().size() < states || getRows().size() != 3
                    : getInits().size() != states || !getRows().empty())
    return emitOpError() << "has " << getInits().size() << " states and "
                         << getRows().size()
                         << " rows, which do not belong to it";
  if (getBackward() && (getCombine() != PairCombine::Softmax ||
                        getSlope().empty() || !getValue()))
    return emitOpError()
           << "is a backward step without value or slope, or not of softmax";
  if (getCombine() == PairCombine::Softmax && !getValue())
    return emitOpError() << "lacks a value, which 'softmax' weighs";
  return success();
}
