//===- Ring.cpp - Every rank meets every block ----------------------------===//
//
// Keys, values and what belongs to them travel straight from the rank that owns
// a block to the one whose turn it is with it: at step s the rank at place p
// of a ring of n meets block (p + s) mod n. So each step moves one block a
// rank, no step waits for the one before it, and a rank to which the band
// leaves nothing of a block does not get it. Axes along which queries are
// not cut are no ring: each rank keeps to its block, and states are merged.
//
// Where the band makes a ring uneven work, or blocks are many and short, ranks
// take some heads each instead, with all their queries and keys: one exchange
// there and one back. A model of flops, bytes and meetings decides.
//
//===----------------------------------------------------------------------===//
#include "Ring.h"
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

namespace {

/// A tensor of the op and what of it is here now.
struct Piece {
  Value value;
  AffineMap map;
  SmallVector<IntervalTable> tables; ///< one a dim
};

/// The schedule of one op, and the building blocks of its local form.
class Ring {
public:
  Ring(AllPairsOpInterface op, Localization &localization);

  int64_t countSteps() const { return steps.size(); }
  /// The keys that each coordinate meets at a step.
  const IntervalTable &keysAt(int64_t step) const { return steps[step]; }
  /// The keys that it owns.
  const IntervalTable &keysOwned() const { return owned; }
  /// Axes along which states are merged.
  ArrayRef<int64_t> mergeAxes() const { return merged; }
  ArrayRef<int64_t> queryAxes() const { return queries.axes; }
  ArrayRef<int64_t> axesOf(int64_t dim) const { return cuts[dim].axes; }

  /// Operand `number` as it is here.
  Piece operand(int64_t number);
  /// What of `piece` belongs to the keys of `step`: it travels, or is sliced
  /// where all keys are here, or is the piece itself.
  Value at(const Piece &piece, int64_t step);
  /// Two tensors that travel as one, if they can.
  std::optional<Piece> join(const Piece &first, const Piece &second);
  /// Two tensors at a step, of `pair` if they were joined.
  std::pair<Value, Value> at(const std::optional<Piece> &pair, const Piece &first, const Piece &second, int64_t step);
  /// The result `number` of the op, from `value` of map `from` as steps made it.
  Value deliver(Value value, AffineMap from, int64_t number);
  /// Brings what was computed for the keys of `step` to their owners.
  Value home(Value value, AffineMap map, ArrayRef<IntervalTable> tables, int64_t step);
  /// Where a step's blocks begin: batch dims, query, key.
  SmallVector<Value> positions(int64_t step);
  /// Tables of a tensor of `map` at a step (queries and batch dims as here).
  SmallVector<IntervalTable> tablesOf(AffineMap map, int64_t step);
  /// A tensor of `map` at `step` full of `number`.
  Value filled(AffineMap map, int64_t step, TypedAttr number);
  Value filled(AffineMap map, int64_t step, double number) { return filled(map, step, b.getFloatAttr(accumulator, number)); }
  /// One `spmd.pair_step`.
  SmallVector<Value> step(PairCombine combine, bool backward, int64_t number, ArrayRef<Piece> inputs,
                          ArrayRef<Value> blocks, unsigned numRows, bool hasValue, ValueRange state,
                          ArrayRef<AffineMap> stateMaps, ArrayRef<Region *> regions);
  /// `value` (map `from`) repeated to lie like `to`, which has all its dims.
  Value spread(Value value, AffineMap from, Value like, AffineMap to);
  /// `value` with dims in the order of `to`, as `type`.
  Value finish(Value value, AffineMap from, AffineMap to, RankedTensorType type);
  /// The projection of (batch..., rows, columns) that `map` has, columns last.
  AffineMap stateMap(AffineMap map, int64_t last);

  Localization &localization;
  AllPairsOpInterface op;
  OpBuilder &b;
  Location loc;
  FloatType accumulator;
  int64_t numDims, queryDim, keyDim, depthDim, featureDim;

private:
  /// Part of the last dim.
  Value columns(Value block, int64_t from, int64_t size);
  /// The batch dim to cut in place of queries and keys, if that is better.
  std::optional<int64_t> chooseHeads();
  void cutHeads(int64_t dim);
  /// Pairs that the band leaves of a block.
  double countPairs(Interval rows, Interval keys);
  std::optional<unsigned> keyOf(AffineMap map) {
    return map.getResultPosition(getAffineDimExpr(keyDim, map.getContext()));
  }
  bool isCut(ArrayRef<IntervalTable> tables, unsigned dim) { return tables[dim].intervals.size() > 1; }
  std::string why(int64_t step);

  /// How each iteration dim lies while the steps run.
  SmallVector<IntervalTable> cuts;
  bool isRecut = false; ///< other cuts than propagation's
  IntervalTable owned, queries;
  SmallVector<int64_t> merged, places;
  SmallVector<IntervalTable> steps;
  SmallVector<int64_t> shifts;
  int64_t length = 1;
};
} // namespace

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// The coordinates along `axes` of number `index`.
static SmallVector<int64_t> coordinatesOf(ArrayRef<int64_t> axes, ArrayRef<int64_t> meshSizes, int64_t index) {
  SmallVector<int64_t> result(axes.size());
  for (int64_t i = int64_t(axes.size()) - 1; i >= 0; --i) {
    result[i] = index % meshSizes[axes[i]];
    index /= meshSizes[axes[i]];
  }
  return result;
}

static int64_t countAlong(ArrayRef<int64_t> axes, ArrayRef<int64_t> meshSizes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= meshSizes[axis];
  return count;
}

Ring::Ring(AllPairsOpInterface op, Localization &localization)
    : localization(localization), op(op), b(localization.builder()), loc(op->getLoc()),
      accumulator(op.getAccumulatorType()), numDims(op.getNumDims()), queryDim(op.getQueryDim()),
      keyDim(op.getKeyDim()), depthDim(op.getDepthDim()), featureDim(op.getFeatureDim()) {
  ArrayRef<int64_t> mesh = localization.meshSizes();
  for (int64_t dim = 0; dim < numDims; ++dim)
    cuts.push_back(localization.factorTable(dim));
  owned = cuts[keyDim];
  queries = cuts[queryDim];
  // Along an axis that cuts something else as well every rank needs all keys.
  for (int64_t axis : owned.axes) {
    bool isShared = false;
    for (int64_t dim = 0; dim < numDims; ++dim)
      isShared |= dim != keyDim && llvm::is_contained(cuts[dim].axes, axis);
    (isShared ? places : merged).push_back(axis);
  }
  auto pairs = dyn_cast<AllPairsOp>(op.getOperation());
  if (pairs && pairs.getCombine() == PairCombine::TopK && !merged.empty()) {
    // Lists of the best do not add up: queries are cut instead, for the while.
    SmallVector<int64_t> axes(queries.axes);
    llvm::append_range(axes, merged);
    queries = tableOf(axes, Boundaries::balanced(op.getDimSizes()[queryDim], countAlong(axes, mesh)));
    cuts[queryDim] = queries;
    places.assign(owned.axes.begin(), owned.axes.end());
    merged.clear();
    isRecut = true;
  }
  // Tables over the axes of both, since the band looks at both.
  SmallVector<int64_t> axes(owned.axes);
  for (int64_t axis : queries.axes)
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  length = countAlong(places, mesh);
  auto lower = op->getAttrOfType<IntegerAttr>("band_lower"), upper = op->getAttrOfType<IntegerAttr>("band_upper");
  bool isBanded = (lower || upper) && !owned.axes.empty();
  bool goesBack = isa<AttentionBackwardOp>(op.getOperation());
  for (int64_t shift = 0; shift < length; ++shift) {
    IntervalTable table{isBanded ? axes : owned.axes, {}};
    bool some = false;
    for (int64_t index = 0; index < countAlong(table.axes, mesh); ++index) {
      SmallVector<int64_t> coordinates = coordinatesOf(table.axes, mesh, index);
      auto coordinateOf = [&](int64_t axis) { return coordinates[llvm::find(table.axes, axis) - table.axes.begin()]; };
      int64_t place = 0;
      for (int64_t axis : places)
        place = place * mesh[axis] + coordinateOf(axis);
      SmallVector<int64_t> turned = coordinatesOf(places, mesh, (place + shift) % length);
      int64_t block = 0;
      for (int64_t axis : owned.axes) {
        auto at = llvm::find(places, axis);
        block = block * mesh[axis] + (at == places.end() ? coordinateOf(axis) : turned[at - places.begin()]);
      }
      Interval keys = owned.intervals[block];
      bool meets = !keys.empty();
      if (isBanded) {
        int64_t query = 0;
        for (int64_t axis : queries.axes)
          query = query * mesh[axis] + coordinateOf(axis);
        Interval rows = queries.intervals[query];
        meets &= !rows.empty() && !(upper && keys.begin > rows.end - 1 + upper.getInt()) &&
                 !(lower && keys.end - 1 < rows.begin + lower.getInt());
        // Gradients go back as whole blocks, zeros where nothing was met.
        if (!meets && !goesBack)
          keys.end = keys.begin;
      }
      some |= meets;
      table.intervals.push_back(keys);
    }
    if (!some && shift > 0)
      continue;
    steps.push_back(std::move(table));
    shifts.push_back(shift);
  }
  if (std::optional<int64_t> dim = chooseHeads())
    cutHeads(*dim);
}

double Ring::countPairs(Interval rows, Interval keys) {
  if (rows.empty() || keys.empty())
    return 0;
  auto lower = op->getAttrOfType<IntegerAttr>("band_lower"), upper = op->getAttrOfType<IntegerAttr>("band_upper");
  if (!lower && !upper)
    return double(rows.size()) * keys.size();
  // Few rows stand for all of them.
  int64_t samples = std::min<int64_t>(rows.size(), 64);
  double count = 0;
  for (int64_t i = 0; i < samples; ++i) {
    int64_t row = rows.begin + rows.size() * (2 * i + 1) / (2 * samples);
    Interval met = keys;
    if (lower)
      met.begin = std::max(met.begin, row + lower.getInt());
    if (upper)
      met.end = std::min(met.end, row + upper.getInt() + 1);
    count += std::max<int64_t>(0, met.end - met.begin);
  }
  return count * rows.size() / samples;
}

std::optional<int64_t> Ring::chooseHeads() {
  bool hasValue = op->getNumOperands() > 2 && op.getFirstExtra() > 2;
  if (places.size() != owned.axes.size() || queries.axes.size() != places.size() || length < 2 || !hasValue ||
      !llvm::all_of(places, [&](int64_t axis) { return llvm::is_contained(queries.axes, axis); }))
    return std::nullopt;
  ArrayRef<int64_t> mesh = localization.meshSizes();
  // Extras with queries and keys would be held whole.
  for (unsigned i = 2; i < op->getNumOperands(); ++i)
    if (op.getMap(i).isFunctionOfDim(queryDim) && op.getMap(i).isFunctionOfDim(keyDim))
      return std::nullopt;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (op.getResultMap(i).isFunctionOfDim(queryDim) && op.getResultMap(i).isFunctionOfDim(keyDim))
      return std::nullopt;
  SmallVector<int64_t> sizes = op.getDimSizes();
  std::optional<int64_t> heads;
  for (int64_t dim = 0; dim < queryDim; ++dim) {
    bool everywhere = op.getMap(0).isFunctionOfDim(dim) && op.getMap(1).isFunctionOfDim(dim) && op.getMap(2).isFunctionOfDim(dim);
    int64_t shards = countAlong(cuts[dim].axes, mesh) * length;
    if (everywhere && sizes[dim] % shards == 0)
      heads = dim;
  }
  if (!heads)
    return std::nullopt;

  // Per rank and head: flops, bytes that arrive, meetings.
  constexpr double kFlops = 1e11, kBytes = 5e9, kMeeting = 2e-5;
  bool isBackward = isa<AttentionBackwardOp>(op.getOperation());
  double perHead = 1;
  for (int64_t dim = 0; dim < queryDim; ++dim)
    perHead *= double(sizes[dim]) / std::max<int64_t>(1, countAlong(cuts[dim].axes, mesh));
  double depth = sizes[depthDim], feature = sizes[featureDim];
  double flops = (isBackward ? 6 * depth + 4 * feature : 2 * (depth + feature)) * perHead;
  unsigned width = cast<ShapedType>(op->getOperand(0).getType()).getElementTypeBitWidth() / 8;
  double row = (depth + feature) * width * perHead;
  int64_t whole = sizes[keyDim], allRows = sizes[queryDim];
  double even = countPairs({0, allRows}, {0, whole}) / length * flops / kFlops, ring = 0;
  for (int64_t place = 0; place < length; ++place) {
    double time = 0;
    for (int64_t step = 0; step < countSteps(); ++step) {
      // The tables run over the same axes; their order may differ.
      Interval keys = owned.intervals[(place + shifts[step]) % length];
      double compute = countPairs(queries.intervals[place], keys) * flops / kFlops;
      double travel = step == 0 ? 0 : keys.size() * row * (isBackward ? 2 : 1) / kBytes;
      time += std::max(compute, travel) + (step ? kMeeting : 0);
    }
    ring = std::max(ring, time);
  }
  double moved = (double(allRows) + whole) / length * row * (isBackward ? 2 : 1) * (length - 1) / length;
  double heading = even + moved / kBytes + 2 * kMeeting;
  if (heading >= 0.95 * ring)
    return std::nullopt;
  return heads;
}

void Ring::cutHeads(int64_t dim) {
  isRecut = true;
  int64_t size = op.getDimSizes()[dim];
  SmallVector<int64_t> axes(cuts[dim].axes);
  llvm::append_range(axes, places);
  cuts[dim] = tableOf(axes, Boundaries::balanced(size, countAlong(axes, localization.meshSizes())));
  cuts[queryDim] = wholeTable(op.getDimSizes()[queryDim]);
  cuts[keyDim] = wholeTable(op.getDimSizes()[keyDim]);
  owned = cuts[keyDim];
  queries = cuts[queryDim];
  places.clear();
  length = 1;
  steps = {owned};
  shifts = {0};
}

std::string Ring::why(int64_t step) {
  return "meets block " + std::to_string(shifts[step]) + " of " + std::to_string(length) + " of a ring";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Piece Ring::operand(int64_t number) {
  Piece piece{localization.operands()[number], op.getMap(number), localization.operandTables(number)};
  if (!isRecut)
    return piece;
  SmallVector<IntervalTable> needed = tablesOf(piece.map, 0);
  if (std::optional<unsigned> dim = keyOf(piece.map); dim && !owned.axes.empty())
    needed[*dim] = piece.tables[*dim];
  piece.value = localization.exchange(piece.value, piece.tables, needed, {},
                                      owned.axes.empty() ? "takes some heads with all queries and keys" : "takes some queries");
  piece.tables = needed;
  return piece;
}

Value Ring::deliver(Value value, AffineMap from, int64_t number) {
  AffineMap to = op.getResultMap(number);
  RankedTensorType type = localization.resultType(number);
  if (!isRecut)
    return finish(value, from, to, type);
  SmallVector<IntervalTable> made = tablesOf(to, 0);
  value = finish(value, from, to, blockType(made, type.getElementType()));
  value = localization.exchange(value, made, localization.resultTables(number), {}, owned.axes.empty() ? "gives back rows of all heads" : "gives back rows");
  return castTo(b, loc, value, type);
}

Value Ring::at(const Piece &piece, int64_t step) {
  std::optional<unsigned> dim = keyOf(piece.map);
  if (!dim || owned.axes.empty())
    return piece.value;
  SmallVector<IntervalTable> needed(piece.tables);
  needed[*dim] = steps[step];
  if (isCut(piece.tables, *dim))
    return localization.exchange(piece.value, piece.tables, needed, {}, why(step));
  // All keys are here.
  auto type = cast<RankedTensorType>(piece.value.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(dimOf(b, loc, piece.value, i));
  // A slice of nothing may start at a dim's end, where none may be taken.
  SmallVector<int64_t> begins;
  int64_t whole = piece.tables[*dim].intervals.front().end;
  for (Interval keys : steps[step].intervals)
    begins.push_back(keys.empty() ? std::min(keys.begin, std::max<int64_t>(whole - 1, 0)) : keys.begin);
  offsets[*dim] = localization.lookup(begins, steps[step].axes);
  sizes[*dim] = sizeAt(localization, steps[step]);
  SmallVector<int64_t> shape(type.getShape());
  shape[*dim] = blockType(needed, type.getElementType()).getDimSize(*dim);
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), piece.value, offsets, sizes, strides);
}

std::optional<Piece> Ring::join(const Piece &first, const Piece &second) {
  // Side by side in their last dims, if they lie alike otherwise.
  auto a = cast<RankedTensorType>(first.value.getType()), c = cast<RankedTensorType>(second.value.getType());
  std::optional<unsigned> dim = keyOf(first.map);
  int64_t last = a.getRank() - 1;
  if (countSteps() < 2 || a.getRank() != c.getRank() || a.getElementType() != c.getElementType() || int64_t(*dim) == last ||
      a.isDynamicDim(last) || c.isDynamicDim(last) || !isCut(first.tables, *dim) || isCut(first.tables, last) || isCut(second.tables, last))
    return std::nullopt;
  for (int64_t i = 0; i < last; ++i)
    if (first.map.getResult(i) != second.map.getResult(i) || first.tables[i].intervals != second.tables[i].intervals)
      return std::nullopt;
  SmallVector<int64_t> shape(a.getShape());
  shape[last] = a.getDimSize(last) + c.getDimSize(last);
  Value both = tensor::ConcatOp::create(b, loc, a.clone(shape), last, ValueRange{first.value, second.value});
  Piece pair{both, first.map, first.tables};
  pair.tables[last] = wholeTable(shape[last]);
  return pair;
}

Value Ring::columns(Value block, int64_t from, int64_t size) {
  auto type = cast<RankedTensorType>(block.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(dimOf(b, loc, block, i));
  offsets[last] = b.getIndexAttr(from);
  sizes[last] = b.getIndexAttr(size);
  SmallVector<int64_t> narrow(type.getShape());
  narrow[last] = size;
  return tensor::ExtractSliceOp::create(b, loc, type.clone(narrow), block, offsets, sizes, strides);
}

std::pair<Value, Value> Ring::at(const std::optional<Piece> &pair, const Piece &first, const Piece &second, int64_t step) {
  if (!pair || step == 0)
    return {at(first, step), at(second, step)};
  Value block = at(*pair, step);
  int64_t split = cast<RankedTensorType>(first.value.getType()).getShape().back();
  return {columns(block, 0, split), columns(block, split, cast<RankedTensorType>(second.value.getType()).getShape().back())};
}

Value Ring::home(Value value, AffineMap map, ArrayRef<IntervalTable> tables, int64_t step) {
  SmallVector<IntervalTable> back(tables);
  back[*keyOf(map)] = owned;
  return localization.exchange(value, tables, back, {}, "gives back gradients of block " + std::to_string(shifts[step]) + " of " +
                                                            std::to_string(length) + " of a ring");
}

SmallVector<Value> Ring::positions(int64_t step) {
  SmallVector<Value> result;
  for (int64_t dim = 0; dim < queryDim; ++dim)
    result.push_back(getValueOrCreateConstantIndexOp(b, loc, beginAt(localization, cuts[dim])));
  result.push_back(getValueOrCreateConstantIndexOp(b, loc, beginAt(localization, cuts[queryDim])));
  result.push_back(getValueOrCreateConstantIndexOp(b, loc, beginAt(localization, steps[step])));
  return result;
}

SmallVector<IntervalTable> Ring::tablesOf(AffineMap map, int64_t step) {
  SmallVector<IntervalTable> tables;
  for (AffineExpr expr : map.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    tables.push_back(dim == keyDim ? steps[step] : cuts[dim]);
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

Value Ring::filled(AffineMap map, int64_t step, TypedAttr number) {
  SmallVector<IntervalTable> tables = tablesOf(map, step);
  RankedTensorType type = blockType(tables, number.getType());
  auto scalar = RankedTensorType::get({}, number.getType());
  Value value = stablehlo::ConstantOp::create(b, loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(scalar, ArrayRef<Attribute>(number)))));
  return broadcastScalar(b, loc, value, type, blockSizes(localization, tables));
}

SmallVector<Value> Ring::step(PairCombine combine, bool backward, int64_t number, ArrayRef<Piece> inputs,
                              ArrayRef<Value> blocks, unsigned numRows, bool hasValue, ValueRange state,
                              ArrayRef<AffineMap> stateMaps, ArrayRef<Region *> regions) {
  SmallVector<AffineMap> maps;
  for (const Piece &piece : inputs)
    maps.push_back(piece.map);
  llvm::append_range(maps, stateMaps);
  ValueRange all(blocks);
  unsigned first = hasValue ? 3 : 2;
  SmallVector<Value> at = positions(number);
  auto lower = op->getAttrOfType<IntegerAttr>("band_lower"), upper = op->getAttrOfType<IntegerAttr>("band_upper");
  auto made = PairStepOp::create(b, loc, state.getTypes(), combine, backward, all[0], all[1], hasValue ? all[2] : Value(),
                                 all.slice(first, numRows), all.drop_front(first + numRows), at, state,
                                 b.getAffineMapArrayAttr(maps), lower, upper);
  for (auto [from, to] : llvm::zip_equal(regions, made->getRegions()))
    if (from && !from->empty()) {
      IRMapping mapping;
      from->cloneInto(&to, mapping);
    }
  return llvm::to_vector_of<Value>(made.getResults());
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
  return stablehlo::DynamicBroadcastInDimOp::create(b, loc, type, value, shapeTensor(b, loc, sizes), dims);
}

Value Ring::finish(Value value, AffineMap from, AffineMap to, RankedTensorType type) {
  auto here = cast<RankedTensorType>(value.getType());
  if (here.getElementType() != type.getElementType())
    value = stablehlo::ConvertOp::create(b, loc, here.clone(type.getElementType()), value);
  SmallVector<int64_t> order;
  for (AffineExpr expr : to.getResults())
    order.push_back(*from.getResultPosition(expr));
  if (!llvm::is_sorted(order)) {
    auto now = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return now.getDimSize(dim); });
    value = stablehlo::TransposeOp::create(b, loc, now.clone(shape), value, b.getDenseI64ArrayAttr(order));
  }
  return castTo(b, loc, value, type);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The states of ranks that met different keys, as one.
static void mergeSoftmax(Ring &ring, SmallVectorImpl<Value> &state, AffineMap rows, AffineMap sums) {
  OpBuilder &b = ring.b;
  Location loc = ring.loc;
  Localization &localization = ring.localization;
  ArrayRef<int64_t> axes = ring.mergeAxes();
  Value largest = localization.allReduce(state[0], ReductionKind::Max, axes, "finds the largest score of each row");
  // exp(-inf - -inf) is NaN where it should not matter.
  auto type = cast<RankedTensorType>(largest.getType());
  Value same = stablehlo::CompareOp::create(b, loc, state[0], largest, stablehlo::ComparisonDirection::EQ);
  Value factor = stablehlo::ExpOp::create(b, loc, type, stablehlo::SubtractOp::create(b, loc, type, state[0], largest).getResult());
  factor = stablehlo::SelectOp::create(b, loc, type, same, ring.filled(rows, 0, 1.0), factor);
  Value sum = stablehlo::MulOp::create(b, loc, type, state[1], factor);
  Value wide = ring.spread(factor, rows, state[2], sums);
  Value acc = stablehlo::MulOp::create(b, loc, state[2].getType(), state[2], wide);
  state[0] = largest;
  state[1] = localization.allReduce(sum, ReductionKind::Sum, axes, "adds up what ranks with other keys weigh");
  state[2] = localization.allReduce(acc, ReductionKind::Sum, axes, "adds up what ranks with other keys found");
}

LocalResults rules::localizeAllPairs(AllPairsOp op, Localization &localization) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  Ring ring(self, localization);
  OpBuilder &b = ring.b;
  Location loc = ring.loc;
  bool hasValue = bool(op.getValue());
  SmallVector<Piece> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(ring.operand(i));

  PairCombine combine = op.getCombine();
  SmallVector<AffineMap> maps;
  SmallVector<Value> state;
  auto begin = [&](AffineMap map, double number) {
    maps.push_back(map);
    state.push_back(ring.filled(map, 0, number));
  };
  AffineMap out = self.getResultMap(0);
  constexpr double kInfinity = HUGE_VAL;
  switch (combine) {
  case PairCombine::Softmax:
    begin(self.getResultMap(1), -kInfinity);
    begin(self.getResultMap(1), 0);
    begin(ring.stateMap(out, ring.featureDim), 0);
    break;
  case PairCombine::Sum:
    begin(hasValue ? ring.stateMap(out, ring.featureDim) : out, 0);
    break;
  case PairCombine::Max:
  case PairCombine::Min:
    begin(out, combine == PairCombine::Max ? -kInfinity : kInfinity);
    break;
  case PairCombine::TopK:
    begin(ring.stateMap(out, ring.featureDim), -kInfinity);
    maps.push_back(ring.stateMap(self.getResultMap(1), ring.featureDim));
    state.push_back(ring.filled(maps.back(), 0, b.getI32IntegerAttr(std::numeric_limits<int32_t>::max())));
    break;
  }
  // Joined before the first step, so that it may travel during that.
  std::optional<Piece> pair = hasValue ? ring.join(inputs[1], inputs[2]) : std::nullopt;
  for (int64_t step = 0; step < ring.countSteps(); ++step) {
    SmallVector<Value> blocks{inputs[0].value};
    unsigned next = 1;
    if (hasValue) {
      auto [key, value] = ring.at(pair, inputs[1], inputs[2], step);
      blocks.append({key, value});
      next = 3;
    }
    for (; next < inputs.size(); ++next)
      blocks.push_back(ring.at(inputs[next], step));
    state = ring.step(combine, /*backward=*/false, step, inputs, blocks, 0, hasValue, state, maps,
                      {&op.getPair(), &op.getScore(), &op.getWeight(), nullptr});
  }

  auto result = [&](Value value, AffineMap from, int64_t number) {
    return ring.deliver(value, from, number);
  };
  switch (combine) {
  case PairCombine::Softmax: {
    if (!ring.mergeAxes().empty())
      mergeSoftmax(ring, state, maps[0], maps[2]);
    auto type = cast<RankedTensorType>(state[2].getType());
    Value divided = stablehlo::DivOp::create(b, loc, type, state[2], ring.spread(state[1], maps[1], state[2], maps[2]));
    Value log = stablehlo::LogOp::create(b, loc, state[1].getType(), state[1]);
    Value lse = stablehlo::AddOp::create(b, loc, state[0].getType(), state[0], log);
    return SmallVector<Value>{result(divided, maps[2], 0), result(lse, maps[0], 1)};
  }
  case PairCombine::Sum:
  case PairCombine::Max:
  case PairCombine::Min: {
    ReductionKind kind = combine == PairCombine::Sum   ? ReductionKind::Sum
                         : combine == PairCombine::Max ? ReductionKind::Max
                                                       : ReductionKind::Min;
    if (!ring.mergeAxes().empty())
      state[0] = localization.allReduce(state[0], kind, ring.mergeAxes(), "combines what ranks with other keys found");
    return SmallVector<Value>{result(state[0], maps[0], 0)};
  }
  case PairCombine::TopK:
    return SmallVector<Value>{result(state[0], maps[0], 0), result(state[1], maps[1], 1)};
  }
  llvm_unreachable("all kinds are listed");
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Axes that cut batch dims which `map` lacks: its gradient is partial there.
static SmallVector<int64_t> partialAxes(Ring &ring, AffineMap map) {
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < ring.queryDim; ++dim)
    if (!map.isFunctionOfDim(dim))
      llvm::append_range(axes, ring.axesOf(dim));
  return axes;
}

LocalResults rules::localizeAttentionBackward(AttentionBackwardOp op, Localization &localization) {
  auto self = cast<AllPairsOpInterface>(op.getOperation());
  Ring ring(self, localization);
  OpBuilder &b = ring.b;
  Location loc = ring.loc;
  SmallVector<Piece> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(ring.operand(i));
  SmallVector<AffineMap> maps{ring.stateMap(self.getResultMap(0), ring.depthDim), ring.stateMap(self.getResultMap(1), ring.depthDim),
                              ring.stateMap(self.getResultMap(2), ring.featureDim)};
  for (unsigned i = 3; i < op->getNumResults(); ++i) {
    AffineMap map = self.getResultMap(i);
    if (!ring.keysOwned().axes.empty() && map.isFunctionOfDim(ring.keyDim))
      return op.emitOpError() << "asks for the gradient of what scores are made of (result " << i << "), with keys cut; leave its keys whole";
    maps.push_back(map);
  }
  // Blocks travel once more: those of the forward pass, kept until here, would be
  // all keys and values on every rank.
  if (ring.countSteps() > 1) {
    SmallVector<Value> held{inputs[1].value, inputs[2].value, inputs[5].value};
    SmallVector<Type> types = llvm::map_to_vector(held, [](Value value) { return value.getType(); });
    auto barrier = stablehlo::OptimizationBarrierOp::create(b, loc, types, held);
    inputs[1].value = barrier->getResult(0);
    inputs[2].value = barrier->getResult(1);
  }
  // Gradients of queries stay; those of keys and values are of one block.
  SmallVector<Value> total(op->getNumResults());
  for (unsigned i : {0u})
    total[i] = ring.filled(maps[i], 0, 0.0);
  for (unsigned i = 3; i < total.size(); ++i)
    total[i] = ring.filled(maps[i], 0, 0.0);
  auto add = [&](Value &sum, Value term) {
    auto type = cast<RankedTensorType>(sum.getType());
    sum = AccumulateOp::create(b, loc, castTo(b, loc, term, type), sum);
  };
  // What came back of the step before is added when this one is computed.
  SmallVector<Value, 2> arriving;
  std::optional<Piece> pair = ring.join(inputs[1], inputs[2]);
  for (int64_t step = 0; step < ring.countSteps(); ++step) {
    auto [key, value] = ring.at(pair, inputs[1], inputs[2], step);
    SmallVector<Value> blocks{inputs[0].value, key, value};
    for (unsigned i = 3; i < inputs.size(); ++i)
      blocks.push_back(ring.at(inputs[i], step));
    SmallVector<Value> state{total[0], ring.filled(maps[1], step, 0.0), ring.filled(maps[2], step, 0.0)};
    state.append(total.begin() + 3, total.end());
    state = ring.step(PairCombine::Softmax, /*backward=*/true, step, inputs, blocks, 3, true, state, maps,
                      {nullptr, &op.getScore(), &op.getWeight(), &op.getSlope()});
    total[0] = state[0];
    std::copy(state.begin() + 3, state.end(), total.begin() + 3);
    for (auto [i, term] : llvm::enumerate(arriving))
      add(total[i + 1], term);
    arriving.clear();
    if (step == 0) {
      total[1] = state[1];
      total[2] = state[2];
      continue;
    }
    for (unsigned i : {1u, 2u})
      arriving.push_back(ring.home(state[i], maps[i], ring.tablesOf(maps[i], step), step));
  }
  for (auto [i, term] : llvm::enumerate(arriving))
    add(total[i + 1], term);

  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(total)) {
    SmallVector<int64_t> axes = partialAxes(ring, maps[i]);
    auto addAxes = [&](ArrayRef<int64_t> more) {
      for (int64_t axis : more)
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
    };
    // Ranks that share queries met other keys; those that share keys, other queries.
    if (!maps[i].isFunctionOfDim(ring.keyDim))
      addAxes(ring.mergeAxes());
    if (!maps[i].isFunctionOfDim(ring.queryDim))
      for (int64_t axis : ring.queryAxes())
        if (!maps[i].isFunctionOfDim(ring.keyDim) || !llvm::is_contained(ring.keysOwned().axes, axis))
          addAxes(axis);
    // Whoever met a block has sent its share home.
    if (maps[i].isFunctionOfDim(ring.keyDim))
      llvm::erase_if(axes, [&](int64_t axis) { return llvm::is_contained(ring.keysOwned().axes, axis); });
    if (!axes.empty())
      value = localization.allReduce(value, ReductionKind::Sum, axes, "adds up gradients of what ranks share");
    results.push_back(ring.deliver(value, maps[i], i));
  }
  return results;
}
