//===- FuseRows.cpp - Find ops to be done block by block ------------------===//
//
// A normalisation is reductions of rows and work on elements that reads them:
// op by op, each passes over all of memory. Done for a block of rows at a time,
// what one op has read or written is in the cache when the next one wants it,
// and what none but them touches needs no memory but a block's.
//
//===----------------------------------------------------------------------===//
#include "MergeSums.h"
#include "RowGroup.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdSites.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

namespace shardc {
#define GEN_PASS_DEF_FUSEROWSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

/// Ops to look at before and behind a reduction.
static constexpr int64_t kMostBefore = 48, kMostBehind = 160;
/// A block and what is read beside it stay in the first-level cache of any CPU:
/// its second pass is as good as free.
static constexpr int64_t kBlockBytes = 20 << 10;
/// Partial results of sums over all rows.
static constexpr int64_t kMostChunks = 16;

static std::optional<SmallVector<int64_t>> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
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

/// True if ops on the other side of it may have its elements in any order:
/// neither calls nor communication, but one whole exchange.
static bool mayBeBetween(Operation *op) {
  if (isa<linalg::GenericOp, memref::LoadOp, memref::StoreOp, memref::AllocOp>(
          op))
    return true;
  if (auto site = dyn_cast<spmd::RunSiteOp>(op))
    return !site.getToken();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isMemoryEffectFree(op))
    return true;
  if (!isa<scf::ForOp, scf::IfOp>(op))
    return false;
  return !op->walk([&](Operation *inner) {
              if (inner == op || isMemoryEffectFree(inner) ||
                  inner->hasTrait<OpTrait::IsTerminator>() ||
                  isa<memref::LoadOp, memref::StoreOp, linalg::GenericOp,
                      scf::ForOp, scf::IfOp>(inner))
                return WalkResult::advance();
              return WalkResult::interrupt();
            }).wasInterrupted();
}

/// What touches of `memref` are noted under: the part of a buffer that it shows
/// where that is a part of its own, as each value of a bucket that is
/// all-reduced has, else the buffer.
static Value partBehind(Value memref) {
  Value part = wholeBehind(memref);
  auto view = part.getDefiningOp<memref::SubViewOp>();
  if (view && cast<MemRefType>(part.getType()).hasStaticShape() &&
      view.getOffsets().empty() &&
      view.getSource().getDefiningOp<memref::AllocOp>())
    return part;
  return rootOf(memref);
}

/// What `op` touches, where nothing is known of rows.
static Touches touchesOf(Operation *op) {
  Touches touches;
  if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
    return touches;
  auto add = [&](Value memref, bool writes) {
    Touch &touch = touches[partBehind(memref)];
    touch.writes |= writes;
    touch.isMixed = true;
    touch.count = 1;
  };
  op->walk([&](Operation *inner) {
    auto to = dyn_cast<DestinationStyleOpInterface>(inner);
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      // Sites, too, only read what they do not give.
      bool reads = isa<memref::LoadOp>(inner) || isMemoryEffectFree(inner) ||
                   (to && to.isDpsInput(&operand));
      add(operand.get(), !reads);
    }
  });
  return touches;
}

static bool conflict(const Touches &some, const Touches &others) {
  for (const auto &[root, touch] : some)
    for (const auto &[other, its] : others)
      if ((touch.writes || its.writes) && mayAlias(root, other))
        return true;
  return false;
}

namespace {
/// Collects a group around one reduction.
class Finder {
public:
  Finder(linalg::GenericOp seed, ShardSizes &sizes, int64_t threads, bool exact)
      : seed(seed), sizes(sizes), threads(threads), exact(exact),
        cost(machineOf(seed)) {}

  /// The group to be emitted, if it is worth it.
  std::optional<RowGroup> find();

private:
  using Units = SmallVector<int64_t>;
  struct Cuts {
    SmallVector<int64_t> counts;
    SmallVector<Quantity> sizes; ///< as counts, where the function says it
    Units units;                 ///< in the seed's largest input
    SmallVector<Outside> outside;
  };
  int64_t elementsOf(Value memref);
  int64_t bytesOf(Value memref) {
    return elementsOf(memref) *
           elementBytes(cast<MemRefType>(memref.getType()).getElementType());
  }
  SmallVector<Cuts> candidates();
  void collectWindow();
  std::optional<RowGroup> tryCuts(const Cuts &cuts);
  std::optional<Member> map(linalg::GenericOp op);
  std::optional<Place> placeOf(Value view, AffineMap map,
                               ArrayRef<LoopShare> shares);
  bool placeLoads(Member &member, const Touches &touches);
  std::optional<Touches> touchesOfMember(Member &member);
  bool mayJoin(const Touches &group, const Touches &own);
  void spreadHints();
  bool isWorth(RowGroup &group);
  void findLocal(RowGroup &group);

  linalg::GenericOp seed;
  ShardSizes &sizes;
  int64_t threads;
  bool exact;
  Cost cost;
  Value largest; ///< the seed's largest input
  AffineMap largestMap;
  SmallVector<Operation *> window;
  SmallVector<int64_t> counts;
  /// Units of memory that ops may share, by key: where to look for cuts.
  struct Hint {
    Units units;
    SmallVector<Outside> outside;
  };
  DenseMap<Value, Hint> hints;
};
} // namespace

/// With what sizes are at most; what nobody knows is taken to be large.
int64_t Finder::elementsOf(Value memref) {
  int64_t elements = 1;
  for (int64_t dim : llvm::seq(cast<MemRefType>(memref.getType()).getRank())) {
    OpFoldResult known = sizes.of(memref, dim);
    elements *= (known ? Quantity::of(known) : Quantity()).guess();
  }
  return elements;
}

/// What is read again and again belongs to a kernel of its own.
static bool isProduct(linalg::GenericOp op) {
  if (!isContraction(op))
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() < op.getNumLoops();
  });
}

static bool isCandidate(linalg::GenericOp op) {
  return canDescribe(op) && !isProduct(op);
}

void Finder::collectWindow() {
  Operation *first = seed;
  for (int64_t i = 0; i < kMostBefore; ++i) {
    Operation *before = first->getPrevNode();
    if (!before || !mayBeBetween(before))
      break;
    first = before;
  }
  int64_t left = kMostBehind;
  bool isBehind = false;
  for (Operation *op = first; op && mayBeBetween(op); op = op->getNextNode()) {
    isBehind |= op == seed;
    if (isBehind && left-- == 0)
      break;
    window.push_back(op);
  }
}

SmallVector<Finder::Cuts> Finder::candidates() {
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
std::optional<Place> Finder::placeOf(Value view, AffineMap map,
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
  constexpr int64_t kFewBytes = 1 << 10;
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
std::optional<Member> Finder::map(linalg::GenericOp op) {
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

/// What `member` touches, and how; nothing if it does so in several ways of
/// which one is to write.
std::optional<Touches> Finder::touchesOfMember(Member &member) {
  Touches touches;
  linalg::GenericOp op = member.op;
  bool ok = true;
  auto add = [&](Value memref, const Place &place, bool isOwn, bool writes) {
    auto [entry, isNew] = touches.insert({partBehind(memref), Touch()});
    Touch &touch = entry->second;
    if (isNew) {
      touch.key = wholeBehind(memref);
      touch.units = place.units;
      touch.outside = place.outside;
      touch.isOwn = isOwn;
      touch.count = 1;
    } else if (touch.key != wholeBehind(memref) || touch.units != place.units ||
               touch.outside != place.outside) {
      touch.isMixed = true;
      touch.isOwn &= isOwn;
    }
    touch.writes |= writes;
    ok &= !(touch.writes && touch.isMixed);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    const Place &place = member.places[operand.getOperandNumber()];
    add(operand.get(), place, place.isOwn(), op.isDpsInit(&operand));
  }
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    auto placed = llvm::find_if(
        member.loads, [&](const auto &entry) { return entry.first == load; });
    Place anywhere;
    anywhere.units.assign(counts.size(), 0);
    anywhere.outside.resize(counts.size());
    bool isPlaced = placed != member.loads.end();
    add(load.getMemRef(), isPlaced ? placed->second : anywhere, isPlaced,
        false);
  }
  // The same memory as a part of a buffer and as the buffer.
  for (const auto &[root, touch] : touches)
    for (const auto &[other, its] : touches)
      ok &= root == other || !(touch.writes || its.writes) ||
            rootOf(root) != rootOf(other) || areDisjoint(root, other);
  if (!ok)
    return std::nullopt;
  return touches;
}

/// Loads in the body from what the group writes have to be of the row's own.
bool Finder::placeLoads(Member &member, const Touches &touches) {
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

bool Finder::mayJoin(const Touches &group, const Touches &own) {
  for (const auto &[root, mine] : own)
    for (const auto &[other, theirs] : group) {
      if (!mine.writes && !theirs.writes)
        continue;
      if (!mayAlias(root, other))
        continue;
      if (root != other &&
          !(areOneInPlace(root, other) && mine.key == root &&
            theirs.key == other && root.getType() == other.getType()))
        return false;
      if (root == other && mine.key != theirs.key)
        return false;
      if (!mine.isOwn || !theirs.isOwn || mine.isMixed || theirs.isMixed ||
          mine.units != theirs.units || mine.outside != theirs.outside)
        return false;
    }
  return true;
}

/// Follows cuts from op to op, wherever they share memory.
void Finder::spreadHints() {
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

/// True if `op` uses what an op of `late` gives.
static bool usesLate(Operation *op,
                     const llvm::SmallDenseSet<Operation *> &late) {
  if (late.empty())
    return false;
  auto isLate = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && late.contains(maker);
  };
  if (llvm::any_of(op->getOperands(), isLate))
    return true;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::any_of(captured, isLate);
}

std::optional<RowGroup> Finder::tryCuts(const Cuts &cuts) {
  counts = cuts.counts;
  hints.clear();
  hints[wholeBehind(largest)] = {cuts.units, cuts.outside};
  spreadHints();
  RowGroup group;
  group.counts = counts;
  group.sizes = cuts.sizes;
  llvm::SmallDenseSet<Operation *> late;
  Touches lateTouches;
  bool siteIsLate = false;
  auto putOff = [&](Operation *op) {
    group.after.push_back(op);
    late.insert(op);
    siteIsLate |= isa<spmd::RunSiteOp>(op);
    for (const auto &[root, touch] : touchesOf(op)) {
      Touch &mine = lateTouches[root];
      mine.writes |= touch.writes;
    }
  };
  // Fills that wait for the op that they are of.
  SmallVector<linalg::GenericOp> fills;
  auto settleFills = [&](const Touches &own, bool join) {
    for (linalg::GenericOp &fill : fills) {
      if (!fill || !conflict(touchesOf(fill), own))
        continue;
      linalg::GenericOp op = fill;
      fill = {};
      if (join) {
        std::optional<Member> member = map(op);
        std::optional<Touches> touches = member && !member->accumulates
                                             ? touchesOfMember(*member)
                                             : std::nullopt;
        if (touches && !usesLate(op, late) &&
            !conflict(*touches, lateTouches) &&
            mayJoin(group.touches, *touches)) {
          for (auto &[root, touch] : *touches) {
            Touch &mine = group.touches[root];
            if (mine.count == 0)
              mine = touch;
            mine.writes = true;
          }
          group.members.push_back(*member);
          continue;
        }
      }
      if (usesLate(op, late) || conflict(touchesOf(op), group.touches) ||
          conflict(touchesOf(op), lateTouches))
        putOff(op);
    }
  };
  for (Operation *op : window) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && filledWith(generic) && canDescribe(generic)) {
      fills.push_back(generic);
      continue;
    }
    Touches plain = touchesOf(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<Member> member;
    if (generic && !usesLate(op, late) && !conflict(plain, lateTouches))
      member = map(generic);
    if (member && !isCandidate(generic))
      member.reset();
    if (member && member->accumulates) {
      bool canCombine = !exact;
      for (unsigned i : llvm::seq<unsigned>(generic.getNumDpsInits())) {
        Operation *combiner = combinerOf(generic, i);
        canCombine &= combiner && spmd::neutralElement(combiner) &&
                      bytesOf(generic.getDpsInits()[i]) <= (1 << 20);
      }
      if (!canCombine)
        member.reset();
    }
    if (member && placeLoads(*member, group.touches))
      if (std::optional<Touches> own = touchesOfMember(*member);
          own && mayJoin(group.touches, *own)) {
        settleFills(*own, /*join=*/true);
        // A fill that had to wait makes its reader wait.
        if (!conflict(plain, lateTouches) && mayJoin(group.touches, *own)) {
          for (auto &[root, touch] : *own) {
            Touch &mine = group.touches[root];
            if (mine.count == 0) {
              mine = touch;
              continue;
            }
            ++mine.count;
            mine.writes |= touch.writes;
            if (mine.key != touch.key || mine.units != touch.units ||
                mine.outside != touch.outside) {
              mine.isMixed = true;
              mine.isOwn = false;
            }
            mine.isMixed |= touch.isMixed;
            mine.isOwn &= touch.isOwn;
          }
          group.members.push_back(std::move(*member));
          continue;
        }
      }
    settleFills(plain, /*join=*/false);
    if (usesLate(op, late) || conflict(plain, group.touches) ||
        conflict(plain, lateTouches) ||
        (siteIsLate && isa<spmd::RunSiteOp>(op)))
      putOff(op);
  }
  if (group.members.empty())
    return std::nullopt;
  // What comes behind the last member stays where it is; a fill before it that
  // overwrites what members read waits for them.
  Operation *end = group.members.back().op;
  for (linalg::GenericOp fill : fills)
    if (fill && fill->isBeforeInBlock(end) &&
        (usesLate(fill, late) || conflict(touchesOf(fill), group.touches) ||
         conflict(touchesOf(fill), lateTouches)))
      putOff(fill);
  llvm::erase_if(group.after,
                 [&](Operation *op) { return end->isBeforeInBlock(op); });
  if (!llvm::any_of(group.members,
                    [&](const Member &m) { return m.op == seed; }) ||
      !isWorth(group))
    return std::nullopt;
  findLocal(group);
  return group;
}

bool Finder::isWorth(RowGroup &group) {
  const Machine &machine = cost.getMachine();
  double rows = 1;
  for (const Quantity &size : group.sizes)
    rows *= std::max<int64_t>(size.guess(), 1);
  // What is small enough to be left out of account.
  double few = machine.cacheBytes / 32;
  double all = 0, ofRow = 0, again = 0, partial = 0;
  for (const auto &[root, touch] : group.touches) {
    double bytes = touch.key ? bytesOf(touch.key) : bytesOf(root);
    all += bytes;
    ofRow += touch.isOwn ? bytes / rows : bytes;
    if (bytes > few && touch.isOwn)
      again += (touch.count - 1) * bytes;
  }
  for (const Member &member : group.members) {
    if (!member.accumulates)
      continue;
    linalg::GenericOp op = member.op;
    for (Value init : op.getDpsInits())
      partial += bytesOf(init);
  }
  // Otherwise all is in the cache anyway.
  if (all < machine.cacheBytes / 2)
    return false;
  if (partial > 0) {
    while (group.chunks < kMostChunks && 2 * group.chunks * partial <= all / 16)
      group.chunks *= 2;
    if (group.chunks == 1)
      return false;
  }
  // A sum over all rows gains from blocks by itself: threads share them.
  bool hasTotal = partial > 0 && all >= machine.cacheBytes;
  if (again < 4 * few && (!hasTotal || ofRow > machine.cacheBytes / 2))
    return false;
  // A row that does not fit is as far away in the second pass as in the first.
  if (ofRow > all / 4 || ofRow > 8 * machine.cacheBytes)
    return false;
  double blockBytes = std::min<double>(kBlockBytes, machine.cacheBytes / 32);
  int64_t block = std::max<int64_t>(blockBytes / std::max(ofRow, 1.0), 1);
  const Quantity &last = group.sizes.back();
  block = std::clamp<int64_t>(last.guess(), 1, block);
  // Without a rest on any rank, if that is not far off.
  SmallVector<int64_t> ofRanks = last.entries();
  if (ofRanks.empty())
    ofRanks = {last.multiple()};
  for (int64_t smaller = block; smaller > block / 2; --smaller)
    if (llvm::all_of(ofRanks, [&](int64_t n) { return n % smaller == 0; })) {
      block = smaller;
      break;
    }
  group.rowsOfBlock = block;
  bool isLarge = cost.access(all) >= machine.forkSeconds;
  double blocks = rows / block;
  if (threads > 1 && isLarge && blocks >= threads)
    group.parts =
        partial > 0 ? std::min<int64_t>(threads, group.chunks) : threads;
  return true;
}

/// Buffers that begin and end in the group.
void Finder::findLocal(RowGroup &group) {
  llvm::SmallDenseSet<Operation *> members;
  for (const Member &member : group.members)
    members.insert(member.op);
  for (const auto &[root, touch] : group.touches) {
    auto alloc = root.getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != seed->getBlock() || !touch.isOwn ||
        touch.isMixed || !touch.writes || touch.key != root)
      continue;
    // A block's share has to have a known size.
    std::optional<Place> place =
        placeByUnits(alloc.getType(), touch.units, touch.outside, counts);
    if (!place)
      continue;
    bool isLocal = true;
    for (int dim : llvm::seq<int>(alloc.getType().getRank()))
      isLocal &= !alloc.getType().isDynamicDim(dim) ||
                 llvm::is_contained(place->at, dim);
    SmallVector<Value> work{root};
    while (!work.empty() && isLocal) {
      for (Operation *user : work.pop_back_val().getUsers()) {
        if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(user)) {
          work.push_back(user->getResult(0));
          continue;
        }
        Operation *op = seed->getBlock()->findAncestorOpInBlock(*user);
        isLocal &= op && members.contains(op) &&
                   (op == user || isa<memref::LoadOp>(user));
      }
    }
    if (isLocal)
      group.local.push_back(root);
  }
}

std::optional<RowGroup> Finder::find() {
  SmallVector<Cuts> all = candidates();
  if (all.empty() || bytesOf(largest) < cost.getMachine().cacheBytes / 8)
    return std::nullopt;
  collectWindow();
  for (const Cuts &cuts : all)
    if (std::optional<RowGroup> group = tryCuts(cuts))
      return group;
  return std::nullopt;
}

namespace {
struct FuseRowsPass final : shardc::impl::FuseRowsPassBase<FuseRowsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      fuseIn(function);
  }

  void fuseIn(func::FuncOp function) {
    mergeSums(function);
    ShardSizes sizes(function);
    SmallVector<linalg::GenericOp> seeds;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() && isCandidate(op))
        seeds.push_back(op);
    });
    llvm::DenseSet<Operation *> gone;
    for (linalg::GenericOp seed : seeds) {
      if (gone.contains(seed))
        continue;
      std::optional<RowGroup> group =
          Finder(seed, sizes, threads, exact).find();
      if (!group)
        continue;
      for (const Member &member : group->members)
        gone.insert(member.op);
      emitRows(*group);
    }
    // Behind blocks of rows, in which what is read is near anyway.
    mergePoints(function, sizes);
  }
};
} // namespace
