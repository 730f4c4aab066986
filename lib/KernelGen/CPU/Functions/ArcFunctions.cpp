//===- ArcFunctions.cpp - Inverse trigonometric functions -----------------===//
//
// One formula for f32 and for f64, each in its own arithmetic. An angle is a
// multiple of pi / 8 or none, and what is left of it: a polynomial of a
// quotient or a root below one half. What the roundings of that have lost is
// made good by its residue, which one fused operation gives exactly.
//
//===----------------------------------------------------------------------===//
#include "FunctionTable.h"
#include <cmath>

using namespace mlir;

namespace shardc::functions {

namespace {
/// What differs between f32 and f64.
struct Digits {
  /// (atan t / t - 1) / t^2 by t^2 up to 0.1716, (asin t / t - 1) / t^2 up to
  /// 0.25.
  ArrayRef<double> atan, asin;
  /// pi / 4 in two parts: up to four times the first is exact.
  double quarterHigh, quarterLow;
  /// Where products and residues are normal numbers, however they are divided.
  double least, most;
  /// Powers of two: of a number below the first as many more, and where its
  /// exponent is moved to.
  double small;
  int64_t more, exponent;
  int64_t mantissa, bias;
};
} // namespace

static const Digits &digitsOf(Num x) {
  static constexpr double atan32[] = {-0x1.555548p-2, 0x1.999128p-3,
                                      -0x1.23ae5ap-3, 0x1.b194ecp-4,
                                      -0x1.f062aep-5};
  static constexpr double asin32[] = {0x1.55554cp-3, 0x1.33389ap-4,
                                      0x1.6caba0p-5, 0x1.04a60cp-5,
                                      0x1.d82adcp-7, 0x1.339b94p-5};
  static constexpr double atan64[] = {
      -0x1.5555555555554p-2, 0x1.99999999995bcp-3,  -0x1.2492492471fb3p-3,
      0x1.c71c71b5e75aep-4,  -0x1.745d148f016b4p-4, 0x1.3b136ae1cc8b7p-4,
      -0x1.110c478ab4619p-4, 0x1.e16f050dbdfeep-5,  -0x1.ab6c0b3eb306fp-5,
      0x1.70ac22b3f75eap-5,  -0x1.11ab92fd47ef9p-5, 0x1.efd749fcbb810p-7};
  static constexpr double asin64[] = {
      0x1.5555555555577p-3, 0x1.333333332e1d7p-4, 0x1.6db6db72067c3p-5,
      0x1.f1c71a9a612bcp-6, 0x1.6e8bde357e3ffp-6, 0x1.1c49fd309612cp-6,
      0x1.ca1e4bde65f16p-7, 0x1.759020e3f57d1p-7, 0x1.60fff6c6f49f2p-7,
      0x1.e995aa7ea282cp-9, 0x1.627f8e45fcf05p-6, -0x1.5667f5d274d99p-6,
      0x1.0ac783d4e1577p-5};
  static const Digits single = {atan32,
                                asin32,
                                0x1.921fb0p-1,
                                0x1.51110cp-23,
                                0x1p-90,
                                0x1p100,
                                0x1p-60,
                                80,
                                50,
                                23,
                                127},
                      full = {atan64,
                              asin64,
                              0x1.921fb54442d18p-1,
                              0x1.1a62633145c07p-55,
                              0x1p-900,
                              0x1p900,
                              0x1p-400,
                              600,
                              500,
                              52,
                              1023};
  return x.isDouble() ? full : single;
}

//===----------------------------------------------------------------------===//
// Arc tangents
//===----------------------------------------------------------------------===//

/// As many eighths of a circle, and the arc tangent of `top` / `bottom`, a
/// quotient within tan(pi / 8); none or one that is less than the eighths.
static Num sumOfArcs(Num eighths, Pair top, Pair bottom) {
  const Digits &digits = digitsOf(eighths);
  Num inverse = 1.0 / bottom.hi, t = top.hi * inverse;
  Num rest = fma(-t, bottom.hi, top.hi) + fma(-t, bottom.lo, top.lo);
  Num square = t * t;
  Num tail = fma(square * t, polynomial(square, digits.atan), rest * inverse);
  Pair sum = fastSum(eighths * digits.quarterHigh, t);
  return sum.hi + (sum.lo + fma(eighths, digits.quarterLow, tail));
}

static constexpr double kTangent = 0.41421356; // of pi / 8

static Num arcTangent(Num x) {
  // More makes no difference.
  Num a = abs(x), one = x.of(1), zero = x.of(0);
  a = smaller(a, x.of(0x1p60));
  Mask middle = a > kTangent, steep = a > 1 / kTangent;
  // atan a, pi / 4 + atan((a - 1) / (a + 1)), pi / 2 - atan(1 / a).
  Num less = a - 1.0, lessLost = a - (less + 1.0);
  Pair more = fastSum(one, a);
  Pair top = {choose(steep, -1.0, choose(middle, less, a)),
              choose(steep, 0.0, choose(middle, lessLost, zero))};
  Pair bottom = {choose(steep, a, choose(middle, more.hi, one)),
                 choose(steep, 0.0, choose(middle, more.lo, zero))};
  Num eighths = choose(steep, 2.0, choose(middle, one, zero));
  return copySign(sumOfArcs(eighths, top, bottom), x);
}

/// The angle of (wide, tall), neither negative and both far from the limits;
/// from the left axis if `left`.
static Num angleOf(Num tall, Num wide, Mask left) {
  Mask steep = tall > wide;
  Num least = smaller(tall, wide), most = larger(tall, wide);
  Num one = tall.of(1), zero = tall.of(0);
  Mask diagonal = least > most * kTangent;
  Pair less = fastSum(-most, least), more = fastSum(most, least);
  Pair bottom = {choose(diagonal, more.hi, most),
                 choose(diagonal, more.lo, zero)};
  Num start = choose(steep, 2.0, choose(left, 4.0, zero));
  // From which axis, and which way.
  Num way =
      choose(Mask{steep.b, arith::XOrIOp::create(*steep.b, steep.v, left.v)},
             -1.0, one);
  Pair top = {choose(diagonal, less.hi, least) * way,
              choose(diagonal, less.lo, zero) * way};
  return sumOfArcs(start + choose(diagonal, way, zero), top, bottom);
}

Num angle(Num y, Num x) {
  const Digits &digits = digitsOf(x);
  Num tall = abs(y), wide = abs(x);
  // Not of NaN.
  Mask inside = (tall > digits.least) & (tall < digits.most) &
                (wide > digits.least) & (wide < digits.most);
  auto common = [&](Num tall) {
    return copySign(angleOf(tall, wide, x < 0.0), y);
  };
  auto rare = [&](Num tall) {
    ImplicitLocOpBuilder &b = *tall.b;
    Num inner{&b, x.v}, innerY{&b, y.v}, across{&b, wide.v};
    Num one = tall.of(1), zero = tall.of(0);
    // Two infinities are as one and one, an infinity is as one and zero.
    Mask infinite = larger(tall, across) == kInfinity;
    Num up = choose(infinite, choose(tall == kInfinity, one, zero), tall);
    across = choose(infinite, choose(across == kInfinity, one, zero), across);
    // The axis itself where both are zero.
    across = choose((up == 0.0) & (across == 0.0), one, across);
    // The larger one to the middle of the exponents.
    Mask small = larger(up, across) < digits.small;
    double more = std::ldexp(1.0, static_cast<int>(digits.more));
    up = choose(small, up * more, up);
    across = choose(small, across * more, across);
    Bits exponent = larger(up, across).bits() >> digits.mantissa;
    Num scale =
        asFloat((exponent.of(2 * digits.bias + digits.exponent) - exponent)
                    << digits.mantissa,
                tall);
    Mask left = copySign(one, inner) < 0.0;
    Num value = copySign(angleOf(up * scale, across * scale, left), innerY);
    return choose(isNan(inner) | isNan(innerY), inner + innerY, value);
  };
  return mostly(tall, inside, common, rare);
}

//===----------------------------------------------------------------------===//
// Arc sines
//===----------------------------------------------------------------------===//

/// 1 / x to some digits, for an x from 2^-100 to 1.
static Num briefInverse(Num x) {
  return x.isDouble() ? widen(1.0 / narrow(x)) : 1.0 / x;
}

namespace {
/// asin t of t = |x|, or of the root of (1 - |x|) / 2: t + t more, with what t
/// has lost.
struct ArcSine {
  Mask small;
  Num t, lost, more;
};
} // namespace

static ArcSine arcSineOf(Num x) {
  Num a = abs(x);
  Mask small = a <= 0.5;
  Num half = (1.0 - a) * 0.5, root = sqrt(half);
  Num lost =
      fma(-root, root, half) * briefInverse(larger(root * 2.0, x.of(0x1p-60)));
  Num square = choose(small, a * a, half);
  Num p = polynomial(square, digitsOf(x).asin);
  return {small, choose(small, a, root), choose(small, 0.0, lost), square * p};
}

static Num arcSine(Num x) {
  // asin a, or pi / 2 - 2 asin t.
  auto [small, t, lost, more] = arcSineOf(x);
  const Digits &digits = digitsOf(x);
  Num zero = x.of(0), times = choose(small, 1.0, x.of(-2));
  Num low = choose(small, zero, x.of(2 * digits.quarterLow));
  Pair sum =
      fastSum(choose(small, zero, x.of(2 * digits.quarterHigh)), t * times);
  Num rest = fma(times, fma(t, more, lost), low);
  return copySign(sum.hi + (sum.lo + rest), x);
}

static Num arcCosine(Num x) {
  // pi / 2 - asin x, 2 asin t, or pi - 2 asin t.
  auto [small, t, lost, more] = arcSineOf(x);
  const Digits &digits = digitsOf(x);
  Mask left = x < 0.0;
  Num eighths = choose(small, 2.0, choose(left, 4.0, x.of(0)));
  Num times = choose(small, -1.0, x.of(2));
  times = choose(left, choose(small, 1.0, x.of(-2)), times);
  Pair sum = fastSum(eighths * digits.quarterHigh, t * times);
  Num rest = fma(times, fma(t, more, lost), eighths * digits.quarterLow);
  return sum.hi + (sum.lo + rest);
}

const llvm::StringMap<Unary> &arcFunctions() {
  static const llvm::StringMap<Unary> table = {{"math.atan", arcTangent},
                                               {"math.asin", arcSine},
                                               {"math.acos", arcCosine}};
  return table;
}

} // namespace shardc::functions
