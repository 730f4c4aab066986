//===- Absence.h - When this process was not running ------------*- C++ -*-===//
//
// A job that is stopped and continued (Ctrl-Z and fg, a frozen container), or
// that gets no core, waits for nobody: what its ranks are waited for begins
// anew when it is back.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_HOST_ABSENCE_H
#define SHARDRT_HOST_ABSENCE_H

#include <atomic>
#include <cstdint>

namespace shardrt {

/// Finds pauses in a sequence of calls. Several threads may call at once: each
/// is told of a pause that ended with the call of any of them.
class Absence {
public:
  /// Returns when the last pause of half a second or more between two calls was
  /// over: 0 where there was none. `nowNs` is of one clock for all threads.
  int64_t lastReturnNs(int64_t nowNs);
  /// The time up to now was no pause.
  void wasHere(int64_t nowNs);

private:
  std::atomic<int64_t> seenNs{0}, returnedNs{0};
};

/// Of this process. Called at `nowNs` by whoever looks after ranks, ten times a
/// second where any are waited for: waits are counted from what it returns.
int64_t lastReturnNs(int64_t nowNs);

/// For whoever was held up by the system, not stopped: it asked for a long time
/// (a name's address) without looking here.
void wasHere(int64_t nowNs);

/// How long a wait may last: while this process runs, after its last pause.
/// Whoever waits asks what is left, ten times a second. Who asks more seldom
/// than every half second looks like a process that was stopped; such a wait
/// ends as well, since no wait begins anew more than mostPauses times.
class WaitLimit {
public:
  explicit WaitLimit(int64_t ns);
  /// 0 or less: the wait is over.
  int64_t leftNs();

  /// With a clock of the caller's own.
  WaitLimit(int64_t ns, Absence &absence, int64_t nowNs);
  int64_t leftNs(int64_t nowNs);

  static constexpr int mostPauses = 16;

private:
  Absence *absence;
  int64_t lengthNs, startNs;
  int numPauses = 0;
};

} // namespace shardrt

#endif // SHARDRT_HOST_ABSENCE_H
