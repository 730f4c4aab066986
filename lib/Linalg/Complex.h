//===- Complex.h - Complex numbers on scalars -------------------*- C++ -*-===//
//
// Each function takes and returns scalars of complex<f32> or complex<f64> and
// emits arithmetic on their parts; of the complex dialect only create, re and
// im remain.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_COMPLEX_H
#define SHARDC_LIB_LINALG_COMPLEX_H

#include "StableHLOToLinalg.h"

namespace shardc::lowering {

using ComplexFunction = mlir::Value (*)(mlir::ImplicitLocOpBuilder &,
                                        mlir::ValueRange);

mlir::Value complexAdd(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexSubtract(mlir::ImplicitLocOpBuilder &b,
                            mlir::ValueRange args);
mlir::Value complexMultiply(mlir::ImplicitLocOpBuilder &b,
                            mlir::ValueRange args);
mlir::Value complexDivide(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexPower(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexNegate(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexSign(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexExp(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexExpm1(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexLog(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexLog1p(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexSqrt(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexRsqrt(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexSine(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexCosine(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexTan(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexTanh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexSinh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexCosh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexConjugate(mlir::ImplicitLocOpBuilder &b,
                             mlir::ValueRange args);
mlir::Value complexLogistic(mlir::ImplicitLocOpBuilder &b,
                            mlir::ValueRange args);
mlir::Value complexAsin(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAcos(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAtan(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAsinh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAcosh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAtanh(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexCbrt(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
mlir::Value complexAtan2(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);
/// Four products, in sums of many of which an error of the last place is lost.
mlir::Value complexMultiplyPlainly(mlir::ImplicitLocOpBuilder &b,
                                   mlir::ValueRange args);
/// A product so far times one element more, of long products, whose errors are
/// small beside the modulus anyway: two products and two fused ones. Zeros of a
/// part that cancels are not exact.
mlir::Value complexMultiplyOn(mlir::ImplicitLocOpBuilder &b,
                              mlir::Value product, mlir::Value element);
/// The modulus, a float.
mlir::Value complexAbs(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange args);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_COMPLEX_H
