//===- Complex.cpp - Complex numbers on scalars ---------------------------===//
//
// Textbook formulas on the two parts, arranged so that no intermediate
// overflows or cancels where the result does not. Source: W. Kahan, "Branch
// cuts for complex elementary functions" (1987), R. L. Smith, "Algorithm 116:
// complex division" (1962).
//
//===----------------------------------------------------------------------===//
#include "Complex.h"
#include "ScalarMath.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace shardc::lowering;

using ScalarBuilder = ImplicitLocOpBuilder;

namespace {
struct Complex {
  Real re, im;

  static Complex of(ScalarBuilder &b, Value value) {
    Type part = cast<ComplexType>(value.getType()).getElementType();
    return {{&b, complex::ReOp::create(b, part, value)},
            {&b, complex::ImOp::create(b, part, value)}};
  }
  Value value() const {
    return complex::CreateOp::create(*re.b, ComplexType::get(re.v.getType()),
                                     re.v, im.v);
  }
};

Complex choose(Value condition, Complex x, Complex y) {
  return {choose(condition, x.re, y.re), choose(condition, x.im, y.im)};
}
} // namespace

static Complex multiply(Complex x, Complex y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// sqrt(re² + im²) without overflow of the squares.
static Real modulus(Complex x) {
  Real a = abs(x.re), c = abs(x.im);
  Real most = larger(a, c), least = smaller(a, c);
  Real ratio = least / most;
  Real length = most * sqrt(ratio.of(1) + ratio * ratio);
  Real zero = a.of(0), infinity = a.of(INFINITY);
  // 0/0 and inf/inf.
  length = choose(compare(arith::CmpFPredicate::OEQ, most, zero), zero, length);
  Value isInfinite = arith::OrIOp::create(
      *a.b, compare(arith::CmpFPredicate::OEQ, a, infinity),
      compare(arith::CmpFPredicate::OEQ, c, infinity));
  return choose(isInfinite, infinity, length);
}

// Smith's: divides by the larger part first.
static Complex divide(Complex x, Complex y) {
  Real ratio1 = y.im / y.re, below1 = y.re + y.im * ratio1;
  Complex byReal = {(x.re + x.im * ratio1) / below1,
                    (x.im - x.re * ratio1) / below1};
  Real ratio2 = y.re / y.im, below2 = y.im + y.re * ratio2;
  Complex byImaginary = {(x.re * ratio2 + x.im) / below2,
                         (x.im * ratio2 - x.re) / below2};
  Complex result =
      choose(compare(arith::CmpFPredicate::OGE, abs(y.re), abs(y.im)), byReal,
             byImaginary);
  // By zero: each part by the signed zero.
  Real zero = y.re.of(0);
  Value noRe = compare(arith::CmpFPredicate::OEQ, y.re, zero);
  Value noIm = compare(arith::CmpFPredicate::OEQ, y.im, zero);
  Value byZero = arith::AndIOp::create(*y.re.b, noRe, noIm);
  return choose(byZero, Complex{x.re / y.re, x.im / y.re}, result);
}

static Complex exponential(Complex x) {
  Real length = exp(x.re);
  Real re = length * cos(x.im), im = length * sin(x.im);
  // A real argument stays real, also where exp overflows.
  Real zero = x.re.of(0);
  Value isReal = compare(arith::CmpFPredicate::OEQ, x.im, zero);
  return {choose(isReal, length, re), choose(isReal, x.im, im)};
}

static Complex logarithm(Complex x) {
  // Near the unit circle log|x| = log1p((|x|-1)(|x|+1)) / 2 in the parts.
  Real a = abs(x.re), c = abs(x.im);
  Real most = larger(a, c), least = smaller(a, c);
  Real one = a.of(1);
  Real nearby = log1p((most - one) * (most + one) + least * least) * a.of(0.5);
  Real length = log(modulus(x));
  Value isNear = arith::AndIOp::create(
      *a.b, compare(arith::CmpFPredicate::OGT, most, a.of(0.5)),
      compare(arith::CmpFPredicate::OLT, most, a.of(2)));
  return {choose(isNear, nearby, length), atan2(x.im, x.re)};
}

// The larger part comes from a sum of like signs, the other by division. With
// `belowCut` a negative zero is below the cut.
static Complex squareRoot(Complex x, bool belowCut = false) {
  Real zero = x.re.of(0), half = x.re.of(0.5);
  Real length = modulus(x);
  Real root = sqrt((length + abs(x.re)) * half);
  Real other = abs(x.im) * half / root;
  Value isRight = compare(arith::CmpFPredicate::OGE, x.re, zero);
  Complex result = {choose(isRight, root, other), choose(isRight, other, root)};
  Value isZero = compare(arith::CmpFPredicate::OEQ, length, zero);
  result = choose(isZero, Complex{zero, zero}, result);
  // An infinite imaginary part wins over everything, NaN too.
  Real infinity = zero.of(INFINITY);
  Value isInfinite = compare(arith::CmpFPredicate::OEQ, abs(x.im), infinity);
  result = choose(isInfinite, Complex{infinity, infinity}, result);
  // On the cut, the upper side for both zeros, as XLA has it.
  if (belowCut)
    return {result.re, copySign(result.im, x.im)};
  return {result.re, choose(less(x.im, 0), -result.im, result.im)};
}

static Real coshOf(Real x) {
  Real e = exp(x);
  return (e + x.of(1) / e) * x.of(0.5);
}

// By expm1, exact near zero.
static Real sinhOf(Real x) {
  Real e = expm1(x);
  Real near = (e + e / (e + x.of(1))) * x.of(0.5);
  Real far = exp(abs(x) + x.of(-0.6931471805599453));
  return choose(compare(arith::CmpFPredicate::OGT, abs(x), x.of(30)),
                copySign(far, x), near);
}

// tanh(x + iy) = (t(1 + s²) + i s) / (1 + t²s²) with s = tan y, t = tanh x,
// written with sin and cos so that no tangent overflows.
static Complex hyperbolicTangent(Complex x) {
  Real t = tanh(x.re);
  Real s = sin(x.im), c = cos(x.im);
  Real below = c * c + t * t * s * s;
  Real sech2 = x.re.of(1) / (coshOf(x.re) * coshOf(x.re));
  return {t / below, s * c * sech2 / below};
}

static Complex sine(Complex x) {
  return {sin(x.re) * coshOf(x.im), cos(x.re) * sinhOf(x.im)};
}

static Complex cosine(Complex x) {
  return {cos(x.re) * coshOf(x.im), -(sin(x.re) * sinhOf(x.im))};
}

#define UNARY(name, expression)                                                \
  Value shardc::lowering::name(ScalarBuilder &b, ValueRange args) {            \
    Complex x = Complex::of(b, args[0]);                                       \
    return expression;                                                         \
  }
#define BINARY(name, expression)                                               \
  Value shardc::lowering::name(ScalarBuilder &b, ValueRange args) {            \
    Complex x = Complex::of(b, args[0]), y = Complex::of(b, args[1]);          \
    return expression;                                                         \
  }

BINARY(complexAdd, (Complex{x.re + y.re, x.im + y.im}).value())
BINARY(complexSubtract, (Complex{x.re - y.re, x.im - y.im}).value())
BINARY(complexMultiply, multiply(x, y).value())
BINARY(complexDivide, divide(x, y).value())
UNARY(complexNegate, (Complex{-x.re, -x.im}).value())
UNARY(complexAbs, modulus(x).v)
UNARY(complexExp, exponential(x).value())
UNARY(complexLog, logarithm(x).value())
UNARY(complexSqrt, squareRoot(x).value())
UNARY(complexSine, sine(x).value())
UNARY(complexCosine, cosine(x).value())
UNARY(complexTan, divide(sine(x), cosine(x)).value())
UNARY(complexSinh,
      (Complex{sinhOf(x.re) * cos(x.im), coshOf(x.re) * sin(x.im)}).value())
UNARY(complexCosh,
      (Complex{coshOf(x.re) * cos(x.im), sinhOf(x.re) * sin(x.im)}).value())
UNARY(complexConjugate, (Complex{x.re, -x.im}).value())
UNARY(complexTanh, hyperbolicTangent(x).value())
UNARY(complexLogistic, divide({x.re.of(1), x.re.of(0)},
                              [&] {
                                Complex e = exponential({-x.re, -x.im});
                                return Complex{e.re + x.re.of(1), e.im};
                              }())
                           .value())

// Its cut has two sides, in XLA too, though that of the square root has one.
Value shardc::lowering::complexRsqrt(ScalarBuilder &b, ValueRange args) {
  Complex x = Complex::of(b, args[0]);
  return divide({x.re.of(1), x.re.of(0)}, squareRoot(x, /*belowCut=*/true))
      .value();
}

Value shardc::lowering::complexSign(ScalarBuilder &b, ValueRange args) {
  Complex x = Complex::of(b, args[0]);
  Real length = modulus(x);
  Real zero = length.of(0);
  Value isZero = compare(arith::CmpFPredicate::OEQ, length, zero);
  Real safe = choose(isZero, length.of(1), length);
  return Complex{x.re / safe, x.im / safe}.value();
}

// e^re cos im - 1 = expm1(re) cos im + (cos im - 1), the latter by half angles.
Value shardc::lowering::complexExpm1(ScalarBuilder &b, ValueRange args) {
  Complex x = Complex::of(b, args[0]);
  Real half = sin(x.im * x.im.of(0.5));
  Real re = expm1(x.re) * cos(x.im) - half * half * half.of(2);
  Real im = exp(x.re) * sin(x.im);
  return Complex{re, im}.value();
}

// log|1 + x| by log1p of |1 + x|² - 1 = re (2 + re) + im².
Value shardc::lowering::complexLog1p(ScalarBuilder &b, ValueRange args) {
  Complex x = Complex::of(b, args[0]);
  Real one = x.re.of(1);
  Real near = log1p(x.re * (x.re + one.of(2)) + x.im * x.im) * one.of(0.5);
  Real far = log(modulus({x.re + one, x.im}));
  Value isNear = arith::AndIOp::create(
      b, compare(arith::CmpFPredicate::OLT, abs(x.re), one.of(0.5)),
      compare(arith::CmpFPredicate::OLT, abs(x.im), one.of(0.5)));
  return Complex{choose(isNear, near, far), atan2(x.im, x.re + one)}.value();
}

// x^y = exp(y log x); 0^0 is 1 and 0 to anything else 0.
Value shardc::lowering::complexPower(ScalarBuilder &b, ValueRange args) {
  Complex x = Complex::of(b, args[0]), y = Complex::of(b, args[1]);
  Complex result = exponential(multiply(y, logarithm(x)));
  Real zero = x.re.of(0), one = x.re.of(1);
  auto isZero = [&](Complex z) -> Value {
    return arith::AndIOp::create(
        b, compare(arith::CmpFPredicate::OEQ, z.re, zero),
        compare(arith::CmpFPredicate::OEQ, z.im, zero));
  };
  result = choose(isZero(x), Complex{zero, zero}, result);
  return choose(isZero(y), Complex{one, zero}, result).value();
}
