//===- PairTensorMemory.cpp - Steps of attention on sm_100a ---------------===//
//
// A block has two tiles of 128 rows, and a warpgroup for each; a warp of a
// third warpgroup loads, one multiplies. One thread of the first loads the rows
// once, then tile after tile of columns through a ring of stages. One of the
// second begins products (tcgen05.mma), whose sums are in tensor memory. A
// thread of a tile's warpgroup has a whole row of its scores: it loads them,
// and stores their weights, rounded to 16 bits, in their place, where the
// second product reads its left matrix. While one tile's weights are found, the
// products of the other are under way. A thread's products are carried out in
// their order, so that scores may take the place of weights that a product
// before reads.
//
// Sums stay in tensor memory as well. Weights are relative to a score of the
// row that need not be its largest: only when one is found that is greater by
// more than 2^8, sums are loaded, rescaled and stored. What a row has come to
// in the end is relative to its largest.
//
//===----------------------------------------------------------------------===//
#include "../TensorMemory.h"
#include "PairFragments.h"
#include "PairRing.h"
#include "PairScores.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include <numbers>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// The depth of one product, and columns of tensor memory that it takes of a
/// left matrix that is there.
static constexpr int64_t kStep = 16, kStepColumns = kStep / 2;
/// Tiles of rows of a block.
static constexpr int64_t kTiles = kConsumers;
/// Columns of tensor memory that a thread loads or stores at once.
static constexpr int64_t kColumnsAtOnce = 32;
/// How much more than what weights are relative to a score may be: weights are
/// at most 2^8, of which f16 adds up many.
static constexpr double kHeadroom = 8 / std::numbers::log2e;
/// Sums that are added up side by side, so that none waits for the last.
static constexpr int64_t kChains = 4;
/// Registers of a thread that multiplies, and of one that works on scores,
/// where descriptors of two products' rows stay in registers.
static constexpr int64_t kSomeRegisters = 104, kOtherRegisters = 200;
/// The warps of the first warpgroup that load, and that multiply.
static constexpr int64_t kLoads = 0, kMultiplies = 1;
/// Tensors that a stage has a tile of.
static constexpr int64_t kParts = 2;

namespace {
/// A softmax's row of one thread, whose scores are in pairs: two at once are
/// multiplied and added.
class RowSoftmax final : public ThreadRow {
public:
  /// Scores are `scale` times what is taken. `base`: what weights are relative
  /// to.
  RowSoftmax(PairBlock &block, double scale, Value &base, Value &largest,
             Value &sum)
      : ThreadRow(block, base, sum), scale(scale), largest(largest) {}

  Value rises; ///< whether the base does

  /// exp(from - to): 1 where they are the same.
  Value powerOf(Value from, Value to);

private:
  Type pairType() { return VectorType::get({2}, block.step.type); }
  Value both(Value value) {
    return vector::BroadcastOp::create(b, loc, pairType(), value);
  }
  Value half(Value pair, int64_t which) {
    return vector::ExtractOp::create(b, loc, pair, which);
  }
  /// All of `values`, combined in chains.
  Value combine(ArrayRef<Value> values,
                llvm::function_ref<Value(Value, Value)> two);

  Value raise(Value old, Value most) override;
  Value largestOf(ArrayRef<Value> scores) override;
  Value sumOf(ArrayRef<Value> weights) override;
  void setBase(Value value) override { relativeTo = value; }
  Value power(Value pair) override;
  Value factorOf(Value old) override {
    return block.choose(rises, powerOf(old, relativeTo), number(1));
  }

  double scale;
  Value &largest;
  Value relativeTo; ///< the base, or 0 where that is -inf
};

/// The kernel of one pass.
class TensorMemorySteps {
public:
  TensorMemorySteps(PairBlock &block, Ring &ring, gpu::LaunchOp launch)
      : block(block), b(block.b), loc(block.loc), step(block.step),
        pass(block.pass), w(b, loc), t(b, loc), ring(ring),
        shared(block, ring, launch, kParts, /*ownBytes=*/16 * kTiles + 8) {}

  void emit();

private:
  // Roles.
  void load();
  void multiply();
  void findWeights();

  void multiplyScores(Value tile, Value stage);
  void multiplyWeights(Value tile, Value stage);
  void beginSums(Value sums);
  void rescaleSums(Value sums, Value factor);
  void storeSums(Value sums, Value factor);
  SmallVector<Value> softmaxOf(ArrayRef<Value> raw, Value sums,
                               Carried &carried);
  void storeWeights(Value address, ArrayRef<Value> pairs);
  void storeGradients(Value scores);
  void onlyOneOf(Value warp, int64_t which, llvm::function_ref<void()> body);

  /// mbarriers of a tile of rows: its scores (or, in the end, its sums) are
  /// there, its weights are.
  Value made(Value tile) { return ownAt(tile, 0); }
  Value weighed(Value tile) { return ownAt(tile, 8); }
  Value ownAt(Value tile, int64_t more) {
    return block.sharedByte(shared.own(more), block.mul(tile, 16));
  }
  /// Where tensor memory's address is kept.
  Value slot() { return shared.own(16 * kTiles); }
  Value allocated() {
    return LLVM::LoadOp::create(b, loc, b.getI32Type(), slot(), 4);
  }
  /// The same columns of tensor memory from `columns` on.
  Value behind(Value address, Value columns) {
    return arith::AddIOp::create(b, loc, address, block.toI32(columns));
  }
  Value behind(Value address, int64_t columns) {
    return behind(address, block.index(columns));
  }
  /// Tensor memory: of each tile what scores (and gradients of weights) are,
  /// then sums of each.
  int64_t products() const { return static_cast<int64_t>(ring.lefts.size()); }
  int64_t scoreColumns() const { return products() * block.shape.columns; }
  int64_t sumColumns() const { return pass.parts() * kPart; }
  int64_t allColumns() const {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(kTiles * (scoreColumns() + sumColumns())));
  }
  Value scoresAt(Value address, Value tile) {
    return behind(address, block.mul(tile, scoreColumns()));
  }
  Value sumsAt(Value address, Value tile) {
    return behind(address, block.add(block.index(kTiles * scoreColumns()),
                                     block.mul(tile, sumColumns())));
  }
  /// What of a stage weights are multiplied with; and whether scores are
  /// products of that as well, and so wait for it.
  int64_t factor() const { return static_cast<int64_t>(ring.factor); }
  bool isOfScores(int64_t part) const { return part < products(); }
  /// All words of a thread's lane of `columns` columns.
  SmallVector<Value> loadColumns(Value address, int64_t columns);
  /// Neighbours of `values`, which have an even number.
  SmallVector<Value> inPairs(ArrayRef<Value> values);
  Value fourAt(int64_t feature);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  const Step &step;
  const PairPass &pass;
  WarpgroupBuilder w;
  TensorMemoryBuilder t;
  Ring &ring;
  SharedRing shared;
};
} // namespace

//===----------------------------------------------------------------------===//
// A row
//===----------------------------------------------------------------------===//

Value RowSoftmax::combine(ArrayRef<Value> values,
                          llvm::function_ref<Value(Value, Value)> two) {
  size_t chains = std::min<size_t>(kChains, values.size());
  SmallVector<Value> parts(values.take_front(chains));
  for (size_t i = chains; i < values.size(); ++i)
    parts[i % chains] = two(parts[i % chains], values[i]);
  Value all = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    all = two(all, part);
  return all;
}

Value RowSoftmax::largestOf(ArrayRef<Value> scores) {
  SmallVector<Value> all;
  for (Value pair : scores)
    all.append({half(pair, 0), half(pair, 1)});
  Value most = combine(all, [&](Value x, Value y) { return greater(x, y); });
  if (scale != 1)
    most = arith::MulFOp::create(b, loc, most, number(scale));
  return most;
}

Value RowSoftmax::sumOf(ArrayRef<Value> weights) {
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  Value all = combine(weights, add);
  return add(half(all, 0), half(all, 1));
}

Value RowSoftmax::raise(Value old, Value most) {
  largest = greater(most, largest);
  Value limit = arith::AddFOp::create(b, loc, old, number(kHeadroom));
  rises = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, most, limit);
  return block.choose(rises, most, old);
}

Value RowSoftmax::power(Value pair) {
  Value less =
      arith::MulFOp::create(b, loc, relativeTo, number(-std::numbers::log2e));
  Value exponents = math::FmaOp::create(
      b, loc, pair, both(number(scale * std::numbers::log2e)), both(less));
  SmallVector<Value> powers;
  for (int64_t which : {0, 1})
    powers.push_back(LLVM::Exp2Op::create(b, loc, block.step.type,
                                          half(exponents, which),
                                          LLVM::FastmathFlags::afn));
  return vector::FromElementsOp::create(b, loc, cast<VectorType>(pairType()),
                                        powers);
}

Value RowSoftmax::powerOf(Value from, Value to) {
  Exponential exponential(block, /*isShort=*/true);
  return exponential.ratio(from, exponential.baseOf(to), to);
}

//===----------------------------------------------------------------------===//
// Who loads, and who multiplies
//===----------------------------------------------------------------------===//

void TensorMemorySteps::load() {
  w.arriveExpecting(shared.rows(), ring.leftBytes());
  for (auto [i, rows] : llvm::enumerate(ring.lefts))
    loadBoxes(block, rows, block.firstRow,
              shared.panelsAt(shared.base, ring.lefts, i), shared.rows());
  // A ring that nobody has used is empty: the phase before the first is over.
  Carried carried;
  carried.ring = {block.index(0), w.number(1)};
  block.overColumns(carried, [&](Value column, Carried now) {
    Value stage = now.ring[0], parity = now.ring[1];
    Value area = shared.at(shared.stageOffset(stage));
    for (int64_t part = 0; part < kParts; ++part) {
      const Panels &panels = ring.tiles[part];
      Value full = shared.full(stage, part);
      w.wait(shared.empty(stage, part), parity);
      w.arriveExpecting(full, panels.bytes());
      loadBoxes(block, panels, column, shared.panelsAt(area, ring.tiles, part),
                full);
    }
    auto [next, flips] = w.advance(stage, parity, ring.stages);
    now.ring = {next, flips};
    return now;
  });
}

/// Begins the products of the rows of `tile` and the columns of `stage`.
void TensorMemorySteps::multiplyScores(Value tile, Value stage) {
  Value area = shared.at(shared.stageOffset(stage));
  Value to = scoresAt(allocated(), tile);
  for (int64_t which = 0; which < products(); ++which) {
    const Panels &left = ring.lefts[which], &right = ring.tiles[which];
    Value rows = shared.panelsAt(shared.base, ring.lefts, which);
    Value leftIs = t.describe(
        block.sharedByte(rows, block.mul(tile, kTensorRows * kRow)), 0);
    Value rightIs = t.describe(shared.panelsAt(area, ring.tiles, which), 0);
    for (int64_t from = 0; from < left.length; from += kStep) {
      int64_t panel = from / kPerRowBytes, inRow = from % kPerRowBytes * 2;
      t.multiply(behind(to, which * block.shape.columns),
                 w.moved(leftIs, panel * left.panelBytes() + inRow),
                 w.moved(rightIs, panel * right.panelBytes() + inRow),
                 arith::ConstantIntOp::create(b, loc, from > 0, 1), step.half,
                 block.shape.columns, /*leftLines=*/false,
                 /*rightLines=*/false);
    }
  }
}

/// Begins to add the products of the weights of `tile` and the pass's factor,
/// of `stage`.
void TensorMemorySteps::multiplyWeights(Value tile, Value stage) {
  const Panels &right = ring.tiles[factor()];
  Value area = shared.at(shared.stageOffset(stage));
  Value rightIs = t.describe(shared.panelsAt(area, ring.tiles, factor()),
                             right.panelBytes());
  Value address = allocated(), to = sumsAt(address, tile);
  Value weights = scoresAt(address, tile);
  Value adds = arith::ConstantIntOp::create(b, loc, 1, 1);
  for (int64_t row = 0; row < block.shape.columns; row += kStep)
    t.multiply(to, behind(weights, row / kStep * kStepColumns),
               w.moved(rightIs, row * kRow), adds, step.half, sumColumns(),
               /*leftLines=*/false, /*rightLines=*/true);
}

/// The weights of a tile of columns are multiplied behind the scores of the
/// next: what is carried is its stage, that before, and the parity of weights.
void TensorMemorySteps::multiply() {
  w.wait(shared.rows(), w.number(0));
  auto forOne = [&](auto body) {
    auto one = scf::IfOp::create(b, loc, t.elect(), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(one.thenBlock());
    body();
  };
  auto addWeighted = [&](int64_t which, Value stage, Value parity,
                         Value weightParity) {
    Value tile = block.index(which);
    if (which == 0 && !isOfScores(factor()))
      w.wait(shared.full(stage, factor()), parity);
    w.wait(weighed(tile), weightParity);
    t.fenceAfter();
    forOne([&] {
      multiplyWeights(tile, stage);
      if (which == kTiles - 1)
        t.commit(shared.empty(stage, factor()));
    });
  };
  auto ifBegun = [&](Value begun, auto body) {
    auto some = scf::IfOp::create(b, loc, begun, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.thenBlock());
    body();
  };
  Carried carried;
  carried.ring = {block.index(0), w.number(0),
                  block.index(0), w.number(0),
                  w.number(1),    arith::ConstantIntOp::create(b, loc, 0, 1)};
  carried = block.overColumns(carried, [&](Value, Carried now) {
    Value stage = now.ring[0], parity = now.ring[1], before = now.ring[2],
          parityBefore = now.ring[3], weights = now.ring[4],
          begun = now.ring[5];
    for (int64_t which = 0; which < kTiles; ++which) {
      Value tile = block.index(which);
      ifBegun(begun,
              [&] { addWeighted(which, before, parityBefore, weights); });
      for (int64_t part = 0; which == 0 && part < products(); ++part)
        w.wait(shared.full(stage, part), parity);
      forOne([&] {
        multiplyScores(tile, stage);
        t.commit(made(tile));
        if (which == kTiles - 1)
          t.commit(shared.empty(stage, 1 - factor()));
      });
    }
    auto [next, flips] = w.advance(stage, parity, ring.stages);
    now.ring = {next,
                flips,
                stage,
                parity,
                block.bitXor(weights, w.number(1)),
                arith::ConstantIntOp::create(b, loc, 1, 1)};
    return now;
  });
  for (int64_t which = 0; which < kTiles; ++which) {
    ifBegun(carried.ring[5], [&] {
      addWeighted(which, carried.ring[2], carried.ring[3], carried.ring[4]);
    });
    forOne([&] { t.commit(made(block.index(which))); });
  }
}

//===----------------------------------------------------------------------===//
// Who finds weights
//===----------------------------------------------------------------------===//

SmallVector<Value> TensorMemorySteps::loadColumns(Value address,
                                                  int64_t columns) {
  SmallVector<Value> parts, words;
  for (int64_t from = 0; from < columns; from += kColumnsAtOnce)
    parts.push_back(t.load(behind(address, from), kColumnsAtOnce));
  t.waitForLoads();
  for (Value part : parts)
    for (int64_t i = 0; i < kColumnsAtOnce; ++i)
      words.push_back(t.element(part, i));
  return words;
}

SmallVector<Value> TensorMemorySteps::inPairs(ArrayRef<Value> values) {
  auto two = VectorType::get({2}, step.type);
  SmallVector<Value> pairs;
  for (size_t at = 0; at < values.size(); at += 2)
    pairs.push_back(vector::FromElementsOp::create(
        b, loc, two, ValueRange{values[at], values[at + 1]}));
  return pairs;
}

/// The address of four features of the thread's row, from `feature` on.
Value TensorMemorySteps::fourAt(int64_t feature) {
  block.at[pass.feature] = block.index(feature);
  return addressOf(b, loc, pass.target->memref, block.subscripts(*pass.target));
}

/// Stores what the thread's row has come to before to its sums.
void TensorMemorySteps::beginSums(Value sums) {
  int64_t all = step.sizeOf(pass.feature);
  Type four = VectorType::get({4}, step.type);
  for (int64_t from = 0; from < sumColumns(); from += kColumnsAtOnce) {
    SmallVector<Value> words;
    for (int64_t at = from; at < from + kColumnsAtOnce; at += 4) {
      Value loaded;
      if (at < all)
        loaded = LLVM::LoadOp::create(b, loc, four, fourAt(at), 16);
      for (int64_t i = 0; i < 4; ++i)
        words.push_back(
            loaded ? vector::ExtractOp::create(b, loc, loaded, i).getResult()
                   : block.number(0));
    }
    t.store(behind(sums, from), words);
  }
  t.waitForStores();
}

/// Multiplies the sums of the warp's rows by `factor`, one a row.
void TensorMemorySteps::rescaleSums(Value sums, Value factor) {
  auto loop =
      scf::ForOp::create(b, loc, block.index(0), block.index(sumColumns()),
                         block.index(kColumnsAtOnce));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value address = behind(sums, loop.getInductionVar());
  SmallVector<Value> words = loadColumns(address, kColumnsAtOnce);
  Value both = vector::BroadcastOp::create(
      b, loc, VectorType::get({2}, step.type), factor);
  SmallVector<Value> scaled;
  for (Value pair : inPairs(words)) {
    Value two = arith::MulFOp::create(b, loc, pair, both);
    for (int64_t which : {0, 1})
      scaled.push_back(vector::ExtractOp::create(b, loc, two, which));
  }
  t.store(address, scaled);
}

/// Stores the sums of the warp's rows, times `factor` (null: 1), where they
/// belong.
void TensorMemorySteps::storeSums(Value sums, Value factor) {
  int64_t all = step.sizeOf(pass.feature);
  Value inside = block.lessSigned(block.add(block.firstRow, block.rowAt(0)),
                                  step.sizes[pass.rowDim]);
  for (int64_t from = 0; from < all; from += kColumnsAtOnce) {
    // All lanes of a warp load.
    SmallVector<Value> words = loadColumns(behind(sums, from), kColumnsAtOnce);
    auto stores = scf::IfOp::create(b, loc, inside, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(stores.thenBlock());
    for (int64_t at = 0; at < std::min(kColumnsAtOnce, all - from); at += 4) {
      SmallVector<Value> four;
      for (Value word : ArrayRef(words).slice(at, 4))
        four.push_back(
            factor ? arith::MulFOp::create(b, loc, word, factor).getResult()
                   : word);
      Value together = vector::FromElementsOp::create(
          b, loc, VectorType::get({4}, step.type), four);
      LLVM::StoreOp::create(b, loc, together, fourAt(from + at), 16);
    }
  }
}

/// The weights of the thread's row in a tile, two neighbours each, of scores
/// `raw`. `carried` takes in what the row keeps.
SmallVector<Value> TensorMemorySteps::softmaxOf(ArrayRef<Value> raw, Value sums,
                                                Carried &carried) {
  SmallVector<Value> pairs = inPairs(Scores(block).counted(raw));
  RowSoftmax row(block, Scores::laterScale(block).value_or(1),
                 carried.totals[0], carried.most[0], carried.sum[0]);
  row.take(pairs);
  // All that was multiplied before the scores is done.
  Value some = NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), w.number(-1),
                                        row.rises, NVVM::VoteSyncKind::any);
  auto any = scf::IfOp::create(b, loc, some, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(any.thenBlock());
  rescaleSums(sums, row.factor);
  return pairs;
}

/// Stores words of two neighbours of a row's weights each, in 16 bits, to
/// `address` and what is behind.
void TensorMemorySteps::storeWeights(Value address, ArrayRef<Value> pairs) {
  SmallVector<Value> words;
  for (Value pair : pairs)
    words.push_back(
        arith::TruncFOp::create(b, loc, VectorType::get({2}, step.half), pair));
  auto all = static_cast<int64_t>(words.size());
  int64_t atOnce = std::min(all, kColumnsAtOnce);
  for (int64_t at = 0; at < all; at += atOnce)
    t.store(behind(address, at), ArrayRef(words).slice(at, atOnce));
}

/// The same backward: weights, or slopes, which are stored where scores are.
/// Some columns at a time, so that what a column has is in registers for a
/// short while; weights take half the place of scores that have been loaded.
void TensorMemorySteps::storeGradients(Value scores) {
  auto loop = scf::ForOp::create(b, loc, block.index(0),
                                 block.index(block.shape.columns),
                                 block.index(kColumnsAtOnce));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar(), column = block.firstColumn;
  block.firstColumn = block.add(column, from);
  SmallVector<SmallVector<Value>> made;
  for (int64_t which = 0; which < products(); ++which)
    made.push_back(
        loadColumns(behind(behind(scores, which * block.shape.columns), from),
                    kColumnsAtOnce));
  Gradient gradient(block, /*rounds=*/true);
  SmallVector<Value> weights;
  for (int64_t own = 0; own < kColumnsAtOnce; ++own) {
    Value counts = block.countsAt(own);
    Value raw = made[0][own], power = gradient.power(raw, counts);
    weights.push_back(pass.weigh == Weigh::Weights
                          ? gradient.weight(power, counts)
                          : gradient.slope(power, raw, made[1][own], counts));
  }
  storeWeights(behind(scores, block.div(from, 2)), inPairs(weights));
  block.firstColumn = column;
}

void TensorMemorySteps::findWeights() {
  Value own = block.sub(block.thread, block.index(kGroup));
  Value tile = w.sameInWarp(block.div(own, kGroup));
  block.rowOfThread = own;
  block.laneOfRow = block.index(0);
  bool isSoftmax = step.keepsSoftmax(pass);
  // What a row keeps beside its sums.
  PairPass kept = pass;
  kept.features = 0;
  Carried carried;
  if (isSoftmax) {
    carried = block.beginRows(kept);
    carried.totals = {carried.most[0]}; // what weights are relative to
  }
  carried.ring = {w.number(0)};
  Value lanes = w.sameInWarp(
      block.mul(block.div(block.rem(own, kGroup), kWarp), kWarp << 16));
  Value address = behind(allocated(), lanes);
  Value scores = scoresAt(address, tile), sums = sumsAt(address, tile);
  block.placeRow(0);
  beginSums(sums);
  carried = block.overColumns(carried, [&](Value column, Carried now) {
    block.firstColumn = column;
    w.wait(made(tile), now.ring[0]);
    t.fenceAfter();
    if (isSoftmax)
      storeWeights(scores,
                   softmaxOf(loadColumns(scores, scoreColumns()), sums, now));
    else
      storeGradients(scores);
    t.waitForStores();
    t.fenceBefore();
    NVVM::SyncWarpOp::create(b, loc, w.number(-1));
    onlyOneOf(block.rem(block.thread, kWarp), 0,
              [&] { w.arrive(weighed(tile)); });
    now.ring = {block.bitXor(now.ring[0], w.number(1))};
    return now;
  });
  w.wait(made(tile), carried.ring[0]);
  t.fenceAfter();
  block.placeRow(0);
  if (!isSoftmax)
    return storeSums(sums, Value());
  RowSoftmax row(block, 1, carried.totals[0], carried.most[0], carried.sum[0]);
  Value factor = row.powerOf(carried.totals[0], carried.most[0]);
  carried.sum[0] = arith::MulFOp::create(b, loc, carried.sum[0], factor);
  storeSums(sums, factor);
  carried.totals.clear();
  block.finishRows(kept, carried);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void TensorMemorySteps::onlyOneOf(Value number, int64_t which,
                                  llvm::function_ref<void()> body) {
  auto only =
      scf::IfOp::create(b, loc, block.equal(number, block.index(which)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(only.thenBlock());
  body();
}

void TensorMemorySteps::emit() {
  describeBoxes(b, loc, ring);
  Value warp = w.sameInWarp(block.div(block.thread, kWarp));
  onlyOneOf(block.thread, 0, [&] {
    for (int64_t stage = 0; stage < ring.stages; ++stage)
      for (int64_t part = 0; part < kParts; ++part) {
        w.init(shared.full(block.index(stage), part), 1);
        w.init(shared.empty(block.index(stage), part), 1);
      }
    w.init(shared.rows(), 1);
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      w.init(made(block.index(tile)), 1);
      w.init(weighed(block.index(tile)), kGroup / kWarp);
    }
    w.fenceInit();
  });
  onlyOneOf(warp, kMultiplies, [&] {
    t.allocate(slot(), allColumns());
    t.fenceBefore();
  });
  gpu::BarrierOp::create(b, loc);
  t.fenceAfter();
  auto roles = scf::IfOp::create(
      b, loc, block.lessSigned(warp, block.index(kGroup / kWarp)),
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(roles.thenBlock());
    w.setRegisters(products() > 1 ? kSomeRegisters : kFewRegisters,
                   /*more=*/false);
    onlyOneOf(block.thread, kLoads * kWarp, [&] { load(); });
    onlyOneOf(warp, kMultiplies, [&] { multiply(); });
    b.setInsertionPointToStart(roles.elseBlock());
    w.setRegisters(products() > 1 ? kOtherRegisters : kManyRegisters,
                   /*more=*/true);
    findWeights();
  }
  // All that was loaded has been: tensor memory is given back.
  t.fenceBefore();
  gpu::BarrierOp::create(b, loc);
  onlyOneOf(warp, kMultiplies, [&] {
    t.fenceAfter();
    t.release(allocated(), allColumns());
  });
}

bool gpukernels::pairs::fitsTensorMemory(const Step &step, const PairPass &of) {
  PairPass pass = of;
  return planTensorMemory(step, pass).has_value();
}

bool gpukernels::pairs::launchOnTensorMemory(OpBuilder &b, const Step &step,
                                             const PairPass &of) {
  PairPass pass = of;
  std::optional<RingPlan> plan = planTensorMemory(step, pass);
  if (!plan)
    return false;
  OpBuilder::InsertionGuard outside(b);
  PairBlock block(b, step, pass, plan->shape);
  gpu::LaunchOp launch = block.launch((1 + kConsumers) * kGroup);
  spmd::contract::Gpu::set(launch, b.getStringAttr("sm_100a"));
  TensorMemorySteps(block, plan->ring, launch).emit();
  return true;
}
