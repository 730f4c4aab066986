//===- WireTest.cpp - Protocol buffers as JAX writes and reads them -------===//
#include "Wire.h"

#include <gtest/gtest.h>

using namespace shardc::pjrt;

static std::string bytes(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += char(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// What xla_client.CompileOptions of jaxlib 0.10.2 writes, without its debug
// options: four partitions on devices 2, 0, 3, 1, and compiler_options of each
// kind.
static const char compileOptions[] =
    "1a2b"
    "20012804"
    "3001"
    "4a18080110041a030a01021a030a01001a030a01031a030a0101"
    "62020100"
    "b80101"
    "92010100"
    "3a070a016212021001"
    "3a0e0a0164120921000000000000e03f"
    "3a100a016e120b18fdffffffffffffffff01"
    "3a1b0a0c7368617264635f73697a6573120b0a09783d332c312c322c32";

TEST(Wire, ReadsCompileOptions) {
  std::optional<CompileOptions> options =
      readCompileOptions(bytes(compileOptions));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->partitions, 4);
  EXPECT_EQ(options->devices, (std::vector<int64_t>{2, 0, 3, 1}));
  EXPECT_EQ(options->freeResults, (std::vector<bool>{true, false}));
  using Entry = std::pair<std::string, std::string>;
  EXPECT_EQ(options->user, (std::vector<Entry>{{"b", "true"},
                                               {"d", "0.500000"},
                                               {"n", "-3"},
                                               {"shardc_sizes", "x=3,1,2,2"}}));
}

TEST(Wire, RefusesWhatIsCutShort) {
  std::string whole = bytes(compileOptions);
  size_t refused = 0;
  for (size_t size = 0; size < whole.size(); ++size)
    refused += !readCompileOptions(whole.substr(0, size));
  // Only between fields: before the first, and after four of the five.
  EXPECT_EQ(refused, whole.size() - 5);
}

TEST(Wire, WritesDeviceAssignments) {
  EXPECT_EQ(writeDeviceAssignment({2, 0, 3, 1}),
            bytes("080110041a030a01021a030a01001a030a01031a030a0101"));
}

// OpSharding's fields: 1 type, 3 tiles, 4 devices, 6 copies last, 8 subgroups.
// What HloSharding.to_proto of jaxlib 0.10.2 writes. Field 9 is the mesh, 10
// the order of its axes; of tuples 5 is a part.
TEST(Wire, ReadsShardings) {
  std::optional<Sharding> permuted =
      readSharding(bytes("08031a0302010230014a02020252020100"), 2, 4);
  ASSERT_TRUE(permuted);
  EXPECT_EQ(permuted->tiles, (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(permuted->partitions, (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(permuted->subgroups.size(), 1u);
  std::optional<Sharding> plain =
      readSharding(bytes("08031a0204014a0104520100"), 2, 4);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->partitions, (std::vector<int64_t>{0, 1, 2, 3}));
  std::optional<Sharding> whole = readSharding("", 2, 4);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->tiles, (std::vector<int64_t>{1, 1, 4}));

  std::string tuple = bytes("08022a0c08031a0204014a01045201002a00");
  auto parts = splitTupleSharding(tuple);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0], bytes("08031a0204014a0104520100"));
  EXPECT_EQ((*parts)[1], "");
  EXPECT_EQ(writeTupleSharding({std::string((*parts)[0]), ""}), tuple);
}

TEST(Wire, RefusesShardingsThatLeaveElementsOpen) {
  std::string plain = bytes("08031a0204014a0104520100");
  EXPECT_FALSE(readSharding(plain, 1, 4));         // of another number of dims
  EXPECT_FALSE(readSharding(plain, 2, 8));         // over other partitions
  EXPECT_FALSE(readSharding(bytes("0801"), 2, 4)); // of one device
  EXPECT_FALSE(readSharding(bytes("0804"), 2, 4)); // manual
  EXPECT_FALSE(readSharding(bytes("0806"), 2, 4)); // parts of a sum
  EXPECT_FALSE(readSharding(bytes("08031a0301010442010622"), 2, 4));
  EXPECT_FALSE(readSharding(bytes("08031a0204014a0104520101"), 2, 4)); // order
  EXPECT_FALSE(splitTupleSharding(plain));
  for (size_t size = 0; size < plain.size(); ++size)
    (void)readSharding(plain.substr(0, size), 2, 4); // reads nothing beyond
}

// Shape's fields: 2 type, 3 dims, 4 parts of a tuple, 5 layout, 6 which dims
// are open.
TEST(Wire, WritesShapes) {
  EXPECT_EQ(writeShape("f32", {4, 6}), bytes("100b"
                                             "1a020406"
                                             "2a040a020100"
                                             "32020000"));
  EXPECT_EQ(writeShape("?", {4}), "");
  std::string part = writeShape("i1", {3});
  EXPECT_EQ(writeTupleShape({part}),
            bytes("100d22") + char(part.size()) + part);
}

TEST(Wire, WritesShardings) {
  EXPECT_EQ(writeSharding({{1, 1, 4}, {0, 1, 2, 3}, {Sharding::Replicated}}),
            "");
  EXPECT_EQ(writeSharding({{1, 4}, {0, 1, 2, 3}, {Sharding::Unreduced}}),
            bytes("0806"));
  EXPECT_EQ(writeSharding({{2, 1, 2}, {0, 1, 2, 3}, {Sharding::Replicated}}),
            bytes("0803"
                  "1a03020102"
                  "220400010203"
                  "3001"));
  EXPECT_EQ(writeSharding({{2, 2, 2},
                           {0, 1, 2, 3, 4, 5, 6, 7},
                           {Sharding::Unreduced, Sharding::Replicated}}),
            bytes("0803"
                  "1a03020202"
                  "22080001020304050607"
                  "42020600"));
}
