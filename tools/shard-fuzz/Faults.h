//===- Faults.h - Mistakes to be found --------------------------*- C++ -*-===//
//
// The test of the tests: a compiler with one of these mistakes must be caught
// by the random programs. They live here alone, not in the compiler: each edits
// what a pass leaves as a wrong rule, a wrong table or a missing step would
// have left it, with shapes as they were.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H
#define SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace shardc::fuzz {

/// The names of all faults.
std::vector<std::string> faultNames();
/// Those of which the interpreter can say that they are wrong.
std::vector<std::string> interpretedFaultNames();
/// Those of what keeps ranks and threads apart, left out.
std::vector<std::string> raceNames();

/// Kinds of ops that lead to a place for a fault or race, where other programs
/// rarely do.
std::vector<std::string> kindsOf(llvm::StringRef fault);

/// What StageOptions::instrument is to be, so that the mistake `fault` is made
/// wherever it can be once its pass has run. Then `planted` is called with
/// whether there was such a place.
std::function<void(mlir::PassManager &)>
planterOf(llvm::StringRef fault, std::function<void(bool)> planted);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_FAULTS_H
