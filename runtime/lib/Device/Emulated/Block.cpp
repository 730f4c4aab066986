//===- Block.cpp - The threads of one emulated block ----------------------===//

#include "Device/Emulated/Block.h"
#include <algorithm>
#include <cstring>

using namespace shardrt;

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

/// Forgets what the block before did with memory.
void BlockRunner::forgetBlock() {
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
}

bool BlockRunner::beginLanes() {
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
  return true;
}

/// Lets lane `i` run until it waits. False where it did not get on.
bool BlockRunner::advance(int32_t i) {
  if (failed || lanes[i]->state != Lane::State::Ready)
    return false;
  resume(*lanes[i]);
  // Whoever finds a flag zero again and again does not.
  if (lanes[i]->state != Lane::State::Ready)
    lanes[i]->polls = 0;
  return lanes[i]->polls <= 2;
}

/// Lets each lane run, as the schedule says; `order` has all of them. False
/// where none got on.
bool BlockRunner::runRound(std::vector<int32_t> &order) {
  bool moved = false;
  switch (schedule) {
  case Schedule::RoundRobin:
    for (int32_t i = 0; i < live; ++i)
      moved |= advance(i);
    break;
  case Schedule::RunAhead:
    for (int32_t w = 0; w < static_cast<int32_t>(warpEpochs.size()); ++w)
      for (bool again = true; again && !failed;) {
        again = false;
        for (int32_t i = w * warpSize; i < std::min(live, (w + 1) * warpSize);
             ++i)
          again |= advance(i);
        moved |= again;
      }
    break;
  case Schedule::Random:
    for (int32_t i = live; i > 1; --i)
      std::swap(order[i - 1], order[next() % i]);
    for (int32_t i : order)
      moved |= advance(i);
    break;
  }
  return moved;
}

/// Whether nothing is under way where all lanes have ended; else an error.
bool BlockRunner::hasEndedWell() {
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

bool BlockRunner::runFibers() {
  forgetBlock();
  if (!beginLanes())
    return false;
  std::vector<int32_t> order(live);
  for (int32_t i = 0; i < live; ++i)
    order[i] = i;
  while (!failed) {
    bool moved = runRound(order);
    if (failed)
      break;
    if (schedule == Schedule::Random && next() % 4 == 0)
      moved |= land();
    if (moved || tryBarrier() || land())
      continue;
    if (failed)
      break;
    if (!unwritten.empty()) {
      error = unwritten;
      return false;
    }
    if (std::all_of(lanes.begin(), lanes.begin() + live, [](auto &lane) {
          return lane->state == Lane::State::Done;
        }))
      return hasEndedWell();
    error = describeStuck();
    return false;
  }
  return false;
}
