//===- Passes.h - Passes of the Raise room ----------------------*- C++ -*-===//
#ifndef SHARDC_RAISE_PASSES_H
#define SHARDC_RAISE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace shardc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Raise/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_RAISE_PASSES_H
