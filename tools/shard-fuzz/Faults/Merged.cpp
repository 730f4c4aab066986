//===- Merged.cpp - Exchanges that became one -----------------------------===//

#include "Plant.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

/// The slices that are all that is read of `value`, if there are as many.
static SmallVector<Operation *> slicesOf(Value value, size_t least) {
  SmallVector<Operation *> slices;
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (!isa<stablehlo::SliceOp, tensor::ExtractSliceOp>(user))
      return {};
    slices.push_back(user);
  }
  return slices.size() < least ? SmallVector<Operation *>() : slices;
}

/// Lets `slice` begin where the sliced value does.
static bool sliceFromBegin(Operation *slice) {
  if (auto fixed = dyn_cast<stablehlo::SliceOp>(slice)) {
    SmallVector<int64_t> first(fixed.getStartIndices()),
        last(fixed.getLimitIndices());
    if (llvm::all_of(first, [](int64_t begin) { return begin == 0; }))
      return false;
    for (auto [begin, end] : llvm::zip_equal(first, last))
      end -= std::exchange(begin, 0);
    fixed.setStartIndices(first);
    fixed.setLimitIndices(last);
    return true;
  }
  auto part = cast<tensor::ExtractSliceOp>(slice);
  SmallVector<OpFoldResult> offsets = part.getMixedOffsets();
  if (llvm::all_of(offsets, isZeroInteger))
    return false;
  OpBuilder builder(part);
  offsets.assign(offsets.size(), builder.getIndexAttr(0));
  auto moved = tensor::ExtractSliceOp::create(
      builder, part.getLoc(), part.getType(), part.getSource(), offsets,
      part.getMixedSizes(), part.getMixedStrides());
  part.replaceAllUsesWith(moved.getResult());
  part.erase();
  return true;
}

static bool sliceAllFromBegin(Value value, size_t least) {
  bool any = false;
  for (Operation *slice : slicesOf(value, least))
    any |= sliceFromBegin(slice);
  return any;
}

/// All that was moved at once is taken to begin where the first part does.
template <typename OpTy, size_t least>
static bool takeFirstPart(ModuleOp module) {
  bool any = false;
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  for (OpTy op : ops)
    any |= sliceAllFromBegin(op->getResult(0), least);
  return any;
}

static bool loseLastPart(ModuleOp module) {
  bool any = false;
  for (HaloExchangeOp op : all<HaloExchangeOp>(module)) {
    std::optional<ArrayAttr> parts = op.getParts();
    if (!parts || parts->size() < 2)
      continue;
    op.setPartsAttr(
        ArrayAttr::get(module.getContext(), parts->getValue().drop_back()));
    any = true;
  }
  return any;
}

ArrayRef<Fault> shardc::fuzz::mergedFaults() {
  static const Fault faults[] = {
      {"merged-part-from-the-first-element", takeFirstPart<HaloExchangeOp, 1>,
       "spmd-merge-halos"},
      {"merged-without-the-last-part", loseLastPart, "spmd-merge-halos",
       "two_shifts"},
      {"all-parts-of-a-bucket-from-its-begin", takeFirstPart<AllReduceOp, 2>,
       "spmd-bucket-reductions"},
      {"all-rows-from-the-begin-of-a-bucket",
       takeFirstPart<ExchangeOpInterface, 2>, "spmd-bucket-exchanges"},
  };
  return faults;
}
