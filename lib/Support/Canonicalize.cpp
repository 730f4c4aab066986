//===- Canonicalize.cpp - Canonical forms of the same numbers -------------===//
//
// MLIR's canonicalizer collects the patterns of all ops of a context each time
// that it is put into a pipeline: a tenth of what a small program takes to
// compile. They are collected once for a context here.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "shardc/Support/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_CANONICALIZEPASS
#include "shardc/Support/Passes.h.inc"
} // namespace shardc

using namespace mlir;

/// An integer that is made a float and rounded to a narrower one is rounded
/// twice. Patterns have the names of their classes, as the compiler of MLIR
/// writes them.
static const std::string kDisabled[] = {
    "(anonymous namespace)::TruncFSIToFPToSIToFP",
    "(anonymous namespace)::TruncFUIToFPToUIToFP",
    "{anonymous}::TruncFSIToFPToSIToFP", "{anonymous}::TruncFUIToFPToUIToFP"};

namespace {
/// Keeps the patterns of a context, as long as that lives.
class CanonicalPatterns : public DialectInterface::Base<CanonicalPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalPatterns)
  explicit CanonicalPatterns(Dialect *dialect) : Base(dialect) {}

  /// Those of `context`. Pipelines of one context are made one at a time.
  static FrozenRewritePatternSet of(MLIRContext *context) {
    auto *builtin = context->getLoadedDialect<BuiltinDialect>();
    auto *known = builtin->getRegisteredInterface<CanonicalPatterns>();
    if (!known)
      known = &builtin->addInterface<CanonicalPatterns>();
    // Dialects may have been loaded since.
    size_t numOps = context->getRegisteredOperations().size();
    if (known->numOps != numOps) {
      known->patterns = collect(context);
      known->numOps = numOps;
    }
    return known->patterns;
  }

private:
  static FrozenRewritePatternSet collect(MLIRContext *context) {
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(patterns, context);
    return FrozenRewritePatternSet(std::move(patterns), kDisabled);
  }

  size_t numOps = 0;
  FrozenRewritePatternSet patterns;
};

struct CanonicalizePass
    : public shardc::impl::CanonicalizePassBase<CanonicalizePass> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = CanonicalPatterns::of(context);
    return success();
  }

  void runOnOperation() override {
    // Structured code has no blocks to merge, and none that nobody reaches.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // What has no end stays as it is after some rounds.
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
