//===- LineScans.cpp - Running combinations along lines -------------------===//
//
// Threads have a few neighbouring elements each, combine them, and learn what
// comes before theirs: from lanes by shuffles, from warps by shared memory.
// Where lines are many, a block goes along its line tile by tile. Where they
// are few, blocks share each, and read it once: a block keeps a few tiles in
// registers, publishes their total, waits for the totals of those before it
// in its group of parts and for the prefix of that group, and writes.
// A part publishes before it waits, and parts are taken in the order in which
// blocks begin: none waits for one that has not begun. All of it in an order
// that depends on sizes alone, whoever comes first, and never changing places:
// combining need not commute, nor have a neutral element.
//
//===----------------------------------------------------------------------===//
#include "../Turns.h"
#include "Lines.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::lines;

/// Lines up to here are a warp's. [shape]
static constexpr int64_t kShortLine = 256;
/// Parts of a line that wait for one another, at most, and how many of them a
/// thread reads; the prefix is passed from group to group. [shape]
static constexpr int64_t kGroupParts = 128, kPolled = 4;
/// Bytes of elements that a thread keeps, and tiles of a block, at most: two
/// blocks then fit on a multiprocessor. [shape]
static constexpr int64_t kKeptBytes = 80, kMostTiles = 4;

namespace {
using Values = SmallVector<Value>;

class LineScanner : LineEmitter {
public:
  LineScanner(OpBuilder &b, spmd::LinesOp op);
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
  /// The prefix before a thread's own (not for the first thread), and the
  /// total of all.
  struct Scan {
    Values before, all;
  };
  Scan scanWarp(Values own);
  SmallVector<Scan> scanBlock(ArrayRef<Values> own);
  SmallVector<Scan> scanLine(ArrayRef<Values> own);
  void beginBlock(gpu::LaunchOp launch, Value block, int64_t tiles);
  SmallVector<Values> readTile(Value begin);
  void writeTile(Value begin, Value end, ArrayRef<Values> sums,
                 const Scan &scan, ArrayRef<Value> now);
  Value last() { return sub(length, index(1)); }
  SmallVector<Value> place(Value at) {
    return subscripts(line, op.getBackward() ? sub(last(), at) : at);
  }
  void walk();

  // Where blocks share lines.
  int64_t groupParts() const {
    return std::min(kGroupParts, kPolled * members);
  }
  int64_t tilesOfPart();
  void share();
  Value takePart(gpu::LaunchOp launch);
  /// Waits until all of these have been published.
  void await(ArrayRef<Value> places);
  /// Publishes the total of a part or a group.
  void publish(ArrayRef<Value> values, Value place);
  Values published(Value place) {
    return llvm::map_to_vector(
        partTotals, [&](Value buffer) { return load(buffer, place); });
  }
  Values beforeGroup(Value group);
  Values beforePart(Value part, Value inGroup, ArrayRef<Value> beforeGroup);
  Value isFirst() { return equals(member, 0); }

  /// Threads of a line, lines of a block, elements of a thread at a time.
  int64_t members = kBlock, lanes = 1, items = 4;
  int64_t tile = 0; ///< elements of a line
  /// Whether threads of a line are neighbours, or lines are.
  bool along = true;
  Value linesBlocks;
  Value member, lane, line, isLine, warp; ///< of a thread
  Values areas;
  /// The totals of parts of lines, and behind them, for each group of
  /// parts, the prefix of the next; a flag each, behind the counter of parts
  /// that were taken.
  Values partTotals;
  Value flags;
  Value parts; ///< of a line
  int64_t manyBlocks;
};
} // namespace

LineScanner::LineScanner(OpBuilder &b, spmd::LinesOp op)
    : LineEmitter(b, op), manyBlocks(blocksOfGpu(op)) {
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
  tile = members * items;
  linesBlocks = ceilDiv(lines, lanes);
}

/// The same in a lane's warp.
LineScanner::Scan LineScanner::scanWarp(Values own) {
  Value inWarp = rem(member, kWarp);
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Values below = shuffled(own, distance, gpu::ShuffleMode::UP);
    own = choose(less(inWarp, index(distance)), own, combine(below, own));
  }
  return {shuffled(own, 1, gpu::ShuffleMode::UP),
          shuffled(own, kWarp - 1, gpu::ShuffleMode::IDX)};
}

/// The same, for each of several tiles, of a line's warps, or, where lines are
/// neighbours, of its threads: by shared memory.
SmallVector<LineScanner::Scan> LineScanner::scanBlock(ArrayRef<Values> own) {
  int64_t count = along ? members / kWarp : members;
  int64_t step = along ? 1 : lanes, slots = count * step;
  Value first = along ? index(0) : lane, which = along ? warp : member;
  Value slot = add(first, mul(which, step));
  auto storeTotals = [&] {
    for (auto [number, values] : llvm::enumerate(own))
      for (auto [value, area] : llvm::zip_equal(values, areas))
        store(value, area, add(slot, index(number * slots)));
  };
  if (along)
    when(equals(rem(member, kWarp), 0), storeTotals);
  else
    storeTotals();
  barrier();
  SmallVector<Scan> scans;
  for (int64_t number = 0; number < static_cast<int64_t>(own.size());
       ++number) {
    auto read = [&](int64_t other) {
      Value at = add(first, index(number * slots + step * other));
      return llvm::map_to_vector(areas,
                                 [&](Value area) { return load(area, at); });
    };
    Values before = read(0), all = before;
    for (int64_t other = 1; other < count; ++other) {
      before = choose(equals(which, other), all, before);
      all = combine(all, read(other));
    }
    scans.push_back({before, all});
  }
  // What comes next goes into the same place.
  barrier();
  return scans;
}

/// The same of all threads of a line.
SmallVector<LineScanner::Scan> LineScanner::scanLine(ArrayRef<Values> own) {
  if (!along)
    return scanBlock(own);
  SmallVector<Scan> scans;
  SmallVector<Values> totals;
  for (const Values &values : own) {
    scans.push_back(scanWarp(values));
    totals.push_back(scans.back().all);
  }
  if (members == kWarp)
    return scans;
  Value isFirst = equals(rem(member, kWarp), 0);
  for (auto [inWarp, ofWarps] : llvm::zip_equal(scans, scanBlock(totals))) {
    Values before = choose(equals(warp, 0), inWarp.before,
                           combine(ofWarps.before, inWarp.before));
    inWarp = {choose(isFirst, ofWarps.before, before), ofWarps.all};
  }
  return scans;
}

/// Finds who the thread is; `block` has lines of its own. It synchronises for
/// this many tiles at once.
void LineScanner::beginBlock(gpu::LaunchOp launch, Value block, int64_t tiles) {
  bool usesShared = !along || members > kWarp;
  for (Value start : op.getStarts())
    if (usesShared)
      areas.push_back(LineEmitter::share(
          launch, tiles * (along ? members / kWarp : kBlock), start.getType()));
  Value thread = launch.getThreadIds().x;
  if (along) {
    member = rem(thread, members);
    lane = div(thread, members);
    warp = div(member, kWarp);
  } else {
    lane = rem(thread, lanes);
    member = div(thread, lanes);
  }
  Value own = add(mul(block, lanes), lane);
  isLine = less(own, lines);
  // Threads without a line go along, as barriers wait for them.
  line = LineEmitter::choose(isLine, own, index(0));
}

/// A thread's elements of the tile at `begin`, each combined with those before
/// it.
SmallVector<Values> LineScanner::readTile(Value begin) {
  Value first = add(begin, mul(member, items));
  SmallVector<Values> sums;
  for (int64_t item = 0; item < items; ++item) {
    // Past the end are copies: nobody comes after them.
    Value at = least(add(first, index(item)), last());
    Values element = llvm::map_to_vector(
        op.getInputs(), [&](Value input) { return load(input, place(at)); });
    sums.push_back(item == 0 ? element : combine(sums.back(), element));
  }
  return sums;
}

/// Writes the results of a tile that has `now` before it.
void LineScanner::writeTile(Value begin, Value end, ArrayRef<Values> sums,
                            const Scan &scan, ArrayRef<Value> now) {
  Value first = add(begin, mul(member, items));
  Values prefix = choose(isFirst(), now, combine(now, scan.before));
  for (int64_t item = 0; item < items; ++item) {
    Values results = combine(prefix, sums[item]);
    Value at = add(first, index(item));
    when(both(isLine, less(at, end)), [&] {
      for (auto [value, out] : llvm::zip_equal(results, op.getInits()))
        store(value, out, place(at));
    });
  }
}

/// A block goes along its lines.
void LineScanner::walk() {
  OpBuilder::InsertionGuard guard(b);
  gpu::LaunchOp launch = beginLaunch(b, loc, linesBlocks, kBlock);
  beginBlock(launch, launch.getBlockIds().x, /*tiles=*/1);
  auto loop =
      scf::ForOp::create(b, loc, index(0), length, index(tile), op.getStarts());
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Values> sums = readTile(loop.getInductionVar());
  Scan scan = scanLine(sums.back()).front();
  Values now = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  writeTile(loop.getInductionVar(), length, sums, scan, now);
  scf::YieldOp::create(b, loc, combine(now, scan.all));
}

//===----------------------------------------------------------------------===//
// Blocks that share lines
//===----------------------------------------------------------------------===//

/// Tiles that a block keeps; 0 where it goes along its lines.
int64_t LineScanner::tilesOfPart() {
  bool isKnown = ShapedType::isStatic(knownLength);
  // A line has two tiles at least for each that shares it.
  int64_t most = isKnown ? knownLength / (2 * tile) : manyBlocks;
  if (ShapedType::isStatic(knownLines))
    most = std::min<int64_t>(most,
                             manyBlocks / llvm::divideCeil(knownLines, lanes));
  if (most <= 1)
    return 0;
  int64_t bytes = 0;
  for (Type type : op.getStarts().getTypes())
    bytes += type.isIntOrFloat()
                 ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)
                 : kKeptBytes / items;
  int64_t fit =
      std::clamp<int64_t>(kKeptBytes / (items * bytes), 1, kMostTiles);
  if (!isKnown)
    return fit;
  return std::clamp<int64_t>(llvm::divideCeil(knownLength, tile * most), 1,
                             fit);
}

/// Which part of all lines a block does, and of these its own: whoever begins
/// takes the next one.
Value LineScanner::takePart(gpu::LaunchOp launch) {
  Value drawn = drawNumber(b, loc, launch, addressOf(b, loc, flags, index(0)));
  return loadNumber(b, loc, drawn);
}

void LineScanner::await(ArrayRef<Value> places) {
  SmallVector<Value> all = llvm::map_to_vector(places, [&](Value place) {
    return addressOf(b, loc, flags, add(place, index(1)));
  });
  awaitFlags(b, loc, all, [&](ArrayRef<Value> found) {
    Value set = found.front();
    for (Value flag : found.drop_front())
      set = both(set, flag);
    Value none = arith::ConstantIntOp::create(b, loc, 0, 32);
    return compare(arith::CmpIPredicate::ne, set, none);
  });
}

void LineScanner::publish(ArrayRef<Value> values, Value place) {
  for (auto [value, buffer] : llvm::zip_equal(values, partTotals))
    store(value, buffer, place);
  setFlag(b, loc, addressOf(b, loc, flags, add(place, index(1))),
          arith::ConstantIntOp::create(b, loc, 1, 32));
}

/// What comes before the first part of `group`.
Values LineScanner::beforeGroup(Value group) {
  auto later = scf::IfOp::create(b, loc, TypeRange(op.getStarts()),
                                 less(index(0), group), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(later.thenBlock());
  Value before = sub(add(parts, group), index(1));
  Value place = add(mul(before, lines), line);
  when(isFirst(), [&] { await(place); });
  barrier();
  scf::YieldOp::create(b, loc, published(place));
  b.setInsertionPointToStart(later.elseBlock());
  scf::YieldOp::create(b, loc, op.getStarts());
  return llvm::to_vector_of<Value>(later.getResults());
}

/// What comes before `part`, which is number `inGroup` of its group.
Values LineScanner::beforePart(Value part, Value inGroup,
                               ArrayRef<Value> beforeGroup) {
  auto later = scf::IfOp::create(b, loc, TypeRange(op.getStarts()),
                                 less(index(0), inGroup), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(later.elseBlock());
  scf::YieldOp::create(b, loc, beforeGroup);
  b.setInsertionPointToStart(later.thenBlock());
  // Each thread polls some neighbours; for those from this part on it takes
  // the last before instead, and what comes of that nobody takes.
  int64_t each = std::max<int64_t>(groupParts() / members, 1);
  Value group = sub(part, inGroup), most = sub(inGroup, index(1));
  SmallVector<Value> numbers, places;
  for (int64_t i = 0; i < each; ++i) {
    numbers.push_back(add(mul(member, each), index(i)));
    Value other = add(group, least(numbers.back(), most));
    places.push_back(add(mul(other, lines), line));
  }
  await(places);
  Values own = published(places.front());
  for (int64_t i = 1; i < each; ++i)
    own = choose(less(numbers[i], inGroup), combine(own, published(places[i])),
                 own);
  Scan scan = scanLine(own).front();
  // The thread that has the last of them publishes it in the block.
  Values all = choose(isFirst(), own, combine(scan.before, own));
  Value hasLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        member, div(most, each));
  when(hasLast, [&] {
    for (auto [value, area] : llvm::zip_equal(all, areas))
      store(value, area, lane);
  });
  barrier();
  all =
      llvm::map_to_vector(areas, [&](Value area) { return load(area, lane); });
  scf::YieldOp::create(b, loc, combine(beforeGroup, all));
  return llvm::to_vector_of<Value>(later.getResults());
}

void LineScanner::share() {
  int64_t tiles = tilesOfPart(), partLength = tiles * tile;
  parts = ceilDiv(length, partLength);
  Value groups = ceilDiv(parts, groupParts());
  Value places = mul(add(parts, groups), lines), one = index(1);
  int64_t known = ShapedType::kDynamic;
  bool isOneGroup = false;
  if (ShapedType::isStatic(knownLength)) {
    int64_t number = llvm::divideCeil(knownLength, partLength);
    isOneGroup = number <= groupParts();
    if (ShapedType::isStatic(knownLines))
      known = (number + llvm::divideCeil(number, groupParts())) * knownLines;
  }
  for (Value start : op.getStarts())
    partTotals.push_back(scratch(known, most(places, one), start.getType()));
  flags = scratch(ShapedType::isStatic(known) ? known + 1 : known,
                  add(places, one), b.getI32Type());
  {
    OpBuilder::InsertionGuard guard(b);
    Value at = beginLaunchOf(b, loc, add(places, one), kBlock);
    store(arith::ConstantIntOp::create(b, loc, 0, 32), flags, at);
  }
  OpBuilder::InsertionGuard guard(b);
  gpu::LaunchOp launch = beginLaunch(b, loc, mul(linesBlocks, parts), kBlock);
  Value number = takePart(launch);
  Value part = div(number, linesBlocks);
  beginBlock(launch, rem(number, linesBlocks), tiles);
  Value begin = mul(part, partLength);
  Value end = least(add(begin, index(partLength)), length);
  // All is read before threads synchronise.
  SmallVector<SmallVector<Values>> sums;
  SmallVector<Values> own;
  for (int64_t i = 0; i < tiles; ++i) {
    sums.push_back(readTile(add(begin, index(i * tile))));
    own.push_back(sums.back().back());
  }
  SmallVector<Scan> scans = scanLine(own);
  Values all = scans.front().all;
  for (const Scan &next : ArrayRef(scans).drop_front())
    all = combine(all, next.all);
  Value speaks = both(isLine, isFirst());
  when(speaks, [&] { publish(all, add(mul(part, lines), line)); });
  Value group = div(part, groupParts()), inGroup = rem(part, groupParts());
  Values now = beforePart(
      part, inGroup, isOneGroup ? Values(op.getStarts()) : beforeGroup(group));
  if (!isOneGroup)
    when(both(speaks, equals(inGroup, groupParts() - 1)), [&] {
      publish(combine(now, all), add(mul(add(parts, group), lines), line));
    });
  for (int64_t i = 0; i < tiles; ++i) {
    writeTile(add(begin, index(i * tile)), end, sums[i], scans[i], now);
    now = combine(now, scans[i].all);
  }
}

void LineScanner::emit() {
  if (tilesOfPart() > 0)
    share();
  else
    walk();
}

void lines::launchScan(OpBuilder &b, spmd::LinesOp op) {
  LineScanner(b, op).emit();
}
