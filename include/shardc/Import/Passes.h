//===- Passes.h - Passes of the Import room ---------------------*- C++ -*-===//
#ifndef SHARDC_IMPORT_PASSES_H
#define SHARDC_IMPORT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Import/DialectInterface.h"
#include "shardc/Import/PlaceholderSet.h"
#include <string>

namespace shardc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Import/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_IMPORT_PASSES_H
