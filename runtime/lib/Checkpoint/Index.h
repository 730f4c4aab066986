//===- Index.h - What a checkpoint says of itself ---------------*- C++ -*-===//
//
// Values are in one file, whole and row-major. Each was cut into cells: a list
// of indices for each dim, and the cells are all their combinations, so that
// cells cannot overlap or leave a gap. The bytes of a cell, as a rank holds
// them, are cut into blocks; each block has a digest.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_CHECKPOINT_INDEX_H
#define SHARDRT_CHECKPOINT_INDEX_H

#include "shardc/Layout/Exchange.h"
#include "shardrt/ElementType.h"
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardrt::checkpoint {

using shardc::Box;
using Digest = std::array<uint8_t, 32>;

/// Why something did not go well; a code of 0: it did.
struct Status {
  int code = 0;
  std::string text = {};
  bool failed() const { return code != 0; }
};

struct Value {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  /// By dim, strictly ascending, from 0 to its size; {0} where that is 0.
  std::vector<std::vector<int64_t>> cuts;
  int64_t offset = 0;              ///< of its first byte, behind the header
  std::vector<Digest> blocks;      ///< cell by cell, row-major
  std::vector<int64_t> firstBlock; ///< by cell, and the end

  int64_t bytes() const;
  int64_t numCells() const;
  Box cell(int64_t number) const;
  /// Fills firstBlock and makes room for the digests.
  void layBlocks(int64_t blockBytes);
};

struct Index {
  /// Of the format; others are refused.
  static constexpr int64_t format = 1;
  /// Most bytes of an index or a header.
  static constexpr int64_t mostText = 100'000'000;

  int64_t step = 0, seed = 0, ranks = 1;
  std::string mesh, program;
  int64_t blockBytes = int64_t(1) << 20;
  std::vector<Value> values;

  /// Gives values their places, those of wide elements first.
  void layOut();
  /// Bytes of all values.
  int64_t dataBytes() const;
  /// What the file of values begins with: the length of its header, and that.
  std::string header() const;
  std::string text() const;
  /// Reads what text() writes, and nothing else; `name` is what errors call it.
  static Status parse(std::string_view text, const std::string &name,
                      Index &index);
};

/// Bytes of `box`.
int64_t bytesOf(const Box &box, int64_t elementBytes);

/// Whether all elements and bytes of `shape` can be counted.
bool isCountable(const std::vector<int64_t> &shape, ElementType type);

/// Whether a name can be in an index.
bool isName(std::string_view name);

/// Calls `visit(global, local, bytes)`, until it returns false, for every run
/// of `box` in a row-major array of `shape` that overlaps bytes [from, to) of
/// the box: byte offsets in the array and in the box.
template <typename Visit>
bool forEachRun(const std::vector<int64_t> &shape, const Box &box,
                int64_t elementBytes, int64_t from, int64_t to, Visit visit) {
  // Dims that are whole join the run of the dim before them.
  int64_t dims = static_cast<int64_t>(shape.size()), inner = dims;
  int64_t run = elementBytes;
  while (inner > 0) {
    --inner;
    run *= box[inner].size();
    if (box[inner].size() != shape[inner])
      break;
  }
  if (run == 0)
    return true;
  std::vector<int64_t> strides(dims, elementBytes);
  for (int64_t d = dims - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  int64_t start = 0;
  for (int64_t d = 0; d < dims; ++d)
    start += box[d].begin * strides[d];
  for (int64_t local = from; local < to;) {
    int64_t number = local / run, skipped = local % run;
    int64_t global = start + skipped;
    for (int64_t d = inner - 1; d >= 0; --d) {
      global += number % box[d].size() * strides[d];
      number /= box[d].size();
    }
    int64_t bytes = run - skipped < to - local ? run - skipped : to - local;
    if (!visit(global, local, bytes))
      return false;
    local += bytes;
  }
  return true;
}

} // namespace shardrt::checkpoint

#endif // SHARDRT_CHECKPOINT_INDEX_H
