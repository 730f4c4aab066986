//===- Tuning.cpp - Times kernels for the tuner ---------------------------===//

#include "Tuning.h"
#include "../Common/Start.h"
#include "Inputs.h"
#include "Report.h"
#include "Session.h"
#include "shardc/Driver/Tune.h"
#include "shardrt/shardrt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace shardc;

namespace {
struct Loaded final : TuneProgram {
  explicit Loaded(Session session) : session(std::move(session)) {}
  Session session;
};

/// Times that a test gives in the place of a clock: of the first line whose
/// words a kernel's tile has.
using GivenTimes = std::vector<std::pair<std::string, double>>;

class Subject final : public TuneSubject {
public:
  Subject(const RunOptions &options, GivenTimes given)
      : options(options), given(std::move(given)) {}

  Expected<std::unique_ptr<TuneProgram>>
  compile(const TileTable &tiles) override {
    ModelOptions compile = options.compile;
    compile.isTuned = false;
    compile.verifyPartition = false;
    compile.stages.trace = compile.stages.listTiles = true;
    compile.stages.tiles = printTiles(tiles);
    Expected<CompiledProgram> compiled =
        compileModel(options.model, std::move(compile));
    if (!compiled)
      return compiled.takeError();
    std::vector<TiledKernel> kernels = std::move(compiled->tiled);
    Expected<Session> session = Session::load(std::move(*compiled));
    if (!session)
      return session.takeError();
    std::string shapes =
        session->hasOpenExtents() ? shapesOfInputs(options) : std::string();
    if (Error error = session->bind(options.model, options.sizes, shapes,
                                    options.mesh, options.ranks))
      return std::move(error);
    session->setTrace(true);
    auto program = std::make_unique<Loaded>(std::move(*session));
    program->kernels = std::move(kernels);
    return std::move(program);
  }

  Expected<TuneRounds> compare(TuneProgram &first, TuneProgram &second,
                               int count) override {
    TuneRounds rounds;
    std::vector<HostArray> outputs;
    for (int round = 0; round < count; ++round) {
      // Neither is always behind the other.
      bool isTurned = round % 2 == 1;
      for (bool isSecond : {isTurned, !isTurned}) {
        auto &program = static_cast<Loaded &>(isSecond ? second : first);
        Expected<RunResult> run = this->run(program.session);
        if (!run)
          return run.takeError();
        (isSecond ? rounds.second : rounds.first)
            .push_back(given.empty() ? timesOf(*run) : givenTimes(program));
        if (outputs.empty())
          outputs = std::move(run->outputs);
        else
          rounds.isSame &= areSame(outputs, run->outputs);
      }
    }
    return rounds;
  }

  double now() override {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Whether a kernel takes the least time that the machine is said to need.
  bool isAtLimit(const KernelName &name, const Machine &machine) const {
    return any_of(reports, [&](const KernelReport &kernel) {
      return name == KernelName(kernel.name, kernel.location) &&
             kernel.limitMs(machine) > 0.9 * kernel.ms;
    });
  }

private:
  Expected<RunResult> run(Session &session) {
    if (!inputs) {
      Expected<std::vector<HostArray>> made =
          makeInputs(session.metadata(), options);
      if (!made)
        return made.takeError();
      inputs = std::move(*made);
    }
    Expected<RunResult> run = session.run(*inputs, steps, options.timeoutMs);
    if (run && reports.empty()) {
      reports = kernelsOf(*run);
      // So many that a round takes some 30 ms from now on.
      steps = std::clamp<int64_t>(30 / std::max(medianMs(run->stepMs), 1e-3), 2,
                                  100);
    }
    return run;
  }

  /// Of each kernel: the least step of the rank that takes longest.
  static KernelTimes timesOf(const RunResult &run) {
    std::map<std::pair<int64_t, int64_t>, double> longest; // by kernel, step
    for (const TraceReport::Rank &rank : run.trace.ranks) {
      std::map<std::pair<int64_t, int64_t>, double> mine;
      for (const shardrt_trace_event &event : rank.events)
        if (event.kind == SHARDRT_TRACE_KERNEL && event.id >= 0 &&
            event.id < int64_t(run.trace.kernels.size()))
          mine[{event.id, event.step}] +=
              1e-6 * double(event.end_ns - event.begin_ns);
      for (auto [place, time] : mine)
        longest[place] = std::max(longest[place], time);
    }
    KernelTimes times;
    for (auto [place, time] : longest) {
      const TraceReport::Kernel &kernel = run.trace.kernels[place.first];
      auto [known, isNew] =
          times.try_emplace({kernel.name, kernel.location}, time);
      known->second = std::min(known->second, time);
    }
    return times;
  }

  KernelTimes givenTimes(const TuneProgram &program) const {
    KernelTimes times;
    for (const TiledKernel &kernel : program.kernels) {
      std::string tile = printTile(kernel.tile);
      for (const auto &[words, time] : given)
        if (StringRef(tile).contains(words)) {
          times[{kernel.name, kernel.location}] += time;
          break;
        }
    }
    return times;
  }

  static bool areSame(ArrayRef<HostArray> a, ArrayRef<HostArray> b) {
    return llvm::equal(a, b, [](const HostArray &x, const HostArray &y) {
      return x.data == y.data;
    });
  }

  const RunOptions &options;
  GivenTimes given;
  int64_t steps = 3;
  std::optional<std::vector<HostArray>> inputs;
  std::vector<KernelReport> reports; ///< of the first run
};
} // namespace

static Expected<GivenTimes> readGivenTimes(const std::string &path) {
  GivenTimes given;
  if (path.empty())
    return given;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return toolError(ExitCode::IO, path + ": " + file.getError().message());
  for (StringRef line : split((*file)->getBuffer(), '\n')) {
    auto [words, number] = line.trim().split(' ');
    double time;
    if (!words.empty() && !number.trim().getAsDouble(time))
      given.push_back({words.str(), time});
  }
  return given;
}

/// What differs of `now`, as "rows=8,vectors=2".
static std::string differences(const Tile &was, const Tile &now) {
  std::string wasText = printTile(was), nowText = printTile(now);
  SmallVector<StringRef> wasFields, nowFields, differing;
  StringRef(wasText).split(wasFields, ',');
  StringRef(nowText).split(nowFields, ',');
  for (auto [before, after] : zip_equal(wasFields, nowFields))
    if (before != after)
      differing.push_back(after);
  return join(differing, ",");
}

static void say(const TuneReport &report) {
  raw_ostream &out = errs();
  out << formatv("tune: products: {0}, {1:f0} % of the time of all kernels; "
                 "programs: {2}, in {3:f1} s{4}\n",
                 report.kernels.size(), 100 * report.share, report.programs,
                 report.seconds,
                 report.isCutShort ? ", which was the time that they had" : "");
  for (const TunedKernel &kernel : report.kernels) {
    out << "  " << kernel.name.first;
    if (!kernel.name.second.empty())
      out << " (" << kernel.name.second << ")";
    out << formatv(": {0:f3} ms, {1} other tiles tried, ", kernel.before,
                   kernel.tried);
    if (kernel.kept.empty()) {
      out << "none is faster\n";
      continue;
    }
    out << formatv("{0:f3} ms ({1:f0} % less) with ", kernel.after,
                   100 * (1 - kernel.after / kernel.before));
    interleave(
        kernel.kept, out,
        [&](const TunedKernel::Choice &choice) {
          out << differences(choice.was, choice.now) << " for "
              << differences(choice.now, choice.was);
        },
        " and ");
    out << "\n";
  }
  if (report.other > 0)
    out << "  " << report.other
        << " programs gave other bits, and were not looked at further\n";
}

/// What cannot be tuned.
static Error check(const RunOptions &options) {
  int64_t rank = 0, ranks = 1;
  char launcher[64] = "";
  shardrt_job_look(&rank, &ranks, launcher, sizeof(launcher));
  if (ranks > 1)
    return toolError(ExitCode::Usage,
                     rank > 0 ? Twine()
                              : Twine("--tune is for one process, but ") +
                                    launcher + " started " + Twine(ranks) +
                                    ": tune before, and give these --tuned");
  if (options.piped)
    return Error::success();
  auto file = MemoryBuffer::getFile(options.model, /*IsText=*/true);
  if (file && (*file)->getBuffer().contains("// -----"))
    return toolError(ExitCode::Usage,
                     options.model +
                         " holds several modules; --tune goes with one");
  return Error::success();
}

Error shardc::tuneModel(RunOptions &options) {
  if (Error error = check(options))
    return error;
  Activity activity("tuning kernels");
  Expected<GivenTimes> given = readGivenTimes(options.tuneTimes);
  if (!given)
    return given.takeError();
  StageOptions &stages = options.compile.stages;
  std::string problem;
  TileTable known = options.cache->findTiles(stages.arch, problem);
  Subject subject(options, std::move(*given));
  TuneLimits limits;
  limits.seconds = options.tuneSeconds;
  Machine machine;
  // Figures of another machine say nothing.
  if (!stages.machine.empty() &&
      parseMachine(std::string_view(stages.machine), machine).empty())
    limits.isAtLimit = [&](const KernelName &name) {
      return subject.isAtLimit(name, machine);
    };
  Expected<TuneReport> report = tune(subject, known, limits);
  if (!report)
    return report.takeError();
  say(*report);
  bool isKept = options.cache->storeTiles(stages.arch, report->found,
                                          report->dropped, problem);
  if (!isKept && !report->found.empty())
    errs()
        << "  they are not kept: there is no cache that could be written to; "
           "this run has them\n";
  warnOfCache("shard-run", problem);
  for (const std::string &digest : report->dropped)
    known.erase(digest);
  for (const auto &[digest, tile] : report->found)
    known[digest] = tile;
  options.compile.isTuned = false;
  stages.tiles = printTiles(known);
  return Error::success();
}
