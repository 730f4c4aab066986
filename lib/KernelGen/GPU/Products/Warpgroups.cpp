//===- Warpgroups.cpp - Products of 16-bit floats and tf32 on sm_90a ------===//
//
// Three warpgroups. One thread of the first brings tiles through a ring of
// stages: it waits until a stage is empty, says how many bytes will come, and
// lets TMA copies load boxes of both operands; what lies past an edge is
// zeros. An operand that is no tensor of few dims (the windows of a
// convolution, rows that are not aligned) all threads of that group bring
// together, piece by piece through the indexing maps. f32 whose lines run in
// memory they turn on the way: products of tf32 read along the depth alone.
// They also take f32 apart where a product is three of tf32: in place, and what
// is left over goes behind both tiles. The other two groups have half of a
// tile's rows each: they wait until a stage is full, multiply it (wgmma reads
// both operands from shared memory), and say that it is empty when the product
// behind has begun. Blocks stay, and take tile after tile in an order that uses
// what the second cache holds: down eight rows of tiles, then to the next
// column.
//
//===----------------------------------------------------------------------===//
#include "../Warpgroups.h"
#include "Product.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardrt/TensorMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Rows of tiles that are gone down before the next column.
static constexpr int64_t kDown = 8;
/// Below this in any direction tiles would be mostly zeros.
static constexpr int64_t kLeast = 64;
/// Registers of a thread that brings, and of one that multiplies; and where
/// threads find each piece of a tile themselves.
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;
static constexpr int64_t kGatherRegisters = 72, kOtherRegisters = 216;
/// Stages that such threads begin before they wait for the first to be there,
/// at most: two others are being multiplied.
static constexpr int64_t kAhead = 2;
/// Neighbours of f32 in 16 bytes.
static constexpr int64_t kTurned = 4;

//===----------------------------------------------------------------------===//
// Operands that TMA copies can load
//===----------------------------------------------------------------------===//

namespace {
/// An operand as a tensor of few dims: how the memref's dims, from slowest to
/// fastest, make one each.
struct CopyBox {
  SmallVector<SmallVector<int64_t>> dims; ///< fastest first
  SmallVector<unsigned> batch; ///< dims of the op beyond the first two
};
} // namespace

/// The dims of `type` that `loops` run over, which must follow one another in
/// memory; nothing where they do not.
static std::optional<SmallVector<int64_t>> mergeDims(MemRefType type,
                                                     AffineMap map,
                                                     ArrayRef<int64_t> sizes,
                                                     ArrayRef<unsigned> loops) {
  SmallVector<int64_t> strides, merged;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (unsigned loop : loops) {
    if (sizes[loop] == 1)
      continue;
    int64_t found = -1;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && dim.getPosition() == loop)
        found = i;
    if (found < 0 || ShapedType::isDynamic(strides[found]))
      return std::nullopt;
    if (!merged.empty() &&
        (ShapedType::isDynamic(type.getDimSize(found)) ||
         strides[merged.back()] != strides[found] * type.getDimSize(found)))
      return std::nullopt;
    merged.push_back(found);
  }
  if (merged.empty())
    return std::nullopt;
  return merged;
}

static std::optional<CopyBox>
boxOf(linalg::GenericOp op, const Product &product, const Factor &factor) {
  // Aligned, and moved as they are.
  int64_t bytes = product.element.getIntOrFloatBitWidth() / 8;
  if (factor.run * bytes != 16 || (factor.alongLines && bytes != 2))
    return std::nullopt;
  auto type = cast<MemRefType>(factor.operand->get().getType());
  AffineMap map = op.getMatchingIndexingMap(factor.operand);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  CopyBox box;
  ArrayRef<unsigned> fast = factor.lines, slow = product.depth;
  if (!factor.alongLines)
    std::swap(fast, slow);
  for (ArrayRef<unsigned> loops : {fast, slow}) {
    auto merged = mergeDims(type, map, sizes, loops);
    if (!merged)
      return std::nullopt;
    box.dims.push_back(*merged);
  }
  for (unsigned loop : product.batch) {
    if (sizes[loop] == 1 || !map.isFunctionOfDim(loop))
      continue;
    auto merged = mergeDims(type, map, sizes, loop);
    if (!merged)
      return std::nullopt;
    box.dims.push_back(*merged);
    box.batch.push_back(loop);
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (strides[box.dims.front().back()] != 1 ||
      box.dims.size() > SHARDRT_MAP_DIMS)
    return std::nullopt;
  for (ArrayRef<int64_t> dims : ArrayRef(box.dims).drop_front())
    if (strides[dims.back()] * bytes % 16 != 0 || strides[dims.back()] <= 0)
      return std::nullopt;
  return box;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class WarpgroupKernel : public ProductKernel {
public:
  WarpgroupKernel(const ProductKernel &prepared, Tiling tiling,
                  std::optional<CopyBox> left, std::optional<CopyBox> right)
      : ProductKernel(prepared.b, prepared.op, prepared.product, tiling,
                      TileLayout::Panels),
        w(b, loc), leftBox(std::move(left)), rightBox(std::move(right)) {
    prepareLike(prepared);
    bringers = kGroup;
  }
  void emit();

private:
  /// Products of tf32 for each of f32: of numbers in two parts, the second ones
  /// behind both tiles.
  bool takesApart() const { return product.tensorTerms > 1; }
  int64_t partBytes() const {
    return tileBytes(product.left) + tileBytes(product.right);
  }
  int64_t stageBytes() const { return (takesApart() ? 2 : 1) * partBytes(); }
  /// Of a stage, what TMA copies load.
  int64_t boxBytes() const {
    return (leftBox ? tileBytes(product.left) : 0) +
           (rightBox ? tileBytes(product.right) : 0);
  }
  bool gathers() const { return !leftBox || !rightBox; }
  /// Whether `factor`, which no TMA copy can load, comes in blocks of 4 x 4
  /// that threads load 16 bytes at once and turn.
  bool isTurned(const Factor &factor) const {
    return factor.isPlain() && factor.alongLines && elementBytes() == 4 &&
           factor.run == kTurned;
  }
  /// Whether all threads of the first group have something to do.
  bool allBring() const { return gathers() || takesApart(); }
  int64_t ahead() const { return std::min(kAhead, tiling.stages - 2); }
  /// TMA copies load what is split then.
  bool bringsRaw() const { return takesApart() && boxBytes() > 0; }
  Value isSame(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  /// mbarriers of a stage behind all stages: full, empty, and, where bulk
  /// copies load what is split, whether that is there.
  enum Phase { Full, Empty, Raw };
  int64_t barrierBytes() const { return bringsRaw() ? 24 : 16; }
  Value barrier(Value stage, Phase phase) {
    int64_t behind = tiling.stages * stageBytes();
    return at(base, add(mul(stage, barrierBytes()), index(behind + 8 * phase)));
  }
  /// What TMA copies know of `factor`.
  Value describe(const Factor &factor, const CopyBox &box);
  /// Steps of a tile's depth. There is always one: what lies past the depth is
  /// zeros.
  Value countSteps();
  /// Does `body` with the step's number and what is carried, at least once.
  SmallVector<Value> forEachStep(
      ValueRange carried,
      llvm::function_ref<SmallVector<Value>(Value step, ValueRange carried)>
          body);
  /// Where step number `step` begins.
  Value depthOf(Value step) { return add(first, mul(step, tiling.depth)); }
  /// Calls `body` with row, column and whatever is carried, for each tile.
  SmallVector<Value>
  forEachTile(Value firstTile, Value step, SmallVector<Value> carried,
              llvm::function_ref<SmallVector<Value>(Value row, Value column,
                                                    ValueRange carried)>
                  body);
  void produce();
  void bringBoxes(const Factor &factor, const CopyBox &box, Value map,
                  Value line, Value from, Value tile, Value full);
  void bringTurned(const Factor &factor, Value line, Value from, Value tile);
  void takeApart(const Factor &factor, Value tile);
  void consume();
  /// What a product is told of the tile at `tile`.
  Value descriptor(const Factor &factor, Value tile) {
    return w.describe(tile, standsAlongLines(factor) ? tiling.depth * kRow : 0);
  }
  SmallVector<Value> exchange(Value sums, Share &share);

  WarpgroupBuilder w;
  std::optional<CopyBox> leftBox, rightBox;
  Value leftMap, rightMap;
  Value group, lane, block, numBlocks; ///< of the thread
  Value rowTiles, columnTiles, numTiles;
};
} // namespace

Value WarpgroupKernel::describe(const Factor &factor, const CopyBox &box) {
  // A row of 128 bytes; of the other direction all that a tile has, or, where
  // lines run, of the depth.
  SmallVector<int64_t> sizes(box.dims.size(), 1);
  sizes[0] = kRow / elementBytes();
  sizes[1] = factor.alongLines ? tiling.depth : linesOf(factor);
  return w.describeTensor(factor.operand->get(), box.dims, sizes);
}

Value WarpgroupKernel::countSteps() {
  Value left = arith::SubIOp::create(b, loc, last, first);
  Value steps = arith::CeilDivSIOp::create(b, loc, left, index(tiling.depth));
  return arith::MaxSIOp::create(b, loc, steps, index(1));
}

SmallVector<Value> WarpgroupKernel::forEachStep(
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  // Tests at its end: ptxas must see that no sums bypass the loop, or it lets
  // no product begin before the one before is done.
  Value steps = countSteps();
  SmallVector<Value> begin = {index(0)};
  llvm::append_range(begin, carried);
  SmallVector<Type> types(ValueRange(begin).getTypes());
  auto loop = scf::WhileOp::create(b, loc, types, begin);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(types.size(), loc);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value step = before->getArgument(0);
  SmallVector<Value> next = body(step, before->getArguments().drop_front());
  Value behind = add(step, index(1));
  next.insert(next.begin(), behind);
  scf::ConditionOp::create(b, loc, less(behind, steps), next);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(b, loc, after->getArguments());
  return llvm::to_vector_of<Value>(loop.getResults().drop_front());
}

SmallVector<Value> WarpgroupKernel::forEachTile(
    Value firstTile, Value step, SmallVector<Value> carried,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, firstTile, numTiles, step, carried);
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value plane = arith::MulIOp::create(b, loc, rowTiles, columnTiles);
  Value tile = loop.getInductionVar();
  placePlane(arith::DivUIOp::create(b, loc, tile, plane));
  tile = arith::RemUIOp::create(b, loc, tile, plane);
  // Down some rows of tiles, then to the next column.
  Value band = mul(columnTiles, kDown);
  Value firstRow = mul(arith::DivUIOp::create(b, loc, tile, band), kDown);
  Value down = arith::MinUIOp::create(
      b, loc, arith::SubIOp::create(b, loc, rowTiles, firstRow), index(kDown));
  Value inBand = arith::RemUIOp::create(b, loc, tile, band);
  Value row = add(firstRow, arith::RemUIOp::create(b, loc, inBand, down));
  Value column = arith::DivUIOp::create(b, loc, inBand, down);
  SmallVector<Value> next =
      body(mul(row, tiling.rows), mul(column, tiling.columns),
           loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Who brings
//===----------------------------------------------------------------------===//

void WarpgroupKernel::bringBoxes(const Factor &factor, const CopyBox &box,
                                 Value map, Value line, Value from, Value tile,
                                 Value full) {
  int64_t perRow = kRow / elementBytes();
  int64_t boxes = factor.alongLines ? linesOf(factor) / perRow : 1;
  for (int64_t i = 0; i < boxes; ++i) {
    SmallVector<Value> begin = {add(line, index(i * perRow)), from};
    if (!factor.alongLines)
      std::swap(begin[0], begin[1]);
    for (unsigned loop : box.batch)
      begin.push_back(emitter.at()[loop]);
    w.bringBox(at(tile, index(i * tiling.depth * kRow)), map, begin, full);
  }
}

void WarpgroupKernel::produce() {
  w.setRegisters(allBring() ? kGatherRegisters : kFewRegisters, /*more=*/false);
  Value leads = isSame(thread, index(0));
  OpBuilder::InsertionGuard guard(b);
  if (!allBring()) {
    auto alone = scf::IfOp::create(b, loc, leads, false);
    b.setInsertionPointToStart(alone.thenBlock());
  }
  // An empty depth is described as one of 1 (CallDevice): all is past it.
  Value past = arith::SelectOp::create(b, loc, isSame(depth, index(0)),
                                       index(tiling.depth), index(0));
  auto boxes = [&](Value row, Value column, Value from, Value tile,
                   Value full) {
    w.arriveExpecting(full, boxBytes());
    if (leftBox)
      bringBoxes(product.left, *leftBox, leftMap, row, from, tile, full);
    if (rightBox)
      bringBoxes(product.right, *rightBox, rightMap, column, from,
                 at(tile, index(tileBytes(product.left))), full);
  };
  // Says that what this thread was to bring to `stage` is there; gives the next
  // stage to be told of.
  auto tell = [&](Value stage, Value parity) -> SmallVector<Value> {
    if (bringsRaw())
      w.wait(barrier(stage, Raw), parity);
    if (takesApart()) {
      Value tile = at(base, mul(stage, stageBytes()));
      for (const Factor *factor : {&product.left, &product.right})
        if (!isTurned(*factor))
          takeApart(*factor, factor == &product.left
                                 ? tile
                                 : at(tile, index(tileBytes(product.left))));
    }
    w.fenceStores();
    w.arrive(barrier(stage, Full));
    auto [next, flips] = w.advance(stage, parity, tiling.stages);
    return {next, flips};
  };
  // A ring that nobody has used is empty: the phase before the first is over.
  // Where all threads work, the third and fourth are the stage to be told of
  // next; they are `begun` stages further.
  SmallVector<Value> carried = {index(0), w.number(1)};
  if (allBring())
    carried.append({index(0), w.number(0), index(0)});
  SmallVector<Value> ends = forEachTile(
      block, numBlocks, carried,
      [&](Value row, Value column, ValueRange carried) {
        auto loop = scf::ForOp::create(b, loc, index(0), countSteps(), index(1),
                                       carried);
        setUnrolling(loop, 1);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(loop.getBody());
        Value stage = loop.getRegionIterArg(0),
              parity = loop.getRegionIterArg(1);
        w.wait(barrier(stage, Empty), parity);
        Value full = barrier(stage, bringsRaw() ? Raw : Full);
        Value tile = at(base, mul(stage, stageBytes()));
        Value from = add(past, depthOf(loop.getInductionVar()));
        auto [next, flips] = w.advance(stage, parity, tiling.stages);
        SmallVector<Value> yielded = {next, flips};
        if (!allBring()) {
          boxes(row, column, from, tile, full);
        } else {
          if (leftBox || rightBox) {
            auto alone = scf::IfOp::create(b, loc, leads, false);
            OpBuilder::InsertionGuard inner(b);
            b.setInsertionPointToStart(alone.thenBlock());
            boxes(row, column, from, tile, full);
          }
          auto pieces = [&](const Factor &factor, Value line, Value to) {
            if (isTurned(factor))
              bringTurned(factor, line, from, to);
            else
              bring(factor, line, from, to);
          };
          if (!leftBox)
            pieces(product.left, row, tile);
          if (!rightBox)
            pieces(product.right, column,
                   at(tile, index(tileBytes(product.left))));
          NVVM::CpAsyncCommitGroupOp::create(b, loc);
          NVVM::CpAsyncWaitGroupOp::create(b, loc,
                                           static_cast<uint32_t>(ahead()));
          Value told = loop.getRegionIterArg(2),
                parityTold = loop.getRegionIterArg(3),
                begun = loop.getRegionIterArg(4);
          auto some =
              scf::IfOp::create(b, loc, TypeRange(ValueRange{told, parityTold}),
                                isSame(begun, index(ahead())), true);
          {
            OpBuilder::InsertionGuard inner(b);
            b.setInsertionPointToStart(some.thenBlock());
            scf::YieldOp::create(b, loc, tell(told, parityTold));
            b.setInsertionPointToStart(some.elseBlock());
            scf::YieldOp::create(b, loc, ValueRange{told, parityTold});
          }
          llvm::append_range(yielded, some.getResults());
          yielded.push_back(arith::MinUIOp::create(b, loc, add(begun, index(1)),
                                                   index(ahead())));
        }
        scf::YieldOp::create(b, loc, yielded);
        return llvm::to_vector_of<Value>(loop.getResults());
      });
  if (!allBring())
    return;
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
  auto rest = scf::ForOp::create(b, loc, index(0), ends[4], index(1),
                                 ValueRange{ends[2], ends[3]});
  b.setInsertionPointToEnd(rest.getBody());
  scf::YieldOp::create(
      b, loc, tell(rest.getRegionIterArg(0), rest.getRegionIterArg(1)));
}

/// Threads load blocks of 4 lines x 4 depths and store each line's depths at
/// once, taken apart where the product wants that. Eight threads side by side
/// store a line's 128 bytes, four rows of such load 64 bytes side by side.
void WarpgroupKernel::bringTurned(const Factor &factor, Value line, Value from,
                                  Value tile) {
  int64_t across = tiling.depth / kTurned;
  auto loop = scf::ForOp::create(
      b, loc, thread, index(linesOf(factor) / kTurned * across), index(kGroup));
  setUnrolling(loop, 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value ownLine = mul(div(loop.getInductionVar(), across), kTurned),
        ownDepth = mul(rem(loop.getInductionVar(), across), kTurned);
  Type f32 = b.getF32Type(), four = VectorType::get({kTurned}, f32);
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Value numLines = &factor == &product.left ? rows : columns, none = index(0);
  Value atLine = add(line, ownLine), isLine = less(atLine, numLines);
  Value zeros = LLVM::ConstantOp::create(b, loc, four, b.getZeroAttr(four));
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < kTurned; ++i) {
    Value atDepth = add(from, add(ownDepth, index(i)));
    Value inside = arith::AndIOp::create(b, loc, isLine, less(atDepth, last));
    // What lies past an edge reads the first elements, and is zero.
    dims.place(b, loc, emitter, factor.lines,
               arith::SelectOp::create(b, loc, inside, atLine, none));
    dims.place(b, loc, emitter, product.depth,
               arith::SelectOp::create(b, loc, inside, atDepth, none));
    Value read = LLVM::LoadOp::create(
        b, loc, four, addressOf(emitter, *factor.operand), kTurned * 4);
    loaded.push_back(LLVM::SelectOp::create(b, loc, inside, read, zeros));
  }
  for (int64_t j = 0; j < kTurned; ++j) {
    Value place = at(tile, offsetIn(factor, add(ownLine, index(j)), ownDepth));
    Type words = VectorType::get({kTurned}, b.getI32Type());
    bool apart = takesApart();
    Value most = LLVM::PoisonOp::create(b, loc, apart ? words : four),
          rest = most;
    for (int64_t i = 0; i < kTurned; ++i) {
      Value number = LLVM::ExtractElementOp::create(b, loc, loaded[i], spot(j));
      if (apart) {
        auto [first, second] = splitToTF32(b, loc, number);
        rest = LLVM::InsertElementOp::create(b, loc, rest, second, spot(i));
        number = first;
      }
      most = LLVM::InsertElementOp::create(b, loc, most, number, spot(i));
    }
    LLVM::StoreOp::create(b, loc, most, place, kTurned * 4);
    if (apart)
      LLVM::StoreOp::create(b, loc, rest, at(place, index(partBytes())),
                            kTurned * 4);
  }
}

/// Each thread takes those pieces of f32 apart that it has brought.
void WarpgroupKernel::takeApart(const Factor &factor, Value tile) {
  int64_t length = pieceOf(factor).first;
  auto loop = scf::ForOp::create(b, loc, thread,
                                 index(linesOf(factor) * tiling.depth / length),
                                 index(kGroup));
  setUnrolling(loop, 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto [line, depth] = placeOf(factor, loop.getInductionVar());
  Value place = at(tile, offsetIn(factor, line, depth));
  int64_t bytes = length * elementBytes();
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Type words = VectorType::get({length}, b.getI32Type());
  Value numbers = LLVM::LoadOp::create(
      b, loc, VectorType::get({length}, b.getF32Type()), place, bytes);
  Value most = LLVM::PoisonOp::create(b, loc, words), rest = most;
  for (int64_t i = 0; i < length; ++i) {
    Value number = LLVM::ExtractElementOp::create(b, loc, numbers, spot(i));
    auto [first, second] = splitToTF32(b, loc, number);
    most = LLVM::InsertElementOp::create(b, loc, most, first, spot(i));
    rest = LLVM::InsertElementOp::create(b, loc, rest, second, spot(i));
  }
  LLVM::StoreOp::create(b, loc, most, place, bytes);
  LLVM::StoreOp::create(b, loc, rest, at(place, index(partBytes())), bytes);
}

//===----------------------------------------------------------------------===//
// Who multiplies
//===----------------------------------------------------------------------===//

SmallVector<Value> WarpgroupKernel::exchange(Value sums, Share &share) {
  // A lane has two neighbours of one row and two of the eighth below; the lane
  // beside it has the next two of each. They share out the rows: four each.
  Value odd = isSame(rem(lane, 2), index(1));
  Value half = rem(lane, 2);
  share.rows = {add(mul(rem(div(thread, kWarp), 4), 16),
                    add(div(lane, 4), mul(half, 8)))};
  share.rows[0] = add(share.rows[0],
                      mul(arith::SubIOp::create(b, loc, group, index(1)), 64));
  share.run = 4;
  SmallVector<Value> mine;
  auto element = [&](int64_t i) -> Value {
    return LLVM::ExtractValueOp::create(b, loc, sums, ArrayRef<int64_t>{i});
  };
  for (int64_t j = 0; j < tiling.columns / 8; ++j) {
    Value own[4], got[2];
    for (int64_t i = 0; i < 4; ++i)
      own[i] = element(4 * j + i);
    for (int64_t i = 0; i < 2; ++i) {
      Value give = arith::SelectOp::create(b, loc, odd, own[i], own[2 + i]);
      got[i] = NVVM::ShflOp::create(b, loc, b.getF32Type(), w.number(-1), give,
                                    w.number(1), w.number(31),
                                    NVVM::ShflKind::bfly, UnitAttr());
    }
    for (int64_t i = 0; i < 2; ++i)
      mine.push_back(arith::SelectOp::create(b, loc, odd, got[i], own[i]));
    for (int64_t i = 0; i < 2; ++i)
      mine.push_back(arith::SelectOp::create(b, loc, odd, own[2 + i], got[i]));
    for (int64_t i = 0; i < 4; ++i)
      share.columns.push_back(
          add(mul(div(rem(lane, 4), 2), 4), index(8 * j + i)));
  }
  return mine;
}

void WarpgroupKernel::consume() {
  w.setRegisters(allBring() ? kOtherRegisters : kManyRegisters, /*more=*/true);
  Value half = mul(w.sameInWarp(arith::SubIOp::create(b, loc, group, index(1))),
                   kGroupRows * kRow);
  Value leads = isSame(lane, index(0));
  auto release = [&](Value stage, Value really = {}) {
    if (really)
      really = arith::AndIOp::create(b, loc, leads, really);
    auto guard = scf::IfOp::create(b, loc, really ? really : leads, false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    w.arrive(barrier(stage, Empty));
  };
  // Depths of one product, which are 32 bytes of a row.
  int64_t step = 32 / elementBytes();
  auto moved = [&](const Factor &factor, Value begin, int64_t from) {
    return w.moved(begin, standsAlongLines(factor) ? from * kRow
                                                   : from * elementBytes());
  };
  forEachTile(
      block, numBlocks, {index(0), w.number(0)},
      [&](Value row, Value column, ValueRange carried) -> SmallVector<Value> {
        Value none = w.zeros(tiling.columns);
        SmallVector<Value> ends = forEachStep(
            {carried[0], carried[1], carried[0], none},
            [&](Value number, ValueRange now) -> SmallVector<Value> {
              Value stage = now[0], parity = now[1], before = now[2],
                    sums = now[3];
              w.wait(barrier(stage, Full), parity);
              Value tile = at(base, mul(stage, stageBytes()));
              Value left = descriptor(product.left, at(tile, half));
              Value right = descriptor(
                  product.right, at(tile, index(tileBytes(product.left))));
              w.fence();
              // Small terms first.
              SmallVector<std::pair<int64_t, int64_t>> terms = {{0, 0}};
              if (takesApart())
                terms = {{1, 0}, {0, 1}, {0, 0}};
              for (int64_t from = 0; from < tiling.depth; from += step)
                for (auto [x, y] : terms)
                  sums = w.multiply(
                      sums,
                      w.moved(moved(product.left, left, from), x * partBytes()),
                      w.moved(moved(product.right, right, from),
                              y * partBytes()),
                      product.element, tiling.columns,
                      standsAlongLines(product.left),
                      standsAlongLines(product.right));
              w.commit();
              // All but this one are done: the stage before is free.
              w.waitForProducts(1);
              release(before, less(index(0), number));
              auto [next, flips] = w.advance(stage, parity, tiling.stages);
              return {next, flips, stage, sums};
            });
        w.waitForProducts(0);
        release(ends[2]);
        Share own;
        SmallVector<Value> mine = exchange(ends[3], own);
        store(own, mine, row, column);
        return {ends[0], ends[1]};
      });
}

void WarpgroupKernel::emit() {
  OpBuilder::InsertionGuard behind(b);
  rowTiles = tiles(tiling.rows, rows);
  columnTiles = tiles(tiling.columns, columns);
  numTiles = gpukernels::product(b, loc,
                                 {rowTiles, columnTiles, batch, index(splits)});
  gpu::LaunchOp launch =
      begin(numTiles, tiling.stages * (stageBytes() + barrierBytes()));
  spmd::contract::Gpu::set(launch, b.getStringAttr("sm_90a"));
  spmd::contract::Persistent::set(launch);
  block = launch.getBlockIds().x;
  numBlocks = launch.getGridSize().x;
  group = div(thread, kGroup);
  lane = rem(thread, kWarp);
  if (leftBox)
    leftMap = describe(product.left, *leftBox);
  if (rightBox)
    rightMap = describe(product.right, *rightBox);
  {
    auto alone = scf::IfOp::create(b, loc, isSame(thread, index(0)), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(alone.thenBlock());
    // A warp of those that multiply arrives once; of those that bring, who lets
    // TMA copies do it, and each of all that work.
    bool some = boxBytes() > 0;
    int64_t fills = (some && !bringsRaw() ? 1 : 0) + (allBring() ? kGroup : 0);
    for (int64_t stage = 0; stage < tiling.stages; ++stage) {
      w.init(barrier(index(stage), Full), fills);
      w.init(barrier(index(stage), Empty), kConsumers * kGroup / kWarp);
      if (bringsRaw())
        w.init(barrier(index(stage), Raw), 1);
    }
    w.fenceInit();
  }
  gpu::BarrierOp::create(b, loc);
  auto roles =
      scf::IfOp::create(b, loc, isSame(group, index(0)), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(roles.thenBlock());
  produce();
  b.setInsertionPointToStart(roles.elseBlock());
  consume();
}

bool gpukernels::launchOnWarpgroups(const ProductKernel &prepared) {
  const Product &product = prepared.product;
  if (product.rows < kLeast || product.columns < kLeast ||
      product.depths < kLeast)
    return false;
  linalg::GenericOp op = prepared.op;
  std::optional<CopyBox> left = boxOf(op, product, product.left);
  std::optional<CopyBox> right = boxOf(op, product, product.right);
  int64_t depth = kRow * 8 / product.element.getIntOrFloatBitWidth();
  Tiling tiling{128, 128, depth, 6, (1 + kConsumers) * kGroup};
  if (llvm::divideCeil(product.rows, 128) *
              llvm::divideCeil(product.columns, 256) >=
          llvm::divideCeil(blocksOfGpu(op), product.batches) &&
      product.columns >= 256) {
    tiling.columns = 256;
    tiling.stages = 4;
  }
  // Tiles of numbers in two parts: 64 KiB a stage.
  if (product.tensorTerms > 1)
    tiling = {128, 128, depth, 3, tiling.threads};
  WarpgroupKernel(prepared, tiling, std::move(left), std::move(right)).emit();
  return true;
}
