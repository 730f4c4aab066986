//===- KernelLines.cpp - Algorithms on the lines of a tensor --------------===//
#include "shardc/Dialect/Kernel/IR/KernelLines.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelLines.cpp.inc"

void LinesOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// The type of elements of `value`.
static Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

/// An error where `body` is not given `arguments`, or does not yield `results`.
static LogicalResult verifyBody(LinesOp op, ArrayRef<Type> arguments,
                                ArrayRef<Type> results) {
  if (!op.getBody().hasOneBlock())
    return op.emitOpError() << "expected a body of one block";
  Block &block = op.getBody().front();
  if (block.getArgumentTypes() != TypeRange(arguments))
    return op.emitOpError() << "has a body of (" << block.getArgumentTypes()
                            << "), expected (" << arguments << ")";
  auto yield =
      dyn_cast_or_null<LineYieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getOperandTypes() != TypeRange(results))
    return op.emitOpError()
           << "has a body that does not yield (" << results << ")";
  return success();
}

/// Transforms of numbers that are whole are the host's: inputs are the numbers
/// and two tables, the start is a factor. One side may be real; the other has
/// then the first half of the numbers and one more.
static LogicalResult verifyWhole(LinesOp op) {
  auto shape = cast<ShapedType>(op.getInputs()[0].getType());
  int64_t dim = op.getDim();
  if (op.getInits().size() != 1 || op.getStarts().size() != 1 ||
      op.getPositions() || !op.getBody().empty())
    return op.emitOpError()
           << "of numbers and two tables has " << op.getStarts().size()
           << " starts and " << op.getInits().size()
           << " inits, expected a factor and a result";
  if (!shape.hasRank() || dim < 0 || dim >= shape.getRank())
    return op.emitOpError() << "has no dim " << dim << " in " << shape;
  auto init = cast<ShapedType>(op.getInits()[0].getType());
  auto partOf = [](Type element) {
    auto complex = dyn_cast<ComplexType>(element);
    return complex ? complex.getElementType() : element;
  };
  Type part = partOf(shape.getElementType());
  auto first = cast<ShapedType>(op.getInputs()[1].getType());
  int64_t length = first.hasRank() && first.getRank() == 1
                       ? first.getDimSize(0)
                       : ShapedType::kDynamic;
  for (Value table : op.getInputs().drop_front())
    if (ShapedType::isDynamic(length) || elementOf(table) != part ||
        cast<ShapedType>(table.getType()).getShape() != ArrayRef(length))
      return op.emitOpError() << "has a table of " << table.getType()
                              << " for lines of " << shape;
  bool fromReal = !isa<ComplexType>(shape.getElementType()),
       toReal = !isa<ComplexType>(init.getElementType());
  SmallVector<int64_t> in(shape.getShape()), out(shape.getShape());
  in[dim] = toReal ? length / 2 + 1 : length;
  out[dim] = fromReal ? length / 2 + 1 : length;
  if ((fromReal && toReal) || partOf(init.getElementType()) != part ||
      shape.getShape() != ArrayRef(in) ||
      failed(verifyCompatibleShape(out, init.getShape())))
    return op.emitOpError() << "has init " << init << " for lines of " << shape
                            << " and tables of " << length;
  if (op.getStarts()[0].getType() != part)
    return op.emitOpError() << "has a factor of " << op.getStarts()[0].getType()
                            << ", expected " << part;
  return success();
}

LogicalResult LinesOp::verify() {
  OperandRange inputs = getInputs(), inits = getInits();
  bool isFourier = getKind() == LineKind::Fourier;
  if (isFourier && inputs.size() == 3)
    return verifyWhole(*this);
  size_t lines = isFourier ? 2 : inputs.size();
  if (inputs.empty() || (isFourier && inputs.size() != 4))
    return emitOpError() << "has " << inputs.size() << " inputs, expected "
                         << (isFourier ? "two parts and two tables"
                                       : "at least one");
  auto shape = cast<ShapedType>(inputs[0].getType());
  int64_t dim = getDim();
  if (!shape.hasRank() || dim < 0 || dim >= shape.getRank())
    return emitOpError() << "has no dim " << dim << " in " << shape;
  for (Value input : inputs.take_front(lines))
    if (failed(verifyCompatibleShape(
            shape.getShape(), cast<ShapedType>(input.getType()).getShape())))
      return emitOpError() << "has inputs of " << shape << " and of "
                           << input.getType() << ", expected one shape";
  if (inits.size() != lines + getPositions())
    return emitOpError() << "has " << inits.size() << " inits, expected "
                         << lines + getPositions();
  for (auto [i, init] : llvm::enumerate(inits)) {
    auto type = cast<ShapedType>(init.getType());
    SmallVector<int64_t> expected(shape.getShape());
    if (getKind() == LineKind::Sort && type.hasRank() && type.getRank() > dim)
      expected[dim] = type.getDimSize(dim);
    if (failed(verifyCompatibleShape(expected, type.getShape())))
      return emitOpError() << "has init " << type << " for lines of " << shape;
    if (ShapedType::isStatic(shape.getDimSize(dim)) &&
        type.getDimSize(dim) > shape.getDimSize(dim))
      return emitOpError() << "has init " << type << ", longer than lines of "
                           << shape;
    if (i < lines ? type.getElementType() != elementOf(inputs[i])
                  : !type.getElementType().isSignlessInteger())
      return emitOpError() << "has an init of " << type.getElementType()
                           << ", expected "
                           << (i < lines ? "the element type of its input"
                                         : "integers");
  }
  if (getPositions() && getKind() != LineKind::Sort)
    return emitOpError() << "has positions, which sorts alone give";
  if (getBackward() && getKind() != LineKind::Scan)
    return emitOpError() << "goes backward, which scans alone do";
  SmallVector<Type> elements = llvm::map_to_vector(inputs.take_front(lines),
                                                   elementOf),
                    twice;
  if (getKind() != LineKind::Scan && !getStarts().empty())
    return emitOpError() << "has starts, which scans alone have";
  if (getKind() == LineKind::Sort) {
    for (Type element : elements)
      twice.append(2, element);
    return verifyBody(*this, twice, IntegerType::get(getContext(), 1));
  }
  if (getKind() == LineKind::Scan) {
    if (getStarts().getTypes() != TypeRange(elements))
      return emitOpError() << "has starts of (" << getStarts().getTypes()
                           << "), expected (" << elements << ")";
    twice = elements;
    twice.append(elements);
    return verifyBody(*this, twice, elements);
  }
  if (!getBody().empty())
    return emitOpError() << "has a body, which a transform has not";
  int64_t n = shape.getDimSize(dim);
  for (Value table : inputs.drop_front(2))
    if (ShapedType::isDynamic(n) ||
        cast<ShapedType>(table.getType()).getShape() != ArrayRef(n))
      return emitOpError() << "has a table of " << table.getType()
                           << " for lines of " << shape;
  if (elements[0] != elements[1] || !isa<FloatType>(elements[0]) ||
      elementOf(inputs[2]) != elements[0] ||
      elementOf(inputs[3]) != elements[0])
    return emitOpError() << "has parts and tables of " << elements
                         << ", expected one float type";
  return success();
}
