//===- Session.h - A program, ready to run ----------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_SESSION_H
#define SHARDC_TOOLS_SHARD_RUN_SESSION_H

#include "../Common/Artifacts.h"
#include "HostArray.h"
#include "HostCalls.h"
#include "Measured.h"
#include "Shards.h"
#include "Steps.h"
#include "shardrt/shardrt.h"
#include <functional>
#include <memory>
#include <optional>

namespace shardc {

/// The result of looking for sizes.
struct BalanceReport {
  int64_t moves = 0; ///< how often other sizes were taken
  /// The slowest rank's own time over the mean, with the first sizes and with
  /// the fastest.
  double firstImbalance = 1, imbalance = 1;
  std::string refused; ///< why better sizes cannot be
};

/// The result of a static version of a bound program.
struct SpecialReport {
  int64_t step = -1; ///< the first that it made; -1: none
  std::string why;   ///< … and why not
};

/// The result of one run.
struct RunResult {
  std::vector<HostArray> outputs;
  std::vector<HostArray> checked; ///< as Session::checks()
  std::vector<double> stepMs;     ///< one entry a step
  std::vector<int64_t>
      peakBytes; ///< one entry a rank: inputs, outputs and temporaries
  std::vector<std::string>
      libraries; ///< what was asked of vendors' libraries (the first rank here)
  /// What ranks here had to do otherwise than they could.
  std::vector<std::string> notes;
  std::string transport;         ///< between devices, and why that one
  std::vector<SiteReport> sites; ///< by number
  std::vector<double> rankMs;    ///< a step of each rank, without waiting
  std::optional<BalanceReport> balance;
  std::optional<SpecialReport> special;
  TraceReport trace; ///< empty unless it was asked for
  /// The first result on which two ranks that should hold the same disagree,
  /// and one of these ranks; -1 if there is none.
  int64_t disagreeingOutput = -1, disagreeingRank = -1;
};

/// The exit code of a runtime status: they are the same numbers.
inline llvm::Error runtimeError(int status, const llvm::Twine &message) {
  return toolError(static_cast<ExitCode>(status), message);
}

/// A loaded program.
class Session {
public:
  /// Links and loads what was compiled.
  /// `onLinked` is given the path of its shared object, which goes away
  /// afterwards.
  static llvm::Expected<Session>
  load(CompiledProgram program,
       llvm::function_ref<void(llvm::StringRef)> onLinked = {});
  /// Loads an artifact that is trusted.
  static llvm::Expected<Session> loadArtifact(const OpenedArtifact &artifact);
  /// Loads what this job has made itself: a shared object that carries nothing.
  static llvm::Expected<Session> loadMade(const PrivateFile &file,
                                          llvm::StringRef name);

  /// True if how many elements dims of arguments have is said by a binding.
  bool hasOpenExtents() const;
  /// Binds the program to sizes, "ARG:DIM=3,2;x=1,3", to shapes, "0=8x6", and
  /// to sizes of axes of its mesh, "x=3", or a number of ranks, that it leaves
  /// open. `name` is for messages.
  llvm::Error bind(llvm::StringRef name, llvm::StringRef sizes,
                   llvm::StringRef shapes = "", llvm::StringRef mesh = "",
                   std::optional<int64_t> ranks = std::nullopt);

  const ProgramMetadata &metadata() const { return program; }
  /// What conformance files expect: pairs of values, got and expected. Not
  /// among the results of metadata().
  llvm::ArrayRef<ValueMetadata> checks() const { return expectations; }
  double compileMs() const { return compileTime; }
  /// What was done to stay within a limit; nothing for artifacts.
  const MemoryPlan &memory() const { return memoryPlan; }

  /// Runs `steps` steps on the same inputs (one for each argument, of its type
  /// and global shape); one more before them that is not counted if there is
  /// more than one. In a job the process of rank 0 gets all outputs and
  /// figures, the others none.
  llvm::Expected<RunResult> run(llvm::ArrayRef<HostArray> inputs, int64_t steps,
                                int64_t timeoutMs) {
    return run(inputs, steps, timeoutMs, nullptr);
  }
  /// Runs the steps of `plan`, which gives some of the inputs itself. Without
  /// outputs where none is left to do.
  llvm::Expected<RunResult> run(llvm::ArrayRef<HostArray> inputs,
                                const StepPlan &plan, int64_t timeoutMs) {
    return run(inputs, 1, timeoutMs, &plan);
  }

  /// How the emulated device orders threads, as shardrt_world_options.
  void setKernelSchedule(int schedule, uint64_t seed) {
    kernelSchedule = schedule;
    kernelSeed = seed;
  }

  /// Not 0: ranks give the core away at random places, as
  /// shardrt_world_options.
  void setYieldSeed(uint64_t seed) { yieldSeed = seed; }

  /// Who answers calls of the host; null: nobody. Outlives the session.
  void setHostCalls(HostCalls *calls) { hostCalls = calls; }

  /// The job of which this process runs one rank, and its shardrt_wire; null:
  /// ranks are threads. Outlives the session.
  void setJob(shardrt_job *which, int over) {
    job = which;
    wire = over;
  }

  /// How buffers go from rank to rank: a shardrt_transport.
  void setTransport(int which) { transport = which; }

  /// Makes each argument when it is needed, where run() is given none: one
  /// whole array at a time.
  void setInputMaker(std::function<HostArray(size_t)> maker) {
    makeInput = std::move(maker);
  }

  /// Whether elements are combined in one order over NCCL too.
  void setDeterministic(bool asked) { deterministic = asked; }

  /// Runs find sizes by which all ranks finish together, and leave the program
  /// bound to them: over the first `steps` of a plan (0: all), or so many
  /// before the steps of others (0: ten).
  void setBalance(int64_t steps) { balanceSteps = steps; }

  /// Steps go on with what `compile` makes of the same model for the sizes of
  /// now, "ARG:DIM=3,2", and shapes, "0=8x6", where that gives the same bits.
  /// It is called on a thread of its own.
  using CompileStatic = std::function<llvm::Expected<CompiledProgram>(
      std::string sizes, std::string shapes)>;
  void setSpecialize(CompileStatic compile) {
    compileStatic = std::move(compile);
  }

  /// Whether runs note what ranks do.
  void setTrace(bool asked) { traces = asked; }

private:
  llvm::Expected<std::vector<int64_t>>
  readMesh(llvm::StringRef name, llvm::StringRef mesh,
           std::optional<int64_t> ranks) const;
  struct Destroy {
    void operator()(shardrt_program *program) const {
      shardrt_program_destroy(program);
    }
  };
  Session(ProgramMetadata program, double compileTime);
  llvm::Expected<RunResult> run(llvm::ArrayRef<HostArray> inputs, int64_t steps,
                                int64_t timeoutMs, const StepPlan *plan);
  class Balancing;
  class Specializing;
  /// What was counted while a world ran.
  struct Counts {
    std::vector<int64_t> peaks;            ///< bytes of temporaries, by rank
    std::vector<shardrt_site_stats> sites; ///< by site, over all ranks
    std::vector<shardrt_rank_stats> ranks;
  };
  /// Makes the steps of `plan`, or, without one, those before the run in which
  /// sizes are looked for. Returns what runs the program as it is bound then.
  llvm::Expected<Running> runPlan(llvm::ArrayRef<HostArray> inputs,
                                  int64_t timeoutMs, const StepPlan *plan,
                                  RunResult &result);
  /// Repeats a step; one more before them is not counted, if there are several.
  llvm::Error repeat(Running &running, int64_t steps, RunResult &result) const;
  /// Takes to the first process of a job what all others have: values,
  /// `counts` and the trace.
  llvm::Error gatherFromProcesses(Running &running,
                                  llvm::ArrayRef<ValueMetadata> results,
                                  Counts &counts, RunResult &result) const;
  /// Fills in values and figures.
  void describeRun(Running &running, size_t numResults, const Counts &counts,
                   int64_t steps, RunResult &result) const;
  /// What a run of the program, as it is bound now, needs.
  llvm::Expected<Running> begin(llvm::ArrayRef<HostArray> inputs,
                                const StepPlan *plan, int64_t timeoutMs,
                                llvm::ArrayRef<size_t> carried) const;
  llvm::Error bindTo(llvm::ArrayRef<int64_t> mesh,
                     llvm::ArrayRef<shardrt_given> given,
                     llvm::StringRef option);
  /// Takes what conformance files expect out of the results.
  void describe(ProgramMetadata metadata);
  llvm::Error loadCode(const PrivateFile &file, llvm::StringRef name);

  ProgramMetadata program;
  std::vector<ValueMetadata> expectations;
  MemoryPlan memoryPlan;
  double compileTime;
  HostCalls *hostCalls = nullptr;
  shardrt_job *job = nullptr;
  int wire = 0;
  int transport = 0;
  bool traces = false;
  std::optional<int64_t> balanceSteps;
  CompileStatic compileStatic;
  bool deterministic = false;
  std::function<HostArray(size_t)> makeInput;
  int kernelSchedule = 0;
  uint64_t kernelSeed = 0;
  uint64_t yieldSeed = 0;
  std::unique_ptr<shardrt_program, Destroy> code;
};

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_SESSION_H
