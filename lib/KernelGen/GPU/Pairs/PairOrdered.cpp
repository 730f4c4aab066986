//===- PairOrdered.cpp - All gradients of attention by one kernel ---------===//
//
// For all GPUs. A block has 64 keys and values, goes through tiles of queries
// and their cotangents, and keeps the sums of gradients of keys and of values
// in registers. What it finds for a tile's queries, other blocks find parts of
// too: each adds its part to device memory when it is its turn (Turns.h), keys
// first to last. So scores and slopes are computed once: five products, where a
// kernel for each gradient takes eight.
//
// Four warps have a quarter of a tile of scores each, 32 keys by half of its
// queries. Weights and slopes go to shared memory, and each warp multiplies all
// queries' for 32 keys and half of the features; of queries, half of the tile's
// and half of the features. Blocks have numbers such that those of other heads
// come in between: few of those at work wait for one another.
//
//===----------------------------------------------------------------------===//
#include "../Turns.h"
#include "PairKernels.h"
#include "PairScores.h"
#include "PairStrips.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Rows of a block and of a warp; warps that have columns, or features, of
/// their own. [shape]
static constexpr int64_t kBlockRows = 64, kWarpRows = 32, kGroups = 2;
/// Columns of a tile, and parts in which a warp finds its scores of it where
/// numbers for an edge or a band are in registers too. [shape]
static constexpr int64_t kColumnsOfTile = 64, kPartsWithEdge = 2;
/// Features of which two gradients' sums stay in registers; and beside what an
/// edge or a band needs, where all scores of a part are found at once. [shape]
static constexpr int64_t kMostFeatures = 128, kMostAtOnce = 96;
/// Where features are more: rows of a warp whose scores are found at once, and
/// features of queries whose gradients are. [shape]
static constexpr int64_t kFewRows = 16, kFewFeatures = 16;
/// Threads that clear. [shape]
static constexpr int64_t kClearing = 256;

namespace {
/// How the work is cut.
struct OrderedPlan {
  OrderedPlan(const Step &step);

  PairPass weights, slopes;
  TileShape shape; ///< of scores, those of a part
  int64_t parts = 1;
  bool isTight = false;         ///< registers are few beside the sums
  std::optional<Strips> strips; ///< none: there is no such kernel

  /// Weights, or slopes, of a tile: lines of columns.
  int64_t pitchBytes() const {
    return 2 * (isSwizzled() ? shape.columns : shape.columns + kPieceHalves);
  }
  bool isSwizzled() const { return shape.columns % (8 * kPieceHalves) == 0; }
  int64_t weightBytes() const { return kBlockRows * pitchBytes(); }
  int64_t areaBytes() const { return strips->areaBytes() + 2 * weightBytes(); }
};

/// Writes the kernel.
class OrderedTiles : private StripCopies {
public:
  /// Takes shared memory of `launch`, in which the builder inserts. `shape` is
  /// the block's.
  OrderedTiles(PairBlock &block, TileShape &shape, const OrderedPlan &plan,
               gpu::LaunchOp launch, Turns &turns);

  void run();

private:
  HalfLines leftOf(size_t which) { return linesOf(strips.lefts, which, base); }
  HalfLines tileOf(size_t which) {
    HalfLines lines = linesOf(strips.tiles, which, base);
    lines.offset += strips.leftBytes();
    return lines;
  }
  /// Weights (0) and slopes (1) of a tile.
  HalfLines scoresOf(size_t which) {
    int64_t behind = strips.areaBytes() + which * plan.weightBytes();
    return {base, plan.pitchBytes(), plan.isSwizzled(), behind};
  }
  void place();
  void loadTile(Value column, Value end);
  void placeThread(Value thread);
  void placeThreadAnew();
  SmallVector<Value> multiply(size_t which);
  void forEachPart(int64_t parts, llvm::function_ref<void(Value)> body);
  void findLimits();
  Value countsAt(size_t which);
  void findPart(Value first);
  void findScores();
  void addOwn(Carried &carried);
  void addOthers(Value column);
  SmallVector<Value> multiplyOthers(Value feature, int64_t features);
  void addOthers(ArrayRef<Value> sums, Value feature);
  Carried visit(Value column, Value end, Carried carried);
  Value placeOf(Value column);
  void store(const PairPass &pass, ArrayRef<Value> sums);
  SmallVector<Value> begin(const PairPass &pass);
  Value firstFeatureOf(const PairPass &pass) {
    return block.mul(group, pass.features);
  }

  PairBlock &block;
  TileShape &shape;
  OpBuilder &b;
  Location loc;
  const OrderedPlan &plan;
  const Strips &strips;
  Turns &turns;
  Value base;
  Value ownThread;
  Value half, group; ///< of a tile's rows, and of columns or features: a warp's
  Value turn;
  // Of a tile, null where all count: of a thread's first row the column, behind
  // its first, that is the first one to count, and that behind the last; behind
  // the last that there is; and behind the last row that there is.
  Value firstCounting, endCounting, endColumn, endRow;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Whether the last block has fewer rows.
static bool hasRowEdge(const Step &step) {
  int64_t rows = step.sizeOf(step.k);
  return ShapedType::isDynamic(rows) || rows % kBlockRows != 0;
}

OrderedPlan::OrderedPlan(const Step &step)
    : weights(step, Weigh::Weights, step.k, &step.states[2], step.e,
              &step.rows[2]),
      slopes(step, Weigh::Slopes, step.k, &step.states[1], step.d,
             &step.query) {
  auto isFew = [&](unsigned dim) {
    return ShapedType::isStatic(step.sizeOf(dim)) &&
           step.sizeOf(dim) <= kMostFeatures;
  };
  if (!step.leavesRegisters() || !isFew(step.d) || !isFew(step.e) ||
      !step.fitsTensorCores(weights, /*orWide=*/true) ||
      !step.fitsTensorCores(slopes, /*orWide=*/true) ||
      !isInPieces(step.states[0], step.d))
    return;
  for (unsigned dim : llvm::seq(step.q))
    // One block has the keys of one head, and of values; other heads' blocks
    // have queries of their own.
    if (weights.target->has(dim) != slopes.target->has(dim) ||
        !step.states[0].has(dim))
      return;
  for (PairPass *pass : {&weights, &slopes}) {
    int64_t all = llvm::alignTo(step.sizeOf(pass->feature), kPart);
    pass->features = all / kGroups;
    pass->granule = kPart / kGroups;
  }
  shape.fragments = true;
  shape.rows = kBlockRows;
  shape.rowsOfThread = kWarpRows / 8;
  bool hasEdge = step.hasEdge(slopes, kColumnsOfTile) || hasRowEdge(step);
  bool hasBand = step.bandLower || step.bandUpper;
  isTight = (hasEdge || hasBand) &&
            std::max(step.sizeOf(step.d), step.sizeOf(step.e)) > kMostAtOnce;
  if (isTight && hasEdge && hasBand)
    return;
  parts = hasEdge || hasBand ? kPartsWithEdge : 1;
  shape.columnGroups = kGroups * parts;
  shape.featureGroups = kGroups;
  shape.columns = kColumnsOfTile;
  strips = stripsFor(step, slopes, shape, /*stages=*/1);
  if (strips && areaBytes() > kMostBytes)
    strips.reset();
}

/// Tiles of 64 x 64 scores that the multiprocessor with most blocks computes
/// products of, times products; nothing where sizes are not known.
static std::optional<int64_t> productsOf(const Step &step, unsigned rowDim,
                                         const Tensor &target,
                                         int64_t products) {
  int64_t blocks = 1, tiles = 1;
  for (unsigned dim : llvm::seq(step.q + 2)) {
    int64_t size = step.sizeOf(dim);
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    bool isTiled = dim == step.q || dim == step.k;
    int64_t count = isTiled ? llvm::divideCeil(size, kBlockRows) : size;
    bool isOfBlocks = isTiled ? dim == rowDim : target.has(dim);
    (isOfBlocks ? blocks : tiles) *= count;
  }
  return llvm::divideCeil(blocks, step.multiprocessors) * tiles * products;
}

bool gpukernels::pairs::fitsOrdered(const Step &step) {
  if (!OrderedPlan(step).strips)
    return false;
  // Of the gradients of queries, keys and values by a kernel each.
  auto ofQueries = productsOf(step, step.q, step.states[0], 3),
       ofKeys = productsOf(step, step.k, step.states[1], 3),
       ofValues = productsOf(step, step.k, step.states[2], 2),
       ofAll = productsOf(step, step.k, step.states[1], 5);
  return !ofAll || *ofAll <= *ofQueries + *ofKeys + *ofValues;
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

OrderedTiles::OrderedTiles(PairBlock &block, TileShape &shape,
                           const OrderedPlan &plan, gpu::LaunchOp launch,
                           Turns &turns)
    : StripCopies(block), block(block), shape(shape), b(block.b),
      loc(block.loc), plan(plan), strips(*plan.strips), turns(turns),
      base(block.shared(launch, plan.areaBytes(), b.getI8Type())) {
  turns.draw(launch);
  place();
  ownThread = block.thread;
  placeThread(ownThread);
}

/// Says which part of a tile the thread with this number has.
void OrderedTiles::placeThread(Value thread) {
  block.thread = thread;
  Value warp = block.div(thread, kWarp), lane = block.rem(thread, kWarp);
  half = block.div(warp, kGroups);
  group = block.rem(warp, kGroups);
  block.firstOfWarp = block.mul(half, kWarpRows);
  block.rowOfThread = block.add(block.firstOfWarp, block.div(lane, kPerRow));
  block.laneOfRow = block.rem(lane, kPerRow);
}

/// Where registers are few: finds that anew, from a number that no compiler
/// knows to be that of before. So no address that follows from it is kept
/// beside all sums. Blocks are fewer than 2^31.
void OrderedTiles::placeThreadAnew() {
  if (!plan.isTight)
    return;
  Value zero = arith::ShRUIOp::create(b, loc, turns.number(), block.index(31));
  placeThread(block.add(ownThread, zero));
}

/// Moves to the block's rows. Behind barriers that is done anew, so that
/// nothing of it is in registers where sums need them.
void OrderedTiles::place() {
  SmallVector<Value> saved = block.at;
  block.placeBlock(turns.number(), /*rowsLast=*/true);
  for (unsigned dim : block.pass.inner)
    if (saved[dim])
      block.at[dim] = saved[dim];
  turn = block.div(block.firstRow, kBlockRows);
}

/// Begins to load the tile from `column` on, if it begins before `end`.
void OrderedTiles::loadTile(Value column, Value end) {
  {
    auto some = scf::IfOp::create(b, loc, block.lessSigned(column, end), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.thenBlock());
    load(strips.tiles, column,
         block.sharedByte(base, block.index(strips.leftBytes())));
  }
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

/// A warp's products of rows and columns, number `which` of those that scores
/// and slopes take; of slopes' each column's delta is taken off.
SmallVector<Value> OrderedTiles::multiply(size_t which) {
  int64_t columns = block.shape.columnsOfThread();
  SmallVector<Value> sums(block.shape.scoresOfThread(), block.number(0));
  for (int64_t own = 0; which == 1 && own < columns; ++own) {
    block.placeColumn(own);
    Value less = arith::NegFOp::create(b, loc, block.load(block.step.rows[1]));
    for (size_t at = own; at < sums.size(); at += columns)
      sums[at] = less;
  }
  multiplyLines(block, leftOf(which), tileOf(which), strips.lefts[which].length,
                sums);
  return sums;
}

// Of rows and columns a thread knows how far they are apart: so few numbers
// say what counts.
void OrderedTiles::findLimits() {
  const Step &step = block.step;
  unsigned rowDim = block.pass.rowDim, columnDim = block.pass.columnDim;
  Value column =
      block.add(block.firstColumn,
                block.add(block.firstOfGroup, block.mul(block.laneOfRow, 2)));
  Value row = block.add(block.firstRow, block.rowOfThread);
  // Far outside is as good as just outside.
  int64_t far = kBlockRows + block.shape.columns;
  auto limit = [&](Value behind) {
    return block.toI32(
        block.most(block.least(behind, block.index(far)), block.index(-far)));
  };
  auto [bandFirst, bandLast] = block.bandOfRows();
  Value apart = block.sub(
      block.sub(block.add(step.start[rowDim], row), step.start[columnDim]),
      column);
  if (bandFirst)
    firstCounting = limit(block.add(apart, block.index(*bandFirst)));
  if (bandLast)
    endCounting = limit(block.add(apart, block.index(*bandLast + 1)));
  if (block.hasEdge())
    endColumn = limit(block.sub(step.sizes[columnDim], column));
  // Rows past the edge have products of zeros, whose weights are not zero.
  if (hasRowEdge(step))
    endRow = limit(block.sub(step.sizes[rowDim], row));
}

/// Whether score number `which` of a thread counts; null where each does.
Value OrderedTiles::countsAt(size_t which) {
  auto columns = static_cast<size_t>(block.shape.columnsOfThread());
  int64_t row = 8 * static_cast<int64_t>(which / columns),
          own = static_cast<int64_t>(which % columns);
  int64_t column = block.columnBehind(own);
  Value counts;
  auto also = [&](Value limit, arith::CmpIPredicate how, int64_t number) {
    if (!limit)
      return;
    Value is = block.compare(how, limit,
                             arith::ConstantIntOp::create(b, loc, number, 32));
    counts = counts ? block.both(counts, is) : is;
  };
  also(firstCounting, arith::CmpIPredicate::sle, column - row);
  also(endCounting, arith::CmpIPredicate::sgt, column - row);
  also(endColumn, arith::CmpIPredicate::sgt, column);
  also(endRow, arith::CmpIPredicate::sgt, row);
  return counts;
}

/// Emits `body` for each of `parts`: one after the other, so that none takes
/// registers for another.
void OrderedTiles::forEachPart(int64_t parts,
                               llvm::function_ref<void(Value)> body) {
  if (parts == 1)
    return body(block.index(0));
  auto loop = scf::ForOp::create(b, loc, block.index(0), block.index(parts),
                                 block.index(1));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void OrderedTiles::findScores() {
  int64_t rows = plan.isTight ? kFewRows : kWarpRows,
          rowParts = kWarpRows / rows, columns = block.shape.columns / kGroups;
  Value firstOfWarp = block.firstOfWarp, rowOfThread = block.rowOfThread;
  shape.rowsOfThread = rows / 8;
  forEachPart(plan.parts * rowParts, [&](Value part) {
    Value behind = block.mul(block.rem(part, rowParts), rows);
    block.firstOfWarp = block.add(firstOfWarp, behind);
    block.rowOfThread = block.add(rowOfThread, behind);
    findPart(
        block.add(block.mul(group, columns),
                  block.mul(block.div(part, rowParts), columns / plan.parts)));
  });
  shape.rowsOfThread = kWarpRows / 8;
  block.firstOfWarp = firstOfWarp;
  block.rowOfThread = rowOfThread;
}

/// Puts weights and slopes of the tile's columns from `first` on, a warp's,
/// into shared memory.
void OrderedTiles::findPart(Value first) {
  block.firstOfGroup = first;
  findLimits();
  Gradient gradient(block, Scores::roundsWeights(block));
  SmallVector<Value> raw = multiply(0), powers(raw.size());
  SmallVector<Value> weights = overScores(block, [&](size_t which, Value) {
    Value counts = countsAt(which);
    powers[which] = gradient.power(raw[which], counts);
    return gradient.weight(powers[which], counts);
  });
  storeWeights(block, weights, scoresOf(0));
  SmallVector<Value> dps = multiply(1);
  block.delta = block.number(0);
  SmallVector<Value> slopes = overScores(block, [&](size_t which, Value) {
    return gradient.slope(powers[which], raw[which], dps[which],
                          countsAt(which));
  });
  storeWeights(block, slopes, scoresOf(1));
}

/// Adds to the gradients of the block's keys and values.
void OrderedTiles::addOwn(Carried &carried) {
  auto addTo = [&](MutableArrayRef<Value> sums, const PairPass &pass,
                   size_t which) {
    addProducts(block, scoresOf(which), /*isTransposed=*/false,
                block.firstOfWarp, tileOf(1 - which), firstFeatureOf(pass),
                kWarpRows, block.shape.columns, sums);
  };
  addTo(carried.others, plan.weights, 0);
  addTo(carried.totals, plan.slopes, 1);
}

/// What the block's keys add to `features` gradients of the tile's queries,
/// from `feature` on: by row and feature of a thread.
SmallVector<Value> OrderedTiles::multiplyOthers(Value feature,
                                                int64_t features) {
  int64_t rows = block.shape.columns / kGroups;
  SmallVector<Value> sums(rows / 8 * features / kPerRow, block.number(0));
  addProducts(block, scoresOf(1), /*isTransposed=*/true, block.mul(half, rows),
              leftOf(0), feature, rows, kBlockRows, sums);
  return sums;
}

/// The counter of the tile from `column` on.
Value OrderedTiles::placeOf(Value column) {
  const Step &step = block.step;
  Value place = block.index(0);
  for (unsigned dim : llvm::seq(step.q))
    place = block.add(block.mul(place, step.sizes[dim]), block.at[dim]);
  Value tiles =
      arith::CeilDivUIOp::create(b, loc, step.sizes[block.pass.columnDim],
                                 block.index(block.shape.columns));
  return block.add(block.mul(place, tiles),
                   block.div(column, block.shape.columns));
}

/// Adds to the gradients of the queries of the tile from `column` on, when it
/// is the block's turn.
void OrderedTiles::addOthers(Value column) {
  Value first = firstFeatureOf(plan.slopes), counter = placeOf(column),
        mine = block.sub(turn, block.firstBlockOf(column));
  int64_t features = plan.slopes.features,
          few = plan.isTight ? kFewFeatures : features / plan.parts;
  // Parts of whole fragments, in lines that are swizzled alike.
  if (plan.parts == 1 || features % (2 * kPart) != 0) {
    SmallVector<Value> sums = multiplyOthers(first, features);
    turns.await(counter, mine);
    return addOthers(sums, first);
  }
  turns.await(counter, mine);
  forEachPart(features / few, [&](Value part) {
    Value feature = block.add(first, block.mul(part, few));
    addOthers(multiplyOthers(feature, few), feature);
  });
}

/// Adds `sums` to these gradients, from `feature` on.
void OrderedTiles::addOthers(ArrayRef<Value> sums, Value feature) {
  const Step &step = block.step;
  const Tensor &target = step.states[0];
  unsigned columnDim = block.pass.columnDim;
  int64_t rows = block.shape.columns / kGroups,
          perRow = static_cast<int64_t>(sums.size()) / (rows / 8);
  int64_t features = step.sizeOf(step.d);
  bool hasEdge = block.hasEdge(), fills = features % kPart == 0;
  SmallVector<Value> saved = block.at;
  Value first =
      block.add(block.firstColumn,
                block.add(block.mul(half, rows),
                          block.div(block.rem(block.thread, kWarp), kPerRow)));
  Type two = VectorType::get({2}, step.type);
  auto when = [&](Value condition) {
    auto some = scf::IfOp::create(b, loc, condition, false);
    b.setInsertionPointToStart(some.thenBlock());
  };
  for (int64_t row = 0; row < rows / 8; ++row) {
    OpBuilder::InsertionGuard guard(b);
    Value query = block.add(first, block.index(8 * row));
    if (hasEdge)
      when(block.lessSigned(query, step.sizes[columnDim]));
    block.at[columnDim] = query;
    block.at[step.d] = block.add(feature, block.mul(block.laneOfRow, 2));
    Value begin = addressOf(b, loc, target.memref, block.subscripts(target));
    for (int64_t own = 0; own < perRow; own += 2) {
      OpBuilder::InsertionGuard featureGuard(b);
      int64_t behind = own / 2 * 8;
      if (!fills)
        when(block.lessSigned(block.add(feature, block.index(behind)),
                              block.index(features)));
      Value place = LLVM::GEPOp::create(
          b, loc, begin.getType(), step.type, begin,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(behind)});
      Value before = LLVM::LoadOp::create(b, loc, two, place, /*alignment=*/8);
      Value more = vector::FromElementsOp::create(
          b, loc, two, ValueRange(sums.slice(row * perRow + own, 2)));
      Value sum = arith::AddFOp::create(b, loc, before, more);
      LLVM::StoreOp::create(b, loc, sum, place, /*alignment=*/8);
    }
  }
  block.at = saved;
}

Carried OrderedTiles::visit(Value column, Value end, Carried carried) {
  block.firstColumn = column;
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
  gpu::BarrierOp::create(b, loc);
  place();
  placeThreadAnew();
  findScores();
  gpu::BarrierOp::create(b, loc);
  addOwn(carried);
  gpu::BarrierOp::create(b, loc); // all have read the tile
  place();
  placeThreadAnew();
  loadTile(block.add(column, block.index(block.shape.columns)), end);
  addOthers(column);
  gpu::BarrierOp::create(b, loc);
  auto leads = scf::IfOp::create(
      b, loc, block.equal(block.thread, block.index(0)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(leads.thenBlock());
  place();
  turns.pass(placeOf(column), block.sub(turn, block.firstBlockOf(column)));
  return carried;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> OrderedTiles::begin(const PairPass &pass) {
  block.firstFeature = firstFeatureOf(pass);
  return block.beginRows(pass).totals;
}

void OrderedTiles::store(const PairPass &pass, ArrayRef<Value> sums) {
  block.firstFeature = firstFeatureOf(pass);
  Carried carried;
  carried.totals.assign(sums.begin(), sums.end());
  block.finishRows(pass, carried);
}

void OrderedTiles::run() {
  load(strips.lefts, block.firstRow, base);
  Carried carried;
  carried.totals = begin(plan.slopes);
  carried.others = begin(plan.weights);
  carried = block.overInner(carried, [&](Carried now) {
    auto [from, to] = block.columnRange();
    placeThreadAnew();
    loadTile(from, to);
    Value end = to;
    return block.carry(from, to, block.index(block.shape.columns), now,
                       [&](Value column, Carried next) {
                         return visit(column, end, std::move(next));
                       });
  });
  // A barrier, since blocks of no columns have come to none yet.
  gpu::BarrierOp::create(b, loc);
  placeThread(ownThread);
  place();
  store(plan.slopes, carried.totals);
  store(plan.weights, carried.others);
}

/// Sets the counters to 0, and gradients of queries to what they begin with.
static gpu::LaunchOp launchClear(OpBuilder &b, const Step &step,
                                 const Turns &turns) {
  OpBuilder::InsertionGuard outside(b);
  PairPoint point(b, step);
  Location loc = step.loc;
  const Tensor &target = step.states[0];
  Value counters = memref::DimOp::create(b, loc, turns.counters(), 0);
  SmallVector<unsigned> dims;
  for (AffineExpr expr : target.map.getResults())
    dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  int64_t lanes = step.lanes();
  SmallVector<Value> sizes;
  for (unsigned dim : dims)
    sizes.push_back(step.sizes[dim]);
  Value pieces = point.div(product(b, loc, sizes), lanes);
  Value all = target.start ? point.most(counters, pieces) : counters;
  Value number = beginLaunchOf(b, loc, all, kClearing);
  auto launch = cast<gpu::LaunchOp>(
      number.getDefiningOp()->getParentOfType<gpu::LaunchOp>());
  {
    auto isCounter =
        scf::IfOp::create(b, loc, point.less(number, counters), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isCounter.thenBlock());
    memref::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 32),
                            turns.counters(), number);
  }
  if (!target.start)
    return launch;
  auto isPiece = scf::IfOp::create(b, loc, point.less(number, pieces), false);
  b.setInsertionPointToStart(isPiece.thenBlock());
  Value left = point.mul(number, lanes);
  for (unsigned dim : llvm::reverse(dims)) {
    point.at[dim] = point.rem(left, step.sizes[dim]);
    left = point.div(left, step.sizes[dim]);
  }
  Type type = VectorType::get({lanes}, step.type);
  Value start = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(type), Attribute(target.start)));
  LLVM::StoreOp::create(
      b, loc, start, addressOf(b, loc, target.memref, point.subscripts(target)),
      /*alignment=*/16);
  return launch;
}

SmallVector<gpu::LaunchOp> gpukernels::pairs::launchOrdered(OpBuilder &b,
                                                            const Step &step) {
  OrderedPlan plan(step);
  assert(plan.strips && "fits");
  Location loc = step.loc;
  IndexBuilder indices(b, loc);
  Value places = arith::CeilDivUIOp::create(b, loc, step.sizes[step.q],
                                            indices.index(plan.shape.columns));
  int64_t known = ShapedType::isDynamic(step.sizeOf(step.q))
                      ? ShapedType::kDynamic
                      : static_cast<int64_t>(llvm::divideCeil(
                            step.sizeOf(step.q), plan.shape.columns));
  for (unsigned dim : llvm::seq(step.q)) {
    places = indices.mul(places, step.sizes[dim]);
    int64_t size = step.sizeOf(dim);
    known = ShapedType::isDynamic(size) || ShapedType::isDynamic(known)
                ? ShapedType::kDynamic
                : known * size;
  }
  Turns turns(b, loc, known, places);
  gpu::LaunchOp clear = launchClear(b, step, turns);
  OpBuilder::InsertionGuard outside(b);
  TileShape shape = plan.shape;
  PairBlock block(b, step, plan.slopes, shape);
  gpu::LaunchOp launch = block.launchUnplaced(kThreads);
  OrderedTiles(block, shape, plan, launch, turns).run();
  return {clear, launch};
}
