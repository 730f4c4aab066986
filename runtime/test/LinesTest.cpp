//===- LinesTest.cpp - Lines sorted by the runtime ------------------------===//
//
// Expected is what std::stable_sort makes of positions, by comparisons of the
// values themselves.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"
#include "shardrt/LineCall.h"
#include <cmath>
#include <compare>
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
