//===- RingPlan.cpp - Which rank has which keys when ----------------------===//
//
// Keys travel straight from the rank that owns a block to the one that
// multiplies it: at step s the rank at place p of a ring of n meets block (p +
// s) mod n. A rank gets of a block what the band leaves to its queries.
//
// Under a causal mask, queries that are in blocks are uneven work: the last
// rank has nearly twice the mean. So each rank may take the r-th part from the
// front and the r-th from the end instead: halves of twice as many parts, the
// same number of pairs everywhere. Blocks of keys stay where they are.
//
//===----------------------------------------------------------------------===//
#include "RingPlan.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Layout/TravelFormula.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static int64_t countAlong(ArrayRef<int64_t> axes, ArrayRef<int64_t> meshSizes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= meshSizes[axis];
  return count;
}

/// The coordinate along each mesh axis of number `index` along `axes`; 0
/// elsewhere.
static SmallVector<int64_t> coordinateOf(ArrayRef<int64_t> axes,
                                         ArrayRef<int64_t> meshSizes,
                                         int64_t index) {
  SmallVector<int64_t> result(meshSizes.size(), 0);
  for (int64_t axis : llvm::reverse(axes)) {
    result[axis] = index % meshSizes[axis];
    index /= meshSizes[axis];
  }
  return result;
}

static int64_t numberOf(ArrayRef<int64_t> axes, ArrayRef<int64_t> meshSizes,
                        ArrayRef<int64_t> coordinate) {
  int64_t number = 0;
  for (int64_t axis : axes)
    number = number * meshSizes[axis] + coordinate[axis];
  return number;
}

static Interval at(const IntervalTable &table, ArrayRef<int64_t> meshSizes,
                   ArrayRef<int64_t> coordinate) {
  return table.intervals[numberOf(table.axes, meshSizes, coordinate)];
}

static SmallVector<int64_t> unite(ArrayRef<int64_t> first,
                                  ArrayRef<int64_t> second) {
  SmallVector<int64_t> axes(first);
  for (int64_t axis : second)
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  return axes;
}

SmallVector<int64_t> rules::stepPlaces(ArrayRef<int64_t> axes,
                                       ArrayRef<int64_t> places,
                                       ArrayRef<int64_t> meshSizes,
                                       int64_t shift) {
  PlacesOf of = placesOf(axes, places, meshSizes);
  int64_t length = of.ofPlace.size();
  SmallVector<int64_t> numbers;
  for (auto [place, rest] : llvm::zip_equal(of.place, of.rest))
    numbers.push_back(rest +
                      of.ofPlace[((place + shift) % length + length) % length]);
  return numbers;
}

PlacesOf rules::placesOf(ArrayRef<int64_t> axes, ArrayRef<int64_t> places,
                         ArrayRef<int64_t> meshSizes) {
  PlacesOf result;
  for (int64_t index = 0, e = countAlong(axes, meshSizes); index < e; ++index) {
    SmallVector<int64_t> coordinate = coordinateOf(axes, meshSizes, index);
    result.place.push_back(numberOf(places, meshSizes, coordinate));
    for (int64_t axis : places)
      coordinate[axis] = 0;
    result.rest.push_back(numberOf(axes, meshSizes, coordinate));
  }
  for (int64_t place = 0, e = countAlong(places, meshSizes); place < e; ++place)
    result.ofPlace.push_back(
        numberOf(axes, meshSizes, coordinateOf(places, meshSizes, place)));
  return result;
}

//===----------------------------------------------------------------------===//
// The band
//===----------------------------------------------------------------------===//

Interval PairBand::trim(Interval rows, Interval keys) const {
  Interval none{keys.begin, keys.begin};
  if (rows.empty() || keys.empty())
    return none;
  if (lower)
    keys.begin = std::max(keys.begin, rows.begin + *lower);
  if (upper)
    keys.end = std::min(keys.end, rows.end + *upper);
  return keys.empty() ? none : keys;
}

Formula PairBand::trim(const Formula &rows, const Formula &keys) const {
  // Further than any key is from any query. [maths]
  constexpr int64_t far = int64_t(1) << 48;
  if (!rows || !keys)
    return keys;
  int64_t first = lower.value_or(-far), last = upper.value_or(far);
  return Formula::kept(
      keys,
      Formula::positions(
          first, {1, 1},
          {rows, Formula::same({0, std::max<int64_t>(0, last - first + 1)})}));
}

/// Σ over i in `rows` of i + `shift`, no less than `least` and no more than
/// `most`.
static double sumClamped(Interval rows, int64_t shift, int64_t least,
                         int64_t most) {
  int64_t count = rows.size(), first = rows.begin + shift;
  int64_t low = std::clamp<int64_t>(least - first, 0, count),
          high = std::clamp<int64_t>(most - first, low, count);
  double between =
      double(high - low) * (double(first + low) + double(first + high - 1)) / 2;
  return double(low) * double(least) + between +
         double(count - high) * double(most);
}

double PairBand::countPairs(Interval rows, Interval keys) const {
  if (rows.empty() || keys.empty())
    return 0;
  double count = double(rows.size());
  double ends = upper ? sumClamped(rows, *upper + 1, keys.begin, keys.end)
                      : count * double(keys.end);
  double begins = lower ? sumClamped(rows, *lower, keys.begin, keys.end)
                        : count * double(keys.begin);
  return std::max(0.0, ends - begins);
}

static Interval hull(Interval a, Interval b) {
  if (a.empty())
    return b;
  return b.empty()
             ? a
             : Interval{std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

bool PairBand::mayHavePairs(const IntervalTable &queries,
                            const IntervalTable &keys) const {
  auto span = [](const IntervalTable &table) {
    Interval all{0, 0};
    for (Interval interval : table.intervals)
      all = hull(all, interval);
    return all;
  };
  return !trim(span(queries), span(keys)).empty();
}

int64_t RingPlan::countSteps() const {
  int64_t count = 0;
  for (Run run : runs)
    count += run.count();
  return isLoop() ? count : int64_t(steps.size());
}

bool RingPlan::hasPairs(const PairBand &band, ArrayRef<int64_t> meshSizes,
                        int64_t step, int64_t part, int64_t keyPart) const {
  const IntervalTable &keys = steps[step].parts[keyPart].natural;
  // Shards of other sizes may have pairs where these have none.
  if (keys.formula.isOpen() || parts[part].formula.isOpen())
    return true;
  SmallVector<int64_t> axes = unite(keys.axes, parts[part].axes);
  for (int64_t index = 0; index < countAlong(axes, meshSizes); ++index) {
    SmallVector<int64_t> coordinate = coordinateOf(axes, meshSizes, index);
    if (!band.trim(at(parts[part], meshSizes, coordinate),
                   at(keys, meshSizes, coordinate))
             .empty())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const RingProblem &problem, Localization *late)
      : problem(problem), mesh(problem.mesh), cuts(problem.cuts),
        queryOrder(problem.queryOrder), keyOrder(problem.keyOrder), late(late),
        band(problem.band), query(problem.query()), key(problem.key()),
        sizes(problem.sizes) {}

  /// All ways, with what they take by estimate; the ring first.
  SmallVector<RingPlan, 0> ways();
  RingPlan inPlace();

private:
  /// A dim in as many balanced shards as there are coordinates along `axes`.
  IntervalTable balancedTable(ArrayRef<int64_t> axes, int64_t dim);
  IntervalTable wholeDim(int64_t dim) {
    return late ? late->wholeTable(sizes[dim]) : wholeTable(sizes[dim]);
  }
  /// Fills in which rank uses which block when keys travel.
  void addSteps(RingPlan &plan);
  /// Of twice as many parts of the keys as ranks own blocks, each rank's from
  /// the front and from the end.
  SmallVector<TablePart, 0> zigzagKeys(const IntervalTable &owned);
  /// The steps at which some rank needs something, in order, the first among
  /// them.
  SmallVector<int64_t> neededShifts(const RingPlan &plan,
                                    ArrayRef<TablePart> pieces);
  /// What of `keys` some part of the queries needs.
  Formula neededBy(const RingPlan &plan, const Formula &keys);
  std::optional<RingPlan> zigzag(const RingPlan &ring);
  std::optional<RingPlan> gather(const RingPlan &ring);
  std::optional<RingPlan> cutHeads(const RingPlan &ring);
  /// Seconds that the busiest rank takes, and its share of pairs.
  void estimate(RingPlan &plan);

  int64_t ranksAlong(ArrayRef<int64_t> axes) { return countAlong(axes, mesh); }
  /// Bytes of a tensor that one index of `dim` has on a rank.
  double bytesPerIndex(const PairTensor &tensor, int64_t dim,
                       const RingPlan &plan);
  /// True if the program itself has queries or keys in zigzag order.
  bool isZigzag() { return queryOrder || keyOrder; }
  bool hasBoth(const PairTensor &tensor) {
    return tensor.has(query) && tensor.has(key);
  }

  const RingProblem &problem;
  ArrayRef<int64_t> mesh;
  ArrayRef<IntervalTable> cuts;
  const std::optional<Boundaries> &queryOrder, &keyOrder;
  Localization *late;
  const PairBand &band;
  int64_t query, key;
  ArrayRef<int64_t> sizes;
};
} // namespace

RingPlan Planner::inPlace() {
  RingPlan plan;
  plan.cuts.assign(cuts.begin(), cuts.end());
  // Along an axis that cuts something else as well every rank needs all keys.
  for (int64_t axis : plan.cuts[key].axes) {
    bool isShared = false;
    for (auto [dim, table] : llvm::enumerate(plan.cuts))
      isShared |= int64_t(dim) != key && llvm::is_contained(table.axes, axis);
    (isShared ? plan.places : plan.merged).push_back(axis);
  }
  if (problem.keepsBest && !plan.merged.empty()) {
    // Lists of the best do not add up: queries are cut instead, for the while.
    SmallVector<int64_t> axes(plan.cuts[query].axes);
    llvm::append_range(axes, plan.merged);
    plan.cuts[query] = balancedTable(axes, query);
    plan.places.assign(plan.cuts[key].axes.begin(), plan.cuts[key].axes.end());
    plan.merged.clear();
    plan.isRecut = true;
  }
  for (TablePart &part : splitZigzag(plan.cuts[query], queryOrder, late)) {
    plan.parts.push_back(std::move(part.natural));
    if (isZigzag())
      plan.slices.push_back(std::move(part.held));
  }
  plan.length = ranksAlong(plan.places);
  return plan;
}

IntervalTable Planner::balancedTable(ArrayRef<int64_t> axes, int64_t dim) {
  IntervalTable table =
      tableOf(axes, Boundaries::balanced(sizes[dim], ranksAlong(axes)));
  if (late && late->isOpen(sizes[dim]))
    table.formula =
        Formula::shards(Formula::refine(Formula::whole(sizes[dim]),
                                        late->countCoordinates(axes)),
                        {axes.begin(), axes.end()});
  return table;
}

SmallVector<TablePart, 0> Planner::zigzagKeys(const IntervalTable &owned) {
  int64_t ranks = owned.intervals.size(), begin = 0;
  Boundaries pieces = Boundaries::balanced(sizes[key], 2 * ranks);
  IntervalTable none{owned.axes, {}};
  SmallVector<TablePart, 0> parts(2, TablePart{none, none});
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Interval both[] = {pieces.shard(rank), pieces.shard(2 * ranks - 1 - rank)};
    for (auto [part, natural] : llvm::zip_equal(parts, both)) {
      part.natural.intervals.push_back(natural);
      part.held.intervals.push_back({begin, begin + natural.size()});
      begin += natural.size();
    }
  }
  return parts;
}

SmallVector<int64_t> Planner::neededShifts(const RingPlan &plan,
                                           ArrayRef<TablePart> pieces) {
  const IntervalTable &owned = plan.cuts[key];
  if (band.isWhole() || owned.axes.empty() || late)
    return llvm::to_vector(llvm::seq<int64_t>(0, plan.length));
  SmallVector<int64_t> all = unite(owned.axes, plan.parts.front().axes),
                       shifts{0};
  // The blocks of each ring as they follow one another: a rank looks at those
  // alone that its queries' keys are in.
  struct Block {
    int64_t ring, place;
    Interval keys;
  };
  PlacesOf along = placesOf(owned.axes, plan.places, mesh);
  SmallVector<SmallVector<Block>> blocks;
  for (const TablePart &piece : pieces) {
    SmallVector<Block> &list = blocks.emplace_back();
    for (auto [owner, keys] : llvm::enumerate(piece.natural.intervals))
      if (!keys.empty())
        list.push_back({along.rest[owner], along.place[owner], keys});
    llvm::sort(list, [](const Block &a, const Block &b) {
      return std::tuple(a.ring, a.keys.begin) <
             std::tuple(b.ring, b.keys.begin);
    });
  }
  SmallVector<bool> isNeeded(plan.length, false);
  isNeeded[0] = true;
  int64_t missing = plan.length - 1;
  // The last queries of a causal band need all.
  for (int64_t index = ranksAlong(all); missing > 0 && index-- > 0;) {
    SmallVector<int64_t> coordinate = coordinateOf(all, mesh, index);
    int64_t number = numberOf(owned.axes, mesh, coordinate);
    for (const IntervalTable &part : plan.parts) {
      Interval mine = at(part, mesh, coordinate),
               span = band.trim(mine, {0, sizes[key]});
      if (span.empty())
        continue;
      for (ArrayRef<Block> list : blocks) {
        const Block *block = llvm::partition_point(list, [&](const Block &b) {
          return b.ring < along.rest[number] ||
                 (b.ring == along.rest[number] && b.keys.end <= span.begin);
        });
        for (; block != list.end() && block->ring == along.rest[number] &&
               block->keys.begin < span.end;
             ++block) {
          int64_t shift = block->place - along.place[number];
          shift += shift < 0 ? plan.length : 0;
          if (isNeeded[shift] || band.trim(mine, block->keys).empty())
            continue;
          isNeeded[shift] = true;
          --missing;
        }
      }
    }
  }
  for (int64_t shift = 1; shift < plan.length; ++shift)
    if (isNeeded[shift])
      shifts.push_back(shift);
  return shifts;
}

Formula Planner::neededBy(const RingPlan &plan, const Formula &keys) {
  Formula needed;
  for (const IntervalTable &part : plan.parts) {
    Formula keysOfPart = band.trim(formulaOf(part), keys);
    needed = needed ? hullFormula(needed, keysOfPart) : keysOfPart;
  }
  return needed;
}

void Planner::addSteps(RingPlan &plan) {
  const IntervalTable &owned = plan.cuts[key];
  // The band looks at queries too. What goes back is the same for all queries.
  SmallVector<int64_t> axes(owned.axes),
      all = unite(owned.axes, plan.parts.front().axes);
  bool isTrimmed = !band.isWhole() && !owned.axes.empty();
  // Of shards of any size where one formula says it for all queries.
  // The ends of a shard in zigzag order are apart.
  if (late &&
      (keyOrder || !formulaOf(owned) || (problem.isBackward && axes != all)))
    isTrimmed = false;
  if (isTrimmed && !problem.isBackward)
    axes = all;
  plan.steps.clear();
  plan.runs.clear();
  plan.keyParts.clear();
  SmallVector<TablePart, 0> pieces = splitZigzag(owned, keyOrder, late);
  SmallVector<int64_t> shifts = neededShifts(plan, pieces);
  if (int64_t(shifts.size()) > kMostUnrolledSteps && !late) {
    plan.steps.push_back({0, owned, pieces});
    if (plan.way == PairWay::Zigzag) {
      plan.keyParts = zigzagKeys(owned);
      shifts = neededShifts(plan, plan.keyParts);
    }
    for (int64_t shift : shifts)
      if (plan.runs.empty() || plan.runs.back().last + 1 != shift)
        plan.runs.push_back({shift, shift});
      else
        plan.runs.back().last = shift;
    return;
  }
  for (int64_t shift : shifts) {
    SmallVector<int64_t> owners =
        stepPlaces(owned.axes, plan.places, mesh, shift);
    IntervalTable table{axes, SmallVector<Interval>(ranksAlong(axes))};
    SmallVector<bool> isSeen(table.intervals.size(), false);
    bool some = false;
    for (int64_t index = 0; index < ranksAlong(all); ++index) {
      SmallVector<int64_t> coordinate = coordinateOf(all, mesh, index);
      int64_t owner = owners[numberOf(owned.axes, mesh, coordinate)];
      Interval block = owned.intervals[owner], needed{block.begin, block.begin};
      for (const IntervalTable &part : plan.parts)
        for (const TablePart &piece : pieces) {
          Interval keys = band.trim(at(part, mesh, coordinate),
                                    piece.natural.intervals[owner]);
          int64_t moved = piece.held.intervals[owner].begin -
                          piece.natural.intervals[owner].begin;
          needed = hull({keys.begin + moved, keys.end + moved}, needed);
        }
      some |= !needed.empty();
      int64_t place = numberOf(axes, mesh, coordinate);
      // One's own block is here; where nothing is trimmed, every block is
      // whole.
      if (shift == 0 || !isTrimmed)
        needed = block;
      table.intervals[place] =
          isSeen[place] ? hull(table.intervals[place], needed) : needed;
      isSeen[place] = true;
    }
    if (Formula blocks = late ? formulaOf(owned) : Formula(); !shift) {
      table.formula = owned.formula;
    } else if (blocks) {
      blocks = Formula::rotate(blocks, shift,
                               {plan.places.begin(), plan.places.end()});
      blocks = isTrimmed ? neededBy(plan, blocks) : blocks;
      table.formula = blocks.isOpen() ? blocks : Formula();
    }
    if (some || shift == 0 || late) {
      SmallVector<TablePart, 0> parts = splitZigzag(table, keyOrder, late);
      plan.steps.push_back({shift, std::move(table), std::move(parts)});
    }
  }
}

std::optional<RingPlan> Planner::zigzag(const RingPlan &ring) {
  const IntervalTable &queries = ring.cuts[query];
  int64_t ranks = queries.intervals.size();
  if (band.isWhole() || ranks < 2 ||
      (late && late->countCoordinates(queries.axes).isOpen()))
    return std::nullopt;
  RingPlan plan = ring;
  plan.way = PairWay::Zigzag;
  plan.isRecut = true;
  // Of balanced shards, in whatever sizes queries come.
  IntervalTable shards = balancedTable(queries.axes, query);
  plan.parts.clear();
  for (TablePart &part : splitZigzag(
           shards,
           Boundaries::balanced(sizes[query], ranks)
               .with(shards.formula ? shards.formula.operands()[0] : Formula()),
           late))
    plan.parts.push_back(std::move(part.natural));
  addSteps(plan);
  return plan;
}

std::optional<RingPlan> Planner::gather(const RingPlan &ring) {
  if (ring.length < 2 || !ring.merged.empty() || ring.countSteps() < 2)
    return std::nullopt;
  RingPlan plan = ring;
  plan.way = PairWay::Gathered;
  plan.runs.clear();
  plan.keyParts.clear();
  // Gradients of keys that all ranks have are added up: all have the same then.
  IntervalTable table = wholeDim(key);
  if (!band.isWhole() && !problem.isBackward) {
    Formula all = late ? formulaOf(table) : Formula();
    table = {plan.parts.front().axes, {}};
    for (Interval rows : plan.parts.front().intervals)
      table.intervals.push_back(band.trim(rows, {0, sizes[key]}));
    if (all = all ? neededBy(plan, all) : all; all.isOpen())
      table.formula = all;
  }
  plan.steps = {{0, table, {{table, table}}}};
  // A rank may receive no more than it has queries.
  SmallVector<int64_t> axes =
      unite(ring.cuts[key].axes, plan.parts.front().axes);
  double perQuery = bytesPerIndex(problem.tensors.front(), query, plan),
         perKey = 0;
  for (const PairTensor &tensor : ArrayRef(problem.tensors).drop_front())
    if (!tensor.isResult && tensor.has(key) && !hasBoth(tensor))
      perKey += bytesPerIndex(tensor, key, plan);
  for (int64_t index = 0; index < ranksAlong(axes); ++index) {
    SmallVector<int64_t> coordinate = coordinateOf(axes, mesh, index);
    Interval keys = at(plan.steps[0].keys, mesh, coordinate);
    int64_t arriving =
        keys.size() -
        intersect(keys, at(ring.cuts[key], mesh, coordinate)).size();
    if (!problem.mayReceiveAll &&
        double(arriving) * perKey >
            double(at(plan.parts.front(), mesh, coordinate).size()) * perQuery)
      return std::nullopt;
  }
  return plan;
}

std::optional<RingPlan> Planner::cutHeads(const RingPlan &ring) {
  ArrayRef<int64_t> queryAxes = ring.cuts[query].axes;
  if (!ring.merged.empty() || queryAxes.size() != ring.places.size() ||
      ring.length < 2 || !problem.hasValue ||
      !llvm::all_of(
          ring.places,
          [&](int64_t axis) { return llvm::is_contained(queryAxes, axis); }))
    return std::nullopt;
  // What has queries and keys would be held whole.
  if (llvm::any_of(problem.tensors,
                   [&](const PairTensor &tensor) { return hasBoth(tensor); }))
    return std::nullopt;
  std::optional<int64_t> heads;
  for (int64_t dim = 0; dim < query; ++dim) {
    bool isEverywhere =
        llvm::all_of(ArrayRef(problem.tensors).take_front(3),
                     [&](const PairTensor &tensor) { return tensor.has(dim); });
    if (isEverywhere &&
        sizes[dim] % (ranksAlong(ring.cuts[dim].axes) * ring.length) == 0 &&
        !(late && (late->isOpen(sizes[dim]) ||
                   late->countCoordinates(ring.cuts[dim].axes).isOpen())))
      heads = dim;
  }
  if (!heads)
    return std::nullopt;
  RingPlan plan = ring;
  plan.way = PairWay::Heads;
  plan.runs.clear();
  plan.keyParts.clear();
  plan.isRecut = true;
  SmallVector<int64_t> axes(plan.cuts[*heads].axes);
  llvm::append_range(axes, plan.places);
  plan.cuts[*heads] = balancedTable(axes, *heads);
  plan.cuts[query] = wholeDim(query);
  plan.cuts[key] = wholeDim(key);
  plan.parts = {plan.cuts[query]};
  plan.steps = {{0, plan.cuts[key], {{plan.cuts[key], plan.cuts[key]}}}};
  plan.places.clear();
  plan.length = 1;
  return plan;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double Planner::bytesPerIndex(const PairTensor &tensor, int64_t dim,
                              const RingPlan &plan) {
  double bytes = tensor.elementBytes;
  for (int64_t other : tensor.dims)
    if (other != dim)
      bytes *= double(longestBlock(plan.cuts[other]));
  return bytes;
}

void Planner::estimate(RingPlan &plan) {
  const Cost &cost = problem.cost;
  int64_t depth = problem.depth(), feature = problem.feature();
  double perPair = problem.isBackward
                       ? 6.0 * sizes[depth] + 4.0 * sizes[feature]
                       : 2.0 * (sizes[depth] + sizes[feature]);
  for (int64_t dim = 0; dim < query; ++dim)
    perPair *= double(longestBlock(plan.cuts[dim]));
  // Of what travels with a key, there and (gradients) back; of what queries
  // have.
  double keyBytes = 0, homeBytes = 0, queryBytes = 0, resultBytes = 0;
  for (const PairTensor &tensor : problem.tensors)
    if (tensor.has(query))
      (tensor.isResult ? resultBytes : queryBytes) +=
          bytesPerIndex(tensor, query, plan);
    else if (tensor.has(key))
      (tensor.isResult ? homeBytes : keyBytes) +=
          bytesPerIndex(tensor, key, plan);
  const IntervalTable &queries = cuts[query], &owned = cuts[key];
  SmallVector<int64_t> axes =
      unite(unite(owned.axes, queries.axes), plan.parts.front().axes);
  double longest = 0, most = 0, all = 0;
  int64_t ranks = ranksAlong(axes);
  for (int64_t index = 0; index < ranks; ++index) {
    SmallVector<int64_t> coordinate = coordinateOf(axes, mesh, index);
    Interval own = at(queries, mesh, coordinate),
             keys = at(owned, mesh, coordinate);
    double time = 0, pairs = 0;
    int64_t arriving = own.size(), computed = 0;
    for (const IntervalTable &part : plan.parts) {
      Interval rows = at(part, mesh, coordinate);
      computed += rows.size();
      arriving -= intersect(rows, own).size();
    }
    if (plan.way == PairWay::Heads) {
      // A share of the heads of all that there is, there and back.
      double share = double(plan.cuts[query].intervals.front().size()) -
                     double(own.size());
      double keyShare = double(sizes[key]) - double(keys.size());
      time += cost.move(share * (queryBytes + resultBytes) +
                            keyShare * (keyBytes + homeBytes),
                        queries.axes) +
              2 * cost.synchronize(queries.axes);
    } else if (plan.isRecut) {
      // Rows that come, and results that go: as many.
      double coming =
          double(std::max<int64_t>(0, computed - (own.size() - arriving)));
      time += cost.move(coming * queryBytes + double(arriving) * resultBytes,
                        queries.axes) +
              2 * cost.synchronize(queries.axes);
    }
    if (plan.isLoop()) {
      // Blocks are passed from place to place, whole: the longer of all
      // computing and all travelling.
      double steps = double(plan.countSteps()),
             share = double(plan.length) / double(owned.intervals.size());
      for (const IntervalTable &part : plan.parts)
        pairs += band.countPairs(at(part, mesh, coordinate), {0, sizes[key]}) *
                 share;
      double travel = cost.move(
          double(longestBlock(owned)) * (keyBytes + homeBytes), owned.axes);
      time += std::max(cost.compute(pairs * perPair), steps * travel) +
              steps * cost.synchronize(owned.axes);
    }
    for (const RingStep &step :
         ArrayRef(plan.steps).drop_front(plan.isLoop() ? 1 : 0)) {
      Interval visited = at(step.keys, mesh, coordinate);
      double work = 0;
      for (const IntervalTable &part : plan.parts)
        for (const TablePart &keyPart : step.parts)
          work += band.countPairs(at(part, mesh, coordinate),
                                  at(keyPart.natural, mesh, coordinate));
      double compute = cost.compute(work * perPair),
             latency = cost.synchronize(owned.axes);
      double travel =
          cost.move(double(visited.size() - intersect(visited, keys).size()) *
                        (keyBytes + homeBytes),
                    owned.axes);
      if (plan.way == PairWay::Gathered)
        time += compute + travel + (problem.isBackward ? 2 : 1) * latency;
      else if (plan.way == PairWay::Heads)
        time += compute;
      else
        time += std::max(compute, travel) + (step.shift ? latency : 0);
      pairs += work;
    }
    longest = std::max(longest, time);
    most = std::max(most, pairs);
    all += pairs;
  }
  plan.milliseconds = longest * 1e3;
  plan.imbalance = all > 0 ? most * double(ranks) / all : 1;
}

SmallVector<RingPlan, 0> Planner::ways() {
  SmallVector<RingPlan, 0> all{inPlace()};
  addSteps(all.front());
  if (!all.front().isRecut && !isZigzag())
    for (std::optional<RingPlan> other :
         {zigzag(all.front()), gather(all.front()), cutHeads(all.front())})
      if (other)
        all.push_back(std::move(*other));
  for (RingPlan &way : all)
    estimate(way);
  return all;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

RingPlan rules::ringInPlace(const RingProblem &problem, Localization *late) {
  return Planner(problem, late).inPlace();
}

RingPlan rules::ringPassingAll(const RingProblem &problem, Localization *late) {
  RingPlan plan = ringInPlace(problem, late);
  const IntervalTable &owned = plan.cuts[problem.key()];
  plan.isOpen = true;
  plan.steps.push_back({0, owned, {{owned, owned}}});
  plan.runs.push_back({0, plan.length - 1});
  return plan;
}

SmallVector<RingPlan, 0> rules::ringWays(const RingProblem &problem,
                                         Localization *late) {
  return Planner(problem, late).ways();
}

RingPlan rules::cheapestWay(SmallVector<RingPlan, 0> ways) {
  RingPlan best = std::move(ways.front());
  if (ways.size() == 1)
    return best;
  auto others = MutableArrayRef(ways).drop_front();
  std::string note = llvm::formatv("{0} {1:f3} ms", stringifyPairWay(best.way),
                                   best.milliseconds);
  for (const RingPlan &other : others)
    note += llvm::formatv(", {0} {1:f3} ms", stringifyPairWay(other.way),
                          other.milliseconds);
  for (RingPlan &other : others)
    // Of ways that are none of them a plain ring, the cheapest.
    if (best.way == PairWay::Ring
            ? Cost::isWorth(other.milliseconds, best.milliseconds)
            : other.milliseconds < best.milliseconds)
      best = std::move(other);
  best.note = note;
  return best;
}
