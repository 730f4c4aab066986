//===- NearbyExtents.cpp - Bindings beside placeholders -------------------===//
#include "shardc/Layout/NearbyExtents.h"

#include <numeric>

using namespace shardc;

std::vector<std::vector<int64_t>> shardc::extentsNearby(const Extents &extents,
                                                        int64_t most) {
  using Dims = std::map<std::pair<int64_t, int64_t>, int64_t>;
  Dims placeholders;
  int64_t divisor = 0;
  for (int64_t i = 0; i < extents.size(); ++i)
    if (const ExtentExpr &extent = extents[i]; extent.kind == ExtentKind::Dim) {
      placeholders[{extent.operands[0], extent.operands[1]}] =
          extent.placeholder;
      divisor = std::gcd(divisor, extent.placeholder);
    }
  std::vector<std::vector<int64_t>> found;
  auto add = [&](const Dims &dims) {
    std::string error;
    std::vector<int64_t> values = extents.evaluate(dims, error);
    if (error.empty())
      found.push_back(std::move(values));
  };
  for (int64_t step = 1; step <= most; ++step) {
    Dims all = placeholders, scaled = placeholders;
    for (auto &[place, size] : all)
      size += step;
    add(all);
    for (auto &[place, size] : scaled)
      size = size / divisor * (divisor + step);
    add(scaled);
    for (const auto &[place, size] : placeholders) {
      Dims one = placeholders;
      one[place] = size + step;
      add(one);
    }
  }
  return found;
}
