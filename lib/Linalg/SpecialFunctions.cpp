//===- SpecialFunctions.cpp - Special functions of f64 --------------------===//
//
// lgamma, digamma, polygamma, zeta and the Bessel function i1e, right to one
// unit in the last place of an f64: near their zeros too, where they are what
// is left of larger numbers, and so computed with twice the digits. Fits are at
// Chebyshev nodes. What only an f32 is asked of is in ChloToMath.cpp.
//
//===----------------------------------------------------------------------===//
#include "SpecialFunctions.h"

#include "shardc/Support/FullPairs.h"

using namespace mlir;
using namespace shardc::functions;

static Mask operator!(Mask x) {
  Value yes = arith::ConstantOp::create(*x.b, x.b->getBoolAttr(true));
  return {x.b, arith::XOrIOp::create(*x.b, x.v, yes)};
}
static Pair constant(Num like, double hi, double lo) {
  return {like.of(hi), like.of(lo)};
}
static Mask isWhole(Num x) { return floor(x) == x; }
static Pair reciprocal(Num x) {
  Num y = 1.0 / x;
  return {y, fma(-y, x, x.of(1)) * y};
}

//===----------------------------------------------------------------------===//
// Gamma functions
//===----------------------------------------------------------------------===//

/// Up to here arguments are moved to where the fit is, one by one.
static constexpr int kMostSteps = 20, kMostTerms = 16;

/// sum over k >= 1 of B_2k / (2k (2k - 1) x^(2k - 1)), for x >= 16.
static Num stirlingTail(Num x) {
  static constexpr double kStirling[][2] = {
      {0x1.5555555555555p-4, 0x1.5555555555555p-58},
  };
  static constexpr double kStirlingTail[] = {
      -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,  -0x1.3813813813814p-11,
      0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8,
      -0x1.e4286cb0f5398p-6, 0x1.6fe96381e068p-3,    -0x1.6476701181f3ap+0,
      0x1.ace44322ce006p+3,
  };
  Num inverse = 1.0 / x;
  return inverse * fma(inverse * inverse,
                       polynomial(inverse * inverse, kStirlingTail),
                       x.of(kStirling[0][0]));
}

/// log gamma of x >= 16, divided by 2^60 where x > 2^60.
static Pair logGammaFar(Pair x) {
  Mask large = x.hi > 0x1p60;
  Pair log = logPair(x);
  Pair scaled = times(x, choose(large, 0x1p-60, x.hi.of(1)));
  Pair value = (log + x.hi.of(-1)) * scaled;
  Pair rest = constant(x.hi, 0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55) +
              stirlingTail(x.hi) - scale(log, 0.5);
  // x (log x - 1) - log(x) / 2 + log(2 pi) / 2 + ...
  rest = choose(large, pairOf(x.hi.of(0)), rest);
  return value + rest;
}

static Num lgammaFull(Num x) {
  static constexpr double kGamma[][2] = {
      {0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58},
      {0x1.4a34cc4a60fa6p-2, 0x1.1873d8912200cp-56},
      {-0x1.13e001a557607p-4, 0x1.fb68be2f88227p-58},
      {0x1.51322ac7d8483p-6, 0x1.afc89088cb6b8p-60},
      {-0x1.e404fc218f5f2p-8, 0x1.e4a627cf0f0a8p-62},
      {0x1.7add6eadb6c3p-9, -0x1.5b7828c777dfp-64},
      {-0x1.38ac5c2bf8e08p-10, 0x1.8a4c1d5a98a7ep-65},
      {0x1.0b36af86396e9p-11, -0x1.0698d75d00dd2p-65},
      {-0x1.d3fd4c76d2fc8p-13, 0x1.c7c4396ab39e5p-68},
      {0x1.a127b0f17d65ap-14, 0x1.9d338f8926f69p-69},
      {-0x1.78de5bd7c81efp-15, 0x1.a66014106039dp-72},
      {0x1.580dcee66eb02p-16, 0x1.239bd09bbdcdap-71},
      {-0x1.3cbc963ce2243p-17, 0x1.91eb77580ffd1p-71},
      {0x1.2597a39f34aacp-18, -0x1.12de7a96dc3f5p-72},
      {-0x1.11b2eb7679537p-19, -0x1.1ac119f8965fbp-73},
      {0x1.0064cdeb22efep-20, -0x1.6082e9edabc3dp-76},
      {-0x1.e2600d93d038dp-22, 0x1.efa117a0e1475p-78},
      {0x1.c76bbb3f08493p-23, -0x1.cdf3e15761c09p-77},
      {-0x1.af5a6cbbe00ddp-24, -0x1.663768ebb177p-78},
  };
  static constexpr double kGammaTail[] = {
      0x1.99b93c204bdedp-25,  -0x1.862c735275fa9p-26, 0x1.7469dad34cce1p-27,
      -0x1.6434a7a294af8p-28, 0x1.555a86a9a3ab6p-29,  -0x1.47b17905cd0bp-30,
      0x1.3b15e8a8d0dfcp-31,  -0x1.2f683917a502dp-32, 0x1.24916ea137acfp-33,
      -0x1.1a933e3c2d9fap-34, 0x1.112c14c8234d5p-35,  -0x1.072f81ad595e8p-36,
      0x1.fd9d3e9358329p-38,  -0x1.016342b658db1p-38, 0x1.f588baf3ab71bp-40,
      -0x1.6bcc4e62a425ep-41, 0x1.5a8a9d229e3d9p-42,  -0x1.8a3ea58a801cap-42,
      0x1.860e0fb1da3f3p-43,
  };
  Num a = abs(x);
  // x = 2 + u + m: log gamma(2 + u), and the log of a product of |m| factors.
  Num whole = floor(x + 0.5), u = x - whole;
  Mask near = (x < double(kMostSteps)) & (x > -double(kMostSteps));
  u = choose(near, u, 0.0);
  Num m = whole - 2.0, count = abs(m);
  Mask down = m > 0.0;
  Pair product = pairOf(x.of(1));
  for (int j = 0; j < kMostSteps + 2; ++j) {
    Num step = choose(down, x.of(-1 - j), x.of(j));
    // Exact in one number but for the first, near zero.
    Pair longer = j < 3 ? product * exactSum(x, step) : product * (x + step);
    product = choose((count > double(j)) & near, longer, product);
  }
  Mask negative = product.hi < 0.0;
  product = choose(negative, -product, product);
  Pair base = fullPolynomial(pairOf(u), kGamma, kGammaTail) * u;
  Pair log = logFull(product);
  Num value = sumOf(choose(down, base + log, base - log));
  // Far from zero: Stirling's series; of 1 - x below zero, where
  // log |sin(pi x)| is small beside it.
  Mask left = x < 0.0;
  Pair argument = exactSum(x.of(1), a);
  argument = choose(left, argument, pairOf(x));
  argument = choose(near, constant(x, 32, 0), argument);
  Mask large = argument.hi > 0x1p60;
  Pair far = logGammaFar(argument);
  Num part = a - floor(a), edge = smaller(part, 1.0 - part);
  Num sine = numOp<math::SinOp>(edge * 0x1.921fb54442d18p+1);
  Pair mirror = constant(x, 0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57) -
                logPair(pairOf(choose(sine > 0.0, sine, 1.0)));
  far = choose(left, choose(large, -far, mirror - far), far);
  Num distant = sumOf(far) * choose(large, 0x1p60, x.of(1));
  value = choose(near, value, distant);
  Mask pole = (x <= 0.0) & isWhole(x);
  value = choose(pole | (a == kInfinity), kInfinity, value);
  return choose(isNan(x), x, value);
}

static Num digammaFull(Num x) {
  static constexpr double kDigamma[][2] = {
      {0x1.e6f0cbb873616p-1, 0x1.8f70c7a125e6bp-55},
      {-0x1.b1cb63005ee96p-3, -0x1.e2f0bc60e2286p-57},
      {0x1.eca189b8e6f6bp-5, -0x1.73c52f85a8fabp-60},
      {-0x1.2feeeb98a7e09p-6, -0x1.aca61107cb87ap-60},
      {0x1.8512e59039712p-8, 0x1.8db4e2907c695p-62},
      {-0x1.fb4420299e362p-10, -0x1.fb165be8b1b51p-64},
      {0x1.4de9aa1721472p-11, 0x1.bf0b79f01e817p-65},
      {-0x1.b9f8b14d8c0a2p-13, -0x1.d9edf2009a7d8p-67},
      {0x1.25647199a0c8fp-14, -0x1.b02b5921b5c7ap-68},
      {-0x1.863559b4ae892p-16, 0x1.cd160892db6d3p-70},
      {0x1.03c0a6da8fb98p-17, 0x1.6ce020492b3d1p-71},
      {-0x1.5a07f0401a99cp-19, -0x1.151ad03a68ea2p-74},
      {0x1.cd21c9d22f75p-21, 0x1.9133e52a8111dp-78},
      {-0x1.3353243d429e5p-22, 0x1.37765840abc1fp-77},
      {0x1.99b07d8b9a51p-24, 0x1.d406e8c61c58p-79},
      {-0x1.1118780a80112p-25, 0x1.d12c56acdca03p-80},
      {0x1.6c1a59d0b4f3ap-27, -0x1.b1075d4a2ddeap-82},
      {-0x1.e57374828bdc6p-29, 0x1.320237a2e9862p-85},
      {0x1.43a04cdf64c74p-30, 0x1.89f93668a31d3p-86},
      {-0x1.af7ecc9806c58p-32, 0x1.0b3a4aef9e76p-88},
  };
  static constexpr double kDigammaTail[] = {
      0x1.1fa939d8c7469p-33,  -0x1.7f8bc8b0151e4p-35, 0x1.ff64a1eb08ac3p-37,
      -0x1.54edb21d941e6p-38, 0x1.c6922eb92fa45p-40,  -0x1.2f0a76a6ede3ap-41,
      0x1.940d3f6d21e83p-43,  -0x1.0d71790bd77cep-44, 0x1.67486b739aebep-46,
      -0x1.dda0b747e89efp-48, 0x1.3e3a98deac349p-49,  -0x1.b2897a7445f78p-51,
      0x1.22c303b95e8d8p-52,  -0x1.4bdf4f21f7b7fp-54, 0x1.b1b4380ad314fp-56,
      -0x1.ff402abab47cbp-57, 0x1.613a15772fee6p-58,  0x1.12b090ea58d53p-61,
      -0x1.c3fffd55d0aep-63,  -0x1.b4ee5e8441423p-62, 0x1.2bdcb3f2ef35cp-63,
  };
  static constexpr double kDigammaFar[][2] = {
      {0x1.5555555555555p-4, 0x1.5555555555555p-58},
      {-0x1.1111111111111p-7, -0x1.1111111111111p-63},
      {0x1.041041041041p-8, 0x1.041041041041p-62},
      {-0x1.1111111111111p-8, -0x1.1111111111111p-64},
      {0x1.f07c1f07c1f08p-8, -0x1.f07c1f07c1f08p-63},
      {-0x1.5995995995996p-6, 0x1.9a99a99a99a9ap-60},
      {0x1.5555555555555p-4, 0x1.5555555555555p-58},
  };
  static constexpr double kDigammaFarTail[] = {
      -0x1.c5e5e5e5e5e5ep-2,  0x1.86e7f9b9fe6e8p+1,   -0x1.a74ca514ca515p+4,
      0x1.1975cc0ed7304p+8,   -0x1.c2f0566566566p+11, 0x1.ac572aaaaaaabp+15,
      -0x1.dc0b1a5cfbe16p+19, 0x1.31fad7cbf3cp+24,    -0x1.c280563b8bcbdp+28,
      0x1.7892edfdf5555p+33,  -0x1.62b8b44651d09p+38,
  };
  Mask near = (x < double(kMostTerms)) & (x > -double(kMostTerms));
  // x = 1 + v + m, v of [0, 1): the function there is (x - zero) times a fit.
  Num bounded = choose(near, x, 1.0), whole = floor(bounded), m = whole - 1.0;
  Pair v = exactSum(bounded, -whole);
  Pair fit = fullPolynomial(scale(v, 2.0) + x.of(-1), kDigamma, kDigammaTail);
  Pair apart = (v + x.of(1)) + x.of(-0x1.762d86356be3fp+0);
  apart = apart + constant(x, -0x1.b86a722197829p-54, -0x1.e0d62a6be90c7p-109);
  Pair value = fit * apart;
  Num count = abs(m);
  Mask down = m > 0.0;
  Pair sum = pairOf(x.of(0)), one = pairOf(x.of(1));
  for (int j = 0; j < kMostTerms + 1; ++j) {
    Num step = choose(down, x.of(-1 - j), x.of(j));
    Mask counts = count > double(j);
    // Exact in one number but for the first, near zero.
    Pair term = j < 3 ? one / choose(counts, exactSum(bounded, step), one)
                      : reciprocal(choose(counts, bounded + step, 1.0));
    sum = choose(counts, sum + term, sum);
  }
  Num close = sumOf(choose(down, value + sum, value - sum));
  // Asymptotic series of x, or of 1 - x less pi cot(pi x).
  Mask left = x < 0.0;
  Pair argument = choose(left, exactSum(x.of(1), -x), pairOf(x));
  argument = choose(near, constant(x, 32, 0), argument);
  Mask huge = argument.hi > 0x1p300;
  Num moderate = choose(huge, 0x1p300, argument.hi);
  Pair inverse = one / Pair{moderate, choose(huge, 0.0, argument.lo)};
  Pair square = inverse * inverse;
  Pair far = logFull(argument) - scale(inverse, 0.5) -
             square * fullPolynomial(square, kDigammaFar, kDigammaFarTail);
  Num part = choose(near, 0.25, x - floor(x + 0.5));
  Angle angle = angleFull(
      constant(x, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53) * part);
  Pair cotangent = angle.cosine / choose(part == 0.0, one, angle.sine);
  cotangent =
      cotangent * constant(x, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
  Num distant = sumOf(choose(left, far - cotangent, far));
  Num result = choose(near, close, distant);
  // Near zero -1 / x, which may be too large.
  result = choose(abs(x) < 0x1p-900, -1.0 / x, result);
  Mask pole = (x <= 0.0) & isWhole(x);
  result = choose(x == kInfinity, x, choose(pole, kNan, result));
  return choose(isNan(x), x, result);
}

//===----------------------------------------------------------------------===//
// Zeta functions
//===----------------------------------------------------------------------===//

/// zeta(s, q) / |q|^-s, and the log of what it is divided by, for s > 1: some
/// terms, then the Euler-Maclaurin remainder.
struct Zeta {
  Pair sum, log;
};
static Zeta zetaParts(Num s, Num q) {
  constexpr int terms = 8;
  static constexpr double kEulerAll[] = {
      0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,
      -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
      0x1.d6db2c4e09162p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
      -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5cp-63};
  Pair first = logFull(pairOf(abs(q)));
  // An odd power of a negative number is negative.
  Num half = s * 0.5;
  Mask odd = isWhole(s) & !isWhole(half);
  auto ratio = [&](int k) {
    Pair above = exactSum(q, q.of(k));
    Mask isNegative = above.hi < 0.0;
    Pair log = logPair(choose(isNegative, -above, above));
    Pair exponent = (first - log) * s;
    exponent.hi = clamp(exponent.hi, -1000, 700);
    exponent.lo = choose(abs(exponent.hi) < 700.0, exponent.lo, 0.0);
    Pair power = expPair(exponent);
    power = choose(exponent.hi < -700.0, pairOf(q.of(0)), power);
    return choose(isNegative & odd, -power, power);
  };
  Pair sum = choose((q < 0.0) & odd, pairOf(q.of(-1)), pairOf(q.of(1)));
  for (int k = 1; k < terms; ++k)
    sum = sum + ratio(k);
  Pair power = ratio(terms), a = exactSum(q, q.of(terms));
  Pair remainder = a / exactSum(s, s.of(-1)) + q.of(0.5);
  // B_2k / (2k)! s (s + 1) ... (s + 2k - 2) a^(1 - 2k)
  Num inverse = 1.0 / a.hi, factor = s * inverse, corrections = q.of(0);
  for (int k = 0; k < 12; ++k) {
    corrections = fma(factor, kEulerAll[k], corrections);
    double n = 2 * k + 1;
    factor = factor * ((s + n) * inverse) * ((s + (n + 1)) * inverse);
  }
  remainder = remainder + corrections;
  Pair last = power * remainder;
  last = choose(power.hi == 0.0, pairOf(q.of(0)), last);
  return {sum + last, first * -s};
}

/// value e^log: scaled once, so that a subnormal number is rounded once.
static Num timesExp(Pair value, Pair log) {
  Num bounded = clamp(log.hi, -1500, 1500);
  Exponential e =
      exponential({bounded, choose(bounded == log.hi, log.lo, 0.0)});
  Num product = sumOf(value * (e.less + log.hi.of(1)));
  // In four steps: 2^n may be far below or above.
  Bits n = e.n - 0x4338000000000000, quarter = n >> 2;
  Num step = powerOfTwo(quarter, product);
  Num last = powerOfTwo(n - quarter - quarter - quarter, product);
  return product * step * step * step * last;
}

static Num zetaLimits(Num s, Num q, Num value) {
  Mask below = q <= 0.0;
  value = choose(below & isWhole(q), kInfinity, value);
  value = choose(below & !isWhole(s), kNan, value);
  value = choose(s == 1.0, kInfinity, value);
  value =
      choose((s < 1.0) | (abs(q) == kInfinity) | (s == kInfinity), kNan, value);
  return choose(isNan(s) | isNan(q), kNan, value);
}

static Num zetaFull(Num s, Num q) {
  Zeta z = zetaParts(s, q);
  return zetaLimits(s, q, timesExp(z.sum, z.log));
}

/// (-1)^(n + 1) n! zeta(n + 1, x); digamma for n = 0.
static Num polygammaFull(Num n, Num x) {
  Num order = n + 1.0;
  Zeta z = zetaParts(order, x);
  // n!: exact below 16, else by its log.
  Num factorial = n.of(1);
  for (int j = 2; j <= 15; ++j)
    factorial =
        choose((n >= double(j)) & (n < 16.0), factorial * double(j), factorial);
  Mask large = n >= 16.0;
  Pair log = logGammaFar(pairOf(choose(large, order, 16.0)));
  Num size =
      timesExp(z.sum * factorial, z.log + choose(large, log, pairOf(n.of(0))));
  size = zetaLimits(order, x, size);
  Num half = n * 0.5;
  Num value = choose(isWhole(half), -size, size);
  value = choose(x == kInfinity, 0.0, value);
  value = choose(n == 0.0, digammaFull(x), value);
  Mask wrong = (n < 0.0) | !isWhole(n) | (n == kInfinity);
  return choose(wrong | isNan(n) | isNan(x), kNan, value);
}

//===----------------------------------------------------------------------===//
// Bessel function
//===----------------------------------------------------------------------===//

/// exp(-|x|) I1(x): a / (1 + a) times a fit up to 8, then 1 / sqrt(a) times one
/// in 1 / a.
static Num besselI1eFull(Num x) {
  static constexpr double kBesselNear[][2] = {
      {0x1.c99a2671f47dfp-3, -0x1.f89192b0a6fbdp-58},
      {-0x1.03d4dd52b7f5ep-3, 0x1.e88b270a9815cp-57},
      {0x1.885bc61f8424cp-4, -0x1.0b321b7c9c4bdp-58},
      {-0x1.1f77d2a926916p-4, -0x1.df9f918d474a9p-60},
      {0x1.6fdff3f0214ccp-5, -0x1.7fd09412a7d29p-61},
      {-0x1.5d7af14097c27p-6, 0x1.4e7575253f4c4p-60},
      {0x1.274446e5f450ep-9, 0x1.247955590a286p-63},
      {0x1.52dee5d12aa8bp-7, 0x1.17d8872b70635p-61},
      {-0x1.0a53d38428bfcp-6, -0x1.20678a65b2828p-60},
      {0x1.14af663017305p-6, 0x1.73d85d9a7f8afp-60},
      {-0x1.d6b9edf3661c1p-7, 0x1.26e2a3c0c4044p-61},
      {0x1.5d67cf3896e36p-7, 0x1.9d5d8ba8673a6p-62},
      {-0x1.d1ecee76546d8p-8, 0x1.56dea4d8dfd4cp-64},
  };
  static constexpr double kBesselNearTail[] = {
      0x1.1baf1c85292bcp-8,   -0x1.3ee3d4a4decf3p-9,  0x1.4d7e4ab6c55d8p-10,
      -0x1.466b4cbf3fe7bp-11, 0x1.2c787e3ac534ep-12,  -0x1.0529c2568fa2cp-13,
      0x1.ae277464adb37p-15,  -0x1.50a549b2d25bep-16, 0x1.f610753e236abp-18,
      -0x1.658d6942c8b0ap-19, 0x1.e7672e42441d6p-21,  -0x1.3e8bfb735dd66p-22,
      0x1.8ff435e50ee53p-24,  -0x1.e31fe9d51926ep-26, 0x1.1923b704c3aa1p-27,
      -0x1.3bb07926c83eap-29, 0x1.5680400d0f1d4p-31,  -0x1.674e4cdc47314p-33,
      0x1.6c35e60e02766p-35,  -0x1.669d1b01172abp-37, 0x1.5cd15ecabb02ep-39,
      -0x1.43068ea2a3aa8p-41, 0x1.fc97b210a2d47p-44,  -0x1.c0f62dfedc192p-46,
      0x1.425d5873c34fdp-47,  -0x1.092a2afa4889bp-49,
  };
  static constexpr double kBesselFar[][2] = {
      {0x1.8ebe783a8403p-2, -0x1.464deb4720fb5p-58},
      {-0x1.3f796198ee63fp-7, -0x1.35def34899ccep-62},
      {-0x1.cbc54df1edd0fp-13, -0x1.195566db0f4dap-67},
      {-0x1.f89c230411424p-17, 0x1.2547de28e7b11p-71},
      {-0x1.ec8e0fe7786bp-20, 0x1.437360bb3a3c4p-74},
      {-0x1.761387dfe62b5p-22, -0x1.647a93b478979p-79},
      {-0x1.ad8e1484d54eap-24, 0x1.122d708e5092ap-79},
      {-0x1.7275eddcf78cdp-25, 0x1.c2ba451922c6p-79},
      {-0x1.916b76b2c5b82p-26, -0x1.6164950249406p-81},
      {-0x1.222979c6a4d27p-27, -0x1.2fa6be523adecp-84},
      {0x1.cab462e1c4d06p-28, 0x1.23eb76c7b5599p-82},
      {0x1.e5a176fd85267p-27, 0x1.ea1540add82c2p-81},
      {0x1.adc8d6a92e432p-28, -0x1.87d135bb811f8p-83},
  };
  static constexpr double kBesselFarTail[] = {
      -0x1.145a6cb739f8dp-27, -0x1.2ded86c723a5fp-27, 0x1.3c25a346a7fc1p-28,
      0x1.1c085b89bd3e8p-27,  -0x1.16b57126ae008p-28, -0x1.e14f5adef48ecp-28,
      0x1.60438a3df4c9fp-28,  0x1.62d266d9d847fp-28,  -0x1.cb0c9c242129cp-28,
      -0x1.70969f604e98fp-29, 0x1.0745252a39e6fp-27,  0x1.57958da24b175p-38,
      -0x1.f70ab4f595483p-28, 0x1.10614d5958f16p-29,  0x1.83e73605cf9aep-28,
      -0x1.686c98e029e54p-29, -0x1.d3c5a9d7f5621p-29, 0x1.1cd3feb58d0dbp-29,
      0x1.a6ed5eab8997ap-30,  -0x1.303f9467ec613p-30, -0x1.0cc5089dc2cffp-31,
      0x1.b1057f2e666fdp-32,  0x1.ab294dd37017ap-34,  -0x1.75325460ed895p-34,
      -0x1.3eba31731c599p-37, 0x1.27c885055ade7p-37,
  };
  Num a = abs(x);
  Mask near = a < 8.0;
  // For the far fit 16 / a - 1; of the largest numbers by 1 / (a / 2^200).
  Mask large = a > 0x1p800;
  Num bounded = choose(near, 16.0, choose(large, a * 0x1p-200, a));
  Pair one = pairOf(a.of(1));
  Pair inverse = one / pairOf(bounded);
  Pair t = choose(near, exactSum(a.of(-1), choose(near, a * 0.25, 0.0)),
                  scale(inverse, 16.0) + a.of(-1));
  Num tail = a.of(0);
  for (auto [c, d] : llvm::reverse(llvm::zip_equal(ArrayRef(kBesselNearTail),
                                                   ArrayRef(kBesselFarTail))))
    tail = fma(tail, t.hi, choose(near, a.of(c), a.of(d)));
  Pair sum = pairOf(tail);
  for (auto [c, d] : llvm::reverse(
           llvm::zip_equal(ArrayRef(kBesselNear), ArrayRef(kBesselFar))))
    sum = sum * t +
          choose(near, constant(a, c[0], c[1]), constant(a, d[0], d[1]));
  Mask small = a < 0x1p-60;
  Num inside = choose(near & !small, a, 1.0);
  Pair factor =
      choose(near, pairOf(inside) / exactSum(a.of(1), inside), sqrt(inverse));
  Num value = sumOf(sum * factor);
  value = choose(large, value * 0x1p-100, value);
  value = choose(small, a * 0.5, choose(a == kInfinity, 0.0, value));
  return copySign(choose(isNan(x), x, value), x);
}

//===----------------------------------------------------------------------===//
// On scalars
//===----------------------------------------------------------------------===//

Value shardc::lowering::fullLgamma(ImplicitLocOpBuilder &b, ValueRange x) {
  return lgammaFull({&b, x[0]}).v;
}
Value shardc::lowering::fullDigamma(ImplicitLocOpBuilder &b, ValueRange x) {
  return digammaFull({&b, x[0]}).v;
}
Value shardc::lowering::fullZeta(ImplicitLocOpBuilder &b, ValueRange x) {
  return zetaFull({&b, x[0]}, {&b, x[1]}).v;
}
Value shardc::lowering::fullPolygamma(ImplicitLocOpBuilder &b, ValueRange x) {
  return polygammaFull({&b, x[0]}, {&b, x[1]}).v;
}
Value shardc::lowering::fullBesselI1e(ImplicitLocOpBuilder &b, ValueRange x) {
  return besselI1eFull({&b, x[0]}).v;
}
