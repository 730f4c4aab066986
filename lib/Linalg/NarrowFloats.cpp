//===- NarrowFloats.cpp - Floats of eight bits and less -------------------===//
//
// LLVM has no such types: they are integers whose fields are moved to those of
// an f32 and back. Those of four and six bits come in and go out, no more: what
// is rounded to them is one of their numbers.
//
//===----------------------------------------------------------------------===//
#include "NarrowFloats.h"

#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc::lowering;
using llvm::APFloat;

namespace {
/// Where an 8-bit float differs from others, read off LLVM's own description.
struct Format {
  unsigned mantissa; ///< bits after the point
  int bias;          ///< of exponents
  uint32_t largest;  ///< bits of the largest finite number
  uint32_t overflow; ///< bits of what is larger, sign bit clear
  uint32_t nan;      ///< bits of a NaN, sign bit clear but where it must be set
  bool negativeZero; ///< -0 exists

  explicit Format(Type type) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    mantissa = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
    auto bits = [](const APFloat &value) {
      return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
    };
    largest = bits(APFloat::getLargest(semantics));
    nan = bits(APFloat::getNaN(semantics));
    bool hasInfinity = APFloat::semanticsHasInf(semantics);
    overflow = hasInfinity ? bits(APFloat::getInf(semantics)) : nan;
    negativeZero = bits(APFloat::getZero(semantics, true)) != 0;
  }
};

/// i32 and f32 arithmetic.
struct Words {
  ImplicitLocOpBuilder &b;
  Value word(uint32_t value) {
    return arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value number(double value) {
    return numberConstant(b, b.getF32Type(), value);
  }
  Value both(Value x, uint32_t mask) {
    return arith::AndIOp::create(b, x, word(mask));
  }
  Value is(arith::CmpIPredicate how, Value x, uint32_t y) {
    return arith::CmpIOp::create(b, how, x, word(y));
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, c, x, y);
  }
  Value asFloat(Value x) {
    return arith::BitcastOp::create(b, b.getF32Type(), x);
  }
  Value asWord(Value x) {
    return arith::BitcastOp::create(b, b.getI32Type(), x);
  }
};
} // namespace

bool shardc::lowering::isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

/// Floats of less than eight bits have neither infinities nor NaN.
static bool isTiny(Type type) { return type.getIntOrFloatBitWidth() < 8; }

/// How far the bits after the point are from those of an f32, and the factor
/// between the two formats' biases.
static std::pair<unsigned, double> tinyScale(Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  unsigned shift = 24 - APFloat::semanticsPrecision(semantics);
  return {shift,
          std::ldexp(1.0, 126 + APFloat::semanticsMinExponent(semantics))};
}

static Value widenTiny(Words w, Value bits, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  auto [shift, scale] = tinyScale(type);
  uint32_t signBit = 1u << (width - 1);
  Value size =
      arith::ShLIOp::create(w.b, w.both(bits, signBit - 1), w.word(shift));
  Value scaled = arith::MulFOp::create(w.b, w.asFloat(size), w.number(scale));
  Value sign =
      arith::ShLIOp::create(w.b, w.both(bits, signBit), w.word(32 - width));
  return w.asFloat(arith::OrIOp::create(w.b, w.asWord(scaled), sign));
}

static Value narrowTiny(Words w, Value value, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  auto [shift, scale] = tinyScale(type);
  uint32_t signBit = 1u << (width - 1);
  // A power of two, and numbers that f32 has many of below: exact.
  Value scaled = arith::MulFOp::create(w.b, value, w.number(1 / scale));
  Value size = arith::ShRUIOp::create(w.b, w.both(w.asWord(scaled), 0x7FFFFFFF),
                                      w.word(shift));
  Value sign =
      w.both(arith::ShRUIOp::create(w.b, w.asWord(value), w.word(32 - width)),
             signBit);
  Value code = arith::OrIOp::create(w.b, size, sign);
  Value bits = arith::TruncIOp::create(w.b, w.b.getIntegerType(width), code);
  return arith::BitcastOp::create(w.b, type, bits);
}

// Powers of two from 2^-127 on, and NaN: the exponent of an f32 alone. Zero is
// not among them.
static Value widenExponent(Words w, Value bits) {
  Value shifted = arith::ShLIOp::create(w.b, bits, w.word(23));
  Value least = w.select(w.is(arith::CmpIPredicate::eq, bits, 0),
                         w.word(0x00400000), shifted);
  return w.asFloat(w.select(w.is(arith::CmpIPredicate::eq, bits, 0xFF),
                            w.word(0x7FC00000), least));
}

// To nearest, ties up, as XLA has it; below all of them the least, NaN for what
// is not above zero or too large.
static Value roundToExponent(Words w, Value value) {
  Value bits = w.asWord(value);
  Value raised = arith::AddIOp::create(w.b, bits, w.word(0x400000));
  Value code = arith::ShRUIOp::create(w.b, raised, w.word(23));
  // Above 2^-127 all that is subnormal in f32 goes up.
  Value isSubnormal = w.is(arith::CmpIPredicate::ult, bits, 0x00800000);
  Value isUpper = w.is(arith::CmpIPredicate::ugt, bits, 0x00400000);
  code = w.select(isSubnormal, w.select(isUpper, w.word(1), w.word(0)), code);
  Value isPositive =
      arith::CmpFOp::create(w.b, arith::CmpFPredicate::OGT, value, w.number(0));
  return w.select(isPositive, code, w.word(0xFF));
}

Value shardc::lowering::widenNarrowFloat(ImplicitLocOpBuilder &b, Value value) {
  Words w{b};
  Type type = value.getType();
  Value code = arith::BitcastOp::create(
      b, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  Value bits = arith::ExtUIOp::create(b, b.getI32Type(), code);
  if (isTiny(type))
    return widenTiny(w, bits, type);
  if (isa<Float8E8M0FNUType>(value.getType()))
    return widenExponent(w, bits);
  Format format(value.getType());
  Value size = w.both(bits, 0x7F);
  // The fields of an f32 with a bias too large; the product is exact, for
  // subnormal numbers too.
  Value shifted = arith::ShLIOp::create(b, size, w.word(23 - format.mantissa));
  Value scaled = arith::MulFOp::create(
      b, w.asFloat(shifted), w.number(std::ldexp(1.0, 127 - format.bias)));
  if (format.overflow != format.nan)
    scaled =
        w.select(w.is(arith::CmpIPredicate::eq, size, format.overflow),
                 w.number(std::numeric_limits<double>::infinity()), scaled);
  Value nan = w.number(std::numeric_limits<double>::quiet_NaN());
  Value sign = arith::ShLIOp::create(b, w.both(bits, 0x80), w.word(24));
  Value result = w.asFloat(arith::OrIOp::create(b, w.asWord(scaled), sign));
  Value isNan =
      format.nan & 0x80
          ? w.is(arith::CmpIPredicate::eq, bits, format.nan)
          : w.is(arith::CmpIPredicate::ugt, size,
                 std::max(format.largest,
                          format.overflow == format.nan ? 0 : format.overflow));
  return w.select(isNan, nan, result);
}

Value shardc::lowering::roundToNarrowFloat(ImplicitLocOpBuilder &b, Value value,
                                           Type type) {
  Words w{b};
  if (isTiny(type))
    return narrowTiny(w, value, type);
  if (isa<Float8E8M0FNUType>(type)) {
    Value byte =
        arith::TruncIOp::create(b, b.getI8Type(), roundToExponent(w, value));
    return arith::BitcastOp::create(b, type, byte);
  }
  Format format(type);
  Value bits = w.asWord(value);
  Value size = w.both(bits, 0x7FFFFFFF);
  unsigned dropped = 23 - format.mantissa;
  // To nearest, ties to even: half a unit less one bit, and the last bit that
  // stays.
  Value last = w.both(arith::ShRUIOp::create(b, size, w.word(dropped)), 1);
  Value raised =
      arith::AddIOp::create(b, size, w.word((1u << (dropped - 1)) - 1));
  raised = arith::AddIOp::create(b, raised, last);
  Value kept = arith::ShRUIOp::create(b, raised, w.word(dropped));
  Value normal = arith::SubIOp::create(
      b, kept,
      w.word(static_cast<uint32_t>(127 - format.bias) << format.mantissa));
  // Below the least normal number: as a whole number of the least subnormal
  // one.
  Value magnitude = w.asFloat(size);
  Value units = arith::MulFOp::create(
      b, magnitude,
      w.number(std::ldexp(1.0, format.bias - 1 + format.mantissa)));
  Value whole = math::RoundEvenOp::create(b, units);
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude,
                            w.number(std::ldexp(1.0, 1 - format.bias)));
  Value safe = w.select(isSmall, whole, w.number(0));
  Value subnormal = arith::FPToUIOp::create(b, b.getI32Type(), safe);
  Value code = w.select(isSmall, subnormal, normal);
  Value tooLarge = w.is(arith::CmpIPredicate::ugt, code, format.largest);
  code = w.select(tooLarge, w.word(format.overflow & 0x7F), code);
  Value sign = w.both(arith::ShRUIOp::create(b, bits, w.word(24)), 0x80);
  if (!format.negativeZero)
    sign = w.select(w.is(arith::CmpIPredicate::eq, code, 0), w.word(0), sign);
  code = arith::OrIOp::create(b, code, sign);
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  if (format.overflow == format.nan)
    isNan = arith::OrIOp::create(b, isNan, tooLarge);
  code = w.select(isNan, w.word(format.nan), code);
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), code);
  return arith::BitcastOp::create(b, type, byte);
}
