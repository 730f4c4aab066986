//===- ScalarMath.cpp - Formulas that read like formulas ------------------===//
#include "ScalarMath.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;

void lowering::RoundedScope::notifyOperationInserted(Operation *op,
                                                     OpBuilder::InsertPoint) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::NegFOp, math::FmaOp>(op))
    spmd::contract::Rounded::set(op);
  else if (brief && isa<math::MathDialect>(op->getDialect()))
    spmd::contract::Brief::set(op);
}
