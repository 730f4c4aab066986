//===- PairSteps.cpp - Blocks of queries against blocks of keys -----------===//
//
// A block of threads has some dozen rows of scores (rows are queries; keys for
// the gradients of keys and values), and meets tile after tile of columns.
// Scores of a tile stay in registers, four threads a row; what becomes of them
// goes to shared memory, and is multiplied into sums that stay in registers.
// Backward, every gradient is a pass of its own that computes the scores again:
// no two blocks add to one place, so that results do not depend on their order.
//
//===----------------------------------------------------------------------===//
#include "PairSteps.h"
#include "../CPU/PairKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using spmd::PairCombine;
using spmd::PairStepOp;

static constexpr int64_t kThreads = 128, kPerRow = 4;
static constexpr int64_t kRows = kThreads / kPerRow; // of a thread's first row
static constexpr int64_t kColumns = 32;              // of a tile
static constexpr int64_t kPart = 32; // of a depth, or of features, at once
static constexpr int64_t kOwn = kColumns / kPerRow; // columns of a thread
/// Features whose sums stay in registers: more take another pass.
static constexpr int64_t kSlab = 256;

namespace {
/// A tensor of the step, read and written through its map.
struct Tensor {
  Value memref;
  AffineMap map;
  bool has(unsigned dim) const { return map.isFunctionOfDim(dim); }
};

/// What a tile of scores becomes, before it is multiplied.
enum class Weigh { Forward, Weights, Slopes };

/// What a thread carries from tile to tile.
struct Carried {
  SmallVector<Value> most, sum; // by row; softmax (and others: `sum` alone)
  SmallVector<Value> totals;    // by row and feature

  SmallVector<Value> flat() const {
    SmallVector<Value> all(most);
    llvm::append_range(all, sum);
    llvm::append_range(all, totals);
    return all;
  }
  /// The same with other values.
  Carried with(ValueRange values) const {
    Carried next;
    auto take = [&](size_t count) {
      SmallVector<Value> taken(values.take_front(count));
      values = values.drop_front(count);
      return taken;
    };
    next.most = take(most.size());
    next.sum = take(sum.size());
    next.totals = take(totals.size());
    return next;
  }
};

class PairSteps {
public:
  explicit PairSteps(PairStepOp op);
  void emit();

private:
  // Numbers.
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, loc, x, index(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(b, loc, x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(b, loc, x, index(y));
  }
  Value compare(arith::CmpIPredicate how, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, how, x, y);
  }
  Value less(Value x, Value y) {
    return compare(arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value smallerIndex(Value x, Value y) {
    return arith::MinSIOp::create(b, loc, x, y);
  }
  Value largerIndex(Value x, Value y) {
    return arith::MaxSIOp::create(b, loc, x, y);
  }
  /// The greater; y where x is NaN.
  Value greater(Value x, Value y) {
    return select(
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y), x, y);
  }
  Value smaller(Value x, Value y) {
    return select(
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y), x, y);
  }
  Value toI32(Value value) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  }

  // Memory.
  SmallVector<Value> subscripts(const Tensor &tensor) {
    return llvm::map_to_vector(tensor.map.getResults(), [&](AffineExpr expr) {
      return at[cast<AffineDimExpr>(expr).getPosition()];
    });
  }
  /// The element where `at` stands, as it is in memory.
  Value element(const Tensor &tensor) {
    return memref::LoadOp::create(b, loc, tensor.memref, subscripts(tensor));
  }
  /// The same as a number of the float type.
  Value load(const Tensor &tensor) {
    Value value = element(tensor);
    if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type, value);
    return value;
  }
  void store(Value value, const Tensor &tensor) {
    memref::StoreOp::create(b, loc, value, tensor.memref, subscripts(tensor));
  }
  Value sharedAt(Value area, Value row, Value column);
  void stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
             int64_t lines, unsigned dim, Value first, Value area);

  // Scores.
  Value evaluate(Region &region, ArrayRef<Value> first, ArrayRef<Value> around,
                 unsigned result = 0);
  SmallVector<Value> surroundings();
  Value inBand();
  SmallVector<Value> contract(const Tensor &rows, const Tensor &columns,
                              unsigned dim, Region *pair);
  void placeRow(int64_t row);
  void placeColumn(int64_t column);
  Value foldRow(Value value, llvm::function_ref<Value(Value, Value)> combine);
  SmallVector<Value> forwardScores(ArrayRef<Value> raw, Carried &carried);
  Value backwardScore(Value raw, Value dp, Value counts, bool slope,
                      unsigned which = 0);
  void putIntoLists();
  void accumulate(const Tensor &columns, unsigned dim, int64_t from,
                  Carried &carried);

  // Passes.
  int64_t sizeOf(unsigned dim) const { return known[dim]; }
  void pass(Weigh weigh, unsigned rows, const Tensor *target, unsigned feature,
            const Tensor *factor, int64_t slab, bool last);
  void passes(Weigh weigh, unsigned rows, const Tensor &target,
              unsigned feature, const Tensor &factor);
  Carried tile(Weigh weigh, Value column, Carried carried, const Tensor *factor,
               unsigned feature, int64_t slab);
  Carried overDims(ArrayRef<unsigned> dims, Carried carried,
                   llvm::function_ref<Carried(Carried)> body);
  Carried carry(Value from, Value to, Value step, const Carried &carried,
                llvm::function_ref<Carried(Value, Carried)> body);
  void extraGradient(unsigned which);

  PairStepOp op;
  OpBuilder b;
  Location loc;
  FloatType type;
  unsigned numDims, q, k, d, e;
  SmallVector<Value> sizes;
  SmallVector<int64_t> known;
  Tensor query, key, value;
  SmallVector<Tensor> rows, extras, states;
  OperandRange start;

  // Of the pass.
  unsigned rowDim = 0, columnDim = 0;
  int64_t perThread = 1; ///< rows of a thread
  int64_t lanes = 4;     ///< numbers of 16 bytes
  int64_t pitch = 0;     ///< of a row in shared memory
  Value thread, rowOfThread, laneOfRow, firstRow, firstColumn;
  Value leftArea, rightArea, scoreArea;
  SmallVector<Value> at; ///< where the code stands, by dim
};
} // namespace

PairSteps::PairSteps(PairStepOp op)
    : op(op), b(op), loc(op.getLoc()),
      type(cast<FloatType>(
          cast<ShapedType>(op.getQuery().getType()).getElementType().isF64()
              ? Type(b.getF64Type())
              : Type(b.getF32Type()))),
      numDims(op.getMap(0).getNumDims()), q(numDims - 4), k(numDims - 3),
      d(numDims - 2), e(numDims - 1), start(op.getAt()) {
  lanes = 128 / type.getWidth();
  pitch = kColumns + lanes;
  sizes.assign(numDims, Value());
  known.assign(numDims, 1);
  unsigned number = 0;
  auto take = [&](Value memref) {
    Tensor tensor{memref, op.getMap(number++)};
    auto shape = cast<MemRefType>(memref.getType());
    for (auto [i, expr] : llvm::enumerate(tensor.map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (sizes[dim] && ShapedType::isStatic(known[dim]))
        continue;
      if (sizes[dim] && shape.isDynamicDim(i))
        continue;
      known[dim] = shape.getDimSize(i);
      sizes[dim] = shape.isDynamicDim(i)
                       ? memref::DimOp::create(b, loc, memref, i).getResult()
                       : index(known[dim]);
    }
    return tensor;
  };
  query = take(op.getQuery());
  key = take(op.getKey());
  if (op.getValue())
    value = take(op.getValue());
  for (Value row : op.getRows())
    rows.push_back(take(row));
  for (Value extra : op.getExtras())
    extras.push_back(take(extra));
  for (Value init : op.getInits())
    states.push_back(take(init));
  for (Value &size : sizes)
    if (!size)
      size = index(1);
  at.assign(numDims, Value());
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value PairSteps::sharedAt(Value area, Value row, Value column) {
  Value offset = mul(add(mul(row, pitch), column), type.getWidth() / 8);
  Value bytes = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), area,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// Brings `lines` lines along `lineDim`, from `firstLine` on, and kPart
/// elements along `dim` of each: zeros past the edges.
void PairSteps::stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
                      int64_t lines, unsigned dim, Value first, Value area) {
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
  Value read = select(inside, load(tensor), number(0));
  LLVM::StoreOp::create(b, loc, read, sharedAt(area, line, part),
                        type.getWidth() / 8);
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

/// Sets `at` to a thread's row; past the edge to the last one, whose results
/// are not stored.
void PairSteps::placeRow(int64_t row) {
  Value mine = add(firstRow, add(rowOfThread, index(row * kRows)));
  at[rowDim] = smallerIndex(mine, sub(sizes[rowDim], index(1)));
}
void PairSteps::placeColumn(int64_t column) {
  Value mine = add(firstColumn, add(laneOfRow, index(column * kPerRow)));
  at[columnDim] = smallerIndex(mine, sub(sizes[columnDim], index(1)));
}

/// For each row and column of a thread the sum, along `dim`, of products (or
/// what `pair` makes) of elements of both.
SmallVector<Value> PairSteps::contract(const Tensor &left, const Tensor &right,
                                       unsigned dim, Region *pair) {
  SmallVector<Value> sums(perThread * kOwn, number(0));
  auto parts =
      scf::ForOp::create(b, loc, index(0), sizes[dim], index(kPart), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(parts.getBody());
  Value from = parts.getInductionVar();
  gpu::BarrierOp::create(b, loc); // what was there has been read
  stage(left, rowDim, firstRow, perThread * kRows, dim, from, leftArea);
  stage(right, columnDim, firstColumn, kColumns, dim, from, rightArea);
  gpu::BarrierOp::create(b, loc);
  auto steps = scf::ForOp::create(b, loc, index(0), index(kPart), index(lanes),
                                  parts.getRegionIterArgs());
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
      lefts.push_back(read(leftArea, add(rowOfThread, index(row * kRows))));
    for (int64_t column = 0; column < kOwn; ++column)
      rights.push_back(
          read(rightArea, add(laneOfRow, index(column * kPerRow))));
    SmallVector<Value> next(steps.getRegionIterArgs());
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t row = 0; row < perThread; ++row)
        for (int64_t column = 0; column < kOwn; ++column) {
          Value &sum = next[row * kOwn + column];
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

/// `value` of all four threads of a row, combined.
Value PairSteps::foldRow(Value value,
                         llvm::function_ref<Value(Value, Value)> combine) {
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

/// The weights of a tile, by row and column of a thread; `carried` takes in
/// what a row keeps.
SmallVector<Value> PairSteps::forwardScores(ArrayRef<Value> raw,
                                            Carried &carried) {
  PairCombine kind = op.getCombine();
  double neutral = kind == PairCombine::Sum   ? 0
                   : kind == PairCombine::Min ? INFINITY
                                              : -INFINITY;
  auto sumOf = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  SmallVector<Value> weights;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    SmallVector<Value> line;
    SmallVector<SmallVector<Value>> around;
    for (int64_t column = 0; column < kOwn; ++column) {
      Value counts =
          less(add(firstColumn, add(laneOfRow, index(column * kPerRow))),
               sizes[columnDim]);
      placeColumn(column);
      if (Value band = inBand())
        counts = both(counts, band);
      around.push_back(surroundings());
      Value score =
          evaluate(op.getScore(), raw[row * kOwn + column], around.back());
      line.push_back(select(counts, score, number(neutral)));
    }
    auto total = [&](llvm::function_ref<Value(Value, Value)> combine) {
      Value all = line.front();
      for (Value next : ArrayRef(line).drop_front())
        all = combine(all, next);
      return foldRow(all, combine);
    };
    auto most = [&](Value x, Value y) { return greater(x, y); };
    auto least = [&](Value x, Value y) { return smaller(x, y); };
    if (kind == PairCombine::Max || kind == PairCombine::Min) {
      carried.sum[row] = kind == PairCombine::Max
                             ? greater(total(most), carried.sum[row])
                             : smaller(total(least), carried.sum[row]);
      continue;
    }
    if (kind == PairCombine::Sum && !op.getValue()) {
      carried.sum[row] = sumOf(carried.sum[row], total(sumOf));
      continue;
    }
    if (kind == PairCombine::Softmax) {
      Value old = carried.most[row];
      // A row with NaN has NaN in its sum; its maximum does not matter.
      Value now = greater(total(most), old);
      // Nothing but -inf so far: exp(-inf - -inf) would be NaN.
      Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, now,
                                         number(-INFINITY));
      Value base = select(none, number(0), now);
      auto power = [&](Value x) -> Value {
        return math::ExpOp::create(b, loc,
                                   arith::SubFOp::create(b, loc, x, base));
      };
      Value factor = power(old);
      for (Value &score : line)
        score = power(score);
      carried.most[row] = now;
      carried.sum[row] =
          math::FmaOp::create(b, loc, carried.sum[row], factor, total(sumOf));
      size_t features = carried.totals.size() / perThread;
      for (Value &sum :
           MutableArrayRef(carried.totals).slice(row * features, features))
        sum = arith::MulFOp::create(b, loc, sum, factor);
    }
    for (int64_t column = 0; column < kOwn; ++column)
      weights.push_back(
          op.getWeight().empty()
              ? line[column]
              : evaluate(op.getWeight(), line[column], around[column]));
  }
  return weights;
}

/// The weight of one score, or its slope number `which`, where `at` stands.
Value PairSteps::backwardScore(Value raw, Value dp, Value counts, bool slope,
                               unsigned which) {
  SmallVector<Value> around = surroundings();
  Value most = load(rows[0]), delta = load(rows[1]);
  // What a program subtracts itself may be far below its scores: huge then, not
  // garbage.
  Value limit = number(type.isF64() ? 709.0 : 88.0);
  Value score = evaluate(op.getScore(), raw, around);
  Value p = math::ExpOp::create(
      b, loc, smaller(limit, arith::SubFOp::create(b, loc, score, most)));
  p = select(counts, p, number(0));
  bool weighs = !op.getWeight().empty();
  if (!slope)
    return weighs
               ? select(counts, evaluate(op.getWeight(), p, around), number(0))
               : p;
  if (weighs)
    dp = evaluate(op.getWeight(), dp, around);
  Value ds = arith::MulFOp::create(b, loc, p,
                                   arith::SubFOp::create(b, loc, dp, delta));
  Value result = evaluate(op.getSlope(), {ds, raw}, around, which);
  return select(counts, result, number(0));
}

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
    Value mine = add(firstRow, add(rowOfThread, index(row * kRows)));
    auto inside = scf::IfOp::create(b, loc, less(mine, sizes[rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    placeRow(row);
    Value count =
        smallerIndex(sub(sizes[columnDim], firstColumn), index(kColumns));
    auto loop = scf::ForOp::create(b, loc, index(0), count, index(1));
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    at[columnDim] = add(firstColumn, column);
    Value score = LLVM::LoadOp::create(
        b, loc, type,
        sharedAt(scoreArea, add(rowOfThread, index(row * kRows)), column),
        type.getWidth() / 8);
    Value name = toI32(add(start[columnDim], at[columnDim]));
    auto isBetterThan = [&](Value place) -> Value {
      at[e] = place;
      Value other = element(states[0]), otherName = element(states[1]);
      Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                          score, other);
      Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                         score, other);
      Value lower = less(name, otherName);
      return arith::OrIOp::create(b, loc, above, both(same, lower));
    };
    Value enters = isBetterThan(lastPlace);
    if (Value band = inBand())
      enters = both(enters, band);
    auto insert = scf::IfOp::create(b, loc, enters, false);
    b.setInsertionPointToStart(insert.thenBlock());
    // From the end, worse ones move down.
    auto shift = scf::WhileOp::create(
        b, loc, TypeRange(b.getIndexType()), ValueRange(lastPlace),
        [&](OpBuilder &, Location, ValueRange args) {
          Value isInside =
              compare(arith::CmpIPredicate::sgt, args[0], index(0));
          Value before = select(isInside, sub(args[0], index(1)), index(0));
          scf::ConditionOp::create(b, loc, both(isInside, isBetterThan(before)),
                                   args);
        },
        [&](OpBuilder &, Location, ValueRange args) {
          Value before = sub(args[0], index(1));
          for (const Tensor &state : states) {
            at[e] = before;
            Value moved = element(state);
            at[e] = args[0];
            store(moved, state);
          }
          scf::YieldOp::create(b, loc, before);
        });
    at[e] = shift.getResult(0);
    store(score, states[0]);
    store(name, states[1]);
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
            b, loc, type,
            sharedAt(scoreArea, add(rowOfThread, index(row * kRows)), column),
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

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

Carried PairSteps::carry(Value from, Value to, Value step,
                         const Carried &carried,
                         llvm::function_ref<Carried(Value, Carried)> body) {
  SmallVector<Value> values = carried.flat();
  auto loop = scf::ForOp::create(b, loc, from, to, step, values);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Carried next = body(loop.getInductionVar(),
                        carried.with(loop.getRegionIterArgs()));
    // A loop that carries nothing has its end already.
    if (!values.empty())
      scf::YieldOp::create(b, loc, next.flat());
  }
  return carried.with(loop.getResults());
}

Carried PairSteps::overDims(ArrayRef<unsigned> dims, Carried carried,
                            llvm::function_ref<Carried(Carried)> body) {
  if (dims.empty())
    return body(carried);
  return carry(index(0), sizes[dims.front()], index(1), carried,
               [&](Value place, Carried inner) {
                 at[dims.front()] = place;
                 return overDims(dims.drop_front(), inner, body);
               });
}

Carried PairSteps::tile(Weigh weigh, Value column, Carried carried,
                        const Tensor *factor, unsigned feature, int64_t slab) {
  firstColumn = column;
  bool rowsAreQueries = rowDim == q;
  const Tensor &left = rowsAreQueries ? query : key;
  const Tensor &right = rowsAreQueries ? key : query;
  Region *pair = op.getPair().empty() ? nullptr : &op.getPair();
  SmallVector<Value> raw = contract(left, right, d, pair);
  SmallVector<Value> weights;
  if (weigh == Weigh::Forward) {
    if (op.getCombine() == PairCombine::TopK) {
      for (int64_t row = 0; row < perThread; ++row) {
        placeRow(row);
        for (int64_t own = 0; own < kOwn; ++own) {
          placeColumn(own);
          weights.push_back(
              evaluate(op.getScore(), raw[row * kOwn + own], surroundings()));
        }
      }
    } else {
      weights = forwardScores(raw, carried);
    }
  } else {
    SmallVector<Value> dps(raw.size());
    bool slope = weigh == Weigh::Slopes;
    if (slope)
      dps = rowsAreQueries ? contract(rows[2], value, e, nullptr)
                           : contract(value, rows[2], e, nullptr);
    for (int64_t row = 0; row < perThread; ++row) {
      placeRow(row);
      for (int64_t own = 0; own < kOwn; ++own) {
        Value counts =
            less(add(firstColumn, add(laneOfRow, index(own * kPerRow))),
                 sizes[columnDim]);
        placeColumn(own);
        if (Value band = inBand())
          counts = both(counts, band);
        size_t which = row * kOwn + own;
        weights.push_back(backwardScore(raw[which], dps[which], counts, slope));
      }
    }
  }
  if (weights.empty())
    return carried;
  for (int64_t row = 0; row < perThread; ++row)
    for (int64_t own = 0; own < kOwn; ++own)
      LLVM::StoreOp::create(b, loc, weights[row * kOwn + own],
                            sharedAt(scoreArea,
                                     add(rowOfThread, index(row * kRows)),
                                     add(laneOfRow, index(own * kPerRow))),
                            type.getWidth() / 8);
  if (op.getCombine() == PairCombine::TopK) {
    gpu::BarrierOp::create(b, loc);
    putIntoLists();
  } else {
    accumulate(*factor, feature, slab, carried);
  }
  // The next tile's first barrier comes before anyone writes here again.
  return carried;
}

/// A launch that computes features [slab, slab + kSlab) of `target` (null: rows
/// keep all there is); rows of a softmax keep their maximum and sum if `last`.
void PairSteps::pass(Weigh weigh, unsigned rowDimOf, const Tensor *target,
                     unsigned feature, const Tensor *factor, int64_t slab,
                     bool last) {
  OpBuilder::InsertionGuard outside(b);
  rowDim = rowDimOf;
  columnDim = rowDim == q ? k : q;
  bool isSoftmax =
      weigh == Weigh::Forward && op.getCombine() == PairCombine::Softmax;
  bool isList = op.getCombine() == PairCombine::TopK;
  int64_t features = 0;
  if (target)
    features = std::min(kSlab, sizeOf(feature) - slab);
  int64_t parts = llvm::divideCeil(features, kPart);
  bool isShort =
      ShapedType::isStatic(sizeOf(rowDim)) && sizeOf(rowDim) <= kRows;
  perThread = isShort || type.isF64() || features > 128 ? 1 : 2;
  // Other batch dims are gone through inside: what they add goes to one place.
  const Tensor &kept = target ? *target : states[0];
  SmallVector<unsigned> outer, inner;
  for (unsigned dim : llvm::seq(q))
    if (kept.has(dim))
      outer.push_back(dim);
    else
      inner.push_back(dim);
  SmallVector<Value> counts{arith::CeilDivUIOp::create(
      b, loc, sizes[rowDim], index(perThread * kRows))};
  for (unsigned dim : outer)
    counts.push_back(sizes[dim]);
  gpu::LaunchOp launch = beginLaunch(b, loc, product(b, loc, counts), kThreads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto area = [&](int64_t lines) {
    Value memory = launch.addWorkgroupAttribution(
        MemRefType::get({lines * pitch}, type, MemRefLayoutAttrInterface(),
                        shared),
        loc);
    Value number =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
  };
  leftArea = area(perThread * kRows);
  rightArea = area(kColumns);
  scoreArea = area(perThread * kRows);
  thread = launch.getThreadIds().x;
  rowOfThread = div(thread, kPerRow);
  laneOfRow = rem(thread, kPerRow);
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) -> Value {
    Value mine = arith::RemUIOp::create(b, loc, block, count);
    block = arith::DivUIOp::create(b, loc, block, count);
    return mine;
  };
  firstRow = mul(take(counts[0]), perThread * kRows);
  for (unsigned dim : outer)
    at[dim] = take(sizes[dim]);
  for (unsigned dim : inner)
    at[dim] = index(0);

  // Where a thread's totals stand: features side by side, 16 bytes at a time.
  auto featureAt = [&](int64_t i) {
    int64_t part = i / kOwn, own = i % kOwn;
    return add(mul(laneOfRow, lanes),
               index(slab + part * kPart + own / lanes * lanes * kPerRow +
                     own % lanes));
  };
  const Tensor *rowState = isSoftmax            ? nullptr
                           : !target && !isList ? &states[0]
                                                : nullptr;
  Carried carried;
  for (int64_t row = 0; row < perThread; ++row) {
    placeRow(row);
    if (isSoftmax) {
      carried.most.push_back(load(states[0]));
      carried.sum.push_back(load(states[1]));
    } else if (rowState) {
      carried.sum.push_back(load(*rowState));
    }
    for (int64_t i = 0; i < parts * kOwn; ++i) {
      at[feature] = smallerIndex(featureAt(i), sub(sizes[feature], index(1)));
      carried.totals.push_back(load(*target));
    }
  }
  carried = overDims(inner, carried, [&](Carried now) {
    // Columns that any of these rows meets.
    Value from = index(0), to = sizes[columnDim];
    auto lower = op.getBandLower(), upper = op.getBandUpper();
    // key - query lies in [lower, upper]: as seen from the rows.
    std::optional<int64_t> least, most;
    if (rowDim == q) {
      least = lower ? std::optional<int64_t>(*lower) : std::nullopt;
      most = upper ? std::optional<int64_t>(*upper) : std::nullopt;
    } else {
      least = upper ? std::optional<int64_t>(-*upper) : std::nullopt;
      most = lower ? std::optional<int64_t>(-*lower) : std::nullopt;
    }
    Value origin = add(firstRow, sub(start[rowDim], start[columnDim]));
    if (least) {
      Value begin = largerIndex(add(origin, index(*least)), index(0));
      from = mul(div(begin, kColumns), kColumns);
    }
    if (most)
      to = smallerIndex(to, add(origin, index(*most + perThread * kRows)));
    return carry(from, to, index(kColumns), now,
                 [&](Value column, Carried inside) {
                   return tile(weigh, column, inside, factor, feature, slab);
                 });
  });
  int64_t own = parts * kOwn;
  for (int64_t row = 0; row < perThread; ++row) {
    OpBuilder::InsertionGuard guard(b);
    Value mine = add(firstRow, add(rowOfThread, index(row * kRows)));
    auto inside = scf::IfOp::create(b, loc, less(mine, sizes[rowDim]), false);
    b.setInsertionPointToStart(inside.thenBlock());
    placeRow(row);
    for (int64_t i = 0; i < own; ++i) {
      Value place = featureAt(i);
      OpBuilder::InsertionGuard featureGuard(b);
      if (features % kPart != 0) {
        auto has =
            scf::IfOp::create(b, loc, less(place, sizes[feature]), false);
        b.setInsertionPointToStart(has.thenBlock());
      }
      at[feature] = place;
      store(carried.totals[row * own + i], *target);
    }
    if (!last || carried.sum.empty())
      continue;
    auto first = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, laneOfRow, index(0)), false);
    b.setInsertionPointToStart(first.thenBlock());
    if (isSoftmax)
      store(carried.most[row], states[0]);
    store(carried.sum[row], isSoftmax ? states[1] : states[0]);
  }
}

/// Passes for all features of `target`.
void PairSteps::passes(Weigh weigh, unsigned rowDimOf, const Tensor &target,
                       unsigned feature, const Tensor &factor) {
  for (int64_t slab = 0; slab < sizeOf(feature); slab += kSlab)
    pass(weigh, rowDimOf, &target, feature, &factor, slab,
         slab + kSlab >= sizeOf(feature));
}

/// The gradient of extra number `which`: a thread for each element, or a block
/// where many pairs add to one.
void PairSteps::extraGradient(unsigned which) {
  OpBuilder::InsertionGuard outside(b);
  const Tensor &target = states[3 + which];
  SmallVector<unsigned> own, others;
  for (unsigned dim : llvm::seq(q + 2))
    (target.has(dim) ? own : others).push_back(dim);
  auto countOf = [&](ArrayRef<unsigned> dims) {
    SmallVector<Value> all;
    for (unsigned dim : dims)
      all.push_back(sizes[dim]);
    return product(b, loc, all);
  };
  Value elements = countOf(own), terms = countOf(others);
  bool shares = !target.has(q) || !target.has(k);
  Value point, from, step;
  Value sums;
  if (shares) {
    gpu::LaunchOp launch = beginLaunch(b, loc, elements, kThreads);
    auto space = gpu::AddressSpaceAttr::get(b.getContext(),
                                            gpu::AddressSpace::Workgroup);
    sums = launch.addWorkgroupAttribution(
        MemRefType::get({kThreads}, type, MemRefLayoutAttrInterface(), space),
        loc);
    point = launch.getBlockIds().x;
    from = thread = launch.getThreadIds().x;
    step = index(kThreads);
  } else {
    point = beginLaunchOf(b, loc, elements, kThreads);
    from = index(0);
    step = index(1);
  }
  auto place = [&](ArrayRef<unsigned> dims, Value number) {
    for (unsigned dim : llvm::reverse(dims)) {
      at[dim] = arith::RemUIOp::create(b, loc, number, sizes[dim]);
      number = arith::DivUIOp::create(b, loc, number, sizes[dim]);
    }
  };
  place(own, point);
  auto loop =
      scf::ForOp::create(b, loc, from, terms, step, ValueRange(number(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    place(others, loop.getInductionVar());
    auto dot = [&](const Tensor &x, const Tensor &y, unsigned dim,
                   Region *pair) -> Value {
      auto along = scf::ForOp::create(b, loc, index(0), sizes[dim], index(1),
                                      ValueRange(number(0)));
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToEnd(along.getBody());
      at[dim] = along.getInductionVar();
      Value left = load(x), right = load(y), sum = along.getRegionIterArg(0);
      sum = pair ? arith::AddFOp::create(b, loc, sum,
                                         evaluate(*pair, {left, right}, {}))
                       .getResult()
                 : math::FmaOp::create(b, loc, left, right, sum).getResult();
      scf::YieldOp::create(b, loc, sum);
      return along.getResult(0);
    };
    Value raw =
        dot(query, key, d, op.getPair().empty() ? nullptr : &op.getPair());
    Value dp = dot(rows[2], value, e, nullptr);
    Value counts = inBand();
    if (!counts)
      counts = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value term = backwardScore(raw, dp, counts, /*slope=*/true, 1 + which);
    scf::YieldOp::create(
        b, loc,
        arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), term)
            .getResult());
  }
  Value sum = loop.getResult(0);
  if (shares) {
    memref::StoreOp::create(b, loc, sum, sums, thread);
    for (int64_t half = kThreads / 2; half > 0; half /= 2) {
      gpu::BarrierOp::create(b, loc);
      auto some = scf::IfOp::create(b, loc, less(thread, index(half)), false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      Value mine = memref::LoadOp::create(b, loc, sums, thread);
      Value theirs =
          memref::LoadOp::create(b, loc, sums, add(thread, index(half)));
      memref::StoreOp::create(
          b, loc, arith::AddFOp::create(b, loc, mine, theirs), sums, thread);
    }
    auto first = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, thread, index(0)), false);
    b.setInsertionPointToStart(first.thenBlock());
    sum = memref::LoadOp::create(b, loc, sums, thread);
  }
  store(arith::AddFOp::create(b, loc, load(target), sum), target);
}

void PairSteps::emit() {
  if (op.getBackward()) {
    passes(Weigh::Slopes, q, states[0], d, key);
    passes(Weigh::Slopes, k, states[1], d, query);
    passes(Weigh::Weights, k, states[2], e, rows[2]);
    for (unsigned which : llvm::seq<unsigned>(states.size() - 3))
      extraGradient(which);
    return;
  }
  if (!op.getValue())
    return pass(Weigh::Forward, q, nullptr, e, nullptr, 0, true);
  bool isSoftmax = op.getCombine() == PairCombine::Softmax;
  passes(Weigh::Forward, q, states[isSoftmax ? 2 : 0], e, value);
}

LogicalResult gpukernels::launchPairStep(PairStepOp op) {
  if (failed(cpu::verifyPairStep(op)))
    return failure();
  PairSteps(op).emit();
  op.erase();
  return success();
}
