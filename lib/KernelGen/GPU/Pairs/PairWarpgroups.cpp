//===- PairWarpgroups.cpp - Steps of attention on sm_90a ------------------===//
//
// Three warpgroups. The first, the producer, loads its block's rows once, then
// tile after tile of columns through a ring of stages. One thread of it lets
// TMA copies load what is in memory as products read it; gradients of outputs,
// which are f32, all its threads split into 16-bit numbers on their way.
// The other two have 64 rows each. Scores are products of two matrices in
// shared memory; weights stay in registers, as the left matrix of the second
// product, split as PairFragments.h says. While one of the two finds
// weights the other's products are under way. Where 128 rows do not fit into
// shared memory (gradients of many features) both have the same 64, and half of
// the features each: they find the same weights, as two launches would.
// Gradients of keys and of values, both of the same rows, are one kernel's
// where registers have room for both.
//
//===----------------------------------------------------------------------===//
#include "PairFragments.h"
#include "PairRing.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// The most of each of two gradients whose sums both stay in registers. [shape]
static constexpr int64_t kBothFeatures = 128;
/// The depth of one product. [shape]
static constexpr int64_t kStep = 16;
/// Registers of a thread that loads, and of one that multiplies, where those
/// that load split floats. [shape]
static constexpr int64_t kSomeRegisters = 56, kOtherRegisters = 224;

namespace {
/// What a warpgroup does: emitted at the block's insertion point.
class Role {
protected:
  Role(PairBlock &block, SharedRing &shared)
      : block(block), b(block.b), loc(block.loc), w(b, loc), shared(shared),
        ring(shared.ring) {}

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  WarpgroupBuilder w;
  SharedRing &shared;
  const Ring &ring;
};

/// The warpgroup that loads tiles: by TMA, or splitting them on their way.
class Producer : private Role {
public:
  Producer(PairBlock &block, SharedRing &shared, Value isLeader)
      : Role(block, shared), isLeader(isLeader) {}

  void run(Value rowsAreThere);
  /// From here on the first thread is alone.
  void leadAlone();

private:
  void load(ArrayRef<Panels> all, Value line, Value area, Value there);
  void loadSplit(const Panels &panels, Value firstLine, Value area);

  Value isLeader;
  bool isAlone = false;
};

/// Tiles that a ring of stages prefetches, multiplied by wgmma.
class WarpgroupTiles final : public TileProducts, private Role {
public:
  /// `group` of those that multiply is a thread's.
  WarpgroupTiles(PairBlock &block, SharedRing &shared, Value group)
      : Role(block, shared), group(group) {}

  void beginTile(Value column, Carried &carried) override;
  SmallVector<SmallVector<Value>> multiply() override;
  void addWeighted(ArrayRef<Value> weights, Carried &carried) override;
  void endTile(Carried &carried) override;
  /// The pass and the one beside, whose scores are the same.
  Carried visitBoth(Value column, Carried carried);

private:
  Value tileAt(size_t which) {
    return shared.at(block.add(
        begin,
        block.index(Ring::bytesOf(ArrayRef(ring.tiles).take_front(which)))));
  }
  Value beginScores(size_t which);
  Value beginWeighted(const PairPass &to, size_t which, ArrayRef<Value> totals,
                      ArrayRef<Value> weights);

  Value group;
  // Of the tile.
  Value barriers, begin;
  Value totals, others; ///< sums that are under way; null: none
};
} // namespace

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Loads the lines from `firstLine` on, which are f32, to `area` in terms.
void Producer::loadSplit(const Panels &panels, Value firstLine, Value area) {
  const Step &step = block.step;
  SmallVector<Value> saved = block.at;
  int64_t perLine = panels.length / kPiece;
  auto loop = scf::ForOp::create(b, loc, block.thread,
                                 block.index(panels.lines * perLine),
                                 block.index(kGroup));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = block.div(loop.getInductionVar(), perLine);
  Value part = block.mul(block.rem(loop.getInductionVar(), perLine), kPiece);
  Value atLine = block.add(firstLine, line),
        atPart = block.add(part, block.index(panels.first));
  Value inside =
      block.both(block.lessSigned(atLine, step.sizes[panels.lineDim]),
                 block.lessSigned(atPart, step.sizes[panels.dim]));
  block.at[panels.lineDim] = block.choose(inside, atLine, block.index(0));
  block.at[panels.dim] = block.choose(inside, atPart, block.index(0));
  Value offset = w.placeInPanels(line, block.mul(part, 2), panels.lines);
  Value from = addressOf(b, loc, panels.tensor->memref,
                         block.subscripts(*panels.tensor));
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  // Two loads of four floats; of each term eight, two a word.
  Type four = VectorType::get({4}, step.type);
  SmallVector<Value> floats;
  for (int64_t load = 0; load < 2; ++load) {
    Value place = LLVM::GEPOp::create(
        b, loc, from.getType(), step.type, from,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(4 * load)});
    Value loaded = LLVM::LoadOp::create(b, loc, four, place, /*alignment=*/16);
    for (int64_t lane = 0; lane < 4; ++lane)
      floats.push_back(block.choose(
          inside, LLVM::ExtractElementOp::create(b, loc, loaded, spot(lane)),
          block.number(0)));
  }
  SmallVector<SmallVector<Value>> split;
  for (size_t word = 0; word < 4; ++word)
    split.push_back(splitToHalves(block, floats[2 * word], floats[2 * word + 1],
                                  panels.terms, /*isFinite=*/false));
  for (int64_t term = 0; term < panels.terms; ++term) {
    Value words =
        LLVM::PoisonOp::create(b, loc, VectorType::get({4}, b.getI32Type()));
    for (int64_t word = 0; word < 4; ++word)
      words = LLVM::InsertElementOp::create(b, loc, words, split[word][term],
                                            spot(word));
    LLVM::StoreOp::create(
        b, loc, words,
        block.sharedByte(
            area, block.add(offset, block.index(term * panels.termBytes()))),
        /*alignment=*/16);
  }
  block.at = saved;
}

void Producer::leadAlone() {
  auto alone = scf::IfOp::create(b, loc, isLeader, /*withElseRegion=*/false);
  b.setInsertionPointToStart(alone.thenBlock());
  isAlone = true;
}

/// Loads the lines from `line` on to `area`, which is said at `there`.
void Producer::load(ArrayRef<Panels> all, Value line, Value area, Value there) {
  auto forEach = [&](bool areSplit, auto body) {
    for (auto [i, panels] : llvm::enumerate(all))
      if (panels.isSplit() == areSplit)
        body(panels, shared.panelsAt(area, all, i));
  };
  if (int64_t bytes = Ring::boxBytesOf(all)) {
    OpBuilder::InsertionGuard guard(b);
    if (!isAlone) {
      auto leads =
          scf::IfOp::create(b, loc, isLeader, /*withElseRegion=*/false);
      b.setInsertionPointToStart(leads.thenBlock());
    }
    w.arriveExpecting(there, bytes);
    forEach(false, [&](const Panels &panels, Value to) {
      loadBoxes(block, panels, line, to, there);
    });
  }
  if (!Ring::areSplit(all))
    return;
  forEach(true,
          [&](const Panels &panels, Value to) { loadSplit(panels, line, to); });
  w.fenceStores();
  w.arrive(there);
}

/// Loads the block's rows, then tile after tile: the stage to load next, and
/// its parity. A ring that nobody has used is empty: the phase before the first
/// is over.
void Producer::run(Value rowsAreThere) {
  bool splits = ring.splits();
  w.setRegisters(splits ? kSomeRegisters : kFewRegisters, /*more=*/false);
  if (!splits)
    leadAlone();
  load(ring.lefts, block.firstRow, shared.base, rowsAreThere);
  if (!isAlone && !Ring::areSplit(ring.tiles))
    leadAlone();
  Carried carried;
  carried.ring = {block.index(0), w.number(1)};
  block.overColumns(carried, [&](Value column, Carried now) {
    Value stage = now.ring[0], parity = now.ring[1];
    w.wait(shared.empty(stage), parity);
    Value area = shared.at(shared.stageOffset(stage));
    load(ring.tiles, column, area, shared.full(stage));
    auto [next, flips] = w.advance(stage, parity, ring.stages);
    now.ring = {next, flips};
    return now;
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Numbers of a fragment of sums by row and column, and back.
static SmallVector<Value> byRow(ArrayRef<Value> sums) {
  size_t columns = sums.size() / 2;
  SmallVector<Value> values(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    values[i / 2 % 2 * columns + i / 4 * 2 + i % 2] = sums[i];
  return values;
}
static SmallVector<Value> asFragments(ArrayRef<Value> values) {
  size_t columns = values.size() / 2;
  SmallVector<Value> sums(values.size());
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = values[i / 2 % 2 * columns + i / 4 * 2 + i % 2];
  return sums;
}

void WarpgroupTiles::beginTile(Value column, Carried &carried) {
  Value stage = carried.ring[0], parity = carried.ring[1];
  barriers = block.add(block.mul(stage, 16), block.index(ring.areaBytes()));
  w.wait(shared.at(barriers), parity);
  begin = shared.stageOffset(stage);
}

/// Begins the products of the group's rows and the tile, number `which` of
/// those that scores and slopes take.
Value WarpgroupTiles::beginScores(size_t which) {
  const Panels &left = ring.lefts[which], &right = ring.tiles[which];
  bool hasOwnRows = block.shape.featureGroups == 1;
  Value rows = block.mul(group, hasOwnRows ? kGroupRows * kRow : 0);
  Value leftAt = shared.at(block.add(
      rows,
      block.index(Ring::bytesOf(ArrayRef(ring.lefts).take_front(which)))));
  Value leftIs = w.describe(leftAt, 0);
  Value rightIs = w.describe(tileAt(which), 0);
  Value sums;
  for (int64_t x = 0; x < left.terms; ++x)
    for (int64_t y = 0; y < right.terms && x + y < kTerms; ++y)
      for (int64_t from = 0; from < left.length; from += kStep) {
        int64_t panel = from / kPerRowBytes, inRow = from % kPerRowBytes * 2;
        sums =
            w.multiply(sums,
                       w.moved(leftIs, x * left.termBytes() +
                                           panel * left.panelBytes() + inRow),
                       w.moved(rightIs, y * right.termBytes() +
                                            panel * right.panelBytes() + inRow),
                       block.step.half, block.shape.columns,
                       /*leftLines=*/false, /*rightLines=*/false);
      }
  return sums;
}

/// Begins to add to `sums`, of the features of `to`, the products of the
/// weights and panels number `which` of the tile.
Value WarpgroupTiles::beginWeighted(const PairPass &to, size_t which,
                                    ArrayRef<Value> sums,
                                    ArrayRef<Value> weights) {
  SmallVector<SmallVector<Value>> lefts =
      weightFragments(block, weights, block.step.hasFiniteWeights(to));
  const Panels &factor = ring.tiles[which];
  int64_t before = (to.slab - factor.first) / kPerRowBytes;
  Value factorAt = tileAt(which);
  if (block.shape.featureGroups > 1)
    factorAt =
        block.sharedByte(factorAt, block.mul(group, to.features / kPerRowBytes *
                                                        factor.panelBytes()));
  Value factorIs = w.describe(factorAt, factor.panelBytes());
  Value made = w.sumsOf(asFragments(sums));
  w.fence();
  int64_t steps = block.shape.columns / kStep;
  for (auto [i, fragment] : llvm::enumerate(lefts)) {
    int64_t term = static_cast<int64_t>(i) / steps;
    int64_t row = static_cast<int64_t>(i) % steps * kStep;
    for (int64_t y = 0; y < factor.terms && term + y < kTerms; ++y)
      made = w.multiplyFragments(
          made, fragment,
          w.moved(factorIs, y * factor.termBytes() +
                                before * factor.panelBytes() + row * kRow),
          block.step.half, to.parts() * kPart);
  }
  w.commit();
  return made;
}

SmallVector<SmallVector<Value>> WarpgroupTiles::multiply() {
  SmallVector<Value> all;
  w.fence();
  for (size_t which = 0; which < ring.lefts.size(); ++which)
    all.push_back(beginScores(which));
  w.commit();
  w.waitForProducts(0);
  return llvm::map_to_vector(
      all, [&](Value sums) { return byRow(w.valuesOf(sums)); });
}

void WarpgroupTiles::addWeighted(ArrayRef<Value> weights, Carried &carried) {
  totals = beginWeighted(block.pass, ring.factor, carried.totals, weights);
}

void WarpgroupTiles::endTile(Carried &carried) {
  w.waitForProducts(0);
  if (others)
    carried.others = byRow(w.valuesOf(others));
  {
    Value leads = block.equal(block.rem(block.thread, kWarp), block.index(0));
    auto leader = scf::IfOp::create(b, loc, leads, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(leader.thenBlock());
    w.arrive(shared.at(block.add(barriers, block.index(8))));
  }
  carried.totals = byRow(w.valuesOf(totals));
  auto [next, flips] = w.advance(carried.ring[0], carried.ring[1], ring.stages);
  carried.ring = {next, flips};
}

// Weights are found while products for slopes are under way, and slopes while
// those of weights are.
Carried WarpgroupTiles::visitBoth(Value column, Carried carried) {
  block.firstColumn = column;
  beginTile(column, carried);
  w.fence();
  Value first = beginScores(0);
  w.commit();
  Value second = beginScores(1);
  w.commit();
  w.waitForProducts(1);
  Gradient gradient(block, Scores::roundsWeights(block));
  SmallVector<Value> raw = byRow(w.valuesOf(first)), powers(raw.size());
  SmallVector<Value> weights =
      overScores(block, [&](size_t which, Value counts) {
        powers[which] = gradient.power(raw[which], counts);
        return gradient.weight(powers[which], counts);
      });
  others =
      beginWeighted(*block.pass.beside, ring.beside, carried.others, weights);
  w.waitForProducts(1);
  SmallVector<Value> dps = byRow(w.valuesOf(second));
  SmallVector<Value> slopes =
      overScores(block, [&](size_t which, Value counts) {
        return gradient.slope(powers[which], raw[which], dps[which], counts);
      });
  addWeighted(slopes, carried);
  endTile(carried);
  return carried;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

bool gpukernels::pairs::fitsWarpgroups(const Step &step, const PairPass &of,
                                       GroupsDivide groups) {
  PairPass pass = of;
  return planRing(step, pass, groups).has_value();
}

bool gpukernels::pairs::launchOnWarpgroups(OpBuilder &b, const Step &step,
                                           PairPass pass, GroupsDivide groups) {
  std::optional<RingPlan> plan = planRing(step, pass, groups);
  if (!plan)
    return false;
  OpBuilder::InsertionGuard outside(b);
  PairBlock block(b, step, pass, plan->shape);
  Location loc = block.loc;
  Ring &ring = plan->ring;
  WarpgroupBuilder w(b, loc);
  gpu::LaunchOp launch = block.launch((1 + kConsumers) * kGroup);
  spmd::contract::Gpu::set(
      launch, spmd::KernelGpuAttr::get(b.getContext(), spmd::KernelGpu::Sm90a));
  SharedRing shared(block, ring, launch);
  Value rowsAreThere = shared.rows();
  describeBoxes(b, loc, ring);
  Value isLeader = block.equal(block.thread, block.index(0));
  {
    OpBuilder::InsertionGuard guard(b);
    auto alone = scf::IfOp::create(b, loc, isLeader, /*withElseRegion=*/false);
    b.setInsertionPointToStart(alone.thenBlock());
    for (int64_t stage = 0; stage < ring.stages; ++stage) {
      w.init(shared.full(block.index(stage)), Ring::fillsOf(ring.tiles));
      w.init(shared.empty(block.index(stage)), kConsumers * kGroup / kWarp);
    }
    w.init(rowsAreThere, Ring::fillsOf(ring.lefts));
    w.fenceInit();
  }
  gpu::BarrierOp::create(b, loc);
  auto roles = scf::IfOp::create(
      b, loc, block.lessSigned(block.thread, block.index(kGroup)),
      /*withElseRegion=*/true);
  b.setInsertionPointToStart(roles.thenBlock());
  Producer(block, shared, isLeader).run(rowsAreThere);

  // Consumers: rows and columns as a warp's fragments have them.
  b.setInsertionPointToStart(roles.elseBlock());
  w.setRegisters(ring.splits() ? kOtherRegisters : kManyRegisters,
                 /*more=*/true);
  Value group =
      w.sameInWarp(block.sub(block.div(block.thread, kGroup), block.index(1)));
  Value own = block.sub(block.thread, block.index(kGroup));
  if (groups == GroupsDivide::Features) {
    block.firstFeature = block.mul(block.div(own, kGroup), pass.features);
    own = block.rem(own, kGroup);
  }
  block.rowOfThread = block.rowInWarps(own, 16);
  block.laneOfRow = block.rem(block.thread, kPerRow);
  Carried carried = block.beginRows(pass);
  if (pass.beside)
    carried.others = block.beginRows(*pass.beside).totals;
  carried.ring = {block.index(0), w.number(0)};
  // Also where there are no columns: nobody leaves while copies are under way.
  w.wait(rowsAreThere, w.number(0));
  WarpgroupTiles tiles(block, shared, group);
  carried = block.overColumns(carried, [&](Value column, Carried now) {
    return pass.beside ? tiles.visitBoth(column, std::move(now))
                       : visitTile(block, tiles, column, std::move(now));
  });
  block.finishRows(pass, carried);
  if (pass.beside) {
    Carried others;
    others.totals = carried.others;
    block.finishRows(*pass.beside, others);
  }
  return true;
}

/// Hands `body` the pass of keys' gradients, beside which is that of values'.
/// False where there is none for one kernel.
static bool withBothOfKeys(const Step &step,
                           llvm::function_ref<bool(const PairPass &)> body) {
  if (!step.shortWeights || ShapedType::isDynamic(step.sizeOf(step.d)) ||
      ShapedType::isDynamic(step.sizeOf(step.e)) ||
      std::max(step.sizeOf(step.d), step.sizeOf(step.e)) > kBothFeatures)
    return false;
  const Tensor &ofKeys = step.states[1], &ofValues = step.states[2];
  for (unsigned dim : llvm::seq(step.q))
    if (ofKeys.has(dim) != ofValues.has(dim))
      return false;
  PairPass weights(step, Weigh::Weights, step.k, &ofValues, step.e,
                   &step.rows[2]);
  weights.features = step.sizeOf(step.e);
  PairPass slopes(step, Weigh::Slopes, step.k, &ofKeys, step.d, &step.query);
  slopes.features = step.sizeOf(step.d);
  slopes.beside = &weights;
  return body(slopes);
}

bool gpukernels::pairs::launchBothOfKeys(OpBuilder &b, const Step &step) {
  return withBothOfKeys(step, [&](const PairPass &pass) {
    return launchOnWarpgroups(b, step, pass, GroupsDivide::Rows);
  });
}

bool gpukernels::pairs::fitsBothOfKeys(const Step &step) {
  return withBothOfKeys(step, [&](const PairPass &pass) {
    return fitsWarpgroups(step, pass, GroupsDivide::Rows);
  });
}
