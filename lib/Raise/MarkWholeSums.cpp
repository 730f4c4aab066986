//===- MarkWholeSums.cpp - Sums that no rank has a part of ----------------===//
//
// Where nothing that is summed over can be cut, a sum has one order on every
// mesh, and costs what it costs without --reproducible
// (docs/Rationale/Reproducible.md).
//
//===----------------------------------------------------------------------===//
#include "shardc/Analysis/CutDims.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_MARKWHOLESUMSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Fewer elements have no vectors to be in, and are waited for one after the
/// other.
static constexpr int64_t kLeastElements = 8;

/// True for numbers of up to 32 bits, whose sums are rounded.
static bool isNarrowFloat(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return type && type.getWidth() <= 32;
}

/// True if the op sums over dims that are whole, whatever the mesh.
static bool isSummedWhole(Operation *op, const CutDims &cuts) {
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  FailureOr<ShardingRule> rule = interface ? interface.getShardingRule()
                                           : FailureOr<ShardingRule>(failure());
  if (failed(rule))
    return false;
  for (auto [tensor, value] : llvm::zip(rule->operands, op->getOperands()))
    for (auto [dim, map] : llvm::enumerate(tensor.dims))
      if (std::optional<int64_t> factor = shardingFactorOf(*rule, map);
          factor && rule->factors[*factor].kind == FactorKind::Reduction &&
          cuts.mayBeCut(value, dim))
        return false;
  return true;
}

/// True for an op on all pairs that chooses among scores, or sums over whole
/// dims.
static bool isSummedWhole(spmd::AllPairsOpInterface op, const CutDims &cuts) {
  auto forward = dyn_cast<spmd::AllPairsOp>(op.getOperation());
  if (forward && forward.getCombine() != spmd::PairCombine::Softmax &&
      forward.getCombine() != spmd::PairCombine::Sum)
    return true;
  auto isSummed = [&](int64_t dim) {
    return llvm::any_of(llvm::seq(op->getNumResults()), [&](unsigned result) {
      return !op.getResultMap(result).isFunctionOfDim(dim);
    });
  };
  for (auto [number, value] : llvm::enumerate(op->getOperands()))
    for (auto [dim, expr] : llvm::enumerate(op.getMap(number).getResults()))
      if (isSummed(cast<AffineDimExpr>(expr).getPosition()) &&
          cuts.mayBeCut(value, dim))
        return false;
  return op.getAccumulatorType().isF32();
}

static bool adds(stablehlo::ReduceOp op) {
  Block &body = op.getBody().front();
  return op->getNumResults() == 1 && isa<stablehlo::AddOp>(body.front()) &&
         body.front().getNextNode() == body.getTerminator();
}

namespace {
struct MarkWholeSumsPass final
    : shardc::impl::MarkWholeSumsPassBase<MarkWholeSumsPass> {
  using Base::Base;
  void runOnOperation() override {
    CutDims cuts(getOperation());
    auto mark = [](Operation *op) { spmd::contract::WholeSum::set(op); };
    getOperation().walk([&](Operation *op) {
      if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
        if (isSummedWhole(pairs, cuts))
          mark(op);
        return;
      }
      auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
      if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) &&
          !(reduce && adds(reduce)))
        return;
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (type.hasStaticShape() && type.getNumElements() >= kLeastElements &&
          llvm::all_of(op->getOperands(), isNarrowFloat) &&
          isNarrowFloat(op->getResult(0)) && isSummedWhole(op, cuts))
        mark(op);
    });
  }
};
} // namespace
