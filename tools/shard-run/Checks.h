//===- Checks.h - Conformance files -----------------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_CHECKS_H
#define SHARDC_TOOLS_SHARD_RUN_CHECKS_H

#include "HostArray.h"
#include "shardc/Translation/Metadata.h"
#include <string>
#include <vector>

namespace shardc {

/// The modules of a file that `// -----` lines part, each with the lines before
/// it left blank, so that locations are the file's. Parts without text but
/// comments are left out.
std::vector<std::string> splitModules(llvm::StringRef text);

/// Compares pairs of arrays, got and expected, as `checks` says. Empty if all
/// hold; else one line for each that does not. Unknown ways do not hold.
std::string runChecks(llvm::ArrayRef<ValueMetadata> checks,
                      llvm::ArrayRef<HostArray> values);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_CHECKS_H
