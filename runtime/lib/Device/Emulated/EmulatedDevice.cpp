//===- EmulatedDevice.cpp - Kernels on the host ---------------------------===//

#include "Device/Emulated/EmulatedDevice.h"
#include "Device/Cpu/Copy.h"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

using namespace shardrt;

static constexpr int64_t alignment = 256;
/// Room behind each buffer: what runs past one must not find another.
static constexpr int64_t apart = 1 << 16;
/// Few, so that small programs give blocks several tiles, and not all as many.
static constexpr int32_t multiprocessors = 3;

static void *toDevice(void *host) {
  auto bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(host));
  return reinterpret_cast<void *>(
      static_cast<uintptr_t>(bits ^ SHARDRT_EMULATED_TAG));
}
static char *toHost(const void *device) {
  return static_cast<char *>(toDevice(const_cast<void *>(device)));
}

EmulatedDevice::~EmulatedDevice() {
  for (auto [address, bytes] : allocations.ranges)
    std::free(reinterpret_cast<void *>(address));
}

void *EmulatedDevice::allocate(int64_t bytes) {
  int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded + apart);
  if (!memory) {
    fail(SHARDRT_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
    return nullptr;
  }
  // What was never written is no number.
  std::memset(memory, 0xff, rounded);
  allocations.add(reinterpret_cast<uintptr_t>(memory), bytes);
  return toDevice(memory);
}

void EmulatedDevice::release(void *memory) {
  if (memory && allocations.remove(reinterpret_cast<uintptr_t>(toHost(memory))))
    std::free(toHost(memory));
}

bool EmulatedDevice::contains(const void *device, int64_t bytes,
                              const char *what) {
  auto begin = reinterpret_cast<uintptr_t>(toHost(device));
  if (allocations.contains(begin, bytes) ||
      (home && home->containsForOthers(begin, bytes)))
    return true;
  return fail(SHARDRT_USAGE, std::string(what) + " " + std::to_string(bytes) +
                                 " bytes outside all device buffers");
}

bool EmulatedDevice::upload(void *device, const void *host, int64_t bytes) {
  if (!contains(device, bytes, "copies to"))
    return false;
  ++counts.uploads;
  if (bytes > 0)
    std::memcpy(toHost(device), host, bytes);
  return true;
}

bool EmulatedDevice::download(void *host, const void *device, int64_t bytes) {
  if (!contains(device, bytes, "copies from"))
    return false;
  ++counts.downloads;
  if (bytes > 0)
    std::memcpy(host, toHost(device), bytes);
  return true;
}

bool EmulatedDevice::reach(Device &other) {
  auto &peer = static_cast<EmulatedDevice &>(other);
  auto &peers = allocations.peers;
  const Allocations *held[] = {&peer.allocations, peer.home};
  for (const Allocations *theirs : held)
    if (theirs && theirs != &allocations &&
        std::find(peers.begin(), peers.end(), theirs) == peers.end())
      peers.push_back(theirs);
  return true;
}

bool EmulatedDevice::owns(const void *memory, int64_t bytes) {
  return bytes <= 0 || contains(memory, bytes, "communicates");
}

// Buffers were looked at by their owners.
bool EmulatedDevice::copy(const BoxCopy &box, const void *src, void *dst) {
  runCopy(box, reinterpret_cast<std::byte *>(toHost(src)),
          reinterpret_cast<std::byte *>(toHost(dst)));
  return true;
}

bool EmulatedDevice::fill(const BoxCopy &box, void *dst, const void *element,
                          int64_t elementBytes) {
  if (element && !contains(element, elementBytes, "fills from"))
    return false;
  runFill(box, reinterpret_cast<std::byte *>(toHost(dst)),
          element ? toHost(element) : nullptr, elementBytes);
  return true;
}

bool EmulatedDevice::launch(int64_t kernel, const int64_t (&grid)[3],
                            const int64_t *arguments, int64_t count) {
  if (!code.functions[kernel])
    return fail(SHARDRT_ARTIFACT,
                code.describe(kernel) + " is for GPUs that are not emulated");
  ++counts.launches;
  BlockRunner::Launch launch;
  launch.kernel = code.functions[kernel];
  launch.arguments = arguments;
  launch.threads = static_cast<int32_t>(code.kernels[kernel].threads);
  launch.sharedBytes = code.traits[2 * kernel];
  launch.hasBarriers = code.traits[2 * kernel + 1] & SHARDRT_EMULATED_BARRIERS;
  launch.ordered = code.traits[2 * kernel + 1] & SHARDRT_EMULATED_ORDERED;
  launch.checked = code.traits[2 * kernel + 1] & SHARDRT_EMULATED_CHECKED;
  launch.hasFlags = code.traits[2 * kernel + 1] & SHARDRT_EMULATED_FLAGS;
  launch.argumentBytes = count * 8;
  if (code.traits[2 * kernel + 1] & SHARDRT_EMULATED_PAIRS)
    launch.cluster = 2;
  for (int i = 0; i < 3; ++i) {
    // What a GPU takes.
    int64_t limit = i == 0 ? INT_MAX : 65535;
    if (grid[i] > limit)
      return fail(SHARDRT_USAGE, code.describe(kernel) + ": a grid of " +
                                     std::to_string(grid[i]) +
                                     " blocks, at most " +
                                     std::to_string(limit) + " are possible");
    launch.grid[i] = static_cast<int32_t>(grid[i]);
    if (i == 0 && (code.kernels[kernel].flags & DeviceCode::Persistent))
      launch.grid[i] = static_cast<int32_t>(
          blocksToRun(code.kernels[kernel], launch.grid[i], multiprocessors));
  }
  if (runner.run(launch, allocations))
    return true;
  return fail(SHARDRT_REFUSED, code.describe(kernel) + ": " + runner.error);
}
