//===- Distribution.h - Blocks that move while an op runs -------*- C++ -*-===//
//
// What local forms of ops with Distributed factors share. An algorithm over a
// whole dim runs by transposition: the axes that cut the dim cut another one
// meanwhile (an all-to-all there, another back), and nothing is held twice.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_DISTRIBUTION_H
#define SHARDC_LIB_RULES_DISTRIBUTION_H

#include "RuleUtils.h"
#include "shardc/Layout/Zigzag.h"

namespace shardc::rules {

/// A dim of `size` elements that every rank has whole.
IntervalTable wholeTable(int64_t size);
/// The size of the longest interval.
int64_t longestBlock(const IntervalTable &table);
/// One shard a coordinate along `axes`.
IntervalTable tableOf(llvm::ArrayRef<int64_t> axes, const Boundaries &bounds);
/// Intervals {i, i + 1} for the coordinates along `axes`: a dim with one
/// element a rank.
IntervalTable onePerRank(Localization &localization,
                         llvm::ArrayRef<int64_t> axes);
/// All of that dim, at every rank.
IntervalTable allRanks(Localization &localization,
                       llvm::ArrayRef<int64_t> axes);

/// The local type of a tensor whose dims are cut so: static where all ranks
/// agree.
mlir::RankedTensorType blockType(llvm::ArrayRef<IntervalTable> tables,
                                 mlir::Type elementType);
/// The extent of this rank's part of each dim.
llvm::SmallVector<mlir::OpFoldResult>
blockSizes(Localization &localization, llvm::ArrayRef<IntervalTable> tables);
/// The extent, or the first index, of this rank's part of a dim.
mlir::OpFoldResult sizeAt(Localization &localization,
                          const IntervalTable &table);
mlir::OpFoldResult beginAt(Localization &localization,
                           const IntervalTable &table);

/// A part of the blocks of a dim: where it is in the dim, and where its
/// elements were before the dim was put in zigzag order (the same where it was
/// not).
struct TablePart {
  IntervalTable held, natural;
};
/// The parts of `table` that are in one piece: itself, where there is no
/// `order`, the shards whose zigzag order the dim is in; else as many as the
/// rank with most has. Where sizes are said when the program is bound, blocks
/// have to be those shards, or others than theirs round a ring: `late`, if
/// there is any, refuses others.
llvm::SmallVector<TablePart, 0>
splitZigzag(const IntervalTable &table, const std::optional<Boundaries> &order,
            Localization *late);
/// What is from one end of a dim of `size` elements, as a dim of its own, which
/// begins at 0: the piece of each shard of `shards`, and what of it is in
/// `table`.
IntervalTable stretchOf(const IntervalTable &shards, ZigzagEnd end,
                        int64_t size);
IntervalTable inStretch(const IntervalTable &table, ZigzagEnd end,
                        int64_t size);
/// The intervals `part` of dim `dim` of `block`, which holds those of `held`,
/// whole or over the same axes; with `into` that, with `block` in their place.
mlir::Value partOf(Localization &localization, mlir::Value block, unsigned dim,
                   const IntervalTable &held, const IntervalTable &part,
                   mlir::Value into = {});

/// Makes the dims (or factors) numbered `whole` of `tables` whole. The axes
/// that cut them cut `carriers` instead, each axis the one that it cuts best,
/// the first of equals. Returns false where an axis left ranks idle: no carrier
/// shrank to less than twice its fair share. An axis that no carrier can take
/// cuts nothing: its ranks all do the same.
bool moveCuts(Localization &localization,
              llvm::MutableArrayRef<IntervalTable> tables,
              llvm::ArrayRef<int64_t> whole, llvm::ArrayRef<int64_t> carriers);

/// Cuts one more of `carriers` along `axis`: the one that it cuts best, the
/// first of equals. Returns what is left of its longest block, at most 1; 1 if
/// no dim has two elements.
double placeAxis(Localization &localization,
                 llvm::MutableArrayRef<IntervalTable> tables, int64_t axis,
                 llvm::ArrayRef<int64_t> carriers);

/// Copies `op`, with its attributes (spmd's apart) and regions, onto `operands`
/// and result types.
mlir::Operation *cloneAs(mlir::Operation *op, Localization &localization,
                         mlir::ValueRange operands, mlir::TypeRange types);

/// Runs `op` with its Distributed factors whole, its PassThrough factors cut
/// instead. Every dim of it is one factor, unchanged. Returns failure, having
/// built nothing, where `mustBalance` and ranks would be idle.
LocalResults runTransposed(mlir::Operation *op, Localization &localization,
                           bool mustBalance);
/// The same in any case, and the op itself where nothing distributed is cut.
template <typename OpT>
LocalResults localizeByTransposition(OpT op, Localization &localization) {
  return runTransposed(op, localization, /*mustBalance=*/false);
}

/// The values that ranks along `axes` have of `local`, which is cut as `tables`
/// say over other axes: as a new leading dim of one element a rank, in rank
/// order. Each rank gets those in its interval of `needed`.
mlir::Value gatherPartials(Localization &localization, mlir::Value local,
                           llvm::ArrayRef<IntervalTable> tables,
                           llvm::ArrayRef<int64_t> axes,
                           const IntervalTable &needed, llvm::StringRef why);

/// All axes that cut sharded factors of kind Distributed, major to minor by
/// factor.
llvm::SmallVector<int64_t> distributedAxes(Localization &localization);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_DISTRIBUTION_H
