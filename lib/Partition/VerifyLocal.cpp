//===- VerifyLocal.cpp - What Communicate relies on -----------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Partition/Passes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace shardc {
#define GEN_PASS_DEF_VERIFYLOCALPASS
#include "shardc/Partition/Passes.h.inc"
} // namespace shardc

static LogicalResult verifyLocal(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !contract::LocalView::has(function))
      return function.emitOpError()
             << "lacks '" << contract::LocalView::name()
             << "': it is not in the local view; run --spmd-partition first";
  if (failed(
          verifyLevel<MeshOp, LocalDialect, PairsDialect>(module, "partition")))
    return failure();
  WalkResult result = module.walk([](Operation *op) {
    for (StringRef name :
         {contract::Shardings::name(), contract::Factors::name()})
      if (op->hasAttr(name)) {
        op->emitOpError() << "has '" << name
                          << "', which says how a value of the global view is "
                             "cut, but is left after partition";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyLocalPass final
    : shardc::impl::VerifyLocalPassBase<VerifyLocalPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyLocal(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
