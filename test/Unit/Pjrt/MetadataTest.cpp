//===- MetadataTest.cpp - Shardings from a program's metadata -------------===//
#include "Metadata.h"

#include <gtest/gtest.h>

using namespace shardc::pjrt;

static const char text[] = R"({
  "name": "a \"program\"", "mesh": [{"name": "x", "size": 2}, {"name": "y", "size": 2}],
  "arguments": [
    {"name": "", "shape": [8, 6], "dims": [{"axes": [1], "boundaries": [0, 4, 8]}, {"axes": []}]},
    {"dims": [{"axes": []}], "partial": [{"axis": 0, "kind": "sum"}]}],
  "results": [{"dims": [], "memory": "pinned_host"}, {"dims": [{"axes": [1, 0]}]}]})";

TEST(Metadata, ReadsMeshAndAxes) {
  std::optional<Metadata> metadata = readMetadata(text);
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->mesh, (std::vector<int64_t>{2, 2}));
  ASSERT_EQ(metadata->arguments.size(), 2u);
  EXPECT_EQ(metadata->arguments[0].axes,
            (std::vector<std::vector<int64_t>>{{1}, {}}));
  EXPECT_EQ(metadata->arguments[1].partial, (std::vector<int64_t>{0}));
  EXPECT_EQ(metadata->arguments[0].memory, "");
  EXPECT_EQ(metadata->results[0].memory, "pinned_host");
  EXPECT_EQ(metadata->results[1].axes,
            (std::vector<std::vector<int64_t>>{{1, 0}}));
}

TEST(Metadata, RefusesWhatIsDamaged) {
  std::string_view whole = text;
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(readMetadata(whole.substr(0, size))) << size;
  std::string outside = text;
  outside.replace(outside.find("[1, 0]"), 6, "[1, 7]");
  EXPECT_FALSE(readMetadata(outside));
  for (const char *dims : {"[0]", "[0, 0]", "[0, 2]", "[-1, 0]"}) {
    std::string permuted = text;
    permuted.insert(permuted.find("\"shape\""),
                    std::string("\"caller_dims\": ") + dims + ", ");
    EXPECT_FALSE(readMetadata(permuted)) << dims;
  }
}

// The expected ones are JAX's: NamedSharding(mesh, spec)._to_xla_hlo_sharding.
TEST(Metadata, GivesTheTilesOfJax) {
  // P('y') of a 2x2x2 mesh: devices=[2,1,4]<=[2,2,2]T(1,0,2).
  Sharding sharding = shardingOf({{{1}, {}}, {}}, {2, 2, 2});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{2, 1, 4}));
  EXPECT_EQ(sharding.partitions,
            (std::vector<int64_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(sharding.subgroups,
            (std::vector<Sharding::Subgroup>{Sharding::Replicated}));
  // P(None, ('z', 'x')): devices=[1,4,2]<=[4,2]T(1,0).
  sharding = shardingOf({{{}, {2, 0}}, {}}, {2, 2, 2});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{1, 4, 2}));
  EXPECT_EQ(sharding.partitions,
            (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
  // P('z', unreduced={'x'}): devices=[2,1,2,2]<=[4,2]T(1,0), unreduced first.
  sharding = shardingOf({{{2}, {}}, {0}}, {2, 2, 2});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{2, 1, 2, 2}));
  EXPECT_EQ(sharding.partitions,
            (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(sharding.subgroups,
            (std::vector<Sharding::Subgroup>{Sharding::Unreduced,
                                             Sharding::Replicated}));
  // The same as P('y') above, where the dims come permuted.
  ValueMetadata permuted = {{{}, {1}}, {}};
  permuted.callerDims = {1, 0};
  sharding = shardingOf(permuted, {2, 2, 2});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{2, 1, 4}));
  EXPECT_EQ(sharding.partitions,
            (std::vector<int64_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  // Of a mesh in another order of devices: P('x') of devices [[3, 2], [1, 0]].
  ValueMetadata moved{{{0}}, {}};
  moved.ranks = {3, 2, 1, 0};
  sharding = shardingOf(moved, {2, 2});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(sharding.partitions, (std::vector<int64_t>{3, 2, 1, 0}));
  // Axes of one device are not seen.
  sharding = shardingOf({{{0}}, {}}, {2, 1});
  EXPECT_EQ(sharding.tiles, (std::vector<int64_t>{2}));
  EXPECT_TRUE(sharding.subgroups.empty());
}
