//===- ScalarMath.h - Formulas that read like formulas ----------*- C++ -*-===//
//
// A float with operators: each emits the op of arith or math that it names.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_SCALARMATH_H
#define SHARDC_LIB_LINALG_SCALARMATH_H

#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Support/KernelAttributes.h"

namespace shardc::lowering {

/// Where `isBrief`, marks the functions that are built while it lives: they
/// need be right to the digits of f32 only.
class BriefScope final : public mlir::OpBuilder::Listener {
public:
  BriefScope(mlir::ImplicitLocOpBuilder &b, bool isBrief)
      : b(b), before(b.getListener()) {
    if (isBrief)
      b.setListener(this);
  }
  ~BriefScope() final { b.setListener(before); }
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) final;

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::OpBuilder::Listener *before;
};

struct Real {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;

  /// A constant of the same type.
  Real of(double number) const {
    return {b, numberConstant(*b, v.getType(), number)};
  }
};

template <typename OpT, typename... Args> Real realOp(Real x, Args... args) {
  return {x.b, OpT::create(*x.b, x.v, args...)};
}

inline Real operator+(Real x, Real y) {
  return realOp<mlir::arith::AddFOp>(x, y.v);
}
inline Real operator-(Real x, Real y) {
  return realOp<mlir::arith::SubFOp>(x, y.v);
}
inline Real operator*(Real x, Real y) {
  return realOp<mlir::arith::MulFOp>(x, y.v);
}
inline Real operator/(Real x, Real y) {
  return realOp<mlir::arith::DivFOp>(x, y.v);
}
inline Real operator-(Real x) { return realOp<mlir::arith::NegFOp>(x); }
inline Real operator+(Real x, double y) { return x + x.of(y); }
inline Real operator-(Real x, double y) { return x - x.of(y); }
inline Real operator*(Real x, double y) { return x * x.of(y); }
inline Real operator/(Real x, double y) { return x / x.of(y); }
inline Real operator+(double x, Real y) { return y.of(x) + y; }
inline Real operator-(double x, Real y) { return y.of(x) - y; }
inline Real operator*(double x, Real y) { return y.of(x) * y; }
inline Real operator/(double x, Real y) { return y.of(x) / y; }

inline Real fma(Real x, Real y, Real z) {
  return realOp<mlir::math::FmaOp>(x, y.v, z.v);
}
inline Real abs(Real x) { return realOp<mlir::math::AbsFOp>(x); }
inline Real sqrt(Real x) { return realOp<mlir::math::SqrtOp>(x); }
inline Real exp(Real x) { return realOp<mlir::math::ExpOp>(x); }
inline Real expm1(Real x) { return realOp<mlir::math::ExpM1Op>(x); }
inline Real log(Real x) { return realOp<mlir::math::LogOp>(x); }
inline Real log1p(Real x) { return realOp<mlir::math::Log1pOp>(x); }
inline Real sin(Real x) { return realOp<mlir::math::SinOp>(x); }
inline Real cos(Real x) { return realOp<mlir::math::CosOp>(x); }
inline Real tanh(Real x) { return realOp<mlir::math::TanhOp>(x); }
inline Real erf(Real x) { return realOp<mlir::math::ErfOp>(x); }
inline Real erfc(Real x) { return realOp<mlir::math::ErfcOp>(x); }
inline Real floor(Real x) { return realOp<mlir::math::FloorOp>(x); }
inline Real pow(Real x, Real y) { return realOp<mlir::math::PowFOp>(x, y.v); }
inline Real copySign(Real x, Real sign) {
  return realOp<mlir::math::CopySignOp>(x, sign.v);
}
/// By |y|, the sign after: vectorised forms lose the sign of a zero.
inline Real atan2(Real y, Real x) {
  return copySign(realOp<mlir::math::Atan2Op>(abs(y), x.v), y);
}
inline Real larger(Real x, Real y) {
  return realOp<mlir::arith::MaximumFOp>(x, y.v);
}
inline Real smaller(Real x, Real y) {
  return realOp<mlir::arith::MinimumFOp>(x, y.v);
}

inline mlir::Value compare(mlir::arith::CmpFPredicate how, Real x, Real y) {
  return mlir::arith::CmpFOp::create(*x.b, how, x.v, y.v);
}
inline mlir::Value less(Real x, double y) {
  return compare(mlir::arith::CmpFPredicate::OLT, x, x.of(y));
}
inline mlir::Value equal(Real x, Real y) {
  return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
}
inline mlir::Value both(Real any, mlir::Value x, mlir::Value y) {
  return mlir::arith::AndIOp::create(*any.b, x, y);
}
inline Real choose(mlir::Value condition, Real x, Real y) {
  return {x.b, mlir::arith::SelectOp::create(*x.b, condition, x.v, y.v)};
}

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_SCALARMATH_H
