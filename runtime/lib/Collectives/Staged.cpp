//===- Staged.cpp - A device's buffers through host memory ----------------===//

#include "Collectives/HostCopy.h"
#include "Collectives/Reduce.h"
#include <algorithm>

using namespace shardrt;
using shardc::Box;

/// The element at `device`, NULL for none.
static bool readFill(shardrt_context &ctx, int64_t site, const void *device,
                     int64_t bytes, std::byte (&room)[16], const void *&fill) {
  fill = nullptr;
  if (!device)
    return true;
  fill = room;
  if (ctx.device->download(room, device, bytes))
    return true;
  return failOfDevice(ctx, site);
}

static int runExchangeStaged(shardrt_context &ctx, int64_t site,
                             const void *src, void *dst, const void *fill) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::Exchange);
  if (!plan)
    return ctx.comm->status();
  std::byte room[16];
  const void *element;
  HostCopy from(ctx, site, plan->srcBytes);
  if (!from.from(src) ||
      !readFill(ctx, site, fill, plan->elementBytes, room, element))
    return ctx.comm->status();
  if (plan->inPlace) {
    if (src != dst)
      return ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) +
                                         ": exchanges in place, but source and "
                                         "destination are two buffers");
    int status = runExchange(ctx, site, from.get(), from.get(), element);
    return status || from.to(dst) ? status : ctx.comm->status();
  }
  HostCopy to(ctx, site, plan->dstBytes);
  if (!to.get())
    return ctx.comm->status();
  int status = runExchange(ctx, site, from.get(), to.get(), element);
  return status || to.to(dst) ? status : ctx.comm->status();
}

static int64_t startExchangeStaged(shardrt_context &ctx, int64_t site,
                                   const void *src) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::Exchange);
  if (!plan)
    return 0;
  HostCopy from(ctx, site, plan->srcBytes);
  if (!from.from(src))
    return 0;
  int64_t token = startExchange(ctx, site, from.get());
  // Until the wait; after a failure it goes with the step's memory.
  void *kept = from.take();
  if (token > 0)
    ctx.pending[token - 1].staged = kept;
  return token;
}

static int waitExchangeStaged(shardrt_context &ctx, int64_t token, void *dst,
                              const void *fill) {
  if (int status = ctx.comm->status())
    return status;
  if (token < 1 || token > ctx.maxPending || !ctx.pending[token - 1].used)
    return waitExchange(ctx, token, dst, fill);
  int64_t site = ctx.pending[token - 1].ticket.call.site;
  void *src = ctx.pending[token - 1].staged;
  const SitePlan &plan = ctx.plans[site];
  std::byte room[16];
  const void *element;
  HostCopy to(ctx, site, plan.dstBytes);
  if (!to.get() || !readFill(ctx, site, fill, plan.elementBytes, room, element))
    return ctx.comm->status();
  void *target = plan.inPlace ? src : to.get();
  int status = waitExchange(ctx, token, target, element);
  if (!status && plan.dstBytes > 0 &&
      !ctx.device->upload(dst, target, plan.dstBytes))
    status = (failOfDevice(ctx, site), ctx.comm->status());
  if (!status)
    ctx.memory->release(src);
  return status;
}

static int runAllReduceStaged(shardrt_context &ctx, int64_t site,
                              const void *src, void *dst, int64_t count) {
  const SitePlan *plan = findAllReduce(ctx, site, count);
  if (!plan)
    return ctx.comm->status();
  HostCopy data(ctx, site, count * plan->elementBytes);
  if (!data.from(src))
    return ctx.comm->status();
  int status = runAllReduce(ctx, site, data.get(), data.get(), count);
  return status || data.to(dst) ? status : ctx.comm->status();
}

static int runReduceScatterStaged(shardrt_context &ctx, int64_t site,
                                  const void *src, void *dst) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::ReduceScatter);
  if (!plan)
    return ctx.comm->status();
  HostCopy from(ctx, site, plan->srcBytes), to(ctx, site, plan->dstBytes);
  if (!to.get() || !from.from(src))
    return ctx.comm->status();
  int status = runReduceScatter(ctx, site, from.get(), to.get());
  return status || to.to(dst) ? status : ctx.comm->status();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static int64_t planRowsStaged(shardrt_context &ctx, int64_t site,
                              const void *indices) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::RowPlan);
  if (!plan)
    return 0;
  HostCopy from(ctx, site, plan->srcBytes);
  return from.from(indices) ? planRows(ctx, site, from.get()) : 0;
}

/// Bytes of all rows that plan `handle` has positions for, in the tensor of
/// `site`; -1 where there is no such plan.
static int64_t rowBytes(shardrt_context &ctx, int64_t site, int64_t handle) {
  if (handle < 1 || handle > static_cast<int64_t>(ctx.rowPlans.size()) ||
      !ctx.rowPlans[handle - 1].isBuilt)
    return -1;
  const Site &info = ctx.program->table.sites[site];
  auto rowDims = static_cast<int64_t>(
      ctx.program->table.sites[handle - 1].rows.dims.size());
  int64_t bytes =
      ctx.plans[site].elementBytes * ctx.rowPlans[handle - 1].positions;
  Box box = shardc::ownedBox(info.exchange, ctx.rank);
  for (int64_t dim = 0; dim < static_cast<int64_t>(box.size()); ++dim)
    if (dim < info.rows.first || dim >= info.rows.first + rowDims)
      bytes *= std::max<int64_t>(box[dim].size(), 0);
  return bytes;
}

/// What rows of `site` are copied with, and how many bytes the plan's positions
/// take; NULL with `status` set where there is nothing to copy, or no such
/// plan.
static const SitePlan *prepareRows(shardrt_context &ctx, int64_t site,
                                   int64_t handle, SiteKind kind,
                                   int64_t &bytes, int &status) {
  const SitePlan *plan = nullptr;
  if (!ctx.comm->status() && (plan = findPlan(ctx, site, kind))) {
    if ((bytes = rowBytes(ctx, site, handle)) >= 0)
      return plan;
    // Says what is wrong with the handle.
    auto run = kind == SiteKind::GatherRows ? gatherRows : scatterRows;
    status = run(ctx, site, handle, nullptr, nullptr);
    return nullptr;
  }
  status = ctx.comm->status();
  return nullptr;
}

static int gatherRowsStaged(shardrt_context &ctx, int64_t site, int64_t handle,
                            const void *src, void *dst) {
  int64_t bytes = 0;
  int status = 0;
  const SitePlan *plan =
      prepareRows(ctx, site, handle, SiteKind::GatherRows, bytes, status);
  if (!plan)
    return status;
  HostCopy from(ctx, site, plan->srcBytes), to(ctx, site, bytes);
  if (!to.get() || !from.from(src))
    return ctx.comm->status();
  status = gatherRows(ctx, site, handle, from.get(), to.get());
  return status || to.to(dst) ? status : ctx.comm->status();
}

static int scatterRowsStaged(shardrt_context &ctx, int64_t site, int64_t handle,
                             const void *updates, void *dst) {
  int64_t bytes = 0;
  int status = 0;
  const SitePlan *plan =
      prepareRows(ctx, site, handle, SiteKind::ScatterRows, bytes, status);
  if (!plan)
    return status;
  HostCopy from(ctx, site, bytes), to(ctx, site, plan->srcBytes);
  if (!from.from(updates) || !to.from(dst))
    return ctx.comm->status();
  status = scatterRows(ctx, site, handle, from.get(), to.get());
  return status || to.to(dst) ? status : ctx.comm->status();
}

const Collectives shardrt::stagedCollectives = {
    runExchangeStaged,  startExchangeStaged,    waitExchangeStaged,
    runAllReduceStaged, runReduceScatterStaged, planRowsStaged,
    gatherRowsStaged,   scatterRowsStaged};
