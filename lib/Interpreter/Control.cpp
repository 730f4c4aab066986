//===- Control.cpp - Calls, branches, loops, and what changes nothing -----===//
//
// Lanes may take different branches and leave a loop after different
// iterations: those that go the same way go together.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/ScopeExit.h"
#include <algorithm>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// Functions within one another; more than any program that JAX prints has.
static constexpr size_t kMaxDepth = 1000;

/// Runs `region` on the op's operands and binds what it yields to the results.
static LogicalResult enter(Evaluator &evaluator, Operation *op, Region &region,
                           Lanes lanes) {
  std::vector<Values> arguments, yielded;
  for (Lane *lane : lanes)
    arguments.push_back(Evaluator::operandsOf(op, *lane));
  if (failed(evaluator.run(region, lanes, arguments, yielded)))
    return failure();
  for (auto [lane, values] : llvm::zip_equal(lanes, yielded))
    Evaluator::bind(op->getResults(), *lane, values);
  return success();
}

static LogicalResult callFunction(Evaluator &evaluator, Operation *op,
                                  SymbolRefAttr name, Lanes lanes) {
  auto function = evaluator.lookup<func::FuncOp>(op, name);
  if (!function || function.isExternal())
    return Evaluator::unknown(op, "a call of a function without a body");
  // Values are kept by their place in the text: a function that calls itself,
  // if by way of others, would write over its own.
  if (!evaluator.entered.insert(function).second)
    return Evaluator::unknown(op, "a function that calls itself");
  auto leave =
      llvm::make_scope_exit([&] { evaluator.entered.erase(function); });
  // Each call is some frames of the stack.
  if (evaluator.entered.size() > kMaxDepth)
    return Evaluator::unknown(op, "more than " + llvm::Twine(kMaxDepth) +
                                      " calls, one in the other");
  return enter(evaluator, op, function.getBody(), lanes);
}

static LogicalResult runCall(Evaluator &evaluator, func::CallOp op,
                             Lanes lanes) {
  return callFunction(evaluator, op, op.getCalleeAttr(), lanes);
}

static LogicalResult runComposite(Evaluator &evaluator,
                                  stablehlo::CompositeOp op, Lanes lanes) {
  return callFunction(evaluator, op, op.getDecompositionAttr(), lanes);
}

static LogicalResult runNamedComputation(Evaluator &evaluator,
                                         sdy::NamedComputationOp op,
                                         Lanes lanes) {
  return enter(evaluator, op, op.getBody(), lanes);
}

/// Runs region number `choose(lane)` of `op` for each lane.
static LogicalResult
runBranches(Evaluator &evaluator, Operation *op, Lanes lanes,
            llvm::function_ref<size_t(const Lane &)> choose) {
  for (size_t branch = 0; branch < op->getNumRegions(); ++branch) {
    SmallVector<Lane *> taking;
    for (Lane *lane : lanes)
      if (choose(*lane) == branch)
        taking.push_back(lane);
    if (taking.empty())
      continue;
    std::vector<Values> yielded;
    if (failed(evaluator.run(op->getRegion(branch).front(), taking, yielded)))
      return failure();
    for (auto [lane, values] : llvm::zip_equal(taking, yielded))
      Evaluator::bind(op->getResults(), *lane, values);
  }
  return success();
}

static LogicalResult runIf(Evaluator &evaluator, stablehlo::IfOp op,
                           Lanes lanes) {
  return runBranches(evaluator, op, lanes, [&](const Lane &lane) -> size_t {
    return lane.values.lookup(op.getPred()).integer() != 0 ? 0 : 1;
  });
}

static LogicalResult runCase(Evaluator &evaluator, stablehlo::CaseOp op,
                             Lanes lanes) {
  return runBranches(evaluator, op, lanes, [&](const Lane &lane) -> size_t {
    int64_t index = lane.values.lookup(op.getIndex()).integer(),
            count = op->getNumRegions();
    return index < 0 || index >= count ? count - 1 : index;
  });
}

static LogicalResult runWhile(Evaluator &evaluator, stablehlo::WhileOp op,
                              Lanes lanes) {
  SmallVector<Lane *> inside(lanes);
  std::vector<Values> carried;
  for (Lane *lane : lanes)
    carried.push_back(Evaluator::operandsOf(op, *lane));
  while (!inside.empty()) {
    std::vector<Values> answers;
    if (failed(evaluator.run(op.getCond(), inside, carried, answers)))
      return failure();
    SmallVector<Lane *> again;
    std::vector<Values> kept;
    for (size_t i = 0; i < inside.size(); ++i)
      if (answers[i][0].integer() != 0) {
        again.push_back(inside[i]);
        kept.push_back(carried[i]);
      } else {
        Evaluator::bind(op->getResults(), *inside[i], carried[i]);
      }
    inside = again;
    if (inside.empty())
      break;
    if (failed(evaluator.spend(op, inside.size())) ||
        failed(evaluator.run(op.getBody(), inside, kept, carried)))
      return failure();
  }
  return success();
}

/// Slice by slice along a dim, which slices do not have; all lanes go as far.
static LogicalResult runScan(Evaluator &evaluator, chlo::ScanOp op,
                             Lanes lanes) {
  auto dim = static_cast<int64_t>(op.getDimension());
  size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
  auto count = static_cast<int64_t>(op.getScanDimSize().value_or(0));
  for (Value output : op.getOutputs())
    count = cast<RankedTensorType>(output.getType()).getDimSize(dim);
  if (inputs > 0)
    count = lanes.front()->values.lookup(op.getInputs()[0]).dim(dim);
  std::vector<Values> carried, whole;
  for (Lane *lane : lanes) {
    Values operands = Evaluator::operandsOf(op, *lane);
    carried.emplace_back(ArrayRef(operands).drop_front(inputs));
    Values &made = whole.emplace_back();
    for (Value output : op.getOutputs()) {
      auto type = cast<RankedTensorType>(output.getType());
      if (!type.hasStaticShape())
        return Evaluator::unknown(op, "a scan of open shape");
      made.emplace_back(formatOf(output), type.getShape());
    }
  }
  for (int64_t step = 0; step < count; ++step) {
    int64_t at = op.getIsReverse() ? count - 1 - step : step;
    std::vector<Values> arguments, yielded;
    for (auto [lane, values] : llvm::zip_equal(lanes, carried)) {
      Values &given = arguments.emplace_back();
      for (Value input : op.getInputs()) {
        Array array = lane->values.lookup(input);
        Shape starts(array.rank(), 0), box(array.shape());
        starts[dim] = at;
        box[dim] = 1;
        Array slice = array.slice(starts, box);
        box.erase(box.begin() + dim);
        given.push_back(slice.reshaped(box));
      }
      llvm::append_range(given, values);
    }
    if (failed(evaluator.spend(op, lanes.size())) ||
        failed(evaluator.run(op.getBody(), lanes, arguments, yielded)))
      return failure();
    for (size_t i = 0; i < lanes.size(); ++i) {
      for (size_t o = 0; o < outputs; ++o) {
        Shape starts(whole[i][o].rank(), 0), box(whole[i][o].shape());
        starts[dim] = at;
        box[dim] = 1;
        whole[i][o].write(yielded[i][o].reshaped(box), starts);
      }
      carried[i] = Values(ArrayRef(yielded[i]).drop_front(outputs));
    }
  }
  int64_t elements = 0;
  for (size_t i = 0; i < lanes.size(); ++i) {
    llvm::append_range(whole[i], carried[i]);
    for (const Array &result : whole[i])
      elements += result.size();
    Evaluator::bind(op->getResults(), *lanes[i], whole[i]);
  }
  return evaluator.spend(op, elements);
}

/// Marks, layouts, barriers: results are the operands.
static FailureOr<Values> forward(Evaluator &, Operation *op,
                                 ArrayRef<Array> in) {
  if (in.size() < op->getNumResults())
    return Evaluator::unknown(op, "a call with more results than operands");
  return Values(in.take_front(op->getNumResults()));
}

static FailureOr<Values> evaluateTuple(Evaluator &, stablehlo::TupleOp,
                                       ArrayRef<Array> in) {
  return Values{Array::tuple(in)};
}

static FailureOr<Values> evaluateTupleElement(Evaluator &,
                                              stablehlo::GetTupleElementOp op,
                                              ArrayRef<Array> in) {
  return Values{in[0].parts()[op.getIndex()]};
}

static FailureOr<Values> makeToken(Evaluator &, Operation *, ArrayRef<Array>) {
  return Values{Array::token()};
}

static FailureOr<Values> ignore(Evaluator &, Operation *, ArrayRef<Array>) {
  return Values();
}

/// Computed as the op that is called so.
static Handler asUnary(StringRef name) {
  return [name = name.str()](Evaluator &evaluator, Operation *op,
                             ArrayRef<Array> in) -> FailureOr<Values> {
    Unary function = evaluator.table.unary.lookup(name);
    Array result(in[0].format(), in[0].shape());
    for (int64_t i = 0; i < result.size(); ++i)
      result.set(i) = function(in[0].format(), in[0].format(), in[0][i]);
    return Values{result};
  };
}

static LogicalResult runCustomCall(Evaluator &evaluator,
                                   stablehlo::CustomCallOp op, Lanes lanes) {
  const Table &table = evaluator.table;
  StringRef target = op.getCallTargetName();
  if (auto found = table.lockstepCalls.find(target);
      found != table.lockstepCalls.end())
    return found->second(evaluator, op, lanes);
  auto found = table.customCalls.find(target);
  if (found == table.customCalls.end())
    return Evaluator::unknown(op, "custom call @" + target);
  return evaluator.runEach(op, lanes, found->second);
}

static FailureOr<Values> checkShapes(Evaluator &, Operation *op,
                                     ArrayRef<Array> in) {
  if (in.empty() || in[0].integer() != 0)
    return Values();
  return op->emitError() << "asserts what does not hold of the shapes";
}

void shardc::interpreter::addControl(Table &table) {
  table.addLockstep<func::CallOp>(runCall);
  table.addLockstep<stablehlo::CompositeOp>(runComposite);
  table.addLockstep<sdy::NamedComputationOp>(runNamedComputation);
  table.addLockstep<stablehlo::IfOp>(runIf);
  table.addLockstep<stablehlo::CaseOp>(runCase);
  table.addLockstep<stablehlo::WhileOp>(runWhile);
  table.addLockstep<chlo::ScanOp>(runScan);
  table.add<stablehlo::TupleOp>(evaluateTuple);
  table.add<stablehlo::GetTupleElementOp>(evaluateTupleElement);
  table.addLockstep<stablehlo::CustomCallOp>(runCustomCall);
  table.handlers["stablehlo.after_all"] =
      table.handlers["stablehlo.create_token"] = makeToken;
  for (StringRef name : std::initializer_list<StringRef>{
           "stablehlo.optimization_barrier", "sdy.sharding_constraint",
           "sdy.reshard", "sdy.propagation_barrier", "sdy.data_flow_edge",
           "sdy.all_gather", "sdy.all_slice", "sdy.all_to_all",
           "sdy.collective_permute", "sdy.all_reduce", "sdy.reduce_scatter",
           "sdy.sharded_to_unreduced", "sdy.replicated_to_unreduced",
           spmd::ConstrainOp::getOperationName()})
    table.handlers[name] = forward;
  table.handlers["sdy.sharding_group"] = ignore;
  for (StringRef name :
       {"Sharding", "annotate_device_placement", "LayoutConstraint",
        "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"})
    table.customCalls[name] = forward;
  for (StringRef name : {"xla.sdy.ShardingGroup", "control_dep"})
    table.customCalls[name] = ignore;
  table.customCalls["shape_assertion"] = checkShapes;
  for (StringRef name : {"acos", "acosh", "asin", "asinh", "atanh", "cosh",
                         "erf", "sinh", "tan"})
    table.customCalls[("mhlo." + name).str()] =
        withForm(1, 1, asUnary(("chlo." + name).str()));
}
