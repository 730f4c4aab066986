//===- FormulaTest.cpp - Formulas say what numbers would ------------------===//
//
// What a formula says for a binding is compared with what the same functions of
// Layout make of that binding's numbers.
//
//===----------------------------------------------------------------------===//
#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/IndexMap.h"
#include "shardc/Layout/NumberFormula.h"
#include "shardc/Layout/TravelFormula.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace shardc;

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t operator()(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine);
  }
  /// `size` elements over `shards`, often empty ones among them.
  Boundaries cut(int64_t size, int64_t shards) {
    std::vector<int64_t> indices = {0, size};
    for (int64_t i = 1; i < shards; ++i)
      indices.push_back((*this)(0, 3) == 0 ? 0 : (*this)(0, size));
    std::sort(indices.begin(), indices.end());
    return *Boundaries::fromBounds(std::move(indices));
  }

private:
  std::mt19937_64 engine;
};

BoundTable evaluate(const Formula &formula, const Boundaries &given,
                    int64_t shards) {
  FormulaList list;
  int64_t number = list.add(formula);
  std::string error;
  std::vector<BoundTable> tables =
      list.evaluate({{shards}, {{{0, 0}, given.indices()}}}, error);
  EXPECT_EQ(error, "");
  return error.empty() ? tables[number] : BoundTable();
}

/// A dim of `size` elements whose boundaries are given.
Boundaries open(int64_t size, int64_t shards) {
  return Boundaries::balanced(size, shards).with(Formula::given(0, 0, size));
}

TEST(Formula, ChainsOfDerivedBoundaries) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    int64_t shards = random(1, 5), size = random(0, 40);
    Boundaries formula = open(size, shards), numbers = random.cut(size, shards);
    Boundaries given = numbers;
    for (int step = 0; step < 4; ++step) {
      int64_t window = random(1, 4);
      IndexMap map;
      map.terms = {{0, random(0, 4) == 0 ? -random(1, 3) : random(1, 3)},
                   {1, random(0, 2)}};
      if (map.terms[1].coefficient == 0)
        map.terms.pop_back();
      map.offset = random(-3, 3);
      map.baseDilation = random(0, 2) ? 1 : random(1, 3);
      int64_t next = random(0, 40);
      std::vector<int64_t> factors = {next, window};
      if (random(0, 1)) {
        formula = factorBoundaries(map, 0, formula, factors);
        numbers = factorBoundaries(map, 0, numbers, factors);
      } else {
        factors[0] = numbers.size();
        formula = dimBoundaries(map, 0, formula, next, factors);
        numbers = dimBoundaries(map, 0, numbers, next, factors);
      }
      ASSERT_TRUE(formula.formula());
      ASSERT_EQ(evaluate(formula.formula(), given, shards).indices,
                numbers.indices())
          << "round " << round << ", step " << step;
    }
  }
}

TEST(Formula, CoarserAndFiner) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    int64_t size = random(0, 30), shards = 6;
    Boundaries formula = open(size, shards), given = random.cut(size, shards),
               numbers = given;
    int64_t step = random(1, 3), parts = random(1, 3);
    formula = formula.coarsen(step).refine(parts);
    numbers = numbers.coarsen(step).refine(parts);
    ASSERT_EQ(evaluate(formula.formula(), given, shards).indices,
              numbers.indices());
  }
}

TEST(Formula, WhatWindowsNeed) {
  Random random(13);
  for (int round = 0; round < 2000; ++round) {
    int64_t shards = random(1, 4), size = random(0, 30);
    Boundaries given = random.cut(size, shards);
    IndexMap map;
    map.offset = random(-4, 4);
    map.terms = {{0, random(1, 3)}, {1, random(1, 2)}};
    Interval window{0, random(0, 3)};
    int64_t dilation = random(1, 3);
    Formula owned = Formula::shards(Formula::given(0, 0, size), {0});
    Formula positions = Formula::positions(
        map.offset, {map.terms[0].coefficient, map.terms[1].coefficient},
        {owned, Formula::same(window)});
    Formula elements = Formula::elements(positions, dilation),
            kept = Formula::kept(owned, elements);
    for (int64_t i = 0; i < shards; ++i) {
      Interval iterations[] = {given.shard(i), window};
      Interval needed = neededPositions(map, iterations), own = given.shard(i),
               there = elementsAt(needed, dilation),
               both = intersect(own, there);
      ASSERT_EQ(evaluate(positions, given, shards).intervals[i], needed);
      ASSERT_EQ(evaluate(elements, given, shards).intervals[i], there);
      auto number = [&](const Formula &formula) {
        int64_t found = evaluate(formula, given, shards).numbers[i];
        auto [least, greatest] = formula.range();
        EXPECT_LE(least, found);
        EXPECT_GE(greatest, found);
        return found;
      };
      ASSERT_EQ(number(Formula::size(there.size() ? elements : positions)),
                there.size() ? there.size() : needed.size());
      // What stays, and what is put around it, make up what is needed.
      ASSERT_EQ(number(Formula::below(kept, elements)) + both.size() +
                    number(Formula::above(kept, elements)),
                there.size());
      ASSERT_GE(number(Formula::offset(kept, owned)), 0);
      if (!both.empty())
        ASSERT_EQ(own.begin + number(Formula::offset(kept, owned)), both.begin);
    }
  }
}

TEST(Formula, TheSameFormulaWhereBoundariesAreTheSame) {
  Boundaries dim = open(64, 4);
  std::vector<int64_t> window = {64, 3};
  // A window of three, padded by one.
  EXPECT_EQ(factorBoundaries({{{0, 1}, {1, 1}}, -1, 1}, 0, dim, window), dim);
  // Put one in front, and take it away.
  Boundaries longer = dimBoundaries({{{0, 1}}, 1, 1}, 0, dim, 65, window);
  EXPECT_NE(longer, dim);
  EXPECT_EQ(factorBoundaries({{{0, 1}}, 1, 1}, 0, longer, window), dim);
  // Blocks of 16 become a dim, and come apart.
  std::vector<int64_t> blocks = {64, 16};
  IndexMap merged{{{0, 16}, {1, 1}}, 0, 1};
  Boundaries flat = dimBoundaries(merged, 0, dim, 1024, blocks);
  EXPECT_EQ(factorBoundaries(merged, 0, flat, blocks), dim);
  // Every second one, and each twice: odd boundaries have moved.
  std::vector<int64_t> half = {32, 2};
  Boundaries less = factorBoundaries({{{0, 2}, {1, 1}}, 0, 1}, 0, dim, half);
  EXPECT_NE(dimBoundaries({{{0, 2}, {1, 1}}, 0, 1}, 0, less, 64, half), dim);
}

TEST(Formula, WhatStandsFurtherOnAlongARing) {
  Formula blocks = Formula::shards(Formula::given(0, 0, 21), {0, 1}),
          next = Formula::rotate(blocks, 1, {1}),
          both = Formula::rotate(blocks, 4, {0, 1});
  FormulaList list;
  int64_t own = list.add(blocks), one = list.add(next), four = list.add(both);
  std::string error;
  std::vector<BoundTable> tables =
      list.evaluate({{2, 3}, {{{0, 0}, {0, 1, 3, 6, 10, 15, 21}}}}, error);
  ASSERT_EQ(error, "");
  auto sizesOf = [&](int64_t number) {
    std::vector<int64_t> sizes;
    for (Interval interval : tables[number].intervals)
      sizes.push_back(interval.size());
    return sizes;
  };
  EXPECT_EQ(sizesOf(own), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  // Rings of three along the second axis; one of six along both.
  EXPECT_EQ(sizesOf(one), (std::vector<int64_t>{2, 3, 1, 5, 6, 4}));
  EXPECT_EQ(sizesOf(four), (std::vector<int64_t>{5, 6, 1, 2, 3, 4}));
}

TEST(Formula, WhatTwoPartsNeedOfABlock) {
  Random random(11);
  for (int round = 0; round < 1000; ++round) {
    int64_t shards = random(1, 5), size = random(0, 30),
            least = random(0, size);
    Boundaries given = random.cut(size, shards);
    Formula blocks = Formula::shards(Formula::given(0, 0, size), {0});
    Interval front{0, least}, back{random(least, size), size};
    Formula needed = hullFormula(Formula::kept(blocks, Formula::same(front)),
                                 Formula::kept(blocks, Formula::same(back)));
    // One behind the other, as many as are there.
    Formula packed = Formula::shards(packedFormula(needed), {0});
    BoundTable found = evaluate(needed, given, shards),
               dense = evaluate(packed, given, shards);
    int64_t end = 0;
    for (int64_t shard = 0; shard < shards; ++shard) {
      Interval block = given.shard(shard);
      // By elements: the first and the last that either part has.
      int64_t first = block.end, last = block.begin - 1;
      for (int64_t i = block.begin; i < block.end; ++i)
        if (i < front.end || i >= back.begin) {
          first = std::min(first, i);
          last = std::max(last, i);
        }
      Interval expected{block.begin, block.begin};
      if (first <= last)
        expected = {first, last + 1};
      ASSERT_EQ(found.intervals[shard], expected);
      ASSERT_EQ(dense.intervals[shard].begin, end);
      end += expected.size();
      ASSERT_EQ(dense.intervals[shard].end, end);
    }
  }
}

TEST(Formula, AsManyAsAreInTwoParts) {
  Random random(12);
  for (int round = 0; round < 500; ++round) {
    int64_t shards = random(1, 5), size = random(0, 30),
            least = random(0, size), from = random(0, size);
    Boundaries given = random.cut(size, shards);
    Formula blocks = Formula::shards(Formula::given(0, 0, size), {0}),
            front = Formula::kept(blocks, Formula::same({0, least})),
            back = Formula::kept(blocks, Formula::same({from, size})),
            both = joinedFormula(front, back);
    BoundTable found = evaluate(both, given, shards),
               count = evaluate(Formula::size(both), given, shards);
    for (int64_t shard = 0; shard < shards; ++shard) {
      int64_t elements = 0;
      for (int64_t i = given.shard(shard).begin; i < given.shard(shard).end;
           ++i)
        elements += (i < least) + (i >= from);
      ASSERT_EQ(found.intervals[shard].size(), elements);
      ASSERT_EQ(count.numbers[shard], elements);
      auto [low, high] = both.range();
      ASSERT_LE(low, found.intervals[shard].begin);
      ASSERT_GE(high, found.intervals[shard].end);
    }
  }
}

TEST(Formula, WhereOneOfSomePairsDiffers) {
  Random random(13);
  for (int round = 0; round < 500; ++round) {
    int64_t shards = random(1, 5), size = random(0, 12), end = random(0, size);
    Boundaries given = random.cut(size, shards);
    Formula blocks = Formula::shards(Formula::given(0, 0, size), {0}),
            front = Formula::kept(blocks, Formula::same({0, end})),
            moves = differsFormula({blocks, blocks, blocks, front});
    BoundTable found = evaluate(moves, given, shards);
    // A block is what its front is where it ends no later, or has nothing.
    for (int64_t shard = 0; shard < shards; ++shard) {
      Interval block = given.shard(shard);
      ASSERT_EQ(found.numbers[shard], block.end > end && !block.empty());
    }
  }
  Formula blocks = Formula::shards(Formula::given(0, 0, 8), {0});
  EXPECT_EQ(differsFormula({blocks, blocks}).range(),
            (std::pair<int64_t, int64_t>(0, 1)));
  EXPECT_FALSE(differsFormula({}));
  EXPECT_FALSE(differsFormula({blocks}));
}

TEST(Formula, ArithmeticOfNumbers) {
  Random random(14);
  for (int round = 0; round < 500; ++round) {
    int64_t shards = random(1, 4), size = random(0, 20), divisor = random(1, 5),
            factor = random(-3, 3);
    Boundaries given = random.cut(size, shards);
    Formula blocks = Formula::shards(Formula::given(0, 0, size), {0}),
            n = Formula::size(blocks), b = Formula::begin(blocks);
    Formula sum = sumFormula(n, factor, b, -2),
            product = productFormula(sum, n),
            quotient = quotientFormula(sum, divisor),
            greatest = greatestFormula(sum, b),
            choice = choiceFormula(sum, n, b);
    for (int64_t shard = 0; shard < shards; ++shard) {
      int64_t size = given.shardSize(shard), begin = given.shard(shard).begin,
              x = factor * size - 2 * begin;
      auto expect = [&](const Formula &formula, int64_t expected) {
        ASSERT_EQ(evaluate(formula, given, shards).numbers[shard], expected);
        auto [least, most] = formula.range();
        ASSERT_LE(least, expected);
        ASSERT_GE(most, expected);
      };
      expect(sum, x);
      expect(product, x * size);
      expect(quotient, int64_t(std::floor(double(x) / double(divisor))));
      expect(greatest, std::max(x, begin));
      expect(choice, x > 0 ? size : begin);
    }
  }
}

TEST(Formula, SumsHaveOneForm) {
  Formula blocks = Formula::shards(Formula::given(0, 0, 20), {0}),
          n = Formula::size(blocks), b = Formula::begin(blocks),
          one = constantFormula(1);
  EXPECT_EQ(sumFormula(sumFormula(n, 1, one, 3), 1, n, -1), constantFormula(3));
  EXPECT_EQ(constantOf(sumFormula(n, 1, n, -1)), 0);
  EXPECT_EQ(sumFormula(sumFormula(n, 1, b, 1), 1, b, -1), n);
  EXPECT_FALSE(constantOf(n));
  EXPECT_FALSE(constantFormula(3).isOpen());
  // What one of two always is.
  EXPECT_EQ(greatestFormula(n, constantFormula(0)), n);
  EXPECT_EQ(greatestFormula(n, constantFormula(20)), constantFormula(20));
  EXPECT_EQ(choiceFormula(sumFormula(n, 1, one, 1), n, b), n);
  EXPECT_EQ(choiceFormula(sumFormula(n, -1, one, 0), n, b), b);
  EXPECT_FALSE(sumFormula(n, 1, Formula(), 1));
}

TEST(Formula, WhatStandsBeforeIsInItsRange) {
  Formula blocks = Formula::shards(Formula::given(0, 0, 12), {0}),
          hull = hullFormula(Formula::same({-3, 1}), blocks);
  EXPECT_EQ(hull.range(), (std::pair<int64_t, int64_t>(-3, 12)));
  EXPECT_TRUE(hull.isOpen());
  EXPECT_EQ(hullFormula(blocks, blocks), blocks);
  EXPECT_GE(packedFormula(hull).extent(), 15);
  EXPECT_TRUE(packedFormula(hull).factors().empty());
}

TEST(Formula, OneIntervalInAnother) {
  Formula owned = Formula::shards(Formula::given(0, 0, 16), {0});
  auto window = [&](int64_t offset, int64_t size) {
    return Formula::positions(offset, {1, 1},
                              {owned, Formula::same({0, size})});
  };
  EXPECT_TRUE(alwaysContains(owned, owned));
  EXPECT_TRUE(alwaysContains(window(-1, 3), owned));
  EXPECT_TRUE(alwaysContains(window(0, 2), owned));
  EXPECT_FALSE(alwaysContains(window(1, 2), owned));
  EXPECT_FALSE(alwaysContains(window(-2, 2), owned));
  EXPECT_TRUE(alwaysContains(Formula::same({0, 16}), owned));
  EXPECT_FALSE(alwaysContains(Formula::same({1, 16}), owned));
  EXPECT_FALSE(alwaysContains(owned, Formula::same({0, 16})));
}

TEST(Formula, OneOrderOfSums) {
  Formula owned = Formula::shards(Formula::given(0, 0, 16), {0}),
          window = Formula::same({0, 3});
  EXPECT_EQ(Formula::positions(-1, {2, 1}, {owned, window}),
            Formula::positions(-1, {1, 2}, {window, owned}));
  EXPECT_FALSE(Formula::positions(-1, {2, 1}, {owned, window}) ==
               Formula::positions(-1, {2, 1}, {window, owned}));
}

TEST(Formula, OneWindowForSeveral) {
  Formula owned = Formula::shards(Formula::given(0, 0, 24), {0}),
          other = Formula::shards(Formula::given(1, 0, 24), {0});
  auto window = [&](int64_t offset, int64_t size, int64_t stride = 1) {
    return Formula::positions(offset, {stride, 1},
                              {owned, Formula::same({0, size})});
  };
  std::vector<Formula> all = {
      owned,        window(-1, 1),   window(1, 1),     window(-2, 5),
      window(3, 2), window(0, 3, 2), window(-1, 1, 2), window(5, 1, 2)};
  std::mt19937 random(7);
  for (const Formula &a : all)
    for (const Formula &b : all) {
      Formula hull = hullOf(a, b);
      bool sameStride = a.numbers()[1 % a.numbers().size()] ==
                        b.numbers()[1 % b.numbers().size()];
      if (!hull) {
        EXPECT_FALSE(sameStride && a.kind() == b.kind());
        continue;
      }
      // Against intervals, for random shards, empty ones among them.
      for (int round = 0; round < 20; ++round) {
        std::vector<int64_t> bounds = {0, 24};
        for (int i = 0; i < 3; ++i)
          bounds.push_back(random() % 25);
        std::sort(bounds.begin(), bounds.end());
        FormulaList list;
        int64_t x = list.add(a), y = list.add(b), z = list.add(hull);
        std::string error;
        std::vector<BoundTable> tables =
            list.evaluate({{4}, {{{0, 0}, bounds}}}, error);
        ASSERT_EQ(error, "");
        for (int64_t rank = 0; rank < 4; ++rank) {
          Interval i = tables[x].intervals[rank], j = tables[y].intervals[rank],
                   all = tables[z].intervals[rank];
          if (i.empty() && j.empty()) {
            EXPECT_TRUE(all.empty());
            continue;
          }
          EXPECT_EQ(all.begin, std::min(i.begin, j.begin));
          EXPECT_EQ(all.end, std::max(i.end, j.end));
        }
      }
    }
  EXPECT_FALSE(hullOf(owned, other));
  EXPECT_FALSE(hullOf(window(-1, 3), other));
}

TEST(Formula, WhatIsBetweenStepsOfABandIsInTheBand) {
  Random random(31);
  for (int round = 0; round < 1000; ++round) {
    int64_t shards = random(2, 5), size = random(0, 40), lower = random(-20, 5),
            width = random(1, 30);
    Boundaries cut = random.cut(size, shards);
    Formula blocks = Formula::shards(Formula::given(0, 0, size), {0}),
            band = Formula::positions(lower, {1, 1},
                                      {blocks, Formula::same({0, width})});
    // Some of a ring's steps, whose parts are met one after the other.
    std::vector<Formula> steps;
    for (int64_t shift = 1; shift < shards; ++shift)
      if (steps.empty() || random(0, 2))
        steps.push_back(
            Formula::kept(Formula::rotate(blocks, shift, {0}), band));
    Formula hull = steps.front();
    for (size_t i = 1; i < steps.size(); ++i)
      hull = hullInBand(hull, steps[i]);
    ASSERT_TRUE(hull);
    BoundTable all = evaluate(hull, cut, shards);
    for (int64_t rank = 0; rank < shards; ++rank) {
      for (const Formula &step : steps) {
        Interval part = evaluate(step, cut, shards).intervals[rank];
        EXPECT_TRUE(part.empty() || all.intervals[rank].contains(part));
      }
      // By elements: some query of the rank needs each of them.
      Interval queries = cut.shard(rank);
      for (int64_t key = all.intervals[rank].begin;
           key < all.intervals[rank].end; ++key) {
        bool isNeeded = false;
        for (int64_t query = queries.begin; query < queries.end; ++query)
          isNeeded |= query + lower <= key && key < query + lower + width;
        EXPECT_TRUE(isNeeded);
      }
    }
  }
  // Blocks of no band, and those of two readers, may have others between.
  Formula blocks = Formula::shards(Formula::given(0, 0, 40), {0}),
          others = Formula::shards(Formula::given(1, 0, 40), {0});
  auto step = [&](int64_t shift, const Formula &readers) {
    return Formula::kept(
        Formula::rotate(blocks, shift, {0}),
        Formula::positions(-3, {1, 1}, {readers, Formula::same({0, 4})}));
  };
  EXPECT_TRUE(hullInBand(step(1, others), step(2, others)));
  EXPECT_FALSE(hullInBand(step(1, blocks), step(2, others)));
  EXPECT_FALSE(hullInBand(Formula::rotate(blocks, 1, {0}),
                          Formula::rotate(blocks, 2, {0})));
}

TEST(Formula, WhatLiesAroundTheSameShards) {
  // Windows of strided, dilated and derived dims, whose hull no single window
  // says: what holds both is no more than the shard, scaled, and the reach.
  Random random(29);
  constexpr int64_t most = 64;
  int64_t near = 0;
  for (int round = 0; round < 3000; ++round) {
    int64_t shards = random(1, 4), size = random(8, 60);
    Formula given = Formula::given(0, 0, size);
    struct Part {
      Formula formula;
      int64_t multiplier, divisor;
    };
    auto draw = [&] {
      int64_t stride = random(1, 3), dilation = random(1, 2);
      bool isDerived = random(0, 2) > 0;
      Formula bounds = given;
      if (isDerived)
        bounds = Formula::affine(given, 1, random(-3, 3), stride,
                                 (size + stride - 1) / stride);
      int64_t times = random(0, 3) ? stride : random(1, 3);
      Formula window = Formula::elements(
          Formula::positions(
              random(-3, 3), {times, 1},
              {Formula::shards(bounds, {0}), Formula::same({0, random(1, 4)})}),
          dilation);
      return Part{window, times, (isDerived ? stride : 1) * dilation};
    };
    Part a = draw(), b = draw();
    bool isScaledAlike = a.multiplier * b.divisor == b.multiplier * a.divisor;
    EXPECT_EQ(areClose(a.formula, b.formula, most), isScaledAlike);
    if (!isScaledAlike)
      continue;
    ++near;
    Boundaries cut = random.cut(size, shards);
    Formula hull = hullFormula(a.formula, b.formula);
    BoundTable all = evaluate(hull, cut, shards),
               first = evaluate(a.formula, cut, shards),
               second = evaluate(b.formula, cut, shards);
    EXPECT_TRUE(alwaysContains(hull, a.formula));
    EXPECT_TRUE(alwaysContains(hull, b.formula));
    for (int64_t i = 0; i < shards; ++i) {
      Interval both = all.intervals[i];
      for (Interval part : {first.intervals[i], second.intervals[i]})
        EXPECT_TRUE(part.empty() || both.contains(part));
      int64_t shard = cut.shard(i).size();
      EXPECT_LE(both.size() * a.divisor,
                shard * a.multiplier + most * a.divisor);
    }
  }
  EXPECT_GT(near, 500);
  // Half a dim further on, the next rank's block, and another argument's
  // shards are elsewhere.
  Formula owned = Formula::shards(Formula::given(0, 0, 800), {0}),
          other = Formula::shards(Formula::given(1, 0, 800), {0});
  EXPECT_TRUE(areClose(owned, owned, 0));
  EXPECT_FALSE(areClose(owned, Formula::positions(400, {1}, {owned}), most));
  EXPECT_FALSE(areClose(owned, Formula::rotate(owned, 1, {0}), most));
  EXPECT_FALSE(areClose(owned, other, most));
  EXPECT_FALSE(alwaysContains(owned, hullFormula(owned, other)));
}

/// What `formula` says on a mesh, with dim 0 of argument 0 cut as `given`.
BoundTable on(std::vector<int64_t> mesh, const Formula &formula,
              std::vector<int64_t> given = {}) {
  FormulaList list;
  int64_t number = list.add(formula);
  // As an artifact has it.
  std::vector<int64_t> words;
  list.append(words);
  std::span<const int64_t> rest = words;
  FormulaList read;
  EXPECT_EQ(read.read(rest, list.size(), static_cast<int64_t>(mesh.size())),
            "");
  Binding binding;
  binding.meshShape = std::move(mesh);
  if (!given.empty())
    binding.given[{0, 0}] = std::move(given);
  std::string error;
  std::vector<BoundTable> tables = read.evaluate(binding, error);
  EXPECT_EQ(error, "");
  return error.empty() ? tables[number] : BoundTable();
}

TEST(Formula, AlongAxesOfOpenSize) {
  // What is derived with two ranks along either axis says for any numbers what
  // is derived with these.
  ShardCount x = ShardCount::along(1, {0}, 2), y = ShardCount::along(1, {1}, 2),
             both = ShardCount::along(1, {0, 1}, 4);
  Boundaries flat = Boundaries::balanced(23, both),
             fine = Boundaries::balanced(23, x).refine(y),
             mixed = Boundaries::balanced(23, 3).refine(x),
             open = Boundaries::balanced(23, 2).with(
                 Formula::given(0, 0, 23, x.factors()));
  EXPECT_EQ(flat.countShards(), 4);
  EXPECT_TRUE(flat.countShards().isOpen());
  for (int64_t a = 1; a <= 6; ++a)
    for (int64_t b = 1; b <= 6; ++b) {
      auto indices = [&](const Boundaries &bounds) {
        return on({a, b}, bounds.formula(),
                  Boundaries::balanced(23, a).indices())
            .indices;
      };
      EXPECT_EQ(indices(flat), Boundaries::balanced(23, a * b).indices());
      EXPECT_EQ(indices(flat.coarsen(y)),
                Boundaries::balanced(23, a * b).coarsen(b).indices());
      EXPECT_EQ(indices(fine), Boundaries::balanced(23, a).refine(b).indices());
      EXPECT_EQ(indices(mixed),
                Boundaries::balanced(23, 3).refine(a).indices());
      EXPECT_EQ(indices(open.refine(y)),
                Boundaries::balanced(23, a).refine(b).indices());
      EXPECT_EQ(on({a, b}, Formula::ranks(both)).indices,
                Boundaries::balanced(a * b, a * b).indices());
      EXPECT_EQ(on({a, b}, Formula::domain(Formula::ranks(both))).intervals,
                (std::vector<Interval>{{0, a * b}}));
      int64_t longest = (23 + a - 1) / a;
      EXPECT_EQ(
          on({a, b}, Formula::longest(Formula::balanced(23, x))).intervals,
          (std::vector<Interval>{{0, longest}}));
      EXPECT_EQ(
          on({a, b}, Formula::blocks(Formula::balanced(23, x))).indices.back(),
          a * longest);
    }
  // The same cut, whatever the sizes.
  EXPECT_EQ(fine.coarsen(y), Boundaries::balanced(23, x));
  EXPECT_EQ(open.refine(y).coarsen(y), open);
  EXPECT_EQ(Boundaries::whole(23).refine(x), Boundaries::balanced(23, x));
  EXPECT_EQ(flat.coarsen(both), Boundaries::whole(23));
  // Not the same: shards that a balanced cut makes beside those of its parts.
  EXPECT_NE(fine, flat);
  EXPECT_NE(flat.coarsen(y), Boundaries::balanced(23, x));
}

TEST(Formula, AxesThatAMeshHasNot) {
  FormulaList list, read;
  list.add(Formula::balanced(8, ShardCount::along(1, {2}, 2)));
  std::vector<int64_t> words;
  list.append(words);
  std::span<const int64_t> rest = words;
  EXPECT_EQ(read.read(rest, 1, 2),
            "formula 0 names an axis that the mesh has not");
}

TEST(Formula, AsWordsAndBack) {
  Formula owned = Formula::shards(Formula::given(1, 2, 30), {0, 1}),
          needed =
              Formula::positions(-1, {2, 1}, {owned, Formula::same({0, 3})});
  needed = hullFormula(needed, Formula::shards(packedFormula(owned), {0, 1}));
  FormulaList list, read;
  int64_t number = list.add(Formula::size(needed));
  EXPECT_EQ(list.add(Formula::size(needed)), number);
  std::vector<int64_t> words;
  list.append(words);
  std::span<const int64_t> rest = words;
  EXPECT_EQ(read.read(rest, list.size(), 2), "");
  EXPECT_TRUE(rest.empty());
  ASSERT_EQ(read.size(), list.size());
  EXPECT_EQ(read[number], Formula::size(needed));
  // Whatever one word is changed to, reading ends, and evaluating what was read
  // does too.
  for (size_t i = 0; i < words.size(); ++i)
    for (int64_t value : {int64_t(-1), int64_t(0), int64_t(7), INT64_MAX}) {
      std::vector<int64_t> damaged = words;
      damaged[i] = value;
      std::span<const int64_t> left = damaged;
      FormulaList other;
      std::string error;
      if (other.read(left, list.size(), 2).empty())
        other.evaluate({{2, 3}, {{{1, 2}, {0, 5, 10, 15, 20, 25, 30}}}}, error);
    }
}

TEST(Formula, KindsKeepTheirNumbers) {
  // A table as the first compiler of version 3 wrote it: of each kind, how many
  // numbers, these, how many operands, these. What is bound to it is the same
  // with every later build.
  std::vector<int64_t> words = {
      0,  3, 0,  0, 12, 0,       // given [0, 0, 12]
      2,  4, 1,  1, 2,  6, 1, 0, // affine [1, 1, 2, 6] (0)
      5,  1, 0,  1, 1,           // shards [0] (1)
      7,  2, -1, 1, 1,  2,       // positions [-1, 1] (2)
      11, 0, 1,  3,              // size (3)
      18, 2, 7,  2, 0,           // balanced [7, 2]
      21, 0, 1,  5,              // domain (5)
      10, 0, 1,  6,              // begin (6)
  };
  FormulaList list;
  std::span<const int64_t> rest = words;
  ASSERT_EQ(list.read(rest, 8, 1), "");
  EXPECT_TRUE(rest.empty());
  Binding binding;
  binding.meshShape = {2};
  binding.given[{0, 0}] = {0, 5, 12};
  std::string error;
  std::vector<BoundTable> tables = list.evaluate(binding, error);
  ASSERT_EQ(error, "");
  // ceil((5 + 1) / 2) = 3 rows, and 3; a window of one, one row further down,
  // reads as many.
  EXPECT_EQ(tables[1].indices, (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(tables[4].numbers, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(tables[5].indices, (std::vector<int64_t>{0, 4, 7}));

  words[0] = 1000;
  rest = words;
  EXPECT_EQ(list.read(rest, 8, 1),
            "formula 0 is of kind 1000, which this build does not know: it was "
            "compiled by a newer version; compile the program again with this "
            "one, or run it with that one");
}

TEST(Formula, BindingsThatDoNotFit) {
  FormulaList list;
  list.add(Formula::shards(Formula::given(1, 2, 30), {0}));
  auto errorOf = [&](Binding binding) {
    std::string error;
    list.evaluate(binding, error);
    return error;
  };
  EXPECT_EQ(errorOf({{2}, {}}), "argument 1, dim 2: sizes are not given");
  EXPECT_EQ(errorOf({{2}, {{{1, 2}, {0, 10, 20}}}}),
            "argument 1, dim 2: sizes add up to 20, expected 30");
  EXPECT_EQ(errorOf({{2}, {{{1, 2}, {0, 10, 20, 30}}}}),
            "3 shards lie along axes of 2 coordinates");
  EXPECT_EQ(errorOf({{3}, {{{1, 2}, {0, 10, 20, 30}}}}), "");
}

} // namespace
