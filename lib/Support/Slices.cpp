//===- Slices.cpp - Parts of tensors, empty ones too ----------------------===//
#include "shardc/Support/Slices.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

static bool isEmpty(Type type) {
  return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
}

Value shardc::takePart(OpBuilder &builder, Location loc, RankedTensorType type,
                       Value whole, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) {
  if (!isEmpty(type))
    return tensor::ExtractSliceOp::create(builder, loc, type, whole, offsets,
                                          sizes, strides);
  SmallVector<Value> unknown;
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      unknown.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::EmptyOp::create(builder, loc, type, unknown);
}

Value shardc::putPart(OpBuilder &builder, Location loc, Value part, Value whole,
                      ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes,
                      ArrayRef<OpFoldResult> strides) {
  if (isEmpty(part.getType()) || isEmpty(whole.getType()))
    return whole;
  return tensor::InsertSliceOp::create(builder, loc, part, whole, offsets,
                                       sizes, strides);
}
