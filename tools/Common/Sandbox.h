//===- Sandbox.h - Programs of people that are not trusted ------*- C++ -*-===//
//
// A tool under --sandbox reads, compiles and runs a program in a process that
// can open, write and start nothing by itself: a seccomp filter lets it compute
// and forwards every other system call to this process, its supervisor, which
// opens the files that the command line names in its place, and ends the run
// for anything else. docs/Reference/trust.md says what is promised.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_COMMON_SANDBOX_H
#define SHARDC_TOOLS_COMMON_SANDBOX_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace shardc {

/// What the supervisor does for a tool.
struct SandboxRules {
  std::string tool;                            ///< its name, for messages
  std::vector<std::string> readable, writable; ///< as the tool spells them
  /// Whether a file that is not named is merely not there. Else asking for it
  /// ends the run.
  bool hidesFiles = false;
  /// Signs what the tool has made; may be empty.
  std::function<llvm::Expected<std::string>(llvm::StringRef code,
                                            llvm::StringRef program)>
      seal;
};

/// Runs `body` in a sandboxed process, and links for it. `code` is what that
/// ended with; 1, and a line on stderr, where it did what is forbidden. An
/// error, and nothing has run, where the system has no such filters.
/// SHARDC_SANDBOX_LOG names a file that gets a line for each forbidden call.
llvm::Error runSandboxed(const SandboxRules &rules,
                         llvm::function_ref<llvm::Error()> body, int &code);

/// Whether this process is a sandboxed one.
bool isSandboxed();

/// In a sandboxed process: what SandboxRules::seal makes.
llvm::Expected<std::string> sealOutside(llvm::StringRef code,
                                        llvm::StringRef program);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_SANDBOX_H
