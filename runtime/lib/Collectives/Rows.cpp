//===- Rows.cpp - Rows asked for by index ---------------------------------===//
//
// Rows are read out of the owner's block, updates out of the buffer of the rank
// that has them, as a plan says.
//
// Updates are applied in the order of their number in the whole tensor of
// updates. So a sum has the bits of the same sum on one rank, on any mesh.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Collectives/Pack.h"
#include "Collectives/RowCall.h"
#include "Collectives/RowPositions.h"
#include <cstring>

using namespace shardrt;
using shardc::Box;

/// The plan that `handle` names, if the site can use it.
static const RowPlan *findRowPlan(shardrt_context &ctx, int64_t site,
                                  int64_t handle) {
  bool isGather = ctx.plans[site].kind == SiteKind::GatherRows;
  if (handle < 1 || handle > static_cast<int64_t>(ctx.rowPlans.size()) ||
      !ctx.rowPlans[handle - 1].isBuilt) {
    ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) +
                                ": there is no plan " + std::to_string(handle));
    return nullptr;
  }
  const RowSite &rows = ctx.program->table.sites[handle - 1].rows;
  const Site &info = ctx.program->table.sites[site];
  if (!(isGather ? rows.gathers : rows.scatters) ||
      info.rows.first + rows.dims.size() > info.exchange.globalShape.size()) {
    ctx.fail(SHARDRT_USAGE, ctx.program->describe(site, true) + ": " +
                                ctx.program->describe(handle - 1, false) +
                                " is a plan for something else");
    return nullptr;
  }
  return &ctx.rowPlans[handle - 1];
}

RowShape shardrt::shapeOf(const Site &info, size_t numRowDims, int64_t rank) {
  RowShape shape;
  Box box = shardc::ownedBox(info.exchange, rank);
  for (size_t i = 0; i < box.size(); ++i) {
    int64_t first = info.rows.first, dim = static_cast<int64_t>(i);
    int64_t &part = dim < first ? shape.outer
                    : dim < first + static_cast<int64_t>(numRowDims)
                        ? shape.rows
                        : shape.inner;
    part *= extentOf(box[i]);
  }
  return shape;
}

bool shardrt::prepareRowCall(shardrt_context &ctx, int64_t site, int64_t handle,
                             SiteKind kind, RowCall &call) {
  if (ctx.comm->status() || !(call.sitePlan = findPlan(ctx, site, kind)) ||
      !(call.plan = findRowPlan(ctx, site, handle)))
    return false;
  call.info = &ctx.program->table.sites[site];
  call.rowDims = ctx.program->table.sites[handle - 1].rows.dims.size();
  call.mine = shapeOf(*call.info, call.rowDims, ctx.rank);
  call.bytes = call.mine.inner * call.sitePlan->elementBytes;
  return true;
}

/// Copies rows of `Bytes` bytes, or, if that is 0, of `bytes`, to their
/// positions. Rows are anywhere: those after the next are on their way already.
template <int64_t Bytes>
static void copyRowsOf(std::span<const RowPlan::Pair> pairs,
                       const std::byte *src, std::byte *dst, int64_t bytes) {
  constexpr size_t ahead = 8;
  if constexpr (Bytes > 0)
    bytes = Bytes;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i + ahead < pairs.size())
      __builtin_prefetch(src + pairs[i + ahead].row * bytes);
    std::memcpy(dst + pairs[i].at * bytes, src + pairs[i].row * bytes, bytes);
  }
}

static void copyRows(std::span<const RowPlan::Pair> pairs, const std::byte *src,
                     std::byte *dst, int64_t bytes) {
  switch (bytes) {
  case 1:
    return copyRowsOf<1>(pairs, src, dst, bytes);
  case 2:
    return copyRowsOf<2>(pairs, src, dst, bytes);
  case 4:
    return copyRowsOf<4>(pairs, src, dst, bytes);
  case 8:
    return copyRowsOf<8>(pairs, src, dst, bytes);
  case 16:
    return copyRowsOf<16>(pairs, src, dst, bytes);
  case 32:
    return copyRowsOf<32>(pairs, src, dst, bytes);
  case 64:
    return copyRowsOf<64>(pairs, src, dst, bytes);
  case 128:
    return copyRowsOf<128>(pairs, src, dst, bytes);
  case 256:
    return copyRowsOf<256>(pairs, src, dst, bytes);
  }
  copyRowsOf<0>(pairs, src, dst, bytes);
}

int shardrt::gatherRows(shardrt_context &ctx, int64_t site, int64_t handle,
                        const void *src, void *dst) {
  RowCall call;
  if (!prepareRowCall(ctx, site, handle, SiteKind::GatherRows, call))
    return ctx.comm->status();
  const auto &[sitePlan, plan, info, rowDims, mine, bytes] = call;
  if (!checkBuffers(ctx, site, src, sitePlan->srcBytes, dst,
                    mine.outer * plan->positions * bytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->rowsReceived * mine.outer * bytes;
  // A rank without elements in its rows has nothing to read or to show.
  Ticket ticket;
  std::vector<std::vector<BoxCopy>> boxes;
  std::vector<Piece> pieces;
  if (ctx.comm->packs())
    packRows(plan->asked, mine.outer, mine.rows, bytes, boxes, pieces);
  if (!ctx.comm->post({site, 0}, {src, sitePlan->srcBytes, pieces},
                      plan->askers, ticket))
    return ctx.comm->status();
  auto *to = static_cast<std::byte *>(dst);
  for (const RowPlan::Ask &ask : plan->asks) {
    auto *from = static_cast<const std::byte *>(src);
    bool isOwn = ask.peer == ctx.rank;
    if (!isOwn && !ctx.comm->open(ticket, ask.peer, from))
      return ctx.comm->status();
    int64_t rows = isOwn               ? mine.rows
                   : ctx.comm->packs() ? ask.numRows
                                       : shapeOf(*info, rowDims, ask.peer).rows;
    for (int64_t o = 0; o < mine.outer && bytes > 0; ++o)
      copyRows(plan->reads[ask.place], from + o * rows * bytes,
               to + o * plan->positions * bytes, bytes);
    if (!isOwn)
      ctx.comm->close(ticket, ask.peer);
  }
  return ctx.comm->finish(ticket, plan->askers) ? SHARDRT_OK
                                                : ctx.comm->status();
}

/// Combines rows of `count` elements, of `bytes` bytes, of the block at `dst`
/// with the updates at `src` that `takes` name, in their order.
using RowCombiner = void (*)(const Combiner &combiner,
                             std::span<const RowPlan::Take> takes,
                             const std::byte *src, std::byte *dst,
                             int64_t count, int64_t bytes);

/// Calls `body(row, update)` for each of `takes`. Rows are anywhere, and
/// updates with gaps: the lines of some are on their way while others are
/// combined.
template <typename Body>
static void forEachTake(std::span<const RowPlan::Take> takes,
                        const std::byte *src, std::byte *dst, int64_t bytes,
                        Body body) {
  constexpr int64_t line = 64, most = 8 * line;
  constexpr size_t ahead = 6;
  for (size_t i = 0; i < takes.size(); ++i) {
    if (i + ahead < takes.size()) {
      const RowPlan::Take &later = takes[i + ahead];
      for (int64_t at = 0; at < std::min(bytes, most); at += line) {
        __builtin_prefetch(dst + later.row * bytes + at, 1);
        __builtin_prefetch(src + later.at * bytes + at, 0);
      }
    }
    body(dst + takes[i].row * bytes, src + takes[i].at * bytes);
  }
}

template <typename Element>
static void addRows(const Combiner &, std::span<const RowPlan::Take> takes,
                    const std::byte *src, std::byte *dst, int64_t count,
                    int64_t bytes) {
  forEachTake(takes, src, dst, bytes,
              [&](std::byte *row, const std::byte *update) {
                auto *to = reinterpret_cast<Element *>(row);
                auto *from = reinterpret_cast<const Element *>(update);
                for (int64_t i = 0; i < count; ++i)
                  to[i] += from[i];
              });
}

static void replaceRows(const Combiner &, std::span<const RowPlan::Take> takes,
                        const std::byte *src, std::byte *dst, int64_t,
                        int64_t bytes) {
  forEachTake(takes, src, dst, bytes,
              [&](std::byte *row, const std::byte *update) {
                std::memcpy(row, update, bytes);
              });
}

static void combineRows(const Combiner &combiner,
                        std::span<const RowPlan::Take> takes,
                        const std::byte *src, std::byte *dst, int64_t count,
                        int64_t bytes) {
  forEachTake(takes, src, dst, bytes,
              [&](std::byte *row, const std::byte *update) {
                combiner.into(row, update, count);
              });
}

/// Sums of plain numbers are worth a loop of their own.
static RowCombiner rowCombiner(const Site &info, const Combiner &combiner) {
  if (!combiner)
    return replaceRows;
  if (info.reduction == Reduction::Sum) {
    if (info.type == ElementType::F32)
      return addRows<float>;
    if (info.type == ElementType::F64)
      return addRows<double>;
    if (info.type == ElementType::I32 || info.type == ElementType::UI32)
      return addRows<uint32_t>;
  }
  return combineRows;
}

int shardrt::scatterRows(shardrt_context &ctx, int64_t site, int64_t handle,
                         const void *updates, void *dst) {
  RowCall call;
  if (!prepareRowCall(ctx, site, handle, SiteKind::ScatterRows, call))
    return ctx.comm->status();
  const auto &[sitePlan, plan, info, rowDims, mine, bytes] = call;
  if (!checkBuffers(ctx, site, updates, mine.outer * plan->positions * bytes,
                    dst, sitePlan->srcBytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->updatesReceived * mine.outer * bytes;
  Ticket ticket;
  std::vector<std::vector<BoxCopy>> boxes;
  std::vector<Piece> pieces;
  if (ctx.comm->packs())
    packRows({plan->taken.begin(), plan->taken.end()}, mine.outer,
             plan->positions, bytes, boxes, pieces);
  if (!ctx.comm->post({site, 0},
                      {updates, mine.outer * plan->positions * bytes, pieces},
                      plan->takers, ticket))
    return ctx.comm->status();
  std::vector<const std::byte *> sources;
  for (const RowPlan::Source &source : plan->sources) {
    sources.push_back(static_cast<const std::byte *>(updates));
    if (source.peer != ctx.rank &&
        !ctx.comm->open(ticket, source.peer, sources.back()))
      return ctx.comm->status();
  }
  auto *to = static_cast<std::byte *>(dst);
  RowCombiner combine = rowCombiner(*info, sitePlan->combiner);
  for (int64_t o = 0; o < mine.outer && bytes > 0; ++o)
    for (const RowPlan::Run &run : plan->runs) {
      const RowPlan::Source &source = plan->sources[run.source];
      std::span<const RowPlan::Take> takes = plan->takes[source.place];
      combine(sitePlan->combiner, takes.subspan(run.begin, run.end - run.begin),
              sources[run.source] + o * source.positions * bytes,
              to + o * mine.rows * bytes, mine.inner, bytes);
    }
  for (const RowPlan::Source &source : plan->sources)
    if (source.peer != ctx.rank)
      ctx.comm->close(ticket, source.peer);
  return ctx.comm->finish(ticket, plan->takers) ? SHARDRT_OK
                                                : ctx.comm->status();
}
