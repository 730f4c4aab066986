//===- TestCrew.h - Crews, and worlds on them, for tests --------*- C++ -*-===//
#ifndef SHARDRT_TEST_TESTCREW_H
#define SHARDRT_TEST_TESTCREW_H

#include "ThreeSites.h"
#include "World/World.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace shardrt::test {

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
inline RankFunction waitFor(std::atomic<bool> &go, std::atomic<bool> &isThere) {
  return [&](shardrt_context *) {
    isThere = true;
    while (!go)
      std::this_thread::yield();
    return 0;
  };
}

inline int callAllSites(shardrt_context *ctx) {
  for (int64_t site : {0, 1, 2})
    if (int status = callSite(ctx, site))
      return status;
  return 0;
}

/// Rank r's part of an all-reduce of `value`s is what all ranks get: their sum.
inline int sum(shardrt_context *ctx, float value, float &result) {
  return shardrt_all_reduce(ctx, 1, &value, &result, 1);
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_TESTCREW_H
