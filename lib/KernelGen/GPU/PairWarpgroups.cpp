//===- PairWarpgroups.cpp - Steps of attention on sm_90a ------------------===//
//
// Three warpgroups. The first brings what its block's rows are, once, then tile
// after tile of columns through a ring of stages: 16-byte pieces by cp.async, a
// fence and an arrival a thread when they are there. The other two have 64 rows
// each. Scores are products of two matrices in shared memory; weights stay in
// registers, as the left matrix of the second product, taken apart as
// PairTensorCores.cpp says. While one of the two finds weights the other's
// products are under way.
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Columns of a tile, fewer where sums of many features need the registers, still
/// fewer where scores need some as well; and rows of a block.
static constexpr int64_t kTile = 64, kNarrowTile = 32, kLeastTile = 16;
static constexpr int64_t kManyFeatures = 192;
static constexpr int64_t kBlockRows = kConsumers * kGroupRows;
/// Elements of a row of 128 bytes, of a piece, and of the depth of one product.
static constexpr int64_t kPerRowBytes = kRow / 2, kPiece = 8, kStep = 16;
/// What a block may have.
static constexpr int64_t kSharedBytes = 227 * 1024, kMostStages = 4;
/// Registers of a thread that brings, and of one that multiplies.
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;

/// Lines of a tensor as they stand in shared memory.
struct PairSteps::Panels {
  const Tensor *tensor;
  unsigned lineDim; ///< whose indices are lines
  int64_t lines;
  unsigned dim; ///< along which neighbours lie
  int64_t length;

  int64_t panelBytes() const { return lines * kRow; }
  int64_t bytes() const {
    return llvm::divideCeil(length, kPerRowBytes) * panelBytes();
  }
};

/// Stages of two panels each behind those of the block's rows, and two
/// mbarriers a stage behind all.
struct PairSteps::Ring {
  WarpgroupBuilder &w;
  Panels left, right, factor;
  Value base;
  int64_t stages = 0;

  int64_t stageBytes() const { return right.bytes() + factor.bytes(); }
  int64_t areaBytes() const { return left.bytes() + stages * stageBytes(); }
};

/// Whether neighbours along `dim` lie in pieces of 16 bytes.
static bool hasPieces(const Tensor &tensor, unsigned dim) {
  auto type = cast<MemRefType>(tensor.memref.getType());
  if (type.getRank() == 0 || !beginsAligned(tensor.memref))
    return false;
  auto last = dyn_cast<AffineDimExpr>(tensor.map.getResults().back());
  if (!last || last.getPosition() != dim ||
      type.getShape().back() % kPiece != 0 ||
      type.isDynamicDim(type.getRank() - 1))
    return false;
  // Each stride is a multiple of the last dim.
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset % kPiece != 0 ||
      strides.back() != 1)
    return false;
  return llvm::all_of(ArrayRef(strides).drop_back(), [](int64_t stride) {
    return ShapedType::isStatic(stride) && stride % kPiece == 0;
  });
}

bool PairSteps::fitsWarpgroups(const Pass &pass) {
  if (pass.weigh != Weigh::Forward || !pass.factor ||
      !fitsTensorCores(pass.weigh, pass.factor))
    return false;
  auto isSmall = [&](unsigned dim) {
    return ShapedType::isStatic(sizeOf(dim)) && sizeOf(dim) < kGroupRows;
  };
  return !isSmall(rowDim) && !isSmall(columnDim) &&
         ShapedType::isStatic(sizeOf(d)) && sizeOf(d) <= kSlab &&
         hasPieces(query, d) && hasPieces(key, d) &&
         hasPieces(*pass.factor, pass.feature) &&
         llvm::none_of(inner, [&](unsigned dim) { return query.has(dim); });
}

/// Starts to bring the panels at (`firstLine`, `firstPart`) to `area`.
void PairSteps::bringPanels(const Panels &panels, Value firstLine,
                            Value firstPart, Value area) {
  SmallVector<Value> saved = at;
  int64_t perLine = panels.length / kPiece;
  auto loop = scf::ForOp::create(b, loc, thread, index(panels.lines * perLine),
                                 index(kGroup));
  setUnrolling(loop, 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = div(loop.getInductionVar(), perLine);
  Value part = mul(rem(loop.getInductionVar(), perLine), kPiece);
  Value atLine = add(firstLine, line), atPart = add(firstPart, part);
  Value inside = both(less(atLine, sizes[panels.lineDim]),
                      less(atPart, sizes[panels.dim]));
  at[panels.lineDim] = select(inside, atLine, index(0));
  at[panels.dim] = select(inside, atPart, index(0));
  WarpgroupBuilder w(b, loc);
  Value offset = w.placeInPanels(line, mul(part, 2), panels.lines);
  Value to = sharedByte(area, offset);
  NVVM::CpAsyncOp::create(
      b, loc, to,
      addressOf(b, loc, panels.tensor->memref, subscripts(*panels.tensor)),
      2 * kPiece, NVVM::LoadCacheModifierKind::CG,
      select(inside, w.number(2 * kPiece), w.number(0)));
  at = saved;
}

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

Carried PairSteps::tileOnWarpgroup(const Pass &pass, const Ring &ring,
                                   Value column, Carried carried) {
  firstColumn = column;
  WarpgroupBuilder &w = ring.w;
  Value stage = carried.ring[0], parity = carried.ring[1];
  auto at = [&](Value bytes) { return sharedByte(ring.base, bytes); };
  Value barriers = add(mul(stage, 16), index(ring.areaBytes()));
  w.wait(at(barriers), parity);
  Value begin = add(mul(stage, ring.stageBytes()), index(ring.left.bytes()));
  Value group = sub(div(thread, kGroup), index(1));
  Value left = w.describe(at(mul(group, kGroupRows * kRow)), 0);
  Value right = w.describe(at(begin), 0);
  Value sums = w.zeros(tileColumns);
  w.fence();
  for (int64_t from = 0; from < ring.right.length; from += kStep) {
    int64_t panel = from / kPerRowBytes, inRow = from % kPerRowBytes * 2;
    sums =
        w.multiply(sums, w.moved(left, panel * ring.left.panelBytes() + inRow),
                   w.moved(right, panel * ring.right.panelBytes() + inRow),
                   half, tileColumns,
                   /*leftLines=*/false, /*rightLines=*/false);
  }
  w.commit();
  w.waitForProducts(0);
  SmallVector<Value> weights =
      weigh(pass, byRow(w.valuesOf(sums)), {}, carried);

  SmallVector<SmallVector<Value>> lefts = weightFragments(weights);
  Value factor = w.describe(at(add(begin, index(ring.right.bytes()))),
                            ring.factor.panelBytes());
  sums = w.sumsOf(asFragments(carried.totals));
  w.fence();
  int64_t steps = tileColumns / kStep;
  for (auto [i, fragment] : llvm::enumerate(lefts))
    sums = w.multiplyFragments(
        sums, fragment,
        w.moved(factor, static_cast<int64_t>(i) % steps * kStep * kRow), half,
        ring.factor.length);
  w.commit();
  w.waitForProducts(0);
  {
    auto leads = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, rem(thread, kWarp), index(0)),
        false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(leads.thenBlock());
    w.arrive(at(add(barriers, index(8))));
  }
  carried.totals = byRow(w.valuesOf(sums));
  auto [next, flips] = w.advance(stage, parity, ring.stages);
  carried.ring = {next, flips};
  return carried;
}

bool PairSteps::emitOnWarpgroups(const Pass &pass) {
  begin(pass);
  if (!fitsWarpgroups(pass))
    return false;
  OpBuilder::InsertionGuard outside(b);
  tensor = true;
  perThread = 2;
  tileColumns = kTile;
  if (parts() * kPart > kManyFeatures)
    tileColumns =
        extras.empty() && op.getWeight().empty() ? kNarrowTile : kLeastTile;
  int64_t depth = llvm::alignTo(sizeOf(d), kStep);
  WarpgroupBuilder w(b, loc);
  Ring ring{
      w,
      {&query, rowDim, kBlockRows, d, depth},
      {&key, columnDim, tileColumns, d, depth},
      {pass.factor, columnDim, tileColumns, pass.feature, parts() * kPart},
      Value()};
  int64_t room = kSharedBytes - ring.left.bytes() - kMostStages * 16;
  ring.stages = std::min(room / ring.stageBytes(), kMostStages);
  if (ring.stages < 2)
    return false;
  gpu::LaunchOp launch = launchBlocks(kBlockRows, (1 + kConsumers) * kGroup);
  launch->setAttr(kOfGpuAttrName, b.getStringAttr("sm_90a"));
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value memory = launch.addWorkgroupAttribution(
      MemRefType::get({ring.areaBytes() + ring.stages * 16}, b.getI8Type(),
                      MemRefLayoutAttrInterface(), shared),
      loc);
  Value number = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  ring.base = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3),
      arith::IndexCastOp::create(b, loc, b.getI64Type(), number).getResult());
  auto at = [&](Value bytes) { return sharedByte(ring.base, bytes); };
  auto full = [&](Value stage) {
    return at(add(mul(stage, 16), index(ring.areaBytes())));
  };
  auto empty = [&](Value stage) {
    return at(add(mul(stage, 16), index(ring.areaBytes() + 8)));
  };
  {
    auto alone = scf::IfOp::create(
        b, loc, compare(arith::CmpIPredicate::eq, thread, index(0)), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(alone.thenBlock());
    for (int64_t stage = 0; stage < ring.stages; ++stage) {
      w.init(full(index(stage)), kGroup);
      w.init(empty(index(stage)), kConsumers * kGroup / kWarp);
    }
  }
  gpu::BarrierOp::create(b, loc);
  auto roles = scf::IfOp::create(b, loc, less(thread, index(kGroup)),
                                 /*withElseRegion=*/true);

  // Who brings: the stage to bring to next, its parity, and of what is on its
  // way the first stage, and how many there are.
  b.setInsertionPointToStart(roles.thenBlock());
  w.setRegisters(kFewRegisters, /*more=*/false);
  int64_t ahead = std::min<int64_t>(ring.stages - 1, 2);
  bringPanels(ring.left, firstRow, index(0), ring.base);
  auto tell = [&](Value stage) {
    w.fenceStores();
    w.arrive(full(stage));
    return w.advance(stage, w.number(0), ring.stages).first;
  };
  Carried brought;
  brought.ring = {index(0), w.number(1), index(0), index(0)};
  brought = overColumns(brought, [&](Value column, Carried now) {
    Value stage = now.ring[0], parity = now.ring[1];
    w.wait(empty(stage), parity);
    Value area =
        at(add(mul(stage, ring.stageBytes()), index(ring.left.bytes())));
    bringPanels(ring.right, column, index(0), area);
    bringPanels(ring.factor, column, index(pass.slab),
                sharedByte(area, index(ring.right.bytes())));
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
    NVVM::CpAsyncWaitGroupOp::create(b, loc, static_cast<uint32_t>(ahead));
    auto some = scf::IfOp::create(
        b, loc, TypeRange(b.getIndexType()),
        compare(arith::CmpIPredicate::eq, now.ring[3], index(ahead)), true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      scf::YieldOp::create(b, loc, tell(now.ring[2]));
      b.setInsertionPointToStart(some.elseBlock());
      scf::YieldOp::create(b, loc, now.ring[2]);
    }
    auto [next, flips] = w.advance(stage, parity, ring.stages);
    now.ring = {next, flips, some.getResult(0),
                smallerIndex(add(now.ring[3], index(1)), index(ahead))};
    return now;
  });
  NVVM::CpAsyncWaitGroupOp::create(b, loc, 0u);
  auto rest = scf::ForOp::create(b, loc, index(0), brought.ring[3], index(1),
                                 ValueRange(brought.ring[2]));
  b.setInsertionPointToEnd(rest.getBody());
  scf::YieldOp::create(b, loc, tell(rest.getRegionIterArg(0)));

  // Who multiplies: rows and columns as a warp's fragments have them.
  b.setInsertionPointToStart(roles.elseBlock());
  w.setRegisters(kManyRegisters, /*more=*/true);
  Value own = sub(thread, index(kGroup));
  rowOfThread = add(mul(div(own, kWarp), 16), div(rem(own, kWarp), kPerRow));
  laneOfRow = rem(thread, kPerRow);
  Carried carried = beginRows(pass);
  carried.ring = {index(0), w.number(0)};
  carried = overColumns(carried, [&](Value column, Carried now) {
    return tileOnWarpgroup(pass, ring, column, now);
  });
  finishRows(pass, carried);
  return true;
}
