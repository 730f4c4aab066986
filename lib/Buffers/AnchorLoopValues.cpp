//===- AnchorLoopValues.cpp - Loop-carried tensors stay in their buffer ---===//
//
// A loop whose carried tensor is another buffer in each iteration cannot be
// given memory ahead of time. Materialising what is carried into the tensor
// that it replaces keeps one buffer; bufferization drops the copy where the
// new value was built there anyway.
//
//===----------------------------------------------------------------------===//
#include "shardc/Buffers/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_ANCHORLOOPVALUESPASS
#include "shardc/Buffers/Passes.h.inc"

/// The tensor whose buffer `value` is built in, through destinations of ops and
/// loops around them.
static Value destinationOf(Value value) {
  while (true) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return value;
    Operation *op = result.getOwner();
    unsigned index = result.getResultNumber();
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(result)->get();
    } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      value = insert.getDest();
    } else if (auto store =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      value = store.getDest();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (destinationOf(loop.getYieldedValues()[index]) !=
          loop.getRegionIterArg(index))
        return value;
      value = loop.getInitArgs()[index];
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // Both regions hand the tensor on in the same place.
      if (index >= loop.getBeforeArguments().size() ||
          destinationOf(loop.getConditionOp().getArgs()[index]) !=
              loop.getBeforeArguments()[index] ||
          destinationOf(loop.getYieldOp().getOperand(index)) !=
              loop.getAfterArguments()[index])
        return value;
      value = loop.getInits()[index];
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Value onTrue = destinationOf(branch.thenYield().getOperand(index));
      Value onFalse = destinationOf(branch.elseYield().getOperand(index));
      if (onTrue != onFalse)
        return value;
      return onTrue;
    } else {
      return value;
    }
  }
}

/// The tensor whose buffer holds `value`, whole or in part: as destinationOf,
/// and through ops that show parts or other shapes.
static Value rootOf(Value value) {
  while (true) {
    value = destinationOf(value);
    Operation *op = value.getDefiningOp();
    if (!op || !isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                    tensor::ExpandShapeOp, tensor::CastOp>(op))
      return value;
    value = op->getOperand(0);
  }
}

/// True if bufferization knows from the start that the loop that makes `value`
/// keeps it in one buffer: each iteration stores it there.
static bool isStoredByLoop(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return true;
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return isStoredByLoop(loop.getYieldedValues()[index]);
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
    return isStoredByLoop(loop.getYieldOp().getOperand(index));
  return isa<bufferization::MaterializeInDestinationOp>(result.getOwner());
}

/// Where a loop builds `value` in an empty tensor, op by op in its place, gives
/// it a buffer of its own: empty-tensor elimination would let it begin in the
/// tensor that it is stored to or inserted into, and bufferization refuses that
/// before it has found out that the loop works in place. The same where
/// branches yield what such loops build.
static void keepApart(Value value) {
  Operation *loop = value.getDefiningOp();
  if (isa_and_nonnull<scf::IfOp, scf::IndexSwitchOp>(loop)) {
    for (Region &region : loop->getRegions())
      keepApart(region.front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber()));
    return;
  }
  if (!isa_and_nonnull<scf::ForOp, scf::WhileOp>(loop) || isStoredByLoop(value))
    return;
  auto empty = destinationOf(value).getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return;
  OpBuilder builder(empty);
  Value buffer = bufferization::AllocTensorOp::create(
      builder, empty.getLoc(), empty.getType(), empty.getDynamicSizes());
  empty.replaceAllUsesWith(buffer);
  empty.erase();
}

/// The carried tensor that an iteration of the loop replaces by `value`, where
/// it does that alone; branches around may hand it on. Null if there is none.
static Value replacedBy(Value value) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  unsigned index = use.getOperandNumber();
  if (auto condition = dyn_cast<scf::ConditionOp>(use.getOwner())) {
    auto before =
        cast<scf::WhileOp>(condition->getParentOp()).getBeforeArguments();
    return index > 0 && index <= before.size() ? Value(before[index - 1])
                                               : Value();
  }
  if (!isa<scf::YieldOp>(use.getOwner()))
    return {};
  Operation *parent = use.getOwner()->getParentOp();
  if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
    return replacedBy(parent->getResult(index));
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return loop.getRegionIterArg(index);
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return index < loop.getAfterArguments().size()
               ? Value(loop.getAfterArguments()[index])
               : Value();
  return {};
}

/// Makes branches of a choice between two tensors in a loop: they may be
/// copied.
static void branchToChosen(arith::SelectOp select) {
  if (!isa<RankedTensorType>(select.getType()) ||
      !select.getCondition().getType().isInteger(1) ||
      !select->getParentOfType<LoopLikeOpInterface>())
    return;
  OpBuilder builder(select);
  auto branch = scf::IfOp::create(
      builder, select.getLoc(), select.getCondition(),
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, select.getTrueValue());
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, select.getFalseValue());
      });
  select.replaceAllUsesWith(branch);
  select.erase();
}

/// True if `value` is a part of a tensor, in this shape or another.
static bool isPart(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                      tensor::CastOp>(op))
    return isPart(op->getOperand(0));
  return isa_and_nonnull<tensor::ExtractSliceOp>(op);
}

/// Copies what the branches `op`, in a loop, yield from elsewhere, or several
/// times: bufferization takes all that they may yield for one buffer, which
/// later ops of the iteration, or its end, write to. Where all branches yield
/// the same tensor, changed in place or not, or the one that the result
/// replaces, it is that buffer. Parts of tensors, which have strides of their
/// own, are copied anywhere.
static void copyForwarded(Operation *op) {
  bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
  std::vector<llvm::SmallDenseSet<Value>> seen(op->getNumRegions());
  for (OpResult result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    SmallVector<OpOperand *> yields;
    SmallVector<Value> destinations;
    bool isInPlace = true;
    for (Region &region : op->getRegions()) {
      yields.push_back(&region.front().getTerminator()->getOpOperand(
          result.getResultNumber()));
      Value yielded = yields.back()->get();
      destinations.push_back(destinationOf(yielded));
      // What the iteration has changed before the branch, another branch may
      // still read as it was.
      isInPlace &= yielded == rootOf(yielded) ||
                   region.isAncestor(yielded.getParentRegion());
    }
    isInPlace &= llvm::all_equal(destinations);
    Value replaced = replacedBy(result);
    for (auto [region, known, yield] :
         llvm::zip(op->getRegions(), seen, yields)) {
      Value yielded = yield->get(), root = rootOf(yielded);
      bool isElsewhere = !region.isAncestor(root.getParentRegion());
      bool isReplaced =
          root == replaced &&
          (yielded == root || region.isAncestor(yielded.getParentRegion()));
      bool isShared = !known.insert(root).second ||
                      (isElsewhere && !isInPlace && !isReplaced);
      if (!isPart(yielded) && !(isInLoop && isShared))
        continue;
      OpBuilder builder(yield->getOwner());
      yield->set(bufferization::AllocTensorOp::create(
          builder, yield->getOwner()->getLoc(),
          cast<RankedTensorType>(yielded.getType()), ValueRange(), yielded));
    }
  }
}

/// Puts tensors that the condition of a loop passes on first, in one order on
/// both sides, and passes on those too that the condition alone reads:
/// canonicalization drops what one of the regions does not use, and
/// bufferization copies, in each iteration, what changes its place or has none.
static void alignTensors(scf::WhileOp loop) {
  SmallVector<unsigned> results, operands;
  SmallVector<Value> before(loop.getBeforeArguments());
  for (auto [index, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
    auto *argument = llvm::find(before, destinationOf(value));
    unsigned from = argument - before.begin();
    if (!isa<RankedTensorType>(value.getType()) || argument == before.end() ||
        argument->getType() != value.getType() ||
        llvm::is_contained(operands, from))
      continue;
    results.push_back(index);
    operands.push_back(from);
  }
  unsigned numShared = results.size();
  SmallVector<Value> added;
  for (auto [index, argument] : llvm::enumerate(before))
    if (isa<RankedTensorType>(argument.getType()) &&
        !llvm::is_contained(operands, index)) {
      added.push_back(argument);
      operands.push_back(index);
    }
  if (added.empty() && results == operands)
    return;
  for (unsigned index : llvm::seq(loop.getNumResults()))
    if (!llvm::is_contained(results, index))
      results.push_back(index);
  for (unsigned index : llvm::seq<unsigned>(before.size()))
    if (!llvm::is_contained(operands, index))
      operands.push_back(index);
  auto inOrder = [](ValueRange values, ArrayRef<unsigned> order) {
    return llvm::map_to_vector(order, [&](unsigned i) { return values[i]; });
  };
  auto withAdded = [&](ValueRange values) {
    SmallVector<Value> all = inOrder(values, results);
    all.insert(all.begin() + numShared, added.begin(), added.end());
    return all;
  };
  OpBuilder builder(loop);
  SmallVector<Value> inits = inOrder(loop.getInits(), operands);
  SmallVector<Type> types =
      llvm::to_vector(ValueRange(withAdded(loop.getResults())).getTypes());
  auto next = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  next.getBefore().takeBody(loop.getBefore());
  next.getAfter().takeBody(loop.getAfter());
  next.getConditionOp().getArgsMutable().assign(
      withAdded(next.getConditionOp().getArgs()));
  next.getYieldOp().getResultsMutable().assign(
      inOrder(next.getYieldOp().getResults(), operands));
  // Each block gets its arguments anew, in the other order.
  SmallVector<Type> addedTypes = llvm::to_vector(ValueRange(added).getTypes());
  Block &decides = *next.getBeforeBody(), &repeats = *next.getAfterBody();
  for (unsigned from : operands) {
    BlockArgument old = decides.getArgument(from);
    old.replaceAllUsesWith(decides.addArgument(old.getType(), old.getLoc()));
  }
  decides.eraseArguments(0, operands.size());
  auto addAll = [&] {
    for (Type type : addedTypes)
      repeats.addArgument(type, loop.getLoc());
  };
  for (auto [index, from] : llvm::enumerate(results)) {
    if (index == numShared)
      addAll();
    BlockArgument old = repeats.getArgument(from);
    old.replaceAllUsesWith(repeats.addArgument(old.getType(), old.getLoc()));
  }
  if (results.size() == numShared)
    addAll();
  repeats.eraseArguments(0, results.size());
  for (auto [index, old] : llvm::enumerate(results))
    loop.getResult(old).replaceAllUsesWith(
        next.getResult(index < numShared ? index : index + addedTypes.size()));
  loop.erase();
}

/// True if nobody can tell what `value` holds: a tensor of no elements, or an
/// empty one that nobody writes to, also one that loops yield as it is.
static bool hasNoContents(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (value.getDefiningOp<tensor::EmptyOp>() ||
      (type.hasStaticShape() && type.getNumElements() == 0))
    return true;
  auto loop = value.getDefiningOp<scf::ForOp>();
  if (!loop)
    return false;
  unsigned index = cast<OpResult>(value).getResultNumber();
  return loop.getYieldedValues()[index] == loop.getRegionIterArg(index) &&
         hasNoContents(loop.getInitArgs()[index]);
}

/// Makes each operand of a terminator end up in the buffer of the tensor in
/// `carried` that it replaces. What has no partner keeps no buffer.
static void keepInBuffers(MutableArrayRef<OpOperand> operands,
                          ValueRange carried) {
  if (operands.empty() || carried.empty())
    return;
  OpBuilder builder(operands.front().getOwner());
  Location loc = operands.front().getOwner()->getLoc();
  // Assignments happen at once: what another one overwrites is copied first.
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    bool stays = index < carried.size() &&
                 destinationOf(operand.get()) == carried[index];
    if (!type || stays || !llvm::is_contained(carried, rootOf(operand.get())))
      continue;
    SmallVector<Value> sizes;
    operand.set(bufferization::AllocTensorOp::create(builder, loc, type, sizes,
                                                     operand.get()));
  }
  // What is yielded twice is built in the first place and copied from there: it
  // cannot be read once it was stored in its own buffer.
  llvm::SmallDenseMap<Value, Value> stored;
  for (auto [operand, destination] : llvm::zip(operands, carried)) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type != destination.getType() ||
        destinationOf(operand.get()) == destination)
      continue;
    // Whatever is there will do, of no elements for example. A copy of it would
    // begin and end in the same tensor where loops are in loops, which
    // bufferization refuses.
    if (hasNoContents(operand.get())) {
      operand.set(destination);
      continue;
    }
    keepApart(operand.get());
    Value &last =
        stored.try_emplace(operand.get(), operand.get()).first->second;
    last = bufferization::MaterializeInDestinationOp::create(builder, loc, type,
                                                             last, destination)
               .getResult();
    operand.set(last);
  }
}

/// Copies what `loop` begins with and writes over where it is also yielded or
/// stored behind the loop. Bufferization would copy it as well, but looks first
/// whether it could stay, with what both end in as one buffer, and refuses that
/// where it is stored to.
static void copyYieldedInits(LoopLikeOpInterface loop) {
  auto isYielded = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user != loop &&
           (user->hasTrait<OpTrait::IsTerminator>() ||
            isa<bufferization::MaterializeInDestinationOp>(user));
  };
  for (auto [init, result] :
       llvm::zip(loop.getInitsMutable(), loop->getResults())) {
    auto type = dyn_cast<RankedTensorType>(init.get().getType());
    if (!type || type != result.getType() || !isStoredByLoop(result) ||
        llvm::none_of(init.get().getUses(), isYielded))
      continue;
    OpBuilder builder(loop);
    init.set(bufferization::AllocTensorOp::create(builder, loop.getLoc(), type,
                                                  ValueRange(), init.get()));
  }
}

/// True if `value` is inserted into a larger tensor, in this shape or another.
static bool isInserted(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return insert.getSource() == use.get();
    return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
               user) &&
           isInserted(user->getResult(0));
  });
}

namespace {
struct AnchorLoopValuesPass final
    : shardc::impl::AnchorLoopValuesPassBase<AnchorLoopValuesPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk(branchToChosen);
    getOperation().walk([](scf::WhileOp loop) { alignTensors(loop); });
    getOperation().walk([](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        copyForwarded(op);
    });
    getOperation().walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        keepInBuffers(loop.getBody()->getTerminator()->getOpOperands(),
                      loop.getRegionIterArgs());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        keepInBuffers(loop.getConditionOp()->getOpOperands().drop_front(),
                      loop.getBeforeArguments());
        keepInBuffers(loop.getYieldOp()->getOpOperands(),
                      loop.getAfterArguments());
      }
    });
    getOperation().walk([](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        copyYieldedInits(cast<LoopLikeOpInterface>(op));
      else if (!isa<scf::IfOp, scf::IndexSwitchOp>(op))
        return;
      for (Value result : op->getResults())
        if (isInserted(result))
          keepApart(result);
    });
  }
};
} // namespace
} // namespace shardc
