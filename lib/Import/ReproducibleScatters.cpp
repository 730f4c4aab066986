//===- ReproducibleScatters.cpp - Updates by index in any cut -------------===//
#include "Reproducible.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::import::reproducible;
using namespace shardc::stablehlo;

/// Dims of the updates along which elements collide in one place: all but
/// those that cover a whole dim of the operand.
static SmallVector<int64_t> collidingDims(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> operand =
      cast<RankedTensorType>(op.getInputs().front().getType()).getShape();
  RankedTensorType updates =
      cast<RankedTensorType>(op.getUpdates().front().getType());
  SmallVector<int64_t> windowed;
  for (int64_t dim = 0; dim < static_cast<int64_t>(operand.size()); ++dim)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), dim))
      windowed.push_back(dim);
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim) {
    bool isWhole = false;
    if (llvm::is_contained(numbers.getUpdateWindowDims(), dim))
      isWhole = updates.getDimSize(dim) == operand[windowed[next++]];
    if (!isWhole)
      dims.push_back(dim);
  }
  return dims;
}

/// `value` with dims `first` in front, as one, then the others in their order.
static Value asRows(Ops &ops, Value value, ArrayRef<int64_t> first) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> order(first), moved, shape{1};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(first, dim))
      order.push_back(dim);
  for (auto [place, dim] : llvm::enumerate(order)) {
    moved.push_back(type.getDimSize(dim));
    if (place < first.size())
      shape[0] *= moved.back();
    else
      shape.push_back(moved.back());
  }
  if (!llvm::is_sorted(order))
    value = TransposeOp::create(ops.b, type.clone(moved), value, order);
  return ops.reshape(value, shape);
}

/// Rows `numbers` of `value`.
static Value takeRows(Ops &ops, Value value, Value numbers) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> slice(type.getShape());
  slice[0] = 1;
  auto dims = GatherDimensionNumbersAttr::get(
      ops.b.getContext(),
      llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())), {0}, {}, {}, {0},
      /*indexVectorDim=*/1);
  return GatherOp::create(ops.b, value, numbers, dims, slice,
                          /*indices_are_sorted=*/false);
}

/// `value` whose rows are those `distance` before; where there are none,
/// `number`.
static Value rowsBefore(Ops &ops, Value value, int64_t distance, Value number) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low);
  low[0] = std::max<int64_t>(distance, 0),
  high[0] = std::max<int64_t>(-distance, 0);
  Value part = sliceOf(ops, value, 0, high[0], type.getDimSize(0) - low[0]);
  return PadOp::create(ops.b, type, part, number, low, high, none);
}

/// Updates of one place are sorted side by side, combined by a tree
/// along their number among all, and the last of each place has what comes of
/// it: one update a place.
static LogicalResult combineBeforeScatter(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> indexed = numbers.getScatterDimsToOperandDims();
  if (!numbers.getInputBatchingDims().empty() ||
      !llvm::all_of(indexed, [&](int64_t dim) {
        return llvm::is_contained(numbers.getInsertedWindowDims(), dim);
      }))
    return refuse(op,
                  "updates longer than an element in a dim that is indexed, or "
                  "in batches, may meet in parts; scatter elements");
  Ops ops(op);
  ImplicitLocOpBuilder &b = ops.b;
  ArrayRef<int64_t> operandShape =
      Ops::typeOf(op.getInputs().front()).getShape();
  // Indices as rows.
  Value indices = op.getScatterIndices();
  SmallVector<int64_t> lines;
  for (int64_t dim = 0; dim < Ops::typeOf(indices).getRank(); ++dim)
    if (dim != numbers.getIndexVectorDim())
      lines.push_back(dim);
  indices = asRows(ops, indices, lines);
  int64_t rows = Ops::typeOf(indices).getDimSize(0), parts = indexed.size();
  if (failed(needKnown(op, {rows})))
    return failure();
  indices = ops.reshape(indices, {rows, parts});
  // Updates as rows.
  SmallVector<int64_t> colliding, windows;
  RankedTensorType updateType = Ops::typeOf(op.getUpdates().front());
  for (int64_t dim = 0; dim < updateType.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), dim))
      colliding.push_back(dim);
  SmallVector<Value> updates;
  for (Value update : op.getUpdates())
    updates.push_back(asRows(ops, update, colliding));
  // One number a place; what is outside, in any way, is no place.
  Type wide = b.getI64Type();
  RankedTensorType line = RankedTensorType::get({rows}, wide);
  Value key = ops.splatBits(line, 0);
  for (auto [part, dim] : llvm::enumerate(indexed)) {
    Value index = ops.convert(
        ops.reshape(sliceOf(ops, indices, 1, part, part + 1), {rows}), wide);
    index = ops.op<MaxOp>(index, ops.splatBits(line, -1));
    index = ops.op<MinOp>(index, ops.splatBits(line, operandShape[dim]));
    Value scaled =
        ops.op<MulOp>(key, ops.splatBits(line, operandShape[dim] + 2));
    key = ops.op<AddOp>(scaled, ops.op<AddOp>(index, ops.splatBits(line, 1)));
  }
  Value number = ops.iota(line, 0);
  auto sort = SortOp::create(b, TypeRange{line, line}, ValueRange{key, number},
                             /*dimension=*/0, /*is_stable=*/true);
  {
    Block &body = sort.getComparator().emplaceBlock();
    auto scalar = RankedTensorType::get({}, wide);
    for (int i = 0; i < 4; ++i)
      body.addArgument(scalar, op.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    Value less =
        CompareOp::create(inside, op.getLoc(), body.getArgument(0),
                          body.getArgument(1), ComparisonDirection::LT);
    ReturnOp::create(inside, op.getLoc(), less);
  }
  key = sort->getResult(0);
  Value order = ops.reshape(sort->getResult(1), {rows, 1});
  indices = takeRows(ops, indices, order);
  for (Value &update : updates)
    update = takeRows(ops, update, order);
  auto none = ops.splatBits(RankedTensorType::get({}, wide), -1);
  for (int64_t distance = 1; distance < rows; distance *= 2) {
    Value isSame = ops.compare("EQ", rowsBefore(ops, key, distance, none), key);
    SmallVector<Value> operands;
    for (Value update : updates) {
      Value zero = ops.splat(
          RankedTensorType::get({}, Ops::typeOf(update).getElementType()), 0);
      operands.push_back(rowsBefore(ops, update, distance, zero));
    }
    llvm::append_range(operands, updates);
    FailureOr<SmallVector<Value>> joined =
        combine(ops, op, op.getUpdateComputation(), operands);
    if (failed(joined))
      return failure();
    for (auto [update, more] : llvm::zip(updates, *joined))
      update =
          ops.select(ops.broadcast(isSame, Ops::typeOf(update).getShape(), {0}),
                     more, update);
  }
  Value isLast = ops.compare("NE", rowsBefore(ops, key, -1, none), key);
  Value nowhere = ops.splatBits(Ops::typeOf(indices), -1);
  indices =
      ops.select(ops.broadcast(isLast, {rows, parts}, {0}), indices, nowhere);
  SmallVector<int64_t> updateDims = llvm::to_vector(
      llvm::seq<int64_t>(1, 1 + numbers.getUpdateWindowDims().size()));
  auto made = ScatterOp::create(
      b, op->getResultTypes(), op.getInputs(), indices, updates,
      ScatterDimensionNumbersAttr::get(b.getContext(), updateDims,
                                       numbers.getInsertedWindowDims(), {}, {},
                                       indexed, /*indexVectorDim=*/1),
      /*indices_are_sorted=*/false, /*unique_indices=*/false);
  made.getUpdateComputation().takeBody(op.getUpdateComputation());
  replace(op, made->getResults());
  return success();
}

LogicalResult reproducible::rewrite(ScatterOp op) {
  unsigned count = op.getInputs().size();
  Region &body = op.getUpdateComputation();
  if (isOrderFree(body, count) || overwrites(body, count))
    return success();
  Value input = op.getInputs().front(), updates = op.getUpdates().front();
  if (Ops::typeOf(updates).getNumElements() == 0)
    return success();
  if (!addsUp(body, count) || !isFloat(input))
    return op.getUniqueIndices() ? success() : combineBeforeScatter(op);
  ExactSums sums(op);
  Ops &ops = sums.ops;
  Type wide = ops.b.getF64Type();
  SmallVector<int64_t> dims = collidingDims(op);
  RankedTensorType type = Ops::withElement(input, wide);
  SmallVector<Value> parts;
  ExactSums::Count terms = sums.countOf(meshOf(op), sizesOf(updates, dims));
  for (Value term : sums.split(updates, dims, terms)) {
    OperationState state(op.getLoc(), op->getName(),
                         {ops.splat(type, 0), op.getScatterIndices(), term},
                         {type});
    state.propertiesAttr = op->getPropertiesAsAttribute();
    addSumBody(state, wide);
    parts.push_back(ops.b.create(state)->getResult(0));
  }
  if (!isZero(input, /*orNegative=*/true))
    parts.push_back(ops.convert(input, wide));
  replace(op, sums.finish(parts, Ops::typeOf(input).getElementType()));
  return success();
}
