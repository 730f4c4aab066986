//===- InlineCalls.cpp - @main alone --------------------------------------===//
//
// Callees first, so that each body that is copied holds no call any more. JAX
// wraps every inner jit in a function, also inside loops; this inliner needs no
// interface of the dialects, says who called in locations, and keeps shardings
// of callees' arguments as constraints.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

/// Ops that a program may have once its calls are inlined (docs/Reference).
static constexpr int64_t kMaxOps = 1'000'000;
/// Functions that may be in one another.
static constexpr size_t kMaxDepth = 1000;

namespace {

class Inliner {
public:
  explicit Inliner(ModuleOp module) : module(module), symbols(module) {}
  LogicalResult run();

private:
  LogicalResult flatten(func::FuncOp function);
  LogicalResult inlineCall(Operation *call, func::FuncOp callee);
  LogicalResult inlineAsync(stablehlo::AsyncStartOp op);
  LogicalResult inlineRegion(sdy::NamedComputationOp op);
  FailureOr<func::FuncOp> calleeOf(Operation *call);

  ModuleOp module;
  SymbolTable symbols;
  SmallVector<func::FuncOp> active;     ///< callers, outermost first
  DenseMap<Operation *, int64_t> opsOf; ///< of functions that hold no call
};

} // namespace

static FlatSymbolRefAttr calleeName(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCalleeAttr();
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return composite.getDecompositionAttr();
  return {};
}

/// `value` with a sharding asked for, if `sharding` is one.
static Value constrain(OpBuilder &builder, Location loc, Value value,
                       Attribute sharding) {
  auto attr = dyn_cast_or_null<sdy::TensorShardingAttr>(sharding);
  if (!attr || !isa<RankedTensorType>(value.getType()))
    return value;
  return sdy::ShardingConstraintOp::create(builder, loc, value.getType(), value,
                                           attr);
}

FailureOr<func::FuncOp> Inliner::calleeOf(Operation *call) {
  FlatSymbolRefAttr name = calleeName(call);
  auto callee = symbols.lookup<func::FuncOp>(name.getAttr());
  if (!callee)
    return call->emitOpError()
           << "calls " << name << ", which is no function of this module";
  if (callee.isExternal())
    return call->emitOpError() << "calls " << name << ", which has no body";
  auto called = FunctionType::get(call->getContext(), call->getOperandTypes(),
                                  call->getResultTypes());
  if (called != callee.getFunctionType())
    return call->emitOpError()
           << "calls " << name << " as " << called << ", but its type is "
           << callee.getFunctionType();
  return callee;
}

LogicalResult Inliner::inlineCall(Operation *call, func::FuncOp callee) {
  OpBuilder builder(call);
  Location callLoc = call->getLoc();
  IRMapping mapping;
  for (auto [i, argument, operand] :
       llvm::enumerate(callee.getArguments(), call->getOperands()))
    mapping.map(argument, constrain(builder, callLoc, operand,
                                    callee.getArgAttr(i, sdy::kShardingAttr)));
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), callLoc));
    });
  }
  for (auto [i, result, value] :
       llvm::enumerate(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(
        constrain(builder, callLoc, mapping.lookupOrDefault(value),
                  callee.getResultAttr(i, sdy::kShardingAttr)));
  call->erase();
  return success();
}

LogicalResult Inliner::inlineAsync(stablehlo::AsyncStartOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), op.getOperands()))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = body.getTerminator();
  for (Operation *user :
       llvm::make_early_inc_range(op.getFuture().getUsers())) {
    auto done = dyn_cast<stablehlo::AsyncDoneOp>(user);
    if (!done)
      return emitOpUnsupported(user)
             << ": hands on " << op.getFuture().getType()
             << "; await it with async_done where it is begun";
    done.replaceAllUsesWith(terminator->getOperands());
    done.erase();
  }
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op.erase();
  return success();
}

LogicalResult Inliner::inlineRegion(sdy::NamedComputationOp op) {
  OpBuilder builder(op);
  Block &body = op.getBody().front();
  auto shardingAt = [](std::optional<sdy::TensorShardingPerValueAttr> shardings,
                       size_t i) -> Attribute {
    return shardings && i < shardings->getShardings().size()
               ? shardings->getShardings()[i]
               : nullptr;
  };
  for (auto [i, argument, operand] :
       llvm::enumerate(body.getArguments(), op.getOperands()))
    argument.replaceAllUsesWith(constrain(builder, op.getLoc(), operand,
                                          shardingAt(op.getInShardings(), i)));
  Operation *terminator = body.getTerminator();
  SmallVector<Value> values(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  for (auto [i, result, value] : llvm::enumerate(op.getResults(), values))
    result.replaceAllUsesWith(constrain(builder, op.getLoc(), value,
                                        shardingAt(op.getOutShardings(), i)));
  op.erase();
  return success();
}

LogicalResult Inliner::flatten(func::FuncOp function) {
  if (opsOf.contains(function))
    return success();
  if (llvm::is_contained(active, function)) {
    InFlightDiagnostic diag =
        function.emitError("function @")
        << function.getSymName()
        << " calls itself, which a compiled program cannot";
    for (func::FuncOp caller : active)
      diag.attachNote(caller.getLoc()) << "by way of @" << caller.getSymName();
    return diag;
  }
  if (active.size() >= kMaxDepth)
    return function.emitError("function @")
           << function.getSymName() << " is reached by more than " << kMaxDepth
           << " calls, one in the other, the limit; inline some";
  if (!function.getBody().hasOneBlock())
    return function.emitError("function @")
           << function.getSymName() << " has "
           << function.getBody().getBlocks().size()
           << " blocks, expected one; StableHLO branches with regions";
  active.push_back(function);

  SmallVector<Operation *> calls;
  int64_t count = 0;
  function.walk([&](Operation *op) {
    ++count;
    if (calleeName(op))
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    FailureOr<func::FuncOp> callee = calleeOf(call);
    if (failed(callee) || failed(flatten(*callee)))
      return failure();
    count += opsOf[*callee];
    if (count > kMaxOps)
      return call->emitOpError() << "makes a program of more than " << kMaxOps
                                 << " ops, the limit, when it is inlined";
    if (failed(inlineCall(call, *callee)))
      return failure();
  }
  // Here nothing else runs meanwhile: what begins is done at once.
  SmallVector<stablehlo::AsyncStartOp> begun;
  function.walk([&](stablehlo::AsyncStartOp op) { begun.push_back(op); });
  for (stablehlo::AsyncStartOp op : begun)
    if (failed(inlineAsync(op)))
      return failure();
  // Innermost first.
  SmallVector<sdy::NamedComputationOp> regions;
  function.walk([&](sdy::NamedComputationOp op) { regions.push_back(op); });
  for (sdy::NamedComputationOp op : regions)
    if (failed(inlineRegion(op)))
      return failure();
  active.pop_back();
  opsOf[function] = count;
  return success();
}

LogicalResult Inliner::run() {
  auto main = symbols.lookup<func::FuncOp>("main");
  if (!main) {
    InFlightDiagnostic diag = module.emitError(
        "module has no function @main, where a program begins");
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        diag.attachNote(function.getLoc())
            << "there is @" << function.getSymName() << "; rename it to @main";
    return diag;
  }
  if (main.isExternal())
    return main.emitError("function @main has no body");
  if (failed(flatten(main)))
    return failure();
  // What custom calls name is theirs until they are expanded.
  DenseSet<StringAttr> named;
  bool flat = true;
  auto keep = [&](StringAttr name) {
    named.insert(name);
    auto callee = symbols.lookup<func::FuncOp>(name);
    return !callee || callee.isExternal() || succeeded(flatten(callee));
  };
  main.walk([&](stablehlo::CustomCallOp call) {
    for (Attribute name : call.getCalledComputations())
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
        (void)keep(symbol.getAttr());
  });
  DialectInterfaceCollection<ImportDialectInterface> dialects(
      module.getContext());
  main.walk([&](Operation *op) {
    for (const ImportDialectInterface &dialect : dialects)
      dialect.forEachNamedFunction(
          op, [&](StringAttr name) { flat &= keep(name); });
  });
  if (!flat)
    return failure();
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function != main && !named.contains(function.getSymNameAttr()))
      function.erase();
  return success();
}

namespace {
struct InlineCallsPass final
    : shardc::impl::InlineCallsPassBase<InlineCallsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(Inliner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
