//===- Uses.h - Uses in the order of the program ----------------*- C++ -*-===//
//
// MLIR lists uses of a value in the order in which passes made them, the last
// first. What follows from that order would depend on which passes ran before,
// also on those that changed nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_USES_H
#define SHARDC_SUPPORT_USES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc {

using UsesOfValues =
    llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *>>;

/// Returns the uses within `root` of each of `values`, in the order in which
/// the program is written. One walk, however many values there are.
inline UsesOfValues usesInOrder(mlir::Operation *root,
                                llvm::ArrayRef<mlir::Value> values) {
  UsesOfValues uses;
  for (mlir::Value value : values)
    uses.try_emplace(value);
  if (!uses.empty())
    root->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      for (mlir::OpOperand &operand : op->getOpOperands())
        if (auto found = uses.find(operand.get()); found != uses.end())
          found->second.push_back(&operand);
    });
  return uses;
}

} // namespace shardc

#endif // SHARDC_SUPPORT_USES_H
