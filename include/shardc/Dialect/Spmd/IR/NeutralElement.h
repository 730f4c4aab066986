//===- NeutralElement.h - What combining leaves others as they are with ---===//
//
// Partial values start from it: those of ranks, of vector lanes, of threads. Of
// sums of floats it is -0, since +0 + -0 is +0: a part that starts from +0, or
// that is empty, would turn a sum of nothing but -0 into +0.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_NEUTRALELEMENT_H
#define SHARDC_DIALECT_SPMD_IR_NEUTRALELEMENT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"

namespace shardc::spmd {

/// The neutral element of `kind` on elements of `elementType` (signed or
/// unsigned as the type says), as a 0-d constant; null where there is none,
/// such as of a complex maximum.
mlir::DenseElementsAttr neutralElement(ReductionKind kind,
                                       mlir::Type elementType);

/// The neutral element of `combiner`, an op of arith on two scalars; null where
/// there is none.
mlir::TypedAttr neutralElement(mlir::Operation *combiner);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_NEUTRALELEMENT_H
