//===- ExchangeSteps.h - The three calls of an exchange ---------*- C++ -*-===//
//
// What an exchange checks, counts and keeps between its start and its wait is
// the same however its boxes travel. A way says the rest:
//
//   checkBuffers  as of Collectives.h, for the buffers that it takes
//   begin         before the post of an exchange in two halves
//   post          shows the source: fills the ticket, and `shown` if need be
//   complete      fills `dst` and waits for the readers of the source; raises
//                 `lastPost` to when the last of its sources had posted, if it
//                 can go on without them until then
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_EXCHANGESTEPS_H
#define SHARDRT_COLLECTIVES_EXCHANGESTEPS_H

#include "Collectives/Collectives.h"
#include "Host/Clock.h"
#include <algorithm>

namespace shardrt {

template <typename Way> struct ExchangeSteps {
  using Pending = shardrt_context::Pending;

  static int run(shardrt_context &ctx, int64_t site, const void *src, void *dst,
                 const void *fill) {
    const SitePlan *plan = findPlan(ctx, site, SiteKind::Exchange);
    if (!plan || !check(ctx, site, *plan, src, dst))
      return ctx.comm->status();
    SiteTimer timer(ctx, site);
    timer.executions = plan->isLocal ? 0 : 1;
    timer.bytesReceived = plan->bytesReceived;
    Pending pending;
    pending.src = src;
    int64_t lastPost = 0;
    if (!Way::post(ctx, site, *plan, pending) ||
        !Way::complete(ctx, *plan, pending, dst, fill, lastPost))
      return ctx.comm->status();
    return SHARDRT_OK;
  }

  static int64_t start(shardrt_context &ctx, int64_t site, const void *src) {
    const SitePlan *plan = findPlan(ctx, site, SiteKind::Exchange);
    if (!plan || !Way::checkBuffers(ctx, site, src, plan->srcBytes, nullptr, 0,
                                    /*inPlace=*/false))
      return 0;
    int64_t token = findPending(ctx, site);
    if (token == 0)
      return 0;
    Pending &pending = ctx.pending[token - 1];
    SiteTimer timer(ctx, site);
    timer.executions = 0;
    timer.begins = &pending;
    pending.src = src;
    pending.room = nullptr;
    pending.mark = static_cast<int>(ctx.beginMark + token - 1);
    if (!Way::begin(ctx, site, *plan, pending) ||
        !Way::post(ctx, site, *plan, pending))
      return 0;
    pending.used = true;
    pending.startedNs = nowNs();
    return token;
  }

  static int wait(shardrt_context &ctx, int64_t token, void *dst,
                  const void *fill) {
    Pending pending;
    if (!takePending(ctx, token, pending))
      return ctx.comm->status();
    int64_t site = pending.ticket.call.site;
    const SitePlan &plan = ctx.plans[site];
    if (!check(ctx, site, plan, pending.src, dst))
      return ctx.comm->status();
    SiteTimer timer(ctx, site);
    timer.executions = plan.isLocal ? 0 : 1;
    timer.bytesReceived = plan.bytesReceived;
    timer.completes = &pending;
    int64_t came = nowNs(), lastPost = pending.startedNs;
    if (!Way::complete(ctx, plan, pending, dst, fill, lastPost))
      return ctx.comm->status();
    // Without the work in between it would have waited that long.
    timer.overlapNs = std::min(lastPost, came) - pending.startedNs;
    return SHARDRT_OK;
  }

private:
  static bool check(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                    const void *src, const void *dst) {
    return Way::checkBuffers(ctx, site, src, plan.srcBytes, dst, plan.dstBytes,
                             plan.inPlace || plan.mayStay) &&
           checkPlace(ctx, site, plan, src, dst);
  }
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_EXCHANGESTEPS_H
