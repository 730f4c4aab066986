//===- ComputeOps.cpp - Contractions, windows, reductions: checks ---------===//
#include "Verify.h"

#include "shardc/Dialect/StableHLO/IR/Precision.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// One may be computed in the other: floats, complex numbers, predicates,
/// integers of one signedness, of any widths.
static bool areOfOneKind(Type x, Type y) {
  auto integer = dyn_cast<IntegerType>(x), other = dyn_cast<IntegerType>(y);
  if (integer || other)
    return integer && other && integer.isUnsigned() == other.isUnsigned() &&
           integer.isInteger(1) == other.isInteger(1);
  return isa<ComplexType>(x) == isa<ComplexType>(y);
}

LogicalResult checks::verifyReducer(const Reporter &report, Region &region,
                                    size_t count, TypeRange inputs) {
  if (region.getNumArguments() != 2 * count)
    return report("reducer has ", region.getNumArguments(),
                  " arguments, expected ", 2 * count, " (", count,
                  " accumulators, then ", count, " elements)");
  for (BlockArgument argument : region.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 0)
      return report("reducer's argument ", argument.getArgNumber(),
                    " has type ", argument.getType(),
                    ", expected a tensor of no dims");
    if (inputs.size() != count)
      continue;
    Type input = inputs[argument.getArgNumber() % count];
    if (!areOfOneKind(type.getElementType(), getElementTypeOrSelf(input)))
      return report("reducer's argument ", argument.getArgNumber(),
                    " has type ", type, ", expected one that elements of ",
                    input, " can be computed in");
  }
  FailureOr<ReturnOp> result = getReturn(report, region, "reducer");
  if (failed(result))
    return failure();
  TypeRange accumulators =
      ValueRange(region.getArguments().take_front(count)).getTypes();
  if (!llvm::equal(result->getOperandTypes(), accumulators))
    return report("reducer returns ", result->getOperandTypes(),
                  ", expected the types ", accumulators,
                  " of its accumulators");
  return success();
}

Type checks::getReducerElementType(Region &region, size_t index) {
  return getElementTypeOrSelf(region.getArgument(index).getType());
}

/// Inputs have one shape, initial values are scalars of the inputs' element
/// types or of the reducer's.
static LogicalResult verifyReductionOperands(const Reporter &report,
                                             Operation *op, ValueRange inputs,
                                             ValueRange inits) {
  if (inputs.empty() || op->getNumOperands() % 2)
    return report(
        "has ", op->getNumOperands(),
        " operands, expected one or more inputs and as many initial values");
  auto first = cast<RankedTensorType>(inputs.front().getType());
  for (auto [index, input] : llvm::enumerate(inputs))
    if (failed(verifyCompatibleShape(input.getType(), first)))
      return report("operand ", index, " has type ", input.getType(),
                    ", expected shape ", toString(first.getShape()),
                    " as operand 0");
  for (auto [index, init] : llvm::enumerate(inits))
    if (cast<RankedTensorType>(init.getType()).getRank() != 0 ||
        !areOfOneKind(getElementTypeOrSelf(init),
                      getElementTypeOrSelf(inputs[index])))
      return report("initial value ", index, " has type ", init.getType(),
                    ", expected one element for ", inputs[index].getType());
  return success();
}

/// Results are as many as inputs, have `shape` and the reducer's element types.
static LogicalResult verifyReductionResults(const Reporter &report,
                                            ValueRange inputs,
                                            TypeRange results, Region &reducer,
                                            ArrayRef<int64_t> shape) {
  if (results.size() != inputs.size())
    return report("has ", results.size(), " results for ", inputs.size(),
                  " operands, expected as many");
  for (auto [index, result] : llvm::enumerate(results)) {
    Type element = getReducerElementType(reducer, index);
    if (getElementTypeOrSelf(result) != element)
      return report("result ", index, " has type ", result,
                    ", but the reducer returns ", element);
    if (failed(verifyShape(report, "result", result, shape)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static LogicalResult verifyPrecision(const Reporter &report,
                                     std::optional<ArrayAttr> precision) {
  if (!precision || precision->empty() || precision->size() == 2)
    return success();
  return report("precision has ", precision->size(),
                " entries, expected one for each operand");
}

LogicalResult DotGeneralOp::verify() {
  Reporter report(*this);
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(),
                    rhsBatch = dims.getRhsBatchingDimensions(),
                    lhsSum = dims.getLhsContractingDimensions(),
                    rhsSum = dims.getRhsContractingDimensions();
  if (lhsBatch.size() != rhsBatch.size())
    return report("has ", lhsBatch.size(), " batching dims on the left and ",
                  rhsBatch.size(), " on the right, expected as many");
  if (lhsSum.size() != rhsSum.size())
    return report("has ", lhsSum.size(), " contracting dims on the left and ",
                  rhsSum.size(), " on the right, expected as many");
  SmallVector<int64_t> lhsUsed(lhsBatch), rhsUsed(rhsBatch);
  llvm::append_range(lhsUsed, lhsSum);
  llvm::append_range(rhsUsed, rhsSum);
  if (failed(verifyDims(report, "left batching and contracting dims", lhsUsed,
                        lhs.getRank())) ||
      failed(verifyDims(report, "right batching and contracting dims", rhsUsed,
                        rhs.getRank())) ||
      failed(verifyPrecision(report, getPrecisionConfig())))
    return failure();
  if (DotAlgorithmAttr algorithm = getAlgorithmAttr();
      algorithm && !isKnown(algorithm))
    return report("has an algorithm that no device is known to have: ",
                  algorithm);
  for (auto [left, right] : llvm::zip(lhsUsed, rhsUsed))
    if (!sizesAgree(lhs.getDimSize(left), rhs.getDimSize(right)))
      return report("left dim ", left, " has size ", lhs.getDimSize(left),
                    ", but right dim ", right, " has size ",
                    rhs.getDimSize(right));
  SmallVector<int64_t> shape;
  for (auto [left, right] : llvm::zip(lhsBatch, rhsBatch)) {
    int64_t size = lhs.getDimSize(left);
    shape.push_back(isDynamic(size) ? rhs.getDimSize(right) : size);
  }
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsUsed, dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(rhsUsed, dim))
      shape.push_back(rhs.getDimSize(dim));
  return verifyShape(report, "result", getType(), shape);
}

LogicalResult DotOp::verify() {
  Reporter report(*this);
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 ||
      rhs.getRank() > 2)
    return report("operands have types ", lhs, " and ", rhs,
                  ", expected vectors or matrices");
  if (!sizesAgree(lhs.getShape().back(), rhs.getShape().front()))
    return report("last left dim has size ", lhs.getShape().back(),
                  ", but first right dim has size ", rhs.getShape().front());
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  if (failed(verifyPrecision(report, getPrecisionConfig())))
    return failure();
  return verifyShape(report, "result", getType(), shape);
}

/// The three numbers lists of one operand are a permutation of its dims.
static LogicalResult verifyRoles(const Reporter &report, StringRef what,
                                 int64_t first, int64_t second,
                                 ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> dims(spatial);
  dims.append({first, second});
  std::string list = ("dim_numbers of the " + what).str();
  if (failed(
          verifyLength(report, list, dims.size(), rank, ("the " + what).str())))
    return failure();
  return verifyDims(report, list, dims, rank);
}

SmallVector<int64_t> ConvolutionOp::getWindowStridesOrOnes() {
  return orDefault(getWindowStrides(),
                   getDimensionNumbers().getInputSpatialDimensions().size(), 1);
}
SmallVector<int64_t> ConvolutionOp::getLhsDilationOrOnes() {
  return orDefault(getLhsDilation(),
                   getDimensionNumbers().getInputSpatialDimensions().size(), 1);
}
SmallVector<int64_t> ConvolutionOp::getRhsDilationOrOnes() {
  return orDefault(getRhsDilation(),
                   getDimensionNumbers().getInputSpatialDimensions().size(), 1);
}
SmallVector<std::pair<int64_t, int64_t>> ConvolutionOp::getPaddingOrZeros() {
  return paddingOrZeros(
      getPadding(), getDimensionNumbers().getInputSpatialDimensions().size());
}
SmallVector<bool> ConvolutionOp::getWindowReversalOrFalse() {
  if (std::optional<ArrayRef<bool>> reversal = getWindowReversal())
    return SmallVector<bool>(*reversal);
  return SmallVector<bool>(
      getDimensionNumbers().getInputSpatialDimensions().size(), false);
}

/// Groups divide what they split; operand features fit the kernel's.
template <typename OpT>
static LogicalResult verifyGroups(const Reporter &report, OpT op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  if (failed(verifyElementTypes(report, "lhs", lhs, "rhs", rhs)))
    return failure();
  int64_t groups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  if (groups < 1 || batchGroups < 1)
    return report("feature_group_count is ", groups,
                  " and batch_group_count is ", batchGroups,
                  "; each must be at least 1");
  if (groups > 1 && batchGroups > 1)
    return report("feature_group_count is ", groups,
                  " and batch_group_count is ", batchGroups,
                  "; one of them must be 1");
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension());
  int64_t features = lhs.getDimSize(dims.getInputFeatureDimension());
  int64_t kernelIn = rhs.getDimSize(dims.getKernelInputFeatureDimension());
  int64_t kernelOut = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  if (!isDynamic(batch) && batch % batchGroups)
    return report("batch_group_count ", batchGroups,
                  " does not divide the batch size ", batch);
  if (!isDynamic(features) && features % groups)
    return report("feature_group_count ", groups, " does not divide the ",
                  features, " input features");
  if (!isDynamic(features) && !sizesAgree(features / groups, kernelIn))
    return report("kernel has ", kernelIn, " input features, expected ",
                  features / groups, " (", features, " input features / ",
                  groups, " groups)");
  if (!isDynamic(kernelOut) && (kernelOut % groups || kernelOut % batchGroups))
    return report("groups do not divide the ", kernelOut, " output features");
  return success();
}

/// Roles of dims, lists for the window, groups: what does not depend on the
/// padding.
template <typename OpT>
static LogicalResult verifyRolesAndWindow(const Reporter &report, OpT op) {
  // What JAX exports of windows of one dim may have the lists of two.
  constexpr bool allowsMore = std::is_same_v<OpT, DynamicConvOp>;
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t spatialRank = dims.getInputSpatialDimensions().size();
  if (failed(verifyRoles(report, "input", dims.getInputBatchDimension(),
                         dims.getInputFeatureDimension(),
                         dims.getInputSpatialDimensions(),
                         op.getLhs().getType().getRank())) ||
      failed(verifyRoles(report, "kernel",
                         dims.getKernelInputFeatureDimension(),
                         dims.getKernelOutputFeatureDimension(),
                         dims.getKernelSpatialDimensions(),
                         op.getRhs().getType().getRank())) ||
      failed(verifyRoles(report, "output", dims.getOutputBatchDimension(),
                         dims.getOutputFeatureDimension(),
                         dims.getOutputSpatialDimensions(),
                         op.getType().getRank())))
    return failure();
  auto verifyList = [&](StringRef name, const auto &list) {
    int64_t size = list ? list->size() : spatialRank;
    return allowsMore && size > spatialRank
               ? success()
               : verifyLength(report, name, size, spatialRank, "the window");
  };
  return failure(failed(verifyList("stride", op.getWindowStrides())) ||
                 failed(verifyList("lhs_dilate", op.getLhsDilation())) ||
                 failed(verifyList("rhs_dilate", op.getRhsDilation())) ||
                 failed(verifyList("reverse", op.getWindowReversal())) ||
                 failed(verifyPrecision(report, op.getPrecisionConfig())) ||
                 failed(verifyGroups(report, op)));
}

/// The result has the positions of the window as its spatial dims, of any
/// number where there is no `padding`.
template <typename OpT>
static LogicalResult
verifyConvolved(const Reporter &report, OpT op,
                std::optional<ArrayRef<std::pair<int64_t, int64_t>>> padding) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(),
                   result = op.getType();
  int64_t spatialRank = dims.getInputSpatialDimensions().size();
  SmallVector<int64_t> strides =
                           orDefault(op.getWindowStrides(), spatialRank, 1),
                       lhsDilation =
                           orDefault(op.getLhsDilation(), spatialRank, 1),
                       rhsDilation =
                           orDefault(op.getRhsDilation(), spatialRank, 1);
  SmallVector<int64_t> shape(lhs.getRank());
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension());
  shape[dims.getOutputBatchDimension()] =
      isDynamic(batch) ? batch
                       : batch / static_cast<int64_t>(op.getBatchGroupCount());
  shape[dims.getOutputFeatureDimension()] =
      rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  for (int64_t i = 0; i < spatialRank; ++i) {
    int64_t size = lhs.getDimSize(dims.getInputSpatialDimensions()[i]);
    int64_t kernel = rhs.getDimSize(dims.getKernelSpatialDimensions()[i]);
    int64_t &slot = shape[dims.getOutputSpatialDimensions()[i]];
    slot = ShapedType::kDynamic;
    auto [low, high] = padding ? (*padding)[i] : std::pair<int64_t, int64_t>();
    // A window of no elements covers every position.
    WindowDim windowDim{isDynamic(kernel) ? 1 : std::max<int64_t>(kernel, 1),
                        strides[i],
                        low,
                        high,
                        lhsDilation[i],
                        rhsDilation[i]};
    FailureOr<int64_t> positions = windowResultSize(report, i, size, windowDim);
    if (failed(positions))
      return failure();
    if (padding && !isDynamic(kernel) && kernel > 0)
      slot = *positions;
  }
  return verifyShape(report, "result", result, shape);
}

LogicalResult ConvolutionOp::verify() {
  Reporter report(*this);
  int64_t spatialRank =
      getDimensionNumbers().getInputSpatialDimensions().size();
  if (failed(verifyRolesAndWindow(report, *this)) ||
      failed(verifyPadding(report, getPadding(), spatialRank)))
    return failure();
  return verifyConvolved(report, *this, ArrayRef(getPaddingOrZeros()));
}

LogicalResult DynamicConvOp::verify() {
  Reporter report(*this);
  int64_t spatialRank =
      getDimensionNumbers().getInputSpatialDimensions().size();
  if (failed(verifyRolesAndWindow(report, *this)) ||
      failed(verifyShape(report, "padding", getPadding().getType(),
                         {spatialRank, 2})))
    return failure();
  return verifyConvolved(report, *this, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Reductions and windows
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  Reporter report(*this);
  if (failed(verifyReductionOperands(report, *this, getInputs(),
                                     getInitValues())) ||
      failed(verifyReducer(report, getBody(), getInputs().size(),
                           getInputs().getTypes())))
    return failure();
  auto input = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(
          verifyDims(report, "dimensions", getDimensions(), input.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (!llvm::is_contained(getDimensions(), dim))
      shape.push_back(input.getDimSize(dim));
  return verifyReductionResults(report, getInputs(), getResultTypes(),
                                getBody(), shape);
}

SmallVector<int64_t> ReduceWindowOp::getWindowStridesOrOnes() {
  return orDefault(getWindowStrides(), getWindowDimensions().size(), 1);
}
SmallVector<int64_t> ReduceWindowOp::getBaseDilationsOrOnes() {
  return orDefault(getBaseDilations(), getWindowDimensions().size(), 1);
}
SmallVector<int64_t> ReduceWindowOp::getWindowDilationsOrOnes() {
  return orDefault(getWindowDilations(), getWindowDimensions().size(), 1);
}
SmallVector<std::pair<int64_t, int64_t>> ReduceWindowOp::getPaddingOrZeros() {
  return paddingOrZeros(getPadding(), getWindowDimensions().size());
}

LogicalResult ReduceWindowOp::verify() {
  Reporter report(*this);
  if (failed(verifyReductionOperands(report, *this, getInputs(),
                                     getInitValues())) ||
      failed(verifyReducer(report, getBody(), getInputs().size(),
                           getInputs().getTypes())))
    return failure();
  auto input = cast<RankedTensorType>(getInputs().front().getType());
  int64_t rank = input.getRank();
  SmallVector<int64_t> strides = getWindowStridesOrOnes(),
                       base = getBaseDilationsOrOnes(),
                       dilations = getWindowDilationsOrOnes();
  if (failed(verifyLength(report, "window_dimensions",
                          getWindowDimensions().size(), rank, "the operand")) ||
      failed(verifyLength(report, "window_strides", strides.size(), rank,
                          "the operand")) ||
      failed(verifyLength(report, "base_dilations", base.size(), rank,
                          "the operand")) ||
      failed(verifyLength(report, "window_dilations", dilations.size(), rank,
                          "the operand")) ||
      failed(verifyPadding(report, getPadding(), rank)))
    return failure();
  SmallVector<std::pair<int64_t, int64_t>> padding = getPaddingOrZeros();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    WindowDim window{
        getWindowDimensions()[dim], strides[dim], padding[dim].first,
        padding[dim].second,        base[dim],    dilations[dim]};
    FailureOr<int64_t> size =
        windowResultSize(report, dim, input.getDimSize(dim), window);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  return verifyReductionResults(report, getInputs(), getResultTypes(),
                                getBody(), shape);
}

SmallVector<int64_t> SelectAndScatterOp::getWindowDimensionsOrOnes() {
  return orDefault(getWindowDimensions(), getOperand().getType().getRank(), 1);
}
SmallVector<int64_t> SelectAndScatterOp::getWindowStridesOrOnes() {
  return orDefault(getWindowStrides(), getOperand().getType().getRank(), 1);
}
SmallVector<std::pair<int64_t, int64_t>>
SelectAndScatterOp::getPaddingOrZeros() {
  return paddingOrZeros(getPadding(), getOperand().getType().getRank());
}

/// A region of two elements of each of `operands` that returns one i1.
static LogicalResult verifyPredicate(const Reporter &report, Region &region,
                                     StringRef name, TypeRange operands) {
  size_t count = 2 * operands.size();
  if (region.getNumArguments() != count)
    return report("region '", name, "' has ", region.getNumArguments(),
                  " arguments, expected ", count);
  for (auto [index, argument] : llvm::enumerate(region.getArgumentTypes())) {
    auto expected =
        RankedTensorType::get({}, getElementTypeOrSelf(operands[index / 2]));
    if (argument != expected)
      return report("argument ", index, " of region '", name, "' has type ",
                    argument, ", expected ", expected);
  }
  FailureOr<ReturnOp> result = getReturn(report, region, name);
  if (failed(result))
    return failure();
  auto pred =
      RankedTensorType::get({}, IntegerType::get(region.getContext(), 1));
  if (result->getNumOperands() != 1 || result->getOperand(0).getType() != pred)
    return report("region '", name, "' returns ", result->getOperandTypes(),
                  ", expected ", pred);
  return success();
}

LogicalResult SelectAndScatterOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType(),
                   source = getSource().getType();
  int64_t rank = operand.getRank();
  SmallVector<int64_t> sizes = getWindowDimensionsOrOnes(),
                       strides = getWindowStridesOrOnes();
  if (failed(
          verifyElementTypes(report, "operand", operand, "source", source)) ||
      failed(verifyLength(report, "window_dimensions", sizes.size(), rank,
                          "the operand")) ||
      failed(verifyLength(report, "window_strides", strides.size(), rank,
                          "the operand")) ||
      failed(verifyPadding(report, getPadding(), rank)) ||
      failed(verifyPredicate(report, getSelect(), "select",
                             getOperand().getType())) ||
      failed(verifyReducer(report, getScatter(), 1, getOperand().getType())))
    return failure();
  if (getInitValue().getType().getRank() != 0)
    return report("initial value has type ", getInitValue().getType(),
                  ", expected a tensor of no dims");
  SmallVector<std::pair<int64_t, int64_t>> padding = getPaddingOrZeros();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    WindowDim window{sizes[dim], strides[dim], padding[dim].first,
                     padding[dim].second};
    FailureOr<int64_t> size =
        windowResultSize(report, dim, operand.getDimSize(dim), window);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  if (failed(verifyShape(report, "source", source, shape)))
    return failure();
  return verifyShape(report, "result", getType(), operand.getShape());
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// Shape of the index tensor without the dim that holds the coordinates; the
/// number of coordinates is in `coordinates`.
static FailureOr<SmallVector<int64_t>> getIndexShape(const Reporter &report,
                                                     RankedTensorType indices,
                                                     int64_t indexVectorDim,
                                                     int64_t &coordinates) {
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank())
    return LogicalResult(report("index_vector_dim is ", indexVectorDim,
                                ", expected 0 to ", indices.getRank()));
  SmallVector<int64_t> shape(indices.getShape());
  coordinates = 1;
  if (indexVectorDim < indices.getRank()) {
    coordinates = shape[indexVectorDim];
    shape.erase(shape.begin() + indexVectorDim);
  }
  return shape;
}

/// What gather and scatter share: `sliceSizes` one a dim of the operand, some
/// dims dropped (collapsed or inserted, and batching), the others placed at
/// `windowDims` of a tensor with the index dims elsewhere. Returns that shape.
static FailureOr<SmallVector<int64_t>>
verifyAddressing(const Reporter &report, RankedTensorType operand,
                 RankedTensorType indices, ArrayRef<int64_t> sliceSizes,
                 ArrayRef<int64_t> windowDims, ArrayRef<int64_t> dropped,
                 ArrayRef<int64_t> operandBatch, ArrayRef<int64_t> indicesBatch,
                 ArrayRef<int64_t> indexMap, int64_t indexVectorDim) {
  int64_t rank = operand.getRank();
  SmallVector<int64_t> gone(dropped);
  llvm::append_range(gone, operandBatch);
  if (failed(verifyDims(report, "collapsed, inserted and batching dims", gone,
                        rank)) ||
      failed(verifyDims(report, "index map", indexMap, rank)) ||
      failed(verifyDims(report, "batching dims of the indices", indicesBatch,
                        indices.getRank())))
    return failure();
  if (operandBatch.size() != indicesBatch.size())
    return LogicalResult(report("operand has ", operandBatch.size(),
                                " batching dims, indices have ",
                                indicesBatch.size(), ", expected as many"));
  for (auto [a, b] : llvm::zip(operandBatch, indicesBatch))
    if (!sizesAgree(operand.getDimSize(a), indices.getDimSize(b)))
      return LogicalResult(
          report("batching dim ", a, " of the operand has size ",
                 operand.getDimSize(a), ", but dim ", b,
                 " of the indices has size ", indices.getDimSize(b)));
  int64_t coordinates;
  FailureOr<SmallVector<int64_t>> indexShape =
      getIndexShape(report, indices, indexVectorDim, coordinates);
  if (failed(indexShape))
    return failure();
  if (!sizesAgree(coordinates, indexMap.size()))
    return LogicalResult(report("indices hold ", coordinates,
                                " coordinates, but the index map has ",
                                indexMap.size(), " entries"));
  SmallVector<int64_t> windowShape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(gone, dim))
      windowShape.push_back(sliceSizes[dim]);
  int64_t resultRank = indexShape->size() + windowShape.size();
  if (failed(verifyDims(report, "window dims", windowDims, resultRank)) ||
      failed(verifyLength(report, "window dims", windowDims.size(),
                          windowShape.size(), "the slice")))
    return failure();
  for (auto [name, dims] :
       {std::pair("window dims ", windowDims),
        std::pair("collapsed or inserted dims ", dropped),
        std::pair("batching dims of the operand ", operandBatch)})
    if (!llvm::is_sorted(dims))
      return LogicalResult(
          report(name, toString(dims), " must be in ascending order"));
  SmallVector<int64_t> shape;
  size_t nextWindow = 0, nextIndex = 0;
  for (int64_t dim = 0; dim < resultRank; ++dim)
    shape.push_back(llvm::is_contained(windowDims, dim)
                        ? windowShape[nextWindow++]
                        : (*indexShape)[nextIndex++]);
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Reporter report(location, getOperationName());
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getStartIndices().getType());
  GatherDimensionNumbersAttr dims = adaptor.getDimensionNumbers();
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(verifyLength(report, "slice_sizes", sizes.size(),
                          operand.getRank(), "the operand")))
    return failure();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 0 ||
        (!operand.isDynamicDim(dim) && size > operand.getDimSize(dim)))
      return report("slice size ", size, " of dim ", dim,
                    " does not fit the operand's ",
                    toString(operand.getDimSize(dim)), " elements");
    bool dropped = llvm::is_contained(dims.getCollapsedSliceDims(), dim) ||
                   llvm::is_contained(dims.getOperandBatchingDims(), dim);
    if (dropped && size > 1)
      return report("slice size ", size, " of dim ", dim,
                    ", which is collapsed or batching, must be at most 1");
  }
  FailureOr<SmallVector<int64_t>> shape = verifyAddressing(
      report, operand, indices, sizes, dims.getOffsetDims(),
      dims.getCollapsedSliceDims(), dims.getOperandBatchingDims(),
      dims.getStartIndicesBatchingDims(), dims.getStartIndexMap(),
      dims.getIndexVectorDim());
  if (failed(shape))
    return failure();
  types.push_back(operand.clone(*shape));
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType();
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  if (failed(
          verifyElementTypes(report, "operand", operand, "result", getType())))
    return failure();
  if (failed(verifyShape(report, "slice_sizes", getSliceSizes().getType(),
                         {operand.getRank()})))
    return failure();
  SmallVector<int64_t> sizes(operand.getRank(), ShapedType::kDynamic);
  FailureOr<SmallVector<int64_t>> shape = verifyAddressing(
      report, operand, getStartIndices().getType(), sizes, dims.getOffsetDims(),
      dims.getCollapsedSliceDims(), dims.getOperandBatchingDims(),
      dims.getStartIndicesBatchingDims(), dims.getStartIndexMap(),
      dims.getIndexVectorDim());
  return failed(shape) ? failure()
                       : verifyShape(report, "result", getType(), *shape);
}

LogicalResult ScatterOp::verify() {
  Reporter report(*this);
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  if (getInputs().empty() || getNumOperands() % 2 == 0)
    return report(
        "has ", getNumOperands(),
        " operands, expected one or more inputs, indices and as many updates");
  auto input = cast<RankedTensorType>(getInputs().front().getType());
  auto update = cast<RankedTensorType>(getUpdates().front().getType());
  for (auto [index, other] : llvm::enumerate(getInputs()))
    if (failed(verifyCompatibleShape(other.getType(), input)))
      return report("input ", index, " has type ", other.getType(),
                    ", expected shape ", toString(input.getShape()));
  for (auto [index, other] : llvm::enumerate(getUpdates()))
    if (failed(verifyCompatibleShape(other.getType(), update)))
      return report("update ", index, " has type ", other.getType(),
                    ", expected shape ", toString(update.getShape()));

  // The window's sizes are those of the updates' window dims.
  ArrayRef<int64_t> windowDims = dims.getUpdateWindowDims();
  if (failed(verifyDims(report, "update_window_dims", windowDims,
                        update.getRank())))
    return failure();
  SmallVector<int64_t> sizes;
  size_t next = 0;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    bool dropped = llvm::is_contained(dims.getInsertedWindowDims(), dim) ||
                   llvm::is_contained(dims.getInputBatchingDims(), dim);
    sizes.push_back(1);
    if (dropped || next == windowDims.size())
      continue;
    sizes.back() = update.getDimSize(windowDims[next++]);
    // A rank's block, in the local view, may be smaller: the rest is others'.
    if (!isDynamic(sizes.back()) && !input.isDynamicDim(dim) &&
        sizes.back() > input.getDimSize(dim) &&
        !(*this)->hasAttr(StablehloDialect::BlockAttrHelper::getNameStr()))
      return report("update windows have ", sizes.back(), " elements in dim ",
                    dim, ", more than the input's ", input.getDimSize(dim));
  }
  FailureOr<SmallVector<int64_t>> shape = verifyAddressing(
      report, input, getScatterIndices().getType(), sizes, windowDims,
      dims.getInsertedWindowDims(), dims.getInputBatchingDims(),
      dims.getScatterIndicesBatchingDims(), dims.getScatterDimsToOperandDims(),
      dims.getIndexVectorDim());
  if (failed(shape) || failed(verifyShape(report, "update", update, *shape)) ||
      failed(verifyReducer(report, getUpdateComputation(), getInputs().size(),
                           getInputs().getTypes())))
    return failure();
  for (auto [index, one] : llvm::enumerate(getUpdates()))
    if (!areOfOneKind(getElementTypeOrSelf(one),
                      getElementTypeOrSelf(getInputs()[index])))
      return report("update ", index, " has type ", one.getType(),
                    ", expected elements for ", getInputs()[index].getType());
  return verifyReductionResults(report, getInputs(), getResultTypes(),
                                getUpdateComputation(), input.getShape());
}

//===----------------------------------------------------------------------===//
// Whole-dim algorithms
//===----------------------------------------------------------------------===//

LogicalResult SortOp::verify() {
  Reporter report(*this);
  if (getInputs().empty())
    return report("has no operand, expected at least one");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = static_cast<int64_t>(getDimension()), rank = first.getRank();
  if (dim < -rank || dim >= rank)
    return report("sorts along dim ", dim, ", expected ", -rank, " to ",
                  rank - 1);
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(verifyCompatibleShape(input.getType(), first)))
      return report("operand ", index, " has type ", input.getType(),
                    ", expected shape ", toString(first.getShape()),
                    " as operand 0");
  if (!areCompatibleTypes(getInputs().getTypes(), getResultTypes()))
    return report("results have types ", getResultTypes(),
                  ", expected those of the operands, ", getInputs().getTypes());
  return verifyPredicate(report, getComparator(), "comparator",
                         getInputs().getTypes());
}

LogicalResult FftOp::verify() {
  Reporter report(*this);
  RankedTensorType operand = getOperand().getType();
  ArrayRef<int64_t> length = getFftLength();
  int64_t count = length.size(), rank = operand.getRank();
  if (count < 1 || count > 3 || count > rank)
    return report("transforms ", count, " dims of an operand with ", rank,
                  " dims, expected 1 to 3");
  FftType type = getFftType();
  Type element = operand.getElementType();
  bool fromReal = type == FftType::RFFT, toReal = type == FftType::IRFFT;
  if (fromReal != isa<FloatType>(element))
    return report(stringifyFftType(type), " takes ",
                  fromReal ? "real" : "complex", " elements, got ", element);
  SmallVector<int64_t> shape(operand.getShape());
  // What is kept of a line of real numbers, or of one whose transform is real.
  auto halfOf = [](int64_t size) { return size == 0 ? 0 : size / 2 + 1; };
  for (int64_t i = 0; i < count; ++i) {
    int64_t dim = rank - count + i;
    bool isLast = i == count - 1;
    int64_t expected = toReal && isLast ? halfOf(length[i]) : length[i];
    if (length[i] < 0 || !sizesAgree(shape[dim], expected))
      return report("operand dim ", dim, " has size ", toString(shape[dim]),
                    ", expected ", expected, " for length ", length[i]);
    shape[dim] = fromReal && isLast ? halfOf(length[i]) : length[i];
  }
  Type part = element;
  if (auto complex = dyn_cast<ComplexType>(element))
    part = complex.getElementType();
  Type expected = toReal ? part : ComplexType::get(part);
  if (getType().getElementType() != expected)
    return report("result has elements of ", getType().getElementType(),
                  ", expected ", expected);
  return verifyShape(report, "result", getType(), shape);
}

LogicalResult CholeskyOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  if (shape.size() < 2 || !sizesAgree(shape.back(), shape[shape.size() - 2]))
    return Reporter(*this)("operand has type ", getType(),
                           ", expected square matrices in the last two dims");
  return success();
}

LogicalResult TriangularSolveOp::verify() {
  Reporter report(*this);
  RankedTensorType a = getA().getType(), b = getB().getType();
  int64_t rank = a.getRank();
  if (rank < 2 || !sizesAgree(a.getDimSize(rank - 1), a.getDimSize(rank - 2)))
    return report("matrix has type ", a,
                  ", expected square matrices in the last two dims");
  if (b.getRank() != rank ||
      failed(verifyCompatibleShape(a.getShape().drop_back(2),
                                   b.getShape().drop_back(2))))
    return report("right side has type ", b, ", expected the leading dims of ",
                  a);
  if (failed(verifyElementTypes(report, "matrix", a, "right side", b)) ||
      failed(verifyElementTypes(report, "right side", b, "result", getType())))
    return failure();
  int64_t dim = getLeftSide() ? rank - 2 : rank - 1;
  if (!sizesAgree(a.getDimSize(rank - 1), b.getDimSize(dim)))
    return report("right side has size ", b.getDimSize(dim), " in dim ", dim,
                  ", expected ", a.getDimSize(rank - 1));
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return report("transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, "
                  "TRANSPOSE or ADJOINT");
  return verifyShape(report, "result", getType(), b.getShape());
}

LogicalResult RngBitGeneratorOp::verify() {
  Reporter report(*this);
  if (!areCompatibleTypes(getInitialState().getType(),
                          getOutputState().getType()))
    return report("state changes its type from ", getInitialState().getType(),
                  " to ", getOutputState().getType());
  if (isa<ComplexType>(getOutput().getType().getElementType()))
    return report("result has type ", getOutput().getType(),
                  ", expected integers or floats");
  return success();
}
