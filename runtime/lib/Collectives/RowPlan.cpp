//===- RowPlan.cpp - Who asks whom for which rows -------------------------===//
//
// A plan says, for the indices that each rank holds, whose rows they name.
// Gathers and scatters with the same indices share it. Ranks exchange
// what they ask for when the plan is made; where all hold the same indices they
// know. Then rows travel, no others, and to each rank each at most once.
//
// What a rank posts for a plan are the lists that a transport without common
// memory needs to pack rows: for a gather the rows that it asks each owner for,
// for a scatter its positions and their rows. Where nothing packs, a gather's
// readers say only how many rows they read of whom.
//
// Indices are often those of the step before: a graph or a mesh that stays. A
// rank whose indices are the same says so in place of its lists; where all say
// so, the plan stays.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Collectives/RowPositions.h"
#include <bit>
#include <cstring>
#include <queue>

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
      ctx.failForMemory();
    ctx.comm->settle();
  }
};

/// The different rows among those of `pairs`, ascending.
class RowSet {
public:
  explicit RowSet(std::span<const RowPlan::Pair> pairs) {
    int64_t most = -1;
    for (const RowPlan::Pair &pair : pairs)
      most = std::max(most, pair.row);
    // A bit a row, unless that is more memory than the rows themselves.
    if (most / 64 <= static_cast<int64_t>(pairs.size())) {
      bits.assign(most / 64 + 1, 0);
      for (const RowPlan::Pair &pair : pairs)
        bits[pair.row / 64] |= uint64_t(1) << pair.row % 64;
      before.reserve(bits.size());
      for (uint64_t word : bits) {
        before.push_back(count);
        count += std::popcount(word);
      }
      return;
    }
    for (const RowPlan::Pair &pair : pairs)
      rows.push_back(pair.row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    count = static_cast<int64_t>(rows.size());
  }

  int64_t size() const { return count; }
  /// The number of `row`, which is one of them.
  int64_t numberOf(int64_t row) const {
    if (bits.empty())
      return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
    uint64_t below = (uint64_t(1) << row % 64) - 1;
    return before[row / 64] + std::popcount(bits[row / 64] & below);
  }
  void appendTo(std::vector<int64_t> &list) const {
    list.insert(list.end(), rows.begin(), rows.end());
    for (size_t i = 0; i < bits.size(); ++i)
      for (uint64_t word = bits[i]; word != 0; word &= word - 1)
        list.push_back(static_cast<int64_t>(i) * 64 + std::countr_zero(word));
  }

private:
  std::vector<uint64_t> bits;
  std::vector<int64_t> before; ///< rows before each word
  std::vector<int64_t> rows;   ///< instead of bits
  int64_t count = 0;
};

/// What one rank publishes for each of its group: a list of words for each. It
/// is shown as one buffer, in which a list has its length in front, or
/// `asBefore`.
class ListExchange {
public:
  static constexpr int64_t asBefore = -1;

  ListExchange(shardrt_context &ctx, int64_t site,
               std::span<const int64_t> group, RowPlan &plan, int64_t &bytes)
      : ctx(ctx), site(site), group(group), words(plan.words), bytes(bytes) {
    me = std::find(group.begin(), group.end(), ctx.rank) - group.begin();
    others.assign(group.begin(), group.end());
    std::erase(others, ctx.rank);
    clear();
  }

  void clear() {
    words.clear();
    begins.clear();
    if (!ctx.comm->packs())
      words.resize(group.size());
  }
  /// The list for the next of the group; `length` is what the reader sees.
  void add(std::span<const int64_t> list, int64_t length) {
    size_t i = begins.size();
    begins.push_back(words.size());
    if (!ctx.comm->packs())
      words[i] = static_cast<int64_t>(words.size());
    words.push_back(length);
    words.insert(words.end(), list.begin(), list.end());
  }

  /// Shows each rank of the group its list, and calls `read(i, length, list)`
  /// with what rank `group[i]`, another one, has for this one. A rank that has
  /// nothing (more) to say posts an empty buffer; it is not one that `speaks`.
  template <typename Read>
  bool exchange(const std::vector<bool> &speaks, bool publishes, Read read) {
    std::vector<std::vector<BoxCopy>> boxes;
    std::vector<Piece> pieces;
    if (publishes && ctx.comm->packs())
      for (size_t i = 0; i < group.size(); ++i) {
        size_t end = i + 1 < group.size() ? begins[i + 1] : words.size();
        if (i != me) {
          BoxCopy copy;
          copy.srcOffset = bytesOf(begins[i]);
          copy.run = bytesOf(end - begins[i]);
          boxes.push_back({copy});
        }
      }
    for (std::vector<BoxCopy> &copies : boxes)
      pieces.push_back({0, copies[0].run, &copies});
    SettleOnFailure guard{ctx};
    Ticket ticket;
    if (!ctx.comm->post({site, 0},
                        {publishes ? words.data() : nullptr,
                         publishes ? bytesOf(words.size()) : 0, pieces},
                        others, ticket))
      return false;
    for (size_t step = 1; step < group.size(); ++step) {
      size_t i = (me + step) % group.size();
      const std::byte *data = nullptr;
      if (!ctx.comm->open(ticket, group[i], data))
        return false;
      if (speaks[i]) {
        auto *theirs = reinterpret_cast<const int64_t *>(data);
        if (!ctx.comm->packs())
          theirs += theirs[me];
        bytes += sizeof(int64_t);
        read(i, theirs[0], theirs + 1);
      }
      ctx.comm->close(ticket, group[i]);
    }
    guard.isDone = ctx.comm->finish(ticket, others);
    return guard.isDone;
  }

  size_t myPlace() const { return me; }

private:
  static int64_t bytesOf(size_t count) {
    return static_cast<int64_t>(count * sizeof(int64_t));
  }

  shardrt_context &ctx;
  int64_t site;
  std::span<const int64_t> group;
  std::vector<int64_t> &words, others;
  std::vector<size_t> begins;
  int64_t &bytes; ///< received
  size_t me;
};
} // namespace

/// Whether ranks that differ along `axes` hold the same indices and want the
/// same of each slice. Then each knows what the others ask for.
static bool wantTheSame(const Site &info, std::span<const int64_t> axes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  auto isCutAlong = [&](const std::vector<int64_t> &cutting) {
    return std::any_of(cutting.begin(), cutting.end(), [&](int64_t axis) {
      return std::find(axes.begin(), axes.end(), axis) != axes.end();
    });
  };
  return !isCutAlong(cuttingAxes(info.exchange.dims, mesh)) &&
         !isCutAlong(cuttingAxes(info.rows.dims, mesh, /*ofParts=*/true));
}

/// Whether rows travel in lists, so that owners have to know which.
static bool needsLists(const shardrt_context &ctx) {
  return ctx.comm->packs() || ctx.device;
}

/// Ranks that are `isNew`, or whose group has one that is, publish their lists,
/// which `fill` makes; `read(i, length, list)` is called with those of each
/// other rank. `staysTheSame` where nobody is. A rank that fails on the way has
/// no plan, and is new the next time: so plans of a group are of one exchange.
template <typename Fill, typename Read>
static bool agree(shardrt_context &ctx, ListExchange &notices, size_t groupSize,
                  bool isNew, bool &staysTheSame, Fill fill, Read read) {
  std::vector<bool> all(groupSize, true), late(groupSize, false);
  if (isNew)
    fill();
  else
    for (size_t i = 0; i < groupSize; ++i)
      notices.add({}, ListExchange::asBefore);
  bool anyLate = !isNew, anyNew = isNew;
  if (!notices.exchange(all, /*publishes=*/true,
                        [&](size_t i, int64_t length, const int64_t *list) {
                          late[i] = length == ListExchange::asBefore;
                          anyLate |= late[i];
                          anyNew |= !late[i];
                          if (!late[i])
                            read(i, length, list);
                        }))
    return false;
  staysTheSame = !anyNew;
  if (!anyNew || !anyLate) {
    // In another group it may be otherwise.
    ctx.comm->skip();
    return true;
  }
  if (!isNew) {
    notices.clear();
    fill();
  }
  return notices.exchange(late, /*publishes=*/!isNew, read);
}

/// Asks: the pairs of each owner, by position.
static bool planGather(shardrt_context &ctx, int64_t site, const Site &info,
                       const void *indices, RowPlan &plan, bool isSame,
                       int64_t &bytes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  std::vector<int64_t> axes = cuttingAxes(info.rows.dims, mesh);
  std::vector<int64_t> group = shardc::groupAlong(mesh, axes, ctx.rank);
  bool isKnown = wantTheSame(info, axes), lists = needsLists(ctx);
  if (isKnown && isSame)
    return true;
  ListExchange notices(ctx, site, group, plan, bytes);
  size_t me = notices.myPlace();
  std::vector<int64_t> mine, rowList;
  plan.receivedAsks.resize(group.size());
  plan.reads.resize(group.size());
  std::vector<bool> reads(group.size(), false);

  auto fill = [&] {
    plan.isBuilt = false;
    plan.asks.clear();
    plan.rowsReceived = 0;
    std::vector<int64_t> place(ctx.numRanks, -1);
    for (size_t i = 0; i < group.size(); ++i) {
      place[group[i]] = static_cast<int64_t>(i);
      plan.reads[i].clear();
    }
    Positions(info, ctx.rank)
        .forEach(indices, /*drops=*/false,
                 [&](int64_t at, int64_t owner, int64_t row) {
                   plan.reads[place[owner]].push_back({row, at});
                 });
    for (size_t i = 0; i < group.size(); ++i) {
      std::vector<RowPlan::Pair> &pairs = plan.reads[i];
      RowSet rows(pairs);
      rowList.clear();
      if (lists)
        rows.appendTo(rowList);
      if (i == me)
        mine = rowList;
      else
        plan.rowsReceived += rows.size();
      notices.add(i == me ? std::span<const int64_t>() : rowList,
                  i == me ? 0 : rows.size());
      if (pairs.empty())
        continue;
      plan.asks.push_back({group[i], static_cast<int64_t>(i), rows.size()});
      // Rows come one behind the other, in the order of their numbers.
      if (ctx.comm->packs() && i != me)
        for (RowPlan::Pair &pair : pairs)
          pair.row = rows.numberOf(pair.row);
    }
    // Starting with itself, not all ranks read the same one first.
    auto above = std::find_if(
        plan.asks.begin(), plan.asks.end(),
        [&](const RowPlan::Ask &ask) { return ask.place >= int64_t(me); });
    std::rotate(plan.asks.begin(), above, plan.asks.end());
  };

  if (isKnown) {
    // What this rank reads of its own block all others read of it.
    fill();
    plan.receivedAsks[me] = mine;
    reads.assign(group.size(), !plan.reads[me].empty());
  } else {
    bool stays = false;
    if (!agree(ctx, notices, group.size(), !isSame, stays, fill,
               [&](size_t i, int64_t length, const int64_t *list) {
                 int64_t listed = lists ? length : 0;
                 bytes += listed * 8;
                 plan.receivedAsks[i].assign(list, list + listed);
                 reads[i] = length > 0;
               }))
      return false;
    if (stays)
      return true;
  }
  plan.askers.clear();
  plan.asked.clear();
  for (size_t i = 0; i < group.size(); ++i)
    if (i != me && reads[i]) {
      plan.askers.push_back(group[i]);
      plan.asked.push_back(plan.receivedAsks[isKnown ? me : i]);
    }
  return true;
}

/// The order in which updates of several sources are applied, where each source
/// has its own in order but they are not one behind the other.
static void mergeTakes(const Site &info, std::span<const int64_t> group,
                       RowPlan &plan) {
  std::vector<Positions> theirs;
  for (const RowPlan::Source &source : plan.sources)
    theirs.emplace_back(info, group[source.place]);
  using Head = std::pair<int64_t, int64_t>; // number, source
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::vector<int64_t> next(plan.sources.size(), 0);
  auto push = [&](int64_t source) {
    const auto &takes = plan.takes[plan.sources[source].place];
    if (next[source] < static_cast<int64_t>(takes.size()))
      heads.push({theirs[source].globalNumber(takes[next[source]].at), source});
  };
  for (size_t i = 0; i < plan.sources.size(); ++i)
    push(static_cast<int64_t>(i));
  while (!heads.empty()) {
    int64_t source = heads.top().second, at = next[source]++;
    heads.pop();
    if (!plan.runs.empty() && plan.runs.back().source == source)
      ++plan.runs.back().end;
    else
      plan.runs.push_back({source, at, at + 1});
    push(source);
  }
}

/// Takes: what other ranks' indices name of this rank's block.
static bool planScatter(shardrt_context &ctx, int64_t site, const Site &info,
                        const void *indices, RowPlan &plan, bool isSame,
                        int64_t &bytes) {
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
  std::vector<int64_t> rowAxes = cuttingAxes(info.rows.dims, mesh);
  auto keyOf = [&](int64_t rank) {
    return shardc::coordinateAlong(mesh, rowAxes, rank);
  };
  int64_t keys = 1;
  for (int64_t axis : rowAxes)
    keys *= mesh[axis];
  ListExchange notices(ctx, site, group, plan, bytes);
  size_t me = notices.myPlace();
  plan.takes.resize(group.size());

  auto fill = [&] {
    plan.isBuilt = false;
    plan.gives.resize(keys);
    for (std::vector<RowPlan::Take> &list : plan.gives)
      list.clear();
    std::vector<int64_t> keyOfRank(ctx.numRanks);
    for (int64_t rank = 0; rank < ctx.numRanks; ++rank)
      keyOfRank[rank] = keyOf(rank);
    Positions(info, ctx.rank)
        .forEach(indices, /*drops=*/true,
                 [&](int64_t at, int64_t owner, int64_t row) {
                   plan.gives[keyOfRank[owner]].push_back({at, row});
                 });
    plan.takers.clear();
    plan.taken.clear();
    for (size_t i = 0; i < group.size(); ++i) {
      const std::vector<RowPlan::Take> &gives = plan.gives[keyOfRank[group[i]]];
      auto count = static_cast<int64_t>(gives.size());
      if (i == me) {
        plan.takes[me] = gives;
        notices.add({}, 0);
        continue;
      }
      static_assert(sizeof(RowPlan::Take) == 2 * sizeof(int64_t));
      notices.add(
          {reinterpret_cast<const int64_t *>(gives.data()), 2 * gives.size()},
          count);
      if (gives.empty())
        continue;
      plan.takers.push_back(group[i]);
      if (!needsLists(ctx))
        continue;
      std::vector<int64_t> &taken = plan.taken.emplace_back();
      for (const RowPlan::Take &give : gives)
        taken.push_back(give.at);
    }
  };

  bool stays = false;
  if (!agree(ctx, notices, group.size(), !isSame, stays, fill,
             [&](size_t i, int64_t length, const int64_t *list) {
               bytes += 2 * length * 8;
               auto *theirs = reinterpret_cast<const RowPlan::Take *>(list);
               plan.takes[i].assign(theirs, theirs + length);
             }))
    return false;
  if (stays)
    return true;
  plan.sources.clear();
  plan.runs.clear();
  plan.updatesReceived = 0;
  std::vector<std::pair<int64_t, int64_t>> order; // first position, place
  for (size_t i = 0; i < group.size(); ++i)
    if (!plan.takes[i].empty())
      order.push_back({Positions(info, group[i]).begin(), i});
  std::sort(order.begin(), order.end());
  for (auto [begin, place] : order) {
    auto count = static_cast<int64_t>(plan.takes[place].size());
    bool isOwn = place == static_cast<int64_t>(me);
    bool travels = ctx.comm->packs() && !isOwn;
    plan.updatesReceived += isOwn ? 0 : count;
    plan.sources.push_back(
        {group[place], place,
         travels ? count : Positions(info, group[place]).count()});
    plan.runs.push_back(
        {static_cast<int64_t>(plan.sources.size()) - 1, 0, count});
  }
  bool isInOrder = Positions(info, ctx.rank).isInOrder() && partAxes.empty();
  if (!isInOrder && plan.sources.size() > 1) {
    plan.runs.clear();
    mergeTakes(info, group, plan);
  }
  if (ctx.comm->packs())
    for (const RowPlan::Source &source : plan.sources)
      for (int64_t i = 0; source.peer != ctx.rank && i < source.positions; ++i)
        plan.takes[source.place][i].at = i;
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
  int64_t size = ctx.plans[site].srcBytes;
  if (!checkBuffers(ctx, site, indices, size, nullptr, 0, false))
    return 0;
  SiteTimer timer(ctx, site);
  bool isSame =
      plan.isBuilt && plan.indices.size() == static_cast<size_t>(size) &&
      (size == 0 || std::memcmp(plan.indices.data(), indices, size) == 0);
  if (!plan.isBuilt)
    plan.positions = Positions(info, ctx.rank).count();
  if ((info.rows.gathers && !planGather(ctx, site, info, indices, plan, isSame,
                                        timer.bytesReceived)) ||
      (info.rows.scatters && !planScatter(ctx, site, info, indices, plan,
                                          isSame, timer.bytesReceived))) {
    plan.isBuilt = false;
    return 0;
  }
  if (!isSame) {
    auto *begin = static_cast<const std::byte *>(indices);
    plan.indices.assign(begin, begin + size);
  }
  plan.isBuilt = true;
  return site + 1;
}
