//===- ConvertGpuKernels.cpp - Kernels to the NVVM dialect ----------------===//
#include "Launch.h"
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
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
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
    getOperation().walk([](LLVM::LLVMFuncOp kernel) {
      if (spmd::contract::Paired::has(kernel))
        kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        DenseI32ArrayAttr::get(kernel.getContext(), {2, 1, 1}));
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

} // namespace shardc
