//===- MemoryFile.cpp - Files without a name ------------------------------===//
#include "shardc/Support/MemoryFile.h"
#include "shardc/Support/MemoryErrors.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace shardc;

/// Such a file lacks nothing but room, whichever limit of the system says so.
static Error noRoom(const Twine &what) {
  return createStringError(noMemoryCode(), what + ": " + std::strerror(errno));
}

Expected<MemoryFile> MemoryFile::create(const char *label) {
  int file = memfd_create(label, MFD_CLOEXEC);
  if (file < 0)
    return noRoom("no file in memory");
  return MemoryFile(file);
}

MemoryFile &MemoryFile::operator=(MemoryFile &&other) {
  std::swap(file, other.file);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (file >= 0)
    close(file);
}

int MemoryFile::release() { return std::exchange(file, -1); }

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(file);
}

Error MemoryFile::write(StringRef bytes) {
  uint64_t written = 0;
  while (written < bytes.size()) {
    ssize_t count =
        ::write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return noRoom("a file in memory takes " + Twine(written) + " of " +
                    Twine(bytes.size()) + " bytes");
    written += count;
  }
  return Error::success();
}

Expected<std::string> MemoryFile::read() const {
  struct stat status;
  if (fstat(file, &status) != 0)
    return createStringError(errnoAsErrorCode(), Twine("a file in memory: ") +
                                                     std::strerror(errno));
  std::string bytes(status.st_size, '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    ssize_t count = pread(file, bytes.data() + at, bytes.size() - at, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return createStringError(errnoAsErrorCode(), Twine("a file in memory: ") +
                                                       std::strerror(errno));
    at += count;
  }
  return bytes;
}
