//===- Stages.cpp - The stages on the command line ------------------------===//
//
// Their names and options. The passes of each are in a file of its name.
//
//===----------------------------------------------------------------------===//
#include "shardc/Pipelines/Stages.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace shardc;

static llvm::cl::opt<bool> &explainFlag() {
  static llvm::cl::opt<bool> flag(
      "explain",
      llvm::cl::desc("Print, after the last pass, where each axis came from "
                     "and why each communication op is there."));
  return flag;
}

bool shardc::isExplainRequested() { return explainFlag(); }

namespace {
/// The options of every stage, on the command line.
struct StagePipelineOptions : PassPipelineOptions<StagePipelineOptions> {
  Option<Target> target{
      *this, "target", llvm::cl::desc("What to compile for."),
      llvm::cl::init(Target::Cpu),
      llvm::cl::values(clEnumValN(Target::Cpu, "cpu", "the host"),
                       clEnumValN(Target::Cuda, "cuda", "NVIDIA GPUs"),
                       clEnumValN(Target::EmulatedCuda, "emulated-cuda",
                                  "kernels for GPUs, on the host"))};
  Option<bool> checkKernels{
      *this, "check-kernels",
      llvm::cl::desc("Let emulated kernels look at every access."),
      llvm::cl::init(false)};
  Option<std::string> arch{*this, "arch",
                           llvm::cl::desc("CPU to generate code for."),
                           llvm::cl::init("native")};
  Option<std::string> shapes{
      *this, "shapes",
      llvm::cl::desc("Shapes of dynamic arguments: 0=8x6;x=4x4.")};
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("Axes given another size: x=3,y=2.")};
  Option<std::string> sizes{
      *this, "sizes",
      llvm::cl::desc("Sizes in which arguments arrive: ARG:DIM=3,2,1;...")};
  Option<std::string> dynamic{
      *this, "dynamic",
      llvm::cl::desc("Dims of arguments whose sizes are bound later: 0:2,1:0, "
                     "or all.")};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("What it is compiled for: a preset, then figures: "
                     "h100,link.latency=5us.")};
  Option<bool> unsharded{*this, "unsharded",
                         llvm::cl::desc("One rank, nothing cut."),
                         llvm::cl::init(false)};
  Option<bool> noFallback{
      *this, "no-fallback",
      llvm::cl::desc("An op that would be gathered is an error."),
      llvm::cl::init(false)};
  Option<bool> hostCalls{
      *this, "host-calls",
      llvm::cl::desc("Keep calls of Python that give no values."),
      llvm::cl::init(false)};
  Option<bool> noRaise{
      *this, "no-raise",
      llvm::cl::desc("Leave attention as the ops it is made of."),
      llvm::cl::init(false)};
  Option<bool> exactSums{*this, "exact-sums",
                         llvm::cl::desc("With reproducible: whatever is "
                                        "annotated."),
                         llvm::cl::init(false)};
  Option<bool> reproducible{*this, "reproducible",
                            llvm::cl::desc("The same bits on every mesh."),
                            llvm::cl::init(false)};
  Option<std::string> kernels{
      *this, "kernels",
      llvm::cl::desc("On GPUs: default, generated, auto or library."),
      llvm::cl::init("default")};
  Option<bool> keepOrder{
      *this, "keep-order",
      llvm::cl::desc("Put only what annotations say in zigzag order."),
      llvm::cl::init(false)};
  Option<bool> evenBorders{
      *this, "even-borders",
      llvm::cl::desc("Arguments and results come and leave in equal shards."),
      llvm::cl::init(false)};
  Option<bool> partialResults{
      *this, "partial-results",
      llvm::cl::desc("Results that are asked for unreduced leave in parts."),
      llvm::cl::init(false)};
  Option<bool> deviceOrder{
      *this, "device-order",
      llvm::cl::desc("Rank r is device r, in whatever order meshes name them."),
      llvm::cl::init(false)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("Threads of a rank that share its loops."),
      llvm::cl::init(1)};
  Option<bool> trace{*this, "trace",
                     llvm::cl::desc("Let kernels say when they begin and end."),
                     llvm::cl::init(false)};
  Option<bool> explain{*this, "explain",
                       llvm::cl::desc("Print where each sharding came from."),
                       llvm::cl::init(false)};

  StageOptions get() const {
    StageOptions options;
    options.shapes = shapes;
    options.mesh = mesh;
    options.sizes = sizes;
    options.dynamic = dynamic;
    options.machine = machine;
    options.unsharded = unsharded;
    options.noFallback = noFallback;
    options.hostCalls = hostCalls;
    options.noRaise = noRaise;
    options.reproducible = reproducible;
    options.exactSums = exactSums;
    options.keepOrder = keepOrder;
    options.evenBorders = evenBorders;
    options.partialResults = partialResults;
    options.deviceOrder = deviceOrder;
    options.kernels = kernels;
    options.threads = threads;
    options.trace = trace;
    options.explain = explain;
    options.origins = explain || isExplainRequested();
    options.arch = arch;
    options.target = target;
    options.checkKernels = checkKernels;
    return options;
  }
};

using StageBuilder = void (*)(OpPassManager &, const StageOptions &);
} // namespace

static void registerStage(StringRef name, StringRef description,
                          StageBuilder build) {
  PassPipelineRegistration<StagePipelineOptions>(
      name, description,
      [build](OpPassManager &pm, const StagePipelineOptions &options) {
        build(pm, options.get());
      });
}

void shardc::registerStagePipelines() {
  (void)explainFlag();
  registerStage("spmd-import",
                "JAX's StableHLO and sdy to one annotated function.",
                buildImportStage);
  registerStage("spmd-raise", "Ops that say what patterns of ops mean.",
                buildRaiseStage);
  registerStage("spmd-propagate",
                "Give every value a sharding; conflicts become spmd.reshard.",
                buildPropagateStage);
  registerStage(
      "spmd-partition",
      "Global shapes to local shapes, with the communication that is needed.",
      buildPartitionStage);
  registerStage("spmd-communicate",
                "Optimise communication and prove that it cannot deadlock.",
                buildCommunicateStage);
  registerStage("spmd-lower-cpu",
                "The local view to the LLVM dialect with runtime calls.",
                buildLowerCpuStage);
  registerStage("spmd-lower-cuda",
                "The local view to host code and kernels in the NVVM dialect.",
                buildLowerCudaStage);
  registerStage("shardc-pipeline",
                "All stages, from JAX's text to the LLVM dialect.",
                [](OpPassManager &pm, const StageOptions &options) {
                  for (StageBuilder build :
                       {buildImportStage, buildRaiseStage, buildPropagateStage,
                        buildPartitionStage, buildCommunicateStage})
                    build(pm, options);
                  if (options.target == Target::Cpu)
                    buildLowerCpuStage(pm, options);
                  else
                    buildLowerCudaStage(pm, options);
                });
}
