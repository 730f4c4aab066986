//===- Check.h - The check dialect ------------------------------*- C++ -*-===//
//
// What conformance files expect of values, in shardc::check.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_CHECK_IR_CHECK_H
#define SHARDC_DIALECT_CHECK_IR_CHECK_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "shardc/Dialect/Check/IR/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Check/IR/CheckOps.h.inc"

#endif // SHARDC_DIALECT_CHECK_IR_CHECK_H
