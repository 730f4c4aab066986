//===- SecretFile.cpp - Files that hold secrets ---------------------------===//
//
// A secret is worth what the file that holds it is worth. So the file is looked
// at through the descriptor that it is read from: between a look at a name and
// an open of it somebody else could put another file there.
//
//===----------------------------------------------------------------------===//
#include "shardc/Crypto/Crypto.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardc::crypto {

static std::string failure(const std::string &path, const std::string &what) {
  return path + ": " + what;
}

namespace {
/// Closes a descriptor at the end of its scope.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
};
} // namespace

std::string readSecretFile(const std::string &path, std::span<uint8_t> out) {
  // Non-blocking: a pipe in the file's place must not hold the program up.
  Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0)
    return failure(path, errno == ELOOP
                             ? "is a symbolic link; name the file itself"
                             : std::strerror(errno));
  struct stat status;
  if (::fstat(file.number, &status) != 0)
    return failure(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return failure(path, "is no regular file");
  if (status.st_uid != ::geteuid())
    return failure(path, "belongs to user " + std::to_string(status.st_uid) +
                             ", not to user " + std::to_string(::geteuid()) +
                             " who runs this");
  if (status.st_mode & 077) {
    char mode[8];
    std::snprintf(mode, sizeof(mode), "%04o", unsigned(status.st_mode & 07777));
    return failure(path, std::string("has mode ") + mode +
                             ": others may read or write it; chmod 600 it");
  }

  // One byte more than there may be shows a file that is too long.
  std::vector<uint8_t> text(2 * out.size() + 2);
  size_t length = 0;
  while (length < text.size()) {
    ssize_t got =
        ::read(file.number, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return failure(path, std::strerror(errno));
    if (got == 0)
      break;
    length += size_t(got);
  }
  size_t digits = length;
  if (digits > 0 && text[digits - 1] == '\n')
    --digits;
  auto bytes = fromHex({reinterpret_cast<const char *>(text.data()), digits});
  wipe(text);
  if (!bytes || bytes->size() != out.size())
    return failure(path,
                   "expected " + std::to_string(2 * out.size()) +
                       " hexadecimal digits and a line break, nothing else");
  std::copy(bytes->begin(), bytes->end(), out.begin());
  wipe(*bytes);
  return {};
}

static bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    text.remove_prefix(size_t(put));
  }
  return true;
}

std::string writeSecretFile(const std::string &path, Bytes bytes, bool *taken) {
  if (taken)
    *taken = false;
  // Written under a name of its own and then linked: link(2) refuses a name
  // that is taken, and whoever reads the name finds the whole secret.
  std::array<uint8_t, 8> random;
  fillRandom(random);
  std::string partial = path + "." + toHex(random);
  std::string text = toHex(bytes) + "\n";
  int error = 0;
  {
    Descriptor file(::open(partial.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           0600));
    if (file.number < 0)
      return failure(partial, std::strerror(errno));
    if (!writeAll(file.number, text) || ::fsync(file.number) != 0)
      error = errno;
  }
  wipe({reinterpret_cast<uint8_t *>(text.data()), text.size()});
  if (!error && ::link(partial.c_str(), path.c_str()) != 0)
    error = errno;
  ::unlink(partial.c_str());
  if (!error)
    return {};
  if (taken)
    *taken = error == EEXIST;
  return failure(path, std::strerror(error));
}

} // namespace shardc::crypto
