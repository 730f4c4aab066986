//===- FuseElementwise.cpp - Fuse elementwise producers -------------------===//
//
// Fusion saves a pass over memory and costs repeated work where a value is
// read more than once: by several consumers, or by one consumer whose
// iterations outnumber the value's elements. So expensive producers fuse only
// into a single consumer that reads each element once; cheap ones anywhere but
// into contractions, whose operands must stay plain memory.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "shardc/KernelGen/Common.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "shardc/KernelGen/Passes.h.inc"

/// Operations in a body; a call of a function counts for many.
static unsigned bodyCost(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner) || isa<linalg::IndexOp>(inner) ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp>(inner))
      continue;
    bool isFunction =
        inner.getDialect()->getNamespace() == "math" ||
        isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
            arith::RemSIOp, arith::RemUIOp>(inner) ||
        inner.getNumRegions() || isa<tensor::ExtractOp>(inner);
    cost += isFunction ? 8 : 1;
  }
  return cost;
}

/// True if each iteration of `op` reads another element of the operand.
static bool readsOnce(OpOperand *operand) {
  auto op = cast<linalg::LinalgOp>(operand->getOwner());
  AffineMap map = op.getMatchingIndexingMap(operand);
  return map.isProjectedPermutation() &&
         map.getNumResults() == op.getNumLoops();
}

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  unsigned cost = bodyCost(producer);
  if (isContraction(consumer)) {
    // Reading through a broadcast or transpose only changes strides.
    return cost == 0 && producer.getNumDpsInputs() <= 1 &&
           producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
               .isIdentity() &&
           llvm::none_of(
               producer.getBody()->without_terminator(),
               [](Operation &inner) { return isa<linalg::IndexOp>(inner); });
  }
  if (consumer.getNumDpsInputs() + producer.getNumDpsInputs() > 12)
    return false;
  unsigned users = 0;
  for (Operation *user : producer->getUsers()) {
    (void)user;
    ++users;
  }
  bool once = readsOnce(operand);
  if (users == 1 && once)
    return true;
  if (cost == 0)
    return true;
  // Repeating a little arithmetic is cheaper than a pass over memory, as long
  // as it does not read more than it saves.
  unsigned reads = 0;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    reads += map.getNumResults() == producer.getNumLoops();
  }
  if (users == 1)
    return cost <= 4;
  return cost <= 4 && reads <= 1 && once;
}

/// Moves reductions down to their single consumer, with what fills their
/// destination, so that the kernel generator finds them side by side.
static void sinkToConsumers(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || !op->hasOneUse())
      continue;
    Operation *user = *op->user_begin();
    if (user->getBlock() != op->getBlock() || !isa<linalg::LinalgOp>(user))
      continue;
    bool isFill = isa<linalg::FillOp>(op);
    if (!isFill && op.getNumReductionLoops() == 0)
      continue;
    op->moveBefore(user);
  }
}

namespace {
struct FuseElementwisePass final
    : shardc::impl::FuseElementwisePassBase<FuseElementwisePass> {
  using Base::Base;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(
        patterns,
        [](OpOperand *operand) { return operand->get().hasOneUse(); });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::CastOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    sinkToConsumers(getOperation());
  }
};
} // namespace
} // namespace shardc
