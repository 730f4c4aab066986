//===- Rows.cpp - Rows asked for by index ---------------------------------===//
//
// A plan says, for the indices that each rank holds, whose rows they name.
// Gathers and scatters with the same indices share it. Ranks tell one another
// what they ask for when the plan is made; then rows travel, no others, and to
// each rank each at most once.
//
// Rows are read out of the owner's block, updates out of the buffer of the rank
// that has them. What a rank posts for a plan are the lists that a transport
// without common memory needs to pack rows: for a gather the rows that it asks
// each owner for, for a scatter its positions and their rows.
//
// Updates are applied in the order of their number in the whole tensor of
// updates. So a sum has the bits of the same sum on one rank, on any mesh.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include <algorithm>
#include <cstring>
#include <limits>

using namespace shardrt;
using shardc::Box;
using shardc::DimExchange;
using shardc::Interval;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Whether entries of `table`, of `dim`, differ along `axis`, one of its axes.
static bool varies(const DimExchange &dim, const std::vector<Interval> &table,
                   std::span<const int64_t> meshShape, int64_t axis) {
  int64_t stride = 1;
  for (size_t i = dim.axes.size(); i-- > 0;) {
    int64_t size = meshShape[dim.axes[i]];
    if (dim.axes[i] == axis)
      for (size_t e = 0; e < table.size(); ++e)
        if (table[e] != table[e - e / stride % size * stride])
          return true;
    stride *= size;
  }
  return false;
}

/// The axes along which `dims` lie in different blocks; or along which parts of
/// slices differ.
static std::vector<int64_t> cuttingAxes(std::span<const DimExchange> dims,
                                        std::span<const int64_t> meshShape,
                                        bool ofParts = false) {
  std::vector<int64_t> axes;
  for (const DimExchange &dim : dims)
    for (int64_t axis : dim.axes)
      if (varies(dim, ofParts ? dim.needed : dim.owned, meshShape, axis))
        axes.push_back(axis);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

static int64_t sizeOf(const DimExchange &dim) {
  int64_t size = 0;
  for (Interval interval : dim.owned)
    size = std::max(size, interval.end);
  return size;
}

static Interval entryOf(const DimExchange &dim,
                        const std::vector<Interval> &table,
                        std::span<const int64_t> meshShape, int64_t rank) {
  return table[shardc::coordinateAlong(meshShape, dim.axes, rank)];
}

static int64_t extentOf(Interval interval) {
  return std::max<int64_t>(0, interval.size());
}

std::string shardrt::checkRows(const Site &site) {
  const RowSite &rows = site.rows;
  size_t dims = site.exchange.globalShape.size(), count = rows.dims.size();
  // Owned boxes tile the tensor; what is needed of it has another meaning here.
  auto tiles = [](shardc::Exchange exchange) {
    for (DimExchange &dim : exchange.dims)
      dim.needed = dim.owned;
    return shardc::verifyExchange(exchange);
  };
  if (std::string error = tiles(site.exchange); !error.empty())
    return error;
  if (site.kind != SiteKind::RowPlan) {
    if (rows.first < 0 || rows.first > static_cast<int64_t>(dims))
      return "rows begin at dim " + std::to_string(rows.first) + " of " +
             std::to_string(dims);
    if (site.kind == SiteKind::ScatterRows &&
        site.reduction != Reduction::None &&
        !findCombiner(site.type, site.reduction))
      return std::string(reductionName(site.reduction)) + " of " +
             std::string(elementTypeName(site.type)) + " is not supported";
    return {};
  }
  std::string_view type = elementTypeName(site.type);
  if (!type.starts_with("i") && !type.starts_with("ui"))
    return "indices are " + std::string(type) + ", expected integers";
  if (rows.vectorDim < 0 || rows.vectorDim > static_cast<int64_t>(dims))
    return "index vectors lie in dim " + std::to_string(rows.vectorDim) +
           " of " + std::to_string(dims);
  int64_t components = rows.vectorDim == static_cast<int64_t>(dims)
                           ? 1
                           : site.exchange.globalShape[rows.vectorDim];
  shardc::Exchange addressed;
  addressed.meshShape = site.exchange.meshShape;
  for (size_t i = 0; i < count; ++i) {
    int64_t component = rows.components[i], size = sizeOf(rows.dims[i]);
    bool isBatch = component < 0;
    int64_t batch = -1 - component;
    if (isBatch ? batch >= static_cast<int64_t>(dims) || batch == rows.vectorDim
                : component >= components)
      return "row dim " + std::to_string(i) + " takes component " +
             std::to_string(component) + ", which there is not";
    if (rows.slices[i] < 0 || rows.slices[i] > size)
      return "row dim " + std::to_string(i) + " has slices of " +
             std::to_string(rows.slices[i]) + " out of " + std::to_string(size);
    for (Interval part : rows.dims[i].needed)
      if (!part.empty() && (part.begin < 0 || part.end > rows.slices[i]))
        return "row dim " + std::to_string(i) +
               " needs a part outside of its slices";
    addressed.globalShape.push_back(size);
    addressed.dims.push_back(rows.dims[i]);
    addressed.dims.back().dim = static_cast<int64_t>(i);
  }
  return tiles(addressed);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {

/// One addressed dim as one rank sees it.
struct RowDim {
  /// Blocks of the ranks that this one may ask, ascending.
  struct Block {
    Interval rows;
    int64_t rankOffset; ///< to be added to this rank's number
  };
  std::vector<Block> blocks;
  int64_t size = 0, slice = 1;
  Interval part;     ///< of each slice, what this rank needs
  int64_t component; ///< of the index vectors, or -1
  int64_t batch = -1;
  int64_t batchBegin = 0;
};

/// The indices of one rank.
class Positions {
public:
  Positions(const Site &site, int64_t rank);

  /// Positions that `rank` has.
  int64_t count() const { return total; }
  /// Calls `body(position, rank of the owner, row in its block)` for each
  /// position in order; not for those that are dropped.
  template <typename Body>
  void forEach(const void *indices, bool drops, Body body) const;
  /// The number of a position among those of all ranks.
  int64_t globalNumber(int64_t position) const;
  /// True if each rank's positions follow those of ranks before it.
  bool isInOrder() const;
  /// Where this rank's positions begin, if so.
  int64_t begin() const { return globalNumber(0); }

private:
  template <typename Index, typename Body>
  void walk(const Index *indices, bool drops, Body body) const;

  const Site &site;
  int64_t rank;
  std::vector<Interval> batch;      ///< owned, of each batch dim
  std::vector<int64_t> batchSize;   ///< global
  std::vector<int64_t> batchStride; ///< in the local indices
  std::vector<bool> isCut;          ///< of batch dims
  int64_t vectorStride = 1;
  std::vector<RowDim> dims;
  int64_t batchCount = 1, sliceCount = 1, total = 0;
};

} // namespace

Positions::Positions(const Site &site, int64_t rank) : site(site), rank(rank) {
  const shardc::Exchange &exchange = site.exchange;
  std::span<const int64_t> mesh = exchange.meshShape;
  Box owned = shardc::ownedBox(exchange, rank);
  std::vector<int64_t> strides(owned.size(), 1);
  for (size_t i = owned.size(); i-- > 0;)
    if (i + 1 < owned.size())
      strides[i] = strides[i + 1] * extentOf(owned[i + 1]);
  std::vector<int64_t> batchOf(owned.size(), -1);
  for (size_t i = 0; i < owned.size(); ++i) {
    if (static_cast<int64_t>(i) == site.rows.vectorDim) {
      vectorStride = strides[i];
      continue;
    }
    batchOf[i] = static_cast<int64_t>(batch.size());
    batch.push_back(owned[i]);
    batchSize.push_back(exchange.globalShape[i]);
    batchStride.push_back(strides[i]);
    batchCount *= extentOf(owned[i]);
    isCut.push_back(false);
    for (const DimExchange &dim : exchange.dims)
      if (dim.dim == static_cast<int64_t>(i))
        isCut.back() = !cuttingAxes({&dim, 1}, mesh).empty();
  }
  std::vector<int64_t> rankStride(mesh.size(), 1);
  for (size_t a = mesh.size(); a-- > 0;)
    if (a + 1 < mesh.size())
      rankStride[a] = rankStride[a + 1] * mesh[a + 1];
  for (size_t i = 0; i < site.rows.dims.size(); ++i) {
    const DimExchange &table = site.rows.dims[i];
    RowDim &dim = dims.emplace_back();
    dim.size = sizeOf(table);
    dim.slice = site.rows.slices[i];
    dim.part = entryOf(table, table.needed, mesh, rank);
    dim.component = site.rows.components[i];
    if (dim.component < 0) {
      dim.batch = batchOf[-1 - dim.component];
      dim.batchBegin = batch[dim.batch].begin;
    }
    sliceCount *= extentOf(dim.part);
    // Owners differ from this rank along the axes that cut the dim.
    std::vector<int64_t> axes = cuttingAxes({&table, 1}, mesh);
    for (int64_t other : shardc::groupAlong(mesh, axes, rank)) {
      Interval rows = entryOf(table, table.owned, mesh, other);
      if (!rows.empty())
        dim.blocks.push_back({rows, other - rank});
    }
    std::sort(dim.blocks.begin(), dim.blocks.end(),
              [](const RowDim::Block &a, const RowDim::Block &b) {
                return a.rows.begin < b.rows.begin;
              });
  }
  total = batchCount * sliceCount;
}

template <typename Index, typename Body>
void Positions::walk(const Index *indices, bool drops, Body body) const {
  constexpr int64_t far = std::numeric_limits<int64_t>::max() / 2;
  if (total == 0)
    return;
  size_t numDims = dims.size();
  std::vector<int64_t> at(batch.size(), 0), start(numDims), offset(numDims);
  std::vector<size_t> last(numDims, 0); // the block found last: often again
  int64_t position = 0;
  for (int64_t b = 0; b < batchCount; ++b) {
    int64_t from = 0;
    for (size_t i = 0; i < at.size(); ++i)
      from += at[i] * batchStride[i];
    for (size_t i = 0; i < numDims; ++i) {
      const RowDim &dim = dims[i];
      if (dim.component < 0) {
        start[i] = dim.batchBegin + at[dim.batch];
        continue;
      }
      Index value = indices[from + dim.component * vectorStride];
      if constexpr (std::is_unsigned_v<Index>)
        start[i] = value > static_cast<uint64_t>(far)
                       ? far
                       : static_cast<int64_t>(value);
      else
        start[i] = std::clamp<int64_t>(value, -far, far);
      if (!drops)
        start[i] = std::clamp<int64_t>(start[i], 0, dim.size - dim.slice);
    }
    for (size_t i = 0; i < numDims; ++i)
      offset[i] = dims[i].part.begin;
    for (int64_t s = 0; s < sliceCount; ++s, ++position) {
      int64_t row = 0, owner = rank;
      bool inside = true;
      for (size_t i = 0; i < numDims; ++i) {
        const RowDim &dim = dims[i];
        int64_t index = start[i] + offset[i];
        if (index < 0 || index >= dim.size) {
          inside = false;
          break;
        }
        const RowDim::Block *block = &dim.blocks[last[i]];
        if (index < block->rows.begin || index >= block->rows.end) {
          auto above = std::upper_bound(
              dim.blocks.begin(), dim.blocks.end(), index,
              [](int64_t value, const RowDim::Block &candidate) {
                return value < candidate.rows.begin;
              });
          last[i] = above - dim.blocks.begin() - 1;
          block = &dim.blocks[last[i]];
        }
        row = row * block->rows.size() + index - block->rows.begin;
        owner += block->rankOffset;
      }
      if (inside)
        body(position, owner, row);
      for (size_t i = numDims; i-- > 0;) {
        if (++offset[i] < dims[i].part.end)
          break;
        offset[i] = dims[i].part.begin;
      }
    }
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < batch[i].size())
        break;
      at[i] = 0;
    }
  }
}

template <typename Body>
void Positions::forEach(const void *indices, bool drops, Body body) const {
  bool isUnsigned = elementTypeName(site.type).starts_with("ui") ||
                    site.type == ElementType::I1;
  auto as = [&]<typename Index>(Index) {
    walk(static_cast<const Index *>(indices), drops, body);
  };
  switch (elementBytes(site.type)) {
  case 1:
    return isUnsigned ? as(uint8_t()) : as(int8_t());
  case 2:
    return isUnsigned ? as(uint16_t()) : as(int16_t());
  case 4:
    return isUnsigned ? as(uint32_t()) : as(int32_t());
  default:
    return isUnsigned ? as(uint64_t()) : as(int64_t());
  }
}

int64_t Positions::globalNumber(int64_t position) const {
  int64_t slices = 1, within = 0;
  int64_t rest = position % std::max<int64_t>(1, sliceCount);
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t extent = std::max<int64_t>(1, extentOf(dims[i].part));
    within += (dims[i].part.begin + rest % extent) * slices;
    rest /= extent;
    slices *= dims[i].slice;
  }
  int64_t number = 0, stride = 1;
  rest = position / std::max<int64_t>(1, sliceCount);
  for (size_t i = batch.size(); i-- > 0;) {
    int64_t extent = std::max<int64_t>(1, extentOf(batch[i]));
    number += (batch[i].begin + rest % extent) * stride;
    rest /= extent;
    stride *= batchSize[i];
  }
  return number * slices + within;
}

bool Positions::isInOrder() const {
  bool first = true;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (isCut[i] && !first)
      return false;
    first &= batchSize[i] == 1;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {
/// Unless all went well, others may be reading a buffer that is about to go
/// away.
struct SettleOnFailure {
  shardrt_context &ctx;
  bool isDone = false;
  ~SettleOnFailure() {
    if (isDone)
      return;
    if (ctx.comm->status() == SHARDRT_OK)
      ctx.comm->fail(SHARDRT_MEMORY, "out of memory in the runtime");
    ctx.comm->settle();
  }
};
} // namespace

/// Shows each rank of the group its part of `words`, and calls `read(i, list)`
/// with what rank `group[i]` has for this one. `words` are a header (where each
/// list begins, and where the last ends), then the lists; entries are of
/// `width` words.
template <typename Read>
static bool
tellGroup(shardrt_context &ctx, int64_t site, std::span<const int64_t> group,
          const std::vector<int64_t> &words, int64_t width, Read read) {
  std::vector<int64_t> others(group.begin(), group.end());
  std::erase(others, ctx.rank);
  size_t me = std::find(group.begin(), group.end(), ctx.rank) - group.begin();
  SettleOnFailure guard{ctx};
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, words.data(), others, ticket))
    return false;
  for (size_t step = 0; step < group.size(); ++step) {
    // In any order of arrival would do as well: `read` sorts.
    size_t i = (me + step) % group.size();
    const std::byte *data = reinterpret_cast<const std::byte *>(words.data());
    if (i != me && !ctx.comm->open(ticket, group[i], data))
      return false;
    auto *begins = reinterpret_cast<const int64_t *>(data);
    const int64_t *entries = begins + group.size() + 1;
    read(i, std::span<const int64_t>(entries + begins[me] * width,
                                     (begins[me + 1] - begins[me]) * width));
    if (i != me)
      ctx.comm->close(ticket, group[i]);
  }
  guard.isDone = ctx.comm->finish(ticket, others);
  return guard.isDone;
}

/// Asks: the pairs of each owner, sorted by row.
static bool planGather(shardrt_context &ctx, int64_t site, const Site &info,
                       const Positions &positions, const void *indices,
                       RowPlan &plan, int64_t &bytes) {
  std::vector<int64_t> group = shardc::groupAlong(
      info.exchange.meshShape,
      cuttingAxes(info.rows.dims, info.exchange.meshShape), ctx.rank);
  std::vector<int64_t> place(ctx.numRanks, -1);
  for (size_t i = 0; i < group.size(); ++i)
    place[group[i]] = static_cast<int64_t>(i);
  std::vector<RowPlan::Ask> asks(group.size());
  std::vector<int64_t> most(group.size(), -1);
  positions.forEach(indices, /*drops=*/false,
                    [&](int64_t at, int64_t owner, int64_t row) {
                      int64_t i = place[owner];
                      asks[i].pairs.push_back({row, at});
                      most[i] = std::max(most[i], row);
                    });
  plan.asks.clear();
  plan.askers.clear();
  plan.rowsReceived = 0;
  std::vector<int64_t> words = {0}, rows;
  std::vector<RowPlan::Pair> sorted;
  for (size_t i = 0; i < group.size(); ++i) {
    std::vector<RowPlan::Pair> &pairs = asks[i].pairs;
    asks[i].peer = group[i];
    int64_t range = most[i] + 1, count = static_cast<int64_t>(pairs.size());
    if (range <= 8 * count) {
      // By counting: the same order as of a stable sort.
      std::vector<int64_t> starts(range + 1, 0);
      for (const RowPlan::Pair &pair : pairs)
        ++starts[pair.row + 1];
      for (int64_t row = 0; row < range; ++row)
        starts[row + 1] += starts[row];
      sorted.resize(count);
      for (const RowPlan::Pair &pair : pairs)
        sorted[starts[pair.row]++] = pair;
      pairs.swap(sorted);
    } else {
      std::sort(pairs.begin(), pairs.end(),
                [](const RowPlan::Pair &a, const RowPlan::Pair &b) {
                  return a.row < b.row || (a.row == b.row && a.at < b.at);
                });
    }
    size_t before = rows.size();
    if (group[i] != ctx.rank)
      for (size_t p = 0; p < pairs.size(); ++p)
        if (p == 0 || pairs[p].row != pairs[p - 1].row)
          rows.push_back(pairs[p].row);
    plan.rowsReceived += static_cast<int64_t>(rows.size() - before);
    words.push_back(static_cast<int64_t>(rows.size()));
  }
  words.insert(words.end(), rows.begin(), rows.end());
  if (!tellGroup(ctx, site, group, words, /*width=*/1,
                 [&](size_t i, std::span<const int64_t> list) {
                   if (group[i] == ctx.rank)
                     return;
                   bytes += static_cast<int64_t>((list.size() + 1) * 8);
                   if (!list.empty())
                     plan.askers.push_back(group[i]);
                 }))
    return false;
  // Starting with the next rank above, not all ranks read the same one first.
  for (size_t step = 0; step < group.size(); ++step) {
    size_t i = (place[ctx.rank] + step) % group.size();
    if (!asks[i].pairs.empty())
      plan.asks.push_back(std::move(asks[i]));
  }
  return true;
}

/// Takes: what other ranks' indices name of this rank's block.
static bool planScatter(shardrt_context &ctx, int64_t site, const Site &info,
                        const Positions &positions, const void *indices,
                        bool drops, RowPlan &plan, int64_t &bytes) {
  std::span<const int64_t> mesh = info.exchange.meshShape;
  std::vector<int64_t> axes = cuttingAxes(info.exchange.dims, mesh),
                       partAxes =
                           cuttingAxes(info.rows.dims, mesh, /*ofParts=*/true);
  for (int64_t axis : partAxes)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      axes.push_back(axis);
  std::vector<int64_t> group = shardc::groupAlong(mesh, axes, ctx.rank);
  // Several members may own one block, and rows that no member owns are of
  // no interest to them: another group has the same indices.
  std::vector<std::pair<int64_t, int64_t>> owners; // canonical owner, place
  std::vector<int64_t> rowAxes = cuttingAxes(info.rows.dims, mesh);
  auto ownerKey = [&](int64_t rank) {
    return shardc::coordinateAlong(mesh, rowAxes, rank);
  };
  for (size_t i = 0; i < group.size(); ++i)
    owners.push_back({ownerKey(group[i]), static_cast<int64_t>(i)});
  int64_t keys = 1;
  for (int64_t axis : rowAxes)
    keys *= mesh[axis];
  std::vector<std::vector<int64_t>> byKey(keys);
  positions.forEach(indices, drops,
                    [&](int64_t at, int64_t owner, int64_t row) {
                      std::vector<int64_t> &list = byKey[ownerKey(owner)];
                      list.push_back(at);
                      list.push_back(row);
                    });
  std::vector<int64_t> words = {0}, entries;
  for (auto [key, place] : owners) {
    entries.insert(entries.end(), byKey[key].begin(), byKey[key].end());
    words.push_back(static_cast<int64_t>(entries.size()) / 2);
  }
  words.insert(words.end(), entries.begin(), entries.end());
  plan.takers.clear();
  for (auto [key, place] : owners)
    if (!byKey[key].empty() && group[place] != ctx.rank)
      plan.takers.push_back(group[place]);

  plan.sources.clear();
  plan.takes.clear();
  plan.updatesReceived = 0;
  struct Part {
    int64_t begin, place;
    std::vector<int64_t> pairs;
  };
  std::vector<Part> parts;
  if (!tellGroup(
          ctx, site, group, words, /*width=*/2,
          [&](size_t i, std::span<const int64_t> list) {
            if (group[i] != ctx.rank) {
              bytes += static_cast<int64_t>((list.size() + 1) * 8);
              plan.updatesReceived += static_cast<int64_t>(list.size()) / 2;
            }
            if (!list.empty())
              parts.push_back(
                  {0, static_cast<int64_t>(i), {list.begin(), list.end()}});
          }))
    return false;
  bool inOrder = positions.isInOrder() && partAxes.empty();
  std::vector<std::pair<int64_t, RowPlan::Take>> numbered;
  for (Part &part : parts)
    part.begin = Positions(info, group[part.place]).begin();
  std::sort(parts.begin(), parts.end(),
            [](const Part &a, const Part &b) { return a.begin < b.begin; });
  for (const Part &part : parts) {
    Positions theirs(info, group[part.place]);
    int64_t source = static_cast<int64_t>(plan.sources.size());
    plan.sources.push_back({group[part.place], theirs.count()});
    for (size_t e = 0; e < part.pairs.size(); e += 2) {
      RowPlan::Take take = {source, part.pairs[e], part.pairs[e + 1]};
      if (inOrder || parts.size() == 1)
        plan.takes.push_back(take);
      else
        numbered.push_back({theirs.globalNumber(take.at), take});
    }
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[number, take] : numbered)
    plan.takes.push_back(take);
  return true;
}

int64_t shardrt::planRows(shardrt_context &ctx, int64_t site,
                          const void *indices) {
  if (!findPlan(ctx, site, SiteKind::RowPlan))
    return 0;
  const Site &info = ctx.program->table.sites[site];
  if (ctx.rowPlans.size() < ctx.plans.size())
    ctx.rowPlans.resize(ctx.plans.size());
  RowPlan &plan = ctx.rowPlans[site];
  plan.isBuilt = false;
  Positions positions(info, ctx.rank);
  if (!checkBuffers(ctx, site, indices, ctx.plans[site].srcBytes, nullptr, 0,
                    false))
    return 0;
  SiteTimer timer(ctx, site);
  plan.positions = positions.count();
  if (info.rows.gathers && !planGather(ctx, site, info, positions, indices,
                                       plan, timer.bytesReceived))
    return 0;
  bool drops = true;
  if (info.rows.scatters && !planScatter(ctx, site, info, positions, indices,
                                         drops, plan, timer.bytesReceived))
    return 0;
  plan.isBuilt = true;
  return site + 1;
}

//===----------------------------------------------------------------------===//
// What a plan is for
//===----------------------------------------------------------------------===//

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

namespace {
/// The block of a rank: dims before the addressed ones, these, and those after.
struct RowShape {
  int64_t outer = 1, rows = 1, inner = 1; ///< inner in elements
};
} // namespace

static RowShape shapeOf(const Site &info, size_t numRowDims, int64_t rank) {
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
  if (int status = ctx.comm->status())
    return status;
  const SitePlan *sitePlan = findPlan(ctx, site, SiteKind::GatherRows);
  if (!sitePlan)
    return ctx.comm->status();
  const RowPlan *plan = findRowPlan(ctx, site, handle);
  if (!plan)
    return ctx.comm->status();
  const Site &info = ctx.program->table.sites[site];
  size_t rowDims = ctx.program->table.sites[handle - 1].rows.dims.size();
  RowShape mine = shapeOf(info, rowDims, ctx.rank);
  int64_t bytes = mine.inner * sitePlan->elementBytes;
  if (!checkBuffers(ctx, site, src, sitePlan->srcBytes, dst,
                    mine.outer * plan->positions * bytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->rowsReceived * mine.outer * bytes;
  // A rank without elements in its rows has nothing to read or to show.
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, src, plan->askers, ticket))
    return ctx.comm->status();
  auto *to = static_cast<std::byte *>(dst);
  for (const RowPlan::Ask &ask : plan->asks) {
    auto *from = static_cast<const std::byte *>(src);
    bool isOwn = ask.peer == ctx.rank;
    if (!isOwn && !ctx.comm->open(ticket, ask.peer, from))
      return ctx.comm->status();
    int64_t rows = isOwn ? mine.rows : shapeOf(info, rowDims, ask.peer).rows;
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
  if (int status = ctx.comm->status())
    return status;
  const SitePlan *sitePlan = findPlan(ctx, site, SiteKind::ScatterRows);
  if (!sitePlan)
    return ctx.comm->status();
  const RowPlan *plan = findRowPlan(ctx, site, handle);
  if (!plan)
    return ctx.comm->status();
  const Site &info = ctx.program->table.sites[site];
  size_t rowDims = ctx.program->table.sites[handle - 1].rows.dims.size();
  RowShape mine = shapeOf(info, rowDims, ctx.rank);
  int64_t bytes = mine.inner * sitePlan->elementBytes;
  if (!checkBuffers(ctx, site, updates, mine.outer * plan->positions * bytes,
                    dst, sitePlan->srcBytes, /*inPlace=*/false))
    return ctx.comm->status();
  SiteTimer timer(ctx, site);
  timer.bytesReceived = plan->updatesReceived * mine.outer * bytes;
  Ticket ticket;
  if (!ctx.comm->post({site, 0}, updates, plan->takers, ticket))
    return ctx.comm->status();
  std::vector<const std::byte *> sources;
  for (const RowPlan::Source &source : plan->sources) {
    sources.push_back(static_cast<const std::byte *>(updates));
    if (source.peer != ctx.rank &&
        !ctx.comm->open(ticket, source.peer, sources.back()))
      return ctx.comm->status();
  }
  auto *to = static_cast<std::byte *>(dst);
  RowCombiner combine = rowCombiner(info, sitePlan->combiner);
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
