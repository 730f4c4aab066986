//===- Reductions.cpp - Combine all elements along some dims --------------===//
#include "RuleUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using spmd::ReductionKind;

/// Reduced dims may be cut where the body is a known way to combine two values;
/// otherwise (argmax, any other body) they are whole.
static FailureOr<ShardingRule> reduceRule(stablehlo::ReduceOp op) {
  unsigned count = op.getInputs().size();
  if (count == 0)
    return failure();
  std::optional<ReductionKind> kind = recogniseReduction(op.getBody(), count);
  ShardingRule rule;
  TensorRule input, result;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) {
      input.dims.push_back(passingDim(rule, size));
      result.dims.push_back(input.dims.back());
      continue;
    }
    int64_t factor = kind ? rule.addFactor(size, FactorKind::Reduction, *kind)
                          : rule.addFactor(size, FactorKind::NeedReplication);
    input.dims.push_back(IndexMap::identity(factor));
  }
  rule.operands.assign(count, input);
  rule.operands.append(count, TensorRule());
  rule.results.assign(count, result);
  return rule;
}

/// Replaces `narrow`, a local reduction of one f16 or bf16 operand, by one in f32.
static Value reduceInF32(stablehlo::ReduceOp narrow, ReductionKind kind, OpBuilder &builder) {
  Location loc = narrow.getLoc();
  Type f32 = builder.getF32Type();
  SmallVector<Value> operands;
  for (Value operand : narrow->getOperands())
    operands.push_back(stablehlo::ConvertOp::create(builder, loc, cast<RankedTensorType>(operand.getType()).clone(f32), operand));
  Type result = cast<RankedTensorType>(narrow->getResult(0).getType()).clone(f32);
  Operation *wide = Operation::create(loc, narrow->getName(), result, operands, NamedAttrList(),
                                      narrow->getPropertiesStorage(), BlockRange(), /*numRegions=*/1);
  Block &body = wide->getRegion(0).emplaceBlock();
  auto scalar = RankedTensorType::get({}, f32);
  body.addArguments({scalar, scalar}, {loc, loc});
  OpBuilder inside = OpBuilder::atBlockBegin(&body);
  Value combined = combine(inside, loc, kind, body.getArgument(0), body.getArgument(1));
  stablehlo::ReturnOp::create(inside, loc, combined);
  builder.insert(wide);
  return wide->getResult(0);
}

/// Each rank reduces its part. Where using the initial value on every rank
/// would count it several times, ranks start from the neutral element instead
/// and the initial value comes last.
static LocalResults localizeReduce(stablehlo::ReduceOp op,
                                   Localization &localization) {
  if (!localization.isPartial())
    return localizeByCloning(op, localization);
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  unsigned count = op.getInputs().size();
  std::optional<ReductionKind> kind = recogniseReduction(op.getBody(), count);
  if (!kind)
    return op.emitOpError("has a body that cannot be reduced over ranks, but a "
                          "reduced dim is cut");

  SmallVector<Value> operands(localization.operands());
  SmallVector<bool> initComesLast(count, false);
  if (!isIdempotent(*kind)) {
    for (unsigned i = 0; i < count; ++i) {
      if (isNeutral(op.getInitValues()[i], *kind))
        continue;
      auto type = cast<RankedTensorType>(operands[count + i].getType());
      Value neutral =
          neutralElement(builder, loc, *kind, type.getElementType());
      if (!neutral)
        return op.emitOpError()
               << "reduces " << type.getElementType()
               << ", for which there is no neutral element of '"
               << spmd::stringifyReductionKind(*kind)
               << "'; make the reduced dims whole";
      operands[count + i] = neutral;
      initComesLast[i] = true;
    }
  }
  Operation *local = cloneLocal(op, localization, operands);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    Value total = completeInF32(localization, local->getResult(i), i, [&] {
      return reduceInF32(cast<stablehlo::ReduceOp>(local), *kind, builder);
    });
    if (initComesLast[i]) {
      Value init =
          broadcastScalar(builder, loc, localization.operands()[count + i],
                          cast<RankedTensorType>(total.getType()),
                          resultSizes(localization, i));
      total = combine(builder, loc, *kind, init, total);
    }
    results.push_back(total);
  }
  return results;
}

void rules::attachReductions(MLIRContext *context) {
  attach<stablehlo::ReduceOp, reduceRule, localizeReduce>(context);
}
