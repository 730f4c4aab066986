//===- Report.cpp - The report of a run -----------------------------------===//

#include "Report.h"
#include "Inputs.h"
#include "shardc/Analysis/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace shardc;

bool Verdict::allWithin() const {
  return all_of(outputs,
                [](const Comparison &output) { return output.outside == 0; });
}

double shardc::medianMs(std::vector<double> stepMs) {
  llvm::sort(stepMs);
  size_t middle = stepMs.size() / 2;
  if (stepMs.size() % 2)
    return stepMs[middle];
  return (stepMs[middle - 1] + stepMs[middle]) / 2;
}

/// JSON has no infinities.
static json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : "inf";
}

static json::Array integers(ArrayRef<int64_t> values) {
  json::Array array;
  for (int64_t value : values)
    array.push_back(value);
  return array;
}

/// Whole numbers without a fraction.
static json::Value count(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    return static_cast<int64_t>(value);
  return value;
}

static json::Object describeValue(const ValueMetadata &value) {
  json::Array dims;
  for (const DimPlacement &dim : value.dims)
    dims.push_back(json::Object{{"axes", integers(dim.axes)},
                                {"sizes", integers(dim.boundaries.sizes())},
                                {"dynamic", dim.dynamic}});
  return json::Object{{"name", json::fixUTF8(value.name)},
                      {"type", value.elementType},
                      {"shape", integers(value.shape)},
                      {"dims", std::move(dims)}};
}

SiteReport shardc::totalOf(ArrayRef<SiteReport> sites) {
  SiteReport total;
  for (const SiteReport &site : sites) {
    total.count += site.count;
    total.bytes += site.bytes;
    total.ms += site.ms;
    total.waitMs += site.waitMs;
    total.hiddenMs += site.hiddenMs;
  }
  return total;
}

double KernelReport::limitMs(const Machine &machine) const {
  return std::fmax(memoryMs(machine), arithmeticMs(machine));
}

std::vector<KernelReport> shardc::kernelsOf(const RunResult &run) {
  std::vector<KernelReport> kernels;
  for (const TraceReport::Kernel &kernel : run.trace.kernels) {
    KernelReport &report = kernels.emplace_back();
    report.name = kernel.name;
    report.location = kernel.location;
  }
  auto known = [](int64_t number) {
    return number < 0 ? std::nan("") : static_cast<double>(number);
  };
  for (const TraceReport::Rank &rank : run.trace.ranks)
    for (const shardrt_trace_event &event : rank.events) {
      if (event.kind != SHARDRT_TRACE_KERNEL || event.id < 0 ||
          event.id >= static_cast<int64_t>(kernels.size()))
        continue;
      KernelReport &report = kernels[event.id];
      report.count += 1;
      report.ms += 1e-6 * (event.end_ns - event.begin_ns);
      report.bytes += known(event.bytes);
      report.operations += known(event.operations);
    }
  double executions =
      static_cast<double>(run.stepMs.size()) * run.trace.ranks.size();
  for (KernelReport &report : kernels)
    for (double *sum :
         {&report.count, &report.ms, &report.bytes, &report.operations})
      *sum /= executions;
  erase_if(kernels, [](const KernelReport &kernel) { return !kernel.count; });
  llvm::stable_sort(kernels, [](const KernelReport &a, const KernelReport &b) {
    return a.ms > b.ms;
  });
  return kernels;
}

/// null where nothing is known.
static json::Value numberOrNull(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static json::Array describeKernels(const RunResult &run,
                                   const Machine &machine) {
  json::Array list;
  for (const KernelReport &kernel : kernelsOf(run)) {
    double memory = kernel.memoryMs(machine),
           arithmetic = kernel.arithmeticMs(machine),
           limit = kernel.limitMs(machine);
    list.push_back(
        json::Object{{"name", json::fixUTF8(kernel.name)},
                     {"location", json::fixUTF8(kernel.location)},
                     {"count", count(kernel.count)},
                     {"ms", kernel.ms},
                     {"bytes", numberOrNull(kernel.bytes)},
                     {"operations", numberOrNull(kernel.operations)},
                     {"memory_share", numberOrNull(memory / kernel.ms)},
                     {"arithmetic_share", numberOrNull(arithmetic / kernel.ms)},
                     {"share", numberOrNull(limit / kernel.ms)}});
  }
  return list;
}

static json::Object describePlan(const Session &session) {
  const MemoryPlan &memory = session.memory();
  return json::Object{{"arena_bytes", session.metadata().arenaBytes},
                      {"planned_bytes", memory.plannedBytes},
                      {"repeated_ops", memory.repeated},
                      {"row_loops", memory.loops},
                      {"added_percent", memory.addedPercent}};
}

void shardc::writeReport(raw_ostream &out, const Session &session,
                         const RunResult &run, ArrayRef<Verdict> verdicts,
                         const Machine &machine) {
  SiteReport total = totalOf(run.sites);
  const ProgramMetadata &program = session.metadata();
  json::Object mesh;
  for (const MeshAxis &axis : program.mesh)
    mesh[json::fixUTF8(axis.name)] = axis.size;
  json::Array sites;
  for (const SiteReport &site : run.sites) {
    json::Array reasons;
    for (const Reason &reason : parseReasons(site.name))
      reasons.push_back(json::Object{{"needed", json::fixUTF8(reason.needed)},
                                     {"value", json::fixUTF8(reason.value)},
                                     {"rule", json::fixUTF8(reason.rule)},
                                     {"avoid", json::fixUTF8(reason.avoid)}});
    sites.push_back(json::Object{{"kind", site.kind},
                                 {"axis", json::fixUTF8(site.axes)},
                                 {"count", count(site.count)},
                                 {"bytes", count(site.bytes)},
                                 {"ms", site.ms},
                                 {"wait_ms", site.waitMs},
                                 {"hidden_ms", site.hiddenMs},
                                 {"hidden", site.hidden()},
                                 {"location", json::fixUTF8(site.location)},
                                 {"name", json::fixUTF8(site.name)},
                                 {"reasons", std::move(reasons)}});
  }
  json::Array arguments, results, comparisons;
  for (const ValueMetadata &value : program.arguments)
    arguments.push_back(describeValue(value));
  for (auto [value, output] : zip_equal(program.results, run.outputs)) {
    json::Object result = describeValue(value);
    result["not_finite"] = countNotFinite(output);
    results.push_back(std::move(result));
  }
  for (const Verdict &verdict : verdicts)
    for (auto [i, output] : enumerate(verdict.outputs))
      comparisons.push_back(
          json::Object{{"with", verdict.with},
                       {"output", static_cast<int64_t>(i)},
                       {"outside", output.outside},
                       {"largest", number(output.largest)},
                       {"ulp", output.largestUlp},
                       {"bitwise_equal", output.bitwiseEqual}});
  json::Array libraries;
  for (const std::string &line : run.libraries)
    libraries.push_back(json::fixUTF8(line));
  json::Array notes;
  for (const std::string &note : run.notes)
    notes.push_back(json::fixUTF8(note));
  json::Array ofRanks;
  for (double ms : run.rankMs)
    ofRanks.push_back(ms);
  json::Object report{
      {"schema", 1},
      {"program", json::fixUTF8(program.name)},
      {"mesh", std::move(mesh)},
      {"ranks", program.numRanks()},
      {"steps", static_cast<int64_t>(run.stepMs.size())},
      {"ms_per_step", medianMs(run.stepMs)},
      {"ms_min", *min_element(run.stepMs)},
      {"ms_mean", std::accumulate(run.stepMs.begin(), run.stepMs.end(), 0.0) /
                      run.stepMs.size()},
      {"compile_ms", session.compileMs()},
      {"compiled_models", numCompiledModels()},
      {"rank_ms", std::move(ofRanks)},
      {"peak_bytes", integers(run.peakBytes)},
      {"threads", program.threads},
      {"reproducible", program.reproducible},
      {"memory_plan", describePlan(session)},
      {"transport", json::fixUTF8(run.transport)},
      {"libraries", std::move(libraries)},
      {"notes", std::move(notes)},
      {"kernels", describeKernels(run, machine)},
      {"machine", json::fixUTF8(printMachine(machine))},
      {"communication", std::move(sites)},
      {"communication_total", json::Object{{"count", count(total.count)},
                                           {"bytes", count(total.bytes)},
                                           {"ms", total.ms},
                                           {"wait_ms", total.waitMs},
                                           {"hidden_ms", total.hiddenMs},
                                           {"hidden", total.hidden()}}},
      {"arguments", std::move(arguments)},
      {"results", std::move(results)},
      {"comparisons", std::move(comparisons)}};
  if (run.balance)
    report["balance"] =
        json::Object{{"moves", run.balance->moves},
                     {"first_imbalance", run.balance->firstImbalance},
                     {"imbalance", run.balance->imbalance},
                     {"refused", json::fixUTF8(run.balance->refused)}};
  if (run.special)
    report["specialize"] = json::Object{
        {"step", run.special->step}, {"why", json::fixUTF8(run.special->why)}};
  out << json::Value(std::move(report)) << "\n";
}

/// What was done to stay within a limit.
static void writePlan(raw_ostream &out, const Session &session) {
  const MemoryPlan &memory = session.memory();
  if (memory.plannedBytes == 0)
    return;
  out << formatv(
      "temporaries of a rank: {0} bytes, {1} before the limit; {2} "
      "ops repeated, {3} loops over blocks of rows, about {4} % more "
      "arithmetic\n",
      session.metadata().arenaBytes, memory.plannedBytes, memory.repeated,
      memory.loops, memory.addedPercent);
}

void shardc::writeSummary(raw_ostream &out, const Session &session,
                          const RunResult &run, ArrayRef<Verdict> verdicts) {
  const ProgramMetadata &program = session.metadata();
  StringRef name =
      program.name.empty() ? "the program" : StringRef(program.name);
  out << formatv("{0} on {1} rank{2} of mesh {3}: ", name, program.numRanks(),
                 program.numRanks() == 1 ? "" : "s", printMesh(program.mesh));
  if (session.compileMs() > 0)
    out << formatv("compiled in {0:f1} ms, ", session.compileMs());
  out << formatv("{0:f3} ms per step", medianMs(run.stepMs));
  if (run.stepMs.size() > 1)
    out << formatv(" (median of {0}, least {1:f3})", run.stepMs.size(),
                   *min_element(run.stepMs));
  SiteReport total = totalOf(run.sites);
  out << formatv("; {0} communication ops per step move {1} bytes",
                 count(total.count), count(total.bytes));
  if (total.count > 0)
    out << formatv(" in {0:f3} ms, {1:f0} % of that time hidden", total.ms,
                   100 * total.hidden());
  out << "\n";
  if (run.balance) {
    out << formatv("balance: imbalance {0:f2} at the beginning, {1:f2} in the "
                   "end, after {2} other sizes; now",
                   run.balance->firstImbalance, run.balance->imbalance,
                   run.balance->moves);
    for (auto [number, argument] : enumerate(program.arguments))
      for (auto [i, dim] : enumerate(argument.dims))
        if (dim.dynamic && !dim.axes.empty()) {
          out << " --sizes=" << number << ":" << i << "=";
          interleave(dim.boundaries.sizes(), out, ",");
        }
    out << "\n";
  }
  if (run.special && run.special->step >= 0)
    out << "specialize: from step " << run.special->step
        << " on with the static program\n";
  else if (run.special)
    out << "specialize: no static program: " << run.special->why << "\n";
  writePlan(out, session);
  for (const Verdict &verdict : verdicts)
    for (auto [i, output] : enumerate(verdict.outputs)) {
      out << formatv(
          "{0}: {1} as {2}: ", nameOf("output", i, program.results[i]),
          describeArray(
              *shardrt::elementTypeNamed(program.results[i].elementType),
              program.results[i].shape),
          verdict.with);
      if (output.bitwiseEqual)
        out << "bitwise equal\n";
      else
        out << formatv(
            "largest difference {0} ulp, {1:e2}{2}\n",
            output.largestUlp == UINT64_MAX ? "NaN against a number;"
                                            : std::to_string(output.largestUlp),
            output.largest,
            output.outside ? formatv(", {0} outside", output.outside).str()
                           : "");
    }
}

void shardc::writeOutputValues(raw_ostream &out, ArrayRef<HostArray> outputs) {
  for (auto [i, output] : enumerate(outputs)) {
    out << "output " << i << ": " << describeArray(output.type, output.shape);
    int64_t shown = std::min<int64_t>(output.numElements(), 8);
    for (int64_t e = 0; e < shown; ++e)
      out << ' ' << printElement(output.type, output.element(e));
    out << (shown < output.numElements() ? " ...\n" : "\n");
  }
}

std::string shardc::describeDifference(const Verdict &verdict,
                                       const ProgramMetadata &program,
                                       ArrayRef<HostArray> got,
                                       ArrayRef<HostArray> expected) {
  for (auto [i, output] : enumerate(verdict.outputs)) {
    if (output.outside == 0)
      continue;
    const HostArray &mine = got[i], &theirs = expected[i];
    return formatv(
               "{0} differs from the {1} one at {2}: got {3}, expected {4}; "
               "{5} of {6} "
               "elements differ, most at {7}: got {8}, expected {9}",
               nameOf("output", i, program.results[i]), verdict.with,
               printIndex(mine.shape, output.firstOutside),
               printElement(mine.type, mine.element(output.firstOutside)),
               printElement(theirs.type, theirs.element(output.firstOutside)),
               output.outside, mine.numElements(),
               printIndex(mine.shape, output.largestAt),
               printElement(mine.type, mine.element(output.largestAt)),
               printElement(theirs.type, theirs.element(output.largestAt)))
        .str();
  }
  return {};
}
