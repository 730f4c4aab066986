//===- Interpret.h - The interpreter on arrays of this process --*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_INTERPRET_H
#define SHARDC_TOOLS_SHARD_RUN_INTERPRET_H

#include "HostArray.h"
#include "Options.h"
#include "Report.h"
#include "shardc/Translation/Metadata.h"

namespace shardc {

struct InterpretedRun {
  std::vector<HostArray> outputs;
  std::string failedChecks; ///< one line each; empty if all hold
};

/// What the interpreter makes of the model on `inputs`. An error where a result
/// has another type or shape than `program` says.
llvm::Expected<InterpretedRun> interpretRun(const RunOptions &options,
                                            const ProgramMetadata &program,
                                            llvm::ArrayRef<HostArray> inputs);

/// Compares outputs as --rtol and --atol say, or by type. Where --atol says
/// nothing each may also be off by its `rounding` (Driver/Rounding.h), if any.
Verdict compareAll(llvm::StringRef with, llvm::ArrayRef<HostArray> got,
                   llvm::ArrayRef<HostArray> expected,
                   const RunOptions &options,
                   llvm::ArrayRef<double> rounding = {});

/// --interpret: the model's own inputs, outputs and checks, without ranks.
llvm::Error runInterpreter(const RunOptions &options);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_INTERPRET_H
