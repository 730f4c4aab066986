//===- shard-translate.cpp - A model to an artifact -----------------------===//
//
// Compiles a model for a mesh and writes an artifact (a shared object that
// shard-run loads without compiling), an object file, LLVM IR, or the
// artifact's C header. docs/Reference/shard-translate.md is the manual.
//
//===----------------------------------------------------------------------===//

#include "../Common/Tool.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/DeviceImage.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

static cl::OptionCategory category("shard-translate");

static cl::opt<std::string> input(cl::Positional, cl::desc("IN"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("File to write"),
                                   cl::value_desc("OUT"), cl::cat(category));
static cl::opt<std::string>
    emit("emit",
         cl::desc("artifact (default), obj, llvmir or header; of --target=cuda "
                  "also ptx, cubin or fatbin"),
         cl::value_desc("what"), cl::init("artifact"), cl::cat(category));
static cl::opt<std::string>
    target("target",
           cl::desc("cpu (default), cuda, or emulated-cuda: kernels for GPUs, "
                    "run on the host"),
           cl::value_desc("name"), cl::init("cpu"), cl::cat(category));
static cl::opt<std::string>
    arch("arch",
         cl::desc("What code is generated for: native (default), "
                  "x86-64-v3, a CPU's name; of --target=cuda GPUs: sm_80 "
                  "(default), sm_80,sm_90a"),
         cl::value_desc("name"), cl::init("native"), cl::cat(category));
static NumberOption ranks("ranks",
                          cl::desc("Ranks; for a mesh of one axis its size"),
                          cl::value_desc("N"), cl::cat(category));
static cl::opt<std::string>
    mesh("mesh", cl::desc("Other sizes for axes of the file's mesh"),
         cl::value_desc("x=2,y=2"), cl::cat(category));
static cl::list<std::string>
    sizes("sizes",
          cl::desc("Sizes of the shards in which a dim of an argument "
                   "arrives; may be given several times"),
          cl::value_desc("ARG:DIM=300,200,0"), cl::cat(category));
static const TakeOptionName takeThreads("threads");
static NumberOption
    threads("threads",
            cl::desc("Threads of each rank that share its loops (default 1)"),
            cl::value_desc("N"), cl::cat(category));
static cl::opt<bool>
    trace("trace",
          cl::desc("Let kernels say when they begin and end, so that "
                   "shard-run --trace names them"),
          cl::cat(category));
static cl::opt<bool>
    noFallback("no-fallback",
               cl::desc("An op that would be gathered is an error"),
               cl::cat(category));
static cl::opt<bool>
    noRaise("no-raise", cl::desc("Leave attention as the ops it is made of"),
            cl::init(shardc::StageOptions().noRaise), cl::cat(category));
static NumberOption memoryLimit(
    "memory-limit",
    cl::desc("Most bytes of temporaries of one rank: values are computed again, "
             "and in blocks of rows, to stay within it"),
    cl::value_desc("bytes"), cl::cat(category));
static cl::opt<bool> hostCalls(
    "host-calls",
    cl::desc("Keep calls of Python that give no values, as jax.debug.print "
             "makes; whoever runs the program answers them"),
    cl::cat(category));
static cl::extrahelp
    exitCodes("\nexit codes: 0 ok, 1 program refused, 2 usage, 7 I/O, 9 size "
              "limit, 77 declared unsupported\n");

/// Whether --arch is for kernels; else it is for the host's code.
static bool archNamesGpus() {
  return arch.getNumOccurrences() &&
         (target == "cuda" || (target == "emulated-cuda" &&
                               StringRef(arch).starts_with("sm_")));
}

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

static Error checkOptions() {
  if (input.empty())
    return usage("no model given; see shard-translate --help");
  if (output.empty())
    return usage(
        "no file to write given: -o OUT ('-' is stdout for llvmir and header)");
  if (!is_contained({"cpu", "cuda", "emulated-cuda"}, target.getValue()))
    return usage("--target=" + target +
                 ": expected cpu, cuda or emulated-cuda");
  bool forDevice = is_contained({"ptx", "cubin", "fatbin"}, emit.getValue());
  if (!forDevice &&
      !is_contained({"artifact", "obj", "llvmir", "header"}, emit.getValue()))
    return usage(
        "--emit=" + emit +
        ": expected artifact, obj, llvmir, header, ptx, cubin or fatbin");
  if (forDevice && target != "cuda")
    return usage("--emit=" + emit + " is code for GPUs: give --target=cuda");
  if (archNamesGpus())
    if (std::string problem = checkGpuArchs(arch); !problem.empty())
      return usage("--arch=" + arch + ": " + problem);
  if (threads.getNumOccurrences() && target != "cpu")
    return usage("--threads says how kernels of the host are shared, but "
                 "--target=" +
                 target + " has kernels of its own");
  if (output == "-" && (emit == "cubin" || emit == "fatbin"))
    return usage("--emit=" + emit + " is not text: give a file with -o");
  if (output == "-" && (emit == "artifact" || emit == "obj"))
    return usage("--emit=" + emit + " is not text: give a file with -o");
  if (mesh.getNumOccurrences())
    if (Error error = checkMeshOption(mesh))
      return error;
  for (const std::string &text : sizes)
    if (Error error = checkSizesOption(text))
      return error;
  if (isArtifact(input) && emit != "header")
    return usage(input +
                 " is an artifact; only its --emit=header can be written");
  return Error::success();
}

static Error writeArtifact(const CompiledProgram &program) {
  std::string object = output + ".o";
  sys::RemoveFileOnSignal(object);
  scope_exit clean([&] {
    sys::fs::remove(object);
    sys::DontRemoveFileOnSignal(object);
  });
  if (Error error =
          writeFile(object, [&](raw_ostream &out) { out << program.object; }))
    return error;
  return withCode(ExitCode::IO, linkSharedObject({object}, output));
}

static Error runTool() {
  if (Error error = checkOptions())
    return error;
  if (isArtifact(input)) {
    Expected<ProgramMetadata> metadata = readArtifactMetadata(input);
    if (!metadata)
      return withCode(ExitCode::Artifact, metadata.takeError());
    return writeFile(output,
                     [&](raw_ostream &out) { emitHeader(*metadata, out); });
  }
  ModelOptions options;
  options.stages.mesh = mesh;
  options.stages.sizes = join(sizes, ";");
  if (target == "cuda") {
    options.stages.target = Target::Cuda;
    if (archNamesGpus())
      options.stages.gpuArch = arch;
  } else {
    (archNamesGpus() ? options.stages.gpuArch : options.stages.arch) = arch;
    if (target == "emulated-cuda")
      options.stages.target = Target::EmulatedCuda;
  }
  options.stages.noFallback = noFallback;
  options.stages.hostCalls = hostCalls;
  options.stages.noRaise = noRaise;
  options.stages.trace = trace && target == "cpu";
  std::optional<int64_t> limit;
  if (Error error = readNumber(memoryLimit, 1, INT64_MAX, limit))
    return error;
  options.stages.memoryLimit = limit.value_or(0);
  std::optional<int64_t> threadNumber;
  if (Error error = readNumber(threads, 1, 1024, threadNumber))
    return error;
  options.stages.threads = threadNumber.value_or(1);
  if (Error error = readNumber(ranks, 1, 65536, options.ranks))
    return error;
  if (emit == "llvmir") {
    std::string text;
    raw_string_ostream textOut(text);
    if (Error error = emitModelIR(input, options, textOut))
      return error;
    return writeFile(output, [&](raw_ostream &out) { out << text; });
  }
  if (is_contained({"ptx", "cubin", "fatbin"}, emit.getValue())) {
    Expected<DeviceImage> image = compileDeviceImage(
        input, options,
        emit == "ptx"     ? DeviceImageKind::Ptx
        : emit == "cubin" ? DeviceImageKind::Cubin
                          : DeviceImageKind::Fatbin);
    if (!image)
      return image.takeError();
    if (emit == "fatbin" && image->isPtx)
      return toolError(ExitCode::Refused,
                       "no ptxas and fatbinary: neither in CUDA_HOME, CUDA_PATH "
                       "or CUDA_ROOT nor on PATH; --emit=ptx needs none");
    return writeFile(output, [&](raw_ostream &out) { out << image->bytes; });
  }
  Expected<CompiledProgram> program = compileModel(input, options);
  if (!program)
    return program.takeError();
  if (emit == "header")
    return writeFile(
        output, [&](raw_ostream &out) { emitHeader(program->metadata, out); });
  if (emit == "obj")
    return writeFile(output, [&](raw_ostream &out) { out << program->object; });
  return writeArtifact(*program);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  parseCommandLine(argc, argv, category,
                   "Compiles a model (StableHLO text, MLIR bytecode) for a "
                   "mesh, and writes what "
                   "was made of it.\n");
  return reportAndGetExitCode("shard-translate", runTool());
}
