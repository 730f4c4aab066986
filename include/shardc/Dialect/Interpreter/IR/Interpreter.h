//===- Interpreter.h - The interpreter dialect ------------------*- C++ -*-===//
//
// What conformance files run, in shardc::interpreter.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_INTERPRETER_IR_INTERPRETER_H
#define SHARDC_DIALECT_INTERPRETER_IR_INTERPRETER_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "shardc/Dialect/Interpreter/IR/InterpreterDialect.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Interpreter/IR/InterpreterOps.h.inc"

#endif // SHARDC_DIALECT_INTERPRETER_IR_INTERPRETER_H
