//===- BlockSums.cpp - Sums over several blocks in expressions ------------===//
//
// A ring adds up one sum for each block. Written out, the gradient of n blocks
// has n sums in each of n iterations. But they differ only by whose block they
// are of:
//
//     Σ_k Exp[q k_0] v_0 + Σ_k Exp[q k_1] v_1  =  Σ_{0, 1} Σ_k Exp[q k_*] v_*
//
// So a sum is what all its blocks have in common, where marks (negative
// numbers) stand for whose block a leaf or position is of, and the set of
// blocks. Sums of a polynomial that have the same factors are added, and what
// an iteration has is as long as what the one before had.
//
//===----------------------------------------------------------------------===//
#include "Algebra.h"
#include "llvm/ADT/SmallSet.h"
#include <cmath>
#include <functional>
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static DimSet bit(unsigned dim) { return DimSet(1) << dim; }

unsigned Algebra::blockNumber(Block block) {
  auto [it, isNew] = blockNumbers.try_emplace(block, blocks.size());
  if (isNew)
    blocks.push_back(std::move(block));
  return it->second;
}

unsigned Algebra::setNumber(std::vector<unsigned> members) {
  auto [it, isNew] = setNumbers.try_emplace(members, blockSets.size());
  if (isNew)
    blockSets.push_back(std::move(members));
  return it->second;
}

unsigned Algebra::movedSet(unsigned set, unsigned move) {
  std::vector<unsigned> members;
  for (unsigned member : std::vector<unsigned>(blockSets[set])) {
    auto it = movedBlocks.find({move, member});
    if (it == movedBlocks.end()) {
      Block block = blocks[member];
      for (RankTable &table : block)
        table = blockTables->moved(table, move);
      it =
          movedBlocks.try_emplace({move, member}, blockNumber(std::move(block)))
              .first;
    }
    members.push_back(it->second);
  }
  llvm::sort(members);
  return setNumber(std::move(members));
}

std::optional<Algebra::Block> Algebra::generalize(Monomial &body,
                                                  unsigned dim) {
  if (!hasExponential(body))
    return std::nullopt;
  // Leaves before positions, so that the order does not hang on numbers of
  // terms.
  std::set<std::pair<TermKind, RankTable>> found;
  llvm::SmallSet<TermId, 16> seen;
  bool isMarked = false;
  std::function<void(const Monomial &)> visit = [&](const Monomial &monomial) {
    for (auto [id, power] : monomial.factors) {
      if (!(terms[id].dims & bit(dim)) || !seen.insert(id).second)
        continue;
      if (const RankTable *table = blockTables->blockOf(terms[id])) {
        isMarked |= isMark(*table);
        found.insert({terms[id].kind, *table});
      }
      for (PolyId argument : terms[id].arguments)
        for (const Monomial &inner : polys[argument])
          visit(inner);
    }
  };
  visit(body);
  if (found.empty() || isMarked)
    return std::nullopt;
  Block block;
  for (const auto &[kind, table] : found)
    if (!llvm::is_contained(block, table))
      block.push_back(table);
  PolyId marked =
      rebuild(intern({body}), [&](TermId id) -> std::optional<PolyId> {
        Term term = terms[id];
        if (!(term.dims & bit(dim)))
          return ofTerm(id);
        const RankTable *table = blockTables->blockOf(term);
        if (!table)
          return term.arguments.empty() ? std::optional(ofTerm(id))
                                        : std::nullopt;
        return blockTables->inBlock(
            term, {-1 - (llvm::find(block, *table) - block.begin())});
      });
  if (polys[marked].size() != 1)
    return std::nullopt;
  body = polys[marked][0];
  return block;
}

PolyId Algebra::instantiate(PolyId poly, unsigned dim, const Block &block) {
  return rebuild(poly, [&](TermId id) -> std::optional<PolyId> {
    Term term = terms[id];
    if (!(term.dims & bit(dim)))
      return ofTerm(id);
    const RankTable *table = blockTables->blockOf(term);
    if (table && isMark(*table))
      return blockTables->inBlock(term, RankTable(block[-1 - table->front()]));
    return term.arguments.empty() ? std::optional(ofTerm(id)) : std::nullopt;
  });
}

llvm::SmallVector<TermId> Algebra::blocksOf(TermId id) {
  if (!isOfSeveralBlocks(id))
    return {id};
  llvm::SmallVector<TermId> found;
  for (unsigned member :
       std::vector<unsigned>(blockSets[terms[id].values[0]])) {
    Term term = terms[id];
    term.values = {setNumber({member})};
    found.push_back(internTerm(std::move(term)));
  }
  return found;
}

PolyId Algebra::bodyOf(TermId id, unsigned dim) {
  Term term = terms[id];
  PolyId body = rename(term.arguments[0], term.dim, dim);
  return term.values.empty()
             ? body
             : instantiate(body, dim,
                           Block(blocks[blockSets[term.values[0]].front()]));
}

bool Algebra::mergeBlocks(Poly &poly) {
  if (poly.size() < 2)
    return false;
  // Sums of one family with the same factors beside them.
  using Rest =
      std::tuple<PolyId, unsigned, std::vector<std::pair<TermId, int>>>;
  std::map<Rest, llvm::SmallVector<std::pair<size_t, TermId>>> families;
  for (auto [i, monomial] : llvm::enumerate(poly))
    for (auto [id, power] : monomial.factors) {
      const Term &term = terms[id];
      if (power != 1 || term.kind != TermKind::SumOverKey ||
          term.values.empty())
        continue;
      std::vector<std::pair<TermId, int>> others = monomial.factors;
      llvm::erase_if(others, [&](auto &factor) { return factor.first == id; });
      families[{term.arguments[0], term.dim, std::move(others)}].push_back(
          {i, id});
    }
  for (const auto &[rest, alike] : families)
    if (alike.size() > 1 && mergeAlike(poly, alike))
      return true;
  return false;
}

bool Algebra::mergeAlike(Poly &poly,
                         llvm::ArrayRef<std::pair<size_t, TermId>> alike) {
  auto isNear = [](double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
  };
  // What each block is multiplied with; then the blocks for each number.
  std::map<unsigned, double> numbers;
  double largest = 0;
  for (auto [i, id] : alike) {
    double number = poly[i].coefficient;
    largest = std::max(largest, std::abs(number));
    for (unsigned block : blockSets[terms[id].values[0]])
      numbers[block] += number;
  }
  std::vector<std::pair<double, std::vector<unsigned>>> sums;
  for (auto [block, number] : numbers) {
    if (!(std::abs(number) >= 1e-12 * largest))
      continue;
    auto it = llvm::find_if(
        sums, [&](auto &sum) { return isNear(sum.first, number); });
    if (it == sums.end())
      it = sums.insert(it, {number, {}});
    it->second.push_back(block);
  }
  Poly merged;
  bool isChanged = sums.size() != alike.size();
  for (auto &[number, members] : sums) {
    Term term = terms[alike.front().second];
    term.values = {setNumber(std::move(members))};
    TermId sum = internTerm(std::move(term));
    // What is written as others stays so.
    if (defined.count(sum))
      return false;
    isChanged |=
        llvm::none_of(alike, [&](auto &one) { return one.second == sum; });
    Monomial monomial =
        times(poly[alike.front().first], alike.front().second, -1);
    monomial.coefficient = number;
    merged.push_back(times(std::move(monomial), sum, 1));
  }
  if (!isChanged)
    return false;
  for (auto [i, monomial] : llvm::enumerate(poly))
    if (llvm::none_of(alike, [&](auto &one) { return one.first == i; }))
      merged.push_back(std::move(monomial));
  poly = std::move(merged);
  return true;
}
