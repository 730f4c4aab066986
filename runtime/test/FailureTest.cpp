//===- FailureTest.cpp - Wrong programs and lost ranks --------------------===//
//
// R9, R11b and R11c of the reliability goals, for ranks as threads: an error on
// every rank, in bounded time, that names what happened; and a world that can
// go on afterwards.
//
//===----------------------------------------------------------------------===//

#include "Comm/Local/LocalComm.h"
#include "ThreeSites.h"
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#ifdef __linux__
#include <csignal>
#include <cstdarg>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace shardrt;
using namespace shardrt::test;

/// Every rank must be able to run a good step after a bad one. Where a watchdog
/// waits for a moment only, some may be late `attempts - 1` times.
static void checkRecovers(TestWorld &world, int attempts = 1) {
  int status = SHARDRT_WATCHDOG;
  for (int i = 0; i < attempts && status == SHARDRT_WATCHDOG; ++i)
    status = world.run([](shardrt_context *ctx) {
      for (int64_t site : {0, 1, 2})
        if (int status = callSite(ctx, site))
          return status;
      return 0;
    });
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  EXPECT_EQ(world.error(), "");
}

TEST(Mismatch, IsNamedOnBothSides) {
  TestWorld world(threeSites(4));
  expectWithin(1.0, "named", [&] {
    return seconds([&] {
      EXPECT_EQ(world.run([](shardrt_context *ctx) {
        if (int status = callSite(ctx, 2))
          return status;
        return callSite(ctx, shardrt_rank(ctx) == 3 ? 1 : 0);
      }),
                SHARDRT_MISMATCH);
    });
  });
  EXPECT_NE(world.error().find("halo_exchange #0"), std::string::npos)
      << world.error();
  EXPECT_NE(world.error().find("all_reduce #1 of 2 elements"),
            std::string::npos);
  EXPECT_NE(world.error().find("rank 3"), std::string::npos);
  EXPECT_NE(world.error(3).find("rank 3: all_reduce #1 of 2 elements meets "
                                "halo_exchange #0 of rank"),
            std::string::npos)
      << world.error(3);
  checkRecovers(world);
}

TEST(Mismatch, OfCounts) {
  TestWorld world(threeSites(3));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    return callSite(ctx, 1, shardrt_rank(ctx) == 1 ? 3 : 4);
  }),
            SHARDRT_MISMATCH);
  EXPECT_NE(world.error(1).find("all_reduce #1 of 3 elements meets all_reduce "
                                "#1 of 4 elements of rank"),
            std::string::npos)
      << world.error();
  checkRecovers(world);
}

TEST(Mismatch, WithARankThatHasFinished) {
  for (int repeat : {1, 3}) {
    TestWorld world(threeSites(4), 0, 60'000);
    expectWithin(1.0, "repeated " + std::to_string(repeat) + " times", [&] {
      return seconds([&] {
        EXPECT_EQ(world.run(
                      [](shardrt_context *ctx) {
                        if (int status = callSite(ctx, 1))
                          return status;
                        return shardrt_rank(ctx) == 2 ? 0 : callSite(ctx, 0);
                      },
                      repeat),
                  SHARDRT_MISMATCH);
      });
    });
    EXPECT_NE(world.error().find("meets the end of the step of rank 2"),
              std::string::npos)
        << world.error();
    checkRecovers(world);
  }
}

TEST(Mismatch, EveryPairOfSitesInEveryRank) {
  TestWorld world(threeSites(5), 4);
  for (int64_t a : {0, 1, 2})
    for (int64_t b : {0, 1, 2})
      for (int64_t odd = 0; odd < 5; ++odd) {
        if (a == b)
          continue;
        EXPECT_EQ(world.run([&](shardrt_context *ctx) {
          bool is = shardrt_rank(ctx) == odd;
          if (int status = callSite(ctx, is ? a : b))
            return status;
          return callSite(ctx, is ? b : a);
        }),
                  SHARDRT_MISMATCH)
            << a << " " << b << " " << odd;
      }
  checkRecovers(world);
}

TEST(Mismatch, StartWithoutWait) {
  TestWorld world(threeSites(2));
  std::vector<float> src(2);
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    return shardrt_exchange_start(ctx, 0, src.data()) > 0 ? 0 : 2;
  }),
            SHARDRT_MISMATCH);
  EXPECT_NE(world.error().find("left its step before it waited"),
            std::string::npos)
      << world.error();
  checkRecovers(world);
}

// R11b of the reliability goals: within 100 ms, wherever they are: in each of
// three collectives, by an exception or a status. Other work on the machine
// delays some, not all.
TEST(Lost, AFailingRankEndsAllAtOnce) {
  TestWorld world(threeSites(8));
  double longest = 0;
  std::vector<double> least(6, 60);
  for (int i = 0; i < 100; ++i) {
    int64_t bad = i % 8;
    bool throws = i % 2;
    double time = seconds([&] {
      int status = world.run([&](shardrt_context *ctx) -> int {
        if (int s = callSite(ctx, i % 3))
          return s;
        if (shardrt_rank(ctx) == bad) {
          if (throws)
            throw std::runtime_error("no more");
          return shardrt_fail(ctx, SHARDRT_REFUSED, "index out of range");
        }
        return callSite(ctx, (i + 1) % 3);
      });
      EXPECT_EQ(status, throws ? SHARDRT_LOST : SHARDRT_REFUSED);
    });
    longest = std::max(longest, time);
    least[i % 6] = std::min(least[i % 6], time);
    std::string expected =
        "rank " + std::to_string(bad) +
        (throws ? ": threw an exception: no more" : ": index out of range");
    EXPECT_EQ(world.error(), expected);
    EXPECT_EQ(world.error((bad + 1) % 8),
              "rank " + std::to_string((bad + 1) % 8) +
                  ": stopped with the group: " + expected);
  }
  for (double time : least)
    EXPECT_LT(time, 0.1);
  std::printf(
      "R11b: 100 ranks that fail or throw, the others back after %.1f ms "
      "at most\n",
      1e3 * longest);
  checkRecovers(world);
}

TEST(Lost, AStatusWithoutAMessage) {
  TestWorld world(threeSites(3));
  EXPECT_EQ(world.run([](shardrt_context *ctx) {
    return shardrt_rank(ctx) == 1 ? 9 : callSite(ctx, 0);
  }),
            9);
  EXPECT_EQ(world.error(), "rank 1: left its step with status 9");
}

TEST(Watchdog, NamesWhoIsMissingAndWhere) {
  expectTheMissingRankIsNamed(4, Way::Host, 200, [](TestWorld &world) {
    checkRecovers(world, /*attempts=*/20);
  });
}

TEST(Watchdog, SlowIsNotDead) {
  whereTheMachineKeepsUp(500, [](int64_t ms) {
    TestWorld world(threeSites(4), 0, /*timeoutMs=*/ms);
    auto start = std::chrono::steady_clock::now();
    int status = world.run([&](shardrt_context *ctx) {
      if (shardrt_rank(ctx) == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(ms * 4 / 5));
      return callSite(ctx, 0);
    });
    if (status != SHARDRT_OK && millisecondsSince(start) > double(ms))
      return false;
    EXPECT_EQ(status, SHARDRT_OK) << world.error();
    return true;
  });
}

TEST(Watchdog, ARankThatNeverComesBackIsLeftBehind) {
  expectWithin(1.0, "left behind", [] {
    // Shared with a thread that outlives the world.
    auto release = std::make_shared<std::atomic<bool>>(false);
    auto reached = std::make_shared<std::atomic<bool>>(false);
    TestWorld world(threeSites(3), 0, /*timeoutMs=*/100, /*graceMs=*/100);
    double time = seconds([&] {
      EXPECT_EQ(world.run([release, reached](shardrt_context *ctx) {
        if (shardrt_rank(ctx) != 0)
          return callSite(ctx, 0);
        std::shared_ptr<std::atomic<bool>> go = release, done = reached;
        while (!*go)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        int status = callSite(ctx, 0);
        *done = status == SHARDRT_WATCHDOG;
        return status;
      }),
                SHARDRT_WATCHDOG);
    });
    EXPECT_NE(world.error().find("rank 0: did not come back"),
              std::string::npos)
        << world.error();
    EXPECT_EQ(shardrt_world_run(world.world, nullptr, nullptr), SHARDRT_LOST);
    // What it runs goes away with this test: see it to its end.
    *release = true;
    EXPECT_TRUE(awaitThat([&] { return reached->load(); }));
    return time;
  });
}

TEST(Usage, IsRefusedWithTheSite) {
  TestWorld world(threeSites(2));
  std::vector<float> a(8), b(8);
  auto refusal = [&](RankFunction function) {
    EXPECT_EQ(world.run(std::move(function)), SHARDRT_USAGE);
    return world.error();
  };
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_exchange(ctx, 7, a.data(), b.data(), nullptr);
            }).find("calls site 7, but the program has 3"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_exchange(ctx, 1, a.data(), b.data(), nullptr);
            }).find("carries out all_reduce #1"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_exchange(ctx, 0, nullptr, b.data(), nullptr);
            }).find("a buffer is NULL"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_exchange(ctx, 0, a.data(), a.data() + 1, nullptr);
            }).find("source and destination overlap"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_exchange_wait(ctx, 1, a.data(), nullptr);
            }).find("waits for an exchange that is not under way"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              for (int i = 0; i < 9; ++i)
                shardrt_exchange_start(ctx, 0, a.data());
              return shardrt_exchange_wait(ctx, 0, b.data(), nullptr);
            }).find("while 8 exchanges are under way"),
            std::string::npos);
  EXPECT_NE(refusal([&](shardrt_context *ctx) {
              return shardrt_all_reduce(ctx, 1, a.data(), b.data(), -1);
            }).find("-1 elements make no sense"),
            std::string::npos);
  checkRecovers(world);
}

TEST(Usage, NoMoreCollectivesAtATimeThanThereIsRoomFor) {
  for (Way way : {Way::Host, Way::Shared, Way::Sockets}) {
    TestWorld world(threeSites(2), 0, 60'000, 0, false, way);
    int shown = 0;
    EXPECT_EQ(world.run([&](shardrt_context *ctx) {
      Ticket ticket;
      // Nobody reads them, and none is finished.
      int count = 0;
      while (ctx->comm->post({1, 0}, {nullptr, 0}, {}, ticket) && count < 100)
        ++count;
      if (shardrt_rank(ctx) == 0)
        shown = count;
      ctx->comm->settle();
      return ctx->comm->status();
    }),
              SHARDRT_USAGE)
        << nameOf(way);
    EXPECT_LE(shown, 16) << nameOf(way);
    EXPECT_NE(world.error().find("more than 16 collectives are under way in "
                                 "all_reduce #1"),
              std::string::npos)
        << nameOf(way) << ": " << world.error();
  }
}

TEST(Memory, WhatIsShownAndFitsNoSegmentIsRefused) {
  TestWorld world(threeSites(2), 0, 60'000, 0, false, Way::Shared);
  constexpr int64_t most = int64_t(1) << 45;
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    Ticket ticket;
    int64_t other = 1 - shardrt_rank(ctx);
    float own = 0;
    // It lies in no segment, so it is to be copied into one; before it is read
    // there is found to be no room.
    EXPECT_FALSE(ctx->comm->post({1, 0}, {&own, most}, {&other, 1}, ticket));
    ctx->comm->settle();
    return ctx->comm->status();
  }),
            SHARDRT_MEMORY);
  EXPECT_NE(world.error().find("all_reduce #1"), std::string::npos)
      << world.error();
  EXPECT_NE(world.error().find(": no shared memory for 35184372088832 bytes"),
            std::string::npos)
      << world.error();
}

TEST(Unchecked, StillMovesData) {
  TestWorld world(threeSites(4), 1, 60'000, 0, /*unchecked=*/true);
  checkRecovers(world);
}

#ifdef __linux__
/// A thread that writes to memory in which others may not look stands still
/// there until it is let go on.
namespace {
struct StandStill {
  static inline std::atomic<bool> isReached, mayGoOn;
  static inline std::byte *from;
  static inline size_t bytes;

  StandStill(std::byte *begin, size_t length) {
    isReached = mayGoOn = false;
    from = begin;
    bytes = length;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      isReached = true;
      while (!mayGoOn)
        usleep(1000);
      mprotect(from, bytes, PROT_READ | PROT_WRITE);
    };
    sigaction(SIGSEGV, &action, &before);
    mprotect(from, bytes, PROT_READ);
  }
  ~StandStill() { sigaction(SIGSEGV, &before, nullptr); }

  struct sigaction before = {};
};
} // namespace

namespace {
/// Two processes of a job: two mappings of the same memory here.
struct TwoProcesses {
  TwoProcesses() {
    NoSegment why;
    std::unique_ptr<Segment> boards[2] = {Segment::create(bytes, why), nullptr};
    EXPECT_TRUE(boards[0]) << why.why;
    LocalGroup::beginBoards(*boards[0], 2, 1);
    boards[1] = Segment::open(getpid(), boards[0]->descriptor(), bytes,
                              /*isWritable=*/true, why);
    EXPECT_TRUE(boards[1]) << why.why;
    memory = boards[1]->data();
    for (int64_t rank : {0, 1}) {
      LocalGroup::Shared shared;
      shared.rank = rank;
      shared.boards = std::move(boards[rank]);
      shared.mine = Segment::create(1 << 21, why);
      shared.others.resize(2);
      groups[rank] = std::make_unique<LocalGroup>(
          std::move(shared), GroupOptions(),
          [](int64_t, bool) { return std::string("a site"); });
    }
  }

  const int64_t bytes = LocalGroup::bytesOfBoards(2);
  std::byte *memory = nullptr; ///< of the boards, as rank 1 sees it
  std::unique_ptr<LocalGroup> groups[2];
};

/// Done by the next who asks whether somebody else holds a place, before he
/// gets his answer.
std::function<void()> beforeAnswer;
} // namespace

extern "C" int fcntl(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  if (command == F_OFD_GETLK)
    if (auto first = std::exchange(beforeAnswer, nullptr))
      first();
  return static_cast<int>(syscall(SYS_fcntl, file, command, argument));
}

// It had not said goodbye when the other began to look, and was not there any
// more when the system answered.
TEST(Lost, NobodyWhoLeavesWhileOthersLookForHim) {
  TwoProcesses job;
  auto &groups = job.groups;
  beforeAnswer = [&] { groups[1].reset(); };
  groups[0]->patrol(0);
  EXPECT_FALSE(beforeAnswer);
  EXPECT_FALSE(groups[0]->failed()) << groups[0]->failure().text;
  groups[0]->patrol(0);
  EXPECT_FALSE(groups[0]->failed()) << groups[0]->failure().text;
}

TEST(First, OfTwoProcessesOneOfWhichStandsStillInTheMiddleOfIt) {
  TwoProcesses job;
  const int64_t bytes = job.bytes;
  std::byte *memory = job.memory;
  auto &groups = job.groups;

  // Rank 1 may not write beyond the page in which the boards end and what is
  // common begins: what it says reaches there.
  const int64_t page = sysconf(_SC_PAGESIZE);
  int64_t first =
      (2 * static_cast<int64_t>(sizeof(Board)) + 256) / page * page + page;
  StandStill still(memory + first, (bytes - first) / page * page);
  std::thread late(
      [&] { groups[1]->fail({7, 1, std::string(60'000, 'b'), -1, {}}); });
  while (!StandStill::isReached)
    std::this_thread::yield();
  groups[0]->fail({6, 0, std::string(50'000, 'a'), -1, {}});
  for (auto &group : groups) {
    ASSERT_TRUE(group->failed());
    EXPECT_EQ(group->failure().text, std::string(50'000, 'a'));
  }
  StandStill::mayGoOn = true;
  late.join();
  for (auto &group : groups) {
    EXPECT_EQ(group->failure().status, 6);
    EXPECT_EQ(group->failure().rank, 0);
    EXPECT_EQ(group->failure().text, std::string(50'000, 'a'));
    group->leave();
  }
}
#endif
