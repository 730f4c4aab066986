//===- Collectives.h - Each algorithm once, over any transport --*- C++ -*-===//
//
// The functions behind the entry points of shardrt.h, with their contracts, for
// buffers of the host, and tables of the same for buffers of a device. They
// return 0 or the status that the step has failed with. They may throw
// std::bad_alloc, when a message is composed.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COLLECTIVES_COLLECTIVES_H
#define SHARDRT_COLLECTIVES_COLLECTIVES_H

#include "Collectives/Context.h"

namespace shardrt {

int runExchange(shardrt_context &ctx, int64_t site, const void *src, void *dst,
                const void *fill);
int64_t startExchange(shardrt_context &ctx, int64_t site, const void *src);
int waitExchange(shardrt_context &ctx, int64_t token, void *dst,
                 const void *fill);
/// Waits until nobody reads the source of `site` any more, where an exchange of
/// it was left so. The same on every transport.
int releaseExchange(shardrt_context &ctx, int64_t site);
int runAllReduce(shardrt_context &ctx, int64_t site, const void *src, void *dst,
                 int64_t count);
int runReduceScatter(shardrt_context &ctx, int64_t site, const void *src,
                     void *dst);
int64_t planRows(shardrt_context &ctx, int64_t site, const void *indices);
int gatherRows(shardrt_context &ctx, int64_t site, int64_t handle,
               const void *src, void *dst);
int scatterRows(shardrt_context &ctx, int64_t site, int64_t handle,
                const void *updates, void *dst);

/// One way to carry them all out: what a rank's entry points call. Picked when
/// its world is made.
struct Collectives {
  decltype(&runExchange) exchange;
  decltype(&shardrt::startExchange) startExchange;
  decltype(&shardrt::waitExchange) waitExchange;
  decltype(&runAllReduce) allReduce;
  decltype(&runReduceScatter) reduceScatter;
  decltype(&shardrt::planRows) planRows;
  decltype(&shardrt::gatherRows) gatherRows;
  decltype(&shardrt::scatterRows) scatterRows;
};

/// The functions above: buffers are the host's.
extern const Collectives hostCollectives;
/// Buffers are a device's: they are copied to host memory, and back. Slow, but
/// the same on every device and transport.
extern const Collectives stagedCollectives;
/// From device to device, ordered by marks; the host waits for no work but that
/// of reductions, which it combines, and of rows, which are staged. Ranks of
/// one process whose devices reach one another.
const Collectives &directCollectives();
/// Over NCCL, on ctx.nccl. The order in which NCCL adds is its own.
const Collectives &ncclCollectives();

/// Fails the step for the reason that the rank's device gives, at `site`.
/// Returns false.
bool failOfDevice(shardrt_context &ctx, int64_t site);

/// The plan of `site`, or NULL after failing the step: there is no such site,
/// or it is of another kind than `kind`.
const SitePlan *findPlan(shardrt_context &ctx, int64_t site, SiteKind kind);
/// Whether the buffers can be used: not NULL where they hold something, and
/// apart (or, if `inPlace`, the same). Else fails the step.
bool checkBuffers(shardrt_context &ctx, int64_t site, const void *src,
                  int64_t srcBytes, const void *dst, int64_t dstBytes,
                  bool inPlace);

/// The same for buffers of the rank's device, which must be its own.
bool checkDeviceBuffers(shardrt_context &ctx, int64_t site, const void *src,
                        int64_t srcBytes, const void *dst, int64_t dstBytes,
                        bool inPlace);
/// Whether an exchange in place has one buffer; else fails the step.
bool checkPlace(shardrt_context &ctx, int64_t site, const SitePlan &plan,
                const void *src, const void *dst);
/// The token of an entry of ctx.pending for an exchange of `site` that begins,
/// or 0 after failing the step: too many are under way.
int64_t findPending(shardrt_context &ctx, int64_t site);
/// Takes the exchange `token` out of ctx.pending; false if the step has failed,
/// or after failing it: there is no such exchange.
bool takePending(shardrt_context &ctx, int64_t token,
                 shardrt_context::Pending &pending);

/// Counts one execution of a site from its making to finish().
class SiteTimer {
public:
  SiteTimer(shardrt_context &ctx, int64_t site);
  ~SiteTimer();
  /// What is counted when the execution ends.
  int64_t executions = 1;
  shardrt_trace_kind kind = SHARDRT_TRACE_SITE; ///< of its event
  int64_t bytesReceived = 0;
  int64_t overlapNs = 0;
  /// The exchange that this call begins, or the one that it completes.
  shardrt_context::Pending *begins = nullptr;
  const shardrt_context::Pending *completes = nullptr;

private:
  shardrt_context &ctx;
  int64_t site;
  int64_t startNs;
  int64_t waitedBefore;
};

} // namespace shardrt

#endif // SHARDRT_COLLECTIVES_COLLECTIVES_H
