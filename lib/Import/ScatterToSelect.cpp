//===- ScatterToSelect.cpp - One window for each batch --------------------===//
//
// The gradient of an element chosen in each row (a loss with labels) is a
// scatter into zeros. Each element of the result knows by its place whether it
// gets something: so the scatter is a choice, which is elementwise and fuses
// with what is around it.
//
//===----------------------------------------------------------------------===//
#include "Decompose.h"

#include "shardc/Dialect/StableHLO/IR/Reducers.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// The one value that all elements of `tensor` have.
static DenseElementsAttr splatOf(Value tensor) {
  while (auto spread = tensor.getDefiningOp<BroadcastInDimOp>())
    tensor = spread.getOperand();
  DenseElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements;
}

/// True if the body of `op` is one op on its two arguments, or gives the
/// update.
static bool isSimple(ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  if (body.without_terminator().empty())
    return body.getTerminator()->getOperand(0) == body.getArgument(1);
  Operation &combiner = body.front();
  return &combiner == body.getTerminator()->getPrevNode() &&
         isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(combiner) &&
         llvm::all_of(combiner.getOperands(), [&](Value operand) {
           return llvm::is_contained(body.getArguments(), operand);
         });
}

bool import::selectByPlace(ScatterOp op) {
  if (op.getInputs().size() != 1 || !op->getDiscardableAttrs().empty() ||
      !isSimple(op))
    return false;
  Value input = op.getInputs()[0], updates = op.getUpdates()[0],
        indices = op.getScatterIndices();
  auto type = Ops::typeOf(input), updatesType = Ops::typeOf(updates),
       indicesType = Ops::typeOf(indices);
  DenseElementsAttr constant = splatOf(input);
  if (!constant || !type.hasStaticShape() || !updatesType.hasStaticShape() ||
      !indicesType.hasStaticShape())
    return false;

  // By dim of the indices: the dim of the result that is the same batch.
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  int64_t vectorDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> batch;
  SmallVector<int64_t> batchSizes;
  // By dim of the updates, in order: the dim of the result, -1 for none.
  SmallVector<int64_t> toResult;
  auto indexBatch = numbers.getScatterIndicesBatchingDims();
  for (int64_t dim = 0; dim < indicesType.getRank(); ++dim) {
    if (dim == vectorDim)
      continue;
    auto found = llvm::find(indexBatch, dim);
    if (found != indexBatch.end()) {
      batch.push_back(
          numbers.getInputBatchingDims()[found - indexBatch.begin()]);
      batchSizes.push_back(indicesType.getDimSize(dim));
      toResult.push_back(batch.back());
      continue;
    }
    // A second window for the batch might be at the same place.
    if (indicesType.getDimSize(dim) != 1)
      return false;
    toResult.push_back(-1);
  }
  SmallVector<int64_t> windowDims;
  ArrayRef<int64_t> moved = numbers.getScatterDimsToOperandDims();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(numbers.getInputBatchingDims(), dim))
      continue;
    bool isMoved = llvm::is_contained(moved, dim);
    if (llvm::is_contained(numbers.getInsertedWindowDims(), dim)) {
      if (!isMoved && type.getDimSize(dim) != 1)
        return false;
      continue;
    }
    int64_t size = updatesType.getDimSize(
        numbers.getUpdateWindowDims()[windowDims.size()]);
    if (isMoved || size != type.getDimSize(dim))
      return false;
    windowDims.push_back(dim);
  }
  for (auto [at, dim] : llvm::zip(numbers.getUpdateWindowDims(), windowDims))
    toResult.insert(toResult.begin() + at, dim);

  Ops ops(op);
  auto constantOf = [&](RankedTensorType of) -> Value {
    return ConstantOp::create(ops.b, constant.resizeSplat(of));
  };
  FailureOr<Value> combined = combineElementwise(
      ops.b, op, op.getUpdateComputation(), constantOf(updatesType), updates);
  if (failed(combined))
    return false;
  SmallVector<int64_t> shape, dims;
  for (auto [dim, size] : llvm::zip_equal(toResult, updatesType.getShape()))
    if (dim >= 0) {
      dims.push_back(dim);
      shape.push_back(size);
    }
  Value taken =
      ops.broadcast(ops.reshape(*combined, shape), type.getShape(), dims);

  if (cast<IntegerType>(indicesType.getElementType()).getWidth() < 32) {
    indices = ops.convert(indices, IntegerType::get(op.getContext(), 32));
    indicesType = Ops::typeOf(indices);
  }
  Value here;
  for (auto [i, dim] : llvm::enumerate(moved)) {
    Value index = indices;
    if (vectorDim < indicesType.getRank()) {
      SmallVector<int64_t> from(indicesType.getRank(), 0),
          to(indicesType.getShape()), step(indicesType.getRank(), 1);
      from[vectorDim] = i;
      to[vectorDim] = i + 1;
      SmallVector<int64_t> one(indicesType.getShape());
      one[vectorDim] = 1;
      index = SliceOp::create(ops.b, indicesType.clone(one), indices, from, to,
                              step);
    }
    index =
        ops.broadcast(ops.reshape(index, batchSizes), type.getShape(), batch);
    Value place = ops.iota(type.clone(indicesType.getElementType()), dim);
    Value isHere = ops.compare("EQ", place, index);
    here = here ? ops.op<AndOp>(here, isHere) : isHere;
  }
  if (!here)
    return false;
  op->getResult(0).replaceAllUsesWith(
      ops.select(here, taken, constantOf(type)));
  op.erase();
  return true;
}
