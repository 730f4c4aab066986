//===- Plan.cpp - One site as one rank carries it out ---------------------===//
//
// Readers are derived from sendsOf, sources from receivesOf: each rank plans
// alone and the two sides fit because both follow from the same tables.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Plan.h"
#include "Program/CheckSite.h"
#include <algorithm>

using namespace shardrt;
using namespace shardc;

static void sortUnique(std::vector<int64_t> &list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// The box that the source buffer of `rank` holds.
static Box sourceBox(const Site &site, int64_t rank) {
  return site.inPlace ? neededBox(site.exchange, rank)
                      : ownedBox(site.exchange, rank);
}

static void planExchange(const Site &site, int64_t rank, SitePlan &plan) {
  const Exchange &exchange = site.exchange;
  Box needed = neededBox(exchange, rank);
  plan.mayStay = !site.inPlace && needed == ownedBox(exchange, rank);
  // Where there is a constant.
  Box filled = domainOf(exchange);
  for (const DimExchange &dim : exchange.dims)
    if (dim.padding != Padding::Constant)
      filled[dim.dim] = needed[dim.dim];
  std::vector<Box> constant;
  appendOutside(needed, filled, constant);
  for (const Box &box : constant)
    plan.fills.push_back(planCopy(box, box, needed, plan.elementBytes));
  for (const Transfer &transfer : receivesOf(exchange, rank)) {
    if (transfer.peer == rank && site.inPlace &&
        transfer.box == transfer.source)
      continue;
    // In the coordinates of where it goes.
    Box buffer = sourceBox(site, transfer.peer);
    for (size_t dim = 0; dim < buffer.size(); ++dim) {
      int64_t shift = transfer.box[dim].begin - transfer.source[dim].begin;
      buffer[dim] = {buffer[dim].begin + shift, buffer[dim].end + shift};
    }
    BoxCopy copy = planCopy(transfer.box, buffer, needed, plan.elementBytes);
    if (transfer.peer == rank) {
      plan.own.push_back(std::move(copy));
      continue;
    }
    plan.bytesReceived += copy.bytes();
    if (plan.sources.empty() || plan.sources.back().peer != transfer.peer)
      plan.sources.push_back({transfer.peer, {}});
    plan.sources.back().copies.push_back(std::move(copy));
  }
  // Starting with the next rank above, not all ranks read the same one first.
  auto above = std::find_if(plan.sources.begin(), plan.sources.end(),
                            [&](const auto &s) { return s.peer > rank; });
  std::rotate(plan.sources.begin(), above, plan.sources.end());
  for (const Transfer &transfer : sendsOf(exchange, rank))
    plan.readers.push_back(transfer.peer);
  sortUnique(plan.readers);
}

/// True if each rank owns what it needs of each dim, without the padding.
static bool isLocal(const Exchange &exchange) {
  return std::all_of(
      exchange.dims.begin(), exchange.dims.end(), [](const DimExchange &dim) {
        if (dim.padding != Padding::Constant)
          return false;
        Interval domain{0, dim.size()};
        for (size_t i = 0; i < dim.owned.size(); ++i)
          if (!dim.owned[i].contains(intersect(dim.needed[i], domain)))
            return false;
        return true;
      });
}

static void planReduceScatter(const Site &site, int64_t rank, SitePlan &plan) {
  const Exchange &exchange = site.exchange;
  auto groupOf = [&](int64_t of) {
    return groupAlong(exchange.meshShape, site.groupAxes, of);
  };
  Box needed = neededBox(exchange, rank);
  for (const Transfer &transfer : receivesOf(exchange, rank)) {
    SitePlan::Part part;
    part.ranks = groupOf(transfer.peer);
    part.copy = planCopy(transfer.box, ownedBox(exchange, transfer.peer),
                         needed, plan.elementBytes);
    for (int64_t from : part.ranks)
      if (from != rank) {
        plan.opened.push_back(from);
        plan.bytesReceived += part.copy.bytes();
      }
    plan.parts.push_back(std::move(part));
  }
  sortUnique(plan.opened);
  // Whoever reads one of my group reads me, for it owns what I own.
  for (int64_t member : groupOf(rank)) {
    for (const Transfer &transfer : receivesOf(exchange, member))
      if (transfer.peer == member)
        plan.readers.push_back(member);
    for (const Transfer &transfer : sendsOf(exchange, member))
      plan.readers.push_back(transfer.peer);
  }
  sortUnique(plan.readers);
  std::erase(plan.readers, rank);
}

SitePlan shardrt::planSite(const Site &site, int64_t rank) {
  SitePlan plan;
  plan.kind = site.kind;
  plan.elementBytes = elementBytes(site.type);
  if (site.kind != SiteKind::Exchange)
    plan.combiner = findCombiner(site.type, site.reduction);
  if (site.kind == SiteKind::AllReduce) {
    plan.group = groupAlong(site.exchange.meshShape, site.groupAxes, rank);
    plan.readers = plan.group;
    std::erase(plan.readers, rank);
    return plan;
  }
  plan.inPlace = site.inPlace;
  plan.releasedLater = site.releasedLater;
  plan.srcBytes = volumeOf(sourceBox(site, rank)) * plan.elementBytes;
  if (site.kind >= SiteKind::RowPlan)
    return plan;
  plan.isLocal = site.kind == SiteKind::Exchange && isLocal(site.exchange);
  plan.dstBytes = volumeOf(neededBox(site.exchange, rank)) * plan.elementBytes;
  if (site.kind == SiteKind::Exchange)
    planExchange(site, rank, plan);
  else
    planReduceScatter(site, rank, plan);
  return plan;
}
