//===- shard-opt.cpp - Run passes on IR -----------------------------------===//
//
// MlirOptMain with the project's and upstream's dialects and passes. Programs
// are read as in every tool: in a child process under limits first.
//
//===----------------------------------------------------------------------===//
#include "../Common/Dialects.h"
#include "../Common/Sandbox.h"
#include "../Common/Start.h"
#include "../Common/Tool.h"
#include "VerifyPartition.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Analysis/Explain.h"
#include "shardc/Import/ConformancePasses.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/InputFile.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace shardc;

static llvm::cl::opt<bool>
    sandbox("sandbox",
            llvm::cl::desc("Let the program open, write and start nothing but "
                           "the input and the output"));

/// The passes that help to look at what the project's own make.
static void registerUpstreamPasses() {
  registerTransformsPasses(); // canonicalize, cse, inline, symbol-dce, ...
  registerLinalgPasses();
  bufferization::registerBufferizationPasses();
  registerPass([] { return createSCFToControlFlowPass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
}

/// What of `file` can be parsed here: it is read in a child process first.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
read(std::unique_ptr<llvm::MemoryBuffer> file, DialectRegistry &registry,
     const MlirOptMainConfig &config) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  return shardc::readForeignProgram(context, std::move(file),
                                    config.inputSplitMarker());
}

/// Lets `--explain` have the last word, whatever passes there are.
static void explainAtTheEnd(MlirOptMainConfig &config) {
  if (!shardc::isExplainRequested())
    return;
  config.setPassPipelineSetupFn([asked = config](PassManager &pm) {
    if (failed(asked.setupPassPipeline(pm)))
      return failure();
    pm.addPass(shardc::createExplainPass());
    return success();
  });
}

/// An error whose diagnostics have been printed.
static llvm::Error refused() { return toolError(ExitCode::Refused, ""); }

/// Reads, runs, writes.
static llvm::Error run(StringRef inputName, StringRef outputName,
                       DialectRegistry &registry) {
  if (llvm::Error error = checkOutput(outputName))
    return error;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      readInputFile(inputName, /*isText=*/true);
  if (!file)
    return ioError(file.takeError());
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  explainAtTheEnd(config);
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> program =
      read(std::move(*file), registry, config);
  if (failed(program))
    return refused();
  Activity activity("running passes");
  if (outputName == "-") {
    if (failed(
            MlirOptMain(llvm::outs(), std::move(*program), registry, config)))
      return refused();
    return llvm::Error::success();
  }
  // A file is written when all passes have run.
  std::string text;
  llvm::raw_string_ostream out(text);
  if (failed(MlirOptMain(out, std::move(*program), registry, config)))
    return refused();
  return writeFile(outputName, [&](llvm::raw_ostream &to) { to << text; });
}

static llvm::cl::extrahelp
    exitCodes("\nexit codes: 0 ok, 1 program refused, or usage, 7 I/O, 9 "
              "memory\n");

int main(int argc, char **argv) {
  ToolStart start("shard-opt", argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerShardcPasses();
  registerConformancePasses();
  registerVerifyPartitionPass();
  registerUpstreamPasses();
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "shard-opt: the project's passes on IR\n", registry);
  auto work = [&, inputName = inputName, outputName = outputName] {
    return run(inputName, outputName, registry);
  };
  if (!sandbox)
    return start.end(work());
  SandboxRules rules;
  rules.tool = "shard-opt";
  rules.readable = {inputName};
  if (outputName != "-")
    rules.writable = {outputName};
  // mlir-opt's main looks for the lines that diagnostics name.
  rules.hidesFiles = true;
  int code = 0;
  llvm::Error error = runSandboxed(rules, work, code);
  return start.end(std::move(error), code);
}
