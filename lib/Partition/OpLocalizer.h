//===- OpLocalizer.h - One op on its way to the local view ------*- C++ -*-===//
#ifndef SHARDC_LIB_PARTITION_OPLOCALIZER_H
#define SHARDC_LIB_PARTITION_OPLOCALIZER_H

#include "Exchanges.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Interfaces/Localization.h"

namespace shardc {

/// One factor as propagation decided it: where it is cut, and over which axes.
struct FactorCut {
  llvm::SmallVector<int64_t> axes; ///< mesh axis numbers, major to minor
  Boundaries bounds;
  bool isSharded() const { return bounds.numShards() > 1; }
  /// True if a rank's iterations are not the numbers of the global type: they
  /// are some of them, or as many as the binding says.
  bool isLocal() const { return isSharded() || bounds.formula(); }
};

/// Makes each operand of a global op what its rule needs on this rank, and
/// answers the questions of `localize`.
class OpLocalizer final : public Localization {
public:
  OpLocalizer(mlir::Operation *global, ShardingRule rule,
              llvm::SmallVector<FactorCut> cuts, RankTables &tables,
              mlir::OpBuilder &builder)
      : global(global), opRule(std::move(rule)), cuts(std::move(cuts)),
        tables(tables), opBuilder(builder) {}

  /// Exchanges and dilates `locals` (one a global operand) into local operands.
  void prepareOperands(mlir::ValueRange locals);

  mlir::OpBuilder &builder() override { return opBuilder; }
  const ShardingRule &rule() override { return opRule; }
  mlir::ValueRange operands() override { return localOperands; }
  mlir::RankedTensorType resultType(int64_t result) override;
  bool isSharded(int64_t factor) override { return cuts[factor].isSharded(); }
  bool isOperandDimLocal(int64_t operand, int64_t dim) override;
  bool isResultDimLocal(int64_t result, int64_t dim) override;
  mlir::OpFoldResult factorSize(int64_t factor) override;
  mlir::OpFoldResult factorOffset(int64_t factor) override;
  mlir::OpFoldResult resultDimSize(int64_t result, int64_t dim) override;
  mlir::OpFoldResult resultDimOffset(int64_t result, int64_t dim) override;
  bool isPartial() override;
  mlir::Value completeReduction(mlir::Value partial, int64_t result) override;
  IntervalTable factorTable(int64_t factor) override;
  llvm::SmallVector<int64_t> factorAxes(int64_t factor) override {
    return cuts[factor].isSharded() ? cuts[factor].axes
                                    : llvm::SmallVector<int64_t>();
  }
  llvm::SmallVector<IntervalTable> operandTables(int64_t operand) override;
  llvm::SmallVector<IntervalTable> resultTables(int64_t result) override;
  llvm::ArrayRef<int64_t> meshSizes() override {
    return tables.getMesh().getAxisSizes();
  }
  ShardCount countCoordinates(llvm::ArrayRef<int64_t> axes) override {
    return tables.getMesh().countCoordinates(axes);
  }
  void carriesFormulas() override { carries = true; }
  bool isBoundLate() override {
    return llvm::any_of(
        cuts, [](const FactorCut &cut) { return bool(cut.bounds.formula()); });
  }
  bool isOpen(int64_t number) override {
    return tables.getMesh().isOpen(number);
  }
  void refuse(llvm::StringRef what) override { tables.refuse(what); }
  mlir::OpFoldResult lookup(llvm::ArrayRef<int64_t> table,
                            llvm::ArrayRef<int64_t> axes) override {
    return tables.lookup(table, axes);
  }
  mlir::OpFoldResult lookup(const Formula &formula,
                            llvm::ArrayRef<int64_t> axes) override {
    return tables.lookup(formula, axes);
  }
  mlir::Value exchange(mlir::Value local, llvm::ArrayRef<IntervalTable> owned,
                       llvm::ArrayRef<IntervalTable> needed, mlir::Value fill,
                       llvm::StringRef why) override;
  mlir::Value allReduce(mlir::Value partial, spmd::ReductionKind kind,
                        llvm::ArrayRef<int64_t> axes,
                        llvm::StringRef why) override;
  mlir::FlatSymbolRefAttr meshName() override { return tables.getMeshName(); }
  spmd::DimExchangeAttr exchangeAttr(int64_t dim, const IntervalTable &owned,
                                     const IntervalTable &needed) override {
    return spmd::DimExchangeAttr::get(
        opBuilder.getContext(), tables.getMesh(),
        combineTables(tables, dim, owned, needed));
  }

private:
  /// This rank's number of `table`: `part` of its formula, or `number` of each
  /// interval.
  mlir::OpFoldResult lookupOf(const IntervalTable &table,
                              Formula (*part)(Formula),
                              llvm::function_ref<int64_t(Interval)> number);
  /// Refuses `table` where it follows from what is bound, and who asks takes
  /// its numbers for all there is.
  const IntervalTable &asNumbers(const IntervalTable &table);
  /// The iterations of `factor` by rank.
  IntervalTable iterationsOf(int64_t factor) const;
  /// The positions that each coordinate touches of a dim indexed by `map`.
  IntervalTable neededTable(const IndexMap &map) const;
  bool usesLocalFactor(const IndexMap &map) const;
  /// True if the local form moves the dim's blocks itself.
  bool isDistributed(const IndexMap &map) const;
  /// True if the op's local form says itself what it needs of such a dim.
  bool isOfDistributed(const IndexMap &map) const;
  mlir::Value fillOf(const TensorRule &tensor, mlir::RankedTensorType type,
                     mlir::ValueRange locals);
  mlir::Value dilate(mlir::Value local, int64_t dim, const IndexMap &map,
                     const IntervalTable &positions, mlir::Value fill);

  mlir::Operation *global;
  ShardingRule opRule;
  llvm::SmallVector<FactorCut> cuts;
  RankTables &tables;
  mlir::OpBuilder &opBuilder;
  llvm::SmallVector<mlir::Value> localOperands;
  bool carries = false;
};

} // namespace shardc

#endif // SHARDC_LIB_PARTITION_OPLOCALIZER_H
