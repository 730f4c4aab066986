//===- RingLoop.cpp - A ring as a loop ------------------------------------===//
//
// Written out, a ring has a step and an exchange for each turn, and each exchange
// a table for all ranks. Where turns are many, they are a loop instead: every rank
// passes the block that it has to the place before it, in a buffer that any block
// fits in, so that one table serves all turns. Whose block is here follows from
// the rank and the turn: number (place + turn) mod n.
//
// The next block travels while a step runs (--spmd-split-exchanges), and blocks are
// met in the order in which they are met where the ring is written out.
//
//===----------------------------------------------------------------------===//
#include "RingBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Spmd/IR/SpmdTables.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

std::string Ring::whyPassed(bool isGradient) {
  if (isGradient)
    return "passes gradients of blocks round a ring of " + std::to_string(plan.length);
  std::string text = "passes blocks round a ring of " + std::to_string(plan.length);
  return plan.way == PairWay::Ring ? explain(text) : text;
}

//===----------------------------------------------------------------------===//
// Whose block is here
//===----------------------------------------------------------------------===//

OpFoldResult Ring::pick(ArrayRef<int64_t> table, Value index) {
  if (llvm::all_equal(table))
    return b.getIndexAttr(table.front());
  int64_t step = table[1] - table[0];
  bool isLinear = llvm::all_of(llvm::enumerate(table), [&](auto entry) {
    return entry.value() == table[0] + int64_t(entry.index()) * step;
  });
  if (isLinear) {
    Value value = index;
    if (step != 1)
      value = arith::MulIOp::create(b, loc, value, arith::ConstantIndexOp::create(b, loc, step));
    if (table[0] != 0)
      value = arith::AddIOp::create(b, loc, value, arith::ConstantIndexOp::create(b, loc, table[0]));
    return value;
  }
  auto type = RankedTensorType::get({int64_t(table.size())}, b.getI64Type());
  Value entries = stablehlo::ConstantOp::create(b, loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, table))));
  Value entry = tensor::ExtractOp::create(b, loc, entries, index);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), entry).getResult();
}

Here Ring::passedAt(Value shift) {
  PlacesOf along = placesOf(owned.axes, plan.places, localization.meshSizes());
  auto index = [&](OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, loc, value); };
  Value turn = arith::IndexCastOp::create(b, loc, b.getIndexType(), tensor::ExtractOp::create(b, loc, shift, ValueRange()));
  Value further = arith::AddIOp::create(b, loc, index(localization.lookup(along.place, owned.axes)), turn);
  Value place = arith::RemUIOp::create(b, loc, further, arith::ConstantIndexOp::create(b, loc, plan.length));
  Value rest = index(localization.lookup(along.rest, owned.axes));
  return {0, /*isPassed=*/true, arith::AddIOp::create(b, loc, rest, index(pick(along.ofPlace, place)))};
}

Value Ring::slice(Value block, unsigned dim, OpFoldResult offset, OpFoldResult size, int64_t staticSize, Value into) {
  auto type = cast<RankedTensorType>(block.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)), sizes;
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
  SmallVector<int64_t> begins, sizes = sizesOf(owned.intervals);
  // A slice of nothing may start at a dim's end, where none may be taken.
  for (Interval keys : owned.intervals)
    begins.push_back(keys.empty() ? 0 : keys.begin);
  return slice(piece.value, *dim, pick(begins, here.owner), pick(sizes, here.owner), staticSize(sizes));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Piece Ring::inBuffer(const Piece &piece) {
  unsigned dim = *keyOf(piece.map);
  auto type = cast<RankedTensorType>(piece.value.getType());
  if (type.getDimSize(dim) == bufferSize())
    return piece;
  SmallVector<IntervalTable> tables(piece.tables);
  tables[dim] = wholeTable(bufferSize());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = stablehlo::ConstantOp::create(
      b, loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(scalar, b.getZeroAttr(type.getElementType())))));
  Value empty = broadcastScalar(b, loc, zero, blockType(tables, type.getElementType()), blockSizes(localization, tables));
  Piece buffer(piece);
  buffer.value = slice(piece.value, dim, b.getIndexAttr(0), sizeAt(localization, owned), ShapedType::kDynamic, empty);
  return buffer;
}

Value Ring::fromBuffer(Value buffer, AffineMap map) {
  unsigned dim = *keyOf(map);
  int64_t size = staticSize(sizesOf(owned.intervals));
  if (size == bufferSize())
    return buffer;
  return slice(buffer, dim, b.getIndexAttr(0), sizeAt(localization, owned), size);
}

Value Ring::pass(Value buffer, const Piece &piece, int64_t shift, StringRef why) {
  unsigned dim = *keyOf(piece.map);
  SmallVector<IntervalTable> from(piece.tables), to(piece.tables);
  from[dim] = to[dim] = {owned.axes, {}};
  int64_t size = bufferSize();
  for (int64_t number = 0, e = owned.intervals.size(); number < e; ++number)
    from[dim].intervals.push_back({number * size, (number + 1) * size});
  for (int64_t number : turnPlaces(owned.axes, plan.places, localization.meshSizes(), shift))
    to[dim].intervals.push_back(from[dim].intervals[number]);
  Value come = localization.exchange(buffer, from, to, {}, why);
  return castTo(b, loc, come, cast<RankedTensorType>(buffer.getType()));
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

SmallVector<Value> Ring::runTurns(const Run &run, ArrayRef<Piece> travelling, ValueRange state,
                                  llvm::function_ref<SmallVector<Value>(const Here &, ValueRange, ValueRange)> meet) {
  std::string why = whyPassed(/*isGradient=*/false);
  auto number = [&](int64_t value) -> Value {
    auto type = RankedTensorType::get({}, b.getI64Type());
    return stablehlo::ConstantOp::create(b, loc, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, value))));
  };
  auto passAll = [&](ValueRange blocks, int64_t shift) {
    SmallVector<Value> come;
    for (auto [block, piece] : llvm::zip_equal(blocks, travelling))
      come.push_back(pass(block, piece, shift, why));
    return come;
  };
  SmallVector<Value> carried{number(run.first)}, blocks = llvm::map_to_vector(travelling, [](const Piece &piece) { return piece.value; });
  llvm::append_range(carried, run.first ? passAll(blocks, run.first) : blocks);
  llvm::append_range(carried, state);
  unsigned count = blocks.size();
  if (run.count() > 1) {
    // All turns but the last, after which nothing is passed.
    SmallVector<Type> types = llvm::map_to_vector(carried, [](Value value) { return value.getType(); });
    SmallVector<Location> locs(types.size(), loc);
    auto loop = stablehlo::WhileOp::create(b, loc, types, carried);
    OpBuilder::InsertionGuard guard(b);
    Block *condition = b.createBlock(&loop.getCond(), {}, types, locs);
    Value last = number(run.last);
    Value goesOn = stablehlo::CompareOp::create(b, loc, condition->getArgument(0), last, stablehlo::ComparisonDirection::LT,
                                                stablehlo::ComparisonType::SIGNED);
    stablehlo::ReturnOp::create(b, loc, goesOn);
    Block *body = b.createBlock(&loop.getBody(), {}, types, locs);
    ValueRange arguments = body->getArguments(), here = arguments.slice(1, count);
    SmallVector<Value> next{stablehlo::AddOp::create(b, loc, types[0], arguments[0], number(1))};
    llvm::append_range(next, passAll(here, 1));
    llvm::append_range(next, meet(passedAt(arguments[0]), here, arguments.drop_front(1 + count)));
    stablehlo::ReturnOp::create(b, loc, next);
    carried = llvm::to_vector(ValueRange(loop.getResults()));
  }
  ValueRange now(carried);
  return meet(passedAt(number(run.last)), now.slice(1, count), now.drop_front(1 + count));
}
