//===- EntryPoints.cpp - What generated code calls ------------------------===//
//
// A thin C surface over Collectives. Whatever is thrown below ends here.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Device/Cpu/Lines.h"
#include "Device/Cpu/Matrices.h"
#include "shardrt/LineCall.h"
#include "shardrt/MatrixCall.h"
#include <exception>
#include <type_traits>

using namespace shardrt;

//===----------------------------------------------------------------------===//
// The list and the header agree
//===----------------------------------------------------------------------===//

namespace {
/// The kind of a C type in EntryPoints.def.
enum class Kind { Void, I32, I64, Ptr };

template <typename T> constexpr Kind kindOf() {
  if constexpr (std::is_void_v<T>)
    return Kind::Void;
  else if constexpr (std::is_pointer_v<T>)
    return Kind::Ptr;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Kind::I64;
  else
    return Kind::I32;
}

template <Kind... Kinds> struct Signature {
  template <typename Result, typename... Arguments>
  static constexpr bool matches(Result (*)(Arguments...)) {
    return std::is_same_v<Signature<Kinds...>,
                          Signature<kindOf<Result>(), kindOf<Arguments>()...>>;
  }
};

namespace check {
constexpr Kind Void = Kind::Void, I32 = Kind::I32, I64 = Kind::I64,
               Ptr = Kind::Ptr;
static_assert(sizeof(int) == 4);
#define SHARDRT_ENTRY_POINT(NAME, ...)                                         \
  static_assert(Signature<__VA_ARGS__>::matches(&NAME),                        \
                #NAME " differs between EntryPoints.def and shardrt.h");
#include "shardrt/EntryPoints.def"
// Not every kind need be in use.
[[maybe_unused]] constexpr Kind all[] = {Void, I32, I64, Ptr};
} // namespace check
} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Runs `body`; what it throws fails the step and yields `otherwise`.
template <typename Body, typename Result>
static Result guarded(shardrt_context *ctx, Result otherwise, Body body) {
  try {
    return body();
  } catch (...) {
    ctx->failForMemory();
    return otherwise;
  }
}

/// Runs a collective. Where it fails, others may still be reading this rank's
/// buffers, which its caller is about to leave.
template <typename Body>
static int collective(shardrt_context *ctx, Body body) {
  int status = guarded(ctx, int(SHARDRT_MEMORY), body);
  if (status != SHARDRT_OK)
    ctx->comm->settle();
  return status;
}

static void *checkMemory(shardrt_context *ctx, void *memory, int64_t bytes,
                         const char *what, const char *origin = "") {
  if (memory)
    return memory;
  std::string why =
      std::string("cannot get ") + std::to_string(bytes) + " bytes for " + what;
  if (*origin)
    why += std::string(" of ") + origin;
  if (ctx->device && ctx->device->status != SHARDRT_OK)
    ctx->fail(ctx->device->status,
              why + ": " + ctx->device->error + ctx->deviceMemory->holders());
  else
    ctx->fail(SHARDRT_MEMORY, why);
  // The caller is about to leave the buffers that others may be reading.
  ctx->comm->settle();
  return memory;
}

extern "C" {

int64_t shardrt_rank(shardrt_context *ctx) { return ctx->rank; }

int64_t shardrt_num_ranks(shardrt_context *ctx) { return ctx->numRanks; }

int64_t shardrt_number(shardrt_context *ctx, int64_t index) {
  return ctx->numbers[index];
}

void *shardrt_arena(shardrt_context *ctx, int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx,
                       ctx->deviceMemory ? ctx->deviceMemory->arena(bytes)
                                         : ctx->memory->arena(bytes),
                       bytes, "its arena");
  });
}

void *shardrt_alloc(shardrt_context *ctx, int64_t bytes, const char *origin) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx,
                       ctx->deviceMemory
                           ? ctx->deviceMemory->allocate(bytes, origin)
                           : ctx->memory->allocate(bytes),
                       bytes, "a buffer", origin);
  });
}

void shardrt_free(shardrt_context *ctx, void *buffer) {
  guarded(ctx, 0, [&] {
    if (ctx->deviceMemory)
      ctx->deviceMemory->release(buffer);
    else
      ctx->memory->release(buffer);
    return 0;
  });
}

int shardrt_exchange(shardrt_context *ctx, int64_t site, const void *src,
                     void *dst, const void *fill) {
  return collective(ctx, [&] {
    return ctx->collectives->exchange(*ctx, site, src, dst, fill);
  });
}

void *shardrt_exchange_place(shardrt_context *ctx, int64_t site,
                             const void *src, void *dst) {
  const auto &plans = ctx->plans;
  bool stays = site >= 0 && site < static_cast<int64_t>(plans.size()) &&
               plans[site].mayStay;
  return stays ? const_cast<void *>(src) : dst;
}

int64_t shardrt_exchange_start(shardrt_context *ctx, int64_t site,
                               const void *src) {
  return guarded(ctx, int64_t(0), [&] {
    return ctx->collectives->startExchange(*ctx, site, src);
  });
}

int shardrt_exchange_wait(shardrt_context *ctx, int64_t token, void *dst,
                          const void *fill) {
  return collective(ctx, [&] {
    return ctx->collectives->waitExchange(*ctx, token, dst, fill);
  });
}

int shardrt_exchange_release(shardrt_context *ctx, int64_t site) {
  return collective(ctx, [&] { return releaseExchange(*ctx, site); });
}

int shardrt_all_reduce(shardrt_context *ctx, int64_t site, const void *src,
                       void *dst, int64_t count) {
  return collective(ctx, [&] {
    return ctx->collectives->allReduce(*ctx, site, src, dst, count);
  });
}

int shardrt_reduce_scatter(shardrt_context *ctx, int64_t site, const void *src,
                           void *dst) {
  return collective(ctx, [&] {
    return ctx->collectives->reduceScatter(*ctx, site, src, dst);
  });
}

int64_t shardrt_plan_rows(shardrt_context *ctx, int64_t site,
                          const void *indices) {
  return guarded(ctx, int64_t(0), [&] {
    return ctx->collectives->planRows(*ctx, site, indices);
  });
}

int shardrt_gather_rows(shardrt_context *ctx, int64_t site, int64_t plan,
                        const void *src, void *dst) {
  return collective(ctx, [&] {
    return ctx->collectives->gatherRows(*ctx, site, plan, src, dst);
  });
}

int shardrt_scatter_rows(shardrt_context *ctx, int64_t site, int64_t plan,
                         const void *updates, void *dst) {
  return collective(ctx, [&] {
    return ctx->collectives->scatterRows(*ctx, site, plan, updates, dst);
  });
}

void *shardrt_stage_input(shardrt_context *ctx, const void *host,
                          int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx, ctx->deviceMemory->stageInput(host, bytes), bytes,
                       "an argument");
  });
}

void *shardrt_stage_output(shardrt_context *ctx, void *host, int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx, ctx->deviceMemory->stageOutput(host, bytes), bytes,
                       "a result");
  });
}

/// Fails the step for the reason that the device gives.
static int failOfDevice(shardrt_context *ctx) {
  return ctx->fail(ctx->device->status, ctx->device->error);
}

int shardrt_stage_results(shardrt_context *ctx, int status) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&] {
    if (status != SHARDRT_OK)
      return status;
    if (int known = ctx->comm->status())
      return known;
    return ctx->deviceMemory->downloadResults() ? int(SHARDRT_OK)
                                                : failOfDevice(ctx);
  });
}

void *shardrt_constant(shardrt_context *ctx, const void *host, int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx, ctx->deviceMemory->constant(host, bytes), bytes,
                       "a constant");
  });
}

int shardrt_launch(shardrt_context *ctx, int64_t kernel, int64_t gridX,
                   int64_t gridY, int64_t gridZ, const void *arguments,
                   int64_t count) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    // Memory that could not be had is noticed here.
    if (int status = ctx->comm->status())
      return status;
    const DeviceCode &code = *ctx->program->device;
    // The upper half: each 1 + a kernel that does the same where the device has
    // it.
    auto known = static_cast<int64_t>(code.kernels.size());
    for (int shift : {32, 48}) {
      int64_t better = (kernel >> shift & 0xffff) - 1;
      if (better >= 0 && better < known && ctx->device->has(better))
        return SHARDRT_OK;
    }
    kernel &= 0xffffffff;
    if (kernel < known &&
        (code.kernels[kernel].flags & DeviceCode::OfSomeGpus) &&
        !ctx->device->has(kernel))
      return SHARDRT_OK;
    if (kernel >= known)
      return ctx->fail(SHARDRT_USAGE, "launches kernel " +
                                          std::to_string(kernel) +
                                          ", but the program has " +
                                          std::to_string(code.kernels.size()));
    if (gridX <= 0 || gridY <= 0 || gridZ <= 0)
      return SHARDRT_OK;
    int64_t began = ctx->trace ? nowNs() : 0;
    if (!ctx->device->launch(kernel, {gridX, gridY, gridZ},
                             static_cast<const int64_t *>(arguments), count))
      return failOfDevice(ctx);
    if (ctx->trace)
      ctx->trace->addKernel(kernel, began, nowNs());
    return SHARDRT_OK;
  });
}

int shardrt_read(shardrt_context *ctx, const void *device, void *host,
                 int64_t bytes) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    if (int status = ctx->comm->status())
      return status;
    if (ctx->device->download(host, device, bytes))
      return SHARDRT_OK;
    return failOfDevice(ctx);
  });
}

int shardrt_call_library(shardrt_context *ctx, int64_t *words,
                         const char *location) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    if (int status = ctx->comm->status())
      return status;
    if (!ctx->libraries)
      ctx->libraries = std::make_unique<libraries::LibraryCalls>(*ctx->device);
    std::string error;
    auto held = ctx->device->hold();
    int status = ctx->libraries->run(words, location, error);
    return status == SHARDRT_OK ? status : ctx->fail(status, error);
  });
}

int shardrt_sort_lines(shardrt_context *ctx, const int64_t *words) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    int64_t needed = 0;
    if (sortLines(words, *ctx->pool, *ctx->memory, needed))
      return SHARDRT_OK;
    checkMemory(ctx, nullptr, needed, "a sort");
    return SHARDRT_MEMORY;
  });
}

int shardrt_transform_dims(shardrt_context *ctx, const int64_t *words) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    int64_t needed = 0;
    if (transformDims(words, *ctx->pool, *ctx->memory, needed))
      return SHARDRT_OK;
    checkMemory(ctx, nullptr, needed, "a transform");
    return SHARDRT_MEMORY;
  });
}

int shardrt_eigh(shardrt_context *ctx, const int64_t *words) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    int64_t needed = 0;
    if (eigh(words, *ctx->pool, *ctx->memory, needed))
      return SHARDRT_OK;
    checkMemory(ctx, nullptr, needed, "an eigenvalue decomposition");
    return SHARDRT_MEMORY;
  });
}

int shardrt_svd(shardrt_context *ctx, const int64_t *words) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    int64_t needed = 0;
    if (svd(words, *ctx->pool, *ctx->memory, needed))
      return SHARDRT_OK;
    checkMemory(ctx, nullptr, needed, "a singular value decomposition");
    return SHARDRT_MEMORY;
  });
}

int shardrt_householder(shardrt_context *ctx, const int64_t *words) {
  return guarded(ctx, int(SHARDRT_MEMORY), [&]() -> int {
    int64_t needed = 0;
    if (householder(words, *ctx->pool, *ctx->memory, needed))
      return SHARDRT_OK;
    checkMemory(ctx, nullptr, needed, "reflectors of a matrix");
    return SHARDRT_MEMORY;
  });
}

void shardrt_share(shardrt_context *ctx, shardrt_part_fn part, const void *env,
                   int64_t parts) {
  ctx->pool->run(part, env, parts);
}

void shardrt_mark(shardrt_context *ctx, int64_t kernel) {
  if (ctx->trace)
    guarded(ctx, 0, [&] {
      ctx->trace->mark(kernel);
      return 0;
    });
}

void shardrt_mark_end(shardrt_context *ctx, int64_t bytes, int64_t operations) {
  if (ctx->trace)
    guarded(ctx, 0, [&] {
      ctx->trace->endKernel(bytes, operations);
      return 0;
    });
}

int shardrt_fail(shardrt_context *ctx, int code, const char *message) {
  if (code == 0)
    code = SHARDRT_REFUSED;
  guarded(ctx, 0, [&] {
    ctx->fail(code, message ? message
                            : "gave up with status " + std::to_string(code));
    return 0;
  });
  ctx->comm->settle();
  return code;
}

} // extern "C"
