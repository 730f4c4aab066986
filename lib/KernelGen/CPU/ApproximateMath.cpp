//===- ApproximateMath.cpp - Polynomials for the math dialect -------------===//
//
// Scalar libm is ten times slower than a polynomial on vectors. Narrow floats
// are computed in 32 bits.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "shardc/KernelGen/Passes.h.inc"

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
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, all);
    populateMathPolynomialApproximationPatterns(patterns, approximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc
