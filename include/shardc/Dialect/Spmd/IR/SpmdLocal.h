//===- SpmdLocal.h - Ops of the local view: what differs by rank *- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_H
#define SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdLocal.h.inc"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_H
