//===- KernelMatrices.cpp - Algorithms on matrices ------------------------===//
#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelMatrices.cpp.inc"

/// What goes in is read, what comes out is written.
static void
addEffects(DestinationStyleOpInterface op,
           SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}
void EighOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(*this, effects);
}
void SvdOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(*this, effects);
}

/// The type of elements' real parts, or null after an error.
static Type verifyMatrices(Operation *op, ShapedType type) {
  if (!type.hasRank() || type.getRank() < 2) {
    op->emitOpError() << "has " << type << ", expected matrices";
    return {};
  }
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  Type real = complex ? complex.getElementType() : element;
  if (real.isF32() || real.isF64())
    return real;
  op->emitOpError() << "has elements of " << element
                    << ", expected f32, f64 or complex numbers of these";
  return {};
}

/// An error unless `init` has the batch of `type`, behind it `shape`, and
/// elements of type `element`.
static LogicalResult verifyInit(Operation *op, ShapedType type, Value init,
                                ArrayRef<int64_t> shape, Type element) {
  auto other = cast<ShapedType>(init.getType());
  SmallVector<int64_t> expected(type.getShape().drop_back(2));
  expected.append(shape.begin(), shape.end());
  if (failed(verifyCompatibleShape(expected, other.getShape())) ||
      other.getElementType() != element)
    return op->emitOpError()
           << "has init " << other << " for matrices of " << type;
  return success();
}

LogicalResult EighOp::verify() {
  auto type = cast<ShapedType>(getInput().getType());
  Type real = verifyMatrices(*this, type);
  if (!real)
    return failure();
  ArrayRef<int64_t> sizes = type.getShape().take_back(2);
  if (sizes[0] != sizes[1])
    return emitOpError() << "has " << type << ", expected square matrices";
  OperandRange inits = getInits();
  if (inits.size() != 1 && inits.size() != 2)
    return emitOpError() << "has " << inits.size()
                         << " inits, expected eigenvalues and perhaps vectors";
  if (failed(verifyInit(*this, type, inits[0], sizes[0], real)))
    return failure();
  return inits.size() == 1
             ? success()
             : verifyInit(*this, type, inits[1], sizes, type.getElementType());
}

LogicalResult SvdOp::verify() {
  auto type = cast<ShapedType>(getInput().getType());
  Type real = verifyMatrices(*this, type), element = type.getElementType();
  if (!real)
    return failure();
  ArrayRef<int64_t> sizes = type.getShape().take_back(2);
  if (ShapedType::isDynamic(sizes[0]) || ShapedType::isDynamic(sizes[1]) ||
      sizes[0] < sizes[1])
    return emitOpError() << "has " << type
                         << ", expected no more columns than rows";
  OperandRange inits = getInits();
  if (inits.size() != 1 && inits.size() != 3)
    return emitOpError()
           << "has " << inits.size()
           << " inits, expected singular values and perhaps both vectors";
  if (failed(verifyInit(*this, type, inits[0], sizes[1], real)))
    return failure();
  if (inits.size() == 1)
    return success();
  return failure(
      failed(verifyInit(*this, type, inits[1], sizes, element)) ||
      failed(verifyInit(*this, type, inits[2], {sizes[1], sizes[1]}, element)));
}
