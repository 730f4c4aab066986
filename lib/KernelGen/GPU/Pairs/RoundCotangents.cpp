//===- RoundCotangents.cpp - Gradients of outputs, as cores multiply them -===//
//
// A step of attention backward multiplies gradients of outputs (f32: over the
// sum of their row's weights) with numbers of 16 bits. As long as they are
// tensors, what rounds them is part of what computes them; and kernels copy
// them as they are.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/KernelGen/GPU.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_ROUNDCOTANGENTSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"
} // namespace shardc

/// The gradient of outputs among the rows of a step backward. [format]
static constexpr unsigned kCotangent = 2;
/// Gradients of query, key and value: others are of no product. [format]
static constexpr size_t kProducts = 3;

/// Whether tensor cores multiply the gradients of outputs of `step`.
static bool isOfTensorCores(spmd::PairStepOp step) {
  auto isBF16 = [](Value value) {
    return getElementTypeOrSelf(value).isBF16();
  };
  return step.getBackward() && step.getInits().size() == kProducts &&
         isBF16(step.getQuery()) && isBF16(step.getKey()) &&
         isBF16(step.getValue());
}

static void roundCotangent(spmd::PairStepOp step) {
  OpOperand &operand = step.getRowsMutable()[kCotangent];
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.getElementType().isF32())
    return;
  OpBuilder b(step);
  b.setInsertionPointAfterValue(operand.get());
  Location loc = operand.get().getLoc();
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, operand.get()), b.getBF16Type());
  auto same = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  auto rounded = linalg::GenericOp::create(
      b, loc, empty.getType(), operand.get(), empty,
      ArrayRef<AffineMap>{same, same}, parallel,
      [](OpBuilder &inner, Location at, ValueRange args) {
        Value result = arith::TruncFOp::create(inner, at, inner.getBF16Type(),
                                               args.front());
        linalg::YieldOp::create(inner, at, result);
      });
  operand.set(rounded.getResult(0));
}

namespace {
struct RoundCotangentsPass final
    : shardc::impl::RoundCotangentsPassBase<RoundCotangentsPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([](spmd::PairStepOp step) {
      if (isOfTensorCores(step))
        roundCotangent(step);
    });
  }
};
} // namespace
