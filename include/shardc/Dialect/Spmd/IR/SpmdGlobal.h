//===- SpmdGlobal.h - Ops of the global view --------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_H
#define SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h.inc"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_H
