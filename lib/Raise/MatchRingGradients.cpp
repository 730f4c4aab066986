//===- MatchRingGradients.cpp - Gradients of attention round a ring -------===//
//
// What a gradient has to be follows from the ring: it is compared with what the
// program has.
//
//===----------------------------------------------------------------------===//
#include "RingExpressions.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// What gradients of a ring for one cotangent are made of.
struct Slopes {
  Ring &ring;
  Algebra &algebra;
  RingOperand cotangent;
  /// By block, and by lane.
  std::vector<PolyId> douts, products, deltas;

  Slopes(Ring &ring, const RingOperand &cotangent)
      : ring(ring), algebra(*ring.algebra), cotangent(cotangent) {
    deltas.assign(ring.lanes.size(), algebra.number(0));
    for (const RingBlock &block : ring.blocks) {
      PolyId dout =
          ring.reader->makeLeaf(cotangent.value, cotangent.sharding,
                                ring.lanes[block.lane], cotangent.layout);
      PolyId product = algebra.multiply(dout, block.value);
      if (ring.featureDim != kNoFeature)
        product = algebra.sumOver(ring.featureDim, 1, product);
      douts.push_back(dout);
      products.push_back(product);
      PolyId &delta = deltas[block.lane];
      delta = algebra.add(
          delta, algebra.sumOver(kRingKey, 1,
                                 algebra.multiply(block.weight, product)));
    }
  }
  /// Exp[s] slope (dp / total - delta / total^2) of block `i`.
  PolyId scores(size_t i, PolyId slope) {
    const RingBlock &block = ring.blocks[i];
    PolyId dp = algebra.multiply(products[i], algebra.ofTerm(block.total, -1));
    PolyId inner = algebra.add(
        dp,
        algebra.multiply(deltas[block.lane], algebra.ofTerm(block.total, -2)),
        -1);
    return algebra.multiply(algebra.multiply(block.weight, slope), inner);
  }
};
} // namespace

/// The cotangent in `gradient`: what is multiplied with values, or, if there is
/// none, with p.
static std::optional<RingOperand> findCotangent(Ring &ring, PolyId gradient,
                                                const Numbering &numbering) {
  Algebra &algebra = *ring.algebra;
  SmallVector<TermId> terms;
  algebra.collectTerms(gradient, terms);
  for (TermId id : terms) {
    Term term = algebra.getTerm(id);
    if (term.kind != TermKind::SumOverKey || algebra.isStatistic(id) ||
        algebra.get(term.arguments[0]).size() != 1)
      continue;
    const Monomial &body = algebra.get(term.arguments[0])[0];
    if (body.factors.size() != 2)
      continue;
    for (bool side : {false, true}) {
      const Term &mine = algebra.getTerm(body.factors[side].first),
                 &other = algebra.getTerm(body.factors[!side].first);
      const BlockLeaf *values = ring.reader->leafOf(mine),
                      *dout = ring.reader->leafOf(other);
      if (!values || !dout || !dout->sharding || !values->sharding ||
          numbering.of(values->value) != numbering.of(ring.value.value) ||
          values->sharding != ring.value.sharding ||
          numbering.of(dout->value) == numbering.of(ring.value.value))
        continue;
      // Values summed over their features.
      bool isFeature = false;
      for (auto [dim, parts] : llvm::enumerate(mine.layouts[0]))
        isFeature |=
            llvm::is_contained(parts, term.dim) &&
            llvm::is_contained(ring.value.layout[dim], ring.featureDim);
      if (isFeature)
        return RingOperand{
            dout->value, dout->sharding,
            renamed(other.layouts[0], term.dim, ring.featureDim)};
    }
  }
  return std::nullopt;
}

/// What the ranks of `lane` get of block `i`, for which ranks that use it have
/// `poly`: summed over all dims that `layout` lacks, and moved to where the
/// keys are. Zero if it is the block of others.
static PolyId atKeys(Ring &ring, size_t lane, PolyId poly,
                     const RingBlock &block, const Layout &layout) {
  if (ring.reader->isOfOneRank()) {
    if (block.source != ring.lanes[lane])
      return ring.algebra->number(0);
  } else {
    RankTable back(block.source.size());
    for (auto [rank, source] : llvm::enumerate(block.source))
      back[source] = rank;
    poly = ring.reader->onRank(poly, back);
  }
  DimSet kept = dimsIn(layout);
  for (unsigned dim = 0; dim < kFirstBoundDim; ++dim)
    if ((ring.algebra->dimsOf(poly) & bit(dim)) && !(kept & bit(dim)))
      poly = ring.algebra->sumOver(dim, 1, poly);
  return poly;
}

/// The slope in `gradient`, of queries: what Total^-1 Σ_k Exp[s_i] dp_i k_i is
/// multiplied with in block `i`.
static std::optional<PolyId> findSlope(Slopes &slopes, PolyId gradient,
                                       size_t i) {
  Algebra &algebra = slopes.algebra;
  const RingBlock &block = slopes.ring.blocks[i];
  std::optional<TermId> product = algebra.singleTerm(slopes.products[i]),
                        key = algebra.singleTerm(block.key);
  if (!product || !key)
    return std::nullopt;
  Poly slope;
  for (const Monomial &part : blockByBlock(algebra, algebra.get(gradient))) {
    if (Algebra::powerOf(part, block.total) != -1)
      continue;
    Monomial outside = algebra.times(part, block.total, 1);
    auto sum = llvm::find_if(outside.factors, [&](auto &factor) {
      return factor.second == 1 &&
             algebra.getTerm(factor.first).kind == TermKind::SumOverKey;
    });
    if (sum == outside.factors.end())
      continue;
    TermId summed = sum->first;
    outside = algebra.times(outside, summed, -1);
    Poly body = algebra.get(algebra.bodyOf(summed, kRingKey));
    if (body.size() != 1 || Algebra::powerOf(body[0], block.exp) != 1 ||
        Algebra::powerOf(body[0], *product) != 1 ||
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

std::optional<RingGradient>
raise::matchRingGradient(OpResult result, Ring &ring,
                         const Numbering &numbering,
                         ArrayRef<RingGradient> known) {
  Algebra &algebra = *ring.algebra;
  Value inner = innerOf(result);
  auto outSharding = cast<spmd::ShardingAttr>(
      cast<spmd::ManualOp>(result.getOwner())
          .getOutShardings()[result.getResultNumber()]);
  // What each lane has, if it may be a gradient of `operand`.
  auto tryRead =
      [&](const RingOperand &operand) -> std::optional<std::vector<PolyId>> {
    if (result.getType() != operand.value.getType() ||
        outSharding.getDims() != operand.sharding.getDims())
      return std::nullopt;
    std::vector<PolyId> polys;
    for (const RankTable &lane : ring.lanes) {
      ring.reader->restrictTo(lane);
      polys.push_back(ring.reader->read(inner, operand.layout));
    }
    for (PolyId &poly : polys)
      poly = algebra.intern(Poly(algebra.get(poly)));
    bool isCut = ring.reader->split.has_value();
    ring.reader->split.reset();
    bool isNothing = llvm::any_of(
        polys, [&](PolyId poly) { return algebra.get(poly).empty(); });
    return isCut || isNothing ? std::nullopt : std::optional(polys);
  };
  /// True if lanes have the sums of what `contribution` says of each block.
  auto isSumOf =
      [&](ArrayRef<PolyId> polys,
          llvm::function_ref<PolyId(size_t lane, size_t block)> contribution) {
        for (auto [lane, poly] : llvm::enumerate(polys)) {
          ring.reader->restrictTo(ring.lanes[lane]);
          PolyId expected = algebra.number(0);
          for (size_t i = 0; i < ring.blocks.size(); ++i)
            expected = algebra.add(expected, contribution(lane, i));
          if (!algebra.isNear(expected, poly))
            return false;
        }
        return true;
      };
  auto slopesOf = [&](Slopes &slopes, PolyId whole, size_t i) {
    return slopes.scores(i, inBlock(ring, whole, ring.blocks[i]));
  };
  if (std::optional<std::vector<PolyId>> polys = tryRead(ring.query)) {
    std::optional<RingOperand> dout;
    for (PolyId poly : *polys)
      if (!dout)
        dout = findCotangent(ring, poly, numbering);
    if (dout && takeCuts(ring, *dout)) {
      Slopes slopes(ring, *dout);
      std::optional<PolyId> slope;
      auto isSlope = [&](PolyId whole) {
        slope = whole;
        return isSumOf(*polys, [&](size_t lane, size_t i) {
          if (ring.blocks[i].lane != lane)
            return algebra.number(0);
          return algebra.sumOver(
              kRingKey, 1,
              algebra.multiply(slopesOf(slopes, whole, i), ring.blocks[i].key));
        });
      };
      if (findWhole(
              ring,
              [&](size_t i) {
                return findSlope(slopes, (*polys)[ring.blocks[i].lane], i);
              },
              isSlope))
        return RingGradient{GradientKind::Query, *dout, *slope};
    }
  }
  for (const RingGradient &other : known) {
    if (other.kind != GradientKind::Query)
      continue;
    Slopes slopes(ring, other.cotangent);
    if (std::optional<std::vector<PolyId>> polys = tryRead(ring.key)) {
      bool isKey = isSumOf(*polys, [&](size_t lane, size_t i) {
        const RingBlock &block = ring.blocks[i];
        PolyId query =
            ring.reader->makeLeaf(ring.query.value, ring.query.sharding,
                                  ring.lanes[block.lane], ring.query.layout);
        return atKeys(ring, lane,
                      algebra.multiply(slopesOf(slopes, other.slope, i), query),
                      block, ring.key.layout);
      });
      if (isKey)
        return RingGradient{GradientKind::Key, other.cotangent, other.slope};
    }
    if (std::optional<std::vector<PolyId>> polys = tryRead(ring.value)) {
      bool isValue = isSumOf(*polys, [&](size_t lane, size_t i) {
        const RingBlock &block = ring.blocks[i];
        PolyId p =
            algebra.multiply(block.weight, algebra.ofTerm(block.total, -1));
        return atKeys(ring, lane, algebra.multiply(p, slopes.douts[i]), block,
                      ring.value.layout);
      });
      if (isValue)
        return RingGradient{GradientKind::Value, other.cotangent, other.slope};
    }
  }
  return std::nullopt;
}
