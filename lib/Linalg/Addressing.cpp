//===- Addressing.cpp - gather and scatter --------------------------------===//
//
// gather: one generic over the result, whose inputs are the components of the
// start indices; each element reads the operand at its clamped start. scatter:
// loops over the updates in order, on the input as a carried tensor. An update
// element that would fall outside is dropped.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

namespace {
/// The dims of an index tensor: its batch dims in order, and the components of
/// its index vectors as tensors over these.
struct IndexVectors {
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> components;
};
} // namespace

/// The tensor that has component `i` of the index vectors, and its place there:
/// what vectors are concatenated of is read as it is.
static std::pair<Value, int64_t> componentOf(Value source, int64_t vectorDim,
                                             int64_t i) {
  while (auto joined = source.getDefiningOp<stablehlo::ConcatenateOp>()) {
    if (static_cast<int64_t>(joined.getDimension()) != vectorDim)
      break;
    for (Value part : joined.getInputs()) {
      auto type = cast<RankedTensorType>(part.getType());
      if (type.isDynamicDim(vectorDim))
        return {source, i};
      source = part;
      if (i < type.getDimSize(vectorDim))
        break;
      i -= type.getDimSize(vectorDim);
    }
  }
  return {source, i};
}

/// What `part`, which has one component, is without its dim `vectorDim`; null
/// if no op says so.
static Value withoutVectorDim(Value part, int64_t vectorDim) {
  auto type = cast<RankedTensorType>(part.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + vectorDim);
  auto isWanted = [&](Value operand) {
    return cast<RankedTensorType>(operand.getType()).getShape() ==
           ArrayRef(shape);
  };
  if (auto reshape = part.getDefiningOp<stablehlo::ReshapeOp>();
      reshape && type.hasStaticShape() && isWanted(reshape.getOperand()))
    return reshape.getOperand();
  auto broadcast = part.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !type.hasStaticShape() || !isWanted(broadcast.getOperand()))
    return {};
  SmallVector<int64_t> others =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  others.erase(others.begin() + vectorDim);
  return broadcast.getBroadcastDimensions() == ArrayRef(others)
             ? broadcast.getOperand()
             : Value();
}

static IndexVectors splitIndices(Lowerer &l, Value source, int64_t vectorDim,
                                 size_t count) {
  ImplicitLocOpBuilder &b = l.b;
  IndexVectors result;
  Value indices = l.tensor(source);
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t rank = type.getRank();
  result.sizes = l.sizes(indices);
  if (vectorDim == rank) {
    result.components.push_back(indices);
    return result;
  }
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      ones(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents(result.sizes);
  shape.erase(shape.begin() + vectorDim);
  extents[vectorDim] = b.getIndexAttr(1);
  result.sizes.erase(result.sizes.begin() + vectorDim);
  for (size_t i = 0; i < count; ++i) {
    auto [part, place] = componentOf(source, vectorDim, i);
    auto partType = cast<RankedTensorType>(part.getType());
    if (Value alone = partType.getDimSize(vectorDim) == 1
                          ? withoutVectorDim(part, vectorDim)
                          : Value()) {
      result.components.push_back(l.tensor(alone));
      continue;
    }
    offsets[vectorDim] = b.getIndexAttr(place);
    result.components.push_back(
        l.slice(l.tensor(part), offsets, extents, ones,
                RankedTensorType::get(shape, type.getElementType())));
  }
  return result;
}

// Position of `value` in `list`, or -1.
static int64_t positionOf(ArrayRef<int64_t> list, int64_t value) {
  const int64_t *it = llvm::find(list, value);
  return it == list.end() ? -1 : it - list.begin();
}

// The batch dim of the result (or updates) for dim `dim` of the indices.
static int64_t batchPosition(int64_t dim, int64_t vectorDim) {
  return dim < vectorDim ? dim : dim - 1;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static LogicalResult lowerGather(Lowerer &l, Operation *op, Value operandSource,
                                 Value indices,
                                 stablehlo::GatherDimensionNumbersAttr dims,
                                 ArrayRef<OpFoldResult> sliceSizes) {
  ImplicitLocOpBuilder &b = l.b;
  MLIRContext *ctx = b.getContext();
  auto type = cast<RankedTensorType>(signlessType(op->getResult(0).getType()));
  Value operand = l.tensor(operandSource);
  int64_t operandRank = cast<RankedTensorType>(operand.getType()).getRank();
  ArrayRef<int64_t> startMap = dims.getStartIndexMap();
  IndexVectors starts =
      splitIndices(l, indices, dims.getIndexVectorDim(), startMap.size());

  // Result dims: offset dims at their places, batch dims at the others.
  SmallVector<int64_t> batchDims;
  SmallVector<OpFoldResult> sizes(type.getRank());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims.getOffsetDims(), dim)) {
      sizes[dim] = starts.sizes[batchDims.size()];
      batchDims.push_back(dim);
    }
  SmallVector<int64_t> offsetDims(operandRank, -1);
  int64_t offset = 0;
  for (int64_t dim = 0; dim < operandRank; ++dim)
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(dims.getOperandBatchingDims(), dim)) {
      offsetDims[dim] = dims.getOffsetDims()[offset++];
      sizes[offsetDims[dim]] = sliceSizes[dim];
    }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim))
      sizes[dim] = b.getIndexAttr(type.getDimSize(dim));

  // The largest start of each indexed dim; null where the slice is the whole.
  SmallVector<Value> bounds;
  AffineExpr room = b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1);
  for (int64_t dim : startMap) {
    OpFoldResult most = l.affine(room, {l.size(operand, dim), sliceSizes[dim]});
    std::optional<int64_t> known = getConstantIntValue(most);
    bounds.push_back(known && *known == 0 ? Value() : l.value(most));
  }
  Value zero = l.index(0);
  SmallVector<AffineExpr> batch;
  for (int64_t dim : batchDims)
    batch.push_back(getAffineDimExpr(dim, ctx));
  SmallVector<AffineMap> maps(starts.components.size(),
                              AffineMap::get(type.getRank(), 0, batch, ctx));
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < operandRank; ++dim) {
      Value position;
      if (int64_t i = positionOf(startMap, dim); i >= 0 && bounds[i]) {
        Value start = l.toIndex(args[i], elementType(indices.getType()));
        start = arith::MaxSIOp::create(b, start, zero);
        position = arith::MinSIOp::create(b, start, bounds[i]);
      } else if (int64_t j = positionOf(dims.getOperandBatchingDims(), dim);
                 j >= 0) {
        int64_t from = dims.getStartIndicesBatchingDims()[j];
        position = linalg::IndexOp::create(
            b, batchDims[batchPosition(from, dims.getIndexVectorDim())]);
      }
      if (offsetDims[dim] >= 0) {
        Value index = linalg::IndexOp::create(b, offsetDims[dim]);
        position = position
                       ? arith::AddIOp::create(b, position, index).getResult()
                       : index;
      }
      at.push_back(position ? position : zero);
    }
    return {tensor::ExtractOp::create(b, operand, at).getResult()};
  };
  l.set(op->getResult(0),
        l.generic(starts.components, l.empty(sizes, type.getElementType()),
                  maps, iterators, body)
            .front());
  return success();
}

static LogicalResult lowerStaticGather(Lowerer &l, stablehlo::GatherOp op) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : op.getSliceSizes())
    sizes.push_back(l.b.getIndexAttr(size));
  return lowerGather(l, op, op.getOperand(), op.getStartIndices(),
                     op.getDimensionNumbers(), sizes);
}

static LogicalResult lowerDynamicGather(Lowerer &l,
                                        stablehlo::DynamicGatherOp op) {
  return lowerGather(l, op, op.getOperand(), op.getStartIndices(),
                     op.getDimensionNumbers(),
                     l.shapeValues(op.getSliceSizes()));
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {
/// Emits one scatter.
struct ScatterEmitter {
  Lowerer &l;
  ImplicitLocOpBuilder &b;
  stablehlo::ScatterOp op;
  stablehlo::ScatterDimensionNumbersAttr dims;
  SmallVector<Value> inputs, updates;
  int64_t inputRank, updateRank;
  SmallVector<int64_t> scatterDims; // of the updates: where not a window dim
  SmallVector<int64_t>
      windowDims; // for each input dim, its dim of the updates or -1
  SmallVector<OpFoldResult> inputSizes, updateSizes;
  IndexVectors starts;
  bool ok = true;

  explicit ScatterEmitter(Lowerer &l, stablehlo::ScatterOp op);
  LogicalResult emit();

private:
  bool isIndexed(int64_t dim) const {
    return llvm::is_contained(dims.getScatterDimsToOperandDims(), dim);
  }
  SmallVector<Value> windowStart(ValueRange at);
  Value inside(Value position, int64_t dim);
  SmallVector<Value> combine(ValueRange old, ValueRange update);
  SmallVector<Value> guarded(Value condition, ValueRange carried,
                             llvm::function_ref<SmallVector<Value>()> body);
  SmallVector<Value> updateBox(ValueRange at, ValueRange start,
                               ValueRange carried);
  SmallVector<Value> updateElement(ValueRange at, ValueRange position,
                                   ValueRange carried);
};
} // namespace

ScatterEmitter::ScatterEmitter(Lowerer &l, stablehlo::ScatterOp op)
    : l(l), b(l.b), op(op), dims(op.getScatterDimensionNumbers()) {
  for (Value input : op.getInputs())
    inputs.push_back(l.tensor(input));
  for (Value update : op.getUpdates())
    updates.push_back(l.tensor(update));
  inputRank = cast<RankedTensorType>(inputs.front().getType()).getRank();
  updateRank = cast<RankedTensorType>(updates.front().getType()).getRank();
  inputSizes = l.sizes(inputs.front());
  updateSizes = l.sizes(updates.front());
  for (int64_t dim = 0; dim < updateRank; ++dim)
    if (!llvm::is_contained(dims.getUpdateWindowDims(), dim))
      scatterDims.push_back(dim);
  int64_t window = 0;
  for (int64_t dim = 0; dim < inputRank; ++dim) {
    bool isWindow = !llvm::is_contained(dims.getInsertedWindowDims(), dim) &&
                    !llvm::is_contained(dims.getInputBatchingDims(), dim);
    windowDims.push_back(isWindow ? dims.getUpdateWindowDims()[window++] : -1);
  }
  starts = splitIndices(l, op.getScatterIndices(), dims.getIndexVectorDim(),
                        dims.getScatterDimsToOperandDims().size());
}

// Where the window of the update at `at` (its scatter dims) starts in the
// input.
SmallVector<Value> ScatterEmitter::windowStart(ValueRange at) {
  SmallVector<Value> start;
  for (int64_t dim = 0; dim < inputRank; ++dim) {
    if (int64_t i = positionOf(dims.getScatterDimsToOperandDims(), dim);
        i >= 0) {
      Value index = tensor::ExtractOp::create(b, starts.components[i], at);
      start.push_back(
          l.toIndex(index, elementType(op.getScatterIndices().getType())));
    } else if (int64_t j = positionOf(dims.getInputBatchingDims(), dim);
               j >= 0) {
      int64_t from = dims.getScatterIndicesBatchingDims()[j];
      start.push_back(at[batchPosition(from, dims.getIndexVectorDim())]);
    } else {
      start.push_back(l.index(0));
    }
  }
  return start;
}

Value ScatterEmitter::inside(Value position, int64_t dim) {
  // Below zero is far above every bound, read as unsigned.
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                               l.value(inputSizes[dim]));
}

SmallVector<Value> ScatterEmitter::combine(ValueRange old, ValueRange update) {
  SmallVector<Value> args(old);
  args.append(update.begin(), update.end());
  SmallVector<Value> next = l.scalarRegion(op.getUpdateComputation(), args);
  ok &= next.size() == old.size();
  return ok ? next : SmallVector<Value>(old);
}

SmallVector<Value>
ScatterEmitter::guarded(Value condition, ValueRange carried,
                        llvm::function_ref<SmallVector<Value>()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, carried.getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, carried);
  return llvm::to_vector_of<Value>(branch.getResults());
}

// The whole window at once: a slice of the input combined with one of the
// updates.
SmallVector<Value> ScatterEmitter::updateBox(ValueRange at, ValueRange start,
                                             ValueRange carried) {
  SmallVector<OpFoldResult> inOffsets, inExtents,
      inOnes(inputRank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> upOffsets(updateRank, b.getIndexAttr(0)),
      upExtents(updateSizes), upOnes(updateRank, b.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < inputRank; ++dim) {
    inOffsets.push_back(start[dim]);
    OpFoldResult extent = b.getIndexAttr(1);
    if (windowDims[dim] >= 0) {
      inOffsets.back() = b.getIndexAttr(0);
      extent = updateSizes[windowDims[dim]];
      shape.push_back(
          getConstantIntValue(extent).value_or(ShapedType::kDynamic));
    }
    inExtents.push_back(extent);
  }
  for (auto [dim, index] : llvm::zip(scatterDims, at)) {
    upOffsets[dim] = index;
    upExtents[dim] = b.getIndexAttr(1);
  }
  SmallVector<Value> olds, news;
  for (auto [input, update] : llvm::zip(carried, updates)) {
    auto type = RankedTensorType::get(shape, elementType(input.getType()));
    news.push_back(l.slice(update, upOffsets, upExtents, upOnes, type));
    olds.push_back(l.slice(input, inOffsets, inExtents, inOnes, type));
  }
  size_t count = olds.size();
  SmallVector<AffineMap> maps(2 * count,
                              b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  SmallVector<Value> sums =
      l.generic(news, olds, maps, iterators, [&](ValueRange args) {
        return combine(args.drop_front(count), args.take_front(count));
      });
  SmallVector<Value> result;
  for (auto [sum, input] : llvm::zip(sums, carried))
    result.push_back(l.insert(sum, input, inOffsets, inExtents, inOnes));
  return result;
}

SmallVector<Value> ScatterEmitter::updateElement(ValueRange at,
                                                 ValueRange position,
                                                 ValueRange carried) {
  SmallVector<Value> olds, news, result;
  for (auto [input, update] : llvm::zip(carried, updates)) {
    olds.push_back(tensor::ExtractOp::create(b, input, position));
    news.push_back(tensor::ExtractOp::create(b, update, at));
  }
  for (auto [sum, input] : llvm::zip(combine(olds, news), carried))
    result.push_back(tensor::InsertOp::create(b, sum, input, position));
  return result;
}

LogicalResult ScatterEmitter::emit() {
  SmallVector<OpFoldResult> outer, inner;
  SmallVector<int64_t> innerDims;
  for (int64_t dim : scatterDims)
    outer.push_back(updateSizes[dim]);
  bool hasWindow = false, movesWindow = false;
  for (int64_t dim = 0; dim < inputRank; ++dim)
    if (windowDims[dim] >= 0) {
      hasWindow = true;
      movesWindow |= isIndexed(dim);
      innerDims.push_back(dim);
      inner.push_back(updateSizes[windowDims[dim]]);
    }
  SmallVector<Value> results =
      l.loops(outer, inputs, [&](ValueRange at, ValueRange carried) {
        SmallVector<Value> start = windowStart(at);
        Value fixed; // the part of the check that the window does not change
        for (int64_t dim = 0; dim < inputRank; ++dim)
          if (isIndexed(dim) && windowDims[dim] < 0) {
            Value in = inside(start[dim], dim);
            fixed =
                fixed ? arith::AndIOp::create(b, fixed, in).getResult() : in;
          }
        return guarded(fixed, carried, [&]() -> SmallVector<Value> {
          if (!hasWindow)
            return updateElement(at, start, carried);
          if (!movesWindow)
            return updateBox(at, start, carried);
          return l.loops(
              inner, carried, [&](ValueRange offsets, ValueRange now) {
                SmallVector<Value> position(start), from(updateRank);
                for (auto [dim, index] : llvm::zip(scatterDims, at))
                  from[dim] = index;
                Value moved;
                for (auto [dim, offset] : llvm::zip(innerDims, offsets)) {
                  from[windowDims[dim]] = offset;
                  position[dim] = arith::AddIOp::create(b, start[dim], offset);
                  if (!isIndexed(dim))
                    continue;
                  Value in = inside(position[dim], dim);
                  moved = moved
                              ? arith::AndIOp::create(b, moved, in).getResult()
                              : in;
                }
                return guarded(moved, now, [&] {
                  return updateElement(from, position, now);
                });
              });
        });
      });
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    l.set(result, value);
  return success(ok);
}

static LogicalResult lowerScatter(Lowerer &l, stablehlo::ScatterOp op) {
  return ScatterEmitter(l, op).emit();
}

void shardc::lowering::addAddressing(LoweringTable &table) {
  table.op<stablehlo::GatherOp>(lowerStaticGather);
  table.op<stablehlo::DynamicGatherOp>(lowerDynamicGather);
  table.op<stablehlo::ScatterOp>(lowerScatter);
}
