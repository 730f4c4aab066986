//===- EigenTridiagonal.h - Symmetric tridiagonal matrices ------*- C++ -*-===//
//
// Eigenvalues by implicit QL iterations, and eigenvectors by divide and
// conquer: halves are solved, then what joins them is a change of rank one (J.
// J. M. Cuppen, 1981), whose eigenvalues are zeros of a secular equation (R.-C.
// Li, LAPACK working note 89) and whose eigenvectors are those of a matrix near
// by that has just these eigenvalues (M. Gu and S. Eisenstat, 1994). For
// EigenKernels.cpp alone, as EigenVectors.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_EIGENTRIDIAGONAL_H
#define SHARDRT_DEVICE_CPU_EIGENTRIDIAGONAL_H

#include "Device/Cpu/EigenVectors.h"

namespace {
namespace eigen {

constexpr double kEpsilon = 0x1p-53;

inline double square(double x) { return x * x; }
inline double size(double x) { return x < 0 ? -x : x; }
inline double root(double x) { return __builtin_sqrt(x); }
inline double withSign(double x, double of) {
  return __builtin_copysign(x, of);
}

/// Rows x and y become c x - s y and s x + c y.
template <typename T>
inline void rotateRows(T *__restrict x, T *__restrict y, T c, T s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T first = x[i], second = y[i];
    x[i] = c * first - s * second;
    y[i] = s * first + c * second;
  }
}

/// QL iterations with Wilkinson's shifts on `n` diagonal elements `d` and as
/// many less one `e` beside them. Rows of `vectors`, of which `columns` are
/// looked at, are rotated along, where there are any.
template <typename T>
void iterate(int64_t n, double *d, double *e, T *vectors, int64_t stride,
             int64_t columns) {
  for (int64_t low = 0; low < n; ++low)
    for (int64_t iteration = 0; iteration < 100; ++iteration) {
      int64_t end = low;
      for (; end + 1 < n; ++end) {
        double beside = size(d[end]) * size(d[end + 1]);
        if (square(e[end]) <= square(kEpsilon) * beside + 0x1p-400)
          break;
      }
      if (end == low)
        break;
      double g = (d[low + 1] - d[low]) / (2 * e[low]);
      double r = root(g * g + 1);
      g = d[end] - d[low] + e[low] / (g + withSign(r, g));
      double s = 1, c = 1, p = 0;
      int64_t i = end - 1;
      for (; i >= low; --i) {
        double f = s * e[i], b = c * e[i];
        r = root(f * f + g * g);
        if (i + 1 < end)
          e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          break;
        }
        double inverse = 1 / r;
        s = f * inverse;
        c = g * inverse;
        g = d[i + 1] - p;
        double t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        if (vectors)
          rotateRows(vectors + i * stride, vectors + (i + 1) * stride, T(c),
                     T(s), columns);
      }
      if (i >= low)
        continue;
      d[low] -= p;
      e[low] = g;
    }
}

/// Fills `order` with the numbers below n, by ascending `keys`; equals keep
/// their order. `spare` holds as many.
inline void sortByKeys(int64_t n, const double *keys, int64_t *order,
                       int64_t *spare) {
  for (int64_t i = 0; i < n; ++i)
    order[i] = i;
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t from = 0; from < n; from += 2 * run) {
      int64_t middle = least(from + run, n), to = least(from + 2 * run, n);
      int64_t i = from, j = middle;
      for (int64_t k = from; k < to; ++k) {
        bool isLeft =
            i < middle && (j >= to || !(keys[order[j]] < keys[order[i]]));
        spare[k] = isLeft ? order[i++] : order[j++];
      }
    }
    for (int64_t i = 0; i < n; ++i)
      order[i] = spare[i];
  }
}

/// A matrix of the caller's; strides count elements.
template <typename E> struct Strided {
  E *at;
  int64_t rowStride, columnStride;
};

/// Writes rows `order[0]`, `order[1]` ... of `from`, of `length` elements, to
/// the columns of `to`, each element as `change(column, element)`. Nothing
/// where `to` is not wanted. A few columns at a time, which share lines of the
/// cache.
template <typename E, typename Change>
inline void writeColumns(Strided<E> to, int64_t columns, int64_t length,
                         const E *from, int64_t stride, const int64_t *order,
                         const Change &change) {
  constexpr int64_t tile = 16;
  for (int64_t first = 0; first < columns && to.at; first += tile)
    for (int64_t i = 0; i < length; ++i)
      for (int64_t j = first; j < least(first + tile, columns); ++j)
        to.at[i * to.rowStride + j * to.columnStride] =
            change(j, from[order[j] * stride + i]);
}

/// Zeros of 1 / rho + sum of z_i^2 / (d_i - x), d ascending; with `isSquared`,
/// of the squares of what is given as d.
template <bool isSquared> struct Secular {
  int64_t n;
  const double *d, *z;
  double rho, unit; ///< the unit of rounding of what is asked for

  /// How far pole i is above `origin`, which is a pole too.
  template <typename D> static D above(D pole, double origin) {
    if constexpr (isSquared)
      return (pole - origin) * (pole + origin);
    else
      return pole - origin;
  }
  double gap(int64_t i) const { return above(d[i + 1], d[i]); }

  /// Sums of z^2 / (d - x) and of their derivatives over some of the terms.
  struct Sums {
    double value = 0, slope = 0;
  };
  Sums sums(int64_t from, int64_t to, double origin, double x) const {
    Vector<double> value{}, slope{};
    constexpr int64_t w = width<double>;
    int64_t i = from;
    for (; i + w <= to; i += w) {
      Vector<double> zi = load(z + i);
      Vector<double> part = zi / (above(load(d + i), origin) - x);
      value += zi * part;
      slope += part * part;
    }
    Sums found{sumOf<double>(value), sumOf<double>(slope)};
    for (; i < to; ++i) {
      double part = z[i] / (above(d[i], origin) - x);
      found.value += z[i] * part;
      found.slope += part * part;
    }
    return found;
  }

  /// Zero number j: the pole it is counted from, and how far from it it is.
  struct Zero {
    int64_t pole;
    double distance;
  };
  Zero find(int64_t j) const;

private:
  double start(int64_t pole, int64_t other, double c, double gap) const;
  double stepInside(int64_t j, bool isFirst, double x, double f, Sums low,
                    Sums high, bool isMiddle) const;
  double stepBehind(double x, double f, Sums low, Sums high,
                    double upper) const;
};

template <bool isSquared>
double Secular<isSquared>::stepInside(int64_t j, bool isFirst, double x,
                                      double f, Sums low, Sums high,
                                      bool isMiddle) const {
  double gap = this->gap(j), slope = low.slope + high.slope;
  double first = isFirst ? -x : -gap - x, second = isFirst ? gap - x : -x;
  double c = isFirst ? f - second * slope + gap * square(z[j] / first)
                     : f - first * slope - gap * square(z[j + 1] / second);
  if (isMiddle)
    c = f - first * low.slope - second * high.slope;
  double a = (first + second) * f - first * second * slope,
         b = first * second * f, step;
  double under = root(size(a * a - 4 * b * c));
  if (c == 0)
    step = a == 0 ? -f / slope : b / a;
  else
    step = a <= 0 ? (a - under) / (2 * c) : 2 * b / (a + under);
  return f * step >= 0 ? -f / slope : step;
}

template <bool isSquared>
double Secular<isSquared>::stepBehind(double x, double f, Sums low, Sums high,
                                      double upper) const {
  double first = -gap(n - 2) - x, second = -x;
  double c = size(f - first * low.slope - second * high.slope);
  double a = (first + second) * f - first * second * (low.slope + high.slope),
         b = first * second * f, step;
  double under = root(size(a * a - 4 * b * c));
  if (c == 0)
    step = upper - x;
  else
    step = a >= 0 ? (a + under) / (2 * c) : 2 * b / (a - under);
  return f * step > 0 ? -f / (low.slope + high.slope) : step;
}

/// Where the other terms are `c`, and two poles `gap` apart count as they are.
template <bool isSquared>
double Secular<isSquared>::start(int64_t pole, int64_t other, double c,
                                 double gap) const {
  double here = square(z[pole]), there = square(z[other]);
  // here / (-x) + there / (gap - x) + c = 0.
  double a = c * gap + here + there, b = here * gap;
  double under = root(most(0.0, a * a - 4 * b * c));
  return a > 0 ? 2 * b / (a + under) : (a - under) / (2 * c);
}

template <bool isSquared>
typename Secular<isSquared>::Zero Secular<isSquared>::find(int64_t j) const {
  bool isLast = j + 1 == n;
  double constant = 1 / rho, whole = 0;
  if (isLast)
    for (int64_t i = 0; i < n; ++i)
      whole += square(z[i]);
  double gap = isLast ? rho * whole : this->gap(j), half = gap / 2;
  Sums low = sums(0, isLast ? j : j + 1, d[j], half),
       high = sums(isLast ? j : j + 1, n, d[j], half);
  double f = constant + low.value + high.value;
  bool isFirst = isLast || f > 0;
  int64_t pole = isFirst ? j : j + 1;
  double origin = d[pole], lower, upper, x;
  if (isLast) {
    lower = f > 0 ? 0 : half;
    upper = f > 0 ? half : gap * (1 + 0x1p-40);
    x = (lower + upper) / 2;
  } else {
    double others = f - square(z[j]) / -half - square(z[j + 1]) / half;
    lower = isFirst ? 0 : -half;
    upper = isFirst ? half : 0;
    x = isFirst ? start(j, j + 1, others, gap) : start(j + 1, j, others, -gap);
  }
  double before = 0;
  bool isMiddle = false;
  for (int64_t iteration = 0; iteration < 80; ++iteration) {
    if (!(x > lower && x < upper))
      x = lower + (upper - lower) / 2;
    low = sums(0, isLast ? j : j + 1, origin, x);
    high = sums(isLast ? j : j + 1, n, origin, x);
    f = constant + low.value + high.value;
    double error = 8 * (size(low.value) + size(high.value)) + 2 * constant +
                   size(x) * (low.slope + high.slope);
    if (size(f) <= unit * error)
      break;
    (f > 0 ? upper : lower) = x;
    if (upper - lower <= 2 * kEpsilon * most(size(lower), size(upper)))
      break;
    if (iteration > 0 && size(f) > size(before) / 10)
      isMiddle = !isMiddle;
    before = f;
    double step = isLast ? stepBehind(x, f, low, high, upper)
                         : stepInside(j, isFirst, x, f, low, high, isMiddle);
    // Now and then by halves, which surely end.
    double next = iteration % 8 == 7 ? lower + (upper - lower) / 2 : x + step;
    if (next == x)
      break;
    x = next;
  }
  return {pole, x};
}

/// Eigenvectors of a tridiagonal matrix as rows, and its eigenvalues.
template <typename T> class DivideAndConquer {
public:
  static int64_t scratch(int64_t n, int64_t stride) {
    int64_t room = roundUp(n, 64);
    return 2 * n * stride * sizeof(T) + kPanelSize<T> * sizeof(T) +
           room * (6 * sizeof(double) + 5 * sizeof(int64_t));
  }
  /// `vectors`: n rows of `stride`.
  DivideAndConquer(int64_t n, double *d, double *e, T *vectors, int64_t stride,
                   char *scratch)
      : n(n), stride(stride), d(d), e(e), vectors(vectors) {
    auto take = [&](auto *&pointer, int64_t count) {
      pointer = reinterpret_cast<decltype(+pointer)>(scratch);
      scratch += count * sizeof(*pointer);
    };
    int64_t room = roundUp(n, 64);
    take(rows, n * stride);
    take(factors, n * stride);
    take(panel, kPanelSize<T>);
    for (double **each : {&poles, &z, &sizes, &distances, &products, &kept})
      take(*each, room);
    for (int64_t **each : {&order, &spare, &origins, &list, &places})
      take(*each, room);
  }
  void run() {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < stride; ++j)
        vectors[i * stride + j] = i == j;
    solve(0, n);
  }

private:
  static constexpr int64_t kLeaf = 32;
  static constexpr double kUnit = sizeof(T) == 4 ? 0x1p-24 : kEpsilon;
  /// Where the elements of a row are that may not be zero.
  enum Kind : int64_t { First, Both, Second, Gone };

  void solve(int64_t from, int64_t to);
  void merge(int64_t from, int64_t middle, int64_t to, double beside);
  int64_t deflate(int64_t from, int64_t middle, int64_t to, double rho);
  void findZeros(int64_t count, double rho);
  void writeFactors(int64_t count);
  void replaceRows(int64_t from, int64_t middle, int64_t to, int64_t count);

  T *row(int64_t i) { return vectors + i * stride; }

  int64_t n, stride;
  double *d, *e;
  T *vectors, *rows, *factors, *panel;
  double *poles, *z, *sizes, *distances, *products, *kept;
  int64_t *order, *spare, *origins, *list, *places;
  int64_t starts[4]; ///< where rows of each kind begin in `rows`
};

template <typename T>
void DivideAndConquer<T>::solve(int64_t from, int64_t to) {
  if (to - from <= kLeaf)
    return iterate(to - from, d + from, e + from, row(from) + from, stride,
                   to - from);
  int64_t middle = from + (to - from) / 2;
  double beside = e[middle - 1];
  d[middle - 1] -= size(beside);
  d[middle] -= size(beside);
  solve(from, middle);
  solve(middle, to);
  merge(from, middle, to, beside);
}

template <typename T>
void DivideAndConquer<T>::merge(int64_t from, int64_t middle, int64_t to,
                                double beside) {
  // D + rho z z^T, z of norm one.
  double rho = 2 * size(beside), half = root(0.5);
  for (int64_t i = from; i < middle; ++i)
    z[i - from] = row(i)[middle - 1] * half;
  for (int64_t i = middle; i < to; ++i)
    z[i - from] = withSign(half, beside) * row(i)[middle];
  int64_t count = deflate(from, middle, to, rho);
  if (count == 0)
    return;
  findZeros(count, rho);
  writeFactors(count);
  replaceRows(from, middle, to, count);
}

/// Rows that stay eigenvectors, perhaps after a rotation, are marked `Gone`.
/// `list` takes the others, by ascending d, `places` where they are in `rows`.
template <typename T>
int64_t DivideAndConquer<T>::deflate(int64_t from, int64_t middle, int64_t to,
                                     double rho) {
  int64_t size_ = to - from, count = 0, *kinds = origins;
  sortByKeys(size_, d + from, order, spare);
  double largest = 0;
  for (int64_t i = 0; i < size_; ++i) {
    largest = most(largest, most(size(d[from + i]), size(z[i])));
    kinds[i] = from + i < middle ? First : Second;
  }
  double tolerance = 16 * kUnit * largest;
  int64_t before = -1;
  for (int64_t k = 0; k < size_; ++k) {
    int64_t i = order[k];
    if (rho * size(z[i]) <= tolerance) {
      kinds[i] = Gone;
      continue;
    }
    if (before >= 0) {
      double length = root(square(z[before]) + square(z[i]));
      double c = z[i] / length, s = -z[before] / length;
      double &lower = d[from + before], &upper = d[from + i];
      if (size((upper - lower) * c * s) <= tolerance) {
        z[i] = length;
        rotateRows(row(from + before) + from, row(from + i) + from, T(c), T(-s),
                   size_);
        double apart = (upper - lower) * s * s;
        lower += apart;
        upper -= apart;
        if (kinds[before] != kinds[i])
          kinds[i] = Both;
        kinds[before] = Gone;
        --count;
      }
    }
    list[count++] = i;
    before = i;
  }
  int64_t place = 0;
  for (Kind kind : {First, Both, Second, Gone}) {
    starts[kind] = place;
    for (int64_t i = 0; i < size_; ++i)
      if (kinds[i] == kind)
        spare[i] = place++;
  }
  for (int64_t k = 0; k < count; ++k) {
    places[k] = spare[list[k]];
    poles[k] = d[from + list[k]];
    sizes[k] = z[list[k]];
  }
  if (count == 0)
    return 0;
  for (int64_t i = 0; i < size_; ++i) {
    const T *old = row(from + i) + from;
    T *next = rows + spare[i] * stride;
    for (int64_t j = 0; j < size_; ++j)
      next[j] = old[j];
    kept[spare[i]] = d[from + i];
  }
  return count;
}

template <typename T>
void DivideAndConquer<T>::findZeros(int64_t count, double rho) {
  Secular<false> secular{count, poles, sizes, rho,
                         sizeof(T) == 4 ? 0x1p-40 : kEpsilon};
  if (count == 1) {
    origins[0] = 0;
    distances[0] = rho * square(sizes[0]);
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    auto zero = secular.find(j);
    origins[j] = zero.pole;
    distances[j] = zero.distance;
  }
}

/// Row j of `factors`: eigenvector j of D + rho z z^T, of a z that has just the
/// zeros that were found.
template <typename T> void DivideAndConquer<T>::writeFactors(int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    products[i] = 1;
  for (int64_t j = 0; j < count; ++j) {
    double origin = poles[origins[j]], x = distances[j], pole = poles[j];
    for (int64_t i = 0; i < j; ++i)
      products[i] *= (poles[i] - origin - x) / (poles[i] - pole);
    products[j] *= pole - origin - x;
    for (int64_t i = j + 1; i < count; ++i)
      products[i] *= (poles[i] - origin - x) / (poles[i] - pole);
  }
  for (int64_t i = 0; i < count; ++i)
    z[i] = withSign(root(most(0.0, -products[i])), sizes[i]);
  for (int64_t j = 0; j < count; ++j) {
    double origin = poles[origins[j]], x = distances[j];
    Vector<double> squares{};
    constexpr int64_t w = width<double>;
    for (int64_t i = 0; i < count; ++i)
      products[i] = z[i] / (poles[i] - origin - x);
    int64_t i = 0;
    for (; i + w <= count; i += w)
      squares += load(products + i) * load(products + i);
    double sum = sumOf<double>(squares);
    for (; i < count; ++i)
      sum += square(products[i]);
    double inverse = 1 / root(sum);
    T *to = factors + j * stride;
    for (int64_t k = 0; k < count; ++k)
      to[places[k]] = T(products[k] * inverse);
  }
}

/// New eigenvectors first, then those that stay.
template <typename T>
void DivideAndConquer<T>::replaceRows(int64_t from, int64_t middle, int64_t to,
                                      int64_t count) {
  for (int64_t j = 0; j < count; ++j)
    d[from + j] = poles[origins[j]] + distances[j];
  for (int64_t j = count; j < to - from; ++j)
    d[from + j] = kept[j];
  for (int64_t i = from; i < to; ++i) {
    const T *old = rows + (i - from) * stride;
    T *next = row(i) + from;
    bool stays = i - from >= count;
    for (int64_t j = 0; j < to - from; ++j)
      next[j] = stays ? old[j] : T(0);
  }
  int64_t left = starts[Second], right = starts[Both], wide = middle - from;
  multiply<T>(row(from) + from, stride, {factors, stride, 1}, {rows, stride, 1},
              count, wide, left, false, panel);
  multiply<T>(row(from) + middle, stride, {factors + right, stride, 1},
              {rows + right * stride + wide, stride, 1}, count, to - middle,
              count - right, false, panel);
}

} // namespace eigen
} // namespace

#endif // SHARDRT_DEVICE_CPU_EIGENTRIDIAGONAL_H
