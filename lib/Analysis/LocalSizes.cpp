//===- LocalSizes.cpp - Sizes of local dims, by rank ----------------------===//

#include "shardc/Analysis/LocalSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/Varying.h"
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
/// What is asked of a size: how large it is on each rank.
struct SizeByRank {
  using Answer = SmallVector<int64_t>;
  MeshAttr mesh;
  bool isEstimate = false; ///< of sizes that follow from what is bound

  Answer everywhere(int64_t size) const {
    return Answer(mesh.getNumRanks(), size);
  }

  /// Entries by coordinate along `names`, spread out by rank.
  std::optional<Answer> spread(ArrayRef<int64_t> table,
                               ArrayRef<StringAttr> names,
                               const Formula &formula) const {
    if (formula && !isEstimate)
      return std::nullopt;
    SmallVector<int64_t> axes;
    for (StringAttr name : names)
      axes.push_back(mesh.getAxisIndex(name.getValue()));
    Answer result;
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
      result.push_back(table[coordinateAlong(mesh.getAxisSizes(), axes, rank)]);
    return result;
  }

  std::optional<Answer> ofCut(DimShardingAttr dim) const {
    if (!dim.getSizes())
      return std::nullopt;
    return spread(dim.getSizes().asArrayRef(), dim.getAxes(), {});
  }

  /// INT64_MAX where there are more.
  static void multiply(Answer &product, const Answer &sizes) {
    for (auto [total, size] : llvm::zip_equal(product, sizes))
      if (llvm::MulOverflow(total, size, total))
        total = INT64_MAX;
  }

  static void add(Answer &sum, const Answer &sizes) {
    for (auto [total, size] : llvm::zip_equal(sum, sizes))
      if (llvm::AddOverflow(total, size, total))
        total = INT64_MAX;
  }
};

/// What is asked of a size: along which axes it differs.
struct SizeAxes {
  using Answer = llvm::SetVector<StringAttr>;
  MeshAttr mesh;

  Answer everywhere(int64_t) const { return {}; }

  std::optional<Answer> spread(ArrayRef<int64_t> table,
                               ArrayRef<StringAttr> names,
                               const Formula &formula) const {
    Answer result;
    for (StringAttr name : names)
      if (formula ? formulaVaries(formula, mesh.getAxisIndex(name.getValue()))
                  : tableVaries(table, names, mesh, name))
        result.insert(name);
    return result;
  }

  std::optional<Answer> ofCut(DimShardingAttr dim) const {
    if (dim.getSizes())
      return spread(dim.getSizes().asArrayRef(), dim.getAxes(), {});
    return Answer(dim.getAxes().begin(), dim.getAxes().end());
  }

  static void multiply(Answer &product, const Answer &sizes) {
    product.insert_range(sizes);
  }
  static void add(Answer &sum, const Answer &sizes) { sum.insert_range(sizes); }
};

/// One query. Values on the way are remembered, so that loops end.
template <typename Asked> struct SizeQuery {
  using Answer = std::optional<typename Asked::Answer>;
  Asked asked;
  llvm::DenseSet<std::pair<Value, int64_t>> seen = {};
  /// So that a long program does not take all of the stack.
  static constexpr size_t kMostAsked = 2000;

  Answer ofIndex(OpFoldResult index);
  Answer ofDim(Value value, int64_t dim);
  Answer ofResultDim(Operation *op, OpResult result, int64_t dim);
  Answer ofFactor(Operation *op, OpResult result, int64_t dim);
  Answer ofGathered(GatherRowsOp op, int64_t dim);
  Answer ofNeeded(DimExchangeAttr dim) const;
  Answer ofSlices(stablehlo::DynamicGatherOp op, int64_t dim);
};
} // namespace

template <typename Asked>
typename SizeQuery<Asked>::Answer
SizeQuery<Asked>::ofIndex(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return asked.everywhere(*constant);
  auto value = dyn_cast<Value>(index);
  if (!value)
    return std::nullopt;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return ofIndex(cast.getIn());
  if (auto lookup = value.getDefiningOp<LookupOp>())
    return asked.spread(
        lookup.getTable(),
        llvm::to_vector(lookup.getAxes().getAsRange<StringAttr>()),
        lookup.getFormulaAttr() ? lookup.getFormulaAttr().getFormula()
                                : Formula());
  if (auto size = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dim = size.getConstantIndex())
      return ofDim(size.getSource(), *dim);
  return std::nullopt;
}

/// Of positions: dims around the addressed ones, dims of the indices, parts of
/// slices.
template <typename Asked>
typename SizeQuery<Asked>::Answer SizeQuery<Asked>::ofGathered(GatherRowsOp op,
                                                               int64_t dim) {
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
    return ofNeeded(attr);
  }
  return ofDim(op.getOperand(),
               first + static_cast<int64_t>(plan.getRows().size()) + place);
}

/// How much of a dim is needed.
template <typename Asked>
typename SizeQuery<Asked>::Answer
SizeQuery<Asked>::ofNeeded(DimExchangeAttr dim) const {
  SmallVector<int64_t> sizes;
  DimExchange exchange = dim.getExchange(asked.mesh);
  for (Interval needed : exchange.needed)
    sizes.push_back(needed.size());
  return asked.spread(sizes, dim.getAxes(), exchange.neededFormula);
}

/// Of a gather whose slices have other sizes on other ranks: dims of the
/// indices, and sizes of slices along the operand's dims that they keep.
template <typename Asked>
typename SizeQuery<Asked>::Answer
SizeQuery<Asked>::ofSlices(stablehlo::DynamicGatherOp op, int64_t dim) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> offsets = numbers.getOffsetDims();
  int64_t before =
      llvm::count_if(offsets, [&](int64_t offset) { return offset < dim; });
  if (!llvm::is_contained(offsets, dim)) {
    int64_t place = dim - before;
    return ofDim(op.getStartIndices(),
                 place < numbers.getIndexVectorDim() ? place : place + 1);
  }
  auto sizes = op.getSliceSizes().getDefiningOp<tensor::FromElementsOp>();
  if (!sizes)
    return std::nullopt;
  for (auto [number, size] : llvm::enumerate(sizes.getElements())) {
    int64_t from = static_cast<int64_t>(number);
    bool isKept = !llvm::is_contained(numbers.getCollapsedSliceDims(), from) &&
                  !llvm::is_contained(numbers.getOperandBatchingDims(), from);
    if (isKept && before-- == 0)
      return ofIndex(size);
  }
  return std::nullopt;
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

template <typename Asked>
typename SizeQuery<Asked>::Answer
SizeQuery<Asked>::ofResultDim(Operation *op, OpResult result, int64_t dim) {
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
        if (attr.getDim() == dim)
          return ofNeeded(attr);
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
    typename Asked::Answer size = asked.everywhere(1);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t from : group) {
      Answer next = ofDim(collapse.getSrc(), from);
      if (!next)
        return std::nullopt;
      Asked::multiply(size, *next);
    }
    return size;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Answer size = ofDim(pad.getSource(), dim);
    Answer low = ofIndex(pad.getMixedLowPad()[dim]),
           high = ofIndex(pad.getMixedHighPad()[dim]);
    if (!size || !low || !high)
      return std::nullopt;
    Asked::add(*size, *low);
    Asked::add(*size, *high);
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
        if (Answer sizes = ofDim(operand, dim))
          return sizes;
    }
  if (auto whole = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    if (static_cast<int64_t>(whole.getDimension()) != dim)
      return ofDim(whole.getInputs().front(), dim);
    typename Asked::Answer sum = asked.everywhere(0);
    for (Value part : whole.getInputs()) {
      Answer size = ofDim(part, dim);
      if (!size)
        return std::nullopt;
      Asked::add(sum, *size);
    }
    return sum;
  }
  if (auto kept = keptDim(op, dim))
    return ofDim(kept->first, kept->second);
  if (auto gather = dyn_cast<stablehlo::DynamicGatherOp>(op))
    return ofSlices(gather, dim);
  // These take their result's shape last.
  if (isa<stablehlo::DynamicIotaOp, stablehlo::DynamicReshapeOp,
          stablehlo::DynamicBroadcastInDimOp>(op))
    if (auto shape =
            op->getOperands().back().getDefiningOp<tensor::FromElementsOp>())
      return ofIndex(shape.getOperand(dim));
  return ofFactor(op, result, dim);
}

/// Of a factor that a dim of an operand has for itself as well.
template <typename Asked>
typename SizeQuery<Asked>::Answer
SizeQuery<Asked>::ofFactor(Operation *op, OpResult result, int64_t dim) {
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
        if (Answer sizes = ofDim(operand, operandDim))
          return sizes;
  return std::nullopt;
}

template <typename Asked>
typename SizeQuery<Asked>::Answer SizeQuery<Asked>::ofDim(Value value,
                                                          int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return asked.everywhere(type.getDimSize(dim));
  if (seen.size() > kMostAsked || !seen.insert({value, dim}).second)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  if (std::optional<ControlFlow> flow = getControlFlow(op)) {
    for (auto [from, to] : flow->edges)
      if (to == value)
        if (Answer sizes = ofDim(from, dim))
          return sizes;
    return std::nullopt;
  }
  if (auto result = dyn_cast<OpResult>(value))
    return ofResultDim(op, result, dim);
  // An argument of the function: its sharding says.
  if (ShardingAttr sharding = getSharding(value))
    return asked.ofCut(sharding.getDims()[dim]);
  return std::nullopt;
}

ByRank shardc::getLocalSizes(Value value, int64_t dim, MeshAttr mesh) {
  return SizeQuery<SizeByRank>{{mesh}}.ofDim(value, dim);
}

std::optional<llvm::SetVector<StringAttr>>
shardc::getSizeAxes(Value value, int64_t dim, MeshAttr mesh) {
  return SizeQuery<SizeAxes>{{mesh}}.ofDim(value, dim);
}

static ByRank elementsOf(Value value, MeshAttr mesh, bool isEstimate) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> elements(mesh.getNumRanks(), 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ByRank sizes = SizeQuery<SizeByRank>{{mesh, isEstimate}}.ofDim(value, dim);
    if (!sizes)
      return std::nullopt;
    SizeByRank::multiply(elements, *sizes);
  }
  return elements;
}

ByRank shardc::getLocalElements(Value value, MeshAttr mesh) {
  return elementsOf(value, mesh, /*isEstimate=*/false);
}

ByRank shardc::estimateLocalElements(Value value, MeshAttr mesh) {
  return elementsOf(value, mesh, /*isEstimate=*/true);
}
