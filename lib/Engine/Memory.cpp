//===- Memory.cpp - The memory of a device --------------------------------===//

#include "shardc/Engine/Memory.h"
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace shardc::engine;

/// From here on blocks are mapped on their own, in large pages where there are
/// such.
static constexpr int64_t kMapped = int64_t(1) << 20;
/// So much is always kept for later.
static constexpr int64_t kAlwaysKept = int64_t(64) << 20;

int64_t shardc::engine::memoryLimit() {
  static const int64_t limit = [] {
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    int64_t bytes = pages > 0 && size > 0 ? pages * size : INT64_MAX;
    if (std::FILE *file = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
      long long most;
      if (std::fscanf(file, "%lld", &most) == 1 && most > 0)
        bytes = std::min<int64_t>(bytes, most);
      std::fclose(file);
    }
    return bytes;
  }();
  return limit;
}

int Pool::classOf(int64_t bytes) {
  auto units = static_cast<uint64_t>((std::max<int64_t>(bytes, 1) + 63) / 64);
  // units <= (4 + quarter) << shift, with the least such size.
  if (units <= 4)
    return static_cast<int>(units) - 1;
  int shift = std::bit_width(units - 1) - 3;
  auto quarter = static_cast<int>((units - 1) >> shift) - 3;
  return 4 * (shift + 1) + quarter - 1;
}

int64_t Pool::sizeOf(int index) {
  if (index < 4)
    return int64_t(64) * (index + 1);
  int shift = index / 4 - 1, quarter = index % 4 + 1;
  return int64_t(64) * ((4 + quarter) << 0) << shift;
}

static char *allocate(int64_t bytes) {
  if (bytes > memoryLimit())
    return nullptr;
  if (bytes < kMapped)
    return static_cast<char *>(std::aligned_alloc(64, bytes));
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<char *>(memory);
}

static void freeBlock(Block *block) {
  if (block->capacity < kMapped)
    std::free(block->data);
  else
    munmap(block->data, block->capacity);
  delete block;
}

Pool::~Pool() {
  for (std::vector<Block *> &blocks : kept)
    for (Block *block : blocks)
      freeBlock(block);
}

Block *Pool::take(Device &device, int64_t bytes, int64_t reached) {
  if (bytes < 0 || bytes > memoryLimit())
    return nullptr;
  int index = classOf(bytes);
  int64_t size = sizeOf(index);
  Block *block = nullptr;
  std::vector<Block *> &blocks = kept[index];
  // The last one is warm.
  for (size_t i = blocks.size(); i-- > 0 && !block;)
    if (blocks[i]->lastUse <= reached) {
      block = blocks[i];
      blocks.erase(blocks.begin() + i);
      keptBytes -= size;
    }
  if (!block) {
    char *data = allocate(size);
    if (!data && keptBytes > 0) {
      trim(0, reached);
      data = allocate(size);
    }
    if (!data)
      return nullptr;
    block = new Block{&device, data, size, 1, 0, false, {}};
  }
  block->holders = 1;
  inUse += size;
  peak = std::max(peak, inUse);
  ++count;
  return block;
}

void Pool::give(Block *block) {
  inUse -= block->capacity;
  keptBytes += block->capacity;
  kept[classOf(block->capacity)].push_back(block);
}

void Pool::trim(int64_t keep, int64_t reached) {
  if (keep < 0)
    keep = std::max(kAlwaysKept, peak - inUse);
  for (int index = kClasses; index-- > 0 && keptBytes > keep;) {
    std::vector<Block *> &blocks = kept[index];
    // The oldest first.
    for (size_t i = 0; i < blocks.size() && keptBytes > keep;) {
      if (blocks[i]->lastUse > reached) {
        ++i;
        continue;
      }
      keptBytes -= blocks[i]->capacity;
      freeBlock(blocks[i]);
      blocks.erase(blocks.begin() + i);
    }
  }
}
