//===- Addressing.cpp - Elements at places that are values ----------------===//
#include "Evaluator.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <algorithm>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// Start indices of a dynamic slice: scalars, each kept where the box fits.
static Shape clampedStarts(ArrayRef<Array> scalars, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> box) {
  Shape starts;
  for (auto [i, scalar] : llvm::enumerate(scalars)) {
    int64_t last = shape[i] - box[i], start = scalar.integer();
    // As unsigned numbers large ones are beyond the end, not before 0.
    if (!scalar.format().isSigned && start < 0)
      start = last;
    starts.push_back(std::clamp<int64_t>(start, 0, last));
  }
  return starts;
}

static FailureOr<Values> evaluateDynamicSlice(Evaluator &,
                                              stablehlo::DynamicSliceOp op,
                                              ArrayRef<Array> in) {
  Shape starts =
      clampedStarts(in.drop_front(), in[0].shape(), op.getSliceSizes());
  return Values{in[0].slice(starts, op.getSliceSizes())};
}

static FailureOr<Values>
evaluateDynamicUpdateSlice(Evaluator &, stablehlo::DynamicUpdateSliceOp op,
                           ArrayRef<Array> in) {
  Array result = in[0];
  result.write(in[1],
               clampedStarts(in.drop_front(2), in[0].shape(), in[1].shape()));
  return Values{result};
}

/// Component `part` of the index vector that `batch` names in `indices`.
static int64_t indexComponent(const Array &indices, int64_t vectorDim,
                              ArrayRef<int64_t> batch, int64_t part) {
  Shape at;
  size_t next = 0;
  for (int64_t d = 0; d < indices.rank(); ++d)
    at.push_back(d == vectorDim ? part : batch[next++]);
  int64_t value = indices.at(at).integer;
  // Beyond the end of any tensor, as an unsigned number.
  return !indices.format().isSigned && value < 0
             ? std::numeric_limits<int64_t>::max() / 2
             : value;
}

/// The position of a batching dim of the indices among the batch's coordinates.
static int64_t batchPosition(int64_t indicesDim, int64_t vectorDim) {
  return indicesDim < vectorDim ? indicesDim : indicesDim - 1;
}

static Array gather(const Array &operand, const Array &indices,
                    stablehlo::GatherDimensionNumbersAttr dims,
                    ArrayRef<int64_t> sizes) {
  int64_t vectorDim = dims.getIndexVectorDim();
  Shape batchShape, windowShape, windowDims;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != vectorDim)
      batchShape.push_back(indices.dim(d));
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), d) &&
        !llvm::is_contained(dims.getOperandBatchingDims(), d)) {
      windowDims.push_back(d);
      windowShape.push_back(sizes[d]);
    }
  int64_t rank = batchShape.size() + windowShape.size();
  Shape shape;
  size_t nextBatch = 0, nextWindow = 0;
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(dims.getOffsetDims(), d)
                        ? windowShape[nextWindow++]
                        : batchShape[nextBatch++]);

  Array result(operand.format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Shape batch, window;
    for (int64_t d = 0; d < rank; ++d)
      (llvm::is_contained(dims.getOffsetDims(), d) ? window : batch)
          .push_back(index[d]);
    Shape from(operand.rank(), 0);
    for (auto [part, dim] : llvm::enumerate(dims.getStartIndexMap()))
      from[dim] =
          std::clamp<int64_t>(indexComponent(indices, vectorDim, batch, part),
                              0, operand.dim(dim) - sizes[dim]);
    for (auto [dim, indicesDim] : llvm::zip_equal(
             dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
      from[dim] = batch[batchPosition(indicesDim, vectorDim)];
    for (auto [i, dim] : llvm::enumerate(windowDims))
      from[dim] += window[i];
    result.set(next++) = operand.at(from);
  });
  return result;
}

static FailureOr<Values> evaluateGather(Evaluator &, stablehlo::GatherOp op,
                                        ArrayRef<Array> in) {
  return Values{
      gather(in[0], in[1], op.getDimensionNumbers(), op.getSliceSizes())};
}

static FailureOr<Values> evaluateDynamicGather(Evaluator &,
                                               stablehlo::DynamicGatherOp op,
                                               ArrayRef<Array> in) {
  Shape sizes;
  for (int64_t i = 0; i < in[2].size(); ++i)
    sizes.push_back(in[2].integer(i));
  return Values{gather(in[0], in[1], op.getDimensionNumbers(), sizes)};
}

static FailureOr<Values> evaluateScatter(Evaluator &evaluator,
                                         stablehlo::ScatterOp op,
                                         ArrayRef<Array> in) {
  auto dims = op.getScatterDimensionNumbers();
  size_t count = op.getInputs().size();
  Values results(in.take_front(count));
  const Array &indices = in[count];
  ArrayRef<Array> updates = in.drop_front(count + 1);
  int64_t vectorDim = dims.getIndexVectorDim(), rank = results[0].rank();
  Shape windowDims;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims.getInsertedWindowDims(), d) &&
        !llvm::is_contained(dims.getInputBatchingDims(), d))
      windowDims.push_back(d);
  Region &region = op.getUpdateComputation();
  Operation *single = count == 1 ? evaluator.singleOp(region) : nullptr;
  Binary combine = single ? evaluator.binaryOf(single) : nullptr;
  bool isBlock =
      op->hasAttr(stablehlo::StablehloDialect::BlockAttrHelper::getNameStr());

  bool isFailed = false;
  int64_t next = 0;
  // In the order of the updates; where they meet, that is the order taken.
  forEachIndex(updates[0].shape(), [&](ArrayRef<int64_t> index) {
    int64_t update = next++;
    if (isFailed)
      return;
    Shape batch, window;
    for (int64_t d = 0; d < static_cast<int64_t>(index.size()); ++d)
      (llvm::is_contained(dims.getUpdateWindowDims(), d) ? window : batch)
          .push_back(index[d]);
    Shape to(rank, 0);
    for (auto [part, dim] : llvm::enumerate(dims.getScatterDimsToOperandDims()))
      to[dim] = indexComponent(indices, vectorDim, batch, part);
    for (auto [dim, indicesDim] : llvm::zip_equal(
             dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims()))
      to[dim] = batch[batchPosition(indicesDim, vectorDim)];
    // A window that does not fit as a whole is dropped as a whole; of a rank's
    // block, only what is outside of it.
    for (auto [i, dim] : llvm::enumerate(windowDims)) {
      int64_t updateDim = dims.getUpdateWindowDims()[i];
      if (!isBlock && (to[dim] < 0 || to[dim] + updates[0].dim(updateDim) >
                                          results[0].dim(dim)))
        return;
      to[dim] += window[i];
    }
    for (int64_t d = 0; d < rank; ++d)
      if (to[d] < 0 || to[d] >= results[0].dim(d))
        return;
    int64_t place = results[0].flat(to);
    if (combine) {
      results[0].set(place) =
          combine(results[0].format(), results[0][place], updates[0][update]);
      return;
    }
    Values arguments;
    for (const Array &result : results)
      arguments.push_back(result.elementAt(place));
    for (const Array &values : updates)
      arguments.push_back(values.elementAt(update));
    FailureOr<Values> made = evaluator.apply(region, arguments);
    if ((isFailed = failed(made)))
      return;
    for (auto [result, value] : llvm::zip_equal(results, *made))
      result.set(place) = value[0];
  });
  if (isFailed)
    return failure();
  return results;
}

/// Slices of a dim by index. The first dims of both are batches; those of the
/// index behind them take the dim's place.
static FailureOr<Values>
evaluateTorchIndexSelect(Evaluator &, stablehlo::TorchIndexSelectOp op,
                         ArrayRef<Array> in) {
  const Array &operand = in[0], &indices = in[1];
  auto dim = static_cast<int64_t>(op.getDim()),
       batches = static_cast<int64_t>(op.getBatchDims());
  assert(0 <= batches && batches <= dim && dim < operand.rank() &&
         batches <= indices.rank() && "verified");
  ArrayRef<int64_t> index = indices.shape(), whole = operand.shape();
  Shape shape(whole.take_front(dim));
  shape.append(index.begin() + batches, index.end());
  shape.append(whole.begin() + dim + 1, whole.end());
  int64_t inserted = indices.rank() - batches;
  Array result(operand.format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> at) {
    Shape place(at.take_front(batches)), from(at.take_front(dim));
    llvm::append_range(place, at.slice(dim, inserted));
    int64_t row = indices.at(place).integer, last = operand.dim(dim) - 1;
    // As an unsigned number it is beyond the end.
    if (!indices.format().isSigned && row < 0)
      row = last;
    from.push_back(std::clamp<int64_t>(row, 0, std::max<int64_t>(last, 0)));
    llvm::append_range(from, at.drop_front(dim + inserted));
    result.set(next++) = operand.at(from);
  });
  return Values{result};
}

void shardc::interpreter::addAddressing(Table &table) {
  table.add<stablehlo::DynamicSliceOp>(evaluateDynamicSlice);
  table.add<stablehlo::DynamicUpdateSliceOp>(evaluateDynamicUpdateSlice);
  table.add<stablehlo::GatherOp>(evaluateGather);
  table.add<stablehlo::DynamicGatherOp>(evaluateDynamicGather);
  table.add<stablehlo::ScatterOp>(evaluateScatter);
  table.add<stablehlo::TorchIndexSelectOp>(evaluateTorchIndexSelect);
}
