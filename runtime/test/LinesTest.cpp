//===- LinesTest.cpp - Lines sorted and transformed by the runtime --------===//
//
// Expected is what std::stable_sort makes of positions, by comparisons of the
// values themselves; and of transforms the sum that defines them, in double.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"
#include "shardrt/LineCall.h"
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// What is sorted: `outer` times `inner` lines of `length`.
struct Shape {
  int64_t outer, length, inner;
  int64_t lines() const { return outer * inner; }
  int64_t at(int64_t line, int64_t i, int64_t length) const {
    return (line / inner * length + i) * inner + line % inner;
  }
};

struct Wide {
  int64_t a, b;
  bool operator==(const Wide &) const = default;
};
} // namespace

template <typename T> static bool isBefore(shardrt_sort_order order, T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (order == SHARDRT_SORT_TOTAL)
      return std::strong_order(x, y) < 0;
    return std::isnan(y) ? !std::isnan(x) : x < y;
  } else {
    return x < y;
  }
}

/// Numbers of which many are equal, and those that are special.
template <typename T>
static std::vector<T> makeKeys(int64_t count, bool isPlain, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> keys(count);
  using Limits = std::numeric_limits<T>;
  for (T &key : keys) {
    key = isPlain ? static_cast<T>(random()) : static_cast<T>(random() % 50);
    if constexpr (std::is_signed_v<T>)
      key = static_cast<T>(random() % 2 ? key : -key); // -0 among floats
    if (random() % 16 != 0)
      continue;
    key = random() % 2 ? Limits::max() : Limits::lowest();
    if constexpr (std::is_floating_point_v<T>)
      if (!isPlain)
        key = std::copysign(random() % 2 ? Limits::quiet_NaN()
                                         : Limits::infinity(),
                            random() % 2 ? T(1) : T(-1));
    if constexpr (std::is_floating_point_v<T>)
      if (isPlain && key == 0)
        key = 1;
  }
  return keys;
}

static std::vector<int64_t> stridesOf(Shape shape, int64_t length) {
  return {length * shape.inner, shape.inner, 1};
}

/// Sorts with everything that a call can ask for, or the keys alone.
template <typename T>
static void check(shardrt_context *ctx, shardrt_sort_order order, Shape shape,
                  int64_t keep, bool isDescending, bool isAlone, bool isPlain,
                  int64_t threads) {
  int64_t n = shape.length, total = shape.lines() * n,
          kept = shape.lines() * keep;
  std::vector<T> keys = makeKeys<T>(total, isPlain, unsigned(total + threads)),
                 sortedKeys(kept);
  std::vector<Wide> moved(total), sortedMoved(kept);
  std::vector<int32_t> positions(kept, -1);
  for (int64_t i = 0; i < total; ++i)
    moved[i] = {i, ~i};
  std::vector<int64_t> words = {order,
                                isDescending,
                                threads,
                                keep,
                                isAlone ? 1 : 2,
                                isAlone ? 0 : 4,
                                3,
                                1,
                                shape.outer,
                                n,
                                shape.inner};
  auto addOperand = [&](int64_t bytes, const void *src, const void *dst) {
    words.insert(words.end(), {bytes, reinterpret_cast<int64_t>(src),
                               reinterpret_cast<int64_t>(dst)});
    for (int64_t length : {n, keep})
      for (int64_t stride : stridesOf(shape, length))
        words.push_back(stride);
  };
  addOperand(sizeof(T), keys.data(), sortedKeys.data());
  if (!isAlone) {
    addOperand(sizeof(Wide), moved.data(), sortedMoved.data());
    addOperand(sizeof(int32_t), nullptr, positions.data());
  }
  ASSERT_EQ(shardrt_sort_lines(ctx, words.data()), SHARDRT_OK);
  std::vector<int64_t> expected(n);
  for (int64_t line = 0; line < shape.lines(); ++line) {
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(
        expected.begin(), expected.end(), [&](int64_t i, int64_t j) {
          T x = keys[shape.at(line, i, n)], y = keys[shape.at(line, j, n)];
          return isDescending ? isBefore(order, y, x) : isBefore(order, x, y);
        });
    for (int64_t i = 0; i < keep; ++i) {
      int64_t to = shape.at(line, i, keep),
              from = shape.at(line, expected[i], n);
      // Bits: zeros have signs.
      ASSERT_EQ(std::memcmp(&sortedKeys[to], &keys[from], sizeof(T)), 0)
          << "line " << line << " element " << i << " of " << n;
      if (isAlone)
        continue;
      ASSERT_EQ(positions[to], expected[i]) << "line " << line;
      ASSERT_TRUE(sortedMoved[to] == moved[from]) << "line " << line;
    }
  }
}

template <typename T>
static void checkShapes(shardrt_context *ctx, shardrt_sort_order order) {
  for (Shape shape : std::initializer_list<Shape>{{3, 1, 1},
                                                  {37, 2, 1},
                                                  {5, 33, 1},
                                                  {2, 100, 9},
                                                  {1, 700, 1},
                                                  {3, 1500, 2},
                                                  {1, 9000, 1}})
    for (bool isDescending : {false, true})
      for (bool isAlone : {false, true})
        for (bool isPlain : {false, true})
          for (int64_t threads : {1, 3})
            for (int64_t keep : {int64_t(3), shape.length / 2, shape.length})
              check<T>(ctx, order, shape, std::min(keep, shape.length),
                       isDescending, isAlone, isPlain, threads);
}

TEST(Lines, SortsAsStableSortDoes) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    checkShapes<int8_t>(ctx, SHARDRT_SORT_SIGNED);
    checkShapes<uint16_t>(ctx, SHARDRT_SORT_UNSIGNED);
    checkShapes<int32_t>(ctx, SHARDRT_SORT_SIGNED);
    checkShapes<uint64_t>(ctx, SHARDRT_SORT_UNSIGNED);
    checkShapes<float>(ctx, SHARDRT_SORT_TOTAL);
    checkShapes<float>(ctx, SHARDRT_SORT_NUMBERS);
    checkShapes<double>(ctx, SHARDRT_SORT_TOTAL);
    checkShapes<double>(ctx, SHARDRT_SORT_NUMBERS);
    return 0;
  }),
            SHARDRT_OK);
}

TEST(Lines, HasNothingToDoWithoutElements) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    check<float>(ctx, SHARDRT_SORT_TOTAL, {0, 7, 1}, 7, false, false, true, 2);
    check<float>(ctx, SHARDRT_SORT_TOTAL, {4, 0, 2}, 0, false, true, true, 2);
    check<float>(ctx, SHARDRT_SORT_TOTAL, {4, 5, 2}, 0, false, true, true, 2);
    return 0;
  }),
            SHARDRT_OK);
}

template <typename T>
static void checkTransform(shardrt_context *ctx, Shape shape, bool isInverse,
                           int64_t threads) {
  int64_t n = shape.length, total = shape.lines() * n;
  std::mt19937 random(static_cast<unsigned>(total));
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<std::complex<T>> x(total), y(total);
  for (std::complex<T> &number : x)
    number = {numbers(random), numbers(random)};
  std::vector<T> cosines(n), sines(n);
  std::vector<std::complex<double>> roots(n);
  for (int64_t k = 0; k < n; ++k) {
    roots[k] = std::polar(1.0, -2 * M_PI * double(k) / double(n));
    cosines[k] = T(roots[k].real());
    sines[k] = T(roots[k].imag());
  }
  double factor = isInverse ? 1.0 / double(n) : 1;
  std::vector<int64_t> words = {sizeof(T),
                                isInverse,
                                std::bit_cast<int64_t>(factor),
                                threads,
                                3,
                                1,
                                reinterpret_cast<int64_t>(x.data()),
                                reinterpret_cast<int64_t>(y.data()),
                                reinterpret_cast<int64_t>(cosines.data()),
                                reinterpret_cast<int64_t>(sines.data()),
                                n,
                                SHARDRT_TRANSFORM_COMPLEX,
                                0,
                                shape.outer,
                                n,
                                shape.inner};
  for (int i = 0; i < 2; ++i)
    for (int64_t stride : stridesOf(shape, n))
      words.push_back(stride);
  ASSERT_EQ(shardrt_transform_dims(ctx, words.data()), SHARDRT_OK);
  // Of long lines some elements of the first and the last.
  int64_t step = n > 1000 ? 611 : 1;
  double most = 0;
  for (int64_t line = 0; line < shape.lines();
       line += n > 1000 ? std::max<int64_t>(1, shape.lines() - 1) : 1)
    for (int64_t k = 0; k < n; k += step) {
      std::complex<double> sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        std::complex<double> root = roots[j * k % n];
        sum += std::complex<double>(x[shape.at(line, j, n)]) *
               (isInverse ? std::conj(root) : root);
      }
      std::complex<double> got(y[shape.at(line, k, n)]);
      most = std::max(most, std::abs(sum * factor - got));
    }
  // Errors grow as the root of the logarithm; elements are about sqrt(n).
  double bound = 4 * std::numeric_limits<T>::epsilon() * std::sqrt(double(n)) *
                 factor * std::log2(double(n) + 1);
  // In place, the same bits.
  std::vector<std::complex<T>> place = x;
  words[SHARDRT_TRANSFORM_SRC] = words[SHARDRT_TRANSFORM_DST] =
      reinterpret_cast<int64_t>(place.data());
  ASSERT_EQ(shardrt_transform_dims(ctx, words.data()), SHARDRT_OK);
  EXPECT_TRUE(total == 0 || std::memcmp(place.data(), y.data(),
                                        total * sizeof(place[0])) == 0)
      << "n " << n << " in place";
  EXPECT_LE(most, bound) << shape.outer << " x " << n << " x " << shape.inner;
}

/// Lines of real numbers there and back.
template <typename T>
static void checkReal(shardrt_context *ctx, Shape shape, int64_t threads) {
  int64_t n = shape.length, half = n / 2 + 1;
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> x(shape.lines() * n), back(x.size());
  for (T &number : x)
    number = numbers(random);
  std::vector<std::complex<T>> y(shape.lines() * half);
  std::vector<T> cosines(n), sines(n);
  std::vector<std::complex<double>> roots(n);
  for (int64_t k = 0; k < n; ++k) {
    roots[k] = std::polar(1.0, -2 * M_PI * double(k) / double(n));
    cosines[k] = T(roots[k].real());
    sines[k] = T(roots[k].imag());
  }
  auto transform = [&](bool isBack, const void *src, const void *dst) {
    std::vector<int64_t> words = {
        sizeof(T),
        isBack,
        std::bit_cast<int64_t>(isBack ? 1.0 / double(n) : 1.0),
        threads,
        3,
        1,
        reinterpret_cast<int64_t>(src),
        reinterpret_cast<int64_t>(dst),
        reinterpret_cast<int64_t>(cosines.data()),
        reinterpret_cast<int64_t>(sines.data()),
        n,
        isBack ? SHARDRT_TRANSFORM_TO_REAL : SHARDRT_TRANSFORM_FROM_REAL,
        0,
        shape.outer,
        isBack ? half : n,
        shape.inner};
    for (int64_t size : {isBack ? half : n, isBack ? n : half})
      for (int64_t stride : stridesOf(shape, size))
        words.push_back(stride);
    ASSERT_EQ(shardrt_transform_dims(ctx, words.data()), SHARDRT_OK);
  };
  transform(false, x.data(), y.data());
  double bound = 4 * std::numeric_limits<T>::epsilon() * std::sqrt(double(n)) *
                 std::log2(double(n) + 1);
  for (int64_t line = 0; line < shape.lines(); ++line)
    for (int64_t k = 0; k < half; ++k) {
      std::complex<double> sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += double(x[shape.at(line, j, n)]) * roots[j * k % n];
      EXPECT_LE(
          std::abs(sum - std::complex<double>(y[shape.at(line, k, half)])),
          bound)
          << shape.outer << " x " << n << " x " << shape.inner << ": " << k;
    }
  // Imaginary parts of what is its own conjugate are not looked at.
  for (int64_t line = 0; line < shape.lines(); ++line)
    for (int64_t k = 0; k < half; k += n % 2 == 0 && n > 1 ? n / 2 : n)
      y[shape.at(line, k, half)] += std::complex<T>(0, 3);
  transform(true, y.data(), back.data());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(std::abs(double(back[i]) - double(x[i])), bound) << i;
}

TEST(Lines, TransformsRealLinesThereAndBack) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    for (int64_t threads : {1, 3})
      for (int64_t n : {1, 2, 3, 4, 5, 6, 8, 9, 15, 16, 22, 30, 64, 98, 343})
        for (Shape shape :
             std::initializer_list<Shape>{{17, n, 1}, {3, n, 5}}) {
          checkReal<float>(ctx, shape, threads);
          checkReal<double>(ctx, shape, threads);
        }
    return 0;
  }),
            SHARDRT_OK);
}

TEST(Lines, TransformsAsTheSumsSay) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    for (bool isInverse : {false, true})
      for (int64_t threads : {1, 3}) {
        for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 11, 16, 30, 61, 64, 96, 343})
          for (Shape shape : std::initializer_list<Shape>{
                   {17, n, 1}, {3, n, 5}, {1, n, 33}}) {
            checkTransform<float>(ctx, shape, isInverse, threads);
            checkTransform<double>(ctx, shape, isInverse, threads);
          }
        // Longer than a block.
        for (Shape shape :
             std::initializer_list<Shape>{{3, 8192, 1}, {1, 5400, 3}}) {
          checkTransform<float>(ctx, shape, isInverse, threads);
          checkTransform<double>(ctx, shape, isInverse, threads);
        }
      }
    checkTransform<float>(ctx, {0, 8, 1}, false, 2);
    return 0;
  }),
            SHARDRT_OK);
}

/// Dims 1 to 3 in one call, and in a call each: the same bits. `isBack`: from
/// the first dim to the last, which becomes real; else the other way round.
static void checkDims(shardrt_context *ctx, std::array<int64_t, 4> sizes,
                      bool isBack, bool isReal, int64_t threads) {
  using Sizes = std::array<int64_t, 4>;
  auto count = [](Sizes of) { return of[0] * of[1] * of[2] * of[3]; };
  Sizes halves = sizes;
  if (isReal)
    halves[3] = sizes[3] / 2 + 1;
  std::mt19937 random(static_cast<unsigned>(count(sizes)));
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<float> real(count(sizes) * (isReal ? 1 : 2)), tables[4][2];
  std::vector<float> complex(2 * count(halves));
  for (float &number : isBack ? complex : real)
    number = numbers(random);
  for (int dim = 1; dim < 4; ++dim)
    for (int64_t k = 0; k < sizes[dim]; ++k) {
      double angle = -2 * M_PI * double(k) / double(sizes[dim]);
      tables[dim][0].push_back(float(std::cos(angle)));
      tables[dim][1].push_back(float(std::sin(angle)));
    }
  auto transform = [&](std::vector<int64_t> dims, const float *src,
                       float *last) {
    std::vector<int64_t> words;
    for (int64_t dim : dims) {
      bool changes = dim == 3 && isReal;
      const float *from = words.empty() ? src : complex.data(),
                  *to = dim == dims.back() ? last : complex.data();
      auto tableOf = [&](int i) {
        return reinterpret_cast<int64_t>(tables[dim][i].data());
      };
      words.insert(words.end(),
                   {4, isBack, std::bit_cast<int64_t>(1.0), threads, 4, dim,
                    reinterpret_cast<int64_t>(from),
                    reinterpret_cast<int64_t>(to), tableOf(0), tableOf(1),
                    sizes[dim],
                    !changes ? SHARDRT_TRANSFORM_COMPLEX
                    : isBack ? SHARDRT_TRANSFORM_TO_REAL
                             : SHARDRT_TRANSFORM_FROM_REAL,
                    dim == dims.back() ? 0 : SHARDRT_TRANSFORM_HEAD + 12});
      Sizes in = changes && !isBack ? sizes : halves,
            out = changes && isBack ? sizes : halves;
      words.insert(words.end(), in.begin(), in.end());
      for (const Sizes &of : {in, out})
        words.insert(words.end(),
                     {of[1] * of[2] * of[3], of[2] * of[3], of[3], 1});
    }
    ASSERT_EQ(shardrt_transform_dims(ctx, words.data()), SHARDRT_OK);
  };
  std::vector<float> source = complex, results[2];
  for (bool isOne : {false, true}) {
    complex = source;
    if (isOne && isBack)
      transform({1, 2, 3}, complex.data(), real.data());
    else if (isOne)
      transform({3, 2, 1}, real.data(), complex.data());
    else
      for (int64_t dim : {1, 2, 3}) {
        int64_t at = isBack ? dim : 4 - dim;
        transform({at}, !isBack && at == 3 ? real.data() : complex.data(),
                  isBack && at == 3 ? real.data() : complex.data());
      }
    results[isOne] = isBack ? real : complex;
  }
  EXPECT_TRUE(results[0] == results[1])
      << sizes[0] << " x " << sizes[1] << " x " << sizes[2] << " x " << sizes[3]
      << ", back " << isBack << ", real " << isReal << ", threads " << threads;
}

TEST(Lines, TransformsDimsTogetherAsOneByOne) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    // Small planes are done some at a time, few are shared by lines, and those
    // of the last shape are larger than what is done at a time.
    for (std::array<int64_t, 4> sizes :
         std::initializer_list<std::array<int64_t, 4>>{{5, 8, 6, 20},
                                                       {1, 16, 3, 4},
                                                       {300, 4, 2, 4},
                                                       {17, 6, 9, 35},
                                                       {3, 10, 50, 64}})
      for (bool isBack : {false, true})
        for (bool isReal : {false, true})
          for (int64_t threads : {1, 2, 3})
            checkDims(ctx, sizes, isBack, isReal, threads);
    return 0;
  }),
            SHARDRT_OK);
}

TEST(Lines, HaveTheSameBitsBesideOthers) {
  TestWorld world(makeTable({1}, {}));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    // The last of 21 lines of 60 numbers, and the same alone.
    constexpr int64_t n = 60, lines = 21;
    std::vector<std::complex<float>> x(lines * n), all(lines * n), one(n);
    for (int64_t i = 0; i < lines * n; ++i)
      x[i] = {std::sin(float(i * i)), std::cos(float(i))};
    std::vector<float> cosines(n), sines(n);
    for (int64_t k = 0; k < n; ++k) {
      cosines[k] = std::cos(2 * float(M_PI) * float(k) / n);
      sines[k] = -std::sin(2 * float(M_PI) * float(k) / n);
    }
    auto transform = [&](std::complex<float> *src, std::complex<float> *dst,
                         int64_t count, int64_t threads) {
      int64_t words[] = {4,
                         0,
                         std::bit_cast<int64_t>(1.0),
                         threads,
                         2,
                         1,
                         reinterpret_cast<int64_t>(src),
                         reinterpret_cast<int64_t>(dst),
                         reinterpret_cast<int64_t>(cosines.data()),
                         reinterpret_cast<int64_t>(sines.data()),
                         n,
                         SHARDRT_TRANSFORM_COMPLEX,
                         0,
                         count,
                         n,
                         n,
                         1,
                         n,
                         1};
      EXPECT_EQ(shardrt_transform_dims(ctx, words), SHARDRT_OK);
    };
    transform(x.data(), all.data(), lines, 2);
    transform(x.data() + (lines - 1) * n, one.data(), 1, 1);
    EXPECT_EQ(std::memcmp(all.data() + (lines - 1) * n, one.data(),
                          n * sizeof(one[0])),
              0);
    return 0;
  }),
            SHARDRT_OK);
}
