//===- Passes.h - Passes of the Linalg room ---------------------*- C++ -*-===//
#ifndef SHARDC_LINALG_PASSES_H
#define SHARDC_LINALG_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace shardc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Linalg/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_LINALG_PASSES_H
