//===- BlockReader.cpp - What programs of blocks compute ------------------===//
#include "BlockReader.h"
#include "Match.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "llvm/ADT/Hashing.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

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
  auto &alike = tablesByHash[size_t(llvm::hash_combine_range(table))];
  for (unsigned number : alike)
    if (tables[number] == table)
      return number;
  alike.push_back(tables.size());
  tables.push_back(table);
  return alike.back();
}

unsigned BlockReader::frameOf(unsigned parent, Operation *loop,
                              int64_t iteration) {
  auto [it, isNew] =
      frameNumbers.try_emplace({parent, loop, iteration}, frames.size());
  if (isNew)
    frames.push_back({parent, loop, iteration});
  return it->second;
}

//===----------------------------------------------------------------------===//
// Blocks of tensors
//===----------------------------------------------------------------------===//

RankTable BlockReader::blocksAlong(ArrayRef<StringAttr> axes,
                                   const RankTable &source) const {
  // How far ranks that are neighbours along the axis are apart, and the size.
  SmallVector<std::pair<int64_t, int64_t>> steps;
  for (StringAttr axis : axes) {
    ArrayRef<int64_t> inner =
        mesh.getAxisSizes().drop_front(mesh.getAxisIndex(axis) + 1);
    steps.push_back({llvm::product_of(inner), mesh.getAxisSize(axis)});
  }
  RankTable blocks;
  blocks.reserve(source.size());
  for (int64_t rank : source) {
    int64_t block = 0;
    for (auto [step, size] : steps)
      block = block * size + rank / step % size;
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

RankTable BlockReader::moved(const RankTable &table, unsigned move) const {
  ++steps;
  if (isMark(table))
    return table;
  RankTable result;
  result.reserve(table.size());
  for (int64_t rank : tables[move])
    result.push_back(table[rank]);
  // Behind the ranks: the iteration of what is not understood.
  if (table.size() > allRanks.size())
    result.push_back(table.back());
  return result;
}

PolyId BlockReader::onRank(PolyId poly, const RankTable &source) {
  unsigned move = tableNumber(source);
  return algebra.rebuild(
      poly,
      [&](TermId id) -> std::optional<PolyId> {
        Term term = algebra.getTerm(id);
        if (const RankTable *table = tableOf(term)) {
          term.values = {tableNumber(moved(*table, move)) + 1};
          return algebra.term(std::move(term));
        }
        if (const BlockLeaf *leaf = leafOf(term)) {
          BlockLeaf copy = *leaf;
          return makeLeaf(copy.value, copy.sharding, moved(copy.source, move),
                          term.layouts[0]);
        }
        return term.arguments.empty() ? std::optional(algebra.ofTerm(id))
                                      : std::nullopt;
      },
      move);
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
  value = follow(value, frame, sharding, source);
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
    if (const std::optional<RankTable> &table = numbersOf(value, frame).table) {
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
        findWritten(op, frame, source);
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
