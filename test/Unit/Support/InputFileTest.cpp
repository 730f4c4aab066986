//===- InputFileTest.cpp --------------------------------------------------===//
#include "shardc/Support/InputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace {
struct InputFile : testing::Test {
  void SetUp() override {
    ASSERT_FALSE(
        sys::fs::createUniqueDirectory("shardc-input-file", directory));
    path = directory;
    sys::path::append(path, "model");
  }
  void TearDown() override {
    unlink(path.c_str()); // pipes are left by remove_directories()
    sys::fs::remove_directories(directory);
  }

  /// The bytes, or "error: " and why there are none.
  std::string read(PipeLimits limits = {}) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer =
        readInputFile(path, /*isText=*/true, limits);
    return buffer ? (*buffer)->getBuffer().str()
                  : "error: " + toString(buffer.takeError());
  }

  SmallString<128> directory, path;
};
} // namespace

TEST_F(InputFile, ReadsFilesAndPipes) {
  {
    std::error_code failed;
    raw_fd_ostream out(path, failed);
    out << "stored";
  }
  EXPECT_EQ(read(), "stored");
  EXPECT_TRUE(isStoredFile(path));
  path += ".pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(isStoredFile(path));
  // Whoever writes may come late, and write more than a pipe holds.
  std::string sent(300'000, 'x');
  std::thread writer([&] {
    usleep(50'000);
    std::error_code failed;
    raw_fd_ostream out(path, failed, sys::fs::CD_OpenExisting);
    out << sent;
  });
  EXPECT_EQ(read(), sent);
  writer.join();
}

TEST_F(InputFile, LeavesPipesThatDoNotEnd) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  PipeLimits limits;
  limits.silentMs = 50;
  EXPECT_EQ(read(limits),
            "error: " + path.str().str() +
                ": nothing came for 50 ms; is anybody writing to this pipe?");
  int writer = open(path.c_str(), O_RDWR);
  std::string some(1000, 'x');
  ASSERT_EQ(write(writer, some.data(), some.size()), ssize_t(some.size()));
  limits.bytes = 999;
  EXPECT_EQ(
      read(limits),
      "error: " + path.str().str() +
          ": more than 999 bytes come out of this pipe; store them in a file");
  close(writer);
}

TEST_F(InputFile, RefusesWhatIsNoFile) {
  path = "/dev/zero";
  EXPECT_EQ(read(), "error: /dev/zero: is a device; expected a file or a pipe");
  path = "/dev/null";
  EXPECT_EQ(read(), "");
  path = directory;
  EXPECT_EQ(read(), "error: " + directory.str().str() + ": is a directory");
  sys::path::append(path, "socket");
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(bind(file, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
            0);
  EXPECT_EQ(read(), "error: " + path.str().str() +
                        ": is a socket; expected a file or a pipe");
  close(file);
  unlink(path.c_str());
  EXPECT_EQ(read(),
            "error: " + path.str().str() + ": No such file or directory");
}
