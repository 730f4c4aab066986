//===- Pairs.cpp - Blocks of queries against blocks of keys ---------------===//
//
// A block of threads has some dozen rows of scores (rows are queries; keys for
// the gradients of keys and values), and goes through tile after tile of
// columns. Scores of a tile stay in registers, four threads a row; what becomes
// of them is multiplied into sums that stay in registers. Backward, a gradient
// is a pass of its own that computes the scores again (two of the same rows may
// be one): no two blocks add to one place, so that results do not depend on
// their order.
//
//===----------------------------------------------------------------------===//
#include "Pairs.h"
#include "../../Common/PairAlgebra.h"
#include "PairKernels.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

namespace {
/// The passes of a step.
struct Passes {
  OpBuilder &b;
  const Step &step;
  OwnKernels own; ///< what is made as well

  void emit(bool backward);

private:
  gpu::LaunchOp launch(const PairPass &pass);
  void launchAll(Weigh weigh, unsigned rowDim, const Tensor &target,
                 unsigned feature, const Tensor &factor, bool isDone = false);
};
} // namespace

gpu::LaunchOp Passes::launch(const PairPass &pass) {
  if (gpu::LaunchOp launch = launchOnCopies(b, step, pass))
    return launch;
  return launchStaged(b, step, pass);
}

/// Passes for all features of `target`: kernels that all GPUs run, and where
/// they fit those for one GPU, which are done in their stead there; the last
/// launch was one of these for sm_90a if this `isDone`.
void Passes::launchAll(Weigh weigh, unsigned rowDim, const Tensor &target,
                       unsigned feature, const Tensor &factor, bool isDone) {
  PairPass pass(step, weigh, rowDim, &target, feature, &factor);
  // Backward, fragments leave registers for no more.
  int64_t all = step.sizeOf(feature), most = kSlab;
  if (weigh != Weigh::Forward && step.fitsTensorCores(pass, /*orWide=*/true))
    most /= 2;
  bool hasAllFeatures = false;
  for (int64_t slab = 0; slab < all; slab += most) {
    pass.slab = slab;
    pass.last = slab + most >= all;
    pass.features = std::min(most, all - slab);
    bool onTensorMemory =
        own.tensorMemory && launchOnTensorMemory(b, step, pass);
    bool better = isDone || hasAllFeatures ||
                  (own.warpgroups &&
                   launchOnWarpgroups(b, step, pass, GroupsDivide::Rows));
    // One kernel for all features, where blocks of as many rows do not fit.
    if (!better && own.warpgroups && slab == 0)
      better = hasAllFeatures =
          launchOnWarpgroups(b, step, pass, GroupsDivide::Features);
    gpu::LaunchOp general = launch(pass);
    if (better || onTensorMemory)
      spmd::contract::Otherwise::set(general);
  }
}

void Passes::emit(bool backward) {
  unsigned q = step.q, k = step.k, d = step.d, e = step.e;
  if (backward) {
    launchAll(Weigh::Slopes, q, step.states[0], d, step.key);
    bool both = own.warpgroups && launchBothOfKeys(b, step);
    launchAll(Weigh::Slopes, k, step.states[1], d, step.query, both);
    launchAll(Weigh::Weights, k, step.states[2], e, step.rows[2], both);
    for (unsigned which : llvm::seq<unsigned>(step.states.size() - 3))
      launchExtraGradient(b, step, which);
    return;
  }
  if (!step.hasValue) {
    launch(PairPass(step, Weigh::Forward, q, nullptr, e, nullptr));
    return;
  }
  bool isSoftmax = step.combine == PairCombine::Softmax;
  launchAll(Weigh::Forward, q, step.states[isSoftmax ? 2 : 0], e, step.value);
}

LogicalResult gpukernels::launchPairStep(spmd::PairStepOp op, OwnKernels own,
                                         bool shortWeights) {
  if (failed(shardc::pairs::verifyPairStep(op)))
    return failure();
  OpBuilder b(op);
  Step step(b, op, shortWeights);
  Passes{b, step, own}.emit(op.getBackward());
  op.erase();
  return success();
}
