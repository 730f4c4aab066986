//===- Memories.cpp - Device memory that programs share -------------------===//

#include "Device/Cpu/Copy.h"
#include "Device/Cuda/OpenCuda.h"
#include "Device/Emulated/EmulatedDevice.h"
#include "Host/WriteError.h"

using namespace shardrt;

/// Calls `body` with the device, alone; what failed goes to `error`.
template <typename Body>
static int withDevice(shardrt_memory *memory, char *error, size_t errorSize,
                      Body body) {
  if (!memory) {
    writeError(error, errorSize, "no memory of a device");
    return SHARDRT_USAGE;
  }
  try {
    std::lock_guard lock(memory->mutex);
    Device &device = *memory->device;
    device.status = SHARDRT_OK;
    if (body(device))
      return SHARDRT_OK;
    writeError(error, errorSize, device.error);
    return device.status == SHARDRT_OK ? int(SHARDRT_MEMORY) : device.status;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

extern "C" {

int shardrt_memory_open(int emulated, int64_t device, shardrt_memory **memory,
                        char *error, size_t errorSize) {
  if (!memory || device < 0) {
    writeError(error, errorSize, "a NULL argument, or a device below 0");
    return SHARDRT_USAGE;
  }
  try {
    auto made = std::make_unique<shardrt_memory>();
    int status = SHARDRT_OK;
    std::string why;
    if (emulated)
      made->device = std::make_unique<EmulatedDevice>(made->code);
    else
      made->device = openCudaDevice(made->code, device, 1, status, why);
    if (!made->device) {
      writeError(error, errorSize, why);
      return status;
    }
    int64_t count = 0, bytes = 0;
    if (!emulated && shardrt_cuda_devices(&count, &bytes) == SHARDRT_OK)
      made->number = device % count;
    *memory = made.release();
    return SHARDRT_OK;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

void shardrt_memory_close(shardrt_memory *memory) { delete memory; }

int64_t shardrt_memory_device(const shardrt_memory *memory) {
  return memory ? memory->number : -1;
}

void *shardrt_memory_allocate(shardrt_memory *memory, int64_t bytes,
                              char *error, size_t errorSize) {
  void *data = nullptr;
  withDevice(memory, error, errorSize, [&](Device &device) {
    return (data = device.allocate(bytes > 0 ? bytes : 1)) != nullptr;
  });
  return data;
}

void shardrt_memory_free(shardrt_memory *memory, void *data) {
  withDevice(memory, nullptr, 0, [&](Device &device) {
    device.release(data);
    return true;
  });
}

int shardrt_memory_write(shardrt_memory *memory, void *to, const void *host,
                         int64_t bytes, char *error, size_t errorSize) {
  return withDevice(memory, error, errorSize, [&](Device &device) {
    return bytes <= 0 || device.upload(to, host, bytes);
  });
}

int shardrt_memory_read(shardrt_memory *memory, void *host, const void *from,
                        int64_t bytes, char *error, size_t errorSize) {
  return withDevice(memory, error, errorSize, [&](Device &device) {
    return bytes <= 0 || device.download(host, from, bytes);
  });
}

int shardrt_memory_copy(shardrt_memory *memory, void *to,
                        shardrt_memory *source, const void *from, int64_t bytes,
                        char *error, size_t errorSize) {
  if (!source) {
    writeError(error, errorSize, "no memory of a device");
    return SHARDRT_USAGE;
  }
  bool isDone = bytes <= 0;
  int status = withDevice(memory, error, errorSize, [&](Device &device) {
    if (isDone || (source != memory && !device.reach(*source->device)))
      return true;
    BoxCopy box;
    box.run = bytes;
    return isDone = device.copy(box, from, to) && device.finish();
  });
  if (status != SHARDRT_OK || isDone)
    return status;
  // Of a device that this one does not reach.
  std::unique_ptr<std::byte[]> staged(new (std::nothrow) std::byte[bytes]);
  if (!staged) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
  status =
      shardrt_memory_read(source, staged.get(), from, bytes, error, errorSize);
  return status == SHARDRT_OK ? shardrt_memory_write(memory, to, staged.get(),
                                                     bytes, error, errorSize)
                              : status;
}

int shardrt_memory_counts(shardrt_memory *memory,
                          shardrt_device_counts *counts) {
  if (!counts)
    return SHARDRT_USAGE;
  return withDevice(memory, nullptr, 0, [&](Device &device) {
    *counts = device.counts;
    return true;
  });
}

} // extern "C"
