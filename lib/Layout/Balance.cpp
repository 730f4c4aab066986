//===- Balance.cpp - Sizes by which all ranks finish together -------------===//
#include "shardc/Layout/Balance.h"
#include "Wide.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

using namespace shardc;

/// This many of the last trials are looked at.
static constexpr size_t kMostSeen = 8;
/// What was seen is gone over so often. By then it agrees with itself, if that
/// can be.
static constexpr int kSweeps = 30;
/// A trial counts as faster if it is by this factor.
static constexpr double kFaster = 1.01;
static constexpr int64_t kMostWorse = 3;
/// What a trial took is by this factor chance, at most.
static constexpr double kMostChance = 1.1;
/// At most this many sizes are tried.
static constexpr size_t kMostTried = 12;
/// Where it has settled: what this many trials together promise, more than then
/// by this factor, is other work.
static constexpr double kOtherWork = 1.1;
static constexpr size_t kWatched = 8;

//===----------------------------------------------------------------------===//
// One dim
//===----------------------------------------------------------------------===//

namespace {
/// Work of elements and pace of ranks: their product is time.
struct Model {
  std::vector<int64_t> points; ///< between two of them elements are alike
  std::vector<double> work;    ///< of an element, by segment
  std::vector<double> pace;    ///< time for a unit of work, by shard
  std::vector<double> before;  ///< work of all elements below a point

  double length(size_t segment) const {
    return static_cast<double>(points[segment + 1] - points[segment]);
  }
};
} // namespace

static double largest(std::span<const double> times) {
  return *std::max_element(times.begin(), times.end());
}

/// The segments of each shard, from one number to the other.
static std::vector<size_t> segmentsOf(const Timing &timing,
                                      std::span<const int64_t> points) {
  std::vector<size_t> ends;
  for (int64_t bound : timing.bounds)
    ends.push_back(std::lower_bound(points.begin(), points.end(), bound) -
                   points.begin());
  return ends;
}

/// Explains what was seen. Where a shard took another time than the model says,
/// a quarter of that (of its logarithm) is put down to its rank, the rest to
/// its elements; other timings of the rank and of the elements correct it.
static Model explain(std::span<const Timing> seen) {
  Model model;
  for (const Timing &timing : seen)
    model.points.insert(model.points.end(), timing.bounds.begin(),
                        timing.bounds.end());
  std::sort(model.points.begin(), model.points.end());
  model.points.erase(std::unique(model.points.begin(), model.points.end()),
                     model.points.end());
  if (model.points.size() < 2)
    return model;
  const size_t shards = seen[0].times.size();
  double all = 0;
  for (const Timing &timing : seen)
    all += std::accumulate(timing.times.begin(), timing.times.end(), 0.0);
  double usual = all / static_cast<double>(seen.size()) /
                 static_cast<double>(model.points.back());
  // A part that seemed to cost nothing may cost something where it is joined
  // to another one.
  double least = usual * 1e-6;
  model.work.assign(model.points.size() - 1, usual);
  model.pace.assign(shards, 1);
  std::vector<std::vector<size_t>> ends;
  for (const Timing &timing : seen)
    ends.push_back(segmentsOf(timing, model.points));
  std::vector<char> isKnown(shards, 0);
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (size_t t = 0; t < seen.size(); ++t)
      for (size_t shard = 0; shard < shards; ++shard) {
        size_t from = ends[t][shard], to = ends[t][shard + 1];
        if (from == to)
          continue;
        isKnown[shard] = 1;
        double said = 0;
        for (size_t i = from; i < to; ++i)
          said += model.work[i] * model.length(i);
        said *= model.pace[shard];
        if (said <= 0)
          continue;
        double ratio = std::clamp(seen[t].times[shard] / said, 1e-3, 1e3);
        double ofRank = std::sqrt(std::sqrt(ratio));
        model.pace[shard] *= ofRank;
        for (size_t i = from; i < to; ++i)
          model.work[i] = std::max(model.work[i] * (ratio / ofRank), least);
      }
  // A rank that had nothing is taken to be like the others.
  double sum = 0;
  int64_t known = 0;
  for (size_t shard = 0; shard < shards; ++shard)
    if (isKnown[shard]) {
      sum += model.pace[shard];
      ++known;
    }
  for (size_t shard = 0; shard < shards; ++shard)
    if (!isKnown[shard] && known > 0)
      model.pace[shard] = sum / static_cast<double>(known);
  model.before = {0};
  for (size_t i = 0; i < model.work.size(); ++i)
    model.before.push_back(model.before[i] + model.work[i] * model.length(i));
  return model;
}

/// The index below which there is so much work.
static int64_t indexAt(const Model &model, double work) {
  size_t i = std::upper_bound(model.before.begin(), model.before.end(), work) -
             model.before.begin();
  if (i == 0)
    return 0;
  if (i == model.before.size())
    return model.points.back();
  double part = (work - model.before[i - 1]) / model.work[i - 1];
  return std::min(model.points[i - 1] + static_cast<int64_t>(part + 0.5),
                  model.points[i]);
}

BalancedCut shardc::balanceCut(std::span<const Timing> seen) {
  assert(!seen.empty() && "nothing was seen");
  BalancedCut cut{seen.back().bounds, 0, {}};
  for (const Timing &timing : seen)
    cut.slowest.push_back(largest(timing.times));
  cut.time = cut.slowest.back();
  Model model = explain(seen);
  if (model.points.size() < 2 || model.before.back() <= 0)
    return cut;
  for (size_t t = 0; t < seen.size(); ++t) {
    std::vector<size_t> ends = segmentsOf(seen[t], model.points);
    cut.slowest[t] = 0;
    for (size_t shard = 0; shard < model.pace.size(); ++shard) {
      double work = model.before[ends[shard + 1]] - model.before[ends[shard]];
      // Of an empty shard it is known what it took.
      cut.slowest[t] = std::max(cut.slowest[t], ends[shard] == ends[shard + 1]
                                                    ? seen[t].times[shard]
                                                    : work * model.pace[shard]);
    }
  }
  // The least time in which all ranks together do all of it.
  double throughput = 0;
  for (double pace : model.pace)
    throughput += 1 / pace;
  cut.time = model.before.back() / throughput;
  double work = 0;
  for (size_t shard = 0; shard + 1 < model.pace.size(); ++shard) {
    work += cut.time / model.pace[shard];
    cut.bounds[shard + 1] = std::max(indexAt(model, work), cut.bounds[shard]);
  }
  return cut;
}

//===----------------------------------------------------------------------===//
// All dims
//===----------------------------------------------------------------------===//

/// Whether `axes` begin with `major`.
static bool isWithin(std::span<const int64_t> major,
                     std::span<const int64_t> axes) {
  return major.size() <= axes.size() &&
         std::equal(major.begin(), major.end(), axes.begin());
}

static int64_t sum(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
}

Balance::Balance(std::vector<int64_t> meshSizes, std::vector<FreeDim> dims)
    : mesh(std::move(meshSizes)) {
  current.dims = std::move(dims);
  // The longest lists of axes; where one begins with another, its shards do.
  for (const FreeDim &dim : current.dims) {
    if (dim.sizes.size() < 2)
      continue;
    auto known = std::find_if(groups.begin(), groups.end(), [&](Group &group) {
      return isWithin(group.axes, dim.axes) || isWithin(dim.axes, group.axes);
    });
    if (known == groups.end())
      groups.push_back({dim.axes, 0});
    else if (dim.axes.size() > known->axes.size())
      known->axes = dim.axes;
  }
  for (Group &group : groups) {
    std::vector<int64_t> bounds;
    for (const FreeDim &dim : current.dims)
      if (dim.axes == group.axes &&
          (bounds.empty() || sum(dim.sizes) > group.size)) {
        group.size = sum(dim.sizes);
        bounds = {0};
        for (int64_t size : dim.sizes)
          bounds.push_back(bounds.back() + size);
      }
    current.bounds.push_back(std::move(bounds));
  }
  tried.push_back(current.bounds);
  begin(/*isOther=*/true);
}

int64_t Balance::numRanks() const {
  return std::accumulate(mesh.begin(), mesh.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t Balance::coordinate(int64_t rank, std::span<const int64_t> axes) const {
  std::vector<int64_t> places(mesh.size());
  for (size_t axis = mesh.size(); axis-- > 0;) {
    places[axis] = rank % mesh[axis];
    rank /= mesh[axis];
  }
  int64_t result = 0;
  for (int64_t axis : axes)
    result = result * mesh[axis] + places[axis];
  return result;
}

std::vector<double> Balance::timesOf(const Group &group,
                                     std::span<const double> times) const {
  int64_t shards = 1;
  for (int64_t axis : group.axes)
    shards *= mesh[axis];
  std::vector<double> result(shards, 0);
  for (size_t rank = 0; rank < times.size(); ++rank)
    result[coordinate(static_cast<int64_t>(rank), group.axes)] +=
        times[rank] * static_cast<double>(shards) /
        static_cast<double>(times.size());
  return result;
}

/// Begins a trial, of other sizes or of the same.
void Balance::begin(bool isOther) {
  current.times.clear();
  isCold = isOther;
  steps = 0;
  took = 0;
}

static double imbalanceOf(std::span<const double> times) {
  double all = std::accumulate(times.begin(), times.end(), 0.0);
  return all > 0 ? largest(times) * static_cast<double>(times.size()) / all : 1;
}

double Balance::imbalance() const {
  return trials.empty() ? 1 : imbalanceOf(trials[best].times);
}

bool Balance::add(std::span<const double> times) {
  if (times.empty() || groups.empty() || refused)
    return false;
  if (isCold) {
    isCold = false;
    return false;
  }
  current.times.resize(times.size());
  for (size_t rank = 0; rank < times.size(); ++rank)
    current.times[rank] += times[rank];
  took += largest(times);
  if (++steps < trialSteps && took < trialNs)
    return false;
  return conclude();
}

void Balance::close() {
  for (double &time : current.times)
    time /= static_cast<double>(steps);
  if (trials.empty())
    first = imbalanceOf(current.times);
}

std::vector<std::vector<int64_t>> Balance::choose(double &gain) {
  std::vector<std::vector<int64_t>> next;
  std::vector<double> slowest(trials.size(), 0);
  gain = 1;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<Timing> seen;
    for (const Trial &trial : trials)
      seen.push_back({trial.bounds[i], timesOf(groups[i], trial.times)});
    BalancedCut cut = balanceCut(seen);
    if (cut.time > 0)
      gain = std::max(gain, cut.slowest.back() / cut.time);
    // What all trials say corrects what was chance in one, and no more.
    for (size_t t = 0; t < trials.size(); ++t) {
      double measured = largest(trials[t].times);
      slowest[t] = std::max(slowest[t],
                            std::clamp(cut.slowest[t], measured / kMostChance,
                                       measured * kMostChance));
    }
    next.push_back(std::move(cut.bounds));
  }
  best = std::min_element(slowest.begin(), slowest.end()) - slowest.begin();
  return next;
}

bool Balance::conclude() {
  close();
  double slowest = largest(current.times);
  // Too short for the clock.
  if (slowest <= 0) {
    begin(/*isOther=*/false);
    return false;
  }
  if (settled)
    return watch();
  bool isFaster = trials.empty() || slowest * kFaster < fastest;
  fastest = trials.empty() ? slowest : std::min(slowest, fastest);
  worse = isFaster ? 0 : worse + 1;
  trials.push_back(current);
  if (trials.size() > kMostSeen)
    trials.erase(trials.begin());
  double gain;
  std::vector<std::vector<int64_t>> next = choose(gain);
  bool isKnown = std::find(tried.begin(), tried.end(), next) != tried.end();
  if (gain < leastGain || isKnown || worse >= kMostWorse ||
      tried.size() >= kMostTried) {
    // What its times promise alone is what later ones are compared with.
    settled = true;
    trials = {trials[best]};
    choose(settledGain);
    return takeBest();
  }
  tried.push_back(next);
  return take(std::move(next));
}

/// After it has settled: looks at what the last trials took together. Where
/// that promises more than it did then, the work has become another, and the
/// search begins anew.
bool Balance::watch() {
  watched.push_back(current.times);
  if (watched.size() < kWatched) {
    begin(/*isOther=*/false);
    return false;
  }
  std::fill(current.times.begin(), current.times.end(), 0);
  for (const std::vector<double> &times : watched)
    for (size_t rank = 0; rank < times.size(); ++rank)
      current.times[rank] += times[rank] / static_cast<double>(kWatched);
  watched.clear();
  std::vector<Trial> before = {current};
  std::swap(before, trials);
  size_t bestBefore = best;
  double gain;
  std::vector<std::vector<int64_t>> next = choose(gain);
  if (gain <= settledGain * kOtherWork || next == current.bounds) {
    trials = std::move(before);
    best = bestBefore;
    begin(/*isOther=*/false);
    return false;
  }
  tried = {current.bounds, next};
  fastest = largest(current.times);
  worse = 0;
  settled = false;
  return take(std::move(next));
}

bool Balance::take(std::vector<std::vector<int64_t>> bounds) {
  std::vector<FreeDim> before = current.dims;
  for (FreeDim &dim : current.dims) {
    if (dim.sizes.size() < 2)
      continue;
    size_t i = 0;
    while (!isWithin(dim.axes, groups[i].axes))
      ++i;
    auto shards = static_cast<int64_t>(bounds[i].size()) - 1;
    auto mine = static_cast<int64_t>(dim.sizes.size());
    int64_t size = sum(dim.sizes), all = groups[i].size, last = 0;
    for (int64_t shard = 0; shard < mine; ++shard) {
      // In proportion, rounded to the nearest index.
      Wide bound = bounds[i][(shard + 1) * (shards / mine)];
      int64_t end =
          shard + 1 == mine || all == 0
              ? size
              : saturate(floorDiv(2 * bound * size + all, Wide(2) * all));
      dim.sizes[shard] = end - last;
      last = end;
    }
  }
  current.bounds = std::move(bounds);
  bool isOther = current.dims != before;
  begin(isOther);
  numMoves += isOther ? 1 : 0;
  return isOther;
}

bool Balance::takeBest() {
  bool isOther = !trials.empty() && trials[best].dims != current.dims;
  if (isOther) {
    current.dims = trials[best].dims;
    current.bounds = trials[best].bounds;
    ++numMoves;
  }
  begin(isOther);
  return isOther;
}

void Balance::refuse() {
  refused = settled = true;
  takeBest();
}

bool Balance::settle() {
  // A trial that is not over counts as far as it went.
  if (steps > 0 && !settled && took > 0) {
    close();
    trials.push_back(current);
    double gain;
    choose(gain);
  }
  settled = true;
  return takeBest();
}
