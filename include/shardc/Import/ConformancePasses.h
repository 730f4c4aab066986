//===- ConformancePasses.h - Conformance files ------------------*- C++ -*-===//
//
// A conformance file says what its own values should be (the check dialect),
// and may run programs side by side (the interpreter dialect). Tools read such
// files; no library links what is here.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_IMPORT_CONFORMANCEPASSES_H
#define SHARDC_IMPORT_CONFORMANCEPASSES_H

#include "mlir/Pass/Pass.h"

namespace shardc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Import/ConformancePasses.h.inc"

/// Lets import read conformance files in contexts of `registry`.
void registerConformanceImport(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_IMPORT_CONFORMANCEPASSES_H
