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

/// LAPACK's reflector H = I - tau v v^H with H^H (pivot, x) = (beta, 0), beta
/// real: of v, the one takes the pivot's place and the rest that of x.
template <typename E> double reflect(E &pivot, E *x, int64_t count, E &tau) {
  double largest = 0;
  for (int64_t j = 0; j < count; ++j)
    largest = most(largest, most(size(re(x[j])), size(im(x[j]))));
  double alpha = re(pivot), beta = alpha, part = im(pivot);
  tau = 0;
  if (largest != 0 || part != 0) {
    // Squares of the least numbers would vanish.
    int exponent = 0;
    (void)__builtin_frexp(most(largest, most(size(alpha), size(part))),
                          &exponent);
    exponent = most(exponent, -1000);
    double factor = __builtin_ldexp(1, -exponent), sum = 0;
    alpha *= factor;
    part *= factor;
    for (int64_t j = 0; j < count; ++j)
      sum += square(re(x[j]) * factor) + square(im(x[j]) * factor);
    beta = -withSign(root(sum + square(alpha) + square(part)), alpha);
    double apart = alpha - beta, over = square(apart) + square(part);
    using T = Part<E>;
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

/// Applies the product of `many` reflectors, the leftmost first, to vectors
/// that are rows. Reflectors are rows of `width` elements, zeros included.
/// `room` has place for 2 kPanel^2 elements.
template <typename E>
void applyReflectors(Rows<E> vectors, const E *reflectors, int64_t stride,
                     const E *taus, int64_t many, int64_t width, E *room,
                     E *panel) {
  // I - Y F Y^H: to z as a row, from the right by its transpose.
  E factor[kPanel][kPanel] = {};
  for (int64_t k = 0; k < many; ++k) {
    E products[kPanel];
    for (int64_t m = 0; m < k; ++m)
      products[m] =
          dot(reflectors + m * stride, reflectors + k * stride, width);
    for (int64_t m = 0; m < k; ++m) {
      E sum = 0;
      for (int64_t q = m; q < k; ++q)
        sum += factor[m][q] * products[q];
      factor[m][k] = -taus[k] * sum;
    }
    factor[k][k] = taus[k];
  }
  for (int64_t from = 0; from < vectors.count; from += kPanel) {
    int64_t some = least(kPanel, vectors.count - from);
    E *have = room, *give = room + kPanel * kPanel;
    for (int64_t i = 0; i < 2 * kPanel * kPanel; ++i)
      room[i] = 0;
    E *z = vectors.at + from * vectors.stride;
    multiply<E>(have, kPanel, {z, vectors.stride, 1}, {reflectors, 1, stride},
                some, many, width, false, panel, /*isConjugate=*/true);
    multiply<E>(give, kPanel, {have, kPanel, 1}, {&factor[0][0], 1, kPanel},
                some, many, many, false, panel);
    multiply<E>(z, vectors.stride, {give, kPanel, 1}, {reflectors, stride, 1},
                some, width, many, true, panel);
  }
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENREFLECTORS_H
