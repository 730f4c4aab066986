//===- Synchronisation.cpp - Barriers and warps of an emulated block ------===//

#include "Device/Emulated/Block.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace shardrt;

/// Lets a block, or all of a cluster, go on if all its threads that have not
/// ended are at one barrier.
bool BlockRunner::tryBarrier() {
  bool any = false;
  for (int32_t rank = 0; rank < now->cluster && !failed; ++rank)
    any |= tryBarrier(rank * now->threads, now->threads, /*ofCluster=*/false);
  return (!failed && tryBarrier(0, live, /*ofCluster=*/true)) || any;
}

bool BlockRunner::tryBarrier(int32_t begin, int32_t count, bool ofCluster) {
  int32_t end = begin + count;
  const Lane *first = nullptr;
  for (int32_t i = begin; i < end; ++i) {
    const Lane &lane = *lanes[i];
    if (lane.state == Lane::State::Done)
      continue;
    if (lane.state != Lane::State::AtBarrier || lane.ofCluster != ofCluster)
      return false;
    if (!first)
      first = &lane;
    if (lane.place != first->place) {
      error = "barriers diverge: " + describe(*first) + " waits" +
              lineOf(first->where) + " (barrier " +
              std::to_string(first->place) + "), " + describe(lane) +
              lineOf(lane.where) + " (barrier " + std::to_string(lane.place) +
              ")";
      failed = true;
      return false;
    }
  }
  if (!first)
    return false;
  // Who writes there from now on is ordered after the reader.
  if (!unwritten.empty()) {
    error = unwritten;
    failed = true;
    return false;
  }
  // Threads that have ended do not count on a GPU, but whoever leaves early out
  // of a loop with a barrier did not mean to.
  Clock all;
  for (int32_t i = begin; i < end; ++i)
    if (lanes[i]->state == Lane::State::AtBarrier) {
      lanes[i]->state = Lane::State::Ready;
      join(all, lanes[i]->clock);
    }
  for (int32_t i = begin; now->ordered && i < end; ++i)
    if (lanes[i]->state == Lane::State::Ready) {
      join(lanes[i]->clock, all);
      ++lanes[i]->clock[i];
    }
  ++epoch;
  return true;
}

bool BlockRunner::hasEnded(int32_t rank) const {
  if (rank < 0 || rank >= now->cluster)
    return false;
  auto first = lanes.begin() + rank * now->threads;
  return std::all_of(first, first + now->threads, [](auto &lane) {
    return lane->state == Lane::State::Done;
  });
}

char *BlockRunner::inBlock(Lane &lane, char *address, int32_t rank) {
  int64_t own = address - lane.thread.shared;
  if (rank < 0 || rank >= now->cluster || own < 0 || own >= now->sharedBytes)
    fail(lane, describe(lane) + " asks for byte " + std::to_string(own) +
                   " of block " + std::to_string(rank) + " of a cluster of " +
                   std::to_string(now->cluster) + lineOf(lane.where));
  return sharedOf(rank) + own;
}

void BlockRunner::barrier(Lane &lane, bool ofCluster, int32_t place,
                          const char *where) {
  lane.state = Lane::State::AtBarrier;
  lane.ofCluster = ofCluster;
  lane.place = place;
  lane.where = where;
  suspend(lane);
}

/// The lane of its warp that lane `me` takes a value from, as PTX defines
/// shfl.sync; false if that is out of its range.
static bool sourceOf(const Lane &lane, int32_t me, int32_t &source) {
  int32_t limit = lane.clamp & 31, segment = lane.clamp >> 8 & 31;
  int32_t by = lane.from & 31;
  int32_t most = (me & segment) | (limit & ~segment);
  switch (lane.kind) {
  case SHARDRT_SHUFFLE_UP:
    source = me - by;
    return source >= most;
  case SHARDRT_SHUFFLE_DOWN:
    source = me + by;
    return source <= most;
  case SHARDRT_SHUFFLE_BFLY:
    source = me ^ by;
    return source <= most;
  default:
    source = (me & segment) | (by & ~segment);
    return source <= most;
  }
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

float shardrt::widened(uint16_t bits, bool isBF16) {
  if (isBF16)
    return floatOf(uint32_t(bits) << 16);
  uint32_t sign = uint32_t(bits & 0x8000) << 16, fraction = bits & 0x3ff;
  int32_t exponent = bits >> 10 & 31;
  if (exponent == 31)
    return floatOf(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return floatOf(sign | uint32_t(exponent + 112) << 23 | fraction << 13);
  float small = static_cast<float>(fraction) / 16777216.0f; // 2^-24
  return sign ? -small : small;
}

float shardrt::asTF32(uint32_t bits) { return floatOf(bits & ~0x1fffu); }

static int32_t sizeOfSync(const Lane &lane) {
  return lane.sync == Lane::Sync::Product ? groupSize : warpSize;
}

/// What `lane`, number lane.number - first of its warp, gets from a
/// synchronisation that all have reached.
bool BlockRunner::carryOut(Lane &lane, int32_t first, int32_t size) {
  int32_t me = lane.number - first;
  switch (lane.sync) {
  case Lane::Sync::Barrier:
  case Lane::Sync::Product:
    return true;
  case Lane::Sync::TensorMemory:
    if (lane.left == lanes[first]->left && lane.value == lanes[first]->value)
      return true;
    fail(lane, describe(lane) + " and " + describe(*lanes[first]) +
                   " do not mean the same tensor memory" + lineOf(lane.where));
    return false;
  case Lane::Sync::Shuffle: {
    int32_t source = 0;
    bool valid = sourceOf(lane, me, source);
    if (valid && (source < 0 || source >= size || !(lane.mask >> source & 1))) {
      fail(lane, describe(lane) + " takes the value of lane " +
                     std::to_string(source) + ", which does not take part" +
                     lineOf(lane.where));
      return false;
    }
    if (!valid)
      source = me;
    lane.result = static_cast<uint32_t>(lanes[first + source]->value) |
                  int64_t(valid) << 32;
    return true;
  }
  case Lane::Sync::Vote: {
    uint32_t yes = 0;
    for (int32_t i = 0; i < size; ++i)
      if (lane.mask >> i & 1)
        yes |= uint32_t(lanes[first + i]->value != 0) << i;
    lane.result = lane.kind == SHARDRT_VOTE_BALLOT ? int64_t(yes)
                  : lane.kind == SHARDRT_VOTE_ANY  ? yes != 0
                  : lane.kind == SHARDRT_VOTE_ALL  ? yes == lane.mask
                                                   : yes == lane.mask || !yes;
    return true;
  }
  case Lane::Sync::LoadMatrix:
    for (int32_t matrix = 0; matrix < lane.value; ++matrix) {
      uint16_t pair[2];
      for (int32_t i = 0; i < 2; ++i) {
        int32_t row = me / 4, column = me % 4 * 2 + i;
        if (lane.kind)
          std::swap(row, column);
        std::memcpy(&pair[i], lanes[first + 8 * matrix + row]->row + 2 * column,
                    2);
      }
      lane.out[matrix] =
          static_cast<int32_t>(pair[0] | uint32_t(pair[1]) << 16);
    }
    return true;
  case Lane::Sync::Multiply: {
    bool isBF16 = lane.kind == SHARDRT_MMA_BF16,
         isTF32 = lane.kind == SHARDRT_MMA_TF32;
    if (lane.kind == SHARDRT_MMA_F64) {
      // A lane has column l % 4 of row l / 4 (of the right matrix row l % 4 of
      // column l / 4), and two neighbours of the sums.
      auto number = [](const int32_t *words) {
        double value;
        std::memcpy(&value, words, sizeof(value));
        return value;
      };
      for (int32_t i = 0; i < 2; ++i) {
        int32_t row = me / 4, column = me % 4 * 2 + i;
        double sum = number(lane.words + 6 + 2 * i);
        for (int32_t k = 0; k < 4; ++k)
          sum = std::fma(number(lanes[first + row * 4 + k]->words),
                         number(lanes[first + column * 4 + k]->words + 4), sum);
        std::memcpy(lane.out + 2 * i, &sum, sizeof(sum));
      }
      return true;
    }
    // Fragments as PTX lays them out: a lane has rows l / 4 and 8 further down,
    // and of these (of columns, on the right) the pair l % 4 and 8 further on.
    for (int32_t i = 0; i < 4; ++i) {
      int32_t row = me / 4 + i / 2 * 8, column = me % 4 * 2 + i % 2;
      float sum = floatOf(static_cast<uint32_t>(lane.words[6 + i]));
      // Of tf32 it has one of each four.
      for (int32_t k = 0; isTF32 && k < 8; ++k) {
        const int32_t *left = lanes[first + row % 8 * 4 + k % 4]->words;
        const int32_t *right = lanes[first + column * 4 + k % 4]->words + 4;
        sum += asTF32(static_cast<uint32_t>(left[row / 8 + k / 4 * 2])) *
               asTF32(static_cast<uint32_t>(right[k / 4]));
      }
      for (int32_t k = 0; !isTF32 && k < 16; ++k) {
        int32_t half = k / 8, pair = k % 8 / 2, part = k % 2 * 16;
        const int32_t *left = lanes[first + row % 8 * 4 + pair]->words;
        const int32_t *right = lanes[first + column * 4 + pair]->words + 4;
        uint32_t a = static_cast<uint32_t>(left[row / 8 + 2 * half]) >> part;
        uint32_t b = static_cast<uint32_t>(right[half]) >> part;
        sum += widened(static_cast<uint16_t>(a), isBF16) *
               widened(static_cast<uint16_t>(b), isBF16);
      }
      std::memcpy(&lane.out[i], &sum, sizeof(sum));
    }
    return true;
  }
  }
  return true;
}

/// Carries out the synchronisation of a warp's lanes once the last has arrived.
bool BlockRunner::tryWarp(Lane &last) {
  int32_t most = sizeOfSync(last);
  int32_t first = last.number / most * most;
  int32_t size = std::min(most, live - first);
  auto takesPart = [&](int32_t i) { return last.mask >> (i % warpSize) & 1; };
  for (int32_t i = 0; i < size; ++i) {
    if (!takesPart(i))
      continue;
    Lane &lane = *lanes[first + i];
    if (lane.state == Lane::State::Done) {
      fail(last, describe(last) + " waits" + lineOf(last.where) + " for " +
                     describe(lane) + ": it has ended");
      return false;
    }
    if (lane.state != Lane::State::AtWarp)
      return false;
    // Another warp of four may still have something of its own to do.
    if (lane.sync != last.sync &&
        lane.number / warpSize != last.number / warpSize)
      return false;
    if (lane.place != last.place || lane.mask != last.mask) {
      fail(last, "lanes of a warp meet in different places: " + describe(last) +
                     lineOf(last.where) + ", " + describe(lane) +
                     lineOf(lane.where));
      return false;
    }
  }
  for (int32_t i = 0; i < size; ++i)
    if (takesPart(i) && !carryOut(*lanes[first + i], first, size))
      return false;
  // Four warps that multiply together are not ordered by it.
  if (last.sync == Lane::Sync::Product)
    beginProduct(first);
  bool tells = most == warpSize && last.sync != Lane::Sync::TensorMemory;
  Clock all;
  for (int32_t i = 0; i < size; ++i)
    if (takesPart(i)) {
      lanes[first + i]->state = Lane::State::Ready;
      if (now->ordered && tells)
        join(all, lanes[first + i]->clock);
    }
  if (!tells)
    return true;
  for (int32_t i = 0; now->ordered && i < size; ++i)
    if (takesPart(i)) {
      join(lanes[first + i]->clock, all);
      ++lanes[first + i]->clock[first + i];
    }
  ++warpEpochs[first / warpSize];
  return true;
}

int64_t BlockRunner::syncWarp(Lane &lane) {
  int32_t first = lane.number / warpSize * warpSize;
  int32_t size = std::min(warpSize, live - first);
  uint32_t inBlock = size == 32 ? ~0u : (1u << size) - 1;
  lane.mask &= inBlock;
  if (lane.sync == Lane::Sync::Product && now->threads % groupSize != 0)
    fail(lane,
         describe(lane) + " is in a block of " + std::to_string(now->threads) +
             " threads, but products take groups of 128" + lineOf(lane.where));
  if (size < warpSize && lane.sync >= Lane::Sync::LoadMatrix)
    fail(lane, describe(lane) + " is in a warp of " + std::to_string(size) +
                   " lanes, but matrices take all 32" + lineOf(lane.where));
  if (!(lane.mask >> (lane.number - first) & 1))
    fail(lane, describe(lane) + " is not in the mask of lanes that meet" +
                   lineOf(lane.where));
  lane.state = Lane::State::AtWarp;
  tryWarp(lane);
  if (lane.state == Lane::State::AtWarp)
    suspend(lane);
  return lane.result;
}

std::string BlockRunner::describeStuck() const {
  std::string text = "threads wait for one another for ever:";
  int32_t shown = 0;
  for (int32_t i = 0; i < live && shown < 4; ++i) {
    const Lane &lane = *lanes[i];
    if (lane.state == Lane::State::Done)
      continue;
    text +=
        (shown++ ? "; " : " ") + describe(lane) +
        (lane.state == Lane::State::AtBarrier
             ? lane.ofCluster ? " at a barrier of its cluster" : " at a barrier"
         : lane.state == Lane::State::AtTransfer ? " at an mbarrier"
         : lane.state == Lane::State::Ready
             ? " for a flag in device memory that nobody sets"
             : " at a synchronisation of its warp") +
        lineOf(lane.where);
    if (lane.state == Lane::State::AtTransfer)
      if (auto found = transfers.find(lane.transfer); found != transfers.end())
        text += " (phase " + std::to_string(found->second.phase) + " lacks " +
                std::to_string(found->second.pending) + " arrivals and " +
                std::to_string(found->second.bytes) + " bytes)";
    if (lane.state != Lane::State::AtWarp || shown > 1)
      continue;
    int32_t begin = lane.number / warpSize * warpSize;
    for (int32_t other = begin; other < std::min(live, begin + warpSize);
         ++other)
      if (lane.mask >> (other - begin) & 1 &&
          lanes[other]->state != Lane::State::AtWarp) {
        text += ", which thread " +
                std::to_string(lanes[other]->thread.thread[0]) +
                " does not reach";
        if (lanes[other]->state == Lane::State::Done)
          text += ": it has ended";
        break;
      }
  }
  return text;
}
