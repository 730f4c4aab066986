//===- ShardsTest.cpp - Whole arrays to every rank's buffers and back -----===//

#include "Shards.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>
#include <random>

using namespace shardc;

static DimPlacement cut(std::vector<int64_t> axes, std::vector<int64_t> sizes) {
  return {std::move(axes), *Boundaries::fromSizes(sizes), false};
}

static HostArray iota(std::vector<int64_t> shape) {
  HostArray array{ElementType::I32, std::move(shape), {}};
  std::vector<int32_t> values(array.numElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i;
  array.data.resize(values.size() * 4);
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

static std::vector<int32_t> buffer(const ShardBuffers &shards, int64_t rank,
                                   size_t size) {
  std::vector<int32_t> values(size);
  std::memcpy(values.data(), shards.addresses()[rank][0], size * 4);
  return values;
}

TEST(Shards, EveryRankGetsItsBox) {
  // 2x2 mesh; rows 1|2 over axis 1, columns 0|4 over axis 0.
  ValueMetadata value{
      "", "i32", "", {3, 4}, {cut({1}, {1, 2}), cut({0}, {0, 4})}};
  ShardBuffers shards({value}, {2, 2}, 4);
  shards.scatter(0, iota({3, 4}));
  EXPECT_EQ(buffer(shards, 2, 4), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(buffer(shards, 3, 8),
            (std::vector<int32_t>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(shards.gather(0).data, iota({3, 4}).data);
  EXPECT_EQ(bytesOfShards(value, {2, 2}, 4), 48);
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(shards.addresses()[rank][0]) % 64,
              0u);
}

TEST(Shards, LargeBuffersBeginWithHugePages) {
  constexpr int64_t hugePage = int64_t(2) << 20;
  for (auto [bytes, align] : {std::pair(2 * hugePage, hugePage),
                              std::pair(3 * hugePage + 1, hugePage),
                              std::pair(hugePage, int64_t(64))}) {
    AlignedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % align, 0u) << bytes;
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + bytes,
                            [](char byte) { return byte == 0; }));
  }
}

TEST(Shards, InnerDimsAreCutToo) {
  ValueMetadata value{
      "", "i32", "", {2, 3, 2}, {cut({}, {2}), cut({0}, {2, 1}), cut({}, {2})}};
  ShardBuffers shards({value}, {2}, 2);
  shards.scatter(0, iota({2, 3, 2}));
  EXPECT_EQ(buffer(shards, 1, 4), (std::vector<int32_t>{4, 5, 10, 11}));
  EXPECT_EQ(shards.gather(0).data, iota({2, 3, 2}).data);
}

TEST(Shards, ReplicasThatDisagreeAreFound) {
  ValueMetadata value{"", "i32", "", {2}, {cut({}, {2})}};
  ShardBuffers shards({value}, {3}, 3);
  shards.scatter(0, iota({2}));
  EXPECT_EQ(shards.firstDisagreement(0, shards.gather(0)), -1);
  static_cast<int32_t *>(shards.addresses()[1][0])[1] = 9;
  EXPECT_EQ(shards.firstDisagreement(0, shards.gather(0)), 1);
}

TEST(Shards, RandomCutsComeBack) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    auto size = [&] { return static_cast<int64_t>(random() % 3 + 1); };
    std::vector<int64_t> mesh = {size(), size()};
    ValueMetadata value{"", "i32", "", {}, {}};
    int64_t dims = random() % 4, free[2] = {0, 1};
    if (random() % 2)
      std::swap(free[0], free[1]);
    int used = 0;
    for (int64_t d = 0; d < dims; ++d) {
      std::vector<int64_t> axes;
      while (used < 2 && random() % 2)
        axes.push_back(free[used++]);
      int64_t shards = 1;
      for (int64_t axis : axes)
        shards *= mesh[axis];
      std::vector<int64_t> sizes;
      for (int64_t i = 0; i < shards; ++i)
        sizes.push_back(random() % 4);
      value.dims.push_back(cut(axes, sizes));
      value.shape.push_back(value.dims.back().boundaries.size());
    }
    ShardBuffers shards({value}, mesh, mesh[0] * mesh[1]);
    HostArray array = iota(value.shape);
    shards.scatter(0, array);
    EXPECT_EQ(shards.gather(0).data, array.data);
    EXPECT_EQ(shards.firstDisagreement(0, shards.gather(0)), -1);
  }
}
