//===- LocalSizes.cpp - Sizes of local dims, by rank ----------------------===//

#include "shardc/Analysis/LocalSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Spmd/IR/SpmdCommunication.h"
#include "shardc/Dialect/Spmd/IR/SpmdLocal.h"
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
  llvm::DenseSet<std::pair<Value, int64_t>> seen = {};

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

ByRank SizeQuery::ofIndex(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return everywhere(*constant);
  auto value = dyn_cast<Value>(index);
  if (!value)
    return std::nullopt;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return ofIndex(cast.getIn());
  if (auto lookup = value.getDefiningOp<LookupOp>();
      lookup && lookup.getFormula())
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

ByRank SizeQuery::ofResultDim(Operation *op, OpResult result, int64_t dim) {
  if (auto gather = dyn_cast<GatherRowsOp>(op))
    return gather.getRowPlan() ? ofGathered(gather, dim) : std::nullopt;
  if (auto scatter = dyn_cast<ScatterRowsOp>(op))
    return ofDim(scatter.getInto(), dim);
  if (auto communication = dyn_cast<CommunicationOpInterface>(op)) {
    ArrayAttr dims;
    if (auto exchange = dyn_cast<ExchangeOpInterface>(op))
      dims = exchange.getDimExchanges();
    else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
      dims = scatter.getDims();
    if (dims)
      for (auto attr : dims.getAsRange<DimExchangeAttr>())
        if (attr.getDim() == dim) {
          if (attr.getNeededFormula())
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
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return ofDim(cast.getSource(), dim);
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
  if (!seen.insert({value, dim}).second)
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

ByRank shardc::getLocalElements(Value value, MeshAttr mesh) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> elements(mesh.getNumRanks(), 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ByRank sizes = getLocalSizes(value, dim, mesh);
    if (!sizes)
      return std::nullopt;
    for (auto [product, size] : llvm::zip(elements, *sizes))
      if (llvm::MulOverflow(product, size, product))
        product = INT64_MAX;
  }
  return elements;
}
