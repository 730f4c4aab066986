//===- Host.cpp - Calls of the process that runs the program --------------===//
//
// One rank calls: the first along all axes, in a manual region along those that
// the region leaves free. What is cut goes there, and what comes back goes to
// whom it belongs, each by one exchange.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

/// Every dim may be cut as it likes. Calls on shards leave their operands where
/// they are.
static FailureOr<ShardingRule> hostCallRule(HostCallOp op) {
  ShardingRule rule;
  FactorKind kind =
      op.getShards() ? FactorKind::PassThrough : FactorKind::Distributed;
  auto add = [&](Value value) {
    size_t first = rule.factors.size();
    TensorRule tensor = newFactors(rule, shapeOf(value), kind);
    for (Factor &factor : MutableArrayRef(rule.factors).drop_front(first)) {
      if (kind != FactorKind::Distributed)
        continue;
      factor.travels = true;
      factor.movedBytes = bytesOf(value);
    }
    return tensor;
  };
  for (Value operand : op.getInputs())
    rule.operands.push_back(add(operand));
  for (Value result : op.getResults())
    rule.results.push_back(add(result));
  return rule;
}

/// The mesh axes along which the ranks do the same but for their shards.
static SmallVector<int64_t> freeAxes(HostCallOp op,
                                     Localization &localization) {
  auto manual = op->getParentOfType<ManualOp>();
  SmallVector<int64_t> axes;
  MeshAttr mesh = lookupMesh(op, localization.meshName());
  for (auto [axis, name] : llvm::enumerate(mesh.getAxisNames()))
    if (localization.meshSizes()[axis] > 1 &&
        !(manual && manual.isManual(name)))
      axes.push_back(axis);
  return axes;
}

/// All of a tensor of `shape` on the first rank along `axes`, nothing on
/// others.
static SmallVector<IntervalTable> onFirst(ArrayRef<int64_t> shape,
                                          ArrayRef<int64_t> axes,
                                          ArrayRef<int64_t> meshSizes) {
  SmallVector<IntervalTable> tables;
  for (int64_t size : shape)
    tables.push_back(wholeTable(size));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= meshSizes[axis];
  tables.front().axes.assign(axes.begin(), axes.end());
  tables.front().intervals.resize(count, Interval{0, 0});
  return tables;
}

static LocalResults localizeHostCall(HostCallOp op,
                                     Localization &localization) {
  OpBuilder &b = localization.builder();
  Location loc = op.getLoc();
  SmallVector<int64_t> axes;
  if (!op.getShards())
    axes = freeAxes(op, localization);
  if (localization.countCoordinates(axes).isOpen())
    localization.refuse("the number of ranks, of which one calls");
  SmallVector<Attribute> types;
  for (Value value : op->getOperands())
    types.push_back(TypeAttr::get(value.getType()));
  for (Value value : op->getResults())
    types.push_back(TypeAttr::get(value.getType()));
  SmallVector<Value> inputs;
  localization.carriesFormulas();
  for (auto [i, operand] : llvm::enumerate(localization.operands())) {
    SmallVector<IntervalTable> owned = localization.operandTables(i);
    bool isCut = llvm::any_of(owned, [](const IntervalTable &table) {
      return table.intervals.size() > 1;
    });
    inputs.push_back(op.getShards() || !isCut
                         ? operand
                         : localization.exchange(
                               operand, owned,
                               onFirst(shapeOf(op.getOperand(i)), axes,
                                       localization.meshSizes()),
                               {}, "takes its operand to the rank that calls"));
  }
  // A scalar comes back as one element, since it is there on one rank only.
  SmallVector<Type> made;
  auto globalShape = [&](int64_t result) {
    SmallVector<int64_t> shape(shapeOf(op.getResult(result)));
    if (shape.empty())
      shape.push_back(1);
    return shape;
  };
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    made.push_back(axes.empty() ? type
                                : blockType(onFirst(globalShape(i), axes,
                                                    localization.meshSizes()),
                                            type.getElementType()));
  }
  SmallVector<StringRef> names;
  MeshAttr mesh = lookupMesh(op, localization.meshName());
  for (int64_t axis : axes)
    names.push_back(mesh.getAxisNames()[axis].getValue());
  auto call = CallHostOp::create(
      b, loc, made, op.getIndexAttr(), inputs, op.getHasEffectAttr(),
      op.getOrderedAttr(), op.getShardsAttr(), b.getArrayAttr(types),
      b.getStrArrayAttr(names), localization.meshName());
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(call.getResults())) {
    Value result = value;
    if (!axes.empty()) {
      SmallVector<IntervalTable> needed = localization.resultTables(i);
      bool isScalar = needed.empty();
      if (isScalar)
        needed.push_back(wholeTable(1));
      result = localization.exchange(
          result, onFirst(globalShape(i), axes, localization.meshSizes()),
          needed, {}, "hands out its result");
      if (isScalar)
        result = stablehlo::ReshapeOp::create(
            b, loc, cast<RankedTensorType>(op.getResult(i).getType()), result);
    }
    results.push_back(result);
  }
  return results;
}

void rules::attachHost(MLIRContext *context) {
  attach<HostCallOp, hostCallRule, localizeHostCall>(context);
}
