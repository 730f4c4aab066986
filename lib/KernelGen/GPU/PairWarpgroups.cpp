//===- PairWarpgroups.cpp - Steps of attention on sm_90a ------------------===//
//
// Three warpgroups. The first brings what its block's rows are, once, then tile
// after tile of columns through a ring of stages: 16-byte pieces by cp.async, a
// fence and an arrival a thread when they are there. The other two have 64 rows
// each. Scores are products of two matrices in shared memory; weights stay in
// registers, as the left matrix of the second product, taken apart as
// PairTensorCores.cpp says; so are, where they are brought, gradients of
// outputs, which are f32. While one of the two finds weights the other's
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

/// Columns of a tile, fewer where sums of many features need the registers,
/// still fewer where scores need some as well; and rows of a block.
static constexpr int64_t kTile = 64, kNarrowTile = 32, kLeastTile = 16;
static constexpr int64_t kFewFeatures = 64, kManyFeatures = 192;
static constexpr int64_t kBlockRows = kConsumers * kGroupRows;
/// Elements of a row of 128 bytes, of a piece, and of the depth of one product.
static constexpr int64_t kPerRowBytes = kRow / 2, kPiece = 8, kStep = 16;
/// What a block may have.
static constexpr int64_t kSharedBytes = 227 * 1024, kMostStages = 4;
/// Registers of a thread that brings, and of one that multiplies; and where
/// those that bring take floats apart.
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;
static constexpr int64_t kSomeRegisters = 72, kOtherRegisters = 216;
/// Terms of a float that is taken apart; products of later ones are nothing.
static constexpr int64_t kTerms = 3;

/// Lines of a tensor as they stand in shared memory: one behind the other as
/// often as its numbers have terms.
struct PairSteps::Panels {
  const Tensor *tensor;
  unsigned lineDim; ///< whose indices are lines
  int64_t lines;
  unsigned dim; ///< along which neighbours lie
  int64_t length;
  int64_t terms = 1;

  int64_t panelBytes() const { return lines * kRow; }
  int64_t termBytes() const {
    return llvm::divideCeil(length, kPerRowBytes) * panelBytes();
  }
  int64_t bytes() const { return terms * termBytes(); }
};

/// What the block's rows are, for each product of scores; behind it stages of
/// what tiles of columns are, and two mbarriers a stage.
struct PairSteps::Ring {
  SmallVector<Panels> lefts, tiles;
  /// The one of `tiles` that weights are multiplied with: it is of scores as
  /// well, or the last.
  size_t factor = 0;
  int64_t stages = 0;
  Value base;

  static int64_t bytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.bytes();
    return bytes;
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
  bool takesApart() const {
    auto many = [](const Panels &panels) { return panels.terms > 1; };
    return llvm::any_of(lefts, many) || llvm::any_of(tiles, many);
  }
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

/// What a kernel for `pass` reads; nothing where it is none.
std::optional<PairSteps::Ring> PairSteps::ringFor(const Pass &pass) {
  half = getElementTypeOrSelf(query.memref.getType());
  bool forward = pass.weigh == Weigh::Forward;
  // As for other tensor cores: numbers of f16 end early.
  if (!pass.factor || !type.isF32() || !op.getPair().empty() ||
      op.getCombine() != spmd::PairCombine::Softmax || !isHalf(key) ||
      !(half.isBF16() || (half.isF16() && forward && op.getWeight().empty())))
    return std::nullopt;
  auto isSmall = [&](unsigned dim) {
    return ShapedType::isStatic(sizeOf(dim)) && sizeOf(dim) < kGroupRows;
  };
  if (isSmall(rowDim) || isSmall(columnDim))
    return std::nullopt;
  bool rowsAreQueries = rowDim == q;
  Ring ring;
  bool fits = true;
  auto add = [&](SmallVector<Panels> &to, const Tensor &tensor, unsigned dim) {
    bool isLeft = &to == &ring.lefts;
    Type element = getElementTypeOrSelf(tensor.memref.getType());
    fits &= (element == half || (element.isF32() && half.isBF16())) &&
            hasPieces(tensor, dim) && ShapedType::isStatic(sizeOf(dim)) &&
            sizeOf(dim) <= kSlab;
    // A block's rows are brought once.
    fits &= !isLeft || llvm::none_of(inner, [&](unsigned other) {
      return tensor.has(other);
    });
    to.push_back({&tensor, isLeft ? rowDim : columnDim,
                  isLeft ? kBlockRows : tileColumns, dim,
                  static_cast<int64_t>(llvm::alignTo(sizeOf(dim), kPart)),
                  element == half ? 1 : kTerms});
  };
  add(ring.lefts, rowsAreQueries ? query : key, d);
  add(ring.tiles, rowsAreQueries ? key : query, d);
  if (pass.weigh == Weigh::Slopes) {
    add(ring.lefts, rowsAreQueries ? rows[2] : value, e);
    add(ring.tiles, rowsAreQueries ? value : rows[2], e);
  }
  if (ring.tiles.front().tensor != pass.factor) {
    ring.factor = ring.tiles.size();
    add(ring.tiles, *pass.factor, pass.feature);
  }
  if (!fits)
    return std::nullopt;
  int64_t room = kSharedBytes - ring.leftBytes() - kMostStages * 16;
  ring.stages = std::min(room / ring.stageBytes(), kMostStages);
  if (ring.stages < 2)
    return std::nullopt;
  return ring;
}

/// Starts to bring the lines from `firstLine` on to `area`.
void PairSteps::bringPanels(const Panels &panels, Value firstLine, Value area) {
  SmallVector<Value> saved = at;
  int64_t perLine = panels.length / kPiece;
  auto loop = scf::ForOp::create(b, loc, thread, index(panels.lines * perLine),
                                 index(kGroup));
  setUnrolling(loop, panels.terms > 1 ? 1 : 2);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = div(loop.getInductionVar(), perLine);
  Value part = mul(rem(loop.getInductionVar(), perLine), kPiece);
  Value atLine = add(firstLine, line);
  Value inside =
      both(less(atLine, sizes[panels.lineDim]), less(part, sizes[panels.dim]));
  at[panels.lineDim] = select(inside, atLine, index(0));
  at[panels.dim] = select(inside, part, index(0));
  WarpgroupBuilder w(b, loc);
  Value offset = w.placeInPanels(line, mul(part, 2), panels.lines);
  Value from =
      addressOf(b, loc, panels.tensor->memref, subscripts(*panels.tensor));
  if (panels.terms == 1) {
    NVVM::CpAsyncOp::create(b, loc, sharedByte(area, offset), from, 2 * kPiece,
                            NVVM::LoadCacheModifierKind::CG,
                            select(inside, w.number(2 * kPiece), w.number(0)));
    at = saved;
    return;
  }
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  // Two loads of four floats; of each term eight, two a word.
  Type four = VectorType::get({4}, type);
  SmallVector<SmallVector<Value>> terms;
  for (int64_t load = 0; load < 2; ++load) {
    Value place = LLVM::GEPOp::create(
        b, loc, from.getType(), type, from,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(4 * load)});
    Value floats = LLVM::LoadOp::create(b, loc, four, place, /*alignment=*/16);
    for (int64_t lane = 0; lane < 4; ++lane) {
      Value number_ =
          LLVM::ExtractElementOp::create(b, loc, floats, spot(lane));
      terms.push_back(
          takeApart(select(inside, number_, number(0)), panels.terms));
    }
  }
  for (int64_t term = 0; term < panels.terms; ++term) {
    Value words =
        LLVM::PoisonOp::create(b, loc, VectorType::get({4}, b.getI32Type()));
    for (int64_t word = 0; word < 4; ++word)
      words = LLVM::InsertElementOp::create(
          b, loc, words,
          asWord(terms[2 * word][term], terms[2 * word + 1][term]), spot(word));
    LLVM::StoreOp::create(
        b, loc, words,
        sharedByte(area, add(offset, index(term * panels.termBytes()))),
        /*alignment=*/16);
  }
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
  WarpgroupBuilder w(b, loc);
  Value stage = carried.ring[0], parity = carried.ring[1];
  auto at = [&](Value bytes) { return sharedByte(ring.base, bytes); };
  Value barriers = add(mul(stage, 16), index(ring.areaBytes()));
  w.wait(at(barriers), parity);
  Value begin = add(mul(stage, ring.stageBytes()), index(ring.leftBytes()));
  auto tileAt = [&](size_t which) {
    return at(add(
        begin, index(Ring::bytesOf(ArrayRef(ring.tiles).take_front(which)))));
  };
  Value group = sub(div(thread, kGroup), index(1));
  // Scores, and for slopes the products of values and gradients of outputs.
  SmallVector<SmallVector<Value>> products;
  SmallVector<Value> all;
  w.fence();
  for (size_t which = 0; which < ring.lefts.size(); ++which) {
    const Panels &left = ring.lefts[which], &right = ring.tiles[which];
    Value leftAt =
        at(add(mul(group, kGroupRows * kRow),
               index(Ring::bytesOf(ArrayRef(ring.lefts).take_front(which)))));
    Value leftIs = w.describe(leftAt, 0),
          rightIs = w.describe(tileAt(which), 0);
    Value sums;
    for (int64_t x = 0; x < left.terms; ++x)
      for (int64_t y = 0; y < right.terms && x + y < kTerms; ++y)
        for (int64_t from = 0; from < left.length; from += kStep) {
          int64_t panel = from / kPerRowBytes, inRow = from % kPerRowBytes * 2;
          sums = w.multiply(
              sums,
              w.moved(leftIs,
                      x * left.termBytes() + panel * left.panelBytes() + inRow),
              w.moved(rightIs, y * right.termBytes() +
                                   panel * right.panelBytes() + inRow),
              half, tileColumns,
              /*leftLines=*/false, /*rightLines=*/false);
        }
    all.push_back(sums);
  }
  w.commit();
  w.waitForProducts(0);
  for (Value sums : all)
    products.push_back(byRow(w.valuesOf(sums)));
  SmallVector<Value> weights = weigh(
      pass, products.front(),
      products.size() > 1 ? ArrayRef(products[1]) : ArrayRef<Value>(), carried);

  SmallVector<SmallVector<Value>> lefts = weightFragments(weights);
  const Panels &factor = ring.tiles[ring.factor];
  Value factorIs = w.describe(tileAt(ring.factor), factor.panelBytes());
  Value sums = w.sumsOf(asFragments(carried.totals));
  w.fence();
  int64_t steps = tileColumns / kStep;
  for (auto [i, fragment] : llvm::enumerate(lefts)) {
    int64_t term = static_cast<int64_t>(i) / steps;
    int64_t row = static_cast<int64_t>(i) % steps * kStep;
    for (int64_t y = 0; y < factor.terms && term + y < kTerms; ++y)
      sums = w.multiplyFragments(
          sums, fragment,
          w.moved(factorIs, y * factor.termBytes() +
                                pass.slab / kPerRowBytes * factor.panelBytes() +
                                row * kRow),
          half, parts() * kPart);
  }
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
  OpBuilder::InsertionGuard outside(b);
  begin(pass);
  bool slopes = pass.weigh == Weigh::Slopes;
  tileColumns = kTile;
  if (parts() * kPart > (slopes ? kFewFeatures : kManyFeatures))
    tileColumns = slopes || (extras.empty() && op.getWeight().empty())
                      ? kNarrowTile
                      : kLeastTile;
  std::optional<Ring> found = ringFor(pass);
  if (!found)
    return false;
  Ring &ring = *found;
  tensor = true;
  perThread = 2;
  WarpgroupBuilder w(b, loc);
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
  bool apart = ring.takesApart();
  w.setRegisters(apart ? kSomeRegisters : kFewRegisters, /*more=*/false);
  int64_t ahead = std::min<int64_t>(ring.stages - 1, 2);
  auto bringAll = [&](ArrayRef<Panels> all, Value line, Value area) {
    for (const Panels &panels : all) {
      bringPanels(panels, line, area);
      area = sharedByte(area, index(panels.bytes()));
    }
  };
  bringAll(ring.lefts, firstRow, ring.base);
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
    bringAll(ring.tiles, column,
             at(add(mul(stage, ring.stageBytes()), index(ring.leftBytes()))));
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
  w.setRegisters(apart ? kOtherRegisters : kManyRegisters, /*more=*/true);
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
