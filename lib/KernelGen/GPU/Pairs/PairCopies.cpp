//===- PairCopies.cpp - Steps of attention that copy ahead ----------------===//
//
// For all GPUs. Four warps have 16 rows each, or 32 where registers allow,
// which reads columns half as often. What the block's rows are comes to shared
// memory once; of columns two tiles are there, of which one arrives by
// cp.async, 16 bytes at once, while the other is multiplied: one barrier a
// tile. Lines stand 16 bytes farther apart than they are long, so that eight of
// them meet all banks. Gradients of outputs, which are f32, are rounded on
// their way where weights are.
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Elements of a piece of 16 bytes, and of the depth of one product.
static constexpr int64_t kPiece = 8, kStep = 16;
/// Columns of a tile, the most first: from the third on where scores need more
/// registers; what two blocks of a multiprocessor may
/// have of its shared memory, and what one may on the least of them.
static constexpr int64_t kTiles[] = {64, 48, 32, 16}, kFewColumns = 32;
static constexpr int64_t kHalfBytes = 80 * 1024, kMostBytes = 99 * 1024;
static constexpr int64_t kWarps = kThreads / kWarp;
/// Features of which a warp may have sums for 32 rows, or need more beside.
static constexpr int64_t kFewFeatures = 128;
/// So many rows in all are a block of 128 for each multiprocessor.
static constexpr int64_t kTallRows = 128 * 128;

/// Lines of a tensor as they stand in shared memory.
struct PairSteps::Strip : PairSteps::Lines {
  bool isWide; ///< f32 in memory

  int64_t pitchBytes() const { return (length + kPiece) * 2; }
  int64_t bytes() const { return lines * pitchBytes(); }
};

/// What the block's rows are, for each product of scores, and behind it two
/// stages of what tiles of columns are.
struct PairSteps::Strips {
  SmallVector<Strip> lefts, tiles;
  size_t factor = 0; ///< the one of `tiles` that weights are multiplied with
  Value base;

  static int64_t bytesOf(ArrayRef<Strip> all) {
    int64_t bytes = 0;
    for (const Strip &strip : all)
      bytes += strip.bytes();
    return bytes;
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + 2 * stageBytes(); }
};

/// Whether neighbours along `dim`, if there are any, lie in pieces of 16 bytes,
/// or of 32 where they are f32.
static bool liesInPieces(const Tensor &tensor, unsigned dim) {
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

/// What a kernel for `pass` reads, of tiles of tileColumns; nothing where it is
/// none.
std::optional<PairSteps::Strips> PairSteps::stripsFor(const Pass &pass) {
  std::optional<Operands> operands =
      operandsOf(pass, kWarps * 8 * perThread, pass.features);
  if (!operands)
    return std::nullopt;
  Strips strips;
  strips.factor = operands->factor;
  bool fits = true;
  auto put = [&](SmallVector<Strip> &to, ArrayRef<Lines> from) {
    for (const Lines &lines : from) {
      bool isWide = !isHalf(*lines.tensor);
      fits &= liesInPieces(*lines.tensor, lines.dim) &&
              (!isWide || roundsWide(*lines.tensor));
      to.push_back({lines, isWide});
    }
  };
  put(strips.lefts, operands->lefts);
  put(strips.tiles, operands->tiles);
  if (!fits || strips.areaBytes() > kMostBytes)
    return std::nullopt;
  return strips;
}

/// Lets copies bring the lines of `strip` from `firstLine` on to `area`: zeros
/// past the edges.
void PairSteps::bringStrip(const Strip &strip, Value firstLine, Value area) {
  SmallVector<Value> saved = at;
  int64_t perLine = strip.length / kPiece, pieces = strip.lines * perLine;
  int64_t numLines = sizeOf(strip.lineDim);
  bool linesFit = ShapedType::isStatic(numLines) && numLines % strip.lines == 0;
  bool partsFit = strip.first + strip.length <= sizeOf(strip.dim);
  // Where a thread's pieces stand below one another it finds one place.
  bool isStraight = kThreads % perLine == 0;
  Value line0 = div(thread, perLine), part0 = rem(thread, perLine);
  auto bringPiece = [&](Value line, Value part) {
    Value atLine = add(firstLine, line);
    Value atPart = add(mul(part, kPiece), index(strip.first));
    Value inside;
    if (!linesFit)
      inside = less(atLine, sizes[strip.lineDim]);
    if (!partsFit) {
      Value counts = less(atPart, sizes[strip.dim]);
      inside = inside ? both(inside, counts) : counts;
    }
    at[strip.lineDim] = inside ? select(inside, atLine, index(0)) : atLine;
    at[strip.dim] = inside ? select(inside, atPart, index(0)) : atPart;
    Value to = sharedByte(
        area, add(mul(line, strip.pitchBytes()), mul(part, 2 * kPiece)));
    Value from =
        addressOf(b, loc, strip.tensor->memref, subscripts(*strip.tensor));
    if (strip.isWide)
      return bringRounded(from, inside, to);
    Value read;
    if (inside)
      read = select(inside, arith::ConstantIntOp::create(b, loc, 16, 32),
                    arith::ConstantIntOp::create(b, loc, 0, 32));
    NVVM::CpAsyncOp::create(b, loc, to, from, 16u,
                            NVVM::LoadCacheModifierKind::CG, read);
  };
  bool isLean = leavesRegisters() || (linesFit && partsFit);
  if (isLean && isStraight && pieces % kThreads == 0) {
    for (int64_t done = 0; done < pieces; done += kThreads)
      bringPiece(add(line0, index(done / perLine)), part0);
  } else {
    // Each has a place of its own to find: not all at once, of few registers.
    auto loop =
        scf::ForOp::create(b, loc, thread, index(pieces), index(kThreads));
    setUnrolling(loop, 2);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value piece = loop.getInductionVar();
    bringPiece(div(piece, perLine), rem(piece, perLine));
  }
  at = saved;
}

/// Eight floats, rounded to 16 bits; zeros where they are not `inside`.
void PairSteps::bringRounded(Value from, Value inside, Value to) {
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Type four = VectorType::get({4}, type);
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
        two.push_back(inside ? select(inside, one, number(0)) : one);
      }
      words = LLVM::InsertElementOp::create(
          b, loc, words,
          takeApart(two[0], two[1], /*terms=*/1, /*isFinite=*/true).front(),
          spot(2 * load + pair));
    }
  }
  LLVM::StoreOp::create(b, loc, words, to, /*alignment=*/16);
}

/// The products of a warp's rows of `left` and all lines of `right`.
SmallVector<Value> PairSteps::multiplyStrips(const Strip &left, Value leftArea,
                                             const Strip &right,
                                             Value rightArea) {
  SmallVector<Value> sums(perThread * ownColumns(), number(0));
  Value lane = rem(thread, kWarp), warp = div(thread, kWarp);
  Value row = rem(lane, 8), first = mul(rem(div(lane, 8), 2), 8),
        second = mul(div(lane, 16), 8);
  auto place = [&](Value area, const Strip &strip, Value line, Value column) {
    return sharedByte(area, add(mul(line, strip.pitchBytes()), mul(column, 2)));
  };
  Value leftAt = place(leftArea, left,
                       add(mul(warp, 8 * perThread), add(first, row)), second);
  Value rightAt = place(rightArea, right, add(second, row), first);
  int64_t high = perThread / 2;
  for (int64_t from = 0; from < left.length; from += kStep) {
    SmallVector<SmallVector<Value>> rows;
    for (int64_t m = 0; m < high; ++m)
      rows.push_back(loadMatrices(
          b, loc,
          sharedByte(leftAt, index(16 * m * left.pitchBytes() + 2 * from)),
          false));
    for (int64_t j = 0; j < ownColumns() / 2; j += 2) {
      SmallVector<Value> columns = loadMatrices(
          b, loc,
          sharedByte(rightAt, index(8 * j * right.pitchBytes() + 2 * from)),
          false);
      for (int64_t m = 0; m < high; ++m)
        for (int64_t k = 0; k < 2; ++k) {
          auto spot = [&](int64_t word) -> Value & {
            return sums[(2 * m + word / 2) * ownColumns() + 2 * (j + k) +
                        word % 2];
          };
          SmallVector<Value> made = multiplyFragments(
              b, loc, half, rows[m], {columns[2 * k], columns[2 * k + 1]},
              {spot(0), spot(1), spot(2), spot(3)});
          for (int64_t word = 0; word < 4; ++word)
            spot(word) = made[word];
        }
    }
  }
  return sums;
}

/// Adds the products of weights and `factor`, features from `begin` on.
void PairSteps::addWeighted(ArrayRef<Value> weights, bool isFinite,
                            const Strip &factor, Value area, int64_t begin,
                            Carried &carried) {
  int64_t own = static_cast<int64_t>(carried.totals.size()) / perThread;
  int64_t steps = tileColumns / kStep, high = perThread / 2;
  SmallVector<SmallVector<SmallVector<Value>>> lefts;
  for (int64_t m = 0; m < high; ++m)
    lefts.push_back(weightFragments(
        weights.slice(2 * m * ownColumns(), 2 * ownColumns()), isFinite));
  Value lane = rem(thread, kWarp);
  Value row = rem(lane, 8), first = mul(rem(div(lane, 8), 2), 8),
        second = mul(div(lane, 16), 8);
  Value rightAt =
      sharedByte(area, add(mul(add(first, row), factor.pitchBytes()),
                           mul(add(second, index(begin)), 2)));
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t j = 0; j < own / 2; j += 2) {
      SmallVector<Value> right = loadMatrices(
          b, loc,
          sharedByte(rightAt,
                     index(kStep * step * factor.pitchBytes() + 16 * j)),
          true);
      for (int64_t m = 0; m < high; ++m)
        for (int64_t k = 0; k < 2; ++k) {
          auto spot = [&](int64_t word) -> Value & {
            return carried
                .totals[(2 * m + word / 2) * own + 2 * (j + k) + word % 2];
          };
          for (size_t left = step; left < lefts[m].size(); left += steps) {
            SmallVector<Value> made = multiplyFragments(
                b, loc, half, lefts[m][left], {right[2 * k], right[2 * k + 1]},
                {spot(0), spot(1), spot(2), spot(3)});
            for (int64_t word = 0; word < 4; ++word)
              spot(word) = made[word];
          }
        }
    }
}

/// The launch of `pass`, or none where what it reads does not lie so.
gpu::LaunchOp PairSteps::emitOnCopies(const Pass &pass) {
  OpBuilder::InsertionGuard outside(b);
  begin(pass);
  bool isTensor = fitsTensorCores(pass.weigh, pass.factor, /*orWide=*/true);
  // Sums of more features, and what a mask or a second product needs beside
  // them, are more than there are registers.
  bool isPlain = pass.weigh == Weigh::Forward && shortWeights &&
                 extras.empty() && op.getWeight().empty() &&
                 !op.getBandLower() && !op.getBandUpper();
  bool isLean = pass.weigh == Weigh::Forward || leavesRegisters();
  int64_t most = isLean ? kFewFeatures : kFewFeatures / 2;
  auto isMany = [&](unsigned dim) {
    return ShapedType::isDynamic(sizeOf(dim)) || sizeOf(dim) > most;
  };
  if (!isTensor || (!isPlain && (isMany(d) || isMany(e))))
    return {};
  // Blocks of all rows, where that is known: tall ones for all multiprocessors.
  int64_t allRows = sizeOf(rowDim);
  for (unsigned dim : outer)
    allRows =
        ShapedType::isDynamic(allRows) || ShapedType::isDynamic(sizeOf(dim))
            ? ShapedType::kDynamic
            : allRows * sizeOf(dim);
  bool isTall = pass.weigh == Weigh::Forward && shortWeights &&
                parts(pass) * kPart <= kFewFeatures &&
                ShapedType::isStatic(allRows) && allRows >= kTallRows;
  perThread = isTall ? 4 : 2;
  std::optional<Strips> found;
  auto isGood = [&](int64_t columns) {
    tileColumns = columns;
    found = stripsFor(pass);
    // Two blocks, if tiles are not too small for it, without an edge in each.
    int64_t all = sizeOf(columnDim);
    bool isWhole = ShapedType::isDynamic(all) || all % columns == 0 ||
                   all % kFewColumns != 0;
    return found && ((found->areaBytes() <= kHalfBytes && isWhole) ||
                     columns <= kFewColumns);
  };
  for (int64_t columns : ArrayRef(kTiles).drop_front(leavesRegisters() ? 0 : 2))
    if (isGood(columns))
      break;
  if (!found)
    return {};
  Strips &strips = *found;
  tensor = true;
  gpu::LaunchOp launch = launchBlocks(kWarps * 8 * perThread, kThreads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value memory = launch.addWorkgroupAttribution(
      MemRefType::get({strips.areaBytes()}, b.getI8Type(),
                      MemRefLayoutAttrInterface(), shared),
      loc);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  strips.base = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3),
      arith::IndexCastOp::create(b, loc, b.getI64Type(), address).getResult());
  rowOfThread = add(mul(div(thread, kWarp), 8 * perThread),
                    div(rem(thread, kWarp), kPerRow));
  laneOfRow = rem(thread, kPerRow);
  auto areaOf = [&](ArrayRef<Strip> all, size_t which, Value from) {
    return sharedByte(from, index(Strips::bytesOf(all.take_front(which))));
  };
  auto bringAll = [&](ArrayRef<Strip> all, Value line, Value to) {
    for (auto [i, strip] : llvm::enumerate(all))
      bringStrip(strip, line, areaOf(all, i, to));
  };
  auto stageAt = [&](Value stage) {
    return sharedByte(strips.base, add(mul(stage, strips.stageBytes()),
                                       index(strips.leftBytes())));
  };
  bringAll(strips.lefts, firstRow, strips.base);
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
  Carried carried = beginRows(pass);
  carried = overDims(inner, carried, [&](Carried now) {
    auto [from, to] = columnRange();
    if (!inner.empty())
      gpu::BarrierOp::create(b, loc); // the tiles before have been read
    auto bringTile = [&, to = to](Value column, Value stage) {
      {
        auto some = scf::IfOp::create(b, loc, less(column, to), false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(some.thenBlock());
        bringAll(strips.tiles, column, stageAt(stage));
      }
      // Also where there is nothing: groups are counted.
      NVVM::CpAsyncCommitGroupOp::create(b, loc);
    };
    bringTile(from, index(0));
    now.ring = {index(0)};
    Carried after = carry(
        from, to, index(tileColumns), now, [&](Value column, Carried next) {
          firstColumn = column;
          Value stage = next.ring[0], other = sub(index(1), stage);
          NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
          gpu::BarrierOp::create(b, loc);
          bringTile(add(column, index(tileColumns)), other);
          Value tile = stageAt(stage);
          SmallVector<SmallVector<Value>> products;
          for (size_t i = 0; i < strips.lefts.size(); ++i)
            products.push_back(multiplyStrips(
                strips.lefts[i], areaOf(strips.lefts, i, strips.base),
                strips.tiles[i], areaOf(strips.tiles, i, tile)));
          SmallVector<Value> weights = weigh(
              pass, products.front(),
              products.size() > 1 ? ArrayRef(products[1]) : ArrayRef<Value>(),
              next);
          const Strip &factor = strips.tiles[strips.factor];
          addWeighted(weights, hasFiniteWeights(pass), factor,
                      areaOf(strips.tiles, strips.factor, tile),
                      pass.slab - factor.first, next);
          next.ring = {other};
          return next;
        });
    after.ring.clear();
    return after;
  });
  finishRows(pass, carried);
  return launch;
}
