//===- ZigzagTest.cpp - A dim in zigzag order -----------------------------===//
#include "shardc/Layout/Zigzag.h"
#include "gtest/gtest.h"

using namespace shardc;

/// The elements of a dim in zigzag order, one after another.
static std::vector<int64_t> orderOf(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> order;
  Zigzag zigzag(*Boundaries::fromSizes(sizes));
  for (const ZigzagPiece &piece : zigzag.pieces())
    for (int64_t i = piece.natural.begin; i < piece.natural.end; ++i)
      order.push_back(i);
  return order;
}

TEST(Zigzag, DealsFromBothEnds) {
  EXPECT_EQ(orderOf({4, 4}), (std::vector<int64_t>{0, 1, 6, 7, 2, 3, 4, 5}));
  EXPECT_EQ(orderOf({3, 0, 2}), (std::vector<int64_t>{0, 1, 4, 2, 3}));
  EXPECT_EQ(orderOf({3, 3}), (std::vector<int64_t>{0, 1, 5, 2, 3, 4}));
  EXPECT_EQ(orderOf({1, 1, 1}), (std::vector<int64_t>{0, 2, 1}));
  EXPECT_EQ(orderOf({5}), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(orderOf({0, 0}), (std::vector<int64_t>{}));
}

TEST(Zigzag, EveryElementIsInOnePiece) {
  for (int64_t size = 0; size < 12; ++size)
    for (int64_t shards = 1; shards < 6; ++shards) {
      Boundaries bounds = Boundaries::balanced(size, shards);
      std::vector<int64_t> sizes = bounds.sizes(), order = orderOf(sizes);
      std::vector<bool> seen(size, false);
      for (int64_t element : order)
        seen[element] = true;
      EXPECT_EQ(order.size(), size_t(size));
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), size);
    }
}

TEST(Zigzag, SplitsAnIntervalByPieces) {
  Zigzag zigzag(*Boundaries::fromSizes(std::vector<int64_t>{4, 4}));
  // A shard of its own.
  EXPECT_EQ(zigzag.split({4, 8}),
            (std::vector<ZigzagPiece>{{{4, 6}, {2, 4}}, {{6, 8}, {4, 6}}}));
  // What comes from the end keeps its number.
  std::vector<ZigzagPiece> end = zigzag.split({7, 8});
  ASSERT_EQ(end.size(), 2u);
  EXPECT_TRUE(end[0].zigzag.empty());
  EXPECT_EQ(end[1], (ZigzagPiece{{7, 8}, {5, 6}}));
  // Of two shards.
  EXPECT_EQ(zigzag.split({1, 5}),
            (std::vector<ZigzagPiece>{
                {{1, 2}, {1, 2}}, {{2, 4}, {6, 8}}, {{4, 5}, {2, 3}}}));
  EXPECT_TRUE(zigzag.split({3, 3}).empty());
}

/// What `formula` says of shards of these sizes along axis 0.
static std::vector<Interval> bind(const Formula &formula,
                                  const Boundaries &shards) {
  FormulaList list;
  int64_t number = list.add(formula);
  Binding binding;
  binding.meshShape = {shards.numShards()};
  binding.given[{0, 0}] = shards.indices();
  std::string error;
  std::vector<BoundTable> tables = list.evaluate(binding, error);
  EXPECT_EQ(error, "");
  return expandTable(tables[number], std::vector<int64_t>{0}, binding.meshShape)
      .intervals;
}

// Places in turn are given what is left at the front and at the end; formulas
// say the same as numbers, whatever the sizes.
TEST(Zigzag, FormulasSayWhatShardsHave) {
  std::vector<std::vector<int64_t>> cases = {
      {4, 4},    {3, 0, 2},    {0, 5}, {1, 1, 1}, {0, 0},
      {5, 1, 7}, {2, 3, 4, 6}, {1},    {0, 1, 0}};
  for (const std::vector<int64_t> &sizes : cases) {
    Boundaries shards = *Boundaries::fromSizes(sizes);
    int64_t size = shards.size(), front = 0, back = size, place = 0;
    std::vector<int64_t> order(size), places(size);
    for (int64_t shard : sizes) {
      // Those from the end ascend too.
      std::vector<int64_t> mine, late;
      for (int64_t i = 0; i < shard; ++i)
        if ((place + i) % 2 == 0)
          mine.push_back(front++);
        else
          late.insert(late.begin(), --back);
      mine.insert(mine.end(), late.begin(), late.end());
      for (int64_t element : mine) {
        places[element] = place;
        order[place++] = element;
      }
    }
    EXPECT_EQ(orderOf(sizes), order);
    Formula formula = Formula::shards(Formula::given(0, 0, size), {0});
    std::vector<Interval> seen[2];
    for (ZigzagEnd end : {ZigzagEnd::Front, ZigzagEnd::Back}) {
      int64_t first = end == ZigzagEnd::Front ? 0 : front,
              last = end == ZigzagEnd::Front ? front : size;
      std::vector<Interval> held =
                                bind(zigzagPlace(formula, end, size), shards),
                            natural = bind(zigzagElements(formula, end, size),
                                           shards),
                            stretch =
                                bind(zigzagStretch(formula, end, size), shards),
                            within =
                                bind(withinStretch(formula, end, size), shards);
      for (int64_t i = 0; i < shards.numShards(); ++i) {
        Interval shard = shards.shard(i);
        EXPECT_EQ(held[i], zigzagPlace(shard, end, size));
        EXPECT_EQ(natural[i], zigzagElements(shard, end, size));
        EXPECT_EQ(stretch[i], zigzagStretch(shard, end, size));
        EXPECT_EQ(within[i], withinStretch(shard, end, size));
        ASSERT_EQ(held[i].size(), natural[i].size());
        EXPECT_EQ(stretch[i].size(), natural[i].size());
        for (int64_t k = 0; k < natural[i].size(); ++k) {
          int64_t element = natural[i].begin + k;
          EXPECT_EQ(order[held[i].begin + k], element);
          EXPECT_EQ(stretch[i].begin + k, element - first);
          EXPECT_TRUE(first <= element && element < last);
        }
        // What of a shard in order is from this end.
        Interval common = intersect(shard, {first, last});
        if (common.empty())
          EXPECT_TRUE(within[i].empty());
        else
          EXPECT_EQ(within[i],
                    (Interval{common.begin - first, common.end - first}));
        seen[static_cast<int>(end)].push_back(natural[i]);
      }
    }
    int64_t total = 0;
    for (const std::vector<Interval> &pieces : seen)
      for (Interval piece : pieces)
        total += piece.size();
    EXPECT_EQ(total, size);
  }
}
