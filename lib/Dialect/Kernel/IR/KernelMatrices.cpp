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
void QrOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(*this, effects);
}
void HessenbergOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(*this, effects);
}
void HouseholderProductOp::getEffects(
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

/// What ops on reflectors have in common: matrices and what takes them, and as
/// many taus for each.
static LogicalResult verifyReflectors(Operation *op, Value input, Value packed,
                                      Value taus, int64_t count) {
  auto type = cast<ShapedType>(input.getType());
  return failure(
      failed(verifyInit(op, type, packed, type.getShape().take_back(2),
                        type.getElementType())) ||
      failed(verifyInit(op, type, taus, count, type.getElementType())));
}

/// Rows and columns of `type`, or an error.
static FailureOr<std::pair<int64_t, int64_t>> sizesOf(Operation *op,
                                                      ShapedType type) {
  if (!verifyMatrices(op, type))
    return failure();
  ArrayRef<int64_t> sizes = type.getShape().take_back(2);
  if (llvm::any_of(sizes, ShapedType::isDynamic))
    return op->emitOpError() << "has " << type << ", expected static matrices";
  return std::pair(sizes[0], sizes[1]);
}

static LogicalResult expectInits(Operation *op, size_t found, size_t expected) {
  if (found == expected)
    return success();
  return op->emitOpError() << "has " << found << " inits, expected "
                           << expected;
}

LogicalResult QrOp::verify() {
  auto sizes = sizesOf(*this, cast<ShapedType>(getInput().getType()));
  if (failed(sizes) || failed(expectInits(*this, getInits().size(), 2)))
    return failure();
  return verifyReflectors(*this, getInput(), getPacked(), getTaus(),
                          std::min(sizes->first, sizes->second));
}

LogicalResult HessenbergOp::verify() {
  auto type = cast<ShapedType>(getInput().getType());
  auto sizes = sizesOf(*this, type);
  if (failed(sizes) || failed(expectInits(*this, getInits().size(), 2)))
    return failure();
  if (sizes->first != sizes->second)
    return emitOpError() << "has " << type << ", expected square matrices";
  return verifyReflectors(*this, getInput(), getPacked(), getTaus(),
                          std::max<int64_t>(sizes->first - 1, 0));
}

LogicalResult HouseholderProductOp::verify() {
  auto type = cast<ShapedType>(getInput().getType());
  auto sizes = sizesOf(*this, type);
  if (failed(sizes) || failed(expectInits(*this, getInits().size(), 1)))
    return failure();
  auto taus = cast<ShapedType>(getTaus().getType());
  int64_t most = std::min(sizes->first, sizes->second),
          count = taus.hasRank() && taus.getRank() > 0 ? taus.getShape().back()
                                                       : ShapedType::kDynamic;
  if (ShapedType::isDynamic(count) || count > most)
    return emitOpError() << "has taus " << taus << ", expected at most " << most
                         << " for each matrix";
  return verifyReflectors(*this, getInput(), getPacked(), getTaus(), count);
}
