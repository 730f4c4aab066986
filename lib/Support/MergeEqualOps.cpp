//===- MergeEqualOps.cpp - Compute what is equal once ---------------------===//
//
// MLIR's elimination of common subexpressions finds equal ops by a hash that
// looks at operands and attributes, not into regions. In linalg and scf all
// that differs is there: loops that start with the same zeros, or elementwise
// ops on the same operands, have one hash, and each is compared with all before
// it. So each op with a region is given an attribute, a hash of what the region
// computes, for as long as MLIR looks.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "shardc/Support/Passes.h"
#include "llvm/ADT/Hashing.h"

namespace shardc {
#define GEN_PASS_DEF_MERGEEQUALOPSPASS
#include "shardc/Support/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

static constexpr llvm::StringLiteral kFingerprint = "fingerprint";

namespace {
/// Hashes ops by what they compute: two that MLIR may merge have one hash, also
/// before their operands have been merged.
class Fingerprints {
public:
  /// Gives each op in `root` that has a region the attribute.
  void add(Operation *root) {
    for (Region &region : root->getRegions())
      (void)hash(region, llvm::hash_value(0));
  }

private:
  /// `parent` is what is known of the op around it: its arguments follow.
  llvm::hash_code hash(Region &region, llvm::hash_code parent) {
    llvm::hash_code code = parent;
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        hashes.try_emplace(argument,
                           llvm::hash_combine(code, argument.getArgNumber()));
      for (Operation &op : block)
        code = llvm::hash_combine(code, hash(op));
    }
    return code;
  }

  llvm::hash_code hash(Operation &op) {
    SmallVector<size_t> operands;
    for (Value operand : op.getOperands())
      operands.push_back(hashes.lookup(operand));
    if (op.hasTrait<OpTrait::IsCommutative>())
      llvm::sort(operands);
    llvm::hash_code code =
        llvm::hash_combine(OperationEquivalence::computeHash(
                               &op, OperationEquivalence::ignoreHashValue,
                               OperationEquivalence::ignoreHashValue,
                               OperationEquivalence::IgnoreLocations),
                           llvm::hash_combine_range(operands));
    for (Region &region : op.getRegions())
      code = hash(region, code);
    if (op.getNumRegions())
      op.setDiscardableAttr(
          kFingerprint, IntegerAttr::get(IntegerType::get(op.getContext(), 64),
                                         int64_t(size_t(code))));
    for (OpResult result : op.getResults())
      hashes.try_emplace(result,
                         llvm::hash_combine(code, result.getResultNumber()));
    return code;
  }

  DenseMap<Value, size_t> hashes;
};

struct MergeEqualOpsPass
    : public shardc::impl::MergeEqualOpsPassBase<MergeEqualOpsPass> {
  void runOnOperation() override {
    Operation *root = getOperation();
    // Nothing in a function of the LLVM dialect, where programs are longest.
    bool hasRegions = false;
    for (Region &region : root->getRegions())
      hasRegions |= region
                        .walk([](Operation *op) {
                          return op->getNumRegions() ? WalkResult::interrupt()
                                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (hasRegions)
      Fingerprints().add(root);
    IRRewriter rewriter(&getContext());
    bool changed = false;
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), root,
                                  &changed);
    if (hasRegions)
      root->walk([](Operation *op) {
        if (op->getNumRegions())
          op->removeDiscardableAttr(kFingerprint);
      });
    if (!changed)
      return markAllAnalysesPreserved();
    markAnalysesPreserved<DominanceInfo, PostDominanceInfo>();
  }
};
} // namespace
