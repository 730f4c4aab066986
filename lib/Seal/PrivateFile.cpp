//===- PrivateFile.cpp - Bytes that nobody can change any more ------------===//

#include "shardc/Seal/PrivateFile.h"
#include "shardc/Seal/Seal.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace shardc;

static constexpr int kSeals =
    F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

static std::string systemError(const std::string &what) {
  return what + ": " + std::strerror(errno);
}

PrivateFile::~PrivateFile() { reset(); }

PrivateFile::PrivateFile(PrivateFile &&other) noexcept
    : file(std::exchange(other.file, -1)),
      data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)) {}

PrivateFile &PrivateFile::operator=(PrivateFile &&other) noexcept {
  if (this != &other) {
    reset();
    file = std::exchange(other.file, -1);
    data = std::exchange(other.data, nullptr);
    size = std::exchange(other.size, 0);
  }
  return *this;
}

void PrivateFile::reset() {
  if (data && size > 0)
    munmap(const_cast<uint8_t *>(data), size);
  if (file >= 0)
    close(file);
  data = nullptr;
  size = 0;
  file = -1;
}

int PrivateFile::release() {
  int descriptor = std::exchange(file, -1);
  reset();
  return descriptor;
}

std::string PrivateFile::path() const {
  return "/proc/self/fd/" + std::to_string(file);
}

void PrivateFile::shareWithChildren() const { fcntl(file, F_SETFD, 0); }

/// Writes all of `bytes`; false with errno set.
static bool writeAll(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t count = write(file, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

std::string PrivateFile::map() {
  struct stat status;
  if (fstat(file, &status) != 0)
    return systemError("cannot be looked at");
  size = static_cast<size_t>(status.st_size);
  if (size == 0)
    return {};
  void *mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    size = 0;
    return systemError("cannot be mapped");
  }
  data = static_cast<const uint8_t *>(mapped);
  return {};
}

std::string PrivateFile::take(int descriptor) {
  reset();
  file = descriptor;
  if (fcntl(file, F_ADD_SEALS, kSeals) != 0)
    return systemError("memory cannot be closed to writing");
  return map();
}

std::string PrivateFile::hold(std::string_view bytes, const std::string &name) {
  int made = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0)
    return systemError("no memory to hold it in");
  if (!writeAll(made, bytes.data(), bytes.size())) {
    std::string why = systemError("no memory to hold it in");
    close(made);
    return why;
  }
  return take(made);
}

std::string PrivateFile::read(const std::string &path, bool isArtifact) {
  reset();
  // A pipe without a writer would be waited for.
  int from = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (from < 0)
    return systemError("cannot be read");
  struct stat status;
  if (fstat(from, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(from);
    return "is no regular file";
  }
  int seals = fcntl(from, F_GET_SEALS);
  if (seals >= 0 && (seals & kSeals) == kSeals) {
    file = from;
    return map();
  }
  std::string name = path.substr(path.find_last_of('/') + 1);
  int made = memfd_create(name.substr(0, 200).c_str(),
                          MFD_CLOEXEC | MFD_ALLOW_SEALING);
  std::string problem;
  if (made < 0)
    problem = systemError("no memory to hold it in");
  constexpr size_t kPiece = size_t(1) << 18;
  auto piece = std::make_unique<char[]>(kPiece);
  auto size = static_cast<uint64_t>(status.st_size);
  uint64_t left = isArtifact ? countWorthReading(from, size) : size;
  bool isCut = left < size;
  while (problem.empty()) {
    ssize_t count = ::read(from, piece.get(),
                           isCut ? std::min<uint64_t>(left, kPiece) : kPiece);
    left -= isCut && count > 0 ? count : 0;
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      problem = systemError("cannot be read");
    else if (count > 0 &&
             !writeAll(made, piece.get(), static_cast<size_t>(count)))
      problem = systemError("no memory to hold it in");
    if (count <= 0)
      break;
  }
  close(from);
  if (problem.empty())
    return take(made);
  if (made >= 0)
    close(made);
  return problem;
}
