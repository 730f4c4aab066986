//===- TensorMap.cpp - Tensors that TMA copies know -----------------------===//
//
// Limits are those of cuTensorMapEncodeTiled with a swizzle of 128 bytes.
//
//===----------------------------------------------------------------------===//

#include "Device/TensorMap.h"

using namespace shardrt;

TensorMap::TensorMap(const int64_t *words)
    : address(static_cast<uint64_t>(words[SHARDRT_MAP_ADDRESS])),
      dims(static_cast<int32_t>(words[SHARDRT_MAP_KIND] & 255)),
      element(static_cast<int32_t>(words[SHARDRT_MAP_KIND] >> 8)) {
  elementBytes = element == SHARDRT_MAP_F16 || element == SHARDRT_MAP_BF16 ? 2
                 : element == SHARDRT_MAP_F32                              ? 4
                 : element == SHARDRT_MAP_F64                              ? 8
                                                                           : 0;
  if (dims < 1 || dims > SHARDRT_MAP_DIMS)
    return;
  strides[0] = elementBytes;
  for (int32_t i = 0; i < dims; ++i) {
    sizes[i] = words[SHARDRT_MAP_SIZES + i];
    box[i] = words[SHARDRT_MAP_BOX + i];
    if (i > 0)
      strides[i] = words[SHARDRT_MAP_STRIDES + i - 1];
  }
}

std::string TensorMap::check() const {
  auto say = [](const char *what, int64_t found, const char *expected) {
    return std::string(what) + " is " + std::to_string(found) + ", expected " +
           expected;
  };
  if (dims < 1 || dims > SHARDRT_MAP_DIMS)
    return say("the number of dims", dims, "1 to 5");
  if (elementBytes == 0)
    return say("the element type", element, "a type that is known");
  if (address % 16 != 0)
    return say("the address modulo 16", address % 16, "0");
  for (int32_t i = 0; i < dims; ++i) {
    if (sizes[i] < 1 || sizes[i] > int64_t(1) << 32)
      return say("a size", sizes[i], "1 to 2^32");
    if (box[i] < 1 || box[i] > 256)
      return say("a box's size", box[i], "1 to 256");
    if (i > 0 && (strides[i] < 1 || strides[i] % 16 != 0 ||
                  strides[i] >= int64_t(1) << 40))
      return say("a stride", strides[i], "a multiple of 16 bytes below 2^40");
  }
  if (box[0] * elementBytes > 128 || box[0] * elementBytes % 16 != 0)
    return say("a box's width in bytes", box[0] * elementBytes,
               "a multiple of 16, at most 128");
  return {};
}
