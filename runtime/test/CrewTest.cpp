//===- CrewTest.cpp - Threads of ranks that worlds share ------------------===//

#include "Host/Cores.h"
#include "ThreeSites.h"
#include "World/World.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// A crew, and programs on it.
class TestCrew {
public:
  explicit TestCrew(int64_t places, int64_t threads = 0) : places(places) {
    shardrt_crew_options options = {};
    options.size = sizeof(options);
    options.threads = threads;
    char error[256] = "";
    EXPECT_EQ(
        shardrt_crew_create(places, &options, &crew, error, sizeof(error)),
        SHARDRT_OK)
        << error;
  }
  ~TestCrew() { shardrt_crew_destroy(crew); }

  int64_t places;
  shardrt_crew *crew = nullptr;
};

/// A run, and its result.
class TestRun {
public:
  explicit TestRun(RankFunction given) : function(std::move(given)) {}

  int start(shardrt_world *world, int64_t ranks) {
    input = &function;
    inputs.assign(ranks, &input);
    return shardrt_world_start(world, inputs.data(), inputs.data(),
                               &TestRun::end, this);
  }
  int wait() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return calls > 0; });
    return status;
  }
  /// For at most this many seconds; -1: not yet.
  int waitFor(double time) {
    std::unique_lock lock(mutex);
    return done.wait_for(lock, std::chrono::duration<double>(time),
                         [&] { return calls > 0; })
               ? status
               : -1;
  }

  std::mutex mutex;
  std::condition_variable done;
  int calls = 0, status = -1;
  std::string error;
  std::thread::id thread;
  std::function<void()> then; ///< called when it has ended, before who waits

private:
  static void end(void *user, int status, const char *error) {
    auto *run = static_cast<TestRun *>(user);
    if (run->then)
      run->then();
    std::lock_guard lock(run->mutex);
    ++run->calls;
    run->status = status;
    run->error = error;
    run->thread = std::this_thread::get_id();
    run->done.notify_all();
  }

  RankFunction function;
  void *input = nullptr;
  std::vector<void *const *> inputs;
};

/// A program whose step is a function of the run, at places of a
/// crew.
class CrewWorld {
public:
  CrewWorld(const SiteTable &table, shardrt_crew *crew,
            std::vector<int64_t> places = {}, int64_t timeoutMs = 60'000,
            int64_t graceMs = 0, shardrt_host_fn host = nullptr,
            Way way = Way::Host)
      : ranks(table.numRanks()) {
    EncodedSites encoded = encodeSites(table);
    EXPECT_EQ(
        shardrt_program_create(callRankFunction, encoded.words.data(),
                               static_cast<int64_t>(encoded.words.size()),
                               encoded.strings.data(),
                               static_cast<int64_t>(encoded.strings.size()),
                               "{}", &program, error, sizeof(error)),
        SHARDRT_OK)
        << error;
    if (!isOfHost(way))
      const_cast<Program &>(*program->program).device = deviceFor(way);
    options.size = sizeof(options);
    options.transport = isOfHost(way)        ? SHARDRT_TRANSPORT_AUTO
                        : way == Way::Staged ? SHARDRT_TRANSPORT_HOST
                        : way == Way::Nccl || way == Way::CudaNccl
                            ? SHARDRT_TRANSPORT_NCCL
                            : SHARDRT_TRANSPORT_DIRECT;
    options.crew = crew;
    options.places = places.empty() ? nullptr : places.data();
    options.timeout_ms = timeoutMs;
    options.grace_ms = graceMs;
    options.host = host;
    status =
        shardrt_world_create(program, &options, &world, error, sizeof(error));
    unsetenv("FAKE_CUDA_DEVICES");
  }
  ~CrewWorld() {
    shardrt_world_destroy(world);
    unsetenv("FAKE_CUDA_MEMORY");
    shardrt_program_destroy(program);
  }
  CrewWorld(const CrewWorld &) = delete;

  int start(TestRun &run) { return run.start(world, ranks); }
  /// Does a run and waits for it.
  int run(RankFunction function) {
    void *input = &function;
    std::vector<void *const *> inputs(ranks, &input);
    return shardrt_world_run(world, inputs.data(), inputs.data());
  }

  int64_t ranks;
  shardrt_program *program = nullptr;
  shardrt_world_options options = {};
  shardrt_world *world = nullptr;
  int status = -1;
  char error[512] = "";
};
/// A rank that says that it is there, and is at work until `go`.
RankFunction waitFor(std::atomic<bool> &go, std::atomic<bool> &isThere) {
  return [&](shardrt_context *) {
    isThere = true;
    while (!go)
      std::this_thread::yield();
    return 0;
  };
}

} // namespace

static int callAllSites(shardrt_context *ctx) {
  for (int64_t site : {0, 1, 2})
    if (int status = callSite(ctx, site))
      return status;
  return 0;
}

/// Rank r's part of an all-reduce of `value`s is what all ranks get: their sum.
static int sum(shardrt_context *ctx, float value, float &result) {
  return shardrt_all_reduce(ctx, 1, &value, &result, 1);
}

TEST(Crew, WorldsShareItsThreads) {
  TestCrew crew(4);
  std::set<std::thread::id> threads;
  std::mutex mutex;
  auto step = [&](shardrt_context *ctx) {
    {
      std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    return callAllSites(ctx);
  };
  std::vector<std::unique_ptr<CrewWorld>> worlds;
  for (int64_t ranks : {4, 4, 2, 3, 4})
    worlds.push_back(std::make_unique<CrewWorld>(threeSites(ranks), crew.crew));
  for (auto &world : worlds) {
    ASSERT_EQ(world->status, SHARDRT_OK) << world->error;
    EXPECT_EQ(world->run(step), SHARDRT_OK)
        << shardrt_world_error(world->world);
  }
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
}

TEST(Crew, RanksAreAtTheirPlaces) {
  TestCrew crew(4);
  std::vector<std::thread::id> at(4), ranks(3);
  for (int64_t place = 0; place < 4; ++place) {
    CrewWorld one(makeTable({1}, {}), crew.crew, {place});
    EXPECT_EQ(one.run([&](shardrt_context *) {
      at[place] = std::this_thread::get_id();
      return 0;
    }),
              SHARDRT_OK);
  }
  CrewWorld world(threeSites(3), crew.crew, {3, 0, 2});
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    ranks[shardrt_rank(ctx)] = std::this_thread::get_id();
    return callAllSites(ctx);
  }),
            SHARDRT_OK);
  EXPECT_EQ(ranks, (std::vector<std::thread::id>{at[3], at[0], at[2]}));
}

TEST(Crew, RefusesPlacesThatItDoesNotHave) {
  TestCrew crew(2);
  auto refusal = [&](int64_t ranks, std::vector<int64_t> places) {
    CrewWorld world(threeSites(ranks), crew.crew, places);
    EXPECT_EQ(world.status, SHARDRT_USAGE);
    return std::string(world.error);
  };
  EXPECT_EQ(refusal(3, {}),
            "the program has 3 ranks, but the crew only 2 places");
  EXPECT_EQ(refusal(2, {0, 2}), "place 2 of rank 1 is none of the crew's 2");
  EXPECT_EQ(refusal(2, {-1, 0}), "place -1 of rank 0 is none of the crew's 2");
  EXPECT_EQ(refusal(2, {1, 1}), "place 1 of rank 1 is that of another rank");
  shardrt_crew *none = nullptr;
  char error[128] = "";
  EXPECT_EQ(shardrt_crew_create(0, nullptr, &none, error, sizeof(error)),
            SHARDRT_USAGE);
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(std::string(error), "");
  EXPECT_EQ(shardrt_crew_call(
                crew.crew, 2, [](void *, int) {}, nullptr),
            SHARDRT_USAGE);
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 2), 0);
  shardrt_crew_destroy(nullptr);
}

TEST(Crew, StartsReturnAtOnceAndRunInOrder) {
  TestCrew crew(2);
  CrewWorld world(threeSites(2), crew.crew);
  std::atomic<bool> go{false};
  std::vector<int> order[2];
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(std::make_unique<TestRun>([&, i](shardrt_context *ctx) {
      while (i == 0 && !go)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      order[shardrt_rank(ctx)].push_back(i);
      return callAllSites(ctx);
    }));
    ASSERT_EQ(world.start(*runs.back()), SHARDRT_OK);
  }
  EXPECT_EQ(runs.back()->waitFor(0.02), -1);
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 0), 0);
  go = true;
  std::vector<int> expected;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(runs[i]->wait(), SHARDRT_OK) << runs[i]->error;
    EXPECT_EQ(runs[i]->error, "");
    expected.push_back(i);
  }
  for (auto &run : runs) {
    EXPECT_EQ(run->calls, 1);
    EXPECT_NE(run->thread, std::this_thread::get_id());
  }
  EXPECT_EQ(order[0], expected);
  EXPECT_EQ(order[1], expected);
}

TEST(Crew, ARankMayBeARunAhead) {
  TestCrew crew(2);
  CrewWorld world(makeTable({2}, {}), crew.crew);
  std::atomic<int> ahead{0};
  TestRun first([&](shardrt_context *ctx) {
    if (shardrt_rank(ctx) == 1)
      awaitThat([&] { return ahead != 0; });
    return 0;
  });
  TestRun second([&](shardrt_context *ctx) {
    if (shardrt_rank(ctx) == 0)
      ++ahead;
    return 0;
  });
  ASSERT_EQ(world.start(first), SHARDRT_OK);
  ASSERT_EQ(world.start(second), SHARDRT_OK);
  EXPECT_EQ(second.wait(), SHARDRT_OK);
  EXPECT_EQ(first.wait(), SHARDRT_OK);
  EXPECT_EQ(ahead, 1);
}

TEST(Crew, StartsFromSeveralThreadsDoNotWaitForEachOther) {
  TestCrew crew(4);
  // Every pair of worlds has places in common, in another order.
  std::vector<std::vector<int64_t>> places = {
      {0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0}, {2, 1, 3}, {0, 3}};
  std::vector<std::unique_ptr<CrewWorld>> worlds;
  for (auto &at : places)
    worlds.push_back(std::make_unique<CrewWorld>(
        threeSites(static_cast<int64_t>(at.size())), crew.crew, at));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 60; ++i) {
        CrewWorld &world = *worlds[(caller + i) % worlds.size()];
        auto value = static_cast<float>(caller * 1000 + i);
        TestRun run([&](shardrt_context *ctx) {
          float all = 0;
          if (int status = sum(ctx, value, all))
            return status;
          wrong += all != value * static_cast<float>(shardrt_num_ranks(ctx));
          return callSite(ctx, 2);
        });
        wrong += world.start(run) != SHARDRT_OK;
        wrong += run.wait() != SHARDRT_OK;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Crew, AFailureIsThatOfItsRunAlone) {
  TestCrew crew(4);
  CrewWorld world(threeSites(4), crew.crew), other(threeSites(3), crew.crew);
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 60; ++i) {
    runs.push_back(std::make_unique<TestRun>([i](shardrt_context *ctx) -> int {
      if (int status = callSite(ctx, i % 3))
        return status;
      if (i % 3 == 1 && shardrt_rank(ctx) == i % 4) {
        if (i % 2)
          throw std::runtime_error("no more");
        return shardrt_fail(ctx, SHARDRT_REFUSED, "index out of range");
      }
      return callSite(ctx, (i + 1) % 3);
    }));
    // Rank 3 of the runs of three is none.
    CrewWorld &at = i % 2 || i % 4 == 3 ? world : other;
    ASSERT_EQ(at.start(*runs.back()), SHARDRT_OK);
  }
  for (int i = 0; i < 60; ++i) {
    int64_t ranks = i % 2 || i % 4 == 3 ? 4 : 3;
    bool fails = i % 3 == 1 && i % 4 < ranks;
    EXPECT_EQ(runs[i]->wait(), !fails  ? SHARDRT_OK
                               : i % 2 ? SHARDRT_LOST
                                       : SHARDRT_REFUSED)
        << i << ": " << runs[i]->error;
    EXPECT_EQ(runs[i]->error, !fails
                                  ? std::string()
                                  : "rank " + std::to_string(i % 4) +
                                        (i % 2 ? ": threw an exception: no more"
                                               : ": index out of range"));
  }
}

TEST(Crew, MismatchesAreNamed) {
  TestCrew crew(3);
  CrewWorld world(threeSites(3), crew.crew);
  TestRun early([](shardrt_context *ctx) {
    return shardrt_rank(ctx) == 2 ? 0 : callSite(ctx, 0);
  });
  TestRun good(callAllSites);
  ASSERT_EQ(world.start(early), SHARDRT_OK);
  ASSERT_EQ(world.start(good), SHARDRT_OK);
  EXPECT_EQ(early.wait(), SHARDRT_MISMATCH);
  EXPECT_NE(early.error.find("meets the end of the step of rank 2"),
            std::string::npos)
      << early.error;
  EXPECT_EQ(good.wait(), SHARDRT_OK) << good.error;
}

TEST(Crew, TheWatchdogWaitsForPlacesThatHaveOtherWork) {
  whereTheMachineKeepsUp(100, [](int64_t ms) {
    TestCrew crew(2);
    CrewWorld busy(makeTable({1}, {}), crew.crew, {1});
    CrewWorld world(threeSites(2), crew.crew, {}, /*timeoutMs=*/ms);
    std::chrono::steady_clock::time_point over;
    TestRun work([&](shardrt_context *) {
      std::this_thread::sleep_for(std::chrono::milliseconds(4 * ms));
      over = std::chrono::steady_clock::now();
      return 0;
    });
    TestRun run(callAllSites);
    EXPECT_EQ(busy.start(work), SHARDRT_OK);
    EXPECT_EQ(world.start(run), SHARDRT_OK);
    EXPECT_EQ(work.wait(), SHARDRT_OK);
    int status = run.wait();
    // Since then it had the place, and as long as the watchdog waits.
    if (status != SHARDRT_OK && millisecondsSince(over) > double(ms))
      return false;
    EXPECT_EQ(status, SHARDRT_OK) << run.error;
    return true;
  });
}

/// Returns whether all others came back in the `ms` that they are given, and
/// the caller had its answer soon after.
static bool leaveAPlaceBehind(int64_t ms) {
  // Shared with a thread that may outlive the crew.
  auto release = std::make_shared<std::atomic<bool>>(false);
  TestCrew crew(3);
  CrewWorld world(threeSites(3), crew.crew, {}, /*timeoutMs=*/ms,
                  /*graceMs=*/ms);
  CrewWorld other(threeSites(2), crew.crew, {0, 2});
  TestRun stuck([release](shardrt_context *ctx) {
    std::shared_ptr<std::atomic<bool>> go = release;
    while (shardrt_rank(ctx) == 1 && !*go)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return callSite(ctx, 0);
  });
  TestRun later(callAllSites);
  std::atomic<int> called{-1};
  auto notify = [](void *user, int status) {
    *static_cast<std::atomic<int> *>(user) = status;
  };
  double time = seconds([&] {
    EXPECT_EQ(world.start(stuck), SHARDRT_OK);
    EXPECT_EQ(world.start(later), SHARDRT_OK);
    EXPECT_EQ(shardrt_crew_call(crew.crew, 1, notify, &called), SHARDRT_OK);
    EXPECT_EQ(stuck.wait(), SHARDRT_WATCHDOG);
    EXPECT_EQ(later.wait(), SHARDRT_LOST);
  });
  bool inTime = time < 2e-3 * static_cast<double>(ms) + 1.8;
  EXPECT_NE(stuck.error.find("rank 1: did not come back"), std::string::npos)
      << stuck.error;
  bool areBack =
      stuck.error.find("rank 0: did not come back") == std::string::npos &&
      stuck.error.find("rank 2: did not come back") == std::string::npos;
  if (areBack)
    EXPECT_EQ(later.error,
              "place 1 of the crew has not come back from an earlier "
              "run; make a new crew");
  EXPECT_EQ(called, SHARDRT_LOST);
  // Also what needs that place not at all.
  TestRun none(callAllSites);
  EXPECT_EQ(other.start(none), SHARDRT_LOST);
  EXPECT_EQ(other.run(callAllSites), SHARDRT_LOST);
  EXPECT_STREQ(shardrt_world_error(other.world), later.error.c_str());
  // It is back before this test's functions go away.
  *release = true;
  EXPECT_TRUE(awaitThat([&] { return other.run(callAllSites) == SHARDRT_OK; }));
  // Its ranks may be late once, but not each time.
  int status = SHARDRT_WATCHDOG;
  for (int i = 0; i < 100 && status != SHARDRT_OK; ++i)
    status = world.run(callAllSites);
  EXPECT_EQ(status, SHARDRT_OK);
  EXPECT_EQ(stuck.calls, 1);
  return areBack && inTime;
}

TEST(Crew, APlaceThatNeverComesBackIsSaidToEverybody) {
  whereTheMachineKeepsUp(100, leaveAPlaceBehind);
}

TEST(Crew, APlaceWhosePartHasLeftIsNotGivenUp) {
  GivenUp isLost;
  std::atomic<bool> hasLeft{true};
  std::atomic<int64_t> places{0};
  // It seemed not to have, and left before its place was given up.
  EXPECT_FALSE(isLost.set(hasLeft, places));
  EXPECT_FALSE(isLost.load());
  // Its thread may have seen that for a moment.
  isLost.clear(places);
  EXPECT_EQ(places, 0);
  // What another run has lost stays so.
  hasLeft = false;
  EXPECT_TRUE(isLost.set(hasLeft, places));
  hasLeft = true;
  EXPECT_FALSE(isLost.set(hasLeft, places));
  EXPECT_TRUE(isLost.load());
  EXPECT_EQ(places, 1);
  isLost.clear(places);
  EXPECT_FALSE(isLost.load());
  EXPECT_EQ(places, 0);
}

TEST(Crew, ALoneRankRunsOnTheCallersThread) {
  TestCrew crew(2);
  CrewWorld one(
      makeTable({1}, {allReduceSite(ElementType::F32, Reduction::Sum, {0})}),
      crew.crew, {1});
  CrewWorld two(threeSites(2), crew.crew);
  std::thread::id thread;
  RankFunction function = [&](shardrt_context *ctx) {
    thread = std::this_thread::get_id();
    EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 1), 0);
    float in = 3, out = 0;
    int status = shardrt_all_reduce(ctx, 0, &in, &out, 1);
    EXPECT_EQ(out, 3);
    return status;
  };
  void *input = &function;
  void *const *inputs[] = {&input, &input};
  char error[128] = "untouched";
  auto runHere = [&](CrewWorld &world) {
    return shardrt_world_run_here(world.world, inputs, inputs, nullptr, error,
                                  sizeof(error));
  };
  ASSERT_EQ(runHere(one), SHARDRT_OK);
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_STREQ(error, "untouched");
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 1), 1);
  EXPECT_EQ(runHere(two), SHARDRT_BUSY);
  // Who fails leaves nothing behind.
  function = [](shardrt_context *ctx) {
    return shardrt_fail(ctx, SHARDRT_REFUSED, "not today");
  };
  EXPECT_EQ(runHere(one), SHARDRT_REFUSED);
  EXPECT_STREQ(error, "rank 0: not today");
  function = [](shardrt_context *) { return 0; };
  EXPECT_EQ(runHere(one), SHARDRT_OK);
  // A place that is at work is left alone; what it is asked meanwhile comes
  // after.
  std::atomic<bool> go{false}, isThere{false};
  TestRun work(waitFor(go, isThere));
  ASSERT_EQ(one.start(work), SHARDRT_OK);
  while (!isThere)
    std::this_thread::yield();
  EXPECT_EQ(runHere(one), SHARDRT_BUSY);
  go = true;
  EXPECT_EQ(work.wait(), SHARDRT_OK);
  TestRun behind([](shardrt_context *) { return 0; });
  function = [&](shardrt_context *) {
    EXPECT_EQ(one.start(behind), SHARDRT_OK);
    EXPECT_EQ(behind.waitFor(0.02), -1);
    return 0;
  };
  EXPECT_TRUE(awaitThat([&] { return runHere(one) != SHARDRT_BUSY; }));
  EXPECT_EQ(behind.wait(), SHARDRT_OK);
}

TEST(Crew, RanksWithoutSitesTakeTurnsOnTheCallersThread) {
  TestCrew crew(3);
  CrewWorld three(makeTable({3}, {}), crew.crew, {2, 0, 1});
  CrewWorld one(makeTable({1}, {}), crew.crew, {1});
  std::vector<int64_t> ranks;
  std::vector<std::thread::id> threads;
  int64_t failing = -1;
  RankFunction function = [&](shardrt_context *ctx) {
    ranks.push_back(shardrt_rank(ctx));
    threads.push_back(std::this_thread::get_id());
    for (int64_t place : {0, 1, 2})
      EXPECT_EQ(shardrt_crew_is_idle(crew.crew, place), 0);
    return shardrt_rank(ctx) == failing
               ? shardrt_fail(ctx, SHARDRT_REFUSED, "not today")
               : 0;
  };
  void *input = &function;
  void *const *inputs[] = {&input, &input, &input};
  char error[128] = "untouched";
  auto runHere = [&] {
    return shardrt_world_run_here(three.world, inputs, inputs, nullptr, error,
                                  sizeof(error));
  };
  ASSERT_EQ(runHere(), SHARDRT_OK);
  EXPECT_STREQ(error, "untouched");
  std::ranges::sort(ranks);
  EXPECT_EQ(ranks, std::vector<int64_t>({0, 1, 2}));
  EXPECT_EQ(threads, std::vector(3, std::this_thread::get_id()));
  for (int64_t place : {0, 1, 2})
    EXPECT_EQ(shardrt_crew_is_idle(crew.crew, place), 1);
  // Who fails is named, and the next run is another.
  failing = 1;
  EXPECT_EQ(runHere(), SHARDRT_REFUSED);
  EXPECT_STREQ(error, "rank 1: not today");
  failing = -1;
  EXPECT_EQ(runHere(), SHARDRT_OK);
  // One place at work keeps all from it, and loses nothing.
  std::atomic<bool> go{false}, isThere{false};
  TestRun work(waitFor(go, isThere));
  ASSERT_EQ(one.start(work), SHARDRT_OK);
  while (!isThere)
    std::this_thread::yield();
  ranks.clear();
  EXPECT_EQ(runHere(), SHARDRT_BUSY);
  EXPECT_TRUE(ranks.empty());
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 0), 1);
  EXPECT_EQ(shardrt_crew_is_idle(crew.crew, 2), 1);
  go = true;
  EXPECT_EQ(work.wait(), SHARDRT_OK);
  TestRun all([](shardrt_context *) { return 0; });
  ASSERT_EQ(three.start(all), SHARDRT_OK);
  EXPECT_EQ(all.wait(), SHARDRT_OK);
}

TEST(Crew, TasksOfAPlaceKeepTheirOrder) {
  TestCrew crew(2);
  CrewWorld world(threeSites(2), crew.crew);
  struct Shared {
    std::mutex mutex;
    std::vector<int> order;
  } shared;
  struct Item {
    Shared *shared;
    int number;
  };
  std::vector<Item> items;
  for (int i = 0; i < 40; ++i)
    items.push_back({&shared, i});
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 40; ++i) {
    Item &item = items[i];
    auto note = [](void *user, int status) {
      auto &item = *static_cast<Item *>(user);
      EXPECT_EQ(status, SHARDRT_OK);
      std::lock_guard lock(item.shared->mutex);
      item.shared->order.push_back(item.number);
    };
    if (i % 2 == 0) {
      ASSERT_EQ(shardrt_crew_call(crew.crew, 0, note, &item), SHARDRT_OK);
      continue;
    }
    runs.push_back(std::make_unique<TestRun>([&item, note](shardrt_context *c) {
      if (shardrt_rank(c) == 0)
        note(&item, SHARDRT_OK);
      return callSite(c, 1);
    }));
    ASSERT_EQ(world.start(*runs.back()), SHARDRT_OK);
  }
  for (auto &run : runs)
    EXPECT_EQ(run->wait(), SHARDRT_OK);
  std::lock_guard lock(shared.mutex);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(shared.order[i], i);
}

TEST(Crew, ADoneMayStartTheNext) {
  TestCrew crew(2);
  CrewWorld world(threeSites(2), crew.crew);
  TestRun last(callAllSites), first(callAllSites);
  first.then = [&] { EXPECT_EQ(world.start(last), SHARDRT_OK); };
  ASSERT_EQ(world.start(first), SHARDRT_OK);
  EXPECT_EQ(first.wait(), SHARDRT_OK);
  EXPECT_EQ(last.wait(), SHARDRT_OK);
}

TEST(Crew, PlacesHaveOneArenaForAllWorlds) {
  TestCrew crew(2);
  std::vector<std::unique_ptr<CrewWorld>> worlds;
  std::set<void *> arenas;
  std::mutex mutex;
  constexpr int64_t bytes = 1 << 20;
  for (int i = 0; i < 8; ++i) {
    worlds.push_back(std::make_unique<CrewWorld>(threeSites(2), crew.crew));
    EXPECT_EQ(worlds.back()->run([&](shardrt_context *ctx) {
      void *arena = shardrt_arena(ctx, bytes / (1 + i));
      // Buffers of sizes that no other program asks for.
      void *buffer = shardrt_alloc(ctx, 100'000 + 30'000 * i, "");
      std::lock_guard lock(mutex);
      arenas.insert(arena);
      EXPECT_NE(buffer, nullptr);
      return 0;
    }),
              SHARDRT_OK);
  }
  EXPECT_EQ(arenas.size(), 2u);
  for (int64_t place = 0; place < 2; ++place) {
    int64_t now = 0, peak = 0;
    EXPECT_EQ(shardrt_crew_memory(crew.crew, place, &now, &peak), SHARDRT_OK);
    EXPECT_GE(now, bytes);
    // The largest program's buffers once in use and once idle.
    EXPECT_LE(peak, bytes + 2 * 400'000);
    EXPECT_LE(now, peak);
  }
  // A world's peak is its own.
  EXPECT_GE(shardrt_world_peak_bytes(worlds[7]->world, 0), bytes / 8 + 310'000);
  EXPECT_LE(shardrt_world_peak_bytes(worlds[7]->world, 0), bytes / 8 + 400'000);
}

TEST(Crew, LimitsThreadsOfParallelLoops) {
  TestCrew crew(1, /*threads=*/2);
  CrewWorld world(makeTable({1}, {}), crew.crew);
  struct Calls {
    std::atomic<int> counts[7] = {};
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } calls;
  auto part = [](const void *env, int64_t part) {
    auto *calls = static_cast<Calls *>(const_cast<void *>(env));
    ++calls->counts[part];
    std::lock_guard lock(calls->mutex);
    calls->threads.insert(std::this_thread::get_id());
  };
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    for (int i = 0; i < 30; ++i)
      shardrt_share(ctx, part, &calls, 7);
    shardrt_share(ctx, part, &calls, 1);
    return 0;
  }),
            SHARDRT_OK);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(calls.counts[i], i == 0 ? 31 : 30);
  EXPECT_EQ(calls.threads.size(), 2u);
}

TEST(Crew, CallsOfTheHostKnowTheirRun) {
  TestCrew crew(2);
  auto host = [](void *, const shardrt_host_call *call, char *, size_t) {
    *static_cast<int *>(call->results[0].data) = call->run ? 7 : 8;
    return 0;
  };
  CrewWorld world(threeSites(2), crew.crew, {}, 0, 0, host);
  std::atomic<int> seen{0};
  RankFunction step = [&](shardrt_context *ctx) {
    int result = 0;
    int64_t words[] = {1,
                       0,
                       0,
                       0,
                       1,
                       reinterpret_cast<int64_t>(&result),
                       static_cast<int64_t>(ElementType::I32),
                       0};
    int status = shardrt_call_host(ctx, words, "");
    seen += result;
    return status;
  };
  TestRun run(step);
  ASSERT_EQ(world.start(run), SHARDRT_OK);
  EXPECT_EQ(run.wait(), SHARDRT_OK) << run.error;
  EXPECT_EQ(seen, 14);
  EXPECT_EQ(world.run(step), SHARDRT_OK);
  EXPECT_EQ(seen, 30);
}

TEST(Crew, WorldsAndCrewGoInAnyOrder) {
  // A crew before its worlds.
  auto crew = std::make_unique<TestCrew>(3);
  auto world = std::make_unique<CrewWorld>(threeSites(3), crew->crew);
  TestRun run([](shardrt_context *ctx) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return callAllSites(ctx);
  });
  ASSERT_EQ(world->start(run), SHARDRT_OK);
  crew.reset();
  EXPECT_EQ(run.calls, 1);
  EXPECT_EQ(run.status, SHARDRT_OK);
  TestRun late(callAllSites);
  EXPECT_EQ(world->start(late), SHARDRT_USAGE);
  EXPECT_EQ(world->run(callAllSites), SHARDRT_USAGE);
  EXPECT_STREQ(shardrt_world_error(world->world), "the crew is destroyed");
  world.reset();
  // Worlds while their runs are under way.
  crew = std::make_unique<TestCrew>(3);
  world = std::make_unique<CrewWorld>(threeSites(3), crew->crew);
  TestRun first([](shardrt_context *ctx) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return callAllSites(ctx);
  });
  TestRun second(callAllSites);
  ASSERT_EQ(world->start(first), SHARDRT_OK);
  ASSERT_EQ(world->start(second), SHARDRT_OK);
  world.reset();
  EXPECT_EQ(second.wait(), SHARDRT_OK);
  EXPECT_EQ(first.wait(), SHARDRT_OK);
  // A world in the end of its own run.
  world = std::make_unique<CrewWorld>(threeSites(3), crew->crew);
  TestRun own(callAllSites);
  own.then = [&] { world.reset(); };
  ASSERT_EQ(world->start(own), SHARDRT_OK);
  EXPECT_EQ(own.wait(), SHARDRT_OK);
}

// Not for ThreadSanitizer, as all of this name.
TEST(Processes, AForkedChildIsRefusedByCrews) {
  TestCrew crew(2);
  CrewWorld world(threeSites(2), crew.crew), one(makeTable({1}, {}), crew.crew);
  CrewWorld apart(threeSites(2), nullptr);
  EXPECT_EQ(world.run(callAllSites), SHARDRT_OK);
  EXPECT_EQ(apart.run(callAllSites), SHARDRT_OK);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10);
    RankFunction function = callAllSites;
    void *input = &function;
    void *const *inputs[] = {&input, &input};
    char error[256];
    int wrong = 0;
    wrong += shardrt_world_start(world.world, inputs, inputs, nullptr,
                                 nullptr) != SHARDRT_USAGE;
    wrong += shardrt_world_run(world.world, inputs, inputs) != SHARDRT_USAGE;
    wrong += std::string(shardrt_world_error(world.world)).find("forked") ==
             std::string::npos;
    wrong += shardrt_world_run(apart.world, inputs, inputs) != SHARDRT_USAGE;
    wrong += shardrt_world_run_here(one.world, inputs, inputs, nullptr, error,
                                    sizeof(error)) != SHARDRT_USAGE;
    wrong += shardrt_crew_call(
                 crew.crew, 0, [](void *, int) {}, nullptr) != SHARDRT_USAGE;
    shardrt_world_destroy(world.world);
    shardrt_world_destroy(apart.world);
    shardrt_crew_destroy(crew.crew);
    // What it makes itself works.
    TestCrew mine(2);
    CrewWorld again(threeSites(2), mine.crew);
    wrong += again.run(callAllSites) != SHARDRT_OK;
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(world.run(callAllSites), SHARDRT_OK);
}

TEST(Crew, DevicesRunToo) {
  TestCrew crew(3);
  for (Way way :
       {Way::Staged, Way::Direct, Way::CudaDirect, Way::Nccl, Way::CudaNccl}) {
    SCOPED_TRACE(nameOf(way));
    CrewWorld world(threeSites(3), crew.crew, {}, 20'000, 0, nullptr, way);
    CrewWorld beside(threeSites(2), crew.crew, {2, 1}, 20'000, 0, nullptr, way);
    ASSERT_EQ(world.status, SHARDRT_OK) << world.error;
    ASSERT_EQ(beside.status, SHARDRT_OK) << beside.error;
    std::atomic<int> wrong{0};
    std::vector<std::unique_ptr<TestRun>> runs;
    for (int i = 0; i < 12; ++i) {
      runs.push_back(
          std::make_unique<TestRun>([i, &wrong](shardrt_context *ctx) {
            auto value = static_cast<float>(i);
            float all = -1;
            if (int status = allReduce(ctx, 1, &value, &all, 1))
              return status;
            wrong += all != value * static_cast<float>(shardrt_num_ranks(ctx));
            if (i % 5 == 2 && shardrt_rank(ctx) == 1)
              return shardrt_fail(ctx, SHARDRT_REFUSED, "enough");
            std::vector<float> mine(2, value), every(6);
            return exchange(ctx, 2, mine.data(), every.data(), nullptr);
          }));
      ASSERT_EQ((i % 3 == 1 ? beside : world).start(*runs.back()), SHARDRT_OK);
    }
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(runs[i]->wait(), i % 5 == 2 ? SHARDRT_REFUSED : SHARDRT_OK)
          << i << ": " << runs[i]->error;
    EXPECT_EQ(wrong, 0);
  }
}

// Each thread here is a process of the job, with a crew of one place.
TEST(Crew, RanksOfAJobStartToo) {
  constexpr int64_t ranks = 3;
  for (int wire : {SHARDRT_WIRE_SHARED, SHARDRT_WIRE_TCP}) {
    SCOPED_TRACE(wire);
    int64_t port = freePort();
    SiteTable table = threeSites(ranks);
    EncodedSites encoded = encodeSites(table);
    shardrt_program *program = nullptr;
    ASSERT_EQ(
        shardrt_program_create(callRankFunction, encoded.words.data(),
                               static_cast<int64_t>(encoded.words.size()),
                               encoded.strings.data(),
                               static_cast<int64_t>(encoded.strings.size()),
                               "{}", &program, nullptr, 0),
        SHARDRT_OK);
    std::vector<shardrt_job *> jobs(ranks);
    std::atomic<int> wrong{0};
    auto member = [&](int64_t rank) {
      char error[512] = "";
      shardrt_job_options asked = {};
      asked.size = sizeof(asked);
      asked.timeout_ms = 20'000;
      asked.rank = rank;
      asked.ranks = ranks;
      asked.port = port;
      asked.token = "test";
      ASSERT_EQ(shardrt_job_join(&asked, &jobs[rank], error, sizeof(error)),
                SHARDRT_OK)
          << error;
      TestCrew crew(2);
      std::vector<shardrt_world *> worlds(2);
      int64_t place = 1;
      for (shardrt_world *&world : worlds) {
        shardrt_world_options options = {};
        options.size = sizeof(options);
        options.wire = wire;
        options.job = jobs[rank];
        options.crew = crew.crew;
        options.places = &place;
        options.timeout_ms = 20'000;
        ASSERT_EQ(shardrt_world_create(program, &options, &world, error,
                                       sizeof(error)),
                  SHARDRT_OK)
            << error;
      }
      std::vector<std::unique_ptr<TestRun>> runs;
      for (int i = 0; i < 12; ++i) {
        runs.push_back(
            std::make_unique<TestRun>([i, &wrong](shardrt_context *ctx) {
              auto value = static_cast<float>(i);
              float all = 0;
              // The last but one fails on one rank, after all have
              // synchronised.
              if (int status = sum(ctx, value, all))
                return status;
              wrong += all != 3 * value;
              if (i == 10 && shardrt_rank(ctx) == 1)
                return shardrt_fail(ctx, SHARDRT_REFUSED, "enough");
              return callSite(ctx, i == 10 ? 2 : i % 3);
            }));
        wrong += runs.back()->start(worlds[i % 2], ranks) != SHARDRT_OK;
      }
      // Both worlds' runs are over before anybody ends.
      for (int i = 0; i < 12; ++i)
        wrong += runs[i]->wait() != (i == 10 ? SHARDRT_REFUSED : SHARDRT_OK);
      // A job's world that has failed has no later runs.
      TestRun late(callAllSites);
      wrong += late.start(worlds[0], ranks) != SHARDRT_OK;
      wrong += late.wait() != SHARDRT_LOST;
      EXPECT_NE(late.error.find("an earlier run of this job failed"),
                std::string::npos)
          << late.error;
      for (shardrt_world *world : worlds)
        shardrt_world_destroy(world);
    };
    std::vector<std::thread> members;
    for (int64_t rank = 0; rank < ranks; ++rank)
      members.emplace_back(member, rank);
    for (std::thread &thread : members)
      thread.join();
    // Rank 0 keeps what the others ask for.
    for (int64_t rank = ranks; rank-- > 0;)
      shardrt_job_leave(jobs[rank]);
    shardrt_program_destroy(program);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Crew, WhoIsToldFindsThePlaceIdle) {
  TestCrew crew(1);
  CrewWorld world(makeTable({1}, {}), crew.crew);
  RankFunction function = [](shardrt_context *) { return 0; };
  void *input = &function;
  void *const *inputs[] = {&input};
  int isIdle = -1, status = -2;
  TestRun run(function);
  run.then = [&] {
    isIdle = shardrt_crew_is_idle(crew.crew, 0);
    status = shardrt_world_run_here(world.world, inputs, inputs, nullptr,
                                    nullptr, 0);
  };
  ASSERT_EQ(world.start(run), SHARDRT_OK);
  EXPECT_EQ(run.wait(), SHARDRT_OK);
  EXPECT_EQ(isIdle, 1);
  EXPECT_EQ(status, SHARDRT_OK);
}

TEST(Crew, ManyWorldsAndCallersAndFailures) {
  constexpr int numWorlds = 64, numCallers = 4, numRuns = 150;
  TestCrew crew(8);
  std::mt19937_64 random(18);
  std::vector<std::unique_ptr<CrewWorld>> worlds;
  for (int i = 0; i < numWorlds; ++i) {
    std::vector<int64_t> places = {0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(places.begin(), places.end(), random);
    places.resize(1 + random() % 8);
    worlds.push_back(std::make_unique<CrewWorld>(
        threeSites(static_cast<int64_t>(places.size())), crew.crew, places));
  }
  std::atomic<int> wrong{0}, failures{0}, here{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < numCallers; ++caller)
    callers.emplace_back([&, caller] {
      std::mt19937_64 random(caller);
      std::vector<std::unique_ptr<TestRun>> runs;
      std::vector<int> expected;
      auto check = [&] {
        for (size_t i = 0; i < runs.size(); ++i)
          wrong += runs[i]->wait() != expected[i];
        runs.clear();
        expected.clear();
      };
      for (int i = 0; i < numRuns; ++i) {
        CrewWorld &world = *worlds[random() % numWorlds];
        // Whoever likes may ask while others run it.
        shardrt_site_stats stats;
        wrong += shardrt_world_site_stats(world.world, -1, 1, &stats) != 0;
        wrong += stats.count < 0;
        auto value = static_cast<float>(caller * numRuns + i);
        bool fails = random() % 8 == 0;
        auto bad = static_cast<int64_t>(random() % world.ranks);
        int64_t site = static_cast<int64_t>(random() % 3);
        RankFunction step = [&wrong, value, fails, bad,
                             site](shardrt_context *ctx) -> int {
          void *arena = shardrt_arena(ctx, 4096);
          std::memset(arena, static_cast<int>(site), 4096);
          float all = 0;
          if (int status = sum(ctx, value, all))
            return status;
          wrong += all != value * static_cast<float>(shardrt_num_ranks(ctx));
          if (fails && shardrt_rank(ctx) == bad)
            return shardrt_fail(ctx, SHARDRT_REFUSED, "no");
          return callSite(ctx, site);
        };
        int status = fails ? SHARDRT_REFUSED : SHARDRT_OK;
        failures += fails;
        if (world.ranks == 1 && random() % 2) {
          void *input = &step;
          void *const *inputs[] = {&input};
          int got = shardrt_world_run_here(world.world, inputs, inputs, nullptr,
                                           nullptr, 0);
          if (got != SHARDRT_BUSY) {
            ++here;
            wrong += got != status;
            continue;
          }
        }
        expected.push_back(status);
        runs.push_back(std::make_unique<TestRun>(step));
        wrong += world.start(*runs.back()) != SHARDRT_OK;
        if (random() % 4 == 0)
          check();
      }
      check();
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(failures, 20);
}

TEST(Crew, IdleThreadsUseNoProcessor) {
  TestCrew crew(8);
  CrewWorld world(threeSites(8), crew.crew);
  TestRun run(callAllSites);
  ASSERT_EQ(world.start(run), SHARDRT_OK);
  EXPECT_EQ(run.wait(), SHARDRT_OK);
  // Let those go to sleep that look out for the next run.
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  auto used = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  };
  // Where they share cores with others that takes longer; who looks out for
  // ever never does.
  double least = 1;
  for (int i = 0; i < 50 && least >= 0.005; ++i) {
    double before = used();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    least = std::min(least, used() - before);
  }
  EXPECT_LT(least, 0.005);
}

TEST(Crew, CoresAreThoseThatControlGroupsAllow) {
  namespace fs = std::filesystem;
  fs::path root =
      testing::TempDir() + "shardrt_cgroup" + std::to_string(getpid());
  fs::create_directories(root / "a" / "b");
  auto write = [](const fs::path &path, const char *text) {
    std::ofstream(path) << text << "\n";
  };
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 0);
  write(root / "a" / "b" / "cpu.max", "max 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 0);
  // One and a half cores are two threads.
  write(root / "a" / "cpu.max", "150000 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 2);
  write(root / "a" / "b" / "cpu.max", "400000 100000");
  EXPECT_EQ(coresOfGroup(root, "/a/b"), 2);
  EXPECT_EQ(coresOfGroup(root, ""), 0);
  fs::remove_all(root);
  EXPECT_GE(shardrt_num_cores(), 1);
  EXPECT_LE(shardrt_num_cores(),
            std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Cores, WorkIsSpread) {
  auto spread = [](std::vector<int64_t> work, int64_t cores,
                   std::vector<int64_t> now) {
    return spreadOverCores(work, cores, now);
  };
  using Cores = std::vector<int64_t>;
  // Three and one together have as much as four.
  EXPECT_EQ(spread({300, 0, 400, 100}, 2, {0, 1, 2, 3}), (Cores{1, 0, 0, 1}));
  EXPECT_EQ(spread({400, 0, 400, 0}, 2, {0, 1, 0, 1}), (Cores{0, 0, 1, 0}));
  // What differs by a tenth is not worth a move.
  EXPECT_EQ(spread({100, 104, 98, 101}, 2, {0, 1, 2, 3}), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(spread({0, 0, 0}, 2, {0, 1, 2}), (Cores{0, 1, 2}));
  EXPECT_EQ(spread({5, 1}, 1, {0, 1}), (Cores{0, 1}));
}

namespace {
/// Of twice as many ranks as cores the first and the one that would share its
/// core have work.
struct TwoOfMany {
  const int64_t cores = countCores();
  TestWorld world{makeTable({2 * cores}, {})};
  RankFunction step = [this](shardrt_context *ctx) -> int {
    volatile int64_t sum = 0;
    for (int64_t i = 0; shardrt_rank(ctx) % cores == 0 && i < 1'000'000; ++i)
      sum = sum + i;
    return SHARDRT_OK;
  };
  bool areApart() const {
    Crew &crew = *world.world->world->crew;
    return crew.place(0).core % cores != crew.place(cores).core % cores;
  }
};
} // namespace

TEST(Cores, RanksWithWorkAreSentApart) {
  TwoOfMany two;
  if (two.cores < 2)
    GTEST_SKIP() << "one core";
  EXPECT_FALSE(two.areApart());
  ASSERT_EQ(two.world.run(two.step, 4), SHARDRT_OK) << two.world.error();
  EXPECT_TRUE(two.areApart());
}

// What a step that failed was weighed to is not counted for the next one.
TEST(Cores, RanksAreSentApartAfterAFailure) {
  TwoOfMany two;
  if (two.cores < 2)
    GTEST_SKIP() << "one core";
  RankFunction failing = [](shardrt_context *ctx) -> int {
    if (shardrt_rank(ctx) == 1)
      throw std::runtime_error("no step");
    return SHARDRT_OK;
  };
  ASSERT_NE(two.world.run(failing, 1), SHARDRT_OK);
  ASSERT_EQ(two.world.run(two.step, 1), SHARDRT_OK) << two.world.error();
  EXPECT_TRUE(two.areApart());
}

// The caller's own thread does all ranks, and stays where it is.
TEST(Cores, CallersAreNotSent) {
  TwoOfMany two;
  void *input = &two.step;
  std::vector<void *const *> inputs(2 * two.cores, &input);
  char error[256] = "";
  for (int run = 0; run < 4; ++run)
    ASSERT_EQ(shardrt_world_run_here(two.world.world, inputs.data(),
                                     inputs.data(), nullptr, error,
                                     sizeof(error)),
              SHARDRT_OK)
        << error;
  EXPECT_FALSE(two.areApart());
}
