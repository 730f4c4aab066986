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
// A real line of even length is a complex one of half of it; one more step takes
// the transforms of its even and odd elements apart (J. W. Cooley, P. A. W.
// Lewis and P. D. Welch, "The fast Fourier transform algorithm: programming
// considerations in the calculation of sine, cosine and Laplace transforms",
// 1970).
//
// A stage reads and writes all that it is given. With a block size, stages are
// given some lines at a time, side by side: what lies between stages stays in a
// cache, and memory is read and written once a dim.
//
// For many threads a line that fits the shared memory of a GPU is left to a
// kernel, spmd.lines; stages are done of longer ones alone. Lengths with a large
// prime factor become convolutions of a power of two (L. I. Bluestein, "A linear
// filtering approach to the computation of the discrete Fourier transform",
// 1970).
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

#include <cmath>
#include <complex>
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

namespace {
/// The two parts of a complex tensor; a real one has no `im`.
struct Parts {
  Value re, im;
};

/// In which tensors lines lie: one of complex elements, one of real elements,
/// or one for each part.
enum class Form { Complex, Real, Parts };

/// Emits transforms along one dim after another.
struct FourierEmitter {
  Lowerer &l;
  ImplicitLocOpBuilder &b;
  FloatType type;

  FourierEmitter(Lowerer &l, FloatType type) : l(l), b(l.b), type(type) {}

  /// What is done to all lines along one dim of a tensor.
  using Lines = llvm::function_ref<Parts(Parts, int64_t)>;
  /// `lines` along `dim` of `ins`, which are of form `from`: `count` elements,
  /// times `factor`, in form `to`.
  SmallVector<Value> alongDim(ValueRange ins, Form from, Form to, int64_t dim,
                              int64_t count, double factor, Lines lines);

  /// `sign` is -1 for the forward transform, 1 for the inverse one, unscaled.
  Parts transform(Parts x, int64_t dim, int sign);
  /// Elements 0 ... n/2 of the transform of real lines of length `n`.
  Parts transformReal(Parts x, int64_t dim, int64_t n);
  /// Real lines of length `n`, unscaled, from elements 0 ... n/2.
  Parts transformToReal(Parts x, int64_t dim, int64_t n);

private:
  bool hasBlocks(Value in, int64_t dim);
  SmallVector<Value> inBlocks(ValueRange ins, Form from, Form to, int64_t dim,
                              int64_t count, double factor, Lines lines);
  SmallVector<Value> read(ValueRange ins, Form from, AffineMap map,
                          ArrayRef<OpFoldResult> sizes);
  SmallVector<Value> write(Parts x, Form to, double factor, AffineMap map,
                           ValueRange outs);
  Parts stage(Parts x, int64_t dim, int64_t radix, int64_t rest, int sign);
  Parts transformByThreads(Parts x, int64_t dim, int sign);
  Parts leave(Parts x, int64_t dim, int sign);
  Parts peel(Parts x, int64_t dim, int64_t radix, int sign);
  Parts convolve(Parts x, int64_t dim, int sign);
  Parts turn(Parts x, int64_t dim, llvm::function_ref<std::complex<double>(int64_t)> by);
  Parts extendHermitian(Parts x, int64_t dim, int64_t n);
  Value table(ArrayRef<int64_t> shape,
              llvm::function_ref<double(int64_t, int64_t)> element);
  Parts pair(ValueRange ins, ArrayRef<OpFoldResult> sizes,
             ArrayRef<AffineMap> maps, Lowerer::Body body);
  Value take(Value tensor, int64_t dim, int64_t count, int64_t first = 0);
  Value put(Value update, Value tensor, int64_t dim, int64_t first);
  SmallVector<Value> emptyOf(Form form, ArrayRef<OpFoldResult> sizes);
  AffineMap alongMap(int64_t rank, int64_t dim, AffineExpr at);
  Value reshaped(Value tensor, ArrayRef<int64_t> shape,
                 ArrayRef<OpFoldResult> sizes) {
    return l.reshape(tensor, RankedTensorType::get(shape, type), sizes);
  }
  Value reshaped(Value tensor, ArrayRef<int64_t> shape) {
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    return l.reshape(tensor, RankedTensorType::get(shape, element),
                     constants(shape));
  }
  SmallVector<OpFoldResult> constants(ArrayRef<int64_t> numbers) {
    return llvm::map_to_vector(numbers, [&](int64_t number) -> OpFoldResult {
      return b.getIndexAttr(number);
    });
  }
  static SmallVector<int64_t> shapeOf(Value tensor) {
    return SmallVector<int64_t>(
        cast<RankedTensorType>(tensor.getType()).getShape());
  }
  Value times(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value plus(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value minus(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
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

SmallVector<Value> FourierEmitter::emptyOf(Form form,
                                           ArrayRef<OpFoldResult> sizes) {
  if (form == Form::Parts)
    return {l.empty(sizes, type), l.empty(sizes, type)};
  return {l.empty(sizes, form == Form::Real ? Type(type)
                                            : ComplexType::get(type))};
}

// The real tensors of `ins`, element by element through `map`.
SmallVector<Value> FourierEmitter::read(ValueRange ins, Form from,
                                        AffineMap map,
                                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> outs = emptyOf(
      from == Form::Real ? Form::Real : Form::Parts, sizes);
  SmallVector<AffineMap> maps(ins.size(), map);
  maps.append(outs.size(), b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> parallel(sizes.size(),
                                            utils::IteratorType::parallel);
  return l.generic(
      ins, outs, maps, parallel, [&](ValueRange args) -> SmallVector<Value> {
        if (from != Form::Complex)
          return SmallVector<Value>(args.take_front(ins.size()));
        return {complex::ReOp::create(b, type, args[0]).getResult(),
                complex::ImOp::create(b, type, args[0]).getResult()};
      });
}

// `factor` times `x`, through `map`, into `outs` of form `to`.
SmallVector<Value> FourierEmitter::write(Parts x, Form to, double factor,
                                         AffineMap map, ValueRange outs) {
  SmallVector<Value> ins{x.re};
  if (to != Form::Real)
    ins.push_back(x.im);
  SmallVector<AffineMap> maps(ins.size(), map);
  maps.append(outs.size(), b.getMultiDimIdentityMap(map.getNumDims()));
  SmallVector<utils::IteratorType> parallel(map.getNumDims(),
                                            utils::IteratorType::parallel);
  Value by = factor == 1 ? Value() : l.number(type, factor);
  return l.generic(
      ins, outs, maps, parallel, [&](ValueRange args) -> SmallVector<Value> {
        SmallVector<Value> parts(args.take_front(ins.size()));
        if (by)
          for (Value &part : parts)
            part = times(part, by);
        if (to != Form::Complex)
          return parts;
        return {complex::CreateOp::create(b, ComplexType::get(type), parts[0],
                                          parts[1])
                    .getResult()};
      });
}

Value FourierEmitter::take(Value tensor, int64_t dim, int64_t count,
                           int64_t first) {
  SmallVector<OpFoldResult> sizes = l.sizes(tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  sizes[dim] = b.getIndexAttr(count);
  offsets[dim] = b.getIndexAttr(first);
  return l.slice(tensor, offsets, sizes, ones);
}

// `tensor` with `update` from element `first` of `dim` on.
Value FourierEmitter::put(Value update, Value tensor, int64_t dim,
                          int64_t first) {
  SmallVector<OpFoldResult> sizes = l.sizes(update);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(first);
  return l.insert(update, tensor, offsets, sizes, ones);
}

// All dims as they are, but `dim` at `at`.
AffineMap FourierEmitter::alongMap(int64_t rank, int64_t dim, AffineExpr at) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < rank; ++i)
    exprs.push_back(i == dim ? at : b.getAffineDimExpr(i));
  return AffineMap::get(rank, 0, exprs, b.getContext());
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

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
  if (l.manyThreads)
    return transformByThreads(x, dim, sign);
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

//===----------------------------------------------------------------------===//
// For many threads
//===----------------------------------------------------------------------===//

/// f32 numbers of a line that a kernel does as a whole, at most, and factors of
/// its length; of other types as many bytes.
static constexpr int64_t kMostInBlock = 4096, kMostRadix = 13;
/// Larger factors than this are not worth a matrix.
static constexpr int64_t kMostMatrix = 61;

static int64_t largestPrime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p)
      largest = p;
  return std::max(largest, n);
}

Parts FourierEmitter::transformByThreads(Parts x, int64_t dim, int sign) {
  int64_t n = shapeOf(x.re)[dim],
          most = kMostInBlock * 32 / type.getWidth(), prime = largestPrime(n);
  if (prime > kMostMatrix)
    return convolve(x, dim, sign);
  if (prime > kMostRadix)
    return peel(x, dim, prime, sign);
  if (n <= most)
    return leave(x, dim, sign);
  // The smallest factor that leaves a line that fits, or a large one.
  int64_t radix = 0;
  for (int64_t r = 2; r <= 16 && (radix == 0 || n / radix > most); ++r)
    if (n % r == 0)
      radix = r;
  return peel(x, dim, radix, sign);
}

// Parts change places where turns are the other way round: i conj(x) = swap(x).
Parts FourierEmitter::leave(Parts x, int64_t dim, int sign) {
  int64_t n = shapeOf(x.re)[dim];
  auto numbers = [&](llvm::function_ref<double(int64_t)> element) {
    Value column = table({n, 1}, [&](int64_t i, int64_t) { return element(i); });
    auto all = column.getDefiningOp<arith::ConstantOp>();
    return l.constant(cast<DenseElementsAttr>(all.getValue())
                          .reshape(RankedTensorType::get({n}, type)));
  };
  Value cosines = numbers([&](int64_t i) { return cosTurn(i, n); }),
        sines = numbers([&](int64_t i) { return -sinTurn(i, n); });
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

// One stage; what is left are `radix` lines, whose elements then take turns.
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
  AffineMap turned = AffineMap::get(rank + 1, 0, exprs, b.getContext());
  std::swap(lines[dim], lines[dim + 1]);
  std::swap(linesSizes[dim], linesSizes[dim + 1]);
  x = pair({x.re, x.im}, linesSizes, {turned, turned},
           [&](ValueRange args) -> SmallVector<Value> {
             return {args[0], args[1]};
           });
  return {reshaped(x.re, whole, wholeSizes), reshaped(x.im, whole, wholeSizes)};
}

// Each element times a number of its own.
Parts FourierEmitter::turn(
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
    std::complex<double> turned =
        odd[k] * std::complex<double>(cosTurn(k, n), -sinTurn(k, n));
    x[k] = even[k] + turned;
    x[k + n / 2] = even[k] - turned;
  }
}

// jk = (j^2 + k^2 - (k - j)^2) / 2: what is left is a convolution with w^-(j^2 / 2),
// which a longer transform does.
Parts FourierEmitter::convolve(Parts x, int64_t dim, int sign) {
  int64_t n = shapeOf(x.re)[dim];
  int64_t m = llvm::PowerOf2Ceil(2 * n - 1);
  // The angle is reduced in integers: j^2 modulo 2n.
  auto chirp = [&](int64_t j) {
    int64_t turns = static_cast<int64_t>(
        static_cast<unsigned __int128>(j) * j % (2 * n));
    return std::complex<double>(cosTurn(turns, 2 * n),
                                sign * sinTurn(turns, 2 * n));
  };
  std::vector<std::complex<double>> filter(m);
  for (int64_t j = 0; j < n; ++j)
    filter[j] = filter[(m - j) % m] =
        std::conj(chirp(j)) / static_cast<double>(m);
  transformInPlace(filter);
  x = turn(x, dim, chirp);
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  sizes[dim] = b.getIndexAttr(m);
  auto padded = [&](Value part) {
    return put(part, l.filled(sizes, l.zero(type)), dim, 0);
  };
  Parts longer = transform({padded(x.re), padded(x.im)}, dim, -1);
  longer = turn(longer, dim, [&](int64_t k) { return filter[k]; });
  longer = transform(longer, dim, 1);
  return turn({take(longer.re, dim, n), take(longer.im, dim, n)}, dim, chirp);
}

//===----------------------------------------------------------------------===//
// Real lines
//===----------------------------------------------------------------------===//

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
// w the turn by -k / n, and Z[m] = Z[0].
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
  Value turnRe = table({m + 1, 1}, [&](int64_t k, int64_t) {
    return -sinTurn(k, n) / 2;
  });
  Value turnIm = table({m + 1, 1}, [&](int64_t k, int64_t) {
    return -cosTurn(k, n) / 2;
  });
  AffineExpr k = b.getAffineDimExpr(dim);
  AffineMap same = b.getMultiDimIdentityMap(rank),
            back = alongMap(rank, dim, m - k),
            turn = AffineMap::get(rank, 0, {k, b.getAffineConstantExpr(0)},
                                  b.getContext());
  return pair({re, im, re, im, turnRe, turnIm}, sizes,
              {same, same, back, back, turn, turn},
              [&](ValueRange args) -> SmallVector<Value> {
                Value half = l.number(type, 0.5);
                Value sumRe = times(half, plus(args[0], args[2])),
                      sumIm = times(half, minus(args[1], args[3])),
                      restRe = minus(args[0], args[2]),
                      restIm = plus(args[1], args[3]);
                return {plus(sumRe, minus(times(args[4], restRe),
                                          times(args[5], restIm))),
                        plus(sumIm, plus(times(args[4], restIm),
                                         times(args[5], restRe)))};
              });
}

// The other way: 2 Z[k] = (X[k] + conj X[m - k]) + i w (X[k] - conj X[m - k]), w
// the turn by k / n. Imaginary parts of X[0] and X[m] do not count.
Parts FourierEmitter::transformToReal(Parts x, int64_t dim, int64_t n) {
  if (n % 2 != 0)
    return {transform(extendHermitian(x, dim, n), dim, 1).re, Value()};
  SmallVector<OpFoldResult> sizes = l.sizes(x.re);
  SmallVector<int64_t> shape = shapeOf(x.re);
  int64_t m = n / 2, rank = shape.size();
  shape[dim] = m;
  sizes[dim] = b.getIndexAttr(m);
  Value turnRe =
      table({m, 1}, [&](int64_t k, int64_t) { return -sinTurn(k, n); });
  Value turnIm =
      table({m, 1}, [&](int64_t k, int64_t) { return cosTurn(k, n); });
  AffineExpr k = b.getAffineDimExpr(dim);
  AffineMap same = b.getMultiDimIdentityMap(rank),
            back = alongMap(rank, dim, m - 1 - k),
            turn = AffineMap::get(rank, 0, {k, b.getAffineConstantExpr(0)},
                                  b.getContext());
  Parts z = pair(
      {take(x.re, dim, m), take(x.im, dim, m), take(x.re, dim, m, 1),
       take(x.im, dim, m, 1), turnRe, turnIm},
      sizes,
      {same, same, back, back, turn, turn},
      [&](ValueRange args) -> SmallVector<Value> {
        Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                            linalg::IndexOp::create(b, dim),
                                            l.index(0));
        auto imaginary = [&](Value part) -> Value {
          return arith::SelectOp::create(b, first, l.zero(type), part);
        };
        Value im = imaginary(args[1]), backIm = imaginary(args[3]);
        Value sumRe = plus(args[0], args[2]), sumIm = minus(im, backIm),
              restRe = minus(args[0], args[2]), restIm = plus(im, backIm);
        return {plus(sumRe, minus(times(args[4], restRe),
                                  times(args[5], restIm))),
                plus(sumIm, plus(times(args[4], restIm),
                                 times(args[5], restRe)))};
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

//===----------------------------------------------------------------------===//
// Blocks of lines
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// Elements of `type` in the widest vectors.
static int64_t lanesOf(FloatType type) { return 512 / type.getWidth(); }

// Parts before and after a stage, of as many lines as a vector has lanes, fit.
bool FourierEmitter::hasBlocks(Value in, int64_t dim) {
  auto shape = cast<RankedTensorType>(in.getType());
  if (l.transformBlock == 0 || !shape.hasStaticShape() ||
      shape.getNumElements() == 0 || shape.getDimSize(dim) < 2)
    return false;
  return 4 * shape.getDimSize(dim) * lanesOf(type) * type.getWidth() / 8 <=
         16 * l.transformBlock;
}

// Tensors are seen as (lines, n, inner). A block is (n, g c): g lines of c
// columns side by side. Where there are few columns, many lines; else one line.
SmallVector<Value> FourierEmitter::inBlocks(ValueRange ins, Form from, Form to,
                                            int64_t dim, int64_t count,
                                            double factor, Lines lines) {
  SmallVector<int64_t> shape = shapeOf(ins[0]);
  int64_t n = shape[dim], outer = product(ArrayRef(shape).take_front(dim)),
          inner = product(ArrayRef(shape).drop_front(dim + 1)),
          lanes = lanesOf(type);
  SmallVector<Value> sources;
  for (Value in : ins)
    sources.push_back(reshaped(in, {outer, n, inner}));
  int64_t g = 1, c = inner;
  if (inner < lanes) {
    g = std::min(outer, lanes);
  } else {
    int64_t most = std::max<int64_t>(
        lanes, l.transformBlock / (4 * n * (type.getWidth() / 8)));
    int64_t pieces = llvm::divideCeil(inner, most);
    c = std::min<int64_t>(
        inner, llvm::alignTo(llvm::divideCeil(inner, pieces), lanes));
  }
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  AffineMap swapped = AffineMap::get(3, 0, {j, i, k}, b.getContext());
  SmallVector<OpFoldResult> ones = constants({1, 1, 1});
  // One block of g' lines and c' columns from (line, column) on.
  auto block = [&](OpFoldResult line, OpFoldResult column, int64_t g, int64_t c,
                   ValueRange results) -> SmallVector<Value> {
    SmallVector<OpFoldResult> offsets{line, b.getIndexAttr(0), column};
    SmallVector<Value> slices;
    for (Value source : sources)
      slices.push_back(l.slice(source, offsets, constants({g, n, c}), ones));
    SmallVector<Value> parts = read(slices, from, swapped, constants({n, g, c}));
    for (Value &part : parts)
      part = reshaped(part, {n, g * c});
    Parts x = lines({parts[0], parts.size() > 1 ? parts[1] : Value()}, 0);
    for (Value *part : {&x.re, &x.im})
      if (*part)
        *part = reshaped(*part, {count, g, c});
    SmallVector<Value> places;
    for (Value result : results)
      places.push_back(
          l.slice(result, offsets, constants({g, count, c}), ones));
    SmallVector<Value> next;
    for (auto [made, result] :
         llvm::zip_equal(write(x, to, factor, swapped, places), results))
      next.push_back(l.insert(made, result, offsets, constants({g, count, c}),
                              ones));
    return next;
  };
  AffineExpr at = b.getAffineSymbolExpr(0);
  SmallVector<Value> results = l.loops(
      constants({outer / g, inner / c}),
      emptyOf(to, constants({outer, count, inner})),
      [&](ValueRange at0, ValueRange carried) {
        return block(l.affine(at * g, OpFoldResult(at0[0])),
                     l.affine(at * c, OpFoldResult(at0[1])), g, c, carried);
      });
  if (outer % g != 0)
    results = block(b.getIndexAttr(outer - outer % g), b.getIndexAttr(0),
                    outer % g, c, results);
  if (inner % c != 0)
    results = l.loops(constants({outer}), results,
                      [&](ValueRange at0, ValueRange carried) {
                        return block(OpFoldResult(at0[0]),
                                     b.getIndexAttr(inner - inner % c), 1,
                                     inner % c, carried);
                      });
  shape[dim] = count;
  for (Value &result : results)
    result = reshaped(result, shape);
  return results;
}

SmallVector<Value> FourierEmitter::alongDim(ValueRange ins, Form from, Form to,
                                            int64_t dim, int64_t count,
                                            double factor, Lines lines) {
  if (hasBlocks(ins[0], dim))
    return inBlocks(ins, from, to, dim, count, factor, lines);
  SmallVector<OpFoldResult> sizes = l.sizes(ins[0]);
  AffineMap same = b.getMultiDimIdentityMap(sizes.size());
  SmallVector<Value> parts(ins);
  if (from == Form::Complex)
    parts = read(ins, from, same, sizes);
  Parts x = lines({parts[0], parts.size() > 1 ? parts[1] : Value()}, dim);
  if (to == Form::Parts && factor == 1)
    return {x.re, x.im};
  sizes[dim] = b.getIndexAttr(count);
  return write(x, to, factor, same, emptyOf(to, sizes));
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
  stablehlo::FftType kind = op.getFftType();
  bool forward = kind == stablehlo::FftType::FFT ||
                 kind == stablehlo::FftType::RFFT;
  int sign = forward ? -1 : 1;
  double factor = 1;
  if (!forward)
    for (int64_t n : length)
      factor /= static_cast<double>(n);
  // A real side of the last dim comes first, or last.
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(first, rank));
  if (kind == stablehlo::FftType::RFFT)
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  SmallVector<Value> values{input};
  for (int64_t dim : dims) {
    Form in = dim != dims.front() ? Form::Parts
              : complex           ? Form::Complex
                                  : Form::Real;
    bool end = dim == dims.back(), real = !isa<ComplexType>(to.getElementType());
    Form out = !end ? Form::Parts : real ? Form::Real : Form::Complex;
    int64_t n = length[dim - first];
    values = emitter.alongDim(
        values, in, out, dim, to.getDimSize(dim), end ? factor : 1,
        [&](Parts x, int64_t along) {
          if (kind == stablehlo::FftType::RFFT && dim == last)
            return emitter.transformReal(x, along, n);
          if (kind == stablehlo::FftType::IRFFT && dim == last)
            return emitter.transformToReal(x, along, n);
          return emitter.transform(x, along, sign);
        });
  }
  l.set(op, values[0]);
  return success();
}

void shardc::lowering::addFourier(LoweringTable &table) {
  table.op<stablehlo::FftOp>(lowerFft);
}
