//===- Zigzag.cpp - A dim in zigzag order ---------------------------------===//
#include "shardc/Layout/Zigzag.h"

using namespace shardc;

Zigzag::Zigzag(const Boundaries &shards) {
  int64_t front = 0, end = shards.size();
  for (int64_t i = 0; i < shards.numShards(); ++i) {
    Interval shard = shards.shard(i);
    int64_t early = (shard.size() + 1) / 2, late = shard.size() - early;
    all.push_back({{shard.begin, shard.begin + early}, {front, front + early}});
    all.push_back({{shard.begin + early, shard.end}, {end - late, end}});
    front += early;
    end -= late;
  }
}

std::vector<ZigzagPiece> Zigzag::split(Interval zigzag) const {
  std::vector<ZigzagPiece> parts;
  size_t first = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    Interval common = intersect(all[i].zigzag, zigzag);
    if (common.empty())
      continue;
    first = std::min(first, i & ~size_t(1));
    parts.resize(i - first + 1);
    int64_t shift = all[i].natural.begin - all[i].zigzag.begin;
    parts.back() = {common, {common.begin + shift, common.end + shift}};
  }
  return parts;
}
