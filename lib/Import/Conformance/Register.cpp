//===- Register.cpp - Conformance files as a part of import ---------------===//

#include "mlir/Pass/PassManager.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/Interpreter/IR/Interpreter.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/ConformancePasses.h"
#include "shardc/Import/DialectInterface.h"

using namespace mlir;
using namespace shardc;

namespace {
struct ReadConformanceFiles final : ImportDialectInterface {
  using ImportDialectInterface::ImportDialectInterface;

  void addPasses(ImportStep step, OpPassManager &pm) const override {
    switch (step) {
    case ImportStep::BeforeCalls:
      return pm.addPass(createExpandChecksPass());
    case ImportStep::AfterCalls:
      // What processes communicate is known once their programs hold no calls.
      return pm.addPass(createExpandParallelPass());
    case ImportStep::Decomposed:
      return pm.addPass(createCollectChecksPass());
    }
  }
  void
  forEachNamedFunction(Operation *op,
                       function_ref<void(StringAttr)> keep) const override {
    auto parallel = dyn_cast<interpreter::RunParallelOp>(op);
    if (!parallel)
      return;
    AttrTypeWalker walker;
    walker.addWalk([&](StringAttr name) { keep(name); });
    walker.walk(parallel.getPrograms());
    if (parallel.getInfeed())
      walker.walk(*parallel.getInfeed());
  }
};
} // namespace

void shardc::registerConformanceImport(DialectRegistry &registry) {
  registry.insert<check::CheckDialect, interpreter::InterpreterDialect>();
  // Checks come as custom calls of StableHLO too.
  registry.addExtension(+[](MLIRContext *context,
                            stablehlo::StablehloDialect *dialect) {
    dialect->addInterfaces<ReadConformanceFiles>();
    context->loadDialect<check::CheckDialect, interpreter::InterpreterDialect,
                         sdy::SdyDialect, spmd::SpmdDialect>();
  });
}
