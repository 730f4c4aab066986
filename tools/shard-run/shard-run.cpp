//===- shard-run.cpp - Run a sharded program on N ranks -------------------===//
//
// Compile or load, make inputs, run, compare, write. Results go to stdout and
// files, everything else to stderr. docs/Reference/shard-run.md is the manual.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Compare.h"
#include "Inputs.h"
#include "Options.h"
#include "Report.h"
#include "Session.h"
#include "Trace.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;
using namespace shardc;

/// Compiles the model or loads the artifact, and checks that its mesh is the
/// one that was asked for.
static Expected<Session> openProgram(const RunOptions &options) {
  if (!options.isArtifact) {
    Expected<CompiledProgram> compiled =
        compileModel(options.model, options.compile);
    if (!compiled)
      return compiled.takeError();
    return Session::load(std::move(*compiled));
  }
  Expected<Session> session = Session::loadArtifact(options.model);
  if (!session)
    return session.takeError();
  const ProgramMetadata &program = session->metadata();
  auto refuse = [&](const Twine &asked) {
    return toolError(ExitCode::Usage,
                     options.model + ": was compiled for the mesh " +
                         printMesh(program.mesh) + ", but " + asked +
                         "; compile it again with shard-translate --mesh");
  };
  if (options.compile.ranks && *options.compile.ranks != program.numRanks())
    return refuse("--ranks gives " + Twine(*options.compile.ranks));
  for (StringRef axis : split(options.compile.stages.mesh, ',')) {
    if (axis.empty())
      continue;
    auto [name, size] = axis.split('=');
    bool found = any_of(program.mesh, [&](const MeshAxis &known) {
      return known.name == name.trim() &&
             std::to_string(known.size) == size.trim();
    });
    if (!found)
      return refuse("--mesh gives " + axis);
  }
  return session;
}

/// Refuses a program whose inputs and outputs would not fit in memory: whole
/// arrays here, and every rank's shards.
static Error checkMemory(const ProgramMetadata &program,
                         const RunOptions &options) {
  uint64_t limit = options.memoryLimit;
  if (limit == 0)
    limit = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
            sys::Process::getPageSizeEstimate();
  // Every rank has an arena for what it computes in between.
  uint64_t needed =
      SaturatingMultiply<uint64_t>(program.arenaBytes, program.numRanks());
  for (const std::vector<ValueMetadata> *list :
       {&program.arguments, &program.results})
    for (const ValueMetadata &value : *list) {
      uint64_t whole = SaturatingMultiply<uint64_t>(
          countElements(value.shape),
          shardrt::elementBytes(*shardrt::elementTypeNamed(value.elementType)));
      needed = SaturatingAdd(needed, whole);
      needed = SaturatingAdd<uint64_t>(
          needed,
          bytesOfShards(value, program.meshShape(), program.numRanks()));
    }
  if (needed <= limit)
    return Error::success();
  return toolError(ExitCode::Memory,
                   "inputs, outputs and temporaries need " + Twine(needed) +
                       " bytes on " + Twine(program.numRanks()) +
                       " ranks, the limit is " + Twine(limit));
}

static Verdict compareAll(StringRef with, ArrayRef<HostArray> got,
                          ArrayRef<HostArray> expected,
                          const RunOptions &options) {
  Verdict verdict{with.str(), {}};
  for (auto [mine, theirs] : zip_equal(got, expected)) {
    Tolerance tolerance = defaultTolerance(mine.type);
    tolerance.relative = options.relative.value_or(tolerance.relative);
    if (tolerance.relative > 0)
      tolerance.relative =
          std::max(tolerance.relative, leastRelative(mine.type));
    tolerance.absolute = options.absolute.value_or(tolerance.absolute);
    verdict.outputs.push_back(compareArrays(mine, theirs, tolerance));
  }
  return verdict;
}

/// Runs the model on one rank, nothing cut.
static Expected<std::vector<HostArray>>
runUnsharded(const RunOptions &options, ArrayRef<HostArray> inputs) {
  ModelOptions compile = options.compile;
  compile.ranks.reset();
  compile.stages.unsharded = true;
  compile.stages.noFallback = false;
  compile.stages.trace = false;
  Expected<CompiledProgram> compiled = compileModel(options.model, compile);
  if (!compiled)
    return compiled.takeError();
  Expected<Session> session = Session::load(std::move(*compiled));
  if (!session)
    return session.takeError();
  if (Error error = checkMemory(session->metadata(), options))
    return std::move(error);
  Expected<RunResult> run =
      session->run(inputs, /*steps=*/1, options.timeoutMs);
  if (!run)
    return run.takeError();
  return std::move(run->outputs);
}

/// Compiles and runs one program.
static Error runProgram(const RunOptions *options) {
  Expected<Session> session = openProgram(*options);
  if (!session)
    return session.takeError();
  const ProgramMetadata &program = session->metadata();
  if (Error error = checkMemory(program, *options))
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
  Expected<std::vector<HostArray>> inputs = makeInputs(program, *options);
  if (!inputs)
    return inputs.takeError();

  session->setKernelSchedule(options->kernelSchedule, options->kernelSeed);
  session->setTransport(options->transport);
  session->setTrace(!options->traceFile.empty());
  Expected<RunResult> run =
      session->run(*inputs, options->repeat, options->timeoutMs);
  if (!run)
    return run.takeError();
  if (!options->outputsFile.empty())
    if (Error error = writeOutputs(options->outputsFile, run->outputs))
      return error;
  if (!options->traceFile.empty())
    if (Error error = writeTrace(options->traceFile, program, *run))
      return error;

  std::vector<Verdict> verdicts;
  std::string difference;
  auto judge = [&](StringRef with, ArrayRef<HostArray> reference) {
    Verdict verdict = compareAll(with, run->outputs, reference, *options);
    if (difference.empty())
      difference =
          describeDifference(verdict, program, run->outputs, reference);
    verdicts.push_back(std::move(verdict));
  };
  if (!options->expectFile.empty())
    judge("expected", expected);
  if (options->check) {
    Expected<std::vector<HostArray>> reference =
        runUnsharded(*options, *inputs);
    if (!reference)
      return reference.takeError();
    judge("unsharded", *reference);
    if (difference.empty() && run->disagreeingOutput >= 0)
      difference = (nameOf("output", run->disagreeingOutput,
                           program.results[run->disagreeingOutput]) +
                    ": rank " + Twine(run->disagreeingRank) +
                    " holds other bits than a rank with the same shard")
                       .str();
  }

  if (!options->reportFile.empty())
    if (Error error = writePage(options->reportFile, *session, *run, verdicts))
      return error;
  if (options->reportJSON)
    writeReport(outs(), *session, *run, verdicts);
  else if (verdicts.empty() && options->outputsFile.empty() &&
           session->checks().empty())
    writeOutputValues(outs(), run->outputs);
  writeSummary(errs(), *session, *run, verdicts);
  outs().flush();
  if (outs().has_error()) {
    std::error_code error = outs().error();
    outs().clear_error();
    return toolError(ExitCode::IO, "stdout: " + error.message());
  }
  if (difference.empty())
    difference = runChecks(session->checks(), run->checked);
  if (!difference.empty())
    return toolError(ExitCode::Differs, difference);
  return Error::success();
}

/// Runs every module of a file. A check that failed outweighs a refusal, that
/// one a feature that is declared unsupported.
static Error runModules(RunOptions options, std::vector<std::string> modules) {
  if (options.isArtifact || options.outputsFile.size() ||
      options.expectFile.size() || options.inputsFile.size() ||
      options.inputs.size() || options.reportJSON ||
      options.reportFile.size() || options.traceFile.size())
    return toolError(ExitCode::Usage,
                     options.model + " holds " + Twine(modules.size()) +
                         " modules; --input, --inputs, --outputs, --expect, "
                         "--report and --trace go with one");
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
        runProgram(&options),
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

static Error runTool(int argc, char **argv) {
  Expected<RunOptions> options = readOptions(argc, argv);
  if (!options)
    return options.takeError();
  if (!options->isArtifact && options->compile.stages.shapes.empty())
    options->compile.stages.shapes = shapesOfInputs(*options);
  if (options->isArtifact || options->model == "-")
    return runProgram(&*options);
  // A file that cannot be read is refused below, with its reason.
  auto file = MemoryBuffer::getFile(options->model, /*IsText=*/true);
  if (file && (*file)->getBuffer().contains("// -----"))
    if (std::vector<std::string> modules = splitModules((*file)->getBuffer());
        modules.size() > 1)
      return runModules(std::move(*options), std::move(modules));
  return runProgram(&*options);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  return reportAndGetExitCode("shard-run", runTool(argc, argv));
}
