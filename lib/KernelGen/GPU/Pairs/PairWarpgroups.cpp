//===- PairWarpgroups.cpp - Steps of attention on sm_90a ------------------===//
//
// Three warpgroups. The first brings what its block's rows are, once, then tile
// after tile of columns through a ring of stages. One thread of it lets bulk
// copies bring what stands in memory as products read it; gradients of outputs,
// which are f32, all its threads split into 16-bit numbers on their way.
// The other two have 64 rows each. Scores are products of two matrices in
// shared memory; weights stay in registers, as the left matrix of the second
// product, split as PairTensorCores.cpp says. While one of the two finds
// weights the other's products are under way. Where 128 rows do not fit into
// shared memory (gradients of many features) both have the same 64, and half of
// the features each: they find the same weights, as two launches would.
// Gradients of keys and of values, both of the same rows, are one kernel's
// where registers have room for both.
//
//===----------------------------------------------------------------------===//
#include "../Warpgroups.h"
#include "PairFragments.h"
#include "PairKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardrt/TensorMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Columns of a tile, fewer where sums of many features need the registers,
/// still fewer where scores need some as well.
static constexpr int64_t kTile = 64, kNarrowTile = 32, kLeastTile = 16;
static constexpr int64_t kFewFeatures = 64, kManyFeatures = 192;
/// The most of each of two gradients whose sums both stay in registers.
static constexpr int64_t kBothFeatures = 128;
/// The same where both groups have half of the features; the first where scores
/// need no more registers.
static constexpr int64_t kSharedTiles[] = {48, kNarrowTile, kLeastTile};
/// Elements of a row of 128 bytes, of a piece, and of the depth of one product.
static constexpr int64_t kPerRowBytes = kRow / 2, kPiece = 8, kStep = 16;
/// What a block may have.
static constexpr int64_t kSharedBytes = 227 * 1024, kMostStages = 4;
/// Registers of a thread that brings, and of one that multiplies; and where
/// those that bring take floats apart.
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;
static constexpr int64_t kSomeRegisters = 56, kOtherRegisters = 224;
/// Terms of a float that is split; products of later ones are nothing.
static constexpr int64_t kTerms = 3;

namespace {
/// A tensor as TMA copies know it, fastest dim first: the memref's dims that
/// each dim runs over, slowest first, and the step's.
struct BoxDims {
  SmallVector<SmallVector<int64_t>> dims;
  SmallVector<SmallVector<unsigned>> loops;
};

/// Lines of a tensor as they stand in shared memory: one behind the other as
/// often as its numbers have terms.
struct Panels : Lines {
  int64_t terms = 1;
  BoxDims box; ///< of one term
  Value map;   ///< what TMA copies are told of it

  bool isSplit() const { return terms > 1; }
  int64_t panels() const { return llvm::divideCeil(length, kPerRowBytes); }
  int64_t panelBytes() const { return lines * kRow; }
  int64_t termBytes() const { return panels() * panelBytes(); }
  int64_t bytes() const { return terms * termBytes(); }
};

/// What the block's rows are, for each product of scores; behind it stages of
/// what tiles of columns are, two mbarriers a stage, and one of the rows.
struct Ring {
  SmallVector<Panels> lefts, tiles;
  /// The one of `tiles` that weights are multiplied with: it is of scores as
  /// well, or the last.
  size_t factor = 0;
  size_t beside = 1; ///< the same of the pass beside
  int64_t stages = 0;

  static int64_t bytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.bytes();
    return bytes;
  }
  /// Of these, what TMA copies load.
  static int64_t boxBytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.isSplit() ? 0 : panels.bytes();
    return bytes;
  }
  static bool areSplit(ArrayRef<Panels> all) {
    return llvm::any_of(all, [](const Panels &one) { return one.isSplit(); });
  }
  /// Arrivals at an mbarrier when all of these are there.
  static int64_t fillsOf(ArrayRef<Panels> all) {
    return (boxBytesOf(all) > 0 ? 1 : 0) + (areSplit(all) ? kGroup : 0);
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
  bool splits() const { return areSplit(lefts) || areSplit(tiles); }
};

/// How a block's work is cut, and what it reads.
struct RingPlan {
  TileShape shape;
  Ring ring;
};

/// The ring of stages in a block's shared memory.
class SharedRing {
public:
  /// Takes shared memory of `launch`, in which the builder stands.
  SharedRing(PairBlock &block, const Ring &ring, gpu::LaunchOp launch)
      : block(block), ring(ring),
        base(block.shared(launch, ring.areaBytes() + (ring.stages + 1) * 16,
                          block.b.getI8Type())) {}

  Value at(Value bytes) { return block.sharedByte(base, bytes); }
  /// Panels number `which` of `all`, which begin at `area`.
  Value panelsAt(Value area, ArrayRef<Panels> all, size_t which) {
    return block.sharedByte(area,
                            block.index(Ring::bytesOf(all.take_front(which))));
  }
  /// Where the tile of `stage` begins, from the ring's begin.
  Value stageOffset(Value stage) {
    return block.add(block.mul(stage, ring.stageBytes()),
                     block.index(ring.leftBytes()));
  }
  /// The mbarriers of `stage`: that its tile is there, and that it was read.
  Value full(Value stage) { return at(barrierOffset(stage, 0)); }
  Value empty(Value stage) { return at(barrierOffset(stage, 8)); }
  /// The mbarrier of the block's rows.
  Value rows() { return full(block.index(ring.stages)); }

  PairBlock &block;
  const Ring &ring;
  Value base;

private:
  Value barrierOffset(Value stage, int64_t more) {
    return block.add(block.mul(stage, 16),
                     block.index(ring.areaBytes() + more));
  }
};

/// The warpgroup that loads tiles: by TMA, or splitting them on their way.
class Producer {
public:
  Producer(PairBlock &block, SharedRing &shared, Value isLeader)
      : block(block), b(block.b), loc(block.loc), w(b, loc), shared(shared),
        ring(shared.ring), isLeader(isLeader) {}

  void run(Value rowsAreThere);
  /// From here on the first thread is alone.
  void leadAlone();

private:
  void load(ArrayRef<Panels> all, Value line, Value area, Value there);
  void loadBoxes(const Panels &panels, Value firstLine, Value area, Value full);
  void loadSplit(const Panels &panels, Value firstLine, Value area);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  WarpgroupBuilder w;
  SharedRing &shared;
  const Ring &ring;
  Value isLeader;
  bool isAlone = false;
};

/// Tiles that a ring of stages brings, multiplied by wgmma.
class WarpgroupTiles final : public TileProducts {
public:
  /// `group` of those that multiply is a thread's.
  WarpgroupTiles(PairBlock &block, SharedRing &shared, Value group)
      : block(block), b(block.b), loc(block.loc), w(b, loc), shared(shared),
        ring(shared.ring), group(group) {}

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

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  WarpgroupBuilder w;
  SharedRing &shared;
  const Ring &ring;
  Value group;
  // Of the tile.
  Value barriers, begin;
  Value totals, others; ///< sums that are under way; null: none
};
} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Where `tensor` has lines along `lineDim` whose neighbours along `dim` lie in
/// pieces of 16 bytes: how TMA copies know it.
static std::optional<BoxDims> boxOf(const Tensor &tensor, unsigned lineDim,
                                    unsigned dim) {
  auto type = cast<MemRefType>(tensor.memref.getType());
  if (type.getRank() < 2 || !beginsAligned(tensor.memref))
    return std::nullopt;
  int64_t last = type.getRank() - 1;
  auto loopOf = [&](int64_t i) {
    return cast<AffineDimExpr>(tensor.map.getResult(i)).getPosition();
  };
  // Elements are numbers of 16 bits or, split, of 32.
  if (loopOf(last) != dim || type.isDynamicDim(last) ||
      type.getDimSize(last) == 0 || type.getDimSize(last) % kPiece != 0)
    return std::nullopt;
  // Each stride is a multiple of the last dim.
  bool isDense = type.getLayout().isIdentity();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (!isDense) {
    auto fits = [](int64_t stride) {
      return ShapedType::isStatic(stride) && stride > 0 && stride % kPiece == 0;
    };
    if (ShapedType::isDynamic(offset) || offset % kPiece != 0 ||
        strides.back() != 1 ||
        !llvm::all_of(ArrayRef(strides).drop_back(), fits))
      return std::nullopt;
  }
  BoxDims box{{{last}, {}}, {{dim}, {lineDim}}};
  // Others: those that lie one behind the other are one.
  for (int64_t i = last; i-- > 0;) {
    unsigned loop = loopOf(i);
    if (loop == lineDim) {
      box.dims[1] = {i};
      continue;
    }
    if (type.getDimSize(i) == 1)
      continue;
    int64_t before = box.dims.size() > 2 ? box.dims.back().front() : -1;
    bool follows =
        before >= 0 && (box.dims[1].empty() || box.dims[1].front() > before);
    if (follows && !isDense)
      follows = !type.isDynamicDim(before) &&
                strides[i] == strides[before] * type.getDimSize(before);
    if (follows) {
      box.dims.back().insert(box.dims.back().begin(), i);
      box.loops.back().insert(box.loops.back().begin(), loop);
    } else {
      box.dims.push_back({i});
      box.loops.push_back({loop});
    }
  }
  if (box.dims[1].empty() || box.dims.size() > SHARDRT_MAP_DIMS)
    return std::nullopt;
  return box;
}

/// What a kernel for `pass` reads; nothing where it is none.
static std::optional<Ring> ringFor(const Step &step, const PairPass &pass,
                                   const TileShape &shape) {
  Type half = step.half;
  bool forward = pass.weigh == Weigh::Forward;
  // As for other tensor cores: numbers of f16 end early.
  if (!pass.factor || !step.type.isF32() || step.pair ||
      step.combine != spmd::PairCombine::Softmax || !step.isHalf(step.key) ||
      !(half.isBF16() || (half.isF16() && forward && !step.weight)))
    return std::nullopt;
  auto isSmall = [&](unsigned dim) {
    return ShapedType::isStatic(step.sizeOf(dim)) &&
           step.sizeOf(dim) < kGroupRows;
  };
  if (isSmall(pass.rowDim) || isSmall(pass.columnDim))
    return std::nullopt;
  int64_t last = shape.featureGroups * pass.features;
  std::optional<Operands> operands =
      operandsOf(step, pass, shape.rows, shape.columns, last);
  if (!operands)
    return std::nullopt;
  Ring ring;
  ring.factor = operands->factor;
  bool fits = true;
  int64_t boxes = 0;
  auto put = [&](SmallVector<Panels> &to, ArrayRef<Lines> from) {
    for (const Lines &lines : from) {
      Type element = getElementTypeOrSelf(lines.tensor->memref.getType());
      std::optional<BoxDims> box =
          boxOf(*lines.tensor, lines.lineDim, lines.dim);
      fits &= (element == half || (element.isF32() && half.isBF16())) && box;
      boxes += element == half;
      to.push_back({lines, element == half ? 1 : kTerms,
                    box.value_or(BoxDims()), Value()});
    }
  };
  put(ring.lefts, operands->lefts);
  put(ring.tiles, operands->tiles);
  // Of a factor that is of scores too, the pass's features: past the last there
  // are zeros.
  if (ring.tiles.front().tensor == pass.factor) {
    int64_t &length = ring.tiles.front().length;
    length = std::max(length, pass.slab + last);
  }
  if (!fits || boxes > SHARDRT_MAP_MOST)
    return std::nullopt;
  // Registers and shared memory are for numbers of one term.
  if (pass.beside && ring.splits())
    return std::nullopt;
  int64_t room = kSharedBytes - ring.leftBytes() - (kMostStages + 1) * 16;
  ring.stages = std::min(room / ring.stageBytes(), kMostStages);
  if (ring.stages < 2)
    return std::nullopt;
  return ring;
}

/// The most columns of those that are tried in turn for which there is a ring.
static std::optional<RingPlan> planWith(const Step &step, const PairPass &pass,
                                        TileShape shape,
                                        ArrayRef<int64_t> columns) {
  for (int64_t some : columns) {
    shape.columns = some;
    if (std::optional<Ring> ring = ringFor(step, pass, shape))
      return RingPlan{shape, *ring};
  }
  return std::nullopt;
}

/// The plan of a kernel for `pass`, whose features become those of one group.
static std::optional<RingPlan> planRing(const Step &step, PairPass &pass,
                                        GroupsDivide groups) {
  TileShape shape;
  shape.fragments = true;
  shape.rowsOfThread = 2;
  if (groups == GroupsDivide::Features) {
    // Each group has whole panels of the factor, and rows keep no sums.
    if (pass.weigh == Weigh::Forward ||
        step.sizeOf(pass.feature) <= kPerRowBytes)
      return std::nullopt;
    pass.features = static_cast<int64_t>(llvm::alignTo(
        llvm::divideCeil(step.sizeOf(pass.feature), kConsumers), kPerRowBytes));
    shape.rows = kGroupRows;
    shape.featureGroups = kConsumers;
    return planWith(step, pass, shape,
                    ArrayRef(kSharedTiles).drop_front(step.isPlain() ? 0 : 1));
  }
  shape.rows = kConsumers * kGroupRows;
  bool slopes = pass.weigh == Weigh::Slopes;
  int64_t most =
      slopes && !step.leavesRegisters() ? kFewFeatures : kManyFeatures;
  SmallVector<int64_t> columns;
  // Sums of two gradients leave no registers for what an edge or a window needs
  // beside scores.
  bool isBusy = pass.beside && (step.hasEdge(pass, kTile) ||
                                (step.bandLower && step.bandUpper));
  if (pass.parts() * kPart <= most)
    columns.push_back(isBusy ? kNarrowTile : kTile);
  columns.push_back(slopes || step.isPlain() ? kNarrowTile : kLeastTile);
  return planWith(step, pass, shape, columns);
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Lets TMA copies load the lines from `firstLine` on to `area`; their bytes
/// count at `full`.
void Producer::loadBoxes(const Panels &panels, Value firstLine, Value area,
                         Value full) {
  for (int64_t panel = 0; panel < panels.panels(); ++panel) {
    SmallVector<Value> begin = {
        block.index(panels.first + panel * kPerRowBytes), firstLine};
    for (ArrayRef<unsigned> loops : ArrayRef(panels.box.loops).drop_front(2)) {
      Value place = block.at[loops.front()];
      for (unsigned loop : loops.drop_front())
        place =
            block.add(block.mul(place, block.step.sizes[loop]), block.at[loop]);
      begin.push_back(place);
    }
    w.bringBox(block.sharedByte(area, block.index(panel * panels.panelBytes())),
               panels.map, begin, full);
  }
}

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
      loadBoxes(panels, line, to, there);
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
  spmd::contract::Gpu::set(launch, b.getStringAttr("sm_90a"));
  SharedRing shared(block, ring, launch);
  Value rowsAreThere = shared.rows();
  for (SmallVector<Panels> *all : {&ring.lefts, &ring.tiles})
    for (Panels &panels : *all) {
      if (panels.isSplit())
        continue;
      SmallVector<int64_t> box(panels.box.dims.size(), 1);
      box[0] = kPerRowBytes;
      box[1] = panels.lines;
      panels.map =
          w.describeTensor(panels.tensor->memref, panels.box.dims, box);
    }
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

bool gpukernels::pairs::launchBothOfKeys(OpBuilder &b, const Step &step) {
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
  return launchOnWarpgroups(b, step, slopes, GroupsDivide::Rows);
}
