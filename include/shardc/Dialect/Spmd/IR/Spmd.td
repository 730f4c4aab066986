//===- Spmd.td - The spmd dialect: one dialect, two views --*- tablegen -*-===//
//
// Global view: meshes, shardings, constraints, reshards. Local view: what one
// rank does, with communication as ops.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMD_TD
#define SHARDC_DIALECT_SPMD_IR_SPMD_TD

include "shardc/Dialect/Spmd/IR/SpmdCommunication.td"
include "shardc/Dialect/Spmd/IR/SpmdGlobal.td"
include "shardc/Dialect/Spmd/IR/SpmdLines.td"
include "shardc/Dialect/Spmd/IR/SpmdLocal.td"
include "shardc/Dialect/Spmd/IR/SpmdMatrices.td"
include "shardc/Dialect/Spmd/IR/SpmdPairs.td"
include "shardc/Dialect/Spmd/IR/SpmdSites.td"

#endif // SHARDC_DIALECT_SPMD_IR_SPMD_TD
