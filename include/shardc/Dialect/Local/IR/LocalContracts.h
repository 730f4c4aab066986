//===- LocalContracts.h - What stages of the local view leave ---*- C++ -*-===//
//
// Discardable attributes of the dialect: shardc/Dialect/Spmd/IR/Contract.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALCONTRACTS_H
#define SHARDC_DIALECT_LOCAL_IR_LOCALCONTRACTS_H

#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Spmd/IR/Contract.h"

namespace shardc::spmd::contract {

/// On `stablehlo.reduce_window`: the window is as long as the longest block,
/// and combines all before an element.
using Running = Mark<LocalDialect::RunningAttrHelper>;
/// On functions: the result of the plan of memory.
using MemoryPlan = Contract<LocalDialect::MemoryPlanAttrHelper>;
/// On what is before values that are computed once more, a number of its
/// own: it must not become one with the first.
using Again = Contract<LocalDialect::AgainAttrHelper>;
/// On a loop over blocks of rows: iterations, rows in each, rows.
using Blocks = Contract<LocalDialect::BlocksAttrHelper>;

} // namespace shardc::spmd::contract

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALCONTRACTS_H
