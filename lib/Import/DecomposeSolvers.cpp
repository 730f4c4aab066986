//===- DecomposeSolvers.cpp - Systems of narrow floats in f32 -------------===//
#include "Decompose.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// Each row of a factor or a solution is computed from those before it: floats
/// of fewer than 32 bits would be rounded as often as there are rows. They are
/// rounded once, as in products.
template <typename OpT> static void solveInF32(OpT op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto narrow = dyn_cast<FloatType>(type.getElementType());
  if (!narrow || narrow.getWidth() >= 32)
    return;
  Ops ops(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(ops.convert(operand.get(), ops.b.getF32Type()));
  op.getResult().setType(type.clone(ops.b.getF32Type()));
  ops.b.setInsertionPointAfter(op);
  auto rounded = ConvertOp::create(ops.b, op.getLoc(), type, op.getResult());
  rounded->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesExcept(rounded, rounded);
}

void import::solveNarrowInF32(CholeskyOp op) { solveInF32(op); }
void import::solveNarrowInF32(TriangularSolveOp op) { solveInF32(op); }
