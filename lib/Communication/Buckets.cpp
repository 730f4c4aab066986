//===- Buckets.cpp - Communication that may travel together ---------------===//

#include "Buckets.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Layout/TravelFormula.h"
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

namespace {
/// Which candidates of a block need the results of which: asked of 64 of them
/// at a time, in one walk, so that a chain of n needs n / 64 walks and not n.
class Needs {
public:
  Needs(Block &block, ArrayRef<Operation *> candidates)
      : block(block), candidates(candidates) {}

  /// Whether some candidate behind number `first` does not need it and passes
  /// `mayJoin`.
  bool hasPartner(size_t first, llvm::function_ref<bool(Operation *)> mayJoin) {
    if (begin > first || first >= begin + kMany || masks.empty())
      walk(first);
    for (size_t i = first + 1; i < candidates.size(); ++i)
      if (!(masks[i - begin] >> (first - begin) & 1) && mayJoin(candidates[i]))
        return true;
    return false;
  }

private:
  /// Candidates that a walk marks at once: bits of a word. [format]
  static constexpr size_t kMany = 64;

  void walk(size_t first) {
    begin = first;
    masks.assign(candidates.size() - begin, 0);
    llvm::DenseMap<Operation *, size_t> places;
    for (size_t i = begin; i < candidates.size(); ++i)
      places[candidates[i]] = i - begin;
    llvm::DenseMap<Operation *, uint64_t> needs;
    for (auto it = candidates[first]->getIterator(); it != block.end(); ++it) {
      uint64_t mask = 0;
      it->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *maker = operand.getDefiningOp())
            mask |= needs.lookup(maker);
      });
      if (auto place = places.find(&*it); place != places.end()) {
        masks[place->second] = mask;
        if (place->second < kMany)
          mask |= uint64_t(1) << place->second;
      }
      if (mask)
        needs[&*it] = mask;
    }
  }

  Block &block;
  ArrayRef<Operation *> candidates;
  size_t begin = 0;
  SmallVector<uint64_t> masks; ///< by candidate: those of the 64 it needs
};
} // namespace

bool shardc::bundle(Block &block, const Bundling &how) {
  bool changed = false;
  SmallVector<Operation *> candidates;
  llvm::DenseMap<Operation *, int64_t> known;
  auto bytesOf = [&](Operation *op) {
    auto [entry, isNew] = known.try_emplace(op);
    if (isNew)
      entry->second = how.bytesOf(op);
    return entry->second;
  };
  auto isSmall = [&](Operation *op) {
    return how.mayStart(op) && bytesOf(op) <= how.memberLimit;
  };
  auto collect = [&](Operation *from) {
    candidates.clear();
    for (Operation *op = from; op; op = op->getNextNode())
      if (isSmall(op))
        candidates.push_back(op);
  };
  collect(block.empty() ? nullptr : &block.front());
  std::optional<Needs> needs;
  needs.emplace(block, candidates);
  for (size_t i = 0; i + 1 < candidates.size();) {
    Operation *op = candidates[i];
    int64_t bytes = bytesOf(op);
    auto mayJoin = [&](Operation *next) {
      return bytes + bytesOf(next) <= how.bucketLimit &&
             how.mayTravelTogether(op, next);
    };
    Bucket bucket;
    if (needs->hasPartner(i, mayJoin))
      bucket = fillBucket(op, [&](Operation *next) {
        if (!isSmall(next) || !mayJoin(next))
          return false;
        bytes += bytesOf(next);
        return true;
      });
    if (bucket.members.size() < 2) {
      ++i;
      continue;
    }
    for (Operation *member : bucket.members)
      known.erase(member);
    Operation *before = op->getPrevNode();
    how.combine(bucket);
    changed = true;
    // What is combined is behind; it may travel with others.
    collect(before ? before->getNextNode() : &block.front());
    needs.emplace(block, candidates);
    i = 0;
  }
  return changed;
}

StringAttr Bucket::joinReasons() const {
  std::string text;
  for (Operation *member : members)
    if (StringAttr reason =
            cast<spmd::CommunicationOpInterface>(member).getReasonAttr();
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

int64_t shardc::estimateBytes(Operation *op, Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return INT64_MAX;
  int64_t elements = INT64_MAX;
  if (tensor.hasStaticShape()) {
    elements = tensor.getNumElements();
  } else {
    auto communication = cast<spmd::CommunicationOpInterface>(op);
    spmd::MeshAttr mesh = spmd::lookupMesh(op, communication.getMeshName());
    if (auto byRank = estimateLocalElements(value, mesh))
      elements = *llvm::max_element(*byRank);
  }
  int64_t bytes;
  return llvm::MulOverflow(elements, elementBytes(tensor.getElementType()),
                           bytes)
             ? INT64_MAX
             : bytes;
}

Formula shardc::nearHullOf(const Formula &a, const Formula &b) {
  // What is within as many elements of a shard is still beside it. [limit]
  constexpr int64_t farthest = 1024;
  Formula hull = hullOf(a, b);
  // Numbers are of one binding: in others far blocks may be between.
  if (!hull && areClose(a, b, farthest))
    hull = hullFormula(a, b);
  return hull;
}
