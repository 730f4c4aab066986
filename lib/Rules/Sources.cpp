//===- Sources.cpp - Constants and iota -----------------------------------===//
#include "RuleUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> constantRule(stablehlo::ConstantOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getOutput())));
  return rule;
}

/// A splat is made in the local size. Any other constant is held whole by every
/// rank, which cuts its block from it.
static LocalResults localizeConstant(stablehlo::ConstantOp op,
                                     Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  RankedTensorType type = localization.resultType(0);
  if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue())) {
    if (type.hasStaticShape()) {
      ElementsAttr value =
          cast<ElementsAttr>(Attribute(splat.resizeSplat(type)));
      return SmallVector<Value>{
          stablehlo::ConstantOp::create(builder, loc, value)};
    }
    auto scalarType = RankedTensorType::get({}, type.getElementType());
    Value scalar = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(splat.resizeSplat(scalarType))));
    return SmallVector<Value>{broadcastScalar(builder, loc, scalar, type,
                                              resultSizes(localization, 0))};
  }
  Value whole = stablehlo::ConstantOp::create(builder, loc, op.getValue());
  SmallVector<OpFoldResult> offsets;
  bool isCut = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    isCut |= localization.isResultDimLocal(0, dim);
    offsets.push_back(localization.isResultDimLocal(0, dim)
                          ? localization.resultDimOffset(0, dim)
                          : OpFoldResult(builder.getIndexAttr(0)));
  }
  if (!isCut)
    return SmallVector<Value>{whole};
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  Value block = takePart(builder, loc, type, whole, offsets,
                         resultSizes(localization, 0), strides);
  return SmallVector<Value>{block};
}

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> iotaRule(stablehlo::IotaOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getOutput())));
  return rule;
}

/// Counts from this rank's first index. Types that cannot hold every index
/// exactly (bf16) are converted to last, so that each value is rounded once, as
/// in the whole.
static LocalResults localizeIota(stablehlo::IotaOp op,
                                 Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  RankedTensorType type = localization.resultType(0);
  int64_t dim = op.getIotaDimension();
  SmallVector<OpFoldResult> sizes = resultSizes(localization, 0);
  auto count = [&](RankedTensorType countType) -> Value {
    if (countType.hasStaticShape())
      return stablehlo::IotaOp::create(builder, loc, countType,
                                       static_cast<uint64_t>(dim));
    return stablehlo::DynamicIotaOp::create(builder, loc, countType,
                                            shapeTensor(builder, loc, sizes),
                                            static_cast<uint64_t>(dim));
  };
  if (!localization.isResultDimLocal(0, dim))
    return SmallVector<Value>{count(type)};

  Type countElement = type.getElementType();
  if (!isa<IntegerType>(countElement)) {
    bool isSmall =
        shapeOf(op.getOutput())[dim] <= std::numeric_limits<int32_t>::max();
    countElement = builder.getIntegerType(isSmall ? 32 : 64);
  }
  RankedTensorType countType = type.clone(countElement);
  Value first = scalarFromIndex(
      builder, loc, localization.resultDimOffset(0, dim), countElement);
  Value offset = broadcastScalar(builder, loc, first, countType, sizes);
  Value index = stablehlo::AddOp::create(builder, loc, countType,
                                         count(countType), offset);
  if (countType == type)
    return SmallVector<Value>{index};
  return SmallVector<Value>{
      stablehlo::ConvertOp::create(builder, loc, type, index).getResult()};
}

void rules::attachSources(MLIRContext *context) {
  attach<stablehlo::ConstantOp, constantRule, localizeConstant>(context);
  attach<stablehlo::IotaOp, iotaRule, localizeIota>(context);
}
