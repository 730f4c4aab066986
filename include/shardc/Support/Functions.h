//===- Functions.h - Arithmetic on lanes, for formulas ----------*- C++ -*-===//
//
// A formula is written once and is emitted on scalars and on vectors alike. Its
// operations round one by one (fused where it says `fma`), whatever stands
// around: so an element has the same bits in a vector, in the remainder of a
// loop and on any machine.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_FUNCTIONS_H
#define SHARDC_SUPPORT_FUNCTIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>

namespace shardc::functions {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// `type` with other elements.
inline mlir::Type withElement(mlir::Type type, mlir::Type element) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  return vector ? mlir::Type(vector.clone(element)) : element;
}

inline mlir::Value splat(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                         mlir::TypedAttr value) {
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    return mlir::arith::ConstantOp::create(
        b, mlir::DenseElementsAttr::get(shaped, mlir::Attribute(value)));
  return mlir::arith::ConstantOp::create(b, value);
}

/// Integers of the width of a float.
struct Bits {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;

  Bits of(int64_t value) const {
    mlir::Type element = mlir::getElementTypeOrSelf(v.getType());
    llvm::APInt bits(element.getIntOrFloatBitWidth(),
                     static_cast<uint64_t>(value), /*isSigned=*/true,
                     /*implicitTrunc=*/true);
    return {b, splat(*b, v.getType(), b->getIntegerAttr(element, bits))};
  }
};

template <typename OpT> Bits bitsOp(Bits x, Bits y) {
  return {x.b, OpT::create(*x.b, x.v, y.v)};
}
inline Bits operator+(Bits x, Bits y) {
  return bitsOp<mlir::arith::AddIOp>(x, y);
}
inline Bits operator-(Bits x, Bits y) {
  return bitsOp<mlir::arith::SubIOp>(x, y);
}
inline Bits operator&(Bits x, int64_t y) {
  return bitsOp<mlir::arith::AndIOp>(x, x.of(y));
}
inline Bits larger(Bits x, Bits y) {
  return bitsOp<mlir::arith::MaxSIOp>(x, y);
}
inline Bits smaller(Bits x, Bits y) {
  return bitsOp<mlir::arith::MinSIOp>(x, y);
}
inline Bits operator<<(Bits x, int64_t y) {
  return bitsOp<mlir::arith::ShLIOp>(x, x.of(y));
}
/// Arithmetic: the sign is kept.
inline Bits operator>>(Bits x, int64_t y) {
  return bitsOp<mlir::arith::ShRSIOp>(x, x.of(y));
}
inline Bits operator+(Bits x, int64_t y) { return x + x.of(y); }
inline Bits operator-(Bits x, int64_t y) { return x - x.of(y); }

/// An f32 or an f64, or a vector of them.
struct Num {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;

  Num of(double number) const {
    mlir::Type element = mlir::getElementTypeOrSelf(v.getType());
    return {b, splat(*b, v.getType(), b->getFloatAttr(element, number))};
  }
  bool isDouble() const {
    return mlir::getElementTypeOrSelf(v.getType()).isF64();
  }
  Bits bits() const {
    mlir::Type integer = isDouble() ? b->getI64Type() : b->getI32Type();
    return {b, mlir::arith::BitcastOp::create(
                   *b, withElement(v.getType(), integer), v)};
  }
};

/// The float of these bits, of `like`'s type.
inline Num asFloat(Bits x, Num like) {
  return {x.b, mlir::arith::BitcastOp::create(*x.b, like.v.getType(), x.v)};
}

template <typename OpT> Num numOp(Num x, Num y) {
  return {x.b, OpT::create(*x.b, x.v, y.v)};
}
template <typename OpT> Num numOp(Num x) {
  return {x.b, OpT::create(*x.b, x.v)};
}
inline Num operator+(Num x, Num y) { return numOp<mlir::arith::AddFOp>(x, y); }
inline Num operator-(Num x, Num y) { return numOp<mlir::arith::SubFOp>(x, y); }
inline Num operator*(Num x, Num y) { return numOp<mlir::arith::MulFOp>(x, y); }
inline Num operator/(Num x, Num y) { return numOp<mlir::arith::DivFOp>(x, y); }
inline Num operator-(Num x) { return numOp<mlir::arith::NegFOp>(x); }
inline Num operator+(Num x, double y) { return x + x.of(y); }
inline Num operator-(Num x, double y) { return x - x.of(y); }
inline Num operator*(Num x, double y) { return x * x.of(y); }
inline Num operator/(Num x, double y) { return x / x.of(y); }
inline Num operator+(double x, Num y) { return y.of(x) + y; }
inline Num operator-(double x, Num y) { return y.of(x) - y; }
inline Num operator*(double x, Num y) { return y.of(x) * y; }
inline Num operator/(double x, Num y) { return y.of(x) / y; }
inline Num fma(Num x, Num y, Num z) {
  return {x.b, mlir::math::FmaOp::create(*x.b, x.v, y.v, z.v)};
}
inline Num fma(Num x, double y, Num z) { return fma(x, x.of(y), z); }
inline Num fma(Num x, Num y, double z) { return fma(x, y, x.of(z)); }
inline Num abs(Num x) { return numOp<mlir::math::AbsFOp>(x); }
inline Num sqrt(Num x) { return numOp<mlir::math::SqrtOp>(x); }
inline Num floor(Num x) { return numOp<mlir::math::FloorOp>(x); }
inline Num copySign(Num x, Num sign) {
  return numOp<mlir::math::CopySignOp>(x, sign);
}

struct Mask {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;
};
inline Mask compare(mlir::arith::CmpFPredicate how, Num x, Num y) {
  return {x.b, mlir::arith::CmpFOp::create(*x.b, how, x.v, y.v)};
}
inline Mask operator<(Num x, Num y) {
  return compare(mlir::arith::CmpFPredicate::OLT, x, y);
}
inline Mask operator>(Num x, Num y) {
  return compare(mlir::arith::CmpFPredicate::OGT, x, y);
}
inline Mask operator<=(Num x, Num y) {
  return compare(mlir::arith::CmpFPredicate::OLE, x, y);
}
inline Mask operator>=(Num x, Num y) {
  return compare(mlir::arith::CmpFPredicate::OGE, x, y);
}
inline Mask operator==(Num x, Num y) {
  return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
}
inline Mask operator<(Num x, double y) { return x < x.of(y); }
inline Mask operator>(Num x, double y) { return x > x.of(y); }
inline Mask operator<=(Num x, double y) { return x <= x.of(y); }
inline Mask operator>=(Num x, double y) { return x >= x.of(y); }
inline Mask operator==(Num x, double y) { return x == x.of(y); }
inline Mask isNan(Num x) {
  return compare(mlir::arith::CmpFPredicate::UNO, x, x);
}
inline Mask operator&(Mask x, Mask y) {
  return {x.b, mlir::arith::AndIOp::create(*x.b, x.v, y.v)};
}
inline Mask operator|(Mask x, Mask y) {
  return {x.b, mlir::arith::OrIOp::create(*x.b, x.v, y.v)};
}
inline Mask isSet(Bits x, int64_t mask) {
  return {x.b, mlir::arith::CmpIOp::create(*x.b, mlir::arith::CmpIPredicate::ne,
                                           (x & mask).v, x.of(0).v)};
}
inline Num choose(Mask c, Num x, Num y) {
  return {x.b, mlir::arith::SelectOp::create(*x.b, c.v, x.v, y.v)};
}
inline Num choose(Mask c, Num x, double y) { return choose(c, x, x.of(y)); }
inline Num choose(Mask c, double x, Num y) { return choose(c, y.of(x), y); }
/// The smaller, the larger; x where x is NaN.
inline Num smaller(Num x, Num y) { return choose(y < x, y, x); }
inline Num larger(Num x, Num y) { return choose(y > x, y, x); }
inline Num clamp(Num x, double low, double high) {
  return smaller(larger(x, x.of(low)), x.of(high));
}

inline Num widen(Num x) {
  return {x.b, mlir::arith::ExtFOp::create(
                   *x.b, withElement(x.v.getType(), x.b->getF64Type()), x.v)};
}
inline Num narrow(Num x) {
  return {x.b, mlir::arith::TruncFOp::create(
                   *x.b, withElement(x.v.getType(), x.b->getF32Type()), x.v)};
}

/// Horner's rule, the coefficient of the constant first.
inline Num polynomial(Num x, llvm::ArrayRef<double> coefficients) {
  Num sum = x.of(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, x.of(c));
  return sum;
}

/// An unevaluated sum of two numbers: about twice the digits.
struct Pair {
  Num hi, lo;
};
/// The exact sum, for |x| >= |y| or x = 0.
inline Pair fastSum(Num x, Num y) {
  Num sum = x + y;
  return {sum, y - (sum - x)};
}
/// The exact sum.
inline Pair exactSum(Num x, Num y) {
  Num sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
/// The exact product, where its last bit is no subnormal number's.
inline Pair exactProduct(Num x, Num y) {
  Num product = x * y;
  return {product, fma(x, y, -product)};
}
inline Pair operator+(Pair x, Pair y) {
  Pair sum = exactSum(x.hi, y.hi);
  return fastSum(sum.hi, sum.lo + (x.lo + y.lo));
}
inline Pair operator+(Pair x, Num y) {
  Pair sum = exactSum(x.hi, y);
  return fastSum(sum.hi, sum.lo + x.lo);
}
inline Pair operator-(Pair x) { return {-x.hi, -x.lo}; }
inline Pair operator-(Pair x, Pair y) { return x + -y; }
inline Pair operator*(Pair x, Pair y) {
  Pair product = exactProduct(x.hi, y.hi);
  return fastSum(product.hi, product.lo + fma(x.hi, y.lo, x.lo * y.hi));
}
inline Pair operator*(Pair x, Num y) {
  Pair product = exactProduct(x.hi, y);
  return fastSum(product.hi, fma(x.lo, y, product.lo));
}
inline Pair operator/(Pair x, Pair y) {
  Num first = x.hi / y.hi;
  Num rest = fma(-first, y.hi, x.hi) + x.lo;
  rest = fma(-first, y.lo, rest);
  return fastSum(first, rest / y.hi);
}
/// The square root; of zero and infinity no pair.
inline Pair sqrt(Pair x) {
  Num root = sqrt(x.hi);
  Num rest = fma(-root, root, x.hi) + x.lo;
  return fastSum(root, rest / (root * 2.0));
}
inline Pair choose(Mask c, Pair x, Pair y) {
  return {choose(c, x.hi, y.hi), choose(c, x.lo, y.lo)};
}
/// Times a power of two.
inline Pair scale(Pair x, double factor) {
  return {x.hi * factor, x.lo * factor};
}

} // namespace shardc::functions

#endif // SHARDC_SUPPORT_FUNCTIONS_H
