//===- Pipeline.cpp - From linalg on tensors to the NVVM dialect ----------===//
//
// The order of the passes and the reason of each.
//
//===----------------------------------------------------------------------===//
#include "../Common/BFloatBits.h"
#include "../Common/LinalgToLoops.h"
#include "Launch.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/Canonicalize.h"
#include "shardrt/TensorMap.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_CONVERTGPUKERNELSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

/// Functions that GPUs have instructions for.
static LogicalResult convertSimpleMath(gpu::GPUModuleOp kernels) {
  MLIRContext *ctx = kernels.getContext();
  LLVMTypeConverter converter(ctx);
  RewritePatternSet patterns(ctx);
  populateMathToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*ctx);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::AbsFOp, math::AbsIOp, math::CeilOp,
                      math::CopySignOp, math::CountLeadingZerosOp,
                      math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp,
                      math::FmaOp, math::RoundEvenOp, math::RsqrtOp,
                      math::SqrtOp, math::TruncOp>();
  return applyPartialConversion(kernels, target, std::move(patterns));
}

static LogicalResult convertKernels(gpu::GPUModuleOp kernels) {
  MLIRContext *ctx = kernels.getContext();
  LowerToLLVMOptions options(ctx);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(ctx, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(ctx);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateComplexToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateLibDeviceConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*ctx);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                           complex::ComplexDialect, gpu::GPUDialect,
                           math::MathDialect, memref::MemRefDialect,
                           vector::VectorDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyPartialConversion(kernels, target, std::move(patterns));
}

/// Says of branches what was said of the loops that they came from; the
/// conversion leaves it where nobody looks.
static void keepLoopAnnotations(gpu::GPUModuleOp kernels) {
  constexpr StringLiteral name = "llvm.loop_annotation";
  kernels.walk([&](LLVM::BrOp branch) {
    auto said = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name);
    if (!said)
      return;
    branch->removeAttr(name);
    branch.setLoopAnnotationAttr(said);
  });
}

/// Lets loops of kernels for one GPU stay as they are written: rounds of
/// products side by side would wait for one another.
static void keepLoops(gpu::GPUModuleOp kernels) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (!spmd::contract::Gpu::has(kernel))
      continue;
    DenseMap<Block *, unsigned> numbers;
    for (Block &block : kernel.getBody())
      numbers.try_emplace(&block, numbers.size());
    auto said = gpukernels::unrolling(kernels.getContext(), 1);
    for (Block &block : kernel.getBody()) {
      Operation *end = block.getTerminator();
      if (llvm::none_of(end->getSuccessors(), [&](Block *next) {
            return numbers[next] <= numbers[&block];
          }))
        continue;
      if (auto branch = dyn_cast<LLVM::BrOp>(end);
          branch && !branch.getLoopAnnotationAttr())
        branch.setLoopAnnotationAttr(said);
      else if (auto choice = dyn_cast<LLVM::CondBrOp>(end);
               choice && !choice.getLoopAnnotationAttr())
        choice.setLoopAnnotationAttr(said);
    }
  }
}

namespace {
struct ConvertGpuKernelsPass final
    : shardc::impl::ConvertGpuKernelsPassBase<ConvertGpuKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(convertSimpleMath(getOperation())) ||
        failed(convertKernels(getOperation())))
      return signalPassFailure();
    keepLoopAnnotations(getOperation());
    keepLoops(getOperation());
    // Its parameters, not its caller's: TMA copies take them where they are.
    getOperation().walk([](LLVM::LLVMFuncOp kernel) {
      IntegerAttr maps = spmd::contract::TensorMaps::get(kernel);
      Builder b(kernel.getContext());
      Type words = LLVM::LLVMArrayType::get(b.getI64Type(), SHARDRT_MAP_WORDS);
      for (int64_t i = 0; maps && i < maps.getInt(); ++i) {
        kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(words));
        kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          b.getI64IntegerAttr(64));
        kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                          b.getUnitAttr());
      }
    });
    // Asked for no number of blocks, ptxas spills a register to fit one more.
    getOperation().walk([](LLVM::LLVMFuncOp kernel) {
      if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        kernel->setAttr(
            NVVM::NVVMDialect::getMinctasmAttrName(),
            IntegerAttr::get(IntegerType::get(kernel.getContext(), 32), 1));
    });
  }
};
} // namespace

void buildGpuBufferPipeline(OpPassManager &pm, const CpuKernelOptions &options,
                            const GpuKernelOptions &gpu) {
  CpuKernelOptions shared = options;
  // A library's product reads its operands as they are.
  if (gpu.libraries != LibraryUse::Library)
    shared.onFused = [](OpPassManager &tensors) {
      tensors.addNestedPass<func::FuncOp>(createFuseProloguesPass());
    };
  buildSharedBufferPipeline(pm, shared);
  FormGpuKernelsPassOptions form;
  form.warpgroups = gpu.warpgroups;
  form.tf32 = gpu.tf32;
  form.libraries = gpu.libraries == LibraryUse::Library ? "library"
                   : gpu.libraries == LibraryUse::Auto  ? "auto"
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
  pm.addPass(createCSEPass());
  // What GPUs have units for; the rest are the CPU's formulas.
  pm.addNestedPass<func::FuncOp>(createUseGpuFunctionsPass());
  pm.addNestedPass<func::FuncOp>(createApproximateMathPass());
}

void buildGpuToNVVMPipeline(OpPassManager &pm, bool forPtx) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createExpandUnknownShapesPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizePass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createExactExtremaPass());
  arith::ArithExpandOpsPassOptions expand;
  // GPUs round by themselves; hosts that stand in for them need not.
  expand.includeBf16 = !forPtx;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
  kernels.addPass(createConvertGpuKernelsPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCSEPass());
  if (!forPtx) {
    kernels.addPass(createBFloatBitsPass());
    return;
  }
  kernels.addPass(createExpandFragmentProductsPass());
  kernels.addPass(createSelectGpuInstructionsPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
}

void registerGpuKernelDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  registerLibraryCallModel(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
struct GpuPipelineOptions : PassPipelineOptions<GpuPipelineOptions> {
  Option<bool> warpgroups{*this, "warpgroups",
                          llvm::cl::desc("Make kernels for sm_90a as well."),
                          llvm::cl::init(false)};
  Option<bool> tf32{*this, "tf32",
                    llvm::cl::desc("Let products of f32 be of tf32."),
                    llvm::cl::init(false)};
};
} // namespace

void registerGpuKernelPipelines() {
  registerShardcGpuKernelGenPasses();
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-buffers", "linalg on tensors to kernels on buffers",
      [](OpPassManager &pm, const GpuPipelineOptions &options) {
        GpuKernelOptions gpu;
        gpu.warpgroups = options.warpgroups;
        gpu.tf32 = options.tf32;
        buildGpuBufferPipeline(pm, {}, gpu);
      });
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-to-nvvm", "kernels to the NVVM dialect",
      [](OpPassManager &pm, const GpuPipelineOptions &) {
        buildGpuToNVVMPipeline(pm, /*forPtx=*/false);
      });
}

} // namespace shardc
