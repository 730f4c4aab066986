//===- Comm.h - What a transport gives to collectives -----------*- C++ -*-===//
//
// Collectives are written once, over four calls of a rank:
//
//   post     shows a buffer to the ranks that read it
//   open     waits until a peer has posted in the same collective
//   close    says that its buffer has been read
//   finish   waits until all readers have closed mine
//
// All ranks post in the same order. The n-th post of one rank belongs to the
// n-th of every other, and open compares what the two are about: a program
// whose ranks disagree gets an error on both sides, not a wrong result or a
// hang.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_COMM_H
#define SHARDRT_COMM_COMM_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace shardrt {

struct BoxCopy;

/// What a rank is about when it posts: the site, and the number of elements
/// where the site does not say it.
struct Call {
  int64_t site = 0;
  int64_t count = 0;
};

/// Site `site` of program number `program`, as ranks show it to one another
/// where programs have numbers.
constexpr int siteBits = 24;
constexpr int64_t siteOf(int64_t program, int64_t site) {
  return program == 0 ? site : (program << siteBits) + site + 1;
}

/// What one reader reads of a posted buffer: for transports that carry it
/// there.
struct Piece {
  // Bytes of the buffer, in one run.
  int64_t offset = 0;
  int64_t bytes = 0;
  /// Or boxes of it, one behind the other: destination offsets and strides are
  /// those in the message, of `bytes` bytes.
  const std::vector<BoxCopy> *boxes = nullptr;
};

/// A buffer about to be posted.
struct Posted {
  const void *data = nullptr;
  int64_t bytes = 0;
  /// One for each reader; none: everybody reads all of it.
  std::span<const Piece> pieces = {};
};

/// A post that is under way.
struct Ticket {
  int64_t sequence = 0; ///< from 1; 0: none
  int64_t slot = 0;
  Call call;
  Call shown; ///< the same as other ranks see it: siteOf()
};

/// One rank's end of a transport. Functions that return false have recorded why
/// the step failed; the collective then returns at once.
class Comm {
public:
  virtual ~Comm() = default;

  /// Which program the rank runs, where several share one group;
  /// else 0. Ranks that run different ones disagree at their first post.
  int64_t program = 0;

  /// Whether buffers travel to their readers, which then get what their Piece
  /// says: boxes in the layout of the message, a run at its place.
  virtual bool packs() const { return false; }

  /// Shows a buffer to `readers` (ranks, this one not among them). It must not
  /// change before finish().
  virtual bool post(Call call, const Posted &posted,
                    std::span<const int64_t> readers, Ticket &ticket) = 0;
  /// Counts a post that this rank's group can do without, where another group
  /// may not: posts stay in step across groups.
  virtual void skip() = 0;
  /// Whether open() would return without waiting.
  virtual bool ready(const Ticket &ticket, int64_t peer) = 0;
  virtual bool open(const Ticket &ticket, int64_t peer,
                    const std::byte *&data) = 0;
  /// When the peer posted (nowNs of this machine), between open() and close().
  virtual int64_t postedAt(const Ticket &ticket, int64_t peer) = 0;
  virtual void close(const Ticket &ticket, int64_t peer) = 0;
  virtual bool finish(const Ticket &ticket,
                      std::span<const int64_t> readers) = 0;
  /// Nanoseconds waited so far.
  virtual int64_t waited() const = 0;

  /// Ends the step on all ranks, with this rank's `text`, unless it has failed
  /// already.
  virtual void fail(int status, const std::string &text) = 0;
  /// After a failure: waits until no rank reads any longer, so that buffers may
  /// go away. Lasts as long as a copy that is under way.
  virtual void settle() = 0;
  /// `done`; where it is false, settles: what the caller shows to others lies
  /// in its own frame, which it is about to leave.
  bool settleUnless(bool done) {
    if (!done)
      settle();
    return done;
  }
  /// What the step has failed with; 0 if it has not.
  virtual int status() const = 0;

  /// The rank enters or leaves its step. All posts must be finished when it
  /// leaves. False: the step has failed.
  virtual void enterStep() = 0;
  virtual bool leaveStep() = 0;
  /// Waits until all ranks have reached this barrier; with a `lead` of 1, to
  /// the one before it: then ranks may be a step apart, and who has had news of
  /// the others since does not wait. All ranks give the same lead.
  virtual bool barrier(int64_t lead) = 0;
};

/// Why a step failed, as each rank reports it.
struct Failure {
  int status = 0;
  int64_t rank = -1;    ///< the one that failed first
  std::string text;     ///< what it says; empty where it had no memory for it
  int64_t peer = -1;    ///< the other side of a mismatch
  std::string peerText; ///< what that one says

  /// `text`, or what is known without.
  std::string said() const {
    if (!text.empty() || status == 0)
      return text;
    return "rank " + std::to_string(rank) + ": out of memory in the runtime";
  }
};

/// The ranks of one world, as far as this process can do something about them.
class Group {
public:
  virtual ~Group() = default;

  virtual int64_t size() const = 0;
  /// The end of rank `i`, which is one of this process.
  virtual Comm &rank(int64_t i) = 0;
  /// Memory that other ranks read in place, where they share none otherwise;
  /// else NULL.
  virtual class Segment *segment() { return nullptr; }

  /// Ends the step for everybody with the first failure that is reported.
  virtual void fail(Failure failure) = 0;
  virtual bool failed() const = 0;
  virtual Failure failure() const = 0;
  /// Before a run, while no rank is inside a step. False: after this failure
  /// there cannot be another run.
  virtual bool reset() = 0;
  /// Called from time to time during a run: lets ranks that have waited long
  /// look again, and fails the step when one has waited too long, which counts
  /// from `sinceNs` (nowNs) on, or is gone.
  virtual void patrol(int64_t sinceNs) = 0;
  /// Ranks of this process take part in no run any more: others that wait for
  /// them need not. What was posted stays.
  virtual void leave() {}
};

/// What watches over a group's waits.
struct GroupOptions {
  int64_t timeoutNs = 0; ///< 0: no watchdog
  bool checked = true;
  uint64_t yieldSeed = 0;
};

/// Names a site for messages: `halo_exchange #3`, with its location if the
/// second argument is true.
using DescribeSite = std::function<std::string(int64_t, bool)>;

} // namespace shardrt

#endif // SHARDRT_COMM_COMM_H
