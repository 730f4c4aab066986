//===- Segment.cpp - Memory that processes of a host share ----------------===//

#include "Host/Segment.h"
#include <cerrno>
#include <cstring>
#ifdef __linux__
#include <climits>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

using namespace shardrt;

#ifdef __linux__

static constexpr int64_t largeBlock = int64_t(2) << 20;

static NoSegment whyNot(const std::string &what) {
  bool isMemory =
      errno == ENOMEM || errno == ENOSPC || errno == EMFILE || errno == ENFILE;
  return {what + ": " + std::strerror(errno), isMemory};
}

static NoSegment cannotMap(int64_t bytes) {
  return whyNot("cannot map " + std::to_string(bytes) +
                " bytes of shared memory");
}

std::unique_ptr<Segment> Segment::create(int64_t bytes, NoSegment &error) {
  std::unique_ptr<Segment> segment(new Segment());
  segment->file = memfd_create("shardrt", MFD_CLOEXEC);
  if (segment->file < 0 || ftruncate(segment->file, bytes) != 0) {
    error = whyNot("cannot make a file of " + std::to_string(bytes) +
                   " bytes in memory");
    return nullptr;
  }
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, segment->file, 0);
  if (base == MAP_FAILED) {
    error = cannotMap(bytes);
    return nullptr;
  }
  segment->base = static_cast<std::byte *>(base);
  segment->bytes = bytes;
  segment->idle[0] = bytes;
  return segment;
}

std::unique_ptr<Segment> Segment::open(int64_t process, int file, int64_t bytes,
                                       bool isWritable, NoSegment &error) {
  std::unique_ptr<Segment> segment(new Segment());
  std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  segment->file =
      ::open(path.c_str(), (isWritable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (segment->file < 0) {
    error = whyNot(path);
    return nullptr;
  }
  // Shared with processes of this user alone.
  struct stat found = {};
  if (fstat(segment->file, &found) != 0 || found.st_uid != geteuid()) {
    error = {path + " belongs to another user"};
    return nullptr;
  }
  // What the maker has there now may be something else.
  if (lseek(segment->file, 0, SEEK_END) != bytes) {
    error = {path + " is not the memory of this job"};
    return nullptr;
  }
  void *base = mmap(nullptr, bytes, PROT_READ | (isWritable ? PROT_WRITE : 0),
                    MAP_SHARED | MAP_NORESERVE, segment->file, 0);
  if (base == MAP_FAILED) {
    error = cannotMap(bytes);
    return nullptr;
  }
  segment->base = static_cast<std::byte *>(base);
  segment->bytes = bytes;
  return segment;
}

Segment::~Segment() {
  if (base)
    munmap(base, bytes);
  if (file >= 0)
    close(file);
}

bool Segment::hold(int64_t place) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool Segment::isHeld(int64_t place) const {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void shardrt::sleepOn(std::atomic<int> &word, int seen) {
  static_assert(sizeof(std::atomic<int>) == sizeof(int));
  timespec longest = {0, 100'000'000};
  syscall(SYS_futex, reinterpret_cast<int *>(&word), FUTEX_WAIT, seen, &longest,
          nullptr, 0);
}

void shardrt::wakeAll(std::atomic<int> &word) {
  syscall(SYS_futex, reinterpret_cast<int *>(&word), FUTEX_WAKE, INT_MAX,
          nullptr, nullptr, 0);
}

#else // Other systems: processes use sockets.

static constexpr int64_t largeBlock = INT64_MAX;

std::unique_ptr<Segment> Segment::create(int64_t, NoSegment &error) {
  error = {"shared memory between processes needs Linux"};
  return nullptr;
}
std::unique_ptr<Segment> Segment::open(int64_t, int, int64_t, bool,
                                       NoSegment &error) {
  error = {"shared memory between processes needs Linux"};
  return nullptr;
}
Segment::~Segment() = default;
bool Segment::hold(int64_t) { return false; }
bool Segment::isHeld(int64_t) const { return true; }
void shardrt::sleepOn(std::atomic<int> &word, int seen) { word.wait(seen); }
void shardrt::wakeAll(std::atomic<int> &word) { word.notify_all(); }

#endif

bool Segment::contains(const void *at, int64_t length) const {
  auto *from = static_cast<const std::byte *>(at);
  return from >= base && from + length <= base + bytes;
}

void *Segment::allocate(int64_t length, int64_t alignment) {
  length = (length + 63) / 64 * 64;
  if (length < 64)
    length = 64;
  for (auto it = idle.begin(); it != idle.end(); ++it) {
    auto [begin, size] = *it;
    int64_t at = (begin + alignment - 1) / alignment * alignment;
    if (at + length > begin + size)
      continue;
    idle.erase(it);
    if (at > begin)
      idle[begin] = at - begin;
    if (int64_t left = begin + size - at - length; left > 0)
      idle[at + length] = left;
    used[at] = length;
    return base + at;
  }
  return nullptr;
}

void Segment::release(void *at) {
  if (!at)
    return;
  auto found = used.find(static_cast<std::byte *>(at) - base);
  if (found == used.end())
    return;
  auto [begin, length] = *found;
  used.erase(found);
#ifdef __linux__
  if (length >= largeBlock)
    madvise(base + begin, length, MADV_REMOVE); // Gives the pages back.
#endif
  auto next = idle.lower_bound(begin);
  if (next != idle.end() && begin + length == next->first) {
    length += next->second;
    next = idle.erase(next);
  }
  if (next != idle.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += length;
      return;
    }
  }
  idle[begin] = length;
}
