//===- Product.cpp - Contractions as tiled matrix products ----------------===//
//
// A block has a tile of the results. Tiles of both operands travel through a
// ring of stages in shared memory: while one is multiplied, others are on their
// way (cp.async, where elements are only moved; pieces of 16 bytes, where they
// lie so in memory). One barrier a step: behind it a stage is whole for all,
// and the one before has been read by all, and may be written again.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "../Warpgroups.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// A depth is cut into parts of at least so much: some stages of each tile, or
/// copies are waited for instead of being ahead. [shape]
static constexpr int64_t kLeastPart = 256;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

ProductKernel::ProductKernel(OpBuilder &b, linalg::GenericOp op,
                             const Product &product, Tiling tiling,
                             TileLayout layout)
    : IndexBuilder(b, op.getLoc()), op(op), product(product), tiling(tiling),
      layout(layout), dims(b, op), emitter(b, op), producers(tiling.threads) {}

int64_t ProductKernel::pitch(const Factor &factor) const {
  if (layout == TileLayout::DepthMajor)
    return linesOf(factor) + kPieceBytes / elementBytes();
  return factor.alongLines ? linesOf(factor) : tiling.depth;
}

int64_t ProductKernel::tileBytes(const Factor &factor) const {
  if (layout == TileLayout::Panels)
    return linesOf(factor) * tiling.depth * elementBytes();
  return (isAlongLines(factor) ? tiling.depth : linesOf(factor)) *
         pitch(factor) * elementBytes();
}

Value ProductKernel::at(Value base, Value bytes) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), bytes);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value ProductKernel::offsetIn(const Factor &factor, Value line, Value depth) {
  bool byDepth = isAlongLines(factor);
  Value row = byDepth ? depth : line, column = byDepth ? line : depth;
  if (layout == TileLayout::Panels)
    return WarpgroupBuilder(b, loc).placeInPanels(
        row, mul(column, elementBytes()),
        byDepth ? tiling.depth : linesOf(factor));
  int64_t width = pitch(factor);
  if (layout == TileLayout::Swizzled) {
    // Eight rows of 16 bytes must use all banks: rows of a multiple of 128
    // bytes take eight places, two of an odd multiple of 64 bytes take four.
    int64_t perPiece = kPieceBytes / elementBytes();
    bool narrow = width * elementBytes() % 128 == 64;
    assert((narrow || width * elementBytes() % 128 == 0) && "odd rows");
    Value swap = narrow ? rem(div(row, 2), 4) : rem(row, 8);
    Value piece = bitXor(div(column, perPiece), swap);
    column = add(mul(piece, perPiece), rem(column, perPiece));
  }
  return mul(add(mul(row, width), column), elementBytes());
}

Value ProductKernel::addressIn(const Factor &factor, Value tile, Value line,
                               int64_t linesBehind, Value depth,
                               int64_t depthsBehind) {
  int64_t bytes = 0;
  if (layout == TileLayout::Swizzled) {
    int64_t &behind = isAlongLines(factor) ? depthsBehind : linesBehind;
    int64_t alike = behind - behind % kSwappedRows;
    bytes = alike * pitch(factor) * elementBytes();
    behind -= alike;
  }
  Value offset = offsetIn(factor, add(line, index(linesBehind)),
                          add(depth, index(depthsBehind)));
  return at(at(tile, offset), index(bytes));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value gpukernels::addressOf(OpBuilder &b, Location loc, Value memref,
                            ArrayRef<Value> subscripts) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  LogicalResult known = type.getStridesAndOffset(strides, offset);
  assert(succeeded(known) && "kernels are given strided buffers");
  (void)known;
  memref::ExtractStridedMetadataOp metadata;
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto either = [&](int64_t number, auto computed) -> Value {
    if (ShapedType::isStatic(number))
      return index(number);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    return computed();
  };
  Value place = either(offset, [&] { return metadata.getOffset(); });
  for (auto [i, subscript] : llvm::enumerate(subscripts)) {
    Value stride = either(strides[i], [&] { return metadata.getStrides()[i]; });
    Value step = arith::MulIOp::create(b, loc, subscript, stride);
    place = arith::AddIOp::create(b, loc, place, step);
  }
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  Value bytes = arith::MulIOp::create(b, loc, place,
                                      index(type.getElementTypeBitWidth() / 8));
  Value address = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, start, bytes));
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
}

SmallVector<Value> ProductKernel::pipeline(Value row, Value column,
                                           ArrayRef<Value> sums, Step step) {
  int64_t leftBytes = tileBytes(product.left);
  int64_t stageBytes = leftBytes + tileBytes(product.right);
  auto loadStage = [&](Value from, Value stage) {
    auto some = scf::IfOp::create(b, loc, less(from, last), false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      Value begin = mul(stage, stageBytes);
      load(product.left, row, from, at(base, begin));
      load(product.right, column, from, at(base, add(begin, index(leftBytes))));
    }
    // Also where there is nothing: groups are counted.
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  };
  int64_t ahead = tiling.stages - 1;
  for (int64_t stage = 0; stage < ahead; ++stage)
    loadStage(add(first, index(stage * tiling.depth)), index(stage));
  SmallVector<Value> carried = {index(0), index(ahead)};
  llvm::append_range(carried, sums);
  auto loop =
      scf::ForOp::create(b, loc, first, last, index(tiling.depth), carried);
  // A step is long enough: several side by side would only want registers.
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value reads = loop.getRegionIterArg(0), writes = loop.getRegionIterArg(1);
  NVVM::CpAsyncWaitGroupOp::create(b, loc, static_cast<uint32_t>(ahead - 1));
  gpu::BarrierOp::create(b, loc);
  loadStage(add(loop.getInductionVar(), index(ahead * tiling.depth)), writes);
  Value begin = mul(reads, stageBytes);
  SmallVector<Value> next =
      step(at(base, begin), at(base, add(begin, index(leftBytes))),
           llvm::to_vector_of<Value>(loop.getRegionIterArgs().drop_front(2)));
  Value behind = add(reads, index(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, behind,
                                      index(tiling.stages));
  // What is read in this step is written in the next.
  SmallVector<Value> yielded = {
      arith::SelectOp::create(b, loc, wraps, index(0), behind), reads};
  llvm::append_range(yielded, next);
  scf::YieldOp::create(b, loc, yielded);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
}

void ProductKernel::store(const Share &share, ArrayRef<Value> sums, Value row,
                          Value column) {
  SmallVector<Value> atRows, atColumns;
  for (Value own : share.rows)
    atRows.push_back(add(row, own));
  for (Value own : share.columns)
    atColumns.push_back(add(column, own));
  // The offset of each row and column is computed once, not in every branch.
  auto placesOf = [&](ArrayRef<unsigned> lines, ArrayRef<Value> all) {
    SmallVector<SmallVector<Value>> places;
    for (Value one : all) {
      dims.place(b, loc, emitter, lines, one);
      places.push_back(llvm::map_to_vector(
          lines, [&](unsigned dim) -> Value { return emitter.at()[dim]; }));
    }
    return places;
  };
  SmallVector<SmallVector<Value>> rowPlaces, columnPlaces;
  if (splits == 1) {
    rowPlaces = placesOf(product.left.lines, atRows);
    columnPlaces = placesOf(product.right.lines, atColumns);
  }
  // Neighbours are done at once where no edge comes between them.
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t run = share.run, known = 1;
  for (unsigned dim : product.right.lines)
    known = ShapedType::isDynamic(sizes[dim]) || known == 0
                ? 0
                : known * sizes[dim];
  while (run > 1 && (known == 0 || known % run != 0))
    run /= 2;
  for (auto [i, atRow] : llvm::enumerate(atRows))
    for (size_t j = 0; j < atColumns.size(); j += run) {
      Value atColumn = atColumns[j];
      Value inside = arith::AndIOp::create(b, loc, less(atRow, rows),
                                           less(atColumn, columns));
      auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard insertion(b);
      b.setInsertionPointToStart(guard.thenBlock());
      ArrayRef<Value> values = sums.slice(i * atColumns.size() + j, run);
      if (splits > 1) {
        Value line = add(arith::MulIOp::create(b, loc, place, rows), atRow);
        Value spot =
            add(arith::MulIOp::create(b, loc, line, columns), atColumn);
        Value all = vector::FromElementsOp::create(
            b, loc, VectorType::get({run}, product.sum), values);
        vector::StoreOp::create(
            b, loc, all, scratch, spot, /*nontemporal=*/false,
            llvm::MaybeAlign(run * product.sum.getIntOrFloatBitWidth() / 8));
        continue;
      }
      for (auto [dim, at] : llvm::zip(product.left.lines, rowPlaces[i]))
        emitter.at()[dim] = at;
      storeRun(values, [&](int64_t lane) {
        for (auto [dim, at] :
             llvm::zip(product.right.lines, columnPlaces[j + lane]))
          emitter.at()[dim] = at;
      });
    }
}

static bool isByteWise(OpOperand &operand) {
  Type type = cast<MemRefType>(operand.get().getType()).getElementType();
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
}

/// The type of `element` in LLVM's vectors, which knows no floats of 8 bits.
static Type storedAs(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.isIntOrFloat() &&
                  element.getIntOrFloatBitWidth() == 8;
  return isNarrow ? IntegerType::get(element.getContext(), 8) : element;
}

static Value bitsAs(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::BitcastOp::create(b, loc, type, value).getResult();
}

SmallVector<Value> ProductKernel::readRun(linalg::GenericOp of,
                                          PointEmitter &emitter,
                                          OpOperand &operand,
                                          ArrayRef<unsigned> dims,
                                          int64_t count, GoTo goTo) {
  SmallVector<Value> values;
  if (count == 1 || !isByteWise(operand) || runOf(of, operand, dims) < count) {
    for (int64_t lane = 0; lane < count; ++lane) {
      goTo(lane);
      values.push_back(emitter.load(operand));
    }
    return values;
  }
  goTo(0);
  Type element = cast<MemRefType>(operand.get().getType()).getElementType();
  Value all = LLVM::LoadOp::create(
      b, loc, VectorType::get({count}, storedAs(element)),
      addressOf(emitter, operand), count * element.getIntOrFloatBitWidth() / 8);
  for (int64_t lane = 0; lane < count; ++lane) {
    Value one = LLVM::ExtractElementOp::create(
        b, loc, all,
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(lane)));
    values.push_back(bitsAs(b, loc, one, element));
  }
  return values;
}

void ProductKernel::writeRun(linalg::GenericOp of, PointEmitter &emitter,
                             OpOperand &operand, ArrayRef<unsigned> dims,
                             ArrayRef<Value> values, GoTo goTo) {
  int64_t count = values.size();
  if (count == 1 || !isByteWise(operand) || runOf(of, operand, dims) < count) {
    for (int64_t lane = 0; lane < count; ++lane) {
      goTo(lane);
      emitter.storeOutput(operand, values[lane]);
    }
    return;
  }
  goTo(0);
  Type element = storedAs(values.front().getType());
  Value all = LLVM::PoisonOp::create(b, loc, VectorType::get({count}, element));
  for (int64_t lane = 0; lane < count; ++lane)
    all = LLVM::InsertElementOp::create(
        b, loc, all, bitsAs(b, loc, values[lane], element),
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(lane)));
  LLVM::StoreOp::create(b, loc, all, addressOf(emitter, operand),
                        count * element.getIntOrFloatBitWidth() / 8);
}

void ProductKernel::storeRun(ArrayRef<Value> sums, GoTo goTo) {
  const Fusion &fusion = product.fusion;
  linalg::GenericOp behind = fusion.behind;
  OpOperand &output = *op.getDpsInitOperand(0);
  ArrayRef<unsigned> columns = product.right.lines;
  int64_t count = sums.size();
  SmallVector<Value> results(count, fusion.start);
  if (!fusion.start)
    results = readRun(op, emitter, output, columns, count, goTo);
  for (auto [result, sum] : llvm::zip(results, sums))
    result = combineOutput(result, sum);
  PointEmitter other(b, behind ? behind : op);
  auto goBehind = [&](int64_t lane) {
    goTo(lane);
    for (auto [mine, theirs] : fusion.dims)
      other.at()[theirs] = emitter.at()[mine];
  };
  if (!behind || fusion.keeps)
    writeRun(op, emitter, output, columns, results, goTo);
  if (!behind)
    return;
  SmallVector<unsigned> theirColumns;
  for (unsigned dim : columns)
    for (auto [mine, theirs] : fusion.dims)
      if (mine == dim)
        theirColumns.push_back(theirs);
  // All is read before anything is written: buffers may be the same.
  DenseMap<OpOperand *, SmallVector<Value>> read;
  for (OpOperand &operand : behind->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) ||
        behind.getMatchingBlockArgument(&operand).use_empty())
      continue;
    // In place of the results, what it finds there is these.
    bool isResults =
        operand.get() == output.get() &&
        behind.getMatchingIndexingMap(&operand) ==
            behind.getMatchingIndexingMap(&behind->getOpOperand(fusion.result));
    read[&operand] = isResults ? results
                               : readRun(behind, other, operand, theirColumns,
                                         count, goBehind);
  }
  SmallVector<SmallVector<Value>> written(behind.getNumDpsInits());
  for (int64_t lane = 0; lane < count; ++lane) {
    goBehind(lane);
    SmallVector<Value> current;
    for (OpOperand &own : behind.getDpsInitsMutable())
      current.push_back(read.contains(&own) ? read[&own][lane] : Value());
    SmallVector<Value> made = other.body(
        current, [&](OpOperand &operand) { return read[&operand][lane]; });
    for (auto [all, value] : llvm::zip(written, made))
      all.push_back(value);
  }
  for (auto [own, values] :
       llvm::zip_equal(behind.getDpsInitsMutable(), written))
    writeRun(behind, other, own, theirColumns, values, goBehind);
}

Value ProductKernel::combineOutput(Value start, Value value) {
  return arith::AddFOp::create(b, loc, start, value);
}

int64_t ProductKernel::chooseSplits(std::pair<int64_t, int64_t> tile) const {
  if (!product.isStatic)
    return 1;
  auto blocksOf = [&](int64_t tileRows, int64_t tileColumns) -> int64_t {
    return llvm::divideCeil(product.rows, tileRows) *
           llvm::divideCeil(product.columns, tileColumns) * product.batches;
  };
  // With fewer blocks than keep the GPU busy the depth is cut as well, so that
  // there are enough of the largest tiles.
  int64_t manyBlocks = blocksOfGpu(op);
  if (product.batches == 0 ||
      blocksOf(tiling.rows, tiling.columns) * 2 > manyBlocks)
    return 1;
  int64_t blocks = blocksOf(tile.first, tile.second);
  return std::clamp<int64_t>(product.depths / kLeastPart, 1,
                             manyBlocks / blocks);
}

/// Adds up the sums of the parts of the depth, in their order: a thread
/// for each 16 bytes of results, or for each.
void ProductKernel::finish() {
  if (splits == 1)
    return;
  constexpr int64_t threads = 256; // [shape]
  int64_t bytes = product.sum.getIntOrFloatBitWidth() / 8;
  int64_t run = product.columns % (16 / bytes) == 0 ? 16 / bytes : 1;
  auto type = VectorType::get({run}, product.sum);
  Value points = gpukernels::product(b, loc, {batch, rows, columns});
  Value runs = div(points, run);
  OpBuilder::InsertionGuard behind(b);
  Value point = mul(beginLaunchOf(b, loc, runs, threads), run);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto loop = scf::ForOp::create(b, loc, index(0), index(splits), index(1),
                                 ValueRange(none));
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value spot = add(
        arith::MulIOp::create(b, loc, loop.getInductionVar(), points), point);
    Value part =
        vector::LoadOp::create(b, loc, type, scratch, spot,
                               /*nontemporal=*/false, llvm::Align(run * bytes));
    Value sum = arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), part);
    scf::YieldOp::create(b, loc, sum);
  }
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < run; ++lane)
    values.push_back(
        vector::ExtractOp::create(b, loc, loop.getResult(0), lane));
  Value column = arith::RemUIOp::create(b, loc, point, columns);
  point = arith::DivUIOp::create(b, loc, point, columns);
  dims.place(b, loc, emitter, product.left.lines,
             arith::RemUIOp::create(b, loc, point, rows));
  dims.place(b, loc, emitter, product.batch,
             arith::DivUIOp::create(b, loc, point, rows));
  SmallVector<SmallVector<Value>> places;
  for (int64_t lane = 0; lane < run; ++lane) {
    dims.place(b, loc, emitter, product.right.lines, add(column, index(lane)));
    places.push_back(
        llvm::map_to_vector(product.right.lines, [&](unsigned dim) -> Value {
          return emitter.at()[dim];
        }));
  }
  storeRun(values, [&](int64_t lane) {
    for (auto [dim, at] : llvm::zip(product.right.lines, places[lane]))
      emitter.at()[dim] = at;
  });
}

void ProductKernel::prepare(std::pair<int64_t, int64_t> tile) {
  rows = dims.count(b, loc, product.left.lines);
  columns = dims.count(b, loc, product.right.lines);
  depth = dims.count(b, loc, product.depth);
  batch = dims.count(b, loc, product.batch);
  splits = chooseSplits(tile);
  if (splits == 1)
    return;
  int64_t count = product.batches * product.rows * product.columns * splits;
  scratch =
      memref::AllocOp::create(b, loc, MemRefType::get({count}, product.sum));
}

void ProductKernel::prepareLike(const ProductKernel &other) {
  rows = other.rows;
  columns = other.columns;
  depth = other.depth;
  batch = other.batch;
  splits = other.splits;
  scratch = other.scratch;
}

gpu::LaunchOp ProductKernel::begin(Value blocks, int64_t bytes) {
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, tiling.threads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto area = MemRefType::get({bytes}, b.getI8Type(),
                              MemRefLayoutAttrInterface(), shared);
  Value memory = launch.addWorkgroupAttribution(area, loc);
  Value number = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  base = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
  thread = launch.getThreadIds().x;
  return launch;
}

void ProductKernel::placePlane(Value plane) {
  first = index(0);
  last = depth;
  if (splits == 1) {
    dims.place(b, loc, emitter, product.batch, plane);
    return;
  }
  // `batch` counts within a part, parts are slowest: as in `scratch`.
  place = plane;
  dims.place(b, loc, emitter, product.batch,
             arith::RemUIOp::create(b, loc, plane, batch));
  int64_t part =
      llvm::alignTo(llvm::divideCeil(product.depths, splits), tiling.depth);
  first = mul(arith::DivUIOp::create(b, loc, plane, batch), part);
  last = arith::MinUIOp::create(b, loc, depth, add(first, index(part)));
}

gpu::LaunchOp ProductKernel::launch(llvm::function_ref<Share()> share,
                                    Step step, Combine combine) {
  OpBuilder::InsertionGuard behind(b);
  Value rowTiles = tiles(tiling.rows, rows);
  Value columnTiles = tiles(tiling.columns, columns);
  Value blocks = gpukernels::product(
      b, loc, {rowTiles, columnTiles, batch, index(splits)});
  gpu::LaunchOp launch =
      begin(blocks, tiling.stages *
                        (tileBytes(product.left) + tileBytes(product.right)));
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) -> Value {
    Value mine = arith::RemUIOp::create(b, loc, block, count);
    block = arith::DivUIOp::create(b, loc, block, count);
    return mine;
  };
  Value column = mul(take(columnTiles), tiling.columns);
  Value row = mul(take(rowTiles), tiling.rows);
  placePlane(block);

  Share own = share();
  Value none =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(product.sum, 0));
  SmallVector<Value> sums(own.rows.size() * own.columns.size(), none);
  sums = pipeline(row, column, sums, step);
  if (combine)
    sums = combine(own, sums);
  store(own, sums, row, column);
  return launch;
}
