//===- Steps.cpp - The steps of a run, as a rank does them ----------------===//
//
// A step is a call of the program, or what a device has recorded of one, done
// again. What is recorded must not depend on data that the host has looked at,
// and ranks whose devices wait for one another record and replay together.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Host/Clock.h"
#include "Host/Cores.h"
#include "World/World.h"
#include <algorithm>
#include <cstring>
#include <exception>

using namespace shardrt;

void World::runSteps(shardrt_context &ctx, Run &run, void *const *inputs,
                     void *const *outputs) {
  // What is done to addresses of the device may be done again in a later run;
  // those of copies of the host's memory are this run's.
  bool isResident = ctx.deviceMemory && ctx.deviceMemory->isResident();
  if (!isResident)
    ctx.recordedCounts.clear();
  runRepeated(ctx, run, inputs, outputs);
  if (ctx.device && (!isResident || ctx.group->failed()))
    ctx.device->forgetRecording();
  // What others wait for in NCCL does not come any more: each must say so.
  if (ctx.nccl && ctx.group->failed())
    ctx.nccl->abort();
}

World::Replay World::howToReplay(const shardrt_context &ctx) const {
  if (!ctx.device || !options.record)
    return Replay::Never;
  if (ctx.numRanks == 1)
    return Replay::Alone;
  // What NCCL does others need not know of; what the host's transports do waits
  // for others on the host.
  if (ctx.nccl)
    return Replay::Each;
  bool together = ctx.collectives == &directCollectives() &&
                  static_cast<int64_t>(contexts.size()) == ctx.numRanks;
  return together ? Replay::Together : Replay::Never;
}

bool World::hasNoneLooked(shardrt_context &ctx) {
  // All look at the same numbers, after the barrier of the step before.
  if (!options.job)
    return std::all_of(contexts.begin(), contexts.end(),
                       [](const auto &peer) { return !peer->hasLooked; });
  std::vector<int64_t> others;
  for (int64_t rank = 0; rank < numRanks(); ++rank)
    if (rank != ctx.rank)
      others.push_back(rank);
  int64_t mine = ctx.hasLooked, all = mine;
  Ticket ticket;
  bool done = ctx.comm->post({-1, 0}, {&mine, sizeof(mine)}, others, ticket);
  for (size_t i = 0; done && i < others.size(); ++i) {
    const std::byte *data = nullptr;
    if (!(done = ctx.comm->open(ticket, others[i], data)))
      break;
    int64_t theirs;
    std::memcpy(&theirs, data, sizeof(theirs));
    all += theirs;
    ctx.comm->close(ticket, others[i]);
  }
  done = done && ctx.comm->finish(ticket, others);
  return ctx.comm->settleUnless(done) && all == 0;
}

bool World::beginRecording(shardrt_context &ctx, Replay how) {
  if (how == Replay::Alone)
    // What would be done at once, and not kept, is not recorded in every run.
    return !(ctx.deviceMemory->isResident() && ctx.hasLooked) &&
           ctx.device->beginRecording();
  if (!hasNoneLooked(ctx))
    return false;
  // A device that cannot record does its work at once, which the others' wait
  // for.
  if (how == Replay::Each)
    return ctx.device->beginRecording();
  bool isFirst = &ctx == contexts[0].get();
  Device &first = *contexts[0]->device;
  if (isFirst)
    recordsTogether = first.joinRecording(first);
  if (!ctx.comm->barrier(0) || !recordsTogether)
    return false;
  if (!isFirst && !ctx.device->joinRecording(first))
    failOfDevice(ctx, -1);
  return true;
}

bool World::endRecording(shardrt_context &ctx, Replay how) {
  if (how != Replay::Together)
    return true; // with the step
  if (!ctx.comm->barrier(0))
    return false;
  if (&ctx == contexts[0].get()) {
    std::vector<Device *> devices;
    for (auto &peer : contexts)
      devices.push_back(peer->device.get());
    if (!ctx.device->endRecording(devices))
      return failOfDevice(ctx, -1);
  }
  return ctx.comm->barrier(0);
}

void World::runRepeated(shardrt_context &ctx, Run &run, void *const *inputs,
                        void *const *outputs) {
  Comm &comm = *ctx.comm;
  Work &work = run.work;
  bool isResident = ctx.deviceMemory && ctx.deviceMemory->isResident();
  int64_t repeat = work.repeat;
  // Whoever waits for the run waits for all ranks; they need not.
  bool isAlone =
      repeat == 1 && !work.milliseconds && !ctx.device && !ctx.trace && !group;
  Replay how = howToReplay(ctx);
  Device *recorder = how == Replay::Never      ? nullptr
                     : how == Replay::Together ? contexts[0]->device.get()
                                               : ctx.device.get();
  if (ctx.device)
    ctx.device->looks = 0;
  for (int64_t step = 0; step < repeat; ++step) {
    if (ctx.deviceMemory)
      ctx.deviceMemory->beginStep(step == 0, step == repeat - 1);
    comm.enterStep();
    int64_t began = ctx.trace ? nowNs() : 0;
    // The first step uploads, the last downloads; those between do the same
    // work. So does each that is given the same addresses of the device.
    bool isSteady = recorder && (isResident ? run.sightings + step > 0
                                            : step > 0 && step < repeat - 1);
    bool isReplay =
        isSteady && (isResident || step > 1) && recorder->canReplay();
    bool isRecording = isSteady && !isReplay && (isResident || step == 1) &&
                       beginRecording(ctx, how);
    if (isRecording) {
      ctx.recordedCounts.clear();
      for (shardrt_site_stats &stats : ctx.stats)
        ctx.recordedCounts.push_back(-stats.count);
    }
    if (!(isReplay
              ? replayStep(ctx, how)
              : runStep(ctx, run, run.firstStep + step, inputs, outputs)) ||
        (isRecording && !endRecording(ctx, how)) || !comm.leaveStep())
      return;
    if (step == 0 && !isSteady)
      ctx.hasLooked = ctx.device && ctx.device->looks != 0;
    if (ctx.trace)
      ctx.trace->endStep(began, nowNs());
    for (size_t i = 0; isRecording && i < ctx.stats.size(); ++i)
      ctx.recordedCounts[i] += ctx.stats[i].count;
    // What a rank shows stays until it was read: it may begin the next step
    // while others end this one. Devices record and replay in step, and in a
    // trace steps begin together.
    bool isInStep = step == repeat - 1 || ctx.device || ctx.trace;
    if (!isAlone && !comm.barrier(isInStep ? 0 : 1))
      return;
    // One of those of this process has the clock.
    if (&ctx != contexts[0].get())
      continue;
    int64_t now = nowNs();
    if (work.milliseconds)
      work.milliseconds[step] = static_cast<double>(now - work.lastEndNs) / 1e6;
    work.lastEndNs = now;
  }
}

void World::runTask(shardrt_context &ctx, const Work &work) {
  Comm &comm = *ctx.comm;
  comm.enterStep();
  int status = SHARDRT_LOST;
  std::string why;
  try {
    status = work.task(&ctx, work.user);
    if (status != SHARDRT_OK)
      why = "left with status " + std::to_string(status);
  } catch (const std::exception &e) {
    why = std::string("threw an exception: ") + e.what();
  }
  if (status != SHARDRT_OK) {
    ctx.fail(status, why);
    // What it threw may have left posts of others open.
    comm.settle();
  } else if (comm.leaveStep()) {
    comm.barrier(0);
  }
}

bool World::replayStep(shardrt_context &ctx, Replay how) {
  // Where several have recorded together the first does the work of all.
  bool isDone = how == Replay::Together && &ctx != contexts[0].get();
  if (isDone || ctx.device->replay()) {
    for (size_t site = 0; site < ctx.stats.size(); ++site)
      tally(ctx.stats[site].count, ctx.recordedCounts[site]);
    return true;
  }
  ctx.fail(ctx.device->status, ctx.device->error);
  return false;
}

void World::weighStep(const shardrt_context &ctx, Run &run, int64_t busy) {
  for (RunPart &part : run.parts())
    if (contexts[part.context].get() == &ctx)
      part.busyNs.store(busy, std::memory_order_relaxed);
  // The last one sees what the others have written. Where a rank fails it does
  // not come; the count goes with the run.
  if (run.weighed.fetch_add(1) + 1 != contexts.size())
    return;
  run.weighed.store(0);
  std::vector<int64_t> work(contexts.size()), now;
  for (const RunPart &part : run.parts())
    work[part.context] = part.busyNs.load(std::memory_order_relaxed);
  for (size_t i = 0; i < contexts.size(); ++i)
    now.push_back(crew->place(places[i]).core.load(std::memory_order_relaxed));
  std::vector<int64_t> cores = spreadOverCores(work, countCores(), now);
  for (size_t i = 0; i < contexts.size(); ++i)
    crew->place(places[i]).core.store(cores[i], std::memory_order_relaxed);
}

bool World::runStep(shardrt_context &ctx, Run &run, int64_t number,
                    void *const *inputs, void *const *outputs) {
  int status = SHARDRT_LOST;
  std::string why;
  bool isTimed = ctx.numRanks > 1;
  // On the caller's thread ranks take turns. The first few steps are weighed,
  // and now and then one; by the world's number, which all ranks agree about
  // where one of them has failed before.
  bool canMove = sharesCores && ctx.group->size() == ctx.numRanks;
  bool isWeighed = canMove && (number < 3 || number % 64 == 0);
  if (canMove)
    crew->place(places[ctx.rank]).follow();
  int64_t busy = isWeighed ? threadNs() : 0;
  int64_t began = isTimed ? nowNs() : 0;
  int64_t waitedBefore = isTimed ? ctx.comm->waited() : 0;
  try {
    if (ctx.nccl && !ctx.nccl->connect(ctx))
      status = ctx.comm->status();
    else
      status = program->main(&ctx, inputs, outputs);
    if (isTimed && status == SHARDRT_OK) {
      tally(ctx.steps.steps, 1);
      tally(ctx.steps.total_ns, nowNs() - began);
      tally(ctx.steps.wait_ns, ctx.comm->waited() - waitedBefore);
    }
    if (isWeighed)
      weighStep(ctx, run, threadNs() - busy);
    if (status != SHARDRT_OK)
      why = "left its step with status " + std::to_string(status);
  } catch (const std::bad_alloc &) {
    status = SHARDRT_MEMORY;
    why = "out of memory";
  } catch (const std::exception &e) {
    why = std::string("threw an exception: ") + e.what();
  } catch (...) {
    why = "threw an exception";
  }
  // An exchange that was never waited for stays busy in `comm`, which says so.
  for (shardrt_context::Pending &pending : ctx.pending)
    pending.used = false;
  ctx.unreleased.clear();
  for (shardrt_context::Shown &shown : ctx.shown)
    shown.used = false;
  try {
    ctx.memory->releaseAll();
    if (ctx.deviceMemory)
      ctx.deviceMemory->releaseAll();
    if (status != SHARDRT_OK)
      ctx.fail(status, why);
  } catch (...) {
    ctx.failForMemory();
    return false;
  }
  return status == SHARDRT_OK;
}
