//===- LocalCommunication.h - Communication of ranks ------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_H
#define SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Local/IR/Local.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Local/IR/LocalCommunication.h.inc"

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_H
