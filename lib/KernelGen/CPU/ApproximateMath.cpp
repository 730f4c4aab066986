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
    // Names in this list expand into other functions first.
    auto approximated = [](StringRef name) {
      return llvm::is_contained({"math.tanh", "math.log", "math.log2", "math.log1p",
                                 "math.erf", "math.erfc", "math.exp", "math.expm1",
                                 "math.atan", "math.atan2", "math.acos", "math.asin",
                                 "math.sin", "math.cos", "math.cbrt"},
                                name);
    };
    {
      RewritePatternSet patterns(&getContext());
      math::populateExpansionPatterns(
          patterns, {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "powf", "exp2",
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
