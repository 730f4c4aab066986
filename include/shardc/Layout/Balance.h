//===- Balance.h - Sizes by which all ranks finish together -----*- C++ -*-===//
//
// What ranks took of a step with some sizes says how fast each is and where the
// work is, but not which of the two it was: a rank that took twice as long is
// slow, or has the rows that cost most. Steps with other sizes distinguish
// them. So sizes are chosen, tried, and chosen again of all that was seen,
// until nothing is to be gained.
//
// Nothing here knows a clock. Sums, products, quotients and square roots alone:
// all processes that get the same figures choose the same.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_BALANCE_H
#define SHARDC_LAYOUT_BALANCE_H

#include "shardc/Layout/Boundaries.h"
#include <cstdint>
#include <span>
#include <vector>

namespace shardc {

/// How long each shard of a dim took, where it was cut so.
struct Timing {
  std::vector<int64_t> bounds; ///< of k shards: k + 1 ascending indices
  std::vector<double> times;   ///< one entry a shard, >= 0, in any unit
};

/// Where a dim is to be cut so that all shards take as long, and how long that
/// would be.
struct BalancedCut {
  std::vector<int64_t> bounds;
  double time = 0;
  /// How long the slowest shard of each timing takes by what all of them say:
  /// what was chance in one is not in all.
  std::vector<double> slowest;
};

/// Cuts a dim by what was seen of it, the newest last. A shard's time is taken
/// to be the sum of its elements' work over its rank's speed; between two
/// boundaries that were ever tried elements are taken to be alike. Empty shards
/// say nothing, and may be chosen. Requires at least one timing; all are of one
/// dim and as many shards.
///
///   bounds 0 5 10, times 1 1    0 5 10
///   bounds 0 5 10, times 1 3    0 7 10: part slow rank, part much work
BalancedCut balanceCut(std::span<const Timing> seen);

/// A dim of an argument whose shards may have any sizes.
struct FreeDim {
  int64_t argument = 0, dim = 0;
  std::vector<int64_t> axes;  ///< of the mesh, major to minor; may be none
  std::vector<int64_t> sizes; ///< of its shards
  friend bool operator==(const FreeDim &, const FreeDim &) = default;
};

/// Chooses sizes for all free dims of a program while it runs. Dims that are
/// cut along the same axes are cut in the same proportion; dims along other
/// axes have nothing to do with one another.
///
/// Tried are sizes of which something is to be gained. What was tried without
/// being faster than what is known three times over, or comes again, ends it:
/// then the fastest sizes of all are taken and kept, until eight trials
/// together say that the work has become another.
class Balance {
public:
  /// The first step with new sizes is not counted. A trial lasts until steps
  /// took this many nanoseconds, or there were this many of them.
  static constexpr double trialNs = 20e6;
  static constexpr int64_t trialSteps = 4;
  /// Sizes that promise less than this are not tried.
  static constexpr double leastGain = 1.02;

  /// `mesh`: the sizes of its axes; a rank's number is row-major.
  Balance(std::vector<int64_t> mesh, std::vector<FreeDim> dims);

  /// The product of the mesh's axes.
  int64_t numRanks() const;
  /// Whether there is anything to choose: a free dim that is cut.
  bool hasChoice() const { return !groups.empty(); }
  /// Takes what each rank was at work itself, in nanoseconds, in a step with
  /// the sizes of dims(): what it waited for others is not work. Returns true
  /// if dims() have other sizes from here on.
  bool add(std::span<const double> times);
  /// The sizes of dims() cannot be had: back to the fastest that could, for
  /// good.
  void refuse();
  /// No step comes after this: dims() are the fastest from here on. Returns
  /// true if these are others.
  bool settle();

  const std::vector<FreeDim> &dims() const { return current.dims; }
  bool isSettled() const { return settled; }
  bool isRefused() const { return refused; }
  /// How often other sizes were taken.
  int64_t moves() const { return numMoves; }
  /// The time of the slowest rank over the mean of all, with the first sizes
  /// and with the fastest; 1 where nothing was seen.
  double firstImbalance() const { return first; }
  double imbalance() const;

private:
  /// Dims that go together, and where they are cut: that of most elements says.
  struct Group {
    std::vector<int64_t> axes;
    int64_t size = 0;
  };
  /// Sizes, and what ranks took with them.
  struct Trial {
    std::vector<FreeDim> dims;
    std::vector<std::vector<int64_t>> bounds; ///< by group
    std::vector<double> times;                ///< by rank: mean of steps
  };
  std::vector<double> timesOf(const Group &group,
                              std::span<const double> times) const;
  int64_t coordinate(int64_t rank, std::span<const int64_t> axes) const;
  /// The mean of the trial that is under way.
  void close();
  /// What is best by the trials: the bounds, by group; sets `gain` to what is
  /// gained by them over the last trial, and `best` to the best trial.
  std::vector<std::vector<int64_t>> choose(double &gain);
  bool conclude();
  bool watch();
  bool take(std::vector<std::vector<int64_t>> bounds);
  bool takeBest();
  void begin(bool isOther);

  std::vector<int64_t> mesh;
  std::vector<Group> groups;
  Trial current;
  std::vector<Trial> trials;                            ///< the last ones
  size_t best = 0;                                      ///< of them
  std::vector<std::vector<std::vector<int64_t>>> tried; ///< bounds by group
  bool settled = false, refused = false;
  bool isCold = true; ///< no step was made with these sizes yet
  int64_t steps = 0;  ///< of the trial
  double took = 0;    ///< the slowest rank in them
  double fastest = 0; ///< of all trials, the slowest rank
  int64_t worse = 0;  ///< trials since that one
  std::vector<std::vector<double>> watched; ///< times of trials, once settled
  double settledGain = 1;
  double first = 1;
  int64_t numMoves = 0;
};

} // namespace shardc

#endif // SHARDC_LAYOUT_BALANCE_H
