//===- Chlo.h - The chlo dialect --------------------------------*- C++ -*-===//
//
// Functions that StableHLO has no op for, in shardc::chlo; op and accessor
// names are those of chlo.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_CHLO_IR_CHLO_H
#define SHARDC_DIALECT_CHLO_IR_CHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Support/CompatibleTypes.h"
#include "shardc/Support/ElementwiseTrait.h"

#include "shardc/Dialect/Chlo/IR/ChloDialect.h.inc"
#include "shardc/Dialect/Chlo/IR/ChloEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloAttrs.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloOps.h.inc"

#endif // SHARDC_DIALECT_CHLO_IR_CHLO_H
