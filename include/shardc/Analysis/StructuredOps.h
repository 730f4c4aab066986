//===- StructuredOps.h - Questions about linalg ops -------------*- C++ -*-===//
//
// On tensors or on buffers, and about what two buffers share.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ANALYSIS_STRUCTUREDOPS_H
#define SHARDC_ANALYSIS_STRUCTUREDOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace shardc {

/// True for one output that is combined, over reduction dims, with a product of
/// two inputs, each read by several iterations: matmuls, convolutions and their
/// gradients.
bool isContraction(mlir::linalg::GenericOp op);

/// The single op that combines output `index`'s block argument with a value of
/// this iteration, if the body yields it and uses the argument nowhere else;
/// else null.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op, unsigned index);

/// Whether two arguments of a function are a donated argument and the result
/// that may be written over it (spmd-write-in-place): perhaps the same memory.
bool areOneInPlace(mlir::Value a, mlir::Value b);

/// What `memref` shows, if it shows all of it in order.
mlir::Value wholeBehind(mlir::Value memref);

/// True if two views of one buffer are known to have no element in common.
bool areDisjoint(mlir::Value a, mlir::Value b);

/// True if `root`, the buffer behind a view, is memory of its own: an
/// allocation, a global or an argument of a function, whose caller's buffers
/// do not overlap but for those of areOneInPlace.
bool isOwnMemory(mlir::Value root);

/// Whether `op` reads each element of `argument` before it writes that of
/// `result`, and no other: the two buffers may be one.
bool readsAsItWrites(mlir::Operation *op, mlir::Value argument,
                     mlir::Value result);

} // namespace shardc

#endif // SHARDC_ANALYSIS_STRUCTUREDOPS_H
