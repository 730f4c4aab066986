//===- EigenBidiagonal.h - Singular values of bidiagonal matrices -*- C++ -*-=//
//
// Divide and conquer (M. Gu and S. Eisenstat, "A divide-and-conquer algorithm
// for the bidiagonal SVD", 1995): without a row in the middle there are two
// matrices, whose singular vectors make of the whole a diagonal and one row.
// Squares of its singular values are zeros of a secular equation. For
// EigenKernels.cpp alone, as EigenVectors.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_EIGENBIDIAGONAL_H
#define SHARDRT_DEVICE_CPU_EIGENBIDIAGONAL_H

#include "Device/Cpu/EigenTridiagonal.h"

namespace {
namespace eigen {

/// Singular values, in any order, of a square matrix with diagonal `d` and `e`
/// above it, and its singular vectors as rows.
template <typename T> class BidiagonalValues {
public:
  static int64_t scratch(int64_t n, int64_t stride) {
    int64_t room = roundUp(n + 1, 64);
    return 3 * n * stride * sizeof(T) + kPanelSize<T> * sizeof(T) +
           room * (7 * sizeof(double) + 6 * sizeof(int64_t));
  }
  /// `left`, `right`: n rows of `stride` each; `values`: n.
  BidiagonalValues(int64_t n, const double *d, const double *e, double *values,
                   T *left, T *right, int64_t stride, char *scratch)
      : n(n), stride(stride), d(d), e(e), values(values), left(left),
        right(right) {
    auto take = [&](auto *&pointer, int64_t count) {
      pointer = reinterpret_cast<decltype(+pointer)>(scratch);
      scratch += count * sizeof(*pointer);
    };
    int64_t room = roundUp(n + 1, 64);
    take(rows, n * stride);
    take(leftFactors, n * stride);
    take(rightFactors, n * stride);
    take(panel, kPanelSize<T>);
    for (double **each :
         {&poles, &z, &sizes, &distances, &products, &kept, &terms})
      take(*each, room);
    for (int64_t **each : {&order, &spare, &kinds, &origins, &list, &places})
      take(*each, room);
  }
  void run() {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < stride; ++j)
        left[i * stride + j] = right[i * stride + j] = i == j;
    solve(0, n, false);
  }

private:
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : kEpsilon;
  enum Kind : int64_t { First, Both, Second, Gone };
  struct Side {
    T *vectors;
    int64_t columns;
  };

  /// Rows `from` below `to`, with one more column where `isLonger`: what it
  /// takes to zero is the right vector `to` then.
  void solve(int64_t from, int64_t to, bool isLonger);
  void solveRow(int64_t at, bool isLonger);
  void merge(int64_t from, int64_t middle, int64_t to, bool isLonger);
  int64_t deflate(int64_t from, int64_t middle, int64_t to, int64_t end);
  void writeFactors(int64_t count);
  void replaceRows(T *vectors, const T *factors, int64_t from, int64_t middle,
                   int64_t to, int64_t end, int64_t count);

  int64_t n, stride;
  const double *d, *e;
  double *values;
  T *left, *right, *rows, *leftFactors, *rightFactors, *panel;
  double *poles, *z, *sizes, *distances, *products, *kept, *terms;
  int64_t *order, *spare, *kinds, *origins, *list, *places;
  int64_t starts[4]; ///< where rows of each kind begin in `rows`
};

template <typename T>
void BidiagonalValues<T>::solveRow(int64_t at, bool isLonger) {
  double length = size(d[at]);
  if (!isLonger) {
    left[at * stride + at] = d[at] < 0 ? -1 : 1;
  } else if (e[at] != 0) {
    length = __builtin_hypot(d[at], e[at]);
    T c = T(d[at] / length), s = T(e[at] / length);
    T *first = right + at * stride + at, *second = first + stride;
    first[0] = second[1] = c;
    first[1] = s;
    second[0] = -s;
  } else if (d[at] < 0) {
    left[at * stride + at] = -1;
  }
  values[at] = length;
}

template <typename T>
void BidiagonalValues<T>::solve(int64_t from, int64_t to, bool isLonger) {
  if (from == to)
    return;
  if (to - from == 1)
    return solveRow(from, isLonger);
  int64_t middle = from + (to - from) / 2;
  solve(from, middle, true);
  solve(middle + 1, to, isLonger);
  merge(from, middle, to, isLonger);
}

template <typename T>
void BidiagonalValues<T>::merge(int64_t from, int64_t middle, int64_t to,
                                bool isLonger) {
  int64_t end = to + isLonger;
  double beside = middle + 1 < end ? e[middle] : 0;
  for (int64_t i = from; i <= middle; ++i)
    z[i - from] = d[middle] * right[i * stride + middle];
  for (int64_t i = middle + 1; i < end; ++i)
    z[i - from] = beside * right[i * stride + middle + 1];
  values[middle] = 0;
  if (isLonger) {
    // Of both right vectors of zeros one stays.
    double &mine = z[middle - from], other = z[to - from];
    double length = __builtin_hypot(mine, other);
    if (length != 0)
      rotateRows(right + middle * stride + from, right + to * stride + from,
                 T(mine / length), T(-other / length), end - from);
    mine = length;
  }
  int64_t count = deflate(from, middle, to, end);
  if (count == 1) {
    origins[0] = 0;
    distances[0] = 0;
    leftFactors[places[0]] = 1;
    rightFactors[places[0]] = sizes[0] < 0 ? -1 : 1;
  } else {
    Secular<true> secular{count, poles, sizes, 1,
                          sizeof(T) == 4 ? 0x1p-40 : kEpsilon};
    for (int64_t j = 0; j < count; ++j) {
      auto zero = secular.find(j);
      origins[j] = zero.pole;
      distances[j] = zero.distance;
    }
    writeFactors(count);
  }
  for (int64_t j = 0; j < to - from; ++j) {
    if (j >= count) {
      values[from + j] = kept[j];
      continue;
    }
    double pole = poles[origins[j]], x = distances[j];
    if (count == 1)
      values[from] = size(sizes[0]);
    else
      values[from + j] = pole + x / (pole + root(square(pole) + x));
  }
  replaceRows(left, leftFactors, from, middle, to, to, count);
  replaceRows(right, rightFactors, from, middle, to, end, count);
}

/// Rows that stay singular vectors, perhaps after a rotation, are marked
/// `Gone`. `list` takes the others, the middle one first and the others by
/// ascending values, `places` where they will be.
template <typename T>
int64_t BidiagonalValues<T>::deflate(int64_t from, int64_t middle, int64_t to,
                                     int64_t end) {
  int64_t total = to - from, own = middle - from, count = 1;
  sortByKeys(total, values + from, order, spare);
  double largest = 0;
  for (int64_t i = 0; i < total; ++i) {
    largest = most(largest, most(values[from + i], size(z[i])));
    kinds[i] = i < own ? First : i > own ? Second : Both;
  }
  double tolerance = most(16 * kUnit * largest, 0x1p-100);
  list[0] = own;
  int64_t before = -1;
  for (int64_t k = 0; k < total; ++k) {
    int64_t i = order[k];
    if (i == own)
      continue;
    if (size(z[i]) <= tolerance) {
      kinds[i] = Gone;
      continue;
    }
    if (before >= 0 && values[from + i] - values[from + before] <= tolerance) {
      double length = root(square(z[before]) + square(z[i]));
      T c = T(z[i] / length), s = T(z[before] / length);
      for (auto [vectors, columns] :
           {Side{left, total}, Side{right, end - from}})
        rotateRows(vectors + (from + before) * stride + from,
                   vectors + (from + i) * stride + from, c, s, columns);
      z[i] = length;
      if (kinds[before] != kinds[i])
        kinds[i] = Both;
      kinds[before] = Gone;
      --count;
    }
    list[count++] = before = i;
  }
  int64_t place = 0;
  for (Kind kind : {First, Both, Second, Gone}) {
    starts[kind] = place;
    for (int64_t i = 0; i < total; ++i)
      if (kinds[i] == kind)
        spare[i] = place++;
  }
  for (int64_t k = 0; k < count; ++k) {
    places[k] = spare[list[k]];
    // From zero, which is the first, others stay apart.
    poles[k] = k == 0 ? 0 : most(values[from + list[k]], tolerance / 2);
    sizes[k] = z[list[k]];
  }
  if (count > 1 && size(sizes[0]) <= tolerance)
    sizes[0] = tolerance;
  for (int64_t i = 0; i < total; ++i)
    kept[spare[i]] = values[from + i];
  return count;
}

/// Row j of the factors: singular vectors of diagonal and row, of a row that
/// has just the singular values that were found.
template <typename T> void BidiagonalValues<T>::writeFactors(int64_t count) {
  auto apart = [&](int64_t i, int64_t j) {
    return (poles[i] - poles[j]) * (poles[i] + poles[j]);
  };
  for (int64_t i = 0; i < count; ++i)
    products[i] = 1;
  for (int64_t j = 0; j < count; ++j) {
    int64_t origin = origins[j];
    double x = distances[j];
    for (int64_t i = 0; i < j; ++i)
      products[i] *= (apart(i, origin) - x) / apart(i, j);
    products[j] *= apart(j, origin) - x;
    for (int64_t i = j + 1; i < count; ++i)
      products[i] *= (apart(i, origin) - x) / apart(i, j);
  }
  for (int64_t i = 0; i < count; ++i)
    z[i] = withSign(root(most(0.0, -products[i])), sizes[i]);
  for (int64_t j = 0; j < count; ++j) {
    int64_t origin = origins[j];
    double x = distances[j];
    for (int64_t i = 0; i < count; ++i) {
      products[i] = z[i] / (apart(i, origin) - x);
      terms[i] = poles[i] * products[i];
    }
    terms[0] = -1;
    double ofRight = 1 / root(dot(products, products, count)),
           ofLeft = 1 / root(dot(terms, terms, count));
    for (int64_t k = 0; k < count; ++k) {
      rightFactors[j * stride + places[k]] = T(products[k] * ofRight);
      leftFactors[j * stride + places[k]] = T(terms[k] * ofLeft);
    }
  }
}

/// New vectors first, then those that stay.
template <typename T>
void BidiagonalValues<T>::replaceRows(T *vectors, const T *factors,
                                      int64_t from, int64_t middle, int64_t to,
                                      int64_t end, int64_t count) {
  int64_t total = to - from, columns = end - from, wide = middle + 1 - from;
  T *to_ = vectors + from * stride + from;
  for (int64_t i = 0; i < total; ++i)
    for (int64_t j = 0; j < columns; ++j)
      rows[spare[i] * stride + j] = to_[i * stride + j];
  for (int64_t i = 0; i < total; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to_[i * stride + j] = i < count ? T(0) : rows[i * stride + j];
  int64_t firsts = starts[Second], others = starts[Both];
  multiply<T>(to_, stride, {factors, stride, 1}, {rows, stride, 1}, count, wide,
              firsts, false, panel);
  if (columns > wide)
    multiply<T>(to_ + wide, stride, {factors + others, stride, 1},
                {rows + others * stride + wide, stride, 1}, count,
                columns - wide, count - others, false, panel);
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENBIDIAGONAL_H
