//===- SpmdEnums.h - The spmd dialect's enums -------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDENUMS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "shardc/Dialect/Spmd/IR/SpmdEnums.h.inc"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDENUMS_H
