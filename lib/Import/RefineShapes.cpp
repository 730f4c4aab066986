//===- RefineShapes.cpp - Sizes of arguments reach everything -------------===//
//
// jax.export prints symbolic shapes as `?`, sizes as values, and ops that make
// shapes of them. Once shapes of arguments are known, sizes are numbers: the
// walk knows every small integer tensor that depends on sizes and constants
// alone, puts static forms in the place of dynamic ones, and gives each result
// its shape. Arithmetic that nobody reads then falls away.
//
//===----------------------------------------------------------------------===//
#include "InferShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_REFINESHAPESPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {

/// Elements that a tensor may have for its value to be followed.
constexpr int64_t kMaxKnown = 4096;

using Numbers = SmallVector<APInt>;

class Refiner {
public:
  explicit Refiner(func::FuncOp main) : main(main) {}
  LogicalResult setArguments(StringRef shapes);
  LogicalResult refineBlock(Block &block);
  LogicalResult finish();

private:
  LogicalResult refineOp(Operation *op);
  LogicalResult refineWhile(WhileOp op);
  LogicalResult refineBranches(Operation *op);
  LogicalResult checkAssertion(CustomCallOp op);
  LogicalResult refineCall(CustomCallOp op);
  LogicalResult refineReduceWindow(CustomCallOp op);
  /// Puts a static op in place of a dynamic one; true if it was one.
  FailureOr<bool> replaceDynamic(Operation *op);
  void evaluate(Operation *op);
  std::optional<Numbers> evaluateElements(Operation *op);

  const Numbers *find(Value value);
  /// Elements of a shape, or an error that names `what`.
  FailureOr<SmallVector<int64_t>> read(Operation *op, Value value,
                                       StringRef what);

  func::FuncOp main;
  DenseMap<Value, Numbers> known;
};

} // namespace

static bool isStatic(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return !tensor || tensor.hasStaticShape();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static std::string nameOf(BlockArgument argument) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    return name.getName().str();
  return std::to_string(argument.getArgNumber());
}

LogicalResult Refiner::setArguments(StringRef shapes) {
  SmallVector<StringRef> entries;
  shapes.split(entries, ';', -1, /*KeepEmpty=*/false);
  Block &block = main.getBody().front();
  for (StringRef entry : entries) {
    auto [place, text] = entry.rsplit('=');
    place = place.trim();
    // Of what a program is given: shapes of arrays, which say something new
    // about dynamic arguments alone.
    bool ifDynamic = place.consume_front("?");
    BlockArgument found;
    unsigned number;
    if (!place.getAsInteger(10, number)) {
      if (number < block.getNumArguments())
        found = block.getArgument(number);
    } else {
      for (BlockArgument argument : block.getArguments())
        if (nameOf(argument) == place)
          found = argument;
    }
    if (ifDynamic && (!found || isStatic(found.getType())))
      continue;
    if (!found)
      return main.emitError("shapes option names argument '")
             << place << "', but @main has no such argument";
    SmallVector<int64_t> sizes;
    SmallVector<StringRef> parts;
    if (text != "scalar")
      text.trim().split(parts, 'x');
    for (StringRef part : parts)
      if (int64_t size; part.getAsInteger(10, size) || size < 0)
        return main.emitError("shapes option has '")
               << entry << "', expected an argument and sizes such as 0=8x6";
      else
        sizes.push_back(size);
    auto type = dyn_cast<RankedTensorType>(found.getType());
    auto wanted = type ? RankedTensorType::get(sizes, type.getElementType())
                       : RankedTensorType();
    if (!type || failed(verifyCompatibleShape(type, wanted)))
      return main.emitError("shapes option gives argument ")
             << place << " the shape " << text << ", but its type is "
             << found.getType();
    found.setType(wanted);
  }
  for (BlockArgument argument : block.getArguments())
    if (!isStatic(argument.getType()))
      return emitUnsupported(main, "argument ")
             << argument.getArgNumber() << " of @main has dynamic shape "
             << argument.getType()
             << "; give its shape (--shapes=" << argument.getArgNumber()
             << "=4x8) or inputs";
  return success();
}

//===----------------------------------------------------------------------===//
// Values of sizes
//===----------------------------------------------------------------------===//

const Numbers *Refiner::find(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return &it->second;
  auto op = value.getDefiningOp<ConstantOp>();
  auto dense = op ? dyn_cast<DenseIntElementsAttr>(op.getValue()) : nullptr;
  if (!dense || dense.getNumElements() > kMaxKnown)
    return nullptr;
  Numbers numbers(dense.getValues<APInt>());
  return &known.insert({value, std::move(numbers)}).first->second;
}

FailureOr<SmallVector<int64_t>> Refiner::read(Operation *op, Value value,
                                              StringRef what) {
  const Numbers *numbers = find(value);
  if (!numbers)
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op->getLoc()) << ": its "
           << what << " depends on more than shapes of arguments";
  return llvm::map_to_vector(*numbers,
                             [](const APInt &x) { return x.getSExtValue(); });
}

static bool isUnsignedElement(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// One element of an elementwise op on integers; nullopt for ops and operands
/// that sizes are not made with (division by zero).
static std::optional<APInt> evaluateScalar(Operation *op,
                                           ArrayRef<APInt> args) {
  bool isUnsigned = isUnsignedElement(op->getOperand(0));
  const APInt &x = args[0];
  auto flag = [](bool value) { return APInt(1, value); };
  auto less = [&](const APInt &a, const APInt &b) {
    return isUnsigned ? a.ult(b) : a.slt(b);
  };
  return llvm::TypeSwitch<Operation *, std::optional<APInt>>(op)
      .Case([&](AddOp) { return x + args[1]; })
      .Case([&](SubtractOp) { return x - args[1]; })
      .Case([&](MulOp) { return x * args[1]; })
      .Case<DivOp, RemOp>([&](auto op) -> std::optional<APInt> {
        if (args[1].isZero())
          return std::nullopt;
        if constexpr (std::is_same_v<decltype(op), DivOp>)
          return isUnsigned ? x.udiv(args[1]) : x.sdiv(args[1]);
        else
          return isUnsigned ? x.urem(args[1]) : x.srem(args[1]);
      })
      .Case([&](MaxOp) { return less(x, args[1]) ? args[1] : x; })
      .Case([&](MinOp) { return less(x, args[1]) ? x : args[1]; })
      .Case([&](AndOp) { return x & args[1]; })
      .Case([&](OrOp) { return x | args[1]; })
      .Case([&](XorOp) { return x ^ args[1]; })
      .Case([&](NotOp) { return ~x; })
      .Case([&](NegOp) { return -x; })
      .Case([&](AbsOp) { return isUnsigned ? x : x.abs(); })
      .Case([&](SignOp) {
        if (x.isZero())
          return x;
        bool negative = !isUnsigned && x.isNegative();
        return APInt(x.getBitWidth(), negative ? -1 : 1, /*isSigned=*/true);
      })
      .Case([&](SelectOp) { return x.isZero() ? args[2] : args[1]; })
      .Case([&](ClampOp) {
        APInt low = less(args[1], x) ? x : args[1];
        return less(args[2], low) ? args[2] : low;
      })
      .Case([&](CompareOp op) {
        const APInt &y = args[1];
        switch (op.getComparisonDirection()) {
        case ComparisonDirection::EQ:
          return flag(x == y);
        case ComparisonDirection::NE:
          return flag(x != y);
        case ComparisonDirection::LT:
          return flag(less(x, y));
        case ComparisonDirection::LE:
          return flag(!less(y, x));
        case ComparisonDirection::GT:
          return flag(less(y, x));
        case ComparisonDirection::GE:
          return flag(!less(x, y));
        }
        llvm_unreachable("all directions are covered");
      })
      .Case([&](ConvertOp op) -> std::optional<APInt> {
        auto to = dyn_cast<IntegerType>(
            getElementTypeOrSelf(op->getResult(0).getType()));
        if (!to)
          return std::nullopt;
        if (to.getWidth() == 1)
          return flag(!x.isZero());
        return isUnsigned ? x.zextOrTrunc(to.getWidth())
                          : x.sextOrTrunc(to.getWidth());
      })
      .Default(std::optional<APInt>());
}

std::optional<Numbers> Refiner::evaluateElements(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<ReshapeOp>(op))
    return *find(op->getOperand(0));
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    // For each row of the dims before, the operands' parts one by one.
    int64_t dim = concatenate.getDimension(), rows = 1;
    for (int64_t size : type.getShape().take_front(dim))
      rows *= size;
    Numbers all;
    for (int64_t row = 0; row < rows; ++row)
      for (Value operand : op->getOperands()) {
        const Numbers &elements = *find(operand);
        size_t part = elements.size() / rows;
        all.append(elements.begin() + row * part,
                   elements.begin() + (row + 1) * part);
      }
    return all;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    const Numbers &from = *find(op->getOperand(0));
    if (from.size() == 1)
      return Numbers(type.getNumElements(), from.front());
    return static_cast<int64_t>(from.size()) == type.getNumElements() &&
                   type.getRank() == 1
               ? std::optional(from)
               : std::nullopt;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (type.getRank() != 1)
      return std::nullopt;
    const Numbers &from = *find(op->getOperand(0));
    Numbers part;
    for (int64_t i = slice.getStartIndices()[0]; i < slice.getLimitIndices()[0];
         i += slice.getStrides()[0])
      part.push_back(from[i]);
    return part;
  }
  if (!op->hasTrait<ElementwiseTrait>() || op->getNumRegions())
    return std::nullopt;
  Numbers result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Numbers args;
    for (Value operand : op->getOperands()) {
      const Numbers &elements = *find(operand);
      args.push_back(elements[elements.size() == 1 ? 0 : i]);
    }
    std::optional<APInt> element = evaluateScalar(op, args);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

void Refiner::evaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxKnown ||
      !isa<IntegerType>(type.getElementType()) ||
      llvm::any_of(op->getOperands(),
                   [&](Value operand) { return !find(operand); }))
    return;
  if (std::optional<Numbers> numbers = evaluateElements(op))
    known[op->getResult(0)] = std::move(*numbers);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Refiner::checkAssertion(CustomCallOp op) {
  OperandRange operands = op.getInputs();
  const Numbers *holds = operands.empty() ? nullptr : find(operands[0]);
  if (!holds || holds->size() != 1)
    return emitUnsupported(op, "'@shape_assertion' at ")
           << userLocation(op.getLoc())
           << " depends on more than shapes of arguments";
  if (!holds->front().isZero()) {
    op.erase();
    return success();
  }
  std::string text = "shapes of the arguments do not fit the program";
  if (auto message = op->getAttrOfType<StringAttr>("error_message")) {
    text = message.getValue().str();
    for (auto [i, operand] : llvm::enumerate(operands.drop_front())) {
      std::string place = "{" + std::to_string(i) + "}";
      const Numbers *number = find(operand);
      std::string value = number && number->size() == 1
                              ? llvm::toString(number->front(), 10, true)
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

/// Operands: inputs, initial values, window, strides, base dilations, window
/// dilations, padding.
LogicalResult Refiner::refineReduceWindow(CustomCallOp op) {
  size_t inputs = op.getNumResults();
  if (op->getNumOperands() != 2 * inputs + 5)
    return op.emitOpError("has ") << op->getNumOperands()
                                  << " operands, expected n inputs, n initial "
                                     "values and five shapes";
  SmallVector<SmallVector<int64_t>> lists;
  for (Value operand : op->getOperands().drop_front(2 * inputs)) {
    auto list = read(op, operand, "window");
    if (failed(list))
      return failure();
    lists.push_back(std::move(*list));
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto padding = RankedTensorType::get(
      {static_cast<int64_t>(lists[4].size() / 2), 2}, b.getI64Type());
  // Of zero elements until it is inferred below.
  SmallVector<Type> types(op.getResultTypes());
  auto window = ReduceWindowOp::create(
      b, types, op->getOperands().take_front(inputs),
      op->getOperands().slice(inputs, inputs), b.getDenseI64ArrayAttr(lists[0]),
      b.getDenseI64ArrayAttr(lists[1]), b.getDenseI64ArrayAttr(lists[2]),
      b.getDenseI64ArrayAttr(lists[3]),
      DenseIntElementsAttr::get(padding, ArrayRef(lists[4])));
  if (failed(copyComputation(op, window.getBody())) ||
      failed(import::inferResultShapes(window)))
    return failure();
  op.replaceAllUsesWith(window.getResults());
  op.erase();
  return success();
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
    twin = ConstantOp::create(
        b, DenseElementsAttr::get(
               type, b.getIntegerAttr(type.getElementType(), value)));
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
  } else if (auto slice = dyn_cast<RealDynamicSliceOp>(op)) {
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
    twin = SliceOp::create(b, typed(shape), slice.getOperand(), *start, *limit,
                           *strides);
  } else if (auto pad = dyn_cast<DynamicPadOp>(op)) {
    auto low = read(op, pad.getEdgePaddingLow(), "padding"),
         high = read(op, pad.getEdgePaddingHigh(), "padding"),
         interior = read(op, pad.getInteriorPadding(), "padding");
    if (failed(low) || failed(high) || failed(interior))
      return failure();
    SmallVector<int64_t> shape;
    for (auto [i, size] : llvm::enumerate(
             cast<RankedTensorType>(pad.getOperand().getType()).getShape()))
      shape.push_back((*low)[i] + (*high)[i] + size +
                      std::max<int64_t>(size - 1, 0) * (*interior)[i]);
    if (failed(fits(shape)))
      return failure();
    twin = PadOp::create(b, typed(shape), pad.getOperand(),
                         pad.getPaddingValue(), *low, *high, *interior);
  } else if (auto gather = dyn_cast<DynamicGatherOp>(op)) {
    auto sizes = read(op, gather.getSliceSizes(), "slice sizes");
    if (failed(sizes))
      return failure();
    twin = GatherOp::create(b, gather.getOperand(), gather.getStartIndices(),
                            gather.getDimensionNumbers(), *sizes,
                            gather.getIndicesAreSorted());
  } else if (auto conv = dyn_cast<DynamicConvOp>(op)) {
    auto padding = read(op, conv.getPadding(), "padding");
    if (failed(padding))
      return failure();
    auto type = RankedTensorType::get(
        {static_cast<int64_t>(padding->size() / 2), 2}, b.getI64Type());
    auto convolution = ConvolutionOp::create(
        b, conv.getType(), conv.getLhs(), conv.getRhs(),
        conv.getWindowStridesAttr(),
        DenseIntElementsAttr::get(type, ArrayRef(*padding)),
        conv.getLhsDilationAttr(), conv.getRhsDilationAttr(),
        conv.getWindowReversalAttr(), conv.getDimensionNumbersAttr(),
        conv.getFeatureGroupCountAttr(), conv.getBatchGroupCountAttr(),
        conv.getPrecisionConfigAttr());
    if (failed(import::inferResultShapes(convolution)))
      return failure();
    twin = convolution;
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
    return refineCall(call);
  }
  if (auto loop = dyn_cast<WhileOp>(op))
    return refineWhile(loop);
  if (isa<CaseOp, IfOp>(op))
    return refineBranches(op);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  FailureOr<bool> replaced = replaceDynamic(op);
  if (failed(replaced) || *replaced)
    return LogicalResult(replaced);
  if (failed(import::inferResultShapes(op)))
    return failure();
  evaluate(op);
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(refineOp(&op)))
      return failure();
  return success();
}

LogicalResult Refiner::finish() {
  Block &block = main.getBody().front();
  main.setFunctionType(
      FunctionType::get(main.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return success();
}

/// True if a dynamic shape or op stands anywhere.
static bool isDynamic(func::FuncOp main) {
  bool dynamic = !llvm::all_of(main.getArgumentTypes(), isStatic);
  main.walk([&](Operation *op) {
    dynamic |= isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
                   RealDynamicSliceOp, DynamicPadOp, DynamicGatherOp,
                   DynamicConvOp, GetDimensionSizeOp, SetDimensionSizeOp>(op) ||
               !llvm::all_of(op->getResultTypes(), isStatic);
    if (auto call = dyn_cast<CustomCallOp>(op))
      dynamic |=
          call.getCallTargetName() == "shape_assertion" ||
          call.getCallTargetName() == "stablehlo.dynamic_reduce_window" ||
          call->hasAttr("indices_of_shape_operands");
  });
  return dynamic;
}

namespace {
struct RefineShapesPass final
    : shardc::impl::RefineShapesPassBase<RefineShapesPass> {
  using Base::Base;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (main && (!shapes.empty() || isDynamic(main))) {
      Refiner refiner(main);
      if (failed(refiner.setArguments(shapes)) ||
          failed(refiner.refineBlock(main.getBody().front())) ||
          failed(refiner.finish()))
        return signalPassFailure();
    }
    // Those that calls named.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function != main)
        function.erase();
  }
};
} // namespace
