//===- VerifyPartition.cpp - The interpreter as a pass --------------------===//

#include "VerifyPartition.h"
#include "../Common/Tool.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardc/Pipelines/Register.h"

using namespace mlir;
using namespace shardc;

namespace {
struct VerifyPartitionPass final
    : PassWrapper<VerifyPartitionPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPartitionPass)
  VerifyPartitionPass() = default;
  VerifyPartitionPass(const VerifyPartitionPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "spmd-verify-partition"; }
  StringRef getDescription() const final {
    return "Interpret the local view on all ranks, and compare with a program.";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerShardcDialects(registry);
  }
  void runOnOperation() override {
    OwningOpRef<ModuleOp> program = parseModel(getContext(), global);
    interpreter::Options limits;
    limits.maxWork = kVerifiedWork;
    if (!program ||
        failed(interpreter::verifyLocal(*program, getOperation(), limits)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
  Option<std::string> global{
      *this, "global", llvm::cl::desc("The file with the program's text")};
};

struct ShrinkPass final : PassWrapper<ShrinkPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShrinkPass)
  ShrinkPass() = default;
  ShrinkPass(const ShrinkPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "spmd-shrink"; }
  StringRef getDescription() const final {
    return "Make dims smaller that no op binds to their size.";
  }
  void runOnOperation() override {
    OwningOpRef<ModuleOp> small = interpreter::smaller(getOperation(), most);
    if (!small)
      return;
    getOperation().getBodyRegion().takeBody(small->getBodyRegion());
  }
  Option<int64_t> most{*this, "most", llvm::cl::desc("Elements of a dim"),
                       llvm::cl::init(32)};
};

struct EnlargePass final : PassWrapper<EnlargePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EnlargePass)
  EnlargePass() = default;
  EnlargePass(const EnlargePass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "spmd-enlarge"; }
  StringRef getDescription() const final {
    return "Make dims larger that are cut and that no op binds to their size.";
  }
  void runOnOperation() override {
    if (OwningOpRef<ModuleOp> large =
            interpreter::larger(getOperation(), times))
      getOperation().getBodyRegion().takeBody(large->getBodyRegion());
  }
  Option<int64_t> times{*this, "times", llvm::cl::desc("Factor"),
                        llvm::cl::init(2)};
};
} // namespace

void shardc::registerVerifyPartitionPass() {
  PassRegistration<VerifyPartitionPass>();
  PassRegistration<EnlargePass>();
  PassRegistration<ShrinkPass>();
}
