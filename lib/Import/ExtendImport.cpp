//===- ExtendImport.cpp - Passes of dialects that tools add ---------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Import/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_EXTENDIMPORTPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {
struct ExtendImportPass final
    : shardc::impl::ExtendImportPassBase<ExtendImportPass> {
  using Base::Base;
  void runOnOperation() override {
    DialectInterfaceCollection<ImportDialectInterface> dialects(&getContext());
    OpPassManager pm(ModuleOp::getOperationName());
    for (const ImportDialectInterface &dialect : dialects)
      dialect.addPasses(step, pm);
    if (!pm.empty() && failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
