//===- BlockCalls.cpp - What emulated kernels call ------------------------===//

#include "Device/Emulated/Block.h"
#include <cstring>

using namespace shardrt;

/// The thread's lane, about to synchronise with `mask`; what that takes
/// from it is still to be said.
static Lane &come(shardrt_emulated_thread *thread, Lane::Sync sync,
                  uint32_t mask, int32_t place, const char *where) {
  Lane &lane = laneOf(thread);
  lane.sync = sync;
  lane.mask = mask;
  lane.place = place;
  lane.where = where;
  return lane;
}

extern "C" {

void shardrt_emulated_barrier(shardrt_emulated_thread *thread, int32_t place,
                              const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->barrier(lane, /*ofCluster=*/false, place, where);
}

void shardrt_emulated_cluster_barrier(shardrt_emulated_thread *thread,
                                      int32_t place, const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->barrier(lane, /*ofCluster=*/true, place, where);
}

void *shardrt_emulated_map_shared(shardrt_emulated_thread *thread,
                                  void *address, int32_t rank,
                                  const char *where) {
  Lane &lane = laneOf(thread);
  lane.where = where;
  return lane.runner->inBlock(lane, static_cast<char *>(address), rank);
}

void shardrt_emulated_warp_barrier(shardrt_emulated_thread *thread,
                                   int32_t mask, int32_t place,
                                   const char *where) {
  Lane &lane = come(thread, Lane::Sync::Barrier, static_cast<uint32_t>(mask),
                    place, where);
  lane.runner->syncWarp(lane);
}

void shardrt_emulated_ldmatrix(shardrt_emulated_thread *thread, void *row,
                               int32_t count, int32_t transposed, int32_t *out,
                               int32_t place, const char *where) {
  Lane &lane = come(thread, Lane::Sync::LoadMatrix, ~0u, place, where);
  lane.value = count;
  lane.kind = transposed;
  lane.row = static_cast<const char *>(row);
  lane.out = out;
  if (lane.number % warpSize < 8 * count) {
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
      lane.runner->fail(lane,
                        "ldmatrix reads a row that is not aligned to 16 bytes" +
                            lineOf(where));
    lane.runner->shared(lane, static_cast<char *>(row), 16, false, where);
  }
  lane.runner->syncWarp(lane);
}

void shardrt_emulated_mma(shardrt_emulated_thread *thread, int32_t kind,
                          const int32_t *words, int32_t *out, int32_t place,
                          const char *where) {
  Lane &lane = come(thread, Lane::Sync::Multiply, ~0u, place, where);
  lane.kind = kind;
  lane.words = words;
  lane.out = out;
  lane.runner->syncWarp(lane);
}

int32_t shardrt_emulated_tf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return 0x7fffffff;
  return static_cast<int32_t>((bits + 0x1000) & ~0x1fffu);
}

int64_t shardrt_emulated_shuffle(shardrt_emulated_thread *thread, int32_t mask,
                                 int32_t value, int32_t from, int32_t clamp,
                                 int32_t kind, int32_t place,
                                 const char *where) {
  Lane &lane = come(thread, Lane::Sync::Shuffle, static_cast<uint32_t>(mask),
                    place, where);
  lane.value = value;
  lane.from = from;
  lane.clamp = clamp;
  lane.kind = kind;
  return lane.runner->syncWarp(lane);
}

int32_t shardrt_emulated_vote(shardrt_emulated_thread *thread, int32_t mask,
                              int32_t value, int32_t kind, int32_t place,
                              const char *where) {
  Lane &lane =
      come(thread, Lane::Sync::Vote, static_cast<uint32_t>(mask), place, where);
  lane.value = value;
  lane.kind = kind;
  return static_cast<int32_t>(lane.runner->syncWarp(lane));
}

void *shardrt_emulated_global(shardrt_emulated_thread *thread, void *address,
                              int64_t bytes, int32_t writes,
                              const char *where) {
  Lane &lane = laneOf(thread);
  void *host = lane.runner->global(lane, address, bytes,
                                   writes != SHARDRT_EMULATED_READ, where);
  if (writes != SHARDRT_EMULATED_ATOMIC)
    lane.runner->note(lane, host, bytes, writes != SHARDRT_EMULATED_READ,
                      where);
  return host;
}

void shardrt_emulated_shared(shardrt_emulated_thread *thread, void *address,
                             int64_t bytes, int32_t writes, const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->shared(lane, static_cast<char *>(address), bytes, writes != 0,
                      where);
}

} // extern "C"
