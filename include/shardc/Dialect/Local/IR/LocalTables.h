//===- LocalTables.h - What differs by rank, as tables ----------*- C++ -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALTABLES_H
#define SHARDC_DIALECT_LOCAL_IR_LOCALTABLES_H

#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Local/IR/LocalForward.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Interval.h"

namespace shardc {

/// The entry of `table` at this rank's coordinate along `axes` (mesh axis
/// numbers): an IntegerAttr where all entries agree, else an local.lookup where
/// `builder` inserts. Requires one entry for each coordinate. With a formula
/// the table is one of many, and there is always an local.lookup.
mlir::OpFoldResult lookUp(mlir::OpBuilder &builder, mlir::Location loc,
                          spmd::MeshAttr mesh, mlir::FlatSymbolRefAttr meshName,
                          llvm::ArrayRef<int64_t> table,
                          llvm::ArrayRef<int64_t> axes,
                          const Formula &formula = {});

/// The least and the greatest number that `lookup`, which has a formula, says
/// in any binding; INT64_MIN and INT64_MAX where there is none.
std::pair<int64_t, int64_t> rangeOf(spmd::LookupOp lookup);
/// True if one of `dims` (exchanges of dims; may be null) follows from what is
/// bound: its tables are those of one binding.
bool isBoundLate(mlir::ArrayAttr dims);
/// The sizes of the shards of a dim of `size` elements that is cut as `dim`
/// says, where they follow from what is bound; else none.
Formula sizeFormula(spmd::MeshAttr mesh, spmd::DimShardingAttr dim,
                    int64_t size);
/// This rank's size of what it owns of `dim`, or needs of it.
mlir::Value lookUpSize(mlir::OpBuilder &builder, mlir::Location loc,
                       spmd::DimExchangeAttr dim, bool needed,
                       mlir::FlatSymbolRefAttr mesh);
/// This rank's size of a dim of `size` elements that is cut as `dim` says.
mlir::Value lookUpSize(mlir::OpBuilder &builder, mlir::Location loc,
                       spmd::MeshAttr mesh, mlir::FlatSymbolRefAttr meshName,
                       spmd::DimShardingAttr dim, int64_t size);

/// The number of elements of each coordinate's interval.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<Interval> intervals);
/// A static size if all entries agree, else ShapedType::kDynamic.
int64_t staticSize(llvm::ArrayRef<int64_t> sizes);

} // namespace shardc

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALTABLES_H
