//===- Solver.h - The solver dialect ----------------------------*- C++ -*-===//
//
// Factorisations of batches of small matrices, in shardc::solver.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SOLVER_IR_SOLVER_H
#define SHARDC_DIALECT_SOLVER_IR_SOLVER_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardc/Dialect/Solver/IR/SolverDialect.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Solver/IR/SolverOps.h.inc"

#endif // SHARDC_DIALECT_SOLVER_IR_SOLVER_H
