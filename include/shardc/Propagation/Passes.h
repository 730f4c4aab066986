//===- Passes.h - Passes of the Propagation room ----------------*- C++ -*-===//
#ifndef SHARDC_PROPAGATION_PASSES_H
#define SHARDC_PROPAGATION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {

struct PropagationOptions {
  /// An op without a rule that would be gathered is an error.
  bool noFallback = false;
  /// Remarks that say where each sharding came from.
  bool explain = false;
  /// Notes on values and reshards where each axis came from
  /// (Analysis/Origins.h).
  bool origins = false;
  /// Results that are asked for unreduced leave in parts.
  bool partialResults = false;
};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Propagation/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_PROPAGATION_PASSES_H
