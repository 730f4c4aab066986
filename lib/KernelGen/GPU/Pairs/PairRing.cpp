//===- PairRing.cpp - What TMA copies load, and how ----------------------===//
#include "PairRing.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardrt/TensorMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Columns of a tile, fewer where sums of many features need the registers,
/// still fewer where scores need some as well. [shape]
static constexpr int64_t kTile = 64, kNarrowTile = 32, kLeastTile = 16;
static constexpr int64_t kFewFeatures = 64, kManyFeatures = 192;
/// The same where both groups have half of the features; the first where scores
/// need no more registers. [shape]
static constexpr int64_t kSharedTiles[] = {48, kNarrowTile, kLeastTile};
/// What a block may have. [shape]
static constexpr int64_t kSharedBytes = 227 * 1024, kMostStages = 4;
/// Stages of panels. [shape]
static constexpr int64_t kMostPanels = 8;
/// The same of mbarriers, and what else is behind stages. [shape]
static constexpr int64_t kBarrierBytes = 256;
/// Of tensor memory: rows of a tile, columns of one, and the most features of
/// two tiles. [shape]
static constexpr int64_t kLanes = 128, kLaneColumns = 128, kLaneFeatures = 128;
/// What one tile of rows keeps behind its ring (PairTensorWide): four numbers a
/// row, and mbarriers. [shape]
static constexpr int64_t kWideBytes = 4 * 4 * kLanes + 2 * kBarrierBytes;

/// Where `tensor` has lines along `lineDim` whose neighbours along `dim` are in
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
  // Others: those that are one behind the other are one.
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

/// What a kernel for `pass` reads, but for how many stages of it there are;
/// nothing where it is none.
static std::optional<Ring> panelsFor(const Step &step, const PairPass &pass,
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
  return ring;
}

/// The same with as many stages as there is room for.
static std::optional<Ring> ringFor(const Step &step, const PairPass &pass,
                                   const TileShape &shape) {
  std::optional<Ring> ring = panelsFor(step, pass, shape);
  if (!ring)
    return std::nullopt;
  int64_t room = kSharedBytes - ring->leftBytes() - kBarrierBytes;
  ring->stages = std::min(room / ring->stageBytes(), kMostStages);
  if (ring->stages < 2)
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

std::optional<RingPlan> gpukernels::pairs::planRing(const Step &step,
                                                    PairPass &pass,
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

/// One tile of rows of many features: tensor memory has its sums beside the
/// scores of two tiles of columns.
static std::optional<RingPlan> planWide(const Step &step, const PairPass &pass,
                                        TileShape shape) {
  shape.rows = kLanes;
  std::optional<Ring> ring = panelsFor(step, pass, shape);
  if (!ring || ring->splits())
    return std::nullopt;
  ring->byPanels = true;
  int64_t room = kSharedBytes - ring->leftBytes() - kWideBytes;
  ring->stages = std::min(room / ring->stageBytes(), kMostPanels);
  if (ring->stages < 2)
    return std::nullopt;
  return RingPlan{shape, *ring};
}

std::optional<RingPlan>
gpukernels::pairs::planTensorMemory(const Step &step, const PairPass &pass) {
  // Weights are rounded, and made of products alone. A block's rows have all
  // features.
  auto isFew = [&](unsigned dim) {
    return ShapedType::isStatic(step.sizeOf(dim)) &&
           step.sizeOf(dim) <= kLaneFeatures;
  };
  bool fits =
      step.shortWeights && step.isPlain() && pass.slab == 0 && pass.last;
  // Threads load and store whole rows, 16 bytes at once.
  if (!fits || !boxOf(*pass.target, pass.rowDim, pass.feature))
    return std::nullopt;
  TileShape shape;
  shape.rowsOfThread = shape.threadsOfRow = 1;
  shape.rows = kConsumers * kLanes;
  // Two products, and sums: all of tensor memory is 512 columns.
  shape.columns = pass.weigh == Weigh::Slopes ? kLaneColumns / 2 : kLaneColumns;
  if (!isFew(step.d) || !isFew(step.e))
    return planWide(step, pass, shape);
  std::optional<Ring> ring = ringFor(step, pass, shape);
  if (!ring || ring->splits() || ring->tiles.size() != 2)
    return std::nullopt;
  return RingPlan{shape, *ring};
}

//===----------------------------------------------------------------------===//
// TMA copies
//===----------------------------------------------------------------------===//

void gpukernels::pairs::describeBoxes(OpBuilder &b, Location loc, Ring &ring) {
  WarpgroupBuilder w(b, loc);
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
}

void gpukernels::pairs::loadBoxes(PairBlock &block, const Panels &panels,
                                  Value firstLine, Value area, Value full) {
  for (int64_t panel = 0; panel < panels.panels(); ++panel)
    loadPanel(block, panels, panel, firstLine,
              block.sharedByte(area, block.index(panel * panels.panelBytes())),
              full);
}

void gpukernels::pairs::loadPanel(PairBlock &block, const Panels &panels,
                                  int64_t panel, Value firstLine, Value area,
                                  Value full) {
  WarpgroupBuilder w(block.b, block.loc);
  SmallVector<Value> begin = {block.index(panels.first + panel * kPerRowBytes),
                              firstLine};
  for (ArrayRef<unsigned> loops : ArrayRef(panels.box.loops).drop_front(2)) {
    Value place = block.at[loops.front()];
    for (unsigned loop : loops.drop_front())
      place =
          block.add(block.mul(place, block.step.sizes[loop]), block.at[loop]);
    begin.push_back(place);
  }
  w.loadBox(area, panels.map, begin, full);
}
