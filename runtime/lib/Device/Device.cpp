//===- Device.cpp - What all devices share --------------------------------===//

#include "Device/Device.h"
#include "Device/Cuda/OpenCuda.h"
#include "Device/Emulated/EmulatedDevice.h"
#include <algorithm>
#include <cstdlib>

using namespace shardrt;

static constexpr int64_t largest = int64_t(1) << 47;

std::string DeviceCode::describe(int64_t kernel) const {
  if (kernel < 0 || kernel >= static_cast<int64_t>(kernels.size()))
    return "kernel " + std::to_string(kernel);
  std::string text = "kernel '" + std::string(kernels[kernel].name) + "'";
  if (*kernels[kernel].location)
    text += " (" + std::string(kernels[kernel].location) + ")";
  return text;
}

bool DeviceCode::Ptx::suits(int capability) const {
  if (target.size() < 5)
    return false;
  int number = std::atoi(target.c_str() + 3);
  char features = target.back();
  return features == 'a' ? number == capability
         : features == 'f'
             ? number <= capability && number / 10 == capability / 10
             : number <= capability;
}

std::unique_ptr<Device> shardrt::openDevice(const DeviceCode &code,
                                            int64_t rank, int64_t numRanks,
                                            int &status, std::string &error) {
  if (code.functions)
    return std::make_unique<EmulatedDevice>(code);
  return openCudaDevice(code, rank, numRanks, status, error);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DeviceMemory::~DeviceMemory() {
  device.release(arenaData);
  for (const auto &[memory, block] : live)
    device.release(memory);
  for (auto [bytes, memory] : idle)
    device.release(memory);
  for (const Place &place : places)
    device.release(place.device);
  for (auto [host, memory] : constants)
    device.release(memory);
}

void *DeviceMemory::get(int64_t bytes) {
  if (bytes < 0 || bytes > largest)
    return nullptr;
  bytes = std::max<int64_t>(bytes, 1);
  void *memory = device.allocate(bytes);
  if (!memory && device.status == SHARDRT_MEMORY && dropIdle()) {
    device.status = SHARDRT_OK;
    memory = device.allocate(bytes);
  }
  if (memory) {
    held += bytes;
    peak = std::max(peak, held);
  }
  return memory;
}

bool DeviceMemory::dropIdle() {
  bool any = false;
  for (auto [bytes, memory] : idle)
    if (memory) {
      device.release(memory);
      held -= bytes;
      any = true;
    }
  std::erase_if(idle, [](const auto &block) { return block.second; });
  return any;
}

std::string DeviceMemory::holders() const {
  std::vector<std::pair<int64_t, std::string>> parts;
  auto add = [&](int64_t bytes, std::string what) {
    if (bytes > 0)
      parts.push_back({bytes, std::move(what)});
  };
  add(arenaBytes, "its arena");
  int64_t staged = 0;
  for (const Place &place : places)
    staged += place.capacity;
  add(staged, "arguments and results");
  add(constantBytes, "constants");
  // Buffers by what they are made for.
  std::map<std::string_view, int64_t> buffers;
  for (const auto &[memory, block] : live)
    if (memory)
      buffers[block.origin] += block.place.key();
  for (auto [origin, bytes] : buffers)
    add(bytes,
        origin.empty() ? "buffers" : "buffers of " + std::string(origin));
  std::stable_sort(parts.begin(), parts.end(),
                   [](auto &a, auto &b) { return a.first > b.first; });
  constexpr size_t most = 4;
  std::string text;
  for (size_t i = 0; i < parts.size() && i < most; ++i)
    text += (i == 0 ? "; this rank holds " : ", ") +
            std::to_string(parts[i].first) + (i == 0 ? " bytes in " : " in ") +
            parts[i].second;
  return text;
}

void *DeviceMemory::arena(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 1);
  if (bytes <= arenaBytes)
    return arenaData;
  // Freed first: the two need not fit into memory together.
  device.release(arenaData);
  held -= arenaBytes;
  arenaData = get(bytes);
  arenaBytes = arenaData ? bytes : 0;
  return arenaData;
}

void *DeviceMemory::allocate(int64_t bytes, const char *origin) {
  // The smallest that fits, unless it is much too large.
  auto found = idle.lower_bound(bytes);
  if (found != idle.end() && found->first <= 2 * bytes + 4096) {
    void *memory = found->second;
    auto place = live.try_emplace(memory).first;
    place->second = {idle.extract(found), origin};
    return memory;
  }
  // Its places in both lists first.
  auto block = idle.extract(idle.emplace(std::max<int64_t>(bytes, 1), nullptr));
  auto place = live.extract(live.try_emplace(nullptr).first);
  void *memory = get(bytes);
  if (!memory)
    return nullptr;
  block.mapped() = memory;
  place.key() = memory;
  place.mapped() = {std::move(block), origin};
  live.insert(std::move(place));
  return memory;
}

void DeviceMemory::release(void *buffer) {
  auto found = live.find(buffer);
  if (found == live.end())
    return;
  idle.insert(std::move(found->second.place));
  live.erase(found);
}

void DeviceMemory::releaseAll() {
  for (auto &[memory, block] : live)
    idle.insert(std::move(block.place));
  live.clear();
}

//===----------------------------------------------------------------------===//
// Arguments, results, constants
//===----------------------------------------------------------------------===//

namespace {
/// What goes between the host and the device is no look at the program's data.
class Unnoticed {
public:
  explicit Unnoticed(Device &device) : device(device), looks(device.looks) {}
  ~Unnoticed() { device.looks = looks; }

private:
  Device &device;
  int64_t looks;
};
} // namespace

void DeviceMemory::beginStep(bool first, bool last) {
  isFirst = first;
  isLast = last;
  nextPlace = 0;
}

void *DeviceMemory::stage(void *host, int64_t bytes, bool isOutput) {
  if (nextPlace == places.size())
    places.emplace_back();
  Place &place = places[nextPlace++];
  if (place.capacity < bytes || !place.device) {
    device.release(place.device);
    held -= place.capacity;
    place = {};
    place.device = get(bytes);
    if (!place.device)
      return nullptr;
    place.capacity = std::max<int64_t>(bytes, 1);
  }
  place.bytes = bytes;
  place.host = isOutput ? host : nullptr;
  return place.device;
}

void *DeviceMemory::stageInput(const void *host, int64_t bytes) {
  if (resident)
    return const_cast<void *>(host);
  void *memory = stage(const_cast<void *>(host), bytes, /*isOutput=*/false);
  Unnoticed unnoticed(device);
  if (memory && isFirst && bytes > 0 && !device.upload(memory, host, bytes))
    return nullptr;
  return memory;
}

void *DeviceMemory::stageOutput(void *host, int64_t bytes) {
  return resident ? host : stage(host, bytes, /*isOutput=*/true);
}

bool DeviceMemory::downloadResults() {
  Unnoticed unnoticed(device);
  if (!isLast || resident)
    return device.endStep();
  for (size_t i = 0; i < nextPlace; ++i)
    if (places[i].host && places[i].bytes > 0 &&
        !device.download(places[i].host, places[i].device, places[i].bytes))
      return false;
  return device.finish();
}

void *DeviceMemory::constant(const void *host, int64_t bytes) {
  void *&memory = constants[host];
  if (memory)
    return memory;
  memory = get(bytes);
  constantBytes += memory ? std::max<int64_t>(bytes, 1) : 0;
  Unnoticed unnoticed(device);
  if (memory && bytes > 0 && !device.upload(memory, host, bytes)) {
    device.release(memory);
    memory = nullptr;
  }
  return memory;
}
