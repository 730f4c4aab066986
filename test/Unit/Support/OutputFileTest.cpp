//===- OutputFileTest.cpp -------------------------------------------------===//
#include "shardc/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace {
struct OutputFileTest : testing::Test {
  void SetUp() override {
    ASSERT_FALSE(
        sys::fs::createUniqueDirectory("shardc-output-file", directory));
    path = directory;
    sys::path::append(path, "result");
  }
  void TearDown() override {
    unlink(path.c_str()); // pipes are left by remove_directories()
    sys::fs::remove_directories(directory);
  }

  Error write(StringRef text) {
    return writeOutputFile(path, [&](raw_ostream &out) { out << text; });
  }
  int64_t countFiles() {
    std::error_code error;
    int64_t count = 0;
    for (sys::fs::directory_iterator at(directory, error), end;
         at != end && !error; at.increment(error))
      ++count;
    return count;
  }

  SmallString<128> directory, path;
};
} // namespace

TEST_F(OutputFileTest, TakesTheNameOfAFile) {
  for (StringRef text : {"longer than the second", "second"}) {
    ASSERT_FALSE(errorToBool(write(text)));
    ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(path);
    ASSERT_TRUE(bytes);
    EXPECT_EQ((*bytes)->getBuffer(), text);
  }
  EXPECT_EQ(countFiles(), 1);
}

// Root may rename a file to /dev/null, which is a file for everybody from then
// on.
TEST_F(OutputFileTest, WritesIntoWhatIsNoFile) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int reader = open(path.c_str(), O_RDWR);
  ASSERT_GE(reader, 0);
  EXPECT_FALSE(errorToBool(write("bytes")));
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status(path, status));
  EXPECT_EQ(status.type(), sys::fs::file_type::fifo_file);
  char got[8] = {};
  EXPECT_EQ(read(reader, got, sizeof(got)), 5);
  EXPECT_STREQ(got, "bytes");
  close(reader);
}

TEST_F(OutputFileTest, SaysWhatCannotBeWritten) {
  path = directory;
  sys::path::append(path, "missing", "result");
  EXPECT_TRUE(errorToBool(write("bytes")));
}

// Whoever is ended while writing leaves nothing.
TEST_F(OutputFileTest, HasNoNameBeforeItIsWhole) {
  Expected<shardc::OutputFile> file = shardc::OutputFile::create(path);
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(::write(file->descriptor(), "bytes", 5), 5);
  EXPECT_EQ(countFiles(), 0);
  ASSERT_FALSE(errorToBool(file->keep()));
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(OutputFileTest, IsGoneWhereItIsNotKept) {
  ASSERT_FALSE(errorToBool(write("before")));
  {
    Expected<shardc::OutputFile> file = shardc::OutputFile::create(path);
    ASSERT_TRUE(bool(file));
    EXPECT_EQ(::write(file->descriptor(), "bytes", 5), 5);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(path);
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)->getBuffer(), "before");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(OutputFileTest, IsCheckedBeforeThereIsOne) {
  EXPECT_FALSE(errorToBool(checkOutputFile(path)));
  EXPECT_FALSE(errorToBool(checkOutputFile("/dev/null")));
  EXPECT_EQ(countFiles(), 0);
  for (std::string bad : {(directory + "/missing/result").str(),
                          directory.str().str(), std::string()}) {
    std::string message = toString(checkOutputFile(bad));
    EXPECT_TRUE(StringRef(message).starts_with(bad + ": cannot be written: "))
        << message;
  }
}
