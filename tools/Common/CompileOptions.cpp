//===- CompileOptions.cpp - Options about compiling a model ---------------===//

#include "CompileOptions.h"
#include "shardc/Driver/MachineFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace shardc;

CompileOptions::CompileOptions(cl::OptionCategory &category,
                               StringRef targetName, bool writesKernels)
    : ranks("ranks", cl::desc("Ranks; for a mesh of one axis its size"),
            cl::value_desc("N"), cl::cat(category)),
      mesh("mesh", cl::desc("Other sizes for axes of the file's mesh"),
           cl::value_desc("x=2,y=2"), cl::cat(category)),
      sizes("sizes",
            cl::desc("Sizes of the shards in which a dim of an argument "
                     "arrives, and perhaps zigzag: the program has it in "
                     "blocks from both ends; may be given several times"),
            cl::value_desc("ARG:DIM=300,200,0"), cl::cat(category)),
      shapes("shapes",
             cl::desc("The shape of an argument whose type has '?'; may be "
                      "given several times"),
             cl::value_desc("ARG=8x6"), cl::cat(category)),
      machine("machine",
              cl::desc("What to compile for: a preset (generic, cluster, a100, "
                       "h100, b200), figures that differ after it, or a file "
                       "FILE.json; docs/Reference/machine.md"),
              cl::value_desc("h100,link.bandwidth=50GB/s"), cl::cat(category)),
      target(targetName,
             cl::desc("cpu (default), cuda, or emulated-cuda: kernels for "
                      "GPUs, run on the host"),
             cl::value_desc("name"), cl::init("cpu"), cl::cat(category)),
      arch("arch",
           cl::desc("What code is generated for: native (default), "
                    "x86-64-v3, a CPU's name; with kernels for GPUs these: "
                    "sm_80,sm_90a"),
           cl::value_desc("name"), cl::init("native"), cl::cat(category)),
      threads("threads",
              cl::desc("Threads of each rank that share its loops (default 1)"),
              cl::value_desc("N"), cl::cat(category)),
      noFallback("no-fallback",
                 cl::desc("An op that would be gathered is an error"),
                 cl::cat(category)),
      verifyPartition(
          "verify-partition",
          cl::desc("Interpret what the compiler made of the program for all "
                   "ranks, and refuse it where it is not what the text says"),
          cl::cat(category)),
      noRaise("no-raise", cl::desc("Leave attention as the ops it is made of"),
              cl::init(StageOptions().noRaise), cl::cat(category)),
      keepOrder("keep-order",
                cl::desc("Deal out no dim from both ends through the program "
                         "unless an annotation says so"),
                cl::cat(category)),
      evenBorders("even-borders",
                  cl::desc("Arguments and results are cut in equal shards, or "
                           "whole where a dim cannot be"),
                  cl::cat(category)),
      reproducible("reproducible",
                   cl::desc("The same bits on every mesh, for any cuts and "
                            "threads; what cannot be had so is refused"),
                   cl::cat(category)),
      exactSums("exact-sums",
                cl::desc("With --reproducible: the same bits for other "
                         "annotations of the same function too; slower"),
                cl::cat(category)),
      kernels("kernels",
              cl::desc("With kernels for GPUs: generated (default); auto: "
                       "cuBLASLt, cuDNN and cuFFT where they are found and "
                       "that pays; library: these wherever they can"),
              cl::value_desc("name"), cl::init(StageOptions().kernels),
              cl::cat(category)),
      precision("precision",
                cl::desc("With kernels for GPUs: highest (default): f32 stays "
                         "f32; tf32: products of f32 whose precision is "
                         "DEFAULT may round their factors to 10 bits"),
                cl::value_desc("name"), cl::init("highest"), cl::cat(category)),
      writesKernels(writesKernels) {}

/// Whether --arch is for kernels; else it is for the host's code.
bool CompileOptions::archNamesGpus() const {
  if (StringRef(arch).starts_with("sm_"))
    return true;
  return writesKernels && arch.getNumOccurrences() && target == "cuda";
}

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

Error CompileOptions::check() const {
  if (!is_contained({"cpu", "cuda", "emulated-cuda"}, target.getValue()))
    return usage("--" + target.ArgStr + "=" + target +
                 ": expected cpu, cuda or emulated-cuda");
  if (threads.getNumOccurrences() && target != "cpu")
    return usage("--threads says how kernels of the host are shared, but --" +
                 target.ArgStr + "=" + target + " has kernels of its own");
  if (!is_contained({"generated", "auto", "library"}, kernels.getValue()))
    return usage("--kernels=" + kernels +
                 ": expected generated, auto or library");
  if (!is_contained({"highest", "tf32"}, precision.getValue()))
    return usage("--precision=" + precision + ": expected highest or tf32");
  if (precision.getNumOccurrences() && target == "cpu")
    return usage("--precision is about GPUs: it goes with --" + target.ArgStr +
                 "=cuda or --" + target.ArgStr + "=emulated-cuda");
  if (kernels.getNumOccurrences() && target == "cpu")
    return usage("--kernels is about GPUs: it goes with --" + target.ArgStr +
                 "=cuda or --" + target.ArgStr + "=emulated-cuda");
  if (exactSums && !reproducible)
    return usage("--exact-sums says how --reproducible sums: it goes with "
                 "--reproducible");
  if (reproducible && target != "cpu")
    return toolError(ExitCode::Unsupported,
                     "unsupported: --reproducible with --" + target.ArgStr +
                         "=" + target +
                         ": kernels for GPUs sum in orders of their own; "
                         "leave one of the two out");
  if (archNamesGpus()) {
    if (target == "cpu")
      return usage("--arch=" + arch + " is a GPU: it goes with --" +
                   target.ArgStr + "=cuda or --" + target.ArgStr +
                   "=emulated-cuda");
    if (std::string problem = checkGpuArchs(arch); !problem.empty())
      return usage("--arch=" + arch + ": " + problem);
  }
  if (mesh.getNumOccurrences())
    if (Error error = checkMeshOption(mesh))
      return error;
  for (const std::string &text : sizes)
    if (Error error = checkSizesOption(text))
      return error;
  return Error::success();
}

Expected<ModelOptions> CompileOptions::read() const {
  ModelOptions options;
  StageOptions &stages = options.stages;
  std::optional<int64_t> threadNumber;
  if (Error error = joinErrors(readNumber(ranks, 1, 65536, options.ranks),
                               readNumber(threads, 1, 1024, threadNumber)))
    return std::move(error);
  stages.mesh = mesh;
  stages.sizes = join(sizes, ";");
  stages.shapes = join(shapes, ";");
  if (machine.getNumOccurrences()) {
    Expected<Machine> figures = readMachine(machine);
    if (!figures)
      return figures.takeError();
    stages.machine = printMachine(*figures);
  }
  if (target != "cpu")
    stages.target = target == "cuda" ? Target::Cuda : Target::EmulatedCuda;
  (archNamesGpus() ? stages.gpuArch : stages.arch) = arch;
  stages.threads = threadNumber.value_or(1);
  stages.noFallback = noFallback;
  options.verifyPartition = verifyPartition;
  stages.noRaise = noRaise;
  stages.keepOrder = keepOrder;
  stages.evenBorders = evenBorders;
  stages.reproducible = reproducible;
  stages.exactSums = exactSums;
  stages.kernels = kernels;
  stages.tf32 = precision == "tf32";
  return options;
}

const cl::Option *CompileOptions::findGiven() const {
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           std::addressof(sizes), std::addressof(shapes), &machine, &arch,
           &noFallback, &verifyPartition, &noRaise, &keepOrder, &evenBorders,
           &reproducible, &exactSums, &kernels, &precision, &target, &threads})
    if (option->getNumOccurrences())
      return option;
  return nullptr;
}
