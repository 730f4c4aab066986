//===- PairKernels.cpp - Blocks of queries against blocks of keys ---------===//
//
// For each tile of keys, packed once with keys along the lanes, all queries
// pass by in tiles of a few dozen rows: scores are a contraction into scratch
// of one tile, then row by row what becomes of them, then a contraction with
// the values into the state. No scratch is larger than a tile. Rows that the
// band leaves out of a tile of keys are not visited, nor tiles in which a mask
// leaves nothing any weight.
//
//===----------------------------------------------------------------------===//
#include "../../Common/PairAlgebra.h"
#include "PairEmitter.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;
using spmd::PairCombine;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value PairEmitter::pointer(const Access &access,
                           ArrayRef<std::pair<int, Quantity>> at) {
  Quantity offset = Quantity::of(0);
  for (int dim : llvm::seq(q))
    offset = arith.add(offset, arith.mul(position[dim], access.coef[dim]));
  for (auto &[dim, index] : at)
    offset = arith.add(offset, arith.mul(index, access.coef[dim]));
  return code.pointerAt(access.pointer, access.element, offset);
}

Matrix PairEmitter::matrix(const Access &access, int row, int column,
                           Quantity first) {
  return {pointer(access, {{row, first}}), access.element, access.coef[row],
          access.coef[column]};
}

Matrix PairEmitter::natural(const Matrix &from, Value scratch, Quantity rows,
                            Quantity columns, int64_t pitch) {
  if (!scratch)
    return from;
  code.copy(from, scratch, rows, columns, pitch, /*padRows=*/0,
            /*transposed=*/false);
  return {scratch, type, Quantity::of(pitch), Quantity::of(1)};
}

void PairEmitter::loops(ArrayRef<int> dims, llvm::function_ref<void()> body) {
  if (dims.empty())
    return body();
  code.loop(fromOf(dims.front()), toOf(dims.front()), 1, [&](Value index) {
    position[dims.front()] = Quantity::of(index);
    loops(dims.drop_front(), body);
  });
}

//===----------------------------------------------------------------------===//
// Rows of scores
//===----------------------------------------------------------------------===//

static Value indices(OpBuilder &b, Location loc, int64_t first, int64_t lanes) {
  SmallVector<int32_t> values;
  for (int64_t lane : llvm::seq(lanes))
    values.push_back(first + lane);
  auto type = VectorType::get({lanes}, b.getI32Type());
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(values)));
}

Value PairEmitter::maskOf(const Tile &tile, Value row, int64_t vector) {
  auto lower = op.getBandLower(), upper = op.getBandUpper();
  bool whole = tile.keys.is(keysOfTile);
  if (whole && !lower && !upper)
    return {};
  Value lane = indices(b, loc, vector * lanes, lanes);
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    Value all = code.splat(toI32(bound), lanes);
    return arith::CmpIOp::create(b, loc, predicate, lane, all);
  };
  // The query, seen from the tile's first key.
  Quantity from = arith.sub(
      arith.add(arith.add(tile.q0, Quantity::of(row)), Quantity::of(start[q])),
      arith.add(tile.k0, Quantity::of(start[k])));
  Value last = arith.get(arith.sub(tile.keys, Quantity::of(1)));
  if (upper)
    last = arith::MinSIOp::create(
        b, loc, last,
        arith.get(arith.add(from, Quantity::of(int64_t(*upper)))));
  Value mask = compare(arith::CmpIPredicate::sle, last);
  if (!lower)
    return mask;
  Value first = arith.get(arith.add(from, Quantity::of(int64_t(*lower))));
  return arith::AndIOp::create(b, loc, mask,
                               compare(arith::CmpIPredicate::sge, first));
}

/// One element of an extra for each lane, or for all if it does not have keys.
Value PairEmitter::extra(const Access &access, const Tile &tile, Value row,
                         int64_t vector) {
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  Type element = access.element, memory = element;
  if (element.isInteger(1))
    memory = b.getI8Type();
  unsigned bytes = elementBytes(element);
  Value loaded;
  if (!access.usesDim(k)) {
    loaded =
        LLVM::LoadOp::create(b, loc, memory, pointer(access, {{q, at}}), bytes);
  } else {
    auto shape = VectorType::get({lanes}, memory);
    Quantity first = arith.add(tile.k0, Quantity::of(vector * lanes));
    if (access.coef[k].is(1)) {
      Value from = pointer(access, {{q, at}, {k, first}});
      if (tile.keys.is(keysOfTile)) {
        loaded = LLVM::LoadOp::create(b, loc, shape, from, bytes);
      } else {
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(shape));
        Value mask =
            code.firstLanes(arith.sub(tile.keys, Quantity::of(vector * lanes)));
        loaded =
            LLVM::MaskedLoadOp::create(b, loc, shape, from, mask, zero, bytes);
      }
    } else {
      SmallVector<Value> elements;
      Value last = arith.get(arith.sub(tile.keys, Quantity::of(1)));
      for (int64_t lane : llvm::seq(lanes)) {
        Quantity index = Quantity::of(vector * lanes + lane);
        if (!tile.keys.fixed || *tile.keys.fixed <= vector * lanes + lane)
          index = Quantity::of(
              Value(arith::MinSIOp::create(b, loc, arith.get(index), last)));
        Value from = pointer(access, {{q, at}, {k, arith.add(tile.k0, index)}});
        elements.push_back(LLVM::LoadOp::create(b, loc, memory, from, bytes));
      }
      loaded = vector::FromElementsOp::create(b, loc, shape, elements);
    }
  }
  if (!element.isInteger(1))
    return loaded;
  Type bits = element;
  if (auto shape = dyn_cast<VectorType>(loaded.getType()))
    bits = VectorType::get(shape.getShape(), element);
  return arith::TruncIOp::create(b, loc, bits, loaded);
}

SmallVector<Value> PairEmitter::surroundings(const Tile &tile, Value row,
                                             int64_t vector) {
  // What no region reads is dead and goes with the next clean-up.
  SmallVector<Value> values;
  for (const Access &access : extras)
    values.push_back(extra(access, tile, row, vector));
  for (int dim : llvm::seq(q))
    values.push_back(
        toI32(arith.get(arith.add(Quantity::of(start[dim]), position[dim]))));
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  values.push_back(toI32(arith.get(arith.add(Quantity::of(start[q]), at))));
  Quantity first = arith.add(tile.k0, Quantity::of(start[k]));
  Value base = code.splat(toI32(arith.get(first)), lanes);
  values.push_back(arith::AddIOp::create(
      b, loc, base, indices(b, loc, vector * lanes, lanes)));
  return values;
}

Value PairEmitter::evaluate(Region &region, ArrayRef<Value> first,
                            ArrayRef<Value> around, unsigned result) {
  SmallVector<Value> arguments(first);
  llvm::append_range(arguments, around);
  Value value = evaluateBody(b, region.front(), arguments, lanes,
                             [](int64_t) { return Value(); })[result];
  return code.splat(value, lanes);
}

namespace {
/// Scores are in the lanes of vectors; what the row keeps, in memory.
class LaneSoftmax final : public pairs::SoftmaxRow {
public:
  LaneSoftmax(VectorCode &code, Value largest, Value sum, Value factor)
      : SoftmaxRow(code.b, code.loc), code(code), largest(largest), sum(sum),
        factor(factor) {}

private:
  Value getLargest() override { return code.load(largest, code.type, 1); }
  void setLargest(Value value) override { code.store(value, largest); }
  Value getSum() override { return code.load(sum, code.type, 1); }
  void setSum(Value value) override { code.store(value, sum); }
  void setFactor(Value value) override { code.store(value, factor); }
  Value number(double value) override { return code.number(value, 1); }
  Value greater(Value x, Value y) override { return code.greater(x, y); }
  Value multiplyAdd(Value x, Value y, Value z) override {
    return code.multiplyAdd(x, y, z);
  }
  Value largestOf(ArrayRef<Value> scores) override {
    return code.foldAll(scores, VectorCode::Fold::Max);
  }
  Value sumOf(ArrayRef<Value> weights) override {
    return code.foldAll(weights, VectorCode::Fold::Sum);
  }
  void setBase(Value value) override { base = value, bases = Value(); }
  Value power(Value score) override {
    Value from = base;
    if (isa<VectorType>(score.getType())) {
      if (!bases)
        bases = code.splat(base, code.lanes);
      from = bases;
    }
    return code.power(arith::SubFOp::create(b, loc, score, from));
  }

  VectorCode &code;
  Value largest, sum, factor; ///< pointers
  Value base, bases;
};
} // namespace

void PairEmitter::forwardRow(const Tile &tile, Value row) {
  using Fold = VectorCode::Fold;
  PairCombine kind = op.getCombine();
  double neutral = pairs::neutralScore(kind);
  SmallVector<Value> line;
  for (int64_t vector : llvm::seq(vectors)) {
    Value raw = code.load(cell(scores, row, vector), type, lanes);
    SmallVector<Value> around = surroundings(tile, row, vector);
    Value score = evaluate(op.getScore(), raw, around);
    if (Value mask = maskOf(tile, row, vector))
      score = arith::SelectOp::create(b, loc, mask, score,
                                      code.number(neutral, lanes));
    line.push_back(score);
  }
  auto total = [&](ArrayRef<Value> values, Fold fold) {
    return code.foldAll(values, fold);
  };
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  auto state = [&](int64_t number) {
    return pointer(states[number], {{q, at}});
  };
  if (kind == PairCombine::TopK)
    return topK(tile, row, line);
  if (kind == PairCombine::Max || kind == PairCombine::Min) {
    Fold fold = kind == PairCombine::Max ? Fold::Maximum : Fold::Minimum;
    Value old = code.load(state(0), type, 1);
    code.store(code.combine(total(line, fold), old, fold), state(0));
    return;
  }
  if (kind == PairCombine::Sum && !op.getValue()) {
    Value old = code.load(state(0), type, 1);
    code.store(arith::AddFOp::create(b, loc, old, total(line, Fold::Sum)),
               state(0));
    return;
  }
  if (kind == PairCombine::Softmax)
    LaneSoftmax(code, state(0), state(1), row1(scale, row)).take(line);
  for (int64_t vector : llvm::seq(vectors)) {
    Value weight = line[vector];
    if (!op.getWeight().empty())
      weight =
          evaluate(op.getWeight(), weight, surroundings(tile, row, vector));
    code.store(weight, cell(scores, row, vector));
  }
}

namespace {
/// Scores are in the lanes of vectors; `around` is what is around them.
class LaneGradient final : public pairs::ScoreGradient {
public:
  LaneGradient(VectorCode &code, Regions regions, Value largest, Value delta)
      : ScoreGradient(code.b, code.loc, regions), code(code), largest(largest),
        delta(delta),
        limit(code.number(pairs::largestExponent(code.type), code.lanes)) {}

  SmallVector<Value> around;

private:
  Value getLargest() override { return largest; }
  Value getDelta() override { return delta; }
  Value exponential(Value score, Value base) override {
    return code.power(
        code.smaller(limit, arith::SubFOp::create(b, loc, score, base)));
  }
  SmallVector<Value> surroundings() override { return around; }
  SmallVector<Value> evaluate(Region &region,
                              ArrayRef<Value> arguments) override {
    SmallVector<Value> values =
        evaluateBody(b, region.front(), arguments, code.lanes,
                     [](int64_t) { return Value(); });
    for (Value &value : values)
      value = code.splat(value, code.lanes);
    return values;
  }
  Value choose(Value counts, Value value) override {
    return arith::SelectOp::create(b, loc, counts, value,
                                   code.number(0, code.lanes));
  }

  VectorCode &code;
  Value largest, delta, limit;
};
} // namespace

void PairEmitter::backwardRow(const Tile &tile, Value row) {
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  auto ofRow = [&](int64_t number) {
    return code.splat(
        code.load(pointer(rows[number], {{q, at}}), rows[number].element, 1),
        lanes);
  };
  Value largest = ofRow(0), delta = ofRow(1);
  Region *weigh = op.getWeight().empty() ? nullptr : &op.getWeight();
  LaneGradient gradient(code, {&op.getScore(), weigh, &op.getSlope()}, largest,
                        delta);
  SmallVector<SmallVector<Value>> more(states.size() - 3);
  for (int64_t vector : llvm::seq(vectors)) {
    gradient.around = surroundings(tile, row, vector);
    Value raw = code.load(cell(scores, row, vector), type, lanes);
    Value dp = code.load(cell(gradients, row, vector), type, lanes);
    Value power = gradient.power(raw, /*counts=*/{});
    Value mask = maskOf(tile, row, vector);
    power = gradient.keep(power, mask);
    code.store(gradient.weight(power, mask), cell(scores, row, vector));
    SmallVector<Value> slopes = gradient.slopes(power, raw, dp, mask);
    code.store(slopes.front(), cell(gradients, row, vector));
    for (auto [i, list] : llvm::enumerate(more))
      list.push_back(slopes[i + 1]);
  }
  // Gradients of extras: by keys, or summed over them.
  for (auto [i, list] : llvm::enumerate(more)) {
    Access &state = states[i + 3];
    if (!isMade(state))
      continue;
    if (!state.usesDim(k)) {
      Value place = pointer(state, {{q, at}});
      code.store(
          arith::AddFOp::create(b, loc, code.load(place, type, 1),
                                code.foldAll(list, VectorCode::Fold::Sum)),
          place);
      continue;
    }
    for (auto [vector, value] : llvm::enumerate(list)) {
      Quantity first =
          arith.add(tile.k0, Quantity::of(int64_t(vector) * lanes));
      Quantity left =
          arith.sub(tile.keys, Quantity::of(int64_t(vector) * lanes));
      if (state.coef[k].is(1)) {
        Value place = pointer(state, {{q, at}, {k, first}});
        Value mask = tile.keys.is(keysOfTile) ? Value() : code.firstLanes(left);
        code.store(arith::AddFOp::create(
                       b, loc, code.load(place, type, lanes, mask), value),
                   place, mask);
        continue;
      }
      Value upTo =
          arith::MinSIOp::create(b, loc, arith.get(left), arith.index(lanes));
      // Through the row's scratch, which nothing reads any more.
      Value spill = cell(scale, arith.index(0), 0);
      code.store(value, spill);
      code.loop(Quantity::of(0), Quantity::of(upTo), 1, [&](Value lane) {
        Value place = pointer(
            state, {{q, at}, {k, arith.add(first, Quantity::of(lane))}});
        Value term =
            code.load(code.pointerAt(spill, type, Quantity::of(lane)), type, 1);
        code.store(
            arith::AddFOp::create(b, loc, code.load(place, type, 1), term),
            place);
      });
    }
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void PairEmitter::queryTile(const Tile &tile) {
  if (mask.empty())
    return visitTile(tile);
  auto branch =
      scf::IfOp::create(b, loc, hasWeight(tile), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  visitTile(tile);
}

void PairEmitter::visitTile(const Tile &tile) {
  using Start = Contraction::Start;
  Matrix queries = natural(matrix(query, q, d, tile.q0), queryCopy, tile.rows,
                           sizes[d], sizes[d].orElse(0));
  Matrix packed{keysPacked, type, Quantity::of(keysOfTile), Quantity::of(1)};
  Matrix scoreTile{scores, type, Quantity::of(keysOfTile), Quantity::of(1)};
  Contraction product;
  product.a = queries;
  product.b = packed;
  product.c = scoreTile;
  product.rows = tile.rows;
  product.reductions = sizes[d];
  product.columns = Quantity::of(keysOfTile);
  product.pair = op.getPair().empty() ? nullptr : &op.getPair();
  code.contract(product);
  Matrix gradientTile{gradients, type, Quantity::of(keysOfTile),
                      Quantity::of(1)};
  Matrix douts;
  if (backward) {
    douts = natural(matrix(rows[2], q, e, tile.q0), gradientCopy, tile.rows,
                    sizes[e], sizes[e].orElse(0));
    Contraction dp;
    dp.a = douts;
    dp.b = {valuesPacked, type, Quantity::of(keysOfTile), Quantity::of(1)};
    dp.c = gradientTile;
    dp.rows = tile.rows;
    dp.reductions = sizes[e];
    dp.columns = Quantity::of(keysOfTile);
    code.contract(dp);
  }
  code.loop(Quantity::of(0), tile.rows, 1, [&](Value row) {
    if (backward)
      backwardRow(tile, row);
    else
      forwardRow(tile, row);
  });
  if (!backward) {
    if (!op.getValue())
      return;
    bool isSoftmax = op.getCombine() == PairCombine::Softmax;
    Access &acc = states[isSoftmax ? 2 : 0];
    Contraction sum;
    sum.a = scoreTile;
    sum.b = valueRows;
    sum.c = matrix(acc, q, e, tile.q0);
    sum.rows = tile.rows;
    sum.reductions = tile.keys;
    sum.columns = sizes[e];
    sum.start = isSoftmax ? Start::Scaled : Start::Memory;
    sum.scale = scale;
    return code.contract(sum);
  }
  auto across = [](const Matrix &m) {
    return Matrix{m.pointer, m.element, m.column, m.row};
  };
  if (made != Made::Queries) {
    Contraction dv;
    dv.a = across(scoreTile);
    dv.b = douts;
    dv.c = {valueSums, type, sizes[e], Quantity::of(1)};
    dv.rows = Quantity::of(keysOfTile);
    dv.reductions = tile.rows;
    dv.columns = sizes[e];
    dv.start = Start::Memory;
    code.contract(dv);
    Contraction dk = dv;
    dk.a = across(gradientTile);
    dk.b = queries;
    dk.c = {keySums, type, sizes[d], Quantity::of(1)};
    dk.columns = sizes[d];
    code.contract(dk);
  }
  if (made == Made::Keys)
    return;
  Contraction dq;
  dq.a = gradientTile;
  dq.b = keyRows;
  dq.c = matrix(states[0], q, d, tile.q0);
  dq.rows = tile.rows;
  dq.reductions = tile.keys;
  dq.columns = sizes[d];
  dq.start = Start::Memory;
  code.contract(dq);
}

void PairEmitter::keyTile(Value k0) {
  Quantity first = Quantity::of(k0), keys = Quantity::of(keysOfTile);
  if (!sizes[k].fixed || *sizes[k].fixed % keysOfTile != 0)
    keys = Quantity::of(Value(
        arith::MinSIOp::create(b, loc, arith.get(arith.sub(sizes[k], first)),
                               arith.index(keysOfTile))));
  // Queries that pair with any of these keys.
  Quantity from = fromOf(q), to = toOf(q);
  Value zero = arith.get(from);
  auto distance = [&](Quantity key) {
    Quantity global = arith.add(key, Quantity::of(start[k]));
    return arith.sub(global, Quantity::of(start[q]));
  };
  auto [bandFirst, bandLast] = pairs::bandOf(
      op.getBandLower(), op.getBandUpper(), /*mineAreQueries=*/false);
  if (bandFirst)
    from = Quantity::of(Value(arith::MaxSIOp::create(
        b, loc, zero,
        arith.get(arith.add(distance(first), Quantity::of(*bandFirst))))));
  if (bandLast)
    to = Quantity::of(Value(arith::MinSIOp::create(
        b, loc, arith.get(to),
        arith.get(arith.add(distance(arith.add(first, keys)),
                            Quantity::of(*bandLast))))));
  auto body = [&] {
    Matrix keyMatrix = matrix(key, k, d, first);
    code.copy(keyMatrix, keysPacked, keys, sizes[d], keysOfTile, 0,
              /*transposed=*/true);
    if (backward) {
      keyRows = natural(keyMatrix, keyCopy, keys, sizes[d], sizes[d].orElse(0));
      code.copy(matrix(value, k, e, first), valuesPacked, keys, sizes[e],
                keysOfTile, 0, /*transposed=*/true);
    }
    if (backward && made != Made::Queries) {
      for (auto [sums, columns] :
           {std::pair(keySums, sizes[d]), std::pair(valueSums, sizes[e])})
        code.loop(
            Quantity::of(0),
            Quantity::of(llvm::alignTo(keysOfTile * *columns.fixed, lanes)),
            lanes, [&, sums = sums](Value i) {
              code.store(code.number(0, lanes),
                         code.pointerAt(sums, type, Quantity::of(i)));
            });
    } else if (!backward && op.getValue()) {
      valueRows = natural(matrix(value, k, e, first), valueCopy, keys, sizes[e],
                          sizes[e].orElse(0));
    }
    SmallVector<int> inner;
    for (int dim : llvm::seq(q))
      if (!keysDependOn(dim))
        inner.push_back(dim);
    loops(inner, [&] {
      auto queries = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                        arith.index(rowsOfTile));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(queries.getBody());
      Quantity q0 = Quantity::of(queries.getInductionVar());
      Quantity rowCount = Quantity::of(Value(arith::MinSIOp::create(
          b, loc, arith.get(arith.sub(to, q0)), arith.index(rowsOfTile))));
      if (from.is(0) && to.fixed && *to.fixed % rowsOfTile == 0)
        rowCount = Quantity::of(rowsOfTile);
      queryTile({q0, rowCount, first, keys});
    });
    if (!backward || made == Made::Queries)
      return;
    for (auto [number, sums, column] :
         {std::tuple(1, keySums, d), std::tuple(2, valueSums, e)}) {
      Access &state = states[number];
      code.loop(
          Quantity::of(0), keys, 1,
          [&, sums = sums, column = column](Value row) {
            Value to =
                pointer(state, {{k, arith.add(first, Quantity::of(row))}});
            Value from = code.pointerAt(
                sums, type, arith.mul(Quantity::of(row), sizes[column]));
            auto add = [&](Quantity at, Value mask) {
              Value place = code.pointerAt(to, type, at);
              Value sum = arith::AddFOp::create(
                  b, loc, code.load(place, type, lanes, mask),
                  code.load(code.pointerAt(from, type, at), type, lanes, mask));
              code.store(sum, place, mask);
            };
            int64_t whole = *sizes[column].fixed / lanes * lanes;
            code.loop(Quantity::of(0), Quantity::of(whole), lanes,
                      [&](Value at) { add(Quantity::of(at), {}); });
            if (whole < *sizes[column].fixed)
              add(Quantity::of(whole),
                  code.firstLanes(Quantity::of(*sizes[column].fixed - whole)));
          });
    }
  };
  if (!op.getBandLower() && !op.getBandUpper())
    return body();
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                     arith.get(from), arith.get(to));
  auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

/// Whether each index of a batch dim has keys of its own, or gradients of
/// these.
bool PairEmitter::keysDependOn(int dim) const {
  return key.usesDim(dim) || (hasValue && value.usesDim(dim)) ||
         (backward && (states[1].usesDim(dim) || states[2].usesDim(dim)));
}

void PairEmitter::emit(int64_t threads) {
  hasValue = static_cast<bool>(op.getValue());
  backward = op.getBackward();
  numDims = op.getMap(0).getNumDims();
  q = numDims - 4, k = numDims - 3, d = numDims - 2, e = numDims - 1;
  sizes.assign(numDims, Quantity::of(1));
  SmallVector<bool> known(numDims, false);
  SmallVector<Access> all;
  for (auto [number, memref] : llvm::enumerate(tensors)) {
    AffineMap map = op.getMap(number);
    all.push_back(tensor(memref, map));
    auto shape = cast<MemRefType>(memref.getType());
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (!shape.isDynamicDim(i))
        sizes[dim] = Quantity::of(shape.getDimSize(i));
      else if (!known[dim])
        sizes[dim] =
            Quantity::of(Value(memref::DimOp::create(b, loc, memref, i)));
      known[dim] = true;
    }
  }
  auto next = all.begin();
  query = *next++;
  key = *next++;
  if (op.getValue())
    value = *next++;
  for ([[maybe_unused]] Value row : op.getRows())
    rows.push_back(*next++);
  for ([[maybe_unused]] Value extra : op.getExtras())
    extras.push_back(*next++);
  states.assign(next, all.end());
  position.assign(q, Quantity::of(0));
  findMask();

  // Short blocks need no long tiles.
  if (sizes[k].fixed)
    keysOfTile = std::clamp<int64_t>(llvm::alignTo(*sizes[k].fixed, lanes),
                                     lanes, keysOfTile);
  vectors = keysOfTile / lanes;
  if (sizes[q].fixed)
    rowsOfTile = std::clamp<int64_t>(*sizes[q].fixed, 1, rowsOfTile);
  tileRows = sizes[q].fixed ? Quantity::of(rowsOfTile)
                            : arith.upTo(sizes[q], rowsOfTile);
  if (threads < 2 || !gainsByPasses(threads))
    return emitPass(threads);
  for (Made pass : {Made::Queries, Made::Keys}) {
    made = pass;
    emitPass(threads);
  }
}

void PairEmitter::emitPass(int64_t threads) {
  OpBuilder::InsertionGuard guard(b);
  code.partLoop = {};
  code.parts = 1;
  partFrom.clear();
  partTo.clear();
  if (threads > 1)
    beginParts(threads);
  auto ofRows = [&](int64_t each) {
    return arith.mul(tileRows, Quantity::of(each));
  };
  scores = code.scratch(ofRows(keysOfTile));
  keysPacked = code.scratch(arith.mul(sizes[d], Quantity::of(keysOfTile)));
  scale = code.scratch(Quantity::of(std::max(rowsOfTile, keysOfTile)));
  // Where copies are needed, whole rows of them.
  int64_t depth = sizes[d].orElse(0), feature = sizes[e].orElse(0);
  auto roomFor = [&](Quantity count) {
    return arith.add(arith.roundUp(count, lanes), Quantity::of(lanes));
  };
  auto ofKeys = [&](int64_t each) { return Quantity::of(keysOfTile * each); };
  if (!isNatural(query, d) && !(query.element == type && !backward))
    queryCopy = code.scratch(roomFor(ofRows(depth)));
  if (backward) {
    gradients = code.scratch(ofRows(keysOfTile));
    valuesPacked = code.scratch(ofKeys(feature));
    keySums = code.scratch(roomFor(ofKeys(depth)));
    valueSums = code.scratch(roomFor(ofKeys(feature)));
    if (!isNatural(key, d))
      keyCopy = code.scratch(roomFor(ofKeys(depth)));
    if (!isNatural(rows[2], e))
      gradientCopy = code.scratch(roomFor(ofRows(feature)));
  } else if (op.getValue() && !isNatural(value, e)) {
    valueCopy = code.scratch(roomFor(ofKeys(feature)));
  }
  SmallVector<int> outer;
  for (int dim : llvm::seq(q))
    if (keysDependOn(dim))
      outer.push_back(dim);
  loops(outer, [&] {
    auto tiles =
        scf::ForOp::create(b, loc, arith.get(fromOf(k)), arith.get(toOf(k)),
                           arith.index(keysOfTile));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tiles.getBody());
    keyTile(tiles.getInductionVar());
  });
}

Quantity cpu::emitPairStep(OpBuilder &b, spmd::PairStepOp op,
                           ValueRange operands, Value pool, unsigned vectorBits,
                           int64_t threads) {
  PairEmitter emitter(b, op, operands, pairs::computeTypeOf(op), vectorBits);
  emitter.vectorCode().pool = pool;
  emitter.emit(threads);
  return emitter.vectorCode().used;
}
