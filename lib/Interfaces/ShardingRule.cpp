//===- ShardingRule.cpp - How an op ties its dims together ----------------===//
#include "shardc/Interfaces/ShardingRule.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Interfaces/OrderCost.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace shardc;

#include "shardc/Interfaces/OrderCost.cpp.inc"
#include "shardc/Interfaces/ShardingInterfaces.cpp.inc"

// What a factor's partial results are combined by where nothing is said.
static_assert(spmd::ReductionKind() == spmd::ReductionKind::Sum);

spmd::DimExchangeAttr Localization::exchangeAttr(int64_t, const IntervalTable &,
                                                 const IntervalTable &) {
  return {};
}

llvm::SmallVector<int64_t, 8> ShardingRule::factorSizes() const {
  llvm::SmallVector<int64_t, 8> sizes;
  for (const Factor &factor : factors)
    sizes.push_back(factor.size);
  return sizes;
}

int64_t ShardingRule::addFactor(int64_t size, FactorKind kind,
                                spmd::ReductionKind reduction) {
  factors.push_back({size, kind, reduction});
  return factors.size() - 1;
}

/// Factors are named a, b, c ... and then f26, f27 ...
static void printFactor(llvm::raw_ostream &os, int64_t factor) {
  if (factor < 26)
    os << static_cast<char>('a' + factor);
  else
    os << 'f' << factor;
}

static void printMap(llvm::raw_ostream &os, const IndexMap &map) {
  bool scaled = map.baseDilation != 1;
  if (scaled)
    os << '(';
  bool first = true;
  for (const IndexTerm &term : map.terms) {
    if (!first || term.coefficient < 0)
      os << (term.coefficient < 0 ? (first ? "-" : " - ") : " + ");
    int64_t magnitude = std::abs(term.coefficient);
    if (magnitude != 1)
      os << magnitude << '*';
    printFactor(os, term.factor);
    first = false;
  }
  if (map.offset != 0 || first) {
    if (!first)
      os << (map.offset < 0 ? " - " : " + ");
    os << (first ? map.offset : std::abs(map.offset));
  }
  if (scaled)
    os << ")/" << map.baseDilation;
}

static void printTensors(llvm::raw_ostream &os,
                         llvm::ArrayRef<TensorRule> tensors) {
  os << '(';
  llvm::interleaveComma(tensors, os, [&](const TensorRule &tensor) {
    os << '[';
    llvm::interleaveComma(tensor.dims, os,
                          [&](const IndexMap &map) { printMap(os, map); });
    os << ']';
  });
  os << ')';
}

std::string ShardingRule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensors(os, operands);
  os << " -> ";
  printTensors(os, results);
  os << " {";
  llvm::interleaveComma(llvm::enumerate(factors), os, [&](const auto &it) {
    printFactor(os, it.index());
    os << '=' << it.value().size;
    if (it.value().kind == FactorKind::Reduction)
      os << ' ' << spmd::stringifyReductionKind(it.value().reduction);
    if (it.value().kind == FactorKind::Distributed)
      os << (it.value().travels ? " travels" : " distributed");
    if (it.value().kind == FactorKind::NeedReplication)
      os << " whole";
  });
  os << '}';
  return text;
}

std::optional<int64_t> shardc::shardingFactorOf(const ShardingRule &rule,
                                                const IndexMap &map) {
  // Of a merge the major factor carries the cut; of a window (o*s + j*d) it is
  // the factor that can be cut and is the longer of the two.
  std::optional<int64_t> best;
  bool isMerge = map.offset == 0 && map.baseDilation == 1;
  int64_t inner = 1;
  for (const IndexTerm &term : llvm::reverse(map.terms)) {
    isMerge &= term.coefficient == inner;
    inner *= rule.factors[term.factor].size;
  }
  for (const IndexTerm &term : map.terms) {
    const Factor &factor = rule.factors[term.factor];
    if (factor.size <= 1)
      continue;
    if (!best) {
      best = term.factor;
      if (isMerge)
        break;
      continue;
    }
    if (rule.factors[*best].size < factor.size)
      best = term.factor;
  }
  return best;
}
