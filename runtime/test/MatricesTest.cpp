//===- MatricesTest.cpp - Matrices decomposed by the runtime --------------===//
//
// Expected is what defines eigenvalues and singular values, in double.
//
//===----------------------------------------------------------------------===//

#include "MatrixWords.h"
#include "TestWorld.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// `outer` times `inner` matrices, elements of inner ones side by side.
struct Batch {
  int64_t outer, rows, columns, inner;
  int64_t count() const { return outer * inner; }
  int64_t at(int64_t matrix, int64_t i, int64_t j) const {
    return ((matrix / inner * rows + i) * columns + j) * inner + matrix % inner;
  }
  int64_t at(int64_t matrix, int64_t i) const {
    return (matrix / inner * columns + i) * inner + matrix % inner;
  }
  Batch square() const { return {outer, columns, columns, inner}; }
  int64_t size() const { return count() * rows * columns; }
};
} // namespace

static void addMatrices(MatrixWords &words, const void *address, Batch batch) {
  words.add(address, {batch.rows * batch.columns * batch.inner, 1,
                      batch.columns * batch.inner, batch.inner});
}

template <typename T> static std::vector<T> makeMatrices(Batch batch) {
  std::mt19937 random(static_cast<unsigned>(batch.size()));
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> a(batch.size());
  for (T &x : a)
    x = numbers(random);
  return a;
}

template <typename T>
static void checkEigh(shardrt_context *ctx, Batch batch, bool isUpper) {
  int64_t n = batch.rows;
  std::vector<T> a = makeMatrices<T>(batch), values[3], vectors[2];
  a[batch.at(0, isUpper ? 0 : n - 1, isUpper ? n - 1 : 0)] =
      std::numeric_limits<T>::quiet_NaN();
  // With vectors by one thread and by three, and without.
  for (int64_t k = 0; k < 3; ++k) {
    bool hasVectors = k < 2;
    values[k].resize(batch.count() * n);
    MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                       {SHARDRT_MATRIX_KIND,
                        isUpper ? SHARDRT_EIGH_UPPER : SHARDRT_EIGH_LOWER},
                       {SHARDRT_MATRIX_THREADS, k == 0 ? 1 : 3},
                       {SHARDRT_MATRIX_RANK, 4},
                       {SHARDRT_MATRIX_COUNT, hasVectors ? 2 : 1}},
                      {batch.outer, batch.inner, n, n});
    addMatrices(words, a.data(), batch);
    words.add(values[k].data(), {n * batch.inner, 1, batch.inner});
    if (hasVectors) {
      vectors[k].resize(batch.size());
      addMatrices(words, vectors[k].data(), batch);
    }
    ASSERT_EQ(shardrt_eigh(ctx, words.data()), SHARDRT_OK);
  }
  auto isSame = [](const std::vector<T> &x, const std::vector<T> &y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
  };
  EXPECT_TRUE(isSame(values[0], values[1]));
  EXPECT_TRUE(isSame(vectors[0], vectors[1]));
  double bound = double(n + 8) * n * std::numeric_limits<T>::epsilon();
  for (int64_t matrix = 0; matrix < batch.count(); ++matrix)
    for (int64_t j = 0; j < n; ++j) {
      double value = values[0][batch.at(matrix, j)],
             other = values[2][batch.at(matrix, j)];
      if (matrix == 0) {
        EXPECT_TRUE(std::isnan(value) && std::isnan(other));
        continue;
      }
      EXPECT_NEAR(value, other, bound);
      if (j > 0) {
        EXPECT_LE(values[0][batch.at(matrix, j - 1)], value);
      }
      double norm = 0;
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0, own = vectors[0][batch.at(matrix, i, j)];
        for (int64_t k = 0; k < n; ++k) {
          bool isRead = isUpper ? k >= i : k <= i;
          sum +=
              double(
                  a[isRead ? batch.at(matrix, i, k) : batch.at(matrix, k, i)]) *
              vectors[0][batch.at(matrix, k, j)];
        }
        norm += own * own;
        ASSERT_NEAR(sum, value * own, bound) << n;
      }
      ASSERT_NEAR(norm, 1, bound) << n;
    }
}

template <typename T> static void checkSvd(shardrt_context *ctx, Batch batch) {
  int64_t m = batch.rows, n = batch.columns;
  std::vector<T> a = makeMatrices<T>(batch), values[3], left[2], right[2];
  a[batch.at(0, m - 1, 0)] = std::numeric_limits<T>::infinity();
  for (int64_t k = 0; k < 3; ++k) {
    bool hasVectors = k < 2;
    values[k].resize(batch.count() * n);
    MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                       {SHARDRT_MATRIX_THREADS, k == 0 ? 1 : 3},
                       {SHARDRT_MATRIX_RANK, 4},
                       {SHARDRT_MATRIX_COUNT, hasVectors ? 3 : 1}},
                      {batch.outer, batch.inner, m, n});
    addMatrices(words, a.data(), batch);
    words.add(values[k].data(), {n * batch.inner, 1, batch.inner});
    if (hasVectors) {
      left[k].resize(batch.size());
      right[k].resize(batch.square().size());
      addMatrices(words, left[k].data(), batch);
      addMatrices(words, right[k].data(), batch.square());
    }
    ASSERT_EQ(shardrt_svd(ctx, words.data()), SHARDRT_OK);
  }
  auto isSame = [](const std::vector<T> &x, const std::vector<T> &y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
  };
  EXPECT_TRUE(isSame(values[0], values[1]));
  EXPECT_TRUE(isSame(values[0], values[2]));
  EXPECT_TRUE(isSame(left[0], left[1]));
  EXPECT_TRUE(isSame(right[0], right[1]));
  double bound = double(m + 8) * n * std::numeric_limits<T>::epsilon();
  for (int64_t matrix = 0; matrix < batch.count(); ++matrix)
    for (int64_t j = 0; j < n; ++j) {
      double value = values[0][batch.at(matrix, j)];
      if (matrix == 0) {
        EXPECT_TRUE(std::isnan(value));
        continue;
      }
      EXPECT_GE(value, 0);
      if (j > 0) {
        EXPECT_GE(values[0][batch.at(matrix, j - 1)], value);
      }
      // A v = w, of norm `value`.
      double norm = 0;
      for (int64_t i = 0; i < m; ++i) {
        double sum = 0, own = left[0][batch.at(matrix, i, j)];
        for (int64_t k = 0; k < n; ++k)
          sum += double(a[batch.at(matrix, i, k)]) *
                 right[0][batch.square().at(matrix, k, j)];
        norm += own * own;
        ASSERT_NEAR(sum, own, bound) << n;
      }
      ASSERT_NEAR(std::sqrt(norm), value, bound) << n;
    }
}

TEST(Matrices, FindsEigenvalues) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    for (int64_t n : {1, 2, 5, 16, 33, 70, 100})
      for (bool isUpper : {false, true}) {
        checkEigh<float>(ctx, {2, n, n, 2}, isUpper);
        checkEigh<double>(ctx, {3, n, n, 1}, isUpper);
      }
    return 0;
  }),
            SHARDRT_OK);
}

TEST(Matrices, FindsSingularValues) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    for (int64_t n : {1, 2, 5, 16, 33, 70})
      for (int64_t more : {0, 1, 40}) {
        checkSvd<float>(ctx, {2, n + more, n, 2});
        checkSvd<double>(ctx, {3, n + more, n, 1});
      }
    return 0;
  }),
            SHARDRT_OK);
}

namespace {
/// Matrices that algorithms for singular values have been wrong about.
enum class Hard {
  Zero,
  RankOne,
  Deficient,
  Repeated,
  Clustered,
  Graded,
  Huge,
  Tiny,
  Column
};
} // namespace

/// `rows` times `columns` elements, row by row, in double.
static std::vector<double> makeHard(Hard kind, int64_t rows, int64_t columns,
                                    bool isSingle) {
  std::mt19937 random(static_cast<unsigned>(rows * 100 + columns));
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<double> a(rows * columns), left(rows), right(columns);
  for (std::vector<double> *each : {&a, &left, &right})
    for (double &x : *each)
      x = numbers(random);
  auto isDiagonal = [](int64_t i, int64_t j) { return i == j; };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double &x = a[i * columns + j];
      switch (kind) {
      case Hard::Zero:
        x = 0;
        break;
      case Hard::RankOne:
        x = left[i] * right[j];
        break;
      case Hard::Deficient:
        x = j % 2 ? a[i * columns + j - 1] : x;
        break;
      case Hard::Repeated:
        x = isDiagonal(i, j) ? 1 + j % 3 : 0;
        break;
      case Hard::Clustered:
        x = (isDiagonal(i, j) ? 1 : 0) + 1e-6 * x;
        break;
      case Hard::Graded:
        x = std::ldexp(x, -3 * int(std::min(i, j)) % 90);
        break;
      case Hard::Huge:
        x *= isSingle ? 1e36 : 1e304;
        break;
      case Hard::Tiny:
        x *= isSingle ? 1e-36 : 1e-300;
        break;
      case Hard::Column:
        x = j == columns / 2 ? x : 0;
        break;
      }
    }
  return a;
}

/// U S V^T = A, V orthogonal, columns of U S orthogonal; of each relative to
/// the largest singular value.
template <typename T>
static void checkHard(shardrt_context *ctx, Hard kind, int64_t m, int64_t n) {
  std::vector<double> exact = makeHard(kind, m, n, sizeof(T) == 4);
  std::vector<T> a(exact.begin(), exact.end()), values(n), left(m * n),
      right(n * n);
  MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                     {SHARDRT_MATRIX_THREADS, 1},
                     {SHARDRT_MATRIX_RANK, 2},
                     {SHARDRT_MATRIX_COUNT, 3}},
                    {m, n});
  words.add(a.data(), {n, 1});
  words.add(values.data(), {1});
  words.add(left.data(), {n, 1});
  words.add(right.data(), {n, 1});
  ASSERT_EQ(shardrt_svd(ctx, words.data()), SHARDRT_OK);
  double unit = std::numeric_limits<T>::epsilon() * double(m + n + 20),
         scale = values[0] > 0 ? double(values[0]) : 1;
  auto what = [&] {
    return ::testing::Message()
           << "kind " << int(kind) << ", " << m << " rows, " << n << " columns";
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += double(left[i * n + k]) / scale * right[j * n + k];
      ASSERT_NEAR(sum, a[i * n + j] / scale, unit) << what();
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double ofRight = 0, ofLeft = 0;
      for (int64_t k = 0; k < n; ++k)
        ofRight += double(right[k * n + i]) * right[k * n + j];
      for (int64_t k = 0; k < m; ++k)
        ofLeft += double(left[k * n + i]) / scale * (left[k * n + j] / scale);
      double value = i == j ? values[i] / scale : 0;
      ASSERT_NEAR(ofRight, i == j, unit) << what();
      ASSERT_NEAR(ofLeft, value * value, unit) << what();
      if (i + 1 == j) {
        ASSERT_GE(values[i], values[j]) << what();
        ASSERT_GE(values[j], 0) << what();
      }
    }
}

TEST(Matrices, FindsSingularValuesOfHardMatrices) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    for (Hard kind :
         {Hard::Zero, Hard::RankOne, Hard::Deficient, Hard::Repeated,
          Hard::Clustered, Hard::Graded, Hard::Huge, Hard::Tiny, Hard::Column})
      for (auto [m, n] : {std::pair(1, 1), std::pair(20, 20), std::pair(50, 45),
                          std::pair(90, 20), std::pair(70, 70)}) {
        checkHard<float>(ctx, kind, m, n);
        checkHard<double>(ctx, kind, m, n);
      }
    return 0;
  }),
            SHARDRT_OK);
}

TEST(Matrices, HasNothingToDoWithoutElements) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    MatrixWords eigh({{SHARDRT_MATRIX_PART, 4},
                      {SHARDRT_MATRIX_THREADS, 2},
                      {SHARDRT_MATRIX_RANK, 3},
                      {SHARDRT_MATRIX_COUNT, 1}},
                     {0, 5, 5});
    eigh.add(nullptr, {25, 5, 1});
    eigh.add(nullptr, {5, 1});
    EXPECT_EQ(shardrt_eigh(ctx, eigh.data()), SHARDRT_OK);
    MatrixWords svd({{SHARDRT_MATRIX_PART, 8},
                     {SHARDRT_MATRIX_COMPLEX, 1},
                     {SHARDRT_MATRIX_THREADS, 2},
                     {SHARDRT_MATRIX_RANK, 3},
                     {SHARDRT_MATRIX_COUNT, 1}},
                    {2, 4, 0});
    svd.add(nullptr, {0, 0, 1});
    svd.add(nullptr, {0, 1});
    EXPECT_EQ(shardrt_svd(ctx, svd.data()), SHARDRT_OK);
    return 0;
  }),
            SHARDRT_OK);
}

/// The eigenvalues or singular values alone of one matrix of f32, n by n, as if
/// all were at one place.
static MatrixWords valuesOf(float *place, int64_t n) {
  MatrixWords words({{SHARDRT_MATRIX_PART, 4},
                     {SHARDRT_MATRIX_THREADS, 1},
                     {SHARDRT_MATRIX_RANK, 2},
                     {SHARDRT_MATRIX_COUNT, 1}},
                    {n, n});
  words.add(place, {n, 1});
  words.add(place, {1});
  return words;
}

TEST(Matrices, SaysWhatMemoryCannotBeHadFor) {
  // 2^46 bytes and more: no host has as many.
  constexpr int64_t n = int64_t(1) << 22;
  float nothing[1] = {};
  TestWorld eighWorld(makeTable({1}, {}));
  EXPECT_EQ(eighWorld.run([&](shardrt_context *ctx) {
    return shardrt_eigh(ctx, valuesOf(nothing, n).data());
  }),
            SHARDRT_MEMORY);
  EXPECT_NE(eighWorld.error().find("for an eigenvalue decomposition"),
            std::string::npos)
      << eighWorld.error();
  TestWorld svdWorld(makeTable({1}, {}));
  EXPECT_EQ(svdWorld.run([&](shardrt_context *ctx) {
    return shardrt_svd(ctx, valuesOf(nothing, n).data());
  }),
            SHARDRT_MEMORY);
  EXPECT_NE(svdWorld.error().find("for a singular value decomposition"),
            std::string::npos)
      << svdWorld.error();
}
