//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//
//
// Two streams a rank: for its work, and for what arrives from others meanwhile.
// The device's primary context for all ranks. A fault of a
// kernel is seen by whoever waits next: the message names the last launch.
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/CudaDevice.h"
#include "Device/Cpu/Copy.h"
#include "Device/Cuda/Driver.h"
#include "Device/TensorMap.h"
#include "Host/Clock.h"
#include "shardrt/Devices.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

using namespace shardrt;
using namespace shardrt::cuda;

namespace {
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
} // namespace

static DevicePtr toDevice(const void *memory) {
  return static_cast<DevicePtr>(reinterpret_cast<uintptr_t>(memory));
}

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

/// The version of CUDA that brought PTX `major`.`minor`, "12.0"; empty for one
/// that is not known. Source: the PTX ISA's release notes.
static std::string cudaOfPtx(int major, int minor) {
  if (major == 7)
    return "11." + std::to_string(minor);
  if (major == 8) {
    const char *const of8[] = {"0", "1", "2", "3", "4", "5", "7", "8", "9"};
    return minor < 9 ? std::string("12.") + of8[minor] : std::string();
  }
  return major == 9 ? "13." + std::to_string(minor) : std::string();
}

/// What PTX needs of a driver, "PTX 8.0, which drivers of CUDA 12.0 and later
/// know"; empty where `text` is no PTX.
static std::string needOf(const char *text, int64_t bytes) {
  std::string head(text, strnlen(text, std::min<int64_t>(bytes, 4096)));
  size_t at = head.find(".version ");
  int major = 0, minor = 0;
  if (at == std::string::npos ||
      std::sscanf(head.c_str() + at, ".version %d.%d", &major, &minor) != 2 ||
      major < 1 || minor < 0)
    return {};
  std::string need =
      "PTX " + std::to_string(major) + "." + std::to_string(minor);
  if (std::string cuda = cudaOfPtx(major, minor); !cuda.empty())
    need += ", which drivers of CUDA " + cuda + " and later know";
  return need;
}

Result CudaDevice::tryImage(const void *image, std::string &log) {
  char text[4096] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {text, reinterpret_cast<void *>(sizeof(text))};
  Result result = driver.moduleLoadDataEx(&module, image, 2, options, values);
  if (result == success)
    return success;
  module = nullptr;
  text[sizeof(text) - 1] = '\0';
  log = text;
  return result;
}

bool CudaDevice::load() {
  std::lock_guard lock(code.loading);
  std::weak_ptr<void> &shared = code.loaded[context];
  if (!(kernels = shared.lock())) {
    // Where no cubin in the image fits, the driver assembles its PTX; one that
    // is older than who assembled the image may refuse it whole.
    std::string log;
    bool isText =
        code.image && !code.texts.empty() &&
        !needOf(static_cast<const char *>(code.image), code.imageBytes).empty();
    Result result = isText ? noBinaryForGpu : tryImage(code.image, log);
    const DeviceCode::Ptx *tried = nullptr;
    Result last = success;
    if (result != success &&
        (result == outOfMemory || !loadText(tried, last, log)))
      return refuse(result, tried, last, std::move(log));
    noteLacks(result, isText, tried);
    const Driver &unloader = driver;
    // Whoever is last is in the same context.
    kernels = std::shared_ptr<void>(
        module, [&unloader](void *last) { unloader.moduleUnload(last); });
    shared = kernels;
  }
  module = kernels.get();
  return true;
}

bool CudaDevice::loadText(const DeviceCode::Ptx *&tried, Result &last,
                          std::string &log) {
  std::vector<const DeviceCode::Ptx *> fit;
  for (const DeviceCode::Ptx &text : code.texts)
    if (text.suits(number))
      fit.push_back(&text);
  // "sm_100a" is before "sm_100", and that before what is older.
  auto rank = [](const DeviceCode::Ptx *text) {
    return std::pair(std::atoi(text->target.c_str() + 3), text->target.size());
  };
  std::stable_sort(fit.begin(), fit.end(),
                   [&](auto *a, auto *b) { return rank(a) > rank(b); });
  for (const DeviceCode::Ptx *text : fit) {
    tried = text;
    if ((last = tryImage(text->text, log)) == success)
      return true;
  }
  return false;
}

void CudaDevice::noteLacks(Result image, bool isText,
                           const DeviceCode::Ptx *taken) {
  std::string arch = "sm_" + std::to_string(number);
  // Kernels for other GPUs are no loss.
  bool isNamed = code.archs.find(arch + "a") != std::string::npos;
  int64_t absent = 0;
  for (const DeviceCode::Kernel &kernel : code.kernels) {
    FunctionHandle function = nullptr;
    absent +=
        isNamed && (kernel.flags & DeviceCode::OfSomeGpus) &&
        driver.moduleGetFunction(&function, module, kernel.name) != success;
  }
  std::string lost =
      absent == 0 ? "no kernel is lost"
                  : std::to_string(absent) + " of " +
                        std::to_string(code.kernels.size()) +
                        " kernels, which are for this GPU, are not in it: "
                        "others do their work, more slowly";
  std::string who = "CUDA device '" + name + "' (" + arch + "): ";
  if (taken && isText && absent > 0)
    notes += who + "takes the PTX for " + taken->target + ": " + lost + "\n";
  else if (taken && !isText)
    notes +=
        who + "its driver, for CUDA " + driver.version() + ", refuses what " +
        (code.toolkit.empty() ? "was" : "CUDA " + code.toolkit) +
        " assembled (" + driver.nameOf(image) + ") and takes the PTX for " +
        taken->target + " in its place: " + lost + "; update the driver\n";
  // Of GPUs that have kernels of their own, or libraries in their place.
  bool hasOwn = number == 90 || (number >= 100 && number < 120);
  if (hasOwn && !code.archs.empty() &&
      code.archs.find(arch) == std::string::npos)
    notes += "CUDA device '" + name + "' is " + arch + ", kernels are for " +
             code.archs +
             " and use a part of what it can; compile with --arch=" + arch +
             "a\n";
}

bool CudaDevice::refuse(Result image, const DeviceCode::Ptx *tried, Result last,
                        std::string log) {
  std::string arch = "sm_" + std::to_string(number);
  std::string text = "CUDA device '" + name + "' (" + arch +
                     ", driver for CUDA " + driver.version() +
                     ") cannot load the program's kernels, which ";
  std::string need =
      needOf(static_cast<const char *>(code.image), code.imageBytes);
  if (!need.empty())
    text += "are " + need;
  else
    text += (code.toolkit.empty() ? std::string("are")
                                  : "CUDA " + code.toolkit + " assembled") +
            " for " +
            (code.archs.empty() ? std::string("other GPUs") : code.archs);
  text += ": " + driver.nameOf(image);
  if (tried)
    text +=
        ", nor their " + needOf(tried->text, 4096) + ": " + driver.nameOf(last);
  if (tried || image == unsupportedPtxVersion || image == invalidPtx ||
      image == invalidImage)
    text += "; update the driver, or compile it " +
            std::string(need.empty() ? "" : "where ptxas is, ") +
            "with --arch=" + arch;
  else if (image == noBinaryForGpu)
    text += "; compile it with --arch=" + arch;
  if (!log.empty())
    text += "\n" + log;
  return fail((tried ? last : image) == outOfMemory ? SHARDRT_MEMORY
                                                    : SHARDRT_ARTIFACT,
              std::move(text));
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
// Steps again
//===----------------------------------------------------------------------===//

/// Recordings of other addresses that are kept.
static constexpr size_t mostRecordings = 8;

bool CudaDevice::beginRecording() {
  abandonRecording();
  isRecording =
      enter() && driver.streamBeginCapture(work, captureRelaxed) == success;
  return isRecording;
}

bool CudaDevice::joinRecording(Device &peer) {
  auto &first = static_cast<CudaDevice &>(peer);
  if (&first == this) {
    static std::atomic<int64_t> numbers = 0;
    if (!beginRecording())
      return false;
    recording = std::make_shared<Recording>();
    recording->number = ++numbers;
    // The others' streams wait for it, and are recorded from there on.
    return isFirstOfRecording = true, mark(stepMark);
  }
  abandonRecording();
  recording = first.recording;
  isRecording = recording && waitFor(first, stepMark);
  return isRecording;
}

bool CudaDevice::endRecording(std::span<Device *const> others) {
  bool done = true;
  for (Device *other : others)
    done = done && (other == this || waitFor(*other, stepMark));
  for (Device *other : others) {
    auto &device = static_cast<CudaDevice &>(*other);
    device.isRecording = device.isFirstOfRecording = false;
    device.recording = nullptr;
  }
  isRecording = true;
  return done && closeRecording(/*keep=*/true) && finish();
}

GraphExecHandle CudaDevice::takeOldest() {
  if (recordings.size() < mostRecordings)
    return nullptr;
  auto oldest = std::min_element(
      recordings.begin(), recordings.end(), [](auto &one, auto &other) {
        return one.second.lastUse < other.second.lastUse;
      });
  GraphExecHandle graph = oldest->second.graph;
  recordings.erase(oldest);
  return graph;
}

bool CudaDevice::closeRecording(bool keep) {
  isRecording = false;
  GraphHandle captured = nullptr;
  if (!check(driver.streamEndCapture(work, &captured), "recording a step"))
    return false;
  // All that a graph did before is done.
  GraphExecHandle graph = keep ? takeOldest() : nullptr;
  GraphUpdateResult why = {};
  if (graph && driver.graphExecUpdate &&
      driver.graphExecUpdate(graph, captured, &why) == success) {
    ++counts.updated;
  } else if (graph) {
    driver.graphExecDestroy(graph);
    graph = nullptr;
  }
  bool done = (graph || check(driver.graphInstantiate(&graph, captured, 0),
                              "making a graph of a step")) &&
              check(driver.graphLaunch(graph, work), "starting a graph");
  driver.graphDestroy(captured);
  if (done && keep) {
    recordings[binding] = {graph, ++uses};
    ++counts.recorded;
  } else if (graph) {
    // The driver keeps what is under way.
    driver.graphExecDestroy(graph);
  }
  return done;
}

bool CudaDevice::flush() {
  // In the middle of what several devices record nobody can wait. World lets
  // no step be recorded that looked at its data before.
  if (recording)
    return fail(SHARDRT_REFUSED,
                "CUDA device '" + name +
                    "': a step looks at its data that did not in the run "
                    "before; run it with no_graphs");
  return !isRecording || closeRecording(/*keep=*/false);
}

bool CudaDevice::endStep() {
  if (recording)
    return mark(stepMark);
  if (isRecording && (!enter() || !closeRecording(/*keep=*/true)))
    return false;
  return finish();
}

bool CudaDevice::replay() {
  Recorded &step = recordings.at(binding);
  step.lastUse = ++uses;
  ++counts.replayed;
  return enter() &&
         check(driver.graphLaunch(step.graph, work), "starting a graph") &&
         finish();
}

void CudaDevice::abandonRecording() {
  bool begun = isRecording && (!recording || isFirstOfRecording);
  isRecording = isFirstOfRecording = false;
  recording = nullptr;
  if (begun && enter()) {
    // A step that failed: nothing of it is done.
    GraphHandle captured = nullptr;
    if (driver.streamEndCapture(work, &captured) == success && captured)
      driver.graphDestroy(captured);
  }
}

void CudaDevice::forgetRecording() {
  abandonRecording();
  for (auto &[addresses, step] : recordings)
    if (enter())
      driver.graphExecDestroy(step.graph);
  recordings.clear();
  for (void *memory : std::exchange(released, {}))
    release(memory);
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
