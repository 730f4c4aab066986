//===- DeviceCalls.h - Collectives on a device's copies ---------*- C++ -*-===//
//
// The conformance suite holds buffers in host memory. On a world whose ranks
// have devices these calls put copies there, communicate, and bring results
// back.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_DEVICECALLS_H
#define SHARDRT_TEST_DEVICECALLS_H

#include "Collectives/Context.h"
#include <optional>

namespace shardrt::test {

/// A device's copy of a host buffer; on the host that buffer itself.
class OnDevice {
public:
  OnDevice(shardrt_context *ctx, const void *host, int64_t bytes)
      : ctx(ctx), host(const_cast<void *>(host)), bytes(bytes) {
    if (!ctx->device || !host)
      return;
    data = shardrt_alloc(ctx, bytes, "");
    if (data && bytes > 0 && !ctx->device->upload(data, host, bytes))
      ctx->fail(ctx->device->status, ctx->device->error);
  }
  ~OnDevice() {
    if (data)
      shardrt_free(ctx, data);
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  void *get() const { return data ? data : ctx->device ? nullptr : host; }
  /// Copies to the host, unless `status` says that there is nothing to copy.
  int back(int status) const {
    if (status != SHARDRT_OK || !data || bytes == 0)
      return status;
    return shardrt_read(ctx, data, host, bytes);
  }

private:
  shardrt_context *ctx;
  void *host;
  int64_t bytes;
  void *data = nullptr;
};

/// An exchange between its start and its wait.
class SplitExchange {
public:
  SplitExchange(shardrt_context *ctx, int64_t site, const void *src)
      : ctx(ctx), site(site), host(src),
        from(ctx, src, ctx->plans[site].srcBytes),
        token(shardrt_exchange_start(ctx, site, from.get())) {}
  int wait(void *dst, const void *fill) {
    const SitePlan &plan = ctx->plans[site];
    OnDevice element(ctx, fill, plan.elementBytes);
    if (dst == host)
      return from.back(
          shardrt_exchange_wait(ctx, token, from.get(), element.get()));
    OnDevice to(ctx, dst, plan.dstBytes);
    return to.back(shardrt_exchange_wait(ctx, token, to.get(), element.get()));
  }

private:
  shardrt_context *ctx;
  int64_t site;
  const void *host;
  OnDevice from;
  int64_t token;
};

inline int exchange(shardrt_context *ctx, int64_t site, const void *src,
                    void *dst, const void *fill) {
  const SitePlan &plan = ctx->plans[site];
  OnDevice from(ctx, src, plan.srcBytes), element(ctx, fill, plan.elementBytes);
  if (src == dst)
    return from.back(
        shardrt_exchange(ctx, site, from.get(), from.get(), element.get()));
  OnDevice to(ctx, dst, plan.dstBytes);
  return to.back(
      shardrt_exchange(ctx, site, from.get(), to.get(), element.get()));
}

inline int allReduce(shardrt_context *ctx, int64_t site, const void *src,
                     void *dst, int64_t count) {
  int64_t bytes = count * ctx->plans[site].elementBytes;
  OnDevice from(ctx, src, bytes);
  if (src == dst)
    return from.back(
        shardrt_all_reduce(ctx, site, from.get(), from.get(), count));
  OnDevice to(ctx, dst, bytes);
  return to.back(shardrt_all_reduce(ctx, site, from.get(), to.get(), count));
}

inline int reduceScatter(shardrt_context *ctx, int64_t site, const void *src,
                         void *dst) {
  OnDevice from(ctx, src, ctx->plans[site].srcBytes);
  OnDevice to(ctx, dst, ctx->plans[site].dstBytes);
  return to.back(shardrt_reduce_scatter(ctx, site, from.get(), to.get()));
}

inline int64_t planRows(shardrt_context *ctx, int64_t site,
                        const void *indices) {
  OnDevice from(ctx, indices, ctx->plans[site].srcBytes);
  return shardrt_plan_rows(ctx, site, from.get());
}

/// `bytes`: of all rows that the plan has positions for.
inline int gatherRows(shardrt_context *ctx, int64_t site, int64_t plan,
                      const void *src, void *dst, int64_t bytes) {
  OnDevice from(ctx, src, ctx->plans[site].srcBytes), to(ctx, dst, bytes);
  return to.back(shardrt_gather_rows(ctx, site, plan, from.get(), to.get()));
}

inline int scatterRows(shardrt_context *ctx, int64_t site, int64_t plan,
                       const void *updates, void *dst, int64_t bytes) {
  OnDevice from(ctx, updates, bytes), to(ctx, dst, ctx->plans[site].srcBytes);
  return to.back(shardrt_scatter_rows(ctx, site, plan, from.get(), to.get()));
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_DEVICECALLS_H
