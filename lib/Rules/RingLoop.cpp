//===- RingLoop.cpp - A ring as a loop ------------------------------------===//
//
// Unrolled, a ring has a step and an exchange for each block, and each
// exchange a table for all ranks. Where steps are many, they are a loop
// instead: every rank passes the block that it has to the place before it, in a
// buffer that any block fits in, so that one table serves all steps. Whose
// block is here follows from the rank and the step: number (place + step) mod
// n.
//
// The next block travels while a step runs (--spmd-split-exchanges), and blocks
// are used in the order of an unrolled ring.
//
//===----------------------------------------------------------------------===//
#include "RingBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

std::string Ring::whyPassed(bool isGradient) {
  if (isGradient)
    return "passes gradients of blocks round a ring" +
           (plan.isOpen ? "" : " of " + std::to_string(plan.length));
  if (plan.isOpen)
    return "passes blocks round a ring";
  std::string text =
      "passes blocks round a ring of " + std::to_string(plan.length);
  return plan.way == PairWay::Ring ? explain(text) : text;
}

//===----------------------------------------------------------------------===//
// Whose block is here
//===----------------------------------------------------------------------===//

IntervalTable Ring::bufferTable() const {
  IntervalTable table = wholeTable(bufferSize());
  if (plan.isOpen)
    table.formula = Formula::longest(owned.formula.operands()[0]);
  return table;
}

Value Ring::countPlaces() {
  Formula all = Formula::domain(
      Formula::ranks(localization.countCoordinates(plan.places)));
  return getValueOrCreateConstantIndexOp(
      b, loc, localization.lookup(Formula::size(all), {}));
}

/// Every rank says where its block is, once: two numbers.
OpFoldResult Ring::blockAt(Value owner, int64_t what) {
  Type i64 = b.getI64Type();
  if (!blocks) {
    SmallVector<Value> own;
    for (OpFoldResult number :
         {beginAt(localization, owned), sizeAt(localization, owned)})
      own.push_back(arith::IndexCastOp::create(
          b, loc, i64, getValueOrCreateConstantIndexOp(b, loc, number)));
    Value mine = tensor::FromElementsOp::create(
        b, loc, RankedTensorType::get({1, 2}, i64), own);
    blocks = localization.exchange(
        mine, {onePerRank(localization, plan.places), wholeTable(2)},
        {allRanks(localization, plan.places), wholeTable(2)}, {},
        "learns how long the blocks of a ring are");
  }
  Value column = arith::ConstantIndexOp::create(b, loc, what);
  Value number =
      tensor::ExtractOp::create(b, loc, blocks, ValueRange{owner, column});
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number)
      .getResult();
}

Here Ring::passedAt(Value step) {
  if (plan.isOpen) {
    Formula place = Formula::begin(Formula::shards(
        Formula::ranks(localization.countCoordinates(plan.places)),
        {plan.places.begin(), plan.places.end()}));
    Value further = arith::AddIOp::create(
        b, loc,
        getValueOrCreateConstantIndexOp(
            b, loc, localization.lookup(place, plan.places)),
        step);
    return {0, /*isPassed=*/true,
            arith::RemUIOp::create(b, loc, further, countPlaces())};
  }
  PlacesOf along = placesOf(owned.axes, plan.places, localization.meshSizes());
  auto index = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  };
  Value further = arith::AddIOp::create(
      b, loc, index(localization.lookup(along.place, owned.axes)), step);
  Value place = arith::RemUIOp::create(
      b, loc, further, arith::ConstantIndexOp::create(b, loc, plan.length));
  Value rest = index(localization.lookup(along.rest, owned.axes));
  return {0, /*isPassed=*/true,
          arith::AddIOp::create(
              b, loc, rest, index(pickEntry(b, loc, along.ofPlace, place)))};
}

Value Ring::slice(Value block, unsigned dim, OpFoldResult offset,
                  OpFoldResult size, int64_t staticSize, Value into) {
  auto type = cast<RankedTensorType>(block.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(dimOf(b, loc, block, i));
  offsets[dim] = offset;
  sizes[dim] = size;
  if (into)
    return putPart(b, loc, block, into, offsets, sizes, strides);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = staticSize;
  return takePart(b, loc, type.clone(shape), block, offsets, sizes, strides);
}

Value Ring::columnsOf(const Piece &piece, const Here &here) {
  std::optional<unsigned> dim = keyOf(piece.map);
  if (!dim)
    return piece.value;
  if (plan.isOpen)
    return slice(piece.value, *dim, beginOf(here.owner), sizeOf(here.owner),
                 ShapedType::kDynamic);
  auto columns = [&](const IntervalTable &keys) {
    // A slice of nothing may start at a dim's end, where none may be taken.
    SmallVector<int64_t> begins, sizes = sizesOf(keys.intervals);
    for (Interval interval : keys.intervals)
      begins.push_back(interval.empty() ? 0 : interval.begin);
    return slice(piece.value, *dim, pickEntry(b, loc, begins, here.owner),
                 pickEntry(b, loc, sizes, here.owner), staticSize(sizes));
  };
  if (!areKeysZigzag())
    return columns(owned);
  SmallVector<Value> parts = llvm::map_to_vector(
      ownedParts, [&](const TablePart &part) { return columns(part.natural); });
  return tensor::ConcatOp::create(b, loc, *dim, parts);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// What keys are moved for, into the order in which steps are equal work and
/// out of it.
static StringRef whyZigzag(bool isBack) {
  return isBack
             ? "gives back gradients of keys from both ends"
             : "takes keys in zigzag order, where ring steps are uneven work";
}

Piece Ring::inBuffer(const Piece &given) {
  unsigned dim = *keyOf(given.map);
  Piece piece(given);
  if (areKeysZigzag()) {
    SmallVector<Value> parts;
    for (const TablePart &part : ownedParts) {
      piece.tables[dim] = part.natural;
      parts.push_back(localization.exchange(given.value, given.tables,
                                            piece.tables, {},
                                            whyZigzag(/*isBack=*/false)));
    }
    piece.value = tensor::ConcatOp::create(b, loc, dim, parts);
    piece.tables[dim] = owned;
  }
  auto type = cast<RankedTensorType>(piece.value.getType());
  if (type.getDimSize(dim) == bufferSize())
    return piece;
  SmallVector<IntervalTable> tables(piece.tables);
  tables[dim] = bufferTable();
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = stablehlo::ConstantOp::create(
      b, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
          scalar, b.getZeroAttr(type.getElementType())))));
  Value empty =
      broadcastScalar(b, loc, zero, blockType(tables, type.getElementType()),
                      blockSizes(localization, tables));
  Piece buffer(piece);
  buffer.value =
      slice(piece.value, dim, b.getIndexAttr(0), sizeAt(localization, owned),
            ShapedType::kDynamic, empty);
  return buffer;
}

Value Ring::fromBuffer(Value buffer, AffineMap map,
                       ArrayRef<IntervalTable> tables) {
  unsigned dim = *keyOf(map);
  int64_t size =
      plan.isOpen ? ShapedType::kDynamic : staticSize(sizesOf(owned.intervals));
  if (!areKeysZigzag())
    return size == bufferSize() ? buffer
                                : slice(buffer, dim, b.getIndexAttr(0),
                                        sizeAt(localization, owned), size);
  SmallVector<Value> parts;
  for (const TablePart &part : ownedParts) {
    Value mine = partOf(localization, buffer, dim, owned, part.held);
    // A part is a tensor of its own: one that begins at 0.
    Interval domain{INT64_MAX, 0};
    for (Interval keys : part.natural.intervals)
      domain = {std::min(domain.begin, keys.begin),
                std::max(domain.end, keys.end)};
    SmallVector<IntervalTable> from(tables), to(tables);
    from[dim] = part.natural;
    for (SmallVector<IntervalTable> *all : {&from, &to})
      for (Interval &keys : (*all)[dim].intervals) {
        keys = intersect(keys, domain);
        keys = keys.empty() ? Interval{0, 0}
                            : Interval{keys.begin - domain.begin,
                                       keys.end - domain.begin};
      }
    parts.push_back(
        localization.exchange(mine, from, to, {}, whyZigzag(/*isBack=*/true)));
  }
  return castTo(
      b, loc, tensor::ConcatOp::create(b, loc, dim, parts),
      blockType(tables,
                cast<RankedTensorType>(buffer.getType()).getElementType()));
}

Value Ring::pass(Value buffer, const Piece &piece, int64_t shift,
                 StringRef why) {
  unsigned dim = *keyOf(piece.map);
  SmallVector<IntervalTable> from(piece.tables), to(piece.tables);
  from[dim] = to[dim] = {owned.axes, {}};
  llvm::append_range(from[dim].intervals,
                     buffersOf(owned.intervals.size(), bufferSize()));
  for (int64_t number :
       stepPlaces(owned.axes, plan.places, localization.meshSizes(), shift))
    to[dim].intervals.push_back(from[dim].intervals[number]);
  if (plan.isOpen) {
    from[dim].formula =
        Formula::shards(Formula::blocks(owned.formula.operands()[0]),
                        {owned.axes.begin(), owned.axes.end()});
    to[dim].formula = Formula::rotate(from[dim].formula, shift,
                                      {plan.places.begin(), plan.places.end()});
  }
  Value come = localization.exchange(buffer, from, to, {}, why);
  return castTo(b, loc, come, cast<RankedTensorType>(buffer.getType()));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

SmallVector<Value> Ring::runSteps(
    const Run &run, ArrayRef<Piece> travelling, ValueRange state,
    llvm::function_ref<SmallVector<Value>(const Here &, ValueRange, ValueRange)>
        visit) {
  std::string why = whyPassed(/*isGradient=*/false);
  auto passAll = [&](ValueRange blocks, int64_t shift) {
    SmallVector<Value> come;
    for (auto [block, piece] : llvm::zip_equal(blocks, travelling))
      come.push_back(pass(block, piece, shift, why));
    return come;
  };
  SmallVector<Value> carried = llvm::map_to_vector(
      travelling, [](const Piece &piece) { return piece.value; });
  unsigned count = carried.size();
  if (run.first)
    carried = passAll(carried, run.first);
  llvm::append_range(carried, state);
  // All steps but the last, after which nothing is passed.
  Value last = arith::ConstantIndexOp::create(b, loc, run.last);
  auto body = [&](Value step, ValueRange now) {
    SmallVector<Value> next = passAll(now.take_front(count), 1);
    llvm::append_range(next, visit(passedAt(step), now.take_front(count),
                                   now.drop_front(count)));
    return next;
  };
  if (plan.isOpen) {
    last = arith::SubIOp::create(b, loc, countPlaces(),
                                 arith::ConstantIndexOp::create(b, loc, 1));
    // Asked for before the loop.
    (void)beginOf(last);
    carried = buildStepLoop(b, loc, run.first, last, carried, body);
  } else {
    carried = buildStepLoop(b, loc, run.first, run.last, carried, body);
  }
  ValueRange now(carried);
  return visit(passedAt(last), now.take_front(count), now.drop_front(count));
}
