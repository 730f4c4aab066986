//===- FullPairs.h - Functions to twice the digits of f64 -------*- C++ -*-===//
//
// exp, log, sine and cosine of pairs of f64 to about 2^-102: for functions
// whose result is what two of these leave of one another. Taylor series, the
// first terms of which are sums of pairs. PairFunctions.h has what is cheaper.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_FULLPAIRS_H
#define SHARDC_SUPPORT_FULLPAIRS_H

#include "shardc/Support/PairFunctions.h"

namespace shardc::functions {

/// Horner's rule: the last coefficients as f64, the first ones as pairs.
inline Pair fullPolynomial(Pair x, llvm::ArrayRef<double[2]> leading,
                           llvm::ArrayRef<double> tail) {
  Pair sum = pairOf(polynomial(x.hi, tail));
  for (const double *c : llvm::reverse(leading))
    sum = sum * x + Pair{x.hi.of(c[0]), x.hi.of(c[1])};
  return sum;
}

/// log of a positive pair, relative to itself: also near one.
inline Pair logFull(Pair x) {
  static constexpr double kFullLog[][2] = {
      {0x1p+1, 0x0p+0},
      {0x1.5555555555555p-1, 0x1.5555555555555p-55},
      {0x1.999999999999ap-2, -0x1.999999999999ap-56},
      {0x1.2492492492492p-2, 0x1.2492492492492p-56},
      {0x1.c71c71c71c71cp-3, 0x1.c71c71c71c71cp-57},
      {0x1.745d1745d1746p-3, -0x1.745d1745d1746p-58},
      {0x1.3b13b13b13b14p-3, -0x1.3b13b13b13b14p-57},
      {0x1.1111111111111p-3, 0x1.1111111111111p-59},
      {0x1.e1e1e1e1e1e1ep-4, 0x1.e1e1e1e1e1e1ep-60},
      {0x1.af286bca1af28p-4, 0x1.af286bca1af28p-58},
      {0x1.8618618618618p-4, 0x1.8618618618618p-58},
  };
  static constexpr double kFullLogTail[] = {
      0x1.642c8590b2164p-4, 0x1.47ae147ae147bp-4, 0x1.2f684bda12f68p-4,
      0x1.1a7b9611a7b96p-4, 0x1.0842108421084p-4, 0x1.f07c1f07c1f08p-5,
      0x1.d41d41d41d41dp-5, 0x1.bacf914c1badp-5,  0x1.a41a41a41a41ap-5,
      0x1.8f9c18f9c18fap-5, 0x1.7d05f417d05f4p-5,
  };
  auto [n, f, low] = logParts(x, 0x1p-900, 200);
  Pair above = exactSum(f, low);
  Pair s = above / (above + f.of(2));
  Pair mantissa = s * fullPolynomial(s * s, kFullLog, kFullLogTail);
  Pair exact = exactProduct(n, n.of(kLn2Low));
  exact.lo = fma(n, 0x1.f97b57a079a19p-103, exact.lo);
  return (Pair{n * kLn2High, exact.hi} + mantissa) + pairOf(exact.lo);
}

/// As exponential(), for |x| below 2^9.
inline Exponential exponentialFull(Pair x) {
  static constexpr double kFullExp[][2] = {
      {0x1p+0, 0x0p+0},
      {0x1p-1, 0x0p+0},
      {0x1.5555555555555p-3, 0x1.5555555555555p-57},
      {0x1.5555555555555p-5, 0x1.5555555555555p-59},
      {0x1.1111111111111p-7, 0x1.1111111111111p-63},
      {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
      {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
      {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
      {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
      {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
      {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
      {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
      {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
  };
  static constexpr double kFullExpTail[] = {
      0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45,
      0x1.952c77030ad4ap-49, 0x1.6827863b97d97p-53, 0x1.2f49b46814157p-57,
      0x1.e542ba4020225p-62, 0x1.71b8ef6dcf572p-66, 0x1.0ce396db7f853p-70,
      0x1.761b41316381ap-75, 0x1.f2cf01972f578p-80,
  };
  Num shifted = fma(x.hi, 0x1.71547652b82fep+0, x.hi.of(kPairRounder));
  Num n = shifted - kPairRounder;
  Pair low = exactProduct(n, n.of(kLn2Low));
  low.lo = fma(n, 0x1.f97b57a079a19p-103, low.lo);
  Pair r = (pairOf(fma(n, -kLn2High, x.hi)) - low) + x.lo;
  return {shifted.bits(), r * fullPolynomial(r, kFullExp, kFullExpTail)};
}

/// (1 + less) times 2^n where that is a normal number, zero far below.
inline Pair powerFull(Exponential e) {
  Pair value = e.less + e.less.hi.of(1);
  Bits half = e.n >> 1;
  return times(times(value, powerOfTwo(half, value.hi)),
               powerOfTwo(e.n - half, value.hi));
}

/// e^x - 1, relative to itself.
inline Pair expm1Full(Exponential e) {
  Num power = powerOfTwo(e.n, e.less.hi);
  return exactSum(power, power.of(-1)) + times(e.less, power);
}

struct Angle {
  Pair sine, cosine;
};

/// Sine and cosine of a pair within 2^21.
inline Angle angleFull(Pair x) {
  static constexpr double kFullSine[][2] = {
      {0x1p+0, 0x0p+0},
      {-0x1.5555555555555p-3, -0x1.5555555555555p-57},
      {0x1.1111111111111p-7, 0x1.1111111111111p-63},
      {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
      {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
      {-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80},
      {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
      {-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97},
  };
  static constexpr double kFullSineTail[] = {
      0x1.952c77030ad4ap-49,  -0x1.2f49b46814157p-57, 0x1.71b8ef6dcf572p-66,
      -0x1.761b41316381ap-75, 0x1.3f3ccdd165fa9p-84,  -0x1.d1ab1c2dccea3p-94,
      0x1.259f98b4358adp-103,
  };
  static constexpr double kFullCosine[][2] = {
      {0x1p+0, 0x0p+0},
      {-0x1p-1, 0x0p+0},
      {0x1.5555555555555p-5, 0x1.5555555555555p-59},
      {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
      {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
      {-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
      {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
      {-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92},
      {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
  };
  static constexpr double kFullCosineTail[] = {
      -0x1.6827863b97d97p-53, 0x1.e542ba4020225p-62,  -0x1.0ce396db7f853p-70,
      0x1.f2cf01972f578p-80,  -0x1.88e85fc6a4e5ap-89, 0x1.0a18a2635085dp-98,
  };
  Num shifted = fma(x.hi, 0x1.45f306dc9c883p-1, x.hi.of(kPairRounder));
  Num n = shifted - kPairRounder;
  // pi / 2 in parts whose products with n are exact.
  Pair r = exactSum(fma(n, -0x1.921fb544p+0, x.hi), n * -0x1.0b4611a6p-34) +
           exactSum(n * -0x1.3198a2ep-69, x.lo);
  Pair last = exactProduct(n, n.of(-0x1.b839a252049c1p-104));
  r = r + last.hi;
  Pair square = r * r;
  Pair s = r * fullPolynomial(square, kFullSine, kFullSineTail),
       c = fullPolynomial(square, kFullCosine, kFullCosineTail);
  Bits quadrant = shifted.bits();
  Mask odd = isSet(quadrant, 1), back = isSet(quadrant, 2),
       under = isSet(quadrant + 1, 2);
  Pair sine = choose(odd, c, s), cosine = choose(odd, s, c);
  return {choose(back, -sine, sine), choose(under, -cosine, cosine)};
}

} // namespace shardc::functions

#endif // SHARDC_SUPPORT_FULLPAIRS_H
