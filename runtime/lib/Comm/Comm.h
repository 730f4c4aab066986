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
#include <span>
#include <string>

namespace shardrt {

/// What a rank is about when it posts: the site, and the number of elements
/// where the site does not say it.
struct Call {
  int64_t site = 0;
  int64_t count = 0;
};

/// A post that is under way.
struct Ticket {
  int64_t sequence = 0; ///< from 1; 0: none
  int64_t slot = 0;
  Call call;
};

/// One rank's end of a transport. Functions that return false have recorded why
/// the step failed; the collective then returns at once.
class Comm {
public:
  virtual ~Comm() = default;

  /// Shows `data` to `readers` (ranks, this one not among them). It must not
  /// change before finish().
  virtual bool post(Call call, const void *data,
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
  /// What the step has failed with; 0 if it has not.
  virtual int status() const = 0;
};

} // namespace shardrt

#endif // SHARDRT_COMM_COMM_H
