//===- Sorting.cpp - sort and top_k along dims that are cut ---------------===//
//
// A sort runs by transposition where other dims are long enough. Else each rank
// sorts its block and blocks are merged pair by pair, in the order of Batcher's
// merge exchange (D. Knuth, The Art of Computer Programming 3, 5.2.2, algorithm
// M): of a pair the lower rank keeps the smaller elements. That sorts blocks of
// one size, the last ones shorter or empty; any others are rebalanced before
// and after. Places travel with the elements, so that equals keep their order.
//
// Rounds of many ranks are a loop, of bitonic merges (K. Batcher, Sorting
// networks and their applications, 1968): as many rounds, and in each the rank
// that a rank merges with differs from it in the same bits of its number. So
// one exchange for each such set of bits serves all rounds. It sorts blocks of
// one size: those that are shorter are filled up with elements that have no
// place, which come last.
//
// top_k takes the candidates of each rank and then the best of those: of all
// rows, or of the rows that a rank gets for it.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Support/Slices.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

static int64_t sortedDim(stablehlo::SortOp op) {
  int64_t dim = static_cast<int64_t>(op.getDimension());
  return dim < 0 ? dim + static_cast<int64_t>(shapeOf(op.getInputs()[0]).size())
                 : dim;
}

static FailureOr<ShardingRule> sortRule(stablehlo::SortOp op) {
  if (op.getInputs().empty() || shapeOf(op.getInputs()[0]).empty())
    return failure();
  ShardingRule rule;
  TensorRule tensor = newFactors(rule, shapeOf(op.getInputs()[0]));
  Factor &sorted = rule.factors[sortedDim(op)];
  sorted.kind = FactorKind::Distributed;
  for (Value input : op.getInputs())
    sorted.movedBytes += 2 * bytesOf(input);
  rule.operands.assign(op.getInputs().size(), tensor);
  rule.results = {rule.operands.begin(), rule.operands.end()};
  return rule;
}

/// The rounds of merge exchange on `count` places: pairs, the lower place
/// first.
static SmallVector<SmallVector<std::pair<int64_t, int64_t>>>
mergeExchange(int64_t count) {
  SmallVector<SmallVector<std::pair<int64_t, int64_t>>> rounds;
  int64_t top = 1;
  while (2 * top < count)
    top *= 2;
  for (int64_t p = top; p > 0 && count > 1; p /= 2) {
    int64_t q = top, remainder = 0, distance = p;
    while (true) {
      auto &round = rounds.emplace_back();
      for (int64_t i = 0; i + distance < count; ++i)
        if ((i & p) == remainder)
          round.push_back({i, i + distance});
      if (q == p)
        break;
      distance = q - p;
      q /= 2;
      remainder = p;
    }
  }
  return rounds;
}

namespace {
/// Rounds of bitonic merges. In a round each place is compared with the one
/// that differs from it in some bits of its number, and of the two that without
/// the topmost of these bits keeps what is less, or what is not.
struct BitonicRounds {
  SmallVector<int64_t> differing; ///< bits, of each kind of exchange
  SmallVector<int64_t> exchange;  ///< of each round, its kind
  SmallVector<int64_t> top;       ///< of each round, the topmost of its bits
  /// Of each round: places that have this bit sort the other way.
  SmallVector<int64_t> order;
};
} // namespace

/// The rounds that sort `count` places. Where `count` is no power of two, as
/// many as there were up to the next one: as all sort the same way, the places
/// that are not there would keep what is greatest, and nothing else would move.
static BitonicRounds bitonicRounds(int64_t count) {
  BitonicRounds rounds;
  bool isWhole = llvm::isPowerOf2_64(count);
  auto add = [&](int64_t bits, int64_t order) {
    auto *known = llvm::find(rounds.differing, bits);
    rounds.exchange.push_back(known - rounds.differing.begin());
    if (known == rounds.differing.end())
      rounds.differing.push_back(bits);
    rounds.top.push_back(llvm::bit_floor<uint64_t>(bits));
    rounds.order.push_back(order);
  };
  // A run of `size` places is sorted when its halves are: its ends are compared
  // first, unless the second half was sorted the other way.
  for (int64_t size = 2; size < 2 * count; size *= 2) {
    add(isWhole ? size / 2 : size - 1, isWhole ? size : 0);
    for (int64_t distance = size / 4; distance > 0; distance /= 2)
      add(distance, isWhole ? size : 0);
  }
  return rounds;
}

/// An operand that says each element's place along `dim`, or -1.
static int64_t findPlaces(stablehlo::SortOp op, int64_t dim) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (auto iota = input.getDefiningOp<stablehlo::IotaOp>())
      if (static_cast<int64_t>(iota.getIotaDimension()) == dim)
        if (auto type =
                dyn_cast<IntegerType>(getElementTypeOrSelf(input.getType())))
          if (type.getWidth() >= 32)
            return i;
  return -1;
}

/// True if equal elements are the same: integers under one plain comparison.
static bool isTotal(stablehlo::SortOp op) {
  Block &body = op.getComparator().front();
  if (op.getInputs().size() != 1 ||
      !isa<IntegerType>(getElementTypeOrSelf(op.getInputs()[0].getType())) ||
      body.getOperations().size() != 2)
    return false;
  auto compare = dyn_cast<stablehlo::CompareOp>(body.front());
  return compare && compare->getOperand(0) != compare->getOperand(1) &&
         llvm::all_of(compare->getOperands(), [](Value operand) {
           return isa<BlockArgument>(operand);
         });
}

/// Gives `sort` the order of the global op with equals in the order of operand
/// `places`; backwards where the comparator calls equals less than one another,
/// as a merge of runs in order leaves them. Elements whose place is `end` or
/// more come last.
static void orderByPlaces(stablehlo::SortOp global, stablehlo::SortOp sort,
                          int64_t places, std::optional<int64_t> end = {}) {
  Region &region = sort.getComparator();
  region.getBlocks().clear();
  Block &body = region.emplaceBlock();
  Location loc = sort.getLoc();
  for (Value input : sort.getInputs()) {
    auto scalar =
        RankedTensorType::get({}, getElementTypeOrSelf(input.getType()));
    body.addArguments({scalar, scalar}, {loc, loc});
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  Block &order = global.getComparator().front();
  auto compare = [&](bool swapped) -> Value {
    IRMapping mapping;
    for (BlockArgument argument : order.getArguments())
      mapping.map(argument, body.getArgument(argument.getArgNumber() ^
                                             (swapped ? 1 : 0)));
    for (Operation &op : order.without_terminator())
      builder.clone(op, mapping);
    return mapping.lookupOrDefault(order.getTerminator()->getOperand(0));
  };
  Value less = compare(false), greater = compare(true);
  Value first = body.getArgument(2 * places),
        second = body.getArgument(2 * places + 1);
  auto predicate = cast<RankedTensorType>(less.getType());
  auto type = cast<IntegerType>(getElementTypeOrSelf(first.getType()));
  auto how = type.isUnsigned() ? stablehlo::ComparisonType::UNSIGNED
                               : stablehlo::ComparisonType::SIGNED;
  Value before = stablehlo::CompareOp::create(
      builder, loc, first, second, stablehlo::ComparisonDirection::LT, how);
  Value after = stablehlo::CompareOp::create(
      builder, loc, first, second, stablehlo::ComparisonDirection::GT, how);
  Value differs =
      stablehlo::XorOp::create(builder, loc, predicate, less, greater);
  Value tie =
      stablehlo::SelectOp::create(builder, loc, predicate, less, after, before);
  Value result =
      stablehlo::SelectOp::create(builder, loc, predicate, differs, less, tie);
  if (end) {
    auto scalar = cast<RankedTensorType>(first.getType());
    Value limit = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
            scalar, builder.getIntegerAttr(type, *end)))));
    auto isNone = [&](Value place) -> Value {
      return stablehlo::CompareOp::create(
          builder, loc, place, limit, stablehlo::ComparisonDirection::GE, how);
    };
    Value secondIsNone = isNone(second);
    Value oneIsNone = stablehlo::XorOp::create(builder, loc, predicate,
                                               isNone(first), secondIsNone);
    result = stablehlo::SelectOp::create(builder, loc, predicate, oneIsNone,
                                         secondIsNone, result);
  }
  stablehlo::ReturnOp::create(builder, loc, result);
}

/// Gives the comparator of `sort` arguments for its last operand.
static void ignorePlaces(stablehlo::SortOp sort) {
  auto scalar = RankedTensorType::get(
      {}, getElementTypeOrSelf(sort.getInputs().back().getType()));
  sort.getComparator().front().addArguments({scalar, scalar},
                                            {sort.getLoc(), sort.getLoc()});
}

namespace {
/// Sorts blocks along one dim that is cut, by merges of pairs.
class MergeSorter {
public:
  MergeSorter(stablehlo::SortOp op, Localization &localization)
      : op(op), localization(localization), builder(localization.builder()),
        loc(op.getLoc()), dim(sortedDim(op)) {}

  SmallVector<Value> run();

private:
  SmallVector<Value> exchangeAll(ValueRange values,
                                 ArrayRef<IntervalTable> from,
                                 ArrayRef<IntervalTable> to, StringRef why);
  Value iota(ArrayRef<IntervalTable> tables);
  SmallVector<Value> merge(ValueRange mine, ArrayRef<IntervalTable> tables,
                           ArrayRef<std::pair<int64_t, int64_t>> pairs);
  SmallVector<Type> typesOf(ValueRange values, ArrayRef<IntervalTable> tables);
  /// Blocks of `tables`, all of one size, in order: by rounds of a loop.
  SmallVector<Value> runInLoop(SmallVector<Value> values,
                               ArrayRef<IntervalTable> tables);
  /// Half of what this rank's and another's elements, one behind the other, are
  /// in order: from `offset` on.
  SmallVector<Value> mergeHalf(ValueRange mine, ValueRange other,
                               ArrayRef<IntervalTable> tables,
                               ArrayRef<IntervalTable> both,
                               OpFoldResult offset);

  stablehlo::SortOp op;
  Localization &localization;
  OpBuilder &builder;
  Location loc;
  int64_t dim;
  int64_t places = -1;
  std::optional<int64_t>
      end; ///< of places, where there are elements that have none
};
} // namespace

SmallVector<Value> MergeSorter::exchangeAll(ValueRange values,
                                            ArrayRef<IntervalTable> from,
                                            ArrayRef<IntervalTable> to,
                                            StringRef why) {
  return llvm::map_to_vector(values, [&](Value value) {
    return localization.exchange(value, from, to, {}, why);
  });
}

SmallVector<Type> MergeSorter::typesOf(ValueRange values,
                                       ArrayRef<IntervalTable> tables) {
  return llvm::map_to_vector(values, [&](Value value) -> Type {
    return blockType(tables, getElementTypeOrSelf(value.getType()));
  });
}

/// The global place along `dim` of each element of this rank's block.
Value MergeSorter::iota(ArrayRef<IntervalTable> tables) {
  int64_t size = shapeOf(op.getInputs()[0])[dim];
  RankedTensorType type = blockType(
      tables,
      builder.getIntegerType(std::max(size, tables[dim].intervals.back().end) <
                                     (int64_t(1) << 31)
                                 ? 32
                                 : 64));
  SmallVector<OpFoldResult> sizes = blockSizes(localization, tables);
  Value local;
  if (type.hasStaticShape())
    local = stablehlo::IotaOp::create(builder, loc, type,
                                      static_cast<uint64_t>(dim));
  else
    local = stablehlo::DynamicIotaOp::create(builder, loc, type,
                                             shapeTensor(builder, loc, sizes),
                                             static_cast<uint64_t>(dim));
  Value first = scalarFromIndex(
      builder, loc, beginAt(localization, tables[dim]), type.getElementType());
  Value begin = broadcastScalar(builder, loc, first, type, sizes);
  return stablehlo::AddOp::create(builder, loc, type, local, begin);
}

/// Of each of `pairs` of ranks, the lower keeps as many of the smallest
/// elements of both as it has, the other the rest. Other ranks keep theirs.
SmallVector<Value>
MergeSorter::merge(ValueRange mine, ArrayRef<IntervalTable> tables,
                   ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  const IntervalTable &own = tables[dim];
  SmallVector<IntervalTable> theirs(tables), both(tables);
  SmallVector<int64_t> skipped(own.intervals.size(), 0);
  for (auto [i, interval] : llvm::enumerate(own.intervals))
    theirs[dim].intervals[i] = {interval.begin, interval.begin};
  for (auto [low, high] : pairs) {
    theirs[dim].intervals[low] = own.intervals[high];
    theirs[dim].intervals[high] = own.intervals[low];
    skipped[high] = own.intervals[low].size();
  }
  for (auto [i, interval] : llvm::enumerate(both[dim].intervals))
    interval.end += theirs[dim].intervals[i].size();
  SmallVector<Value> other =
      exchangeAll(mine, tables, theirs, "merges its block with another rank's");
  return mergeHalf(mine, other, tables, both,
                   localization.lookup(skipped, own.axes));
}

SmallVector<Value> MergeSorter::mergeHalf(ValueRange mine, ValueRange other,
                                          ArrayRef<IntervalTable> tables,
                                          ArrayRef<IntervalTable> both,
                                          OpFoldResult offset) {
  SmallVector<Value> joined;
  for (auto [a, b, type] : llvm::zip(mine, other, typesOf(mine, both)))
    joined.push_back(stablehlo::ConcatenateOp::create(builder, loc, type,
                                                      ValueRange{a, b}, dim));
  auto sort = cast<stablehlo::SortOp>(
      cloneAs(op, localization, joined, typesOf(joined, both)));
  if (places >= 0)
    orderByPlaces(op, sort, places, end);
  SmallVector<OpFoldResult> offsets(tables.size(), builder.getIndexAttr(0)),
      strides(tables.size(), builder.getIndexAttr(1)),
      sizes = blockSizes(localization, tables);
  offsets[dim] = offset;
  SmallVector<Value> kept;
  for (auto [sorted, type] :
       llvm::zip(sort.getResults(), typesOf(mine, tables)))
    kept.push_back(takePart(builder, loc, cast<RankedTensorType>(type), sorted,
                            offsets, sizes, strides));
  return kept;
}

SmallVector<Value> MergeSorter::runInLoop(SmallVector<Value> values,
                                          ArrayRef<IntervalTable> tables) {
  const IntervalTable &own = tables[dim];
  int64_t ranks = own.intervals.size(), block = own.intervals.front().size();
  SmallVector<IntervalTable> both(tables);
  for (Interval &interval : both[dim].intervals)
    interval.end += block;
  BitonicRounds rounds = bitonicRounds(ranks);
  Value place = getValueOrCreateConstantIndexOp(
      builder, loc,
      localization.lookup(llvm::to_vector(llvm::seq<int64_t>(0, ranks)),
                          own.axes));
  return buildStepLoop(
      builder, loc, 0, rounds.exchange.size(), values,
      [&](Value round, ValueRange mine) {
        auto ofRound = [&](ArrayRef<int64_t> table) -> Value {
          return getValueOrCreateConstantIndexOp(
              builder, loc, pickEntry(builder, loc, table, round));
        };
        Value number = scalarFromIndex(builder, loc, ofRound(rounds.exchange),
                                       builder.getI32Type());
        auto exchanges = stablehlo::CaseOp::create(
            builder, loc, mine.getTypes(), number, rounds.differing.size());
        for (auto [bits, branch] :
             llvm::zip_equal(rounds.differing, exchanges.getBranches())) {
          OpBuilder::InsertionGuard guard(builder);
          builder.createBlock(&branch);
          SmallVector<IntervalTable> theirs(tables);
          for (auto [rank, interval] : llvm::enumerate(theirs[dim].intervals))
            if (int64_t other = int64_t(rank) ^ bits; other < ranks)
              interval = own.intervals[other];
          stablehlo::ReturnOp::create(
              builder, loc,
              exchangeAll(mine, tables, theirs,
                          "merges its block with another rank's"));
        }
        Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
        auto isZeroAt = [&](ArrayRef<int64_t> masks) -> Value {
          Value set =
              arith::AndIOp::create(builder, loc, place, ofRound(masks));
          return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       set, zero);
        };
        Value keepsLess =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  isZeroAt(rounds.top), isZeroAt(rounds.order));
        Value half = arith::ConstantIndexOp::create(builder, loc, block);
        Value offset =
            arith::SelectOp::create(builder, loc, keepsLess, zero, half);
        SmallVector<Value> kept =
            mergeHalf(mine, exchanges.getResults(), tables, both, offset);
        if (llvm::isPowerOf2_64(ranks))
          return kept;
        // Who has nobody to merge with keeps what it has.
        Value other = arith::XOrIOp::create(
            builder, loc, place,
            ofRound(llvm::map_to_vector(rounds.exchange, [&](int64_t number) {
              return rounds.differing[number];
            })));
        Value all = arith::ConstantIndexOp::create(builder, loc, ranks);
        Value isThere = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, other, all);
        Value merges = tensor::FromElementsOp::create(
            builder, loc, RankedTensorType::get({}, builder.getI1Type()),
            isThere);
        for (auto [value, own] : llvm::zip_equal(kept, mine))
          value = stablehlo::SelectOp::create(builder, loc, value.getType(),
                                              merges, value, own);
        return kept;
      });
}

SmallVector<Value> MergeSorter::run() {
  size_t count = op.getInputs().size();
  SmallVector<IntervalTable> given = localization.operandTables(0),
                             tables = given;
  int64_t size = shapeOf(op.getInputs()[0])[dim],
          ranks = given[dim].intervals.size();
  int64_t block = (size + ranks - 1) / ranks;
  for (auto [i, interval] : llvm::enumerate(tables[dim].intervals))
    interval = {std::min<int64_t>(i * block, size),
                std::min<int64_t>((i + 1) * block, size)};
  SmallVector<Value> values = exchangeAll(localization.operands(), given,
                                          tables, "merges blocks of one size");
  // Many ranks: blocks of one size, the last ones filled up.
  bool isLoop = ranks > kMostUnrolledSteps && block > 0;
  SmallVector<IntervalTable> filled(tables);
  if (isLoop && block * ranks != size) {
    end = size;
    for (auto [i, interval] : llvm::enumerate(filled[dim].intervals))
      interval = {int64_t(i) * block, int64_t(i + 1) * block};
    SmallVector<OpFoldResult> low(tables.size(), builder.getIndexAttr(0)),
        high(low);
    high[dim] = localization.lookup(
        llvm::map_to_vector(
            tables[dim].intervals,
            [&](Interval interval) { return block - interval.size(); }),
        tables[dim].axes);
    for (auto [value, type] : llvm::zip_equal(values, typesOf(values, filled)))
      value = padWithZeros(builder, loc, value, low, high,
                           cast<RankedTensorType>(type));
  }
  if (end || !isTotal(op)) {
    places = end ? -1 : findPlaces(op, dim);
    if (places < 0) {
      places = count;
      values.push_back(iota(filled));
    }
  }
  // A stable sort leaves equals in the order of places anyway, but it needs a
  // comparator that knows of them.
  auto sort = cast<stablehlo::SortOp>(
      cloneAs(op, localization, values, typesOf(values, filled)));
  if (end)
    orderByPlaces(op, sort, places, end);
  else if (values.size() > count)
    ignorePlaces(sort);
  values = SmallVector<Value>(sort.getResults());
  if (isLoop) {
    values = runInLoop(values, filled);
    values.truncate(count);
    if (end)
      for (Value &value : values)
        value = partOf(localization, value, dim, filled[dim], tables[dim]);
    return exchangeAll(values, tables, localization.resultTables(0),
                       "gives the sorted dim back in the blocks it had");
  }
  for (auto &round : mergeExchange(ranks)) {
    llvm::erase_if(round, [&](auto pair) {
      return tables[dim].intervals[pair.second].empty();
    });
    if (!round.empty())
      values = merge(values, tables, round);
  }
  values.truncate(count);
  return exchangeAll(values, tables, localization.resultTables(0),
                     "gives the sorted dim back in the blocks it had");
}

//===----------------------------------------------------------------------===//
// A sort of which only one end is read
//===----------------------------------------------------------------------===//

/// The part of the sorted dim that slices read, where nothing else reads
/// results.
static std::optional<Interval> partRead(stablehlo::SortOp op, int64_t dim) {
  std::optional<Interval> part;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<stablehlo::SliceOp>(user);
    if (!slice)
      return std::nullopt;
    int64_t begin = slice.getStartIndices()[dim],
            end = slice.getLimitIndices()[dim];
    part =
        part ? Interval{std::min(part->begin, begin), std::max(part->end, end)}
             : Interval{begin, end};
  }
  return part;
}

/// Sorts each rank's block, then its ends alone, on the ranks that own the end
/// that is read; nothing else of the results is what it should be. Failure,
/// with nothing built, where more is read, or a merge moves less.
static LocalResults sortEnd(stablehlo::SortOp op, Localization &localization) {
  int64_t dim = sortedDim(op), size = shapeOf(op.getInputs()[0])[dim];
  SmallVector<IntervalTable> tables = localization.operandTables(0),
                             kept = tables, needed = tables;
  ArrayRef<Interval> own = tables[dim].intervals;
  std::optional<Interval> part = partRead(op, dim);
  bool isFirst = part && part->begin == 0;
  // Candidates of one rank are behind those of ranks before it, so a stable
  // sort leaves equals in the order of their places.
  if (!part || (!isFirst && part->end != size) ||
      2 * part->size() * int64_t(own.size()) > size || !op.getIsStable())
    return failure();
  for (int64_t i = 0, e = op->getNumResults(); i < e; ++i)
    if (localization.resultTables(i)[dim].intervals != tables[dim].intervals)
      return failure();
  OpBuilder &builder = localization.builder();
  int64_t total = 0, count = own.size();
  SmallVector<int64_t> keptAt(count), takenAt(count), taken(count),
      placedAt(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t candidates = std::min(part->size(), own[i].size());
    keptAt[i] = isFirst ? 0 : own[i].size() - candidates;
    kept[dim].intervals[i] = {total, total + candidates};
    total += candidates;
  }
  for (int64_t i = 0; i < count; ++i) {
    Interval wanted = intersect(own[i], *part);
    needed[dim].intervals[i] =
        wanted.empty() ? Interval{0, 0} : Interval{0, total};
    taken[i] = wanted.size();
    takenAt[i] =
        wanted.empty() ? 0 : wanted.begin + (isFirst ? 0 : total - size);
    placedAt[i] = wanted.empty() ? 0 : wanted.begin - own[i].begin;
  }
  auto typesOf = [&](ArrayRef<IntervalTable> lie) {
    return llvm::map_to_vector(op.getInputs(), [&](Value input) -> Type {
      return blockType(lie, getElementTypeOrSelf(input.getType()));
    });
  };
  Operation *blocks =
      cloneAs(op, localization, localization.operands(), typesOf(tables));
  SmallVector<OpFoldResult> strides(tables.size(), builder.getIndexAttr(1));
  auto offsetsAt = [&](ArrayRef<int64_t> table) {
    SmallVector<OpFoldResult> offsets(tables.size(), builder.getIndexAttr(0));
    offsets[dim] = localization.lookup(table, tables[dim].axes);
    return offsets;
  };
  SmallVector<Value> candidates;
  SmallVector<OpFoldResult> keptSizes = blockSizes(localization, kept);
  for (auto [sorted, type] :
       llvm::zip_equal(blocks->getResults(), typesOf(kept))) {
    Value ends = takePart(builder, op.getLoc(), cast<RankedTensorType>(type),
                          sorted, offsetsAt(keptAt), keptSizes, strides);
    candidates.push_back(localization.exchange(
        ends, kept, needed, {}, "picks from the candidates of all ranks"));
  }
  Operation *merged = cloneAs(op, localization, candidates, typesOf(needed));
  IntervalTable placed = tables[dim];
  for (int64_t i = 0; i < count; ++i)
    placed.intervals[i] = {0, taken[i]};
  SmallVector<IntervalTable> pieces(tables);
  pieces[dim] = placed;
  SmallVector<OpFoldResult> pieceSizes = blockSizes(localization, pieces);
  SmallVector<Value> results;
  for (auto [sorted, block, type] : llvm::zip_equal(
           merged->getResults(), blocks->getResults(), typesOf(pieces))) {
    Value piece = takePart(builder, op.getLoc(), cast<RankedTensorType>(type),
                           sorted, offsetsAt(takenAt), pieceSizes, strides);
    results.push_back(putPart(builder, op.getLoc(), piece, block,
                              offsetsAt(placedAt), pieceSizes, strides));
  }
  return results;
}

static LocalResults localizeSort(stablehlo::SortOp op,
                                 Localization &localization) {
  if (!localization.isSharded(
          localization.rule().operands[0].dims[sortedDim(op)].terms[0].factor))
    return localizeByCloning(op, localization);
  // Merges know all sizes.
  if (localization.isBoundLate())
    return runTransposed(op, localization, /*mustBalance=*/false);
  if (LocalResults end = sortEnd(op, localization); succeeded(end))
    return end;
  LocalResults transposed =
      runTransposed(op, localization, /*mustBalance=*/true);
  if (succeeded(transposed))
    return transposed;
  return MergeSorter(op, localization).run();
}

//===----------------------------------------------------------------------===//
// chlo.top_k
//===----------------------------------------------------------------------===//

/// A sort of `values` and `places` along the last dim, the largest first.
static stablehlo::SortOp sortDescending(OpBuilder &builder, Location loc,
                                        Value values, Value places) {
  int64_t dim = cast<RankedTensorType>(values.getType()).getRank() - 1;
  auto sort = stablehlo::SortOp::create(
      builder, loc, TypeRange{values.getType(), places.getType()},
      ValueRange{values, places}, dim, /*is_stable=*/true);
  Block &body = sort.getComparator().emplaceBlock();
  for (Value operand : {values, places}) {
    auto scalar =
        RankedTensorType::get({}, getElementTypeOrSelf(operand.getType()));
    body.addArguments({scalar, scalar}, {loc, loc});
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Type element = getElementTypeOrSelf(values.getType());
  auto how = isa<FloatType>(element) ? stablehlo::ComparisonType::TOTALORDER
             : element.isUnsignedInteger() || element.isInteger(1)
                 ? stablehlo::ComparisonType::UNSIGNED
                 : stablehlo::ComparisonType::SIGNED;
  Value more = stablehlo::CompareOp::create(
      inside, loc, body.getArgument(0), body.getArgument(1),
      stablehlo::ComparisonDirection::GT, how);
  stablehlo::ReturnOp::create(inside, loc, more);
  return sort;
}

/// The first elements of `value` along the last dim, which then lies as
/// `tables` say.
static Value takeFirst(Localization &localization, Value value,
                       ArrayRef<IntervalTable> tables) {
  OpBuilder &builder = localization.builder();
  SmallVector<OpFoldResult> offsets(tables.size(), builder.getIndexAttr(0)),
      strides(tables.size(), builder.getIndexAttr(1));
  return takePart(builder, value.getLoc(),
                  blockType(tables, getElementTypeOrSelf(value.getType())),
                  value, offsets, blockSizes(localization, tables), strides);
}

/// Lets other dims of `tables`, as far as they can, be cut along the axes that
/// cut the last one, which becomes `last`.
static SmallVector<IntervalTable> cutOthers(Localization &localization,
                                            ArrayRef<IntervalTable> tables,
                                            const IntervalTable &last) {
  SmallVector<IntervalTable> moved(tables);
  int64_t dim = tables.size() - 1;
  moveCuts(localization, moved, dim,
           llvm::to_vector(llvm::seq<int64_t>(0, dim)));
  moved[dim] = last;
  return moved;
}

/// Each rank's first k, or all it has, in the order of top_k; then the first k
/// of all ranks', one rank's behind the other's, so that of equals the lower
/// goes first. Where there are other dims, a rank picks for a part of them.
/// Candidates travel with their places: where the whole is less, it travels.
static LocalResults localizeTopK(Operation *op, Localization &localization) {
  int64_t dim = shapeOf(op->getOperand(0)).size() - 1,
          k = shapeOf(op->getResult(0))[dim];
  const IndexMap &map = localization.rule().operands[0].dims[dim];
  if (map.terms.empty() || !localization.isSharded(map.terms[0].factor) ||
      k == 0)
    return SmallVector<Value>(cloneLocal(op, localization)->getResults());
  // How many candidates each rank has follows from its size.
  if (localization.isBoundLate())
    return runTransposed(op, localization, /*mustBalance=*/false);
  OpBuilder &builder = localization.builder();
  Location loc = op->getLoc();
  SmallVector<IntervalTable> tables = localization.operandTables(0),
                             kept = tables;
  int64_t total = 0;
  for (Interval &interval : kept[dim].intervals) {
    int64_t count = std::min(k, interval.size());
    interval = {total, total + count};
    total += count;
  }
  Value block = localization.operands()[0];
  Type places = getElementTypeOrSelf(op->getResult(1).getType());
  int64_t bits = getElementTypeOrSelf(block.getType()).getIntOrFloatBitWidth();
  if (total * (bits + places.getIntOrFloatBitWidth()) >
      shapeOf(op->getOperand(0))[dim] * bits)
    return runTransposed(op, localization, /*mustBalance=*/false);
  SmallVector<IntervalTable> gathered =
      cutOthers(localization, kept, wholeTable(total));
  auto blockOf = [&](ArrayRef<IntervalTable> lie) {
    return blockType(lie, places);
  };
  SmallVector<Value> best;
  bool haveAll = llvm::all_of(tables[dim].intervals, [&](Interval interval) {
    return interval.size() >= k;
  });
  if (haveAll) {
    SmallVector<Type> types{
        blockType(kept, getElementTypeOrSelf(block.getType())), blockOf(kept)};
    best = SmallVector<Value>(
        cloneAs(op, localization, block, types)->getResults());
  } else {
    RankedTensorType type = blockOf(tables);
    Value count;
    if (type.hasStaticShape())
      count = stablehlo::IotaOp::create(builder, loc, type,
                                        static_cast<uint64_t>(dim));
    else
      count = stablehlo::DynamicIotaOp::create(
          builder, loc, type,
          shapeTensor(builder, loc, blockSizes(localization, tables)),
          static_cast<uint64_t>(dim));
    for (Value sorted : sortDescending(builder, loc, block, count).getResults())
      best.push_back(takeFirst(localization, sorted, kept));
  }
  Value first =
      scalarFromIndex(builder, loc, beginAt(localization, tables[dim]), places);
  Value begin = broadcastScalar(builder, loc, first, blockOf(kept),
                                blockSizes(localization, kept));
  best[1] =
      stablehlo::AddOp::create(builder, loc, blockOf(kept), best[1], begin);
  for (Value &value : best)
    value = localization.exchange(value, kept, gathered, {},
                                  "picks from the candidates of all ranks");
  SmallVector<IntervalTable> picked(gathered);
  picked[dim] = wholeTable(k);
  SmallVector<Value> results;
  for (auto [i, sorted] : llvm::enumerate(
           sortDescending(builder, loc, best[0], best[1]).getResults()))
    results.push_back(localization.exchange(
        takeFirst(localization, sorted, picked), picked,
        localization.resultTables(i), {},
        "gives what it picked to the ranks that need it"));
  return results;
}

namespace {
struct TopKRule : ShardingRuleOpInterface::FallbackModel<TopKRule> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    if (!hasStaticShapes(op) || op->getNumOperands() != 1 ||
        shapeOf(op->getOperand(0)).empty())
      return failure();
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
    ShardingRule rule;
    TensorRule result = newFactors(rule, shape.drop_back()), operand = result;
    int64_t factor = rule.addFactor(shape.back(), FactorKind::Distributed);
    rule.factors[factor].movedBytes =
        4 * (bytesOf(op->getResult(0)) + bytesOf(op->getResult(1)));
    // Rows are picked where a part of them is.
    for (size_t dim = 0; dim + 1 < shape.size(); ++dim)
      if (shape[dim] > 1)
        rule.factors[factor].carriers.push_back(dim);
    operand.dims.push_back(IndexMap::identity(factor));
    result.dims.push_back(wholeDim(rule, shapeOf(op->getResult(0)).back()));
    rule.operands = {operand};
    rule.results = {result, result};
    return rule;
  }
};
struct TopKLocalize : LocalizeOpInterface::FallbackModel<TopKLocalize> {
  LocalResults localize(Operation *op, Localization &localization) const {
    return localizeTopK(op, localization);
  }
};
} // namespace

void rules::attachTopK(MLIRContext *context) {
  if (auto name = RegisteredOperationName::lookup("chlo.top_k", context))
    name->attachInterface<TopKRule, TopKLocalize>();
}

void rules::attachSorting(MLIRContext *context) {
  attach<stablehlo::SortOp, sortRule, localizeSort>(context);
}
