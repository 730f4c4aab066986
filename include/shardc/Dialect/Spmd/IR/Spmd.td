//===- Spmd.td - The spmd dialect: one dialect, two views --*- tablegen -*-===//
//
// Global view: meshes, shardings, constraints, reshards. Local view: what one
// rank does, with communication as ops.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMD_TD
#define SHARDC_DIALECT_SPMD_IR_SPMD_TD

include "shardc/Dialect/Spmd/IR/SpmdAllPairs.td"
include "shardc/Dialect/Spmd/IR/SpmdAttributes.td"
include "shardc/Dialect/Spmd/IR/SpmdHost.td"
include "shardc/Dialect/Spmd/IR/SpmdLibrary.td"
include "shardc/Dialect/Spmd/IR/SpmdLines.td"
include "shardc/Dialect/Spmd/IR/SpmdManual.td"
include "shardc/Dialect/Spmd/IR/SpmdOps.td"
include "shardc/Dialect/Spmd/IR/SpmdRing.td"
include "shardc/Dialect/Spmd/IR/SpmdRows.td"

#endif // SHARDC_DIALECT_SPMD_IR_SPMD_TD
