//===- MeshUses.h - Axes that an op names -----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_LOCAL_IR_MESHUSES_H
#define SHARDC_LIB_DIALECT_LOCAL_IR_MESHUSES_H

#include "mlir/IR/SymbolTable.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"

namespace shardc::spmd {

/// The names in `axes`.
llvm::SmallVector<mlir::StringAttr> axisNames(mlir::ArrayAttr axes);

/// Checks that the mesh exists and has `axes`, each once, and returns it.
mlir::LogicalResult verifyAxes(mlir::Operation *op,
                               mlir::FlatSymbolRefAttr meshName,
                               llvm::ArrayRef<mlir::StringAttr> axes,
                               mlir::SymbolTableCollection &symbols,
                               MeshAttr &mesh);

/// The number of coordinates along `axes`.
int64_t countCoordinates(MeshAttr mesh, llvm::ArrayRef<mlir::StringAttr> axes);

} // namespace shardc::spmd

#endif // SHARDC_LIB_DIALECT_LOCAL_IR_MESHUSES_H
