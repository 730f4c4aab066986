//===- RaiseBlocks.h - Attention and pairs of a block -----------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_RAISEBLOCKS_H
#define SHARDC_LIB_RAISE_RAISEBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace shardc::raise {

/// Why the contraction `dot`, which looks like one of attention, stays as it
/// is.
struct Miss {
  mlir::Operation *dot;
  mlir::Location place;
  std::string why;
};

/// Raises attention and sums of pairs in the blocks of `func`, where no score
/// is left over.
void raiseBlocks(mlir::func::FuncOp func);

/// What looks like attention in `func`, and stays when it is raised.
std::vector<Miss> findMisses(mlir::func::FuncOp func);

/// Erases what has no users, last first.
void eraseDead(mlir::Block &block);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_RAISEBLOCKS_H
