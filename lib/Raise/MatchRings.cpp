//===- MatchRings.cpp - Attention round a ring in expressions -------------===//
//
// The output of a ring is Σ_i Total^-1 Σ_k Exp[s_i] v_i over blocks i, whatever
// was subtracted from scores and rescaled on the way, and Total is Σ_i Σ_k
// Exp[s_i]. All blocks must be one score of whole tensors, and each rank must
// use all, or all but those that the band of this score leaves out. What a
// gradient has to be follows from that; it is compared with what the program
// has.
//
//===----------------------------------------------------------------------===//
#include "MatchRings.h"
#include "RingExpressions.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Ranks of larger meshes are not read one by one: reading takes about the cube
/// of their number.
static constexpr int64_t kMostLanes = 16;

Value raise::innerOf(OpResult result) {
  return cast<spmd::ManualOp>(result.getOwner())
      .getBody()
      .front()
      .getTerminator()
      ->getOperand(result.getResultNumber());
}

Layout raise::renamed(Layout layout, unsigned from, unsigned to) {
  for (auto &dim : layout)
    for (unsigned &part : dim)
      if (part == from)
        part = to;
  return layout;
}

/// The two blocks whose product over depth `term` is, the one along keys last;
/// their terms.
static std::optional<std::pair<TermId, TermId>>
productOf(const Ring &ring, const Term &term, DimSet key) {
  const Algebra &algebra = *ring.algebra;
  if (term.kind != TermKind::SumOverKey ||
      algebra.get(term.arguments[0]).size() != 1)
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
  if ((algebra.getTerm(first).dims & key) ||
      !(algebra.getTerm(second).dims & key))
    return std::nullopt;
  return std::pair(first, second);
}

bool raise::takeCuts(Ring &ring, const RingOperand &operand) {
  for (auto [dim, sharding] :
       llvm::zip(operand.layout, operand.sharding.getDims())) {
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

static RingOperand operandOf(const Ring &ring, TermId id, unsigned bound,
                             unsigned free) {
  const Term &term = ring.algebra->getTerm(id);
  const BlockLeaf *leaf = ring.reader->leafOf(term);
  return {leaf->value, leaf->sharding, renamed(term.layouts[0], bound, free)};
}

/// Where `block` starts along `dim`, queries or keys, if one rank alone uses
/// it.
static double startOf(const Ring &ring, unsigned dim, const RingBlock &block) {
  RankTable blocks = ring.reader->blocksAlong(
      ring.axes, dim == kRingKey ? block.source : ring.lanes[block.lane]);
  return double(blocks.front()) * double(ring.reader->sizeOf(dim));
}

/// `poly` with comparisons of positions in whole tensors decided.
static PolyId decideWhole(Ring &ring, PolyId poly) {
  BlockReader &reader = *ring.reader;
  int64_t queries = reader.sizeOf(ring.queryDim),
          keys = reader.sizeOf(kRingKey),
          blocks = reader.countBlocks(ring.axes);
  reader.setSize(ring.queryDim, queries * blocks);
  reader.setSize(kRingKey, keys * blocks);
  poly = reader.decide(poly);
  reader.setSize(ring.queryDim, queries);
  reader.setSize(kRingKey, keys);
  return poly;
}

/// `poly`, of the block that `block` is, on whole tensors; nullopt where it
/// depends on the block otherwise.
static std::optional<PolyId> onWhole(Ring &ring, PolyId poly,
                                     const RingBlock &block) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  const RankTable &lane = ring.lanes[block.lane];
  bool isWhole = true, isOfOneRank = reader.isOfOneRank();
  PolyId result =
      algebra.rebuild(poly, [&](TermId id) -> std::optional<PolyId> {
        Term term = algebra.getTerm(id);
        if (const BlockLeaf *found = reader.leafOf(term)) {
          BlockLeaf leaf = *found;
          const RankTable &source =
              term.dims & bit(kRingKey) ? block.source : lane;
          isWhole &=
              leaf.sharding &&
              leaf.blocks == reader.blocksOf(leaf.sharding, source) &&
              takeCuts(ring,
                       {leaf.value, leaf.sharding,
                        renamed(term.layouts[0], kFirstBoundDim, kRingDepth)});
          return isWhole ? reader.makeLeaf(leaf.value, leaf.sharding,
                                           ring.lanes[0], term.layouts[0])
                         : algebra.number(0);
        }
        if (term.kind == TermKind::Position) {
          const RankTable *table = reader.tableOf(term);
          bool isKey = term.dim == kRingKey,
               isQuery = term.dim == ring.queryDim;
          if (isOfOneRank && !table && (isKey || isQuery))
            return algebra.add(algebra.ofTerm(id),
                               algebra.number(-startOf(ring, term.dim, block)));
          if (table && (isKey || isQuery))
            isWhole &= *table == reader.blocksAlong(
                                     ring.axes, isKey ? block.source : lane);
          else
            isWhole &=
                !table && !isKey && !isQuery &&
                (!ring.cuts.count(term.dim) || ring.cuts[term.dim].empty());
          term.values.clear();
          return algebra.term(std::move(term));
        }
        isWhole &= !algebra.isStatistic(id);
        return std::nullopt;
      });
  if (!isWhole)
    return std::nullopt;
  return isOfOneRank ? decideWhole(ring, result) : result;
}

PolyId raise::inBlock(Ring &ring, PolyId poly, const RingBlock &block) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  const RankTable &lane = ring.lanes[block.lane];
  PolyId result =
      algebra.rebuild(poly, [&](TermId id) -> std::optional<PolyId> {
        Term term = algebra.getTerm(id);
        if (id == ring.raw)
          return algebra.ofTerm(block.raw);
        if (const BlockLeaf *leaf = reader.leafOf(term)) {
          BlockLeaf copy = *leaf;
          return reader.makeLeaf(
              copy.value, copy.sharding,
              term.dims & bit(kRingKey) ? block.source : lane, term.layouts[0]);
        }
        if (term.kind != TermKind::Position ||
            (term.dim != kRingKey && term.dim != ring.queryDim))
          return std::nullopt;
        if (reader.isOfOneRank())
          return algebra.add(algebra.ofTerm(id),
                             algebra.number(startOf(ring, term.dim, block)));
        return reader.place(term.dim,
                            reader.blocksAlong(ring.axes, term.dim == kRingKey
                                                              ? block.source
                                                              : lane));
      });
  return reader.isOfOneRank() ? reader.decide(result) : result;
}

namespace {
/// The leaves that a block's sum is made of.
struct BlockParts {
  TermId value, query, key;
};
} // namespace

/// Reads `part`, a sum over keys of exp(score) times a value, divided by the
/// total. Fills total, exp, weight, value, score and raw of `block`; nothing,
/// and `miss` says why, if it is something else.
static std::optional<BlockParts> readParts(Ring &ring, const Monomial &part,
                                           RingBlock &block, RingMiss &miss) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  auto isNone = [&](StringRef why) {
    miss.why = why.str();
    return std::nullopt;
  };
  std::optional<TermId> total, sum;
  for (auto [id, power] : part.factors) {
    // The sum of one block is no total.
    TermKind kind = algebra.getTerm(id).kind;
    bool isTotal = kind == TermKind::Total || algebra.isOfSeveralBlocks(id) ||
                   (kind == TermKind::SumOverKey && reader.isOfOneRank());
    (isTotal && power == -1 ? total : sum) = id;
  }
  if (!total || !sum || part.factors.size() != 2 ||
      std::abs(part.coefficient - 1) > 1e-6 ||
      algebra.getTerm(*sum).kind != TermKind::SumOverKey)
    return isNone("what it gives is not divided by the sum of all blocks' "
                  "exponentials alone");
  if (!ring.blocks.empty() && ring.blocks.back().lane == block.lane &&
      ring.blocks.back().total != *total)
    return isNone("blocks are divided by different sums");
  block.total = *total;
  Poly body = algebra.get(algebra.bodyOf(*sum, kRingKey));
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
  block.weight =
      algebra.multiply(algebra.intern({condition}), algebra.ofTerm(*exp));
  block.value = algebra.ofTerm(*value);
  block.score = algebra.getTerm(*exp).arguments[0];
  if (!condition.factors.empty())
    block.score =
        onlyWhere(algebra, algebra.intern({condition}), block.score, miss.op);
  SmallVector<TermId> terms;
  algebra.collectTerms(block.score, terms);
  std::optional<std::pair<TermId, TermId>> product;
  for (TermId id : terms)
    if (std::optional<std::pair<TermId, TermId>> found =
            productOf(ring, algebra.getTerm(id), bit(kRingKey))) {
      if (product)
        return isNone("its scores hold several products");
      product = found;
      block.raw = id;
    }
  if (!product)
    return isNone("its scores are no product of queries and keys from outside "
                  "of the region");
  return BlockParts{*value, product->first, product->second};
}

/// Takes the tensors of the first block for those of the ring: where its axes,
/// rows and features are. False if queries are not cut along the keys' axes.
static bool takeTensors(Ring &ring, const RingOperand &query,
                        const RingOperand &key, const RingOperand &values) {
  BlockReader &reader = *ring.reader;
  ring.query = query;
  ring.key = key;
  ring.value = values;
  for (auto [dim, sharding] : llvm::zip(key.layout, key.sharding.getDims()))
    if (llvm::is_contained(dim, kRingKey))
      llvm::append_range(ring.axes, sharding.getAxes());
  for (auto [dim, sharding] : llvm::zip(query.layout, query.sharding.getDims()))
    if (!ring.axes.empty() && ArrayRef(ring.axes) == sharding.getAxes() &&
        dim.size() == 1)
      ring.queryDim = dim[0];
  for (unsigned part : flatten(values.layout))
    if (part != kRingKey && !llvm::is_contained(flatten(query.layout), part) &&
        !llvm::is_contained(flatten(key.layout), part))
      ring.featureDim = part;
  for (const RingOperand &operand : {key, query})
    for (auto [dim, sharding] : llvm::enumerate(operand.sharding.getDims()))
      if (operand.layout[dim].size() == 1)
        reader.setSize(operand.layout[dim][0],
                       typeOf(operand.value).getDimSize(dim) /
                           reader.countBlocks(sharding.getAxes()));
  return ring.queryDim != kNoQuery;
}

/// Whether `query`, `key` and `values` are the tensors of the blocks before.
static bool areTensorsOf(const Ring &ring, const RingOperand &query,
                         const RingOperand &key, const RingOperand &values) {
  return query.value == ring.query.value && key.value == ring.key.value &&
         values.value == ring.value.value &&
         query.layout == ring.query.layout && key.layout == ring.key.layout &&
         values.layout == ring.value.layout;
}

/// Takes the monomial `part` of the output of a lane as one more block.
static bool addBlock(Ring &ring, size_t lane, const Monomial &part,
                     RingMiss &miss) {
  Algebra &algebra = *ring.algebra;
  BlockReader &reader = *ring.reader;
  auto isNone = [&](StringRef why) {
    miss.why = why.str();
    return false;
  };
  RingBlock block;
  block.lane = lane;
  std::optional<BlockParts> parts = readParts(ring, part, block, miss);
  if (!parts)
    return false;
  unsigned bound = algebra.getTerm(block.raw).dim;
  RingOperand query = operandOf(ring, parts->query, bound, kRingDepth),
              key = operandOf(ring, parts->key, bound, kRingDepth),
              values = operandOf(ring, parts->value, kRingKey, kRingKey);
  BlockLeaf queryLeaf = *reader.leafOf(algebra.getTerm(parts->query)),
            keyLeaf = *reader.leafOf(algebra.getTerm(parts->key)),
            valueLeaf = *reader.leafOf(algebra.getTerm(parts->value));
  if (!query.sharding || !key.sharding || !values.sharding)
    return isNone("queries, keys or values are made inside of the region");
  block.source = keyLeaf.source;
  block.key = algebra.rename(algebra.ofTerm(parts->key), bound, kRingDepth);
  if (ring.blocks.empty()) {
    if (!takeTensors(ring, query, key, values))
      return isNone("its queries are not cut along the axes of its keys");
  } else if (!areTensorsOf(ring, query, key, values)) {
    return isNone("blocks are of different tensors");
  }
  if (!takeCuts(ring, query) || !takeCuts(ring, key) ||
      !takeCuts(ring, values) ||
      ArrayRef(ring.cuts[kRingKey]) != ArrayRef(ring.axes))
    return isNone("its tensors are cut differently along the same dim");
  SmallVector<StringAttr> others;
  for (spmd::ShardingAttr sharding : {key.sharding, values.sharding})
    for (spmd::DimShardingAttr dim : sharding.getDims())
      for (StringAttr axis : dim.getAxes())
        if (!llvm::is_contained(ring.axes, axis))
          others.push_back(axis);
  RankTable here = reader.identity();
  if (queryLeaf.blocks != reader.blocksOf(query.sharding, here) ||
      valueLeaf.blocks != reader.blocksOf(values.sharding, block.source) ||
      reader.blocksAlong(others, block.source) !=
          reader.blocksAlong(others, here))
    return isNone(
        "keys and values of a block are not of one rank, or queries travel");
  std::optional<PolyId> whole = onWhole(ring, block.score, block);
  // Of one rank's blocks, each may have its own part of the mask: see
  // unifyScores.
  if (!whole || (!ring.blocks.empty() && !reader.isOfOneRank() &&
                 !algebra.isNear(*whole, ring.score)))
    return isNone(
        "scores of its blocks are not one function of positions in the whole");
  ring.score = *whole;
  ring.raw =
      *algebra.singleTerm(*onWhole(ring, algebra.ofTerm(block.raw), block));
  ring.blocks.push_back(std::move(block));
  return true;
}

Poly raise::blockByBlock(Algebra &algebra, Poly poly) {
  Poly parts;
  for (const Monomial &monomial : poly) {
    auto sum = llvm::find_if(monomial.factors, [&](auto &factor) {
      return factor.second == 1 && algebra.isOfSeveralBlocks(factor.first);
    });
    if (sum == monomial.factors.end()) {
      parts.push_back(monomial);
      continue;
    }
    Monomial others = algebra.times(monomial, sum->first, -1);
    for (TermId block : algebra.blocksOf(sum->first))
      parts.push_back(algebra.times(others, block, 1));
  }
  return parts;
}

/// The function of positions under the conditions of both `lhs` and `rhs`, if
/// they are the same but for conditions.
static std::optional<PolyId> underBoth(Algebra &algebra, PolyId lhs,
                                       PolyId rhs) {
  std::optional<TermId> terms[] = {algebra.singleTerm(lhs),
                                   algebra.singleTerm(rhs)};
  if (terms[0] && terms[1]) {
    Term first = algebra.getTerm(*terms[0]),
         second = algebra.getTerm(*terms[1]);
    if (first.kind == TermKind::Function &&
        first.name.getValue() == "stablehlo.select" &&
        second.name == first.name &&
        first.arguments[1] == second.arguments[1] &&
        first.arguments[2] == second.arguments[2]) {
      first.arguments[0] =
          algebra.multiply(first.arguments[0], second.arguments[0]);
      first.dims |= second.dims;
      first.tensor = Value();
      return algebra.term(std::move(first));
    }
  }
  if (algebra.get(lhs).size() != 1 || algebra.get(rhs).size() != 1)
    return std::nullopt;
  Monomial both = algebra.get(lhs)[0], other = algebra.get(rhs)[0],
           plain[2] = {both, other};
  for (Monomial &monomial : plain)
    llvm::erase_if(monomial.factors, [&](auto &factor) {
      return algebra.getTerm(factor.first).isBool;
    });
  if (!algebra.isNear(algebra.intern({plain[0]}), algebra.intern({plain[1]})))
    return std::nullopt;
  for (auto [id, power] : other.factors)
    if (algebra.getTerm(id).isBool)
      both = algebra.times(std::move(both), id, power);
  return algebra.intern({both});
}

bool raise::findWhole(Ring &ring,
                      llvm::function_ref<std::optional<PolyId>(size_t)> inBlock,
                      llvm::function_ref<bool(PolyId)> isIt) {
  std::set<PolyId> tried;
  std::optional<PolyId> all;
  for (size_t i = 0; i < (ring.reader->isOfOneRank() ? ring.blocks.size() : 1);
       ++i) {
    std::optional<PolyId> part = inBlock(i),
                          whole = part ? onWhole(ring, *part, ring.blocks[i])
                                       : std::nullopt;
    if (!whole || !tried.insert(*whole).second)
      continue;
    if (isIt(*whole))
      return true;
    all = tried.size() == 1 ? whole
          : all             ? underBoth(*ring.algebra, *all, *whole)
                            : std::nullopt;
  }
  return all && tried.size() > 1 && isIt(*all);
}

/// Finds the score of whole tensors of which each block has its part.
static bool unifyScores(Ring &ring) {
  auto isScore = [&](PolyId whole) {
    bool isAll = true;
    for (size_t i = 0; i < ring.blocks.size() && isAll; ++i)
      isAll = ring.algebra->isNear(inBlock(ring, whole, ring.blocks[i]),
                                   ring.blocks[i].score);
    if (isAll)
      ring.score = whole;
    return isAll;
  };
  return findWhole(
      ring, [&](size_t i) { return std::optional(ring.blocks[i].score); },
      isScore);
}

namespace {
/// The band of a ring's score: key - query in [lower, upper].
struct RingBand {
  std::optional<int64_t> lower, upper;
  bool isAll = false;
};
} // namespace

static RingBand bandOf(Ring &ring) {
  Forward whole;
  whole.algebra = std::move(ring.algebra);
  whole.reader.reset(ring.reader.release());
  whole.score = ring.score;
  whole.raw = ring.raw;
  whole.query = ring.queryDim;
  whole.key = kRingKey;
  int64_t queries = whole.reader->sizeOf(whole.query),
          keys = whole.reader->sizeOf(kRingKey);
  int64_t blocks =
      static_cast<BlockReader &>(*whole.reader).countBlocks(ring.axes);
  whole.reader->setSize(whole.query, queries * blocks);
  whole.reader->setSize(kRingKey, keys * blocks);
  findBand(whole);
  whole.reader->setSize(whole.query, queries);
  whole.reader->setSize(kRingKey, keys);
  ring.algebra = std::move(whole.algebra);
  ring.reader.reset(static_cast<BlockReader *>(whole.reader.release()));
  return {whole.bandLower, whole.bandUpper, whole.isBandAll};
}

/// True if each rank uses each block once; one rank at a time, those that no
/// row of its queries has a weight in may be missing.
static bool visitsAll(Ring &ring) {
  int64_t count = ring.reader->countBlocks(ring.axes);
  int64_t queries = ring.reader->sizeOf(ring.queryDim),
          keys = ring.reader->sizeOf(kRingKey);
  std::optional<RingBand> band;
  for (auto [number, lane] : llvm::enumerate(ring.lanes)) {
    std::vector<RankTable> visited;
    for (const RingBlock &block : ring.blocks)
      if (block.lane == number)
        visited.push_back(ring.reader->blocksAlong(ring.axes, block.source));
    RankTable own = ring.reader->blocksAlong(ring.axes, lane);
    for (size_t i = 0; i < lane.size(); ++i) {
      std::set<int64_t> blocks;
      for (const RankTable &table : visited)
        blocks.insert(table[i]);
      if (blocks.size() != visited.size())
        return false;
      for (int64_t block = 0; block < count; ++block) {
        if (blocks.count(block))
          continue;
        if (!ring.reader->isOfOneRank())
          return false;
        if (!band)
          band = bandOf(ring);
        int64_t least = block * keys - (own[i] * queries + queries - 1),
                largest = block * keys + keys - 1 - own[i] * queries;
        if (!(band->lower && largest < *band->lower) &&
            !(band->upper && least > *band->upper))
          return false;
      }
    }
  }
  return true;
}

/// True if each row of scores has a key that counts, as far as that can be
/// known.
static bool hasKeys(Ring &ring) {
  Algebra &algebra = *ring.algebra;
  SmallVector<TermId> terms;
  algebra.collectTerms(ring.score, terms);
  bool isFinite = true;
  for (TermId id : terms) {
    const Term &term = algebra.getTerm(id);
    isFinite &= term.kind != TermKind::Leaf || term.isBool ||
                (term.dims & bit(kFirstBoundDim));
    for (PolyId argument : term.arguments)
      isFinite &= llvm::all_of(algebra.get(argument), [](const Monomial &part) {
        return std::isfinite(part.coefficient);
      });
  }
  if (isFinite)
    return true;
  RingBand band = bandOf(ring);
  return (band.lower || band.upper) && band.isAll;
}

/// As matchRing; `isOneByOne`: each rank is read for itself.
static std::optional<Ring> matchRingAs(OpResult result,
                                       const Numbering &numbering,
                                       spmd::MeshAttr mesh, bool isOneByOne,
                                       RingMiss &miss) {
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
    ring.lanes = {ring.reader->identity()};
    if (isOneByOne) {
      ring.lanes.clear();
      for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
        ring.lanes.push_back({rank});
    }
    std::vector<PolyId> polys;
    for (const RankTable &lane : ring.lanes) {
      ring.reader->restrictTo(lane);
      polys.push_back(ring.reader->read(inner, ring.outputLayout));
    }
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
    miss.isTooLong = ring.algebra->isExhausted();
    for (auto [number, lane] : llvm::enumerate(ring.lanes)) {
      ring.reader->restrictTo(lane);
      // Again, since others may have made terms of it parts of a total.
      Poly parts = ring.algebra->get(
          ring.algebra->intern(Poly(ring.algebra->get(polys[number]))));
      if (parts.empty())
        return std::nullopt;
      for (const Monomial &part : blockByBlock(*ring.algebra, parts)) {
        if (!addBlock(ring, number, part, miss)) {
          if (Operation *stopped = ring.reader->stopped)
            miss.why += ("; '" + stopped->getName().getStringRef() +
                         "' is not seen through")
                            .str();
          return std::nullopt;
        }
        ++miss.steps;
      }
    }
    if (isOneByOne && !unifyScores(ring)) {
      miss.why =
          "scores of its blocks are not one function of positions in the whole";
      return std::nullopt;
    }
    if (!visitsAll(ring)) {
      miss.why = isOneByOne ? "ranks leave out blocks that its mask does not"
                            : "ranks do not meet each block once";
      return std::nullopt;
    }
    Algebra &algebra = *ring.algebra;
    for (size_t lane = 0; lane < ring.lanes.size(); ++lane) {
      PolyId sum = algebra.number(0);
      TermId total = 0;
      for (const RingBlock &block : ring.blocks)
        if (block.lane == lane) {
          sum = algebra.add(sum, algebra.sumOver(kRingKey, 1, block.weight));
          total = block.total;
        }
      if (sum != algebra.ofTerm(total)) {
        miss.why = "it is divided by something else than the sum of all its "
                   "exponentials";
        return std::nullopt;
      }
    }
    if (ring.reader->isGuarded && !hasKeys(ring)) {
      miss.why = "it guards against rows without a key, and there may be some";
      return std::nullopt;
    }
    return ring;
  }
  return std::nullopt;
}

/// Said where it is given up before all is read.
static constexpr StringLiteral kTooLong =
    "to read what it computes takes too long";

std::optional<Ring> raise::matchRing(OpResult result,
                                     const Numbering &numbering,
                                     spmd::MeshAttr mesh, RingMiss &miss) {
  std::optional<Ring> ring =
      matchRingAs(result, numbering, mesh, /*isOneByOne=*/false, miss);
  if (!ring && miss.isTooLong) {
    miss.why = kTooLong.str();
    return ring;
  }
  bool isBranch = isa_and_nonnull<stablehlo::CaseOp, stablehlo::IfOp>(miss.op);
  if (ring || (!isBranch && miss.steps == 0) || mesh.getNumRanks() == 1 ||
      mesh.getNumRanks() > kMostLanes)
    return ring;
  RingMiss other;
  ring = matchRingAs(result, numbering, mesh, /*isOneByOne=*/true, other);
  if (isBranch && !other.why.empty())
    miss = std::move(other);
  return ring;
}

std::string raise::whyNoGradient(const Ring &ring, OpResult result) {
  if (ring.algebra->isExhausted())
    return kTooLong.str();
  return ("result " + Twine(result.getResultNumber()) +
          " is neither its output nor a gradient")
      .str();
}
