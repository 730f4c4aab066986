//===- RefineOps.cpp - Static forms in the place of dynamic ones ----------===//
#include "InferShapes.h"
#include "Refiner.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

LogicalResult Refiner::checkAssertion(CustomCallOp op) {
  OperandRange operands = op.getInputs();
  const Numbers *holds = operands.empty() ? nullptr : find(operands[0]);
  if (!holds || holds->size() != 1)
    return emitUnsupported(op, "'@shape_assertion' at ")
           << userLocation(op.getLoc())
           << " depends on more than shapes of arguments";
  const Number &condition = holds->front();
  std::string message = "shapes of the arguments do not fit the program";
  if (auto given = op->getAttrOfType<StringAttr>("error_message"))
    message = given.getValue().str();
  bool isTrue = condition.extent >= 0
                    ? extents[condition.extent].placeholder != 0
                    : !condition.value.isZero();
  // A placeholder may be more than the most that an extent may be.
  bool isBound = condition.extent >= 0 &&
                 isOrder(extents[condition.extent].kind) &&
                 dimsOf(extents, condition.extent).size() == 1;
  if (isTrue || isBound) {
    if (condition.extent >= 0) {
      ExtentCondition asked{condition.extent, message, {}};
      for (Value operand : operands.drop_front()) {
        const Numbers *number = find(operand);
        asked.shown.push_back(number && number->size() == 1
                                  ? numberOf(number->front())
                                  : extents.addConstant(-1));
      }
      extents.conditions.push_back(std::move(asked));
    }
    op.erase();
    return success();
  }
  if (condition.extent >= 0) {
    if (changePlaceholders(condition.extent))
      return failure();
    return emitUnsupported(op, "'@shape_assertion' at ")
           << userLocation(op.getLoc())
           << " asks more of open extents than the compiler can meet: "
           << StringRef(message).split('.').first
           << "; give shapes of the arguments (--shapes)";
  }
  std::string text = message;
  if (op->hasAttr("error_message")) {
    for (auto [i, operand] : llvm::enumerate(operands.drop_front())) {
      std::string place = "{" + std::to_string(i) + "}";
      const Numbers *number = find(operand);
      std::string value = number && number->size() == 1
                              ? llvm::toString(number->front().value, 10, true)
                              : "?";
      for (size_t at; (at = text.find(place)) != std::string::npos;)
        text.replace(at, place.size(), value);
    }
  }
  return op.emitError() << text;
}

/// A call whose last operands are the shapes of its results.
LogicalResult Refiner::refineCall(CustomCallOp op) {
  auto places =
      op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!places)
    return success();
  SmallVector<int64_t> operands =
      llvm::map_to_vector(places.getValues<APInt>(),
                          [](const APInt &x) { return x.getSExtValue(); });
  if (operands.size() != op.getNumResults() ||
      llvm::any_of(operands, [&](int64_t i) {
        return i < 0 || i >= static_cast<int64_t>(op->getNumOperands());
      }))
    return op.emitOpError("has indices_of_shape_operands ")
           << places << ", expected an operand for each of its "
           << op.getNumResults() << " results";
  for (auto [result, place] : llvm::zip(op.getResults(), operands)) {
    auto sizes = read(op, op->getOperand(place), "shape");
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (failed(sizes) || !type)
      return failure();
    auto found = RankedTensorType::get(*sizes, type.getElementType());
    if (failed(verifyCompatibleShape(type, found)))
      return op.emitOpError("has a result of type ")
             << type << ", but its operand " << place << " says " << found;
    result.setType(found);
  }
  llvm::sort(operands);
  for (int64_t place : llvm::reverse(operands))
    op->eraseOperand(place);
  for (StringRef name :
       {"indices_of_shape_operands", "operand_layouts", "result_layouts"})
    op->removeAttr(name);
  return success();
}

/// A box around a region, from a function that says the same.
static LogicalResult copyComputation(CustomCallOp op, Region &to) {
  func::FuncOp function;
  if (op.getCalledComputations().size() == 1)
    function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, cast<FlatSymbolRefAttr>(op.getCalledComputations()[0]).getAttr());
  if (!function || !function.getBody().hasOneBlock())
    return op.emitOpError("expects one function in called_computations");
  IRMapping mapping;
  function.getBody().cloneInto(&to, mapping);
  Operation *end = to.front().getTerminator();
  OpBuilder inside(end);
  ReturnOp::create(inside, end->getLoc(), end->getOperands());
  end->erase();
  return success();
}

static PaddedDim paddedDim(int64_t dim, int64_t size, int64_t dilation,
                           int64_t reach, int64_t stride,
                           ArrayRef<Number> numbers, Value vector, int64_t at) {
  return {dim,
          size,
          dilation,
          reach,
          stride,
          /*canFill=*/true,
          /*cutsBehind=*/false,
          numbers[0],
          numbers[1],
          [=](ImplicitLocOpBuilder &b) { return elementAt(b, vector, at); }};
}

/// Operands: inputs, initial values, window, strides, base dilations, window
/// dilations, padding.
LogicalResult Refiner::refineReduceWindow(CustomCallOp op) {
  size_t inputs = op.getNumResults();
  if (op->getNumOperands() != 2 * inputs + 5)
    return op.emitOpError("has ") << op->getNumOperands()
                                  << " operands, expected n inputs, n initial "
                                     "values and five shapes";
  SmallVector<SmallVector<int64_t>> lists;
  for (Value operand : op->getOperands().slice(2 * inputs, 4)) {
    auto list = read(op, operand, "window");
    if (failed(list))
      return failure();
    lists.push_back(std::move(*list));
  }
  FailureOr<Numbers> numbers =
      numbersOf(op, op->getOperands().back(), "padding");
  SmallVector<Value> padded(op->getOperands().take_front(inputs));
  auto type = dyn_cast<RankedTensorType>(padded.front().getType());
  if (failed(numbers) || !type)
    return failure();
  size_t rank = type.getRank();
  if (numbers->size() != 2 * rank ||
      llvm::any_of(lists,
                   [&](ArrayRef<int64_t> list) { return list.size() != rank; }))
    return op.emitOpError("has a window of other than ") << rank << " dims";
  SmallVector<PaddedDim> dims;
  for (size_t d = 0; d < rank; ++d)
    dims.push_back(paddedDim(d, type.getDimSize(d), lists[2][d],
                             (lists[0][d] - 1) * lists[3][d] + 1, lists[1][d],
                             ArrayRef(*numbers).slice(2 * d, 2),
                             op->getOperands().back(), 2 * d));
  SmallVector<bool> isLeft =
      padByValue(op, padded, op->getOperands().slice(inputs, inputs), dims);
  lists.emplace_back();
  for (size_t d = 0; d < rank; ++d) {
    for (const Number &number : {dims[d].low, dims[d].high})
      lists.back().push_back(isLeft[d] ? placeholderOf(number) : 0);
    if (!isLeft[d])
      lists[2][d] = 1;
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto padding =
      RankedTensorType::get({static_cast<int64_t>(rank), 2}, b.getI64Type());
  // Of zero elements until it is inferred below.
  SmallVector<Type> types(op.getResultTypes());
  auto window = ReduceWindowOp::create(
      b, types, padded, op->getOperands().slice(inputs, inputs),
      b.getDenseI64ArrayAttr(lists[0]), b.getDenseI64ArrayAttr(lists[1]),
      b.getDenseI64ArrayAttr(lists[2]), b.getDenseI64ArrayAttr(lists[3]),
      DenseIntElementsAttr::get(padding, ArrayRef(lists[4])));
  renameWindows(window);
  if (failed(copyComputation(op, window.getBody())) ||
      failed(import::inferResultShapes(window)))
    return failure();
  noteResult(window);
  op.replaceAllUsesWith(window.getResults());
  op.erase();
  return success();
}

/// Row by row: what was put there, or a slice.
Value import::elementAt(ImplicitLocOpBuilder &b, Value list, int64_t i) {
  auto type = cast<RankedTensorType>(list.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  if (type.getRank() == 0)
    return list;
  auto concatenate = list.getDefiningOp<ConcatenateOp>();
  if (concatenate && concatenate.getDimension() == 0)
    for (Value part : concatenate.getInputs()) {
      int64_t size = cast<RankedTensorType>(part.getType()).getNumElements();
      if (i < size)
        return elementAt(b, part, i);
      i -= size;
    }
  if (auto constant = list.getDefiningOp<ConstantOp>())
    if (auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
      return ConstantOp::create(
          b, DenseElementsAttr::get(scalar, dense.getValues<APInt>()[i]));
  if (auto reshape = list.getDefiningOp<ReshapeOp>())
    return elementAt(b, reshape.getOperand(), i);
  int64_t count = type.getNumElements();
  if (type.getRank() != 1)
    list = ReshapeOp::create(
        b, RankedTensorType::get(count, scalar.getElementType()), list);
  if (count > 1)
    list = SliceOp::create(b, RankedTensorType::get(1, scalar.getElementType()),
                           list, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{i + 1},
                           ArrayRef<int64_t>{1});
  return ReshapeOp::create(b, scalar, list);
}

/// A slice that begins at numbers that follow from open extents, but are too
/// small to have placeholders: as those of padding, they are values. Null where
/// it is none.
FailureOr<Value> Refiner::smallSlice(RealDynamicSliceOp op) {
  const Numbers *starts = find(op.getStartIndices()),
                *limits = find(op.getLimitIndices()),
                *steps = find(op.getStrides());
  if (!starts || !limits || !steps ||
      llvm::any_of(*steps, [](const Number &step) {
        return step.extent >= 0 || !step.value.isOne();
      }))
    return Value();
  bool isSmall = false;
  if (replayed) {
    if (nextChoice < replayed->size())
      isSmall = (*replayed)[nextChoice++].has_value();
  } else {
    isSmall = llvm::any_of(*starts, [&](const Number &start) {
      return start.extent >= 0 &&
             !usedExtents().isOpen(extents[start.extent].placeholder) &&
             differs(start.extent);
    });
    paddings.push_back(isSmall ? std::optional(PaddingChoice()) : std::nullopt);
  }
  if (!isSmall)
    return Value();
  SmallVector<int64_t> sizes;
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  for (auto [dim, start, limit, whole] :
       llvm::enumerate(*starts, *limits, operand.getShape())) {
    int64_t size = placeholderOf(limit) - placeholderOf(start);
    if (start.extent >= 0 || limit.extent >= 0)
      if (auto length = extents.add(ExtentKind::Subtract,
                                    {numberOf(limit), numberOf(start)}))
        use(*length, op, "length", dim);
    if (size < 0 || size > whole)
      return op.emitOpError("takes ")
             << size << " of a dim of " << whole << " elements";
    sizes.push_back(size);
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> places;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    places.push_back(elementAt(b, op.getStartIndices(), i));
  return DynamicSliceOp::create(b, operand.clone(sizes), op.getOperand(),
                                places, sizes)
      .getResult();
}

/// A slice whose start is a value, but not how long it is: its limit is start
/// and length together. What JAX prints where a length is a symbol, behind a
/// clamp that `dynamic_slice` has itself. Null where it is none.
FailureOr<Value> Refiner::valueSlice(RealDynamicSliceOp op) {
  Value start = op.getStartIndices();
  auto limit = op.getLimitIndices().getDefiningOp<AddOp>();
  const Numbers *steps = find(op.getStrides());
  auto startType = dyn_cast<RankedTensorType>(start.getType());
  if (find(start) || !limit || !steps || !startType ||
      !startType.hasStaticShape() ||
      llvm::any_of(*steps, [](const Number &step) {
        return step.extent >= 0 || !step.value.isOne();
      }))
    return Value();
  bool isFirst = limit.getLhs() == start;
  Value length = isFirst ? limit.getRhs() : limit.getLhs();
  if ((!isFirst && limit.getRhs() != start) || !find(length))
    return Value();
  FailureOr<SmallVector<int64_t>> sizes = read(op, length, "length");
  if (failed(sizes))
    return failure();
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  if (static_cast<int64_t>(sizes->size()) != operand.getRank())
    return Value();
  for (auto [size, whole] : llvm::zip_equal(*sizes, operand.getShape()))
    if (size < 0 || size > whole)
      return op.emitOpError("takes ")
             << size << " of a dim of " << whole << " elements";
  auto clamp = start.getDefiningOp<ClampOp>();
  if (clamp && find(clamp.getMin()) && find(clamp.getMax())) {
    FailureOr<SmallVector<int64_t>> least = read(op, clamp.getMin(), "start"),
                                    most = read(op, clamp.getMax(), "start");
    if (failed(least) || failed(most))
      return failure();
    bool isOwn =
        least->size() == sizes->size() && most->size() == sizes->size();
    for (int64_t i = 0; isOwn && i < operand.getRank(); ++i)
      isOwn =
          (*least)[i] == 0 && (*most)[i] == operand.getDimSize(i) - (*sizes)[i];
    if (isOwn)
      start = clamp.getOperand();
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> starts;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    starts.push_back(elementAt(b, start, i));
  return DynamicSliceOp::create(b, operand.clone(*sizes), op.getOperand(),
                                starts, *sizes)
      .getResult();
}

/// Operands: state and shape.
LogicalResult Refiner::refineRandomBits(CustomCallOp op) {
  auto algorithm = op->getAttrOfType<RngAlgorithmAttr>("rng_algorithm");
  auto type = op->getNumResults() == 2
                  ? dyn_cast<RankedTensorType>(op->getResult(1).getType())
                  : RankedTensorType();
  if (op->getNumOperands() != 2 || !type || !algorithm)
    return op.emitOpError("expects a state and a shape, rng_algorithm, and a "
                          "state and numbers as results");
  auto shape = read(op, op->getOperand(1), "shape");
  if (failed(shape))
    return failure();
  auto found = RankedTensorType::get(*shape, type.getElementType());
  if (llvm::any_of(*shape, [](int64_t size) { return size < 0; }) ||
      failed(verifyCompatibleShape(type, found)))
    return op.emitOpError("has a result of type ")
           << type << ", but its operand 1 says " << found;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto drawn =
      RngBitGeneratorOp::create(b, op->getOperand(0).getType(), found,
                                op->getOperand(0), algorithm.getValue());
  op.replaceAllUsesWith(drawn.getResults());
  op.erase();
  return success();
}

/// The gradient of windows that alone reads `pad`, and is sliced as it was
/// padded; null if there is none. It reads and writes what is in windows, so
/// that more may be padded behind these.
static SelectAndScatterOp windowsOver(DynamicPadOp pad) {
  SelectAndScatterOp found;
  for (OpOperand &use : pad.getResult().getUses()) {
    auto windows = dyn_cast<SelectAndScatterOp>(use.getOwner());
    if (found || !windows || use.getOperandNumber() != 0 ||
        (windows.getPadding() &&
         llvm::any_of(windows.getPadding()->getValues<APInt>(),
                      [](const APInt &number) { return !number.isZero(); })) ||
        !llvm::all_of(windows->getUsers(), llvm::IsaPred<RealDynamicSliceOp>))
      return {};
    found = windows;
  }
  return found;
}

/// The windows one apart that alone read `pad`; null if there are none.
static ReduceWindowOp windowsOneApart(DynamicPadOp pad) {
  auto windows = pad->hasOneUse()
                     ? dyn_cast<ReduceWindowOp>(*pad->getUsers().begin())
                     : ReduceWindowOp();
  auto areOnes = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t number) { return number == 1; });
  };
  bool fits = windows && windows.getInputs().size() == 1 &&
              areOnes(windows.getWindowStridesOrOnes()) &&
              areOnes(windows.getBaseDilationsOrOnes()) &&
              llvm::all_of(windows.getPaddingOrZeros(), [](auto padding) {
                return padding.first == 0 && padding.second == 0;
              });
  return fits ? windows : ReduceWindowOp();
}

/// A reshape to sizes that are numbers says what open extents have to be.
LogicalResult Refiner::checkReshape(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape || !placeholders || !placeholders->renamed.empty())
    return success();
  auto operand = cast<RankedTensorType>(reshape.getOperand().getType());
  auto result = cast<RankedTensorType>(reshape.getType());
  if (!operand.hasStaticShape() || !result.hasStaticShape() ||
      operand.getNumElements() == result.getNumElements())
    return success();
  for (int64_t size : operand.getShape())
    for (int64_t dim : dimsOf(extents, idOf(size)))
      return emitUnsupported(op, "'stablehlo.reshape' at ")
             << userLocation(op->getLoc()) << " is to " << result
             << ", which fits some extents of argument "
             << extents[dim].operands[0] << ", dim " << extents[dim].operands[1]
             << ", alone; give shapes of the arguments (--shapes)";
  return success();
}

FailureOr<Value> Refiner::refinePad(DynamicPadOp op) {
  FailureOr<Numbers> low = numbersOf(op, op.getEdgePaddingLow(), "padding"),
                     high = numbersOf(op, op.getEdgePaddingHigh(), "padding");
  auto interior = read(op, op.getInteriorPadding(), "padding");
  if (failed(low) || failed(high) || failed(interior))
    return failure();
  ArrayRef<int64_t> sizes =
      cast<RankedTensorType>(op.getOperand().getType()).getShape();
  SmallVector<PaddedDim> dims;
  SelectAndScatterOp windows = windowsOver(op);
  SmallVector<int64_t> reach(sizes.size(), 1), stride = reach;
  if (windows && windows.getWindowDimensions())
    reach = SmallVector<int64_t>(*windows.getWindowDimensions());
  if (windows && windows.getWindowStrides())
    stride = SmallVector<int64_t>(*windows.getWindowStrides());
  ReduceWindowOp behind = windowsOneApart(op);
  for (size_t d = 0; behind && d < sizes.size(); ++d)
    reach[d] = (behind.getWindowDimensions()[d] - 1) *
                   behind.getWindowDilationsOrOnes()[d] +
               1;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    dims.push_back(paddedDim(d, size, (*interior)[d] + 1, reach[d], stride[d],
                             {(*low)[d], (*high)[d]}, op.getEdgePaddingLow(),
                             d));
    dims.back().canFill = bool(windows);
    dims.back().cutsBehind = bool(behind);
  }
  SmallVector<Value> padded = {op.getOperand()};
  SmallVector<bool> isLeft = padByValue(op, padded, op.getPaddingValue(), dims);
  if (!llvm::is_contained(isLeft, true))
    return padded.front();
  auto type = cast<RankedTensorType>(padded.front().getType());
  SmallVector<int64_t> below(type.getRank(), 0), above = below, between = below,
                                                 shape(type.getShape());
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (!isLeft[d])
      continue;
    below[d] = placeholderOf((*low)[d]);
    above[d] = placeholderOf((*high)[d]);
    between[d] = (*interior)[d];
    shape[d] = below[d] + above[d] + size +
               std::max<int64_t>(size - 1, 0) * between[d];
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto pad = PadOp::create(b, type.clone(shape), padded.front(),
                           op.getPaddingValue(), below, above, between);
  notePadding(pad);
  return pad.getResult();
}

FailureOr<Value> Refiner::refineConvolution(DynamicConvOp op) {
  FailureOr<Numbers> numbers = numbersOf(op, op.getPadding(), "padding");
  if (failed(numbers))
    return failure();
  ConvDimensionNumbersAttr numbered = op.getDimensionNumbers();
  ArrayRef<int64_t> spatial = numbered.getInputSpatialDimensions(),
                    kernel = numbered.getKernelSpatialDimensions();
  if (numbers->size() != 2 * spatial.size())
    return op.emitOpError("has ")
           << numbers->size() << " numbers of padding, expected two for each "
           << "of " << spatial.size() << " dims";
  SmallVector<int64_t> ones(spatial.size(), 1);
  // What a list says of more dims than there are is dropped.
  auto own = [&](auto list) { return list.take_front(spatial.size()); };
  auto listOf = [&](std::optional<ArrayRef<int64_t>> list) {
    return SmallVector<int64_t>(own(list ? *list : ArrayRef(ones)));
  };
  SmallVector<int64_t> strides = listOf(op.getWindowStrides()),
                       dilations = listOf(op.getLhsDilation()),
                       windowDilations = listOf(op.getRhsDilation());
  auto sizeOf = [](Value value, int64_t dim) {
    return cast<RankedTensorType>(value.getType()).getDimSize(dim);
  };
  SmallVector<PaddedDim> dims;
  for (size_t d = 0; d < spatial.size(); ++d)
    dims.push_back(
        paddedDim(spatial[d], sizeOf(op.getLhs(), spatial[d]), dilations[d],
                  (sizeOf(op.getRhs(), kernel[d]) - 1) * windowDilations[d] + 1,
                  strides[d], ArrayRef(*numbers).slice(2 * d, 2),
                  op.getPadding(), 2 * d));
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> padded = {op.getLhs()};
  Type element = getElementTypeOrSelf(op.getLhs().getType());
  auto scalar = RankedTensorType::get({}, element);
  auto zero = ConstantOp::create(
      b,
      DenseElementsAttr::get(scalar, cast<TypedAttr>(b.getZeroAttr(element))));
  SmallVector<bool> isLeft = padByValue(op, padded, zero.getResult(), dims);
  if (zero->use_empty())
    zero->erase();
  SmallVector<int64_t> padding;
  for (size_t d = 0; d < spatial.size(); ++d) {
    for (const Number &number : {dims[d].low, dims[d].high})
      padding.push_back(isLeft[d] ? placeholderOf(number) : 0);
    if (!isLeft[d])
      dilations[d] = 1;
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(spatial.size()), 2},
                                    b.getI64Type());
  auto ifGiven = [&](bool isGiven, ArrayRef<int64_t> list) {
    return isGiven ? b.getDenseI64ArrayAttr(list) : DenseI64ArrayAttr();
  };
  std::optional<ArrayRef<bool>> reversal = op.getWindowReversal();
  auto convolution = ConvolutionOp::create(
      b, op.getType(), padded.front(), op.getRhs(),
      ifGiven(op.getWindowStrides().has_value(), strides),
      DenseIntElementsAttr::get(type, ArrayRef(padding)),
      ifGiven(op.getLhsDilation().has_value(), dilations),
      ifGiven(op.getRhsDilation().has_value(), windowDilations),
      reversal ? b.getDenseBoolArrayAttr(own(*reversal)) : DenseBoolArrayAttr(),
      op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
      op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
  renameWindows(convolution);
  if (failed(import::inferResultShapes(convolution)))
    return failure();
  noteResult(convolution);
  return convolution.getResult();
}

FailureOr<bool> Refiner::replaceDynamic(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value twin;
  auto typed = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(
        shape, getElementTypeOrSelf(op->getResult(0).getType()));
  };
  auto fits = [&](ArrayRef<int64_t> shape) -> LogicalResult {
    auto stated = cast<RankedTensorType>(op->getResult(0).getType());
    if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
        failed(verifyCompatibleShape(stated.getShape(), shape)))
      return op->emitOpError("has a result of type ")
             << stated << ", but its shape operand is "
             << llvm::interleaved_array(shape);
    return success();
  };
  if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
    int64_t value = cast<RankedTensorType>(size.getOperand().getType())
                        .getDimSize(size.getDimension());
    auto type = cast<RankedTensorType>(size.getType());
    if (extents.isOpen(value)) {
      // Of an argument its own, whatever has the same placeholder: that the two
      // are equal is what an assertion asks.
      auto argument = dyn_cast<BlockArgument>(size.getOperand());
      bool isInput = argument && argument.getOwner() == &main.getBody().front();
      int64_t extent = isInput
                           ? dimOf(argument.getArgNumber(), size.getDimension())
                           : idOf(value);
      twin = spmd::ExtentOp::create(b, type, value);
      known[twin] = {Number(APInt(type.getElementTypeBitWidth(), value,
                                  /*isSigned=*/true, /*implicitTrunc=*/true),
                            extent)};
    } else if (!llvm::isIntN(type.getElementTypeBitWidth() - 1, value)) {
      return op->emitOpError("has the result type ")
             << type.getElementType() << ", but dim " << size.getDimension()
             << " has " << value << " elements";
    } else {
      twin = ConstantOp::create(
          b, DenseElementsAttr::get(
                 type, b.getIntegerAttr(type.getElementType(), value)));
    }
  } else if (auto set = dyn_cast<SetDimensionSizeOp>(op)) {
    auto size = read(op, set.getSize(), "size");
    if (failed(size))
      return failure();
    auto type = cast<RankedTensorType>(set.getOperand().getType());
    if (size->front() != type.getDimSize(set.getDimension()))
      return emitUnsupported(op, "'")
             << op->getName() << "' at " << userLocation(op->getLoc())
             << " sets a dim of " << type.getDimSize(set.getDimension())
             << " elements to " << size->front()
             << "; only tensors with all their elements are known";
    op->getResult(0).replaceAllUsesWith(set.getOperand());
    op->erase();
    return true;
  } else if (auto broadcast = dyn_cast<DynamicBroadcastInDimOp>(op)) {
    auto shape = read(op, broadcast.getOutputDimensions(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = BroadcastInDimOp::create(b, typed(*shape), broadcast.getOperand(),
                                    broadcast.getBroadcastDimensions());
  } else if (auto iota = dyn_cast<DynamicIotaOp>(op)) {
    auto shape = read(op, iota.getOutputShape(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = IotaOp::create(b, typed(*shape), iota.getIotaDimension());
  } else if (auto reshape = dyn_cast<DynamicReshapeOp>(op)) {
    auto shape = read(op, reshape.getOutputShape(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = ReshapeOp::create(b, typed(*shape), reshape.getOperand());
    noteResult(twin.getDefiningOp());
  } else if (auto slice = dyn_cast<RealDynamicSliceOp>(op)) {
    FailureOr<Value> moving = smallSlice(slice);
    if (succeeded(moving) && !*moving)
      moving = valueSlice(slice);
    if (failed(moving))
      return failure();
    if (*moving) {
      if (failed(fits(cast<RankedTensorType>(moving->getType()).getShape())))
        return failure();
      twin = *moving;
    } else {
      auto start = read(op, slice.getStartIndices(), "start"),
           limit = read(op, slice.getLimitIndices(), "limit"),
           strides = read(op, slice.getStrides(), "stride");
      if (failed(start) || failed(limit) || failed(strides))
        return failure();
      SmallVector<int64_t> shape;
      for (auto [from, to, step] : llvm::zip(*start, *limit, *strides)) {
        if (from < 0 || to < from || step < 1)
          return op->emitOpError("slices from ")
                 << from << " to " << to << " by " << step;
        shape.push_back((to - from + step - 1) / step);
      }
      if (failed(fits(shape)))
        return failure();
      twin = SliceOp::create(b, typed(shape), slice.getOperand(), *start,
                             *limit, *strides);
    }
  } else if (auto pad = dyn_cast<DynamicPadOp>(op)) {
    FailureOr<Value> made = refinePad(pad);
    if (failed(made) ||
        failed(fits(cast<RankedTensorType>(made->getType()).getShape())))
      return failure();
    twin = *made;
  } else if (auto gather = dyn_cast<DynamicGatherOp>(op)) {
    auto sizes = read(op, gather.getSliceSizes(), "slice size");
    if (failed(sizes))
      return failure();
    for (auto [slice, size] : llvm::zip(
             *sizes,
             cast<RankedTensorType>(gather.getOperand().getType()).getShape()))
      if (slice < 0 || slice > size)
        return op->emitOpError("takes slices of ")
               << slice << " of a dim of " << size << " elements";
    auto made = GatherOp::create(
        b, gather.getOperand(), gather.getStartIndices(),
        gather.getDimensionNumbers(), *sizes, gather.getIndicesAreSorted());
    twin = made;
    if (find(made.getStartIndices()))
      slices.push_back({made, *read(op, made.getStartIndices(), "start")});
  } else if (auto conv = dyn_cast<DynamicConvOp>(op)) {
    FailureOr<Value> made = refineConvolution(conv);
    if (failed(made))
      return failure();
    twin = *made;
  } else {
    return false;
  }
  // Shardings and other remarks stay.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    twin.getDefiningOp()->setAttr(attr.getName(), attr.getValue());
  op->getResult(0).replaceAllUsesWith(twin);
  op->erase();
  return true;
}

/// A slice of symbolic bounds is printed as a gather of one slice, from where
/// the shapes say: puts a slice in its place. Only where it never reaches out
/// of the operand, and so is never moved back into it.
void Refiner::sliceFor(GatherOp op, ArrayRef<int64_t> numbers) {
  GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto indices = cast<RankedTensorType>(op.getStartIndices().getType());
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  if (indices.getRank() != 1 || dims.getIndexVectorDim() != 0 ||
      !operand.hasStaticShape() || !dims.getOperandBatchingDims().empty())
    return;
  SmallVector<int64_t> starts(operand.getRank(), 0), limits,
      strides(starts.size(), 1);
  for (auto [number, dim] : llvm::zip_equal(numbers, dims.getStartIndexMap()))
    starts[dim] = number;
  SmallVector<int64_t> shape;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t slice = op.getSliceSizes()[dim], size = operand.getDimSize(dim);
    std::optional<LinearExtent> end = extents.find(start + slice),
                                last = extents.find(size);
    // What begins at the first element is no longer than what there is.
    bool isInside =
        start + slice == size || (start == 0 && slice <= size) ||
        (!extents.isOpen(start) && start >= 0 && start + slice <= size &&
         end.has_value() == last.has_value() &&
         (!end || (end->extent == last->extent &&
                   end->coefficient == last->coefficient)));
    if (!isInside)
      return;
    limits.push_back(start + slice);
    if (!llvm::is_contained(dims.getCollapsedSliceDims(),
                            static_cast<int64_t>(dim)))
      shape.push_back(slice);
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<int64_t> sliced;
  for (auto [start, limit] : llvm::zip_equal(starts, limits))
    sliced.push_back(limit - start);
  Value made = SliceOp::create(b, operand.clone(sliced), op.getOperand(),
                               starts, limits, strides);
  if (shape != sliced)
    made = ReshapeOp::create(b, operand.clone(shape), made);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    made.getDefiningOp()->setAttr(attr.getName(), attr.getValue());
  op.replaceAllUsesWith(made);
  op.erase();
}

/// Carried values keep the shapes that they come with.
LogicalResult Refiner::refineWhile(WhileOp op) {
  for (Region *region : {&op.getCond(), &op.getBody()})
    for (auto [argument, operand] :
         llvm::zip(region->getArguments(), op.getOperands()))
      argument.setType(operand.getType());
  if (failed(refineBlock(op.getCond().front())) ||
      failed(refineBlock(op.getBody().front())))
    return failure();
  Operation *end = op.getBody().front().getTerminator();
  for (auto [i, result, operand, next] :
       llvm::enumerate(op.getResults(), op.getOperands(), end->getOperands())) {
    if (next.getType() != operand.getType())
      return op.emitOpError("carries value ")
             << i << " of type " << operand.getType()
             << ", but its body makes it " << next.getType();
    result.setType(operand.getType());
  }
  return success();
}

LogicalResult Refiner::refineBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (failed(refineBlock(region.front())))
      return failure();
    Operation *end = region.front().getTerminator();
    for (auto [result, value] :
         llvm::zip(op->getResults(), end->getOperands())) {
      if (isStatic(result.getType()) && result.getType() != value.getType())
        return op->emitOpError("has branches of types ")
               << result.getType() << " and " << value.getType();
      result.setType(value.getType());
    }
  }
  return success();
}

LogicalResult Refiner::refineOp(Operation *op) {
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    if (call.getCallTargetName() == "shape_assertion")
      return checkAssertion(call);
    if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window")
      return refineReduceWindow(call);
    if (call.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator")
      return refineRandomBits(call);
    return refineCall(call);
  }
  if (auto loop = dyn_cast<WhileOp>(op))
    return refineWhile(loop);
  if (isa<CaseOp, IfOp>(op))
    return refineBranches(op);
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return refineManual(manual);
  // Of our own; its types are those that it has.
  if (auto manual = dyn_cast<spmd::ManualOp>(op);
      manual && llvm::all_of(op->getResultTypes(), isStatic))
    return refineBlock(manual.getBody().front());
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (isPartOfRoll(op))
    return success();
  FailureOr<bool> rolled = refineRoll(op);
  if (failed(rolled) || *rolled)
    return LogicalResult(rolled);
  FailureOr<bool> replaced = replaceDynamic(op);
  if (failed(replaced) || *replaced)
    return LogicalResult(replaced);
  if (isa<ConvolutionOp, ReduceWindowOp, SelectAndScatterOp>(op))
    renameWindows(op);
  if (failed(refineCollective(op)) || failed(import::inferResultShapes(op)) ||
      failed(checkReshape(op)))
    return failure();
  noteResult(op);
  cutBehind(op);
  renameBack(op);
  evaluate(op);
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(refineOp(&op)))
      return failure();
  return success();
}
