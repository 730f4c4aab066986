//===- PrivateDestinations.cpp - Each result gets a destination of its own ===//
//
// CSE makes one of equal empty or filled tensors. Two reductions that start
// from the same one would be built in one buffer, one of them after a copy; and
// where empty-tensor elimination puts that buffer into an output, the other
// would still be read from there. So every use gets its own; and what is read
// again after it was changed into an output is not in the output; parts of an
// output begin in it. And what is inserted under another shape than its own is
// built where it is inserted.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Support/Uses.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_PRIVATEDESTINATIONSPASS
#include "shardc/Buffers/Passes.h.inc"

/// True if `op` makes a tensor out of nothing but scalars and an empty tensor.
static bool isCheapSource(Operation *op) {
  if (isa<tensor::EmptyOp>(op))
    return true;
  auto fill = dyn_cast<linalg::LinalgOp>(op);
  if (!fill || !fill.hasPureTensorSemantics() || fill.getNumDpsInits() != 1 ||
      fill.getNumReductionLoops())
    return false;
  for (OpOperand *input : fill.getDpsInputOperands())
    if (isa<ShapedType>(input->get().getType()))
      return false;
  Value destination = fill.getDpsInits()[0];
  Value yielded = fill.getBlock()->getTerminator()->getOperand(0);
  // A constant or a scalar operand, not something computed element by element.
  auto argument = dyn_cast<BlockArgument>(yielded);
  bool isScalar = argument
                      ? argument.getOwner() != fill.getBlock() ||
                            argument.getArgNumber() < fill.getNumDpsInputs()
                      : yielded.getParentBlock() != fill.getBlock();
  return isScalar && destination.getDefiningOp<tensor::EmptyOp>();
}

/// Looks through ops that show the same elements in another shape.
static Value withoutReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// A tensor on its way to an output, and whether it is changed on the rest of
/// the way.
struct State {
  Value value;
  bool isChanged;
};

/// What the tensor of `state` was before its op: the destination that the op
/// takes over, or what a branch yields. Empty where it begins.
static SmallVector<State> previousStates(State state) {
  auto result = dyn_cast<OpResult>(state.value);
  if (!result) {
    // What a condition that is computed in each iteration yields begins before
    // the loop.
    auto argument = cast<BlockArgument>(state.value);
    auto loop = dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getOwner() != loop.getBeforeBody())
      return {};
    return {{loop.getInits()[argument.getArgNumber()], true}};
  }
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {{loop.getConditionOp().getArgs()[result.getResultNumber()], true}};
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return {{destination.getTiedOpOperand(result)->get(), true}};
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return {{insert.getDest(), true}};
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return {{insert.getDest(), true}};
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (OpOperand *init = loop.getTiedLoopInit(result))
      return {{init->get(), true}};
  SmallVector<State> states;
  if (!isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return states;
  for (Region &region : op->getRegions()) {
    Value yielded =
        region.front().getTerminator()->getOperand(result.getResultNumber());
    // Over what comes from elsewhere another branch writes its own.
    states.push_back(
        {yielded,
         state.isChanged || !region.isAncestor(yielded.getParentRegion())});
  }
  return states;
}

/// A value that is changed further on its way to an output must not be built in
/// that output if it is read elsewhere: the output's last write would be seen
/// there. Where there is one, the tensors it begins with get memory of their
/// own.
static void keepOutOfOutput(bufferization::MaterializeInDestinationOp output) {
  bool isRead = false;
  SmallVector<State> pending{{output.getSource(), false}};
  llvm::SmallDenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<tensor::EmptyOp> begins;
  while (!pending.empty()) {
    auto [state, isChanged] = pending.pop_back_val();
    Value begin = withoutReshapes(state);
    // What a loop begins an iteration with is read before the iteration changes
    // it.
    for (Value shown = state; isChanged && !isa<BlockArgument>(begin);
         shown = shown.getDefiningOp()->getOperand(0)) {
      isRead |= llvm::count_if(shown.getUsers(), [](Operation *user) {
                  return !isa<tensor::DimOp>(user);
                }) > 1;
      if (shown == begin)
        break;
    }
    if (!seen.insert({begin, isChanged}).second)
      continue;
    if (auto empty = begin.getDefiningOp<tensor::EmptyOp>();
        empty && !llvm::is_contained(begins, empty))
      begins.push_back(empty);
    llvm::append_range(pending, previousStates({begin, isChanged}));
  }
  if (!isRead)
    return;
  for (tensor::EmptyOp empty : begins) {
    OpBuilder builder(empty);
    auto own = bufferization::AllocTensorOp::create(
        builder, empty.getLoc(), empty.getType(), empty.getDynamicSizes());
    empty->replaceAllUsesWith(own);
    empty->erase();
  }
}

/// Parts that are inserted one after the other into an output are built in it.
/// Empty-tensor elimination first puts the first part into the empty tensor
/// that parts are inserted into, then the others into the output in its place:
/// the first would be in a tensor as large as the output, and copied.
static void beginInOutput(bufferization::MaterializeInDestinationOp output) {
  Value value = output.getSource(), memory = output.getDest();
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!argument || !isa<MemRefType>(memory.getType()) ||
      !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return;
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!insert->hasOneUse() || insert->getBlock() != output->getBlock())
      return;
    value = insert.getDest();
  }
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  if (!empty || value == output.getSource() || !empty->hasOneUse() ||
      memref::getTensorTypeFromMemRefType(memory.getType()) != empty.getType())
    return;
  // Before whatever makes a part.
  auto b = OpBuilder::atBlockBegin(empty->getBlock());
  Value begin = bufferization::ToTensorOp::create(
      b, empty.getLoc(), empty.getType(), memory, /*restrict=*/true,
      /*writable=*/true);
  empty->replaceAllUsesWith(ValueRange{begin});
  empty->erase();
  output.setRestrict(false);
}

/// True if `op` has no tensor of its own to hold: a view, a part of a larger
/// tensor, or what goes into one under another shape.
static bool isPartOfAnother(Operation *op) {
  if (isa<linalg::GenericOp>(op))
    op = op->hasOneUse() ? *op->user_begin() : nullptr;
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    return collapse->hasOneUse() &&
           isa<tensor::InsertSliceOp>(*collapse->user_begin());
  return op &&
         (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
              tensor::InsertSliceOp, tensor::EmptyOp>(op) ||
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>));
}

/// What is computed element by element and inserted under another shape is
/// built where it is inserted; empty-tensor elimination does not look through
/// the shape. Not where other tensors are made before it is inserted: what it
/// reads would be held beside them.
static void buildWhereInserted(tensor::InsertSliceOp insert) {
  auto collapse = insert.getSource().getDefiningOp<tensor::CollapseShapeOp>();
  auto made =
      collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
  if (!made || !collapse->hasOneUse() || !made->hasOneUse() ||
      made->getNumResults() != 1 || made.getNumReductionLoops() ||
      made->getBlock() != insert->getBlock() ||
      collapse->getBlock() != insert->getBlock() ||
      !made.getRegionOutputArgs()[0].use_empty() ||
      !made.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      insert.getSourceType() != collapse.getResultType() ||
      insert.getSourceType().getRank() != insert.getDestType().getRank())
    return;
  for (Operation *op = made->getNextNode(); op != insert;
       op = op->getNextNode())
    if (!isPartOfAnother(op))
      return;
  OpBuilder b(insert);
  Location loc = made.getLoc();
  Value part = tensor::ExtractSliceOp::create(
      b, loc, insert.getSourceType(), insert.getDest(),
      insert.getMixedOffsets(), insert.getMixedSizes(),
      insert.getMixedStrides());
  Value shape = tensor::ExpandShapeOp::create(
      b, loc, collapse.getSrcType(), part, collapse.getReassociationIndices(),
      tensor::getMixedSizes(b, loc, made.getDpsInits()[0]));
  made.getDpsInitsMutable()[0].set(shape);
  made->moveBefore(insert);
  collapse->moveBefore(insert);
}

namespace {
struct PrivateDestinationsPass final
    : impl::PrivateDestinationsPassBase<PrivateDestinationsPass> {
  void runOnOperation() override {
    // Users first: a fill is split before the empty tensor that it fills.
    giveEachUse([](Operation *op) {
      return !isa<tensor::EmptyOp>(op) && isCheapSource(op);
    });
    giveEachUse(llvm::IsaPred<tensor::EmptyOp>);
    getOperation()->walk(buildWhereInserted);
    getOperation()->walk(keepOutOfOutput);
    getOperation()->walk(beginInOutput);
  }

private:
  /// Gives each op that builds its result in one of `sources` one of its own.
  void giveEachUse(llvm::function_ref<bool(Operation *)> isSource) {
    SmallVector<Value> shared;
    getOperation()->walk([&](Operation *op) {
      if (isSource(op) && !op->use_empty() && !op->getResult(0).hasOneUse())
        shared.push_back(op->getResult(0));
    });
    UsesOfValues uses = usesInOrder(getOperation(), shared);
    OpBuilder builder(&getContext());
    for (Value source : shared) {
      Operation *op = source.getDefiningOp();
      for (OpOperand *use : uses[source]) {
        if (!isDestination(*use))
          continue;
        builder.setInsertionPoint(use->getOwner());
        use->set(builder.clone(*op)->getResult(0));
      }
      if (op->use_empty())
        op->erase();
    }
  }

  /// True if the user builds its result in this operand.
  static bool isDestination(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(user))
      return destination.isDpsInit(&use);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return use.get() == insert.getDest();
    if (auto insert = dyn_cast<tensor::InsertOp>(user))
      return use.get() == insert.getDest();
    // What a branch yields is its result's memory: several results that are one
    // tensor in one branch would share it.
    if (isa<scf::YieldOp>(user))
      return isa<scf::IfOp, scf::IndexSwitchOp>(user->getParentOp());
    return isa<LoopLikeOpInterface>(user);
  }
};
} // namespace
} // namespace shardc
