//===- Register.cpp - Everything a tool needs to know ---------------------===//
#include "shardc/Pipelines/Register.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "shardc/Buffers/Models.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/AttributeDialects.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/Tune/IR/TuneDialect.h"
#include "shardc/Dialect/Vhlo/IR/Vhlo.h"
#include "shardc/Import/Passes.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Linalg/Passes.h"
#include "shardc/Memory/Passes.h"
#include "shardc/Partition/Passes.h"
#include "shardc/Pipelines/Kernels.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Propagation/Passes.h"
#include "shardc/Raise/Passes.h"
#include "shardc/Rules/Register.h"
#include "shardc/Support/Passes.h"
#include "shardc/Translation/ObjectFile.h"

using namespace mlir;

void shardc::registerShardcDialects(DialectRegistry &registry) {
  registry.insert<chlo::ChloDialect, machine::MachineDialect, tune::TuneDialect,
                  sdy::SdyDialect, solver::SolverDialect,
                  stablehlo::StablehloDialect, vhlo::VhloDialect>();
  registry.insert<spmd::SpmdDialect, spmd::LocalDialect, spmd::PairsDialect,
                  spmd::KernelDialect>();
  stablehlo::registerAttributeDialects(registry);
  func::registerInlinerExtension(registry);
  registerShardingRules(registry);
  registerBufferDialects(registry);
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerObjectFileDialects(registry);
}

void shardc::registerShardcPasses() {
  registerCommunicationPasses();
  registerRaisePasses();
  registerImportPasses();
  registerShardcBuffersPasses();
  registerShardcKernelGenPasses();
  registerShardcGpuKernelGenPasses();
  registerShardcLinalgPasses();
  registerShardcCallsPasses();
  registerMemoryPasses();
  registerShardcSupportPasses();
  registerPartitionPasses();
  registerPropagationPasses();
  registerCpuKernelPipelines();
  registerGpuKernelPipelines();
  registerStagePipelines();
}
