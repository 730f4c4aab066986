//===- ExplainMisses.cpp - Why something is no attention ------------------===//
#include "Match.h"
#include "NearMiss.h"
#include "RaiseBlocks.h"
#include "shardc/Raise/Passes.h"
#include <set>

namespace shardc {
#define GEN_PASS_DEF_EXPLAINMISSESPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Says why `func` has what looks like attention: which op broke it, where
/// there is one, else what was found on the way.
static void explainMisses(func::FuncOp func) {
  std::vector<Miss> misses = findMisses(func);
  DenseSet<Operation *> softmaxes;
  SmallVector<Breaker> breakers = findBreakers(func, softmaxes);
  llvm::erase_if(misses, [&](const Miss &miss) {
    return llvm::any_of(miss.dot->getOperands(), [&](Value operand) {
      return isBefore(operand, 64,
                      [&](Operation *op) { return softmaxes.contains(op); });
    });
  });
  for (const Breaker &breaker : breakers)
    misses.push_back({breaker.op, breaker.op->getLoc(), breaker.why});
  std::set<std::pair<const void *, std::string>> said;
  for (const Miss &miss : misses)
    if (said.insert({miss.place.getAsOpaquePointer(), miss.why}).second)
      emitRemark(miss.place)
          << "looks like attention, but is left as it is: " << miss.why;
}

namespace {
struct ExplainMissesPass final
    : shardc::impl::ExplainMissesPassBase<ExplainMissesPass> {
  using Base::Base;
  void runOnOperation() override { explainMisses(getOperation()); }
};
} // namespace
