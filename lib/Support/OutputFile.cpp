//===- OutputFile.cpp - Files that are there whole or not at all ----------===//
#include "shardc/Support/OutputFile.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Support/MemoryFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

/// The open descriptor that a path such as /dev/stdout names; -1 for others.
static int descriptorNamed(StringRef path) {
  int number = -1;
  if (path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  if ((path.consume_front("/dev/fd/") ||
       path.consume_front("/proc/self/fd/")) &&
      !path.getAsInteger(10, number))
    return number;
  return -1;
}

/// Whether what has this name is to keep it. Who may rename (root, say) would
/// take it away from everybody.
static bool keepsItsName(StringRef path) {
  struct stat status;
  return stat(path.str().c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

/// A name beside `path` that nobody has by chance.
static std::string nameBeside(StringRef path) {
  SmallString<128> name;
  sys::fs::createUniquePath(path + ".tmp-%%%%%%%%", name,
                            /*MakeAbsolute=*/false);
  return name.str().str();
}

Error OutputFile::fail(const Twine &what, std::error_code code) const {
  return createStringError(code, path + ": " + what);
}

Expected<OutputFile> OutputFile::create(StringRef path, unsigned mode) {
  OutputFile made(path);
  auto cannot = [&](int number) {
    return made.fail("cannot be written: " + Twine(std::strerror(number)),
                     std::error_code(number, std::generic_category()));
  };
  made.isInPlace = descriptorNamed(path) >= 0 || keepsItsName(path);
  if (made.isInPlace) {
    Expected<MemoryFile> memory = MemoryFile::create("output");
    if (!memory)
      return made.fail(toString(memory.takeError()), noMemoryCode());
    made.file = memory->release();
    return made;
  }
  struct stat status;
  if (path.empty() ||
      (stat(made.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)))
    return cannot(path.empty() ? ENOENT : EISDIR);
  StringRef folder = sys::path::parent_path(path);
  std::string where = folder.empty() ? "." : folder.str();
#ifdef O_TMPFILE
  made.file = open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
#endif
  for (int attempt = 0; made.file < 0 && attempt < 8; ++attempt) {
    made.name = nameBeside(path);
    made.file =
        open(made.name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (made.file >= 0 || errno != EEXIST)
      break;
  }
  if (made.file < 0) {
    made.name.clear();
    return cannot(errno);
  }
  return made;
}

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), name(std::move(other.name)),
      file(other.file), isInPlace(other.isInPlace) {
  other.file = -1;
  other.name.clear();
}

OutputFile::~OutputFile() {
  if (!name.empty())
    unlink(name.c_str());
  if (file >= 0)
    close(file);
}

/// Copies all bytes to `target`.
Error OutputFile::copyTo(int target) const {
  off_t at = 0, size = lseek(file, 0, SEEK_END);
  char piece[1 << 16];
  while (at < size) {
    ssize_t got = pread(file, piece, sizeof(piece), at);
    if (got <= 0)
      return fail("what is to be written cannot be read again");
    for (ssize_t done = 0; done < got;) {
      ssize_t count = write(target, piece + done, got - done);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return fail("writing stopped after " + Twine(at + done) +
                        " bytes: " + std::strerror(errno),
                    errnoAsErrorCode());
      done += count;
    }
    at += got;
  }
  return Error::success();
}

Error OutputFile::keep() {
  auto cannot = [&] {
    return fail("cannot be written: " + Twine(std::strerror(errno)),
                errnoAsErrorCode());
  };
  if (isInPlace) {
    int named = descriptorNamed(path);
    int target =
        named >= 0 ? dup(named) : open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (target < 0)
      return cannot();
    Error error = copyTo(target);
    if (close(target) != 0 && !error)
      return cannot();
    return error;
  }
  // What the disk does not take is said now, not when the machine stops.
  if (fsync(file) != 0 && errno != EINVAL)
    return cannot();
  if (name.empty()) {
    std::string self = "/proc/self/fd/" + std::to_string(file);
    auto link = [&](const std::string &as) {
      return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, as.c_str(),
                    AT_SYMLINK_FOLLOW);
    };
    if (link(path) != 0) {
      if (errno != EEXIST)
        return cannot();
      // One file takes another's place only by its name.
      std::string beside = nameBeside(path);
      if (link(beside) != 0)
        return cannot();
      name = beside;
    }
  }
  if (!name.empty()) {
    if (rename(name.c_str(), path.c_str()) != 0)
      return cannot();
    name.clear();
  }
  int closed = close(file);
  file = -1;
  return closed == 0 ? Error::success() : cannot();
}

Error shardc::writeOutputFile(StringRef path,
                              function_ref<void(raw_fd_ostream &)> write,
                              unsigned mode) {
  Expected<OutputFile> file = OutputFile::create(path, mode);
  if (!file)
    return file.takeError();
  std::error_code failed;
  uint64_t written = 0;
  {
    raw_fd_ostream out(file->descriptor(), /*shouldClose=*/false);
    write(out);
    out.flush();
    written = out.tell();
    failed = out.error();
    out.clear_error();
  }
  if (failed)
    return createStringError(failed, path + ": writing stopped after " +
                                         Twine(written) +
                                         " bytes: " + failed.message());
  return file->keep();
}

Error shardc::checkOutputFile(StringRef path) {
  if (descriptorNamed(path) >= 0 || keepsItsName(path)) {
    int named = descriptorNamed(path);
    bool isThere = named >= 0 ? fcntl(named, F_GETFD) >= 0
                              : access(path.str().c_str(), W_OK) == 0;
    return isThere ? Error::success()
                   : createStringError(
                         errnoAsErrorCode(),
                         path + ": cannot be written: " + std::strerror(errno));
  }
  Expected<OutputFile> file = OutputFile::create(path);
  return file ? Error::success() : file.takeError();
}
