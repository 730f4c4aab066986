//===- SpecialFunctions.h - Special functions of f64 ------------*- C++ -*-===//
//
// Each emits arithmetic on scalars of f64 (SpecialFunctions.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_SPECIALFUNCTIONS_H
#define SHARDC_LIB_LINALG_SPECIALFUNCTIONS_H

#include "StableHLOToLinalg.h"

namespace shardc::lowering {

mlir::Value fullLgamma(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x);
mlir::Value fullDigamma(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x);
/// Of s and q.
mlir::Value fullZeta(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x);
/// Of an order and x.
mlir::Value fullPolygamma(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x);
mlir::Value fullBesselI1e(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_SPECIALFUNCTIONS_H
