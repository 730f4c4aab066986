//===- Contractions.cpp - dot_general and convolution ---------------------===//
//
// Each is one linalg.generic whose body multiplies and adds, whatever the
// layout: batch, group and free dims are parallel, the others reductions.
// Floats narrower than 32 bits accumulate in f32 and are rounded once.
//
//===----------------------------------------------------------------------===//
#include "AnyOrder.h"
#include "Complex.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

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

// What a program asks of a product of f32 (KernelGen/GPU.h); nothing where it
// is to be exact.
static StringRef tensorFloat(Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    if (auto algorithm = dot.getAlgorithmAttr()) {
      if (!isa<FloatTF32Type>(algorithm.getLhsPrecisionType()) ||
          !isa<FloatTF32Type>(algorithm.getRhsPrecisionType()))
        return "";
      return algorithm.getNumPrimitiveOperations() == 1 ? "tf32" : "tf32x3";
    }
  auto config = op->getAttrOfType<ArrayAttr>("precision_config");
  StringRef least = "default";
  if (!config)
    return least;
  for (auto each : config.getAsRange<stablehlo::PrecisionAttr>()) {
    if (each.getValue() == stablehlo::Precision::HIGHEST)
      return "";
    if (each.getValue() == stablehlo::Precision::HIGH)
      least = "high";
  }
  return least;
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
                  StringRef asked = tensorFloat(op);
                  if (x.getType().isF32() && x == args[0] && y == args[1] &&
                      !asked.empty())
                    spmd::contract::TensorFloat::set(product.getDefiningOp(),
                                                     b.getStringAttr(asked));
                  if (!sums)
                    return {product};
                  Value total = add(b, args[2], product);
                  markAnyOrder(total);
                  if (spmd::contract::WholeSum::has(op))
                    markRoundedOnce(total);
                  return {total};
                })
          .front();
  if (accumulator == element)
    return sum;
  return l.map(sum, l.empty(sizes, element),
               [&](ValueRange args) -> SmallVector<Value> {
                 return {convertScalar(b, args[0], sumSource, resultSource)};
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

// Padding and base dilation make a larger lhs, window reversal a reversed rhs.
// Groups split dims in (group, rest); the result's are joined again.
static LogicalResult lowerConvolution(Lowerer &l, stablehlo::ConvolutionOp op) {
  ImplicitLocOpBuilder &b = l.b;
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  Value lhs = l.tensor(op.getLhs()), rhs = l.tensor(op.getRhs());
  auto lhsType = cast<RankedTensorType>(lhs.getType());
  size_t spatial = dims.getInputSpatialDimensions().size();
  int64_t rank = type.getRank();

  SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high(low);
  SmallVector<int64_t> interior(rank, 0), reversed;
  SmallVector<int64_t> strides = op.getWindowStridesOrOnes();
  SmallVector<int64_t> dilations = op.getRhsDilationOrOnes();
  for (size_t i = 0; i < spatial; ++i) {
    int64_t dim = dims.getInputSpatialDimensions()[i];
    auto [before, after] = op.getPaddingOrZeros()[i];
    low[dim] = b.getIndexAttr(before);
    high[dim] = b.getIndexAttr(after);
    interior[dim] = op.getLhsDilationOrOnes()[i] - 1;
    if (op.getWindowReversalOrFalse()[i])
      reversed.push_back(dims.getKernelSpatialDimensions()[i]);
  }
  lhs = l.pad(lhs, l.zero(lhsType.getElementType()), low, high, interior);
  if (!reversed.empty())
    rhs = l.reverse(rhs, reversed);

  int64_t featureGroups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  int64_t groups = featureGroups * batchGroups;
  bool grouped = groups > 1;
  int64_t outBatch = dims.getOutputBatchDimension(),
          outFeature = dims.getOutputFeatureDimension();

  // Loops: the result's dims in their order, the group before its feature dim;
  // then the window, then input features.
  SmallVector<AffineExpr> outLoops(rank);
  SmallVector<OpFoldResult> sizes;
  AffineExpr group;
  unsigned loop = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (grouped && dim == outFeature) {
      group = b.getAffineDimExpr(loop++);
      sizes.push_back(b.getIndexAttr(groups));
    }
    outLoops[dim] = b.getAffineDimExpr(loop++);
    sizes.push_back(type.isDynamicDim(dim)
                        ? OpFoldResult()
                        : b.getIndexAttr(type.getDimSize(dim)));
  }
  unsigned parallel = loop;
  auto setSize = [&](int64_t dim, OpFoldResult size) {
    sizes[cast<AffineDimExpr>(outLoops[dim]).getPosition()] = size;
  };
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  setSize(outFeature,
          l.affine(s0.floorDiv(groups),
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
    if (type.isDynamicDim(out)) {
      OpFoldResult extent =
          l.affine((s0 - (s1 - 1) * dilations[i] - 1).floorDiv(strides[i]) + 1,
                   {l.size(lhs, in), l.size(rhs, window)});
      if (!getConstantIntValue(extent))
        extent =
            arith::MaxSIOp::create(b, l.value(extent), l.index(0)).getResult();
      setSize(out, extent);
    }
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
  if (!sum)
    return failure();
  if (grouped) {
    SmallVector<ReassociationIndices> joined;
    for (int64_t dim = 0, at = 0; dim < rank; ++dim) {
      joined.push_back({at++});
      if (dim == outFeature)
        joined.back().push_back(at++);
    }
    sum = tensor::CollapseShapeOp::create(b, sum, joined);
  }
  l.set(op, sum);
  return success();
}

void shardc::lowering::addContractions(LoweringTable &table) {
  table.op<stablehlo::DotGeneralOp>(lowerDotGeneral);
  table.op<stablehlo::DotOp>(lowerPlainDot);
  table.op<stablehlo::ConvolutionOp>(lowerConvolution);
}
