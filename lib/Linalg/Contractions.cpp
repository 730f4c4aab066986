//===- Contractions.cpp - dot_general and convolution ---------------------===//
//
// Each is one linalg.generic whose body multiplies and adds, whatever the
// layout: batch, group and free dims are parallel, the others reductions.
// Floats narrower than 32 bits accumulate in f32 and are rounded once.
//
//===----------------------------------------------------------------------===//
#include "AnyOrder.h"
#include "Complex.h"
#include "NarrowFloats.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/StableHLO/IR/Precision.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

//===----------------------------------------------------------------------===//
// The common body
//===----------------------------------------------------------------------===//

// The type that a result of element type `type` is accumulated in.
static Type accumulatorType(Type type) {
  auto narrow = dyn_cast<FloatType>(type);
  return narrow ? computeType(narrow) : type;
}

static Value multiply(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  Type type = lhs.getType();
  if (isa<FloatType>(type))
    return arith::MulFOp::create(b, lhs, rhs);
  if (isa<ComplexType>(type))
    return complexMultiplyPlainly(b, {lhs, rhs});
  if (type.isInteger(1))
    return arith::AndIOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

static Value add(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  Type type = lhs.getType();
  if (isa<FloatType>(type))
    return arith::AddFOp::create(b, lhs, rhs);
  if (isa<ComplexType>(type))
    return complexAdd(b, {lhs, rhs});
  if (type.isInteger(1))
    return arith::OrIOp::create(b, lhs, rhs);
  return arith::AddIOp::create(b, lhs, rhs);
}

// Sum of products over `maps`, of element type `element`.
static Value contract(Lowerer &l, Operation *op, Value lhs, Value rhs,
                      ArrayRef<OpFoldResult> sizes, Type element,
                      ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators) {
  ImplicitLocOpBuilder &b = l.b;
  Type lhsSource = elementType(op->getOperand(0).getType());
  Type rhsSource = elementType(op->getOperand(1).getType());
  Type resultSource = elementType(op->getResult(0).getType());
  Type sumSource = accumulatorType(resultSource);
  Type accumulator = signlessType(sumSource);
  // An outer product adds nothing up: it is elementwise, and writes only.
  bool sums = llvm::is_contained(iterators, utils::IteratorType::reduction);
  Value start =
      sums ? l.filled(sizes, l.zero(accumulator)) : l.empty(sizes, accumulator);
  Value sum =
      l.generic({lhs, rhs}, start, maps, iterators,
                [&](ValueRange args) -> SmallVector<Value> {
                  Value x = convertScalar(b, args[0], lhsSource, sumSource);
                  Value y = convertScalar(b, args[1], rhsSource, sumSource);
                  Value product = multiply(b, x, y);
                  std::optional<spmd::TensorFloatKind> asked =
                      spmd::symbolizeTensorFloatKind(
                          stablehlo::tensorFloatOf(op));
                  // Numbers of 8 bits are what they were.
                  bool areWhole = x == args[0] && y == args[1];
                  bool areNarrow =
                      isNarrowFloat(lhsSource) && isNarrowFloat(rhsSource);
                  if (x.getType().isF32() && asked &&
                      (areWhole ||
                       (areNarrow && *asked == spmd::TensorFloatKind::Default)))
                    spmd::contract::TensorFloat::set(
                        product.getDefiningOp(),
                        spmd::TensorFloatKindAttr::get(b.getContext(), *asked));
                  if (!sums)
                    return {product};
                  Value total = add(b, args[2], product);
                  markAnyOrder(total);
                  markRoundedOnce(total);
                  return {total};
                })
          .front();
  if (accumulator == element)
    return sum;
  bool isRounded = isa<FloatType>(accumulator) && isa<FloatType>(element);
  return l.map(
      sum, l.empty(sizes, element), [&](ValueRange args) -> SmallVector<Value> {
        return {isRounded ? fromComputeType(b, args[0], element)
                          : convertScalar(b, args[0], sumSource, resultSource)};
      });
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

// A map from loops to the operand behind a view: `loops[i]` is the loop of the
// operand's dim i, before the view.
static AffineMap operandMap(const View &view, ArrayRef<unsigned> loops,
                            unsigned count, MLIRContext *ctx) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : view.dims)
    exprs.push_back(getAffineDimExpr(loops[dim], ctx));
  return AffineMap::get(count, 0, exprs, ctx);
}

static LogicalResult lowerDot(Lowerer &l, Operation *op,
                              ArrayRef<int64_t> lhsBatch,
                              ArrayRef<int64_t> rhsBatch,
                              ArrayRef<int64_t> lhsContracting,
                              ArrayRef<int64_t> rhsContracting) {
  MLIRContext *ctx = l.b.getContext();
  Value lhs = op->getOperand(0), rhs = op->getOperand(1),
        result = op->getResult(0);
  auto type = cast<RankedTensorType>(signlessType(result.getType()));
  int64_t lhsRank = cast<RankedTensorType>(lhs.getType()).getRank();
  int64_t rhsRank = cast<RankedTensorType>(rhs.getType()).getRank();
  unsigned count = type.getRank() + lhsContracting.size();
  SmallVector<unsigned> lhsLoops(lhsRank), rhsLoops(rhsRank);
  SmallVector<OpFoldResult> sizes;
  Value lhsTensor = l.tensor(lhs), rhsTensor = l.tensor(rhs);
  unsigned loop = 0;
  for (auto [i, j] : llvm::zip(lhsBatch, rhsBatch)) {
    sizes.push_back(l.size(lhsTensor, i));
    lhsLoops[i] = rhsLoops[j] = loop++;
  }
  for (int64_t i = 0; i < lhsRank; ++i)
    if (!llvm::is_contained(lhsBatch, i) &&
        !llvm::is_contained(lhsContracting, i)) {
      sizes.push_back(l.size(lhsTensor, i));
      lhsLoops[i] = loop++;
    }
  for (int64_t j = 0; j < rhsRank; ++j)
    if (!llvm::is_contained(rhsBatch, j) &&
        !llvm::is_contained(rhsContracting, j)) {
      sizes.push_back(l.size(rhsTensor, j));
      rhsLoops[j] = loop++;
    }
  for (auto [i, j] : llvm::zip(lhsContracting, rhsContracting))
    lhsLoops[i] = rhsLoops[j] = loop++;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim))
      sizes[dim] = l.b.getIndexAttr(type.getDimSize(dim));

  View lhsView = l.view(lhs, /*throughBroadcasts=*/false);
  View rhsView = l.view(rhs, /*throughBroadcasts=*/false);
  SmallVector<AffineMap> maps = {operandMap(lhsView, lhsLoops, count, ctx),
                                 operandMap(rhsView, rhsLoops, count, ctx),
                                 leadingDims(count, type.getRank(), ctx)};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.append(lhsContracting.size(), utils::IteratorType::reduction);
  Value sum = contract(l, op, l.viewBase(lhsView), l.viewBase(rhsView), sizes,
                       type.getElementType(), maps, iterators);
  if (!sum)
    return failure();
  l.set(result, sum);
  return success();
}

static LogicalResult lowerDotGeneral(Lowerer &l, stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return lowerDot(
      l, op, dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
      dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
}

static LogicalResult lowerPlainDot(Lowerer &l, stablehlo::DotOp op) {
  int64_t rank = cast<RankedTensorType>(op.getLhs().getType()).getRank();
  return lowerDot(l, op, {}, {}, {rank - 1}, {0});
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

// How many windows fit in `extent` elements.
static OpFoldResult windowsIn(Lowerer &l, OpFoldResult extent,
                              OpFoldResult window, int64_t stride,
                              int64_t dilation) {
  AffineExpr s0 = l.b.getAffineSymbolExpr(0), s1 = l.b.getAffineSymbolExpr(1);
  OpFoldResult count = l.affine(
      (s0 - (s1 - 1) * dilation - 1).floorDiv(stride) + 1, {extent, window});
  if (getConstantIntValue(count))
    return count;
  return arith::MaxSIOp::create(l.b, l.value(count), l.index(0)).getResult();
}

// The convolution of a padded lhs, its result of `type`; null after an error.
// Groups split dims in (group, rest); the result's are joined again, unless
// each group has one feature.
static Value sumOfWindows(Lowerer &l, stablehlo::ConvolutionOp op, Value lhs,
                          Value rhs, RankedTensorType type) {
  ImplicitLocOpBuilder &b = l.b;
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  size_t spatial = dims.getInputSpatialDimensions().size();
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides = op.getWindowStridesOrOnes();
  SmallVector<int64_t> dilations = op.getRhsDilationOrOnes();
  int64_t featureGroups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  int64_t groups = featureGroups * batchGroups;
  int64_t outBatch = dims.getOutputBatchDimension(),
          outFeature = dims.getOutputFeatureDimension();
  bool grouped = groups > 1;
  // One feature a group: the feature says the group.
  bool alone =
      grouped &&
      cast<RankedTensorType>(rhs.getType())
              .getDimSize(dims.getKernelOutputFeatureDimension()) == groups;

  // Loops: the result's dims in their order, the group before its feature dim;
  // then the window, then input features.
  SmallVector<AffineExpr> outLoops(rank);
  SmallVector<OpFoldResult> sizes;
  AffineExpr group;
  unsigned loop = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (grouped && !alone && dim == outFeature) {
      group = b.getAffineDimExpr(loop++);
      sizes.push_back(b.getIndexAttr(groups));
    }
    outLoops[dim] = b.getAffineDimExpr(loop++);
    sizes.push_back(type.isDynamicDim(dim)
                        ? OpFoldResult()
                        : b.getIndexAttr(type.getDimSize(dim)));
  }
  if (alone)
    group = outLoops[outFeature];
  unsigned parallel = loop;
  auto setSize = [&](int64_t dim, OpFoldResult size) {
    sizes[cast<AffineDimExpr>(outLoops[dim]).getPosition()] = size;
  };
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  setSize(outFeature,
          l.affine(s0.floorDiv(alone ? 1 : groups),
                   l.size(rhs, dims.getKernelOutputFeatureDimension())));
  if (type.isDynamicDim(outBatch))
    setSize(outBatch, l.affine(s0.floorDiv(batchGroups),
                               l.size(lhs, dims.getInputBatchDimension())));

  SmallVector<AffineExpr> lhsExprs(rank), rhsExprs(rank);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t in = dims.getInputSpatialDimensions()[i],
            out = dims.getOutputSpatialDimensions()[i];
    int64_t window = dims.getKernelSpatialDimensions()[i];
    AffineExpr k = b.getAffineDimExpr(loop++);
    lhsExprs[in] = outLoops[out] * strides[i] + k * dilations[i];
    rhsExprs[window] = k;
    if (type.isDynamicDim(out))
      setSize(out, windowsIn(l, l.size(lhs, in), l.size(rhs, window),
                             strides[i], dilations[i]));
  }
  AffineExpr feature = b.getAffineDimExpr(loop++);
  lhsExprs[dims.getInputBatchDimension()] = outLoops[outBatch];
  lhsExprs[dims.getInputFeatureDimension()] = feature;
  rhsExprs[dims.getKernelInputFeatureDimension()] = feature;
  rhsExprs[dims.getKernelOutputFeatureDimension()] = outLoops[outFeature];
  SmallVector<AffineExpr> outExprs(outLoops);
  if (grouped) {
    int64_t split = featureGroups > 1 ? dims.getInputFeatureDimension()
                                      : dims.getInputBatchDimension();
    lhs = l.splitDim(lhs, split, groups);
    lhsExprs.insert(lhsExprs.begin() + split, group);
  }
  if (grouped && !alone) {
    rhs = l.splitDim(rhs, dims.getKernelOutputFeatureDimension(), groups);
    rhsExprs.insert(rhsExprs.begin() + dims.getKernelOutputFeatureDimension(),
                    group);
    outExprs.insert(outExprs.begin() + outFeature, group);
  }

  MLIRContext *ctx = b.getContext();
  SmallVector<AffineMap> maps = {AffineMap::get(loop, 0, lhsExprs, ctx),
                                 AffineMap::get(loop, 0, rhsExprs, ctx),
                                 AffineMap::get(loop, 0, outExprs, ctx)};
  SmallVector<utils::IteratorType> iterators(parallel,
                                             utils::IteratorType::parallel);
  iterators.append(loop - parallel, utils::IteratorType::reduction);
  Value sum =
      contract(l, op, lhs, rhs, sizes, type.getElementType(), maps, iterators);
  if (!sum || !grouped || alone)
    return sum;
  SmallVector<ReassociationIndices> joined;
  for (int64_t dim = 0, at = 0; dim < rank; ++dim) {
    joined.push_back({at++});
    if (dim == outFeature)
      joined.back().push_back(at++);
  }
  return tensor::CollapseShapeOp::create(b, sum, joined);
}

namespace {
/// A spatial dim whose elements are `factor` apart, the first at `first`, from
/// where windows begin: in turn, one of `factor` sets of the window's elements
/// reads elements of the input, the others what is between.
///
///   factor 2, first 1, window a b c:   input    . x . y . z
///                                      result   b x, a x + c y, b y, ...
///   phase 0, elements a c:  results 1, 3, ...; phase 1, element b: 0, 2, ...
struct Spread {
  int64_t factor = 1;
  OpFoldResult first, results;
  /// Of each phase.
  struct Phase {
    OpFoldResult from, count; ///< results: from, from + factor, ...
    OpFoldResult begin;       ///< in the padded input
    int64_t window = 0;       ///< elements, none perhaps
  };
  SmallVector<Phase> phases;
};

/// A convolution of a lhs some dims of which are spread apart, by phases:
/// nothing is multiplied with what is between.
class Phases {
public:
  Phases(Lowerer &l, stablehlo::ConvolutionOp op)
      : l(l), b(l.b), op(op), dims(op.getDimensionNumbers()),
        type(cast<RankedTensorType>(signlessType(op.getType()))),
        spreads(dims.getInputSpatialDimensions().size()) {}

  /// Says which dims are spread apart, and by what lhs before that; false if
  /// none is.
  bool find();
  /// True where the convolution's own dilation of spatial dim `i` is done here.
  bool takes(size_t i) const { return spreads[i].factor > 1; }
  Value source() const { return lhs; }
  /// The padding of spatial dim `i`.
  std::pair<OpFoldResult, OpFoldResult> padding(size_t i);
  /// The whole, of a padded lhs.
  Value emit(Value padded, Value rhs);

private:
  OpFoldResult atLeast(OpFoldResult value, OpFoldResult bound);
  /// Whether spatial dim `i` can be done by phases, of which there are
  /// `factor`.
  bool canTake(size_t i, int64_t factor);
  Value emitPhase(Value padded, Value rhs, ArrayRef<size_t> phase,
                  Value result);

  Lowerer &l;
  ImplicitLocOpBuilder &b;
  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr dims;
  RankedTensorType type;
  SmallVector<Spread> spreads;
  Value lhs;
};
} // namespace

OpFoldResult Phases::atLeast(OpFoldResult value, OpFoldResult bound) {
  auto x = getConstantIntValue(value), y = getConstantIntValue(bound);
  if (x && y)
    return b.getIndexAttr(std::max(*x, *y));
  return arith::MaxSIOp::create(b, l.value(value), l.value(bound)).getResult();
}

bool Phases::canTake(size_t i, int64_t factor) {
  // Each phase of each dim is a kernel.
  constexpr int64_t most = 16;
  for (const Spread &spread : spreads)
    factor *= spread.factor;
  auto rhs = cast<RankedTensorType>(op.getRhs().getType());
  return factor <= most && op.getWindowStridesOrOnes()[i] == 1 &&
         op.getRhsDilationOrOnes()[i] == 1 &&
         !rhs.isDynamicDim(dims.getKernelSpatialDimensions()[i]);
}

bool Phases::find() {
  Value source = op.getLhs();
  ArrayRef<int64_t> in = dims.getInputSpatialDimensions();
  OpFoldResult zero = b.getIndexAttr(0);
  SmallVector<int64_t> own = op.getLhsDilationOrOnes();
  for (size_t i : llvm::seq(spreads.size()))
    if (own[i] > 1 && canTake(i, own[i])) {
      spreads[i].factor = own[i];
      spreads[i].first = zero;
    }
  // What ranks spread apart, each from an element of its own.
  SmallVector<OpFoldResult> extents(spreads.size());
  while (auto dilate = source.getDefiningOp<spmd::DilateOp>()) {
    size_t i = llvm::find(in, int64_t(dilate.getDim())) - in.begin();
    if (i == in.size() || own[i] != 1 || takes(i) ||
        !canTake(i, dilate.getFactor()) ||
        !matchPattern(dilate.getFill(), m_AnyZeroFloat()))
      break;
    auto number = [&](Value value) -> OpFoldResult {
      APInt known;
      if (matchPattern(value, m_ConstantInt(&known)))
        return b.getIndexAttr(known.getSExtValue());
      return l.tensor(value);
    };
    spreads[i].factor = dilate.getFactor();
    spreads[i].first = number(dilate.getFirst());
    extents[i] = number(dilate.getSize());
    source = dilate.getInput();
  }
  lhs = l.tensor(source);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  bool any = false;
  for (auto [i, spread] : llvm::enumerate(spreads)) {
    int64_t factor = spread.factor;
    if (factor == 1)
      continue;
    any = true;
    auto [before, after] = op.getPaddingOrZeros()[i];
    int64_t window = cast<RankedTensorType>(op.getRhs().getType())
                         .getDimSize(dims.getKernelSpatialDimensions()[i]);
    int64_t out = dims.getOutputSpatialDimensions()[i];
    spread.first = l.affine(s0 + before, spread.first);
    spread.results = b.getIndexAttr(type.getDimSize(out));
    if (type.isDynamicDim(out)) {
      if (!extents[i])
        extents[i] =
            atLeast(l.affine((s0 - 1) * factor + 1, l.size(lhs, in[i])), zero);
      spread.results = atLeast(
          l.affine(s0 + (before + after - window + 1), extents[i]), zero);
    }
    for (int64_t at : llvm::seq(factor)) {
      Spread::Phase phase;
      phase.window =
          std::max<int64_t>(llvm::divideCeilSigned(window - at, factor), 0);
      phase.from = l.affine((s0 - at) % factor, spread.first);
      phase.count =
          l.affine((s0 - s1).ceilDiv(factor), {spread.results, phase.from});
      // How far before the input its first window begins.
      phase.begin = l.affine((s0 - at).floorDiv(factor), spread.first);
      spread.phases.push_back(phase);
    }
  }
  return any;
}

std::pair<OpFoldResult, OpFoldResult> Phases::padding(size_t i) {
  Spread &spread = spreads[i];
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1),
             s2 = b.getAffineSymbolExpr(2);
  OpFoldResult zero = b.getIndexAttr(0), end = zero;
  // The first phase begins first.
  OpFoldResult low = atLeast(spread.phases.front().begin, zero);
  for (Spread::Phase &phase : spread.phases) {
    phase.begin = l.affine(s0 - s1, {low, phase.begin});
    if (phase.window > 0)
      end = atLeast(
          l.affine(s0 + s1 + (phase.window - 1), {phase.begin, phase.count}),
          end);
  }
  OpFoldResult size = l.size(lhs, dims.getInputSpatialDimensions()[i]);
  return {low, atLeast(l.affine(s0 - s1 - s2, {end, low, size}), zero)};
}

Value Phases::emitPhase(Value padded, Value rhs, ArrayRef<size_t> chosen,
                        Value result) {
  int64_t rank = type.getRank();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> none(rank, zero), ones(rank, one);
  SmallVector<OpFoldResult> begin(none), extent = l.sizes(padded);
  SmallVector<OpFoldResult> windowBegin(none), windowStep(ones),
      window = l.sizes(rhs);
  SmallVector<OpFoldResult> from(none), step(ones);
  SmallVector<int64_t> shape(type.getShape());
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  for (auto [i, spread] : llvm::enumerate(spreads)) {
    if (spread.factor == 1)
      continue;
    const Spread::Phase &phase = spread.phases[chosen[i]];
    auto count = getConstantIntValue(phase.count);
    if (phase.window == 0 || (count && *count <= 0))
      return result;
    int64_t in = dims.getInputSpatialDimensions()[i],
            out = dims.getOutputSpatialDimensions()[i],
            kernel = dims.getKernelSpatialDimensions()[i];
    begin[in] = phase.begin;
    extent[in] = l.affine(s0 + (phase.window - 1), phase.count);
    windowBegin[kernel] = b.getIndexAttr(chosen[i]);
    window[kernel] = b.getIndexAttr(phase.window);
    windowStep[kernel] = b.getIndexAttr(spread.factor);
    from[out] = phase.from;
    step[out] = b.getIndexAttr(spread.factor);
    shape[out] = count.value_or(ShapedType::kDynamic);
  }
  Value sum = sumOfWindows(l, op, l.slice(padded, begin, extent, ones),
                           l.slice(rhs, windowBegin, window, windowStep),
                           type.clone(shape));
  return sum ? l.insert(sum, result, from, l.sizes(sum), step) : Value();
}

Value Phases::emit(Value padded, Value rhs) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult()
                                                : b.getIndexAttr(size));
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  auto missing = [&](int64_t dim) -> OpFoldResult * {
    return sizes[dim] ? nullptr : &sizes[dim];
  };
  if (OpFoldResult *size = missing(dims.getOutputBatchDimension()))
    *size = l.affine(s0.floorDiv(int64_t(op.getBatchGroupCount())),
                     l.size(padded, dims.getInputBatchDimension()));
  if (OpFoldResult *size = missing(dims.getOutputFeatureDimension()))
    *size = l.size(rhs, dims.getKernelOutputFeatureDimension());
  bool whole = true;
  for (auto [i, spread] : llvm::enumerate(spreads)) {
    for (const Spread::Phase &phase : spread.phases)
      whole &= phase.window > 0;
    OpFoldResult *size = missing(dims.getOutputSpatialDimensions()[i]);
    if (size && spread.factor > 1)
      *size = spread.results;
    else if (size)
      *size = windowsIn(l, l.size(padded, dims.getInputSpatialDimensions()[i]),
                        l.size(rhs, dims.getKernelSpatialDimensions()[i]),
                        op.getWindowStridesOrOnes()[i],
                        op.getRhsDilationOrOnes()[i]);
  }
  Value result = whole ? l.empty(sizes, type.getElementType())
                       : l.filled(sizes, l.zero(type.getElementType()));
  SmallVector<size_t> chosen(spreads.size(), 0);
  while (true) {
    result = emitPhase(padded, rhs, chosen, result);
    size_t i = 0;
    for (; i < chosen.size(); ++i) {
      if (++chosen[i] < size_t(spreads[i].factor))
        break;
      chosen[i] = 0;
    }
    if (!result || i == chosen.size())
      return result;
  }
}

// Padding and base dilation make a larger lhs, window reversal a reversed rhs.
// An empty window gives zeros, as many as the type says.
static LogicalResult lowerConvolution(Lowerer &l, stablehlo::ConvolutionOp op) {
  ImplicitLocOpBuilder &b = l.b;
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  int64_t rank = type.getRank();
  // Many small kernels are no gain where threads are many.
  Phases phases(l, op);
  bool spread = !l.manyThreads && phases.find();
  Value lhs = spread ? phases.source() : l.tensor(op.getLhs());
  Value rhs = l.tensor(op.getRhs());

  SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high(low);
  SmallVector<int64_t> interior(rank, 0), reversed;
  for (auto [i, dim] : llvm::enumerate(dims.getInputSpatialDimensions())) {
    if (op.getWindowReversalOrFalse()[i])
      reversed.push_back(dims.getKernelSpatialDimensions()[i]);
    if (spread && phases.takes(i)) {
      std::tie(low[dim], high[dim]) = phases.padding(i);
      continue;
    }
    auto [before, after] = op.getPaddingOrZeros()[i];
    low[dim] = b.getIndexAttr(before);
    high[dim] = b.getIndexAttr(after);
    interior[dim] = op.getLhsDilationOrOnes()[i] - 1;
  }
  lhs = l.pad(lhs, l.zero(elementType(lhs.getType())), low, high, interior);
  if (!reversed.empty())
    rhs = l.reverse(rhs, reversed);
  Value result =
      spread ? phases.emit(lhs, rhs) : sumOfWindows(l, op, lhs, rhs, type);
  if (!result)
    return failure();
  l.set(op, result);
  return success();
}

void shardc::lowering::addContractions(LoweringTable &table) {
  table.op<stablehlo::DotGeneralOp>(lowerDotGeneral);
  table.op<stablehlo::DotOp>(lowerPlainDot);
  table.op<stablehlo::ConvolutionOp>(lowerConvolution);
}
