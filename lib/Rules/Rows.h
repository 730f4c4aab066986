//===- Rows.h - Local forms that ask for rows by index ----------*- C++ -*-===//
//
// What gather, scatter and their dynamic slices share: which dims of a tensor
// are addressed, by which component of which indices, and how a tensor of
// positions (a gather's result, a scatter's updates) is cut relative to them.
// From that come `local.row_plan` and its uses.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_ROWS_H
#define SHARDC_LIB_RULES_ROWS_H

#include "RuleUtils.h"
#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"

namespace shardc::rules {

/// An addressed dim.
struct RowDim {
  int64_t dim = 0; ///< of the addressed tensor
  /// Of the index vectors; -1 - d if it goes along with dim d of the indices.
  int64_t component = 0;
  int64_t slice = 1;         ///< rows from each start on
  int64_t positionsDim = -1; ///< of the tensor of positions; -1 if it has none
};

/// How a tensor is addressed, in the global view's numbers of dims.
struct RowAccess {
  llvm::SmallVector<RowDim, 2> rows; ///< ascending by dim
  /// Dims of the indices but for the vectors', and where each is in the
  /// tensor of positions.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> batch;
  /// Every other dim of the addressed tensor, and where it is in the tensor
  /// of positions.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> kept;
  int64_t vectorDim = 0;
};

/// Where blocks of the addressed tensor, the indices and the positions are.
struct RowTables {
  llvm::SmallVector<IntervalTable> addressed, indices, positions;
};

/// Rows of `operand` for `indices`, as `type`: this rank's tensor of positions.
mlir::Value gatherRows(Localization &localization, mlir::Operation *op,
                       const RowAccess &access, const RowTables &tables,
                       mlir::Value operand, mlir::Value indices,
                       mlir::RankedTensorType type);

/// `into` with this and other ranks' `updates` combined in (the last one stays
/// where there is no kind).
mlir::Value scatterRows(Localization &localization, mlir::Operation *op,
                        const RowAccess &access, const RowTables &tables,
                        mlir::Value into, mlir::Value indices,
                        mlir::Value updates,
                        std::optional<spmd::ReductionKind> kind);

/// True if the runtime combines elements of `type` so; without a kind, any.
bool canScatterRows(mlir::Type type, std::optional<spmd::ReductionKind> kind);

// dynamic_slice and dynamic_update_slice, which are here too.
void attachDynamicSlices(mlir::MLIRContext *context);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_ROWS_H
