//===- Fourier.h - What emits Fourier transforms ----------------*- C++ -*-===//
#ifndef SHARDC_LIB_LINALG_FOURIER_H
#define SHARDC_LIB_LINALG_FOURIER_H

#include "StableHLOToLinalg.h"

#include <cmath>
#include <complex>

namespace shardc::lowering::fourier {

/// The two parts of a complex tensor; a real one has no `im`.
struct Parts {
  mlir::Value re, im;
};

/// The tensors that hold lines: one of complex elements, one of real elements,
/// or one for each part.
enum class Form { Complex, Real, Parts };

/// How often `transform` for many threads goes through memory, with kernels
/// between: lines of `n` numbers, of so many bits each.
double passesByThreads(int64_t n, unsigned width);

/// Emits transforms along one dim after another.
struct FourierEmitter {
  Lowerer &l;
  mlir::ImplicitLocOpBuilder &b;
  mlir::FloatType type;

  FourierEmitter(Lowerer &l, mlir::FloatType type) : l(l), b(l.b), type(type) {}

  /// What is done to all lines along one dim of a tensor.
  using Lines = llvm::function_ref<Parts(Parts, int64_t)>;
  /// `lines` along `dim` of `ins`, which are of form `from`: `count` elements,
  /// times `factor`, in form `to`.
  mlir::SmallVector<mlir::Value> alongDim(mlir::ValueRange ins, Form from,
                                          Form to, int64_t dim, int64_t count,
                                          double factor, Lines lines);

  /// `sign` is -1 for the forward transform, 1 for the inverse one, unscaled.
  Parts transform(Parts x, int64_t dim, int sign);
  /// Elements 0 ... n/2 of the transform of real lines of length `n`.
  Parts transformReal(Parts x, int64_t dim, int64_t n);
  /// Real lines of length `n`, unscaled, from elements 0 ... n/2.
  Parts transformToReal(Parts x, int64_t dim, int64_t n);

  /// `factor` times the transform along `dim`, of length `n`, which the runtime
  /// does; of real numbers, or to them, where `to` says so.
  mlir::Value leaveLines(mlir::Value input, int64_t dim, int64_t n, Form to,
                         int sign, double factor);

private:
  bool hasBlocks(mlir::Value in, int64_t dim);
  mlir::SmallVector<mlir::Value> inBlocks(mlir::ValueRange ins, Form from,
                                          Form to, int64_t dim, int64_t count,
                                          double factor, Lines lines);
  mlir::SmallVector<mlir::Value> read(mlir::ValueRange ins, Form from,
                                      mlir::AffineMap map,
                                      mlir::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::SmallVector<mlir::Value> write(Parts x, Form to, double factor,
                                       mlir::AffineMap map,
                                       mlir::ValueRange outs);
  Parts stage(Parts x, int64_t dim, int64_t radix, int64_t rest, int sign);
  Parts transformByThreads(Parts x, int64_t dim, int sign);
  Parts leave(Parts x, int64_t dim, int sign);
  Parts peel(Parts x, int64_t dim, int64_t radix, int sign);
  Parts convolve(Parts x, int64_t dim, int sign);
  Parts rotate(Parts x, int64_t dim,
               llvm::function_ref<std::complex<double>(int64_t)> by);
  Parts extendHermitian(Parts x, int64_t dim, int64_t n);
  mlir::Value table(mlir::ArrayRef<int64_t> shape,
                    llvm::function_ref<double(int64_t, int64_t)> element);
  Parts pair(mlir::ValueRange ins, mlir::ArrayRef<mlir::OpFoldResult> sizes,
             mlir::ArrayRef<mlir::AffineMap> maps, Lowerer::Body body);
  mlir::Value take(mlir::Value tensor, int64_t dim, int64_t count,
                   int64_t first = 0);
  mlir::Value put(mlir::Value update, mlir::Value tensor, int64_t dim,
                  int64_t first);
  mlir::SmallVector<mlir::Value>
  emptyOf(Form form, mlir::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::AffineMap alongMap(int64_t rank, int64_t dim, mlir::AffineExpr at);
  mlir::Value reshaped(mlir::Value tensor, mlir::ArrayRef<int64_t> shape,
                       mlir::ArrayRef<mlir::OpFoldResult> sizes) {
    return l.reshape(tensor, mlir::RankedTensorType::get(shape, type), sizes);
  }
  mlir::Value reshaped(mlir::Value tensor, mlir::ArrayRef<int64_t> shape) {
    mlir::Type element =
        mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
    return l.reshape(tensor, mlir::RankedTensorType::get(shape, element),
                     constants(shape));
  }
  mlir::SmallVector<mlir::OpFoldResult>
  constants(mlir::ArrayRef<int64_t> numbers) {
    return llvm::map_to_vector(numbers,
                               [&](int64_t number) -> mlir::OpFoldResult {
                                 return b.getIndexAttr(number);
                               });
  }
  static mlir::SmallVector<int64_t> shapeOf(mlir::Value tensor) {
    return mlir::SmallVector<int64_t>(
        mlir::cast<mlir::RankedTensorType>(tensor.getType()).getShape());
  }
  mlir::Value times(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, x, y);
  }
  mlir::Value plus(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, x, y);
  }
  mlir::Value minus(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, x, y);
  }
};

// cos and sin of 2 pi k / n, the angle reduced in integers first.
inline double cosTwiddle(int64_t k, int64_t n) {
  return std::cos(2 * M_PI * static_cast<double>(k % n) /
                  static_cast<double>(n));
}
inline double sinTwiddle(int64_t k, int64_t n) {
  return std::sin(2 * M_PI * static_cast<double>(k % n) /
                  static_cast<double>(n));
}

inline int64_t largestPrime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      largest = p;
  return std::max(largest, n);
}

} // namespace shardc::lowering::fourier

#endif // SHARDC_LIB_LINALG_FOURIER_H
