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
#include "PairSplit.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

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

  void emitForward();
  void emitBackward();

private:
  gpu::LaunchOp launch(const PairPass &pass);
  bool launchOwn(ArrayRef<PairPass> passes);
  void launchAll(Weigh weigh, unsigned rowDim, const Tensor &target,
                 unsigned feature, const Tensor &factor, bool isDone = false);
  bool launchOfKeys();
  bool launchOrderedBackward();
};
} // namespace

gpu::LaunchOp Passes::launch(const PairPass &pass) {
  if (gpu::LaunchOp launch = launchOnCopies(b, step, pass))
    return launch;
  return launchStaged(b, step, pass);
}

/// Kernels for one GPU of all `passes` together, which all have features of one
/// target, or none: those that all GPUs run are launched behind these.
bool Passes::launchOwn(ArrayRef<PairPass> passes) {
  PairPass whole = passes.front();
  whole.last = true;
  whole.features = step.sizeOf(whole.feature);
  bool onTensorMemory = own.tensorMemory && fitsTensorMemory(step, whole);
  auto fits = [&](const PairPass &pass) {
    return fitsWarpgroups(step, pass, GroupsDivide::Rows);
  };
  bool some = own.warpgroups && llvm::any_of(passes, fits);
  bool each = own.warpgroups && llvm::all_of(passes, fits);
  // Each pass goes its own way then.
  if (some && !each)
    return false;
  if (onTensorMemory)
    launchOnTensorMemory(b, step, whole);
  for (const PairPass &pass : each ? passes : ArrayRef<PairPass>())
    launchOnWarpgroups(b, step, pass, GroupsDivide::Rows);
  // One kernel for all features, where blocks of as many rows do not fit.
  bool isOne = !each && own.warpgroups &&
               launchOnWarpgroups(b, step, whole, GroupsDivide::Features);
  return onTensorMemory || each || isOne;
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
  SmallVector<PairPass> passes;
  for (int64_t slab = 0; slab < all; slab += most) {
    pass.slab = slab;
    pass.last = slab + most >= all;
    pass.features = std::min(most, all - slab);
    passes.push_back(pass);
  }
  bool areOwn = isDone || launchOwn(passes);
  for (const PairPass &one : passes) {
    // Some GPU's kernels may be of some of the passes alone.
    bool isOwn =
        areOwn || (own.warpgroups && passes.size() > 1 &&
                   launchOnWarpgroups(b, step, one, GroupsDivide::Rows));
    gpu::LaunchOp general = launch(one);
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

/// All gradients but those of extras by the kernel for all GPUs that has them
/// together, and what GPUs do in its stead that have kernels of their own of
/// each. False where a GPU has some of them, or a kernel each is faster.
bool Passes::launchOrderedBackward() {
  if (!fitsOrdered(step))
    return false;
  PairPass ofQueries(step, Weigh::Slopes, step.q, &step.states[0], step.d,
                     &step.key);
  PairPass ofKeys(step, Weigh::Slopes, step.k, &step.states[1], step.d,
                  &step.query);
  PairPass ofValues(step, Weigh::Weights, step.k, &step.states[2], step.e,
                    &step.rows[2]);
  std::array<PairPass *, 3> all = {&ofQueries, &ofKeys, &ofValues};
  bool some = false, each = true;
  for (PairPass *pass : all) {
    pass->features = step.sizeOf(pass->feature);
    bool isOfKeys = pass->rowDim == step.k;
    bool onWarpgroups =
        own.warpgroups &&
        (isOfKeys ? fitsBothOfKeys(step)
                  : fitsWarpgroups(step, *pass, GroupsDivide::Rows));
    bool onTensorMemory = own.tensorMemory && fitsTensorMemory(step, *pass);
    some |= onWarpgroups || onTensorMemory;
    each &=
        onWarpgroups == own.warpgroups && onTensorMemory == own.tensorMemory;
  }
  if (some && !each)
    return false;
  if (some) {
    launchOwn(ofQueries);
    if (own.warpgroups)
      launchOfKeys();
    else
      for (PairPass *pass : {&ofKeys, &ofValues})
        launchOwn(*pass);
  }
  for (gpu::LaunchOp general : launchOrdered(b, step))
    if (some)
      spmd::contract::Otherwise::set(general);
  return true;
}

void Passes::emitBackward() {
  unsigned q = step.q, k = step.k, d = step.d, e = step.e;
  if (launchOrderedBackward()) {
    for (unsigned which : llvm::seq<unsigned>(step.states.size() - 3))
      launchExtraGradient(b, step, which);
    return;
  }
  launchAll(Weigh::Slopes, q, step.states[0], d, step.key);
  bool areDone = launchOfKeys();
  launchAll(Weigh::Slopes, k, step.states[1], d, step.query, areDone);
  launchAll(Weigh::Weights, k, step.states[2], e, step.rows[2], areDone);
  for (unsigned which : llvm::seq<unsigned>(step.states.size() - 3))
    launchExtraGradient(b, step, which);
}

void Passes::emitForward() {
  unsigned q = step.q, e = step.e;
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
  foldMasks(op);
  OpBuilder b(op);
  Step step(b, op, shortWeights);
  if (op.getBackward()) {
    Passes{b, step, own}.emitBackward();
  } else if (std::optional<Step> split = splitKeys(b, op, step)) {
    Passes{b, *split, OwnKernels()}.emitForward();
    launchCombine(b, step, *split);
  } else {
    Passes{b, step, own}.emitForward();
  }
  op.erase();
  return success();
}
