//===- Reducers.h - Regions that combine two elements -----------*- C++ -*-===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_REDUCERS_H
#define SHARDC_DIALECT_STABLEHLO_IR_REDUCERS_H

#include "mlir/IR/Builders.h"

namespace shardc::stablehlo {

/// Combines `left` and `right`, two tensors of one shape, element by element as
/// `body`, a region of `op` on two 0-d tensors, says. Fails with a diagnostic
/// on `op` where the region does more than elementwise arithmetic on its
/// arguments and constants. Where a dim of the two has no known size,
/// `broadcast` must be given: it makes a tensor of their shape, of the type it
/// is given, of a 0-d one.
llvm::FailureOr<mlir::Value> combineElementwise(
    mlir::OpBuilder &builder, mlir::Operation *op, mlir::Region &body,
    mlir::Value left, mlir::Value right,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::RankedTensorType)>
        broadcast = {});

/// True for JAX's argmax and argmin, a reduce of (value, place): the larger
/// (`isMax`) or smaller value, or NaN; of equals the lower place. It may take
/// its initial value in as often as it likes.
bool picksExtreme(mlir::Operation *reduce, bool &isMax);

/// True for zero, or a splat or broadcast of it: of floats +0 alone, if not
/// `orNegative`.
bool isZero(mlir::Value value, bool orNegative = false);

} // namespace shardc::stablehlo

#endif // SHARDC_DIALECT_STABLEHLO_IR_REDUCERS_H
