//===- AnyOrder.h - Sums that kernels may split -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_LINALG_ANYORDER_H
#define SHARDC_LIB_LINALG_ANYORDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"

namespace shardc::lowering {

/// Says that `sum`, in the body of a reduction, has no order that could be
/// seen. Of f64, in which --reproducible has exact sums alone; without it
/// kernels do not ask.
inline void markAnyOrder(mlir::Value sum) {
  if (auto add = sum.getDefiningOp<mlir::arith::AddFOp>();
      add && add.getType().isF64())
    spmd::contract::AnyOrder::set(add);
}

/// Says that `sum` adds a product to a total, and that both are to be rounded
/// once. Only what an op means as a whole says so, not what is beside it:
/// copies of an expression have the same bits in all programs.
inline void markRoundedOnce(mlir::Value sum) {
  if (auto add = sum.getDefiningOp<mlir::arith::AddFOp>())
    spmd::contract::RoundedOnce::set(add);
}

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_ANYORDER_H
