//===- StableHLO.h - The stablehlo dialect ----------------------*- C++ -*-===//
//
// The project's own definition of StableHLO, in shardc::stablehlo; op and
// accessor names are those of StableHLO. Shapes may hold `?` everywhere.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLO_H
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Support/CompatibleTypes.h"
#include "shardc/Support/ElementwiseTrait.h"

#include "shardc/Dialect/StableHLO/IR/StableHLODialect.h.inc"
#include "shardc/Dialect/StableHLO/IR/StableHLOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOTypes.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOOps.h.inc"

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLO_H
