//===- ExchangeTest.cpp - Owned boxes to needed boxes ---------------------===//

#include "TestWorld.h"
#include <atomic>
#include <cstring>
#include <thread>

using namespace shardrt;
using namespace shardrt::test;
using shardc::Box;
using shardc::DimExchange;

/// Where the element of `box` with these global indices is in a dense buffer.
static int64_t positionIn(const Box &box, const std::vector<int64_t> &index) {
  int64_t position = 0;
  for (size_t dim = 0; dim < box.size(); ++dim)
    position = position * box[dim].size() + index[dim] - box[dim].begin;
  return position;
}

static bool isInOneOf(const std::vector<Box> &boxes,
                      const std::vector<int64_t> &index) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const Box &box) {
    for (size_t dim = 0; dim < box.size(); ++dim)
      if (index[dim] < box[dim].begin || index[dim] >= box[dim].end)
        return false;
    return true;
  });
}

static void runAndCompare(const std::vector<int64_t> &mesh, Site site,
                          int64_t steps, uint64_t seed, bool split, Way way) {
  site.exchange.meshShape = mesh;
  int64_t ranks = 1;
  for (int64_t size : mesh)
    ranks *= size;
  if (!canGo(way, ranks))
    return;
  ASSERT_EQ(shardc::verifyExchange(site.exchange), "");
  TestWorld world(makeTable(mesh, {site}), seed, 60'000, 0, false, way);
  int64_t bytes = elementBytes(site.type);
  std::byte fill[16];
  writeElement(fill, bytes, 77, 99);
  std::vector<std::unique_ptr<Guarded>> sources, results;
  std::vector<int64_t> step(world.ranks, 0);
  for (int64_t rank = 0; rank < world.ranks; ++rank) {
    sources.push_back(std::make_unique<Guarded>(
        volume(shardc::ownedBox(site.exchange, rank)) * bytes));
    results.push_back(std::make_unique<Guarded>(
        volume(shardc::neededBox(site.exchange, rank)) * bytes));
  }
  std::atomic<int64_t> wrong{0};
  int status = world.run(
      [&](shardrt_context *ctx) -> int {
        int64_t rank = shardrt_rank(ctx), now = step[rank]++;
        Guarded &dst = *results[rank];
        Guarded &src = site.inPlace ? dst : *sources[rank];
        Box needed = shardc::neededBox(site.exchange, rank);
        // The source changes at once after the step before: nobody may still
        // be reading it then.
        src.poison(static_cast<int>(now % 7));
        dst.poison(static_cast<int>(now % 5));
        const auto &shape = site.exchange.globalShape;
        forEachElement(shardc::ownedBox(site.exchange, rank),
                       [&](const auto &index, int64_t at) {
                         if (site.inPlace)
                           at = positionIn(needed, index);
                         writeElement(src.data() + at * bytes, bytes,
                                      linearIndex(index, shape), now);
                       });
        const void *filler = now % 2 ? nullptr : fill;
        int result;
        if (split) {
          SplitExchange started(ctx, 0, src.data());
          std::this_thread::yield();
          result = started.wait(dst.data(), filler);
        } else {
          result = exchange(ctx, 0, src.data(), dst.data(), filler);
        }
        if (result != 0)
          return result;
        int64_t bad = !src.intact() || !dst.intact();
        std::vector<Box> arriving = shardc::arrivingBoxes(site.exchange, rank);
        forEachElement(needed, [&](const auto &index, int64_t at) {
          std::byte expected[16] = {};
          int64_t linear = linearIndex(index, shape);
          if (linear >= 0 && !isInOneOf(arriving, index))
            return; // nobody may read it
          if (linear >= 0)
            writeElement(expected, bytes, linear, now);
          else if (filler)
            std::memcpy(expected, fill, bytes);
          bad += std::memcmp(expected, dst.data() + at * bytes, bytes) != 0;
        });
        wrong += bad;
        if (int s = shardrt_exchange_release(ctx, 0))
          return s;
        src.poison(3);
        return 0;
      },
      steps);
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  EXPECT_EQ(wrong.load(), 0)
      << site.report << ", " << world.ranks << " ranks, " << nameOf(way);
  if (way == Way::Mpi)
    return; // Others know the rest.
  shardrt_site_stats stats = world.stats(0);
  int64_t moved = shardc::elementsMoved(site.exchange);
  // Where nobody has anything for another, that need not be seen.
  if (moved > 0 || stats.count != 0)
    EXPECT_EQ(stats.count, steps * world.ranks);
  EXPECT_EQ(stats.bytes_received, steps * bytes * moved);
}

/// Runs `site` for `steps` steps on `mesh`; every rank compares what it needs
/// with what global indices say; once more in place where every rank keeps what
/// it owns; all that on the host and in every way of devices, and with sources
/// that are released later. `split`: start and wait, and a margin of work
/// between the two.
static void checkExchange(const std::vector<int64_t> &mesh, Site site,
                          int64_t steps = 3, uint64_t seed = 0,
                          bool split = false) {
  auto runEverywhere = [&](Site site) {
    runAndCompare(mesh, site, steps, seed, split, Way::Host);
    for (Way way : otherWays())
      runAndCompare(mesh, site, std::min<int64_t>(steps, 50), seed, split, way);
    // Devices wait for nobody.
    site.releasedLater = true;
    int64_t fewSteps = std::min<int64_t>(steps, 10);
    if (!mpiJob())
      for (Way way : {Way::Host, Way::Shared, Way::Sockets, Way::Staged})
        runAndCompare(mesh, site, fewSteps, seed, split, way);
    else
      runAndCompare(mesh, site, fewSteps, seed, split, Way::Mpi);
  };
  runEverywhere(site);
  for (const DimExchange &dim : site.exchange.dims)
    for (size_t i = 0; i < dim.owned.size(); ++i)
      if (!dim.needed[i].contains(dim.owned[i]))
        return;
  site.inPlace = true;
  runEverywhere(site);
}

TEST(Exchange, HaloOfRows) {
  for (int64_t ranks = 1; ranks <= 8; ++ranks) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < ranks; ++i)
      sizes.push_back(3 + i % 3);
    Intervals owned = cut(sizes);
    int64_t rows = owned.back().end;
    checkExchange({ranks}, exchangeSite("halo_exchange", {rows, 5},
                                        {{0, {0}, owned, grow(owned, 1, 2)}}));
  }
}

TEST(Exchange, StarWithoutItsCorners) {
  Intervals rows = cut({3, 0, 4}), columns = cut({5, 6});
  Site site = exchangeSite("halo_exchange", {7, 11, 2},
                           {{0, {0}, rows, grow(rows, 1, 2)},
                            {1, {1}, columns, grow(columns, 3, 1)}});
  site.exchange.parts = {{grow(rows, 1, 2), columns},
                         {rows, grow(columns, 3, 1)}};
  checkExchange({3, 2}, site);
  checkExchange({3, 2}, site, 3, 1, /*split=*/true);
}

TEST(Exchange, HaloWiderThanShards) {
  Intervals owned = cut({2, 1, 0, 3, 1, 0, 2, 1});
  checkExchange({8}, exchangeSite("halo_exchange", {4, 10, 3},
                                  {{1, {0}, owned, grow(owned, 5, 12)}}));
}

TEST(Exchange, CornersOfTwoAndThreeAxes) {
  Intervals rows = cut({3, 4}), columns = cut({2, 5, 1});
  checkExchange({2, 3}, exchangeSite("halo_exchange", {7, 8, 2},
                                     {{0, {0}, rows, grow(rows, 1, 1)},
                                      {1, {1}, columns, grow(columns, 2, 2)}}));
  Intervals half = cut({2, 2});
  checkExchange({2, 2, 2}, exchangeSite("halo_exchange", {4, 4, 4},
                                        {{0, {0}, half, grow(half, 1, 1)},
                                         {1, {1}, half, grow(half, 1, 1)},
                                         {2, {2}, half, grow(half, 1, 1)}}));
}

TEST(Exchange, OneDimOverTwoAxes) {
  Intervals owned = cut({3, 0, 2, 2, 4, 1});
  checkExchange({2, 3}, exchangeSite("halo_exchange", {12},
                                     {{0, {1, 0}, owned, grow(owned, 2, 3)}}));
}

TEST(Exchange, AllGatherUneven) {
  Intervals owned = cut({5, 0, 3, 1});
  Intervals whole(4, {0, 9});
  checkExchange({4},
                exchangeSite("all_gather", {9, 4}, {{0, {0}, owned, whole}}));
  // Along the minor dim, and replicated over another axis.
  checkExchange({2, 4},
                exchangeSite("all_gather", {3, 9}, {{1, {1}, owned, whole}}));
}

TEST(Exchange, Rebalance) {
  checkExchange(
      {4}, exchangeSite("rebalance", {20, 2},
                        {{0, {0}, cut({17, 0, 2, 1}), cut({5, 5, 5, 5})}}));
}

TEST(Exchange, AllToAll) {
  int64_t k = 4;
  Intervals rows = cut({2, 1, 3, 2}), columns = cut({3, 3, 2, 3});
  Intervals all8(k, {0, 8}), all11(k, {0, 11});
  checkExchange({k},
                exchangeSite("all_to_all", {8, 11},
                             {{0, {0}, rows, all8}, {1, {0}, all11, columns}}));
}

TEST(Exchange, ShiftPastTheEdge) {
  Intervals owned = cut({3, 3, 3});
  Intervals needed = {{-4, -1}, {-1, 2}, {2, 5}};
  checkExchange({3}, exchangeSite("shift", {9, 2}, {{0, {0}, owned, needed}}));
  Intervals beyond = {{20, 24}, {-9, -5}, {8, 12}};
  checkExchange({3}, exchangeSite("shift", {9, 2}, {{0, {0}, owned, beyond}}));
}

TEST(Exchange, LocalSliceOfAReplicatedTensor) {
  Intervals whole(4, {0, 8});
  checkExchange(
      {4}, exchangeSite("slice", {8, 3}, {{0, {0}, whole, cut({2, 2, 2, 2})}}));
}

TEST(Exchange, NothingAtAll) {
  checkExchange({3}, exchangeSite("halo_exchange", {0, 4},
                                  {{0, {0}, cut({0, 0, 0}), cut({0, 0, 0})}}));
  checkExchange({2}, exchangeSite("exchange", {}, {}));
  checkExchange({}, exchangeSite("exchange", {3}, {}));
}

TEST(Exchange, AllElementTypes) {
  Intervals rows = cut({2, 3}), columns = cut({4, 0, 3});
#define SHARDRT_CHECK(NAME, CODE, SPELLING, BYTES)                             \
  checkExchange({2, 3}, exchangeSite("halo_exchange", {5, 7},                  \
                                     {{0, {0}, rows, grow(rows, 1, 1)},        \
                                      {1, {1}, columns, grow(columns, 3, 2)}}, \
                                     ElementType::NAME));
  SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_CHECK)
#undef SHARDRT_CHECK
}

TEST(Exchange, ManySteps) {
  Intervals owned = cut({2, 0, 3, 1, 2});
  for (bool split : {false, true})
    checkExchange({5},
                  exchangeSite("halo_exchange", {8, 3},
                               {{0, {0}, owned, grow(owned, 2, 2)}}),
                  /*steps=*/500, /*seed=*/11 + split, split);
}

TEST(Exchange, RandomSitesAndMeshes) {
  const std::vector<std::vector<int64_t>> meshes = {
      {2}, {3}, {4}, {8}, {2, 2}, {3, 2}, {2, 4}, {1, 5}, {2, 2, 2}, {7}};
  std::mt19937_64 random(20);
  for (int i = 0; i < 150; ++i) {
    const std::vector<int64_t> &mesh = meshes[random() % meshes.size()];
    int64_t dims = 1 + static_cast<int64_t>(random() % 4);
    Site site = exchangeSite("exchange", {}, {});
    site.type = i % 3 ? ElementType::F32 : ElementType::Complex128;
    for (int64_t d = 0; d < dims; ++d)
      site.exchange.globalShape.push_back(random() % 9);
    // Each axis goes to one dim at most.
    std::vector<std::vector<int64_t>> axesOf(dims);
    for (size_t axis = 0; axis < mesh.size(); ++axis)
      if (random() % 8)
        axesOf[random() % dims].push_back(static_cast<int64_t>(axis));
    for (int64_t d = 0; d < dims; ++d) {
      if (axesOf[d].empty() && random() % 2)
        continue;
      int64_t count = 1, size = site.exchange.globalShape[d];
      for (int64_t axis : axesOf[d])
        count *= mesh[axis];
      DimExchange dim = {
          d, axesOf[d], cut(randomSizes(random, size, count)), {}};
      int kind = static_cast<int>(random() % 4);
      Intervals moved = cut(randomSizes(random, size, count));
      for (int64_t c = 0; c < count; ++c) {
        int64_t begin = static_cast<int64_t>(random() % 15) - 4;
        int64_t end = begin + static_cast<int64_t>(random() % 8);
        dim.needed.push_back(kind == 0   ? shardc::Interval{0, size}
                             : kind == 1 ? moved[c]
                             : kind == 2 ? shardc::Interval{begin, end}
                                         : grow(dim.owned, 2, 1)[c]);
      }
      site.exchange.dims.push_back(dim);
    }
    checkExchange(mesh, site, 2, random() % 2 ? random() : 0,
                  random() % 3 == 0);
    if (HasFailure())
      FAIL() << "case " << i;
  }
}

TEST(Exchange, WhatMovesNothingIsNotCounted) {
  // Nothing but the last row of one rank's block is another's to give.
  Intervals owned = {{0, 3}, {3, 8}}, less = {{0, 3}, {4, 8}},
            more = {{0, 4}, {4, 8}};
  Site copy = exchangeSite("halo_exchange", {8, 2}, {{0, {0}, owned, less}}),
       move = exchangeSite("halo_exchange", {8, 2}, {{0, {0}, owned, more}});
  TestWorld world(makeTable({2}, {copy, move}));
  ASSERT_EQ(world.run([](shardrt_context *ctx) {
    std::vector<float> src(10), dst(10);
    int status = exchange(ctx, 0, src.data(), dst.data(), nullptr);
    return status ? status : exchange(ctx, 1, src.data(), dst.data(), nullptr);
  }),
            SHARDRT_OK);
  EXPECT_EQ(world.stats(0).count, 0);
  EXPECT_EQ(world.stats(0).bytes_received, 0);
  EXPECT_EQ(world.stats(1).count, 2);
  EXPECT_EQ(world.stats(1).bytes_received, 8);
}

TEST(Exchange, WhoNeedsWhatItOwnsCopiesNothing) {
  // Rank 0 keeps its rows, and gives one to rank 1, which needs one more.
  Intervals owned = {{0, 3}, {3, 8}}, needed = {{0, 3}, {2, 8}};
  Site site = exchangeSite("halo_exchange", {8, 1}, {{0, {0}, owned, needed}});
  TestWorld world(makeTable({2}, {site}));
  std::vector<float> src[2] = {{0, 1, 2}, {3, 4, 5, 6, 7}}, dst[2];
  for (std::vector<float> &buffer : dst)
    buffer.assign(6, -1);
  ASSERT_EQ(world.run([&](shardrt_context *ctx) {
    int64_t rank = shardrt_rank(ctx);
    void *place =
        shardrt_exchange_place(ctx, 0, src[rank].data(), dst[rank].data());
    EXPECT_EQ(place, rank == 0 ? src[0].data() : dst[1].data());
    int status = exchange(ctx, 0, src[rank].data(), place, nullptr);
    if (status)
      return status;
    SplitExchange started(ctx, 0, src[rank].data());
    return started.wait(place, nullptr);
  }),
            SHARDRT_OK);
  EXPECT_EQ(src[0], (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(dst[0], std::vector<float>(6, -1));
  EXPECT_EQ(dst[1], (std::vector<float>{2, 3, 4, 5, 6, 7}));
}

TEST(Exchange, SixteenRanksInterleaveManySites) {
  Intervals owned = cut(std::vector<int64_t>(16, 2));
  Site halo = exchangeSite("halo_exchange", {32, 4},
                           {{0, {0}, owned, grow(owned, 3, 3)}});
  Site gather = exchangeSite("all_gather", {32, 4},
                             {{0, {0}, owned, Intervals(16, {0, 32})}});
  Site reduce = allReduceSite(ElementType::I64, Reduction::Sum, {0});
  for (Way way : {Way::Host, Way::Shared, Way::Sockets, Way::Staged,
                  Way::Direct, Way::CudaDirect, Way::Nccl, Way::CudaNccl}) {
    TestWorld world(makeTable({16}, {halo, gather, reduce}), 5, 60'000, 0,
                    false, way);
    std::atomic<int64_t> wrong{0};
    int status = world.run(
        [&](shardrt_context *ctx) -> int {
          int64_t rank = shardrt_rank(ctx);
          std::vector<float> src(8, static_cast<float>(rank)), whole(128),
              grown(32);
          int64_t mine = rank, sum = 0;
          // Two starts under way around a blocking collective.
          SplitExchange a(ctx, 0, src.data()), b(ctx, 1, src.data());
          if (int s = allReduce(ctx, 2, &mine, &sum, 1))
            return s;
          if (int s = b.wait(whole.data(), nullptr))
            return s;
          if (int s = a.wait(grown.data(), nullptr))
            return s;
          wrong += sum != 120;
          for (int64_t i = 0; i < 128; ++i)
            wrong += whole[i] != static_cast<float>(i / 8);
          for (int64_t row = 0; row < 8; ++row) {
            int64_t global = rank * 2 - 3 + row;
            float expected = global < 0 || global >= 32 ? 0.0f : global / 2;
            wrong += grown[row * 4] != expected;
          }
          return 0;
        },
        way == Way::Host ? 100 : 20);
    EXPECT_EQ(status, SHARDRT_OK) << world.error();
    EXPECT_EQ(wrong.load(), 0);
  }
}

/// Rank 0 is through with its exchange, and others after it, while rank 1 has
/// read nothing yet: where ranks wait for their readers, that never ends.
TEST(Exchange, SourcesMayBeReadLater) {
  Intervals owned = cut({2, 2});
  Site halo = exchangeSite("halo_exchange", {4, 4},
                           {{0, {0}, owned, grow(owned, 1, 1)}});
  halo.releasedLater = true;
  for (Way way : {Way::Host, Way::Shared, Way::Sockets}) {
    std::vector<Site> sites(9, halo);
    TestWorld world(makeTable({2}, sites), 0, 10'000, 0, false, way);
    std::atomic<bool> isThrough{way != Way::Host};
    std::atomic<int64_t> wrong{0};
    int status = world.run([&](shardrt_context *ctx) -> int {
      int64_t rank = shardrt_rank(ctx);
      // More than may be left: the first are released on the way.
      std::vector<std::vector<float>> src(9, std::vector<float>(8)),
          dst(9, std::vector<float>(16));
      std::vector<int64_t> tokens(9);
      auto start = [&](int64_t i) {
        std::fill(src[i].begin(), src[i].end(),
                  static_cast<float>(10 * i + rank + 1));
        tokens[i] = shardrt_exchange_start(ctx, i, src[i].data());
      };
      auto wait = [&](int64_t i) {
        return shardrt_exchange_wait(ctx, tokens[i], dst[i].data(), nullptr);
      };
      for (int64_t i = 0; i < 6; ++i)
        start(i);
      while (rank == 1 && !isThrough)
        std::this_thread::yield();
      for (int64_t i = 0; i < 6; ++i)
        if (int s = wait(i))
          return s;
      if (rank == 0)
        isThrough = true;
      for (int64_t i = 6; i < 9; ++i) {
        start(i);
        if (int s = wait(i))
          return s;
      }
      for (int64_t i = 0; i < 9; ++i) {
        if (int s = shardrt_exchange_release(ctx, 8 - i))
          return s;
        std::fill(src[8 - i].begin(), src[8 - i].end(), -1.0f);
      }
      for (int64_t i = 0; i < 9; ++i) {
        float other = static_cast<float>(10 * i + (1 - rank) + 1);
        wrong += dst[i][rank == 0 ? 12 : 0] != other;
      }
      return 0;
    });
    EXPECT_EQ(status, SHARDRT_OK) << world.error() << nameOf(way);
    EXPECT_EQ(wrong.load(), 0) << nameOf(way);
  }
}

TEST(Exchange, SourcesHaveToBeReleased) {
  Intervals owned = cut({2, 2});
  Site halo = exchangeSite("halo_exchange", {4, 4},
                           {{0, {0}, owned, grow(owned, 1, 1)}});
  halo.releasedLater = true;
  TestWorld world(makeTable({2}, {halo}), 0, 10'000);
  // The other rank may read a source for as long as nobody has released it.
  std::vector<float> sources[2] = {std::vector<float>(8),
                                   std::vector<float>(8)};
  int status = world.run([&](shardrt_context *ctx) -> int {
    std::vector<float> dst(16);
    return shardrt_exchange(ctx, 0, sources[shardrt_rank(ctx)].data(),
                            dst.data(), nullptr);
  });
  EXPECT_EQ(status, 6);
  EXPECT_NE(world.error().find("left its step before"), std::string::npos)
      << world.error();
}
