//===- Buckets.cpp - Communication that may travel together ---------------===//

#include "Buckets.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;

static bool usesAny(Operation *op, const llvm::DenseSet<Operation *> &makers) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *maker = operand.getDefiningOp();
              maker && makers.contains(maker))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

Bucket shardc::fillBucket(Operation *first,
                          llvm::function_ref<bool(Operation *)> mayJoin) {
  Bucket bucket;
  bucket.members.push_back(first);
  llvm::DenseSet<Operation *> needed = {first};
  SmallVector<Operation *> waiting; // dependents since the last member
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (usesAny(op, needed)) {
      if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
        break;
      needed.insert(op);
      waiting.push_back(op);
      continue;
    }
    if (!mayJoin(op))
      continue;
    bucket.members.push_back(op);
    needed.insert(op);
    bucket.dependents.append(waiting);
    waiting.clear();
  }
  return bucket;
}

bool shardc::bundle(Block &block, const Bundling &how) {
  bool changed = false;
  llvm::DenseSet<Operation *> done;
  auto isSmall = [&](Operation *op) {
    return how.mayStart(op) && how.bytesOf(op) <= how.memberLimit;
  };
  for (bool again = true; again;) {
    again = false;
    for (Operation &op : block) {
      if (!isSmall(&op) || !done.insert(&op).second)
        continue;
      int64_t bytes = how.bytesOf(&op);
      Bucket bucket = fillBucket(&op, [&](Operation *next) {
        if (!isSmall(next) || bytes + how.bytesOf(next) > how.bucketLimit ||
            !how.mayTravelTogether(&op, next))
          return false;
        bytes += how.bytesOf(next);
        return true;
      });
      if (bucket.members.size() < 2)
        continue;
      how.combine(bucket);
      changed = again = true;
      break;
    }
  }
  return changed;
}

StringAttr Bucket::joinReasons() const {
  std::string text;
  for (Operation *member : members)
    if (auto reason = member->getAttrOfType<StringAttr>("reason");
        reason && !StringRef(text).contains(reason.getValue()))
      text += (text.empty() ? "" : "; ") + reason.str();
  return text.empty() ? StringAttr()
                      : StringAttr::get(members.front()->getContext(), text);
}

Location Bucket::joinLocations() const {
  return FusedLoc::get(
      members.front()->getContext(),
      llvm::map_to_vector(members, [](Operation *op) { return op->getLoc(); }));
}

void Bucket::retire() {
  Operation *before = members.back();
  for (Operation *dependent : dependents) {
    dependent->moveAfter(before);
    before = dependent;
  }
  for (Operation *member : members)
    member->erase();
}

int64_t shardc::staticBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return INT64_MAX;
  int64_t bytes;
  return llvm::MulOverflow(tensor.getNumElements(),
                           elementBytes(tensor.getElementType()), bytes)
             ? INT64_MAX
             : bytes;
}
