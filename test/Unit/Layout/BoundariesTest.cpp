//===- BoundariesTest.cpp -------------------------------------------------===//

#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Shares.h"
#include <gtest/gtest.h>

using namespace shardc;

using Indices = std::vector<int64_t>;

TEST(Interval, EmptyOnesAreEqualAndContainedAnywhere) {
  EXPECT_EQ((Interval{3, 3}), (Interval{7, 2}));
  EXPECT_TRUE((Interval{0, 0}).contains({9, 9}));
  EXPECT_EQ((Interval{7, 2}).size(), 0);
}

TEST(Interval, IntersectIsEmptyWhereNothingIsCommon) {
  EXPECT_EQ(intersect({0, 5}, {3, 9}), (Interval{3, 5}));
  Interval none = intersect({0, 2}, {5, 9});
  EXPECT_EQ(none.begin, none.end);
}

TEST(Boundaries, BalancedGivesTheFirstShardsOneMore) {
  EXPECT_EQ(Boundaries::balanced(10, 4).indices(), (Indices{0, 3, 6, 8, 10}));
  EXPECT_EQ(Boundaries::balanced(2, 4).indices(), (Indices{0, 1, 2, 2, 2}));
  EXPECT_EQ(Boundaries::balanced(0, 3).indices(), (Indices{0, 0, 0, 0}));
  EXPECT_TRUE(Boundaries::balanced(10, 4).isBalanced());
}

TEST(Boundaries, BalancedHoldsForEverySizeAndCount) {
  for (int64_t size = 0; size < 40; ++size)
    for (int64_t shards = 1; shards < 12; ++shards) {
      Boundaries cut = Boundaries::balanced(size, shards);
      ASSERT_EQ(cut.size(), size);
      ASSERT_EQ(cut.numShards(), shards);
      for (int64_t i = 0; i < shards; ++i)
        ASSERT_EQ(cut.shardSize(i), size / shards + (i < size % shards));
    }
}

TEST(Boundaries, LargeSizesDoNotOverflow) {
  int64_t size = (int64_t(1) << 40) + 3;
  Boundaries cut = Boundaries::balanced(size, 4096);
  EXPECT_EQ(cut.size(), size);
  EXPECT_EQ(cut.maxShardSize(), (size + 4095) / 4096);
}

TEST(Boundaries, FromSizesRefusesWhatIsNoPartition) {
  EXPECT_EQ(Boundaries::fromSizes(Indices{3, 0, 5})->indices(),
            (Indices{0, 3, 3, 8}));
  EXPECT_FALSE(Boundaries::fromSizes(Indices{}));
  EXPECT_FALSE(Boundaries::fromSizes(Indices{3, -1}));
  EXPECT_FALSE(Boundaries::fromSizes(Indices{INT64_MAX, 1}));
}

TEST(Boundaries, FromBoundsRefusesWhatIsNoPartition) {
  EXPECT_TRUE(Boundaries::fromBounds({0, 0, 4}));
  EXPECT_FALSE(Boundaries::fromBounds({0}));
  EXPECT_FALSE(Boundaries::fromBounds({1, 4}));
  EXPECT_FALSE(Boundaries::fromBounds({0, 5, 4}));
}

TEST(Boundaries, UniformOnlyWhereAllShardsAgree) {
  EXPECT_EQ(Boundaries::balanced(12, 4).uniformShardSize(), 3);
  EXPECT_EQ(Boundaries::balanced(13, 4).uniformShardSize(), std::nullopt);
  EXPECT_EQ(Boundaries::balanced(13, 4).maxShardSize(), 4);
  EXPECT_EQ(Boundaries().uniformShardSize(), 0);
  EXPECT_FALSE(Boundaries::fromBounds({0, 1, 8})->isBalanced());
}

TEST(Boundaries, RefineInProportion) {
  auto cut = [](int64_t size, std::vector<int64_t> shares) {
    return refineInShares(Boundaries::whole(size), shares).sizes();
  };
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(cut(8, {3, 1, 2, 2}), (Sizes{3, 1, 2, 2}));
  EXPECT_EQ(cut(80, {3, 1, 2, 2}), (Sizes{30, 10, 20, 20}));
  // Ends at 3.75, 5, 7.5 and 10.
  EXPECT_EQ(cut(10, {3, 1, 2, 2}), (Sizes{4, 1, 3, 2}));
  EXPECT_EQ(cut(5, {1, 0, 4}), (Sizes{1, 0, 4}));
  EXPECT_EQ(cut(0, {1, 2}), (Sizes{0, 0}));
  EXPECT_EQ(cut(1, {0, 7}), (Sizes{0, 1}));
  // Each shard for itself.
  EXPECT_EQ(
      refineInShares(*Boundaries::fromSizes(Sizes{6, 3}), Sizes{2, 1}).sizes(),
      (Sizes{4, 2, 2, 1}));
  // Whatever the shares, all elements are somewhere.
  for (int64_t size : {0, 1, 7, 1000, 1 << 30})
    for (Sizes shares :
         {Sizes{1}, Sizes{5, 5, 5}, Sizes{0, 0, 9, 1}, Sizes{1 << 20, 1}})
      EXPECT_EQ(refineInShares(Boundaries::whole(size), shares).size(), size);
}

TEST(Boundaries, RefineThenCoarsenIsTheSame) {
  Boundaries cut = *Boundaries::fromSizes(Indices{5, 0, 1, 8});
  Boundaries fine = cut.refine(3);
  EXPECT_EQ(fine.sizes(), (Indices{2, 2, 1, 0, 0, 0, 1, 0, 0, 3, 3, 2}));
  EXPECT_EQ(fine.coarsen(3), cut);
  EXPECT_EQ(cut.coarsen(4), Boundaries::whole(14));
}
