//===- Exchanges.cpp - From what is owned to what is needed ---------------===//
#include "Exchanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Layout/NearbyExtents.h"
#include "shardc/Support/Slices.h"
#include <map>

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

BoundTable RankTables::evaluate(const Formula &formula,
                                ArrayRef<int64_t> axes) {
  FormulaList list;
  int64_t number = list.add(formula);
  std::string error;
  std::vector<BoundTable> all = list.evaluate(binding, error);
  if (!error.empty()) {
    refuse(error);
    return {};
  }
  return expandTable(all[number], axes, binding.meshShape);
}

OpFoldResult RankTables::lookup(const Formula &formula,
                                ArrayRef<int64_t> axes) {
  return lookup(evaluate(formula, axes).numbers, axes, formula);
}

OpFoldResult RankTables::lookup(ArrayRef<int64_t> table,
                                ArrayRef<int64_t> axes) {
  requireKnown(axes);
  return lookup(table, axes, Formula());
}

OpFoldResult RankTables::lookup(ArrayRef<int64_t> table, ArrayRef<int64_t> axes,
                                const Formula &formula) {
  OpBuilder builder(mesh.getContext());
  Attribute key = builder.getDenseI64ArrayAttr(table);
  if (formula)
    key = FormulaAttr::get(mesh.getContext(), formula);
  auto [entryOfTable, isNew] =
      known.try_emplace({key, builder.getDenseI64ArrayAttr(axes)});
  if (isNew) {
    if (lastLookup)
      builder.setInsertionPointAfter(lastLookup);
    else
      builder.setInsertionPointToStart(entry);
    entryOfTable->second = lookUp(builder, entry->getParentOp()->getLoc(), mesh,
                                  meshName, table, axes, formula);
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
    table.intervals.push_back(bounds.shard(i));
  if (bounds.formula())
    table.formula = Formula::shards(bounds.formula(),
                                    {table.axes.begin(), table.axes.end()});
  return table;
}

IntervalTable shardc::wholeTable(MeshAttr mesh, int64_t size) {
  IntervalTable table{{}, {Interval{0, size}}};
  if (mesh.isOpen(size))
    table.formula = Formula::shards(Formula::whole(size), {});
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
  for (int64_t axis : axes)
    index = index * mesh.getAxisSizes()[axis] +
            coordinate[llvm::find(allAxes, axis) - allAxes.begin()];
  return index;
}

DimExchange shardc::combineTables(RankTables &tables, int64_t dim,
                                  const IntervalTable &owned,
                                  const IntervalTable &needed) {
  MeshAttr mesh = tables.getMesh();
  DimExchange exchange;
  exchange.dim = dim;
  if (owned.formula.isOpen() || needed.formula.isOpen()) {
    exchange.ownedFormula = formulaOf(owned);
    exchange.neededFormula = formulaOf(needed);
    if (!exchange.ownedFormula || !exchange.neededFormula) {
      exchange.ownedFormula = exchange.neededFormula = {};
      tables.refuse("the sizes of windows that are cut otherwise than what "
                    "they read");
    }
  }
  exchange.axes.assign(owned.axes.begin(), owned.axes.end());
  for (int64_t axis : needed.axes)
    if (!llvm::is_contained(exchange.axes, axis))
      exchange.axes.push_back(axis);
  if ((mesh.isSymbolic(owned.axes) && !owned.formula.isOpen()) ||
      (mesh.isSymbolic(needed.axes) && !needed.formula.isOpen()))
    tables.requireKnown(exchange.axes);
  int64_t count = 1;
  for (int64_t axis : exchange.axes)
    count *= mesh.getAxisSizes()[axis];
  for (int64_t i = 0; i < count; ++i) {
    exchange.owned.push_back(
        owned.intervals[project(mesh, exchange.axes, i, owned.axes)]);
    exchange.needed.push_back(
        needed.intervals[project(mesh, exchange.axes, i, needed.axes)]);
  }
  if (exchange.ownedFormula && exchange.neededFormula &&
      (tables.evaluate(exchange.ownedFormula, exchange.axes).intervals !=
           exchange.owned ||
       tables.evaluate(exchange.neededFormula, exchange.axes).intervals !=
           exchange.needed))
    tables.refuse("tables whose formulas say something else: please report");
  return exchange;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

int64_t shardc::neededSize(const DimExchange &dim) {
  return dim.neededFormula.isOpen() ? ShapedType::kDynamic
                                    : staticSize(sizesOf(dim.needed));
}

static RankedTensorType neededType(RankedTensorType type,
                                   ArrayRef<DimExchange> dims) {
  SmallVector<int64_t> shape(type.getShape());
  for (const DimExchange &dim : dims)
    shape[dim.dim] = neededSize(dim);
  return type.clone(shape);
}

/// True if a rank owns all that it needs of `dim` in the domain.
static bool isLocal(const DimExchange &dim) {
  Interval domain{0, dim.size()};
  return llvm::all_of(llvm::zip_equal(dim.owned, dim.needed), [&](auto both) {
    auto [owned, needed] = both;
    return owned.contains(intersect(needed, domain));
  });
}

/// `formula`, whose numbers are positions and sizes, where extents have these
/// values; null for what cannot be.
static Formula resolve(const Formula &formula, const Extents &extents,
                       ArrayRef<int64_t> values) {
  std::vector<int64_t> numbers = formula.numbers();
  for (int64_t &number : numbers)
    number = extents.resolve(number, values);
  std::vector<Formula> operands;
  for (const Formula &operand : formula.operands()) {
    operands.push_back(resolve(operand, extents, values));
    if (!operands.back())
      return {};
  }
  return Formula::make(formula.kind(), std::move(numbers), std::move(operands));
}

bool RankTables::isInDomain(const Formula &needed, int64_t size) {
  auto isWithin = [](const Formula &formula, int64_t end) {
    auto [least, greatest] = formula.range();
    return least >= 0 && greatest <= end;
  };
  if (!isWithin(needed, size))
    return false;
  // Numbers that say what is read for each window, or each of a few elements.
  // Without them extents differ by a constant, which placeholders show.
  int64_t step = 1;
  auto collect = [&](auto &self, const Formula &formula) -> void {
    if (formula.kind() == FormulaKind::Positions)
      for (int64_t number : ArrayRef(formula.numbers()).drop_front())
        step = std::max(step, std::abs(number));
    else if (formula.kind() == FormulaKind::Elements)
      step = std::max(step, formula.numbers()[0]);
    for (const Formula &operand : formula.operands())
      self(self, operand);
  };
  collect(collect, needed);
  if (!mesh.getExtents() || step == 1)
    return true;
  // How many windows there are is rounded, and a placeholder leaves one
  // remainder alone: a prime is odd. [limit]
  constexpr int64_t kMostSteps = 64;
  if (step > kMostSteps)
    return false;
  const Extents extents = mesh.getExtents().getExtents();
  if (!nearby)
    nearby = extentsNearby(extents, kMostSteps);
  return !nearby->empty() &&
         llvm::all_of(*nearby, [&](ArrayRef<int64_t> values) {
           Formula formula = resolve(needed, extents, values);
           return formula && isWithin(formula, extents.resolve(size, values));
         });
}

/// True if what a rank needs of `dim`, as far as it is in the domain, is in
/// what it owns, whatever is bound: iterations lie where what they read does.
static bool isKeptWhole(const DimExchange &dim) {
  Formula needed = dim.neededFormula;
  const Formula &owned = dim.ownedFormula;
  if (needed == owned)
    return true;
  // Every rank has all of it.
  if (owned.kind() == FormulaKind::Shards && owned.numbers().empty())
    return true;
  if (needed.kind() == FormulaKind::Kept)
    needed = needed.operands()[0];
  int64_t dilation = 1, offset = 0, coefficient = 1, span = 0;
  if (needed.kind() == FormulaKind::Elements) {
    dilation = needed.numbers()[0];
    needed = needed.operands()[0];
  }
  Formula iterations;
  if (needed.kind() == FormulaKind::Shards) {
    iterations = needed;
  } else if (needed.kind() == FormulaKind::Positions) {
    offset = needed.numbers()[0];
    for (auto [number, operand] : llvm::zip_equal(
             ArrayRef(needed.numbers()).drop_front(), needed.operands())) {
      if (operand.kind() == FormulaKind::Shards && !iterations) {
        iterations = operand;
        coefficient = number;
      } else if (operand.kind() == FormulaKind::Same && number > 0) {
        Interval whole{operand.numbers()[0], operand.numbers()[1]};
        offset += number * whole.begin;
        span += number * std::max<int64_t>(0, whole.size() - 1);
      } else {
        return false;
      }
    }
  }
  if (!iterations || owned.kind() != FormulaKind::Shards || coefficient < 1 ||
      iterations.numbers() != owned.numbers())
    return false;
  const Formula &cut = iterations.operands()[0], &dimCut = owned.operands()[0];
  // Iteration o reads position c o + offset, and is where that is.
  if (span == 0 && Formula::affine(dimCut, dilation, -offset, coefficient,
                                   cut.extent()) == cut)
    return true;
  // Blocks of iterations, side by side, make up the dim.
  return dilation == 1 && span + 1 <= coefficient &&
         Formula::affine(cut, coefficient, offset, 1, dimCut.extent()) ==
             dimCut;
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
    if (dim.ownedFormula) {
      const Formula &owned = dim.ownedFormula, &needed = dim.neededFormula;
      if (owned == needed)
        continue;
      auto lookUp = [&](const Formula &formula) {
        return tables.lookup(formula, dim.axes);
      };
      Formula kept = Formula::kept(owned, needed);
      bool isInside = tables.isInDomain(needed, dim.size());
      slices = true;
      pads |= !isInside;
      offsets[dim.dim] = lookUp(Formula::offset(kept, owned));
      sizes[dim.dim] = lookUp(Formula::size(isInside ? needed : kept));
      keptShape[dim.dim] = isInside ? neededSize(dim) : ShapedType::kDynamic;
      if (!isInside) {
        low[dim.dim] = lookUp(Formula::below(kept, needed));
        high[dim.dim] = lookUp(Formula::above(kept, needed));
      }
      continue;
    }
    SmallVector<int64_t> offset, size, below, above;
    for (auto [owned, needed] : llvm::zip(dim.owned, dim.needed)) {
      Interval kept = intersect(owned, needed);
      if (kept.empty())
        kept = {owned.begin, owned.begin};
      offset.push_back(kept.begin - owned.begin);
      size.push_back(kept.size());
      below.push_back(kept.empty() ? needed.size() : kept.begin - needed.begin);
      above.push_back(kept.empty() ? 0 : needed.end - kept.end);
      slices |= kept.size() != owned.size();
      pads |= kept.size() != needed.size();
    }
    offsets[dim.dim] = tables.lookup(offset, dim.axes);
    sizes[dim.dim] = tables.lookup(size, dim.axes);
    keptShape[dim.dim] = staticSize(size);
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
  if (!fill)
    fill = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType()))));
  if (llvm::none_of(dims, [](const DimExchange &dim) {
        return dim.ownedFormula && dim.ownedFormula != dim.neededFormula;
      })) {
    Value scalar = tensor::ExtractOp::create(builder, loc, fill, ValueRange());
    return tensor::PadOp::create(builder, loc, padded, result, low, high,
                                 scalar);
  }
  // As large as a formula says, not as a sum of what three say: so whoever
  // plans memory can tell.
  SmallVector<Value> wanted;
  for (int64_t i = 0; i < numDims; ++i) {
    auto dim = llvm::find_if(
        dims, [&](const DimExchange &dim) { return dim.dim == i; });
    OpFoldResult size = tensor::getMixedSize(builder, loc, result, i);
    if (dim != dims.end())
      size = dim->neededFormula
                 ? tables.lookup(Formula::size(dim->neededFormula), dim->axes)
                 : tables.lookup(sizesOf(dim->needed), dim->axes);
    wanted.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(),
        getValueOrCreateConstantIndexOp(builder, loc, size)));
  }
  Value shape = tensor::FromElementsOp::create(builder, loc, wanted);
  Value filled = stablehlo::DynamicBroadcastInDimOp::create(
      builder, loc, padded, fill, shape, ArrayRef<int64_t>());
  for (int64_t i = 0; i < numDims; ++i)
    sizes[i] = tensor::getMixedSize(builder, loc, result, i);
  return putPart(builder, loc, result, filled, low, sizes, strides);
}

bool shardc::moves(const DimExchange &dim) {
  return dim.ownedFormula ? dim.ownedFormula != dim.neededFormula
                          : dim.owned != dim.needed;
}

Value shardc::emitExchange(OpBuilder &builder, Location loc, RankTables &tables,
                           Value local, ArrayRef<DimExchange> dims, Value fill,
                           StringRef reason) {
  auto type = cast<RankedTensorType>(local.getType());
  // Dims that stay as they are need no entry, unless their size differs by rank
  // and so is not in the type.
  SmallVector<DimExchange> moving;
  for (const DimExchange &dim : dims)
    if (moves(dim) || type.isDynamicDim(dim.dim))
      moving.push_back(dim);
  if (!llvm::any_of(moving, moves))
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
    if (dim.padding == Padding::Constant && dim.neededFormula)
      reachesOut |= !tables.isInDomain(dim.neededFormula, size);
    exchange.dims.push_back(dim);
    attrs.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
  }
  ExchangeKind kind = classify(exchange);
  bool isBoundLate = llvm::any_of(
      moving, [](const DimExchange &dim) { return bool(dim.ownedFormula); });
  // Where nothing leaves a rank in one binding something may in another.
  if (isBoundLate && kind == ExchangeKind::Local)
    kind = ExchangeKind::HaloExchange;
  if (isBoundLate && llvm::all_of(moving, [](const DimExchange &dim) {
        return dim.ownedFormula ? isKeptWhole(dim) : isLocal(dim);
      }))
    kind = ExchangeKind::Local;
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
