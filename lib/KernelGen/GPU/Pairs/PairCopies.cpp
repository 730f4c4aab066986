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
#include "PairFragments.h"
#include "PairKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Elements of a piece of 16 bytes.
static constexpr int64_t kPiece = 8;
/// Columns of a tile, the most first: from the third on where scores need more
/// registers; what two blocks of a multiprocessor may
/// have of its shared memory, and what one may on the least of them.
static constexpr int64_t kTiles[] = {64, 48, 32, 16}, kFewColumns = 32;
static constexpr int64_t kHalfBytes = 80 * 1024, kMostBytes = 99 * 1024;
static constexpr int64_t kWarps = kThreads / kWarp;
/// Features of which a warp may have sums for 32 rows, or need more beside.
static constexpr int64_t kFewFeatures = 128;
/// Registers that a thread's scores and sums may take where it has four rows;
/// where an edge, or a band, needs some as well.
static constexpr int64_t kTallNumbers = 192, kTallWithEdge = 160,
                         kTallWithBand = 128;
/// Rows of a tall block; multiprocessors of a large GPU: with a block for each,
/// blocks are tall.
static constexpr int64_t kTallRows = 128, kMany = 128;

namespace {
/// Lines of a tensor as they are in shared memory.
struct Strip : Lines {
  bool isWide; ///< f32 in memory

  bool isSwizzled() const { return length % (8 * kPiece) == 0; }
  int64_t pitchBytes() const {
    return (isSwizzled() ? length : length + kPiece) * 2;
  }
  int64_t bytes() const { return lines * pitchBytes(); }
};

/// What the block's rows are, for each product of scores, and behind it stages
/// of what tiles of columns are: two, or one, which is loaded again as soon as
/// all have read it, while another block multiplies.
struct Strips {
  SmallVector<Strip> lefts, tiles;
  size_t factor = 0; ///< the one of `tiles` that weights are multiplied with
  int64_t stages = 2;

  static int64_t bytesOf(ArrayRef<Strip> all) {
    int64_t bytes = 0;
    for (const Strip &strip : all)
      bytes += strip.bytes();
    return bytes;
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
};

/// How a block's work is cut, and what it reads.
struct CopyPlan {
  TileShape shape;
  Strips strips;
};

/// Tiles that arrive by cp.async.
class CopiedTiles final : public TileProducts {
public:
  /// Takes shared memory of `launch`, in which the builder inserts.
  CopiedTiles(PairBlock &block, const Strips &strips, gpu::LaunchOp launch)
      : block(block), b(block.b), loc(block.loc), strips(strips),
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
  Value areaOf(ArrayRef<Strip> all, size_t which, Value from) {
    return block.sharedByte(
        from, block.index(Strips::bytesOf(all.take_front(which))));
  }
  HalfLines linesOf(ArrayRef<Strip> all, size_t which, Value from) {
    const Strip &strip = all[which];
    return {from, strip.pitchBytes(), strip.isSwizzled(),
            Strips::bytesOf(all.take_front(which))};
  }
  Value stageAt(Value stage) {
    return block.sharedByte(base,
                            block.add(block.mul(stage, strips.stageBytes()),
                                      block.index(strips.leftBytes())));
  }
  void load(ArrayRef<Strip> all, Value line, Value to) {
    for (auto [i, strip] : llvm::enumerate(all))
      loadStrip(strip, line, areaOf(all, i, to));
  }
  void loadStrip(const Strip &strip, Value firstLine, Value area);
  void loadTile(Value column, Value stage);
  void swapStages(Value column, const Carried &carried);
  void loadRounded(Value from, Value inside, Value to);

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

/// Whether neighbours along `dim`, if there are any, are in pieces of 16 bytes,
/// or of 32 where they are f32.
static bool isInPieces(const Tensor &tensor, unsigned dim) {
  auto type = cast<MemRefType>(tensor.memref.getType());
  int64_t last = type.getRank() - 1, offset;
  SmallVector<int64_t> strides;
  if (last < 0 || !beginsAligned(tensor.memref) || type.isDynamicDim(last) ||
      type.getDimSize(last) == 0 || type.getDimSize(last) % kPiece != 0 ||
      cast<AffineDimExpr>(tensor.map.getResult(last)).getPosition() != dim ||
      failed(type.getStridesAndOffset(strides, offset)))
    return false;
  // Each stride is a multiple of the last dim.
  if (type.getLayout().isIdentity())
    return true;
  auto fits = [](int64_t stride) {
    return ShapedType::isStatic(stride) && stride % kPiece == 0;
  };
  return fits(offset) && strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), fits);
}

/// What a kernel for `pass` reads; nothing where it is none.
static std::optional<Strips> stripsFor(const Step &step, const PairPass &pass,
                                       const TileShape &shape, int64_t stages) {
  std::optional<Operands> operands =
      operandsOf(step, pass, shape.rows, shape.columns, pass.features);
  if (!operands)
    return std::nullopt;
  Strips strips;
  strips.factor = operands->factor;
  strips.stages = stages;
  bool fits = true;
  auto put = [&](SmallVector<Strip> &to, ArrayRef<Lines> from) {
    for (const Lines &lines : from) {
      bool isWide = !step.isHalf(*lines.tensor);
      fits &= isInPieces(*lines.tensor, lines.dim) &&
              (!isWide || step.roundsWide(*lines.tensor));
      to.push_back({lines, isWide});
    }
  };
  put(strips.lefts, operands->lefts);
  put(strips.tiles, operands->tiles);
  if (!fits || strips.areaBytes() > kMostBytes)
    return std::nullopt;
  return strips;
}

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
                   allRows >= kTallRows * std::min(step.multiprocessors, kMany);
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

/// Lets copies load the lines of `strip` from `firstLine` on to `area`: zeros
/// past the edges.
void CopiedTiles::loadStrip(const Strip &strip, Value firstLine, Value area) {
  const Step &step = block.step;
  SmallVector<Value> saved = block.at;
  int64_t perLine = strip.length / kPiece, pieces = strip.lines * perLine;
  int64_t numLines = step.sizeOf(strip.lineDim);
  bool linesFit = ShapedType::isStatic(numLines) && numLines % strip.lines == 0;
  bool partsFit = strip.first + strip.length <= step.sizeOf(strip.dim);
  // Where a thread's pieces are below one another it finds one place.
  bool isStraight = kThreads % perLine == 0;
  Value line0 = block.div(block.thread, perLine),
        part0 = block.rem(block.thread, perLine);
  auto placeOf = [&](Value line, Value part) {
    Value place = strip.isSwizzled() ? swizzledPiece(block, line, part) : part;
    return block.sharedByte(area, block.add(block.mul(line, strip.pitchBytes()),
                                            block.mul(place, 2 * kPiece)));
  };
  auto loadPiece = [&](Value line, Value part, Value to) {
    Value atLine = block.add(firstLine, line);
    Value atPart = block.add(block.mul(part, kPiece), block.index(strip.first));
    Value inside;
    if (!linesFit)
      inside = block.lessSigned(atLine, step.sizes[strip.lineDim]);
    if (!partsFit) {
      Value counts = block.lessSigned(atPart, step.sizes[strip.dim]);
      inside = inside ? block.both(inside, counts) : counts;
    }
    block.at[strip.lineDim] =
        inside ? block.choose(inside, atLine, block.index(0)) : atLine;
    block.at[strip.dim] =
        inside ? block.choose(inside, atPart, block.index(0)) : atPart;
    Value from = addressOf(b, loc, strip.tensor->memref,
                           block.subscripts(*strip.tensor));
    if (strip.isWide)
      return loadRounded(from, inside, to);
    Value read;
    if (inside)
      read = block.choose(inside, arith::ConstantIntOp::create(b, loc, 16, 32),
                          arith::ConstantIntOp::create(b, loc, 0, 32));
    NVVM::CpAsyncOp::create(b, loc, to, from, 16u,
                            NVVM::LoadCacheModifierKind::CG, read);
  };
  bool isLean = step.leavesRegisters() || (linesFit && partsFit);
  if (isLean && isStraight && pieces % kThreads == 0) {
    // Eight lines further on, a piece has the same place in its line.
    int64_t linesAtOnce = kThreads / perLine,
            places =
                strip.isSwizzled() && linesAtOnce < 8 ? 8 / linesAtOnce : 1;
    SmallVector<Value> firsts;
    for (int64_t i = 0; i < places; ++i)
      firsts.push_back(
          placeOf(block.add(line0, block.index(i * linesAtOnce)), part0));
    for (int64_t i = 0; i < pieces / kThreads; ++i) {
      int64_t behind = (i - i % places) * linesAtOnce * strip.pitchBytes();
      loadPiece(block.add(line0, block.index(i * linesAtOnce)), part0,
                block.sharedByte(firsts[i % places], block.index(behind)));
    }
  } else {
    // Each has a place of its own to find: not all at once, of few registers.
    auto loop = scf::ForOp::create(b, loc, block.thread, block.index(pieces),
                                   block.index(kThreads));
    setUnrolling(loop, 2);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value piece = loop.getInductionVar();
    Value line = block.div(piece, perLine), part = block.rem(piece, perLine);
    loadPiece(line, part, placeOf(line, part));
  }
  block.at = saved;
}

/// Eight floats, rounded to 16 bits; zeros where they are not `inside`.
void CopiedTiles::loadRounded(Value from, Value inside, Value to) {
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Type type = block.step.type, four = VectorType::get({4}, type);
  Value words =
      LLVM::PoisonOp::create(b, loc, VectorType::get({4}, b.getI32Type()));
  for (int32_t load = 0; load < 2; ++load) {
    Value place = LLVM::GEPOp::create(b, loc, from.getType(), type, from,
                                      ArrayRef<LLVM::GEPArg>{4 * load});
    Value loaded = LLVM::LoadOp::create(b, loc, four, place, /*alignment=*/16);
    for (int64_t pair = 0; pair < 2; ++pair) {
      SmallVector<Value> two;
      for (int64_t i = 0; i < 2; ++i) {
        Value one =
            LLVM::ExtractElementOp::create(b, loc, loaded, spot(2 * pair + i));
        two.push_back(inside ? block.choose(inside, one, block.number(0))
                             : one);
      }
      words = LLVM::InsertElementOp::create(
          b, loc, words,
          splitToHalves(block, two[0], two[1], /*terms=*/1, /*isFinite=*/true)
              .front(),
          spot(2 * load + pair));
    }
  }
  LLVM::StoreOp::create(b, loc, words, to, /*alignment=*/16);
}

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
