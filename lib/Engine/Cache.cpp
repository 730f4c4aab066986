//===- Cache.cpp - Compiled programs that other processes find ------------===//
//
// A file: a word that names the format, the digest of the rest, then for each
// part its size in 8 bytes and its bytes.
//
//===----------------------------------------------------------------------===//

#include "shardc/Engine/Cache.h"
#include "shardc/Crypto/Crypto.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardc::engine;

static constexpr char kFormat[8] = {'s', 'h', 'a', 'r', 'd', 'c', 'C', '2'};
static constexpr const char *kSuffix = ".program";
static constexpr int64_t kMostBytes = int64_t(1) << 30;
static constexpr int64_t kLargestFile = int64_t(1) << 28;

namespace {
struct File {
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  const int descriptor;
};
} // namespace

/// Whether what `status` is about belongs to this user, and to nobody else.
static bool isPrivate(const struct stat &status) {
  return status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

static bool isPrivateFolder(const std::string &folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         isPrivate(status);
}

/// Makes the folder and those above it; whether it is there and private.
static bool makeFolder(const std::string &folder) {
  for (size_t at = 1; at != std::string::npos;) {
    at = folder.find('/', at + 1);
    if (mkdir(folder.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST)
      return false;
  }
  return isPrivateFolder(folder);
}

std::string Cache::defaultFolder() {
  if (const char *given = std::getenv("SHARDC_CACHE_DIR"))
    return given;
  auto absolute = [](const char *path) { return path && path[0] == '/'; };
  if (const char *caches = std::getenv("XDG_CACHE_HOME"); absolute(caches))
    return std::string(caches) + "/shardc";
  if (const char *home = std::getenv("HOME"); absolute(home))
    return std::string(home) + "/.cache/shardc";
  return {};
}

std::string Cache::digest(const std::vector<std::string_view> &parts) {
  crypto::Sha256 hash;
  for (std::string_view part : parts) {
    uint64_t size = part.size();
    hash.update({reinterpret_cast<const uint8_t *>(&size), sizeof(size)});
    hash.update(crypto::bytesOf(part));
  }
  std::string text;
  for (uint8_t byte : hash.finish())
    for (int shift : {4, 0})
      text += "0123456789abcdef"[byte >> shift & 15];
  return text;
}

static bool readAll(int file, char *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = read(file, bytes, count);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytes += got;
    count -= got;
  }
  return true;
}

static bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes.remove_prefix(put);
  }
  return true;
}

std::optional<std::vector<std::string>>
Cache::find(std::string_view key) const {
  if (folder.empty() || !isPrivateFolder(folder))
    return std::nullopt;
  std::string path = folder + "/" + std::string(key) + kSuffix;
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0 ||
      !S_ISREG(status.st_mode) || !isPrivate(status) ||
      status.st_size > kLargestFile)
    return std::nullopt;
  std::string bytes(status.st_size, '\0');
  if (!readAll(file.descriptor, bytes.data(), bytes.size()))
    return std::nullopt;
  constexpr size_t kHead = sizeof(kFormat) + sizeof(crypto::Digest);
  std::string_view rest = bytes;
  if (rest.size() < kHead ||
      std::memcmp(rest.data(), kFormat, sizeof(kFormat)) != 0)
    return std::nullopt;
  crypto::Digest digest = crypto::sha256(crypto::bytesOf(rest.substr(kHead)));
  if (std::memcmp(rest.data() + sizeof(kFormat), digest.data(),
                  digest.size()) != 0)
    return std::nullopt;
  rest.remove_prefix(kHead);
  std::vector<std::string> parts;
  while (!rest.empty()) {
    uint64_t size;
    if (rest.size() < sizeof(size))
      return std::nullopt;
    std::memcpy(&size, rest.data(), sizeof(size));
    rest.remove_prefix(sizeof(size));
    if (size > rest.size())
      return std::nullopt;
    parts.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  // It was of use now.
  futimens(file.descriptor, nullptr);
  return parts;
}

void Cache::store(std::string_view key,
                  const std::vector<std::string> &parts) const {
  if (folder.empty() || !makeFolder(folder))
    return;
  std::string bytes;
  for (const std::string &part : parts) {
    uint64_t size = part.size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof(size));
    bytes += part;
  }
  if (static_cast<int64_t>(bytes.size()) > kLargestFile)
    return;
  crypto::Digest digest = crypto::sha256(crypto::bytesOf(bytes));
  static std::atomic<int64_t> number{0};
  std::string path = folder + "/" + std::string(key) + kSuffix,
              made = path + "." + std::to_string(getpid()) + "." +
                     std::to_string(number.fetch_add(1)) + ".new";
  {
    File file(open(made.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.descriptor < 0)
      return;
    if (!writeAll(file.descriptor, {kFormat, sizeof(kFormat)}) ||
        !writeAll(
            file.descriptor,
            {reinterpret_cast<const char *>(digest.data()), digest.size()}) ||
        !writeAll(file.descriptor, bytes)) {
      unlink(made.c_str());
      return;
    }
  }
  if (rename(made.c_str(), path.c_str()) != 0)
    unlink(made.c_str());
  // Now and then is often enough.
  if (number.load() % 64 == 1)
    trim();
}

void Cache::trim() const {
  struct Entry {
    timespec used;
    int64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  DIR *list = opendir(folder.c_str());
  if (!list)
    return;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  while (dirent *item = readdir(list)) {
    std::string name = item->d_name, path = folder + "/" + name;
    struct stat status;
    if (name.find(kSuffix) == std::string::npos ||
        lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    // Begun by a process that did not end it.
    bool isPart = name.size() > 4 && name.ends_with(".new");
    if (isPart && now.tv_sec - status.st_mtim.tv_sec > 3600) {
      unlink(path.c_str());
    } else if (!isPart) {
      total += status.st_size;
      entries.push_back({status.st_mtim, status.st_size, path});
    }
  }
  closedir(list);
  if (total <= kMostBytes)
    return;
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                          : a.used.tv_nsec < b.used.tv_nsec;
  });
  for (const Entry &entry : entries) {
    if (total <= kMostBytes / 4 * 3)
      break;
    if (unlink(entry.path.c_str()) == 0)
      total -= entry.bytes;
  }
}
