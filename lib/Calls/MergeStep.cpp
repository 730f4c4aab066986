//===- MergeStep.cpp - One function of the entry and the step -------------===//
//
// A buffer that is given to a function becomes a value for its address and one
// for each size and stride. For a step of thousands of buffers these take
// quadratic time to make, and what they are is known where the entry makes
// them.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Calls/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_MERGESTEPPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;

namespace {
struct MergeStepPass final : shardc::impl::MergeStepPassBase<MergeStepPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto entry = module.lookupSymbol<func::FuncOp>("shardc_main");
    auto step = module.lookupSymbol<func::FuncOp>("shardc_step");
    if (!entry || !step || !entry.getBody().hasOneBlock() ||
        !step.getBody().hasOneBlock())
      return;
    Block &outer = entry.getBody().front(), &inner = step.getBody().front();
    func::CallOp call;
    for (auto one : outer.getOps<func::CallOp>())
      if (one.getCallee() == step.getSymName())
        call = one;
    if (!call)
      return;
    for (auto [argument, value] :
         llvm::zip_equal(inner.getArguments(), call.getOperands()))
      argument.replaceAllUsesWith(value);
    Operation *done = inner.getTerminator();
    call->replaceAllUsesWith(done->getOperands());
    done->erase();
    outer.getOperations().splice(call->getIterator(), inner.getOperations());
    call.erase();
    step.erase();
  }
};
} // namespace
