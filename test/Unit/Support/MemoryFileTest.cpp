//===- MemoryFileTest.cpp - Files without a name --------------------------===//
#include "shardc/Support/MemoryFile.h"
#include "gtest/gtest.h"
#include <fcntl.h>
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
