//===- StableHLOToLinalgFourier.cpp - fft as small contractions -----------===//
//
// A transform of length n = r1 r2 ... is one stage a factor (T. G. Stockham,
// "High-speed convolution and correlation", 1966). Before a stage the dim is
// seen as (done, radix, rest); the stage contracts the radix with an r x r
// matrix, turns by twiddle factors, and leaves (radix, done, rest): no bit
// reversal, unit strides. Real and imaginary parts are tensors of their own, so
// that all of it is real arithmetic on long rows. Tables are constants,
// computed in double.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

namespace {
/// The two parts of a complex tensor.
struct Parts {
  Value re, im;
};

/// Emits transforms along one dim after another.
struct FourierEmitter {
  Lowerer &l;
  ImplicitLocOpBuilder &b;
  FloatType type;

  FourierEmitter(Lowerer &l, FloatType type) : l(l), b(l.b), type(type) {}

  /// `sign` is -1 for the forward transform, 1 for the inverse one, unscaled.
  Parts transform(Parts x, int64_t dim, int sign);
  Parts split(Value complex);
  Value join(Parts x);
  Parts scale(Parts x, double factor);
  /// Of the `n`-periodic Hermitian line of which elements 0 ... n/2 are given.
  Parts extendHermitian(Parts x, int64_t dim, int64_t n);
  Value take(Value tensor, int64_t dim, int64_t count);

private:
  Parts stage(Parts x, int64_t dim, int64_t radix, int64_t rest, int sign);
  Value table(ArrayRef<int64_t> shape,
              llvm::function_ref<double(int64_t, int64_t)> element);
  Parts pair(ValueRange ins, ArrayRef<OpFoldResult> sizes,
             ArrayRef<AffineMap> maps, Lowerer::Body body);
  SmallVector<OpFoldResult> sizesOf(Value tensor) { return l.sizes(tensor); }
  Value reshaped(Value tensor, ArrayRef<int64_t> shape,
                 ArrayRef<OpFoldResult> sizes) {
    return l.reshape(tensor, RankedTensorType::get(shape, type), sizes);
  }
};
} // namespace

// A constant matrix.
Value FourierEmitter::table(
    ArrayRef<int64_t> shape,
    llvm::function_ref<double(int64_t, int64_t)> element) {
  SmallVector<APFloat> values;
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j) {
      APFloat value(element(i, j));
      bool lossy;
      value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &lossy);
      values.push_back(value);
    }
  return l.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, type), values));
}

// cos and sin of 2 pi turns / n, the angle reduced in integers first.
static double cosTurn(int64_t turns, int64_t n) {
  return std::cos(2 * M_PI * static_cast<double>(turns % n) /
                  static_cast<double>(n));
}
static double sinTurn(int64_t turns, int64_t n) {
  return std::sin(2 * M_PI * static_cast<double>(turns % n) /
                  static_cast<double>(n));
}

// An elementwise generic with two results.
Parts FourierEmitter::pair(ValueRange ins, ArrayRef<OpFoldResult> sizes,
                           ArrayRef<AffineMap> maps, Lowerer::Body body) {
  int64_t rank = sizes.size();
  SmallVector<AffineMap> all(maps);
  all.append(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  SmallVector<Value> results = l.generic(
      ins, {l.empty(sizes, type), l.empty(sizes, type)}, all, iterators, body);
  return {results[0], results[1]};
}

Parts FourierEmitter::split(Value complex) {
  SmallVector<OpFoldResult> sizes = l.sizes(complex);
  return pair(complex, sizes, b.getMultiDimIdentityMap(sizes.size()),
              [&](ValueRange args) -> SmallVector<Value> {
                return {complex::ReOp::create(b, type, args[0]).getResult(),
                        complex::ImOp::create(b, type, args[0]).getResult()};
              });
}

Value FourierEmitter::join(Parts x) {
  Type complex = ComplexType::get(type);
  return l.map({x.re, x.im}, l.empty(l.sizes(x.re), complex),
               [&](ValueRange args) -> SmallVector<Value> {
                 return {complex::CreateOp::create(b, complex, args[0], args[1])
                             .getResult()};
               });
}

Parts FourierEmitter::scale(Parts x, double factor) {
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  Value by = l.number(type, factor);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(sizes.size()));
  return pair({x.re, x.im}, sizes, maps,
              [&](ValueRange args) -> SmallVector<Value> {
                return {arith::MulFOp::create(b, args[0], by).getResult(),
                        arith::MulFOp::create(b, args[1], by).getResult()};
              });
}

Value FourierEmitter::take(Value tensor, int64_t dim, int64_t count) {
  SmallVector<OpFoldResult> sizes = l.sizes(tensor);
  SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  sizes[dim] = b.getIndexAttr(count);
  return l.slice(tensor, zeros, sizes, ones);
}

// x[n - k] is the conjugate of x[k].
Parts FourierEmitter::extendHermitian(Parts x, int64_t dim, int64_t n) {
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  sizes[dim] = b.getIndexAttr(n);
  return pair({}, sizes, {}, [&](ValueRange) -> SmallVector<Value> {
    SmallVector<Value> at;
    for (size_t i = 0; i < sizes.size(); ++i)
      at.push_back(linalg::IndexOp::create(b, i));
    Value mirrored = arith::SubIOp::create(b, l.index(n), at[dim]);
    Value given = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, at[dim],
                                        l.index(n / 2));
    at[dim] = arith::SelectOp::create(b, given, at[dim], mirrored);
    Value re = tensor::ExtractOp::create(b, x.re, at),
          im = tensor::ExtractOp::create(b, x.im, at);
    Value minus = arith::NegFOp::create(b, im);
    return {re, arith::SelectOp::create(b, given, im, minus).getResult()};
  });
}

// The smallest prime factor, but 4 where it divides: fewer, denser stages.
static int64_t nextRadix(int64_t n) {
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

// x has dims (..., done, radix, rest, ...), the radix at dim + 1.
Parts FourierEmitter::stage(Parts x, int64_t dim, int64_t radix, int64_t rest,
                            int sign) {
  MLIRContext *ctx = b.getContext();
  SmallVector<OpFoldResult> in = l.sizes(x.re), out(in);
  int64_t rank = in.size();
  std::swap(out[dim], out[dim + 1]);
  // Loops: the result's dims (..., k, done, rest, ...), then the summed j.
  SmallVector<AffineExpr> inExprs, outExprs;
  for (int64_t i = 0; i < rank; ++i)
    inExprs.push_back(getAffineDimExpr(i, ctx));
  outExprs = inExprs;
  AffineExpr k = outExprs[dim], done = outExprs[dim + 1],
             j = getAffineDimExpr(rank, ctx);
  inExprs[dim] = done;
  inExprs[dim + 1] = j;
  AffineMap inMap = AffineMap::get(rank + 1, 0, inExprs, ctx);
  AffineMap matrixMap = AffineMap::get(rank + 1, 0, {k, j}, ctx);
  AffineMap outMap = AffineMap::get(rank + 1, 0, outExprs, ctx);
  Value cosines = table({radix, radix}, [&](int64_t a, int64_t c) {
    return cosTurn(a * c, radix);
  });
  Value sines = table({radix, radix}, [&](int64_t a, int64_t c) {
    return sign * sinTurn(a * c, radix);
  });
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Value zero = l.zero(type);
  SmallVector<Value> sums = l.generic(
      {x.re, x.im, cosines, sines}, {l.filled(out, zero), l.filled(out, zero)},
      {inMap, inMap, matrixMap, matrixMap, outMap, outMap}, iterators,
      [&](ValueRange args) -> SmallVector<Value> {
        Value a = arith::MulFOp::create(b, args[0], args[2]);
        Value c = arith::MulFOp::create(b, args[1], args[3]);
        Value d = arith::MulFOp::create(b, args[0], args[3]);
        Value e = arith::MulFOp::create(b, args[1], args[2]);
        Value re = arith::SubFOp::create(b, a, c),
              im = arith::AddFOp::create(b, d, e);
        return {arith::AddFOp::create(b, args[4], re).getResult(),
                arith::AddFOp::create(b, args[5], im).getResult()};
      });
  if (rest == 1)
    return {sums[0], sums[1]};
  int64_t n = radix * rest;
  Value turnRe = table({radix, rest},
                       [&](int64_t a, int64_t c) { return cosTurn(a * c, n); });
  Value turnIm = table({radix, rest}, [&](int64_t a, int64_t c) {
    return sign * sinTurn(a * c, n);
  });
  AffineMap all = b.getMultiDimIdentityMap(rank);
  AffineMap turnMap = AffineMap::get(
      rank, 0, {getAffineDimExpr(dim, ctx), getAffineDimExpr(dim + 2, ctx)},
      ctx);
  return pair({sums[0], sums[1], turnRe, turnIm}, out,
              {all, all, turnMap, turnMap},
              [&](ValueRange args) -> SmallVector<Value> {
                Value a = arith::MulFOp::create(b, args[0], args[2]);
                Value c = arith::MulFOp::create(b, args[1], args[3]);
                Value d = arith::MulFOp::create(b, args[0], args[3]);
                Value e = arith::MulFOp::create(b, args[1], args[2]);
                return {arith::SubFOp::create(b, a, c).getResult(),
                        arith::AddFOp::create(b, d, e).getResult()};
              });
}

Parts FourierEmitter::transform(Parts x, int64_t dim, int sign) {
  auto original = cast<RankedTensorType>(x.re.getType());
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  int64_t n = original.getDimSize(dim), done = 1, rest = n;
  if (n < 2)
    return x;
  while (rest > 1) {
    int64_t radix = nextRadix(rest);
    rest /= radix;
    SmallVector<int64_t> shape(original.getShape());
    SmallVector<OpFoldResult> extents(sizes);
    shape[dim] = rest;
    extents[dim] = b.getIndexAttr(rest);
    for (int64_t extent : {radix, done}) {
      shape.insert(shape.begin() + dim, extent);
      extents.insert(extents.begin() + dim, b.getIndexAttr(extent));
    }
    x = {reshaped(x.re, shape, extents), reshaped(x.im, shape, extents)};
    x = stage(x, dim, radix, rest, sign);
    done *= radix;
  }
  return {reshaped(x.re, original.getShape(), sizes),
          reshaped(x.im, original.getShape(), sizes)};
}

static LogicalResult lowerFft(Lowerer &l, stablehlo::FftOp op) {
  Value input = l.tensor(op.getOperand());
  auto from = cast<RankedTensorType>(input.getType());
  auto to = cast<RankedTensorType>(op.getType());
  auto complex = dyn_cast<ComplexType>(from.getElementType());
  auto type = cast<FloatType>(complex ? complex.getElementType()
                                      : from.getElementType());
  ArrayRef<int64_t> length = op.getFftLength();
  int64_t rank = from.getRank(),
          first = rank - static_cast<int64_t>(length.size()), last = rank - 1;
  for (int64_t dim = first; dim < rank; ++dim)
    if (from.isDynamicDim(dim))
      return op.emitOpError("unsupported: dim ")
             << dim << " is transformed and its size is not static";
  FourierEmitter emitter(l, type);
  auto all = [&](Parts x, int sign, int64_t end) {
    for (int64_t dim = first; dim < end; ++dim)
      x = emitter.transform(x, dim, sign);
    return x;
  };
  double count = 1;
  for (int64_t n : length)
    count *= static_cast<double>(n);
  switch (op.getFftType()) {
  case stablehlo::FftType::FFT:
    l.set(op, emitter.join(all(emitter.split(input), -1, rank)));
    return success();
  case stablehlo::FftType::IFFT: {
    Parts x = emitter.scale(all(emitter.split(input), 1, rank), 1 / count);
    l.set(op, emitter.join(x));
    return success();
  }
  case stablehlo::FftType::RFFT: {
    Parts x{input, l.filled(l.sizes(input), l.zero(type))};
    x = emitter.transform(x, last, -1);
    int64_t kept = to.getDimSize(last);
    x = {emitter.take(x.re, last, kept), emitter.take(x.im, last, kept)};
    l.set(op, emitter.join(all(x, -1, last)));
    return success();
  }
  case stablehlo::FftType::IRFFT: {
    Parts x = all(emitter.split(input), 1, last);
    x = emitter.transform(emitter.extendHermitian(x, last, length.back()), last,
                          1);
    l.set(op, emitter.scale(x, 1 / count).re);
    return success();
  }
  }
  llvm_unreachable("all kinds of transform are above");
}

void shardc::lowering::addFourier(LoweringTable &table) {
  table.op<stablehlo::FftOp>(lowerFft);
}
