//===- Refusal.cpp - Errors that say more than their words ----------------===//
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;

/// What the metadata of an error says; no other value is put there.
static constexpr uint64_t kUnsupported = 77;

InFlightDiagnostic shardc::unsupported(InFlightDiagnostic error,
                                       const Twine &what) {
  if (Diagnostic *diagnostic = error.getUnderlyingDiagnostic())
    diagnostic->getMetadata().push_back(DiagnosticArgument(kUnsupported));
  error << "unsupported" << what;
  return error;
}

InFlightDiagnostic shardc::emitUnsupported(Location loc, const Twine &what) {
  return unsupported(emitError(loc), ": " + what);
}

InFlightDiagnostic shardc::emitUnsupported(Operation *op, const Twine &what) {
  return unsupported(op->emitError(), ": " + what);
}

InFlightDiagnostic shardc::emitOpUnsupported(Operation *op, const Twine &what) {
  return unsupported(op->emitOpError(), what);
}

bool shardc::isUnsupported(Diagnostic &diagnostic) {
  return llvm::any_of(
      diagnostic.getMetadata(), [](const DiagnosticArgument &argument) {
        return argument.getKind() ==
                   DiagnosticArgument::DiagnosticArgumentKind::Unsigned &&
               argument.getAsUnsigned() == kUnsupported;
      });
}
