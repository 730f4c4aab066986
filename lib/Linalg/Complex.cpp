//===- Complex.cpp - Complex numbers on scalars ---------------------------===//
//
// Formulas on the two parts, in f64 for either type, arranged so that no
// intermediate overflows or cancels where the result does not; where a sum may
// cancel it is a pair of numbers. Sources: W. Kahan, "Branch cuts for complex
// elementary functions" (1987); T. Hull, T. Fairgrieve, P. Tang, "Implementing
// complex elementary functions using exception handling" (1994).
//
// Each operation rounds by itself; functions of f64 for complex<f32> are to be
// right to the digits of f32 only (BriefScope).
//
//===----------------------------------------------------------------------===//
#include "Complex.h"
#include "ScalarMath.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Support/FullPairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::functions;
using shardc::lowering::BriefScope;

using ScalarBuilder = ImplicitLocOpBuilder;

namespace {
struct Complex {
  Num re, im;
};

Complex choose(Mask c, Complex x, Complex y) {
  return {functions::choose(c, x.re, y.re), functions::choose(c, x.im, y.im)};
}

/// i x and -i x.
Complex timesI(Complex x) { return {-x.im, x.re}; }
Complex byI(Complex x) { return {x.im, -x.re}; }
} // namespace

//===----------------------------------------------------------------------===//
// Functions of the math dialect
//===----------------------------------------------------------------------===//

static Num exp(Num x) { return numOp<math::ExpOp>(x); }
static Num expm1(Num x) { return numOp<math::ExpM1Op>(x); }
static Num log(Num x) { return numOp<math::LogOp>(x); }
static Num log1p(Num x) { return numOp<math::Log1pOp>(x); }
static Num sin(Num x) { return numOp<math::SinOp>(x); }
static Num cos(Num x) { return numOp<math::CosOp>(x); }
static Num sinh(Num x) { return numOp<math::SinhOp>(x); }
static Num cosh(Num x) { return numOp<math::CoshOp>(x); }
static Num asinh(Num x) { return numOp<math::AsinhOp>(x); }
/// By |y|, the sign after: a zero keeps its sign.
static Num atan2(Num y, Num x) {
  Num size = functions::abs(y);
  return copySign(Num{x.b, math::Atan2Op::create(*x.b, size.v, x.v)}, y);
}

static Mask isInfinite(Num x) { return functions::abs(x) == kInfinity; }
static Mask isFinite(Num x) { return functions::abs(x) < kInfinity; }
static Mask operator!(Mask x) {
  Value yes = arith::ConstantOp::create(*x.b, x.b->getBoolAttr(true));
  return {x.b, arith::XOrIOp::create(*x.b, x.v, yes)};
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// z times a power of two that makes squares of the parts normal numbers, and
/// the power that takes a length back.
struct Scaled {
  Complex z;
  Num back;
};
static Scaled scaled(Complex z) {
  Num most = functions::larger(functions::abs(z.re), functions::abs(z.im));
  Mask large = most > 0x1p500, small = most < 0x1p-400;
  Num one = most.of(1);
  Num by = functions::choose(large, 0x1p-600,
                             functions::choose(small, 0x1p600, one));
  Num back = functions::choose(large, 0x1p600,
                               functions::choose(small, 0x1p-600, one));
  return {{z.re * by, z.im * by}, back};
}

/// re^2 + im^2, exact to about 2^-105.
static Pair squaredLength(Complex z) {
  return exactProduct(z.re, z.re) + exactProduct(z.im, z.im);
}

static Num modulus(Complex z) {
  Scaled s = scaled(z);
  Pair square = squaredLength(s.z);
  Num length = sumOf(functions::sqrt(square)) * s.back;
  length = functions::choose((z.re == 0.0) & (z.im == 0.0), 0.0, length);
  return functions::choose(isInfinite(z.re) | isInfinite(z.im), kInfinity,
                           length);
}

/// |z + more|^2 - 1 for a z near the circle that this makes zero: seven numbers
/// whose sum is exact to their last bits. `more` is 0 or 1.
static Num aroundCircle(Complex z, bool plusOne) {
  Pair a = exactProduct(z.re, z.re), c = exactProduct(z.im, z.im);
  Pair s1 = exactSum(plusOne ? z.re * 2.0 : z.re.of(-1), a.hi),
       s2 = exactSum(s1.hi, c.hi);
  Pair l1 = exactSum(s1.lo, s2.lo), l2 = exactSum(a.lo, c.lo);
  Pair l3 = exactSum(l1.hi, l2.hi);
  Pair sum = exactSum(s2.hi, l3.hi);
  return sum.hi + (sum.lo + (l3.lo + (l1.lo + l2.lo)));
}

/// log of the length of (a, c).
static Num logLength(Num re, Num im) {
  Num a = functions::abs(re), c = functions::abs(im);
  Num most = functions::larger(a, c), least = functions::smaller(a, c);
  Mask infinite = isInfinite(a) | isInfinite(c);
  Num ratio = functions::choose((least == 0.0) | infinite, 0.0, least / most);
  Num value = log(most) + log1p(ratio * ratio) * 0.5;
  value = functions::choose(isNan(a) | isNan(c), kNan, value);
  return functions::choose(infinite, kInfinity, value);
}

static Complex logarithm(Complex z) {
  Num near = aroundCircle(z, false);
  Num re = functions::choose((near > -0.75) & (near < 3.0), log1p(near) * 0.5,
                             logLength(z.re, z.im));
  return {re, atan2(z.im, z.re)};
}

static Complex logarithm1p(Complex z) {
  Num above = z.re + 1.0, near = aroundCircle(z, true);
  Num re = functions::choose((near > -0.75) & (near < 3.0), log1p(near) * 0.5,
                             logLength(above, z.im));
  return {re, atan2(z.im, above)};
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

struct ComplexPair {
  Pair re, im;
};

/// The root with im >= 0 of (re, |im|), divided by the length of that if
/// `inverse`: its larger part comes from a sum of like signs, the other by
/// division. For numbers whose squares are normal.
static ComplexPair rootOf(Pair re, Num im, bool inverse = false) {
  Num tall = functions::abs(im);
  Pair length = functions::sqrt(re * re + exactProduct(tall, tall));
  Mask left = re.hi < 0.0;
  Pair wide = functions::choose(left, -re, re);
  Pair root = functions::sqrt(scale(length + wide, 0.5));
  Pair other = pairOf(tall) / scale(inverse ? root * length : root, 2.0);
  if (inverse)
    root = root / length;
  return {functions::choose(left, other, root),
          functions::choose(left, root, other)};
}

/// The same of numbers of f32 in f64, whose squares are normal and whose
/// roundings are not seen in f32.
static Complex briefRootOf(Num re, Num im, bool inverse = false) {
  Num tall = functions::abs(im), wide = functions::abs(re);
  Num length = functions::sqrt(fma(re, re, im * im));
  Num root = functions::sqrt((length + wide) * 0.5);
  Num other = tall / ((inverse ? root * length : root) * 2.0);
  if (inverse)
    root = root / length;
  Mask left = re < 0.0;
  return {functions::choose(left, other, root),
          functions::choose(left, root, other)};
}

/// The root (re, im) of z, in the upper half plane, with what holds for zero
/// and infinite parts.
static Complex limitsOfRoot(Complex z, Num re, Num im, bool belowCut) {
  Mask isZero = (z.re == 0.0) & (z.im == 0.0);
  re = functions::choose(isZero, 0.0, re);
  im = functions::choose(isZero, 0.0, im);
  // Infinite parts; an infinite imaginary one wins over everything, NaN too.
  Num none = functions::choose(isNan(z.im), z.im, z.im.of(0));
  Mask right = z.re == kInfinity, left = z.re == -kInfinity,
       tall = isInfinite(z.im);
  re = functions::choose(right, kInfinity, functions::choose(left, none, re));
  im = functions::choose(left, kInfinity, functions::choose(right, none, im));
  re = functions::choose(tall, kInfinity, re);
  im = functions::choose(tall, kInfinity, im);
  // On the cut, the upper side for both zeros, as XLA has it.
  if (belowCut)
    return {re, copySign(im, z.im)};
  return {re, functions::choose(z.im < 0.0, -im, im)};
}

static Complex briefSquareRoot(Complex z) {
  Complex root = briefRootOf(z.re, z.im);
  return limitsOfRoot(z, root.re, root.im, /*belowCut=*/false);
}

static Complex squareRoot(Complex z, bool belowCut = false) {
  Num most = functions::larger(functions::abs(z.re), functions::abs(z.im));
  Mask large = most > 0x1p500, small = most < 0x1p-400;
  Num one = most.of(1);
  Num by = functions::choose(large, 0x1p-600,
                             functions::choose(small, 0x1p600, one));
  Num back = functions::choose(large, 0x1p300,
                               functions::choose(small, 0x1p-300, one));
  ComplexPair root = rootOf(pairOf(z.re * by), z.im * by);
  Num re = sumOf(root.re) * back, im = sumOf(root.im) * back;
  // The smaller part of a large number may have vanished with the scale.
  Num other = functions::abs(z.im) / (functions::larger(re, im) * 2.0);
  re = functions::choose(large & (re < im), other, re);
  im = functions::choose(large & (im < re), other, im);
  return limitsOfRoot(z, re, im, belowCut);
}

static Complex limitsOfReciprocalRoot(Complex z, Complex value) {
  Num zero = z.re.of(0);
  Mask far = isInfinite(z.re) | isInfinite(z.im),
       isZero = (z.re == 0.0) & (z.im == 0.0);
  value = choose(far, Complex{zero, copySign(zero, -z.im)}, value);
  return choose(isZero, Complex{zero.of(kInfinity), zero.of(kNan)}, value);
}

/// Its cut has two sides, in XLA too, though that of the square root has one.
static Complex reciprocalRoot(Complex z) {
  Num most = functions::larger(functions::abs(z.re), functions::abs(z.im));
  Mask large = most > 0x1p500, small = most < 0x1p-400;
  Num one = most.of(1);
  Num by = functions::choose(large, 0x1p-600,
                             functions::choose(small, 0x1p600, one));
  Num back = functions::choose(large, 0x1p-300,
                               functions::choose(small, 0x1p300, one));
  Pair re = pairOf(z.re * by);
  Num im = z.im * by;
  ComplexPair root = rootOf(re, im, /*inverse=*/true);
  Complex value = {sumOf(root.re) * back,
                   copySign(sumOf(root.im) * back, -z.im)};
  return limitsOfReciprocalRoot(z, value);
}

static Complex briefReciprocalRoot(Complex z) {
  Complex root = briefRootOf(z.re, z.im, /*inverse=*/true);
  return limitsOfReciprocalRoot(z, {root.re, copySign(root.im, -z.im)});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// a c - b d, the error of b d made good (W. Kahan); scaled where that
/// overflows.
static Num difference(Num a, Num c, Num b, Num d) {
  Num product = b * d, lost = fma(-b, d, product);
  Num value = fma(a, c, -product) + lost, plain = a * c - product;
  // All four by the same: then none becomes a subnormal number.
  double by = a.isDouble() ? 0x1p513 : 0x1p65;
  a = a * (1 / by), b = b * (1 / by), c = c * (1 / by), d = d * (1 / by);
  Num less = b * d, lessLost = fma(-b, d, less);
  Num rounded = fma(a, c, -less), exact = rounded + lessLost;
  less = functions::choose(isNan(exact), rounded, exact) * by * by;
  // Of infinities what the two products say.
  less = functions::choose(isNan(less), plain, less);
  return functions::choose(isNan(value), less, value);
}

static Complex multiply(Complex x, Complex y) {
  return {difference(x.re, y.re, x.im, y.im),
          difference(x.re, y.im, -x.im, y.re)};
}

/// The exponent of the larger part of z.
static Bits exponentOf(Complex z) {
  Num most = functions::larger(functions::abs(z.re), functions::abs(z.im));
  Bits field = most.bits() >> 52;
  return functions::smaller(functions::larger(field, field.of(3)),
                            field.of(2043)) -
         1023;
}

/// z times 2^e, in four steps: e may be beyond the exponents of f64.
static Complex timesPower(Complex z, Bits e) {
  Bits quarter = e >> 2;
  Num step = powerOfTwo(quarter, z.re),
      last = powerOfTwo(e - quarter - quarter - quarter, z.re);
  return {z.re * step * step * step * last, z.im * step * step * step * last};
}

static Complex divide(Complex x, Complex y, bool brief) {
  Complex value = x;
  if (brief) {
    // Products of f32 are exact in f64.
    Num below = fma(y.re, y.re, y.im * y.im);
    value = {fma(x.re, y.re, x.im * y.im) / below,
             fma(x.im, y.re, -(x.re * y.im)) / below};
  } else {
    Complex given = x;
    // Far above the subnormal numbers, and not too large for their products.
    Bits above = exponentOf(x) - 900, under = exponentOf(y) - 60;
    x = timesPower(x, above.of(0) - above);
    Complex z = timesPower(y, under.of(0) - under);
    Pair below = squaredLength(z);
    Pair re = exactProduct(x.re, z.re) + exactProduct(x.im, z.im);
    Pair im = exactProduct(x.im, z.re) - exactProduct(x.re, z.im);
    value = timesPower({sumOf(re / below), sumOf(im / below)}, above - under);
    value =
        choose(y.im == 0.0, Complex{given.re / y.re, given.im / y.re}, value);
    value = choose((y.re == 0.0) & ((y.im < 0.0) | (y.im > 0.0)),
                   Complex{given.im / y.im, -(given.re / y.im)}, value);
  }
  return value;
}

static Complex quotient(Complex x, Complex y, bool brief) {
  Complex value = divide(x, y, brief);
  // By zero: each part by the signed zero.
  Mask byZero = (y.re == 0.0) & (y.im == 0.0);
  value = choose(byZero, Complex{x.re / y.re, x.im / y.re}, value);
  // A finite number by an infinite one.
  Mask vanishes =
      (isInfinite(y.re) | isInfinite(y.im)) & isFinite(x.re) & isFinite(x.im);
  return choose(vanishes, Complex{x.re.of(0), x.re.of(0)}, value);
}

static Complex signOf(Complex z) {
  // Of an infinite number, what is finite becomes zero, the rest NaN.
  Mask isBeyond = isInfinite(z.re) | isInfinite(z.im);
  Complex s = choose(isBeyond, z, scaled(z).z);
  Num length = functions::choose(isBeyond, kInfinity,
                                 sumOf(functions::sqrt(squaredLength(s))));
  Mask isZero = (z.re == 0.0) & (z.im == 0.0);
  return choose(isZero, z, Complex{s.re / length, s.im / length});
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Numbers whose product is e^x: the first is not too large, the second one or
/// e^700.
static std::pair<Num, Num> expParts(Num x) {
  Mask large = x > 700.0;
  return {exp(functions::choose(large, x - 700.0, x)),
          functions::choose(large, 0x1.d945df4f8ec8ep+1009, x.of(1))};
}

static Complex exponentialOf(Complex z) {
  auto [length, power] = expParts(z.re);
  Num re = length * cos(z.im) * power, im = length * sin(z.im) * power;
  // A real argument stays real, also where exp overflows.
  Mask real = z.im == 0.0;
  re = functions::choose(real, length * power, re);
  im = functions::choose(real, z.im, im);
  // No angle: NaN, as StableHLO has it where C says 0.
  return {re, im};
}

/// e^re cos im - 1 = expm1(re) cos im + (cos im - 1), the latter by half
/// angles.
static Complex exponentialLess1(Complex z) {
  Num half = sin(z.im * 0.5);
  Pair first = exactProduct(expm1(z.re), cos(z.im)),
       second = exactProduct(half * 2.0, half);
  Complex far = exponentialOf(z);
  Num re = functions::choose(functions::abs(z.re) < 40.0, sumOf(first - second),
                             far.re - 1.0);
  re = functions::choose(z.im == 0.0, expm1(z.re), re);
  return {re, far.im};
}

/// Of an f64; beyond 2^20 to the digits that sine and cosine have.
static Angle angleOf(Num x) {
  Mask near = functions::abs(x) < 0x1p20;
  Angle angle = angleFull(pairOf(functions::choose(near, x, 0.0)));
  return {functions::choose(near, angle.sine, pairOf(sin(x))),
          functions::choose(near, angle.cosine, pairOf(cos(x)))};
}

/// The same with twice the digits: e^re cos im is near one not only at zero.
static Complex exponentialLess1Full(Complex z) {
  Exponential e = exponentialFull(pairOf(clamp(z.re, -40, 700)));
  Angle half = angleOf(z.im * 0.5);
  Pair whole = powerFull(e);
  Pair re = expm1Full(e) - scale(half.sine * half.sine * whole, 2.0);
  Pair im = scale(half.sine * half.cosine, 2.0) * whole;
  Complex far = exponentialOf(z);
  Mask inside = (z.re > -40.0) & (z.re < 700.0) &
                (functions::abs(z.im) > 0x1p-900) &
                (functions::abs(z.im) < 0x1p20);
  return {functions::choose((z.re < 700.0) & isFinite(z.im), sumOf(re),
                            far.re - 1.0),
          functions::choose(inside, sumOf(im), far.im)};
}

/// sinh and cosh: the product of the first two and of the third. Far from zero
/// both are half of e^|x|.
struct Hyperbolic {
  Num sine, cosine, power;
};
static Hyperbolic hyperbolic(Num x) {
  Num a = functions::abs(x);
  Mask large = a > 700.0;
  Num half = exp(functions::choose(large, a - 700.0, a.of(0))) * 0.5;
  Num inside = functions::choose(large, 0.0, x);
  return {functions::choose(large, copySign(half, x), sinh(inside)),
          functions::choose(large, half, cosh(inside)),
          functions::choose(large, 0x1.d945df4f8ec8ep+1009, a.of(1))};
}

static Complex hyperbolicSine(Complex z) {
  Hyperbolic h = hyperbolic(z.re);
  Num re = h.sine * cos(z.im) * h.power, im = h.cosine * sin(z.im) * h.power;
  Mask lost = !isFinite(z.im);
  re = functions::choose(z.re == 0.0, functions::choose(lost, z.re, re), re);
  re = functions::choose(isInfinite(z.re) & (lost | (z.im == 0.0)), z.re, re);
  return {re, functions::choose(z.im == 0.0, z.im, im)};
}

static Complex hyperbolicCosine(Complex z) {
  Hyperbolic h = hyperbolic(z.re);
  Num re = h.cosine * cos(z.im) * h.power, im = h.sine * sin(z.im) * h.power;
  Mask lost = !isFinite(z.im), onAxis = (z.re == 0.0) | (z.im == 0.0);
  re = functions::choose(isInfinite(z.re) & (lost | (z.im == 0.0)), kInfinity,
                         re);
  Num zero = copySign(z.re.of(0), z.re) * copySign(z.re.of(1), z.im);
  return {re, functions::choose(onAxis & isNan(im), zero, im)};
}

/// With s = sinh re, c = cos im: (s cosh re + i c sin im) / (s^2 + c^2), a sum
/// of squares; far from the imaginary axis (1, 4 c sin im e^-2re).
static Complex hyperbolicTangent(Complex z) {
  Num a = functions::abs(z.re), bounded = functions::smaller(a, a.of(25));
  Pair half = expPair(pairOf(bounded), -1);
  Pair other = Pair{a.of(0.25), a.of(0)} / half;
  // Digits that cancel below leave more than those of a number; c counts twice,
  // so s must not add to its error.
  Pair small = exactSum(bounded, bounded * bounded * bounded * (1.0 / 6));
  Pair s = functions::choose(a < 0x1p-20, small, half - other),
       ch = half + other;
  Num c = cos(z.im), sine = sin(z.im);
  Pair below = s * s + exactProduct(c, c);
  Num re = sumOf(s * ch / below), im = sumOf(exactProduct(c, sine) / below);
  Mask far = a > 22.0;
  Num power = exp(functions::smaller(a, a.of(380)) * -2.0);
  Num vanishing = c * sine * 4.0 * power;
  Mask lost = !isFinite(z.im) & isInfinite(a);
  vanishing = functions::choose(lost, 0.0, vanishing);
  re = copySign(
      functions::choose(
          far,
          functions::choose(isFinite(z.im) | isInfinite(a), 1.0, z.im - z.im),
          re),
      z.re);
  im = functions::choose(far, vanishing, im);
  re = functions::choose((z.re == 0.0) & isFinite(z.im), z.re, re);
  return {re, functions::choose(z.im == 0.0, z.im, im)};
}

/// With e = e^-|re|: (1 + e c + i e s) / D for re >= 0, else e (e + c + i s) /
/// D, D = (1 + e c)^2 + (e s)^2. 1 + e c is (1 - e) + 2 e cos^2(im / 2),
/// without cancellation.
static Complex logisticOf(Complex z) {
  Num minus = -functions::abs(z.re);
  Num e = exp(minus), less = -expm1(minus);
  Num c = cos(z.im), s = sin(z.im), half = cos(z.im * 0.5);
  Pair product = exactProduct(half * 2.0, half) * e;
  Pair above = product + less;
  Num height = e * s;
  Pair below = above * above + exactProduct(height, height);
  // e + c is also 2 cos^2(im / 2) - (1 - e).
  Pair beyond = exactProduct(half * 2.0, half) - pairOf(less);
  beyond = functions::choose(c < -0.5, beyond, exactSum(e, c));
  Num right = sumOf(above / below), left = sumOf(beyond / below) * e;
  return {functions::choose(z.re >= 0.0, right, left),
          functions::choose(z.im == 0.0, z.im, sumOf(pairOf(height) / below))};
}

/// The same with twice the digits: both parts have zeros, where two numbers
/// cancel. From 60 on what is added to one is lost.
static Complex logisticFull(Complex z) {
  Num a = functions::abs(z.re);
  Exponential exponent =
      exponentialFull(pairOf(-functions::smaller(a, a.of(60))));
  Pair e = powerFull(exponent), less = -expm1Full(exponent);
  Angle half = angleOf(z.im * 0.5);
  Pair twice = scale(half.cosine * half.cosine, 2.0);
  Pair sine = scale(half.sine * half.cosine, 2.0);
  sine = functions::choose(functions::abs(z.im) < 0x1p-900, pairOf(z.im), sine);
  Pair above = less + twice * e, height = sine * e;
  Pair below = above * above + height * height;
  Num right = sumOf(above / below), left = sumOf((twice - less) * e / below);
  Complex far = exponentialOf({-a, z.im});
  Mask beyond = a > 60.0;
  left = functions::choose(beyond, far.re, left);
  Num im = functions::choose(beyond, far.im, sumOf(height / below));
  return {functions::choose(z.re >= 0.0, right, left),
          functions::choose(z.im == 0.0, z.im, im)};
}

//===----------------------------------------------------------------------===//
// Inverse functions
//===----------------------------------------------------------------------===//

/// With r = sqrt(1 - z), s = sqrt(1 + z) in the upper half plane: asin z =
/// (atan(re / re(r s)), asinh(im(conj(r) s))), acos z = 2 atan(re r / re s),
/// -im.
struct Arcs {
  Num sine, cosine, height;
};
static Arcs arcs(Complex z) {
  Num a = functions::abs(z.re), c = functions::abs(z.im);
  Mask far = functions::larger(a, c) > 0x1p60;
  Num wide = functions::choose(far, 0.0, a),
      tall = functions::choose(far, 1.0, c);
  // Squares of less would vanish beside those of the distance to one, but where
  // that is zero.
  Mask flat = tall < 0x1p-400;
  Num raised = functions::choose(flat, tall * 0x1p600, tall);
  Num by = functions::choose(flat, 0x1p600, tall.of(1)),
      back = functions::choose(flat, 0x1p-300, tall.of(1));
  Pair less = exactSum(tall.of(1), -wide), more = exactSum(tall.of(1), wide);
  Mask atOne = wide == 1.0;
  Num lessBy = functions::choose(atOne, by, tall.of(1)),
      lessBack = functions::choose(atOne, back, tall.of(1));
  Num lessTall = functions::choose(atOne, raised, tall);
  ComplexPair r = rootOf(times(less, lessBy), lessTall);
  r = {times(r.re, lessBack), times(r.im, lessBack)};
  ComplexPair s = rootOf(more, tall);
  // At one itself, and on the axis: no division of zero by zero.
  Mask point = (wide == 1.0) & (tall == 0.0);
  Pair none = pairOf(tall.of(0));
  r = {functions::choose(point, none, r.re),
       functions::choose(point, none, r.im)};
  Pair along = r.re * s.re + r.im * s.im;
  Pair height = r.re * s.im + r.im * s.re;
  Num sine = atan2(wide, sumOf(along)),
      cosine = atan2(sumOf(r.re), sumOf(s.re)) * 2.0;
  Num up = asinh(sumOf(height));
  // Near zero z itself.
  Mask near = functions::larger(wide, tall) < 0x1p-30;
  sine = functions::choose(near, wide, sine);
  up = functions::choose(near, tall, up);
  // Far from zero log 2z.
  Mask corner = isInfinite(a) & isInfinite(c), nan = isNan(a) | isNan(c);
  Num x = functions::choose(corner, 1.0, a),
      y = functions::choose(corner, 1.0, c);
  Num logarithm = logLength(a, c) + 0x1.62e42fefa39efp-1;
  sine = functions::choose(far, atan2(x, y), sine);
  cosine = functions::choose(far, atan2(y, x), cosine);
  up = functions::choose(far, logarithm, up);
  // acos of the left half plane: pi - acos.
  Num obtuse = functions::choose(far, atan2(y, -x),
                                 2.0 * atan2(sumOf(s.re), sumOf(r.re)));
  cosine = functions::choose(z.re < 0.0, obtuse, cosine);
  // NaN in one part: what the other, zero or infinite, still says.
  sine = functions::choose(nan, functions::choose(z.re == 0.0, a, a.of(kNan)),
                           sine);
  Num right = functions::choose(z.re == 0.0, 0x1.921fb54442d18p+0, a.of(kNan));
  cosine = functions::choose(nan, right, cosine);
  up = functions::choose(
      nan,
      functions::choose(isInfinite(a) | isInfinite(c), kInfinity, a.of(kNan)),
      up);
  return {copySign(sine, z.re), cosine, copySign(up, z.im)};
}
static Complex arcSine(Complex z) {
  Arcs at = arcs(z);
  return {at.sine, at.height};
}
static Complex arcCosine(Complex z) {
  Arcs at = arcs(z);
  return {at.cosine, -at.height};
}
static Complex arcHyperbolicCosine(Complex z) {
  Arcs at = arcs(z);
  return {functions::abs(at.height), copySign(at.cosine, z.im)};
}

/// re = log1p(4a / ((1 - a)^2 + im^2)) / 4 for a = |re|, im = the half angle of
/// (1 - |z|^2, 2 im).
static Complex arcHyperbolicTangent(Complex z) {
  Num a = functions::abs(z.re), c = functions::abs(z.im);
  Mask far = functions::larger(a, c) > 0x1p60;
  Num wide = functions::choose(far, 0.0, a),
      tall = functions::choose(far, 1.0, c);
  // At one a small height alone is left, whose square may vanish.
  Mask atOne = (wide == 1.0) & (tall < 0x1p-500);
  Pair apart = exactSum(tall.of(1), -wide);
  Pair below = apart * apart + exactProduct(tall, tall);
  Num re = log1p(sumOf(Pair{wide * 4.0, wide.of(0)} / below)) * 0.25;
  Num atHeight = log(tall) * -0.5 + 0x1.62e42fefa39efp-2;
  re = functions::choose(atOne, atHeight, re);
  Num rest = 0.0 - aroundCircle({wide, tall}, false);
  Num im = atan2(tall * 2.0, rest) * 0.5;
  Scaled s = scaled({a, c});
  Num length = sumOf(functions::sqrt(squaredLength(s.z)));
  Num away = s.z.re / length / length / s.back;
  Mask nan = isNan(a) | isNan(c), infinite = isInfinite(a) | isInfinite(c);
  away = functions::choose(infinite, 0.0, away);
  re = functions::choose(far, away, re);
  im = functions::choose(far, 0x1.921fb54442d18p+0, im);
  Mask isZero = (z.re == 0.0) | isInfinite(z.re) | isInfinite(z.im);
  re = functions::choose(nan, functions::choose(isZero, 0.0, a.of(kNan)), re);
  im = functions::choose(isInfinite(z.im), 0x1.921fb54442d18p+0,
                         functions::choose(nan, kNan, im));
  return {copySign(re, z.re), copySign(im, z.im)};
}

/// x^y, where `result` is what exp(y log x) gives: 0^0 is 1, 0 to what has a
/// positive real part 0, and to anything else no number. As of real numbers, 1
/// to anything is 1, and infinity to a real number is infinite or 0.
static Complex withLimits(Complex x, Complex y, Complex result) {
  Num zero = x.re.of(0), one = x.re.of(1);
  Mask real = x.im == 0.0, noBase = (x.re == 0.0) & real,
       noExponent = (y.re == 0.0) & (y.im == 0.0);
  Num none =
      functions::choose((y.re > 0.0) & !isNan(y.im), zero, x.re.of(kNan));
  result = choose(noBase, Complex{none, none}, result);
  Num limit = functions::choose(y.re > 0.0, x.re.of(kInfinity), zero);
  result = choose((x.re == kInfinity) & real & (y.im == 0.0) & !isNan(y.re),
                  Complex{limit, zero}, result);
  return choose(noExponent | ((x.re == 1.0) & real), Complex{one, zero},
                result);
}

/// x^y = exp(y log x).
static Complex power(Complex x, Complex y) {
  Complex logX = logarithm(x);
  Complex product = {difference(y.re, logX.re, y.im, logX.im),
                     difference(y.re, logX.im, -y.im, logX.re)};
  return withLimits(x, y, exponentialOf(product));
}

/// log z, to about 2^-100.
static ComplexPair logarithmFull(Complex z) {
  Num most = functions::larger(functions::abs(z.re), functions::abs(z.im));
  Mask large = most > 0x1p500, small = most < 0x1p-400;
  Scaled s = scaled(z);
  Pair more = {most.of(0x1.9fe3682cd3be4p+8), most.of(0x1.4aa84b6b3b125p-46)};
  more = functions::choose(large, more,
                           functions::choose(small, -more, pairOf(most.of(0))));
  Pair re = scale(logFull(squaredLength(s.z)), 0.5) + more;
  // What the angle lacks is the angle of z turned back by it.
  Num angle = atan2(z.im, z.re);
  Angle phase = angleFull(pairOf(angle));
  Pair across = phase.cosine * s.z.im - phase.sine * s.z.re;
  Pair along = phase.cosine * s.z.re + phase.sine * s.z.im;
  return {re, pairOf(angle) + across / along};
}

/// The same with twice the digits, which a large exponent takes from the
/// logarithm.
static Complex fullPower(Complex x, Complex y) {
  ComplexPair logX = logarithmFull(x);
  Pair re = logX.re * y.re - logX.im * y.im,
       im = logX.re * y.im + logX.im * y.re;
  Mask inside =
      (functions::abs(re.hi) < 1400.0) & (functions::abs(im.hi) < 0x1p20);
  Pair none = pairOf(re.hi.of(0));
  // Sums of two numbers have no infinities: what overflows is NaN in them.
  Complex plain = {difference(y.re, logX.re.hi, y.im, logX.im.hi),
                   difference(y.re, logX.im.hi, -y.im, logX.re.hi)};
  Complex far =
      exponentialOf({functions::choose(isNan(re.hi), plain.re, re.hi),
                     functions::choose(isNan(im.hi), plain.im, im.hi)});
  Exponential e = exponential(functions::choose(inside, re, none));
  Angle angle = angleFull(functions::choose(inside, im, none));
  Pair size = e.less + re.hi.of(1);
  Bits n = e.n - e.n.of(0x4338000000000000);
  Complex near =
      timesPower({sumOf(size * angle.cosine), sumOf(size * angle.sine)}, n);
  return withLimits(x, y, choose(inside, near, far));
}

//===----------------------------------------------------------------------===//
// By the type of elements
//===----------------------------------------------------------------------===//

static Num part(ScalarBuilder &b, Value value, bool real) {
  Type type = cast<ComplexType>(value.getType()).getElementType();
  return {&b, real ? complex::ReOp::create(b, type, value).getResult()
                   : complex::ImOp::create(b, type, value).getResult()};
}
static Complex partsOf(ScalarBuilder &b, Value value) {
  return {part(b, value, true), part(b, value, false)};
}
static Value valueOf(ScalarBuilder &b, Complex x) {
  return complex::CreateOp::create(b, ComplexType::get(x.re.v.getType()),
                                   x.re.v, x.im.v);
}
static bool isBrief(Value value) {
  return cast<ComplexType>(value.getType()).getElementType().isF32();
}
static Complex widened(Complex x, bool brief) {
  return brief ? Complex{widen(x.re), widen(x.im)} : x;
}
static Complex narrowed(Complex x, bool brief) {
  return brief ? Complex{narrow(x.re), narrow(x.im)} : x;
}

template <typename Fn>
static Value unary(ScalarBuilder &b, ValueRange args, Fn fn) {
  bool brief = isBrief(args[0]);
  BriefScope scope(b, brief);
  return valueOf(b, narrowed(fn(widened(partsOf(b, args[0]), brief)), brief));
}
template <typename Fn>
static Value binary(ScalarBuilder &b, ValueRange args, Fn fn) {
  bool brief = isBrief(args[0]);
  BriefScope scope(b, brief);
  Complex x = widened(partsOf(b, args[0]), brief),
          y = widened(partsOf(b, args[1]), brief);
  return valueOf(b, narrowed(fn(x, y), brief));
}

#define UNARY(name, function)                                                  \
  Value shardc::lowering::name(ScalarBuilder &b, ValueRange args) {            \
    return unary(b, args, function);                                           \
  }
UNARY(complexExp, exponentialOf)
UNARY(complexLog, logarithm)
UNARY(complexLog1p, logarithm1p)
UNARY(complexSine, [](Complex z) { return byI(hyperbolicSine(timesI(z))); })
UNARY(complexCosine, [](Complex z) { return hyperbolicCosine(timesI(z)); })
UNARY(complexTan, [](Complex z) { return byI(hyperbolicTangent(timesI(z))); })
UNARY(complexSinh, hyperbolicSine)
UNARY(complexCosh, hyperbolicCosine)
UNARY(complexTanh, hyperbolicTangent)
UNARY(complexAsin, arcSine)
UNARY(complexAcos, arcCosine)
UNARY(complexAtan,
      [](Complex z) { return byI(arcHyperbolicTangent(timesI(z))); })
UNARY(complexAsinh, [](Complex z) { return byI(arcSine(timesI(z))); })
UNARY(complexAcosh, arcHyperbolicCosine)
UNARY(complexAtanh, arcHyperbolicTangent)
UNARY(complexSign, signOf)
#undef UNARY

Value shardc::lowering::complexSqrt(ScalarBuilder &b, ValueRange args) {
  bool brief = isBrief(args[0]);
  return unary(b, args, [brief](Complex z) {
    return brief ? briefSquareRoot(z) : squareRoot(z);
  });
}
Value shardc::lowering::complexRsqrt(ScalarBuilder &b, ValueRange args) {
  return unary(b, args,
               isBrief(args[0]) ? briefReciprocalRoot : reciprocalRoot);
}

Value shardc::lowering::complexExpm1(ScalarBuilder &b, ValueRange args) {
  return unary(b, args,
               isBrief(args[0]) ? exponentialLess1 : exponentialLess1Full);
}
Value shardc::lowering::complexLogistic(ScalarBuilder &b, ValueRange args) {
  return unary(b, args, isBrief(args[0]) ? logisticOf : logisticFull);
}

Value shardc::lowering::complexAbs(ScalarBuilder &b, ValueRange args) {
  bool brief = isBrief(args[0]);
  BriefScope scope(b, brief);
  Complex z = widened(partsOf(b, args[0]), brief);
  if (!brief)
    return modulus(z).v;
  Num length = functions::sqrt(fma(z.re, z.re, z.im * z.im));
  return narrow(functions::choose(isInfinite(z.re) | isInfinite(z.im),
                                  kInfinity, length))
      .v;
}

Value shardc::lowering::complexMultiply(ScalarBuilder &b, ValueRange args) {
  bool brief = isBrief(args[0]);
  return binary(b, args, [brief](Complex x, Complex y) {
    // Products of f32 are exact in f64, and none overflows.
    return brief ? Complex{fma(x.re, y.re, -(x.im * y.im)),
                           fma(x.re, y.im, x.im * y.re)}
                 : multiply(x, y);
  });
}
Value shardc::lowering::complexMultiplyPlainly(ScalarBuilder &b,
                                               ValueRange args) {
  Complex x = partsOf(b, args[0]), y = partsOf(b, args[1]);
  return valueOf(b, {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re});
}
Value shardc::lowering::complexMultiplyOn(ScalarBuilder &b, Value product,
                                          Value element) {
  Complex x = partsOf(b, product), y = partsOf(b, element);
  // Which two are fused is what XLA's code for CPUs does: the same bits.
  return valueOf(
      b, {fma(x.re, y.re, -(x.im * y.im)), fma(x.im, y.re, x.re * y.im)});
}
Value shardc::lowering::complexDivide(ScalarBuilder &b, ValueRange args) {
  bool brief = isBrief(args[0]);
  return binary(
      b, args, [brief](Complex x, Complex y) { return quotient(x, y, brief); });
}
Value shardc::lowering::complexPower(ScalarBuilder &b, ValueRange args) {
  return binary(b, args, isBrief(args[0]) ? power : fullPower);
}

/// The power of 1/3, which lies on the side of z.
Value shardc::lowering::complexCbrt(ScalarBuilder &b, ValueRange args) {
  auto raise = isBrief(args[0]) ? power : fullPower;
  return unary(b, args, [raise](Complex z) {
    return raise(z, {z.re.of(1.0 / 3), z.re.of(0)});
  });
}
/// -i log((x + iy) / sqrt(x^2 + y^2)).
Value shardc::lowering::complexAtan2(ScalarBuilder &b, ValueRange args) {
  bool brief = isBrief(args[0]);
  return binary(b, args, [brief](Complex y, Complex x) {
    Complex xx = multiply(x, x), yy = multiply(y, y);
    Complex length = squareRoot({xx.re + yy.re, xx.im + yy.im});
    Complex point = {x.re - y.im, x.im + y.re};
    return byI(logarithm(quotient(point, length, brief)));
  });
}

Value shardc::lowering::complexAdd(ScalarBuilder &b, ValueRange args) {
  Complex x = partsOf(b, args[0]), y = partsOf(b, args[1]);
  return valueOf(b, {x.re + y.re, x.im + y.im});
}
Value shardc::lowering::complexSubtract(ScalarBuilder &b, ValueRange args) {
  Complex x = partsOf(b, args[0]), y = partsOf(b, args[1]);
  return valueOf(b, {x.re - y.re, x.im - y.im});
}
Value shardc::lowering::complexNegate(ScalarBuilder &b, ValueRange args) {
  Complex x = partsOf(b, args[0]);
  return valueOf(b, {-x.re, -x.im});
}
Value shardc::lowering::complexConjugate(ScalarBuilder &b, ValueRange args) {
  Complex x = partsOf(b, args[0]);
  return valueOf(b, {x.re, -x.im});
}
