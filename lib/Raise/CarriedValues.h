//===- CarriedValues.h - What a loop need not carry -------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_CARRIEDVALUES_H
#define SHARDC_LIB_RAISE_CARRIEDVALUES_H

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/BitVector.h"

namespace shardc {

/// Puts a loop in the place of `loop` that carries `inits` as well, as its last
/// operands; for now it yields them unchanged.
stablehlo::WhileOp addCarried(stablehlo::WhileOp loop,
                              llvm::ArrayRef<mlir::Value> inits);

/// Puts a loop in the place of `loop` that does not carry the operands `gone`.
/// Their results, and their arguments but for what makes the next ones, must
/// have no use.
stablehlo::WhileOp eraseCarried(stablehlo::WhileOp loop,
                                const llvm::BitVector &gone);

} // namespace shardc

#endif // SHARDC_LIB_RAISE_CARRIEDVALUES_H
