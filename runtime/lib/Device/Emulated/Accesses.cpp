//===- Accesses.cpp - What threads of an emulated block may access --------===//
//
// Each access of shared memory is compared with the last ones of the same
// element: who has not synchronised since may not write there, or read what was
// written. Clocks say who has.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include <algorithm>

using namespace shardrt;

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

void BlockRunner::join(Clock &clock, const Clock &other) const {
  if (clock.empty())
    clock = other;
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

bool BlockRunner::haveObserved(int32_t first, int32_t count, int32_t who,
                               uint32_t time) const {
  for (int32_t i = first; i < first + count; ++i)
    if (i != who && lanes[i]->clock[who] < time)
      return false;
  return true;
}

int32_t BlockRunner::slotOfGroup(int32_t group) const {
  return live + mostTransfers + group;
}

std::string BlockRunner::describeOther(int32_t who) const {
  if (who < live)
    return now->cluster > 1
               ? describe(*lanes[who])
               : "thread " + std::to_string(lanes[who]->thread.thread[0]);
  if (who < slotOfGroup(0))
    return "a bulk copy";
  if (who == slotOfGroup(tensorUnit()))
    return "a product into tensor memory";
  return "a product of warpgroup " + std::to_string(who - slotOfGroup(0));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void BlockRunner::fail(Lane &lane, const std::string &text) {
  // Poison may have led here.
  if (!failed)
    error = unwritten.empty() ? text : unwritten;
  failed = true;
  lane.state = Lane::State::Done;
  // The stack is given up: nothing on it owns anything.
  suspend(lane);
}

void *BlockRunner::global(Lane &lane, void *address, int64_t bytes, bool writes,
                          const char *where) {
  auto tagged = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
  auto host = static_cast<uintptr_t>(tagged ^ SHARDRT_EMULATED_TAG);
  if (host >= knownBegin && host + bytes <= knownEnd)
    return reinterpret_cast<void *>(host);
  const char *verb = writes ? " writes " : " reads ";
  if (!(tagged & SHARDRT_EMULATED_TAG))
    fail(lane, describe(lane) + verb + "memory of the host" + lineOf(where));
  if (!memory->reaches(host, bytes))
    fail(lane, describe(lane) + verb + std::to_string(bytes) +
                   " bytes outside all device buffers" + lineOf(where));
  auto [begin, size] = *std::prev(memory->ranges.upper_bound(host));
  knownBegin = begin;
  knownEnd = begin + size;
  return reinterpret_cast<void *>(host);
}

void BlockRunner::readUnwritten(int64_t offset, const std::string &reader,
                                const char *where) {
  if (unwritten.empty())
    unwritten = "read of shared memory that nobody has written: byte " +
                std::to_string(offset) + " is read by " + reader +
                lineOf(where);
}

void BlockRunner::shared(Lane &lane, char *address, int64_t bytes, bool writes,
                         const char *where, char *begin) {
  int64_t own = address - (begin ? begin : lane.thread.shared);
  int64_t offset = offsetOf(address);
  if (own < 0 || own + bytes > now->sharedBytes)
    fail(lane, describe(lane) + (writes ? " writes " : " reads ") +
                   std::to_string(bytes) + " bytes at " + std::to_string(own) +
                   " of " + std::to_string(now->sharedBytes) +
                   " of shared memory" + lineOf(where));
  uint32_t warpEpoch = warpEpochs[lane.number / warpSize];
  // Since they last synchronised, in the block or, within a warp, there.
  auto clashes = [&](uint32_t thenEpoch, uint32_t thenWarp, int32_t who,
                     uint32_t time) {
    if (now->ordered)
      return who != lane.number && lane.clock[who] < time;
    return thenEpoch == epoch && who != lane.number &&
           (who / warpSize != lane.number / warpSize || thenWarp == warpEpoch);
  };
  auto race = [&](const char *then, int32_t who, const char *line) {
    unwritten.clear();
    fail(lane,
         std::string("race on shared memory: byte ") + std::to_string(offset) +
             " is " + (writes ? "written" : "read") + " by " + describe(lane) +
             lineOf(where) + " and " + then + " by " + describeOther(who) +
             lineOf(line) + " without a barrier between");
  };
  for (int64_t i = offset; i < offset + bytes; ++i) {
    Cell &cell = cells[i];
    if (cell.copies > 0)
      race("written, at some time to come, by a copy", cell.writer,
           cell.writeWhere);
    if (cell.isTransfer)
      fail(lane, describe(lane) + (writes ? " writes" : " reads") +
                     " over an mbarrier" + lineOf(where));
    if (clashes(cell.writeEpoch, cell.writeWarpEpoch, cell.writer,
                cell.writeTime))
      race("written", cell.writer, cell.writeWhere);
    if (writes) {
      for (size_t group = 0; group < productReads.size(); ++group) {
        int32_t who = slotOfGroup(static_cast<int32_t>(group));
        if (cell.products > 0 ||
            lane.clock[who] < productReads[group][i / pieceBytes])
          race("read", who, nullptr);
      }
      bool sameWarp = cell.reader / warpSize == lane.number / warpSize;
      if (cell.readEpoch == epoch &&
          (cell.manyWarps ||
           (sameWarp && cell.manyLanes && cell.readWarpEpoch == warpEpoch)))
        race("read", cell.reader, cell.readWhere);
      if (clashes(cell.readEpoch, cell.readWarpEpoch, cell.reader,
                  cell.readTime))
        race("read", cell.reader, cell.readWhere);
      if (now->ordered)
        cell.writeTime = lane.clock[lane.number];
      cell.writeEpoch = epoch;
      cell.writeWarpEpoch = warpEpoch;
      cell.writer = lane.number;
      cell.writeWhere = where;
      cell.isWritten = true;
      // Who comes after this write comes after what it comes after.
      cell.readEpoch = 0;
      cell.manyWarps = cell.manyLanes = false;
      continue;
    }
    if (now->checked && !cell.isWritten)
      readUnwritten(i, describe(lane), where);
    bool sameWarp = cell.reader / warpSize == lane.number / warpSize;
    bool sameEpoch = cell.readEpoch == epoch;
    cell.manyWarps = sameEpoch && (cell.manyWarps || !sameWarp);
    cell.manyLanes = sameEpoch && sameWarp && cell.readWarpEpoch == warpEpoch &&
                     (cell.manyLanes || cell.reader != lane.number);
    if (now->ordered)
      cell.readTime = lane.clock[lane.number];
    cell.readEpoch = epoch;
    cell.readWarpEpoch = warpEpoch;
    cell.reader = lane.number;
    cell.readWhere = where;
  }
}
