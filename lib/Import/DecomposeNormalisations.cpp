//===- DecomposeNormalisations.cpp - Normalisation over a batch -----------===//
#include "Decompose.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace {
/// One value a feature, spread over the operand's shape, and back.
struct Features {
  Ops &ops;
  RankedTensorType type;
  int64_t feature;

  Value spread(Value vector) {
    return ops.broadcast(vector, type.getShape(), {feature});
  }
  Value sum(Value tensor) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature)
        dims.push_back(dim);
    return ops.reduce<AddOp>(tensor, 0, dims);
  }
  double count() {
    double all = 1;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (static_cast<int64_t>(dim) != feature)
        all *= static_cast<double>(size);
    return all;
  }
  Value deviation(Value variance, const APFloat &epsilon) {
    Value spreadVariance = spread(variance);
    Value sum = ops.op<AddOp>(spreadVariance,
                              ops.splat(type, epsilon.convertToDouble()));
    return ops.op<SqrtOp>(sum);
  }
};
} // namespace

static Value normalise(Features f, Value operand, Value scale, Value offset,
                       Value mean, Value variance, const APFloat &epsilon) {
  Value centered = f.ops.op<SubtractOp>(operand, f.spread(mean));
  Value normalised = f.ops.op<DivOp>(centered, f.deviation(variance, epsilon));
  Value scaled = f.ops.op<MulOp>(f.spread(scale), normalised);
  return f.ops.op<AddOp>(scaled, f.spread(offset));
}

LogicalResult import::decompose(BatchNormInferenceOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  replace(op, normalise(f, op.getOperand(), op.getScale(), op.getOffset(),
                        op.getMean(), op.getVariance(), op.getEpsilon()));
  return success();
}

LogicalResult import::decompose(BatchNormTrainingOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  Value sum = f.sum(op.getOperand());
  Value count = ops.splat(Ops::typeOf(sum), f.count());
  Value mean = ops.op<DivOp>(sum, count);
  Value centered = ops.op<SubtractOp>(op.getOperand(), f.spread(mean));
  Value variance =
      ops.op<DivOp>(f.sum(ops.op<MulOp>(centered, centered)), count);
  Value output = normalise(f, op.getOperand(), op.getScale(), op.getOffset(),
                           mean, variance, op.getEpsilon());
  replace(op, {output, mean, variance});
  return success();
}

LogicalResult import::decompose(BatchNormGradOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  Value grad = op.getGradOutput();
  Value centered = ops.op<SubtractOp>(op.getOperand(), f.spread(op.getMean()));
  Value deviation = f.deviation(op.getVariance(), op.getEpsilon());
  Value normalised = ops.op<DivOp>(centered, deviation);
  Value count = ops.splat(f.type, f.count());
  Value gradOffset = f.sum(grad);
  Value gradScale = f.sum(ops.op<MulOp>(grad, normalised));
  // (N g - sum g - normalised sum (g normalised)) scale / deviation / N.
  Value all = ops.op<MulOp>(grad, count);
  Value less = ops.op<SubtractOp>(all, f.spread(gradOffset));
  Value along = ops.op<MulOp>(normalised, f.spread(gradScale));
  Value inner = ops.op<SubtractOp>(less, along);
  Value factor =
      ops.op<DivOp>(ops.op<DivOp>(f.spread(op.getScale()), deviation), count);
  replace(op, {ops.op<MulOp>(factor, inner), gradScale, gradOffset});
  return success();
}
