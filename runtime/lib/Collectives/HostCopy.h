//===- HostCopy.h - A device's buffer in host memory ------------*- C++ -*-===//
#ifndef SHARDRT_COLLECTIVES_HOSTCOPY_H
#define SHARDRT_COLLECTIVES_HOSTCOPY_H

#include "Collectives/Collectives.h"
#include <utility>

namespace shardrt {

/// Host memory that holds a device's buffer for a while.
class HostCopy {
public:
  /// Memory of `bytes` bytes, for `site`; check `get()`.
  HostCopy(shardrt_context &ctx, int64_t site, int64_t bytes)
      : ctx(ctx), site(site), bytes(bytes), data(ctx.memory->allocate(bytes)) {
    if (!data)
      ctx.fail(SHARDRT_MEMORY,
               ctx.program->describe(site, true) + ": no host memory for " +
                   std::to_string(bytes) + " bytes of a device's buffer");
  }
  ~HostCopy() { ctx.memory->release(data); }
  HostCopy(const HostCopy &) = delete;
  HostCopy &operator=(const HostCopy &) = delete;

  void *get() const { return data; }
  /// Lets go of the memory: its owner is someone else.
  void *take() { return std::exchange(data, nullptr); }

  /// Waits for the device's work and copies. False after failing the step.
  bool from(const void *device) {
    if (!data)
      return false;
    if (bytes <= 0)
      return true;
    if (device && ctx.device->download(data, device, bytes))
      return true;
    return fail(device);
  }
  bool to(void *device) {
    if (bytes <= 0)
      return true;
    if (device && ctx.device->upload(device, data, bytes))
      return true;
    return fail(device);
  }

private:
  bool fail(const void *device) {
    if (device)
      return failOfDevice(ctx, site);
    ctx.fail(SHARDRT_USAGE,
             ctx.program->describe(site, true) + ": a buffer is NULL");
    return false;
  }

  shardrt_context &ctx;
  int64_t site;
  int64_t bytes;
  void *data;
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_HOSTCOPY_H
