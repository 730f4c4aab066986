//===- Engine.cpp - Devices of this process -------------------------------===//

#include "shardc/Engine/Engine.h"
#include "shardc/Layout/Limits.h"
#include "shardrt/Jobs.h"
#include <algorithm>
#include <pthread.h>

using namespace shardc::engine;

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

/// How often this process was forked off, counted in the child. Threads and
/// locks of the parent's engines are of no use there.
static std::atomic<int64_t> forks{0};

static int64_t watchForks() {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Device::~Device() {
  for (Block *block : lent) {
    if (block->released)
      block->released();
    delete block;
  }
}

Block *Device::allocate(int64_t bytes) {
  std::lock_guard lock(mutex);
  return pool.take(*this, bytes, completed);
}

Block *Device::borrow(void *data, int64_t bytes,
                      std::function<void()> released) {
  return new Block{this, static_cast<char *>(data), bytes, 1, 0,
                   true, std::move(released)};
}

void Device::hold(Block *block) {
  std::lock_guard lock(mutex);
  ++block->holders;
}

std::function<void()> Device::dropLocked(Block *block) {
  if (--block->holders > 0)
    return {};
  if (!block->isLent) {
    pool.give(block);
    pool.trim(-1, completed);
    return {};
  }
  if (block->lastUse > completed) {
    lent.push_back(block);
    return {};
  }
  std::function<void()> released = std::move(block->released);
  delete block;
  return released;
}

void Device::drop(Block *block) {
  std::function<void()> released;
  {
    std::lock_guard lock(mutex);
    released = dropLocked(block);
  }
  if (released)
    released();
}

void Device::waitForRoom(int64_t most) {
  std::unique_lock lock(mutex);
  ++waiting;
  room.wait(lock, [&] { return submitted - completed < most; });
  --waiting;
}

void Device::complete(int64_t number) {
  std::vector<Block *> done;
  {
    std::lock_guard lock(mutex);
    completed = std::max(completed, number);
    if (waiting > 0)
      room.notify_all();
    if (lent.empty())
      return;
    auto first =
        std::partition(lent.begin(), lent.end(), [&](const Block *block) {
          return block->lastUse > completed;
        });
    done.assign(first, lent.end());
    lent.erase(first, lent.end());
  }
  for (Block *block : done) {
    if (block->released)
      engine.courier().post(std::move(block->released));
    delete block;
  }
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

Engine::Engine(EngineOptions given, shardrt_job *job)
    : options(std::move(given)), pool(makeContexts()),
      found(makeCache(options.cacheFolder)), kept(makeProgramCache()),
      member(job), first(job ? shardrt_job_rank(job) : 0),
      generation(watchForks()) {
  devices.resize(job ? shardrt_job_size(job) : options.devices);
  for (size_t i = 0; job && i < devices.size(); ++i)
    owners.push_back(shardrt_job_process_of(job, static_cast<int64_t>(i)));
  for (int64_t i = 0; i < options.devices; ++i)
    devices[first + i] = std::make_unique<Device>(*this, first + i);
}

int64_t Engine::process() const { return owners.empty() ? 0 : owners[first]; }

int64_t Engine::processOf(int64_t device) const {
  if (owners.empty())
    return 0;
  bool isOne = device >= 0 && device < static_cast<int64_t>(owners.size());
  return isOne ? owners[device] : -1;
}

/// Joins the job; null where the environment knows of none.
static MaybeFailure joinJob(const JobOptions &asked, int64_t devices,
                            shardrt_job *&job) {
  shardrt_job_options given = {};
  given.size = sizeof(given);
  given.timeout_ms = asked.timeoutMs;
  given.rank = asked.process;
  given.ranks = asked.processes;
  given.host = asked.host.empty() ? nullptr : asked.host.c_str();
  given.port = asked.port;
  given.token = asked.token.empty() ? nullptr : asked.token.c_str();
  given.local_ranks = devices;
  given.wire = asked.wire;
  given.key_values = asked.hasKeyValues ? &asked.keyValues : nullptr;
  char problem[4096] = "";
  int status = shardrt_job_join(&given, &job, problem, sizeof(problem));
  return status == SHARDRT_OK ? nullptr
                              : fail(static_cast<Status>(status), problem);
}

Engine::~Engine() { close(); }

MaybeFailure Engine::create(EngineOptions options, Ref<Engine> &engine) {
  constexpr int64_t most = kMaxRanks;
  if (options.devices < 1 || options.devices > most)
    return usage("an engine of " + std::to_string(options.devices) +
                 " devices; expected 1 to " + std::to_string(most));
  if (options.target != "cpu" && options.target != "cuda" &&
      options.target != "emulated-cuda")
    return usage("target '" + options.target +
                 "'; expected cpu, cuda or emulated-cuda");
  if (options.threads < 0 || options.threads > 1024)
    return usage(std::to_string(options.threads) +
                 " threads a device; expected 1 to 1024, or 0 for as many as "
                 "there are cores");
  shardrt_job *job = nullptr;
  if (options.job) {
    if (options.target != "cpu")
      return fail(Status::Unsupported,
                  "devices of several processes have the target cpu, not " +
                      options.target);
    // What users do between two steps takes its time.
    if (options.timeoutMs == 0)
      options.timeoutMs = 600'000;
    if (MaybeFailure failure = joinJob(*options.job, options.devices, job))
      return failure;
  }
  // Processes of one host share its cores.
  int64_t neighbours = job && shardrt_job_is_one_host(job)
                           ? shardrt_job_size(job)
                           : options.devices;
  if (options.threads == 0)
    options.threads =
        std::clamp<int64_t>(shardrt_num_cores() / neighbours, 1, 1024);
  auto made = Ref<Engine>::adopt(new Engine(std::move(options), job));
  // The others wait for this process.
  shardrt_crew *crew;
  if (MaybeFailure failure = job ? made->findCrew(crew) : nullptr)
    return failure;
  engine = std::move(made);
  return nullptr;
}

void Engine::leave() {
  if (!member || generation != forks.load(std::memory_order_relaxed))
    return;
  for (int64_t left; (left = underWay.load()) > 0;)
    underWay.wait(left);
  std::lock_guard lock(mutex);
  if (member)
    shardrt_job_say_goodbye(member);
}

void Engine::close() {
  if (closed.exchange(true))
    return;
  // Programs hold their engine.
  clear(*kept);
  // In a forked child there is no thread to wait for.
  if (generation != forks.load(std::memory_order_relaxed)) {
    (void)helper.release();
    return;
  }
  cancelCompilations();
  joinCompilations();
  for (int64_t left; (left = underWay.load()) > 0;)
    underWay.wait(left);
  shardrt_crew *crew;
  std::unique_ptr<Courier> last;
  {
    std::lock_guard lock(mutex);
    last = std::move(helper);
    crew = std::exchange(ranks, nullptr);
  }
  shardrt_crew_destroy(crew);
  shardrt_job *job;
  {
    std::lock_guard lock(mutex);
    job = std::exchange(member, nullptr);
  }
  shardrt_job_leave(job);
}

MaybeFailure Engine::checkUsable() const {
  if (closed.load(std::memory_order_acquire))
    return usage("the engine has been destroyed");
  if (generation != forks.load(std::memory_order_relaxed))
    return usage("this process was forked from one that uses shardc, and has "
                 "none of its devices: fork before the first use, or start it "
                 "anew (Python: multiprocessing.get_context(\"spawn\"))");
  return nullptr;
}

MaybeFailure Engine::checkDevice(int64_t device) const {
  if (MaybeFailure failure = checkUsable())
    return failure;
  auto count = static_cast<int64_t>(devices.size());
  if (device < 0 || device >= count)
    return usage("there is no device " + std::to_string(device) +
                 ": the engine has " + std::to_string(count));
  if (!isHere(device))
    return usage("device " + std::to_string(device) + " is of process " +
                 std::to_string(processOf(device)) + "; this one has " +
                 std::to_string(first) +
                 (options.devices == 1
                      ? std::string()
                      : " to " + std::to_string(first + options.devices - 1)));
  return nullptr;
}

void Engine::endRun() {
  if (underWay.fetch_sub(1) == 1)
    underWay.notify_all();
}

MaybeFailure Engine::findCrew(shardrt_crew *&crew) {
  std::lock_guard lock(mutex);
  if (closed.load())
    return usage("the engine has been destroyed");
  if (!ranks) {
    shardrt_crew_options given = {};
    given.size = sizeof(given);
    given.job = member;
    given.timeout_ms = options.timeoutMs;
    char problem[4096] = "";
    int status = shardrt_crew_create(options.devices, &given, &ranks, problem,
                                     sizeof(problem));
    if (status != SHARDRT_OK)
      return fail(static_cast<Status>(status), problem);
  }
  crew = ranks;
  return nullptr;
}

int64_t Engine::workBytes(int64_t device, int64_t &most) {
  std::lock_guard lock(mutex);
  int64_t bytes = most = 0;
  if (ranks)
    shardrt_crew_memory(ranks, device - first, &bytes, &most);
  return bytes;
}

Courier &Engine::courier() {
  std::lock_guard lock(mutex);
  if (!helper)
    helper = std::make_unique<Courier>();
  return *helper;
}
