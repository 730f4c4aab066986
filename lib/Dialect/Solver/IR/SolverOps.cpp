//===- SolverOps.cpp - The solver dialect ---------------------------------===//
#include "shardc/Dialect/Solver/IR/Solver.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::solver;

#include "shardc/Dialect/Solver/IR/SolverDialect.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Solver/IR/SolverOps.cpp.inc"

void SolverDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Solver/IR/SolverOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

static Type realOf(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

/// `value` is a tensor of `element` of `shape`, sizes that are `?` apart.
static LogicalResult expect(Operation *op, Value value, StringRef name,
                            ArrayRef<int64_t> shape, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  auto expected = RankedTensorType::get(shape, element);
  if (type.getElementType() != element ||
      failed(verifyCompatibleShape(type, expected)))
    return op->emitOpError("has ")
           << name << " of type " << type << ", expected " << expected;
  return success();
}

/// Sizes of the batch, then `last`.
static SmallVector<int64_t> batchAnd(RankedTensorType type,
                                     ArrayRef<int64_t> last) {
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append(last.begin(), last.end());
  return shape;
}

/// The type of `matrices`, which has at least two dims and known sizes of the
/// last two.
static FailureOr<RankedTensorType> matrixType(Operation *op, Value matrices) {
  auto type = cast<RankedTensorType>(matrices.getType());
  if (type.getRank() < 2 || type.isDynamicDim(type.getRank() - 1) ||
      type.isDynamicDim(type.getRank() - 2))
    return op->emitOpError("has an operand of type ")
           << type << ", expected matrices of known size in its last two dims";
  return type;
}

static int64_t rowsOf(RankedTensorType type) {
  return type.getDimSize(type.getRank() - 2);
}
static int64_t columnsOf(RankedTensorType type) {
  return type.getDimSize(type.getRank() - 1);
}

LogicalResult LuOp::verify() {
  auto type = matrixType(*this, getA());
  if (failed(type))
    return failure();
  Type element = type->getElementType(),
       number = IntegerType::get(getContext(), 32);
  int64_t rows = rowsOf(*type), least = std::min(rows, columnsOf(*type));
  return success(
      succeeded(
          expect(*this, getPacked(), "packed", type->getShape(), element)) &&
      succeeded(expect(*this, getPivots(), "pivots", batchAnd(*type, least),
                       number)) &&
      succeeded(expect(*this, getPermutation(), "permutation",
                       batchAnd(*type, rows), number)) &&
      succeeded(expect(*this, getInfo(), "info", batchAnd(*type, {}), number)));
}

LogicalResult PermutationOp::verify() {
  ArrayRef<int64_t> pivots =
      cast<RankedTensorType>(getPivots().getType()).getShape();
  ArrayRef<int64_t> rows =
      cast<RankedTensorType>(getPermutation().getType()).getShape();
  if (pivots.empty() || rows.size() != pivots.size() ||
      ShapedType::isDynamic(pivots.back()) || pivots.back() > rows.back() ||
      failed(verifyCompatibleShape(pivots.drop_back(), rows.drop_back())))
    return emitOpError("turns ")
           << getPivots().getType() << " into " << getPermutation().getType()
           << ", expected no more pivots than rows, in equal batches";
  return success();
}

LogicalResult QrOp::verify() {
  auto type = matrixType(*this, getA());
  if (failed(type))
    return failure();
  int64_t least = std::min(rowsOf(*type), columnsOf(*type));
  Type element = type->getElementType();
  return success(succeeded(expect(*this, getPacked(), "packed",
                                  type->getShape(), element)) &&
                 succeeded(expect(*this, getTaus(), "taus",
                                  batchAnd(*type, least), element)));
}

LogicalResult HouseholderProductOp::verify() {
  auto type = matrixType(*this, getPacked());
  if (failed(type))
    return failure();
  auto taus = cast<RankedTensorType>(getTaus().getType());
  int64_t count = taus.getRank() ? taus.getShape().back() : -1;
  if (count < 0 || count > columnsOf(*type) || columnsOf(*type) > rowsOf(*type))
    return emitOpError("has ")
           << *type << " and taus of type " << taus
           << ", expected no more taus than columns and no more columns than "
              "rows";
  Type element = type->getElementType();
  return success(
      succeeded(
          expect(*this, getTaus(), "taus", batchAnd(*type, count), element)) &&
      succeeded(expect(*this, getQ(), "q", type->getShape(), element)));
}

LogicalResult PivotedQrOp::verify() {
  auto type = matrixType(*this, getA());
  if (failed(type))
    return failure();
  int64_t least = std::min(rowsOf(*type), columnsOf(*type));
  Type element = type->getElementType(),
       number = IntegerType::get(getContext(), 32);
  SmallVector<int64_t> columns = batchAnd(*type, columnsOf(*type));
  return success(
      succeeded(expect(*this, getFixed(), "fixed", columns, number)) &&
      succeeded(
          expect(*this, getPacked(), "packed", type->getShape(), element)) &&
      succeeded(expect(*this, getOrder(), "order", columns, number)) &&
      succeeded(
          expect(*this, getTaus(), "taus", batchAnd(*type, least), element)));
}

/// The type of `matrices`, which are square.
static FailureOr<RankedTensorType> squareType(Operation *op, Value matrices) {
  FailureOr<RankedTensorType> type = matrixType(op, matrices);
  if (succeeded(type) && rowsOf(*type) != columnsOf(*type))
    return op->emitOpError("has an operand of type ")
           << *type << ", expected square matrices";
  return type;
}

LogicalResult HessenbergOp::verify() {
  auto type = squareType(*this, getA());
  if (failed(type))
    return failure();
  Type element = type->getElementType();
  int64_t reflectors = std::max<int64_t>(rowsOf(*type) - 1, 0);
  return success(succeeded(expect(*this, getPacked(), "packed",
                                  type->getShape(), element)) &&
                 succeeded(expect(*this, getTaus(), "taus",
                                  batchAnd(*type, reflectors), element)));
}

LogicalResult SchurOp::verify() {
  auto type = squareType(*this, getH());
  if (failed(type))
    return failure();
  Type element = type->getElementType();
  ArrayRef<int64_t> shape = type->getShape();
  return success(succeeded(expect(*this, getQ(), "q", shape, element)) &&
                 succeeded(expect(*this, getT(), "t", shape, element)) &&
                 succeeded(expect(*this, getV(), "v", shape, element)));
}

LogicalResult EigenvectorsOp::verify() {
  auto type = squareType(*this, getT());
  if (failed(type))
    return failure();
  Type element = type->getElementType();
  if (!isa<ComplexType>(element))
    return emitOpError("has an operand of type ")
           << *type << ", expected complex numbers";
  return success(
      succeeded(expect(*this, getV(), "v", type->getShape(), element)) &&
      succeeded(expect(*this, getX(), "x", type->getShape(), element)));
}

LogicalResult EighOp::verify() {
  auto type = matrixType(*this, getA());
  if (failed(type))
    return failure();
  if (rowsOf(*type) != columnsOf(*type))
    return emitOpError("has an operand of type ")
           << *type << ", expected square matrices";
  Type element = type->getElementType();
  return success(
      succeeded(
          expect(*this, getVectors(), "vectors", type->getShape(), element)) &&
      succeeded(expect(*this, getValues(), "values",
                       batchAnd(*type, rowsOf(*type)), realOf(element))));
}

LogicalResult OrthogonalizeOp::verify() {
  auto type = matrixType(*this, getA());
  if (failed(type))
    return failure();
  int64_t columns = columnsOf(*type);
  if (rowsOf(*type) < columns)
    return emitOpError("has an operand of type ")
           << *type << ", expected no fewer rows than columns";
  Type element = type->getElementType();
  return success(
      succeeded(expect(*this, getW(), "w", type->getShape(), element)) &&
      succeeded(expect(*this, getSigma(), "sigma", batchAnd(*type, columns),
                       realOf(element))) &&
      succeeded(expect(*this, getV(), "v", batchAnd(*type, {columns, columns}),
                       element)));
}

LogicalResult TridiagonalSolveOp::verify() {
  auto type = matrixType(*this, getB());
  if (failed(type))
    return failure();
  Type element = elementOf(getB());
  SmallVector<int64_t> vector = batchAnd(*type, rowsOf(*type));
  return success(
      succeeded(expect(*this, getLower(), "lower", vector, element)) &&
      succeeded(expect(*this, getDiagonal(), "diagonal", vector, element)) &&
      succeeded(expect(*this, getUpper(), "upper", vector, element)) &&
      succeeded(expect(*this, getX(), "x", type->getShape(), element)));
}
