//===- Passes.h - Communication of the local view ---------------*- C++ -*-===//
#ifndef SHARDC_COMMUNICATION_PASSES_H
#define SHARDC_COMMUNICATION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {
#define GEN_PASS_DECL
#include "shardc/Communication/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

#endif // SHARDC_COMMUNICATION_PASSES_H
