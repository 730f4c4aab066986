//===- Exchange.cpp - Owned boxes to needed boxes -------------------------===//
//
// Halo exchange, rebalance, all-gather, all-to-all and shift. What the rank has
// itself is copied while the others arrive; then those that are there come
// first.
//
//===----------------------------------------------------------------------===//

#include "Collectives/ExchangeSteps.h"
#include <functional>

using namespace shardrt;

//===----------------------------------------------------------------------===//
// What all collectives share
//===----------------------------------------------------------------------===//

const Collectives shardrt::hostCollectives = {
    runExchange,      startExchange, waitExchange, runAllReduce,
    runReduceScatter, planRows,      gatherRows,   scatterRows};

SiteTimer::SiteTimer(shardrt_context &ctx, int64_t site)
    : ctx(ctx), site(site), startNs(nowNs()), waitedBefore(ctx.comm->waited()) {
}

SiteTimer::~SiteTimer() {
  shardrt_site_stats &stats = ctx.stats[site];
  tally(stats.count, executions);
  tally(stats.bytes_received, bytesReceived);
  int64_t now = nowNs(), waited = ctx.comm->waited() - waitedBefore;
  tally(stats.total_ns, now - startNs);
  tally(stats.wait_ns, waited);
  tally(stats.overlap_ns, overlapNs);
  if (begins) {
    begins->postedNs = startNs;
    begins->postNs = now - startNs;
    begins->postWaitNs = waited;
  }
  if (!ctx.trace || begins)
    return;
  shardrt_trace_event event = {};
  event.kind = kind;
  event.id = site;
  event.begin_ns = event.posted_ns = startNs;
  event.end_ns = now;
  event.wait_ns = waited;
  if (completes) {
    event.posted_ns = completes->postedNs;
    event.post_ns = completes->postNs;
    event.wait_ns += completes->postWaitNs;
  }
  event.overlap_ns = overlapNs;
  event.bytes = bytesReceived;
  try {
    ctx.trace->add(event);
  } catch (...) {
    ++ctx.trace->dropped;
  }
}

const SitePlan *shardrt::findPlan(shardrt_context &ctx, int64_t site,
                                  SiteKind kind) {
  if (site < 0 || site >= static_cast<int64_t>(ctx.plans.size())) {
    ctx.fail(SHARDRT_USAGE, "calls site " + std::to_string(site) +
                                ", but the program has " +
                                std::to_string(ctx.plans.size()));
    return nullptr;
  }
  const SitePlan &plan = ctx.plans[site];
  if (plan.kind != kind) {
    ctx.fail(SHARDRT_USAGE, "carries out " + ctx.program->describe(site, true) +
                                " as a collective of another kind");
    return nullptr;
  }
  return &plan;
}

bool shardrt::checkBuffers(shardrt_context &ctx, int64_t site, const void *src,
                           int64_t srcBytes, const void *dst, int64_t dstBytes,
                           bool inPlace) {
  const char *why = nullptr;
  auto *a = static_cast<const std::byte *>(src);
  auto *b = static_cast<const std::byte *>(dst);
  if ((srcBytes > 0 && !src) || (dstBytes > 0 && !dst))
    why = "a buffer is NULL";
  else if (srcBytes > 0 && dstBytes > 0 && !(inPlace && a == b) &&
           std::less<>()(a, b + dstBytes) && std::less<>()(b, a + srcBytes))
    why = "source and destination overlap";
  if (!why)
    return true;
  ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) + ": " + why);
  return false;
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

bool shardrt::failOfDevice(shardrt_context &ctx, int64_t site) {
  ctx.fail(ctx.device->status,
           ctx.program->describe(site, true) + ": " + ctx.device->error);
  return false;
}

bool shardrt::checkDeviceBuffers(shardrt_context &ctx, int64_t site,
                                 const void *src, int64_t srcBytes,
                                 const void *dst, int64_t dstBytes,
                                 bool inPlace) {
  if (!checkBuffers(ctx, site, src, srcBytes, dst, dstBytes, inPlace))
    return false;
  if ((srcBytes <= 0 || ctx.device->owns(src, srcBytes)) &&
      (dstBytes <= 0 || ctx.device->owns(dst, dstBytes)))
    return true;
  return failOfDevice(ctx, site);
}

bool shardrt::checkPlace(shardrt_context &ctx, int64_t site,
                         const SitePlan &plan, const void *src,
                         const void *dst) {
  if (!plan.inPlace || plan.dstBytes == 0 || src == dst)
    return true;
  ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) +
                              ": exchanges in place, but source and "
                              "destination are two buffers");
  return false;
}

int64_t shardrt::findPending(shardrt_context &ctx, int64_t site) {
  for (int64_t index = 0; index < ctx.maxPending; ++index)
    if (!ctx.pending[index].used)
      return index + 1;
  ctx.fail(SHARDRT_USAGE, "starts " + ctx.program->describe(site, true) +
                              " while " + std::to_string(ctx.maxPending) +
                              " exchanges are under way; wait for one first");
  return 0;
}

bool shardrt::takePending(shardrt_context &ctx, int64_t token,
                          shardrt_context::Pending &pending) {
  if (ctx.comm->status())
    return false;
  if (token < 1 || token > ctx.maxPending || !ctx.pending[token - 1].used) {
    ctx.fail(SHARDRT_USAGE, "waits for an exchange that is not under "
                            "way: token " +
                                std::to_string(token));
    return false;
  }
  pending = ctx.pending[token - 1];
  ctx.pending[token - 1].used = false;
  return true;
}

/// Waits until nobody reads what an unreleased exchange has shown.
static bool release(shardrt_context &ctx,
                    std::vector<Ticket>::iterator unreleased) {
  Ticket ticket = *unreleased;
  ctx.unreleased.erase(unreleased);
  return ctx.comm->finish(ticket, ctx.plans[ticket.call.site].readers);
}

namespace {
/// Ranks that read one another's memory.
struct HostWay {
  static constexpr auto checkBuffers = shardrt::checkBuffers;
  static bool begin(shardrt_context &, int64_t, const SitePlan &,
                    shardrt_context::Pending &) {
    return true;
  }
  static bool post(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                   shardrt_context::Pending &pending) {
    return ctx.comm->post({site, 0}, {pending.src, plan.srcBytes, plan.pieces},
                          plan.readers, pending.ticket);
  }
  static bool complete(shardrt_context &ctx, const SitePlan &plan,
                       const shardrt_context::Pending &pending, void *to,
                       const void *fill, int64_t &lastPost) {
    Comm &comm = *ctx.comm;
    const Ticket &ticket = pending.ticket;
    auto *src = static_cast<const std::byte *>(pending.src);
    auto *dst = static_cast<std::byte *>(to);
    // Nothing but what is there already, where they are one buffer and the
    // exchange is not in place.
    if (src != dst || plan.inPlace)
      for (const BoxCopy &copy : plan.own)
        runCopy(copy, src, dst);
    for (const BoxCopy &copy : plan.fills)
      runFill(copy, dst, fill, plan.elementBytes);

    auto receive = [&](const SitePlan::Source &source) {
      const std::byte *data = nullptr;
      if (!comm.open(ticket, source.peer, data))
        return false;
      lastPost = std::max(lastPost, comm.postedAt(ticket, source.peer));
      for (const BoxCopy &copy : source.copies)
        runCopy(copy, data, dst);
      comm.close(ticket, source.peer);
      return true;
    };
    // Two rounds: who is there already, then who is late. 64 sources are
    // tracked; those beyond are read in the second round.
    uint64_t done = 0;
    for (size_t i = 0; i < plan.sources.size() && i < 64; ++i)
      if (comm.ready(ticket, plan.sources[i].peer)) {
        if (!receive(plan.sources[i]))
          return false;
        done |= uint64_t(1) << i;
      }
    for (size_t i = 0; i < plan.sources.size(); ++i)
      if ((i >= 64 || !(done >> i & 1)) && !receive(plan.sources[i]))
        return false;
    if (!plan.releasedLater || ctx.device)
      return comm.finish(ticket, plan.readers);
    // What is kept follows from the program alone, so that all ranks keep the
    // same.
    if (ctx.unreleased.size() == ctx.maxUnreleased &&
        !release(ctx, ctx.unreleased.begin()))
      return false;
    ctx.unreleased.push_back(ticket);
    return true;
  }
};
} // namespace

int shardrt::runExchange(shardrt_context &ctx, int64_t site, const void *src,
                         void *dst, const void *fill) {
  return ExchangeSteps<HostWay>::run(ctx, site, src, dst, fill);
}

int64_t shardrt::startExchange(shardrt_context &ctx, int64_t site,
                               const void *src) {
  return ExchangeSteps<HostWay>::start(ctx, site, src);
}

int shardrt::waitExchange(shardrt_context &ctx, int64_t token, void *dst,
                          const void *fill) {
  return ExchangeSteps<HostWay>::wait(ctx, token, dst, fill);
}

int shardrt::releaseExchange(shardrt_context &ctx, int64_t site) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::Exchange);
  if (!plan || ctx.comm->status())
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.executions = 0;
  timer.kind = SHARDRT_TRACE_RELEASE;
  for (size_t i = 0; i < ctx.unreleased.size();) {
    if (ctx.unreleased[i].call.site != site)
      ++i;
    else if (!release(ctx, ctx.unreleased.begin() + static_cast<int64_t>(i)))
      return ctx.comm->status();
  }
  return SHARDRT_OK;
}
