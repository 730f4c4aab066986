//===- Specialised.cpp - Products with a producer and consumers -----------===//
//
// One thread of the first warpgroup, the producer, prefetches tiles through a
// ring of stages: it waits until a stage is empty, says how many bytes will
// come, and lets TMA copies load boxes of both operands; what is past an edge
// is zeros. Windows of images whose channels run in memory are copies as well
// (im2col): a row is some channels of a pixel. An operand that is neither
// (windows of few channels, rows that are not aligned) all threads of the
// producer load together, piece by piece through the indexing maps. f32 whose
// lines run in memory they transpose on the way, as they do 8-bit floats:
// products of these read along the depth alone. They also split f32 for 3xTF32:
// heads in place, remainders after both tiles. The kernel is persistent: a
// block takes tile after tile in an order that reuses what is in L2: down eight
// rows of tiles, then to the next column.
//
//===----------------------------------------------------------------------===//
#include "Specialised.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardrt/TensorMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Rows of tiles that are gone down before the next column. [shape]
static constexpr int64_t kDown = 8;
/// Below this in any direction tiles would be mostly zeros. [shape]
static constexpr int64_t kLeast = 64;
/// Stages that threads of the producer begin before they wait for the first to
/// be there, at most: two others are being multiplied. [shape]
static constexpr int64_t kAhead = 2;

//===----------------------------------------------------------------------===//
// Operands that TMA copies can load
//===----------------------------------------------------------------------===//

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

/// The dim of the windows that `expr`, an index of the operand, makes of loops
/// among `positions` and `taps`; those that it takes go to `used`.
static std::optional<WindowDim> windowOf(AffineExpr expr, int64_t size,
                                         ArrayRef<int64_t> sizes,
                                         ArrayRef<unsigned> positions,
                                         ArrayRef<unsigned> taps,
                                         SmallVectorImpl<unsigned> &used) {
  SmallVector<int64_t> factors;
  if (ShapedType::isDynamic(size) ||
      failed(getFlattenedAffineExpr(expr, sizes.size(), 0, &factors)) ||
      factors.size() != sizes.size() + 1 || factors.back() != 0)
    return std::nullopt;
  WindowDim window{1, 1, 1, {0, 0, 1}};
  bool hasPosition = false, hasTap = false;
  for (auto [loop, factor] : llvm::enumerate(ArrayRef(factors).drop_back())) {
    if (factor == 0 || sizes[loop] == 1)
      continue;
    bool isPosition = llvm::is_contained(positions, loop);
    bool &has = isPosition ? hasPosition : hasTap;
    if (factor < 0 || has || !(isPosition || llvm::is_contained(taps, loop)))
      return std::nullopt;
    has = true;
    (isPosition ? window.positions : window.taps) = sizes[loop];
    (isPosition ? window.range.step : window.dilation) = factor;
    used.push_back(loop);
  }
  window.range.high = (window.positions - 1) * window.range.step + 1 - size;
  return window;
}

/// What copies of windows of `factor` read.
static Value tensorOf(const Factor &factor) {
  return factor.padding ? factor.padding->inside : factor.operand->get();
}

/// `factor` as windows that TMA copies can load: an image's index, then that of
/// each dim of windows, then the channel.
static std::optional<CopyBox>
windowsOf(linalg::GenericOp op, const Product &product, const Factor &factor) {
  // Where there is padding, its tensor.
  auto type = cast<MemRefType>(tensorOf(factor).getType());
  AffineMap map = op.getMatchingIndexingMap(factor.operand);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t rank = type.getRank(), spatial = rank - 2;
  if (!product.isStatic || spatial < 1 || rank > SHARDRT_MAP_DIMS)
    return std::nullopt;
  ArrayRef<unsigned> fast = factor.lines, slow = product.depth;
  if (!factor.alongLines)
    std::swap(fast, slow);
  // Loops in the order in which copies go, slowest first.
  SmallVector<unsigned> pixels, taps;
  auto single = [&](AffineExpr expr, SmallVector<unsigned> &to) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && sizes[dim.getPosition()] != 1)
      to.push_back(dim.getPosition());
    auto number = dyn_cast<AffineConstantExpr>(expr);
    return dim || (number && number.getValue() == 0);
  };
  CopyBox box;
  if (!single(map.getResult(0), pixels))
    return std::nullopt;
  for (int64_t i = 1; i <= spatial; ++i) {
    SmallVector<unsigned> used;
    auto window =
        windowOf(map.getResult(i), type.getDimSize(i), sizes, slow, fast, used);
    if (!window)
      return std::nullopt;
    if (factor.padding) {
      window->range.low -= factor.padding->low[i];
      window->range.high -= factor.padding->low[i];
    }
    for (unsigned loop : used)
      (llvm::is_contained(slow, loop) ? pixels : taps).push_back(loop);
    box.windows.insert(box.windows.begin(), *window);
  }
  if (!isa<AffineDimExpr>(map.getResult(rank - 1)) ||
      !single(map.getResult(rank - 1), taps))
    return std::nullopt;
  auto areAll = [&](ArrayRef<unsigned> loops, ArrayRef<unsigned> found) {
    SmallVector<unsigned> longer;
    llvm::copy_if(loops, std::back_inserter(longer),
                  [&](unsigned loop) { return sizes[loop] != 1; });
    return ArrayRef<unsigned>(longer) == found;
  };
  if (!areAll(slow, pixels) || !areAll(fast, taps))
    return std::nullopt;
  // Rows of 128 bytes are of one tap, and a map has room for so much.
  int64_t bytes = product.element.getIntOrFloatBitWidth() / 8;
  box.channels = type.getDimSize(rank - 1);
  int64_t corner = SHARDRT_MAP_CORNER(spatial);
  auto fits = [&](const WindowDim &window) {
    return window.range.step <= 8 && window.range.low >= -corner &&
           window.range.high >= -corner && window.range.high < corner &&
           (window.taps - 1) * window.dilation < 2 * corner;
  };
  if (box.channels % (kRow / bytes) != 0 || !llvm::all_of(box.windows, fits))
    return std::nullopt;
  return box;
}

std::optional<CopyBox> gpukernels::boxOf(linalg::GenericOp op,
                                         const Product &product,
                                         const Factor &factor) {
  // Aligned, and moved as they are.
  int64_t bytes = product.element.getIntOrFloatBitWidth() / 8;
  if (factor.run * bytes != 16 || (factor.alongLines && bytes != 2))
    return std::nullopt;
  auto type = cast<MemRefType>(factor.operand->get().getType());
  AffineMap map = op.getMatchingIndexingMap(factor.operand);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return windowsOf(op, product, factor);
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

void gpukernels::takePaddings(linalg::GenericOp op, Product &product,
                              OwnKernels own,
                              const llvm::DenseSet<Operation *> &taken) {
  if (!(own.warpgroups || own.tensorMemory) || !hasOwnKernel(product))
    return;
  // Of the tensor all that the buffer promises: pieces of 16 bytes, and all
  // channels of all images.
  int64_t bytes = product.element.getIntOrFloatBitWidth() / 8;
  auto fits = [&](const ImagePadding &padding) {
    auto type = cast<MemRefType>(padding.inside.getType());
    linalg::GenericOp fill = padding.made.front();
    auto whole = cast<MemRefType>(fill.getDpsInitOperand(0)->get().getType());
    SmallVector<int64_t> strides;
    int64_t offset, last = type.getRank() - 1;
    auto isPiece = [&](int64_t number) { return number * bytes % 16 == 0; };
    return succeeded(type.getStridesAndOffset(strides, offset)) &&
           ShapedType::isStatic(offset) && isPiece(offset) && last >= 2 &&
           strides[last] == 1 && beginsAligned(padding.inside) &&
           llvm::all_of(ArrayRef(strides).drop_back(), isPiece) &&
           type.getDimSize(0) == whole.getDimSize(0) &&
           type.getDimSize(last) == whole.getDimSize(last);
  };
  for (Factor *factor : {&product.left, &product.right}) {
    std::optional<ImagePadding> padding = findPadding(op, *factor->operand);
    if (!padding || !fits(*padding) ||
        llvm::any_of(padding->made, [&](linalg::GenericOp made) {
          return taken.contains(made);
        }))
      continue;
    factor->padding = std::move(padding);
    std::optional<CopyBox> box = boxOf(op, product, *factor);
    if (!box || !box->isOfWindows())
      factor->padding.reset();
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SpecialisedKernel::SpecialisedKernel(const ProductKernel &prepared,
                                     Tiling tiling)
    : ProductKernel(prepared.b, prepared.op, prepared.product, tiling,
                    TileLayout::Panels),
      w(b, loc), leftBox(boxOf(op, product, product.left)),
      rightBox(boxOf(op, product, product.right)) {
  prepareLike(prepared);
  producers = kGroup;
}

int64_t SpecialisedKernel::ahead() const {
  return std::min(kAhead, tiling.stages - 2);
}

void SpecialisedKernel::forEachProduct(
    llvm::function_ref<void(int64_t, int64_t, int64_t)> body) {
  SmallVector<std::pair<int64_t, int64_t>> terms = {{0, 0}};
  if (splitsFloats())
    terms = {{1, 0}, {0, 1}, {0, 0}};
  // Depths of one product are 32 bytes of a row.
  for (int64_t from = 0; from < tiling.depth; from += 32 / elementBytes())
    for (auto [left, right] : terms)
      body(from, left * partBytes(), right * partBytes());
}

Value SpecialisedKernel::describe(const Factor &factor, const CopyBox &box) {
  // A row of 128 bytes; of the other direction all that a tile has, or, where
  // lines run, of the depth.
  if (box.isOfWindows()) {
    SmallVector<WindowRange> ranges = llvm::map_to_vector(
        box.windows, [](const WindowDim &window) { return window.range; });
    return w.describeWindows(tensorOf(factor), kRow / elementBytes(),
                             factor.alongLines ? tiling.depth : linesOf(factor),
                             ranges);
  }
  SmallVector<int64_t> sizes(box.dims.size(), 1);
  sizes[0] = kRow / elementBytes();
  sizes[1] = factor.alongLines ? tiling.depth : ownLines(factor);
  return w.describeTensor(factor.operand->get(), box.dims, sizes);
}

Value SpecialisedKernel::countSteps() {
  Value left = arith::SubIOp::create(b, loc, last, first);
  Value steps = arith::CeilDivSIOp::create(b, loc, left, index(tiling.depth));
  return arith::MaxSIOp::create(b, loc, steps, index(1));
}

SmallVector<Value> SpecialisedKernel::forEachStep(
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

SmallVector<Value> SpecialisedKernel::forEachTile(
    SmallVector<Value> carried,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, block, numTiles, numBlocks, carried);
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
      body(mul(row, blocksOfTile() * tiling.rows), mul(column, tileColumns()),
           loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

void SpecialisedKernel::loadBoxes(const Factor &factor, const CopyBox &box,
                                  Value map, Value line, Value from, Value tile,
                                  Value full, int64_t blocks) {
  if (box.isOfWindows())
    return loadWindows(factor, box, map, line, from, tile, full);
  int64_t perRow = kRow / elementBytes();
  int64_t boxes = factor.alongLines ? ownLines(factor) / perRow : 1;
  for (int64_t i = 0; i < boxes; ++i) {
    SmallVector<Value> begin = {add(line, index(i * perRow)), from};
    if (!factor.alongLines)
      std::swap(begin[0], begin[1]);
    for (unsigned loop : box.batch)
      begin.push_back(emitter.at()[loop]);
    w.loadBox(at(tile, index(i * tiling.depth * kRow)), map, begin, full,
              isPair() && !multicasts(), {}, blocks);
  }
}

/// Pixels follow one another: position by position, then image by image.
void SpecialisedKernel::loadWindows(const Factor &factor, const CopyBox &box,
                                    Value map, Value line, Value from,
                                    Value tile, Value full) {
  int64_t perRow = kRow / elementBytes();
  int64_t boxes = factor.alongLines ? linesOf(factor) / perRow : 1;
  Value pixel = factor.alongLines ? from : line;
  SmallVector<Value> place;
  for (const WindowDim &window : box.windows) {
    Value position = rem(pixel, window.positions);
    place.push_back(
        add(mul(position, window.range.step), index(window.range.low)));
    pixel = div(pixel, window.positions);
  }
  place.push_back(pixel);
  for (int64_t i = 0; i < boxes; ++i) {
    Value tap = factor.alongLines ? add(line, index(i * perRow)) : from;
    SmallVector<Value> begin = {rem(tap, box.channels)}, offsets;
    llvm::append_range(begin, place);
    tap = div(tap, box.channels);
    for (const WindowDim &window : box.windows) {
      offsets.push_back(mul(rem(tap, window.taps), window.dilation));
      tap = div(tap, window.taps);
    }
    w.loadBox(at(tile, index(i * tiling.depth * kRow)), map, begin, full,
              isPair(), offsets);
  }
}

void SpecialisedKernel::produce() {
  Value leads = isSame(thread, index(0));
  OpBuilder::InsertionGuard guard(b);
  if (!allLoad()) {
    auto alone = scf::IfOp::create(b, loc, leads, false);
    b.setInsertionPointToStart(alone.thenBlock());
  }
  // An empty depth is described as one of 1 (CallDevice): all is past it.
  Value past = arith::SelectOp::create(b, loc, isSame(depth, index(0)),
                                       index(tiling.depth), index(0));
  auto boxes = [&](Value row, Value column, Value from, Value tile,
                   Value full) {
    Value right = at(tile, index(tileBytes(product.left)));
    if (multicasts()) {
      w.arriveExpecting(full, boxBytes());
      loadBoxes(product.left, *leftBox, leftMap,
                add(row, mul(rank, tiling.rows)), from, tile, full);
      int64_t half = tiling.columns / 2;
      loadBoxes(product.right, *rightBox, rightMap,
                add(column, mul(rank, half)), from,
                at(right, mul(rank, tileBytes(product.right) / 2)), full,
                /*blocks=*/3);
      return;
    }
    inFirstBlock([&] { w.arriveExpecting(full, blocksOfTile() * boxBytes()); });
    if (isPair()) {
      full = w.inBlock(full, 0);
      row = add(row, mul(rank, tiling.rows));
      column = add(column, mul(rank, tiling.columns));
    }
    if (leftBox)
      loadBoxes(product.left, *leftBox, leftMap, row, from, tile, full);
    if (rightBox)
      loadBoxes(product.right, *rightBox, rightMap, column, from, right, full);
  };
  // Publishes that what this thread loads into `stage` is there; gives the next
  // stage to publish.
  auto publish = [&](Value stage, Value parity) -> SmallVector<Value> {
    if (loadsRaw())
      w.wait(barrier(stage, Raw), parity);
    if (splitsFloats()) {
      Value tile = at(base, mul(stage, stageBytes()));
      for (const Factor *factor : {&product.left, &product.right})
        if (!isTransposed(*factor))
          splitFloats(*factor, factor == &product.left
                                   ? tile
                                   : at(tile, index(tileBytes(product.left))));
    }
    w.fenceStores();
    w.arrive(barrier(stage, Full));
    auto [next, flips] = w.advance(stage, parity, tiling.stages);
    return {next, flips};
  };
  // A ring that nobody has used is empty: the phase before the first is over.
  // Where all threads work, the third and fourth are the stage to publish
  // next; they are `begun` stages further.
  SmallVector<Value> carried = {index(0), w.number(1)};
  if (allLoad())
    carried.append({index(0), w.number(0), index(0)});
  SmallVector<Value> ends = forEachTile(carried, [&](Value row, Value column,
                                                     ValueRange carried) {
    auto loop =
        scf::ForOp::create(b, loc, index(0), countSteps(), index(1), carried);
    setUnrolling(loop, 1);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value stage = loop.getRegionIterArg(0), parity = loop.getRegionIterArg(1);
    w.wait(barrier(stage, Empty), parity);
    Value full = barrier(stage, loadsRaw() ? Raw : Full);
    Value tile = at(base, mul(stage, stageBytes()));
    Value from = add(past, depthOf(loop.getInductionVar()));
    auto [next, flips] = w.advance(stage, parity, tiling.stages);
    SmallVector<Value> yielded = {next, flips};
    if (!allLoad()) {
      boxes(row, column, from, tile, full);
    } else {
      if (leftBox || rightBox) {
        auto alone = scf::IfOp::create(b, loc, leads, false);
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(alone.thenBlock());
        boxes(row, column, from, tile, full);
      }
      auto pieces = [&](const Factor &factor, Value line, Value to) {
        if (isTransposed(factor))
          loadTransposed(factor, line, from, to);
        else
          load(factor, line, from, to);
      };
      if (!leftBox)
        pieces(product.left, row, tile);
      if (!rightBox)
        pieces(product.right, column, at(tile, index(tileBytes(product.left))));
      NVVM::CpAsyncCommitGroupOp::create(b, loc);
      NVVM::CpAsyncWaitGroupOp::create(b, loc, static_cast<uint32_t>(ahead()));
      Value filled = loop.getRegionIterArg(2),
            parityFilled = loop.getRegionIterArg(3),
            begun = loop.getRegionIterArg(4);
      auto some =
          scf::IfOp::create(b, loc, TypeRange(ValueRange{filled, parityFilled}),
                            isSame(begun, index(ahead())), true);
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(some.thenBlock());
        scf::YieldOp::create(b, loc, publish(filled, parityFilled));
        b.setInsertionPointToStart(some.elseBlock());
        scf::YieldOp::create(b, loc, ValueRange{filled, parityFilled});
      }
      llvm::append_range(yielded, some.getResults());
      yielded.push_back(
          arith::MinUIOp::create(b, loc, add(begun, index(1)), index(ahead())));
    }
    scf::YieldOp::create(b, loc, yielded);
    return llvm::to_vector_of<Value>(loop.getResults());
  });
  if (!allLoad())
    return;
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
  auto rest = scf::ForOp::create(b, loc, index(0), ends[4], index(1),
                                 ValueRange{ends[2], ends[3]});
  b.setInsertionPointToEnd(rest.getBody());
  scf::YieldOp::create(
      b, loc, publish(rest.getRegionIterArg(0), rest.getRegionIterArg(1)));
}

void SpecialisedKernel::storeBytesTransposed(const Factor &factor,
                                             ArrayRef<Value> loaded, Value tile,
                                             Value line, Value depth) {
  Type four = VectorType::get({kTransposed}, b.getI8Type());
  auto take = [&](Value x, Value y, ArrayRef<int32_t> bytes) -> Value {
    return LLVM::ShuffleVectorOp::create(b, loc, x, y, bytes);
  };
  for (int64_t word = 0; word < 4; ++word) {
    SmallVector<Value> rows;
    for (Value row : loaded) {
      Value place = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                             b.getI32IntegerAttr(word));
      Value own = LLVM::ExtractElementOp::create(b, loc, row, place);
      rows.push_back(LLVM::BitcastOp::create(b, loc, four, own));
    }
    for (int32_t half = 0; half < 2; ++half) {
      // Two lines each, of two depths and of the next two.
      int32_t from = 2 * half;
      int32_t pairs[] = {from, from + 4, from + 1, from + 5};
      Value first = take(rows[0], rows[1], pairs),
            second = take(rows[2], rows[3], pairs);
      for (int32_t next = 0; next < 2; ++next) {
        int32_t own = 2 * next;
        Value made = take(first, second, {own, own + 1, own + 4, own + 5});
        Value to = add(line, index(4 * word + 2 * half + next));
        LLVM::StoreOp::create(
            b, loc, LLVM::BitcastOp::create(b, loc, b.getI32Type(), made),
            at(tile, offsetIn(factor, to, depth)), kTransposed);
      }
    }
  }
}

/// Threads load blocks of 16 bytes of lines x 4 depths and store each line's
/// depths at once, split where the product wants that. Of f32, eight threads
/// side by side store a line's 128 bytes, four rows of such load 64 bytes side
/// by side; of 8 bits a warp stores a line's.
void SpecialisedKernel::loadTransposed(const Factor &factor, Value line,
                                       Value from, Value tile) {
  int64_t across = tiling.depth / kTransposed;
  int64_t lines = transposedLines();
  auto loop = scf::ForOp::create(
      b, loc, thread, index(linesOf(factor) / lines * across), index(kGroup));
  bool isOfBytes = elementBytes() == 1;
  setUnrolling(loop, splitsFloats() || isOfBytes ? 1 : 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value ownLine = mul(div(loop.getInductionVar(), across), lines),
        ownDepth = mul(rem(loop.getInductionVar(), across), kTransposed);
  Type word = isOfBytes ? Type(b.getI32Type()) : Type(b.getF32Type());
  Type four = VectorType::get({4}, word);
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Value numLines = &factor == &product.left ? rows : columns, none = index(0);
  Value atLine = add(line, ownLine), isLine = less(atLine, numLines);
  Value zeros = LLVM::ConstantOp::create(b, loc, four, b.getZeroAttr(four));
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < kTransposed; ++i) {
    Value atDepth = add(from, add(ownDepth, index(i)));
    Value inside = arith::AndIOp::create(b, loc, isLine, less(atDepth, last));
    // What is past an edge reads the first elements, and is zero.
    dims.place(b, loc, emitter, factor.lines,
               arith::SelectOp::create(b, loc, inside, atLine, none));
    dims.place(b, loc, emitter, product.depth,
               arith::SelectOp::create(b, loc, inside, atDepth, none));
    Value read = LLVM::LoadOp::create(
        b, loc, four, addressOf(emitter, *factor.operand), /*alignment=*/16);
    loaded.push_back(LLVM::SelectOp::create(b, loc, inside, read, zeros));
  }
  if (isOfBytes)
    return storeBytesTransposed(factor, loaded, tile, ownLine, ownDepth);
  for (int64_t j = 0; j < kTransposed; ++j) {
    Value place = at(tile, offsetIn(factor, add(ownLine, index(j)), ownDepth));
    Type words = VectorType::get({kTransposed}, b.getI32Type());
    bool apart = splitsFloats();
    Value most = LLVM::PoisonOp::create(b, loc, apart ? words : four),
          rest = most;
    for (int64_t i = 0; i < kTransposed; ++i) {
      Value number = LLVM::ExtractElementOp::create(b, loc, loaded[i], spot(j));
      if (apart) {
        auto [first, second] = splitToTF32(b, loc, number);
        rest = LLVM::InsertElementOp::create(b, loc, rest, second, spot(i));
        number = first;
      }
      most = LLVM::InsertElementOp::create(b, loc, most, number, spot(i));
    }
    LLVM::StoreOp::create(b, loc, most, place, kTransposed * 4);
    if (apart)
      LLVM::StoreOp::create(b, loc, rest, at(place, index(partBytes())),
                            kTransposed * 4);
  }
}

/// Each thread splits those pieces of f32 that it has loaded.
void SpecialisedKernel::splitFloats(const Factor &factor, Value tile) {
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
// All of it
//===----------------------------------------------------------------------===//

void SpecialisedKernel::barrierOfAll() {
  if (isPair())
    w.clusterBarrier();
  else
    gpu::BarrierOp::create(b, loc);
}

void SpecialisedKernel::inFirstBlock(llvm::function_ref<void()> body) {
  if (!isPair())
    return body();
  auto first = scf::IfOp::create(b, loc, isSame(rank, index(0)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  body();
}

void SpecialisedKernel::emit() {
  OpBuilder::InsertionGuard behind(b);
  rowTiles = tiles(blocksOfTile() * tiling.rows, rows);
  columnTiles = tiles(tileColumns(), columns);
  numTiles = gpukernels::product(b, loc,
                                 {rowTiles, columnTiles, batch, index(splits)});
  gpu::LaunchOp launch =
      begin(mul(numTiles, blocksOfTile()),
            tiling.stages * (stageBytes() + barrierBytes()) + ownBytes());
  spmd::contract::Gpu::set(launch,
                           spmd::KernelGpuAttr::get(b.getContext(), gpu()));
  spmd::contract::Persistent::set(launch);
  if (isPair())
    spmd::contract::Paired::set(launch);
  block = div(launch.getBlockIds().x, blocksOfTile());
  rank = rem(launch.getBlockIds().x, blocksOfTile());
  numBlocks = div(launch.getGridSize().x, blocksOfTile());
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
    // Of producers, the one that starts TMA copies arrives, and each of all
    // that load.
    bool some = boxBytes() > 0;
    int64_t fills = (some && !loadsRaw() ? 1 : 0) + (allLoad() ? kGroup : 0);
    for (int64_t stage = 0; stage < tiling.stages; ++stage) {
      w.init(barrier(index(stage), Full), fills);
      w.init(barrier(index(stage), Empty), releases());
      if (loadsRaw())
        w.init(barrier(index(stage), Raw), 1);
    }
    prepareAlone();
    w.fenceInit();
  }
  prepareAll();
  barrierOfAll();
  emitRoles();
}

bool gpukernels::hasOwnKernel(const Product &product) {
  bool onTensorCores =
      product.element != product.sum || product.tensorTerms > 0;
  // What threads would make of 8-bit floats one by one is better done by more
  // threads than a producer has.
  bool isMade = product.left.narrow && !product.left.isPlain();
  return onTensorCores && !isMade && product.rows >= kLeast &&
         product.columns >= kLeast && product.depths >= kLeast;
}

Tiling gpukernels::tilingOf(linalg::GenericOp op, const Product &product,
                            int64_t threads) {
  int64_t depth = kRow * 8 / product.element.getIntOrFloatBitWidth();
  // Tiles of numbers in two parts: 64 KiB a stage.
  if (product.tensorTerms > 1)
    return {128, 128, depth, 3, threads};
  if (llvm::divideCeil(product.rows, 128) *
              llvm::divideCeil(product.columns, 256) >=
          llvm::divideCeil(blocksOfGpu(op), product.batches) &&
      product.columns >= 256)
    return {128, 256, depth, 4, threads};
  return {128, 128, depth, 6, threads};
}
