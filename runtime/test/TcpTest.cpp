//===- TcpTest.cpp - Frames between ranks over sockets --------------------===//
//
// A relay between two ranks that changes, drops, repeats or swaps bytes of what
// one sends: the other gets frames as they were sent, then none, and says why.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Tcp.h"
#include "Comm/Wire/Contact.h"
#include "Comm/Wire/WireComm.h"
#include "TestWorld.h"
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace shardrt;
using namespace shardc::crypto;

/// Of frames with something posted, how many were sent, in messages that hold
/// small frames alone and are not encrypted.
static std::atomic<int64_t> numPosts{0};

extern "C" ssize_t send(int socket, const void *data, size_t size, int flags) {
  auto *at = static_cast<const char *>(data), *end = at + size;
  for (Frame frame; at + sizeof(frame) <= end;) {
    std::memcpy(&frame, at, sizeof(frame));
    if (frame.magic != Frame::magicWord)
      break;
    numPosts += frame.kind == Frame::Post;
    at += sizeof(frame) + sealBytes;
    at += frame.bytes > 0 ? frame.bytes + sealBytes : 0;
  }
  return sendto(socket, data, size, flags, nullptr, 0);
}

namespace {
constexpr int64_t chunk = 256 << 10;
/// Of what a frame without a body, and its tag, takes on the wire.
constexpr size_t wireHead = sizeof(Frame) + sealBytes;

struct Inbox final : Receiver {
  void deliver(int64_t, const Frame &frame,
               std::unique_ptr<std::byte[]> body) noexcept override {
    std::lock_guard lock(mutex);
    std::string text(reinterpret_cast<const char *>(body.get()),
                     static_cast<size_t>(frame.bytes));
    frames.push_back({frame.sequence, text});
    changed.notify_all();
  }
  void starved(int64_t, int64_t) noexcept override {}
  void sent() noexcept override {}
  void lost(int64_t, const std::string &text) noexcept override {
    std::lock_guard lock(mutex);
    isLost = true;
    why = text;
    changed.notify_all();
  }
  /// Waits for `count` frames, or the end.
  void wait(size_t count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] {
      return isLost || frames.size() >= count;
    }));
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<int64_t, std::string>> frames;
  bool isLost = false;
  std::string why;
};

/// Bodies of these sizes go from rank 0 to rank 1, their bytes on the wire
/// through `change`, if there is one, in one piece.
void send(const std::vector<int64_t> &sizes, bool encrypts, Inbox &inbox,
          std::function<std::string(std::string)> change) {
  LinkKeys keys{randomKey(), randomKey()}, theirs{keys.receive, keys.send};
  int here[2], there[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, here), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, there), 0);
  auto carrierOf = [&](int64_t peer, int socket, const LinkKeys &with) {
    std::vector<Line> lines(2);
    lines[peer] = {Socket(socket), with, {}};
    return carryOver(std::move(lines), encrypts);
  };
  auto from = carrierOf(1, here[0], keys), to = carrierOf(0, there[0], theirs);
  Inbox nobody;
  from->start(nobody);
  to->start(inbox);
  std::thread relay([&] {
    std::string all;
    char buffer[1 << 16];
    ssize_t count;
    while ((count = recv(here[1], buffer, sizeof(buffer), 0)) > 0)
      all.append(buffer, count);
    if (change)
      all = change(all);
    for (size_t at = 0; at < all.size();) {
      count = ::send(there[1], all.data() + at, all.size() - at, MSG_NOSIGNAL);
      if (count <= 0)
        break;
      at += count;
    }
    shutdown(there[1], SHUT_WR);
  });
  for (size_t i = 0; i < sizes.size(); ++i) {
    Frame frame;
    frame.sequence = static_cast<int64_t>(i) + 1;
    frame.bytes = sizes[i];
    std::string body(sizes[i], static_cast<char>('a' + i));
    from->send(1, frame, body.data(), nullptr);
  }
  from->stop(10'000);
  inbox.wait(sizes.size() + 1);
  relay.join();
  to->stop(0);
  close(here[1]);
  close(there[1]);
}

/// Those frames that came are the first of those that were sent.
void expectBeginOf(const std::vector<int64_t> &sizes, const Inbox &inbox) {
  ASSERT_LE(inbox.frames.size(), sizes.size());
  for (size_t i = 0; i < inbox.frames.size(); ++i) {
    EXPECT_EQ(inbox.frames[i].first, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(inbox.frames[i].second,
              std::string(sizes[i], static_cast<char>('a' + i)));
  }
}

const std::vector<int64_t> mixed = {0,         10, chunk - 1,     chunk,
                                    chunk + 1, 0,  3 * chunk + 7, 5};

TEST(Tcp, FramesOfAllSizesArrive) {
  for (bool encrypts : {false, true}) {
    Inbox inbox;
    send(mixed, encrypts, inbox, nullptr);
    EXPECT_EQ(inbox.frames.size(), mixed.size());
    expectBeginOf(mixed, inbox);
    EXPECT_EQ(inbox.why, "");
  }
}

TEST(Tcp, EncryptionHidesBodies) {
  for (bool encrypts : {false, true}) {
    Inbox inbox;
    bool isSeen = false;
    send({100}, encrypts, inbox, [&](std::string all) {
      isSeen = all.find(std::string(100, 'a')) != std::string::npos;
      return all;
    });
    EXPECT_EQ(inbox.frames.size(), 1u);
    EXPECT_EQ(isSeen, !encrypts);
  }
}

TEST(Tcp, OneBitThatChangesOnItsWayIsNoticed) {
  const std::vector<int64_t> sizes = {3, 40, 2};
  size_t wire = 3 * wireHead + 45 + 3 * sealBytes;
  for (bool encrypts : {false, true})
    for (size_t at = 0; at < wire; at += 1 + at % 3) {
      Inbox inbox;
      size_t bytes = 0;
      send(sizes, encrypts, inbox, [&](std::string all) {
        bytes = all.size();
        all[at] = static_cast<char>(all[at] ^ (1 << at % 8));
        return all;
      });
      EXPECT_EQ(bytes, wire);
      EXPECT_LT(inbox.frames.size(), sizes.size()) << at;
      expectBeginOf(sizes, inbox);
      EXPECT_EQ(inbox.why, "a message that was changed on its way, or is not "
                           "of this job")
          << at;
    }
}

TEST(Tcp, PartsThatAreDroppedRepeatedOrSwappedAreNoticed) {
  // Two frames of the same size, so that each part could stand for another.
  const std::vector<int64_t> sizes = {8, 8};
  constexpr size_t frame = wireHead + 8 + sealBytes;
  const std::function<std::string(std::string)> changes[] = {
      [](std::string all) { return all.substr(frame); },
      [](std::string all) { return all.substr(0, frame) + all; },
      [](std::string all) { return all.substr(frame) + all.substr(0, frame); },
      // The second body in the place of the first.
      [](std::string all) {
        return all.substr(0, wireHead) + all.substr(frame + wireHead);
      },
      // Something of nobody's in between.
      [](std::string all) {
        return all.substr(0, frame) + std::string(wireHead, 'x') +
               all.substr(frame);
      },
  };
  for (bool encrypts : {false, true})
    for (size_t i = 0; i < std::size(changes); ++i) {
      Inbox inbox;
      send(sizes, encrypts, inbox, changes[i]);
      expectBeginOf(sizes, inbox);
      EXPECT_LT(inbox.frames.size(), 2u) << i;
      EXPECT_NE(inbox.why.find("changed on its way"), std::string::npos) << i;
    }
  // Chunks of one body, swapped.
  Inbox inbox;
  send({2 * chunk}, false, inbox, [](std::string all) {
    constexpr size_t part = chunk + sealBytes;
    return all.substr(0, wireHead) + all.substr(wireHead + part) +
           all.substr(wireHead, part);
  });
  EXPECT_TRUE(inbox.frames.empty());
  EXPECT_NE(inbox.why.find("changed on its way"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// What tags and encryption cost
//===----------------------------------------------------------------------===//

/// Two ends of a connection over the loopback interface.
void connectEnds(int (&ends)[2]) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, any, length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, any, &length), 0);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(ends[0], any, length), 0);
  ends[1] = accept(listener, nullptr, nullptr);
  close(listener);
}

double processorSeconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 *
             static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

struct Counter final : Receiver {
  void deliver(int64_t, const Frame &,
               std::unique_ptr<std::byte[]>) noexcept override {
    ++frames;
    frames.notify_all();
  }
  void starved(int64_t, int64_t) noexcept override {}
  void sent() noexcept override {}
  void lost(int64_t, const std::string &) noexcept override {}
  std::atomic<int64_t> frames{0};
};

/// Sends `count` bodies of `bytes` bytes through sockets alone, as fast as the
/// system does it: what is read goes to memory of its own, as messages do.
void sendPlain(const std::byte *body, int64_t bytes, int64_t count) {
  int ends[2];
  connectEnds(ends);
  std::thread reader([&] {
    for (int64_t i = 0; i < count; ++i) {
      std::unique_ptr<std::byte[]> to(new std::byte[bytes]);
      for (int64_t at = 0; at < bytes;) {
        ssize_t got =
            recv(ends[1], to.get() + at, std::min(chunk, bytes - at), 0);
        ASSERT_GT(got, 0);
        at += got;
      }
    }
  });
  for (int64_t i = 0; i < count; ++i)
    for (int64_t at = 0; at < bytes;) {
      ssize_t done =
          ::send(ends[0], body + at, std::min(chunk, bytes - at), MSG_NOSIGNAL);
      ASSERT_GT(done, 0);
      at += done;
    }
  reader.join();
  close(ends[0]);
  close(ends[1]);
}

void sendFrames(const std::byte *body, int64_t bytes, int64_t count,
                bool encrypts) {
  int ends[2];
  connectEnds(ends);
  LinkKeys keys{randomKey(), randomKey()}, theirs{keys.receive, keys.send};
  auto carrierOf = [&](int64_t peer, int socket, const LinkKeys &with) {
    std::vector<Line> lines(2);
    lines[peer] = {Socket(socket), with, {}};
    return carryOver(std::move(lines), encrypts);
  };
  auto from = carrierOf(1, ends[0], keys), to = carrierOf(0, ends[1], theirs);
  Counter nobody, inbox;
  from->start(nobody);
  to->start(inbox);
  Frame frame;
  frame.bytes = bytes;
  std::atomic<int64_t> pending{count};
  for (int64_t i = 0; i < count; ++i)
    from->send(1, frame, body, &pending);
  for (int64_t seen; (seen = inbox.frames.load()) < count;)
    inbox.frames.wait(seen);
  from->stop(0);
  to->stop(0);
}

// Run by name: prints what tags and encryption take beside sockets alone. The
// processor time is that of both sides.
TEST(Tcp, DISABLED_CostOfTags) {
  std::printf(
      "| bytes a message | way | MB/s | processor s/GB |\n|---|---|---|---|\n");
  for (int64_t bytes : {int64_t(4) << 10, int64_t(64) << 10, int64_t(1) << 20,
                        int64_t(64) << 20}) {
    int64_t count = std::max<int64_t>(4, (int64_t(1) << 30) / bytes /
                                             (bytes < (1 << 20) ? 8 : 1));
    std::vector<std::byte> body(bytes, std::byte(7));
    const char *names[] = {"sockets alone", "tags", "encrypted"};
    // The least of three, taken in turns.
    double best[3] = {1e9, 1e9, 1e9}, used[3] = {1e9, 1e9, 1e9};
    for (int round = 0; round < 3; ++round)
      for (int way = 0; way < 3; ++way) {
        double before = processorSeconds();
        auto start = std::chrono::steady_clock::now();
        if (way == 0)
          sendPlain(body.data(), bytes, count);
        else
          sendFrames(body.data(), bytes, count, way == 2);
        std::chrono::duration<double> took =
            std::chrono::steady_clock::now() - start;
        best[way] = std::min(best[way], took.count());
        used[way] = std::min(used[way], processorSeconds() - before);
      }
    double all = 1e-6 * static_cast<double>(bytes * count);
    for (int way = 0; way < 3; ++way)
      std::printf("| %lld | %s | %.0f | %.3f |\n",
                  static_cast<long long>(bytes), names[way], all / best[way],
                  used[way] / all * 1e3);
  }
}

// A link that is cut in one direction: the other side gives up, and of that
// only the end of the connection comes through. It is no process that ended.
TEST(Tcp, WhoHeardNothingDoesNotKnowThatAProcessEnded) {
  constexpr int64_t second = 1'000'000'000;
  Contact contact;
  EXPECT_EQ(contact.silenceMs(1 * second), 0);
  contact.note(true, 100, 1 * second);
  EXPECT_EQ(contact.silenceMs(1 * second + second / 2), 0);
  contact.note(true, 100, 2 * second);
  EXPECT_EQ(contact.silenceMs(4 * second), 3000);
  // More of it has come since.
  contact.note(true, 101, 4 * second);
  EXPECT_EQ(contact.silenceMs(4 * second + second / 2), 0);
  // Nothing is on its way, however long ago that was.
  contact.note(false, 101, 5 * second);
  EXPECT_EQ(contact.silenceMs(90 * second), 0);
}

// A peer that has no core for longer than two seconds, at the end of a run that
// went well: what it is to read is still there, the goodbye last.
TEST(Tcp, ARankThatLeavesWaitsForWhoReadsLate) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  std::vector<Line> lines(2);
  lines[1] = {Socket(ends[0]), LinkKeys{randomKey(), randomKey()}, {}};
  GroupOptions options;
  options.timeoutNs = int64_t(60'000'000'000);
  auto group = std::make_unique<WireGroup>(
      0, 2, carryOver(std::move(lines), /*encrypts=*/false), options,
      [](int64_t, bool) { return std::string("a site"); });
  // More than a socket holds.
  std::vector<std::byte> body(16 * chunk, std::byte(7));
  const int64_t readers[] = {1};
  Ticket ticket;
  Posted posted;
  posted.data = body.data();
  posted.bytes = static_cast<int64_t>(body.size());
  ASSERT_TRUE(group->post({0, 1}, posted, readers, ticket));
  std::atomic<bool> hasLeft{false};
  std::thread leaver([&] {
    group.reset();
    hasLeft = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(2'300));
  EXPECT_FALSE(hasLeft);
  std::string all;
  char buffer[1 << 16];
  for (ssize_t count; (count = recv(ends[1], buffer, sizeof(buffer), 0)) > 0;)
    all.append(buffer, count);
  leaver.join();
  close(ends[1]);
  ASSERT_EQ(all.size(), 2 * wireHead + body.size() + 16 * sealBytes);
  Frame last;
  std::memcpy(&last, all.data() + all.size() - wireHead, sizeof(last));
  EXPECT_EQ(last.kind, Frame::Leave);
}

// A rank that is stopped never reads what is on its way to it: who has waited
// for it all of the timeout does not wait again when it leaves.
TEST(Tcp, ARankThatLeavesDoesNotWaitForWhoDoesNotAnswer) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  std::vector<Line> lines(2);
  lines[1] = {Socket(ends[0]), LinkKeys{randomKey(), randomKey()}, {}};
  GroupOptions options;
  options.timeoutNs = int64_t(100'000'000);
  auto group = std::make_unique<WireGroup>(
      0, 2, carryOver(std::move(lines), /*encrypts=*/false), options,
      [](int64_t, bool) { return std::string("a site"); });
  std::vector<std::byte> body(16 * chunk, std::byte(7));
  const int64_t readers[] = {1};
  Ticket ticket;
  Posted posted;
  posted.data = body.data();
  posted.bytes = static_cast<int64_t>(body.size());
  ASSERT_TRUE(group->post({0, 1}, posted, readers, ticket));
  const std::byte *data = nullptr;
  EXPECT_FALSE(group->open(ticket, 1, data));
  EXPECT_EQ(group->failure().status, SHARDRT_WATCHDOG);
  group->settle();
  int64_t before = nowNs();
  group.reset();
  EXPECT_LT(nowNs() - before, 1'000'000'000);
  close(ends[1]);
}

// Others are asked where they are before the time is over, not after.
TEST(Tcp, AWaitLastsNoLongerThanTheTimeout) {
  constexpr int64_t limit = 1'500'000'000;
  int64_t shortest = 10 * limit;
  // A machine that does other things may take longer once.
  for (int i = 0; i < 5 && shortest > limit + 300'000'000; ++i) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    std::vector<Line> lines(2);
    lines[1] = {Socket(ends[0]), LinkKeys{randomKey(), randomKey()}, {}};
    GroupOptions options;
    options.timeoutNs = limit;
    WireGroup group(0, 2, carryOver(std::move(lines), /*encrypts=*/false),
                    options,
                    [](int64_t, bool) { return std::string("a site"); });
    Ticket ticket;
    ASSERT_TRUE(group.post({0, 1}, {}, {}, ticket));
    const std::byte *data = nullptr;
    int64_t before = nowNs();
    EXPECT_FALSE(group.open(ticket, 1, data));
    shortest = std::min(shortest, nowNs() - before);
    EXPECT_NE(group.failure().text.find("missing: rank 1, which does not "
                                        "answer"),
              std::string::npos)
        << group.failure().text;
    close(ends[1]);
  }
  EXPECT_GE(shortest, limit);
  EXPECT_LT(shortest, limit + 300'000'000);
}

// Messages do not grow with the square of the ranks: one to the rank that
// combines and one from it, for each other rank.
TEST(Tcp, ASmallSumTakesTwoMessagesARank) {
  constexpr int64_t numSums = 5;
  for (int64_t ranks : {4, 8, 16}) {
    test::TestWorld world(
        test::makeTable({ranks}, {test::allReduceSite(ElementType::F32,
                                                      Reduction::Sum, {0})}),
        0, 60'000, 0, false, test::Way::Sockets);
    int64_t before = numPosts;
    EXPECT_EQ(world.run([&](shardrt_context *ctx) -> int {
      for (int64_t i = 0; i < numSums; ++i) {
        auto value = static_cast<float>(shardrt_rank(ctx) + i);
        if (int status = shardrt_all_reduce(ctx, 0, &value, &value, 1))
          return status;
        if (value != static_cast<float>(ranks * (ranks - 1) / 2 + ranks * i))
          return shardrt_fail(ctx, SHARDRT_REFUSED, "a wrong sum");
      }
      return 0;
    }),
              SHARDRT_OK)
        << world.error();
    EXPECT_EQ(numPosts - before, 2 * (ranks - 1) * numSums) << ranks;
  }
}
} // namespace
