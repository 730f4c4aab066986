//===- PairBlock.cpp - A block of threads and its tile of scores ----------===//
#include "PairBlock.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

//===----------------------------------------------------------------------===//
// A point
//===----------------------------------------------------------------------===//

SmallVector<Value> PairPoint::subscripts(const Tensor &tensor) const {
  return llvm::map_to_vector(tensor.map.getResults(), [&](AffineExpr expr) {
    return at[cast<AffineDimExpr>(expr).getPosition()];
  });
}

Value PairPoint::element(const Tensor &tensor) {
  return memref::LoadOp::create(b, loc, tensor.memref, subscripts(tensor));
}

Value PairPoint::load(const Tensor &tensor) {
  Value value =
      tensor.start ? arith::ConstantOp::create(b, loc, tensor.start).getResult()
                   : element(tensor);
  if (value.getType().getIntOrFloatBitWidth() <
      step.type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, step.type, value);
  return value;
}

void PairPoint::store(Value value, const Tensor &tensor) {
  memref::StoreOp::create(b, loc, value, tensor.memref, subscripts(tensor));
}

SmallVector<Value> PairPoint::evaluateAll(Region &region,
                                          ArrayRef<Value> arguments) {
  IRMapping map;
  for (auto [argument, value] :
       llvm::zip_equal(region.front().getArguments(), arguments))
    map.map(argument, value);
  for (Operation &inner : region.front().without_terminator())
    b.clone(inner, map);
  return llvm::map_to_vector(
      region.front().getTerminator()->getOperands(),
      [&](Value value) { return map.lookupOrDefault(value); });
}

Value PairPoint::evaluate(Region &region, ArrayRef<Value> first,
                          ArrayRef<Value> around) {
  SmallVector<Value> arguments(first);
  llvm::append_range(arguments, around);
  return evaluateAll(region, arguments).front();
}

SmallVector<Value> PairPoint::surroundings() {
  SmallVector<Value> values;
  for (const Tensor &extra : step.extras)
    values.push_back(element(extra));
  for (unsigned dim : llvm::seq(step.firstDim(), step.q + 2))
    values.push_back(toI32(add(step.start[dim], at[dim])));
  return values;
}

Value PairPoint::inBand() {
  auto lower = step.bandLower, upper = step.bandUpper;
  if (!lower && !upper)
    return {};
  Value apart = sub(add(step.start[step.k], at[step.k]),
                    add(step.start[step.q], at[step.q]));
  Value counts;
  if (upper)
    counts = compare(arith::CmpIPredicate::sle, apart, index(*upper));
  if (lower) {
    Value above = compare(arith::CmpIPredicate::sge, apart, index(*lower));
    counts = counts ? both(counts, above) : above;
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

gpu::LaunchOp PairBlock::launch(int64_t threads) {
  gpu::LaunchOp launch = launchUnplaced(threads);
  placeBlock(launch.getBlockIds().x);
  return launch;
}

gpu::LaunchOp PairBlock::launchUnplaced(int64_t threads) {
  rowTiles = arith::CeilDivUIOp::create(b, loc, step.sizes[pass.rowDim],
                                        index(shape.rows));
  SmallVector<Value> counts{rowTiles};
  for (unsigned dim : pass.outer)
    counts.push_back(step.sizes[dim]);
  gpu::LaunchOp launch = beginLaunch(b, loc, product(b, loc, counts), threads);
  thread = launch.getThreadIds().x;
  return launch;
}

void PairBlock::placeBlock(Value block, bool rowsLast) {
  auto take = [&](Value count) -> Value {
    Value mine = rem(block, count);
    block = div(block, count);
    return mine;
  };
  if (!rowsLast)
    firstRow = mul(take(rowTiles), shape.rows);
  for (unsigned dim : pass.outer)
    at[dim] = take(step.sizes[dim]);
  if (rowsLast)
    firstRow = mul(block, shape.rows);
  for (unsigned dim : pass.inner)
    at[dim] = index(0);
}

Value PairBlock::shared(gpu::LaunchOp launch, int64_t count, Type type) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value memory = launch.addWorkgroupAttribution(
      MemRefType::get({count}, type, MemRefLayoutAttrInterface(), space), loc);
  Value number = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}

Value PairBlock::sharedByte(Value area, Value offset) {
  Value bytes = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), area,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value PairBlock::rowInWarps(Value number, int64_t rowsOfWarp) {
  return add(mul(div(number, kWarp), rowsOfWarp),
             div(rem(number, kWarp), kPerRow));
}

//===----------------------------------------------------------------------===//
// A thread's rows and columns
//===----------------------------------------------------------------------===//

void PairBlock::placeRow(int64_t row) {
  Value mine = add(firstRow, rowAt(row));
  at[pass.rowDim] = least(mine, sub(step.sizes[pass.rowDim], index(1)));
  if (!kept.empty())
    std::tie(largest, delta) = kept[row];
}

void PairBlock::keepRows() {
  if (pass.weigh == Weigh::Forward || pass.rowDim != step.q ||
      !pass.inner.empty())
    return;
  SmallVector<std::pair<Value, Value>> loaded;
  for (int64_t row = 0; row < shape.rowsOfThread; ++row) {
    placeRow(row);
    loaded.push_back({load(step.rows[0]), load(step.rows[1])});
  }
  kept = std::move(loaded);
}

void PairBlock::placeColumn(int64_t column) {
  Value first = add(firstColumn, firstColumnAt());
  Value behind = arith::ConstantIntOp::create(b, loc, columnBehind(column), 32);
  if (hasEdge())
    behind =
        least(behind,
              toI32(least(sub(sub(step.sizes[pass.columnDim], first), index(1)),
                          index(shape.columns))));
  at[pass.columnDim] =
      add(first, arith::IndexCastOp::create(b, loc, b.getIndexType(), behind));
}

/// `behind`, a number of columns behind a thread's first, as 32 bits: as much
/// of it as tells columns of a tile apart.
Value PairBlock::withinTile(Value behind) {
  return toI32(most(least(behind, index(shape.columns)), index(-1)));
}

shardc::pairs::Band PairBlock::bandOfRows() const {
  return shardc::pairs::bandOf(step.bandLower, step.bandUpper,
                               /*mineAreQueries=*/pass.rowDim == step.q);
}

// What a row allows is two numbers, which are compared with the column's: that
// one is known.
Value PairBlock::countsAt(int64_t column) {
  placeColumn(column);
  unsigned rowDim = pass.rowDim, columnDim = pass.columnDim;
  Value first = add(firstColumn, firstColumnAt());
  Value behind = arith::ConstantIntOp::create(b, loc, columnBehind(column), 32);
  auto [bandFirst, bandLast] = bandOfRows();
  Value origin =
      sub(add(step.start[rowDim], at[rowDim]), step.start[columnDim]);
  Value end = hasEdge() ? sub(step.sizes[columnDim], first) : Value(), counts;
  if (bandLast) {
    Value behindLast = sub(add(origin, index(*bandLast + 1)), first);
    end = end ? least(end, behindLast) : behindLast;
  }
  if (end)
    counts = lessSigned(behind, withinTile(end));
  if (bandFirst) {
    Value reaches =
        compare(arith::CmpIPredicate::sge, behind,
                withinTile(sub(add(origin, index(*bandFirst)), first)));
    counts = counts ? both(counts, reaches) : reaches;
  }
  return counts;
}

Value PairBlock::allCount() {
  auto lower = step.bandLower, upper = step.bandUpper;
  unsigned rowDim = pass.rowDim, columnDim = pass.columnDim;
  Value all;
  auto also = [&](Value condition) {
    all = all ? both(all, condition) : condition;
  };
  if (hasEdge())
    also(compare(arith::CmpIPredicate::sle,
                 add(firstColumn, index(shape.columns)),
                 step.sizes[columnDim]));
  // key - query, of the last key and the first query, and the other way round.
  Value apart = sub(add(step.start[columnDim], firstColumn),
                    add(step.start[rowDim], firstRow));
  if (upper)
    also(compare(arith::CmpIPredicate::sle,
                 add(apart, index(shape.columns - 1)), index(*upper)));
  if (lower)
    also(compare(arith::CmpIPredicate::sge, sub(apart, index(shape.rows - 1)),
                 index(*lower)));
  return all;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value PairBlock::foldRow(ArrayRef<Value> values,
                         llvm::function_ref<Value(Value, Value)> combine) {
  Value value = values.front();
  for (Value next : values.drop_front())
    value = combine(value, next);
  for (int64_t distance = 1; distance < shape.threadsOfRow; distance *= 2) {
    auto exchange = [&](Value word) -> Value {
      return gpu::ShuffleOp::create(b, loc, word, distance, kWarp,
                                    gpu::ShuffleMode::XOR)
          .getShuffleResult();
    };
    Value other;
    if (step.type.isF64()) {
      // Shuffles take 32 bits.
      Value bits = arith::BitcastOp::create(b, loc, b.getI64Type(), value);
      Value half = arith::ConstantIntOp::create(b, loc, 32, 64);
      Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), bits);
      Value high = arith::TruncIOp::create(
          b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, bits, half));
      low = arith::ExtUIOp::create(b, loc, b.getI64Type(), exchange(low));
      high = arith::ExtUIOp::create(b, loc, b.getI64Type(), exchange(high));
      high = arith::ShLIOp::create(b, loc, high, half);
      other = arith::BitcastOp::create(b, loc, step.type,
                                       arith::OrIOp::create(b, loc, low, high));
    } else {
      other = exchange(value);
    }
    value = combine(value, other);
  }
  return value;
}

/// Whether there are as many features as a block has sums of.
bool PairBlock::fills(const PairPass &of) const {
  int64_t all = shape.featureGroups * of.sumsOfRow() * kPerRow;
  return of.slab + all <= step.sizeOf(of.feature);
}

/// The position of a thread's total number `i` of a row: features side by side,
/// 16 bytes at a time.
Value PairBlock::featureAt(const PairPass &of, int64_t i) {
  int64_t part = i / kOwn, own = i % kOwn, begin = of.slab + part * kPart;
  if (!shape.fragments) {
    int64_t lanes = step.lanes();
    return add(mul(laneOfRow, lanes),
               index(begin + own / lanes * lanes * kPerRow + own % lanes));
  }
  Value place = add(mul(laneOfRow, 2), index(begin + own / 2 * 8 + own % 2));
  return firstFeature ? add(place, firstFeature) : place;
}

Carried PairBlock::beginRows(const PairPass &of) {
  bool isList = step.combine == PairCombine::TopK;
  Carried carried;
  for (int64_t row = 0; row < shape.rowsOfThread; ++row) {
    placeRow(row);
    if (step.keepsSoftmax(of)) {
      carried.most.push_back(load(step.states[0]));
      carried.sum.push_back(load(step.states[1]));
    } else if (!of.target && !isList) {
      carried.sum.push_back(load(step.states[0]));
    }
    for (int64_t i = 0; i < of.sumsOfRow(); ++i) {
      Value place = featureAt(of, i), all = step.sizes[of.feature];
      if (firstFeature && !fills(of) && !of.target->start) {
        // Places of their own, for each of many features, would stay in
        // registers until the end.
        auto has = scf::IfOp::create(b, loc, TypeRange(step.type),
                                     lessSigned(place, all), true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(has.thenBlock());
        at[of.feature] = place;
        scf::YieldOp::create(b, loc, load(*of.target));
        b.setInsertionPointToStart(has.elseBlock());
        scf::YieldOp::create(b, loc, number(0));
        carried.totals.push_back(has.getResult(0));
        continue;
      }
      at[of.feature] = fills(of) ? place : least(place, sub(all, index(1)));
      carried.totals.push_back(load(*of.target));
    }
  }
  return carried;
}

void PairBlock::finishRows(const PairPass &of, const Carried &carried) {
  int64_t own = of.sumsOfRow();
  for (int64_t row = 0; row < shape.rowsOfThread; ++row) {
    OpBuilder::InsertionGuard guard(b);
    Value mine = add(firstRow, rowAt(row));
    auto inside = scf::IfOp::create(
        b, loc, lessSigned(mine, step.sizes[of.rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    placeRow(row);
    for (int64_t i = 0; i < own; ++i) {
      Value place = featureAt(of, i);
      OpBuilder::InsertionGuard featureGuard(b);
      if (!fills(of)) {
        auto has = scf::IfOp::create(
            b, loc, lessSigned(place, step.sizes[of.feature]), false);
        b.setInsertionPointToStart(has.thenBlock());
      }
      at[of.feature] = place;
      store(carried.totals[row * own + i], *of.target);
    }
    if (!of.last || carried.sum.empty())
      continue;
    auto first = scf::IfOp::create(b, loc, equal(laneOfRow, index(0)), false);
    b.setInsertionPointToStart(first.thenBlock());
    bool isSoftmax = step.keepsSoftmax(of);
    if (isSoftmax)
      store(carried.most[row], step.states[0]);
    store(carried.sum[row], step.states[isSoftmax ? 1 : 0]);
  }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

SmallVector<Value> Carried::flat() const {
  SmallVector<Value> all(most);
  for (const SmallVector<Value> *values : {&sum, &totals, &others, &ring})
    llvm::append_range(all, *values);
  return all;
}

Carried Carried::with(ValueRange values) const {
  Carried next;
  auto take = [&](size_t count) {
    SmallVector<Value> taken(values.take_front(count));
    values = values.drop_front(count);
    return taken;
  };
  next.most = take(most.size());
  next.sum = take(sum.size());
  next.totals = take(totals.size());
  next.others = take(others.size());
  next.ring = take(ring.size());
  return next;
}

std::pair<Value, Value> PairBlock::columnRange() {
  unsigned rowDim = pass.rowDim, columnDim = pass.columnDim;
  Value from = index(0), to = step.sizes[columnDim];
  auto [bandFirst, bandLast] = bandOfRows();
  Value origin = add(firstRow, sub(step.start[rowDim], step.start[columnDim]));
  if (bandFirst) {
    Value begin = most(add(origin, index(*bandFirst)), index(0));
    from = mul(div(begin, shape.columns), shape.columns);
  }
  if (bandLast)
    to = least(to, add(origin, index(*bandLast + shape.rows)));
  if (step.isSplit()) {
    Value begin = mul(at[kPartDim], step.partColumns);
    from = most(from, begin);
    to = least(to, add(begin, index(step.partColumns)));
  }
  return {from, to};
}

// Blocks go through a tile from the one whose last column is behind the tile's
// first: columnRange.
Value PairBlock::firstBlockOf(Value column) {
  auto [bandFirst, bandLast] = bandOfRows();
  if (!bandLast)
    return index(0);
  Value apart = sub(step.start[pass.columnDim], step.start[pass.rowDim]);
  Value first = sub(add(column, apart), index(*bandLast));
  return div(most(first, index(0)), shape.rows);
}

Carried PairBlock::carry(Value from, Value to, Value by, const Carried &carried,
                         llvm::function_ref<Carried(Value, Carried)> body) {
  SmallVector<Value> values = carried.flat();
  auto loop = scf::ForOp::create(b, loc, from, to, by, values);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Carried next =
        body(loop.getInductionVar(), carried.with(loop.getRegionIterArgs()));
    // A loop that carries nothing has its end already.
    if (!values.empty())
      scf::YieldOp::create(b, loc, next.flat());
  }
  return carried.with(loop.getResults());
}

Carried PairBlock::overDims(ArrayRef<unsigned> dims, Carried carried,
                            llvm::function_ref<Carried(Carried)> body) {
  if (dims.empty())
    return body(carried);
  return carry(index(0), step.sizes[dims.front()], index(1), carried,
               [&](Value place, Carried inner) {
                 at[dims.front()] = place;
                 return overDims(dims.drop_front(), inner, body);
               });
}

Carried PairBlock::overInner(Carried carried,
                             llvm::function_ref<Carried(Carried)> body) {
  return overDims(pass.inner, std::move(carried), body);
}

Carried
PairBlock::overColumns(Carried carried,
                       llvm::function_ref<Carried(Value, Carried)> body) {
  return overInner(std::move(carried), [&](Carried now) {
    auto [from, to] = columnRange();
    return carry(from, to, index(shape.columns), now, body);
  });
}
