//===- ApproximateMath.cpp - Polynomials for the math dialect -------------===//
//
// Scalar libm is ten times slower than a polynomial on vectors. Narrow floats
// are computed in 32 bits.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "shardc/KernelGen/Passes.h"
#include <limits>

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "shardc/KernelGen/Passes.h.inc"

/// The polynomial of exp is clamped: what overflows is infinite all the same, and
/// what is below the least normal number is zero.
static void guardExp(math::ExpOp op) {
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  auto constant = [&](float value) -> Value {
    TypedAttr attr = builder.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(builder, loc, attr);
  };
  Value x = op.getOperand();
  Value overflows = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x, constant(88.72283935546875f));
  Value vanishes = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, constant(-87.33654022216797f));
  auto low = arith::SelectOp::create(builder, loc, vanishes, constant(0.0f), op);
  auto high = arith::SelectOp::create(builder, loc, overflows, constant(std::numeric_limits<float>::infinity()), low);
  op.getResult().replaceAllUsesExcept(high, low);
}

namespace {
struct ApproximateMathPass final
    : shardc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  using Base::Base;
  void runOnOperation() override {
    auto all = [](StringRef) { return true; };
    // Not atan2 and cbrt, whose polynomials are NaN at the origin and at
    // infinity.
    auto approximated = [](StringRef name) {
      return llvm::is_contained(
          {"math.tanh", "math.log", "math.log2", "math.log1p", "math.erf",
           "math.erfc", "math.exp", "math.expm1", "math.atan", "math.acos",
           "math.asin", "math.sin", "math.cos"},
          name);
    };
    {
      // These expand into other functions first. Not powf: exp(y log x) is NaN
      // for x <= 0 and loses digits.
      RewritePatternSet patterns(&getContext());
      math::populateExpansionPatterns(
          patterns, {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "exp2",
                     "fpowi", "ipowi", "rsqrt", "roundeven", "ctlz"});
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    {
      RewritePatternSet patterns(&getContext());
      populateMathF32ExpansionPatterns(patterns, all);
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    SmallVector<math::ExpOp> exps;
    getOperation().walk([&](math::ExpOp op) { exps.push_back(op); });
    llvm::for_each(exps, guardExp);
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, approximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc
