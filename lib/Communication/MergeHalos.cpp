//===- MergeHalos.cpp - One halo exchange for all that read a value -------===//
//
// A stencil reads its neighbours one by one: a roll to the north, one to the
// east, a difference to the west. Each is an exchange that copies the whole
// block for one row of another rank. The hull of all that is needed is one
// block with margins, exchanged once; what each reader needs is a slice of it.
// It holds the own block as well, so that it may be where the own block lies.
//
//===----------------------------------------------------------------------===//
#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdTables.h"
#include "llvm/ADT/MapVector.h"

namespace shardc {
#define GEN_PASS_DEF_MERGEHALOSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// How much more than its members a hull may move, and than what is needed it
/// may hold for the sake of the own block.
static constexpr double kMaxGrowth = 1.25;

namespace {
/// Exchanges of one value on their way to being one.
struct Group {
  SmallVector<HaloExchangeOp> members;
  Exchange hull;
  Value fill;
};
} // namespace

static Interval hullOf(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

static const DimExchange *findDim(const Exchange &exchange, int64_t dim) {
  for (const DimExchange &entry : exchange.dims)
    if (entry.dim == dim)
      return &entry;
  return nullptr;
}

static bool reachesOut(const DimExchange &dim, int64_t size) {
  return llvm::any_of(dim.needed, [&](Interval needed) { return !Interval{0, size}.contains(needed); });
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

/// The exchange that needs what `a` and `b` need; nullopt if they cut a dim
/// differently, or want different things outside it. Dims that one of them does
/// not list it needs as they are owned.
static std::optional<Exchange> unite(const Exchange &a, const Exchange &b) {
  Exchange result = a;
  for (DimExchange &dim : result.dims) {
    const DimExchange *other = findDim(b, dim.dim);
    if (other && (other->axes != dim.axes || other->owned != dim.owned))
      return std::nullopt;
    if (other) {
      int64_t size = a.globalShape[dim.dim];
      if (reachesOut(dim, size) && reachesOut(*other, size) && dim.padding != other->padding)
        return std::nullopt;
      if (reachesOut(*other, size))
        dim.padding = other->padding;
    }
    for (size_t i = 0; i < dim.needed.size(); ++i)
      dim.needed[i] = hullOf(dim.needed[i], other ? other->needed[i] : dim.owned[i]);
  }
  for (const DimExchange &dim : b.dims) {
    if (findDim(a, dim.dim))
      continue;
    // Before, it had the extent of the block.
    result.globalShape[dim.dim] = b.globalShape[dim.dim];
    DimExchange &added = result.dims.emplace_back(dim);
    for (size_t i = 0; i < added.needed.size(); ++i)
      added.needed[i] = hullOf(added.needed[i], added.owned[i]);
  }
  llvm::sort(result.dims, [](const DimExchange &x, const DimExchange &y) { return x.dim < y.dim; });
  return result;
}

/// Each dim needed as it is owned.
static Exchange ownedOnly(Exchange exchange) {
  for (DimExchange &dim : exchange.dims) {
    dim.needed = dim.owned;
    dim.padding = Padding::Constant;
  }
  return exchange;
}

/// Whether the constant outside matters to `exchange`.
static bool readsFill(const Exchange &exchange) {
  return llvm::any_of(exchange.dims, [&](const DimExchange &dim) {
    return dim.padding == Padding::Constant && reachesOut(dim, exchange.globalShape[dim.dim]);
  });
}

/// Adds `op` to `group` if one exchange for all is worth it.
static bool join(Group &group, HaloExchangeOp op) {
  Exchange exchange = cast<ExchangeOpInterface>(op.getOperation()).getExchange();
  if (group.fill && op.getFill() && group.fill != op.getFill())
    return false;
  // A dim that one pads with a constant and another with itself.
  std::optional<Exchange> united = unite(group.hull, exchange);
  if (!united || (readsFill(*united) && !group.fill && !op.getFill()))
    return false;
  if (needed(*united) > needed(group.hull) + needed(exchange))
    return false;
  if (double(elementsMoved(*united)) > kMaxGrowth * double(elementsMoved(group.hull) + elementsMoved(exchange)))
    return false;
  group.hull = std::move(*united);
  group.members.push_back(op);
  if (!group.fill)
    group.fill = op.getFill();
  return true;
}

namespace {
/// Builds what the members of a group become.
class Merger {
public:
  Merger(func::FuncOp function) : entry(&function.getBody().front()), builder(function.getContext()) {}
  void merge(Group &group);

private:
  OpFoldResult lookup(HaloExchangeOp op, ArrayRef<int64_t> table, ArrayRef<int64_t> axes);

  Block *entry;
  OpBuilder builder;
};
} // namespace

OpFoldResult Merger::lookup(HaloExchangeOp op, ArrayRef<int64_t> table, ArrayRef<int64_t> axes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return lookUp(builder, op.getLoc(), lookupMesh(op, op.getMeshAttr()), op.getMeshAttr(), table, axes);
}

void Merger::merge(Group &group) {
  HaloExchangeOp first = group.members.front();
  MeshAttr mesh = lookupMesh(first, first.getMeshAttr());
  auto type = cast<RankedTensorType>(first.getInput().getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Attribute> dims;
  for (const DimExchange &dim : group.hull.dims) {
    shape[dim.dim] = staticSize(sizesOf(dim.needed));
    dims.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  }
  Bucket bucket{{group.members.begin(), group.members.end()}, {}};
  builder.setInsertionPoint(first);
  auto merged = HaloExchangeOp::create(builder, bucket.joinLocations(), type.clone(shape), first.getInput(),
                                       readsFill(group.hull) ? group.fill : Value(), builder.getArrayAttr(dims),
                                       first.getMeshAttr(), bucket.joinReasons());
  for (HaloExchangeOp op : group.members) {
    Exchange exchange = cast<ExchangeOpInterface>(op.getOperation()).getExchange();
    auto result = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)), strides(shape.size(), builder.getIndexAttr(1)), sizes;
    builder.setInsertionPoint(op);
    for (int64_t i = 0; i < result.getRank(); ++i)
      sizes.push_back(result.isDynamicDim(i) ? OpFoldResult() : builder.getIndexAttr(result.getDimSize(i)));
    for (const DimExchange &whole : group.hull.dims) {
      const DimExchange *part = findDim(exchange, whole.dim);
      ArrayRef<Interval> intervals = part ? ArrayRef<Interval>(part->needed) : ArrayRef<Interval>(whole.owned);
      SmallVector<int64_t> first;
      for (auto [mine, all] : llvm::zip_equal(intervals, whole.needed))
        first.push_back(mine.empty() ? 0 : mine.begin - all.begin);
      offsets[whole.dim] = lookup(op, first, whole.axes);
      if (result.isDynamicDim(whole.dim))
        sizes[whole.dim] = lookup(op, sizesOf(intervals), whole.axes);
    }
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!size)
        size = tensor::DimOp::create(builder, op.getLoc(), op.getInput(), i).getResult();
    Value part = tensor::ExtractSliceOp::create(builder, op.getLoc(), result, merged, offsets, sizes, strides);
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
        known.push_back({{op}, cast<ExchangeOpInterface>(op.getOperation()).getExchange(), op.getFill()});
      }
      for (auto &[source, known] : bySource)
        for (Group &group : known) {
          // With the own block in it, unless that is much that nobody reads.
          std::optional<Exchange> whole = unite(group.hull, ownedOnly(group.hull));
          bool grows = whole && whole->dims != group.hull.dims;
          if (grows && needed(*whole) <= kMaxGrowth * needed(group.hull))
            group.hull = std::move(*whole);
          else
            grows = false;
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
