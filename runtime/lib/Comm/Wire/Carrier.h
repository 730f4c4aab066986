//===- Carrier.h - What takes messages to other processes -------*- C++ -*-===//
//
// A frame is a head of fixed size and a body. Frames from one process to
// another arrive in the order in which they were sent; none is lost while both
// live. Who sends says when it wants to know that a body has been taken: until
// then it stays where it is.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_WIRE_CARRIER_H
#define SHARDRT_COMM_WIRE_CARRIER_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace shardrt {

struct Frame {
  static constexpr uint32_t magicWord = 0x46445253; // "SRDF"
  enum Kind : uint32_t {
    Post,    ///< a posted buffer, or the part of it that the peer reads
    Ask,     ///< "I wait for you at this place": the peer compares
    Locate,  ///< "where are you?", and
    Located, ///< the answer
    Fail,    ///< the step has failed
    Arrive,  ///< at the barrier of this sequence number; to rank 0
    Release, ///< of that barrier; from rank 0
    Leave    ///< goodbye
  };
  uint32_t magic = magicWord;
  uint32_t kind = Post;
  int64_t sequence = 0;
  int64_t site = 0;
  int64_t count = 0;
  int64_t offset = 0; ///< of the body in the posted buffer
  int64_t bytes = 0;  ///< of the body
};

/// Who takes frames that arrive: called by one thread at a time, which may be
/// one that waits. It throws nothing: no caller knows what to do.
class Receiver {
public:
  virtual ~Receiver() = default;
  virtual void deliver(int64_t peer, const Frame &frame,
                       std::unique_ptr<std::byte[]> body) noexcept = 0;
  /// A body that somebody waits for has been taken.
  virtual void sent() noexcept = 0;
  /// Nothing more comes from `peer`; `why` where that is known.
  virtual void lost(int64_t peer, const std::string &why) noexcept = 0;
  /// There is no memory for a message of `bytes` bytes from `peer`.
  virtual void starved(int64_t peer, int64_t bytes) noexcept = 0;
};

class Carrier {
public:
  virtual ~Carrier() = default;
  /// Begins to receive.
  virtual void start(Receiver &receiver) = 0;
  /// Sends a frame. `pending` counts frames whose bodies are not taken yet;
  /// NULL: the body is copied. Where it throws std::bad_alloc, nothing is sent.
  virtual void send(int64_t peer, const Frame &frame, const void *body,
                    std::atomic<int64_t> *pending) = 0;
  /// Sends a frame without a body, together with the next to that peer, or when
  /// this rank waits: nobody needs it earlier.
  virtual void sendLater(int64_t peer, const Frame &frame) {
    send(peer, frame, nullptr, nullptr);
  }
  /// Does what there is to do, without waiting.
  virtual void advance() = 0;
  /// Called by a rank that waits, again and again: does what there is to do,
  /// and where there is nothing waits for that, `ms` milliseconds at most.
  virtual void await(int64_t ms) = 0;
  /// Ends an await() that is under way.
  virtual void interrupt() {}
  /// Copies the bodies that wait to be sent: their owner is about to leave
  /// them.
  virtual void detach() = 0;
  /// Sends what there is to send, for `ms` milliseconds of this process at most
  /// (WaitLimit), and ends.
  virtual void stop(int64_t ms) = 0;
};

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_CARRIER_H
