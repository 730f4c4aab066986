//===- Options.h - What shard-run was asked to do ---------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_OPTIONS_H
#define SHARDC_TOOLS_SHARD_RUN_OPTIONS_H

#include "../Common/Artifacts.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace shardc {

/// What happens between steps (Steps.h), as the command line says it.
struct StepOptions {
  int64_t steps = 0; ///< 0: a run of one step, or of --repeat
  std::vector<std::string> carries, batches, logged;
  std::string stepNumber;
  std::string directory; ///< of checkpoints
  int64_t saveEvery = 0;
  int64_t keep = 0;
  bool resumes = false;
  std::optional<int64_t> resumeStep;
};

/// What a tool that is made of this one, for tests, does to how programs are
/// compiled; null: nothing.
extern void (*changeStages)(StageOptions &stages);

/// The command line, checked for all that can be said before a file is read.
struct RunOptions {
  std::string model; ///< a .mlir file, bytecode, or an artifact
  bool isArtifact = false;
  std::optional<std::string> piped; ///< the model's text, where it is no file
  bool sandbox = false;             ///< read, compile and run it confined
  const TrustOptions *trust = nullptr; ///< whose code is loaded; never null
  std::shared_ptr<const CompileCache> cache; ///< never null
  ModelOptions compile;
  /// Of an artifact: its model, where something is to be made of it.
  std::optional<CarriedProgram> carried;
  std::string sizes; ///< to which the program is bound: "ARG:DIM=3,2;x=1,3"
  /// The sizes of axes, "x=3,y=2", or the number of ranks, to which it is bound
  /// where it leaves them open.
  std::string mesh;
  std::optional<int64_t> ranks;
  std::vector<std::string>
      inputs;             ///< one for each argument: an array, or "@file.npy"
  std::string inputsFile; ///< the .npz file with in0, in1, …
  uint64_t seed = 0;
  double low = -1, high = 1; ///< random floats are in [low, high)
  std::string expectFile;
  std::optional<double> relative, absolute;
  bool check = false;
  bool checkInterpreter = false; ///< compare with the interpreter
  bool interpret = false;        ///< run nothing else
  std::string outputsFile;
  int64_t repeat = 1;
  StepOptions steps;
  bool specializes = false; ///< to a static program, between steps
  bool balances = false;    ///< finds sizes by which ranks finish together
  int64_t balanceSteps = 0; ///< over this many steps; 0: not said
  double tuneSeconds = 0;   ///< to measure kernels before; 0: not
  std::string tuneTimes;    ///< a file of times that a test gives for them
  bool reportJSON = false;
  std::string reportFile; ///< a page to read
  std::string traceFile;
  int64_t timeoutMs = 0;        ///< 0: the runtime's own
  int transport = 0;            ///< a shardrt_transport
  int wire = 0;                 ///< a shardrt_wire
  int64_t restarts = 0;         ///< of processes, after a loss
  int64_t processes = 0;        ///< to be started, one for each rank; 0: none
  bool asksForThreads = false;  ///< --transport does
  std::string asksForProcesses; ///< the --transport that does
  int kernelSchedule = 0;       ///< as shardrt_world_options
  uint64_t kernelSeed = 0;
  bool deterministic = false; ///< as shardrt_world_options
  bool asksForDirect = false; ///< --transport=direct
  std::string command; ///< what processes that compile the same have in common
  /// File descriptors of whoever answers calls of the program; none: nobody.
  std::optional<std::pair<int, int>> hostCalls;
  int64_t memoryLimit = 0; ///< bytes; 0: what the machine has
  bool fitsMemory = false; ///< compile to need less than the limit

  /// The program's model, as diagnostics call it, and how it is compiled.
  llvm::StringRef modelName() const { return carried ? carried->path : model; }
  const ModelOptions &modelOptions() const {
    return carried ? carried->options : compile;
  }
};

/// Reads the command line. Ends the process with 2 for unknown options. Options
/// that contradict each other are usage errors; those declared unsupported have
/// code 77.
llvm::Expected<RunOptions> readOptions(int argc, char **argv);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_OPTIONS_H
