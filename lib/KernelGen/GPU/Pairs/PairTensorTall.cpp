//===- PairTensorTall.cpp - Two tiles of rows in tensor memory ------------===//
//
// A block has two tiles of 128 rows, and a warpgroup for each. A warp loads the
// rows once, then tile after tile of columns through a ring of stages. While
// one tile's weights are found, the products of the other are under way.
//
//===----------------------------------------------------------------------===//
#include "PairTensorMemory.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Tiles of rows of a block.
static constexpr int64_t kTiles = kConsumers;
/// The warp that loads. [shape]
static constexpr int64_t kLoads = 0;
/// Tensors that a stage has a tile of. [shape]
static constexpr int64_t kParts = 2;

namespace {
class TallSteps final : public TensorMemorySteps {
public:
  TallSteps(PairBlock &block, Ring &ring, gpu::LaunchOp launch)
      : TensorMemorySteps(block, ring, launch, kParts,
                          /*ownBytes=*/16 * kTiles) {}

private:
  void initBarriers() override;
  void load() override;
  void multiply() override;
  void findWeights(Value own) override;
  std::pair<int64_t, int64_t> registers() const override {
    // Descriptors of two products' rows stay in registers.
    if (products() > 1)
      return {104, 200};
    return {kFewRegisters, kManyRegisters};
  }
  int64_t usedColumns() const override {
    return kTiles * (scoreColumns() + sumColumns());
  }

  void loadAll();
  void multiplyScores(Value tile, Value stage);
  void multiplyWeights(Value tile, Value stage);
  /// mbarriers of a tile of rows: its scores (or, in the end, its sums) are
  /// there, its weights are.
  Value made(Value tile) { return ownAt(tile, 0); }
  Value weighed(Value tile) { return ownAt(tile, 8); }
  Value ownAt(Value tile, int64_t more) {
    return block.sharedByte(shared.own(more), block.mul(tile, 16));
  }
  /// Tensor memory: behind scores sums of each tile.
  int64_t sumColumns() const { return pass.parts() * kPart; }
  Value sumsAt(Value address, Value tile) {
    return behind(address, block.add(block.index(kTiles * scoreColumns()),
                                     block.mul(tile, sumColumns())));
  }
  /// What of a stage weights are multiplied with; and whether scores are
  /// products of that as well, and so wait for it.
  int64_t factor() const { return static_cast<int64_t>(ring.factor); }
  bool isOfScores(int64_t part) const { return part < products(); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Who loads, and who multiplies
//===----------------------------------------------------------------------===//

void TallSteps::initBarriers() {
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    w.init(made(block.index(tile)), 1);
    w.init(weighed(block.index(tile)), kGroup / kWarp);
  }
}

void TallSteps::load() {
  onlyOneOf(block.thread, kLoads * kWarp, [&] { loadAll(); });
}

void TallSteps::loadAll() {
  loadRows();
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
void TallSteps::multiplyScores(Value tile, Value stage) {
  Value area = shared.at(shared.stageOffset(stage));
  Value to = scoresAt(allocated(), tile);
  for (int64_t which = 0; which < products(); ++which) {
    const Panels &left = ring.lefts[which], &right = ring.tiles[which];
    Value rows = shared.panelsAt(shared.base, ring.lefts, which);
    Value leftIs = t.describe(
        block.sharedByte(rows, block.mul(tile, kTensorRows * kRow)), 0);
    Value rightIs = t.describe(shared.panelsAt(area, ring.tiles, which), 0);
    for (int64_t from = 0; from < left.length; from += kTensorStep) {
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
void TallSteps::multiplyWeights(Value tile, Value stage) {
  const Panels &right = ring.tiles[factor()];
  Value area = shared.at(shared.stageOffset(stage));
  Value rightIs = t.describe(shared.panelsAt(area, ring.tiles, factor()),
                             right.panelBytes());
  Value address = allocated(), to = sumsAt(address, tile);
  Value weights = scoresAt(address, tile);
  Value adds = arith::ConstantIntOp::create(b, loc, 1, 1);
  for (int64_t row = 0; row < block.shape.columns; row += kTensorStep)
    t.multiply(to, behind(weights, row / kTensorStep * kTensorStepColumns),
               w.moved(rightIs, row * kRow), adds, step.half, sumColumns(),
               /*leftLines=*/false, /*rightLines=*/true);
}

/// The weights of a tile of columns are multiplied behind the scores of the
/// next: what is carried is its stage, that before, and the parity of weights.
void TallSteps::multiply() {
  w.wait(shared.rows(), w.number(0));
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
      onlyIf(begun, [&] { addWeighted(which, before, parityBefore, weights); });
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
    onlyIf(carried.ring[5], [&] {
      addWeighted(which, carried.ring[2], carried.ring[3], carried.ring[4]);
    });
    forOne([&] { t.commit(made(block.index(which))); });
  }
}

//===----------------------------------------------------------------------===//
// Who finds weights
//===----------------------------------------------------------------------===//

void TallSteps::findWeights(Value own) {
  Value tile = w.sameInWarp(block.div(own, kGroup));
  block.rowOfThread = own;
  block.laneOfRow = block.index(0);
  bool isSoftmax = step.keepsSoftmax(pass);
  PairPass kept = keptOf();
  Carried carried;
  if (isSoftmax) {
    carried = block.beginRows(kept);
    carried.totals = {carried.most[0]}; // what weights are relative to
  }
  carried.ring = {w.number(0)};
  Value address = lanesOf(allocated(), own);
  Value scores = scoresAt(address, tile), sums = sumsAt(address, tile);
  block.placeRow(0);
  beginSums(sums, 0, sumColumns());
  carried = block.overColumns(carried, [&](Value column, Carried now) {
    block.firstColumn = column;
    w.wait(made(tile), now.ring[0]);
    t.fenceAfter();
    if (isSoftmax) {
      RowSoftmax row(block, Scores::laterScale(block).value_or(1),
                     now.totals[0], now.most[0], now.sum[0]);
      // All that was multiplied before the scores is done.
      weighScores(scores, row,
                  [&] { rescaleSums(sums, sumColumns(), row.sumsFactor); });
    } else {
      weighGradients(scores);
    }
    t.waitForStores();
    t.fenceBefore();
    arriveAsWarp(weighed(tile));
    now.ring = {block.bitXor(now.ring[0], w.number(1))};
    return now;
  });
  w.wait(made(tile), carried.ring[0]);
  t.fenceAfter();
  block.placeRow(0);
  if (!isSoftmax)
    return storeSums(sums, 0, sumColumns(), Value());
  RowSoftmax row(block, 1, carried.totals[0], carried.most[0], carried.sum[0]);
  Value factor = row.powerOf(carried.totals[0], carried.most[0]);
  carried.sum[0] = arith::MulFOp::create(b, loc, carried.sum[0], factor);
  storeSums(sums, 0, sumColumns(), factor);
  carried.totals.clear();
  block.finishRows(kept, carried);
}

std::unique_ptr<TensorMemorySteps>
gpukernels::pairs::makeTallSteps(PairBlock &block, Ring &ring,
                                 gpu::LaunchOp launch) {
  return std::make_unique<TallSteps>(block, ring, launch);
}
