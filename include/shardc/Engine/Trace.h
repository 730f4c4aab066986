//===- Trace.h - What devices did, and when ---------------------*- C++ -*-===//
//
// While a trace is on, each rank notes its runs and what it exchanged in them.
// Nothing but a flag is looked at otherwise.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_TRACE_H
#define SHARDC_ENGINE_TRACE_H

#include "shardrt/shardrt.h"
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace shardc::engine {

/// One run of a program on one device, or one exchange of it.
struct TraceEvent {
  int64_t device;
  bool isExchange;
  size_t name, detail;    ///< among the trace's texts
  int64_t beginNs, endNs; ///< of the steady clock
  int64_t waitNs, bytes;  ///< of an exchange: for others, and from them
};

struct Trace {
  /// Some 300 MB; what comes later is counted, not kept.
  static constexpr size_t limit = size_t(1) << 22;
  std::vector<TraceEvent> events;
  std::vector<std::string> texts;
  int64_t dropped = 0;
};

class Tracer {
public:
  bool isOn() const { return on.load(std::memory_order_relaxed); }
  /// False where one is on.
  bool start();
  /// What was noted since; false where none is on.
  bool stop(Trace &noted);
  /// Ends what shardrt_trace_begin began on the calling rank: a run of
  /// `program` on `device`.
  void add(shardrt_context *context, const shardrt_program *program,
           const std::string &name, int64_t device, int64_t beginNs,
           int64_t endNs);

private:
  size_t numberOf(const std::string &text);
  void append(TraceEvent event);
  std::atomic<bool> on{false};
  std::mutex mutex; ///< guards what follows
  Trace trace;
  std::map<std::string, size_t> numbers; ///< of texts
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_TRACE_H
