//===- Reductions.cpp - Combine all elements along some dims --------------===//
//
// Along a dim that is cut, partial results are all-reduced where the body is a
// known way to combine two values. Any other body (argmax, complex products,
// the program's own) combines the ranks' partial results as it combines
// elements: one value a rank travels, not the operand.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using spmd::ReductionKind;

/// Reduced dims may be cut. A body that nobody knows may depend on the order of
/// what it combines, so only the first of several reduced dims.
static FailureOr<ShardingRule> reduceRule(stablehlo::ReduceOp op) {
  unsigned count = op.getInputs().size();
  if (count == 0)
    return failure();
  std::optional<ReductionKind> kind = recogniseReduction(op.getBody(), count);
  bool isFirst = true, isWhole = spmd::contract::WholeSum::has(op);
  double partialBytes = 0;
  for (Value value : op.getResults())
    partialBytes += 4 * bytesOf(value);
  ShardingRule rule;
  TensorRule input, result;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) {
      input.dims.push_back(passingDim(rule, size));
      result.dims.push_back(input.dims.back());
      continue;
    }
    int64_t factor = isWhole ? rule.addFactor(size, FactorKind::NeedReplication)
                     : kind ? rule.addFactor(size, FactorKind::Reduction, *kind)
                     : isFirst
                         ? rule.addFactor(size, FactorKind::Distributed)
                         : rule.addFactor(size, FactorKind::NeedReplication);
    if (!kind && !isWhole)
      rule.factors[factor].movedBytes = partialBytes;
    isFirst &= size == 1;
    input.dims.push_back(IndexMap::identity(factor));
  }
  rule.operands.assign(count, input);
  rule.operands.append(count, TensorRule());
  rule.results.assign(count, result);
  return rule;
}

/// Replaces `narrow`, a local reduction of one f16 or bf16 operand, by one in
/// f32.
static Value reduceInF32(stablehlo::ReduceOp narrow, ReductionKind kind,
                         OpBuilder &builder) {
  Location loc = narrow.getLoc();
  Type f32 = builder.getF32Type();
  SmallVector<Value> operands;
  for (Value operand : narrow->getOperands())
    operands.push_back(stablehlo::ConvertOp::create(
        builder, loc, cast<RankedTensorType>(operand.getType()).clone(f32),
        operand));
  Type result =
      cast<RankedTensorType>(narrow->getResult(0).getType()).clone(f32);
  Operation *wide = Operation::create(
      loc, narrow->getName(), result, operands, NamedAttrList(),
      narrow->getPropertiesStorage(), BlockRange(), /*numRegions=*/1);
  Block &body = wide->getRegion(0).emplaceBlock();
  auto scalar = RankedTensorType::get({}, f32);
  body.addArguments({scalar, scalar}, {loc, loc});
  OpBuilder inside = OpBuilder::atBlockBegin(&body);
  Value combined =
      combine(inside, loc, kind, body.getArgument(0), body.getArgument(1));
  stablehlo::ReturnOp::create(inside, loc, combined);
  builder.insert(wide);
  return wide->getResult(0);
}

/// The body of `op` on values that may be missing: one more operand, last, says
/// which are there. What is missing leaves the other as it is.
static void fillOptionalBody(stablehlo::ReduceOp op, Region &region) {
  Block &global = op.getBody().front(), &body = region.emplaceBlock();
  unsigned count = op.getInputs().size();
  Location loc = op.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  auto predicate = RankedTensorType::get({}, builder.getI1Type());
  for (unsigned side = 0; side < 2; ++side) {
    for (unsigned i = 0; i < count; ++i)
      body.addArgument(global.getArgument(i).getType(), loc);
    body.addArgument(predicate, loc);
  }
  Value hasFirst = body.getArgument(count),
        hasSecond = body.getArgument(2 * count + 1);
  IRMapping mapping;
  for (unsigned i = 0; i < count; ++i) {
    mapping.map(global.getArgument(i), body.getArgument(i));
    mapping.map(global.getArgument(count + i), body.getArgument(count + 1 + i));
  }
  for (Operation &inner : global.without_terminator())
    builder.clone(inner, mapping);
  Value both =
      stablehlo::AndOp::create(builder, loc, predicate, hasFirst, hasSecond);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    Value first = body.getArgument(i), second = body.getArgument(count + 1 + i);
    Value one = stablehlo::SelectOp::create(builder, loc, first.getType(),
                                            hasFirst, first, second);
    Value combined =
        mapping.lookupOrDefault(global.getTerminator()->getOperand(i));
    results.push_back(stablehlo::SelectOp::create(builder, loc, first.getType(),
                                                  both, combined, one));
  }
  results.push_back(
      stablehlo::OrOp::create(builder, loc, predicate, hasFirst, hasSecond));
  stablehlo::ReturnOp::create(builder, loc, results);
}

/// Splats of i1, of `type`.
static Value flags(OpBuilder &builder, Location loc, bool value,
                   RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  auto scalar = RankedTensorType::get({}, builder.getI1Type());
  Value one = stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(scalar, value))));
  return type.getRank() == 0 ? one
                             : broadcastScalar(builder, loc, one, type, sizes);
}

/// Each rank reduces its block, without the initial value; then all ranks
/// combine the initial value and the partial results, in rank order. Ranks with
/// nothing have no partial result, which a flag beside it says. argmax needs
/// none: each rank starts from the initial value, which is what it has if it
/// has nothing.
static LocalResults combinePartials(stablehlo::ReduceOp op,
                                    Localization &localization) {
  OpBuilder &builder = localization.builder();
  Location loc = op.getLoc();
  unsigned count = op.getInputs().size();
  SmallVector<int64_t> axes = distributedAxes(localization);
  bool isMax, isOptional = !stablehlo::picksExtreme(op, isMax);

  auto build = [&](ArrayRef<Value> operands, TypeRange types,
                   ArrayRef<int64_t> dims) -> Operation * {
    Operation *reduce = cloneAs(op, localization, operands, types);
    cast<stablehlo::ReduceOp>(reduce).setDimensions(dims);
    if (isOptional) {
      reduce->getRegion(0).getBlocks().clear();
      fillOptionalBody(op, reduce->getRegion(0));
    }
    return reduce;
  };
  // Of the block.
  localization.carriesFormulas();
  SmallVector<IntervalTable> tables = localization.resultTables(0),
                             blocks = localization.operandTables(0);
  SmallVector<Value> inputs(localization.operands().take_front(count)),
      inits(localization.operands().drop_front(count));
  SmallVector<Type> types;
  for (unsigned i = 0; i < count; ++i)
    types.push_back(localization.resultType(i));
  SmallVector<Value> operands(inputs);
  Type i1 = builder.getI1Type();
  Value no, yes;
  if (isOptional) {
    auto scalar = RankedTensorType::get({}, i1);
    no = flags(builder, loc, false, scalar, {});
    yes = flags(builder, loc, true, scalar, {});
    operands.push_back(flags(builder, loc, true, blockType(blocks, i1),
                             blockSizes(localization, blocks)));
    types.push_back(blockType(tables, i1));
  }
  operands.append(inits);
  if (isOptional)
    operands.push_back(no);
  Operation *partial = build(operands, types, op.getDimensions());

  // Of all ranks.
  IntervalTable ranks = allRanks(localization, axes), withInit = ranks;
  // One more: of a type, where the number of ranks is open.
  ++withInit.intervals.front().end;
  SmallVector<IntervalTable> leading{wholeTable(1)}, joined{withInit};
  leading.append(tables.begin(), tables.end());
  joined.append(tables.begin(), tables.end());
  operands.clear();
  for (auto [i, value] : llvm::enumerate(partial->getResults())) {
    Value all = gatherPartials(localization, value, tables, axes, ranks,
                               "combines one value a rank");
    if (isOptional) {
      Type element = getElementTypeOrSelf(value.getType());
      Value init = broadcastScalar(builder, loc, i < count ? inits[i] : yes,
                                   blockType(leading, element),
                                   blockSizes(localization, leading));
      all = stablehlo::ConcatenateOp::create(
          builder, loc, blockType(joined, element), ValueRange{init, all},
          /*dimension=*/0);
    }
    operands.push_back(all);
  }
  operands.append(inits);
  if (isOptional)
    operands.push_back(no);
  Operation *total = build(operands, types, {0});
  return SmallVector<Value>(total->getResults().take_front(count));
}

/// Each rank reduces its part. Where using the initial value on every rank
/// would count it several times, ranks start from the neutral element instead
/// and the initial value comes last.
static LocalResults localizeReduce(stablehlo::ReduceOp op,
                                   Localization &localization) {
  if (!distributedAxes(localization).empty())
    return combinePartials(op, localization);
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
