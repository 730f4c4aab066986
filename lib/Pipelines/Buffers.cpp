//===- Buffers.cpp - The local view to buffers ----------------------------===//
//
// What all targets share: the order of the passes and the reason of each.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Calls/Passes.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Linalg/Passes.h"
#include "shardc/Pipelines/Kernels.h"
#include "shardc/Support/Passes.h"

using namespace mlir;
using namespace shardc;

void shardc::buildLinalgPipeline(OpPassManager &pm,
                                 const LinalgOptions &options) {
  pm.addPass(createLowerCommunicationPass());
  // What kernels are called in a trace, and in errors of GPUs; sites have their
  // lines by now.
  if (options.names)
    pm.addPass(createNameLocationsPass());
  pm.addPass(createCanonicalizePass());
  LowerToLinalgPassOptions linalg;
  linalg.blockTransforms = options.blockTransforms;
  linalg.manyThreads = options.manyThreads;
  linalg.roundEachOp = options.roundEachOp;
  linalg.fixedLevel = options.fixedLevel;
  linalg.libraries = options.libraries;
  pm.addPass(createLowerToLinalgPass(linalg));
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
}

static void addBufferization(OpPassManager &pm) {
  // Both passes below collect all reads of a tensor for each of its readers.
  pm.addNestedPass<func::FuncOp>(createSeparateReadersPass());
  // Lets a producer write where its result is inserted or materialised.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  oneShot.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(oneShot));
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
}

void shardc::buildBufferPipeline(OpPassManager &pm,
                                 const CpuKernelOptions &options,
                                 const GpuKernelOptions *gpu) {
  ResultsToArgumentsPassOptions results;
  results.entry = options.entry;
  pm.addPass(createResultsToArgumentsPass(results));
  // One form for all structured ops.
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  // Before fusion, which makes it part of what computes them.
  if (gpu && gpu->tf32)
    pm.addNestedPass<func::FuncOp>(createRoundCotangentsPass());
  if (options.optimize) {
    pm.addPass(createMergeEqualOpsPass());
    pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
    // A library's product reads its operands as they are.
    if (gpu && gpu->libraries != LibraryUse::Library)
      pm.addNestedPass<func::FuncOp>(createFuseProloguesPass());
    pm.addPass(createMergeEqualOpsPass());
  }
  pm.addNestedPass<func::FuncOp>(createDecomposeTensorOpsPass());
  // CSE has made one of equal fills; bufferization would copy them, or worse.
  pm.addNestedPass<func::FuncOp>(createPrivateDestinationsPass());
  pm.addNestedPass<func::FuncOp>(createAnchorLoopValuesPass());
  addBufferization(pm);
  if (options.optimize) {
    pm.addNestedPass<func::FuncOp>(createKnowSizesPass());
    pm.addNestedPass<func::FuncOp>(createRotateBuffersPass());
    ForwardCopiesPassOptions copies;
    copies.transforms = !gpu;
    pm.addNestedPass<func::FuncOp>(createForwardCopiesPass(copies));
    // Zeros around a window come with its halo, before margins find a place.
    if (!gpu)
      pm.addPass(createPadInExchangesPass());
    pm.addPass(createMarginsInPlacePass());
    if (!gpu) {
      pm.addPass(createReleaseLatePass());
      // Last: the others look for what writes a buffer, and what reads it.
      pm.addPass(createReadInPlacePass());
      // What no other pass has found a better place for.
      pm.addPass(createLeaveBlocksPass());
    }
    pm.addNestedPass<func::FuncOp>(createKnowSizesPass());
  }
  pm.addNestedPass<func::FuncOp>(createGeneralizeBufferOpsPass());
  pm.addNestedPass<func::FuncOp>(createVerifyBuffersPass());
}
