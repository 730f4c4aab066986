//===- Refusal.cpp - Errors that say more than their words ----------------===//
#include "shardc/Support/Refusal.h"
#include "shardc/Support/Misuse.h"

using namespace mlir;
using namespace shardc;

/// What the metadata of an error says; no other values are put there.
static constexpr uint64_t kUnsupported = 77, kMisuse = 2, kFile = 7,
                          kMemory = 9;

static void mark(InFlightDiagnostic &error, uint64_t why) {
  if (Diagnostic *diagnostic = error.getUnderlyingDiagnostic())
    diagnostic->getMetadata().push_back(DiagnosticArgument(why));
}

static bool isMarked(Diagnostic &diagnostic, uint64_t why) {
  return llvm::any_of(
      diagnostic.getMetadata(), [&](const DiagnosticArgument &argument) {
        return argument.getKind() ==
                   DiagnosticArgument::DiagnosticArgumentKind::Unsigned &&
               argument.getAsUnsigned() == why;
      });
}

InFlightDiagnostic shardc::unsupported(InFlightDiagnostic error,
                                       const Twine &what) {
  mark(error, kUnsupported);
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
  return isMarked(diagnostic, kUnsupported);
}

InFlightDiagnostic shardc::misuse(InFlightDiagnostic error) {
  mark(error, kMisuse);
  return error;
}

bool shardc::isMisuse(Diagnostic &diagnostic) {
  return isMarked(diagnostic, kMisuse);
}

InFlightDiagnostic shardc::fileTrouble(InFlightDiagnostic error) {
  mark(error, kFile);
  return error;
}

bool shardc::isFileTrouble(Diagnostic &diagnostic) {
  return isMarked(diagnostic, kFile);
}

InFlightDiagnostic shardc::noMemory(InFlightDiagnostic error) {
  mark(error, kMemory);
  return error;
}

bool shardc::isAboutMemory(Diagnostic &diagnostic) {
  return isMarked(diagnostic, kMemory);
}
