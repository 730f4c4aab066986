//===- PairStaged.cpp - Steps of any types, for all GPUs ------------------===//
//
// Tiles come to shared memory part after part, of a depth or of features, and
// are read between two barriers. Products are multiply-adds of each thread
// (simt), or of 16-bit floats mma.sync.
//
//===----------------------------------------------------------------------===//
#include "PairFragments.h"
#include "PairKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

/// Bytes from one row of 16-bit numbers to the next: eight rows, at one column,
/// use all banks. [shape]
static constexpr int64_t kHalfPitch = 80;

namespace {
class StagedTiles final : public TileProducts {
public:
  /// Takes shared memory of `launch`, in which the builder inserts.
  StagedTiles(PairBlock &block, gpu::LaunchOp launch);

  SmallVector<SmallVector<Value>> multiply() override;
  void addWeighted(ArrayRef<Value> weights, Carried &carried) override;
  /// Lets all threads see what each has of a tile.
  void share(ArrayRef<Value> scores);
  Value sharedScore(int64_t row, Value column) {
    return loadShared(block.step.type,
                      sharedAt(scoreArea, block.rowAt(row), column));
  }

private:
  Value sharedAt(Value area, Value row, Value column);
  Value halfAt(Value area, Value row, Value column);
  static HalfLines halfLines(Value area) { return {area, kHalfPitch}; }
  Value loadShared(Type type, Value address) {
    return LLVM::LoadOp::create(b, loc, type, address,
                                block.step.type.getIntOrFloatBitWidth() / 8);
  }
  SmallVector<Value> loadLanes(Value area, Value line, Value from);
  void stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
             int64_t lines, unsigned dim, Value first, Value area, bool halves);
  SmallVector<Value> contract(const Tensor &left, const Tensor &right,
                              unsigned dim, Region *pair);
  SmallVector<Value> multiplyLanes(ValueRange sums, unsigned dim, Value from,
                                   Region *pair);
  void addLanes(int64_t first, int64_t features, Carried &carried);

  PairBlock &block;
  OpBuilder &b;
  Location loc;
  int64_t pitch; ///< of a row in shared memory
  Value leftArea, rightArea, scoreArea;
};
} // namespace

StagedTiles::StagedTiles(PairBlock &block, gpu::LaunchOp launch)
    : block(block), b(block.b), loc(block.loc),
      pitch(kColumns + block.step.lanes()) {
  auto area = [&](int64_t lines) {
    return block.shared(launch, lines * pitch, block.step.type);
  };
  leftArea = area(block.shape.rows);
  rightArea = area(kColumns);
  if (!block.shape.fragments)
    scoreArea = area(block.shape.rows);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value StagedTiles::sharedAt(Value area, Value row, Value column) {
  Value offset = block.mul(block.add(block.mul(row, pitch), column),
                           block.step.type.getIntOrFloatBitWidth() / 8);
  return block.sharedByte(area, offset);
}

Value StagedTiles::halfAt(Value area, Value row, Value column) {
  Value offset =
      block.mul(block.add(block.mul(row, kHalfPitch / 2), column), 2);
  return block.sharedByte(area, offset);
}

/// Numbers of 16 bytes from `from` on of a line.
SmallVector<Value> StagedTiles::loadLanes(Value area, Value line, Value from) {
  int64_t lanes = block.step.lanes();
  Type vector = VectorType::get({lanes}, block.step.type);
  Value all =
      LLVM::LoadOp::create(b, loc, vector, sharedAt(area, line, from), 16);
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(LLVM::ExtractElementOp::create(
        b, loc, all,
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(lane))));
  return values;
}

/// Loads `lines` lines along `lineDim`, from `firstLine` on, and kPart elements
/// along `dim` of each: zeros past the edges.
void StagedTiles::stage(const Tensor &tensor, unsigned lineDim, Value firstLine,
                        int64_t lines, unsigned dim, Value first, Value area,
                        bool halves) {
  const Step &step = block.step;
  SmallVector<Value> saved = block.at;
  auto loop = scf::ForOp::create(
      b, loc, block.thread, block.index(lines * kPart), block.index(kThreads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = block.div(loop.getInductionVar(), kPart);
  Value part = block.rem(loop.getInductionVar(), kPart);
  Value atLine = block.add(firstLine, line), atPart = block.add(first, part);
  Value inside = block.both(block.lessSigned(atLine, step.sizes[lineDim]),
                            block.lessSigned(atPart, step.sizes[dim]));
  block.at[lineDim] = block.choose(inside, atLine, block.index(0));
  block.at[dim] = block.choose(inside, atPart, block.index(0));
  if (halves) {
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(step.half));
    LLVM::StoreOp::create(b, loc,
                          block.choose(inside, block.element(tensor), none),
                          halfAt(area, line, part), 2);
  } else {
    LLVM::StoreOp::create(
        b, loc, block.choose(inside, block.load(tensor), block.number(0)),
        sharedAt(area, line, part), step.type.getIntOrFloatBitWidth() / 8);
  }
  block.at = saved;
}

void StagedTiles::share(ArrayRef<Value> scores) {
  int64_t columns = block.shape.columnsOfThread();
  for (int64_t row = 0; row < block.shape.rowsOfThread; ++row)
    for (int64_t own = 0; own < columns; ++own)
      LLVM::StoreOp::create(
          b, loc, scores[row * columns + own],
          sharedAt(scoreArea, block.rowAt(row), block.columnAt(own)),
          block.step.type.getIntOrFloatBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Products of rows and columns
//===----------------------------------------------------------------------===//

SmallVector<SmallVector<Value>> StagedTiles::multiply() {
  const Step &step = block.step;
  bool rowsAreQueries = block.pass.rowDim == step.q;
  SmallVector<SmallVector<Value>> products;
  products.push_back(contract(rowsAreQueries ? step.query : step.key,
                              rowsAreQueries ? step.key : step.query, step.d,
                              step.pair));
  if (block.pass.weigh == Weigh::Slopes) {
    const Tensor &cotangents = step.rows[2];
    products.push_back(contract(rowsAreQueries ? cotangents : step.value,
                                rowsAreQueries ? step.value : cotangents,
                                step.e, nullptr));
  }
  return products;
}

/// For each row and column of a thread the sum, along `dim`, of products (or
/// what `pair` makes) of elements of both.
SmallVector<Value> StagedTiles::contract(const Tensor &left,
                                         const Tensor &right, unsigned dim,
                                         Region *pair) {
  const Step &step = block.step;
  const TileShape &shape = block.shape;
  SmallVector<Value> sums(shape.scoresOfThread(), block.number(0));
  auto parts = scf::ForOp::create(b, loc, block.index(0), step.sizes[dim],
                                  block.index(kPart), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(parts.getBody());
  Value from = parts.getInductionVar();
  gpu::BarrierOp::create(b, loc); // what was there has been read
  bool halves = shape.fragments && step.isHalf(left) && step.isHalf(right);
  stage(left, block.pass.rowDim, block.firstRow, shape.rows, dim, from,
        leftArea, halves);
  stage(right, block.pass.columnDim, block.firstColumn, kColumns, dim, from,
        rightArea, halves);
  gpu::BarrierOp::create(b, loc);
  SmallVector<Value> next(parts.getRegionIterArgs());
  if (halves)
    multiplyLines(block, halfLines(leftArea), halfLines(rightArea), kPart,
                  next);
  else
    next = multiplyLanes(next, dim, from, pair);
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(parts.getResults());
}

/// Adds to `sums` the products of what is in both areas, from `from` on
/// along `dim`.
SmallVector<Value> StagedTiles::multiplyLanes(ValueRange sums, unsigned dim,
                                              Value from, Region *pair) {
  const Step &step = block.step;
  int64_t lanes = step.lanes(), ownRows = block.shape.rowsOfThread,
          ownColumns = block.shape.columnsOfThread();
  auto steps = scf::ForOp::create(b, loc, block.index(0), block.index(kPart),
                                  block.index(lanes), sums);
  setUnrolling(steps, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(steps.getBody());
  Value at = steps.getInductionVar();
  SmallVector<SmallVector<Value>> lefts, rights;
  for (int64_t row = 0; row < ownRows; ++row)
    lefts.push_back(loadLanes(leftArea, block.rowAt(row), at));
  for (int64_t column = 0; column < ownColumns; ++column)
    rights.push_back(loadLanes(rightArea, block.columnAt(column), at));
  SmallVector<Value> next(steps.getRegionIterArgs());
  for (int64_t lane = 0; lane < lanes; ++lane)
    for (int64_t row = 0; row < ownRows; ++row)
      for (int64_t column = 0; column < ownColumns; ++column) {
        Value &sum = next[row * ownColumns + column];
        Value x = lefts[row][lane], y = rights[column][lane];
        if (!pair) {
          sum = math::FmaOp::create(b, loc, x, y, sum);
          continue;
        }
        // Of zeros past the edge it may make anything.
        Value term = block.evaluate(*pair, {x, y}, {});
        if (step.sizeOf(dim) % kPart != 0) {
          Value place = block.add(block.add(from, at), block.index(lane));
          term = block.choose(block.lessSigned(place, step.sizes[dim]), term,
                              block.number(0));
        }
        sum = arith::AddFOp::create(b, loc, sum, term);
      }
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(steps.getResults());
}

//===----------------------------------------------------------------------===//
// Products of weights and the factor
//===----------------------------------------------------------------------===//

void StagedTiles::addWeighted(ArrayRef<Value> weights, Carried &carried) {
  const PairPass &pass = block.pass;
  bool onCores = block.shape.fragments;
  SmallVector<SmallVector<SmallVector<Value>>> fragments;
  if (onCores)
    fragments = weightFragmentsOfRows(block, weights,
                                      block.step.hasFiniteWeights(pass));
  else
    share(weights);
  int64_t features = carried.totals.size() / block.shape.rowsOfThread;
  for (int64_t first = 0; first < features; first += kOwn) {
    gpu::BarrierOp::create(b, loc); // weights are there; the area has been read
    // `stage` goes line by line: a line is a column of the tile.
    stage(*pass.factor, pass.columnDim, block.firstColumn, kColumns,
          pass.feature, block.index(pass.slab + first * kPerRow), rightArea,
          onCores);
    gpu::BarrierOp::create(b, loc);
    if (onCores)
      addFragments(block, fragments, halfLines(rightArea), /*begin=*/0, first,
                   kOwn, carried.totals);
    else
      addLanes(first, features, carried);
  }
  // The next tile's first barrier comes before anyone writes here again.
}

/// Adds the products of weights in shared memory and the factor's part there to
/// totals from number `first` on of each row.
void StagedTiles::addLanes(int64_t first, int64_t features, Carried &carried) {
  int64_t lanes = block.step.lanes(), ownRows = block.shape.rowsOfThread;
  SmallVector<Value> sums;
  for (int64_t row = 0; row < ownRows; ++row)
    llvm::append_range(
        sums, ArrayRef(carried.totals).slice(row * features + first, kOwn));
  auto loop = scf::ForOp::create(b, loc, block.index(0), block.index(kColumns),
                                 block.index(1), sums);
  setUnrolling(loop, 4);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value column = loop.getInductionVar();
    SmallVector<Value> factors;
    for (int64_t part = 0; part < kOwn; part += lanes) {
      Value place = block.add(block.mul(block.laneOfRow, lanes),
                              block.index(part * kPerRow));
      llvm::append_range(factors, loadLanes(rightArea, column, place));
    }
    SmallVector<Value> next;
    for (int64_t row = 0; row < ownRows; ++row) {
      Value weight = sharedScore(row, column);
      for (Value factor : factors)
        next.push_back(math::FmaOp::create(b, loc, weight, factor,
                                           loop.getRegionIterArg(next.size())));
    }
    scf::YieldOp::create(b, loc, next);
  }
  for (int64_t row = 0; row < ownRows; ++row)
    for (int64_t i = 0; i < kOwn; ++i)
      carried.totals[row * features + first + i] =
          loop.getResult(row * kOwn + i);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

gpu::LaunchOp gpukernels::pairs::launchStaged(OpBuilder &b, const Step &step,
                                              const PairPass &pass) {
  OpBuilder::InsertionGuard outside(b);
  int64_t rows = step.sizeOf(pass.rowDim);
  bool isShort = ShapedType::isStatic(rows) && rows <= kRows;
  TileShape shape;
  shape.fragments = step.fitsTensorCores(pass);
  shape.rowsOfThread =
      !shape.fragments && (isShort || step.type.isF64() || pass.features > 128)
          ? 1
          : 2;
  shape.rows = shape.rowsOfThread * kRows;
  PairBlock block(b, step, pass, shape);
  gpu::LaunchOp launch = block.launch(kThreads);
  StagedTiles tiles(block, launch);
  block.rowOfThread = shape.fragments ? block.rowInWarps(block.thread, 16)
                                      : block.div(block.thread, kPerRow);
  block.laneOfRow = block.rem(block.thread, kPerRow);
  bool isList = step.combine == PairCombine::TopK;
  Carried carried =
      block.overColumns(block.beginRows(pass), [&](Value column, Carried now) {
        if (!isList)
          return visitTile(block, tiles, column, std::move(now));
        block.firstColumn = column;
        tiles.share(Scores(block).all(tiles.multiply().front()));
        gpu::BarrierOp::create(b, block.loc);
        putIntoLists(block, [&](int64_t row, Value at) {
          return tiles.sharedScore(row, at);
        });
        return now;
      });
  block.finishRows(pass, carried);
  return launch;
}
