//===- ConstantTensors.cpp - What follows from no argument ----------------===//
#include "ConstantTensors.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// The most elements of one tensor, and of all together: what takes a second.
static constexpr int64_t kMostElements = 1 << 21, kMostSteps = 1 << 26;
/// Integers beyond are not numbers of `double`.
static constexpr double kMostExact = 9007199254740992.0;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `number` as an element of `type`; false where it is none.
static bool roundTo(Type type, double &number) {
  if (type.isF64())
    return true;
  if (type.isF32()) {
    number = static_cast<float>(number);
    return true;
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  number = std::trunc(number);
  double high =
      integer.getWidth() >= 53
          ? kMostExact
          : std::ldexp(
                1.0,
                integer.getWidth() -
                    (integer.isUnsigned() || integer.getWidth() == 1 ? 0 : 1));
  double low = integer.isUnsigned() || integer.getWidth() == 1 ? 0.0 : -high;
  return number >= low && number < high;
}

/// The elements of an attribute, which may be all alike.
static bool readElements(DenseElementsAttr value, std::vector<double> &result) {
  result.reserve(value.getNumElements());
  Type type = value.getElementType();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    for (const APInt &element : value.getValues<APInt>()) {
      bool isSigned = !integer.isUnsigned() && integer.getWidth() > 1;
      result.push_back(element.roundToDouble(isSigned));
      if (std::abs(result.back()) > kMostExact)
        return false;
    }
    return true;
  }
  if (!isa<FloatType>(type))
    return false;
  for (APFloat element : value.getValues<APFloat>()) {
    bool isInexact = false;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &isInexact);
    if (isInexact)
      return false;
    result.push_back(element.convertToDouble());
  }
  return true;
}

static double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static Unary unaryOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case<stablehlo::AbsOp>([](auto) { return Unary(std::fabs); })
      .Case<stablehlo::NegOp>(
          [](auto) -> Unary { return [](double x) { return -x; }; })
      .Case<stablehlo::FloorOp>([](auto) { return Unary(std::floor); })
      .Case<stablehlo::CeilOp>([](auto) { return Unary(std::ceil); })
      .Case<stablehlo::RoundNearestEvenOp>(
          [](auto) { return Unary(std::nearbyint); })
      .Case<stablehlo::SignOp>([](auto) { return Unary(signOf); })
      .Case<stablehlo::SqrtOp>([](auto) { return Unary(std::sqrt); })
      .Case<stablehlo::ExpOp>([](auto) { return Unary(std::exp); })
      .Case<stablehlo::LogOp>([](auto) { return Unary(std::log); })
      .Case<stablehlo::SineOp>([](auto) { return Unary(std::sin); })
      .Case<stablehlo::CosineOp>([](auto) { return Unary(std::cos); })
      .Case<stablehlo::ConvertOp>(
          [](auto) -> Unary { return [](double x) { return x; }; })
      .Default([](Operation *) { return Unary(); });
}

/// Both are NaN where one is, as in StableHLO.
static double larger(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
}
static double smaller(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? x + y : std::min(x, y);
}

static Binary comparisonOf(stablehlo::CompareOp op) {
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return nullptr;
  using Direction = stablehlo::ComparisonDirection;
  switch (op.getComparisonDirection()) {
  case Direction::EQ:
    return [](double x, double y) { return double(x == y); };
  case Direction::NE:
    return [](double x, double y) { return double(x != y); };
  case Direction::GE:
    return [](double x, double y) { return double(x >= y); };
  case Direction::GT:
    return [](double x, double y) { return double(x > y); };
  case Direction::LE:
    return [](double x, double y) { return double(x <= y); };
  case Direction::LT:
    return [](double x, double y) { return double(x < y); };
  }
  llvm_unreachable("all directions are handled");
}

static Binary binaryOf(Operation *op) {
  bool isPredicate =
      getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  bool isInteger =
      isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case<stablehlo::CompareOp>(comparisonOf)
      .Case<stablehlo::AndOp>([&](auto) -> Binary {
        return isPredicate ? Binary(smaller) : nullptr;
      })
      .Case<stablehlo::OrOp>([&](auto) -> Binary {
        return isPredicate ? Binary(larger) : nullptr;
      })
      .Case<stablehlo::AddOp>([&](auto) -> Binary {
        if (isPredicate)
          return larger;
        return [](double x, double y) { return x + y; };
      })
      .Case<stablehlo::SubtractOp>([](auto) -> Binary {
        return [](double x, double y) { return x - y; };
      })
      .Case<stablehlo::MulOp>([](auto) -> Binary {
        return [](double x, double y) { return x * y; };
      })
      // Of integers by zero it is no number, and none here.
      .Case<stablehlo::DivOp>([](auto) -> Binary {
        return [](double x, double y) { return x / y; };
      })
      .Case<stablehlo::PowOp>([&](auto) -> Binary {
        return isInteger ? nullptr : Binary(std::pow);
      })
      .Case<stablehlo::MaxOp>([](auto) { return Binary(larger); })
      .Case<stablehlo::MinOp>([](auto) { return Binary(smaller); })
      .Default([](Operation *) { return Binary(); });
}

/// Whether the last bits of what `op` computes may be others where the program
/// runs.
static bool isApproximate(Operation *op) {
  return isa<stablehlo::ExpOp, stablehlo::LogOp, stablehlo::SineOp,
             stablehlo::CosineOp, stablehlo::PowOp>(op);
}

/// Whether `op` makes another number of one that differs in its last bits.
static bool isJump(Operation *op) {
  return isa<stablehlo::CompareOp, stablehlo::FloorOp, stablehlo::CeilOp,
             stablehlo::RoundNearestEvenOp, stablehlo::SignOp>(op) ||
         (isa<stablehlo::ConvertOp>(op) &&
          isa<IntegerType>(typeOf(op->getResult(0)).getElementType()));
}

/// Floats of 16 bits are not: kernels keep what is between their ops wider.
static bool isKnownElement(Type type) {
  return type.isF32() || type.isF64() || isa<IntegerType>(type);
}

static bool isKnown(Operation *op) {
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp, stablehlo::BroadcastInDimOp,
          stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::SelectOp>(
          op))
    return true;
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
    Block &body = reduce.getBody().front();
    return reduce.getInputs().size() == 1 &&
           isa<stablehlo::AddOp>(body.front()) &&
           body.front().getNextNode() == body.getTerminator();
  }
  return (op->getNumOperands() == 1 && unaryOf(op)) ||
         (op->getNumOperands() == 2 && binaryOf(op));
}

ConstantTensors::Knowledge ConstantTensors::knowledgeOf(Value value) {
  if (auto found = knowledge.find(value); found != knowledge.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  Knowledge result = Knowledge::None;
  if (op && op->getNumResults() == 1 && type && type.hasStaticShape() &&
      type.getNumElements() <= kMostElements &&
      isKnownElement(type.getElementType()) && isKnown(op)) {
    result = isApproximate(op) ? Knowledge::Approximate : Knowledge::Exact;
    for (Value operand : op->getOperands())
      result = std::min(result, knowledgeOf(operand));
    if (result == Knowledge::Approximate && isJump(op))
      result = Knowledge::None;
  }
  return knowledge[value] = result;
}

std::optional<std::vector<double>> ConstantTensors::compute(Value value) {
  if (knowledgeOf(value) == Knowledge::None)
    return std::nullopt;
  const Elements *elements = get(value);
  std::optional<Elements> result;
  if (elements)
    result = *elements;
  known.clear();
  return result;
}

const std::vector<double> *ConstantTensors::get(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return entry->second.get();
  RankedTensorType type = typeOf(value);
  steps += type.getNumElements();
  auto elements = std::make_unique<Elements>();
  if (steps > kMostSteps || !compute(value.getDefiningOp(), *elements))
    return nullptr;
  for (double &element : *elements)
    if (!roundTo(type.getElementType(), element))
      return nullptr;
  return (known[value] = std::move(elements)).get();
}

bool ConstantTensors::compute(Operation *op, Elements &result) {
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return readElements(constant, result);
  if (isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
          stablehlo::TransposeOp>(op))
    return computeMoves(op, result);
  if (isa<stablehlo::ReduceOp>(op))
    return computeSum(op, result);
  return computePoints(op, result);
}

bool ConstantTensors::computePoints(Operation *op, Elements &result) {
  Unary unary = op->getNumOperands() == 1 ? unaryOf(op) : nullptr;
  Binary binary = op->getNumOperands() == 2 ? binaryOf(op) : nullptr;
  SmallVector<const Elements *> operands;
  for (Value operand : op->getOperands())
    if (operands.push_back(get(operand)); !operands.back())
      return false;
  int64_t count = typeOf(op->getResult(0)).getNumElements();
  result.resize(count);
  for (int64_t i = 0; i < count; ++i) {
    if (unary)
      result[i] = unary((*operands[0])[i]);
    else if (binary)
      result[i] = binary((*operands[0])[i], (*operands[1])[i]);
    else
      result[i] =
          (*operands[(*operands[0])[operands[0]->size() == 1 ? 0 : i] ? 1
                                                                      : 2])[i];
  }
  return true;
}

/// The step in `shape`, row-major, of each of its dims.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Element i of `shape`, in order, is element `origins[i]` of what is read with
/// `steps`, one a dim.
static std::vector<int64_t> originsOf(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> steps) {
  std::vector<int64_t> origins = {0};
  for (auto [size, step] : llvm::zip_equal(shape, steps)) {
    std::vector<int64_t> next;
    next.reserve(origins.size() * size);
    for (int64_t origin : origins)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(origin + i * step);
    origins = std::move(next);
  }
  return origins;
}

bool ConstantTensors::computeMoves(Operation *op, Elements &result) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  SmallVector<int64_t> steps(shape.size(), 0);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    steps[iota.getIotaDimension()] = 1;
    for (int64_t position : originsOf(shape, steps))
      result.push_back(static_cast<double>(position));
    return true;
  }
  const Elements *operand = get(op->getOperand(0));
  if (!operand)
    return false;
  ArrayRef<int64_t> from = typeOf(op->getOperand(0)).getShape();
  SmallVector<int64_t> strides = stridesOf(from);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    for (auto [dim, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      steps[to] = from[dim] == 1 ? 0 : strides[dim];
  } else if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    for (auto [to, dim] : llvm::enumerate(transpose.getPermutation()))
      steps[to] = strides[dim];
  } else {
    result = *operand;
    return true;
  }
  for (int64_t origin : originsOf(shape, steps))
    result.push_back((*operand)[origin]);
  return true;
}

bool ConstantTensors::computeSum(Operation *op, Elements &result) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  const Elements *input = get(reduce.getInputs()[0]),
                 *start = get(reduce.getInitValues()[0]);
  if (!input || !start)
    return false;
  ArrayRef<int64_t> shape = typeOf(reduce.getInputs()[0]).getShape();
  SmallVector<int64_t> steps(shape.size(), 0);
  SmallVector<int64_t> strides = stridesOf(typeOf(op->getResult(0)).getShape());
  int64_t kept = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
      steps[dim] = strides[kept++];
  result.assign(typeOf(op->getResult(0)).getNumElements(), start->front());
  for (auto [i, place] : llvm::enumerate(originsOf(shape, steps)))
    result[place] += (*input)[i];
  return true;
}

bool raise::isOpen(Operation *op, ArrayRef<int64_t> shape) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module)
    return false;
  return llvm::any_of(module.getOps<spmd::MeshOp>(), [&](spmd::MeshOp mesh) {
    return llvm::any_of(
        shape, [&](int64_t size) { return mesh.getMesh().isOpen(size); });
  });
}
