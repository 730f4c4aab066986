//===- ArtifactTest.cpp - Headers, and files that are no artifact ---------===//

#include "shardc/Translation/Artifact.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace shardc;

TEST(Artifact, HeaderNamesShapesAndBoundaries) {
  ProgramMetadata program;
  program.name = "jit f";
  program.mesh = {{"x", 2}};
  program.arguments = {
      {"image */", "f32", "", {5}, {{{0}, Boundaries::balanced(5, 2), false}}}};
  std::string text;
  raw_string_ostream out(text);
  emitHeader(program, out);
  EXPECT_NE(text.find("JIT_F_RANKS = 2,"), std::string::npos) << text;
  EXPECT_NE(text.find("inputs[0]  f32 [5], dim 0 over x  image ?/"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("jit_f_input0_dim0_boundaries[3] = {0, 3, 5};"),
            std::string::npos)
      << text;
}

TEST(Artifact, RefusesWhatIsNone) {
  EXPECT_FALSE(isArtifact("no/such/file"));
  SmallString<128> path;
  int fd;
  ASSERT_FALSE(sys::fs::createTemporaryFile("artifact", "so", fd, path));
  {
    raw_fd_ostream out(fd, /*shouldClose=*/true);
    out << StringRef("\x7f"
                     "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0\1\0\0\0",
                     24);
  }
  EXPECT_TRUE(isArtifact(path));
  auto file = MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file));
  Expected<ProgramMetadata> metadata =
      readArtifactMetadata((*file)->getBuffer());
  ASSERT_FALSE(bool(metadata));
  EXPECT_NE(toString(metadata.takeError()), "");
  sys::fs::remove(path);
}

TEST(Artifact, RefusesSharedObjectsOfOthers) {
  // A header of 64 bytes, and nothing that it points to.
  std::string header("\x7f"
                     "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0\1\0\0\0",
                     24);
  header.resize(52);
  header += std::string("\x40\0\x38\0\0\0\x40\0\0\0\0\0", 12);
  Expected<ProgramMetadata> metadata = readArtifactMetadata(header);
  ASSERT_FALSE(bool(metadata));
  EXPECT_EQ(toString(metadata.takeError()),
            "not a shardc artifact: it must export shardc_main, shardc_sites, "
            "shardc_sites_length, shardc_strings, shardc_strings_length, "
            "shardc_metadata");
  EXPECT_EQ(checkArtifactInterface(header), "");
}

TEST(Artifact, LinkerSaysWhatIsWrong) {
  Expected<std::string> linked = linkSharedObject("no object file");
  ASSERT_FALSE(bool(linked));
  std::string message = toString(linked.takeError());
  EXPECT_NE(message.find("ld.lld: error: "), std::string::npos) << message;
}
