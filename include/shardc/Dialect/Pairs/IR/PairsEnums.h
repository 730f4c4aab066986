//===- PairsEnums.h - The pairs dialect's enums -----------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_H
#define SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "shardc/Dialect/Pairs/IR/PairsEnums.h.inc"

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_H
