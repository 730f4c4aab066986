//===- HostCallsTest.cpp - Calls of the process that runs a program -------===//

#include "TestWorld.h"
#include <chrono>
#include <cstring>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// Three ranks, and a function of the host that doubles floats.
struct HostWorld {
  explicit HostWorld(shardrt_host_fn host) {
    EncodedSites encoded = encodeSites(makeTable({3}, {}));
    char error[256] = "";
    EXPECT_EQ(
        shardrt_program_create(callRankFunction, encoded.words.data(),
                               static_cast<int64_t>(encoded.words.size()),
                               encoded.strings.data(),
                               static_cast<int64_t>(encoded.strings.size()),
                               "{}", &program, error, sizeof(error)),
        SHARDRT_OK)
        << error;
    shardrt_world_options options = {};
    options.size = sizeof(options);
    options.host = host;
    options.host_user = this;
    EXPECT_EQ(
        shardrt_world_create(program, &options, &world, error, sizeof(error)),
        SHARDRT_OK)
        << error;
  }
  ~HostWorld() {
    shardrt_world_destroy(world);
    shardrt_program_destroy(program);
  }

  /// Rank 1 calls function 5 with `count` floats; all others pass by.
  int run(int64_t results) {
    RankFunction function = [&](shardrt_context *ctx) {
      auto address = [](const void *data) {
        return reinterpret_cast<int64_t>(data);
      };
      int64_t words[] = {shardrt_rank(ctx) == 1,
                         5,
                         1,
                         1,
                         results,
                         address(in),
                         16,
                         2,
                         2,
                         2, // 2x2xf32
                         address(out),
                         16,
                         1,
                         4};
      return shardrt_call_host(ctx, words, "model.py:3");
    };
    void *input = &function;
    std::vector<void *const *> inputs(3, &input);
    return shardrt_world_run(world, inputs.data(), inputs.data());
  }

  float in[4] = {1, 2, 3, 4}, out[4] = {};
  int64_t calls = 0;
  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;
};
} // namespace

static int twice(void *user, const shardrt_host_call *call, char *, size_t) {
  auto &world = *static_cast<HostWorld *>(user);
  ++world.calls;
  EXPECT_EQ(call->rank, 1);
  EXPECT_EQ(call->index, 5);
  EXPECT_EQ(call->ordered, 1);
  EXPECT_STREQ(call->location, "model.py:3");
  EXPECT_EQ(call->num_operands, 1);
  const shardrt_host_buffer &operand = call->operands[0];
  EXPECT_STREQ(operand.element_type, "f32");
  EXPECT_EQ(operand.num_dims, 2);
  EXPECT_EQ(operand.dims[0] * operand.dims[1], 4);
  EXPECT_EQ(operand.bytes, 16);
  for (int64_t i = 0; call->num_results == 1 && i < 4; ++i)
    static_cast<float *>(call->results[0].data)[i] =
        2 * static_cast<const float *>(operand.data)[i];
  return 0;
}

TEST(HostCalls, OneRankCallsAndGetsTheResult) {
  HostWorld world(twice);
  EXPECT_EQ(world.run(1), SHARDRT_OK) << shardrt_world_error(world.world);
  EXPECT_EQ(world.out[3], 8);
  EXPECT_EQ(world.run(0), SHARDRT_OK);
  EXPECT_EQ(world.calls, 2);
}

TEST(HostCalls, WhatItSaysEndsTheStepOnAllRanks) {
  HostWorld world(
      [](void *, const shardrt_host_call *, char *message, size_t size) {
        std::memset(message, 'x', size); // no NUL
        std::memcpy(message, "not today", 9);
        return int(SHARDRT_LOST);
      });
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(world.run(1), SHARDRT_LOST);
    std::string error = shardrt_world_error(world.world);
    EXPECT_NE(error.find("rank 1: call of the host at model.py:3: not today"),
              std::string::npos)
        << error.substr(0, 100);
  }
}

TEST(HostCalls, AnExceptionEndsTheStep) {
  HostWorld world([](void *, const shardrt_host_call *, char *, size_t) -> int {
    throw std::runtime_error("thrown");
  });
  EXPECT_EQ(world.run(1), SHARDRT_LOST);
  EXPECT_NE(std::string(shardrt_world_error(world.world)).find("thrown"),
            std::string::npos);
}

TEST(HostCalls, WithoutAFunctionOnlyCallsWithoutResultsPass) {
  HostWorld world(nullptr);
  EXPECT_EQ(world.run(0), SHARDRT_OK);
  EXPECT_EQ(world.run(1), SHARDRT_UNSUPPORTED);
  EXPECT_NE(std::string(shardrt_world_error(world.world))
                .find("rank 1: unsupported: the program calls Python at "
                      "model.py:3"),
            std::string::npos)
      << shardrt_world_error(world.world);
}
