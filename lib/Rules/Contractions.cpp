//===- Contractions.cpp - Dot products and convolutions -------------------===//
#include "Bands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using spmd::ReductionKind;

/// Products are summed; of i1, both are logical.
static ReductionKind sumOf(Value result) {
  return getElementTypeOrSelf(result.getType()).isInteger(1)
             ? ReductionKind::Or
             : ReductionKind::Sum;
}

/// What the dims are that a product sums over.
static FactorKind summedKind(Operation *op) {
  return spmd::contract::WholeSum::has(op) ? FactorKind::NeedReplication
                                           : FactorKind::Reduction;
}

/// Sums `local`, a product's result, over the ranks. Products may have wider
/// results than operands, so narrow floats stay wide until they are summed.
static LocalResults completeSum(Value local, Localization &localization) {
  return SmallVector<Value>{completeInF32(localization, local, 0, [&] {
    auto type = cast<RankedTensorType>(local.getType());
    local.setType(type.clone(Float32Type::get(type.getContext())));
    return local;
  })};
}

/// The op itself, its results still to be summed over the ranks.
template <typename OpT>
static LocalResults localizeSum(OpT op, Localization &localization) {
  return completeSum(cloneLocal(op, localization)->getResult(0), localization);
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// Result dims: batching, those only of lhs, those only of rhs.
static FailureOr<ShardingRule>
dotRule(Value lhs, Value rhs, Value product, FactorKind summed,
        ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching,
        ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting) {
  ShardingRule rule;
  rule.operands.resize(2);
  TensorRule &left = rule.operands[0], &right = rule.operands[1],
             &result = rule.results.emplace_back();
  left.dims.resize(shapeOf(lhs).size());
  right.dims.resize(shapeOf(rhs).size());
  SmallVector<bool> leftDone(left.dims.size(), false),
      rightDone(right.dims.size(), false);
  auto share = [&](int64_t l, int64_t r, const IndexMap &map) {
    left.dims[l] = map;
    right.dims[r] = map;
    leftDone[l] = rightDone[r] = true;
  };
  for (auto [l, r] : llvm::zip(lhsBatching, rhsBatching)) {
    IndexMap map = passingDim(rule, shapeOf(lhs)[l]);
    share(l, r, map);
    result.dims.push_back(map);
  }
  for (auto [l, r] : llvm::zip(lhsContracting, rhsContracting))
    share(l, r,
          IndexMap::identity(
              rule.addFactor(shapeOf(lhs)[l], summed, sumOf(product))));
  auto addFree = [&](Value value, TensorRule &tensor, ArrayRef<bool> done) {
    for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
      if (done[dim])
        continue;
      tensor.dims[dim] = passingDim(rule, size);
      result.dims.push_back(tensor.dims[dim]);
    }
  };
  addFree(lhs, left, leftDone);
  addFree(rhs, right, rightDone);
  return rule;
}

static FailureOr<ShardingRule> dotGeneralRule(stablehlo::DotGeneralOp op) {
  if (std::optional<BandedProduct> banded = bandedProduct(op))
    return bandedRule(op, *banded);
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return dotRule(
      op.getLhs(), op.getRhs(), op.getResult(), summedKind(op),
      dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
      dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
}

static LocalResults localizeDotGeneral(stablehlo::DotGeneralOp op,
                                       Localization &localization) {
  if (std::optional<BandedProduct> banded = bandedProduct(op))
    return localizeBanded(op, *banded, localization);
  return localizeSum(op, localization);
}

static FailureOr<ShardingRule> plainDotRule(stablehlo::DotOp op) {
  int64_t last = static_cast<int64_t>(shapeOf(op.getLhs()).size()) - 1;
  if (last < 0 || shapeOf(op.getRhs()).empty())
    return failure();
  return dotRule(op.getLhs(), op.getRhs(), op.getResult(),
                 FactorKind::Reduction, {}, {}, {last}, {0});
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// With groups g (of features or of the batch), output features p within a
/// group, input features i within a group, spatial result index o and window
/// index j:
///
///     input     batch n (batch groups: g * N + n), feature i (feature groups:
///               g * I + i), spatial o * stride + j * dilation - low, dilated
///     kernel    input feature i, output feature g * P + p, spatial j
///     result    batch n, feature g * P + p, spatial o
///
/// A reversed window counts j from its other end.
static FailureOr<ShardingRule> convolutionRule(stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> input = shapeOf(op.getLhs()), kernel = shapeOf(op.getRhs()),
                    output = shapeOf(op.getResult());
  int64_t featureGroups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  int64_t groups = std::max(featureGroups, batchGroups);
  int64_t outputFeatures = output[dims.getOutputFeatureDimension()];
  if (groups < 1 || std::min(featureGroups, batchGroups) != 1 ||
      outputFeatures % groups != 0)
    return failure();

  ShardingRule rule;
  rule.operands.resize(2);
  TensorRule &lhs = rule.operands[0], &rhs = rule.operands[1],
             &result = rule.results.emplace_back();
  lhs.fill = Fill::Zero;
  lhs.dims.resize(input.size());
  rhs.dims.resize(kernel.size());
  result.dims.resize(output.size());

  int64_t batch = output[dims.getOutputBatchDimension()];
  int64_t inputFeatures = kernel[dims.getKernelInputFeatureDimension()];
  IndexMap n = passingDim(rule, batch);
  IndexMap i = IndexMap::identity(
      rule.addFactor(inputFeatures, summedKind(op), sumOf(op.getResult())));
  IndexMap p = passingDim(rule, outputFeatures / groups);
  IndexMap inputBatch = n, inputFeature = i, outputFeature = p;
  if (groups > 1) {
    int64_t group = rule.addFactor(groups);
    rule.factors[group].evenOnly = true;
    // What is minor to a group in some dim stays whole: a part of every group
    // is no block.
    auto merge = [&](IndexMap minor) {
      Factor &inner = rule.factors[minor.terms[0].factor];
      if (inner.size > 1)
        inner.kind = FactorKind::NeedReplication;
      minor.terms.insert(minor.terms.begin(), {group, inner.size});
      return minor;
    };
    outputFeature = merge(p);
    if (featureGroups > 1)
      inputFeature = merge(i);
    else
      inputBatch = merge(n);
  }
  lhs.dims[dims.getInputBatchDimension()] = inputBatch;
  lhs.dims[dims.getInputFeatureDimension()] = inputFeature;
  rhs.dims[dims.getKernelInputFeatureDimension()] = i;
  rhs.dims[dims.getKernelOutputFeatureDimension()] = outputFeature;
  result.dims[dims.getOutputBatchDimension()] = n;
  result.dims[dims.getOutputFeatureDimension()] = outputFeature;

  SmallVector<int64_t> strides = op.getWindowStridesOrOnes(),
                       lhsDilation = op.getLhsDilationOrOnes(),
                       rhsDilation = op.getRhsDilationOrOnes();
  SmallVector<std::pair<int64_t, int64_t>> padding = op.getPaddingOrZeros();
  SmallVector<bool> reversal = op.getWindowReversalOrFalse();
  for (size_t d = 0; d < dims.getInputSpatialDimensions().size(); ++d) {
    int64_t window = kernel[dims.getKernelSpatialDimensions()[d]];
    int64_t numResults = output[dims.getOutputSpatialDimensions()[d]];
    IndexMap &map = lhs.dims[dims.getInputSpatialDimensions()[d]];
    if (window == 0) {
      // How many results there are follows from what none of them reads.
      map = wholeDim(rule, input[dims.getInputSpatialDimensions()[d]]);
      rhs.dims[dims.getKernelSpatialDimensions()[d]] = wholeDim(rule, window);
      result.dims[dims.getOutputSpatialDimensions()[d]] =
          wholeDim(rule, numResults);
      continue;
    }
    int64_t o = rule.addFactor(numResults);
    int64_t j = rule.addFactor(window, summedKind(op), sumOf(op.getResult()));
    map.terms = {{o, strides[d]},
                 {j, reversal[d] ? -rhsDilation[d] : rhsDilation[d]}};
    map.offset =
        -padding[d].first + (reversal[d] ? (window - 1) * rhsDilation[d] : 0);
    map.baseDilation = lhsDilation[d];
    rhs.dims[dims.getKernelSpatialDimensions()[d]] = IndexMap::identity(j);
    result.dims[dims.getOutputSpatialDimensions()[d]] = IndexMap::identity(o);
  }
  return rule;
}

/// True if some rank may get no iteration of a factor with local `size`.
static bool mayBeEmpty(OpFoldResult size) {
  if (isa<Attribute>(size))
    return false;
  auto lookup = cast<Value>(size).getDefiningOp<spmd::LookupOp>();
  return !lookup || lookup.getFormula() ||
         llvm::is_contained(lookup.getTable(), 0);
}

/// Where some rank gets no part of a window, and the number of results follows
/// from shapes, an empty window would leave it without results; it must give
/// zeros. Every rank then has one more, zero, row of the kernel, and as much
/// input as that takes. As many results as the type says are zeros already.
static void fillEmptyWindows(stablehlo::ConvolutionOp op,
                             Localization &localization, Value &lhs,
                             Value &rhs) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  for (size_t d = 0; d < dims.getInputSpatialDimensions().size(); ++d) {
    int64_t inputDim = dims.getInputSpatialDimensions()[d],
            kernelDim = dims.getKernelSpatialDimensions()[d];
    int64_t window =
        localization.rule().operands[1].dims[kernelDim].terms[0].factor;
    OpFoldResult numResults =
        localization.resultDimSize(0, dims.getOutputSpatialDimensions()[d]);
    if (!localization.isSharded(window) || isa<Attribute>(numResults) ||
        !mayBeEmpty(localization.factorSize(window)))
      continue;
    auto grow = [&](Value value, int64_t dim, OpFoldResult low,
                    OpFoldResult high) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = ShapedType::kDynamic;
      SmallVector<OpFoldResult> lows(shape.size(), zero),
          highs(shape.size(), zero);
      lows[dim] = low;
      highs[dim] = high;
      return padWithZeros(builder, loc, value, lows, highs, type.clone(shape));
    };
    // (results - 1) * stride + window * dilation + 1 elements, of which some
    // are there; none are needed without results.
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto valueOf = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(builder, loc, value);
    };
    Value last =
        arith::SubIOp::create(builder, loc, valueOf(numResults), index(1));
    Value lastStart = arith::MulIOp::create(
        builder, loc, last, index(op.getWindowStridesOrOnes()[d]));
    Value reach = arith::MulIOp::create(
        builder, loc, valueOf(localization.factorSize(window)),
        index(op.getRhsDilationOrOnes()[d]));
    Value end = arith::AddIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, lastStart, reach),
        index(1));
    Value missing = arith::SubIOp::create(
        builder, loc, end, valueOf(dimOf(builder, loc, lhs, inputDim)));
    Value extra = arith::MaxSIOp::create(builder, loc, missing, index(0));
    // The new row of a reversed window is the first to be used.
    bool isReversed = op.getWindowReversalOrFalse()[d];
    lhs = grow(lhs, inputDim, isReversed ? OpFoldResult(extra) : zero,
               isReversed ? zero : OpFoldResult(extra));
    rhs = grow(rhs, kernelDim, zero, one);
  }
}

/// Cut spatial dims arrive padded and dilated; a cut group factor leaves fewer
/// groups.
static LocalResults localizeConvolution(stablehlo::ConvolutionOp op,
                                        Localization &localization) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<int64_t> lhsDilation = op.getLhsDilationOrOnes();
  SmallVector<int64_t> padding;
  int64_t spatialDims = dims.getInputSpatialDimensions().size();
  for (auto [d, pad] : llvm::enumerate(op.getPaddingOrZeros())) {
    bool isLocal =
        localization.isOperandDimLocal(0, dims.getInputSpatialDimensions()[d]);
    if (isLocal)
      lhsDilation[d] = 1;
    padding.append({isLocal ? 0 : pad.first, isLocal ? 0 : pad.second});
  }
  int64_t featureGroups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  for (auto [number, factor] : llvm::enumerate(localization.rule().factors)) {
    if (!factor.evenOnly || !localization.isSharded(number))
      continue;
    std::optional<int64_t> size =
        getConstantIntValue(localization.factorSize(number));
    if (!size || *size == 0)
      return op.emitOpError()
             << "has " << factor.size
             << " groups, which are cut unevenly; a rank's number of groups "
             << "must be the same everywhere: cut them evenly, or make the "
                "grouped dim whole";
    (featureGroups > 1 ? featureGroups : batchGroups) = *size;
  }
  Value lhs = localization.operands()[0], rhs = localization.operands()[1];
  fillEmptyWindows(op, localization, lhs, rhs);
  auto local =
      cast<stablehlo::ConvolutionOp>(cloneLocal(op, localization, {lhs, rhs}));
  Builder builder(op.getContext());
  if (spatialDims > 0) {
    auto type = RankedTensorType::get({spatialDims, 2}, builder.getI64Type());
    local.setPaddingAttr(
        DenseIntElementsAttr::get(type, ArrayRef<int64_t>(padding)));
    local.setLhsDilation(ArrayRef<int64_t>(lhsDilation));
  }
  local.setFeatureGroupCount(featureGroups);
  local.setBatchGroupCount(batchGroups);
  return completeSum(local.getResult(), localization);
}

void rules::attachContractions(MLIRContext *context) {
  attach<stablehlo::DotGeneralOp, dotGeneralRule, localizeDotGeneral>(context);
  attach<stablehlo::DotOp, plainDotRule, localizeSum<stablehlo::DotOp>>(
      context);
  attach<stablehlo::ConvolutionOp, convolutionRule, localizeConvolution>(
      context);
}
