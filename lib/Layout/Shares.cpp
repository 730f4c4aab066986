//===- Shares.cpp - Shards in proportion ----------------------------------===//
#include "shardc/Layout/Shares.h"
#include <cassert>

using namespace shardc;

Boundaries shardc::refineInShares(const Boundaries &cut,
                                  std::span<const int64_t> shares) {
  int64_t total = 0;
  for (int64_t share : shares)
    total += share;
  assert(total > 0 && "a shard cannot be cut into nothing");
  std::vector<int64_t> sizes;
  sizes.reserve(cut.numShards() * shares.size());
  for (int64_t i = 0; i < cut.numShards(); ++i) {
    // Whole multiples of the sum apart from what is left: no overflow. Halves
    // go up.
    int64_t each = cut.shardSize(i) / total, rest = cut.shardSize(i) % total;
    int64_t before = 0, end = 0;
    for (int64_t share : shares) {
      before += share;
      int64_t next = each * before + (rest * before + total / 2) / total;
      sizes.push_back(next - end);
      end = next;
    }
  }
  return *Boundaries::fromSizes(sizes);
}
