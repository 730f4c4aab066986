//===- FitMemory.cpp - Programs within a limit of memory ------------------===//
//
// Run where a program needs more than it may, between communication and
// lowering.
//
//===----------------------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Memory/Passes.h"
#include "shardc/Pipelines/Stages.h"

using namespace mlir;
using namespace shardc;

void shardc::buildFitMemoryStage(OpPassManager &pm, int64_t bytes) {
  FitMemoryPassOptions fit;
  fit.limit = bytes;
  pm.addNestedPass<func::FuncOp>(createFitMemoryPass(fit));
  // It repeats communication, maybe in loops.
  pm.addPass(createVerifyCommunicationPass());
}
