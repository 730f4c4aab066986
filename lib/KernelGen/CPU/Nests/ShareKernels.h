//===- ShareKernels.h - One function for kernels that are alike -*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_NESTS_SHAREKERNELS_H
#define SHARDC_LIB_KERNELGEN_CPU_NESTS_SHAREKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace shardc::cpu {

/// Ops that become one nest: fills, the main op, an epilogue; and the buffers
/// and numbers that they are given.
struct KernelOps {
  llvm::SmallVector<mlir::linalg::GenericOp> ops;
  llvm::SmallVector<mlir::Value> given;
};

/// Kernels that do the same to other buffers, and a function that does it: of
/// buffers and numbers, until `callKernels` makes addresses of the buffers.
struct KernelsAlike {
  mlir::func::FuncOp function;
  llvm::SmallVector<KernelOps> places;
};

/// Finds kernels of `function` that are alike, if it has at least `leastOps`
/// ops, and makes a function of each kind. The ops stay where they are.
llvm::SmallVector<KernelsAlike> findKernelsAlike(mlir::func::FuncOp function,
                                                 int64_t leastOps);

/// Once the functions have been generated: calls in place of the ops, with
/// scratch of the caller's. Functions that cannot be called (with parts, or not
/// generated) go, and their ops stay.
void callKernels(llvm::MutableArrayRef<KernelsAlike> kinds);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_NESTS_SHAREKERNELS_H
