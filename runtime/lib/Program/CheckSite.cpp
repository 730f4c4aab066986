//===- CheckSite.cpp - What a table may say of a site ---------------------===//
//
// All that can be wrong with a site is refused when its program is loaded:
// ranks plan without looking again.
//
//===----------------------------------------------------------------------===//

#include "Program/CheckSite.h"
#include "Device/Cpu/Combine.h"
#include "shardc/Layout/Limits.h"
#include "shardrt/SiteFormat.h"
#include <algorithm>

using namespace shardrt;
using namespace shardc;

// What a table of sites may say is part of the contract of programs and
// runtime, each other, so its header says it by itself.
static_assert(shardrt::detail::maxExtent == kMaxElements);
static_assert(maxRanks == kMaxRanks && maxMeshAxes == kMaxMeshAxes &&
              maxTensorDims == kMaxTensorDims);

Box shardrt::domainOf(const Exchange &exchange) {
  Box box;
  for (int64_t size : exchange.globalShape)
    box.push_back({0, size});
  return box;
}

static int64_t numRanks(const Exchange &exchange) {
  int64_t ranks = 1;
  for (int64_t size : exchange.meshShape)
    ranks *= size;
  return ranks;
}

/// Elements of a box, or -1 if they are more than a buffer can hold.
static int64_t checkedVolume(const Box &box) {
  int64_t volume = 1;
  for (Interval interval : box)
    if (interval.empty())
      return 0;
  for (Interval interval : box)
    if (__builtin_mul_overflow(volume, interval.size(), &volume) ||
        volume > kMaxElements)
      return -1;
  return volume;
}

/// Whether tables alone show that each rank's boxes are as they must be.
static bool isClearlyFine(const Site &site, bool hasPlaceholders) {
  if (site.kind == SiteKind::ReduceScatter)
    return false;
  Box largest = domainOf(site.exchange);
  for (const DimExchange &dim : site.exchange.dims) {
    Interval &longest = largest[dim.dim] = {0, 0};
    for (size_t i = 0; i < dim.needed.size(); ++i) {
      longest.end = std::max(longest.end, dim.needed[i].size());
      if (site.inPlace && !dim.needed[i].contains(dim.owned[i]))
        return false;
    }
  }
  return hasPlaceholders || checkedVolume(largest) >= 0;
}

/// checkSite of what is about rows.
static std::string checkRows(const Site &site) {
  const RowSite &rows = site.rows;
  size_t dims = site.exchange.globalShape.size(), count = rows.dims.size();
  // Owned boxes tile the tensor; what is needed of it has another meaning here.
  auto tiles = [](Exchange exchange) {
    for (DimExchange &dim : exchange.dims)
      dim.needed = dim.owned;
    return verifyExchange(exchange);
  };
  if (std::string error = tiles(site.exchange); !error.empty())
    return error;
  if (site.kind != SiteKind::RowPlan) {
    if (rows.first < 0 || rows.first > static_cast<int64_t>(dims))
      return "rows begin at dim " + std::to_string(rows.first) + " of " +
             std::to_string(dims);
    if (site.kind == SiteKind::ScatterRows &&
        site.reduction != Reduction::None &&
        !findCombiner(site.type, site.reduction))
      return std::string(reductionName(site.reduction)) + " of " +
             std::string(elementTypeName(site.type)) + " is not supported";
    return {};
  }
  std::string_view type = elementTypeName(site.type);
  if (!type.starts_with("i") && !type.starts_with("ui"))
    return "indices are " + std::string(type) + ", expected integers";
  if (rows.vectorDim < 0 || rows.vectorDim > static_cast<int64_t>(dims))
    return "index vectors lie in dim " + std::to_string(rows.vectorDim) +
           " of " + std::to_string(dims);
  int64_t components = rows.vectorDim == static_cast<int64_t>(dims)
                           ? 1
                           : site.exchange.globalShape[rows.vectorDim];
  Exchange addressed;
  addressed.meshShape = site.exchange.meshShape;
  for (size_t i = 0; i < count; ++i) {
    int64_t component = rows.components[i], size = rows.dims[i].size();
    bool isBatch = component < 0;
    int64_t batch = -1 - component;
    if (isBatch ? batch >= static_cast<int64_t>(dims) || batch == rows.vectorDim
                : component >= components)
      return "row dim " + std::to_string(i) + " takes component " +
             std::to_string(component) + ", which there is not";
    if (rows.slices[i] < 0 || rows.slices[i] > size)
      return "row dim " + std::to_string(i) + " has slices of " +
             std::to_string(rows.slices[i]) + " out of " + std::to_string(size);
    for (Interval part : rows.dims[i].needed)
      if (!part.empty() && (part.begin < 0 || part.end > rows.slices[i]))
        return "row dim " + std::to_string(i) +
               " needs a part outside of its slices";
    addressed.globalShape.push_back(size);
    addressed.dims.push_back(rows.dims[i]);
    addressed.dims.back().dim = static_cast<int64_t>(i);
  }
  return tiles(addressed);
}

std::string shardrt::checkSite(const Site &site, bool hasPlaceholders) {
  const Exchange &exchange = site.exchange;
  if (!hasPlaceholders && checkedVolume(domainOf(exchange)) < 0)
    return "its tensor has too many elements";
  if (site.kind >= SiteKind::RowPlan)
    return checkRows(site);
  if (site.kind != SiteKind::Exchange &&
      !findCombiner(site.type, site.reduction))
    return std::string(reductionName(site.reduction)) + " of " +
           std::string(elementTypeName(site.type)) +
           " is not supported; convert to a wider type first";
  if (site.kind == SiteKind::AllReduce)
    return {};
  if (std::string error = verifyExchange(exchange); !error.empty())
    return error;
  if (isClearlyFine(site, hasPlaceholders))
    return {};
  Box domain = domainOf(exchange);
  for (int64_t rank = 0, e = numRanks(exchange); rank < e; ++rank) {
    Box needed = neededBox(exchange, rank);
    if (!hasPlaceholders && checkedVolume(needed) < 0)
      return "the needed box of rank " + std::to_string(rank) + " is too large";
    if (site.inPlace) {
      Box owned = ownedBox(exchange, rank);
      for (size_t dim = 0; dim < domain.size(); ++dim)
        if (!needed[dim].contains(owned[dim]))
          return "rank " + std::to_string(rank) +
                 " exchanges in place, but does not keep all that it owns in "
                 "dim " +
                 std::to_string(dim);
    }
    if (site.kind != SiteKind::ReduceScatter)
      continue;
    for (size_t dim = 0; dim < domain.size(); ++dim)
      if (!domain[dim].contains(needed[dim]))
        return "rank " + std::to_string(rank) +
               " needs elements outside the domain in dim " +
               std::to_string(dim) + ", which nobody can contribute";
    int64_t first = firstAlong(exchange.meshShape, site.groupAxes, rank);
    if (!(ownedBox(exchange, first) == ownedBox(exchange, rank)))
      return "ranks " + std::to_string(first) + " and " + std::to_string(rank) +
             " are of one group but own different boxes";
  }
  return {};
}
