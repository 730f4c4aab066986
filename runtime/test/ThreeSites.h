//===- ThreeSites.h - A program of three exchanges -------------*- C++ -*-===//
//
// What tests let go wrong, and how long that takes.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_THREESITES_H
#define SHARDRT_TEST_THREESITES_H

#include "TestWorld.h"
#include <chrono>

namespace shardrt::test {

/// Site 0: a halo exchange; 1: an all_reduce; 2: an all_gather.
inline SiteTable threeSites(int64_t ranks) {
  Intervals owned = cut(std::vector<int64_t>(ranks, 2));
  return makeTable(
      {ranks},
      {exchangeSite("halo_exchange", {2 * ranks},
                    {{0, {0}, owned, grow(owned, 1, 1)}}),
       allReduceSite(ElementType::F32, Reduction::Sum, {0}),
       exchangeSite("all_gather", {2 * ranks},
                    {{0, {0}, owned, Intervals(ranks, {0, 2 * ranks})}})});
}

inline int callSite(shardrt_context *ctx, int64_t site, int64_t count = 2) {
  std::vector<float> src(128, 1), dst(128);
  if (site == 1)
    return shardrt_all_reduce(ctx, 1, src.data(), dst.data(), count);
  return shardrt_exchange(ctx, site, src.data(), dst.data(), nullptr);
}

inline double seconds(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_THREESITES_H
