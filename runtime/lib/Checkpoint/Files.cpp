//===- Files.cpp - A directory of checkpoints -----------------------------===//

#include "Checkpoint/Files.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardrt;
using namespace shardrt::checkpoint;

File::~File() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool File::close() { return ::close(std::exchange(descriptor, -1)) == 0; }

Status checkpoint::systemError(const std::string &file, const char *doing) {
  int number = errno;
  std::string why = number == ELOOP
                        ? "it is a symbolic link, which is not followed here"
                        : std::strerror(number);
  return {SHARDRT_IO, file + ": " + doing + ": " + why};
}

Status checkpoint::openFile(int at, const char *name, const std::string &path,
                            int flags, File &file) {
  // A pipe that nobody writes to is not waited for.
  file =
      File(openat(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!file)
    return systemError(path,
                       flags & O_CREAT ? "cannot be made" : "cannot be opened");
  struct stat about;
  if (fstat(file.get(), &about) != 0)
    return systemError(path, "cannot be opened");
  if (!S_ISREG(about.st_mode))
    return {SHARDRT_IO, path + ": is no regular file"};
  return {};
}

Status checkpoint::writeAt(int file, const std::string &path, const void *data,
                           int64_t bytes, int64_t offset) {
  auto *from = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t done = pwrite(file, from, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      if (done == 0)
        errno = ENOSPC;
      return systemError(
          path,
          ("byte " + std::to_string(offset) + " cannot be written").c_str());
    }
    from += done;
    offset += done;
    bytes -= done;
  }
  return {};
}

Status checkpoint::readAt(int file, const std::string &path, void *data,
                          int64_t bytes, int64_t offset) {
  auto *to = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t done = pread(file, to, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done == 0)
      return {SHARDRT_IO, path + ": ends at byte " + std::to_string(offset)};
    if (done < 0)
      return systemError(
          path, ("byte " + std::to_string(offset) + " cannot be read").c_str());
    to += done;
    offset += done;
    bytes -= done;
  }
  return {};
}

Status checkpoint::listNames(int at, const std::string &path,
                             std::vector<std::string> &names) {
  // A descriptor of its own: the list takes it.
  int again = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = again >= 0 ? fdopendir(again) : nullptr;
  if (!list) {
    Status status = systemError(path, "cannot be listed");
    if (again >= 0)
      ::close(again);
    return status;
  }
  std::unique_ptr<DIR, int (*)(DIR *)> owner(list, &closedir);
  while (true) {
    errno = 0;
    const dirent *entry = readdir(list);
    if (!entry)
      break;
    std::string name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(std::move(name));
  }
  return errno ? systemError(path, "cannot be listed") : Status();
}

Status checkpoint::removeFolder(int at, const char *name,
                                const std::string &path) {
  File folder(
      openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return systemError(path, "cannot be removed");
  std::vector<std::string> names;
  if (Status status = listNames(folder.get(), path, names); status.failed())
    return status;
  for (const std::string &file : names)
    if (unlinkat(folder.get(), file.c_str(), 0) != 0)
      return systemError(path + "/" + file, "cannot be removed");
  if (unlinkat(at, name, AT_REMOVEDIR) != 0)
    return systemError(path, "cannot be removed");
  return {};
}

std::string Directory::nameOf(int64_t step) {
  std::string number = std::to_string(step);
  return "step-" + std::string(8 - std::min<size_t>(number.size(), 8), '0') +
         number;
}

Status Directory::open(const std::string &where, bool writes) {
  path = where;
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  if (writes && mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return systemError(path, "cannot be made");
  directory = File(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    // Linux says so of a link that is no directory itself.
    struct stat about;
    if (errno == ENOTDIR && lstat(path.c_str(), &about) == 0 &&
        S_ISLNK(about.st_mode))
      errno = ELOOP;
    return systemError(path, "cannot be opened as a directory of checkpoints");
  }
  return writes ? takeLock() : Status();
}

Status Directory::takeLock() {
  std::string name = path + "/lock";
  if (Status status =
          openFile(directory.get(), "lock", name, O_RDWR | O_CREAT, lock);
      status.failed())
    return status;
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return systemError(name, "cannot be locked");
    char who[32] = "";
    if (pread(lock.get(), who, sizeof(who) - 1, 0) <= 0)
      std::strcpy(who, "of another host");
    for (char &c : who)
      if (c == '\n')
        c = 0;
    lock = File();
    return {SHARDRT_IO, path + ": another job saves here (process " + who +
                            "); give each a directory of its own"};
  }
  std::string me = std::to_string(getpid()) + "\n";
  if (ftruncate(lock.get(), 0) != 0)
    return systemError(name, "cannot be written");
  if (Status status = writeAt(lock.get(), name, me.data(), me.size(), 0);
      status.failed())
    return status;
  // Whoever made these is gone: the lock was free.
  std::vector<std::string> names;
  if (Status status = listNames(directory.get(), path, names); status.failed())
    return status;
  for (const std::string &entry : names)
    if (entry.starts_with(kUnfinished))
      if (Status status =
              removeFolder(directory.get(), entry.c_str(), path + "/" + entry);
          status.failed())
        return status;
  return {};
}

Status Directory::steps(std::vector<int64_t> &found) const {
  std::vector<std::string> names;
  if (Status status = listNames(directory.get(), path, names); status.failed())
    return status;
  for (const std::string &name : names) {
    if (!name.starts_with("step-") || name.size() < 13 || name.size() > 23)
      continue;
    int64_t step = 0;
    for (char c : name.substr(5))
      if (c < '0' || c > '9' || __builtin_mul_overflow(step, 10, &step) ||
          __builtin_add_overflow(step, c - '0', &step)) {
        step = -1;
        break;
      }
    if (step < 0 || nameOf(step) != name)
      continue;
    struct stat about;
    if (fstatat(directory.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) !=
        0)
      return systemError(path + "/" + name, "cannot be looked at");
    if (!S_ISDIR(about.st_mode))
      return {SHARDRT_IO,
              path + "/" + name +
                  ": is no directory, as that of a checkpoint must be"};
    found.push_back(step);
  }
  std::sort(found.begin(), found.end());
  return {};
}
