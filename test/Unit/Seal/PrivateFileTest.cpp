//===- PrivateFileTest.cpp - Bytes that nobody can change any more --------===//

#include "shardc/Seal/PrivateFile.h"
#include "shardc/Seal/Seal.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardc;

namespace {
std::string fileOf(const std::string &name, const std::string &text) {
  std::string path = testing::TempDir() + name + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
} // namespace

TEST(PrivateFile, KeepsWhatWasRead) {
  std::string path = fileOf("private-file", "before");
  PrivateFile file;
  ASSERT_EQ(file.read(path), "");
  std::ofstream(path, std::ios::binary) << "after!";
  EXPECT_EQ(file.text(), "before");
  unlink(path.c_str());
}

TEST(PrivateFile, NobodyWritesToIt) {
  PrivateFile file;
  ASSERT_EQ(file.hold("code", "test"), "");
  EXPECT_EQ(write(file.descriptor(), "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  int again = open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  if (again >= 0) {
    EXPECT_EQ(pwrite(again, "x", 1, 0), -1);
    EXPECT_EQ(ftruncate(again, 0), -1);
    close(again);
  }
  EXPECT_EQ(file.text(), "code");
}

TEST(PrivateFile, IsSharedNotCopied) {
  PrivateFile file, same;
  ASSERT_EQ(file.hold("code", "test"), "");
  ASSERT_EQ(same.read(file.path()), "");
  struct stat first, second;
  ASSERT_EQ(fstat(file.descriptor(), &first), 0);
  ASSERT_EQ(fstat(same.descriptor(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  EXPECT_EQ(same.text(), "code");
}

TEST(PrivateFile, ReadsLittleOfALargeFileWithoutASeal) {
  std::string path = fileOf("private-large", "head");
  ASSERT_EQ(truncate(path.c_str(), off_t(1) << 40), 0);
  PrivateFile file;
  ASSERT_EQ(file.readArtifact(path), "");
  EXPECT_EQ(file.text().substr(0, 4), "head");
  EXPECT_LT(file.text().size(), size_t(1) << 20);
  Seal seal;
  EXPECT_EQ(readSeal(file.bytes(), seal).rfind("damaged: section 'seal'", 0),
            0u);
  // Of the size that any program may have, all is read.
  ASSERT_EQ(truncate(path.c_str(), 3 << 20), 0);
  ASSERT_EQ(file.readArtifact(path), "");
  EXPECT_EQ(file.text().size(), size_t(3) << 20);
  unlink(path.c_str());
}

TEST(PrivateFile, RefusesWhatIsNoFile) {
  PrivateFile file;
  EXPECT_EQ(file.read("/dev/zero"), "is no regular file");
  EXPECT_EQ(file.read("/"), "is no regular file");
  EXPECT_EQ(file.read("no/such/file"),
            "cannot be read: No such file or directory");
  std::string pipe =
      testing::TempDir() + "private-pipe" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(file.read(pipe), "is no regular file");
  unlink(pipe.c_str());
}
