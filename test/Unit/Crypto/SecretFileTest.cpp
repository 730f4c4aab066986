//===- SecretFileTest.cpp - Files that hold secrets -----------------------===//
#include "shardc/Crypto/Crypto.h"
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardc::crypto;

namespace {
class SecretFile : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/secret-file-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory = name;
    path = directory + "/secret";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string &text, mode_t mode = 0600) {
    std::ofstream(path, std::ios::binary) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  std::string read() { return readSecretFile(path, key); }

  std::string directory, path;
  Key key{};
};
} // namespace

TEST_F(SecretFile, IsReadAsItWasWritten) {
  Key secret = randomKey();
  ASSERT_EQ(writeSecretFile(path, secret), "");
  struct stat status;
  ASSERT_EQ(lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, mode_t(0600));
  EXPECT_EQ(read(), "");
  EXPECT_EQ(key, secret);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}),
            1);
}

TEST_F(SecretFile, IsNeverWrittenOver) {
  Key first = randomKey();
  bool taken = true;
  ASSERT_EQ(writeSecretFile(path, first, &taken), "");
  EXPECT_FALSE(taken);
  EXPECT_NE(writeSecretFile(path, randomKey(), &taken), "");
  EXPECT_TRUE(taken);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(key, first);
  EXPECT_NE(writeSecretFile(directory + "/missing/secret", first, &taken), "");
  EXPECT_FALSE(taken);
}

TEST_F(SecretFile, NeedsExactlyItsDigits) {
  std::string digits(64, 'a');
  for (const std::string &text : {digits, digits + "\n"}) {
    write(text);
    EXPECT_EQ(read(), "") << text;
  }
  for (const std::string &text :
       {std::string(), std::string("\n"), digits + "\n\n", digits + "00",
        digits + " ", " " + digits, std::string(63, 'a'), std::string(64, 'x'),
        std::string(1 << 20, 'a')}) {
    write(text);
    EXPECT_NE(read().find("expected 64 hexadecimal digits and a line "
                          "break, nothing else"),
              std::string::npos)
        << text.size();
  }
}

TEST_F(SecretFile, MustBeClosedToOthers) {
  for (mode_t mode : {0640, 0604, 0660, 0644, 0601}) {
    write(std::string(64, '0'), mode);
    EXPECT_NE(read().find("others may read or write it; chmod 600 it"),
              std::string::npos)
        << mode;
  }
  write(std::string(64, '0'), 0400);
  EXPECT_EQ(read(), "");
}

TEST_F(SecretFile, MustBelongToWhoReadsIt) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  write(std::string(64, '0'));
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_NE(read().find("belongs to user 65534"), std::string::npos);
}

TEST_F(SecretFile, IsNoLinkAndNoSpecialFile) {
  write(std::string(64, '0'));
  std::string link = directory + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  EXPECT_NE(readSecretFile(link, key).find("symbolic link"), std::string::npos);
  std::string pipe = directory + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(readSecretFile(pipe, key).find("no regular file"),
            std::string::npos);
  EXPECT_NE(readSecretFile(directory, key).find("no regular file"),
            std::string::npos);
  EXPECT_NE(readSecretFile(directory + "/missing", key).find("No such file"),
            std::string::npos);
  EXPECT_NE(readSecretFile("/dev/null", key), "");
}
