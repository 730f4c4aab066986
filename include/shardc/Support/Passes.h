//===- Passes.h - Passes for every stage ------------------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_PASSES_H
#define SHARDC_SUPPORT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Support/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_SUPPORT_PASSES_H
