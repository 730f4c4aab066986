//===- ExpandProbes.h - Values that tests look at ---------------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_CONFORMANCE_EXPANDPROBES_H
#define SHARDC_LIB_IMPORT_CONFORMANCE_EXPANDPROBES_H

#include "mlir/IR/BuiltinOps.h"

namespace shardc::import {

/// Compares what probes see with what `check.expect_serialized_eq` expects of
/// them, by `check.expect_eq`. A probe passes on what it is given. What one in
/// @main saw the first time is known there; one in a loop keeps the value of
/// the iteration that is asked for.
llvm::LogicalResult expandProbes(mlir::ModuleOp module);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_CONFORMANCE_EXPANDPROBES_H
