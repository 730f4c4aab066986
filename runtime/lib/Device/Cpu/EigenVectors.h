//===- EigenVectors.h - Vectors and products of one level -------*- C++ -*-===//
//
// Sums over rows of memory, and products of matrices, for EigenKernels.cpp
// alone: all is compiled once for each level of CPUs, and none of it is shared.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_EIGENVECTORS_H
#define SHARDRT_DEVICE_CPU_EIGENVECTORS_H

#include <cstdint>
#include <initializer_list>

namespace {
namespace eigen {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64, kTileRows = 8, kTileVectors = 3;
#elif defined(__AVX__)
constexpr int64_t kVectorBytes = 32, kTileRows = 4, kTileVectors = 3;
#else
constexpr int64_t kVectorBytes = 16, kTileRows = 4, kTileVectors = 2;
#endif

template <typename T> struct Lanes {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  typedef T Loose
      __attribute__((vector_size(kVectorBytes), aligned(sizeof(T))));
};
template <typename T> using Vector = typename Lanes<T>::Vector;
template <typename T> constexpr int64_t width = kVectorBytes / sizeof(T);

template <typename T>
[[gnu::always_inline]] inline Vector<T> load(const T *from) {
  return *reinterpret_cast<const typename Lanes<T>::Loose *>(from);
}
template <typename T>
[[gnu::always_inline]] inline void store(T *to, Vector<T> x) {
  *reinterpret_cast<typename Lanes<T>::Loose *>(to) = x;
}
template <typename T> [[gnu::always_inline]] inline Vector<T> all(T x) {
  return x - Vector<T>{};
}
template <typename T> inline T sumOf(Vector<T> x) {
  T sum = 0;
  for (int64_t i = 0; i < width<T>; ++i)
    sum += x[i];
  return sum;
}

template <typename T> inline T least(T x, T y) { return y < x ? y : x; }
template <typename T> inline T most(T x, T y) { return x < y ? y : x; }
inline int64_t roundUp(int64_t x, int64_t to) { return (x + to - 1) / to * to; }
template <typename T> inline void swap(T &x, T &y) {
  T z = x;
  x = y;
  y = z;
}

/// A complex number.
template <typename T> struct Complex {
  T re = 0, im = 0;
  Complex() = default;
  Complex(T re, T im = 0) : re(re), im(im) {}
  Complex operator+(Complex y) const { return {re + y.re, im + y.im}; }
  Complex operator-(Complex y) const { return {re - y.re, im - y.im}; }
  Complex operator*(Complex y) const {
    return {re * y.re - im * y.im, re * y.im + im * y.re};
  }
  Complex operator-() const { return {-re, -im}; }
  void operator+=(Complex y) { *this = *this + y; }
  void operator-=(Complex y) { *this = *this - y; }
};

template <typename E> struct PartOf {
  using Type = E;
};
template <typename T> struct PartOf<Complex<T>> {
  using Type = T;
};
template <typename E> using Part = typename PartOf<E>::Type;
template <typename E> constexpr bool isComplex = sizeof(E) != sizeof(Part<E>);

inline float conj(float x) { return x; }
inline double conj(double x) { return x; }
template <typename T> inline Complex<T> conj(Complex<T> x) {
  return {x.re, -x.im};
}
inline float re(float x) { return x; }
inline double re(double x) { return x; }
template <typename T> inline T re(Complex<T> x) { return x.re; }
template <typename E> inline Part<E> im(E x) {
  if constexpr (isComplex<E>)
    return x.im;
  else
    return 0;
}

/// The sum of conj(x) y.
template <typename E> inline E dot(const E *x, const E *y, int64_t n) {
  E sum = 0;
  int64_t i = 0;
  if constexpr (!isComplex<E>) {
    Vector<E> s0{}, s1{};
    for (; i + 2 * width<E> <= n; i += 2 * width<E>) {
      s0 += load(x + i) * load(y + i);
      s1 += load(x + i + width<E>) * load(y + i + width<E>);
    }
    sum = sumOf<E>(s0 + s1);
  }
  for (; i < n; ++i)
    sum += conj(x[i]) * y[i];
  return sum;
}

/// y += a x.
template <typename E>
inline void addScaled(E *__restrict y, E a, const E *__restrict x, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] += a * x[i];
}

/// What is read of a factor: rows and columns by strides.
template <typename E> struct Factor {
  const E *at;
  int64_t rowStride, columnStride;
  const E &operator()(int64_t i, int64_t j) const {
    return at[i * rowStride + j * columnStride];
  }
};

/// Columns of a tile, and rows of a panel of the right factor.
template <typename E>
constexpr int64_t tileColumns =
    isComplex<E> ? 32 : kTileVectors * width<Part<E>>;
constexpr int64_t kPanelRows = 256;

/// Rows of c (as many as `rows` says) plus or minus x times a packed panel.
template <typename E>
inline void multiplyTile(E *c, int64_t stride, Factor<E> x, int64_t rows,
                         int64_t columns, int64_t depth, const E *panel,
                         bool isMinus) {
  constexpr int64_t w = width<E>;
  Vector<E> sums[kTileRows][kTileVectors] = {};
  const E *at[kTileRows];
  for (int64_t r = 0; r < kTileRows; ++r)
    at[r] = x.at + least(r, rows - 1) * x.rowStride;
  for (int64_t p = 0; p < depth; ++p) {
    Vector<E> y[kTileVectors];
    for (int64_t v = 0; v < kTileVectors; ++v)
      y[v] = *reinterpret_cast<const Vector<E> *>(panel + v * w);
#pragma clang loop unroll(full)
    for (int64_t r = 0; r < kTileRows; ++r) {
      Vector<E> factor = all<E>(*at[r]);
      at[r] += x.columnStride;
      for (int64_t v = 0; v < kTileVectors; ++v)
        sums[r][v] += factor * y[v];
    }
    panel += kTileVectors * w;
  }
  for (int64_t r = 0; r < rows; ++r) {
    E *row = c + r * stride;
    if (columns == kTileVectors * w) {
      for (int64_t v = 0; v < kTileVectors; ++v) {
        Vector<E> old = load(row + v * w);
        store<E>(row + v * w, isMinus ? old - sums[r][v] : old + sums[r][v]);
      }
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) {
      E sum = sums[r][j / w][j % w];
      row[j] += isMinus ? -sum : sum;
    }
  }
}
template <typename T>
inline void multiplyTile(Complex<T> *c, int64_t stride, Factor<Complex<T>> x,
                         int64_t rows, int64_t columns, int64_t depth,
                         const Complex<T> *panel, bool isMinus) {
  constexpr int64_t all = tileColumns<Complex<T>>;
  for (int64_t r = 0; r < rows; ++r) {
    Complex<T> sums[all] = {};
    for (int64_t p = 0; p < depth; ++p)
      addScaled(sums, x(r, p), panel + p * all, all);
    for (int64_t j = 0; j < columns; ++j)
      c[r * stride + j] += isMinus ? -sums[j] : sums[j];
  }
}

template <typename E>
constexpr int64_t kPanelSize = kPanelRows * tileColumns<E>;

/// c += x y, or c -= x y: `rows` by `columns`, with `depth` terms each. `panel`
/// has room for kPanelSize.
template <typename E>
void multiply(E *c, int64_t stride, Factor<E> x, Factor<E> y, int64_t rows,
              int64_t columns, int64_t depth, bool isMinus, E *panel,
              bool isConjugate = false) {
  constexpr int64_t all = tileColumns<E>, high = isComplex<E> ? 1 : kTileRows;
  for (int64_t p = 0; p < depth; p += kPanelRows) {
    int64_t terms = least(kPanelRows, depth - p);
    for (int64_t j = 0; j < columns; j += all) {
      int64_t some = least(all, columns - j);
      for (int64_t q = 0; q < terms; ++q)
        for (int64_t k = 0; k < all; ++k) {
          E value = k < some ? y(p + q, j + k) : E(0);
          panel[q * all + k] = isConjugate ? conj(value) : value;
        }
      for (int64_t i = 0; i < rows; i += high) {
        Factor<E> left{&x(i, p), x.rowStride, x.columnStride};
        multiplyTile(c + i * stride + j, stride, left, least(high, rows - i),
                     some, terms, panel, isMinus);
      }
    }
  }
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENVECTORS_H
