//===- StableHLOImported.h - Ops that only import meets ---------*- C++ -*-===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_H
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_H

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/StableHLO/IR/StableHLOImported.h.inc"

namespace shardc::stablehlo {

/// Adds the ops of this file to the dialect.
void addImportedOps(StablehloDialect *dialect);

} // namespace shardc::stablehlo

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_H
