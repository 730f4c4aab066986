//===- EmitPlan.h - A function and its plan ---------------------*- C++ -*-===//
#ifndef SHARDC_LIB_MEMORY_EMITPLAN_H
#define SHARDC_LIB_MEMORY_EMITPLAN_H

#include "Rows.h"
#include "shardc/Memory/Plan.h"

namespace shardc::memory {

/// A program, and the IR that it was read off: ops and values of the plan that
/// are no repetitions have the same numbers as these.
struct PlannedBlock {
  Program program;
  std::vector<mlir::Operation *> ops; ///< by op
  std::vector<mlir::Value> values;    ///< by value
};

/// Writes the plan down in place of the block's ops. Loops work on blocks of
/// rows that take about `blockBytes`. Failure where the plan reads what is not
/// yet made, or an op has no form on rows after all: mistakes of ours, with a
/// diagnostic on them.
mlir::LogicalResult emitPlan(PlannedBlock &planned, const RowSpaces &rows,
                             int64_t blockBytes);

} // namespace shardc::memory

#endif // SHARDC_LIB_MEMORY_EMITPLAN_H
