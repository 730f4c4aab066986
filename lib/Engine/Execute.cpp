//===- Execute.cpp - Running programs -------------------------------------===//
//
// An execution takes its turn on all of its devices, in ascending order, and
// keeps it until the runtime has the run, so that numbers of work, memory that
// goes from earlier to later work, and runs come in one order. What is short,
// has its arguments, and whose ranks do not wait for one another, is computed
// on the caller's thread in that turn; else the ranks' threads do it.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include <algorithm>
#include <chrono>
#include <cstring>

using namespace shardc::engine;

/// What takes a rank longer than that is not done on the caller's thread again.
static constexpr int64_t kShortNs = 300'000;
/// Nor what takes all ranks longer than this: about what it costs to wake them,
/// who would do it side by side.
static constexpr int64_t kShortOfAllNs = 60'000;
/// Nor what has more to read and write, before it is known; of several ranks
/// nothing is: a loop may take long on each.
static constexpr int64_t kSmallBytes = int64_t(4) << 20;
/// This many runs may be enqueued before the first is done.
static constexpr int64_t kMostUnderWay = 64;

/// Whether this thread does a device's work: it must not wait for it.
static thread_local int ranksHere = 0;

static int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// On the ranks
//===----------------------------------------------------------------------===//

int Run::runRank(shardrt_context *context, void *const *inputs,
                 void *const *outputs) {
  Run &run = *static_cast<Run *>(inputs[-1]);
  ++ranksHere;
  int status = SHARDRT_OK;
  if (!run.waits.empty()) {
    int64_t rank = shardrt_rank(context);
    for (const Wait &wait : run.waits) {
      if (wait.rank != rank)
        continue;
      if (wait.isInOrder ? !wait.event->isFailing() : !wait.event->await())
        continue;
      run.failedArgument.store(wait.event.get());
      status =
          shardrt_fail(context, SHARDRT_LOST, "an argument of the run failed");
      break;
    }
  }
  if (status == SHARDRT_OK) {
    Program &program = *run.program;
    Tracer &tracer = program.engine->tracer;
    bool isTraced = tracer.isOn() && shardrt_trace_begin(context) == SHARDRT_OK;
    bool isOnRank = run.event && program.canRunHere(*run.world);
    int64_t began = isTraced || isOnRank ? nowNs() : 0;
    status = program.main(context, inputs, outputs);
    int64_t ended = isTraced || isOnRank ? nowNs() : 0;
    // What became short may be done on callers' threads again.
    if (isOnRank) {
      run.tookNs += ended - began;
      if (run.ranksDone.fetch_add(1) + 1 == program.model.numRanks)
        program.usual.add(run.tookNs.load());
    }
    if (isTraced)
      tracer.add(context, program.loaded.get(), program.model.name,
                 run.world->devices[shardrt_rank(context)]->index, began,
                 ended);
  }
  if (status != SHARDRT_OK && run.event)
    run.event->setFailing();
  --ranksHere;
  return status;
}

int Run::callHost(void *, const shardrt_host_call *call, char *message,
                  size_t messageSize) {
  const Run &run = *static_cast<Run *>(call->run);
  const HostCalls &host = run.host;
  if (host.call)
    return host.call(host, call, message, messageSize);
  if (call->num_results == 0)
    return SHARDRT_OK;
  std::snprintf(message, messageSize,
                "unsupported: the program calls the host, and nobody answers; "
                "give the engine or the execution a function");
  return SHARDRT_UNSUPPORTED;
}

static MaybeFailure failureOf(int status, const char *error) {
  return fail(static_cast<Status>(status),
              error && *error ? error : "the run failed");
}

void Run::finish(void *user, int status, const char *error) {
  std::unique_ptr<Run> run(static_cast<Run *>(user));
  Ref<Engine> engine = run->kept->engine;
  for (Block *block : run->held)
    block->device->drop(block);
  for (auto [device, number] : run->work)
    device->complete(number);
  Ref<Event> event = run->event;
  if (Event *first = run->failedArgument.load()) {
    // It fails with what failed there, which may not be said yet.
    first->onReady([event](const Failure *failure) {
      assert(failure && "arguments that are well do not fail a run");
      event->set(copyOf(failure));
    });
  } else {
    event->set(status == SHARDRT_OK ? nullptr : failureOf(status, error));
  }
  run.reset();
  engine->endRun();
}

//===----------------------------------------------------------------------===//
// Enqueuing
//===----------------------------------------------------------------------===//

bool Program::canRunHere(const World &world) const {
  return !callsHost &&
         (model.numRanks == 1 ||
          (world.here.size() == world.devices.size() && numSites() == 0));
}

std::string Program::describeArgument(size_t index) const {
  const ProgramValue &value = model.arguments[index];
  std::string text = "argument " + std::to_string(index);
  if (!value.name.empty())
    text += " (" + value.name + ")";
  return text;
}

static std::string printType(ElementType type, std::span<const int64_t> dims) {
  std::string text(shardrt::elementTypeName(type));
  text += "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

MaybeFailure Program::checkArgument(const World &world, int64_t rank,
                                    size_t index, const Buffer *buffer) const {
  const ProgramValue &value = model.arguments[index];
  const LocalValue &local = model.ofRank(rank).arguments[index];
  if (buffer && buffer->engine.get() == engine.get() &&
      &buffer->device == world.devices[rank] && buffer->type == value.type &&
      std::ranges::equal(buffer->dims.get(), local.dims.get()))
    return nullptr;
  std::string what = describeArgument(index);
  if (model.numRanks > 1)
    what += " of rank " + std::to_string(rank);
  if (!buffer)
    return usage(what + " is NULL");
  if (buffer->engine.get() != engine.get())
    return usage(what + " is a buffer of another engine");
  if (&buffer->device != world.devices[rank])
    return usage(what + " is on device " +
                 std::to_string(buffer->device.index) +
                 ", but the rank runs on device " +
                 std::to_string(world.devices[rank]->index));
  return usage(what + " is " + printType(buffer->type, buffer->dims.get()) +
               ", but the program takes " +
               printType(value.type, local.dims.get()) + " there");
}

MaybeFailure Program::checkDonated(const Execution &given,
                                   std::span<const int64_t> ranks) const {
  const size_t count = model.arguments.size();
  std::vector<size_t> donated;
  for (size_t i = 0; i < count; ++i)
    if (isDonated(given, i))
      donated.push_back(i);
  if (donated.empty())
    return nullptr;
  MaybeFailure failure;
  for (size_t k = 0; k < ranks.size() && !failure; ++k) {
    Buffer *const *buffers = given.arguments[ranks[k]];
    auto refuse = [&](size_t index, size_t other) {
      failure = usage(describeArgument(index) + " is donated, and " +
                      describeArgument(other) + " is the same array");
    };
    size_t marked = 0;
    for (; marked < donated.size() && !failure; ++marked) {
      Buffer *buffer = buffers[donated[marked]];
      if (buffer->isGivenUp)
        refuse(*std::ranges::find(donated, buffer,
                                  [&](size_t i) { return buffers[i]; }),
               donated[marked]);
      buffer->isGivenUp = true;
    }
    for (size_t i = 0; i < count && !failure; ++i)
      if (buffers[i]->isGivenUp && !isDonated(given, i))
        refuse(*std::ranges::find(donated, buffers[i],
                                  [&](size_t j) { return buffers[j]; }),
               i);
    for (size_t i = 0; i < marked; ++i)
      buffers[donated[i]]->isGivenUp = false;
  }
  return failure;
}

namespace {
/// Holds the mutexes of several devices. They come in ascending order.
template <std::mutex Device::*Mutex> class Locks {
public:
  explicit Locks(std::span<Device *const> devices) : devices(devices) {
    for (Device *device : devices)
      (device->*Mutex).lock();
  }
  ~Locks() { unlock(); }
  void unlock() {
    for (Device *device : devices)
      (device->*Mutex).unlock();
    devices = {};
  }
  Locks(const Locks &) = delete;
  Locks &operator=(const Locks &) = delete;

private:
  std::span<Device *const> devices;
};
} // namespace

namespace shardc::engine {
/// One execution, from its arguments to a run that is done or under way.
class Enqueuing {
public:
  Enqueuing(Program &program, Program::World &world, const Execution &given)
      : program(program), model(program.model), world(world), given(given),
        here(world.here), count(model.arguments.size()),
        results(model.results.size()), shown(results - model.hidden),
        stride(1 + count + results) {}

  MaybeFailure execute(Ref<Event> *done);

private:
  // Steps, in their order.
  MaybeFailure checkArguments();
  bool isShort() const;
  std::span<Device *const> findLocked();
  void makeRun();
  MaybeFailure readArguments();
  MaybeFailure takeResults();
  void numberWork();
  void giveUpArguments();
  bool runHere();
  MaybeFailure start();
  void takeBack();
  void endGivenUp();
  void makeBuffers();

  Buffer *argument(size_t k, size_t i) const {
    return given.arguments[here[k]][i];
  }
  void *&addressOfResult(size_t k, size_t i) {
    return run->addresses[k * stride + 1 + count + i];
  }
  void drop(Block *block) {
    if (std::function<void()> call = block->device->dropLocked(block))
      later.push_back(std::move(call));
  }
  void dropNewResults() {
    for (const Made &result : made)
      if (!result.from)
        drop(result.block);
  }
  void completeWork() {
    for (auto [device, number] : run->work)
      device->completed = std::max(device->completed, number);
    for (Block *block : run->held)
      drop(block);
  }
  void callLater() {
    for (std::function<void()> &call : later)
      call();
  }

  Program &program;
  const CompiledModel &model;
  Program::World &world;
  const Execution &given;
  const std::vector<int64_t> &here;
  const size_t count, results, shown, stride; ///< stride: addresses of a rank

  bool isReady = true; ///< all arguments are there
  bool isHome = true;  ///< on the devices that they were made on
  std::vector<Device *> all;
  std::span<Device *const> locked; ///< the run's devices, and those whose
                                   ///< memory it uses
  std::unique_ptr<Run> run;
  struct Made {
    Block *block;
    Buffer *from; ///< the argument whose memory it was; null: new
  };
  std::vector<Made> made; ///< of the results, by rank
  /// What is given up, with whose it was, and whether a result has it.
  struct GivenUp {
    Buffer *buffer;
    Block *block;
    bool isResult;
  };
  std::vector<GivenUp> donated;
  std::vector<std::function<void()>> later; ///< once no lock is held
  int status = SHARDRT_OK;
  char problem[1024] = "";
  Ref<Event> event; ///< null for results that are there
};
} // namespace shardc::engine

MaybeFailure Enqueuing::checkArguments() {
  for (int64_t rank : here)
    for (size_t i = 0; i < count; ++i) {
      const Buffer *buffer = given.arguments[rank][i];
      if (MaybeFailure failure = program.checkArgument(world, rank, i, buffer))
        return failure;
      isReady &= !buffer->ready ||
                 (buffer->ready->isReady() && !buffer->ready->failure());
      isHome &= &buffer->home == &buffer->device;
    }
  return nullptr;
}

/// Whether a run takes so little that the caller's thread may do it.
bool Enqueuing::isShort() const {
  int64_t usualNs = program.usual.ns();
  if (usualNs >= 0)
    return usualNs <= (model.numRanks == 1 ? kShortNs : kShortOfAllNs);
  return model.numRanks == 1 &&
         model.costs.argumentBytes + model.costs.resultBytes <= kSmallBytes;
}

std::span<Device *const> Enqueuing::findLocked() {
  if (isHome)
    return world.sorted;
  all = world.sorted;
  for (size_t k = 0; k < here.size(); ++k)
    for (size_t i = 0; i < count; ++i)
      all.push_back(&argument(k, i)->home);
  std::sort(all.begin(), all.end(),
            [](Device *a, Device *b) { return a->index < b->index; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void Enqueuing::makeRun() {
  run = std::make_unique<Run>();
  run->program = &program;
  run->world = &world;
  run->addresses.resize(here.size() * stride);
  run->inputs.resize(model.numRanks);
  run->outputs.resize(model.numRanks);
  for (size_t k = 0; k < here.size(); ++k) {
    run->addresses[k * stride] = run.get();
    run->inputs[here[k]] = &run->addresses[k * stride + 1];
    run->outputs[here[k]] = run->inputs[here[k]] + count;
  }
  made.reserve(here.size() * results);
}

MaybeFailure Enqueuing::readArguments() {
  for (size_t k = 0; k < here.size(); ++k)
    for (size_t i = 0; i < count; ++i) {
      Block *block = argument(k, i)->blockLocked();
      if (!block)
        return usage(program.describeArgument(i) +
                     " has been deleted or donated; it cannot be used again");
      run->addresses[k * stride + 1 + i] = block->data;
    }
  return program.checkDonated(given, here);
}

/// Memory for results: that of a donated argument where there is one, unless
/// somebody else sees it, else new.
MaybeFailure Enqueuing::takeResults() {
  for (size_t k = 0; k < here.size(); ++k) {
    const RankValues &mine = model.ofRank(here[k]);
    Device &device = *world.devices[here[k]];
    for (size_t i = 0; i < results; ++i) {
      if (int64_t over = model.results[i].donated;
          over >= 0 && i < shown && program.isDonated(given, over)) {
        Buffer *from = argument(k, over);
        Block *block = from->blockLocked();
        if (block->holders == 1 && !block->isLent && block->device == &device) {
          made.push_back({block, from});
          addressOfResult(k, i) = block->data;
          continue;
        }
      }
      // Whatever comes before this run on the device is done by then.
      int64_t bytes = mine.results[i].bytes;
      Block *block = device.pool.take(device, bytes, INT64_MAX);
      if (!block)
        return fail(Status::Memory, "out of memory: " + std::to_string(bytes) +
                                        " bytes for result " +
                                        std::to_string(i) + " on device " +
                                        std::to_string(device.index));
      made.push_back({block, nullptr});
      addressOfResult(k, i) = block->data;
    }
  }
  return nullptr;
}

/// Gives the run its numbers on its devices.
void Enqueuing::numberWork() {
  for (Device *device : world.sorted)
    run->work.push_back({device, ++device->submitted});
  for (const Made &result : made)
    result.block->lastUse = result.block->device->submitted;
}

void Enqueuing::giveUpArguments() {
  std::vector<char> isTaken(count); // by a result of one rank
  for (size_t k = 0; k < here.size(); ++k) {
    std::ranges::fill(isTaken, 0);
    for (size_t i = 0; i < shown; ++i)
      if (made[k * results + i].from)
        isTaken[model.results[i].donated] = 1;
    for (size_t i = 0; i < count; ++i) {
      Buffer *buffer = argument(k, i);
      Block *block = buffer->blockLocked();
      bool isForeign = &buffer->home != &buffer->device;
      if (program.isDonated(given, i))
        donated.push_back(
            {buffer, buffer->takeBlockLocked(), bool(isTaken[i])});
      if (!isForeign)
        block->lastUse = block->device->submitted;
      else {
        ++block->holders;
        run->held.push_back(block);
      }
    }
  }
}

/// Runs it on this thread; false where the ranks' threads have to.
bool Enqueuing::runHere() {
  int64_t began = nowNs();
  status = shardrt_world_run_here(world.world.get(), run->inputs.data(),
                                  run->outputs.data(), run.get(), problem,
                                  sizeof(problem));
  if (status == SHARDRT_BUSY)
    return false;
  program.usual.add(nowNs() - began);
  return true;
}

/// Starts it on the ranks' threads, which own the run from then on.
MaybeFailure Enqueuing::start() {
  Engine &engine = *program.engine.get();
  event = Ref<Event>::adopt(new Event(&engine));
  run->kept = Ref<Program>(&program);
  run->event = event;
  run->host = given.host.call ? given.host : engine.options.host;
  for (int64_t rank : here)
    for (size_t i = 0; i < count; ++i) {
      const Buffer *buffer = given.arguments[rank][i];
      if (buffer->ready &&
          (!buffer->ready->isReady() || buffer->ready->failure()))
        run->waits.push_back(
            {rank, buffer->ready,
             buffer->ready->isRun() && &buffer->home == &buffer->device});
    }
  engine.beginRun();
  status = shardrt_world_start(world.world.get(), run->inputs.data(),
                               run->outputs.data(), &Run::finish, run.get());
  if (status == SHARDRT_OK) {
    (void)run.release();
    return nullptr;
  }
  engine.endRun();
  return failureOf(status, "the engine's devices do not run any more");
}

/// Undoes what was taken for a run that did not start: nothing is given up.
void Enqueuing::takeBack() {
  Locks<&Device::mutex> locks(locked);
  for (const GivenUp &argument : donated)
    argument.buffer->putBackLocked(argument.block);
  dropNewResults();
  completeWork();
}

/// What was given up, and is no result, is for later work now.
void Enqueuing::endGivenUp() {
  bool isDone = run != nullptr;
  if (!isDone && donated.empty())
    return;
  Locks<&Device::mutex> locks(locked);
  if (isDone)
    completeWork();
  for (const GivenUp &argument : donated)
    if (!argument.isResult)
      drop(argument.block);
}

void Enqueuing::makeBuffers() {
  size_t next = 0;
  for (int64_t rank : here) {
    const RankValues &mine = model.ofRank(rank);
    for (size_t i = 0; i < results; ++i) {
      Block *block = made[next++].block;
      if (i >= shown) {
        block->device->drop(block);
        continue;
      }
      const LocalValue &local = mine.results[i];
      given.results[rank][i] =
          new Buffer(*world.devices[rank], model.results[i].type, local.dims,
                     local.bytes, block, event);
    }
  }
}

MaybeFailure Enqueuing::execute(Ref<Event> *done) {
  if (MaybeFailure failure = checkArguments())
    return failure;
  bool mayRunHere = isReady && isShort() && program.canRunHere(world);
  if (ranksHere == 0)
    for (Device *device : world.sorted)
      device->waitForRoom(kMostUnderWay);
  locked = findLocked();
  makeRun();

  Locks<&Device::turn> turn(world.sorted);
  {
    Locks<&Device::mutex> locks(locked);
    MaybeFailure failure = readArguments();
    if (!failure)
      failure = takeResults();
    if (failure) {
      dropNewResults();
      return failure;
    }
    numberWork();
    giveUpArguments();
  }
  bool isDone = mayRunHere && runHere();
  if (!isDone)
    if (MaybeFailure failure = start()) {
      takeBack();
      turn.unlock();
      callLater();
      return failure;
    }
  endGivenUp();
  turn.unlock();
  if (isDone && status != SHARDRT_OK) {
    event = Ref<Event>::adopt(new Event(program.engine.get()));
    event->set(failureOf(status, problem));
  }
  makeBuffers();
  callLater();
  if (done)
    *done = event ? event : Event::ready();
  return nullptr;
}

MaybeFailure Program::execute(const Execution &given, Ref<Event> *done) {
  if (MaybeFailure failure = engine->checkUsable())
    return failure;
  World *world;
  if (MaybeFailure failure = findWorld(given.devices, world))
    return failure;
  return Enqueuing(*this, *world, given).execute(done);
}
