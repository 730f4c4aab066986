//===- CrewJobsTest.cpp - Crews of forks, devices and jobs ----------------===//

#include "TestCrew.h"
#include <atomic>
#include <sys/wait.h>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;

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
