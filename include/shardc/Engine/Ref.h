//===- Ref.h - Objects that count who holds them ----------------*- C++ -*-===//
#ifndef SHARDC_ENGINE_REF_H
#define SHARDC_ENGINE_REF_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace shardc::engine {

/// Born with one reference, which its maker holds.
template <typename T> class Counted {
public:
  Counted() = default;
  Counted(const Counted &) = delete;
  Counted &operator=(const Counted &) = delete;
  void retain() { count.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete static_cast<T *>(this);
  }
  bool isShared() const { return count.load(std::memory_order_acquire) > 1; }

protected:
  ~Counted() = default;

private:
  std::atomic<int64_t> count{1};
};

/// Holds one reference, or nothing.
template <typename T> class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T *object) : object(object) {
    if (object)
      object->retain();
  }
  /// Takes over the reference that the caller has.
  static Ref adopt(T *object) {
    Ref ref;
    ref.object = object;
    return ref;
  }
  Ref(const Ref &other) : Ref(other.object) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() {
    if (object)
      object->release();
  }
  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
  /// Gives the reference to the caller.
  T *take() { return std::exchange(object, nullptr); }

private:
  T *object = nullptr;
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_REF_H
