//===- Passes.h - Communication to runtime calls ----------------*- C++ -*-===//
#ifndef SHARDC_CALLS_PASSES_H
#define SHARDC_CALLS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace gpu {
class GPUDialect;
} // namespace gpu
} // namespace mlir

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Calls/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_CALLS_PASSES_H
