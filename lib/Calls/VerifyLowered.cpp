//===- VerifyLowered.cpp - What translation relies on ---------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "shardc/Calls/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_VERIFYLOWEREDPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace shardc;

static LogicalResult verifyLowered(ModuleOp module) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // What is beside functions is no code: the mesh, the kernels' module.
    if (op == module || op->getParentOp() == module)
      return isa<FunctionOpInterface>(op) && !isa<LLVM::LLVMFuncOp>(op)
                 ? (op->emitOpError("is left after lowering, expected "
                                    "'llvm.func'"),
                    WalkResult::interrupt())
                 : WalkResult::advance();
    StringRef dialect = op->getName().getDialectNamespace();
    if (llvm::is_contained({"llvm", "nvvm"}, dialect))
      return WalkResult::advance();
    op->emitOpError("is left after lowering, expected an op of LLVM's dialect");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyLoweredPass final
    : shardc::impl::VerifyLoweredPassBase<VerifyLoweredPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyLowered(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
