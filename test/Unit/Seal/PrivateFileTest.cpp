//===- PrivateFileTest.cpp - Bytes that nobody can change any more --------===//

#include "shardc/Seal/PrivateFile.h"
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
