//===- Check.cpp - Sharded against unsharded ------------------------------===//

#include "Check.h"
#include "../Common/Tool.h"
#include "../shard-run/Compare.h"
#include "../shard-run/Session.h"
#include "Faults.h"
#include "Races.h"
#include "Symbols.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Interpreter/Interpreter.h"
#include "shardc/Pipelines/Compile.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <malloc.h>
#include <map>
#include <poll.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace shardc::fuzz {

const char *nameOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Pending:
    return "not run";
  case Verdict::Running:
    return "running";
  case Verdict::Passed:
    return "passed";
  case Verdict::Differs:
    return "differs from one rank";
  case Verdict::Disagrees:
    return "ranks disagree";
  case Verdict::Refused:
    return "refused";
  case Verdict::Failed:
    return "failed on ranks";
  case Verdict::Crashed:
    return "crashed";
  case Verdict::Hung:
    return "hung";
  case Verdict::Misread:
    return "differs from the interpreter";
  case Verdict::Varies:
    return "differs from run to run";
  case Verdict::Races:
    return "races";
  }
  return "";
}

static bool comparesBits = false;

void compareBits() { comparesBits = true; }

static int64_t threadsOfRank = 1, numSteps = 1;
void setThreads(int64_t threads) { threadsOfRank = threads; }
void setSteps(int64_t steps) { numSteps = steps; }
static std::string machineOfRanks;
void setMachine(StringRef machine) { machineOfRanks = machine.str(); }

/// Has `fault` planted, and says in `planted` whether there was a place for it.
/// A program without one is not compiled to its end.
static void plantIn(StageOptions &options, StringRef fault, bool &planted) {
  auto stop = std::make_shared<std::atomic<bool>>(false);
  options.cancelled = stop;
  options.instrument = planterOf(fault, [stop, &planted](bool isPlace) {
    planted |= isPlace;
    *stop = !planted;
  });
}

/// Compiles and loads; an empty optional with `outcome` set on failure.
static std::optional<Session>
load(mlir::MLIRContext &context, StringRef text, bool unsharded, bool optimized,
     StringRef fault, bool *planted, Outcome &outcome, StringRef mesh = {},
     int64_t threads = 0, StringRef dynamic = {}) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
          raw_string_ostream out(messages);
          out << (messages.empty() ? "" : "; ") << diagnostic.getLocation()
              << ": " << diagnostic;
        }
        return mlir::success();
      });
  StageOptions options;
  options.unsharded = unsharded;
  options.reproducible = comparesBits;
  options.quick = !optimized;
  options.mesh = mesh;
  options.threads = threads ? threads : unsharded ? 1 : threadsOfRank;
  // Loops of small programs would not be worth it.
  options.machine = machineOfRanks;
  if (options.threads > 1 && machineOfRanks.empty())
    options.machine = "generic,fork=1ns";
  options.dynamic = dynamic.str();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  mlir::FailureOr<CompiledProgram> compiled = mlir::failure();
  if (module) {
    bool found = false;
    if (!fault.empty())
      plantIn(options, fault, found);
    compiled = compileProgram(*module, options);
    if (planted)
      *planted = found;
  }
  if (planted && !*planted)
    return std::nullopt;
  if (failed(compiled)) {
    outcome = {Verdict::Refused, (unsharded ? "on one rank: " : "") + messages,
               0};
    return std::nullopt;
  }
  Expected<Session> session = Session::load(std::move(*compiled));
  if (!session) {
    outcome = {Verdict::Failed, toString(session.takeError()), 0};
    return std::nullopt;
  }
  return std::move(*session);
}

/// The first element of `got` further than `tolerance` from `expected`; -1 if
/// there is none.
static int64_t firstBeyond(const HostArray &got, const HostArray &expected,
                           double tolerance) {
  ElementType type = got.type;
  for (int64_t i = 0, count = got.numElements(); i < count; ++i) {
    const char *a = got.element(i), *b = expected.element(i);
    if (distance(type, a, b) == 0)
      continue;
    if (!isFloat(type))
      return i;
    double apart = std::fabs(toDouble(type, a) - toDouble(type, b));
    if (!(apart <= tolerance))
      return i;
  }
  return -1;
}

/// Another size for each axis, as --mesh gives it; empty where the program
/// holds sizes of its own.
static std::string otherMesh(const Program &program) {
  auto givesSizes = [](const Sharding &sharding) {
    return any_of(sharding,
                  [](const DimCut &cut) { return !cut.sizes.empty(); });
  };
  auto isGiven = [&](const Argument &value) {
    return value.sharding && givesSizes(*value.sharding);
  };
  if (!program.axisOf.empty() || any_of(program.arguments, isGiven) ||
      any_of(program.results, isGiven) ||
      any_of(program.ops, [&](const Op &op) {
        return op.fixesMesh || givesSizes(op.constraint);
      }))
    return {};
  std::string mesh;
  for (auto [name, size] : zip(program.axisNames, program.axisSizes))
    mesh += (mesh.empty() ? "" : ",") + name + "=" +
            std::to_string(size == 1 ? 3 : size - 1);
  return mesh;
}

/// Arguments for `session`, the same for every way to run a program.
static std::vector<HostArray> inputsOf(const Session &session, uint64_t seed) {
  std::vector<HostArray> inputs;
  for (auto [i, value] : enumerate(session.metadata().arguments))
    inputs.push_back(randomArray(*shardrt::elementTypeNamed(value.elementType),
                                 value.shape, seed, i));
  return inputs;
}

/// Where two runs of a program have not the same bytes; empty: nowhere.
static std::string firstOtherBytes(ArrayRef<HostArray> some,
                                   StringRef nameOfSome,
                                   ArrayRef<HostArray> others,
                                   StringRef nameOfOthers) {
  for (auto [i, pair] : enumerate(zip(some, others))) {
    auto &[mine, theirs] = pair;
    size_t size = shardrt::elementBytes(mine.type);
    for (int64_t k = 0; k < mine.numElements(); ++k)
      if (memcmp(mine.element(k), theirs.element(k), size) != 0)
        return formatv(
            "result {0} at {1}: {2} {3}, {4} {5}", i, printIndex(mine.shape, k),
            printElement(mine.type, mine.element(k)), nameOfSome,
            printElement(theirs.type, theirs.element(k)), nameOfOthers);
  }
  return {};
}

const char *const kNotInterpreted = "not interpreted: ";
const char *const kMadeMistake = "right with the mistake";

static Interpreted interpretedPrograms = Interpreted::All;
void interpretPrograms(Interpreted which) { interpretedPrograms = which; }

/// Is `program` one of those that the interpreter runs as well?
static bool isInterpreted(const Program &program) {
  bool hasManual =
      any_of(program.ops, [](const Op &op) { return op.fixesMesh; });
  return interpretedPrograms == Interpreted::All ||
         (interpretedPrograms == Interpreted::Share &&
          (hasManual || program.seed % 4 == 0));
}

/// Compares `got`, computed `where`, with what the interpreter makes of the
/// text that the ranks were compiled from: equal where there is one right
/// answer. Passes, with kNotInterpreted, what the interpreter does not know.
static Outcome compareWithInterpreter(mlir::MLIRContext &context,
                                      const Program &program,
                                      ArrayRef<HostArray> inputs,
                                      ArrayRef<HostArray> got,
                                      StringRef where) {
  std::string messages;
  bool isDeclared = false; // as what the interpreter does not do
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        isDeclared |= messages.empty() && isUnsupported(diagnostic);
        raw_string_ostream(messages) << diagnostic;
        return mlir::success();
      });
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(program.text(), &context);
  if (!module)
    return {Verdict::Failed, "the interpreter's parser: " + messages, 0};
  auto types = interpreter::argumentTypes(*module);
  if (mlir::failed(types) || types->size() != inputs.size())
    return {Verdict::Passed, kNotInterpreted + messages, 0};
  std::vector<interpreter::Array> arguments;
  for (auto [type, input] : zip_equal(*types, inputs))
    arguments.push_back(interpreter::Array::read(
        *interpreter::Format::of(type.getElementType()), input.shape,
        input.bytes()));
  interpreter::Options options;
  options.maxWork = 20'000'000;
  auto expected = interpreter::interpret(*module, arguments, options);
  if (mlir::failed(expected))
    return {isDeclared ? Verdict::Passed : Verdict::Misread,
            kNotInterpreted + messages, 0};
  for (auto [i, result] : enumerate(program.results)) {
    const HostArray &mine = got[i];
    HostArray theirs{mine.type, mine.shape, expected->results[i].bytes()};
    if (theirs.data.size() != mine.data.size())
      return {Verdict::Misread, formatv("result {0} has another size", i), 0};
    double apart = program.values[result.value].accuracy.apart;
    Tolerance tolerance{0, 4 * apart};
    Comparison compared = compareArrays(mine, theirs, tolerance);
    if (compared.outside == 0)
      continue;
    int64_t at = compared.firstOutside;
    return {Verdict::Misread,
            formatv("result {0} at {1}: {2} {3}, {4} by the interpreter", i,
                    printIndex(mine.shape, at),
                    printElement(mine.type, mine.element(at)), where,
                    printElement(theirs.type, theirs.element(at)))
                .str(),
            tolerance.absolute};
  }
  return {Verdict::Passed, "", 0};
}

/// The same of what one rank has computed, where other ways to compute it are
/// compared with that.
static Outcome compareOneRank(mlir::MLIRContext &context,
                              const Program &program,
                              ArrayRef<HostArray> inputs,
                              ArrayRef<HostArray> got) {
  if (!isInterpreted(program))
    return {Verdict::Passed, "", 0};
  return compareWithInterpreter(context, program, inputs, got, "on one rank");
}

/// The bytes of all results on several meshes against those of one rank.
static Outcome checkBits(mlir::MLIRContext &context, const Program &program,
                         bool optimized) {
  Outcome outcome;
  std::vector<HostArray> inputs;
  // One program: what a manual region holds follows other annotations than what
  // stands for it where it is left out.
  auto bytesOf = [&](bool unsharded, StringRef mesh,
                     int64_t threads) -> std::optional<std::vector<HostArray>> {
    std::optional<Session> session =
        load(context, program.text(), unsharded, optimized, {}, nullptr,
             outcome, mesh, threads);
    if (!session)
      return std::nullopt;
    inputs = inputsOf(*session, program.seed);
    Expected<RunResult> result =
        session->run(inputs, unsharded ? 1 : numSteps, /*timeoutMs=*/20000);
    if (!result) {
      outcome = {Verdict::Failed, toString(result.takeError()), 0};
      return std::nullopt;
    }
    return std::move(result->outputs);
  };
  std::optional<std::vector<HostArray>> expected = bytesOf(true, "", 1);
  if (!expected) {
    StringRef said = outcome.message;
    if (outcome.verdict == Verdict::Refused &&
        said.contains("under --reproducible"))
      return {Verdict::Passed,
              (kRefusedByName + said.split("'").second.split("'").first).str(),
              0};
    return outcome;
  }
  std::string other = otherMesh(program);
  std::tuple<StringRef, int64_t, StringRef> runs[] = {
      {"", 1, "its mesh"},
      {"", 3, "its mesh with 3 threads a rank"},
      {other, 1, "another mesh"}};
  for (auto [mesh, threads, name] :
       ArrayRef(runs).take_front(other.empty() ? 2 : 3)) {
    std::optional<std::vector<HostArray>> got = bytesOf(false, mesh, threads);
    if (!got)
      return outcome;
    std::string where = formatv("on {0} {1}", name, mesh);
    if (std::string found =
            firstOtherBytes(*got, where, *expected, "on one rank");
        !found.empty())
      return {Verdict::Differs, found, 0};
  }
  return compareOneRank(context, program, inputs, *expected);
}

static int64_t numSchedules = 0;
void varySchedules(int64_t times) { numSchedules = times; }

/// The bytes of `first`, a run of `session`, against those of runs whose ranks
/// synchronise at other times and whose memory holds other bytes when they get
/// it.
static Outcome checkSchedules(Session &session, ArrayRef<HostArray> inputs,
                              ArrayRef<HostArray> first, uint64_t seed) {
  Outcome outcome{Verdict::Passed, "", 0};
  for (int64_t k = 1; k <= numSchedules; ++k) {
    // Not from fresh pages, which are zero.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_PERTURB, static_cast<int>(1 + (seed + k * 37) % 255));
    session.setYieldSeed(seed * 1000 + k);
    Expected<RunResult> again =
        session.run(inputs, numSteps, /*timeoutMs=*/20000);
    mallopt(M_PERTURB, 0);
    if (!again) {
      outcome = {Verdict::Failed,
                 "on schedule " + std::to_string(k) + ": " +
                     toString(again.takeError()),
                 0};
      break;
    }
    std::string name = "on schedule " + std::to_string(k);
    if (std::string found =
            firstOtherBytes(again->outputs, name, first, "at first");
        !found.empty()) {
      outcome = {Verdict::Varies, found, 0};
      break;
    }
  }
  session.setYieldSeed(0);
  return outcome;
}

static bool verifiesPartitions = false;
void verifyPartitions() { verifiesPartitions = true; }

/// Compiles `program` to its local view, with `fault` if there is one, and
/// compares that with its text.
static Outcome verify(mlir::MLIRContext &context, const Program &program,
                      StringRef fault) {
  std::string errors, remarks;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        bool isError =
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        std::string &text = isError ? errors : remarks;
        raw_string_ostream(text) << (text.empty() ? "" : "; ") << diagnostic;
        return mlir::success();
      });
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(program.text(), &context);
  if (!module)
    return {Verdict::Refused, errors, 0};
  bool isPlanted = false;
  StageOptions options;
  if (!fault.empty())
    plantIn(options, fault, isPlanted);
  mlir::OwningOpRef<mlir::ModuleOp> local = module->clone();
  if (failed(compileToLocal(*local, options)))
    return fault.empty() || isPlanted ? Outcome{Verdict::Refused, errors, 0}
                                      : Outcome{Verdict::Passed, "", 0};
  interpreter::Options limits;
  limits.maxWork = kVerifiedWork;
  auto verified =
      interpreter::verifyLocal(*module, *local, limits, program.seed);
  if (mlir::failed(verified))
    return {Verdict::Misread, errors, 0};
  if (*verified == interpreter::Verification::NotKnown)
    return {Verdict::Passed, kNotInterpreted + remarks, 0};
  return {Verdict::Passed, isPlanted ? kMadeMistake : "", 0};
}

/// Compares what ranks have computed with one rank's; passed where they agree.
static Outcome compareWithWhole(const Program &program, const RunResult &got,
                                const RunResult &expected) {
  for (auto [i, result] : enumerate(program.results)) {
    const HostArray &mine = got.outputs[i], &theirs = expected.outputs[i];
    const Accuracy &accuracy = program.values[result.value].accuracy;
    // What is not a number compares equal to itself and would hide all else.
    // (The largest of no elements is infinite.)
    if (isFloat(theirs.type) && !program.mayBeEmpty)
      for (int64_t k = 0; k < theirs.numElements(); ++k)
        if (!std::isfinite(toDouble(theirs.type, theirs.element(k))))
          return {
              Verdict::Failed,
              formatv(
                  "result {0} is {1} at {2} on one rank: the generator's fault",
                  i, printElement(theirs.type, theirs.element(k)),
                  printIndex(theirs.shape, k))
                  .str(),
              0};
    double tolerance = accuracy.error > 0 ? 4 * accuracy.error : 0;
    if (int64_t at = firstBeyond(mine, theirs, tolerance); at >= 0)
      return {Verdict::Differs,
              formatv("result {0} at {1}: {2} on {3} ranks, {4} on one; "
                      "tolerance {5:e}",
                      i, printIndex(mine.shape, at),
                      printElement(mine.type, mine.element(at)),
                      program.numRanks(),
                      printElement(theirs.type, theirs.element(at)), tolerance)
                  .str(),
              tolerance};
  }
  if (got.disagreeingOutput >= 0)
    return {Verdict::Disagrees,
            formatv("result {0}: rank {1} holds other bits than a rank with "
                    "the same shard",
                    got.disagreeingOutput, got.disagreeingRank)
                .str(),
            0};
  return {Verdict::Passed, "", 0};
}

static int64_t timesBound = 0;
void bindSizes(int64_t times) { timesBound = times; }

/// Sizes of all dims that `session` leaves open, as --sizes gives them: about
/// every third has an empty shard, and dims of one extent and one number of
/// shards are cut alike as often as not.
static std::string randomSizes(const Session &session, std::mt19937_64 &draw) {
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(draw);
  };
  std::map<std::pair<int64_t, int64_t>, std::string> alike;
  bool areAlike = pick(0, 1);
  std::string text;
  for (auto [number, argument] : enumerate(session.metadata().arguments))
    for (auto [d, dim] : enumerate(argument.dims)) {
      if (!dim.dynamic || dim.boundaries.numShards() < 2)
        continue;
      int64_t extent = argument.shape[d], shards = dim.boundaries.numShards();
      std::vector<int64_t> bounds = {0, extent};
      for (int64_t i = 1; i < shards; ++i)
        bounds.push_back(pick(0, 3) ? pick(0, extent) : bounds.back());
      sort(bounds);
      std::string sizes;
      for (int64_t i = 0; i < shards; ++i)
        sizes += (i ? "," : "") + std::to_string(bounds[i + 1] - bounds[i]);
      std::string &known = alike[{extent, shards}];
      if (known.empty() || !areAlike)
        known = sizes;
      text += (text.empty() ? "" : ";") + std::to_string(number) + ":" +
              std::to_string(d) + "=" + known;
    }
  return text;
}

/// The op that `why`, a refusal, is about, or what it says.
static std::string nameOfRefused(StringRef why) {
  return (why.starts_with("'") ? why.drop_front().split("'").first
                               : why.split(",").first)
      .str();
}

/// What became of a program that could not be left open: one that is refused by
/// name passes.
static Outcome passedIfNamed(Outcome outcome) {
  StringRef why = StringRef(outcome.message).split("unsupported: ").second;
  if (outcome.verdict == Verdict::Refused && !why.empty())
    return {Verdict::Passed, (kRefusedByName + nameOfRefused(why)).str(), 0};
  return outcome;
}

/// One compilation, bound to sizes again and again, against one rank.
static Outcome checkBindings(mlir::MLIRContext &context, const Program &program,
                             bool optimized) {
  Outcome outcome;
  std::optional<Session> open = load(context, program.text(), false, optimized,
                                     {}, nullptr, outcome, {}, 0, "all");
  if (!open)
    return passedIfNamed(std::move(outcome));
  std::optional<Session> whole =
      load(context, program.text(/*unsharded=*/true), /*unsharded=*/true,
           optimized, {}, nullptr, outcome);
  if (!whole)
    return outcome;
  std::vector<HostArray> inputs = inputsOf(*whole, program.seed);
  Expected<RunResult> expected =
      whole->run(inputs, /*steps=*/1, /*timeoutMs=*/20000);
  if (!expected)
    return {Verdict::Failed, "on one rank: " + toString(expected.takeError()),
            0};
  std::mt19937_64 draw(program.seed);
  for (int64_t i = 0; i < timesBound; ++i) {
    std::string sizes = randomSizes(*open, draw);
    if (sizes.empty())
      break;
    auto blame = [&](Outcome found) {
      found.message = "--sizes='" + sizes + "': " + found.message;
      return found;
    };
    if (Error error = open->bind("the program", sizes))
      return blame({Verdict::Failed, toString(std::move(error)), 0});
    Expected<RunResult> got = open->run(inputs, numSteps, /*timeoutMs=*/20000);
    if (!got)
      return blame({Verdict::Failed, toString(got.takeError()), 0});
    outcome = compareWithWhole(program, *got, *expected);
    if (outcome.verdict != Verdict::Passed)
      return blame(outcome);
  }
  return compareOneRank(context, program, inputs, expected->outputs);
}

static bool bindsSymbols = false;
void bindSymbols() { bindsSymbols = true; }

/// One compilation for all extents, bound to some again and again, against the
/// program for each of them on one rank.
static Outcome checkSymbol(mlir::MLIRContext &context, const Program &program,
                           const SymbolicProgram &symbolic, bool optimized) {
  Outcome outcome;
  std::optional<Session> open = load(context, symbolic.text(), false, optimized,
                                     {}, nullptr, outcome, {}, 0, "all");
  if (!open)
    return passedIfNamed(std::move(outcome));
  std::mt19937_64 draw(program.seed);
  for (int64_t i = 0; i < timesBound; ++i) {
    // No larger than what the analysis of accuracy is about.
    int64_t extent =
        std::uniform_int_distribution<int64_t>(1, symbolic.extent())(draw);
    std::optional<Program> known = symbolic.at(extent);
    if (!known)
      continue;
    std::string shapes;
    for (auto [number, argument] : enumerate(known->arguments)) {
      const Type &type = known->values[argument.value].type;
      if (type.rank() > 0)
        shapes +=
            (shapes.empty() ? "" : ";") + std::to_string(number) + "=" +
            join(map_range(type.shape,
                           [](int64_t size) { return std::to_string(size); }),
                 "x");
    }
    std::string sizes;
    auto blame = [&](Outcome found) {
      found.message =
          "--shapes='" + shapes + "' --sizes='" + sizes + "': " + found.message;
      return found;
    };
    // Balanced, then as they are drawn.
    if (Error error = open->bind("the program", "", shapes))
      return blame({Verdict::Failed, toString(std::move(error)), 0});
    sizes = randomSizes(*open, draw);
    if (Error error = open->bind("the program", sizes, shapes))
      return blame({Verdict::Failed, toString(std::move(error)), 0});
    std::optional<Session> whole =
        load(context, known->text(/*unsharded=*/true), /*unsharded=*/true,
             optimized, {}, nullptr, outcome);
    if (!whole)
      return blame(outcome);
    std::vector<HostArray> inputs = inputsOf(*whole, program.seed);
    Expected<RunResult> expected =
        whole->run(inputs, /*steps=*/1, /*timeoutMs=*/20000);
    if (!expected)
      return blame({Verdict::Failed,
                    "on one rank: " + toString(expected.takeError()), 0});
    Expected<RunResult> got = open->run(inputs, numSteps, /*timeoutMs=*/20000);
    if (!got)
      return blame({Verdict::Failed, toString(got.takeError()), 0});
    for (auto [i, result] : enumerate(known->results))
      if (!equal(got->outputs[i].shape, known->values[result.value].type.shape))
        return blame({Verdict::Failed,
                      formatv("result {0} has another shape", i).str(), 0});
    outcome = compareWithWhole(*known, *got, *expected);
    if (outcome.verdict == Verdict::Passed)
      outcome = compareOneRank(context, *known, inputs, expected->outputs);
    if (outcome.verdict != Verdict::Passed)
      return blame(outcome);
  }
  return {Verdict::Passed, kWithSymbol.str(), 0};
}

static Outcome checkResults(mlir::MLIRContext &context, const Program &program,
                            bool optimized, StringRef fault, bool *planted) {
  if (timesBound > 0 && bindsSymbols)
    if (std::optional<SymbolicProgram> symbolic = SymbolicProgram::of(program))
      return checkSymbol(context, program, *symbolic, optimized);
  if (timesBound > 0)
    return checkBindings(context, program, optimized);
  if (comparesBits)
    return checkBits(context, program, optimized);
  if (verifiesPartitions)
    return verify(context, program, fault);
  Outcome outcome;
  std::optional<Session> sharded =
      load(context, program.text(), /*unsharded=*/false, optimized, fault,
           planted, outcome);
  if (planted && !*planted && outcome.verdict == Verdict::Pending)
    return {Verdict::Passed, "no place for the fault", 0};
  if (!sharded)
    return outcome;
  std::optional<Session> whole =
      load(context, program.text(/*unsharded=*/true), /*unsharded=*/true,
           optimized, {}, nullptr, outcome);
  if (!whole)
    return outcome;
  std::vector<HostArray> inputs = inputsOf(*whole, program.seed);
  Expected<RunResult> expected =
      whole->run(inputs, /*steps=*/1, /*timeoutMs=*/20000);
  if (!expected)
    return {Verdict::Failed, "on one rank: " + toString(expected.takeError()),
            0};
  Expected<RunResult> got = sharded->run(inputs, numSteps, /*timeoutMs=*/20000);
  if (!got)
    return {Verdict::Failed, toString(got.takeError()), 0};

  outcome = compareWithWhole(program, *got, *expected);
  if (outcome.verdict == Verdict::Passed)
    outcome = checkSchedules(*sharded, inputs, got->outputs, program.seed);
  if (outcome.verdict != Verdict::Passed)
    return outcome;
  if (isInterpreted(program))
    return compareWithInterpreter(
        context, program, inputs, got->outputs,
        formatv("on {0} ranks", program.numRanks()).str());
  return {Verdict::Passed, "", 0};
}

Outcome check(mlir::MLIRContext &context, const Program &program,
              bool optimized, StringRef fault, bool *planted) {
  int64_t before = racesReported();
  Outcome outcome = checkResults(context, program, optimized, fault, planted);
  // Right results, too, are an accident then.
  if (racesReported() != before)
    return {Verdict::Races, lastRace(), 0};
  return outcome;
}

Outcome checkInChild(const Program &program, int seconds, bool optimized,
                     StringRef fault) {
  int ends[2];
  if (pipe(ends) != 0)
    return {Verdict::Pending, "no pipe", 0};
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    auto context = createCompilerContext();
    context->disableMultithreading();
    bool planted = false;
    Outcome outcome = check(*context, program, optimized, fault,
                            fault.empty() ? nullptr : &planted);
    std::string line =
        formatv("\n@{0} {1} {2}", static_cast<int>(outcome.verdict),
                outcome.tolerance, outcome.message);
    (void)!write(ends[1], line.data(), line.size());
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  pollfd wait{ends[0], POLLIN, 0};
  bool hung = false;
  while (true) {
    if (poll(&wait, 1, seconds * 1000) == 0) {
      kill(child, SIGKILL);
      hung = true;
      break;
    }
    ssize_t count = read(ends[0], buffer, sizeof(buffer));
    if (count <= 0)
      break;
    said.append(buffer, count);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (hung)
    return {Verdict::Hung, formatv("no end within {0} s", seconds).str(), 0};
  StringRef line = StringRef(said).rsplit("\n@").second;
  auto [code, rest] = line.split(' ');
  auto [tolerance, message] = rest.split(' ');
  int verdict;
  Outcome outcome;
  if (!WIFEXITED(status) || code.getAsInteger(10, verdict))
    return {Verdict::Crashed, StringRef(said).take_front(600).str(), 0};
  outcome.verdict = static_cast<Verdict>(verdict);
  outcome.message = message.str();
  (void)tolerance.getAsDouble(outcome.tolerance);
  return outcome;
}

} // namespace shardc::fuzz
