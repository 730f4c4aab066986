//===- RefinePadding.cpp - Padding that follows from open extents ---------===//
//
// What a window reads outside of an open extent may depend on its remainder:
// "SAME" padding of a stride of two is one element less below even extents. A
// number that small has no placeholder. So as much is padded as it may be, and
// a slice that begins where the program computes takes what there is:
//
//     windows of 3, 2 apart, over x padded by [l, h]
//     pad x by [2, 2], dynamic_slice from 2 - l, windows without padding
//
// Where windows one apart read what is padded alone, too much is cut off of
// what they give: an n + 1 of theirs is not beside an extent then.
//
// The slice takes all but as many elements as its start may move by, whatever
// is bound; what is too much above is cut off behind it. So a cut dim is sliced
// block by block, with a halo that is known.
//
// Which numbers are chosen is the same for the programs that are compared with
// it, and what was assumed is asked of each binding.
//
//===----------------------------------------------------------------------===//
#include "InferShapes.h"
#include "Refiner.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// Bindings for which padding is looked at.
static constexpr int kDraws = 64;

/// How far beside what is padded no other extent is.
static constexpr int64_t kNear = 3;

bool shardc::import::drawBindings(
    const Extents &extents, const Placeholders &placeholders,
    llvm::function_ref<bool(const std::vector<int64_t> &)> look) {
  std::mt19937_64 random(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::map<std::pair<int64_t, int64_t>, int64_t> dims;
    std::vector<int64_t> values;
    if (!drawExtents(extents, placeholders, random, dims, values))
      return false;
    if (look(values))
      break;
  }
  return true;
}

/// Whether an extent has several values in bindings that are looked at.
bool Refiner::differs(int64_t extent) {
  if (!placeholders)
    return false;
  std::set<int64_t> seen;
  bool isDrawn = drawBindings(extents, *placeholders,
                              [&](const std::vector<int64_t> &values) {
                                seen.insert(values[extent]);
                                return seen.size() > 1;
                              });
  return !isDrawn || seen.size() > 1;
}

/// Whether a condition holds in all bindings that are looked at.
bool Refiner::alwaysHolds(int64_t condition) {
  bool holds = placeholders != nullptr;
  bool isDrawn =
      holds && drawBindings(extents, *placeholders,
                            [&](const std::vector<int64_t> &values) {
                              return !(holds &= values[condition] != 0);
                            });
  return isDrawn && holds;
}

/// Whether an open extent is padded to a number of elements: by 12 - n, which
/// has the number of a cut.
bool Refiner::isPaddedToNumber(const PaddedDim &dim) {
  int64_t low = placeholderOf(dim.low), high = placeholderOf(dim.high);
  return dim.dilation == 1 && dim.reach == 1 && low >= 0 &&
         usedExtents().isOpen(dim.size) && usedExtents().isOpen(high) &&
         !extents.isOpen(dim.size + low + high);
}

/// What padding does in a few bindings says which of its forms are right in
/// all; conditions see to those that were not drawn.
std::optional<PaddingChoice> Refiner::choosePadding(Operation *op,
                                                    const PaddedDim &dim) {
  if (!placeholders)
    return std::nullopt;
  using K = ExtentKind;
  auto add = [&](K kind, std::optional<int64_t> a, std::optional<int64_t> b) {
    return a && b ? extents.add(kind, {*a, *b}) : std::nullopt;
  };
  auto constant = [&](int64_t number) {
    return std::optional(extents.addConstant(number));
  };
  // As much as windows reach, and what there is.
  auto filled = [&] {
    return add(K::Add, dilatedExtent(dim.size, dim.dilation),
               constant(dim.reach - 1));
  };
  auto padded = [&] {
    return add(
        K::Add,
        add(K::Add, dilatedExtent(dim.size, dim.dilation), numberOf(dim.low)),
        numberOf(dim.high));
  };
  auto windowsIn = [&](std::optional<int64_t> size) {
    return windowsOf(size, dim.reach, dim.stride);
  };

  // Numbers follow from what they did before: of two with one placeholder the
  // first is taken.
  const Extents before = extents, said = usedExtents();
  int64_t low = numberOf(dim.low), high = numberOf(dim.high);
  std::optional<int64_t> all = padded(), most = filled(),
                         count = windowsIn(all), same = windowsIn(most);
  if (!all || !most || !count || !same) {
    extents = before;
    return std::nullopt;
  }
  // What windows one apart give, of which it is that has to be right.
  int64_t behind = dim.cutsBehind ? dim.reach - 1 : 0;
  std::optional<int64_t> left = behind > 0 ? windowsOf(all, dim.reach, 1) : all;
  if (!left) {
    extents = before;
    return std::nullopt;
  }
  int64_t size = extents[*left].placeholder;
  // Its number says what it is once a shape is made of it: n rounded up to a
  // multiple, which is n + 1 as well until then.
  const Extents saidToo = usedExtentsAnd(*left);
  PaddingChoice choice;
  bool isExact = true, isOwn = true, isSame = dim.canFill;
  int64_t leastHigh = INT64_MAX, mostHigh = INT64_MIN, mostBoth = INT64_MIN;
  auto look = [&](const std::vector<int64_t> &values) {
    auto isSaid = [&](int64_t id) {
      return said.resolve(extents[id].placeholder, values) == values[id];
    };
    isExact &= isSaid(*left);
    isOwn &= saidToo.resolve(size, values) == values[*left];
    isSame &= isSaid(*most) && values[*count] == values[*same];
    choice.least = std::min(choice.least, values[low]);
    choice.most = std::max(choice.most, values[low]);
    leastHigh = std::min(leastHigh, values[high]);
    mostHigh = std::max(mostHigh, values[high]);
    mostBoth = std::max(mostBoth, values[low] + values[high]);
    return false;
  };
  bool isDrawn = drawBindings(extents, *placeholders, look);
  extents = before;
  if (!isDrawn || (!isExact && !isOwn && !isSame))
    return std::nullopt;
  auto leftOf = [&] {
    return behind > 0 ? windowsOf(padded(), dim.reach, 1) : padded();
  };
  bool isNamed = !isExact && !isSame;
  if (isNamed) {
    isExact = true;
    use(*leftOf(), op, "size", dim.dim);
  }
  choice.isExact = isExact;
  // What is left when it is padded by the least below is enough.
  choice.high = mostBoth - choice.least;
  // Whatever the remainder of a placeholder, so that all choose alike.
  if (isNamed)
    choice.high += kNear + 1;
  // However few there are.
  if (isPaddedToNumber(dim))
    choice.high = std::max(choice.high, size);
  // What is cut off is of another number of elements than what is left, and
  // than anything else.
  if (isExact && (choice.least != choice.most || leastHigh != mostHigh)) {
    auto isOther = [&](int64_t low) {
      int64_t number = size - placeholderOf(dim.low) + low -
                       placeholderOf(dim.high) + choice.high;
      // What is beside an extent is what the program may say of it: n + 1.
      for (int64_t near = number - kNear; near <= number + behind + kNear;
           ++near)
        if (std::optional<LinearExtent> found = said.find(near);
            near == size ||
            (found && found->coefficient == 1 && found->constant == 0))
          return false;
      return true;
    };
    while (!isOther(choice.most) || !isOther(choice.least))
      ++choice.high;
  }

  auto ask = [&](K kind, std::optional<int64_t> a, std::optional<int64_t> b) {
    std::optional<int64_t> holds = add(kind, a, b);
    if (holds && !extents.isConstant(*holds))
      extents.conditions.push_back(
          {*holds,
           "padding of {0} elements, or {1}, is not what the program was "
           "compiled for; compile it for these shapes (--shapes)",
           {*a, *b}});
  };
  if (isExact) {
    choice.isCutBehind = behind > 0;
    int64_t taken = idOf(size);
    ask(K::Equal, leftOf(), taken);
    ask(K::LessEqual, add(K::Add, numberOf(dim.low), numberOf(dim.high)),
        constant(choice.least + choice.high));
  } else {
    same = windowsIn(filled());
    ask(K::Equal, windowsIn(padded()), same);
  }
  ask(K::LessEqual, constant(choice.least), numberOf(dim.low));
  ask(K::LessEqual, numberOf(dim.low), constant(choice.most));
  return choice;
}

/// What `dims` of `inputs` are padded by becomes part of these. Returns which
/// of them are left to the op, with the padding that `dims` say then; the
/// others have no padding and no dilation left.
SmallVector<bool> Refiner::padByValue(Operation *op,
                                      SmallVectorImpl<Value> &inputs,
                                      ValueRange fills,
                                      MutableArrayRef<PaddedDim> dims) {
  auto isSaid = [&](const Number &number) {
    // What is left beside an extent that is renamed is no small number.
    bool hasNames =
        !placeholders->renamed.empty() || !placeholders->choices.empty();
    if (hasNames && number.extent >= 0 &&
        placeholderOf(number) >= Extents::least)
      use(number.extent, op, "padding", -1);
    return number.extent < 0 ||
           usedExtents().isOpen(extents[number.extent].placeholder);
  };
  SmallVector<bool> isLeft(dims.size(), true);
  SmallVector<std::optional<PaddingChoice>> choices(dims.size());
  size_t firstPadding = paddings.size();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (replayed) {
      if (nextChoice < replayed->size())
        choices[i] = (*replayed)[nextChoice++];
    } else {
      bool isOwn = placeholders && isSaid(dim.low) && isSaid(dim.high) &&
                   !isPaddedToNumber(dim);
      if (placeholders && !isOwn)
        choices[i] = choosePadding(op, dim);
      if (choices[i]) {
        choices[i]->isKeepable =
            !choices[i]->isExact && choices[i]->least == choices[i]->most;
        choices[i]->isKept =
            placeholders->keepsPadding && choices[i]->isKeepable;
      }
      paddings.push_back(choices[i]);
    }
    // What is below is known, and as many windows as there are reach this far.
    if (choices[i] && choices[i]->isKept) {
      auto number = [](int64_t value) { return Number(APInt(64, value)); };
      dim.low = number(choices[i]->most);
      dim.high = number(dim.reach - 1 - choices[i]->most);
      choices[i].reset();
    }
    isLeft[i] = !choices[i];
  }
  for (auto [dim, left] : llvm::zip_equal(dims, isLeft))
    for (const Number &number : {dim.low, dim.high})
      if (left && number.extent >= 0)
        use(number.extent, op, "padding", dim.dim);
  if (!llvm::is_contained(isLeft, false))
    return isLeft;

  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<RankedTensorType>(inputs.front().getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0),
      padded(type.getShape()), moved(padded), sliced(padded), zeros(rank, 0),
      ones(rank, 1);
  SmallVector<Value> starts(rank);
  SmallVector<int64_t> left(rank, -1);
  bool isMoving = false, isCut = false, isLeftBehind = false;
  for (auto [i, dim, choice] : llvm::enumerate(dims, choices)) {
    if (!choice)
      continue;
    int64_t size = dim.size,
            base = size == 0 ? 0 : (size - 1) * dim.dilation + 1, d = dim.dim;
    low[d] = choice->most;
    high[d] = choice->isExact ? choice->high : dim.reach - 1 - choice->least;
    interior[d] = dim.dilation - 1;
    padded[d] = low[d] + base + high[d];
    sliced[d] = choice->isExact
                    ? base + placeholderOf(dim.low) + placeholderOf(dim.high)
                    : base + dim.reach - 1;
    moved[d] = padded[d] - (choice->most - choice->least);
    // In a binding nothing may be left to cut off.
    if (!replayed)
      choice->isCut = paddings[firstPadding + i]->isCut = sliced[d] != moved[d];
    if (choice->isCut && choice->isCutBehind) {
      left[d] = sliced[d] - (dim.reach - 1);
      sliced[d] = moved[d];
      isLeftBehind = true;
    } else {
      isCut |= choice->isCut;
    }
    if (choice->least == choice->most)
      continue;
    isMoving = true;
    Value begin = dim.lowValue(b);
    auto scalar = cast<RankedTensorType>(begin.getType());
    Value most = ConstantOp::create(
        b,
        DenseElementsAttr::get(
            scalar, b.getIntegerAttr(scalar.getElementType(), choice->most)));
    starts[d] = SubtractOp::create(b, most, begin);
  }
  Value zero;
  for (Value &start : starts) {
    if (start || !isMoving)
      continue;
    auto scalar =
        cast<RankedTensorType>((*llvm::find_if(starts, [](Value start) {
                                 return bool(start);
                               })).getType());
    if (!zero)
      zero = ConstantOp::create(
          b, DenseElementsAttr::get(
                 scalar, b.getIntegerAttr(scalar.getElementType(), 0)));
    start = zero;
  }
  if (isLeftBehind)
    for (OpOperand &use : op->getUses())
      leftBehind[use.getOwner()] = left;
  for (auto [input, fill] : llvm::zip_equal(inputs, fills)) {
    auto element = cast<RankedTensorType>(input.getType()).getElementType();
    auto pad = PadOp::create(b, RankedTensorType::get(padded, element), input,
                             fill, low, high, interior);
    noteResult(pad);
    input = pad;
    if (isMoving)
      input = DynamicSliceOp::create(b, RankedTensorType::get(moved, element),
                                     input, starts, moved);
    for (auto [d, size, whole] : llvm::enumerate(moved, padded))
      if (size != whole && !extents.empty())
        if (auto part =
                extents.add(ExtentKind::Subtract,
                            {idOf(whole), extents.addConstant(whole - size)}))
          use(*part, op, "size", d);
    if (isCut)
      input = SliceOp::create(b, RankedTensorType::get(sliced, element), input,
                              zeros, sliced, ones);
  }
  return isLeft;
}

/// Cuts off what windows give of padding that is too much.
void Refiner::cutBehind(Operation *op) {
  auto found = leftBehind.find(op);
  if (found == leftBehind.end())
    return;
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> limits(type.getShape()), zeros(limits.size(), 0),
        ones(limits.size(), 1);
    for (auto [limit, left] : llvm::zip_equal(limits, found->second))
      limit = left < 0 ? limit : left;
    auto part = SliceOp::create(b, op->getLoc(), type.clone(limits), result,
                                zeros, limits, ones);
    result.replaceAllUsesExcept(part.getResult(), part);
  }
  leftBehind.erase(found);
}
