//===- Canonicalize.cpp - Canonical forms of the same numbers -------------===//
#include "shardc/Support/Canonicalize.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

std::unique_ptr<Pass> shardc::createCanonicalizePass() {
  // An integer that is made a float and rounded to a narrower one is rounded
  // twice. Patterns have the names of their classes, as the compiler of MLIR
  // writes them.
  static const std::string disabled[] = {
      "(anonymous namespace)::TruncFSIToFPToSIToFP",
      "(anonymous namespace)::TruncFUIToFPToUIToFP",
      "{anonymous}::TruncFSIToFPToSIToFP", "{anonymous}::TruncFUIToFPToUIToFP"};
  // Structured code has no blocks to merge, and none that nobody reaches.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config, disabled);
}
