//===- MatchPairs.cpp - Neighbours and other sums of pairs ----------------===//
//
// A row of scores, each of one query and one key, of which the best are taken
// or which is summed up. The score must be of a distance: a sum over depth of
// something of both points, or a product with a number of each beside it
// (|x|^2 - 2xy + |y|^2). Products alone are layers of networks.
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Below it, whole numbers are exact in f32.
static constexpr int64_t kExact = int64_t(1) << 24;

/// A score has one product. Whoever reads more than these reads what the layers
/// of a network add up, of which there may be hundreds.
static constexpr size_t kMostProducts = 16;

/// The direction in which `sort` puts elements, if its comparator is one
/// comparison of its two arguments.
static std::optional<bool> isAscending(stablehlo::SortOp sort) {
  Block &body = sort.getComparator().front();
  auto compare =
      body.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getLhs() != body.getArgument(0) ||
      compare.getRhs() != body.getArgument(1))
    return std::nullopt;
  switch (compare.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::LT:
    return true;
  case stablehlo::ComparisonDirection::GT:
    return false;
  default:
    return std::nullopt;
  }
}

/// True if one of the few ops before `value` sums over a dim that `value`
/// lacks: what distances are made of, of differences or of each point alone.
/// Other sums need no closer look.
static bool hasInnerSum(Value value) {
  return isBefore(value, 48, [&](Operation *op) {
    auto summed = isa<stablehlo::ReduceOp>(op) ? typeOf(op->getOperand(0))
                                               : RankedTensorType();
    return summed && (summed.getRank() == typeOf(value).getRank() + 1 ||
                      summed.getRank() == typeOf(value).getRank());
  });
}

/// Fills in what `op` does with its rows; the dim of keys of its operand, or
/// -1.
static int64_t readSink(Operation *op, bool scoreSide, Pairs &pairs) {
  pairs.scores =
      op->getNumOperands() > 0 ? op->getOperand(scoreSide ? 1 : 0) : Value();
  auto type = pairs.scores ? typeOf(pairs.scores) : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getRank() < 2 ||
      !type.getElementType().isIntOrFloat())
    return -1;
  int64_t last = type.getRank() - 1;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    ArrayRef<int64_t> keys = dotOperand(dot, scoreSide).contracting;
    if (keys.size() != 1 || !isa<FloatType>(type.getElementType()) ||
        !hasInnerSum(pairs.scores))
      return -1;
    pairs.combine = spmd::PairCombine::Sum;
    pairs.outputs = {dot.getResult()};
    return keys.front();
  }
  if (auto topK = dyn_cast<chlo::TopKOp>(op)) {
    if (!typeOf(op->getResult(1)).getElementType().isInteger(32))
      return -1;
    pairs.outputs = {op->getResult(0), op->getResult(1)};
    pairs.count = typeOf(op->getResult(0)).getDimSize(last);
    return last;
  }
  if (auto sort = dyn_cast<stablehlo::SortOp>(op)) {
    std::optional<bool> ascending = isAscending(sort);
    if (op->getNumOperands() != 1 || int64_t(sort.getDimension()) != last ||
        !ascending || !op->getResult(0).hasOneUse())
      return -1;
    auto slice = dyn_cast<stablehlo::SliceOp>(*op->getResult(0).user_begin());
    if (!slice ||
        llvm::any_of(slice.getStartIndices(),
                     [](int64_t i) { return i != 0; }) ||
        llvm::any_of(slice.getStrides(), [](int64_t i) { return i != 1; }) ||
        slice.getLimitIndices().drop_back() != type.getShape().drop_back())
      return -1;
    pairs.isNegated = *ascending;
    pairs.outputs = {slice.getResult()};
    pairs.count = slice.getLimitIndices().back();
    return last;
  }
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || op->getNumResults() != 1 ||
      reduce.getDimensions().size() != 1 || !hasInnerSum(op->getOperand(0)))
    return -1;
  Block &body = reduce.getBody().front();
  Operation *inside = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!inside || inside->getNumOperands() != 2 ||
      !isa<BlockArgument>(inside->getOperand(0)) ||
      !isa<BlockArgument>(inside->getOperand(1)) ||
      inside->getOperand(0) == inside->getOperand(1))
    return -1;
  auto init = reduce.getInitValues()[0].getDefiningOp<stablehlo::ConstantOp>();
  auto value = init ? dyn_cast<DenseElementsAttr>(Attribute(init.getValue()))
                    : DenseElementsAttr();
  if (!value || type.getElementType().isInteger(1))
    return -1;
  Attribute start = value.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(start);
  if (isa<stablehlo::AddOp>(inside)) {
    bool isZero = number ? number.getValue().isPosZero()
                         : cast<IntegerAttr>(start).getValue().isZero();
    if (!isZero)
      return -1;
    pairs.combine = spmd::PairCombine::Sum;
  } else if (isa<stablehlo::MaxOp, stablehlo::MinOp>(inside)) {
    bool isMax = isa<stablehlo::MaxOp>(inside);
    if (!number || !number.getValue().isInfinity() ||
        number.getValue().isNegative() != isMax)
      return -1;
    pairs.combine = isMax ? spmd::PairCombine::Max : spmd::PairCombine::Min;
  } else {
    return -1;
  }
  pairs.outputs = {op->getResult(0)};
  return reduce.getDimensions()[0];
}

/// The layouts of the operand that `dot` weighs with scores and of the result
/// where scores have `layout`; false where more than one dim is along neither.
static bool readValue(stablehlo::DotGeneralOp dot, bool scoreSide,
                      const Layout &layout, Pairs &pairs) {
  DotOperand scores = dotOperand(dot, scoreSide),
             weighed = dotOperand(dot, !scoreSide);
  Value value = weighed.value;
  if (!isa<FloatType>(typeOf(value).getElementType()) ||
      !typeOf(value).hasStaticShape())
    return false;
  Layout valueLayout(typeOf(value).getRank()), scoreFree, valueFree;
  pairs.rows.clear();
  for (auto [mine, other] : llvm::zip(scores.batching, weighed.batching)) {
    valueLayout[other] = layout[mine];
    pairs.rows.push_back(layout[mine]);
  }
  valueLayout[weighed.contracting.front()] = {pairs.key};
  for (int64_t dim : scores.free)
    scoreFree.push_back(layout[dim]);
  for (int64_t dim : weighed.free) {
    auto &parts = valueFree.emplace_back();
    int64_t size = typeOf(value).getDimSize(dim);
    if (size == 1)
      continue;
    if (pairs.feature != kNoFeature)
      return false;
    pairs.feature = kFirstFeature;
    pairs.reader->setSize(kFirstFeature, size);
    parts.push_back(kFirstFeature);
    valueLayout[dim] = parts;
  }
  llvm::append_range(pairs.rows, scoreSide ? valueFree : scoreFree);
  llvm::append_range(pairs.rows, scoreSide ? scoreFree : valueFree);
  pairs.value = pairs.reader->rootOf(value, valueLayout);
  return !pairs.reader->split && (dimsIn(pairs.value.layout) & bit(pairs.key));
}

/// The two elements of pairs that `raw` sums over depth.
static std::optional<std::pair<TermId, TermId>> elementsOf(const Pairs &pairs,
                                                           const Term &raw) {
  SmallVector<TermId> terms;
  pairs.algebra->collectTerms(raw.arguments[0], terms);
  std::optional<TermId> query, key;
  for (TermId id : terms) {
    const Term &term = pairs.algebra->getTerm(id);
    if (term.kind == TermKind::Function)
      continue;
    if (term.kind != TermKind::Leaf || term.isBool ||
        !(term.dims & bit(kDepth)))
      return std::nullopt;
    std::optional<TermId> &side = term.dims & bit(pairs.key) ? key : query;
    if (side)
      return std::nullopt;
    side = id;
  }
  if (!query || !key)
    return std::nullopt;
  return std::pair(*query, *key);
}

/// True if every number in the score is whole and small, so that f32 holds it.
static bool isWhole(const Pairs &pairs, PolyId poly, bool isSum) {
  const Algebra &algebra = *pairs.algebra;
  int64_t keys = pairs.reader->sizeOf(pairs.key);
  return llvm::all_of(algebra.get(poly), [&](const Monomial &monomial) {
    if (monomial.coefficient != double(int64_t(monomial.coefficient)) ||
        std::abs(monomial.coefficient) * double(isSum ? keys : 1) >=
            double(kExact))
      return false;
    return llvm::all_of(monomial.factors, [&](auto &factor) {
      const Term &term = algebra.getTerm(factor.first);
      if (term.isBool)
        return true;
      if (isSum || factor.second != 1 || monomial.factors.size() != 1)
        return false;
      if (term.kind == TermKind::Position)
        return pairs.reader->sizeOf(term.dim) * std::abs(monomial.coefficient) <
               double(kExact);
      return term.kind == TermKind::Function &&
             term.name == "stablehlo.select" &&
             isWhole(pairs, term.arguments[1], false) &&
             isWhole(pairs, term.arguments[2], false);
    });
  });
}

PolyId raise::withDifference(Algebra &algebra, PolyId poly,
                             MLIRContext *context) {
  SmallVector<TermId> leaves;
  for (const Monomial &monomial : algebra.get(poly))
    for (auto [id, power] : monomial.factors)
      if (const Term &term = algebra.getTerm(id);
          power == 1 && term.kind == TermKind::Leaf && !term.isBool &&
          !llvm::is_contained(leaves, id))
        leaves.push_back(id);
  // What `poly` is `leaf` times, of the parts that have it; nullopt where a
  // part has neither.
  auto partsOf = [&](TermId leaf, TermId other) -> std::optional<PolyId> {
    Poly parts;
    for (const Monomial &monomial : algebra.get(poly)) {
      int mine = Algebra::powerOf(monomial, leaf),
          its = Algebra::powerOf(monomial, other);
      if (mine + its != 1 || mine * its != 0)
        return std::nullopt;
      if (mine)
        parts.push_back(algebra.times(monomial, leaf, -1));
    }
    return parts.empty() ? std::nullopt
                         : std::optional(algebra.intern(std::move(parts)));
  };
  for (TermId first : leaves)
    for (TermId second : leaves) {
      if (first >= second)
        continue;
      std::optional<PolyId> a = partsOf(first, second),
                            b = partsOf(second, first);
      if (!a || !b)
        continue;
      double ratio =
          algebra.get(*b)[0].coefficient / algebra.get(*a)[0].coefficient;
      if (!algebra.isNear(algebra.scale(*a, ratio), *b))
        continue;
      bool isDifference = ratio == -1;
      Term sum{TermKind::Function};
      sum.name = StringAttr::get(context, isDifference ? "stablehlo.subtract"
                                                       : "stablehlo.add");
      sum.attributes = DictionaryAttr::get(context);
      sum.arguments = {
          algebra.ofTerm(first),
          algebra.scale(algebra.ofTerm(second), isDifference ? 1 : ratio)};
      sum.type = Float32Type::get(context);
      sum.argumentTypes = {sum.type, sum.type};
      sum.dims = algebra.getTerm(first).dims | algebra.getTerm(second).dims;
      return algebra.multiply(*a, algebra.term(std::move(sum)));
    }
  return poly;
}

/// Iteration dims for the scores' dims: `layout` and `sizes`. Returns those of
/// rows; 0 if there are too many, or no rows or one key.
static DimSet layOut(int64_t keyDim, Pairs &pairs, Layout &layout,
                     std::vector<int64_t> &sizes) {
  DimSet rowDims = 0;
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(typeOf(pairs.scores).getShape())) {
    auto &parts = layout.emplace_back();
    if (size == 1 && int64_t(dim) != keyDim)
      continue;
    if (next >= kFirstFeature)
      return 0;
    sizes[next] = size;
    parts.push_back(next);
    if (int64_t(dim) == keyDim)
      pairs.key = next;
    else
      rowDims |= bit(next);
    ++next;
  }
  if (sizes[pairs.key] == 1)
    return 0;
  for (auto [dim, parts] : llvm::enumerate(layout))
    if (int64_t(dim) != keyDim)
      pairs.rows.push_back(parts);
  return rowDims;
}

/// The one product, or sum over depth, among `terms`; nothing if there are
/// others, or sums over keys.
static std::optional<TermId> onlyProduct(const Algebra &algebra,
                                         ArrayRef<TermId> terms) {
  std::optional<TermId> raw;
  for (TermId id : terms) {
    const Term &term = algebra.getTerm(id);
    if (term.kind == TermKind::Dot || term.kind == TermKind::PairSum) {
      if (raw || !term.tensor)
        return std::nullopt;
      raw = id;
    }
    if (term.kind == TermKind::SumOverKey || term.kind == TermKind::MaxOverKey)
      return std::nullopt;
  }
  return raw;
}

/// Finds the tensors that the scores' product, or sum over depth, is of. False
/// if there are none.
static bool findRoots(Pairs &pairs, ArrayRef<TermId> terms, DimSet rowDims) {
  Algebra &algebra = *pairs.algebra;
  Term term = algebra.getTerm(pairs.raw);
  if (term.kind != TermKind::Dot) {
    pairs.elements = elementsOf(pairs, term);
    if (!pairs.elements)
      return false;
    auto root = [&](TermId id) {
      return Root{algebra.getTerm(id).tensor, algebra.getTerm(id).tensorLayout};
    };
    pairs.queryRoot = root(pairs.elements->first);
    pairs.keyRoot = root(pairs.elements->second);
    return true;
  }
  stablehlo::DotGeneralOp dot = findDot(term);
  if (!dot)
    return false;
  std::tie(pairs.queryRoot, pairs.keyRoot) =
      rootsOf(dot, term.tensorLayout, pairs.key, *pairs.reader);
  // A number of each query, and one of each key; batch dims both may have.
  DimSet ofQueries = rowDims & ~dimsIn(pairs.keyRoot.layout);
  auto hasNumber = [&](bool isKey) {
    return llvm::any_of(terms, [&](TermId id) {
      const Term &leaf = algebra.getTerm(id);
      return leaf.kind == TermKind::Leaf && !(leaf.dims & bit(kDepth)) &&
             bool(leaf.dims & bit(pairs.key)) == isKey &&
             bool(leaf.dims & ofQueries) != isKey;
    });
  };
  return hasNumber(false) && hasNumber(true);
}

/// Whether queries, keys and scores have types that pairs are made of.
static bool haveTypes(const Pairs &pairs) {
  Type element = typeOf(pairs.scores).getElementType(),
       query = typeOf(pairs.queryRoot.value).getElementType();
  if (!isa<FloatType>(query) ||
      !isa<FloatType>(typeOf(pairs.keyRoot.value).getElementType()))
    return false;
  if (pairs.value.value &&
      typeOf(pairs.value.value).getElementType().isF64() != element.isF64())
    return false;
  if (isa<FloatType>(element))
    return element.isF64() == query.isF64();
  return element.isSignlessInteger() &&
         isWhole(pairs, pairs.score, pairs.combine == spmd::PairCombine::Sum);
}

std::optional<Pairs>
raise::matchPairs(Operation *op, const Numbering &numbering, bool scoreSide) {
  Pairs pairs;
  pairs.combine = spmd::PairCombine::TopK;
  pairs.op = op;
  int64_t keyDim = readSink(op, scoreSide, pairs);
  if (keyDim < 0)
    return std::nullopt;
  std::vector<int64_t> sizes(64, 1);
  Layout layout;
  DimSet rowDims = layOut(keyDim, pairs, layout, sizes);
  if (!rowDims)
    return std::nullopt;
  pairs.algebra =
      std::make_unique<Algebra>(bit(pairs.key), double(sizes[pairs.key]));
  pairs.reader = std::make_unique<Reader>(*pairs.algebra, numbering, sizes,
                                          bit(pairs.key), rowDims);
  Algebra &algebra = *pairs.algebra;
  pairs.reader->seesRowSums = false;
  pairs.reader->mostProducts = kMostProducts;
  pairs.score = pairs.reader->read(pairs.scores, layout);
  if (pairs.reader->split || pairs.reader->hasTooManyProducts())
    return std::nullopt;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
      dot && !readValue(dot, scoreSide, layout, pairs))
    return std::nullopt;

  if (pairs.combine == spmd::PairCombine::Sum)
    pairs.score = withDifference(algebra, pairs.score, op->getContext());
  SmallVector<TermId> terms;
  algebra.collectTerms(pairs.score, terms);
  std::optional<TermId> raw = onlyProduct(algebra, terms);
  if (!raw)
    return std::nullopt;
  pairs.raw = *raw;
  if (!findRoots(pairs, terms, rowDims))
    return std::nullopt;
  DimSet queryDims = dimsIn(pairs.queryRoot.layout),
         keyDims = dimsIn(pairs.keyRoot.layout);
  DimSet bound = ~(bit(kFirstBoundDim) - 1);
  if (pairs.reader->split || (queryDims & bit(pairs.key)) ||
      !(keyDims & bit(pairs.key)) || (queryDims & bound) != bit(kDepth) ||
      (keyDims & bound) != bit(kDepth))
    return std::nullopt;
  pairs.query = longestOf(queryDims & rowDims & ~keyDims, *pairs.reader);
  if (pairs.query == kNoQuery)
    return std::nullopt;
  for (unsigned part : flatten(pairs.rows))
    if (part != pairs.query && part < kFirstFeature)
      pairs.batch.push_back(part);
  return haveTypes(pairs) ? std::optional(std::move(pairs)) : std::nullopt;
}
