//===- Misuse.h - Errors about what is beside a program ---------*- C++ -*-===//
//
// A program may be right, but asked for in a way that does not fit it: an
// option that names what it has not, sizes that do not add up. Tools end with
// the code of bad usage then, not with that of a bad program. As of what is
// unsupported (Refusal.h), an error's metadata says which.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_MISUSE_H
#define SHARDC_SUPPORT_MISUSE_H

#include "mlir/IR/Diagnostics.h"

namespace shardc {

/// Makes `error` one about what the caller gave.
mlir::InFlightDiagnostic misuse(mlir::InFlightDiagnostic error);

/// Whether an error was made by misuse.
bool isMisuse(mlir::Diagnostic &diagnostic);

/// Makes `error` one about a file that could not be written or read.
mlir::InFlightDiagnostic fileTrouble(mlir::InFlightDiagnostic error);

/// Whether an error was made by fileTrouble.
bool isFileTrouble(mlir::Diagnostic &diagnostic);

/// Makes `error` one about memory, a process or a pipe that could not be had.
mlir::InFlightDiagnostic noMemory(mlir::InFlightDiagnostic error);

/// Whether an error was made by noMemory.
bool isAboutMemory(mlir::Diagnostic &diagnostic);

} // namespace shardc

#endif // SHARDC_SUPPORT_MISUSE_H
