//===- Reducers.cpp - Regions that combine two elements -------------------===//

#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;

FailureOr<Value> stablehlo::combineElementwise(
    OpBuilder &builder, Operation *op, Region &body, Value left, Value right,
    llvm::function_ref<Value(Value, RankedTensorType)> broadcast) {
  // On 0-d tensors and on whole ones elementwise ops are the same.
  auto type = cast<RankedTensorType>(left.getType());
  Block &block = body.front();
  IRMapping mapping;
  mapping.map(block.getArgument(0), left);
  mapping.map(block.getArgument(1), right);
  // Constants of the body may be in front of the op by now.
  auto copyIn = [&](Value value) -> LogicalResult {
    if (mapping.contains(value))
      return success();
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    auto scalar = dyn_cast<RankedTensorType>(value.getType());
    if (!constant || !scalar || scalar.getRank() != 0)
      return emitOpUnsupported(op)
             << ": combines by values from outside its region";
    if (!type.hasStaticShape()) {
      assert(broadcast && "a shape that is not known now");
      Value copy = builder.clone(*constant)->getResult(0);
      mapping.map(value, broadcast(copy, type.clone(scalar.getElementType())));
      return success();
    }
    auto splat = cast<DenseElementsAttr>(constant.getValue())
                     .resizeSplat(type.clone(scalar.getElementType()));
    Value whole = stablehlo::ConstantOp::create(
        builder, op->getLoc(), cast<ElementsAttr>(Attribute(splat)));
    mapping.map(value, whole);
    return success();
  };
  for (Operation &inner : block.without_terminator()) {
    if (isa<stablehlo::ConstantOp>(inner))
      continue; // Where it is used.
    if (!inner.hasTrait<stablehlo::ElementwiseTrait>() ||
        inner.getNumResults() != 1)
      return emitOpUnsupported(op)
             << ": combines by '" << inner.getName()
             << "'; elementwise ops on the two arguments are known";
    for (Value operand : inner.getOperands())
      if (failed(copyIn(operand)))
        return failure();
    Operation *copy = builder.clone(inner, mapping);
    copy->getResult(0).setType(type.clone(
        cast<RankedTensorType>(inner.getResult(0).getType()).getElementType()));
  }
  if (failed(copyIn(block.getTerminator()->getOperand(0))))
    return failure();
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

bool shardc::stablehlo::picksExtreme(Operation *reduce, bool &isMax) {
  auto op = dyn_cast<ReduceOp>(reduce);
  if (!op)
    return false;
  Block &body = op.getBody().front();
  if (op.getInputs().size() != 2 || body.getNumArguments() != 4)
    return false;
  Value x = body.getArgument(0), p = body.getArgument(1),
        y = body.getArgument(2), q = body.getArgument(3);
  using Direction = ComparisonDirection;
  auto compares = [](Value value, Value lhs, Value rhs, Direction direction) {
    auto compare = value.getDefiningOp<CompareOp>();
    return compare && compare.getLhs() == lhs && compare.getRhs() == rhs &&
           compare.getComparisonDirection() == direction &&
           compare.getCompareType() != ComparisonType::TOTALORDER;
  };
  // Either order of an or's or an and's operands.
  auto both = [](auto logic, auto first, auto second) {
    return logic && ((first(logic.getLhs()) && second(logic.getRhs())) ||
                     (first(logic.getRhs()) && second(logic.getLhs())));
  };
  auto value = body.getTerminator()->getOperand(0).getDefiningOp<SelectOp>();
  auto place = body.getTerminator()->getOperand(1).getDefiningOp<SelectOp>();
  if (!value || !place || value.getOnTrue() != x || value.getOnFalse() != y ||
      place.getOnTrue() != p || place.getOnFalse() != q)
    return false;
  auto isTie = [&](Value tie) {
    return both(
        tie.getDefiningOp<AndOp>(),
        [&](Value equal) { return compares(equal, x, y, Direction::EQ); },
        [&](Value lower) { return compares(lower, p, q, Direction::LT); });
  };
  return both(
             value.getPred().getDefiningOp<OrOp>(),
             [&](Value more) {
               return (isMax = compares(more, x, y, Direction::GT)) ||
                      compares(more, x, y, Direction::LT);
             },
             [&](Value nan) { return compares(nan, x, x, Direction::NE); }) &&
         both(
             place.getPred().getDefiningOp<OrOp>(),
             [&](Value wins) { return wins == value.getPred(); }, isTie);
}

bool stablehlo::isZero(Value value, bool orNegative) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return false;
  Attribute element = attr.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isPosZero() ||
           (orNegative && number.getValue().isZero());
  auto number = dyn_cast<IntegerAttr>(element);
  return number && number.getValue().isZero();
}
