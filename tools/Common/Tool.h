//===- Tool.h - What the command-line tools share ---------------*- C++ -*-===//
//
// Exit codes, one diagnostic for each error, and the way from a model file to a
// compiled program.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_COMMON_TOOL_H
#define SHARDC_TOOLS_COMMON_TOOL_H

#include "shardc/Driver/Cache.h"
#include "shardc/Driver/Errors.h"
#include "shardc/Driver/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace shardc {

/// Prints `TOOL: error: MESSAGE` on stderr and returns the exit code: 0 for
/// success, 1 for errors that carry none.
int reportAndGetExitCode(llvm::StringRef tool, llvm::Error error);

/// Calls `write` on a new file, which gets its name if all went well; on stdout
/// for '-'. Errors have code 7.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write,
                      unsigned mode = 0666);
/// Says before anything is done that writeFile(path) could only fail.
llvm::Error checkOutput(llvm::StringRef path);
/// Flushes what was printed to stdout; code 7 if that takes less than all.
llvm::Error endOutput();
/// A number among the options: kept as text, so that one that is none gets an
/// error like all others.
using NumberOption = llvm::cl::opt<std::string>;
/// Reads `option` into `value` if it was given. Usage error if it is not a
/// whole number from `least` to `most`.
llvm::Error readNumber(const NumberOption &option, int64_t least, int64_t most,
                       std::optional<int64_t> &value);
/// The same for a finite number of at least 0.
llvm::Error readNumber(const NumberOption &option,
                       std::optional<double> &value);

/// Takes a name for an option of the tool from LLVM, which has one of the same
/// name that no tool of ours reads. Stands before that option, in the same
/// file.
struct TakeOptionName {
  explicit TakeOptionName(llvm::StringRef name);
};

/// Reads the command line of the tool that `category` is named after. Unknown
/// or ill-formed options print one error and the way to --help, and end the
/// process with code 2. --help lists the options of `category`.
void parseCommandLine(int argc, char **argv, llvm::cl::OptionCategory &category,
                      llvm::StringRef overview);

/// Compiles the model at `path`. The compiler's diagnostics go to stderr with
/// the source line; the error is then without a message, and its code 1, or 77
/// where the first of them says that something is unsupported. A file
/// that cannot be read is code 7, a mesh that does not fit --ranks code 2.
llvm::Expected<CompiledProgram> compileModel(llvm::StringRef path,
                                             ModelOptions options);

/// The same, linked, or what the cache has of it: then the compiler's
/// diagnostics are printed as they were. What is wrong with the cache is a
/// warning of `tool`.
llvm::Expected<CompiledProgram> compileLinked(llvm::StringRef tool,
                                              llvm::StringRef path,
                                              ModelOptions options,
                                              const CompileCache &cache);
/// Warnings of `tool` about the cache, a line each.
void warnOfCache(llvm::StringRef tool, llvm::StringRef problem);
/// Links what is not linked. Errors have code 7, or 9.
llvm::Error linkProgram(CompiledProgram &program);

/// What the command line says about the cache. One object a tool, static.
class CacheOptions {
public:
  explicit CacheOptions(llvm::cl::OptionCategory &category);
  /// The cache of programs that `key` signs (readUserKey); none where that was
  /// asked for, in a sandbox, and where options of LLVM or MLIR were given,
  /// which say more of the compiler's work, or change it.
  CompileCache::Options read(llvm::StringRef key) const;

private:
  llvm::cl::OptionCategory &category;
  llvm::cl::opt<bool> off;
};

/// Compiles the model at `path` as far as LLVM IR and writes that as text,
/// optimised. Errors as above.
llvm::Error emitModelIR(llvm::StringRef path, ModelOptions options,
                        llvm::raw_ostream &out);

/// Compiles the model at `path` as far as the local view and writes that as
/// StableHLO. Errors as above.
llvm::Error emitLocalText(llvm::StringRef path, ModelOptions options,
                          llvm::raw_ostream &out);

/// Compiles the model at `path` for CUDA and makes an image of its kernels.
/// Errors as above.
llvm::Expected<DeviceImage> compileDeviceImage(llvm::StringRef path,
                                               ModelOptions options,
                                               DeviceImageKind kind);

/// Interprets the model at `path` as its text says, on what `argumentsFor`
/// gives for the types of its arguments. Errors as above: 77 for what the
/// interpreter does not know.
llvm::Expected<InterpretedModel> interpretModel(
    llvm::StringRef path, ModelOptions options,
    llvm::function_ref<llvm::Expected<std::vector<interpreter::Array>>(
        llvm::ArrayRef<mlir::RankedTensorType>)>
        argumentsFor);

/// What --precision=default may change of each result of the model at `path`
/// (Driver/Rounding.h). Errors as above.
llvm::Expected<std::vector<double>> roundingOfResults(llvm::StringRef path,
                                                      ModelOptions options,
                                                      int64_t openExtent);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_TOOL_H
