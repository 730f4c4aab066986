//===- WorldRuns.cpp - Runs of the ranks of one program -------------------===//
//
// A run: a task for the place of each rank; the last one to leave says what
// happened. After a failure stragglers are waited for for a while only
// (Crew::patrol).
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Collectives/Pack.h"
#include "Host/Clock.h"
#include "World/World.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

using namespace shardrt;

//===----------------------------------------------------------------------===//
// The ranks' side
//===----------------------------------------------------------------------===//

void World::noteBinding(Run &run) {
  // The last so many, of which a few alternate in steps that go on.
  constexpr size_t most = 64;
  if (options.memories.empty() || !run.work.inputs || !run.work.outputs)
    return;
  for (auto &ctx : contexts) {
    void *const *inputs = run.work.inputs[ctx->rank];
    void *const *outputs = run.work.outputs[ctx->rank];
    run.binding.insert(run.binding.end(), inputs, inputs + options.numInputs);
    run.binding.insert(run.binding.end(), outputs,
                       outputs + options.numOutputs);
  }
  auto known = std::find_if(seen.begin(), seen.end(), [&](const auto &other) {
    return other.first == run.binding;
  });
  if (known != seen.end()) {
    run.sightings = known->second;
    seen.erase(known);
  }
  seen.emplace_front(run.binding, run.sightings + run.work.repeat);
  if (seen.size() > most)
    seen.pop_back();
  for (auto &ctx : contexts)
    ctx->device->bind(run.binding);
}

void World::doWork(shardrt_context &ctx, Run &run, void *const *inputs,
                   void *const *outputs) {
  Work &work = run.work;
  ctx.runUser = work.task ? nullptr : work.user;
  if (crew->isShared())
    ctx.memory->beginProgram();
  if (work.task)
    runTask(ctx, work);
  else
    runSteps(ctx, run, inputs, outputs);
  if (crew->isShared())
    ctx.peakBytes = std::max(ctx.peakBytes, ctx.memory->endProgram());
}

bool World::takeGroup(Run &run) {
  std::unique_lock lock(mutex);
  // A run that lost a rank never ends.
  while (!ended.wait_for(lock, std::chrono::milliseconds(100), [&] {
    return complete >= run.number || run.refusal != SHARDRT_OK;
  }))
    if (crew->status() == SHARDRT_LOST && run.refusal == SHARDRT_OK) {
      run.refusal = SHARDRT_LOST;
      run.whyRefused = crew->describeStatus();
    }
  if (!run.isPrepared && run.refusal == SHARDRT_OK) {
    run.isPrepared = true;
    std::string why;
    if (group->failed() && program->device && contexts[0]->nccl &&
        !options.job) {
      run.refusal = renewNccl(why);
      run.whyRefused = why;
    }
    // Others of a job may have begun this run, and failed it, before this rank
    // came: then it is told so. It is told once.
    if (run.refusal == SHARDRT_OK && !group->reset() &&
        hasReportedFailure.load()) {
      run.refusal = SHARDRT_LOST;
      run.whyRefused =
          "an earlier run of this job failed: " + group->failure().said();
    }
    run.group = group.get();
    noteBinding(run);
  }
  return run.refusal == SHARDRT_OK;
}

bool World::join(RunPart &part) {
  Run &run = *part.of;
  shardrt_context &ctx = *contexts[part.context];
  if (group) {
    if (!takeGroup(run))
      return false;
    return crew->watch(run, &part) && !group->failed();
  }
  if (teamGroup) {
    if (options.team->hasSaidGoodbye()) {
      refuse(run, SHARDRT_USAGE, "this process has left the job");
      return false;
    }
    if (teamGroup->failed() && teamGroup->hasReportedFailure.load()) {
      refuse(run, SHARDRT_LOST,
             "an earlier run of this job failed: " +
                 teamGroup->failure().said());
      return false;
    }
    return crew->watch(run, &part) && agree(run, ctx.rank);
  }
  if (numRanks() == 1) {
    LocalGroup &alone = crew->place(part.place).alone;
    alone.reset();
    alone.lend(options.group, describeSite);
    run.group = &alone;
    part.begin();
  } else if (!crew->watch(run, &part)) {
    return false;
  }
  ctx.group = run.group;
  ctx.comm = &run.group->rank(ctx.rank);
  return !run.group->failed();
}

bool World::agree(Run &run, int64_t rank) {
  std::vector<std::vector<int64_t>> byRank;
  if (!teamGroup->begin(rank, {number, unbound, bound}, byRank))
    return false;
  std::string why;
  if (unbound)
    why = compareBindings(*program, byRank);
  if (why.empty())
    return true;
  // All ranks find the same, and go on with other runs.
  std::lock_guard lock(mutex);
  run.refusal = SHARDRT_USAGE;
  run.whyRefused = why;
  return false;
}

void RunPart::begin() {
  int64_t rank = of->world->contexts[context]->rank;
  inputs = of->work.inputs ? of->work.inputs[rank] : nullptr;
  outputs = of->work.outputs ? of->work.outputs[rank] : nullptr;
  hasBegun.store(true);
  if (of->toBegin.fetch_sub(1) == 1 && of->world->numRanks() > 1)
    of->begunNs.store(nowNs());
}

void World::refuse(Run &run, int status, const std::string &why) {
  bool hasGroup = false;
  {
    std::lock_guard lock(mutex);
    if (run.refusal == SHARDRT_OK) {
      run.refusal = status;
      run.whyRefused = why;
    }
    hasGroup = run.isPrepared;
    ended.notify_all();
  }
  // The others are not to wait for this rank.
  if (!group && numRanks() > 1) {
    crew->watch(run, nullptr);
    hasGroup = true;
  }
  if (hasGroup)
    run.group->fail({status, -1, why, -1, {}});
}

void RunPart::run(int status, Outcome &outcome) {
  std::shared_ptr<World> world = of->world;
  world->doPart(*of, *this, status, outcome);
}

void World::doPart(Run &run, RunPart &part, int status, Outcome &outcome) {
  try {
    if (status == SHARDRT_OK) {
      if (join(part))
        doWork(*contexts[part.context], run, part.inputs, part.outputs);
    } else {
      refuse(run, status, crew->describeStatus());
    }
  } catch (const std::exception &) {
    try {
      refuse(run, SHARDRT_MEMORY, "out of memory in the runtime");
    } catch (...) {
    }
  }
  leave(run, part, outcome);
}

void World::leave(Run &run, RunPart &part, Outcome &outcome) {
  part.hasLeft.store(true);
  if (run.toLeave.fetch_sub(1) != 1)
    return;
  if (!run.isReported.exchange(true))
    outcome = outcomeOf(run);
  crew->unwatch(run);
  if (group) {
    std::lock_guard lock(mutex);
    ++complete;
    ended.notify_all();
  }
  delete &run;
}

void Outcome::notify() {
  if (waiter) {
    std::lock_guard lock(waiter->mutex);
    waiter->status = status;
    waiter->error = std::move(error);
    waiter->rankErrors = std::move(rankErrors);
    waiter->isDone = true;
    // Whoever waits goes away with the lock.
    waiter->done.notify_all();
  } else if (done) {
    done(user, status, error.c_str());
  }
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

int World::start(const Work &work, Waiter *waiter, shardrt_done_fn done) {
  if (int why = crew->status())
    return why;
  auto run = std::make_unique<Run>();
  run->world = shared_from_this();
  run->work = work;
  run->work.lastEndNs = work.milliseconds ? nowNs() : 0;
  run->waiter = waiter;
  run->done = done;
  run->group = teamGroup;
  run->firstStep =
      work.task
          ? 0
          : stepsStarted.fetch_add(work.repeat, std::memory_order_relaxed);
  run->numParts = contexts.size();
  run->allParts = std::make_unique<RunPart[]>(run->numParts);
  auto ranks = static_cast<int64_t>(run->numParts);
  run->toBegin.store(ranks, std::memory_order_relaxed);
  run->toLeave.store(ranks, std::memory_order_relaxed);
  Task *above = nullptr;
  for (size_t i = run->numParts; i-- > 0;) {
    RunPart &part = run->allParts[i];
    part.of = run.get();
    part.context = order[i];
    part.place = places[order[i]];
    part.sibling = above;
    above = &part;
  }
  if (!waiter && numRanks() > 1)
    crew->startPatrol();
  int status = SHARDRT_OK;
  RunPart &first = run->allParts[0];
  if (!group) {
    status = crew->push(first);
  } else {
    // They get their numbers in the order in which they come.
    std::lock_guard lock(mutex);
    run->number = started;
    status = crew->push(first);
    if (status == SHARDRT_OK)
      ++started;
  }
  if (status == SHARDRT_OK)
    run.release();
  return status;
}

int World::run(const Work &work) {
  error.clear();
  for (std::string &text : rankErrors)
    text.clear();
  Waiter waiter;
  if (int status = start(work, &waiter, nullptr)) {
    error = crew->describeStatus();
    return status;
  }
  std::unique_lock lock(waiter.mutex);
  auto isDone = [&] { return waiter.isDone; };
  // Whoever waits anyway is the watchdog.
  while (!waiter.done.wait_for(lock, std::chrono::nanoseconds(crew->tickNs()),
                               isDone)) {
    lock.unlock();
    crew->patrol();
    lock.lock();
  }
  error = std::move(waiter.error);
  if (!waiter.rankErrors.empty())
    rankErrors = std::move(waiter.rankErrors);
  return waiter.status;
}

int World::runHere(const Work &work, std::string &why) {
  if (int status = crew->status()) {
    why = crew->describeStatus();
    return status;
  }
  // Several ranks take turns, so that none may wait for another.
  bool isAlone = numRanks() == 1 || program->table.sites.empty();
  if (group || teamGroup || !isAlone ||
      static_cast<int64_t>(contexts.size()) != numRanks())
    return SHARDRT_BUSY;
  Run run;
  run.work = work;
  size_t taken = 0;
  while (taken < order.size() && crew->tryTake(places[order[taken]]))
    ++taken;
  int status = taken == order.size() ? SHARDRT_OK : SHARDRT_BUSY;
  for (size_t i = 0; i < order.size() && status == SHARDRT_OK; ++i)
    status = runPartHere(order[i], run, why);
  while (taken > 0)
    crew->giveBack(places[order[--taken]]);
  return status;
}

int World::runPartHere(size_t context, Run &run, std::string &why) {
  const Work &work = run.work;
  shardrt_context &ctx = *contexts[context];
  LocalGroup &alone = crew->place(places[context]).alone;
  // The run before it here may have failed.
  alone.reset();
  alone.lend(options.group, describeSite);
  ctx.group = &alone;
  ctx.comm = &alone.rank(0);
  int status = SHARDRT_OK;
  try {
    doWork(ctx, run, work.inputs ? work.inputs[ctx.rank] : nullptr,
           work.outputs ? work.outputs[ctx.rank] : nullptr);
    if (alone.failed()) {
      status = alone.failure().status;
      why = alone.failure().said();
      // It is the first of those it meets, who are none.
      constexpr std::string_view asAlone = "rank 0: ";
      if (why.starts_with(asAlone))
        why.replace(0, asAlone.size(),
                    "rank " + std::to_string(ctx.rank) + ": ");
    }
  } catch (const std::exception &) {
    status = SHARDRT_MEMORY;
  }
  alone.reset();
  return status;
}

Outcome World::outcomeOf(const Run &run) {
  Outcome outcome;
  outcome.waiter = run.waiter;
  outcome.done = run.done;
  outcome.user = run.work.user;
  {
    std::lock_guard lock(mutex);
    outcome.status = run.refusal;
    outcome.error = run.whyRefused;
  }
  if (outcome.status != SHARDRT_OK || !run.group || !run.group->failed())
    return outcome;
  if (group)
    hasReportedFailure.store(true);
  if (teamGroup)
    teamGroup->hasReportedFailure.store(true);
  outcome.status = run.group->failure().status;
  reportFailure(run, outcome.error, outcome.rankErrors);
  return outcome;
}

void World::reportFailure(const Run &run, std::string &text,
                          std::vector<std::string> &ranks) const {
  Failure failure = run.group->failure();
  text = failure.said();
  if (!failure.peerText.empty())
    text += "\n" + failure.peerText;
  std::string first = text.substr(0, text.find('\n'));
  for (int64_t rank = 0; rank < numRanks(); ++rank)
    ranks.push_back(rank == failure.rank ? failure.said()
                    : rank == failure.peer
                        ? failure.peerText
                        : "rank " + std::to_string(rank) +
                              ": stopped with the group: " + first);
  for (const RunPart &part : run.parts()) {
    if (!part.hasBegun.load() || part.hasLeft.load())
      continue;
    int64_t rank = contexts[part.context]->rank;
    ranks[rank] = "rank " + std::to_string(rank) + ": did not come back";
    text += "\n" + ranks[rank];
  }
}

int World::gather(int64_t root, const void *mine, int64_t bytes,
                  void *const *parts, const int64_t *partBytes) {
  error.clear();
  if (!options.job || root < 0 || root >= numRanks() || group->failed() ||
      !crew->tryTake(places[0])) {
    error = "nothing can be brought together: ";
    error += !options.job      ? "ranks are threads of one process"
             : group->failed() ? "the last run failed"
                               : "there is no such rank, or a run is under way";
    return SHARDRT_USAGE;
  }
  struct GiveBack {
    Crew &crew;
    int64_t place;
    ~GiveBack() { crew.giveBack(place); }
  } giveBack{*crew, places[0]};
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
  if (comm.settleUnless(done))
    return SHARDRT_OK;
  Run none;
  none.group = group.get();
  hasReportedFailure.store(true);
  reportFailure(none, error, rankErrors);
  return group->failure().status;
}
