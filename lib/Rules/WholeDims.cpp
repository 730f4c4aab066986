//===- WholeDims.cpp - Algorithms over a whole dim ------------------------===//
//
// Sorting, Fourier transforms and factorisations need their own dims whole; the
// others pass.
//
//===----------------------------------------------------------------------===//
#include "RuleUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

static FailureOr<ShardingRule> sortRule(stablehlo::SortOp op) {
  if (op.getInputs().empty())
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  int64_t sorted = static_cast<int64_t>(op.getDimension());
  if (sorted < 0)
    sorted += shape.size();
  ShardingRule rule;
  TensorRule tensor;
  for (auto [d, size] : llvm::enumerate(shape))
    tensor.dims.push_back(static_cast<int64_t>(d) == sorted
                              ? wholeDim(rule, size)
                              : passingDim(rule, size));
  rule.operands.assign(op.getInputs().size(), tensor);
  rule.results = {rule.operands.begin(), rule.operands.end()};
  return rule;
}

/// Shared leading dims, then dims that are whole.
static FailureOr<ShardingRule> batchRule(Operation *op, size_t batchDims) {
  ShardingRule rule;
  TensorRule shared =
      newFactors(rule, shapeOf(op->getOperand(0)).take_front(batchDims));
  auto add = [&](ValueRange values, SmallVectorImpl<TensorRule> &tensors) {
    for (Value value : values) {
      ArrayRef<int64_t> shape = shapeOf(value);
      if (shape.size() < batchDims ||
          shape.take_front(batchDims) !=
              shapeOf(op->getOperand(0)).take_front(batchDims))
        return failure();
      TensorRule tensor = shared;
      for (int64_t size : shape.drop_front(batchDims))
        tensor.dims.push_back(wholeDim(rule, size));
      tensors.push_back(tensor);
    }
    return success();
  };
  if (failed(add(op->getOperands(), rule.operands)) ||
      failed(add(op->getResults(), rule.results)))
    return failure();
  return rule;
}

static FailureOr<ShardingRule> fftRule(stablehlo::FftOp op) {
  size_t dims = shapeOf(op.getOperand()).size(),
         transformed = op.getFftLength().size();
  if (transformed > dims)
    return failure();
  return batchRule(op, dims - transformed);
}

static FailureOr<ShardingRule> choleskyRule(stablehlo::CholeskyOp op) {
  size_t dims = shapeOf(op.getA()).size();
  if (dims < 2)
    return failure();
  return batchRule(op, dims - 2);
}

/// Besides batch dims, the right-hand sides (columns of b, or its rows where a
/// stands on the right) are independent of one another.
static FailureOr<ShardingRule>
triangularSolveRule(stablehlo::TriangularSolveOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getB());
  if (shape.size() < 2 || shapeOf(op.getA()).size() != shape.size())
    return failure();
  size_t batchDims = shape.size() - 2,
         independent = op.getLeftSide() ? shape.size() - 1 : batchDims;
  FailureOr<ShardingRule> rule = batchRule(op, batchDims);
  if (failed(rule))
    return failure();
  IndexMap map = passingDim(*rule, shape[independent]);
  rule->operands[1].dims[independent] = map;
  rule->results[0].dims[independent] = map;
  return rule;
}

//===----------------------------------------------------------------------===//
// chlo.top_k
//===----------------------------------------------------------------------===//

namespace {
struct TopKRule : ShardingRuleOpInterface::FallbackModel<TopKRule> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    if (!hasStaticShapes(op) || op->getNumOperands() != 1 ||
        shapeOf(op->getOperand(0)).empty())
      return failure();
    return batchRule(op, shapeOf(op->getOperand(0)).size() - 1);
  }
};
struct TopKLocalize : LocalizeOpInterface::FallbackModel<TopKLocalize> {
  LocalResults localize(Operation *op, Localization &localization) const {
    return localizeByCloning(op, localization);
  }
};
} // namespace

void rules::attachTopK(MLIRContext *context) {
  if (auto name = RegisteredOperationName::lookup("chlo.top_k", context))
    name->attachInterface<TopKRule, TopKLocalize>();
}

void rules::attachWholeDims(MLIRContext *context) {
  attach<stablehlo::SortOp, sortRule>(context);
  attach<stablehlo::FftOp, fftRule>(context);
  attach<stablehlo::CholeskyOp, choleskyRule>(context);
  attach<stablehlo::TriangularSolveOp, triangularSolveRule>(context);
}
