//===- ArtifactTest.cpp - Headers, and files that are no artifact ---------===//

#include "shardc/Translation/Artifact.h"
#include "llvm/Support/FileSystem.h"
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
  Expected<ProgramMetadata> metadata = readArtifactMetadata(path);
  ASSERT_FALSE(bool(metadata));
  EXPECT_NE(toString(metadata.takeError()).find("refused: "),
            std::string::npos);
  sys::fs::remove(path);
}

TEST(Artifact, LinkerSaysWhatIsWrong) {
  std::string message =
      toString(linkSharedObject({"no/such/file.o"}, "artifact-test.so"));
  EXPECT_NE(message.find("no/such/file.o"), std::string::npos) << message;
  EXPECT_FALSE(sys::fs::exists("artifact-test.so"));
}
