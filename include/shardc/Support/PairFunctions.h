//===- PairFunctions.h - exp and log as pairs of f64 ------------*- C++ -*-===//
//
// About twelve bits better than one f64 (T. Dekker, "A floating-point technique
// for extending the available precision", 1971): what functions are made of
// that are to be right to the last place.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_PAIRFUNCTIONS_H
#define SHARDC_SUPPORT_PAIRFUNCTIONS_H

#include "shardc/Support/Functions.h"
#include <cmath>

namespace shardc::functions {

inline constexpr double kPairRounder = 6755399441055744.0; // 1.5 * 2^52
// ln 2 in parts: the first times an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fefa38p-1,
                        kLn2Low = 0x1.ef35793c76730p-45;

inline Pair pairOf(Num x) { return {x, x.of(0)}; }
inline Num sumOf(Pair x) { return x.hi + x.lo; }

/// e^x = 2^n (1 + less), n in the low bits.
struct Exponential {
  Bits n;
  Pair less;
};

inline Exponential exponential(Pair x) {
  Num shifted = fma(x.hi, 0x1.71547652b82fep+0, x.hi.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Num first = fma(n, -kLn2High, x.hi);
  Num second = n * kLn2Low, secondLost = fma(n, kLn2Low, -second);
  Pair r = exactSum(first, -second);
  // What x.lo adds is more than a last bit of r where n is large.
  r = fastSum(r.hi, r.lo + (x.lo - secondLost));
  Num square = r.hi * r.hi, squareLost = fma(r.hi, r.hi, -square);
  squareLost = fma(r.hi * 2.0, r.lo, squareLost);
  Num tail = polynomial(r.hi, {0x1.555555555555cp-3, 0x1.5555555555558p-5,
                               0x1.111111110e9dap-7, 0x1.6c16c16c14ffdp-10,
                               0x1.a01a01b458651p-13, 0x1.a01a01ad7f2e2p-16,
                               0x1.71ddee36ab7bep-19, 0x1.27e4cc0ebc01bp-22,
                               0x1.af6ef608cc80cp-26, 0x1.1f8be3d209434p-29});
  tail = tail * (r.hi * square);
  Pair sum = fastSum(r.hi, square * 0.5);
  return {shifted.bits(),
          fastSum(sum.hi, sum.lo + (r.lo + fma(squareLost, 0.5, tail)))};
}

inline Num powerOfTwo(Bits n, Num like) {
  return asFloat((n << 52) + 0x3FF0000000000000, like);
}
inline Pair times(Pair x, Num factor) { return {x.hi * factor, x.lo * factor}; }

/// e^x times 2^`more`, where both are normal numbers.
inline Pair expPair(Pair x, int64_t more = 0) {
  Exponential e = exponential(x);
  Pair value = fastSum(x.hi.of(1), e.less.hi);
  value.lo = value.lo + e.less.lo;
  Bits n = e.n + more, half = n >> 1;
  return times(times(value, powerOfTwo(half, x.hi)),
               powerOfTwo(n - half, x.hi));
}

/// x = 2^n (1 + f + low), f between sqrt(1/2) - 1 and sqrt(2) - 1.
struct LogParts {
  Num n, f, low;
};

/// Those of a positive pair; below `least` of 2^`more` times as much.
inline LogParts logParts(Pair x, double least, int more) {
  Mask small = x.hi < least;
  double scale = std::ldexp(1.0, more);
  x = {choose(small, x.hi * scale, x.hi), choose(small, x.lo * scale, x.lo)};
  Bits shifted = x.hi.bits() - 0x3FE6A09E667F3BCD;
  Bits exponent = shifted >> 52;
  Num n = asFloat(exponent + 0x4338000000000000, x.hi) - kPairRounder;
  Num f =
      asFloat((shifted & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD, x.hi) - 1.0;
  Num back = asFloat((exponent.of(1023) - exponent) << 52, x.hi);
  Num low = choose(x.hi < 0x1p1000, x.lo * back, 0.0);
  return {choose(small, n - double(more), n), f, low};
}

/// log of a positive pair.
inline Pair logPair(Pair x) {
  auto [n, f, low] = logParts(x, 0x1p-1000, 60);
  Pair below = fastSum(x.hi.of(2), f);
  below.lo = below.lo + low;
  Pair s = Pair{f, low} / below;
  Num square = s.hi * s.hi;
  Num tail = polynomial(square, {0x1.5555555555555p-1, 0x1.9999999999d0bp-2,
                                 0x1.249249243a17bp-2, 0x1.c71c724aadfa4p-3,
                                 0x1.745ce200e71a2p-3, 0x1.3b201b6b39f7fp-3,
                                 0x1.0f680444993e4p-3, 0x1.0f0774c971d5ap-3});
  tail = tail * (s.hi * square);
  Pair mantissa = fastSum(s.hi * 2.0, fma(s.lo, 2.0, tail));
  Pair sum = exactSum(n * kLn2High, mantissa.hi);
  return fastSum(sum.hi, sum.lo + fma(n, kLn2Low, mantissa.lo));
}

inline Pair ln2(Num like) {
  return {like.of(0x1.62e42fefa39efp-1), like.of(0x1.abc9e3b39803fp-56)};
}

} // namespace shardc::functions

#endif // SHARDC_SUPPORT_PAIRFUNCTIONS_H
