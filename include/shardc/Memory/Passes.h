//===- Passes.h - Programs larger than memory -------------------*- C++ -*-===//
#ifndef SHARDC_MEMORY_PASSES_H
#define SHARDC_MEMORY_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace shardc {
#define GEN_PASS_DECL
#include "shardc/Memory/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "shardc/Memory/Passes.h.inc"
} // namespace shardc

#endif // SHARDC_MEMORY_PASSES_H
