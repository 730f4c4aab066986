//===- RuleUtils.cpp - What the families of rules share -------------------===//
#include "RuleUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using spmd::ReductionKind;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Larger tensors fit no machine; below it, sums and products of two sizes are
/// safe. [maths]
static constexpr int64_t maxElements = int64_t(1) << 62;

bool rules::hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      return true;
    if (!tensor.hasRank() || !tensor.hasStaticShape())
      return false;
    int64_t elements = 1;
    for (int64_t size : tensor.getShape()) {
      int64_t factor = std::max<int64_t>(size, 1);
      if (elements > maxElements / factor)
        return false;
      elements *= factor;
    }
    return true;
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

ArrayRef<int64_t> rules::shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

double rules::bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  double bytes = double(elementBytes(type.getElementType()));
  for (int64_t size : type.getShape())
    bytes *= double(size);
  return bytes;
}

TensorRule rules::newFactors(ShardingRule &rule, ArrayRef<int64_t> shape,
                             FactorKind kind) {
  TensorRule tensor;
  for (int64_t size : shape)
    tensor.dims.push_back(IndexMap::identity(rule.addFactor(size, kind)));
  return tensor;
}

IndexMap rules::wholeDim(ShardingRule &rule, int64_t size) {
  if (size == 1)
    return IndexMap();
  return IndexMap::identity(rule.addFactor(size, FactorKind::NeedReplication));
}

IndexMap rules::passingDim(ShardingRule &rule, int64_t size) {
  return IndexMap::identity(rule.addFactor(size));
}

/// The kind of a single op on two scalars; logical where the scalars are i1.
static std::optional<ReductionKind> kindOf(Operation *op) {
  bool isBool = getElementTypeOrSelf(op->getResultTypes().front()).isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case([&](stablehlo::AddOp) {
        return isBool ? ReductionKind::Or : ReductionKind::Sum;
      })
      .Case([&](stablehlo::MulOp) {
        return isBool ? ReductionKind::And : ReductionKind::Product;
      })
      .Case([&](stablehlo::MaxOp) {
        return isBool ? ReductionKind::Or : ReductionKind::Max;
      })
      .Case([&](stablehlo::MinOp) {
        return isBool ? ReductionKind::And : ReductionKind::Min;
      })
      .Case([](stablehlo::AndOp) { return ReductionKind::And; })
      .Case([](stablehlo::OrOp) { return ReductionKind::Or; })
      .Case([](stablehlo::XorOp) { return ReductionKind::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<ReductionKind>
rules::recogniseReductionOf(Region &body, unsigned count, unsigned result) {
  if (!body.hasOneBlock() || result >= count)
    return std::nullopt;
  Block &block = body.front();
  if (block.getNumArguments() != 2 * count || block.empty())
    return std::nullopt;
  Operation &terminator = block.back();
  if (!isa<stablehlo::ReturnOp>(terminator) ||
      terminator.getNumOperands() != count)
    return std::nullopt;
  Value value = terminator.getOperand(result);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Value old = block.getArgument(result),
        update = block.getArgument(count + result);
  if (!(lhs == old && rhs == update) && !(lhs == update && rhs == old))
    return std::nullopt;
  std::optional<ReductionKind> kind = kindOf(op);
  // Complex numbers have no order and no reduction over ranks but the sum.
  if (kind && *kind != ReductionKind::Sum &&
      isa<ComplexType>(getElementTypeOrSelf(value.getType())))
    return std::nullopt;
  // Nor do exponents alone have a sum that a rank could begin with nothing.
  if (kind && !isIdempotent(*kind) &&
      !spmd::neutralElement(*kind, getElementTypeOrSelf(value.getType())))
    return std::nullopt;
  return kind;
}

std::optional<ReductionKind> rules::recogniseReduction(Region &body,
                                                       unsigned count) {
  std::optional<ReductionKind> common = recogniseReductionOf(body, count, 0);
  for (unsigned result = 1; common && result < count; ++result)
    if (recogniseReductionOf(body, count, result) != common)
      return std::nullopt;
  return common;
}

bool rules::isIdempotent(ReductionKind kind) {
  return kind == ReductionKind::Min || kind == ReductionKind::Max ||
         kind == ReductionKind::And || kind == ReductionKind::Or;
}

//===----------------------------------------------------------------------===//
// Local forms
//===----------------------------------------------------------------------===//

Operation *rules::cloneLocal(Operation *op, Localization &localization) {
  return cloneLocal(op, localization, localization.operands());
}

Operation *rules::cloneLocal(Operation *op, Localization &localization,
                             ValueRange operands) {
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    types.push_back(
        isa<RankedTensorType>(type) ? Type(localization.resultType(i)) : type);
  NamedAttrList attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!spmd::isContract(attribute) ||
        attribute.getName() == spmd::contract::WholeSum::name())
      attributes.append(attribute);
  Operation *local =
      Operation::create(op->getLoc(), op->getName(), types, operands,
                        std::move(attributes), op->getPropertiesStorage(),
                        /*successors=*/BlockRange(), op->getNumRegions());
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getRegions(), local->getRegions()))
    from.cloneInto(&to, mapping);
  localization.builder().insert(local);
  return local;
}

bool rules::isDynamic(Localization &localization, int64_t result) {
  return !localization.resultType(result).hasStaticShape();
}

SmallVector<OpFoldResult> rules::resultSizes(Localization &localization,
                                             int64_t result) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] :
       llvm::enumerate(localization.resultType(result).getShape()))
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? localization.resultDimSize(result, dim)
            : OpFoldResult(localization.builder().getIndexAttr(size)));
  return sizes;
}

Value rules::shapeTensor(OpBuilder &builder, Location loc,
                         ArrayRef<OpFoldResult> sizes) {
  auto i64 = builder.getI64Type();
  SmallVector<Value> elements;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      elements.push_back(arith::ConstantOp::create(
          builder, loc, builder.getI64IntegerAttr(*constant)));
      continue;
    }
    elements.push_back(
        arith::IndexCastOp::create(builder, loc, i64, cast<Value>(size)));
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(sizes.size())}, i64);
  return tensor::FromElementsOp::create(builder, loc, type, elements);
}

Value rules::castTo(OpBuilder &builder, Location loc, Value value,
                    RankedTensorType type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, loc, type, value);
}

OpFoldResult rules::dimOf(OpBuilder &builder, Location loc, Value value,
                          int64_t dim) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return builder.getIndexAttr(size);
  return tensor::DimOp::create(builder, loc, value, dim).getResult();
}

/// A 0-d constant holding `value`.
static Value constantOf(OpBuilder &builder, Location loc,
                        DenseElementsAttr value) {
  return stablehlo::ConstantOp::create(builder, loc, cast<ElementsAttr>(value));
}

Value rules::scalarFromIndex(OpBuilder &builder, Location loc,
                             OpFoldResult index, Type type) {
  auto i64 = builder.getI64Type();
  auto scalar = RankedTensorType::get({}, i64);
  Value value;
  if (std::optional<int64_t> constant = getConstantIntValue(index)) {
    value = constantOf(builder, loc, DenseElementsAttr::get(scalar, *constant));
  } else {
    Value element =
        arith::IndexCastOp::create(builder, loc, i64, cast<Value>(index));
    value = tensor::FromElementsOp::create(builder, loc, scalar, element);
  }
  if (type == i64)
    return value;
  return stablehlo::ConvertOp::create(builder, loc,
                                      RankedTensorType::get({}, type), value);
}

Value rules::broadcastScalar(OpBuilder &builder, Location loc, Value scalar,
                             RankedTensorType type,
                             ArrayRef<OpFoldResult> sizes) {
  if (type.hasStaticShape())
    return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                               ArrayRef<int64_t>());
  Value shape = shapeTensor(builder, loc, sizes);
  return stablehlo::DynamicBroadcastInDimOp::create(builder, loc, type, scalar,
                                                    shape, ArrayRef<int64_t>());
}

Value rules::neutralElement(OpBuilder &builder, Location loc,
                            ReductionKind kind, Type elementType) {
  DenseElementsAttr neutral = spmd::neutralElement(kind, elementType);
  return neutral ? constantOf(builder, loc, neutral) : Value();
}

Value rules::padWithZeros(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<OpFoldResult> low,
                          ArrayRef<OpFoldResult> high, RankedTensorType type) {
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Attribute zero = builder.getZeroAttr(complex ? complex.getElementType()
                                               : type.getElementType());
  if (complex)
    zero = builder.getArrayAttr({zero, zero});
  Value fill = tensor::ExtractOp::create(
      builder, loc,
      constantOf(builder, loc, DenseElementsAttr::get(scalar, zero)),
      ValueRange());
  return tensor::PadOp::create(builder, loc, type, value, low, high, fill);
}

bool rules::isNeutral(Value value, ReductionKind kind) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return false;
  Type element = constant.getElementType();
  DenseElementsAttr neutral = spmd::neutralElement(kind, element);
  if (!neutral)
    return false;
  if (isa<FloatType>(element))
    return constant.getSplatValue<APFloat>() ==
           neutral.getSplatValue<APFloat>();
  if (isa<ComplexType>(element)) {
    using Complex = std::complex<APFloat>;
    auto x = constant.getSplatValue<Complex>(),
         y = neutral.getSplatValue<Complex>();
    return x.real() == y.real() && x.imag() == y.imag();
  }
  return constant.getSplatValue<Attribute>() ==
         neutral.getSplatValue<Attribute>();
}

Value rules::combine(OpBuilder &builder, Location loc, ReductionKind kind,
                     Value lhs, Value rhs) {
  switch (kind) {
  case ReductionKind::Sum:
    return stablehlo::AddOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Product:
    return stablehlo::MulOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Min:
    return stablehlo::MinOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Max:
    return stablehlo::MaxOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::And:
    return stablehlo::AndOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Or:
    return stablehlo::OrOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Xor:
    return stablehlo::XorOp::create(builder, loc, lhs.getType(), lhs, rhs);
  }
  llvm_unreachable("all kinds are handled");
}

Value rules::completeInF32(Localization &localization, Value partial,
                           int64_t result, llvm::function_ref<Value()> widen) {
  auto type = cast<RankedTensorType>(partial.getType());
  if (!localization.isPartial() ||
      !(type.getElementType().isF16() || type.getElementType().isBF16()))
    return localization.completeReduction(partial, result);
  Value total = localization.completeReduction(widen(), result);
  return stablehlo::ConvertOp::create(localization.builder(), partial.getLoc(),
                                      type, total);
}
