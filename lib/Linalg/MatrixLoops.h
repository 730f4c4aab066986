//===- MatrixLoops.h - Loops over the elements of matrices ------*- C++ -*-===//
//
// What algorithms on batches of small matrices are written with: elements that
// are floats or complex numbers, and loops that carry tensors.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_MATRIXLOOPS_H
#define SHARDC_LIB_LINALG_MATRIXLOOPS_H

#include "Complex.h"
#include "ScalarMath.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

namespace shardc::lowering {

/// Arithmetic on elements that are floats or complex numbers.
struct Elements {
  mlir::ImplicitLocOpBuilder &b;

  static bool isComplex(mlir::Value x) {
    return mlir::isa<mlir::ComplexType>(x.getType());
  }
  static mlir::Type realType(mlir::Type type) {
    auto complex = mlir::dyn_cast<mlir::ComplexType>(type);
    return complex ? complex.getElementType() : type;
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return isComplex(x) ? complexAdd(b, {x, y})
                        : mlir::arith::AddFOp::create(b, x, y).getResult();
  }
  mlir::Value multiply(mlir::Value x, mlir::Value y) {
    return isComplex(x) ? complexMultiply(b, {x, y})
                        : mlir::arith::MulFOp::create(b, x, y).getResult();
  }
  mlir::Value subtract(mlir::Value x, mlir::Value y) {
    return isComplex(x) ? complexSubtract(b, {x, y})
                        : mlir::arith::SubFOp::create(b, x, y).getResult();
  }
  mlir::Value divide(mlir::Value x, mlir::Value y) {
    return isComplex(x) ? complexDivide(b, {x, y})
                        : mlir::arith::DivFOp::create(b, x, y).getResult();
  }
  mlir::Value conjugate(mlir::Value x) {
    return isComplex(x) ? complexConjugate(b, x) : x;
  }
  /// Of a number whose imaginary part is zero.
  mlir::Value squareRoot(mlir::Value x) {
    if (!isComplex(x))
      return mlir::math::SqrtOp::create(b, x);
    return make(x.getType(), sqrt(re(x)));
  }

  Real re(mlir::Value x) {
    return {&b, isComplex(x)
                    ? mlir::complex::ReOp::create(b, realType(x.getType()), x)
                          .getResult()
                    : x};
  }
  /// Zero for a float.
  Real im(mlir::Value x) {
    mlir::Type part = realType(x.getType());
    return {&b, isComplex(x)
                    ? mlir::complex::ImOp::create(b, part, x).getResult()
                    : numberConstant(b, part, 0)};
  }
  /// A number of `type` from its parts; `im` counts for complex types alone.
  mlir::Value make(mlir::Type type, Real re, std::optional<Real> im = {}) {
    if (!mlir::isa<mlir::ComplexType>(type))
      return re.v;
    Real other = im ? *im : re.of(0);
    return mlir::complex::CreateOp::create(b, type, re.v, other.v);
  }
  mlir::Value scale(mlir::Value x, Real factor) {
    return isComplex(x) ? make(x.getType(), re(x) * factor, im(x) * factor)
                        : (Real{&b, x} * factor).v;
  }
  /// By a real number, whose inverse may be out of range.
  mlir::Value divideByReal(mlir::Value x, Real divisor) {
    return isComplex(x) ? make(x.getType(), re(x) / divisor, im(x) / divisor)
                        : (Real{&b, x} / divisor).v;
  }
  /// |x|^2.
  Real square(mlir::Value x) {
    return isComplex(x) ? re(x) * re(x) + im(x) * im(x) : re(x) * re(x);
  }
  Real modulus(mlir::Value x) {
    return isComplex(x) ? Real{&b, complexAbs(b, x)} : abs(re(x));
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, condition, x, y);
  }
};

/// Sizes of the batch: all but the last two dims.
inline llvm::SmallVector<mlir::OpFoldResult>
batchOf(llvm::ArrayRef<mlir::OpFoldResult> sizes) {
  return llvm::SmallVector<mlir::OpFoldResult>(sizes.drop_back(2));
}

/// A copy that loops may write to.
mlir::Value copyOf(Lowerer &l, mlir::Value tensor);

/// The type of f64 that is complex where `type` is: what iterations compute in.
mlir::Type wideType(mlir::Type type);
/// `x`, as an element of `type`.
mlir::Value castElement(Elements &e, mlir::Value x, mlir::Type type);
/// A copy, of elements of `type`, that loops may write to.
mlir::Value castTensor(Lowerer &l, mlir::Value tensor, mlir::Type type);

/// Loops, and elements of tensors by batch and position.
struct MatrixLoops {
  Lowerer &l;
  mlir::ImplicitLocOpBuilder &b = l.b;
  Elements e{l.b};
  /// Where in the batch.
  llvm::SmallVector<mlir::Value> batch = {};

  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<Values(mlir::Value, mlir::ValueRange)>;

  mlir::Value index(int64_t value) { return l.index(value); }
  mlir::Value plus(mlir::Value x, int64_t y) {
    return mlir::arith::AddIOp::create(b, x, index(y));
  }
  /// `from` below `to`, with values carried along.
  Values range(mlir::Value from, mlir::Value to, mlir::ValueRange carried,
               Body body);
  /// While the body gives true first, `limit` times at most.
  Values repeat(int64_t limit, mlir::ValueRange carried, Body body);
  /// Every matrix of the batch; `body` is in `batch`.
  Values overBatch(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   mlir::ValueRange carried,
                   llvm::function_ref<Values(mlir::ValueRange)> body);

  mlir::Value get(mlir::Value tensor, mlir::ValueRange at);
  mlir::Value set(mlir::Value tensor, mlir::ValueRange at, mlir::Value value);
  /// The largest part of all elements in size, NaN if one is NaN.
  Real largest(mlir::Value tensor, mlir::Value rows, mlir::Value columns);
  /// A power of two for numbers no larger than `largest`, after which squares
  /// and their sums stay in the range of f64, and its inverse. One where they
  /// do anyway, and for floats of type `real` that are narrower.
  std::pair<Real, Real> intoRange(Real largest, mlir::Type real);
  /// LAPACK's reflector I - tau v v^H of a column, of its rows from `pivot`
  /// below `rows` on. Returns the matrix, in which v (but for its one) stands
  /// below the pivot and what is left of the column at it, and tau.
  std::pair<mlir::Value, mlir::Value> reflect(mlir::Value matrix,
                                              mlir::Value pivot,
                                              mlir::Value column,
                                              mlir::Value rows);
  /// I - factor v v^H, as reflect stored it in `reflectors` (in the matrix
  /// itself, unless given), from the left on columns `from` below `to`.
  mlir::Value applyLeft(mlir::Value matrix, mlir::Value pivot,
                        mlir::Value column, mlir::Value factor,
                        mlir::Value rows, mlir::Value from, mlir::Value to,
                        mlir::Value reflectors = {});
  /// The same from the right, on rows below `to` of the matrix that holds it.
  mlir::Value applyRight(mlir::Value matrix, mlir::Value pivot,
                         mlir::Value column, mlir::Value factor,
                         mlir::Value rows, mlir::Value to);
  /// Exchanges two elements.
  mlir::Value swap(mlir::Value tensor, mlir::ValueRange a, mlir::ValueRange b);
};

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_MATRIXLOOPS_H
