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
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
  if (!narrow || narrow.getWidth() >= 32)
    return;
  Ops ops(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(ops.convert(operand.get(), ops.b.getF32Type()));
  convertBehind(op, ops.b.getF32Type());
}

void import::solveNarrowInF32(CholeskyOp op) { solveInF32(op); }
void import::solveNarrowInF32(TriangularSolveOp op) { solveInF32(op); }
