//===- DecomposeRandom.cpp - Random numbers -------------------------------===//
#include "Decompose.h"
#include "RandomBits.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

LogicalResult import::decompose(RngBitGeneratorOp op) {
  auto state = dyn_cast<RankedTensorType>(op.getInitialState().getType());
  auto result = Ops::typeOf(op.getOutput());
  RngAlgorithm algorithm = op.getRngAlgorithm();
  int64_t words = state && state.getRank() == 1 && state.hasStaticShape()
                      ? state.getDimSize(0)
                      : 0;
  bool threeFry = algorithm == RngAlgorithm::THREE_FRY;
  bool fits = words == 2 || (words == 3 && !threeFry);
  if (!fits || !state.getElementType().isUnsignedInteger(64))
    return op.emitOpError("has a state of type ")
           << op.getInitialState().getType() << ", expected "
           << (threeFry ? "tensor<2xui64>"
                        : "tensor<2xui64> or tensor<3xui64>");
  Type element = result.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width < 8 || width > 64)
    return emitOpUnsupported(op, " for elements of type ") << element;
  Ops ops(op);
  // DEFAULT is what XLA takes on CPUs.
  RandomBits random =
      threeFry
          ? threeFryBits(ops, op.getInitialState(), result.getShape(), width)
          : philoxBits(ops, op.getInitialState(), result.getShape(), width);
  Value bits = random.bits;
  if (bits.getType() != result)
    bits = isa<IntegerType>(element)
               ? ops.convert(bits, element)
               : BitcastConvertOp::create(ops.b, result, bits).getResult();
  replace(op, {random.state, bits});
  return success();
}

/// Numbers that depend on the op's place in the program alone: StableHLO leaves
/// them to the implementation, and every rank must draw the same.
LogicalResult import::decompose(RngOp op, uint64_t place) {
  RankedTensorType type = Ops::typeOf(op.getResult());
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || !type.hasStaticShape() ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16))
    return emitOpUnsupported(op, " for elements of type ") << element;
  Ops ops(op);
  auto stateType = RankedTensorType::get(
      {2}, IntegerType::get(ops.b.getContext(), 64, IntegerType::Unsigned));
  APInt words[] = {APInt(64, place), APInt(64, 0)};
  Value state = ConstantOp::create(
      ops.b, DenseElementsAttr::get(stateType, ArrayRef<APInt>(words)));
  Value low = ops.broadcast(op.getA(), type.getShape(), {}),
        high = ops.broadcast(op.getB(), type.getShape(), {});
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    RandomBits random =
        threeFryBits(ops, state, type.getShape(), std::max(width, 8u));
    if (width == 1) {
      Value one = ops.splatBits(Ops::typeOf(random.bits), 1);
      Value bit = ops.compare("EQ", ops.op<AndOp>(random.bits, one), one);
      replace(op, ops.select(bit, high, low));
      return success();
    }
    Type unsignedType =
        IntegerType::get(ops.b.getContext(), width, IntegerType::Unsigned);
    Value span = ops.convert(ops.op<SubtractOp>(high, low), unsignedType);
    Value drawn = ops.op<RemOp>(random.bits, span);
    replace(op, ops.op<AddOp>(low, ops.convert(drawn, element)));
    return success();
  }
  bool wide = element.isF64();
  Type real = wide ? Type(ops.b.getF64Type()) : Type(ops.b.getF32Type());
  auto unit = [&](Value from) -> std::pair<Value, Value> {
    RandomBits random =
        threeFryBits(ops, from, type.getShape(), wide ? 64 : 32);
    RankedTensorType bits = Ops::typeOf(random.bits);
    Value mantissa = ops.op<ShiftRightLogicalOp>(
        random.bits, ops.splatBits(bits, wide ? 12 : 9));
    Value one = ops.splatBits(bits, wide ? 0x3FF0000000000000 : 0x3F800000);
    Value number = BitcastConvertOp::create(ops.b, type.clone(real),
                                            ops.op<OrOp>(mantissa, one));
    return {ops.op<SubtractOp>(number, ops.splat(type.clone(real), 1)),
            random.state};
  };
  auto [u, next] = unit(state);
  Value a = ops.convert(low, real), b = ops.convert(high, real), result;
  if (op.getRngDistribution() == RngDistribution::UNIFORM) {
    Value span = ops.op<SubtractOp>(b, a);
    result = ops.op<AddOp>(a, ops.op<MulOp>(u, span));
  } else {
    // Box and Muller's.
    RankedTensorType reals = type.clone(real);
    Value v = unit(next).first;
    Value size = ops.op<SqrtOp>(ops.op<MulOp>(
        ops.splat(reals, -2),
        ops.op<LogOp>(ops.op<SubtractOp>(ops.splat(reals, 1), u))));
    Value cosine =
        ops.op<CosineOp>(ops.op<MulOp>(ops.splat(reals, 6.283185307179586), v));
    result = ops.op<AddOp>(a, ops.op<MulOp>(ops.op<MulOp>(size, cosine), b));
  }
  replace(op, ops.convert(result, element));
  return success();
}
