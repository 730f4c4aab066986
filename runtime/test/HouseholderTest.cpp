//===- HouseholderTest.cpp - QR and Hessenberg's form by the runtime ------===//
//
// Expected is what defines them: reflectors, written out in double, make of the
// triangle (of Hessenberg's form) the matrix again, and are orthogonal.
//
//===----------------------------------------------------------------------===//

#include "MatrixWords.h"
#include "TestWorld.h"
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

using namespace shardrt;
using namespace shardrt::test;

namespace {
using Number = std::complex<double>;

template <typename E> struct PartOf {
  using Type = E;
};
template <typename T> struct PartOf<std::complex<T>> {
  using Type = T;
};

/// Matrices of numbers in double, row by row.
struct Matrix {
  int64_t rows, columns;
  std::vector<Number> elements = std::vector<Number>(rows * columns);
  Number &operator()(int64_t i, int64_t j) { return elements[i * columns + j]; }
  double largest() const {
    double found = 0;
    for (Number x : elements)
      found = std::max(found, std::abs(x));
    return found;
  }
};

/// `outer` times `inner` matrices, elements of inner ones side by side.
struct Batch {
  int64_t outer, rows, columns, inner;
  int64_t count() const { return outer * inner; }
  int64_t at(int64_t matrix, int64_t i, int64_t j) const {
    return ((matrix / inner * rows + i) * columns + j) * inner + matrix % inner;
  }
  int64_t size() const { return count() * rows * columns; }
};

/// What a call does, and with which matrices.
template <typename E> struct Case {
  using T = typename PartOf<E>::Type;
  Batch batch;
  std::vector<E> a = std::vector<E>(batch.size());

  explicit Case(Batch batch, double scale = 1) : batch(batch) {
    std::mt19937 random(static_cast<unsigned>(batch.size()));
    std::uniform_real_distribution<double> numbers(-1, 1);
    for (E &x : a)
      if constexpr (std::is_same_v<E, T>)
        x = T(numbers(random) * scale);
      else
        x = E(T(numbers(random) * scale), T(numbers(random) * scale));
  }

  /// Calls with `threads`; taus are read or written.
  std::vector<E> run(shardrt_context *ctx, shardrt_householder_kind kind,
                     int64_t count, std::vector<E> &taus, int64_t threads) {
    std::vector<E> result(a.size());
    taus.resize(batch.count() * count);
    int64_t m = batch.rows, n = batch.columns, inner = batch.inner;
    MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                       {SHARDRT_MATRIX_COMPLEX, sizeof(E) != sizeof(T)},
                       {SHARDRT_MATRIX_KIND, kind},
                       {SHARDRT_MATRIX_THREADS, threads},
                       {SHARDRT_MATRIX_RANK, 4},
                       {SHARDRT_MATRIX_COUNT, count}},
                      {batch.outer, inner, m, n});
    words.add(a.data(), {m * n * inner, 1, n * inner, inner});
    words.add(result.data(), {m * n * inner, 1, n * inner, inner});
    words.add(taus.data(), {count * inner, 1, inner});
    EXPECT_EQ(shardrt_householder(ctx, words.data()), SHARDRT_OK);
    return result;
  }
  Matrix read(const std::vector<E> &from, int64_t matrix) const {
    Matrix made{batch.rows, batch.columns};
    for (int64_t i = 0; i < batch.rows; ++i)
      for (int64_t j = 0; j < batch.columns; ++j)
        made(i, j) = Number(from[batch.at(matrix, i, j)]);
    return made;
  }
  Number tau(const std::vector<E> &taus, int64_t count, int64_t matrix,
             int64_t k) const {
    return Number(taus[(matrix / batch.inner * count + k) * batch.inner +
                       matrix % batch.inner]);
  }
};
} // namespace

template <typename E>
static bool isSame(const std::vector<E> &x, const std::vector<E> &y) {
  return x.size() == y.size() &&
         std::memcmp(static_cast<const void *>(x.data()), y.data(),
                     x.size() * sizeof(E)) == 0;
}

/// to = (I - tau v v^H) to, v from `packed`, whose one is in row k + offset.
static void apply(Matrix &to, Matrix &packed, int64_t k, int64_t offset,
                  Number tau) {
  auto v = [&](int64_t i) {
    return i == k + offset ? Number(1) : packed(i, k);
  };
  for (int64_t j = 0; j < to.columns; ++j) {
    Number sum = 0;
    for (int64_t i = k + offset; i < to.rows; ++i)
      sum += std::conj(v(i)) * to(i, j);
    for (int64_t i = k + offset; i < to.rows; ++i)
      to(i, j) -= tau * sum * v(i);
  }
}

static void expectNear(Matrix &found, Matrix &expected, double bound,
                       const char *what) {
  for (int64_t i = 0; i < found.rows; ++i)
    for (int64_t j = 0; j < found.columns; ++j)
      ASSERT_LE(std::abs(found(i, j) - expected(i, j)), bound)
          << what << ", row " << i << " of " << found.rows << ", column " << j
          << " of " << found.columns;
}

static Matrix identity(int64_t rows, int64_t columns) {
  Matrix made{rows, columns};
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    made(i, i) = 1;
  return made;
}

/// Q R = A, and the product of reflectors is Q.
template <typename E>
static void checkQr(shardrt_context *ctx, Batch batch, double scale = 1) {
  Case<E> given(batch, scale);
  int64_t m = batch.rows, n = batch.columns, count = std::min(m, n);
  std::vector<E> taus, again;
  std::vector<E> packed =
      given.run(ctx, SHARDRT_HOUSEHOLDER_QR, count, taus, 1);
  EXPECT_TRUE(
      isSame(packed, given.run(ctx, SHARDRT_HOUSEHOLDER_QR, count, again, 3)));
  EXPECT_TRUE(isSame(taus, again));
  Case<E> reflectors(batch);
  reflectors.a = packed;
  std::vector<E> q;
  if (n <= m)
    q = reflectors.run(ctx, SHARDRT_HOUSEHOLDER_PRODUCT, count, taus, 2);
  double unit = std::numeric_limits<typename Case<E>::T>::epsilon();
  for (int64_t matrix = 0; matrix < batch.count(); ++matrix) {
    Matrix a = given.read(given.a, matrix), p = given.read(packed, matrix),
           triangle{m, n}, turned = identity(m, std::min(m, n));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = i; j < n; ++j)
        triangle(i, j) = p(i, j);
    for (int64_t k = count; k-- > 0;) {
      Number tau = given.tau(taus, count, matrix, k);
      apply(triangle, p, k, 0, tau);
      apply(turned, p, k, 0, tau);
      EXPECT_EQ(p(k, k).imag(), 0);
    }
    double bound = unit * (10 + double(m + n));
    expectNear(triangle, a, bound * a.largest(), "Q R");
    if (n <= m) {
      Matrix made = given.read(q, matrix), squares{n, n}, one = identity(n, n);
      expectNear(made, turned, bound, "Q");
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          for (int64_t r = 0; r < m; ++r)
            squares(i, j) += std::conj(made(r, i)) * made(r, j);
      expectNear(squares, one, bound, "Q^H Q");
    }
  }
}

/// Q H Q^H = A.
template <typename E>
static void checkHessenberg(shardrt_context *ctx, Batch batch,
                            double scale = 1) {
  Case<E> given(batch, scale);
  int64_t n = batch.rows, count = n - 1;
  std::vector<E> taus, again;
  std::vector<E> packed =
      given.run(ctx, SHARDRT_HOUSEHOLDER_HESSENBERG, count, taus, 1);
  EXPECT_TRUE(isSame(
      packed, given.run(ctx, SHARDRT_HOUSEHOLDER_HESSENBERG, count, again, 3)));
  double unit = std::numeric_limits<typename Case<E>::T>::epsilon();
  for (int64_t matrix = 0; matrix < batch.count(); ++matrix) {
    Matrix a = given.read(given.a, matrix), p = given.read(packed, matrix),
           form{n, n}, other{n, n};
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = std::max<int64_t>(i - 1, 0); j < n; ++j)
        form(i, j) = p(i, j);
    auto multiply = [&](Matrix &to) {
      for (int64_t k = count; k-- > 0;)
        apply(to, p, k, 1, given.tau(taus, count, matrix, k));
    };
    // Q H, then Q (Q H)^H, the adjoint of the whole.
    multiply(form);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        other(j, i) = std::conj(form(i, j));
    multiply(other);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        form(j, i) = std::conj(other(i, j));
    double bound = unit * (10 + 2 * double(n)) * a.largest();
    expectNear(form, a, bound, "Q H Q^H");
  }
}

template <typename E> static void checkSizes(shardrt_context *ctx) {
  for (int64_t n : {1, 3, 33, 70})
    for (int64_t more : {-20, 0, 1, 40})
      if (n + more > 0)
        checkQr<E>(ctx, {n == 33 ? 2 : 1, n + more, n, 2});
  checkQr<E>(ctx, {1, 200, 16, 1});
  for (int64_t n : {1, 2, 3, 32, 33, 34, 100})
    checkHessenberg<E>(ctx, {n == 33 ? 2 : 1, n, n, 2});
  bool isSingle = sizeof(typename PartOf<E>::Type) == 4;
  // Squares of these numbers are out of range.
  for (double scale : {isSingle ? 1e-30 : 1e-290, isSingle ? 1e30 : 1e290}) {
    checkQr<E>(ctx, {1, 60, 40, 1}, scale);
    checkHessenberg<E>(ctx, {1, 40, 40, 1}, scale);
  }
}

static int run(int (*body)(shardrt_context *)) {
  TestWorld world(makeTable({1}, {}));
  return world.run(body);
}

TEST(Householder, FactorsRealMatrices) {
  EXPECT_EQ(run([](shardrt_context *ctx) {
              checkSizes<float>(ctx);
              checkSizes<double>(ctx);
              return 0;
            }),
            SHARDRT_OK);
}

TEST(Householder, FactorsComplexMatrices) {
  EXPECT_EQ(run([](shardrt_context *ctx) {
              checkSizes<std::complex<float>>(ctx);
              checkSizes<std::complex<double>>(ctx);
              return 0;
            }),
            SHARDRT_OK);
}

TEST(Householder, LeavesZeroAsItIs) {
  EXPECT_EQ(run([](shardrt_context *ctx) {
              Case<double> zero({1, 40, 40, 1}, 0);
              for (auto [kind, count] :
                   {std::pair(SHARDRT_HOUSEHOLDER_QR, 40),
                    std::pair(SHARDRT_HOUSEHOLDER_HESSENBERG, 39)}) {
                std::vector<double> taus(count, 1);
                for (double x : zero.run(ctx, kind, count, taus, 1))
                  EXPECT_EQ(x, 0);
                for (double x : taus)
                  EXPECT_EQ(x, 0);
              }
              return 0;
            }),
            SHARDRT_OK);
}

TEST(Householder, KeepsWhatIsNoNumber) {
  EXPECT_EQ(run([](shardrt_context *ctx) {
              // Beside it the first column is zero.
              Case<float> given({1, 40, 20, 1});
              for (int64_t i = 0; i < 40; ++i)
                given.a[given.batch.at(0, i, 0)] = 0;
              given.a[given.batch.at(0, 30, 0)] =
                  std::numeric_limits<float>::quiet_NaN();
              std::vector<float> taus;
              auto packed = given.run(ctx, SHARDRT_HOUSEHOLDER_QR, 20, taus, 1);
              for (int64_t k = 0; k < 20; ++k) {
                EXPECT_TRUE(std::isnan(packed[given.batch.at(0, k, k)])) << k;
                EXPECT_TRUE(std::isnan(taus[k])) << k;
              }
              return 0;
            }),
            SHARDRT_OK);
}

TEST(Householder, HasNothingToDoWithoutElements) {
  EXPECT_EQ(run([](shardrt_context *ctx) {
              MatrixWords words({{SHARDRT_MATRIX_PART, 4},
                                 {SHARDRT_MATRIX_THREADS, 2},
                                 {SHARDRT_MATRIX_RANK, 3}},
                                {5, 20, 0});
              words.add(nullptr, {0, 1, 1});
              words.add(nullptr, {0, 1, 1});
              words.add(nullptr, {0, 1});
              EXPECT_EQ(shardrt_householder(ctx, words.data()), SHARDRT_OK);
              return 0;
            }),
            SHARDRT_OK);
}

TEST(Householder, SaysWhatMemoryCannotBeHadFor) {
  // 2^46 bytes and more: no host has as many.
  constexpr int64_t n = int64_t(1) << 22;
  float nothing[1] = {};
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    MatrixWords words({{SHARDRT_MATRIX_PART, 4},
                       {SHARDRT_MATRIX_THREADS, 1},
                       {SHARDRT_MATRIX_RANK, 2},
                       {SHARDRT_MATRIX_COUNT, 1}},
                      {n, n});
    words.add(nothing, {n, 1});
    words.add(nothing, {n, 1});
    words.add(nothing, {1});
    return shardrt_householder(ctx, words.data());
  }),
            SHARDRT_MEMORY);
  EXPECT_NE(world.error().find("for reflectors of a matrix"), std::string::npos)
      << world.error();
}
