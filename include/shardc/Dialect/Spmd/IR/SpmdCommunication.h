//===- SpmdCommunication.h - Communication of ranks -------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDCOMMUNICATION_H
#define SHARDC_DIALECT_SPMD_IR_SPMDCOMMUNICATION_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdCommunication.h.inc"

#endif // SHARDC_DIALECT_SPMD_IR_SPMDCOMMUNICATION_H
