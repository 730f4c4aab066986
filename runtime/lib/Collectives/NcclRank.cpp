//===- NcclRank.cpp - One rank's communicators ----------------------------===//

#include "Collectives/NcclRank.h"
#include "Collectives/Context.h"
#include "Collectives/Pack.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

using namespace shardrt;
using namespace shardrt::nccl;

NcclRank::~NcclRank() {
  for (auto [group, comm] : groups)
    library.commDestroy(comm);
  if (world)
    library.commDestroy(world);
}

void NcclRank::abort() {
  for (auto [group, comm] : groups)
    library.commAbort(comm);
  groups.clear();
  if (world)
    library.commAbort(world);
  world = nullptr;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool NcclRank::check(shardrt_context &ctx, Result result, CommHandle comm,
                     const std::string &what) {
  if (result == success || result == inProgress)
    return true;
  ctx.fail(result == remoteError ? SHARDRT_LOST : SHARDRT_REFUSED,
           "NCCL: " + what + ": " + library.nameOf(result, comm));
  return false;
}

bool NcclRank::giveUp(shardrt_context &ctx, const std::string &what) {
  ctx.fail(SHARDRT_WATCHDOG,
           "NCCL: " + what + " has not ended after " +
               std::to_string(timeoutNs / 1'000'000) +
               " ms: a rank is missing, or does something else; the "
               "communicators are aborted");
  return false;
}

bool NcclRank::settle(shardrt_context &ctx, CommHandle comm,
                      const std::string &what) {
  std::optional<WaitLimit> limit;
  for (int64_t round = 0;; ++round) {
    Result state = success;
    if (Result result = library.commGetAsyncError(comm, &state);
        !check(ctx, result, comm, what) || !check(ctx, state, comm, what))
      return false;
    if (state == success)
      return true;
    if (ctx.comm->status())
      return false;
    // Reading the clock costs more than looking again.
    if (round < 16) {
      std::this_thread::yield();
      continue;
    }
    if (!limit)
      limit.emplace(timeoutNs);
    if (timeoutNs > 0 && limit->leftNs() < 0)
      return giveUp(ctx, what);
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min<int64_t>(round, 200)));
  }
}

bool NcclRank::keepWaiting(shardrt_context &ctx, int64_t waitedNs) {
  if (ctx.comm->status())
    return false;
  std::string what = ctx.program->describe(lastSite, true);
  auto isWell = [&](CommHandle comm) {
    Result state = success;
    return check(ctx, library.commGetAsyncError(comm, &state), comm, what) &&
           check(ctx, state, comm, what);
  };
  if (world && !isWell(world))
    return false;
  for (auto [group, comm] : groups)
    if (!isWell(comm))
      return false;
  int64_t now = nowNs();
  int64_t sinceNs = std::max(now - waitedNs, lastReturnNs(now));
  return timeoutNs <= 0 || now - sinceNs <= timeoutNs ||
         giveUp(ctx, "the work after " + what);
}

bool NcclRank::call(shardrt_context &ctx, int64_t site, CommHandle comm,
                    const std::function<Result()> &calls) {
  lastSite = site;
  std::string what = ctx.program->describe(site, true);
  if (!ctx.device->enter()) {
    ctx.fail(ctx.device->status, ctx.device->error);
    return false;
  }
  Result first = library.groupStart();
  if (first == success)
    first = calls();
  // A group that was begun is ended, whatever came of the calls.
  Result last = library.groupEnd();
  return check(ctx, first, comm, what) && check(ctx, last, comm, what) &&
         settle(ctx, comm, what);
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// The mesh axes along which ranks are a group at `site`.
static std::vector<int64_t> groupAxesOf(const Site &site) {
  std::vector<int64_t> axes = site.groupAxes;
  if (site.kind == SiteKind::Exchange)
    for (const shardc::DimExchange &dim : site.exchange.dims)
      axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

/// Whether some rank may call NCCL on a group's communicator: all take part
/// when it is made. Others send to one another, on the communicator of all.
static bool mayHaveGroup(const Site &site) {
  if (site.kind == SiteKind::Exchange)
    return std::all_of(
        site.exchange.dims.begin(), site.exchange.dims.end(),
        [&](const shardc::DimExchange &dim) {
          shardc::Interval whole = {0, site.exchange.globalShape[dim.dim]};
          return std::all_of(
              dim.needed.begin(), dim.needed.end(),
              [&](shardc::Interval needed) { return needed == whole; });
        });
  return site.kind == SiteKind::AllReduce ||
         site.kind == SiteKind::ReduceScatter;
}

bool NcclRank::connect(shardrt_context &ctx) {
  if (world)
    return true;
  if (!ctx.device->enter()) {
    ctx.fail(ctx.device->status, ctx.device->error);
    return false;
  }
  Config config;
  config.blocking = 0;
  std::string what =
      "the communicator of " + std::to_string(ctx.numRanks) + " ranks";
  Result result =
      library.commInitRankConfig(&world, static_cast<int>(ctx.numRanks), id,
                                 static_cast<int>(ctx.rank), &config);
  if (!check(ctx, result, world, what)) {
    world = nullptr;
    return false;
  }
  if (!settle(ctx, world, what))
    return false;
  // In the order of sites, which is the same on all ranks.
  std::set<std::vector<int64_t>> known;
  const SiteTable &table = ctx.program->table;
  for (size_t i = 0; i < table.sites.size(); ++i) {
    const Site &site = table.sites[i];
    std::vector<int64_t> axes = groupAxesOf(site);
    if (!mayHaveGroup(site) || !known.insert(axes).second)
      continue;
    std::vector<int64_t> group =
        shardc::groupAlong(table.meshShape, axes, ctx.rank);
    auto size = static_cast<int64_t>(group.size());
    if (size == 1 || size == ctx.numRanks)
      continue;
    CommHandle made = nullptr;
    what = "the communicator along " + ctx.program->siteAxes[i];
    if (!check(ctx,
               library.commSplit(world, static_cast<int>(group[0]),
                                 static_cast<int>(ctx.rank), &made, &config),
               world, what) ||
        !settle(ctx, world, what))
      return false;
    groups[group] = made;
    if (!settle(ctx, made, what))
      return false;
  }
  return true;
}

CommHandle NcclRank::of(const std::vector<int64_t> &group) const {
  auto found = groups.find(group);
  return found == groups.end() ? world : found->second;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

using Message = NcclSitePlan::Message;

static Message &messageOf(std::vector<Message> &list, int64_t peer) {
  for (Message &message : list)
    if (message.peer == peer)
      return message;
  list.push_back({peer, {}, 0, -1, 0});
  return list.back();
}

/// What `from` sends to `to` at a site, in the order in which both count it:
/// the reader's plan says.
static std::vector<BoxCopy> copiesBetween(const SitePlan &reader,
                                          int64_t from) {
  std::vector<BoxCopy> copies;
  for (const SitePlan::Source &source : reader.sources)
    if (source.peer == from)
      copies.insert(copies.end(), source.copies.begin(), source.copies.end());
  for (const SitePlan::Part &part : reader.parts)
    for (size_t i = 0; i < part.ranks.size(); ++i)
      if (part.ranks[i] == from) {
        copies.push_back(part.copy);
        // Parts of one member are together, as in the result.
        copies.back().dstOffset += static_cast<int64_t>(i) * reader.dstBytes;
      }
  return copies;
}

/// Whether the members of `plan.group` all give one block to each, equal and
/// contiguous, so that one call of NCCL does it.
static bool isEven(const Site &site, const NcclSitePlan &plan) {
  auto size = static_cast<int64_t>(plan.group.size());
  if (size < 2 || site.inPlace)
    return false;
  int64_t block = -1;
  for (int64_t i = 0; i < size; ++i) {
    SitePlan member = planSite(site, plan.group[i]);
    auto isBlock = [&](const BoxCopy &copy, int64_t src, int64_t dst) {
      return copy.dims.empty() && copy.run == block && copy.srcOffset == src &&
             copy.dstOffset == dst;
    };
    int64_t mine = std::min(member.srcBytes, member.dstBytes);
    if (mine == 0 || (block >= 0 && block != mine))
      return false;
    block = mine;
    if (site.kind == SiteKind::ReduceScatter) {
      if (member.parts.size() != 1 || member.parts[0].ranks != plan.group ||
          member.srcBytes != size * block || member.dstBytes != block ||
          !isBlock(member.parts[0].copy, i * block, 0))
        return false;
      continue;
    }
    if (!member.fills.empty() || member.own.size() != 1 ||
        !isBlock(member.own[0], 0, i * block) || member.srcBytes != block ||
        member.dstBytes != size * block ||
        static_cast<int64_t>(member.sources.size()) != size - 1)
      return false;
    for (const SitePlan::Source &source : member.sources) {
      auto at = std::find(plan.group.begin(), plan.group.end(), source.peer) -
                plan.group.begin();
      if (at == size || source.copies.size() != 1 ||
          !isBlock(source.copies[0], 0, at * block))
        return false;
    }
  }
  return true;
}

const NcclSitePlan &NcclRank::plan(shardrt_context &ctx, int64_t number) {
  auto [entry, isNew] = plans.try_emplace(number);
  NcclSitePlan &plan = entry->second;
  if (!isNew)
    return plan;
  const Site &site = ctx.program->table.sites[number];
  const SitePlan &mine = ctx.plans[number];
  plan.group = shardc::groupAlong(ctx.program->table.meshShape,
                                  groupAxesOf(site), ctx.rank);
  if (site.kind != SiteKind::AllReduce)
    plan.isEven = isEven(site, plan);
  if (!mine.parts.empty())
    plan.members = static_cast<int64_t>(mine.parts[0].ranks.size());
  for (int64_t reader : mine.readers) {
    std::vector<BoxCopy> copies =
        site.kind == SiteKind::AllReduce
            ? std::vector<BoxCopy>()
            : copiesBetween(planSite(site, reader), ctx.rank);
    for (BoxCopy &copy : copies) {
      Message &message = messageOf(plan.sends, reader);
      message.bytes += copy.bytes();
      message.copies.push_back(std::move(copy));
    }
  }
  std::vector<int64_t> peers = mine.opened;
  for (const SitePlan::Source &source : mine.sources)
    peers.push_back(source.peer);
  for (int64_t peer : peers)
    for (BoxCopy &copy : copiesBetween(mine, peer)) {
      Message &message = messageOf(plan.receives, peer);
      message.bytes += copy.bytes();
      message.copies.push_back(std::move(copy));
    }
  // Those of one run need no memory of their own.
  auto place = [](std::vector<Message> &list, int64_t &bytes, bool isSend) {
    std::erase_if(list, [](const Message &m) { return m.bytes == 0; });
    for (Message &message : list) {
      bool isRun = message.copies.size() == 1 && message.copies[0].dims.empty();
      int64_t at = bytes;
      if (!isRun) {
        message.offset = bytes;
        bytes += (message.bytes + 255) / 256 * 256;
      }
      for (BoxCopy &copy : message.copies) {
        if (isRun)
          break;
        copy = isSend ? packed(std::move(copy), at)
                      : unpacked(std::move(copy), at);
        at += copy.bytes();
      }
    }
  };
  place(plan.sends, plan.sendBytes, true);
  place(plan.receives, plan.receiveBytes, false);
  for (Message &message : plan.receives) {
    message.besideOffset = plan.besideBytes;
    plan.besideBytes += (message.bytes + 255) / 256 * 256;
  }
  return plan;
}
