//===- DecomposeComplex.cpp - Complex numbers -----------------------------===//
#include "Decompose.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// The less or the greater: by real parts, where these are equal by imaginary
/// ones.
template <typename OpT>
static LogicalResult decomposeOrder(OpT op, StringRef direction) {
  auto complex = dyn_cast<ComplexType>(getElementTypeOrSelf(op.getType()));
  if (!complex)
    return success();
  Ops ops(op);
  auto part = Ops::typeOf(op.getResult()).clone(complex.getElementType());
  auto compare = [&](StringRef how, auto take) {
    return ops.compare(how, take(op.getLhs()), take(op.getRhs()));
  };
  auto real = [&](Value value) -> Value {
    return RealOp::create(ops.b, part, value);
  };
  auto imaginary = [&](Value value) -> Value {
    return ImagOp::create(ops.b, part, value);
  };
  Value byReal = compare(direction, real);
  Value byImaginary = compare(direction, imaginary);
  Value first = ops.select(compare("EQ", real), byImaginary, byReal);
  replace(op, ops.select(first, op.getLhs(), op.getRhs()));
  return success();
}

LogicalResult import::decompose(MinOp op) { return decomposeOrder(op, "LT"); }
LogicalResult import::decompose(MaxOp op) { return decomposeOrder(op, "GT"); }

/// Bits of complex numbers as those of their parts, real ones first.
LogicalResult import::decompose(BitcastConvertOp op) {
  auto from = Ops::typeOf(op.getOperand()), to = Ops::typeOf(op.getResult());
  auto fromComplex = dyn_cast<ComplexType>(from.getElementType()),
       toComplex = dyn_cast<ComplexType>(to.getElementType());
  if (!fromComplex && !toComplex)
    return success();
  Value value = op.getOperand();
  if (from == to) {
    replace(op, value);
    return success();
  }
  Ops ops(op);
  if (fromComplex) {
    auto part = from.clone(fromComplex.getElementType());
    SmallVector<int64_t> shape(from.getShape());
    shape.push_back(1);
    Value real = RealOp::create(ops.b, part, value),
          imaginary = ImagOp::create(ops.b, part, value);
    real = ops.reshape(real, shape);
    imaginary = ops.reshape(imaginary, shape);
    shape.back() = 2;
    value = ConcatenateOp::create(
        ops.b, RankedTensorType::get(shape, part.getElementType()),
        ValueRange{real, imaginary}, from.getRank());
  }
  Type element = toComplex ? toComplex.getElementType() : to.getElementType();
  SmallVector<int64_t> shape(to.getShape());
  if (toComplex)
    shape.push_back(2);
  int64_t had = Ops::typeOf(value).getElementTypeBitWidth(),
          needed = element.getIntOrFloatBitWidth();
  SmallVector<int64_t> between(Ops::typeOf(value).getShape());
  if (had < needed) {
    between = shape;
    between.push_back(needed / had);
    value = ops.reshape(value, between);
    between.pop_back();
  } else if (had > needed) {
    between.push_back(had / needed);
  }
  auto bits = RankedTensorType::get(between, element);
  if (value.getType() != bits)
    value = BitcastConvertOp::create(ops.b, bits, value);
  value = ops.reshape(value, shape);
  if (!toComplex) {
    replace(op, value);
    return success();
  }
  auto take = [&](int64_t which) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape),
        strides(shape.size(), 1), block(shape);
    starts.back() = which;
    limits.back() = which + 1;
    block.back() = 1;
    Value slice = SliceOp::create(ops.b, RankedTensorType::get(block, element),
                                  value, starts, limits, strides);
    return ops.reshape(slice, to.getShape());
  };
  Value real = take(0), imaginary = take(1);
  replace(op, ComplexOp::create(ops.b, to, real, imaginary).getResult());
  return success();
}
