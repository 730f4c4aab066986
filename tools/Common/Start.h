//===- Start.h - How every tool begins and ends -----------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_COMMON_START_H
#define SHARDC_TOOLS_COMMON_START_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/InitLLVM.h"

namespace shardc {

/// What must come before all else; see ToolStart.
struct EarlyStart {
  explicit EarlyStart(const char *tool);
  bool isIgnored[3]; ///< HUP, INT, TERM
};

/// The first object of a tool's main. Descriptors 0 to 2 are open afterwards
/// (reading and writing those that were not fails), a broken pipe is an error
/// like others, and memory that cannot be had ends the process with code 9 and
/// one line.
class ToolStart {
public:
  /// `tool` lives as long as the process.
  ToolStart(const char *tool, int &argc, char **&argv);

  /// What main returns: prints `error` as reportAndGetExitCode does, and ends
  /// stdout and stderr. `code`: where there is no error.
  int end(llvm::Error error, int code = 0);

private:
  const char *tool;
  EarlyStart early;
  llvm::InitLLVM init;
};

/// Says what the process is at while the object lives: "memory ran out while
/// WHAT". `what` lives as long as the process.
class Activity {
public:
  explicit Activity(const char *what);
  ~Activity();
  Activity(const Activity &) = delete;
  Activity &operator=(const Activity &) = delete;

private:
  const char *before;
};

/// Clears what went wrong on the standard streams: they end the process with a
/// message of LLVM's otherwise.
void forgetStreamErrors();

/// The same of a process that `tool` has forked: what it ends with.
int endTool(const char *tool, llvm::Error error, int code = 0);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_START_H
