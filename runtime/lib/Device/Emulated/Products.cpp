//===- Products.cpp - Products of matrices by four warps ------------------===//
//
// wgmma reads shared memory, and writes its sums, at any time until its group
// has been waited for; here it does all of it at the last. Until then what it
// reads must not be written, and its sums must not be looked at.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include "Device/Emulated/Matrix.h"
#include <algorithm>
#include <cstring>

using namespace shardrt;

static Matrix matrixOf(int64_t descriptor, int32_t config, int32_t lines) {
  return Matrix(descriptor, config & lines,
                config & SHARDRT_PRODUCT_TF32 ? 4
                : config & SHARDRT_PRODUCT_F8 ? 1
                                              : 2);
}

static int32_t columnsOf(int32_t config) {
  return config & SHARDRT_PRODUCT_COLUMNS;
}

void BlockRunner::beginProduct(int32_t first) {
  Lane &lane = *lanes[first];
  auto refuse = [&](Lane &who, const std::string &why) {
    fail(who, "product of warpgroup " + std::to_string(first / groupSize) +
                  lineOf(lane.where) + ": " + why);
  };
  for (int32_t i = 1; i < groupSize; ++i) {
    Lane &other = *lanes[first + i];
    if (other.left != lane.left || other.right != lane.right ||
        other.kind != lane.kind || other.productGroups != lane.productGroups)
      refuse(other, describe(lane) + " and " + describe(other) +
                        " give it different matrices");
  }
  Warpgroup &group = warpgroups[first / groupSize];
  Product product;
  product.number = ++group.begun;
  product.group = lane.productGroups;
  group.ends.resize(product.group + 1,
                    group.ends.empty() ? 0 : group.ends.back());
  group.ends[product.group] = product.number;
  bool inRegisters = lane.kind & SHARDRT_PRODUCT_REGISTERS;
  product.left = lane.left;
  product.right = lane.right;
  product.config = lane.kind;
  product.where = lane.where;
  product.checked = lane.kind & SHARDRT_PRODUCT_CHECK;
  int32_t columns = columnsOf(lane.kind);
  bool isTF32 = lane.kind & SHARDRT_PRODUCT_TF32;
  int32_t lines = SHARDRT_PRODUCT_LEFT_LINES | SHARDRT_PRODUCT_RIGHT_LINES;
  bool isNarrow = lane.kind & SHARDRT_PRODUCT_F8;
  if ((isTF32 || isNarrow) && lane.kind & lines)
    refuse(lane, isTF32 ? "matrices of tf32 stand along the depth"
                        : "matrices of 8-bit floats stand along the depth");
  for (int64_t descriptor : {inRegisters ? lane.right : lane.left, lane.right})
    if (static_cast<uint64_t>(descriptor) >> 62 != 1 ||
        (descriptor >> 49 & 7) != 0)
      refuse(lane, "a descriptor is not of rows of 128 swizzled bytes");
  for (int32_t i = 0; i < groupSize; ++i) {
    Lane &one = *lanes[first + i];
    if (one.sums < 0 ||
        one.sums > static_cast<int64_t>(one.accumulators.size()))
      refuse(one, "its sums are none of the thread's");
    // Registers that something else has written.
    if (!one.fenced && (inRegisters || one.sums == 0 ||
                        one.accumulators[one.sums - 1].product == 0))
      refuse(one, describe(one) +
                      (inRegisters ? " multiplies registers" : " begins sums") +
                      " without wgmma.fence before");
    for (int32_t word = 0; inRegisters && word < 4; ++word)
      product.words.push_back(one.words[word]);
    Sums next;
    next.product = product.number;
    if (one.sums > 0) {
      Sums &before = one.accumulators[one.sums - 1];
      if (before.overwritten)
        refuse(one, describe(one) + " adds to sums that another product has "
                                    "overwritten");
      before.overwritten = true;
    }
    one.accumulators.push_back(std::move(next));
    one.result = static_cast<int64_t>(one.accumulators.size());
    product.from.push_back(one.sums);
    product.to.push_back(one.result);
  }
  std::vector<int32_t> &reads = product.reads;
  auto note = [&](const Matrix &matrix, int64_t lines) {
    if (int64_t outside =
            matrix.pieces(lane.thread.shared, lines, now->sharedBytes, reads,
                          offsetOf(lane.thread.shared));
        outside >= 0)
      refuse(lane, "it reads " + std::to_string(outside) + " of " +
                       std::to_string(now->sharedBytes) +
                       " bytes of shared memory");
  };
  if (!inRegisters)
    note(matrixOf(lane.left, lane.kind, SHARDRT_PRODUCT_LEFT_LINES), 64);
  note(matrixOf(lane.right, lane.kind, SHARDRT_PRODUCT_RIGHT_LINES), columns);
  if (product.checked)
    noteReads(reads, first, groupSize,
              "a product of warpgroup " + std::to_string(first / groupSize) +
                  " of block " + std::to_string(lane.thread.block[0]),
              lane.where, [&](const std::string &why) { refuse(lane, why); });
  group.products.push_back(std::move(product));
}

void BlockRunner::noteReads(
    const std::vector<int32_t> &reads, int32_t first, int32_t count,
    const std::string &reader, const char *where,
    const std::function<void(const std::string &)> &refuse) {
  int32_t known = -1;
  uint32_t knownTime = 0;
  for (int32_t at : reads)
    for (int32_t i = at; i < at + pieceBytes; ++i) {
      Cell &cell = cells[i];
      auto race = [&](const std::string &why) {
        refuse("race on shared memory: byte " + std::to_string(i) +
               " is read, and written by " + describeOther(cell.writer) +
               lineOf(cell.writeWhere) + " " + why);
      };
      if (cell.copies > 0)
        race("at some time to come");
      ++cell.products;
      if (!cell.isWritten)
        readUnwritten(i, reader, where);
      if (cell.writer == known && cell.writeTime == knownTime)
        continue;
      known = cell.writer;
      knownTime = cell.writeTime;
      if (!haveObserved(first, count, known, knownTime))
        race("without a barrier between");
      if (known < live && knownTime > 0 && lanes[known]->asyncFence < knownTime)
        race("without fence.proxy.async between");
    }
}

void BlockRunner::forgetReads(const std::vector<int32_t> &reads, int32_t unit,
                              uint32_t time) {
  for (int32_t at : reads) {
    for (int32_t i = at; i < at + pieceBytes; ++i)
      --cells[i].products;
    productReads[unit][at / pieceBytes] = time;
  }
}

void BlockRunner::carryOut(int32_t number, const Product &product) {
  bool isBF16 = product.config & SHARDRT_PRODUCT_BF16;
  bool isTF32 = product.config & SHARDRT_PRODUCT_TF32;
  int32_t depths = isTF32 ? 8 : product.config & SHARDRT_PRODUCT_F8 ? 32 : 16;
  int32_t columns = columnsOf(product.config), first = number * groupSize;
  const char *base = lanes[first]->thread.shared;
  auto read = [&](const Matrix &matrix, int64_t lines, int32_t e5m2) {
    return matrix.read(base, lines, depths, isBF16, /*behind=*/0,
                       product.config & e5m2);
  };
  std::vector<float> left;
  if (product.words.empty())
    left =
        read(matrixOf(product.left, product.config, SHARDRT_PRODUCT_LEFT_LINES),
             64, SHARDRT_PRODUCT_LEFT_E5M2);
  else
    left.resize(64 * depths);
  // A word of a lane: two neighbours of row i / 4 or eight below, of the first
  // eight of the depth or the second.
  for (size_t i = 0; i < product.words.size(); ++i) {
    int64_t lane = i / 4, word = i % 4;
    int64_t row = lane / 32 * 16 + lane % 32 / 4 + word % 2 * 8;
    int64_t depth = word / 2 * 8 + lane % 4 * 2;
    auto bits = static_cast<uint32_t>(product.words[i]);
    for (int64_t half = 0; half < 2; ++half)
      left[row * depths + depth + half] =
          widened(static_cast<uint16_t>(bits >> 16 * half), isBF16);
  }
  std::vector<float> right =
      read(matrixOf(product.right, product.config, SHARDRT_PRODUCT_RIGHT_LINES),
           columns, SHARDRT_PRODUCT_RIGHT_E5M2);
  // A warp has 16 rows, a lane of it two of these, and two columns of eight.
  for (int32_t i = 0; i < groupSize; ++i) {
    Lane &lane = *lanes[first + i];
    Sums &sums = lane.accumulators[product.to[i] - 1];
    if (product.from[i] > 0)
      sums.values = std::move(lane.accumulators[product.from[i] - 1].values);
    sums.values.resize(columns / 2);
    for (int32_t e = 0; e < columns / 2; ++e) {
      int32_t row = i / 32 * 16 + i % 32 / 4 + e / 2 % 2 * 8;
      int32_t column = e / 4 * 8 + i % 4 * 2 + e % 2;
      float sum = sums.values[e];
      for (int32_t k = 0; k < depths; ++k)
        sum += left[row * depths + k] * right[column * depths + k];
      sums.values[e] = sum;
    }
  }
  if (product.checked)
    forgetReads(product.reads, number, static_cast<uint32_t>(product.number));
}

void BlockRunner::waitForProducts(Lane &lane, int64_t groups) {
  int32_t number = lane.number / groupSize;
  Warpgroup &group = warpgroups[number];
  int64_t complete = lane.productGroups - groups;
  while (!group.products.empty() && group.products.front().group < complete) {
    carryOut(number, group.products.front());
    group.products.pop_front();
  }
  if (complete > 0 && !group.ends.empty())
    lane.clock[slotOfGroup(number)] = static_cast<uint32_t>(
        group.ends[std::min<size_t>(complete, group.ends.size()) - 1]);
  lane.fenced = false;
}

float BlockRunner::sumOf(Lane &lane, int64_t handle, int32_t index,
                         const char *where) {
  if (handle == 0)
    return 0;
  if (handle < 0 || handle > static_cast<int64_t>(lane.accumulators.size()))
    fail(lane,
         describe(lane) + " looks at sums that nobody made" + lineOf(where));
  Sums &sums = lane.accumulators[handle - 1];
  if (sums.overwritten)
    fail(lane, describe(lane) +
                   " looks at sums that a product has overwritten" +
                   lineOf(where));
  if (lane.clock[slotOfGroup(lane.number / groupSize)] <
          static_cast<uint32_t>(sums.product) ||
      sums.values.empty())
    fail(lane, describe(lane) +
                   " looks at sums of a product that it has not "
                   "waited for" +
                   lineOf(where));
  return sums.values[index];
}

int64_t BlockRunner::setSum(Lane &lane, int64_t handle, int32_t index,
                            int32_t count, float value, const char *where) {
  if (handle == 0) {
    Sums next;
    next.values.resize(count);
    lane.accumulators.push_back(std::move(next));
    handle = static_cast<int64_t>(lane.accumulators.size());
  }
  // What is in flight, or gone, is reported as of one who looks.
  sumOf(lane, handle, index, where);
  Sums &sums = lane.accumulators[handle - 1];
  sums.values[index] = value;
  sums.product = 0;
  return handle;
}

extern "C" {

int64_t shardrt_emulated_product_of_registers(shardrt_emulated_thread *thread,
                                              const int32_t *words,
                                              int64_t right, int64_t sums,
                                              int32_t config, int32_t place,
                                              const char *where) {
  laneOf(thread).words = words;
  return shardrt_emulated_product(
      thread, 0, right, sums, config | SHARDRT_PRODUCT_REGISTERS, place, where);
}

int64_t shardrt_emulated_set_sum(shardrt_emulated_thread *thread, int64_t sums,
                                 int32_t index, int32_t count, float value,
                                 const char *where) {
  Lane &lane = laneOf(thread);
  return lane.runner->setSum(lane, sums, index, count, value, where);
}

int64_t shardrt_emulated_product(shardrt_emulated_thread *thread, int64_t left,
                                 int64_t right, int64_t sums, int32_t config,
                                 int32_t place, const char *where) {
  Lane &lane = laneOf(thread);
  lane.sync = Lane::Sync::Product;
  lane.mask = ~0u;
  lane.place = place;
  lane.where = where;
  lane.left = left;
  lane.right = right;
  lane.sums = sums;
  lane.kind = config;
  return lane.runner->syncWarp(lane);
}

void shardrt_emulated_product_fence(shardrt_emulated_thread *thread) {
  laneOf(thread).fenced = true;
}

void shardrt_emulated_product_commit(shardrt_emulated_thread *thread) {
  ++laneOf(thread).productGroups;
}

void shardrt_emulated_product_wait(shardrt_emulated_thread *thread,
                                   int64_t groups) {
  Lane &lane = laneOf(thread);
  lane.runner->waitForProducts(lane, groups);
}

float shardrt_emulated_sum(shardrt_emulated_thread *thread, int64_t sums,
                           int32_t index, const char *where) {
  Lane &lane = laneOf(thread);
  return lane.runner->sumOf(lane, sums, index, where);
}

} // extern "C"
