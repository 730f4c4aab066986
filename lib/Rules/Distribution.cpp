//===- Distribution.cpp - Blocks that move while an op runs ---------------===//
#include "Distribution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

IntervalTable rules::wholeTable(int64_t size) {
  return {{}, {Interval{0, size}}};
}

int64_t rules::longestBlock(const IntervalTable &table) {
  int64_t longest = 0;
  for (Interval interval : table.intervals)
    longest = std::max(longest, interval.size());
  return longest;
}

IntervalTable rules::tableOf(ArrayRef<int64_t> axes, const Boundaries &bounds) {
  IntervalTable table{SmallVector<int64_t>(axes), {}};
  for (int64_t i = 0; i < bounds.numShards(); ++i)
    table.intervals.push_back(bounds.shard(i));
  return table;
}

IntervalTable rules::onePerRank(Localization &localization,
                                ArrayRef<int64_t> axes) {
  ShardCount count = localization.countCoordinates(axes);
  IntervalTable table =
      tableOf(axes, Boundaries::balanced(count, int64_t(count)));
  if (count.isOpen())
    table.formula =
        Formula::shards(Formula::ranks(count), {axes.begin(), axes.end()});
  return table;
}

IntervalTable rules::allRanks(Localization &localization,
                              ArrayRef<int64_t> axes) {
  ShardCount count = localization.countCoordinates(axes);
  IntervalTable table = wholeTable(count);
  if (count.isOpen())
    table.formula = Formula::domain(Formula::ranks(count));
  return table;
}

RankedTensorType rules::blockType(ArrayRef<IntervalTable> tables,
                                  Type elementType) {
  SmallVector<int64_t> shape;
  for (const IntervalTable &table : tables) {
    bool agrees = !table.formula.isOpen() &&
                  llvm::all_of(table.intervals, [&](Interval interval) {
                    return interval.size() == table.intervals.front().size();
                  });
    shape.push_back(agrees ? table.intervals.front().size()
                           : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, elementType);
}

OpFoldResult rules::sizeAt(Localization &localization,
                           const IntervalTable &table) {
  if (table.formula.isOpen())
    return localization.lookup(Formula::size(table.formula), table.axes);
  auto sizes = llvm::map_to_vector(
      table.intervals, [](Interval interval) { return interval.size(); });
  return localization.lookup(sizes, table.axes);
}

OpFoldResult rules::beginAt(Localization &localization,
                            const IntervalTable &table) {
  if (table.formula.isOpen())
    return localization.lookup(Formula::begin(table.formula), table.axes);
  auto begins = llvm::map_to_vector(
      table.intervals, [](Interval interval) { return interval.begin; });
  return localization.lookup(begins, table.axes);
}

SmallVector<OpFoldResult> rules::blockSizes(Localization &localization,
                                            ArrayRef<IntervalTable> tables) {
  return llvm::map_to_vector(tables, [&](const IntervalTable &table) {
    return sizeAt(localization, table);
  });
}

/// `table` with something of each of its intervals, and of its formula.
static IntervalTable
ofEach(const IntervalTable &table, ZigzagEnd end, int64_t size,
       Interval (*ofInterval)(Interval, ZigzagEnd, int64_t),
       Formula (*ofFormula)(const Formula &, ZigzagEnd, int64_t)) {
  IntervalTable result{table.axes, {}};
  for (Interval interval : table.intervals)
    result.intervals.push_back(ofInterval(interval, end, size));
  if (Formula formula = formulaOf(table))
    result.formula = ofFormula(formula, end, size);
  return result;
}

IntervalTable rules::stretchOf(const IntervalTable &shards, ZigzagEnd end,
                               int64_t size) {
  return ofEach(shards, end, size, zigzagStretch, zigzagStretch);
}

IntervalTable rules::inStretch(const IntervalTable &table, ZigzagEnd end,
                               int64_t size) {
  return ofEach(table, end, size, withinStretch, withinStretch);
}

/// True if `table` has the shards of `bounds`, each coordinate one; with a
/// formula, whatever is bound.
static bool areShardsOf(const IntervalTable &table, const Boundaries &bounds) {
  if (table.formula.isOpen() || bounds.formula().isOpen()) {
    Formula shards = table.formula;
    if (shards && shards.kind() == FormulaKind::Rotate)
      shards = shards.operands()[0];
    return shards && shards.kind() == FormulaKind::Shards &&
           shards.operands()[0] == bounds.formula();
  }
  return int64_t(table.intervals.size()) == bounds.numShards() &&
         llvm::all_of(llvm::enumerate(table.intervals), [&](auto entry) {
           return entry.value() == bounds.shard(entry.index());
         });
}

SmallVector<TablePart, 0>
rules::splitZigzag(const IntervalTable &table,
                   const std::optional<Boundaries> &order, Localization *late) {
  if (!order)
    return {{table, table}};
  SmallVector<TablePart, 0> parts;
  if (areShardsOf(table, *order)) {
    for (ZigzagEnd end : {ZigzagEnd::Front, ZigzagEnd::Back})
      parts.push_back(
          {ofEach(table, end, order->size(), zigzagPlace, zigzagPlace),
           ofEach(table, end, order->size(), zigzagElements, zigzagElements)});
    if (!table.formula.isOpen() &&
        llvm::all_of(parts.back().held.intervals,
                     [](Interval piece) { return piece.empty(); }))
      parts.pop_back();
    return parts;
  }
  if (late && (table.formula.isOpen() || order->formula().isOpen()))
    late->refuse("blocks in zigzag order that are those shards whose order it "
                 "is");
  Zigzag zigzag(*order);
  for (auto [number, interval] : llvm::enumerate(table.intervals)) {
    std::vector<ZigzagPiece> pieces = zigzag.split(interval);
    while (parts.size() < std::max<size_t>(1, pieces.size())) {
      SmallVector<Interval> none(table.intervals.size(), Interval{0, 0});
      for (auto [empty, other] : llvm::zip_equal(none, table.intervals))
        empty = {other.begin, other.begin};
      parts.push_back({{table.axes, none}, {table.axes, none}});
    }
    for (auto [part, piece] : llvm::zip(parts, pieces))
      if (!piece.zigzag.empty()) {
        part.held.intervals[number] = piece.zigzag;
        part.natural.intervals[number] = piece.natural;
      }
  }
  return parts;
}

Value rules::partOf(Localization &localization, Value block, unsigned dim,
                    const IntervalTable &held, const IntervalTable &part,
                    Value into) {
  OpBuilder &b = localization.builder();
  Location loc = block.getLoc();
  auto type = cast<RankedTensorType>(block.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(int64_t(i) == dim ? sizeAt(localization, part)
                                      : dimOf(b, loc, block, i));
  // A slice of nothing may start at a dim's end, where none may be taken.
  SmallVector<int64_t> begins;
  for (auto [number, interval] : llvm::enumerate(part.intervals)) {
    Interval here = held.intervals.size() > 1 ? held.intervals[number]
                                              : held.intervals.front();
    begins.push_back(interval.empty() ? 0 : interval.begin - here.begin);
  }
  bool isOpen = part.formula.isOpen() || held.formula.isOpen();
  Formula outer = formulaOf(held), inner = formulaOf(part);
  if (isOpen && outer && inner)
    offsets[dim] =
        localization.lookup(Formula::offset(inner, outer), part.axes);
  else
    offsets[dim] = localization.lookup(begins, part.axes);
  if (isOpen && (!outer || !inner))
    localization.refuse("parts of blocks");
  if (into)
    return putPart(b, loc, block, into, offsets, sizes, strides);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = blockType({part}, type.getElementType()).getDimSize(0);
  return takePart(b, loc, type.clone(shape), block, offsets, sizes, strides);
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

/// Cuts each interval in balanced parts along one more, minor, axis.
static IntervalTable refine(Localization &localization,
                            const IntervalTable &table, int64_t axis) {
  ShardCount ranks = localization.countCoordinates(axis);
  IntervalTable refined{table.axes, {}};
  refined.axes.push_back(axis);
  if (table.formula.isOpen() || ranks.isOpen()) {
    Formula cut = formulaOf(table);
    if (cut && cut.kind() == FormulaKind::Shards)
      cut = cut.operands()[0];
    else if (cut && cut.kind() == FormulaKind::Same && cut.numbers()[0] == 0)
      cut = Formula::fixed({0, cut.numbers()[1]});
    else
      cut = {};
    if (cut)
      refined.formula =
          Formula::shards(Formula::refine(cut, ranks),
                          {refined.axes.begin(), refined.axes.end()});
    else
      localization.refuse("parts of windows");
  }
  for (Interval interval : table.intervals) {
    Boundaries parts = Boundaries::balanced(interval.size(), ranks);
    for (int64_t i = 0; i < ranks; ++i)
      refined.intervals.push_back({interval.begin + parts.shard(i).begin,
                                   interval.begin + parts.shard(i).end});
  }
  return refined;
}

double rules::placeAxis(Localization &localization,
                        MutableArrayRef<IntervalTable> tables, int64_t axis,
                        ArrayRef<int64_t> carriers) {
  int64_t best = -1;
  double bestShare = 1;
  for (int64_t carrier : carriers) {
    double before = double(longestBlock(tables[carrier]));
    double after =
        double(longestBlock(refine(localization, tables[carrier], axis)));
    if (before > 0 && after / before < bestShare) {
      best = carrier;
      bestShare = after / before;
    }
  }
  if (best >= 0)
    tables[best] = refine(localization, tables[best], axis);
  return bestShare;
}

bool rules::moveCuts(Localization &localization,
                     MutableArrayRef<IntervalTable> tables,
                     ArrayRef<int64_t> whole, ArrayRef<int64_t> carriers) {
  ArrayRef<int64_t> meshSizes = localization.meshSizes();
  SmallVector<int64_t> moved;
  for (int64_t dim : whole) {
    moved.append(tables[dim].axes);
    int64_t size = 0;
    for (Interval interval : tables[dim].intervals)
      size = std::max(size, interval.end);
    tables[dim] = localization.wholeTable(size);
  }
  bool isBalanced = true;
  for (int64_t axis : moved)
    isBalanced &= placeAxis(localization, tables, axis, carriers) *
                      double(meshSizes[axis]) <=
                  2;
  return isBalanced;
}

Operation *rules::cloneAs(Operation *op, Localization &localization,
                          ValueRange operands, TypeRange types) {
  NamedAttrList attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!spmd::isContract(attribute))
      attributes.append(attribute);
  Operation *local =
      Operation::create(op->getLoc(), op->getName(), types, operands,
                        std::move(attributes), op->getPropertiesStorage(),
                        /*successors=*/BlockRange(), op->getNumRegions());
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getRegions(), local->getRegions()))
    from.cloneInto(&to, mapping);
  localization.builder().insert(local);
  return local;
}

/// How the dims of a tensor are cut whose factors are cut as `factors` say.
static SmallVector<IntervalTable> dimTables(const TensorRule &tensor,
                                            ArrayRef<IntervalTable> factors) {
  SmallVector<IntervalTable> tables;
  for (const IndexMap &map : tensor.dims)
    tables.push_back(map.terms.empty() ? wholeTable(1)
                                       : factors[map.terms[0].factor]);
  return tables;
}

/// The factors that may be cut while others are whole, those of most tensors
/// first.
static SmallVector<int64_t> carriersOf(const ShardingRule &rule) {
  SmallVector<std::pair<int64_t, int64_t>> counted;
  for (auto [number, factor] : llvm::enumerate(rule.factors)) {
    if (factor.kind != FactorKind::PassThrough)
      continue;
    auto has = [&, number = int64_t(number)](const TensorRule &tensor) {
      return llvm::any_of(tensor.dims, [&](const IndexMap &map) {
        return !map.terms.empty() && map.terms[0].factor == number;
      });
    };
    if (llvm::all_of(rule.results, has))
      counted.push_back(
          {-llvm::count_if(rule.operands, has), static_cast<int64_t>(number)});
  }
  llvm::sort(counted);
  return llvm::map_to_vector(counted, [](auto entry) { return entry.second; });
}

LocalResults rules::runTransposed(Operation *op, Localization &localization,
                                  bool mustBalance) {
  const ShardingRule &rule = localization.rule();
  localization.carriesFormulas();
  SmallVector<IntervalTable> factors;
  SmallVector<int64_t> whole;
  for (auto [number, factor] : llvm::enumerate(rule.factors)) {
    factors.push_back(localization.factorTable(number));
    if (factor.kind == FactorKind::Distributed &&
        localization.isSharded(number))
      whole.push_back(number);
  }
  if (whole.empty())
    return SmallVector<Value>(cloneLocal(op, localization)->getResults());
  if (!moveCuts(localization, factors, whole, carriersOf(rule)) && mustBalance)
    return failure();
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(localization.operands())) {
    if (rule.operands[i].dims.empty()) {
      operands.push_back(operand);
      continue;
    }
    operands.push_back(localization.exchange(
        operand, localization.operandTables(i),
        dimTables(rule.operands[i], factors), {},
        "has a dim whole that is cut, and another cut meanwhile"));
  }
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    types.push_back(blockType(dimTables(rule.results[i], factors),
                              getElementTypeOrSelf(type)));
  Operation *local = cloneAs(op, localization, operands, types);
  SmallVector<Value> results;
  for (auto [i, result] : llvm::enumerate(local->getResults()))
    results.push_back(localization.exchange(
        result, dimTables(rule.results[i], factors),
        localization.resultTables(i), {},
        "gives its result back to the blocks that it came from"));
  return results;
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

Value rules::gatherPartials(Localization &localization, Value local,
                            ArrayRef<IntervalTable> tables,
                            ArrayRef<int64_t> axes, const IntervalTable &needed,
                            StringRef why) {
  OpBuilder &builder = localization.builder();
  Location loc = local.getLoc();
  SmallVector<IntervalTable> own{onePerRank(localization, axes)}, all{needed};
  own.append(tables.begin(), tables.end());
  all.append(tables.begin(), tables.end());
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, type.getShape());
  Value raised;
  if (type.hasStaticShape()) {
    raised =
        stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), local);
  } else {
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      groups.push_back(dim == 0 ? ReassociationIndices{0, 1}
                                : ReassociationIndices{dim + 1});
    SmallVector<OpFoldResult> sizes{builder.getIndexAttr(1)};
    llvm::append_range(sizes, blockSizes(localization, tables));
    raised = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                           local, groups, sizes);
  }
  return localization.exchange(raised, own, all, {}, why);
}

SmallVector<int64_t> rules::distributedAxes(Localization &localization) {
  SmallVector<int64_t> axes;
  for (auto [number, factor] : llvm::enumerate(localization.rule().factors))
    if (factor.kind == FactorKind::Distributed &&
        localization.isSharded(number))
      llvm::append_range(axes, localization.factorAxes(number));
  return axes;
}
