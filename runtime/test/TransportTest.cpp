//===- TransportTest.cpp - How processes' devices reach one another -------===//
//
// What processes conclude from what each of them can; that NCCL works where it
// was taken so is part of the suite (Way::SocketsCuda).
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Transport.h"
#include "ThreeSites.h"

using namespace shardrt;
using namespace shardrt::test;

namespace {
constexpr int automatic = SHARDRT_TRANSPORT_AUTO;

/// "nccl: each process has a device of its own", or the error.
std::string choose(const std::vector<TransportOffer> &offers) {
  TransportChoice choice;
  std::string error;
  if (!chooseTransport(offers, choice, error))
    return error;
  const char *const names[] = {"auto", "host", "direct", "nccl"};
  return std::string(names[choice.transport]) + ": " + choice.why;
}

TEST(Transport, NcclWhereEachProcessHasADeviceOfItsOwn) {
  TransportOffer first{automatic, "aa", 22304, ""},
      second{automatic, "bb", 22304, ""};
  EXPECT_EQ(choose({first, second}),
            "nccl: each process has a device of its own");
  EXPECT_EQ(choose({first}), "host: there is one rank");
  EXPECT_EQ(choose({first, second, first}),
            "host: ranks 0 and 2 share a device");
  EXPECT_EQ(choose({first, {automatic, "", 0, ""}}),
            "host: rank 1 has no device that others can name");
  EXPECT_EQ(choose({first, {automatic, "bb", 0, "no NCCL: not found"}}),
            "host: rank 1: no NCCL: not found");
  EXPECT_EQ(choose({first, {automatic, "bb", 21801, ""}}),
            "host: rank 0 has NCCL 2.23.4, rank 1 has NCCL 2.18.1");
}

TEST(Transport, WhatAllAskForStays) {
  TransportOffer nccl{SHARDRT_TRANSPORT_NCCL, "aa", 0, ""},
      host{SHARDRT_TRANSPORT_HOST, "aa", 0, ""};
  EXPECT_EQ(choose({nccl, nccl}), "nccl: asked for");
  EXPECT_EQ(choose({host, host}), "host: asked for");
}

TEST(Transport, RanksThatAskForDifferentOnesAreRefused) {
  TransportOffer nccl{SHARDRT_TRANSPORT_NCCL, "aa", 0, ""},
      host{SHARDRT_TRANSPORT_HOST, "bb", 0, ""}, none{automatic, "cc", 0, ""};
  EXPECT_EQ(choose({nccl, nccl, host}),
            "rank 0 was started with --transport=nccl, rank 2 to go through "
            "host memory: start all ranks with the same --transport");
  EXPECT_EQ(choose({none, nccl}),
            "rank 0 was started without a transport of its own, rank 1 with "
            "--transport=nccl: start all ranks with the same --transport");
}

TEST(Transport, AWorldSaysWhichAndWhy) {
  struct {
    Way way;
    const char *says;
  } const cases[] = {
      {Way::Host, ""},
      {Way::Direct, "direct: asked for"},
      {Way::SharedStaged, "host: asked for"},
      {Way::SocketsNccl, "nccl: asked for"},
      {Way::SocketsCuda, "nccl: each process has a device of its own"},
  };
  for (const auto &one : cases) {
    TestWorld world(threeSites(3), 0, 10'000, 0, false, one.way);
    ASSERT_TRUE(world.world);
    EXPECT_STREQ(shardrt_world_transport(world.world), one.says)
        << nameOf(one.way);
  }
}

/// The choice of two processes that were started with these, on as many
/// devices.
std::vector<std::string> start(std::vector<int> transports,
                               const char *devices) {
  // Any world has a program of the device, and ports; this one is left alone.
  TestWorld host(threeSites(static_cast<int64_t>(transports.size())));
  const_cast<Program &>(*host.program->program).device =
      deviceFor(Way::CudaNccl);
  setenv("FAKE_CUDA_DEVICES", devices, 1);
  int64_t port = freePort();
  std::vector<std::string> results(transports.size());
  std::vector<shardrt_job *> jobs(transports.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < transports.size(); ++rank)
    threads.emplace_back([&, rank] {
      char error[512] = "";
      shardrt_job_options join = {};
      join.size = sizeof(join);
      join.timeout_ms = 20'000;
      join.rank = static_cast<int64_t>(rank);
      join.ranks = static_cast<int64_t>(transports.size());
      join.port = port;
      join.token = "test";
      shardrt_world *world = nullptr;
      shardrt_world_options options = {};
      options.size = sizeof(options);
      options.transport = transports[rank];
      options.wire = SHARDRT_WIRE_TCP;
      int status = shardrt_job_join(&join, &jobs[rank], error, sizeof(error));
      options.job = jobs[rank];
      if (!status)
        status = shardrt_world_create(host.program, &options, &world, error,
                                      sizeof(error));
      results[rank] = status ? std::to_string(status) + " " + error
                             : shardrt_world_transport(world);
      shardrt_world_destroy(world);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = jobs.size(); i-- > 0;)
    shardrt_job_leave(jobs[i]);
  unsetenv("FAKE_CUDA_DEVICES");
  unsetenv("FAKE_CUDA_MEMORY");
  return results;
}

TEST(Transport, ProcessesThatShareADeviceGoThroughTheHost) {
  for (const std::string &result :
       start({automatic, automatic, automatic}, "2"))
    EXPECT_EQ(result, "host: ranks 0 and 2 share a device");
}

// An error of openDevice names its rank.
TEST(Transport, AProcessWithoutADeviceEndsTheOthers) {
  setenv("FAKE_CUDA_MEMORY", "1000000", 1);
  std::vector<std::string> results = start({automatic, automatic}, "0");
  for (const std::string &result : results)
    EXPECT_NE(result.find("CUDA"), std::string::npos) << result;
}

TEST(Transport, ProcessesThatDisagreeAllSaySo) {
  for (const std::string &result :
       start({automatic, SHARDRT_TRANSPORT_HOST}, "2"))
    EXPECT_EQ(result, std::to_string(SHARDRT_USAGE) +
                          " rank 0 was started without a transport of its own, "
                          "rank 1 to go through host memory: start all ranks "
                          "with the same --transport");
}
} // namespace
