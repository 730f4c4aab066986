//===- RowPlan.cpp - Who asks whom for which rows -------------------------===//
//
// A plan says, for the indices that each rank holds, whose rows they name.
// Gathers and scatters with the same indices share it. Ranks tell one another
// what they ask for when the plan is made; where all hold the same indices they
// know. Then rows travel, no others, and to each rank each at most once.
//
// What a rank posts for a plan are the lists that a transport without common
// memory needs to pack rows: for a gather the rows that it asks each owner for,
// for a scatter its positions and their rows.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Collectives/RowPositions.h"
#include <utility>

using namespace shardrt;

namespace {
/// Unless all went well, others may be reading a buffer that is about to go
/// away.
struct SettleOnFailure {
  shardrt_context &ctx;
  bool isDone = false;
  ~SettleOnFailure() {
    if (isDone)
      return;
    if (ctx.comm->status() == SHARDRT_OK)
      ctx.comm->fail(SHARDRT_MEMORY, "out of memory in the runtime");
    ctx.comm->settle();
  }
};
} // namespace

/// Shows each rank of the group its part of `words`, and calls `read(i, list)`
/// with what rank `group[i]` has for this one. `words` are a header (where each
/// list begins, and where the last ends), then the lists; entries are of
/// `width` words.
template <typename Read>
static bool
tellGroup(shardrt_context &ctx, int64_t site, std::span<const int64_t> group,
          const std::vector<int64_t> &words, int64_t width, Read read) {
  std::vector<int64_t> others(group.begin(), group.end());
  std::erase(others, ctx.rank);
  size_t me = std::find(group.begin(), group.end(), ctx.rank) - group.begin();
  SettleOnFailure guard{ctx};
  Ticket ticket;
  if (!ctx.comm->post(
          {site, 0},
          {words.data(), static_cast<int64_t>(words.size() * sizeof(int64_t))},
          others, ticket))
    return false;
  for (size_t step = 0; step < group.size(); ++step) {
    // In any order of arrival would do as well: `read` sorts.
    size_t i = (me + step) % group.size();
    const std::byte *data = reinterpret_cast<const std::byte *>(words.data());
    if (i != me && !ctx.comm->open(ticket, group[i], data))
      return false;
    auto *begins = reinterpret_cast<const int64_t *>(data);
    const int64_t *entries = begins + group.size() + 1;
    read(i, std::span<const int64_t>(entries + begins[me] * width,
                                     (begins[me + 1] - begins[me]) * width));
    if (i != me)
      ctx.comm->close(ticket, group[i]);
  }
  guard.isDone = ctx.comm->finish(ticket, others);
  return guard.isDone;
}

/// Whether ranks that differ along `axes` hold the same indices and want the
/// same of each slice. Then each knows what the others ask for.
static bool wantTheSame(const Site &info, std::span<const int64_t> axes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  auto meets = [&](const std::vector<int64_t> &cutting) {
    return std::any_of(cutting.begin(), cutting.end(), [&](int64_t axis) {
      return std::find(axes.begin(), axes.end(), axis) != axes.end();
    });
  };
  return !meets(cuttingAxes(info.exchange.dims, mesh)) &&
         !meets(cuttingAxes(info.rows.dims, mesh, /*ofParts=*/true));
}

/// Asks: the pairs of each owner, sorted by row.
static bool planGather(shardrt_context &ctx, int64_t site, const Site &info,
                       const Positions &positions, const void *indices,
                       RowPlan &plan, int64_t &bytes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  std::vector<int64_t> axes = cuttingAxes(info.rows.dims, mesh);
  std::vector<int64_t> group = shardc::groupAlong(mesh, axes, ctx.rank);
  std::vector<int64_t> place(ctx.numRanks, -1);
  for (size_t i = 0; i < group.size(); ++i)
    place[group[i]] = static_cast<int64_t>(i);
  std::vector<RowPlan::Ask> asks(group.size());
  std::vector<int64_t> most(group.size(), -1);
  positions.forEach(indices, /*drops=*/false,
                    [&](int64_t at, int64_t owner, int64_t row) {
                      int64_t i = place[owner];
                      asks[i].pairs.push_back({row, at});
                      most[i] = std::max(most[i], row);
                    });
  plan.asks.clear();
  plan.askers.clear();
  plan.asked.clear();
  plan.rowsReceived = 0;
  std::vector<int64_t> words = {0}, rows;
  std::vector<RowPlan::Pair> sorted;
  for (size_t i = 0; i < group.size(); ++i) {
    std::vector<RowPlan::Pair> &pairs = asks[i].pairs;
    asks[i].peer = group[i];
    int64_t range = most[i] + 1, count = static_cast<int64_t>(pairs.size());
    if (range <= 8 * count) {
      // By counting: the same order as of a stable sort.
      std::vector<int64_t> starts(range + 1, 0);
      for (const RowPlan::Pair &pair : pairs)
        ++starts[pair.row + 1];
      for (int64_t row = 0; row < range; ++row)
        starts[row + 1] += starts[row];
      sorted.resize(count);
      for (const RowPlan::Pair &pair : pairs)
        sorted[starts[pair.row]++] = pair;
      pairs.swap(sorted);
    } else {
      std::sort(pairs.begin(), pairs.end(),
                [](const RowPlan::Pair &a, const RowPlan::Pair &b) {
                  return a.row < b.row || (a.row == b.row && a.at < b.at);
                });
    }
    size_t before = rows.size();
    if (group[i] != ctx.rank)
      for (size_t p = 0; p < pairs.size(); ++p)
        if (p == 0 || pairs[p].row != pairs[p - 1].row)
          rows.push_back(pairs[p].row);
    plan.rowsReceived += static_cast<int64_t>(rows.size() - before);
    words.push_back(static_cast<int64_t>(rows.size()));
  }
  words.insert(words.end(), rows.begin(), rows.end());
  if (wantTheSame(info, axes)) {
    // What this rank reads of its own block all others read of it.
    std::vector<int64_t> mine;
    for (const RowPlan::Pair &pair : asks[place[ctx.rank]].pairs)
      if (mine.empty() || mine.back() != pair.row)
        mine.push_back(pair.row);
    for (int64_t peer : group)
      if (peer != ctx.rank && !mine.empty()) {
        plan.askers.push_back(peer);
        plan.asked.push_back(mine);
      }
  } else if (!tellGroup(ctx, site, group, words, /*width=*/1,
                        [&](size_t i, std::span<const int64_t> list) {
                          if (group[i] == ctx.rank)
                            return;
                          bytes += static_cast<int64_t>((list.size() + 1) * 8);
                          if (list.empty())
                            return;
                          plan.askers.push_back(group[i]);
                          plan.asked.emplace_back(list.begin(), list.end());
                        }))
    return false;
  // Starting with the next rank above, not all ranks read the same one first.
  for (size_t step = 0; step < group.size(); ++step) {
    size_t i = (place[ctx.rank] + step) % group.size();
    if (asks[i].pairs.empty())
      continue;
    plan.asks.push_back(std::move(asks[i]));
    RowPlan::Ask &ask = plan.asks.back();
    if (!ctx.comm->packs() || ask.peer == ctx.rank)
      continue;
    // Rows come one behind the other, in the order of their numbers.
    int64_t row = -1, number = -1;
    for (RowPlan::Pair &pair : ask.pairs) {
      number += pair.row != row;
      row = std::exchange(pair.row, number);
    }
    ask.numRows = number + 1;
  }
  return true;
}

/// Takes: what other ranks' indices name of this rank's block.
static bool planScatter(shardrt_context &ctx, int64_t site, const Site &info,
                        const Positions &positions, const void *indices,
                        RowPlan &plan, int64_t &bytes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  std::vector<int64_t> axes = cuttingAxes(info.exchange.dims, mesh),
                       partAxes =
                           cuttingAxes(info.rows.dims, mesh, /*ofParts=*/true);
  for (int64_t axis : partAxes)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      axes.push_back(axis);
  std::vector<int64_t> group = shardc::groupAlong(mesh, axes, ctx.rank);
  // Several members may own one block, and rows that no member owns are of
  // no interest to them: another group has the same indices.
  std::vector<std::pair<int64_t, int64_t>> owners; // canonical owner, place
  std::vector<int64_t> rowAxes = cuttingAxes(info.rows.dims, mesh);
  auto ownerKey = [&](int64_t rank) {
    return shardc::coordinateAlong(mesh, rowAxes, rank);
  };
  for (size_t i = 0; i < group.size(); ++i)
    owners.push_back({ownerKey(group[i]), static_cast<int64_t>(i)});
  int64_t keys = 1;
  for (int64_t axis : rowAxes)
    keys *= mesh[axis];
  std::vector<std::vector<int64_t>> byKey(keys);
  positions.forEach(indices, /*drops=*/true,
                    [&](int64_t at, int64_t owner, int64_t row) {
                      std::vector<int64_t> &list = byKey[ownerKey(owner)];
                      list.push_back(at);
                      list.push_back(row);
                    });
  std::vector<int64_t> words = {0}, entries;
  for (auto [key, place] : owners) {
    entries.insert(entries.end(), byKey[key].begin(), byKey[key].end());
    words.push_back(static_cast<int64_t>(entries.size()) / 2);
  }
  words.insert(words.end(), entries.begin(), entries.end());
  plan.takers.clear();
  plan.taken.clear();
  for (auto [key, place] : owners)
    if (!byKey[key].empty() && group[place] != ctx.rank) {
      plan.takers.push_back(group[place]);
      std::vector<int64_t> &taken = plan.taken.emplace_back();
      for (size_t e = 0; e < byKey[key].size(); e += 2)
        taken.push_back(byKey[key][e]);
    }

  plan.sources.clear();
  plan.takes.clear();
  plan.updatesReceived = 0;
  struct Part {
    int64_t begin, place;
    std::vector<int64_t> pairs;
  };
  std::vector<Part> parts;
  if (!tellGroup(
          ctx, site, group, words, /*width=*/2,
          [&](size_t i, std::span<const int64_t> list) {
            if (group[i] != ctx.rank) {
              bytes += static_cast<int64_t>((list.size() + 1) * 8);
              plan.updatesReceived += static_cast<int64_t>(list.size()) / 2;
            }
            if (!list.empty())
              parts.push_back(
                  {0, static_cast<int64_t>(i), {list.begin(), list.end()}});
          }))
    return false;
  bool inOrder = positions.isInOrder() && partAxes.empty();
  std::vector<std::pair<int64_t, RowPlan::Take>> numbered;
  for (Part &part : parts)
    part.begin = Positions(info, group[part.place]).begin();
  std::sort(parts.begin(), parts.end(),
            [](const Part &a, const Part &b) { return a.begin < b.begin; });
  for (const Part &part : parts) {
    Positions theirs(info, group[part.place]);
    int64_t source = static_cast<int64_t>(plan.sources.size());
    bool travels = ctx.comm->packs() && group[part.place] != ctx.rank;
    plan.sources.push_back(
        {group[part.place], travels
                                ? static_cast<int64_t>(part.pairs.size()) / 2
                                : theirs.count()});
    for (size_t e = 0; e < part.pairs.size(); e += 2) {
      int64_t at = part.pairs[e];
      RowPlan::Take take = {source, travels ? static_cast<int64_t>(e) / 2 : at,
                            part.pairs[e + 1]};
      if (inOrder || parts.size() == 1)
        plan.takes.push_back(take);
      else
        numbered.push_back({theirs.globalNumber(at), take});
    }
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[number, take] : numbered)
    plan.takes.push_back(take);
  return true;
}

int64_t shardrt::planRows(shardrt_context &ctx, int64_t site,
                          const void *indices) {
  if (!findPlan(ctx, site, SiteKind::RowPlan))
    return 0;
  const Site &info = ctx.program->table.sites[site];
  if (ctx.rowPlans.size() < ctx.plans.size())
    ctx.rowPlans.resize(ctx.plans.size());
  RowPlan &plan = ctx.rowPlans[site];
  plan.isBuilt = false;
  Positions positions(info, ctx.rank);
  if (!checkBuffers(ctx, site, indices, ctx.plans[site].srcBytes, nullptr, 0,
                    false))
    return 0;
  SiteTimer timer(ctx, site);
  plan.positions = positions.count();
  if (info.rows.gathers && !planGather(ctx, site, info, positions, indices,
                                       plan, timer.bytesReceived))
    return 0;
  if (info.rows.scatters && !planScatter(ctx, site, info, positions, indices,
                                         plan, timer.bytesReceived))
    return 0;
  plan.isBuilt = true;
  return site + 1;
}
