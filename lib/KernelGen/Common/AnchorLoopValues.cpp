//===- AnchorLoopValues.cpp - Loop-carried tensors stay in their buffer ---===//
//
// A loop whose carried tensor is another buffer in each iteration cannot be
// given memory ahead of time. Materialising what is carried into the tensor
// that it replaces keeps one buffer; bufferization drops the copy where the
// new value was built there anyway.
//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_ANCHORLOOPVALUESPASS
#include "shardc/KernelGen/Passes.h.inc"

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
      if (loop.getBeforeArguments().size() != loop.getNumResults() ||
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

/// The tensor in whose buffer `value` lies, whole or in part: as destinationOf,
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
/// keeps it in one buffer: each turn stores it there.
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
/// before it has found out that the loop works in place.
static void keepApart(Value value) {
  Operation *loop = value.getDefiningOp();
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

/// Copies what branches hand on from outside the loop's body `region`, or from
/// another of its carried tensors: bufferization takes all that a branch may
/// yield for one buffer, which is written to when the turn ends.
static void copyInBranches(Value value, Value destination, ValueRange carried,
                           Region *region) {
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return;
  unsigned index = cast<OpResult>(value).getResultNumber();
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &operand = yield->getOpOperand(index);
    Value root = rootOf(operand.get());
    bool isOutside = !region->isAncestor(root.getParentRegion());
    if (isOutside ||
        (root != destination && llvm::is_contained(carried, root))) {
      OpBuilder builder(yield);
      operand.set(bufferization::AllocTensorOp::create(
          builder, yield.getLoc(), cast<RankedTensorType>(value.getType()),
          ValueRange(), operand.get()));
    } else {
      copyInBranches(operand.get(), destination, carried, region);
    }
  }
}

/// Makes each operand of a terminator end up in the buffer of the tensor in
/// `carried` that it replaces.
static void keepInBuffers(MutableArrayRef<OpOperand> operands,
                          ValueRange carried) {
  if (operands.size() != carried.size() || operands.empty())
    return;
  OpBuilder builder(operands.front().getOwner());
  Location loc = operands.front().getOwner()->getLoc();
  // Assignments happen at once: what another one overwrites is copied first.
  for (auto [operand, destination] : llvm::zip_equal(operands, carried)) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || destinationOf(operand.get()) == destination ||
        !llvm::is_contained(carried, rootOf(operand.get())))
      continue;
    SmallVector<Value> sizes;
    operand.set(bufferization::AllocTensorOp::create(builder, loc, type, sizes,
                                                     operand.get()));
  }
  for (auto [operand, destination] : llvm::zip_equal(operands, carried)) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type != destination.getType() ||
        destinationOf(operand.get()) == destination)
      continue;
    copyInBranches(operand.get(), destination, carried,
                   operand.getOwner()->getParentRegion());
    keepApart(operand.get());
    auto store = bufferization::MaterializeInDestinationOp::create(
        builder, loc, type, operand.get(), destination);
    operand.set(store.getResult());
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
    getOperation().walk([](LoopLikeOpInterface loop) {
      for (Value result : loop->getResults())
        if (isInserted(result))
          keepApart(result);
    });
  }
};
} // namespace
} // namespace shardc
