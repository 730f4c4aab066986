//===- Precision.h - How exact products are to be ---------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_PRECISION_H
#define SHARDC_DIALECT_STABLEHLO_IR_PRECISION_H

#include "mlir/IR/Operation.h"

namespace shardc::stablehlo {
class DotAlgorithmAttr;
class ResultAccuracyAttr;

/// What a product asks of its factors where these are f32: "default" or "high"
/// by its precision, "tf32" or "tf32x3" by its algorithm (of one product and of
/// three); nothing where it is to be exact.
llvm::StringRef tensorFloatOf(mlir::Operation *product);

/// Some device is known to compute products so: StableHLO has no other
/// algorithms.
bool isKnown(DotAlgorithmAttr algorithm);

/// Tolerances are not negative, and there are none but where the mode asks for
/// them. Nothing asked is possible too.
bool isPossible(ResultAccuracyAttr accuracy);

} // namespace shardc::stablehlo

#endif // SHARDC_DIALECT_STABLEHLO_IR_PRECISION_H
