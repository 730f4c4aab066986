//===- OpBuilding.cpp - StableHLO ops in short ----------------------------===//
#include "OpBuilding.h"

#include "shardc/Dialect/Chlo/IR/Chlo.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

static Attribute attributeOf(Builder &b, Type element, double number) {
  if (isa<FloatType>(element))
    return b.getFloatAttr(element, number);
  auto integer = cast<IntegerType>(element);
  return IntegerAttr::get(element,
                          APInt(integer.getWidth(),
                                static_cast<int64_t>(number), /*isSigned=*/true,
                                /*implicitTrunc=*/true));
}

Value Ops::splat(RankedTensorType type, double number) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    APFloat re = cast<FloatAttr>(b.getFloatAttr(part, number)).getValue(),
            im = cast<FloatAttr>(b.getFloatAttr(part, 0)).getValue();
    return stablehlo::ConstantOp::create(
        b, DenseElementsAttr::get(type, std::complex<APFloat>(re, im)));
  }
  return stablehlo::ConstantOp::create(
      b, DenseElementsAttr::get(type, attributeOf(b, element, number)));
}

Value Ops::splatBits(RankedTensorType type, uint64_t bits) {
  APInt value(type.getElementType().getIntOrFloatBitWidth(), bits,
              /*isSigned=*/false, /*implicitTrunc=*/true);
  return stablehlo::ConstantOp::create(b, DenseElementsAttr::get(type, value));
}

Value Ops::iota(RankedTensorType type, int64_t dim) {
  return stablehlo::IotaOp::create(b, type, dim);
}

Value Ops::convert(Value value, Type element) {
  if (typeOf(value).getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(b, withElement(value, element), value);
}

Value Ops::compare(StringRef direction, Value x, Value y) {
  return stablehlo::CompareOp::create(
      b, withElement(x, b.getI1Type()), x, y,
      stablehlo::ComparisonDirectionAttr::get(
          b.getContext(), *stablehlo::symbolizeComparisonDirection(direction)),
      nullptr);
}

Value Ops::select(Value condition, Value x, Value y) {
  return stablehlo::SelectOp::create(b, x.getType(), condition, x, y);
}

Value Ops::broadcast(Value value, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> dims) {
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  return stablehlo::BroadcastInDimOp::create(b, type, value, dims);
}

Value Ops::broadcastLeading(Value value, ArrayRef<int64_t> shape) {
  return broadcast(
      value, shape,
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank())));
}

Value Ops::reshape(Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  return stablehlo::ReshapeOp::create(b, type, value);
}

Value Ops::reduceWith(
    Value value, double init, ArrayRef<int64_t> dims,
    llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> body) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value start = splat(scalar, init);
  auto reduce = stablehlo::ReduceOp::create(
      b, TypeRange(RankedTensorType::get(shape, type.getElementType())), value,
      start, dims);
  Block &block = reduce.getBody().emplaceBlock();
  Value x = block.addArgument(scalar, b.getLoc()),
        y = block.addArgument(scalar, b.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  Value combined = body(inside, b.getLoc(), x, y);
  stablehlo::ReturnOp::create(inside, b.getLoc(), combined);
  return reduce.getResult(0);
}

Value Ops::adjoint(Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(order[type.getRank() - 1], order[type.getRank() - 2]);
  SmallVector<int64_t> shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  Value transposed = stablehlo::TransposeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value, order);
  if (!isa<ComplexType>(type.getElementType()))
    return transposed;
  return chlo::ConjOp::create(b, transposed.getType(), transposed);
}

Value Ops::padHigh(Value value, double number, ArrayRef<int64_t> high) {
  if (llvm::all_of(high, [](int64_t size) { return size == 0; }))
    return value;
  RankedTensorType type = typeOf(value);
  Value fill = splat(RankedTensorType::get({}, type.getElementType()), number);
  SmallVector<int64_t> shape, zeros(high.size(), 0);
  for (auto [size, more] : llvm::zip(type.getShape(), high))
    shape.push_back(size + more);
  return stablehlo::PadOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value, fill,
      zeros, high, zeros);
}
