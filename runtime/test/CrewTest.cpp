//===- CrewTest.cpp - Threads of ranks that worlds share ------------------===//

#include "TestCrew.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

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
