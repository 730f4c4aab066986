//===- Solvers.cpp - Factorisations of batches of matrices ----------------===//
//
// Each matrix of a batch is for itself; its own dims are whole.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"
#include "shardc/Dialect/Solver/IR/Solver.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

/// The leading `batchDims` of all operands and results are one; others are
/// whole.
static FailureOr<ShardingRule> batchRule(Operation *op, size_t batchDims) {
  ShardingRule rule;
  ArrayRef<int64_t> batch = shapeOf(op->getOperand(0)).take_front(batchDims);
  TensorRule shared = newFactors(rule, batch);
  auto add = [&](ValueRange values, SmallVectorImpl<TensorRule> &tensors) {
    for (Value value : values) {
      ArrayRef<int64_t> shape = shapeOf(value);
      if (shape.size() < batchDims || shape.take_front(batchDims) != batch)
        return false;
      TensorRule tensor = shared;
      for (int64_t size : shape.drop_front(batchDims))
        tensor.dims.push_back(wholeDim(rule, size));
      tensors.push_back(tensor);
    }
    return true;
  };
  if (!add(op->getOperands(), rule.operands) ||
      !add(op->getResults(), rule.results))
    return failure();
  return rule;
}

template <typename OpT> static FailureOr<ShardingRule> matrixRule(OpT op) {
  return batchRule(op, shapeOf(op->getOperand(0)).size() - 2);
}

static FailureOr<ShardingRule> permutationRule(solver::PermutationOp op) {
  return batchRule(op, shapeOf(op.getPivots()).size() - 1);
}

/// Besides the batch, right-hand sides are independent of one another. The op
/// wants to know how many there are: as many on each rank.
static FailureOr<ShardingRule> tridiagonalRule(solver::TridiagonalSolveOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getB());
  ShardingRule rule;
  TensorRule shared = newFactors(rule, shape.drop_back(2));
  IndexMap columns = passingDim(rule, shape.back());
  rule.factors[columns.terms[0].factor].evenOnly = true;
  for (Value diagonal : {op.getLower(), op.getDiagonal(), op.getUpper()}) {
    if (shapeOf(diagonal) != shape.drop_back())
      return failure();
    rule.operands.push_back(shared);
    rule.operands.back().dims.push_back(
        wholeDim(rule, shape[shape.size() - 2]));
  }
  auto addColumns = [&](SmallVectorImpl<TensorRule> &tensors) {
    TensorRule tensor = shared;
    tensor.dims.push_back(wholeDim(rule, shape[shape.size() - 2]));
    tensor.dims.push_back(columns);
    tensors.push_back(tensor);
  };
  addColumns(rule.operands);
  addColumns(rule.results);
  return rule;
}

void rules::attachSolvers(MLIRContext *context) {
  attach<solver::LuOp, matrixRule<solver::LuOp>>(context);
  attach<solver::PermutationOp, permutationRule>(context);
  attach<solver::QrOp, matrixRule<solver::QrOp>>(context);
  attach<solver::HouseholderProductOp,
         matrixRule<solver::HouseholderProductOp>>(context);
  attach<solver::PivotedQrOp, matrixRule<solver::PivotedQrOp>>(context);
  attach<solver::HessenbergOp, matrixRule<solver::HessenbergOp>>(context);
  attach<solver::SchurOp, matrixRule<solver::SchurOp>>(context);
  attach<solver::EigenvectorsOp, matrixRule<solver::EigenvectorsOp>>(context);
  attach<solver::EighOp, matrixRule<solver::EighOp>>(context);
  attach<solver::OrthogonalizeOp, matrixRule<solver::OrthogonalizeOp>>(context);
  attach<solver::TridiagonalSolveOp, tridiagonalRule>(context);
}
