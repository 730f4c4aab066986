//===- Tool.cpp - What the command-line tools share -----------------------===//

#include "Tool.h"
#include "Sandbox.h"
#include "Start.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Support/InputFile.h"
#include "shardc/Support/OutputFile.h"
#include "shardc/Translation/LocalText.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace shardc;

char ToolError::ID = 0;

Error shardc::toolError(ExitCode code, const Twine &message) {
  return make_error<ToolError>(code, message.str());
}

TakeOptionName::TakeOptionName(StringRef name) {
  auto &known = cl::getRegisteredOptions();
  if (auto option = known.find(name); option != known.end())
    option->second->removeArgument();
}

Error shardc::withCode(ExitCode code, Error error) {
  if (!error)
    return Error::success();
  return toolError(code, toString(std::move(error)));
}

int shardc::reportAndGetExitCode(StringRef tool, Error error) {
  int code = 0;
  auto print = [&](StringRef message, ExitCode exitCode) {
    if (!message.empty()) {
      errs() << tool << ": ";
      WithColor::error(errs()) << message << "\n";
    }
    if (code == 0)
      code = static_cast<int>(exitCode);
  };
  handleAllErrors(
      std::move(error),
      [&](const ToolError &known) { print(known.message, known.code); },
      [&](const ErrorInfoBase &other) {
        print(other.message(), ExitCode::Refused);
      });
  return code;
}

Error shardc::readNumber(const NumberOption &option, int64_t least,
                         int64_t most, std::optional<int64_t> &value) {
  if (option.getNumOccurrences() == 0)
    return Error::success();
  int64_t number;
  if (StringRef(option).getAsInteger(10, number) || number < least ||
      number > most)
    return toolError(
        ExitCode::Usage,
        "--" + option.ArgStr + "=" + option +
            ": expected a whole number of at least " + Twine(least) +
            (most == INT64_MAX ? "" : " and at most " + std::to_string(most)));
  value = number;
  return Error::success();
}

Error shardc::readNumber(const NumberOption &option,
                         std::optional<double> &value) {
  if (option.getNumOccurrences() == 0)
    return Error::success();
  double number;
  if (StringRef(option).getAsDouble(number) || !(number >= 0) ||
      std::isinf(number))
    return toolError(ExitCode::Usage, "--" + option.ArgStr + "=" + option +
                                          ": expected a number of at least 0");
  value = number;
  return Error::success();
}

void shardc::parseCommandLine(int argc, char **argv,
                              cl::OptionCategory &category,
                              StringRef overview) {
  StringRef tool = category.getName();
  mlir::registerPassManagerCLOptions(); // --mlir-print-ir-after-all and the
                                        // like
  cl::HideUnrelatedOptions(category);
  std::string problems;
  raw_string_ostream problemsOut(problems);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &problemsOut))
    return;
  // LLVM starts each problem with the program's name as it was typed.
  StringRef first = StringRef(problems).trim().split('\n').first;
  if (first.consume_front(argv[0]) || first.consume_front(tool))
    first.consume_front(":");
  first = first.substr(0, first.find("  Try: ")).trim();
  // Where LLVM prints the problem itself there is nothing to add.
  if (!first.empty()) {
    errs() << tool << ": ";
    WithColor::error(errs()) << first << "\n";
  }
  errs() << "see " << tool << " --help\n";
  std::exit(static_cast<int>(ExitCode::Usage));
}

Error shardc::checkMeshOption(StringRef mesh) {
  StringSet<> names;
  for (StringRef axis : split(mesh, ',')) {
    auto [name, size] = axis.split('=');
    int64_t value;
    if (name.trim().empty() || size.trim().getAsInteger(10, value) || value < 1)
      return toolError(ExitCode::Usage,
                       "--mesh=" + mesh + ": '" + axis +
                           "' is not an axis and a size of at least 1; "
                           "expected for example --mesh=x=2,y=2");
    if (value > 65536)
      return toolError(ExitCode::Memory,
                       "--mesh=" + mesh + ": a mesh has at most 65536 ranks");
    if (!names.insert(name.trim()).second)
      return toolError(ExitCode::Usage, "--mesh=" + mesh + ": axis '" +
                                            name.trim() + "' is given twice");
  }
  return Error::success();
}

Error shardc::checkSizesOption(StringRef sizes) {
  auto [where, list] = sizes.split('=');
  auto [argument, dim] = where.split(':');
  int64_t value;
  auto isCount = [&](StringRef text) {
    return !text.getAsInteger(10, value) && value >= 0;
  };
  bool ok = isCount(argument) && isCount(dim) && !list.empty();
  SmallVector<StringRef> entries(split(list, ','));
  // A last word is the order in which blocks are dealt out.
  if (!entries.empty() && entries.back().trim() == "zigzag")
    entries.pop_back();
  for (StringRef size : entries)
    ok = ok && isCount(size.trim());
  if (!ok)
    return toolError(
        ExitCode::Usage,
        "--sizes=" + sizes +
            ": expected ARG:DIM= and the sizes of the shards, for example "
            "--sizes=0:2=300,200,0,524, or --sizes=0:2=zigzag for balanced "
            "ones "
            "from both ends");
  return Error::success();
}

std::string shardc::printMesh(ArrayRef<MeshAxis> mesh) {
  std::string text;
  raw_string_ostream out(text);
  out << "<[";
  interleaveComma(mesh, out, [&](const MeshAxis &axis) {
    out << '"' << axis.name << "\"=" << axis.size;
  });
  out << "]>";
  return text;
}

/// The axes of the mesh that `module` is to be compiled for, with the sizes
/// that `options.mesh` gives. Imports a copy. Fails where the import does.
static FailureOr<std::vector<MeshAxis>> findMesh(mlir::ModuleOp module,
                                                 const StageOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager pm(module.getContext());
  buildImportStage(pm, options);
  if (failed(pm.run(*copy)))
    return failure();
  std::vector<MeshAxis> axes;
  for (spmd::MeshOp mesh : copy->getOps<spmd::MeshOp>()) {
    for (auto [name, size] : zip_equal(mesh.getMesh().getAxisNames(),
                                       mesh.getMesh().getAxisSizes()))
      axes.push_back({name.str(), size});
    break;
  }
  return axes;
}

/// Makes `options.stages.mesh` agree with `options.ranks`.
static Error fitMeshToRanks(mlir::ModuleOp module, ModelOptions &options) {
  FailureOr<std::vector<MeshAxis>> mesh = findMesh(module, options.stages);
  if (failed(mesh))
    return toolError(ExitCode::Refused, "");
  int64_t needed = 1;
  for (const MeshAxis &axis : *mesh)
    needed *= axis.size;
  if (needed == *options.ranks)
    return Error::success();
  if (mesh->size() == 1 && options.stages.mesh.empty()) {
    options.stages.mesh =
        formatv("{0}={1}", mesh->front().name, *options.ranks).str();
    return Error::success();
  }
  if (mesh->empty())
    return toolError(
        ExitCode::Usage,
        "the program has no mesh, so 1 rank runs it, but --ranks gives " +
            Twine(*options.ranks) +
            "; leave --ranks out, or shard the program");
  return toolError(ExitCode::Usage,
                   "the mesh " + printMesh(*mesh) + " has " + Twine(needed) +
                       " ranks, but --ranks gives " + Twine(*options.ranks) +
                       "; say the sizes of its axes with --mesh");
}

/// Whether an error says that the program is right, but asks for what this
/// version is declared not to do. docs/Reference/unsupported.md lists it.
static bool isUnsupported(StringRef message) {
  if (message.consume_front("'"))
    message = message.split("' op ").second;
  return message.starts_with("unsupported");
}

/// Whether an error is the parser's word on a dialect that it has never heard
/// of.
static bool isUnknownDialect(StringRef message) {
  return message.contains("unregistered dialect") ||
         (message.contains("ialect `") && message.contains("not found"));
}

/// The name of the op in the parser's word on one that its dialect does not
/// have; empty for other errors.
static StringRef unknownOp(StringRef message) {
  for (auto [before, after] :
       {std::pair("unregistered operation '", "' found in dialect"),
        std::pair("custom op '", "' is unknown")})
    if (message.consume_front(before) && message.contains(after))
      return message.split('\'').first;
  return {};
}

/// Why the catalogue lacks an op that StableHLO has, and what to do; empty for
/// names that no version has.
static StringRef adviceFor(StringRef op) {
  op.consume_front("stablehlo.");
  return StringSwitch<StringRef>(op)
      .Cases({"uniform_quantize", "uniform_dequantize"},
             "quantised types are not known; legalise them before")
      .Default("");
}

Error shardc::endOutput() {
  outs().flush();
  std::error_code failed = outs().error();
  // Streams that still know of an error when they go end the process with it.
  outs().clear_error();
  if (failed)
    return toolError(ExitCode::IO, "stdout: " + failed.message());
  return Error::success();
}

Error shardc::writeFile(StringRef path, function_ref<void(raw_ostream &)> write,
                        unsigned mode) {
  if (path == "-") {
    write(outs());
    return endOutput();
  }
  return ioError(writeOutputFile(path, write, mode));
}

Error shardc::checkOutput(StringRef path) {
  if (path == "-")
    return Error::success();
  return withCode(ExitCode::IO, checkOutputFile(path));
}

/// Whether a message of the compiler or of the linker says that memory could
/// not be had.
static bool isAboutMemory(StringRef message) {
  return message.contains_insensitive("out of memory") ||
         message.contains("bad_alloc") ||
         message.contains("Cannot allocate memory") ||
         message.starts_with("no memory");
}

Error shardc::ioError(Error error) {
  if (!error)
    return error;
  std::string message = toString(std::move(error));
  return toolError(isAboutMemory(message) ? ExitCode::Memory : ExitCode::IO,
                   message);
}

/// Calls `use` on the parsed model at `path`, with `options` made to fit it.
/// The compiler's diagnostics go to stderr. What was read is put into
/// `options.text`.
static Error withModel(StringRef path, ModelOptions &options,
                       function_ref<LogicalResult(mlir::ModuleOp)> use) {
  Activity activity("compiling the model");
  if (!options.text) {
    Expected<std::unique_ptr<MemoryBuffer>> read =
        readInputFile(path, /*isText=*/true);
    if (!read)
      return ioError(read.takeError());
    options.text = (*read)->getBuffer().str();
  }
  std::unique_ptr<mlir::MLIRContext> context = createCompilerContext();
  // The source line says enough: users meet few of our ops.
  context->printOpOnDiagnostic(false);
  SourceMgr sources;
  // A program names the files that its diagnostics show lines of.
  bool showsFiles = !options.isForeign && !isSandboxed();
  if (!showsFiles)
    sources.setVirtualFileSystem(new vfs::InMemoryFileSystem());
  mlir::SourceMgrDiagnosticHandler handler(sources, context.get(), errs());
  ExitCode refused = ExitCode::Refused;
  bool first = true;
  mlir::ScopedDiagnosticHandler watch(
      context.get(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
            !std::exchange(first, false))
          return failure(); // the next handler prints it
        std::string message = diagnostic.str();
        if (isAboutMemory(message))
          refused = ExitCode::Memory;
        StringRef op = unknownOp(message);
        if (adviceFor(op).empty())
          op = {};
        if (!isUnsupported(message) && !isUnknownDialect(message) && op.empty())
          return failure();
        refused = ExitCode::Unsupported;
        if (isUnsupported(message))
          return failure();
        if (!op.empty()) {
          handler.emitDiagnostic(diagnostic.getLocation(),
                                 "unsupported: '" + op + "': " + adviceFor(op),
                                 mlir::DiagnosticSeverity::Error);
          return success();
        }
        // MLIR's own advice is for those who can change the tool.
        handler.emitDiagnostic(
            diagnostic.getLocation(),
            "unsupported: " + StringRef(message).split(". If this").first +
                "; expected types and ops of stablehlo, chlo, sdy, spmd, check "
                "and func",
            mlir::DiagnosticSeverity::Error);
        return success();
      });
  if (!showsFiles)
    sources.AddNewSourceBuffer(
        MemoryBuffer::getMemBufferCopy(*options.text, path), SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      parseModel(*context, MemoryBuffer::getMemBufferCopy(
                               *options.text, path == "-" ? "<stdin>" : path));
  if (!module)
    return toolError(refused, "");
  if (options.ranks)
    if (Error error = fitMeshToRanks(*module, options))
      return refused == ExitCode::Unsupported
                 ? withCode(refused, std::move(error))
                 : std::move(error);
  if (failed(use(*module)))
    return toolError(refused, "");
  return Error::success();
}

/// Brings a copy of `text` with smaller dims to its local view, as `stages`
/// say, and compares both.
static LogicalResult verifySmaller(mlir::ModuleOp text, StageOptions stages) {
  stages.inspectLocal = nullptr;
  mlir::MLIRContext *context = text.getContext();
  for (int64_t most : {512, 128, 32, 8}) {
    mlir::OwningOpRef<mlir::ModuleOp> small = interpreter::smaller(text, most);
    if (!small)
      break;
    if (interpreter::countElements(*small) > kVerifiedWork / 4)
      continue;
    mlir::OwningOpRef<mlir::ModuleOp> local = small->clone();
    std::string refused;
    {
      mlir::ScopedDiagnosticHandler handler(
          context, [&](mlir::Diagnostic &diagnostic) {
            if (refused.empty() &&
                diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
              refused = diagnostic.str();
            return mlir::success();
          });
      if (mlir::succeeded(compileToLocal(*local, stages)))
        refused.clear();
    }
    if (!refused.empty()) {
      emitRemark(text.getLoc())
          << "partition not verified: with dims of at most " << most
          << " elements the program is refused: " << refused;
      return mlir::success();
    }
    interpreter::Options limits;
    limits.maxWork = kVerifiedWork;
    std::string unknown;
    auto verified = [&] {
      mlir::ScopedDiagnosticHandler handler(
          context, [&](mlir::Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Remark)
              return mlir::failure();
            unknown = diagnostic.str();
            return mlir::success();
          });
      return interpreter::verifyLocal(*small, *local, limits);
    }();
    // Products take more than their elements say.
    if (StringRef(unknown).contains("was to compute at most"))
      continue;
    if (!unknown.empty())
      emitRemark(text.getLoc()) << unknown;
    if (mlir::succeeded(verified) &&
        *verified == interpreter::Verification::Equal)
      emitRemark(text.getLoc())
          << "partition verified on a smaller copy: its "
          << interpreter::countElements(text)
          << " elements are too many, with dims of at most " << most
          << " they are " << interpreter::countElements(*small);
    return verified;
  }
  emitRemark(text.getLoc())
      << "partition not verified: its " << interpreter::countElements(text)
      << " elements are too many, and no copy with smaller dims has few enough";
  return mlir::success();
}

/// Lets `options.stages` compare the local view with `module` as it is now.
static mlir::OwningOpRef<mlir::ModuleOp> verifyAgainst(mlir::ModuleOp module,
                                                       ModelOptions &options) {
  if (!options.verifyPartition)
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> text = module.clone();
  options.stages.inspectLocal = [text = *text, &stages = options.stages](
                                    mlir::ModuleOp local) -> LogicalResult {
    if (interpreter::countElements(text) > kVerifiedWork)
      return verifySmaller(text, stages);
    interpreter::Options limits;
    limits.maxWork = kVerifiedWork;
    return interpreter::verifyLocal(text, local, limits);
  };
  return text;
}

Expected<CompiledProgram> shardc::compileModel(StringRef path,
                                               ModelOptions options) {
  FailureOr<CompiledProgram> program = failure();
  if (Error error =
          withModel(path, options, [&](mlir::ModuleOp module) -> LogicalResult {
            auto text = verifyAgainst(module, options);
            program = compileProgram(module, options.stages);
            return program;
          }))
    return std::move(error);
  program->model = std::move(*options.text);
  return std::move(*program);
}

Expected<InterpretedModel>
shardc::interpretModel(StringRef path, ModelOptions options,
                       function_ref<Expected<std::vector<interpreter::Array>>(
                           ArrayRef<mlir::RankedTensorType>)>
                           argumentsFor) {
  // The ranks that it is cut for are none of its business.
  options.ranks.reset();
  InterpretedModel model;
  Error failed = Error::success();
  Error error =
      withModel(path, options, [&](mlir::ModuleOp module) -> LogicalResult {
        auto types = interpreter::argumentTypes(module);
        if (mlir::failed(types))
          return failure();
        Expected<std::vector<interpreter::Array>> arguments =
            argumentsFor(*types);
        if (!arguments) {
          failed = joinErrors(std::move(failed), arguments.takeError());
          return mlir::success();
        }
        auto outcome = interpreter::interpret(module, *arguments);
        if (mlir::failed(outcome))
          return failure();
        model.results = std::move(outcome->results);
        for (mlir::Type type : outcome->resultTypes)
          raw_string_ostream(model.elementTypes.emplace_back())
              << mlir::getElementTypeOrSelf(type);
        model.checksHeld = outcome->checksHeld;
        for (const interpreter::FailedCheck &check : outcome->failedChecks) {
          std::string text;
          raw_string_ostream out(text);
          if (auto at = check.loc->findInstanceOf<mlir::FileLineColLoc>())
            out << at.getFilename().getValue() << ":" << at.getLine() << ": ";
          out << check.message;
          model.failedChecks.push_back(std::move(text));
        }
        return mlir::success();
      });
  if (error) {
    consumeError(std::move(failed));
    return std::move(error);
  }
  if (failed)
    return std::move(failed);
  return model;
}

Error shardc::emitModelIR(StringRef path, ModelOptions options,
                          raw_ostream &out) {
  return withModel(path, options, [&](mlir::ModuleOp module) -> LogicalResult {
    auto text = verifyAgainst(module, options);
    if (failed(compileToLocal(module, options.stages)))
      return failure();
    ProgramMetadata metadata = describeProgram(module);
    if (failed(lowerProgram(module, options.stages, metadata)))
      return failure();
    return emitLLVMIR(module, options.stages.arch, out);
  });
}

Error shardc::emitLocalText(StringRef path, ModelOptions options,
                            raw_ostream &out) {
  return withModel(path, options, [&](mlir::ModuleOp module) -> LogicalResult {
    auto text = verifyAgainst(module, options);
    if (failed(compileToLocal(module, options.stages)))
      return failure();
    out << printLocalProgram(module);
    return mlir::success();
  });
}

Expected<DeviceImage> shardc::compileDeviceImage(StringRef path,
                                                 ModelOptions options,
                                                 DeviceImageKind kind) {
  FailureOr<DeviceImage> image = failure();
  if (Error error =
          withModel(path, options, [&](mlir::ModuleOp module) -> LogicalResult {
            auto text = verifyAgainst(module, options);
            if (failed(compileToLocal(module, options.stages)) ||
                failed(lowerToLLVM(module, options.stages)))
              return failure();
            image = emitDeviceImage(module, options.stages.gpuArch, kind);
            return image;
          }))
    return std::move(error);
  return std::move(*image);
}
