//===- TensorMemory.cpp - Products that one thread begins -----------------===//
//
// tcgen05.mma reads shared memory, and writes its sums to tensor memory, at any
// time until an mbarrier that it was committed to has turned; here it does all
// of it at the last, when nobody can go on otherwise (or, in a random schedule,
// by chance). Loads of tensor memory take what they find when they are waited
// for. Who knows of another's use of tensor memory has heard of it, and both
// have fenced: the one before telling, the other after being told. Products
// alone need no fence before: a commit is one. Products that one thread begins
// are done in their order, as NVIDIA's own kernels take it (PTX says so of
// those that add to the same sums). Products of a pair of blocks (cta_group::2)
// have rows of both, and read half of the columns in each.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include "Device/Emulated/Matrix.h"
#include <algorithm>
#include <cstring>
#include <limits>

using namespace shardrt;

static constexpr int32_t warpLanes = 32;
/// Columns that a product reads of a left matrix in tensor memory: 32 bytes.
static constexpr int32_t factorColumns = 8;

/// Lane and column of an address of tensor memory.
static int32_t rowOf(int64_t address) {
  return static_cast<int32_t>(address >> 16 & 0xffff);
}
static int32_t columnOf(int64_t address) {
  return static_cast<int32_t>(address & 0xffff);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

void BlockRunner::checkTensorGroup(Lane &lane, bool ofPair, const char *where) {
  if (ofPair && now->cluster != 2)
    fail(lane, describe(lane) +
                   " uses tcgen05 of cta_group::2, but its block is alone" +
                   lineOf(where));
  if (tensorUsed && ofPair != tensorOfPairs)
    fail(lane, describe(lane) +
                   " uses tcgen05 of cta_group::" + (ofPair ? "2" : "1") +
                   ", others of the other one" + lineOf(where));
  if (!ofPair && now->cluster > 1)
    fail(lane, describe(lane) +
                   " uses tcgen05 of cta_group::1 in a cluster, which is not "
                   "emulated" +
                   lineOf(where));
  tensorUsed = true;
  tensorOfPairs = ofPair;
}

void BlockRunner::allocateTensor(Lane &lane, char *to, int32_t columns,
                                 bool ofPair) {
  checkTensorGroup(lane, ofPair, lane.where);
  int32_t rank = rankOf(lane), firstRow = rank * tensorLanes;
  if (columns < 32 || columns > tensorColumns || (columns & (columns - 1)))
    fail(lane, describe(lane) + " allocates " + std::to_string(columns) +
                   " columns of tensor memory, expected a power of two from "
                   "32 to 512" +
                   lineOf(lane.where));
  if (tensorRelinquished[rank])
    fail(lane, describe(lane) +
                   " allocates tensor memory behind "
                   "tcgen05.relinquish_alloc_permit" +
                   lineOf(lane.where));
  if (tensorCells.empty()) {
    tensorCells.resize(now->cluster * tensorLanes * tensorColumns);
    tensorWords.resize(now->cluster * tensorLanes * tensorColumns);
    tensorAllocated.resize(now->cluster * tensorColumns);
  }
  // From the end on: who takes an address for granted is wrong.
  int32_t first = tensorColumns - columns;
  auto own = tensorAllocated.begin() + rank * tensorColumns;
  auto isFree = [&] {
    return std::none_of(own + first, own + first + columns,
                        [](bool taken) { return taken; });
  };
  while (first >= 0 && !isFree())
    first -= columns;
  if (first < 0)
    fail(lane, describe(lane) + " waits for ever for " +
                   std::to_string(columns) + " columns of tensor memory" +
                   lineOf(lane.where));
  std::fill_n(own + first, columns, true);
  tensorAllocations[rank * tensorColumns + first] = columns;
  for (int32_t row = firstRow; row < firstRow + tensorLanes; ++row)
    for (int32_t column = first; column < first + columns; ++column) {
      tensorCell(row, column) = TensorCell();
      tensorWords[row * tensorColumns + column] =
          std::numeric_limits<float>::quiet_NaN();
    }
  shared(lane, to, 4, true, lane.where);
  std::memcpy(to, &first, 4);
}

void BlockRunner::releaseTensor(Lane &lane, int64_t address, int32_t columns,
                                bool ofPair) {
  checkTensorGroup(lane, ofPair, lane.where);
  int32_t first = columnOf(address), rank = rankOf(lane);
  auto found = tensorAllocations.find(rank * tensorColumns + first);
  if (found == tensorAllocations.end() || found->second != columns ||
      rowOf(address) != 0)
    fail(lane, describe(lane) + " gives back " + std::to_string(columns) +
                   " columns of tensor memory from " + std::to_string(first) +
                   " on, which nobody allocated" + lineOf(lane.where));
  for (int32_t row = 0; row < tensorLanes; ++row)
    for (int32_t column = first; column < first + columns; ++column)
      if (std::string race =
              tensorRace(lane, tensorCell(rank * tensorLanes + row, column),
                         /*writes=*/true);
          !race.empty())
        fail(lane, describe(lane) + " gives back tensor memory" +
                       lineOf(lane.where) + ", lane " + std::to_string(row) +
                       " column " + std::to_string(column) + ": " + race);
  std::fill_n(tensorAllocated.begin() + rank * tensorColumns + first, columns,
              false);
  tensorAllocations.erase(found);
}

void BlockRunner::relinquishTensor(Lane &lane) {
  tensorRelinquished[rankOf(lane)] = true;
}

void BlockRunner::checkTensorColumns(Lane &lane, int32_t rank, int64_t address,
                                     int32_t count, const std::string &what,
                                     const char *where) {
  int32_t first = columnOf(address);
  for (int32_t column = first; column < first + count; ++column)
    if (column >= tensorColumns || tensorAllocated.empty() ||
        !tensorAllocated[rank * tensorColumns + column])
      fail(lane, describe(lane) + what + "column " + std::to_string(column) +
                     " of tensor memory, which is not allocated" +
                     lineOf(where));
}

//===----------------------------------------------------------------------===//
// Who knows of what
//===----------------------------------------------------------------------===//

void BlockRunner::tensorFence(Lane &lane, bool after) {
  if (after)
    lane.tensorClock = lane.clock;
  else
    // What it does from now on is later.
    lane.tensorFence = lane.clock[lane.number]++;
}

std::string BlockRunner::tensorRace(const Lane &lane, const TensorCell &cell,
                                    bool writes) const {
  auto heard = [&](int32_t who, uint32_t time) -> std::string {
    if (lane.clock[who] < time)
      return "without an mbarrier or barrier between";
    if (lane.tensorClock.empty() || lane.tensorClock[who] < time)
      return "without tcgen05.fence::after_thread_sync behind the barrier";
    if (who < live && lanes[who]->tensorFence < time)
      return "without tcgen05.fence::before_thread_sync before the barrier";
    return {};
  };
  if (cell.product > 0)
    if (std::string why = heard(slotOfGroup(tensorUnit()), cell.product);
        !why.empty())
      return "it is the sum of a product that thread " +
             std::to_string(cell.issuer) + " begins, " + why;
  auto other = [&](int32_t who, uint32_t time, int32_t onTheirWay,
                   const char *verb) -> std::string {
    if (onTheirWay > 0)
      return "thread " + std::to_string(who) + verb +
             "it, without tcgen05.wait between";
    if (time == 0 || who == lane.number)
      return {};
    std::string why = heard(who, time);
    return why.empty() ? why
                       : "thread " + std::to_string(who) + verb + "it, " + why;
  };
  if (std::string why =
          other(cell.writer, cell.writeTime, cell.writes, " writes ");
      !why.empty())
    return why;
  if (!writes)
    return {};
  if (cell.factorOf > 0)
    if (std::string why = heard(slotOfGroup(tensorUnit()), cell.factorOf);
        !why.empty())
      return "a product that thread " + std::to_string(cell.multiplier) +
             " begins reads it, " + why;
  return other(cell.reader, cell.readTime, cell.reads, " reads ");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Columns that an instruction descriptor says.
static int32_t columnsOf(int32_t instruction) {
  return (instruction >> 17 & 63) * 8;
}
static bool hasLines(int32_t instruction, bool ofLeft) {
  return instruction >> (ofLeft ? 15 : 16) & 1;
}

void BlockRunner::beginTensorProduct(Lane &lane, int64_t sums, int64_t left,
                                     int64_t right, int32_t instruction,
                                     int32_t config, const char *where) {
  auto refuse = [&](const std::string &why) {
    fail(lane, "product into tensor memory of " + describe(lane) +
                   lineOf(where) + ": " + why);
  };
  bool isTF32 = config & SHARDRT_TENSOR_TF32;
  bool ofPair = config & SHARDRT_TENSOR_PAIR;
  checkTensorGroup(lane, ofPair, where);
  int32_t blocks = ofPair ? 2 : 1;
  if (ofPair && rankOf(lane) != 0)
    refuse("it is of a pair whose first block is to begin it");
  for (int32_t rank = 0; rank < blocks; ++rank)
    if (hasEnded(rank))
      refuse("block " + std::to_string(rank) + " of its pair has ended");
  int32_t rows = (instruction >> 24 & 31) * 16,
          columns = columnsOf(instruction);
  int32_t leftKind = instruction >> 7 & 7, rightKind = instruction >> 10 & 7;
  // What is neither a type, a direction nor a size must be 0.
  constexpr uint32_t known =
      0x1f | 3u << 4 | 63u << 7 | 3u << 15 | 63u << 17 | 31u << 24;
  if (static_cast<uint32_t>(instruction) & ~known || instruction & 0xf ||
      (instruction >> 4 & 3) != 1 || leftKind != rightKind ||
      (isTF32 ? leftKind != 2 : leftKind > 1))
    refuse("its instruction descriptor is not of f16, bf16 or tf32, as its "
           "kind is, with f32 sums");
  if (rows != blocks * tensorLanes || columns < 16 * blocks || columns > 256 ||
      columns % (16 * blocks))
    refuse("it is of " + std::to_string(rows) + " rows and " +
           std::to_string(columns) + " columns, expected " +
           std::to_string(blocks * tensorLanes) + ", and a multiple of " +
           std::to_string(16 * blocks) + " up to 256");
  bool lines[] = {hasLines(instruction, true), hasLines(instruction, false)};
  if (isTF32 && (lines[0] || lines[1]))
    refuse("matrices of tf32 stand along the depth");
  bool leftIsHere = config & SHARDRT_TENSOR_LEFT;
  for (int64_t descriptor : {leftIsHere ? right : left, right})
    if (static_cast<uint64_t>(descriptor) >> 61 != 2 ||
        (descriptor >> 46 & 7) != 1 || (descriptor >> 49 & 7) != 0 ||
        descriptor >> 52 & 1)
      refuse("a descriptor is not of rows of 128 swizzled bytes, or not one of "
             "tcgen05");
  if (rowOf(sums) != 0)
    refuse("its sums begin in lane " + std::to_string(rowOf(sums)) +
           " of tensor memory");
  for (int32_t rank = 0; rank < blocks; ++rank)
    checkTensorColumns(lane, rank, sums, columns, " adds to ", where);

  TensorProduct product;
  product.block = rankOf(lane);
  product.number = ++tensorBegun;
  product.column = columnOf(sums);
  product.left = left;
  product.right = right;
  product.instruction = instruction;
  product.config = config;
  bool adds = config & tensorAdds;
  if (leftIsHere)
    noteFactor(lane, left, rows, product.number, where, refuse);
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t i = 0; i < columns; ++i) {
      TensorCell &cell = tensorCell(row, product.column + i);
      TensorCell seen = cell;
      // A thread's products are done in their order.
      if (cell.issuer == lane.number)
        seen.product = 0;
      if (cell.multiplier == lane.number)
        seen.factorOf = 0;
      std::string why = tensorRace(lane, seen, /*writes=*/true);
      if (why.empty() && adds && !cell.isWritten)
        why = "it adds to what nobody has written";
      if (!why.empty())
        refuse("lane " + std::to_string(row) + " column " +
               std::to_string(product.column + i) +
               " of tensor memory: " + why);
      cell.product = product.number;
      cell.issuer = lane.number;
      cell.isWritten = true;
    }
  int64_t bytes = isTF32 ? 4 : 2;
  // Each block has its own rows, and a part of the columns, at one place.
  for (int32_t rank = 0; rank < blocks; ++rank)
    for (bool isLeft : {true, false}) {
      if (isLeft && leftIsHere)
        continue;
      Matrix matrix(isLeft ? left : right, lines[isLeft ? 0 : 1], bytes);
      if (int64_t outside = matrix.pieces(
              lane.thread.shared, (isLeft ? rows : columns) / blocks,
              now->sharedBytes, product.reads, rank * sharedStride);
          outside >= 0)
        refuse("it reads " + std::to_string(outside) + " of " +
               std::to_string(now->sharedBytes) + " bytes of shared memory");
    }
  if (config & SHARDRT_TENSOR_CHECK)
    noteReads(product.reads, lane.number, 1,
              "a product into tensor memory of " + describe(lane), where,
              refuse);
  lane.tensorProduct = product.number;
  tensorProducts.push_back(std::move(product));
}

std::vector<float> BlockRunner::readFactor(int32_t column, int32_t rows,
                                           int64_t bytes, bool isBF16) const {
  std::vector<float> values;
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t i = 0; i < factorColumns; ++i) {
      uint32_t word;
      std::memcpy(&word, &tensorWords[row * tensorColumns + column + i], 4);
      if (bytes == 4) {
        values.push_back(asTF32(word));
        continue;
      }
      values.push_back(widened(static_cast<uint16_t>(word), isBF16));
      values.push_back(widened(static_cast<uint16_t>(word >> 16), isBF16));
    }
  return values;
}

void BlockRunner::noteFactor(
    Lane &lane, int64_t address, int32_t rows, uint32_t product,
    const char *where, const std::function<void(const std::string &)> &refuse) {
  if (rowOf(address) != 0)
    refuse("its left matrix begins in lane " + std::to_string(rowOf(address)) +
           " of tensor memory");
  for (int32_t rank = 0; rank < rows / tensorLanes; ++rank)
    checkTensorColumns(lane, rank, address, factorColumns, " multiplies ",
                       where);
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t i = 0; i < factorColumns; ++i) {
      int32_t column = columnOf(address) + i;
      TensorCell &cell = tensorCell(row, column);
      std::string why = tensorRace(lane, cell, /*writes=*/false);
      if (why.empty() && !cell.isWritten)
        why = "nobody has written it";
      if (!why.empty())
        refuse("it reads lane " + std::to_string(row) + " column " +
               std::to_string(column) + " of tensor memory: " + why);
      cell.factorOf = product;
      cell.multiplier = lane.number;
    }
}

void BlockRunner::carryOut(const TensorProduct &product) {
  bool isTF32 = product.config & SHARDRT_TENSOR_TF32;
  bool isBF16 = (product.instruction >> 7 & 7) == 1;
  bool adds = product.config & tensorAdds;
  int64_t bytes = isTF32 ? 4 : 2;
  int32_t depths = isTF32 ? 8 : 16, columns = columnsOf(product.instruction);
  int32_t blocks = product.config & SHARDRT_TENSOR_PAIR ? 2 : 1;
  const char *own = sharedOf(product.block);
  bool leftIsHere = product.config & SHARDRT_TENSOR_LEFT;
  std::vector<float> left, byLine;
  if (leftIsHere)
    left =
        readFactor(columnOf(product.left), blocks * tensorLanes, bytes, isBF16);
  for (int32_t rank = 0; rank < blocks; ++rank)
    for (bool isLeft : {true, false}) {
      if (isLeft && leftIsHere)
        continue;
      std::vector<float> part =
          Matrix(isLeft ? product.left : product.right,
                 hasLines(product.instruction, isLeft), bytes)
              .read(own, isLeft ? tensorLanes : columns / blocks, depths,
                    isBF16, rank * sharedStride);
      std::vector<float> &all = isLeft ? left : byLine;
      all.insert(all.end(), part.begin(), part.end());
    }
  std::vector<float> right(byLine.size());
  for (int32_t j = 0; j < columns; ++j)
    for (int32_t k = 0; k < depths; ++k)
      right[k * columns + j] = byLine[j * depths + k];
  for (int32_t row = 0; row < blocks * tensorLanes; ++row) {
    float *sums = &tensorWords[row * tensorColumns + product.column];
    if (!adds)
      std::fill_n(sums, columns, 0.0f);
    for (int32_t k = 0; k < depths; ++k) {
      float factor = left[row * depths + k];
      const float *others = &right[k * columns];
      for (int32_t j = 0; j < columns; ++j)
        sums[j] += factor * others[j];
    }
  }
  if (product.config & SHARDRT_TENSOR_CHECK)
    forgetReads(product.reads, tensorUnit(), product.number);
}

void BlockRunner::commitTensor(Lane &lane, char *at, uint32_t mask,
                               const char *where) {
  checkTensorGroup(lane, mask != 0, where);
  if (mask == 0)
    mask = 1u << rankOf(lane);
  if (mask >> now->cluster)
    fail(lane, describe(lane) + " commits to blocks that its cluster lacks" +
                   lineOf(where));
  for (int32_t rank = 0; rank < now->cluster; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    char *there = inBlock(lane, at, rank);
    transferAt(lane, there, " commits to ", where);
    TensorCommit commit;
    commit.transfer = offsetOf(there);
    commit.product = lane.tensorProduct;
    commit.clock = lane.clock;
    // It tells of products, and of what these knew; not of the thread's stores.
    commit.clock[lane.number] = 0;
    uint32_t &heard = commit.clock[slotOfGroup(tensorUnit())];
    heard = std::max(heard, commit.product);
    tensorCommits.push_back(std::move(commit));
  }
}

bool BlockRunner::landProducts() {
  bool any = !tensorCommits.empty();
  while (!tensorCommits.empty() && !failed) {
    TensorCommit commit = std::move(tensorCommits.front());
    tensorCommits.pop_front();
    while (!tensorProducts.empty() &&
           tensorProducts.front().number <= commit.product) {
      carryOut(tensorProducts.front());
      tensorProducts.pop_front();
    }
    if (hasEnded(blockAt(commit.transfer))) {
      error = "a commit of products arrives at an mbarrier of a block that has "
              "ended";
      failed = true;
      return any;
    }
    Transfer &transfer = transfers[commit.transfer];
    if (transfer.pending == 0) {
      error = "a commit of products arrives at an mbarrier at which all " +
              std::to_string(transfer.count) + " have arrived";
      failed = true;
      return any;
    }
    join(transfer.soFar, commit.clock);
    if (--transfer.pending == 0 && transfer.bytes == 0)
      completePhase(transfer);
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// The lane's own lane of tensor memory; warps reach a quarter each.
int32_t BlockRunner::reachTensor(Lane &lane, int64_t address, int32_t count,
                                 const std::string &what) {
  int32_t row = lane.thread.thread[0] % groupSize,
          first = row / warpLanes * warpLanes;
  if (rowOf(address) != first)
    fail(lane, describe(lane) + what + "lane " +
                   std::to_string(rowOf(address)) +
                   " of tensor memory, expected its warp's first: " +
                   std::to_string(first) + lineOf(lane.where));
  checkTensorColumns(lane, rankOf(lane), address, count, what, lane.where);
  return rankOf(lane) * tensorLanes + row;
}

int64_t BlockRunner::loadTensor(Lane &lane, int64_t address, int32_t count) {
  int32_t row = reachTensor(lane, address, count, " loads from "),
          column = columnOf(address);
  for (int32_t i = 0; i < count; ++i) {
    TensorCell &cell = tensorCell(row, column + i);
    std::string why = tensorRace(lane, cell, /*writes=*/false);
    if (why.empty() && !cell.isWritten)
      why = "nobody has written it";
    if (!why.empty())
      fail(lane, describe(lane) + " loads lane " + std::to_string(row) +
                     " column " + std::to_string(column + i) +
                     " of tensor memory" + lineOf(lane.where) + ": " + why);
    ++cell.reads;
    cell.reader = lane.number;
  }
  lane.tensorLoads.push_back({row, column, {}, count, lane.where});
  return static_cast<int64_t>(lane.tensorLoads.size());
}

void BlockRunner::waitForTensorLoads(Lane &lane) {
  for (TensorLoad &load : lane.tensorLoads) {
    if (!load.words.empty())
      continue;
    load.words.resize(load.count);
    std::memcpy(load.words.data(),
                &tensorWords[load.row * tensorColumns + load.column],
                4 * load.count);
    for (int32_t i = 0; i < load.count; ++i) {
      TensorCell &cell = tensorCell(load.row, load.column + i);
      --cell.reads;
      cell.readTime = lane.clock[lane.number];
    }
  }
}

int32_t BlockRunner::tensorWord(Lane &lane, int64_t handle, int32_t index,
                                const char *where) {
  if (handle < 1 || handle > static_cast<int64_t>(lane.tensorLoads.size()))
    fail(lane, describe(lane) + " uses what it has not loaded" + lineOf(where));
  TensorLoad &load = lane.tensorLoads[handle - 1];
  if (load.words.empty())
    fail(lane, describe(lane) + " uses what it loads from tensor memory" +
                   lineOf(load.where) + " without tcgen05.wait::ld between" +
                   lineOf(where));
  return static_cast<int32_t>(load.words[index]);
}

void BlockRunner::storeTensor(Lane &lane, int64_t address, const int32_t *words,
                              int32_t count) {
  int32_t row = reachTensor(lane, address, count, " stores to "),
          column = columnOf(address);
  for (int32_t i = 0; i < count; ++i) {
    TensorCell &cell = tensorCell(row, column + i);
    if (std::string why = tensorRace(lane, cell, /*writes=*/true); !why.empty())
      fail(lane, describe(lane) + " stores to lane " + std::to_string(row) +
                     " column " + std::to_string(column + i) +
                     " of tensor memory" + lineOf(lane.where) + ": " + why);
    cell.isWritten = true;
    cell.product = cell.factorOf = 0;
    ++cell.writes;
    cell.writer = lane.number;
    std::memcpy(&tensorWords[row * tensorColumns + column + i], &words[i], 4);
  }
  lane.tensorStores.push_back({row, column, count});
}

void BlockRunner::waitForTensorStores(Lane &lane) {
  for (auto [row, column, count] : lane.tensorStores)
    for (int32_t i = 0; i < count; ++i) {
      TensorCell &cell = tensorCell(row, column + i);
      --cell.writes;
      cell.writeTime = lane.clock[lane.number];
    }
  lane.tensorStores.clear();
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

/// All lanes of the thread's warp come to what `what` says of tensor memory.
static Lane &meet(shardrt_emulated_thread *thread, int64_t address,
                  int32_t count, int32_t place, const char *where) {
  Lane &lane = laneOf(thread);
  lane.sync = Lane::Sync::TensorMemory;
  lane.mask = ~0u;
  lane.place = place;
  lane.where = where;
  lane.left = address;
  lane.value = count;
  lane.runner->syncWarp(lane);
  return lane;
}

static int64_t addressOf(void *pointer) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer));
}

extern "C" {

void shardrt_emulated_tensor_alloc(shardrt_emulated_thread *thread, void *to,
                                   int32_t columns, int32_t pair, int32_t place,
                                   const char *where) {
  Lane &lane = meet(thread, addressOf(to), columns, place, where);
  // Once for the warp.
  if (lane.number % warpLanes == 0)
    lane.runner->allocateTensor(lane, static_cast<char *>(to), columns,
                                pair != 0);
}

void shardrt_emulated_tensor_dealloc(shardrt_emulated_thread *thread,
                                     void *address, int32_t columns,
                                     int32_t pair, int32_t place,
                                     const char *where) {
  Lane &lane = meet(thread, addressOf(address), columns, place, where);
  if (lane.number % warpLanes == 0)
    lane.runner->releaseTensor(lane, addressOf(address), columns, pair != 0);
}

void shardrt_emulated_tensor_relinquish(shardrt_emulated_thread *thread,
                                        int32_t place, const char *where) {
  Lane &lane = meet(thread, 0, 0, place, where);
  if (lane.number % warpLanes == 0)
    lane.runner->relinquishTensor(lane);
}

void shardrt_emulated_tensor_product(shardrt_emulated_thread *thread,
                                     void *sums, int64_t left, int64_t right,
                                     int32_t instruction, int32_t adds,
                                     int32_t config, const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->beginTensorProduct(lane, addressOf(sums), left, right,
                                  instruction, config | (adds ? tensorAdds : 0),
                                  where);
}

void shardrt_emulated_tensor_commit(shardrt_emulated_thread *thread,
                                    void *barrier, int32_t mask,
                                    const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->commitTensor(lane, static_cast<char *>(barrier),
                            static_cast<uint32_t>(mask), where);
}

int32_t shardrt_emulated_elect(shardrt_emulated_thread *thread, int32_t place,
                               const char *where) {
  Lane &lane = meet(thread, 0, 0, place, where);
  return lane.number % warpLanes == 0;
}

int64_t shardrt_emulated_tensor_load(shardrt_emulated_thread *thread,
                                     void *address, int32_t count,
                                     int32_t place, const char *where) {
  Lane &lane = meet(thread, addressOf(address), count, place, where);
  return lane.runner->loadTensor(lane, addressOf(address), count);
}

int32_t shardrt_emulated_tensor_word(shardrt_emulated_thread *thread,
                                     int64_t loaded, int32_t index,
                                     const char *where) {
  Lane &lane = laneOf(thread);
  return lane.runner->tensorWord(lane, loaded, index, where);
}

void shardrt_emulated_tensor_store(shardrt_emulated_thread *thread,
                                   void *address, const int32_t *words,
                                   int32_t count, int32_t place,
                                   const char *where) {
  Lane &lane = meet(thread, addressOf(address), count, place, where);
  lane.runner->storeTensor(lane, addressOf(address), words, count);
}

void shardrt_emulated_tensor_wait(shardrt_emulated_thread *thread,
                                  int32_t stores, int32_t place,
                                  const char *where) {
  Lane &lane = meet(thread, stores, 0, place, where);
  if (stores)
    lane.runner->waitForTensorStores(lane);
  else
    lane.runner->waitForTensorLoads(lane);
}

void shardrt_emulated_tensor_fence(shardrt_emulated_thread *thread,
                                   int32_t after) {
  Lane &lane = laneOf(thread);
  lane.runner->tensorFence(lane, after != 0);
}

} // extern "C"
