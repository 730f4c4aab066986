//===- LowerToLinalgPass.cpp - --spmd-lower-to-linalg ---------------------===//
#include "StableHLOToLinalg.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Lowering/Passes.h"

#include "mlir/Transforms/RegionUtils.h"

namespace shardc {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "shardc/Lowering/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

namespace {
struct LowerToLinalgPass final
    : shardc::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    lowering::LoweringTable table;
    lowering::addArithmetic(table);
    lowering::addConversions(table);
    lowering::addChlo(table);
    lowering::addShapes(table);
    lowering::addParts(table);
    lowering::addContractions(table);
    lowering::addReductions(table);
    lowering::addWindows(table);
    lowering::addAddressing(table);
    lowering::addOrdering(table);
    lowering::addControl(table);
    lowering::addFourier(table);
    lowering::addSolvers(table);
    lowering::addDecompositions(table);
    lowering::addEigenvalues(table);
    lowering::addPairs(table);
    if (libraries == "auto" || libraries == "library") {
      lowering::addLibraries(table, libraries == "library");
    } else if (libraries != "generated") {
      getOperation().emitError()
          << "libraries are \"" << libraries
          << "\", expected \"generated\", \"auto\" or \"library\"";
      return signalPassFailure();
    }
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      lowering::Lowerer lowerer(table, &getContext());
      if (blockTransforms)
        lowerer.transformBlock = int64_t(machineOf(func).cacheBytes / 2);
      lowerer.manyThreads = manyThreads;
      if (failed(lowerer.lowerFunction(func)))
        return signalPassFailure();
    }
    eraseDead();
  }

private:
  // Broadcasts and constants that went into maps and bodies have no users left.
  void eraseDead() {
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
