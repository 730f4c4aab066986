//===- ReleaseLate.cpp - Wait for readers when a source changes -----------===//
//
// A rank whose exchange is complete need not wait for those that have yet to
// read what it showed them: it waits where that buffer is written to again, or
// where the block ends. Without that each exchange makes a rank as slow as the
// slowest of its readers, although what it needs itself is there.
//
// The planner of the arena brings a release forward again where a source that
// nobody else uses would make the arena larger.
//
//===----------------------------------------------------------------------===//
#include "UpdateSites.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Support/Views.h"

namespace shardc {
#define GEN_PASS_DEF_RELEASELATEPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// The runtime leaves no more exchanges unreleased than this (shardrt.h).
static constexpr unsigned kMaxUnreleased = 6;

static bool isArgumentOfFunction(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Whether two values are buffers whose roles a loop exchanges: different
/// before it, and each yielded whole.
static bool alternate(Value a, Value b) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (!first || !second || first == second ||
      first.getOwner() != second.getOwner())
    return false;
  auto loop = dyn_cast<scf::ForOp>(first.getOwner()->getParentOp());
  if (!loop)
    return false;
  // All buffers that the loop permutes with these two.
  SmallVector<BlockArgument> arguments{first, second};
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto next = dyn_cast<BlockArgument>(
        rootOfView(loop.getTiedLoopYieldedValue(arguments[i])->get()));
    if (!next || next.getOwner() != loop.getBody() ||
        next == loop.getInductionVar())
      return false;
    if (!llvm::is_contained(arguments, next))
      arguments.push_back(next);
  }
  llvm::DenseSet<Value> yielded, begun;
  return llvm::all_of(arguments, [&](BlockArgument argument) {
    Value init = rootOfView(loop.getTiedLoopInit(argument)->get());
    return init.getDefiningOp<memref::AllocOp>() && begun.insert(init).second &&
           yielded
               .insert(
                   rootOfView(loop.getTiedLoopYieldedValue(argument)->get()))
               .second;
  });
}

namespace {
/// What an op, with all that is in it, does with buffers.
struct Effects {
  SmallVector<Value> written;
  bool isKnown = true;
};

class Releases {
public:
  explicit Releases(AliasAnalysis &aliases) : aliases(aliases) {}

  /// The op before which `site`, an exchange, has to be released; null if that
  /// is at once, or nothing worth waiting for is between.
  Operation *placeOf(RunSiteOp site) {
    Value source = site.getInputs().front();
    Operation *place = site->getNextNode();
    bool hasWork = false;
    unsigned exchanges = 0;
    while (place && !place->hasTrait<OpTrait::IsTerminator>()) {
      const Effects &effects = effectsOf(place);
      if (!effects.isKnown || mayTouch(source, effects.written))
        break;
      if (isa<RunSiteOp>(place) && ++exchanges == kMaxUnreleased)
        break;
      hasWork |= !effects.written.empty() && !isSite(place);
      place = place->getNextNode();
    }
    return hasWork ? place : nullptr;
  }

private:
  bool mayTouch(Value source, ArrayRef<Value> buffers) {
    Value whole = rootOfView(source);
    return llvm::any_of(buffers, [&](Value buffer) {
      Value other = rootOfView(buffer);
      // Arguments of the function are buffers apart.
      if (isArgumentOfFunction(whole) && isArgumentOfFunction(other))
        return whole == other;
      return !alternate(whole, other) && !aliases.alias(whole, other).isNo();
    });
  }

  const Effects &effectsOf(Operation *op) {
    auto [known, isNew] = found.try_emplace(op);
    Effects &effects = known->second;
    if (!isNew)
      return effects;
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      bool hasThoseOfItsRegions =
          inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
      SmallVector<MemoryEffects::EffectInstance> own;
      if (auto interface = dyn_cast<MemoryEffectOpInterface>(inner))
        interface.getEffects(own);
      else
        effects.isKnown &= hasThoseOfItsRegions;
      for (const MemoryEffects::EffectInstance &effect : own) {
        if (isa<MemoryEffects::Read, MemoryEffects::Allocate>(
                effect.getEffect()))
          continue;
        Value value = effect.getValue();
        if (value && isa<BaseMemRefType>(value.getType()))
          effects.written.push_back(value);
        else
          // Of a site, one on nothing in particular says that peers take part.
          effects.isKnown &= isSite(inner);
      }
      return hasThoseOfItsRegions ? WalkResult::advance() : WalkResult::skip();
    });
    return effects;
  }

  AliasAnalysis &aliases;
  llvm::DenseMap<Operation *, Effects> found;
};

struct ReleaseLatePass final
    : shardc::impl::ReleaseLatePassBase<ReleaseLatePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!hasSites(module))
      return;
    FailureOr<shardrt::SiteTable> table = readSites(module);
    if (failed(table))
      return signalPassFailure();
    Releases releases(getAnalysis<AliasAnalysis>());
    SmallVector<std::pair<RunSiteOp, Operation *>> later;
    module.walk([&](RunSiteOp site) {
      if (table->sites[site.getSite()].kind == shardrt::SiteKind::Exchange)
        if (Operation *place = releases.placeOf(site))
          later.emplace_back(site, place);
    });
    for (auto [site, place] : later) {
      table->sites[site.getSite()].releasedLater = true;
      OpBuilder builder(place);
      ReleaseSiteOp::create(builder, site.getLoc(), site.getSite(),
                            site.getInputs().front());
    }
    if (!later.empty())
      updateSites(module, *table);
  }
};
} // namespace
