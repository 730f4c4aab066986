//===- shard-run.cpp - Run a sharded program on N ranks -------------------===//
//
// Compile or load, make inputs, run, compare, write. Results go to stdout and
// files, everything else to stderr. docs/Reference/shard-run.md is the manual.
//
//===----------------------------------------------------------------------===//

#include "../Common/Sandbox.h"
#include "../Common/Start.h"
#include "Checks.h"
#include "Compare.h"
#include "Inputs.h"
#include "Interpret.h"
#include "Options.h"
#include "Processes.h"
#include "Report.h"
#include "Session.h"
#include "Trace.h"
#include "Tuning.h"
#include "shardc/Support/InputFile.h"
#include "shardrt/Devices.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

/// Bytes of a run: whole arrays here, every rank's shards, and an arena of each
/// rank for what it computes in between.
static uint64_t bytesNeeded(const ProgramMetadata &program) {
  uint64_t needed =
      SaturatingMultiply<uint64_t>(program.arenaBytes, program.numRanks());
  for (const std::vector<ValueMetadata> *list :
       {&program.arguments, &program.results})
    for (const ValueMetadata &value : *list) {
      std::optional<shardrt::ElementType> type =
          shardrt::elementTypeNamed(value.elementType);
      uint64_t whole = SaturatingMultiply<uint64_t>(
          countElements(value.shape), type ? shardrt::elementBytes(*type) : 0);
      needed = SaturatingAdd(needed, whole);
      needed = SaturatingAdd<uint64_t>(
          needed,
          bytesOfShards(value, program.meshShape(), program.numRanks()));
    }
  return needed;
}

/// The machine by whose figures the report judges: --machine.
static Machine machineOf(const RunOptions &options) {
  Machine machine;
  StringRef text = options.modelOptions().stages.machine;
  std::string problem = parseMachine(
      text.empty() ? kDefaultMachine : std::string_view(text), machine);
  assert(problem.empty() && "read by the options");
  return machine;
}

/// What a program may take: --memory-limit, or the machine's memory.
static uint64_t memoryLimit(const RunOptions &options) {
  if (options.memoryLimit != 0)
    return options.memoryLimit;
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         sys::Process::getPageSizeEstimate();
}

/// Bytes that the machine can give now; the most there are where it does not
/// say.
static uint64_t availableMemory() {
  // A file of the kernel has no size to map.
  auto file = MemoryBuffer::getFileAsStream("/proc/meminfo");
  if (file)
    for (StringRef line : split((*file)->getBuffer(), '\n'))
      if (uint64_t kilobytes;
          line.consume_front("MemAvailable:") &&
          !line.trim().split(' ').first.getAsInteger(10, kilobytes))
        return kilobytes * 1024;
  return UINT64_MAX;
}

/// Lets programs be compiled to what the GPUs, which ranks share round robin,
/// have left for the temporaries of a rank. Where there are none, running the
/// program says why.
static void limitDeviceMemory(RunOptions &options) {
  int64_t devices = 0, bytes = 0;
  if (shardrt_cuda_devices(&devices, &bytes) != SHARDRT_OK)
    return;
  options.compile.stages.memoryLimitOf =
      [devices, bytes](const ProgramMetadata &program) -> int64_t {
    // The driver, kernels and libraries take some as well.
    int64_t ranks = program.numRanks();
    int64_t room = bytes / 10 * 9 / divideCeil(ranks, devices);
    uint64_t fixed = 0;
    for (const std::vector<ValueMetadata> *list :
         {&program.arguments, &program.results})
      for (const ValueMetadata &value : *list)
        fixed = SaturatingAdd<uint64_t>(
            fixed, divideCeil(bytesOfShards(value, program.meshShape(), ranks),
                              ranks));
    return fixed < uint64_t(room) ? room - int64_t(fixed) : 0;
  };
}

/// Where that is asked for, lets programs be compiled to what is left for the
/// temporaries of a rank.
static void limitMemory(RunOptions &options) {
  if (!options.fitsMemory)
    return;
  if (options.compile.stages.target == Target::Cuda && options.memoryLimit == 0)
    return limitDeviceMemory(options);
  uint64_t limit = memoryLimit(options);
  // The runtime and other programs take some as well.
  if (options.memoryLimit == 0)
    limit = std::min<uint64_t>(limit, availableMemory() / 10 * 9);
  options.compile.stages.memoryLimitOf =
      [limit](const ProgramMetadata &program) -> int64_t {
    // Temporaries are not known yet.
    uint64_t fixed = bytesNeeded(program);
    return fixed < limit
               ? std::max<int64_t>((limit - fixed) / program.numRanks(), 1)
               : 0;
  };
}

/// Compiles and loads the model; in a job that another launcher started, rank 0
/// does it for all (Processes.h).
static Expected<Session> compileAndLoad(const RunOptions &options,
                                        const JobMember &member) {
  std::optional<SharedProgram> shared = SharedProgram::of(options, member);
  if (shared) {
    Expected<std::optional<Session>> made = shared->fetch();
    if (!made)
      return made.takeError();
    if (*made)
      return std::move(**made);
  }
  Expected<CompiledProgram> compiled = compileLinked(
      "shard-run", options.model, options.compile, *options.cache);
  if (!compiled) {
    Error error = compiled.takeError();
    return shared ? shared->refuse(std::move(error)) : std::move(error);
  }
  Error differs = Error::success();
  consumeError(std::move(differs));
  Expected<Session> session =
      Session::load(std::move(*compiled), [&](StringRef artifact) {
        if (shared)
          differs = shared->show(artifact);
      });
  if (differs && session)
    return std::move(differs);
  consumeError(std::move(differs));
  return session;
}

/// Loads what the launcher of this process has made or checked.
static Expected<Session> loadMade(const std::string &path) {
  PrivateFile file;
  if (std::string why = file.read(path); !why.empty())
    return toolError(ExitCode::IO, "the launcher's program: " + why);
  return Session::loadMade(file, "the launcher's program");
}

/// The artifact, where it was opened before the sandbox was closed: the user's
/// key is none of the program's business.
static std::optional<OpenedArtifact> opened;

/// Loads the artifact, or compiles what it carries.
static Expected<Session> loadArtifact(const RunOptions &options,
                                      const JobMember &member) {
  std::optional<OpenedArtifact> artifact = std::exchange(opened, std::nullopt);
  if (!artifact) {
    Expected<OpenedArtifact> read = openArtifact(options.model, *options.trust);
    if (!read)
      return read.takeError();
    artifact = std::move(*read);
  }
  if (artifact->isTrusted)
    return Session::loadArtifact(*artifact);
  Expected<CompiledProgram> compiled =
      rebuild(member.isFirst() ? "shard-run" : "", *artifact, options.compile);
  if (!compiled)
    return compiled.takeError();
  return Session::load(std::move(*compiled));
}

/// Compiles the model or loads the artifact, and binds what is said of its
/// sizes and of its mesh.
static Expected<Session> openProgram(const RunOptions &options,
                                     const JobMember &member) {
  std::string made = artifactOfProcesses();
  bool isMade = !made.empty() || options.isArtifact;
  Expected<Session> session = !made.empty() ? loadMade(made)
                              : options.isArtifact
                                  ? loadArtifact(options, member)
                                  : compileAndLoad(options, member);
  // Rank 0 has sent the others the reason why there is no program.
  if (!session && !isMade)
    return session.takeError();
  Error error = session ? Error::success() : session.takeError();
  if (session) {
    std::string shapes = options.compile.stages.shapes;
    if (shapes.empty() && session->hasOpenExtents())
      shapes = shapesOfInputs(options);
    // What a model is compiled with is said and done.
    else if (!options.isArtifact && !session->hasOpenExtents())
      shapes.clear();
    error = joinErrors(std::move(error),
                       session->bind(options.model, options.sizes, shapes,
                                     options.mesh, options.ranks));
  }
  if (Error refused = agreeOnBinding(member, std::move(error)))
    return std::move(refused);
  return session;
}

/// What to do about a program that needs more memory than there is, what was
/// done, and what holds most.
static std::string adviceOnMemory(const Session &session,
                                  const RunOptions &options) {
  const MemoryPlan &memory = session.memory();
  std::string tried;
  if (options.isArtifact)
    tried = "; shard-translate --memory-limit=BYTES compiles it to need less";
  else if (!options.fitsMemory)
    tried = "; --fit-memory compiles it to need less";
  if (memory.repeated + memory.loops > 0)
    tried =
        formatv("; repeating {0} ops and taking {1} chains of ops in blocks "
                "of rows was not enough",
                memory.repeated, memory.loops);
  if (!memory.largest.empty())
    tried += "; most is held by " + memory.largest;
  return tried;
}

/// Refuses a program whose inputs and outputs would not fit in memory: whole
/// arrays here, and every rank's shards.
static Error checkMemory(const Session &session, const RunOptions &options) {
  const ProgramMetadata &program = session.metadata();
  uint64_t limit = memoryLimit(options), needed = bytesNeeded(program);
  // Temporaries on GPUs are none of the machine's.
  bool onDevice = StringRef(program.arch).contains(";cuda:");
  if (onDevice && options.memoryLimit == 0)
    needed -= std::min(needed, SaturatingMultiply<uint64_t>(
                                   program.arenaBytes, program.numRanks()));
  if (needed <= limit)
    return Error::success();
  return toolError(ExitCode::Memory,
                   "inputs, outputs and temporaries need " + Twine(needed) +
                       " bytes on " + Twine(program.numRanks()) +
                       " ranks, the limit is " + Twine(limit) +
                       adviceOnMemory(session, options));
}

/// Adds advice to an error of a run that could not get memory.
static Error explainMemory(Error error, const Session &session,
                           const RunOptions &options) {
  return handleErrors(
      std::move(error), [&](std::unique_ptr<ToolError> known) -> Error {
        if (known->code != ExitCode::Memory)
          return Error(std::move(known));
        return toolError(known->code,
                         known->message + adviceOnMemory(session, options));
      });
}

/// Runs the model on one rank, nothing cut.
static Expected<std::vector<HostArray>> runUnsharded(const RunOptions &options,
                                                     ArrayRef<HostArray> inputs,
                                                     const StepPlan *plan,
                                                     HostCalls *calls) {
  ModelOptions compile = options.modelOptions();
  compile.ranks.reset();
  compile.stages.unsharded = true;
  compile.verifyPartition = false;
  compile.stages.noFallback = false;
  compile.stages.trace = false;
  compile.stages.tf32 = false;
  compile.stages.instrument = nullptr;
  // What is left open is what the arguments are.
  if (!compile.stages.dynamic.empty()) {
    compile.stages.dynamic.clear();
    raw_string_ostream shapes(compile.stages.shapes);
    for (auto [i, input] : enumerate(inputs)) {
      shapes << ";?" << i << "=" << (input.shape.empty() ? "scalar" : "");
      interleave(input.shape, shapes, "x");
    }
  }
  Expected<CompiledProgram> compiled =
      compileLinked("shard-run", options.modelName(), compile, *options.cache);
  if (!compiled)
    return compiled.takeError();
  Expected<Session> session = Session::load(std::move(*compiled));
  if (!session)
    return session.takeError();
  if (Error error = checkMemory(*session, options))
    return std::move(error);
  session->setHostCalls(calls);
  // All steps, from the first on.
  StepPlan plain;
  if (plan) {
    plain = *plan;
    plain.logged.clear();
    plain.directory.clear();
    plain.saveEvery = 0;
    plain.resumes = false;
  }
  Expected<RunResult> run =
      plan ? session->run(inputs, plain, options.timeoutMs)
           : session->run(inputs, /*steps=*/1, options.timeoutMs);
  if (!run)
    return explainMemory(run.takeError(), *session, options);
  return std::move(run->outputs);
}

/// Pipes are read once: several processes cannot each take their part of one.
static Error checkSharedInputs(const RunOptions &options) {
  std::vector<StringRef> files = {options.inputsFile, options.expectFile};
  for (StringRef input : options.inputs)
    if (input.consume_front("@"))
      files.push_back(input);
  for (StringRef path : files)
    if (sys::fs::exists(path) && !sys::fs::is_directory(path) &&
        !isStoredFile(path))
      return toolError(ExitCode::IO,
                       path +
                           ": is no file on a disk: several processes cannot "
                           "each read it; store it in one");
  return Error::success();
}

/// Tells `session` how to run, as `options` say.
static Error configure(Session &session, const RunOptions &options,
                       const JobMember &member) {
  session.setKernelSchedule(options.kernelSchedule, options.kernelSeed);
  session.setTransport(options.transport);
  session.setDeterministic(options.deterministic);
  session.setJob(member.get(), options.wire);
  session.setTrace(!options.traceFile.empty());
  if (options.balances)
    session.setBalance(options.balanceSteps);
  if (!options.specializes)
    return Error::success();
  if (member.get())
    return toolError(ExitCode::Unsupported,
                     "unsupported: --specialize where ranks are processes, "
                     "which would have to change over at the same step");
  session.setSpecialize([&options](std::string sizes, std::string shapes) {
    ModelOptions compile = options.modelOptions();
    compile.stages.dynamic.clear();
    compile.stages.sizes = std::move(sizes);
    if (!shapes.empty())
      compile.stages.shapes = std::move(shapes);
    compile.verifyPartition = false;
    return compileLinked("shard-run", options.modelName(), std::move(compile),
                         *options.cache);
  });
  return Error::success();
}

namespace {
/// Compares results with what they are to be: those of a file, of the program
/// on one rank, of the interpreter.
class Judge {
public:
  Judge(const RunOptions &options, const ProgramMetadata &program,
        const RunResult &run)
      : options(options), program(program), run(run) {}

  Error compare(ArrayRef<HostArray> expected, ArrayRef<HostArray> inputs,
                const StepPlan *steps, HostCalls *calls);

  std::vector<Verdict> verdicts;
  std::string difference; ///< the first; empty if there is none

private:
  void add(StringRef with, ArrayRef<HostArray> reference);

  const RunOptions &options;
  const ProgramMetadata &program;
  const RunResult &run;
  std::vector<double> rounding; ///< of results, by rounded factors
};
} // namespace

void Judge::add(StringRef with, ArrayRef<HostArray> reference) {
  Verdict verdict = compareAll(with, run.outputs, reference, options, rounding);
  if (difference.empty())
    difference = describeDifference(verdict, program, run.outputs, reference);
  verdicts.push_back(std::move(verdict));
}

Error Judge::compare(ArrayRef<HostArray> expected, ArrayRef<HostArray> inputs,
                     const StepPlan *steps, HostCalls *calls) {
  if (!options.expectFile.empty())
    add("expected", expected);
  // What is compared with does not round the factors of products.
  if ((options.check || options.checkInterpreter) &&
      options.modelOptions().stages.tf32) {
    int64_t longest = 1;
    for (const HostArray &input : inputs)
      for (int64_t extent : input.shape)
        longest = std::max(longest, extent);
    Expected<std::vector<double>> bounds =
        roundingOfResults(options.modelName(), options.modelOptions(), longest);
    if (!bounds)
      return bounds.takeError();
    rounding = std::move(*bounds);
  }
  if (options.check) {
    Expected<std::vector<HostArray>> reference =
        runUnsharded(options, inputs, steps, calls);
    if (!reference)
      return reference.takeError();
    add("unsharded", *reference);
    if (difference.empty() && run.disagreeingOutput >= 0)
      difference = (nameOf("output", run.disagreeingOutput,
                           program.results[run.disagreeingOutput]) +
                    ": rank " + Twine(run.disagreeingRank) +
                    " holds other bits than a rank with the same shard")
                       .str();
  }
  if (options.checkInterpreter) {
    Expected<InterpretedRun> reference = interpretRun(options, program, inputs);
    if (!reference)
      return reference.takeError();
    add("interpreter", reference->outputs);
    if (difference.empty())
      difference = reference->failedChecks;
  }
  return Error::success();
}

/// Success where a run without a step left to do has nothing to show, else an
/// error.
static Error endWithoutSteps(const RunOptions &options) {
  // Carried values are in the checkpoint, other results are not.
  if (options.outputsFile.empty() && options.expectFile.empty() &&
      !options.check && !options.reportJSON && options.reportFile.empty() &&
      options.traceFile.empty())
    return Error::success();
  return toolError(ExitCode::Usage,
                   options.steps.directory + ": holds step " +
                       Twine(options.steps.steps) +
                       ", and no step is left whose results could be "
                       "written, compared or reported; give more --steps, or "
                       "--resume from an earlier one");
}

/// Writes results and the trace to their files, compares results, and reports.
static Error showRun(const RunOptions &options, const Session &session,
                     const RunResult &run, ArrayRef<HostArray> expected,
                     ArrayRef<HostArray> inputs, const StepPlan *steps,
                     HostCalls *calls) {
  const ProgramMetadata &program = session.metadata();
  for (const std::string &note : run.notes)
    WithColor::warning(errs(), "shard-run") << note << "\n";
  if (run.stepMs.empty())
    return endWithoutSteps(options);
  Activity writing("writing results");
  if (!options.outputsFile.empty())
    if (Error error = writeOutputs(options.outputsFile, run.outputs))
      return error;
  if (!options.traceFile.empty())
    if (Error error = writeTrace(options.traceFile, program, run))
      return error;
  Judge judge(options, program, run);
  if (Error error = judge.compare(expected, inputs, steps, calls))
    return error;
  if (!options.reportFile.empty())
    if (Error error = writePage(options.reportFile, session, run,
                                judge.verdicts, machineOf(options)))
      return error;
  if (options.reportJSON)
    writeReport(outs(), session, run, judge.verdicts, machineOf(options));
  else if (judge.verdicts.empty() && options.outputsFile.empty() &&
           session.checks().empty())
    writeOutputValues(outs(), run.outputs);
  writeSummary(errs(), session, run, judge.verdicts);
  if (Error error = endOutput())
    return error;
  std::string difference = judge.difference;
  if (difference.empty())
    difference = runChecks(session.checks(), run.checked);
  if (!difference.empty())
    return toolError(ExitCode::Differs, difference);
  return Error::success();
}

/// Compiles and runs one program.
static Error runProgram(const RunOptions *options, const JobMember &member) {
  if (options->interpret)
    return runInterpreter(*options);
  Expected<Session> session = openProgram(*options, member);
  if (!session)
    return session.takeError();
  const ProgramMetadata &program = session->metadata();
  if (Error error = checkMemory(*session, *options))
    return error;
  // What can be wrong with files is said before the first step.
  std::vector<HostArray> expected;
  if (!options->expectFile.empty()) {
    Expected<std::vector<HostArray>> read =
        readExpected(program, options->expectFile);
    if (!read)
      return read.takeError();
    expected = std::move(*read);
  }
  Expected<std::optional<StepPlan>> plan = makeStepPlan(program, *options);
  if (!plan)
    return plan.takeError();
  const StepPlan *steps = *plan ? &**plan : nullptr;
  // A process takes its part of files and leaves the rest; of random arrays it
  // holds one at a time.
  bool isRandom = options->inputs.empty() && options->inputsFile.empty();
  bool oneByOne =
      member.get() && isRandom && !options->check && !options->checkInterpreter;
  if (oneByOne)
    session->setInputMaker([&](size_t index) {
      return randomInput(session->metadata(), *options, index);
    });
  Expected<std::vector<HostArray>> inputs = std::vector<HostArray>();
  if (!oneByOne) {
    Activity activity("making the inputs");
    inputs =
        makeInputs(program, *options, /*inPlace=*/member.get() != nullptr,
                   [&](size_t input) { return steps && steps->gives(input); });
  }
  if (!inputs)
    return inputs.takeError();

  if (Error error = configure(*session, *options, member))
    return error;
  std::optional<HostCalls> calls;
  if (options->hostCalls) {
    // Writing to somebody who is gone is an error like others.
    std::signal(SIGPIPE, SIG_IGN);
    calls.emplace(options->hostCalls->first, options->hostCalls->second);
    session->setHostCalls(&*calls);
  }
  Expected<RunResult> run =
      steps ? session->run(*inputs, *steps, options->timeoutMs)
            : session->run(*inputs, options->repeat, options->timeoutMs);
  if (!run)
    return explainMemory(run.takeError(), *session, *options);
  if (!member.isFirst())
    return Error::success();
  return showRun(*options, *session, *run, expected, *inputs, steps,
                 calls ? &*calls : nullptr);
}

/// Runs every module of a file. A check that failed outweighs a refusal, that
/// one a feature that is declared unsupported.
static Error runModules(RunOptions options, std::vector<std::string> modules,
                        const JobMember &member) {
  if (options.isArtifact || options.outputsFile.size() ||
      options.expectFile.size() || options.inputsFile.size() ||
      options.inputs.size() || options.reportJSON || options.steps.steps ||
      options.reportFile.size() || options.traceFile.size())
    return toolError(ExitCode::Usage,
                     options.model + " holds " + Twine(modules.size()) +
                         " modules; --input, --inputs, --outputs, --expect, "
                         "--report, --trace and --steps go with one");
  auto weight = [](ExitCode code) {
    return code == ExitCode::Differs       ? 3
           : code == ExitCode::Unsupported ? 1
           : code == ExitCode::Ok          ? 0
                                           : 2;
  };
  ExitCode worst = ExitCode::Ok;
  std::string messages;
  size_t held = 0;
  for (std::string &text : modules) {
    options.compile.text = std::move(text);
    ExitCode code = ExitCode::Ok;
    auto note = [&](ExitCode why, StringRef message) {
      code = why;
      if (!message.empty())
        messages += (messages.empty() ? "" : "\n") + message.str();
    };
    handleAllErrors(
        runProgram(&options, member),
        [&](const ToolError &known) { note(known.code, known.message); },
        [&](const ErrorInfoBase &other) {
          note(ExitCode::Refused, other.message());
        });
    held += code == ExitCode::Ok;
    if (weight(code) > weight(worst))
      worst = code;
  }
  errs() << options.model << ": " << held << " of " << modules.size()
         << " modules passed\n";
  return worst == ExitCode::Ok ? Error::success() : toolError(worst, messages);
}

static Error runModel(RunOptions &options, const JobMember &member) {
  if (options.isArtifact || !artifactOfProcesses().empty())
    return runProgram(&options, member);
  // A file that cannot be read is refused below, with its reason.
  auto file = options.piped
                  ? MemoryBuffer::getMemBuffer(*options.piped)
                  : MemoryBuffer::getFile(options.model, /*IsText=*/true);
  if (file && (*file)->getBuffer().contains("// -----"))
    if (std::vector<std::string> modules = splitModules((*file)->getBuffer());
        modules.size() > 1)
      return runModules(std::move(options), std::move(modules), member);
  return runProgram(&options, member);
}

/// Runs the model in a process that can open what the command line names, and
/// nothing else.
static Error runConfined(RunOptions &options, int &code) {
  int64_t rank = 0, ranks = 1;
  char launcher[64] = "";
  shardrt_job_look(&rank, &ranks, launcher, sizeof(launcher));
  if (ranks > 1)
    return toolError(ExitCode::Usage,
                     Twine("--sandbox lets a program reach no other process, "
                           "but ") +
                         launcher + " started " + Twine(ranks));
  if (options.isArtifact) {
    Expected<OpenedArtifact> read = openArtifact(options.model, *options.trust);
    if (!read)
      return read.takeError();
    opened = std::move(*read);
  }
  SandboxRules rules;
  rules.tool = "shard-run";
  auto add = [](std::vector<std::string> &files, const std::string &file) {
    if (!file.empty() && file != "-")
      files.push_back(file);
  };
  if (!options.isArtifact)
    add(rules.readable, options.model);
  for (StringRef input : options.inputs)
    if (input.consume_front("@"))
      add(rules.readable, input.str());
  for (StringRef batch : options.steps.batches)
    add(rules.readable, batch.split('@').second.str());
  add(rules.readable, options.inputsFile);
  add(rules.readable, options.expectFile);
  add(rules.writable, options.outputsFile);
  add(rules.writable, options.reportFile);
  add(rules.writable, options.traceFile);
  auto work = [&] {
    if (!options.isArtifact && options.compile.stages.shapes.empty() &&
        options.compile.stages.dynamic.empty())
      options.compile.stages.shapes = shapesOfInputs(options);
    return runModel(options, JobMember());
  };
  return runSandboxed(rules, work, code);
}

/// `code`: what the tool ends with where there is no error.
static Error runTool(int argc, char **argv, int &code) {
  Activity activity("starting");
  Expected<RunOptions> options = readOptions(argc, argv);
  if (!options)
    return options.takeError();
  limitMemory(*options);
  if (options->isArtifact && (options->check || options->checkInterpreter ||
                              options->interpret || options->specializes)) {
    Expected<CarriedProgram> carried =
        readCarried(options->model, *options->trust);
    if (!carried)
      return carried.takeError();
    options->carried = std::move(*carried);
    // Nobody else says what a run that compiles nothing is about.
    std::string &shapes = options->carried->options.stages.shapes;
    if (options->interpret && shapes.empty())
      shapes = options->compile.stages.shapes.empty()
                   ? shapesOfInputs(*options)
                   : options->compile.stages.shapes;
  }
  if (options->sandbox)
    return runConfined(*options, code);
  if (!options->isArtifact && options->compile.stages.shapes.empty() &&
      options->compile.stages.dynamic.empty())
    options->compile.stages.shapes = shapesOfInputs(*options);
  // Processes that this one starts have what it has compiled.
  if (options->tuneSeconds > 0 && artifactOfProcesses().empty())
    if (Error error = tuneModel(*options))
      return error;
  if (options->processes > 0 && artifactOfProcesses().empty() &&
      !std::getenv("SHARDRT_RANK")) {
    if (Error error = checkSharedInputs(*options))
      return error;
    Expected<int> ended = runProcesses(*options, argv);
    if (!ended)
      return ended.takeError();
    code = *ended;
    return Error::success();
  }
  std::optional<Activity> joining(std::in_place, "joining the other ranks");
  Expected<JobMember> member = JobMember::join(*options);
  if (!member)
    return member.takeError();
  joining.reset();
  if (member->get())
    if (Error error = checkSharedInputs(*options))
      return error;
  if (member->get() && !options->compile.ranks &&
      options->compile.stages.mesh.empty())
    options->compile.ranks = shardrt_job_size(member->get());
  return runModel(*options, *member);
}

int main(int argc, char **argv) {
  ToolStart start("shard-run", argc, argv);
  int code = 0;
  ExitCode failed;
  Error error = runTool(argc, argv, code);
  if (error && leaveToLauncher(failed, error))
    return start.end(Error::success(), static_cast<int>(failed));
  return start.end(std::move(error), code);
}
