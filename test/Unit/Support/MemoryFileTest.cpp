//===- MemoryFileTest.cpp - Files without a name --------------------------===//
#include "shardc/Support/MemoryFile.h"
#include "shardc/Support/MemoryErrors.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

static std::string whyOf(Error error) { return toString(std::move(error)); }

TEST(MemoryFile, HoldsWhatIsWritten) {
  Expected<MemoryFile> file = MemoryFile::create("test");
  ASSERT_TRUE(bool(file)) << whyOf(file.takeError());
  EXPECT_EQ(whyOf(file->write("one, ")), "");
  EXPECT_EQ(whyOf(file->write("two")), "");
  Expected<std::string> bytes = file->read();
  ASSERT_TRUE(bool(bytes)) << whyOf(bytes.takeError());
  EXPECT_EQ(*bytes, "one, two");
}

TEST(MemoryFile, SaysWhyItCannot) {
  MemoryFile none(-1);
  EXPECT_EQ(whyOf(none.write("abc")),
            "a file in memory takes 0 of 3 bytes: Bad file descriptor");
  EXPECT_EQ(whyOf(none.read().takeError()),
            "a file in memory: Bad file descriptor");
  // There, and not to be read.
  Expected<MemoryFile> file = MemoryFile::create("test");
  ASSERT_TRUE(bool(file)) << whyOf(file.takeError());
  EXPECT_EQ(whyOf(file->write("abc")), "");
  MemoryFile closed(open(file->path().c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_GE(closed.descriptor(), 0);
  EXPECT_EQ(whyOf(closed.read().takeError()),
            "a file in memory: Bad file descriptor");
}

/// Whether an error's code says that memory was lacking.
static bool isForMemory(Error error) {
  bool is = isAboutMemory(error);
  consumeError(std::move(error));
  return is;
}

// Whatever limit there is: such a file needs nothing but room.
TEST(MemoryFile, LacksMemoryWhereItLacksRoom) {
  Expected<MemoryFile> file = MemoryFile::create("test");
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Expected<MemoryFile> refused = MemoryFile::create("test");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(bool(refused));
  EXPECT_TRUE(isForMemory(refused.takeError()));

  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = {10, before.rlim_max};
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  Error error = file->write(std::string(100, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(isForMemory(std::move(error)));
}
