//===- SpmdMatrices.h - Algorithms on matrices -----------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDMATRICES_H
#define SHARDC_DIALECT_SPMD_IR_SPMDMATRICES_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdMatrices.h.inc"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDMATRICES_H
