//===- MergeHalos.cpp - One halo exchange for all that read a value -------===//
//
// A stencil reads its neighbours one by one: a roll to the north, one to the
// east, a difference to the west. Each is an exchange that copies the whole
// block for one row of another rank. The hull of all that is needed is one
// block with margins, exchanged once; what each reader needs is a slice of it.
// Only what one of them reads arrives: the corners of a star stay where they
// are. It holds the own block as well, so that it may be where the own block
// lies.
//
//===----------------------------------------------------------------------===//
#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/ProgramCost.h"
#include "shardc/Layout/TravelFormula.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Slices.h"
#include "llvm/ADT/MapVector.h"

namespace shardc {
#define GEN_PASS_DEF_MERGEHALOSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// How much more than what is needed a hull may hold for the sake of the own
/// block. Both hold the same bytes for the same time, so this is no price: a
/// program may not need more than a quarter more memory at one place because
/// its messages are fewer. [limit]
static constexpr double kMaxGrowth = 1.25;
/// More parts than these are not worth their tables: all of the hull arrives.
/// [limit]
static constexpr size_t kMaxParts = 64;

/// One table a dim.
using Tables = std::vector<std::vector<Interval>>;

namespace {
/// Exchanges of one value on their way to being one.
struct Group {
  SmallVector<HaloExchangeOp> members;
  Exchange hull; ///< its parts: what the members need
  Value fill;
};
} // namespace

static Interval hullOf(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

static std::vector<Interval> hullOf(ArrayRef<Interval> a,
                                    ArrayRef<Interval> b) {
  std::vector<Interval> result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(hullOf(x, y));
  return result;
}

static const DimExchange *findDim(const Exchange &exchange, int64_t dim) {
  for (const DimExchange &entry : exchange.dims)
    if (entry.dim == dim)
      return &entry;
  return nullptr;
}

/// Whether its numbers are those of one binding.
static bool isBoundLate(const Exchange &exchange) {
  return llvm::any_of(exchange.dims, [](const DimExchange &dim) {
    return bool(dim.neededFormula);
  });
}

static bool reachesOut(const DimExchange &dim, int64_t size) {
  return llvm::any_of(dim.needed, [&](Interval needed) {
    return !Interval{0, size}.contains(needed);
  });
}

//===----------------------------------------------------------------------===//
// Exchanges over the same dims
//===----------------------------------------------------------------------===//

/// The dims of `exchange` in ascending order, and the tables of its parts with
/// them.
static void sortDims(Exchange &exchange) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, exchange.dims.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return exchange.dims[a].dim < exchange.dims[b].dim;
  });
  auto sort = [&](auto &list) {
    auto sorted = list;
    for (auto [to, from] : llvm::enumerate(order))
      sorted[to] = list[from];
    list = std::move(sorted);
  };
  sort(exchange.dims);
  for (Tables &part : exchange.parts)
    sort(part);
}

/// The exchange of `op` with at least one part. Dims that it does not list, of
/// which the type alone speaks, count as one element.
static Exchange exchangeOf(HaloExchangeOp op) {
  Exchange exchange =
      cast<ExchangeOpInterface>(op.getOperation()).getExchange();
  for (auto [dim, size] : llvm::enumerate(exchange.globalShape))
    if (!findDim(exchange, dim))
      size = 1;
  if (exchange.parts.empty()) {
    Tables &all = exchange.parts.emplace_back();
    for (const DimExchange &dim : exchange.dims)
      all.push_back(dim.needed);
  }
  sortDims(exchange);
  return exchange;
}

/// `exchange` with the dims of `other` as well, which it needs as they are
/// owned.
static Exchange withDimsOf(Exchange exchange, const Exchange &other) {
  for (const DimExchange &dim : other.dims) {
    if (findDim(exchange, dim.dim))
      continue;
    DimExchange &added = exchange.dims.emplace_back(dim);
    added.needed = added.owned;
    added.neededFormula = added.ownedFormula;
    added.padding = Padding::Constant;
    exchange.globalShape[dim.dim] = other.globalShape[dim.dim];
    for (Tables &part : exchange.parts)
      part.push_back(dim.owned);
  }
  sortDims(exchange);
  return exchange;
}

/// Elements that all ranks together need.
static double needed(const Exchange &exchange) {
  int64_t ranks = 1;
  double sum = 0;
  for (int64_t size : exchange.meshShape)
    ranks *= size;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    double volume = 1;
    for (Interval interval : neededBox(exchange, rank))
      volume *= double(interval.size());
    sum += volume;
  }
  return sum;
}

/// Whether ranks own different parts of `dim`.
static bool isCut(const DimExchange &dim) {
  return dim.ownedFormula || !llvm::all_equal(dim.owned);
}

/// Whether one axis cuts two of the dims: blocks that are one behind the other
/// in one exchange, and in another dim side by side in another. No tensor has
/// both.
static bool cutsTwoDims(const Exchange &exchange) {
  llvm::SmallDenseSet<int64_t> seen;
  for (const DimExchange &dim : exchange.dims)
    if (isCut(dim))
      for (int64_t axis : dim.axes)
        if (!seen.insert(axis).second)
          return true;
  return false;
}

/// The exchange that needs what `a` and `b` need, which have the same dims;
/// nullopt if they cut one differently, or want different things outside it.
static std::optional<Exchange> unite(const Exchange &a, const Exchange &b) {
  if (cutsTwoDims(a))
    return std::nullopt;
  Exchange result = a;
  for (auto [dim, other] : llvm::zip_equal(result.dims, b.dims)) {
    int64_t size = a.globalShape[dim.dim];
    if (other.axes != dim.axes || other.owned != dim.owned ||
        (reachesOut(dim, size) && reachesOut(other, size) &&
         dim.padding != other.padding))
      return std::nullopt;
    if (reachesOut(other, size))
      dim.padding = other.padding;
    if (dim.ownedFormula || other.ownedFormula) {
      if (!(dim.ownedFormula == other.ownedFormula))
        return std::nullopt;
      Formula hull = nearHullOf(dim.neededFormula, other.neededFormula);
      if (!hull)
        hull = hullInBand(dim.neededFormula, other.neededFormula);
      if (!hull)
        return std::nullopt;
      dim.neededFormula = hull;
    }
    dim.needed = hullOf(dim.needed, other.needed);
  }
  llvm::append_range(result.parts, b.parts);
  return result;
}

/// Each dim needed as it is owned.
static Exchange ownedOnly(Exchange exchange) {
  Tables own;
  for (DimExchange &dim : exchange.dims) {
    dim.needed = dim.owned;
    dim.neededFormula = dim.ownedFormula;
    dim.padding = Padding::Constant;
    own.push_back(dim.owned);
  }
  exchange.parts = {own};
  return exchange;
}

/// True if `exchange` receives nothing of the own block: a ring step. With
/// another it has nothing in common but the memory of both.
static bool isOfOthers(const Exchange &exchange) {
  int64_t ranks = 1;
  for (int64_t size : exchange.meshShape)
    ranks *= size;
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (llvm::all_of(exchange.dims, [&](const DimExchange &dim) {
          int64_t at = coordinateAlong(exchange.meshShape, dim.axes, rank);
          return !intersect(dim.owned[at], dim.needed[at]).empty();
        }))
      return false;
  return true;
}

/// Bytes of the result of `exchange`, which is of what `op` is of, on a rank;
/// the mean.
static double bytesOfRank(HaloExchangeOp op, const Exchange &exchange) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  double bytes = elementBytes(type.getElementType());
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!findDim(exchange, dim) && !ShapedType::isDynamic(size))
      bytes *= double(size);
  for (int64_t size : exchange.meshShape)
    bytes /= double(size);
  return bytes * needed(exchange);
}

/// The mesh axes along which `exchange` moves.
static std::vector<int64_t> axesOf(const Exchange &exchange) {
  std::vector<int64_t> axes;
  for (const DimExchange &dim : exchange.dims)
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  return axes;
}

/// Whether the constant outside matters to `exchange`.
static bool readsFill(const Exchange &exchange) {
  return llvm::any_of(exchange.dims, [&](const DimExchange &dim) {
    return dim.padding == Padding::Constant &&
           reachesOut(dim, exchange.globalShape[dim.dim]);
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The hull of two parts, if on no rank it holds what neither of them does.
static std::optional<Tables> uniteExactly(const Exchange &exchange,
                                          const Tables &a, const Tables &b) {
  Tables hull;
  for (auto [x, y] : llvm::zip_equal(a, b))
    hull.push_back(hullOf(x, y));
  int64_t ranks = 1;
  for (int64_t size : exchange.meshShape)
    ranks *= size;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    double volume = 1, left = 1, right = 1, both = 1;
    for (auto [i, dim] : llvm::enumerate(exchange.dims)) {
      int64_t at = coordinateAlong(exchange.meshShape, dim.axes, rank);
      volume *= double(hull[i][at].size());
      left *= double(a[i][at].size());
      right *= double(b[i][at].size());
      both *= double(intersect(a[i][at], b[i][at]).size());
    }
    if (volume > left + right - both)
      return std::nullopt;
  }
  return hull;
}

/// What `exchange` needs as a part of `hull`. Along dims that are bound later
/// it is what is owned or all that is needed: these have formulas.
static Tables partOf(const Exchange &exchange, const Exchange &hull) {
  Tables part;
  for (const DimExchange &whole : hull.dims) {
    const DimExchange *dim = findDim(exchange, whole.dim);
    bool isOwned = !dim || dim->neededFormula == whole.ownedFormula;
    if (whole.ownedFormula)
      part.push_back(isOwned ? whole.owned : whole.needed);
    else
      part.push_back(dim ? dim->needed : whole.owned);
  }
  return part;
}

/// As few parts as hold the same, and none where they save nothing. If `hasOwn`
/// the last part is the own block.
static void simplifyParts(Exchange &exchange, bool hasOwn) {
  std::vector<Tables> &parts = exchange.parts;
  if (hasOwn) {
    // Each margin with the block that it is at.
    Tables own = std::move(parts.back());
    parts.pop_back();
    bool isHeld = false;
    for (Tables &part : parts)
      if (std::optional<Tables> hull = uniteExactly(exchange, part, own)) {
        part = std::move(*hull);
        isHeld = true;
      }
    if (!isHeld)
      parts.push_back(std::move(own));
  }
  auto uniteTwo = [&] {
    for (size_t i = 0; i < parts.size(); ++i)
      for (size_t j = i + 1; j < parts.size(); ++j)
        if (std::optional<Tables> hull =
                uniteExactly(exchange, parts[i], parts[j])) {
          parts[i] = std::move(*hull);
          parts.erase(parts.begin() + j);
          return true;
        }
    return false;
  };
  while (uniteTwo())
    ;
  Exchange all = exchange;
  all.parts.clear();
  if (parts.size() == 1 || parts.size() > kMaxParts ||
      elementsMoved(all) == elementsMoved(exchange))
    parts.clear();
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// True if `value`, which a later op of the block reads, is there at `op`
/// already.
static bool isThereAt(Value value, Operation *op) {
  Operation *maker = value.getDefiningOp();
  return !maker || maker->getBlock() != op->getBlock() ||
         maker->isBeforeInBlock(op);
}

/// Adds `op` to `group` if one exchange for all is worth it.
static bool join(Group &group, HaloExchangeOp op) {
  if (group.fill && op.getFill() && group.fill != op.getFill())
    return false;
  Value fill = group.fill ? group.fill : op.getFill();
  // The merged exchange takes the place of the first.
  if (fill && !isThereAt(fill, group.members.front()))
    return false;
  Exchange exchange = withDimsOf(exchangeOf(op), group.hull),
           hull = withDimsOf(group.hull, exchange);
  std::optional<Exchange> united = unite(hull, exchange);
  // A dim that one pads with a constant and another with itself.
  if (!united || (readsFill(*united) && !fill))
    return false;
  // One synchronisation is saved. But none travels while ranks work on the one
  // before, and all blocks are held at once: what arrives goes through memory.
  Cost cost = costOn(op);
  std::vector<int64_t> axes = axesOf(*united);
  double bytes = bytesOfRank(op, *united);
  if ((isOfOthers(exchange) || isOfOthers(hull)) &&
      !Cost::isWorth(cost.move(bytes, axes) + cost.copy(bytes),
                     cost.synchronize(axes)))
    return false;
  // Nothing travels that none of them needs, but all of the hull takes memory.
  if (needed(*united) > needed(hull) + needed(exchange))
    return false;
  group.hull = std::move(*united);
  group.members.push_back(op);
  group.fill = fill;
  return true;
}

namespace {
/// Builds what the members of a group become.
class Merger {
public:
  Merger(func::FuncOp function)
      : entry(&function.getBody().front()), builder(function.getContext()) {}
  void merge(Group &group);

private:
  OpFoldResult lookup(HaloExchangeOp op, ArrayRef<int64_t> table,
                      ArrayRef<int64_t> axes, const Formula &formula);

  Block *entry;
  OpBuilder builder;
};
} // namespace

OpFoldResult Merger::lookup(HaloExchangeOp op, ArrayRef<int64_t> table,
                            ArrayRef<int64_t> axes, const Formula &formula) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return lookUp(builder, op.getLoc(), lookupMesh(op, op.getMeshAttr()),
                op.getMeshAttr(), table, axes, formula);
}

void Merger::merge(Group &group) {
  HaloExchangeOp first = group.members.front();
  MeshAttr mesh = lookupMesh(first, first.getMeshAttr());
  auto type = cast<RankedTensorType>(first.getInput().getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Attribute> dims;
  for (const DimExchange &dim : group.hull.dims) {
    shape[dim.dim] = dim.neededFormula.isOpen()
                         ? ShapedType::kDynamic
                         : staticSize(sizesOf(dim.needed));
    dims.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  }
  SmallVector<Attribute> parts;
  for (const Tables &part : group.hull.parts)
    parts.push_back(ExchangePartAttr::get(builder.getContext(), part));
  Bucket bucket{{group.members.begin(), group.members.end()}, {}};
  builder.setInsertionPoint(first);
  // Numbers of one binding do not say what others need.
  Value fill =
      isBoundLate(group.hull) || readsFill(group.hull) ? group.fill : Value();
  auto merged = HaloExchangeOp::create(
      builder, bucket.joinLocations(), type.clone(shape), first.getInput(),
      fill, builder.getArrayAttr(dims), first.getMeshAttr(),
      bucket.joinReasons(),
      parts.empty() ? ArrayAttr() : builder.getArrayAttr(parts));
  for (HaloExchangeOp op : group.members) {
    Exchange exchange =
        cast<ExchangeOpInterface>(op.getOperation()).getExchange();
    auto result = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
        strides(shape.size(), builder.getIndexAttr(1)), sizes;
    builder.setInsertionPoint(op);
    for (int64_t i = 0; i < result.getRank(); ++i)
      sizes.push_back(result.isDynamicDim(i)
                          ? OpFoldResult()
                          : builder.getIndexAttr(result.getDimSize(i)));
    for (const DimExchange &whole : group.hull.dims) {
      const DimExchange *part = findDim(exchange, whole.dim);
      ArrayRef<Interval> intervals = part ? ArrayRef<Interval>(part->needed)
                                          : ArrayRef<Interval>(whole.owned);
      Formula formula, offset, size;
      if (whole.ownedFormula) {
        formula = part ? part->neededFormula : whole.ownedFormula;
        offset = Formula::offset(formula, whole.neededFormula);
        size = Formula::size(formula);
      }
      SmallVector<int64_t> first;
      for (auto [mine, all] : llvm::zip_equal(intervals, whole.needed))
        first.push_back(mine.empty() ? 0 : mine.begin - all.begin);
      offsets[whole.dim] = lookup(op, first, whole.axes, offset);
      if (result.isDynamicDim(whole.dim))
        sizes[whole.dim] = lookup(op, sizesOf(intervals), whole.axes, size);
    }
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!size)
        size = tensor::DimOp::create(builder, op.getLoc(), op.getInput(), i)
                   .getResult();
    Value part =
        takePart(builder, op.getLoc(), result, merged, offsets, sizes, strides);
    op.replaceAllUsesWith(part);
    op.erase();
  }
}

namespace {
struct MergeHalosPass final : shardc::impl::MergeHalosPassBase<MergeHalosPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Group> groups;
    getOperation().walk([&](Block *block) {
      llvm::MapVector<Value, SmallVector<Group>> bySource;
      for (HaloExchangeOp op : block->getOps<HaloExchangeOp>()) {
        SmallVector<Group> &known = bySource[op.getInput()];
        if (llvm::any_of(known, [&](Group &group) { return join(group, op); }))
          continue;
        known.push_back({{op}, exchangeOf(op), op.getFill()});
      }
      for (auto &[source, known] : bySource)
        for (Group &group : known) {
          // With the own block in it, unless that is much that nobody reads.
          std::optional<Exchange> whole =
              unite(group.hull, ownedOnly(group.hull));
          bool takes =
              whole && needed(*whole) <= kMaxGrowth * needed(group.hull);
          bool grows = takes && whole->dims != group.hull.dims;
          if (takes)
            group.hull = std::move(*whole);
          if (isBoundLate(group.hull)) {
            // Without the own block it may be that none of them has a formula.
            group.hull.parts.clear();
            for (HaloExchangeOp op :
                 takes ? ArrayRef(group.members) : ArrayRef<HaloExchangeOp>())
              group.hull.parts.push_back(partOf(exchangeOf(op), group.hull));
            if (takes)
              group.hull.parts.push_back(
                  partOf(ownedOnly(group.hull), group.hull));
          }
          simplifyParts(group.hull, takes);
          if (group.members.size() > 1 || grows)
            groups.push_back(std::move(group));
        }
    });
    Merger merger(getOperation());
    for (Group &group : groups)
      merger.merge(group);
    if (groups.empty())
      markAllAnalysesPreserved();
  }
};
} // namespace
