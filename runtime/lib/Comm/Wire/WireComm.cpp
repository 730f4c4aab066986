//===- WireComm.cpp - Ranks that send one another messages ----------------===//

#include "Comm/Wire/WireComm.h"
#include "Comm/Wire/Contact.h"
#include "Device/Cpu/Copy.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <bit>
#include <cstdio>
#include <cstring>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

/// A failure as bytes: status, rank and peer, then the two texts.
static std::string encode(const Failure &failure) {
  int64_t head[] = {failure.status, failure.rank, failure.peer,
                    static_cast<int64_t>(failure.text.size())};
  std::string bytes(reinterpret_cast<const char *>(head), sizeof(head));
  return bytes + failure.text + failure.peerText;
}

WireGroup::WireGroup(int64_t rank, int64_t size,
                     std::unique_ptr<Carrier> carrier, GroupOptions options,
                     DescribeSite describe)
    : me(rank), numRanks(size), options(options), describe(std::move(describe)),
      carrier(std::move(carrier)), inbox(size), places(size),
      hasLeft(size, false), arrivals(size, 0),
      outOfMemory(encode({SHARDRT_MEMORY, rank, {}, -1, {}})) {
  this->carrier->start(*this);
}

void WireGroup::leave() {
  if (hasSaidGoodbye.exchange(true))
    return;
  Frame frame;
  frame.kind = Frame::Leave;
  for (int64_t peer = 0; peer < numRanks; ++peer)
    if (peer != me)
      carrier->send(peer, frame, nullptr, nullptr);
}

WireGroup::~WireGroup() {
  leave();
  // What the others still read may wait for one that has no core: to it this
  // rank would be gone. After a failure nobody reads for long, and not at all
  // where the way is cut or a rank has not answered for all of the timeout.
  constexpr int64_t forEver = int64_t(1) << 40;
  int64_t ms =
      options.timeoutNs > 0 ? options.timeoutNs / millisecond : forEver;
  if (failed()) {
    Failure why = failure();
    bool isSilent = why.status == SHARDRT_WATCHDOG || saysLostContact(why.text);
    ms = isSilent ? 200 : 2000;
  }
  carrier->stop(ms);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

static Failure decode(const std::byte *body, int64_t bytes) {
  int64_t head[4];
  Failure failure;
  if (bytes < static_cast<int64_t>(sizeof(head)))
    return {4, -1, "a damaged message about a failure", -1, {}};
  std::memcpy(head, body, sizeof(head));
  failure.status = static_cast<int>(head[0]);
  failure.rank = head[1];
  failure.peer = head[2];
  std::string rest(reinterpret_cast<const char *>(body) + sizeof(head),
                   bytes - sizeof(head));
  failure.text = rest.substr(0, head[3]);
  failure.peerText = rest.substr(failure.text.size());
  return failure;
}

bool WireGroup::take(Failure failure) {
  if (hasFailed.load())
    return false;
  firstFailure = std::move(failure);
  hasFailed.store(true);
  carrier->interrupt();
  return true;
}

void WireGroup::fail(Failure failure) {
  try {
    std::string bytes = encode(failure);
    {
      std::lock_guard lock(mutex);
      if (!take(std::move(failure)))
        return;
    }
    for (int64_t peer = 0; peer < numRanks; ++peer)
      sendFailure(peer, bytes, nullptr);
  } catch (const std::bad_alloc &) {
    failForMemory();
  }
}

void WireGroup::sendFailure(int64_t peer, const std::string &bytes,
                            std::atomic<int64_t> *pending) {
  Frame frame;
  frame.kind = Frame::Fail;
  frame.bytes = static_cast<int64_t>(bytes.size());
  if (peer != me)
    carrier->send(peer, frame, bytes.data(), pending);
}

void WireGroup::failForMemory() noexcept {
  {
    std::lock_guard lock(mutex);
    take({SHARDRT_MEMORY, me, {}, -1, {}});
  }
  for (int64_t peer = 0; peer < numRanks; ++peer) {
    try {
      sendFailure(peer, outOfMemory, &unsentOutOfMemory);
    } catch (const std::bad_alloc &) {
      // It learns of it when this rank leaves.
    }
  }
}

void WireGroup::fail(int status, const std::string &text) {
  fail({status, me, "rank " + std::to_string(me) + ": " + text, -1, {}});
}

Failure WireGroup::failure() const {
  std::lock_guard lock(mutex);
  return firstFailure;
}

int WireGroup::status() const {
  return hasFailed.load() ? failure().status : 0;
}

std::string WireGroup::describeCall(const Call &call) const {
  std::string text = describe(call.site, false);
  if (call.count != 0)
    text += " of " + std::to_string(call.count) + " elements";
  return text;
}

//===----------------------------------------------------------------------===//
// What arrives
//===----------------------------------------------------------------------===//

void WireGroup::deliver(int64_t peer, const Frame &frame,
                        std::unique_ptr<std::byte[]> body) noexcept {
  try {
    takeIn(peer, frame, std::move(body));
  } catch (const std::bad_alloc &) {
    failForMemory();
  }
}

void WireGroup::starved(int64_t peer, int64_t bytes) noexcept {
  try {
    fail({SHARDRT_MEMORY,
          me,
          "rank " + std::to_string(me) +
              ": out of memory in the runtime, for "
              "a message of " +
              std::to_string(bytes) + " bytes from rank " +
              std::to_string(peer),
          -1,
          {}});
  } catch (const std::bad_alloc &) {
    failForMemory();
  }
}

void WireGroup::takeIn(int64_t peer, const Frame &frame,
                       std::unique_ptr<std::byte[]> body) {
  Frame answer;
  bool answers = false, releases = false;
  Failure mismatch;
  {
    std::lock_guard lock(mutex);
    switch (frame.kind) {
    case Frame::Post: {
      Message &message = inbox[peer][frame.sequence];
      message = {
          {frame.site, frame.count}, frame.offset, nowNs(), std::move(body)};
      if (posted >= frame.sequence)
        compare(peer, frame);
      break;
    }
    case Frame::Ask:
      compare(peer, frame);
      break;
    case Frame::Locate: {
      answers = true;
      answer.kind = Frame::Located;
      answer.sequence = where.awaits;
      answer.count = where.sinceNs == 0 ? 0 : nowNs() - where.sinceNs;
      answer.site = where.awaitsSite;
      answer.offset = where.lastSite;
      break;
    }
    case Frame::Located: {
      auto place = std::make_unique<Where>();
      place->awaits = frame.sequence;
      place->sinceNs = frame.count == 0 ? 0 : nowNs() - frame.count;
      place->awaitsSite = frame.site;
      place->lastSite = frame.offset;
      places[peer] = std::move(place);
      break;
    }
    case Frame::Fail:
      take(decode(body.get(), frame.bytes));
      break;
    case Frame::Arrive:
      releases = arrive(frame.sequence);
      arrivals[peer] = frame.sequence;
      break;
    case Frame::Release:
      released = frame.sequence;
      break;
    case Frame::Leave:
      hasLeft[peer] = true;
      break;
    }
    // The failure is this rank's to report; its lock is not for sending.
    mismatch = std::move(pendingMismatch);
    pendingMismatch = Failure();
  }
  if (answers)
    carrier->send(peer, answer, nullptr, nullptr);
  if (releases)
    release(frame.sequence, frame.count != 0);
  if (mismatch.status != 0)
    fail(std::move(mismatch));
}

void WireGroup::disagree(const Call &call, int64_t peer,
                         const std::string &other) {
  std::string mine = describeCall(call), us = "rank " + std::to_string(me),
              them = "rank " + std::to_string(peer);
  pendingMismatch = {6, me,
                     us + ": " + mine + " meets " + other + " of " + them, peer,
                     them + ": " + other + " meets " + mine + " of " + us};
}

void WireGroup::compare(int64_t peer, const Frame &frame) {
  if (!options.checked || hasFailed.load())
    return;
  Call theirs = {frame.site, frame.count};
  if (posted < frame.sequence) {
    // It waits for a post that does not come: this rank is at its end.
    if (frame.kind == Frame::Ask && stepsLeft > frame.offset) {
      std::string end = "the end of the step", other = describeCall(theirs),
                  us = "rank " + std::to_string(me),
                  them = "rank " + std::to_string(peer);
      pendingMismatch = {
          6, peer, them + ": " + other + " meets " + end + " of " + us, me,
          us + ": " + end + " meets " + other + " of " + them};
    }
    return;
  }
  const Past &entry = past[frame.sequence % historySize];
  if (entry.sequence == frame.sequence &&
      (entry.call.site != theirs.site || entry.call.count != theirs.count))
    disagree(entry.call, peer, describeCall(theirs));
}

void WireGroup::sent() noexcept { carrier->interrupt(); }

void WireGroup::lost(int64_t peer, const std::string &why) noexcept {
  try {
    sendLost(peer, why);
  } catch (const std::bad_alloc &) {
    failForMemory();
  }
}

void WireGroup::sendLost(int64_t peer, const std::string &why) {
  std::string text;
  {
    std::lock_guard lock(mutex);
    if (hasLeft[peer] || hasFailed.load())
      return;
    if (saysLostContact(why))
      text = why + " with rank " + std::to_string(peer) +
             "; the network between it and rank " + std::to_string(me) +
             " does not work";
    else
      text = "rank " + std::to_string(peer) +
             " is gone: its process ended, or was ended, before the others" +
             (why.empty() ? "" : " (" + why + ")");
    if (where.sinceNs != 0 && where.awaitsSite >= 0)
      text += "\nrank " + std::to_string(me) + " waits in " +
              describe(where.awaitsSite, false);
  }
  fail({4, peer, text, -1, {}});
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

template <typename Done>
bool WireGroup::wait(int64_t whom, const Ticket &ticket, Done done) {
  std::unique_lock lock(mutex);
  if (done())
    return true;
  int64_t start = nowNs(), asked = start;
  where.awaits = whom;
  where.awaitsSite = ticket.shown.site;
  where.sinceNs = start;
  bool result = false;
  while (true) {
    if ((result = done()) || hasFailed.load())
      break;
    if (int64_t left = findLeft(whom, ticket.sequence); left >= 0) {
      Failure gone = {4,
                      left,
                      "rank " + std::to_string(left) +
                          " has left the job before the others",
                      -1,
                      {}};
      if (ticket.shown.site >= 0)
        gone.text += "\nrank " + std::to_string(me) + " waits in " +
                     describe(ticket.shown.site, false);
      lock.unlock();
      fail(std::move(gone));
      lock.lock();
      break;
    }
    lock.unlock();
    carrier->await(50);
    lock.lock();
    int64_t now = nowNs();
    if (now - asked < 50 * millisecond)
      continue;
    asked = now;
    lock.unlock();
    if (whom >= 0 && options.checked) {
      Frame frame;
      frame.kind = Frame::Ask;
      frame.sequence = ticket.sequence;
      frame.site = ticket.shown.site;
      frame.count = ticket.shown.count;
      frame.offset = stepsLeft;
      carrier->send(whom, frame, nullptr, nullptr);
    }
    patrol(0);
    lock.lock();
  }
  where.awaits = Nobody;
  where.sinceNs = 0;
  waitedNs += nowNs() - start;
  return result;
}

int64_t WireGroup::findLeft(int64_t whom, int64_t barrier) const {
  if (whom >= 0)
    return hasLeft[whom] ? whom : -1;
  // Rank 0 says who has reached a barrier.
  if (whom == Everybody && me != 0)
    return hasLeft[0] ? 0 : -1;
  for (int64_t peer = 0; whom == Everybody && peer < numRanks; ++peer)
    if (hasLeft[peer] && arrivals[peer] < barrier)
      return peer;
  return -1;
}

std::string WireGroup::describePlace(int64_t rank, const Where &at) const {
  std::string name = "rank " + std::to_string(rank);
  if (at.sinceNs == 0)
    return "\nmissing: " + name +
           (at.lastSite < 0 ? std::string(", before its first collective")
                            : ", last seen in " + describe(at.lastSite, true));
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f s",
                static_cast<double>(nowNs() - at.sinceNs) * 1e-9);
  std::string text = "\n" + name + " waits for " + seconds;
  if (at.awaits == Everybody || at.awaitsSite < 0)
    return text + " at the end of its step";
  return text + " in " + describe(at.awaitsSite, true) +
         (at.awaits >= 0 ? " for rank " + std::to_string(at.awaits)
                         : std::string(" for its readers"));
}

void WireGroup::askAround() {
  Frame frame;
  frame.kind = Frame::Locate;
  for (int64_t peer = 0; peer < numRanks; ++peer)
    if (peer != me)
      carrier->send(peer, frame, nullptr, nullptr);
}

void WireGroup::patrol(int64_t sinceNs) {
  // Others have this long to say where they are: within the timeout, if that is
  // no shorter.
  constexpr int64_t answerNs = 500 * millisecond;
  carrier->advance();
  int64_t now = nowNs();
  sinceNs = std::max(sinceNs, lastReturnNs(now));
  Failure timeout;
  {
    std::lock_guard lock(mutex);
    int64_t leftNs =
        options.timeoutNs - (now - std::max(where.sinceNs, sinceNs));
    if (hasFailed.load() || options.timeoutNs <= 0 || where.sinceNs == 0 ||
        leftNs > std::min(answerNs, options.timeoutNs / 2)) {
      askedNs = 0;
      return;
    }
    if (askedNs != 0) {
      if (leftNs > 0 || now - askedNs < answerNs)
        return;
      char limit[64];
      std::snprintf(limit, sizeof(limit), "watchdog: no progress for %.3g s",
                    static_cast<double>(options.timeoutNs) * 1e-9);
      std::string missing, waiting;
      for (int64_t rank = 0; rank < numRanks; ++rank) {
        const Where *at = rank == me ? &where : places[rank].get();
        if (!at)
          missing += "\nmissing: rank " + std::to_string(rank) +
                     ", which does not answer";
        else
          (at->sinceNs == 0 ? missing : waiting) += describePlace(rank, *at);
      }
      timeout = {5, me, limit + missing + waiting, -1, {}};
    } else {
      askedNs = now;
      for (auto &at : places)
        at.reset();
    }
  }
  if (timeout.status != 0)
    fail(std::move(timeout));
  else
    askAround();
}

//===----------------------------------------------------------------------===//
// Posts
//===----------------------------------------------------------------------===//

bool WireGroup::post(Call about, const Posted &shown,
                     std::span<const int64_t> readers, Ticket &ticket) {
  ticket = Ticket();
  Call call = {siteOf(program, about.site), about.count};
  if (hasFailed.load())
    return false;
  int64_t index = std::countr_one(busySlots);
  if (index >= numSlots) {
    fail(2, "more than " + std::to_string(numSlots) +
                " collectives are under way in " + describe(call.site, true));
    return false;
  }
  busySlots |= 1u << index;
  ticket = {++sequence, index, about, call};
  Failure mismatch;
  {
    std::lock_guard lock(mutex);
    past[sequence % historySize] = {sequence, call};
    posted = sequence;
    where.lastSite = call.site;
    // What has come already may be about something else.
    for (int64_t peer = 0; options.checked && peer < numRanks; ++peer) {
      auto found = inbox[peer].find(sequence);
      if (found == inbox[peer].end() || pendingMismatch.status != 0)
        continue;
      const Call &theirs = found->second.call;
      if (theirs.site != call.site || theirs.count != call.count)
        disagree(call, peer, describeCall(theirs));
    }
    mismatch = std::move(pendingMismatch);
    pendingMismatch = Failure();
  }
  if (mismatch.status != 0) {
    fail(std::move(mismatch));
    return false;
  }
  Frame frame;
  frame.kind = Frame::Post;
  frame.sequence = sequence;
  frame.site = call.site;
  frame.count = call.count;
  auto *data = static_cast<const std::byte *>(shown.data);
  for (size_t i = 0; i < readers.size(); ++i) {
    const std::byte *body = data;
    Piece piece = {0, shown.bytes, nullptr};
    if (i < shown.pieces.size())
      piece = shown.pieces[i];
    if (!data)
      piece = {};
    frame.offset = piece.offset;
    frame.bytes = piece.bytes;
    if (piece.boxes && piece.bytes > 0) {
      const std::vector<BoxCopy> &boxes = *piece.boxes;
      if (boxes.size() == 1 && boxes[0].run == piece.bytes) {
        body = data + boxes[0].srcOffset;
      } else {
        packedBodies[index].emplace_back(new std::byte[piece.bytes]);
        std::byte *to = packedBodies[index].back().get();
        for (const BoxCopy &copy : boxes)
          runCopy(copy, data, to);
        body = to;
      }
    } else if (data) {
      body = data + piece.offset;
    }
    unsent[index].fetch_add(1);
    try {
      carrier->send(readers[i], frame, body, &unsent[index]);
    } catch (...) {
      unsent[index].fetch_sub(1);
      throw;
    }
  }
  return true;
}

bool WireGroup::ready(const Ticket &ticket, int64_t peer) {
  carrier->advance();
  std::lock_guard lock(mutex);
  return inbox[peer].count(ticket.sequence) != 0;
}

bool WireGroup::open(const Ticket &ticket, int64_t peer,
                     const std::byte *&data) {
  Message *message = nullptr;
  bool arrived = wait(peer, ticket, [&] {
    auto found = inbox[peer].find(ticket.sequence);
    if (found == inbox[peer].end())
      return false;
    message = &found->second;
    return true;
  });
  if (!arrived || hasFailed.load())
    return false;
  // As if all of the buffer had come: only the part that is read has.
  data = reinterpret_cast<const std::byte *>(
      reinterpret_cast<uintptr_t>(message->body.get()) -
      static_cast<uintptr_t>(message->offset));
  return true;
}

int64_t WireGroup::postedAt(const Ticket &ticket, int64_t peer) {
  std::lock_guard lock(mutex);
  auto found = inbox[peer].find(ticket.sequence);
  return found == inbox[peer].end() ? 0 : found->second.arrivedNs;
}

void WireGroup::close(const Ticket &ticket, int64_t peer) {
  std::lock_guard lock(mutex);
  inbox[peer].erase(ticket.sequence);
}

bool WireGroup::finish(const Ticket &ticket, std::span<const int64_t>) {
  bool done =
      wait(Readers, ticket, [&] { return unsent[ticket.slot].load() == 0; });
  if (!done)
    return false; // What is packed stays: it may still be on its way.
  packedBodies[ticket.slot].clear();
  busySlots &= ~(1u << ticket.slot);
  return !hasFailed.load();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void WireGroup::enterStep() {
  std::lock_guard lock(mutex);
  where.lastSite = -1;
}

bool WireGroup::leaveStep() {
  if (busySlots != 0 && !hasFailed.load())
    fail(6, "left its step before it waited for an exchange that it had "
            "started; its last was " +
                describe(where.lastSite, true));
  std::lock_guard lock(mutex);
  ++stepsLeft;
  return !hasFailed.load();
}

bool WireGroup::arrive(int64_t number) {
  if (++arrived[number % 2] < numRanks)
    return false;
  arrived[number % 2] = 0;
  released = number;
  return true;
}

void WireGroup::release(int64_t number, bool isUrgent) {
  Frame frame;
  frame.kind = Frame::Release;
  frame.sequence = number;
  for (int64_t peer = 1; peer < numRanks; ++peer)
    if (isUrgent)
      carrier->send(peer, frame, nullptr, nullptr);
    else
      carrier->sendLater(peer, frame);
}

bool WireGroup::barrier(int64_t lead) {
  Ticket none;
  none.shown.site = -1;
  int64_t number = ++barriers;
  none.sequence = number - lead;
  bool isUrgent = lead == 0, releases = false;
  if (me != 0) {
    Frame frame;
    frame.kind = Frame::Arrive;
    frame.sequence = number;
    frame.count = isUrgent;
    if (isUrgent)
      carrier->send(0, frame, nullptr, nullptr);
    else
      carrier->sendLater(0, frame);
  } else {
    {
      std::lock_guard lock(mutex);
      releases = arrive(number);
    }
    if (releases)
      release(number, isUrgent);
  }
  return wait(Everybody, none, [&] { return released >= number - lead; });
}
