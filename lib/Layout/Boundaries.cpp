//===- Boundaries.cpp - How a dim is cut into shards ------------*- C++ -*-===//

#include "shardc/Layout/Boundaries.h"
#include <cassert>

using namespace shardc;

/// Where shard `i` of `shards` begins in a balanced cut of `size` elements.
static int64_t balancedBegin(int64_t size, int64_t shards, int64_t i) {
  return i * (size / shards) + std::min(i, size % shards);
}

Boundaries Boundaries::balanced(int64_t size, const ShardCount &shards) {
  assert(size >= 0 && shards >= 1 && "nothing to cut, or into nothing");
  std::vector<int64_t> bounds;
  bounds.reserve(shards + 1);
  for (int64_t i = 0; i <= shards; ++i)
    bounds.push_back(balancedBegin(size, shards, i));
  Boundaries result(std::move(bounds));
  return shards.isOpen() ? result.with(Formula::balanced(size, shards))
                         : result;
}

ShardCount Boundaries::countShards() const {
  int64_t number = 1;
  std::vector<int64_t> axes;
  for (int64_t factor :
       boundFormula ? boundFormula.factors() : std::vector<int64_t>()) {
    if (factor < 0)
      axes.push_back(~factor);
    else
      number *= factor;
  }
  if (axes.empty())
    return numShards();
  return ShardCount::along(number, std::move(axes), numShards() / number);
}

std::optional<Boundaries>
Boundaries::fromSizes(std::span<const int64_t> sizes) {
  if (sizes.empty())
    return std::nullopt;
  std::vector<int64_t> bounds = {0};
  bounds.reserve(sizes.size() + 1);
  for (int64_t size : sizes) {
    int64_t next = 0;
    if (size < 0 || __builtin_add_overflow(bounds.back(), size, &next))
      return std::nullopt;
    bounds.push_back(next);
  }
  return Boundaries(std::move(bounds));
}

std::optional<Boundaries> Boundaries::fromBounds(std::vector<int64_t> bounds) {
  if (bounds.size() < 2 || bounds.front() != 0 ||
      !std::is_sorted(bounds.begin(), bounds.end()))
    return std::nullopt;
  return Boundaries(std::move(bounds));
}

int64_t Boundaries::maxShardSize() const {
  int64_t result = 0;
  for (int64_t i = 0; i < numShards(); ++i)
    result = std::max(result, shardSize(i));
  return result;
}

std::optional<int64_t> Boundaries::uniformShardSize() const {
  if (boundFormula)
    return std::nullopt;
  for (int64_t i = 1; i < numShards(); ++i)
    if (shardSize(i) != shardSize(0))
      return std::nullopt;
  return shardSize(0);
}

bool Boundaries::isBalanced() const {
  if (boundFormula)
    return false;
  for (int64_t i = 0; i <= numShards(); ++i)
    if (bounds[i] != balancedBegin(size(), numShards(), i))
      return false;
  return true;
}

std::vector<int64_t> Boundaries::sizes() const {
  std::vector<int64_t> result;
  result.reserve(numShards());
  for (int64_t i = 0; i < numShards(); ++i)
    result.push_back(shardSize(i));
  return result;
}

Boundaries Boundaries::coarsen(const ShardCount &step) const {
  assert(step >= 1 && numShards() % step == 0 && "runs of unequal length");
  if (step == 1 && !step.isOpen())
    return *this;
  std::vector<int64_t> result;
  for (int64_t i = 0; i <= numShards(); i += step)
    result.push_back(bounds[i]);
  Boundaries coarse(std::move(result));
  // All that there is in one shard, whatever is bound.
  bool isWhole = coarse.numShards() == 1;
  return boundFormula && !isWhole
             ? coarse.with(Formula::coarsen(boundFormula, step))
             : coarse;
}

Boundaries Boundaries::refine(const ShardCount &parts) const {
  assert(parts >= 1 && "a shard cannot be cut into nothing");
  std::vector<int64_t> result = {0};
  result.reserve(numShards() * parts + 1);
  for (int64_t i = 0; i < numShards(); ++i)
    for (int64_t part = 1; part <= parts; ++part)
      result.push_back(bounds[i] + balancedBegin(shardSize(i), parts, part));
  Boundaries fine(std::move(result));
  if (!boundFormula && !parts.isOpen())
    return fine;
  return fine.with(Formula::refine(
      boundFormula ? boundFormula : Formula::fixed(bounds), parts));
}
