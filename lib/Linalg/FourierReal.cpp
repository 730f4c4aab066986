//===- FourierReal.cpp - Transforms of real lines -------------------------===//
//
// A real line of even length is a complex one of half of it; one more step
// takes the transforms of its even and odd elements apart (J. W. Cooley, P. A.
// W. Lewis and P. D. Welch, "The fast Fourier transform algorithm: programming
// considerations in the calculation of sine, cosine and Laplace transforms",
// 1970).
//
//===----------------------------------------------------------------------===//
#include "Fourier.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;
using namespace shardc::lowering::fourier;

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

// With z = even + i odd elements, m = n / 2 of them, and Z its transform,
//   X[k] = (Z[k] + conj Z[m - k]) / 2 - i w (Z[k] - conj Z[m - k]) / 2,
// w the twiddle factor of -k / n, and Z[m] = Z[0].
Parts FourierEmitter::transformReal(Parts x, int64_t dim, int64_t n) {
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  SmallVector<int64_t> shape = shapeOf(x.re);
  int64_t m = n / 2, rank = shape.size();
  if (n % 2 != 0) {
    x = transform({x.re, l.filled(sizes, l.zero(type))}, dim, -1);
    return {take(x.re, dim, m + 1), take(x.im, dim, m + 1)};
  }
  SmallVector<int64_t> half(shape), halves(shape);
  SmallVector<OpFoldResult> halfSizes(sizes), halvesSizes(sizes);
  half[dim] = halves[dim] = m;
  halfSizes[dim] = halvesSizes[dim] = b.getIndexAttr(m);
  halves.insert(halves.begin() + dim + 1, 2);
  halvesSizes.insert(halvesSizes.begin() + dim + 1, b.getIndexAttr(2));
  Value elements = reshaped(x.re, halves, halvesSizes);
  auto every = [&](int64_t first) {
    return reshaped(take(elements, dim + 1, 1, first), half, halfSizes);
  };
  Parts z = transform({every(0), every(1)}, dim, -1);
  sizes[dim] = b.getIndexAttr(m + 1);
  auto closed = [&](Value part) {
    Value line = put(part, l.empty(sizes, type), dim, 0);
    return put(take(part, dim, 1), line, dim, m);
  };
  Value re = closed(z.re), im = closed(z.im);
  Value twiddleRe = table(
      {m + 1, 1}, [&](int64_t k, int64_t) { return -sinTwiddle(k, n) / 2; });
  Value twiddleIm = table(
      {m + 1, 1}, [&](int64_t k, int64_t) { return -cosTwiddle(k, n) / 2; });
  AffineExpr k = b.getAffineDimExpr(dim);
  AffineMap same = b.getMultiDimIdentityMap(rank),
            back = alongMap(rank, dim, m - k),
            twiddle = AffineMap::get(rank, 0, {k, b.getAffineConstantExpr(0)},
                                     b.getContext());
  return pair(
      {re, im, re, im, twiddleRe, twiddleIm}, sizes,
      {same, same, back, back, twiddle, twiddle},
      [&](ValueRange args) -> SmallVector<Value> {
        Value half = l.number(type, 0.5);
        Value sumRe = times(half, plus(args[0], args[2])),
              sumIm = times(half, minus(args[1], args[3])),
              restRe = minus(args[0], args[2]), restIm = plus(args[1], args[3]);
        return {
            plus(sumRe, minus(times(args[4], restRe), times(args[5], restIm))),
            plus(sumIm, plus(times(args[4], restIm), times(args[5], restRe)))};
      });
}

// The other way: 2 Z[k] = (X[k] + conj X[m - k]) + i w (X[k] - conj X[m - k]),
// w the twiddle factor of k / n. Imaginary parts of X[0] and X[m] do not count.
Parts FourierEmitter::transformToReal(Parts x, int64_t dim, int64_t n) {
  if (n % 2 != 0)
    return {transform(extendHermitian(x, dim, n), dim, 1).re, Value()};
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  SmallVector<int64_t> shape = shapeOf(x.re);
  int64_t m = n / 2, rank = shape.size();
  shape[dim] = m;
  sizes[dim] = b.getIndexAttr(m);
  Value twiddleRe =
      table({m, 1}, [&](int64_t k, int64_t) { return -sinTwiddle(k, n); });
  Value twiddleIm =
      table({m, 1}, [&](int64_t k, int64_t) { return cosTwiddle(k, n); });
  AffineExpr k = b.getAffineDimExpr(dim);
  AffineMap same = b.getMultiDimIdentityMap(rank),
            back = alongMap(rank, dim, m - 1 - k),
            twiddle = AffineMap::get(rank, 0, {k, b.getAffineConstantExpr(0)},
                                     b.getContext());
  Parts z = pair(
      {take(x.re, dim, m), take(x.im, dim, m), take(x.re, dim, m, 1),
       take(x.im, dim, m, 1), twiddleRe, twiddleIm},
      sizes, {same, same, back, back, twiddle, twiddle},
      [&](ValueRange args) -> SmallVector<Value> {
        Value first =
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                  linalg::IndexOp::create(b, dim), l.index(0));
        auto imaginary = [&](Value part) -> Value {
          return arith::SelectOp::create(b, first, l.zero(type), part);
        };
        Value im = imaginary(args[1]), backIm = imaginary(args[3]);
        Value sumRe = plus(args[0], args[2]), sumIm = minus(im, backIm),
              restRe = minus(args[0], args[2]), restIm = plus(im, backIm);
        return {
            plus(sumRe, minus(times(args[4], restRe), times(args[5], restIm))),
            plus(sumIm, plus(times(args[4], restIm), times(args[5], restRe)))};
      });
  z = transform(z, dim, 1);
  SmallVector<int64_t> single(shape), halves(shape), whole(shape);
  SmallVector<OpFoldResult> singleSizes(sizes), halvesSizes(sizes),
      wholeSizes(sizes);
  single.insert(single.begin() + dim + 1, 1);
  singleSizes.insert(singleSizes.begin() + dim + 1, b.getIndexAttr(1));
  halves.insert(halves.begin() + dim + 1, 2);
  halvesSizes.insert(halvesSizes.begin() + dim + 1, b.getIndexAttr(2));
  whole[dim] = n;
  wholeSizes[dim] = b.getIndexAttr(n);
  Value elements = l.empty(halvesSizes, type);
  elements = put(reshaped(z.re, single, singleSizes), elements, dim + 1, 0);
  elements = put(reshaped(z.im, single, singleSizes), elements, dim + 1, 1);
  return {reshaped(elements, whole, wholeSizes), Value()};
}
