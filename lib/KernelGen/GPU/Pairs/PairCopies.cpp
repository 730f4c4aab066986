//===- PairCopies.cpp - Steps of attention that copy ahead ----------------===//
//
// For all GPUs. Four warps have 16 rows each, or 32 where registers allow,
// which reads columns half as often. The block's own rows are loaded to shared
// memory once; of columns two tiles are there, of which one arrives by
// cp.async, 16 bytes at once, while the other is multiplied: one barrier a
// tile. Lines of a multiple of 128 bytes are swizzled, and the stride of others
// is 16 bytes more than their length, so that eight of them use all banks.
// Gradients of outputs, which are f32, are rounded on their way where weights
// are.
//
//===----------------------------------------------------------------------===//
#include "PairKernels.h"
#include "PairStrips.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Columns of a tile, the most first: from the third on where scores need more
/// registers. [shape]
static constexpr int64_t kTiles[] = {64, 48, 32, 16}, kFewColumns = 32;
static constexpr int64_t kWarps = kThreads / kWarp;
/// Features of which a warp may have sums for 32 rows, or need more beside.
/// [shape]
static constexpr int64_t kFewFeatures = 128;
/// Registers that a thread's scores and sums may take where it has four rows;
/// where an edge, or a band, needs some as well. [shape]
static constexpr int64_t kTallNumbers = 192, kTallWithEdge = 160,
                         kTallWithBand = 128;
/// Rows of a tall block. [shape]
static constexpr int64_t kTallRows = 128;

namespace {
/// How a block's work is cut, and what it reads.
struct CopyPlan {
  TileShape shape;
  Strips strips;
};

/// Tiles that arrive by cp.async.
class CopiedTiles final : public TileProducts, private StripCopies {
public:
  /// Takes shared memory of `launch`, in which the builder inserts.
  CopiedTiles(PairBlock &block, const Strips &strips, gpu::LaunchOp launch)
      : StripCopies(block), block(block), b(block.b), loc(block.loc),
        strips(strips),
        base(block.shared(launch, strips.areaBytes(), b.getI8Type())) {}

  /// Begins to load the block's rows.
  void loadRows();
  /// Begins to load the first tile of those from `from` to `to`.
  void loadFirst(Value from, Value to, Carried &carried);

  /// What the pass does with the tile from `column` on, by threads for which
  /// `hasRows` holds; null: by all. All load.
  Carried visit(Value column, Value hasRows, Carried carried);

  SmallVector<SmallVector<Value>> multiply() override;
  void addWeighted(ArrayRef<Value> weights, Carried &carried) override;
  void endTile(Carried &carried) override {
    if (other)
      carried.ring = {other};
  }

private:
  Value stageAt(Value stage) {
    return block.sharedByte(base,
                            block.add(block.mul(stage, strips.stageBytes()),
                                      block.index(strips.leftBytes())));
  }
  void loadTile(Value column, Value stage);
  void swapStages(Value column, const Carried &carried);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  const Strips &strips;
  Value base;
  Value last;        ///< behind the last column
  Value tile, other; ///< the tile's address; the other stage, if there is one
};
} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static std::optional<CopyPlan> planCopies(const Step &step,
                                          const PairPass &pass) {
  bool isTensor = step.fitsTensorCores(pass, /*orWide=*/true,
                                       /*orShort=*/step.isSplit());
  bool isForward = pass.weigh == Weigh::Forward;
  // Forward, sums of more features and what a mask needs beside them are more
  // than there are registers; backward, a pass has sums of few, but none are
  // left for an edge.
  bool isPlain =
      step.leavesRegisters() && (isForward ? !step.bandLower && !step.bandUpper
                                           : !step.hasEdge(pass, kFewColumns));
  bool isLean = isForward || step.leavesRegisters();
  int64_t most = isLean ? kFewFeatures : kFewFeatures / 2;
  auto isMany = [&](unsigned dim) {
    return ShapedType::isDynamic(step.sizeOf(dim)) || step.sizeOf(dim) > most;
  };
  if (!isTensor || (!isPlain && (isMany(step.d) || isMany(step.e))))
    return std::nullopt;
  // Blocks of all rows, where that is known: tall ones for all multiprocessors.
  int64_t allRows = step.sizeOf(pass.rowDim);
  for (unsigned dim : pass.outer)
    allRows = ShapedType::isDynamic(allRows) ||
                      ShapedType::isDynamic(step.sizeOf(dim))
                  ? ShapedType::kDynamic
                  : allRows * step.sizeOf(dim);
  bool mayBeTall = step.shortWeights && !step.isSplit() &&
                   (isForward || step.leavesRegisters()) &&
                   pass.parts() * kPart <= kFewFeatures &&
                   ShapedType::isStatic(allRows) &&
                   allRows >= kTallRows * step.multiprocessors;
  // Most rows of a block should be there.
  if (!isForward)
    mayBeTall &= step.sizeOf(pass.rowDim) >= kTallRows;
  TileShape shape;
  shape.fragments = true;
  std::optional<Strips> strips;
  ArrayRef<int64_t> columnsOfTiles =
      ArrayRef(kTiles).drop_front(step.leavesRegisters() ? 0 : 2);
  auto isGood = [&](int64_t columns, int64_t stages) {
    shape.columns = columns;
    int64_t scores =
        shape.scoresOfThread() * (pass.weigh == Weigh::Slopes ? 2 : 1);
    int64_t sums = shape.rowsOfThread * pass.parts() * kOwn;
    bool hasBand = step.bandLower || step.bandUpper,
         hasEdge = step.hasEdge(pass, columns);
    int64_t numbers = hasBand   ? kTallWithBand
                      : hasEdge ? kTallWithEdge
                                : kTallNumbers;
    bool isTall = shape.rowsOfThread > 2;
    if (!isForward && isTall && scores + sums > numbers)
      return false;
    if (!isForward && !isTall && (hasBand || hasEdge) &&
        pass.parts() * kPart > kFewFeatures / 2 && columns > kFewColumns)
      return false;
    strips = stripsFor(step, pass, shape, stages);
    // Two blocks, if tiles are not too small for it, without an edge in each.
    int64_t all = step.sizeOf(pass.columnDim);
    bool isWhole = ShapedType::isDynamic(all) || all % columns == 0 ||
                   all % kFewColumns != 0;
    return strips && ((strips->areaBytes() <= kHalfBytes && isWhole) ||
                      columns <= kFewColumns);
  };
  shape.rowsOfThread = 4;
  shape.rows = kWarps * 8 * shape.rowsOfThread;
  if (mayBeTall && isForward) {
    for (int64_t columns : columnsOfTiles)
      if (isGood(columns, /*stages=*/2))
        return CopyPlan{shape, *strips};
  } else if (mayBeTall) {
    // Two blocks, of tiles that are not too small: rows are read for each.
    for (int64_t stages : {2, 1})
      for (int64_t columns : columnsOfTiles)
        if (columns >= kFewColumns && isGood(columns, stages) &&
            strips->areaBytes() <= kHalfBytes)
          return CopyPlan{shape, *strips};
  }
  shape.rowsOfThread = 2;
  shape.rows = kWarps * 8 * shape.rowsOfThread;
  for (int64_t columns : columnsOfTiles)
    if (isGood(columns, /*stages=*/2))
      return CopyPlan{shape, *strips};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void CopiedTiles::loadRows() {
  load(strips.lefts, block.firstRow, base);
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void CopiedTiles::loadTile(Value column, Value stage) {
  {
    auto some =
        scf::IfOp::create(b, loc, block.lessSigned(column, last), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.thenBlock());
    load(strips.tiles, column, stageAt(stage));
  }
  // Also where there is nothing: groups are counted.
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void CopiedTiles::loadFirst(Value from, Value to, Carried &carried) {
  last = to;
  loadTile(from, block.index(0));
  if (strips.stages > 1)
    carried.ring = {block.index(0)};
}

/// Waits for the tile from `column` on, and begins to load the next if there is
/// a stage for it.
void CopiedTiles::swapStages(Value column, const Carried &carried) {
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
  gpu::BarrierOp::create(b, loc);
  if (strips.stages == 1) {
    tile = stageAt(block.index(0));
    return;
  }
  Value stage = carried.ring[0];
  other = block.sub(block.index(1), stage);
  loadTile(block.add(column, block.index(block.shape.columns)), other);
  tile = stageAt(stage);
}

Carried CopiedTiles::visit(Value column, Value hasRows, Carried carried) {
  swapStages(column, carried);
  if (!hasRows) {
    carried = visitTile(block, *this, column, std::move(carried));
    if (strips.stages == 1) {
      gpu::BarrierOp::create(b, loc); // all have read the tile
      loadTile(block.add(column, block.index(block.shape.columns)),
               block.index(0));
    }
    return carried;
  }
  assert(strips.stages > 1 && "of few rows");
  auto some =
      scf::IfOp::create(b, loc, TypeRange(ValueRange(carried.flat())), hasRows,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(some.elseBlock());
  Carried idle = carried;
  endTile(idle);
  scf::YieldOp::create(b, loc, idle.flat());
  b.setInsertionPointToStart(some.thenBlock());
  scf::YieldOp::create(b, loc, visitTile(block, *this, column, carried).flat());
  return carried.with(some.getResults());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<SmallVector<Value>> CopiedTiles::multiply() {
  SmallVector<SmallVector<Value>> products;
  for (size_t i = 0; i < strips.lefts.size(); ++i) {
    HalfLines left = linesOf(strips.lefts, i, base),
              right = linesOf(strips.tiles, i, tile);
    products.emplace_back(block.shape.scoresOfThread(), block.number(0));
    multiplyLines(block, left, right, strips.lefts[i].length, products.back());
  }
  return products;
}

void CopiedTiles::addWeighted(ArrayRef<Value> weights, Carried &carried) {
  const PairPass &pass = block.pass;
  const Strip &factor = strips.tiles[strips.factor];
  HalfLines lines = linesOf(strips.tiles, strips.factor, tile);
  auto fragments =
      weightFragmentsOfRows(block, weights, block.step.hasFiniteWeights(pass));
  int64_t own =
      static_cast<int64_t>(carried.totals.size()) / block.shape.rowsOfThread;
  addFragments(block, fragments, lines, pass.slab - factor.first, /*first=*/0,
               own, carried.totals);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

gpu::LaunchOp gpukernels::pairs::launchOnCopies(OpBuilder &b, const Step &step,
                                                const PairPass &pass) {
  std::optional<CopyPlan> plan = planCopies(step, pass);
  if (!plan)
    return {};
  OpBuilder::InsertionGuard outside(b);
  PairBlock block(b, step, pass, plan->shape);
  gpu::LaunchOp launch = block.launch(kThreads);
  CopiedTiles tiles(block, plan->strips, launch);
  block.rowOfThread =
      block.rowInWarps(block.thread, 8 * plan->shape.rowsOfThread);
  block.laneOfRow = block.rem(block.thread, kPerRow);
  // Of few rows some warps have none, and would read tiles all the same.
  int64_t rowsOfWarp = plan->shape.rows / kWarps;
  int64_t rows = step.sizeOf(pass.rowDim);
  Value hasRows;
  if (ShapedType::isStatic(rows) && rows <= plan->shape.rows - rowsOfWarp)
    hasRows = block.less(block.mul(block.div(block.thread, kWarp), rowsOfWarp),
                         step.sizes[pass.rowDim]);
  tiles.loadRows();
  block.keepRows();
  Carried carried = block.overInner(block.beginRows(pass), [&](Carried now) {
    auto [from, to] = block.columnRange();
    if (!pass.inner.empty())
      gpu::BarrierOp::create(b, block.loc); // those before have been read
    tiles.loadFirst(from, to, now);
    Carried after =
        block.carry(from, to, block.index(plan->shape.columns), now,
                    [&](Value column, Carried next) {
                      return tiles.visit(column, hasRows, std::move(next));
                    });
    after.ring.clear();
    return after;
  });
  block.finishRows(pass, carried);
  return launch;
}
