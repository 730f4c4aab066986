//===- NarrowFloats.h - Floats of eight bits --------------------*- C++ -*-===//
#ifndef SHARDC_LIB_LINALG_NARROWFLOATS_H
#define SHARDC_LIB_LINALG_NARROWFLOATS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace shardc::lowering {

/// True for float types of eight bits.
bool isNarrowFloat(mlir::Type type);

/// An 8-bit float as the f32 that it is exactly.
mlir::Value widenNarrowFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

/// An f32 as the 8-bit float of `type` next to it, ties to even. What is too
/// large becomes infinite, or NaN in types without infinities.
mlir::Value roundToNarrowFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                               mlir::Type type);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_NARROWFLOATS_H
