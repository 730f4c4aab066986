//===- Trace.h - What ranks did, for trace viewers --------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_TRACE_H
#define SHARDC_TOOLS_SHARD_RUN_TRACE_H

#include "Session.h"

namespace shardc {

/// Writes `run.trace` to `path` as Chrome trace events
/// (docs/Reference/traces.md says what each is).
llvm::Error writeTrace(llvm::StringRef path, const ProgramMetadata &program,
                       const RunResult &run);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_TRACE_H
