//===- Memory.cpp - A rank's arena and pool -------------------------------===//
//
// Blocks of the pool come in four sizes to each power of two, so that buffers
// whose sizes vary a little from step to step find one that fits.
//
//===----------------------------------------------------------------------===//

#include "Device/Cpu/Memory.h"
#include "Host/Segment.h"
#include <algorithm>
#include <cstdlib>
#include <utility>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace shardrt;

static constexpr int64_t alignment = 64;
static constexpr int64_t hugePage = int64_t(2) << 20;
static constexpr int64_t largest = int64_t(1) << 47;

/// Memory for `bytes` bytes, with its pages touched; NULL if there is none.
void *Memory::getBlock(int64_t bytes) {
  int64_t align = bytes >= 2 * hugePage ? hugePage : alignment;
  int64_t rounded = (bytes + align - 1) / align * align;
  void *block = segment ? segment->allocate(rounded, align)
                        : std::aligned_alloc(align, rounded);
  if (!block)
    return nullptr;
#ifdef __linux__
  if (align == hugePage)
    madvise(block, rounded, MADV_HUGEPAGE); // A hint: its failure is no error.
#endif
  auto *bytesOf = static_cast<volatile char *>(block);
  for (int64_t i = 0; i < rounded; i += 4096)
    bytesOf[i] = 0;
  return block;
}

void Memory::freeBlock(void *block) {
  if (segment)
    segment->release(block);
  else
    std::free(block);
}

/// The size of block that `bytes` bytes get: at most a quarter larger.
static int64_t blockSize(int64_t bytes) {
  int64_t step = alignment;
  while (step * 8 < bytes)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

Memory::~Memory() { clear(); }

void Memory::clear() {
  freeBlock(arenaData);
  for (Header *block : live)
    freeBlock(block);
  for (auto &[size, first] : idle)
    while (Header *block = first) {
      first = block->next;
      freeBlock(block);
    }
  live.clear();
  idle.clear();
  arenaData = nullptr;
  arenaBytes = liveBytes = idleBytes = 0;
  held.store(0, std::memory_order_relaxed);
}

/// It holds `bytes` bytes more.
void Memory::grow(int64_t bytes) {
  int64_t now = held.load(std::memory_order_relaxed) + bytes;
  held.store(now, std::memory_order_relaxed);
  if (now > peak.load(std::memory_order_relaxed))
    peak.store(now, std::memory_order_relaxed);
}

/// More is in use than before.
void Memory::use() {
  peakUsed = std::max(peakUsed, arenaUsed + liveBytes);
  mostLive = std::max(mostLive, liveBytes);
}

int64_t Memory::endProgram() {
  for (auto it = idle.end(); idleBytes > mostLive && it != idle.begin();) {
    --it;
    while (idleBytes > mostLive && it->second) {
      freeBlock(std::exchange(it->second, it->second->next));
      idleBytes -= it->first;
      grow(-it->first);
    }
  }
  return peakUsed;
}

void *Memory::arena(int64_t bytes) {
  bytes = std::max(bytes, alignment);
  if (bytes > largest)
    return nullptr;
  arenaUsed = std::max(arenaUsed, bytes);
  use();
  if (bytes <= arenaBytes)
    return arenaData;
  // Freed first: the two need not fit into memory together.
  freeBlock(arenaData);
  grow(-arenaBytes);
  arenaBytes = 0;
  arenaData = getBlock(bytes);
  if (!arenaData)
    return nullptr;
  arenaBytes = bytes;
  grow(bytes);
  return arenaData;
}

void *Memory::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > largest)
    return nullptr;
  int64_t size = blockSize(bytes + static_cast<int64_t>(sizeof(Header)));
  // What follows needs no memory but that of the block.
  Header *&first = idle[size], *block = first;
  live.push_back(nullptr);
  if (block) {
    first = block->next;
    idleBytes -= size;
  } else {
    block = static_cast<Header *>(getBlock(size));
    if (!block) {
      live.pop_back();
      return nullptr;
    }
    grow(size);
  }
  block->bytes = size;
  block->index = live.size() - 1;
  live.back() = block;
  liveBytes += size;
  use();
  return block + 1;
}

void Memory::release(void *buffer) {
  if (!buffer)
    return;
  Header *block = static_cast<Header *>(buffer) - 1;
  live[block->index] = live.back();
  live[block->index]->index = block->index;
  live.pop_back();
  retire(block);
  liveBytes -= block->bytes;
  idleBytes += block->bytes;
}

void Memory::retire(Header *block) {
  Header *&first = idle.find(block->bytes)->second;
  block->next = first;
  first = block;
}

void Memory::releaseAll() {
  for (Header *block : live)
    retire(block);
  live.clear();
  idleBytes += liveBytes;
  liveBytes = 0;
}
