//===- Varying.h - Along which axes tables differ ---------------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_VARYING_H
#define SHARDC_ANALYSIS_VARYING_H

#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Layout/Formula.h"

namespace shardc {

/// Returns whether entries of `table` (one for each coordinate along `axes`,
/// row-major) differ along `axis`.
template <typename Entry>
bool tableVaries(llvm::ArrayRef<Entry> table,
                 llvm::ArrayRef<mlir::StringAttr> axes, spmd::MeshAttr mesh,
                 llvm::StringRef axis) {
  size_t stride = 1;
  for (mlir::StringAttr name : llvm::reverse(axes)) {
    size_t size = mesh.getAxisSize(name.getValue());
    for (size_t i = 0; name.getValue() == axis && i < table.size(); ++i)
      if (!(table[i] == table[i - i / stride % size * stride]))
        return true;
    stride *= size;
  }
  return false;
}

/// Returns whether what `formula` says differs along the axis of this number in
/// some binding.
inline bool formulaVaries(const Formula &formula, int64_t axis) {
  return (formula.kind() == FormulaKind::Shards &&
          llvm::is_contained(formula.numbers(), axis)) ||
         llvm::any_of(formula.operands(), [&](const Formula &operand) {
           return formulaVaries(operand, axis);
         });
}

} // namespace shardc

#endif // SHARDC_ANALYSIS_VARYING_H
