//===- Elementwise.cpp - Ops on one element at a time ---------------------===//
//
// Computed in f64 and rounded to the element type once. A sum, product,
// quotient or square root of f32 is then rounded as IEEE asks for it.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;
using Complex = std::complex<double>;

static Element rounded(const Format &format, double value) {
  return Element::of(format.round(value));
}
static Element rounded(const Format &format, Complex value) {
  return Element::of(
      Complex(format.round(value.real()), format.round(value.imag())));
}
static Element wrapped(const Format &format, int64_t value) {
  return Element::of(format.wrap(value));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

namespace {
/// A function of real and of complex numbers.
template <double (*real)(double), Complex (*complex)(Complex)>
Element function(const Format &operand, const Format &result, Element value) {
  if (operand.isComplex())
    return rounded(result, complex(value.complex()));
  return rounded(result, real(value.real));
}
} // namespace

#define REAL(name, expression)                                                 \
  static double name(double x) { return expression; }
#define COMPLEX(name, expression)                                              \
  static Complex name(Complex x) { return expression; }

// Overloads of the standard library have no one address.
REAL(exp1, std::exp(x))
REAL(log1, std::log(x))
REAL(sin1, std::sin(x))
REAL(cos1, std::cos(x))
REAL(tan1, std::tan(x))
REAL(tanh1, std::tanh(x))
REAL(sinh1, std::sinh(x))
REAL(cosh1, std::cosh(x))
REAL(asin1, std::asin(x))
REAL(acos1, std::acos(x))
REAL(atan1, std::atan(x))
REAL(asinh1, std::asinh(x))
REAL(acosh1, std::acosh(x))
REAL(atanh1, std::atanh(x))
REAL(sqrt1, std::sqrt(x))
REAL(cbrt1, std::cbrt(x))
REAL(rsqrt1, 1 / std::sqrt(x))
REAL(expm11, std::expm1(x))
REAL(log1p1, std::log1p(x))
REAL(logistic1, 1 / (1 + std::exp(-x)))
REAL(floor1, std::floor(x))
REAL(ceil1, std::ceil(x))
REAL(roundAway1, std::round(x))
REAL(roundEven1, std::nearbyint(x))
REAL(conj1, x)
COMPLEX(exp2, std::exp(x))
COMPLEX(log2, std::log(x))
COMPLEX(sin2, std::sin(x))
COMPLEX(cos2, std::cos(x))
COMPLEX(tan2, std::tan(x))
COMPLEX(tanh2, std::tanh(x))
COMPLEX(sinh2, std::sinh(x))
COMPLEX(cosh2, std::cosh(x))
COMPLEX(asin2, std::asin(x))
COMPLEX(acos2, std::acos(x))
COMPLEX(atan2c, std::atan(x))
COMPLEX(asinh2, std::asinh(x))
COMPLEX(acosh2, std::acosh(x))
COMPLEX(atanh2, std::atanh(x))
COMPLEX(sqrt2, std::sqrt(x))
COMPLEX(rsqrt2, 1.0 / std::sqrt(x))
COMPLEX(logistic2, 1.0 / (1.0 + std::exp(-x)))
COMPLEX(conj2, std::conj(x))

/// x^y. C leaves open what exp(y log x) says of limits: 1 to anything is 1, and
/// infinity to a real number infinite or 0, as of real numbers; of 0 see
/// below; what else is not finite gives no number.
static Complex complexPower(Complex x, Complex y) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  if (y == Complex(0, 0) || x == Complex(1, 0))
    return {1, 0};
  if (x == Complex(0, 0))
    return y.real() > 0 && !std::isnan(y.imag()) ? Complex(0, 0)
                                                 : Complex(kNaN, kNaN);
  if (x == Complex(kInfinity, 0) && y.imag() == 0 && !std::isnan(y.real()))
    return {y.real() > 0 ? kInfinity : 0, 0};
  for (double part : {x.real(), x.imag(), y.real(), y.imag()})
    if (!std::isfinite(part))
      return {kNaN, kNaN};
  return std::pow(x, y);
}
COMPLEX(cbrt2, complexPower(x, 1.0 / 3))

/// exp(x) - 1, exact for small x too: cos y - 1 is -2 sin(y/2)^2.
static Complex expm12(Complex x) {
  double a = x.real(), b = x.imag(), half = std::sin(b / 2);
  return {std::expm1(a) * std::cos(b) - 2 * half * half,
          std::exp(a) * std::sin(b)};
}

/// log(1 + x): |1 + x|^2 - 1 is (2 + a) a + b^2.
static Complex log1p2(Complex x) {
  double a = x.real(), b = x.imag(), squares = (2 + a) * a + b * b;
  double modulus = std::fabs(squares) < 0.5 ? std::log1p(squares) / 2
                                            : std::log(std::hypot(1 + a, b));
  return {modulus, std::atan2(b, 1 + a)};
}

static Element negate(const Format &, const Format &result, Element x) {
  if (result.isInteger())
    return wrapped(result, -static_cast<uint64_t>(x.integer));
  return result.isComplex() ? Element::of(-x.complex()) : Element::of(-x.real);
}

static Element logicalNot(const Format &, const Format &result, Element x) {
  return wrapped(result, ~x.integer);
}

/// The lowest bits of an integer alone.
static uint64_t plainBits(const Format &format, int64_t value) {
  uint64_t bits = value;
  return format.bits >= 64 ? bits : bits & ((uint64_t(1) << format.bits) - 1);
}

static Element countBits(const Format &operand, const Format &result,
                         Element x) {
  return wrapped(result, llvm::popcount(plainBits(operand, x.integer)));
}

static Element countLeadingZeros(const Format &operand, const Format &result,
                                 Element x) {
  return wrapped(result, llvm::countl_zero(plainBits(operand, x.integer)) -
                             (64 - int64_t(operand.bits)));
}

static Element absolute(const Format &operand, const Format &result,
                        Element x) {
  if (operand.isComplex())
    return rounded(result, std::hypot(x.real, x.imag));
  if (operand.isFloat())
    return Element::of(std::fabs(x.real));
  return operand.isSigned && x.integer < 0
             ? wrapped(result, -static_cast<uint64_t>(x.integer))
             : x;
}

static Element sign(const Format &operand, const Format &result, Element x) {
  if (operand.isInteger())
    return wrapped(result, x.integer == 0                      ? 0
                           : operand.isSigned && x.integer < 0 ? -1
                                                               : 1);
  if (operand.isComplex()) {
    double modulus = std::hypot(x.real, x.imag);
    if (std::isnan(modulus))
      return Element::of(Complex(NAN, NAN));
    return modulus == 0 ? Element::of(Complex(0, 0))
                        : rounded(result, x.complex() / modulus);
  }
  return x.real > 0   ? Element::of(1.0)
         : x.real < 0 ? Element::of(-1.0)
                      : x; // keeps NaN and the sign of 0
}

static Element realPart(const Format &, const Format &, Element x) {
  return Element::of(x.real);
}
static Element imagPart(const Format &operand, const Format &, Element x) {
  return Element::of(operand.isComplex() ? x.imag : 0.0);
}
static Element isFinite(const Format &, const Format &, Element x) {
  return Element::of(int64_t(std::isfinite(x.real)));
}
static Element isInf(const Format &, const Format &, Element x) {
  return Element::of(int64_t(std::isinf(x.real)));
}
static Element isPosInf(const Format &, const Format &, Element x) {
  return Element::of(int64_t(std::isinf(x.real) && x.real > 0));
}
static Element isNegInf(const Format &, const Format &, Element x) {
  return Element::of(int64_t(std::isinf(x.real) && x.real < 0));
}

/// A float as an integer: towards zero, NaN is 0, what is beyond the type its
/// nearest end.
static int64_t saturate(const Format &format, double value) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  unsigned digits = format.bits - (format.isSigned ? 1 : 0);
  double end = std::ldexp(1.0, digits), low = format.isSigned ? -end : 0;
  if (value < low)
    value = low;
  if (value >= end)
    return format.isSigned
               ? static_cast<int64_t>((uint64_t(1) << digits) - 1)
               : static_cast<int64_t>(
                     digits == 64 ? ~uint64_t(0) : (uint64_t(1) << digits) - 1);
  return format.isSigned ? static_cast<int64_t>(value)
                         : static_cast<int64_t>(static_cast<uint64_t>(value));
}

static Element convert(const Format &from, const Format &to, Element x) {
  if (from.isInteger()) {
    if (to.isBoolean())
      return Element::of(int64_t(x.integer != 0));
    if (to.isInteger())
      return wrapped(to, x.integer);
    // To f32 straight: by way of f64 it would be rounded twice.
    bool isSingle = to.semantics == &llvm::APFloat::IEEEsingle();
    double value;
    if (from.isSigned)
      value = isSingle ? static_cast<float>(x.integer)
                       : static_cast<double>(x.integer);
    else
      value = isSingle ? static_cast<float>(static_cast<uint64_t>(x.integer))
                       : static_cast<double>(static_cast<uint64_t>(x.integer));
    return to.isComplex() ? rounded(to, Complex(value, 0)) : rounded(to, value);
  }
  if (to.isBoolean())
    return Element::of(
        int64_t(x.real != 0 || (from.isComplex() && x.imag != 0)));
  if (to.isInteger())
    return Element::of(saturate(to, x.real));
  if (to.isComplex())
    return rounded(to, Complex(x.real, from.isComplex() ? x.imag : 0));
  return rounded(to, x.real);
}

static Element square(const Format &operand, const Format &result, Element x) {
  if (operand.isInteger())
    return wrapped(result, static_cast<uint64_t>(x.integer) *
                               static_cast<uint64_t>(x.integer));
  if (operand.isFloat())
    return rounded(result, x.real * x.real);
  return rounded(result, Complex((x.real - x.imag) * (x.real + x.imag),
                                 2 * x.real * x.imag));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static Element add(const Format &format, Element a, Element b) {
  if (format.isBoolean())
    return Element::of(a.integer | b.integer);
  if (format.isInteger())
    return wrapped(format, static_cast<uint64_t>(a.integer) +
                               static_cast<uint64_t>(b.integer));
  return format.isComplex() ? rounded(format, a.complex() + b.complex())
                            : rounded(format, a.real + b.real);
}

static Element subtract(const Format &format, Element a, Element b) {
  if (format.isInteger())
    return wrapped(format, static_cast<uint64_t>(a.integer) -
                               static_cast<uint64_t>(b.integer));
  return format.isComplex() ? rounded(format, a.complex() - b.complex())
                            : rounded(format, a.real - b.real);
}

static Element multiply(const Format &format, Element a, Element b) {
  if (format.isInteger())
    return wrapped(format, static_cast<uint64_t>(a.integer) *
                               static_cast<uint64_t>(b.integer));
  return format.isComplex() ? rounded(format, a.complex() * b.complex())
                            : rounded(format, a.real * b.real);
}

/// By zero: all bits one, as XLA has it.
static Element divide(const Format &format, Element a, Element b) {
  if (format.isComplex())
    return rounded(format, a.complex() / b.complex());
  if (format.isFloat())
    return rounded(format, a.real / b.real);
  if (b.integer == 0)
    return wrapped(format, -1);
  if (format.isSigned)
    return b.integer == -1 ? wrapped(format, -static_cast<uint64_t>(a.integer))
                           : wrapped(format, a.integer / b.integer);
  return wrapped(format, static_cast<uint64_t>(a.integer) /
                             static_cast<uint64_t>(b.integer));
}

/// Has the sign of the first; by zero it is the first.
static Element remainder(const Format &format, Element a, Element b) {
  if (format.isFloat())
    return rounded(format, std::fmod(a.real, b.real));
  if (b.integer == 0)
    return a;
  if (format.isSigned)
    return b.integer == -1 ? Element::of(int64_t(0))
                           : wrapped(format, a.integer % b.integer);
  return wrapped(format, static_cast<uint64_t>(a.integer) %
                             static_cast<uint64_t>(b.integer));
}

/// Whether `a` comes before `b`; complex numbers by real part, then imaginary.
static bool isLess(const Format &format, Element a, Element b) {
  if (format.isInteger())
    return format.isSigned ? a.integer < b.integer
                           : static_cast<uint64_t>(a.integer) <
                                 static_cast<uint64_t>(b.integer);
  if (format.isComplex() && a.real == b.real)
    return a.imag < b.imag;
  return a.real < b.real;
}

static bool hasNaN(const Format &format, Element a) {
  return !format.isInteger() &&
         (std::isnan(a.real) || (format.isComplex() && std::isnan(a.imag)));
}

static Element maximum(const Format &format, Element a, Element b) {
  if (hasNaN(format, a) || hasNaN(format, b))
    return hasNaN(format, a) ? a : b;
  if (format.isFloat() && a.real == b.real)
    return std::signbit(a.real) ? b : a;
  return isLess(format, a, b) ? b : a;
}

static Element minimum(const Format &format, Element a, Element b) {
  if (hasNaN(format, a) || hasNaN(format, b))
    return hasNaN(format, a) ? a : b;
  if (format.isFloat() && a.real == b.real)
    return std::signbit(a.real) ? a : b;
  return isLess(format, b, a) ? b : a;
}

static Element power(const Format &format, Element a, Element b) {
  if (format.isComplex())
    return rounded(format, complexPower(a.complex(), b.complex()));
  if (format.isFloat())
    return rounded(format, std::pow(a.real, b.real));
  int64_t base = a.integer;
  uint64_t exponent = b.integer;
  if (format.isSigned && b.integer < 0) {
    if (base != 1 && base != -1)
      return Element::of(int64_t(0));
    exponent = b.integer & 1;
  }
  uint64_t result = 1, square = base;
  for (; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return wrapped(format, result);
}

static Element atan2Of(const Format &format, Element a, Element b) {
  if (!format.isComplex())
    return rounded(format, std::atan2(a.real, b.real));
  // -i log((x + i y) / sqrt(x^2 + y^2))
  Complex y = a.complex(), x = b.complex(), i(0, 1);
  return rounded(format, -i * std::log((x + i * y) / std::sqrt(x * x + y * y)));
}

static Element logicalAnd(const Format &, Element a, Element b) {
  return Element::of(a.integer & b.integer);
}
static Element logicalOr(const Format &, Element a, Element b) {
  return Element::of(a.integer | b.integer);
}
static Element logicalXor(const Format &, Element a, Element b) {
  return Element::of(a.integer ^ b.integer);
}

/// The amount of a shift; none where all bits leave.
static std::optional<unsigned> amountOf(const Format &format, Element by) {
  uint64_t amount = plainBits(format, by.integer);
  return amount < format.bits ? std::optional<unsigned>(amount) : std::nullopt;
}

static Element shiftLeft(const Format &format, Element a, Element b) {
  std::optional<unsigned> amount = amountOf(format, b);
  return wrapped(format,
                 amount ? static_cast<uint64_t>(a.integer) << *amount : 0);
}
static Element shiftRightLogical(const Format &format, Element a, Element b) {
  std::optional<unsigned> amount = amountOf(format, b);
  return wrapped(format, amount ? plainBits(format, a.integer) >> *amount : 0);
}
static Element shiftRightArithmetic(const Format &format, Element a,
                                    Element b) {
  // The highest bit counts as the sign of unsigned numbers too.
  int64_t extended = static_cast<int64_t>(static_cast<uint64_t>(a.integer)
                                          << (64 - format.bits)) >>
                     (64 - format.bits);
  return wrapped(format, extended >> std::min<unsigned>(
                                         amountOf(format, b).value_or(63), 63));
}

/// The next number of the type after `a` towards `b`.
static Element nextAfter(const Format &format, Element a, Element b) {
  if (std::isnan(a.real) || std::isnan(b.real))
    return Element::of(std::numeric_limits<double>::quiet_NaN());
  if (a.real == b.real)
    return b;
  llvm::APFloat value(*format.semantics,
                      llvm::APInt(format.bits, bitsOf(format, a.real)));
  value.next(/*nextDown=*/b.real < a.real);
  return Element::of(floatOf(format, value.bitcastToAPInt().getZExtValue()));
}

static Element mulhi(const Format &format, Element a, Element b) {
  __int128 product =
      format.isSigned
          ? static_cast<__int128>(a.integer) * b.integer
          : static_cast<__int128>(static_cast<unsigned __int128>(
                                      static_cast<uint64_t>(a.integer)) *
                                  static_cast<uint64_t>(b.integer));
  return wrapped(format, static_cast<int64_t>(product >> format.bits));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static FailureOr<Values> evaluateComplex(Evaluator &, stablehlo::ComplexOp op,
                                         ArrayRef<Array> in) {
  Array result(formatOf(op.getResult()), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i) = Element::of(Complex(in[0][i].real, in[1][i].real));
  return Values{result};
}

/// A float's place in the total order, -NaN first, NaN last, -0 before 0.
static int64_t totalOrder(double value) {
  int64_t bits = llvm::bit_cast<int64_t>(value);
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits + 1;
}

static FailureOr<Values> evaluateCompare(Evaluator &, stablehlo::CompareOp op,
                                         ArrayRef<Array> in) {
  const Format &format = in[0].format();
  bool isTotal = op.getCompareType() == stablehlo::ComparisonType::TOTALORDER &&
                 format.isFloat();
  Array result(Format::boolean(), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i) {
    Element a = in[0][i], b = in[1][i];
    bool less, more, same;
    if (isTotal) {
      int64_t x = totalOrder(a.real), y = totalOrder(b.real);
      less = x < y, more = y < x, same = x == y;
    } else {
      less = isLess(format, a, b), more = isLess(format, b, a);
      same = format.isInteger() ? a.integer == b.integer
             : format.isFloat() ? a.real == b.real
                                : a.complex() == b.complex();
    }
    bool holds = false;
    switch (op.getComparisonDirection()) {
    case stablehlo::ComparisonDirection::EQ:
      holds = same;
      break;
    case stablehlo::ComparisonDirection::NE:
      holds = !same;
      break;
    case stablehlo::ComparisonDirection::GE:
      holds = more || same;
      break;
    case stablehlo::ComparisonDirection::GT:
      holds = more;
      break;
    case stablehlo::ComparisonDirection::LE:
      holds = less || same;
      break;
    case stablehlo::ComparisonDirection::LT:
      holds = less;
      break;
    }
    result.set(i).integer = holds;
  }
  return Values{result};
}

static FailureOr<Values> evaluateSelect(Evaluator &, stablehlo::SelectOp op,
                                        ArrayRef<Array> in) {
  Array result = in[1];
  bool isScalar = in[0].rank() == 0;
  for (int64_t i = 0; i < result.size(); ++i)
    if (in[0][isScalar ? 0 : i].integer == 0)
      result.set(i) = in[2][i];
  return Values{result};
}

static FailureOr<Values> evaluateClamp(Evaluator &, stablehlo::ClampOp op,
                                       ArrayRef<Array> in) {
  Array result = in[1];
  for (int64_t i = 0; i < result.size(); ++i) {
    Element low = in[0][in[0].rank() == 0 ? 0 : i],
            high = in[2][in[2].rank() == 0 ? 0 : i];
    result.set(i) =
        minimum(result.format(), maximum(result.format(), low, in[1][i]), high);
  }
  return Values{result};
}

/// `value` with these bits of exponent and mantissa; no subnormals.
static double reducePrecision(double value, int exponentBits,
                              int mantissaBits) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent;
  std::frexp(value, &exponent); // 0.5 <= |fraction| < 1
  double scaled =
      std::nearbyint(std::ldexp(value, mantissaBits + 1 - exponent));
  double result = std::ldexp(scaled, exponent - mantissaBits - 1);
  std::frexp(result, &exponent);
  int bias = (1 << (exponentBits - 1)) - 1;
  if (exponent - 1 > bias)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return exponent - 1 < 1 - bias ? std::copysign(0.0, value) : result;
}

static FailureOr<Values>
evaluateReducePrecision(Evaluator &, stablehlo::ReducePrecisionOp op,
                        ArrayRef<Array> in) {
  Array result(in[0].format(), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, reducePrecision(in[0][i].real, op.getExponentBits(),
                                  op.getMantissaBits()));
  return Values{result};
}

static FailureOr<Values> evaluateMap(Evaluator &evaluator, stablehlo::MapOp op,
                                     ArrayRef<Array> in) {
  Array result(formatOf(op.getResult()), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i) {
    Values elements;
    for (const Array &operand : in)
      elements.push_back(operand.elementAt(i));
    FailureOr<Values> made = evaluator.apply(op.getComputation(), elements);
    if (failed(made))
      return failure();
    result.set(i) = (*made)[0][0];
  }
  return Values{result};
}

void shardc::interpreter::addElementwise(Table &table) {
  table.unary["stablehlo.exponential"] = function<exp1, exp2>;
  table.unary["stablehlo.exponential_minus_one"] = function<expm11, expm12>;
  table.unary["stablehlo.log"] = function<log1, log2>;
  table.unary["stablehlo.log_plus_one"] = function<log1p1, log1p2>;
  table.unary["stablehlo.logistic"] = function<logistic1, logistic2>;
  table.unary["stablehlo.sine"] = function<sin1, sin2>;
  table.unary["stablehlo.cosine"] = function<cos1, cos2>;
  table.unary["stablehlo.tan"] = table.unary["chlo.tan"] = function<tan1, tan2>;
  table.unary["stablehlo.tanh"] = function<tanh1, tanh2>;
  table.unary["stablehlo.sqrt"] = function<sqrt1, sqrt2>;
  table.unary["stablehlo.rsqrt"] = function<rsqrt1, rsqrt2>;
  table.unary["stablehlo.cbrt"] = function<cbrt1, cbrt2>;
  table.unary["stablehlo.floor"] = function<floor1, conj2>;
  table.unary["stablehlo.ceil"] = function<ceil1, conj2>;
  table.unary["stablehlo.round_nearest_afz"] = function<roundAway1, conj2>;
  table.unary["stablehlo.round_nearest_even"] = function<roundEven1, conj2>;
  table.unary["chlo.acos"] = function<acos1, acos2>;
  table.unary["chlo.acosh"] = function<acosh1, acosh2>;
  table.unary["chlo.asin"] = function<asin1, asin2>;
  table.unary["chlo.asinh"] = function<asinh1, asinh2>;
  table.unary["chlo.atan"] = function<atan1, atan2c>;
  table.unary["chlo.atanh"] = function<atanh1, atanh2>;
  table.unary["chlo.sinh"] = function<sinh1, sinh2>;
  table.unary["chlo.cosh"] = function<cosh1, cosh2>;
  table.unary["chlo.conj"] = function<conj1, conj2>;
  table.unary["chlo.square"] = square;
  table.unary["chlo.is_inf"] = isInf;
  table.unary["chlo.is_pos_inf"] = isPosInf;
  table.unary["chlo.is_neg_inf"] = isNegInf;
  table.unary["stablehlo.negate"] = negate;
  table.unary["stablehlo.not"] = logicalNot;
  table.unary["stablehlo.popcnt"] = countBits;
  table.unary["stablehlo.count_leading_zeros"] = countLeadingZeros;
  table.unary["stablehlo.abs"] = absolute;
  table.unary["stablehlo.sign"] = sign;
  table.unary["stablehlo.real"] = realPart;
  table.unary["stablehlo.imag"] = imagPart;
  table.unary["stablehlo.is_finite"] = isFinite;
  table.unary["stablehlo.convert"] = convert;

  table.binary["stablehlo.add"] = add;
  table.binary["stablehlo.subtract"] = subtract;
  table.binary["stablehlo.multiply"] = multiply;
  table.binary["stablehlo.divide"] = divide;
  table.binary["stablehlo.remainder"] = remainder;
  table.binary["stablehlo.maximum"] = maximum;
  table.binary["stablehlo.minimum"] = minimum;
  table.binary["stablehlo.power"] = power;
  table.binary["stablehlo.atan2"] = atan2Of;
  table.binary["stablehlo.and"] = logicalAnd;
  table.binary["stablehlo.or"] = logicalOr;
  table.binary["stablehlo.xor"] = logicalXor;
  table.binary["stablehlo.shift_left"] = shiftLeft;
  table.binary["stablehlo.shift_right_logical"] = shiftRightLogical;
  table.binary["stablehlo.shift_right_arithmetic"] = shiftRightArithmetic;
  table.binary["chlo.next_after"] = nextAfter;
  table.binary["chlo.mulhi"] = mulhi;

  table.add<stablehlo::ComplexOp>(evaluateComplex);
  table.add<stablehlo::CompareOp>(evaluateCompare);
  table.add<stablehlo::SelectOp>(evaluateSelect);
  table.add<stablehlo::ClampOp>(evaluateClamp);
  table.add<stablehlo::ReducePrecisionOp>(evaluateReducePrecision);
  table.add<stablehlo::MapOp>(evaluateMap);
}
