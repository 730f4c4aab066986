//===- AnyOrder.h - Sums that kernels may take apart -------------*- C++
//-*-===//
#ifndef SHARDC_LIB_LOWERING_LINALG_ANYORDER_H
#define SHARDC_LIB_LOWERING_LINALG_ANYORDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "shardc/Dialect/Spmd/IR/OrderAttributes.h"

namespace shardc::lowering {

/// Says that `sum`, in the body of a reduction, has no order that could be
/// seen. Of f64, in which --reproducible has exact sums alone; without it
/// kernels do not ask.
inline void markAnyOrder(mlir::Value sum) {
  if (auto add = sum.getDefiningOp<mlir::arith::AddFOp>();
      add && add.getType().isF64())
    add->setAttr(spmd::kAnyOrderAttrName,
                 mlir::UnitAttr::get(add->getContext()));
}

/// Says that `sum` adds a product, and that both are to be rounded once under
/// --reproducible; without it that is up to the code around.
inline void markRoundedOnce(mlir::Value sum) {
  if (auto add = sum.getDefiningOp<mlir::arith::AddFOp>())
    add->setAttr(spmd::kRoundedOnceAttrName,
                 mlir::UnitAttr::get(add->getContext()));
}

} // namespace shardc::lowering

#endif // SHARDC_LIB_LOWERING_LINALG_ANYORDER_H
