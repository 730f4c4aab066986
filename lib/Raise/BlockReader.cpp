//===- BlockReader.cpp - What programs of blocks compute ------------------===//
#include "BlockReader.h"
#include "Match.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/ElementwiseTrait.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Loops with more iterations are not followed.
static constexpr int64_t kMostIterations = 64;
/// Reading goes no deeper.
static constexpr unsigned kDeepest = 2500;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

BlockReader::BlockReader(Algebra &algebra, const Numbering &numbering,
                         spmd::MeshAttr mesh)
    : Reader(algebra, numbering, std::vector<int64_t>(64, 1), ~DimSet(0), 0),
      mesh(mesh) {
  algebra.ofBlocks = true;
  algebra.blockTables = this;
  frames.push_back({0, nullptr, 0});
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    allRanks.push_back(rank);
  restrictTo(allRanks);
}

void BlockReader::restrictTo(RankTable ranks) {
  this->ranks = std::move(ranks);
  source = tableNumber(this->ranks);
}

unsigned BlockReader::tableNumber(const RankTable &table) {
  auto it = llvm::find(tables, table);
  if (it == tables.end())
    it = tables.insert(tables.end(), table);
  return it - tables.begin();
}

unsigned BlockReader::frameOf(unsigned parent, Operation *loop,
                              int64_t iteration) {
  for (auto [i, other] : llvm::enumerate(frames))
    if (other.parent == parent && other.loop == loop &&
        other.iteration == iteration)
      return i;
  frames.push_back({parent, loop, iteration});
  return frames.size() - 1;
}

//===----------------------------------------------------------------------===//
// Where values come from
//===----------------------------------------------------------------------===//

static Value yielded(Region &region, unsigned number) {
  return region.front().getTerminator()->getOperand(number);
}

/// The region of a branch that is taken for `number`.
static Region &regionFor(Operation *branch, int64_t number) {
  int64_t last = branch->getNumRegions() - 1;
  if (isa<stablehlo::IfOp>(branch))
    return branch->getRegion(number ? 0 : 1);
  return branch->getRegion(number < 0 || number > last ? last : number);
}

Value BlockReader::follow(Value value, unsigned &frame,
                          spmd::ShardingAttr &sharding,
                          const RankTable &lanes) {
  while (true) {
    // Out of loops that the value is not of.
    while (frames[frame].loop &&
           !frames[frame].loop->isProperAncestor(
               value.getParentBlock()->getParentOp()) &&
           frames[frame].loop != value.getParentBlock()->getParentOp())
      frame = frames[frame].parent;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      unsigned number = argument.getArgNumber();
      if (auto loop = dyn_cast<stablehlo::WhileOp>(owner);
          loop && frames[frame].loop == owner) {
        Frame here = frames[frame];
        value = here.iteration == 0 ? owner->getOperand(number)
                                    : yielded(owner->getRegion(1), number);
        frame = here.iteration == 0
                    ? here.parent
                    : frameOf(here.parent, owner, here.iteration - 1);
        continue;
      }
      auto manual = dyn_cast<spmd::ManualOp>(owner);
      if (!manual)
        return value;
      value = manual.getInputs()[number];
      sharding = cast<spmd::ShardingAttr>(manual.getInShardings()[number]);
      auto maker = value.getDefiningOp<spmd::ManualOp>();
      unsigned result = maker ? cast<OpResult>(value).getResultNumber() : 0;
      if (!maker || maker.getManualAxes() != manual.getManualAxes() ||
          maker.getOutShardings()[result] != sharding)
        return value;
      value = yielded(maker.getBody(), result);
      sharding = nullptr;
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isa<stablehlo::WhileOp>(op)) {
      std::optional<int64_t> count = countIterations(op, frame);
      if (!count)
        return value;
      value = *count == 0 ? op->getOperand(number)
                          : yielded(op->getRegion(1), number);
      if (*count > 0)
        frame = frameOf(frame, op, *count - 1);
    } else if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) {
      std::optional<int64_t> branch = numberOn(op->getOperand(0), frame, lanes);
      if (!branch)
        return value;
      value = yielded(regionFor(op, *branch), number);
    } else if (isa<stablehlo::OptimizationBarrierOp, spmd::ConstrainOp>(op)) {
      value = op->getOperand(number);
    } else {
      return value;
    }
  }
}

std::optional<int64_t> BlockReader::countIterations(Operation *loop,
                                                    unsigned frame) {
  auto [it, isNew] = tripCounts.try_emplace({loop, frame}, std::nullopt);
  if (!isNew)
    return it->second;
  for (int64_t iteration = 0; iteration <= kMostIterations; ++iteration) {
    std::optional<RankTable> goesOn = numbersOf(
        yielded(loop->getRegion(0), 0), frameOf(frame, loop, iteration));
    if (!goesOn || !llvm::all_equal(*goesOn))
      return std::nullopt;
    if (!goesOn->front())
      return tripCounts[{loop, frame}] = iteration;
  }
  return std::nullopt;
}

std::optional<int64_t> BlockReader::numberOn(Value value, unsigned frame,
                                             const RankTable &lanes) {
  std::optional<RankTable> table = numbersOf(value, frame);
  if (!table || lanes.empty() || llvm::any_of(lanes, [&](int64_t rank) {
        return (*table)[rank] != (*table)[lanes.front()];
      }))
    return std::nullopt;
  return (*table)[lanes.front()];
}

std::optional<std::pair<Value, unsigned>>
BlockReader::findWritten(Operation *op, unsigned frame,
                         const RankTable &lanes) {
  auto slice = cast<stablehlo::DynamicSliceOp>(op);
  SmallVector<int64_t> wanted;
  for (Value start : slice.getStartIndices()) {
    std::optional<int64_t> place = numberOn(start, frame, lanes);
    if (!place)
      return std::nullopt;
    wanted.push_back(*place);
  }
  auto size = typeOf(slice.getResult()).getShape();
  Value whole = slice.getOperand();
  while (true) {
    spmd::ShardingAttr sharding;
    whole = follow(whole, frame, sharding, lanes);
    auto update = sharding
                      ? nullptr
                      : whole.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
    if (!update)
      return std::nullopt;
    bool isSame = true, isApart = false;
    auto written = typeOf(update.getUpdate()).getShape();
    for (auto [dim, start] : llvm::enumerate(update.getStartIndices())) {
      std::optional<int64_t> place = numberOn(start, frame, lanes);
      if (!place)
        return std::nullopt;
      isSame &= *place == wanted[dim] && written[dim] == size[dim];
      isApart |= *place + written[dim] <= wanted[dim] ||
                 wanted[dim] + size[dim] <= *place;
    }
    if (isSame)
      return std::pair(Value(update.getUpdate()), frame);
    if (!isApart)
      return std::nullopt;
    whole = update.getOperand();
  }
}

//===----------------------------------------------------------------------===//
// Integers of ranks
//===----------------------------------------------------------------------===//

std::optional<RankTable> BlockReader::numbersOf(Value value, unsigned frame) {
  spmd::ShardingAttr sharding;
  value = follow(value, frame, sharding, allRanks);
  auto type = typeOf(value);
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !type.getElementType().isIntOrIndex())
    return std::nullopt;
  auto [it, isNew] =
      numbers.try_emplace({value.getAsOpaquePointer(), frame}, std::nullopt);
  if (!isNew)
    return it->second;
  std::optional<RankTable> found = evaluate(value, frame);
  return numbers[{value.getAsOpaquePointer(), frame}] = found;
}

static std::optional<int64_t> compute(Operation *op, ArrayRef<int64_t> a) {
  bool isBool = elementOf(op->getResult(0)).isInteger(1);
  if (isa<stablehlo::AddOp>(op))
    return isBool ? (a[0] | a[1]) : a[0] + a[1];
  if (isa<stablehlo::SubtractOp>(op))
    return a[0] - a[1];
  if (isa<stablehlo::MulOp>(op))
    return a[0] * a[1];
  if (isa<stablehlo::DivOp>(op))
    return a[1] == 0 ? std::nullopt : std::optional(a[0] / a[1]);
  if (isa<stablehlo::RemOp>(op))
    return a[1] == 0 ? std::nullopt : std::optional(a[0] % a[1]);
  if (isa<stablehlo::MaxOp>(op))
    return std::max(a[0], a[1]);
  if (isa<stablehlo::MinOp>(op))
    return std::min(a[0], a[1]);
  if (isa<stablehlo::AndOp>(op))
    return a[0] & a[1];
  if (isa<stablehlo::OrOp>(op))
    return a[0] | a[1];
  if (isa<stablehlo::XorOp>(op))
    return a[0] ^ a[1];
  if (isa<stablehlo::NotOp>(op))
    return isBool ? int64_t(!a[0]) : ~a[0];
  if (isa<stablehlo::NegOp>(op))
    return -a[0];
  if (isa<stablehlo::AbsOp>(op))
    return std::abs(a[0]);
  if (isa<stablehlo::SignOp>(op))
    return (a[0] > 0) - (a[0] < 0);
  if (isa<stablehlo::SelectOp>(op))
    return a[0] ? a[1] : a[2];
  if (isa<stablehlo::ClampOp>(op))
    return std::min(std::max(a[0], a[1]), a[2]);
  if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
          stablehlo::TransposeOp>(op))
    return a[0];
  if (isa<stablehlo::ConvertOp>(op))
    return isBool ? int64_t(a[0] != 0) : a[0];
  auto comparison = dyn_cast<stablehlo::CompareOp>(op);
  if (!comparison)
    return std::nullopt;
  switch (comparison.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::EQ:
    return a[0] == a[1];
  case stablehlo::ComparisonDirection::NE:
    return a[0] != a[1];
  case stablehlo::ComparisonDirection::LT:
    return a[0] < a[1];
  case stablehlo::ComparisonDirection::LE:
    return a[0] <= a[1];
  case stablehlo::ComparisonDirection::GT:
    return a[0] > a[1];
  case stablehlo::ComparisonDirection::GE:
    return a[0] >= a[1];
  }
  return std::nullopt;
}

/// Element `place` of a line of integers.
static std::optional<int64_t> elementAt(Value line, int64_t place) {
  place = std::clamp<int64_t>(place, 0, typeOf(line).getNumElements() - 1);
  if (line.getDefiningOp<stablehlo::IotaOp>())
    return place;
  auto constant = line.getDefiningOp<stablehlo::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseIntElementsAttr>(Attribute(constant.getValue()))
               : DenseIntElementsAttr();
  if (!dense)
    return std::nullopt;
  APInt number = dense.isSplat() ? dense.getSplatValue<APInt>()
                                 : *(dense.value_begin<APInt>() + place);
  return dense.getElementType().isInteger(1) ||
                 dense.getElementType().isUnsignedInteger()
             ? int64_t(number.getZExtValue())
             : number.getSExtValue();
}

std::optional<RankTable> BlockReader::evaluate(Value value, unsigned frame) {
  Operation *op = value.getDefiningOp();
  size_t ranks = mesh.getNumRanks();
  if (!op)
    return std::nullopt;
  if (isa<stablehlo::PartitionIdOp>(op))
    return allRanks;
  // Ranks that take different branches.
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op)) {
    std::optional<RankTable> branch = numbersOf(op->getOperand(0), frame);
    if (!branch)
      return std::nullopt;
    RankTable result;
    for (auto [rank, number] : llvm::enumerate(*branch)) {
      std::optional<RankTable> table =
          numbersOf(yielded(regionFor(op, number),
                            cast<OpResult>(value).getResultNumber()),
                    frame);
      if (!table)
        return std::nullopt;
      result.push_back((*table)[rank]);
    }
    return result;
  }
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op)) {
    std::optional<int64_t> number = elementAt(value, 0);
    return number ? std::optional(RankTable(ranks, *number)) : std::nullopt;
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    unsigned inner = frame;
    spmd::ShardingAttr sharding;
    Value line = follow(slice.getOperand(), inner, sharding, allRanks);
    std::optional<RankTable> places =
        typeOf(line).getRank() == 1 && !sharding
            ? numbersOf(slice.getStartIndices()[0], frame)
            : std::nullopt;
    if (!places)
      return std::nullopt;
    RankTable result;
    for (int64_t place : *places) {
      std::optional<int64_t> number = elementAt(line, place);
      if (!number)
        break;
      result.push_back(*number);
    }
    if (result.size() == ranks)
      return result;
    std::optional<std::pair<Value, unsigned>> written =
        findWritten(op, frame, allRanks);
    return written ? numbersOf(written->first, written->second) : std::nullopt;
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<RankTable> operands;
  for (Value operand : op->getOperands()) {
    std::optional<RankTable> table = numbersOf(operand, frame);
    if (!table)
      return std::nullopt;
    operands.push_back(std::move(*table));
  }
  RankTable result;
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::optional<int64_t> number =
        compute(op, llvm::map_to_vector(operands, [&](const RankTable &table) {
                  return table[rank];
                }));
    if (!number)
      return std::nullopt;
    result.push_back(*number);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Blocks of tensors
//===----------------------------------------------------------------------===//

RankTable BlockReader::blocksAlong(ArrayRef<StringAttr> axes,
                                   const RankTable &source) const {
  RankTable blocks;
  for (int64_t rank : source) {
    int64_t block = 0;
    for (StringAttr axis : axes) {
      int64_t place = rank;
      for (int64_t i = int64_t(mesh.getAxisNames().size()) - 1;
           i > mesh.getAxisIndex(axis); --i)
        place /= mesh.getAxisSizes()[i];
      block = block * mesh.getAxisSize(axis) + place % mesh.getAxisSize(axis);
    }
    blocks.push_back(block);
  }
  return blocks;
}

int64_t BlockReader::countBlocks(ArrayRef<StringAttr> axes) const {
  int64_t count = 1;
  for (StringAttr axis : axes)
    count *= mesh.getAxisSize(axis);
  return count;
}

RankTable BlockReader::blocksOf(spmd::ShardingAttr sharding,
                                const RankTable &source) const {
  SmallVector<StringAttr> axes;
  for (spmd::DimShardingAttr dim : sharding.getDims())
    llvm::append_range(axes, dim.getAxes());
  return axes.empty() ? RankTable() : blocksAlong(axes, source);
}

PolyId BlockReader::makeLeaf(Value value, spmd::ShardingAttr sharding,
                             const RankTable &source, const Layout &layout) {
  BlockLeaf leaf{value, sharding, source,
                 sharding && !isMark(source) ? blocksOf(sharding, source)
                                             : source};
  std::string key;
  llvm::raw_string_ostream os(key);
  os << numbering.of(value) << ' '
     << (sharding ? nullptr : value.getAsOpaquePointer()) << ' '
     << sharding.getAsOpaquePointer() << ' ' << tableNumber(leaf.blocks);
  auto [it, isNew] = leafNumbers.try_emplace(key, leaves.size());
  if (isNew)
    leaves.push_back(leaf);
  Term term{TermKind::Leaf};
  term.values = {it->second};
  term.layouts = {layout};
  term.dims = dimsIn(layout);
  term.isBool = elementOf(value).isInteger(1);
  term.tensor = value;
  term.tensorLayout = layout;
  return algebra.term(std::move(term));
}

const BlockLeaf *BlockReader::leafOf(const Term &term) const {
  return term.kind == TermKind::Leaf && term.values.size() == 1
             ? &leaves[term.values[0]]
             : nullptr;
}

PolyId BlockReader::ofTable(const RankTable &table, bool isBool) {
  if (llvm::all_equal(table))
    return algebra.number(double(table.front()));
  Term term{TermKind::Position};
  term.dim = 63;
  term.isBool = isBool;
  term.values = {tableNumber(table) + 1};
  return algebra.term(std::move(term));
}

PolyId BlockReader::place(unsigned dim, const RankTable &blocks) {
  Term term{TermKind::Position};
  term.dim = dim;
  term.dims = bit(dim);
  term.values = {tableNumber(blocks) + 1};
  return algebra.term(std::move(term));
}

const RankTable *BlockReader::tableOf(const Term &term) const {
  return term.kind == TermKind::Position && !term.values.empty()
             ? &tables[term.values[0] - 1]
             : nullptr;
}

PolyId BlockReader::onRank(PolyId poly, const RankTable &source) {
  auto moved = [&](const RankTable &table) {
    if (isMark(table))
      return table;
    RankTable result;
    for (int64_t rank : source)
      result.push_back(table[rank]);
    // Behind the ranks: the iteration of what is not understood.
    if (table.size() > allRanks.size())
      result.push_back(table.back());
    return result;
  };
  return algebra.rebuild(
      poly,
      [&](TermId id) -> std::optional<PolyId> {
        Term term = algebra.getTerm(id);
        if (const RankTable *table = tableOf(term)) {
          term.values = {tableNumber(moved(*table)) + 1};
          return algebra.term(std::move(term));
        }
        if (const BlockLeaf *leaf = leafOf(term)) {
          BlockLeaf copy = *leaf;
          return makeLeaf(copy.value, copy.sharding, moved(copy.source),
                          term.layouts[0]);
        }
        return term.arguments.empty() ? std::optional(algebra.ofTerm(id))
                                      : std::nullopt;
      },
      moved);
}

const RankTable *BlockReader::blockOf(const Term &term) const {
  if (const BlockLeaf *leaf = leafOf(term))
    return leaf->sharding && !leaf->blocks.empty() ? &leaf->source : nullptr;
  return term.dims ? tableOf(term) : nullptr;
}

PolyId BlockReader::inBlock(const Term &term, const RankTable &table) {
  if (const BlockLeaf *leaf = leafOf(term)) {
    BlockLeaf copy = *leaf;
    return makeLeaf(copy.value, copy.sharding, table, term.layouts[0]);
  }
  return place(term.dim, table);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

PolyId BlockReader::leaf(Value value, const Layout &layout) {
  if (boundary)
    return makeLeaf(value, boundary, tables[source], layout);
  // What is in a region and not understood.
  if (!stopped)
    stopped = value.getDefiningOp() ? value.getDefiningOp()
                                    : value.getParentBlock()->getParentOp();
  RankTable where = tables[source];
  where.push_back(frame);
  return makeLeaf(value, nullptr, where, layout);
}

PolyId BlockReader::read(Value value, const Layout &layout) {
  unsigned outerFrame = frame, outerSource = source;
  spmd::ShardingAttr outerBoundary = boundary, sharding;
  value = follow(value, frame, sharding, tables[source]);
  boundary = sharding;
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const auto &dim : layout) {
    for (unsigned part : dim)
      os << part << ',';
    os << ';';
  }
  auto place = std::tuple(value.getAsOpaquePointer(), frame, source, key);
  auto it = memo.find(place);
  PolyId result;
  if (it != memo.end()) {
    result = it->second;
  } else {
    ++level;
    result = level > kDeepest || algebra.isExhausted()
                 ? leaf(value, layout)
                 : readHere(value, layout);
    if (algebra.tooLarge(result))
      result = leaf(value, layout);
    --level;
    memo[place] = result;
  }
  frame = outerFrame;
  source = outerSource;
  boundary = outerBoundary;
  return result;
}

PolyId BlockReader::readHere(Value value, const Layout &layout) {
  Operation *op = value.getDefiningOp();
  if (boundary) {
    auto constant = op ? dyn_cast<stablehlo::ConstantOp>(op) : nullptr;
    auto dense =
        constant ? dyn_cast<DenseElementsAttr>(Attribute(constant.getValue()))
                 : DenseElementsAttr();
    return dense && dense.isSplat()
               ? readConstant(constant.getValue(), value, layout)
               : leaf(value, layout);
  }
  if (!op || !typeOf(value) || !elementOf(value).isIntOrFloat())
    return leaf(value, layout);
  if (elementOf(value).isInteger()) {
    if (std::optional<RankTable> table = numbersOf(value, frame)) {
      RankTable moved;
      for (int64_t rank : tables[source])
        moved.push_back((*table)[rank]);
      return ofTable(moved, elementOf(value).isInteger(1));
    }
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return readConstant(constant.getValue(), value, layout);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return position(layout[iota.getIotaDimension()], 0, 1);
  if (isa<stablehlo::BroadcastInDimOp>(op))
    return read(op->getOperand(0), throughBroadcast(op, layout));
  if (isa<stablehlo::TransposeOp>(op))
    return read(op->getOperand(0), throughTranspose(op, layout));
  if (isa<stablehlo::ReshapeOp>(op)) {
    std::optional<Layout> inner =
        regroup(layout, typeOf(op->getOperand(0)).getShape());
    return inner ? read(op->getOperand(0), *inner) : leaf(value, layout);
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    std::optional<std::pair<Value, unsigned>> written =
        findWritten(op, frame, tables[source]);
    if (!written)
      return leaf(value, layout);
    frame = written->second;
    return read(written->first, layout);
  }
  if (auto permute = dyn_cast<stablehlo::CollectivePermuteOp>(op)) {
    RankTable from(mesh.getNumRanks(), -1), moved;
    auto pairs = dyn_cast<DenseIntElementsAttr>(
        Attribute(permute.getSourceTargetPairs()));
    SmallVector<int64_t> ends;
    if (pairs)
      for (const APInt &end : pairs.getValues<APInt>())
        ends.push_back(end.getSExtValue());
    for (size_t i = 0; i + 1 < ends.size(); i += 2)
      if (ends[i + 1] >= 0 && ends[i + 1] < int64_t(from.size()))
        from[ends[i + 1]] = ends[i];
    for (int64_t rank : tables[source])
      moved.push_back(from[rank]);
    if (llvm::any_of(moved, [&](int64_t rank) {
          return rank < 0 || rank >= int64_t(from.size());
        }))
      return leaf(value, layout);
    // All ranks are read once, and moved; one rank may take branches that the
    // one before it does not.
    if (!isOfOneRank() && tables[source] == allRanks)
      return onRank(read(permute.getOperand(), layout), moved);
    source = tableNumber(moved);
    return read(permute.getOperand(), layout);
  }
  if (isa<stablehlo::DotGeneralOp>(op))
    return readContraction(op, layout);
  if (isa<stablehlo::ReduceOp>(op) && op->getNumResults() == 1)
    return readReduction(op, layout);
  if ((op->getNumResults() == 1 &&
       op->hasTrait<shardc::stablehlo::ElementwiseTrait>()) ||
      isa<stablehlo::ConvertOp>(op))
    return readElementwise(op, layout);
  return leaf(value, layout);
}

unsigned BlockReader::openDim(const Layout &layout, DimSet taken) const {
  taken |= dimsIn(layout);
  unsigned open = kFirstOpenDim;
  while (open < 63 && (taken & bit(open)))
    ++open;
  return open;
}

PolyId BlockReader::readContraction(Operation *op, const Layout &layout) {
  auto dot = cast<stablehlo::DotGeneralOp>(op);
  stablehlo::DotDimensionNumbersAttr dims = dot.getDotDimensionNumbers();
  auto [lhs, rhs] = uncontractedLayouts(op, layout);
  SmallVector<unsigned> summed;
  DimSet taken = 0;
  // Others use the same numbers where they do not read what has them.
  std::vector<int64_t> outerSizes = sizes;
  for (auto [l, r] : llvm::zip(dims.getLhsContractingDimensions(),
                               dims.getRhsContractingDimensions())) {
    int64_t size = typeOf(dot.getLhs()).getDimSize(l);
    if (size == 1)
      continue;
    unsigned open = openDim(layout, taken);
    if (open >= 63)
      return leaf(dot.getResult(), layout);
    sizes[open] = size;
    taken |= bit(open);
    summed.push_back(open);
    lhs[l] = rhs[r] = {open};
  }
  PolyId product = read(dot.getLhs(), lhs);
  product = algebra.multiply(product, read(dot.getRhs(), rhs));
  for (unsigned dim : summed)
    product = algebra.sumOver(dim, double(sizes[dim]), product);
  sizes = std::move(outerSizes);
  return product;
}

PolyId BlockReader::readReduction(Operation *op, const Layout &layout) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  Value input = reduce.getInputs()[0];
  auto type = typeOf(input);
  Block &body = reduce.getBody().front();
  Operation *inside = body.getTerminator()->getOperand(0).getDefiningOp();
  bool isPlain = inside && inside->getNumOperands() == 2 &&
                 isa<BlockArgument>(inside->getOperand(0)) &&
                 isa<BlockArgument>(inside->getOperand(1)) &&
                 inside->getOperand(0) != inside->getOperand(1);
  bool isSum = isPlain && isa<stablehlo::AddOp>(inside) &&
               !elementOf(input).isInteger(1),
       isMax = isPlain && isa<stablehlo::MaxOp>(inside);
  std::optional<double> init =
      algebra.constantOf(read(reduce.getInitValues()[0], {}));
  if (!(isSum && init == 0.0) && !(isMax && init == -INFINITY))
    return leaf(op->getResult(0), layout);
  Layout inner(type.getRank());
  SmallVector<unsigned> gone;
  size_t next = 0;
  DimSet taken = 0;
  std::vector<int64_t> outerSizes = sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(reduce.getDimensions(), dim)) {
      inner[dim] = layout[next++];
      continue;
    }
    if (type.getDimSize(dim) == 1)
      continue;
    unsigned open = openDim(layout, taken);
    if (open >= 63)
      return leaf(op->getResult(0), layout);
    sizes[open] = type.getDimSize(dim);
    taken |= bit(open);
    gone.push_back(open);
    inner[dim] = {open};
  }
  PolyId result = read(input, inner);
  for (unsigned dim : gone)
    result = isSum ? algebra.sumOver(dim, double(sizes[dim]), result)
                   : algebra.maxOver(dim, result);
  sizes = std::move(outerSizes);
  return result;
}

PolyId BlockReader::readElementwise(Operation *op, const Layout &layout) {
  auto isStatistic = [&](Value value) {
    Poly poly = algebra.get(read(value, layout));
    return llvm::any_of(poly, [&](const Monomial &part) {
      return llvm::any_of(part.factors, [&](auto &factor) {
        return algebra.isStatistic(factor.first);
      });
    });
  };
  // Rows without a key so far have no sum either, whatever they are shifted by.
  if (isa<stablehlo::IsFiniteOp>(op) && isStatistic(op->getOperand(0))) {
    isGuarded = true;
    return algebra.number(1);
  }
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op);
      compare && isa<FloatType>(elementOf(compare.getLhs())) &&
      isStatistic(compare.getLhs())) {
    using Direction = stablehlo::ComparisonDirection;
    Direction direction = compare.getComparisonDirection();
    bool isOther = direction == Direction::NE || direction == Direction::GT;
    std::optional<double> number =
        algebra.constantOf(read(compare.getRhs(), layout));
    if ((isOther || direction == Direction::EQ) && number == -INFINITY) {
      isGuarded = true;
      return algebra.number(isOther);
    }
    // No statistic is infinity, and none is NaN.
    if ((direction == Direction::EQ || direction == Direction::NE) &&
        number == INFINITY)
      return algebra.number(direction == Direction::NE);
  }
  // x != x asks for NaN.
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op);
      compare && compare.getLhs() == compare.getRhs() &&
      isa<FloatType>(elementOf(compare.getLhs())) &&
      (algebra.constantOf(read(compare.getLhs(), layout)) ||
       isStatistic(compare.getLhs()))) {
    using Direction = stablehlo::ComparisonDirection;
    Direction direction = compare.getComparisonDirection();
    if (direction == Direction::EQ || direction == Direction::NE)
      return algebra.number(direction == Direction::EQ);
  }
  // Minus infinity as the logarithm of no sum yet: no statistic changes it.
  if (isa<FloatType>(elementOf(op->getResult(0))) &&
      isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::NegOp,
          stablehlo::AbsOp, stablehlo::ExpOp>(op)) {
    auto infinityOf = [&](Value value) -> std::optional<double> {
      std::optional<double> number = algebra.constantOf(read(value, layout));
      return number && std::isinf(*number) ? number : std::nullopt;
    };
    std::optional<double> lhs = infinityOf(op->getOperand(0)),
                          rhs = op->getNumOperands() == 2
                                    ? infinityOf(op->getOperand(1))
                                    : std::nullopt;
    if (isa<stablehlo::SubtractOp>(op) && rhs)
      rhs = -*rhs;
    if (lhs && isa<stablehlo::ExpOp>(op))
      return algebra.number(*lhs < 0 ? 0 : *lhs);
    if (lhs && isa<stablehlo::NegOp, stablehlo::AbsOp>(op))
      return algebra.number(isa<stablehlo::AbsOp>(op) ? INFINITY : -*lhs);
    if (lhs && op->getNumOperands() == 2 && !rhs &&
        isStatistic(op->getOperand(1)))
      return algebra.number(*lhs);
    if (rhs && !lhs && isStatistic(op->getOperand(0)))
      return algebra.number(*rhs);
  }
  // Merges by the logarithms of sums: see BlockAlgebra.cpp.
  if (isa<FloatType>(elementOf(op->getResult(0))) &&
      op->getNumOperands() == 2 && isa<stablehlo::MaxOp>(op) &&
      (isStatistic(op->getOperand(0)) || isStatistic(op->getOperand(1)))) {
    PolyId lhs = read(op->getOperand(0), layout),
           rhs = read(op->getOperand(1), layout);
    // A number in the place of minus infinity would swallow what is added to
    // it.
    bool isSmall = llvm::all_of(std::array{lhs, rhs}, [&](PolyId side) {
      return llvm::all_of(algebra.get(side), [](const Monomial &part) {
        return std::abs(part.coefficient) < 1e4;
      });
    });
    if (isSmall)
      return algebra.add(rhs, algebra.positivePart(algebra.add(lhs, rhs, -1),
                                                   op->getContext()));
  }
  if (isa<stablehlo::AbsOp>(op) &&
      isa<FloatType>(elementOf(op->getResult(0))) &&
      isStatistic(op->getOperand(0))) {
    PolyId inner = read(op->getOperand(0), layout);
    if (!algebra.isPositive(inner))
      return algebra.add(
          algebra.scale(algebra.positivePart(inner, op->getContext()), 2),
          inner, -1);
  }
  if (isa<stablehlo::Log1pOp>(op) &&
      (isStatistic(op->getOperand(0)) ||
       algebra.constantOf(read(op->getOperand(0), layout)) == 0.0))
    return algebra.logarithm(
        algebra.add(algebra.number(1), read(op->getOperand(0), layout)));
  PolyId result = Reader::readElementwise(op, layout);
  if (isOfOneRank() && isa<stablehlo::CompareOp>(op))
    return decide(result);
  return elementOf(op->getResult(0)).isInteger() &&
                 !elementOf(op->getResult(0)).isInteger(1)
             ? placePositions(result)
             : result;
}

PolyId BlockReader::placePositions(PolyId poly) {
  std::optional<std::pair<TermId, double>> local;
  RankTable offset(mesh.getNumRanks(), 0);
  bool hasTable = false;
  Poly others;
  for (const Monomial &monomial : algebra.get(poly)) {
    const Term *term =
        monomial.factors.size() == 1 && monomial.factors[0].second == 1
            ? &algebra.getTerm(monomial.factors[0].first)
            : nullptr;
    const RankTable *table = term ? tableOf(*term) : nullptr;
    if (table && term->dim == 63) {
      hasTable = true;
      for (auto [sum, number] : llvm::zip(offset, *table))
        sum += int64_t(monomial.coefficient) * number;
    } else if (term && term->kind == TermKind::Position && !table) {
      if (local)
        return poly;
      local = {monomial.factors[0].first, monomial.coefficient};
    } else {
      others.push_back(monomial);
    }
  }
  if (!local || !hasTable)
    return poly;
  Term term = algebra.getTerm(local->first);
  int64_t least = *llvm::min_element(offset),
          step = int64_t(local->second) * sizes[term.dim];
  if (step <= 0)
    return poly;
  RankTable blocks;
  for (int64_t number : offset) {
    if ((number - least) % step != 0)
      return poly;
    blocks.push_back((number - least) / step);
  }
  PolyId placed = algebra.scale(place(term.dim, blocks), local->second);
  return algebra.add(algebra.add(algebra.intern(std::move(others)), placed),
                     algebra.number(double(least)));
}
