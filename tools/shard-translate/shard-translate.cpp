//===- shard-translate.cpp - A model to an artifact -----------------------===//
//
// Compiles a model for a mesh and writes an artifact (a shared object that
// shard-run loads without compiling), an object file, LLVM IR, or the
// artifact's C header. docs/Reference/shard-translate.md is the manual.
//
//===----------------------------------------------------------------------===//

#include "../Common/Artifacts.h"
#include "../Common/CompileOptions.h"
#include "../Common/Dialects.h"
#include "../Common/Sandbox.h"
#include "../Common/Start.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/DeviceImage.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

static cl::OptionCategory category("shard-translate");

static cl::opt<std::string> input(cl::Positional, cl::desc("IN"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("File to write"),
                                   cl::value_desc("OUT"), cl::cat(category));
static cl::opt<std::string> emit(
    "emit",
    cl::desc("artifact (default), obj, llvmir, header or local (what each rank "
             "does, as StableHLO); of --target=cuda also ptx, cubin or "
             "fatbin"),
    cl::value_desc("what"), cl::init("artifact"), cl::cat(category));
static CompileOptions compile(category, "target", /*writesKernels=*/true);
static TrustOptions trust(category);
static CacheOptions cached(category);
static cl::opt<bool>
    sandbox("sandbox",
            cl::desc("Let the program open, write and start nothing but IN and "
                     "OUT while it is compiled"),
            cl::cat(category));
static cl::opt<bool>
    trace("trace",
          cl::desc("Let kernels say when they begin and end, so that "
                   "shard-run --trace names them"),
          cl::cat(category));
static NumberOption memoryLimit(
    "memory-limit",
    cl::desc(
        "Most bytes of temporaries of one rank: values are computed again, "
        "and in blocks of rows, to stay within it"),
    cl::value_desc("bytes"), cl::cat(category));
static cl::opt<bool> hostCalls(
    "host-calls",
    cl::desc("Keep calls of Python that give no values, as jax.debug.print "
             "makes; whoever runs the program answers them"),
    cl::cat(category));
static cl::extrahelp exitCodes(
    "\nexit codes: 0 ok, 1 program refused, 2 usage, 7 I/O, 8 "
    "refused artifact,\n  9 memory or size limit, 77 declared unsupported\n");

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

static Error checkOptions() {
  if (input.empty())
    return usage("no model given; see shard-translate --help");
  if (output.empty())
    return usage("no file to write given: -o OUT ('-' is stdout for llvmir, "
                 "header and local)");
  if (Error error = compile.check())
    return error;
  if (sandbox && compile.target() == "cuda")
    return usage("--sandbox starts no ptxas and reads no libdevice: give "
                 "--target=cpu or --target=emulated-cuda");
  bool forDevice = is_contained({"ptx", "cubin", "fatbin"}, emit.getValue());
  if (!forDevice &&
      !is_contained({"artifact", "obj", "llvmir", "header", "local"},
                    emit.getValue()))
    return usage("--emit=" + emit +
                 ": expected artifact, obj, llvmir, header, local, ptx, cubin "
                 "or fatbin");
  if (forDevice && compile.target() != "cuda")
    return usage("--emit=" + emit + " is code for GPUs: give --target=cuda");
  if (output == "-" && (emit == "cubin" || emit == "fatbin"))
    return usage("--emit=" + emit + " is not text: give a file with -o");
  if (output == "-" && (emit == "artifact" || emit == "obj"))
    return usage("--emit=" + emit + " is not text: give a file with -o");
  if (isArtifact(input)) {
    if (emit != "header" && emit != "artifact")
      return usage(input + " is an artifact: of it --emit=artifact and "
                           "--emit=header can be written");
    if (const cl::Option *option = compile.findGiven())
      return usage("--" + option->ArgStr +
                   " is said when a model is compiled, but " + input +
                   " is an artifact");
  }
  return Error::success();
}

static Error writeArtifact(Expected<std::string> artifact) {
  if (!artifact)
    return artifact.takeError();
  return writeFile(
      output, [&](raw_ostream &out) { out << *artifact; },
      /*mode=*/0777);
}

/// Takes over an artifact: as it is if the user's key signed it, with the
/// user's signature if it is trusted, and else compiled from what it carries.
static Error takeOver(const std::optional<OpenedArtifact> &artifact) {
  if (emit == "header") {
    Expected<ProgramMetadata> metadata = readArtifactMetadata(artifact->code());
    if (!metadata)
      return toolError(ExitCode::Artifact,
                       input + ": refused: " + toString(metadata.takeError()));
    return writeFile(output,
                     [&](raw_ostream &out) { emitHeader(*metadata, out); });
  }
  if (trust.trust && !artifact->isOther)
    return writeArtifact(
        sealCode(artifact->code(), artifact->program(), trust));
  if (artifact->isTrusted)
    return writeArtifact(std::string(artifact->file.text()));
  ModelOptions options;
  options.registerMore = registerConformanceDialects;
  Expected<CompiledProgram> program =
      rebuild("shard-translate", *artifact, options);
  if (!program)
    return program.takeError();
  Expected<std::string> code = linkSharedObject(program->object);
  if (!code)
    return ioError(code.takeError());
  return writeArtifact(sealCode(*code, artifact->program(), trust));
}

/// `artifact`: IN, where it is one; `options`: what the command line says of
/// how a model is compiled.
static Error translate(const std::optional<OpenedArtifact> &artifact,
                       ModelOptions options) {
  if (Error error = checkOutput(output))
    return error;
  if (artifact)
    return takeOver(artifact);
  options.stages.hostCalls = hostCalls;
  options.stages.trace = trace && compile.target() == "cpu";
  std::optional<int64_t> limit;
  if (Error error = readNumber(memoryLimit, 1, INT64_MAX, limit))
    return error;
  options.stages.memoryLimit = limit.value_or(0);
  CompileCache cache(cached.read(trust.key));
  if (emit != "artifact" && emit != "header") {
    std::string problem;
    takeTiles(cache, options, problem);
    warnOfCache("shard-translate", problem);
  }
  if (emit == "llvmir" || emit == "local") {
    std::string text;
    raw_string_ostream textOut(text);
    if (Error error = emit == "local" ? emitLocalText(input, options, textOut)
                                      : emitModelIR(input, options, textOut))
      return error;
    return writeFile(output, [&](raw_ostream &out) { out << text; });
  }
  if (is_contained({"ptx", "cubin", "fatbin"}, emit.getValue())) {
    Expected<DeviceImage> image =
        compileDeviceImage(input, options,
                           emit == "ptx"     ? DeviceImageKind::Ptx
                           : emit == "cubin" ? DeviceImageKind::Cubin
                                             : DeviceImageKind::Fatbin);
    if (!image)
      return image.takeError();
    if (emit == "fatbin" && image->isPtx)
      return toolError(
          ExitCode::Refused,
          "no ptxas and fatbinary: neither in CUDA_HOME, CUDA_PATH "
          "or CUDA_ROOT nor on PATH; --emit=ptx needs none");
    return writeFile(output, [&](raw_ostream &out) { out << image->bytes; });
  }
  Expected<CompiledProgram> program =
      emit == "obj" ? compileModel(input, options)
                    : compileLinked("shard-translate", input, options, cache);
  if (!program)
    return program.takeError();
  if (emit == "header")
    return writeFile(
        output, [&](raw_ostream &out) { emitHeader(program->metadata, out); });
  if (emit == "obj")
    return writeFile(output, [&](raw_ostream &out) { out << program->object; });
  return writeArtifact(makeArtifact(*program, input, options, trust));
}

/// `code`: what the tool ends with where there is no error.
static Error runTool(int &code) {
  if (Error error = checkOptions())
    return error;
  // Before a sandbox is closed: keys are none of the program's business, and it
  // cannot read the file of --machine.
  Expected<ModelOptions> options = compile.read();
  if (!options)
    return options.takeError();
  std::optional<OpenedArtifact> artifact;
  if (isArtifact(input)) {
    Expected<OpenedArtifact> opened = openArtifact(input, trust);
    if (!opened)
      return opened.takeError();
    artifact = std::move(*opened);
  }
  if (!sandbox)
    return translate(artifact, std::move(*options));
  SandboxRules rules;
  rules.tool = "shard-translate";
  rules.readable = {input};
  if (output != "-")
    rules.writable = {output};
  rules.seal = [](StringRef code, StringRef program) {
    return sealCode(code, program, trust);
  };
  return runSandboxed(
      rules, [&] { return translate(artifact, std::move(*options)); }, code);
}

int main(int argc, char **argv) {
  ToolStart start("shard-translate", argc, argv);
  parseCommandLine(argc, argv, category,
                   "Compiles a model (StableHLO text, MLIR bytecode) for a "
                   "mesh, and writes what "
                   "was made of it.\n");
  int code = 0;
  Error error = runTool(code);
  return start.end(std::move(error), code);
}
