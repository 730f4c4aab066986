//===- Kernel.h - The kernel dialect ----------------------------*- C++ -*-===//
//
// Its attributes. Ops have a header a family. It knows meshes and shardings by
// name alone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNEL_H
#define SHARDC_DIALECT_KERNEL_IR_KERNEL_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Dialect/Kernel/IR/KernelEnums.h"
#include "shardc/Dialect/Kernel/IR/KernelForward.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelAttributes.h.inc"

// Its accessors name the attributes.
#include "shardc/Dialect/Kernel/IR/KernelDialect.h.inc"

#endif // SHARDC_DIALECT_KERNEL_IR_KERNEL_H
