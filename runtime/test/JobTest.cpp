//===- JobTest.cpp - Ranks that are processes -----------------------------===//
//
// R9, R11 and R11c of the reliability goals for processes of a job: over shared
// memory and over sockets, an error in every process, in bounded time, that
// names what happened. What processes move is in the tests of exchanges,
// reductions and rows; here they are forked, and killed.
//
//===----------------------------------------------------------------------===//

#include "ThreeSites.h"
#include "shardrt/Jobs.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace shardrt;
using namespace shardrt::test;

static constexpr Way jobWays[] = {Way::Shared, Way::Sockets};

//===----------------------------------------------------------------------===//
// Worlds of one rank each, in this process
//===----------------------------------------------------------------------===//

TEST(Job, AMismatchIsNamedOnBothSides) {
  for (Way way : jobWays) {
    TestWorld world(threeSites(4), 0, 10'000, 0, false, way);
    EXPECT_EQ(world.run([](shardrt_context *ctx) {
      if (int status = callSite(ctx, 2))
        return status;
      return callSite(ctx, shardrt_rank(ctx) == 3 ? 1 : 0);
    }),
              SHARDRT_MISMATCH);
    for (const char *part : {"halo_exchange #0", "all_reduce #1 of 2 elements",
                             "rank 3", " meets "})
      EXPECT_NE(world.error().find(part), std::string::npos)
          << nameOf(way) << ": " << world.error();
    EXPECT_NE(world.error(3).find("rank 3: all_reduce #1 of 2 elements meets "
                                  "halo_exchange #0 of rank"),
              std::string::npos)
        << nameOf(way) << ": " << world.error(3);
  }
}

TEST(Job, AMismatchOfCountsAndOrders) {
  for (Way way : jobWays)
    for (int64_t odd = 0; odd < 3; ++odd)
      for (int kind = 0; kind < 3; ++kind) {
        TestWorld world(threeSites(3), 0, 10'000, 0, false, way);
        EXPECT_EQ(world.run([&](shardrt_context *ctx) {
          bool is = shardrt_rank(ctx) == odd;
          if (kind == 0)
            return callSite(ctx, 1, is ? 3 : 4);
          if (int status = callSite(ctx, is ? kind : 0))
            return status;
          return callSite(ctx, is ? 0 : kind);
        }),
                  SHARDRT_MISMATCH)
            << nameOf(way) << " " << kind << " " << odd;
      }
}

// R9 of the reliability goals: one rank of a program does something else
// somewhere.
TEST(Job, AHundredMismatchesAreNamedOnBothSidesWithinASecond) {
  for (Way way : {Way::Host, Way::Shared, Way::Sockets}) {
    double longest = 0;
    auto mismatch = [&](int i) {
      constexpr int64_t ranks = 4;
      TestWorld world(threeSites(ranks), 0, 10'000, 0, false, way);
      // Who, where of nine calls, and what: another site, another count, one
      // left out, one too many, or the end.
      int64_t odd = i % ranks, place = i / ranks % 9, kind = i % 5;
      double time = seconds([&] {
        EXPECT_EQ(world.run([&](shardrt_context *ctx) {
          bool is = shardrt_rank(ctx) == odd;
          for (int64_t call = 0; call < 9; ++call) {
            int64_t site = call % 3, count = 4;
            if (is && call == place) {
              if (kind == 0)
                site = (site + 1) % 3;
              else if (kind == 1 && site == 1)
                count = 3;
              else if (kind == 1)
                site = (site + 2) % 3;
              else if (kind == 2)
                continue;
              else if (kind == 4)
                return 0;
              else if (int status = callSite(ctx, (site + 1) % 3))
                return status;
            }
            if (int status = callSite(ctx, site, count))
              return status;
          }
          return 0;
        }),
                  SHARDRT_MISMATCH)
            << nameOf(way) << ", case " << i;
      });
      longest = std::max(longest, time);
      // Two ranks say what each does and what it finds; one is the odd one,
      // or all that a rank has done since looks odd to it.
      int64_t sides = 0;
      for (int64_t rank = 0; rank < ranks; ++rank)
        sides +=
            world.error(rank).find(" meets ") != std::string::npos &&
            world.error(rank).find("rank " + std::to_string(rank) + ":") == 0;
      EXPECT_GE(sides, 2) << nameOf(way) << ", case " << i << ": "
                          << world.error();
      EXPECT_NE(world.error().find("rank " + std::to_string(odd)),
                std::string::npos)
          << nameOf(way) << ", case " << i << ": " << world.error();
      return time;
    };
    for (int i = 0; i < 100; ++i)
      expectWithin(1.0, nameOf(way) + (", case " + std::to_string(i)),
                   [&] { return mismatch(i); });
    std::printf("R9: 100 mismatches over %s, named after %.3f s at most\n",
                nameOf(way), longest);
  }
}

TEST(Job, ARankThatComesLateHearsOfThisRun) {
  for (Way way : jobWays) {
    TestWorld world(threeSites(3), 0, 10'000, 0, false, way);
    world.lateRank = 2;
    EXPECT_EQ(world.run([](shardrt_context *ctx) {
      return callSite(ctx, 1, shardrt_rank(ctx) == 0 ? 3 : 4);
    }),
              SHARDRT_MISMATCH)
        << nameOf(way);
    EXPECT_EQ(world.run([](shardrt_context *) { return 0; }), SHARDRT_LOST);
  }
}

TEST(Job, ARankThatHasFinished) {
  for (Way way : jobWays)
    expectWithin(1.0, nameOf(way), [&] {
      TestWorld world(threeSites(4), 0, 10'000, 0, false, way);
      double time = seconds([&] {
        EXPECT_EQ(world.run([](shardrt_context *ctx) {
          if (int status = callSite(ctx, 1))
            return status;
          return shardrt_rank(ctx) == 2 ? 0 : callSite(ctx, 0);
        }),
                  SHARDRT_MISMATCH);
      });
      EXPECT_NE(world.error().find("meets the end of the step of rank 2"),
                std::string::npos)
          << nameOf(way) << ": " << world.error();
      return time;
    });
}

TEST(Job, RanksAreAStepApartAtMost) {
  constexpr int64_t repeat = 20;
  for (Way way : {Way::Host, Way::Shared, Way::Sockets}) {
    // Over sockets a rank says that it is at a barrier when it waits: while it
    // computes, the others may have to.
    int64_t toBeOvertaken = way == Way::Sockets ? 0 : repeat - 1;
    TestWorld world(threeSites(3), 0, 60'000, 0, false, way);
    std::atomic<int64_t> steps[3] = {};
    std::atomic<int64_t> furthest{0}, overtaken{0};
    auto look = [&](int64_t mine) {
      int64_t ahead = 0;
      for (auto &other : steps)
        ahead = std::max(ahead, other.load() - mine);
      for (int64_t was = furthest.load();
           was < ahead && !furthest.compare_exchange_weak(was, ahead);) {
      }
      return ahead;
    };
    EXPECT_EQ(world.run(
                  [&](shardrt_context *ctx) {
                    int64_t rank = shardrt_rank(ctx), mine = ++steps[rank];
                    look(mine);
                    if (rank != 1)
                      return 0;
                    // No messages between them: only the barrier holds them. It
                    // lets the others begin the next step while this one lasts,
                    // and no step after that.
                    if (mine <= toBeOvertaken) {
                      auto end = std::chrono::steady_clock::now() +
                                 std::chrono::seconds(30);
                      while (!look(mine) &&
                             std::chrono::steady_clock::now() < end)
                        std::this_thread::yield();
                      overtaken += look(mine);
                    }
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                    look(mine);
                    return 0;
                  },
                  repeat),
              SHARDRT_OK)
        << nameOf(way) << ": " << world.error();
    EXPECT_LE(furthest.load(), 1) << nameOf(way);
    EXPECT_EQ(overtaken.load(), toBeOvertaken) << nameOf(way);
    for (auto &count : steps)
      EXPECT_EQ(count.load(), repeat) << nameOf(way);
  }
}

TEST(Job, AFailingRankEndsAll) {
  for (Way way : jobWays)
    for (bool throws : {false, true})
      expectWithin(0.5, nameOf(way), [&] {
        TestWorld world(threeSites(4), 0, 10'000, 0, false, way);
        double time = seconds([&] {
          EXPECT_EQ(world.run([&](shardrt_context *ctx) -> int {
            if (int s = callSite(ctx, 0))
              return s;
            if (shardrt_rank(ctx) != 1)
              return callSite(ctx, 1);
            if (throws)
              throw std::runtime_error("no more");
            return shardrt_fail(ctx, SHARDRT_REFUSED, "index out of range");
          }),
                    throws ? SHARDRT_LOST : SHARDRT_REFUSED);
        });
        std::string expected =
            std::string("rank 1: ") +
            (throws ? "threw an exception: no more" : "index out of range");
        EXPECT_EQ(world.error(), expected);
        // The job is over.
        EXPECT_EQ(world.run([](shardrt_context *) { return 0; }), SHARDRT_LOST);
        EXPECT_NE(world.error().find("an earlier run of this job failed"),
                  std::string::npos);
        return time;
      });
}

TEST(Job, TheWatchdogNamesWhoIsMissing) {
  for (Way way : jobWays)
    expectTheMissingRankIsNamed(3, way, 300, [](TestWorld &) {});
}

TEST(Job, SlowIsNotDead) {
  for (Way way : jobWays)
    whereTheMachineKeepsUp(600, [&](int64_t ms) {
      TestWorld world(threeSites(3), 0, /*timeoutMs=*/ms, 0, false, way);
      auto start = std::chrono::steady_clock::now();
      int status = world.run([&](shardrt_context *ctx) {
        if (shardrt_rank(ctx) == 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(ms * 2 / 3));
        return callSite(ctx, 0);
      });
      if (status != SHARDRT_OK && millisecondsSince(start) > double(ms))
        return false;
      EXPECT_EQ(status, SHARDRT_OK) << nameOf(way) << ": " << world.error();
      return true;
    });
}

TEST(Job, BringsResultsTogether) {
  for (Way way : jobWays) {
    TestWorld world(threeSites(3), 0, 10'000, 0, false, way);
    std::vector<std::string> mine = {"zero", "", std::string(200'000, 'b')};
    std::vector<std::string> got = {"....", "", std::string(200'000, '.')};
    std::vector<void *> parts;
    std::vector<int64_t> sizes;
    for (std::string &text : got) {
      parts.push_back(text.data());
      sizes.push_back(static_cast<int64_t>(text.size()));
    }
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(
          world.run([](shardrt_context *ctx) { return callSite(ctx, 0); }),
          SHARDRT_OK);
      world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
        bool isRoot = rank == 1;
        EXPECT_EQ(shardrt_world_gather(member.world, 1, mine[rank].data(),
                                       sizes[rank],
                                       isRoot ? parts.data() : nullptr,
                                       isRoot ? sizes.data() : nullptr),
                  SHARDRT_OK);
      });
      EXPECT_EQ(got, mine);
    }
  }
}

TEST(Job, ResultsOfAnotherSizeAreNotBroughtTogether) {
  for (Way way : jobWays) {
    TestWorld world(threeSites(2), 0, 10'000, 0, false, way);
    world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
      std::string mine(8, 'a'), zero(8, '.'), one(9, '.');
      void *parts[] = {zero.data(), one.data()};
      int64_t sizes[] = {8, 9};
      if (rank != 0) {
        // Rank 0 is what says so: this one may have left before.
        shardrt_world_gather(member.world, 0, mine.data(), 8, nullptr, nullptr);
        return;
      }
      EXPECT_EQ(
          shardrt_world_gather(member.world, 0, mine.data(), 8, parts, sizes),
          SHARDRT_MISMATCH);
      std::string error = shardrt_world_error(member.world);
      EXPECT_NE(error.find("expected 9 bytes of rank 1, got 8"),
                std::string::npos)
          << nameOf(way) << ": " << error;
      EXPECT_EQ(one, std::string(9, '.'));
    });
  }
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

namespace {
/// What became of one process.
struct Outcome {
  int status = -1;     ///< of its run, or 100 + the signal that ended it
  std::string message; ///< of its run, or why there was none
};
} // namespace

/// How long processes wait for one another.
struct Limits {
  int64_t joinMs = 20'000, stepMs = 20'000;
};

/// Seconds of the clock that all processes of this machine share, in memory
/// that forked ones share.
class SharedTimes {
public:
  explicit SharedTimes(size_t count)
      : times(static_cast<double *>(mmap(nullptr, count * sizeof(double),
                                         PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        count(count) {}
  ~SharedTimes() { munmap(times, count * sizeof(double)); }
  SharedTimes(const SharedTimes &) = delete;
  static double now() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  double &operator[](size_t i) const { return times[i]; }

private:
  double *times;
  size_t count;
};

/// Forks `size` processes (but those in `absent`) that join one job, and runs
/// `function` on all. `times`, if given, says of rank r of n when it had joined
/// (at r), when it was done (at n + r), how many seconds the machine kept it
/// waiting (at 2n + r), and how often that was for long (at 3n + r).
static std::vector<Outcome>
runForked(const SiteTable &table, Way way, RankFunction function,
          Limits limits = {}, std::vector<int64_t> absent = {},
          std::function<void(const std::vector<pid_t> &)> meanwhile = nullptr,
          const SharedTimes *times = nullptr) {
  int64_t size = table.numRanks(), port = freePort();
  std::vector<Outcome> outcomes(size);
  std::vector<pid_t> processes(size, -1);
  std::vector<int> pipes(size, -1);
  for (int64_t rank = 0; rank < size; ++rank) {
    if (std::find(absent.begin(), absent.end(), rank) != absent.end())
      continue;
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_t process = fork();
    if (process != 0) {
      close(ends[1]);
      processes[rank] = process;
      pipes[rank] = ends[0];
      continue;
    }
    // The child: nothing of the test's may run in it, nor be left behind.
    close(ends[0]);
    alarm(static_cast<unsigned>(60 + 4 * limits.stepMs / 1000));
    std::string message;
    char error[2048] = "";
    shardrt_job_options join = {};
    join.size = sizeof(join);
    join.timeout_ms = limits.joinMs;
    join.rank = rank;
    join.ranks = size;
    join.port = port;
    join.token = "forked";
    shardrt_job *job = nullptr;
    shardrt_program *program = nullptr;
    shardrt_world *world = nullptr;
    EncodedSites encoded = encodeSites(table);
    int status = shardrt_job_join(&join, &job, error, sizeof(error));
    if (times)
      (*times)[rank] = SharedTimes::now();
    if (status == 0)
      status = shardrt_program_create(
          callRankFunction, encoded.words.data(),
          static_cast<int64_t>(encoded.words.size()), encoded.strings.data(),
          static_cast<int64_t>(encoded.strings.size()), "{}", &program, error,
          sizeof(error));
    shardrt_world_options options = {};
    options.size = sizeof(options);
    options.timeout_ms = limits.stepMs;
    options.job = job;
    options.wire = way == Way::Shared ? SHARDRT_WIRE_SHARED : SHARDRT_WIRE_TCP;
    if (status == 0)
      status =
          shardrt_world_create(program, &options, &world, error, sizeof(error));
    if (status == 0) {
      void *input = &function;
      std::vector<void *const *> inputs(size, &input);
      Control control;
      status = shardrt_world_run_repeated(world, inputs.data(), inputs.data(),
                                          3, nullptr);
      double late = control.stop();
      if (times) {
        (*times)[size + rank] = SharedTimes::now();
        (*times)[2 * size + rank] = late;
        (*times)[3 * size + rank] = double(control.pauses());
      }
      message = shardrt_world_error(world);
      shardrt_world_destroy(world);
    } else {
      message = error;
    }
    shardrt_job_leave(job);
    (void)!write(ends[1], message.data(), message.size());
    _exit(status);
  }
  if (meanwhile)
    meanwhile(processes);
  for (int64_t rank = 0; rank < size; ++rank) {
    if (processes[rank] < 0)
      continue;
    char buffer[4096];
    ssize_t count;
    while ((count = read(pipes[rank], buffer, sizeof(buffer))) > 0)
      outcomes[rank].message.append(buffer, count);
    close(pipes[rank]);
    int ended = 0;
    waitpid(processes[rank], &ended, 0);
    outcomes[rank].status =
        WIFEXITED(ended) ? WEXITSTATUS(ended) : 100 + WTERMSIG(ended);
  }
  return outcomes;
}

TEST(Processes, RunSteps) {
  for (Way way : jobWays) {
    std::vector<Outcome> outcomes =
        runForked(threeSites(4), way, [](shardrt_context *ctx) -> int {
          int64_t rank = shardrt_rank(ctx);
          for (int64_t count : {1, 100, 50'000}) {
            std::vector<float> mine(count, static_cast<float>(rank)),
                sum(count);
            if (int s =
                    shardrt_all_reduce(ctx, 1, mine.data(), sum.data(), count))
              return s;
            for (float value : sum)
              if (value != 6)
                return shardrt_fail(ctx, 3, "a wrong sum");
          }
          // In memory that others see, and in memory that they do not.
          auto *arena = static_cast<float *>(shardrt_arena(ctx, 1 << 20));
          float outside[2], *sources[] = {arena, outside};
          for (float *src : sources) {
            src[0] = src[1] = static_cast<float>(rank);
            float grown[4];
            if (int s = shardrt_exchange(ctx, 0, src, grown, nullptr))
              return s;
            float below = rank == 0 ? 0 : static_cast<float>(rank - 1);
            float above = rank == 3 ? 0 : static_cast<float>(rank + 1);
            if (grown[0] != below || grown[3] != above)
              return shardrt_fail(ctx, 3, "a wrong halo");
          }
          return 0;
        });
    for (const Outcome &outcome : outcomes)
      EXPECT_EQ(outcome.status, 0) << nameOf(way) << ": " << outcome.message;
  }
}

TEST(Processes, AKilledRankEndsTheOthersWithinTwoSeconds) {
  for (Way way : jobWays)
    for (int64_t victim : {0, 2})
      for (int64_t site : {0, 1, 2}) {
        expectWithin(2.0, nameOf(way), [&] {
          // The last: when it was killed.
          SharedTimes times(17);
          Control control;
          std::vector<Outcome> outcomes = runForked(
              threeSites(4), way,
              [&](shardrt_context *ctx) -> int {
                if (int s = callSite(ctx, site))
                  return s;
                if (shardrt_rank(ctx) == victim) {
                  times[16] = SharedTimes::now();
                  raise(SIGKILL);
                }
                return callSite(ctx, (site + 1) % 3);
              },
              {}, {}, nullptr, &times);
          double late = control.stop(), longest = 0;
          for (int64_t rank = 0; rank < 4; ++rank) {
            const Outcome &outcome = outcomes[rank];
            if (rank != victim)
              longest = std::max(longest, times[4 + rank] - times[16] - late);
            EXPECT_EQ(outcome.status, rank == victim ? 100 + SIGKILL : 4)
                << nameOf(way) << ", rank " << rank << ": " << outcome.message;
            if (rank != victim)
              EXPECT_NE(outcome.message.find("rank " + std::to_string(victim)),
                        std::string::npos)
                  << nameOf(way) << ", rank " << rank << ": "
                  << outcome.message;
            if (rank != victim)
              EXPECT_NE(outcome.message.find("is gone"), std::string::npos)
                  << nameOf(way) << ", rank " << rank << ": "
                  << outcome.message;
          }
          return longest;
        });
      }
  // Nothing with a name is left behind. Directories are those of tests that
  // save checkpoints, which may run at the same time.
  if (DIR *directory = opendir("/dev/shm")) {
    while (dirent *entry = readdir(directory))
      if (entry->d_type != DT_DIR)
        EXPECT_EQ(std::string(entry->d_name).find("shardrt"),
                  std::string::npos);
    closedir(directory);
  }
}

// R11c: within the limit of time and a second. A process that the machine keeps
// waiting for half a second was stopped itself, for all that it knows, and
// begins anew: it may take that much longer.
TEST(Processes, AStoppedRankIsFoundByTheWatchdog) {
  constexpr int64_t ms = 1'500;
  for (Way way : jobWays)
    expectWithin(1e-3 * double(ms) + 1, nameOf(way), [&] {
      // The last: when it was stopped.
      SharedTimes times(13);
      std::vector<Outcome> outcomes = runForked(
          threeSites(3), way,
          [&](shardrt_context *ctx) -> int {
            if (int s = callSite(ctx, 0))
              return s;
            if (shardrt_rank(ctx) == 1) {
              times[12] = SharedTimes::now();
              raise(SIGSTOP);
            }
            return callSite(ctx, 1);
          },
          {.stepMs = ms}, {},
          [](const std::vector<pid_t> &processes) {
            for (int64_t rank : {0, 2}) {
              siginfo_t info;
              waitid(P_PID, processes[rank], &info, WEXITED | WNOWAIT);
            }
            kill(processes[1], SIGKILL);
          },
          &times);
      EXPECT_NE(outcomes[0].message.find("missing: rank 1"), std::string::npos)
          << outcomes[0].message;
      double longest = 0;
      for (int64_t rank : {0, 2}) {
        EXPECT_EQ(outcomes[rank].status, SHARDRT_WATCHDOG)
            << outcomes[rank].message;
        longest =
            std::max(longest, times[3 + rank] - times[12] - times[6 + rank] -
                                  1e-3 * double(ms) * times[9 + rank]);
      }
      return longest;
    });
}

TEST(Processes, AJobThatIsStoppedAndContinuedGoesOn) {
  for (Way way : jobWays)
    whereTheMachineKeepsUp(1'500, [&](int64_t ms) {
      // Of each process the pauses, and of this one, which stops and continues
      // them one after the other.
      SharedTimes times(12);
      Control control;
      std::vector<Outcome> outcomes = runForked(
          threeSites(3), way,
          [](shardrt_context *ctx) -> int {
            for (int64_t i = 0; i < 60; ++i) {
              if (int s = callSite(ctx, 0))
                return s;
              // The others wait for it nearly all the time.
              if (shardrt_rank(ctx) == 1)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            return 0;
          },
          {.stepMs = ms}, {},
          [&](const std::vector<pid_t> &processes) {
            // For longer than the watchdog waits, in the middle of the run.
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            for (int signal : {SIGSTOP, SIGCONT}) {
              for (pid_t process : processes)
                kill(process, signal);
              if (signal == SIGSTOP)
                std::this_thread::sleep_for(std::chrono::milliseconds(2 * ms));
            }
          },
          &times);
      control.stop();
      bool areWell = true, hasPaused = control.pauses() > 0;
      for (int64_t rank : {0, 1, 2}) {
        areWell &= outcomes[rank].status == 0;
        // Being stopped is one.
        hasPaused |= times[9 + rank] > 1;
      }
      if (!areWell && hasPaused)
        return false;
      for (const Outcome &outcome : outcomes)
        EXPECT_EQ(outcome.status, 0) << nameOf(way) << ": " << outcome.message;
      return true;
    });
}

TEST(Processes, RanksThatDoNotComeAreNamed) {
  for (Way way : jobWays) {
    whereTheMachineKeepsUp(400, [&](int64_t ms) {
      SharedTimes times(16);
      double start = SharedTimes::now();
      std::vector<Outcome> outcomes = runForked(
          threeSites(4), way, [](shardrt_context *) { return 0; },
          {.joinMs = ms}, {1, 3}, nullptr, &times);
      // Whether rank 2 was there in half the time that rank 0 waits.
      if (times[2] == 0 || times[2] - start > 0.5e-3 * double(ms))
        return false;
      EXPECT_EQ(outcomes[0].status, SHARDRT_LOST);
      EXPECT_NE(outcomes[0].message.find("waited " + std::to_string(ms) +
                                         " ms for ranks 1, 3"),
                std::string::npos)
          << outcomes[0].message;
      EXPECT_EQ(outcomes[2].status, SHARDRT_LOST) << outcomes[2].message;
      return true;
    });
    // Nobody at all.
    std::vector<Outcome> outcomes =
        runForked(threeSites(2), way, [](shardrt_context *) { return 0; },
                  {.joinMs = 300}, {0});
    EXPECT_EQ(outcomes[1].status, SHARDRT_LOST);
    EXPECT_NE(outcomes[1].message.find("for rank 0 to listen"),
              std::string::npos)
        << outcomes[1].message;
  }
}

TEST(Processes, OfAnotherProgramAreRefused) {
  TestWorld world(threeSites(2));
  int64_t port = freePort();
  std::string errors[2];
  int statuses[2];
  std::vector<std::thread> threads;
  for (int64_t rank : {0, 1})
    threads.emplace_back([&, rank] {
      char error[1024] = "";
      shardrt_job_options join = {};
      join.size = sizeof(join);
      join.timeout_ms = 20'000;
      join.rank = rank;
      join.ranks = 2;
      join.port = port;
      join.token = "two";
      shardrt_job *job = nullptr;
      ASSERT_EQ(shardrt_job_join(&join, &job, error, sizeof(error)), 0)
          << error;
      SiteTable table = threeSites(2);
      if (rank == 1)
        table.sites.pop_back();
      EncodedSites encoded = encodeSites(table);
      shardrt_program *program = nullptr;
      shardrt_program_create(callRankFunction, encoded.words.data(),
                             static_cast<int64_t>(encoded.words.size()),
                             encoded.strings.data(),
                             static_cast<int64_t>(encoded.strings.size()), "{}",
                             &program, error, sizeof(error));
      shardrt_world_options options = {};
      options.size = sizeof(options);
      options.job = job;
      shardrt_world *made = nullptr;
      statuses[rank] =
          shardrt_world_create(program, &options, &made, error, sizeof(error));
      errors[rank] = error;
      shardrt_program_destroy(program);
      shardrt_job_leave(job);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(statuses[1], SHARDRT_ARTIFACT);
  EXPECT_EQ(errors[1], "rank 1 runs another program than rank 0: start all "
                       "ranks with the same model and options");
  EXPECT_NE(statuses[0], SHARDRT_OK);
}

TEST(Processes, AsManyAsRanks) {
  TestWorld world(threeSites(2));
  char error[1024] = "";
  shardrt_job_options join = {};
  join.size = sizeof(join);
  join.ranks = 1;
  join.port = freePort();
  shardrt_job *job = nullptr;
  ASSERT_EQ(shardrt_job_join(&join, &job, error, sizeof(error)), 0) << error;
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.job = job;
  shardrt_world *made = nullptr;
  EXPECT_EQ(shardrt_world_create(world.program, &options, &made, error,
                                 sizeof(error)),
            SHARDRT_USAGE);
  EXPECT_STREQ(error, "the job has 1 processes, but the program's mesh has 2 "
                      "ranks: start one for each");
  shardrt_job_leave(job);
}

TEST(Job, SealedSocketsCarryTheSame) {
  for (bool encrypts : {false, true}) {
    setenv("SHARDRT_ENCRYPT", encrypts ? "1" : "0", 1);
    TestWorld world(threeSites(3), 0, 20'000, 0, false, Way::Sockets);
    unsetenv("SHARDRT_ENCRYPT");
    EXPECT_EQ(world.run([](shardrt_context *ctx) -> int {
      for (int64_t count : {1, 2048, 65'536, 300'000}) {
        std::vector<float> mine(count), sum(count);
        for (int64_t i = 0; i < count; ++i)
          mine[i] = static_cast<float>(i % 1000 + shardrt_rank(ctx));
        if (int s = shardrt_all_reduce(ctx, 1, mine.data(), sum.data(), count))
          return s;
        for (int64_t i = 0; i < count; ++i)
          if (sum[i] != static_cast<float>(3 * (i % 1000) + 3))
            return shardrt_fail(ctx, 3, "a wrong sum");
      }
      return 0;
    }),
              SHARDRT_OK)
        << world.error();
  }
}

TEST(Job, RanksHaveTheSameOrAllSayWhoHasNot) {
  TestWorld world(threeSites(4), 0, 10'000, 0, false, Way::Sockets);
  struct {
    const char *name;
    std::vector<const char *> values;
    const char *says;
  } const cases[] = {
      {"same", {"a", "a", "a", "a"}, ""},
      {"of its own", {"a", "", "a", ""}, ""},
      {"third", {"a", "a", "b", "a"}, "rank 2 has b, rank 0 has a"},
      {"first", {"b", "a", "", "a"}, "rank 1 has a, rank 0 has b"},
  };
  for (const auto &one : cases)
    world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
      char error[256] = "";
      EXPECT_EQ(shardrt_job_agree(member.job, one.name, one.values[rank], error,
                                  sizeof(error)),
                *one.says ? SHARDRT_ARTIFACT : SHARDRT_OK)
          << one.name << ", rank " << rank;
      EXPECT_STREQ(error, one.says);
    });
}

TEST(Job, OnlyRankZeroPublishesPrograms) {
  TestWorld world(threeSites(2), 0, 10'000, 0, false, Way::Sockets);
  world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
    char error[256] = "";
    if (rank == 1) {
      EXPECT_EQ(shardrt_job_put(member.job, "program/7@0", "evil", 4, error,
                                sizeof(error)),
                SHARDRT_LOST);
      EXPECT_STREQ(error, "'shared/program/7@0/1' is not for rank 1 to set");
    }
  });
}

TEST(Job, ValuesOfAnyLengthAreShared) {
  TestWorld world(threeSites(3), 0, 10'000, 0, false, Way::Sockets);
  // Longer than what the store keeps under one name; and nothing.
  std::string large(3'000'001, '\0');
  for (size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<char>(i * 7 % 251);
  std::atomic<int> well = 0;
  world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
    char error[256] = "";
    for (const std::string &value : {large, std::string()}) {
      std::string name = "value " + std::to_string(value.size());
      if (rank == 1)
        EXPECT_EQ(shardrt_job_put(member.job, name.c_str(), value.data(),
                                  static_cast<int64_t>(value.size()), error,
                                  sizeof(error)),
                  SHARDRT_OK)
            << error;
      void *data = nullptr;
      int64_t bytes = -1;
      EXPECT_EQ(shardrt_job_get(member.job, name.c_str(), 0, &data, &bytes,
                                error, sizeof(error)),
                SHARDRT_OK)
          << error;
      well += data && std::string(static_cast<char *>(data),
                                  static_cast<size_t>(bytes)) == value;
      std::free(data);
    }
    void *data = nullptr;
    int64_t bytes;
    EXPECT_EQ(shardrt_job_get(member.job, "nobody's", 50, &data, &bytes, error,
                              sizeof(error)),
              SHARDRT_LOST);
    EXPECT_NE(std::string(error).find("waited 50 ms for 'shared/nobody's/0'"),
              std::string::npos)
        << error;
  });
  EXPECT_EQ(well, 6);
}
