//===- Buffer.h - Arrays on devices -----------------------------*- C++ -*-===//
#ifndef SHARDC_ENGINE_BUFFER_H
#define SHARDC_ENGINE_BUFFER_H

#include "shardc/Engine/Engine.h"
#include "shardrt/ElementType.h"
#include <span>

namespace shardc::engine {

using shardrt::ElementType;

/// Dims of an array: few, mostly.
class Dims {
public:
  Dims() = default;
  explicit Dims(std::span<const int64_t> dims) : count(dims.size()) {
    if (count > kInline)
      many.assign(dims.begin(), dims.end());
    else
      std::copy(dims.begin(), dims.end(), few.begin());
  }
  std::span<const int64_t> get() const {
    return {count > kInline ? many.data() : few.data(), count};
  }

private:
  static constexpr size_t kInline = 6;
  size_t count = 0;
  std::array<int64_t, kInline> few = {};
  std::vector<int64_t> many;
};

/// An array in host memory, as somebody else lays it out.
struct HostLayout {
  ElementType type = ElementType::F32;
  std::span<const int64_t> dims;
  const int64_t *byteStrides = nullptr; ///< null: dense and row-major
};

class Buffer final : public Counted<Buffer> {
public:
  /// Takes over one hold of `block`. `ready` null: its contents are there.
  Buffer(Device &device, ElementType type, const Dims &dims, int64_t bytes,
         Block *block, Ref<Event> ready);
  ~Buffer();

  /// Copies `data`, or uses it in place. `released` is called in any case;
  /// none: `data` is not looked at later.
  static MaybeFailure fromHost(Engine &engine, int64_t device, const void *data,
                               const HostLayout &layout,
                               std::function<void()> released,
                               Ref<Buffer> &buffer);
  /// Memory that nobody has written. With `ready`, it is there then.
  static MaybeFailure create(Engine &engine, int64_t device, ElementType type,
                             std::span<const int64_t> dims, Ref<Event> ready,
                             Ref<Buffer> &buffer);

  /// Copies to `data`; `done` as the C API says, null: waits.
  MaybeFailure toHost(void *data, const int64_t *byteStrides, Ref<Event> *done);
  MaybeFailure bytesToHost(void *data, int64_t offset, int64_t count,
                           Ref<Event> *done);
  MaybeFailure toDevice(int64_t target, Ref<Buffer> &copy);

  /// Gives its memory back.
  void erase();
  bool isErased() const { return data() == nullptr; }
  void pin();
  void unpin();
  /// The address; null once it was erased.
  char *data() const { return address.load(std::memory_order_acquire); }
  /// Ready when its contents are there.
  Ref<Event> readyEvent() const { return ready ? ready : Event::ready(); }

  const Ref<Engine> engine;
  Device &device;
  const ElementType type;
  const Dims dims;
  const int64_t bytes;
  const Ref<Event> ready; ///< null: from the beginning

  // Guarded by the mutex of the block's device.

  /// Takes the block with the hold that the buffer has, which is erased then;
  /// null if it was. With the mutex of `home` held.
  Block *takeBlockLocked();
  /// Undoes that.
  void putBackLocked(Block *taken);
  /// Null once it was erased. With the mutex of `home` held.
  Block *blockLocked() const { return block; }
  /// Whether the execution that is being enqueued may reuse it. With the
  /// mutex of `home` held.
  bool isGivenUp = false;
  /// Whose memory it is: where devices share memory, perhaps another one's.
  Device &home;

private:
  /// Does `copy` with its address, once it is ready.
  MaybeFailure whenReady(std::function<void(const char *)> copy,
                         Ref<Event> *done);
  MaybeFailure holdBlock(Block *&held);

  std::atomic<char *> address;
  Block *block;            ///< null: erased
  Block *pinned = nullptr; ///< the block, held once more for each pin
  int64_t pins = 0;
};

/// The number of bytes of an array; negative if there are too many.
int64_t bytesOf(ElementType type, std::span<const int64_t> dims);

/// Copies an array of elements of `width` bytes; strides in bytes.
void copyStrided(char *to, const int64_t *toStrides, const char *from,
                 const int64_t *fromStrides, std::span<const int64_t> dims,
                 int64_t width);

} // namespace shardc::engine

#endif // SHARDC_ENGINE_BUFFER_H
