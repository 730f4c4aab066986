//===- SumAfterLoops.cpp - Sums of all iterations, made once --------------===//
//
// The gradient of a scan adds a sum over the batch to what it carries, in each
// iteration. Where that sum has to be exact it cannot wait for the loop's end
// as a partial value: what follows from it is rounded. What is summed can wait:
// the loop keeps it, one slot an iteration, and one sum over iterations and
// batch follows (docs/Rationale/Reproducible.md).
//
//===----------------------------------------------------------------------===//
#include "CarriedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_SUMAFTERLOOPSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool addsFromZero(ReduceOp op) {
  Block &body = op.getBody().front();
  return op->getNumResults() == 1 && isa<AddOp>(body.front()) &&
         body.front().getNextNode() == body.getTerminator() &&
         isZero(op.getInitValues().front(), /*orNegative=*/true);
}

/// True for ops that move elements, each to one place or several.
static bool moves(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t count = 1;
    for (int64_t dim : reduce.getDimensions())
      count *= typeOf(reduce.getInputs().front()).getDimSize(dim);
    return count == 1 && addsFromZero(reduce);
  }
  return isa<ReshapeOp, TransposeOp, BroadcastInDimOp>(op);
}

namespace {
/// An index as `scale` times the loop's counter and `offset`.
struct Affine {
  int64_t scale, offset;
  bool operator==(const Affine &) const = default;
};

/// A value of each iteration that is kept: its slots, and which is whose.
struct Slots {
  Value index; ///< in the loop
  Affine place;
  int64_t carried; ///< the number of the loop's operand; -1: yet to be made
};

/// What is added to carried value `number` in each iteration: `sum`, moved by
/// `moves`, the first last.
struct Added {
  unsigned number;
  Operation *sum;
  SmallVector<Operation *> moves;
};

class LoopSums {
public:
  explicit LoopSums(WhileOp loop) : loop(loop) {}

  bool find();
  void apply();

private:
  std::optional<Affine> affine(Value index);
  bool isCarriedUnchanged(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == body &&
           end->getOperand(argument.getArgNumber()) == argument;
  }
  std::optional<Added> findAdded(unsigned number);
  /// The slots from which `value` was read, if each iteration reads its own.
  std::optional<Slots> readSlots(Value value);
  /// Notes where the factors of `added` are kept. False if that is not to be.
  bool keep(const Added &added);
  int64_t keptElements();
  Value sumAfter(OpBuilder &builder, const Added &added);

  WhileOp loop;
  Block *body = nullptr;
  Operation *end = nullptr;
  CountedLoop count;
  int64_t tripCount = 0, room = 0;
  SmallVector<Added> sums;
  llvm::MapVector<Value, Slots> slots;
};
} // namespace

std::optional<Affine> LoopSums::affine(Value index) {
  if (index == body->getArgument(count.counter))
    return Affine{1, 0};
  Operation *op = index.getDefiningOp();
  if (auto constant = dyn_cast_if_present<ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !splat.getElementType().isInteger())
      return std::nullopt;
    return Affine{0, splat.getSplatValue<APInt>().getSExtValue()};
  }
  if (!isa_and_present<AddOp, SubtractOp>(op))
    return std::nullopt;
  std::optional<Affine> lhs = affine(op->getOperand(0)),
                        rhs = affine(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t sign = isa<AddOp>(op) ? 1 : -1;
  return Affine{lhs->scale + sign * rhs->scale,
                lhs->offset + sign * rhs->offset};
}

std::optional<Slots> LoopSums::readSlots(Value value) {
  Value read = value;
  if (auto reshape = read.getDefiningOp<ReshapeOp>())
    read = reshape.getOperand();
  auto slice = read.getDefiningOp<DynamicSliceOp>();
  if (!slice || !isCarriedUnchanged(slice.getOperand()))
    return std::nullopt;
  RankedTensorType type = typeOf(slice.getOperand());
  SmallVector<int64_t> slot(type.getShape());
  if (slot.empty() || slot.front() != tripCount)
    return std::nullopt;
  slot.front() = 1;
  std::optional<Affine> place = affine(slice.getStartIndices().front());
  bool isOwn =
      place && (*place == Affine{1, 0} || *place == Affine{-1, tripCount - 1});
  if (!isOwn || typeOf(slice.getResult()).getShape() != ArrayRef(slot) ||
      typeOf(value).getShape() != ArrayRef(slot).drop_front())
    return std::nullopt;
  return Slots{slice.getStartIndices().front(), *place,
               cast<BlockArgument>(slice.getOperand()).getArgNumber()};
}

std::optional<Added> LoopSums::findAdded(unsigned number) {
  BlockArgument carried = body->getArgument(number);
  auto add = end->getOperand(number).getDefiningOp<AddOp>();
  if (!add || add->getBlock() != body || !add->hasOneUse() ||
      !carried.hasOneUse() ||
      !loop.getCond().front().getArgument(number).use_empty() ||
      !isa<FloatType>(typeOf(carried).getElementType()) ||
      (add.getLhs() == carried) == (add.getRhs() == carried))
    return std::nullopt;
  Added added{number, nullptr, {}};
  Value value = add.getLhs() == carried ? add.getRhs() : add.getLhs();
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || !value.hasOneUse())
      return std::nullopt;
    if (!moves(op)) {
      added.sum = op;
      break;
    }
    added.moves.push_back(op);
    value = op->getOperand(0);
  }
  auto reduce = dyn_cast<ReduceOp>(added.sum);
  if (spmd::contract::WholeSum::has(added.sum) ||
      !(reduce ? addsFromZero(reduce) : isa<DotGeneralOp>(added.sum)))
    return std::nullopt;
  return added;
}

/// What a sum is made of.
static ValueRange factorsOf(Operation *sum) {
  return isa<ReduceOp>(sum) ? sum->getOperands().take_front()
                            : ValueRange(sum->getOperands());
}

bool LoopSums::keep(const Added &added) {
  SmallVector<Value> anew;
  std::optional<Slots> known;
  llvm::MapVector<Value, Slots> found;
  for (Value factor : factorsOf(added.sum)) {
    std::optional<Slots> own = readSlots(factor);
    if (auto at = slots.find(factor); at != slots.end())
      own = at->second;
    if (own && (!known || known->place == own->place)) {
      known = known ? known : own;
      found.insert({factor, *own});
      continue;
    }
    // One for all iterations is no factor of each.
    if (own || !factor.getDefiningOp() ||
        factor.getDefiningOp()->getBlock() != body)
      return false;
    anew.push_back(factor);
  }
  if (!known)
    known = Slots{body->getArgument(count.counter), {1, 0}, -1};
  int64_t needed = 0;
  for (Value factor : anew)
    if (found.insert({factor, {known->index, known->place, -1}}).second)
      needed += tripCount * typeOf(factor).getNumElements();
  if (needed > room)
    return false;
  room -= needed;
  for (auto &[factor, own] : found)
    slots.insert({factor, own});
  return true;
}

/// What the loop keeps or reads by iterations as it is.
int64_t LoopSums::keptElements() {
  int64_t count = 0;
  for (BlockArgument argument : body->getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() < 2 || type.getDimSize(0) != tripCount)
      continue;
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) {
          return isa<DynamicSliceOp, DynamicUpdateSliceOp>(user) &&
                 user->getOperand(0) == argument;
        }))
      count += type.getNumElements();
  }
  return count;
}

bool LoopSums::find() {
  std::optional<CountedLoop> counted = readCountedLoop(loop);
  if (!counted || counted->begin != 0 || counted->step != 1 ||
      counted->tripCount() < 2)
    return false;
  count = *counted;
  tripCount = count.tripCount();
  body = &loop.getBody().front();
  end = body->getTerminator();
  room = keptElements();
  SmallVector<Added> found;
  for (unsigned number = 0; number < loop->getNumOperands(); ++number)
    if (std::optional<Added> added = findAdded(number))
      found.push_back(std::move(*added));
  // First those of which something is kept already, which says in which order.
  llvm::stable_sort(found, [&](const Added &one, const Added &other) {
    auto hasSlots = [&](const Added &added) {
      return llvm::any_of(factorsOf(added.sum), [&](Value factor) {
        return readSlots(factor).has_value();
      });
    };
    return hasSlots(one) && !hasSlots(other);
  });
  for (Added &added : found)
    if (keep(added))
      sums.push_back(std::move(added));
  return !sums.empty();
}

Value LoopSums::sumAfter(OpBuilder &builder, const Added &added) {
  IRMapping map;
  auto copy = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto constant = operand.getDefiningOp<ConstantOp>();
          constant && constant->getBlock() == body && !map.contains(operand))
        map.map(operand, builder.clone(*constant)->getResult(0));
    return builder.clone(*op, map);
  };
  for (Value factor : factorsOf(added.sum))
    map.map(factor, loop->getResult(slots.find(factor)->second.carried));
  Operation *sum = copy(added.sum);
  auto withSlots = [](ArrayRef<int64_t> dims, bool isSummed) {
    SmallVector<int64_t> all;
    if (isSummed)
      all.push_back(0);
    for (int64_t dim : dims)
      all.push_back(dim + 1);
    return all;
  };
  if (auto reduce = dyn_cast<ReduceOp>(sum)) {
    reduce.setDimensions(withSlots(reduce.getDimensions(), true));
  } else {
    auto dot = cast<DotGeneralOp>(sum);
    DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    dot.setDotDimensionNumbersAttr(DotDimensionNumbersAttr::get(
        builder.getContext(),
        withSlots(numbers.getLhsBatchingDimensions(), false),
        withSlots(numbers.getRhsBatchingDimensions(), false),
        withSlots(numbers.getLhsContractingDimensions(), true),
        withSlots(numbers.getRhsContractingDimensions(), true)));
  }
  map.map(added.sum->getResult(0), sum->getResult(0));
  Value value = sum->getResult(0);
  for (Operation *move : llvm::reverse(added.moves)) {
    Operation *moved = copy(move);
    map.map(move->getResult(0), moved->getResult(0));
    value = moved->getResult(0);
  }
  return AddOp::create(builder, added.sum->getLoc(), value.getType(),
                       loop->getOperand(added.number), value);
}

void LoopSums::apply() {
  OpBuilder builder(loop);
  SmallVector<Value> inits, made;
  for (auto &[factor, own] : slots) {
    if (own.carried >= 0)
      continue;
    RankedTensorType type = typeOf(factor);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), tripCount);
    own.carried = loop->getNumOperands() + inits.size();
    made.push_back(factor);
    inits.push_back(ConstantOp::create(
        builder, factor.getLoc(),
        cast<ElementsAttr>(builder.getZeroAttr(type.clone(shape)))));
  }
  loop = addCarried(loop, inits);
  for (Value factor : made) {
    const Slots &own = slots.find(factor)->second;
    BlockArgument all = body->getArgument(own.carried);
    builder.setInsertionPoint(end);
    SmallVector<int64_t> shape(typeOf(all).getShape());
    shape.front() = 1;
    Value slot = ReshapeOp::create(builder, factor.getLoc(),
                                   typeOf(all).clone(shape), factor);
    Value zero = ConstantOp::create(
        builder, factor.getLoc(),
        cast<ElementsAttr>(builder.getZeroAttr(own.index.getType())));
    SmallVector<Value> starts(shape.size(), zero);
    starts.front() = own.index;
    Value next = DynamicUpdateSliceOp::create(builder, factor.getLoc(),
                                              all.getType(), all, slot, starts);
    end->setOperand(own.carried, next);
  }
  builder.setInsertionPointAfter(loop);
  llvm::BitVector gone(loop->getNumOperands());
  for (const Added &added : sums) {
    Value sum = sumAfter(builder, added);
    loop->getResult(added.number).replaceAllUsesWith(sum);
    gone.set(added.number);
  }
  eraseCarried(loop, gone);
}

namespace {
struct SumAfterLoopsPass final
    : shardc::impl::SumAfterLoopsPassBase<SumAfterLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    // Inner ones first: what they leave to the loop around them is of its kind.
    SmallVector<WhileOp> loops;
    getOperation().walk<WalkOrder::PostOrder>(
        [&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops)
      if (LoopSums sums(loop); sums.find())
        sums.apply();
  }
};
} // namespace
