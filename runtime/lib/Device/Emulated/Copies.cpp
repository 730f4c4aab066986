//===- Copies.cpp - Copies to shared memory that are waited for -----------===//
//
// A copy may arrive at any time until its thread has waited for it. Here it
// arrives at the last: whoever reads before has what stood there, or poison.
// The checker holds the place as written from the begin of the copy to its end,
// so that whoever touches it in between is found, in every schedule.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include <algorithm>
#include <cstring>

using namespace shardrt;

void BlockRunner::copy(Lane &lane, const Copy &copy, void *from,
                       const char *where) {
  Copy begun = copy;
  std::string line = lineOf(where);
  auto isAligned = [&](const void *address) {
    return reinterpret_cast<uintptr_t>(address) % copy.bytes == 0;
  };
  if (!isAligned(copy.to) || !isAligned(from))
    fail(lane, describe(lane) + " copies " + std::to_string(copy.bytes) +
                   " bytes " + (isAligned(from) ? "to" : "from") +
                   " an address that is not aligned to them" + line);
  if (copy.checked) {
    if (copy.fromBytes > 0)
      begun.from = static_cast<const char *>(
          global(lane, from, copy.fromBytes, false, where));
    shared(lane, copy.to, copy.bytes, true, where);
    for (int64_t i = 0, at = offsetOf(copy.to); i < copy.bytes; ++i)
      ++cells[at + i].copies;
  } else {
    auto tagged = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from));
    begun.from = reinterpret_cast<const char *>(
        static_cast<uintptr_t>(tagged ^ SHARDRT_EMULATED_TAG));
  }
  begun.group = lane.groups;
  lane.copies.push_back(begun);
}

void BlockRunner::waitForCopies(Lane &lane, int32_t groups) {
  // Copies that no group holds yet arrive with the group that will.
  int64_t arrived = lane.groups - groups;
  auto end = lane.copies.begin();
  // Later than a fence that did not wait for them.
  if (now->ordered)
    ++lane.clock[lane.number];
  for (; end != lane.copies.end() && end->group < arrived; ++end) {
    std::memcpy(end->to, end->from, end->fromBytes);
    std::memset(end->to + end->fromBytes, 0, end->bytes - end->fromBytes);
    if (!end->checked)
      continue;
    // Written now: others have to synchronise with this thread before they
    // read.
    for (int64_t i = 0, at = offsetOf(end->to); i < end->bytes; ++i) {
      Cell &cell = cells[at + i];
      --cell.copies;
      cell.writeEpoch = epoch;
      cell.writeWarpEpoch = warpEpochs[lane.number / 32];
      cell.writer = lane.number;
      if (now->ordered)
        cell.writeTime = lane.clock[lane.number];
    }
  }
  lane.copies.erase(lane.copies.begin(), end);
}

extern "C" {

void shardrt_emulated_copy(shardrt_emulated_thread *thread, void *to,
                           void *from, int32_t bytes, int32_t from_bytes,
                           int32_t check, const char *where) {
  Copy copy;
  copy.to = static_cast<char *>(to);
  copy.bytes = bytes;
  copy.fromBytes = std::clamp(from_bytes, 0, bytes);
  copy.checked = check != 0;
  Lane &lane = laneOf(thread);
  lane.runner->copy(lane, copy, from, where);
}

void shardrt_emulated_copy_commit(shardrt_emulated_thread *thread) {
  ++laneOf(thread).groups;
}

void shardrt_emulated_copy_wait(shardrt_emulated_thread *thread,
                                int32_t groups) {
  Lane &lane = laneOf(thread);
  lane.runner->waitForCopies(lane, groups);
}

} // extern "C"
