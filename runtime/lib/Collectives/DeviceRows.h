//===- DeviceRows.h - Rows without the host ---------------------*- C++ -*-===//
//
// Which rows go where is worked out by the host (RowPlan.h), which reads the
// indices for that: they are few beside the rows. Its lists go to the device
// when they change; rows go from device to device.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_DEVICEROWS_H
#define SHARDRT_COLLECTIVES_DEVICEROWS_H

#include "shardrt/Sites.h"
#include <cstdint>
#include <vector>

struct shardrt_context;

namespace shardrt {

struct RowCall;
struct RowPlan;

/// A plan of rows as kernels read it: lists of numbers in device memory.
struct DeviceRows {
  /// A list: where it begins, and how many entries it has.
  struct List {
    int64_t peer = 0, begin = 0, count = 0;
    /// Rows of the message that they come in, or go in; of buffers that peers
    /// read in place, nothing.
    int64_t messageRows = 0;
  };
  // Gathers: pairs (row of the owner's block, or of its message; position).
  std::vector<List> reads;
  /// Pairs (row of this rank's block; row of the message).
  std::vector<List> sends;
  // Scatters: pairs (position, or row of the message; slot among all that
  // comes here, by rows and in order).
  std::vector<List> takes;
  /// Pairs (position; row of the message).
  std::vector<List> gives;
  /// Triples (row, first slot, last slot + 1).
  List segments;
  /// Of updates that replace rows, those that stay: pairs (position, or row of
  /// the message; row).
  std::vector<List> lasts;
  int64_t slots = 0;

  std::vector<int64_t> words; ///< all lists, as they are on the device
  void *data = nullptr;       ///< there
  int64_t capacity = 0;       ///< in words

  /// Where `list` is on the device.
  const int64_t *at(const List &list) const {
    return static_cast<const int64_t *>(data) + list.begin;
  }
};

/// Makes the lists of plan `handle`, which is built, for a way on which rows
/// `travel` in messages, or are read in place. False after failing the step.
bool listRows(shardrt_context &ctx, int64_t handle, bool travel);

/// Whether the rank's device can do what is asked at `site`.
bool canMoveRows(const shardrt_context &ctx, int64_t site);

/// Carries a gather or scatter out from device to device: rows of `src`, or
/// updates, as `rows` lists them, into `dst`. False after failing the step.
using RowMove = bool (*)(shardrt_context &ctx, int64_t site,
                         const RowCall &call, const DeviceRows &rows,
                         const void *src, void *dst);

/// Checks a gather or scatter (`kind`) and its buffers, and has `move` carry it
/// out; through host memory where the device cannot. Returns a status.
int runRows(shardrt_context &ctx, int64_t site, int64_t handle, SiteKind kind,
            const void *src, void *dst, RowMove move);

/// Frees what the lists take on the device.
void releaseRows(shardrt_context &ctx);

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_DEVICEROWS_H
