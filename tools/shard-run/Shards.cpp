//===- Shards.cpp - Whole arrays to every rank's buffers and back ---------===//

#include "Shards.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>
#include <cstring>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace llvm;
using namespace shardc;
using shardrt::elementBytes;

static constexpr int64_t kHugePage = int64_t(2) << 20;

AlignedBuffer::AlignedBuffer(int64_t bytes) {
  // As the engine's and the runtime's: in pages of 4 KB, steps that wait for
  // memory take half as long again.
  int64_t align = bytes >= 2 * kHugePage ? kHugePage : 64;
  size_t rounded = alignTo(std::max<int64_t>(bytes, 1), align);
  memory.reset(static_cast<char *>(std::aligned_alloc(align, rounded)));
  if (!memory) {
    char why[64];
    std::snprintf(why, sizeof(why), "a shard of %zu bytes", rounded);
    report_bad_alloc_error(why);
  }
#ifdef __linux__
  if (align == kHugePage)
    madvise(memory.get(), rounded, MADV_HUGEPAGE); // A hint: may fail.
#endif
  std::memset(memory.get(), 0, std::max<int64_t>(bytes, 1));
}

static int64_t elementsOf(const Box &box) {
  int64_t count = 1;
  for (Interval interval : box)
    count *= interval.size();
  return count;
}

static int64_t bytesOf(const Box &box, ElementType type) {
  return elementsOf(box) * elementBytes(type);
}

/// Calls `copy(global offset, local offset, bytes)` for every contiguous run of
/// `box` in an array of `shape`.
template <typename Copy>
static void forEachRun(ArrayRef<int64_t> shape, const Box &box, int64_t bytes,
                       Copy copy) {
  if (elementsOf(box) == 0)
    return;
  // Dims that are whole join the run of the dim before them.
  int64_t dims = shape.size(), inner = dims;
  int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= box[inner].size();
    if (box[inner].size() != shape[inner])
      break;
  }
  SmallVector<int64_t> strides(dims, 1), index(dims, 0);
  for (int64_t d = dims - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  int64_t start = 0;
  for (int64_t d = 0; d < dims; ++d)
    start += box[d].begin * strides[d];
  int64_t local = 0, total = elementsOf(box);
  while (true) {
    int64_t global = start;
    for (int64_t d = 0; d < inner; ++d)
      global += index[d] * strides[d];
    copy(global * bytes, local * bytes, run * bytes);
    local += run;
    if (local == total)
      return;
    for (int64_t d = inner - 1; ++index[d] == box[d].size(); --d)
      index[d] = 0;
  }
}

ShardBuffers::ShardBuffers(ArrayRef<ValueMetadata> values,
                           ArrayRef<int64_t> meshShape, int64_t numRanks,
                           int64_t only)
    : values(values.vec()), meshShape(meshShape), rankBuffers(numRanks) {
  for (const ValueMetadata &value : values) {
    ElementType type = *shardrt::elementTypeNamed(value.elementType);
    types.push_back(type);
    std::vector<Shard> &ofValue = shards.emplace_back();
    for (int64_t rank = 0; rank < numRanks; ++rank) {
      Box box = boxOf(value, meshShape, rank);
      bool isHere = only < 0 || only == rank;
      AlignedBuffer buffer(isHere ? ::bytesOf(box, type) : 0);
      rankBuffers[rank].push_back(buffer.data());
      ofValue.push_back({std::move(box), std::move(buffer), isHere});
    }
  }
  for (const std::vector<void *> &buffers : rankBuffers)
    rankAddresses.push_back(buffers.data());
}

/// The kind of reduction for which `rank` has to give the neutral element of
/// `value`; empty if it gives the value. Whoever takes the least, or the
/// greatest, of equal values may be given all of them.
static StringRef neutralKindOf(const ValueMetadata &value,
                               ArrayRef<int64_t> meshShape, int64_t rank) {
  // Axes of the kind that comes first are combined first.
  for (const PartialPlacement &first : value.partial)
    for (const PartialPlacement &partial : value.partial)
      if (partial.kind == first.kind &&
          is_contained({"sum", "product", "xor"}, StringRef(partial.kind)) &&
          coordinateAlong(meshShape, std::span(&partial.axis, 1), rank) != 0)
        return partial.kind;
  return {};
}

/// The bytes of what changes no sum (minus zero), or no product.
static SmallVector<char> neutralElement(StringRef kind, ElementType type) {
  SmallVector<char> bytes(elementBytes(type), 0);
  if (kind == "product") {
    std::string text =
        "1x" + std::string(shardrt::elementTypeName(type)) + "=1";
    Expected<HostArray> one = parseArray(text);
    if (!one)
      report_fatal_error(one.takeError());
    bytes.assign(one->data.begin(), one->data.end());
  } else if (kind == "sum" && bytes.size() > 1 &&
             (isFloat(type) || isComplex(type))) {
    bytes.back() = char(0x80);
    if (isComplex(type))
      bytes[bytes.size() / 2 - 1] = char(0x80);
  }
  return bytes;
}

void ShardBuffers::scatter(size_t index, const HostArray &array) {
  for (auto [rank, shard] : enumerate(shards[index])) {
    if (!shard.isHere)
      continue;
    StringRef kind = neutralKindOf(values[index], meshShape, rank);
    if (!kind.empty()) {
      SmallVector<char> neutral = neutralElement(kind, array.type);
      for (int64_t i = 0, count = elementsOf(shard.box); i < count; ++i)
        std::memcpy(shard.buffer.data() + i * neutral.size(), neutral.data(),
                    neutral.size());
      continue;
    }
    forEachRun(array.shape, shard.box, elementBytes(array.type),
               [&](int64_t global, int64_t local, int64_t bytes) {
                 std::memcpy(shard.buffer.data() + local,
                             array.bytes() + global, bytes);
               });
  }
}

int64_t ShardBuffers::bytesOf(size_t index, int64_t rank) const {
  return ::bytesOf(shards[index][rank].box, types[index]);
}

HostArray ShardBuffers::gather(size_t index) const {
  HostArray array{types[index], values[index].shape, {}};
  array.data.resize(array.numElements() * elementBytes(array.type));
  for (const Shard &shard : shards[index])
    forEachRun(array.shape, shard.box, elementBytes(array.type),
               [&](int64_t global, int64_t local, int64_t bytes) {
                 std::memcpy(array.data.data() + global,
                             shard.buffer.data() + local, bytes);
               });
  return array;
}

int64_t ShardBuffers::firstOtherBox(size_t index, const ShardBuffers &others,
                                    size_t other) const {
  for (auto [rank, shard] : enumerate(shards[index]))
    if (shard.box != others.shards[other][rank].box)
      return rank;
  return -1;
}

void ShardBuffers::swap(size_t index, ShardBuffers &others, size_t other) {
  for (auto [rank, shard] : enumerate(shards[index])) {
    Shard &theirs = others.shards[other][rank];
    if (!shard.isHere || !theirs.isHere)
      continue;
    std::swap(shard.buffer, theirs.buffer);
    std::swap(rankBuffers[rank][index], others.rankBuffers[rank][other]);
  }
}

void shardc::copyCommon(const Box &from, const char *source, const Box &to,
                        char *target, int64_t width) {
  // The box of both, once as a part of the source and once of the target.
  size_t dims = from.size();
  Box inSource(dims), inTarget(dims);
  SmallVector<int64_t> sourceShape, targetShape;
  for (size_t d = 0; d < dims; ++d) {
    int64_t begin = std::max(from[d].begin, to[d].begin);
    int64_t end = std::min(from[d].end, to[d].end);
    if (begin >= end)
      return;
    inSource[d] = {begin - from[d].begin, end - from[d].begin};
    inTarget[d] = {begin - to[d].begin, end - to[d].begin};
    sourceShape.push_back(from[d].size());
    targetShape.push_back(to[d].size());
  }
  int64_t rows = elementsOf(inSource);
  int64_t row = dims ? inSource[dims - 1].size() : 1;
  for (int64_t r = 0; r < rows / row; ++r) {
    int64_t left = r, fromAt = 0, toAt = 0, fromStep = 1, toStep = 1;
    for (size_t d = dims; d-- > 0;) {
      int64_t size = inSource[d].size(), at = d + 1 == dims ? 0 : left % size;
      if (d + 1 != dims)
        left /= size;
      fromAt += (inSource[d].begin + at) * fromStep;
      toAt += (inTarget[d].begin + at) * toStep;
      fromStep *= sourceShape[d];
      toStep *= targetShape[d];
    }
    std::memcpy(target + toAt * width, source + fromAt * width, row * width);
  }
}

int64_t ShardBuffers::firstDisagreement(size_t index,
                                        const HostArray &whole) const {
  for (auto [rank, shard] : enumerate(shards[index])) {
    bool same = true;
    forEachRun(whole.shape, shard.box, elementBytes(whole.type),
               [&](int64_t global, int64_t local, int64_t bytes) {
                 same &= std::memcmp(whole.data.data() + global,
                                     shard.buffer.data() + local, bytes) == 0;
               });
    if (!same)
      return rank;
  }
  return -1;
}

int64_t shardc::bytesOfShards(const ValueMetadata &value,
                              ArrayRef<int64_t> meshShape, int64_t numRanks) {
  ElementType type = *shardrt::elementTypeNamed(value.elementType);
  int64_t bytes = 0;
  for (int64_t rank = 0; rank < numRanks; ++rank)
    bytes += bytesOf(boxOf(value, meshShape, rank), type);
  return bytes;
}
