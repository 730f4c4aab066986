//===- LocalComm.h - Ranks that share memory --------------------*- C++ -*-===//
//
// Ranks of one host: threads of a process, or processes. What a rank shows the
// others is its Board, plain words in memory that all of them see.
//
// Nothing is staged where all share their memory: a post publishes the place of
// a buffer, and readers copy out of it. Ranks that are processes see one
// another's Segment; a buffer that is elsewhere is copied there first. A rank
// that has to wait spins shortly, then sleeps on a counter of its own (a
// futex), which others ring; with more ranks than cores, or where other
// programs take them, it sleeps at once.
//
// A rank is in one of these states, and always leaves it: the rank it waits for
// posts or closes, or the group fails. Proof that equal orders cannot hang: the
// least unfinished sequence number has all its posts, or some rank is still on
// its way to it, waiting for nothing later. A process that ends lets go of its
// place in the segment of boards: the others see that and fail.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_LOCAL_LOCALCOMM_H
#define SHARDRT_COMM_LOCAL_LOCALCOMM_H

#include "Comm/Comm.h"
#include "Host/Segment.h"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace shardrt {

class LocalComm;

/// What a rank shows the others. Made of words that mean the same in every
/// process.
struct alignas(128) Board {
  static constexpr int64_t numSlots = 16;
  static constexpr int64_t historySize = 64;
  /// What `awaits` holds besides the number of a rank.
  enum : int64_t { Nobody = -1, Readers = -2, Everybody = -3 };

  /// A posted buffer. `stamp` is written last and read first: the sequence
  /// number in the high half, a hash of the call in the low one.
  struct alignas(64) Slot {
    std::atomic<uint64_t> stamp{0};
    std::atomic<uint64_t> place{0}; ///< address, or offset in the segment
    std::atomic<int64_t> postedNs{0};
    std::atomic<int64_t> unread{0};
  };
  /// What a past post was about, for messages and the check of readers.
  struct Past {
    std::atomic<int64_t> sequence{0};
    std::atomic<int64_t> site{0};
    std::atomic<int64_t> count{0};
  };

  std::array<Slot, numSlots> slots;
  std::array<Past, historySize> past;
  std::atomic<int64_t> posted{0};
  std::atomic<int64_t> stepsLeft{0}; ///< how many it has ended,
  std::atomic<int64_t> leftAt{0};    ///< and what it had posted by then
  std::atomic<int64_t> awaits{Nobody};
  std::atomic<int64_t> awaitsSince{0}; ///< nanoseconds; 0: it does not wait
  std::atomic<int64_t> awaitsSite{-1};
  std::atomic<int64_t> lastSite{-1};
  std::atomic<bool> reading{false}; ///< it holds posts of others open
  std::atomic<int64_t> process{0};  ///< its number, where ranks are processes
  std::atomic<bool> hasLeft{false}; ///< … and it has said goodbye,
  std::atomic<int64_t> barriers{0}; ///< how many it had reached before

  // Rung by others.
  alignas(64) std::atomic<int> wakeUps{0};
};

/// What one process says of the first failure that it knows. Nothing begins it:
/// its pages are no memory until somebody fails.
struct FailureRecord {
  int status;
  int64_t rank, peer;
  char text[1 << 16], peerText[4096];
};

/// What the group has in common. As many records follow it as processes.
struct GroupBoard {
  static constexpr uint64_t magicWord = 0x3274726472616873; // "shardrt2"
  uint64_t magic = magicWord;
  uint64_t job = 0; ///< identifies the job
  int64_t ranks = 0;
  // The barriers: how many have reached the even and the odd one that is
  // under way, and the last to which all have come. Nobody is two ahead of
  // another.
  alignas(64) std::atomic<int64_t> arrived[2] = {};
  alignas(64) std::atomic<int64_t> complete{0};
  /// 0, or one more than the number of the record of the first failure. Nobody
  /// writes into that one any more.
  std::atomic<int> failed{0};
};

/// The ranks of one world.
class LocalGroup final : public Group {
public:
  /// Ranks that are threads of this process.
  LocalGroup(int64_t ranks, GroupOptions options, DescribeSite describe);

  /// Memory that the processes of a host share, all of it mapped here.
  struct Shared {
    int64_t rank = 0; ///< of this process
    std::unique_ptr<Segment> boards;
    std::unique_ptr<Segment> mine;
    std::vector<std::unique_ptr<Segment>>
        others; ///< by rank; NULL for this one
  };
  /// Ranks that are processes.
  LocalGroup(Shared shared, GroupOptions options, DescribeSite describe);
  ~LocalGroup() override;

  /// Ranks that are threads: from here on they are those of another world, and
  /// report as it says. No rank is inside a step.
  void lend(const GroupOptions &to, const DescribeSite &how);

  /// Bytes of a segment of boards, and how its maker begins it.
  static int64_t bytesOfBoards(int64_t ranks);
  static void beginBoards(Segment &boards, int64_t ranks, uint64_t job);
  /// Whether `boards` is one that was begun so.
  static bool areBoards(const Segment &boards, int64_t ranks, uint64_t job);

  int64_t size() const override { return numRanks; }
  Comm &rank(int64_t i) override;
  Segment *segment() override { return shared.mine.get(); }
  void fail(Failure failure) override;
  bool failed() const override {
    return common->failed.load(std::memory_order_acquire) != 0;
  }
  Failure failure() const override;
  bool reset() override;
  void patrol(int64_t sinceNs) override;
  void leave() override;

private:
  friend class LocalComm;
  bool isShared() const { return shared.boards != nullptr; }
  Board &board(int64_t rank) const { return boards[rank]; }
  void ring(Board &board) const;
  void sleep(Board &board, int seen) const;
  void reportTimeout(int64_t now);
  /// Whether the process of another rank ended without a goodbye.
  bool isGone(int64_t rank) const;
  void reportGone(int64_t rank, const std::string &how);
  /// Reports a rank that said goodbye while others wait for it, or the one
  /// whose end may have made it leave.
  void reportLeft(int64_t rank);
  /// A rank without which what `waiter` waits for does not come, as it has said
  /// goodbye; -1: none. `barrier` is the one that it needs.
  int64_t findLeft(int64_t whom, int64_t waiter, int64_t barrier) const;
  /// Who waits, and where: lines for messages.
  std::string describeWaits(int64_t now, int64_t &longestRank) const;
  void prepare();

  const int64_t numRanks;
  GroupOptions options;
  DescribeSite describe;
  Shared shared; ///< empty where ranks are threads
  std::unique_ptr<Board[]> ownBoards;
  std::unique_ptr<GroupBoard> ownCommon;
  std::unique_ptr<FailureRecord> ownRecord;
  Board *boards = nullptr;
  GroupBoard *common = nullptr;
  FailureRecord *records = nullptr; ///< of each process
  std::mutex failing; ///< held by the thread of this process that fails
  std::vector<std::unique_ptr<LocalComm>> ranks; ///< NULL: of another process
  bool hasCores = false; ///< one for each rank: it may pay to wait awake
};

class alignas(128) LocalComm final : public Comm {
public:
  LocalComm(LocalGroup &group, int64_t number);
  /// Begins with the group's options.
  void begin();

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
  void settle() override;
  void enterStep() override;
  bool leaveStep() override;
  bool barrier(int64_t lead) override;

private:
  friend class LocalGroup;

  template <typename Done, typename Look>
  bool wait(int64_t whom, const Ticket &ticket, Done done, Look look);
  /// False, and the step fails, if `peer` was, at this place, about something
  /// else.
  bool agrees(const Ticket &ticket, int64_t peer);
  bool disagree(const Ticket &ticket, int64_t peer, const std::string &theirs);
  /// Waits awake for a few microseconds; true if `done()`.
  template <typename Done> bool spin(Done done);
  void jitter();
  bool mayUse(uint64_t stamp, const Ticket &ticket) const;
  std::string describeCall(const Call &call) const;
  void forget();

  LocalGroup &group;
  const int64_t number;
  Board &mine;

  int64_t sequence = 0;
  int64_t barriers = 0;
  int64_t crowded = 0;      ///< waits for which the core belongs to others
  int64_t crowdedNext = 64; ///< so many when they have it the next time
  int64_t numOpen = 0;      ///< posts of others that it holds open
  uint32_t busySlots = 0;
  /// Copies of buffers that others do not see, by slot.
  std::array<void *, Board::numSlots> staged = {};
  int64_t waitedNs = 0;
  uint64_t random = 0;
};

} // namespace shardrt

#endif // SHARDRT_COMM_LOCAL_LOCALCOMM_H
