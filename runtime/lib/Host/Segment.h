//===- Segment.h - Memory that processes of a host share --------*- C++ -*-===//
//
// A file without a name, mapped by all who know where to find it: it goes when
// the last of them ends, however it ends. Others of the same host open it by
// the process and the descriptor of its maker. Who maps it can hold a place of
// it: the system lets go of places when a process ends, so that others can
// tell.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_HOST_SEGMENT_H
#define SHARDRT_HOST_SEGMENT_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace shardrt {

/// Why there is no segment.
struct NoSegment {
  std::string why;
  /// Whether memory, addresses or descriptors are what is missing.
  bool isMemory = false;
};

class Segment {
public:
  /// A segment of this process that takes up to `bytes` bytes, which become
  /// memory when they are written. NULL with a reason.
  static std::unique_ptr<Segment> create(int64_t bytes, NoSegment &error);
  /// That of another process (or of this one), made there, of `bytes` bytes.
  static std::unique_ptr<Segment> open(int64_t process, int file, int64_t bytes,
                                       bool isWritable, NoSegment &error);
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  std::byte *data() const { return base; }
  int64_t size() const { return bytes; }
  /// The descriptor by which others open it.
  int descriptor() const { return file; }
  bool contains(const void *at, int64_t length) const;

  // For the process that made it.

  /// Memory aligned to `alignment`; NULL if there is none.
  void *allocate(int64_t length, int64_t alignment = 64);
  void release(void *at);

  /// Holds place `place` of the file, until this Segment or its process goes.
  bool hold(int64_t place);
  /// Whether somebody else holds it.
  bool isHeld(int64_t place) const;

private:
  Segment() = default;

  int file = -1;
  std::byte *base = nullptr;
  int64_t bytes = 0;
  std::map<int64_t, int64_t> idle; ///< offset to length
  std::map<int64_t, int64_t> used;
};

/// Sleeps while `word` is `seen`, for a tenth of a second at most; whoever
/// changes it calls wakeAll. Works between processes (on Linux).
void sleepOn(std::atomic<int> &word, int seen);
void wakeAll(std::atomic<int> &word);

} // namespace shardrt

#endif // SHARDRT_HOST_SEGMENT_H
