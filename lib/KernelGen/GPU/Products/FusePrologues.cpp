//===- FusePrologues.cpp - What is multiplied, computed where it is read --===//
//
// A block of a product loads a tile of each operand to shared memory. What is
// computed of it on the way costs no pass over memory, but is computed once for
// each block that reads it: so only where few blocks do.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/KernelGen/GPU.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

namespace shardc {
#define GEN_PASS_DEF_FUSEPROLOGUESPASS
#include "shardc/KernelGen/GpuPasses.h.inc"
} // namespace shardc

/// This many lines of the other operand are one block's, or two's. [shape]
static constexpr int64_t kMostLines = 128;
/// Below these a product is no tile's: points would compute it again and again.
/// [shape]
static constexpr int64_t kLeast = 16;
static constexpr size_t kMostOps = 24, kMostInputs = 6;

/// Whether `producer` computes each of its elements from those of its inputs.
static bool isElementwise(linalg::GenericOp producer) {
  if (producer.getNumReductionLoops() != 0 || producer.getNumDpsInits() != 1 ||
      producer.getBody()->getOperations().size() > kMostOps ||
      !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
           .isIdentity())
    return false;
  Value result = producer.getBody()->getTerminator()->getOperand(0);
  auto operands = operandsOf(producer, result);
  OpOperand *widest = operands ? widestOf(producer, *operands) : nullptr;
  return widest && producer.getMatchingIndexingMap(widest).isPermutation() &&
         llvm::all_of(*operands, [&](OpOperand *operand) {
           return producer.getMatchingIndexingMap(operand)
               .isProjectedPermutation();
         });
}

/// Whether few blocks of the product that `operand` is of read an element of
/// it.
static bool isReadByFew(OpOperand *operand) {
  auto op = cast<linalg::GenericOp>(operand->getOwner());
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() > static_cast<int64_t>(kMostInputs))
    return false;
  Operation *sum = combinerOf(op, 0);
  if (!sum || !isa<arith::AddFOp>(sum))
    return false;
  Value before = op.getRegionOutputArgs()[0];
  Value term = sum->getOperand(sum->getOperand(0) == before);
  auto multiply = term.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return false;
  auto left = operandsOf(op, multiply.getLhs()),
       right = operandsOf(op, multiply.getRhs());
  if (!left || !right ||
      llvm::is_contained(*left, operand) == llvm::is_contained(*right, operand))
    return false;
  OpOperand *own =
      widestOf(op, llvm::is_contained(*left, operand) ? *left : *right);
  if (!own)
    return false;
  AffineMap map = op.getMatchingIndexingMap(own);
  int64_t lines = 1, others = 1, depth = 1;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    // What is not known may be large.
    int64_t size =
        ShapedType::isDynamic(sizes[dim]) ? kMostLines + 1 : sizes[dim];
    int64_t &count = kind == utils::IteratorType::reduction ? depth
                     : map.isFunctionOfDim(dim)             ? lines
                                                            : others;
    count = llvm::SaturatingMultiply<uint64_t>(count, size);
  }
  return lines >= kLeast && depth >= kLeast && others >= kLeast &&
         others <= kMostLines;
}

namespace {
struct FuseProloguesPass final
    : shardc::impl::FuseProloguesPassBase<FuseProloguesPass> {
  using Base::Base;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *operand) {
          auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
          return producer && producer->hasOneUse() &&
                 isa<linalg::GenericOp>(operand->getOwner()) &&
                 isElementwise(producer) && isReadByFew(operand);
        });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
