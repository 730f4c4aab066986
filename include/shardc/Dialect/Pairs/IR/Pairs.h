//===- Pairs.h - Every query with every key ---------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRS_H
#define SHARDC_DIALECT_PAIRS_IR_PAIRS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Pairs/IR/PairsEnums.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Pairs/IR/PairsAttributes.h.inc"

// Its accessors name the attributes.
#include "shardc/Dialect/Pairs/IR/PairsDialect.h.inc"

#include "shardc/Dialect/Pairs/IR/PairsInterfaces.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Pairs/IR/PairsOps.h.inc"

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRS_H
