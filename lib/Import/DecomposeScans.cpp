//===- DecomposeScans.cpp - Scans -----------------------------------------===//
#include "Decompose.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// A loop over the slices, which writes those of the outputs where they belong.
LogicalResult import::decompose(chlo::ScanOp op) {
  Ops ops(op);
  auto dim = static_cast<int64_t>(op.getDimension());
  auto count = static_cast<int64_t>(op.getScanDimSize().value_or(0));
  for (Value value : llvm::concat<Value>(llvm::to_vector(op.getInputs()),
                                         llvm::to_vector(op.getOutputs())))
    count = Ops::typeOf(value).getDimSize(dim);
  for (Type type : op->getResultTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return emitOpUnsupported(op, ": has a result of dynamic shape ") << type;
  auto number = RankedTensorType::get({}, ops.b.getI64Type());
  SmallVector<Value> start = {ops.splat(number, 0)};
  for (Value output : op.getOutputs())
    start.push_back(ops.splat(Ops::typeOf(output), 0));
  llvm::append_range(start, op.getInits());
  // A body that takes slices could not be written.
  if (count == 0) {
    replace(op, ArrayRef(start).drop_front());
    return success();
  }
  auto loop = WhileOp::create(ops.b, TypeRange(ValueRange(start)), start);
  Value limit = ops.splat(number, count), one = ops.splat(number, 1),
        last = ops.splat(number, count - 1), zero = start.front();
  for (Value value : {limit, one, last})
    value.getDefiningOp()->moveBefore(loop);
  SmallVector<Location> locs(start.size(), op.getLoc());
  Block &cond = loop.getCond().emplaceBlock();
  cond.addArguments(loop.getOperandTypes(), locs);
  ops.b.setInsertionPointToStart(&cond);
  ReturnOp::create(ops.b, ops.compare("LT", cond.getArgument(0), limit));

  Block &body = loop.getBody().emplaceBlock();
  body.addArguments(loop.getOperandTypes(), locs);
  ops.b.setInsertionPointToStart(&body);
  Value iteration = body.getArgument(0);
  Value at =
      op.getIsReverse() ? ops.op<SubtractOp>(last, iteration) : iteration;
  auto startsOf = [&](RankedTensorType type) {
    SmallVector<Value> starts(type.getRank(), zero);
    starts[dim] = at;
    return starts;
  };
  IRMapping mapping;
  Block &step = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip(step.getArguments(), op.getInputs())) {
    RankedTensorType type = Ops::typeOf(input);
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = 1;
    Value slice = DynamicSliceOp::create(
        ops.b, RankedTensorType::get(sizes, type.getElementType()), input,
        startsOf(type), sizes);
    sizes.erase(sizes.begin() + dim);
    mapping.map(argument, ops.reshape(slice, sizes));
  }
  size_t outputs = op.getOutputs().size();
  for (auto [argument, carried] :
       llvm::zip(step.getArguments().drop_front(op.getInputs().size()),
                 body.getArguments().drop_front(1 + outputs)))
    mapping.map(argument, carried);
  for (Operation &inner : step.without_terminator())
    ops.b.clone(inner, mapping);
  SmallVector<Value> next = {ops.op<AddOp>(iteration, one)};
  for (auto [i, value] : llvm::enumerate(step.getTerminator()->getOperands())) {
    Value given = mapping.lookupOrDefault(value);
    if (i < outputs) {
      Value whole = body.getArgument(1 + i);
      SmallVector<int64_t> sizes(Ops::typeOf(whole).getShape());
      sizes[dim] = 1;
      given = DynamicUpdateSliceOp::create(ops.b, whole.getType(), whole,
                                           ops.reshape(given, sizes),
                                           startsOf(Ops::typeOf(whole)));
    }
    next.push_back(given);
  }
  ReturnOp::create(ops.b, next);
  replace(op, loop.getResults().drop_front());
  return success();
}
