//===- Buffer.cpp - Arrays on devices -------------------------------------===//

#include "shardc/Engine/Buffer.h"
#include <algorithm>
#include <cstring>

using namespace shardc::engine;

/// No array has more.
static constexpr int64_t kMostDims = 64;

int64_t shardc::engine::bytesOf(ElementType type,
                                std::span<const int64_t> dims) {
  int64_t bytes = shardrt::elementBytes(type);
  bool isEmpty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return -1;
    if (dim == 0)
      isEmpty = true;
    else if (__builtin_mul_overflow(bytes, dim, &bytes))
      return -1;
  }
  return isEmpty ? 0 : bytes;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static std::string printDims(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

static MaybeFailure checkArray(ElementType type, std::span<const int64_t> dims,
                               int64_t &bytes) {
  if (shardrt::elementBytes(type) == 0)
    return usage("there is no element type of code " +
                 std::to_string(static_cast<int64_t>(type)));
  if (dims.size() > kMostDims)
    return usage("an array of " + std::to_string(dims.size()) +
                 " dims; expected at most " + std::to_string(kMostDims));
  bytes = bytesOf(type, dims);
  if (bytes < 0)
    return usage("an array of dims " + printDims(dims) +
                 ": expected sizes of at least 0 and less than 2^63 bytes");
  return nullptr;
}

static std::vector<int64_t> denseStrides(std::span<const int64_t> dims,
                                         int64_t width) {
  std::vector<int64_t> strides(dims.size());
  for (size_t d = dims.size(); d-- > 0; width *= dims[d])
    strides[d] = width;
  return strides;
}

static bool isDense(std::span<const int64_t> dims, const int64_t *strides,
                    int64_t width) {
  if (!strides)
    return true;
  for (size_t d = dims.size(); d-- > 0; width *= dims[d]) {
    // Of an empty array no stride counts.
    if (dims[d] == 0)
      return true;
    if (dims[d] != 1 && strides[d] != width)
      return false;
  }
  return true;
}

namespace {
/// One loop of a strided copy.
struct Loop {
  int64_t size, to, from;
};
} // namespace

template <typename T>
static void copyRow(char *to, int64_t toStride, const char *from,
                    int64_t fromStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * fromStride, sizeof(T));
    std::memcpy(to + i * toStride, &element, sizeof(T));
  }
}

static void copyLoops(char *to, const char *from, std::span<const Loop> loops,
                      int64_t width) {
  if (loops.empty()) {
    std::memcpy(to, from, width);
    return;
  }
  const Loop &loop = loops[0];
  if (loops.size() > 1) {
    for (int64_t i = 0; i < loop.size; ++i)
      copyLoops(to + i * loop.to, from + i * loop.from, loops.subspan(1),
                width);
    return;
  }
  switch (width) {
  case 1:
    return copyRow<uint8_t>(to, loop.to, from, loop.from, loop.size);
  case 2:
    return copyRow<uint16_t>(to, loop.to, from, loop.from, loop.size);
  case 4:
    return copyRow<uint32_t>(to, loop.to, from, loop.from, loop.size);
  case 8:
    return copyRow<uint64_t>(to, loop.to, from, loop.from, loop.size);
  default:
    for (int64_t i = 0; i < loop.size; ++i)
      std::memcpy(to + i * loop.to, from + i * loop.from, width);
  }
}

void shardc::engine::copyStrided(char *to, const int64_t *toStrides,
                                 const char *from, const int64_t *fromStrides,
                                 std::span<const int64_t> dims, int64_t width) {
  std::vector<Loop> loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0)
      return;
    if (dims[d] != 1)
      loops.push_back({dims[d], toStrides[d], fromStrides[d]});
  }
  // What is behind one another on both sides is one piece.
  while (!loops.empty() && loops.back().to == width &&
         loops.back().from == width) {
    width *= loops.back().size;
    loops.pop_back();
  }
  copyLoops(to, from, loops, width);
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

static MaybeFailure outOfMemory(int64_t bytes, int64_t device) {
  return fail(Status::Memory, "out of memory: " + std::to_string(bytes) +
                                  " bytes for a buffer of device " +
                                  std::to_string(device));
}

Buffer::Buffer(Device &device, ElementType type, const Dims &dims,
               int64_t bytes, Block *block, Ref<Event> ready)
    : engine(&device.engine), device(device), type(type), dims(dims),
      bytes(bytes), ready(std::move(ready)), home(*block->device),
      address(block->data), block(block) {}

Buffer::~Buffer() { erase(); }

MaybeFailure Buffer::fromHost(Engine &engine, int64_t device, const void *data,
                              const HostLayout &layout,
                              std::function<void()> released,
                              Ref<Buffer> &buffer) {
  /// Calls `released`, unless a block has it.
  struct Release {
    std::function<void()> call;
    ~Release() {
      if (call)
        call();
    }
  } release{std::move(released)};
  if (MaybeFailure failure = engine.checkDevice(device))
    return failure;
  int64_t bytes;
  if (MaybeFailure failure = checkArray(layout.type, layout.dims, bytes))
    return failure;
  if (!data && bytes > 0)
    return usage("no data for an array of " + std::to_string(bytes) + " bytes");
  Device &place = *engine.devices[device];
  int64_t width = shardrt::elementBytes(layout.type);
  bool dense = isDense(layout.dims, layout.byteStrides, width);
  Block *block;
  if (release.call && dense && bytes > 0 &&
      reinterpret_cast<uintptr_t>(data) % 64 == 0) {
    block = place.borrow(const_cast<void *>(data), bytes,
                         std::exchange(release.call, nullptr));
  } else {
    block = place.allocate(bytes);
    if (!block)
      return outOfMemory(bytes, device);
    if (dense && bytes > 0)
      std::memcpy(block->data, data, bytes);
    else if (bytes > 0)
      copyStrided(block->data, denseStrides(layout.dims, width).data(),
                  static_cast<const char *>(data), layout.byteStrides,
                  layout.dims, width);
  }
  buffer = Ref<Buffer>::adopt(
      new Buffer(place, layout.type, Dims(layout.dims), bytes, block, nullptr));
  return nullptr;
}

MaybeFailure Buffer::create(Engine &engine, int64_t device, ElementType type,
                            std::span<const int64_t> dims, Ref<Event> ready,
                            Ref<Buffer> &buffer) {
  if (MaybeFailure failure = engine.checkDevice(device))
    return failure;
  int64_t bytes;
  if (MaybeFailure failure = checkArray(type, dims, bytes))
    return failure;
  Device &place = *engine.devices[device];
  Block *block = place.allocate(bytes);
  if (!block)
    return outOfMemory(bytes, device);
  if (ready) {
    // Somebody writes to it until then, whether it is held or not.
    place.hold(block);
    Ref<Engine> kept(&engine);
    ready->onReady(
        [kept, &place, block](const Failure *) { place.drop(block); });
  }
  buffer = Ref<Buffer>::adopt(
      new Buffer(place, type, Dims(dims), bytes, block, std::move(ready)));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Using
//===----------------------------------------------------------------------===//

static MaybeFailure erasedFailure() {
  return usage("the buffer has been deleted or donated");
}

MaybeFailure Buffer::holdBlock(Block *&held) {
  if (MaybeFailure failure = engine->checkUsable())
    return failure;
  std::lock_guard lock(home.mutex);
  if (!block)
    return erasedFailure();
  ++block->holders;
  held = block;
  return nullptr;
}

MaybeFailure Buffer::whenReady(std::function<void(const char *)> copy,
                               Ref<Event> *done) {
  Block *held;
  if (MaybeFailure failure = holdBlock(held))
    return failure;
  // It is not given up while it is copied.
  Ref<Engine> kept = engine;
  Device &place = home;
  if (!done || !ready || ready->isReady()) {
    const Failure *failed = ready ? ready->await() : nullptr;
    if (!failed)
      copy(held->data);
    place.drop(held);
    if (!done)
      return copyOf(failed);
    *done = failed ? ready : Event::ready();
    return nullptr;
  }
  Ref<Event> copied = Ref<Event>::adopt(new Event);
  *done = copied;
  ready->onReady([=, copy = std::move(copy), &place](const Failure *failed) {
    MaybeFailure failure = copyOf(failed);
    auto shared = std::make_shared<MaybeFailure>(std::move(failure));
    kept->courier().post([=, &place] {
      if (!*shared)
        copy(held->data);
      place.drop(held);
      copied->set(std::move(*shared));
      (void)kept;
    });
  });
  return nullptr;
}

MaybeFailure Buffer::toHost(void *to, const int64_t *byteStrides,
                            Ref<Event> *done) {
  if (!to && bytes > 0)
    return usage("no room for an array of " + std::to_string(bytes) + " bytes");
  int64_t width = shardrt::elementBytes(type), size = bytes;
  if (isDense(dims.get(), byteStrides, width))
    return whenReady(
        [to, size](const char *from) {
          if (size > 0)
            std::memcpy(to, from, size);
        },
        done);
  std::vector<int64_t> strides(byteStrides, byteStrides + dims.get().size());
  return whenReady(
      [=, strides = std::move(strides), shape = dims](const char *from) {
        copyStrided(static_cast<char *>(to), strides.data(), from,
                    denseStrides(shape.get(), width).data(), shape.get(),
                    width);
      },
      done);
}

MaybeFailure Buffer::bytesToHost(void *to, int64_t offset, int64_t count,
                                 Ref<Event> *done) {
  if (offset < 0 || count < 0 || offset > bytes || count > bytes - offset)
    return usage("bytes " + std::to_string(offset) + " to " +
                 std::to_string(offset) + " + " + std::to_string(count) +
                 " of a buffer that has " + std::to_string(bytes));
  if (!to && count > 0)
    return usage("no room for " + std::to_string(count) + " bytes");
  return whenReady(
      [=](const char *from) {
        if (count > 0)
          std::memcpy(to, from + offset, count);
      },
      done);
}

MaybeFailure Buffer::toDevice(int64_t target, Ref<Buffer> &copy) {
  if (MaybeFailure failure = engine->checkDevice(target))
    return failure;
  Block *held;
  if (MaybeFailure failure = holdBlock(held))
    return failure;
  copy = Ref<Buffer>::adopt(
      new Buffer(*engine->devices[target], type, dims, bytes, held, ready));
  return nullptr;
}

void Buffer::erase() {
  std::function<void()> released;
  {
    std::lock_guard lock(home.mutex);
    if (Block *mine = takeBlockLocked())
      released = home.dropLocked(mine);
  }
  if (released)
    released();
}

Block *Buffer::takeBlockLocked() {
  address.store(nullptr, std::memory_order_release);
  return std::exchange(block, nullptr);
}

void Buffer::putBackLocked(Block *taken) {
  block = taken;
  address.store(taken->data, std::memory_order_release);
}

void Buffer::pin() {
  std::lock_guard lock(home.mutex);
  if (pins == 0 && block) {
    pinned = block;
    ++block->holders;
  }
  ++pins;
}

void Buffer::unpin() {
  std::function<void()> released;
  {
    std::lock_guard lock(home.mutex);
    if (pins == 0 || --pins > 0)
      return;
    if (Block *mine = std::exchange(pinned, nullptr))
      released = home.dropLocked(mine);
  }
  if (released)
    released();
}
