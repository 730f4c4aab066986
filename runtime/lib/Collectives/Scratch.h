//===- Scratch.h - Device memory for a while --------------------*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_SCRATCH_H
#define SHARDRT_COLLECTIVES_SCRATCH_H

#include "Collectives/Context.h"

namespace shardrt {

/// Memory of the rank's device that goes back to its pool. Work is in order, so
/// it may go back before the work that uses it is done.
class Scratch {
public:
  /// Memory of `bytes` bytes, for `site`; check `get()`.
  Scratch(shardrt_context &ctx, int64_t site, int64_t bytes)
      : ctx(ctx), data(ctx.deviceMemory->allocate(bytes)) {
    if (!data)
      ctx.fail(SHARDRT_MEMORY, ctx.program->describe(site, true) +
                                   ": cannot get " + std::to_string(bytes) +
                                   " bytes: " + ctx.device->error);
  }
  ~Scratch() { ctx.deviceMemory->release(data); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  std::byte *get() const { return static_cast<std::byte *>(data); }

private:
  shardrt_context &ctx;
  void *data;
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_SCRATCH_H
