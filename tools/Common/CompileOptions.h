//===- CompileOptions.h - Options about compiling a model -------*- C++ -*-===//
#ifndef SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H
#define SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H

#include "Tool.h"
#include "shardc/Driver/Options.h"

namespace shardc {

/// What the command lines of all tools that compile a model say of it: the
/// options of Driver/Options.h. One object a tool, static, before the command
/// line is parsed.
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
  /// The options as the compiler takes them. Errors as above.
  llvm::Expected<ModelOptions> read() const;
  /// The first option given that says something of how a program is compiled,
  /// and so cannot be given with one that is; null if none is.
  const llvm::cl::Option *findGiven(llvm::ArrayRef<llvm::StringRef> but = {
                                        "ranks", "mesh"}) const;
  bool isGiven(llvm::StringRef name) const;
  /// What runs the kernels: "cpu", "cuda", "emulated-cuda".
  llvm::StringRef target() const;

private:
  /// One of the three, for what the table says.
  struct Entry {
    const CompileOption *option = nullptr;
    std::unique_ptr<llvm::cl::opt<bool>> flag;
    std::unique_ptr<llvm::cl::opt<std::string>> text;
    std::unique_ptr<llvm::cl::list<std::string>> list;
    const llvm::cl::Option &command() const;
  };
  const Entry &find(llvm::StringRef name) const;

  OptionReader reader;
  std::vector<Entry> entries;
};

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_COMPILEOPTIONS_H
