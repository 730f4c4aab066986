//===- TensorMap.cpp - Tensors that TMA copies know -----------------------===//
//
// Limits are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col with a
// swizzle of 128 bytes.
//
//===----------------------------------------------------------------------===//

#include "Device/TensorMap.h"

using namespace shardrt;

TensorMap::TensorMap(const int64_t *words)
    : address(static_cast<uint64_t>(words[SHARDRT_MAP_ADDRESS])),
      dims(static_cast<int32_t>(words[SHARDRT_MAP_KIND] & 255)),
      element(static_cast<int32_t>(
          (words[SHARDRT_MAP_KIND] & ~SHARDRT_MAP_WINDOWS) >> 8)),
      isOfWindows(words[SHARDRT_MAP_KIND] & SHARDRT_MAP_WINDOWS) {
  elementBytes = element == SHARDRT_MAP_F16 || element == SHARDRT_MAP_BF16 ? 2
                 : element == SHARDRT_MAP_F32                              ? 4
                 : element == SHARDRT_MAP_F64                              ? 8
                 : element == SHARDRT_MAP_U8                               ? 1
                                                                           : 0;
  if (dims < 1 || dims > SHARDRT_MAP_DIMS)
    return;
  strides[0] = elementBytes;
  for (int32_t i = 0; i < dims; ++i) {
    sizes[i] = words[SHARDRT_MAP_SIZES + i];
    if (!isOfWindows)
      box[i] = words[SHARDRT_MAP_BOX + i];
    if (i > 0)
      strides[i] = words[SHARDRT_MAP_STRIDES + i - 1];
  }
  if (!isOfWindows)
    return;
  channels = words[SHARDRT_MAP_BOX];
  pixels = words[SHARDRT_MAP_BOX + 1];
  for (int32_t i = 0; i < spatialDims(); ++i) {
    int64_t range = words[SHARDRT_MAP_BOX + 2 + i];
    low[i] = static_cast<int16_t>(range & 0xffff);
    high[i] = static_cast<int16_t>(range >> 16 & 0xffff);
    steps[i] = range >> 32;
  }
}

int64_t TensorMap::rows() const {
  if (isOfWindows)
    return pixels;
  int64_t rows = 1;
  for (int32_t d = 1; d < dims; ++d)
    rows *= box[d];
  return rows;
}

static std::string say(const char *what, int64_t found, const char *expected) {
  return std::string(what) + " is " + std::to_string(found) + ", expected " +
         expected;
}

/// What a GPU would refuse of the windows of `map`.
static std::string checkWindows(const TensorMap &map) {
  if (map.spatialDims() < 1)
    return say("the number of dims of windows", map.dims, "3 to 5");
  if (map.channels < 1 || map.channels > 256)
    return say("the number of channels", map.channels, "1 to 256");
  if (map.pixels < 1 || map.pixels > 1024)
    return say("the number of pixels", map.pixels, "1 to 1024");
  int64_t most = SHARDRT_MAP_CORNER(map.spatialDims());
  for (int32_t i = 0; i < map.spatialDims(); ++i) {
    if (map.steps[i] < 1 || map.steps[i] > 8)
      return say("a step between windows", map.steps[i], "1 to 8");
    for (int64_t corner : {map.low[i], map.high[i]})
      if (corner < -most || corner >= most)
        return say(
            "a corner of windows", corner,
            ("-" + std::to_string(most) + " to " + std::to_string(most - 1))
                .c_str());
    if (map.low[i] >= map.sizes[i + 1] + map.high[i])
      return say("a number of windows", 0, "1 or more");
  }
  return {};
}

std::string TensorMap::check() const {
  if (dims < 1 || dims > SHARDRT_MAP_DIMS)
    return say("the number of dims", dims, "1 to 5");
  if (elementBytes == 0)
    return say("the element type", element, "a type that is known");
  if (address % 16 != 0)
    return say("the address modulo 16", address % 16, "0");
  for (int32_t i = 0; i < dims; ++i) {
    if (sizes[i] < 1 || sizes[i] > int64_t(1) << 32)
      return say("a size", sizes[i], "1 to 2^32");
    if (!isOfWindows && (box[i] < 1 || box[i] > 256))
      return say("a box's size", box[i], "1 to 256");
    if (i > 0 && (strides[i] < 1 || strides[i] % 16 != 0 ||
                  strides[i] >= int64_t(1) << 40))
      return say("a stride", strides[i], "a multiple of 16 bytes below 2^40");
  }
  if (rowBytes() > 128 || rowBytes() % 16 != 0)
    return say("a box's width in bytes", rowBytes(),
               "a multiple of 16, at most 128");
  return isOfWindows ? checkWindows(*this) : std::string();
}
