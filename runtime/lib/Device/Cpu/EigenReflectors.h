//===- EigenReflectors.h - Householder's reflectors -------------*- C++ -*-===//
//
// For EigenKernels.cpp alone, as EigenVectors.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_EIGENREFLECTORS_H
#define SHARDRT_DEVICE_CPU_EIGENREFLECTORS_H

#include "Device/Cpu/EigenTridiagonal.h"

namespace {
namespace eigen {

/// Reflectors that are applied at a time.
constexpr int64_t kPanel = 32;

/// The sum of squares of numbers times `factor`. NaN if one is NaN.
template <typename T> double squares(const T *x, int64_t count, double factor) {
  constexpr int64_t w = width<double>;
  typedef T Some
      __attribute__((vector_size(w * sizeof(T)), aligned(sizeof(T))));
  Vector<double> sums[4] = {}, by = all(factor);
  int64_t j = 0;
  for (; j + 4 * w <= count; j += 4 * w)
    for (int64_t k = 0; k < 4; ++k) {
      auto some = *reinterpret_cast<const Some *>(x + j + k * w);
      Vector<double> here = __builtin_convertvector(some, Vector<double>) * by;
      sums[k] += here * here;
    }
  double sum = sumOf<double>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; j < count; ++j)
    sum += square(x[j] * factor);
  return sum;
}

/// LAPACK's reflector H = I - tau v v^H with H^H (pivot, x) = (beta, 0), beta
/// real: of v, the one takes the pivot's place and the rest that of x.
template <typename E> double reflect(E &pivot, E *x, int64_t count, E &tau) {
  using T = Part<E>;
  const T *parts = reinterpret_cast<const T *>(x);
  int64_t many = isComplex<E> ? 2 * count : count;
  double alpha = re(pivot), beta = alpha, part = im(pivot), factor = 1;
  double sum = squares(parts, many, factor),
         whole = sum + square(alpha) + square(part);
  // Squares of the least numbers vanish, those of the largest overflow.
  if (!(whole > 0x1p-900 && whole < 0x1p900)) {
    double largest = most(size(alpha), size(part));
    for (int64_t j = 0; j < many; ++j)
      largest = most(largest, size(parts[j]));
    int exponent = 0;
    (void)__builtin_frexp(largest, &exponent);
    exponent = most(exponent, -1000);
    factor = largest < __builtin_inf() ? __builtin_ldexp(1, -exponent) : 1;
    sum = squares(parts, many, factor);
    alpha *= factor;
    part *= factor;
  }
  tau = 0;
  // Of what is no number nothing is equal to zero.
  if (sum != 0 || part != 0) {
    beta = -withSign(root(sum + square(alpha) + square(part)), alpha);
    double apart = alpha - beta, over = square(apart) + square(part);
    if constexpr (isComplex<E>) {
      tau = {T((beta - alpha) / beta), T(-part / beta)};
      double real = apart / over, imaginary = -part / over;
      for (int64_t j = 0; j < count; ++j) {
        double first = x[j].re * factor, second = x[j].im * factor;
        x[j] = {T(first * real - second * imaginary),
                T(first * imaginary + second * real)};
      }
    } else {
      tau = T((beta - alpha) / beta);
      double inverse = apart / over;
      for (int64_t j = 0; j < count; ++j)
        x[j] = T(x[j] * factor * inverse);
    }
    beta /= factor;
  }
  pivot = 1;
  return beta;
}

/// Rows of memory.
template <typename E> struct Rows {
  E *at;
  int64_t stride, count;
};

/// Vectors that reflectors are applied to at a time, and what that takes: room
/// for so many elements.
constexpr int64_t kSomeVectors = 128;
constexpr int64_t kReflectorsRoom = 2 * kSomeVectors * kPanel;

/// F of H1 ... Hk = I - Y F Y^H, upper triangular. Reflectors, the columns of
/// Y, are rows of `width` elements, zeros included.
template <typename E>
void factorOf(E (&factor)[kPanel][kPanel], const E *reflectors, int64_t stride,
              const E *taus, int64_t many, int64_t width) {
  E products[kPanel][kPanel];
  // products[k][m]: the sum of conj(Y_m) Y_k.
  innerProducts(&products[0][0], kPanel, reflectors, stride, many, reflectors,
                stride, many, width);
  for (int64_t k = 0; k < many; ++k) {
    for (int64_t m = 0; m < kPanel; ++m)
      factor[m][k] = 0;
    for (int64_t m = 0; m < k; ++m) {
      E sum = 0;
      for (int64_t q = m; q < k; ++q)
        sum += factor[m][q] * products[k][q];
      factor[m][k] = -taus[k] * sum;
    }
    factor[k][k] = taus[k];
  }
}

/// Applies the product of `many` reflectors, the leftmost first, to vectors
/// that are rows; with `isAdjoint`, its adjoint. Reflectors are rows of `width`
/// elements, zeros included. `room` has place for kReflectorsRoom elements.
template <typename E>
void applyReflectors(Rows<E> vectors, const E *reflectors, int64_t stride,
                     const E *taus, int64_t many, int64_t width, E *room,
                     E *panel, bool isAdjoint = false) {
  // I - Y F Y^H: to z as a row, from the right by its transpose.
  E factor[kPanel][kPanel];
  factorOf(factor, reflectors, stride, taus, many, width);
  for (int64_t from = 0; from < vectors.count; from += kSomeVectors) {
    int64_t some = least(kSomeVectors, vectors.count - from);
    E *have = room, *give = room + kSomeVectors * kPanel;
    E *z = vectors.at + from * vectors.stride;
    innerProducts(have, kPanel, z, vectors.stride, some, reflectors, stride,
                  many, width);
    for (int64_t i = 0; i < some * kPanel; ++i)
      give[i] = 0;
    Factor<E> turned = isAdjoint ? Factor<E>{&factor[0][0], kPanel, 1}
                                 : Factor<E>{&factor[0][0], 1, kPanel};
    multiply<E>(give, kPanel, {have, kPanel, 1}, turned, some, many, many,
                false, panel, /*isConjugate=*/isAdjoint);
    multiply<E>(z, vectors.stride, {give, kPanel, 1}, {reflectors, stride, 1},
                some, width, many, true, panel);
  }
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENREFLECTORS_H
