//===- Localization.h - What an op needs to become local --------*- C++ -*-===//
#ifndef SHARDC_INTERFACES_LOCALIZATION_H
#define SHARDC_INTERFACES_LOCALIZATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Interfaces/ShardingRule.h"
#include "shardc/Layout/Formula.h"

namespace shardc {

/// Which part of a dim each coordinate along some mesh axes has: one interval a
/// coordinate, row-major. No axes: one interval for all ranks.
struct IntervalTable {
  llvm::SmallVector<int64_t> axes; ///< mesh axis numbers, major to minor
  llvm::SmallVector<Interval> intervals;
  /// How they follow from what is bound; none where they are numbers.
  Formula formula = {};
};

/// The formula of `table`: its own, or one that says its numbers; none where
/// these are no blocks side by side.
inline Formula formulaOf(const IntervalTable &table) {
  if (table.formula)
    return table.formula;
  if (table.axes.empty())
    return Formula::same(table.intervals.front());
  std::vector<int64_t> indices = {0};
  for (Interval interval : table.intervals) {
    if (interval.size() > 0 && interval.begin != indices.back())
      return {};
    indices.push_back(indices.back() + interval.size());
  }
  return Formula::shards(Formula::fixed(std::move(indices)),
                         {table.axes.begin(), table.axes.end()});
}

/// One op on its way to the local view, as Partition sees it. Operands already
/// cover what this rank needs (docs/Rationale/Architecture.md section 4).
class Localization {
public:
  virtual ~Localization() = default;

  virtual mlir::OpBuilder &builder() = 0;
  virtual const ShardingRule &rule() = 0;
  /// The local operands, in the op's order.
  virtual mlir::ValueRange operands() = 0;
  /// The local type of result `result` before any reduction over ranks.
  virtual mlir::RankedTensorType resultType(int64_t result) = 0;
  /// True if `factor` is cut over at least two ranks.
  virtual bool isSharded(int64_t factor) = 0;
  /// True if the dim's map uses a sharded factor: then the local operand holds
  /// exactly the positions it needs, in dilated coordinates.
  virtual bool isOperandDimLocal(int64_t operand, int64_t dim) = 0;
  virtual bool isResultDimLocal(int64_t result, int64_t dim) = 0;
  /// Iterations of `factor` on this rank: an IntegerAttr where all ranks agree,
  /// else an index value.
  virtual mlir::OpFoldResult factorSize(int64_t factor) = 0;
  /// The first global iteration of `factor` on this rank.
  virtual mlir::OpFoldResult factorOffset(int64_t factor) = 0;
  /// Extent and first global index of a dim of a result on this rank.
  virtual mlir::OpFoldResult resultDimSize(int64_t result, int64_t dim) = 0;
  virtual mlir::OpFoldResult resultDimOffset(int64_t result, int64_t dim) = 0;
  /// True if some factor of kind Reduction is sharded.
  virtual bool isPartial() = 0;
  /// Combines a partial local result over the ranks that share the sharded
  /// reduction factors. Returns `partial` itself where none is sharded. Ops
  /// with Reduction factors call it once for each result.
  virtual mlir::Value completeReduction(mlir::Value partial,
                                        int64_t result) = 0;

  // For local forms that communicate themselves (Distributed factors).

  /// Promises that the local form asks of the tables below no more than what
  /// their formulas say too. An op that takes their numbers for all there is is
  /// refused where these follow from what is bound.
  virtual void carriesFormulas() {}
  /// True if sizes of the op's tensors are known only when the program is
  /// bound.
  virtual bool isBoundLate() { return false; }
  /// True if a number of the global program is one that follows from an open
  /// extent.
  virtual bool isOpen(int64_t number) { return false; }
  /// A number of the global program as the binding has it.
  mlir::OpFoldResult numberOf(int64_t number) {
    if (!isOpen(number))
      return builder().getIndexAttr(number);
    return lookup(Formula::size(Formula::shards(Formula::whole(number), {})),
                  {});
  }
  /// A dim of `size` elements that every rank has whole.
  IntervalTable wholeTable(int64_t size) {
    IntervalTable table{{}, {Interval{0, size}}};
    if (isOpen(size))
      table.formula = Formula::shards(Formula::whole(size), {});
    return table;
  }
  /// Refuses the op: its local form would have to know `what` now.
  virtual void refuse(llvm::StringRef what) {}
  /// The iterations of `factor` that each rank has; no axes where it is whole.
  virtual IntervalTable factorTable(int64_t factor) = 0;
  /// The axes along which they are cut.
  virtual llvm::SmallVector<int64_t> factorAxes(int64_t factor) {
    return factorTable(factor).axes;
  }
  /// How the dims of a local operand or result are cut over the ranks.
  virtual llvm::SmallVector<IntervalTable> operandTables(int64_t operand) = 0;
  virtual llvm::SmallVector<IntervalTable> resultTables(int64_t result) = 0;
  /// The number of ranks along each mesh axis; in one binding, where that is
  /// said when the program is bound.
  virtual llvm::ArrayRef<int64_t> meshSizes() = 0;
  /// This rank's entry of `table`, one for each coordinate along `axes`.
  virtual mlir::OpFoldResult lookup(llvm::ArrayRef<int64_t> table,
                                    llvm::ArrayRef<int64_t> axes) = 0;
  /// This rank's entry of a table that follows from what is bound.
  virtual mlir::OpFoldResult lookup(const Formula &formula,
                                    llvm::ArrayRef<int64_t> axes) {
    return {};
  }
  /// Takes `local` from the blocks that `owned` says (together they are a whole
  /// tensor, copies apart) to those that `needed` says; one table a dim each.
  /// Outside the domain is `fill` (0-d), zeros where it is null. Every rank
  /// reaches it. `why` is the reason that explain gives, in words.
  virtual mlir::Value exchange(mlir::Value local,
                               llvm::ArrayRef<IntervalTable> owned,
                               llvm::ArrayRef<IntervalTable> needed,
                               mlir::Value fill, llvm::StringRef why) = 0;
  /// Combines `partial`, of one shape on all ranks along `axes`, over these.
  virtual mlir::Value allReduce(mlir::Value partial, spmd::ReductionKind kind,
                                llvm::ArrayRef<int64_t> axes,
                                llvm::StringRef why) = 0;
  /// For ops of the spmd dialect: the mesh, and what each coordinate owns and
  /// needs of dim `dim` of a tensor.
  virtual mlir::FlatSymbolRefAttr meshName() { return {}; }
  virtual spmd::DimExchangeAttr exchangeAttr(int64_t dim,
                                             const IntervalTable &owned,
                                             const IntervalTable &needed);
  /// How many coordinates there are along `axes`, whatever is bound.
  virtual ShardCount countCoordinates(llvm::ArrayRef<int64_t> axes) {
    int64_t count = 1;
    for (int64_t axis : axes)
      count *= meshSizes()[axis];
    return count;
  }
};

} // namespace shardc

#include "shardc/Interfaces/ShardingInterfaces.h.inc"

#endif // SHARDC_INTERFACES_LOCALIZATION_H
