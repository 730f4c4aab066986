//===- Control.cpp - Loops, branches, calls -------------------------------===//
//
// Rank-0 tensors are carried as elements, so that a loop's counter is a plain
// integer. A while that counts up to a bound becomes an scf.for.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/StableHLO/Sinks.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

// What the region's terminator carries on, emitted after its ops.
static FailureOr<SmallVector<Value>> lowerBody(Lowerer &l, Region &region,
                                               ValueRange args) {
  Block &block = region.front();
  Location loc = l.b.getLoc();
  for (auto [arg, value] : llvm::zip(block.getArguments(), args))
    l.set(arg, value);
  if (failed(l.lowerOps(block)))
    return failure();
  l.b.setLoc(loc);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value v) { return l.carried(v); });
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

namespace {
/// A while that counts: carried value `counter` runs up by `step` while it is
/// less than `bound`.
struct Counting {
  unsigned counter;
  Value bound;
  int64_t step;
};
} // namespace

static std::optional<int64_t> constantOf(Value source) {
  // Through what JAX wraps constants in.
  while (auto convert = source.getDefiningOp<stablehlo::ConvertOp>())
    source = convert.getOperand();
  auto op = source.getDefiningOp<stablehlo::ConstantOp>();
  auto dense = op ? dyn_cast<DenseIntElementsAttr>(op.getValue()) : nullptr;
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<APInt>().getSExtValue();
}

static std::optional<Counting> matchCounting(stablehlo::WhileOp op) {
  Block &cond = op.getCond().front(), &body = op.getBody().front();
  auto compare =
      cond.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &cond ||
      isUnsigned(counter.getType()) ||
      !isa<IntegerType>(elementType(counter.getType())))
    return std::nullopt;
  Value bound = compare.getRhs();
  // The bound is known before the loop: defined outside, or a constant inside,
  // or carried along unchanged.
  if (auto arg = dyn_cast<BlockArgument>(bound);
      arg && arg.getOwner() == &cond) {
    if (body.getTerminator()->getOperand(arg.getArgNumber()) !=
        body.getArgument(arg.getArgNumber()))
      return std::nullopt;
    bound = op.getOperands()[arg.getArgNumber()];
  } else if (op.getCond().isAncestor(bound.getParentRegion()) &&
             !constantOf(bound)) {
    return std::nullopt;
  }
  unsigned number = counter.getArgNumber();
  auto add = body.getTerminator()
                 ->getOperand(number)
                 .getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return std::nullopt;
  Value self = body.getArgument(number);
  Value other = add.getLhs() == self   ? add.getRhs()
                : add.getRhs() == self ? add.getLhs()
                                       : Value();
  std::optional<int64_t> step = other ? constantOf(other) : std::nullopt;
  if (!step || *step <= 0)
    return std::nullopt;
  return Counting{number, bound, *step};
}

static LogicalResult lowerCounting(Lowerer &l, stablehlo::WhileOp op,
                                   const Counting &counting) {
  ImplicitLocOpBuilder &b = l.b;
  SmallVector<Value> init;
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    if (i != counting.counter)
      init.push_back(l.carried(operand));
  Value from = l.scalar(op.getOperands()[counting.counter]);
  Type type = from.getType();
  // A constant inside the condition is not lowered yet.
  auto known = constantOf(counting.bound);
  Value to = known
                 ? arith::ConstantOp::create(b, b.getIntegerAttr(type, *known))
                       .getResult()
                 : l.scalar(counting.bound);
  Value step =
      arith::ConstantOp::create(b, b.getIntegerAttr(type, counting.step));
  auto loop = scf::ForOp::create(b, from, to, step, init);
  bool ok = true;
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = loop.getBody();
    if (init.empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    SmallVector<Value> args(loop.getRegionIterArgs());
    args.insert(args.begin() + counting.counter, loop.getInductionVar());
    auto next = lowerBody(l, op.getBody(), args);
    ok = succeeded(next);
    if (ok) {
      next->erase(next->begin() + counting.counter);
      if (!init.empty())
        scf::YieldOp::create(b, *next);
    } else if (!init.empty()) {
      scf::YieldOp::create(b, loop.getRegionIterArgs());
    }
  }
  if (!ok)
    return failure();
  // The counter's last value: the first that is not below the bound.
  Value last = to;
  if (!op.getResults()[counting.counter].use_empty()) {
    Value zero = l.zero(type),
          stepMinusOne = arith::ConstantOp::create(
              b, b.getIntegerAttr(type, counting.step - 1));
    Value distance = arith::SubIOp::create(b, to, from);
    distance = arith::MaxSIOp::create(b, distance, zero);
    Value rounded = arith::AddIOp::create(b, distance, stepMinusOne);
    Value tripCount = arith::DivSIOp::create(b, rounded, step);
    Value run = arith::MulIOp::create(b, tripCount, step);
    last = arith::AddIOp::create(b, from, run);
  }
  SmallVector<Value> results = llvm::to_vector_of<Value>(loop.getResults());
  results.insert(results.begin() + counting.counter, last);
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    l.set(result, value);
  return success();
}

static LogicalResult lowerWhile(Lowerer &l, stablehlo::WhileOp op) {
  if (auto counting = matchCounting(op))
    return lowerCounting(l, op, *counting);
  ImplicitLocOpBuilder &b = l.b;
  SmallVector<Value> init = llvm::map_to_vector(
      op.getOperands(), [&](Value v) { return l.carried(v); });
  SmallVector<Type> types =
      llvm::map_to_vector(init, [](Value v) { return v.getType(); });
  SmallVector<Location> locs(types.size(), op.getLoc());
  auto loop = scf::WhileOp::create(b, types, init);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  auto condition = lowerBody(l, op.getCond(), before->getArguments());
  if (failed(condition))
    return failure();
  scf::ConditionOp::create(b, condition->front(), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  auto next = lowerBody(l, op.getBody(), after->getArguments());
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, *next);
  b.setInsertionPointAfter(loop);
  for (auto [result, value] : llvm::zip(op.getResults(), loop.getResults()))
    l.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// case and if
//===----------------------------------------------------------------------===//

static LogicalResult lowerBranch(Lowerer &l, Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(l.b);
  l.b.createBlock(&to);
  auto values = lowerBody(l, from, {});
  if (failed(values))
    return failure();
  scf::YieldOp::create(l.b, *values);
  return success();
}

static SmallVector<Type> resultTypes(Lowerer &l, Operation *op) {
  return llvm::map_to_vector(op->getResults(),
                             [&](Value v) { return l.carriedType(v); });
}

// Out of range, on either side: the last branch, which is the default.
static LogicalResult lowerCase(Lowerer &l, stablehlo::CaseOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Value index = l.toIndex(l.scalar(op.getIndex()), op.getIndex().getType());
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(0, op.getBranches().size() - 1));
  auto twin = scf::IndexSwitchOp::create(b, resultTypes(l, op), index, cases,
                                         cases.size());
  for (auto [branch, region] :
       llvm::zip(op.getBranches().drop_back(), twin.getCaseRegions()))
    if (failed(lowerBranch(l, branch, region)))
      return failure();
  if (failed(lowerBranch(l, op.getBranches().back(), twin.getDefaultRegion())))
    return failure();
  for (auto [result, value] : llvm::zip(op.getResults(), twin.getResults()))
    l.set(result, value);
  return success();
}

static LogicalResult lowerIf(Lowerer &l, stablehlo::IfOp op) {
  ImplicitLocOpBuilder &b = l.b;
  OperationState state(op.getLoc(), scf::IfOp::getOperationName(),
                       l.scalar(op.getPred()), resultTypes(l, op));
  state.addRegion();
  state.addRegion();
  auto twin = cast<scf::IfOp>(b.create(state));
  if (failed(lowerBranch(l, op.getTrueBranch(), twin.getThenRegion())) ||
      failed(lowerBranch(l, op.getFalseBranch(), twin.getElseRegion())))
    return failure();
  for (auto [result, value] : llvm::zip(op.getResults(), twin.getResults()))
    l.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static LogicalResult lowerMap(Lowerer &l, stablehlo::MapOp op) {
  auto type = cast<RankedTensorType>(signlessType(op.getType()));
  if (type.getRank() == 0) {
    SmallVector<Value> args = llvm::map_to_vector(
        op.getInputs(), [&](Value v) { return l.scalar(v); });
    SmallVector<Value> values = l.scalarRegion(op.getComputation(), args);
    if (values.empty())
      return failure();
    l.set(op, values.front());
    return success();
  }
  SmallVector<Value> inputs =
      llvm::map_to_vector(op.getInputs(), [&](Value v) { return l.tensor(v); });
  Value out = l.empty(l.sizes(inputs.front()), type.getElementType());
  bool ok = true;
  Value result = l.map(inputs, out, [&](ValueRange args) -> SmallVector<Value> {
    SmallVector<Value> values =
        l.scalarRegion(op.getComputation(), args.drop_back());
    ok = !values.empty();
    return {ok ? values.front() : args.back()};
  });
  l.set(op, result);
  return success(ok);
}

static LogicalResult lowerBarrier(Lowerer &l,
                                  stablehlo::OptimizationBarrierOp op) {
  // What reads it is computed once more on purpose: common subexpressions end
  // at a region of its own, which bufferization sees through.
  if (IntegerAttr again = spmd::contract::Again::get(op)) {
    SmallVector<Value> values = llvm::map_to_vector(
        op.getOperands(), [&](Value v) { return l.carried(v); });
    SmallVector<Type> types =
        llvm::map_to_vector(values, [](Value v) { return v.getType(); });
    auto region = scf::ExecuteRegionOp::create(l.b, types, /*no_inline=*/true);
    spmd::contract::Again::set(region, again);
    {
      OpBuilder::InsertionGuard guard(l.b);
      l.b.createBlock(&region.getRegion());
      scf::YieldOp::create(l.b, values);
    }
    for (auto [result, value] : llvm::zip(op.getResults(), region.getResults()))
      l.set(result, value);
    return success();
  }
  for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands()))
    l.set(result, l.carried(operand));
  return success();
}

static LogicalResult lowerComposite(Lowerer &l, stablehlo::CompositeOp op) {
  SmallVector<Value> operands =
      llvm::map_to_vector(op.getInputs(), [&](Value v) { return l.tensor(v); });
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), signlessType);
  auto call =
      func::CallOp::create(l.b, op.getDecompositionAttr(), types, operands);
  for (auto [result, value] : llvm::zip(op.getResults(), call.getResults()))
    l.set(result, value);
  return success();
}

static LogicalResult lowerCustomCall(Lowerer &, stablehlo::CustomCallOp op) {
  if (stablehlo::isSink(op))
    return success();
  if (op.getCallTargetName() == "shape_assertion")
    return op.emitOpError("@shape_assertion is unsupported: it checks a shape "
                          "known only when the "
                          "program runs; refine the program to the shapes of "
                          "its arguments first");
  return op.emitOpError("calls @")
         << op.getCallTargetName()
         << ", which is unsupported: no such function is known here";
}

void shardc::lowering::addControl(LoweringTable &table) {
  table.op<stablehlo::WhileOp>(lowerWhile);
  table.op<stablehlo::CaseOp>(lowerCase);
  table.op<stablehlo::IfOp>(lowerIf);
  table.op<stablehlo::MapOp>(lowerMap);
  table.op<stablehlo::OptimizationBarrierOp>(lowerBarrier);
  table.op<stablehlo::CompositeOp>(lowerComposite);
  table.op<stablehlo::CustomCallOp>(lowerCustomCall);
}
