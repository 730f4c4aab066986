//===- PairTensorWide.cpp - Rows of many features in tensor memory --------===//
//
// Sums of more than 128 features leave room in tensor memory for one tile of
// 128 rows, and for scores of two tiles of columns. Two warpgroups take these
// alternately, so that weights of one are found while products of the other are
// under way; both have all rows.
//
// What weights are relative to goes from one warpgroup to the other through
// shared memory, as soon as the greatest score of the tile is known. Each
// warpgroup keeps the sum of its own weights, and in the end one adds up both.
//
// Panels of 64 features of a tile come through a ring, stage by stage: of what
// scores are products of, and by another warp of what weights are multiplied
// with. The weights of a tile are multiplied behind the scores of the next.
//
//===----------------------------------------------------------------------===//
#include "PairTensorMemory.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Slots of tensor memory, one a warpgroup, with the scores of a tile of
/// columns.
static constexpr int64_t kSlots = kConsumers;
/// The parts of a stage, each with the warp that loads it: what scores are of,
/// and what weights are multiplied with. [shape]
static constexpr int64_t kOfScores = 0, kOfSums = 1, kParts = 2;
static constexpr int64_t kLoads[kParts] = {0, 2};
/// Panels of rows for which fewer registers are enough to multiply. [shape]
static constexpr int64_t kFewPanels = 3;
/// Bytes of a number a row. [shape]
static constexpr int64_t kRowsBytes = 4 * kTensorRows;
/// Numbers a row that warpgroups exchange: what weights are relative
/// to; in the end the largest of each, and a sum. [shape]
static constexpr int64_t kBase = 0, kLargest = 1, kSum = 3, kPublished = 4;
/// mbarriers of a slot, 8 bytes each: scores (or, in the end, sums) are there;
/// weights are; the base is the other slot's. Behind them two: a tile's weights
/// have been multiplied; both warpgroups are through. [shape]
static constexpr int64_t kMade = 0, kWeighed = 8, kHanded = 16, kSlotBytes = 24;
static constexpr int64_t kAdded = kSlots * kSlotBytes, kMet = kAdded + 8,
                         kBarriersBytes = kMet + 8;

namespace {
/// The kernel; what its rows use of it is public.
class WideSteps final : public TensorMemorySteps {
public:
  WideSteps(PairBlock &block, Ring &ring, gpu::LaunchOp launch)
      : TensorMemorySteps(block, ring, launch, kParts,
                          kBarriersBytes + kPublished * kRowsBytes) {}

  // Slots.
  Value placeOf(int64_t which) {
    return block.sharedByte(shared.own(kBarriersBytes + which * kRowsBytes),
                            block.mul(block.rowOfThread, 4));
  }
  void publish(int64_t which, Value value) {
    LLVM::StoreOp::create(b, loc, value, placeOf(which), 4);
  }
  Value published(int64_t which) {
    return LLVM::LoadOp::create(b, loc, step.type, placeOf(which), 4);
  }
  /// Waits until the base is this slot's, and makes it the other's.
  void take(Value slot, Value parity) {
    w.wait(of(slot, kHanded), parity);
    t.fenceAfter();
  }
  void handOver(Value slot) {
    arriveAsWarp(of(block.sub(block.index(kSlots - 1), slot), kHanded));
  }

private:
  void initBarriers() override;
  void load() override;
  void multiply() override;
  void findWeights(Value own) override;
  std::pair<int64_t, int64_t> registers() const override {
    // Descriptors of the rows' panels stay in registers.
    if (products() > 1)
      return {104, 200};
    if (ring.lefts.front().panels() > kFewPanels)
      return {72, 216};
    return {56, 224};
  }
  int64_t usedColumns() const override {
    return kSlots * scoreColumns() + sumColumns();
  }

  void loadPanels(ArrayRef<Panels> all, int64_t part);
  /// Emits `body` for the next stage of `part`, which `at` is, when it is
  /// there; it begins products of the stage's panel, at this address.
  void withPanel(int64_t part, MutableArrayRef<Value> at,
                 llvm::function_ref<void(Value)> body);
  void multiplyScores(Value slot, MutableArrayRef<Value> at);
  void multiplyWeights(Value slot, Value parity, MutableArrayRef<Value> at);
  /// The columns of sums that warpgroup `slot` begins and stores: every other
  /// panel.
  void overOwnPanels(Value slot, llvm::function_ref<void(int64_t)> body);
  void finish(Value slot, Value sums, Carried carried);

  const Panels &factor() const { return ring.tiles[ring.factor]; }
  Value of(Value slot, int64_t barrier) {
    return block.sharedByte(shared.own(barrier), block.mul(slot, kSlotBytes));
  }
  /// Tensor memory: behind scores of each slot sums.
  int64_t sumColumns() const {
    return llvm::divideCeil(pass.features, kPerRowBytes) * kPerRowBytes;
  }
  Value sumsAt(Value address) {
    return behind(address, kSlots * scoreColumns());
  }
  Value panelAt(int64_t part, Value stage) {
    int64_t bytes = ring.tiles.front().panelBytes();
    return shared.at(
        block.add(shared.stageOffset(stage), block.index(part * bytes)));
  }
};

/// A row whose base is handed over from slot to slot.
class SharedRow final : public RowSoftmax {
public:
  SharedRow(WideSteps &steps, PairBlock &block, double scale, Value slot,
            Value parity, Carried &carried)
      : RowSoftmax(block, scale, carried.totals[0], carried.most[0],
                   carried.sum[0]),
        steps(steps), slot(slot), parity(parity) {}

private:
  Value raise(Value, Value most) override {
    steps.take(slot, parity);
    before = steps.published(kBase);
    Value raised = RowSoftmax::raise(before, most);
    steps.publish(kBase, raised);
    steps.handOver(slot);
    return raised;
  }
  Value factorOf(Value old) override {
    RowSoftmax::factorOf(before);
    return powerOf(old, relativeTo);
  }

  WideSteps &steps;
  Value slot, parity;
  Value before; ///< what weights of the tile before are relative to
};
} // namespace

//===----------------------------------------------------------------------===//
// Who loads
//===----------------------------------------------------------------------===//

void WideSteps::initBarriers() {
  for (int64_t slot = 0; slot < kSlots; ++slot) {
    w.init(of(block.index(slot), kMade), 1);
    w.init(of(block.index(slot), kWeighed), kGroup / kWarp);
    w.init(of(block.index(slot), kHanded), kGroup / kWarp);
  }
  w.init(shared.own(kAdded), 1);
  w.init(shared.own(kMet), kSlots * kGroup / kWarp);
}

void WideSteps::load() {
  onlyOneOf(block.thread, kLoads[kOfScores] * kWarp, [&] {
    loadRows();
    loadPanels(ArrayRef(ring.tiles).take_front(products()), kOfScores);
  });
  onlyOneOf(block.thread, kLoads[kOfSums] * kWarp,
            [&] { loadPanels(factor(), kOfSums); });
}

void WideSteps::loadPanels(ArrayRef<Panels> all, int64_t part) {
  Carried carried;
  // A ring that nobody has used is empty: the phase before the first is over.
  carried.ring = {block.index(0), w.number(1)};
  block.overColumns(carried, [&](Value column, Carried now) {
    for (const Panels &panels : all)
      for (int64_t panel = 0; panel < panels.panels(); ++panel) {
        Value stage = now.ring[0], parity = now.ring[1];
        Value full = shared.full(stage, part);
        w.wait(shared.empty(stage, part), parity);
        w.arriveExpecting(full, panels.panelBytes());
        loadPanel(block, panels, panel, column, panelAt(part, stage), full);
        auto [next, flips] = w.advance(stage, parity, ring.stages);
        now.ring = {next, flips};
      }
    return now;
  });
}

//===----------------------------------------------------------------------===//
// Who multiplies
//===----------------------------------------------------------------------===//

void WideSteps::withPanel(int64_t part, MutableArrayRef<Value> at,
                          llvm::function_ref<void(Value)> body) {
  Value stage = at[0], parity = at[1];
  w.wait(shared.full(stage, part), parity);
  forOne([&] {
    body(panelAt(part, stage));
    t.commit(shared.empty(stage, part));
  });
  std::tie(at[0], at[1]) = w.advance(stage, parity, ring.stages);
}

/// Begins the products of the rows and the next tile of columns, whose slot is
/// `slot`. `at`: the stage of its first panel.
void WideSteps::multiplyScores(Value slot, MutableArrayRef<Value> at) {
  Value to = scoresAt(allocated(), slot);
  for (int64_t which = 0; which < products(); ++which) {
    const Panels &left = ring.lefts[which];
    Value leftIs =
        t.describe(shared.panelsAt(shared.base, ring.lefts, which), 0);
    for (int64_t panel = 0; panel < ring.tiles[which].panels(); ++panel)
      withPanel(kOfScores, at, [&](Value area) {
        Value rightIs = t.describe(area, 0);
        int64_t first = panel * kPerRowBytes;
        int64_t end = std::min(left.length - first, kPerRowBytes);
        for (int64_t from = 0; from < end; from += kTensorStep)
          t.multiply(behind(to, which * block.shape.columns),
                     w.moved(leftIs, panel * left.panelBytes() + from * 2),
                     w.moved(rightIs, from * 2),
                     arith::ConstantIntOp::create(b, loc, first + from > 0, 1),
                     step.half, block.shape.columns, /*leftLines=*/false,
                     /*rightLines=*/false);
      });
  }
  forOne([&] { t.commit(of(slot, kMade)); });
}

/// Begins to add the products of the weights of `slot`, which are there when
/// the phase of `parity` is over, and the factor from stage `at` on.
void WideSteps::multiplyWeights(Value slot, Value parity,
                                MutableArrayRef<Value> at) {
  w.wait(of(slot, kWeighed), parity);
  t.fenceAfter();
  Value address = allocated();
  Value weights = scoresAt(address, slot), sums = sumsAt(address);
  Value adds = arith::ConstantIntOp::create(b, loc, 1, 1);
  for (int64_t panel = 0; panel < sumColumns() / kPerRowBytes; ++panel)
    withPanel(kOfSums, at, [&](Value area) {
      Value rightIs = t.describe(area, factor().panelBytes());
      for (int64_t row = 0; row < block.shape.columns; row += kTensorStep)
        t.multiply(behind(sums, panel * kPerRowBytes),
                   behind(weights, row / kTensorStep * kTensorStepColumns),
                   w.moved(rightIs, row * kRow), adds, step.half, kPerRowBytes,
                   /*leftLines=*/false, /*rightLines=*/true);
    });
  forOne([&] { t.commit(shared.own(kAdded)); });
}

/// What is carried: the next stage of each part, whose slot is next, and that
/// of the tile before, if there is one, with the parity of its weights.
void WideSteps::multiply() {
  w.wait(shared.rows(), w.number(0));
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  Carried carried;
  carried.ring = {
      block.index(0), w.number(0), block.index(0), w.number(0), block.index(0),
      w.number(0),    no};
  carried = block.overColumns(carried, [&](Value, Carried now) {
    MutableArrayRef<Value> at = now.ring;
    Value slot = at[4], parity = at[5], begun = at[6];
    Value before = block.sub(block.index(1), slot);
    multiplyScores(slot, at.slice(0, 2));
    SmallVector<Value> next{at[2], at[3]};
    auto some = scf::IfOp::create(b, loc, TypeRange(ValueRange(next)), begun,
                                  /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      multiplyWeights(before, parity, next);
      scf::YieldOp::create(b, loc, next);
      b.setInsertionPointToStart(some.elseBlock());
      scf::YieldOp::create(b, loc, ValueRange{at[2], at[3]});
    }
    at[2] = some.getResult(0);
    at[3] = some.getResult(1);
    at[4] = before;
    // Of weights: the phase of a slot's first is 0, and so on.
    at[5] = block.choose(block.both(begun, block.equal(before, block.index(1))),
                         block.bitXor(parity, w.number(1)), parity);
    at[6] = arith::ConstantIntOp::create(b, loc, 1, 1);
    return now;
  });
  onlyIf(carried.ring[6], [&] {
    multiplyWeights(block.sub(block.index(1), carried.ring[4]), carried.ring[5],
                    MutableArrayRef(carried.ring).slice(2, 2));
  });
  forOne([&] {
    for (int64_t slot = 0; slot < kSlots; ++slot)
      t.commit(of(block.index(slot), kMade));
  });
}

//===----------------------------------------------------------------------===//
// Who finds weights
//===----------------------------------------------------------------------===//

void WideSteps::overOwnPanels(Value slot,
                              llvm::function_ref<void(int64_t)> body) {
  for (int64_t which = 0; which < kSlots; ++which)
    onlyOneOf(slot, which, [&] {
      for (int64_t from = which * kPerRowBytes; from < sumColumns();
           from += kSlots * kPerRowBytes)
        body(from);
    });
}

void WideSteps::findWeights(Value own) {
  Value slot = w.sameInWarp(block.div(own, kGroup));
  block.rowOfThread = block.rem(own, kGroup);
  block.laneOfRow = block.index(0);
  bool isSoftmax = step.keepsSoftmax(pass);
  Carried carried;
  if (isSoftmax) {
    carried = block.beginRows(keptOf());
    carried.totals = {carried.most[0]}; // what weights are relative to
    // The first of the two has what there was before.
    carried.sum[0] = block.choose(block.equal(slot, block.index(0)),
                                  carried.sum[0], block.number(0));
  }
  // The parity of this slot's scores, and of the base; whose slot is next.
  carried.ring = {w.number(0), block.index(0)};
  Value address = lanesOf(allocated(), own);
  Value scores = scoresAt(address, slot), sums = sumsAt(address);
  block.placeRow(0);
  overOwnPanels(
      slot, [&](int64_t from) { beginSums(sums, from, from + kPerRowBytes); });
  t.fenceBefore();
  onlyOneOf(slot, 1, [&] {
    if (isSoftmax)
      publish(kBase, carried.totals[0]);
    handOver(slot);
  });
  if (!isSoftmax)
    onlyOneOf(slot, 0, [&] { take(slot, w.number(0)); });
  carried = block.overColumns(carried, [&](Value column, Carried now) {
    auto mine = scf::IfOp::create(b, loc, TypeRange(ValueRange(now.flat())),
                                  block.equal(now.ring[1], slot),
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mine.elseBlock());
    scf::YieldOp::create(b, loc, now.flat());
    b.setInsertionPointToStart(mine.thenBlock());
    Carried next = now;
    block.firstColumn = column;
    w.wait(of(slot, kMade), now.ring[0]);
    t.fenceAfter();
    if (isSoftmax) {
      SharedRow row(*this, block, Scores::laterScale(block).value_or(1), slot,
                    now.ring[0], next);
      weighScores(scores, row, [&] {
        // Weights of the tile before have been multiplied. Those before it had
        // been when these scores were there, so a parity is enough.
        w.wait(shared.own(kAdded),
               block.toI32(block.sub(block.index(1), slot)));
        t.fenceAfter();
        rescaleSums(sums, sumColumns(), row.sumsFactor);
      });
    } else {
      weighGradients(scores);
    }
    t.waitForStores();
    t.fenceBefore();
    arriveAsWarp(of(slot, kWeighed));
    next.ring[0] = block.bitXor(now.ring[0], w.number(1));
    scf::YieldOp::create(b, loc, next.flat());
    b.setInsertionPointAfter(mine);
    next = now.with(mine.getResults());
    next.ring[1] = block.sub(block.index(1), now.ring[1]);
    return next;
  });
  w.wait(of(slot, kMade), carried.ring[0]);
  t.fenceAfter();
  block.placeRow(0);
  finish(slot, sums, std::move(carried));
}

/// Stores what rows have come to: each warpgroup has seen half of their
/// columns.
void WideSteps::finish(Value slot, Value sums, Carried carried) {
  auto storePanels = [&](Value factor) {
    overOwnPanels(slot, [&](int64_t from) {
      storeSums(sums, from, from + kPerRowBytes, factor);
    });
  };
  if (!step.keepsSoftmax(pass))
    return storePanels(Value());
  Value &largest = carried.most[0], &sum = carried.sum[0];
  RowSoftmax row(block, 1, carried.totals[0], largest, sum);
  onlyOneOf(slot, 0, [&] { publish(kLargest, largest); });
  onlyOneOf(slot, 1, [&] {
    publish(kLargest + 1, largest);
    publish(kSum, arith::MulFOp::create(
                      b, loc, sum, row.powerOf(carried.totals[0], largest)));
  });
  arriveAsWarp(shared.own(kMet));
  w.wait(shared.own(kMet), w.number(0));
  Value first = published(kLargest), second = published(kLargest + 1);
  largest = LLVM::MaxNumOp::create(b, loc, first, second);
  storePanels(row.powerOf(published(kBase), largest));
  onlyOneOf(slot, 0, [&] {
    Value other = arith::MulFOp::create(b, loc, published(kSum),
                                        row.powerOf(second, largest));
    sum = math::FmaOp::create(b, loc, sum,
                              row.powerOf(carried.totals[0], largest), other);
    carried.totals.clear();
    block.finishRows(keptOf(), carried);
  });
}

std::unique_ptr<TensorMemorySteps>
gpukernels::pairs::makeWideSteps(PairBlock &block, Ring &ring,
                                 gpu::LaunchOp launch) {
  return std::make_unique<WideSteps>(block, ring, launch);
}
