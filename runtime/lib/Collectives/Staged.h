//===- Staged.h - Collectives on a device's buffers -------------*- C++ -*-===//
//
// The same collectives where buffers are a device's: they are copied to host
// memory, and back. Slow, but the same on every device and transport.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_STAGED_H
#define SHARDRT_COLLECTIVES_STAGED_H

#include "Collectives/Collectives.h"

namespace shardrt::staged {

int runExchange(shardrt_context &ctx, int64_t site, const void *src, void *dst,
                const void *fill);
int64_t startExchange(shardrt_context &ctx, int64_t site, const void *src);
int waitExchange(shardrt_context &ctx, int64_t token, void *dst,
                 const void *fill);
int runAllReduce(shardrt_context &ctx, int64_t site, const void *src, void *dst,
                 int64_t count);
int runReduceScatter(shardrt_context &ctx, int64_t site, const void *src,
                     void *dst);
int64_t planRows(shardrt_context &ctx, int64_t site, const void *indices);
int gatherRows(shardrt_context &ctx, int64_t site, int64_t handle,
               const void *src, void *dst);
int scatterRows(shardrt_context &ctx, int64_t site, int64_t handle,
                const void *updates, void *dst);

} // namespace shardrt::staged

#endif // SHARDRT_COLLECTIVES_STAGED_H
