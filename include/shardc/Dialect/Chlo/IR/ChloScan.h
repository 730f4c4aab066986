//===- ChloScan.h - chlo.scan -----------------------------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_CHLO_IR_CHLOSCAN_H
#define SHARDC_DIALECT_CHLO_IR_CHLOSCAN_H

#include "shardc/Dialect/Chlo/IR/Chlo.h"

#define GET_OP_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloScan.h.inc"

namespace shardc::chlo {

/// Adds `chlo.scan` to the dialect.
void addScanOp(ChloDialect *dialect);

} // namespace shardc::chlo

#endif // SHARDC_DIALECT_CHLO_IR_CHLOSCAN_H
