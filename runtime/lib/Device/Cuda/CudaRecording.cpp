//===- CudaRecording.cpp - Steps that are recorded, and done again --------===//
//
// A step is recorded as a graph by the addresses that it is given, and replayed
// where it is given the same again.
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/CudaDevice.h"
#include <algorithm>
#include <atomic>
#include <climits>
#include <utility>

using namespace shardrt;
using namespace shardrt::cuda;

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
