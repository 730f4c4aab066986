//===- BucketReductions.cpp - Small reductions travel together ------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc {
#define GEN_PASS_DEF_BUCKETREDUCTIONSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static int64_t bytesOf(AllReduceOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return INT64_MAX;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8), elements;
  return llvm::MulOverflow(type.getNumElements(), bytes, elements) ? INT64_MAX : elements;
}

static bool mayTravelTogether(AllReduceOp a, AllReduceOp b) {
  return a.getKind() == b.getKind() && a.getAxes() == b.getAxes() && a.getMeshAttr() == b.getMeshAttr() &&
         getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(b.getType());
}

namespace {
/// Reductions of one block that neither need one another nor differ in kind.
struct Bucket {
  SmallVector<AllReduceOp> members;
  /// Ops between the first and the last member that need a member's result.
  SmallVector<Operation *> dependents;
};
} // namespace

static bool usesAny(Operation *op, const llvm::DenseSet<Operation *> &makers) {
  return op->walk([&](Operation *inner) {
             for (Value operand : inner->getOperands())
               if (Operation *maker = operand.getDefiningOp(); maker && makers.contains(maker))
                 return WalkResult::interrupt();
             return WalkResult::advance();
           })
      .wasInterrupted();
}

/// Takes `first` and, of what stands behind it, all that may travel with it.
static Bucket fill(AllReduceOp first, int64_t memberLimit, int64_t bucketLimit) {
  Bucket bucket;
  bucket.members.push_back(first);
  int64_t bytes = bytesOf(first);
  llvm::DenseSet<Operation *> needed = {first};
  SmallVector<Operation *> waiting; // dependents since the last member
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    bool depends = usesAny(op, needed);
    if (depends) {
      if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
        break;
      needed.insert(op);
      waiting.push_back(op);
      continue;
    }
    auto next = dyn_cast<AllReduceOp>(op);
    if (!next || !mayTravelTogether(first, next) || bytesOf(next) > memberLimit || bytes + bytesOf(next) > bucketLimit)
      continue;
    bytes += bytesOf(next);
    bucket.members.push_back(next);
    needed.insert(next);
    bucket.dependents.append(waiting);
    waiting.clear();
  }
  return bucket;
}

/// One reduction of all members side by side, where the last one stands.
static void combine(Bucket &bucket) {
  AllReduceOp last = bucket.members.back();
  OpBuilder builder(last);
  auto elementType = cast<RankedTensorType>(last.getType()).getElementType();
  SmallVector<Value> flat;
  SmallVector<Location> locations;
  std::string reason;
  int64_t total = 0;
  for (AllReduceOp member : bucket.members) {
    auto type = cast<RankedTensorType>(member.getType());
    int64_t size = type.getNumElements();
    total += size;
    Value value = member.getInput();
    if (type.getRank() != 1)
      value = stablehlo::ReshapeOp::create(builder, member.getLoc(), RankedTensorType::get({size}, elementType), value);
    flat.push_back(value);
    locations.push_back(member.getLoc());
    if (StringAttr why = member.getReasonAttr(); why && !StringRef(reason).contains(why.getValue()))
      reason += (reason.empty() ? "" : "; ") + why.str();
  }
  auto flatType = RankedTensorType::get({total}, elementType);
  Location loc = FusedLoc::get(builder.getContext(), locations);
  Value all = stablehlo::ConcatenateOp::create(builder, loc, flatType, flat, 0);
  Value reduced = AllReduceOp::create(builder, loc, flatType, all, last.getKindAttr(), last.getAxes(), last.getMeshAttr(),
                                      reason.empty() ? StringAttr() : builder.getStringAttr(reason));
  int64_t begin = 0;
  for (AllReduceOp member : bucket.members) {
    auto type = cast<RankedTensorType>(member.getType());
    int64_t end = begin + type.getNumElements();
    Value part = stablehlo::SliceOp::create(builder, member.getLoc(), RankedTensorType::get({end - begin}, elementType), reduced,
                                            builder.getDenseI64ArrayAttr({begin}), builder.getDenseI64ArrayAttr({end}),
                                            builder.getDenseI64ArrayAttr({1}));
    if (type.getRank() != 1)
      part = stablehlo::ReshapeOp::create(builder, member.getLoc(), type, part);
    member.getResult().replaceAllUsesWith(part);
    begin = end;
  }
  Operation *before = last;
  for (Operation *dependent : bucket.dependents) {
    dependent->moveAfter(before);
    before = dependent;
  }
  for (AllReduceOp member : bucket.members)
    member.erase();
}

namespace {
struct BucketReductionsPass final : shardc::impl::BucketReductionsPassBase<BucketReductionsPass> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](Block *block) {
      llvm::DenseSet<Operation *> done;
      for (bool again = true; again;) {
        again = false;
        for (Operation &op : *block) {
          auto reduction = dyn_cast<AllReduceOp>(op);
          if (!reduction || bytesOf(reduction) > memberLimit || !done.insert(reduction).second)
            continue;
          Bucket bucket = fill(reduction, memberLimit, bucketLimit);
          if (bucket.members.size() < 2)
            continue;
          combine(bucket);
          changed = again = true;
          break;
        }
      }
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
