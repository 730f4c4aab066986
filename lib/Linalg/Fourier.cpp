//===- Fourier.cpp - fft as small contractions ----------------------------===//
//
// A transform of length n = r1 r2 ... is one stage a factor (T. G. Stockham,
// "High-speed convolution and correlation", 1966). Before a stage the dim is
// seen as (done, radix, rest); the stage contracts the radix with an r x r
// matrix, multiplies by twiddle factors, and leaves (radix, done, rest): no bit
// reversal, unit strides. Real and imaginary parts are tensors of their own, so
// that all of it is real arithmetic on long rows. Tables are constants,
// computed in double.
//
// A stage reads and writes all that it is given. With a block size, stages are
// given some lines at a time, side by side: what is between stages stays in a
// cache, and memory is read and written once a dim.
//
//===----------------------------------------------------------------------===//
#include "Fourier.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;
using namespace shardc::lowering::fourier;

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
  return {
      l.empty(sizes, form == Form::Real ? Type(type) : ComplexType::get(type))};
}

// The real tensors of `ins`, element by element through `map`.
SmallVector<Value> FourierEmitter::read(ValueRange ins, Form from,
                                        AffineMap map,
                                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> outs =
      emptyOf(from == Form::Real ? Form::Real : Form::Parts, sizes);
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
  return l.generic(ins, outs, maps, parallel,
                   [&](ValueRange args) -> SmallVector<Value> {
                     SmallVector<Value> parts(args.take_front(ins.size()));
                     if (by)
                       for (Value &part : parts)
                         part = times(part, by);
                     if (to != Form::Complex)
                       return parts;
                     return {complex::CreateOp::create(
                                 b, ComplexType::get(type), parts[0], parts[1])
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

/// A longer convolution takes fewer operations than a product with a matrix of
/// a larger prime: some 900 an element, and 8 for each of its rows (9 ns and
/// 0.08 ns on a core of AVX-512). Both are done in cache, so no figure of the
/// machine matters. [maths]
static constexpr int64_t kMostMatrix = 113;

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
    return cosTwiddle(a * c, radix);
  });
  Value sines = table({radix, radix}, [&](int64_t a, int64_t c) {
    return sign * sinTwiddle(a * c, radix);
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
  Value twiddleRe = table({radix, rest}, [&](int64_t a, int64_t c) {
    return cosTwiddle(a * c, n);
  });
  Value twiddleIm = table({radix, rest}, [&](int64_t a, int64_t c) {
    return sign * sinTwiddle(a * c, n);
  });
  AffineMap all = b.getMultiDimIdentityMap(rank);
  AffineMap twiddleMap = AffineMap::get(
      rank, 0, {getAffineDimExpr(dim, ctx), getAffineDimExpr(dim + 2, ctx)},
      ctx);
  return pair({sums[0], sums[1], twiddleRe, twiddleIm}, out,
              {all, all, twiddleMap, twiddleMap},
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
  if (largestPrime(n) > kMostMatrix)
    return convolve(x, dim, sign);
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
    SmallVector<Value> parts =
        read(slices, from, swapped, constants({n, g, c}));
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
      next.push_back(
          l.insert(made, result, offsets, constants({g, count, c}), ones));
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
    results = l.loops(
        constants({outer}), results, [&](ValueRange at0, ValueRange carried) {
          return block(OpFoldResult(at0[0]), b.getIndexAttr(inner - inner % c),
                       1, inner % c, carried);
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

//===----------------------------------------------------------------------===//
// Lines that the runtime does
//===----------------------------------------------------------------------===//

/// Larger factors than this are better off as products with matrices.
static constexpr int64_t kMostRadix = 61;

static bool isSmooth(int64_t n) {
  for (int64_t p = 2; p <= kMostRadix; ++p)
    while (n % p == 0 && n > 1)
      n /= p;
  return n == 1;
}

/// A real line that the runtime has in one block, as half as many numbers.
static bool isShort(int64_t n, FloatType type) {
  return n * type.getWidth() / 8 <= (n % 2 == 0 ? 32768 : 16384);
}

Value FourierEmitter::leaveLines(Value input, int64_t dim, int64_t n, Form to,
                                 int sign, double factor) {
  auto numbers = [&](llvm::function_ref<double(int64_t)> element) {
    Value column =
        table({n, 1}, [&](int64_t i, int64_t) { return element(i); });
    auto all = column.getDefiningOp<arith::ConstantOp>();
    return l.constant(cast<DenseElementsAttr>(all.getValue())
                          .reshape(RankedTensorType::get({n}, type)));
  };
  Value cosines = numbers([&](int64_t i) { return cosTwiddle(i, n); }),
        sines = numbers([&](int64_t i) { return -sinTwiddle(i, n); });
  SmallVector<OpFoldResult> sizes = l.sizes(input);
  bool isComplex = isa<ComplexType>(getElementTypeOrSelf(input.getType()));
  sizes[dim] = b.getIndexAttr(isComplex ? n : n / 2 + 1);
  Value out =
      l.empty(sizes, to == Form::Real ? Type(type) : ComplexType::get(type));
  auto lines = spmd::LinesOp::create(
      b, out.getType(), spmd::LineKind::Fourier, dim, /*backward=*/sign > 0,
      /*positions=*/false, ValueRange{input, cosines, sines},
      ValueRange{l.number(type, factor)}, ValueRange{out});
  return lines.getResult(0);
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
      return emitOpUnsupported(op, ": dim ")
             << dim << " is transformed and its size is not static";
  // A line of no elements has no transform.
  if (llvm::is_contained(length, 0)) {
    SmallVector<OpFoldResult> sizes = l.sizes(input);
    sizes[last] = l.b.getIndexAttr(to.getDimSize(last));
    l.set(op, l.empty(sizes, to.getElementType()));
    return success();
  }
  FourierEmitter emitter(l, type);
  stablehlo::FftType kind = op.getFftType();
  bool forward =
      kind == stablehlo::FftType::FFT || kind == stablehlo::FftType::RFFT;
  int sign = forward ? -1 : 1;
  double factor = 1;
  if (!forward)
    for (int64_t n : length)
      factor /= static_cast<double>(n);
  // A real side of the last dim comes first, or last.
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(first, rank));
  if (kind == stablehlo::FftType::RFFT)
    std::reverse(dims.begin(), dims.end());
  SmallVector<Value> values{input};
  auto isOurs = [&](int64_t dim) {
    int64_t n = length[dim - first];
    bool isReal = dim == last && (kind == stablehlo::FftType::RFFT ||
                                  kind == stablehlo::FftType::IRFFT);
    return isSmooth(n) && (!isReal || isShort(n, type));
  };
  if (!l.manyThreads && llvm::all_of(dims, isOurs)) {
    for (int64_t dim : dims) {
      bool toReal = dim == last && kind == stablehlo::FftType::IRFFT;
      input = emitter.leaveLines(input, dim, length[dim - first],
                                 toReal ? Form::Real : Form::Complex, sign,
                                 dim == dims.back() ? factor : 1);
    }
    l.set(op, input);
    return success();
  }
  for (int64_t dim : dims) {
    Form in = dim != dims.front() ? Form::Parts
              : complex           ? Form::Complex
                                  : Form::Real;
    bool end = dim == dims.back(),
         real = !isa<ComplexType>(to.getElementType());
    Form out = !end ? Form::Parts : real ? Form::Real : Form::Complex;
    int64_t n = length[dim - first];
    values =
        emitter.alongDim(values, in, out, dim, to.getDimSize(dim),
                         end ? factor : 1, [&](Parts x, int64_t along) {
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
