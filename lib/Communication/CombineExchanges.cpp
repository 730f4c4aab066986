//===- CombineExchanges.cpp - The same communication once -----------------===//

#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace shardc {
#define GEN_PASS_DEF_COMBINEEXCHANGESPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static constexpr llvm::StringLiteral reasonName = "reason";

//===----------------------------------------------------------------------===//
// Out of loops
//===----------------------------------------------------------------------===//

namespace {
/// Finds out what would have to move out of `loop` with an op.
class Hoisting {
public:
  Hoisting(Operation *loop, const ControlFlow &flow) : loop(loop), flow(flow) {}

  /// Moves `op`, an op in a region of the loop, and what it is computed from,
  /// if all iterations compute the same. Returns whether it did.
  bool tryHoist(Operation *op) {
    moved.clear();
    if (!collect(op))
      return false;
    for (Operation *each : moved) {
      for (OpOperand &operand : each->getOpOperands())
        operand.set(initialOf(operand.get()));
      each->moveBefore(loop);
    }
    return true;
  }

private:
  /// `value`, or what it is before the loop if each iteration passes an
  /// argument on as it is.
  Value initialOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParentOp() != loop)
      return value;
    // The loop's regions hand it to one another: all sources but one are
    // itself.
    llvm::SetVector<Value> sources;
    sources.insert(value);
    for (size_t i = 0; i < sources.size(); ++i)
      for (auto [from, to] : flow.edges)
        if (to == sources[i])
          sources.insert(from);
    Value initial;
    for (Value source : sources) {
      auto inner = dyn_cast<BlockArgument>(source);
      if (inner && inner.getOwner()->getParentOp() == loop)
        continue;
      if (initial)
        return value;
      initial = source;
    }
    return initial && isOutside(initial) ? initial : value;
  }

  bool isOutside(Value value) const {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  }

  /// Adds `op` after all it is computed from; false if that is not possible.
  bool collect(Operation *op) {
    if (moved.contains(op))
      return true;
    if (op->getNumRegions() > 0 || op->getBlock()->getParentOp() != loop ||
        !(isPure(op) || isDynamicForm(op)))
      return false;
    for (Value operand : op->getOperands()) {
      Value initial = initialOf(operand);
      if (isOutside(initial))
        continue;
      Operation *definition = initial.getDefiningOp();
      if (!definition || !collect(definition))
        return false;
    }
    moved.insert(op);
    return true;
  }

  /// An op on a shape that is an operand. It would be wrong on a shape that
  /// does not fit, but shapes of the local view do.
  static bool isDynamicForm(Operation *op) {
    return op->getName().stripDialect().starts_with("dynamic_") &&
           isMemoryEffectFree(op);
  }

  Operation *loop;
  const ControlFlow &flow;
  llvm::SetVector<Operation *> moved;
};
} // namespace

/// Inner loops first, so that what leaves one may leave the next.
static bool hoistFromLoops(Operation *root) {
  bool changed = false;
  root->walk<WalkOrder::PostOrder>([&](Operation *loop) {
    std::optional<ControlFlow> flow = getControlFlow(loop);
    if (!flow || !flow->isLoop)
      return;
    Hoisting hoisting(loop, *flow);
    for (Region &region : loop->getRegions())
      for (Operation &op : llvm::make_early_inc_range(region.getOps()))
        if (isa<CommunicationOpInterface>(op))
          changed |= hoisting.tryHoist(&op);
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// Once
//===----------------------------------------------------------------------===//

/// True if `a` and `b` are the same but for their reasons and places.
static bool doTheSame(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getOperands() != b->getOperands() ||
      a->getResultTypes() != b->getResultTypes())
    return false;
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrDictionary());
    list.erase(reasonName);
    return list.getDictionary(op->getContext());
  };
  return attributes(a) == attributes(b);
}

static bool mergeSame(Operation *root, DominanceInfo &dominance) {
  bool changed = false;
  SmallVector<CommunicationOpInterface> all;
  root->walk<WalkOrder::PreOrder>(
      [&](CommunicationOpInterface op) { all.push_back(op); });
  llvm::DenseMap<Value, SmallVector<Operation *>> bySource;
  for (CommunicationOpInterface op : all) {
    SmallVector<Operation *> &others = bySource[op.getSource()];
    auto same = llvm::find_if(others, [&](Operation *other) {
      return doTheSame(op, other) && dominance.properlyDominates(other, op);
    });
    if (same == others.end()) {
      others.push_back(op);
      continue;
    }
    if (StringAttr reasons = (Bucket{{*same, op}, {}}).joinReasons())
      cast<CommunicationOpInterface>(*same).setReasonAttr(reasons);
    op->replaceAllUsesWith(*same);
    op->erase();
    changed = true;
  }
  return changed;
}

namespace {
struct CombineExchangesPass final
    : shardc::impl::CombineExchangesPassBase<CombineExchangesPass> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = hoistFromLoops(getOperation());
    changed |= mergeSame(getOperation(), getAnalysis<DominanceInfo>());
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
