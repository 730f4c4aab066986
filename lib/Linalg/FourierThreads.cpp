//===- FourierThreads.cpp - Transforms for many threads -------------------===//
//
// For many threads a line that fits the shared memory of a GPU is left to a
// kernel, kernel.lines; stages are done of longer ones alone. Lengths with a
// large prime factor become convolutions of a power of two (L. I. Bluestein, "A
// linear filtering approach to the computation of the discrete Fourier
// transform", 1970).
//
//===----------------------------------------------------------------------===//
#include "Fourier.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;
using namespace shardc::lowering::fourier;

/// f32 numbers of a line that a kernel does as a whole, at most, and factors of
/// its length; of other types as many bytes.
static constexpr int64_t kMostInBlock = 4096, kMostRadix = 13;
/// Larger factors than this are not worth a matrix.
static constexpr int64_t kMostMatrix = 61;

/// What is done to a line of `n` numbers of so many bits: it is peeled by a
/// radix, left to a kernel (1), or becomes a convolution (0).
static int64_t radixOf(int64_t n, unsigned width) {
  int64_t most = kMostInBlock * 32 / width, prime = largestPrime(n);
  if (prime > kMostMatrix)
    return 0;
  if (prime > kMostRadix)
    return prime;
  if (n <= most)
    return 1;
  // The smallest factor that leaves a line that fits, or a large one.
  int64_t radix = 0;
  for (int64_t r = 2; r <= 16 && (radix == 0 || n / radix > most); ++r)
    if (n % r == 0)
      radix = r;
  return radix;
}

/// A power of two that a convolution of lines of `n` numbers fits.
static int64_t convolvedLength(int64_t n) {
  return llvm::PowerOf2Ceil(2 * n - 1);
}

double fourier::passesByThreads(int64_t n, unsigned width) {
  int64_t radix = radixOf(n, width);
  // Two transforms, the product between them, and what pads and takes lines.
  if (int64_t m = convolvedLength(n); radix == 0)
    return 2 + double(m) / double(n) * (2 * passesByThreads(m, width) + 1);
  // A stage, its twiddle factors, and what interleaves its lines.
  return radix == 1 ? 1 : 3 + passesByThreads(n / radix, width);
}

Parts FourierEmitter::transformByThreads(Parts x, int64_t dim, int sign) {
  int64_t radix = radixOf(shapeOf(x.re)[dim], type.getWidth());
  if (radix == 0)
    return convolve(x, dim, sign);
  return radix == 1 ? leave(x, dim, sign) : peel(x, dim, radix, sign);
}

// Parts change places for the opposite rotation: i conj(x) = swap(x).
Parts FourierEmitter::leave(Parts x, int64_t dim, int sign) {
  int64_t n = shapeOf(x.re)[dim];
  auto numbers = [&](llvm::function_ref<double(int64_t)> element) {
    Value column =
        table({n, 1}, [&](int64_t i, int64_t) { return element(i); });
    auto all = column.getDefiningOp<arith::ConstantOp>();
    return l.constant(cast<DenseElementsAttr>(all.getValue())
                          .reshape(RankedTensorType::get({n}, type)));
  };
  Value cosines = numbers([&](int64_t i) { return cosTwiddle(i, n); }),
        sines = numbers([&](int64_t i) { return -sinTwiddle(i, n); });
  if (sign > 0)
    std::swap(x.re, x.im);
  SmallVector<Value> outs = emptyOf(Form::Parts, l.sizes(x.re));
  auto lines = spmd::LinesOp::create(
      b, TypeRange(ValueRange(outs)), spmd::LineKind::Fourier, dim,
      /*backward=*/false, /*positions=*/false,
      ValueRange{x.re, x.im, cosines, sines}, /*starts=*/ValueRange(), outs);
  Parts result{lines.getResult(0), lines.getResult(1)};
  if (sign > 0)
    std::swap(result.re, result.im);
  return result;
}

// One stage; what is left are `radix` lines, whose elements are then
// interleaved.
Parts FourierEmitter::peel(Parts x, int64_t dim, int64_t radix, int sign) {
  SmallVector<int64_t> whole = shapeOf(x.re), split(whole), lines(whole);
  SmallVector<OpFoldResult> wholeSizes = l.sizes(x.re), splitSizes(wholeSizes),
                            linesSizes(wholeSizes);
  int64_t rest = whole[dim] / radix, rank = whole.size();
  split[dim] = lines[dim] = rest;
  splitSizes[dim] = linesSizes[dim] = b.getIndexAttr(rest);
  lines.insert(lines.begin() + dim, radix);
  linesSizes.insert(linesSizes.begin() + dim, b.getIndexAttr(radix));
  for (int64_t extent : {radix, int64_t(1)}) {
    split.insert(split.begin() + dim, extent);
    splitSizes.insert(splitSizes.begin() + dim, b.getIndexAttr(extent));
  }
  x = {reshaped(x.re, split, splitSizes), reshaped(x.im, split, splitSizes)};
  x = stage(x, dim, radix, rest, sign);
  x = {reshaped(x.re, lines, linesSizes), reshaped(x.im, lines, linesSizes)};
  x = transform(x, dim + 1, sign);
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i <= rank; ++i)
    exprs.push_back(b.getAffineDimExpr(i));
  std::swap(exprs[dim], exprs[dim + 1]);
  AffineMap swapped = AffineMap::get(rank + 1, 0, exprs, b.getContext());
  std::swap(lines[dim], lines[dim + 1]);
  std::swap(linesSizes[dim], linesSizes[dim + 1]);
  x = pair({x.re, x.im}, linesSizes, {swapped, swapped},
           [&](ValueRange args) -> SmallVector<Value> {
             return {args[0], args[1]};
           });
  return {reshaped(x.re, whole, wholeSizes), reshaped(x.im, whole, wholeSizes)};
}

// Each element times a number of its own.
Parts FourierEmitter::rotate(
    Parts x, int64_t dim,
    llvm::function_ref<std::complex<double>(int64_t)> by) {
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  int64_t n = shapeOf(x.re)[dim], rank = sizes.size();
  Value re = table({n, 1}, [&](int64_t k, int64_t) { return by(k).real(); });
  Value im = table({n, 1}, [&](int64_t k, int64_t) { return by(k).imag(); });
  AffineMap same = b.getMultiDimIdentityMap(rank);
  AffineMap along = AffineMap::get(
      rank, 0, {b.getAffineDimExpr(dim), b.getAffineConstantExpr(0)},
      b.getContext());
  return pair({x.re, x.im, re, im}, sizes, {same, same, along, along},
              [&](ValueRange args) -> SmallVector<Value> {
                return {minus(times(args[0], args[2]), times(args[1], args[3])),
                        plus(times(args[0], args[3]), times(args[1], args[2]))};
              });
}

/// Transforms a power of two of numbers, forward.
static void transformInPlace(std::vector<std::complex<double>> &x) {
  size_t n = x.size();
  if (n < 2)
    return;
  std::vector<std::complex<double>> even, odd;
  for (size_t i = 0; i < n; ++i)
    (i % 2 ? odd : even).push_back(x[i]);
  transformInPlace(even);
  transformInPlace(odd);
  for (size_t k = 0; k < n / 2; ++k) {
    std::complex<double> rotated =
        odd[k] * std::complex<double>(cosTwiddle(k, n), -sinTwiddle(k, n));
    x[k] = even[k] + rotated;
    x[k + n / 2] = even[k] - rotated;
  }
}

// jk = (j^2 + k^2 - (k - j)^2) / 2: what is left is a convolution with w^-(j^2
// / 2), which a longer transform does.
Parts FourierEmitter::convolve(Parts x, int64_t dim, int sign) {
  int64_t n = shapeOf(x.re)[dim];
  int64_t m = convolvedLength(n);
  // The angle is reduced in integers: j^2 modulo 2n.
  auto chirp = [&](int64_t j) {
    int64_t k =
        static_cast<int64_t>(static_cast<unsigned __int128>(j) * j % (2 * n));
    return std::complex<double>(cosTwiddle(k, 2 * n),
                                sign * sinTwiddle(k, 2 * n));
  };
  std::vector<std::complex<double>> filter(m);
  for (int64_t j = 0; j < n; ++j)
    filter[j] = filter[(m - j) % m] =
        std::conj(chirp(j)) / static_cast<double>(m);
  transformInPlace(filter);
  x = rotate(x, dim, chirp);
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  sizes[dim] = b.getIndexAttr(m);
  auto padded = [&](Value part) {
    return put(part, l.filled(sizes, l.zero(type)), dim, 0);
  };
  Parts longer = transform({padded(x.re), padded(x.im)}, dim, -1);
  longer = rotate(longer, dim, [&](int64_t k) { return filter[k]; });
  longer = transform(longer, dim, 1);
  return rotate({take(longer.re, dim, n), take(longer.im, dim, n)}, dim, chirp);
}
