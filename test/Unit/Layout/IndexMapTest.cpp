//===- IndexMapTest.cpp - Index maps against brute force ------------------===//

#include "shardc/Layout/IndexMap.h"
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace shardc;

using Indices = std::vector<int64_t>;

static int64_t draw(std::mt19937 &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// Calls `visit` with every point of the product of `intervals`.
static void forEachPoint(const std::vector<Interval> &intervals,
                         const std::function<void(const Indices &)> &visit) {
  Indices point;
  for (Interval interval : intervals) {
    if (interval.empty())
      return;
    point.push_back(interval.begin);
  }
  while (true) {
    visit(point);
    size_t i = point.size();
    while (i > 0 && ++point[i - 1] == intervals[i - 1].end) {
      point[i - 1] = intervals[i - 1].begin;
      --i;
    }
    if (i == 0)
      return;
  }
}

static int64_t positionOf(const IndexMap &map, const Indices &point) {
  int64_t position = map.offset;
  for (const IndexTerm &term : map.terms)
    position += term.coefficient * point[term.factor];
  return position;
}

static Boundaries randomBoundaries(std::mt19937 &random, int64_t size) {
  Indices bounds = {0};
  for (int64_t i = draw(random, 0, 4); i > 0; --i)
    bounds.push_back(draw(random, 0, size));
  std::sort(bounds.begin(), bounds.end());
  bounds.push_back(size);
  return *Boundaries::fromBounds(bounds);
}

TEST(NeededPositions, EqualsTheHullOfAllIterations) {
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    int64_t factors = draw(random, 1, 3);
    std::vector<Interval> intervals;
    for (int64_t i = 0; i < factors; ++i) {
      int64_t begin = draw(random, -2, 5);
      intervals.push_back({begin, begin + draw(random, 0, 4)});
    }
    IndexMap map;
    map.offset = draw(random, -5, 5);
    for (int64_t i = draw(random, 0, 3); i > 0; --i)
      map.terms.push_back({draw(random, 0, factors - 1), draw(random, -3, 3)});

    // Factors that the map does not use do not matter, even empty ones.
    std::vector<Interval> used = intervals;
    for (int64_t i = 0; i < factors; ++i)
      if (std::none_of(map.terms.begin(), map.terms.end(),
                       [&](IndexTerm term) { return term.factor == i; }))
        used[i] = {0, 1};
    Interval expected = {0, 0};
    forEachPoint(used, [&](const Indices &point) {
      int64_t at = positionOf(map, point);
      expected = expected.empty() ? Interval{at, at + 1}
                                  : Interval{std::min(expected.begin, at),
                                             std::max(expected.end, at + 1)};
    });
    ASSERT_EQ(neededPositions(map, intervals), expected) << "round " << round;
  }
}

TEST(NeededPositions, NoTermsTouchTheOffsetAlone) {
  IndexMap map;
  map.offset = 3;
  EXPECT_EQ(neededPositions(map, {}), (Interval{3, 4}));
}

TEST(NeededPositions, LargeFactorsSaturate) {
  IndexMap map = {{{0, int64_t(1) << 40}, {1, 1}}, 0, 1};
  std::vector<Interval> intervals = {{0, int64_t(1) << 40}, {0, 1}};
  Interval needed = neededPositions(map, intervals);
  EXPECT_EQ(needed.begin, 0);
  EXPECT_GT(needed.size(), int64_t(1) << 59);
}

TEST(ElementsAt, EqualsTheElementsThatDivide) {
  for (int64_t dilation = 1; dilation < 5; ++dilation)
    for (int64_t begin = -9; begin < 9; ++begin)
      for (int64_t end = begin - 1; end < 12; ++end) {
        Interval found = elementsAt({begin, end}, dilation);
        for (int64_t element = -20; element < 20; ++element) {
          int64_t position = element * dilation;
          bool expected = position >= begin && position < end;
          bool inside = element >= found.begin && element < found.end;
          ASSERT_EQ(inside, expected)
              << begin << " " << end << " " << dilation << " " << element;
        }
      }
}

namespace {
struct BoundaryCase {
  const char *name;
  IndexMap map;
  Indices factorSizes;
  Indices dim;
  Indices factor; ///< Expected boundaries of factor 0, and back.
};
} // namespace

TEST(FactorBoundaries, KnownOps) {
  const BoundaryCase cases[] = {
      {"elementwise", IndexMap::identity(0), {8}, {0, 3, 8}, {0, 3, 8}},
      {"window 3 pad 1",
       {{{0, 1}, {1, 1}}, -1, 1},
       {8, 3},
       {0, 4, 8},
       {0, 4, 8}},
      {"window 3 pad 1, uneven",
       {{{0, 1}, {1, 1}}, -1, 1},
       {9, 3},
       {0, 2, 2, 9},
       {0, 2, 2, 9}},
      {"window 5 pad 4, dilated",
       {{{0, 1}, {1, 2}}, -4, 1},
       {9, 5},
       {0, 2, 9},
       {0, 2, 9}},
      {"stride 2, window 2",
       {{{0, 2}, {1, 1}}, 0, 1},
       {4, 2},
       {0, 4, 8},
       {0, 2, 4}},
      {"stride 2, window 1",
       {{{0, 2}, {1, 1}}, 0, 1},
       {4, 1},
       {0, 4, 8},
       {0, 2, 4}},
      {"stride 2, window 3, pad 1",
       {{{0, 2}, {1, 1}}, -1, 1},
       {4, 3},
       {0, 4, 8},
       {0, 2, 4}},
      {"merge with 6 minor",
       {{{0, 6}, {1, 1}}, 0, 1},
       {8, 6},
       {0, 12, 48},
       {0, 2, 8}},
      {"upsample by 2",
       {{{0, 2}, {1, 1}}, 0, 1},
       {5, 2},
       {0, 6, 10},
       {0, 3, 5}},
      {"slice from 2", {{{0, 1}}, 2, 1}, {6}, {0, 4, 8}, {0, 2, 6}},
      {"pad 2 below", {{{0, 1}}, -2, 1}, {10}, {0, 4, 8}, {0, 6, 10}},
      {"interior pad", {{{0, 1}}, 0, 2}, {9}, {0, 2, 5}, {0, 4, 9}},
      {"reverse", {{{0, -1}}, 7, 1}, {8}, {0, 3, 8}, {0, 3, 8}},
      {"reversed window 3 pad 1",
       {{{0, 1}, {1, -1}}, 1, 1},
       {8, 3},
       {0, 3, 8},
       {0, 3, 8}},
      {"transposed, window 4 pad 2",
       {{{0, 1}, {1, 1}}, -2, 2},
       {8, 4},
       {0, 2, 4},
       {0, 4, 8}},
  };
  for (const BoundaryCase &test : cases) {
    Boundaries dim = *Boundaries::fromBounds(test.dim);
    Boundaries factor = *Boundaries::fromBounds(test.factor);
    EXPECT_EQ(factorBoundaries(test.map, 0, dim, test.factorSizes).indices(),
              test.factor)
        << test.name;
    EXPECT_EQ(dimBoundaries(test.map, 0, factor, dim.size(), test.factorSizes)
                  .indices(),
              test.dim)
        << test.name;
  }
}

TEST(FactorBoundaries, OddStrideTwoRoundsUp) {
  IndexMap map = {{{0, 2}, {1, 1}}, 0, 1};
  EXPECT_EQ(factorBoundaries(map, 0, *Boundaries::fromBounds({0, 3, 5, 8}),
                             Indices{4, 2})
                .indices(),
            (Indices{0, 2, 3, 4}));
}

TEST(FactorBoundaries, OddHaloLiesBelow) {
  // Window 2, no padding: the iteration across the cut goes to the upper shard.
  IndexMap map = {{{0, 1}, {1, 1}}, 0, 1};
  EXPECT_EQ(factorBoundaries(map, 0, *Boundaries::fromBounds({0, 4, 8}),
                             Indices{7, 2})
                .indices(),
            (Indices{0, 3, 7}));
}

TEST(FactorBoundaries, UnusedFactorIsBalanced) {
  EXPECT_EQ(factorBoundaries(IndexMap::identity(0), 1,
                             *Boundaries::fromBounds({0, 1, 8}), Indices{8, 6}),
            Boundaries::balanced(6, 2));
}

TEST(FactorBoundaries, CountIterationsAnchoredInEachShard) {
  std::mt19937 random(2);
  for (int round = 0; round < 4000; ++round) {
    Indices sizes = {draw(random, 0, 12), draw(random, 1, 4),
                     draw(random, 1, 3)};
    IndexMap map;
    map.terms.push_back({0, draw(random, 1, 4)});
    for (int64_t i = 1; i < 3; ++i)
      if (draw(random, 0, 1))
        map.terms.push_back({i, draw(random, -3, 3)});
    map.offset = draw(random, -6, 6);
    map.baseDilation = draw(random, 1, 3);
    Boundaries dim = randomBoundaries(random, draw(random, 0, 12));

    // The window of iteration 0 is what the other factors span.
    std::vector<Interval> first = {{0, 1}, {0, sizes[1]}, {0, sizes[2]}};
    Interval window = neededPositions(map, first);
    int64_t stride = map.terms[0].coefficient;
    int64_t overlap = std::max<int64_t>(0, window.size() - stride);
    auto anchor = [&](int64_t o) {
      return stride * o + window.begin + (overlap + 1) / 2;
    };

    Boundaries factor = factorBoundaries(map, 0, dim, sizes);
    ASSERT_EQ(factor.size(), sizes[0]);
    ASSERT_EQ(factor.numShards(), dim.numShards());
    for (int64_t i = 1; i < dim.numShards(); ++i) {
      int64_t expected = 0;
      for (int64_t o = 0; o < sizes[0]; ++o)
        expected += anchor(o) < dim.indices()[i] * map.baseDilation;
      ASSERT_EQ(factor.indices()[i], expected) << "round " << round;
    }

    Boundaries back = dimBoundaries(map, 0, factor, dim.size(), sizes);
    ASSERT_EQ(back.size(), dim.size());
    ASSERT_EQ(back.numShards(), dim.numShards());
    for (int64_t i = 1; i < dim.numShards(); ++i) {
      int64_t expected = 0;
      while (expected < dim.size() &&
             expected * map.baseDilation < anchor(factor.indices()[i]))
        ++expected;
      ASSERT_EQ(back.indices()[i], expected) << "round " << round;
    }
    // Once derived, factor boundaries stay as they are where no end clamps.
    if (map.baseDilation == 1)
      for (int64_t i = 1; i < dim.numShards(); ++i)
        if (anchor(factor.indices()[i]) >= 0 &&
            anchor(factor.indices()[i]) <= dim.size())
          ASSERT_EQ(factorBoundaries(map, 0, back, sizes).indices()[i],
                    factor.indices()[i])
              << "round " << round;
  }
}

TEST(FactorBoundaries, NegativeCoefficientsMirror) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    Indices sizes = {draw(random, 1, 9), draw(random, 1, 3)};
    int64_t stride = draw(random, 1, 3), offset = draw(random, -4, 4);
    IndexMap forward = {{{0, stride}, {1, 1}}, offset, 1};
    IndexMap backward = {
        {{0, -stride}, {1, 1}}, offset + stride * (sizes[0] - 1), 1};
    Boundaries dim = randomBoundaries(random, draw(random, 0, 12));
    Boundaries factor = factorBoundaries(forward, 0, dim, sizes);
    ASSERT_EQ(factorBoundaries(backward, 0, dim, sizes), factor);
    ASSERT_EQ(dimBoundaries(backward, 0, factor, dim.size(), sizes),
              dimBoundaries(forward, 0, factor, dim.size(), sizes));
  }
}

TEST(FactorBoundaries, LargeSizesDoNotOverflow) {
  int64_t size = int64_t(1) << 40;
  IndexMap map = {{{0, size}, {1, 1}}, 0, size};
  Boundaries dim = Boundaries::balanced(size, 3);
  Boundaries factor = factorBoundaries(map, 0, dim, Indices{size, size});
  EXPECT_EQ(factor, dim);
  EXPECT_EQ(dimBoundaries(map, 0, dim, size, Indices{size, size}), dim);
}
