//===- Options.h - What can be said about compiling -------------*- C++ -*-===//
//
// The one table of options: command lines, the C API and Python read it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_OPTIONS_H
#define SHARDC_DRIVER_OPTIONS_H

#include "shardc/Driver/Model.h"
#include "llvm/ADT/ArrayRef.h"

namespace shardc {

struct CompileOption {
  const char *name;
  const char *value; ///< what stands for its value in help; null: a flag
  const char *help;
  bool repeats; ///< may be given several times
  /// Not for tools, which do so in any case, or name something else so.
  bool isForEngines = false;
};

/// The options about compiling a model.
llvm::ArrayRef<CompileOption> compileOptions();

struct GivenOption {
  std::string name;
  std::string value; ///< of a flag "true", "false", or nothing
};

/// How who reads options differs from others.
struct OptionReader {
  /// Tools name the option that says what runs kernels as they like.
  llvm::StringRef targetName = "target";
  /// The arch with CUDA names GPUs alone: their code is what is asked for, and
  /// the host's is native.
  bool writesKernels = false;
  /// Takes the options that are for engines. Models are read in this process,
  /// unless they are said to be foreign, and keep their tokens.
  bool isEngine = false;
};

/// The options as the compiler takes them. Of one that does not repeat the last
/// counts. Usage errors name the option; 77 for what cannot be had together.
llvm::Expected<ModelOptions>
readCompileOptions(llvm::ArrayRef<GivenOption> given,
                   const OptionReader &reader = {});

} // namespace shardc

#endif // SHARDC_DRIVER_OPTIONS_H
