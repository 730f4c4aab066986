//===- SecretTest.cpp - Where a job's secret is from ----------------------===//

#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Store.h"
#include "TestLaunch.h"
#include <fcntl.h>
#include <sys/stat.h>

using namespace shardrt;
using namespace shardrt::test;

namespace {

TEST(Store, OneHostHandsTheSecretOn) {
  char directory[] = "/tmp/shardrt-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(directory));
  Map variables = {{"XDG_RUNTIME_DIR", directory}};
  auto lookUp = [&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  int64_t port = freePort();
  std::string error;
  Launch zeroth = launchOf(0, 3, port);
  zeroth.secret.reset();
  zeroth.isOneHost = true;
  EXPECT_EQ(readSecret(lookUp, zeroth), "");
  ASSERT_EQ(zeroth.secretFile.rfind(directory, 0), 0u) << zeroth.secretFile;
  EXPECT_EQ(zeroth.secretFile.find("job 1"), std::string::npos);
  Launch first = zeroth, other = zeroth;
  first.rank = 1;
  // Of a job of that name that was killed.
  shardc::crypto::Key old = shardc::crypto::randomKey();
  EXPECT_EQ(shareSecret(zeroth, old), "");
  // Comes before rank 0 does.
  std::unique_ptr<Store> one;
  std::thread early([&] {
    std::string why;
    one = Store::join(first, 10'000, why);
    EXPECT_TRUE(one) << why;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto zero = Store::join(zeroth, 20'000, error);
  early.join();
  ASSERT_TRUE(zero && one) << error;
  EXPECT_EQ(zero->secret(), one->secret());
  EXPECT_NE(zero->secret(), old);
  struct stat found = {};
  ASSERT_EQ(lstat(zeroth.secretFile.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  // Once all are there it goes.
  Launch second = first;
  second.rank = 2;
  auto two = Store::join(second, 20'000, error);
  ASSERT_TRUE(two) << error;
  for (int i = 0; i < 4000 && lstat(zeroth.secretFile.c_str(), &found) == 0;
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(lstat(zeroth.secretFile.c_str(), &found), 0);
  // A directory that others can write to is not for secrets.
  ASSERT_EQ(chmod(directory, 0777), 0);
  EXPECT_NE(shareSecret(zeroth, old).find("open to others"), std::string::npos);
  ASSERT_EQ(rmdir(directory), 0);
}

TEST(Store, OneHostTakesTheSecretAwayWhenItFails) {
  char directory[] = "/tmp/shardrt-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(directory));
  Launch launch = launchOf(0, 2, freePort());
  launch.secret.reset();
  // One of its own below, which goes as well.
  std::string own =
      std::string(directory) + "/shardrt-" + std::to_string(geteuid());
  launch.secretFile = own + "/shardrt-x.secret";
  std::string error;
  auto zero = Store::join(launch, 20'000, error);
  ASSERT_TRUE(zero) << error;
  struct stat found = {};
  EXPECT_EQ(lstat(launch.secretFile.c_str(), &found), 0);
  ASSERT_EQ(lstat(own.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700u);
  EXPECT_FALSE(zero->barrier("begin", 50, error));
  zero.reset();
  EXPECT_EQ(rmdir(directory), 0) << "something is left";
}

TEST(Secret, WhereItIsFromAndWhereItIsMissed) {
  struct {
    Map variables;
    bool isOneHost, isInsecure;
    const char *says; ///< how its error begins
  } const cases[] = {
      {{{"SHARDRT_SECRET", std::string(64, 'a')}}, false, false, ""},
      {{{"SHARDRT_SECRET", std::string(63, 'a')}},
       false,
       false,
       "SHARDRT_SECRET: expected 64 hexadecimal digits"},
      {{{"SHARDRT_SECRET", std::string(64, 'g')}},
       true,
       false,
       "SHARDRT_SECRET: expected 64 hexadecimal digits"},
      {{{"SHARDRT_SECRET_FILE", "/no/such/file"}},
       true,
       false,
       "SHARDRT_SECRET_FILE: "},
      {{}, true, false, ""},
      {{}, false, true, ""},
      {{}, false, false, "test does not say that all ranks are on one host"},
  };
  for (const auto &one : cases) {
    Launch launch = launchOf(0, 2, 1);
    launch.secret.reset();
    launch.isOneHost = one.isOneHost;
    launch.isInsecure = one.isInsecure;
    std::string error = readSecret(
        [&](const char *name) -> const char * {
          auto found = one.variables.find(name);
          return found == one.variables.end() ? nullptr : found->second.c_str();
        },
        launch);
    EXPECT_EQ(error.substr(0, std::string(one.says).size()), one.says);
    EXPECT_EQ(error.empty(), std::string(one.says).empty()) << error;
    EXPECT_EQ(error.find(std::string(10, 'g')), std::string::npos) << error;
  }
}

} // namespace
