//===- DeviceRows.cpp - Rows without the host -----------------------------===//

#include "Collectives/DeviceRows.h"
#include "Collectives/Collectives.h"
#include "Collectives/RowCall.h"
#include <algorithm>
#include <utility>

using namespace shardrt;

using List = DeviceRows::List;

namespace {
/// The lists of one plan, while they are written.
class Writer {
public:
  explicit Writer(std::vector<int64_t> &words) : words(words) {}
  void begin(int64_t peer, int64_t messageRows = 0) {
    list = {peer, static_cast<int64_t>(words.size()), 0, messageRows};
  }
  void add(std::initializer_list<int64_t> entry) {
    words.insert(words.end(), entry);
    ++list.count;
  }
  List end() const { return list; }

private:
  std::vector<int64_t> &words;
  List list;
};
} // namespace

/// Who takes `rows` of this rank's gets them one behind the other.
template <typename Rows>
static std::vector<List> listMessages(const std::vector<int64_t> &peers,
                                      const std::vector<Rows> &rows,
                                      Writer &writer) {
  std::vector<List> lists;
  for (size_t i = 0; i < peers.size(); ++i) {
    auto count = static_cast<int64_t>(rows[i].size());
    writer.begin(peers[i], count);
    for (int64_t k = 0; k < count; ++k)
      writer.add({rows[i][k], k});
    lists.push_back(writer.end());
  }
  return lists;
}

static void listGather(const shardrt_context &ctx, const RowPlan &plan,
                       bool travel, DeviceRows &rows, Writer &writer) {
  rows.reads.clear();
  for (const RowPlan::Ask &ask : plan.asks) {
    bool comes = travel && ask.peer != ctx.rank;
    // Where the host's transport packs as well, pairs number rows so already.
    bool isNumbered = ctx.comm->packs() && ask.peer != ctx.rank;
    std::vector<RowPlan::Pair> pairs = plan.reads[ask.place];
    if (comes && !isNumbered) {
      std::stable_sort(
          pairs.begin(), pairs.end(),
          [](const auto &a, const auto &b) { return a.row < b.row; });
      int64_t row = -1, number = -1;
      for (RowPlan::Pair &pair : pairs) {
        number += pair.row != row;
        row = std::exchange(pair.row, number);
      }
    }
    writer.begin(ask.peer, comes ? ask.numRows : 0);
    for (const RowPlan::Pair &pair : pairs)
      writer.add({pair.row, pair.at});
    rows.reads.push_back(writer.end());
  }
  rows.sends.clear();
  if (travel)
    rows.sends = listMessages(plan.askers, plan.asked, writer);
}

static void listScatter(const shardrt_context &ctx, const RowPlan &plan,
                        bool travel, DeviceRows &rows, Writer &writer) {
  size_t sources = plan.sources.size();
  struct Take {
    int64_t source, at, row;
  };
  std::vector<Take> takes;
  for (const RowPlan::Run &run : plan.runs)
    for (int64_t i = run.begin; i < run.end; ++i) {
      auto [at, row] = plan.takes[plan.sources[run.source].place][i];
      takes.push_back({run.source, at, row});
    }
  // By rows, each row's in their order.
  std::stable_sort(takes.begin(), takes.end(),
                   [](const Take &a, const Take &b) { return a.row < b.row; });
  if (travel && !ctx.comm->packs()) {
    // A message holds them in the order of their positions.
    std::vector<std::vector<int64_t>> positions(sources);
    for (const Take &take : takes)
      positions[take.source].push_back(take.at);
    for (std::vector<int64_t> &list : positions)
      std::sort(list.begin(), list.end());
    for (Take &take : takes) {
      const std::vector<int64_t> &list = positions[take.source];
      if (plan.sources[take.source].peer != ctx.rank)
        take.at =
            std::lower_bound(list.begin(), list.end(), take.at) - list.begin();
    }
  }
  rows.slots = static_cast<int64_t>(takes.size());
  std::vector<std::vector<size_t>> ofSource(sources);
  for (size_t slot = 0; slot < takes.size(); ++slot)
    ofSource[takes[slot].source].push_back(slot);
  rows.takes.clear();
  rows.lasts.clear();
  for (size_t s = 0; s < sources; ++s) {
    int64_t peer = plan.sources[s].peer;
    int64_t messageRows = travel && peer != ctx.rank
                              ? static_cast<int64_t>(ofSource[s].size())
                              : 0;
    writer.begin(peer, messageRows);
    for (size_t slot : ofSource[s])
      writer.add({takes[slot].at, static_cast<int64_t>(slot)});
    rows.takes.push_back(writer.end());
    writer.begin(peer, messageRows);
    for (size_t slot : ofSource[s])
      if (slot + 1 == takes.size() || takes[slot + 1].row != takes[slot].row)
        writer.add({takes[slot].at, takes[slot].row});
    rows.lasts.push_back(writer.end());
  }
  writer.begin(0);
  for (size_t slot = 0; slot < takes.size();) {
    size_t end = slot + 1;
    while (end < takes.size() && takes[end].row == takes[slot].row)
      ++end;
    writer.add({takes[slot].row, static_cast<int64_t>(slot),
                static_cast<int64_t>(end)});
    slot = end;
  }
  rows.segments = writer.end();
  rows.gives.clear();
  if (travel)
    rows.gives = listMessages(plan.takers, plan.taken, writer);
}

bool shardrt::listRows(shardrt_context &ctx, int64_t handle, bool travel) {
  int64_t site = handle - 1;
  if (ctx.deviceRows.size() < ctx.plans.size())
    ctx.deviceRows.resize(ctx.plans.size());
  DeviceRows &rows = ctx.deviceRows[site];
  std::vector<int64_t> words;
  Writer writer(words);
  const RowSite &info = ctx.program->table.sites[site].rows;
  if (info.gathers)
    listGather(ctx, ctx.rowPlans[site], travel, rows, writer);
  if (info.scatters)
    listScatter(ctx, ctx.rowPlans[site], travel, rows, writer);
  // Steps that ask for the same rows need no new lists.
  if (words == rows.words)
    return true;
  auto size = static_cast<int64_t>(words.size());
  rows.words.clear();
  if (size > rows.capacity) {
    ctx.device->release(rows.data);
    rows.capacity = 0;
    int64_t bytes = 2 * size * static_cast<int64_t>(sizeof(int64_t));
    rows.data = ctx.device->allocate(bytes);
    if (!rows.data)
      return failOfDevice(ctx, site);
    rows.capacity = 2 * size;
  }
  if (!ctx.device->upload(rows.data, words.data(),
                          size * static_cast<int64_t>(sizeof(int64_t))))
    return failOfDevice(ctx, site);
  rows.words = std::move(words);
  return true;
}

bool shardrt::canMoveRows(const shardrt_context &ctx, int64_t site) {
  const SiteKernels &kernels = ctx.kernels[site];
  const Site &info = ctx.program->table.sites[site];
  return kernels.rows >= 0 &&
         (info.kind != SiteKind::ScatterRows ||
          info.reduction == Reduction::None || kernels.update >= 0);
}

int shardrt::runRows(shardrt_context &ctx, int64_t site, int64_t handle,
                     SiteKind kind, const void *src, void *dst, RowMove move) {
  bool gathers = kind == SiteKind::GatherRows;
  RowCall call;
  if (!prepareRowCall(ctx, site, handle, kind, call))
    return ctx.comm->status();
  if (!canMoveRows(ctx, site))
    return (gathers
                ? stagedCollectives.gatherRows
                : stagedCollectives.scatterRows)(ctx, site, handle, src, dst);
  // A gather reads the rank's block, a scatter writes it.
  int64_t rowBytes = call.mine.outer * call.bytes;
  int64_t block = call.sitePlan->srcBytes,
          asked = rowBytes * call.plan->positions;
  if (!checkDeviceBuffers(ctx, site, src, gathers ? block : asked, dst,
                          gathers ? asked : block, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = rowBytes * (gathers ? call.plan->rowsReceived
                                            : call.plan->updatesReceived);
  bool done = move(ctx, site, call, ctx.deviceRows[handle - 1], src, dst);
  return done ? SHARDRT_OK : ctx.comm->status();
}

void shardrt::releaseRows(shardrt_context &ctx) {
  for (DeviceRows &rows : ctx.deviceRows) {
    ctx.device->release(rows.data);
    rows = {};
  }
}
