//===- RowPositions.h - Which rows a rank's indices name --------*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_ROWPOSITIONS_H
#define SHARDRT_COLLECTIVES_ROWPOSITIONS_H

#include "shardrt/Sites.h"
#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

namespace shardrt {

/// The axes along which `dims` are in different blocks; or along which parts of
/// slices differ.
std::vector<int64_t> cuttingAxes(std::span<const shardc::DimExchange> dims,
                                 std::span<const int64_t> meshShape,
                                 bool ofParts = false);

/// Not negative, where an interval may end before it begins.
inline int64_t extentOf(shardc::Interval interval) {
  return std::max<int64_t>(0, interval.size());
}

/// One addressed dim as one rank sees it.
struct RowDim {
  /// Blocks of the ranks that this one may ask, ascending.
  struct Block {
    shardc::Interval rows;
    int64_t rankOffset; ///< to be added to this rank's number
  };
  std::vector<Block> blocks;
  int64_t size = 0, slice = 1;
  shardc::Interval part; ///< of each slice, what this rank needs
  int64_t component;     ///< of the index vectors, or -1
  int64_t batch = -1;
  int64_t batchBegin = 0;

  /// The block that `index`, which is inside, is in.
  const Block &blockOf(int64_t index) const {
    return *--std::upper_bound(blocks.begin(), blocks.end(), index,
                               [](int64_t value, const Block &candidate) {
                                 return value < candidate.rows.begin;
                               });
  }
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
  std::vector<shardc::Interval> batch; ///< owned, of each batch dim
  std::vector<int64_t> batchSize;      ///< global
  std::vector<int64_t> batchStride;    ///< in the local indices
  std::vector<bool> isCut;             ///< of batch dims
  int64_t vectorStride = 1;
  /// From one index to the next, where there is one of a row for each position
  /// and they are evenly spaced; else 0.
  int64_t flatStride = 0;
  std::vector<RowDim> dims;
  int64_t batchCount = 1, sliceCount = 1, total = 0;
};

template <typename Index, typename Body>
void Positions::walk(const Index *indices, bool drops, Body body) const {
  constexpr int64_t far = std::numeric_limits<int64_t>::max() / 2;
  if (total == 0)
    return;
  size_t numDims = dims.size();
  if (flatStride > 0) {
    const RowDim &dim = dims[0];
    const Index *value = indices + dim.component * vectorStride;
    RowDim::Block block = {{0, 0}, 0};
    for (int64_t b = 0; b < batchCount; ++b, value += flatStride) {
      int64_t index =
          std::is_unsigned_v<Index> &&
                  static_cast<uint64_t>(*value) > static_cast<uint64_t>(far)
              ? far
              : static_cast<int64_t>(*value);
      if (!drops)
        index = std::clamp<int64_t>(index, 0, dim.size - 1);
      else if (index < 0 || index >= dim.size)
        continue;
      if (index < block.rows.begin || index >= block.rows.end)
        block = dim.blockOf(index);
      body(b, rank + block.rankOffset, index - block.rows.begin);
    }
    return;
  }
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
          block = &dim.blockOf(index);
          last[i] = block - dim.blocks.data();
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

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_ROWPOSITIONS_H
