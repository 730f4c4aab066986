//===- CudaDevice.h - A GPU through the CUDA driver -------------*- C++ -*-===//
//
// Two streams a rank: for its work, and for what arrives from others meanwhile.
// The device's primary context for all ranks. A fault of a kernel is seen by
// whoever waits next: the message names the last launch.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_CUDADEVICE_H
#define SHARDRT_DEVICE_CUDA_CUDADEVICE_H

#include "Device/Cuda/Driver.h"
#include "Device/Device.h"
#include <array>
#include <atomic>
#include <climits>
#include <map>
#include <memory>
#include <mutex>

namespace shardrt::cuda {

class CudaDevice final : public Device {
public:
  CudaDevice(const Driver &driver, const DeviceCode &code)
      : driver(driver), code(code), functions(code.kernels.size()),
        absent(code.kernels.size()) {
    for (std::atomic<int64_t> &number : setIn)
      number = -1;
  }
  ~CudaDevice() override;

  /// Opens device number `ordinal` and loads the image.
  bool open(int ordinal);

  void *allocate(int64_t bytes) override;
  void release(void *memory) override;
  bool upload(void *device, const void *host, int64_t bytes) override;
  bool download(void *host, const void *device, int64_t bytes) override;
  bool launch(int64_t kernel, const int64_t (&grid)[3],
              const int64_t *arguments, int64_t count) override;
  bool has(int64_t kernel) override;
  bool finish() override;
  /// A rank is one thread, but not the one that made its device.
  bool enter() override {
    return check(driver.ctxSetCurrent(context), "entering its context");
  }
  void *stream() override { return work; }
  int capability() const override { return number; }
  bool isSameAs(const Device &other) const override {
    return static_cast<const CudaDevice &>(other).context == context;
  }
  std::string identity() const override;
  bool reach(Device &other) override;
  bool owns(const void *memory, int64_t) override { return memory; }
  bool mark(int number) override;
  bool aside(int after) override;
  bool back(int done) override;
  bool waitFor(Device &other, int number) override;
  bool copy(const BoxCopy &box, const void *src, void *dst) override;
  bool fill(const BoxCopy &box, void *dst, const void *element,
            int64_t elementBytes) override;
  bool beginRecording() override;
  bool joinRecording(Device &first) override;
  bool endStep() override;
  bool endRecording(std::span<Device *const> others) override;
  std::unique_lock<std::recursive_mutex> hold() override {
    return recording ? std::unique_lock(recording->mutex)
                     : std::unique_lock<std::recursive_mutex>();
  }
  void bind(const std::vector<void *> &addresses) override {
    binding = addresses;
  }
  bool canReplay() const override { return recordings.contains(binding); }
  bool replay() override;
  void forgetRecording() override;

private:
  /// The driver's handle of `kernel`, NULL where the image has none; false with
  /// an error.
  bool find(int64_t kernel, FunctionHandle &function);
  /// Turns the words of `kernel`'s tensor maps into what its GPU takes.
  bool encodeMaps(int64_t kernel, std::vector<int64_t> &arguments);
  /// True for success; else sets why `what` failed.
  bool check(Result result, const std::string &what);
  bool load();
  /// Lets the driver load an image; what it says on failure goes to `log`.
  Result tryImage(const void *image, std::string &log);
  /// Where the driver takes no image: loads the PTX that says most of what this
  /// GPU has of what it takes, if it takes one. Otherwise `tried` and `last`
  /// are the last of them and the driver's answer.
  bool loadText(const DeviceCode::Ptx *&tried, Result &last, std::string &log);
  /// Why the driver loads neither the image nor, if it was `tried`, its PTX.
  bool refuse(Result image, const DeviceCode::Ptx *tried, Result last,
              std::string log);
  /// Notes what of the program's kernels is not for this GPU.
  void noteLacks(Result image, bool isText, const DeviceCode::Ptx *taken);
  /// Does what was recorded so far, and, to `keep` it, lets it be replayed.
  bool closeRecording(bool keep);
  /// Ends a recording that nobody wants.
  void abandonRecording();
  /// Takes a graph that has not been used for long, to be updated; NULL where
  /// there may be more.
  GraphExecHandle takeOldest();
  /// Where somebody waits: what is recorded is done now, and not kept.
  bool flush();
  std::string lastKernel() const {
    return last < 0 ? std::string()
                    : " (last launch: " + code.describe(last) + ")";
  }

  const Driver &driver;
  const DeviceCode &code;
  DeviceId device = 0;
  ContextHandle context = nullptr;
  std::shared_ptr<void> kernels; ///< shared by ranks on this device
  ModuleHandle module = nullptr; ///< what that is to the driver
  StreamHandle work = nullptr;   ///< the first, or, between aside and back,
  StreamHandle beside = nullptr; ///< the second, and this the first
  bool isAside = false;
  bool isRecording = false;
  /// What several devices record together.
  struct Recording {
    std::recursive_mutex mutex;
    int64_t number;
  };
  std::shared_ptr<Recording> recording; ///< NULL where this one is alone
  bool isFirstOfRecording = false;
  struct Recorded {
    GraphExecHandle graph = nullptr;
    int64_t lastUse = 0;
  };
  /// By the addresses that the step is given.
  std::map<std::vector<void *>, Recorded> recordings;
  std::vector<void *> binding; ///< those of the step under way
  int64_t uses = 0;
  std::vector<void *> released; ///< while it was recorded
  std::array<EventHandle, numMarks> marks = {};
  /// In which recording of several devices each mark was set last: 0 none, -1
  /// not set yet. Devices wait for marks of their own recording alone: all work
  /// of the steps before is done.
  std::array<std::atomic<int64_t>, numMarks> setIn;
  std::vector<FunctionHandle> functions;
  std::vector<bool> absent; ///< kernels that the image does not have
  int multiprocessors = 1;
  int64_t last = -1;
  std::string name;
  int number = 0; ///< 90 for sm_90
};

inline DevicePtr toDevice(const void *memory) {
  return static_cast<DevicePtr>(reinterpret_cast<uintptr_t>(memory));
}

} // namespace shardrt::cuda

#endif // SHARDRT_DEVICE_CUDA_CUDADEVICE_H
