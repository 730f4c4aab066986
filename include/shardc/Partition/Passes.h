//===- Passes.h - Global view to local view ---------------------*- C++ -*-===//
#ifndef SHARDC_PARTITION_PASSES_H
#define SHARDC_PARTITION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {
#define GEN_PASS_DECL
#include "shardc/Partition/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "shardc/Partition/Passes.h.inc"
} // namespace shardc

#endif // SHARDC_PARTITION_PASSES_H
