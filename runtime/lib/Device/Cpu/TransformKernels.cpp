//===- TransformKernels.cpp - Fourier transforms on one thread ------------===//
//
// As many lines as a vector has lanes are transformed side by side: a block of
// them, real and imaginary parts apart, goes through one stage a factor of the
// length (T. G. Stockham, "High-speed convolution and correlation", 1966). A
// stage sees the block as (done, radix, rest) and leaves (radix, done, rest).
// Of lengths whose block would leave the caches, a line is a matrix: its
// columns are transformed, multiplied by twiddle factors, then its rows (D. H.
// Bailey, "FFTs in external or hierarchical memory", 1990). What is done to a
// line depends on its length alone.
//
//===----------------------------------------------------------------------===//
#include "Device/Cpu/TransformKernels.h"
#include <algorithm>

#ifndef SHARDRT_TRANSFORM_LEVEL
#define SHARDRT_TRANSFORM_LEVEL transformKernelsBase
#endif

using namespace shardrt;

namespace {
namespace transforms {

template <typename T> struct Lanes;
template <> struct Lanes<float> {
  typedef float Vector __attribute__((vector_size(64)));
};
template <> struct Lanes<double> {
  typedef double Vector __attribute__((vector_size(64)));
};
template <typename T> using Vector = typename Lanes<T>::Vector;
template <typename T> constexpr int64_t width = 64 / sizeof(T);

/// A complex number of each lane, and the arithmetic of one.
template <typename T> struct Complex {
  Vector<T> re, im;
};
template <typename T>
[[gnu::always_inline]] inline Complex<T> add(Complex<T> x, Complex<T> y) {
  return {x.re + y.re, x.im + y.im};
}
template <typename T>
[[gnu::always_inline]] inline Complex<T> sub(Complex<T> x, Complex<T> y) {
  return {x.re - y.re, x.im - y.im};
}
/// -i x.
template <typename T>
[[gnu::always_inline]] inline Complex<T> rotateBack(Complex<T> x) {
  return {x.im, -x.re};
}
template <typename T>
[[gnu::always_inline]] inline Complex<T> times(Complex<T> x, T re, T im) {
  return {x.re * re - x.im * im, x.re * im + x.im * re};
}

template <typename T>
[[gnu::always_inline]] inline Vector<T> evens(Vector<T> a, Vector<T> b) {
  if constexpr (sizeof(T) == 4)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
                                   22, 24, 26, 28, 30);
  else
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}
template <typename T>
[[gnu::always_inline]] inline Vector<T> odds(Vector<T> a, Vector<T> b) {
  if constexpr (sizeof(T) == 4)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                   23, 25, 27, 29, 31);
  else
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
template <typename T>
[[gnu::always_inline]] inline Vector<T> interleaveLow(Vector<T> a,
                                                      Vector<T> b) {
  if constexpr (sizeof(T) == 4)
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                   21, 6, 22, 7, 23);
  else
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
template <typename T>
[[gnu::always_inline]] inline Vector<T> interleaveHigh(Vector<T> a,
                                                       Vector<T> b) {
  if constexpr (sizeof(T) == 4)
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                   13, 29, 14, 30, 15, 31);
  else
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// Transposes as many vectors as each has complex numbers (8 of f32, 4 of f64).
template <typename T>
[[gnu::always_inline]] inline void transpose(Vector<T> *x) {
  using V = Vector<double>;
  V *d = reinterpret_cast<V *>(x);
  if constexpr (sizeof(T) == 4) {
    V t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
      t[i] = __builtin_shufflevector(d[i], d[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
      t[i + 1] =
          __builtin_shufflevector(d[i], d[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
      for (int j = 0; j < 2; ++j) {
        V a = t[i + j], b = t[i + j + 2];
        u[i + j] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        u[i + j + 2] =
            __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
      }
    for (int j = 0; j < 4; ++j) {
      d[j] = __builtin_shufflevector(u[j], u[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
      d[j + 4] =
          __builtin_shufflevector(u[j], u[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  } else {
    V t[4];
    for (int i = 0; i < 4; i += 2) {
      t[i] = __builtin_shufflevector(d[i], d[i + 1], 0, 1, 8, 9, 4, 5, 12, 13);
      t[i + 1] =
          __builtin_shufflevector(d[i], d[i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int j = 0; j < 2; ++j) {
      d[j] = __builtin_shufflevector(t[j], t[j + 2], 0, 1, 2, 3, 8, 9, 10, 11);
      d[j + 2] =
          __builtin_shufflevector(t[j], t[j + 2], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }
}

// ThreadSanitizer sees no access of more than 16 bytes by itself.
#if __has_feature(thread_sanitizer)
extern "C" void __tsan_read_range(const void *address, unsigned long bytes);
extern "C" void __tsan_write_range(void *address, unsigned long bytes);
#else
[[gnu::always_inline]] inline void __tsan_read_range(const void *, size_t) {}
[[gnu::always_inline]] inline void __tsan_write_range(void *, size_t) {}
#endif

template <typename T>
[[gnu::always_inline]] inline Vector<T> loadVector(const T *from) {
  Vector<T> x;
  __tsan_read_range(from, sizeof(x));
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}
template <typename T>
[[gnu::always_inline]] inline void storeVector(T *to, Vector<T> x) {
  __tsan_write_range(to, sizeof(x));
  __builtin_memcpy(to, &x, sizeof(x));
}

/// Lines of complex numbers, one a lane; strides in numbers.
template <typename T> struct Side {
  T *lines[width<T>];
  int64_t count;    ///< lines
  int64_t stride;   ///< between numbers of a line
  bool adjacent;    ///< the lines are side by side, one for each lane
  int64_t part = 1; ///< from a real part to the imaginary one; 0: there is none
};

/// Where number j of a line begins.
template <typename T>
[[gnu::always_inline]] inline int64_t numberAt(const Side<T> &side, int64_t j) {
  return j * side.stride * (side.part == 0 ? 1 : 2);
}

template <typename T>
void readBlock(const Side<T> &side, int64_t n, bool swaps, Complex<T> *block) {
  constexpr int64_t w = width<T>, c = w / 2;
  auto put = [&](int64_t j, Vector<T> a, Vector<T> b) {
    Vector<T> re = evens<T>(a, b), im = odds<T>(a, b);
    block[j] = swaps ? Complex<T>{im, re} : Complex<T>{re, im};
  };
  int64_t j = 0;
  if (side.adjacent) {
    for (; j < n; ++j) {
      const T *from = side.lines[0] + 2 * j * side.stride;
      put(j, loadVector(from), loadVector(from + w));
    }
    return;
  }
  if (side.stride == 1 && side.part == 1 && side.count == w)
    for (; j + c <= n; j += c) {
      Vector<T> a[c], b[c];
      for (int64_t i = 0; i < c; ++i) {
        a[i] = loadVector<T>(side.lines[i] + 2 * j);
        b[i] = loadVector<T>(side.lines[c + i] + 2 * j);
      }
      transpose<T>(a);
      transpose<T>(b);
      for (int64_t i = 0; i < c; ++i)
        put(j + i, a[i], b[i]);
    }
  for (; j < n; ++j) {
    T both[2][w] = {};
    for (int64_t i = 0; i < side.count; ++i)
      for (int64_t part = 0; part < (side.part ? 2 : 1); ++part)
        both[swaps ? 1 - part : part][i] =
            side.lines[i][numberAt(side, j) + part * side.part];
    block[j] = {loadVector(both[0]), loadVector(both[1])};
  }
}

template <typename T>
void writeBlock(const Side<T> &side, int64_t n, bool swaps, T factor,
                const Complex<T> *block) {
  constexpr int64_t w = width<T>, c = w / 2;
  auto get = [&](int64_t j) {
    Complex<T> x = {block[j].re * factor, block[j].im * factor};
    return swaps ? Complex<T>{x.im, x.re} : x;
  };
  int64_t j = 0;
  if (side.adjacent) {
    for (; j < n; ++j) {
      Complex<T> x = get(j);
      T *to = side.lines[0] + 2 * j * side.stride;
      storeVector<T>(to, interleaveLow<T>(x.re, x.im));
      storeVector<T>(to + w, interleaveHigh<T>(x.re, x.im));
    }
    return;
  }
  if (side.stride == 1 && side.part == 1 && side.count == w)
    for (; j + c <= n; j += c) {
      Vector<T> a[c], b[c];
      for (int64_t i = 0; i < c; ++i) {
        Complex<T> x = get(j + i);
        a[i] = interleaveLow<T>(x.re, x.im);
        b[i] = interleaveHigh<T>(x.re, x.im);
      }
      transpose<T>(a);
      transpose<T>(b);
      for (int64_t i = 0; i < c; ++i) {
        storeVector<T>(side.lines[i] + 2 * j, a[i]);
        storeVector<T>(side.lines[c + i] + 2 * j, b[i]);
      }
    }
  for (; j < n; ++j) {
    Complex<T> x = get(j);
    for (int64_t i = 0; i < side.count; ++i) {
      T *to = side.lines[i] + numberAt(side, j);
      to[0] = x.re[i];
      if (side.part)
        to[side.part] = x.im[i];
    }
  }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// cos and sin of -2 pi k / n for all k, every `step`th of a longer table.
template <typename T> struct Twiddles {
  const T *cosines, *sines;
  int64_t step;
};

/// Transforms R numbers.
template <typename T, int R>
[[gnu::always_inline]] inline void
butterfly(Complex<T> *x, const Twiddles<T> &twiddles, int64_t n) {
  if constexpr (R == 2) {
    Complex<T> a = x[0], b = x[1];
    x[0] = add(a, b);
    x[1] = sub(a, b);
  } else if constexpr (R == 4) {
    Complex<T> a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]),
               d = rotateBack(sub(x[1], x[3]));
    x[0] = add(a, c);
    x[1] = add(b, d);
    x[2] = sub(a, c);
    x[3] = sub(b, d);
  } else if constexpr (R == 8) {
    Complex<T> even[4] = {x[0], x[2], x[4], x[6]},
               odd[4] = {x[1], x[3], x[5], x[7]};
    butterfly<T, 4>(even, twiddles, n);
    butterfly<T, 4>(odd, twiddles, n);
    T half = T(0.70710678118654752440);
    Complex<T> one = odd[1], three = odd[3];
    odd[1] = {(one.re + one.im) * half, (one.im - one.re) * half};
    odd[2] = rotateBack(odd[2]);
    odd[3] = {(three.im - three.re) * half, -(three.re + three.im) * half};
    for (int k = 0; k < 4; ++k) {
      x[k] = add(even[k], odd[k]);
      x[k + 4] = sub(even[k], odd[k]);
    }
  } else {
    // Of x[j] and x[R - j] sums go with cosines, differences with sines.
    constexpr int h = R / 2;
    Complex<T> sums[h], rests[h], first = x[0];
    for (int j = 0; j < h; ++j) {
      sums[j] = add(x[j + 1], x[R - 1 - j]);
      rests[j] = rotateBack(sub(x[j + 1], x[R - 1 - j]));
      x[0] = add(x[0], sums[j]);
    }
    int64_t each = n / R * twiddles.step;
    for (int k = 1; k <= h; ++k) {
      Complex<T> a = first, b = {};
      for (int j = 0; j < h; ++j) {
        int64_t at = (j + 1) * k % R * each;
        T c = twiddles.cosines[at], s = -twiddles.sines[at];
        a = {a.re + sums[j].re * c, a.im + sums[j].im * c};
        b = {b.re + rests[j].re * s, b.im + rests[j].im * s};
      }
      x[k] = add(a, b);
      x[R - k] = sub(a, b);
    }
  }
}

template <typename T, int R>
void stage(const Complex<T> *from, Complex<T> *to, int64_t n, int64_t done,
           const Twiddles<T> &twiddles) {
  int64_t rest = n / done / R;
  for (int64_t d = 0; d < done; ++d)
    for (int64_t r = 0; r < rest; ++r) {
      Complex<T> x[R];
      for (int j = 0; j < R; ++j)
        x[j] = from[(d * R + j) * rest + r];
      butterfly<T, R>(x, twiddles, n);
      to[d * rest + r] = x[0];
      for (int k = 1; k < R; ++k) {
        int64_t at = k * r * done * twiddles.step;
        to[(k * done + d) * rest + r] =
            rest == 1 ? x[k]
                      : times(x[k], twiddles.cosines[at], twiddles.sines[at]);
      }
    }
}

/// A stage of any prime.
template <typename T>
void anyStage(const Complex<T> *from, Complex<T> *to, int64_t n, int64_t done,
              int64_t radix, const Twiddles<T> &twiddles) {
  int64_t rest = n / done / radix, each = n / radix * twiddles.step;
  for (int64_t d = 0; d < done; ++d)
    for (int64_t r = 0; r < rest; ++r)
      for (int64_t k = 0; k < radix; ++k) {
        Complex<T> sum = {};
        for (int64_t j = 0; j < radix; ++j) {
          int64_t at = j * k % radix * each;
          sum = add(sum, times(from[(d * radix + j) * rest + r],
                               twiddles.cosines[at], twiddles.sines[at]));
        }
        int64_t at = k * r * done * twiddles.step;
        to[(k * done + d) * rest + r] =
            times(sum, twiddles.cosines[at], twiddles.sines[at]);
      }
}

int64_t radixOf(int64_t n) {
  // Rather two of 4 than 8 and 2.
  if (n % 8 == 0 && n / 8 != 2)
    return 8;
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

/// Returns where the result is, at one of the two.
template <typename T>
Complex<T> *transformBlock(Complex<T> *x, Complex<T> *spare, int64_t n,
                           const Twiddles<T> &twiddles) {
  for (int64_t done = 1; done < n;) {
    int64_t radix = radixOf(n / done);
    switch (radix) {
    case 2:
      stage<T, 2>(x, spare, n, done, twiddles);
      break;
    case 3:
      stage<T, 3>(x, spare, n, done, twiddles);
      break;
    case 4:
      stage<T, 4>(x, spare, n, done, twiddles);
      break;
    case 5:
      stage<T, 5>(x, spare, n, done, twiddles);
      break;
    case 7:
      stage<T, 7>(x, spare, n, done, twiddles);
      break;
    case 8:
      stage<T, 8>(x, spare, n, done, twiddles);
      break;
    default:
      anyStage<T>(x, spare, n, done, radix, twiddles);
    }
    done *= radix;
    std::swap(x, spare);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Rows of the matrix that a line of `n` numbers is; 1: it is a block.
int64_t rowsOf(const TransformCall &call) {
  int64_t n = call.length, best = 1;
  if (call.isFromReal || call.isToReal)
    return 1;
  // Two blocks of a line of this length are what a second-level cache holds.
  if (n * call.partBytes <= 16384)
    return 1;
  for (int64_t rows = 2; rows * rows <= n; ++rows)
    if (n % rows == 0)
      best = rows;
  // Thin matrices are worse than large blocks.
  return best >= 16 ? best : 1;
}

int64_t groupOf(const TransformCall &call) {
  return rowsOf(call) > 1 ? 1 : 64 / call.partBytes;
}

int64_t scratchOf(const TransformCall &call) {
  int64_t n = call.length, rows = rowsOf(call);
  if (rows == 1)
    return 2 * 128 * (n + 1);
  // Two blocks of a column or row, twiddle factors of the rows, and the matrix.
  return 2 * 128 * (n / rows) + 128 * rows + 2 * call.partBytes * n;
}

int64_t offsetOf(const TransformCall &call, const int64_t *strides,
                 int64_t line) {
  int64_t result = 0;
  for (int64_t dim = call.rank - 1; dim >= 0; --dim) {
    if (dim == call.dim)
      continue;
    result += line % call.sizes[dim] * strides[dim];
    line /= call.sizes[dim];
  }
  return result;
}

template <typename T>
Side<T> sideOf(const TransformCall &call, const char *base,
               const int64_t *strides, int64_t line, int64_t count) {
  Side<T> side;
  side.count = count;
  side.stride = strides[call.dim];
  side.adjacent = count == width<T>;
  auto *numbers = reinterpret_cast<T *>(const_cast<char *>(base));
  for (int64_t i = 0; i < count; ++i) {
    side.lines[i] = numbers + 2 * offsetOf(call, strides, line + i);
    side.adjacent &= side.lines[i] == side.lines[0] + 2 * i;
  }
  return side;
}

/// A side of lines of real numbers: an even number of them is half as many
/// complex ones; of an odd number each is one without an imaginary part.
template <typename T>
Side<T> realSideOf(const TransformCall &call, const char *base,
                   const int64_t *strides, int64_t line, int64_t count) {
  Side<T> side;
  side.count = count;
  side.stride = strides[call.dim];
  side.part = call.length % 2 == 0 ? side.stride : 0;
  side.adjacent = false;
  auto *numbers = reinterpret_cast<T *>(const_cast<char *>(base));
  for (int64_t i = 0; i < count; ++i)
    side.lines[i] = numbers + offsetOf(call, strides, line + i);
  return side;
}

/// Of z = even + i odd elements and its transform Z, m numbers, what the real
/// line's is: X[k] = (Z[k] + conj Z[m - k]) / 2 - i w (Z[k] - conj Z[m - k]) /
/// 2, w the twiddle factor of -k / n. In place, m + 1 numbers.
template <typename T>
void takeApart(Complex<T> *x, int64_t m, const T *cosines, const T *sines) {
  x[m] = x[0];
  for (int64_t k = 0; k <= m / 2; ++k) {
    Complex<T> a = x[k], b = x[m - k];
    Complex<T> sum = {(a.re + b.re) * T(0.5), (a.im - b.im) * T(0.5)},
               rest = {(a.im + b.im) * T(0.5), (b.re - a.re) * T(0.5)};
    Complex<T> rotated = times(rest, cosines[k], sines[k]);
    x[k] = add(sum, rotated);
    // That of m - k is the conjugate of sum - rotated.
    x[m - k] = {sum.re - rotated.re, rotated.im - sum.im};
  }
}

/// The way back, twice what it was: Z[k] = X[k] + conj X[m - k] + i w* (X[k] -
/// conj X[m - k]).
template <typename T>
void putTogether(Complex<T> *x, int64_t m, const T *cosines, const T *sines) {
  // Numbers that are their own conjugates have no imaginary part.
  x[0].im = Vector<T>{};
  x[m].im = Vector<T>{};
  for (int64_t k = 0; k <= m / 2; ++k) {
    Complex<T> a = x[k], b = x[m - k];
    Complex<T> sum = {a.re + b.re, a.im - b.im},
               rest = {-(a.im + b.im), a.re - b.re};
    Complex<T> rotated = times(rest, cosines[k], -sines[k]);
    x[k] = add(sum, rotated);
    x[m - k] = {sum.re - rotated.re, rotated.im - sum.im};
  }
}

template <typename T>
void transformReal(const TransformCall &call, int64_t first, int64_t last,
                   char *scratch) {
  constexpr int64_t w = width<T>;
  int64_t n = call.length, half = n / 2, isEven = n % 2 == 0;
  int64_t length = isEven ? half : n;
  auto *cosines = reinterpret_cast<const T *>(call.cosines);
  auto *sines = reinterpret_cast<const T *>(call.sines);
  Twiddles<T> twiddles{cosines, sines, isEven ? 2 : 1};
  // One number more than half a line: each block has it.
  auto *block = reinterpret_cast<Complex<T> *>(scratch), *spare = block + n + 1;
  for (int64_t line = first; line < last; line += w) {
    int64_t count = std::min(w, last - line);
    if (call.isFromReal) {
      readBlock<T>(realSideOf<T>(call, call.src, call.srcStrides, line, count),
                   length, /*swaps=*/false, block);
      Complex<T> *done = transformBlock<T>(block, spare, length, twiddles);
      if (isEven)
        takeApart<T>(done, half, cosines, sines);
      writeBlock<T>(sideOf<T>(call, call.dst, call.dstStrides, line, count),
                    half + 1, /*swaps=*/false, T(call.factor), done);
      continue;
    }
    readBlock<T>(sideOf<T>(call, call.src, call.srcStrides, line, count),
                 half + 1, /*swaps=*/false, block);
    if (isEven) {
      putTogether<T>(block, half, cosines, sines);
    } else {
      block[0].im = Vector<T>{};
      for (int64_t k = 1; k <= half; ++k)
        block[n - k] = {block[k].re, -block[k].im};
    }
    // Backwards: parts change places, before and behind.
    for (int64_t k = 0; k < length; ++k)
      std::swap(block[k].re, block[k].im);
    Complex<T> *done = transformBlock<T>(block, spare, length, twiddles);
    writeBlock<T>(realSideOf<T>(call, call.dst, call.dstStrides, line, count),
                  length, /*swaps=*/true, T(call.factor), done);
  }
}

template <typename T>
void transformLines(const TransformCall &call, int64_t first, int64_t last,
                    char *scratch) {
  if (call.isFromReal || call.isToReal)
    return transformReal<T>(call, first, last, scratch);
  constexpr int64_t w = width<T>;
  int64_t n = call.length, rows = rowsOf(call);
  auto *cosines = reinterpret_cast<const T *>(call.cosines);
  auto *sines = reinterpret_cast<const T *>(call.sines);
  bool swaps = !call.isForward;
  if (rows == 1) {
    auto *block = reinterpret_cast<Complex<T> *>(scratch), *spare = block + n;
    for (int64_t line = first; line < last; line += w) {
      int64_t count = std::min(w, last - line);
      readBlock<T>(sideOf<T>(call, call.src, call.srcStrides, line, count), n,
                   swaps, block);
      Complex<T> *done =
          transformBlock<T>(block, spare, n, {cosines, sines, 1});
      writeBlock<T>(sideOf<T>(call, call.dst, call.dstStrides, line, count), n,
                    swaps, T(call.factor), done);
    }
    return;
  }
  int64_t columns = n / rows;
  auto *block = reinterpret_cast<Complex<T> *>(scratch);
  Complex<T> *spare = block + columns, *lanes = spare + columns;
  auto *matrix = reinterpret_cast<T *>(lanes + rows);
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t i = 0; i < w; ++i) {
      lanes[k].re[i] = cosines[k * i % n];
      lanes[k].im[i] = sines[k * i % n];
    }
  // Neighbours are neighbouring columns, then rows.
  auto some = [&](T *base, int64_t stride, int64_t between, int64_t at,
                  int64_t size) {
    Side<T> side;
    side.count = std::min(w, size - at);
    side.stride = stride;
    side.adjacent = between == 1 && side.count == w;
    for (int64_t i = 0; i < side.count; ++i)
      side.lines[i] = base + 2 * (at + i) * between;
    return side;
  };
  for (int64_t line = first; line < last; ++line) {
    auto *src = reinterpret_cast<T *>(const_cast<char *>(call.src)) +
                2 * offsetOf(call, call.srcStrides, line);
    auto *dst = reinterpret_cast<T *>(call.dst) +
                2 * offsetOf(call, call.dstStrides, line);
    int64_t srcStride = call.srcStrides[call.dim],
            dstStride = call.dstStrides[call.dim];
    for (int64_t column = 0; column < columns; column += w) {
      readBlock<T>(some(src, columns * srcStride, srcStride, column, columns),
                   rows, swaps, block);
      Complex<T> *done =
          transformBlock<T>(block, spare, rows, {cosines, sines, columns});
      for (int64_t k = 1; k < rows; ++k) {
        Complex<T> x =
            times(done[k], cosines[k * column % n], sines[k * column % n]);
        Complex<T> by = lanes[k];
        done[k] = {x.re * by.re - x.im * by.im, x.re * by.im + x.im * by.re};
      }
      writeBlock<T>(some(matrix, columns, 1, column, columns), rows,
                    /*swaps=*/false, T(1), done);
    }
    for (int64_t row = 0; row < rows; row += w) {
      readBlock<T>(some(matrix, 1, columns, row, rows), columns,
                   /*swaps=*/false, block);
      Complex<T> *done =
          transformBlock<T>(block, spare, columns, {cosines, sines, rows});
      writeBlock<T>(some(dst, rows * dstStride, dstStride, row, rows), columns,
                    swaps, T(call.factor), done);
    }
  }
}

void transformSome(const TransformCall &call, int64_t first, int64_t last,
                   char *scratch) {
  if (call.partBytes == 4)
    transformLines<float>(call, first, last, scratch);
  else
    transformLines<double>(call, first, last, scratch);
}

} // namespace transforms
} // namespace

const TransformKernels shardrt::SHARDRT_TRANSFORM_LEVEL = {
    transforms::groupOf, transforms::scratchOf, transforms::transformSome};
