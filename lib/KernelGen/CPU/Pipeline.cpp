//===- Pipeline.cpp - From linalg on tensors to the LLVM dialect ----------===//
//
// The order of the passes and the reason of each.
//
//===----------------------------------------------------------------------===//
#include "../Common/BFloatBits.h"
#include "../Common/LinalgToLoops.h"
#include "RoundBFloats.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/KernelGen/CPU.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Canonicalize.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace shardc {

unsigned preferredVectorBits(llvm::StringRef arch) {
  llvm::StringRef cpu = arch.split(',').first;
  if (cpu.empty() || cpu == "native") {
    auto features = llvm::sys::getHostCPUFeatures();
    if (features.lookup("avx512f") && features.lookup("avx512vl"))
      return 512;
    return features.lookup("avx2") ? 256 : 128;
  }
  if (cpu == "x86-64-v4" || cpu.starts_with("znver4") ||
      cpu.starts_with("znver5") || cpu.starts_with("skylake-avx512") ||
      cpu.starts_with("icelake") || cpu.starts_with("sapphirerapids") ||
      cpu.starts_with("cascadelake") || arch.contains("+avx512f"))
    return 512;
  if (cpu == "x86-64-v3" || cpu.starts_with("haswell") ||
      cpu.starts_with("broadwell") || cpu.starts_with("skylake") ||
      cpu.starts_with("alderlake") || cpu.starts_with("znver") ||
      arch.contains("+avx2"))
    return 256;
  return 128;
}

bool hasDotBf16(llvm::StringRef arch) {
  llvm::StringRef cpu = arch.split(',').first;
  if (cpu.empty() || cpu == "native")
    return llvm::sys::getHostCPUFeatures().lookup("avx512bf16");
  return cpu.starts_with("znver4") || cpu.starts_with("znver5") ||
         cpu.starts_with("cooperlake") || cpu.starts_with("sapphirerapids") ||
         arch.contains("+avx512bf16");
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
  pm.addPass(createCSEPass());
}

void buildSharedBufferPipeline(OpPassManager &pm,
                               const CpuKernelOptions &options) {
  ResultsToArgumentsPassOptions results;
  results.entry = options.entry;
  pm.addPass(createResultsToArgumentsPass(results));
  // One form for all structured ops.
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  if (options.optimize) {
    pm.addPass(createCSEPass());
    pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
    if (options.onFused)
      options.onFused(pm);
    pm.addPass(createCSEPass());
  }
  pm.addNestedPass<func::FuncOp>(createDecomposeTensorOpsPass());
  // CSE has made one of equal fills; bufferization would copy them, or worse.
  pm.addNestedPass<func::FuncOp>(createPrivateDestinationsPass());
  pm.addNestedPass<func::FuncOp>(createAnchorLoopValuesPass());
  addBufferization(pm);
  if (options.optimize) {
    pm.addNestedPass<func::FuncOp>(createKnowSizesPass());
    pm.addNestedPass<func::FuncOp>(createRotateBuffersPass());
    pm.addNestedPass<func::FuncOp>(createForwardCopiesPass());
    if (options.onBuffers) {
      options.onBuffers(pm);
      pm.addNestedPass<func::FuncOp>(createKnowSizesPass());
    }
  }
  pm.addNestedPass<func::FuncOp>(createGeneralizeBufferOpsPass());
}

void buildCpuBufferPipeline(OpPassManager &pm,
                            const CpuKernelOptions &options) {
  buildSharedBufferPipeline(pm, options);
  unsigned bits = options.vectorBits ? options.vectorBits
                                     : preferredVectorBits(options.arch);
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
    // Before ops in these loops are nests, which have parts of their own.
    CutLoopsPassOptions loops;
    loops.threads = options.threads;
    pm.addNestedPass<func::FuncOp>(createCutLoopsPass(loops));
    GenerateCpuKernelsPassOptions kernels;
    kernels.vectorBits = bits;
    kernels.threads = options.threads;
    kernels.exact = options.exact;
    kernels.dotBf16 = bits == 512 && hasDotBf16(options.arch);
    kernels.entry = options.entry;
    pm.addPass(createGenerateCpuKernelsPass(kernels));
    pm.addPass(createGeneratePairKernelsPass(pairs));
    // After the kernels: their scratch is planned like any buffer.
    PlanArenaPassOptions arena;
    arena.entry = options.entry;
    pm.addPass(createPlanArenaPass(arena));
  } else {
    pm.addPass(createGeneratePairKernelsPass(pairs));
  }
  pm.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  if (options.marks) {
    // While each kernel still stands where it was written.
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
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createRoundBFloatsPass());
  ApproximateMathPassOptions math;
  unsigned widest = preferredVectorBits(options.arch);
  math.permutes = widest >= 256 ? widest / 32 : 0;
  pm.addNestedPass<func::FuncOp>(createApproximateMathPass(math));
}

void buildCpuToLLVMPipeline(OpPassManager &pm,
                            const CpuKernelOptions &options) {
  if (options.vectors)
    pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createExpandUnknownShapesPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // What has no polynomial becomes an intrinsic, the rest a call of libm for
  // each element: before vectors are gone, since it takes them apart.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  if (options.vectors)
    pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createExactExtremaPass());
  // Conversions to bfloat16 are calls of a runtime library on most CPUs.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createBFloatBitsPass());
  pm.addPass(createCSEPass());
}

void buildCpuKernelPipeline(OpPassManager &pm,
                            const CpuKernelOptions &options) {
  buildCpuBufferPipeline(pm, options);
  buildCpuToLLVMPipeline(pm, options);
}

void registerCpuKernelDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  complex::ComplexDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, spmd::SpmdDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  registerPairStepModel(registry);
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

void registerCpuKernelPipelines() {
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

} // namespace shardc
