//===- PairsContracts.h - What is asked of ops on all pairs -----*- C++ -*-===//
//
// Discardable attributes of the dialect: shardc/Dialect/Spmd/IR/Contract.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSCONTRACTS_H
#define SHARDC_DIALECT_PAIRS_IR_PAIRSCONTRACTS_H

#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/Contract.h"

namespace shardc::spmd::contract {

/// On ops on all pairs, which way their blocks go: docs/Rationale/Ring.md.
using Way = Contract<PairsDialect::WayAttrHelper>;

} // namespace shardc::spmd::contract

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSCONTRACTS_H
