//===- EntryPoints.cpp - What generated code calls ------------------------===//
//
// A thin C surface over Collectives. Whatever is thrown below ends here.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
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
    try {
      ctx->fail(SHARDRT_MEMORY, "out of memory in the runtime");
    } catch (...) {
    }
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
                         const char *what) {
  if (!memory)
    ctx->fail(SHARDRT_MEMORY, std::string("cannot get ") +
                                  std::to_string(bytes) + " bytes for " + what);
  return memory;
}

extern "C" {

int64_t shardrt_rank(shardrt_context *ctx) { return ctx->rank; }

int64_t shardrt_num_ranks(shardrt_context *ctx) { return ctx->numRanks; }

void *shardrt_arena(shardrt_context *ctx, int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx, ctx->memory.arena(bytes), bytes, "its arena");
  });
}

void *shardrt_alloc(shardrt_context *ctx, int64_t bytes) {
  return guarded(ctx, static_cast<void *>(nullptr), [&] {
    return checkMemory(ctx, ctx->memory.allocate(bytes), bytes, "a buffer");
  });
}

void shardrt_free(shardrt_context *ctx, void *buffer) {
  guarded(ctx, 0, [&] {
    ctx->memory.release(buffer);
    return 0;
  });
}

int shardrt_exchange(shardrt_context *ctx, int64_t site, const void *src,
                     void *dst, const void *fill) {
  return collective(ctx,
                    [&] { return runExchange(*ctx, site, src, dst, fill); });
}

int64_t shardrt_exchange_start(shardrt_context *ctx, int64_t site,
                               const void *src) {
  return guarded(ctx, int64_t(0),
                 [&] { return startExchange(*ctx, site, src); });
}

int shardrt_exchange_wait(shardrt_context *ctx, int64_t token, void *dst,
                          const void *fill) {
  return collective(ctx, [&] { return waitExchange(*ctx, token, dst, fill); });
}

int shardrt_all_reduce(shardrt_context *ctx, int64_t site, const void *src,
                       void *dst, int64_t count) {
  return collective(ctx,
                    [&] { return runAllReduce(*ctx, site, src, dst, count); });
}

int shardrt_reduce_scatter(shardrt_context *ctx, int64_t site, const void *src,
                           void *dst) {
  return collective(ctx,
                    [&] { return runReduceScatter(*ctx, site, src, dst); });
}

int64_t shardrt_plan_rows(shardrt_context *ctx, int64_t site,
                          const void *indices) {
  return guarded(ctx, int64_t(0),
                 [&] { return planRows(*ctx, site, indices); });
}

int shardrt_gather_rows(shardrt_context *ctx, int64_t site, int64_t plan,
                        const void *src, void *dst) {
  return collective(ctx,
                    [&] { return gatherRows(*ctx, site, plan, src, dst); });
}

int shardrt_scatter_rows(shardrt_context *ctx, int64_t site, int64_t plan,
                         const void *updates, void *dst) {
  return collective(
      ctx, [&] { return scatterRows(*ctx, site, plan, updates, dst); });
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
