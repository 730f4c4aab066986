//===- Refusal.h - Errors that say more than their words --------*- C++ -*-===//
//
// A program may be wrong, or right but beyond what this version is declared to
// do (docs/Reference/unsupported.md). Tools end with different codes for the
// two. An error's metadata says which, not how its message
// begins.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_REFUSAL_H
#define SHARDC_SUPPORT_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace shardc {

/// Makes `error` one about what is not supported, and begins its message with
/// "unsupported" and `what`.
mlir::InFlightDiagnostic unsupported(mlir::InFlightDiagnostic error,
                                     const llvm::Twine &what = ": ");

/// "unsupported: " and `what`, at a location or on an op.
mlir::InFlightDiagnostic emitUnsupported(mlir::Location loc,
                                         const llvm::Twine &what = "");
mlir::InFlightDiagnostic emitUnsupported(mlir::Operation *op,
                                         const llvm::Twine &what = "");
/// "'NAME' op unsupported" and `what`.
mlir::InFlightDiagnostic emitOpUnsupported(mlir::Operation *op,
                                           const llvm::Twine &what = "");

/// Whether an error was made by the above.
bool isUnsupported(mlir::Diagnostic &diagnostic);

} // namespace shardc

#endif // SHARDC_SUPPORT_REFUSAL_H
