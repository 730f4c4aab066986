//===- CompileOptions.h - Options about compiling a model -------*- C++ -*-===//
#ifndef SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H
#define SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H

#include "Tool.h"

namespace shardc {

/// What the command lines of all tools that compile a model say of it. One
/// object a tool, static, before the command line is parsed.
class CompileOptions {
  TakeOptionName takeThreads{"threads"};

public:
  /// Adds the options to `category`. `targetName` is the option that says what
  /// runs the kernels. If `writesKernels`, --arch with CUDA names GPUs alone:
  /// their code is what the tool is for, and the host's is native.
  CompileOptions(llvm::cl::OptionCategory &category, llvm::StringRef targetName,
                 bool writesKernels);

  /// What can be said before a file is read. Usage errors.
  llvm::Error check() const;
  /// The options as the compiler takes them. Usage errors for what is no
  /// number.
  llvm::Expected<ModelOptions> read() const;
  /// The first option given that says something of how a program is compiled,
  /// and so cannot be given with one that is; null if none is.
  const llvm::cl::Option *findGiven() const;

  NumberOption ranks;
  llvm::cl::opt<std::string> mesh;
  llvm::cl::list<std::string> sizes;
  llvm::cl::list<std::string> shapes;
  llvm::cl::opt<std::string> machine;
  llvm::cl::opt<std::string> target;
  llvm::cl::opt<std::string> arch;
  NumberOption threads;
  llvm::cl::opt<bool> noFallback;
  llvm::cl::opt<bool> verifyPartition;
  llvm::cl::opt<bool> noRaise;
  llvm::cl::opt<bool> keepOrder;
  llvm::cl::opt<bool> evenBorders;
  llvm::cl::opt<bool> reproducible;
  llvm::cl::opt<bool> exactSums;
  llvm::cl::opt<std::string> kernels;
  llvm::cl::opt<std::string> precision;

private:
  bool archNamesGpus() const;

  bool writesKernels;
};

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H
