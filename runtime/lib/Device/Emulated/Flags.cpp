//===- Flags.cpp - Flags in device memory between blocks ------------------===//
//
// A block waits for a flag that another sets, or counts up. Blocks run one
// after another here, so that a flag is set by a block that has ended, by this
// one, or never: then whoever waits for it is reported. What others wrote may
// be read by who found their flag set and then passed a fence; all else that is
// written by one block of a kernel and touched by another is a race. Places are
// known by their first byte: accesses that overlap in other ways are not
// compared.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include <algorithm>

using namespace shardrt;

/// Whoever finds one flag the same so often, one look after another, waits
/// until it counts further.
static constexpr int32_t kRepeats = 16;

static uintptr_t hostOf(void *device) {
  auto tagged = static_cast<int64_t>(reinterpret_cast<uintptr_t>(device));
  return static_cast<uintptr_t>(tagged ^ SHARDRT_EMULATED_TAG);
}

void BlockRunner::poll(Lane &lane, void *flag, bool check, const char *where) {
  if (check)
    global(lane, flag, sizeof(int32_t), /*writes=*/false, where);
  uintptr_t host = hostOf(flag);
  auto *value = reinterpret_cast<const int32_t *>(host);
  bool isSame = lane.looked == host && lane.found == *value;
  lane.repeats = isSame ? lane.repeats + 1 : 0;
  if (*value == 0 || lane.repeats > kRepeats) {
    ++lane.polls;
    lane.awaited = host;
    lane.where = where;
    suspend(lane);
  }
  bool counted = !isSame || lane.found != *value;
  lane.looked = host;
  lane.found = *value;
  if (*value == 0)
    return;
  if (lane.awaited == host && (counted || lane.repeats <= kRepeats))
    lane.polls = 0;
  if (auto found = published.find(host); found != published.end())
    lane.noticed.push_back(found->second);
}

void BlockRunner::publish(Lane &lane, void *flag) {
  lane.polls = 0;
  published[hostOf(flag)] = {block, lane.number, epoch, ++time};
}

void BlockRunner::acquire(Lane &lane) {
  for (const Publication &one : lane.noticed)
    acquired[one.block].push_back({one, lane.number, epoch});
  lane.noticed.clear();
}

void BlockRunner::note(Lane &lane, const void *address, int64_t bytes,
                       bool writes, const char *where) {
  if (!now->hasFlags)
    return;
  auto host = reinterpret_cast<uintptr_t>(address);
  auto found = written.find(host);
  if (found != written.end() && found->second.block != block) {
    const Written &other = found->second;
    const std::vector<Acquired> &all = acquired[other.block];
    bool knows = std::any_of(all.begin(), all.end(), [&](const Acquired &one) {
      bool covers = one.flag.epoch > other.epoch ||
                    (one.flag.lane == other.lane && one.flag.time > other.time);
      return covers && (one.lane == lane.number || one.epoch < epoch);
    });
    if (!knows)
      fail(lane, "race on device memory: " + std::to_string(bytes) +
                     " bytes are " + (writes ? "written" : "read") + " by " +
                     describe(lane) + lineOf(where) +
                     " and written by thread " + std::to_string(other.lane) +
                     " of block " + std::to_string(other.block) +
                     lineOf(other.where) + ", of whose flag it has not heard");
  }
  if (writes)
    written[host] = {block, lane.number, epoch, ++time, where};
}

extern "C" {

void shardrt_emulated_poll(shardrt_emulated_thread *thread, void *flag,
                           int32_t check, const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->poll(lane, flag, check != 0, where);
}

void shardrt_emulated_publish(shardrt_emulated_thread *thread, void *flag) {
  Lane &lane = laneOf(thread);
  lane.runner->publish(lane, flag);
}

void shardrt_emulated_acquire(shardrt_emulated_thread *thread) {
  Lane &lane = laneOf(thread);
  lane.runner->acquire(lane);
}

} // extern "C"
