//===- Register.cpp - Everything a tool needs to know ----------------------===//
// TEMPORARY guards while rooms arrive. (lead)
#include "shardc/Pipelines/Register.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#ifdef HAS_SHARDCCOMMUNICATION
#include "shardc/Communication/Passes.h"
#endif
#ifdef HAS_SHARDCCHLO
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#endif
#ifdef HAS_SHARDCSDY
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#endif
#ifdef HAS_SHARDCSTABLEHLO
#include "shardc/Dialect/StableHLO/IR/AttributeDialects.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#endif
#ifdef HAS_SHARDCIMPORT
#include "shardc/Import/Passes.h"
#endif
#ifdef HAS_SHARDCKERNELGEN
#include "shardc/KernelGen/CPU.h"
#include "shardc/KernelGen/Passes.h"
#endif
#ifdef HAS_SHARDCLOWERING
#include "shardc/Lowering/Passes.h"
#include "shardc/Lowering/RuntimePasses.h"
#endif
#ifdef HAS_SHARDCPARTITION
#include "shardc/Partition/Passes.h"
#endif
#ifdef HAS_STAGES
#include "shardc/Pipelines/Stages.h"
#endif
#ifdef HAS_SHARDCPROPAGATION
#include "shardc/Propagation/Passes.h"
#endif
#ifdef HAS_SHARDCRULES
#include "shardc/Rules/Register.h"
#endif
#ifdef HAS_SHARDCOBJECTFILE
#include "shardc/Translation/ObjectFile.h"
#endif
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"

using namespace mlir;

void shardc::registerShardcDialects(DialectRegistry &registry) {
  registry.insert<spmd::SpmdDialect>();
#ifdef HAS_SHARDCSTABLEHLO
  registry.insert<stablehlo::StablehloDialect>();
  stablehlo::registerAttributeDialects(registry);
#endif
#ifdef HAS_SHARDCCHLO
  registry.insert<chlo::ChloDialect>();
#endif
#ifdef HAS_SHARDCSDY
  registry.insert<sdy::SdyDialect>();
#endif
  func::registerInlinerExtension(registry);
#ifdef HAS_SHARDCRULES
  registerShardingRules(registry);
#endif
#ifdef HAS_SHARDCLOWERING
  registerSpmdLoweringModels(registry);
#endif
#ifdef HAS_SHARDCKERNELGEN
  registerCpuKernelDialects(registry);
#endif
#ifdef HAS_SHARDCOBJECTFILE
  registerObjectFileDialects(registry);
#endif
}

void shardc::registerShardcPasses() {
#ifdef HAS_SHARDCCOMMUNICATION
  registerCommunicationPasses();
#endif
#ifdef HAS_SHARDCIMPORT
  registerImportPasses();
#endif
#ifdef HAS_SHARDCKERNELGEN
  registerShardcKernelGenPasses();
  registerCpuKernelPipelines();
#endif
#ifdef HAS_SHARDCLOWERING
  registerLoweringPasses();
  registerLoweringRuntimePasses();
#endif
#ifdef HAS_SHARDCPARTITION
  registerPartitionPasses();
#endif
#ifdef HAS_SHARDCPROPAGATION
  registerPropagationPasses();
#endif
#ifdef HAS_STAGES
  registerStagePipelines();
#endif
}
