//===- Addressing.cpp - Gather and scatter --------------------------------===//
//
// Both address by a tensor of indices. Its dims, the index vector apart, are
// dims of the slices' tensor (the gather's result, the scatter's updates), and
// those that batch explicitly are dims of the addressed tensor as well. Dims of
// the addressed tensor that every slice takes whole are dims of the slices.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

static int64_t positionOf(ArrayRef<int64_t> list, int64_t value) {
  const auto *it = llvm::find(list, value);
  return it == list.end() ? -1 : it - list.begin();
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> gatherRule(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> operandShape = shapeOf(op.getOperand()),
                    indexShape = shapeOf(op.getStartIndices()),
                    resultShape = shapeOf(op.getResult()),
                    sliceSizes = op.getSliceSizes();
  ShardingRule rule;
  TensorRule operand, indices, result;
  SmallVector<IndexMap> batch;
  for (auto [d, size] : llvm::enumerate(indexShape)) {
    if (static_cast<int64_t>(d) == dims.getIndexVectorDim()) {
      indices.dims.push_back(wholeDim(rule, size));
      continue;
    }
    indices.dims.push_back(passingDim(rule, size));
    batch.push_back(indices.dims.back());
  }

  // Starts are clamped, so a slice as large as the dim is the dim.
  SmallVector<IndexMap> offsets;
  for (auto [d, size] : llvm::enumerate(operandShape)) {
    int64_t batching = positionOf(dims.getOperandBatchingDims(), d);
    if (batching >= 0) {
      operand.dims.push_back(
          indices.dims[dims.getStartIndicesBatchingDims()[batching]]);
      continue;
    }
    if (positionOf(dims.getCollapsedSliceDims(), d) >= 0) {
      operand.dims.push_back(wholeDim(rule, size));
      continue;
    }
    bool passes = sliceSizes[d] == size;
    operand.dims.push_back(passes ? passingDim(rule, size)
                                  : wholeDim(rule, size));
    offsets.push_back(passes ? operand.dims.back()
                             : wholeDim(rule, sliceSizes[d]));
  }

  size_t nextBatch = 0, nextOffset = 0;
  for (size_t d = 0; d < resultShape.size(); ++d) {
    bool isOffset = positionOf(dims.getOffsetDims(), d) >= 0;
    SmallVector<IndexMap> &maps = isOffset ? offsets : batch;
    size_t &next = isOffset ? nextOffset : nextBatch;
    if (next >= maps.size())
      return failure();
    result.dims.push_back(maps[next++]);
  }
  rule.operands = {operand, indices};
  rule.results = {result};
  return rule;
}

/// Slices of a cut dim are as large as the local dim.
static LocalResults localizeGather(stablehlo::GatherOp op,
                                   Localization &localization) {
  OpBuilder &builder = localization.builder();
  Value operand = localization.operands()[0];
  ArrayRef<int64_t> batching =
      op.getDimensionNumbers().getOperandBatchingDims();
  SmallVector<int64_t> sliceSizes(op.getSliceSizes());
  SmallVector<OpFoldResult> sizes;
  bool isStatic = true;
  for (size_t d = 0; d < sliceSizes.size(); ++d) {
    sizes.push_back(builder.getIndexAttr(sliceSizes[d]));
    if (!localization.isOperandDimLocal(0, d) || positionOf(batching, d) >= 0)
      continue;
    sliceSizes[d] = shapeOf(operand)[d];
    if (ShapedType::isDynamic(sliceSizes[d])) {
      isStatic = false;
      sizes[d] = dimOf(builder, op.getLoc(), operand, d);
    }
  }
  if (isStatic) {
    auto local = cast<stablehlo::GatherOp>(cloneLocal(op, localization));
    local.setSliceSizes(sliceSizes);
    return SmallVector<Value>{local.getResult()};
  }
  for (size_t d = 0; d < sliceSizes.size(); ++d)
    if (!ShapedType::isDynamic(sliceSizes[d]))
      sizes[d] = builder.getIndexAttr(sliceSizes[d]);
  Value local = stablehlo::DynamicGatherOp::create(
      builder, op.getLoc(), localization.resultType(0), operand,
      localization.operands()[1], shapeTensor(builder, op.getLoc(), sizes),
      op.getDimensionNumbers(), op.getIndicesAreSorted());
  return SmallVector<Value>{local};
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// Updates combine into the inputs: their index dims may be cut where the body
/// is a known way to combine two values.
static FailureOr<ShardingRule> scatterRule(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  unsigned count = op.getInputs().size();
  if (count == 0)
    return failure();
  std::optional<spmd::ReductionKind> kind =
      recogniseReduction(op.getUpdateComputation(), count);
  ArrayRef<int64_t> inputShape = shapeOf(op.getInputs()[0]),
                    indexShape = shapeOf(op.getScatterIndices()),
                    updateShape = shapeOf(op.getUpdates()[0]);
  ShardingRule rule;
  TensorRule input, indices, updates;
  SmallVector<IndexMap> batch;
  for (auto [d, size] : llvm::enumerate(indexShape)) {
    if (static_cast<int64_t>(d) == dims.getIndexVectorDim()) {
      indices.dims.push_back(wholeDim(rule, size));
      continue;
    }
    if (positionOf(dims.getScatterIndicesBatchingDims(), d) >= 0)
      indices.dims.push_back(passingDim(rule, size));
    else if (kind)
      indices.dims.push_back(IndexMap::identity(
          rule.addFactor(size, FactorKind::Reduction, *kind)));
    else
      indices.dims.push_back(wholeDim(rule, size));
    batch.push_back(indices.dims.back());
  }

  // A window as large as the dim is the dim, unless an index moves it: what
  // then reaches outside is dropped.
  SmallVector<IndexMap> windows;
  for (auto [d, size] : llvm::enumerate(inputShape)) {
    int64_t batching = positionOf(dims.getInputBatchingDims(), d);
    if (batching >= 0) {
      input.dims.push_back(
          indices.dims[dims.getScatterIndicesBatchingDims()[batching]]);
      continue;
    }
    if (positionOf(dims.getInsertedWindowDims(), d) >= 0) {
      input.dims.push_back(wholeDim(rule, size));
      continue;
    }
    if (windows.size() >= dims.getUpdateWindowDims().size())
      return failure();
    int64_t window = updateShape[dims.getUpdateWindowDims()[windows.size()]];
    bool passes =
        window == size && positionOf(dims.getScatterDimsToOperandDims(), d) < 0;
    input.dims.push_back(passes ? passingDim(rule, size)
                                : wholeDim(rule, size));
    windows.push_back(passes ? input.dims.back() : wholeDim(rule, window));
  }

  size_t nextBatch = 0, nextWindow = 0;
  for (size_t d = 0; d < updateShape.size(); ++d) {
    bool isWindow = positionOf(dims.getUpdateWindowDims(), d) >= 0;
    SmallVector<IndexMap> &maps = isWindow ? windows : batch;
    size_t &next = isWindow ? nextWindow : nextBatch;
    if (next >= maps.size())
      return failure();
    updates.dims.push_back(maps[next++]);
  }
  rule.operands.assign(count, input);
  rule.operands.push_back(indices);
  rule.operands.append(count, updates);
  rule.results.assign(count, input);
  return rule;
}

/// Each rank scatters its updates: into the inputs where doing so on every rank
/// counts nothing twice, else into neutral elements, and the inputs come last.
static LocalResults localizeScatter(stablehlo::ScatterOp op,
                                    Localization &localization) {
  if (!localization.isPartial())
    return localizeByCloning(op, localization);
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  unsigned count = op.getInputs().size();
  std::optional<spmd::ReductionKind> kind =
      recogniseReduction(op.getUpdateComputation(), count);
  if (!kind)
    return op.emitOpError("has a body that cannot be combined over ranks, but "
                          "a dim of its indices is cut");

  bool inputsComeLast = !isIdempotent(*kind);
  SmallVector<Value> operands(localization.operands());
  for (unsigned i = 0; inputsComeLast && i < count; ++i) {
    RankedTensorType type = localization.resultType(i);
    Value neutral = neutralElement(builder, loc, *kind, type.getElementType());
    if (!neutral)
      return op.emitOpError() << "combines " << type.getElementType()
                              << ", for which there is no neutral element of '"
                              << spmd::stringifyReductionKind(*kind)
                              << "'; make its indices whole";
    operands[i] = broadcastScalar(builder, loc, neutral, type,
                                  resultSizes(localization, i));
  }
  Operation *local = cloneLocal(op, localization, operands);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    Value total = localization.completeReduction(local->getResult(i), i);
    if (inputsComeLast && !isNeutral(op.getInputs()[i], *kind)) {
      Value input = castTo(builder, loc, localization.operands()[i],
                           cast<RankedTensorType>(total.getType()));
      total = combine(builder, loc, *kind, input, total);
    }
    results.push_back(total);
  }
  return results;
}

void rules::attachAddressing(MLIRContext *context) {
  attach<stablehlo::GatherOp, gatherRule, localizeGather>(context);
  attach<stablehlo::ScatterOp, scatterRule, localizeScatter>(context);
}
