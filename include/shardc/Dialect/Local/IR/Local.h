//===- Local.h - The local dialect ------------------------------*- C++ -*-===//
//
// Its attributes and interfaces. Ops have a header a family.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCAL_H
#define SHARDC_DIALECT_LOCAL_IR_LOCAL_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Dialect/Local/IR/LocalForward.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Layout/Exchange.h"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Local/IR/LocalAttributes.h.inc"

// Its accessors name the attributes.
#include "shardc/Dialect/Local/IR/LocalDialect.h.inc"

#include "shardc/Dialect/Local/IR/LocalInterfaces.h.inc"

#endif // SHARDC_DIALECT_LOCAL_IR_LOCAL_H
