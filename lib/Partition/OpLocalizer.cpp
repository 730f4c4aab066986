//===- OpLocalizer.cpp - One op on its way to the local view --------------===//
#include "OpLocalizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

bool OpLocalizer::usesLocalFactor(const IndexMap &map) const {
  return llvm::any_of(map.terms, [&](const IndexTerm &term) {
    return cuts[term.factor].isLocal();
  });
}

bool OpLocalizer::isDistributed(const IndexMap &map) const {
  return llvm::any_of(map.terms, [&](const IndexTerm &term) {
    return cuts[term.factor].isSharded() &&
           opRule.factors[term.factor].kind == FactorKind::Distributed;
  });
}

bool OpLocalizer::isOfDistributed(const IndexMap &map) const {
  return llvm::any_of(map.terms, [&](const IndexTerm &term) {
    return opRule.factors[term.factor].kind == FactorKind::Distributed;
  });
}

IntervalTable OpLocalizer::iterationsOf(int64_t factor) const {
  const FactorCut &cut = cuts[factor];
  if (!cut.isSharded())
    return shardc::wholeTable(tables.getMesh(), opRule.factors[factor].size);
  IntervalTable table{cut.axes, {}};
  for (int64_t shard = 0; shard < cut.bounds.numShards(); ++shard)
    table.intervals.push_back(cut.bounds.shard(shard));
  if (cut.bounds.formula())
    table.formula = Formula::shards(cut.bounds.formula(),
                                    {cut.axes.begin(), cut.axes.end()});
  return table;
}

IntervalTable OpLocalizer::neededTable(const IndexMap &map) const {
  IntervalTable table;
  for (const IndexTerm &term : map.terms)
    if (cuts[term.factor].isSharded())
      for (int64_t axis : cuts[term.factor].axes)
        if (!llvm::is_contained(table.axes, axis))
          table.axes.push_back(axis);
  ArrayRef<int64_t> meshSizes = tables.getMesh().getAxisSizes();
  int64_t count = tables.countCoordinates(table.axes);
  for (int64_t i = 0; i < count; ++i) {
    // The coordinate along each mesh axis; zero for axes not in the table.
    SmallVector<int64_t> coordinate(meshSizes.size(), 0);
    int64_t rest = i;
    for (int64_t axis : llvm::reverse(table.axes)) {
      coordinate[axis] = rest % meshSizes[axis];
      rest /= meshSizes[axis];
    }
    SmallVector<Interval> iterations;
    for (auto [factor, cut] : llvm::zip(opRule.factors, cuts)) {
      int64_t shard = 0;
      if (cut.isSharded())
        for (int64_t axis : cut.axes)
          shard = shard * meshSizes[axis] + coordinate[axis];
      iterations.push_back(cut.isSharded() ? cut.bounds.shard(shard)
                                           : Interval{0, factor.size});
    }
    table.intervals.push_back(neededPositions(map, iterations));
  }
  if (tables.isBoundLate()) {
    llvm::MapVector<int64_t, int64_t> coefficients;
    for (const IndexTerm &term : map.terms)
      coefficients[term.factor] += term.coefficient;
    std::vector<int64_t> numbers;
    std::vector<Formula> intervals;
    for (auto [factor, coefficient] : coefficients) {
      numbers.push_back(coefficient);
      intervals.push_back(formulaOf(iterationsOf(factor)));
    }
    table.formula = Formula::positions(map.offset, std::move(numbers),
                                       std::move(intervals));
  }
  return table;
}

OpFoldResult
OpLocalizer::lookupOf(const IntervalTable &table, Formula (*part)(Formula),
                      llvm::function_ref<int64_t(Interval)> number) {
  if (table.formula.isOpen())
    return tables.lookup(part(table.formula), table.axes);
  return tables.lookup(llvm::map_to_vector(table.intervals, number),
                       table.axes);
}

const IntervalTable &OpLocalizer::asNumbers(const IntervalTable &table) {
  if (table.formula.isOpen() && !carries)
    tables.refuse("sizes that are known when the program is compiled");
  return table;
}

Value OpLocalizer::fillOf(const TensorRule &tensor, RankedTensorType type,
                          ValueRange locals) {
  if (tensor.fill == Fill::Operand)
    return locals[tensor.fillOperand];
  return stablehlo::ConstantOp::create(
      opBuilder, global->getLoc(),
      cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType()))));
}

Value OpLocalizer::dilate(Value local, int64_t dim, const IndexMap &map,
                          const IntervalTable &positions, Value fill) {
  SmallVector<int64_t> first, size;
  for (Interval interval : positions.intervals) {
    first.push_back(elementsAt(interval, map.baseDilation).begin *
                        map.baseDilation -
                    interval.begin);
    size.push_back(interval.size());
  }
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = staticSize(size);
  Location loc = global->getLoc();
  const Formula formula =
      positions.formula.isOpen() ? positions.formula : Formula();
  if (formula)
    shape[dim] = ShapedType::kDynamic;
  auto value = [&](ArrayRef<int64_t> table, const Formula &formula) {
    return getValueOrCreateConstantIndexOp(
        opBuilder, loc,
        formula ? tables.lookup(formula, positions.axes)
                : tables.lookup(table, positions.axes));
  };
  Value firstValue =
            value(first, formula ? Formula::phase(formula, map.baseDilation)
                                 : Formula()),
        sizeValue = value(size, formula ? Formula::size(formula) : Formula());
  return DilateOp::create(opBuilder, loc, type.clone(shape), local, dim,
                          map.baseDilation, firstValue, sizeValue, fill);
}

/// "operand 0 of 'stablehlo.convolution' reads past its block of dim 2".
static std::string reasonFor(Operation *op, int64_t operand,
                             ArrayRef<DimExchange> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "operand " << operand << " of '" << op->getName()
     << "' reads past its block of dim";
  SmallVector<int64_t> moved;
  for (const DimExchange &dim : dims)
    if (moves(dim))
      moved.push_back(dim.dim);
  if (moved.size() > 1)
    os << 's';
  os << ' ';
  llvm::interleaveComma(moved, os);
  return text;
}

void OpLocalizer::prepareOperands(ValueRange locals) {
  MeshAttr mesh = tables.getMesh();
  for (auto [index, operand] : llvm::enumerate(global->getOperands())) {
    Value local = locals[index];
    const TensorRule &tensor = opRule.operands[index];
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    ShardingAttr sharding = getSharding(operand);
    if (!type || !sharding || tensor.dims.empty()) {
      localOperands.push_back(local);
      continue;
    }
    SmallVector<DimExchange> dims;
    SmallVector<std::pair<int64_t, IntervalTable>> dilated;
    for (auto [dim, map] : llvm::enumerate(tensor.dims)) {
      int64_t size = type.getDimSize(dim);
      IntervalTable owned = ownedTable(mesh, sharding.getDims()[dim], size);
      IntervalTable needed = shardc::wholeTable(mesh, size);
      if (isDistributed(map)) {
        needed = owned;
      } else if (usesLocalFactor(map) && !isOfDistributed(map)) {
        needed = neededTable(map);
        if (map.baseDilation > 1)
          dilated.push_back({static_cast<int64_t>(dim), needed});
        for (Interval &interval : needed.intervals) {
          interval = elementsAt(interval, map.baseDilation);
          if (tensor.fill == Fill::Clip || tensor.fill == Fill::Never)
            interval = intersect(interval, {0, size});
        }
        if (needed.formula) {
          needed.formula =
              Formula::elements(std::move(needed.formula), map.baseDilation);
          if ((tensor.fill == Fill::Clip || tensor.fill == Fill::Never) &&
              !tables.isInDomain(needed.formula, size))
            needed.formula =
                Formula::kept(std::move(needed.formula),
                              formulaOf(shardc::wholeTable(mesh, size)));
        }
      }
      if (tensor.padding != Padding::Constant)
        needed = neededTable(map);
      DimExchange &exchange =
          dims.emplace_back(combineTables(tables, dim, owned, needed));
      if (llvm::any_of(exchange.needed, [&](Interval interval) {
            return !Interval{0, size}.contains(interval);
          }))
        exchange.padding = tensor.padding;
    }
    Value fill;
    if (tensor.fill == Fill::Zero || tensor.fill == Fill::Operand)
      if (!dilated.empty() || llvm::any_of(dims, moves))
        fill = fillOf(tensor, type, locals);
    local = emitExchange(opBuilder, global->getLoc(), tables, local, dims, fill,
                         reasonFor(global, index, dims));
    for (auto &[dim, positions] : dilated)
      local = dilate(local, dim, tensor.dims[dim], positions, fill);
    localOperands.push_back(local);
  }
}

RankedTensorType OpLocalizer::resultType(int64_t result) {
  auto type = cast<RankedTensorType>(global->getResult(result).getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, map] : llvm::enumerate(opRule.results[result].dims))
    if (usesLocalFactor(map) || tables.getMesh().isOpen(shape[dim])) {
      IntervalTable table =
          usesLocalFactor(map)
              ? neededTable(map)
              : shardc::wholeTable(tables.getMesh(), shape[dim]);
      shape[dim] = table.formula.isOpen()
                       ? ShapedType::kDynamic
                       : staticSize(sizesOf(table.intervals));
    }
  return type.clone(shape);
}

bool OpLocalizer::isOperandDimLocal(int64_t operand, int64_t dim) {
  return usesLocalFactor(opRule.operands[operand].dims[dim]);
}

bool OpLocalizer::isResultDimLocal(int64_t result, int64_t dim) {
  return usesLocalFactor(opRule.results[result].dims[dim]);
}

OpFoldResult OpLocalizer::factorSize(int64_t factor) {
  const FactorCut &cut = cuts[factor];
  if (!cut.isLocal())
    return opBuilder.getIndexAttr(opRule.factors[factor].size);
  if (const Formula &bounds = cut.bounds.formula())
    return tables.lookup(Formula::size(Formula::shards(
                             bounds, {cut.axes.begin(), cut.axes.end()})),
                         cut.axes);
  return tables.lookup(cut.bounds.sizes(), cut.axes);
}

OpFoldResult OpLocalizer::factorOffset(int64_t factor) {
  const FactorCut &cut = cuts[factor];
  if (!cut.isSharded())
    return opBuilder.getIndexAttr(0);
  if (const Formula &bounds = cut.bounds.formula())
    return tables.lookup(Formula::begin(Formula::shards(
                             bounds, {cut.axes.begin(), cut.axes.end()})),
                         cut.axes);
  return tables.lookup(ArrayRef(cut.bounds.indices()).drop_back(), cut.axes);
}

OpFoldResult OpLocalizer::resultDimSize(int64_t result, int64_t dim) {
  const IndexMap &map = opRule.results[result].dims[dim];
  auto type = cast<RankedTensorType>(global->getResult(result).getType());
  if (!usesLocalFactor(map)) {
    IntervalTable whole =
        shardc::wholeTable(tables.getMesh(), type.getDimSize(dim));
    return lookupOf(whole, Formula::size,
                    [](Interval interval) { return interval.size(); });
  }
  return lookupOf(neededTable(map), Formula::size,
                  [](Interval interval) { return interval.size(); });
}

OpFoldResult OpLocalizer::resultDimOffset(int64_t result, int64_t dim) {
  const IndexMap &map = opRule.results[result].dims[dim];
  if (!usesLocalFactor(map))
    return opBuilder.getIndexAttr(0);
  return lookupOf(neededTable(map), Formula::begin,
                  [](Interval interval) { return interval.begin; });
}

bool OpLocalizer::isPartial() {
  return llvm::any_of(llvm::zip(opRule.factors, cuts), [](auto it) {
    return std::get<0>(it).kind == FactorKind::Reduction &&
           std::get<1>(it).isSharded();
  });
}

Value OpLocalizer::completeReduction(Value partial, int64_t result) {
  SmallVector<StringRef> axes;
  std::optional<ReductionKind> kind;
  MeshAttr mesh = tables.getMesh();
  for (auto [factor, cut] : llvm::zip(opRule.factors, cuts)) {
    if (factor.kind != FactorKind::Reduction || !cut.isSharded())
      continue;
    kind = factor.reduction;
    for (int64_t axis : cut.axes)
      axes.push_back(mesh.getAxisNames()[axis].getValue());
  }
  if (!kind)
    return partial;
  std::string reason =
      ("'" + global->getName().getStringRef() + "' reduces a dim that is cut")
          .str();
  return AllReduceOp::create(
      opBuilder, global->getLoc(), partial.getType(), partial,
      ReductionKindAttr::get(opBuilder.getContext(), *kind),
      opBuilder.getStrArrayAttr(axes), tables.getMeshName(),
      opBuilder.getStringAttr(reason));
}

IntervalTable OpLocalizer::factorTable(int64_t factor) {
  return asNumbers(iterationsOf(factor));
}

SmallVector<IntervalTable> OpLocalizer::operandTables(int64_t operand) {
  Value value = global->getOperand(operand);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  SmallVector<IntervalTable> result;
  for (auto [dim, map] : llvm::enumerate(opRule.operands[operand].dims)) {
    int64_t size = type.getDimSize(dim);
    if (isDistributed(map))
      result.push_back(asNumbers(ownedTable(
          tables.getMesh(), getSharding(value).getDims()[dim], size)));
    else if (usesLocalFactor(map) && !isOfDistributed(map))
      result.push_back(asNumbers(neededTable(map)));
    else
      result.push_back(asNumbers(shardc::wholeTable(tables.getMesh(), size)));
  }
  return result;
}

SmallVector<IntervalTable> OpLocalizer::resultTables(int64_t result) {
  auto type = dyn_cast<RankedTensorType>(global->getResult(result).getType());
  SmallVector<IntervalTable> found;
  for (auto [dim, map] : llvm::enumerate(opRule.results[result].dims))
    found.push_back(usesLocalFactor(map)
                        ? asNumbers(neededTable(map))
                        : asNumbers(shardc::wholeTable(tables.getMesh(),
                                                       type.getDimSize(dim))));
  return found;
}

Value OpLocalizer::exchange(Value local, ArrayRef<IntervalTable> owned,
                            ArrayRef<IntervalTable> needed, Value fill,
                            StringRef why) {
  SmallVector<DimExchange> dims;
  for (auto [dim, from, to] : llvm::enumerate(owned, needed))
    dims.push_back(combineTables(tables, dim, from, to));
  std::string reason =
      ("'" + global->getName().getStringRef() + "' " + why).str();
  return emitExchange(opBuilder, global->getLoc(), tables, local, dims, fill,
                      reason);
}

Value OpLocalizer::allReduce(Value partial, ReductionKind kind,
                             ArrayRef<int64_t> axes, StringRef why) {
  SmallVector<StringRef> names;
  for (int64_t axis : axes)
    names.push_back(tables.getMesh().getAxisNames()[axis].getValue());
  std::string reason =
      ("'" + global->getName().getStringRef() + "' " + why).str();
  return AllReduceOp::create(
      opBuilder, global->getLoc(), partial.getType(), partial,
      ReductionKindAttr::get(opBuilder.getContext(), kind),
      opBuilder.getStrArrayAttr(names), tables.getMeshName(),
      opBuilder.getStringAttr(reason));
}
