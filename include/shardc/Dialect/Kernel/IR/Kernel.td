//===- Kernel.td - The kernel dialect ----------------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNEL_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNEL_TD

include "shardc/Dialect/Kernel/IR/KernelLines.td"
include "shardc/Dialect/Kernel/IR/KernelMatrices.td"
include "shardc/Dialect/Kernel/IR/KernelSites.td"

#endif // SHARDC_DIALECT_KERNEL_IR_KERNEL_TD
