//===- MailboxTest.cpp - A transport in seventy lines ---------------------===//
//
// The transport of docs/Tutorials/Transport.md: ranks are threads, and a rank
// sends by putting a frame into the mailbox of another.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/WireComm.h"
#include <condition_variable>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace shardrt;

namespace {

struct Mailbox {
  struct Letter {
    int64_t sender;
    Frame frame;
    std::unique_ptr<std::byte[]> body;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Letter> letters;
  bool isInterrupted = false;
};

class MailboxCarrier final : public Carrier {
public:
  MailboxCarrier(int64_t rank, std::vector<Mailbox> &boxes)
      : rank(rank), boxes(boxes) {}

  void start(Receiver &to) override { receiver = &to; }

  void send(int64_t peer, const Frame &frame, const void *body,
            std::atomic<int64_t> *pending) override {
    // The body is copied at once, so its owner need not wait.
    auto copy = std::make_unique<std::byte[]>(frame.bytes);
    if (frame.bytes > 0)
      std::memcpy(copy.get(), body, frame.bytes);
    {
      std::lock_guard lock(boxes[peer].mutex);
      boxes[peer].letters.push_back({rank, frame, std::move(copy)});
    }
    boxes[peer].changed.notify_all();
    if (pending)
      pending->fetch_sub(1);
  }

  void advance() override {
    std::deque<Mailbox::Letter> arrived;
    {
      std::lock_guard lock(boxes[rank].mutex);
      arrived.swap(boxes[rank].letters);
    }
    for (Mailbox::Letter &letter : arrived)
      receiver->deliver(letter.sender, letter.frame, std::move(letter.body));
  }

  void await(int64_t ms) override {
    {
      std::unique_lock lock(boxes[rank].mutex);
      boxes[rank].changed.wait_for(lock, std::chrono::milliseconds(ms), [&] {
        return boxes[rank].isInterrupted || !boxes[rank].letters.empty();
      });
      boxes[rank].isInterrupted = false;
    }
    advance();
  }

  void interrupt() override {
    {
      std::lock_guard lock(boxes[rank].mutex);
      boxes[rank].isInterrupted = true;
    }
    boxes[rank].changed.notify_all();
  }

  void detach() override {}
  void stop(int64_t) override {}

private:
  int64_t rank;
  std::vector<Mailbox> &boxes;
  Receiver *receiver = nullptr;
};

/// Runs `body` on `size` ranks that reach one another by mailboxes.
void runRanks(int64_t size, const std::function<void(int64_t, Comm &)> &body) {
  std::vector<Mailbox> boxes(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      GroupOptions options;
      options.timeoutNs = 20'000'000'000;
      WireGroup group(
          rank, size, std::make_unique<MailboxCarrier>(rank, boxes), options,
          [](int64_t site, bool) { return "site #" + std::to_string(site); });
      body(rank, group.rank(rank));
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::vector<int64_t> othersOf(int64_t rank, int64_t size) {
  std::vector<int64_t> others;
  for (int64_t other = 0; other < size; ++other)
    if (other != rank)
      others.push_back(other);
  return others;
}

TEST(Mailbox, GathersANumberOfEachRank) {
  constexpr int64_t size = 4;
  std::vector<std::vector<int64_t>> gathered(size, std::vector<int64_t>(size));
  runRanks(size, [&](int64_t rank, Comm &comm) {
    comm.enterStep();
    int64_t mine = 10 * rank;
    gathered[rank][rank] = mine;
    std::vector<int64_t> others = othersOf(rank, size);
    Ticket ticket;
    EXPECT_TRUE(comm.post({0, 1}, {&mine, sizeof(mine)}, others, ticket));
    for (int64_t other : others) {
      const std::byte *data = nullptr;
      if (!comm.open(ticket, other, data))
        return;
      std::memcpy(&gathered[rank][other], data, sizeof(int64_t));
      comm.close(ticket, other);
    }
    EXPECT_TRUE(comm.finish(ticket, others));
    EXPECT_TRUE(comm.leaveStep());
  });
  for (const std::vector<int64_t> &numbers : gathered)
    EXPECT_EQ(numbers, (std::vector<int64_t>{0, 10, 20, 30}));
}

// Nothing in the carrier compares calls: Wire does so for every transport.
TEST(Mailbox, NamesRanksThatAreAboutDifferentThings) {
  runRanks(2, [](int64_t rank, Comm &comm) {
    comm.enterStep();
    int64_t mine = 0;
    int64_t other = 1 - rank;
    Ticket ticket;
    const std::byte *data = nullptr;
    comm.post({/*site=*/rank, 1}, {&mine, sizeof(mine)}, {&other, 1}, ticket);
    EXPECT_FALSE(comm.open(ticket, other, data));
    EXPECT_EQ(comm.status(), 6);
  });
}

} // namespace
