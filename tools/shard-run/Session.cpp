//===- Session.cpp - A program, ready to run ------------------------------===//

#include "Session.h"
#include "../Common/Start.h"
#include "shardc/Driver/Balance.h"
#include "shardc/Translation/Artifact.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

using namespace llvm;
using namespace shardc;

/// Every element type must be one that the runtime stores.
static Error checkTypes(const ProgramMetadata &program) {
  for (const std::vector<ValueMetadata> *list :
       {&program.arguments, &program.results})
    for (const ValueMetadata &value : *list)
      if (!shardrt::elementTypeNamed(value.elementType))
        return toolError(ExitCode::Artifact, "element type '" +
                                                 value.elementType +
                                                 "' is not supported");
  for (const ValueMetadata &result : program.results)
    if (!result.partial.empty())
      return toolError(ExitCode::Unsupported,
                       "unsupported: results that leave in parts, which the "
                       "program was compiled for (--partial-results): the tool "
                       "does not combine them");
  return Error::success();
}

/// Expectations come in pairs of one type, of types that the runtime stores.
static Error checkExpectations(ArrayRef<ValueMetadata> values) {
  for (size_t i = 0; i < values.size(); i += 2)
    if (i + 1 == values.size() || values[i + 1].check != "expected" ||
        values[i].elementType != values[i + 1].elementType ||
        values[i].shape != values[i + 1].shape ||
        !shardrt::elementTypeNamed(values[i].elementType))
      return toolError(ExitCode::Artifact, "results to check come in pairs of "
                                           "one type, got and expected");
  return Error::success();
}

Session::Session(ProgramMetadata metadata, double compileTime)
    : compileTime(compileTime) {
  describe(std::move(metadata));
}

void Session::describe(ProgramMetadata metadata) {
  program = std::move(metadata);
  std::vector<ValueMetadata> &results = program.results;
  auto first = find_if(
      results, [](const ValueMetadata &value) { return !value.check.empty(); });
  expectations.assign(first, results.end());
  results.erase(first, results.end());
}

Error Session::loadCode(const PrivateFile &file, StringRef name) {
  Activity activity("loading the program");
  if (Error error = checkTypes(program))
    return error;
  if (Error error = checkExpectations(expectations))
    return error;
  char problem[1024] = "";
  shardrt_program *loaded = nullptr;
  int status = shardrt_program_load_checked(
      name.str().c_str(), file.descriptor(), &loaded, problem, sizeof(problem));
  // What keeps a file from being mapped is not the file.
  StringRef why = problem;
  if (status != SHARDRT_OK && (why.contains("failed to map segment") ||
                               why.contains("cannot allocate memory")))
    return toolError(ExitCode::Memory, why);
  if (status != SHARDRT_OK)
    return runtimeError(status, problem);
  code.reset(loaded);
  if (shardrt_program_num_ranks(loaded) != program.numRanks())
    return toolError(ExitCode::Artifact,
                     name + ": metadata and site table name different meshes");
  return Error::success();
}

Expected<Session> Session::load(CompiledProgram compiled,
                                function_ref<void(StringRef)> onLinked) {
  if (Error error = linkProgram(compiled))
    return std::move(error);
  PrivateFile file;
  if (std::string why = file.hold(compiled.object, "shardc-program");
      !why.empty())
    return toolError(ExitCode::Memory, "the program: " + why);
  if (onLinked)
    onLinked(file.path());
  Session session(std::move(compiled.metadata), compiled.compileMs);
  session.memoryPlan = std::move(compiled.memory);
  if (Error error = session.loadCode(file, "the program"))
    return std::move(error);
  return std::move(session);
}

Expected<Session> Session::loadMade(const PrivateFile &file, StringRef name) {
  Expected<ProgramMetadata> metadata = readArtifactMetadata(file.text());
  if (!metadata)
    return toolError(ExitCode::Artifact,
                     name + ": refused: " + toString(metadata.takeError()));
  Session session(std::move(*metadata), 0);
  if (Error error = session.loadCode(file, name))
    return std::move(error);
  return std::move(session);
}

Expected<Session> Session::loadArtifact(const OpenedArtifact &artifact) {
  assert(artifact.isTrusted && "code of an artifact that is not trusted");
  return loadMade(artifact.file, artifact.path);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Expected<Running> Session::begin(ArrayRef<HostArray> inputs,
                                 const StepPlan *plan, int64_t timeoutMs,
                                 ArrayRef<size_t> carried) const {
  int64_t ranks = program.numRanks();
  std::vector<int64_t> mesh = program.meshShape();
  std::vector<ValueMetadata> results = program.results;
  results.insert(results.end(), expectations.begin(), expectations.end());
  // A process of a job holds the shards of its rank; the first one holds those
  // of all for the results, in the end.
  int64_t me = job ? shardrt_job_rank(job) : -1;
  Running running{nullptr, ShardBuffers(program.arguments, mesh, ranks, me),
                  ShardBuffers(results, mesh, ranks, me == 0 ? -1 : me)};
  for (size_t i = 0; i < program.arguments.size(); ++i)
    if ((plan && plan->gives(i)) || is_contained(carried, i))
      continue;
    else if (makeInput && inputs.empty())
      running.in.scatter(i, makeInput(i));
    else
      running.in.scatter(i, inputs[i]);

  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.timeout_ms = timeoutMs;
  options.kernel_schedule = kernelSchedule;
  options.kernel_seed = kernelSeed;
  options.yield_seed = yieldSeed;
  options.transport = transport;
  options.job = job;
  options.wire = wire;
  options.trace = traces;
  options.deterministic = deterministic;
  options.host = hostCalls ? &HostCalls::call : nullptr;
  options.host_user = hostCalls;
  char problem[1024] = "";
  shardrt_world *created = nullptr;
  int status = shardrt_world_create(code.get(), &options, &created, problem,
                                    sizeof(problem));
  if (status != SHARDRT_OK)
    return runtimeError(status, problem);
  running.world.reset(created);
  return std::move(running);
}

/// Changes sizes between steps until all ranks finish together.
class Session::Balancing final : public Rebinding {
public:
  Balancing(Session &session, Balance balance, ArrayRef<HostArray> inputs,
            const StepPlan *plan, int64_t steps, int64_t timeoutMs)
      : session(session), balance(std::move(balance)), inputs(inputs),
        plan(plan), left(steps), timeoutMs(timeoutMs),
        me(session.job ? shardrt_job_rank(session.job) : -1) {}

  Expected<bool> look(const Running &running) override {
    shardrt_world *world = running.world.get();
    if (left == 0)
      return false;
    std::vector<double> times(session.program.numRanks());
    for (auto [rank, time] : enumerate(times)) {
      shardrt_rank_stats stats;
      if (shardrt_world_rank_stats(world, rank, &stats) != SHARDRT_OK)
        continue; // of another process
      seen.resize(times.size());
      int64_t own = stats.total_ns - stats.wait_ns;
      time = static_cast<double>(own - std::exchange(seen[rank], own));
    }
    if (me >= 0)
      if (Error error = shareTimes(world, times))
        return std::move(error);
    isPending = balance.add(times);
    if (--left == 0)
      isPending |= balance.settle();
    return isPending;
  }

  /// Whether the last look asked for other sizes, which nobody has bound.
  bool hasPending() const { return isPending; }

  Error bind() override {
    seen.clear();
    isPending = false;
    Error error = bindToDims();
    if (!error)
      return error;
    refused = toString(std::move(error));
    if (me <= 0)
      errs() << "shard-run: warning: balance: sizes are refused, so the last "
                "ones stay: "
             << refused << "\n";
    balance.refuse();
    return bindToDims();
  }

  Expected<Running> begin(ArrayRef<size_t> carried) const override {
    return session.begin(inputs, plan, timeoutMs, carried);
  }

  BalanceReport report() const {
    return {balance.moves(), balance.firstImbalance(), balance.imbalance(),
            refused};
  }

private:
  Error bindToDims() {
    std::vector<shardrt_given> given;
    for (const FreeDim &dim : balance.dims())
      given.push_back({dim.argument, dim.dim,
                       static_cast<int64_t>(dim.sizes.size()),
                       dim.sizes.data()});
    return session.bindTo(session.program.meshShape(), given, "");
  }

  /// Each process has the time of its rank; all get those of all.
  Error shareTimes(shardrt_world *world, std::vector<double> &times) const {
    struct Call {
      std::vector<double> &times;
      double mine;
      SmallVector<int64_t> others;
    } call{times, times[me], {}};
    for (int64_t rank = 0; rank < static_cast<int64_t>(times.size()); ++rank)
      if (rank != me)
        call.others.push_back(rank);
    int status = shardrt_world_call(
        world,
        [](shardrt_context *ctx, void *user) {
          auto &call = *static_cast<Call *>(user);
          return shardrt_show(
              ctx, &call.mine, sizeof(call.mine), call.others.data(),
              call.others.size(), call.others.data(), call.others.size(),
              [](void *user, int64_t source, const void *data) {
                std::memcpy(&static_cast<Call *>(user)->times[source], data,
                            sizeof(double));
              },
              &call);
        },
        &call);
    return status == SHARDRT_OK
               ? Error::success()
               : runtimeError(status, shardrt_world_error(world));
  }

  Session &session;
  Balance balance;
  ArrayRef<HostArray> inputs;
  const StepPlan *plan;
  int64_t left; ///< steps that are looked at
  int64_t timeoutMs;
  int64_t me;
  std::vector<int64_t> seen; ///< own nanoseconds of the world's ranks so far
  bool isPending = false;
  std::string refused;
};

/// Compiles for the sizes of now while steps are made, and takes that program
/// between two of them.
class Session::Specializing final : public Rebinding {
public:
  Specializing(Session &session, ArrayRef<HostArray> inputs,
               const StepPlan *plan, int64_t timeoutMs)
      : session(session), inputs(inputs), plan(plan), timeoutMs(timeoutMs) {
    std::string sizes, shapes;
    for (auto [number, argument] : enumerate(session.program.arguments)) {
      bool isOpen = false;
      for (auto [i, dim] : enumerate(argument.dims)) {
        isOpen |= dim.open;
        if (!dim.dynamic || dim.axes.empty())
          continue;
        raw_string_ostream out(sizes);
        out << (sizes.empty() ? "" : ";") << number << ":" << i << "=";
        interleave(dim.boundaries.sizes(), out, ",");
      }
      if (isOpen) {
        raw_string_ostream out(shapes);
        out << (shapes.empty() ? "" : ";") << number << "=";
        interleave(argument.shape, out, "x");
      }
    }
    thread = std::thread([this, sizes, shapes] {
      Expected<CompiledProgram> made =
          this->session.compileStatic(sizes, shapes);
      if (made)
        compiled = std::move(*made);
      else
        taken.why = toString(made.takeError());
      isDone = true;
    });
  }
  ~Specializing() { thread.join(); }

  Expected<bool> look(const Running &running) override {
    ++steps;
    if (isOver || !isDone)
      return false;
    isOver = true;
    if (!compiled)
      return false;
    Expected<Session> made = Session::load(std::move(*compiled));
    if (!made) {
      taken.why = toString(made.takeError());
      return false;
    }
    taken.why = difference(running, *made);
    if (!taken.why.empty())
      return false;
    taken.step = steps;
    std::swap(session.code, made->code);
    std::swap(session.program, made->program);
    std::swap(session.expectations, made->expectations);
    return true;
  }

  Error bind() override { return Error::success(); }

  Expected<Running> begin(ArrayRef<size_t> carried) const override {
    return session.begin(inputs, plan, timeoutMs, carried);
  }

  SpecialReport report() const {
    // It is still at work.
    return isOver ? taken : SpecialReport{-1, "the steps were over before"};
  }

private:
  /// Why the step that was made is another one with `other`; "" where not.
  std::string difference(const Running &running, Session &other) const {
    auto haveSameLayout = [](ArrayRef<ValueMetadata> mine,
                             ArrayRef<ValueMetadata> theirs) {
      return all_equal({mine.size(), theirs.size()}) &&
             all_of(zip_equal(mine, theirs), [](auto pair) {
               auto &[a, b] = pair;
               return a.shape == b.shape && a.elementType == b.elementType &&
                      all_of(zip_equal(a.dims, b.dims), [](auto dims) {
                        auto &[c, d] = dims;
                        return c.axes == d.axes &&
                               c.boundaries.indices() == d.boundaries.indices();
                      });
             });
    };
    if (!haveSameLayout(session.program.arguments, other.program.arguments) ||
        !haveSameLayout(session.program.results, other.program.results) ||
        !haveSameLayout(session.expectations, other.expectations))
      return "arguments or results lie otherwise";
    other.kernelSchedule = session.kernelSchedule;
    other.kernelSeed = session.kernelSeed;
    other.transport = session.transport;
    other.deterministic = session.deterministic;
    std::vector<size_t> all(other.program.arguments.size());
    std::iota(all.begin(), all.end(), size_t(0));
    Expected<Running> trial = other.begin({}, nullptr, timeoutMs, all);
    if (!trial)
      return toString(trial.takeError());
    if (shardrt_world_run(trial->world.get(), running.in.addresses(),
                          trial->out.addresses()))
      return shardrt_world_error(trial->world.get());
    size_t count = session.program.results.size() + session.expectations.size();
    for (size_t i = 0; i < count; ++i)
      for (int64_t rank = 0; rank < session.program.numRanks(); ++rank)
        if (std::memcmp(running.out.data(i, rank), trial->out.data(i, rank),
                        running.out.bytesOf(i, rank)) != 0)
          return "result " + std::to_string(i) + " has other bits on rank " +
                 std::to_string(rank);
    return "";
  }

  Session &session;
  ArrayRef<HostArray> inputs;
  const StepPlan *plan;
  int64_t timeoutMs;
  int64_t steps = 0;
  bool isOver = false; ///< there is nothing to wait for
  SpecialReport taken;
  std::optional<CompiledProgram> compiled;
  std::atomic<bool> isDone{false}; ///< … the thread, with what it made
  std::thread thread;
};

/// The error that a call on `world` gives.
static Error checkWorld(shardrt_world *world, int status) {
  return status == SHARDRT_OK
             ? Error::success()
             : runtimeError(status, shardrt_world_error(world));
}

Expected<Running> Session::runPlan(ArrayRef<HostArray> inputs,
                                   int64_t timeoutMs, const StepPlan *plan,
                                   RunResult &result) {
  // Steps before those that are asked for.
  StepPlan trials;
  trials.steps = balanceSteps.value_or(0) ? *balanceSteps : 10;
  std::optional<Balancing> balancing;
  if (balanceSteps) {
    Expected<Balance> balance = makeBalance(program);
    if (!balance)
      return toolError(ExitCode::Usage, "--" + toString(balance.takeError()));
    int64_t looks = !plan ? trials.steps : *balanceSteps ? *balanceSteps : -1;
    balancing.emplace(*this, std::move(*balance), inputs, plan, looks,
                      timeoutMs);
  }
  Expected<Running> begun = begin(inputs, plan, timeoutMs, {});
  if (!begun)
    return begun.takeError();
  Running running = std::move(*begun);
  std::optional<Specializing> special;
  if (plan && compileStatic)
    special.emplace(*this, inputs, plan, timeoutMs);
  Rebinding *rebinding = nullptr;
  if (balancing)
    rebinding = &*balancing;
  else if (special)
    rebinding = &*special;
  if (!plan && !balancing)
    return running;
  int64_t me = job ? shardrt_job_rank(job) : -1;
  if (Error error = runSteps(running, program, plan ? *plan : trials, me,
                             rebinding, result.stepMs))
    return std::move(error);
  if (special)
    result.special = special->report();
  if (!plan && balancing->hasPending()) {
    if (Error error = balancing->bind())
      return std::move(error);
    Expected<Running> last = balancing->begin({});
    if (!last)
      return last.takeError();
    running = std::move(*last);
  }
  if (balancing)
    result.balance = balancing->report();
  return running;
}

Error Session::repeat(Running &running, int64_t steps,
                      RunResult &result) const {
  shardrt_world *world = running.world.get();
  void *const *const *in = running.in.addresses();
  void *const *const *out = running.out.addresses();
  if (steps > 1)
    if (Error error = checkWorld(world, shardrt_world_run(world, in, out)))
      return error;
  shardrt_world_reset_stats(world);
  // Of very many steps they are not touched before there is a time to be
  // written: the run begins at once, and takes memory as it goes. Else it
  // takes all at once.
  auto times = steps > 1 << 20 ? std::make_unique_for_overwrite<double[]>(steps)
                               : std::make_unique<double[]>(steps);
  if (Error error = checkWorld(world, shardrt_world_run_repeated(
                                          world, in, out, steps, times.get())))
    return error;
  result.stepMs.assign(times.get(), times.get() + steps);
  return Error::success();
}

Error Session::gatherFromProcesses(Running &running,
                                   ArrayRef<ValueMetadata> results,
                                   Counts &counts, RunResult &result) const {
  shardrt_world *world = running.world.get();
  ShardBuffers &out = running.out;
  int64_t ranks = program.numRanks(), me = shardrt_job_rank(job);
  int64_t peak = shardrt_world_peak_bytes(world, me);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<void *> parts;
    std::vector<int64_t> bytes;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      parts.push_back(out.addresses()[rank][i]);
      bytes.push_back(out.bytesOf(i, rank));
    }
    // What the first one has is where it belongs already.
    std::vector<char> mine;
    if (me == 0)
      mine.assign(static_cast<char *>(parts[0]),
                  static_cast<char *>(parts[0]) + bytes[0]);
    if (Error error = checkWorld(
            world,
            shardrt_world_gather(world, 0, me == 0 ? mine.data() : parts[me],
                                 bytes[me], parts.data(), bytes.data())))
      return error;
  }
  if (Error error =
          checkWorld(world, gatherAll(world, &peak, 1, ranks, counts.peaks)))
    return error;
  shardrt_rank_stats mine = counts.ranks[me];
  if (Error error =
          checkWorld(world, gatherAll(world, &mine, 1, ranks, counts.ranks)))
    return error;
  std::vector<shardrt_site_stats> all;
  auto sites = static_cast<int64_t>(counts.sites.size());
  if (Error error = checkWorld(
          world, gatherAll(world, counts.sites.data(), sites, ranks, all)))
    return error;
  if (traces) {
    result.trace = readTrace(code.get(), world, ranks);
    if (Error error = checkWorld(world, gatherTrace(world, me, result.trace)))
      return error;
  }
  for (size_t i = counts.sites.size(); i < all.size(); ++i) {
    shardrt_site_stats &sum = counts.sites[i % counts.sites.size()];
    sum.count += all[i].count;
    sum.bytes_received += all[i].bytes_received;
    sum.total_ns += all[i].total_ns;
    sum.wait_ns += all[i].wait_ns;
    sum.overlap_ns += all[i].overlap_ns;
  }
  return Error::success();
}

void Session::describeRun(Running &running, size_t numResults,
                          const Counts &counts, int64_t steps,
                          RunResult &result) const {
  shardrt_world *world = running.world.get();
  ShardBuffers &out = running.out;
  int64_t ranks = program.numRanks();
  std::vector<int64_t> mesh = program.meshShape();
  for (size_t i = 0; i < program.results.size(); ++i) {
    result.outputs.push_back(out.gather(i));
    if (int64_t rank = out.firstDisagreement(i, result.outputs.back());
        rank >= 0 && result.disagreeingOutput < 0) {
      result.disagreeingOutput = i;
      result.disagreeingRank = rank;
    }
  }
  for (size_t i = program.results.size(); i < numResults; ++i)
    result.checked.push_back(out.gather(i));
  result.transport = shardrt_world_transport(world);
  int64_t first = job ? shardrt_job_rank(job) : 0,
          end = job ? first + 1 : ranks;
  if (const char *asked = shardrt_world_libraries(world, first))
    for (StringRef line : split(asked, '\n'))
      if (!line.empty())
        result.libraries.push_back(line.str());
  for (int64_t rank = first; rank < end; ++rank)
    for (StringRef line : split(shardrt_world_notes(world, rank), '\n'))
      if (!line.empty() && !is_contained(result.notes, line))
        result.notes.push_back(line.str());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t bytes = counts.peaks[rank];
    for (const std::vector<ValueMetadata> *list :
         {&program.arguments, &program.results})
      for (const ValueMetadata &value : *list) {
        int64_t elements = shardrt::elementBytes(
            *shardrt::elementTypeNamed(value.elementType));
        for (Interval interval : boxOf(value, mesh, rank))
          elements *= interval.size();
        bytes += elements;
      }
    result.peakBytes.push_back(bytes);
  }
  for (const shardrt_rank_stats &rank : counts.ranks)
    result.rankMs.push_back(
        rank.steps == 0 ? 0
                        : static_cast<double>(rank.total_ns - rank.wait_ns) /
                              static_cast<double>(rank.steps) / 1e6);
  result.sites = readSites(code.get(), counts.sites, steps, ranks);
  if (traces && !job)
    result.trace = readTrace(code.get(), world, ranks);
}

Expected<RunResult> Session::run(ArrayRef<HostArray> inputs, int64_t steps,
                                 int64_t timeoutMs, const StepPlan *plan) {
  Activity activity("running the program");
  RunResult result;
  Expected<Running> begun = runPlan(inputs, timeoutMs, plan, result);
  if (!begun)
    return begun.takeError();
  Running &running = *begun;
  if (plan) {
    if (result.stepMs.empty())
      return result;
    steps = running.steps;
  } else if (Error error = repeat(running, steps, result)) {
    return std::move(error);
  }
  shardrt_world *world = running.world.get();
  std::vector<ValueMetadata> results = program.results;
  results.insert(results.end(), expectations.begin(), expectations.end());
  int64_t ranks = program.numRanks();
  Counts counts;
  counts.sites = readStats(code.get(), world);
  counts.ranks.resize(ranks);
  for (auto [rank, mine] : enumerate(counts.ranks))
    shardrt_world_rank_stats(world, rank, &mine);
  if (job) {
    if (Error error = gatherFromProcesses(running, results, counts, result))
      return std::move(error);
    if (shardrt_job_rank(job) != 0)
      return result;
  } else {
    for (int64_t rank = 0; rank < ranks; ++rank)
      counts.peaks.push_back(shardrt_world_peak_bytes(world, rank));
  }
  describeRun(running, results.size(), counts, steps, result);
  return result;
}
