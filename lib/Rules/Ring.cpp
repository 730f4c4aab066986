//===- Ring.cpp - Every rank uses every block -----------------------------===//
//
// Builds what RingPlan planned: exchanges of blocks, steps on them, and what
// merges their results. In an unrolled ring every step has its own
// exchange, so that the next block travels while a step runs; a longer
// ring is a loop (RingLoop.cpp).
//
//===----------------------------------------------------------------------===//
#include "Ring.h"
#include "Distribution.h"
#include "RingBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Layout/TravelFormula.h"
#include "shardc/Support/Slices.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

Ring::Ring(AllPairsOpInterface op, Localization &localization, RingPlan planned)
    : localization(localization), op(op), b(localization.builder()),
      loc(op->getLoc()), accumulator(op.getAccumulatorType()),
      numDims(op.getNumDims()), queryDim(op.getQueryDim()),
      keyDim(op.getKeyDim()), depthDim(op.getDepthDim()),
      featureDim(op.getFeatureDim()), plan(std::move(planned)),
      owned(plan.cuts[keyDim]), ownedParts(plan.keyParts) {
  if (!areKeysZigzag()) {
    ownedParts = splitZigzag(owned, getKeyOrder(op).getShards(), &localization);
    return;
  }
  for (auto [keys, front, back] :
       llvm::zip_equal(owned.intervals, ownedParts[0].held.intervals,
                       ownedParts[1].held.intervals))
    keys = {front.begin, back.end};
}

SmallVector<std::pair<int64_t, int64_t>> Ring::partsAt(const Here &here) const {
  SmallVector<std::pair<int64_t, int64_t>> found;
  PairBand band = bandOf(op);
  int64_t keyParts =
      here.isPassed ? ownedParts.size() : plan.steps[here.step].parts.size();
  for (int64_t part = 0; part < countParts(); ++part)
    for (int64_t keyPart = 0; keyPart < keyParts; ++keyPart)
      if (countParts() * keyParts == 1 ||
          (here.isPassed ? band.mayHavePairs(plan.parts[part],
                                             ownedParts[keyPart].natural)
                         : plan.hasPairs(band, localization.meshSizes(),
                                         here.step, part, keyPart)))
        found.push_back({part, keyPart});
  return found;
}

IntervalTable Ring::rotated(const IntervalTable &table, int64_t shift) {
  IntervalTable result{table.axes, {}};
  for (int64_t number :
       stepPlaces(table.axes, plan.places, localization.meshSizes(), shift))
    result.intervals.push_back(table.intervals[number]);
  if (table.formula)
    result.formula =
        Formula::rotate(table.formula, (shift + plan.length) % plan.length,
                        {plan.places.begin(), plan.places.end()});
  return result;
}

bool Ring::isWhole(int64_t step) {
  const RingStep &now = plan.steps[step];
  if (now.keys.formula.isOpen())
    return now.keys.formula == rotated(owned, now.shift).formula;
  SmallVector<int64_t> owners =
      stepPlaces(owned.axes, plan.places, localization.meshSizes(), now.shift);
  if (now.keys.axes != owned.axes)
    return false;
  for (auto [keys, block] : llvm::zip_equal(now.keys.intervals, owners))
    if (keys != owned.intervals[block])
      return false;
  return true;
}

std::string Ring::why(int64_t step) {
  if (plan.way == PairWay::Gathered)
    return explain("takes all keys at once");
  std::string text = "meets block " + std::to_string(plan.steps[step].shift) +
                     " of " + std::to_string(plan.length) + " of a ring";
  return step == 1 && plan.way == PairWay::Ring ? explain(text) : text;
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

/// What rows are moved for where the plan is another than propagation's.
static StringRef whyRecut(PairWay way, bool isBack) {
  switch (way) {
  case PairWay::Heads:
    return isBack ? "gives back rows of all heads"
                  : "takes some heads with all queries and keys";
  case PairWay::Zigzag:
    return isBack ? "gives back rows of queries from both ends"
                  : "takes queries in zigzag order, where blocks in order "
                    "are uneven work";
  case PairWay::Ring:
  case PairWay::Gathered:
    break;
  }
  return isBack ? "gives back rows" : "takes some queries";
}

SmallVector<Piece> Ring::operand(int64_t number) {
  Piece piece{localization.operands()[number], op.getMap(number),
              localization.operandTables(number)};
  std::optional<unsigned> rows = queryOf(piece.map);
  if (!plan.isRecut && (countParts() == 1 || !rows))
    return {piece};
  if (!plan.isRecut) {
    // In zigzag order already.
    SmallVector<Piece> pieces;
    for (auto [slice, part] : llvm::zip_equal(plan.slices, plan.parts)) {
      Piece &mine = pieces.emplace_back(piece);
      mine.value =
          partOf(localization, piece.value, *rows, piece.tables[*rows], slice);
      mine.tables[*rows] = part;
    }
    return pieces;
  }
  SmallVector<Piece> pieces;
  for (int64_t part = 0; part < countOf(piece.map); ++part) {
    Piece &mine = pieces.emplace_back(piece);
    mine.tables = tablesOf(piece.map, {}, part);
    if (std::optional<unsigned> dim = keyOf(piece.map); dim && areKeysCut())
      mine.tables[*dim] = piece.tables[*dim];
    mine.value = localization.exchange(
        piece.value, piece.tables, mine.tables, {},
        explain(whyRecut(plan.way, /*isBack=*/false).str()));
  }
  return pieces;
}

Value Ring::deliver(ArrayRef<Value> values, AffineMap from, int64_t number) {
  AffineMap to = op.getResultMap(number);
  RankedTensorType type = localization.resultType(number);
  std::optional<unsigned> dim = queryOf(to);
  if (!plan.isRecut && plan.way != PairWay::Gathered) {
    if (values.size() == 1)
      return finish(values.front(), from, to, type);
    SmallVector<Value> pieces;
    for (auto [part, found] : llvm::enumerate(values)) {
      SmallVector<IntervalTable> made = localization.resultTables(number);
      made[*dim] = plan.parts[part];
      pieces.push_back(
          finish(found, from, to, blockType(made, type.getElementType())));
    }
    return castTo(b, loc, tensor::ConcatOp::create(b, loc, *dim, pieces), type);
  }
  SmallVector<Value> pieces;
  for (auto [part, found] : llvm::enumerate(values)) {
    SmallVector<IntervalTable> made = tablesOf(to, {}, part),
                               needed = localization.resultTables(number);
    Value value =
        finish(found, from, to, blockType(made, type.getElementType()));
    if (values.size() > 1) {
      // All rows from one end are a tensor of their own.
      auto end = static_cast<ZigzagEnd>(part);
      int64_t size = op.getDimSizes()[queryDim];
      made[*dim] = inStretch(made[*dim], end, size);
      needed[*dim] = inStretch(needed[*dim], end, size);
    }
    pieces.push_back(localization.exchange(
        value, made, needed, {}, whyRecut(plan.way, /*isBack=*/true)));
  }
  Value whole = pieces.size() > 1
                    ? tensor::ConcatOp::create(b, loc, *dim, pieces).getResult()
                    : pieces.front();
  return castTo(b, loc, whole, type);
}

Value Ring::at(const Piece &piece, int64_t step) {
  std::optional<unsigned> dim = keyOf(piece.map);
  if (!dim || !areKeysCut())
    return piece.value;
  SmallVector<IntervalTable> needed(piece.tables);
  needed[*dim] = plan.steps[step].keys;
  if (isCut(piece.tables, *dim))
    return localization.exchange(piece.value, piece.tables, needed, {},
                                 why(step));
  // All keys are here.
  return partOf(localization, piece.value, *dim, piece.tables[*dim],
                needed[*dim]);
}

Value Ring::ofKeys(Value block, AffineMap map, const Here &here,
                   int64_t keyPart, Value into) {
  std::optional<unsigned> dim = keyOf(map);
  if (dim && here.isPassed) {
    // In a buffer that any block fits in.
    if (plan.isOpen)
      return slice(block, *dim, b.getIndexAttr(0), sizeOf(here.owner),
                   ShapedType::kDynamic, into);
    const TablePart &part = ownedParts[keyPart];
    SmallVector<int64_t> begins, sizes = sizesOf(part.held.intervals);
    for (auto [whole, mine] :
         llvm::zip_equal(owned.intervals, part.held.intervals))
      begins.push_back(mine.empty() ? 0 : mine.begin - whole.begin);
    int64_t size = staticSize(sizes);
    if (ownedParts.size() == 1 &&
        size == cast<RankedTensorType>((into ? into : block).getType())
                    .getDimSize(*dim))
      return block;
    return slice(block, *dim, pickEntry(b, loc, begins, here.owner),
                 pickEntry(b, loc, sizes, here.owner), size, into);
  }
  const RingStep &now = plan.steps[here.step];
  if (!dim || now.parts.size() == 1)
    return block;
  return partOf(localization, block, *dim, now.keys, now.parts[keyPart].held,
                into);
}

std::optional<Piece> Ring::join(const Piece &first, const Piece &second) {
  // Side by side in their last dims, if they are cut alike otherwise.
  auto a = cast<RankedTensorType>(first.value.getType()),
       c = cast<RankedTensorType>(second.value.getType());
  std::optional<unsigned> dim = keyOf(first.map);
  int64_t last = a.getRank() - 1;
  bool moves =
      isLoop() || !llvm::all_of(llvm::seq(countSteps()),
                                [&](int64_t step) { return staysPut(step); });
  if (!moves || a.getRank() != c.getRank() ||
      a.getElementType() != c.getElementType() || int64_t(*dim) == last ||
      a.isDynamicDim(last) || c.isDynamicDim(last) ||
      !isCut(first.tables, *dim) || isCut(first.tables, last) ||
      isCut(second.tables, last))
    return std::nullopt;
  for (int64_t i = 0; i < last; ++i)
    if (first.map.getResult(i) != second.map.getResult(i) ||
        first.tables[i].intervals != second.tables[i].intervals ||
        first.tables[i].formula != second.tables[i].formula)
      return std::nullopt;
  SmallVector<int64_t> shape(a.getShape());
  shape[last] = a.getDimSize(last) + c.getDimSize(last);
  Value both = tensor::ConcatOp::create(b, loc, a.clone(shape), last,
                                        ValueRange{first.value, second.value});
  Piece pair{both, first.map, first.tables};
  pair.tables[last] = wholeTable(shape[last]);
  return pair;
}

Value Ring::columns(Value block, int64_t from, int64_t size) {
  auto type = cast<RankedTensorType>(block.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(dimOf(b, loc, block, i));
  offsets[last] = b.getIndexAttr(from);
  sizes[last] = b.getIndexAttr(size);
  SmallVector<int64_t> narrow(type.getShape());
  narrow[last] = size;
  return takePart(b, loc, type.clone(narrow), block, offsets, sizes, strides);
}

std::pair<Value, Value> Ring::at(const std::optional<Piece> &pair,
                                 const Piece &first, const Piece &second,
                                 int64_t step) {
  if (!pair || staysPut(step))
    return {at(first, step), at(second, step)};
  return split(at(*pair, step), first, second);
}

std::pair<Value, Value> Ring::split(Value block, const Piece &first,
                                    const Piece &second) {
  int64_t border =
      cast<RankedTensorType>(first.value.getType()).getShape().back();
  return {
      columns(block, 0, border),
      columns(
          block, border,
          cast<RankedTensorType>(second.value.getType()).getShape().back())};
}

Arrival Ring::home(Value value, AffineMap map, int64_t step) {
  unsigned dim = *keyOf(map);
  SmallVector<IntervalTable> from = tablesOf(map, {step}, 0), to(from);
  if (isWhole(step)) {
    to[dim] = owned;
  } else {
    // What ranks have of their blocks, one behind the other.
    int64_t end = 0;
    for (Interval &keys : from[dim].intervals) {
      keys = {end, end + keys.size()};
      end = keys.end;
    }
    if (from[dim].formula)
      from[dim].formula =
          Formula::shards(packedFormula(from[dim].formula),
                          {from[dim].axes.begin(), from[dim].axes.end()});
    to[dim] = rotated(from[dim], -plan.steps[step].shift);
  }
  std::string text = "gives back gradients of block " +
                     std::to_string(plan.steps[step].shift) + " of " +
                     std::to_string(plan.length) + " of a ring";
  return {localization.exchange(value, from, to, {}, text), map, step};
}

Value Ring::receive(Value total, const Arrival &arrival) {
  auto add = [&](Value sum) -> Value {
    return AccumulateOp::create(
        b, loc,
        castTo(b, loc, arrival.value, cast<RankedTensorType>(sum.getType())),
        sum);
  };
  if (isWhole(arrival.step))
    return add(total);
  const RingStep &step = plan.steps[arrival.step];
  IntervalTable keys = rotated(step.keys, -step.shift);
  unsigned dim = *keyOf(arrival.map);
  return partOf(localization,
                add(partOf(localization, total, dim, owned, keys)), dim, owned,
                keys, total);
}

SmallVector<Value> Ring::positions(const Here &here, int64_t part,
                                   int64_t keyPart) {
  SmallVector<Value> result;
  for (int64_t dim = 0; dim < queryDim; ++dim)
    result.push_back(getValueOrCreateConstantIndexOp(
        b, loc, beginAt(localization, plan.cuts[dim])));
  result.push_back(getValueOrCreateConstantIndexOp(
      b, loc, beginAt(localization, plan.parts[part])));
  OpFoldResult key;
  if (here.isPassed && plan.isOpen)
    key = beginOf(here.owner);
  else if (here.isPassed)
    key =
        pickEntry(b, loc,
                  llvm::map_to_vector(ownedParts[keyPart].natural.intervals,
                                      [](Interval keys) { return keys.begin; }),
                  here.owner);
  else
    key = beginAt(localization, plan.steps[here.step].parts[keyPart].natural);
  result.push_back(getValueOrCreateConstantIndexOp(b, loc, key));
  return result;
}

SmallVector<IntervalTable> Ring::tablesOf(AffineMap map, const Here &here,
                                          int64_t part) {
  SmallVector<IntervalTable> tables;
  for (AffineExpr expr : map.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    tables.push_back(
        dim == keyDim
            ? (here.isPassed ? bufferTable() : plan.steps[here.step].keys)
        : dim == queryDim ? plan.parts[part]
                          : plan.cuts[dim]);
  }
  return tables;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

AffineMap Ring::stateMap(AffineMap map, int64_t last) {
  SmallVector<AffineExpr> results;
  AffineExpr final = getAffineDimExpr(last, map.getContext());
  for (AffineExpr expr : map.getResults())
    if (expr != final)
      results.push_back(expr);
  results.push_back(final);
  return AffineMap::get(numDims, 0, results, map.getContext());
}

Value Ring::filled(AffineMap map, const Here &here, int64_t part,
                   TypedAttr number) {
  SmallVector<IntervalTable> tables = tablesOf(map, here, part);
  RankedTensorType type = blockType(tables, number.getType());
  auto scalar = RankedTensorType::get({}, number.getType());
  Value value = stablehlo::ConstantOp::create(
      b, loc,
      cast<ElementsAttr>(Attribute(
          DenseElementsAttr::get(scalar, ArrayRef<Attribute>(number)))));
  return broadcastScalar(b, loc, value, type, blockSizes(localization, tables));
}

SmallVector<Value> Ring::pairStep(const PairPass &pass, const Here &here,
                                  int64_t part, int64_t keyPart,
                                  ArrayRef<Value> blocks, ValueRange state) {
  SmallVector<AffineMap> maps(pass.inputMaps);
  llvm::append_range(maps, pass.stateMaps);
  SmallVector<Value> mine;
  for (auto [block, map] : llvm::zip_equal(blocks, pass.inputMaps))
    mine.push_back(ofKeys(block, map, here, keyPart));
  SmallVector<Value> before;
  for (auto [whole, map] : llvm::zip_equal(state, pass.stateMaps))
    before.push_back(ofKeys(whole, map, here, keyPart));
  ValueRange all(mine), inits(before);
  unsigned first = pass.hasValue ? 3 : 2;
  SmallVector<Value> at = positions(here, part, keyPart);
  auto made = PairStepOp::create(
      b, loc, inits.getTypes(), pass.combine, pass.backward, all[0], all[1],
      pass.hasValue ? all[2] : Value(), all.slice(first, pass.numRows),
      all.drop_front(first + pass.numRows), at, inits,
      b.getAffineMapArrayAttr(maps), op.getBandLowerAttr(),
      op.getBandUpperAttr());
  for (auto [from, to] : llvm::zip_equal(pass.regions, made->getRegions()))
    if (from && !from->empty()) {
      IRMapping mapping;
      from->cloneInto(&to, mapping);
    }
  SmallVector<Value> after;
  for (auto [result, whole, map] :
       llvm::zip_equal(made.getResults(), state, pass.stateMaps))
    after.push_back(ofKeys(result, map, here, keyPart, whole));
  return after;
}

Value Ring::spread(Value value, AffineMap from, Value like, AffineMap to) {
  auto type = cast<RankedTensorType>(like.getType());
  type = type.clone(cast<RankedTensorType>(value.getType()).getElementType());
  SmallVector<int64_t> dims;
  for (AffineExpr expr : from.getResults())
    dims.push_back(*to.getResultPosition(expr));
  // StableHLO wants ascending places only of what it does not transpose.
  if (type.hasStaticShape())
    return stablehlo::BroadcastInDimOp::create(b, loc, type, value, dims);
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(dimOf(b, loc, like, i));
  return stablehlo::DynamicBroadcastInDimOp::create(
      b, loc, type, value, shapeTensor(b, loc, sizes), dims);
}

Value Ring::finish(Value value, AffineMap from, AffineMap to,
                   RankedTensorType type) {
  auto here = cast<RankedTensorType>(value.getType());
  if (here.getElementType() != type.getElementType())
    value = stablehlo::ConvertOp::create(
        b, loc, here.clone(type.getElementType()), value);
  SmallVector<int64_t> order;
  for (AffineExpr expr : to.getResults())
    order.push_back(*from.getResultPosition(expr));
  if (!llvm::is_sorted(order)) {
    auto now = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = llvm::map_to_vector(
        order, [&](int64_t dim) { return now.getDimSize(dim); });
    value = stablehlo::TransposeOp::create(b, loc, now.clone(shape), value,
                                           b.getDenseI64ArrayAttr(order));
  }
  return castTo(b, loc, value, type);
}
