//===- LocalComm.h - Ranks as threads that share memory ---------*- C++ -*-===//
//
// Nothing is staged: a post publishes the address of a buffer, and readers copy
// out of it. A rank that has to wait spins shortly, then sleeps on a bell of
// its own, which others ring; with more ranks than cores it yields instead of
// spinning.
//
// A rank is in one of these states, and always leaves it: the rank it waits for
// posts or closes, or the group fails. Proof that equal orders cannot hang: the
// least unfinished sequence number has all its posts, or some rank is still on
// its way to it, waiting for nothing later.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_LOCAL_LOCALCOMM_H
#define SHARDRT_COMM_LOCAL_LOCALCOMM_H

#include "Comm/Comm.h"
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace shardrt {

/// Why a step failed, as each rank tells it.
struct Failure {
  int status = 0;
  int64_t rank = -1;    ///< the one that failed first
  std::string text;     ///< what it says
  int64_t peer = -1;    ///< the other side of a mismatch
  std::string peerText; ///< what that one says
};

class LocalComm;

/// The ranks of one world.
class LocalGroup {
public:
  struct Options {
    int64_t timeoutNs = 0; ///< 0: no watchdog
    bool checked = true;
    uint64_t yieldSeed = 0;
  };
  /// `describe` names a site for messages: `halo_exchange #3`, with its
  /// location if the second argument is true.
  LocalGroup(int64_t ranks, Options options,
             std::function<std::string(int64_t, bool)> describe);
  ~LocalGroup();

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  LocalComm &rank(int64_t i) { return *ranks[i]; }

  /// Ends the step for everybody with the first failure that is reported.
  void fail(Failure failure);
  bool failed() const { return failedFlag.load(std::memory_order_acquire); }
  Failure failure() const;
  /// Before a run, while no rank is inside a step.
  void reset();
  /// Called from time to time during a run: lets ranks that have waited long
  /// look again, and fails the step when one has waited too long.
  void patrol();

private:
  friend class LocalComm;
  void reportTimeout(int64_t now);

  Options options;
  std::function<std::string(int64_t, bool)> describe;
  std::vector<std::unique_ptr<LocalComm>> ranks;
  unsigned spins, yields; ///< before a rank that waits goes to sleep
  std::atomic<bool> failedFlag{false};
  mutable std::mutex mutex; ///< guards firstFailure
  Failure firstFailure;
};

class alignas(128) LocalComm final : public Comm {
public:
  LocalComm(LocalGroup &group, int64_t number);

  bool post(Call call, const void *data, std::span<const int64_t> readers,
            Ticket &ticket) override;
  void skip() override { ++sequence; }
  bool ready(const Ticket &ticket, int64_t peer) override;
  bool open(const Ticket &ticket, int64_t peer,
            const std::byte *&data) override;
  int64_t postedAt(const Ticket &ticket, int64_t peer) override;
  void close(const Ticket &ticket, int64_t peer) override;
  bool finish(const Ticket &ticket, std::span<const int64_t> readers) override;
  int64_t waited() const override { return waitedNs; }
  void fail(int status, const std::string &text) override;
  int status() const override;
  void settle() override;

  /// The rank enters or leaves its step. All posts must be finished when it
  /// leaves. False: the step has failed.
  void enterStep();
  bool leaveStep();
  /// A barrier of the whole group; `last` is called by whoever comes last.
  bool barrier(std::atomic<int64_t> &arrived, std::atomic<int64_t> &generation,
               const std::function<void()> &last);

private:
  friend class LocalGroup;
  static constexpr int64_t numSlots = 16;
  static constexpr int64_t historySize = 64;
  /// What `awaits` holds besides the number of a rank.
  enum : int64_t { Nobody = -1, Readers = -2, Everybody = -3 };

  /// A posted buffer. `stamp` is written last and read first: the sequence
  /// number in the high half, a hash of the call in the low one.
  struct alignas(64) Slot {
    std::atomic<uint64_t> stamp{0};
    std::atomic<const void *> data{nullptr};
    std::atomic<int64_t> postedNs{0};
    std::atomic<int64_t> unread{0};
  };
  /// What a past post was about, for messages and the check of readers.
  struct Past {
    std::atomic<int64_t> sequence{0};
    std::atomic<int64_t> site{0};
    std::atomic<int64_t> count{0};
  };

  template <typename Done, typename Look>
  bool wait(int64_t whom, const Ticket &ticket, Done done, Look look);
  /// False, and the step fails, if `peer` was, at this place, about something
  /// else.
  bool agrees(const Ticket &ticket, int64_t peer);
  bool disagree(const Ticket &ticket, int64_t peer, const std::string &other);
  /// Wakes this rank, if it sleeps, to look again.
  void ring();
  void jitter();
  bool mayUse(uint64_t stamp, const Ticket &ticket) const;
  std::string tell(const Call &call) const;

  LocalGroup &group;
  const int64_t number;

  // Written by this rank, read by others.
  std::array<Slot, numSlots> slots;
  std::array<Past, historySize> past;
  std::atomic<int64_t> posted{0};
  std::atomic<int64_t> stepsLeft{0}; ///< how many it has come to the end of
  std::atomic<int64_t> awaits{Nobody};
  std::atomic<int64_t> awaitsSince{0}; ///< nanoseconds; 0: it does not wait
  std::atomic<int64_t> awaitsSite{-1};
  std::atomic<int64_t> lastSite{-1};
  std::atomic<bool> reading{false}; ///< it holds posts of others open

  // Rung by others.
  alignas(64) std::atomic<int> bell{0};

  // This rank's own.
  alignas(64) int64_t sequence = 0;
  int64_t numOpen = 0; ///< posts of others that it holds open
  uint32_t busySlots = 0;
  int64_t waitedNs = 0;
  uint64_t random = 0;
};

} // namespace shardrt

#endif // SHARDRT_COMM_LOCAL_LOCALCOMM_H
