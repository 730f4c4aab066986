//===- Addressing.cpp - Gather and scatter --------------------------------===//
//
// Both address by a tensor of indices. Its dims, the index vector apart, are
// dims of the slices' tensor (the gather's result, the scatter's updates), and
// those that batch explicitly are dims of the addressed tensor as well. Dims of
// the addressed tensor that every slice takes whole are dims of the slices.
// Along the other dims of the addressed tensor rows travel, those that indices
// name and no others (Rows.h); docs/Concepts/Gather.md.
//
//===----------------------------------------------------------------------===//
#include "Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

static int64_t positionOf(ArrayRef<int64_t> list, int64_t value) {
  const auto *it = llvm::find(list, value);
  return it == list.end() ? -1 : it - list.begin();
}

/// True if a factor is cut along which the op communicates itself.
static bool isDistributedCut(Localization &localization) {
  for (auto [i, factor] : llvm::enumerate(localization.rule().factors))
    if (factor.kind == FactorKind::Distributed && localization.isSharded(i))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// How the operand is addressed; nullopt where a dim is neither indexed nor
/// taken whole.
static std::optional<RowAccess> accessOf(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  RowAccess access;
  access.vectorDim = dims.getIndexVectorDim();
  int64_t rank = shapeOf(op.getResult()).size(), indexDim = 0;
  size_t offset = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (positionOf(dims.getOffsetDims(), d) >= 0)
      continue;
    if (indexDim == access.vectorDim)
      ++indexDim;
    access.batch.push_back({indexDim++, d});
  }
  for (auto [d, size, slice] :
       llvm::enumerate(shapeOf(op.getOperand()), op.getSliceSizes())) {
    int64_t dim = d, component = positionOf(dims.getStartIndexMap(), dim);
    if (int64_t i = positionOf(dims.getOperandBatchingDims(), dim); i >= 0) {
      access.rows.push_back(
          {dim, -1 - dims.getStartIndicesBatchingDims()[i], 1, -1});
      continue;
    }
    bool isCollapsed = positionOf(dims.getCollapsedSliceDims(), dim) >= 0;
    if (!isCollapsed && offset >= dims.getOffsetDims().size())
      return std::nullopt;
    int64_t place = isCollapsed ? -1 : dims.getOffsetDims()[offset++];
    if (!isCollapsed && slice == size)
      access.kept.push_back({dim, place});
    else if (component >= 0)
      access.rows.push_back({dim, component, slice, place});
    else
      return std::nullopt;
  }
  return access;
}

static FailureOr<ShardingRule> gatherRule(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> operandShape = shapeOf(op.getOperand()),
                    indexShape = shapeOf(op.getStartIndices()),
                    resultShape = shapeOf(op.getResult()),
                    sliceSizes = op.getSliceSizes();
  bool canAsk = accessOf(op).has_value();
  ShardingRule rule;
  TensorRule operand, indices, result;
  SmallVector<IndexMap> batch;
  double rows = 1;
  for (auto [d, size] : llvm::enumerate(indexShape)) {
    if (static_cast<int64_t>(d) == dims.getIndexVectorDim()) {
      indices.dims.push_back(wholeDim(rule, size));
      continue;
    }
    rows *= double(size);
    indices.dims.push_back(passingDim(rule, size));
    batch.push_back(indices.dims.back());
  }

  // Starts are clamped, so a slice as large as the dim is the dim. Along other
  // dims rows are asked for, with eight bytes each.
  SmallVector<IndexMap> offsets;
  for (auto [d, size] : llvm::enumerate(operandShape)) {
    int64_t batching = positionOf(dims.getOperandBatchingDims(), d);
    if (batching >= 0) {
      operand.dims.push_back(
          indices.dims[dims.getStartIndicesBatchingDims()[batching]]);
      continue;
    }
    bool isCollapsed = positionOf(dims.getCollapsedSliceDims(), d) >= 0;
    if (!isCollapsed && sliceSizes[d] == size) {
      operand.dims.push_back(passingDim(rule, size));
      offsets.push_back(operand.dims.back());
      continue;
    }
    if (canAsk && size > 1) {
      int64_t factor = rule.addFactor(size, FactorKind::Distributed);
      rule.factors[factor].travels = true;
      rule.factors[factor].askedBytes = bytesOf(op.getResult()) + 8 * rows;
      operand.dims.push_back(IndexMap::identity(factor));
    } else {
      operand.dims.push_back(wholeDim(rule, size));
    }
    if (!isCollapsed)
      offsets.push_back(wholeDim(rule, sliceSizes[d]));
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

/// Slices of a dim that is taken whole are as large as the local dim.
static LocalResults localizeGather(stablehlo::GatherOp op,
                                   Localization &localization) {
  OpBuilder &builder = localization.builder();
  Value operand = localization.operands()[0];
  if (isDistributedCut(localization)) {
    localization.carriesFormulas();
    RowTables tables = {localization.operandTables(0),
                        localization.operandTables(1),
                        localization.resultTables(0)};
    return SmallVector<Value>{
        gatherRows(localization, op, *accessOf(op), tables, operand,
                   localization.operands()[1], localization.resultType(0))};
  }
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> sliceSizes(op.getSliceSizes());
  SmallVector<OpFoldResult> sizes;
  bool isStatic = true;
  for (size_t d = 0; d < sliceSizes.size(); ++d) {
    sizes.push_back(localization.numberOf(sliceSizes[d]));
    isStatic &= !localization.isOpen(sliceSizes[d]);
    bool isTakenWhole = sliceSizes[d] == shapeOf(op.getOperand())[d] &&
                        positionOf(numbers.getCollapsedSliceDims(), d) < 0 &&
                        positionOf(numbers.getOperandBatchingDims(), d) < 0;
    if (!localization.isOperandDimLocal(0, d) || !isTakenWhole)
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
      sizes[d] = localization.numberOf(sliceSizes[d]);
  Value local = stablehlo::DynamicGatherOp::create(
      builder, op.getLoc(), localization.resultType(0), operand,
      localization.operands()[1], shapeTensor(builder, op.getLoc(), sizes),
      op.getDimensionNumbers(), op.getIndicesAreSorted());
  return SmallVector<Value>{local};
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// How the inputs are addressed; nullopt where a dim is neither indexed nor
/// updated whole.
static std::optional<RowAccess> accessOf(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  RowAccess access;
  access.vectorDim = dims.getIndexVectorDim();
  ArrayRef<int64_t> updateShape = shapeOf(op.getUpdates()[0]);
  int64_t rank = updateShape.size(), indexDim = 0;
  size_t window = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (positionOf(dims.getUpdateWindowDims(), d) >= 0)
      continue;
    if (indexDim == access.vectorDim)
      ++indexDim;
    access.batch.push_back({indexDim++, d});
  }
  for (auto [d, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    int64_t dim = d,
            component = positionOf(dims.getScatterDimsToOperandDims(), dim);
    if (int64_t i = positionOf(dims.getInputBatchingDims(), dim); i >= 0) {
      access.rows.push_back(
          {dim, -1 - dims.getScatterIndicesBatchingDims()[i], 1, -1});
      continue;
    }
    bool isInserted = positionOf(dims.getInsertedWindowDims(), dim) >= 0;
    if (!isInserted && window >= dims.getUpdateWindowDims().size())
      return std::nullopt;
    int64_t place = isInserted ? -1 : dims.getUpdateWindowDims()[window++];
    int64_t slice = isInserted ? 1 : updateShape[place];
    if (component >= 0 && slice <= size)
      access.rows.push_back({dim, component, slice, place});
    else if (!isInserted && slice == size)
      access.kept.push_back({dim, place});
    else
      return std::nullopt;
  }
  if (access.rows.empty())
    return std::nullopt;
  return access;
}

/// True if the body yields the update as it is.
static bool replaces(stablehlo::ScatterOp op) {
  Region &body = op.getUpdateComputation();
  unsigned count = op.getInputs().size();
  if (!body.hasOneBlock() || body.front().getNumArguments() != 2 * count)
    return false;
  Block &block = body.front();
  return block.back().getNumOperands() == count &&
         llvm::all_of(
             llvm::enumerate(block.back().getOperands()), [&](auto it) {
               return it.value() == block.getArgument(count + it.index());
             });
}

/// True if rows of updates can be sent to who owns what they name.
static bool canSend(stablehlo::ScatterOp op,
                    std::optional<spmd::ReductionKind> kind) {
  return (kind || replaces(op)) && accessOf(op) &&
         llvm::all_of(op.getInputs(), [&](Value input) {
           return canScatterRows(getElementTypeOrSelf(input.getType()), kind);
         });
}

/// Updates go to who owns what they name. Where the body is a known way to
/// combine two values they may also be combined on each rank, and then over
/// ranks.
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
  bool sends = canSend(op, kind), canOwn = accessOf(op).has_value();
  ShardingRule rule;
  TensorRule input, indices, updates;
  SmallVector<IndexMap> batch;
  double rows = 1, sentBytes = 0;
  for (auto [d, size] : llvm::enumerate(indexShape))
    if (static_cast<int64_t>(d) != dims.getIndexVectorDim())
      rows *= double(size);
  for (Value update : op.getUpdates())
    sentBytes += bytesOf(update);
  sentBytes += 16 * rows;
  auto sentDim = [&](int64_t size) {
    FactorKind how = kind ? FactorKind::Reduction : FactorKind::Distributed;
    int64_t factor =
        rule.addFactor(size, how, kind.value_or(spmd::ReductionKind::Sum));
    rule.factors[factor].travels = sends;
    rule.factors[factor].askedBytes = sends ? sentBytes : 0;
    return IndexMap::identity(factor);
  };
  for (auto [d, size] : llvm::enumerate(indexShape)) {
    if (static_cast<int64_t>(d) == dims.getIndexVectorDim()) {
      indices.dims.push_back(wholeDim(rule, size));
      continue;
    }
    if (positionOf(dims.getScatterIndicesBatchingDims(), d) >= 0)
      indices.dims.push_back(passingDim(rule, size));
    else if (kind || sends)
      indices.dims.push_back(sentDim(size));
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
    bool isInserted = positionOf(dims.getInsertedWindowDims(), d) >= 0;
    if (!isInserted && windows.size() >= dims.getUpdateWindowDims().size())
      return failure();
    int64_t window =
        isInserted ? 1
                   : updateShape[dims.getUpdateWindowDims()[windows.size()]];
    bool isIndexed = positionOf(dims.getScatterDimsToOperandDims(), d) >= 0;
    if (!isInserted && !isIndexed && window == size) {
      input.dims.push_back(passingDim(rule, size));
      windows.push_back(input.dims.back());
      continue;
    }
    input.dims.push_back(
        canOwn && isIndexed && size > 1
            ? IndexMap::identity(rule.addFactor(size, FactorKind::Distributed))
            : wholeDim(rule, size));
    if (!isInserted)
      windows.push_back(sends && isIndexed && window > 1
                            ? sentDim(window)
                            : wholeDim(rule, window));
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

/// The dim of the updates that runs along dim `dim` of the inputs; -1 for one
/// that they do not have.
static int64_t windowPlace(stablehlo::ScatterOp op, int64_t dim) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  auto isMissing = [&](int64_t d) {
    return positionOf(dims.getInsertedWindowDims(), d) >= 0 ||
           positionOf(dims.getInputBatchingDims(), d) >= 0;
  };
  if (isMissing(dim))
    return -1;
  int64_t window = dim - llvm::count_if(llvm::seq(dim), isMissing);
  return dims.getUpdateWindowDims()[window];
}

/// The local indices, counted from where this rank's block of the inputs
/// begins, to where its part of the updates' windows does: what it does not own
/// is outside of it.
static Value countFromBlock(stablehlo::ScatterOp op,
                            Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  Value indices = localization.operands()[op.getInputs().size()];
  auto type = cast<RankedTensorType>(indices.getType());
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  const ShardingRule &rule = localization.rule();
  int64_t updates = op.getInputs().size() + 1;
  SmallVector<OpFoldResult> begins;
  bool moves = false;
  for (int64_t dim : dims.getScatterDimsToOperandDims()) {
    bool isCut = localization.isOperandDimLocal(0, dim);
    OpFoldResult begin = isCut ? localization.resultDimOffset(0, dim)
                               : OpFoldResult(builder.getIndexAttr(0));
    moves |= isCut;
    int64_t place = windowPlace(op, dim);
    if (place >= 0 && localization.isOperandDimLocal(updates, place)) {
      int64_t factor = rule.operands[updates].dims[place].terms.front().factor;
      begin = arith::SubIOp::create(
                  builder, loc,
                  getValueOrCreateConstantIndexOp(builder, loc, begin),
                  getValueOrCreateConstantIndexOp(
                      builder, loc, localization.factorOffset(factor)))
                  .getResult();
      moves = true;
    }
    begins.push_back(begin);
  }
  if (!moves)
    return indices;
  auto wide = type.clone(builder.getI64Type());
  if (type != wide)
    indices = stablehlo::ConvertOp::create(builder, loc, wide, indices);
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    sizes.push_back(dimOf(builder, loc, indices, d));
  Value begin = shapeTensor(builder, loc, begins);
  int64_t vectorDim = dims.getIndexVectorDim();
  Value spread;
  if (vectorDim == type.getRank()) {
    begin = stablehlo::ReshapeOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI64Type()), begin);
    spread = broadcastScalar(builder, loc, begin, wide, sizes);
  } else if (wide.hasStaticShape()) {
    spread = stablehlo::BroadcastInDimOp::create(builder, loc, wide, begin,
                                                 ArrayRef<int64_t>{vectorDim});
  } else {
    auto dynamic = stablehlo::DynamicBroadcastInDimOp::create(
        builder, loc, wide, begin, shapeTensor(builder, loc, sizes),
        ArrayRef<int64_t>{vectorDim});
    dynamic.setKnownNonexpandingDimensions(ArrayRef<int64_t>{0});
    spread = dynamic;
  }
  return stablehlo::SubtractOp::create(builder, loc, wide, indices, spread);
}

/// `op` on this rank's blocks. Where inputs are cut a window may be larger than
/// the block: what is outside is others'.
static Operation *scatterIntoBlock(stablehlo::ScatterOp op,
                                   Localization &localization,
                                   ArrayRef<Value> operands, bool inputsCut) {
  Operation *local = cloneLocal(op, localization, operands);
  if (inputsCut)
    local->setAttr(stablehlo::StablehloDialect::BlockAttrHelper::getNameStr(),
                   localization.builder().getUnitAttr());
  return local;
}

/// Each rank scatters its updates: into the inputs where doing so on every rank
/// counts nothing twice, else into neutral elements, and the inputs come last.
static LocalResults scatterPartials(stablehlo::ScatterOp op,
                                    Localization &localization,
                                    spmd::ReductionKind kind, bool inputsCut) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  unsigned count = op.getInputs().size();
  bool inputsComeLast = !isIdempotent(kind);
  SmallVector<Value> operands(localization.operands());
  operands[count] = countFromBlock(op, localization);
  auto comesLast = [&](unsigned i) {
    return inputsComeLast && !isNeutral(op.getInputs()[i], kind);
  };
  for (unsigned i = 0; i < count; ++i) {
    if (!comesLast(i))
      continue;
    RankedTensorType type = localization.resultType(i);
    Value neutral = neutralElement(builder, loc, kind, type.getElementType());
    operands[i] = broadcastScalar(builder, loc, neutral, type,
                                  resultSizes(localization, i));
  }
  Operation *local = scatterIntoBlock(op, localization, operands, inputsCut);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    Value total = localization.completeReduction(local->getResult(i), i);
    if (comesLast(i)) {
      Value input = castTo(builder, loc, localization.operands()[i],
                           cast<RankedTensorType>(total.getType()));
      total = combine(builder, loc, kind, input, total);
    }
    results.push_back(total);
  }
  return results;
}

/// True if all that reads `op` are results of the program that leave in parts:
/// what each rank scatters is its part.
static bool leavesInParts(stablehlo::ScatterOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto leaves = dyn_cast<func::ReturnOp>(use.getOwner());
    auto sharding =
        leaves ? leaves->getParentOfType<func::FuncOp>()
                     .getResultAttrOfType<spmd::ShardingAttr>(
                         use.getOperandNumber(), spmd::kShardingAttrName)
               : spmd::ShardingAttr();
    return sharding && !sharding.getPartial().empty();
  });
}

static LocalResults localizeScatter(stablehlo::ScatterOp op,
                                    Localization &localization) {
  unsigned count = op.getInputs().size();
  std::optional<spmd::ReductionKind> kind =
      recogniseReduction(op.getUpdateComputation(), count);
  bool inputsCut = false, sentCut = false;
  for (auto [i, factor] : llvm::enumerate(localization.rule().factors)) {
    if (!localization.isSharded(i) || factor.kind == FactorKind::PassThrough)
      continue;
    (factor.travels || factor.kind == FactorKind::Reduction ? sentCut
                                                            : inputsCut) = true;
  }
  if (!sentCut) {
    SmallVector<Value> operands(localization.operands());
    operands[count] = countFromBlock(op, localization);
    return SmallVector<Value>(
        scatterIntoBlock(op, localization, operands, inputsCut)->getResults());
  }
  // What few updates change of a large tensor is sent to all, rather than the
  // tensor.
  double sent = 0, combined = 0;
  for (unsigned i = 0; i < count; ++i) {
    sent += bytesOf(op.getUpdates()[i]);
    combined += bytesOf(op.getInputs()[i]);
  }
  if (!canSend(op, kind) ||
      (kind && !inputsCut && (sent > 2 * combined || leavesInParts(op)))) {
    if (!kind)
      return op.emitOpError(
          "has a body that cannot be combined over ranks, but "
          "a dim of its indices is cut");
    return scatterPartials(op, localization, *kind, inputsCut);
  }
  SmallVector<Value> results;
  localization.carriesFormulas();
  for (unsigned i = 0; i < count; ++i) {
    RowTables tables = {localization.operandTables(i),
                        localization.operandTables(count),
                        localization.operandTables(count + 1 + i)};
    results.push_back(
        scatterRows(localization, op, *accessOf(op), tables,
                    localization.operands()[i], localization.operands()[count],
                    localization.operands()[count + 1 + i], kind));
  }
  return results;
}

void rules::attachAddressing(MLIRContext *context) {
  attachDynamicSlices(context);
  attach<stablehlo::GatherOp, gatherRule, localizeGather>(context);
  attach<stablehlo::ScatterOp, scatterRule, localizeScatter>(context);
}
