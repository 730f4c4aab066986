//===- RingPlanTest.cpp - Rings against a model that counts pairs ---------===//
//
// The model knows ranks, queries and keys one by one, and nothing of tables:
// which queries a rank has, which rank's keys it meets when, and which of them
// the band lets pair. A plan has to bring each rank what the model says that it
// needs, no more, and every pair has to be met exactly once.
//
//===----------------------------------------------------------------------===//
#include "RingPlan.h"
#include "shardc/Interfaces/StepLoop.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace shardc;
using namespace shardc::rules;
using llvm::ArrayRef;
using llvm::SmallVector;
using spmd::PairWay;

namespace {
using Ranks = std::vector<int64_t>;
using Elements = std::set<int64_t>;

/// A dim that is cut along some axes: the elements of each shard, which are
/// dealt from both ends where it is in zigzag order.
struct Dim {
  SmallVector<int64_t> axes;
  std::vector<int64_t> bounds = {0, 0};
  /// Shards in whose order it is; empty: in natural order.
  std::vector<int64_t> order;

  int64_t size() const { return bounds.back(); }
  /// The element that is at place `place` of the dim as it is held.
  int64_t elementAt(int64_t place) const {
    if (order.empty())
      return place;
    for (size_t shard = 0; shard + 1 < order.size(); ++shard) {
      if (place >= order[shard + 1])
        continue;
      // Cards are dealt from the top and the bottom by turns; a hand is sorted.
      Elements hand;
      for (int64_t card = order[shard]; card < order[shard + 1]; ++card)
        hand.insert(card % 2 == 0 ? card / 2 : size() - 1 - card / 2);
      return *std::next(hand.begin(), place - order[shard]);
    }
    return -1;
  }
};

struct Model {
  std::vector<int64_t> mesh;
  Dim query, key;
  SmallVector<int64_t> headAxes;
  PairBand band;
  bool isBackward = false, keepsBest = false, mayReceiveAll = false;

  int64_t countRanks() const {
    int64_t count = 1;
    for (int64_t size : mesh)
      count *= size;
    return count;
  }
  std::vector<int64_t> coordinate(int64_t rank) const {
    std::vector<int64_t> result(mesh.size());
    for (size_t axis = mesh.size(); axis-- > 0; rank /= mesh[axis])
      result[axis] = rank % mesh[axis];
    return result;
  }
  int64_t along(ArrayRef<int64_t> axes, int64_t rank) const {
    std::vector<int64_t> at = coordinate(rank);
    int64_t number = 0;
    for (int64_t axis : axes)
      number = number * mesh[axis] + at[axis];
    return number;
  }
  bool mayPair(int64_t q, int64_t k) const {
    return (!band.lower || k - q >= *band.lower) &&
           (!band.upper || k - q <= *band.upper);
  }
  /// The rank `shift` places further on, of those that differ from `rank` along
  /// `places` alone.
  int64_t further(int64_t rank, ArrayRef<int64_t> places, int64_t shift) const {
    int64_t length = 1;
    for (int64_t axis : places)
      length *= mesh[axis];
    int64_t wanted = (along(places, rank) + shift) % length;
    for (int64_t other = 0; other < countRanks(); ++other) {
      bool isSameElsewhere = true;
      for (size_t axis = 0; axis < mesh.size(); ++axis)
        isSameElsewhere &= llvm::is_contained(places, int64_t(axis)) ||
                           coordinate(other)[axis] == coordinate(rank)[axis];
      if (isSameElsewhere && along(places, other) == wanted)
        return other;
    }
    return -1;
  }

  RingProblem problem() const {
    RingProblem result;
    result.mesh.assign(mesh.begin(), mesh.end());
    result.sizes = {12, query.size(), key.size(), 8, 8};
    result.band = band;
    // Queries, keys, values and what comes out.
    result.tensors = {{{0, 1, 3}, 4, false},
                      {{0, 2, 3}, 4, false},
                      {{0, 2, 4}, 4, false},
                      {{0, 1, 4}, 4, true}};
    if (isBackward)
      result.tensors.push_back({{0, 2, 3}, 4, true});
    auto table = [](const Dim &dim) {
      return tableOf(dim.axes, *Boundaries::fromBounds(dim.bounds));
    };
    int64_t heads = 1;
    for (int64_t axis : headAxes)
      heads *= mesh[axis];
    result.cuts = {tableOf(headAxes, Boundaries::balanced(12, heads)),
                   table(query), table(key), wholeTable(8), wholeTable(8)};
    auto order = [](const Dim &dim) -> std::optional<Boundaries> {
      if (dim.order.empty())
        return std::nullopt;
      return Boundaries::fromBounds(dim.order);
    };
    result.queryOrder = order(query);
    result.keyOrder = order(key);
    result.isBackward = isBackward;
    result.keepsBest = keepsBest;
    result.mayReceiveAll = mayReceiveAll;
    return result;
  }

  Interval at(const IntervalTable &table, int64_t rank) const {
    return table.intervals[along(table.axes, rank)];
  }
  Elements elementsAt(ArrayRef<IntervalTable> parts, int64_t rank) const {
    Elements all;
    for (const IntervalTable &part : parts)
      for (int64_t i = at(part, rank).begin; i < at(part, rank).end; ++i)
        EXPECT_TRUE(all.insert(i).second) << "twice at rank " << rank;
    return all;
  }
};

/// What a plan brings a rank at one turn.
struct Turn {
  int64_t shift;
  std::vector<Elements> keys; ///< natural, one a rank
};

/// The turns of a plan, a loop unrolled.
std::vector<Turn> turnsOf(const Model &model, const RingPlan &plan) {
  std::vector<Turn> turns;
  auto natural = [](ArrayRef<TablePart> parts) {
    SmallVector<IntervalTable> tables;
    for (const TablePart &part : parts)
      tables.push_back(part.natural);
    return tables;
  };
  if (!plan.isLoop()) {
    for (const RingStep &step : plan.steps) {
      Turn &turn = turns.emplace_back(Turn{step.shift, {}});
      for (int64_t rank = 0; rank < model.countRanks(); ++rank)
        turn.keys.push_back(model.elementsAt(natural(step.parts), rank));
    }
    return turns;
  }
  SmallVector<IntervalTable> blocks =
      natural(plan.keyParts.empty() ? plan.steps[0].parts : plan.keyParts);
  for (Run run : plan.runs)
    for (int64_t shift = run.first; shift <= run.last; ++shift) {
      Turn &turn = turns.emplace_back(Turn{shift, {}});
      for (int64_t rank = 0; rank < model.countRanks(); ++rank)
        turn.keys.push_back(
            model.elementsAt(blocks, model.further(rank, plan.places, shift)));
    }
  return turns;
}

/// Every pair that the band leaves is met at one turn of one rank, or of each
/// of those that do the same; and the busiest rank is what the plan says.
void expectAllPairsOnce(const Model &model, const RingPlan &plan) {
  std::vector<Turn> turns = turnsOf(model, plan);
  int64_t ranks = model.countRanks(), same = ranks;
  std::set<int64_t> axes(plan.parts.front().axes.begin(),
                         plan.parts.front().axes.end());
  axes.insert(plan.merged.begin(), plan.merged.end());
  for (int64_t axis : axes)
    same /= model.mesh[axis];
  std::map<std::pair<int64_t, int64_t>, int64_t> met;
  double most = 0, all = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    double work = 0;
    for (int64_t q : model.elementsAt(plan.parts, rank))
      for (const Turn &turn : turns)
        for (int64_t k : turn.keys[rank])
          if (model.mayPair(q, k)) {
            ++met[{q, k}];
            ++work;
          }
    most = std::max(most, work);
    all += work;
  }
  for (int64_t q = 0; q < model.query.size(); ++q)
    for (int64_t k = 0; k < model.key.size(); ++k)
      EXPECT_EQ((met[{q, k}]), model.mayPair(q, k) ? same : 0)
          << "query " << q << ", key " << k;
  if (!plan.isLoop()) {
    EXPECT_NEAR(plan.imbalance, all > 0 ? most * double(ranks) / all : 1, 1e-9);
  }
}

/// The places, as keys are held, of those of `owner`'s keys that some of
/// `queries` pairs with.
Elements neededPlaces(const Model &model, int64_t owner,
                      const Elements &queries) {
  Elements places;
  int64_t shard = model.along(model.key.axes, owner);
  for (int64_t at = model.key.bounds[shard]; at < model.key.bounds[shard + 1];
       ++at)
    if (llvm::any_of(queries, [&](int64_t q) {
          return model.mayPair(q, model.key.elementAt(at));
        }))
      places.insert(at);
  return places;
}

/// Each rank gets of each block what its queries need, and a turn at which
/// nobody needs anything is left out. `plan`: not of zigzag keys in a loop.
void expectNoMore(const Model &model, const RingPlan &plan) {
  bool isTrimmed = !model.band.isWhole() && !model.key.axes.empty();
  std::map<int64_t, const RingStep *> steps;
  for (const RingStep &step : plan.steps)
    steps[step.shift] = &step;
  std::set<int64_t> inRuns;
  for (Run run : plan.runs)
    for (int64_t shift = run.first; shift <= run.last; ++shift)
      EXPECT_TRUE(inRuns.insert(shift).second);
  int64_t needed = 0;
  for (int64_t shift = 0; shift < plan.length; ++shift) {
    std::vector<Elements> places;
    for (int64_t rank = 0; rank < model.countRanks(); ++rank)
      places.push_back(neededPlaces(model,
                                    model.further(rank, plan.places, shift),
                                    model.elementsAt(plan.parts, rank)));
    bool isNeeded = llvm::any_of(
        places, [](const Elements &some) { return !some.empty(); });
    needed += isNeeded || shift == 0;
    if (plan.isLoop()) {
      EXPECT_EQ(inRuns.count(shift), isNeeded || shift == 0 || !isTrimmed)
          << "shift " << shift;
      continue;
    }
    ASSERT_EQ(steps.count(shift), isNeeded || shift == 0) << "shift " << shift;
    if (!steps.count(shift))
      continue;
    for (int64_t rank = 0; rank < model.countRanks(); ++rank) {
      int64_t owner = model.further(rank, plan.places, shift),
              shard = model.along(model.key.axes, owner);
      Interval expected{model.key.bounds[shard], model.key.bounds[shard + 1]};
      if (isTrimmed && shift != 0) {
        Elements mine = places[rank];
        // Gradients go back from wherever the same keys were.
        if (model.isBackward)
          for (int64_t other = 0; other < model.countRanks(); ++other)
            if (model.along(model.key.axes, other) ==
                model.along(model.key.axes, rank))
              mine.insert(places[other].begin(), places[other].end());
        expected = mine.empty() ? Interval{}
                                : Interval{*mine.begin(), *mine.rbegin() + 1};
      }
      EXPECT_EQ(model.at(steps[shift]->keys, rank), expected)
          << "shift " << shift << ", rank " << rank << ": ["
          << model.at(steps[shift]->keys, rank).begin << ", "
          << model.at(steps[shift]->keys, rank).end << "), expected ["
          << expected.begin << ", " << expected.end << ")";
    }
  }
  EXPECT_EQ(plan.isLoop(),
            (isTrimmed ? needed : plan.length) > kMostUnrolledSteps);
}

/// In zigzag order each rank has queries from both ends, as hands are dealt;
/// and keys, where blocks of them are passed on, of twice as many pieces.
void expectBothEnds(const Model &model, const RingPlan &plan) {
  auto boundsOf = [](const Boundaries &bounds) {
    return std::vector<int64_t>(bounds.indices().begin(),
                                bounds.indices().end());
  };
  int64_t shards = 1;
  for (int64_t axis : model.query.axes)
    shards *= model.mesh[axis];
  Dim dealt = model.query;
  dealt.bounds = dealt.order =
      boundsOf(Boundaries::balanced(model.query.size(), shards));
  int64_t owners = plan.cuts[2].intervals.size();
  std::vector<int64_t> pieces =
      boundsOf(Boundaries::balanced(model.key.size(), 2 * owners));
  for (int64_t rank = 0; rank < model.countRanks(); ++rank) {
    Elements queries;
    int64_t hand = model.along(dealt.axes, rank);
    for (int64_t at = dealt.bounds[hand]; at < dealt.bounds[hand + 1]; ++at)
      queries.insert(dealt.elementAt(at));
    EXPECT_EQ(model.elementsAt(plan.parts, rank), queries) << "rank " << rank;
    if (plan.keyParts.empty())
      continue;
    Elements keys;
    int64_t owner = model.along(model.key.axes, rank);
    for (int64_t piece : {owner, 2 * owners - 1 - owner})
      for (int64_t key = pieces[piece]; key < pieces[piece + 1]; ++key)
        keys.insert(key);
    SmallVector<IntervalTable> tables;
    for (const TablePart &part : plan.keyParts)
      tables.push_back(part.natural);
    EXPECT_EQ(model.elementsAt(tables, rank), keys) << "rank " << rank;
  }
}

/// Parts of queries and keys of which some rank has a pair are known.
void expectPairsOfParts(const Model &model, const RingPlan &plan) {
  RingProblem problem = model.problem();
  for (size_t step = 0; step < plan.steps.size(); ++step)
    for (size_t part = 0; part < plan.parts.size(); ++part)
      for (size_t keys = 0; keys < plan.steps[step].parts.size(); ++keys) {
        bool some = false;
        for (int64_t rank = 0; rank < model.countRanks(); ++rank)
          for (int64_t q : model.elementsAt(plan.parts[part], rank))
            for (int64_t k :
                 model.elementsAt(plan.steps[step].parts[keys].natural, rank))
              some |= model.mayPair(q, k);
        EXPECT_EQ(plan.hasPairs(model.band, problem.mesh, step, part, keys),
                  some);
        EXPECT_TRUE(!some || model.band.mayHavePairs(
                                 plan.parts[part],
                                 plan.steps[step].parts[keys].natural));
      }
}

class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}
  int64_t upTo(int64_t last) { return int64_t(random() % uint64_t(last + 1)); }
  bool oneOf(int64_t count) { return upTo(count - 1) == 0; }
  std::vector<int64_t> bounds(int64_t size, int64_t shards) {
    std::vector<int64_t> result = {0, size};
    while (int64_t(result.size()) <= shards)
      result.push_back(upTo(size));
    llvm::sort(result);
    return result;
  }

private:
  std::mt19937 random;
};

/// A dim cut along `axes`: evenly, unevenly, or with empty shards.
Dim drawDim(Draw &draw, const Model &model, SmallVector<int64_t> axes,
            int64_t size) {
  int64_t shards = 1;
  for (int64_t axis : axes)
    shards *= model.mesh[axis];
  Dim dim{std::move(axes), draw.bounds(size, shards), {}};
  if (draw.oneOf(3)) {
    std::vector<int64_t> indices = Boundaries::balanced(size, shards).indices();
    dim.bounds.assign(indices.begin(), indices.end());
  }
  return dim;
}

Model draw(unsigned seed, bool isZigzag) {
  Draw draw(seed);
  std::vector<std::vector<int64_t>> meshes = {{2},    {3},       {5},  {2, 2},
                                              {3, 2}, {2, 1, 3}, {12}, {10}};
  Model model;
  model.mesh = meshes[draw.upTo(meshes.size() - 1)];
  int64_t last = model.mesh.size() - 1;
  // Queries and keys along the same axes, keys along others as well, or heads
  // along one that cuts keys too.
  SmallVector<int64_t> queryAxes{0}, keyAxes{0};
  if (last > 0 && draw.oneOf(2))
    keyAxes.push_back(last);
  if (last > 0 && draw.oneOf(3))
    queryAxes.push_back(last);
  if (last > 0 && queryAxes.size() == 1 && draw.oneOf(3))
    model.headAxes = {last};
  if (draw.oneOf(6))
    keyAxes.clear();
  int64_t size = draw.upTo(16);
  model.query = drawDim(draw, model, queryAxes, size);
  model.key =
      drawDim(draw, model, keyAxes, draw.oneOf(3) ? draw.upTo(16) : size);
  if (!draw.oneOf(4)) {
    model.band.upper = draw.oneOf(2) ? 0 : draw.upTo(12) - 6;
    if (draw.oneOf(2))
      model.band.lower = *model.band.upper - draw.upTo(8);
  }
  model.isBackward = draw.oneOf(4);
  model.keepsBest = !model.isBackward && draw.oneOf(6);
  model.mayReceiveAll = draw.oneOf(2);
  if (isZigzag)
    for (Dim *dim : {&model.query, &model.key})
      if (draw.oneOf(2))
        // The cut shards themselves, or others.
        dim->order = draw.oneOf(2) ? dim->bounds
                                   : draw.bounds(dim->size(), 1 + draw.upTo(4));
  return model;
}

std::string text(const Model &model) {
  std::string out = "mesh";
  auto list = [&](const char *what, const auto &values) {
    out += std::string(" ") + what;
    for (int64_t value : values)
      out += " " + std::to_string(value);
  };
  list("", model.mesh);
  for (const Dim *dim : {&model.query, &model.key}) {
    list(dim == &model.query ? "| queries along" : "| keys along", dim->axes);
    list("at", dim->bounds);
    list("order", dim->order);
  }
  list("| heads along", model.headAxes);
  out +=
      " | band " +
      (model.band.lower ? std::to_string(*model.band.lower)
                        : std::string("-")) +
      " " +
      (model.band.upper ? std::to_string(*model.band.upper) : std::string("-"));
  return out + (model.isBackward ? " backward" : "") +
         (model.keepsBest ? " keeps best" : "");
}
} // namespace

TEST(RingPlan, MeetsEveryPairOnce) {
  std::map<PairWay, int64_t> ways;
  int64_t loops = 0, zigzagLoops = 0, merged = 0, recut = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Model model = draw(seed, /*isZigzag=*/seed % 3 == 0);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(model));
    for (const RingPlan &plan : ringWays(model.problem())) {
      SCOPED_TRACE(spmd::stringifyPairWay(plan.way).str());
      ++ways[plan.way];
      loops += plan.isLoop();
      zigzagLoops += !plan.keyParts.empty();
      merged += !plan.merged.empty();
      recut += plan.isRecut && plan.way == PairWay::Ring;
      expectAllPairsOnce(model, plan);
      bool isOfBlocks = plan.way == PairWay::Ring ||
                        (plan.way == PairWay::Zigzag && plan.keyParts.empty());
      if (isOfBlocks)
        expectNoMore(model, plan);
      if (plan.way == PairWay::Zigzag)
        expectBothEnds(model, plan);
      expectPairsOfParts(model, plan);
    }
    if (HasFailure())
      return;
  }
  // All of it was drawn.
  for (PairWay way :
       {PairWay::Ring, PairWay::Zigzag, PairWay::Gathered, PairWay::Heads})
    EXPECT_GT(ways[way], 20) << spmd::stringifyPairWay(way).str();
  for (int64_t count : {loops, zigzagLoops, merged, recut})
    EXPECT_GT(count, 5);
}

TEST(RingPlan, PassesAllAtAnyNumberOfRanks) {
  Model model;
  model.mesh = {5};
  model.query = {{0}, {0, 4, 4, 9, 9, 11}, {}};
  model.key = {{0}, {0, 0, 6, 7, 9, 11}, {}};
  model.band.upper = 0;
  RingPlan plan = ringPassingAll(model.problem());
  EXPECT_TRUE(plan.isOpen);
  EXPECT_EQ(plan.countSteps(), 5);
  expectAllPairsOnce(model, plan);
}

TEST(PairBand, CountsPairsOfABlock) {
  Draw draw(1);
  for (int64_t trial = 0; trial < 2000; ++trial) {
    Model model;
    if (draw.oneOf(2))
      model.band.lower = draw.upTo(20) - 10;
    if (draw.oneOf(2))
      model.band.upper = draw.upTo(20) - 10;
    Interval rows{draw.upTo(12), draw.upTo(12)},
        keys{draw.upTo(12), draw.upTo(12)};
    int64_t count = 0, first = 100, last = -1;
    for (int64_t k = keys.begin; k < keys.end; ++k)
      for (int64_t q = rows.begin; q < rows.end; ++q)
        if (model.mayPair(q, k)) {
          ++count;
          first = std::min(first, k);
          last = std::max(last, k);
        }
    EXPECT_EQ(model.band.countPairs(rows, keys), double(count));
    // Of a band without keys between its bounds nothing is trimmed away.
    if (!model.band.lower || !model.band.upper ||
        *model.band.lower <= *model.band.upper) {
      EXPECT_EQ(model.band.trim(rows, keys),
                count ? (Interval{first, last + 1}) : Interval{});
    }
  }
}

static RingPlan wayOf(PairWay way, double milliseconds) {
  RingPlan plan;
  plan.way = way;
  plan.milliseconds = milliseconds;
  return plan;
}

TEST(RingPlan, TakesAnotherWayWhereItIsWorthIt) {
  auto choose = [](double ring, double zigzag, double gathered) {
    return cheapestWay({wayOf(PairWay::Ring, ring),
                        wayOf(PairWay::Zigzag, zigzag),
                        wayOf(PairWay::Gathered, gathered)});
  };
  EXPECT_EQ(choose(1, 2, 3).way, PairWay::Ring);
  // Better by less than the margin of estimates.
  EXPECT_EQ(choose(1, 0.99, 3).way, PairWay::Ring);
  EXPECT_EQ(choose(1, 0.9, 3).way, PairWay::Zigzag);
  EXPECT_EQ(choose(1, 0.9, 0.89).way, PairWay::Gathered);
  EXPECT_EQ(choose(1, 0.9, 0.89).note,
            "ring 1.000 ms, zigzag 0.900 ms, gather 0.890 ms");
  EXPECT_EQ(cheapestWay({wayOf(PairWay::Ring, 1)}).note, "");
}
