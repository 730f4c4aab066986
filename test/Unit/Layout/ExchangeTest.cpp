//===- ExchangeTest.cpp - Exchanges against brute force -------------------===//

#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/Boundaries.h"
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

using namespace shardc;

using Indices = std::vector<int64_t>;

static int64_t draw(std::mt19937 &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

static int64_t ranksOf(const Exchange &exchange) {
  return std::accumulate(exchange.meshShape.begin(), exchange.meshShape.end(),
                         int64_t(1), std::multiplies<>());
}

static void forEachElement(const Box &box,
                           const std::function<void(const Indices &)> &visit) {
  Indices at;
  for (Interval interval : box) {
    if (interval.empty())
      return;
    at.push_back(interval.begin);
  }
  while (true) {
    visit(at);
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == box[i - 1].end) {
      at[i - 1] = box[i - 1].begin;
      --i;
    }
    if (i == 0)
      return;
  }
}

static bool holds(const Box &box, const Indices &at) {
  for (size_t i = 0; i < box.size(); ++i)
    if (at[i] < box[i].begin || at[i] >= box[i].end)
      return false;
  return true;
}

/// The coordinates of `rank` along all axes.
static Indices coordinatesOf(const Indices &mesh, int64_t rank) {
  Indices coordinates(mesh.size());
  for (size_t i = mesh.size(); i-- > 0; rank /= mesh[i])
    coordinates[i] = rank % mesh[i];
  return coordinates;
}

/// A random choice of `axes`, in random order.
static Indices someOf(std::mt19937 &random, Indices axes) {
  std::shuffle(axes.begin(), axes.end(), random);
  axes.resize(draw(random, 0, axes.size()));
  return axes;
}

static Boundaries randomCut(std::mt19937 &random, int64_t size,
                            int64_t shards) {
  if (draw(random, 0, 1))
    return Boundaries::balanced(size, shards);
  Indices bounds = {0, size};
  for (int64_t i = 1; i < shards; ++i)
    bounds.push_back(draw(random, 0, size));
  std::sort(bounds.begin(), bounds.end());
  return *Boundaries::fromBounds(bounds);
}

/// A table over `axes` that cuts along `cutAxes` alone, its blocks in order or
/// shuffled.
static std::vector<Interval> randomTable(std::mt19937 &random,
                                         const Indices &mesh,
                                         const Indices &axes,
                                         const Indices &cutAxes, int64_t size) {
  int64_t shards = 1, entries = 1;
  for (int64_t axis : cutAxes)
    shards *= mesh[axis];
  for (int64_t axis : axes)
    entries *= mesh[axis];
  Boundaries cut = randomCut(random, size, shards);
  Indices order(shards);
  std::iota(order.begin(), order.end(), 0);
  if (draw(random, 0, 3) == 0)
    std::shuffle(order.begin(), order.end(), random);

  std::vector<Interval> table(entries);
  int64_t ranks = std::accumulate(mesh.begin(), mesh.end(), int64_t(1),
                                  std::multiplies<>());
  for (int64_t rank = 0; rank < ranks; ++rank)
    table[coordinateAlong(mesh, axes, rank)] =
        cut.shard(order[coordinateAlong(mesh, cutAxes, rank)]);
  return table;
}

/// Any mix: dims cut by different axes, by several, or whole; needs that are
/// margins, other partitions over any axes, shifts, everything or anything.
static Exchange randomExchange(std::mt19937 &random) {
  Exchange exchange;
  for (int64_t i = draw(random, 1, 3); i > 0; --i)
    exchange.meshShape.push_back(draw(random, 1, i == 1 ? 4 : 3));
  Indices free(exchange.meshShape.size());
  std::iota(free.begin(), free.end(), 0);
  const Indices all = free;

  int64_t dims = draw(random, 1, 3);
  for (int64_t i = 0; i < dims; ++i)
    exchange.globalShape.push_back(draw(random, draw(random, 0, 1), 7));
  for (int64_t i = 0; i < dims; ++i) {
    if (draw(random, 0, 4) == 0)
      continue;
    int64_t size = exchange.globalShape[i];
    DimExchange dim;
    dim.dim = i;
    Indices ownAxes = someOf(random, free);
    std::erase_if(free, [&](int64_t axis) {
      return std::find(ownAxes.begin(), ownAxes.end(), axis) != ownAxes.end();
    });
    dim.axes = ownAxes;
    for (int64_t axis : someOf(random, all))
      if (std::find(dim.axes.begin(), dim.axes.end(), axis) == dim.axes.end())
        dim.axes.push_back(axis);
    std::shuffle(dim.axes.begin(), dim.axes.end(), random);
    dim.owned =
        randomTable(random, exchange.meshShape, dim.axes, ownAxes, size);
    dim.needed = dim.owned;
    int64_t kind = draw(random, 0, 4), shift = draw(random, -3, 3);
    if (kind == 0)
      dim.needed = randomTable(random, exchange.meshShape, dim.axes,
                               someOf(random, dim.axes), size);
    else
      for (Interval &needed : dim.needed) {
        if (kind == 1)
          needed = {needed.begin - draw(random, 0, 4),
                    needed.end + draw(random, 0, 4)};
        else if (kind == 2)
          needed = {needed.begin + shift, needed.end + shift};
        else if (kind == 3)
          needed = {0, size};
        else
          needed = {draw(random, -3, size), draw(random, 0, size + 3)};
      }
    exchange.dims.push_back(std::move(dim));
  }
  std::shuffle(exchange.dims.begin(), exchange.dims.end(), random);
  return exchange;
}

/// Every element needed inside the domain arrives exactly once, out of the box
/// of an owner; sends mirror receives.
static void checkTransfers(const Exchange &exchange) {
  ASSERT_EQ(verifyExchange(exchange), "");
  std::vector<bool> listed(exchange.meshShape.size());
  for (const DimExchange &dim : exchange.dims)
    for (int64_t axis : dim.axes)
      listed[axis] = true;

  int64_t moved = 0, before = 0, ranks = ranksOf(exchange);
  std::map<std::pair<int64_t, int64_t>, Box> sent, received;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Box needed = neededBox(exchange, rank);
    for (size_t i = 0; i < needed.size(); ++i)
      needed[i] = intersect(needed[i], {0, exchange.globalShape[i]});
    std::map<Indices, int> arrivals;
    int64_t last = -1;
    for (const Transfer &transfer : receivesOf(exchange, rank)) {
      int64_t peer = transfer.peer;
      if (peer == rank) {
        ASSERT_EQ(last, -1) << "the rank's own part comes first";
      } else {
        ASSERT_LT(last, peer) << "peers ascend";
        last = peer;
        ASSERT_TRUE(received.try_emplace({peer, rank}, transfer.box).second);
      }
      Indices here = coordinatesOf(exchange.meshShape, rank);
      Indices there = coordinatesOf(exchange.meshShape, peer);
      for (size_t axis = 0; axis < here.size(); ++axis)
        ASSERT_TRUE(listed[axis] || here[axis] == there[axis]);
      Box owned = ownedBox(exchange, peer);
      int64_t count = 0;
      forEachElement(transfer.box, [&](const Indices &at) {
        ++arrivals[at];
        ++count;
        ASSERT_TRUE(holds(owned, at)) << "the peer does not own it";
        ASSERT_TRUE(peer == rank || !holds(ownedBox(exchange, rank), at))
            << "what a rank has does not travel";
      });
      ASSERT_GT(count, 0);
      moved += peer == rank ? 0 : count;
    }
    forEachElement(needed, [&](const Indices &at) {
      auto it = arrivals.find(at);
      ASSERT_NE(it, arrivals.end()) << "needed and not received";
      ASSERT_EQ(it->second, 1) << "received twice";
      arrivals.erase(it);
    });
    ASSERT_TRUE(arrivals.empty()) << "received and not needed";
    ASSERT_EQ(elementsReceived(exchange, rank),
              moved - std::exchange(before, moved));

    last = -1;
    for (const Transfer &transfer : sendsOf(exchange, rank)) {
      ASSERT_LT(last, transfer.peer);
      last = transfer.peer;
      sent.emplace(std::pair(rank, transfer.peer), transfer.box);
    }
  }
  ASSERT_EQ(sent, received);
  ASSERT_EQ(elementsMoved(exchange), moved);
  ASSERT_EQ(classify(exchange) == ExchangeKind::Local, moved == 0);
}

TEST(Exchange, AnyMixMovesWhatIsNeededExactlyOnce) {
  std::mt19937 random(4);
  int64_t moving = 0;
  for (int round = 0; round < 6000; ++round) {
    Exchange exchange = randomExchange(random);
    checkTransfers(exchange);
    if (HasFatalFailure())
      FAIL() << "round " << round;
    moving += elementsMoved(exchange) > 0;
  }
  EXPECT_GT(moving, 2000) << "many cases are to move something";
}

/// What each of 4,096 ranks receives is found without making a box of every
/// other one: that would be 4,096 times 4,096 of them, and this test's minutes.
TEST(Exchange, SourcesAmongManyRanksAreFoundInTheirTables) {
  constexpr int64_t ranks = 4096;
  std::vector<Interval> rows(ranks), columns(64), wide(64);
  Exchange shift{{ranks}, {2 * ranks}, {{0, {0}, {}, {}}}, {}};
  for (int64_t rank = 0; rank < ranks; ++rank)
    rows[rank] = {2 * rank, 2 * rank + 2};
  shift.dims[0].owned = rows;
  for (int64_t rank = 0; rank < ranks; ++rank)
    shift.dims[0].needed.push_back(rows[rank ^ 256]);
  // Blocks of four on a mesh of two axes, one element more on each side.
  for (int64_t i = 0; i < 64; ++i) {
    columns[i] = {4 * i, 4 * i + 4};
    wide[i] = {4 * i - 1, 4 * i + 5};
  }
  Exchange halo{{64, 64},
                {256, 256},
                {{0, {0}, columns, wide}, {1, {1}, columns, wide}},
                {}};
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<Transfer> received = receivesOf(shift, rank);
    ASSERT_EQ(received.size(), 1u);
    ASSERT_EQ(received[0].peer, rank ^ 256);
    int64_t row = rank / 64, column = rank % 64;
    int64_t above = 1 + (row > 0) + (row < 63),
            beside = 1 + (column > 0) + (column < 63);
    ASSERT_EQ(static_cast<int64_t>(receivesOf(halo, rank).size()),
              above * beside);
  }
}

/// Each dim's interval of `part` at the coordinates of `rank`.
static Box partOf(const Exchange &exchange,
                  const std::vector<std::vector<Interval>> &part,
                  int64_t rank) {
  Box box = neededBox(exchange, rank);
  for (size_t i = 0; i < part.size(); ++i)
    box[exchange.dims[i].dim] =
        part[i]
            [coordinateAlong(exchange.meshShape, exchange.dims[i].axes, rank)];
  return box;
}

TEST(Exchange, OfPartsWhatIsInOneOfThemArrivesOnce) {
  std::mt19937 random(11);
  int64_t fewer = 0;
  for (int round = 0; round < 4000; ++round) {
    Exchange whole = randomExchange(random), exchange = whole;
    for (int64_t count = draw(random, 1, 3); count > 0; --count) {
      auto &part = exchange.parts.emplace_back();
      for (const DimExchange &dim : exchange.dims) {
        std::vector<Interval> table = dim.needed;
        for (Interval &interval : table)
          if (!interval.empty() && draw(random, 0, 1)) {
            interval.begin = draw(random, interval.begin, interval.end);
            interval.end = draw(random, interval.begin, interval.end);
          }
        part.push_back(table);
      }
    }
    ASSERT_EQ(verifyExchange(exchange), "");
    int64_t moved = 0;
    std::multimap<std::tuple<int64_t, int64_t>, Box> received, sent;
    for (int64_t rank = 0; rank < ranksOf(exchange); ++rank) {
      std::map<Indices, int> arrivals;
      for (const Transfer &transfer : receivesOf(exchange, rank)) {
        ASSERT_EQ(transfer.box, transfer.source);
        Box owned = ownedBox(exchange, transfer.peer);
        forEachElement(transfer.box, [&](const Indices &at) {
          ASSERT_TRUE(holds(owned, at));
          ASSERT_EQ(++arrivals[at], 1) << "received twice";
          moved += transfer.peer != rank;
        });
        if (transfer.peer != rank)
          received.emplace(std::tuple(transfer.peer, rank), transfer.box);
      }
      for (const Transfer &transfer : sendsOf(exchange, rank))
        sent.emplace(std::tuple(rank, transfer.peer), transfer.box);
      Box domain;
      for (int64_t size : exchange.globalShape)
        domain.push_back({0, size});
      forEachElement(neededBox(exchange, rank), [&](const Indices &at) {
        bool arrives =
            holds(domain, at) &&
            std::any_of(exchange.parts.begin(), exchange.parts.end(),
                        [&](const auto &part) {
                          return holds(partOf(exchange, part, rank), at);
                        });
        ASSERT_EQ(arrivals.erase(at) == 1, arrives);
      });
      ASSERT_TRUE(arrivals.empty());
    }
    ASSERT_TRUE(std::is_permutation(sent.begin(), sent.end(), received.begin(),
                                    received.end()))
        << "round " << round;
    ASSERT_EQ(elementsMoved(exchange), moved);
    fewer += moved < elementsMoved(whole);
  }
  EXPECT_GT(fewer, 1000) << "parts are to matter";
}

TEST(Exchange, PartsAreInsideWhatIsNeeded) {
  Exchange exchange{
      {2}, {8, 4}, {{0, {0}, {{0, 4}, {4, 8}}, {{-1, 5}, {3, 9}}}}, {}};
  exchange.parts = {{{{-1, 4}, {3, 8}}}};
  EXPECT_EQ(verifyExchange(exchange), "");
  exchange.parts = {{{{-2, 4}, {3, 8}}}};
  EXPECT_EQ(
      verifyExchange(exchange),
      "part 0 has interval [-2, 4) of dim 0 outside [-1, 5), which is needed");
  exchange.parts = {{{{-1, 4}}}};
  EXPECT_EQ(verifyExchange(exchange),
            "part 0 has 1 intervals of dim 0 for 2 coordinates");
  exchange.parts = {{}};
  EXPECT_EQ(verifyExchange(exchange),
            "part 0 has tables of 0 dims, but 1 are listed");
}

//===----------------------------------------------------------------------===//
// Known cases
//===----------------------------------------------------------------------===//

static std::vector<Interval> shards(const Boundaries &cut, int64_t below = 0,
                                    int64_t above = 0) {
  std::vector<Interval> table;
  for (int64_t i = 0; i < cut.numShards(); ++i)
    table.push_back({cut.shard(i).begin - below, cut.shard(i).end + above});
  return table;
}

static Exchange oneDim(int64_t size, std::vector<Interval> owned,
                       std::vector<Interval> needed) {
  int64_t ranks = owned.size();
  return {{ranks}, {size}, {{0, {0}, std::move(owned), std::move(needed)}}};
}

TEST(Exchange, AStarLeavesItsCornersOut) {
  // 2x2 ranks over 8x8 elements, a margin of two: from each neighbour 2x4.
  Boundaries half = Boundaries::balanced(8, 2);
  Exchange exchange{{2, 2},
                    {8, 8},
                    {{0, {0}, shards(half), shards(half, 2, 2)},
                     {1, {1}, shards(half), shards(half, 2, 2)}},
                    {}};
  EXPECT_EQ(elementsMoved(exchange), 4 * (8 + 8 + 4));
  exchange.parts = {{shards(half, 2, 2), shards(half)},
                    {shards(half), shards(half, 2, 2)}};
  EXPECT_EQ(verifyExchange(exchange), "");
  EXPECT_EQ(elementsMoved(exchange), 4 * (8 + 8));
  EXPECT_EQ(classify(exchange), ExchangeKind::HaloExchange);
}

TEST(Exchange, CornersComeInOneRound) {
  // 2x2 ranks over 4x4 elements, a margin of one: the rank across the corner
  // sends its one element itself.
  Boundaries half = Boundaries::balanced(4, 2);
  Exchange exchange = {{2, 2},
                       {4, 4},
                       {{0, {0}, shards(half), shards(half, 1, 1)},
                        {1, {1}, shards(half), shards(half, 1, 1)}}};
  checkTransfers(exchange);
  std::vector<Transfer> received = receivesOf(exchange, 0);
  ASSERT_EQ(received.size(), 4u);
  EXPECT_EQ(received[0].peer, 0);
  EXPECT_EQ(received[3].peer, 3);
  EXPECT_EQ(received[3].box, (Box{{2, 3}, {2, 3}}));
  EXPECT_EQ(elementsMoved(exchange), 4 * (2 + 2 + 1));
  EXPECT_EQ(classify(exchange), ExchangeKind::HaloExchange);
}

TEST(Exchange, HaloWiderThanAShardComesFromSeveral) {
  Boundaries cut = *Boundaries::fromBounds({0, 1, 1, 2, 9});
  Exchange exchange = oneDim(9, shards(cut), shards(cut, 2, 2));
  checkTransfers(exchange);
  std::vector<Transfer> received = receivesOf(exchange, 3);
  ASSERT_EQ(received.size(), 3u);
  EXPECT_EQ(received[1].peer, 0);
  EXPECT_EQ(received[2].peer, 2);
}

TEST(Exchange, CopiesServeTheirOwnCoordinate) {
  // Owned along axis 0; axis 1 holds copies, listed because the need differs.
  Exchange exchange = {{2, 2},
                       {4},
                       {{0,
                         {0, 1},
                         {{0, 2}, {0, 2}, {2, 4}, {2, 4}},
                         {{0, 4}, {0, 3}, {0, 4}, {1, 4}}}}};
  checkTransfers(exchange);
  std::vector<Transfer> received = receivesOf(exchange, 3);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[1].peer, 1);
}

TEST(Exchange, KindsOfOneDim) {
  Boundaries even = Boundaries::balanced(8, 4);
  Boundaries uneven = *Boundaries::fromBounds({0, 1, 5, 5, 8});
  std::vector<Interval> all(4, Interval{0, 8});
  auto kind = [](std::vector<Interval> owned, std::vector<Interval> needed) {
    return classify(oneDim(8, std::move(owned), std::move(needed)));
  };
  EXPECT_EQ(kind(shards(even), shards(even)), ExchangeKind::Local);
  EXPECT_EQ(kind(all, shards(even)), ExchangeKind::Local);
  EXPECT_EQ(
      kind({{0, 2}, {2, 4}, {4, 6}, {6, 8}}, {{-1, 2}, {2, 4}, {4, 6}, {6, 9}}),
      ExchangeKind::Local);
  EXPECT_EQ(kind(shards(even), shards(even, 1, 0)), ExchangeKind::HaloExchange);
  EXPECT_EQ(kind(shards(uneven), shards(uneven, 3, 3)),
            ExchangeKind::HaloExchange);
  EXPECT_EQ(kind(shards(even), all), ExchangeKind::AllGather);
  EXPECT_EQ(kind(shards(uneven), all), ExchangeKind::AllGather);
  EXPECT_EQ(kind(shards(even), {{0, 4}, {0, 4}, {4, 8}, {4, 8}}),
            ExchangeKind::AllGather);
  EXPECT_EQ(kind(shards(even), shards(uneven)), ExchangeKind::Rebalance);
  EXPECT_EQ(kind(shards(even), {{6, 8}, {4, 6}, {2, 4}, {0, 2}}),
            ExchangeKind::Rebalance);
  EXPECT_EQ(kind(shards(even), shards(even, -1, 1)), ExchangeKind::Shift);
  EXPECT_EQ(kind(shards(even), {{0, 1}, {1, 2}, {2, 3}, {3, 4}}),
            ExchangeKind::Shift);
}

TEST(Exchange, KindsOfTwoDims) {
  std::vector<Interval> half = {{0, 2}, {2, 4}}, whole = {{0, 4}, {0, 4}};
  Exchange allToAll = {
      {2}, {4, 4}, {{0, {0}, half, whole}, {1, {0}, whole, half}}};
  checkTransfers(allToAll);
  EXPECT_EQ(classify(allToAll), ExchangeKind::AllToAll);
  EXPECT_EQ(elementsMoved(allToAll), 8);
  // Cut along another axis: a gather of the part that is needed.
  Exchange gather = {
      {2, 2}, {4, 4}, {{0, {0}, half, whole}, {1, {1}, whole, half}}};
  checkTransfers(gather);
  EXPECT_EQ(classify(gather), ExchangeKind::AllGather);
}

TEST(Exchange, NoDimsIsLocal) {
  Exchange exchange = {{2}, {}, {}};
  checkTransfers(exchange);
  ASSERT_EQ(receivesOf(exchange, 1).size(), 1u);
  EXPECT_EQ(receivesOf(exchange, 1)[0].peer, 1);
}

TEST(Exchange, LargeSizesDoNotOverflow) {
  int64_t size = int64_t(1) << 40;
  Boundaries cut = Boundaries::balanced(size, 2);
  Exchange exchange = {{2, 2},
                       {size, size},
                       {{0, {0}, shards(cut), {{0, size}, {0, size}}},
                        {1, {1}, shards(cut), {{0, size}, {0, size}}}}};
  EXPECT_EQ(verifyExchange(exchange), "");
  EXPECT_EQ(elementsMoved(exchange), INT64_MAX);
  EXPECT_EQ(receivesOf(exchange, 3).size(), 4u);
}

TEST(Exchange, CoordinatesAndGroups) {
  Indices mesh = {2, 3, 4};
  EXPECT_EQ(coordinateAlong(mesh, Indices{}, 23), 0);
  EXPECT_EQ(coordinateAlong(mesh, Indices{1}, 23), 2);
  EXPECT_EQ(coordinateAlong(mesh, Indices{2, 0}, 12 + 3), 3 * 2 + 1);
  EXPECT_EQ(groupAlong(mesh, Indices{}, 7), (Indices{7}));
  EXPECT_EQ(groupAlong(mesh, Indices{2, 0}, 5),
            (Indices{4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(firstAlong(mesh, Indices{}, 23), 23);
  EXPECT_EQ(firstAlong(mesh, Indices{2, 0}, 18), 4);
  EXPECT_EQ(firstAlong(mesh, Indices{0, 1, 2}, 23), 0);
}

//===----------------------------------------------------------------------===//
// Refused
//===----------------------------------------------------------------------===//

TEST(VerifyExchange, AcceptsWhatIsOwnedOnceAndNothingElse) {
  std::mt19937 random(8);
  int64_t right = 0, overlapping = 0, rounds = 20000;
  for (int64_t round = 0; round < rounds; ++round) {
    // Any intervals, most of them blocks of one partition.
    Exchange exchange = {{draw(random, 1, 3), draw(random, 1, 3)}, {4, 3}, {}};
    for (int64_t dim = 0; dim < 2; ++dim) {
      Indices axes = someOf(random, {0, 1});
      int64_t size = exchange.globalShape[dim];
      std::vector<Interval> table = randomTable(
          random, exchange.meshShape, axes, someOf(random, axes), size);
      if (draw(random, 0, 2) == 0) {
        int64_t begin = draw(random, 0, size);
        table[draw(random, 0, table.size() - 1)] = {begin,
                                                    draw(random, begin, size)};
      }
      exchange.dims.push_back({dim, axes, table, table});
    }
    std::map<Indices, std::vector<Box>> owners;
    for (int64_t rank = 0; rank < ranksOf(exchange); ++rank)
      forEachElement(ownedBox(exchange, rank), [&](const Indices &at) {
        std::vector<Box> &known = owners[at];
        if (Box box = ownedBox(exchange, rank);
            std::find(known.begin(), known.end(), box) == known.end())
          known.push_back(box);
      });
    bool overlap =
        std::any_of(owners.begin(), owners.end(),
                    [](const auto &entry) { return entry.second.size() > 1; });
    std::string error = verifyExchange(exchange);
    if (overlap)
      ASSERT_NE(error.find("own boxes that overlap"), std::string::npos)
          << "round " << round << ": " << error;
    else
      ASSERT_EQ(error, owners.size() == 12
                           ? ""
                           : "the owned boxes do not cover the tensor")
          << "round " << round;
    right += error.empty();
    overlapping += overlap;
  }
  EXPECT_GT(right, rounds / 4);
  EXPECT_GT(overlapping, rounds / 20);
}

// Pairs of ranks would take minutes here.
TEST(VerifyExchange, GrowsWithRanksAndNotWithTheirPairs) {
  int64_t side = 256;
  Boundaries cut = Boundaries::balanced(8 * side, side);
  DimExchange rows = {0, {0}, shards(cut), shards(cut)};
  for (Interval &interval : rows.needed)
    interval = {interval.begin - 1, interval.end + 1};
  DimExchange columns = rows;
  columns.dim = 1;
  columns.axes = {1};
  Exchange exchange = {{side, side}, {8 * side, 8 * side}, {rows, columns}};
  EXPECT_EQ(verifyExchange(exchange), "");
  // Each block grows from 8 x 8 to 10 x 10, but for what is outside the tensor.
  EXPECT_EQ(elementsMoved(exchange),
            (10 * side - 2) * (10 * side - 2) - 8 * side * 8 * side);
  EXPECT_EQ(classify(exchange), ExchangeKind::HaloExchange);
}

TEST(VerifyExchange, SaysWhatIsWrong) {
  std::vector<Interval> half = {{0, 2}, {2, 4}};
  auto expect = [](Exchange exchange, const char *message) {
    EXPECT_EQ(verifyExchange(exchange), message);
  };
  expect({{2}, {4}, {{0, {0}, {{0, 4}}, half}}},
         "dim 0 has 1 owned intervals for 2 coordinates along its axes");
  expect({{2}, {4}, {{0, {0}, half, {}}}},
         "dim 0 has 0 needed intervals for 2 coordinates along its axes");
  expect({{2}, {4}, {{1, {0}, half, half}}},
         "dim 1 is listed, but the tensor has 1 dims");
  expect({{2}, {4}, {{0, {0}, half, half}, {0, {0}, half, half}}},
         "dim 0 is listed twice");
  expect({{2}, {4}, {{0, {1}, half, half}}},
         "dim 0 names mesh axis 1, but the mesh has 1 axes");
  expect({{2}, {4}, {{0, {0, 0}, half, half}}},
         "dim 0 lists mesh axis 0 twice");
  expect({{2}, {4}, {{0, {0}, {{0, 2}, {2, 5}}, half}}},
         "dim 0 has owned interval [2, 5) outside its 4 elements");
  expect({{2}, {4}, {{0, {0}, {{0, 3}, {2, 4}}, half}}},
         "ranks 0 and 1 own boxes that overlap: [0, 3) and [2, 4)");
  expect({{2}, {4}, {{0, {0}, {{0, 1}, {2, 4}}, half}}},
         "the owned boxes do not cover the tensor");
  expect({{2}, {4}, {{0, {0}, half, {{0, INT64_MAX}, {INT64_MIN, 0}}}}},
         "dim 0 has needed interval [0, 9223372036854775807), which is too "
         "large");
  expect({{0}, {4}, {}}, "the mesh has an axis of size 0");
  expect({{2}, {-1}, {}}, "the tensor has a dim of -1 elements");
  // Two dims cut by one axis own a diagonal.
  expect({{2}, {4, 4}, {{0, {0}, half, half}, {1, {0}, half, half}}},
         "the owned boxes do not cover the tensor");
}

TEST(VerifyExchange, FindsEveryGapAndOverlap) {
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    Exchange exchange = randomExchange(random);
    if (exchange.dims.empty())
      continue;
    DimExchange &dim = exchange.dims[0];
    int64_t size = exchange.globalShape[dim.dim];
    Interval &broken = dim.owned[draw(random, 0, dim.owned.size() - 1)];
    broken.begin = draw(random, 0, size);
    broken.end = draw(random, broken.begin, size);

    // Brute force: within the group of rank 0, each element in one box only.
    Indices axes;
    for (const DimExchange &each : exchange.dims)
      axes.insert(axes.end(), each.axes.begin(), each.axes.end());
    std::vector<Box> boxes;
    for (int64_t rank : groupAlong(exchange.meshShape, axes, 0)) {
      Box box = ownedBox(exchange, rank);
      if (std::find(boxes.begin(), boxes.end(), box) == boxes.end())
        boxes.push_back(box);
    }
    bool expected = true;
    Box whole;
    for (int64_t each : exchange.globalShape)
      whole.push_back({0, each});
    forEachElement(whole, [&](const Indices &at) {
      expected &=
          std::count_if(boxes.begin(), boxes.end(),
                        [&](const Box &box) { return holds(box, at); }) == 1;
    });
    ASSERT_EQ(verifyExchange(exchange).empty(), expected) << "round " << round;
    refused += !expected;
  }
  EXPECT_GT(refused, 500);
}

/// Each rank fills what it needs from what its transfers name; the contents are
/// the numbers of the elements.
static void checkPadding(Exchange exchange) {
  ASSERT_EQ(verifyExchange(exchange), "");
  int64_t moved = 0;
  for (int64_t rank = 0; rank < ranksOf(exchange); ++rank) {
    std::map<Indices, Indices> from;
    for (const Transfer &transfer : receivesOf(exchange, rank)) {
      Box owned = ownedBox(exchange, transfer.peer);
      forEachElement(transfer.box, [&](const Indices &at) {
        Indices source;
        for (size_t dim = 0; dim < at.size(); ++dim)
          source.push_back(at[dim] - transfer.box[dim].begin +
                           transfer.source[dim].begin);
        ASSERT_TRUE(holds(owned, source));
        ASSERT_TRUE(from.try_emplace(at, source).second) << "filled twice";
        moved += transfer.peer != rank;
      });
    }
    forEachElement(neededBox(exchange, rank), [&](const Indices &at) {
      Indices expected;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        Padding padding = Padding::Constant;
        for (const DimExchange &entry : exchange.dims)
          if (entry.dim == int64_t(dim))
            padding = entry.padding;
        if (auto source =
                paddedSource(at[dim], exchange.globalShape[dim], padding))
          expected.push_back(*source);
      }
      if (expected.size() < at.size()) {
        ASSERT_FALSE(from.contains(at)) << "a constant stands here";
        return;
      }
      ASSERT_TRUE(from.contains(at)) << "needed and not received";
      ASSERT_EQ(from[at], expected);
      from.erase(at);
    });
    ASSERT_TRUE(from.empty()) << "received and not needed";
    size_t sends = 0;
    for (const Transfer &transfer : receivesOf(exchange, rank))
      sends += transfer.peer != rank;
    for (int64_t peer = 0; peer < ranksOf(exchange); ++peer)
      for (const Transfer &transfer : sendsOf(exchange, peer))
        sends -= transfer.peer == rank;
    ASSERT_EQ(sends, 0u) << "sends mirror receives";
  }
  ASSERT_EQ(elementsMoved(exchange), moved);
}

TEST(PaddedSource, IsWhatNumPySays) {
  auto positions = [](Padding padding, int64_t size) {
    Indices result;
    for (int64_t at = -5; at < size + 5; ++at)
      result.push_back(paddedSource(at, size, padding).value_or(-1));
    return result;
  };
  // numpy.pad(numpy.arange(3), 5, mode).
  EXPECT_EQ(positions(Padding::Wrap, 3),
            (Indices{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(positions(Padding::Edge, 3),
            (Indices{0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(positions(Padding::Reflect, 3),
            (Indices{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(positions(Padding::Symmetric, 3),
            (Indices{1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_EQ(positions(Padding::Reflect, 1), Indices(11, 0));
  EXPECT_EQ(paddedSource(-1, 0, Padding::Wrap), std::nullopt);
}

TEST(Exchange, PaddingReadsTheTensorItself) {
  std::vector<Interval> rows = {{0, 3}, {3, 3}, {3, 4}, {4, 8}},
                        columns = {{0, 5}, {5, 7}};
  for (Padding padding :
       {Padding::Wrap, Padding::Edge, Padding::Reflect, Padding::Symmetric})
    for (Padding other : {Padding::Constant, Padding::Wrap, padding})
      for (int64_t low : {-1, 0, 1, 9})
        for (int64_t high : {0, 2, 11}) {
          Exchange exchange = {{4, 2}, {8, 7, 2}, {}};
          DimExchange first = {0, {0}, rows, {}, padding},
                      second = {1, {1}, columns, {}, other};
          for (Interval interval : rows)
            first.needed.push_back({interval.begin - low, interval.end + high});
          for (Interval interval : columns)
            second.needed.push_back({interval.begin - 1, interval.end + low});
          exchange.dims = {
              first, second, {2, {}, {{0, 2}}, {{-1, 3}}, padding}};
          checkPadding(exchange);
        }
}
