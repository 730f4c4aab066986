//===- Householder.h - QR and Hessenberg's form by reflectors ---*- C++ -*-===//
//
// Conventions are LAPACK's (geqrf, gehrd, orgqr). Reflectors of a panel of
// columns are applied to what is behind it at once, as products of matrices (R.
// Schreiber and C. Van Loan, 1989); within a panel of a QR too, by halves (E.
// Elmroth and F. Gustavson, 2000). Hessenberg's form reads the rest of the
// matrix once for each reflector (G. Quintana-Orti and R. van de Geijn, 2006).
// Not scaled: reflectors alone have squares. For EigenKernels.cpp alone, as
// EigenVectors.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_HOUSEHOLDER_H
#define SHARDRT_DEVICE_CPU_HOUSEHOLDER_H

#include "Device/Cpu/EigenKernels.h"
#include "Device/Cpu/EigenReflectors.h"

namespace {
namespace eigen {

/// Matrices with elements of type E. Of a QR and a product `matrix` holds
/// columns as rows of memory; of Hessenberg's form, rows.
template <typename E> class Householder {
public:
  Householder(const shardrt::HouseholderCall &call, char *scratch);
  static int64_t scratch(const shardrt::HouseholderCall &call);
  void run();
  /// The product of the reflectors and `of`, n rows of n elements above zeros;
  /// the identity, unless given.
  void multiplyOut(const E *of = nullptr);

private:
  using Call = shardrt::HouseholderCall;
  /// Rows begin in lines of the cache, and not all in the same set.
  static int64_t strideOf(const Call &call) {
    return roundUp(call.kind == Call::Hessenberg ? call.columns : call.rows,
                   16) +
           16;
  }
  static int64_t heightOf(const Call &call) {
    return call.kind == Call::Hessenberg ? call.rows : call.columns;
  }
  void readMatrix(bool isTransposed);
  void writeMatrix(bool isTransposed);
  E &tauAt(int64_t k) {
    return reinterpret_cast<E *>(call.taus)[k * call.tauStride];
  }

  void factor();
  void factorPanel(int64_t first, int64_t low, int64_t high);
  void applyPanel(int64_t first, int64_t low, int64_t high, int64_t from,
                  int64_t to);
  void reduce();
  void reduceColumn(int64_t first, int64_t column);
  void addFactor(int64_t first, int64_t column, const E *products);
  void finishAbove(int64_t first, int64_t count);
  void updateRest(int64_t first, int64_t count);

  E *row(int64_t i) { return matrix + i * stride; }
  /// Reflector `k` of the panel, with its zeros and its one.
  E *reflector(int64_t k) { return reflectors + k * stride; }
  E *conjugate(int64_t k) { return conjugates + k * stride; }
  E *column(int64_t k) { return columns + k * stride; }
  E *product(int64_t k) { return products + k * stride; }

  const Call &call;
  int64_t m, n, stride;
  E *matrix, *reflectors, *room, *panel, *taus;
  // Of Hessenberg's form, all but the last a row for each of a panel's columns:
  // conj(v), the columns, A V T, V^H A, T^H V^H A; and T.
  E *conjugates, *columns, *products, *changes, *turned;
  E (*triangle)[kPanel];
};

template <typename E>
int64_t Householder<E>::scratch(const shardrt::HouseholderCall &call) {
  int64_t stride = strideOf(call), height = heightOf(call),
          elements = (height + kPanel) * stride + kReflectorsRoom +
                     kPanelSize<E> + roundUp(call.count + 1, 64);
  if (call.kind == Call::Hessenberg)
    elements += 5 * kPanel * stride + kPanel * kPanel;
  return roundUp(sizeof(E) * elements, 64) + 64;
}

template <typename E>
Householder<E>::Householder(const shardrt::HouseholderCall &call, char *scratch)
    : call(call), m(call.rows), n(call.columns), stride(strideOf(call)) {
  auto take = [&](auto *&pointer, int64_t count) {
    pointer = reinterpret_cast<decltype(+pointer)>(scratch);
    scratch += count * sizeof(E);
  };
  take(matrix, heightOf(call) * stride);
  take(reflectors, kPanel * stride);
  take(room, kReflectorsRoom);
  take(panel, kPanelSize<E>);
  take(taus, roundUp(call.count + 1, 64));
  if (call.kind != Call::Hessenberg)
    return;
  for (E **each : {&conjugates, &columns, &products, &changes, &turned})
    take(*each, kPanel * stride);
  take(triangle, kPanel * kPanel);
}

/// `to` of rows `stride` apart, in tiles whose lines the first cache holds.
template <typename E>
inline void copyMatrix(const E *from, int64_t rowStride, int64_t columnStride,
                       E *to, int64_t toRow, int64_t toColumn, int64_t rows,
                       int64_t columns) {
  constexpr int64_t tile = 16;
  for (int64_t first = 0; first < rows; first += tile)
    for (int64_t begin = 0; begin < columns; begin += tile)
      for (int64_t i = first; i < least(first + tile, rows); ++i)
        for (int64_t j = begin; j < least(begin + tile, columns); ++j)
          to[i * toRow + j * toColumn] = from[i * rowStride + j * columnStride];
}

template <typename E> void Householder<E>::readMatrix(bool isTransposed) {
  copyMatrix<E>(reinterpret_cast<const E *>(call.matrix), call.rowStride,
                call.columnStride, matrix, isTransposed ? 1 : stride,
                isTransposed ? stride : 1, m, n);
}
template <typename E> void Householder<E>::writeMatrix(bool isTransposed) {
  copyMatrix<E>(matrix, isTransposed ? 1 : stride, isTransposed ? stride : 1,
                reinterpret_cast<E *>(call.result), call.resultRowStride,
                call.resultColumnStride, m, n);
}

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// Applies the adjoint of reflectors `low` below `high`, of the panel that
/// begins at `first`, to columns `from` below `to`.
template <typename E>
void Householder<E>::applyPanel(int64_t first, int64_t low, int64_t high,
                                int64_t from, int64_t to) {
  if (from < to)
    applyReflectors<E>({row(from) + low, stride, to - from},
                       reflector(low - first) + low, stride, taus + low,
                       high - low, m - low, room, panel, /*isAdjoint=*/true);
}

/// Columns `low` below `high` of the panel that begins at `first`.
template <typename E>
void Householder<E>::factorPanel(int64_t first, int64_t low, int64_t high) {
  constexpr int64_t few = 4;
  if (high - low > few) {
    int64_t middle = low + roundUp((high - low) / 2, few);
    factorPanel(first, low, middle);
    applyPanel(first, low, middle, middle, high);
    return factorPanel(first, middle, high);
  }
  for (int64_t k = low; k < high; ++k) {
    E *x = row(k), *v = reflector(k - first);
    for (int64_t i = first; i < k; ++i)
      v[i] = 0;
    E beta = Part<E>(reflect(x[k], x + k + 1, m - k - 1, taus[k]));
    for (int64_t i = k; i < m; ++i)
      v[i] = x[i];
    x[k] = beta;
    for (int64_t j = k + 1; j < high; ++j) {
      E sum = dot<E>(v + k, row(j) + k, m - k);
      addScaled<E>(row(j) + k, -(conj(taus[k]) * sum), v + k, m - k);
    }
  }
}

template <typename E> void Householder<E>::factor() {
  readMatrix(/*isTransposed=*/true);
  int64_t count = least(m, n);
  for (int64_t low = 0; low < count; low += kPanel) {
    int64_t high = least(low + kPanel, count);
    factorPanel(low, low, high);
    applyPanel(low, low, high, high, n);
  }
  for (int64_t k = 0; k < count; ++k)
    tauAt(k) = taus[k];
  writeMatrix(/*isTransposed=*/true);
}

/// H1 (H2 (... Hk I)): the last panel first.
template <typename E> void Householder<E>::multiplyOut(const E *of) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      row(j)[i] = !of ? E(i == j) : i < n ? of[i * n + j] : E(0);
  const E *packed = reinterpret_cast<const E *>(call.matrix);
  for (int64_t k = 0; k < call.count; ++k)
    taus[k] = tauAt(k);
  for (int64_t high = call.count; high > 0;) {
    int64_t low = (high - 1) / kPanel * kPanel;
    copyMatrix<E>(packed + low * call.rowStride + low * call.columnStride,
                  call.rowStride, call.columnStride, reflectors + low, 1,
                  stride, m - low, high - low);
    for (int64_t k = low; k < high; ++k) {
      E *v = reflector(k - low);
      for (int64_t i = low; i < k; ++i)
        v[i] = 0;
      v[k] = 1;
    }
    // Of the identity, columns before are still zero in these rows.
    int64_t from = of ? 0 : low;
    applyReflectors<E>({row(from) + low, stride, n - from}, reflectors + low,
                       stride, taus + low, high - low, m - low, room, panel);
    high = low;
  }
  writeMatrix(/*isTransposed=*/true);
}

//===----------------------------------------------------------------------===//
// Hessenberg's form
//===----------------------------------------------------------------------===//

/// A column of the panel that begins at `first`: what the reflectors before
/// change of it below row `first`, its own reflector, and A V T's column there.
template <typename E>
void Householder<E>::reduceColumn(int64_t first, int64_t column) {
  int64_t k = column - first, under = first + 1, below = n - under;
  E *x = this->column(k), *v = reflector(k), *w = conjugate(k), *y = product(k),
    sums[kPanel];
  for (int64_t p = 0; p < k; ++p)
    addScaled<E>(x + under, -conj(reflector(p)[column]), product(p) + under,
                 below);
  for (int64_t p = 0; p < k; ++p)
    sums[p] = dot<E>(reflector(p) + under, x + under, below);
  for (int64_t p = 0; p < k; ++p) {
    E sum = 0;
    for (int64_t q = 0; q <= p; ++q)
      sum += conj(triangle[q][p]) * sums[q];
    addScaled<E>(x + under, -sum, reflector(p) + under, below);
  }
  int64_t pivot = column + 1, tail = n - pivot;
  E beta = Part<E>(reflect(x[pivot], x + pivot + 1, tail - 1, taus[column]));
  for (int64_t i = 0; i < n; ++i) {
    v[i] = i < pivot ? E(0) : x[i];
    w[i] = conj(v[i]);
  }
  x[pivot] = beta;
  // Of columns of the panel the matrix keeps what they were.
  innerProducts<E>(y + under, 1, row(under) + pivot, stride, below, w + pivot,
                   stride, 1, tail);
  for (int64_t p = 0; p < k; ++p) {
    sums[p] = dot<E>(reflector(p) + pivot, v + pivot, tail);
    addScaled<E>(y + under, -sums[p], product(p) + under, below);
  }
  for (int64_t i = under; i < n; ++i)
    y[i] = y[i] * taus[column];
  for (int64_t p = 0; p < k; ++p) {
    E sum = 0;
    for (int64_t q = p; q < k; ++q)
      sum += triangle[p][q] * sums[q];
    triangle[p][k] = -taus[column] * sum;
    triangle[k][p] = 0;
  }
  triangle[k][k] = taus[column];
}

/// A V T in rows up to `first`, and with it what the panel's columns have
/// there.
template <typename E>
void Householder<E>::finishAbove(int64_t first, int64_t count) {
  int64_t above = first + 1;
  for (int64_t from = 0; from < above; from += kSomeVectors) {
    int64_t some = least(kSomeVectors, above - from);
    innerProducts<E>(room, kPanel, row(from) + above, stride, some,
                     conjugates + above, stride, count, n - above);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = from; i < from + some; ++i)
        product(k)[i] = 0;
    multiply<E>(product(0) + from, stride, {&triangle[0][0], 1, kPanel},
                {room, 1, kPanel}, count, some, count, false, panel);
  }
  for (int64_t k = 1; k < count; ++k)
    for (int64_t p = 0; p < k; ++p)
      addScaled<E>(column(k), -conj(reflector(p)[first + k]), product(p),
                   above);
}

/// Columns behind the panel: less A V T V^H, then from the left.
template <typename E>
void Householder<E>::updateRest(int64_t first, int64_t count) {
  int64_t behind = first + count, wide = n - behind, under = first + 1;
  if (wide == 0)
    return;
  multiply<E>(row(0) + behind, stride, {products, 1, stride},
              {conjugates + behind, stride, 1}, n, wide, count, true, panel);
  for (int64_t i = 0; i < kPanel * stride; ++i)
    changes[i] = turned[i] = 0;
  multiply<E>(changes, stride, {conjugates + under, stride, 1},
              {row(under) + behind, stride, 1}, count, wide, n - under, false,
              panel);
  E adjoint[kPanel][kPanel];
  for (int64_t k = 0; k < count; ++k)
    for (int64_t p = 0; p < count; ++p)
      adjoint[p][k] = conj(triangle[k][p]);
  multiply<E>(turned, stride, {&adjoint[0][0], kPanel, 1}, {changes, stride, 1},
              count, wide, count, false, panel);
  multiply<E>(row(under) + behind, stride, {reflectors + under, 1, stride},
              {turned, stride, 1}, n - under, wide, count, true, panel);
}

template <typename E> void Householder<E>::reduce() {
  readMatrix(/*isTransposed=*/false);
  int64_t all = n - 1;
  for (int64_t first = 0; first < all; first += kPanel) {
    int64_t count = least(kPanel, all - first);
    copyMatrix<E>(row(0) + first, stride, 1, columns, 1, stride, n, count);
    for (int64_t k = 0; k < count; ++k)
      reduceColumn(first, first + k);
    finishAbove(first, count);
    updateRest(first, count);
    copyMatrix<E>(columns, 1, stride, row(0) + first, stride, 1, n, count);
  }
  for (int64_t k = 0; k < all; ++k)
    tauAt(k) = taus[k];
  writeMatrix(/*isTransposed=*/false);
}

template <typename E> void Householder<E>::run() {
  if (call.kind == Call::Qr)
    factor();
  else if (call.kind == Call::Hessenberg)
    reduce();
  else
    multiplyOut();
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_HOUSEHOLDER_H
