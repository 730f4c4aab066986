//===- LowerCuda.cpp - The local view to host code and GPU kernels --------===//
//
// The order of the passes and the reason of each. Host code between kernels is
// lowered as the CPU's is.
//
//===----------------------------------------------------------------------===//
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Calls/Passes.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Pipelines/Kernels.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Passes.h"
#include "shardc/Translation/DeviceImage.h"

using namespace mlir;
using namespace shardc;

void shardc::buildGpuBufferPipeline(OpPassManager &pm,
                                    const CpuKernelOptions &options,
                                    const GpuKernelOptions &gpu) {
  buildBufferPipeline(pm, options, &gpu);
  FormGpuKernelsPassOptions form;
  form.warpgroups = gpu.warpgroups;
  form.tensorMemory = gpu.tensorMemory;
  form.tf32 = gpu.tf32;
  form.libraries = gpu.libraries == LibraryUse::Library     ? "library"
                   : gpu.libraries == LibraryUse::Auto      ? "auto"
                   : gpu.libraries == LibraryUse::OnTcgen05 ? "tcgen05"
                                                            : "generated";
  pm.addNestedPass<func::FuncOp>(createFormGpuKernelsPass(form));
  // Sizes of grids are folded; then what is independent is one launch.
  pm.addPass(createCanonicalizePass());
  pm.addNestedPass<func::FuncOp>(createMergeLaunchesPass());
  // Scratch of kernels is planned like any buffer.
  PlanArenaPassOptions arena;
  arena.entry = options.entry;
  pm.addPass(createPlanArenaPass(arena));
  // What serial kernels hold.
  pm.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  pm.addPass(createCanonicalizePass());
  pm.addPass(createMergeEqualOpsPass());
  // What GPUs have units for; the rest are the CPU's formulas.
  pm.addNestedPass<func::FuncOp>(createUseGpuFunctionsPass());
  pm.addNestedPass<func::FuncOp>(createApproximateMathPass());
}

void shardc::buildGpuToNVVMPipeline(OpPassManager &pm, bool forPtx) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createExpandUnknownShapesPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizePass());
  kernels.addPass(createMergeEqualOpsPass());
  kernels.addPass(createLowerControlFlowPass());
  kernels.addPass(createExactExtremaPass());
  arith::ArithExpandOpsPassOptions expand;
  // GPUs round by themselves; hosts that stand in for them need not.
  expand.includeBf16 = !forPtx;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
  kernels.addPass(createConvertGpuKernelsPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createMergeEqualOpsPass());
  if (forPtx) {
    kernels.addPass(createExpandFragmentProductsPass());
    kernels.addPass(createSelectGpuInstructionsPass());
    kernels.addPass(createConvertNVVMToLLVMPass());
  } else {
    kernels.addPass(createBFloatBitsPass());
  }
  // Constants are folded, and equal blocks merged.
  kernels.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Aggressive)));
  kernels.addPass(createMergeEqualOpsPass());
}

namespace {
struct GpuPipelineOptions : PassPipelineOptions<GpuPipelineOptions> {
  Option<bool> warpgroups{*this, "warpgroups",
                          llvm::cl::desc("Make kernels for sm_90a as well."),
                          llvm::cl::init(false)};
  Option<bool> tensorMemory{*this, "tensor-memory",
                            llvm::cl::desc("Also those for sm_100a."),
                            llvm::cl::init(false)};
  Option<bool> tf32{*this, "tf32",
                    llvm::cl::desc("Let products of f32 be of tf32."),
                    llvm::cl::init(false)};
};
} // namespace

void shardc::registerGpuKernelPipelines() {
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-buffers", "linalg on tensors to kernels on buffers",
      [](OpPassManager &pm, const GpuPipelineOptions &options) {
        GpuKernelOptions gpu;
        gpu.warpgroups = options.warpgroups;
        gpu.tensorMemory = options.tensorMemory;
        gpu.tf32 = options.tf32;
        buildGpuBufferPipeline(pm, {}, gpu);
      });
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-to-nvvm", "kernels to the NVVM dialect",
      [](OpPassManager &pm, const GpuPipelineOptions &) {
        buildGpuToNVVMPipeline(pm, /*forPtx=*/false);
      });
}

/// Of a program for `gpus`. No GPU has timed the kernels with tcgen05, so that
/// by default libraries are in where a GPU has it; of GPUs of several kinds
/// each finds that out for itself.
static LibraryUse librariesFor(StringRef kernels, StringRef gpus) {
  if (kernels == "library")
    return LibraryUse::Library;
  if (kernels == "auto")
    return LibraryUse::Auto;
  return kernels == "default" && hasTcgen05(gpus) ? LibraryUse::OnTcgen05
                                                  : LibraryUse::Generated;
}

void shardc::buildLowerCudaStage(OpPassManager &pm,
                                 const StageOptions &options) {
  LinalgOptions linalg;
  linalg.names = true;
  linalg.manyThreads = true;
  // GPUs add and multiply two numbers of 16 bits at once.
  linalg.roundEachOp = true;
  // Transforms use no tensor cores: kernels are as good on all GPUs.
  linalg.libraries =
      options.kernels == "default" ? "generated" : options.kernels;
  buildLinalgPipeline(pm, linalg);
  CpuKernelOptions kernels;
  kernels.vectors = false;
  bool emulated = options.target == Target::EmulatedCuda;
  // What is emulated is the newest that the kernels are made for.
  StringRef gpus = options.gpuArch.empty() && emulated
                       ? StringRef("sm_90a")
                       : StringRef(options.gpuArch);
  GpuKernelOptions gpu;
  gpu.warpgroups = hasKernelsOf("sm_90a", gpus);
  gpu.tensorMemory = hasKernelsOf("sm_100a", gpus);
  gpu.tf32 = options.tf32;
  gpu.libraries = librariesFor(options.kernels, gpus);
  buildGpuBufferPipeline(pm, kernels, gpu);
  pm.addPass(createCallRuntimePass());
  pm.addPass(createCallDevicePass());
  buildGpuToNVVMPipeline(pm, /*forPtx=*/!emulated);
  buildCpuToLLVMPipeline(pm, kernels);
  pm.addPass(createCheckStatusPass());
  if (emulated) {
    EmulateNvvmPassOptions emulation;
    emulation.check = options.checkKernels;
    emulation.gpu = gpu.tensorMemory ? "sm_100a"
                    : gpu.warpgroups ? "sm_90a"
                                     : "sm_80";
    pm.addPass(createEmulateNvvmPass(emulation));
  }
  pm.addPass(createVerifyLoweredPass());
}
