//===- LineScans.cpp - Running combinations along lines -------------------===//
//
// Threads have a few neighbouring elements each, combine them, and learn what
// comes before theirs: from lanes by shuffles, from warps by shared memory.
// A block goes along its line tile by tile. Where lines are few, several blocks
// share each: first they find what their parts come to, then each begins with
// what is before it. All of it in an order that depends on sizes alone, and
// never changing places: combining need not commute, nor have a neutral
// element.
//
//===----------------------------------------------------------------------===//
#include "Lines.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::lines;

/// Blocks that keep a GPU busy.
static constexpr int64_t kManyBlocks = 128;
/// Lines up to here are a warp's.
static constexpr int64_t kShortLine = 256;

namespace {
using Values = SmallVector<Value>;

class LineScanner : LineEmitter {
public:
  explicit LineScanner(spmd::LinesOp op);
  void emit();

private:
  /// `left` and what comes after it, `right`.
  Values combine(ArrayRef<Value> left, ArrayRef<Value> right) {
    Values both(left);
    both.append(right.begin(), right.end());
    return body(both);
  }
  Values choose(Value condition, ArrayRef<Value> yes, ArrayRef<Value> no) {
    return llvm::map_to_vector(llvm::zip_equal(yes, no), [&](auto both) {
      return LineEmitter::choose(condition, std::get<0>(both),
                                 std::get<1>(both));
    });
  }
  Values shuffled(ArrayRef<Value> values, int64_t by, gpu::ShuffleMode mode) {
    return llvm::map_to_vector(
        values, [&](Value value) { return shuffle(b, loc, value, by, mode); });
  }
  Value equals(Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, index(y));
  }
  std::pair<Values, Values> meetWarp(Values own);
  std::pair<Values, Values> meetBlock(ArrayRef<Value> own, Value tells,
                                      Value slot, Value which, int64_t count,
                                      Value firstSlot, int64_t step);
  std::pair<Values, Values> meet(Values own);
  void launch(bool finds);

  /// Threads of a line, lines of a block, elements of a thread at a time.
  int64_t members = kBlock, lanes = 1, items = 4;
  /// Whether threads of a line are neighbours, or lines are.
  bool along = true;
  int64_t parts = 1; ///< blocks of a line, at most
  Value linesBlocks, partLength, partCount;
  Values totals; ///< by part and line
  Value member, lane, line, warp;
  Values areas;
};
} // namespace

LineScanner::LineScanner(spmd::LinesOp op) : LineEmitter(op) {
  bool canAll = llvm::all_of(
      op.getStarts(), [](Value start) { return canShuffle(start.getType()); });
  along = isInnermost && canAll;
  if (!along) {
    lanes = kWarp;
    members = kBlock / kWarp;
    items = 8;
  } else if (ShapedType::isStatic(knownLength) && knownLength <= kShortLine) {
    members = kWarp;
    lanes = kBlock / kWarp;
  }
  int64_t tile = members * items;
  if (ShapedType::isDynamic(knownLines))
    parts = kManyBlocks;
  else
    parts =
        std::max<int64_t>(kManyBlocks / llvm::divideCeil(knownLines, lanes), 1);
  // A part has two tiles at least.
  if (ShapedType::isStatic(knownLength))
    parts = std::clamp<int64_t>(knownLength / (2 * tile), 1, parts);
}

/// What comes before a lane's `own` in its warp (not for the first lane), and
/// what all come to.
std::pair<Values, Values> LineScanner::meetWarp(Values own) {
  Value inWarp = rem(member, kWarp);
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Values below = shuffled(own, distance, gpu::ShuffleMode::UP);
    own = choose(less(inWarp, index(distance)), own, combine(below, own));
  }
  return {shuffled(own, 1, gpu::ShuffleMode::UP),
          shuffled(own, kWarp - 1, gpu::ShuffleMode::IDX)};
}

/// The same of those, `count` of them, who put what is theirs into shared
/// memory, from `firstSlot` on in steps of `step`: into `slot`, if one `tells`.
/// `which` is one's number.
std::pair<Values, Values> LineScanner::meetBlock(ArrayRef<Value> own,
                                                 Value tells, Value slot,
                                                 Value which, int64_t count,
                                                 Value firstSlot,
                                                 int64_t step) {
  auto tell = [&] {
    for (auto [value, area] : llvm::zip_equal(own, areas))
      store(value, area, slot);
  };
  if (tells)
    when(tells, tell);
  else
    tell();
  barrier();
  auto read = [&](int64_t number) {
    Value at = add(firstSlot, index(step * number));
    return llvm::map_to_vector(areas,
                               [&](Value area) { return load(area, at); });
  };
  Values before = read(0), all = before;
  for (int64_t number = 1; number < count; ++number) {
    before = choose(equals(which, number), all, before);
    all = combine(all, read(number));
  }
  // The next tile's come into the same place.
  barrier();
  return {before, all};
}

/// What comes before a thread's `own` in its tile (not for the first one), and
/// what the tile comes to.
std::pair<Values, Values> LineScanner::meet(Values own) {
  if (!along)
    return meetBlock(own, /*tells=*/Value(), add(mul(member, lanes), lane),
                     member, members, lane, lanes);
  auto [inWarp, warpTotal] = meetWarp(own);
  if (members == kWarp)
    return {inWarp, warpTotal};
  Value isFirst = equals(rem(member, kWarp), 0);
  auto [warpsBefore, total] =
      meetBlock(warpTotal, isFirst, warp, warp, members / kWarp, index(0), 1);
  Values before = choose(equals(warp, 0), inWarp, combine(warpsBefore, inWarp));
  return {choose(isFirst, warpsBefore, before), total};
}

/// A kernel that writes the results; or, if it `finds`, what parts come to.
void LineScanner::launch(bool finds) {
  OpBuilder::InsertionGuard guard(b);
  gpu::LaunchOp launch =
      beginLaunch(b, loc, mul(linesBlocks, partCount), kBlock);
  bool meetsBlock = !along || members > kWarp;
  areas.clear();
  for (Value start : op.getStarts())
    if (meetsBlock)
      areas.push_back(
          share(launch, along ? members / kWarp : kBlock, start.getType()));
  Value thread = launch.getThreadIds().x, block = launch.getBlockIds().x;
  Value part = div(block, linesBlocks);
  if (along) {
    member = rem(thread, members);
    lane = div(thread, members);
    warp = div(member, kWarp);
  } else {
    lane = rem(thread, lanes);
    member = div(thread, lanes);
  }
  Value own = add(mul(rem(block, linesBlocks), lanes), lane);
  Value isLine = less(own, lines);
  // Threads without a line go along, as they meet the others.
  line = LineEmitter::choose(isLine, own, index(0));
  Value begin = mul(part, partLength);
  Value end = least(add(begin, partLength), length);

  Values carried(op.getStarts());
  if (!finds && parts > 1) {
    auto prefix = scf::ForOp::create(b, loc, index(0), part, index(1), carried);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToEnd(prefix.getBody());
    Value at = add(mul(prefix.getInductionVar(), lines), line);
    Values total = llvm::map_to_vector(
        totals, [&](Value buffer) { return load(buffer, at); });
    scf::YieldOp::create(
        b, loc,
        combine(llvm::to_vector_of<Value>(prefix.getRegionIterArgs()), total));
    carried = llvm::to_vector_of<Value>(prefix.getResults());
  }
  int64_t tile = members * items;
  Value last = sub(length, index(1));
  auto place = [&](Value at) {
    return subscripts(line, op.getBackward() ? sub(last, at) : at);
  };
  auto loop = scf::ForOp::create(b, loc, begin, end, index(tile), carried);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value first = add(loop.getInductionVar(), mul(member, items));
    SmallVector<Values> sums;
    for (int64_t item = 0; item < items; ++item) {
      // Past the end are copies: nobody comes after them.
      Value at = least(add(first, index(item)), last);
      Values element = llvm::map_to_vector(
          op.getInputs(), [&](Value input) { return load(input, place(at)); });
      sums.push_back(item == 0 ? element : combine(sums.back(), element));
    }
    auto [before, total] = meet(sums.back());
    Values now = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    if (finds) {
      // The first tile of a part has nothing before it.
      Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            loop.getInductionVar(), begin);
      scf::YieldOp::create(b, loc, choose(isFirst, total, combine(now, total)));
    } else {
      Values prefix = choose(equals(member, 0), now, combine(now, before));
      for (int64_t item = 0; item < items; ++item) {
        Values results = combine(prefix, sums[item]);
        Value at = add(first, index(item));
        when(both(isLine, less(at, end)), [&] {
          for (auto [value, out] : llvm::zip_equal(results, op.getInits()))
            store(value, out, place(at));
        });
      }
      scf::YieldOp::create(b, loc, combine(now, total));
    }
  }
  if (!finds)
    return;
  when(both(isLine, equals(member, 0)), [&] {
    Value at = add(mul(part, lines), own);
    for (auto [value, buffer] : llvm::zip_equal(loop.getResults(), totals))
      store(value, buffer, at);
  });
}

void LineScanner::emit() {
  int64_t tile = members * items;
  linesBlocks = ceilDiv(lines, lanes);
  Value tiles = ceilDiv(length, tile), one = index(1);
  bool isKnown =
      ShapedType::isStatic(knownLength) && ShapedType::isStatic(knownLines);
  partCount = index(parts);
  if (parts > 1 && !isKnown) {
    Value room = div(index(kManyBlocks), most(linesBlocks, one));
    partCount = most(least(div(tiles, 2), room), one);
  }
  partLength = mul(
      most(arith::CeilDivUIOp::create(b, loc, tiles, partCount), one), tile);
  if (parts > 1) {
    int64_t known = ShapedType::isStatic(knownLines) ? parts * knownLines
                                                     : ShapedType::kDynamic;
    Value count;
    if (ShapedType::isDynamic(known))
      count = most(lines, index(kManyBlocks * lanes));
    for (Value start : op.getStarts())
      totals.push_back(scratch(known, count, start.getType()));
    launch(/*finds=*/true);
  }
  launch(/*finds=*/false);
}

void lines::launchScan(spmd::LinesOp op) { LineScanner(op).emit(); }
