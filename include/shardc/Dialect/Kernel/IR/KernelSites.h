//===- KernelSites.h - Ops of lowered communication and of calls *- C++ -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELSITES_H
#define SHARDC_DIALECT_KERNEL_IR_KERNELSITES_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelSites.h.inc"

namespace shardc::spmd {

/// True if `op` itself runs a site, begins or releases one.
bool isSite(mlir::Operation *op);
/// True if `op` runs a site, begins or releases one, or has such an op in it.
bool runsSites(mlir::Operation *op);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELSITES_H
