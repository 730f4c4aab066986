//===- Origins.h - Which annotation a sharding came from --------*- C++ -*-===//
//
// Propagation, asked to explain, notes for each dim of a value which annotation
// each of its axes came from, and its sizes: `spmd.origins` on ops and
// arguments, a list of dims, each a dictionary from axis to words (`argument 0
// "image"`).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ANALYSIS_ORIGINS_H
#define SHARDC_ANALYSIS_ORIGINS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace shardc {

/// The entry of a dim's dictionary that says where its sizes came from; no axis
/// has this name.
inline constexpr llvm::StringLiteral kSizesOrigin = "sizes of";

/// One dictionary a dim of `value`; null where nothing was noted.
mlir::ArrayAttr getOrigins(mlir::Value value);
void setOrigins(mlir::Value value, mlir::ArrayAttr origins);

/// Where `axis` of any dim of `value` came from; null if unknown.
mlir::StringAttr getOriginOfAxis(mlir::Value value, mlir::StringAttr axis);

} // namespace shardc

#endif // SHARDC_ANALYSIS_ORIGINS_H
