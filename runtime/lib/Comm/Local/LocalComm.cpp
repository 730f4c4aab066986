//===- LocalComm.cpp - Ranks as threads that share memory -----------------===//
//
// Two atomics carry each direction: a slot's stamp from writer to readers, its
// count of readers left from readers to writer. Bells only end a sleep, they
// carry nothing; a bell that is rung too often costs time, never correctness.
//
//===----------------------------------------------------------------------===//

#include "Comm/Local/LocalComm.h"
#include "Core/Clock.h"
#include <bit>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace shardrt;

static void relaxCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t stampOf(const Ticket &ticket) {
  uint64_t call =
      mix(static_cast<uint64_t>(ticket.call.site) * 0x9e3779b97f4a7c15u +
          static_cast<uint64_t>(ticket.call.count));
  return static_cast<uint64_t>(ticket.sequence) << 32 | (call & 0xffffffff);
}

//===----------------------------------------------------------------------===//
// LocalGroup
//===----------------------------------------------------------------------===//

LocalGroup::LocalGroup(int64_t size, Options options,
                       std::function<std::string(int64_t, bool)> describe)
    : options(options), describe(std::move(describe)) {
  // With a core for each rank the other side is about to act: spin for a
  // microsecond or two. It may sit on this very core all the same, then
  // spinning keeps it from acting: soon give the core away instead, a few
  // times.
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  spins = size <= cores ? 50 : 0;
  yields = size <= cores ? 30 : 4;
  for (int64_t i = 0; i < size; ++i)
    ranks.push_back(std::make_unique<LocalComm>(*this, i));
}

LocalGroup::~LocalGroup() = default;

void LocalGroup::fail(Failure failure) {
  {
    std::lock_guard lock(mutex);
    if (failedFlag.load(std::memory_order_relaxed))
      return;
    firstFailure = std::move(failure);
    failedFlag.store(true, std::memory_order_seq_cst);
  }
  for (auto &rank : ranks)
    rank->ring();
}

Failure LocalGroup::failure() const {
  std::lock_guard lock(mutex);
  return firstFailure;
}

void LocalGroup::reset() {
  if (!failed())
    return;
  std::lock_guard lock(mutex);
  firstFailure = Failure();
  for (auto &rank : ranks) {
    for (LocalComm::Slot &slot : rank->slots) {
      slot.stamp.store(0);
      slot.unread.store(0);
    }
    for (LocalComm::Past &past : rank->past)
      past.sequence.store(0);
    rank->posted.store(0);
    rank->awaits.store(LocalComm::Nobody);
    rank->awaitsSince.store(0);
    rank->stepsLeft.store(0);
    rank->sequence = 0;
    rank->numOpen = 0;
    rank->reading.store(false);
    rank->busySlots = 0;
  }
  failedFlag.store(false);
}

void LocalGroup::patrol() {
  // A bell rung in vain is cheap at this pace, and lets each rank that waits
  // find out that its peers went elsewhere.
  int64_t now = nowNs();
  bool late = false;
  for (auto &rank : ranks) {
    int64_t since = rank->awaitsSince.load(std::memory_order_acquire);
    if (since == 0)
      continue;
    rank->ring();
    late |= options.timeoutNs > 0 && now - since > options.timeoutNs;
  }
  if (late && !failed())
    reportTimeout(now);
}

void LocalGroup::reportTimeout(int64_t now) {
  std::string waiting, missing;
  int64_t first = -1, longest = -1;
  for (auto &rank : ranks) {
    int64_t since = rank->awaitsSince.load(std::memory_order_acquire);
    int64_t site = rank->awaitsSite.load(std::memory_order_relaxed);
    int64_t whom = rank->awaits.load(std::memory_order_relaxed);
    if (since == 0) {
      int64_t last = rank->lastSite.load(std::memory_order_relaxed);
      missing += "\nmissing: rank " + std::to_string(rank->number) +
                 (last < 0 ? std::string(", before its first collective")
                           : ", last seen in " + describe(last, true));
      continue;
    }
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%.1f s",
                  static_cast<double>(now - since) * 1e-9);
    waiting += "\nrank " + std::to_string(rank->number) + " waits for " +
               std::string(seconds);
    if (whom == LocalComm::Everybody || site < 0)
      waiting += " at the end of its step";
    else
      waiting += " in " + describe(site, true) +
                 (whom >= 0 ? " for rank " + std::to_string(whom)
                            : std::string(" for its readers"));
    if (longest < now - since) {
      longest = now - since;
      first = rank->number;
    }
  }
  char limit[64];
  std::snprintf(limit, sizeof(limit), "watchdog: no progress for %.3g s",
                static_cast<double>(options.timeoutNs) * 1e-9);
  fail({5, first, limit + missing + waiting, -1, {}});
}

//===----------------------------------------------------------------------===//
// Waiting and waking
//===----------------------------------------------------------------------===//

LocalComm::LocalComm(LocalGroup &group, int64_t number)
    : group(group), number(number),
      random(group.options.yieldSeed
                 ? mix(group.options.yieldSeed + static_cast<uint64_t>(number))
                 : 0) {}

void LocalComm::ring() {
  bell.fetch_add(1, std::memory_order_seq_cst);
  bell.notify_all();
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

/// Waits until `done()`; `whom` is the rank that brings it about. `look()` is
/// asked before each sleep and ends the wait by returning false.
template <typename Done, typename Look>
bool LocalComm::wait(int64_t whom, const Ticket &ticket, Done done, Look look) {
  if (done())
    return true;
  int64_t start = nowNs();
  bool result = false;
  auto spin = [&] {
    for (unsigned i = 0; i < group.spins; ++i) {
      relaxCore();
      if (done())
        return true;
    }
    for (unsigned i = 0; i < group.yields; ++i) {
      std::this_thread::yield();
      if (done())
        return true;
    }
    return false;
  };
  if (spin()) {
    result = true;
  } else {
    awaitsSite.store(ticket.call.site, std::memory_order_relaxed);
    awaits.store(whom, std::memory_order_seq_cst);
    awaitsSince.store(start, std::memory_order_release);
    while (true) {
      // The bell is read before the condition: a ring in between is seen.
      int seen = bell.load(std::memory_order_seq_cst);
      if (done()) {
        result = true;
        break;
      }
      if (group.failed() || !look())
        break;
      bell.wait(seen, std::memory_order_seq_cst);
    }
    awaits.store(Nobody, std::memory_order_seq_cst);
    awaitsSince.store(0, std::memory_order_release);
  }
  waitedNs += nowNs() - start;
  return result;
}

//===----------------------------------------------------------------------===//
// Posts
//===----------------------------------------------------------------------===//

bool LocalComm::post(Call call, const void *data,
                     std::span<const int64_t> readers, Ticket &ticket) {
  jitter();
  ticket = Ticket();
  if (group.failed())
    return false;
  // All ranks start and finish in the same order: they take the same slot.
  int64_t index = std::countr_one(busySlots);
  if (index >= numSlots) {
    fail(2, "more than " + std::to_string(numSlots) +
                " collectives are under way in " +
                group.describe(call.site, true));
    return false;
  }
  busySlots |= 1u << index;
  ticket = {++sequence, index, call};
  lastSite.store(call.site, std::memory_order_relaxed);
  Past &entry = past[sequence % historySize];
  entry.sequence.store(0, std::memory_order_relaxed);
  entry.site.store(call.site, std::memory_order_release);
  entry.count.store(call.count, std::memory_order_release);
  entry.sequence.store(sequence, std::memory_order_release);

  Slot &slot = slots[index];
  slot.data.store(data, std::memory_order_relaxed);
  slot.unread.store(static_cast<int64_t>(readers.size()),
                    std::memory_order_relaxed);
  slot.postedNs.store(nowNs(), std::memory_order_relaxed);
  slot.stamp.store(stampOf(ticket), std::memory_order_seq_cst);
  posted.store(sequence, std::memory_order_seq_cst);
  jitter();
  for (int64_t reader : readers)
    if (LocalComm &peer = group.rank(reader);
        peer.awaits.load(std::memory_order_seq_cst) == number)
      peer.ring();
  return true;
}

/// Whether a slot with this stamp holds the peer's part of `ticket`.
bool LocalComm::mayUse(uint64_t stamp, const Ticket &ticket) const {
  uint64_t expected = stampOf(ticket);
  return group.options.checked ? stamp == expected
                               : stamp >> 32 == expected >> 32;
}

bool LocalComm::ready(const Ticket &ticket, int64_t peer) {
  return mayUse(
      group.rank(peer).slots[ticket.slot].stamp.load(std::memory_order_acquire),
      ticket);
}

bool LocalComm::open(const Ticket &ticket, int64_t peer,
                     const std::byte *&data) {
  jitter();
  Slot &slot = group.rank(peer).slots[ticket.slot];
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
    reading.store(true, std::memory_order_seq_cst);
  if (group.failedFlag.load(std::memory_order_seq_cst))
    return false;
  data =
      static_cast<const std::byte *>(slot.data.load(std::memory_order_relaxed));
  return true;
}

int64_t LocalComm::postedAt(const Ticket &ticket, int64_t peer) {
  return group.rank(peer).slots[ticket.slot].postedNs.load(
      std::memory_order_relaxed);
}

void LocalComm::close(const Ticket &ticket, int64_t peer) {
  jitter();
  if (--numOpen == 0)
    reading.store(false, std::memory_order_release);
  LocalComm &owner = group.rank(peer);
  Slot &slot = owner.slots[ticket.slot];
  if (slot.unread.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      owner.awaits.load(std::memory_order_seq_cst) == Readers)
    owner.ring();
}

bool LocalComm::finish(const Ticket &ticket, std::span<const int64_t> readers) {
  jitter();
  Slot &slot = slots[ticket.slot];
  bool done = wait(
      Readers, ticket,
      [&] { return slot.unread.load(std::memory_order_seq_cst) <= 0; },
      [&] {
        for (int64_t reader : readers)
          if (!agrees(ticket, reader))
            return false;
        return true;
      });
  busySlots &= ~(1u << ticket.slot);
  return done;
}

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

std::string LocalComm::tell(const Call &call) const {
  std::string text = group.describe(call.site, false);
  if (call.count != 0)
    text += " of " + std::to_string(call.count) + " elements";
  return text;
}

bool LocalComm::disagree(const Ticket &ticket, int64_t peer,
                         const std::string &other) {
  std::string mine = tell(ticket.call);
  std::string me = "rank " + std::to_string(number);
  std::string them = "rank " + std::to_string(peer);
  group.fail({6, number, me + ": " + mine + " meets " + other + " of " + them,
              peer, them + ": " + other + " meets " + mine + " of " + me});
  return false;
}

bool LocalComm::agrees(const Ticket &ticket, int64_t peer) {
  if (!group.options.checked)
    return true;
  LocalComm &other = group.rank(peer);
  // Whether it has left the step is read first: it posts nothing after that.
  bool left = other.stepsLeft.load(std::memory_order_seq_cst) >
              stepsLeft.load(std::memory_order_relaxed);
  if (other.posted.load(std::memory_order_seq_cst) < ticket.sequence)
    return left ? disagree(ticket, peer, "the end of the step") : true;
  Past &entry = other.past[ticket.sequence % historySize];
  // Too long ago to know; then it is not this that keeps us waiting.
  if (entry.sequence.load(std::memory_order_acquire) != ticket.sequence)
    return true;
  Call call = {entry.site.load(std::memory_order_acquire),
               entry.count.load(std::memory_order_acquire)};
  if (entry.sequence.load(std::memory_order_acquire) != ticket.sequence)
    return true;
  if (call.site == ticket.call.site && call.count == ticket.call.count)
    return true;
  return disagree(ticket, peer, tell(call));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void LocalComm::enterStep() { lastSite.store(-1, std::memory_order_relaxed); }

bool LocalComm::leaveStep() {
  if (busySlots != 0 && !group.failed())
    fail(6, "left its step before it waited for an exchange that it had "
            "started; its last was " +
                group.describe(lastSite.load(std::memory_order_relaxed), true));
  stepsLeft.fetch_add(1, std::memory_order_seq_cst);
  return !group.failed();
}

void LocalComm::fail(int status, const std::string &text) {
  group.fail(
      {status, number, "rank " + std::to_string(number) + ": " + text, -1, {}});
}

void LocalComm::settle() {
  numOpen = 0;
  reading.store(false, std::memory_order_release);
  for (auto &rank : group.ranks)
    while (rank->reading.load(std::memory_order_seq_cst))
      std::this_thread::yield();
}

int LocalComm::status() const {
  return group.failed() ? group.failure().status : 0;
}

bool LocalComm::barrier(std::atomic<int64_t> &arrived,
                        std::atomic<int64_t> &generation,
                        const std::function<void()> &last) {
  int64_t mine = generation.load(std::memory_order_seq_cst);
  if (arrived.fetch_add(1, std::memory_order_seq_cst) + 1 == group.size()) {
    last();
    arrived.store(0, std::memory_order_seq_cst);
    generation.store(mine + 1, std::memory_order_seq_cst);
    for (auto &rank : group.ranks)
      if (rank->awaits.load(std::memory_order_seq_cst) == Everybody)
        rank->ring();
    return !group.failed();
  }
  Ticket none;
  none.call.site = -1;
  return wait(
      Everybody, none,
      [&] { return generation.load(std::memory_order_seq_cst) != mine; },
      [] { return true; });
}
