//===- PairScores.cpp - Tiles of scores, and what becomes of them ---------===//
//
// What a block of threads does with one tile of columns.
//
//===----------------------------------------------------------------------===//
#include "../../Common/PairAlgebra.h"
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

static constexpr double kLog2e = 0x1.71547652b82fep+0;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The address `offset` bytes behind `area`.
Value PairSteps::sharedByte(Value area, Value offset) {
  Value bytes = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), area,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value PairSteps::sharedAt(Value area, Value row, Value column) {
  Value offset = mul(add(mul(row, pitch), column), type.getWidth() / 8);
  return sharedByte(area, offset);
}

/// Brings `lines` lines along `lineDim`, from `firstLine` on, and kPart
/// elements along `dim` of each: zeros past the edges.
void PairSteps::stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
                      int64_t lines, unsigned dim, Value first, Value area,
                      bool halves) {
  SmallVector<Value> saved = at;
  auto loop =
      scf::ForOp::create(b, loc, thread, index(lines * kPart), index(kThreads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = div(loop.getInductionVar(), kPart);
  Value part = rem(loop.getInductionVar(), kPart);
  Value atLine = add(firstLine, line), atPart = add(first, part);
  Value inside = both(less(atLine, sizes[lineDim]), less(atPart, sizes[dim]));
  at[lineDim] = select(inside, atLine, index(0));
  at[dim] = select(inside, atPart, index(0));
  if (halves) {
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(half));
    LLVM::StoreOp::create(b, loc, select(inside, element(tensor), none),
                          halfAt(area, line, part), 2);
  } else {
    LLVM::StoreOp::create(b, loc, select(inside, load(tensor), number(0)),
                          sharedAt(area, line, part), type.getWidth() / 8);
  }
  at = saved;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value PairSteps::evaluate(Region &region, ArrayRef<Value> first,
                          ArrayRef<Value> around, unsigned result) {
  IRMapping map;
  SmallVector<Value> values(first);
  llvm::append_range(values, around);
  for (auto [argument, value] :
       llvm::zip_equal(region.front().getArguments(), values))
    map.map(argument, value);
  for (Operation &inner : region.front().without_terminator())
    b.clone(inner, map);
  return map.lookupOrDefault(
      region.front().getTerminator()->getOperand(result));
}

/// An element of each extra, then the global positions.
SmallVector<Value> PairSteps::surroundings() {
  SmallVector<Value> values;
  for (const Tensor &extra : extras)
    values.push_back(element(extra));
  for (unsigned dim : llvm::seq(q + 2))
    values.push_back(toI32(add(start[dim], at[dim])));
  return values;
}

/// True where query and key are no farther apart than the band allows; null
/// where there is none.
Value PairSteps::inBand() {
  auto lower = op.getBandLower(), upper = op.getBandUpper();
  if (!lower && !upper)
    return {};
  Value apart = sub(add(start[k], at[k]), add(start[q], at[q]));
  Value counts;
  if (upper)
    counts = compare(arith::CmpIPredicate::sle, apart, index(*upper));
  if (lower) {
    Value above = compare(arith::CmpIPredicate::sge, apart, index(*lower));
    counts = counts ? both(counts, above) : above;
  }
  return counts;
}

/// `behind`, a number of columns behind a thread's first, as 32 bits: as much
/// of it as tells columns of a tile apart.
Value PairSteps::withinTile(Value behind) {
  return toI32(
      largerIndex(smallerIndex(behind, index(tileColumns)), index(-1)));
}

/// The least and the greatest of column - row that the band has.
std::pair<std::optional<int64_t>, std::optional<int64_t>>
PairSteps::bandOfRows() {
  auto lower = op.getBandLower(), upper = op.getBandUpper();
  std::optional<int64_t> least, most;
  if (lower)
    (rowDim == q ? least : most) = rowDim == q ? *lower : -*lower;
  if (upper)
    (rowDim == q ? most : least) = rowDim == q ? *upper : -*upper;
  return {least, most};
}

/// Moves to a column of a thread, whose row `at` has; true where its score
/// counts, null where each does. What a row allows is two numbers, which are
/// compared with the column's: that one is known.
Value PairSteps::countsAt(int64_t column) {
  placeColumn(column);
  Value first = add(firstColumn, firstColumnAt());
  Value behind = arith::ConstantIntOp::create(b, loc, columnBehind(column), 32);
  auto [least, most] = bandOfRows();
  Value origin = sub(add(start[rowDim], at[rowDim]), start[columnDim]);
  Value end = hasEdge() ? sub(sizes[columnDim], first) : Value(), counts;
  if (most) {
    Value behindLast = sub(add(origin, index(*most + 1)), first);
    end = end ? smallerIndex(end, behindLast) : behindLast;
  }
  if (end)
    counts = less(behind, withinTile(end));
  if (least) {
    Value reaches = compare(arith::CmpIPredicate::sge, behind,
                            withinTile(sub(add(origin, index(*least)), first)));
    counts = counts ? both(counts, reaches) : reaches;
  }
  return counts;
}

/// Whether all scores of a block's tile count; null where they always do, or
/// where that is not looked at: rows are no queries.
Value PairSteps::allCount() {
  auto lower = op.getBandLower(), upper = op.getBandUpper();
  Value all;
  auto also = [&](Value condition) {
    all = all ? both(all, condition) : condition;
  };
  if (hasEdge())
    also(compare(arith::CmpIPredicate::sle,
                 add(firstColumn, index(tileColumns)), sizes[columnDim]));
  // key - query, of the last key and the first query, and the other way round.
  Value apart =
      sub(add(start[columnDim], firstColumn), add(start[rowDim], firstRow));
  if (upper)
    also(compare(arith::CmpIPredicate::sle, add(apart, index(tileColumns - 1)),
                 index(*upper)));
  if (lower)
    also(compare(arith::CmpIPredicate::sge, sub(apart, index(blockRows - 1)),
                 index(*lower)));
  return all;
}

/// The scores of a tile, by row and column of a thread: `neutral` where one
/// does not count, unless all do.
SmallVector<Value> PairSteps::scoresOf(ArrayRef<Value> raw, double neutral,
                                       bool allCount) {
  SmallVector<Value> scores;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    for (int64_t column = 0; column < ownColumns(); ++column) {
      Value counts = countsAt(column);
      Value score = evaluate(op.getScore(), raw[row * ownColumns() + column],
                             surroundings());
      if (counts && !allCount)
        score = select(counts, score, number(neutral));
      scores.push_back(score);
    }
  }
  return scores;
}

/// Sets `at` to a thread's row; past the edge to the last one, whose results
/// are not stored.
void PairSteps::placeRow(int64_t row) {
  Value mine = add(firstRow, rowAt(row));
  at[rowDim] = smallerIndex(mine, sub(sizes[rowDim], index(1)));
}
void PairSteps::placeColumn(int64_t column) {
  Value first = add(firstColumn, firstColumnAt());
  Value behind = arith::ConstantIntOp::create(b, loc, columnBehind(column), 32);
  if (hasEdge())
    behind = arith::MinSIOp::create(
        b, loc, behind,
        toI32(smallerIndex(sub(sub(sizes[columnDim], first), index(1)),
                           index(tileColumns))));
  at[columnDim] =
      add(first, arith::IndexCastOp::create(b, loc, b.getIndexType(), behind));
}

/// For each row and column of a thread the sum, along `dim`, of products (or
/// what `pair` makes) of elements of both.
SmallVector<Value> PairSteps::contract(const Tensor &left, const Tensor &right,
                                       unsigned dim, Region *pair) {
  SmallVector<Value> sums(perThread * ownColumns(), number(0));
  auto parts =
      scf::ForOp::create(b, loc, index(0), sizes[dim], index(kPart), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(parts.getBody());
  Value from = parts.getInductionVar();
  gpu::BarrierOp::create(b, loc); // what was there has been read
  bool halves = tensor && isHalf(left) && isHalf(right);
  stage(left, rowDim, firstRow, perThread * kRows, dim, from, leftArea, halves);
  stage(right, columnDim, firstColumn, kColumns, dim, from, rightArea, halves);
  gpu::BarrierOp::create(b, loc);
  if (halves) {
    scf::YieldOp::create(
        b, loc, multiplyParts(SmallVector<Value>(parts.getRegionIterArgs())));
    return SmallVector<Value>(parts.getResults());
  }
  auto steps = scf::ForOp::create(b, loc, index(0), index(kPart), index(lanes),
                                  parts.getRegionIterArgs());
  setUnrolling(steps, 1);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(steps.getBody());
    Value step = steps.getInductionVar();
    Type vector = VectorType::get({lanes}, type);
    auto read = [&](Value area, Value line) {
      Value all =
          LLVM::LoadOp::create(b, loc, vector, sharedAt(area, line, step), 16);
      SmallVector<Value> values;
      for (int64_t lane = 0; lane < lanes; ++lane)
        values.push_back(LLVM::ExtractElementOp::create(
            b, loc, all,
            LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                     b.getI32IntegerAttr(lane))));
      return values;
    };
    SmallVector<SmallVector<Value>> lefts, rights;
    for (int64_t row = 0; row < perThread; ++row)
      lefts.push_back(read(leftArea, rowAt(row)));
    for (int64_t column = 0; column < ownColumns(); ++column)
      rights.push_back(read(rightArea, columnAt(column)));
    SmallVector<Value> next(steps.getRegionIterArgs());
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t row = 0; row < perThread; ++row)
        for (int64_t column = 0; column < ownColumns(); ++column) {
          Value &sum = next[row * ownColumns() + column];
          Value x = lefts[row][lane], y = rights[column][lane];
          if (!pair) {
            sum = math::FmaOp::create(b, loc, x, y, sum);
            continue;
          }
          // Of zeros past the edge it may make anything.
          Value term = evaluate(*pair, {x, y}, {});
          if (sizeOf(dim) % kPart != 0)
            term = select(less(add(add(from, step), index(lane)), sizes[dim]),
                          term, number(0));
          sum = arith::AddFOp::create(b, loc, sum, term);
        }
    scf::YieldOp::create(b, loc, next);
  }
  scf::YieldOp::create(b, loc, steps.getResults());
  return SmallVector<Value>(parts.getResults());
}

/// All values of all four threads of a row, combined.
Value PairSteps::foldRow(ArrayRef<Value> values,
                         llvm::function_ref<Value(Value, Value)> combine) {
  Value value = values.front();
  for (Value next : values.drop_front())
    value = combine(value, next);
  for (int64_t distance = 1; distance < kPerRow; distance *= 2) {
    auto exchange = [&](Value word) -> Value {
      return gpu::ShuffleOp::create(b, loc, word, distance, kWarp,
                                    gpu::ShuffleMode::XOR)
          .getShuffleResult();
    };
    Value other;
    if (type.isF64()) {
      // Shuffles take 32 bits.
      Value bits = arith::BitcastOp::create(b, loc, b.getI64Type(), value);
      Value half = arith::ConstantIntOp::create(b, loc, 32, 64);
      Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), bits);
      Value high = arith::TruncIOp::create(
          b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, bits, half));
      low = arith::ExtUIOp::create(b, loc, b.getI64Type(), exchange(low));
      high = arith::ExtUIOp::create(b, loc, b.getI64Type(), exchange(high));
      high = arith::ShLIOp::create(b, loc, high, half);
      other = arith::BitcastOp::create(b, loc, type,
                                       arith::OrIOp::create(b, loc, low, high));
    } else {
      other = exchange(value);
    }
    value = combine(value, other);
  }
  return value;
}

Value PairSteps::inPowersOfTwo(Value base) {
  return arith::MulFOp::create(b, loc, base, number(-kLog2e));
}

Value PairSteps::powerOfTwo(Value score, Value shifted,
                            std::optional<double> limit) {
  Value exponent = math::FmaOp::create(b, loc, score, number(kLog2e), shifted);
  if (limit)
    exponent = smaller(number(*limit * kLog2e), exponent);
  return LLVM::Exp2Op::create(b, loc, type, exponent, LLVM::FastmathFlags::afn);
}

/// Multiplies `sums` by `factor`. After its first tiles a row meets no greater
/// score: where weights are rounded it is looked whether there is one.
void PairSteps::rescale(MutableArrayRef<Value> sums, Value factor) {
  auto all = [&] {
    return llvm::map_to_vector(sums, [&](Value sum) -> Value {
      return arith::MulFOp::create(b, loc, sum, factor);
    });
  };
  if (sums.empty())
    return;
  if (!roundsWeights()) {
    llvm::copy(all(), sums.begin());
    return;
  }
  Value changes = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                        factor, number(1));
  SmallVector<Type> types(sums.size(), type);
  auto choice =
      scf::IfOp::create(b, loc, types, changes, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, all());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, SmallVector<Value>(sums));
  llvm::copy(choice.getResults(), sums.begin());
}

/// A softmax's row: four threads have its scores, and each keeps all there is.
/// Where weights are rounded to 16 bits they are powers of two.
class PairSteps::ThreadSoftmax final : public shardc::pairs::SoftmaxRow {
public:
  ThreadSoftmax(PairSteps &steps, Value &largest, Value &sum)
      : SoftmaxRow(steps.b, steps.loc), steps(steps), largest(largest),
        sum(sum) {}
  Value factor;

private:
  Value getLargest() override { return largest; }
  void setLargest(Value value) override { largest = value; }
  Value getSum() override { return sum; }
  void setSum(Value value) override { sum = value; }
  void setFactor(Value value) override { factor = value; }
  Value number(double value) override { return steps.number(value); }
  Value greater(Value x, Value y) override { return steps.greater(x, y); }
  Value multiplyAdd(Value x, Value y, Value z) override {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value largestOf(ArrayRef<Value> scores) override {
    return steps.foldRow(scores,
                         [&](Value x, Value y) { return steps.greater(x, y); });
  }
  Value sumOf(ArrayRef<Value> weights) override {
    return steps.foldRow(weights, [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(b, loc, x, y);
    });
  }
  void setBase(Value value) override {
    base = steps.roundsWeights() ? steps.inPowersOfTwo(value) : value;
  }
  Value power(Value score) override {
    return steps.roundsWeights()
               ? steps.powerOfTwo(score, base, std::nullopt)
               : math::ExpOp::create(b, loc,
                                     arith::SubFOp::create(b, loc, score, base))
                     .getResult();
  }

  PairSteps &steps;
  Value &largest, &sum;
  Value base;
};

/// The weights of a tile, by row and column of a thread; `carried` takes in
/// what a row keeps.
SmallVector<Value> PairSteps::forwardScores(ArrayRef<Value> raw,
                                            Carried &carried) {
  PairCombine kind = op.getCombine();
  double neutral = shardc::pairs::neutralScore(kind);
  auto sumOf = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  // Most tiles lie in the band as a whole.
  SmallVector<Value> scores;
  if (Value whole = allCount(); whole && rowDim == q) {
    SmallVector<Type> types(raw.size(), type);
    auto choice = scf::IfOp::create(b, loc, types, whole,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (bool all : {true, false}) {
      b.setInsertionPointToStart(all ? choice.thenBlock() : choice.elseBlock());
      scf::YieldOp::create(b, loc, scoresOf(raw, neutral, all));
    }
    scores = SmallVector<Value>(choice.getResults());
  } else {
    scores = scoresOf(raw, neutral, /*allCount=*/!whole);
  }
  SmallVector<Value> weights;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    MutableArrayRef<Value> line =
        MutableArrayRef(scores).slice(row * ownColumns(), ownColumns());
    auto total = [&](llvm::function_ref<Value(Value, Value)> combine) {
      return foldRow(line, combine);
    };
    if (kind == PairCombine::Max || kind == PairCombine::Min) {
      auto extreme = [&](Value x, Value y) -> Value {
        if (kind == PairCombine::Max)
          return arith::MaximumFOp::create(b, loc, x, y);
        return arith::MinimumFOp::create(b, loc, x, y);
      };
      carried.sum[row] = extreme(total(extreme), carried.sum[row]);
      continue;
    }
    if (kind == PairCombine::Sum && !op.getValue()) {
      carried.sum[row] = sumOf(carried.sum[row], total(sumOf));
      continue;
    }
    if (kind == PairCombine::Softmax) {
      ThreadSoftmax softmax(*this, carried.most[row], carried.sum[row]);
      softmax.take(line);
      size_t features = carried.totals.size() / perThread;
      rescale(MutableArrayRef(carried.totals).slice(row * features, features),
              softmax.factor);
    }
    for (int64_t column = 0; column < ownColumns(); ++column) {
      if (!op.getWeight().empty()) {
        placeColumn(column);
        line[column] = evaluate(op.getWeight(), line[column], surroundings());
      }
      weights.push_back(line[column]);
    }
  }
  return weights;
}

/// exp of one score less its query's largest, where `at` stands: 0 where it
/// does not count.
Value PairSteps::backwardPower(Value raw, Value counts) {
  Value most = load(rows[0]);
  Value score = evaluate(op.getScore(), raw, surroundings());
  auto power = [&]() -> Value {
    double limit = shardc::pairs::largestExponent(type);
    if (roundsWeights())
      return powerOfTwo(score, inPowersOfTwo(most), limit);
    return math::ExpOp::create(
        b, loc,
        smaller(number(limit), arith::SubFOp::create(b, loc, score, most)));
  };
  Value made = power();
  return counts ? select(counts, made, number(0)) : made;
}

/// The weight that this power is.
Value PairSteps::backwardWeight(Value power, Value counts) {
  if (op.getWeight().empty())
    return power;
  Value weight = evaluate(op.getWeight(), power, surroundings());
  return counts ? select(counts, weight, number(0)) : weight;
}

/// The slope number `which` of its score, where `dp` is that of the weight.
Value PairSteps::backwardSlope(Value power, Value raw, Value dp, Value counts,
                               unsigned which) {
  SmallVector<Value> around = surroundings();
  Value delta = load(rows[1]);
  if (!op.getWeight().empty())
    dp = evaluate(op.getWeight(), dp, around);
  Value ds = shardc::pairs::scoreGradient(b, loc, power, dp, delta);
  Value slope = evaluate(op.getSlope(), {ds, raw}, around, which);
  return counts ? select(counts, slope, number(0)) : slope;
}

/// The list of the row where `at` stands.
class PairSteps::RowList final : public shardc::pairs::BestList {
public:
  explicit RowList(PairSteps &steps)
      : BestList(steps.b, steps.loc), steps(steps) {}

private:
  Value at(unsigned state, Value place) {
    steps.at[steps.e] = place;
    return steps.element(steps.states[state]);
  }
  void putAt(unsigned state, Value value, Value place) {
    steps.at[steps.e] = place;
    steps.store(value, steps.states[state]);
  }
  Value scoreAt(Value place) override { return at(0, place); }
  Value numberAt(Value place) override { return at(1, place); }
  void put(Value score, Value number, Value place) override {
    putAt(0, score, place);
    putAt(1, number, place);
  }
  void move(Value from, Value to) override {
    for (unsigned state : {0, 1})
      putAt(state, at(state, from), to);
  }

  PairSteps &steps;
};

/// Puts the scores of a tile, which stand in shared memory, into their rows'
/// lists: one thread a row.
void PairSteps::putIntoLists() {
  auto first = scf::IfOp::create(
      b, loc, compare(arith::CmpIPredicate::eq, laneOfRow, index(0)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  Value lastPlace = sub(sizes[e], index(1));
  for (int64_t row = 0; row < perThread; ++row) {
    OpBuilder::InsertionGuard rowGuard(b);
    Value mine = add(firstRow, rowAt(row));
    auto inside = scf::IfOp::create(b, loc, less(mine, sizes[rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    placeRow(row);
    Value count =
        smallerIndex(sub(sizes[columnDim], firstColumn), index(kColumns));
    auto loop = scf::ForOp::create(b, loc, index(0), count, index(1));
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    at[columnDim] = add(firstColumn, column);
    Value score = LLVM::LoadOp::create(b, loc, type,
                                       sharedAt(scoreArea, rowAt(row), column),
                                       type.getWidth() / 8);
    Value name = toI32(add(start[columnDim], at[columnDim]));
    RowList list(*this);
    Value enters = list.isBetter(score, name, lastPlace);
    if (Value band = inBand())
      enters = both(enters, band);
    auto insert = scf::IfOp::create(b, loc, enters, false);
    b.setInsertionPointToStart(insert.thenBlock());
    list.insert(score, name, lastPlace);
  }
}

/// Adds, for the features from `from` on, the products of the tile of weights
/// in shared memory with `columns`.
void PairSteps::accumulate(const Tensor &columns, unsigned dim, int64_t from,
                           Carried &carried) {
  int64_t features = carried.totals.size() / perThread;
  for (int64_t first = 0; first < features; first += kOwn) {
    gpu::BarrierOp::create(b, loc); // weights are there; the area has been read
    // `stage` goes line by line: a line is a column of the tile.
    stage(columns, columnDim, firstColumn, kColumns, dim,
          index(from + first * kPerRow), rightArea);
    gpu::BarrierOp::create(b, loc);
    SmallVector<Value> sums;
    for (int64_t row = 0; row < perThread; ++row)
      llvm::append_range(
          sums, ArrayRef(carried.totals).slice(row * features + first, kOwn));
    auto loop =
        scf::ForOp::create(b, loc, index(0), index(kColumns), index(1), sums);
    setUnrolling(loop, 4);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      Value column = loop.getInductionVar();
      SmallVector<Value> factors;
      Type vector = VectorType::get({lanes}, type);
      for (int64_t part = 0; part < kOwn; part += lanes) {
        Value place = add(mul(laneOfRow, lanes), index(part * kPerRow));
        Value all = LLVM::LoadOp::create(
            b, loc, vector, sharedAt(rightArea, column, place), 16);
        for (int64_t lane = 0; lane < lanes; ++lane)
          factors.push_back(LLVM::ExtractElementOp::create(
              b, loc, all,
              LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                       b.getI32IntegerAttr(lane))));
      }
      SmallVector<Value> next;
      for (int64_t row = 0; row < perThread; ++row) {
        Value weight = LLVM::LoadOp::create(
            b, loc, type, sharedAt(scoreArea, rowAt(row), column),
            type.getWidth() / 8);
        for (Value factor : factors)
          next.push_back(math::FmaOp::create(
              b, loc, weight, factor, loop.getRegionIterArg(next.size())));
      }
      scf::YieldOp::create(b, loc, next);
    }
    for (int64_t row = 0; row < perThread; ++row)
      for (int64_t i = 0; i < kOwn; ++i)
        carried.totals[row * features + first + i] =
            loop.getResult(row * kOwn + i);
  }
}
