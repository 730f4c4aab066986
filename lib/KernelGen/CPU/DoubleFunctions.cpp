//===- DoubleFunctions.cpp - Functions of f64 -----------------------------===//
//
// What libm does not round to one unit in the last place, and what is made of
// it: exp and log as pairs of f64, about twelve bits better than one, then
// arithmetic on pairs (T. Dekker, "A floating-point technique for extending the
// available precision", 1971). exp, log, pow, sin, cos, tan, asin, acos, atan
// and atan2 stay calls of libm, which are right to less than a unit.
//
//===----------------------------------------------------------------------===//
#include "FunctionTable.h"
#include "shardc/Support/PairFunctions.h"

using namespace mlir;

namespace shardc::functions {

static Num expm1Double(Num x) {
  Num bounded = clamp(x, -50, 711);
  Exponential e = exponential(pairOf(bounded));
  // By halves: 2^1024 is too large.
  Num power = powerOfTwo(e.n - 1, x);
  Pair base = exactSum(power, x.of(-0.5));
  Num far = sumOf(base + times(e.less, power)) * 2.0;
  return copySign(
      choose(abs(x) < 0.34, sumOf(e.less), choose(x > 710.0, kInfinity, far)),
      x);
}

static Num sinhDouble(Num x) {
  Num square = x * x;
  Num p = polynomial(square, {0x1.5555555555555p-3, 0x1.1111111111197p-7,
                              0x1.a01a01a0067d5p-13, 0x1.71de3a6c7a026p-19,
                              0x1.ae64377a1131cp-26, 0x1.613d304ea2016p-33,
                              0x1.972733a2df28fp-41, 0x1.b07fa10e091e6p-46,
                              -0x1.46a71ce2b1317p-48});
  Num near = fma(x * square, p, x);
  Num a = abs(x);
  Pair half = expPair(pairOf(smaller(a, a.of(712))), -1);
  Num far = half.hi + (half.lo - 0.25 / half.hi);
  far = choose(half.hi == kInfinity, half.hi, far);
  return copySign(choose(a < 1.0, near, far), x);
}

static Num coshDouble(Num x) {
  Num a = abs(x);
  Pair half = expPair(pairOf(smaller(a, a.of(712))), -1);
  Num other = 0.25 / half.hi;
  Pair sum = fastSum(half.hi, other);
  return choose(half.hi == kInfinity, half.hi, sum.hi + (sum.lo + half.lo));
}

static Num tanhDouble(Num x) {
  Num square = x * x;
  Num p = polynomial(square, {-0x1.5555555555555p-2, 0x1.1111111111060p-3,
                              -0x1.ba1ba1ba0a41dp-5, 0x1.664f487ba6544p-6,
                              -0x1.226e33a50e474p-7, 0x1.d6d3496441366p-9,
                              -0x1.7d95dfd120763p-10, 0x1.3477c997e06c4p-11,
                              -0x1.e327a3e2a6226p-13, 0x1.26b85d391b7e6p-14});
  Num near = fma(x * square, p, x);
  Num a = abs(x);
  Pair below = expPair(pairOf(smaller(a, a.of(22)) * 2.0)) + x.of(1);
  Pair quotient = pairOf(x.of(2)) / below;
  Num far = sumOf(-quotient + x.of(1));
  return copySign(choose(a < 0.35, near, far), x);
}

Num logisticDouble(Num x) {
  // Below -700 e^x itself: 1 + e^-x would overflow.
  Num a = clamp(x, -745.2, 745.2);
  Mask low = x < -700.0;
  Pair e = expPair(pairOf(choose(low, a, -a)));
  Pair quotient = pairOf(x.of(1)) / (e + x.of(1));
  return choose(low, sumOf(e), sumOf(quotient));
}

//===----------------------------------------------------------------------===//
// log
//===----------------------------------------------------------------------===//

static Num logLimits(Num x, Num value) {
  Num limit = choose(x == 0.0, -kInfinity, x.of(kNan));
  return choose(x == kInfinity, x, choose(x > 0.0, value, limit));
}

static Num log1pDouble(Num x) {
  Pair sum = exactSum(x.of(1), x);
  return choose(abs(x) < 0x1p-54, x, logLimits(sum.hi, sumOf(logPair(sum))));
}

static Num asinhDouble(Num x) {
  Num a = abs(x), bounded = smaller(a, a.of(0x1p30));
  Pair root = sqrt(exactProduct(bounded, bounded) + x.of(1));
  Mask large = a > 0x1p30;
  Pair near = root + bounded;
  Pair argument = {choose(large, a, near.hi), choose(large, 0.0, near.lo)};
  Pair log = logPair(argument);
  Num value = choose(large, sumOf(log + ln2(x)), sumOf(log));
  value = choose(a < 0x1p-28, a, choose(a < kInfinity, value, a));
  return copySign(value, x);
}

static Num acoshDouble(Num x) {
  Num bounded = smaller(x, x.of(0x1p30));
  Pair root = sqrt(exactProduct(bounded, bounded) + x.of(-1));
  Mask large = x > 0x1p30;
  Pair near = root + bounded;
  Pair argument = {choose(large, x, near.hi), choose(large, 0.0, near.lo)};
  Pair log = logPair(argument);
  Num value = choose(large, sumOf(log + ln2(x)), sumOf(log));
  value = choose(x == 1.0, 0.0, choose(x == kInfinity, x, value));
  return choose(x >= 1.0, value, kNan);
}

static Num atanhDouble(Num x) {
  Num a = abs(x);
  Num value =
      sumOf(logPair(exactSum(x.of(1), a) / exactSum(x.of(1), -a))) * 0.5;
  value = choose(a < 0x1p-28, a, choose(a == 1.0, kInfinity, value));
  return choose(a <= 1.0, copySign(value, x), kNan);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

static Num cbrtDouble(Num x) {
  // One step of Newton's method with the exact residue, among normal numbers.
  Num a = abs(x);
  Mask small = a < 0x1p-900, large = a > 0x1p900;
  Num scaled = choose(small, x * 0x1p300, choose(large, x * 0x1p-300, x));
  Num y = numOp<math::CbrtOp>(scaled);
  Pair square = exactProduct(y, y);
  Num cube = square.hi * y, lost = fma(square.hi, y, -cube);
  Num rest = (scaled - cube) - fma(square.lo, y, lost);
  Num better = y + rest / (square.hi * 3.0);
  Num value =
      choose(small, better * 0x1p-100, choose(large, better * 0x1p100, better));
  return choose((a > 0.0) & (a < kInfinity), value, x);
}

static Num rsqrtDouble(Num x) {
  Mask small = x < 0x1p-900;
  Num scaled = choose(small, x * 0x1p200, x);
  Num root = sqrt(scaled), y = 1.0 / root;
  // What the root and the quotient have lost.
  Num lost = fma(-root, root, scaled) * y;
  Num rest = fma(-y, root, x.of(1));
  Num better = fma(y, fma(lost * y, -0.5, rest), y);
  Num value = choose((y < kInfinity) & (y > 0.0), better, y);
  return choose(small, value * 0x1p100, value);
}

//===----------------------------------------------------------------------===//
// erf
//===----------------------------------------------------------------------===//

/// erfc of 0 to 27.5, times 2^100, so that it is a normal number: exp(-a^2)
/// times a fit of exp(a^2) erfc(a) (1 + 2a) in t = (a - 4) / (a + 4), whose
/// leading coefficients are pairs. After M. Shepherd, J. Laframboise (1981).
static Pair erfcPair(Num a) {
  static constexpr double leading[][2] = {
      {0x1.3ba5916e9fd7fp+0, -0x1.abc69566ae489p-55},
      {-0x1.1df1ad154a28fp-3, 0x1.61e2df4538e1fp-57},
      {0x1.f7f5df66fd7ddp-7, 0x1.56204a6fcd945p-61},
      {0x1.16ecefcfa53fep-4, -0x1.f6df0e41d65d3p-59},
      {-0x1.9ddb23c3e920ap-4, 0x1.dfe60d8568cd4p-59},
      {0x1.7fee004e1141ap-4, -0x1.fb8559350e155p-59},
      {-0x1.0fb06dfe47343p-4, 0x1.fa99766697406p-59},
      {0x1.3079edf6acf15p-5, 0x1.d7435cbd14016p-59}};
  Num t = (a - 4.0) / (a + 4.0);
  Pair quotient = exactSum(a, a.of(-4)) / exactSum(a, a.of(4));
  Num tail = polynomial(
      t, {-0x1.096238858621dp-6, 0x1.49c67277859fep-8, -0x1.8d4a9972b5aeep-11,
          -0x1.a1df18d801509p-13, 0x1.3be0342679596p-13, -0x1.995b07b93b826p-16,
          -0x1.7882e45f2a9c9p-17, 0x1.7f3dc844834c2p-18, 0x1.3927eff82535ap-22,
          -0x1.bc605572dab31p-21, 0x1.4ae8f0f53c4d2p-24, 0x1.e661598721943p-24,
          -0x1.489b20cb2218dp-26, -0x1.1d24f3de40302p-26, 0x1.d2d16d26cb648p-30,
          0x1.213f07f3054b1p-29, 0x1.3f804c212d3f0p-32});
  Pair sum = pairOf(tail);
  for (const double *c : llvm::reverse(ArrayRef(leading)))
    sum = sum * quotient + Pair{a.of(c[0]), a.of(c[1])};
  Pair square = exactProduct(a, a);
  return sum / exactSum(a.of(1), a * 2.0) * expPair(-square, 100);
}

static Num erfDouble(Num x) {
  Num a = abs(x), square = x * x;
  Num p = polynomial(square, {-0x1.812746b0379e7p-2, 0x1.ce2f21a042c2dp-4,
                              -0x1.b82ce3128ae15p-6, 0x1.565bcd0ef0cc7p-8,
                              -0x1.c02db42733c38p-11, 0x1.f9a32e378a8efp-14,
                              -0x1.f4d341438813cp-17, 0x1.b9f9c8e80076bp-20,
                              -0x1.607f7523984b6p-23, 0x1.07aec11fdf7a8p-26,
                              -0x1.af7e30ae16dd7p-30, 0x1.8c1c79bf4290fp-33});
  // 2 / sqrt(pi) in two parts; scaled, so that a subnormal product is rounded
  // once.
  Num wide = x * 0x1p60;
  Pair first = exactProduct(wide, x.of(0x1.20dd750429b6dp+0));
  Num low = fma(wide, 0x1.1ae3a914fed80p-56, first.lo);
  Num near = (first.hi + fma(wide * square, p, low)) * 0x1p-60;
  Num far =
      sumOf(-times(erfcPair(smaller(a, a.of(6.5))), x.of(0x1p-100)) + x.of(1));
  return copySign(choose(a < 0.75, near, far), x);
}

static Num erfcDouble(Num x) {
  Num a = abs(x), back = x.of(0x1p-100);
  Pair value = erfcPair(smaller(a, a.of(27.5)));
  Num mirrored = sumOf(-times(value, back) + x.of(2));
  return choose(x < 0.0, mirrored, sumOf(value) * back);
}

const llvm::StringMap<Unary> &doubleFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"math.expm1", expm1Double}, {"math.log1p", log1pDouble},
      {"math.tanh", tanhDouble},   {"math.sinh", sinhDouble},
      {"math.cosh", coshDouble},   {"math.asinh", asinhDouble},
      {"math.acosh", acoshDouble}, {"math.atanh", atanhDouble},
      {"math.cbrt", cbrtDouble},   {"math.rsqrt", rsqrtDouble},
      {"math.erf", erfDouble},     {"math.erfc", erfcDouble},
  };
  return table;
}

} // namespace shardc::functions
