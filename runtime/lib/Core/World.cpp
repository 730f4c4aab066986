//===- World.cpp - The ranks of one program in this process ---------------===//
//
// A run: the caller hands a job to the ranks, patrols until all are back, then
// says what happened. After a failure it waits for stragglers for a while only.
//
//===----------------------------------------------------------------------===//

#include "Core/World.h"
#include "Collectives/Collectives.h"
#include "Collectives/Pack.h"
#include "Comm/Local/LocalComm.h"
#include "Core/Clock.h"
#include "Core/Cores.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

World::World(std::shared_ptr<const Program> loaded, Options options)
    : program(std::move(loaded)), options(options) {
  if (!makeGroup())
    return;
  if (!makeContexts()) {
    if (this->options.job && program->device)
      refuseTransport(*this->options.job, name, error);
    return;
  }
  if (!pickCollectives())
    return;
  back.assign(contexts.size(), 1);
  left.assign(contexts.size(), 0);
  rankErrors.resize(numRanks());
}

std::string World::describe(int64_t site, bool full) const {
  // What brings results together is no site of the program.
  if (site < 0)
    return "the end of the run";
  return program->describe(site, full);
}

/// What must be the same for all processes of a world, in a few words.
static std::string fingerprint(const Program &program) {
  EncodedSites sites = encodeSites(program.table);
  uint64_t hash = 14695981039346656037u;
  auto add = [&](const void *data, size_t bytes) {
    auto *at = static_cast<const unsigned char *>(data);
    for (size_t i = 0; i < bytes; ++i)
      hash = (hash ^ at[i]) * 1099511628211u;
  };
  add(sites.words.data(), sites.words.size() * sizeof(sites.words[0]));
  add(sites.strings.data(), sites.strings.size());
  add(program.metadata.data(), program.metadata.size());
  return std::to_string(program.table.numRanks()) + " ranks, " +
         std::to_string(program.table.sites.size()) + " sites, " +
         std::to_string(hash);
}

bool World::makeGroup() {
  auto tell = [this](int64_t site, bool full) { return describe(site, full); };
  if (!options.job) {
    group = std::make_unique<LocalGroup>(numRanks(), options.group, tell);
    return true;
  }
  const Launch &launch = options.job->launch;
  if (launch.size != numRanks()) {
    status = SHARDRT_USAGE;
    error = (launch.launcher.empty() ? "the job" : launch.launcher) + " has " +
            std::to_string(launch.size) +
            " processes, but the program's mesh has " +
            std::to_string(numRanks()) + " ranks: start one for each";
    return false;
  }
  name = std::to_string(options.job->worlds++);
  int why = SHARDRT_OK;
  group = connectJob(*options.job, options.wire, name, fingerprint(*program),
                     options.group, tell, why, error);
  if (!group)
    status = why;
  return group != nullptr;
}

bool World::makeContexts() {
  int64_t ranks = numRanks();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (options.job && rank != options.job->launch.rank)
      continue;
    auto ctx = std::make_unique<shardrt_context>();
    ctx->rank = rank;
    ctx->numRanks = ranks;
    ctx->program = program.get();
    ctx->comm = &group->rank(rank);
    ctx->memory.use(group->segment());
    for (const Site &site : program->table.sites) {
      SitePlan plan = planSite(site, rank);
      if (ctx->comm->packs())
        packPlan(site, rank, plan);
      ctx->plans.push_back(std::move(plan));
    }
    ctx->stats.resize(program->table.sites.size());
    if (program->device) {
      // Processes of a host share its devices by their numbers there.
      int64_t place = options.job ? options.job->launch.localRank : rank;
      ctx->device = openDevice(*program->device, place, ranks, status, error);
      if (!ctx->device)
        return false;
      ctx->device->setSchedule(options.kernelSchedule,
                               options.kernelSeed + rank);
      ctx->deviceMemory = std::make_unique<DeviceMemory>(*ctx->device);
      ctx->kernels =
          findKernels(*program->device, *ctx->device, program->table.sites);
      ctx->deterministic = options.deterministic;
    }
    ctx->pool = std::make_unique<Pool>(rank, ranks, options.pin);
    if (options.trace)
      ctx->trace = std::make_unique<Trace>();
    ctx->host = options.host;
    ctx->hostUser = options.hostUser;
    contexts.push_back(std::move(ctx));
  }
  return true;
}

World::~World() {
  for (auto &ctx : contexts)
    if (ctx->device)
      ctx->device->watch = nullptr;
  // Work of one device may still read the memory of another.
  for (auto &ctx : contexts)
    if (ctx->device)
      ctx->device->finish();
  for (auto &ctx : contexts)
    if (ctx->device)
      releaseRows(*ctx);
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
  // NVIDIA's would look for a GPU.
  const char *given = std::getenv("SHARDRT_NCCL_LIBRARY");
  if (contexts[0]->device->isEmulated() && !(given && *given)) {
    why = "no NCCL: an emulated device takes one from SHARDRT_NCCL_LIBRARY "
          "alone, which names none; --transport=direct needs none";
    return SHARDRT_UNSUPPORTED;
  }
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
  // A process has one rank: whoever was here with its device before, was
  // another.
  std::string device = contexts[0]->device->identity();
  if (options.job && !device.empty() &&
      library->version < nccl::sharedDeviceVersion) {
    Store &store = *options.job->store;
    std::string key = "device/" + name + "/" + device, other, unused,
                me = std::to_string(contexts[0]->rank);
    if (!store.set(key, me, why) &&
        store.get(key, options.job->timeoutMs, other, unused)) {
      why = "ranks " + other + " and " + me + " share a device, which NCCL " +
            nccl::versionName(library->version) +
            " does not allow; start as many processes as there are devices";
      return SHARDRT_UNSUPPORTED;
    }
    why.clear();
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
  Job *job = options.job;
  std::string key = "nccl/" + name + "/" + std::to_string(ncclIds++) + "@0",
              bytes;
  if (!job || job->launch.rank == 0) {
    nccl::Result result = library->getUniqueId(&ncclId);
    if (result != nccl::success) {
      why = "NCCL makes no unique id: " + library->nameOf(result, nullptr);
      return SHARDRT_REFUSED;
    }
    bytes.assign(reinterpret_cast<const char *>(&ncclId), sizeof(ncclId));
    return !job || job->store->set(key, bytes, why) ? SHARDRT_OK : SHARDRT_LOST;
  }
  if (!job->store->get(key, job->timeoutMs, bytes, why))
    return job->store->status();
  if (bytes.size() != sizeof(ncclId)) {
    why = "rank 0 gave an id of another NCCL";
    return SHARDRT_REFUSED;
  }
  std::memcpy(&ncclId, bytes.data(), sizeof(ncclId));
  return SHARDRT_OK;
}

TransportOffer World::transportOffer() {
  TransportOffer offer;
  offer.asked = options.transport;
  offer.device = contexts[0]->device->identity();
  // Opened where it may come to that.
  if (offer.asked != SHARDRT_TRANSPORT_AUTO || offer.device.empty() ||
      numRanks() == 1)
    return offer;
  if (const nccl::Library *library = nccl::openLibrary(offer.lacks))
    offer.nccl = library->version;
  return offer;
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
    transport = "host: asked for";
    TransportChoice choice{options.transport, "asked for"};
    if (options.job) {
      int failed = SHARDRT_OK;
      if (!agreeOnTransport(*options.job, name, transportOffer(), choice,
                            failed, why))
        return refuse(failed, why);
      transport = "host: " + choice.why;
    }
    switch (choice.transport) {
    case SHARDRT_TRANSPORT_HOST:
      break;
    case SHARDRT_TRANSPORT_AUTO:
      transport = "direct: devices reach one another";
      if (reachAll(contexts, why)) {
        picked = &directCollectives();
        break;
      }
      // Processes have agreed already.
      if (std::string none; options.job || makeNcclRanks(none)) {
        for (auto &ctx : contexts) {
          ctx->nccl = nullptr;
          ctx->device->watch = nullptr;
        }
        transport = "host: " + why;
        break;
      }
      picked = &ncclCollectives();
      transport = "nccl: " + why;
      break;
    case SHARDRT_TRANSPORT_DIRECT:
      if (options.job)
        return refuse(SHARDRT_UNSUPPORTED,
                      "the direct transport is for ranks of one process; host "
                      "and nccl go between processes");
      if (!reachAll(contexts, why))
        return refuse(SHARDRT_UNSUPPORTED,
                      why + "; the direct transport needs that, host does not");
      picked = &directCollectives();
      transport = "direct: " + choice.why;
      break;
    case SHARDRT_TRANSPORT_NCCL:
      if (int failed = makeNcclRanks(why))
        return refuse(failed, why);
      picked = &ncclCollectives();
      transport = "nccl: " + choice.why;
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

void World::serve(size_t index) {
  int64_t rank = contexts[index]->rank;
  if (options.pin)
    moveToCore(rank, /*bind=*/true);
  int64_t seen = 0;
  while (true) {
    void *const *inputs, *const *outputs;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) {
        left[index] = 1;
        return;
      }
      seen = generation;
      inputs = job.inputs ? job.inputs[rank] : nullptr;
      outputs = job.outputs ? job.outputs[rank] : nullptr;
    }
    if (!options.pin)
      moveToCore(rank * contexts[index]->pool->width(), /*bind=*/false);
    if (job.task)
      runTask(*contexts[index]);
    else
      runSteps(*contexts[index], inputs, outputs);
    std::lock_guard lock(mutex);
    back[index] = 1;
    if (--running == 0)
      done.notify_all();
  }
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

void World::stop() {
  std::lock_guard lock(mutex);
  stopping = true;
  wake.notify_all();
}

bool World::gone(size_t index) const {
  std::lock_guard lock(mutex);
  return left[index] || back[index];
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
    group->patrol();
    lock.lock();
    if (!group->failed())
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
  return start({inputs, outputs, repeat, milliseconds});
}

int World::call(shardrt_task_fn task, void *user) {
  Work work;
  work.task = task;
  work.user = user;
  return start(work);
}

int World::start(const Work &work) {
  std::unique_lock lock(mutex);
  if (running != 0) {
    error = "a rank of this world has not come back from an earlier run; "
            "make a new world";
    return SHARDRT_LOST;
  }
  error.clear();
  for (std::string &text : rankErrors)
    text.clear();
  if (group->failed() && program->device && contexts[0]->nccl)
    if (int failed = options.job ? 0 : renewNccl(error))
      return failed;
  if (!group->reset()) {
    if (!hasToldFailure) {
      // Others have begun this run, and failed it, before this rank came.
      std::fill(back.begin(), back.end(), 1);
      return reportFailure();
    }
    error = "an earlier run of this job failed: " + group->failure().text;
    return SHARDRT_LOST;
  }
  job = work;
  job.lastEndNs = nowNs();
  running = static_cast<int64_t>(contexts.size());
  std::fill(back.begin(), back.end(), 0);
  ++generation;
  wake.notify_all();
  waitForRanks(lock);
  return group->failed() ? reportFailure() : SHARDRT_OK;
}

int World::reportFailure() {
  hasToldFailure = true;
  Failure failure = group->failure();
  error = failure.text;
  if (!failure.peerText.empty())
    error += "\n" + failure.peerText;
  std::string first = failure.text.substr(0, failure.text.find('\n'));
  for (int64_t rank = 0; rank < numRanks(); ++rank)
    rankErrors[rank] = rank == failure.rank ? failure.text
                       : rank == failure.peer
                           ? failure.peerText
                           : "rank " + std::to_string(rank) +
                                 ": stopped with the group: " + first;
  for (size_t i = 0; i < contexts.size(); ++i)
    if (!back[i]) {
      std::string &text = rankErrors[contexts[i]->rank];
      text =
          "rank " + std::to_string(contexts[i]->rank) + ": did not come back";
      error += "\n" + text;
    }
  return failure.status;
}

int World::gather(int64_t root, const void *mine, int64_t bytes,
                  void *const *parts, const int64_t *partBytes) {
  std::unique_lock lock(mutex);
  error.clear();
  if (!options.job || root < 0 || root >= numRanks() || running != 0 ||
      group->failed()) {
    error = "nothing can be brought together: ";
    error += !options.job      ? "ranks are threads of one process"
             : group->failed() ? "the last run failed"
                               : "there is no such rank, or a run is under way";
    return SHARDRT_USAGE;
  }
  shardrt_context &ctx = *contexts[0];
  Comm &comm = *ctx.comm;
  bool isRoot = ctx.rank == root;
  std::vector<int64_t> readers;
  if (!isRoot)
    readers.push_back(root);
  // The sizes first, so that what does not fit is noticed.
  Ticket first, second;
  Call call = {-1, 0};
  bool done = comm.post(call, {&bytes, sizeof(bytes)}, readers, first) &&
              comm.post(call, {mine, bytes}, readers, second);
  for (int64_t rank = 0; done && isRoot && rank < numRanks(); ++rank) {
    int64_t theirs = bytes;
    auto *data = static_cast<const std::byte *>(mine), *size = data;
    if (rank != root) {
      if (!(done = comm.open(first, rank, size)))
        break;
      std::memcpy(&theirs, size, sizeof(theirs));
      comm.close(first, rank);
      if (!(done = comm.open(second, rank, data)))
        break;
    }
    if (theirs != partBytes[rank]) {
      comm.fail(SHARDRT_MISMATCH, "expected " +
                                      std::to_string(partBytes[rank]) +
                                      " bytes of rank " + std::to_string(rank) +
                                      ", got " + std::to_string(theirs));
      done = false;
    } else if (theirs > 0) {
      std::memcpy(parts[rank], data, theirs);
    }
    if (rank != root)
      comm.close(second, rank);
  }
  done = done && comm.finish(first, readers) && comm.finish(second, readers);
  return done ? SHARDRT_OK : reportFailure();
}

//===----------------------------------------------------------------------===//
// C surface
//===----------------------------------------------------------------------===//

/// Ends the threads; those that do not come back are left behind.
static void endThreads(shardrt_world &handle) {
  handle.world->stop();
  for (size_t i = 0; i < handle.threads.size(); ++i) {
    if (handle.world->gone(i))
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
    // A function of the host takes as long as it likes.
    int64_t timeout = asked.timeout_ms != 0 ? asked.timeout_ms
                      : asked.host          ? -1
                                            : 30'000;
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
    options.deterministic = asked.deterministic != 0;
    options.job = asked.job ? &asked.job->job : nullptr;
    if (asked.wire < SHARDRT_WIRE_AUTO || asked.wire > SHARDRT_WIRE_MPI) {
      writeError(error, errorSize,
                 "there is no wire " + std::to_string(asked.wire));
      return SHARDRT_USAGE;
    }
    options.wire = static_cast<Wire>(asked.wire);
    options.host = asked.host;
    options.hostUser = asked.host_user;
    auto handle = std::make_unique<shardrt_world>();
    handle->world = std::make_shared<World>(program->program, options);
    if (handle->world->status != SHARDRT_OK) {
      writeError(error, errorSize, handle->world->error);
      return handle->world->status;
    }
    size_t count = handle->world->contexts.size();
    handle->threads.reserve(count);
    try {
      for (size_t index = 0; index < count; ++index)
        handle->threads.emplace_back(
            [shared = handle->world, index] { shared->serve(index); });
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

int shardrt_world_call(shardrt_world *world, shardrt_task_fn task, void *user) {
  if (!world || !task)
    return SHARDRT_USAGE;
  try {
    return world->world->call(task, user);
  } catch (const std::exception &) {
    return SHARDRT_MEMORY;
  }
}

int shardrt_show(shardrt_context *ctx, const void *mine, int64_t bytes,
                 const int64_t *readers, int64_t num_readers,
                 const int64_t *sources, int64_t num_sources,
                 shardrt_take_fn take, void *user) {
  Comm &comm = *ctx->comm;
  std::span<const int64_t> whom(readers, num_readers);
  // Nothing has an address too.
  if (bytes == 0)
    mine = &comm;
  Ticket ticket;
  bool done = comm.post({-1, 0}, {mine, bytes}, whom, ticket);
  for (int64_t i = 0; done && i < num_sources; ++i) {
    const std::byte *data = nullptr;
    done = comm.open(ticket, sources[i], data);
    if (done) {
      take(user, sources[i], data);
      comm.close(ticket, sources[i]);
    }
  }
  done = done && comm.finish(ticket, whom);
  return done ? SHARDRT_OK : comm.status();
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
  if (rank < 0 || rank >= world->world->numRanks())
    return "";
  return world->world->rankErrors[rank].c_str();
}

int shardrt_world_site_stats(const shardrt_world *world, int64_t rank,
                             int64_t site, shardrt_site_stats *stats) {
  const auto &contexts = world->world->contexts;
  if (!stats || rank < -1 || rank >= world->world->numRanks() || site < 0 ||
      site >= static_cast<int64_t>(contexts[0]->stats.size()))
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
  const shardrt_context *ctx = world->world->find(rank);
  if (!events || !ctx || !ctx->trace)
    return -1;
  const Trace &trace = *ctx->trace;
  *events = trace.events.data();
  if (dropped)
    *dropped = trace.dropped;
  return static_cast<int64_t>(trace.events.size());
}

int64_t shardrt_world_site_peers(const shardrt_world *world, int64_t rank,
                                 int64_t site, int64_t *peers,
                                 int64_t capacity) {
  const shardrt_context *ctx = world->world->find(rank);
  if (!ctx || site < 0 || site >= static_cast<int64_t>(ctx->plans.size()))
    return -1;
  const SitePlan &plan = ctx->plans[site];
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
  const shardrt_context *ctx = world->world->find(rank);
  if (!ctx)
    return -1;
  return ctx->deviceMemory ? ctx->deviceMemory->peakBytes()
                           : ctx->memory.peakBytes();
}

const char *shardrt_world_transport(const shardrt_world *world) {
  return world->world->transport.c_str();
}

const char *shardrt_world_libraries(const shardrt_world *world, int64_t rank) {
  shardrt_context *ctx = world->world->find(rank);
  if (!ctx)
    return nullptr;
  return ctx->libraries ? ctx->libraries->asked() : "";
}

int shardrt_world_gather(shardrt_world *world, int64_t root, const void *mine,
                         int64_t bytes, void *const *parts,
                         const int64_t *part_bytes) {
  if (!world || bytes < 0 || (bytes > 0 && !mine))
    return SHARDRT_USAGE;
  try {
    return world->world->gather(root, mine, bytes, parts, part_bytes);
  } catch (const std::exception &) {
    return SHARDRT_MEMORY;
  }
}

} // extern "C"
