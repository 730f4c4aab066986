//===- Block.cpp - The threads of one emulated block ----------------------===//

#include "Device/Emulated/Block.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace shardrt;

static constexpr int32_t warpSize = 32;
static constexpr int64_t sharedAlignment = 1024;

bool Allocations::contains(uintptr_t begin, int64_t bytes) const {
  auto after = ranges.upper_bound(begin);
  if (after == ranges.begin())
    return false;
  auto [from, size] = *std::prev(after);
  return begin + static_cast<uint64_t>(bytes) <=
         from + static_cast<uint64_t>(size);
}

bool Allocations::reaches(uintptr_t begin, int64_t bytes) const {
  if (contains(begin, bytes))
    return true;
  for (const Allocations *peer : peers)
    if (peer->containsForOthers(begin, bytes))
      return true;
  return false;
}

BlockRunner::~BlockRunner() = default;

uint64_t BlockRunner::next() {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

std::string BlockRunner::describe(const Lane &lane) const {
  return "thread " + std::to_string(lane.thread.thread[0]) + " of block " +
         std::to_string(lane.thread.block[0]);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void BlockRunner::prepare(int32_t threads, int64_t sharedBytes) {
  while (static_cast<int32_t>(lanes.size()) < threads) {
    auto lane = std::make_unique<Lane>();
    lane->runner = this;
    lane->number = static_cast<int32_t>(lanes.size());
    lanes.push_back(std::move(lane));
  }
  live = threads;
  if (static_cast<int64_t>(sharedMemory.size()) < sharedBytes + sharedAlignment)
    sharedMemory.resize(sharedBytes + sharedAlignment);
  if (static_cast<int64_t>(cells.size()) < sharedBytes)
    cells.resize(sharedBytes);
}

/// The block's memory, aligned as swizzled tiles want it.
static char *alignedData(std::vector<char> &memory) {
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (-address & (sharedAlignment - 1));
}

bool BlockRunner::run(const Launch &launch, const Allocations &allocations) {
  now = &launch;
  memory = &allocations;
  failed = false;
  error.clear();
  knownBegin = knownEnd = 0;
  int32_t together = launch.cluster;
  if (together < 1 || together > mostOfCluster ||
      launch.grid[0] % together != 0) {
    error = "a grid of " + std::to_string(launch.grid[0]) +
            " blocks cannot be of clusters of " + std::to_string(together);
    return false;
  }
  if (together > 1 && (launch.threads % warpSize != 0 || launch.hasFlags)) {
    error = "clusters are emulated of whole warps that wait for no flags";
    return false;
  }
  sharedStride = launch.sharedBytes;
  if (together > 1)
    sharedStride = (sharedStride + sharedAlignment - 1) / sharedAlignment *
                   sharedAlignment;
  prepare(launch.threads * together, sharedStride * together);
  base = alignedData(sharedMemory);
  for (int32_t i = 0; i < live; ++i) {
    shardrt_emulated_thread &thread = lanes[i]->thread;
    thread = {};
    thread.thread[0] = i % launch.threads;
    thread.rank = i / launch.threads;
    thread.block_dim[0] = launch.threads;
    thread.block_dim[1] = thread.block_dim[2] = 1;
    std::copy(launch.grid, launch.grid + 3, thread.grid_dim);
    thread.shared = sharedOf(thread.rank);
    thread.owner = lanes[i].get();
  }
  time = 0;
  written.clear();
  published.clear();
  bool done = runBlocks();
  for (const std::unique_ptr<Lane> &lane : lanes)
    lane->fiber.end();
  return done;
}

bool BlockRunner::runBlocks() {
  const Launch &launch = *now;
  int32_t together = launch.cluster;
  // In any order: none may count on another.
  int64_t count =
      int64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / together;
  std::vector<int64_t> order;
  if (schedule == Schedule::Random) {
    order.resize(count);
    for (int64_t i = 0; i < count; ++i) {
      order[i] = i;
      std::swap(order[i], order[next() % (i + 1)]);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = schedule == Schedule::Random     ? order[i]
                     : schedule == Schedule::RunAhead ? count - 1 - i
                                                      : i;
    block = static_cast<int32_t>(number);
    for (int32_t lane = 0; lane < live; ++lane) {
      int32_t *at = lanes[lane]->thread.block;
      int64_t own = number * together + rankOf(*lanes[lane]);
      at[0] = static_cast<int32_t>(own % launch.grid[0]);
      at[1] = static_cast<int32_t>(own / launch.grid[0] % launch.grid[1]);
      at[2] = static_cast<int32_t>(own / launch.grid[0] / launch.grid[1]);
    }
    if (!(launch.hasBarriers ? runFibers() : runPlain()))
      return false;
  }
  return true;
}

bool BlockRunner::runPlain() {
  for (int32_t i = 0; i < live; ++i)
    now->kernel(&lanes[i]->thread, now->arguments);
  return true;
}

/// What a fiber does.
static void beginLane(void *argument) {
  auto &lane = *static_cast<Lane *>(argument);
  lane.runner->runKernel(lane);
}

void BlockRunner::runKernel(Lane &lane) {
  now->kernel(&lane.thread, now->arguments);
  lane.state = Lane::State::Done;
  switchContext(lane.fiber.context, scheduler);
}

void BlockRunner::resume(Lane &lane) {
  switchContext(scheduler, lane.fiber.context);
}

void BlockRunner::suspend(Lane &lane) {
  switchContext(lane.fiber.context, scheduler);
}

bool BlockRunner::runFibers() {
  // What was never written is no number.
  std::memset(sharedMemory.data(), 0xff, sharedMemory.size());
  std::fill(cells.begin(), cells.end(), Cell{});
  unwritten.clear();
  epoch = 1;
  warpEpochs.assign((live + warpSize - 1) / warpSize, 1);
  transfers.clear();
  warpgroups.clear();
  productReads.clear();
  tensorCells.clear();
  tensorWords.clear();
  tensorAllocated.clear();
  tensorAllocations.clear();
  tensorRelinquished = {};
  tensorUsed = tensorOfPairs = false;
  tensorBegun = 0;
  tensorProducts.clear();
  tensorCommits.clear();
  acquired.clear();
  if (now->ordered) {
    warpgroups.resize((live + groupSize - 1) / groupSize);
    productReads.assign(
        warpgroups.size() + 1,
        std::vector<uint32_t>((sharedStride * now->cluster + pieceBytes - 1) /
                              pieceBytes));
  }
  for (int32_t i = 0; i < live; ++i) {
    lanes[i]->state = Lane::State::Ready;
    lanes[i]->copies.clear();
    lanes[i]->groups = 0;
    lanes[i]->accumulators.clear();
    lanes[i]->productGroups = 0;
    lanes[i]->fenced = false;
    lanes[i]->asyncFence = 0;
    lanes[i]->tensorClock.clear();
    lanes[i]->tensorFence = lanes[i]->tensorProduct = 0;
    lanes[i]->tensorLoads.clear();
    lanes[i]->tensorStores.clear();
    lanes[i]->polls = 0;
    lanes[i]->awaited = 0;
    lanes[i]->noticed.clear();
    if (now->ordered) {
      lanes[i]->clock.assign(clockSize(), 0);
      lanes[i]->clock[i] = 1;
    }
    if (!lanes[i]->fiber.start(&beginLane, lanes[i].get())) {
      error = "no memory for the stacks of a block's threads";
      return false;
    }
  }
  int32_t warps = static_cast<int32_t>(warpEpochs.size());
  std::vector<int32_t> order(live);
  for (int32_t i = 0; i < live; ++i)
    order[i] = i;
  while (!failed) {
    bool moved = false;
    auto advance = [&](int32_t i) {
      if (failed || lanes[i]->state != Lane::State::Ready)
        return false;
      resume(*lanes[i]);
      // Whoever finds a flag zero again and again does not.
      if (lanes[i]->state != Lane::State::Ready)
        lanes[i]->polls = 0;
      bool did = lanes[i]->polls <= 2;
      moved |= did;
      return did;
    };
    switch (schedule) {
    case Schedule::RoundRobin:
      for (int32_t i = 0; i < live; ++i)
        advance(i);
      break;
    case Schedule::RunAhead:
      for (int32_t w = 0; w < warps; ++w)
        for (bool again = true; again && !failed;) {
          again = false;
          for (int32_t i = w * warpSize; i < std::min(live, (w + 1) * warpSize);
               ++i)
            again |= advance(i);
        }
      break;
    case Schedule::Random:
      for (int32_t i = live; i > 1; --i)
        std::swap(order[i - 1], order[next() % i]);
      for (int32_t i : order)
        advance(i);
      break;
    }
    if (failed)
      continue;
    if (schedule == Schedule::Random && next() % 4 == 0)
      moved |= land();
    if (moved || tryBarrier() || land())
      continue;
    bool done =
        std::all_of(lanes.begin(), lanes.begin() + live, [](auto &lane) {
          return lane->state == Lane::State::Done;
        });
    if (!failed && !unwritten.empty()) {
      error = unwritten;
      return false;
    }
    if (done && !failed) {
      for (const auto &[offset, transfer] : transfers)
        if (!transfer.copies.empty()) {
          error = "a bulk copy is still on its way where its block ends";
          return false;
        }
      if (!tensorProducts.empty()) {
        error = "a product into tensor memory that nobody waits for is still "
                "under way where its block ends";
        return false;
      }
      if (!tensorAllocations.empty()) {
        error = "tensor memory is still allocated where its block ends: " +
                std::to_string(tensorAllocations.begin()->second) + " columns";
        return false;
      }
      return true;
    }
    if (!failed) {
      error = describeStuck();
      return false;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

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
