//===- Event.h - Something that is going to have happened -------*- C++ -*-===//
#ifndef SHARDC_ENGINE_EVENT_H
#define SHARDC_ENGINE_EVENT_H

#include "shardc/Engine/Failure.h"
#include "shardc/Engine/Ref.h"
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shardc::engine {

class Engine;

class Event final : public Counted<Event> {
public:
  /// One that somebody outside sets.
  Event();
  /// That of a run of `engine`.
  explicit Event(Engine *engine);
  using Then = std::function<void(const Failure *)>;

  /// Whoever waits for one that goes unset is told so.
  ~Event();

  /// The event of what has happened already.
  static Ref<Event> ready();

  bool isReady() const {
    return state.load(std::memory_order_acquire) != Pending;
  }
  /// Waits; what failed, or null. Lives as long as the event.
  const Failure *await() const;
  /// Waits at most so long; whether it is ready.
  bool awaitFor(std::chrono::nanoseconds limit);
  /// What failed; null too while it is not ready.
  const Failure *failure() const { return isReady() ? failed.get() : nullptr; }
  /// Sets it; false if it was set before.
  bool set(MaybeFailure failure);
  bool isRun() const { return bool(engine); }
  /// Says that a run is about to fail: to work behind it on the same device.
  void setFailing() { failing.store(true, std::memory_order_release); }
  bool isFailing() const {
    return failing.load(std::memory_order_acquire) || failure();
  }
  /// Calls `then` once: here if the event is ready, else by who sets it. It
  /// must be short, and not wait.
  void onReady(Then then);
  /// The same for what may take a while: a device's thread, which sets the
  /// event of a run, leaves all of it to the engine's courier, at once.
  void onReadyElsewhere(Then then);

private:
  enum : uint32_t { Pending, Ready };
  std::atomic<uint32_t> state{Pending};
  std::atomic<bool> failing{false};
  const Ref<Engine> engine;
  MaybeFailure failed; ///< written before `state`
  std::mutex mutex;    ///< guards what follows, and setting
  std::vector<Then> waiting, elsewhere;
  void call(std::vector<Then> &to, Then then);
};

/// A thread that does what may take a while, or may call the engine, in the
/// place of a device's. Started when it is first needed.
class Courier {
public:
  Courier();
  /// Does what is left, then ends.
  ~Courier();
  Courier(const Courier &) = delete;
  Courier &operator=(const Courier &) = delete;
  void post(std::function<void()> task);

private:
  struct State;
  static void serve(std::shared_ptr<State> state);
  std::shared_ptr<State> state;
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_EVENT_H
