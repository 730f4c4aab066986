//===- BucketExchanges.cpp - Small exchanges travel together --------------===//
//
// Values that ranks exchange alike (three fields of one grid that need the same
// halo) are one behind the other in a new dim, which is not cut, and go at
// once. Shards of different values that are gathered, or of which each rank
// keeps its part, along their first dim (the weights of a model, and their
// gradients) are side by side in each rank's row.
//
//===----------------------------------------------------------------------===//

#include "Buckets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Spmd/IR/SpmdCommunication.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
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

/// True if both move the same parts of values of one shape.
static bool areAlike(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      sourceOf(a).getType() != sourceOf(b).getType() ||
      a->getResultTypes() != b->getResultTypes())
    return false;
  auto left = cast<ExchangeOpInterface>(a),
       right = cast<ExchangeOpInterface>(b);
  return left.getDims() == right.getDims() &&
         left.getArriving() == right.getArriving() &&
         left.getFillValue() == right.getFillValue() &&
         cast<CommunicationOpInterface>(a).getMeshName() ==
             cast<CommunicationOpInterface>(b).getMeshName();
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
  return llvm::any_of(dims.getAsRange<DimExchangeAttr>(),
                      [&](DimExchangeAttr attr) {
                        DimExchange dim = attr.getExchange(mesh);
                        return dim.owned != dim.needed;
                      });
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

static void stack(Bucket &bucket) {
  Operation *last = bucket.members.back();
  OpBuilder builder(last);
  Location loc = bucket.joinLocations();
  auto exchange = cast<ExchangeOpInterface>(last);
  int64_t count = bucket.members.size();
  RankedTensorType source = typeOf(sourceOf(last)),
                   result = typeOf(last->getResult(0));
  SmallVector<Value> values;
  for (Operation *member : bucket.members)
    values.push_back(lift(builder, member->getLoc(), sourceOf(member)));
  Value all = stablehlo::ConcatenateOp::create(
      builder, loc, source.clone(stacked(count, source.getShape())), values, 0);
  SmallVector<Attribute> dims;
  MeshAttr mesh =
      lookupMesh(last, cast<CommunicationOpInterface>(last).getMeshName());
  for (auto attr : exchange.getDims().getAsRange<DimExchangeAttr>()) {
    DimExchange dim = attr.getExchange(mesh);
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
  for (auto [i, member] : llvm::enumerate(bucket.members)) {
    Value part = slice(builder, member->getLoc(), moved, 0, i, i + 1);
    member->getResult(0).replaceAllUsesWith(
        lower(builder, member->getLoc(), part));
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
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct BucketExchangesPass final
    : shardc::impl::BucketExchangesPassBase<BucketExchangesPass> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = false;
    getOperation().walk([&](Block *block) {
      changed |=
          bundle(*block, {memberLimit, bucketLimit,
                          [](Operation *op) { return rowsOf(op).has_value(); },
                          largestBytes, haveAlikeRows, putSideBySide});
      changed |= bundle(*block, {memberLimit, bucketLimit, mayStack,
                                 largestBytes, areAlike, stack});
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
