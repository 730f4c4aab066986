//===- HostCalls.cpp - Calls of the process that runs a program -----------===//
//
// What a program cannot compute itself it asks the process for: one rank calls,
// with arrays in host memory, and waits. Whatever is thrown there ends here.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Context.h"
#include "shardrt/ElementType.h"
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

using namespace shardrt;

namespace {
/// The call that `words` describe (shardrt_call_host), in host memory.
struct HostCall {
  std::vector<std::string> typeNames;
  std::vector<shardrt_host_buffer> buffers;
  std::vector<void *> deviceData; ///< of each buffer, where there is a device
  std::vector<std::unique_ptr<std::byte[]>> copies;
  shardrt_host_call call = {};
};
} // namespace

static void readCall(shardrt_context *ctx, const int64_t *words,
                     const char *location, HostCall &host) {
  int64_t numOperands = words[3], numResults = words[4];
  int64_t count = numOperands + numResults;
  host.call = {ctx->rank,   words[1], words[2] != 0, location ? location : "",
               numOperands, nullptr,  numResults,    nullptr,
               ctx->runUser};
  host.typeNames.resize(count);
  const int64_t *at = words + 5;
  for (int64_t i = 0; i < count; ++i) {
    auto type = static_cast<ElementType>(at[1]);
    host.typeNames[i] = elementTypeName(type);
    shardrt_host_buffer buffer = {reinterpret_cast<void *>(at[0]),
                                  host.typeNames[i].c_str(), at[2], at + 3,
                                  elementBytes(type)};
    for (int64_t dim = 0; dim < buffer.num_dims; ++dim)
      buffer.bytes *= buffer.dims[dim];
    at += 3 + buffer.num_dims;
    if (ctx->device) {
      host.deviceData.push_back(buffer.data);
      host.copies.push_back(
          std::make_unique<std::byte[]>(std::max<int64_t>(buffer.bytes, 1)));
      buffer.data = host.copies.back().get();
    }
    host.buffers.push_back(buffer);
  }
  host.call.operands = host.buffers.data();
  host.call.results = host.buffers.data() + numOperands;
}

/// Copies what is called with off the device, or what came back onto it.
static bool stage(shardrt_context *ctx, HostCall &host, bool operands) {
  if (!ctx->device)
    return true;
  int64_t begin = operands ? 0 : host.call.num_operands;
  int64_t end = operands ? host.call.num_operands
                         : static_cast<int64_t>(host.buffers.size());
  for (int64_t i = begin; i < end; ++i) {
    const shardrt_host_buffer &buffer = host.buffers[i];
    if (buffer.bytes == 0)
      continue;
    if (!(operands ? ctx->device->download(buffer.data, host.deviceData[i],
                                           buffer.bytes)
                   : ctx->device->upload(host.deviceData[i], buffer.data,
                                         buffer.bytes)))
      return false;
  }
  return true;
}

/// " at model.py:3", or nothing.
static std::string placeOf(const char *location) {
  return location && *location ? std::string(" at ") + location : std::string();
}

static int callHost(shardrt_context *ctx, const int64_t *words,
                    const char *location) {
  if (int known = ctx->comm->status())
    return known;
  if (words[0] == 0)
    return SHARDRT_OK;
  if (!ctx->host) {
    if (words[4] == 0)
      return SHARDRT_OK;
    return ctx->fail(SHARDRT_UNSUPPORTED,
                     "unsupported: the program calls Python" +
                         placeOf(location) +
                         ", which answers where the program is compiled and "
                         "run by shardc.compile in that Python process");
  }
  HostCall host;
  readCall(ctx, words, location, host);
  if (!stage(ctx, host, /*operands=*/true))
    return ctx->fail(ctx->device->status, ctx->device->error);
  char message[4096] = "";
  int status = ctx->host(ctx->hostUser, &host.call, message, sizeof(message));
  message[sizeof(message) - 1] = '\0';
  if (status != SHARDRT_OK)
    return ctx->fail(status, "call of the host" + placeOf(location) + ": " +
                                 (*message ? message : "failed"));
  if (!stage(ctx, host, /*operands=*/false))
    return ctx->fail(ctx->device->status, ctx->device->error);
  return SHARDRT_OK;
}

int shardrt_call_host(shardrt_context *ctx, const int64_t *words,
                      const char *location) {
  int status = SHARDRT_MEMORY;
  try {
    status = callHost(ctx, words, location);
  } catch (const std::exception &e) {
    try {
      status =
          ctx->fail(SHARDRT_LOST, std::string("call of the host: ") + e.what());
    } catch (...) {
    }
  } catch (...) {
    status = ctx->fail(SHARDRT_LOST, "call of the host: threw an exception");
  }
  // The caller is about to leave the buffers that others may be reading.
  if (status != SHARDRT_OK)
    ctx->comm->settle();
  return status;
}
