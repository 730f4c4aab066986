//===- shard-fuzz.cpp - Random programs, sharded and not ------------------===//
//
// Generates programs, runs each on the ranks of its mesh and on one, and
// compares. A program that fails is made smaller and written as a lit test.
// docs/Developer/Testing.md says when to run it.
//
//===----------------------------------------------------------------------===//

#include "../Common/Start.h"
#include "../Common/Tool.h"
#include "Faults.h"
#include "Generator.h"
#include "Rewrites.h"
#include "Shrink.h"
#include "Symbols.h"
#include "Workers.h"
#include "shardc/Translation/ThreadChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>
#include <map>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace shardc;
using namespace shardc::fuzz;

static cl::OptionCategory category("shard-fuzz");
static NumberOption countOption("count", cl::desc("Programs to run"),
                                cl::init("300"), cl::value_desc("N"),
                                cl::cat(category));
static NumberOption seedOption("seed", cl::desc("Which sequence of programs"),
                               cl::init("1"), cl::value_desc("N"),
                               cl::cat(category));
static NumberOption firstOption("first",
                                cl::desc("Number of the first program"),
                                cl::init("0"), cl::value_desc("N"),
                                cl::cat(category));
static NumberOption jobsOption("jobs",
                               cl::desc("Processes (default: one a core)"),
                               cl::value_desc("N"), cl::cat(category));
static NumberOption
    shrinkOption("shrink",
                 cl::desc("Attempts to make each failing program smaller"),
                 cl::init("150"), cl::value_desc("N"), cl::cat(category));
static NumberOption timeoutOption("timeout",
                                  cl::desc("Seconds that one program may take"),
                                  cl::init("60"), cl::value_desc("N"),
                                  cl::cat(category));
static cl::opt<std::string>
    saveOption("save", cl::desc("Directory for failing programs, as lit tests"),
               cl::init("fuzz-failures"), cl::value_desc("DIR"),
               cl::cat(category));
static cl::opt<bool>
    quickOption("quick",
                cl::desc("Without LLVM's optimisations, in half the time"),
                cl::cat(category));
static cl::opt<bool> reproducibleOption(
    "reproducible",
    cl::desc("Compile with --reproducible and compare bytes: on the program's "
             "mesh, on another and with more threads"),
    cl::cat(category));
static NumberOption dynamicOption(
    "dynamic",
    cl::desc("Compile with --dynamic=all, and bind each program so often to "
             "random sizes, empty shards among them"),
    cl::value_desc("N"), cl::cat(category));
static cl::opt<bool> symbolsOption(
    "symbols",
    cl::desc("With --dynamic: leave an extent open too, of each program that "
             "has one which can be a symbol"),
    cl::cat(category));
static cl::opt<bool>
    emptyOption("empty",
                cl::desc("Take the elements of one or two dims of arguments "
                         "from each program, and what follows from them"),
                cl::cat(category));
static cl::opt<bool>
    largeOption("large",
                cl::desc("Arrays of some hundred elements a dim, so that "
                         "kernels work in vectors, tiles and blocks"),
                cl::cat(category));
static NumberOption opsOption("ops",
                              cl::desc("Most ops of a program (default 15). "
                                       "Kernels of long programs are shared"),
                              cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string>
    machineOption("machine",
                  cl::desc("The machine to compile for, as of shard-run"),
                  cl::value_desc("NAME,..."), cl::cat(category));
static NumberOption schedulesOption(
    "schedules",
    cl::desc("Run each program so often more, with ranks that wait for one "
             "another at random places and memory that holds other bytes, and "
             "compare bytes"),
    cl::value_desc("N"), cl::cat(category));
static TakeOptionName takeThreads{"threads"};
static NumberOption
    threadsOption("threads",
                  cl::desc("Threads of each rank, which share loops however "
                           "small they are (default 1)"),
                  cl::value_desc("N"), cl::cat(category));
static NumberOption
    stepsOption("steps", cl::desc("Steps of each run on ranks (default 1)"),
                cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string> raceOption(
    "race",
    cl::desc("Leave out what keeps ranks or threads apart, and see "
             "whether ThreadSanitizer reports a race; 'all': a table; 'list'. "
             "Of the tool that ./run test races builds"),
    cl::value_desc("NAME"), cl::cat(category));
static cl::opt<bool> verifyOption(
    "verify-partition",
    cl::desc("Compare the local view of each program with its text, by the "
             "interpreter, and run none"),
    cl::cat(category));
static cl::opt<std::string> rewriteOption(
    "rewrite",
    cl::desc("Plant this mistake, and see whether the verification of "
             "partitions refuses it; 'all': a table; 'list'"),
    cl::value_desc("NAME"), cl::cat(category));
static cl::opt<Interpreted> interpreterOption(
    "interpreter", cl::desc("Which programs the interpreter runs as well:"),
    cl::init(Interpreted::All),
    cl::values(clEnumValN(Interpreted::None, "none", "none"),
               clEnumValN(Interpreted::Share, "share",
                          "those with manual regions, and every fourth"),
               clEnumValN(Interpreted::All, "all", "all")),
    cl::cat(category));
static cl::list<std::string>
    kindsOption("kinds", cl::CommaSeparated,
                cl::desc("Draw three of four ops of these kinds; 'list' prints "
                         "them"),
                cl::value_desc("NAME,..."), cl::cat(category));
static cl::opt<bool> printOption("print",
                                 cl::desc("Print the programs, run none"),
                                 cl::cat(category));
static cl::opt<std::string>
    faultOption("fault",
                cl::desc("Plant this mistake in every program; 'all': a table "
                         "of how many programs it takes to find each; 'list'"),
                cl::value_desc("NAME"), cl::cat(category));

/// The program as it is compiled.
static std::string textOf(const Program &program) {
  if (symbolsOption)
    if (std::optional<SymbolicProgram> symbolic = SymbolicProgram::of(program))
      return symbolic->text();
  return program.text();
}

/// How shard-run binds a program as the check did that gave `outcome`.
static std::string boundBy(const Outcome &outcome) {
  StringRef sizes = outcome.message;
  std::string options = " --dynamic=all";
  if (sizes.consume_front("--shapes='")) {
    for (StringRef entry : split(sizes.split('\'').first, ';'))
      options += (" --shapes=" + entry).str();
    sizes = sizes.split("' ").second;
  }
  if (sizes.consume_front("--sizes='"))
    for (StringRef entry : split(sizes.split('\'').first, ';'))
      options += (" --sizes=" + entry).str();
  return options;
}

/// A lit test of `program`, which fails as `outcome` says.
static std::string litTest(const Program &program, const Outcome &outcome,
                           uint64_t seed, int64_t index) {
  std::string text =
      formatv("// RUN: shard-run %s --seed={0} --check{6} --rtol=0 "
              "--atol={1:e}{2}{7}\n// Program {3} of seed {4} {5}:\n",
              program.seed, outcome.tolerance,
              reproducibleOption ? " --reproducible" : "", index, seed,
              nameOf(outcome.verdict),
              outcome.verdict == Verdict::Misread ? "=interpreter" : "",
              dynamicOption.empty() ? std::string() : boundBy(outcome));
  SmallVector<StringRef> lines;
  StringRef(outcome.message).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : ArrayRef(lines).take_front(6))
    text += ("// " + line.take_front(200) + "\n").str();
  return text + textOf(program);
}

static int processes() {
  std::optional<int64_t> jobs;
  consumeError(readNumber(jobsOption, 1, 256, jobs));
  return jobs.value_or(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// Prints `names` where `asked`, of --`option`, is 'list', and says so; an
/// error where it is neither one of them nor 'all'.
static Expected<bool> listNames(StringRef option, StringRef what,
                                StringRef asked, const auto &names) {
  if (asked == "list") {
    for (StringRef name : names)
      outs() << name << "\n";
    return true;
  }
  if (asked.empty() || asked == "all" || is_contained(names, asked))
    return false;
  return toolError(ExitCode::Usage, "--" + option + "=" + asked + ": no such " +
                                        what + "; --" + option +
                                        "=list prints them");
}

/// The table of planted faults: each must be found within `count` programs.
static Error runFaults(uint64_t seed, int64_t count, int timeout) {
  int64_t missed = 0;
  std::vector<std::string> names = faultNames();
  for (const std::string &name : names) {
    // The number of the first program that shows it, run in steps that grow.
    int64_t found = -1, planted = 0;
    favourKinds(kindsOf(name));
    for (int64_t first = 0, step = 16; first < count && found < 0;
         first += step, step = std::min<int64_t>(2 * step, 128)) {
      Job job{seed,        first,   std::min(step, count - first),
              processes(), timeout, !quickOption,
              name,        true};
      std::vector<Outcome> outcomes = runPrograms(job, [](int64_t) {});
      for (auto [i, outcome] : enumerate(outcomes)) {
        planted += outcome.verdict != Verdict::Pending &&
                   outcome.message != "no place for the fault";
        bool fails = outcome.verdict != Verdict::Passed &&
                     outcome.verdict != Verdict::Pending &&
                     outcome.verdict != Verdict::Running;
        // A program that fails by itself says nothing about the fault.
        if (found < 0 && fails &&
            checkInChild(makeProgram(seed, first + i), timeout).verdict ==
                Verdict::Passed) {
          found = first + i;
          outs() << formatv("{0,-44} found by program {1,4}: {2}\n", name,
                            found + 1, nameOf(outcome.verdict));
        }
      }
    }
    if (found < 0) {
      ++missed;
      outs() << formatv("{0,-44} NOT found by {1} programs, of which {2} had a "
                        "place for it\n",
                        name, count, planted);
    }
    outs().flush();
  }
  outs() << formatv("{0} faults found, {1} not found\n", names.size() - missed,
                    missed);
  return missed ? toolError(ExitCode::Differs, "") : Error::success();
}

namespace {
/// Options that are numbers.
struct Numbers {
  std::optional<int64_t> count = 300, seed = 1, first = 0, attempts = 150,
                         timeout = 60, bindings = 0, schedules = 0, threads = 1,
                         steps = 1, ops = 15, jobs;

  Error read() {
    for (auto [option, least, value] :
         {std::tuple(&countOption, 1, &count),
          std::tuple(&seedOption, 0, &seed),
          std::tuple(&firstOption, 0, &first),
          std::tuple(&shrinkOption, 0, &attempts),
          std::tuple(&timeoutOption, 1, &timeout),
          std::tuple(&dynamicOption, 1, &bindings),
          std::tuple(&schedulesOption, 1, &schedules),
          std::tuple(&threadsOption, 1, &threads),
          std::tuple(&stepsOption, 1, &steps), std::tuple(&opsOption, 3, &ops),
          std::tuple(&jobsOption, 1, &jobs)})
      if (Error error = readNumber(*option, least, 1000000000, *value))
        return error;
    return Error::success();
  }
};
} // namespace

/// What options say together that none says alone.
static Error checkOptions(const Numbers &n) {
  for (const std::string &name : kindsOption)
    if (none_of(allKinds(),
                [&](const Kind &kind) { return kind.name == name; }))
      return toolError(ExitCode::Usage, "--kinds=" + name +
                                            ": no such kind; --kinds=list "
                                            "prints them");
  if (*n.bindings &&
      (reproducibleOption || verifyOption || !faultOption.empty()))
    return toolError(ExitCode::Usage,
                     "--dynamic runs programs in a way of its own: not with "
                     "--reproducible, --verify-partition or --fault");
  if (symbolsOption && !*n.bindings)
    return toolError(ExitCode::Usage,
                     "--symbols needs to know how often each program is bound: "
                     "--dynamic=N");
  if (*n.schedules && (*n.bindings || reproducibleOption || verifyOption))
    return toolError(ExitCode::Usage,
                     "--schedules runs programs of known sizes: not with "
                     "--dynamic, --reproducible or --verify-partition");
  if (reproducibleOption && !faultOption.empty())
    return toolError(ExitCode::Usage,
                     "--reproducible and --fault contradict each other: a "
                     "fault is found by how far results are apart");
  return Error::success();
}

/// Says how programs are made and looked at.
static void setUp(const Numbers &n) {
  interpretPrograms(interpreterOption);
  if (verifyOption)
    verifyPartitions();
  varySchedules(*n.schedules);
  setThreads(*n.threads);
  setSteps(*n.steps);
  bindSizes(*n.bindings);
  if (symbolsOption)
    bindSymbols();
  favourKinds({kindsOption.begin(), kindsOption.end()});
  if (largeOption)
    largeArrays();
  drawOps(*n.ops);
  setMachine(machineOption);
  if (emptyOption)
    emptyPrograms();
  if (reproducibleOption)
    compareBits();
}

/// Prints the names of planted mistakes, where an option asks for a list.
static Expected<bool> listPlanted() {
  Expected<bool> listed =
      listNames("fault", "fault", faultOption, faultNames());
  if (listed && !*listed)
    listed =
        listNames("rewrite", "mistake", rewriteOption, interpretedFaultNames());
  if (listed && !*listed)
    listed = listNames("race", "mistake", raceOption, raceNames());
  return listed;
}

/// Makes `program`, number `number`, which failed, smaller, and keeps it as a
/// test.
static Error save(const Program &program, Outcome outcome, const Numbers &n,
                  int64_t number) {
  Program smallest =
      *n.attempts ? shrink(program, outcome, *n.attempts, *n.timeout) : program;
  std::string path =
      (saveOption + formatv("/fuzz-{0}-{1}.mlir", *n.seed, number)).str();
  std::error_code failed = sys::fs::create_directories(saveOption);
  raw_fd_ostream out(path, failed);
  if (failed)
    return toolError(ExitCode::IO, path + ": " + failed.message());
  out << litTest(smallest, outcome, *n.seed, number);
  errs() << "  made smaller: " << path << "\n";
  return Error::success();
}

namespace {
/// What is printed of all programs.
struct Tally {
  std::set<std::string> kinds;
  int64_t failures = 0, uneven = 0, ops = 0, refused = 0, unknown = 0,
          symbols = 0;
  std::map<std::string, int64_t> refusedOps, unknownReasons;

  void add(const Program &program, const Outcome &outcome);
  void print(int64_t count, std::time_t seconds) const;
};
} // namespace

void Tally::add(const Program &program, const Outcome &outcome) {
  for (const Op &op : program.ops)
    kinds.insert(op.kind);
  uneven += program.isUneven();
  ops += program.ops.size();
  symbols += outcome.message == kWithSymbol;
  if (StringRef name = outcome.message; name.consume_front(kRefusedByName)) {
    ++refused;
    ++refusedOps[name.str()];
  }
  if (StringRef reason = outcome.message;
      reason.consume_front(kNotInterpreted)) {
    ++unknown;
    ++unknownReasons[reason.str()];
  }
  failures += outcome.verdict != Verdict::Passed;
}

void Tally::print(int64_t count, std::time_t seconds) const {
  outs() << formatv("{0} programs of {1} ops on average, {2} kinds of op, {3}% "
                    "with shards of different sizes, {4} s\n",
                    count, ops / count, kinds.size(), 100 * uneven / count,
                    seconds);
  if (unknown)
    outs() << unknown << " passed that the interpreter does not know\n";
  for (auto &[reason, times] : unknownReasons)
    outs() << formatv("{0,5}: {1}\n", times, reason);
  if (symbolsOption)
    outs() << symbols << " with an extent that is a symbol\n";
  for (auto &[name, times] : refusedOps)
    outs() << formatv("refused for {0}: {1}\n", name, times);
  if (reproducibleOption)
    outs() << formatv("{0} the same bytes on every mesh, {1} refused by name, "
                      "{2} failed\n",
                      count - failures - refused, refused, failures);
  else
    outs() << formatv("{0} passed, {1} failed\n", count - failures, failures);
}

/// Runs programs, and says of each that fails how, and of all how many.
static Error runAll(const Numbers &n) {
  std::time_t begin = std::time(nullptr), said = begin;
  Job job{
      static_cast<uint64_t>(*n.seed), *n.first,     *n.count,    processes(),
      static_cast<int>(*n.timeout),   !quickOption, faultOption, false};
  std::vector<Outcome> outcomes = runPrograms(job, [&](int64_t done) {
    if (std::time(nullptr) >= said + 20) {
      said = std::time(nullptr);
      errs() << done << " of " << *n.count << " programs\n";
    }
  });
  if (outcomes.empty())
    return toolError(ExitCode::Memory, "no shared memory");

  Tally tally;
  for (auto [i, outcome] : enumerate(outcomes)) {
    int64_t number = *n.first + i;
    Program program = makeProgram(*n.seed, number);
    tally.add(program, outcome);
    if (outcome.verdict == Verdict::Passed)
      continue;
    errs() << formatv("program {0} of seed {1} ({2} ranks) {3}: {4}\n", number,
                      *n.seed, program.numRanks(), nameOf(outcome.verdict),
                      StringRef(outcome.message).take_front(300));
    // Faults and further failures are shown as they are.
    if (faultOption.empty() && tally.failures <= 25)
      if (Error error = save(program, outcome, n, number))
        return error;
  }
  tally.print(*n.count, std::time(nullptr) - begin);
  return tally.failures ? toolError(ExitCode::Differs, "") : Error::success();
}

static Error runTool(int argc, char **argv) {
  parseCommandLine(argc, argv, category,
                   "random programs, on ranks and on one\n");
  Numbers n;
  if (Error error = n.read())
    return error;
  if (is_contained(kindsOption, "list")) {
    for (const Kind &kind : allKinds())
      outs() << kind.name << "\n";
    return Error::success();
  }
  if (Error error = checkOptions(n))
    return error;
  setUp(n);
  if (printOption) {
    for (int64_t i = 0; i < *n.count; ++i)
      outs() << (i ? "// -----\n" : "") << "// program " << *n.first + i
             << " of seed " << *n.seed << "\n"
             << textOf(makeProgram(*n.seed, *n.first + i));
    return Error::success();
  }
  Expected<bool> listed = listPlanted();
  if (!listed)
    return listed.takeError();
  if (*listed)
    return Error::success();
  if (faultOption == "all")
    return runFaults(*n.seed, *n.count, *n.timeout);
  if (!rewriteOption.empty())
    return runRewrites(rewriteOption, *n.seed, *n.count, processes(),
                       *n.timeout);
  if (!raceOption.empty() && !checksThreads())
    return toolError(ExitCode::Usage,
                     "--race: this tool is built without ThreadSanitizer; "
                     "build shard-fuzz-tsan");
  if (!raceOption.empty())
    return runRaces(raceOption, *n.seed, *n.count, processes(), *n.timeout,
                    !quickOption);
  return runAll(n);
}

int main(int argc, char **argv) {
  ToolStart start("shard-fuzz", argc, argv);
  return start.end(runTool(argc, argv));
}
