//===- RecomputeScores.cpp - Scores that one loop keeps for another -------===//
//
// The gradient of a scan over layers is a second loop. What it needs of the
// first, JAX keeps, one slot a layer: queries, keys and values, and the
// probabilities as well. These follow from queries and keys; so the second loop
// computes them, as it would under jax.checkpoint, and its body has attention
// and its gradient side by side.
//
//===----------------------------------------------------------------------===//
#include "CarriedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Raise/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace shardc {
#define GEN_PASS_DEF_RECOMPUTESCORESPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Longer derivations are left where they are.
static constexpr size_t kMaxOps = 256;

static int64_t countOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

namespace {

/// A tensor with a slot for each iteration, which a loop fills.
struct Stack {
  unsigned number; ///< among what the loop carries
  Value update;    ///< one slot, with its dim of one
  Value kept;      ///< the same without it, as the program has it
};

/// A loop that fills stacks.
class Keeper {
public:
  explicit Keeper(stablehlo::WhileOp loop)
      : loop(loop), body(loop.getBody().front()) {}
  /// Finds stacks; false if there is none.
  bool read();
  /// What attention leaves, of those.
  SmallVector<Stack> findScores();
  /// Computes slot `index` of `stack` anew before `builder`'s place, of the
  /// stacks that `reader` carries unchanged.
  Value compute(const Stack &stack, stablehlo::WhileOp reader, Value index,
                IRMapping &map, OpBuilder &builder);

private:
  bool isUnchanged(BlockArgument argument) const {
    return body.getTerminator()->getOperand(argument.getArgNumber()) ==
           argument;
  }
  /// True if `value` follows from what is carried from iteration to iteration
  /// and changes.
  bool followsFromState(Value value);
  /// True if `value` follows from a product of queries and keys.
  bool followsFromScores(Value value);
  bool isScores(Operation *op);
  /// True for products of what follows from scores with values: the attention
  /// that they are for.
  bool isAverage(Operation *op);
  /// Adds ops that `value` follows from, operands first, up to what is kept;
  /// false if that is not enough.
  bool findDerivation(Value value, llvm::SetVector<Operation *> &ops);
  const Stack *leafOf(Value value) const {
    auto found = stackOf.find(value);
    return found == stackOf.end() ? nullptr : &stacks[found->second];
  }

  stablehlo::WhileOp loop;
  Block &body;
  CountedLoop counted{};
  SmallVector<Stack> stacks;
  DenseMap<Value, unsigned> stackOf;
  DenseMap<Value, bool> state, scores;
};
} // namespace

/// True if all start indices but the first are zeros, and the first dim alone
/// is taken one by one.
static bool isSlot(OperandRange starts, RankedTensorType whole,
                   ArrayRef<int64_t> part) {
  if (whole.getRank() < 2 || part.front() != 1 ||
      whole.getShape().drop_front() != part.drop_front())
    return false;
  // Other dims are whole: where they begin is clamped to 0.
  return !starts.empty();
}

bool Keeper::read() {
  std::optional<CountedLoop> found = readCountedLoop(loop);
  if (!found || found->begin != 0 || found->step != 1)
    return false;
  counted = *found;
  Value counter = body.getArgument(counted.counter);
  for (auto [number, next] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    auto write = next.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    BlockArgument argument = body.getArgument(number);
    if (!write || write.getOperand() != argument || !argument.hasOneUse() ||
        !write->hasOneUse() || !loop.getCond().getArgument(number).use_empty())
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (!isSlot(
            write.getStartIndices(), type,
            cast<RankedTensorType>(write.getUpdate().getType()).getShape()) ||
        write.getStartIndices().front() != counter ||
        type.getDimSize(0) != counted.tripCount())
      continue;
    Value update = write.getUpdate(), kept = update;
    if (Operation *op = update.getDefiningOp();
        op && isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op)) {
      auto from = cast<RankedTensorType>(op->getOperand(0).getType());
      auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
      bool isInOrder =
          !broadcast || llvm::equal(broadcast.getBroadcastDimensions(),
                                    llvm::seq<int64_t>(1, from.getRank() + 1));
      if (from.getShape() == type.getShape().drop_front() && isInOrder)
        kept = op->getOperand(0);
    }
    stackOf.try_emplace(kept, stacks.size());
    stacks.push_back({unsigned(number), update, kept});
  }
  return !stacks.empty();
}

bool Keeper::followsFromState(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &body &&
           argument.getArgNumber() != counted.counter && !isUnchanged(argument);
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &body)
    return false;
  if (auto known = state.find(value); known != state.end())
    return known->second;
  bool follows = llvm::any_of(op->getOperands(), [&](Value operand) {
    return followsFromState(operand);
  });
  return state[value] = follows;
}

bool Keeper::isScores(Operation *op) {
  auto product = dyn_cast<stablehlo::DotGeneralOp>(op);
  return product &&
         countOf(product.getResult()) >
             countOf(product.getLhs()) + countOf(product.getRhs()) &&
         followsFromState(product.getLhs()) &&
         followsFromState(product.getRhs());
}

bool Keeper::isAverage(Operation *op) {
  auto product = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!product)
    return false;
  Value weights = product.getLhs(), values = product.getRhs();
  if (!followsFromScores(weights))
    std::swap(weights, values);
  return followsFromScores(weights) && !followsFromScores(values) &&
         countOf(weights) > countOf(values) + countOf(product.getResult());
}

bool Keeper::followsFromScores(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return false;
  if (auto known = scores.find(value); known != scores.end())
    return known->second;
  bool follows =
      isScores(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
        return followsFromScores(operand);
      });
  return scores[value] = follows;
}

bool Keeper::findDerivation(Value value, llvm::SetVector<Operation *> &ops) {
  if (leafOf(value) && !followsFromScores(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != &body || isUnchanged(argument);
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &body || ops.contains(op))
    return true;
  // No product is done again but those of attention.
  if (!isMemoryEffectFree(op) || op->getNumResults() != 1 ||
      (isa<stablehlo::DotGeneralOp>(op) && !isScores(op) && !isAverage(op)))
    return false;
  bool hasOwnRegions = llvm::all_of(op->getRegions(), [&](Region &region) {
    bool sees = false;
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        sees |= !region.isAncestor(operand.getParentRegion()) &&
                operand.getParentBlock() == &body;
    });
    return !sees;
  });
  if (!hasOwnRegions)
    return false;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    // A slot of what has one for each iteration.
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op);
    if (slice && number == 1 && operand == body.getArgument(counted.counter) &&
        cast<RankedTensorType>(slice.getOperand().getType()).getDimSize(0) ==
            counted.tripCount() &&
        slice.getSliceSizes().front() == 1)
      continue;
    if (!findDerivation(operand, ops) || ops.size() > kMaxOps)
      return false;
  }
  ops.insert(op);
  return true;
}

SmallVector<Stack> Keeper::findScores() {
  SmallVector<Stack> found;
  bool some = false;
  for (const Stack &stack : stacks) {
    llvm::SetVector<Operation *> ops;
    if (!followsFromScores(stack.kept) || !findDerivation(stack.kept, ops))
      continue;
    found.push_back(stack);
    bool isLarge = llvm::any_of(ops, [&](Operation *op) {
      return isScores(op) && countOf(op->getResult(0)) <= countOf(stack.kept);
    });
    some |= isLarge && llvm::any_of(ops, [](Operation *op) {
              return isa<stablehlo::ExpOp>(op);
            });
  }
  return some ? found : SmallVector<Stack>();
}

Value Keeper::compute(const Stack &stack, stablehlo::WhileOp reader,
                      Value index, IRMapping &map, OpBuilder &builder) {
  if (Value known = map.lookupOrNull(stack.kept))
    return known;
  llvm::SetVector<Operation *> ops;
  if (!findDerivation(stack.kept, ops))
    return {};
  Block &where = reader.getBody().front();
  for (Operation *op : ops) {
    if (map.contains(op->getResult(0)))
      continue;
    for (Value operand : op->getOperands()) {
      if (map.contains(operand))
        continue;
      const Stack *leaf =
          followsFromScores(operand) ? nullptr : leafOf(operand);
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!leaf && argument && argument.getOwner() == &body) {
        bool counts = argument.getArgNumber() == counted.counter;
        map.map(operand,
                counts ? index : loop->getOperand(argument.getArgNumber()));
      }
      if (!leaf)
        continue;
      // The slot of what is kept.
      Value carried;
      for (auto [number, value] : llvm::enumerate(reader->getOperands()))
        if (value == loop->getResult(leaf->number) &&
            where.getTerminator()->getOperand(number) ==
                where.getArgument(number))
          carried = where.getArgument(number);
      if (!carried)
        return {};
      auto type = cast<RankedTensorType>(carried.getType());
      SmallVector<Value> starts{index};
      for (int64_t dim = 1; dim < type.getRank(); ++dim)
        starts.push_back(stablehlo::ConstantOp::create(
            builder, op->getLoc(),
            cast<ElementsAttr>(builder.getZeroAttr(index.getType()))));
      SmallVector<int64_t> sizes(type.getShape());
      sizes[0] = 1;
      Value slot = stablehlo::DynamicSliceOp::create(
          builder, op->getLoc(), type.clone(sizes), carried, starts, sizes);
      if (slot.getType() != operand.getType())
        slot = stablehlo::ReshapeOp::create(builder, op->getLoc(),
                                            operand.getType(), slot);
      map.map(operand, slot);
    }
    builder.clone(*op, map);
  }
  return map.lookupOrNull(stack.kept);
}

/// Lets `reader` compute what it reads of `stack`, its operand `number`.
/// Returns false, maybe with ops that nobody uses, where it cannot.
static bool recompute(Keeper &keeper, const Stack &stack,
                      stablehlo::WhileOp reader, unsigned number,
                      llvm::MapVector<Value, IRMapping> &maps) {
  Block &body = reader.getBody().front();
  BlockArgument argument = body.getArgument(number);
  if (body.getTerminator()->getOperand(number) != argument ||
      !reader.getCond().getArgument(number).use_empty() ||
      !reader->getResult(number).use_empty())
    return false;
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<stablehlo::DynamicSliceOp> slices;
  for (Operation *user : argument.getUsers()) {
    if (user == body.getTerminator())
      continue;
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user);
    if (!slice || slice->getBlock() != &body ||
        !isSlot(slice.getStartIndices(), type, slice.getSliceSizes()))
      return false;
    slices.push_back(slice);
  }
  SmallVector<std::pair<stablehlo::DynamicSliceOp, Value>> computed;
  for (stablehlo::DynamicSliceOp slice : slices) {
    Value index = slice.getStartIndices().front();
    OpBuilder builder(slice.getContext());
    // After what was computed of the same slot before.
    auto &map = maps[index];
    Operation *after = index.getDefiningOp();
    for (auto [from, to] : map.getValueMap())
      if (Operation *op = to.getDefiningOp();
          op && op->getBlock() == &body &&
          (!after || after->getBlock() != &body || after->isBeforeInBlock(op)))
        after = op;
    if (after && after->getBlock() == &body)
      builder.setInsertionPointAfter(after);
    else
      builder.setInsertionPointToStart(&body);
    Value value = keeper.compute(stack, reader, index, map, builder);
    if (!value)
      return false;
    computed.push_back({slice, value});
  }
  for (auto [slice, value] : computed) {
    // In front of whoever reads it, and behind what it follows from.
    OpBuilder builder(slice);
    if (!value.getDefiningOp()->isBeforeInBlock(slice))
      builder.setInsertionPointAfterValue(value);
    Value slot = value;
    if (slot.getType() != slice.getType())
      slot = stablehlo::ReshapeOp::create(builder, slice.getLoc(),
                                          slice.getType(), value);
    slice.replaceAllUsesWith(slot);
    slice.erase();
  }
  return true;
}

/// Treats the stacks of `loop`; returns whether anything changed.
static bool recomputeScores(stablehlo::WhileOp loop) {
  Keeper keeper(loop);
  if (!keeper.read())
    return false;
  SmallVector<Stack> found = keeper.findScores();
  if (found.empty())
    return false;
  bool changed = false;
  llvm::MapVector<Operation *, llvm::BitVector> readers;
  llvm::MapVector<Operation *, llvm::MapVector<Value, IRMapping>> maps;
  llvm::BitVector gone(loop->getNumOperands());
  for (const Stack &stack : found) {
    bool isRead = false;
    Value result = loop->getResult(stack.number);
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      auto reader = dyn_cast<stablehlo::WhileOp>(use.getOwner());
      if (!reader || reader->getBlock() != loop->getBlock() ||
          !recompute(keeper, stack, reader, use.getOperandNumber(),
                     maps[reader])) {
        isRead = true;
        continue;
      }
      auto &bits = readers[reader];
      bits.resize(reader->getNumOperands());
      bits.set(use.getOperandNumber());
      changed = true;
    }
    if (!isRead)
      gone.set(stack.number);
  }
  for (auto &[reader, bits] : readers)
    eraseCarried(cast<stablehlo::WhileOp>(reader), bits);
  if (gone.any())
    eraseCarried(loop, gone);
  return changed;
}

namespace {
struct RecomputeScoresPass final
    : shardc::impl::RecomputeScoresPassBase<RecomputeScoresPass> {
  using Base::Base;
  void runOnOperation() override {
    // Loops that change are other ops afterwards.
    bool changed = false, again = true;
    while (again) {
      again = getOperation()
                  .walk([](stablehlo::WhileOp loop) {
                    return recomputeScores(loop) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
                  })
                  .wasInterrupted();
      changed |= again;
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
