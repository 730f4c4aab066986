//===- World.cpp - The ranks of one program in this process ---------------===//
//
// How they are made, and what callers ask of them (C surface). WorldRuns.cpp
// has their runs.
//
//===----------------------------------------------------------------------===//

#include "World/World.h"
#include "Collectives/Collectives.h"
#include "Collectives/Pack.h"
#include "Comm/Local/LocalComm.h"
#include "Host/Clock.h"
#include "Host/Cores.h"
#include "Host/WriteError.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <system_error>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

World::World(std::shared_ptr<const Program> loaded,
             std::shared_ptr<Crew> threads, Options given)
    : describeSite(
          [this](int64_t site, bool full) { return describe(site, full); }),
      program(std::move(loaded)), crew(std::move(threads)),
      options(std::move(given)) {
  places = options.places;
  for (int64_t rank = 0, place = 0; options.places.empty() && rank < numRanks();
       ++rank)
    if (isHere(rank))
      places.push_back(place++);
  order.resize(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return places[a] < places[b]; });
  crew->expect(options.group.timeoutNs);
  if (!makeGroup())
    return;
  if (!makeContexts()) {
    if (this->options.job && program->device)
      refuseTransport(*this->options.job, name, error);
    return;
  }
  if (!pickCollectives())
    return;
  rankErrors.resize(numRanks());
  sharesCores = static_cast<int64_t>(contexts.size()) > countCores() &&
                !crew->isPinned() && !options.team && !program->device;
}

std::string World::describe(int64_t site, bool full) const {
  // What gathers results is no site of the program.
  if (site < 0)
    return "the end of the run";
  return program->describe(site, full);
}

/// What must be the same for all processes of a world, in a few words. That its
/// code is for the same kind of machine is part of the metadata.
static std::string fingerprint(const Program &program, bool hasMetadata) {
  uint64_t hash = program.sitesHash;
  if (hasMetadata)
    hash = hashBytes(program.metadata.data(), program.metadata.size(), hash);
  return std::to_string(program.table.numRanks()) + " ranks, " +
         std::to_string(program.table.sites.size()) + " sites, " +
         std::to_string(hash);
}

/// What `program` was bound from: the same for all processes, whatever each
/// binds it to.
static const Program &unboundOf(const Program &program) {
  return program.origin ? *program.origin : program;
}

/// The mesh that it was bound to, where that may be another: ranks that bind it
/// to different ones have different numbers of sizes.
static std::string meshOf(const Program &program) {
  if (!program.formulas || program.formulas->symbolicAxes.empty())
    return {};
  std::string text = ", mesh";
  for (int64_t size : program.table.meshShape)
    text += " " + std::to_string(size);
  return text;
}

bool World::makeGroup() {
  bound = wordsOfBinding(*program);
  if (options.team) {
    if (program->device) {
      status = SHARDRT_UNSUPPORTED;
      error = "a program with kernels for devices runs in one process";
      return false;
    }
    teamGroup =
        options.team->find(options.teamRanks, options.group, status, error);
    std::string words = fingerprint(unboundOf(*program), false) +
                        meshOf(*program) + "," + std::to_string(options.digest);
    number = options.team->enroll(program, words);
    if (!bound.empty()) {
      unbound = number;
      for (int64_t word : bound)
        words += "," + std::to_string(word);
      number = options.team->enroll(program, words);
    }
    return teamGroup != nullptr;
  }
  if (!options.job) {
    // What devices do goes on behind what their ranks have come to: one run
    // after the other.
    if (program->device)
      group =
          std::make_unique<LocalGroup>(numRanks(), options.group, describeSite);
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
  group = connectJob(*options.job, options.wire, name,
                     {fingerprint(unboundOf(*program), true) + meshOf(*program),
                      bound,
                      [this](std::span<const std::vector<int64_t>> byRank) {
                        return compareBindings(*program, byRank);
                      }},
                     options.group, describeSite, why, error);
  if (!group)
    status = why;
  return group != nullptr;
}

bool World::makeContexts() {
  int64_t ranks = numRanks();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (!isHere(rank))
      continue;
    auto ctx = std::make_unique<shardrt_context>();
    ctx->rank = rank;
    ctx->numRanks = ranks;
    ctx->program = program.get();
    if (program->formulas)
      ctx->numbers = *numbersOfRank(*program, rank);
    ctx->group = teamGroup ? teamGroup : group.get();
    ctx->comm = ctx->group ? &ctx->group->rank(rank) : nullptr;
    Crew::Place &place = crew->place(places[contexts.size()]);
    ctx->memory = &place.memory;
    if (options.job) {
      ctx->ownMemory = std::make_unique<Memory>();
      ctx->ownMemory->use(group->segment());
      ctx->memory = ctx->ownMemory.get();
    }
    ctx->pool = &place.pool;
    for (const Site &site : program->table.sites) {
      SitePlan plan = planSite(site, rank);
      if (ctx->comm && ctx->comm->packs())
        packPlan(site, rank, plan);
      ctx->plans.push_back(std::move(plan));
    }
    ctx->stats.resize(program->table.sites.size());
    if (program->device) {
      // Processes of a host share its devices by their numbers there.
      int64_t place = options.job ? options.job->launch.localRank : rank;
      shardrt_memory *shared =
          options.memories.empty() ? nullptr : options.memories[rank];
      if (shared && shared->number >= 0)
        place = shared->number;
      ctx->device = openDevice(*program->device, place, ranks, status, error);
      if (!ctx->device)
        return false;
      ctx->device->setSchedule(options.kernelSchedule,
                               options.kernelSeed + rank);
      ctx->deviceMemory = std::make_unique<DeviceMemory>(*ctx->device);
      if (shared && shared->device->isEmulated() != ctx->device->isEmulated()) {
        status = SHARDRT_USAGE;
        error = "the program's kernels are for another kind of device than the "
                "memory of rank " +
                std::to_string(rank);
        return false;
      }
      if (shared && !ctx->device->share(*shared->device)) {
        status = ctx->device->status;
        error = "rank " + std::to_string(rank) + ": " + ctx->device->error;
        return false;
      }
      if (shared)
        ctx->deviceMemory->setResident();
      ctx->kernels =
          findKernels(*program->device, *ctx->device, program->table.sites);
      ctx->deterministic = options.deterministic;
    }
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
// C surface
//===----------------------------------------------------------------------===//

int64_t shardrt::readTimeout(int64_t asked, bool hasHost) {
  constexpr int64_t longest = int64_t(1) << 40;
  // A function of the host takes as long as it likes.
  int64_t timeout = asked != 0 ? asked : hasHost ? -1 : 30'000;
  return std::clamp<int64_t>(timeout, 0, longest) * millisecond;
}

/// Reads which ranks of a team `ranks` ranks are, and how many are `mine`;
/// returns what is wrong with them.
static std::string readTeam(const shardrt_world_options &asked, int64_t ranks,
                            World::Options &options, int64_t &mine) {
  const Team &team = *options.team;
  if (!asked.crew)
    return "a world of a job with several ranks a process names a crew";
  std::vector<char> isTaken(team.size(), 0);
  mine = 0;
  for (int64_t i = 0; i < ranks; ++i) {
    int64_t rank = asked.job_ranks ? asked.job_ranks[i] : i;
    if (rank < 0 || rank >= team.size() || isTaken[rank])
      return "rank " + std::to_string(rank) + " of the job for rank " +
             std::to_string(i) +
             (rank < 0 || rank >= team.size()
                  ? " is none of its " + std::to_string(team.size())
                  : std::string(" is that of another rank"));
    isTaken[rank] = 1;
    options.teamRanks.push_back(rank);
    mine += team.isHere(rank);
  }
  return mine > 0 ? std::string()
                  : "none of the program's ranks is of this process";
}

/// Reads the crew's places of `ranks` ranks; returns what is wrong with them.
static std::string readPlaces(const int64_t *given, int64_t ranks, int64_t size,
                              World::Options &options) {
  if (ranks > size)
    return "the program has " + std::to_string(ranks) +
           " ranks, but the crew only " + std::to_string(size) + " places";
  std::vector<char> isTaken(size, 0);
  for (int64_t i = 0; given && i < ranks; ++i) {
    if (given[i] < 0 || given[i] >= size || isTaken[given[i]])
      return "place " + std::to_string(given[i]) + " of rank " +
             std::to_string(i) +
             (given[i] < 0 || given[i] >= size
                  ? " is none of the crew's " + std::to_string(size)
                  : std::string(" is that of another rank"));
    isTaken[given[i]] = 1;
    options.places.push_back(given[i]);
  }
  return {};
}

/// Rank `rank` of `world`; NULL where there is no such one in this process.
static shardrt_context *findRank(const shardrt_world *world, int64_t rank) {
  return world ? world->world->find(rank) : nullptr;
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
    int64_t grace = asked.grace_ms == 0 ? 1'000 : asked.grace_ms;
    constexpr int64_t longest = int64_t(1) << 40;
    options.group.timeoutNs = readTimeout(asked.timeout_ms, asked.host);
    options.group.checked = !asked.unchecked;
    options.group.yieldSeed = asked.yield_seed;
    options.graceNs = std::clamp<int64_t>(grace, -1, longest) * millisecond;
    options.kernelSchedule = asked.kernel_schedule;
    options.kernelSeed = asked.kernel_seed;
    options.transport = asked.transport;
    // A replayed step says nothing of what is in it.
    options.record = asked.no_graphs == 0 && asked.trace == 0;
    options.trace = asked.trace != 0;
    options.deterministic = asked.deterministic != 0;
    if (asked.job && asked.job->team)
      options.team = asked.job->team;
    else if (asked.job)
      options.job = &asked.job->job;
    options.digest = asked.program_digest;
    if (asked.wire < SHARDRT_WIRE_AUTO || asked.wire > SHARDRT_WIRE_MPI) {
      writeError(error, errorSize,
                 "there is no wire " + std::to_string(asked.wire));
      return SHARDRT_USAGE;
    }
    options.wire = static_cast<Wire>(asked.wire);
    if (asked.memories) {
      const Program &code = *program->program;
      int64_t ranks = code.table.numRanks();
      bool isWhole = std::all_of(asked.memories, asked.memories + ranks,
                                 [](shardrt_memory *memory) { return memory; });
      if (asked.job || !code.device || !isWhole || asked.num_inputs < 0 ||
          asked.num_outputs < 0) {
        writeError(error, errorSize,
                   "memory of devices is for ranks of one process, whose "
                   "program has kernels, and of each of them");
        return SHARDRT_USAGE;
      }
      options.memories.assign(asked.memories, asked.memories + ranks);
      options.numInputs = asked.num_inputs;
      options.numOutputs = asked.num_outputs;
    }
    options.host = asked.host;
    options.hostUser = asked.host_user;
    if (!program->program->isComplete()) {
      writeError(error, errorSize,
                 "extents of the program's arguments are open: bind it first");
      return SHARDRT_USAGE;
    }
    auto handle = std::make_unique<shardrt_world>();
    int64_t ranks = program->program->table.numRanks();
    int64_t mine = options.job ? 1 : ranks;
    if (options.team) {
      std::string why = readTeam(asked, ranks, options, mine);
      if (!why.empty()) {
        writeError(error, errorSize, why);
        return SHARDRT_USAGE;
      }
    }
    std::shared_ptr<Crew> crew;
    if (asked.crew) {
      crew = asked.crew->handle.crew;
      std::string why = readPlaces(asked.places, mine, crew->size(), options);
      if (int status = crew->status(); status != SHARDRT_OK || !why.empty()) {
        writeError(error, errorSize,
                   why.empty() ? crew->describeStatus() : why);
        return why.empty() ? status : int(SHARDRT_USAGE);
      }
    } else {
      Crew::Options threads;
      threads.pin = asked.pin != 0;
      threads.isShared = false;
      threads.ranks = ranks;
      threads.first = asked.job ? asked.job->job.launch.rank : 0;
      handle->own = std::make_unique<CrewHandle>(mine, threads);
      crew = handle->own->crew;
    }
    handle->world = std::make_shared<World>(program->program, crew, options);
    if (handle->world->status != SHARDRT_OK) {
      writeError(error, errorSize, handle->world->error);
      return handle->world->status;
    }
    *world = handle.release();
    return SHARDRT_OK;
  } catch (const std::system_error &e) {
    writeError(error, errorSize,
               std::string("cannot start a thread for each rank: ") + e.what());
    return SHARDRT_MEMORY;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

void shardrt_world_destroy(shardrt_world *world) {
  // A forked child has no threads to join, and locks that nobody opens.
  if (world && world->world->crew->fork.isHere())
    delete world;
}

int shardrt_world_start(shardrt_world *world, void *const *const *inputs,
                        void *const *const *outputs, shardrt_done_fn done,
                        void *user) {
  if (!world)
    return SHARDRT_USAGE;
  try {
    Work work;
    work.inputs = inputs;
    work.outputs = outputs;
    work.user = user;
    return world->world->start(work, nullptr, done);
  } catch (const std::exception &) {
    return SHARDRT_MEMORY;
  }
}

int shardrt_world_run_here(shardrt_world *world, void *const *const *inputs,
                           void *const *const *outputs, void *user, char *error,
                           size_t errorSize) {
  if (!world) {
    writeError(error, errorSize, "a NULL argument");
    return SHARDRT_USAGE;
  }
  std::string why;
  int status = SHARDRT_MEMORY;
  try {
    Work work;
    work.inputs = inputs;
    work.outputs = outputs;
    work.user = user;
    status = world->world->runHere(work, why);
  } catch (const std::exception &) {
    why = "out of memory in the runtime";
  }
  if (status != SHARDRT_OK)
    writeError(error, errorSize, why);
  return status;
}

int shardrt_world_run(shardrt_world *world, void *const *const *inputs,
                      void *const *const *outputs) {
  return shardrt_world_run_repeated(world, inputs, outputs, 1, nullptr);
}

int shardrt_world_call(shardrt_world *world, shardrt_task_fn task, void *user) {
  if (!world || !task)
    return SHARDRT_USAGE;
  try {
    Work work;
    work.task = task;
    work.user = user;
    return world->world->run(work);
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
  done = comm.settleUnless(done && comm.finish(ticket, whom));
  return done ? SHARDRT_OK : comm.status();
}

int shardrt_world_run_repeated(shardrt_world *world, void *const *const *inputs,
                               void *const *const *outputs, int64_t repeat,
                               double *milliseconds) {
  if (!world || repeat < 0)
    return SHARDRT_USAGE;
  try {
    Work work;
    work.inputs = inputs;
    work.outputs = outputs;
    work.repeat = repeat;
    work.milliseconds = milliseconds;
    return world->world->run(work);
  } catch (const std::exception &) {
    return SHARDRT_MEMORY;
  }
}

const char *shardrt_world_error(const shardrt_world *world) {
  return world ? world->world->error.c_str() : "";
}

const char *shardrt_world_rank_error(const shardrt_world *world, int64_t rank) {
  if (!world || rank < 0 || rank >= world->world->numRanks())
    return "";
  return world->world->rankErrors[rank].c_str();
}

int shardrt_world_site_stats(const shardrt_world *world, int64_t rank,
                             int64_t site, shardrt_site_stats *stats) {
  if (!world || !stats)
    return SHARDRT_USAGE;
  const auto &contexts = world->world->contexts;
  if (rank < -1 || rank >= world->world->numRanks() || site < 0 ||
      site >= static_cast<int64_t>(contexts[0]->stats.size()))
    return SHARDRT_USAGE;
  *stats = {};
  for (const auto &ctx : contexts) {
    if (rank != -1 && ctx->rank != rank)
      continue;
    const shardrt_site_stats &from = ctx->stats[site];
    stats->count += readTally(from.count);
    stats->bytes_received += readTally(from.bytes_received);
    stats->total_ns += readTally(from.total_ns);
    stats->wait_ns += readTally(from.wait_ns);
    stats->overlap_ns += readTally(from.overlap_ns);
  }
  return SHARDRT_OK;
}

int shardrt_world_rank_stats(const shardrt_world *world, int64_t rank,
                             shardrt_rank_stats *stats) {
  const shardrt_context *ctx = findRank(world, rank);
  if (!stats || !ctx)
    return SHARDRT_USAGE;
  *stats = {readTally(ctx->steps.steps), readTally(ctx->steps.total_ns),
            readTally(ctx->steps.wait_ns)};
  return SHARDRT_OK;
}

void shardrt_world_reset_stats(shardrt_world *world) {
  if (!world)
    return;
  for (auto &ctx : world->world->contexts) {
    std::fill(ctx->stats.begin(), ctx->stats.end(), shardrt_site_stats{});
    ctx->steps = {};
  }
  for (auto &ctx : world->world->contexts)
    if (ctx->trace)
      ctx->trace->clear();
}

int64_t shardrt_world_trace(const shardrt_world *world, int64_t rank,
                            const shardrt_trace_event **events,
                            int64_t *dropped) {
  const shardrt_context *ctx = findRank(world, rank);
  if (!events || !ctx || !ctx->trace)
    return -1;
  const Trace &trace = *ctx->trace;
  *events = trace.events.data();
  if (dropped)
    *dropped = trace.dropped;
  return static_cast<int64_t>(trace.events.size());
}

int shardrt_trace_begin(shardrt_context *ctx) {
  if (ctx->trace)
    return SHARDRT_USAGE;
  ctx->trace = std::make_unique<Trace>();
  return SHARDRT_OK;
}

int64_t shardrt_trace_end(shardrt_context *ctx,
                          void (*each)(void *, const shardrt_trace_event *),
                          void *user) {
  std::unique_ptr<Trace> trace = std::move(ctx->trace);
  if (!trace)
    return -1;
  for (const shardrt_trace_event &event : trace->events)
    each(user, &event);
  return trace->dropped;
}

int64_t shardrt_world_site_peers(const shardrt_world *world, int64_t rank,
                                 int64_t site, int64_t *peers,
                                 int64_t capacity) {
  const shardrt_context *ctx = findRank(world, rank);
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

int shardrt_world_device_counts(const shardrt_world *world, int64_t rank,
                                shardrt_device_counts *counts) {
  const shardrt_context *ctx = findRank(world, rank);
  if (!counts || !ctx || !ctx->device)
    return SHARDRT_USAGE;
  *counts = ctx->device->counts;
  return SHARDRT_OK;
}

int64_t shardrt_world_peak_bytes(const shardrt_world *world, int64_t rank) {
  const shardrt_context *ctx = findRank(world, rank);
  if (!ctx)
    return -1;
  if (ctx->deviceMemory)
    return ctx->deviceMemory->peakBytes();
  // What all worlds of a crew hold together is not this one's.
  return world->world->crew->isShared() ? ctx->peakBytes
                                        : ctx->memory->peakBytes();
}

const char *shardrt_world_transport(const shardrt_world *world) {
  return world ? world->world->transport.c_str() : "";
}

const char *shardrt_world_libraries(const shardrt_world *world, int64_t rank) {
  shardrt_context *ctx = findRank(world, rank);
  if (!ctx)
    return nullptr;
  return ctx->libraries ? ctx->libraries->asked() : "";
}

const char *shardrt_world_notes(const shardrt_world *world, int64_t rank) {
  shardrt_context *ctx = findRank(world, rank);
  if (!ctx)
    return nullptr;
  try {
    ctx->notes = ctx->device ? ctx->device->notes : "";
    if (ctx->libraries)
      ctx->notes += ctx->libraries->lacking();
  } catch (const std::exception &) {
    ctx->notes.clear();
  }
  return ctx->notes.c_str();
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
