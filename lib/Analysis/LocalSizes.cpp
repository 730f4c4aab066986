//===- LocalSizes.cpp - Sizes of local dims, by rank ----------------------===//

#include "shardc/Analysis/LocalSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Support/ElementwiseTrait.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

using ByRank = std::optional<SmallVector<int64_t>>;

namespace {
/// One query. Values on the way are remembered, so that loops end.
struct SizeQuery {
  MeshAttr mesh;
  bool isEstimate = false; ///< of sizes that follow from what is bound
  llvm::DenseSet<std::pair<Value, int64_t>> seen = {};
  /// So that a long program does not take all of the stack.
  static constexpr size_t kMostAsked = 2000;

  SmallVector<int64_t> everywhere(int64_t size) const {
    return SmallVector<int64_t>(mesh.getNumRanks(), size);
  }

  /// Entries by coordinate along `axes`, spread out by rank.
  ByRank spread(ArrayRef<int64_t> table, ArrayRef<StringAttr> names) const {
    SmallVector<int64_t> axes, result;
    for (StringAttr name : names)
      axes.push_back(mesh.getAxisIndex(name.getValue()));
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
      result.push_back(table[coordinateAlong(mesh.getAxisSizes(), axes, rank)]);
    return result;
  }

  ByRank ofIndex(OpFoldResult index);
  ByRank ofDim(Value value, int64_t dim);
  ByRank ofResultDim(Operation *op, OpResult result, int64_t dim);
  ByRank ofFactor(Operation *op, OpResult result, int64_t dim);
  ByRank ofGathered(GatherRowsOp op, int64_t dim);
};
} // namespace

/// INT64_MAX where there are more.
static void multiply(SmallVector<int64_t> &product, ArrayRef<int64_t> sizes) {
  for (auto [total, size] : llvm::zip_equal(product, sizes))
    if (llvm::MulOverflow(total, size, total))
      total = INT64_MAX;
}

ByRank SizeQuery::ofIndex(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return everywhere(*constant);
  auto value = dyn_cast<Value>(index);
  if (!value)
    return std::nullopt;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return ofIndex(cast.getIn());
  if (auto lookup = value.getDefiningOp<LookupOp>();
      lookup && lookup.getFormula() && !isEstimate)
    return std::nullopt;
  if (auto lookup = value.getDefiningOp<LookupOp>())
    return spread(lookup.getTable(),
                  llvm::to_vector(lookup.getAxes().getAsRange<StringAttr>()));
  if (auto size = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dim = size.getConstantIndex())
      return ofDim(size.getSource(), *dim);
  return std::nullopt;
}

/// Of positions: dims around the addressed ones, dims of the indices, parts of
/// slices.
ByRank SizeQuery::ofGathered(GatherRowsOp op, int64_t dim) {
  RowPlanOp plan = op.getRowPlan();
  int64_t first = op.getFirst(), vectorDim = plan.getVectorDim();
  if (dim < first)
    return ofDim(op.getOperand(), dim);
  int64_t batch = cast<RankedTensorType>(plan.getIndices().getType()).getRank();
  batch -= vectorDim < batch;
  int64_t place = dim - first;
  if (place < batch)
    return ofDim(plan.getIndices(), place < vectorDim ? place : place + 1);
  place -= batch;
  for (auto [slice, attr] : llvm::zip(
           plan.getSlices(), plan.getRows().getAsRange<DimExchangeAttr>())) {
    if (slice == 1 || place-- > 0)
      continue;
    SmallVector<int64_t> sizes;
    for (Interval part : attr.getExchange(mesh).needed)
      sizes.push_back(part.size());
    return spread(sizes, attr.getAxes());
  }
  return ofDim(op.getOperand(),
               first + static_cast<int64_t>(plan.getRows().size()) + place);
}

/// The operand and its dim that dim `dim` of the result of `op` is.
static std::optional<std::pair<Value, int64_t>> keptDim(Operation *op,
                                                        int64_t dim) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return {{transpose.getOperand(), transpose.getPermutation()[dim]}};
  auto nth = [&](Value value, ArrayRef<int64_t> without,
                 int64_t number) -> std::optional<std::pair<Value, int64_t>> {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(without, i) && number-- == 0)
        return {{value, i}};
    return std::nullopt;
  };
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return nth(reduce.getInputs().front(), reduce.getDimensions(), dim);
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return std::nullopt;
  auto numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batch = numbers.getLhsBatchingDimensions();
  int64_t batches = batch.size();
  if (dim < batches)
    return {{dot.getLhs(), batch[dim]}};
  auto gone = llvm::to_vector(llvm::concat<const int64_t>(
      batch, numbers.getLhsContractingDimensions()));
  int64_t rank = cast<RankedTensorType>(dot.getLhs().getType()).getRank(),
          left = rank - static_cast<int64_t>(gone.size());
  if (dim < batches + left)
    return nth(dot.getLhs(), gone, dim - batches);
  gone = llvm::to_vector(
      llvm::concat<const int64_t>(numbers.getRhsBatchingDimensions(),
                                  numbers.getRhsContractingDimensions()));
  return nth(dot.getRhs(), gone, dim - batches - left);
}

ByRank SizeQuery::ofResultDim(Operation *op, OpResult result, int64_t dim) {
  if (auto gather = dyn_cast<GatherRowsOp>(op))
    return gather.getRowPlan() ? ofGathered(gather, dim) : std::nullopt;
  if (auto scatter = dyn_cast<ScatterRowsOp>(op))
    return ofDim(scatter.getInto(), dim);
  if (auto communication = dyn_cast<CommunicationOpInterface>(op)) {
    ArrayAttr dims;
    if (auto exchange = dyn_cast<ExchangeOpInterface>(op))
      dims = exchange.getDims();
    else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
      dims = scatter.getDims();
    if (dims)
      for (auto attr : dims.getAsRange<DimExchangeAttr>())
        if (attr.getDim() == dim) {
          if (attr.getNeededFormula() && !isEstimate)
            return std::nullopt;
          SmallVector<int64_t> sizes;
          for (Interval needed : attr.getExchange(mesh).needed)
            sizes.push_back(needed.size());
          return spread(sizes, attr.getAxes());
        }
    return ofDim(communication.getSource(), dim);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getSourceType().getRank() == slice.getType().getRank())
      return ofIndex(slice.getMixedSizes()[dim]);
    return std::nullopt;
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return ofIndex(empty.getMixedSizes()[dim]);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return ofDim(insert.getDest(), dim);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return ofDim(cast.getSource(), dim);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return ofIndex(expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ByRank size = everywhere(1);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t from : group) {
      ByRank next = ofDim(collapse.getSrc(), from);
      if (!next)
        return std::nullopt;
      multiply(*size, *next);
    }
    return size;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    ByRank size = ofDim(pad.getSource(), dim);
    ByRank low = ofIndex(pad.getMixedLowPad()[dim]),
           high = ofIndex(pad.getMixedHighPad()[dim]);
    if (!size || !low || !high)
      return std::nullopt;
    for (size_t rank = 0; rank < size->size(); ++rank)
      (*size)[rank] += (*low)[rank] + (*high)[rank];
    return size;
  }
  if (auto dilate = dyn_cast<DilateOp>(op))
    return static_cast<int64_t>(dilate.getDim()) == dim
               ? ofIndex(dilate.getSize())
               : ofDim(dilate.getInput(), dim);
  if (op->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
      op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
      op->hasTrait<OpTrait::SameOperandsAndResultType>())
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (type &&
          type.getRank() == cast<RankedTensorType>(result.getType()).getRank())
        if (ByRank sizes = ofDim(operand, dim))
          return sizes;
    }
  if (auto whole = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    if (static_cast<int64_t>(whole.getDimension()) != dim)
      return ofDim(whole.getInputs().front(), dim);
    SmallVector<int64_t> sum = everywhere(0);
    for (Value part : whole.getInputs()) {
      ByRank size = ofDim(part, dim);
      if (!size)
        return std::nullopt;
      for (auto [total, more] : llvm::zip_equal(sum, *size))
        if (llvm::AddOverflow(total, more, total))
          total = INT64_MAX;
    }
    return sum;
  }
  if (auto kept = keptDim(op, dim))
    return ofDim(kept->first, kept->second);
  // Dynamic forms take their result's shape last.
  if (op->getNumOperands() > 0)
    if (auto shape =
            op->getOperands().back().getDefiningOp<tensor::FromElementsOp>())
      if (op->getName().stripDialect().starts_with("dynamic_") &&
          dim < static_cast<int64_t>(shape.getNumOperands()))
        return ofIndex(shape.getOperand(dim));
  return ofFactor(op, result, dim);
}

/// Of a factor that a dim of an operand has for itself as well.
ByRank SizeQuery::ofFactor(Operation *op, OpResult result, int64_t dim) {
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!interface)
    return std::nullopt;
  FailureOr<ShardingRule> rule = interface.getShardingRule();
  if (failed(rule) || rule->operands.size() != op->getNumOperands() ||
      rule->results.size() != op->getNumResults())
    return std::nullopt;
  const IndexMap &wanted = rule->results[result.getResultNumber()].dims[dim];
  if (!wanted.isIdentity())
    return std::nullopt;
  for (auto [tensor, operand] :
       llvm::zip_equal(rule->operands, op->getOperands()))
    for (auto [operandDim, map] : llvm::enumerate(tensor.dims))
      if (map.isIdentity() &&
          map.terms.front().factor == wanted.terms.front().factor)
        if (ByRank sizes = ofDim(operand, operandDim))
          return sizes;
  return std::nullopt;
}

ByRank SizeQuery::ofDim(Value value, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return everywhere(type.getDimSize(dim));
  if (seen.size() > kMostAsked || !seen.insert({value, dim}).second)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  if (std::optional<ControlFlow> flow = getControlFlow(op)) {
    for (auto [from, to] : flow->edges)
      if (to == value)
        if (ByRank sizes = ofDim(from, dim))
          return sizes;
    return std::nullopt;
  }
  if (auto result = dyn_cast<OpResult>(value))
    return ofResultDim(op, result, dim);
  // An argument of the function: its sharding says, where it lists sizes.
  if (ShardingAttr sharding = getSharding(value)) {
    DimShardingAttr cut = sharding.getDims()[dim];
    if (cut.getSizes())
      return spread(cut.getSizes().asArrayRef(), cut.getAxes());
  }
  return std::nullopt;
}

ByRank shardc::getLocalSizes(Value value, int64_t dim, MeshAttr mesh) {
  return SizeQuery{mesh}.ofDim(value, dim);
}

static ByRank elementsOf(Value value, MeshAttr mesh, bool isEstimate) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> elements(mesh.getNumRanks(), 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ByRank sizes = SizeQuery{mesh, isEstimate}.ofDim(value, dim);
    if (!sizes)
      return std::nullopt;
    multiply(elements, *sizes);
  }
  return elements;
}

ByRank shardc::getLocalElements(Value value, MeshAttr mesh) {
  return elementsOf(value, mesh, /*isEstimate=*/false);
}

ByRank shardc::estimateLocalElements(Value value, MeshAttr mesh) {
  return elementsOf(value, mesh, /*isEstimate=*/true);
}
