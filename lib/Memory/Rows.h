//===- Rows.h - What can be split by rows -----------------------*- C++ -*-===//
//
// A row is one index of the most major dim (of more than one element) of a
// tensor. Sharding rules say which ops keep the rows of their operands apart,
// and which add them up. Ops that are tied to one another in this way work on
// one space of rows.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_MEMORY_ROWS_H
#define SHARDC_LIB_MEMORY_ROWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Interfaces/Localization.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc::memory {

/// How one op works on rows.
struct RowForm {
  int64_t space = -1;
  int64_t rows = 0;    ///< how many there are on this rank
  int64_t factor = -1; ///< of the op's rule, where it has one
  /// By operand and result, the dim of its rows; -1 where it is read or made
  /// whole.
  llvm::SmallVector<int64_t> operandDims, resultDims;
  /// True if results are the same sum over all rows.
  bool isSum = false;
  /// True if rows are combined into operand `accumulator`.
  int64_t accumulator = -1;
};

/// The spaces of rows of the ops at the top of a block.
class RowSpaces {
public:
  explicit RowSpaces(mlir::Block &block);

  /// Null for an op that cannot be split.
  const RowForm *lookup(mlir::Operation *op) const {
    auto found = forms.find(op);
    return found == forms.end() ? nullptr : &found->second;
  }

private:
  llvm::DenseMap<mlir::Operation *, RowForm> forms;
};

/// Builds `op` on `count` of its rows from `offset` (an index) on. `operands`
/// are in the op's order: blocks for those that have rows. Of a sum, the
/// results are of these rows alone. Failure (without a diagnostic) where the op
/// has no such form.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildOnRows(mlir::OpBuilder &builder, mlir::Operation *op, const RowForm &form,
            mlir::ValueRange operands, int64_t count,
            llvm::function_ref<mlir::OpFoldResult()> offset);

} // namespace shardc::memory

#endif // SHARDC_LIB_MEMORY_ROWS_H
