//===- LocalComm.cpp - Ranks that share memory ----------------------------===//
//
// Two atomics carry each direction: a slot's stamp from writer to readers, its
// count of readers left from readers to writer. Wake-ups only end a sleep,
// they carry nothing; one too many costs time, never correctness.
//
//===----------------------------------------------------------------------===//

#include "Comm/Local/LocalComm.h"
#include "Comm/Shared/Process.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "Host/Cores.h"
#include "Host/Spin.h"
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>
#include <unistd.h>

using namespace shardrt;

/// Of a rank that said no goodbye.
static constexpr const char *diedEarly =
    "is gone: its process ended, or was ended, before the others";

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t stampOf(const Ticket &ticket) {
  uint64_t call =
      mix(static_cast<uint64_t>(ticket.shown.site) * 0x9e3779b97f4a7c15u +
          static_cast<uint64_t>(ticket.shown.count));
  return static_cast<uint64_t>(ticket.sequence) << 32 | (call & 0xffffffff);
}

//===----------------------------------------------------------------------===//
// LocalGroup
//===----------------------------------------------------------------------===//

LocalGroup::LocalGroup(int64_t size, GroupOptions options,
                       DescribeSite describe)
    : numRanks(size), options(options), describe(std::move(describe)),
      ownBoards(new Board[size]), ownCommon(new GroupBoard()),
      ownRecord(new FailureRecord), boards(ownBoards.get()),
      common(ownCommon.get()), records(ownRecord.get()) {
  prepare();
  for (int64_t i = 0; i < size; ++i)
    ranks.push_back(std::make_unique<LocalComm>(*this, i));
}

LocalGroup::LocalGroup(Shared given, GroupOptions options,
                       DescribeSite describe)
    : numRanks(static_cast<int64_t>(given.others.size())), options(options),
      describe(std::move(describe)), shared(std::move(given)),
      boards(reinterpret_cast<Board *>(shared.boards->data())),
      common(reinterpret_cast<GroupBoard *>(boards + numRanks)),
      records(reinterpret_cast<FailureRecord *>(common + 1)) {
  prepare();
  ranks.resize(numRanks);
  ranks[shared.rank] = std::make_unique<LocalComm>(*this, shared.rank);
  board(shared.rank).process.store(getpid());
  shared.boards->hold(shared.rank);
}

void LocalGroup::lend(const GroupOptions &to, const DescribeSite &how) {
  options = to;
  describe = how;
  for (auto &rank : ranks) {
    rank->mine.lastSite.store(-1, std::memory_order_relaxed);
    rank->begin();
  }
}

void LocalGroup::prepare() {
  // What a process may use says nothing of the cores that others are bound to.
  hasCores = numRanks <=
             (isShared() ? std::max(1u, std::thread::hardware_concurrency())
                         : countCores());
}

LocalGroup::~LocalGroup() { leave(); }

void LocalGroup::leave() {
  if (isShared())
    board(shared.rank).hasLeft.store(true);
}

int64_t LocalGroup::bytesOfBoards(int64_t ranks) {
  return ranks * static_cast<int64_t>(sizeof(Board) + sizeof(FailureRecord)) +
         static_cast<int64_t>(sizeof(GroupBoard));
}

void LocalGroup::beginBoards(Segment &boards, int64_t ranks, uint64_t job) {
  auto *at = reinterpret_cast<Board *>(boards.data());
  for (int64_t i = 0; i < ranks; ++i)
    new (at + i) Board();
  auto *common = new (at + ranks) GroupBoard();
  common->job = job;
  common->ranks = ranks;
}

bool LocalGroup::areBoards(const Segment &boards, int64_t ranks, uint64_t job) {
  auto *common = reinterpret_cast<const GroupBoard *>(
      reinterpret_cast<const Board *>(boards.data()) + ranks);
  return common->magic == GroupBoard::magicWord && common->job == job &&
         common->ranks == ranks;
}

Comm &LocalGroup::rank(int64_t i) { return *ranks[i]; }

static void store(char *to, size_t size, const std::string &text) {
  size_t length = std::min(size - 1, text.size());
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

void LocalGroup::fail(Failure failure) {
  // The first has the word. A process writes into its own record and then says
  // that this is the one, so that one that stands still or ends on the way
  // keeps nobody waiting. It stands when this returns: who leaves its step is
  // to find why.
  {
    std::lock_guard<std::mutex> alone(failing);
    if (failed())
      return;
    int64_t own = isShared() ? shared.rank : 0;
    FailureRecord &record = records[own];
    record.status = failure.status;
    record.rank = failure.rank;
    record.peer = failure.peer;
    store(record.text, sizeof(record.text), failure.text);
    store(record.peerText, sizeof(record.peerText), failure.peerText);
    int none = 0;
    if (!common->failed.compare_exchange_strong(none, static_cast<int>(own) + 1,
                                                std::memory_order_seq_cst))
      return;
  }
  for (int64_t i = 0; i < numRanks; ++i)
    ring(board(i));
}

Failure LocalGroup::failure() const {
  int which = common->failed.load(std::memory_order_acquire);
  if (which == 0)
    return {};
  const FailureRecord &record = records[which - 1];
  return {record.status, record.rank, record.text, record.peer,
          record.peerText};
}

bool LocalGroup::reset() {
  if (isShared())
    return !failed();
  if (!failed())
    return true;
  for (std::atomic<int64_t> &arrived : common->arrived)
    arrived.store(0);
  common->complete.store(0);
  for (auto &rank : ranks) {
    Board &mine = rank->mine;
    for (Board::Slot &slot : mine.slots) {
      slot.stamp.store(0);
      slot.unread.store(0);
    }
    for (Board::Past &past : mine.past)
      past.sequence.store(0);
    mine.posted.store(0);
    mine.awaits.store(Board::Nobody);
    mine.awaitsSince.store(0);
    mine.stepsLeft.store(0);
    mine.leftAt.store(0);
    mine.reading.store(false);
    rank->forget();
  }
  common->failed.store(0);
  return true;
}

void LocalGroup::ring(Board &board) const {
  board.wakeUps.fetch_add(1, std::memory_order_seq_cst);
  wakeAll(board.wakeUps);
}

void LocalGroup::sleep(Board &board, int seen) const {
  sleepOn(board.wakeUps, seen);
}

void LocalGroup::patrol(int64_t sinceNs) {
  // A wake-up in vain is cheap at this pace, and lets each rank that waits
  // find out that its peers went elsewhere.
  int64_t now = nowNs();
  sinceNs = std::max(sinceNs, lastReturnNs(now));
  bool late = false;
  for (int64_t i = 0; i < numRanks; ++i) {
    if (isShared() && !failed() && isGone(i))
      reportGone(i, diedEarly);
    int64_t since = board(i).awaitsSince.load(std::memory_order_acquire);
    if (since == 0)
      continue;
    if (ranks[i])
      ring(board(i));
    late |= options.timeoutNs > 0 &&
            now - std::max(since, sinceNs) > options.timeoutNs;
  }
  if (late && !failed())
    reportTimeout(now);
}

std::string LocalGroup::describeWaits(int64_t now, int64_t &longestRank) const {
  std::string waiting, missing;
  int64_t longest = -1;
  for (int64_t i = 0; i < numRanks; ++i) {
    const Board &rank = board(i);
    int64_t since = rank.awaitsSince.load(std::memory_order_acquire);
    int64_t site = rank.awaitsSite.load(std::memory_order_relaxed);
    int64_t whom = rank.awaits.load(std::memory_order_relaxed);
    // It may have been stopped while it waited.
    int64_t process = rank.process.load(std::memory_order_relaxed);
    bool isStopped = process != 0 && stateOf(process).isStopped();
    if (since == 0 || isStopped) {
      int64_t last = rank.lastSite.load(std::memory_order_relaxed);
      missing += "\nmissing: rank " + std::to_string(i) +
                 (isStopped ? " (process " + std::to_string(process) +
                                  "), which is stopped"
                            : std::string()) +
                 (last < 0 ? std::string(", before its first collective")
                           : ", last seen in " + describe(last, true));
      continue;
    }
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%.1f s",
                  static_cast<double>(now - since) * 1e-9);
    waiting += "\nrank " + std::to_string(i) + " waits for " + seconds;
    if (whom == Board::Everybody || site < 0)
      waiting += " at the end of its step";
    else
      waiting += " in " + describe(site, true) +
                 (whom >= 0 ? " for rank " + std::to_string(whom)
                            : std::string(" for its readers"));
    if (longest < now - since) {
      longest = now - since;
      longestRank = i;
    }
  }
  return missing + waiting;
}

void LocalGroup::reportTimeout(int64_t now) {
  int64_t first = -1;
  std::string waits = describeWaits(now, first);
  char limit[64];
  std::snprintf(limit, sizeof(limit), "watchdog: no progress for %.3g s",
                static_cast<double>(options.timeoutNs) * 1e-9);
  fail({5, first, limit + waits, -1, {}});
}

int64_t LocalGroup::findLeft(int64_t whom, int64_t waiter,
                             int64_t barrier) const {
  if (!isShared() || whom == Board::Readers)
    return -1;
  for (int64_t i = 0; i < numRanks; ++i)
    if (i != waiter && (whom < 0 || whom == i) && board(i).hasLeft.load() &&
        (whom != Board::Everybody || board(i).barriers.load() < barrier))
      return i;
  return -1;
}

bool LocalGroup::isGone(int64_t rank) const {
  // Whether it says goodbye is read last: it may do so, and end, meanwhile.
  return rank != shared.rank && !shared.boards->isHeld(rank) &&
         !board(rank).hasLeft.load();
}

void LocalGroup::reportLeft(int64_t rank) {
  // It may have left because it found the end of another one.
  for (int64_t i = 0; i < numRanks; ++i)
    if (isGone(i))
      return reportGone(i, diedEarly);
  reportGone(rank, "has left the job before the others");
}

void LocalGroup::reportGone(int64_t rank, const std::string &how) {
  int64_t last = board(rank).lastSite.load();
  std::string text =
      "rank " + std::to_string(rank) + " (process " +
      std::to_string(board(rank).process.load()) + ") " + how +
      (last < 0 ? std::string("; it had come to no collective yet")
                : "; last seen in " + describe(last, true));
  for (int64_t i = 0; i < numRanks; ++i) {
    int64_t site = board(i).awaitsSite.load();
    if (i != rank && board(i).awaitsSince.load() != 0 && site >= 0)
      text +=
          "\nrank " + std::to_string(i) + " waits in " + describe(site, false);
  }
  fail({4, rank, text, -1, {}});
}

//===----------------------------------------------------------------------===//
// Waiting and waking
//===----------------------------------------------------------------------===//

LocalComm::LocalComm(LocalGroup &group, int64_t number)
    : group(group), number(number), mine(group.board(number)) {
  begin();
}

void LocalComm::begin() {
  uint64_t seed = group.options.yieldSeed;
  random = seed ? mix(seed + static_cast<uint64_t>(number)) : 0;
}

void LocalComm::forget() {
  sequence = 0;
  barriers = 0;
  numOpen = 0;
  busySlots = 0;
}

/// At random places, gives the core away or sleeps: tests only.
void LocalComm::jitter() {
  if (random == 0)
    return;
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  if (random % 4 == 0)
    std::this_thread::yield();
  else if (random % 64 == 1)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

template <typename Done> bool LocalComm::spin(Done done) {
  // With a core for each rank the other side is about to act. It may sit on
  // this very core all the same, where spinning keeps it from acting: soon give
  // the core away instead, a few times. Without one it is given away at once,
  // to those that have work.
  for (int i = 0; group.hasCores && i < 50; ++i) {
    relaxCore();
    if (done())
      return true;
  }
  // Somebody else has work here: it would get the core for milliseconds.
  if (crowded > 0) {
    --crowded;
    return false;
  }
  // Without a core of their own other ranks may have it that long.
  int64_t usual = group.hasCores ? 20'000 : 1'000'000, before = nowNs();
  for (int i = 0; i < (group.hasCores ? 30 : 4); ++i) {
    std::this_thread::yield();
    int64_t now = nowNs();
    // Also where it is done meanwhile: all the sooner after so long.
    if (now - before > usual) {
      crowded = crowdedNext;
      crowdedNext = std::min<int64_t>(crowdedNext * 2, 4096);
    }
    if (done()) {
      if (crowded == 0)
        crowdedNext = 64;
      return true;
    }
    if (crowded > 0)
      return false;
    before = now;
  }
  return false;
}

/// Waits until `done()`; `whom` is the rank that it depends on. `look()` is
/// asked before each sleep and ends the wait by returning false.
template <typename Done, typename Look>
bool LocalComm::wait(int64_t whom, const Ticket &ticket, Done done, Look look) {
  if (done())
    return true;
  int64_t start = nowNs();
  bool result = false;
  if (spin(done)) {
    result = true;
  } else {
    mine.awaitsSite.store(ticket.shown.site, std::memory_order_relaxed);
    mine.awaits.store(whom, std::memory_order_seq_cst);
    mine.awaitsSince.store(start, std::memory_order_release);
    while (true) {
      // The counter is read before the condition: a wake-up in between is seen.
      int seen = mine.wakeUps.load(std::memory_order_seq_cst);
      // … and before it, who has left: what they did first is seen as well.
      int64_t left = group.findLeft(whom, number, ticket.sequence);
      if (done()) {
        result = true;
        break;
      }
      if (left >= 0 && !group.failed())
        group.reportLeft(left);
      if (group.failed() || !look())
        break;
      group.sleep(mine, seen);
      // Between runs nobody else looks after the group.
      if (group.isShared() && nowNs() - start > 100'000'000)
        group.patrol(0);
    }
    mine.awaits.store(Board::Nobody, std::memory_order_seq_cst);
    mine.awaitsSince.store(0, std::memory_order_release);
  }
  waitedNs += nowNs() - start;
  return result;
}

//===----------------------------------------------------------------------===//
// Posts
//===----------------------------------------------------------------------===//

bool LocalComm::post(Call about, const Posted &posted,
                     std::span<const int64_t> readers, Ticket &ticket) {
  jitter();
  ticket = Ticket();
  Call call = {siteOf(program, about.site), about.count};
  if (group.failed())
    return false;
  // All ranks start and finish in the same order: they take the same slot.
  int64_t index = std::countr_one(busySlots);
  if (index >= Board::numSlots) {
    fail(2, "more than " + std::to_string(Board::numSlots) +
                " collectives are under way in " +
                group.describe(call.site, true));
    return false;
  }
  const void *data = posted.data;
  auto place = reinterpret_cast<uint64_t>(data);
  if (Segment *segment = group.segment()) {
    place = 0;
    if (data && posted.bytes > 0 && !readers.empty()) {
      if (!segment->contains(data, posted.bytes)) {
        void *copy = segment->allocate(posted.bytes);
        if (!copy) {
          fail(9, group.describe(call.site, true) + ": no shared memory for " +
                      std::to_string(posted.bytes) + " bytes");
          return false;
        }
        std::memcpy(copy, data, posted.bytes);
        staged[index] = copy;
        data = copy;
      }
      place = static_cast<const std::byte *>(data) - segment->data();
    }
  }
  busySlots |= 1u << index;
  ticket = {++sequence, index, about, call};
  mine.lastSite.store(call.site, std::memory_order_relaxed);
  Board::Past &entry = mine.past[sequence % Board::historySize];
  entry.sequence.store(0, std::memory_order_relaxed);
  entry.site.store(call.site, std::memory_order_release);
  entry.count.store(call.count, std::memory_order_release);
  entry.sequence.store(sequence, std::memory_order_release);

  Board::Slot &slot = mine.slots[index];
  slot.place.store(place, std::memory_order_relaxed);
  slot.unread.store(static_cast<int64_t>(readers.size()),
                    std::memory_order_relaxed);
  slot.postedNs.store(nowNs(), std::memory_order_relaxed);
  slot.stamp.store(stampOf(ticket), std::memory_order_seq_cst);
  mine.posted.store(sequence, std::memory_order_seq_cst);
  jitter();
  for (int64_t reader : readers)
    if (Board &peer = group.board(reader);
        peer.awaits.load(std::memory_order_seq_cst) == number)
      group.ring(peer);
  return true;
}

/// Whether a slot with this stamp holds the peer's part of `ticket`.
bool LocalComm::mayUse(uint64_t stamp, const Ticket &ticket) const {
  uint64_t expected = stampOf(ticket);
  return group.options.checked ? stamp == expected
                               : stamp >> 32 == expected >> 32;
}

bool LocalComm::ready(const Ticket &ticket, int64_t peer) {
  return mayUse(group.board(peer).slots[ticket.slot].stamp.load(
                    std::memory_order_acquire),
                ticket);
}

bool LocalComm::open(const Ticket &ticket, int64_t peer,
                     const std::byte *&data) {
  jitter();
  Board::Slot &slot = group.board(peer).slots[ticket.slot];
  bool arrived = wait(
      peer, ticket,
      [&] {
        return mayUse(slot.stamp.load(std::memory_order_seq_cst), ticket);
      },
      [&] { return agrees(ticket, peer); });
  if (!arrived)
    return false;
  // Either this rank sees the failure here, or whoever leaves because of it
  // sees that this rank is reading, and stays.
  if (numOpen++ == 0)
    mine.reading.store(true, std::memory_order_seq_cst);
  if (group.common->failed.load(std::memory_order_seq_cst) != 0) {
    if (--numOpen == 0)
      mine.reading.store(false, std::memory_order_release);
    return false;
  }
  uint64_t place = slot.place.load(std::memory_order_relaxed);
  data = group.isShared() ? group.shared.others[peer]->data() + place
                          : reinterpret_cast<const std::byte *>(place);
  return true;
}

int64_t LocalComm::postedAt(const Ticket &ticket, int64_t peer) {
  return group.board(peer).slots[ticket.slot].postedNs.load(
      std::memory_order_relaxed);
}

void LocalComm::close(const Ticket &ticket, int64_t peer) {
  jitter();
  if (--numOpen == 0)
    mine.reading.store(false, std::memory_order_release);
  Board &owner = group.board(peer);
  Board::Slot &slot = owner.slots[ticket.slot];
  if (slot.unread.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      owner.awaits.load(std::memory_order_seq_cst) == Board::Readers)
    group.ring(owner);
}

bool LocalComm::finish(const Ticket &ticket, std::span<const int64_t> readers) {
  jitter();
  Board::Slot &slot = mine.slots[ticket.slot];
  bool done = wait(
      Board::Readers, ticket,
      [&] { return slot.unread.load(std::memory_order_seq_cst) <= 0; },
      [&] {
        int64_t there = 0, left = -1;
        for (int64_t reader : readers) {
          if (!agrees(ticket, reader))
            return false;
          if (group.board(reader).hasLeft.load())
            left = reader;
          else
            ++there;
        }
        // More are to read it than are there.
        if (left >= 0 && slot.unread.load(std::memory_order_seq_cst) > there)
          group.reportLeft(left);
        return true;
      });
  busySlots &= ~(1u << ticket.slot);
  // After a failure somebody may still be reading it.
  if (void *&copy = staged[ticket.slot]; copy && done) {
    group.segment()->release(copy);
    copy = nullptr;
  }
  return done;
}

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

std::string LocalComm::describeCall(const Call &call) const {
  std::string text = group.describe(call.site, false);
  if (call.count != 0)
    text += " of " + std::to_string(call.count) + " elements";
  return text;
}

bool LocalComm::disagree(const Ticket &ticket, int64_t peer,
                         const std::string &theirs) {
  const Board &other = group.board(peer);
  // Where this rank has gone on to its next step, the other side waits for it
  // in the one that it left.
  bool hasLeft = other.stepsLeft.load(std::memory_order_seq_cst) <
                 this->mine.stepsLeft.load(std::memory_order_relaxed);
  std::string mine =
      hasLeft ? "the end of the step" : describeCall(ticket.shown);
  std::string me = "rank " + std::to_string(number);
  std::string them = "rank " + std::to_string(peer);
  group.fail({6, number, me + ": " + mine + " meets " + theirs + " of " + them,
              peer, them + ": " + theirs + " meets " + mine + " of " + me});
  return false;
}

bool LocalComm::agrees(const Ticket &ticket, int64_t peer) {
  if (!group.options.checked)
    return true;
  const Board &other = group.board(peer);
  // Whether it has left the step is read first: in that it posts nothing after.
  bool left = other.stepsLeft.load(std::memory_order_seq_cst) >
              mine.stepsLeft.load(std::memory_order_relaxed);
  if (left && other.leftAt.load(std::memory_order_relaxed) < ticket.sequence)
    return disagree(ticket, peer, "the end of the step");
  if (other.posted.load(std::memory_order_seq_cst) < ticket.sequence)
    return true;
  const Board::Past &entry = other.past[ticket.sequence % Board::historySize];
  // Too long ago to know; then it is not this that keeps us waiting.
  if (entry.sequence.load(std::memory_order_acquire) != ticket.sequence)
    return true;
  Call call = {entry.site.load(std::memory_order_acquire),
               entry.count.load(std::memory_order_acquire)};
  if (entry.sequence.load(std::memory_order_acquire) != ticket.sequence)
    return true;
  if (call.site == ticket.shown.site && call.count == ticket.shown.count)
    return true;
  return disagree(ticket, peer, describeCall(call));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void LocalComm::enterStep() {
  mine.lastSite.store(-1, std::memory_order_relaxed);
}

bool LocalComm::leaveStep() {
  if (busySlots != 0 && !group.failed())
    fail(6, "left its step before it waited for an exchange that it had "
            "started; its last was " +
                group.describe(mine.lastSite.load(std::memory_order_relaxed),
                               true));
  mine.leftAt.store(sequence, std::memory_order_relaxed);
  mine.stepsLeft.fetch_add(1, std::memory_order_seq_cst);
  return !group.failed();
}

void LocalComm::fail(int status, const std::string &text) {
  group.fail(
      {status, number, "rank " + std::to_string(number) + ": " + text, -1, {}});
}

void LocalComm::settle() {
  numOpen = 0;
  mine.reading.store(false, std::memory_order_release);
  // What other processes read is not what the caller leaves, unless it is in
  // the segment, which stays.
  if (group.isShared())
    return;
  for (int64_t i = 0; i < group.numRanks; ++i)
    while (group.board(i).reading.load(std::memory_order_seq_cst))
      std::this_thread::yield();
}

int LocalComm::status() const {
  return group.failed() ? group.failure().status : 0;
}

bool LocalComm::barrier(int64_t lead) {
  GroupBoard &common = *group.common;
  int64_t number = ++barriers;
  mine.barriers.store(number, std::memory_order_seq_cst);
  std::atomic<int64_t> &arrived = common.arrived[number % 2];
  if (arrived.fetch_add(1, std::memory_order_seq_cst) + 1 == group.size()) {
    arrived.store(0, std::memory_order_seq_cst);
    common.complete.store(number, std::memory_order_seq_cst);
    for (int64_t i = 0; i < group.numRanks; ++i)
      if (Board &rank = group.board(i);
          rank.awaits.load(std::memory_order_seq_cst) == Board::Everybody)
        group.ring(rank);
    return !group.failed();
  }
  Ticket none;
  none.sequence = number - lead;
  none.shown.site = -1;
  return wait(
      Board::Everybody, none,
      [&] {
        return common.complete.load(std::memory_order_seq_cst) >= number - lead;
      },
      [] { return true; });
}
