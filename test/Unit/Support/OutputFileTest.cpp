//===- OutputFileTest.cpp -------------------------------------------------===//
#include "shardc/Support/OutputFile.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace {
struct OutputFile : testing::Test {
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("shardc-output-file", directory));
    path = directory;
    sys::path::append(path, "result");
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  Error write(StringRef text) {
    Expected<sys::fs::TempFile> file = createBeside(path);
    if (!file)
      return file.takeError();
    {
      raw_fd_ostream out(file->FD, /*shouldClose=*/false);
      out << text;
    }
    return keepAs(*file, path);
  }

  SmallString<128> directory, path;
};
} // namespace

TEST_F(OutputFile, TakesTheNameOfAFile) {
  for (StringRef text : {"longer than the second", "second"}) {
    ASSERT_FALSE(errorToBool(write(text)));
    ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(path);
    ASSERT_TRUE(bytes);
    EXPECT_EQ((*bytes)->getBuffer(), text);
  }
  std::error_code error;
  int64_t count = 0;
  for (sys::fs::directory_iterator at(directory, error), end; at != end && !error; at.increment(error))
    ++count;
  EXPECT_EQ(count, 1);
}

// Root may rename a file to /dev/null, which is a file for everybody from then on.
TEST_F(OutputFile, WritesIntoWhatIsNoFile) {
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

TEST_F(OutputFile, SaysWhatCannotBeWritten) {
  path = directory;
  sys::path::append(path, "missing", "result");
  EXPECT_TRUE(errorToBool(write("bytes")));
}
