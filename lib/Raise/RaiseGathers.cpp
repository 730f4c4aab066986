//===- RaiseGathers.cpp - Gathers whose indices are known -----------------===//
//
// Resizing by the nearest element, and much that takes by a list, gathers by
// indices that follow from sizes alone. Where these are every so many elements
// of a dim, each as often, they are a slice and a repetition: these move whole
// rows, and their rules say which rows a shard reads.
//
//===----------------------------------------------------------------------===//
#include "ConstantTensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEGATHERSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// Places first, first + step, ..., `count` of them, each `repeats` times.
struct Places {
  int64_t first, step, count, repeats;
};
} // namespace

/// `indices` of a dim of `size` elements, as such places.
static std::optional<Places> placesOf(ArrayRef<double> indices, int64_t size) {
  SmallVector<int64_t> at;
  // A gather stays within its operand.
  for (double index : indices)
    at.push_back(std::clamp<int64_t>(int64_t(index), 0, size - 1));
  if (at.empty())
    return std::nullopt;
  int64_t total = at.size(), repeats = 1;
  while (repeats < total && at[repeats] == at[0])
    ++repeats;
  if (total % repeats != 0)
    return std::nullopt;
  Places places{at[0], 1, total / repeats, repeats};
  if (places.count > 1)
    places.step = at[repeats] - at[0];
  for (int64_t i = 0; i < total; ++i)
    if (at[i] != places.first + i / repeats * places.step)
      return std::nullopt;
  return places;
}

/// The dim along which `gather` takes one element for each index, everything of
/// all other dims, and leaves dims in their order; nullopt if it does else.
static std::optional<int64_t> dimOfRows(stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  auto operand = dyn_cast<RankedTensorType>(gather.getOperand().getType()),
       indices = dyn_cast<RankedTensorType>(gather.getStartIndices().getType());
  if (!operand || !indices || !operand.hasStaticShape() ||
      !indices.hasStaticShape() || dims.getStartIndexMap().size() != 1 ||
      dims.getCollapsedSliceDims() != dims.getStartIndexMap() ||
      !dims.getOperandBatchingDims().empty() ||
      indices.getNumElements() != indices.getDimSize(0) ||
      indices.getRank() > 2 || dims.getIndexVectorDim() != 1)
    return std::nullopt;
  int64_t dim = dims.getStartIndexMap().front();
  for (auto [i, slice] : llvm::enumerate(gather.getSliceSizes()))
    if (slice != (int64_t(i) == dim ? 1 : operand.getDimSize(i)))
      return std::nullopt;
  if (llvm::is_contained(dims.getOffsetDims(), dim))
    return std::nullopt;
  return dim;
}

/// `places` of dim `dim` of `value`.
static Value take(OpBuilder &builder, Location loc, Value value, int64_t dim,
                  const Places &places) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape()), begins(shape.size(), 0),
      ends(shape), steps(shape.size(), 1);
  int64_t last = places.first + (places.count - 1) * places.step;
  begins[dim] = std::min(places.first, last);
  ends[dim] = std::max(places.first, last) + 1;
  steps[dim] = std::abs(places.step);
  shape[dim] = places.count;
  if (places.step != 1 || places.count < type.getDimSize(dim))
    value = stablehlo::SliceOp::create(builder, loc, type.clone(shape), value,
                                       begins, ends, steps);
  if (places.step < 0)
    value = stablehlo::ReverseOp::create(builder, loc, value.getType(), value,
                                         ArrayRef<int64_t>{dim});
  if (places.repeats == 1)
    return value;
  SmallVector<int64_t> repeated(shape), dims;
  repeated.insert(repeated.begin() + dim + 1, places.repeats);
  for (int64_t i : llvm::seq<int64_t>(shape.size()))
    dims.push_back(i <= dim ? i : i + 1);
  value = stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(repeated), value, dims);
  shape[dim] *= places.repeats;
  return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
}

namespace {
struct RaiseGathersPass final
    : shardc::impl::RaiseGathersPassBase<RaiseGathersPass> {
  using Base::Base;
  void runOnOperation() override {
    ConstantTensors constants;
    SmallVector<stablehlo::GatherOp> gathers;
    getOperation().walk(
        [&](stablehlo::GatherOp gather) { gathers.push_back(gather); });
    for (stablehlo::GatherOp gather : gathers) {
      std::optional<int64_t> dim = dimOfRows(gather);
      if (!dim)
        continue;
      Value operand = gather.getOperand(), indices = gather.getStartIndices();
      auto shapeOf = [](Value value) {
        return cast<RankedTensorType>(value.getType()).getShape();
      };
      int64_t size = shapeOf(operand)[*dim];
      if (size == 0 || isOpen(gather, shapeOf(operand)) ||
          isOpen(gather, shapeOf(indices)))
        continue;
      std::optional<ConstantTensors::Elements> elements =
          constants.compute(indices);
      std::optional<Places> places =
          elements ? placesOf(*elements, size) : std::nullopt;
      if (!places)
        continue;
      OpBuilder builder(gather);
      gather.replaceAllUsesWith(
          take(builder, gather.getLoc(), operand, *dim, *places));
      gather.erase();
    }
  }
};
} // namespace
