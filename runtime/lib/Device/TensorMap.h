//===- TensorMap.h - Tensors that TMA copies know ---------------*- C++ -*-===//
#ifndef SHARDRT_DEVICE_TENSORMAP_H
#define SHARDRT_DEVICE_TENSORMAP_H

#include "shardrt/TensorMap.h"
#include <array>
#include <cstdint>
#include <string>

namespace shardrt {

/// The words of shardrt/TensorMap.h, by name.
struct TensorMap {
  uint64_t address = 0;
  int32_t dims = 0, element = 0;
  int64_t elementBytes = 0;
  std::array<int64_t, SHARDRT_MAP_DIMS> sizes = {}, box = {};
  std::array<int64_t, SHARDRT_MAP_DIMS> strides = {}; ///< of all dims, in bytes

  /// Copies are of windows: of `channels` each of `pixels` that follow one
  /// another, which begin along dim i + 1 from `low[i]` on, below the size and
  /// `high[i]`, by `steps[i]`. There is no box then.
  bool isOfWindows = false;
  int64_t channels = 0, pixels = 0;
  std::array<int64_t, SHARDRT_MAP_DIMS - 2> low = {}, high = {}, steps = {};

  /// Dims between channels and images.
  int32_t spatialDims() const { return dims - 2; }
  /// Rows of a copy, and bytes of one.
  int64_t rows() const;
  int64_t rowBytes() const {
    return (isOfWindows ? channels : box[0]) * elementBytes;
  }
  explicit TensorMap(const int64_t *words);
  /// What a GPU would refuse of it; empty where it takes it.
  std::string check() const;
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_TENSORMAP_H
