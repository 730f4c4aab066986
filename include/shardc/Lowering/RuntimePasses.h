//===- RuntimePasses.h - Communication to runtime calls ---------*- C++ -*-===//
#ifndef SHARDC_LOWERING_RUNTIMEPASSES_H
#define SHARDC_LOWERING_RUNTIMEPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace gpu {
class GPUDialect;
} // namespace gpu
} // namespace mlir

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Lowering/RuntimePasses.h.inc"

} // namespace shardc

#endif // SHARDC_LOWERING_RUNTIMEPASSES_H
