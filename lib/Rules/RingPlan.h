//===- RingPlan.h - Who meets which keys when ------------------*- C++ -*-===//
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

/// The ways in which queries and keys of all ranks can meet.
enum class PairWay {
  Ring,     ///< keys travel, queries stay
  Dealt,    ///< keys travel, queries are dealt out from both ends before
  Gathered, ///< all keys that a rank needs arrive at once, queries stay
  Heads     ///< each rank has all queries and keys of some heads
};

/// Keys that each rank has at one turn.
struct Turn {
  int64_t shift = 0; ///< whose they are: that many places further on
  IntervalTable keys;
  /// The same where keys are dealt out: what of them lies together. Else one.
  llvm::SmallVector<TablePart, 0> parts;
};

struct RingPlan {
  PairWay way = PairWay::Ring;
  /// How each iteration dim lies while the op runs.
  llvm::SmallVector<IntervalTable> cuts;
  /// The queries of each rank: one interval, or several one after another. Indices are those that masks
  /// know; `slices` are the same in the rank's block, where the program itself deals queries out.
  llvm::SmallVector<IntervalTable> parts, slices;
  llvm::SmallVector<Turn, 0> turns;
  /// Axes of the keys along which blocks are passed round, and those along which
  /// states are merged.
  llvm::SmallVector<int64_t> places, merged;
  int64_t length = 1; ///< ranks of one ring
  /// Operands and results lie otherwise than `cuts` and `parts`.
  bool isRecut = false;
  /// The estimates that decided, in words; empty where there was no choice.
  std::string note;
  double milliseconds = 0;
  /// Pairs that the busiest rank computes, over the mean.
  double imbalance = 1;

  /// True if some rank's part `part` of the queries has a pair in part `keyPart` of its keys of `turn`.
  bool meets(spmd::AllPairsOpInterface op, llvm::ArrayRef<int64_t> meshSizes, int64_t turn, int64_t part, int64_t keyPart) const;
};

/// The pairs that the band leaves of a block.
double countPairs(spmd::AllPairsOpInterface op, Interval rows, Interval keys);

/// Plans `op` as its operands lie: the way that takes least time by estimate, or
/// that the op's attribute `spmd.way` names. Fails, with a diagnostic, where it
/// names one that the op cannot go.
llvm::FailureOr<RingPlan> planRing(spmd::AllPairsOpInterface op, Localization &localization);

/// Milliseconds that the busiest rank takes by estimate, in the best way; nullopt where there is no choice.
/// See OrderCostOpInterface.
std::optional<double> estimateRing(spmd::AllPairsOpInterface op, llvm::ArrayRef<IntervalTable> cuts, llvm::ArrayRef<int64_t> meshSizes,
                                   llvm::ArrayRef<int64_t> queryOrder, llvm::ArrayRef<int64_t> keyOrder);

/// For the coordinates along `table.axes`, row-major, the number of the rank
/// whose `places` are `shift` places further on (the others its own).
llvm::SmallVector<int64_t> turnPlaces(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> places,
                                      llvm::ArrayRef<int64_t> meshSizes, int64_t shift);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RINGPLAN_H
