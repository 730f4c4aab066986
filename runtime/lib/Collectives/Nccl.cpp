//===- Nccl.cpp - Collectives over NCCL -----------------------------------===//
//
// Even all-gathers, reductions that NCCL has, and even reduce-scatters are one
// call on the communicator of their axes. All else is a group of sends and
// receives: boxes that are not one run are packed into one message for each
// peer before, and unpacked after; what NCCL cannot combine (or not with the
// same meaning, or not in the order that was asked for) is sent to whoever
// combines it, on its device (DeviceKernels.h).
//
// Ranks of one process synchronise on the host before each call, so that a rank
// which is about something else is named, and none waits for it in NCCL. Rows
// are packed and unpacked by the device, after the host has worked out which
// (DeviceRows.h). An exchange in two halves packs what it
// sends in the first. The second hands NCCL's part to a second stream, behind
// the first half alone, so that it goes on beside the work in between.
//
//===----------------------------------------------------------------------===//

#include "Collectives/ExchangeSteps.h"
#include "Collectives/NcclRank.h"
#include "Collectives/Reduce.h"
#include "Collectives/RowCall.h"
#include "Collectives/Scratch.h"
#include <algorithm>
#include <functional>
#include <optional>

using namespace shardrt;
using nccl::Result;

/// Waits until the peers of this rank have reached the same call.
static bool rendezvous(shardrt_context &ctx, const Ticket &ticket,
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

/// Gives NCCL the sends, out of `src` and `packed`, and the receives, each to
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
    if (!rendezvous(ctx, pending.ticket, sourcesOf(plan), plan.readers))
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

/// The calls of `calls` may all be none; NCCL is not asked then.
static bool callSome(shardrt_context &ctx, int64_t site, nccl::CommHandle comm,
                     const std::vector<std::function<Result()>> &calls) {
  return calls.empty() || ctx.nccl->call(ctx, site, comm, [&] {
    for (const std::function<Result()> &call : calls)
      if (Result result = call();
          result != nccl::success && result != nccl::inProgress)
        return result;
    return nccl::success;
  });
}

/// How NCCL combines elements at `site`, if it may and can.
static std::optional<nccl::NativeReduction> nativeAt(shardrt_context &ctx,
                                                     int64_t site) {
  if (ctx.deterministic)
    return std::nullopt;
  const Site &info = ctx.program->table.sites[site];
  return nccl::nativeReduction(info.type, info.reduction);
}

/// Each member combines one slice, which all others send it, and sends it to
/// all, as reduceSliced of Reduce.cpp.
static bool reduceSliced(shardrt_context &ctx, const SitePlan &plan,
                         int64_t site, const void *src, void *dst,
                         int64_t count) {
  const nccl::Library &library = ctx.nccl->functions();
  nccl::CommHandle comm = ctx.nccl->of(plan.group);
  auto ranks = static_cast<int64_t>(plan.group.size());
  int64_t me = std::find(plan.group.begin(), plan.group.end(), ctx.rank) -
               plan.group.begin();
  auto begin = [&](int64_t i) {
    return beginOfSlice(count, ranks, i) * plan.elementBytes;
  };
  auto bytesOf = [&](int64_t i) { return begin(i + 1) - begin(i); };
  auto *from = static_cast<const std::byte *>(src);
  auto *to = static_cast<std::byte *>(dst);
  void *stream = ctx.device->stream();
  std::vector<std::function<Result()>> calls;
  auto send = [&](const std::byte *data, int64_t bytes, int64_t peer) {
    if (bytes > 0)
      calls.push_back([=, &library] {
        return library.send(data, static_cast<size_t>(bytes), nccl::Uint8,
                            static_cast<int>(peer), comm, stream);
      });
  };
  auto receive = [&](std::byte *data, int64_t bytes, int64_t peer) {
    if (bytes > 0)
      calls.push_back([=, &library] {
        return library.recv(data, static_cast<size_t>(bytes), nccl::Uint8,
                            static_cast<int>(peer), comm, stream);
      });
  };
  int64_t mine = bytesOf(me);
  Scratch parts(ctx, site, ranks * mine);
  if (!parts.get() ||
      !copyRun(ctx, site, from + begin(me), parts.get() + me * mine, mine))
    return false;
  for (int64_t i = 0; i < ranks; ++i)
    if (i != me) {
      send(from + begin(i), bytesOf(i), i);
      receive(parts.get() + i * mine, mine, i);
    }
  if (!callSome(ctx, site, comm, calls) ||
      !combineParts(ctx, site, parts.get(), mine, ranks, to + begin(me)))
    return false;
  calls.clear();
  for (int64_t i = 0; i < ranks; ++i)
    if (i != me) {
      send(to + begin(me), mine, i);
      receive(to + begin(i), bytesOf(i), i);
    }
  return callSome(ctx, site, comm, calls);
}

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
      !rendezvous(ctx, ticket, plan->readers, plan->readers))
    return ctx.comm->status();
  bool done = true;
  NcclRank &rank = *ctx.nccl;
  nccl::CommHandle comm = rank.of(plan->group);
  if (ranks == 1) {
    done = copyRun(ctx, site, src, dst, bytes);
  } else if (bytes == 0) {
  } else if (auto native = nativeAt(ctx, site)) {
    done = rank.call(ctx, site, comm, [&] {
      return rank.functions().allReduce(
          src, dst, static_cast<size_t>(count * native->perElement),
          native->type, native->op, comm, ctx.device->stream());
    });
  } else if (bytes > smallAllReduceBytes) {
    done = reduceSliced(ctx, *plan, site, src, dst, count);
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
      !rendezvous(ctx, ticket, plan->opened, plan->readers))
    return ctx.comm->status();
  NcclRank &rank = *ctx.nccl;
  const NcclSitePlan &mine = rank.plan(ctx, site);
  auto native = nativeAt(ctx, site);
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

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Messages of rows: memory for them, and where in it each begins.
class RowMessages {
public:
  RowMessages(shardrt_context &ctx, int64_t site,
              const std::vector<DeviceRows::List> &lists, int64_t rowBytes)
      : lists(lists), rowBytes(rowBytes) {
    int64_t bytes = 0;
    for (const DeviceRows::List &list : lists) {
      begins.push_back(bytes);
      bytes += (bytesOf(list) + 255) / 256 * 256;
    }
    room.emplace(ctx, site, bytes);
  }
  /// False after failing the step.
  explicit operator bool() const { return room->get(); }
  int64_t bytesOf(const DeviceRows::List &list) const {
    return list.messageRows * rowBytes;
  }
  std::byte *at(size_t i) const { return room->get() + begins[i]; }

  const std::vector<DeviceRows::List> &lists;

private:
  int64_t rowBytes; ///< in all blocks together
  std::vector<int64_t> begins;
  std::optional<Scratch> room;
};
} // namespace

/// Sends `out` and receives `in`, of which what has no rows is not a message.
static bool transferRows(shardrt_context &ctx, int64_t site,
                         const RowMessages &out, const RowMessages &in) {
  const nccl::Library &library = ctx.nccl->functions();
  nccl::CommHandle comm = ctx.nccl->all();
  void *stream = ctx.device->stream();
  std::vector<std::function<Result()>> calls;
  for (size_t i = 0; i < out.lists.size(); ++i)
    if (auto bytes = static_cast<size_t>(out.bytesOf(out.lists[i])))
      calls.push_back([&, i, bytes] {
        return library.send(out.at(i), bytes, nccl::Uint8,
                            static_cast<int>(out.lists[i].peer), comm, stream);
      });
  for (size_t i = 0; i < in.lists.size(); ++i)
    if (auto bytes = static_cast<size_t>(in.bytesOf(in.lists[i])))
      calls.push_back([&, i, bytes] {
        return library.recv(in.at(i), bytes, nccl::Uint8,
                            static_cast<int>(in.lists[i].peer), comm, stream);
      });
  return callSome(ctx, site, comm, calls);
}

/// Meets those that rows come from and go to, packs what `goes` out of the
/// blocks of `blockRows` rows at `src`, sends it, and moves what `comes`, or is
/// this rank's own, to `dst`, of blocks of `dstRows` rows. `readers` get what
/// goes.
static bool exchangeRows(shardrt_context &ctx, int64_t site,
                         const RowCall &call, const DeviceRows &rows,
                         const std::vector<DeviceRows::List> &goes,
                         const std::vector<DeviceRows::List> &comes,
                         std::span<const int64_t> readers, int64_t blockRows,
                         const void *src, void *dst, int64_t dstRows) {
  std::vector<int64_t> sources;
  for (const DeviceRows::List &list : comes)
    if (list.peer != ctx.rank)
      sources.push_back(list.peer);
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, {}, readers, ticket) ||
      !rendezvous(ctx, ticket, sources, readers))
    return false;
  int64_t outer = call.mine.outer, bytes = call.bytes;
  RowMessages out(ctx, site, goes, outer * bytes),
      in(ctx, site, comes, outer * bytes);
  if (!out || !in)
    return false;
  for (size_t i = 0; i < goes.size(); ++i)
    if (!moveRows(ctx, site, rows.at(goes[i]), goes[i].count,
                  {bytes, outer, blockRows, goes[i].messageRows}, src,
                  out.at(i)))
      return false;
  if (!transferRows(ctx, site, out, in))
    return false;
  for (size_t i = 0; i < comes.size(); ++i) {
    bool isOwn = comes[i].peer == ctx.rank;
    RowBlocks blocks = {bytes, outer, isOwn ? blockRows : comes[i].messageRows,
                        dstRows};
    if (!moveRows(ctx, site, rows.at(comes[i]), comes[i].count, blocks,
                  isOwn ? src : in.at(i), dst))
      return false;
  }
  return true;
}

static int64_t planRowsNccl(shardrt_context &ctx, int64_t site,
                            const void *indices) {
  int64_t handle = stagedCollectives.planRows(ctx, site, indices);
  return handle > 0 && listRows(ctx, handle, /*travel=*/true) ? handle : 0;
}

static int gatherRowsNccl(shardrt_context &ctx, int64_t site, int64_t handle,
                          const void *src, void *dst) {
  auto move = [](shardrt_context &ctx, int64_t site, const RowCall &call,
                 const DeviceRows &rows, const void *src, void *dst) {
    return exchangeRows(ctx, site, call, rows, rows.sends, rows.reads,
                        call.plan->askers, call.mine.rows, src, dst,
                        call.plan->positions);
  };
  return runRows(ctx, site, handle, SiteKind::GatherRows, src, dst, move);
}

/// Has updates sent, and combines rows with them.
static bool sendUpdates(shardrt_context &ctx, int64_t site, const RowCall &call,
                        const DeviceRows &rows, const void *updates,
                        void *dst) {
  const RowPlan &plan = *call.plan;
  int64_t outer = call.mine.outer, bytes = call.bytes;
  bool replaces = call.info->reduction == Reduction::None;
  std::optional<Scratch> sorted;
  if (!replaces)
    sorted.emplace(ctx, site, outer * rows.slots * bytes);
  void *target = replaces ? dst : sorted->get();
  return (replaces || target) &&
         exchangeRows(ctx, site, call, rows, rows.gives,
                      replaces ? rows.lasts : rows.takes, plan.takers,
                      plan.positions, updates, target,
                      replaces ? call.mine.rows : rows.slots) &&
         (replaces ||
          updateRows(ctx, site, rows.at(rows.segments), rows.segments.count,
                     {bytes, outer, rows.slots, call.mine.rows}, target, dst));
}

static int scatterRowsNccl(shardrt_context &ctx, int64_t site, int64_t handle,
                           const void *updates, void *dst) {
  return runRows(ctx, site, handle, SiteKind::ScatterRows, updates, dst,
                 sendUpdates);
}

const Collectives &shardrt::ncclCollectives() {
  static const Collectives table = {ExchangeSteps<NcclWay>::run,
                                    ExchangeSteps<NcclWay>::start,
                                    ExchangeSteps<NcclWay>::wait,
                                    runAllReduceNccl,
                                    runReduceScatterNccl,
                                    planRowsNccl,
                                    gatherRowsNccl,
                                    scatterRowsNccl};
  return table;
}
