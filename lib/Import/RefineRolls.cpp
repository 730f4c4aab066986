//===- RefineRolls.cpp - Rolls of open extents ----------------------------===//
//
// jax.export prints a roll as x[s:] ++ x[:s], of which s is what is left of a
// number when n is taken from it as often as it can be: 1 % n is 1, but for an
// extent of 1. Such an s has no placeholder that is right for all n. What is
// read where follows from the number itself: element i is x[(i + 1) % n].
//
// A roll's gradient is printed as the sum of both slices, each padded with
// zeros to all that there is.
//
//===----------------------------------------------------------------------===//
#include "Refiner.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Layout/Placeholders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// What `op` joins, if nothing else reads it.
static std::optional<JoinedSlices> slicesOf(Operation *op) {
  if (!isa<ConcatenateOp, AddOp>(op) || op->getNumOperands() != 2)
    return std::nullopt;
  JoinedSlices found;
  auto isOwn = [&](Operation *part) {
    return part && part->hasOneUse() && part->getBlock() == op->getBlock();
  };
  Value first = op->getOperand(0), second = op->getOperand(1);
  if (isa<AddOp>(op)) {
    found.padFirst = first.getDefiningOp<DynamicPadOp>();
    found.padSecond = second.getDefiningOp<DynamicPadOp>();
    if (!isOwn(found.padFirst) || !isOwn(found.padSecond))
      return std::nullopt;
    first = found.padFirst.getOperand();
    second = found.padSecond.getOperand();
  }
  found.first = first.getDefiningOp<RealDynamicSliceOp>();
  found.second = second.getDefiningOp<RealDynamicSliceOp>();
  if (!isOwn(found.first) || !isOwn(found.second) ||
      found.first.getOperand() != found.second.getOperand())
    return std::nullopt;
  return found;
}

bool Refiner::isPartOfRoll(Operation *op) const {
  if (!placeholders && !replayed)
    return false;
  while (isa<RealDynamicSliceOp, DynamicPadOp>(op) && op->hasOneUse()) {
    op = *op->getUsers().begin();
    if (slicesOf(op))
      return true;
  }
  return false;
}

/// By how much x[s:] ++ x[:s] is rolled down, and along which dim; none where
/// it is anything else.
std::optional<std::pair<int64_t, int64_t>>
Refiner::rollOf(JoinedSlices joined) {
  auto type = dyn_cast<RankedTensorType>(joined.first.getOperand().getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  auto isZero = [](const Number &number) {
    return number.extent < 0 && number.value.isZero();
  };
  auto listOf = [&](Value value) -> ArrayRef<Number> {
    const Numbers *numbers = find(value);
    return numbers && static_cast<int64_t>(numbers->size()) == type.getRank()
               ? ArrayRef(*numbers)
               : ArrayRef<Number>();
  };
  RealDynamicSliceOp upper = joined.first, lower = joined.second;
  DynamicPadOp above = joined.padFirst, below = joined.padSecond;
  // Of a sum either may come first.
  if (above && llvm::all_of(listOf(upper.getStartIndices()), isZero)) {
    std::swap(upper, lower);
    std::swap(above, below);
  }
  // Copies: what is looked up later may move what was found.
  Numbers starts(listOf(upper.getStartIndices())),
      limits(listOf(lower.getLimitIndices()));
  if (starts.empty() || limits.empty())
    return std::nullopt;
  int64_t dim = llvm::find_if_not(starts, isZero) - starts.begin();
  if (dim == type.getRank() || !extents.isOpen(type.getDimSize(dim)) ||
      starts[dim].extent < 0 || limits[dim].extent != starts[dim].extent)
    return std::nullopt;
  int64_t size = type.getDimSize(dim), split = starts[dim].extent;

  // Everything else of both is all that there is.
  for (RealDynamicSliceOp slice : {upper, lower}) {
    Numbers steps(listOf(slice.getStrides())),
        from(listOf(slice.getStartIndices())),
        to(listOf(slice.getLimitIndices()));
    if (steps.empty() || from.empty() || to.empty())
      return std::nullopt;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (steps[d].extent >= 0 || !steps[d].value.isOne() ||
          !(isZero(from[d]) || (d == dim && slice == upper)) ||
          !(placeholderOf(to[d]) == type.getDimSize(d) ||
            (d == dim && slice == lower)))
        return std::nullopt;
  }
  std::optional<int64_t> paddedBelow;
  for (DynamicPadOp pad : {above, below}) {
    if (!pad)
      continue;
    Numbers low(listOf(pad.getEdgePaddingLow())),
        high(listOf(pad.getEdgePaddingHigh())),
        interior(listOf(pad.getInteriorPadding()));
    if (low.empty() || high.empty() || !llvm::all_of(interior, isZero) ||
        interior.empty() ||
        !matchPattern(pad.getPaddingValue(), m_PosZeroFloat()))
      return std::nullopt;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dim && (!isZero(low[d]) || !isZero(high[d])))
        return std::nullopt;
    if (pad == above ? !isZero(low[dim]) || high[dim].extent != split
                     : !isZero(high[dim]))
      return std::nullopt;
    if (pad == below)
      paddedBelow = numberOf(low[dim]);
  }

  int64_t by = extents[split].placeholder;
  by -= 2 * by > size ? size : 0;
  if (std::abs(by) > nearby)
    return std::nullopt;
  const Extents before = extents;
  auto add = [&](ExtentKind kind, std::optional<int64_t> a,
                 std::optional<int64_t> b) {
    return a && b ? extents.add(kind, {*a, *b}) : std::nullopt;
  };
  auto constant = [&](int64_t number) { return extents.addConstant(number); };
  int64_t whole = idOf(size);
  SmallVector<std::optional<int64_t>> conditions = {
      add(ExtentKind::Equal,
          add(ExtentKind::Remainder,
              add(ExtentKind::Subtract, split, constant(by)),
              add(ExtentKind::Max, whole, constant(1))),
          constant(0)),
      add(ExtentKind::LessEqual, constant(0), split),
      add(ExtentKind::LessEqual, split, whole)};
  if (paddedBelow)
    conditions.push_back(add(ExtentKind::Equal,
                             add(ExtentKind::Add, *paddedBelow, split), whole));
  bool holds = llvm::all_of(conditions, [&](std::optional<int64_t> condition) {
    return condition && alwaysHolds(*condition);
  });
  if (!holds) {
    extents = before;
    return std::nullopt;
  }
  for (std::optional<int64_t> condition : conditions)
    if (!extents.isConstant(*condition))
      extents.conditions.push_back(
          {*condition,
           "a roll that begins at {0} of {1} elements is not what the program "
           "was compiled for; compile it for these shapes (--shapes)",
           {split, whole}});
  return std::pair(by, dim);
}

/// Puts `spmd.pad` in the place of a roll. The parts of what is none are
/// refined, as others were before; false then.
FailureOr<bool> Refiner::refineRoll(Operation *op) {
  std::optional<JoinedSlices> joined = slicesOf(op);
  if ((!placeholders && !replayed) || !joined)
    return false;
  std::optional<std::pair<int64_t, int64_t>> roll;
  if (replayed) {
    if (nextChoice < replayed->size())
      if (const auto &choice = (*replayed)[nextChoice++])
        roll = std::pair(choice->least, choice->most);
  } else {
    roll = rollOf(*joined);
    paddings.emplace_back();
    if (roll) {
      PaddingChoice &choice = paddings.back().emplace();
      std::tie(choice.least, choice.most) = *roll;
    }
  }
  SmallVector<Operation *> parts = {joined->first, joined->second};
  if (joined->padFirst)
    parts.append({joined->padFirst, joined->padSecond});
  if (!roll) {
    for (Operation *part : parts)
      if (failed(replaceDynamic(part)))
        return failure();
    return false;
  }
  auto type = cast<RankedTensorType>(joined->first.getOperand().getType());
  auto [by, dim] = *roll;
  SmallVector<int64_t> low(type.getRank(), 0), high(low);
  low[dim] = -by;
  high[dim] = by;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Operation *made = spmd::PadOp::create(b, type, joined->first.getOperand(),
                                        spmd::PaddingMode::Wrap, low, high);
  // What is -0 is 0 in a sum.
  if (joined->padFirst) {
    Value zeros = BroadcastInDimOp::create(
        b, type, joined->padFirst.getPaddingValue(), ArrayRef<int64_t>());
    made = AddOp::create(b, made->getResult(0), zeros);
  }
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(made);
  op->erase();
  for (Operation *part : llvm::reverse(parts))
    part->erase();
  return true;
}
