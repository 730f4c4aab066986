//===- BucketExchanges.cpp - Small exchanges travel together --------------===//
//
// Values that ranks exchange alike (three fields of one grid that need the same
// halo) are one behind the other in a new dim, which is not cut, and go at
// once. Shards of different values that are gathered, or of which each rank
// keeps its part, along their first dim (the weights of a model, and their
// gradients) are side by side in each rank's row; where sizes of shards are
// bound later, in each row of these.
//
// Where sizes are bound later, two exchanges may be alike for the sizes of the
// estimate and follow from others: queries and keys of one length are cut as
// two arguments are. Such values are moved to the same shards before, and back
// behind, which moves nothing where they are cut alike; and where they need
// nearly the same they get the hull.
//
//===----------------------------------------------------------------------===//

#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Layout/TravelFormula.h"
#include "shardc/Support/Slices.h"

namespace shardc {
#define GEN_PASS_DEF_BUCKETEXCHANGESPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static Value sourceOf(Operation *op) {
  return cast<CommunicationOpInterface>(op).getSource();
}
static int64_t largestBytes(Operation *op) {
  return std::max(estimateBytes(op, sourceOf(op)),
                  estimateBytes(op, op->getResult(0)));
}

/// Of a dim that is known.
static Value slice(OpBuilder &builder, Location loc, Value value, int64_t dim,
                   int64_t begin, int64_t end) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = end - begin;
  if (!type.hasStaticShape()) {
    Attribute zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    SmallVector<OpFoldResult> first(type.getRank(), zero),
        sizes = tensor::getMixedSizes(builder, loc, value),
        ones(type.getRank(), one);
    first[dim] = builder.getIndexAttr(begin);
    sizes[dim] = builder.getIndexAttr(end - begin);
    return takePart(builder, loc, type.clone(shape), value, first, sizes, ones);
  }
  SmallVector<int64_t> first(type.getRank(), 0), limit(type.getShape()),
      ones(type.getRank(), 1);
  first[dim] = begin;
  limit[dim] = end;
  return stablehlo::SliceOp::create(builder, loc, type.clone(shape), value,
                                    builder.getDenseI64ArrayAttr(first),
                                    builder.getDenseI64ArrayAttr(limit),
                                    builder.getDenseI64ArrayAttr(ones));
}

static Value reshape(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value).clone(shape);
  return type == value.getType()
             ? value
             : stablehlo::ReshapeOp::create(builder, loc, type, value)
                   .getResult();
}

//===----------------------------------------------------------------------===//
// One behind the other
//===----------------------------------------------------------------------===//

using DimExchanges = SmallVector<DimExchange>;

static DimExchanges dimsOf(Operation *op) {
  MeshAttr mesh =
      lookupMesh(op, cast<CommunicationOpInterface>(op).getMeshName());
  DimExchanges dims;
  ArrayAttr attrs = cast<CommunicationOpInterface>(op).getDims();
  for (auto attr : attrs.getAsRange<DimExchangeAttr>())
    dims.push_back(attr.getExchange(mesh));
  return dims;
}

static bool areShards(const Formula &formula) {
  return formula && formula.kind() == FormulaKind::Shards;
}

/// True if tables that are the same for the sizes of the estimate may be made
/// one for all: by moving from shards to shards, or, of what is needed, by the
/// hull.
static bool mayBeOne(const Formula &a, const Formula &b, bool isNeeded) {
  if (a == b)
    return true;
  if (!a || !b || areShards(a) != areShards(b))
    return false;
  return areShards(a) || (isNeeded && nearHullOf(a, b));
}

/// True if `a` and `b` move alike for the sizes of the estimate, and may for
/// all.
static bool haveAlikeDims(Operation *a, Operation *b) {
  DimExchanges left = dimsOf(a), right = dimsOf(b);
  if (left.size() != right.size())
    return false;
  bool movesBehind = false, arriveAsShards = true;
  for (auto [x, y] : llvm::zip(left, right)) {
    if (x.dim != y.dim || x.axes != y.axes || x.owned != y.owned ||
        x.needed != y.needed || x.padding != y.padding ||
        !mayBeOne(x.ownedFormula, y.ownedFormula, /*isNeeded=*/false) ||
        !mayBeOne(x.neededFormula, y.neededFormula, /*isNeeded=*/true))
      return false;
    movesBehind |=
        areShards(x.neededFormula) && !(x.neededFormula == y.neededFormula);
    arriveAsShards &=
        areShards(x.neededFormula) ||
        (!x.neededFormula && llvm::all_of(x.needed, [&](Interval needed) {
          return Interval{0, x.size()}.contains(needed);
        }));
  }
  return !movesBehind || arriveAsShards;
}

/// True if both move the same parts of values of one shape.
static bool areAlike(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      sourceOf(a).getType() != sourceOf(b).getType() ||
      a->getResultTypes() != b->getResultTypes())
    return false;
  auto left = cast<ExchangeOpInterface>(a),
       right = cast<ExchangeOpInterface>(b);
  return left.getArriving() == right.getArriving() &&
         left.getFillValue() == right.getFillValue() &&
         cast<CommunicationOpInterface>(a).getMeshName() ==
             cast<CommunicationOpInterface>(b).getMeshName() &&
         (left.getDims() == right.getDims() || haveAlikeDims(a, b));
}

/// Groups of `count` dims of which the first two are one.
static SmallVector<ReassociationIndices> firstTwo(int64_t count) {
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim < count; ++dim)
    groups.push_back({dim});
  return groups;
}

/// True if every dim of unknown size is one along which `op` moves.
static bool isCutWhereOpen(Operation *op, RankedTensorType type) {
  llvm::SmallBitVector moved(type.getRank());
  auto dims = cast<ExchangeOpInterface>(op).getDims();
  for (auto attr : dims.getAsRange<DimExchangeAttr>())
    moved.set(attr.getDim());
  return llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t dim) {
    return moved.test(dim) || !type.isDynamicDim(dim);
  });
}

/// True if any rank needs of `dim` what it does not own, in the binding by
/// which costs are estimated.
static bool arrives(const DimExchange &dim) {
  Interval domain = {0, dim.size()};
  return llvm::any_of(llvm::zip_equal(dim.owned, dim.needed), [&](auto both) {
    auto [owned, needed] = both;
    return !owned.contains(intersect(needed, domain));
  });
}

/// True if `op` may be one of several that go one behind the other. Sizes that
/// differ between ranks are the same in all that move by one table; and what
/// moves nothing in the binding by which costs are estimated is better left
/// where it is.
static bool mayStack(Operation *op) {
  if (!isa<HaloExchangeOp, RebalanceOp, AllGatherOp, AllToAllOp>(op))
    return false;
  RankedTensorType source = typeOf(sourceOf(op)),
                   result = typeOf(op->getResult(0));
  if (source.hasStaticShape() && result.hasStaticShape())
    return true;
  if (!isCutWhereOpen(op, source) || !isCutWhereOpen(op, result))
    return false;
  MeshAttr mesh =
      lookupMesh(op, cast<CommunicationOpInterface>(op).getMeshName());
  auto dims = cast<ExchangeOpInterface>(op).getDims();
  return llvm::any_of(
      dims.getAsRange<DimExchangeAttr>(),
      [&](DimExchangeAttr attr) { return arrives(attr.getExchange(mesh)); });
}

/// `value` with a dim of 1 in front, or without it.
static Value lift(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  if (type.hasStaticShape())
    return reshape(builder, loc, value, shape);
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(builder, loc, value));
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value,
                                       firstTwo(type.getRank() + 1), sizes);
}
static Value lower(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  if (type.hasStaticShape())
    return reshape(builder, loc, value, type.getShape().drop_front());
  return tensor::CollapseShapeOp::create(builder, loc, value,
                                         firstTwo(type.getRank()));
}

static SmallVector<int64_t> stacked(int64_t count, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result = {count};
  llvm::append_range(result, shape);
  return result;
}

/// The formula that most of `dims` have, the first of these.
static Formula
mostCommon(ArrayRef<DimExchanges> dims,
           llvm::function_ref<Formula(const DimExchanges &)> of) {
  auto votes = [&](const DimExchanges &one) {
    return llvm::count_if(
        dims, [&](const DimExchanges &other) { return of(one) == of(other); });
  };
  const DimExchanges *best = dims.begin();
  for (const DimExchanges &one : dims)
    if (votes(one) > votes(*best))
      best = &one;
  return of(*best);
}

/// What all of `members` own and need: the same, or that to which they are
/// moved, and what is around all that they need.
static DimExchanges uniteDims(ArrayRef<DimExchanges> members) {
  DimExchanges united = members.front();
  for (auto [i, dim] : llvm::enumerate(united)) {
    dim.ownedFormula = mostCommon(members, [i = i](const DimExchanges &dims) {
      return dims[i].ownedFormula;
    });
    if (areShards(dim.neededFormula)) {
      dim.neededFormula =
          mostCommon(members, [i = i](const DimExchanges &dims) {
            return dims[i].neededFormula;
          });
      continue;
    }
    for (const DimExchanges &other : members.drop_front())
      if (!(dim.neededFormula == other[i].neededFormula)) {
        Formula hull = hullOf(dim.neededFormula, other[i].neededFormula);
        dim.neededFormula =
            hull ? hull
                 : hullFormula(dim.neededFormula, other[i].neededFormula);
      }
  }
  return united;
}

namespace {
/// Builds the exchange of several values that are one behind the other, or side
/// by side.
class Stacking {
public:
  void stack(Bucket &bucket);
  void putOpenSideBySide(Bucket &bucket);
  /// Moves that were between shards that nothing needs any more.
  void eraseUnused() {
    for (Operation *op : unused)
      if (op->use_empty())
        op->erase();
  }

private:
  Value toShards(OpBuilder &builder, Operation *member, Value value,
                 ArrayRef<DimExchange> from, ArrayRef<DimExchange> to,
                 bool ofNeeded);
  Value takeNeeded(OpBuilder &builder, Operation *member, Value value,
                   ArrayRef<DimExchange> whole, ArrayRef<DimExchange> part);

  SmallVector<Operation *> unused;
};
} // namespace

/// `value`, in shards as `from` owns (or needs) them, in those of `to`.
Value Stacking::toShards(OpBuilder &builder, Operation *member, Value value,
                         ArrayRef<DimExchange> from, ArrayRef<DimExchange> to,
                         bool ofNeeded) {
  auto formula = [&](const DimExchange &dim) {
    return ofNeeded ? dim.neededFormula : dim.ownedFormula;
  };
  auto communication = cast<CommunicationOpInterface>(member);
  FlatSymbolRefAttr meshName = communication.getMeshName();
  MeshAttr mesh = lookupMesh(member, meshName);
  bool differs = false;
  DimExchanges dims;
  for (auto [before, after] : llvm::zip_equal(from, to)) {
    DimExchange &dim = dims.emplace_back(before);
    dim.padding = Padding::Constant;
    dim.owned = dim.needed = ofNeeded ? before.needed : before.owned;
    dim.ownedFormula = formula(before);
    dim.neededFormula = formula(after);
    differs |= !(dim.ownedFormula == dim.neededFormula);
  }
  if (!differs)
    return value;
  // What was moved to the one shards goes to the others at once.
  Operation *maker = value.getDefiningOp();
  if (!ofNeeded && maker && isa<HaloExchangeOp, RebalanceOp>(maker) &&
      maker->hasOneUse() && maker->getNumOperands() == 1) {
    DimExchanges earlier = dimsOf(maker);
    auto follows = [](const DimExchange &first, const DimExchange &second) {
      return first.dim == second.dim && first.axes == second.axes &&
             first.needed == second.owned &&
             first.neededFormula == second.ownedFormula &&
             (areShards(first.ownedFormula) ||
              first.ownedFormula == first.neededFormula);
    };
    if (earlier.size() == dims.size() &&
        sourceOf(maker).getType() == value.getType() &&
        llvm::all_of(llvm::zip(earlier, dims), [&](auto pair) {
          return follows(std::get<0>(pair), std::get<1>(pair));
        })) {
      for (auto [first, dim] : llvm::zip(earlier, dims)) {
        dim.owned = first.owned;
        dim.ownedFormula = first.ownedFormula;
      }
      value = sourceOf(maker);
      unused.push_back(maker);
    }
  }
  SmallVector<Attribute> attrs;
  for (const DimExchange &dim : dims)
    attrs.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  return RebalanceOp::create(builder, member->getLoc(), value.getType(), value,
                             /*fill=*/Value(), builder.getArrayAttr(attrs),
                             meshName, communication.getReasonAttr());
}

/// Of `value`, which is all that `whole` needs, what `part` does.
Value Stacking::takeNeeded(OpBuilder &builder, Operation *member, Value value,
                           ArrayRef<DimExchange> whole,
                           ArrayRef<DimExchange> part) {
  Location loc = member->getLoc();
  FlatSymbolRefAttr meshName =
      cast<CommunicationOpInterface>(member).getMeshName();
  MeshAttr mesh = lookupMesh(member, meshName);
  RankedTensorType type = typeOf(value);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)), sizes;
  bool differs = false;
  for (auto [all, mine] : llvm::zip_equal(whole, part)) {
    if (mine.neededFormula == all.neededFormula)
      continue;
    if (!differs)
      sizes = tensor::getMixedSizes(builder, loc, value);
    differs = true;
    SmallVector<int64_t> zeros(mine.needed.size(), 0);
    offsets[mine.dim] =
        lookUp(builder, loc, mesh, meshName, zeros, mine.axes,
               Formula::offset(mine.neededFormula, all.neededFormula));
    if (type.isDynamicDim(mine.dim))
      sizes[mine.dim] =
          lookUp(builder, loc, mesh, meshName, sizesOf(mine.needed), mine.axes,
                 Formula::size(mine.neededFormula));
  }
  return differs ? takePart(builder, loc, type, value, offsets, sizes, strides)
                 : value;
}

void Stacking::stack(Bucket &bucket) {
  Operation *last = bucket.members.back();
  OpBuilder builder(last);
  Location loc = bucket.joinLocations();
  int64_t count = bucket.members.size();
  RankedTensorType source = typeOf(sourceOf(last)),
                   result = typeOf(last->getResult(0));
  SmallVector<DimExchanges> ofMembers;
  for (Operation *member : bucket.members)
    ofMembers.push_back(dimsOf(member));
  DimExchanges united = uniteDims(ofMembers);
  SmallVector<Value> values;
  for (auto [member, dims] : llvm::zip(bucket.members, ofMembers)) {
    Value value = toShards(builder, member, sourceOf(member), dims, united,
                           /*ofNeeded=*/false);
    values.push_back(lift(builder, member->getLoc(), value));
  }
  Value all = stablehlo::ConcatenateOp::create(
      builder, loc, source.clone(stacked(count, source.getShape())), values, 0);
  SmallVector<Attribute> dims;
  MeshAttr mesh =
      lookupMesh(last, cast<CommunicationOpInterface>(last).getMeshName());
  for (DimExchange dim : united) {
    ++dim.dim;
    dims.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  }
  auto stack = cast<ExchangeOpInterface>(builder.clone(*last));
  Value moved = stack->getResult(0);
  stack->setLoc(loc);
  stack->setOperand(0, all);
  moved.setType(result.clone(stacked(count, result.getShape())));
  stack.setDimsAttr(builder.getArrayAttr(dims));
  stack.setReasonAttr(bucket.joinReasons());
  for (auto [i, member, dims] : llvm::enumerate(bucket.members, ofMembers)) {
    Value part = slice(builder, member->getLoc(), moved, 0, i, i + 1);
    part = lower(builder, member->getLoc(), part);
    bool areAllShards = llvm::none_of(dims, [](const DimExchange &dim) {
      return dim.neededFormula && !areShards(dim.neededFormula);
    });
    part = areAllShards ? toShards(builder, member, part, united, dims,
                                   /*ofNeeded=*/true)
                        : takeNeeded(builder, member, part, united, dims);
    member->getResult(0).replaceAllUsesWith(part);
  }
  bucket.retire();
}

//===----------------------------------------------------------------------===//
// Side by side in each rank's row
//===----------------------------------------------------------------------===//

namespace {
/// A gather, or a reduce-scatter, of equal shards along the first dim.
struct Rows {
  Attribute axes;
  int64_t ranks = 0;
};
} // namespace

/// What `op` does along its first dim, if that is all it does.
static std::optional<Rows> rowsOf(Operation *op) {
  bool scatters = isa<ReduceScatterOp>(op);
  if ((!scatters && !isa<AllGatherOp>(op)) ||
      (isa<AllGatherOp>(op) && cast<AllGatherOp>(op).getFill()))
    return std::nullopt;
  auto communication = cast<CommunicationOpInterface>(op);
  ArrayAttr dims = communication.getDims();
  RankedTensorType source = typeOf(sourceOf(op)),
                   result = typeOf(op->getResult(0));
  if (dims.size() != 1 || !source.hasStaticShape() ||
      !result.hasStaticShape() || source.getRank() == 0)
    return std::nullopt;
  auto attr = cast<DimExchangeAttr>(dims[0]);
  DimExchange dim =
      attr.getExchange(lookupMesh(op, communication.getMeshName()));
  const std::vector<Interval> &parts = scatters ? dim.needed : dim.owned,
                              &wholes = scatters ? dim.owned : dim.needed;
  int64_t ranks = parts.size(), each = parts.front().size();
  if (dim.dim != 0 || each == 0)
    return std::nullopt;
  for (int64_t i = 0; i < ranks; ++i)
    if (!(parts[i] == Interval{i * each, (i + 1) * each}) ||
        !(wholes[i] == Interval{0, ranks * each}))
      return std::nullopt;
  auto axes = ArrayAttr::get(
      op->getContext(),
      SmallVector<Attribute>(attr.getAxes().begin(), attr.getAxes().end()));
  if (scatters && cast<ReduceScatterOp>(op).getAxes() != axes)
    return std::nullopt;
  return Rows{axes, ranks};
}

static bool haveAlikeRows(Operation *a, Operation *b) {
  std::optional<Rows> left = rowsOf(a), right = rowsOf(b);
  if (a->getName() != b->getName() || !left || !right ||
      left->axes != right->axes ||
      cast<CommunicationOpInterface>(a).getMeshName() !=
          cast<CommunicationOpInterface>(b).getMeshName() ||
      getElementTypeOrSelf(sourceOf(a).getType()) !=
          getElementTypeOrSelf(sourceOf(b).getType()))
    return false;
  auto scatter = dyn_cast<ReduceScatterOp>(a);
  return !scatter || scatter.getKind() == cast<ReduceScatterOp>(b).getKind();
}

static void putSideBySide(Bucket &bucket) {
  Operation *last = bucket.members.back();
  OpBuilder builder(last);
  Location loc = bucket.joinLocations();
  Rows rows = *rowsOf(last);
  bool scatters = isa<ReduceScatterOp>(last);
  int64_t before = scatters ? rows.ranks : 1, after = scatters ? 1 : rows.ranks;
  SmallVector<Value> values;
  int64_t width = 0;
  for (Operation *member : bucket.members) {
    int64_t size = typeOf(sourceOf(member)).getNumElements() / before;
    values.push_back(
        reshape(builder, member->getLoc(), sourceOf(member), {before, size}));
    width += size;
  }
  RankedTensorType source = typeOf(sourceOf(last));
  Value all = stablehlo::ConcatenateOp::create(
      builder, loc, source.clone({before, width}), values, 1);
  auto communication = cast<CommunicationOpInterface>(last);
  FlatSymbolRefAttr meshName = communication.getMeshName();
  MeshAttr mesh = lookupMesh(last, meshName);
  DimExchange dim =
      cast<DimExchangeAttr>(communication.getDims()[0]).getExchange(mesh);
  for (int64_t i = 0; i < rows.ranks; ++i) {
    Interval row = {i, i + 1}, whole = {0, rows.ranks};
    dim.owned[i] = scatters ? whole : row;
    dim.needed[i] = scatters ? row : whole;
  }
  Type type = source.clone({after, width});
  ArrayAttr dims = builder.getArrayAttr(
      {DimExchangeAttr::get(builder.getContext(), mesh, dim)});
  StringAttr reasons = bucket.joinReasons();
  Value moved;
  if (auto scatter = dyn_cast<ReduceScatterOp>(last))
    moved =
        ReduceScatterOp::create(builder, loc, type, all, scatter.getKindAttr(),
                                scatter.getAxes(), dims, meshName, reasons);
  else
    moved = AllGatherOp::create(builder, loc, type, all, /*fill=*/Value(), dims,
                                meshName, reasons);
  int64_t begin = 0;
  for (Operation *member : bucket.members) {
    RankedTensorType type = typeOf(member->getResult(0));
    int64_t end = begin + type.getNumElements() / after;
    Value part = slice(builder, member->getLoc(), moved, 1, begin, end);
    member->getResult(0).replaceAllUsesWith(
        reshape(builder, member->getLoc(), part, type.getShape()));
    begin = end;
  }
  bucket.retire();
}

//===----------------------------------------------------------------------===//
// Side by side in rows whose number is bound later
//===----------------------------------------------------------------------===//

/// True if `op` gathers shards along its first dim, or keeps them of a sum, and
/// the sizes of these shards alone are bound later.
static bool hasOpenRows(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  auto gather = dyn_cast<AllGatherOp>(op);
  if (!scatter && (!gather || gather.getFill()))
    return false;
  ArrayAttr dims = cast<CommunicationOpInterface>(op).getDims();
  RankedTensorType cut = typeOf(sourceOf(op)), all = typeOf(op->getResult(0));
  if (scatter)
    std::swap(cut, all);
  if (dims.size() != 1 || !all.hasStaticShape() ||
      cut.getNumDynamicDims() != 1 || !cut.isDynamicDim(0))
    return false;
  DimExchange dim = dimsOf(op).front();
  if (scatter)
    std::swap(dim.ownedFormula, dim.neededFormula);
  return dim.dim == 0 && areShards(dim.ownedFormula) &&
         dim.neededFormula == Formula::same({0, all.getDimSize(0)}) &&
         (!scatter || llvm::equal(scatter.getAxes().getAsRange<StringAttr>(),
                                  cast<DimExchangeAttr>(dims[0]).getAxes()));
}

static bool haveAlikeOpenRows(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || !hasOpenRows(a) || !hasOpenRows(b) ||
      cast<CommunicationOpInterface>(a).getMeshName() !=
          cast<CommunicationOpInterface>(b).getMeshName() ||
      getElementTypeOrSelf(sourceOf(a).getType()) !=
          getElementTypeOrSelf(sourceOf(b).getType()) ||
      !haveAlikeDims(a, b))
    return false;
  auto scatter = dyn_cast<ReduceScatterOp>(a);
  return !scatter || scatter.getKind() == cast<ReduceScatterOp>(b).getKind();
}

/// Elements of one index of the first dim.
static int64_t widthOf(Value value) {
  return ShapedType::getNumElements(typeOf(value).getShape().drop_front());
}

/// `value` with all dims but the first as one.
static Value flatten(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape = {type.getDimSize(0), widthOf(value)};
  if (type.hasStaticShape())
    return reshape(builder, loc, value, shape);
  if (type.getRank() == 1) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, value);
    sizes.push_back(builder.getIndexAttr(1));
    SmallVector<ReassociationIndices> both = {{0, 1}};
    return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value,
                                         both, sizes);
  }
  if (type.getRank() == 2)
    return value;
  ReassociationIndices others =
      llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
  return tensor::CollapseShapeOp::create(
      builder, loc, value, ArrayRef<ReassociationIndices>{{0}, others});
}

/// `value`, which was flattened, as `type`.
static Value unflatten(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType type) {
  if (type.hasStaticShape())
    return reshape(builder, loc, value, type.getShape());
  if (type.getRank() == 2)
    return value;
  if (type.getRank() == 1)
    return tensor::CollapseShapeOp::create(
        builder, loc, value, ArrayRef<ReassociationIndices>{{0, 1}});
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(builder, loc, value, 0)};
  for (int64_t size : type.getShape().drop_front())
    sizes.push_back(builder.getIndexAttr(size));
  ReassociationIndices others =
      llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
  return tensor::ExpandShapeOp::create(
      builder, loc, type, value, ArrayRef<ReassociationIndices>{{0}, others},
      sizes);
}

void Stacking::putOpenSideBySide(Bucket &bucket) {
  Operation *last = bucket.members.back();
  OpBuilder builder(last);
  Location loc = bucket.joinLocations();
  auto scatter = dyn_cast<ReduceScatterOp>(last);
  SmallVector<DimExchanges> ofMembers;
  for (Operation *member : bucket.members)
    ofMembers.push_back(dimsOf(member));
  DimExchanges united = uniteDims(ofMembers);
  SmallVector<Value> values;
  int64_t width = 0;
  for (auto [member, dims] : llvm::zip_equal(bucket.members, ofMembers)) {
    Value value = sourceOf(member);
    if (!scatter)
      value =
          toShards(builder, member, value, dims, united, /*ofNeeded=*/false);
    values.push_back(flatten(builder, member->getLoc(), value));
    width += widthOf(value);
  }
  auto of = [&](Value value) {
    return typeOf(value).clone({typeOf(value).getDimSize(0), width});
  };
  Value all = stablehlo::ConcatenateOp::create(builder, loc, of(sourceOf(last)),
                                               values, 1);
  FlatSymbolRefAttr meshName =
      cast<CommunicationOpInterface>(last).getMeshName();
  ArrayAttr dims = builder.getArrayAttr({DimExchangeAttr::get(
      builder.getContext(), lookupMesh(last, meshName), united.front())});
  Type type = of(last->getResult(0));
  Value moved;
  if (scatter)
    moved = ReduceScatterOp::create(builder, loc, type, all,
                                    scatter.getKindAttr(), scatter.getAxes(),
                                    dims, meshName, bucket.joinReasons());
  else
    moved = AllGatherOp::create(builder, loc, type, all, /*fill=*/Value(), dims,
                                meshName, bucket.joinReasons());
  int64_t begin = 0;
  for (auto [member, dims] : llvm::zip_equal(bucket.members, ofMembers)) {
    Location where = member->getLoc();
    int64_t end = begin + widthOf(member->getResult(0));
    Value part = slice(builder, where, moved, 1, begin, end);
    part = unflatten(builder, where, part, typeOf(member->getResult(0)));
    if (scatter)
      part = toShards(builder, member, part, united, dims, /*ofNeeded=*/true);
    member->getResult(0).replaceAllUsesWith(part);
    begin = end;
  }
  bucket.retire();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct BucketExchangesPass final
    : shardc::impl::BucketExchangesPassBase<BucketExchangesPass> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = false;
    Stacking stacking;
    getOperation().walk([&](Block *block) {
      changed |=
          bundle(*block, {memberLimit, bucketLimit,
                          [](Operation *op) { return rowsOf(op).has_value(); },
                          largestBytes, haveAlikeRows, putSideBySide});
      changed |=
          bundle(*block, {memberLimit, bucketLimit, hasOpenRows, largestBytes,
                          haveAlikeOpenRows, [&](Bucket &bucket) {
                            stacking.putOpenSideBySide(bucket);
                          }});
      changed |= bundle(
          *block, {memberLimit, bucketLimit, mayStack, largestBytes, areAlike,
                   [&](Bucket &bucket) { stacking.stack(bucket); }});
    });
    stacking.eraseUnused();
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
