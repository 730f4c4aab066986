//===- RowPositions.cpp - Which rows a rank's indices name ----------------===//

#include "Collectives/RowPositions.h"
#include "Collectives/Plan.h"

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

std::vector<int64_t> shardrt::cuttingAxes(std::span<const DimExchange> dims,
                                          std::span<const int64_t> meshShape,
                                          bool ofParts) {
  std::vector<int64_t> axes;
  for (const DimExchange &dim : dims)
    for (int64_t axis : dim.axes)
      if (varies(dim, ofParts ? dim.needed : dim.owned, meshShape, axis))
        axes.push_back(axis);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

static Interval entryOf(const DimExchange &dim,
                        const std::vector<Interval> &table,
                        std::span<const int64_t> meshShape, int64_t rank) {
  return table[shardc::coordinateAlong(meshShape, dim.axes, rank)];
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

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
    dim.size = table.size();
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
  bool isEven = dims.size() == 1 && dims[0].component >= 0 && sliceCount == 1 &&
                dims[0].slice == 1 && dims[0].size > 0;
  for (size_t i = 0; i + 1 < batch.size(); ++i)
    isEven &= batchStride[i] == batchStride[i + 1] * extentOf(batch[i + 1]);
  if (isEven)
    flatStride = batchStride.empty() ? 1 : batchStride.back();
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
