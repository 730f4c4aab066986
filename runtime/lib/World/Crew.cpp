//===- Crew.cpp - Threads of ranks that worlds share ----------------------===//
//
// Locks, the outer first: `watching`, then those of places in ascending order.
// No code of a caller runs under one.
//
//===----------------------------------------------------------------------===//

#include "World/Crew.h"
#include "Host/Clock.h"
#include "Host/Cores.h"
#include "Host/Spin.h"
#include "Host/WriteError.h"
#include "World/World.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <system_error>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

using namespace shardrt;

static constexpr int64_t longestTick = 100'000'000, shortestTick = 1'000'000;

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

ForkMark::ForkMark() : process(getpid()) {
#if defined(__linux__) && defined(MADV_WIPEONFORK)
  constexpr size_t bytes = 4096;
  void *page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return;
  }
  word = static_cast<int *>(page);
  *word = 1;
#endif
}

ForkMark::~ForkMark() {
#if defined(__linux__) && defined(MADV_WIPEONFORK)
  if (word)
    munmap(const_cast<int *>(word), 4096);
#endif
}

bool ForkMark::isHere() const {
  return word ? *word != 0 : process == getpid();
}

//===----------------------------------------------------------------------===//
// Queues and turns
//===----------------------------------------------------------------------===//

// Not std::atomic::wait: before it sleeps it gives the core away a few times,
// and where others want it a thread that has nothing to do then waits in line,
// and is late when it has.

/// Sleeps while `word` is `seen`, or for no reason.
static void sleepWhile(std::atomic<uint32_t> &word, uint32_t seen) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
  word.wait(seen);
#endif
}

static void wake(std::atomic<uint32_t> &word) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#else
  word.notify_all();
#endif
}

Crew::Place::Place(int64_t index, int64_t ranks, const Options &options)
    : pool(options.first + index, ranks, options.pin, options.threads),
      alone(1, {}, {}), index(index), core(options.first + index) {}

void Crew::Place::follow() {
  int64_t wanted = core.load(std::memory_order_relaxed);
  if (wanted == sentTo)
    return;
  sentTo = wanted;
  moveToCore(wanted * pool.width(), /*bind=*/false);
}

Crew::Crew(int64_t count, Options options)
    : options(options),
      // Whoever starts runs has a core too.
      looks(std::max(count, options.ranks) < countCores() ? looksBeforeSleep
                                                          : 0),
      tick(longestTick) {
  for (int64_t i = 0; i < count; ++i)
    places.push_back(
        std::make_unique<Place>(i, std::max(count, options.ranks), options));
  for (int64_t i = 0; options.group && i < count; ++i)
    places[i]->memory.use(options.group->segmentOf(options.team->first() + i));
}

int Crew::status() const {
  if (!fork.isHere() || isClosed.load(std::memory_order_acquire))
    return SHARDRT_USAGE;
  return lost.load(std::memory_order_acquire) == 0 ? SHARDRT_OK : SHARDRT_LOST;
}

std::string Crew::describeStatus() const {
  if (!fork.isHere())
    return "this process was forked from the one whose threads run the ranks; "
           "start another one";
  if (isClosed.load())
    return "the crew is destroyed";
  for (auto &place : places)
    if (place->isLost.load() && options.isShared)
      return "place " + std::to_string(place->index) +
             " of the crew has not come back from an earlier run; make a new "
             "crew";
  return "a rank of this world has not come back from an earlier run; make a "
         "new world";
}

int Crew::push(Task &first) {
  if (int why = status())
    return why;
  int refusal = SHARDRT_OK;
  Task *end = nullptr;
  for (Task *task = &first; task && refusal == SHARDRT_OK;
       task = task->sibling) {
    Place &place = *places[task->place];
    place.mutex.lock();
    end = task->sibling;
    if (place.state.load(std::memory_order_relaxed) & Place::Closing)
      refusal = SHARDRT_USAGE;
    else if (place.isLost.load())
      refusal = SHARDRT_LOST;
  }
  for (Task *task = &first; task != end && refusal == SHARDRT_OK;
       task = task->sibling) {
    Place &place = *places[task->place];
    task->next = nullptr;
    (place.last ? place.last->next : place.first) = task;
    place.last = task;
  }
  // Not before all are in their queues: the last to be unlocked keeps the
  // others from going away.
  for (Task *task = &first; task != end;) {
    Place &place = *places[task->place];
    task = task->sibling;
    bool wakes = false;
    if (refusal == SHARDRT_OK) {
      uint32_t before = place.state.fetch_add(Place::Queued);
      wakes = before == Place::Asleep;
    }
    place.mutex.unlock();
    if (wakes)
      wake(place.state);
  }
  return refusal;
}

Task *Crew::pop(Place &place) {
  std::lock_guard lock(place.mutex);
  Task *task = place.first;
  if (!task)
    return nullptr;
  place.first = task->next;
  if (!place.first)
    place.last = nullptr;
  place.state.fetch_sub(Place::Queued);
  return task;
}

bool Crew::tryTake(int64_t index) {
  std::atomic<uint32_t> &state = places[index]->state;
  for (uint32_t now = state.load(); (now & ~uint32_t(Place::Asleep)) == 0;)
    if (state.compare_exchange_weak(now, now | Place::Taken))
      return true;
  return false;
}

void Crew::giveBack(int64_t index) {
  Place &place = *places[index];
  uint32_t now = place.state.fetch_sub(Place::Taken) - Place::Taken;
  if ((now & Place::Asleep) && now != Place::Asleep)
    wake(place.state);
}

bool Crew::takeTurn(Place &place) {
  int64_t left = looks;
  uint32_t state = place.state.load();
  while (true) {
    uint32_t awake = state & ~uint32_t(Place::Asleep);
    if (!(state & Place::Taken) && Place::hasWork(state)) {
      if (place.state.compare_exchange_weak(state, awake | Place::Taken))
        return true;
      continue;
    }
    if (awake == Place::Closing)
      return false;
    if (left > 0) {
      --left;
      relaxCore();
      state = place.state.load();
      continue;
    }
    if (!(state & Place::Asleep)) {
      // What comes from here on wakes it.
      if (place.state.compare_exchange_weak(state, state | Place::Asleep))
        state |= Place::Asleep;
      continue;
    }
    sleepWhile(place.state, state);
    state = place.state.load();
    if (!options.pin && Place::hasWork(state)) {
      place.sentTo = -1;
      place.follow();
    }
  }
}

void Crew::serve(int64_t index) {
  Place &place = *places[index];
  if (options.pin)
    moveToCore(options.first + index, /*bind=*/true);
  while (takeTurn(place)) {
    bool hasTurn = true;
    while (hasTurn) {
      Task *task = pop(place);
      if (!task)
        break;
      Outcome outcome;
      task->run(SHARDRT_OK, outcome);
      if (place.isLost.load()) {
        // It has come back after all.
        std::lock_guard lock(place.mutex);
        place.isLost.clear(lost);
      }
      // Who is notified finds the place idle, if it is.
      uint32_t only = Place::Taken;
      hasTurn = !place.state.compare_exchange_strong(only, 0);
      outcome.notify();
    }
    if (hasTurn)
      giveBack(index);
  }
  std::lock_guard lock(watching);
  place.hasEnded = true;
  ended.notify_all();
}

//===----------------------------------------------------------------------===//
// Runs that are watched
//===----------------------------------------------------------------------===//

void Crew::expect(int64_t timeoutNs) {
  if (timeoutNs <= 0)
    return;
  int64_t wanted = std::clamp(timeoutNs / 8, shortestTick, longestTick);
  for (int64_t now = tick.load(); wanted < now;)
    if (tick.compare_exchange_weak(now, wanted))
      break;
}

bool Crew::watch(Run &run, RunPart *part) {
  std::lock_guard lock(watching);
  if (!run.group) {
    World &world = *run.world;
    std::vector<std::unique_ptr<LocalGroup>> &groups = idle[world.numRanks()];
    if (groups.empty())
      groups.push_back(std::make_unique<LocalGroup>(
          world.numRanks(), GroupOptions(), DescribeSite()));
    runs.reserve(runs.size() + 1);
    run.borrowed = std::move(groups.back());
    groups.pop_back();
    run.borrowed->lend(world.groupOptions(), world.describeSite);
    run.group = run.borrowed.get();
  }
  if (!run.isWatched) {
    runs.push_back(&run);
    run.isWatched = true;
    ++begun;
    if (isAsleep)
      wakePatrol.notify_one();
  }
  if (run.isReported.load())
    return false;
  if (part)
    part->begin();
  return true;
}

void Crew::unwatch(Run &run) {
  std::lock_guard lock(watching);
  if (!run.isWatched)
    return;
  *std::find(runs.begin(), runs.end(), &run) = runs.back();
  runs.pop_back();
  if (!run.borrowed)
    return;
  run.borrowed->reset();
  try {
    idle[run.borrowed->size()].push_back(std::move(run.borrowed));
  } catch (const std::bad_alloc &) {
    // It goes with the run.
  }
}

bool Crew::lose(const RunPart &part, std::vector<Task *> &unreached) {
  Place &place = *places[part.place];
  std::lock_guard lock(place.mutex);
  if (!place.isLost.set(part.hasLeft, lost))
    return false;
  for (; place.first; place.first = place.first->next) {
    unreached.push_back(place.first);
    place.state.fetch_sub(Place::Queued);
  }
  place.last = nullptr;
  ended.notify_all();
  return true;
}

void Crew::patrol() {
  std::vector<Task *> unreached;
  std::vector<Outcome> outcomes;
  {
    std::lock_guard lock(watching);
    int64_t now = nowNs();
    for (Run *run : runs) {
      // Who waits for a rank that has other work before is not stuck.
      int64_t since = run->begunNs.load();
      run->group->patrol(since == 0 ? now : since);
      if (!run->group->failed())
        continue;
      if (run->failedNs == 0)
        run->failedNs = now;
      int64_t grace = run->world->graceNs();
      if (grace < 0 || now - run->failedNs <= grace || run->isReported.load())
        continue;
      bool isMissed = false;
      for (const RunPart &part : run->parts())
        if (part.hasBegun.load() && !part.hasLeft.load())
          isMissed |= lose(part, unreached);
      if (isMissed && !run->isReported.exchange(true))
        outcomes.push_back(run->world->outcomeOf(*run));
    }
  }
  for (Task *task : unreached)
    task->run(SHARDRT_LOST, outcomes.emplace_back());
  for (Outcome &outcome : outcomes)
    outcome.notify();
}

void Crew::startPatrol() {
  std::lock_guard lock(watching);
  if (guard.joinable() || isStopping)
    return;
  guard = std::thread([this] {
    std::unique_lock lock(watching);
    int64_t seen = -1;
    while (!isStopping) {
      // Not put to sleep by each pause: whoever begins would have to wake it.
      if (runs.empty() && seen == begun) {
        isAsleep = true;
        wakePatrol.wait(lock, [&] { return isStopping || !runs.empty(); });
        isAsleep = false;
      }
      seen = begun;
      wakePatrol.wait_for(lock, std::chrono::nanoseconds(tickNs()),
                          [&] { return isStopping; });
      lock.unlock();
      patrol();
      lock.lock();
    }
  });
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Crew::close(int64_t started) {
  isClosed.store(true);
  for (auto &place : places) {
    std::lock_guard lock(place->mutex);
    place->state.fetch_or(Place::Closing);
    wake(place->state);
  }
  std::unique_lock lock(watching);
  for (int64_t i = 0; i < started; ++i)
    while (!ended.wait_for(lock, std::chrono::nanoseconds(tickNs()), [&] {
      return places[i]->hasEnded || places[i]->isLost.load();
    })) {
      lock.unlock();
      patrol();
      lock.lock();
    }
  isStopping = true;
  wakePatrol.notify_all();
  lock.unlock();
  if (guard.joinable())
    guard.join();
}

bool Crew::hasEnded(int64_t index) {
  std::lock_guard lock(watching);
  return places[index]->hasEnded;
}

CrewHandle::CrewHandle(int64_t places, Crew::Options options)
    : crew(std::make_shared<Crew>(places, options)) {
  threads.reserve(places);
  try {
    for (int64_t index = 0; index < places; ++index)
      threads.emplace_back([crew = crew, index] { crew->serve(index); });
  } catch (...) {
    end();
    throw;
  }
}

void CrewHandle::end() {
  crew->close(static_cast<int64_t>(threads.size()));
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!crew->hasEnded(i)) {
      if (Team *team = crew->team())
        team->keep();
      threads[i].detach();
      continue;
    }
    threads[i].join();
    if (!crew->isShared())
      continue; // goes with its world
    crew->place(i).memory.clear();
    crew->place(i).pool.stop();
  }
  threads.clear();
}

CrewHandle::~CrewHandle() {
  if (crew)
    end();
}

//===----------------------------------------------------------------------===//
// C surface
//===----------------------------------------------------------------------===//

namespace {
/// A function of a caller's.
class CallTask final : public Task {
public:
  CallTask(int64_t where, shardrt_call_fn fn, void *user) : fn(fn), user(user) {
    place = where;
  }
  void run(int status, Outcome &) override {
    fn(user, status);
    delete this;
  }

private:
  shardrt_call_fn fn;
  void *user;
};
} // namespace

extern "C" {

int shardrt_crew_create(int64_t places, const shardrt_crew_options *given,
                        shardrt_crew **crew, char *error, size_t errorSize) {
  if (!crew || (given && given->size < sizeof(size_t))) {
    writeError(error, errorSize, "a NULL argument, or options without a size");
    return SHARDRT_USAGE;
  }
  constexpr int64_t mostPlaces = 1 << 16;
  shardrt_crew_options asked = {};
  if (given)
    std::memcpy(&asked, given, std::min(given->size, sizeof(asked)));
  if (places < 1 || places > mostPlaces || asked.threads < 0) {
    writeError(error, errorSize,
               "a crew has 1 to " + std::to_string(mostPlaces) +
                   " places, and no negative number of threads");
    return SHARDRT_USAGE;
  }
  try {
    Crew::Options options;
    options.pin = asked.pin != 0;
    options.threads = asked.threads;
    if (asked.job &&
        !(asked.job->team && asked.job->team->localRanks() == places)) {
      writeError(error, errorSize,
                 "a crew of " + std::to_string(places) +
                     " places, but the job has another number of ranks here");
      return SHARDRT_USAGE;
    }
    if (asked.job) {
      options.team = asked.job->team;
      std::vector<int64_t> all(options.team->size());
      std::iota(all.begin(), all.end(), 0);
      GroupOptions waits;
      waits.timeoutNs = readTimeout(asked.timeout_ms, /*hasHost=*/false);
      int status = SHARDRT_OK;
      std::string why;
      options.group = options.team->find(all, waits, status, why);
      if (!options.group) {
        writeError(error, errorSize, why);
        return status;
      }
    }
    *crew = new shardrt_crew{CrewHandle(places, options)};
    return SHARDRT_OK;
  } catch (const std::system_error &e) {
    writeError(error, errorSize,
               std::string("cannot start a thread for each place: ") +
                   e.what());
    return SHARDRT_MEMORY;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

void shardrt_crew_destroy(shardrt_crew *crew) {
  // A forked child has no threads to join, and locks that nobody opens.
  if (crew && crew->handle.crew->fork.isHere())
    delete crew;
}

int64_t shardrt_crew_num_places(const shardrt_crew *crew) {
  return crew ? crew->handle.crew->size() : 0;
}

int shardrt_crew_call(shardrt_crew *crew, int64_t place, shardrt_call_fn fn,
                      void *user) {
  if (!fn || place < 0 || place >= shardrt_crew_num_places(crew))
    return SHARDRT_USAGE;
  auto *task = new (std::nothrow) CallTask(place, fn, user);
  if (!task)
    return SHARDRT_MEMORY;
  int status = crew->handle.crew->push(*task);
  if (status != SHARDRT_OK)
    delete task;
  return status;
}

int shardrt_crew_is_idle(const shardrt_crew *crew, int64_t place) {
  return place >= 0 && place < shardrt_crew_num_places(crew) &&
         crew->handle.crew->isIdle(place);
}

int shardrt_crew_memory(const shardrt_crew *crew, int64_t place, int64_t *bytes,
                        int64_t *peak) {
  if (place < 0 || place >= shardrt_crew_num_places(crew))
    return SHARDRT_USAGE;
  const Memory &memory = crew->handle.crew->place(place).memory;
  if (bytes)
    *bytes = memory.bytes();
  if (peak)
    *peak = memory.peakBytes();
  return SHARDRT_OK;
}

int64_t shardrt_num_cores(void) { return countGrantedCores(); }

} // extern "C"
