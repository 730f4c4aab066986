//===- ScarceMemoryTest.cpp - Memory that ends between two calls ----------===//
//
// Whatever the runtime allocates ends with status 9 where it cannot be had, on
// all ranks, and leaves it usable.
//
//===----------------------------------------------------------------------===//

#include "ScarceMemory.h"
#include "ThreeSites.h"
#include "shardrt/Checkpoint.h"

using namespace shardrt;
using namespace shardrt::test;

TEST(ScarceMemory, OfACheckpointIsSaid) {
  if (!canBeScarce)
    GTEST_SKIP() << "a sanitizer has its own operator new";
  char error[512] = "";
  int64_t failed = 0;
  for (bool staysOut : {false, true})
    for (int64_t succeed = 0; succeed < 200; ++succeed) {
      shardrt_checkpoints *directory = nullptr;
      int status;
      {
        Scarce scarce(succeed, staysOut);
        status = shardrt_checkpoints_open(testing::TempDir().c_str(), 0,
                                          &directory, error, sizeof(error));
      }
      shardrt_checkpoints_close(directory);
      if (status != SHARDRT_MEMORY)
        break;
      ++failed;
      EXPECT_STREQ(error, "out of memory in a checkpoint");
    }
  EXPECT_GE(failed, 2);
}

/// Four ranks with two rows each, of which each asks for three, and who also
/// exchange halos and sum.
static SiteTable tableOfAll() {
  Intervals owned = cut({2, 2, 2, 2}), asked = cut({3, 3, 3, 3});
  Site plan;
  plan.kind = SiteKind::RowPlan;
  plan.report = "row_plan";
  plan.type = ElementType::I64;
  plan.exchange.globalShape = {12};
  plan.exchange.dims = {{0, {0}, asked, asked}};
  plan.rows.vectorDim = 1;
  plan.rows.gathers = true;
  plan.rows.components = {0};
  plan.rows.slices = {1};
  plan.rows.dims = {{0, {0}, owned, Intervals(4, {0, 1})}};
  Site gather = exchangeSite("gather_rows", {8, 5}, {{0, {0}, owned, owned}});
  gather.kind = SiteKind::GatherRows;
  Site halo =
      exchangeSite("halo_exchange", {8}, {{0, {0}, owned, grow(owned, 1, 1)}});
  return makeTable({4}, {plan, gather, halo,
                         allReduceSite(ElementType::F32, Reduction::Sum, {0})});
}

TEST(ScarceMemory, OfARankEndsTheStepOfAll) {
  if (!canBeScarce)
    GTEST_SKIP() << "a sanitizer has its own operator new";
  for (Way way : {Way::Host, Way::Crew, Way::Shared, Way::Sockets, Way::Direct})
    for (bool staysOut : {false, true}) {
      int64_t failed = 0;
      for (int64_t succeed = 0; succeed < 200; ++succeed) {
        TestWorld world(tableOfAll(), 0, 10'000, 0, false, way);
        int status = world.run([&](shardrt_context *ctx) {
          int64_t indices[] = {0, 3, 7};
          std::vector<float> block(10), rows(15);
          std::optional<Scarce> scarce;
          if (shardrt_rank(ctx) == 1)
            scarce.emplace(succeed, staysOut);
          int64_t asked = planRows(ctx, 0, indices);
          int failed =
              gatherRows(ctx, 1, asked, block.data(), rows.data(), 15 * 4);
          if (!failed)
            failed = exchange(ctx, 2, block.data(), rows.data(), nullptr);
          return failed ? failed
                        : allReduce(ctx, 3, block.data(), rows.data(), 4);
        });
        if (status == SHARDRT_OK)
          break;
        ++failed;
        EXPECT_EQ(status, SHARDRT_MEMORY)
            << nameOf(way) << ", " << succeed << ": " << world.error();
        EXPECT_NE(world.error().find("rank 1: out of memory in the runtime"),
                  std::string::npos)
            << nameOf(way) << ", " << succeed << ": " << world.error();
      }
      EXPECT_GE(failed, 10) << nameOf(way);
    }
}
