//===- Device.h - Memory and kernels of a rank's device ---------*- C++ -*-===//
//
// What a rank's program runs on where that is not the host itself. Work is done
// in the order of calls; only download() and finish() wait for it. A device
// belongs to the thread of its rank.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_DEVICE_H
#define SHARDRT_DEVICE_DEVICE_H

#include "shardrt/Devices.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

// As shardrt/Emulated.h has it, which only the emulator and what it runs
// includes.
extern "C" {
struct shardrt_emulated_thread;
typedef void (*shardrt_emulated_kernel)(shardrt_emulated_thread *,
                                        const int64_t *);
}

namespace shardrt {

struct BoxCopy;

/// The kernels of a program, as its artifact holds them. What it points to
/// lives as long as the artifact is loaded.
struct DeviceCode {
  enum Flags {
    OfSomeGpus = 1, ///< images for other GPUs lack it
    Persistent =
        2,    ///< takes a grid of any size: no more blocks than run at once
    Pairs = 4 ///< of blocks that are clusters: their number is even
  };
  struct Kernel {
    int64_t threads = 0; ///< of a block
    const char *name = "";
    const char *location = ""; ///< of the op that it is made from; may be ""
    /// Bytes of shared memory that a launch asks for; 0 where the kernel's own
    /// declarations do.
    int64_t sharedBytes = 0;
    int64_t maps = 0; ///< tensor maps before its other arguments
    int64_t flags = 0;
  };
  std::vector<Kernel> kernels;
  // For a CUDA device.
  const void *image = nullptr; ///< fatbin, cubin or PTX (ended by NUL)
  int64_t imageBytes = 0;
  std::string archs; ///< what the image is for: "sm_80, sm_90a"; may be empty
  /// The CUDA that assembled it, "13.0"; empty where nobody did, or says so.
  std::string toolkit;
  /// The same kernels as PTX: for drivers that cannot load the image, or, where
  /// that is PTX itself, which all GPUs take, with what some have beside.
  struct Ptx {
    std::string target;         ///< "sm_90a"
    const char *text = nullptr; ///< ended by NUL
    /// Whether a GPU of `capability` takes it: code of a GPU's own features
    /// ("a") is for that one, of a family ("f") for later ones of the same
    /// number of tens, other code for all later ones.
    bool suits(int capability) const;
  };
  std::vector<Ptx> texts;
  /// What devices loaded of it, by context: ranks that share a device share it.
  mutable std::mutex loading;
  mutable std::map<void *, std::weak_ptr<void>> loaded;
  // For the emulated device.
  const shardrt_emulated_kernel *functions = nullptr;
  const int64_t *traits =
      nullptr; ///< per kernel: bytes of shared memory, flags

  /// `kernel 'points_3' (model.py:12)`.
  std::string describe(int64_t kernel) const;
};

/// Blocks of a grid of `blocks` that are launched of `kernel` on a device with
/// so many `multiprocessors`.
inline int64_t blocksToRun(const DeviceCode::Kernel &kernel, int64_t blocks,
                           int64_t multiprocessors) {
  if (!(kernel.flags & DeviceCode::Persistent))
    return blocks;
  int64_t together = kernel.flags & DeviceCode::Pairs ? 2 : 1;
  return std::min(blocks,
                  std::max(multiprocessors / together, int64_t(1)) * together);
}

/// Calls that return false, or NULL, have set `status` and `error`.
class Device {
public:
  virtual ~Device() = default;

  /// Memory aligned to 256 bytes; its contents are undefined.
  virtual void *allocate(int64_t bytes) = 0;
  virtual void release(void *memory) = 0;
  virtual bool upload(void *device, const void *host, int64_t bytes) = 0;
  virtual bool download(void *host, const void *device, int64_t bytes) = 0;
  /// Starts `kernel` on a grid of blocks; `arguments` are copied.
  virtual bool launch(int64_t kernel, const int64_t (&grid)[3],
                      const int64_t *arguments, int64_t count) = 0;
  /// Whether the image for this device has `kernel`.
  virtual bool has(int64_t kernel) = 0;
  /// Waits until all work is done.
  virtual bool finish() = 0;

  /// Whether its memory and kernels are only made to look like a GPU's.
  virtual bool isEmulated() const { return false; }
  /// 90 of an sm_90; 0 of an emulated one, which is what a program is made for.
  virtual int capability() const { return 0; }
  /// Makes it the device that libraries use in the calling thread.
  virtual bool enter() = 0;
  /// Its stream of work, as libraries take it; NULL where it has none.
  virtual void *stream() = 0;
  /// Asked from time to time while the host waits for work, with how long it
  /// has; false ends the wait, which fails.
  std::function<bool(int64_t waitedNs)> watch;

  // From device to device. All devices of a world are of one kind.

  /// Lets copies on this device read memory of `other`, which says why not
  /// where that cannot be.
  virtual bool reach(Device &other) = 0;
  /// Takes buffers of `memory`, a device of the same hardware without code, as
  /// its own. It outlives this one.
  virtual bool share(Device &memory) { return reach(memory); }
  /// Whether `bytes` bytes at `memory` are this device's, as far as it knows.
  virtual bool owns(const void *memory, int64_t bytes) = 0;
  /// Whether it is the same piece of hardware as `other`.
  virtual bool isSameAs(const Device &other) const = 0;
  /// What no other piece of hardware is called, in any process; "" where it has
  /// no name.
  virtual std::string identity() const { return {}; }
  /// How many marks a device has.
  static constexpr int numMarks = 32;
  /// Sets mark `number` behind all work so far.
  virtual bool mark(int number) = 0;
  /// Work from here on comes after mark `number` of `other`, as it is now. May
  /// be called by other threads than that of `other`.
  virtual bool waitFor(Device &other, int number) = 0;
  /// From here to back(), copies, marks and waits are work of a second stream,
  /// which goes on beside the first: behind mark `after` of this device, and in
  /// its own order. A device with one stream does it there.
  virtual bool aside(int) { return true; }
  /// Sets mark `done` behind the second stream's work; the first goes on. It
  /// waits for that mark by waitFor(*this, done).
  virtual bool back(int) { return true; }
  /// Copies a box out of `src`, on this device or one that it reaches.
  virtual bool copy(const BoxCopy &box, const void *src, void *dst) = 0;
  /// Sets the destination of `box` to repetitions of the element of
  /// `elementBytes` bytes at `element` on this device; to zero if that is NULL.
  virtual bool fill(const BoxCopy &box, void *dst, const void *element,
                    int64_t elementBytes) = 0;

  // Steps that do the same work again and again. A device that cannot record
  // does each anew.

  /// What is recorded and replayed from here on is of steps at these addresses.
  /// A few such recordings are kept.
  virtual void bind(const std::vector<void *> &) {}
  /// From here on work is recorded, until the step ends, or somebody waits for
  /// it: then it is done, and nothing is kept. False where that is not
  /// possible.
  virtual bool beginRecording() { return false; }
  /// The same, as a part of what `first` has begun to record.
  virtual bool joinRecording(Device &) { return false; }
  /// Behind all work of a step of a rank whose device has joined, on its
  /// device.
  static constexpr int stepMark = 30;
  /// Waits until all work of a step is done. Where several devices record, the
  /// first one's endRecording() does that.
  virtual bool endStep() { return finish(); }
  /// Held by whoever enqueues work on stream() by other ways than this class,
  /// while several devices record.
  virtual std::unique_lock<std::recursive_mutex> hold() { return {}; }
  /// Ends what this device and `others` have recorded; they record no more.
  virtual bool endRecording(std::span<Device *const>) { return false; }
  /// Whether a whole step is recorded.
  virtual bool canReplay() const { return false; }
  /// Does its work again, and waits for it.
  virtual bool replay() { return false; }
  /// Forgets all that is recorded, of any addresses.
  virtual void forgetRecording() {}

  /// How an emulated device orders threads (shardrt_world_options).
  virtual void setSchedule(int, uint64_t) {}

  int status = SHARDRT_OK;
  std::string error;
  /// What it has to do otherwise than it could, a line each.
  std::string notes;
  /// How often the host looked at this device's memory, or wrote to it, but for
  /// arguments, results and constants.
  int64_t looks = 0;
  shardrt_device_counts counts = {};

protected:
  bool fail(int why, std::string text) {
    status = why;
    error = std::move(text);
    return false;
  }
};

/// The device of `rank` for `code`; NULL with a reason.
std::unique_ptr<Device> openDevice(const DeviceCode &code, int64_t rank,
                                   int64_t numRanks, int &status,
                                   std::string &error);

/// A rank's arena and pool on its device, and where its arguments, results and
/// constants are there. Cpu/Memory.h is the same for the host.
class DeviceMemory {
public:
  explicit DeviceMemory(Device &device) : device(device) {}
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// NULL if it cannot be had.
  void *arena(int64_t bytes);
  /// `origin` is what the buffer is made for; it lives as long as the program.
  void *allocate(int64_t bytes, const char *origin = "");
  void release(void *buffer);
  /// What it holds, the largest first, as the end of a message: "; this rank
  /// holds 4096 bytes in its arena, 800 in arguments and results". "" for
  /// nothing.
  std::string holders() const;
  /// Takes back every buffer that was not released.
  void releaseAll();
  int64_t peakBytes() const { return peak; }

  /// From here on arguments and results are on the device.
  void setResident() { resident = true; }
  bool isResident() const { return resident; }
  /// A step begins. In the first of a run arguments are uploaded, in the last
  /// results are downloaded, unless they are on the device.
  void beginStep(bool first, bool last);
  void *stageInput(const void *host, int64_t bytes);
  void *stageOutput(void *host, int64_t bytes);
  bool downloadResults();
  /// The device's copy of a constant, made once.
  void *constant(const void *host, int64_t bytes);

private:
  struct Place {
    void *device = nullptr;
    int64_t capacity = 0;
    int64_t bytes = 0;    ///< asked for
    void *host = nullptr; ///< of a result
  };
  /// Where there is no more, buffers that nobody uses make room.
  void *get(int64_t bytes);
  bool dropIdle();
  void *stage(void *host, int64_t bytes, bool isOutput);

  Device &device;
  void *arenaData = nullptr;
  int64_t arenaBytes = 0;
  using Blocks = std::multimap<int64_t, void *>; ///< by size
  Blocks idle;
  /// Each with its place among the idle ones: to release it needs no memory.
  struct Live {
    Blocks::node_type place;
    const char *origin = "";
  };
  std::map<void *, Live> live;
  std::vector<Place> places; ///< arguments, results, in order of calls
  size_t nextPlace = 0;
  bool isFirst = true, isLast = true, resident = false;
  std::map<const void *, void *> constants;
  int64_t held = 0, peak = 0, constantBytes = 0;
};

} // namespace shardrt

/// The C handle: a device without code.
struct shardrt_memory {
  shardrt::DeviceCode code;
  std::unique_ptr<shardrt::Device> device;
  int64_t number = -1; ///< of a CUDA device
  std::mutex mutex;    ///< guards the device
};

#endif // SHARDRT_DEVICE_DEVICE_H
