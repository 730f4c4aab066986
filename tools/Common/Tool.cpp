//===- Tool.cpp - What the command-line tools share -----------------------===//

#include "Tool.h"
#include "Sandbox.h"
#include "Start.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Driver/Rounding.h"
#include "shardc/Support/InputFile.h"
#include "shardc/Support/OutputFile.h"
#include "shardc/Translation/Artifact.h"
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

TakeOptionName::TakeOptionName(StringRef name) {
  auto &known = cl::getRegisteredOptions();
  if (auto option = known.find(name); option != known.end())
    option->second->removeArgument();
}

/// Prints one line at once: processes of a job share the stream.
static void printError(StringRef tool, StringRef message) {
  std::string line;
  raw_string_ostream out(line);
  bool isColored = WithColor(errs()).colorsEnabled();
  out.enable_colors(isColored);
  out << tool << ": ";
  WithColor(out, HighlightColor::Error,
            isColored ? ColorMode::Enable : ColorMode::Disable)
      << "error: ";
  out << message << "\n";
  errs() << line;
}

int shardc::reportAndGetExitCode(StringRef tool, Error error) {
  int code = 0;
  auto print = [&](StringRef message, ExitCode exitCode) {
    if (!message.empty())
      printError(tool, message);
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
  if (!first.empty())
    printError(tool, first);
  errs() << "see " << tool << " --help\n";
  std::exit(static_cast<int>(ExitCode::Usage));
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
  return ioError(checkOutputFile(path));
}

/// The text of the model at `path`, in `options`.
static Error readText(StringRef path, ModelOptions &options) {
  if (options.text)
    return Error::success();
  Expected<std::unique_ptr<MemoryBuffer>> read =
      readInputFile(path, /*isText=*/true);
  if (!read)
    return ioError(read.takeError());
  options.text = (*read)->getBuffer().str();
  return Error::success();
}

namespace {
/// stderr, with a copy of what is written to it.
class Tee : public raw_ostream {
public:
  explicit Tee(std::string *copy)
      : raw_ostream(/*unbuffered=*/true), copy(copy) {
    enable_colors(errs().colors_enabled());
  }
  bool is_displayed() const override { return errs().is_displayed(); }
  bool has_colors() const override { return errs().has_colors(); }

private:
  void write_impl(const char *bytes, size_t size) override {
    errs().write(bytes, size);
    if (copy)
      copy->append(bytes, size);
  }
  uint64_t current_pos() const override { return 0; }
  std::string *copy;
};

/// Prints diagnostics on stderr, with the line of the file that they are about.
class Printer : public DiagnosticSink {
public:
  /// `said`, if it is not null, gets what is printed too.
  Printer(StringRef path, const ModelOptions &options, std::string *said)
      // A program names the files that its diagnostics show lines of.
      : out(said), showsFiles(!options.isForeign && !isSandboxed()) {
    if (showsFiles)
      return;
    sources.setVirtualFileSystem(new vfs::InMemoryFileSystem());
    sources.AddNewSourceBuffer(
        MemoryBuffer::getMemBufferCopy(*options.text, path), SMLoc());
  }
  void begin(mlir::MLIRContext &context) override {
    handler = std::make_unique<Handler>(sources, &context, out);
  }
  void end() override { handler.reset(); }
  void take(mlir::Diagnostic &diagnostic) override {
    handler->emitDiagnostic(diagnostic);
  }

private:
  struct Handler : mlir::SourceMgrDiagnosticHandler {
    using SourceMgrDiagnosticHandler::emitDiagnostic;
    using SourceMgrDiagnosticHandler::SourceMgrDiagnosticHandler;
  };
  Tee out;
  bool showsFiles;
  SourceMgr sources;
  std::unique_ptr<Handler> handler;
};
} // namespace

/// How a model read from `path` is called.
static StringRef nameOf(StringRef path) {
  return path == "-" ? "<stdin>" : path;
}

/// Does `compile` with the text of the model at `path` in `options`.
template <typename Compile>
static auto withText(StringRef path, ModelOptions &options, Compile compile,
                     std::string *said = nullptr)
    -> decltype(compile(std::declval<Printer &>())) {
  Activity activity("compiling the model");
  if (Error error = readText(path, options))
    return std::move(error);
  Printer printer(path, options, said);
  return compile(printer);
}

Expected<CompiledProgram> shardc::compileModel(StringRef path,
                                               ModelOptions options) {
  return withText(path, options, [&](Printer &printer) {
    return compileModel(nameOf(path), std::move(options), printer);
  });
}

Error shardc::linkProgram(CompiledProgram &program) {
  if (isLinked(program.object))
    return Error::success();
  Expected<std::string> linked = linkSharedObject(program.object);
  if (!linked)
    return ioError(linked.takeError());
  program.object = std::move(*linked);
  return Error::success();
}

Expected<CompiledProgram> shardc::compileLinked(StringRef tool, StringRef path,
                                                ModelOptions options,
                                                const CompileCache &cache) {
  if (Error error = readText(path, options))
    return std::move(error);
  std::string said, problem;
  bool isFound;
  // What is shown depends on where it is shown.
  std::string form = "linked ";
  form += errs().has_colors() && errs().colors_enabled() ? "colored" : "plain";
  Expected<CompiledProgram> program = compileThrough(
      cache, nameOf(path), std::move(options), form,
      [&](ModelOptions options,
          std::string &said) -> Expected<CompiledProgram> {
        Expected<CompiledProgram> program = withText(
            path, options,
            [&](Printer &printer) {
              return compileModel(nameOf(path), std::move(options), printer);
            },
            &said);
        if (program)
          if (Error error = linkProgram(*program))
            return std::move(error);
        return program;
      },
      said, isFound, problem);
  if (isFound)
    errs() << said;
  warnOfCache(tool, problem);
  return program;
}

void shardc::warnOfCache(StringRef tool, StringRef problem) {
  for (StringRef line : split(problem, '\n'))
    if (!line.empty())
      WithColor::warning(errs(), tool) << "cache: " << line << "\n";
}

CacheOptions::CacheOptions(cl::OptionCategory &category)
    : category(category),
      off("no-cache",
          cl::desc("Compile, whatever the cache of compiled programs has, and "
                   "keep nothing there"),
          cl::cat(category)) {}

CompileCache::Options CacheOptions::read(StringRef key) const {
  CompileCache::Options options = CompileCache::defaults();
  options.keyFile = key.str();
  bool isOther = any_of(cl::getRegisteredOptions(), [&](const auto &known) {
    const cl::Option *option = known.second;
    return option->getNumOccurrences() > 0 &&
           !is_contained(option->Categories, &category);
  });
  if (off || isOther || isSandboxed())
    options.directory.clear();
  return options;
}

Expected<InterpretedModel>
shardc::interpretModel(StringRef path, ModelOptions options,
                       function_ref<Expected<std::vector<interpreter::Array>>(
                           ArrayRef<mlir::RankedTensorType>)>
                           argumentsFor) {
  return withText(path, options, [&](Printer &printer) {
    return interpretModel(nameOf(path), std::move(options), printer,
                          argumentsFor);
  });
}

Expected<std::vector<double>> shardc::roundingOfResults(StringRef path,
                                                        ModelOptions options,
                                                        int64_t openExtent) {
  return withText(path, options, [&](Printer &printer) {
    return roundingOfResults(nameOf(path), std::move(options), printer,
                             openExtent);
  });
}

Error shardc::emitModelIR(StringRef path, ModelOptions options,
                          raw_ostream &out) {
  return withText(path, options, [&](Printer &printer) {
    return emitModelIR(nameOf(path), std::move(options), printer, out);
  });
}

Error shardc::emitLocalText(StringRef path, ModelOptions options,
                            raw_ostream &out) {
  return withText(path, options, [&](Printer &printer) {
    return emitLocalText(nameOf(path), std::move(options), printer, out);
  });
}

Expected<DeviceImage> shardc::compileDeviceImage(StringRef path,
                                                 ModelOptions options,
                                                 DeviceImageKind kind) {
  return withText(path, options, [&](Printer &printer) {
    return compileDeviceImage(nameOf(path), std::move(options), printer, kind);
  });
}
