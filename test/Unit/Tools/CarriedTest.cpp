//===- CarriedTest.cpp - Programs that artifacts carry, damaged -----------===//
//
// Whoever made the file has sealed it: what it carries is read by itself.
//
//===----------------------------------------------------------------------===//

#include "shardc/Driver/Carried.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace shardc;

/// `plain` as packProgram packs it, with `size` for its size.
static std::string packed(StringRef plain, uint64_t size) {
  SmallVector<uint8_t, 0> bytes;
  compression::zlib::compress(arrayRefFromStringRef(plain), bytes);
  char said[8];
  support::endian::write64le(said, size);
  return std::string(said, sizeof(said)) + toStringRef(bytes).str();
}

static std::string refusal(const std::string &bytes) {
  Expected<CarriedProgram> carried = unpackProgram(bytes);
  return carried ? "" : toString(carried.takeError());
}

TEST(Carried, SaysWhatIsWrong) {
  const std::string begin = "the program that it carries cannot be read: ";
  EXPECT_EQ(refusal("1234567"), begin + "it is cut short");
  EXPECT_EQ(refusal(packed("{}\n", 4)),
            begin + "it has another size than it says");
  EXPECT_EQ(refusal(packed("{}\n", uint64_t(1) << 40)),
            begin + "it says that it has 1099511627776 bytes");
  EXPECT_EQ(refusal(packed("[]\n", 3)), begin + "its options are no object");
  EXPECT_EQ(refusal(packed("{}\n", 3)),
            begin + "'ranks' is not there or makes no sense");
  // Such that no size is too large for what it is packed into.
  std::mt19937 random(1);
  std::string longLine((1 << 20) + 1, ' ');
  for (char &letter : longLine)
    letter = static_cast<char>('a' + random() % 26);
  EXPECT_EQ(refusal(packed(longLine, longLine.size())),
            begin + "its options are too long");
}

TEST(Carried, ComesBackAsItWas) {
  ModelOptions options;
  options.stages.mesh = "x=3";
  std::string bytes = packProgram("model.mlir", options, "module {\n}\n");
  Expected<CarriedProgram> carried = unpackProgram(bytes);
  ASSERT_TRUE(bool(carried)) << toString(carried.takeError());
  EXPECT_EQ(carried->path, "model.mlir");
  EXPECT_EQ(carried->options.stages.mesh, "x=3");
  EXPECT_EQ(*carried->options.text, "module {\n}\n");
}

TEST(Carried, KeepsWhatIsLeftOpen) {
  ModelOptions options;
  options.stages.dynamic = "all";
  for (const char *mesh : {"x=?", "x=4?", "y=2,x=?"}) {
    options.stages.mesh = mesh;
    Expected<CarriedProgram> carried =
        unpackProgram(packProgram("model.mlir", options, "module {}"));
    ASSERT_TRUE(bool(carried)) << toString(carried.takeError());
    EXPECT_EQ(carried->options.stages.mesh, mesh);
    EXPECT_EQ(carried->options.stages.dynamic, "all");
  }
  for (const char *mesh : {"x=0?", "x=2??", "=?", "x=?,x=2", "?"}) {
    options.stages.mesh = mesh;
    EXPECT_NE(refusal(packProgram("model.mlir", options, "")), "") << mesh;
  }
}
