//===- Conversions.cpp - Types, comparisons, bits -------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

using ScalarBuilder = ImplicitLocOpBuilder;

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

// Towards zero; out of range saturates and NaN gives 0, as XLA does.
static Value floatToInteger(ScalarBuilder &b, Value value, IntegerType type,
                            bool isUnsigned) {
  Value x = castFloat(b, value, computeType(cast<FloatType>(value.getType())));
  Type wide = x.getType();
  unsigned width = type.getWidth();
  APInt most =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt least =
      isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  // Both bounds are powers of two (or zero), exact in any float type.
  double above = std::ldexp(1.0, isUnsigned ? width : width - 1);
  double below = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  Value result = isUnsigned ? arith::FPToUIOp::create(b, type, x).getResult()
                            : arith::FPToSIOp::create(b, type, x).getResult();
  Value isHigh = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x,
                                       numberConstant(b, wide, above));
  Value high = arith::ConstantOp::create(b, b.getIntegerAttr(type, most));
  result = arith::SelectOp::create(b, isHigh, high, result);
  Value isLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x,
                                      numberConstant(b, wide, below));
  Value low = arith::ConstantOp::create(b, b.getIntegerAttr(type, least));
  result = arith::SelectOp::create(b, isLow, low, result);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, numberConstant(b, type, 0), result);
}

static Value integerToFloat(ScalarBuilder &b, Value value, FloatType type,
                            bool isUnsigned) {
  // Narrow floats by way of f32, as arithmetic on them is; wide integers
  // by way of f64, so that only one of the two steps rounds visibly.
  bool wideInteger =
      value.getType().getIntOrFloatBitWidth() > 16 && type.getWidth() < 32;
  FloatType middle = wideInteger ? b.getF64Type() : computeType(type);
  Value result = isUnsigned
                     ? arith::UIToFPOp::create(b, middle, value).getResult()
                     : arith::SIToFPOp::create(b, middle, value).getResult();
  return castFloat(b, result, type);
}

Value lowering::convertScalar(ScalarBuilder &b, Value value, Type from,
                              Type to) {
  if (from == to)
    return value;
  Type target = signlessType(to);
  if (auto complex = dyn_cast<ComplexType>(to)) {
    Type part = complex.getElementType();
    Value re = value, im;
    if (auto source = dyn_cast<ComplexType>(from)) {
      re = complex::ReOp::create(b, source.getElementType(), value);
      Value imaginary =
          complex::ImOp::create(b, source.getElementType(), value);
      im = convertScalar(b, imaginary, source.getElementType(), part);
      from = source.getElementType();
    } else {
      im = numberConstant(b, part, 0);
    }
    re = convertScalar(b, re, from, part);
    return complex::CreateOp::create(b, complex, re, im);
  }
  if (auto complex = dyn_cast<ComplexType>(from)) {
    Type part = complex.getElementType();
    Value re = complex::ReOp::create(b, part, value);
    Value converted = convertScalar(b, re, part, to);
    if (!to.isInteger(1))
      return converted;
    // False for zero alone.
    Value im = complex::ImOp::create(b, part, value);
    return arith::OrIOp::create(b, converted, convertScalar(b, im, part, to));
  }
  if (to.isInteger(1)) {
    if (auto narrow = dyn_cast<FloatType>(from))
      value = castFloat(b, value, computeType(narrow));
    Value zero = numberConstant(b, value.getType(), 0);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
    return from.isInteger(1)
               ? value
               : arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero)
                     .getResult();
  }
  bool fromUnsigned = isUnsigned(from);
  if (auto toFloat = dyn_cast<FloatType>(to))
    return isa<FloatType>(from)
               ? castFloat(b, value, toFloat)
               : integerToFloat(b, value, toFloat, fromUnsigned);
  if (isa<FloatType>(from))
    return floatToInteger(b, value, cast<IntegerType>(target), isUnsigned(to));
  unsigned had = value.getType().getIntOrFloatBitWidth();
  unsigned wanted = target.getIntOrFloatBitWidth();
  if (had == wanted)
    return value;
  if (had > wanted)
    return arith::TruncIOp::create(b, target, value);
  if (fromUnsigned)
    return arith::ExtUIOp::create(b, target, value);
  return arith::ExtSIOp::create(b, target, value);
}

static Value convert(ScalarBuilder &b, Operation *op, ValueRange args) {
  return convertScalar(b, args[0], elementType(op->getOperand(0).getType()),
                       elementType(op->getResult(0).getType()));
}

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

static arith::CmpFPredicate
floatPredicate(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return arith::CmpFPredicate::OEQ;
  case stablehlo::ComparisonDirection::NE:
    return arith::CmpFPredicate::UNE;
  case stablehlo::ComparisonDirection::GE:
    return arith::CmpFPredicate::OGE;
  case stablehlo::ComparisonDirection::GT:
    return arith::CmpFPredicate::OGT;
  case stablehlo::ComparisonDirection::LE:
    return arith::CmpFPredicate::OLE;
  case stablehlo::ComparisonDirection::LT:
    return arith::CmpFPredicate::OLT;
  }
  llvm_unreachable("all directions are above");
}

static arith::CmpIPredicate
integerPredicate(stablehlo::ComparisonDirection direction, bool isUnsigned) {
  using P = arith::CmpIPredicate;
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return P::eq;
  case stablehlo::ComparisonDirection::NE:
    return P::ne;
  case stablehlo::ComparisonDirection::GE:
    return isUnsigned ? P::uge : P::sge;
  case stablehlo::ComparisonDirection::GT:
    return isUnsigned ? P::ugt : P::sgt;
  case stablehlo::ComparisonDirection::LE:
    return isUnsigned ? P::ule : P::sle;
  case stablehlo::ComparisonDirection::LT:
    return isUnsigned ? P::ult : P::slt;
  }
  llvm_unreachable("all directions are above");
}

// Complex numbers order by real part, then by imaginary part.
static Value compareComplex(ScalarBuilder &b, ValueRange args,
                            stablehlo::ComparisonDirection direction) {
  using D = stablehlo::ComparisonDirection;
  Type part = cast<ComplexType>(args[0].getType()).getElementType();
  Value re0 = complex::ReOp::create(b, part, args[0]),
        im0 = complex::ImOp::create(b, part, args[0]);
  Value re1 = complex::ReOp::create(b, part, args[1]),
        im1 = complex::ImOp::create(b, part, args[1]);
  Value im = arith::CmpFOp::create(b, floatPredicate(direction), im0, im1);
  if (direction == D::EQ || direction == D::NE) {
    Value re = arith::CmpFOp::create(b, floatPredicate(direction), re0, re1);
    if (direction == D::EQ)
      return arith::AndIOp::create(b, re, im);
    return arith::OrIOp::create(b, re, im);
  }
  bool less = direction == D::LE || direction == D::LT;
  Value re =
      arith::CmpFOp::create(b, floatPredicate(less ? D::LT : D::GT), re0, re1);
  Value same = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, re0, re1);
  Value tie = arith::AndIOp::create(b, same, im);
  return arith::OrIOp::create(b, re, tie);
}

static Value compare(ScalarBuilder &b, Operation *op, ValueRange args) {
  auto compare = cast<stablehlo::CompareOp>(op);
  stablehlo::ComparisonDirection direction = compare.getComparisonDirection();
  Type type = elementType(compare.getLhs().getType());
  if (isa<ComplexType>(type))
    return compareComplex(b, args, direction);
  if (!isa<FloatType>(type))
    return arith::CmpIOp::create(
        b, integerPredicate(direction, isUnsigned(type)), args[0], args[1]);
  if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER) {
    Value lhs = totalOrderKey(b, args[0]), rhs = totalOrderKey(b, args[1]);
    return arith::CmpIOp::create(b, integerPredicate(direction, false), lhs,
                                 rhs);
  }
  FloatType wide = computeType(cast<FloatType>(type));
  Value lhs = castFloat(b, args[0], wide), rhs = castFloat(b, args[1], wide);
  return arith::CmpFOp::create(b, floatPredicate(direction), lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Parts of complex numbers
//===----------------------------------------------------------------------===//

static Value makeComplex(ScalarBuilder &b, Operation *, ValueRange args) {
  return complex::CreateOp::create(b, ComplexType::get(args[0].getType()),
                                   args[0], args[1]);
}

static Value realPart(ScalarBuilder &b, Operation *, ValueRange args) {
  if (auto complex = dyn_cast<ComplexType>(args[0].getType()))
    return complex::ReOp::create(b, complex.getElementType(), args[0]);
  return args[0];
}

static Value imaginaryPart(ScalarBuilder &b, Operation *, ValueRange args) {
  if (auto complex = dyn_cast<ComplexType>(args[0].getType()))
    return complex::ImOp::create(b, complex.getElementType(), args[0]);
  return numberConstant(b, args[0].getType(), 0);
}

//===----------------------------------------------------------------------===//
// bitcast_convert
//===----------------------------------------------------------------------===//

static Value bitcastScalar(ScalarBuilder &b, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::BitcastOp::create(b, type, value).getResult();
}

// Same width: element by element. To a narrower type: a last dim of parts, low
// bits first. To a wider one: the last dim's parts are put together.
static LogicalResult lowerBitcastConvert(Lowerer &l,
                                         stablehlo::BitcastConvertOp op) {
  ScalarBuilder &b = l.b;
  auto fromType =
      cast<RankedTensorType>(signlessType(op.getOperand().getType()));
  auto toType = cast<RankedTensorType>(signlessType(op.getResult().getType()));
  Type from = fromType.getElementType(), to = toType.getElementType();
  if (!from.isIntOrFloat() || !to.isIntOrFloat())
    return emitOpUnsupported(op, " between elements of type ")
           << from << " and " << to;
  unsigned fromWidth = from.getIntOrFloatBitWidth(),
           toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth && fromType.getRank() == 0) {
    l.set(op, bitcastScalar(b, l.scalar(op.getOperand()), to));
    return success();
  }
  Value input = l.tensor(op.getOperand());
  SmallVector<OpFoldResult> sizes = l.sizes(input);
  if (fromWidth == toWidth) {
    Value result = l.map(input, l.empty(sizes, to),
                         [&](ValueRange args) -> SmallVector<Value> {
                           return {bitcastScalar(b, args[0], to)};
                         });
    l.set(op, result);
    return success();
  }
  int64_t wideRank = std::min(fromType.getRank(), toType.getRank());
  AffineMap all = b.getMultiDimIdentityMap(wideRank + 1);
  AffineMap outer = all.dropResult(wideRank);
  SmallVector<utils::IteratorType> iterators(wideRank + 1,
                                             utils::IteratorType::parallel);
  Type wideBits = b.getIntegerType(std::max(fromWidth, toWidth));
  Type partBits = b.getIntegerType(std::min(fromWidth, toWidth));
  // How far this iteration's part is above the lowest bit.
  auto distance = [&] {
    Value part = linalg::IndexOp::create(b, wideRank);
    Value bits =
        arith::MulIOp::create(b, part, l.index(std::min(fromWidth, toWidth)));
    return arith::IndexCastOp::create(b, wideBits, bits).getResult();
  };
  if (fromWidth > toWidth) {
    sizes.push_back(b.getIndexAttr(fromWidth / toWidth));
    Value result =
        l.generic(input, l.empty(sizes, to), {outer, all}, iterators,
                  [&](ValueRange args) -> SmallVector<Value> {
                    Value bits = bitcastScalar(b, args[0], wideBits);
                    Value low = arith::ShRUIOp::create(b, bits, distance());
                    Value part = arith::TruncIOp::create(b, partBits, low);
                    return {bitcastScalar(b, part, to)};
                  })
            .front();
    l.set(op, result);
    return success();
  }
  sizes.pop_back();
  iterators.back() = utils::IteratorType::reduction;
  Value bits =
      l.generic(input, l.filled(sizes, l.zero(wideBits)), {all, outer},
                iterators,
                [&](ValueRange args) -> SmallVector<Value> {
                  Value part = bitcastScalar(b, args[0], partBits);
                  Value wide = arith::ExtUIOp::create(b, wideBits, part);
                  Value high = arith::ShLIOp::create(b, wide, distance());
                  return {arith::OrIOp::create(b, args[1], high).getResult()};
                })
          .front();
  if (wideBits != to)
    bits = l.map(bits, l.empty(sizes, to),
                 [&](ValueRange args) -> SmallVector<Value> {
                   return {bitcastScalar(b, args[0], to)};
                 });
  l.set(op, bits);
  return success();
}

void shardc::lowering::addConversions(LoweringTable &table) {
  using namespace stablehlo;
  table.scalar<ConvertOp>(convert);
  table.scalar<CompareOp>(compare);
  table.scalar<ComplexOp>(makeComplex);
  table.scalar<RealOp>(realPart);
  table.scalar<ImagOp>(imaginaryPart);
  table.op<BitcastConvertOp>(lowerBitcastConvert);
}
