//===- StableHLOOps.td - All ops of the dialect ---------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD

include "shardc/Dialect/StableHLO/IR/StableHLOElementwise.td"
include "shardc/Dialect/StableHLO/IR/StableHLOShape.td"
include "shardc/Dialect/StableHLO/IR/StableHLOCompute.td"
include "shardc/Dialect/StableHLO/IR/StableHLOControl.td"
include "shardc/Dialect/StableHLO/IR/StableHLOImported.td"

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
