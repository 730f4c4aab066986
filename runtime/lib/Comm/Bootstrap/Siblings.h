//===- Siblings.h - A job's other processes on this host --------*- C++ -*-===//
//
// Who waits for a rank cannot know from its silence whether it is slow or was
// stopped. On one host the system knows: it lists processes, their states and,
// of those of this user, the environment that says which rank of which job they
// are. Looked at are those that this one's launcher has started, directly or
// through a script for each.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_SIBLINGS_H
#define SHARDRT_COMM_BOOTSTRAP_SIBLINGS_H

#include "Comm/Bootstrap/Launch.h"
#include <map>
#include <mutex>
#include <string>

namespace shardrt {

/// Why what a rank waits for does not come.
struct Loss {
  enum class Kind {
    None,
    Refused, ///< it was asked for in vain
    Gone,    ///< who would have answered is not there any more
    Stopped  ///< who had joined is, or may be, stopped
  };
  Kind kind = Kind::None;
  std::string text;
  /// Whether there is one.
  explicit operator bool() const { return kind != Kind::None; }
  /// SHARDRT_WATCHDOG or SHARDRT_LOST.
  int status() const;
};

class Siblings {
public:
  explicit Siblings(const Launch &launch) : launch(launch) {}

  /// Whether one of them has been seen stopped for as long as ranks wait for
  /// one another, while this process ran; `loss` says which. Looks a few times
  /// a second at most. Always false where the system does not know.
  bool isOneStopped(Loss &loss);

private:
  const Launch &launch;
  std::mutex mutex; ///< guards what follows
  int64_t lookedNs = 0;
  std::map<int64_t, int64_t> stoppedNs; ///< since when, by process
  std::string found;
};

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_SIBLINGS_H
