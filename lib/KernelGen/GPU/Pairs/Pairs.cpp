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
  bool launchOfKeys();
};
} // namespace

gpu::LaunchOp Passes::launch(const PairPass &pass) {
  if (gpu::LaunchOp launch = launchOnCopies(b, step, pass))
    return launch;
  return launchStaged(b, step, pass);
}

/// Passes for all features of `target`: kernels that all GPUs run, and where
/// they fit those for one GPU, which are done in their stead there; the last
/// launches were these if this `isDone`.
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
    bool isOwn = isDone || hasAllFeatures;
    if (!isOwn && own.tensorMemory)
      isOwn = launchOnTensorMemory(b, step, pass);
    if (!isDone && !hasAllFeatures && own.warpgroups) {
      bool isLaunched = launchOnWarpgroups(b, step, pass, GroupsDivide::Rows);
      // One kernel for all features, where blocks of as many rows do not fit.
      if (!isLaunched && slab == 0)
        isLaunched = hasAllFeatures =
            launchOnWarpgroups(b, step, pass, GroupsDivide::Features);
      isOwn |= isLaunched;
    }
    gpu::LaunchOp general = launch(pass);
    if (isOwn)
      spmd::contract::Otherwise::set(general);
  }
}

/// The gradients of keys and of values for GPUs of which one has them from one
/// kernel: the others' must be launched before what all GPUs run otherwise.
/// False where there is no such kernel.
bool Passes::launchOfKeys() {
  if (!own.warpgroups || !launchBothOfKeys(b, step))
    return false;
  PairPass slopes(step, Weigh::Slopes, step.k, &step.states[1], step.d,
                  &step.query);
  slopes.features = step.sizeOf(step.d);
  PairPass weights(step, Weigh::Weights, step.k, &step.states[2], step.e,
                   &step.rows[2]);
  weights.features = step.sizeOf(step.e);
  if (own.tensorMemory && fitsTensorMemory(step, slopes) &&
      fitsTensorMemory(step, weights)) {
    launchOnTensorMemory(b, step, slopes);
    launchOnTensorMemory(b, step, weights);
  }
  return true;
}

void Passes::emit(bool backward) {
  unsigned q = step.q, k = step.k, d = step.d, e = step.e;
  if (backward) {
    launchAll(Weigh::Slopes, q, step.states[0], d, step.key);
    bool areDone = launchOfKeys();
    launchAll(Weigh::Slopes, k, step.states[1], d, step.query, areDone);
    launchAll(Weigh::Weights, k, step.states[2], e, step.rows[2], areDone);
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
