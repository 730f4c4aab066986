//===- Arithmetic.cpp - Integers and floats -------------------------------===//
//
// Elementwise ops on scalars. Floats narrower than 32 bits are computed in f32
// and rounded once an op, but between ops of one kernel. Where StableHLO leaves
// a result to the implementation, XLA's choice on CPUs is taken (division by
// zero, shifts). Complex operands go to Complex.cpp.
//
//===----------------------------------------------------------------------===//
#include "Complex.h"
#include "NarrowFloats.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/Refusal.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

using ScalarBuilder = ImplicitLocOpBuilder;

//===----------------------------------------------------------------------===//
// Shared helpers
//===----------------------------------------------------------------------===//

FloatType shardc::lowering::computeType(FloatType type) {
  return type.getWidth() < 32 ? Float32Type::get(type.getContext()) : type;
}

// An f64 as the f32 next to it with an odd last bit, itself if it is one: what
// is then rounded to fewer bits is rounded right, as if once.
static Value roundToOdd(ScalarBuilder &b, Value value) {
  Type narrow = b.getF32Type(), wide = value.getType(),
       integer = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, narrow, value);
  Value back = arith::ExtFOp::create(b, wide, nearest);
  Value bits = arith::BitcastOp::create(b, integer, nearest);
  Value one = numberConstant(b, integer, 1);
  Value backSize = math::AbsFOp::create(b, back),
        size = math::AbsFOp::create(b, value);
  // Towards zero first: magnitudes are ordered as their bits are.
  Value above =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, backSize, size);
  Value below = arith::SubIOp::create(b, bits, one);
  Value truncated = arith::SelectOp::create(b, above, below, bits);
  Value odd = arith::OrIOp::create(b, truncated, one);
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value chosen = arith::SelectOp::create(b, inexact, odd, bits);
  return arith::BitcastOp::create(b, narrow, chosen);
}

Value shardc::lowering::castFloat(ScalarBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isNarrowFloat(value.getType()))
    return castFloat(b, widenNarrowFloat(b, value), type);
  if (isNarrowFloat(type)) {
    // Exponents alone: what f32 rounds to zero is no number.
    bool isExact = value.getType().getIntOrFloatBitWidth() > 32 &&
                   !isa<Float8E8M0FNUType>(type);
    Value wide =
        isExact ? roundToOdd(b, value) : castFloat(b, value, b.getF32Type());
    return roundToNarrowFloat(b, wide, type);
  }
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from > 32 && to < 32)
    return castFloat(b, roundToOdd(b, value), type);
  if (from < to)
    return arith::ExtFOp::create(b, type, value);
  if (from > to)
    return arith::TruncFOp::create(b, type, value);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), value);
  return arith::TruncFOp::create(b, type, wide);
}

static void allowToVanish(Operation *cast) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(cast);
      fast && isa<arith::ExtFOp, arith::TruncFOp>(cast))
    cast->setAttr(fast.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(
                      cast->getContext(), arith::FastMathFlags::contract));
}

Value shardc::lowering::toComputeType(ScalarBuilder &b, Value value) {
  Value wide =
      castFloat(b, value, computeType(cast<FloatType>(value.getType())));
  if (wide != value)
    allowToVanish(wide.getDefiningOp());
  return wide;
}

Value shardc::lowering::fromComputeType(ScalarBuilder &b, Value value,
                                        Type type) {
  Value narrow = castFloat(b, value, type);
  if (narrow != value)
    allowToVanish(narrow.getDefiningOp());
  return narrow;
}

Value shardc::lowering::totalOrderKey(ScalarBuilder &b, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, integer, value);
  Value ones = arith::ConstantOp::create(
      b, b.getIntegerAttr(integer, APInt::getSignedMaxValue(width)));
  // Without a sign the first bit is part of the size.
  if (isa<Float8E8M0FNUType>(value.getType())) {
    Value first = arith::ConstantOp::create(
        b, b.getIntegerAttr(integer, APInt::getSignMask(width)));
    return arith::XOrIOp::create(b, bits, first);
  }
  Value zero = numberConstant(b, integer, 0);
  Value negative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits, zero);
  Value flipped = arith::XOrIOp::create(b, bits, ones);
  return arith::SelectOp::create(b, negative, flipped, bits);
}

static Type sourceElement(Operation *op) {
  return elementType(op->getOperand(0).getType());
}

static Value unsupportedType(Operation *op) {
  emitOpUnsupported(op, " for elements of type ") << sourceElement(op);
  return nullptr;
}

// Computes on floats, in f32 for narrower ones.
template <typename Fn>
static Value inComputeType(ScalarBuilder &b, ValueRange args, Fn fn) {
  SmallVector<Value> wide =
      llvm::map_to_vector(args, [&](Value v) { return toComputeType(b, v); });
  return fromComputeType(b, fn(wide), args[0].getType());
}

// A function with steps, which sees its operand rounded.
template <typename Fn>
static Value withSteps(ScalarBuilder &b, ValueRange args, Fn fn) {
  FloatType wide = computeType(cast<FloatType>(args[0].getType()));
  SmallVector<Value> seen =
      llvm::map_to_vector(args, [&](Value v) { return castFloat(b, v, wide); });
  return fromComputeType(b, fn(seen), args[0].getType());
}

template <typename FloatOp>
static Value floatOp(ScalarBuilder &b, ValueRange args) {
  return inComputeType(b, args, [&](ArrayRef<Value> wide) -> Value {
    return FloatOp::create(b, wide[0].getType(), wide);
  });
}

template <typename StableOp, typename MathOp>
static void addSteps(LoweringTable &table) {
  table.scalar<StableOp>(
      [](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        if (!isa<FloatType>(args[0].getType()))
          return unsupportedType(op);
        return withSteps(b, args, [&](ArrayRef<Value> seen) -> Value {
          return MathOp::create(b, seen[0]);
        });
      });
}

// A function of floats that is one op of the math dialect.
template <typename StableOp, typename MathOp>
static void addFunction(LoweringTable &table,
                        ComplexFunction complex = nullptr) {
  table.scalar<StableOp>(
      [complex](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        if (isa<FloatType>(args[0].getType()))
          return floatOp<MathOp>(b, args);
        if (complex && isa<ComplexType>(args[0].getType()))
          return complex(b, args);
        return unsupportedType(op);
      });
}

// An op with one form each for i1, integers, floats and complex numbers.
template <typename StableOp, typename BoolOp, typename IntOp, typename FloatOp>
static void addArith(LoweringTable &table, ComplexFunction complex) {
  table.scalar<StableOp>(
      [complex](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        Type type = args[0].getType();
        if (type.isInteger(1))
          return BoolOp::create(b, args[0], args[1]);
        if (isa<IntegerType>(type))
          return IntOp::create(b, args[0], args[1]);
        if (isa<FloatType>(type))
          return floatOp<FloatOp>(b, args);
        return complex ? complex(b, args) : unsupportedType(op);
      });
}

template <typename StableOp, typename ArithOp>
static void addBits(LoweringTable &table) {
  table.scalar<StableOp>(
      [](ScalarBuilder &b, Operation *, ValueRange args) -> Value {
        return ArithOp::create(b, args[0], args[1]);
      });
}

template <typename StableOp, typename SignedOp, typename UnsignedOp,
          typename BoolOp, typename FloatOp>
static void addExtremum(LoweringTable &table) {
  table.scalar<StableOp>(
      [](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
        Type type = args[0].getType();
        if (type.isInteger(1))
          return BoolOp::create(b, args[0], args[1]);
        if (isa<FloatType>(type))
          return floatOp<FloatOp>(b, args);
        if (!isa<IntegerType>(type))
          return unsupportedType(op);
        if (isUnsigned(sourceElement(op)))
          return UnsignedOp::create(b, args[0], args[1]);
        return SignedOp::create(b, args[0], args[1]);
      });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Value allOnes(ScalarBuilder &b, Type type) {
  return arith::ConstantOp::create(
      b,
      b.getIntegerAttr(type, APInt::getAllOnes(type.getIntOrFloatBitWidth())));
}

// x / 0 is all ones and x % 0 is x; the smallest integer by -1 wraps.
static Value divideIntegers(ScalarBuilder &b, Value lhs, Value rhs,
                            bool isUnsigned, bool remainder) {
  Type type = lhs.getType();
  Value zero = numberConstant(b, type, 0), one = numberConstant(b, type, 1);
  Value byZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
  Value unsafe = byZero, overflow;
  if (!isUnsigned) {
    APInt smallest = APInt::getSignedMinValue(type.getIntOrFloatBitWidth());
    Value lowest =
        arith::ConstantOp::create(b, b.getIntegerAttr(type, smallest));
    Value isLowest =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, lowest);
    Value byMinusOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs,
                                             allOnes(b, type));
    overflow = arith::AndIOp::create(b, isLowest, byMinusOne);
    unsafe = arith::OrIOp::create(b, unsafe, overflow);
  }
  Value divisor = arith::SelectOp::create(b, unsafe, one, rhs);
  Value result;
  if (remainder)
    result = isUnsigned ? arith::RemUIOp::create(b, lhs, divisor).getResult()
                        : arith::RemSIOp::create(b, lhs, divisor).getResult();
  else
    result = isUnsigned ? arith::DivUIOp::create(b, lhs, divisor).getResult()
                        : arith::DivSIOp::create(b, lhs, divisor).getResult();
  // By 1, the quotient of the overflowing case is right as it is, and so is
  // its remainder.
  return arith::SelectOp::create(b, byZero, remainder ? lhs : allOnes(b, type),
                                 result);
}

// A shift by the width or more (or by a negative amount) gives what all bits
// shifted out leave.
template <typename ShiftOp>
static Value shift(ScalarBuilder &b, Value value, Value amount,
                   bool arithmetic) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value bound = arith::ConstantOp::create(
      b, b.getIntegerAttr(type, APInt(width, width - 1)));
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, amount, bound);
  Value safe = arith::SelectOp::create(b, inside, amount, bound);
  Value shifted = ShiftOp::create(b, value, safe);
  if (arithmetic)
    return shifted;
  return arith::SelectOp::create(b, inside, shifted,
                                 numberConstant(b, type, 0));
}

template <typename StableOp, typename ShiftOp>
static void addShift(LoweringTable &table, bool arithmetic) {
  table.scalar<StableOp>(
      [arithmetic](ScalarBuilder &b, Operation *, ValueRange args) -> Value {
        return shift<ShiftOp>(b, args[0], args[1], arithmetic);
      });
}

// By squaring, one bit of the exponent a step. A negative exponent gives 0, but
// for bases of magnitude one.
static Value powerIntegers(ScalarBuilder &b, Value base, Value exponent,
                           bool isUnsigned) {
  Type type = base.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value one = numberConstant(b, type, 1), zero = numberConstant(b, type, 0);
  Value result = one, square = base;
  for (unsigned bit = 0; bit < width; ++bit) {
    Value mask = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt::getOneBitSet(width, bit)));
    Value chosen = arith::AndIOp::create(b, exponent, mask);
    Value isSet =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, chosen, zero);
    Value times = arith::MulIOp::create(b, result, square);
    result = arith::SelectOp::create(b, isSet, times, result);
    if (bit + 1 < width)
      square = arith::MulIOp::create(b, square, square);
  }
  if (isUnsigned)
    return result;
  // For |base| = 1 the bits of a negative exponent give the right sign.
  Value negative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero);
  Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, base, one);
  Value isMinusOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, base,
                                           allOnes(b, type));
  Value unit = arith::OrIOp::create(b, isOne, isMinusOne);
  Value kept = arith::SelectOp::create(b, unit, result, zero);
  return arith::SelectOp::create(b, negative, kept, result);
}

//===----------------------------------------------------------------------===//
// Ops of their own
//===----------------------------------------------------------------------===//

static Value negate(ScalarBuilder &b, Operation *, ValueRange args) {
  Type type = args[0].getType();
  if (isa<IntegerType>(type))
    return arith::SubIOp::create(b, numberConstant(b, type, 0), args[0]);
  if (isa<FloatType>(type))
    return floatOp<arith::NegFOp>(b, args);
  return complexNegate(b, args);
}

static Value absolute(ScalarBuilder &b, Operation *op, ValueRange args) {
  Type type = args[0].getType();
  if (isa<FloatType>(type))
    return floatOp<math::AbsFOp>(b, args);
  if (isa<ComplexType>(type))
    return complexAbs(b, args);
  if (isUnsigned(sourceElement(op)))
    return args[0];
  return math::AbsIOp::create(b, args[0]);
}

static Value sign(ScalarBuilder &b, Operation *op, ValueRange args) {
  Value x = args[0];
  Type type = x.getType();
  if (isa<ComplexType>(type))
    return complexSign(b, args);
  Value zero = numberConstant(b, type, 0);
  if (isa<FloatType>(type))
    return withSteps(b, args, [&](ArrayRef<Value> wide) -> Value {
      Value none = numberConstant(b, wide[0].getType(), 0);
      Value one = numberConstant(b, wide[0].getType(), 1);
      // Neither above nor below zero: zeros keep their sign, NaN stays.
      Value isSigned =
          arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, wide[0], none);
      Value unit = math::CopySignOp::create(b, one, wide[0]);
      return arith::SelectOp::create(b, isSigned, unit, wide[0]);
    });
  Value one = numberConstant(b, type, 1);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, zero);
  Value unit = one;
  if (!isUnsigned(sourceElement(op))) {
    Value negative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, zero);
    unit = arith::SelectOp::create(b, negative, allOnes(b, type), one);
  }
  return arith::SelectOp::create(b, isZero, zero, unit);
}

static Value divide(ScalarBuilder &b, Operation *op, ValueRange args) {
  Type type = args[0].getType();
  if (isa<FloatType>(type))
    return floatOp<arith::DivFOp>(b, args);
  if (isa<ComplexType>(type))
    return complexDivide(b, args);
  return divideIntegers(b, args[0], args[1], isUnsigned(sourceElement(op)),
                        false);
}

static Value remainderOf(ScalarBuilder &b, Operation *op, ValueRange args) {
  Type type = args[0].getType();
  if (isa<FloatType>(type))
    return withSteps(b, args, [&](ArrayRef<Value> seen) -> Value {
      return arith::RemFOp::create(b, seen[0], seen[1]);
    });
  if (isa<ComplexType>(type))
    return unsupportedType(op);
  return divideIntegers(b, args[0], args[1], isUnsigned(sourceElement(op)),
                        true);
}

static Value power(ScalarBuilder &b, Operation *op, ValueRange args) {
  Type type = args[0].getType();
  if (isa<FloatType>(type))
    return floatOp<math::PowFOp>(b, args);
  if (isa<ComplexType>(type))
    return complexPower(b, args);
  if (type.isInteger(1)) {
    Value none = arith::XOrIOp::create(b, args[1], numberConstant(b, type, 1));
    return arith::OrIOp::create(b, args[0], none);
  }
  return powerIntegers(b, args[0], args[1], isUnsigned(sourceElement(op)));
}

static Value logistic(ScalarBuilder &b, Operation *, ValueRange args) {
  if (isa<ComplexType>(args[0].getType()))
    return complexLogistic(b, args);
  return inComputeType(b, args, [&](ArrayRef<Value> wide) -> Value {
    Value one = numberConstant(b, wide[0].getType(), 1);
    Value minus = arith::NegFOp::create(b, wide[0]);
    Value e = math::ExpOp::create(b, minus);
    Value sum = arith::AddFOp::create(b, one, e);
    auto quotient = arith::DivFOp::create(b, one, sum);
    spmd::contract::Logistic::set(quotient);
    return quotient;
  });
}

// By |y|, the sign after: vectorised forms lose the sign of a zero.
static Value angle(ScalarBuilder &b, Operation *op, ValueRange args) {
  if (isa<ComplexType>(args[0].getType()))
    return complexAtan2(b, args);
  if (!isa<FloatType>(args[0].getType()))
    return unsupportedType(op);
  return inComputeType(b, args, [&](ArrayRef<Value> wide) -> Value {
    Value magnitude = math::AbsFOp::create(b, wide[0]);
    Value angle = math::Atan2Op::create(b, magnitude, wide[1]);
    return math::CopySignOp::create(b, angle, wide[0]);
  });
}

static Value isFinite(ScalarBuilder &b, Operation *, ValueRange args) {
  auto type = cast<FloatType>(args[0].getType());
  Value wide = castFloat(b, args[0], computeType(type));
  Value magnitude = math::AbsFOp::create(b, wide);
  Value infinity = numberConstant(b, wide.getType(),
                                  std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude,
                               infinity);
}

static Value bitNot(ScalarBuilder &b, Operation *, ValueRange args) {
  return arith::XOrIOp::create(b, args[0], allOnes(b, args[0].getType()));
}

static Value selectOf(ScalarBuilder &b, Operation *, ValueRange args) {
  return arith::SelectOp::create(b, args[0], args[1], args[2]);
}

// min(max(x, low), high), NaN from either side.
static Value clamp(ScalarBuilder &b, Operation *op, ValueRange args) {
  Value low = args[0], x = args[1], high = args[2];
  if (isa<FloatType>(x.getType()))
    return inComputeType(b, {x, low, high}, [&](ArrayRef<Value> wide) -> Value {
      Value above = arith::MaximumFOp::create(b, wide[0], wide[1]);
      return arith::MinimumFOp::create(b, above, wide[2]);
    });
  if (!isa<IntegerType>(x.getType()))
    return unsupportedType(op);
  if (isUnsigned(sourceElement(op))) {
    Value above = arith::MaxUIOp::create(b, x, low);
    return arith::MinUIOp::create(b, above, high);
  }
  Value above = arith::MaxSIOp::create(b, x, low);
  return arith::MinSIOp::create(b, above, high);
}

// A round to even at the last kept mantissa bit, then overflow to infinity and
// underflow to zero (denormals of the format too) where the exponent shrinks.
static Value reducePrecision(ScalarBuilder &b, Operation *op, ValueRange args) {
  auto reduce = cast<stablehlo::ReducePrecisionOp>(op);
  auto type = cast<FloatType>(args[0].getType());
  int64_t width = type.getWidth(), mantissa = type.getFPMantissaWidth() - 1;
  int64_t exponent = width - 1 - mantissa;
  int64_t toMantissa = reduce.getMantissaBits(),
          toExponent = reduce.getExponentBits();
  Type integer = b.getIntegerType(width);
  auto constant = [&](APInt value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(integer, value));
  };
  Value bits = arith::BitcastOp::create(b, integer, args[0]), x = bits;
  if (toMantissa < mantissa) {
    APInt last = APInt::getOneBitSet(width, mantissa - toMantissa);
    Value isOdd = arith::AndIOp::create(b, x, constant(last));
    Value distance = constant(APInt(width, mantissa - toMantissa));
    Value odd = arith::ShRUIOp::create(b, isOdd, distance);
    Value half = constant(last.lshr(1) - 1);
    Value bias = arith::AddIOp::create(b, odd, half);
    x = arith::AddIOp::create(b, x, bias);
    x = arith::AndIOp::create(b, x, constant(~(last - 1)));
  }
  if (toExponent < exponent) {
    int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
    int64_t toBias = (int64_t(1) << (toExponent - 1)) - 1;
    APInt exponentMask = APInt::getBitsSet(width, mantissa, width - 1);
    Value field = arith::AndIOp::create(b, x, constant(exponentMask));
    Value sign =
        arith::AndIOp::create(b, x, constant(APInt::getSignMask(width)));
    Value infinity = arith::OrIOp::create(b, sign, constant(exponentMask));
    Value most = constant(APInt(width, bias + toBias).shl(mantissa));
    Value least = constant(APInt(width, bias - toBias).shl(mantissa));
    Value over =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, field, most);
    Value under =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, field, least);
    x = arith::SelectOp::create(b, over, infinity, x);
    x = arith::SelectOp::create(b, under, sign, x);
  }
  Value rounded = arith::BitcastOp::create(b, type, x);
  Value wide = castFloat(b, args[0], computeType(type));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, wide, wide);
  return arith::SelectOp::create(b, isNan, args[0], rounded);
}

template <typename MathOp>
static Value countBits(ScalarBuilder &b, Operation *, ValueRange args) {
  return MathOp::create(b, args[0]);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void shardc::lowering::addArithmetic(LoweringTable &table) {
  using namespace stablehlo;
  addArith<AddOp, arith::OrIOp, arith::AddIOp, arith::AddFOp>(table,
                                                              complexAdd);
  addArith<SubtractOp, arith::XOrIOp, arith::SubIOp, arith::SubFOp>(
      table, complexSubtract);
  addArith<MulOp, arith::AndIOp, arith::MulIOp, arith::MulFOp>(table,
                                                               complexMultiply);
  addBits<AndOp, arith::AndIOp>(table);
  addBits<OrOp, arith::OrIOp>(table);
  addBits<XorOp, arith::XOrIOp>(table);
  addExtremum<MaxOp, arith::MaxSIOp, arith::MaxUIOp, arith::OrIOp,
              arith::MaximumFOp>(table);
  addExtremum<MinOp, arith::MinSIOp, arith::MinUIOp, arith::AndIOp,
              arith::MinimumFOp>(table);
  addShift<ShiftLeftOp, arith::ShLIOp>(table, false);
  addShift<ShiftRightLogicalOp, arith::ShRUIOp>(table, false);
  addShift<ShiftRightArithmeticOp, arith::ShRSIOp>(table, true);

  addFunction<CbrtOp, math::CbrtOp>(table, complexCbrt);
  addSteps<CeilOp, math::CeilOp>(table);
  addFunction<CosineOp, math::CosOp>(table, complexCosine);
  addFunction<ExpOp, math::ExpOp>(table, complexExp);
  addFunction<Expm1Op, math::ExpM1Op>(table, complexExpm1);
  addSteps<FloorOp, math::FloorOp>(table);
  addFunction<LogOp, math::LogOp>(table, complexLog);
  addFunction<Log1pOp, math::Log1pOp>(table, complexLog1p);
  addSteps<RoundOp, math::RoundOp>(table);
  addSteps<RoundNearestEvenOp, math::RoundEvenOp>(table);
  addFunction<RsqrtOp, math::RsqrtOp>(table, complexRsqrt);
  addFunction<SineOp, math::SinOp>(table, complexSine);
  addFunction<SqrtOp, math::SqrtOp>(table, complexSqrt);
  addFunction<TanOp, math::TanOp>(table, complexTan);
  addFunction<TanhOp, math::TanhOp>(table, complexTanh);
  table.scalar<Atan2Op>(angle);

  table.scalar<NegOp>(negate);
  table.scalar<AbsOp>(absolute);
  table.scalar<SignOp>(sign);
  table.scalar<DivOp>(divide);
  table.scalar<RemOp>(remainderOf);
  table.scalar<PowOp>(power);
  table.scalar<LogisticOp>(logistic);
  table.scalar<IsFiniteOp>(isFinite);
  table.scalar<NotOp>(bitNot);
  table.scalar<SelectOp>(selectOf);
  table.scalar<ClampOp>(clamp);
  table.scalar<ReducePrecisionOp>(reducePrecision);
  table.scalar<PopulationCountOp>(countBits<math::CtPopOp>);
  table.scalar<ClzOp>(countBits<math::CountLeadingZerosOp>);
}
