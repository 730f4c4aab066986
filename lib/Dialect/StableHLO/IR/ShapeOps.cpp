//===- ShapeOps.cpp - Elementwise and shape ops: types, checks, folds -----===//
#include "Verify.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

using InferredTypes = SmallVectorImpl<Type>;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

std::string checks::toString(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(values, os,
                        [&](int64_t value) { os << toString(value); });
  os << ']';
  return text;
}

std::string checks::toString(int64_t value) {
  return isDynamic(value) ? "?" : std::to_string(value);
}

LogicalResult checks::verifyDims(const Reporter &report, StringRef what,
                                 ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return report(what, " ", toString(dims), " holds ", dim,
                    ", expected dims from 0 to ", rank - 1);
    if (seen.test(dim))
      return report(what, " ", toString(dims), " holds dim ", dim, " twice");
    seen.set(dim);
  }
  return success();
}

LogicalResult checks::verifyLength(const Reporter &report, StringRef name,
                                   size_t length, int64_t expected,
                                   StringRef what) {
  if (static_cast<int64_t>(length) == expected)
    return success();
  return report(name, " has ", length, " entries, but ", what, " has ",
                expected, " dims");
}

LogicalResult checks::verifyShape(const Reporter &report, StringRef what,
                                  Type type, ArrayRef<int64_t> expected) {
  if (succeeded(
          verifyCompatibleShape(cast<ShapedType>(type).getShape(), expected)))
    return success();
  return report(what, " has type ", type, ", expected shape ",
                toString(expected));
}

LogicalResult checks::verifyElementTypes(const Reporter &report,
                                         StringRef firstName, Type first,
                                         StringRef secondName, Type second) {
  Type a = getElementTypeOrSelf(first), b = getElementTypeOrSelf(second);
  if (a == b)
    return success();
  return report(firstName, " has elements of ", a, ", but ", secondName, " of ",
                b);
}

static std::optional<int64_t> dilate(int64_t size, int64_t dilation) {
  if (size == 0)
    return 0;
  return llvm::checkedMulAdd<int64_t>(size - 1, dilation, 1);
}

FailureOr<int64_t> checks::windowResultSize(const Reporter &report, int64_t dim,
                                            int64_t size,
                                            const WindowDim &window) {
  if (window.size < 1 || window.stride < 1 || window.baseDilation < 1 ||
      window.windowDilation < 1)
    return LogicalResult(report("window dim ", dim, " has size ", window.size,
                                ", stride ", window.stride, ", base dilation ",
                                window.baseDilation, ", window dilation ",
                                window.windowDilation,
                                "; each must be at least 1"));
  if (isDynamic(size))
    return ShapedType::kDynamic;
  std::optional<int64_t> base = dilate(size, window.baseDilation);
  std::optional<int64_t> extent = dilate(window.size, window.windowDilation);
  std::optional<int64_t> padded =
      base ? llvm::checkedAdd(*base, window.paddingLow) : std::nullopt;
  padded =
      padded ? llvm::checkedAdd(*padded, window.paddingHigh) : std::nullopt;
  if (!extent || !padded)
    return LogicalResult(
        report("size of window dim ", dim, " overflows 64 bits"));
  return *padded < *extent ? 0 : (*padded - *extent) / window.stride + 1;
}

FailureOr<int64_t> checks::paddedSize(const Reporter &report, int64_t dim,
                                      int64_t size, int64_t low, int64_t high,
                                      int64_t interior) {
  if (interior < 0)
    return LogicalResult(report("interior padding of dim ", dim, " is ",
                                interior, ", expected at least 0"));
  if (isDynamic(size))
    return ShapedType::kDynamic;
  std::optional<int64_t> result;
  if (std::optional<int64_t> gap = llvm::checkedAdd<int64_t>(interior, 1))
    result = dilate(size, *gap);
  result = result ? llvm::checkedAdd(*result, low) : std::nullopt;
  result = result ? llvm::checkedAdd(*result, high) : std::nullopt;
  if (!result)
    return LogicalResult(
        report("padded size of dim ", dim, " overflows 64 bits"));
  if (*result < 0)
    return LogicalResult(report("padding cuts dim ", dim, " of size ", size,
                                " down to ", *result, ", expected at least 0"));
  return *result;
}

SmallVector<int64_t>
checks::orDefault(std::optional<ArrayRef<int64_t>> attribute, int64_t rank,
                  int64_t value) {
  if (attribute)
    return SmallVector<int64_t>(*attribute);
  return SmallVector<int64_t>(rank, value);
}

SmallVector<std::pair<int64_t, int64_t>>
checks::paddingOrZeros(std::optional<DenseIntElementsAttr> attribute,
                       int64_t rank) {
  SmallVector<std::pair<int64_t, int64_t>> padding(rank, {0, 0});
  if (!attribute)
    return padding;
  for (auto [index, value] : llvm::enumerate(attribute->getValues<int64_t>()))
    if (index / 2 < padding.size())
      (index % 2 ? padding[index / 2].second : padding[index / 2].first) =
          value;
  return padding;
}

LogicalResult checks::verifyPadding(const Reporter &report,
                                    std::optional<DenseIntElementsAttr> padding,
                                    int64_t rank) {
  if (!padding || padding->getType().getShape() == ArrayRef<int64_t>{rank, 2})
    return success();
  return report("padding has type ", padding->getType(), ", expected tensor<",
                rank, "x2xi64>");
}

FailureOr<ReturnOp> checks::getReturn(const Reporter &report, Region &region,
                                      StringRef regionName) {
  if (region.hasOneBlock() && !region.front().empty())
    if (auto op = dyn_cast<ReturnOp>(region.front().back()))
      return op;
  return LogicalResult(
      report("region '", regionName, "' must end in stablehlo.return"));
}

/// Sizes that are static in either.
static RankedTensorType refineShape(RankedTensorType type,
                                    RankedTensorType other) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, otherSize] : llvm::zip(shape, other.getShape()))
    if (isDynamic(size))
      size = otherSize;
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static RankedTensorType withElementType(Value value, Type elementType) {
  return cast<RankedTensorType>(value.getType()).clone(elementType);
}

/// The operand's type, with the part's type in place of a complex type.
static Type getPartTensor(Value operand) {
  Type element = getElementTypeOrSelf(operand.getType());
  auto complex = dyn_cast<ComplexType>(element);
  return complex ? withElementType(operand, complex.getElementType())
                 : operand.getType();
}

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor, InferredTypes &types) {
  types.push_back(getPartTensor(adaptor.getOperand()));
  return success();
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor, InferredTypes &types) {
  types.push_back(getPartTensor(adaptor.getOperand()));
  return success();
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor, InferredTypes &types) {
  types.push_back(getPartTensor(adaptor.getOperand()));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           InferredTypes &types) {
  types.push_back(
      withElementType(adaptor.getOperand(), IntegerType::get(context, 1)));
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          InferredTypes &types) {
  Type part = getElementTypeOrSelf(adaptor.getLhs().getType());
  if (!part.isF32() && !part.isF64())
    return Reporter(location, getOperationName())(
        "parts have elements of ", part, ", expected f32 or f64");
  types.push_back(withElementType(adaptor.getLhs(), ComplexType::get(part)));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          InferredTypes &types) {
  types.push_back(
      withElementType(adaptor.getLhs(), IntegerType::get(context, 1)));
  return success();
}

LogicalResult CompareOp::verify() {
  if (failed(verifyInferredTypes(*this)))
    return failure();
  Reporter report(*this);
  Type element = getElementTypeOrSelf(getLhs().getType());
  if (isa<ComplexType>(element) &&
      getComparisonDirection() != ComparisonDirection::EQ &&
      getComparisonDirection() != ComparisonDirection::NE)
    return report("orders complex numbers; only EQ and NE compare them");
  ComparisonType type = getCompareType().value_or(ComparisonType::NOTYPE);
  bool fits = true;
  switch (type) {
  case ComparisonType::NOTYPE:
    break;
  case ComparisonType::FLOAT:
    fits = isa<FloatType, ComplexType>(element);
    break;
  case ComparisonType::TOTALORDER:
    fits = isa<FloatType>(element);
    break;
  case ComparisonType::SIGNED:
    fits = element.isSignlessInteger() && !element.isInteger(1);
    break;
  case ComparisonType::UNSIGNED:
    fits = element.isUnsignedInteger() || element.isInteger(1);
    break;
  }
  if (!fits)
    return report("comparison type ", stringifyComparisonType(type),
                  " does not fit elements of ", element);
  return success();
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                      Value rhs, ComparisonDirection direction,
                      ComparisonType type) {
  ComparisonTypeAttr typeAttr;
  if (type != ComparisonType::NOTYPE)
    typeAttr = ComparisonTypeAttr::get(builder.getContext(), type);
  build(builder, state, lhs, rhs,
        ComparisonDirectionAttr::get(builder.getContext(), direction),
        typeAttr);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto pred = cast<RankedTensorType>(adaptor.getPred().getType());
  auto onTrue = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  auto onFalse = cast<RankedTensorType>(adaptor.getOnFalse().getType());
  if (!areCompatibleTypes(onTrue, onFalse))
    return report("choices have types ", onTrue, " and ", onFalse,
                  ", which differ");
  if (pred.getRank() != 0 && failed(verifyCompatibleShape(pred, onTrue)))
    return report("predicate has type ", pred, ", expected a scalar or shape ",
                  toString(onTrue.getShape()));
  types.push_back(refineShape(onTrue, onFalse));
  return success();
}

LogicalResult ClampOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor, InferredTypes &types) {
  Reporter report(location, getOperationName());
  Type operand = adaptor.getOperand().getType();
  for (Value bound : {adaptor.getMin(), adaptor.getMax()}) {
    auto type = cast<RankedTensorType>(bound.getType());
    if (failed(verifyElementTypes(report, "a bound", type, "the operand",
                                  operand)))
      return failure();
    if (type.getRank() != 0 && failed(verifyCompatibleShape(type, operand)))
      return report("a bound has type ", type,
                    ", expected a scalar or the type ", operand);
  }
  types.push_back(operand);
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (static_cast<int32_t>(getExponentBits()) < 1 ||
      static_cast<int32_t>(getMantissaBits()) < 0)
    return Reporter(*this)(
        "format e", static_cast<int32_t>(getExponentBits()), "m",
        static_cast<int32_t>(getMantissaBits()),
        " needs at least 1 exponent bit and 0 mantissa bits");
  return success();
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      Type elementType) {
  build(builder, state,
        withElementType(operand, getElementTypeOrSelf(elementType)), operand);
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : Value();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(),
          isa<IntegerType>(getElementTypeOrSelf(getType())) ? "c" : "cst");
}

LogicalResult IotaOp::verify() {
  Reporter report(*this);
  RankedTensorType type = getType();
  if (failed(verifyDims(report, "iota dim",
                        static_cast<int64_t>(getIotaDimension()),
                        type.getRank())))
    return failure();
  if (!type.hasStaticShape())
    return report("result type ", type,
                  " is dynamic; use stablehlo.dynamic_iota");
  return success();
}

/// `shape` has one entry for each dim of `result`.
static LogicalResult verifyShapeOperand(const Reporter &report, Value shape,
                                        Type result) {
  int64_t length = cast<RankedTensorType>(shape.getType()).getDimSize(0);
  int64_t rank = cast<RankedTensorType>(result).getRank();
  if (sizesAgree(length, rank))
    return success();
  return report("shape operand has ", length, " entries, but the result has ",
                rank, " dims");
}

LogicalResult DynamicIotaOp::verify() {
  Reporter report(*this);
  if (failed(verifyDims(report, "iota dim",
                        static_cast<int64_t>(getIotaDimension()),
                        getType().getRank())))
    return failure();
  return verifyShapeOperand(report, getOutputShape(), getType());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Operand dim i fits result dim dims[i].
static LogicalResult verifyBroadcast(const Reporter &report,
                                     RankedTensorType operand,
                                     RankedTensorType result,
                                     ArrayRef<int64_t> dims) {
  if (failed(verifyLength(report, "dims", dims.size(), operand.getRank(),
                          "the operand")) ||
      failed(verifyDims(report, "dims", dims, result.getRank())))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    int64_t size = operand.getDimSize(index);
    if (size != 1 && !sizesAgree(size, result.getDimSize(dim)))
      return report("operand dim ", index, " has size ", size,
                    ", but result dim ", dim, " has size ",
                    result.getDimSize(dim), "; expected 1 or the same size");
  }
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(verifyBroadcast(report, operand, result, dims)))
    return failure();
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    if (!result.isDynamicDim(dim))
      continue;
    const int64_t *source = llvm::find(dims, dim);
    if (source == dims.end() || !operand.isDynamicDim(source - dims.begin()))
      return report("result dim ", dim,
                    " is dynamic and no operand dim says its size; use "
                    "stablehlo.dynamic_broadcast_in_dim");
  }
  return success();
}

/// True for 0, 1, ..., size - 1.
static bool isIdentity(ArrayRef<int64_t> dims) {
  return llvm::all_of(llvm::enumerate(dims), [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  });
}

/// `operand` if it has the static type `type`, else nothing.
static Value sameStaticType(Value operand, RankedTensorType type) {
  return operand.getType() == type && type.hasStaticShape() ? operand : Value();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  return isIdentity(getBroadcastDimensions())
             ? sameStaticType(getOperand(), getType())
             : Value();
}

void DynamicBroadcastInDimOp::build(OpBuilder &builder, OperationState &state,
                                    Type resultType, Value operand,
                                    Value outputDimensions,
                                    ArrayRef<int64_t> broadcastDimensions) {
  build(builder, state, resultType, operand, outputDimensions,
        builder.getDenseI64ArrayAttr(broadcastDimensions), DenseI64ArrayAttr(),
        DenseI64ArrayAttr());
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  Reporter report(*this);
  if (failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "result", getType())) ||
      failed(verifyBroadcast(report, getOperand().getType(), getType(),
                             getBroadcastDimensions())))
    return failure();
  return verifyShapeOperand(report, getOutputDimensions(), getType());
}

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return report("sizes ", toString(shape), " hold a negative one");
  llvm::append_range(shape, operand.getShape());
  types.push_back(operand.clone(shape));
  return success();
}

/// The number of elements; nothing if dynamic or beyond 64 bits.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape) {
    std::optional<int64_t> product =
        isDynamic(size) ? std::nullopt : llvm::checkedMul(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

static LogicalResult verifyReshape(const Reporter &report,
                                   RankedTensorType operand,
                                   RankedTensorType result) {
  std::optional<int64_t> from = countElements(operand.getShape());
  std::optional<int64_t> to = countElements(result.getShape());
  if (from && to && *from != *to)
    return report("operand has ", *from, " elements, but the result type ",
                  result, " has ", *to);
  return success();
}

LogicalResult ReshapeOp::verify() {
  return verifyReshape(Reporter(*this), getOperand().getType(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return sameStaticType(getOperand(), getType());
}

LogicalResult DynamicReshapeOp::verify() {
  Reporter report(*this);
  if (failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "result", getType())) ||
      failed(verifyReshape(report, getOperand().getType(), getType())))
    return failure();
  return verifyShapeOperand(report, getOutputShape(), getType());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(verifyLength(report, "dims", permutation.size(), operand.getRank(),
                          "the operand")) ||
      failed(verifyDims(report, "dims", permutation, operand.getRank())))
    return failure();
  types.push_back(operand.clone(llvm::map_to_vector(
      permutation, [&](int64_t dim) { return operand.getDimSize(dim); })));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return isIdentity(getPermutation()) && getOperand().getType() == getType()
             ? getOperand()
             : Value();
}

LogicalResult ReverseOp::verify() {
  return verifyDims(Reporter(*this), "dims", getDimensions(),
                    getType().getRank());
}

LogicalResult BitcastConvertOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  auto bits = [](Type type) -> int64_t {
    if (auto complex = dyn_cast<ComplexType>(type))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return type.getIntOrFloatBitWidth();
  };
  int64_t from = bits(operand.getElementType()),
          to = bits(result.getElementType());
  SmallVector<int64_t> expected(operand.getShape());
  if (from > to) {
    if (from % to)
      return report("bits of ", operand, " cannot be cut into elements of ",
                    result.getElementType());
    expected.push_back(from / to);
  } else if (from < to) {
    if (expected.empty() || !sizesAgree(expected.back(), to / from) ||
        to % from)
      return report("last operand dim must hold the ", to / from,
                    " parts of one ", result.getElementType(),
                    ", but the operand has type ", operand);
    expected.pop_back();
  }
  return verifyShape(report, "result", result, expected);
}

LogicalResult
GetDimensionSizeOp::inferReturnTypes(MLIRContext *context,
                                     std::optional<Location> location,
                                     Adaptor adaptor, InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return verifyDims(report, "dim", static_cast<int64_t>(adaptor.getDimension()),
                    operand.getRank());
}

LogicalResult SetDimensionSizeOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType();
  if (failed(verifyElementTypes(report, "operand", operand, "result",
                                getType())) ||
      failed(verifyDims(report, "dim", static_cast<int64_t>(getDimension()),
                        operand.getRank())))
    return failure();
  SmallVector<int64_t> expected(operand.getShape());
  expected[getDimension()] = ShapedType::kDynamic;
  return verifyShape(report, "result", getType(), expected);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor, InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> starts = adaptor.getStartIndices(),
                    limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  int64_t rank = operand.getRank();
  if (failed(
          verifyLength(report, "start", starts.size(), rank, "the operand")) ||
      failed(
          verifyLength(report, "limit", limits.size(), rank, "the operand")) ||
      failed(
          verifyLength(report, "stride", strides.size(), rank, "the operand")))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = starts[dim], limit = limits[dim], stride = strides[dim];
    int64_t size = operand.getDimSize(dim);
    if (start < 0 || limit < start || (!isDynamic(size) && limit > size))
      return report("slices dim ", dim, " from ", start, " to ", limit,
                    ", which is no part of its ", toString(size), " elements");
    if (stride < 1)
      return report("slices dim ", dim, " with stride ", stride,
                    ", expected at least 1");
    shape.push_back(llvm::divideCeil(limit - start, stride));
  }
  types.push_back(operand.clone(shape));
  return success();
}

LogicalResult RealDynamicSliceOp::verify() {
  Reporter report(*this);
  if (failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "result", getType())))
    return failure();
  if (getOperand().getType().getRank() != getType().getRank())
    return report("operand and result have ", getOperand().getType().getRank(),
                  " and ", getType().getRank(), " dims, expected as many");
  for (Value part : {getStartIndices(), getLimitIndices(), getStrides()})
    if (failed(verifyShapeOperand(report, part, getType())))
      return failure();
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(verifyLength(report, "sizes", sizes.size(), operand.getRank(),
                          "the operand")) ||
      failed(verifyLength(report, "start indices",
                          adaptor.getStartIndices().size(), operand.getRank(),
                          "the operand")))
    return failure();
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 ||
        (!operand.isDynamicDim(dim) && size > operand.getDimSize(dim)))
      return report("size ", size, " of dim ", dim,
                    " does not fit the operand's ",
                    toString(operand.getDimSize(dim)), " elements");
  types.push_back(operand.clone(sizes));
  return success();
}

LogicalResult
DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor, InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  if (failed(
          verifyElementTypes(report, "operand", operand, "update", update)) ||
      failed(verifyLength(report, "update's shape", update.getRank(),
                          operand.getRank(), "the operand")) ||
      failed(verifyLength(report, "start indices",
                          adaptor.getStartIndices().size(), operand.getRank(),
                          "the operand")))
    return failure();
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (!operand.isDynamicDim(dim) && !update.isDynamicDim(dim) &&
        update.getDimSize(dim) > operand.getDimSize(dim))
      return report("update has ", update.getDimSize(dim), " elements in dim ",
                    dim, ", more than the operand's ", operand.getDimSize(dim));
  types.push_back(operand);
  return success();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              InferredTypes &types) {
  Reporter report(location, getOperationName());
  if (adaptor.getInputs().empty())
    return report("has no operand, expected at least one");
  auto result = cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t dim = adaptor.getDimension();
  if (failed(verifyDims(report, "dim", dim, result.getRank())))
    return failure();
  int64_t total = 0;
  for (auto [index, input] : llvm::enumerate(adaptor.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> expected(result.getShape());
    if (type.getRank() == result.getRank())
      expected[dim] = type.getDimSize(dim);
    if (type.getElementType() != result.getElementType() ||
        failed(verifyCompatibleShape(type.getShape(), expected)))
      return report("operand ", index, " has type ", type,
                    ", which differs from operand 0 of type ", result,
                    " in more than the size of dim ", dim);
    int64_t size = type.getDimSize(dim);
    std::optional<int64_t> sum;
    if (!isDynamic(total) && !isDynamic(size) &&
        !(sum = llvm::checkedAdd(total, size)))
      return report("size of dim ", dim, " overflows 64 bits");
    total = sum ? *sum : ShapedType::kDynamic;
    result = refineShape(result, type.clone(expected));
  }
  SmallVector<int64_t> shape(result.getShape());
  shape[dim] = total;
  types.push_back(result.clone(shape));
  return success();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return {};
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor, InferredTypes &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto value = cast<RankedTensorType>(adaptor.getPaddingValue().getType());
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(),
                    high = adaptor.getEdgePaddingHigh(),
                    interior = adaptor.getInteriorPadding();
  int64_t rank = operand.getRank();
  if (value.getRank() != 0)
    return report("padding value has type ", value, ", expected a scalar");
  if (failed(verifyLength(report, "low", low.size(), rank, "the operand")) ||
      failed(verifyLength(report, "high", high.size(), rank, "the operand")) ||
      failed(verifyLength(report, "interior", interior.size(), rank,
                          "the operand")))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    FailureOr<int64_t> size = paddedSize(report, dim, operand.getDimSize(dim),
                                         low[dim], high[dim], interior[dim]);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  types.push_back(operand.clone(shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t width) { return width == 0; };
  bool nothing = llvm::all_of(getEdgePaddingLow(), isZero) &&
                 llvm::all_of(getEdgePaddingHigh(), isZero) &&
                 llvm::all_of(getInteriorPadding(), isZero);
  return nothing && getOperand().getType() == getType() ? getOperand()
                                                        : Value();
}

LogicalResult DynamicPadOp::verify() {
  Reporter report(*this);
  if (failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "result", getType())) ||
      failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "padding value", getPaddingValue().getType())))
    return failure();
  if (getPaddingValue().getType().getRank() != 0)
    return report("padding value has type ", getPaddingValue().getType(),
                  ", expected a scalar");
  if (getOperand().getType().getRank() != getType().getRank())
    return report("operand and result have ", getOperand().getType().getRank(),
                  " and ", getType().getRank(), " dims, expected as many");
  for (Value part :
       {getEdgePaddingLow(), getEdgePaddingHigh(), getInteriorPadding()})
    if (failed(verifyShapeOperand(report, part, getType())))
      return failure();
  return success();
}
