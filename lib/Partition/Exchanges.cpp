//===- Exchanges.cpp - From what is owned to what is needed ---------------===//
#include "Exchanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/PlantedFault.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

int64_t RankTables::countCoordinates(ArrayRef<int64_t> axes) const {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= mesh.getAxisSizes()[axis];
  return count;
}

OpFoldResult RankTables::lookup(ArrayRef<int64_t> table,
                                ArrayRef<int64_t> axes) {
  OpBuilder builder(mesh.getContext());
  auto [entryOfTable, isNew] =
      known.try_emplace({builder.getDenseI64ArrayAttr(table),
                         builder.getDenseI64ArrayAttr(axes)});
  if (isNew) {
    if (lastLookup)
      builder.setInsertionPointAfter(lastLookup);
    else
      builder.setInsertionPointToStart(entry);
    entryOfTable->second = lookUp(builder, entry->getParentOp()->getLoc(), mesh,
                                  meshName, table, axes);
    if (auto value = dyn_cast<Value>(entryOfTable->second))
      lastLookup = value.getDefiningOp();
  }
  return entryOfTable->second;
}

DenseElementsAttr shardc::zeroScalar(Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  Builder builder(elementType.getContext());
  if (auto complex = dyn_cast<ComplexType>(elementType)) {
    Attribute zero = builder.getZeroAttr(complex.getElementType());
    return DenseElementsAttr::get(type, builder.getArrayAttr({zero, zero}));
  }
  return DenseElementsAttr::get(type, builder.getZeroAttr(elementType));
}

IntervalTable shardc::ownedTable(MeshAttr mesh, DimShardingAttr dim,
                                 int64_t size) {
  IntervalTable table;
  for (StringAttr axis : dim.getAxes())
    table.axes.push_back(mesh.getAxisIndex(axis.getValue()));
  Boundaries bounds = dim.getBoundaries(mesh, size);
  for (int64_t i = 0; i < bounds.numShards(); ++i)
    table.intervals.push_back(bounds.shard(
        isPlanted("owned-blocks-as-if-in-reverse") ? bounds.numShards() - 1 - i
                                                   : i));
  return table;
}

/// The place in a table over `axes` of the coordinate that `whole` (row-major
/// over `allAxes`) has along them.
static int64_t project(MeshAttr mesh, ArrayRef<int64_t> allAxes, int64_t whole,
                       ArrayRef<int64_t> axes) {
  SmallVector<int64_t> coordinate(allAxes.size());
  for (int64_t i = allAxes.size() - 1; i >= 0; --i) {
    int64_t size = mesh.getAxisSizes()[allAxes[i]];
    coordinate[i] = whole % size;
    whole /= size;
  }
  int64_t index = 0;
  SmallVector<int64_t> order(axes);
  if (isPlanted("axes-of-a-table-in-another-order"))
    std::reverse(order.begin(), order.end());
  for (int64_t axis : order)
    index = index * mesh.getAxisSizes()[axis] +
            coordinate[llvm::find(allAxes, axis) - allAxes.begin()];
  return index;
}

DimExchange shardc::combineTables(MeshAttr mesh, int64_t dim,
                                  const IntervalTable &owned,
                                  const IntervalTable &needed) {
  DimExchange exchange;
  exchange.dim = dim;
  exchange.axes.assign(owned.axes.begin(), owned.axes.end());
  for (int64_t axis : needed.axes)
    if (!llvm::is_contained(exchange.axes, axis))
      exchange.axes.push_back(axis);
  int64_t count = 1;
  for (int64_t axis : exchange.axes)
    count *= mesh.getAxisSizes()[axis];
  for (int64_t i = 0; i < count; ++i) {
    exchange.owned.push_back(
        owned.intervals[project(mesh, exchange.axes, i, owned.axes)]);
    exchange.needed.push_back(
        needed.intervals[isPlanted("every-rank-needs-what-the-first-does")
                             ? 0
                             : project(mesh, exchange.axes, i, needed.axes)]);
  }
  return exchange;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static RankedTensorType neededType(RankedTensorType type,
                                   ArrayRef<DimExchange> dims) {
  SmallVector<int64_t> shape(type.getShape());
  for (const DimExchange &dim : dims)
    shape[dim.dim] = staticSize(sizesOf(dim.needed));
  return type.clone(shape);
}

/// Nothing leaves a rank: the part that stays, and fill around it.
static Value emitLocal(OpBuilder &builder, Location loc, RankTables &tables,
                       Value local, ArrayRef<DimExchange> dims, Value fill) {
  auto type = cast<RankedTensorType>(local.getType());
  int64_t numDims = type.getRank();
  SmallVector<OpFoldResult> offsets(numDims, builder.getIndexAttr(0)), sizes;
  SmallVector<OpFoldResult> strides(numDims, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> low(numDims, builder.getIndexAttr(0)), high(low);
  for (int64_t i = 0; i < numDims; ++i)
    sizes.push_back(tensor::getMixedSize(builder, loc, local, i));
  SmallVector<int64_t> keptShape(type.getShape());
  bool slices = false, pads = false;
  for (const DimExchange &dim : dims) {
    SmallVector<int64_t> offset, size, below, above;
    for (auto [owned, needed] : llvm::zip(dim.owned, dim.needed)) {
      Interval kept = intersect(owned, needed);
      if (kept.empty())
        kept = {owned.begin, owned.begin};
      offset.push_back(isPlanted("owned-part-from-the-begin-of-the-block")
                           ? 0
                           : kept.begin - owned.begin);
      size.push_back(kept.size());
      below.push_back(kept.empty() ? needed.size() : kept.begin - needed.begin);
      above.push_back(kept.empty() ? 0 : needed.end - kept.end);
      slices |= kept.size() != owned.size();
      pads |= kept.size() != needed.size();
    }
    offsets[dim.dim] = tables.lookup(offset, dim.axes);
    sizes[dim.dim] = tables.lookup(size, dim.axes);
    keptShape[dim.dim] = staticSize(size);
    if (isPlanted("padding-above-for-below"))
      std::swap(below, above);
    low[dim.dim] = tables.lookup(below, dim.axes);
    high[dim.dim] = tables.lookup(above, dim.axes);
  }
  Value result = local;
  if (slices)
    result = takePart(builder, loc, type.clone(keptShape), local, offsets,
                      sizes, strides);
  if (!pads)
    return result;
  RankedTensorType padded = neededType(type, dims);
  if (!fill || isPlanted("padding-with-zero-for-the-fill"))
    fill = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType()))));
  Value scalar = tensor::ExtractOp::create(builder, loc, fill, ValueRange());
  return tensor::PadOp::create(builder, loc, padded, result, low, high, scalar);
}

static bool changes(const DimExchange &dim) { return dim.owned != dim.needed; }

Value shardc::emitExchange(OpBuilder &builder, Location loc, RankTables &tables,
                           Value local, ArrayRef<DimExchange> dims, Value fill,
                           StringRef reason) {
  auto type = cast<RankedTensorType>(local.getType());
  // Dims that stay as they are need no entry, unless their size differs by rank
  // and so is not in the type.
  SmallVector<DimExchange> moving;
  for (const DimExchange &dim : dims)
    if (changes(dim) || type.isDynamicDim(dim.dim))
      moving.push_back(dim);
  if (!llvm::any_of(moving, changes))
    return local;
  if (neededType(type, moving) == type && isPlanted("exchange-left-out"))
    return local;

  MeshAttr mesh = tables.getMesh();
  Exchange exchange;
  exchange.meshShape.assign(mesh.getAxisSizes().begin(),
                            mesh.getAxisSizes().end());
  exchange.globalShape.assign(type.getShape().begin(), type.getShape().end());
  bool reachesOut = false;
  SmallVector<Attribute> attrs;
  for (const DimExchange &dim : moving) {
    int64_t size = dim.size();
    exchange.globalShape[dim.dim] = size;
    if (dim.padding == Padding::Constant)
      for (Interval interval : dim.needed)
        reachesOut |= !Interval{0, size}.contains(interval);
    exchange.dims.push_back(dim);
    attrs.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  }
  ExchangeKind kind = classify(exchange);
  bool readsOutside = llvm::any_of(moving, [](const DimExchange &dim) {
    return dim.padding != Padding::Constant;
  });
  if (kind == ExchangeKind::Local && !readsOutside)
    return emitLocal(builder, loc, tables, local, moving, fill);

  RankedTensorType result = neededType(type, moving);
  ArrayAttr dimsAttr = builder.getArrayAttr(attrs);
  StringAttr reasonAttr =
      reason.empty() ? StringAttr() : builder.getStringAttr(reason);
  if (!reachesOut)
    fill = {};
  else if (isPlanted("zero-for-the-fill-of-an-exchange"))
    fill = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType()))));
  FlatSymbolRefAttr meshName = tables.getMeshName();
  switch (kind) {
  case ExchangeKind::AllGather:
    return AllGatherOp::create(builder, loc, result, local, fill, dimsAttr,
                               meshName, reasonAttr);
  case ExchangeKind::AllToAll:
    return AllToAllOp::create(builder, loc, result, local, fill, dimsAttr,
                              meshName, reasonAttr);
  case ExchangeKind::Rebalance:
    return RebalanceOp::create(builder, loc, result, local, fill, dimsAttr,
                               meshName, reasonAttr);
  case ExchangeKind::Local:
  case ExchangeKind::HaloExchange:
  case ExchangeKind::Shift:
    break;
  }
  return HaloExchangeOp::create(builder, loc, result, local, fill, dimsAttr,
                                meshName, reasonAttr);
}
