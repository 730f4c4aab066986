//===- BucketReductions.cpp - Small reductions travel together ------------===//

#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdCommunication.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/PlantedFault.h"

namespace shardc {
#define GEN_PASS_DEF_BUCKETREDUCTIONSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static bool mayTravelTogether(Operation *one, Operation *other) {
  auto a = cast<AllReduceOp>(one), b = cast<AllReduceOp>(other);
  return (a.getKind() == b.getKind() || isPlanted("bucket-of-other-kinds")) &&
         (a.getAxes() == b.getAxes() || isPlanted("bucket-of-other-axes")) &&
         a.getMeshAttr() == b.getMeshAttr() &&
         getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(b.getType());
}

/// One reduction of all members side by side, in the place of the last one.
static void combine(Bucket &bucket) {
  auto last = cast<AllReduceOp>(bucket.members.back());
  OpBuilder builder(last);
  auto elementType = cast<RankedTensorType>(last.getType()).getElementType();
  SmallVector<Value> flat;
  int64_t total = 0;
  for (Operation *member : bucket.members) {
    auto type = cast<RankedTensorType>(member->getResult(0).getType());
    int64_t size = type.getNumElements();
    total += size;
    Value value = cast<AllReduceOp>(member).getInput();
    if (type.getRank() != 1)
      value = stablehlo::ReshapeOp::create(
          builder, member->getLoc(), RankedTensorType::get({size}, elementType),
          value);
    flat.push_back(value);
  }
  auto flatType = RankedTensorType::get({total}, elementType);
  Location loc = bucket.joinLocations();
  Value all = stablehlo::ConcatenateOp::create(builder, loc, flatType, flat, 0);
  Value reduced = AllReduceOp::create(builder, loc, flatType, all,
                                      last.getKindAttr(), last.getAxes(),
                                      last.getMeshAttr(), bucket.joinReasons());
  int64_t begin = 0;
  for (Operation *member : bucket.members) {
    auto type = cast<RankedTensorType>(member->getResult(0).getType());
    int64_t end = begin + type.getNumElements();
    Value part = stablehlo::SliceOp::create(
        builder, member->getLoc(),
        RankedTensorType::get({end - begin}, elementType), reduced,
        builder.getDenseI64ArrayAttr({begin}),
        builder.getDenseI64ArrayAttr({end}), builder.getDenseI64ArrayAttr({1}));
    if (type.getRank() != 1)
      part =
          stablehlo::ReshapeOp::create(builder, member->getLoc(), type, part);
    member->getResult(0).replaceAllUsesWith(part);
    begin = isPlanted("all-parts-of-a-bucket-from-its-begin") ? 0 : end;
  }
  bucket.retire();
}

namespace {
struct BucketReductionsPass final
    : shardc::impl::BucketReductionsPassBase<BucketReductionsPass> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](Block *block) {
      changed |=
          bundle(*block, {memberLimit, bucketLimit, llvm::IsaPred<AllReduceOp>,
                          [](Operation *op) {
                            return staticBytes(op->getResult(0).getType());
                          },
                          mayTravelTogether, combine});
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
