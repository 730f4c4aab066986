//===- SpmdTables.h - What differs by rank, as tables -----------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDTABLES_H
#define SHARDC_DIALECT_SPMD_IR_SPMDTABLES_H

#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Layout/Interval.h"

namespace shardc {

/// The entry of `table` at this rank's coordinate along `axes` (mesh axis
/// numbers): an IntegerAttr where all entries agree, else an spmd.lookup where
/// `builder` stands. Requires one entry for each coordinate.
mlir::OpFoldResult lookUp(mlir::OpBuilder &builder, mlir::Location loc,
                          spmd::MeshAttr mesh, mlir::FlatSymbolRefAttr meshName,
                          llvm::ArrayRef<int64_t> table,
                          llvm::ArrayRef<int64_t> axes);

/// The number of elements of each coordinate's interval.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<Interval> intervals);
/// A static size if all entries agree, else ShapedType::kDynamic.
int64_t staticSize(llvm::ArrayRef<int64_t> sizes);

} // namespace shardc

#endif // SHARDC_DIALECT_SPMD_IR_SPMDTABLES_H
