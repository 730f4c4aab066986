//===- KernelMatrices.h - Algorithms on matrices ----------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_H
#define SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelMatrices.h.inc"

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_H
