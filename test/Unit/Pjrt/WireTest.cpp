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
  // Only where fields meet: before the first, and after four of the five.
  EXPECT_EQ(refused, whole.size() - 5);
}

TEST(Wire, WritesDeviceAssignments) {
  EXPECT_EQ(writeDeviceAssignment({2, 0, 3, 1}),
            bytes("080110041a030a01021a030a01001a030a01031a030a0101"));
}

// OpSharding's fields: 1 type, 3 tiles, 4 devices, 6 copies last, 8 subgroups.
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
