//===- InputFile.cpp - Files and pipes that users give --------------------===//
#include "shardc/Support/InputFile.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace shardc;

bool shardc::isStoredFile(StringRef path) {
  struct stat status;
  return path != "-" && stat(path.str().c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

/// What cannot be read to its end; empty for what can.
static StringRef refuseKind(const struct stat &status, int file) {
  if (S_ISDIR(status.st_mode))
    return "is a directory";
  if (S_ISSOCK(status.st_mode))
    return "is a socket; expected a file or a pipe";
  if (S_ISBLK(status.st_mode))
    return "is a device; expected a file or a pipe";
  if (S_ISCHR(status.st_mode) && status.st_rdev != makedev(1, 3) &&
      (file < 0 || !isatty(file)))
    return "is a device; expected a file or a pipe";
  return {};
}

/// Reads `file`, a pipe, until its other end is closed.
static Expected<std::unique_ptr<MemoryBuffer>>
readPipe(int file, StringRef path, const PipeLimits &limits, bool mayBeSilent) {
  std::vector<char> bytes;
  size_t size = 0;
  while (true) {
    pollfd ready = {file, POLLIN, 0};
    int wait = mayBeSilent || limits.silentMs == 0 ? -1 : limits.silentMs;
    int count = poll(&ready, 1, wait);
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0)
      return createStringError(path + ": nothing came for " +
                               Twine(limits.silentMs) +
                               " ms; is anybody writing to this pipe?");
    if (bytes.size() - size < (1 << 16))
      bytes.resize(std::max<size_t>(2 * bytes.size(), 1 << 18));
    ssize_t got = read(file, bytes.data() + size, bytes.size() - size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (got < 0)
      return createStringError(errnoAsErrorCode(),
                               path + ": " + std::strerror(errno));
    if (got == 0)
      break;
    size += got;
    if (size > limits.bytes)
      return createStringError(path + ": more than " + Twine(limits.bytes) +
                               " bytes come out of this pipe; store them in a "
                               "file");
  }
  return MemoryBuffer::getMemBufferCopy(StringRef(bytes.data(), size),
                                        path == "-" ? "<stdin>" : path);
}

Expected<std::unique_ptr<MemoryBuffer>>
shardc::readInputFile(StringRef path, bool isText, PipeLimits limits) {
  bool isStdin = path == "-";
  auto system = [&] {
    return createStringError(errnoAsErrorCode(),
                             path + ": " + std::strerror(errno));
  };
  struct stat status;
  if (isStdin ? fstat(STDIN_FILENO, &status) != 0
              : stat(path.str().c_str(), &status) != 0)
    return system();
  if (StringRef problem = refuseKind(status, isStdin ? STDIN_FILENO : -1);
      !problem.empty())
    return createStringError(path + ": " + problem);
  if (S_ISREG(status.st_mode) && !isStdin) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(path, isText, /*RequiresNullTerminator=*/isText);
    if (!buffer)
      return createStringError(buffer.getError(),
                               path + ": " + buffer.getError().message());
    return std::move(*buffer);
  }
  // A pipe that nobody writes to yet is not waited for while it is opened.
  int file = isStdin
                 ? STDIN_FILENO
                 : open(path.str().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return system();
  scope_exit closeFile([&] {
    if (!isStdin)
      close(file);
  });
  // Another file may have come in between.
  if (fstat(file, &status) != 0)
    return system();
  if (StringRef problem = refuseKind(status, file); !problem.empty())
    return createStringError(path + ": " + problem);
  return readPipe(file, path, limits, isStdin);
}
