//===- ShardSizes.h - Sizes that differ by rank -----------------*- C++ -*-===//
//
// Where shards differ, sizes come from look-ups of tables. Each table is looked
// up once, at the function's beginning, so that equal sizes are one value, and
// what may be known of one (the most it is, what it is a multiple of) is asked
// of its table.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ANALYSIS_SHARDSIZES_H
#define SHARDC_ANALYSIS_SHARDSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "llvm/ADT/MapVector.h"

namespace shardc {

/// What holds of a size on every rank.
struct SizeFacts {
  std::optional<int64_t> most;
  /// What it is at most in the binding by which costs are estimated.
  std::optional<int64_t> estimate;
  int64_t multiple = 1; ///< of which it is a multiple
};

/// Facts of `size` from constants, look-ups, indices of loops, and arithmetic
/// on them.
SizeFacts factsOf(mlir::Value size);

/// Finds sizes of one function's buffers.
class ShardSizes {
public:
  explicit ShardSizes(mlir::func::FuncOp function);

  /// The size of dim `dim` of `buffer`: a number, a look-up at the function's
  /// beginning, or what the buffer was made with. Null where nothing says. For
  /// arguments it may create a look-up.
  mlir::OpFoldResult of(mlir::Value buffer, int64_t dim);

  /// `size` itself, or the look-up at the function's beginning that gives the
  /// same on every rank, or the number.
  mlir::OpFoldResult canonical(mlir::Value size);

  /// Of two sizes as `canonical` gives them; null where neither numbers nor
  /// tables say it.
  mlir::OpFoldResult product(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult sum(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult difference(mlir::OpFoldResult x, mlir::OpFoldResult y);

private:
  using Combine = llvm::function_ref<bool(int64_t, int64_t, int64_t &)>;
  mlir::OpFoldResult combine(mlir::OpFoldResult x, mlir::OpFoldResult y,
                             Combine overflows, bool isSum = false);
  /// A table or its formula, and axes.
  using Key = std::pair<mlir::Attribute, mlir::Attribute>;
  mlir::OpFoldResult lookUp(mlir::Location loc, llvm::ArrayRef<int64_t> table,
                            mlir::ArrayAttr axes, mlir::FlatSymbolRefAttr mesh,
                            spmd::FormulaAttr formula);
  mlir::OpFoldResult ofArgument(mlir::BlockArgument argument, int64_t dim);
  mlir::OpFoldResult ofLoop(mlir::Value carried, mlir::Value initial,
                            mlir::Value yielded, int64_t dim);
  mlir::OpFoldResult folded(mlir::Operation *op);
  mlir::OpFoldResult windowsIn(mlir::Operation *op);

  mlir::func::FuncOp function;
  mlir::ModuleOp module;
  llvm::SmallVector<mlir::DictionaryAttr> arguments;
  // In the order of the ops in the function.
  llvm::MapVector<Key, mlir::Operation *> known;
  llvm::DenseSet<std::pair<mlir::Value, int64_t>> asked; ///< in loops
};

} // namespace shardc

#endif // SHARDC_ANALYSIS_SHARDSIZES_H
