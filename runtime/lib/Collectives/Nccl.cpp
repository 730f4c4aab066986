//===- Nccl.cpp - Collectives over NCCL -----------------------------------===//
//
// Even all-gathers, reductions that NCCL has, and even reduce-scatters are one
// call on the communicator of their axes. All else is a group of sends and
// receives: boxes that are not one run are packed into one message for each
// peer before, and unpacked after; what NCCL cannot combine (or not with the
// same meaning) is sent to whoever combines it.
//
// Ranks of one process meet on the host before each call, so that a rank which
// is about something else is named, and none waits for it in NCCL. Rows go
// through host memory (Staged.cpp). An exchange in two halves packs what it
// sends in the first. The second hands NCCL's part to a second stream, behind
// the first half alone, so that it goes on beside the work in between.
//
//===----------------------------------------------------------------------===//

#include "Collectives/ExchangeSteps.h"
#include "Collectives/Reduce.h"
#include "Collectives/Scratch.h"
#include "Comm/Nccl/NcclRank.h"
#include <algorithm>

using namespace shardrt;
using nccl::Result;

/// Waits until those that this rank has to do with have come to the same call.
static bool meet(shardrt_context &ctx, const Ticket &ticket,
                 std::span<const int64_t> sources,
                 std::span<const int64_t> readers) {
  for (int64_t peer : sources) {
    const std::byte *none = nullptr;
    if (!ctx.comm->open(ticket, peer, none))
      return false;
    ctx.comm->close(ticket, peer);
  }
  return ctx.comm->finish(ticket, readers);
}

static bool copyRun(shardrt_context &ctx, int64_t site, const void *src,
                    void *dst, int64_t bytes) {
  BoxCopy copy;
  copy.run = bytes;
  return bytes == 0 || src == dst || ctx.device->copy(copy, src, dst) ||
         failOfDevice(ctx, site);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

using Message = NcclSitePlan::Message;

/// Packs what the plan of `site` sends in other than one run.
static bool packSends(shardrt_context &ctx, int64_t site, const void *src,
                      std::byte *packed) {
  for (const Message &message : ctx.nccl->plan(ctx, site).sends)
    for (const BoxCopy &copy : message.copies)
      if (message.offset >= 0 && !ctx.device->copy(copy, src, packed))
        return failOfDevice(ctx, site);
  return true;
}

/// Hands NCCL the sends, out of `src` and `packed`, and the receives, each to
/// where `placeOf(message)` says.
template <typename PlaceOf>
static bool transferMessages(shardrt_context &ctx, int64_t site,
                             const void *src, const std::byte *packed,
                             PlaceOf placeOf) {
  NcclRank &rank = *ctx.nccl;
  const nccl::Library &library = rank.functions();
  const NcclSitePlan &plan = rank.plan(ctx, site);
  void *stream = ctx.device->stream();
  auto calls = [&]() -> Result {
    for (const Message &message : plan.sends) {
      const std::byte *from = message.offset >= 0
                                  ? packed + message.offset
                                  : static_cast<const std::byte *>(src) +
                                        message.copies[0].srcOffset;
      if (Result result = library.send(
              from, static_cast<size_t>(message.bytes), nccl::Uint8,
              static_cast<int>(message.peer), rank.all(), stream);
          result != nccl::success && result != nccl::inProgress)
        return result;
    }
    for (const Message &message : plan.receives)
      if (Result result = library.recv(
              placeOf(message), static_cast<size_t>(message.bytes), nccl::Uint8,
              static_cast<int>(message.peer), rank.all(), stream);
          result != nccl::success && result != nccl::inProgress)
        return result;
    return nccl::success;
  };
  return (plan.sends.empty() && plan.receives.empty()) ||
         rank.call(ctx, site, rank.all(), calls);
}

/// Sends and receives what the plan of `site` says, between `src` and `dst`.
static bool exchangeMessages(shardrt_context &ctx, int64_t site,
                             const void *src, std::byte *dst) {
  const NcclSitePlan &plan = ctx.nccl->plan(ctx, site);
  Scratch packed(ctx, site, plan.sendBytes),
      arriving(ctx, site, plan.receiveBytes);
  if (!packed.get() || !arriving.get() ||
      !packSends(ctx, site, src, packed.get()) ||
      !transferMessages(
          ctx, site, src, packed.get(), [&](const Message &message) {
            return message.offset >= 0 ? arriving.get() + message.offset
                                       : dst + message.copies[0].dstOffset;
          }))
    return false;
  for (const Message &message : plan.receives)
    for (const BoxCopy &copy : message.copies)
      if (message.offset >= 0 && !ctx.device->copy(copy, arriving.get(), dst))
        return failOfDevice(ctx, site);
  return true;
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

static std::vector<int64_t> sourcesOf(const SitePlan &plan) {
  std::vector<int64_t> sources;
  for (const SitePlan::Source &source : plan.sources)
    sources.push_back(source.peer);
  return sources;
}

namespace {
struct NcclWay {
  static constexpr auto checkBuffers = checkDeviceBuffers;
  /// Takes memory for what arrives before the second half, and packs.
  static bool begin(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                    shardrt_context::Pending &pending) {
    const NcclSitePlan &mine = ctx.nccl->plan(ctx, site);
    pending.packed = nullptr;
    if (mine.receives.empty() && mine.sends.empty() && !mine.isEven)
      return true;
    pending.room = ctx.deviceMemory->allocate(mine.isEven ? plan.dstBytes
                                                          : mine.besideBytes);
    if (!pending.room)
      return failOfDevice(ctx, site);
    if (!mine.isEven && mine.sendBytes > 0) {
      pending.packed = ctx.deviceMemory->allocate(mine.sendBytes);
      if (!pending.packed)
        return failOfDevice(ctx, site);
    }
    return (mine.isEven ||
            packSends(ctx, site, pending.src,
                      static_cast<std::byte *>(pending.packed))) &&
           (ctx.device->mark(pending.mark) || failOfDevice(ctx, site));
  }
  /// What NCCL does for the second half, beside other work.
  static bool completeBeside(shardrt_context &ctx, const SitePlan &plan,
                             const shardrt_context::Pending &pending,
                             void *dst) {
    NcclRank &rank = *ctx.nccl;
    Device &device = *ctx.device;
    int64_t site = pending.ticket.call.site;
    const NcclSitePlan &mine = rank.plan(ctx, site);
    auto *room = static_cast<std::byte *>(pending.room);
    if (!device.aside(pending.mark))
      return failOfDevice(ctx, site);
    bool done;
    if (mine.isEven) {
      nccl::CommHandle comm = rank.of(mine.group);
      done = rank.call(ctx, site, comm, [&] {
        return rank.functions().allGather(pending.src, room,
                                          static_cast<size_t>(plan.srcBytes),
                                          nccl::Uint8, comm, device.stream());
      });
    } else {
      done = transferMessages(
          ctx, site, pending.src,
          static_cast<const std::byte *>(pending.packed),
          [&](const Message &message) { return room + message.besideOffset; });
    }
    if (!device.back(ctx.arrivedMark) ||
        !device.waitFor(device, ctx.arrivedMark))
      return failOfDevice(ctx, site);
    if (done && mine.isEven)
      done = copyRun(ctx, site, room, dst, plan.dstBytes);
    for (const Message &message : mine.receives)
      for (BoxCopy copy : message.copies) {
        if (mine.isEven)
          break;
        copy.srcOffset = message.offset < 0 ? message.besideOffset
                                            : copy.srcOffset - message.offset +
                                                  message.besideOffset;
        if (done && !device.copy(copy, room, dst))
          done = failOfDevice(ctx, site);
      }
    ctx.deviceMemory->release(pending.room);
    ctx.deviceMemory->release(pending.packed);
    return done;
  }
  static bool post(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                   shardrt_context::Pending &pending) {
    return ctx.comm->post({site, 0}, {}, plan.readers, pending.ticket);
  }
  /// Nothing is under way before: `lastPost` stays.
  static bool complete(shardrt_context &ctx, const SitePlan &plan,
                       const shardrt_context::Pending &pending, void *dst,
                       const void *fill, int64_t &) {
    NcclRank &rank = *ctx.nccl;
    int64_t site = pending.ticket.call.site;
    const void *src = pending.src;
    if (!meet(ctx, pending.ticket, sourcesOf(plan), plan.readers))
      return false;
    const NcclSitePlan &mine = rank.plan(ctx, site);
    if (mine.isEven && pending.room)
      return completeBeside(ctx, plan, pending, dst);
    if (mine.isEven) {
      nccl::CommHandle comm = rank.of(mine.group);
      return rank.call(ctx, site, comm, [&] {
        return rank.functions().allGather(
            src, dst, static_cast<size_t>(plan.srcBytes), nccl::Uint8, comm,
            ctx.device->stream());
      });
    }
    for (const BoxCopy &copy : plan.own)
      if (!ctx.device->copy(copy, src, dst))
        return failOfDevice(ctx, site);
    for (const BoxCopy &copy : plan.fills)
      if (!ctx.device->fill(copy, dst, fill, plan.elementBytes))
        return failOfDevice(ctx, site);
    if (pending.room)
      return completeBeside(ctx, plan, pending, dst);
    return exchangeMessages(ctx, site, src, static_cast<std::byte *>(dst));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static int runAllReduceNccl(shardrt_context &ctx, int64_t site, const void *src,
                            void *dst, int64_t count) {
  const SitePlan *plan = findAllReduce(ctx, site, count);
  if (!plan)
    return ctx.comm->status();
  int64_t bytes = count * plan->elementBytes;
  if (!checkDeviceBuffers(ctx, site, src, bytes, dst, bytes, /*inPlace=*/true))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  auto ranks = static_cast<int64_t>(plan->group.size());
  if (ranks > 1)
    timer.bytesReceived = bytesOfAllReduce(*plan, ctx.rank, bytes);
  Ticket ticket;
  if (!ctx.comm->post({site, count}, {}, plan->readers, ticket) ||
      !meet(ctx, ticket, plan->readers, plan->readers))
    return ctx.comm->status();
  bool done = true;
  NcclRank &rank = *ctx.nccl;
  nccl::CommHandle comm = rank.of(plan->group);
  const Site &info = ctx.program->table.sites[site];
  if (ranks == 1) {
    done = copyRun(ctx, site, src, dst, bytes);
  } else if (bytes == 0) {
  } else if (auto native = nccl::nativeReduction(info.type, info.reduction)) {
    done = rank.call(ctx, site, comm, [&] {
      return rank.functions().allReduce(
          src, dst, static_cast<size_t>(count * native->perElement),
          native->type, native->op, comm, ctx.device->stream());
    });
  } else {
    Scratch parts(ctx, site, bytes * ranks);
    done = parts.get() && rank.call(ctx, site, comm, [&] {
      return rank.functions().allGather(src, parts.get(),
                                        static_cast<size_t>(bytes), nccl::Uint8,
                                        comm, ctx.device->stream());
    }) && combineParts(ctx, site, parts.get(), bytes, ranks, dst);
  }
  return done ? SHARDRT_OK : ctx.comm->status();
}

static int runReduceScatterNccl(shardrt_context &ctx, int64_t site,
                                const void *src, void *dst) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::ReduceScatter);
  if (!plan || !checkDeviceBuffers(ctx, site, src, plan->srcBytes, dst,
                                   plan->dstBytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->bytesReceived;
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, {}, plan->readers, ticket) ||
      !meet(ctx, ticket, plan->opened, plan->readers))
    return ctx.comm->status();
  NcclRank &rank = *ctx.nccl;
  const NcclSitePlan &mine = rank.plan(ctx, site);
  const Site &info = ctx.program->table.sites[site];
  auto native = nccl::nativeReduction(info.type, info.reduction);
  if (mine.isEven && native) {
    nccl::CommHandle comm = rank.of(mine.group);
    int64_t count = plan->dstBytes / plan->elementBytes * native->perElement;
    bool done = rank.call(ctx, site, comm, [&] {
      return rank.functions().reduceScatter(
          src, dst, static_cast<size_t>(count), native->type, native->op, comm,
          ctx.device->stream());
    });
    return done ? SHARDRT_OK : ctx.comm->status();
  }
  Scratch parts(ctx, site, mine.members * plan->dstBytes);
  bool done = parts.get();
  for (const SitePlan::Part &part : plan->parts)
    for (size_t i = 0; done && i < part.ranks.size(); ++i)
      if (part.ranks[i] == ctx.rank &&
          !ctx.device->copy(part.copy, src,
                            parts.get() +
                                static_cast<int64_t>(i) * plan->dstBytes))
        done = failOfDevice(ctx, site);
  done =
      done && exchangeMessages(ctx, site, src, parts.get()) &&
      combineParts(ctx, site, parts.get(), plan->dstBytes, mine.members, dst);
  return done ? SHARDRT_OK : ctx.comm->status();
}

const Collectives &shardrt::ncclCollectives() {
  static const Collectives table = {
      ExchangeSteps<NcclWay>::run,  ExchangeSteps<NcclWay>::start,
      ExchangeSteps<NcclWay>::wait, runAllReduceNccl,
      runReduceScatterNccl,         stagedCollectives.planRows,
      stagedCollectives.gatherRows, stagedCollectives.scatterRows};
  return table;
}
