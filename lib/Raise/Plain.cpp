//===- Plain.cpp - Whole tensors along named dims -------------------------===//
#include "Plain.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value PlainOps::convert(Value value, Type type) {
  if (typeOf(value).getElementType() == type)
    return value;
  return stablehlo::ConvertOp::create(builder, loc, typeOf(value).clone(type),
                                      value);
}

Value PlainOps::number(double value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, accumulator);
  return stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
          type, builder.getFloatAttr(accumulator, value)))));
}

Value PlainOps::spread(const Placed &placed, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> order, places;
  SmallVector<unsigned> kept;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    auto it = llvm::find(placed.dims, dim);
    if (it == placed.dims.end())
      continue;
    order.push_back(it - placed.dims.begin());
    places.push_back(place);
    kept.push_back(dim);
  }
  Value value = placed.value;
  Type element = typeOf(value).getElementType();
  if (!llvm::is_sorted(order))
    value = stablehlo::TransposeOp::create(
        builder, loc, RankedTensorType::get(shapeOf(kept), element), value,
        builder.getDenseI64ArrayAttr(order));
  if (kept.size() == dims.size())
    return value;
  return stablehlo::BroadcastInDimOp::create(
      builder, loc, RankedTensorType::get(shapeOf(dims), element), value,
      builder.getDenseI64ArrayAttr(places));
}

Value PlainOps::contract(const Placed &lhs, const Placed &rhs,
                         ArrayRef<unsigned> summed, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsSummed, rhsSummed;
  Placed result;
  for (auto [place, dim] : llvm::enumerate(lhs.dims)) {
    auto it = llvm::find(rhs.dims, dim);
    if (it == rhs.dims.end())
      continue;
    // What neither the caller nor the result wants is summed as well.
    bool isSummed =
        llvm::is_contained(summed, dim) || !llvm::is_contained(dims, dim);
    (isSummed ? lhsSummed : lhsBatch).push_back(place);
    (isSummed ? rhsSummed : rhsBatch).push_back(it - rhs.dims.begin());
    if (!isSummed)
      result.dims.push_back(dim);
  }
  for (const Placed *side : {&lhs, &rhs})
    for (unsigned dim : side->dims)
      if (!llvm::is_contained((side == &lhs ? rhs : lhs).dims, dim))
        result.dims.push_back(dim);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.getContext(), lhsBatch, rhsBatch, lhsSummed, rhsSummed);
  result.value = stablehlo::DotGeneralOp::create(
      builder, loc, RankedTensorType::get(shapeOf(result.dims), accumulator),
      convert(lhs.value, accumulator), convert(rhs.value, accumulator), numbers,
      ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return spread(reduce<stablehlo::AddOp>(result, dims, 0), dims);
}
