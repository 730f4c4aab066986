//===- RingBuilder.h - What local forms of rings are made of ----*- C++ -*-===//
#ifndef SHARDC_LIB_RULES_RINGBUILDER_H
#define SHARDC_LIB_RULES_RINGBUILDER_H

#include "Distribution.h"
#include "PlanRing.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

namespace shardc::rules {

/// A tensor of the op and what of it is here now.
struct Piece {
  mlir::Value value;
  mlir::AffineMap map;
  llvm::SmallVector<IntervalTable> tables; ///< one a dim
};

/// Gradients on their way to the owner of their keys.
struct Arrival {
  mlir::Value value;
  mlir::AffineMap map;
  int64_t step;
};

/// Which keys a step uses.
struct Here {
  int64_t step = 0;      ///< of `RingPlan::steps`, in an unrolled ring
  bool isPassed = false; ///< in a loop: in a buffer that any block fits in
  /// In a loop: whose block it is, as a number along the axes of the keys.
  mlir::Value owner = {};
};

/// The building blocks of an op's local form.
class Ring {
public:
  Ring(spmd::AllPairsOpInterface op, Localization &localization, RingPlan plan);

  int64_t countSteps() const { return plan.countSteps(); }
  bool isLoop() const { return plan.isLoop(); }
  int64_t countParts() const { return plan.parts.size(); }
  /// The steps on keys `here`: parts of the queries and of the keys that have
  /// anything to do with one another.
  llvm::SmallVector<std::pair<int64_t, int64_t>>
  partsAt(const Here &here) const;
  /// Which of a tensor's values belongs to `part`: those with queries have one
  /// each.
  int64_t numberOf(mlir::AffineMap map, int64_t part) const {
    return map.isFunctionOfDim(queryDim) ? part : 0;
  }
  int64_t countOf(mlir::AffineMap map) const {
    return map.isFunctionOfDim(queryDim) ? countParts() : 1;
  }
  /// True if keys were there whole, or are cut.
  bool areKeysCut() const { return !owned.axes.empty(); }
  /// Axes along which a rank's gradients of keys are those of one block,
  /// complete.
  llvm::ArrayRef<int64_t> homeAxes() const {
    return plan.way == PairWay::Gathered ? llvm::ArrayRef<int64_t>()
                                         : llvm::ArrayRef<int64_t>(owned.axes);
  }
  /// Axes along which states are merged.
  llvm::ArrayRef<int64_t> mergeAxes() const { return plan.merged; }
  llvm::ArrayRef<int64_t> queryAxes() const { return plan.parts.front().axes; }
  llvm::ArrayRef<int64_t> axesOf(int64_t dim) const {
    return plan.cuts[dim].axes;
  }

  /// Operand `number` as it is here, for each part of the queries if it has
  /// any.
  llvm::SmallVector<Piece> operand(int64_t number);
  /// What of `piece` belongs to the keys of `step`: it travels, or is sliced
  /// where all keys are here, or is the piece itself.
  mlir::Value at(const Piece &piece, int64_t step);
  /// What of `block`, a tensor of `map` with keys `here`, belongs to part
  /// `keyPart` of the keys; with `into` that, with `block` in its place.
  mlir::Value ofKeys(mlir::Value block, mlir::AffineMap map, const Here &here,
                     int64_t keyPart, mlir::Value into = {});
  /// Two tensors that travel as one, if they can.
  std::optional<Piece> join(const Piece &first, const Piece &second);
  /// Two tensors at a step, of `pair` if they were joined.
  std::pair<mlir::Value, mlir::Value> at(const std::optional<Piece> &pair,
                                         const Piece &first,
                                         const Piece &second, int64_t step);
  /// The result `number` of the op, from values of map `from` as steps made
  /// them, one a part.
  mlir::Value deliver(llvm::ArrayRef<mlir::Value> values, mlir::AffineMap from,
                      int64_t number);
  /// Sends what was computed for the keys of `step` to their owners.
  Arrival home(mlir::Value value, mlir::AffineMap map, int64_t step);
  /// `total`, of this rank's keys, with what came home.
  mlir::Value receive(mlir::Value total, const Arrival &arrival);
  /// Tables of a tensor of `map` at a step.
  llvm::SmallVector<IntervalTable> tablesOf(mlir::AffineMap map,
                                            const Here &here, int64_t part);
  /// A tensor of `map` full of `number`.
  mlir::Value filled(mlir::AffineMap map, const Here &here, int64_t part,
                     mlir::TypedAttr number);
  mlir::Value filled(mlir::AffineMap map, const Here &here, int64_t part,
                     double number) {
    return filled(map, here, part, b.getFloatAttr(accumulator, number));
  }
  /// What the `pairs.pair_step`s of one pass have in common.
  struct PairPass {
    spmd::PairCombine combine;
    bool backward = false;
    bool hasValue = true;
    unsigned numRows = 0; ///< of the inputs, after queries, keys and values
    llvm::ArrayRef<mlir::AffineMap> inputMaps, stateMaps;
    llvm::SmallVector<mlir::Region *> regions; ///< of the step; null: empty
  };
  /// The step of `pass` of queries `part` with keys `keyPart`: from `state` and
  /// its inputs' `blocks` to the next state.
  llvm::SmallVector<mlir::Value> pairStep(const PairPass &pass,
                                          const Here &here, int64_t part,
                                          int64_t keyPart,
                                          llvm::ArrayRef<mlir::Value> blocks,
                                          mlir::ValueRange state);
  /// `value` (map `from`) repeated to the layout of `to`, which has all its
  /// dims.
  mlir::Value spread(mlir::Value value, mlir::AffineMap from, mlir::Value like,
                     mlir::AffineMap to);
  /// `value` with dims in the order of `to`, as `type`.
  mlir::Value finish(mlir::Value value, mlir::AffineMap from,
                     mlir::AffineMap to, mlir::RankedTensorType type);
  /// The projection of (batch..., rows, columns) that `map` has, columns last.
  mlir::AffineMap stateMap(mlir::AffineMap map, int64_t last);

  // Of a ring that is a loop.

  llvm::ArrayRef<Run> runs() const { return plan.runs; }
  /// How far what travelled with blocks is from home after the last step of
  /// `run`: once round, and so one place, where their number is known late.
  int64_t shiftHome(const Run &run) const {
    return plan.isOpen ? 1 : -run.last;
  }
  /// `piece`, this rank's block, in a buffer that any block fits in.
  Piece inBuffer(const Piece &piece);
  /// `buffer`, which is cut as `piece` is, from the place that many further on.
  /// `why`: the reason.
  mlir::Value pass(mlir::Value buffer, const Piece &piece, int64_t shift,
                   llvm::StringRef why);
  /// Calls `visit` for each step of `run`: with what `travelling` holds there,
  /// in buffers, and the state that the step before gave. Returns the last
  /// state.
  llvm::SmallVector<mlir::Value>
  runSteps(const Run &run, llvm::ArrayRef<Piece> travelling,
           mlir::ValueRange state,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(
               const Here &, mlir::ValueRange blocks, mlir::ValueRange state)>
               visit);
  /// What of a tensor that has all keys belongs to the block `here`.
  mlir::Value columnsOf(const Piece &piece, const Here &here);
  /// What of `buffer`, put in zigzag order again if keys were, is this rank's
  /// own block of a tensor that is cut as `tables` say.
  mlir::Value fromBuffer(mlir::Value buffer, mlir::AffineMap map,
                         llvm::ArrayRef<IntervalTable> tables);
  /// True if blocks of the piece change hands.
  bool travels(const Piece &piece) {
    return keyOf(piece.map) && areKeysCut() &&
           isCut(piece.tables, *keyOf(piece.map));
  }
  /// What the exchanges of a loop are for.
  std::string whyPassed(bool isGradient);
  /// Two tensors that were joined, out of a block that came.
  std::pair<mlir::Value, mlir::Value>
  split(mlir::Value block, const Piece &first, const Piece &second);

  Localization &localization;
  spmd::AllPairsOpInterface op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::FloatType accumulator;
  int64_t numDims, queryDim, keyDim, depthDim, featureDim;

private:
  /// Where a step's blocks begin: batch dims, query, key.
  llvm::SmallVector<mlir::Value> positions(const Here &here, int64_t part,
                                           int64_t keyPart);
  /// The keys that are here at `step` of a loop, an index.
  Here passedAt(mlir::Value step);
  /// A slice along the dim of the keys, or with `into` that with `block` in its
  /// place.
  mlir::Value slice(mlir::Value block, unsigned dim, mlir::OpFoldResult offset,
                    mlir::OpFoldResult size, int64_t staticSize,
                    mlir::Value into = {});
  int64_t bufferSize() const { return longestBlock(owned); }
  /// The keys of a buffer that any block fits in, as every rank has one.
  IntervalTable bufferTable() const;
  /// Of a ring whose number of ranks is known late: where the block of place
  /// `owner` begins, and how many keys it has.
  mlir::OpFoldResult beginOf(mlir::Value owner) { return blockAt(owner, 0); }
  mlir::OpFoldResult sizeOf(mlir::Value owner) { return blockAt(owner, 1); }
  mlir::OpFoldResult blockAt(mlir::Value owner, int64_t what);
  /// Places of the ring, an index.
  mlir::Value countPlaces();
  bool areKeysZigzag() const { return !plan.keyParts.empty(); }
  /// Part of the last dim.
  mlir::Value columns(mlir::Value block, int64_t from, int64_t size);
  std::optional<unsigned> keyOf(mlir::AffineMap map) {
    return map.getResultPosition(
        mlir::getAffineDimExpr(keyDim, map.getContext()));
  }
  std::optional<unsigned> queryOf(mlir::AffineMap map) {
    return map.getResultPosition(
        mlir::getAffineDimExpr(queryDim, map.getContext()));
  }
  bool isCut(llvm::ArrayRef<IntervalTable> tables, unsigned dim) {
    return tables[dim].intervals.size() > 1;
  }
  /// True if every rank has its own block at `step`.
  bool staysPut(int64_t step) {
    return plan.steps[step].keys.axes == owned.axes &&
           plan.steps[step].keys.intervals == owned.intervals &&
           plan.steps[step].keys.formula == owned.formula;
  }
  /// True if all blocks of `step` are whole: none is trimmed to the band.
  bool isWhole(int64_t step);
  /// `table` as the rank `shift` places further on has it.
  IntervalTable rotated(const IntervalTable &table, int64_t shift);
  /// Text for the first of the exchanges that the plan makes: why it is this
  /// plan.
  std::string explain(std::string text) {
    return plan.note.empty() ? text : text + " (" + plan.note + ")";
  }
  std::string why(int64_t step);

  RingPlan plan;
  /// Of such a ring: begins and sizes of the blocks of all places.
  mlir::Value blocks;
  IntervalTable owned; ///< the keys of each rank while the op runs
  llvm::SmallVector<TablePart, 0>
      ownedParts; ///< the same, in contiguous parts where keys are in zigzag
                  ///< order out
};
} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RINGBUILDER_H
