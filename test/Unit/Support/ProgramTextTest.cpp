//===- ProgramTextTest.cpp - Limits and i1 blobs --------------------------===//
#include "shardc/Support/ProgramText.h"
#include "shardc/Support/BooleanBlobs.h"
#include "shardc/Support/TextLimits.h"
#include "gtest/gtest.h"

using namespace shardc;

// Four bytes are all of the file.
TEST(PortableVersion, IsReadFromTheHeader) {
  EXPECT_EQ(portableVersion("ML\xEF\x52"), std::nullopt);
  EXPECT_EQ(portableVersion("ML\xEF\x52\x0dStableHLO_v1.17.0"), "1.17.0");
  EXPECT_EQ(portableVersion("ML\xEF\x52\x0dMLIR22.1"), std::nullopt);
}

TEST(BooleanBlobs, PacksBytesAndKeepsTheLength) {
  std::string text = "dense<\"0x01000000000000010100\"> : tensor<2x5xi1>, x";
  std::string packed = repackBooleanBlobs(text);
  EXPECT_EQ(packed.size(), text.size());
  EXPECT_EQ(packed, "dense<\"0x8101\"                > : tensor<2x5xi1>, x");
}

TEST(BooleanBlobs, LeavesOthersAlone) {
  for (std::string text :
       {"dense<\"0x8101\"> : tensor<2x5xi1>", // packed already
        "dense<\"0x01000000\"> : tensor<1xi32>",
        "dense<\"0x01\"> : tensor<1xi1>",
        "dense<\"0x0102\"> : tensor<2xi1>", // not a boolean
        "dense<\"0x01ZZ\"> : tensor<2xi1>", "dense<\"0x0100\"> : tensor<?xi1>",
        "dense<\"0x0100", "dense<\"0x0100\">",
        "dense<\"0x010\"> : tensor<2xi1>",
        "dense<\"0x0100\"> : tensor<99999999999999999999xi1>"})
    EXPECT_EQ(repackBooleanBlobs(text), text);
}

TEST(BooleanBlobs, ReadsASplatOfOneByte) {
  EXPECT_EQ(repackBooleanBlobs("dense<\"0x01\"> : tensor<9xi1>"),
            "dense<\"0xFF\"> : tensor<9xi1>");
}

TEST(TextLimits, CountsBracketsOutsideStringsAndComments) {
  std::string deep(kMaxNesting, '(');
  EXPECT_FALSE(checkLimits(deep));
  EXPECT_TRUE(checkLimits(deep + "("));
  EXPECT_FALSE(checkLimits(deep + "\"(\\\"(\" // (\n) ("));
  // Arrows and comparisons are no brackets.
  std::string arrows;
  for (size_t i = 0; i < 2 * kMaxNesting; ++i)
    arrows += "<d0 -> d0 <= d1 >= d2 ==> d3> ";
  EXPECT_FALSE(checkLimits(arrows));
}

TEST(TextLimits, SaysWhere) {
  std::optional<LimitViolation> found =
      checkLimits("// first\n  %0 : tensor<9223372036854775807x2xf32>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, 2u);
  EXPECT_EQ(found->column, 8u);
}

TEST(TextLimits, KnowsEmptyTensors) {
  EXPECT_FALSE(checkLimits("tensor<0x9223372036854775807xf32>"));
  EXPECT_TRUE(checkLimits("tensor<99999999999999999999xf32>"));
}

TEST(TextLimits, EndsAnywhere) {
  std::string text =
      "module { // a\n \"b\\\"c\" @\"d\" tensor<4x?xf32> -> <= }";
  for (size_t length = 0; length <= text.size(); ++length)
    EXPECT_FALSE(checkLimits(llvm::StringRef(text).take_front(length)));
}

TEST(ProgramText, NamesFileLineAndColumn) {
  auto program = prepareProgram(llvm::MemoryBuffer::getMemBuffer(
      "\ntensor<99999999999999999999xf32>", "a.mlir"));
  ASSERT_FALSE(static_cast<bool>(program));
  EXPECT_EQ(llvm::toString(program.takeError()),
            "a.mlir:2:8: error: size of a dim does not fit 63 bits");
}

/// A flatbuffer of one table that has nothing but the field 13, a vector of
/// `bytes`.
static std::string flatbufferOf(llvm::StringRef bytes) {
  std::string text(48, '\0');
  text[0] = 36;  // the table
  text[4] = 32;  // bytes of the list of fields
  text[6] = 8;   // bytes of the table
  text[34] = 4;  // in which field 13 stands at the fourth
  text[36] = 32; // from the table back to the list
  text[40] = 4;  // from the field to the vector
  text[44] = static_cast<char>(bytes.size());
  return text + bytes.str();
}

TEST(ExportedModule, IsFoundInItsFlatbuffer) {
  std::string whole = flatbufferOf("ML\xEF\x52 and more");
  EXPECT_EQ(exportedModule(whole), "ML\xEF\x52 and more");
  EXPECT_FALSE(exportedModule(flatbufferOf("something else")));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(exportedModule(llvm::StringRef(whole).take_front(length)));
}

TEST(ExportedModule, BytesThatLieAreNoModule) {
  std::string whole = flatbufferOf("ML\xEF\x52 and more");
  for (size_t i = 0; i < 48; ++i)
    for (char value : {'\x7F', '\xFF'}) {
      std::string damaged = whole;
      damaged[i] = value;
      std::optional<llvm::StringRef> module = exportedModule(damaged);
      if (module)
        EXPECT_TRUE(module->starts_with("ML\xEF\x52"));
    }
}
