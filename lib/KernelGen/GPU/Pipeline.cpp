//===- Pipeline.cpp - From linalg on tensors to the NVVM dialect ----------===//
//
// The order of the passes and the reason of each.
//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/GPU.h"
#include "shardc/KernelGen/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_LOWERGPUMATHPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

namespace {
struct LowerGpuMathPass final
    : shardc::impl::LowerGpuMathPassBase<LowerGpuMathPass> {
  using Base::Base;
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    populateMathToLLVMConversionPatterns(converter, patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<math::AbsFOp, math::AbsIOp, math::CeilOp,
                        math::CopySignOp, math::CountLeadingZerosOp,
                        math::CountTrailingZerosOp, math::CtPopOp,
                        math::FloorOp, math::FmaOp, math::RoundEvenOp,
                        math::RsqrtOp, math::SqrtOp, math::TruncOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void buildGpuBufferPipeline(OpPassManager &pm,
                            const CpuKernelOptions &options) {
  buildSharedBufferPipeline(pm, options);
  pm.addNestedPass<func::FuncOp>(createFormGpuKernelsPass());
  // Scratch of kernels is planned like any buffer.
  PlanArenaPassOptions arena;
  arena.entry = options.entry;
  pm.addPass(createPlanArenaPass(arena));
  // What serial kernels hold.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createApproximateMathPass());
}

void buildGpuToNVVMPipeline(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createLowerGpuMathPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.indexBitwidth = 64;
  kernels.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCSEPass());
}

void registerGpuKernelDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertComplexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
struct GpuPipelineOptions : PassPipelineOptions<GpuPipelineOptions> {};
} // namespace

void registerGpuKernelPipelines() {
  registerShardcGpuKernelGenPasses();
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-buffers", "linalg on tensors to kernels on buffers",
      [](OpPassManager &pm, const GpuPipelineOptions &) {
        buildGpuBufferPipeline(pm, {});
      });
  PassPipelineRegistration<GpuPipelineOptions>(
      "spmd-gpu-to-nvvm", "kernels to the NVVM dialect",
      [](OpPassManager &pm, const GpuPipelineOptions &) {
        buildGpuToNVVMPipeline(pm);
      });
}

} // namespace shardc
