//===- DoubleFunctions.cpp - Functions of f64 -----------------------------===//
//
// exp, log, sin and cos as polynomials, compensated where one rounding too many
// would show; what needs more: exp and log as pairs of f64, about twelve bits
// better than one, then arithmetic on pairs (T. Dekker, "A floating-point
// technique for extending the available precision", 1971).
//
//===----------------------------------------------------------------------===//
#include "FunctionTable.h"
#include "shardc/Support/PairFunctions.h"

using namespace mlir;

namespace shardc::functions {

/// The first terms, which are most of it, by Horner's rule.
static Num longPolynomial(Num x, ArrayRef<double> first,
                          ArrayRef<double> others) {
  Num sum = pairwise(x, others);
  for (double c : llvm::reverse(first))
    sum = fma(sum, x, x.of(c));
  return sum;
}

/// (e^r - 1 - r) / r^2.
static constexpr double kExpTail[] = {
    0x1.000000000000cp-1,  0x1.555555555555cp-3,  0x1.555555554fdccp-5,
    0x1.111111110e9dap-7,  0x1.6c16c1861b12fp-10, 0x1.a01a01b458651p-13,
    0x1.a0199576e19bep-16, 0x1.71ddee36ab7bep-19, 0x1.28b13edf45491p-22,
    0x1.af6ef608cc80cp-26};
static Num expTail(Num r) { return inPairs(r, kExpTail); }

static Num expDouble(Num x) {
  Num bounded = clamp(x, -746, 711);
  Num shifted = fma(bounded, 0x1.71547652b82fep+0, x.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num first = fma(n, -kLn2High, bounded), r = fma(n, -kLn2Low, first);
  Num lost = fma(n, -kLn2Low, first - r);
  Num p = (r + fma(r * r, expTail(r), lost)) + 1.0;
  // In two steps: 2^n may be below the normal numbers, or above.
  Bits exponent = shifted.bits(), half = exponent >> 1;
  return p * powerOfTwo(half, x) * powerOfTwo(exponent - half, x);
}

static Num expm1Double(Num x) {
  Num bounded = clamp(x, -50, 710);
  Num shifted = fma(bounded, 0x1.71547652b82fep+0, x.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num first = fma(n, -kLn2High, bounded), r = fma(n, -kLn2Low, first);
  Num low = fma(n, -kLn2Low, first - r);
  // The largest terms are added with what is lost.
  Num square = r * r, squareLost = fma(r, r, -square);
  Num third = square * r *
              polynomial(r, {0x1.555555555555cp-3, 0x1.5555555555558p-5,
                             0x1.111111110e9dap-7, 0x1.6c16c16c14ffdp-10,
                             0x1.a01a01b458651p-13, 0x1.a01a01ad7f2e2p-16,
                             0x1.71ddee36ab7bep-19, 0x1.27e4cc0ebc01bp-22,
                             0x1.af6ef608cc80cp-26, 0x1.1f8be3d209434p-29});
  // By halves: 2^1024 is too large.
  Num power = powerOfTwo(shifted.bits() - 1, x);
  Pair base = exactSum(power, x.of(-0.5)), sum = fastSum(base.hi, power * r),
       second = fastSum(sum.hi, power * 0.5 * square);
  Num rest = fma(power, fma(squareLost, 0.5, low + third), base.lo);
  Num value = (second.hi + (second.lo + (sum.lo + rest))) * 2.0;
  return copySign(choose(abs(x) < 0x1p-60, x, value), x);
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

/// ((r - (1 - e^-2r) / 2) / r^2 - 1) / r, for |r| up to ln 2 / 4.
static constexpr double kTanhTail[] = {
    -0x1.5555555555558p-1,  0x1.5555555555557p-2,  -0x1.111111110faacp-3,
    0x1.6c16c16c1578ap-5,   -0x1.a01a01ae76f39p-7, 0x1.a01a01ab0c876p-9,
    -0x1.71ddfba6f4f37p-11, 0x1.27e4d158e5e44p-13, -0x1.af59536544bb1p-16,
    0x1.1f83bb9735af2p-18};

static Num tanhDouble(Num x) {
  // N / (1 - N), N = (1 - exp(-2 a)) / 2. N is kept with what its roundings
  // lose; so no other formula is needed near zero. a = n ln 2 / 2 + r.
  Num a = abs(x), bounded = smaller(a, a.of(22));
  Num shifted = fma(bounded, 0x1.71547652b82fep+1, x.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num most = fma(n, -kLn2High / 2, bounded), less = n * (-kLn2Low / 2);
  Num r = most + less;
  // r^2 + r^3 tail, as r times a sum that is rounded once.
  Num curve = fma(r * r, inPairs(r, kTanhTail), r);
  // N = (1 - 2^-n) / 2 + 2^-n (r - r curve). The first part is exact up to
  // n = 53; beyond that it is one half, and 2^-n / 2 is missing.
  less = choose(n > 53.0, less - 0.5, less);
  Num power = asFloat(x.of(1).bits() - (shifted.bits() << 52), x);
  Num base = fma(power, -0.5, x.of(0.5)), sum = fma(power, most, base);
  Num lost = fma(power, fma(-r, curve, less), fma(power, most, base - sum));
  Num numerator = sum + lost, inverse = 1.0 / (1.0 - numerator);
  Num quotient = numerator * inverse;
  // sum and the quotient are within a factor of two: their difference is exact.
  Num rest = fma(quotient, sum, sum - quotient) + fma(quotient, lost, lost);
  return copySign(fma(rest, inverse, quotient), x);
}

Num logisticDouble(Num x) {
  auto common = [](Num x) {
    Num shifted = fma(x, -0x1.71547652b82fep+0, x.of(kPairRounder));
    Num n = shifted - kPairRounder;
    Num first = fma(n, -kLn2High, -x), r = fma(n, -kLn2Low, first);
    Num w = r + fma(r * r, expTail(r), fma(n, -kLn2Low, first - r));
    Num power = powerOfTwo(shifted.bits(), x);
    // e^-x and 1 + e^-x, with what their roundings lose.
    Num e = fma(power, w, power), lost = fma(power, w, power - e);
    Num one = x.of(1);
    Pair sum = fastSum(larger(one, e), smaller(one, e));
    Num y = 1.0 / sum.hi;
    Num rest = fma(-y, sum.lo + lost, fma(-y, sum.hi, one));
    return fma(rest, y, y);
  };
  auto rare = [](Num x) {
    // Below -700 e^x itself: 1 + e^-x would overflow.
    Num a = clamp(x, -745.2, 745.2);
    Mask low = x < -700.0;
    Pair e = expPair(pairOf(choose(low, a, -a)));
    Pair quotient = pairOf(x.of(1)) / (e + x.of(1));
    return choose(low, sumOf(e), sumOf(quotient));
  };
  return mostly(x, abs(x) < 700.0, common, rare);
}

//===----------------------------------------------------------------------===//
// log
//===----------------------------------------------------------------------===//

/// n ln 2 + log(1 + f) + extra, for an f between sqrt(1/2) - 1 and sqrt(2) - 1;
/// after FreeBSD's.
static Num logOfParts(Num n, Num f, Num extra) {
  Num s = f / (f + 2.0), square = s * s;
  Num p = polynomial(square, {0x1.5555555555593p-1, 0x1.999999997fa04p-2,
                              0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
                              0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3,
                              0x1.2f112df3e5244p-3});
  // The first part of ln 2 has 33 bits.
  Num half = f * f * 0.5;
  Num low = fma(s, fma(square, p, half), extra) - half;
  Pair sum = fastSum(n * 0x1.62e42feep-1, f);
  return sum.hi + (sum.lo + low);
}
static constexpr double kLogLow = 0x1.a39ef35793c76p-33;

/// A positive normal number is 2^n (1 + f).
struct Mantissa {
  Num n, f;
};
static Mantissa mantissaOf(Num x, double exponentShift) {
  Bits shifted = x.bits() - 0x3FE6A09E667F3BCD;
  Num n = asFloat((shifted >> 52) + 0x4338000000000000, x) -
          (kPairRounder - exponentShift);
  return {n, asFloat((shifted & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD, x) -
                 1.0};
}

static Num logOf(Num x, double exponentShift) {
  auto [n, f] = mantissaOf(x, exponentShift);
  return logOfParts(n, f, n * kLogLow);
}

static Num logDouble(Num x) {
  auto common = [](Num x) { return logOf(x, 0); };
  auto rare = [](Num x) { return logLimits(x, logOf(x * 0x1p54, -54)); };
  return mostly(x, (x >= 0x1p-1022) & (x < kInfinity), common, rare);
}

static Num log1pDouble(Num x) {
  // Near zero f is x itself; elsewhere what 1 + x has lost is so small that a
  // quotient of f32 is enough.
  Pair sum = fastSum(x.of(1), x);
  auto [n, f] = mantissaOf(sum.hi, 0);
  Mask near = n == 0.0;
  Num lost = sum.lo * widen(1.0 / narrow(sum.hi));
  Num extra = fma(n, kLogLow, choose(near, 0.0, lost));
  Num value = logOfParts(n, choose(near, x, f), extra);
  return copySign(logLimits(sum.hi, value), x);
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

/// log of a positive normal number to some 66 bits: that of a power is as many
/// times as wrong as its exponent is large.
static Pair logForPower(Num n, Num f) {
  Pair below = fastSum(f.of(2), f);
  Num inverse = 1.0 / below.hi, s = f * inverse;
  Num lost = fma(-s, below.lo, fma(-s, below.hi, f)) * inverse;
  // 2 s + s^3 (2/3 + s^2 ...), the cube and the factor as pairs.
  Num square = s * s;
  Num squareLost = fma(s * 2.0, lost, fma(s, s, -square));
  Num tail = pairwise(square, {0x1.999999999999ap-2, 0x1.24924924922fep-2,
                               0x1.c71c71c74c701p-3, 0x1.745d173cee23ap-3,
                               0x1.3b13a9c6e2886p-3, 0x1.1115522b5786ap-3,
                               0x1.e01936bae0cf5p-4, 0x1.daa7bec5936bap-4});
  Pair factor = fastSum(f.of(0x1.5555555555555p-1), tail * square);
  factor.lo = factor.lo + 0x1.5555555555555p-55;
  Num cube = square * s;
  Num cubeLost = fma(square, s, -cube) + fma(square, lost, squareLost * s);
  Num product = cube * factor.hi;
  Num productLost = fma(cube, factor.hi, -product) +
                    fma(cube, factor.lo, cubeLost * factor.hi);
  Pair sum = fastSum(s * 2.0, product);
  Num low = sum.lo + fma(lost, 2.0, productLost);
  Pair all = fastSum(n * kLn2High, sum.hi);
  return fastSum(all.hi, all.lo + fma(n, kLn2Low, low));
}

Num powerDouble(Num x, Num y) {
  Num a = abs(x);
  auto [n, f] = mantissaOf(a, 0);
  Pair log = logForPower(n, f);
  Num product = log.hi * y, lost = fma(log.lo, y, fma(log.hi, y, -product));
  // Of normal numbers alone. A comparison with NaN does not hold.
  Mask inside = (a >= 0x1p-1022) & (a < kInfinity) & (abs(product) < 700.0);
  auto common = [&](Num) {
    Num shifted = fma(product, 0x1.71547652b82fep+0, x.of(kPairRounder));
    Num n = shifted - kPairRounder;
    Num first = fma(n, -kLn2High, product), low = fma(n, -kLn2Low, lost);
    Pair r = fastSum(first, low);
    Pair sum = fastSum(x.of(1), r.hi);
    Num rest = fma(r.hi * r.hi, pairwise(r.hi, kExpTail), r.lo);
    return (sum.hi + (sum.lo + rest)) * powerOfTwo(shifted.bits(), x);
  };
  auto rare = [&](Num a) {
    Num inner{a.b, y.v};
    // Of a subnormal number by that of a normal one; 54 of its exponent are
    // taken back.
    Mask small = a < 0x1p-1022;
    auto [n, f] = mantissaOf(choose(small, a * 0x1p54, a), 0);
    Pair log = logForPower(choose(small, n - 54.0, n), f);
    Num limit = logLimits(a, log.hi);
    Pair product = log * inner;
    // Beyond these limits digits do not matter.
    Num all =
        choose((limit == 0.0) & (abs(inner) == kInfinity), 0.0, limit * inner);
    Mask inside = (abs(all) < 800.0) & (abs(inner) < kInfinity);
    Num value =
        sumOf(expPair({choose(inside, product.hi, clamp(all, -800, 800)),
                       choose(inside, product.lo, 0.0)}));
    value = choose(all > 709.8, kInfinity, choose(all < -745.2, 0.0, value));
    return choose(isNan(all), all, value);
  };
  Num value = mostly(a, inside, common, rare);
  Num half = y * 0.5;
  Mask whole = floor(y) == y;
  Mask odd = whole & compare(arith::CmpFPredicate::UNE, floor(half), half);
  value = choose(odd, copySign(value, x), value);
  value = choose((x < 0.0) & (x > -kInfinity), choose(whole, value, x.of(kNan)),
                 value);
  return choose((x == 1.0) | (y == 0.0), 1.0, value);
}

//===----------------------------------------------------------------------===//
// Sines
//===----------------------------------------------------------------------===//

/// Up to here three parts of pi / 2 are enough for what is left, however
/// little.
static constexpr double kMostReduced = 0x1p20;

/// x less n pi / 2; `less` is what r has too much.
struct Angle {
  Num r, less;
  Bits quadrant;
};
static Angle angleOf(Num x) {
  Num shifted = fma(x, 0x1.45f306dc9c883p-1, x.of(kPairRounder));
  Num n = shifted - kPairRounder;
  // The second part has so few bits that what r lacks is exact. In this order a
  // negative zero stays one.
  Num first = fma(n, -0x1.921fb54442d18p+0, x),
      r = fma(n, -0x1.1a6263p-54, first);
  Num less = fma(n, 0x1.8a2e03707344ap-81, fma(n, 0x1.1a6263p-54, r - first));
  return {r, less, shifted.bits()};
}

/// (r - sin r) / r^3 and (1 - r^2 / 2 - cos r) / r^4. Source: FreeBSD.
static constexpr double kSine[] = {
    0x1.5555555555549p-3,   -0x1.111111110f8a6p-7, 0x1.a01a019c161d5p-13,
    -0x1.71de357b1fe7dp-19, 0x1.ae5e68a2b9cebp-26, -0x1.5d93a5acfd57cp-33};
static constexpr double kCosine[] = {
    -0x1.555555555554cp-5, 0x1.6c16c16c15177p-10,  -0x1.a01a019cb1590p-16,
    0x1.27e4f809c52adp-22, -0x1.1ee9ebdb4b1c4p-29, 0x1.8fae9be8838d4p-37};

template <typename MathOp> static Num sineOrCosine(Num x) {
  constexpr bool cosine = std::is_same_v<MathOp, math::CosOp>;
  auto common = [](Num x) {
    auto [r, less, quarters] = angleOf(x);
    Bits quadrant = cosine ? quarters + 1 : quarters;
    Num square = r * r;
    Mask odd = isSet(quadrant, 1);
    // r - (r^3 s + less), or 1 - r^2 / 2 - (r^4 c - r less), the first
    // difference with what it loses.
    Num most = fma(square, -0.5, x.of(1)), lost = fma(square, 0.5, most - 1.0);
    Num squareLost = fma(r, r, -square);
    lost = fma(squareLost, 0.5, lost);
    Num p = eitherPolynomial(odd, square, kCosine, kSine);
    Num rest = choose(odd, fma(-r, less, lost), less);
    Num chosen =
        choose(odd, most, r) - fma(square * choose(odd, square, r), p, rest);
    Bits sign = (quadrant << 62) & std::numeric_limits<int64_t>::min();
    return asFloat(bitsOp<arith::XOrIOp>(chosen.bits(), sign), x);
  };
  return mostly(x, abs(x) <= kMostReduced, common, libraryCall<MathOp>);
}

static Num sinDouble(Num x) { return sineOrCosine<math::SinOp>(x); }
static Num cosDouble(Num x) { return sineOrCosine<math::CosOp>(x); }

static Num tanDouble(Num x) {
  auto common = [](Num x) {
    auto [r, less, quadrant] = angleOf(x);
    Num square = r * r, squareLost = fma(r, r, -square);
    // Sine and cosine of r - less, as pairs.
    Num most = fma(square, -0.5, x.of(1)), lost = fma(square, 0.5, most - 1.0);
    lost = fma(squareLost, 0.5, lost);
    Num s = fma(square * r, polynomial(square, kSine),
                fma(square * -0.5, less, less));
    Num c =
        fma(square * square, polynomial(square, kCosine), fma(-r, less, lost));
    Pair sine = fastSum(r, -s), cosine = fastSum(most, -c);
    Mask odd = isSet(quadrant, 1);
    Pair value = choose(odd, -cosine, sine) / choose(odd, sine, cosine);
    return choose(x == 0.0, x, sumOf(value));
  };
  return mostly(x, abs(x) <= kMostReduced, common, libraryCall<math::TanOp>);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

Num cbrtWide(Num x) {
  // A third of the upper half of the bits, and two of Halley's steps.
  Num a = abs(x);
  Num high = asFloat((a.bits() >> 32) + 0x4330000000000000, x) - 0x1p52;
  Num third = fma(high, 0x1.5555555555555p-2, x.of(kPairRounder));
  Num y = asFloat((third.bits() + 0x2A9F7893) << 32, x);
  for ([[maybe_unused]] int step : {0, 1}) {
    Num cube = y * y * y;
    y = fma(y, (a - cube) / fma(cube, 2.0, a), y);
  }
  return copySign(y, x);
}

static Num cbrtDouble(Num x) {
  // One step of Newton's method with the exact residue, among normal numbers.
  Num a = abs(x);
  Mask small = a < 0x1p-900, large = a > 0x1p900;
  Num scaled = choose(small, x * 0x1p300, choose(large, x * 0x1p-300, x));
  Num y = cbrtWide(scaled);
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

/// erfc of 0 to 27.5: exp(-a^2) v p, v = 1 / (2 + a), p a fit in v of
/// exp(a^2) erfc(a) / v. What roundings of the factors lose is carried along,
/// as in f32.
static Num erfcOf(Num a) {
  Num square = a * a, squareLost = fma(a, a, -square);
  Num below = a + 2.0, belowLost = a - (below - 2.0);
  Num v = 1.0 / below;
  Num vLost = v * fma(-v, belowLost, fma(-v, below, a.of(1)));
  Num m = v - 0.25, mLost = (v - (m + 0.25)) + vLost;
  // p = first + m second + m^2 (...).
  constexpr double first = 0x1.058671b52c776p+0,
                   firstLost = -0x1.3a92bbd4daadp-56,
                   second = 0x1.5fd386754eff9p+1;
  Num q = polynomial(
      m,
      {0x1.1e2deea6b1175p+2,   0x1.2a88e6107d45fp+1,   -0x1.606e41552a513p+2,
       -0x1.a89eaff857effp+2,  0x1.9517bb7138aafp+3,   0x1.b6fbf98b708f8p+3,
       -0x1.5ba4388415206p+5,  -0x1.205404e43fa4ap+3,  0x1.2efa32ea8a8a5p+7,
       -0x1.1e76d068c5bdfp+7,  -0x1.6c0330261d95dp+8,  0x1.0e7d20113518cp+10,
       -0x1.2d90eb86b6c03p+8,  -0x1.e9bb22f93dd43p+11, 0x1.0c15f8392011ep+13,
       0x1.445860f3aaaf1p+7,   -0x1.2fa53d40d43a0p+15, 0x1.48cfd6989906ep+16,
       -0x1.ce7cb1ed979d1p+12, -0x1.85803f16308e2p+18, 0x1.ec0c20af02aebp+19,
       -0x1.0ed900b70b827p+18, -0x1.1c3cde7a258cep+22, 0x1.395df4ae1a956p+23,
       0x1.d5ca88a81cdc1p+20,  -0x1.0112d554f9155p+25, 0x1.0607f752c819ap+25});
  Num squared = m * m, rest = squared * q;
  Num restLost = fma(fma(m, m, -squared), q, fma(squared, q, -rest));
  Num sum = fma(m, second, rest),
      sumLost = (fma(m, second, -sum) + rest) + (restLost + firstLost);
  Num p = sum + first;
  Num slope = polynomial(m, {2.767, 8.285, 4.633});
  Num pLost = fma(mLost, slope, ((first - p) + sum) + sumLost);
  Num high = p * v;
  Num low = fma(pLost, v, fma(p, vLost, fma(p, v, -high)));
  // exp: 1 + r + w.
  Num shifted = fma(square, -0x1.71547652b82fep+0, a.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num most = fma(n, -kLn2High, -square),
      less = fma(n, a.of(-kLn2Low), -squareLost);
  Num r = most + less;
  Num w = fma(r * r, expTail(r), (most - r) + less);
  Num product = fma(high, r, high), lost = fma(high, r, high - product);
  Num value = product + (lost + fma(high, w, fma(low, r, low)));
  // 2^n may be below the normal numbers.
  return value * powerOfTwo(shifted.bits() + 600, a) * 0x1p-600;
}

/// erfc of 0.9375 to 6 to as many digits as its difference from one has:
/// exp(-a^2) v p, v = 1 / (2.5 + a), p a fit in v.
static Pair erfcBeside1(Num a) {
  Num square = a * a, squareLost = fma(a, a, -square);
  Num below = a + 2.5, belowLost = a - (below - 2.5);
  Num v = 1.0 / below, m = v - 0x1.a2p-3;
  Num p = longPolynomial(m, {0x1.121b16efb139ap+0, 0x1.078402c99f8c6p+2},
                         {0x1.739de1be995d2p+3, 0x1.5b154641ee93bp+4,
                          0x1.12b4ee95afd9bp+4, -0x1.c116913f66ac0p+4,
                          -0x1.28b7d44459a96p+6, 0x1.59d97707c2baap+5,
                          0x1.0d9861584af32p+8, -0x1.39e818028d7a6p+7,
                          -0x1.1414e149fda2ep+10, 0x1.ca111a89790adp+10});
  // What the quotient has lost, as a part of it: where that matters v p changes
  // 2.25 times as much.
  Num lost = fma(-v, belowLost, fma(-v, below, a.of(1)));
  Num high = p * v, low = fma(high, lost * 2.25, fma(p, v, -high));
  Num shifted = fma(square, -0x1.71547652b82fep+0, a.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num r = fma(n, -kLn2Low, fma(n, -kLn2High, -square)) - squareLost;
  Num w = fma(r * r, pairwise(r, kExpTail), r);
  return times(fastSum(high, fma(high, w, low)), powerOfTwo(shifted.bits(), a));
}

static Num erfDouble(Num x) {
  Num a = abs(x), square = x * x, squareLost = fma(x, x, -square);
  Num p = longPolynomial(
      square, {-0x1.812746b0379e7p-2, 0x1.ce2f21a042c12p-4},
      {-0x1.b82ce3128999fp-6, 0x1.565bcd0e8dd53p-8, -0x1.c02db406da1d3p-11,
       0x1.f9a327c30d5bcp-14, -0x1.f4d26c1d31008p-17, 0x1.b9e79de9ff210p-20,
       -0x1.5f7b338dd41b9p-23, 0x1.fd051010fa136p-27, -0x1.51dcb528f6213p-30,
       0x1.91cb9c860fa4dp-34, -0x1.56942109573e3p-38});
  Num factor = square * p,
      factorLost = fma(squareLost, p, fma(square, p, -factor));
  // 2 / sqrt(pi) in two parts; scaled, so that a subnormal product is rounded
  // once.
  Num wide = x * 0x1p60;
  Pair first = exactProduct(wide, x.of(0x1.20dd750429b6dp+0));
  Num low = fma(wide, factorLost + 0x1.1ae3a914fed80p-56, first.lo);
  Num near = (first.hi + fma(wide, factor, low)) * 0x1p-60;
  Pair rest = erfcBeside1(clamp(a, 0.9375, 6)),
       sum = fastSum(x.of(1), -rest.hi);
  Num far = sum.hi + (sum.lo - rest.lo);
  return copySign(choose(a < 0.9375, near, far), x);
}

static Num erfcDouble(Num x) {
  Num value = erfcOf(smaller(abs(x), x.of(27.5)));
  return choose(x < 0.0, 2.0 - value, value);
}

const llvm::StringMap<Unary> &doubleFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", expDouble},     {"math.log", logDouble},
      {"math.sin", sinDouble},     {"math.cos", cosDouble},
      {"math.tan", tanDouble},     {"math.expm1", expm1Double},
      {"math.log1p", log1pDouble}, {"math.tanh", tanhDouble},
      {"math.sinh", sinhDouble},   {"math.cosh", coshDouble},
      {"math.asinh", asinhDouble}, {"math.acosh", acoshDouble},
      {"math.atanh", atanhDouble}, {"math.cbrt", cbrtDouble},
      {"math.rsqrt", rsqrtDouble}, {"math.erf", erfDouble},
      {"math.erfc", erfcDouble},
  };
  return table;
}

} // namespace shardc::functions
