//===- UserKeyTest.cpp - Whose machine code is loaded ---------------------===//

#include "shardc/Seal/UserKey.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace shardc;

namespace {
class UserKeys : public testing::Test {
protected:
  void SetUp() override {
    home = testing::TempDir() + "user-key" + std::to_string(getpid());
    std::filesystem::remove_all(home);
    std::filesystem::create_directory(home);
    setenv("HOME", home.c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("SHARDC_KEY");
    path = home + "/.config/shardc/key";
  }
  void TearDown() override { std::filesystem::remove_all(home); }

  mode_t modeOf(const std::string &file) {
    struct stat status = {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 0777;
  }

  std::string home, path;
};
} // namespace

TEST_F(UserKeys, IsMadeAtFirstUseForItsUserAlone) {
  UserKey key;
  ASSERT_EQ(readUserKey("", /*make=*/false, key), "");
  EXPECT_FALSE(key.secret);
  EXPECT_FALSE(std::filesystem::exists(home + "/.config"));
  ASSERT_EQ(readUserKey("", /*make=*/true, key), "");
  ASSERT_TRUE(key.secret);
  EXPECT_EQ(key.path, path);
  EXPECT_EQ(modeOf(path), 0600u);
  EXPECT_EQ(modeOf(home + "/.config/shardc"), 0700u);
  UserKey again;
  ASSERT_EQ(readUserKey("", /*make=*/false, again), "");
  EXPECT_TRUE(again.trusts(key.secret->publicKey));
  EXPECT_FALSE(again.trusts(std::nullopt));
  EXPECT_FALSE(again.trusts(crypto::PublicKey{}));
}

TEST_F(UserKeys, ProcessesThatRaceGetOneKey) {
  constexpr int kProcesses = 16;
  int ends[2], start[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(start), 0);
  for (int i = 0; i < kProcesses; ++i)
    if (fork() == 0) {
      char go;
      close(start[1]);
      (void)!read(start[0], &go, 1); // until the other end is closed
      UserKey key;
      crypto::PublicKey mine = {};
      if (readUserKey("", /*make=*/true, key).empty() && key.secret)
        mine = key.secret->publicKey;
      _exit(write(ends[1], mine.data(), mine.size()) == 32 ? 0 : 1);
    }
  close(start[1]);
  close(ends[1]);
  UserKey key;
  std::vector<crypto::PublicKey> all(kProcesses);
  for (crypto::PublicKey &one : all)
    ASSERT_EQ(read(ends[0], one.data(), one.size()), 32);
  while (wait(nullptr) > 0)
    ;
  ASSERT_EQ(readUserKey("", /*make=*/false, key), "");
  for (const crypto::PublicKey &one : all)
    EXPECT_TRUE(key.trusts(one));
}

// Where a key is made, others may have been before.
TEST_F(UserKeys, WhatIsInThePlaceOfThePublicKeyIsLeftAlone) {
  std::string folder = home + "/.config/shardc", pub = path + ".pub",
              theirs = home + "/theirs";
  std::ofstream(theirs) << "theirs";
  auto make = [&](const char *what) {
    UserKey key;
    alarm(20); // who waits for a pipe would wait for ever
    EXPECT_EQ(readUserKey("", /*make=*/true, key), "") << what;
    alarm(0);
    EXPECT_TRUE(key.secret) << what;
    std::ifstream in(theirs);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "theirs")
        << what;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  };
  std::filesystem::create_directories(folder);
  ASSERT_EQ(mkfifo(pub.c_str(), 0600), 0);
  make("a pipe that nobody reads");
  std::filesystem::create_symlink(theirs, pub);
  make("a symbolic link");
  std::filesystem::create_hard_link(theirs, pub);
  make("another name of a file");
  std::filesystem::create_directory(pub);
  make("a directory");
  std::ofstream(pub) << std::string(1000, 'x');
  UserKey key, other;
  ASSERT_EQ(readUserKey("", /*make=*/true, key), "");
  ASSERT_EQ(readUserKey(pub, /*make=*/true, other), "");
  EXPECT_TRUE(other.trusts(key.secret->publicKey)) << "an older public key";
}

TEST_F(UserKeys, PublicKeysLoadAndDoNotSign) {
  UserKey key, other;
  ASSERT_EQ(readUserKey("", /*make=*/true, key), "");
  ASSERT_EQ(readUserKey(path + ".pub", /*make=*/true, other), "");
  EXPECT_FALSE(other.secret);
  EXPECT_TRUE(other.trusts(key.secret->publicKey));
  // Two of them, by the environment.
  std::ofstream(path + ".pub", std::ios::app)
      << "shardc-public-key " << std::string(64, '0') << "\n";
  setenv("SHARDC_KEY", (path + ".pub").c_str(), 1);
  ASSERT_EQ(readUserKey("", /*make=*/true, other), "");
  EXPECT_TRUE(other.trusts(key.secret->publicKey));
  EXPECT_TRUE(other.trusts(crypto::PublicKey{}));
  EXPECT_FALSE(other.secret);
}

TEST_F(UserKeys, SaysWhatIsWrong) {
  UserKey key;
  auto problem = [&](const std::string &given = "") {
    std::string why = readUserKey(given, /*make=*/true, key);
    EXPECT_FALSE(key.secret);
    EXPECT_TRUE(key.trusted.empty());
    return why;
  };
  auto says = [](const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "'" << text << "'";
  };
  ASSERT_EQ(readUserKey("", /*make=*/true, key), "");
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(says(problem(), path));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(truncate(path.c_str(), 40), 0);
  EXPECT_TRUE(says(problem(), path));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_TRUE(says(problem(), path));
  // A link leads to what somebody else may change.
  std::filesystem::rename(path, path + ".moved");
  std::filesystem::create_symlink(path + ".moved", path);
  EXPECT_TRUE(says(problem(), path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink("nowhere", path);
  EXPECT_TRUE(says(problem(), path));
  EXPECT_TRUE(says(problem("no/such/key"), "no/such/key"));
  ASSERT_EQ(chmod((path + ".pub").c_str(), 0666), 0);
  EXPECT_TRUE(says(problem(path + ".pub"), "others may write"));
  ASSERT_EQ(chmod((path + ".pub").c_str(), 0644), 0);
  std::ofstream(path + ".pub") << "shardc-public-key 12\n";
  EXPECT_TRUE(says(problem(path + ".pub"), "64 hexadecimal digits"));
  unsetenv("HOME");
  EXPECT_TRUE(says(problem(), "SHARDC_KEY"));
  // A place that no directory can be made at; the superuser may write anywhere
  // else.
  setenv("HOME", "/dev/null", 1);
  EXPECT_TRUE(says(problem(), "/dev/null/.config/shardc"));
}
