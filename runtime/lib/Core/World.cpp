//===- World.cpp - The ranks of one program in this process ---------------===//
//
// A run: the caller hands a job to the ranks, patrols until all are back, then
// says what happened. After a failure it waits for stragglers for a while only.
//
//===----------------------------------------------------------------------===//

#include "Core/World.h"
#include "Collectives/Collectives.h"
#include "Core/Clock.h"
#include "Core/Cores.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <system_error>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

World::World(std::shared_ptr<const Program> loaded, Options options)
    : program(std::move(loaded)), options(options),
      group(program->table.numRanks(), options.group,
            [this](int64_t site, bool full) {
              return program->describe(site, full);
            }) {
  int64_t ranks = group.size();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto ctx = std::make_unique<shardrt_context>();
    ctx->rank = rank;
    ctx->numRanks = ranks;
    ctx->program = program.get();
    ctx->comm = &group.rank(rank);
    for (const Site &site : program->table.sites)
      ctx->plans.push_back(planSite(site, rank));
    ctx->stats.resize(program->table.sites.size());
    if (program->device) {
      ctx->device = openDevice(*program->device, rank, ranks, status, error);
      if (!ctx->device)
        return;
      ctx->device->setSchedule(options.kernelSchedule,
                               options.kernelSeed + rank);
      ctx->deviceMemory = std::make_unique<DeviceMemory>(*ctx->device);
    }
    ctx->pool = std::make_unique<Pool>(rank, ranks, options.pin);
    if (options.trace)
      ctx->trace = std::make_unique<Trace>();
    contexts.push_back(std::move(ctx));
  }
  if (!pickCollectives())
    return;
  back.assign(ranks, 1);
  left.assign(ranks, 0);
  rankErrors.resize(ranks);
}

World::~World() {
  for (auto &ctx : contexts)
    if (ctx->device)
      ctx->device->watch = nullptr;
  // Work of one device may still read the memory of another.
  for (auto &ctx : contexts)
    if (ctx->device)
      ctx->device->finish();
}

/// Whether all devices reach one another; else `why` not.
static bool reachAll(const std::vector<std::unique_ptr<shardrt_context>> &ranks,
                     std::string &why) {
  for (auto &ctx : ranks)
    for (auto &peer : ranks)
      if (!ctx->device->reach(*peer->device)) {
        why = "rank " + std::to_string(ctx->rank) + ": " + ctx->device->error;
        ctx->device->status = SHARDRT_OK;
        ctx->device->error.clear();
        return false;
      }
  return true;
}

int World::makeNcclRanks(std::string &why) {
  const nccl::Library *library = nccl::openLibrary(why);
  if (!library)
    return SHARDRT_UNSUPPORTED;
  for (auto &ctx : contexts)
    for (auto &peer : contexts)
      if (ctx != peer && ctx->device->isSameAs(*peer->device) &&
          library->version < nccl::sharedDeviceVersion) {
        why = "ranks " + std::to_string(ctx->rank) + " and " +
              std::to_string(peer->rank) + " share a device, which NCCL " +
              nccl::versionName(library->version) +
              " does not allow; --transport=direct does";
        return SHARDRT_UNSUPPORTED;
      }
  for (auto &made : contexts) {
    shardrt_context *ctx = made.get();
    // Ranks that wait on the host know for whom: they speak first.
    int64_t timeoutNs = options.group.timeoutNs;
    ctx->nccl =
        std::make_unique<NcclRank>(*library, ncclId, timeoutNs + timeoutNs / 4);
    ctx->device->watch = [ctx](int64_t waitedNs) {
      return ctx->nccl->keepWaiting(*ctx, waitedNs);
    };
  }
  return renewNccl(why);
}

int World::renewNccl(std::string &why) {
  const nccl::Library *library = nccl::openLibrary(why);
  nccl::Result result = library->getUniqueId(&ncclId);
  if (result == nccl::success)
    return SHARDRT_OK;
  why = "NCCL makes no unique id: " + library->nameOf(result, nullptr);
  return SHARDRT_REFUSED;
}

bool World::pickCollectives() {
  auto refuse = [&](int why, const std::string &text) {
    status = why;
    error = text;
    return false;
  };
  const Collectives *picked = &hostCollectives;
  if (program->device) {
    std::string why;
    picked = &stagedCollectives;
    switch (options.transport) {
    case SHARDRT_TRANSPORT_HOST:
      break;
    case SHARDRT_TRANSPORT_AUTO:
      if (reachAll(contexts, why))
        picked = &directCollectives();
      break;
    case SHARDRT_TRANSPORT_DIRECT:
      if (!reachAll(contexts, why))
        return refuse(SHARDRT_UNSUPPORTED,
                      why + "; the direct transport needs that, host does not");
      picked = &directCollectives();
      break;
    case SHARDRT_TRANSPORT_NCCL:
      if (int failed = makeNcclRanks(why))
        return refuse(failed, why);
      picked = &ncclCollectives();
      break;
    default:
      return refuse(SHARDRT_USAGE, "there is no transport " +
                                       std::to_string(options.transport));
    }
  } else if (options.transport > SHARDRT_TRANSPORT_HOST) {
    return refuse(SHARDRT_USAGE,
                  "the program has no kernels: this transport is "
                  "for devices; compile it with --target=cuda");
  }
  for (auto &ctx : contexts) {
    ctx->collectives = picked;
    for (auto &peer : contexts)
      ctx->devices.push_back(peer->device.get());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The ranks' side
//===----------------------------------------------------------------------===//

void World::serve(int64_t rank) {
  if (options.pin)
    moveToCore(rank, /*bind=*/true);
  int64_t seen = 0;
  while (true) {
    void *const *inputs, *const *outputs;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) {
        left[rank] = 1;
        return;
      }
      seen = generation;
      inputs = job.inputs ? job.inputs[rank] : nullptr;
      outputs = job.outputs ? job.outputs[rank] : nullptr;
    }
    if (!options.pin)
      moveToCore(rank * contexts[rank]->pool->width(), /*bind=*/false);
    runSteps(*contexts[rank], inputs, outputs);
    std::lock_guard lock(mutex);
    back[rank] = 1;
    if (--running == 0)
      done.notify_all();
  }
}

void World::runSteps(shardrt_context &ctx, void *const *inputs,
                     void *const *outputs) {
  ctx.recordedCounts.clear();
  runRepeated(ctx, inputs, outputs);
  if (ctx.device)
    ctx.device->forgetRecording();
  // What others wait for in NCCL does not come any more: each must say so.
  if (ctx.nccl && group.failed())
    ctx.nccl->abort();
}

void World::runRepeated(shardrt_context &ctx, void *const *inputs,
                        void *const *outputs) {
  LocalComm &comm = group.rank(ctx.rank);
  int64_t repeat = job.repeat;
  for (int64_t step = 0; step < repeat; ++step) {
    if (ctx.deviceMemory)
      ctx.deviceMemory->beginStep(step == 0, step == repeat - 1);
    comm.enterStep();
    int64_t began = ctx.trace ? nowNs() : 0;
    // The first step uploads, the last downloads; those between do the same
    // work. Ranks that meet others do so on the host: their steps are not
    // recorded.
    bool isSteady = ctx.device && ctx.numRanks == 1 && options.record &&
                    step > 0 && step < repeat - 1;
    bool isReplay = isSteady && ctx.device->canReplay();
    bool isRecording = step == 1 && isSteady && ctx.device->beginRecording();
    if (isRecording)
      for (shardrt_site_stats &stats : ctx.stats)
        ctx.recordedCounts.push_back(-stats.count);
    if (!(isReplay ? replayStep(ctx) : runStep(ctx, inputs, outputs)) ||
        !comm.leaveStep())
      return;
    if (ctx.trace)
      ctx.trace->endStep(began, nowNs());
    for (size_t i = 0; isRecording && i < ctx.stats.size(); ++i)
      ctx.recordedCounts[i] += ctx.stats[i].count;
    auto last = [&] {
      int64_t now = nowNs();
      if (job.milliseconds)
        job.milliseconds[step] =
            static_cast<double>(now - job.lastEndNs) / millisecond;
      job.lastEndNs = now;
    };
    if (!comm.barrier(arrived, stepsDone, last))
      return;
  }
}

bool World::replayStep(shardrt_context &ctx) {
  if (ctx.device->replay()) {
    for (size_t site = 0; site < ctx.stats.size(); ++site)
      ctx.stats[site].count += ctx.recordedCounts[site];
    return true;
  }
  ctx.fail(ctx.device->status, ctx.device->error);
  return false;
}

bool World::runStep(shardrt_context &ctx, void *const *inputs,
                    void *const *outputs) {
  int status = SHARDRT_LOST;
  std::string why;
  try {
    if (ctx.nccl && !ctx.nccl->connect(ctx))
      status = ctx.comm->status();
    else
      status = program->main(&ctx, inputs, outputs);
    if (status != SHARDRT_OK)
      why = "left its step with status " + std::to_string(status);
  } catch (const std::exception &e) {
    why = std::string("threw an exception: ") + e.what();
  } catch (...) {
    why = "threw an exception";
  }
  // An exchange that was never waited for stays busy in `comm`, which says so.
  for (shardrt_context::Pending &pending : ctx.pending)
    pending.used = false;
  for (shardrt_context::Shown &shown : ctx.shown)
    shown.used = false;
  try {
    ctx.memory.releaseAll();
    if (ctx.deviceMemory)
      ctx.deviceMemory->releaseAll();
    if (status != SHARDRT_OK)
      ctx.fail(status, why);
  } catch (...) {
    group.fail({SHARDRT_MEMORY, ctx.rank, {}, -1, {}});
    return false;
  }
  return status == SHARDRT_OK;
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

void World::stop() {
  std::lock_guard lock(mutex);
  stopping = true;
  wake.notify_all();
}

bool World::gone(int64_t rank) const {
  std::lock_guard lock(mutex);
  return left[rank] || back[rank];
}

void World::waitForRanks(std::unique_lock<std::mutex> &lock) {
  int64_t timeout = options.group.timeoutNs;
  int64_t tick = 100 * millisecond;
  if (timeout > 0)
    tick = std::clamp(timeout / 8, millisecond, tick);
  int64_t failedAt = 0;
  while (!done.wait_for(lock, std::chrono::nanoseconds(tick),
                        [&] { return running == 0; })) {
    lock.unlock();
    group.patrol();
    lock.lock();
    if (!group.failed())
      continue;
    int64_t now = nowNs();
    if (failedAt == 0)
      failedAt = now;
    if (options.graceNs >= 0 && now - failedAt > options.graceNs)
      return;
  }
}

int World::run(void *const *const *inputs, void *const *const *outputs,
               int64_t repeat, double *milliseconds) {
  std::unique_lock lock(mutex);
  if (running != 0) {
    error = "a rank of this world has not come back from an earlier run; "
            "make a new world";
    return SHARDRT_LOST;
  }
  error.clear();
  for (std::string &text : rankErrors)
    text.clear();
  if (group.failed() && program->device && contexts[0]->nccl)
    if (int failed = renewNccl(error))
      return failed;
  group.reset();
  arrived.store(0);
  job = {inputs, outputs, repeat, milliseconds, nowNs()};
  running = group.size();
  std::fill(back.begin(), back.end(), 0);
  ++generation;
  wake.notify_all();
  waitForRanks(lock);
  return group.failed() ? reportFailure() : SHARDRT_OK;
}

int World::reportFailure() {
  Failure failure = group.failure();
  error = failure.text;
  if (!failure.peerText.empty())
    error += "\n" + failure.peerText;
  std::string first = failure.text.substr(0, failure.text.find('\n'));
  for (int64_t rank = 0; rank < group.size(); ++rank) {
    if (!back[rank]) {
      rankErrors[rank] = "rank " + std::to_string(rank) + ": did not come back";
      error += "\n" + rankErrors[rank];
    } else if (rank == failure.rank) {
      rankErrors[rank] = failure.text;
    } else if (rank == failure.peer) {
      rankErrors[rank] = failure.peerText;
    } else {
      rankErrors[rank] =
          "rank " + std::to_string(rank) + ": stopped with the group: " + first;
    }
  }
  return failure.status;
}

//===----------------------------------------------------------------------===//
// C surface
//===----------------------------------------------------------------------===//

/// Ends the threads; those that do not come back are left behind.
static void endThreads(shardrt_world &handle) {
  handle.world->stop();
  for (size_t i = 0; i < handle.threads.size(); ++i) {
    if (handle.world->gone(static_cast<int64_t>(i)))
      handle.threads[i].join();
    else
      handle.threads[i].detach();
  }
}

extern "C" {

int shardrt_world_create(const shardrt_program *program,
                         const shardrt_world_options *given,
                         shardrt_world **world, char *error, size_t errorSize) {
  if (!program || !world || (given && given->size < sizeof(size_t))) {
    writeError(error, errorSize, "a NULL argument, or options without a size");
    return SHARDRT_USAGE;
  }
  // Options of an older caller are shorter: the rest are defaults.
  shardrt_world_options asked = {};
  if (given)
    std::memcpy(&asked, given, std::min(given->size, sizeof(asked)));
  try {
    World::Options options;
    int64_t timeout = asked.timeout_ms == 0 ? 30'000 : asked.timeout_ms;
    int64_t grace = asked.grace_ms == 0 ? 1'000 : asked.grace_ms;
    constexpr int64_t longest = int64_t(1) << 40;
    options.group.timeoutNs =
        std::clamp<int64_t>(timeout, 0, longest) * millisecond;
    options.group.checked = !asked.unchecked;
    options.group.yieldSeed = asked.yield_seed;
    options.graceNs = std::clamp<int64_t>(grace, -1, longest) * millisecond;
    options.pin = asked.pin != 0;
    options.kernelSchedule = asked.kernel_schedule;
    options.kernelSeed = asked.kernel_seed;
    options.transport = asked.transport;
    // A replayed step says nothing of what is in it.
    options.record = asked.no_graphs == 0 && asked.trace == 0;
    options.trace = asked.trace != 0;
    auto handle = std::make_unique<shardrt_world>();
    handle->world = std::make_shared<World>(program->program, options);
    if (handle->world->status != SHARDRT_OK) {
      writeError(error, errorSize, handle->world->error);
      return handle->world->status;
    }
    int64_t ranks = program->program->table.numRanks();
    handle->threads.reserve(ranks);
    try {
      for (int64_t rank = 0; rank < ranks; ++rank)
        handle->threads.emplace_back(
            [shared = handle->world, rank] { shared->serve(rank); });
    } catch (...) {
      endThreads(*handle);
      throw;
    }
    *world = handle.release();
    return SHARDRT_OK;
  } catch (const std::system_error &e) {
    writeError(error, errorSize,
               std::string("cannot start a thread for each rank: ") + e.what());
    return SHARDRT_MEMORY;
  } catch (const std::exception &e) {
    writeError(error, errorSize, std::string("out of memory: ") + e.what());
    return SHARDRT_MEMORY;
  }
}

void shardrt_world_destroy(shardrt_world *world) {
  if (!world)
    return;
  endThreads(*world);
  delete world;
}

int shardrt_world_run(shardrt_world *world, void *const *const *inputs,
                      void *const *const *outputs) {
  return shardrt_world_run_repeated(world, inputs, outputs, 1, nullptr);
}

int shardrt_world_run_repeated(shardrt_world *world, void *const *const *inputs,
                               void *const *const *outputs, int64_t repeat,
                               double *milliseconds) {
  if (!world || repeat < 0)
    return SHARDRT_USAGE;
  try {
    return world->world->run(inputs, outputs, repeat, milliseconds);
  } catch (const std::exception &) {
    return SHARDRT_MEMORY;
  }
}

const char *shardrt_world_error(const shardrt_world *world) {
  return world->world->error.c_str();
}

const char *shardrt_world_rank_error(const shardrt_world *world, int64_t rank) {
  if (rank < 0 || rank >= static_cast<int64_t>(world->threads.size()))
    return "";
  return world->world->rankErrors[rank].c_str();
}

int shardrt_world_site_stats(const shardrt_world *world, int64_t rank,
                             int64_t site, shardrt_site_stats *stats) {
  const auto &contexts = world->world->contexts;
  if (!stats || rank < -1 || rank >= static_cast<int64_t>(contexts.size()) ||
      site < 0 || site >= static_cast<int64_t>(contexts[0]->stats.size()))
    return SHARDRT_USAGE;
  *stats = {};
  for (const auto &ctx : contexts) {
    if (rank != -1 && ctx->rank != rank)
      continue;
    const shardrt_site_stats &from = ctx->stats[site];
    stats->count += from.count;
    stats->bytes_received += from.bytes_received;
    stats->total_ns += from.total_ns;
    stats->wait_ns += from.wait_ns;
    stats->overlap_ns += from.overlap_ns;
  }
  return SHARDRT_OK;
}

void shardrt_world_reset_stats(shardrt_world *world) {
  for (auto &ctx : world->world->contexts)
    std::fill(ctx->stats.begin(), ctx->stats.end(), shardrt_site_stats{});
  for (auto &ctx : world->world->contexts)
    if (ctx->trace)
      ctx->trace->clear();
}

int64_t shardrt_world_trace(const shardrt_world *world, int64_t rank,
                            const shardrt_trace_event **events,
                            int64_t *dropped) {
  const auto &contexts = world->world->contexts;
  if (!events || rank < 0 || rank >= static_cast<int64_t>(contexts.size()) ||
      !contexts[rank]->trace)
    return -1;
  const Trace &trace = *contexts[rank]->trace;
  *events = trace.events.data();
  if (dropped)
    *dropped = trace.dropped;
  return static_cast<int64_t>(trace.events.size());
}

int64_t shardrt_world_site_peers(const shardrt_world *world, int64_t rank,
                                 int64_t site, int64_t *peers,
                                 int64_t capacity) {
  const auto &contexts = world->world->contexts;
  if (rank < 0 || rank >= static_cast<int64_t>(contexts.size()) || site < 0 ||
      site >= static_cast<int64_t>(contexts[rank]->plans.size()))
    return -1;
  const SitePlan &plan = contexts[rank]->plans[site];
  int64_t count = 0;
  auto add = [&](int64_t peer) {
    if (peer == rank)
      return;
    if (peers && count < capacity)
      peers[count] = peer;
    ++count;
  };
  for (const SitePlan::Source &source : plan.sources)
    add(source.peer);
  for (int64_t peer : plan.group)
    add(peer);
  for (int64_t peer : plan.opened)
    add(peer);
  return count;
}

int64_t shardrt_world_peak_bytes(const shardrt_world *world, int64_t rank) {
  const auto &contexts = world->world->contexts;
  if (rank < 0 || rank >= static_cast<int64_t>(contexts.size()))
    return -1;
  if (contexts[rank]->deviceMemory)
    return contexts[rank]->deviceMemory->peakBytes();
  return contexts[rank]->memory.peakBytes();
}

} // extern "C"
