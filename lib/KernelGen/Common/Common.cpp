//===- Common.cpp - What kernels for any target ask about an op -----------===//
//
// Questions about linalg ops and their buffers.
//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Common.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace shardc {

Value wholeBehind(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

Operation *combinerOf(linalg::GenericOp op, unsigned index) {
  BlockArgument argument = op.getRegionOutputArgs()[index];
  Value yielded = op.getBody()->getTerminator()->getOperand(index);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBody() ||
      !argument.hasOneUse() || *argument.user_begin() != combiner ||
      combiner->getNumOperands() != 2)
    return nullptr;
  return combiner;
}

bool isContraction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 2)
    return false;
  Operation *combiner = combinerOf(op, 0);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner))
    return false;
  Value term = combiner->getOperand(0) == op.getRegionOutputArgs()[0]
                   ? combiner->getOperand(1)
                   : combiner->getOperand(0);
  auto through = [](Value value) {
    while (auto *cast = value.getDefiningOp()) {
      // A factor that is subtracted is one with the other sign.
      if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
               arith::NegFOp>(cast))
        break;
      value = cast->getOperand(0);
    }
    return value;
  };
  Operation *product = through(term).getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product))
    return false;
  return isa<BlockArgument>(through(product->getOperand(0))) &&
         isa<BlockArgument>(through(product->getOperand(1)));
}

} // namespace shardc
