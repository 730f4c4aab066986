//===- EmulatedDevice.h - Kernels on the host -------------------*- C++ -*-===//
//
// A device whose kernels are host functions (shardrt/Emulated.h). Its memory is
// the host's, at addresses that carry a tag.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_EMULATED_EMULATEDDEVICE_H
#define SHARDRT_DEVICE_EMULATED_EMULATEDDEVICE_H

#include "Device/Device.h"
#include "Device/Emulated/Block.h"

namespace shardrt {

class EmulatedDevice final : public Device {
public:
  explicit EmulatedDevice(const DeviceCode &code) : code(code) {}
  ~EmulatedDevice() override;

  void *allocate(int64_t bytes) override;
  void release(void *memory) override;
  bool upload(void *device, const void *host, int64_t bytes) override;
  bool download(void *host, const void *device, int64_t bytes) override;
  bool launch(int64_t kernel, const int64_t (&grid)[3],
              const int64_t *arguments, int64_t count) override;
  bool has(int64_t kernel) override { return code.functions[kernel]; }
  bool finish() override { return true; }
  // Work is done when its call returns, so that marks are always reached.
  bool enter() override { return true; }
  bool isEmulated() const override { return true; }
  void *stream() override { return nullptr; }
  bool reach(Device &other) override;
  bool share(Device &memory) override {
    home = &static_cast<EmulatedDevice &>(memory).allocations;
    return reach(memory);
  }
  bool isSameAs(const Device &) const override { return false; }
  bool owns(const void *memory, int64_t bytes) override;
  bool mark(int) override { return true; }
  bool waitFor(Device &, int) override { return true; }
  bool copy(const BoxCopy &box, const void *src, void *dst) override;
  bool fill(const BoxCopy &box, void *dst, const void *element,
            int64_t elementBytes) override;
  void setSchedule(int schedule, uint64_t seed) override {
    runner.schedule = schedule == 1   ? Schedule::RunAhead
                      : schedule == 2 ? Schedule::Random
                                      : Schedule::RoundRobin;
    // The generator stands still at zero.
    runner.seed = seed ? seed : 1;
  }

private:
  bool contains(const void *device, int64_t bytes, const char *what);

  const DeviceCode &code;
  Allocations allocations;
  const Allocations *home = nullptr; ///< of buffers that programs share
  BlockRunner runner;
};

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_EMULATEDDEVICE_H
