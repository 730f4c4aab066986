//===- Event.cpp - Something that is going to have happened ---------------===//

#include "shardc/Engine/Event.h"
#include "shardc/Engine/Engine.h"
#include <condition_variable>
#include <deque>

using namespace shardc::engine;

Failure *shardc::engine::noMemory() {
  static Failure failure = {Status::Memory, "out of memory", ""};
  return &failure;
}

Ref<Event> Event::ready() {
  // Never deleted: this reference stays.
  static Event *const event = [] {
    auto *made = new Event;
    made->set(nullptr);
    return made;
  }();
  return Ref<Event>(event);
}

Event::Event() = default;

Event::Event(Engine *engine) : engine(engine) {}

Event::~Event() {
  if (isReady())
    return;
  try {
    set(fail(Status::Lost, "the event was destroyed before it was set"));
  } catch (const std::bad_alloc &) {
    set(failForMemory());
  }
}

const Failure *Event::await() const {
  state.wait(Pending, std::memory_order_acquire);
  return failed.get();
}

bool Event::awaitFor(std::chrono::nanoseconds limit) {
  if (isReady())
    return true;
  struct Wake {
    std::mutex mutex;
    std::condition_variable ready;
    bool isSet = false;
  };
  // Outlives a wait that ends before the event is set.
  auto wake = std::make_shared<Wake>();
  onReady([wake](const Failure *) {
    std::lock_guard lock(wake->mutex);
    wake->isSet = true;
    wake->ready.notify_all();
  });
  std::unique_lock lock(wake->mutex);
  return wake->ready.wait_for(lock, limit, [&] { return wake->isSet; });
}

bool Event::set(MaybeFailure failure) {
  std::vector<Then> callees, others;
  {
    std::lock_guard lock(mutex);
    if (isReady())
      return false;
    failed = std::move(failure);
    callees.swap(waiting);
    others.swap(elsewhere);
    state.store(Ready, std::memory_order_release);
  }
  state.notify_all();
  for (Then &then : callees)
    then(failed.get());
  // One task for all: JAX waits for each of hundreds of results. Last, for they
  // may give up the event.
  if (!others.empty()) {
    auto kept = std::make_shared<MaybeFailure>(copyOf(failed.get()));
    engine->courier().post([kept, others = std::move(others)] {
      for (const Then &then : others)
        then(kept->get());
    });
  }
  return true;
}

void Event::call(std::vector<Then> &to, Then then) {
  if (!isReady()) {
    std::lock_guard lock(mutex);
    if (!isReady()) {
      to.push_back(std::move(then));
      return;
    }
  }
  then(failed.get());
}

void Event::onReady(Then then) { call(waiting, std::move(then)); }

void Event::onReadyElsewhere(Then then) {
  call(engine ? elsewhere : waiting, std::move(then));
}

struct Courier::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  std::thread thread;
  bool stopping = false;
};

Courier::Courier() : state(std::make_shared<State>()) {}

void Courier::serve(std::shared_ptr<State> state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->wake.wait(lock,
                     [&] { return state->stopping || !state->tasks.empty(); });
    if (state->tasks.empty())
      return;
    std::function<void()> task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

Courier::~Courier() {
  std::thread thread;
  {
    std::lock_guard lock(state->mutex);
    state->stopping = true;
    thread = std::move(state->thread);
  }
  state->wake.notify_all();
  if (!thread.joinable())
    return;
  // A task may hold the last reference to what owns the courier.
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

void Courier::post(std::function<void()> task) {
  {
    std::lock_guard lock(state->mutex);
    state->tasks.push_back(std::move(task));
    if (!state->thread.joinable())
      state->thread = std::thread(serve, state);
  }
  state->wake.notify_one();
}
