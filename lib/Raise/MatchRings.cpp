//===- MatchRings.cpp - Attention round a ring in expressions -------------===//
//
// The output of a ring is Σ_i Total^-1 Σ_k Exp[s_i] v_i over blocks i, whatever was subtracted from scores and rescaled on
// the way, and Total is Σ_i Σ_k Exp[s_i]. All blocks must be one score of whole tensors, and each rank must meet all.
// What a gradient has to be follows from that; it is compared with what the program has.
//
//===----------------------------------------------------------------------===//
#include "MatchRings.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// The value inside of the region that `result` is.
static Value innerOf(OpResult result) {
  return cast<spmd::ManualOp>(result.getOwner()).getBody().front().getTerminator()->getOperand(result.getResultNumber());
}

static Layout renamed(Layout layout, unsigned from, unsigned to) {
  for (auto &dim : layout)
    for (unsigned &part : dim)
      if (part == from)
        part = to;
  return layout;
}

/// The two blocks whose product over depth `term` is, the one along keys last; their terms.
static std::optional<std::pair<TermId, TermId>> productOf(const Ring &ring, const Term &term, DimSet key) {
  const Algebra &algebra = *ring.algebra;
  if (term.kind != TermKind::SumOverKey || algebra.get(term.arguments[0]).size() != 1)
    return std::nullopt;
  const Monomial &body = algebra.get(term.arguments[0])[0];
  if (body.factors.size() != 2 || body.coefficient != 1)
    return std::nullopt;
  for (auto [id, power] : body.factors)
    if (power != 1 || !ring.reader->leafOf(algebra.getTerm(id)))
      return std::nullopt;
  TermId first = body.factors[0].first, second = body.factors[1].first;
  if (algebra.getTerm(first).dims & key)
    std::swap(first, second);
  if ((algebra.getTerm(first).dims & key) || !(algebra.getTerm(second).dims & key))
    return std::nullopt;
  return std::pair(first, second);
}

/// Takes note of the axes that cut the dims of `operand`; false where they cut the same dim otherwise.
static bool takeCuts(Ring &ring, const RingOperand &operand) {
  for (auto [dim, sharding] : llvm::zip(operand.layout, operand.sharding.getDims())) {
    SmallVector<StringAttr> axes(sharding.getAxes());
    if (dim.size() != 1) {
      if (!axes.empty())
        return false;
      for (unsigned part : dim)
        if (!ring.cuts.try_emplace(part, axes).first->second.empty())
          return false;
      continue;
    }
    if (ring.cuts.try_emplace(dim[0], axes).first->second != axes)
      return false;
  }
  return operand.sharding.getPartial().empty();
}

static RingOperand operandOf(const Ring &ring, TermId id, unsigned bound, unsigned free) {
  const Term &term = ring.algebra->getTerm(id);
  const BlockLeaf *leaf = ring.reader->leafOf(term);
  return {leaf->value, leaf->sharding, renamed(term.layouts[0], bound, free)};
}

/// `poly`, of the block that `block` is, on whole tensors; nullopt where it depends on the block otherwise.
static std::optional<PolyId> onWhole(Ring &ring, PolyId poly, const RingBlock &block) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  bool isWhole = true;
  PolyId result = algebra.rebuild(poly, [&](TermId id) -> std::optional<PolyId> {
    Term term = algebra.getTerm(id);
    if (const BlockLeaf *found = reader.leafOf(term)) {
      BlockLeaf leaf = *found;
      const RankTable &source = term.dims & bit(kRingKey) ? block.source : reader.identity();
      isWhole &= leaf.sharding && leaf.blocks == reader.blocksOf(leaf.sharding, source) &&
                 takeCuts(ring, {leaf.value, leaf.sharding, renamed(term.layouts[0], kFirstBoundDim, kRingDepth)});
      return isWhole ? reader.makeLeaf(leaf.value, leaf.sharding, reader.identity(), term.layouts[0]) : algebra.number(0);
    }
    if (term.kind == TermKind::Position) {
      const RankTable *table = reader.tableOf(term);
      bool isKey = term.dim == kRingKey, isQuery = term.dim == ring.queryDim;
      if (table && (isKey || isQuery))
        isWhole &= *table == reader.blocksAlong(ring.axes, isKey ? block.source : reader.identity());
      else
        isWhole &= !table && !isKey && !isQuery && (!ring.cuts.count(term.dim) || ring.cuts[term.dim].empty());
      term.values.clear();
      return algebra.term(std::move(term));
    }
    isWhole &= !algebra.isStatistic(id);
    return std::nullopt;
  });
  return isWhole ? std::optional(result) : std::nullopt;
}

/// Takes the monomial `part` of an output as one more block.
static bool addBlock(Ring &ring, Monomial part, RingMiss &miss) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  auto isNone = [&](StringRef why) {
    miss.why = why.str();
    return false;
  };
  std::optional<TermId> total, sum;
  for (auto [id, power] : part.factors) {
    TermKind kind = algebra.getTerm(id).kind;
    (kind == TermKind::Total && power == -1 ? total : sum) = id;
  }
  if (!total || !sum || part.factors.size() != 2 || std::abs(part.coefficient - 1) > 1e-6 || algebra.getTerm(*sum).kind != TermKind::SumOverKey)
    return isNone("what it gives is not divided by the sum of all blocks' exponentials alone");
  if (!ring.blocks.empty() && ring.total != *total)
    return isNone("blocks are divided by different sums");
  ring.total = *total;
  Term summed = algebra.getTerm(*sum);
  Poly body = algebra.get(algebra.rename(summed.arguments[0], summed.dim, kRingKey));
  RingBlock block;
  std::optional<TermId> exp, value;
  Monomial condition{1, {}};
  for (auto [id, power] : body.front().factors) {
    if (power == 1 && algebra.getTerm(id).kind == TermKind::Exp && !exp)
      exp = id;
    else if (power == 1 && algebra.getTerm(id).isBool)
      condition = algebra.times(std::move(condition), id, 1);
    else if (power == 1 && reader.leafOf(algebra.getTerm(id)) && !value)
      value = id;
    else
      return isNone("something besides a softmax weighs the values");
  }
  if (!exp || !value || body.size() != 1 || body.front().coefficient != 1)
    return isNone("its values are not weighed with exponentials alone");
  block.exp = *exp;
  block.weight = algebra.multiply(algebra.intern({condition}), algebra.ofTerm(*exp));
  block.value = algebra.ofTerm(*value);
  PolyId score = algebra.getTerm(*exp).arguments[0];
  if (!condition.factors.empty())
    score = onlyWhere(algebra, algebra.intern({condition}), score, miss.op);
  SmallVector<TermId> terms;
  algebra.collectTerms(score, terms);
  std::optional<std::pair<TermId, TermId>> product;
  for (TermId id : terms)
    if (std::optional<std::pair<TermId, TermId>> found = productOf(ring, algebra.getTerm(id), bit(kRingKey))) {
      if (product)
        return isNone("its scores hold several products");
      product = found;
      block.raw = id;
    }
  if (!product)
    return isNone("its scores are no product of queries and keys from outside of the region");
  unsigned bound = algebra.getTerm(block.raw).dim;
  RingOperand query = operandOf(ring, product->first, bound, kRingDepth), key = operandOf(ring, product->second, bound, kRingDepth),
              values = operandOf(ring, *value, kRingKey, kRingKey);
  BlockLeaf queryLeaf = *reader.leafOf(algebra.getTerm(product->first)), keyLeaf = *reader.leafOf(algebra.getTerm(product->second)),
            valueLeaf = *reader.leafOf(algebra.getTerm(*value));
  if (!query.sharding || !key.sharding || !values.sharding)
    return isNone("queries, keys or values are made inside of the region");
  block.source = keyLeaf.source;
  block.key = algebra.rename(algebra.ofTerm(product->second), bound, kRingDepth);
  if (ring.blocks.empty()) {
    ring.query = query;
    ring.key = key;
    ring.value = values;
    for (auto [dim, sharding] : llvm::zip(key.layout, key.sharding.getDims()))
      if (llvm::is_contained(dim, kRingKey))
        llvm::append_range(ring.axes, sharding.getAxes());
    for (auto [dim, sharding] : llvm::zip(query.layout, query.sharding.getDims()))
      if (!ring.axes.empty() && ArrayRef(ring.axes) == sharding.getAxes() && dim.size() == 1)
        ring.queryDim = dim[0];
    for (unsigned part : flatten(values.layout))
      if (part != kRingKey && !llvm::is_contained(flatten(query.layout), part) && !llvm::is_contained(flatten(key.layout), part))
        ring.featureDim = part;
    for (const RingOperand &operand : {key, query})
      for (auto [dim, sharding] : llvm::enumerate(operand.sharding.getDims()))
        if (operand.layout[dim].size() == 1)
          reader.setSize(operand.layout[dim][0], typeOf(operand.value).getDimSize(dim) / reader.countBlocks(sharding.getAxes()));
    if (ring.queryDim == kNoQuery)
      return isNone("its queries are not cut along the axes of its keys");
  } else if (query.value != ring.query.value || key.value != ring.key.value || values.value != ring.value.value ||
             query.layout != ring.query.layout || key.layout != ring.key.layout || values.layout != ring.value.layout) {
    return isNone("blocks are of different tensors");
  }
  if (!takeCuts(ring, query) || !takeCuts(ring, key) || !takeCuts(ring, values) || ArrayRef(ring.cuts[kRingKey]) != ArrayRef(ring.axes))
    return isNone("its tensors are cut differently along the same dim");
  SmallVector<StringAttr> others;
  for (spmd::ShardingAttr sharding : {key.sharding, values.sharding})
    for (spmd::DimShardingAttr dim : sharding.getDims())
      for (StringAttr axis : dim.getAxes())
        if (!llvm::is_contained(ring.axes, axis))
          others.push_back(axis);
  RankTable here = reader.identity();
  if (queryLeaf.blocks != reader.blocksOf(query.sharding, here) || valueLeaf.blocks != reader.blocksOf(values.sharding, block.source) ||
      reader.blocksAlong(others, block.source) != reader.blocksAlong(others, here))
    return isNone("keys and values of a block are not of one rank, or queries travel");
  std::optional<PolyId> whole = onWhole(ring, score, block);
  if (!whole || (!ring.blocks.empty() && !algebra.isNear(*whole, ring.score)))
    return isNone("scores of its blocks are not one function of positions in the whole");
  ring.score = *whole;
  ring.raw = *algebra.singleTerm(*onWhole(ring, algebra.ofTerm(block.raw), block));
  ring.blocks.push_back(std::move(block));
  return true;
}

/// True if each rank meets each block once.
static bool meetsAll(const Ring &ring, spmd::MeshAttr mesh) {
  int64_t count = ring.reader->countBlocks(ring.axes);
  std::vector<RankTable> met;
  for (const RingBlock &block : ring.blocks)
    met.push_back(ring.reader->blocksAlong(ring.axes, block.source));
  if (int64_t(met.size()) != count)
    return false;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    std::set<int64_t> blocks;
    for (const RankTable &table : met)
      blocks.insert(table[rank]);
    if (int64_t(blocks.size()) != count)
      return false;
  }
  return true;
}

/// True if each row of scores has a key that counts, as far as that can be known.
static bool hasKeys(Ring &ring) {
  Algebra &algebra = *ring.algebra;
  SmallVector<TermId> terms;
  algebra.collectTerms(ring.score, terms);
  bool isFinite = true;
  for (TermId id : terms) {
    const Term &term = algebra.getTerm(id);
    isFinite &= term.kind != TermKind::Leaf || term.isBool || (term.dims & bit(kFirstBoundDim));
    for (PolyId argument : term.arguments)
      isFinite &= llvm::all_of(algebra.get(argument), [](const Monomial &part) { return std::isfinite(part.coefficient); });
  }
  if (isFinite)
    return true;
  Forward whole;
  whole.algebra = std::move(ring.algebra);
  whole.reader.reset(ring.reader.release());
  whole.score = ring.score;
  whole.raw = ring.raw;
  whole.query = ring.queryDim;
  whole.key = kRingKey;
  int64_t queries = whole.reader->sizeOf(whole.query), keys = whole.reader->sizeOf(kRingKey), blocks = ring.blocks.size();
  whole.reader->setSize(whole.query, queries * blocks);
  whole.reader->setSize(kRingKey, keys * blocks);
  findBand(whole);
  whole.reader->setSize(whole.query, queries);
  whole.reader->setSize(kRingKey, keys);
  ring.algebra = std::move(whole.algebra);
  ring.reader.reset(static_cast<BlockReader *>(whole.reader.release()));
  return (whole.bandLower || whole.bandUpper) && whole.isBandAll;
}

std::optional<Ring> raise::matchRing(OpResult result, const Numbering &numbering, spmd::MeshAttr mesh, RingMiss &miss) {
  Value inner = innerOf(result);
  auto type = typeOf(inner);
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  SmallVector<SmallVector<int64_t, 2>> dims;
  for (int64_t size : type.getShape())
    dims.push_back({size});
  for (int attempt = 0; attempt < 8; ++attempt) {
    Ring ring;
    ring.algebra = std::make_unique<Algebra>(0, 1);
    ring.reader = std::make_unique<BlockReader>(*ring.algebra, numbering, mesh);
    unsigned next = 0;
    for (const auto &parts : dims) {
      auto &dim = ring.outputLayout.emplace_back();
      for (int64_t size : parts)
        if (size != 1 && next < kFirstFeature) {
          ring.reader->setSize(next, size);
          dim.push_back(next++);
        }
    }
    PolyId poly = ring.reader->read(inner, ring.outputLayout);
    if (auto split = ring.reader->split) {
      unsigned number = split->first;
      for (auto &parts : dims)
        for (size_t i = 0; i < parts.size(); ++i) {
          if (parts[i] == 1 || number-- != 0)
            continue;
          parts[i] /= split->second;
          parts.insert(parts.begin() + i, split->second);
          break;
        }
      continue;
    }
    miss.op = ring.reader->stopped ? ring.reader->stopped : result.getOwner();
    Poly parts = ring.algebra->get(poly);
    if (parts.empty())
      return std::nullopt;
    for (const Monomial &part : parts) {
      if (!addBlock(ring, part, miss)) {
        if (Operation *stopped = ring.reader->stopped)
          miss.why += ("; '" + stopped->getName().getStringRef() + "' is not seen through").str();
        return std::nullopt;
      }
      ++miss.steps;
    }
    if (!meetsAll(ring, mesh)) {
      miss.why = "ranks do not meet each block once";
      return std::nullopt;
    }
    Algebra &algebra = *ring.algebra;
    PolyId sum = algebra.number(0);
    for (const RingBlock &block : ring.blocks)
      sum = algebra.add(sum, algebra.sumOver(kRingKey, 1, block.weight));
    if (sum != algebra.ofTerm(ring.total)) {
      miss.why = "it is divided by something else than the sum of all its exponentials";
      return std::nullopt;
    }
    if (ring.reader->isGuarded && !hasKeys(ring)) {
      miss.why = "it guards against rows without a key, and there may be some";
      return std::nullopt;
    }
    return ring;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// What gradients of a ring for one cotangent are made of.
struct Slopes {
  Ring &ring;
  Algebra &algebra;
  RingOperand cotangent;
  PolyId dout;
  std::vector<PolyId> products;
  PolyId delta = 0;

  Slopes(Ring &ring, const RingOperand &cotangent)
      : ring(ring), algebra(*ring.algebra), cotangent(cotangent),
        dout(ring.reader->makeLeaf(cotangent.value, cotangent.sharding, ring.reader->identity(), cotangent.layout)) {
    delta = algebra.number(0);
    for (const RingBlock &block : ring.blocks) {
      PolyId product = algebra.multiply(dout, block.value);
      if (ring.featureDim != kNoFeature)
        product = algebra.sumOver(ring.featureDim, 1, product);
      products.push_back(product);
      delta = algebra.add(delta, algebra.sumOver(kRingKey, 1, algebra.multiply(block.weight, product)));
    }
  }
  /// Exp[s] slope (dp / total - delta / total^2) of block `i`.
  PolyId scores(size_t i, PolyId slope) {
    PolyId dp = algebra.multiply(products[i], algebra.ofTerm(ring.total, -1));
    PolyId inner = algebra.add(dp, algebra.multiply(delta, algebra.ofTerm(ring.total, -2)), -1);
    return algebra.multiply(algebra.multiply(ring.blocks[i].weight, slope), inner);
  }
};
} // namespace

/// The cotangent in `gradient`: what is multiplied with values, or, if there is none, with p.
static std::optional<RingOperand> findCotangent(Ring &ring, PolyId gradient, const Numbering &numbering) {
  Algebra &algebra = *ring.algebra;
  SmallVector<TermId> terms;
  algebra.collectTerms(gradient, terms);
  for (TermId id : terms) {
    Term term = algebra.getTerm(id);
    if (term.kind != TermKind::SumOverKey || algebra.isStatistic(id) || algebra.get(term.arguments[0]).size() != 1)
      continue;
    const Monomial &body = algebra.get(term.arguments[0])[0];
    if (body.factors.size() != 2)
      continue;
    for (bool side : {false, true}) {
      const Term &mine = algebra.getTerm(body.factors[side].first), &other = algebra.getTerm(body.factors[!side].first);
      const BlockLeaf *values = ring.reader->leafOf(mine), *dout = ring.reader->leafOf(other);
      if (!values || !dout || !dout->sharding || !values->sharding || numbering.of(values->value) != numbering.of(ring.value.value) ||
          values->sharding != ring.value.sharding || numbering.of(dout->value) == numbering.of(ring.value.value))
        continue;
      // Values summed over their features.
      bool isFeature = false;
      for (auto [dim, parts] : llvm::enumerate(mine.layouts[0]))
        isFeature |= llvm::is_contained(parts, term.dim) && llvm::is_contained(ring.value.layout[dim], ring.featureDim);
      if (isFeature)
        return RingOperand{dout->value, dout->sharding, renamed(other.layouts[0], term.dim, ring.featureDim)};
    }
  }
  return std::nullopt;
}

/// `poly` summed over all dims that `layout` lacks, and moved to where the keys of `block` are.
static PolyId atKeys(Ring &ring, PolyId poly, const RingBlock &block, const Layout &layout) {
  RankTable back(block.source.size());
  for (auto [rank, source] : llvm::enumerate(block.source))
    back[source] = rank;
  poly = ring.reader->onRank(poly, back);
  DimSet kept = dimsIn(layout);
  for (unsigned dim = 0; dim < kFirstBoundDim; ++dim)
    if ((ring.algebra->dimsOf(poly) & bit(dim)) && !(kept & bit(dim)))
      poly = ring.algebra->sumOver(dim, 1, poly);
  return poly;
}

/// The slope in `gradient`, of queries: what Total^-1 Σ_k Exp[s_i] dp_i k_i is multiplied with in the first block.
static std::optional<PolyId> findSlope(Slopes &slopes, PolyId gradient) {
  Algebra &algebra = slopes.algebra;
  Ring &ring = slopes.ring;
  const RingBlock &block = ring.blocks.front();
  std::optional<TermId> product = algebra.singleTerm(slopes.products.front()), key = algebra.singleTerm(block.key);
  if (!product || !key)
    return std::nullopt;
  Poly slope, parts = algebra.get(gradient);
  for (const Monomial &part : parts) {
    if (Algebra::powerOf(part, ring.total) != -1)
      continue;
    Monomial outside = algebra.times(part, ring.total, 1);
    auto sum = llvm::find_if(outside.factors, [&](auto &factor) {
      return factor.second == 1 && algebra.getTerm(factor.first).kind == TermKind::SumOverKey;
    });
    if (sum == outside.factors.end())
      continue;
    Term summed = algebra.getTerm(sum->first);
    outside = algebra.times(outside, sum->first, -1);
    Poly body = algebra.get(algebra.rename(summed.arguments[0], summed.dim, kRingKey));
    if (body.size() != 1 || Algebra::powerOf(body[0], block.exp) != 1 || Algebra::powerOf(body[0], *product) != 1 ||
        Algebra::powerOf(body[0], *key) != 1)
      continue;
    Monomial factor = body[0];
    for (TermId id : {block.exp, *product, *key})
      factor = algebra.times(std::move(factor), id, -1);
    slope.push_back(algebra.times(factor, outside));
  }
  if (slope.empty())
    return std::nullopt;
  return algebra.intern(std::move(slope));
}

std::optional<RingGradient> raise::matchRingGradient(OpResult result, Ring &ring, const Numbering &numbering,
                                                     ArrayRef<RingGradient> known) {
  Algebra &algebra = *ring.algebra;
  Value inner = innerOf(result);
  auto outSharding = cast<spmd::ShardingAttr>(cast<spmd::ManualOp>(result.getOwner()).getOutShardings()[result.getResultNumber()]);
  auto tryRead = [&](const RingOperand &operand) -> std::optional<PolyId> {
    if (result.getType() != operand.value.getType() || outSharding.getDims() != operand.sharding.getDims())
      return std::nullopt;
    PolyId poly = algebra.intern(Poly(algebra.get(ring.reader->read(inner, operand.layout))));
    bool isCut = ring.reader->split.has_value();
    ring.reader->split.reset();
    return isCut || algebra.get(poly).empty() ? std::nullopt : std::optional(poly);
  };
  // Slopes in a block, as whole tensors have them, and back.
  auto slopeIn = [&](PolyId whole, const RingBlock &block) {
    return algebra.rebuild(whole, [&](TermId id) -> std::optional<PolyId> {
      Term term = algebra.getTerm(id);
      BlockReader &reader = *ring.reader;
      if (id == ring.raw)
        return algebra.ofTerm(block.raw);
      if (const BlockLeaf *leaf = reader.leafOf(term)) {
        BlockLeaf copy = *leaf;
        return reader.makeLeaf(copy.value, copy.sharding, term.dims & bit(kRingKey) ? block.source : reader.identity(), term.layouts[0]);
      }
      if (term.kind == TermKind::Position && (term.dim == kRingKey || term.dim == ring.queryDim))
        return reader.place(term.dim, reader.blocksAlong(ring.axes, term.dim == kRingKey ? block.source : reader.identity()));
      return std::nullopt;
    });
  };
  auto isQuery = [&](Slopes &slopes, PolyId poly, PolyId whole) {
    PolyId expected = algebra.number(0);
    for (auto [i, block] : llvm::enumerate(ring.blocks))
      expected = algebra.add(
          expected, algebra.sumOver(kRingKey, 1, algebra.multiply(slopes.scores(i, slopeIn(whole, block)), block.key)));
    return algebra.isNear(expected, poly);
  };
  if (std::optional<PolyId> poly = tryRead(ring.query)) {
    if (std::optional<RingOperand> dout = findCotangent(ring, *poly, numbering); dout && takeCuts(ring, *dout)) {
      Slopes slopes(ring, *dout);
      std::optional<PolyId> slope = findSlope(slopes, *poly);
      std::optional<PolyId> whole = slope ? onWhole(ring, *slope, ring.blocks.front()) : std::nullopt;
      if (whole && isQuery(slopes, *poly, *whole))
        return RingGradient{GradientKind::Query, *dout, *whole};
    }
  }
  for (const RingGradient &other : known) {
    if (other.kind != GradientKind::Query)
      continue;
    Slopes slopes(ring, other.cotangent);
    PolyId query = ring.reader->makeLeaf(ring.query.value, ring.query.sharding, ring.reader->identity(), ring.query.layout);
    if (std::optional<PolyId> poly = tryRead(ring.key)) {
      PolyId expected = algebra.number(0);
      for (auto [i, block] : llvm::enumerate(ring.blocks)) {
        PolyId scores = algebra.multiply(slopes.scores(i, slopeIn(other.slope, block)), query);
        expected = algebra.add(expected, atKeys(ring, scores, block, ring.key.layout));
      }
      if (algebra.isNear(expected, *poly))
        return RingGradient{GradientKind::Key, other.cotangent, other.slope};
    }
    if (std::optional<PolyId> poly = tryRead(ring.value)) {
      PolyId expected = algebra.number(0);
      for (const RingBlock &block : ring.blocks) {
        PolyId p = algebra.multiply(block.weight, algebra.ofTerm(ring.total, -1));
        expected = algebra.add(expected, atKeys(ring, algebra.multiply(p, slopes.dout), block, ring.value.layout));
      }
      if (algebra.isNear(expected, *poly))
        return RingGradient{GradientKind::Value, other.cotangent, other.slope};
    }
  }
  return std::nullopt;
}
