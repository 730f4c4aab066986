//===- RefineValues.cpp - Small integer tensors that sizes are made of ----===//
#include "Refiner.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

const Numbers *Refiner::find(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return &it->second;
  auto op = value.getDefiningOp<ConstantOp>();
  auto dense = op ? dyn_cast<DenseIntElementsAttr>(op.getValue()) : nullptr;
  if (!dense || dense.getNumElements() > kMaxKnown)
    return nullptr;
  Numbers numbers;
  for (const APInt &value : dense.getValues<APInt>())
    numbers.push_back(Number(value));
  return &known.insert({value, std::move(numbers)}).first->second;
}

FailureOr<Numbers> Refiner::numbersOf(Operation *op, Value value,
                                      StringRef what) {
  if (const Numbers *numbers = find(value))
    return *numbers;
  return emitUnsupported(op, "'")
         << op->getName() << "' at " << userLocation(op->getLoc()) << ": its "
         << what << " depends on more than shapes of arguments";
}

FailureOr<SmallVector<int64_t>> Refiner::read(Operation *op, Value value,
                                              StringRef what) {
  FailureOr<Numbers> numbers = numbersOf(op, value, what);
  if (failed(numbers))
    return failure();
  bool isList = cast<ShapedType>(value.getType()).getRank() == 1;
  for (auto [dim, number] : llvm::enumerate(*numbers))
    if (number.extent >= 0)
      use(number.extent, op, what == "shape" ? "size" : what,
          isList ? dim : -1);
  return llvm::map_to_vector(
      *numbers, [&](const Number &number) { return placeholderOf(number); });
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
  if (isa<ReshapeOp, sdy::ShardingConstraintOp>(op))
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
    SmallVector<APInt> values;
    for (Value operand : op->getOperands()) {
      const Numbers &elements = *find(operand);
      args.push_back(elements[elements.size() == 1 ? 0 : i]);
      values.push_back(args.back().value);
    }
    if (llvm::none_of(args,
                      [](const Number &arg) { return arg.extent >= 0; })) {
      std::optional<APInt> element = evaluateScalar(op, values);
      if (!element)
        return std::nullopt;
      result.push_back(Number(*element));
      continue;
    }
    // Placeholders are 64 bits wide, whatever the program computes with.
    std::optional<int64_t> extent = extentOf(op, args);
    if (!extent)
      return std::nullopt;
    result.push_back(
        Number(APInt(type.getElementTypeBitWidth(),
                     extents[*extent].placeholder, /*isSigned=*/true,
                     /*implicitTrunc=*/true),
               extents.isConstant(*extent) ? -1 : *extent));
  }
  return result;
}

void Refiner::evaluate(Operation *op) {
  if (isa<OptimizationBarrierOp>(op))
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults()))
      if (const Numbers *numbers = find(operand)) {
        Numbers copy = *numbers;
        known[result] = std::move(copy);
      }
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
