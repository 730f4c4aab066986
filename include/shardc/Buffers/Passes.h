//===- Passes.h - Passes of the Buffers room --------------------*- C++ -*-===//
//
// From tensors to buffers in one arena, for any target: which values share
// memory, and what is not copied.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_BUFFERS_PASSES_H
#define SHARDC_BUFFERS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

#endif // SHARDC_BUFFERS_PASSES_H
