//===- Engine.h - Devices of this process -----------------------*- C++ -*-===//
//
// An engine is its devices, each with memory of its own and an order of its
// work. It lives as long as anything made with it; `close` ends what runs.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_ENGINE_H
#define SHARDC_ENGINE_ENGINE_H

#include "shardc/Driver/PartitionedCalls.h"
#include "shardc/Engine/Event.h"
#include "shardc/Engine/Memory.h"
#include "shardc/Engine/Trace.h"
#include "shardrt/shardrt.h"
#include <condition_variable>
#include <optional>
#include <string>
#include <vector>

namespace shardc {
class CompileCache;
class ContextPool;
} // namespace shardc

namespace shardc::engine {

class Engine;
class ProgramCache;
struct CompileThread;

class Device {
public:
  Device(Engine &engine, int64_t index) : engine(engine), index(index) {}
  ~Device();

  /// A block for what is written now, by the host; null if there is no memory.
  Block *allocate(int64_t bytes);
  /// Memory of somebody else, which `released` gives back.
  Block *borrow(void *data, int64_t bytes, std::function<void()> released);
  void hold(Block *block);
  /// Ends one hold.
  void drop(Block *block);

  Engine &engine;
  const int64_t index;
  /// Held from the moment when work gets its number until the runtime has it.
  /// Taken before `mutex`, of several devices in ascending order.
  std::mutex turn;
  mutable std::mutex mutex; ///< guards what follows, and blocks and buffers
  Pool pool;
  int64_t submitted = 0; ///< number of the last piece of work enqueued
  int64_t completed = 0; ///< of the last one that is done, as are all before
  std::vector<Block *> lent; ///< to be given back once work with it is done

  /// With the mutex held: ends one hold of `block`. What it returns, if
  /// anything, is to be called without it.
  std::function<void()> dropLocked(Block *block);
  /// Says that all work up to `number` is done.
  void complete(int64_t number);
  /// Waits until less than `most` pieces of work are under way.
  void waitForRoom(int64_t most);

private:
  std::condition_variable room;
  int64_t waiting = 0;
};

/// Who answers programs' calls of the host: `call` does, with the function and
/// the word that the embedder gave.
struct HostCalls {
  int (*call)(const HostCalls &, const shardrt_host_call *, char *message,
              size_t messageSize) = nullptr;
  void (*function)() = nullptr;
  void *user = nullptr;
};

/// Which process of a job this is, as shardrt_job_options has it.
struct JobOptions {
  int64_t process = 0, processes = 0; ///< 0: the environment says
  std::string host, token;
  int64_t port = 0, timeoutMs = 0;
  int wire = SHARDRT_WIRE_AUTO;
  bool hasKeyValues = false;
  shardrt_key_values keyValues = {};
};

struct EngineOptions {
  int64_t devices = 1; ///< of this process
  std::string target = "cpu";
  int64_t threads = 0;   ///< of a device; 0: as many as there are cores for it
  int64_t timeoutMs = 0; ///< as of shardrt_world_options
  /// For compiled programs; none: where the user's are; empty: nowhere.
  std::optional<std::string> cacheFolder;
  HostCalls host;                ///< for executions that have none of their own
  PartitionFunction partition;   ///< of calls that their author cuts; or none
  std::optional<JobOptions> job; ///< none: all devices are of this process
};

class Engine final : public Counted<Engine> {
public:
  /// Fails for options that make no sense.
  static MaybeFailure create(EngineOptions options, Ref<Engine> &engine);
  ~Engine();

  /// Waits for what is under way, and ends threads.
  void close();
  /// Of a member of a job: waits for what is under way, and says goodbye.
  void leave();
  /// Why nothing can be done with it any more, if so.
  MaybeFailure checkUsable() const;
  MaybeFailure checkDevice(int64_t device) const;

  const EngineOptions options;
  /// All of the job's; null: of another process.
  std::vector<std::unique_ptr<Device>> devices;
  /// The first of this process, whose place is 0.
  int64_t firstDevice() const { return first; }
  bool isHere(int64_t device) const {
    return device >= first && device < first + options.devices;
  }
  int64_t process() const;
  int64_t numProcesses() const {
    return owners.empty() ? 1 : owners.back() + 1;
  }
  /// That of `device`; without a job 0, whatever the number is.
  int64_t processOf(int64_t device) const;
  /// The job that it is one member of; null: none.
  shardrt_job *job() const { return member; }
  Courier &courier();
  /// The threads of the devices, which are started when they are first needed.
  MaybeFailure findCrew(shardrt_crew *&crew);
  /// Bytes that programs use while they run on a device, now and at most.
  int64_t workBytes(int64_t device, int64_t &most);
  /// What small models are compiled in. Engine knows it by name alone.
  ContextPool &contexts() const { return *pool; }
  /// Where compiled programs are kept for other processes; also by name alone.
  const CompileCache &cache() const { return *found; }
  ProgramCache &programs() { return *kept; }
  /// The same, to hold it for longer than the engine lives.
  std::shared_ptr<ContextPool> sharedContexts() const { return pool; }
  std::shared_ptr<const CompileCache> sharedCache() const { return found; }
  /// Of compilations on threads of their own (Compilation.h): the engine ends
  /// no sooner than what `keep` was told of and `join` has not waited for.
  void keep(std::shared_ptr<CompileThread> thread);
  void join(const std::shared_ptr<CompileThread> &thread);
  /// Of a compilation that begins: set once it is to fail.
  std::shared_ptr<std::atomic<bool>> makeCancelFlag();
  /// Lets all that is being compiled fail as soon as it can.
  void cancelCompilations();
  Tracer tracer;
  /// Around each run that is started.
  void beginRun() { underWay.fetch_add(1); }
  void endRun();

private:
  Engine(EngineOptions options, shardrt_job *job);
  void joinCompilations();

  std::shared_ptr<ContextPool> pool;
  std::shared_ptr<const CompileCache> found;
  std::shared_ptr<ProgramCache> kept;

  shardrt_job *member = nullptr;
  int64_t first = 0;
  std::vector<int64_t> owners; ///< processes, by device; empty without a job

  std::atomic<bool> closed{false};
  const int64_t generation;         ///< of forks of this process
  std::atomic<int64_t> underWay{0}; ///< runs
  std::mutex mutex;                 ///< guards what follows
  std::unique_ptr<Courier> helper;
  shardrt_crew *ranks = nullptr;
  std::vector<std::shared_ptr<CompileThread>> compiling;
  std::vector<std::weak_ptr<std::atomic<bool>>> cancelFlags;
};

/// Program.cpp's.
std::shared_ptr<ProgramCache> makeProgramCache();
void clear(ProgramCache &programs);
/// Compile.cpp's.
std::shared_ptr<ContextPool> makeContexts();
std::shared_ptr<const CompileCache>
makeCache(const std::optional<std::string> &folder);

} // namespace shardc::engine

#endif // SHARDC_ENGINE_ENGINE_H
