//===- FollowValues.cpp - Where values of programs of blocks come from ----===//
//
// From a value to what it is: through loops iteration by iteration, branches
// that are known, regions, and what was written to a buffer before it is read
// from there. Integers that follow from the rank, which say that, are known for
// every rank. Each is found once, so that reading a ring takes steps as its
// iterations.
//
//===----------------------------------------------------------------------===//
#include "BlockReader.h"
#include "Match.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Loops with more iterations are not followed.
static constexpr int64_t kMostIterations = 128;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

//===----------------------------------------------------------------------===//
// Where values come from
//===----------------------------------------------------------------------===//

static Value yielded(Region &region, unsigned number) {
  return region.front().getTerminator()->getOperand(number);
}

/// The region of a branch that is taken for `number`.
static Region &regionFor(Operation *branch, int64_t number) {
  int64_t last = branch->getNumRegions() - 1;
  if (isa<stablehlo::IfOp>(branch))
    return branch->getRegion(number ? 0 : 1);
  return branch->getRegion(number < 0 || number > last ? last : number);
}

Value BlockReader::follow(Value value, unsigned &frame,
                          spmd::ShardingAttr &sharding, unsigned lanes) {
  while (true) {
    ++steps;
    // Out of loops that the value is not of.
    while (frames[frame].loop &&
           !frames[frame].loop->isProperAncestor(
               value.getParentBlock()->getParentOp()) &&
           frames[frame].loop != value.getParentBlock()->getParentOp())
      frame = frames[frame].parent;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      unsigned number = argument.getArgNumber();
      if (auto loop = dyn_cast<stablehlo::WhileOp>(owner);
          loop && frames[frame].loop == owner) {
        Frame here = frames[frame];
        value = here.iteration == 0 ? owner->getOperand(number)
                                    : yielded(owner->getRegion(1), number);
        frame = here.iteration == 0
                    ? here.parent
                    : frameOf(here.parent, owner, here.iteration - 1);
        continue;
      }
      auto manual = dyn_cast<spmd::ManualOp>(owner);
      if (!manual)
        return value;
      value = manual.getInputs()[number];
      sharding = cast<spmd::ShardingAttr>(manual.getInShardings()[number]);
      auto maker = value.getDefiningOp<spmd::ManualOp>();
      unsigned result = maker ? cast<OpResult>(value).getResultNumber() : 0;
      if (!maker || maker.getManualAxes() != manual.getManualAxes() ||
          maker.getOutShardings()[result] != sharding)
        return value;
      value = yielded(maker.getBody(), result);
      sharding = nullptr;
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isa<stablehlo::WhileOp>(op)) {
      std::optional<int64_t> count = countIterations(op, frame);
      if (!count)
        return value;
      value = *count == 0 ? op->getOperand(number)
                          : yielded(op->getRegion(1), number);
      if (*count > 0)
        frame = frameOf(frame, op, *count - 1);
    } else if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) {
      std::optional<int64_t> branch = numberOn(op->getOperand(0), frame, lanes);
      if (!branch)
        return value;
      value = yielded(regionFor(op, *branch), number);
    } else if (isa<stablehlo::OptimizationBarrierOp, spmd::ConstrainOp>(op)) {
      value = op->getOperand(number);
    } else {
      return value;
    }
  }
}

std::optional<int64_t> BlockReader::countIterations(Operation *loop,
                                                    unsigned frame) {
  auto [it, isNew] = tripCounts.try_emplace({loop, frame}, std::nullopt);
  if (!isNew)
    return it->second;
  for (int64_t iteration = 0; iteration <= kMostIterations; ++iteration) {
    std::optional<int64_t> goesOn =
        numberOn(yielded(loop->getRegion(0), 0),
                 frameOf(frame, loop, iteration), kAllRanks);
    if (!goesOn)
      return std::nullopt;
    if (!*goesOn)
      return tripCounts[{loop, frame}] = iteration;
  }
  return std::nullopt;
}

std::optional<int64_t> BlockReader::numberOn(Value value, unsigned frame,
                                             unsigned lanes) {
  const Numbers &numbers = numbersOf(value, frame);
  if (!numbers.table || tables[lanes].empty())
    return std::nullopt;
  const RankTable &table = *numbers.table;
  int64_t first = table[tables[lanes].front()];
  if (!numbers.isCommon && llvm::any_of(tables[lanes], [&](int64_t rank) {
        return table[rank] != first;
      }))
    return std::nullopt;
  return first;
}

//===----------------------------------------------------------------------===//
// What was written to buffers
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>>
BlockReader::placeOn(ValueRange starts, unsigned frame, unsigned lanes) {
  SmallVector<int64_t> place;
  for (Value start : starts) {
    std::optional<int64_t> number = numberOn(start, frame, lanes);
    if (!number)
      return std::nullopt;
    place.push_back(*number);
  }
  return place;
}

static stablehlo::DynamicUpdateSliceOp asUpdate(Operation *op) {
  return cast<stablehlo::DynamicUpdateSliceOp>(op);
}

static ArrayRef<int64_t> pieceOf(Operation *update) {
  return typeOf(asUpdate(update).getUpdate()).getShape();
}

/// True if pieces of `size` at both places are the same or apart.
static bool isWholePieces(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                          ArrayRef<int64_t> size) {
  return llvm::all_of(llvm::seq<size_t>(0, size.size()), [&](size_t dim) {
    return size[dim] > 0 && (a[dim] - b[dim]) % size[dim] == 0;
  });
}

unsigned BlockReader::addWrite(Operation *update, unsigned frame,
                               SmallVector<int64_t> place,
                               std::optional<unsigned> before) {
  unsigned number = writes.size(),
           buffer = before ? writes[*before].buffer : buffers.size();
  if (!before) {
    buffers.emplace_back();
    buffers.back().first = number;
  } else {
    Buffer &to = buffers[buffer];
    const Write &first = writes[to.first];
    ArrayRef<int64_t> size = pieceOf(update);
    to.isRegular &= to.last == *before && pieceOf(first.update) == size &&
                    isWholePieces(first.place, place, size);
  }
  buffers[buffer].last = number;
  buffers[buffer].byPlace[place].push_back(number);
  writes.push_back({update, frame, std::move(place), before, buffer});
  return number;
}

std::optional<unsigned> BlockReader::lastWrite(Value whole, unsigned frame,
                                               unsigned lanes) {
  using Key = std::tuple<void *, unsigned, unsigned>;
  struct Unseen {
    Key key;
    Operation *update;
    unsigned frame;
    SmallVector<int64_t> place;
  };
  // Back to one that was seen, or to the first; then they are added in the
  // order in which they are written.
  SmallVector<Unseen> unseen;
  std::optional<unsigned> last;
  while (true) {
    spmd::ShardingAttr sharding;
    whole = follow(whole, frame, sharding, lanes);
    Key key{whole.getAsOpaquePointer(), frame, lanes};
    if (auto it = lastWrites.find(key); it != lastWrites.end()) {
      last = it->second;
      break;
    }
    auto update = sharding
                      ? nullptr
                      : whole.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    std::optional<SmallVector<int64_t>> place =
        update ? placeOn(update.getStartIndices(), frame, lanes) : std::nullopt;
    if (!place)
      break;
    unseen.push_back({key, update, frame, std::move(*place)});
    whole = update.getOperand();
  }
  for (Unseen &one : llvm::reverse(unseen))
    lastWrites[one.key] = last =
        addWrite(one.update, one.frame, std::move(one.place), last);
  return last;
}

std::optional<std::pair<Value, unsigned>>
BlockReader::findWritten(Operation *op, unsigned frame, unsigned lanes) {
  auto slice = cast<stablehlo::DynamicSliceOp>(op);
  std::optional<SmallVector<int64_t>> wanted =
      placeOn(slice.getStartIndices(), frame, lanes);
  if (!wanted)
    return std::nullopt;
  ArrayRef<int64_t> size = typeOf(slice.getResult()).getShape();
  std::optional<unsigned> number = lastWrite(slice.getOperand(), frame, lanes);
  auto found = [&](const Write &write) {
    return std::pair(Value(asUpdate(write.update).getUpdate()), write.frame);
  };
  if (!number)
    return std::nullopt;
  Buffer &buffer = buffers[writes[*number].buffer];
  const Write &first = writes[buffer.first];
  if (buffer.isRegular && pieceOf(first.update) == size &&
      isWholePieces(first.place, *wanted, size)) {
    auto it = buffer.byPlace.find(*wanted);
    if (it == buffer.byPlace.end())
      return std::nullopt;
    auto after = llvm::upper_bound(it->second, *number);
    if (after == it->second.begin())
      return std::nullopt;
    return found(writes[*std::prev(after)]);
  }
  for (; number; number = writes[*number].before) {
    ++steps;
    const Write &write = writes[*number];
    ArrayRef<int64_t> written = pieceOf(write.update);
    bool isSame = written == size && write.place == *wanted, isApart = false;
    for (auto [dim, place] : llvm::enumerate(write.place))
      isApart |= place + written[dim] <= (*wanted)[dim] ||
                 (*wanted)[dim] + size[dim] <= place;
    if (isSame)
      return found(write);
    if (!isApart)
      return std::nullopt;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Integers of ranks
//===----------------------------------------------------------------------===//

const BlockReader::Numbers &BlockReader::numbersOf(Value value,
                                                   unsigned frame) {
  static const Numbers none;
  spmd::ShardingAttr sharding;
  value = follow(value, frame, sharding, kAllRanks);
  auto type = typeOf(value);
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !type.getElementType().isIntOrIndex())
    return none;
  auto [it, isNew] = numbers.try_emplace({value.getAsOpaquePointer(), frame});
  if (!isNew)
    return it->second;
  // None while it is found: what hangs on itself is not known.
  std::optional<RankTable> table = evaluate(value, frame);
  it->second.isCommon = table && llvm::all_equal(*table);
  it->second.table = std::move(table);
  return it->second;
}

static std::optional<int64_t> compute(Operation *op, ArrayRef<int64_t> a) {
  bool isBool = elementOf(op->getResult(0)).isInteger(1);
  if (isa<stablehlo::AddOp>(op))
    return isBool ? (a[0] | a[1]) : a[0] + a[1];
  if (isa<stablehlo::SubtractOp>(op))
    return a[0] - a[1];
  if (isa<stablehlo::MulOp>(op))
    return a[0] * a[1];
  if (isa<stablehlo::DivOp>(op))
    return a[1] == 0 ? std::nullopt : std::optional(a[0] / a[1]);
  if (isa<stablehlo::RemOp>(op))
    return a[1] == 0 ? std::nullopt : std::optional(a[0] % a[1]);
  if (isa<stablehlo::MaxOp>(op))
    return std::max(a[0], a[1]);
  if (isa<stablehlo::MinOp>(op))
    return std::min(a[0], a[1]);
  if (isa<stablehlo::AndOp>(op))
    return a[0] & a[1];
  if (isa<stablehlo::OrOp>(op))
    return a[0] | a[1];
  if (isa<stablehlo::XorOp>(op))
    return a[0] ^ a[1];
  if (isa<stablehlo::NotOp>(op))
    return isBool ? int64_t(!a[0]) : ~a[0];
  if (isa<stablehlo::NegOp>(op))
    return -a[0];
  if (isa<stablehlo::AbsOp>(op))
    return std::abs(a[0]);
  if (isa<stablehlo::SignOp>(op))
    return (a[0] > 0) - (a[0] < 0);
  if (isa<stablehlo::SelectOp>(op))
    return a[0] ? a[1] : a[2];
  if (isa<stablehlo::ClampOp>(op))
    return std::min(std::max(a[0], a[1]), a[2]);
  if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
          stablehlo::TransposeOp>(op))
    return a[0];
  if (isa<stablehlo::ConvertOp>(op))
    return isBool ? int64_t(a[0] != 0) : a[0];
  auto comparison = dyn_cast<stablehlo::CompareOp>(op);
  if (!comparison)
    return std::nullopt;
  switch (comparison.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::EQ:
    return a[0] == a[1];
  case stablehlo::ComparisonDirection::NE:
    return a[0] != a[1];
  case stablehlo::ComparisonDirection::LT:
    return a[0] < a[1];
  case stablehlo::ComparisonDirection::LE:
    return a[0] <= a[1];
  case stablehlo::ComparisonDirection::GT:
    return a[0] > a[1];
  case stablehlo::ComparisonDirection::GE:
    return a[0] >= a[1];
  }
  return std::nullopt;
}

/// Element `place` of a line of integers.
static std::optional<int64_t> elementAt(Value line, int64_t place) {
  place = std::clamp<int64_t>(place, 0, typeOf(line).getNumElements() - 1);
  if (line.getDefiningOp<stablehlo::IotaOp>())
    return place;
  auto constant = line.getDefiningOp<stablehlo::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseIntElementsAttr>(Attribute(constant.getValue()))
               : DenseIntElementsAttr();
  if (!dense)
    return std::nullopt;
  APInt number = dense.isSplat() ? dense.getSplatValue<APInt>()
                                 : *(dense.value_begin<APInt>() + place);
  return dense.getElementType().isInteger(1) ||
                 dense.getElementType().isUnsignedInteger()
             ? int64_t(number.getZExtValue())
             : number.getSExtValue();
}

std::optional<RankTable> BlockReader::evaluate(Value value, unsigned frame) {
  Operation *op = value.getDefiningOp();
  size_t ranks = mesh.getNumRanks();
  if (!op)
    return std::nullopt;
  if (isa<stablehlo::PartitionIdOp>(op))
    return allRanks;
  // Ranks that take different branches.
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) {
    const std::optional<RankTable> &branch =
        numbersOf(op->getOperand(0), frame).table;
    if (!branch)
      return std::nullopt;
    RankTable result;
    for (auto [rank, number] : llvm::enumerate(*branch)) {
      const std::optional<RankTable> &table =
          numbersOf(yielded(regionFor(op, number),
                            cast<OpResult>(value).getResultNumber()),
                    frame)
              .table;
      if (!table)
        return std::nullopt;
      result.push_back((*table)[rank]);
    }
    return result;
  }
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op)) {
    std::optional<int64_t> number = elementAt(value, 0);
    return number ? std::optional(RankTable(ranks, *number)) : std::nullopt;
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    unsigned inner = frame;
    spmd::ShardingAttr sharding;
    Value line = follow(slice.getOperand(), inner, sharding, kAllRanks);
    if (typeOf(line).getRank() != 1 || sharding)
      return std::nullopt;
    const std::optional<RankTable> &places =
        numbersOf(slice.getStartIndices()[0], frame).table;
    if (!places)
      return std::nullopt;
    RankTable result;
    for (int64_t place : *places) {
      std::optional<int64_t> number = elementAt(line, place);
      if (!number)
        break;
      result.push_back(*number);
    }
    if (result.size() == ranks)
      return result;
    std::optional<std::pair<Value, unsigned>> written =
        findWritten(op, frame, kAllRanks);
    return written ? numbersOf(written->first, written->second).table
                   : std::nullopt;
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<const RankTable *> operands;
  for (Value operand : op->getOperands()) {
    const std::optional<RankTable> &table = numbersOf(operand, frame).table;
    if (!table)
      return std::nullopt;
    operands.push_back(&*table);
  }
  RankTable result;
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::optional<int64_t> number =
        compute(op, llvm::map_to_vector(operands, [&](const RankTable *table) {
                  return (*table)[rank];
                }));
    if (!number)
      return std::nullopt;
    result.push_back(*number);
  }
  return result;
}
