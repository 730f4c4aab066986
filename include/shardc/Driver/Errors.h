//===- Errors.h - Errors that say how a tool ends ---------------*- C++ -*-===//
#ifndef SHARDC_DRIVER_ERRORS_H
#define SHARDC_DRIVER_ERRORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace shardc {

/// Why a tool ended. docs/Reference/shard-run.md is the table.
enum class ExitCode {
  Ok = 0,
  Refused = 1,
  Usage = 2,
  Differs = 3,
  RankLost = 4,
  Watchdog = 5,
  Mismatch = 6,
  IO = 7,
  Artifact = 8,
  Memory = 9,
  Unsupported = 77
};

/// An error that ends a tool with a code of its own. An empty message: what
/// there is to say has been said (by the compiler's diagnostics).
class ToolError : public llvm::ErrorInfo<ToolError> {
public:
  static char ID;
  ToolError(ExitCode code, std::string message)
      : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &out) const override { out << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  ExitCode code;
  std::string message;
};

llvm::Error toolError(ExitCode code, const llvm::Twine &message);
/// Gives any other error's message the code `code`.
llvm::Error withCode(ExitCode code, llvm::Error error);

/// Gives `error` code 7, or 9 where its own code is that of memory that could
/// not be had (MemoryErrors.h).
llvm::Error ioError(llvm::Error error);

} // namespace shardc

#endif // SHARDC_DRIVER_ERRORS_H
