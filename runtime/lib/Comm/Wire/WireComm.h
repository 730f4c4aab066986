//===- WireComm.h - Ranks that send one another messages --------*- C++ -*-===//
//
// A post sends to each reader what it reads, with a head that says what the
// post is about; opening waits for the message. A rank that waits long asks the
// one that it waits for, which answers by a failure if it is about something
// else, or has left the step. A process that ends without a goodbye fails the
// others.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_WIRE_WIRECOMM_H
#define SHARDRT_COMM_WIRE_WIRECOMM_H

#include "Comm/Comm.h"
#include "Comm/Wire/Carrier.h"
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shardrt {

/// The ranks of a world of processes, of which this is one: its group, and its
/// end at the same time.
class WireGroup final : public Group, public Comm, private Receiver {
public:
  WireGroup(int64_t rank, int64_t size, std::unique_ptr<Carrier> carrier,
            GroupOptions options, DescribeSite describe);
  ~WireGroup() override;

  // Group.
  int64_t size() const override { return numRanks; }
  Comm &rank(int64_t) override { return *this; }
  void fail(Failure failure) override;
  bool failed() const override { return hasFailed.load(); }
  Failure failure() const override;
  bool reset() override { return !failed(); }
  void patrol(int64_t sinceNs) override;
  void leave() override;

  // Comm.
  bool packs() const override { return true; }
  bool post(Call call, const Posted &posted, std::span<const int64_t> readers,
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
  void settle() override { carrier->detach(); }
  void enterStep() override;
  bool leaveStep() override;
  bool barrier(int64_t lead) override;

private:
  static constexpr int64_t numSlots = 16;
  static constexpr int64_t historySize = 256;
  enum : int64_t { Nobody = -1, Readers = -2, Everybody = -3 };
  struct Message {
    Call call;
    int64_t offset = 0;
    int64_t arrivedNs = 0;
    std::unique_ptr<std::byte[]> body;
  };
  struct Past {
    int64_t sequence = 0;
    Call call;
  };
  /// Where a rank is, as it reports to others.
  struct Where {
    int64_t awaits = Nobody, sinceNs = 0, awaitsSite = -1, lastSite = -1;
  };

  void deliver(int64_t peer, const Frame &frame,
               std::unique_ptr<std::byte[]> body) noexcept override;
  void sent() noexcept override;
  void lost(int64_t peer, const std::string &why) noexcept override;
  void starved(int64_t peer, int64_t bytes) noexcept override;

  void takeIn(int64_t peer, const Frame &frame,
              std::unique_ptr<std::byte[]> body);
  void sendLost(int64_t peer, const std::string &why);
  /// Sends a rank a failure, unless it is this one; `pending` as the
  /// carrier's.
  void sendFailure(int64_t peer, const std::string &bytes,
                   std::atomic<int64_t> *pending);
  /// Makes the step fail for want of memory, of which it needs next to none.
  void failForMemory() noexcept;

  template <typename Done>
  bool wait(int64_t whom, const Ticket &ticket, Done done);
  /// Caller holds the mutex, here and below.
  void compare(int64_t peer, const Frame &frame);
  void disagree(const Call &mine, int64_t peer, const std::string &other);
  bool take(Failure failure);
  /// A rank without which what this one waits for does not come, as it has
  /// said goodbye; -1: none. `barrier` is the one that it needs.
  int64_t findLeft(int64_t whom, int64_t barrier) const;
  std::string describeCall(const Call &call) const;
  std::string describePlace(int64_t rank, const Where &where) const;
  void askAround();
  /// On rank 0, which holds the mutex: somebody has reached barrier `number`;
  /// true if all have.
  bool arrive(int64_t number);
  /// On rank 0: releases a barrier that all have reached.
  void release(int64_t number, bool isUrgent);

  const int64_t me, numRanks;
  GroupOptions options;
  DescribeSite describe;
  std::unique_ptr<Carrier> carrier;

  mutable std::mutex mutex; ///< guards what follows, but for the rank's own
  std::vector<std::map<int64_t, Message>> inbox; ///< by peer and sequence
  std::array<Past, historySize> past;
  int64_t posted = 0, stepsLeft = 0;
  Where where;
  int64_t askedNs = 0; ///< when others were asked where they are; 0: not yet
  std::vector<std::unique_ptr<Where>> places; ///< by rank
  std::vector<bool> hasLeft;
  std::vector<int64_t> arrivals; ///< on rank 0: barriers, by rank
  // Barriers. On rank 0: how many have reached the even and the odd one that
  // is under way. Nobody is two ahead of another.
  int64_t arrived[2] = {0, 0};
  int64_t released = 0; ///< the last to which all have come
  Failure firstFailure;
  /// That this rank is out of memory, as it is sent to the others.
  const std::string outOfMemory;
  std::atomic<int64_t> unsentOutOfMemory{0};
  /// Found while the mutex was held, to be reported without it.
  Failure pendingMismatch;
  std::atomic<bool> hasFailed{false}, hasSaidGoodbye{false};

  // This rank's own.
  int64_t sequence = 0, barriers = 0;
  uint32_t busySlots = 0;
  std::array<std::atomic<int64_t>, numSlots> unsent = {};
  /// What messages are packed into, by slot.
  std::array<std::vector<std::unique_ptr<std::byte[]>>, numSlots> packedBodies;
  std::atomic<int64_t> waitedNs{0};
};

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_WIRECOMM_H
