//===- Trace.h - What a rank did, and when ----------------------*- C++ -*-===//
#ifndef SHARDRT_HOST_TRACE_H
#define SHARDRT_HOST_TRACE_H

#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <vector>

namespace shardrt {

/// The events of one rank, in the order in which they ended. Written by its
/// thread alone.
struct Trace {
  /// Some 300 MB; what comes later is counted, not kept.
  static constexpr size_t limit = size_t(1) << 22;

  std::vector<shardrt_trace_event> events;
  int64_t dropped = 0;
  int32_t step = 0;

  Trace() { events.reserve(4096); }

  void add(shardrt_trace_event event) {
    event.step = step;
    if (events.size() < limit)
      events.push_back(event);
    else
      ++dropped;
  }
  /// Begins `kernel`, and ends the one that is under way, if there is one.
  void mark(int64_t kernel) {
    endKernel(-1, -1);
    running = kernel;
    runningSince = nowNs();
  }
  /// Ends the kernel that is under way: what it did, -1 where nobody knows.
  void endKernel(int64_t bytes, int64_t operations) {
    if (running >= 0)
      addKernel(running, runningSince, nowNs(), bytes, operations);
    running = -1;
  }
  void addKernel(int64_t kernel, int64_t begin, int64_t end, int64_t bytes = -1,
                 int64_t operations = -1) {
    shardrt_trace_event event = {};
    event.kind = SHARDRT_TRACE_KERNEL;
    event.id = kernel;
    event.begin_ns = begin;
    event.end_ns = end;
    event.bytes = bytes;
    event.operations = operations;
    add(event);
  }
  void endStep(int64_t begin, int64_t end) {
    shardrt_trace_event event = {};
    event.kind = SHARDRT_TRACE_STEP;
    event.id = step;
    event.begin_ns = begin;
    event.end_ns = end;
    add(event);
    running = -1;
    ++step;
  }
  void clear() {
    events.clear();
    dropped = 0;
    step = 0;
    running = -1;
  }

private:
  int64_t running = -1; ///< the kernel that is under way
  int64_t runningSince = 0;
};

} // namespace shardrt

#endif // SHARDRT_HOST_TRACE_H
