//===- RingPlan.h - Which rank has which keys when --------------*- C++ -*-===//
//
// The schedule of an op on all pairs, as tables, from the op as plain data: no
// op is looked at or built here (PlanRing.h does). Several ways are priced, and
// the cheapest is taken: docs/Rationale/Ring.md section 6.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_RINGPLAN_H
#define SHARDC_LIB_RULES_RINGPLAN_H

#include "Distribution.h"
#include "shardc/Dialect/Pairs/IR/PairsEnums.h"
#include "shardc/Machine/Cost.h"
#include <string>

namespace shardc::rules {

using spmd::PairWay;

/// Which keys a query pairs with, by positions: query i with those from i +
/// `lower` to i + `upper`, both included. Without a bound: all.
struct PairBand {
  std::optional<int64_t> lower, upper;

  bool isWhole() const { return !lower && !upper; }
  /// The part of `keys` that pairs with some of `rows`.
  Interval trim(Interval rows, Interval keys) const;
  /// The same of tables, for shards of any size; `keys` where it is not known
  /// how queries are cut.
  Formula trim(const Formula &rows, const Formula &keys) const;
  /// The pairs that it leaves of a block.
  double countPairs(Interval rows, Interval keys) const;
  /// True if it may leave a pair of any rank's `queries` and any rank's `keys`.
  bool mayHavePairs(const IntervalTable &queries,
                    const IntervalTable &keys) const;
};

/// An operand or a result: the iteration dims that it has.
struct PairTensor {
  llvm::SmallVector<int64_t> dims;
  double elementBytes = 4;
  bool isResult = false;
  bool has(int64_t dim) const { return llvm::is_contained(dims, dim); }
};

/// An op on all pairs, as it is planned.
struct RingProblem {
  llvm::SmallVector<int64_t> mesh; ///< sizes of the mesh axes
  /// Extents of the iteration dims: those of a batch, then query, key, depth
  /// and feature.
  llvm::SmallVector<int64_t> sizes;
  PairBand band;
  /// The operands, queries and keys first, and then the results.
  llvm::SmallVector<PairTensor, 0> tensors;
  /// How each iteration dim is cut.
  llvm::SmallVector<IntervalTable> cuts;
  /// The shards whose zigzag order the program has queries or keys in.
  std::optional<Boundaries> queryOrder, keyOrder;
  bool hasValue = true;       ///< tensor 2 is what is added up
  bool isBackward = false;    ///< gradients of keys go back
  bool keepsBest = false;     ///< results are lists, which do not add up
  bool mayReceiveAll = false; ///< whole keys may be more than its queries
  Cost cost{Machine()};

  int64_t query() const { return int64_t(sizes.size()) - 4; }
  int64_t key() const { return int64_t(sizes.size()) - 3; }
  int64_t depth() const { return int64_t(sizes.size()) - 2; }
  int64_t feature() const { return int64_t(sizes.size()) - 1; }
};

/// Keys that each rank has at one step.
struct RingStep {
  int64_t shift = 0; ///< whose they are: that many places further on
  IntervalTable keys;
  /// The same where keys are in zigzag order: their contiguous parts. Else one.
  llvm::SmallVector<TablePart, 0> parts;
};

/// Steps that follow one another, each with the block of the next place.
struct Run {
  int64_t first = 0, last = 0; ///< shifts, both included
  int64_t count() const { return last - first + 1; }
};

struct RingPlan {
  PairWay way = PairWay::Ring;
  /// How each iteration dim is cut while the op runs.
  llvm::SmallVector<IntervalTable> cuts;
  /// The queries of each rank: one interval, or several one after another.
  /// Indices are those that masks know; `slices` are the same in the rank's
  /// block, where the program itself has queries in zigzag order.
  llvm::SmallVector<IntervalTable> parts, slices;
  llvm::SmallVector<RingStep, 0> steps;
  /// Of a ring that is a loop: its steps, own block included. `steps` has the
  /// first alone then.
  llvm::SmallVector<Run, 0> runs;
  /// Of a loop whose keys are in zigzag order, as queries are: the parts of
  /// each rank's block, one behind the other. So each step is equal work, and
  /// no rank waits for its neighbours. Else none.
  llvm::SmallVector<TablePart, 0> keyParts;
  /// Axes of the keys along which blocks are passed round, and those along
  /// which states are merged.
  llvm::SmallVector<int64_t> places, merged;
  int64_t length = 1; ///< ranks of one ring
  /// How many these are is said when the program is bound: it is a loop.
  bool isOpen = false;
  /// Operands and results are cut otherwise than `cuts` and `parts`.
  bool isRecut = false;
  /// The estimates that decided, in words; empty where there was no choice.
  std::string note;
  double milliseconds = 0;
  /// Pairs that the busiest rank computes, over the mean.
  double imbalance = 1;

  bool isLoop() const { return !runs.empty(); }
  int64_t countSteps() const;
  /// True if some rank's part `part` of the queries has a pair in part
  /// `keyPart` of its keys of `step`.
  bool hasPairs(const PairBand &band, llvm::ArrayRef<int64_t> meshSizes,
                int64_t step, int64_t part, int64_t keyPart) const;
};

/// The problem as it is cut, before a way is chosen: no steps yet. `late`: of
/// an op whose sizes are known only when the program is bound, here and below.
RingPlan ringInPlace(const RingProblem &problem, Localization *late = nullptr);
/// A ring of any number of ranks: each block is passed on, whole.
RingPlan ringPassingAll(const RingProblem &problem,
                        Localization *late = nullptr);
/// All ways, with what they take by estimate; the ring first.
llvm::SmallVector<RingPlan, 0> ringWays(const RingProblem &problem,
                                        Localization *late = nullptr);
/// The way that takes least time by estimate, a plain ring where others are
/// not worth it; its note has the estimates of all.
RingPlan cheapestWay(llvm::SmallVector<RingPlan, 0> ways);

/// Where a coordinate along `axes` is in a ring along `places`: the number of
/// the rank at place p of its ring is `rest` + `ofPlace[p]`.
struct PlacesOf {
  llvm::SmallVector<int64_t> place,
      rest; ///< one a coordinate along `axes`, row-major
  llvm::SmallVector<int64_t> ofPlace; ///< one a place
};
PlacesOf placesOf(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> places,
                  llvm::ArrayRef<int64_t> meshSizes);

/// For the coordinates along `table.axes`, row-major, the number of the rank
/// whose `places` are `shift` places further on (the others its own).
llvm::SmallVector<int64_t> stepPlaces(llvm::ArrayRef<int64_t> axes,
                                      llvm::ArrayRef<int64_t> places,
                                      llvm::ArrayRef<int64_t> meshSizes,
                                      int64_t shift);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RINGPLAN_H
