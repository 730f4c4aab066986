//===- Faults.h - Mistakes to be found --------------------------*- C++ -*-===//
//
// The test of the tests: a compiler with one of these mistakes must be caught
// by the random programs. They live here alone, not in the compiler: each edits
// the local view as a wrong rule, a wrong table or a missing step would leave
// it, with shapes as they were.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H
#define SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace shardc::fuzz {

/// The names of all faults.
std::vector<std::string> faultNames();

/// Makes the mistake `name` wherever it can be made in `module`, a program's
/// local view before communication is optimised. Returns whether there was such
/// a place.
bool plantFault(mlir::ModuleOp module, llvm::StringRef name);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H
