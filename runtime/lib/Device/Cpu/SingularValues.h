//===- SingularValues.h - Singular values on one thread ---------*- C++ -*-===//
//
// A matrix becomes a bidiagonal one by reflectors from the left and the right
// (G. Golub and W. Kahan, 1965). It is read twice for each pair of them: once
// for what the right one needs, and once to change it, with what the next left
// one needs. For EigenKernels.cpp alone, as EigenVectors.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_SINGULARVALUES_H
#define SHARDRT_DEVICE_CPU_SINGULARVALUES_H

#include "Device/Cpu/EigenBidiagonal.h"
#include "Device/Cpu/EigenKernels.h"
#include "Device/Cpu/EigenReflectors.h"
#include "Device/Cpu/Householder.h"

namespace {
namespace eigen {

/// Reads the matrix of `call` to rows `stride` apart, whose rest is zero: by a
/// power of two smaller, so that the largest part is about one. False if an
/// element is NaN or infinite.
template <typename E>
bool readScaled(const shardrt::SvdCall &call, E *to, int64_t stride,
                int &exponent) {
  using T = Part<E>;
  const E *from = reinterpret_cast<const E *>(call.matrix);
  T largest = 0, poison = 0;
  for (int64_t i = 0; i < call.rows; ++i) {
    E *row = to + i * stride;
    for (int64_t j = 0; j < call.columns; ++j) {
      E x = from[i * call.rowStride + j * call.columnStride];
      row[j] = x;
      T real = re(x), imaginary = im(x);
      poison += (real - real) + (imaginary - imaginary);
      largest = most(largest, most(real < 0 ? -real : real,
                                   imaginary < 0 ? -imaginary : imaginary));
    }
    for (int64_t j = call.columns; j < stride; ++j)
      row[j] = 0;
  }
  if (poison != 0)
    return false;
  double factor = unitFactor(largest, exponent);
  for (int64_t i = 0; i < call.rows * stride; ++i)
    to[i] = scaled(to[i], factor);
  return true;
}

/// NaN for all that `call` asks for.
template <typename E> void writeNothing(const shardrt::SvdCall &call) {
  using T = Part<E>;
  T nan = __builtin_nanf("");
  E nothing = nan;
  if constexpr (isComplex<E>)
    nothing.im = nan;
  for (int64_t j = 0; j < call.columns; ++j) {
    reinterpret_cast<T *>(call.values)[j * call.valueStride] = nan;
    for (int64_t i = 0; i < call.rows && call.left; ++i)
      reinterpret_cast<E *>(
          call.left)[i * call.leftRowStride + j * call.leftColumnStride] =
          nothing;
    for (int64_t i = 0; i < call.columns && call.right; ++i)
      reinterpret_cast<E *>(
          call.right)[i * call.rightRowStride + j * call.rightColumnStride] =
          nothing;
  }
}

/// Singular values of matrices with elements of type E.
template <typename E> class Singular {
public:
  using T = Part<E>;
  Singular(const shardrt::SvdCall &call, char *scratch);
  static int64_t scratch(const shardrt::SvdCall &call);
  void run();

private:
  static int64_t strideOf(int64_t n) { return roundUp(n, 16) + 16; }
  void reduce();
  void multiplyRight(int64_t k, const E *v, E *to);
  void change(int64_t k, const E *v, const E *ofRows);
  void transformBack(T *from, Rows<E> to, const E *reflectors, int64_t length,
                     const E *taus, int64_t count);
  void writeResults();

  E *row(int64_t i) { return matrix + i * stride; }

  const shardrt::SvdCall &call;
  int64_t m, n, stride, high;
  int exponent = 0;
  E *matrix, *lefts, *rights, *sums, *ofRows, *leftTaus, *rightTaus;
  E *leftVectors, *rightVectors, *room, *panel;
  T *left, *right;
  double *d, *e, *values;
  int64_t *order, *spare;
  char *rest;
};

template <typename E>
int64_t Singular<E>::scratch(const shardrt::SvdCall &call) {
  int64_t m = call.rows, n = call.columns, stride = strideOf(n),
          high = strideOf(m), room = roundUp(high, 64);
  int64_t elements = m * stride + 2 * n * high + 2 * n * stride + 4 * room +
                     kReflectorsRoom + kPanelSize<E>;
  return roundUp(sizeof(E) * elements + sizeof(T) * 2 * n * stride +
                     room * (3 * sizeof(double) + 2 * sizeof(int64_t)) +
                     BidiagonalValues<T>::scratch(n, stride),
                 64) +
         64;
}

template <typename E>
Singular<E>::Singular(const shardrt::SvdCall &call, char *scratch)
    : call(call), m(call.rows), n(call.columns), stride(strideOf(n)),
      high(strideOf(m)) {
  auto take = [&](auto *&pointer, int64_t count) {
    pointer = reinterpret_cast<decltype(+pointer)>(scratch);
    scratch += count * sizeof(*pointer);
  };
  int64_t some = roundUp(high, 64);
  take(matrix, m * stride);
  take(lefts, n * high);
  take(leftVectors, n * high);
  take(rights, n * stride);
  take(rightVectors, n * stride);
  for (E **each : {&sums, &ofRows, &leftTaus, &rightTaus})
    take(*each, some);
  take(room, kReflectorsRoom);
  take(panel, kPanelSize<E>);
  take(left, n * stride);
  take(right, n * stride);
  for (double **each : {&d, &e, &values})
    take(*each, some);
  take(order, some);
  take(spare, some);
  rest = scratch;
}

/// to = A v of rows behind k, v from column k + 1 on.
template <typename E>
void Singular<E>::multiplyRight(int64_t k, const E *v, E *to) {
  E *conjugate = rightVectors; // which nothing is in yet
  for (int64_t j = k + 1; j < n; ++j)
    conjugate[j] = conj(v[j]);
  innerProducts<E>(to + k + 1, 1, row(k + 1) + k + 1, stride, m - k - 1,
                   conjugate + k + 1, stride, 1, n - k - 1);
}

/// Takes from rows behind k what reflectors k change, and leaves the next left
/// reflector, and sums over rows by it.
template <typename E>
void Singular<E>::change(int64_t k, const E *v, const E *ofRows) {
  const E *u = lefts + k * high;
  int64_t next = k + 1;
  E ofLeft = -conj(leftTaus[k]), ofRight = -rightTaus[k];
  // Columns: what left reflectors change is in `sums`, then zeros.
  E *x = lefts + next * high;
  for (int64_t i = 0; i < m && next < n; ++i)
    x[i] = i < next ? E(0)
                    : row(i)[next] + ofLeft * u[i] * sums[next] +
                          ofRight * ofRows[i] * conj(v[next]);
  if (next >= n)
    return;
  d[next] = eigen::reflect(x[next], x + next + 1, m - next - 1, leftTaus[next]);
  E *__restrict again = rights + next * stride;
  for (int64_t j = 0; j < n; ++j)
    again[j] = 0;
  for (int64_t i = next; i < m; ++i) {
    E *__restrict a = row(i);
    const E *__restrict y = sums, *__restrict w = v;
    E p = ofLeft * u[i], q = ofRight * ofRows[i], r = conj(x[i]);
    if constexpr (isComplex<E>) {
      addScaled<E>(a + next, p, y + next, n - next);
      addScaled<E, true>(a + next, q, w + next, n - next);
      addScaled<E>(again + next, r, a + next, n - next);
    } else {
      for (int64_t j = next; j < n; ++j) {
        E here = a[j] + p * y[j] + q * w[j];
        a[j] = here;
        again[j] += r * here;
      }
    }
  }
  for (int64_t j = 0; j < n; ++j)
    sums[j] = again[j];
}

template <typename E> void Singular<E>::reduce() {
  for (int64_t i = 0; i < m; ++i)
    lefts[i] = row(i)[0];
  d[0] = eigen::reflect(lefts[0], lefts + 1, m - 1, leftTaus[0]);
  for (int64_t j = 0; j < n; ++j)
    sums[j] = 0;
  for (int64_t i = 0; i < m; ++i)
    addScaled<E>(sums, conj(lefts[i]), row(i), n);
  for (int64_t k = 0; k < n; ++k) {
    E *v = rights + k * stride;
    for (int64_t j = 0; j < n; ++j)
      v[j] = j <= k ? E(0) : conj(row(k)[j] - conj(leftTaus[k]) * sums[j]);
    rightTaus[k] = 0;
    e[k] = 0;
    if (k + 1 == n)
      break;
    e[k] = eigen::reflect(v[k + 1], v + k + 2, n - k - 2, rightTaus[k]);
    // A v, of the matrix that the left reflector has changed.
    multiplyRight(k, v, ofRows);
    E own = 0;
    for (int64_t j = k + 1; j < n; ++j)
      own += sums[j] * v[j];
    const E *u = lefts + k * high;
    for (int64_t i = k + 1; i < m; ++i)
      ofRows[i] -= conj(leftTaus[k]) * u[i] * own;
    change(k, v, ofRows);
  }
  // Far below roundings: what is left of dependent columns, whose squares would
  // vanish.
  for (int64_t k = 0; k < n; ++k) {
    d[k] = size(d[k]) < 0x1p-80 ? 0 : d[k];
    e[k] = size(e[k]) < 0x1p-80 ? 0 : e[k];
  }
}

/// `to`, the vectors of the bidiagonal matrix, by reflectors: the last first.
template <typename E>
void Singular<E>::transformBack(T *from, Rows<E> to, const E *reflectors,
                                int64_t length, const E *taus, int64_t count) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < length; ++j)
      to.at[i * to.stride + j] = j < n ? E(from[i * stride + j]) : E(0);
  for (int64_t high = count; high > 0;) {
    int64_t low = most((high - 1) / kPanel * kPanel, int64_t(0));
    // Before column `low` all of them are zero.
    applyReflectors<E>({to.at + low, to.stride, n},
                       reflectors + low * to.stride + low, to.stride,
                       taus + low, high - low, length - low, room, panel);
    high = low;
  }
}

template <typename E> void Singular<E>::writeResults() {
  for (int64_t j = 0; j < n; ++j)
    values[j] = -values[j];
  sortByKeys(n, values, order, spare);
  T *toValues = reinterpret_cast<T *>(call.values);
  for (int64_t j = 0; j < n; ++j)
    toValues[j * call.valueStride] =
        T(__builtin_ldexp(-values[order[j]], exponent));
  writeColumns<E>({reinterpret_cast<E *>(call.left), call.leftRowStride,
                   call.leftColumnStride},
                  n, m, leftVectors, high, order, [&](int64_t j, E element) {
                    return element * E(toValues[j * call.valueStride]);
                  });
  writeColumns<E>({reinterpret_cast<E *>(call.right), call.rightRowStride,
                   call.rightColumnStride},
                  n, n, rightVectors, stride, order,
                  [](int64_t, E element) { return element; });
}

template <typename E> void Singular<E>::run() {
  if (!readScaled<E>(call, matrix, stride, exponent))
    return writeNothing<E>(call);
  reduce();
  BidiagonalValues<T>(n, d, e, values, left, right, stride, rest).run();
  if (call.left)
    transformBack(left, {leftVectors, high, n}, lefts, m, leftTaus, n);
  if (call.right)
    transformBack(right, {rightVectors, stride, n}, rights, n, rightTaus,
                  n - 1);
  writeResults();
}

/// The same of matrices that have many more rows than columns: those of the
/// triangle of a QR, whose left vectors the reflectors take back (T. Chan,
/// 1982).
template <typename E> class TallSingular {
public:
  using T = Part<E>;
  static bool isFor(const shardrt::SvdCall &call) {
    return 2 * call.rows >= 3 * call.columns;
  }
  static int64_t scratch(const shardrt::SvdCall &call) {
    int64_t elements = call.rows * call.columns +
                       2 * call.columns * call.columns + call.columns;
    return roundUp(sizeof(E) * elements, 64) +
           most(Householder<E>::scratch(factorisation(call)),
                Singular<E>::scratch(ofTriangle(call)));
  }
  TallSingular(const shardrt::SvdCall &call, char *scratch)
      : call(call), matrix(reinterpret_cast<E *>(scratch)),
        triangle(matrix + call.rows * call.columns),
        vectors(triangle + call.columns * call.columns),
        taus(vectors + call.columns * call.columns),
        rest(scratch +
             roundUp((taus + call.columns - matrix) * sizeof(E), 64)) {}
  void run();

private:
  static shardrt::HouseholderCall factorisation(const shardrt::SvdCall &call);
  static shardrt::SvdCall ofTriangle(const shardrt::SvdCall &call);

  const shardrt::SvdCall &call;
  E *matrix, *triangle, *vectors, *taus;
  char *rest;
};

template <typename E>
shardrt::HouseholderCall
TallSingular<E>::factorisation(const shardrt::SvdCall &call) {
  shardrt::HouseholderCall qr;
  qr.rows = call.rows;
  qr.columns = qr.count = call.columns;
  qr.rowStride = qr.resultRowStride = call.columns;
  qr.columnStride = qr.resultColumnStride = qr.tauStride = 1;
  return qr;
}

template <typename E>
shardrt::SvdCall TallSingular<E>::ofTriangle(const shardrt::SvdCall &call) {
  shardrt::SvdCall inner = call;
  inner.rows = inner.rowStride = inner.leftRowStride = call.columns;
  inner.columnStride = inner.leftColumnStride = 1;
  return inner;
}

template <typename E> void TallSingular<E>::run() {
  int64_t n = call.columns;
  int exponent = 0;
  if (!readScaled<E>(call, matrix, n, exponent))
    return writeNothing<E>(call);
  shardrt::HouseholderCall qr = factorisation(call);
  qr.matrix = qr.result = reinterpret_cast<char *>(matrix);
  qr.taus = reinterpret_cast<char *>(taus);
  Householder<E>(qr, rest).run();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      triangle[i * n + j] = j < i ? E(0) : matrix[i * n + j];
  shardrt::SvdCall inner = ofTriangle(call);
  inner.matrix = reinterpret_cast<char *>(triangle);
  inner.left = call.left ? reinterpret_cast<char *>(vectors) : nullptr;
  Singular<E>(inner, rest).run();
  T *values = reinterpret_cast<T *>(call.values);
  for (int64_t j = 0; j < n; ++j)
    values[j * call.valueStride] =
        T(__builtin_ldexp(values[j * call.valueStride], exponent));
  if (!call.left)
    return;
  qr.kind = shardrt::HouseholderCall::Product;
  qr.result = call.left;
  qr.resultRowStride = call.leftRowStride;
  qr.resultColumnStride = call.leftColumnStride;
  Householder<E>(qr, rest).multiplyOut(vectors);
  // Behind all sums, which would be out of range before a result is.
  double factor = __builtin_ldexp(1, exponent);
  for (int64_t i = 0; i < call.rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      E &x = reinterpret_cast<E *>(
          call.left)[i * call.leftRowStride + j * call.leftColumnStride];
      if constexpr (isComplex<E>)
        x = {T(x.re * factor), T(x.im * factor)};
      else
        x = T(x * factor);
    }
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_SINGULARVALUES_H
