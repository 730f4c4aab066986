//===- RuntimePasses.h - Communication to runtime calls ---------*- C++ -*-===//
#ifndef SHARDC_LOWERING_RUNTIMEPASSES_H
#define SHARDC_LOWERING_RUNTIMEPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
namespace gpu {
class GPUDialect;
} // namespace gpu
} // namespace mlir

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Lowering/RuntimePasses.h.inc"

/// How `spmd.run_site` is bufferised, and what bounds `spmd.lookup` has:
/// without these models KernelGen can plan no buffer that differs by rank.
void registerSpmdLoweringModels(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_LOWERING_RUNTIMEPASSES_H
