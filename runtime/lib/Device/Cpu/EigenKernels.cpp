//===- EigenKernels.cpp - Eigenvalues on one thread -----------------------===//
//
// A Hermitian matrix becomes a real tridiagonal one by reflectors, a panel of
// rows at a time: within a panel the matrix is read once for each reflector,
// behind it the panel's changes are products of matrices (J. Dongarra,
// S. Hammarling, D. Sorensen, 1989). Rows are reduced from the last one up:
// what is reflected is then the begin of a row, and side by side. Eigenvectors
// are rows here too, until the end.
//
//===----------------------------------------------------------------------===//
#include "Device/Cpu/EigenKernels.h"
#include "Device/Cpu/EigenReflectors.h"
#include "Device/Cpu/Householder.h"
#include "Device/Cpu/SingularValues.h"

#ifndef SHARDRT_EIGEN_LEVEL
#define SHARDRT_EIGEN_LEVEL eigenKernelsBase
#endif

using namespace shardrt;

namespace {
namespace eigen {

/// Eigenvalues of matrices with elements of type E.
template <typename E> class Hermitian {
public:
  using T = Part<E>;
  Hermitian(const EighCall &call, char *scratch);
  static int64_t scratch(const EighCall &call);
  void run();

private:
  /// Elements from row to row: rows begin in lines of the cache, and not all in
  /// the same set.
  static int64_t strideOf(int64_t n) { return roundUp(n, 16) + 16; }
  static int64_t changesSize(int64_t stride) {
    return most(3 * kPanel * roundUp(stride, 64), kReflectorsRoom);
  }
  bool readMatrix();
  void writeNothing();
  void reduce();
  void updateRow(int64_t i, int64_t high);
  void reflectRow(int64_t i);
  void multiplyReflector(int64_t i, E *to);
  void finishPair(int64_t i, int64_t high);
  void updateRest(int64_t low, int64_t high);
  void transformBack();
  void writeResults();

  E *row(int64_t i) { return matrix + i * stride; }
  E *pair(int64_t i) { return pairs + i % kPanel * stride; }

  const EighCall &call;
  int64_t n, stride;
  int exponent = 0; ///< of two, by whose power the matrix is smaller here
  E *matrix;  ///< both triangles; below the diagonal reflectors, by and by
  E *vectors; ///< rows: eigenvectors
  E *pairs;   ///< what a reflector changes, with itself: a row for each one
  E *changes; ///< panels, and what vectors have of reflectors
  E *panel;
  E *taus;
  T *realVectors;
  double *d, *e;
  int64_t *order, *spare;
  char *rest;
};

template <typename E> int64_t Hermitian<E>::scratch(const EighCall &call) {
  int64_t n = call.n, stride = strideOf(n), room = roundUp(n, 64);
  int64_t bytes = sizeof(E) * (n * stride + kPanel * stride +
                               changesSize(stride) + kPanelSize<E> + room) +
                  room * (2 * sizeof(double) + 2 * sizeof(int64_t));
  if (call.vectors)
    bytes += sizeof(T) * n * stride + DivideAndConquer<T>::scratch(n, stride) +
             (isComplex<E> ? sizeof(E) * n * stride : 0);
  return roundUp(bytes, 64) + 64;
}

template <typename E>
Hermitian<E>::Hermitian(const EighCall &call, char *scratch)
    : call(call), n(call.n), stride(strideOf(n)) {
  auto take = [&](auto *&pointer, int64_t count) {
    pointer = reinterpret_cast<decltype(+pointer)>(scratch);
    scratch += count * sizeof(*pointer);
  };
  int64_t room = roundUp(n, 64);
  take(matrix, n * stride);
  take(pairs, kPanel * stride);
  take(changes, changesSize(stride));
  take(panel, kPanelSize<E>);
  take(taus, room);
  take(d, room);
  take(e, room);
  take(order, room);
  take(spare, room);
  if (call.vectors) {
    take(realVectors, n * stride);
    if constexpr (isComplex<E>)
      take(vectors, n * stride);
    else
      vectors = realVectors;
  }
  rest = scratch;
}

/// Fills both triangles, scaled by a power of two so that the largest part is
/// about one. False if an element is NaN or infinite.
template <typename E> bool Hermitian<E>::readMatrix() {
  const E *from = reinterpret_cast<const E *>(call.matrix);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = n; j < stride; ++j)
      row(i)[j] = 0;
  T largest = 0, poison = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      int64_t r = call.isUpper ? j : i, c = call.isUpper ? i : j;
      E x = from[r * call.rowStride + c * call.columnStride];
      if (call.isUpper)
        x = conj(x);
      if (i == j)
        x = re(x);
      row(i)[j] = x;
      T real = re(x), imaginary = im(x);
      poison += (real - real) + (imaginary - imaginary);
      largest = most(largest, most(real < 0 ? -real : real,
                                   imaginary < 0 ? -imaginary : imaginary));
    }
  if (poison != 0)
    return false;
  double factor = unitFactor(largest, exponent);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      row(i)[j] = scaled(row(i)[j], factor);
      row(j)[i] = conj(row(i)[j]);
    }
  return true;
}

template <typename E> void Hermitian<E>::writeNothing() {
  T nan = __builtin_nanf("");
  for (int64_t i = 0; i < n; ++i) {
    reinterpret_cast<T *>(call.values)[i * call.valueStride] = nan;
    for (int64_t j = 0; j < n && call.vectors; ++j) {
      E *to = reinterpret_cast<E *>(call.vectors) + i * call.vectorRowStride +
              j * call.vectorColumnStride;
      if constexpr (isComplex<E>)
        *to = {nan, nan};
      else
        *to = nan;
    }
  }
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// Takes from row i, up to its diagonal, what the reflectors of rows behind it,
/// below `high`, change.
template <typename E> void Hermitian<E>::updateRow(int64_t i, int64_t high) {
  for (int64_t p = i + 1; p < high; ++p) {
    // Row by row: conjugates of what stands in columns.
    E v = -row(p)[i], w = -pair(p)[i];
    if constexpr (isComplex<E>) {
      addScaled<E, true>(row(i), v, pair(p), i + 1);
      addScaled<E, true>(row(i), w, row(p), i + 1);
    } else {
      E *__restrict to = row(i);
      const E *x = pair(p), *y = row(p);
      for (int64_t j = 0; j <= i; ++j)
        to[j] += v * x[j] + w * y[j];
    }
  }
}

/// Leaves of row i, in front of its diagonal, the last element alone; a
/// reflector of its conjugate takes the row's place.
template <typename E> void Hermitian<E>::reflectRow(int64_t i) {
  E *x = row(i);
  if constexpr (isComplex<E>)
    for (int64_t j = 0; j < i; ++j)
      x[j] = conj(x[j]);
  e[i - 1] = reflect(x[i - 1], x, i - 1, taus[i]);
}

/// The sum of a v; and to += conj(a) mine.
template <typename T>
Complex<T> multiplyRow(const Complex<T> *a, const Complex<T> *v,
                       Complex<T> mine, Complex<T> *to, int64_t n) {
  constexpr int64_t w = elementsOf<Complex<T>>;
  Vector<T> same{}, other{}, one = pairsOf<T>(mine.re, -mine.re),
                             two = all<T>(mine.im);
  int64_t c = 0;
  for (; c + w <= n; c += w) {
    Vector<T> here = loadElements(a + c), turned = swapParts<T>(here),
              x = loadElements(v + c);
    same += here * x;
    other += turned * x;
    storeElements(to + c, loadElements(to + c) + one * here + two * turned);
  }
  Complex<T> sum;
  for (int64_t k = 0; k < width<T>; k += 2) {
    sum.re += same[k] - same[k + 1];
    sum.im += other[k] + other[k + 1];
  }
  for (; c < n; ++c) {
    sum += a[c] * v[c];
    to[c] += conj(a[c]) * mine;
  }
  return sum;
}

/// to = A v of the leading rows and columns, v row i: each row below the
/// diagonal counts as a column too. Blocks on the diagonal have both triangles.
template <typename E> void Hermitian<E>::multiplyReflector(int64_t i, E *to) {
  const E *v = row(i);
  if constexpr (isComplex<E>) {
    for (int64_t j = 0; j < i; ++j)
      to[j] = 0;
    for (int64_t r = 0; r < i; ++r) {
      E sum = row(r)[r] * v[r];
      to[r] += sum + multiplyRow(row(r), v, v[r], to, r);
    }
  } else {
    // Blocks on the diagonal are a vector wide, and as many rows at most high.
    constexpr int64_t w = width<E>, rows = w < 4 ? w : 4;
    int64_t end = roundUp(i, w);
    for (int64_t j = i; j < end; ++j)
      row(i)[j] = 0;
    for (int64_t j = 0; j < end; ++j)
      to[j] = 0;
    for (int64_t r = 0; r < i; r += rows) {
      const E *a[rows];
      Vector<E> sums[rows] = {}, mine[rows];
      for (int64_t k = 0; k < rows; ++k) {
        a[k] = row(least(r + k, i - 1));
        mine[k] = all<E>(r + k < i ? v[r + k] : E(0));
      }
      int64_t block = r / w * w;
      for (int64_t c = 0; c < block; c += w) {
        Vector<E> x = load(v + c), y = load(to + c);
        for (int64_t k = 0; k < rows; ++k) {
          Vector<E> here = load(a[k] + c);
          sums[k] += here * x;
          y += here * mine[k];
        }
        store<E>(to + c, y);
      }
      for (int64_t k = 0; k < rows; ++k)
        sums[k] += load(a[k] + block) * load(v + block);
      for (int64_t k = 0; k < rows && r + k < i; ++k)
        to[r + k] += sumOf<E>(sums[k]);
    }
  }
}

/// The w of A - v w^H - w v^H, with v row i.
template <typename E> void Hermitian<E>::finishPair(int64_t i, int64_t high) {
  E *w = pair(i), tau = taus[i];
  const E *v = row(i);
  if (re(tau) == 0 && im(tau) == 0) {
    for (int64_t j = 0; j < i; ++j)
      w[j] = 0;
    return;
  }
  multiplyReflector(i, w);
  for (int64_t p = i + 1; p < high; ++p) {
    E ofW = dot(pair(p), v, i), ofV = dot<E>(row(p), v, i);
    addScaled(w, -ofW, row(p), i);
    addScaled<E>(w, -ofV, pair(p), i);
  }
  for (int64_t j = 0; j < i; ++j)
    w[j] = w[j] * tau;
  E half = T(-0.5);
  addScaled(w, half * conj(tau) * dot(v, w, i), v, i);
}

/// Changes rows and columns below `low` by the reflectors of rows up to `high`.
template <typename E> void Hermitian<E>::updateRest(int64_t low, int64_t high) {
  constexpr int64_t someRows = 64;
  int64_t count = high - low, wide = roundUp(stride, 64);
  E *w = changes, *v = w + count * wide, *again = v + count * wide;
  for (int64_t p = 0; p < count; ++p)
    for (int64_t j = 0; j < low; ++j) {
      v[p * wide + j] = row(low + p)[j];
      w[p * wide + j] = again[p * wide + j] = pair(low + p)[j];
    }
  for (int64_t i = 0; i < low; i += someRows) {
    int64_t end = least(i + someRows, low);
    multiply<E>(row(i), stride, {v + i, 1, wide}, {w, wide, 1}, end - i, end,
                2 * count, true, panel, /*isConjugate=*/true);
  }
}

template <typename E> void Hermitian<E>::reduce() {
  for (int64_t high = n; high > 0;) {
    int64_t low = most(high - kPanel, int64_t(0));
    for (int64_t i = high - 1; i >= low; --i) {
      updateRow(i, high);
      d[i] = re(row(i)[i]);
      if (i == 0)
        break;
      reflectRow(i);
      finishPair(i, high);
    }
    updateRest(low, high);
    high = low;
  }
}

//===----------------------------------------------------------------------===//
// Eigenvectors
//===----------------------------------------------------------------------===//

/// H_n-1 ... H_1 to all eigenvectors of the tridiagonal matrix, H_1 first.
template <typename E> void Hermitian<E>::transformBack() {
  if constexpr (isComplex<E>)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        vectors[i * stride + j] = realVectors[i * stride + j];
  for (int64_t low = 1; low < n; low += kPanel) {
    int64_t high = least(low + kPanel, n), count = high - low;
    E own[kPanel];
    for (int64_t k = 0; k < count; ++k) {
      int64_t i = high - 1 - k;
      own[k] = taus[i];
      for (int64_t j = 0; j < high - 1; ++j)
        pairs[k * stride + j] = j < i ? row(i)[j] : E(0);
    }
    applyReflectors<E>({vectors, stride, n}, pairs, stride, own, count,
                       high - 1, changes, panel);
  }
}

template <typename E> void Hermitian<E>::writeResults() {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T *>(call.values)[i * call.valueStride] =
        T(__builtin_ldexp(d[order[i]], exponent));
  writeColumns<E>({reinterpret_cast<E *>(call.vectors), call.vectorRowStride,
                   call.vectorColumnStride},
                  n, n, vectors, stride, order,
                  [](int64_t, E element) { return element; });
}

template <typename E> void Hermitian<E>::run() {
  if (!readMatrix())
    return writeNothing();
  reduce();
  if (call.vectors) {
    DivideAndConquer<T>(n, d, e, realVectors, stride, rest).run();
    transformBack();
  } else {
    iterate<T>(n, d, e, nullptr, 0, 0);
  }
  sortByKeys(n, d, order, spare);
  writeResults();
}

} // namespace eigen

/// `use(element)` of an element of the type that `call` is of.
template <typename Call, typename Use>
auto ofElement(const Call &call, const Use &use) {
  if (call.partBytes == 4)
    return call.isComplex ? use(eigen::Complex<float>()) : use(0.0f);
  return call.isComplex ? use(eigen::Complex<double>()) : use(0.0);
}

int64_t householderScratch(const HouseholderCall &call) {
  return ofElement(call, [&](auto element) {
    return eigen::Householder<decltype(element)>::scratch(call);
  });
}
void householder(const HouseholderCall &call, char *scratch) {
  ofElement(call, [&](auto element) {
    eigen::Householder<decltype(element)>(call, scratch).run();
  });
}
int64_t eighScratch(const EighCall &call) {
  return ofElement(call, [&](auto element) {
    return eigen::Hermitian<decltype(element)>::scratch(call);
  });
}
int64_t svdScratch(const SvdCall &call) {
  return ofElement(call, [&](auto element) {
    using E = decltype(element);
    return eigen::TallSingular<E>::isFor(call)
               ? eigen::TallSingular<E>::scratch(call)
               : eigen::Singular<E>::scratch(call);
  });
}
void eigh(const EighCall &call, char *scratch) {
  ofElement(call, [&](auto element) {
    eigen::Hermitian<decltype(element)>(call, scratch).run();
  });
}
void svd(const SvdCall &call, char *scratch) {
  ofElement(call, [&](auto element) {
    using E = decltype(element);
    if (eigen::TallSingular<E>::isFor(call))
      eigen::TallSingular<E>(call, scratch).run();
    else
      eigen::Singular<E>(call, scratch).run();
  });
}
} // namespace

const EigenKernels shardrt::SHARDRT_EIGEN_LEVEL = {
    eighScratch, eigh, svdScratch, svd, householderScratch, householder};
