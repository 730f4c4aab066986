//===- VerifyImported.cpp - What propagation relies on --------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Import/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_VERIFYIMPORTEDPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static LogicalResult verifyImported(ModuleOp module) {
  auto meshes = module.getOps<spmd::MeshOp>();
  if (!llvm::hasSingleElement(meshes))
    return module.emitError("has ")
           << llvm::range_size(meshes) << " meshes after import, expected one";
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions) ||
      (*functions.begin()).getSymName() != "main")
    return module.emitError("has other functions than @main after import");
  if (failed(spmd::verifyLevel<spmd::SpmdDialect, spmd::PairsDialect>(
          module, "import")))
    return failure();
  WalkResult result = module.walk([](Operation *op) {
    if (op->getName().getDialectNamespace() == "sdy" || isa<func::CallOp>(op)) {
      op->emitOpError("is left after import");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyImportedPass final
    : shardc::impl::VerifyImportedPassBase<VerifyImportedPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(verifyImported(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
