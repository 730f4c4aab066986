//===- KernelEnums.h - The kernel dialect's enums ---------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_H
#define SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "shardc/Dialect/Kernel/IR/KernelEnums.h.inc"

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_H
