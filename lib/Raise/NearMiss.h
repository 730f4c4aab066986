//===- NearMiss.h - Which op makes it no attention --------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_NEARMISS_H
#define SHARDC_LIB_RAISE_NEARMISS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace shardc::raise {

/// An op that breaks a pattern, and how.
struct Breaker {
  mlir::Operation *op = nullptr;
  std::string why;
};

/// The op in `func` that takes scores, or probabilities, of several pairs
/// together, for each softmax of products that is left; `softmaxes` are the
/// exponentials of those that are explained so.
llvm::SmallVector<Breaker>
findBreakers(mlir::func::FuncOp func,
             llvm::DenseSet<mlir::Operation *> &softmaxes);

/// The op between exponentials and `probability` that adds something to them or
/// to their sum; null if there is none.
mlir::Operation *findAddition(mlir::Value probability);

/// The last division behind `probability`; `otherwise` if there is none.
mlir::Operation *findDivision(mlir::Value probability,
                              mlir::Operation *otherwise);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_NEARMISS_H
