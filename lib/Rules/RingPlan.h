//===- RingPlan.h - Which rank has which keys when --------------*- C++ -*-===//
//
// The schedule of an op on all pairs, as tables: no op is built here. Several
// ways are priced, and the cheapest is taken: docs/Rationale/Ring.md section 6.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_RINGPLAN_H
#define SHARDC_LIB_RULES_RINGPLAN_H

#include "Distribution.h"
#include <string>

namespace shardc::rules {

using spmd::PairWay;

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
  bool hasPairs(spmd::AllPairsOpInterface op, llvm::ArrayRef<int64_t> meshSizes,
                int64_t step, int64_t part, int64_t keyPart) const;
};

/// True if the band may leave a pair of any rank's `queries` and any rank's
/// `keys`.
bool mayHavePairs(spmd::AllPairsOpInterface op, const IntervalTable &queries,
                  const IntervalTable &keys);

/// The pairs that the band leaves of a block.
double countPairs(spmd::AllPairsOpInterface op, Interval rows, Interval keys);

/// Plans `op` as its operands are cut: the way that takes least time by
/// estimate, or that the op's attribute `spmd.way` names. Fails, with a
/// diagnostic, where it names one that the op cannot go.
llvm::FailureOr<RingPlan> planRing(spmd::AllPairsOpInterface op,
                                   Localization &localization);

/// Milliseconds that the busiest rank takes by estimate, in the best way;
/// nullopt where there is no choice. See OrderCostOpInterface.
std::optional<double> estimateRing(spmd::AllPairsOpInterface op,
                                   llvm::ArrayRef<IntervalTable> cuts,
                                   llvm::ArrayRef<int64_t> meshSizes,
                                   llvm::ArrayRef<int64_t> queryOrder,
                                   llvm::ArrayRef<int64_t> keyOrder);

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
