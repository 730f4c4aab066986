//===- RankValues.h - Numbers that follow from the rank ---------*- C++ -*-===//
#ifndef SHARDC_LIB_PARTITION_RANKVALUES_H
#define SHARDC_LIB_PARTITION_RANKVALUES_H

#include "Exchanges.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "llvm/ADT/APInt.h"
#include <memory>

namespace shardc {

/// The value that each rank has of tensors of one integer, where it follows
/// from `partition_id` and constants alone: a program's coordinate along an
/// axis is its rank divided by one number and the remainder of another. Said as
/// a table along the axes that matter, it is known to be equal along the
/// others, so a collective may be in a branch that it decides.
class RankValues {
public:
  explicit RankValues(spmd::MeshAttr mesh) : mesh(mesh) {}

  /// Null if `value`, of the global view, is anything else.
  const llvm::SmallVector<llvm::APInt> *get(mlir::Value value);
  /// The one result of `op` as a lookup; null if it is not known, or constant.
  mlir::Value localize(mlir::Operation *op, mlir::OpBuilder &builder,
                       RankTables &tables);

private:
  std::optional<llvm::SmallVector<llvm::APInt>> evaluate(mlir::Value value);

  spmd::MeshAttr mesh;
  llvm::DenseMap<mlir::Value, std::unique_ptr<llvm::SmallVector<llvm::APInt>>>
      known;
};

} // namespace shardc

#endif // SHARDC_LIB_PARTITION_RANKVALUES_H
