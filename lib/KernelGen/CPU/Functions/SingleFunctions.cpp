//===- SingleFunctions.cpp - Functions of f32 -----------------------------===//
//
// Those that models use are arithmetic on f32, compensated where one rounding
// too many would show; the others are computed in f64 and rounded once. All are
// right to one unit in the last place, subnormal numbers and limits included
// (test/Execution/accuracy). Coefficients are least-squares fits at Chebyshev
// nodes, rounded one after the other.
//
//===----------------------------------------------------------------------===//
#include "FunctionTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace shardc::functions {

// 1.5 * 2^23: what is added to it is rounded to an integer, in its low bits.
static constexpr double kRounder = 12582912.0;
static constexpr double kRounderWide = 6755399441055744.0;

/// True if `all` holds for every lane.
static Value everywhere(Mask all) {
  Value value = all.v;
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  if (vector.getRank() == 0)
    return vector::ExtractOp::create(*all.b, value, ArrayRef<int64_t>());
  if (vector.getRank() > 1) {
    auto flat = VectorType::get(vector.getNumElements(), all.b->getI1Type());
    value = vector::ShapeCastOp::create(*all.b, flat, value);
  }
  return vector::ReductionOp::create(*all.b, vector::CombiningKind::AND, value);
}

Num mostly(Num x, Mask inside, Formula common, Formula rare) {
  auto at = [](OpBuilder &outer, Location loc) {
    ImplicitLocOpBuilder b(loc, outer);
    b.restoreInsertionPoint(outer.saveInsertionPoint());
    return b;
  };
  Num usual = common(x);
  auto branch = scf::IfOp::create(
      *x.b, everywhere(inside),
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, usual.v);
      },
      [&](OpBuilder &outer, Location loc) {
        ImplicitLocOpBuilder b = at(outer, loc);
        Num inner{&b, x.v};
        Num chosen = choose(Mask{&b, inside.v}, Num{&b, usual.v}, rare(inner));
        scf::YieldOp::create(b, chosen.v);
      });
  return {x.b, branch.getResult(0)};
}

//===----------------------------------------------------------------------===//
// exp and what is made of it
//===----------------------------------------------------------------------===//

/// x = n ln 2 + r; `low` is what r lacks.
struct Reduced {
  Bits n; // in its low bits
  Num r, low;
};

static constexpr double kShortLn2High = 0x1.62e4p-1,
                        kShortLn2Low = 0x1.7f7d1cp-20;

static Reduced reduce(Num x, bool exactly) {
  Num shifted = fma(x, 0x1.715476p+0, x.of(kRounder));
  Num n = shifted - kRounder;
  Num first = fma(n, -kShortLn2High, x);
  Num r = fma(n, -kShortLn2Low, first);
  return {shifted.bits(), r, exactly ? fma(n, -kShortLn2Low, first - r) : r};
}

/// For small n: ln 2 as one f32 is right to 2^-29.
static Reduced reduceBriefly(Num x) {
  Num shifted = fma(x, 0x1.715476p+0, x.of(kRounder));
  Num r = fma(shifted - kRounder, -0x1.62e43p-1, x);
  return {shifted.bits(), r, r};
}

/// (e^r - 1 - r) / r^2.
static Num expTail(Num r) {
  return polynomial(r, {0x1p-1, 0x1.555556p-3, 0x1.5554e4p-5, 0x1.110feep-7,
                        0x1.6d517p-10, 0x1.a273ecp-13});
}

/// The same to fewer digits, where it is not all of the result.
static constexpr double kShortExpTail[] = {0x1p-1, 0x1.55548ap-3, 0x1.5554e4p-5,
                                           0x1.123e54p-7, 0x1.6d517p-10};
static Num shortExpTail(Num r) { return polynomial(r, kShortExpTail); }

/// 2^n for normal results.
static Num powerOfTwo(Bits n, Num like) {
  return asFloat((n << 23) + 0x3F800000, like);
}

static Num expSingle(Num x) {
  Reduced at = reduce(clamp(x, -104, 89), false);
  Num p = fma(at.r * at.r, expTail(at.r), at.r) + 1.0;
  // In two steps: 2^n may be below the normal numbers, or above.
  Bits half = at.n >> 1;
  return p * powerOfTwo(half, x) * powerOfTwo(at.n - half, x);
}

static Num expm1Single(Num x) {
  Reduced at = reduce(clamp(x, -20, 89), true);
  // The largest terms, r and r^2 / 2, are added with what is lost.
  Num square = at.r * at.r, squareLost = fma(at.r, at.r, -square);
  Num third = square * at.r *
              polynomial(at.r, {0x1.555556p-3, 0x1.5554e4p-5, 0x1.110feep-7,
                                0x1.6d517p-10, 0x1.a273ecp-13});
  // 2^n (r + tail) + 2^n - 1, by halves: 2^128 is too large. Where 2^n is
  // below one, what its sum loses is below the last place.
  Num power = powerOfTwo(at.n - 1, x);
  Pair base = fastSum(power, x.of(-0.5)), sum = fastSum(base.hi, power * at.r),
       second = fastSum(sum.hi, power * 0.5 * square);
  Num rest = fma(power, fma(squareLost, 0.5, at.low + third), base.lo);
  Num value = (second.hi + (second.lo + (sum.lo + rest))) * 2.0;
  return copySign(choose(abs(x) < 0x1p-30, x, value), x);
}

Num pairwise(Num x, ArrayRef<Num> coefficients) {
  SmallVector<Num> terms(coefficients);
  for (Num power = x; terms.size() > 1; power = power * power) {
    SmallVector<Num> next;
    for (size_t i = 0; i < terms.size(); i += 2)
      next.push_back(i + 1 < terms.size() ? fma(power, terms[i + 1], terms[i])
                                          : terms[i]);
    terms = next;
  }
  return terms.front();
}

Num pairwise(Num x, ArrayRef<double> coefficients) {
  return pairwise(
      x, llvm::map_to_vector(coefficients, [&](double c) { return x.of(c); }));
}

Num inPairs(Num x, ArrayRef<double> coefficients) {
  SmallVector<Num> terms;
  for (size_t i = 0; i + 1 < coefficients.size(); i += 2)
    terms.push_back(fma(x, coefficients[i + 1], x.of(coefficients[i])));
  if (coefficients.size() % 2)
    terms.push_back(x.of(coefficients.back()));
  Num square = x * x, sum = terms.pop_back_val();
  for (Num term : llvm::reverse(terms))
    sum = fma(sum, square, term);
  return sum;
}

Num eitherPolynomial(Mask c, Num x, ArrayRef<double> yes, ArrayRef<double> no) {
  Num sum = choose(c, x.of(yes.back()), x.of(no.back()));
  for (auto [one, other] :
       llvm::reverse(llvm::zip_equal(yes.drop_back(), no.drop_back())))
    sum = fma(sum, x, choose(c, x.of(one), x.of(other)));
  return sum;
}

static Num tanhSingle(Num x) {
  Num a = abs(x);
  Mask isNear = a < 1.0;
  // 1 - 2 / (e^2a + 1), the sum rounded once; a = n ln 2 / 2 + r, with n + 127
  // in the low bits of `shifted`.
  constexpr double rounder = kRounder + 127;
  Num bounded = smaller(a, a.of(10)),
      shifted = fma(bounded, 0x1.715476p+1, x.of(rounder));
  Num r = fma(shifted - rounder, -0x1.62e43p-2, bounded),
      power = asFloat(shifted.bits() << 23, x);
  // Near zero a + a^3 p(a^2), else e^2r - 1 = 2 r + r^2 p(r).
  Num argument = choose(isNear, x * x, r);
  Num p = eitherPolynomial(isNear, argument,
                           {-0x1.55553ap-2, 0x1.110b9cp-3, -0x1.b95b52p-5,
                            0x1.5fe224p-6, -0x1.03ecb8p-7, 0x1.2c5384p-9,
                            -0x1.74db72p-12},
                           {0x1p+1, 0x1.55548ap+0, 0x1.5554e4p-1, 0x1.123e4cp-2,
                            0x1.6d5168p-4, 0, 0});
  Num value = fma(argument * choose(isNear, a, r), p, choose(isNear, a, r + r));
  Num far = 1.0 - 2.0 / fma(power, value, power + 1.0);
  return copySign(choose(isNear, value, far), x);
}

static Num logisticSingle(Num x) {
  auto common = [](Num x) {
    Reduced at = reduce(-x, false);
    Num w = fma(at.r * at.r, shortExpTail(at.r), at.r);
    Num power = powerOfTwo(at.n, x);
    // e^-x and 1 + e^-x, with what their roundings lose.
    Num e = fma(power, w, power), lost = fma(power, w, power - e);
    Num one = x.of(1);
    Pair sum = fastSum(larger(one, e), smaller(one, e));
    Num y = 1.0 / sum.hi;
    Num rest = fma(-y, sum.lo + lost, fma(-y, sum.hi, one));
    return fma(rest, y, y);
  };
  auto rare = [](Num x) {
    Num e = expWide(-clamp(widen(x), -120, 120));
    return narrow(1.0 / (e + 1.0));
  };
  return mostly(x, abs(x) < 87, common, rare);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// log of a positive number: `correction` is added to its mantissa less one.
static Num logOf(Num x, Num extra, bool hasExtra, double exponentShift = 0) {
  Bits shifted = x.bits() - 0x3F3504F3;
  Num n = asFloat((shifted >> 23) + 0x4B400000, x) - (kRounder - exponentShift);
  Num f = asFloat((shifted & 0x007FFFFF) + 0x3F3504F3, x) - 1.0;
  Num p = polynomial(f, {0x1.555546p-2, -0x1.00000ap-2, 0x1.99a546p-3,
                         -0x1.555ae4p-3, 0x1.232cfap-3, -0x1.fc4da0p-4,
                         0x1.e7a54ep-4, -0x1.dd6510p-4, 0x1.11c874p-4});
  Num low = n * kShortLn2Low;
  if (hasExtra)
    low = low + extra;
  Num square = f * f;
  low = fma(square, fma(f, p, x.of(-0.5)), low);
  Pair sum = fastSum(n * kShortLn2High, f);
  return sum.hi + (sum.lo + low);
}

Num logLimits(Num x, Num value) {
  Num limit = choose(x == 0.0, -kInfinity, x.of(kNan));
  return choose(x == kInfinity, x, choose(x > 0.0, value, limit));
}

static Num logSingle(Num x) {
  auto common = [](Num x) { return logOf(x, x, false); };
  auto rare = [](Num x) {
    return logLimits(x, logOf(x * 0x1p23, x, false, -23));
  };
  return mostly(x, (x >= 0x1p-126) & (x < kInfinity), common, rare);
}

static Num log1pSingle(Num x) {
  Num u = x + 1.0;
  Num part = u - 1.0;
  Num lost = (1.0 - (u - part)) + (x - part);
  Num value = logOf(u, lost / u, true);
  return choose(abs(x) < 0x1p-25, x, logLimits(u, value));
}

//===----------------------------------------------------------------------===//
// Sines
//===----------------------------------------------------------------------===//

/// Up to here the reduction of f32 by three parts of pi / 2 is exact to the
/// last bits, and that of f64 by two.
static constexpr double kMostReduced = 8192, kMostReducedWide = 131072;

template <typename MathOp> static Num sineBrief(Num x);

template <typename MathOp> static Num sineOrCosine(Num x) {
  constexpr bool cosine = std::is_same_v<MathOp, math::CosOp>;
  auto common = [](Num x) {
    Num shifted = fma(x, 0x1.45f306p-1, x.of(kRounder));
    Num n = shifted - kRounder;
    Bits quadrant = cosine ? shifted.bits() + 1 : shifted.bits();
    // Source: W. Cody, W. Waite (1980). The second part has so few bits that
    // what r lacks is exact; minus what r lacks, so that a negative zero stays
    // one.
    Num first = fma(n, -0x1.921fb4p+0, x), r = fma(n, -0x1.444p-24, first);
    Num less = fma(n, 0x1.68c234p-39, fma(n, 0x1.444p-24, r - first));
    Num square = r * r;
    Mask odd = isSet(quadrant, 1);
    // r - (r^3 s + less), or 1 - r^2 / 2 + (r^4 c - r less), the first
    // difference with what it loses.
    Num most = fma(square, -0.5, x.of(1)), lost = fma(square, 0.5, most - 1.0);
    Num p = eitherPolynomial(odd, square,
                             {-0x1.55554ap-5, 0x1.6c0c2ep-10, -0x1.99eab4p-16},
                             {0x1.555546p-3, -0x1.11077cp-7, 0x1.99558ep-13});
    Num rest = choose(odd, fma(-r, less, lost), less);
    Num chosen =
        choose(odd, most, r) - fma(square * choose(odd, square, r), p, rest);
    Bits sign = (quadrant << 30) & int64_t(0x80000000);
    return asFloat(bitsOp<arith::XOrIOp>(chosen.bits(), sign), x);
  };
  auto rare = [](Num x) { return narrow(sineBrief<MathOp>(widen(x))); };
  return mostly(x, abs(x) <= kMostReduced, common, rare);
}

static Num sinSingle(Num x) { return sineOrCosine<math::SinOp>(x); }
static Num cosSingle(Num x) { return sineOrCosine<math::CosOp>(x); }

static Num cbrtSingle(Num x) {
  Num wide = widen(x), value = narrow(cbrtWide(wide));
  return choose((wide == 0.0) | (abs(wide) == kInfinity) | isNan(wide), x,
                value);
}

/// Sine, cosine and the quadrant of an f64 within +-kMostReducedWide, to more
/// digits than f32 has.
struct WideAngle {
  Num sine, cosine;
  Bits quadrant;
};
static WideAngle angleWide(Num x) {
  Num shifted = fma(x, 0x1.45f306dc9c883p-1, x.of(kRounderWide));
  Num n = shifted - kRounderWide;
  Num r = fma(n, -0x1.921fb54442d18p+0, x);
  r = fma(n, -0x1.1a62633145c07p-54, r);
  Num square = r * r;
  Num s = polynomial(square, {-0x1.5555555555555p-3, 0x1.1111111111089p-7,
                              -0x1.a01a01a0065f8p-13, 0x1.71de3a3f70715p-19,
                              -0x1.ae643c667a16cp-26});
  Num c = polynomial(square, {0x1.5555555555555p-5, -0x1.6c16c16c16b46p-10,
                              0x1.a01a01a001574p-16, -0x1.27e4fb60056e9p-22,
                              0x1.1eed76b484b95p-29});
  return {fma(r * square, s, r),
          fma(square * square, c, fma(square, -0.5, x.of(1))), shifted.bits()};
}

static Num tanSingle(Num x) {
  auto common = [](Num x) {
    WideAngle at = angleWide(widen(x));
    Mask odd = isSet(at.quadrant, 1);
    Num value =
        choose(odd, -at.cosine, at.sine) / choose(odd, at.sine, at.cosine);
    return choose(x == 0.0, x, narrow(value));
  };
  auto rare = [](Num x) { return narrow(libraryCall<math::TanOp>(widen(x))); };
  return mostly(x, abs(x) <= kMostReducedWide, common, rare);
}

template <typename MathOp> static Num sineBrief(Num x) {
  constexpr bool cosine = std::is_same_v<MathOp, math::CosOp>;
  auto common = [](Num x) {
    WideAngle at = angleWide(x);
    Bits quadrant = cosine ? at.quadrant + 1 : at.quadrant;
    Num value = choose(isSet(quadrant, 1), at.cosine, at.sine);
    value = choose(isSet(quadrant, 2), -value, value);
    return cosine ? value : choose(x == 0.0, x, value);
  };
  return mostly(x, abs(x) <= kMostReducedWide, common, libraryCall<MathOp>);
}

//===----------------------------------------------------------------------===//
// erf, after N. Juffa's erff
//===----------------------------------------------------------------------===//

static Num erfSingle(Num x) {
  Num a = abs(x), square = x * x;
  Num far = fma(a, -0x1.22p-16, a.of(0x1.91cfb2p-12));
  Num odd = fma(a, -0x1.fd1438p-9, a.of(0x1.8d6342p-6));
  far = fma(far, square, odd);
  far = fma(far, a, -0x1.b55cb8p-4);
  far = fma(far, a, -0x1.450aa0p-1);
  far = fma(far, a, -0x1.079d0cp-3);
  far = fma(far, a, -a);
  far = choose(a > 4.0, -30.0, far);
  Reduced at = reduceBriefly(far);
  Num p = fma(at.r * at.r, shortExpTail(at.r), at.r) + 1.0;
  far = copySign(fma(-p, powerOfTwo(at.n, x), x.of(1)), x);
  Num near = polynomial(square, {0x1.06eba8p-3, -0x1.8127p-2, 0x1.ce1c44p-4,
                                 -0x1.b691b2p-6, 0x1.471a58p-8, -0x1.38ep-11});
  near = fma(near, x, x);
  return choose(a > 0.927734375, far, near);
}

//===----------------------------------------------------------------------===//
// By f64
//===----------------------------------------------------------------------===//

Num expWide(Num x) {
  Num shifted = fma(x, 0x1.71547652b82fep+0, x.of(kRounderWide));
  Num n = shifted - kRounderWide;
  Num r = fma(n, -0x1.62e42fefa39efp-1, x);
  r = fma(n, -0x1.abc9e3b39803fp-56, r);
  Num q = polynomial(r, {0x1.000000000000cp-1, 0x1.555555555555cp-3,
                         0x1.555555554fdccp-5, 0x1.111111110e9dap-7,
                         0x1.6c16c1861b12fp-10, 0x1.a01a01b458651p-13,
                         0x1.a0199576e19bep-16, 0x1.71ddee36ab7bep-19,
                         0x1.28b13edf45491p-22, 0x1.af6ef608cc80cp-26});
  Num p = fma(r * r, q, r) + 1.0;
  return p * asFloat((shifted.bits() << 52) + 0x3FF0000000000000, x);
}

/// 2 atanh(s).
static Num atanhSeries(Num s) {
  Num square = s * s;
  Num p = polynomial(square, {0x1.5555555555594p-1, 0x1.999999997f6eep-2,
                              0x1.24924942423edp-2, 0x1.c71c51ceeacd2p-3,
                              0x1.746649e261b8dp-3, 0x1.39a0b1c03dbcbp-3,
                              0x1.2f0f4cbb2f684p-3});
  return fma(s * square, p, s * 2.0);
}

/// log(1 + x) of a normal f64 above -1; of -1 minus infinity. To more digits
/// than f32 has.
static Num log1pWide(Num x, Num onePlus) {
  Bits shifted = onePlus.bits() - 0x3FE6A09E667F3BCD;
  Num n = asFloat((shifted >> 52) + 0x4338000000000000, x) - kRounderWide;
  Num f = asFloat((shifted & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD, x) - 1.0;
  // Near zero x itself: 1 + x has lost digits.
  f = choose(n == 0.0, x, f);
  Num value = fma(n, 0x1.62e42fefa39efp-1, atanhSeries(f / (f + 2.0)));
  return logLimits(onePlus, value);
}
static Num logWide(Num x) { return log1pWide(x - 1.0, x); }

static Num powSingle(Num single, Num singleExponent) {
  Num x = widen(single), y = widen(singleExponent);
  Num size = abs(x), log = logWide(size), product = y * log;
  product = choose((log == 0.0) & (abs(y) == kInfinity), 0.0, product);
  Num value = expWide(clamp(product, -120, 120));
  value = choose(isNan(product), product, value);
  Num half = y * 0.5;
  Mask whole = floor(y) == y;
  Mask odd = whole & compare(arith::CmpFPredicate::UNE, floor(half), half);
  value = choose(odd, copySign(value, x), value);
  value = choose((x < 0.0) & (x > -kInfinity), choose(whole, value, x.of(kNan)),
                 value);
  value = choose((x == 1.0) | (y == 0.0), 1.0, value);
  return narrow(value);
}

static Num sinhSingle(Num x) {
  Num wide = widen(x), square = wide * wide;
  Num p = polynomial(square, {0x1.5555555555467p-3, 0x1.1111111122f17p-7,
                              0x1.a01a018361165p-13, 0x1.71de4f98aa7e8p-19,
                              0x1.ae5468e894adap-26, 0x1.67022a884e306p-33});
  Num near = fma(wide * square, p, wide);
  Num e = expWide(clamp(abs(wide), 0, 120));
  Num far = copySign((e - 1.0 / e) * 0.5, wide);
  return choose(isNan(x), x, narrow(choose(abs(wide) < 1.0, near, far)));
}
static Num coshSingle(Num x) {
  Num e = expWide(clamp(abs(widen(x)), 0, 120));
  return choose(isNan(x), x, narrow((e + 1.0 / e) * 0.5));
}
static Num asinhSingle(Num x) {
  Num a = widen(abs(x)), square = a * a;
  Num less = a + square / (sqrt(square + 1.0) + 1.0);
  less = choose(abs(x) == kInfinity, a, less);
  return copySign(narrow(log1pWide(less, less + 1.0)), x);
}
static Num acoshSingle(Num x) {
  Num less = widen(x) - 1.0;
  Num sum = less + sqrt(less * (less + 2.0));
  return narrow(choose(less < 0.0, kNan, log1pWide(sum, sum + 1.0)));
}
static Num atanhSingle(Num x) {
  Num a = widen(abs(x));
  Num quotient = a * 2.0 / (1.0 - a);
  Num value = log1pWide(quotient, quotient + 1.0) * 0.5;
  return copySign(narrow(choose(a > 1.0, kNan, value)), x);
}

/// exp(-x^2) v p, v = 1 / (1 + |x|), p a fit in v of exp(x^2) erfc(|x|) / v.
/// What roundings of the factors lose is carried along: erfc of a large number
/// has the relative error of its exponent.
static Num erfcSingle(Num x) {
  Num a = smaller(abs(x), x.of(10.1));
  Num square = a * a, squareLost = fma(a, a, -square);
  Num below = a + 1.0, belowLost = a - (below - 1.0);
  Num v = 1.0 / below;
  Num vLost = v * fma(-v, belowLost, fma(-v, below, x.of(1)));
  constexpr double middle = 0x1.914p-2;
  Num m = v - middle, mLost = (v - (m + middle)) + vLost;
  // p = first + m second + m^2 (...).
  constexpr double first = 0x1.995604p-1, second = 0x1.1a908p-1;
  Num rest = m * m *
             polynomial(m, {-0x1.419cf4p-2, -0x1.45add6p-2, 0x1.0fe6a2p-1,
                            -0x1.84963ep-4, -0x1.45f89ap-1, 0x1.ea0894p-1,
                            -0x1.08c70cp-2, -0x1.3b0b82p+0, 0x1.0250aep+1,
                            -0x1.fa0e3cp-1, -0x1.9cdb6ep-2, 0x1.b4000cp-2});
  Num sum = fma(m, second, rest), sumLost = fma(m, second, -sum) + rest;
  Num p = sum + first;
  Num slope = fma(m, -0.6197, x.of(0.5150));
  Num pLost = fma(mLost, slope, ((first - p) + sum) + sumLost);
  Num high = p * v;
  Num low = fma(pLost, v, fma(p, vLost, fma(p, v, -high)));
  // exp: 1 + r + w.
  Num shifted = fma(square, -0x1.715476p+0, x.of(kRounder));
  Num n = shifted - kRounder;
  Num most = fma(n, -kShortLn2High, -square),
      less = fma(n, x.of(-kShortLn2Low), -squareLost);
  Num r = most + less;
  Num w = fma(r * r, expTail(r), (most - r) + less);
  Num product = fma(high, r, high), lost = fma(high, r, high - product);
  Num value = product + (lost + fma(high, w, fma(low, r, low)));
  // 2^n may be below the normal numbers.
  Num power = asFloat((shifted.bits() << 23) + 0x5F800000, x);
  value = value * power * 0x1p-64;
  return choose(x < 0.0, 2.0 - value, value);
}

//===----------------------------------------------------------------------===//
// erfc where registers can be permuted
//===----------------------------------------------------------------------===//

/// What `one` makes of operands of `width` lanes, a register's, for operands of
/// any shape; `one` gives f32.
static Num byRegisters(ImplicitLocOpBuilder &b, ValueRange operands,
                       int64_t width,
                       llvm::function_ref<Value(ValueRange)> one) {
  auto shape = dyn_cast<VectorType>(operands.front().getType());
  int64_t lanes = shape ? shape.getNumElements() : 1,
          padded = llvm::alignTo(lanes, width);
  // Lanes side by side, as many as whole registers have.
  SmallVector<Value> flat;
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!shape) {
      flat.push_back(vector::BroadcastOp::create(
          b, VectorType::get({padded}, element), operand));
      continue;
    }
    Value line = vector::ShapeCastOp::create(
        b, VectorType::get({lanes}, element), operand);
    if (padded != lanes) {
      SmallVector<int64_t> from(padded);
      for (auto [at, lane] : llvm::enumerate(from))
        lane = int64_t(at) % lanes;
      line = vector::ShuffleOp::create(b, line, line, from);
    }
    flat.push_back(line);
  }
  Value result;
  if (padded == width) {
    result = one(flat);
  } else {
    result = splat(b, VectorType::get({padded}, b.getF32Type()),
                   b.getF32FloatAttr(0));
    SmallVector<int64_t, 1> size{width}, stride{1};
    for (int64_t at = 0; at < padded; at += width) {
      SmallVector<Value> parts;
      for (Value line : flat)
        parts.push_back(vector::ExtractStridedSliceOp::create(
            b, line, ArrayRef<int64_t>{at}, size, stride));
      result = vector::InsertStridedSliceOp::create(
          b, one(parts), result, ArrayRef<int64_t>{at}, stride);
    }
  }
  if (!shape)
    return {&b, vector::ExtractOp::create(b, result, 0)};
  if (padded != lanes) {
    auto first = llvm::to_vector(llvm::seq<int64_t>(lanes));
    result = vector::ShuffleOp::create(b, result, result, first);
  }
  return {&b,
          vector::ShapeCastOp::create(b, shape.clone(b.getF32Type()), result)};
}

/// The entry of `table` that the lowest bits of `piece` name, lane by lane: one
/// instruction for a register of as many lanes as there are entries, 8 (AVX2)
/// or 16 (AVX-512).
static Num lookup(Bits piece, ArrayRef<double> table) {
  ImplicitLocOpBuilder &b = *piece.b;
  auto row = VectorType::get({int64_t(table.size())}, b.getF32Type());
  Value entries = arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(row, ArrayRef<float>(SmallVector<float>(table))));
  StringRef name = table.size() == 16 ? "llvm.x86.avx512.permvar.sf.512"
                                      : "llvm.x86.avx2.permps";
  return byRegisters(b, piece.v, table.size(), [&](ValueRange at) -> Value {
    return LLVM::CallIntrinsicOp::create(b, row, b.getStringAttr(name),
                                         ValueRange{entries, at.front()})
        .getResult(0);
  });
}

/// `value` 2^n for a whole n, perhaps below the normal numbers, by AVX-512.
static Num scale(Num value, Num n) {
  ImplicitLocOpBuilder &b = *value.b;
  auto row = VectorType::get({16}, b.getF32Type());
  Value all = arith::ConstantOp::create(b, b.getI16IntegerAttr(-1)),
        asSet = arith::ConstantOp::create(b, b.getI32IntegerAttr(4));
  StringAttr name = b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512");
  return byRegisters(b, {value.v, n.v}, 16, [&](ValueRange of) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, row, name, ValueRange{of[0], of[1], of[0], all, asSet})
        .getResult(0);
  });
}

/// start + h p(h), h = a - middle, on as many pieces of the positive numbers: a
/// table for the middles, one for the starts, which have few bits, and one for
/// each coefficient of p. The pieces are the octaves of 1 + 1.4375 a, in equal
/// parts.
template <size_t kPieces> struct Piecewise {
  Num start, p, h;

  Piecewise(Num a, ArrayRef<double[kPieces]> tables) : start(a), p(a), h(a) {
    constexpr int64_t kOctaves = 4;
    Bits piece = fma(a, 1.4375, a.of(1)).bits() >>
                 (23 - llvm::Log2_64(kPieces / kOctaves));
    h = a - lookup(piece, tables[0]);
    start = lookup(piece, tables[1]);
    SmallVector<Num> coefficients;
    for (ArrayRef<double> table : tables.drop_front(2))
      coefficients.push_back(lookup(piece, table));
    p = pairwise(h, coefficients);
  }
  /// The value, less the start and plus `number`.
  Num from(Num number) const { return fma(p, h, number); }
};

/// log(exp(a^2) erfc(a)): erfc is right to 0.97 units in the last place by the
/// first, to 0.9 by the second.
static constexpr double kScaledErfc8[][8] = {
    {0x1.0b2844p+0, 0x1.bd655ep+0, 0x1.642edap+1, 0x1.0b2ecep+2, 0x1.90b674p+2,
     0x1.1f3ca2p+3, 0x1.ee021ep-4, 0x1.0b2a84p-1},
    {-0x1.c11bp-1, -0x1.402c8p+0, -0x1.a6fa8p+0, -0x1.039fp+1, -0x1.35a5p+1,
     -0x1.62f34p+1, -0x1.0c4p-3, -0x1.0191p-1},
    {-0x1.4044dap-1, -0x1.d88636p-2, -0x1.4b244p-2, -0x1.d1c7f4p-3,
     -0x1.3f3d9p-3, -0x1.c2d328p-4, -0x1.0b8a2cp+0, -0x1.a51a36p-1},
    {0x1.366b1p-3, 0x1.73769ep-4, 0x1.87f938p-5, 0x1.942d76p-6, 0x1.84f792p-7,
     0x1.884a4ap-8, 0x1.4fbba6p-2, 0x1.dc601ep-3},
    {-0x1.4672p-5, -0x1.539bc6p-6, -0x1.1d8776p-7, -0x1.bf4cbp-9,
     -0x1.34edfp-10, -0x1.c1e0d2p-12, -0x1.7f3c28p-4, -0x1.0d18dep-4},
    {0x1.3ae498p-7, 0x1.32882cp-8, 0x1.b153fep-10, 0x1.0ab064p-11,
     0x1.0dc938p-13, 0x1.1eabe4p-15, 0x1.3381fp-6, 0x1.f738a4p-7},
    {-0x1.f525f2p-10, -0x1.fec7a4p-11, -0x1.44f9aap-12, -0x1.44d15p-14,
     -0x1.eb69dap-17, -0x1.8130d6p-19, -0x1.c721a2p-11, -0x1.31119cp-9},
    {0x1.f66056p-13, 0x1.533d64p-13, 0x1.dd4efcp-15, 0x1.91ef12p-17,
     0x1.e19ddap-20, 0x1.189f7ap-22, 0x1.06a3c8p-8, -0x1.bd79c6p-12},
    {0x1.5d865ap-18, -0x1.ba1102p-16, -0x1.2c8bbp-17, -0x1.ea4e24p-20,
     -0x1.ce065ep-23, -0x1.9764a8p-26, -0x1.b242a2p-7, 0x1.c27beep-11}};
static constexpr double kScaledErfc16[][16] = {
    {0x1.bc719cp-1, 0x1.38a262p+0, 0x1.918fdep+0, 0x1.eac844p+0, 0x1.38293ep+1,
     0x1.902406p+1, 0x1.e914bap+1, 0x1.20c6acp+2, 0x1.64a846p+2, 0x1.be418p+2,
     0x1.0ba17ep+3, 0x1.341698p+3, 0x1.692bf8p-4, 0x1.0e2b36p-2, 0x1.bbe216p-2,
     0x1.36ffdap-1},
    {-0x1.8662p-1, -0x1.f7a9p-1, -0x1.2b3dp+0, -0x1.546a8p+0, -0x1.88f6p+0,
     -0x1.c20c8p+0, -0x1.f1dp+0, -0x1.0d198p+1, -0x1.2723p+1, -0x1.431fcp+1,
     -0x1.5a048p+1, -0x1.6bd1cp+1, -0x1.8c4p-4, -0x1.18cap-2, -0x1.b6d6p-2,
     -0x1.24c4p-1},
    {-0x1.5d827cp-1, -0x1.2685dcp-1, -0x1.fa4b42p-2, -0x1.b97eccp-2,
     -0x1.704f2ap-2, -0x1.2c645cp-2, -0x1.f859f6p-3, -0x1.b1ecfap-3,
     -0x1.648582p-3, -0x1.1ff67ep-3, -0x1.e2fc46p-4, -0x1.a4f746p-4,
     -0x1.110f5cp+0, -0x1.e9d41cp-1, -0x1.baf35ep-1, -0x1.916e4ep-1},
    {0x1.65402ap-3, 0x1.0e706ep-3, 0x1.a2a78ep-4, 0x1.49b4bp-4, 0x1.dc5f38p-5,
     0x1.47135ep-5, 0x1.d6642p-6, 0x1.60d304p-6, 0x1.e27c3cp-7, 0x1.3dce4cp-7,
     0x1.c17d2p-8, 0x1.568de4p-8, 0x1.592d16p-2, 0x1.28e9cap-2, 0x1.00c434p-2,
     0x1.bb2bcp-3},
    {-0x1.82bc08p-5, -0x1.133d64p-5, -0x1.8d0c72p-6, -0x1.21ff68p-6,
     -0x1.75b5ap-7, -0x1.bb730ep-8, -0x1.15eep-8, -0x1.6fc75p-9,
     -0x1.a7723ep-10, -0x1.cb0c2ap-11, -0x1.13309ep-11, -0x1.6fe80cp-12,
     -0x1.8945dep-4, -0x1.53cec2p-4, -0x1.23fe88p-4, -0x1.f07934p-5},
    {0x1.756d82p-7, 0x1.06ed14p-7, 0x1.6e5b84p-8, 0x1.fda3d8p-9, 0x1.2d4af4p-9,
     0x1.3cb38p-10, 0x1.5fb45cp-11, 0x1.9f2936p-12, 0x1.96f558p-13,
     0x1.6e3ac2p-14, 0x1.761614p-15, 0x1.b84798p-16, 0x1.38590cp-6,
     0x1.27426p-6, 0x1.0b6c2ep-6, 0x1.d59c9ep-7},
    {-0x1.22c6f8p-9, -0x1.a7ab86p-10, -0x1.315224p-10, -0x1.aea2e8p-11,
     -0x1.d9f46ap-12, -0x1.c7af46p-13, -0x1.c82b2ap-14, -0x1.e4d494p-15,
     -0x1.9beb8p-16, -0x1.359a5ep-17, -0x1.0e9d1ep-18, -0x1.136476p-19,
     -0x1.29a82ap-9, -0x1.1e5028p-9, -0x1.79b93cp-9, -0x1.9f9c2ap-9},
    {0x1.01636ep-12, 0x1.452bb8p-12, 0x1.bfda0ap-13, 0x1.31472p-13,
     0x1.5faedap-14, 0x1.3d2bc2p-15, 0x1.26eefep-16, 0x1.1a294ap-17,
     0x1.a3f512p-19, 0x1.09f94p-20, 0x1.96ff2p-22, 0x1.39346cp-23,
     -0x1.26e0ccp-8, -0x1.c596f6p-9, 0x1.f3cd18p-11, 0x1.0de27ap-9},
};

/// The logarithm of erfc(a) to the base 2, to some more digits than floats of
/// 16 bits have.
static constexpr double kErfcLog8[][8] = {
    {0x1.0b362ep+0, 0x1.bd3824p+0, 0x1.642f7ap+1, 0x1.0b246p+2, 0x1.90b1d8p+2,
     0x1.1da2c2p+3, 0x1.67287ap-3, 0x1.0af9cep-1},
    {-0x1.6b33p+1, -0x1.8ab7cp+2, -0x1.b1c36p+3, -0x1.c0fea8p+4, -0x1.e05448p+5,
     -0x1.dbc2d4p+6, -0x1.420ep-2, -0x1.1e1ap+0},
    {-0x1.f5017p+1, -0x1.6bc6b4p+2, -0x1.0fdcd8p+3, -0x1.8be7dcp+3,
     -0x1.24a372p+4, -0x1.9ea3cep+4, -0x1.f68fa4p+0, -0x1.587eaep+1},
    {-0x1.395c04p+0, -0x1.4fd1dap+0, -0x1.5fa886p+0, -0x1.68376ep+0,
     -0x1.6cf20cp+0, -0x1.6f185ep+0, -0x1.fb95d6p-1, -0x1.1b650ep+0},
    {-0x1.d6e3cap-5, -0x1.ea2d8ap-6, -0x1.9be0c8p-7, -0x1.42d67p-8,
     -0x1.bda926p-10, -0x1.48ee5cp-11, -0x1.084e5ep-3, -0x1.845dc6p-4},
    {0x1.c62846p-7, 0x1.ba3abcp-8, 0x1.388fep-9, 0x1.81128p-11, 0x1.85532cp-13,
     0x1.a6007p-15, 0x1.b88c1cp-6, 0x1.6ad8acp-6},
    {-0x1.66ed9cp-9, -0x1.798314p-10, -0x1.de72e4p-12, -0x1.d58c9cp-14,
     -0x1.6fe69cp-16, -0x1.4fb24ap-18, -0x1.bbd8bep-10, -0x1.adae78p-9},
    {0x1.716ac6p-12, 0x1.0d9ecep-12, 0x1.590b9ep-14, 0x1.1cd9e6p-16,
     0x1.5a5e86p-19, 0x1.b42da6p-22, -0x1.8247cp-10, -0x1.624ad8p-12},
};
static constexpr double kErfcLog16[][16] = {
    {0x1.be5ffep-1, 0x1.379b9p+0, 0x1.90dfaep+0, 0x1.ea4bbp+0, 0x1.37e5a4p+1,
     0x1.908fe4p+1, 0x1.e8f01p+1, 0x1.219776p+2, 0x1.6415bap+2, 0x1.bcf344p+2,
     0x1.0af3cep+3, 0x1.323836p+3, 0x1.5d95aep-4, 0x1.097baep-2, 0x1.bedd5cp-2,
     0x1.386304p-1},
    {-0x1.19a2eap+1, -0x1.c6d572p+1, -0x1.4e362ep+2, -0x1.cd6264p+2,
     -0x1.58f14ap+3, -0x1.0aa858p+4, -0x1.7db028p+4, -0x1.049a3ap+5,
     -0x1.7fe062p+5, -0x1.257b92p+6, -0x1.a1317ap+6, -0x1.106824p+7,
     -0x1.2a6ef4p-3, -0x1.f1eabp-2, -0x1.cb14b2p-1, -0x1.5d74dp+0},
    {-0x1.bfceb4p+1, -0x1.15fd1ap+2, -0x1.4edf2cp+2, -0x1.8982bep+2,
     -0x1.e3343cp+2, -0x1.2e79aap+3, -0x1.6c10fp+3, -0x1.ab8c7ap+3,
     -0x1.04e2a8p+4, -0x1.4437f4p+4, -0x1.83dc06p+4, -0x1.bc2b02p+4,
     -0x1.c9b0dp+0, -0x1.10e984p+1, -0x1.40a9e4p+1, -0x1.71e89cp+1},
    {-0x1.30f978p+0, -0x1.4051f4p+0, -0x1.4b720ep+0, -0x1.53851cp+0,
     -0x1.5bb94p+0, -0x1.628ep+0, -0x1.66b0ecp+0, -0x1.6965fcp+0,
     -0x1.6bd734p+0, -0x1.6db654p+0, -0x1.6ec6cp+0, -0x1.6f5fa4p+0,
     -0x1.e8f588p-1, -0x1.05c4f8p+0, -0x1.14e7bep+0, -0x1.218d3cp+0},
    {-0x1.170ad6p-4, -0x1.8f318ap-5, -0x1.1fcf5p-5, -0x1.a483ep-6,
     -0x1.1015f8p-6, -0x1.40599ap-7, -0x1.9146bep-8, -0x1.088352p-8,
     -0x1.3528ccp-9, -0x1.4f310ap-10, -0x1.9011c4p-11, -0x1.0e98bep-11,
     -0x1.1c0bbap-3, -0x1.eb948p-4, -0x1.a4fe36p-4, -0x1.65e3d2p-4},
};

/// erfc of x, where that of |x| is `value`.
static Num erfcOf(Num x, Num value) {
  return choose(x < 0.0, 2.0 - value, value);
}

/// `value` 2^n, n in the low bits of `shifted`.
template <size_t kPieces> static Num scaleBy(Num value, Num shifted) {
  if (kPieces == 16)
    return scale(value, shifted - kRounder);
  // 2^n may be below the normal numbers.
  Num power = asFloat((shifted.bits() << 23) + 0x5F800000, value);
  return value * power * 0x1p-64;
}

/// exp(-a^2 + log(...)): of a large number the relative error is that of its
/// exponent, so what the roundings of a^2, r and 1 + r lose is carried along.
template <size_t kPieces>
static Num erfcBy(ArrayRef<double[kPieces]> tables, Num x) {
  Num a = smaller(abs(x), x.of(10.1));
  Num square = a * a, lost = fma(a, a, -square);
  Piecewise<kPieces> scaled(a, tables);
  Num shifted =
      fma(scaled.from(scaled.start) - square, 0x1.715476p+0, x.of(kRounder));
  Num n = shifted - kRounder;
  Num most = fma(n, -kShortLn2High, scaled.start) - square;
  Num less = scaled.from(fma(n, x.of(-kShortLn2Low), -lost));
  Num r = most + less;
  Num w = fma(r * r, pairwise(r, kShortExpTail), less - (r - most));
  Pair sum = fastSum(x.of(1), r);
  return erfcOf(x, scaleBy<kPieces>(sum.hi + (sum.lo + w), shifted));
}

template <size_t kPieces>
static Num narrowErfcBy(ArrayRef<double[kPieces]> tables, Num x) {
  Num a = smaller(abs(x), x.of(10.1));
  Piecewise<kPieces> log(a, tables);
  constexpr double kPower[] = {1.0,           0x1.62e43p-1,  0x1.ebf9a8p-3,
                               0x1.c6af72p-5, 0x1.3cf04cp-7, 0x1.5f0dccp-10};
  // 2^(n + r).
  Num sum = log.from(log.start);
  if (kPieces == 16) {
    // An instruction each for n and for its power. With four registers side by
    // side fewer products count more than a shorter chain of them.
    Num n = numOp<math::RoundEvenOp>(sum);
    return erfcOf(x, scale(polynomial(log.from(log.start - n), kPower), n));
  }
  Num shifted = sum + kRounder;
  Num r = log.from(log.start - (shifted - kRounder));
  return erfcOf(x, scaleBy<kPieces>(pairwise(r, kPower), shifted));
}

/// Of a normal number, or of one whose root and quotient are not corrected.
static Num rsqrtNormal(Num x) {
  Num root = sqrt(x), y = 1.0 / root;
  // What the root and the quotient have lost.
  Num lost = fma(-root, root, x) * y;
  Num rest = fma(-y, root, x.of(1));
  return fma(y, fma(lost * y, -0.5, rest), y);
}

static Num rsqrtSingle(Num x) {
  auto rare = [](Num x) {
    Num y = 1.0 / sqrt(x);
    return choose((x > 0.0) & (x < kInfinity), rsqrtNormal(x * 0x1p24) * 0x1p12,
                  y);
  };
  return mostly(x, (x >= 0x1p-100) & (x < kInfinity), rsqrtNormal, rare);
}

Num logistic(Num x) {
  return x.isDouble() ? logisticDouble(x) : logisticSingle(x);
}

const llvm::StringMap<Unary> &singleFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", expSingle},     {"math.expm1", expm1Single},
      {"math.log", logSingle},     {"math.log1p", log1pSingle},
      {"math.tanh", tanhSingle},   {"math.sin", sinSingle},
      {"math.cos", cosSingle},     {"math.tan", tanSingle},
      {"math.erf", erfSingle},     {"math.erfc", erfcSingle},
      {"math.sinh", sinhSingle},   {"math.cosh", coshSingle},
      {"math.asinh", asinhSingle}, {"math.acosh", acoshSingle},
      {"math.atanh", atanhSingle}, {"math.rsqrt", rsqrtSingle},
      {"math.cbrt", cbrtSingle},
  };
  return table;
}

const llvm::StringMap<Unary> &permutingFunctions(int64_t lanes) {
  static const llvm::StringMap<Unary> eight = {
      {"math.erfc", [](Num x) { return erfcBy<8>(kScaledErfc8, x); }}};
  static const llvm::StringMap<Unary> sixteen = {
      {"math.erfc", [](Num x) { return erfcBy<16>(kScaledErfc16, x); }}};
  return lanes >= 16 ? sixteen : eight;
}

const llvm::StringMap<Unary> &narrowFunctions(int64_t lanes) {
  static const llvm::StringMap<Unary> eight = {
      {"math.erfc", [](Num x) { return narrowErfcBy<8>(kErfcLog8, x); }}};
  static const llvm::StringMap<Unary> sixteen = {
      {"math.erfc", [](Num x) { return narrowErfcBy<16>(kErfcLog16, x); }}};
  return lanes >= 16 ? sixteen : eight;
}

static Num expBrief(Num x) { return expWide(clamp(x, -600, 600)); }
static Num log1pBrief(Num x) { return log1pWide(x, x + 1.0); }

const llvm::StringMap<Unary> &briefFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", expBrief},
      {"math.log", logWide},
      {"math.log1p", log1pBrief},
      {"math.sin", sineBrief<math::SinOp>},
      {"math.cos", sineBrief<math::CosOp>},
  };
  return table;
}

Num powerSingle(Num x, Num y) { return powSingle(x, y); }

} // namespace shardc::functions
