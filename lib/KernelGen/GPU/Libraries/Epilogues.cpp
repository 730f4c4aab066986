//===- Epilogues.cpp - Work behind a product that libraries do ------------===//
#include "Epilogues.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "shardrt/LibraryCall.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

SmallVector<StringRef> Epilogue::names() const {
  SmallVector<StringRef> names;
  if (code & SHARDRT_CALL_BIAS)
    names.push_back("bias");
  if (code & SHARDRT_CALL_RELU)
    names.push_back("relu");
  if (code & SHARDRT_CALL_GELU)
    names.push_back("gelu");
  return names;
}

/// `value` before it was widened or narrowed.
static Value bare(Value value) {
  while (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(cast))
      break;
    value = cast->getOperand(0);
  }
  return value;
}

static std::optional<double> numberOf(Value value) {
  APFloat number(0.0);
  if (!matchPattern(bare(value), m_ConstantFloat(&number)))
    return std::nullopt;
  bool lossy;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToDouble();
}

/// What `value` is a product of: numbers multiplied in `number`, other factors.
static void factorsOf(Value value, double &number,
                      SmallVectorImpl<Value> &factors) {
  value = bare(value);
  if (std::optional<double> constant = numberOf(value)) {
    number *= *constant;
    return;
  }
  if (auto multiply = value.getDefiningOp<arith::MulFOp>()) {
    factorsOf(multiply.getLhs(), number, factors);
    factorsOf(multiply.getRhs(), number, factors);
    return;
  }
  factors.push_back(value);
}

/// As rounded to 16 bits, or exactly.
static bool isNear(double number, double expected) {
  return std::abs(number - expected) <= 4e-3 * expected;
}

/// If `sum` adds something to `known`, that.
static Value addedTo(Value sum, llvm::function_ref<bool(Value)> isKnown) {
  auto add = bare(sum).getDefiningOp<arith::AddFOp>();
  if (!add)
    return {};
  Value lhs = bare(add.getLhs()), rhs = bare(add.getRhs());
  return isKnown(lhs) ? rhs : isKnown(rhs) ? lhs : Value();
}

/// x, if `value` is x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
static Value matchGelu(Value value) {
  double half = 1;
  SmallVector<Value> factors;
  factorsOf(value, half, factors);
  if (factors.size() != 2 || !isNear(half, 0.5))
    return {};
  for (bool swapped : {false, true}) {
    Value x = factors[swapped], rest = factors[!swapped];
    Value curve =
        addedTo(rest, [](Value side) { return numberOf(side) == 1.0; });
    auto tanh = curve ? curve.getDefiningOp<math::TanhOp>() : math::TanhOp();
    if (!tanh)
      continue;
    double scale = 1;
    SmallVector<Value> inner;
    factorsOf(tanh.getOperand(), scale, inner);
    if (inner.size() != 1 || !isNear(scale, 0.7978845608028654))
      continue;
    Value cube = addedTo(inner.front(), [&](Value side) { return side == x; });
    if (!cube)
      continue;
    double weight = 1;
    SmallVector<Value> cubed;
    factorsOf(cube, weight, cubed);
    if (isNear(weight, 0.044715) && cubed.size() == 3 &&
        llvm::all_equal(cubed) && cubed.front() == x)
      return x;
  }
  return {};
}

/// x, if `value` is the larger of x and zero.
static Value matchRelu(Value value) {
  auto larger = value.getDefiningOp<arith::MaximumFOp>();
  if (!larger)
    return {};
  for (bool swapped : {false, true})
    if (matchPattern(bare(larger->getOperand(swapped)), m_AnyZeroFloat()))
      return bare(larger->getOperand(!swapped));
  return {};
}

std::optional<Epilogue> gpukernels::matchEpilogue(linalg::GenericOp op,
                                                  const Product &product) {
  const Fusion &fusion = product.fusion;
  linalg::GenericOp behind = fusion.behind;
  // What is added to, or looked at by others, must be in memory.
  if (!behind || !fusion.start || behind.getNumDpsInits() != 1)
    return std::nullopt;
  Value place = behind.getDpsInitOperand(0)->get();
  if (fusion.keeps && place != op.getDpsInitOperand(0)->get())
    return std::nullopt;
  auto out = dyn_cast<MemRefType>(place.getType());
  if (!out)
    return std::nullopt;
  Value result = behind.getBody()->getArgument(fusion.result);
  Value value = bare(behind.getBody()->getTerminator()->getOperand(0));
  Epilogue epilogue;
  epilogue.taken = true;
  if (Value x = matchGelu(value)) {
    epilogue.code |= SHARDRT_CALL_GELU;
    value = x;
  } else if (Value x = matchRelu(value)) {
    epilogue.code |= SHARDRT_CALL_RELU;
    value = x;
  }
  if (value == result)
    return epilogue;
  auto bias = dyn_cast_or_null<BlockArgument>(
      addedTo(value, [&](Value side) { return side == result; }));
  if (!bias || bias.getOwner() != behind.getBody() ||
      bias.getArgNumber() >= behind.getNumDpsInputs())
    return std::nullopt;
  epilogue.bias = behind.getDpsInputOperand(bias.getArgNumber());
  auto type = dyn_cast<MemRefType>(epilogue.bias->get().getType());
  if (!type || type.getElementType() != out.getElementType())
    return std::nullopt;
  epilogue.code |= SHARDRT_CALL_BIAS;
  return epilogue;
}
