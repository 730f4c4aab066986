//===- WriteError.h - Errors for callers in C -------------------*- C++ -*-===//
#ifndef SHARDRT_HOST_WRITEERROR_H
#define SHARDRT_HOST_WRITEERROR_H

#include <algorithm>
#include <cstring>
#include <string_view>

namespace shardrt {

/// Writes `text` to a caller's buffer, cut to its size, with its NUL.
/// Needs no memory: what ran out of it can say so.
inline void writeError(char *buffer, size_t size, std::string_view text) {
  if (!buffer || size == 0)
    return;
  size_t length = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

} // namespace shardrt

#endif // SHARDRT_HOST_WRITEERROR_H
