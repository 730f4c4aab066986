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
  EXPECT_EQ(orderOf({1, 1, 1}), (std::vector<int64_t>{0, 1, 2}));
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
