//===- LowerCpu.cpp - The local view to loops, vectors and LLVM -----------===//
//
// The order of the passes and the reason of each.
//
//===----------------------------------------------------------------------===//
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Calls/Passes.h"
#include "shardc/KernelGen/CPU.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Linalg/Passes.h"
#include "shardc/Pipelines/Kernels.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Passes.h"
#include <algorithm>

using namespace mlir;
using namespace shardc;

void shardc::buildCpuBufferPipeline(OpPassManager &pm,
                                    const CpuKernelOptions &options) {
  buildBufferPipeline(pm, options);
  unsigned bits = options.vectorBits ? options.vectorBits
                                     : preferredVectorBits(options.arch);
  bool hasBf16 = bits == 512 && hasAvx512Bf16(options.arch);
  GeneratePairKernelsPassOptions pairs;
  pairs.vectorBits = bits;
  pairs.threads = options.threads;
  if (options.optimize) {
    WriteInPlacePassOptions inPlace;
    inPlace.entry = options.entry;
    pm.addPass(createWriteInPlacePass(inPlace));
    FuseRowsPassOptions rows;
    rows.threads = options.threads;
    rows.exact = options.exact;
    pm.addPass(createFuseRowsPass(rows));
    PadBlocksPassOptions padded;
    padded.threads = options.threads;
    pm.addNestedPass<func::FuncOp>(createPadBlocksPass(padded));
    // Before ops in these loops are nests, which have parts of their own.
    CutLoopsPassOptions loops;
    loops.threads = options.threads;
    pm.addNestedPass<func::FuncOp>(createCutLoopsPass(loops));
    // Once blocks of rows have taken what they make and read themselves.
    pm.addNestedPass<func::FuncOp>(createComputeInPlacePass());
    GenerateCpuKernelsPassOptions kernels;
    kernels.vectorBits = bits;
    kernels.threads = options.threads;
    kernels.exact = options.exact;
    kernels.dotBf16 = hasBf16;
    kernels.listTiles = options.listTiles;
    kernels.entry = options.entry;
    // A mark says which op a kernel was, a list of tiles each op's. Short
    // programs are compiled fast, and read more easily, in one piece.
    if (!options.marks && !options.listTiles)
      kernels.shareFrom = 128;
    pm.addPass(createGenerateCpuKernelsPass(kernels));
    pm.addPass(createGeneratePairKernelsPass(pairs));
    // After the kernels: their scratch is planned like any buffer, by sizes
    // that are known as those of any.
    KnowSizesPassOptions sizes;
    sizes.allocated = true;
    pm.addNestedPass<func::FuncOp>(createKnowSizesPass(sizes));
    PlanArenaPassOptions arena;
    arena.entry = options.entry;
    pm.addPass(createPlanArenaPass(arena));
  } else {
    pm.addPass(createGeneratePairKernelsPass(pairs));
  }
  pm.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  if (options.marks) {
    // While each kernel is still where it was written.
    MarkKernelsPassOptions marks;
    marks.entry = options.entry;
    pm.addPass(createMarkKernelsPass(marks));
  }
  // Before constants of equal loops become one: then they would be arguments.
  if (options.optimize) {
    OutlineLoopsPassOptions outline;
    outline.entry = options.entry;
    pm.addPass(createOutlineLoopsPass(outline));
  }
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
  // While functions are one op each, which is what says where NaNs come from.
  RoundBFloatsPassOptions round;
  round.converts = hasBf16;
  pm.addNestedPass<func::FuncOp>(createRoundBFloatsPass(round));
  ApproximateMathPassOptions math;
  // Tables of other lengths are other formulas: exact bits are those of eight
  // on every processor that has them.
  unsigned widest = preferredVectorBits(options.arch);
  if (options.exact)
    widest = std::min(widest, 256u);
  math.permutes = widest >= 256 ? widest / 32 : 0;
  pm.addNestedPass<func::FuncOp>(createApproximateMathPass(math));
}

void shardc::buildCpuToLLVMPipeline(OpPassManager &pm,
                                    const CpuKernelOptions &options) {
  // By function, so that none walks through the kernels for GPUs beside them,
  // which have been lowered by then.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  if (options.vectors)
    functions.addPass(createConvertVectorToSCFPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createExpandUnknownShapesPass());
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createLowerControlFlowPass());
  // What has no polynomial becomes an intrinsic, the rest a call of libm for
  // each element: before vectors are gone, since it takes them apart.
  functions.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  OpPassManager &scalars = pm.nest<func::FuncOp>();
  if (options.vectors)
    scalars.addPass(createConvertVectorToLLVMPass());
  scalars.addPass(createConvertComplexToLLVMPass());
  scalars.addPass(createExactExtremaPass());
  // Conversions to bfloat16 are calls of a runtime library on most CPUs.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  scalars.addPass(arith::createArithExpandOpsPass(expand));
  scalars.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addNestedPass<func::FuncOp>(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  OpPassManager &lowered = pm.nest<LLVM::LLVMFuncOp>();
  lowered.addPass(createArithToLLVMConversionPass());
  lowered.addPass(createReconcileUnrealizedCastsPass());
  lowered.addPass(createBFloatBitsPass());
  lowered.addPass(createMergeEqualOpsPass());
}

void shardc::buildCpuKernelPipeline(OpPassManager &pm,
                                    const CpuKernelOptions &options) {
  buildCpuBufferPipeline(pm, options);
  buildCpuToLLVMPipeline(pm, options);
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("bits of a vector register; 0: as arch"),
      llvm::cl::init(0)};
  Option<std::string> arch{*this, "arch", llvm::cl::desc("CPU to generate for"),
                           llvm::cl::init("native")};
  Option<bool> optimize{*this, "optimize",
                        llvm::cl::desc("fuse, plan and vectorise"),
                        llvm::cl::init(true)};

  CpuKernelOptions get() const {
    CpuKernelOptions result;
    result.vectorBits = vectorBits;
    result.arch = arch;
    result.optimize = optimize;
    return result;
  }
};
} // namespace

void shardc::registerCpuKernelPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "spmd-cpu-buffers", "linalg on tensors to loops and vectors on buffers",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildCpuBufferPipeline(pm, options.get());
      });
  PassPipelineRegistration<PipelineOptions>(
      "spmd-cpu-kernels", "linalg on tensors to the LLVM dialect",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildCpuKernelPipeline(pm, options.get());
      });
}

static CpuKernelOptions kernelOptions(const StageOptions &options) {
  CpuKernelOptions kernels;
  kernels.arch = options.arch;
  kernels.threads = options.threads;
  kernels.marks = options.trace;
  kernels.exact = options.reproducible;
  kernels.listTiles = options.listTiles;
  return kernels;
}

void shardc::buildCpuBuffersStage(OpPassManager &pm,
                                  const StageOptions &options) {
  // The same products in the same order, without those that are zero.
  pm.addNestedPass<func::FuncOp>(createSplitBandsPass());
  LinalgOptions linalg;
  linalg.names = options.trace;
  // Threads share whole stages.
  linalg.blockTransforms = options.threads == 1;
  linalg.roundEachOp = options.reproducible;
  linalg.fixedLevel = options.reproducible;
  buildLinalgPipeline(pm, linalg);
  buildCpuBufferPipeline(pm, kernelOptions(options));
}

void shardc::buildCpuCodeStage(OpPassManager &pm, const StageOptions &options) {
  CallRuntimePassOptions runtime;
  runtime.threads = options.threads;
  pm.addPass(createCallRuntimePass(runtime));
  if (options.threads > 1)
    pm.addPass(createShareLoopsPass());
  if (options.trace)
    pm.addPass(createCallMarksPass());
  pm.addPass(createMergeStepPass());
  // Once it is known where the entry has the buffers from.
  pm.addNestedPass<func::FuncOp>(createFoldAddressesPass());
  buildCpuToLLVMPipeline(pm, kernelOptions(options));
  pm.addPass(createCheckStatusPass());
  pm.addPass(createVerifyLoweredPass());
}

void shardc::buildLowerCpuStage(OpPassManager &pm,
                                const StageOptions &options) {
  buildCpuBuffersStage(pm, options);
  buildCpuCodeStage(pm, options);
}
