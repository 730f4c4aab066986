//===- Direct.cpp - From device to device ---------------------------------===//
//
// Ranks of one process, each with a device that reaches the others' memory (or
// with the same one). A post shows a buffer together with a mark of its owner's
// device; a reader lets its own work wait for that mark, copies straight out of
// the owner's buffer, and sets a mark behind its copies, for which the owner's
// work waits before the buffer changes. Of an exchange in two halves what
// arrives goes into memory of its own, on a second stream, so that it does not
// wait for the work between the halves, nor overlaps what that has in
// the destination; the second half copies it from there. The host synchronises
// with its peers as in Exchange.cpp, but waits for no work. All that a device
// waits for was enqueued on a device before: whatever the ranks do, devices
// cannot wait in a circle.
//
// Reductions read all parts in place, in the order of their ranks: the
// bits are the host's (DeviceKernels.h). Rows are read in place as well,
// after the host has worked out which (DeviceRows.h). A program without the
// kernels for that has its parts copied to the rank that combines them, which
// does it by the host's functions, and its rows go through host memory
// (Staged.cpp).
//
//===----------------------------------------------------------------------===//

#include "Collectives/ExchangeSteps.h"
#include "Collectives/HostCopy.h"
#include "Collectives/Pack.h"
#include "Collectives/Reduce.h"
#include "Collectives/RowCall.h"
#include "Collectives/Scratch.h"
#include <algorithm>
#include <optional>

using namespace shardrt;

using Shown = shardrt_context::Shown;

//===----------------------------------------------------------------------===//
// Posts of a device's buffers
//===----------------------------------------------------------------------===//

/// Shows `data`, with all work on it so far, to `readers`. The entry stays
/// taken until `release`, or the end of the step.
static bool show(shardrt_context &ctx, Call call, const void *data,
                 std::span<const int64_t> readers, Ticket &ticket,
                 Shown *&shown) {
  auto free = std::find_if(ctx.shown.begin(), ctx.shown.end(),
                           [](const Shown &entry) { return !entry.used; });
  if (free == ctx.shown.end()) {
    ctx.fail(SHARDRT_USAGE, "shows more than " +
                                std::to_string(ctx.shown.size()) +
                                " buffers at a time in " +
                                ctx.program->describe(call.site, true));
    return false;
  }
  shown = &*free;
  shown->data = data;
  shown->mark = static_cast<int>(free - ctx.shown.begin());
  shown->used = true;
  if (!ctx.device->mark(shown->mark))
    return failOfDevice(ctx, call.site);
  return ctx.comm->post(call, {shown, sizeof(*shown)}, readers, ticket);
}

/// Waits until `peer` has shown its buffer, and lets this device's work wait
/// until it is written.
static bool open(shardrt_context &ctx, const Ticket &ticket, int64_t peer,
                 const std::byte *&data) {
  const std::byte *entry = nullptr;
  if (!ctx.comm->open(ticket, peer, entry))
    return false;
  auto *shown = reinterpret_cast<const Shown *>(entry);
  data = static_cast<const std::byte *>(shown->data);
  return ctx.device->waitFor(*ctx.devices[peer], shown->mark) ||
         failOfDevice(ctx, ticket.call.site);
}

/// The copies out of `peers`' buffers are enqueued on the device, of which
/// `mark` then says when they are done.
static bool close(shardrt_context &ctx, const Ticket &ticket,
                  std::span<const int64_t> peers,
                  int mark = shardrt_context::readsMark) {
  if (!ctx.device->mark(mark))
    return failOfDevice(ctx, ticket.call.site);
  for (int64_t peer : peers)
    ctx.comm->close(ticket, peer);
  return true;
}

/// Waits until all readers have enqueued their copies; work from here on
/// comes after these.
static bool finish(shardrt_context &ctx, const Ticket &ticket,
                   std::span<const int64_t> readers, Shown &shown) {
  if (!ctx.comm->finish(ticket, readers))
    return false;
  for (int64_t reader : readers)
    for (int mark : {ctx.readsMark, ctx.besideMark})
      if (!ctx.device->waitFor(*ctx.devices[reader], mark))
        return failOfDevice(ctx, ticket.call.site);
  shown.used = false;
  return true;
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

namespace {
struct DirectWay {
  static constexpr auto checkBuffers = checkDeviceBuffers;
  /// Takes memory for what arrives before the second half.
  static bool begin(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                    shardrt_context::Pending &pending) {
    pending.room = nullptr;
    if (plan.bytesReceived == 0)
      return true;
    pending.room = ctx.deviceMemory->allocate(plan.bytesReceived);
    // The mark that `post` sets is behind all that used it before.
    return pending.room || failOfDevice(ctx, site);
  }
  static bool post(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                   shardrt_context::Pending &pending) {
    return show(ctx, {site, 0}, pending.src, plan.readers, pending.ticket,
                pending.shown);
  }
  static bool complete(shardrt_context &ctx, const SitePlan &plan,
                       const shardrt_context::Pending &pending, void *dst,
                       const void *fill, int64_t &lastPost) {
    Device &device = *ctx.device;
    const Ticket &ticket = pending.ticket;
    Shown &shown = *pending.shown;
    for (const BoxCopy &copy : plan.own)
      if (!device.copy(copy, shown.data, dst))
        return failOfDevice(ctx, ticket.call.site);
    for (const BoxCopy &copy : plan.fills)
      if (!device.fill(copy, dst, fill, plan.elementBytes))
        return failOfDevice(ctx, ticket.call.site);
    if (!pending.room)
      return receive(ctx, plan, ticket, dst, nullptr, lastPost) &&
             finish(ctx, ticket, plan.readers, shown);
    if (!device.aside(shown.mark))
      return failOfDevice(ctx, ticket.call.site);
    auto *room = static_cast<std::byte *>(pending.room);
    bool done = receive(ctx, plan, ticket, dst, room, lastPost);
    if (!device.back(ctx.arrivedMark) ||
        !device.waitFor(device, ctx.arrivedMark))
      return failOfDevice(ctx, ticket.call.site);
    int64_t at = 0;
    for (const SitePlan::Source &source : plan.sources)
      for (const BoxCopy &copy : source.copies) {
        if (done && !device.copy(unpacked(copy, at), room, dst))
          done = failOfDevice(ctx, ticket.call.site);
        at += copy.bytes();
      }
    ctx.deviceMemory->release(room);
    return done && finish(ctx, ticket, plan.readers, shown);
  }

private:
  /// Copies what the peers have into `dst`, or, one behind the other, `room`.
  static bool receive(shardrt_context &ctx, const SitePlan &plan,
                      const Ticket &ticket, void *dst, std::byte *room,
                      int64_t &lastPost) {
    int64_t at = 0;
    for (const SitePlan::Source &source : plan.sources) {
      const std::byte *data = nullptr;
      if (!open(ctx, ticket, source.peer, data))
        return false;
      lastPost = std::max(lastPost, ctx.comm->postedAt(ticket, source.peer));
      for (const BoxCopy &copy : source.copies) {
        if (!(room ? ctx.device->copy(packed(copy, at), data, room)
                   : ctx.device->copy(copy, data, dst)))
          return failOfDevice(ctx, ticket.call.site);
        at += copy.bytes();
      }
      if (!close(ctx, ticket, {&source.peer, 1},
                 room ? ctx.besideMark : ctx.readsMark))
        return false;
    }
    return true;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

bool shardrt::combineParts(shardrt_context &ctx, int64_t site,
                           const void *parts, int64_t partBytes,
                           int64_t numParts, void *dst) {
  const SitePlan &plan = ctx.plans[site];
  if (partBytes == 0)
    return true;
  int64_t count = partBytes / plan.elementBytes;
  std::vector<const std::byte *> list;
  auto listFrom = [&](const void *data) {
    for (int64_t i = 0; i < numParts; ++i)
      list.push_back(static_cast<const std::byte *>(data) + i * partBytes);
  };
  if (canCombine(ctx, site)) {
    listFrom(parts);
    return combineOnDevice(ctx, site, list, dst, count);
  }
  HostCopy room(ctx, site, partBytes * numParts);
  if (!room.from(parts))
    return false;
  auto *data = static_cast<std::byte *>(room.get());
  listFrom(data);
  plan.combiner.function(list, data, count);
  return ctx.device->upload(dst, data, partBytes) || failOfDevice(ctx, site);
}

static BoxCopy bytesFrom(int64_t from, int64_t to, int64_t bytes) {
  BoxCopy copy;
  copy.srcOffset = from;
  copy.dstOffset = to;
  copy.run = bytes;
  return copy;
}

/// Copies `bytes` bytes from `offset` on of everybody's `src` into `parts`, one
/// behind the other.
static bool collect(shardrt_context &ctx, const SitePlan &plan,
                    const Ticket &ticket, const void *src, int64_t offset,
                    int64_t bytes, std::byte *parts) {
  for (size_t i = 0; i < plan.group.size(); ++i) {
    auto *data = static_cast<const std::byte *>(src);
    if (plan.group[i] != ctx.rank && !open(ctx, ticket, plan.group[i], data))
      return false;
    if (!ctx.device->copy(
            bytesFrom(offset, static_cast<int64_t>(i) * bytes, bytes), data,
            parts))
      return failOfDevice(ctx, ticket.call.site);
  }
  return close(ctx, ticket, plan.readers);
}

/// Whether the device reads `numParts` parts in place.
static bool readsInPlace(shardrt_context &ctx, int64_t site, size_t numParts) {
  return canCombine(ctx, site) && numParts <= mostParts;
}

/// The buffers of `ranks`; this rank's is `src`. Its work waits for them.
static bool openAll(shardrt_context &ctx, const Ticket &ticket,
                    std::span<const int64_t> ranks, const void *src,
                    std::vector<const std::byte *> &parts) {
  for (int64_t rank : ranks) {
    parts.push_back(static_cast<const std::byte *>(src));
    if (rank != ctx.rank && !open(ctx, ticket, rank, parts.back()))
      return false;
  }
  return true;
}

/// Combines `bytes` bytes from `offset` on of everybody's `src` into `dst`.
static bool combineSlices(shardrt_context &ctx, const SitePlan &plan,
                          const Ticket &ticket, const void *src, int64_t offset,
                          int64_t bytes, void *dst) {
  int64_t site = ticket.call.site;
  auto ranks = static_cast<int64_t>(plan.group.size());
  if (!readsInPlace(ctx, site, plan.group.size())) {
    Scratch parts(ctx, site, bytes * ranks);
    return parts.get() &&
           collect(ctx, plan, ticket, src, offset, bytes, parts.get()) &&
           combineParts(ctx, site, parts.get(), bytes, ranks, dst);
  }
  std::vector<const std::byte *> parts;
  if (!openAll(ctx, ticket, plan.group, src, parts))
    return false;
  for (const std::byte *&part : parts)
    part += offset;
  return combineOnDevice(ctx, site, parts, dst, bytes / plan.elementBytes) &&
         close(ctx, ticket, plan.readers);
}

/// As reduceSmall of Reduce.cpp.
static bool reduceSmall(shardrt_context &ctx, const SitePlan &plan, Call call,
                        const void *src, void *dst) {
  int64_t bytes = call.count * plan.elementBytes;
  Ticket ticket;
  Shown *shown = nullptr;
  // Others may read `src` longer than this rank does.
  bool isAside = src == dst;
  std::optional<Scratch> room;
  if (isAside)
    room.emplace(ctx, call.site, bytes);
  void *result = isAside ? room->get() : dst;
  if ((isAside && !result) ||
      !show(ctx, call, src, plan.readers, ticket, shown) ||
      !combineSlices(ctx, plan, ticket, src, 0, bytes, result) ||
      !finish(ctx, ticket, plan.readers, *shown))
    return false;
  ctx.comm->skip();
  return !isAside || bytes == 0 ||
         ctx.device->copy(bytesFrom(0, 0, bytes), result, dst) ||
         failOfDevice(ctx, call.site);
}

/// As reduceSliced of Reduce.cpp.
static bool reduceSliced(shardrt_context &ctx, const SitePlan &plan, Call call,
                         const void *src, void *dst) {
  int64_t ranks = static_cast<int64_t>(plan.group.size());
  int64_t me = std::find(plan.group.begin(), plan.group.end(), ctx.rank) -
               plan.group.begin();
  auto begin = [&](int64_t i) {
    return beginOfSlice(call.count, ranks, i) * plan.elementBytes;
  };
  int64_t from = begin(me), bytes = begin(me + 1) - from;
  Ticket first, second;
  Shown *firstShown = nullptr, *secondShown = nullptr;
  if (!show(ctx, call, src, plan.readers, first, firstShown) ||
      !combineSlices(ctx, plan, first, src, from, bytes,
                     static_cast<std::byte *>(dst) + from) ||
      !show(ctx, call, dst, plan.readers, second, secondShown))
    return false;
  for (int64_t step = 1; step < ranks; ++step) {
    int64_t i = (me + step) % ranks;
    const std::byte *data = nullptr;
    if (!open(ctx, second, plan.group[i], data))
      return false;
    if (!ctx.device->copy(
            bytesFrom(begin(i), begin(i), begin(i + 1) - begin(i)), data, dst))
      return failOfDevice(ctx, call.site);
  }
  return close(ctx, second, plan.readers) &&
         finish(ctx, first, plan.readers, *firstShown) &&
         finish(ctx, second, plan.readers, *secondShown);
}

static int runAllReduceDirect(shardrt_context &ctx, int64_t site,
                              const void *src, void *dst, int64_t count) {
  const SitePlan *plan = findAllReduce(ctx, site, count);
  if (!plan)
    return ctx.comm->status();
  int64_t bytes = count * plan->elementBytes;
  if (!checkDeviceBuffers(ctx, site, src, bytes, dst, bytes, /*inPlace=*/true))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  bool done;
  if (plan->group.size() == 1) {
    Ticket ticket;
    done = ctx.comm->post({site, count}, {}, {}, ticket) &&
           ctx.comm->finish(ticket, {});
    if (done && bytes > 0 && dst != src &&
        !ctx.device->copy(bytesFrom(0, 0, bytes), src, dst))
      done = failOfDevice(ctx, site);
  } else {
    timer.bytesReceived = bytesOfAllReduce(*plan, ctx.rank, bytes);
    done = bytes <= smallAllReduceBytes
               ? reduceSmall(ctx, *plan, {site, count}, src, dst)
               : reduceSliced(ctx, *plan, {site, count}, src, dst);
  }
  return done ? SHARDRT_OK : ctx.comm->status();
}

/// Parts of one run are read in place. Others are laid out as in `dst`,
/// those of one member behind those of the one before, and combined as a whole.
static bool reduceParts(shardrt_context &ctx, const SitePlan &plan,
                        const Ticket &ticket, const void *src, void *dst) {
  int64_t site = ticket.call.site;
  size_t members = plan.parts.empty() ? 0 : plan.parts[0].ranks.size();
  // Few launches beat one that needs copies first.
  bool inPlace = readsInPlace(ctx, site, members) && plan.parts.size() <= 4 &&
                 std::all_of(plan.parts.begin(), plan.parts.end(),
                             [](const SitePlan::Part &part) {
                               return part.copy.dims.empty();
                             });
  int64_t partBytes = inPlace ? 0 : plan.dstBytes;
  std::optional<Scratch> room;
  if (!inPlace)
    room.emplace(ctx, site, static_cast<int64_t>(members) * partBytes);
  if (room && !room->get())
    return false;
  for (const SitePlan::Part &part : plan.parts) {
    std::vector<const std::byte *> parts;
    if (!openAll(ctx, ticket, part.ranks, src, parts))
      return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!inPlace &&
          !ctx.device->copy(part.copy, parts[i],
                            room->get() + static_cast<int64_t>(i) * partBytes))
        return failOfDevice(ctx, site);
      parts[i] += part.copy.srcOffset;
    }
    if (inPlace &&
        !combineOnDevice(ctx, site, parts,
                         static_cast<std::byte *>(dst) + part.copy.dstOffset,
                         part.copy.run / plan.elementBytes))
      return false;
  }
  return close(ctx, ticket, plan.opened) &&
         (inPlace || combineParts(ctx, site, room->get(), partBytes,
                                  static_cast<int64_t>(members), dst));
}

static int runReduceScatterDirect(shardrt_context &ctx, int64_t site,
                                  const void *src, void *dst) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::ReduceScatter);
  if (!plan || !checkDeviceBuffers(ctx, site, src, plan->srcBytes, dst,
                                   plan->dstBytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->bytesReceived;
  Ticket ticket;
  Shown *shown = nullptr;
  bool done = show(ctx, {site, 0}, src, plan->readers, ticket, shown) &&
              reduceParts(ctx, *plan, ticket, src, dst) &&
              finish(ctx, ticket, plan->readers, *shown);
  return done ? SHARDRT_OK : ctx.comm->status();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static int64_t planRowsDirect(shardrt_context &ctx, int64_t site,
                              const void *indices) {
  int64_t handle = stagedCollectives.planRows(ctx, site, indices);
  return handle > 0 && listRows(ctx, handle, /*travel=*/false) ? handle : 0;
}

/// Reads rows where their owners have them.
static bool readRows(shardrt_context &ctx, int64_t site, const RowCall &call,
                     const DeviceRows &rows, const void *src, void *dst) {
  const auto &[sitePlan, plan, info, rowDims, mine, bytes] = call;
  Ticket ticket;
  Shown *shown = nullptr;
  if (!show(ctx, {site, 0}, src, plan->askers, ticket, shown))
    return false;
  std::vector<int64_t> owners;
  for (const DeviceRows::List &list : rows.reads) {
    auto *from = static_cast<const std::byte *>(src);
    bool isOwn = list.peer == ctx.rank;
    if (!isOwn && !open(ctx, ticket, list.peer, from))
      return false;
    RowBlocks blocks = {bytes, mine.outer,
                        shapeOf(*info, rowDims, list.peer).rows,
                        plan->positions};
    if (!moveRows(ctx, site, rows.at(list), list.count, blocks, from, dst))
      return false;
    if (!isOwn)
      owners.push_back(list.peer);
  }
  return close(ctx, ticket, owners) &&
         finish(ctx, ticket, plan->askers, *shown);
}

static int gatherRowsDirect(shardrt_context &ctx, int64_t site, int64_t handle,
                            const void *src, void *dst) {
  return runRows(ctx, site, handle, SiteKind::GatherRows, src, dst, readRows);
}

/// Reads updates where they are, and combines rows with them.
static bool takeUpdates(shardrt_context &ctx, int64_t site, const RowCall &call,
                        const DeviceRows &rows, const void *updates,
                        void *dst) {
  const auto &[sitePlan, plan, info, rowDims, mine, bytes] = call;
  bool replaces = info->reduction == Reduction::None;
  std::optional<Scratch> sorted;
  if (!replaces)
    sorted.emplace(ctx, site, mine.outer * rows.slots * bytes);
  void *target = replaces ? dst : sorted->get();
  Ticket ticket;
  Shown *shown = nullptr;
  if ((sorted && !target) ||
      !show(ctx, {site, 0}, updates, plan->takers, ticket, shown))
    return false;
  std::vector<int64_t> givers;
  for (size_t s = 0; s < plan->sources.size(); ++s) {
    const DeviceRows::List &list = replaces ? rows.lasts[s] : rows.takes[s];
    auto *from = static_cast<const std::byte *>(updates);
    bool isOwn = list.peer == ctx.rank;
    if (!isOwn && !open(ctx, ticket, list.peer, from))
      return false;
    RowBlocks blocks = {bytes, mine.outer, plan->sources[s].positions,
                        replaces ? mine.rows : rows.slots};
    if (!moveRows(ctx, site, rows.at(list), list.count, blocks, from, target))
      return false;
    if (!isOwn)
      givers.push_back(list.peer);
  }
  RowBlocks blocks = {bytes, mine.outer, rows.slots, mine.rows};
  return close(ctx, ticket, givers) &&
         (replaces || updateRows(ctx, site, rows.at(rows.segments),
                                 rows.segments.count, blocks, target, dst)) &&
         finish(ctx, ticket, plan->takers, *shown);
}

static int scatterRowsDirect(shardrt_context &ctx, int64_t site, int64_t handle,
                             const void *updates, void *dst) {
  return runRows(ctx, site, handle, SiteKind::ScatterRows, updates, dst,
                 takeUpdates);
}

const Collectives &shardrt::directCollectives() {
  static const Collectives table = {ExchangeSteps<DirectWay>::run,
                                    ExchangeSteps<DirectWay>::start,
                                    ExchangeSteps<DirectWay>::wait,
                                    runAllReduceDirect,
                                    runReduceScatterDirect,
                                    planRowsDirect,
                                    gatherRowsDirect,
                                    scatterRowsDirect};
  return table;
}
