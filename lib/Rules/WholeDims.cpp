//===- WholeDims.cpp - Algorithms over a whole dim ------------------------===//
//
// Factorisations and triangular solves need their own dims whole; the others
// pass, and are cut in their place where those arrive cut.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

/// Batch dims pass; the matrix is whole, and where it is cut, batch dims are
/// cut in its place meanwhile.
static FailureOr<ShardingRule> choleskyRule(stablehlo::CholeskyOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getA());
  if (shape.size() < 2)
    return failure();
  ShardingRule rule;
  TensorRule tensor = newFactors(rule, shape);
  for (size_t dim = shape.size() - 2; dim < shape.size(); ++dim) {
    rule.factors[dim].kind = FactorKind::Distributed;
    rule.factors[dim].movedBytes = 2 * bytesOf(op.getA());
  }
  rule.operands = {tensor};
  rule.results = {tensor};
  return rule;
}

/// Batch dims pass, and so do the right-hand sides (columns of b, or its rows
/// where a is on the right): they are independent of one another. The dim
/// of b that is solved for may be cut if another can be in its place; a's are
/// whole.
static FailureOr<ShardingRule>
triangularSolveRule(stablehlo::TriangularSolveOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getB()), matrix = shapeOf(op.getA());
  if (shape.size() < 2 || matrix.size() != shape.size())
    return failure();
  size_t batch = shape.size() - 2;
  ShardingRule rule;
  TensorRule b = newFactors(rule, shape), a;
  a.dims.append(b.dims.begin(), b.dims.begin() + batch);
  for (int64_t size : matrix.drop_front(batch))
    a.dims.push_back(wholeDim(rule, size));
  Factor &solved = rule.factors[op.getLeftSide() ? batch : batch + 1];
  solved.kind = FactorKind::Distributed;
  solved.movedBytes = 2 * bytesOf(op.getB());
  rule.operands = {a, b};
  rule.results = {b};
  return rule;
}

void rules::attachWholeDims(MLIRContext *context) {
  attach<stablehlo::CholeskyOp, choleskyRule,
         &localizeByTransposition<stablehlo::CholeskyOp>>(context);
  attach<stablehlo::TriangularSolveOp, triangularSolveRule,
         &localizeByTransposition<stablehlo::TriangularSolveOp>>(context);
}
