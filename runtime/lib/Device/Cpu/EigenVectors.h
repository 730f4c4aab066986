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

// Tiles of a product: rows, and vectors of a row. Of complex numbers a vector
// of real parts and one of imaginary parts count as one.
#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64, kTileRows = 8, kTileVectors = 3,
                  kComplexRows = 4, kComplexVectors = 3;
#elif defined(__AVX__)
constexpr int64_t kVectorBytes = 32, kTileRows = 4, kTileVectors = 3,
                  kComplexRows = 2, kComplexVectors = 2;
#else
constexpr int64_t kVectorBytes = 16, kTileRows = 4, kTileVectors = 2,
                  kComplexRows = 2, kComplexVectors = 2;
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

/// The power of two with which numbers whose largest part is `largest` come to
/// about one; `exponent` takes them back.
template <typename T> inline double unitFactor(T largest, int &exponent) {
  if (largest != 0)
    (void)__builtin_frexp(largest, &exponent);
  // Of the least numbers the inverse is out of range.
  exponent = most(exponent, -1000);
  return __builtin_ldexp(1, -exponent);
}

template <typename E> inline E scaled(E x, double factor) {
  using T = Part<E>;
  if constexpr (isComplex<E>)
    return {T(x.re * factor), T(x.im * factor)};
  else
    return T(x * factor);
}

/// Exchanges neighbours, which are the parts of complex numbers.
template <typename T>
[[gnu::always_inline]] inline Vector<T> swapParts(Vector<T> x) {
  if constexpr (width<T> == 16)
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10,
                                   13, 12, 15, 14);
  else if constexpr (width<T> == 8)
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
  else if constexpr (width<T> == 4)
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
  else
    return __builtin_shufflevector(x, x, 1, 0);
}

/// even, odd, even, odd, and so on.
template <typename T>
[[gnu::always_inline]] inline Vector<T> pairsOf(T even, T odd) {
  Vector<T> x;
  for (int64_t i = 0; i < width<T>; i += 2) {
    x[i] = even;
    x[i + 1] = odd;
  }
  return x;
}

/// Elements of a vector: half as many where parts of complex numbers are side
/// by side.
template <typename E>
constexpr int64_t elementsOf = width<Part<E>> / (isComplex<E> ? 2 : 1);

template <typename E>
[[gnu::always_inline]] inline Vector<Part<E>> loadElements(const E *from) {
  return load(reinterpret_cast<const Part<E> *>(from));
}
template <typename E>
[[gnu::always_inline]] inline void storeElements(E *to, Vector<Part<E>> x) {
  store<Part<E>>(reinterpret_cast<Part<E> *>(to), x);
}

/// A sum of x conj(y), kept as vectors: products of equal parts, and of others.
template <typename E> struct Sum {
  Vector<Part<E>> same{}, other{};

  [[gnu::always_inline]] void add(Vector<Part<E>> x, Vector<Part<E>> y) {
    same += x * y;
    if constexpr (isComplex<E>)
      other += swapParts<Part<E>>(x) * y;
  }
  void operator+=(const Sum &so) {
    same += so.same;
    other += so.other;
  }
  E total() const {
    if constexpr (isComplex<E>) {
      // x.im y.re stands at even places, x.re y.im at odd ones.
      Part<E> imaginary = 0;
      for (int64_t i = 0; i < width<Part<E>>; i += 2)
        imaginary += other[i] - other[i + 1];
      return {sumOf<Part<E>>(same), imaginary};
    } else {
      return sumOf<E>(same);
    }
  }
};

/// The sum of conj(x) y.
template <typename E> inline E dot(const E *x, const E *y, int64_t n) {
  constexpr int64_t w = elementsOf<E>;
  Sum<E> first, second;
  int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    first.add(loadElements(y + i), loadElements(x + i));
    second.add(loadElements(y + i + w), loadElements(x + i + w));
  }
  first += second;
  E sum = first.total();
  for (; i < n; ++i)
    sum += conj(x[i]) * y[i];
  return sum;
}

/// y += a x, or a conj(x).
template <typename E, bool isConjugate = false>
inline void addScaled(E *__restrict y, E a, const E *__restrict x, int64_t n) {
  int64_t i = 0;
  if constexpr (isComplex<E>) {
    using T = Part<E>;
    constexpr int64_t w = elementsOf<E>;
    Vector<T> same = pairsOf<T>(a.re, isConjugate ? -a.re : a.re),
              other = pairsOf<T>(isConjugate ? a.im : -a.im, a.im);
    for (; i + w <= n; i += w) {
      Vector<T> from = loadElements(x + i);
      storeElements(y + i, loadElements(y + i) + same * from +
                               other * swapParts<T>(from));
    }
  }
  for (; i < n; ++i)
    y[i] += a * (isConjugate ? conj(x[i]) : x[i]);
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
    (isComplex<E> ? kComplexVectors : kTileVectors) * width<Part<E>>;
template <typename E>
constexpr int64_t tileRows = isComplex<E> ? kComplexRows : kTileRows;
constexpr int64_t kPanelRows = 256;

/// A tile of c plus or minus x times y, whose rows are `step` elements apart.
template <int64_t most, typename E>
inline void multiplyTile(E *c, int64_t stride, Factor<E> x, int64_t rows,
                         int64_t columns, int64_t depth, const E *y,
                         int64_t step, bool isMinus) {
  constexpr int64_t w = width<E>;
  Vector<E> sums[most][kTileVectors] = {};
  const E *at[most];
  for (int64_t r = 0; r < most; ++r)
    at[r] = x.at + least(r, rows - 1) * x.rowStride;
  for (int64_t p = 0; p < depth; ++p) {
    Vector<E> right[kTileVectors];
    for (int64_t v = 0; v < kTileVectors; ++v)
      right[v] = load(y + v * w);
#pragma clang loop unroll(full)
    for (int64_t r = 0; r < most; ++r) {
      Vector<E> factor = all<E>(*at[r]);
      at[r] += x.columnStride;
      for (int64_t v = 0; v < kTileVectors; ++v)
        sums[r][v] += factor * right[v];
    }
    y += step;
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

/// The same of a packed panel, where of each row real parts come first.
template <int64_t most, typename T>
inline void multiplyTile(Complex<T> *c, int64_t stride, Factor<Complex<T>> x,
                         int64_t rows, int64_t columns, int64_t depth,
                         const Complex<T> *panel, int64_t, bool isMinus) {
  constexpr int64_t w = width<T>, high = kComplexVectors;
  Vector<T> real[most][high] = {}, imaginary[most][high] = {};
  const Complex<T> *at[most];
  for (int64_t r = 0; r < most; ++r)
    at[r] = x.at + least(r, rows - 1) * x.rowStride;
  const T *y = reinterpret_cast<const T *>(panel);
  for (int64_t p = 0; p < depth; ++p) {
    Vector<T> re[high], im[high];
    for (int64_t v = 0; v < high; ++v) {
      re[v] = load(y + v * w);
      im[v] = load(y + (high + v) * w);
    }
#pragma clang loop unroll(full)
    for (int64_t r = 0; r < most; ++r) {
      Vector<T> first = all<T>(at[r]->re), second = all<T>(at[r]->im);
      at[r] += x.columnStride;
      for (int64_t v = 0; v < high; ++v) {
        real[r][v] += first * re[v];
        real[r][v] -= second * im[v];
        imaginary[r][v] += first * im[v];
        imaginary[r][v] += second * re[v];
      }
    }
    y += 2 * high * w;
  }
  T sign = isMinus ? -1 : 1;
  for (int64_t r = 0; r < rows; ++r) {
    T first[high * w], second[high * w], *to = &c[r * stride].re;
    for (int64_t v = 0; v < high; ++v) {
      store<T>(first + v * w, real[r][v] * all<T>(sign));
      store<T>(second + v * w, imaginary[r][v] * all<T>(sign));
    }
    for (int64_t j = 0; j < columns; ++j) {
      to[2 * j] += first[j];
      to[2 * j + 1] += second[j];
    }
  }
}

template <typename E>
constexpr int64_t kPanelSize = kPanelRows * tileColumns<E>;

/// Copies `terms` rows of y, `some` columns of them, and zeros beside.
template <typename E>
inline void pack(Factor<E> y, int64_t terms, int64_t some, E *__restrict panel,
                 bool isConjugate) {
  using T = Part<E>;
  constexpr int64_t all = tileColumns<E>;
  T sign = isConjugate ? -1 : 1;
  for (int64_t q = 0; q < terms; ++q, panel += all) {
    const E *__restrict from = y.at + q * y.rowStride;
    if constexpr (isComplex<E>) {
      T *__restrict to = reinterpret_cast<T *>(panel);
      int64_t step = y.columnStride;
      if (step == 1 && some == all)
        for (int64_t k = 0; k < all; ++k) {
          to[k] = from[k].re;
          to[all + k] = sign * from[k].im;
        }
      else
        for (int64_t k = 0; k < all; ++k) {
          to[k] = k < some ? from[k * step].re : 0;
          to[all + k] = k < some ? sign * from[k * step].im : 0;
        }
    } else if (y.columnStride == 1 && some == all) {
      for (int64_t k = 0; k < all; ++k)
        panel[k] = from[k];
    } else {
      for (int64_t k = 0; k < all; ++k)
        panel[k] = k < some ? from[k * y.columnStride] : 0;
    }
  }
}

/// c += x y, or c -= x y: `rows` by `columns`, with `depth` terms each. `panel`
/// has room for kPanelSize.
template <typename E>
void multiply(E *c, int64_t stride, Factor<E> x, Factor<E> y, int64_t rows,
              int64_t columns, int64_t depth, bool isMinus, E *panel,
              bool isConjugate = false) {
  constexpr int64_t all = tileColumns<E>, high = tileRows<E>, half = high / 2;
  for (int64_t p = 0; p < depth; p += kPanelRows) {
    int64_t terms = least(kPanelRows, depth - p);
    for (int64_t j = 0; j < columns; j += all) {
      int64_t some = least(all, columns - j);
      // A few rows of numbers that are side by side are not worth a copy.
      bool isPacked =
          isComplex<E> || y.columnStride != 1 || some < all || rows > 4 * high;
      if (isPacked)
        pack<E>({&y(p, j), y.rowStride, y.columnStride}, terms, some, panel,
                isConjugate);
      const E *right = isPacked ? panel : &y(p, j);
      int64_t step = isPacked ? all : y.rowStride;
      for (int64_t i = 0; i < rows; i += high) {
        Factor<E> left{&x(i, p), x.rowStride, x.columnStride};
        E *to = c + i * stride + j;
        if (rows - i <= half)
          multiplyTile<half>(to, stride, left, rows - i, some, terms, right,
                             step, isMinus);
        else
          multiplyTile<high>(to, stride, left, least(high, rows - i), some,
                             terms, right, step, isMinus);
      }
    }
  }
}

/// to(i, k) = the sum of z_i conj(y_k), both of them rows, in blocks of `high`
/// by `wide` sums.
template <int64_t high, int64_t wide, typename E>
inline void multiplyRows(E *to, int64_t stride, const E *z, int64_t zStride,
                         const E *y, int64_t yStride, int64_t count) {
  constexpr int64_t w = elementsOf<E>;
  Sum<E> sums[high][wide];
  int64_t j = 0;
  for (; j + w <= count; j += w) {
    Vector<Part<E>> right[wide];
    for (int64_t k = 0; k < wide; ++k)
      right[k] = loadElements(y + k * yStride + j);
    for (int64_t i = 0; i < high; ++i) {
      Vector<Part<E>> left = loadElements(z + i * zStride + j);
      for (int64_t k = 0; k < wide; ++k)
        sums[i][k].add(left, right[k]);
    }
  }
  for (int64_t i = 0; i < high; ++i)
    for (int64_t k = 0; k < wide; ++k) {
      E sum = sums[i][k].total();
      for (int64_t rest = j; rest < count; ++rest)
        sum += z[i * zStride + rest] * conj(y[k * yStride + rest]);
      to[i * stride + k] = sum;
    }
}

/// Sums that are in registers at a time.
constexpr int64_t kSumRows = kVectorBytes == 64 ? 4 : 2;
template <typename E>
constexpr int64_t sumColumns = isComplex<E> && kVectorBytes < 64 ? 2 : 4;

/// to = z y^H, of `rows` times `columns` sums of `count` terms.
template <typename E>
void innerProducts(E *to, int64_t stride, const E *z, int64_t zStride,
                   int64_t rows, const E *y, int64_t yStride, int64_t columns,
                   int64_t count) {
  constexpr int64_t high = kSumRows, wide = sumColumns<E>;
  for (int64_t i = 0; i < rows;) {
    bool isHigh = i + high <= rows;
    for (int64_t k = 0; k < columns;) {
      bool isWide = k + wide <= columns;
      E *at = to + i * stride + k;
      const E *left = z + i * zStride, *right = y + k * yStride;
      if (isHigh && isWide)
        multiplyRows<high, wide>(at, stride, left, zStride, right, yStride,
                                 count);
      else if (isHigh)
        multiplyRows<high, 1>(at, stride, left, zStride, right, yStride, count);
      else if (isWide)
        multiplyRows<1, wide>(at, stride, left, zStride, right, yStride, count);
      else
        multiplyRows<1, 1>(at, stride, left, zStride, right, yStride, count);
      k += isWide ? wide : 1;
    }
    i += isHigh ? high : 1;
  }
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENVECTORS_H
