//===- PairScores.cpp - Scores as weights ---------------------------------===//
//
// What a block of threads does with one tile of columns, forward: rows keep an
// extreme, a sum, or a softmax's maximum and sum; or a list of the best.
//
//===----------------------------------------------------------------------===//
#include "PairScores.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include <numbers>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

Carried gpukernels::pairs::visitTile(PairBlock &block, TileProducts &products,
                                     Value column, Carried carried) {
  const PairPass &pass = block.pass;
  block.firstColumn = column;
  products.beginTile(column, carried);
  SmallVector<SmallVector<Value>> made = products.multiply();
  ArrayRef<Value> raw = made.front();
  SmallVector<Value> weights;
  if (pass.weigh == Weigh::Forward) {
    weights = Scores(block).weigh(raw, carried);
  } else {
    Gradient gradient(block, Scores::roundsWeights(block));
    weights = overScores(block, [&](size_t which, Value counts) {
      Value power = gradient.power(raw[which], counts);
      return pass.weigh == Weigh::Weights
                 ? gradient.weight(power, counts)
                 : gradient.slope(power, raw[which], made[1][which], counts);
    });
  }
  if (!weights.empty())
    products.addWeighted(weights, carried);
  products.endTile(carried);
  return carried;
}

// Column by column, so that what a column has is in registers for a short
// while.
SmallVector<Value>
gpukernels::pairs::overScores(PairBlock &block,
                              llvm::function_ref<Value(size_t, Value)> body) {
  int64_t columns = block.shape.columnsOfThread();
  SmallVector<Value> made(block.shape.scoresOfThread());
  for (int64_t own = 0; own < columns; ++own)
    for (int64_t row = 0; row < block.shape.rowsOfThread; ++row) {
      block.placeRow(row);
      Value counts = block.countsAt(own);
      size_t which = row * columns + own;
      made[which] = body(which, counts);
    }
  return made;
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value Exponential::baseOf(Value base) {
  if (!isShort)
    return base;
  return arith::MulFOp::create(point.b, point.loc, base,
                               point.number(-std::numbers::log2e));
}

Value Exponential::of(Value score, Value base, std::optional<double> limit) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  if (isShort) {
    Value exponent = math::FmaOp::create(
        b, loc, score, point.number(scale * std::numbers::log2e), base);
    if (limit)
      exponent =
          point.smaller(point.number(*limit * std::numbers::log2e), exponent);
    return LLVM::Exp2Op::create(b, loc, point.step.type, exponent,
                                LLVM::FastmathFlags::afn);
  }
  Value bound = limit ? point.number(*limit) : Value();
  Value exponent = arith::SubFOp::create(b, loc, score, base);
  if (limit)
    exponent = point.smaller(bound, exponent);
  return math::ExpOp::create(b, loc, exponent);
}

Value Exponential::ratio(Value from, Value base, Value to) {
  Value power = of(from, base);
  if (!isShort)
    return power;
  Value same = arith::CmpFOp::create(point.b, point.loc,
                                     arith::CmpFPredicate::OEQ, from, to);
  return point.choose(same, point.number(1), power);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The scores of a tile: `neutral` where one does not count, unless all do.
SmallVector<Value> Scores::masked(ArrayRef<Value> raw, double neutral,
                                  bool allCount) {
  SmallVector<Value> scores;
  bool isScaledLater = laterScale(block).has_value();
  for (int64_t row = 0; row < block.shape.rowsOfThread; ++row) {
    block.placeRow(row);
    for (int64_t column = 0; column < block.shape.columnsOfThread(); ++column) {
      Value counts = block.countsAt(column);
      Value score = raw[scores.size()];
      if (!isScaledLater)
        score = block.evaluate(*block.step.score, score, block.surroundings());
      if (counts && !allCount)
        score = block.choose(counts, score, block.number(neutral));
      scores.push_back(score);
    }
  }
  return scores;
}

SmallVector<Value> Scores::all(ArrayRef<Value> raw) {
  SmallVector<Value> scores;
  for (int64_t row = 0; row < block.shape.rowsOfThread; ++row) {
    block.placeRow(row);
    for (int64_t own = 0; own < block.shape.columnsOfThread(); ++own) {
      block.placeColumn(own);
      scores.push_back(block.evaluate(*block.step.score, raw[scores.size()],
                                      block.surroundings()));
    }
  }
  return scores;
}

/// Multiplies `sums` by `factor`. After its first tiles a row finds no greater
/// score: where weights are rounded it is looked whether there is one.
void Scores::rescale(MutableArrayRef<Value> sums, Value factor) {
  auto all = [&] {
    return llvm::map_to_vector(sums, [&](Value sum) -> Value {
      return arith::MulFOp::create(b, loc, sum, factor);
    });
  };
  if (sums.empty())
    return;
  if (!exponential.isRounded()) {
    llvm::copy(all(), sums.begin());
    return;
  }
  Value changes = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                        factor, block.number(1));
  SmallVector<Type> types(sums.size(), block.step.type);
  auto choice =
      scf::IfOp::create(b, loc, types, changes, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, all());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, SmallVector<Value>(sums));
  llvm::copy(choice.getResults(), sums.begin());
}

Value ThreadRow::greater(Value x, Value y) {
  return LLVM::MaxNumOp::create(b, loc, x, y);
}

Value ThreadRow::multiplyAdd(Value x, Value y, Value z) {
  return math::FmaOp::create(b, loc, x, y, z);
}

namespace {
/// A softmax's row: four threads have its scores, and each keeps all there is.
class ThreadSoftmax final : public ThreadRow {
public:
  ThreadSoftmax(PairBlock &block, Exponential &exponential, double scale,
                Value &largest, Value &sum)
      : ThreadRow(block, largest, sum), exponential(exponential), scale(scale) {
  }

private:
  Value largestOf(ArrayRef<Value> scores) override {
    Value most =
        block.foldRow(scores, [&](Value x, Value y) { return greater(x, y); });
    if (scale != 1)
      most = arith::MulFOp::create(b, loc, most, number(scale));
    return most;
  }
  Value sumOf(ArrayRef<Value> weights) override {
    return block.foldRow(weights, [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(b, loc, x, y);
    });
  }
  void setBase(Value value) override { base = exponential.baseOf(value); }
  Value power(Value score) override { return exponential.of(score, base); }
  Value factorOf(Value old) override {
    return Exponential(block, exponential.isRounded()).ratio(old, base, kept);
  }

  Exponential &exponential;
  double scale;
  Value base;
};
} // namespace

// Most tiles are in the band as a whole. Where rows are no queries, that is
// not looked at.
SmallVector<Value> Scores::counted(ArrayRef<Value> raw) {
  double neutral = shardc::pairs::neutralScore(block.step.combine);
  Value whole = block.allCount();
  if (!whole || block.pass.rowDim != block.step.q)
    return masked(raw, neutral, /*allCount=*/!whole);
  SmallVector<Type> types(raw.size(), block.step.type);
  auto choice = scf::IfOp::create(b, loc, types, whole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool all : {true, false}) {
    b.setInsertionPointToStart(all ? choice.thenBlock() : choice.elseBlock());
    scf::YieldOp::create(b, loc, masked(raw, neutral, all));
  }
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> Scores::weigh(ArrayRef<Value> raw, Carried &carried) {
  const Step &step = block.step;
  PairCombine kind = step.combine;
  int64_t rows = block.shape.rowsOfThread,
          columns = block.shape.columnsOfThread();
  auto sumOf = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  SmallVector<Value> scores = counted(raw), weights;
  for (int64_t row = 0; row < rows; ++row) {
    block.placeRow(row);
    MutableArrayRef<Value> line =
        MutableArrayRef(scores).slice(row * columns, columns);
    auto total = [&](llvm::function_ref<Value(Value, Value)> combine) {
      return block.foldRow(line, combine);
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
    if (kind == PairCombine::Sum && !step.hasValue) {
      carried.sum[row] = sumOf(carried.sum[row], total(sumOf));
      continue;
    }
    if (kind == PairCombine::Softmax) {
      ThreadSoftmax softmax(block, exponential, laterScale(block).value_or(1),
                            carried.most[row], carried.sum[row]);
      softmax.take(line);
      size_t features = carried.totals.size() / rows;
      rescale(MutableArrayRef(carried.totals).slice(row * features, features),
              softmax.factor);
    }
    for (int64_t column = 0; column < columns; ++column) {
      if (step.weight) {
        block.placeColumn(column);
        line[column] =
            block.evaluate(*step.weight, line[column], block.surroundings());
      }
      weights.push_back(line[column]);
    }
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

namespace {
/// The list of the current row of the block.
class RowList final : public shardc::pairs::BestList {
public:
  explicit RowList(PairBlock &block)
      : BestList(block.b, block.loc), block(block) {}

private:
  Value at(unsigned state, Value place) {
    block.at[block.step.e] = place;
    return block.element(block.step.states[state]);
  }
  void putAt(unsigned state, Value value, Value place) {
    block.at[block.step.e] = place;
    block.store(value, block.step.states[state]);
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

  PairBlock &block;
};
} // namespace

void gpukernels::pairs::putIntoLists(
    PairBlock &block, llvm::function_ref<Value(int64_t, Value)> scoreAt) {
  OpBuilder &b = block.b;
  Location loc = block.loc;
  const Step &step = block.step;
  unsigned rowDim = block.pass.rowDim, columnDim = block.pass.columnDim;
  auto first = scf::IfOp::create(
      b, loc, block.equal(block.laneOfRow, block.index(0)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  Value lastPlace = block.sub(step.sizes[step.e], block.index(1));
  for (int64_t row = 0; row < block.shape.rowsOfThread; ++row) {
    OpBuilder::InsertionGuard rowGuard(b);
    Value mine = block.add(block.firstRow, block.rowAt(row));
    auto inside = scf::IfOp::create(
        b, loc, block.lessSigned(mine, step.sizes[rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    block.placeRow(row);
    Value count =
        block.least(block.sub(step.sizes[columnDim], block.firstColumn),
                    block.index(block.shape.columns));
    auto loop =
        scf::ForOp::create(b, loc, block.index(0), count, block.index(1));
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    block.at[columnDim] = block.add(block.firstColumn, column);
    Value score = scoreAt(row, column);
    Value name =
        block.toI32(block.add(step.start[columnDim], block.at[columnDim]));
    RowList list(block);
    Value enters = list.isBetter(score, name, lastPlace);
    if (Value band = block.inBand())
      enters = block.both(enters, band);
    auto insert = scf::IfOp::create(b, loc, enters, false);
    b.setInsertionPointToStart(insert.thenBlock());
    list.insert(score, name, lastPlace);
  }
}
