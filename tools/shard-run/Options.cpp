//===- Options.cpp - What shard-run was asked to do -----------------------===//

#include "Options.h"
#include "../Common/CompileOptions.h"
#include "shardc/Seal/Processor.h"
#include "shardc/Support/InputFile.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/ObjectFile.h"
#include "shardrt/shardrt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <fcntl.h>

using namespace llvm;
using namespace shardc;

void (*shardc::changeStages)(StageOptions &stages) = nullptr;

static cl::OptionCategory category("shard-run");

static cl::opt<std::string> model(cl::Positional, cl::desc("MODEL"),
                                  cl::cat(category));
static CompileOptions compile(category, "device", /*writesKernels=*/false);
static TrustOptions trust(category);
static CacheOptions cached(category);
static cl::opt<bool>
    sandbox("sandbox",
            cl::desc("Let the program open, write and start nothing but the "
                     "files named here (ranks are threads then)"),
            cl::cat(category));
static cl::opt<std::string> transport(
    "transport",
    cl::desc("thread: ranks are threads (default, unless a launcher started "
             "several processes); process: ranks are processes, over shared "
             "memory or sockets; shm, tcp, mpi: over that; for kernels on "
             "devices also host, direct or nccl, which say how buffers go from "
             "rank to rank"),
    cl::value_desc("name"), cl::cat(category));
static NumberOption
    processes("processes",
              cl::desc("Start N processes on this machine, one for each rank"),
              cl::value_desc("N"), cl::cat(category));
static cl::opt<bool> insecure(
    "insecure",
    cl::desc(
        "Ranks on several hosts do without a secret (SHARDRT_SECRET_FILE): "
        "whoever reaches a port of the job can be one of them"),
    cl::cat(category));
static cl::opt<bool> encrypt(
    "encrypt",
    cl::desc("Encrypt what ranks send one another over sockets; by default it "
             "is authenticated"),
    cl::cat(category));
static cl::opt<bool> deterministic(
    "deterministic",
    cl::desc("Over NCCL: combine elements in the order of ranks, as the other "
             "transports do; NCCL has an order of its own"),
    cl::cat(category));
static cl::opt<bool>
    checkKernels("check-kernels",
                 cl::desc("With emulated-cuda: look at every access of kernels "
                          "for bounds and races"),
                 cl::cat(category));
static cl::opt<std::string> kernelSchedule(
    "kernel-schedule",
    cl::desc("With emulated-cuda: who goes on where several threads of a block "
             "can: round-robin (default), run-ahead, random=SEED"),
    cl::value_desc("name"), cl::init("round-robin"), cl::cat(category));
static cl::list<std::string>
    inputs("input",
           cl::desc("The next argument: @file.npy, 4x8xf32=0.5 or "
                    "3xi32=1,2,3"),
           cl::value_desc("array"), cl::cat(category));
static cl::opt<std::string>
    inputsFile("inputs", cl::desc("All arguments: members in0, in1, ..."),
               cl::value_desc("@file.npz"), cl::cat(category));
static NumberOption
    seed("seed", cl::desc("Random inputs from this seed (default: seed 0)"),
         cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string>
    range("range", cl::desc("Random floats from LOW to HIGH (default: -1,1)"),
          cl::value_desc("LOW,HIGH"), cl::cat(category));
static cl::opt<std::string>
    expect("expect",
           cl::desc("Compare with members out0, out1, ...: exit code 3 "
                    "where they differ"),
           cl::value_desc("@file.npz"), cl::cat(category));
static NumberOption relative("rtol",
                             cl::desc("Relative tolerance (default: by type)"),
                             cl::value_desc("x"), cl::cat(category));
static NumberOption absolute("atol",
                             cl::desc("Absolute tolerance (default: by type)"),
                             cl::value_desc("x"), cl::cat(category));
static cl::list<std::string>
    check("check",
          cl::desc("Run the program unsharded too, and compare; interpreter: "
                   "compare with what the interpreter makes of its text; may "
                   "be given twice"),
          cl::value_desc("interpreter"), cl::ValueOptional, cl::cat(category));
static cl::opt<bool>
    interpret("interpret",
              cl::desc("Compile nothing: let the interpreter run the model"),
              cl::cat(category));
static cl::opt<std::string>
    outputsFile("outputs", cl::desc("Write members out0, out1, ..."),
                cl::value_desc("@file.npz"), cl::cat(category));
static NumberOption repeat("repeat", cl::desc("Steps to run (default 1)"),
                           cl::value_desc("N"), cl::cat(category));
static NumberOption
    stepCount("steps", cl::desc("Run N steps that keep state: see --carry"),
              cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string> balance(
    "balance",
    cl::desc("Find sizes of open dims by which all ranks finish together: over "
             "N steps before those that are asked for (default 10), or, with "
             "--steps, over the first N of these (default: all)"),
    cl::value_desc("N"), cl::ValueOptional, cl::cat(category));
static cl::opt<bool> specialize(
    "specialize",
    cl::desc("With --dynamic and --steps: compile for the sizes of now in the "
             "background, and go on with that program where it gives the same "
             "bits"),
    cl::cat(category));
static cl::opt<std::string> tunes(
    "tune",
    cl::desc("Before the run, measure other ways to cut its products, for "
             "SECONDS at most (default 60), and keep those that are faster: "
             "the run has them, and whatever --tuned compiles from then on"),
    cl::value_desc("SECONDS"), cl::ValueOptional, cl::cat(category));
static cl::opt<std::string>
    tuneTimes("tune-times",
              cl::desc("With --tune: what kernels take, in the place of a "
                       "clock: lines of words of a tile, and ms"),
              cl::value_desc("FILE"), cl::Hidden, cl::cat(category));
static cl::list<std::string> carries(
    "carry",
    cl::desc("Results OUT of a step are arguments IN of the next: numbers, "
             "names, or ranges of either, 0-5:0-5"),
    cl::value_desc("OUT:IN"), cl::CommaSeparated, cl::cat(category));
static cl::list<std::string> batches(
    "batches",
    cl::desc("Argument ARG of step s is element s of the file's first "
             "dim, from the start again after the last; of an .npz file "
             "members in0, in1, ... are"),
    cl::value_desc("ARG=@file.npy"), cl::cat(category));
static cl::opt<std::string>
    stepNumber("step-number",
               cl::desc("Argument ARG is the number of the step, from 0"),
               cl::value_desc("ARG"), cl::cat(category));
static cl::list<std::string>
    logged("log",
           cl::desc("Print results OUT, of one element, after each step"),
           cl::value_desc("OUT"), cl::CommaSeparated, cl::cat(category));
static cl::opt<std::string> checkpoint(
    "checkpoint",
    cl::desc("The directory in which carried values are saved, or from "
             "which --resume takes them"),
    cl::value_desc("DIR"), cl::cat(category));
static NumberOption
    saveEvery("save-every",
              cl::desc("Save after every K steps, and after the last one"),
              cl::value_desc("K"), cl::cat(category));
static NumberOption keep("keep",
                         cl::desc("Keep the last M checkpoints (default: all)"),
                         cl::value_desc("M"), cl::cat(category));
static cl::opt<std::string> resume(
    "resume",
    cl::desc("Go on from the last checkpoint, or that of STEP; from step 0 "
             "where there is none"),
    cl::value_desc("STEP"), cl::ValueOptional, cl::cat(category));
static NumberOption restarts(
    "restarts",
    cl::desc("Where --processes lose ranks, go on from the last checkpoint "
             "with those that are left, R times at most"),
    cl::value_desc("R"), cl::cat(category));
static cl::opt<std::string> hostCalls(
    "host-calls",
    cl::desc("Open file descriptors on which whoever started the tool answers "
             "the program's calls of Python (shardc.compile does)"),
    cl::value_desc("ANSWERS,REQUESTS"), cl::cat(category));
static cl::list<std::string> report(
    "report",
    cl::desc("json: one object on stdout; FILE.html: a page to read; may "
             "be given twice"),
    cl::value_desc("format"), cl::cat(category));
static cl::opt<std::string>
    trace("trace",
          cl::desc("Write what each rank did when: open it in Perfetto"),
          cl::value_desc("FILE.json"), cl::cat(category));
static NumberOption
    timeout("timeout", cl::desc("Longest wait of a rank in ms (default 30000)"),
            cl::value_desc("ms"), cl::cat(category));
static NumberOption memoryLimit(
    "memory-limit",
    cl::desc("Most bytes for inputs, outputs and temporaries of all ranks "
             "(default: the machine's memory)"),
    cl::value_desc("bytes"), cl::cat(category));
static cl::opt<bool>
    fitMemory("fit-memory",
              cl::desc("Compile a model that needs more than the limit to "
                       "need less, in more time"),
              cl::cat(category));
static cl::extrahelp exitCodes(
    "\nexit codes: 0 ok, 1 program refused, 2 usage, 3 outputs "
    "differ, 4 rank lost,\n"
    "  5 watchdog, 6 collective mismatch, 7 I/O, 8 refused artifact, "
    "9 memory or size\n"
    "  limit, 77 declared unsupported, 129 HUP, 130 Ctrl-C, 143 TERM\n");

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

/// Takes the '@' off the name of a file; an error if there is none.
static Expected<std::string> fileOf(const cl::opt<std::string> &option) {
  StringRef text = option.getValue();
  if (option.getNumOccurrences() == 0)
    return std::string();
  if (!text.consume_front("@") || text.empty())
    return usage("--" + option.ArgStr + "=" + option.getValue() +
                 ": expected @ and a file, --" + option.ArgStr + "=@file.npz");
  return text.str();
}

/// The runtime's number of a transport.
static std::optional<int> transportNamed(StringRef name) {
  return StringSwitch<std::optional<int>>(name)
      .Cases({"", "thread", "process"}, SHARDRT_TRANSPORT_AUTO)
      // Whoever says how processes communicate says it of what devices have as
      // well.
      .Cases({"host", "shm", "tcp", "mpi"}, SHARDRT_TRANSPORT_HOST)
      .Case("direct", SHARDRT_TRANSPORT_DIRECT)
      .Case("nccl", SHARDRT_TRANSPORT_NCCL)
      .Default(std::nullopt);
}

/// The file descriptors of --host-calls, if both are open.
static std::optional<std::pair<int, int>> hostCallFiles() {
  auto [answers, requests] = StringRef(hostCalls).split(',');
  std::pair<int, int> files;
  if (answers.getAsInteger(10, files.first) ||
      requests.getAsInteger(10, files.second) || files.first < 0 ||
      files.second < 0 || fcntl(files.first, F_GETFD) < 0 ||
      fcntl(files.second, F_GETFD) < 0)
    return std::nullopt;
  return files;
}

/// How a transport's processes reach one another.
static int wireNamed(StringRef name) {
  return StringSwitch<int>(name)
      .Case("shm", SHARDRT_WIRE_SHARED)
      .Case("tcp", SHARDRT_WIRE_TCP)
      .Case("mpi", SHARDRT_WIRE_MPI)
      .Default(SHARDRT_WIRE_AUTO);
}

/// How ranks communicate.
static Error checkTransport() {
  if (transport.getNumOccurrences() && !transportNamed(transport))
    return usage("--transport=" + transport +
                 ": expected thread, process, shm, tcp, mpi, host, direct or "
                 "nccl");
  if (processes.getNumOccurrences() &&
      (transport == "thread" || transport == "direct"))
    return usage("--processes makes ranks processes, but --transport=" +
                 transport + " is for threads of one process");
  if (processes.getNumOccurrences() && transport == "mpi")
    return usage("--transport=mpi is for processes that mpirun starts; "
                 "--processes starts them without it");
  if (encrypt && (transport == "mpi" || transport == "nccl"))
    return usage("--encrypt is about messages over sockets, but "
                 "--transport=" +
                 transport + " sends them by itself, as they are");
  return Error::success();
}

/// What a program may reach that nobody vouches for.
static Error checkSandbox() {
  if (sandbox && (processes.getNumOccurrences() ||
                  is_contained({"process", "shm", "tcp", "mpi", "nccl"},
                               transport.getValue())))
    return usage("--sandbox lets a program reach no other process: its ranks "
                 "are threads");
  if (sandbox && checkpoint.getNumOccurrences())
    return usage("--sandbox lets a program write no directory: --checkpoint "
                 "does not go with it");
  if (sandbox && compile.target() == "cuda")
    return usage("--sandbox lets a program reach no device: give "
                 "--device=cpu or --device=emulated-cuda");
  return Error::success();
}

/// What is looked at, and in which form it is said.
static Error checkReports() {
  StringRef order = kernelSchedule;
  uint64_t orderSeed;
  if (order.consume_front("random=")
          ? order.getAsInteger(10, orderSeed)
          : !is_contained({"round-robin", "run-ahead"}, order))
    return usage("--kernel-schedule=" + kernelSchedule +
                 ": expected round-robin, run-ahead or random=SEED");
  if (checkKernels && compile.target() != "emulated-cuda")
    return usage("--check-kernels goes with --device=emulated-cuda");
  for (const std::string &format : report)
    if (format != "json" && !StringRef(format).ends_with(".html"))
      return usage("--report=" + format +
                   ": expected json, or a file whose name ends with .html");
  for (const std::string &with : check)
    if (!with.empty() && with != "interpreter")
      return usage("--check=" + with +
                   ": expected --check, or --check=interpreter");
  if (interpret)
    for (auto [name, given] :
         {std::pair("--check", !check.empty()),
          std::pair("--report", !report.empty()),
          std::pair("--trace", trace.getNumOccurrences() > 0),
          std::pair("--repeat", repeat.getNumOccurrences() > 0),
          std::pair("--balance", balance.getNumOccurrences() > 0),
          std::pair("--tune", tunes.getNumOccurrences() > 0),
          std::pair("--processes", processes.getNumOccurrences() > 0)})
      if (given)
        return usage("--interpret compiles and runs nothing; leave out " +
                     Twine(name));
  return Error::success();
}

/// Programs that are compiled once more while they run.
static Error checkSpecialize() {
  if (specialize && !stepCount.getNumOccurrences())
    return usage("--specialize changes over between steps: say how many with "
                 "--steps=N");
  if (specialize && !compile.isGiven("dynamic") && !isArtifact(model))
    return usage("--specialize is about sizes that are left open, but no "
                 "--dynamic leaves any (of an artifact there is no model to "
                 "compile once more)");
  if (specialize && balance.getNumOccurrences())
    return usage("--specialize is for sizes that stay, --balance changes them: "
                 "give --sizes as it found them");
  if (specialize && hostCalls.getNumOccurrences())
    return usage("--specialize runs a step twice, with its calls of Python: "
                 "leave out --host-calls");
  if (int64_t least = 1; balance.getNumOccurrences() && !balance.empty() &&
                         (StringRef(balance).getAsInteger(10, least) ||
                          least < 1 || least > 1000000000))
    return usage("--balance=" + balance +
                 ": expected a number of steps, from 1 to 1000000000");
  return Error::success();
}

/// Kernels that are measured before.
static Error checkTune() {
  if (int64_t least = 1; tunes.getNumOccurrences() && !tunes.empty() &&
                         (StringRef(tunes).getAsInteger(10, least) ||
                          least < 1 || least > 1000000))
    return usage("--tune=" + tunes +
                 ": expected a number of seconds, from 1 to 1000000");
  if (tunes.getNumOccurrences())
    for (auto [name, given] :
         {std::pair("--sandbox", bool(sandbox)),
          std::pair("--host-calls", hostCalls.getNumOccurrences() > 0),
          std::pair("--batches", !batches.empty()),
          std::pair("--step-number", stepNumber.getNumOccurrences() > 0)})
      if (given)
        return usage("--tune runs the program before, on its inputs alone: "
                     "leave out " +
                     Twine(name));
  if (tunes.getNumOccurrences() && compile.target() != "cpu")
    return usage("--tune is about kernels of CPUs, but --device=" +
                 compile.target() + " has kernels of its own");
  if (tunes.getNumOccurrences() && isArtifact(model))
    return usage("--tune compiles a model, but " + model +
                 " is an artifact; give it what that was made from, and "
                 "shard-translate --tuned");
  return Error::success();
}

/// What the program is given, and its results are compared with.
static Error checkInputs() {
  if (trace.getNumOccurrences() && trace.empty())
    return usage("--trace=: expected a file, --trace=trace.json");
  if (hostCalls.getNumOccurrences() && !hostCallFiles())
    return usage("--host-calls=" + hostCalls +
                 ": expected two open file descriptors, ANSWERS,REQUESTS");
  if (!inputs.empty() && inputsFile.getNumOccurrences())
    return usage("--input and --inputs contradict each other: give arrays one "
                 "by one or all in "
                 "one file");
  if (seed.getNumOccurrences() &&
      (!inputs.empty() || inputsFile.getNumOccurrences()))
    return usage(
        "--seed makes random inputs, but --input or --inputs gives them");
  if (range.getNumOccurrences() &&
      (!inputs.empty() || inputsFile.getNumOccurrences()))
    return usage("--range is about random inputs, but --input or --inputs "
                 "gives them");
  if ((relative.getNumOccurrences() || absolute.getNumOccurrences()) &&
      !expect.getNumOccurrences() && check.empty())
    return usage("--rtol and --atol say how --expect or --check compares; "
                 "neither is given");
  return Error::success();
}

/// What cannot go together, or is out of range.
static Error checkOptions() {
  if (model.empty())
    return usage("no model given; see shard-run --help");
  if (Error error = checkTransport())
    return error;
  if (Error error = compile.check())
    return error;
  for (auto check :
       {checkSandbox, checkReports, checkSpecialize, checkTune, checkInputs})
    if (Error error = check())
      return error;
  return Error::success();
}

/// Takes the model out of a pipe, which can be read once.
static Error readPiped(RunOptions &options) {
  // What started several processes gives each the same command line.
  if (options.model != "-" && std::getenv("SHARDRT_RANK"))
    return toolError(ExitCode::IO,
                     options.model +
                         ": is no file on a disk: several processes "
                         "cannot each read it; store it in one");
  Expected<std::unique_ptr<MemoryBuffer>> read =
      readInputFile(options.model, /*isText=*/true);
  if (!read)
    return ioError(read.takeError());
  StringRef bytes = (*read)->getBuffer();
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return toolError(ExitCode::IO,
                     options.model + ": is an artifact, which has to be stored "
                                     "in a file to be loaded");
  options.piped = options.compile.text = bytes.str();
  return Error::success();
}

/// Files that cannot be written are found before the work that they are for.
static Error checkOutputs(const RunOptions &options) {
  for (StringRef path :
       {StringRef(options.outputsFile), StringRef(options.reportFile),
        StringRef(options.traceFile)})
    if (!path.empty())
      if (Error error = checkOutput(path))
        return error;
  return Error::success();
}

/// The options about steps that keep state.
static Error readStepOptions(StepOptions &options) {
  std::optional<int64_t> steps, every, last;
  if (Error error =
          joinErrors(joinErrors(readNumber(stepCount, 1, 1000000000, steps),
                                readNumber(saveEvery, 1, 1000000000, every)),
                     readNumber(keep, 1, 1000000000, last)))
    return error;
  using Option = std::reference_wrapper<const cl::Option>;
  for (Option option :
       {Option(carries), Option(batches), Option(stepNumber), Option(logged),
        Option(checkpoint), Option(saveEvery), Option(keep), Option(resume)})
    if (!steps && option.get().getNumOccurrences())
      return usage(
          "--" + option.get().ArgStr +
          " is about steps that keep state; say how many with --steps=N");
  if (!steps)
    return Error::success();
  if (repeat.getNumOccurrences())
    return usage(
        "--repeat runs the same step again, --steps runs one after the "
        "other: give one of them");
  for (Option option : {Option(saveEvery), Option(keep), Option(resume)})
    if (option.get().getNumOccurrences() && checkpoint.empty())
      return usage("--" + option.get().ArgStr + " needs --checkpoint=DIR");
  if (checkpoint.getNumOccurrences() && !every && !resume.getNumOccurrences())
    return usage("--checkpoint=" + checkpoint +
                 ": say --save-every=K, --resume or both");
  if (last && !every)
    return usage("--keep says how many checkpoints --save-every leaves");
  options.resumes = resume.getNumOccurrences() > 0;
  // A launcher that starts its processes once more says so.
  bool isRestart = std::getenv("SHARDRT_RESUME") && std::getenv("SHARDRT_RANK");
  options.resumes |= isRestart;
  if (!isRestart && options.resumes && !resume.empty()) {
    int64_t step;
    if (StringRef(resume).getAsInteger(10, step) || step < 0)
      return usage("--resume=" + resume +
                   ": expected the step of a checkpoint");
    options.resumeStep = step;
  }
  for (const std::string &text : carries)
    if (!StringRef(text).contains(':'))
      return usage("--carry=" + text +
                   ": expected OUT:IN, such as --carry=0:0");
  options.steps = *steps;
  options.carries.assign(carries.begin(), carries.end());
  options.batches.assign(batches.begin(), batches.end());
  options.logged.assign(logged.begin(), logged.end());
  options.stepNumber = stepNumber;
  options.directory = checkpoint;
  options.saveEvery = every.value_or(0);
  options.keep = last.value_or(0);
  return Error::success();
}

/// The command line as a checkpoint has it: what says what is computed.
static std::string commandOf(ArrayRef<char *> arguments) {
  std::string command;
  for (StringRef argument : arguments) {
    StringRef name = argument.ltrim('-').split('=').first;
    if (!is_contained({"input", "inputs", "seed", "expect", "outputs", "report",
                       "trace", "steps", "batches", "log", "checkpoint",
                       "save-every", "keep", "resume"},
                      name))
      command += argument.str() + '\n';
  }
  return command;
}

/// How the model is compiled.
static Error readStages(RunOptions &options) {
  Expected<ModelOptions> compiled = compile.read();
  if (!compiled)
    return compiled.takeError();
  options.compile = std::move(*compiled);
  StageOptions &stages = options.compile.stages;
  if (std::string lacking = lackingFeatures(featuresOf(stages.arch));
      !lacking.empty() && !options.isArtifact)
    return usage("--arch=" + stages.arch + ": this processor has no " +
                 lacking + "; shard-translate compiles for other processors");
  if (changeStages)
    changeStages(stages);
  stages.checkKernels = checkKernels;
  stages.trace = trace.getNumOccurrences() && compile.target() == "cpu";
  if (hostCalls.getNumOccurrences()) {
    options.hostCalls = hostCallFiles();
    stages.hostCalls = true;
  }
  return Error::success();
}

static Error readNumbers(RunOptions &options) {
  std::optional<int64_t> processNumber, seedNumber, steps, timeoutMs, limit,
      restartNumber;
  Error numbers = joinErrors(
      joinErrors(readNumber(seed, 0, INT64_MAX, seedNumber),
                 joinErrors(readNumber(repeat, 1, 1000000000, steps),
                            readNumber(timeout, 1, INT64_MAX, timeoutMs))),
      joinErrors(readNumber(memoryLimit, 1, INT64_MAX, limit),
                 joinErrors(readNumber(relative, options.relative),
                            readNumber(absolute, options.absolute))));
  numbers =
      joinErrors(std::move(numbers),
                 joinErrors(readNumber(processes, 1, 4096, processNumber),
                            readNumber(restarts, 0, 1000000, restartNumber)));
  if (numbers)
    return numbers;
  options.seed = seedNumber.value_or(0);
  options.repeat = steps.value_or(1);
  options.timeoutMs = timeoutMs.value_or(0);
  options.memoryLimit = limit.value_or(0);
  options.processes = processNumber.value_or(0);
  options.restarts = restartNumber.value_or(0);
  if (processNumber && !options.compile.ranks && !compile.isGiven("mesh"))
    options.compile.ranks = processNumber;
  return Error::success();
}

/// Sizes that the program leaves open are said when it is loaded, not when it
/// is compiled.
static Error readBinding(RunOptions &options) {
  if (options.isArtifact) {
    if (const cl::Option *option =
            compile.findGiven({"ranks", "mesh", "sizes", "shapes"}))
      return usage("--" + option->ArgStr +
                   " is said when a program is compiled, but " + model +
                   " is an artifact; give it to shard-translate");
  }
  StageOptions &stages = options.compile.stages;
  bool isSymbolic = StringRef(stages.mesh).contains('?');
  if (options.isArtifact || !stages.dynamic.empty() || isSymbolic)
    options.sizes = std::exchange(stages.sizes, "");
  if (!options.isArtifact && !isSymbolic)
    return Error::success();
  options.ranks = std::exchange(options.compile.ranks, std::nullopt);
  // What is said of an axis of open size is what it is bound to.
  std::vector<std::string> bound, compiled;
  for (StringRef entry : split(stages.mesh, ',')) {
    auto [name, size] = entry.trim().split('=');
    bool isOpen = size.consume_back("?");
    if (!size.empty())
      bound.push_back((name + "=" + size).str());
    compiled.push_back(isOpen ? (name + "=?").str() : entry.str());
  }
  options.mesh = join(bound, ",");
  stages.mesh = join(compiled, ",");
  return Error::success();
}

/// What ranks are, and how buffers go from one to another.
static Error readRanks(RunOptions &options) {
  options.transport = *transportNamed(transport);
  options.wire = wireNamed(transport);
  options.deterministic = deterministic;
  // As embedders say it; processes that this one starts say the same.
  if (insecure)
    setenv("SHARDRT_INSECURE", "1", 1);
  if (encrypt)
    setenv("SHARDRT_ENCRYPT", "1", 1);
  options.asksForDirect = transport == "direct";
  options.asksForThreads = transport == "thread" || transport == "direct";
  if (is_contained({"process", "shm", "tcp", "mpi"}, transport.getValue()))
    options.asksForProcesses = transport;
  if (options.restarts > 0 &&
      (options.processes == 0 || !saveEvery.getNumOccurrences()))
    return usage("--restarts goes with --processes, which starts ranks, and "
                 "--save-every, for them to go on from");
  StringRef order = kernelSchedule;
  if (order.consume_front("random=")) {
    options.kernelSchedule = 2;
    (void)order.getAsInteger(10, options.kernelSeed);
  } else {
    options.kernelSchedule = order == "run-ahead" ? 1 : 0;
  }
  return Error::success();
}

/// What goes in, and which files results are compared with and written to.
static Error readData(RunOptions &options) {
  options.inputs.assign(inputs.begin(), inputs.end());
  std::pair<const cl::opt<std::string> *, std::string *> files[] = {
      {&inputsFile, &options.inputsFile},
      {&expect, &options.expectFile},
      {&outputsFile, &options.outputsFile}};
  for (auto [option, target] : files) {
    Expected<std::string> file = fileOf(*option);
    if (!file)
      return file.takeError();
    *target = std::move(*file);
  }
  if (!range.getNumOccurrences())
    return Error::success();
  auto [low, high] = StringRef(range.getValue()).split(',');
  if (low.trim().getAsDouble(options.low) ||
      high.trim().getAsDouble(options.high) || !(options.low <= options.high) ||
      !std::isfinite(options.low) || !std::isfinite(options.high))
    return usage("--range=" + range.getValue() +
                 ": expected two numbers, the lower first, --range=0,1");
  return Error::success();
}

/// What is done with the program: steps, comparisons, reports.
static Error readActions(RunOptions &options) {
  options.check = is_contained(check, "");
  options.checkInterpreter = is_contained(check, "interpreter");
  options.interpret = interpret;
  if (Error error = readStepOptions(options.steps))
    return error;
  if (options.steps.steps && (options.checkInterpreter || options.interpret))
    return usage(
        "the interpreter does one step, not --steps: compare them with "
        "--check");
  options.specializes = specialize;
  if (tunes.getNumOccurrences()) {
    // Checked by checkOptions.
    options.tuneSeconds = 60;
    (void)StringRef(tunes).getAsDouble(options.tuneSeconds);
  }
  options.tuneTimes = tuneTimes;
  options.balances = balance.getNumOccurrences() > 0;
  if (options.balances)
    // Checked by checkOptions.
    (void)StringRef(balance).getAsInteger(10, options.balanceSteps);
  for (const std::string &format : report)
    if (format == "json")
      options.reportJSON = true;
    else
      options.reportFile = format;
  options.traceFile = trace;
  options.fitsMemory = fitMemory;
  return checkOutputs(options);
}

Expected<RunOptions> shardc::readOptions(int argc, char **argv) {
  parseCommandLine(argc, argv, category,
                   "Compiles a model (StableHLO text, MLIR bytecode) or loads "
                   "an artifact, and "
                   "runs it on N ranks,\nthreads of this process or "
                   "processes.\n");
  if (Error error = checkOptions())
    return std::move(error);
  RunOptions options;
  options.command = commandOf({argv + 1, static_cast<size_t>(argc - 1)});
  options.model = model;
  options.isArtifact = isArtifact(model);
  options.trust = &trust;
  options.sandbox = sandbox;
  options.cache = std::make_shared<CompileCache>(
      sandbox ? CompileCache::Options() : cached.read(trust.key));
  for (auto read :
       {readStages, readNumbers, readBinding, readRanks, readData, readActions})
    if (Error error = read(options))
      return std::move(error);
  bool isPiped =
      model == "-" || (sys::fs::exists(model) && !isStoredFile(model));
  if (isPiped && !std::getenv("SHARDRT_COMPILED"))
    if (Error error = readPiped(options))
      return std::move(error);
  return options;
}
