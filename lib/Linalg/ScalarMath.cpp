//===- ScalarMath.cpp - Formulas that read like formulas ------------------===//
#include "ScalarMath.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"

using namespace mlir;
using namespace shardc;

void lowering::BriefScope::notifyOperationInserted(Operation *op,
                                                   OpBuilder::InsertPoint) {
  if (isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op))
    spmd::contract::Brief::set(op);
}
