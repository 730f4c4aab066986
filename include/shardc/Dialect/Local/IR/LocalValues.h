//===- LocalValues.h - Ops of the local view: what differs by rank *- C++
//-*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_H
#define SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Local/IR/Local.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Local/IR/LocalValues.h.inc"

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_H
