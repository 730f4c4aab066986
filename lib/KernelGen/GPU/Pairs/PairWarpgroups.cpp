//===- PairWarpgroups.cpp - Steps of attention on sm_90a ------------------===//
//
// Three warpgroups. The first brings what its block's rows are, once, then tile
// after tile of columns through a ring of stages. One thread of it lets bulk
// copies bring what stands in memory as products read it; gradients of outputs,
// which are f32, all its threads split into 16-bit numbers on their way.
// The other two have 64 rows each. Scores are products of two matrices in
// shared memory; weights stay in registers, as the left matrix of the second
// product, split as PairTensorCores.cpp says. While one of the two finds
// weights the other's products are under way. Where 128 rows do not fit into
// shared memory (gradients of many features) both have the same 64, and half of
// the features each: they find the same weights, as two launches would.
// Gradients of keys and of values, both of the same rows, are one kernel's
// where registers have room for both.
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardrt/TensorMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Columns of a tile, fewer where sums of many features need the registers,
/// still fewer where scores need some as well.
static constexpr int64_t kTile = 64, kNarrowTile = 32, kLeastTile = 16;
static constexpr int64_t kFewFeatures = 64, kManyFeatures = 192;
/// The most of each of two gradients whose sums both stay in registers.
static constexpr int64_t kBothFeatures = 128;
/// The same where both groups have half of the features; the first where scores
/// need no more registers.
static constexpr int64_t kSharedTiles[] = {48, kNarrowTile, kLeastTile};
/// Elements of a row of 128 bytes, of a piece, and of the depth of one product.
static constexpr int64_t kPerRowBytes = kRow / 2, kPiece = 8, kStep = 16;
/// What a block may have.
static constexpr int64_t kSharedBytes = 227 * 1024, kMostStages = 4;
/// Registers of a thread that brings, and of one that multiplies; and where
/// those that bring take floats apart.
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;
static constexpr int64_t kSomeRegisters = 56, kOtherRegisters = 224;
/// Terms of a float that is split; products of later ones are nothing.
static constexpr int64_t kTerms = 3;

namespace {
/// A tensor as TMA copies know it, fastest dim first: the memref's dims that
/// each dim runs over, slowest first, and the step's.
struct BoxDims {
  SmallVector<SmallVector<int64_t>> dims;
  SmallVector<SmallVector<unsigned>> loops;
};
} // namespace

/// Lines of a tensor as they stand in shared memory: one behind the other as
/// often as its numbers have terms.
struct PairSteps::Panels : PairSteps::Lines {
  int64_t terms = 1;
  BoxDims box; ///< of one term
  Value map;   ///< what TMA copies are told of it

  bool isApart() const { return terms > 1; }
  int64_t panels() const { return llvm::divideCeil(length, kPerRowBytes); }
  int64_t panelBytes() const { return lines * kRow; }
  int64_t termBytes() const { return panels() * panelBytes(); }
  int64_t bytes() const { return terms * termBytes(); }
};

/// What the block's rows are, for each product of scores; behind it stages of
/// what tiles of columns are, two mbarriers a stage, and one of the rows.
struct PairSteps::Ring {
  SmallVector<Panels> lefts, tiles;
  /// The one of `tiles` that weights are multiplied with: it is of scores as
  /// well, or the last.
  size_t factor = 0;
  size_t beside = 1; ///< the same of the pass beside
  int64_t stages = 0;
  bool together = false; ///< both groups have the same rows
  Value base;
  Value group; ///< of those that multiply, a thread's

  static int64_t bytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.bytes();
    return bytes;
  }
  /// Of these, what TMA copies load.
  static int64_t boxBytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.isApart() ? 0 : panels.bytes();
    return bytes;
  }
  static bool areApart(ArrayRef<Panels> all) {
    return llvm::any_of(all, [](const Panels &one) { return one.isApart(); });
  }
  /// Arrivals at an mbarrier when all of these are there.
  static int64_t fillsOf(ArrayRef<Panels> all) {
    return (boxBytesOf(all) > 0 ? 1 : 0) + (areApart(all) ? kGroup : 0);
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const { return bytesOf(tiles); }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
  bool takesApart() const { return areApart(lefts) || areApart(tiles); }
};

/// Where `tensor` has lines along `lineDim` whose neighbours along `dim` lie in
/// pieces of 16 bytes: how TMA copies know it.
static std::optional<BoxDims> boxOf(const Tensor &tensor, unsigned lineDim,
                                    unsigned dim) {
  auto type = cast<MemRefType>(tensor.memref.getType());
  if (type.getRank() < 2 || !beginsAligned(tensor.memref))
    return std::nullopt;
  int64_t last = type.getRank() - 1;
  auto loopOf = [&](int64_t i) {
    return cast<AffineDimExpr>(tensor.map.getResult(i)).getPosition();
  };
  // Elements are numbers of 16 bits or, split, of 32.
  if (loopOf(last) != dim || type.isDynamicDim(last) ||
      type.getDimSize(last) == 0 || type.getDimSize(last) % kPiece != 0)
    return std::nullopt;
  // Each stride is a multiple of the last dim.
  bool isDense = type.getLayout().isIdentity();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (!isDense) {
    auto fits = [](int64_t stride) {
      return ShapedType::isStatic(stride) && stride > 0 && stride % kPiece == 0;
    };
    if (ShapedType::isDynamic(offset) || offset % kPiece != 0 ||
        strides.back() != 1 ||
        !llvm::all_of(ArrayRef(strides).drop_back(), fits))
      return std::nullopt;
  }
  BoxDims box{{{last}, {}}, {{dim}, {lineDim}}};
  // Others: those that lie one behind the other are one.
  for (int64_t i = last; i-- > 0;) {
    unsigned loop = loopOf(i);
    if (loop == lineDim) {
      box.dims[1] = {i};
      continue;
    }
    if (type.getDimSize(i) == 1)
      continue;
    int64_t before = box.dims.size() > 2 ? box.dims.back().front() : -1;
    bool follows =
        before >= 0 && (box.dims[1].empty() || box.dims[1].front() > before);
    if (follows && !isDense)
      follows = !type.isDynamicDim(before) &&
                strides[i] == strides[before] * type.getDimSize(before);
    if (follows) {
      box.dims.back().insert(box.dims.back().begin(), i);
      box.loops.back().insert(box.loops.back().begin(), loop);
    } else {
      box.dims.push_back({i});
      box.loops.push_back({loop});
    }
  }
  if (box.dims[1].empty() || box.dims.size() > SHARDRT_MAP_DIMS)
    return std::nullopt;
  return box;
}

/// What a kernel for `pass` reads, of blocks of this many rows; nothing where
/// it is none.
std::optional<PairSteps::Ring> PairSteps::ringFor(const Pass &pass,
                                                  bool together) {
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
  int64_t last = (together ? kConsumers : 1) * pass.features;
  std::optional<Operands> operands =
      operandsOf(pass, (together ? 1 : kConsumers) * kGroupRows, last);
  if (!operands)
    return std::nullopt;
  Ring ring;
  ring.together = together;
  ring.factor = operands->factor;
  bool fits = true;
  int64_t boxes = 0;
  auto put = [&](SmallVector<Panels> &to, ArrayRef<Lines> from) {
    for (const Lines &lines : from) {
      Type element = getElementTypeOrSelf(lines.tensor->memref.getType());
      std::optional<BoxDims> box =
          boxOf(*lines.tensor, lines.lineDim, lines.dim);
      fits &= (element == half || (element.isF32() && half.isBF16())) && box;
      boxes += element == half;
      to.push_back({lines, element == half ? 1 : kTerms,
                    box.value_or(BoxDims()), Value()});
    }
  };
  put(ring.lefts, operands->lefts);
  put(ring.tiles, operands->tiles);
  // Of a factor that is of scores too, the pass's features: past the last there
  // are zeros.
  if (ring.tiles.front().tensor == pass.factor) {
    int64_t &length = ring.tiles.front().length;
    length = std::max(length, pass.slab + last);
  }
  if (!fits || boxes > SHARDRT_MAP_MOST)
    return std::nullopt;
  // Registers and shared memory are for numbers of one term.
  if (pass.beside && ring.takesApart())
    return std::nullopt;
  int64_t room = kSharedBytes - ring.leftBytes() - (kMostStages + 1) * 16;
  ring.stages = std::min(room / ring.stageBytes(), kMostStages);
  if (ring.stages < 2)
    return std::nullopt;
  return ring;
}

/// Lets TMA copies load the lines from `firstLine` on to `area`; their bytes
/// count at `full`.
void PairSteps::bringBoxes(const Panels &panels, Value firstLine, Value area,
                           Value full) {
  WarpgroupBuilder w(b, loc);
  for (int64_t panel = 0; panel < panels.panels(); ++panel) {
    SmallVector<Value> begin = {index(panels.first + panel * kPerRowBytes),
                                firstLine};
    for (ArrayRef<unsigned> loops : ArrayRef(panels.box.loops).drop_front(2)) {
      Value place = at[loops.front()];
      for (unsigned loop : loops.drop_front())
        place =
            add(arith::MulIOp::create(b, loc, place, sizes[loop]), at[loop]);
      begin.push_back(place);
    }
    w.bringBox(sharedByte(area, index(panel * panels.panelBytes())), panels.map,
               begin, full);
  }
}

/// Brings the lines from `firstLine` on, which are f32, to `area` in terms.
void PairSteps::bringApart(const Panels &panels, Value firstLine, Value area) {
  SmallVector<Value> saved = at;
  int64_t perLine = panels.length / kPiece;
  auto loop = scf::ForOp::create(b, loc, thread, index(panels.lines * perLine),
                                 index(kGroup));
  setUnrolling(loop, 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value line = div(loop.getInductionVar(), perLine);
  Value part = mul(rem(loop.getInductionVar(), perLine), kPiece);
  Value atLine = add(firstLine, line), atPart = add(part, index(panels.first));
  Value inside = both(less(atLine, sizes[panels.lineDim]),
                      less(atPart, sizes[panels.dim]));
  at[panels.lineDim] = select(inside, atLine, index(0));
  at[panels.dim] = select(inside, atPart, index(0));
  WarpgroupBuilder w(b, loc);
  Value offset = w.placeInPanels(line, mul(part, 2), panels.lines);
  Value from =
      addressOf(b, loc, panels.tensor->memref, subscripts(*panels.tensor));
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  // Two loads of four floats; of each term eight, two a word.
  Type four = VectorType::get({4}, type);
  SmallVector<Value> floats;
  for (int64_t load = 0; load < 2; ++load) {
    Value place = LLVM::GEPOp::create(
        b, loc, from.getType(), type, from,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(4 * load)});
    Value loaded = LLVM::LoadOp::create(b, loc, four, place, /*alignment=*/16);
    for (int64_t lane = 0; lane < 4; ++lane)
      floats.push_back(select(
          inside, LLVM::ExtractElementOp::create(b, loc, loaded, spot(lane)),
          number(0)));
  }
  SmallVector<SmallVector<Value>> apart;
  for (size_t word = 0; word < 4; ++word)
    apart.push_back(takeApart(floats[2 * word], floats[2 * word + 1],
                              panels.terms, /*isFinite=*/false));
  for (int64_t term = 0; term < panels.terms; ++term) {
    Value words =
        LLVM::PoisonOp::create(b, loc, VectorType::get({4}, b.getI32Type()));
    for (int64_t word = 0; word < 4; ++word)
      words = LLVM::InsertElementOp::create(b, loc, words, apart[word][term],
                                            spot(word));
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
  Value group = ring.group;
  // Scores, and for slopes the products of values and gradients of outputs.
  auto scores = [&](size_t which) {
    const Panels &left = ring.lefts[which], &right = ring.tiles[which];
    Value leftAt =
        at(add(mul(group, ring.together ? 0 : kGroupRows * kRow),
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
    return sums;
  };
  // `totals`, of some features of tile number `which`, and their products with
  // the weights.
  auto addWeighted = [&](const Pass &to, size_t which, ArrayRef<Value> totals,
                         ArrayRef<Value> weights) {
    SmallVector<SmallVector<Value>> lefts =
        weightFragments(weights, hasFiniteWeights(to));
    const Panels &factor = ring.tiles[which];
    int64_t before = (to.slab - factor.first) / kPerRowBytes;
    Value factorAt = tileAt(which);
    if (ring.together)
      factorAt = sharedByte(factorAt, mul(group, to.features / kPerRowBytes *
                                                     factor.panelBytes()));
    Value factorIs = w.describe(factorAt, factor.panelBytes());
    Value sums = w.sumsOf(asFragments(totals));
    w.fence();
    int64_t steps = tileColumns / kStep;
    for (auto [i, fragment] : llvm::enumerate(lefts)) {
      int64_t term = static_cast<int64_t>(i) / steps;
      int64_t row = static_cast<int64_t>(i) % steps * kStep;
      for (int64_t y = 0; y < factor.terms && term + y < kTerms; ++y)
        sums = w.multiplyFragments(
            sums, fragment,
            w.moved(factorIs, y * factor.termBytes() +
                                  before * factor.panelBytes() + row * kRow),
            half, parts(to) * kPart);
    }
    w.commit();
    return sums;
  };
  SmallVector<Value> all;
  w.fence();
  for (size_t which = 0; which < ring.lefts.size(); ++which) {
    all.push_back(scores(which));
    if (pass.beside)
      w.commit();
  }
  Value sums;
  if (pass.beside) {
    // Weights are found while products for slopes are under way, and slopes
    // while those of weights are.
    w.waitForProducts(1);
    SmallVector<Value> raw = byRow(w.valuesOf(all[0])), powers(raw.size());
    SmallVector<Value> weights = overScores([&](size_t which, Value counts) {
      powers[which] = backwardPower(raw[which], counts);
      return backwardWeight(powers[which], counts);
    });
    Value others =
        addWeighted(*pass.beside, ring.beside, carried.others, weights);
    w.waitForProducts(1);
    SmallVector<Value> dps = byRow(w.valuesOf(all[1]));
    SmallVector<Value> slopes = overScores([&](size_t which, Value counts) {
      return backwardSlope(powers[which], raw[which], dps[which], counts);
    });
    sums = addWeighted(pass, ring.factor, carried.totals, slopes);
    w.waitForProducts(0);
    carried.others = byRow(w.valuesOf(others));
  } else {
    w.commit();
    w.waitForProducts(0);
    SmallVector<SmallVector<Value>> products;
    for (Value sums : all)
      products.push_back(byRow(w.valuesOf(sums)));
    SmallVector<Value> weights =
        weigh(pass, products.front(),
              products.size() > 1 ? ArrayRef(products[1]) : ArrayRef<Value>(),
              carried);
    sums = addWeighted(pass, ring.factor, carried.totals, weights);
    w.waitForProducts(0);
  }
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

bool PairSteps::emitOnWarpgroups(Pass pass, bool together) {
  OpBuilder::InsertionGuard outside(b);
  begin(pass);
  bool slopes = pass.weigh == Weigh::Slopes;
  bool isPlain = extras.empty() && op.getWeight().empty();
  std::optional<Ring> found;
  if (together) {
    // Each group has whole panels of the factor, and rows keep no sums.
    if (pass.weigh == Weigh::Forward || sizeOf(pass.feature) <= kPerRowBytes)
      return false;
    pass.features = static_cast<int64_t>(llvm::alignTo(
        llvm::divideCeil(sizeOf(pass.feature), kConsumers), kPerRowBytes));
    for (int64_t columns : ArrayRef(kSharedTiles).drop_front(isPlain ? 0 : 1)) {
      tileColumns = columns;
      if ((found = ringFor(pass, together)))
        break;
    }
  } else {
    int64_t most = slopes && !leavesRegisters() ? kFewFeatures : kManyFeatures;
    // Sums of two gradients leave no registers for what an edge or a window
    // needs beside scores.
    tileColumns = kTile;
    bool isBusy =
        pass.beside && (hasEdge() || (op.getBandLower() && op.getBandUpper()));
    if (isBusy)
      tileColumns = kNarrowTile;
    if (parts(pass) * kPart <= most)
      found = ringFor(pass, together);
    if (!found) {
      tileColumns = slopes || isPlain ? kNarrowTile : kLeastTile;
      found = ringFor(pass, together);
    }
  }
  if (!found)
    return false;
  Ring &ring = *found;
  tensor = true;
  perThread = 2;
  WarpgroupBuilder w(b, loc);
  gpu::LaunchOp launch =
      launchBlocks(ring.lefts.front().lines, (1 + kConsumers) * kGroup);
  spmd::contract::Gpu::set(launch, b.getStringAttr("sm_90a"));
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value memory = launch.addWorkgroupAttribution(
      MemRefType::get({ring.areaBytes() + (ring.stages + 1) * 16},
                      b.getI8Type(), MemRefLayoutAttrInterface(), shared),
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
  Value rowsAreThere = full(index(ring.stages));
  for (SmallVector<Panels> *all : {&ring.lefts, &ring.tiles})
    for (Panels &panels : *all) {
      if (panels.isApart())
        continue;
      SmallVector<int64_t> box(panels.box.dims.size(), 1);
      box[0] = kPerRowBytes;
      box[1] = panels.lines;
      panels.map =
          w.describeTensor(panels.tensor->memref, panels.box.dims, box);
    }
  Value leads = compare(arith::CmpIPredicate::eq, thread, index(0));
  auto whoLeads = [&] {
    auto alone = scf::IfOp::create(b, loc, leads, /*withElseRegion=*/false);
    b.setInsertionPointToStart(alone.thenBlock());
  };
  {
    OpBuilder::InsertionGuard guard(b);
    whoLeads();
    for (int64_t stage = 0; stage < ring.stages; ++stage) {
      w.init(full(index(stage)), Ring::fillsOf(ring.tiles));
      w.init(empty(index(stage)), kConsumers * kGroup / kWarp);
    }
    w.init(rowsAreThere, Ring::fillsOf(ring.lefts));
    w.fenceInit();
  }
  gpu::BarrierOp::create(b, loc);
  auto roles = scf::IfOp::create(b, loc, less(thread, index(kGroup)),
                                 /*withElseRegion=*/true);

  // Who brings: the stage to bring to next, and its parity. A ring that nobody
  // has used is empty: the phase before the first is over.
  b.setInsertionPointToStart(roles.thenBlock());
  bool apart = ring.takesApart();
  w.setRegisters(apart ? kSomeRegisters : kFewRegisters, /*more=*/false);
  auto bring = [&](ArrayRef<Panels> all, Value line, Value area, Value there,
                   bool isAlone) {
    auto forEach = [&](bool areApart, auto body) {
      for (auto [i, panels] : llvm::enumerate(all))
        if (panels.isApart() == areApart)
          body(panels,
               sharedByte(area, index(Ring::bytesOf(all.take_front(i)))));
    };
    if (int64_t bytes = Ring::boxBytesOf(all)) {
      OpBuilder::InsertionGuard guard(b);
      if (!isAlone)
        whoLeads();
      w.arriveExpecting(there, bytes);
      forEach(false, [&](const Panels &panels, Value to) {
        bringBoxes(panels, line, to, there);
      });
    }
    if (!Ring::areApart(all))
      return;
    forEach(true, [&](const Panels &panels, Value to) {
      bringApart(panels, line, to);
    });
    w.fenceStores();
    w.arrive(there);
  };
  bool isAlone = !apart;
  if (isAlone)
    whoLeads();
  bring(ring.lefts, firstRow, ring.base, rowsAreThere, isAlone);
  if (!isAlone && !Ring::areApart(ring.tiles)) {
    isAlone = true;
    whoLeads();
  }
  Carried brought;
  brought.ring = {index(0), w.number(1)};
  overColumns(brought, [&](Value column, Carried now) {
    Value stage = now.ring[0], parity = now.ring[1];
    w.wait(empty(stage), parity);
    bring(ring.tiles, column,
          at(add(mul(stage, ring.stageBytes()), index(ring.leftBytes()))),
          full(stage), isAlone);
    auto [next, flips] = w.advance(stage, parity, ring.stages);
    now.ring = {next, flips};
    return now;
  });

  // Who multiplies: rows and columns as a warp's fragments have them.
  b.setInsertionPointToStart(roles.elseBlock());
  w.setRegisters(apart ? kOtherRegisters : kManyRegisters, /*more=*/true);
  ring.group = w.sameInWarp(sub(div(thread, kGroup), index(1)));
  Value own = sub(thread, index(kGroup));
  if (ring.together) {
    firstFeature = mul(div(own, kGroup), pass.features);
    own = rem(own, kGroup);
  }
  rowOfThread = add(mul(div(own, kWarp), 16), div(rem(own, kWarp), kPerRow));
  laneOfRow = rem(thread, kPerRow);
  Carried carried = beginRows(pass);
  if (pass.beside)
    carried.others = beginRows(*pass.beside).totals;
  carried.ring = {index(0), w.number(0)};
  // Also where there are no columns: nobody leaves while copies are under way.
  w.wait(rowsAreThere, w.number(0));
  carried = overColumns(carried, [&](Value column, Carried now) {
    return tileOnWarpgroup(pass, ring, column, now);
  });
  finishRows(pass, carried);
  if (pass.beside) {
    Carried others;
    others.totals = carried.others;
    finishRows(*pass.beside, others);
  }
  firstFeature = Value();
  return true;
}

/// Gradients of keys and of values by one kernel: both are sums over queries,
/// of products with slopes and weights of the same scores. True if it is one.
bool PairSteps::emitBothOfKeys() {
  if (!shortWeights || ShapedType::isDynamic(sizeOf(d)) ||
      ShapedType::isDynamic(sizeOf(e)) ||
      std::max(sizeOf(d), sizeOf(e)) > kBothFeatures)
    return false;
  const Tensor &ofKeys = states[1], &ofValues = states[2];
  for (unsigned dim : llvm::seq(q))
    if (ofKeys.has(dim) != ofValues.has(dim))
      return false;
  Pass weights{Weigh::Weights, k, &ofValues, e, &rows[2], 0, true, sizeOf(e)};
  return emitOnWarpgroups(
      {Weigh::Slopes, k, &ofKeys, d, &query, 0, true, sizeOf(d), &weights});
}
