//===- Reduce.cpp - all_reduce and reduce_scatter -------------------------===//
//
// Every element is combined by one rank, or by all alike, over the ranks of the
// group in ascending order: the bits depend neither on time nor on the rank.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Reduce.h"
#include "shardc/Layout/Limits.h"
#include <cstring>

using namespace shardrt;

/// Most ranks of a group whose addresses fit on the stack.
static constexpr int64_t fewRanks = 64;

namespace {
/// The posted buffers of a group, by its order.
class Parts {
public:
  explicit Parts(size_t size) : count(size) {
    if (size > fewRanks)
      many.resize(size);
  }
  const std::byte **data() { return many.empty() ? few : many.data(); }
  size_t size() const { return count; }

private:
  size_t count;
  const std::byte *few[fewRanks] = {};
  std::vector<const std::byte *> many;
};
} // namespace

/// Waits for the buffers of `ranks`; this rank's is `src`. The last first:
/// ranks wake one another in ascending order, so when it is there most others
/// are, and nobody sleeps and wakes once for each.
static bool openAll(shardrt_context &ctx, const Ticket &ticket,
                    std::span<const int64_t> ranks, const std::byte *src,
                    Parts &parts) {
  for (size_t i = ranks.size(); i-- > 0;) {
    if (ranks[i] == ctx.rank)
      parts.data()[i] = src;
    else if (!ctx.comm->open(ticket, ranks[i], parts.data()[i]))
      return false;
  }
  return true;
}

static void closeAll(shardrt_context &ctx, const Ticket &ticket,
                     std::span<const int64_t> ranks) {
  for (int64_t rank : ranks)
    ctx.comm->close(ticket, rank);
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

const SitePlan *shardrt::findAllReduce(shardrt_context &ctx, int64_t site,
                                       int64_t count) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::AllReduce);
  if (!plan || (count >= 0 && count <= shardc::kMaxElements))
    return plan;
  ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) + ": " +
                              std::to_string(count) +
                              " elements make no sense");
  return nullptr;
}

int64_t shardrt::bytesOfAllReduce(const SitePlan &plan, int64_t rank,
                                  int64_t bytes) {
  int64_t ranks = static_cast<int64_t>(plan.group.size());
  int64_t sum = 2 * bytes * (ranks - 1);
  return sum / ranks + (rank == plan.group.front() ? sum % ranks : 0);
}

/// Everybody combines everything. The result waits aside until nobody reads
/// `src`, which may be `dst`.
static bool reduceSmall(shardrt_context &ctx, const SitePlan &plan, Call call,
                        const std::byte *src, std::byte *dst) {
  alignas(64) std::byte result[smallAllReduceBytes];
  Ticket ticket;
  Parts parts(plan.group.size());
  if (!ctx.comm->post(call, {src, call.count * plan.elementBytes}, plan.readers,
                      ticket) ||
      !openAll(ctx, ticket, plan.group, src, parts))
    return false;
  plan.combiner.function({parts.data(), parts.size()}, result, call.count);
  closeAll(ctx, ticket, plan.readers);
  if (!ctx.comm->finish(ticket, plan.readers))
    return false;
  // Shards differ in size: another group may be about many elements, in slices.
  ctx.comm->skip();
  if (call.count > 0)
    std::memcpy(dst, result, call.count * plan.elementBytes);
  return true;
}

/// The group's first combines for all: 2 (k - 1) messages in place of k (k -
/// 1), for one more wait. Its parts are the same in the same order, so are the
/// bits.
static bool reduceAtFirst(shardrt_context &ctx, const SitePlan &plan, Call call,
                          const std::byte *src, std::byte *dst) {
  int64_t first = plan.group.front(), bytes = call.count * plan.elementBytes;
  Ticket up, down;
  if (ctx.rank != first) {
    const std::byte *result = nullptr;
    std::span<const int64_t> reader(&first, 1);
    // Whoever has the result no longer reads `src`, which may be `dst`.
    if (!ctx.comm->post(call, {src, bytes}, reader, up) ||
        !ctx.comm->post(call, {}, {}, down) ||
        !ctx.comm->open(down, first, result))
      return false;
    if (bytes > 0)
      std::memcpy(dst, result, bytes);
    ctx.comm->close(down, first);
    return ctx.comm->finish(up, reader) && ctx.comm->finish(down, {});
  }
  alignas(64) std::byte result[smallAllReduceBytes];
  Parts parts(plan.group.size());
  if (!ctx.comm->post(call, {}, {}, up) ||
      !openAll(ctx, up, plan.group, src, parts))
    return false;
  plan.combiner.function({parts.data(), parts.size()}, result, call.count);
  closeAll(ctx, up, plan.readers);
  if (!ctx.comm->post(call, {result, bytes}, plan.readers, down) ||
      !ctx.comm->finish(up, {}) || !ctx.comm->finish(down, plan.readers))
    return false;
  if (bytes > 0)
    std::memcpy(dst, result, bytes);
  return true;
}

/// Whether messages cost more than one more wait: always where they are sent,
/// else where many ranks would wake one another. All ranks, of whatever
/// host, reach the same answer.
static bool isFirstToCombine(const shardrt_context &ctx, const SitePlan &plan) {
  return plan.group.size() > (ctx.comm->packs() ? 3u : 8u);
}

/// Each rank combines one slice; then all gather. In place this is safe: slice
/// i of anybody's buffer is read by rank i alone, and is overwritten only after
/// rank i has shown its result.
static bool reduceSliced(shardrt_context &ctx, const SitePlan &plan, Call call,
                         const std::byte *src, std::byte *dst) {
  int64_t ranks = static_cast<int64_t>(plan.group.size());
  int64_t bytes = plan.elementBytes;
  auto begin = [&](int64_t i) { return beginOfSlice(call.count, ranks, i); };
  int64_t me = 0;
  while (plan.group[me] != ctx.rank)
    ++me;

  // Of each one reads its slice, then everybody this rank's.
  std::vector<Piece> slices, result;
  if (ctx.comm->packs())
    for (int64_t i = 0; i < ranks; ++i)
      if (i != me) {
        slices.push_back({begin(i) * bytes, (begin(i + 1) - begin(i)) * bytes});
        result.push_back(
            {begin(me) * bytes, (begin(me + 1) - begin(me)) * bytes});
      }

  Ticket first, second;
  Parts parts(plan.group.size());
  if (!ctx.comm->post(call, {src, call.count * bytes, slices}, plan.readers,
                      first) ||
      !openAll(ctx, first, plan.group, src, parts))
    return false;
  int64_t from = begin(me), size = begin(me + 1) - from;
  for (int64_t i = 0; i < ranks; ++i)
    parts.data()[i] += from * bytes;
  plan.combiner.function({parts.data(), parts.size()}, dst + from * bytes,
                         size);
  closeAll(ctx, first, plan.readers);

  if (!ctx.comm->post(call, {dst, call.count * bytes, result}, plan.readers,
                      second))
    return false;
  for (int64_t step = 1; step < ranks; ++step) {
    int64_t i = (me + step) % ranks;
    const std::byte *data = nullptr;
    if (!ctx.comm->open(second, plan.group[i], data))
      return false;
    int64_t at = begin(i), length = begin(i + 1) - at;
    if (length > 0)
      std::memcpy(dst + at * bytes, data + at * bytes, length * bytes);
    ctx.comm->close(second, plan.group[i]);
  }
  return ctx.comm->finish(first, plan.readers) &&
         ctx.comm->finish(second, plan.readers);
}

int shardrt::runAllReduce(shardrt_context &ctx, int64_t site, const void *src,
                          void *dst, int64_t count) {
  const SitePlan *plan = findAllReduce(ctx, site, count);
  if (!plan)
    return ctx.comm->status();
  int64_t bytes = count * plan->elementBytes;
  if (!checkBuffers(ctx, site, src, bytes, dst, bytes, /*inPlace=*/true))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  auto *from = static_cast<const std::byte *>(src);
  auto *to = static_cast<std::byte *>(dst);
  int64_t ranks = static_cast<int64_t>(plan->group.size());
  bool done;
  if (ranks == 1) {
    Ticket ticket;
    done = ctx.comm->post({site, count}, {}, {}, ticket) &&
           ctx.comm->finish(ticket, {});
    if (done && bytes > 0 && to != from)
      std::memcpy(to, from, bytes);
  } else if (bytes <= smallAllReduceBytes) {
    timer.bytesReceived = bytesOfAllReduce(*plan, ctx.rank, bytes);
    done = isFirstToCombine(ctx, *plan)
               ? reduceAtFirst(ctx, *plan, {site, count}, from, to)
               : reduceSmall(ctx, *plan, {site, count}, from, to);
  } else {
    // One slice from each other rank, twice.
    timer.bytesReceived = bytesOfAllReduce(*plan, ctx.rank, bytes);
    done = reduceSliced(ctx, *plan, {site, count}, from, to);
  }
  return done ? SHARDRT_OK : ctx.comm->status();
}

//===----------------------------------------------------------------------===//
// reduce_scatter
//===----------------------------------------------------------------------===//

int shardrt::runReduceScatter(shardrt_context &ctx, int64_t site,
                              const void *src, void *dst) {
  const SitePlan *plan = findPlan(ctx, site, SiteKind::ReduceScatter);
  if (!plan || !checkBuffers(ctx, site, src, plan->srcBytes, dst,
                             plan->dstBytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->bytesReceived;
  auto *from = static_cast<const std::byte *>(src);
  auto *to = static_cast<std::byte *>(dst);
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, {src, plan->srcBytes, plan->pieces},
                      plan->readers, ticket))
    return ctx.comm->status();
  for (const SitePlan::Part &part : plan->parts) {
    Parts bases(part.ranks.size()), parts(part.ranks.size());
    if (!openAll(ctx, ticket, part.ranks, from, bases))
      return ctx.comm->status();
    int64_t count = part.copy.run / plan->elementBytes;
    forEachRun(part.copy, [&](int64_t srcAt, int64_t dstAt) {
      for (size_t i = 0; i < parts.size(); ++i)
        parts.data()[i] = bases.data()[i] + srcAt;
      plan->combiner.function({parts.data(), parts.size()}, to + dstAt, count);
    });
  }
  closeAll(ctx, ticket, plan->opened);
  return ctx.comm->finish(ticket, plan->readers) ? SHARDRT_OK
                                                 : ctx.comm->status();
}
