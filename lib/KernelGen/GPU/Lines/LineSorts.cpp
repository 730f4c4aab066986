//===- LineSorts.cpp - Sorts and selections of lines ----------------------===//
//
// A block sorts a tile of a line, or several short lines, in shared memory: a
// bitonic network (K. E. Batcher, "Sorting networks and their applications",
// 1968) in which every exchange puts the lesser element first, so that what
// is past a line's end never moves. Elements travel with their positions: of
// two the one that was first stays first unless the other belongs before it, as
// in a merge. So the sort is stable, and equals that "belong before" one
// another come out as the host's merges leave them.
//
// Of longer lines the sorted tiles are merged in rounds. A block makes one tile
// of a round's result, a thread a few elements of it: searches along diagonals
// say what they merge (O. Green, R. McColl and D. Bader, "GPU merge path",
// 2012). Diagonals are searched from coarse to fine, each between those that
// were found before, and all who need one do the same searches. So parts always
// follow one another, and every round moves each element to one place, also
// where the order contradicts itself.
//
// Where few elements of a long line are wanted, tiles keep that many, and are
// candidates for the next round, until they fit one tile.
//
// Elements that the order looks at travel; others are fetched in the end.
//
//===----------------------------------------------------------------------===//
#include "Lines.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::lines;

/// Elements of a tile, at most, and bytes that they take. [shape]
static constexpr int64_t kMostTile = 1024, kMostBytes = 32 << 10;
/// Elements of a block, at least, if short lines are many. [shape]
static constexpr int64_t kLeastSpan = 256;

namespace {
/// Elements on their way: those that the order looks at, and positions.
struct Slots {
  SmallVector<Value> keys;
  Value positions;
};

/// Where the elements of lines are: the op's inputs (no slots), or slots of
/// which each line has `length`, one line after the other.
struct Source {
  std::optional<Slots> slots;
  Value length;
  int64_t known;
};

/// A part of two sorted runs `a` and `b`: from numbers `lowA` and `lowB` up to
/// `highA` and `highB`. It is merged to what comes at the sums of these.
struct Part {
  Value lowA, lowB, highA, highB;
};

class LineSorter : LineEmitter {
public:
  LineSorter(OpBuilder &b, spmd::LinesOp op);
  void emit();

private:
  Slots shared(gpu::LaunchOp launch, int64_t count);
  Slots slotsOf(int64_t knownPerLine, Value perLine);
  SmallVector<Value> loadKeys(const Slots &slots, Value at);
  void move(const Slots &from, Value at, const Slots &to, Value place);
  Value before(ArrayRef<Value> first, ArrayRef<Value> second);
  void exchange(const Slots &slots, Value low, Value high, Value count);
  void sortSlots(const Slots &slots, Value thread, int64_t threads,
                 int64_t span, int64_t tile,
                 llvm::function_ref<Value(Value)> countOf);
  void writeResult(Value line, Value place, ArrayRef<Value> keys,
                   Value position);
  void sortTiles(const Source &from, int64_t tile, int64_t kept,
                 const Slots *to, Value perLine);
  Value search(Value from, Value to, llvm::function_ref<Value(Value)> goesOn);
  Value cut(const Part &part, Value diagonal, const Slots &slots, Value startA,
            Value startB);
  Part partOfBlock(gpu::LaunchOp launch, const Slots &from, Value startA,
                   Value startB, Value countA, Value countB, Value number);
  Part partOfThread(const Slots &slots, Value countA, Value countB,
                    Value number, int64_t each);
  void merge(const Part &part, const Slots &slots, Value countA, Value count,
             const Slots &to, Value start);
  void mergeRound(const Slots &from, const Slots &to, Value perLine,
                  Value width);
  Slots mergeTiles(const Slots &sorted, const Source &from);
  void gather(const Slots &sorted, Value perLine);

  /// Inputs that the order looks at, and for each input its number among them,
  /// or -1.
  SmallVector<Value> keyInputs;
  SmallVector<int64_t> keyOf;
  Type positionType;
  int64_t mostTile = kMostTile;
  /// How many elements of a line are wanted.
  Value keep;
  int64_t knownKeep;
};
} // namespace

LineSorter::LineSorter(OpBuilder &b, spmd::LinesOp op) : LineEmitter(b, op) {
  Block &block = op.getBody().front();
  auto bytesOf = [](Type type) -> int64_t {
    if (auto complex = dyn_cast<ComplexType>(type))
      return 2 * llvm::divideCeil(
                     complex.getElementType().getIntOrFloatBitWidth(), 8);
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  };
  bool isLong = ShapedType::isDynamic(knownLength) || knownLength > INT32_MAX;
  positionType = isLong ? b.getI64Type() : b.getI32Type();
  int64_t bytes = bytesOf(positionType);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    bool isKey = !block.getArgument(2 * i).use_empty() ||
                 !block.getArgument(2 * i + 1).use_empty();
    keyOf.push_back(isKey ? keyInputs.size() : -1);
    if (!isKey)
      continue;
    keyInputs.push_back(input);
    bytes += bytesOf(elementOf(input));
  }
  while (mostTile > 2 && mostTile * bytes > kMostBytes)
    mostTile /= 2;
  Value first = op.getInits().front();
  knownKeep = cast<MemRefType>(first.getType()).getDimSize(dim);
  keep = ShapedType::isStatic(knownKeep)
             ? index(knownKeep)
             : memref::DimOp::create(b, loc, first, dim).getResult();
  if (ShapedType::isDynamic(knownKeep) && ShapedType::isStatic(knownLength))
    keep = least(keep, length);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Slots LineSorter::shared(gpu::LaunchOp launch, int64_t count) {
  Slots slots;
  for (Value key : keyInputs)
    slots.keys.push_back(share(launch, count, elementOf(key)));
  slots.positions = share(launch, count, positionType);
  return slots;
}

Slots LineSorter::slotsOf(int64_t knownPerLine, Value perLine) {
  bool isKnown =
      ShapedType::isStatic(knownPerLine) && ShapedType::isStatic(knownLines);
  int64_t known = isKnown ? knownPerLine * knownLines : ShapedType::kDynamic;
  Value count = isKnown ? Value() : mul(lines, perLine);
  Slots slots;
  for (Value key : keyInputs)
    slots.keys.push_back(scratch(known, count, elementOf(key)));
  slots.positions = scratch(known, count, positionType);
  return slots;
}

SmallVector<Value> LineSorter::loadKeys(const Slots &slots, Value at) {
  return llvm::map_to_vector(slots.keys,
                             [&](Value keys) { return load(keys, at); });
}

void LineSorter::move(const Slots &from, Value at, const Slots &to,
                      Value place) {
  for (auto [key, target] : llvm::zip_equal(loadKeys(from, at), to.keys))
    store(key, target, place);
  store(load(from.positions, at), to.positions, place);
}

/// The argument that `value` is, or is a wider form of; or null.
static BlockArgument argumentOf(Value value) {
  while (auto wider = value.getDefiningOp<arith::ExtFOp>())
    value = wider.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// A comparison of floats that is all that the order is, as "less", "greater"
/// or one of these "or equal": with a NaN it says no, whatever the other is.
static arith::CmpFOp plainComparison(Block &body) {
  using Predicate = arith::CmpFPredicate;
  auto compare =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::CmpFOp>();
  if (!compare || compare->getBlock() != &body ||
      !llvm::is_contained(
          {Predicate::OLT, Predicate::OGT, Predicate::OLE, Predicate::OGE},
          compare.getPredicate()))
    return nullptr;
  BlockArgument x = argumentOf(compare.getLhs()),
                y = argumentOf(compare.getRhs());
  bool areOne = x && y && x.getOwner() == &body && y.getOwner() == &body &&
                x != y && x.getArgNumber() / 2 == y.getArgNumber() / 2;
  return areOne ? compare : nullptr;
}

/// Whether the element of keys `first` belongs before that of `second`.
Value LineSorter::before(ArrayRef<Value> first, ArrayRef<Value> second) {
  SmallVector<Value> arguments;
  for (int64_t key : keyOf)
    for (ArrayRef<Value> side : {first, second})
      arguments.push_back(key < 0 ? Value() : side[key]);
  // The body does not look at others.
  Block &block = op.getBody().front();
  IRMapping map;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    if (value)
      map.map(argument, value);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, map);
  Value result = map.lookupOrDefault(block.getTerminator()->getOperand(0));
  arith::CmpFOp compare = plainComparison(block);
  if (!compare)
    return result;
  // To be an order among NaN: these come last, as equals.
  auto isNan = [&](Value argument) -> Value {
    Value number = map.lookupOrDefault(argument);
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, number,
                                 number);
  };
  bool isFlipped = argumentOf(compare.getLhs()).getArgNumber() % 2 != 0;
  Value firstNan = isNan(isFlipped ? compare.getRhs() : compare.getLhs()),
        secondNan = isNan(isFlipped ? compare.getLhs() : compare.getRhs());
  bool orEqual = compare.getPredicate() == arith::CmpFPredicate::OLE ||
                 compare.getPredicate() == arith::CmpFPredicate::OGE;
  if (!orEqual) {
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Value isNumber = arith::XOrIOp::create(b, loc, firstNan, yes);
    secondNan = both(isNumber, secondNan);
  }
  return arith::OrIOp::create(b, loc, result, secondNan);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Puts what belongs first of slots `low` and `high` into `low`, if there are
/// elements in both: `count` says up to where. As in a merge, the one whose
/// position is lower is first unless the other belongs before it.
void LineSorter::exchange(const Slots &slots, Value low, Value high,
                          Value count) {
  when(less(high, count), [&] {
    SmallVector<Value> lower = loadKeys(slots, low),
                       upper = loadKeys(slots, high), earlier, later;
    Value lowerAt = load(slots.positions, low),
          upperAt = load(slots.positions, high);
    Value inOrder = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          lowerAt, upperAt);
    for (auto [l, u] : llvm::zip_equal(lower, upper)) {
      earlier.push_back(choose(inOrder, l, u));
      later.push_back(choose(inOrder, u, l));
    }
    Value swaps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        before(later, earlier), inOrder);
    when(swaps, [&] {
      for (auto [keys, l, u] : llvm::zip_equal(slots.keys, lower, upper)) {
        store(u, keys, low);
        store(l, keys, high);
      }
      store(upperAt, slots.positions, low);
      store(lowerAt, slots.positions, high);
    });
  });
}

/// Sorts each of the tiles, powers of two, that `span` slots hold. `countOf`
/// says where the elements end of the tile that slot `at` is in.
void LineSorter::sortSlots(const Slots &slots, Value thread, int64_t threads,
                           int64_t span, int64_t tile,
                           llvm::function_ref<Value(Value)> countOf) {
  if (tile < 2)
    return;
  Value one = index(1), zero = index(0);
  auto shiftLeft = [&](Value x, Value by) -> Value {
    return arith::ShLIOp::create(b, loc, x, by);
  };
  // Where the run begins that `pair` is in, of twice `half` = 1 << shift slots,
  // and its number there.
  auto split = [&](Value pair, Value shift, Value half) {
    Value run = arith::ShRUIOp::create(b, loc, pair, shift);
    Value start = shiftLeft(run, add(shift, one));
    Value at = arith::AndIOp::create(b, loc, pair, sub(half, one));
    return std::pair(start, at);
  };
  auto pairs = [&](llvm::function_ref<void(Value)> body) {
    forEach(thread, index(span / 2), index(threads), body);
    barrier();
  };
  forEach(zero, index(llvm::Log2_64(tile)), one, [&](Value stage) {
    // Sorted runs of `half` become runs of twice that: first all elements of
    // one are compared with those of the other from its end ...
    Value half = shiftLeft(one, stage), whole = add(half, half);
    pairs([&](Value pair) {
      auto [start, at] = split(pair, stage, half);
      Value low = add(start, at), high = sub(sub(add(start, whole), one), at);
      exchange(slots, low, high, countOf(low));
    });
    // ... then the halves of halves.
    forEach(zero, stage, one, [&](Value round) {
      Value shift = sub(sub(stage, round), one);
      Value distance = shiftLeft(one, shift);
      pairs([&](Value pair) {
        auto [start, at] = split(pair, shift, distance);
        Value low = add(start, at);
        exchange(slots, low, add(low, distance), countOf(low));
      });
    });
  });
}

/// Stores the element of `position` in its line as the result's at `place`.
void LineSorter::writeResult(Value line, Value place, ArrayRef<Value> keys,
                             Value position) {
  Value from = arith::IndexCastOp::create(b, loc, b.getIndexType(), position);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Value value =
        keyOf[i] >= 0 ? keys[keyOf[i]] : load(input, subscripts(line, from));
    store(value, op.getInits()[i], subscripts(line, place));
  }
  if (!op.getPositions())
    return;
  Value places = op.getInits().back();
  Type type = elementOf(places);
  Value number = arith::IndexCastOp::create(b, loc, type, from);
  store(number, places, subscripts(line, place));
}

/// A kernel that sorts tiles and writes the first `kept` elements of each into
/// `to`, `perLine` a line; without it the result, of lines of one tile.
void LineSorter::sortTiles(const Source &from, int64_t tile, int64_t kept,
                           const Slots *to, Value perLine) {
  bool isWhole = ShapedType::isStatic(from.known) && from.known <= tile;
  int64_t span = tile;
  if (isWhole && tile < kLeastSpan) {
    // As many lines as a block can have, but no more than there are.
    int64_t most = std::min(kLeastSpan, mostTile);
    if (ShapedType::isStatic(knownLines))
      most = std::min<int64_t>(most, tile * llvm::PowerOf2Ceil(knownLines));
    span = std::max(tile, most);
  }
  int64_t threads = std::clamp<int64_t>(span / 2, kWarp, kBlock);
  int64_t linesEach = span / tile;
  Value tiles = isWhole ? index(1) : ceilDiv(from.length, tile);
  OpBuilder::InsertionGuard guard(b);
  gpu::LaunchOp launch =
      beginLaunch(b, loc, mul(ceilDiv(lines, linesEach), tiles), threads);
  Slots slots = shared(launch, span);
  Value thread = launch.getThreadIds().x, block = launch.getBlockIds().x;
  Value firstLine = mul(div(block, tiles), linesEach),
        number = rem(block, tiles);
  Value start = mul(number, tile);
  Value own = least(sub(from.length, start), index(tile));
  auto lineOf = [&](Value slot) { return add(firstLine, div(slot, tile)); };
  // Where elements of the slot's tile end.
  auto countOf = [&](Value slot) -> Value {
    if (linesEach == 1)
      return own;
    Value begin = sub(slot, rem(slot, tile));
    return choose(less(lineOf(slot), lines), add(begin, own), index(0));
  };
  forEach(thread, index(span), index(threads), [&](Value slot) {
    when(less(slot, countOf(slot)), [&] {
      Value at = add(start, rem(slot, tile)), line = lineOf(slot);
      if (from.slots) {
        move(*from.slots, add(mul(line, from.length), at), slots, slot);
        return;
      }
      SmallVector<Value> place = subscripts(line, at);
      for (auto [input, keys] : llvm::zip_equal(keyInputs, slots.keys))
        store(load(input, place), keys, slot);
      store(arith::IndexCastOp::create(b, loc, positionType, at),
            slots.positions, slot);
    });
  });
  barrier();
  sortSlots(slots, thread, threads, span, tile, countOf);
  forEach(thread, index(span), index(threads), [&](Value slot) {
    Value place = rem(slot, tile), line = lineOf(slot);
    Value wanted = less(place, to ? index(kept) : keep);
    when(both(less(slot, countOf(slot)), wanted), [&] {
      if (!to)
        return writeResult(line, place, loadKeys(slots, slot),
                           load(slots.positions, slot));
      Value base = add(mul(line, perLine), mul(number, kept));
      move(slots, slot, *to, add(base, place));
    });
  });
}

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

/// The first number from `from` on, below `to`, at which `goesOn` does not
/// hold, or `to`: it holds up to there.
Value LineSorter::search(Value from, Value to,
                         llvm::function_ref<Value(Value)> goesOn) {
  Type type = b.getIndexType();
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{type, type}, ValueRange{from, to},
      [&](OpBuilder &, Location, ValueRange now) {
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           now[0], now[1]);
        scf::ConditionOp::create(b, loc, more, now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Value middle = div(add(now[0], now[1]), 2);
        Value on = goesOn(middle);
        scf::YieldOp::create(
            b, loc,
            ValueRange{choose(on, add(middle, index(1)), now[0]),
                       choose(on, now[1], middle)});
      });
  return loop.getResult(0);
}

/// How many elements of `a` come before place `diagonal` of what `part` is
/// merged to. Its low end is at slots `startA + lowA` and `startB + lowB`.
Value LineSorter::cut(const Part &part, Value diagonal, const Slots &slots,
                      Value startA, Value startB) {
  return search(most(sub(diagonal, part.highB), part.lowA),
                least(sub(diagonal, part.lowB), part.highA), [&](Value at) {
                  Value across = sub(sub(diagonal, at), index(1));
                  Value later = before(loadKeys(slots, add(startB, across)),
                                       loadKeys(slots, add(startA, at)));
                  Value yes =
                      arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
                  return arith::XOrIOp::create(b, loc, later, yes).getResult();
                });
}

/// What tile `number` of two merged runs is made of. All threads of a block
/// come here; those of a warp look for that many cuts at once, and have them
/// follow one another.
Part LineSorter::partOfBlock(gpu::LaunchOp launch, const Slots &from,
                             Value startA, Value startB, Value countA,
                             Value countB, Value number) {
  Value cuts = share(launch, kWarp, b.getIndexType());
  Value thread = launch.getThreadIds().x;
  Value zero = index(0), one = index(1), tile = index(mostTile);
  Value total = add(countA, countB), place = mul(number, tile);
  Type type = b.getIndexType();
  // Elements between two cuts, at first: the fewest that reach the end.
  auto coarsest = scf::WhileOp::create(
      b, loc, type, tile,
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(b, loc, less(mul(now[0], kWarp), total), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        scf::YieldOp::create(b, loc, mul(now[0], kWarp));
      });
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{type, type, type, type, type},
      ValueRange{coarsest.getResult(0), zero, zero, countA, countB},
      [&](OpBuilder &, Location, ValueRange now) {
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                           now[0], tile);
        scf::ConditionOp::create(b, loc, more, now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Value step = now[0];
        Part part{now[1], now[2], now[3], now[4]};
        Value low = add(part.lowA, part.lowB),
              high = add(part.highA, part.highB);
        // The end of piece `piece`, of `step` elements from `low` on.
        auto endOf = [&](Value piece) {
          return least(add(low, mul(add(piece, one), step)), high);
        };
        when(less(thread, index(kWarp)), [&] {
          store(cut(part, endOf(thread), from, startA, startB), cuts, thread);
        });
        barrier();
        // The piece that the tile is in.
        Value own = div(sub(place, low), step);
        auto pieces =
            scf::ForOp::create(b, loc, zero, add(own, one), one,
                               ValueRange{part.lowA, low, part.lowA, low});
        {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(pieces.getBody());
          Value piece = pieces.getInductionVar();
          Value beginA = pieces.getRegionIterArgs()[2],
                begin = pieces.getRegionIterArgs()[3];
          Value end = endOf(piece);
          Value endA = most(load(cuts, piece), beginA);
          endA = least(endA, add(beginA, sub(end, begin)));
          scf::YieldOp::create(b, loc, ValueRange{beginA, begin, endA, end});
        }
        barrier();
        ValueRange found = pieces.getResults();
        scf::YieldOp::create(b, loc,
                             ValueRange{div(step, kWarp), found[0],
                                        sub(found[1], found[0]), found[2],
                                        sub(found[3], found[2])});
      });
  ValueRange found = loop.getResults();
  return {found[1], found[2], found[3], found[4]};
}

/// What elements [number * each, + each) of a tile are made of: `slots` hold
/// the `countA` elements of `a`, and then those of `b`.
Part LineSorter::partOfThread(const Slots &slots, Value countA, Value countB,
                              Value number, int64_t each) {
  Value zero = index(0), place = mul(number, each);
  Part part{zero, zero, countA, countB};
  int64_t halvings = llvm::Log2_64(mostTile / each);
  auto loop = scf::ForOp::create(b, loc, zero, index(halvings), index(1),
                                 ValueRange{index(mostTile / 2), part.lowA,
                                            part.lowB, part.highA, part.highB});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange now = loop.getRegionIterArgs();
  part = {now[1], now[2], now[3], now[4]};
  Value middle = least(add(add(part.lowA, part.lowB), now[0]),
                       add(part.highA, part.highB));
  Value cutA = cut(part, middle, slots, zero, countA);
  Value cutB = sub(middle, cutA);
  Value isLow = less(place, middle);
  scf::YieldOp::create(b, loc,
                       ValueRange{div(now[0], 2),
                                  choose(isLow, part.lowA, cutA),
                                  choose(isLow, part.lowB, cutB),
                                  choose(isLow, cutA, part.highA),
                                  choose(isLow, cutB, part.highB)});
  ValueRange found = loop.getResults();
  return {found[1], found[2], found[3], found[4]};
}

/// Merges `part` of `slots`, as they are for partOfThread, to slots of `to`
/// from `start` on, one element after the other.
void LineSorter::merge(const Part &part, const Slots &slots, Value countA,
                       Value count, const Slots &to, Value start) {
  Value last = sub(count, index(1));
  auto loop = scf::ForOp::create(b, loc, add(part.lowA, part.lowB),
                                 add(part.highA, part.highB), index(1),
                                 ValueRange{part.lowA, part.lowB});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value place = loop.getInductionVar();
  Value atA = loop.getRegionIterArgs()[0], atB = loop.getRegionIterArgs()[1];
  // Where a run has none left, another element, which does not count.
  Value slotA = least(atA, last), slotB = least(add(countA, atB), last);
  Value later = before(loadKeys(slots, slotB), loadKeys(slots, slotA));
  Value hasA = less(atA, part.highA), hasB = less(atB, part.highB);
  Value takesB = choose(both(hasA, hasB), later, hasB);
  move(slots, choose(takesB, slotB, slotA), to, add(start, place));
  Value one = index(1), zero = index(0);
  scf::YieldOp::create(b, loc,
                       ValueRange{add(atA, choose(takesB, zero, one)),
                                  add(atB, choose(takesB, one, zero))});
}

/// A kernel that merges neighbouring runs of `width`, a multiple of a tile.
void LineSorter::mergeRound(const Slots &from, const Slots &to, Value perLine,
                            Value width) {
  int64_t tile = mostTile, threads = std::clamp<int64_t>(tile, kWarp, kBlock);
  int64_t each = std::max<int64_t>(tile / threads, 1);
  Value tiles = ceilDiv(perLine, tile);
  OpBuilder::InsertionGuard guard(b);
  gpu::LaunchOp launch = beginLaunch(b, loc, mul(lines, tiles), threads);
  Slots slots = shared(launch, tile);
  Value thread = launch.getThreadIds().x, block = launch.getBlockIds().x;
  Value line = mul(div(block, tiles), perLine);
  Value first = mul(rem(block, tiles), tile), twice = add(width, width);
  // Runs `a` and `b` follow one another from `begin` on.
  Value begin = mul(div(first, twice), twice);
  Value middle = least(add(begin, width), perLine),
        end = least(add(begin, twice), perLine);
  Value startA = add(line, begin), startB = add(line, middle);
  Part part = partOfBlock(launch, from, startA, startB, sub(middle, begin),
                          sub(end, middle), div(sub(first, begin), tile));
  Value countA = sub(part.highA, part.lowA),
        countB = sub(part.highB, part.lowB);
  Value count = add(countA, countB);
  forEach(thread, count, index(threads), [&](Value slot) {
    Value at = choose(less(slot, countA), add(add(startA, part.lowA), slot),
                      add(add(startB, part.lowB), sub(slot, countA)));
    move(from, at, slots, slot);
  });
  barrier();
  when(less(mul(thread, each), count), [&] {
    Part own = partOfThread(slots, countA, countB, thread, each);
    merge(own, slots, countA, count, to, add(line, first));
  });
}

/// Sorted tiles of lines, merged.
Slots LineSorter::mergeTiles(const Slots &sorted, const Source &from) {
  Slots slots[2] = {sorted, slotsOf(from.known, from.length)};
  if (ShapedType::isStatic(from.known)) {
    int64_t now = 0;
    for (int64_t width = mostTile; width < from.known;
         width *= 2, now = 1 - now)
      mergeRound(slots[now], slots[1 - now], from.length, index(width));
    return slots[now];
  }
  // Two rounds at a time: the last one may be a copy.
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType()}, ValueRange{index(mostTile)},
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(b, loc, less(now[0], from.length), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Value twice = add(now[0], now[0]);
        mergeRound(slots[0], slots[1], from.length, now[0]);
        mergeRound(slots[1], slots[0], from.length, twice);
        scf::YieldOp::create(b, loc, ValueRange{add(twice, twice)});
      });
  (void)loop;
  return slots[0];
}

/// A kernel that writes the results from sorted slots.
void LineSorter::gather(const Slots &sorted, Value perLine) {
  OpBuilder::InsertionGuard guard(b);
  Value wanted = least(keep, perLine);
  Value number = beginLaunchOf(b, loc, mul(lines, wanted), kBlock);
  Value line = div(number, wanted), place = rem(number, wanted);
  Value at = add(mul(line, perLine), place);
  writeResult(line, place, loadKeys(sorted, at), load(sorted.positions, at));
}

void LineSorter::emit() {
  // Nothing is asked for, and nobody launches threads for it.
  if (knownKeep == 0)
    return;
  Source from{std::nullopt, length, knownLength};
  auto fits = [&] {
    return ShapedType::isStatic(from.known) && from.known <= mostTile;
  };
  // Of sizes that are not known one round selects, and what is left is sorted.
  bool selects = ShapedType::isStatic(knownKeep) && knownKeep <= mostTile / 2;
  for (bool once = true; selects && once && !fits();) {
    once = ShapedType::isStatic(from.known);
    Value full = sub(ceilDiv(from.length, mostTile), index(1));
    Value last = least(sub(from.length, mul(full, mostTile)), index(knownKeep));
    // Of nothing, nothing.
    Value count = most(add(mul(full, knownKeep), last), index(0));
    int64_t known = ShapedType::kDynamic;
    if (once) {
      int64_t tiles = llvm::divideCeil(from.known, mostTile) - 1;
      known = tiles * knownKeep +
              std::min(from.known - tiles * mostTile, knownKeep);
      count = index(known);
    }
    Slots next = slotsOf(known, count);
    sortTiles(from, mostTile, knownKeep, &next, count);
    from = {next, count, known};
  }
  if (fits()) {
    sortTiles(from, llvm::PowerOf2Ceil(from.known), 0, nullptr, Value());
    return;
  }
  Slots sorted = slotsOf(from.known, from.length);
  sortTiles(from, mostTile, mostTile, &sorted, from.length);
  gather(mergeTiles(sorted, from), from.length);
}

void lines::launchSort(OpBuilder &b, spmd::LinesOp op) {
  LineSorter(b, op).emit();
}
