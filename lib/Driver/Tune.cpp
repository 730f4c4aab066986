//===- Tune.cpp - Tiles of kernels by measurement -------------------------===//
//
// A greedy descent: of the best program so far, every kernel tries one of its
// other tiles, and keeps it or not by its own time. What was kept is compared
// once more, with the estimates' program, before anybody is told.
//
//===----------------------------------------------------------------------===//

#include "shardc/Driver/Tune.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace shardc;

TuneProgram::~TuneProgram() = default;
TuneSubject::~TuneSubject() = default;

/// Rounds in which programs run in turns.
static constexpr int kRounds = 5, kLastRounds = 9;

static KernelName nameOf(const TiledKernel &kernel) {
  return {kernel.name, kernel.location};
}

static double timeOf(const KernelTimes &times, const KernelName &name) {
  auto found = times.find(name);
  return found == times.end() ? 0 : found->second;
}

static double leastOf(ArrayRef<KernelTimes> rounds, const KernelName &name) {
  double least = timeOf(rounds.front(), name);
  for (const KernelTimes &round : rounds)
    least = std::min(least, timeOf(round, name));
  return least;
}

/// Whether the second program's kernel is faster by the least time, and in all
/// rounds but one: of nine rounds that say nothing, two of a hundred look so.
static bool isFaster(const TuneRounds &rounds, const KernelName &name,
                     double gain) {
  int losses = 0;
  for (auto [first, second] : zip_equal(rounds.first, rounds.second))
    losses += timeOf(second, name) >= timeOf(first, name);
  double least = leastOf(rounds.second, name);
  // 0: it was not seen.
  return least > 0 && losses <= 1 &&
         least < (1 - gain) * leastOf(rounds.first, name);
}

namespace {
class Search {
public:
  Search(TuneSubject &subject, const TileTable &known, const TuneLimits &limits)
      : subject(subject), known(known), limits(limits), begin(subject.now()) {}

  Expected<TuneReport> run() {
    best = known;
    if (Error error = make(best, program))
      return std::move(error);
    if (Error error = choose())
      return std::move(error);
    while (!report.kernels.empty()) {
      if (subject.now() - begin >= limits.seconds) {
        report.isCutShort = true;
        break;
      }
      Expected<bool> isMore = step();
      if (!isMore)
        return isMore.takeError();
      if (!*isMore)
        break;
    }
    if (Error error = confirm())
      return std::move(error);
    report.seconds = subject.now() - begin;
    return std::move(report);
  }

private:
  Error make(const TileTable &tiles, std::unique_ptr<TuneProgram> &to) {
    to.reset();
    Expected<std::unique_ptr<TuneProgram>> made = subject.compile(tiles);
    if (!made)
      return made.takeError();
    ++report.programs;
    to = std::move(*made);
    return Error::success();
  }

  /// The kernels that are worth the time.
  Error choose() {
    std::set<KernelName> tiled;
    for (const TiledKernel &kernel : program->kernels)
      tiled.insert(nameOf(kernel));
    if (tiled.empty())
      return Error::success();
    Expected<TuneRounds> rounds =
        subject.compare(*program, *program, /*rounds=*/2);
    if (!rounds)
      return rounds.takeError();
    std::vector<KernelTimes> all = std::move(rounds->first);
    all.insert(all.end(), rounds->second.begin(), rounds->second.end());
    double total = 0, chosen = 0;
    for (const auto &[name, time] : all.front())
      total += leastOf(all, name);
    for (const KernelName &name : tiled) {
      double time = leastOf(all, name);
      if (time <= 0 || time < limits.leastShare * total ||
          (limits.isAtLimit && limits.isAtLimit(name)))
        continue;
      TunedKernel &kernel = report.kernels.emplace_back();
      kernel.name = name;
      kernel.before = kernel.after = time;
      chosen += time;
    }
    stable_sort(report.kernels, [](const auto &x, const auto &y) {
      return x.before > y.before;
    });
    report.share = total > 0 ? chosen / total : 0;
    return Error::success();
  }

  /// What a kernel tries next.
  struct Trial {
    TunedKernel *kernel;
    std::string digest;
    Tile tile;
  };

  /// The next tile of `kernel` that was not tried; of one of its nests.
  std::optional<Trial> nextOf(TunedKernel &kernel, const TileTable &taken) {
    for (const TiledKernel &nest : program->kernels) {
      if (nameOf(nest) != kernel.name || taken.count(nest.digest))
        continue;
      // The longest of those that share a nest decides about it.
      auto [owner, isNew] = owners.try_emplace(nest.digest, &kernel);
      if (owner->second != &kernel)
        continue;
      std::set<Tile> &done = tried[nest.digest];
      done.insert(nest.tile);
      for (const Tile &other : nest.others)
        if (done.insert(other).second)
          return Trial{&kernel, nest.digest, other};
    }
    return std::nullopt;
  }

  /// Tries a tile of each kernel. False: all have tried all of theirs.
  Expected<bool> step() {
    TileTable tiles = best, taken;
    std::vector<Trial> trials;
    for (TunedKernel &kernel : report.kernels)
      if (std::optional<Trial> trial = nextOf(kernel, taken)) {
        taken[trial->digest] = tiles[trial->digest] = trial->tile;
        ++kernel.tried;
        trials.push_back(std::move(*trial));
      }
    if (trials.empty())
      return false;
    std::unique_ptr<TuneProgram> other;
    if (Error error = make(tiles, other))
      return std::move(error);
    Expected<TuneRounds> rounds = subject.compare(*program, *other, kRounds);
    if (!rounds)
      return rounds.takeError();
    // Tiles change no bits. If they did, none of these would be one to keep.
    if (!rounds->isSame) {
      ++report.other;
      return true;
    }
    size_t numKept = 0;
    for (const Trial &trial : trials)
      if (isFaster(*rounds, trial.kernel->name, limits.gain)) {
        best[trial.digest] = trial.tile;
        ++numKept;
      }
    if (numKept == trials.size())
      program = std::move(other);
    else if (numKept > 0)
      if (Error error = make(best, program))
        return std::move(error);
    return true;
  }

  /// Compares what was kept with the estimates, and keeps what is faster there
  /// as well.
  Error confirm() {
    std::unique_ptr<TuneProgram> plain;
    if (best.empty() || report.kernels.empty())
      return Error::success();
    if (Error error = make({}, plain))
      return error;
    std::map<std::string, Tile> estimates;
    for (const TiledKernel &nest : plain->kernels)
      estimates.try_emplace(nest.digest, nest.tile);
    Expected<TuneRounds> rounds =
        subject.compare(*plain, *program, kLastRounds);
    if (!rounds)
      return rounds.takeError();
    if (!rounds->isSame) {
      ++report.other;
      return Error::success();
    }
    for (TunedKernel &kernel : report.kernels) {
      kernel.before = leastOf(rounds->first, kernel.name);
      kernel.after = kernel.before;
      bool faster = isFaster(*rounds, kernel.name, limits.gain);
      if (faster)
        kernel.after = leastOf(rounds->second, kernel.name);
      for (const auto &[digest, owner] : owners) {
        auto tile = best.find(digest);
        auto was = estimates.find(digest);
        if (owner != &kernel || tile == best.end() || was == estimates.end())
          continue;
        if (faster && tile->second != was->second) {
          kernel.kept.push_back({digest, was->second, tile->second});
          report.found[digest] = tile->second;
        } else if (known.count(digest)) {
          report.dropped.push_back(digest);
        }
      }
    }
    return Error::success();
  }

  TuneSubject &subject;
  const TileTable &known;
  const TuneLimits &limits;
  double begin;
  TileTable best;
  std::unique_ptr<TuneProgram> program; ///< with `best`
  std::map<std::string, TunedKernel *> owners;
  std::map<std::string, std::set<Tile>> tried;
  TuneReport report;
};
} // namespace

Expected<TuneReport> shardc::tune(TuneSubject &subject, const TileTable &known,
                                  const TuneLimits &limits) {
  return Search(subject, known, limits).run();
}
