//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//

#include "Device/Cuda/CudaDevice.h"
#include "Device/Cpu/Copy.h"
#include "Device/Cuda/OpenCuda.h"
#include "Device/TensorMap.h"
#include "Host/Clock.h"
#include "shardrt/Devices.h"
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

using namespace shardrt;
using namespace shardrt::cuda;

bool CudaDevice::check(Result result, const std::string &what) {
  if (result == success)
    return true;
  return fail(result == outOfMemory ? SHARDRT_MEMORY : SHARDRT_REFUSED,
              "CUDA device '" + name + "': " + what +
                  " failed: " + driver.nameOf(result) + lastKernel());
}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  driver.ctxSetCurrent(context);
  forgetRecording();
  for (EventHandle event : marks)
    if (event)
      driver.eventDestroy(event);
  for (StreamHandle stream : {beside, work})
    if (stream) {
      driver.streamSynchronize(stream);
      driver.streamDestroy(stream);
    }
  {
    std::lock_guard lock(code.loading);
    kernels.reset();
  }
  driver.primaryCtxRelease(device);
}

bool CudaDevice::open(int ordinal) {
  name = std::to_string(ordinal);
  if (!check(driver.deviceGet(&device, ordinal), "opening"))
    return false;
  char text[128] = "";
  if (driver.deviceGetName(text, sizeof(text), device) == success && *text)
    name = text;
  int major = 0, minor = 0;
  if (!check(driver.deviceGetAttribute(&major, capabilityMajor, device),
             "asking for its capability") ||
      !check(driver.deviceGetAttribute(&minor, capabilityMinor, device),
             "asking for its capability"))
    return false;
  if (!check(driver.deviceGetAttribute(&multiprocessors, multiprocessorCount,
                                       device),
             "asking for its multiprocessors"))
    return false;
  number = 10 * major + minor;
  if (number < 80)
    return fail(SHARDRT_UNSUPPORTED, "CUDA device '" + name + "' is sm_" +
                                         std::to_string(number) +
                                         "; kernels are for sm_80 and later");
  if (!check(driver.primaryCtxRetain(&context, device), "making its context") ||
      !enter() ||
      !check(driver.streamCreate(&work, streamNonBlocking),
             "making a stream") ||
      !check(driver.streamCreate(&beside, streamNonBlocking),
             "making a stream"))
    return false;
  for (EventHandle &event : marks)
    if (!check(driver.eventCreate(&event, eventDisableTiming),
               "making an event"))
      return false;
  // Memory that programs share needs none.
  return !code.image || load();
}

void *CudaDevice::allocate(int64_t bytes) {
  DevicePtr memory = 0;
  if (!enter())
    return nullptr;
  Result result = driver.memAlloc(&memory, static_cast<size_t>(bytes));
  if (result == success)
    return reinterpret_cast<void *>(static_cast<uintptr_t>(memory));
  size_t free = 0, total = 0;
  std::string of = "getting " + std::to_string(bytes) + " bytes";
  if (driver.memGetInfo(&free, &total) == success)
    of += ", where " + std::to_string(free) + " of " + std::to_string(total) +
          " are free,";
  check(result, of);
  return nullptr;
}

void CudaDevice::release(void *memory) {
  if (memory && recording) {
    released.push_back(memory);
    return;
  }
  if (!memory || !enter() || !flush())
    return;
  // Work under way may still use it.
  driver.streamSynchronize(work);
  driver.streamSynchronize(beside);
  driver.memFree(toDevice(memory));
}

bool CudaDevice::upload(void *to, const void *host, int64_t bytes) {
  ++looks;
  ++counts.uploads;
  // The host's memory may go away when this returns, also where this gives up.
  // So what may wait for a rank that never comes ends first; the copy waits for
  // nobody.
  return finish() &&
         check(driver.memcpyHtoDAsync(toDevice(to), host,
                                      static_cast<size_t>(bytes), work),
               "copying to it") &&
         check(driver.streamSynchronize(work), "waiting for its work");
}

bool CudaDevice::download(void *host, const void *from, int64_t bytes) {
  ++looks;
  ++counts.downloads;
  return finish() &&
         check(driver.memcpyDtoHAsync(host, toDevice(from),
                                      static_cast<size_t>(bytes), work),
               "copying from it") &&
         check(driver.streamSynchronize(work), "waiting for its work");
}

bool CudaDevice::finish() {
  if (!enter() || !flush())
    return false;
  if (!watch)
    return check(driver.streamSynchronize(work), "waiting for its work");
  int64_t start = nowNs();
  while (true) {
    Result result = driver.streamQuery(work);
    if (result != notReady)
      return check(result, "waiting for its work");
    if (!watch(nowNs() - start))
      return fail(SHARDRT_LOST,
                  "gave up waiting for the work of CUDA device '" + name + "'");
    std::this_thread::yield();
  }
}

//===----------------------------------------------------------------------===//
// From device to device
//===----------------------------------------------------------------------===//

std::string CudaDevice::identity() const {
  unsigned char bytes[16];
  if (!driver.deviceGetUuid || driver.deviceGetUuid(bytes, device) != success)
    return {};
  std::string text;
  for (unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}

bool CudaDevice::reach(Device &peer) {
  auto &other = static_cast<CudaDevice &>(peer);
  if (other.context == context)
    return true;
  int can = 0;
  if (!enter() || !check(driver.deviceCanAccessPeer(&can, device, other.device),
                         "asking whether it reaches '" + other.name + "'"))
    return false;
  if (!can)
    return fail(SHARDRT_UNSUPPORTED, "CUDA device '" + name +
                                         "' cannot read memory of '" +
                                         other.name + "'");
  Result result = driver.ctxEnablePeerAccess(other.context, 0);
  return result == peerAccessAlreadyEnabled ||
         check(result, "reaching '" + other.name + "'");
}

bool CudaDevice::mark(int number) {
  auto held = hold();
  setIn[number] = recording ? recording->number : 0;
  return enter() &&
         check(driver.eventRecord(marks[number], work), "marking its work");
}

bool CudaDevice::aside(int after) {
  auto held = hold();
  if (!enter() || !check(driver.streamWaitEvent(beside, marks[after], 0),
                         "beginning beside its work"))
    return false;
  std::swap(work, beside);
  return isAside = true;
}

bool CudaDevice::back(int done) {
  if (!isAside)
    return true;
  bool marked = mark(done);
  std::swap(work, beside);
  isAside = false;
  return marked;
}

bool CudaDevice::waitFor(Device &peer, int number) {
  auto held = hold();
  if (static_cast<CudaDevice &>(peer).setIn[number] !=
      (recording ? recording->number : 0))
    return true;
  return enter() &&
         check(driver.streamWaitEvent(
                   work, static_cast<CudaDevice &>(peer).marks[number], 0),
               "waiting for another device");
}

/// Calls `body(srcOffset, dstOffset)` for each place of the dims but the last.
template <typename Body> static void forEachPlane(BoxCopy box, Body body) {
  if (!box.dims.empty())
    box.dims.pop_back();
  forEachRun(box, body);
}

bool CudaDevice::copy(const BoxCopy &box, const void *src, void *dst) {
  if (box.bytes() == 0)
    return true;
  auto held = hold();
  if (!enter())
    return false;
  bool done = true;
  forEachPlane(box, [&](int64_t from, int64_t to) {
    if (!done)
      return;
    DevicePtr srcAt = toDevice(src) + from, dstAt = toDevice(dst) + to;
    if (box.dims.empty() || box.dims.back().count == 1) {
      done = check(driver.memcpyAsync(dstAt, srcAt, box.run, work),
                   "copying between devices");
      return;
    }
    const BoxCopy::Dim &rows = box.dims.back();
    Copy2D copy;
    copy.srcType = copy.dstType = memoryTypeUnified;
    copy.srcDevice = srcAt;
    copy.srcPitch = rows.srcStride;
    copy.dstDevice = dstAt;
    copy.dstPitch = rows.dstStride;
    copy.widthBytes = box.run;
    copy.height = rows.count;
    done = check(driver.memcpy2DAsync(&copy, work), "copying between devices");
  });
  return done;
}

bool CudaDevice::fill(const BoxCopy &box, void *dst, const void *element,
                      int64_t elementBytes) {
  if (box.bytes() == 0)
    return true;
  auto held = hold();
  if (!enter())
    return false;
  DevicePtr base = toDevice(dst);
  if (!element) {
    bool done = true;
    forEachPlane(box, [&](int64_t, int64_t to) {
      if (!done)
        return;
      done = check(
          box.dims.empty() || box.dims.back().count == 1
              ? driver.memsetD8Async(base + to, 0, box.run, work)
              : driver.memsetD2D8Async(base + to, box.dims.back().dstStride, 0,
                                       box.run, box.dims.back().count, work),
          "filling memory");
    });
    return done;
  }
  // What is filled already is copied behind itself, twice as much each time:
  // the element is never read by the host.
  auto *first = static_cast<std::byte *>(dst) + box.dstOffset;
  BoxCopy part;
  part.run = elementBytes;
  if (!copy(part, element, first))
    return false;
  for (int64_t filled = elementBytes; filled < box.run; filled += part.run) {
    part.run = std::min(filled, box.run - filled);
    if (!copy(part, first, first + filled))
      return false;
  }
  part.run = box.run;
  for (size_t d = box.dims.size(); d-- > 0;) {
    int64_t stride = box.dims[d].dstStride;
    part.dims.insert(part.dims.begin(), {1, stride, stride});
    for (int64_t filled = 1; filled < box.dims[d].count;
         filled += part.dims[0].count) {
      part.dims[0].count = std::min(filled, box.dims[d].count - filled);
      if (!copy(part, first, first + filled * stride))
        return false;
    }
    part.dims[0].count = box.dims[d].count;
  }
  return true;
}

bool CudaDevice::find(int64_t kernel, FunctionHandle &function) {
  const DeviceCode::Kernel &info = code.kernels[kernel];
  if (!functions[kernel] && !absent[kernel]) {
    Result result =
        driver.moduleGetFunction(&functions[kernel], module, info.name);
    absent[kernel] = result == notFound;
    if (!absent[kernel] && !check(result, "finding " + code.describe(kernel)))
      return false;
    if (!absent[kernel] && info.sharedBytes > 0 &&
        !check(driver.funcSetAttribute(functions[kernel], maxDynamicSharedBytes,
                                       static_cast<int>(info.sharedBytes)),
               "giving " + std::to_string(info.sharedBytes) +
                   " bytes of shared memory to " + code.describe(kernel)))
      return false;
  }
  function = absent[kernel] ? nullptr : functions[kernel];
  return true;
}

bool CudaDevice::has(int64_t kernel) {
  // One that needs what the driver cannot do is as good as absent.
  if (code.kernels[kernel].maps > 0 &&
      (!driver.tensorMapEncodeTiled || !driver.tensorMapEncodeIm2col))
    return false;
  FunctionHandle function = nullptr;
  return enter() && find(kernel, function) && function;
}

bool CudaDevice::encodeMaps(int64_t kernel, std::vector<int64_t> &arguments) {
  for (int64_t i = 0; i < code.kernels[kernel].maps; ++i) {
    int64_t *words = arguments.data() + i * SHARDRT_MAP_WORDS;
    TensorMap map(words);
    if (std::string problem = map.check(); !problem.empty())
      return fail(SHARDRT_USAGE, code.describe(kernel) + ": tensor map " +
                                     std::to_string(i) + ": " + problem);
    uint64_t sizes[SHARDRT_MAP_DIMS], strides[SHARDRT_MAP_DIMS];
    unsigned box[SHARDRT_MAP_DIMS], steps[SHARDRT_MAP_DIMS];
    int low[SHARDRT_MAP_DIMS - 2], high[SHARDRT_MAP_DIMS - 2];
    for (int32_t d = 0; d < map.dims; ++d) {
      sizes[d] = static_cast<uint64_t>(map.sizes[d]);
      strides[d] = static_cast<uint64_t>(map.strides[d]);
      box[d] = static_cast<unsigned>(map.box[d]);
      steps[d] = 1;
    }
    for (int32_t i = 0; map.isOfWindows && i < map.spatialDims(); ++i) {
      low[i] = static_cast<int>(map.low[i]);
      high[i] = static_cast<int>(map.high[i]);
      steps[i + 1] = static_cast<unsigned>(map.steps[i]);
    }
    alignas(64) int64_t made[SHARDRT_MAP_WORDS] = {};
    auto dims = static_cast<unsigned>(map.dims);
    auto *address =
        reinterpret_cast<void *>(static_cast<uintptr_t>(map.address));
    constexpr int interleave = 0, outside = 0;
    // Corners are from the fastest dim on, as all else.
    Result result =
        map.isOfWindows
            ? driver.tensorMapEncodeIm2col(
                  made, map.element, dims, address, sizes, strides + 1, low,
                  high, static_cast<unsigned>(map.channels),
                  static_cast<unsigned>(map.pixels), steps, interleave,
                  swizzle128, promote256, outside)
            : driver.tensorMapEncodeTiled(
                  made, map.element, dims, address, sizes, strides + 1, box,
                  steps, interleave, swizzle128, promote256, outside);
    if (!check(result, "describing a tensor to " + code.describe(kernel)))
      return false;
    std::memcpy(words, made, sizeof(made));
  }
  return true;
}

bool CudaDevice::launch(int64_t kernel, const int64_t (&grid)[3],
                        const int64_t *arguments, int64_t count) {
  auto held = hold();
  if (!enter())
    return false;
  for (int i = 0; i < 3; ++i)
    if (int64_t limit = i == 0 ? INT_MAX : 65535; grid[i] > limit)
      return fail(SHARDRT_USAGE, code.describe(kernel) + ": a grid of " +
                                     std::to_string(grid[i]) +
                                     " blocks, at most " +
                                     std::to_string(limit) + " are possible");
  const DeviceCode::Kernel &info = code.kernels[kernel];
  FunctionHandle function = nullptr;
  if (!find(kernel, function))
    return false;
  if (!function)
    return check(notFound, "finding " + code.describe(kernel));
  // All arguments take 8 bytes, or 16 times as much, so that they are one
  // struct.
  size_t bytes = static_cast<size_t>(count) * sizeof(int64_t);
  std::vector<int64_t> encoded;
  if (info.maps > 0) {
    encoded.assign(arguments, arguments + count);
    if (!encodeMaps(kernel, encoded))
      return false;
    arguments = encoded.data();
  }
  auto blocks = static_cast<unsigned>(grid[0]);
  if (info.flags & DeviceCode::Persistent)
    blocks = static_cast<unsigned>(blocksToRun(info, grid[0], multiprocessors));
  void *extra[] = {paramPointer, const_cast<int64_t *>(arguments), paramSize,
                   &bytes, paramEnd};
  last = kernel;
  ++counts.launches;
  return check(
      driver.launchKernel(
          function, blocks, static_cast<unsigned>(grid[1]),
          static_cast<unsigned>(grid[2]), static_cast<unsigned>(info.threads),
          1, 1, static_cast<unsigned>(info.sharedBytes), work, nullptr, extra),
      "launching " + code.describe(kernel));
}

std::unique_ptr<Device> shardrt::openCudaDevice(const DeviceCode &code,
                                                int64_t rank, int64_t,
                                                int &status,
                                                std::string &error) {
  const Driver *driver = openDriver(error);
  if (!driver) {
    status = SHARDRT_UNSUPPORTED;
    return nullptr;
  }
  int count = 0;
  if (Result result = driver->deviceGetCount(&count);
      result != success || count < 1) {
    status = SHARDRT_UNSUPPORTED;
    error = "no CUDA device: the driver finds none";
    return nullptr;
  }
  auto device = std::make_unique<CudaDevice>(*driver, code);
  if (device->open(static_cast<int>(rank % count)))
    return device;
  status = device->status;
  error = "rank " + std::to_string(rank) + ": " + device->error;
  return nullptr;
}

int shardrt_cuda_devices(int64_t *count, int64_t *bytes) {
  *count = *bytes = 0;
  std::string error;
  const Driver *driver = openDriver(error);
  int found = 0;
  if (!driver || driver->deviceGetCount(&found) != success || found < 1)
    return SHARDRT_UNSUPPORTED;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int number = 0; number < found; ++number) {
    DeviceId device = 0;
    size_t total = 0;
    if (driver->deviceGet(&device, number) != success ||
        driver->deviceTotalMem(&total, device) != success)
      return SHARDRT_UNSUPPORTED;
    least = std::min(least, static_cast<int64_t>(total));
  }
  *count = found;
  *bytes = least;
  return SHARDRT_OK;
}
