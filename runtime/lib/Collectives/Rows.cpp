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

template <typename Word>
static void copyWords(std::span<const RowPlan::Pair> pairs,
                      const std::byte *src, std::byte *dst) {
  auto *from = reinterpret_cast<const Word *>(src);
  auto *to = reinterpret_cast<Word *>(dst);
  for (const RowPlan::Pair &pair : pairs)
    to[pair.at] = from[pair.row];
}

/// Copies each row to its positions; a row that has several is read once.
static void copyRows(std::span<const RowPlan::Pair> pairs, const std::byte *src,
                     std::byte *dst, int64_t bytes) {
  switch (bytes) {
  case 1:
    return copyWords<uint8_t>(pairs, src, dst);
  case 2:
    return copyWords<uint16_t>(pairs, src, dst);
  case 4:
    return copyWords<uint32_t>(pairs, src, dst);
  case 8:
    return copyWords<uint64_t>(pairs, src, dst);
  }
  const std::byte *known = nullptr;
  int64_t row = -1;
  for (const RowPlan::Pair &pair : pairs) {
    std::byte *to = dst + pair.at * bytes;
    std::memcpy(to, pair.row == row ? known : src + pair.row * bytes, bytes);
    row = pair.row;
    known = to;
  }
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
      copyRows(ask.pairs, from + o * rows * bytes,
               to + o * plan->positions * bytes, bytes);
    if (!isOwn)
      ctx.comm->close(ticket, ask.peer);
  }
  return ctx.comm->finish(ticket, plan->askers) ? SHARDRT_OK
                                                : ctx.comm->status();
}

/// Combines a row of `count` elements with an update of it.
using RowCombiner = void (*)(const Combiner &combiner, std::byte *row,
                             const std::byte *update, int64_t count,
                             int64_t bytes);

template <typename Element>
static void addRow(const Combiner &, std::byte *row, const std::byte *update,
                   int64_t count, int64_t) {
  auto *to = reinterpret_cast<Element *>(row);
  auto *from = reinterpret_cast<const Element *>(update);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

static void replaceRow(const Combiner &, std::byte *row,
                       const std::byte *update, int64_t, int64_t bytes) {
  std::memcpy(row, update, bytes);
}

static void combineRow(const Combiner &combiner, std::byte *row,
                       const std::byte *update, int64_t count, int64_t) {
  const std::byte *parts[] = {row, update};
  combiner.function(parts, row, count);
}

/// Sums of plain numbers are worth a loop of their own.
static RowCombiner rowCombiner(const Site &info, const Combiner &combiner) {
  if (!combiner)
    return replaceRow;
  if (info.reduction == Reduction::Sum) {
    if (info.type == ElementType::F32)
      return addRow<float>;
    if (info.type == ElementType::F64)
      return addRow<double>;
    if (info.type == ElementType::I32 || info.type == ElementType::UI32)
      return addRow<uint32_t>;
  }
  return combineRow;
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
    packRows(plan->taken, mine.outer, plan->positions, bytes, boxes, pieces);
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
    for (size_t i = 0; i < plan->takes.size(); ++i) {
      auto rowOf = [&](const RowPlan::Take &take) {
        return to + (o * mine.rows + take.row) * bytes;
      };
      // Rows lie anywhere: the one after the next is on its way already.
      if (i + 2 < plan->takes.size())
        __builtin_prefetch(rowOf(plan->takes[i + 2]), 1);
      const RowPlan::Take &take = plan->takes[i];
      int64_t position = o * plan->sources[take.source].positions + take.at;
      combine(sitePlan->combiner, rowOf(take),
              sources[take.source] + position * bytes, mine.inner, bytes);
    }
  for (const RowPlan::Source &source : plan->sources)
    if (source.peer != ctx.rank)
      ctx.comm->close(ticket, source.peer);
  return ctx.comm->finish(ticket, plan->takers) ? SHARDRT_OK
                                                : ctx.comm->status();
}
