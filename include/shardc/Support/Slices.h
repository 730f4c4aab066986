//===- Slices.h - Parts of tensors, empty ones too --------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_SLICES_H
#define SHARDC_SUPPORT_SLICES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace shardc {

// MLIR 22 refuses an offset at the end of a dim of known size, even where
// nothing is taken from it, and so any part of a tensor that has a dim of no
// elements. Offsets, sizes and strides are in elements, one for each dim of
// `whole`.

/// tensor.extract_slice as `type`, which has all dims of `whole`; a tensor of
/// its own where `type` is known to have no elements.
mlir::Value takePart(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::RankedTensorType type, mlir::Value whole,
                     llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     llvm::ArrayRef<mlir::OpFoldResult> strides);

/// tensor.insert_slice of `part`; `whole` itself where it is known that `part`
/// or `whole` has no elements.
mlir::Value putPart(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value part, mlir::Value whole,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    llvm::ArrayRef<mlir::OpFoldResult> strides);

} // namespace shardc

#endif // SHARDC_SUPPORT_SLICES_H
