//===- RowCuts.cpp - Where a cut is in ops and their operands -------------===//
//
// Dims of the seed's largest input are cut; the cut goes from op to op by the
// memory that they share.
//
//===----------------------------------------------------------------------===//
#include "RowFinder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Strides.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

static std::optional<SmallVector<int64_t>> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return std::nullopt;
  return strides;
}

/// How many of `type`'s elements along `dim` are one of `count` shares of this
/// unit; 0 if they do not make such shares.
static int64_t widthAlong(MemRefType type, int64_t stride, int dim,
                          int64_t unit, int64_t count) {
  int64_t size = type.getDimSize(dim);
  if (unit <= 0 || ShapedType::isDynamic(stride) || stride <= 0 ||
      unit % stride)
    return 0;
  int64_t width = unit / stride;
  bool fits = ShapedType::isStatic(count)
                  ? size == count * width
                  : ShapedType::isDynamic(size) && width == 1;
  return fits ? width : 0;
}

/// What is outside of `dim` of `type`, whose shares are `unit` apart. Only
/// asked where it is not known how many shares there are.
static Outside outsideOf(MemRefType type, ArrayRef<int64_t> strides, int dim,
                         int64_t unit, int64_t count) {
  if (ShapedType::isStatic(count))
    return {};
  int64_t shares = 1;
  for (auto [other, size] : llvm::enumerate(type.getShape())) {
    if (int(other) == dim || size == 1 ||
        (ShapedType::isStatic(strides[other]) && strides[other] < unit))
      continue;
    if (ShapedType::isDynamic(size))
      return {0, type};
    shares *= size;
  }
  return {shares, {}};
}

std::optional<Place> cpu::placeByUnits(MemRefType type, ArrayRef<int64_t> units,
                                       ArrayRef<Outside> outside,
                                       ArrayRef<int64_t> counts) {
  std::optional<SmallVector<int64_t>> strides = stridesOf(type);
  if (!strides)
    return std::nullopt;
  Place place;
  place.units.assign(units.begin(), units.end());
  place.outside.assign(outside.begin(), outside.end());
  for (auto [unit, out, count] : llvm::zip_equal(units, outside, counts)) {
    int at = -1;
    int64_t width = 0;
    for (int dim : llvm::seq<int>(type.getRank()))
      if (at < 0 && outsideOf(type, *strides, dim, unit, count) == out &&
          (width = widthAlong(type, (*strides)[dim], dim, unit, count)))
        at = dim;
    if (at < 0 || llvm::is_contained(place.at, at))
      return std::nullopt;
    place.at.push_back(at);
    place.width.push_back(width);
  }
  return place;
}

SmallVector<RowFinder::Cuts> RowFinder::candidates() {
  for (OpOperand *input : seed.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (type && (!largest || elementsOf(input->get()) > elementsOf(largest))) {
      largest = input->get();
      largestMap = seed.getMatchingIndexingMap(input);
    }
  }
  if (!largest || !largestMap.isProjectedPermutation())
    return {};
  auto type = cast<MemRefType>(largest.getType());
  std::optional<SmallVector<int64_t>> strides = stridesOf(type);
  if (!strides)
    return {};
  auto kinds = seed.getIteratorTypesArray();
  int last = -1;
  for (int dim : llvm::seq<int>(type.getRank()))
    if (type.getDimSize(dim) != 1)
      last = dim;
  auto isCut = [&](int dim) {
    return dim != last && type.getDimSize(dim) != 1 &&
           type.getDimSize(dim) != 0 && ShapedType::isStatic((*strides)[dim]) &&
           (*strides)[dim] > 0;
  };
  auto reduces = [&](int dim) {
    unsigned loop =
        cast<AffineDimExpr>(largestMap.getResult(dim)).getPosition();
    return kinds[loop] == utils::IteratorType::reduction;
  };
  auto add = [&](SmallVectorImpl<Cuts> &all, ArrayRef<int> dims) {
    if (dims.empty())
      return;
    Cuts cuts;
    for (int dim : dims) {
      int64_t count = type.getDimSize(dim), unit = (*strides)[dim];
      OpFoldResult size = sizes.of(largest, dim);
      cuts.counts.push_back(count);
      cuts.sizes.push_back(size ? Quantity::of(size) : Quantity());
      cuts.units.push_back(unit);
      cuts.outside.push_back(outsideOf(type, *strides, dim, unit, count));
    }
    all.push_back(cuts);
  };
  SmallVector<Cuts> all;
  SmallVector<int> parallel, leading;
  bool isLeading = true;
  for (int dim : llvm::seq<int>(type.getRank())) {
    if (type.getDimSize(dim) == 1)
      continue;
    isLeading &= reduces(dim);
    if (isCut(dim) && !reduces(dim))
      parallel.push_back(dim);
    if (isCut(dim) && isLeading)
      leading.push_back(dim);
  }
  add(all, parallel);
  add(all, leading);
  // A vector that is summed up.
  if (leading.empty() && parallel.empty() && last >= 0 && reduces(last) &&
      (*strides)[last] == 1 && elementsOf(largest) > 0 &&
      llvm::count_if(type.getShape(), [](int64_t n) { return n != 1; }) == 1)
    add(all, last);
  return all;
}

/// Where `shares` are in an operand; nothing if a share is not a box of it.
std::optional<Place> RowFinder::placeOf(Value view, AffineMap map,
                                        ArrayRef<LoopShare> shares) {
  auto type = cast<MemRefType>(view.getType());
  std::optional<SmallVector<int64_t>> strides = stridesOf(type);
  if (!strides)
    return std::nullopt;
  Place place;
  for (auto [k, share] : llvm::enumerate(shares)) {
    int at = -1;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (!expr.isFunctionOfDim(share.loop))
        continue;
      if (!isa<AffineDimExpr>(expr) || at >= 0)
        return std::nullopt;
      at = dim;
    }
    place.at.push_back(at);
    place.width.push_back(share.width);
    if (at < 0) {
      place.units.push_back(0);
      place.outside.push_back({});
      continue;
    }
    int64_t size = type.getDimSize(at);
    bool fits = ShapedType::isStatic(counts[k])
                    ? size == counts[k] * share.width
                    : ShapedType::isDynamic(size) && share.width == 1;
    if (!fits)
      return std::nullopt;
    int64_t stride = (*strides)[at];
    int64_t unit = ShapedType::isDynamic(stride) ? -1 : stride * share.width;
    place.units.push_back(unit);
    place.outside.push_back(outsideOf(type, *strides, at, unit, counts[k]));
  }
  return place;
}

/// True if rows of the last cut are side by side in memory, enough of them to
/// be a block of whole lines: however short a row is, a block reads what it
/// wants.
static bool hasDenseRows(MemRefType type, const Place &place,
                         ArrayRef<int64_t> counts) {
  constexpr int64_t kFewBytes = 1 << 10; // 16 lines [shape]
  if (!type.getLayout().isIdentity() || !place.isOwn())
    return false;
  int64_t row = 1;
  for (int64_t width : place.width)
    row *= width;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(place.at, int(dim))) {
      if (ShapedType::isDynamic(size))
        return false;
      row *= size;
    }
  return row == place.units.back() &&
         (ShapedType::isDynamic(counts.back()) ||
          counts.back() * row * int64_t(elementBytes(type.getElementType())) >=
              kFewBytes);
}

/// `op` with its loops cut as the memory that it shares with the group is.
std::optional<Member> RowFinder::map(linalg::GenericOp op) {
  Member member;
  member.op = op;
  member.shares.resize(counts.size());
  auto set = [&](size_t k, LoopShare share) {
    LoopShare &mine = member.shares[k];
    bool agrees =
        mine.loop < 0 || (mine.loop == share.loop && mine.width == share.width);
    mine = share;
    return agrees;
  };
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    auto known = type ? hints.find(wholeBehind(operand.get())) : hints.end();
    if (known == hints.end())
      continue;
    std::optional<SmallVector<int64_t>> strides = stridesOf(type);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!strides)
      continue;
    for (auto [k, unit] : llvm::enumerate(known->second.units)) {
      if (unit <= 0)
        continue;
      for (int dim : llvm::seq<int>(type.getRank())) {
        LoopShare share;
        share.width = widthAlong(type, (*strides)[dim], dim, unit, counts[k]);
        auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
        if (!share.width || !expr ||
            outsideOf(type, *strides, dim, unit, counts[k]) !=
                known->second.outside[k])
          continue;
        share.loop = expr.getPosition();
        if (!set(k, share))
          return std::nullopt;
        break;
      }
    }
  }
  // What the body loads at an index of the loops says as much.
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    auto known = hints.find(wholeBehind(load.getMemRef()));
    std::optional<SmallVector<int64_t>> strides =
        stridesOf(load.getMemRefType());
    if (known == hints.end() || !strides)
      continue;
    for (auto [k, unit] : llvm::enumerate(known->second.units))
      for (auto [dim, index] : llvm::enumerate(load.getIndices()))
        if (auto position = index.getDefiningOp<linalg::IndexOp>();
            position &&
            widthAlong(load.getMemRefType(), (*strides)[dim], dim, unit,
                       counts[k]) == 1 &&
            outsideOf(load.getMemRefType(), *strides, dim, unit, counts[k]) ==
                known->second.outside[k] &&
            !set(k, {int(position.getDim()), 1}))
          return std::nullopt;
  }
  llvm::SmallDenseSet<int> loops;
  for (const LoopShare &share : member.shares)
    if (share.loop < 0 || !loops.insert(share.loop).second)
      return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType())) {
      member.places.emplace_back();
      continue;
    }
    std::optional<Place> place = placeOf(
        operand.get(), op.getMatchingIndexingMap(&operand), member.shares);
    if (!place)
      return std::nullopt;
    // Few bytes of each line that a block would read.
    auto type = cast<MemRefType>(operand.get().getType());
    unsigned bytes = elementBytes(type.getElementType());
    if (bytesOf(operand.get()) > cost.getMachine().cacheBytes / 4 &&
        !hasDenseRows(type, *place, counts))
      for (auto [k, unit] : llvm::enumerate(place->units))
        if (unit < 0 ||
            (unit > 0 && unit * int64_t(bytes) < 64 && type.getRank() > 1))
          return std::nullopt;
    member.places.push_back(*place);
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    const Place &place = member.places[init.getOperandNumber()];
    if (llvm::is_contained(place.units, -1) ||
        (!place.isOwn() &&
         !cast<MemRefType>(init.get().getType()).hasStaticShape()))
      return std::nullopt;
    member.accumulates |= !place.isOwn();
  }
  return member;
}

/// Loads in the body from what the group writes have to be of the row's own.
bool RowFinder::placeLoads(Member &member, const Touches &touches) {
  linalg::GenericOp op = member.op;
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    Value part = partBehind(load.getMemRef());
    auto written = llvm::find_if(touches, [&](const auto &entry) {
      return entry.second.writes && rootOf(entry.first) == rootOf(part) &&
             mayAlias(entry.first, part);
    });
    if (written == touches.end())
      continue;
    if (written->first != part)
      return false;
    const Touch &touch = written->second;
    std::optional<SmallVector<int64_t>> strides =
        stridesOf(load.getMemRefType());
    if (!strides)
      return false;
    Place place;
    for (auto [k, share] : llvm::enumerate(member.shares)) {
      int at = -1;
      for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
        auto position = index.getDefiningOp<linalg::IndexOp>();
        if (position && int(position.getDim()) == share.loop && at < 0 &&
            share.width == 1 && (*strides)[dim] == touch.units[k] &&
            load.getMemRefType().getDimSize(dim) == counts[k] &&
            outsideOf(load.getMemRefType(), *strides, dim, touch.units[k],
                      counts[k]) == touch.outside[k])
          at = dim;
      }
      if (at < 0)
        return false;
      place.at.push_back(at);
      place.width.push_back(1);
      place.units.push_back(touch.units[k]);
      place.outside.push_back(touch.outside[k]);
    }
    member.loads.push_back({load, place});
  }
  return true;
}

/// Follows cuts from op to op, wherever they share memory.
void RowFinder::spreadHints() {
  for (int round : llvm::seq(3)) {
    bool changed = false;
    auto visit = [&](Operation *op) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic)
        return;
      std::optional<Member> member = map(generic);
      if (!member)
        return;
      for (OpOperand &operand : generic->getOpOperands()) {
        const Place &place = member->places[operand.getOperandNumber()];
        if (isa<MemRefType>(operand.get().getType()) && place.isOwn())
          changed |= hints
                         .try_emplace(wholeBehind(operand.get()),
                                      Hint{place.units, place.outside})
                         .second;
      }
    };
    if (round % 2)
      llvm::for_each(llvm::reverse(window), visit);
    else
      llvm::for_each(window, visit);
    if (!changed)
      return;
  }
}
