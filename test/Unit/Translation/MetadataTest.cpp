//===- MetadataTest.cpp - What an artifact says about itself --------------===//

#include "shardc/Translation/MetadataText.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace shardc;

/// A program on x=2, y=2: an argument cut unevenly along both, a scalar result.
static ProgramMetadata example() {
  ProgramMetadata program;
  program.name = "jit_f";
  program.compiler = "shardc 0.1.0";
  program.arch = "x86-64-v3";
  program.mesh = {{"x", 2}, {"y", 2}};
  ValueMetadata argument{"[0]['w']", "f32", "unet.py:84:11", {7, 4, 3}, {}};
  argument.dims.push_back(
      {{1}, *Boundaries::fromSizes(std::vector<int64_t>{5, 2}), false});
  argument.dims.push_back(
      {{0}, *Boundaries::fromSizes(std::vector<int64_t>{0, 4}), true});
  argument.dims.push_back({{}, Boundaries::whole(3), false});
  ValueMetadata part{"[1]", "f32", "", {}, {}};
  part.partial = {{1, "sum"}};
  part.donated = -1;
  program.arguments = {argument, part};
  program.results = {{"", "complex<f32>", "", {}, {}}};
  program.results[0].inPlace = 1;
  program.communication = {
      {"halo_exchange", {"x"}, 1, 96, "unet.py:84:11", "conv"}};
  program.arenaBytes = 4096;
  return program;
}

static std::string refusal(StringRef json) {
  Expected<ProgramMetadata> metadata = parseMetadata(json);
  return metadata ? std::string() : toString(metadata.takeError());
}

/// The example's JSON with one text replaced.
static std::string edited(StringRef from, StringRef to) {
  std::string json = toJSON(example());
  size_t at = json.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return json.replace(at, from.size(), to.str());
}

TEST(Metadata, ComesBackAsItWas) {
  Expected<ProgramMetadata> metadata = parseMetadata(toJSON(example()));
  ASSERT_TRUE(bool(metadata)) << toString(metadata.takeError());
  EXPECT_EQ(*metadata, example());
  EXPECT_EQ(metadata->numRanks(), 4);
}

/// Two arguments and a result in the same 40 shards, one in others.
static ProgramMetadata ofManyRanks() {
  ProgramMetadata program = example();
  program.mesh = {{"x", 40}, {"y", 1}};
  std::vector<int64_t> sizes(40, 3);
  sizes[7] = 0;
  DimPlacement alike{{0}, *Boundaries::fromSizes(sizes)};
  std::swap(sizes[7], sizes[8]);
  DimPlacement other{{0}, *Boundaries::fromSizes(sizes)};
  program.arguments = {{"a", "f32", "", {117}, {alike}},
                       {"b", "f32", "", {117}, {other}},
                       {"c", "f32", "", {117, 2}, {alike, {}}}};
  program.arguments[2].dims[1].boundaries = Boundaries::whole(2);
  program.results = {{"", "f32", "", {117}, {alike}}};
  return program;
}

TEST(Metadata, SaysBoundariesOfSeveralDimsOnce) {
  ProgramMetadata program = ofManyRanks();
  std::string once = toShortJSON(program);
  auto count = [&](StringRef text) { return StringRef(once).count(text); };
  EXPECT_EQ(count(",18,21,21,24,"), 1u);
  EXPECT_EQ(count(",18,21,24,24,"), 1u);
  EXPECT_LT(once.size(), toJSON(program).size());
  Expected<ProgramMetadata> metadata = parseMetadata(once);
  ASSERT_TRUE(bool(metadata)) << toString(metadata.takeError());
  EXPECT_EQ(*metadata, program);
  // Few are written with each.
  EXPECT_EQ(toShortJSON(example()), toJSON(example()));
}

TEST(Metadata, NamesListsOfBoundariesThatAreNone) {
  std::string once = toShortJSON(ofManyRanks());
  auto refusalWith = [&](StringRef from, StringRef to) {
    std::string json = once;
    size_t at = json.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    return refusal(json.replace(at, from.size(), to.str()));
  };
  EXPECT_EQ(refusalWith("\"boundaries\":0", "\"boundaries\":1"),
            "metadata: .arguments[0].dims[0].boundaries: list 1, there are 1");
  EXPECT_EQ(refusalWith("\"boundaries\":0", "\"boundaries\":-1"),
            "metadata: .arguments[0].dims[0].boundaries: list -1, there are 1");
  EXPECT_EQ(refusalWith("\"boundary_lists\":[[0,", "\"boundary_lists\":[[1,"),
            "metadata: .arguments[0].dims[0].boundaries: expected 41 ascending "
            "indices from 0 to 117");
  EXPECT_EQ(
      refusalWith("\"boundary_lists\":[[0,", "\"boundary_lists\":[[\"\","),
      "metadata: .boundary_lists[0]: expected integers");
  EXPECT_EQ(refusalWith("\"boundary_lists\":[[", "\"boundary_lists\":[3,["),
            "metadata: .boundary_lists[0]: expected at most 65537 indices");
  EXPECT_EQ(refusalWith("\"boundary_lists\":[", "\"boundary_lists\":0,\"x\":["),
            "metadata: .boundary_lists: expected an array");
}

TEST(Metadata, RefersToFewIndicesInAll) {
  // A text of some megabytes that stands for gigabytes of indices.
  std::string list = "[0", value, values;
  for (int64_t i = 1; i < 65536; ++i)
    list += ",0";
  list += ",0]";
  value = R"({"name":"","type":"f32","location":"","shape":[0],"dims":)"
          R"([{"axes":[0],"boundaries":0,"dynamic":false}]})";
  for (int i = 0; i < 1000; ++i)
    values += (i ? "," : "") + value;
  std::string json =
      R"({"format":)" + std::to_string(ProgramMetadata::currentFormat) +
      R"(,"name":"","compiler":"","arch":"","arena_bytes":0,)"
      R"("mesh":[{"name":"x","size":65536}],"boundary_lists":[)" +
      list + R"(],"arguments":[)" + values +
      R"(],"results":[],"communication":[]})";
  EXPECT_EQ(refusal(json), "metadata: .arguments[762].dims[0].boundaries: more "
                           "than 50000000 indices in all");
}

TEST(Metadata, SaysWhatTheCallerKnowsValuesAs) {
  ProgramMetadata program = example();
  program.arguments[0].callerDims = {2, 0, 1};
  program.arguments[0].isToken = true;
  Expected<ProgramMetadata> metadata = parseMetadata(toJSON(program));
  ASSERT_TRUE(bool(metadata)) << toString(metadata.takeError());
  EXPECT_EQ(*metadata, program);
  std::string json = toJSON(program);
  json.replace(json.find("[2,0,1]"), 7, "[2,0,2]");
  EXPECT_EQ(toString(parseMetadata(json).takeError()),
            "metadata: .arguments[0].caller_dims: expected each dim once");
}

TEST(Metadata, ShardsAreWhereTheirDevicesAre) {
  ProgramMetadata program = example();
  ValueMetadata &value = program.arguments[0];
  value.ranks = {2, 0, 3, 1}; // of the positions
  Expected<ProgramMetadata> metadata = parseMetadata(toJSON(program));
  ASSERT_TRUE(bool(metadata)) << toString(metadata.takeError());
  EXPECT_EQ(*metadata, program);
  // Rank 3 is position 2: row block 0 along "y", all of dim 1 along "x".
  EXPECT_EQ(boxOf(metadata->arguments[0], program.meshShape(), 3),
            (Box{{0, 5}, {0, 4}, {0, 3}}));
  std::string json = toJSON(program);
  json.replace(json.find("[2,0,3,1]"), 9, "[2,0,3,3]");
  EXPECT_EQ(refusal(json),
            "metadata: .arguments[0].ranks: expected each rank once");
}

TEST(Metadata, GivesUpArgumentsForResults) {
  EXPECT_EQ(refusal(edited("\"donated\":-1", "\"donated\":0")), "");
  EXPECT_EQ(refusal(edited("\"donated\":-1", "\"donated\":-2")),
            "metadata: .arguments[1].donated: expected the number of a result, "
            "or -1");
}

TEST(Metadata, WritesOverDonatedArgumentsAlone) {
  for (const char *wrong : {"0", "2", "-1"})
    EXPECT_EQ(
        refusal(edited("\"in_place\":1", std::string("\"in_place\":") + wrong)),
        "metadata: .results[0].in_place: expected the number of a "
        "donated argument");
}

TEST(Metadata, BoxesFollowTheMesh) {
  ProgramMetadata program = example();
  // Rank 3 is (1, 1): rows 5..7 along y, columns 0..4 along x.
  EXPECT_EQ(boxOf(program.arguments[0], program.meshShape(), 3),
            (Box{{5, 7}, {0, 4}, {0, 3}}));
  EXPECT_TRUE(boxOf(program.arguments[0], program.meshShape(), 0)[1].empty());
}

TEST(Metadata, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(refusal(edited("\"format\":3", "\"format\":4")),
            "metadata: .format: version 4, this build reads 3: compile the "
            "program again");
  EXPECT_EQ(refusal(edited("\"boundaries\":[0,5,7]", "\"boundaries\":[0,5,8]")),
            "metadata: .arguments[0].dims[0].boundaries: expected 3 ascending "
            "indices from 0 to 7");
  EXPECT_EQ(refusal(edited("\"axes\":[1]", "\"axes\":[2]")),
            "metadata: .arguments[0].dims[0].axes: axis 2, the mesh has 2");
  EXPECT_EQ(refusal(edited("\"axes\":[1]", "\"axes\":[0]")),
            "metadata: .arguments[0].dims[1].axes: axis 'x' is used twice");
  EXPECT_EQ(refusal(edited("\"axis\":1", "\"axis\":2")),
            "metadata: .arguments[1].partial[0].axis: expected an axis of the "
            "mesh that is used once");
  EXPECT_EQ(refusal(edited("\"sum\"", "\"some\"")),
            "metadata: .arguments[1].partial[0].kind: expected a kind of "
            "reduction");
  EXPECT_EQ(refusal(edited("\"shape\":[7,4,3]", "\"shape\":[7,4]")),
            "metadata: .arguments[0].dims: expected one for each of 2 dims");
  EXPECT_EQ(
      refusal(edited("[7,4,3]", "[281474976710656,4,3]")),
      "metadata: .arguments[0].shape: negative, or more than 2^48 elements");
  EXPECT_EQ(refusal(edited("\"size\":2", "\"size\":65536")),
            "metadata: .mesh[1].size: below 1, or more than 65536 ranks");
  EXPECT_EQ(refusal(edited("\"arena_bytes\":4096", "\"arena_bytes\":\"4096\"")),
            "metadata: .arena_bytes: expected an integer");
  EXPECT_EQ(refusal(std::string(100000, '[')),
            "metadata: nested deeper than 32");
  EXPECT_EQ(refusal("[]"), "metadata: root: expected an object");
  const std::string begin = "{\"format\":3,\"name\":\"\",\"compiler\":\"\","
                            "\"arch\":\"\",\"arena_bytes\":0,\"mesh\":";
  EXPECT_EQ(refusal(begin + "3}"), "metadata: .mesh: expected an array");
  std::string many = "[0";
  for (int i = 0; i < 999; ++i)
    many += ",0";
  EXPECT_EQ(refusal(begin + many + "]}")
                .find("metadata: .mesh: 1000 entries, at most "),
            0u);
}

TEST(Metadata, DamagedTextNeverCrashes) {
  std::string original = toJSON(example());
  for (size_t size = 0; size < original.size(); ++size)
    EXPECT_NE(refusal(StringRef(original).take_front(size)), "");
  std::mt19937 random(11);
  static constexpr char interesting[] = "0129-,:{}[]\"\\ex";
  for (int round = 0; round < 20000; ++round) {
    std::string text = original;
    for (unsigned edits = random() % 4 + 1; edits-- > 0;)
      text[random() % text.size()] =
          interesting[random() % (sizeof(interesting) - 1)];
    if (Expected<ProgramMetadata> metadata = parseMetadata(text)) {
      for (const ValueMetadata &value : metadata->arguments)
        for (int64_t rank = 0;
             rank < std::min<int64_t>(metadata->numRanks(), 16); ++rank)
          boxOf(value, metadata->meshShape(), rank);
    } else {
      consumeError(metadata.takeError());
    }
  }
}
