//===- Workers.h - Many programs in several processes -----------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_WORKERS_H
#define SHARDC_TOOLS_SHARD_FUZZ_WORKERS_H

#include "Check.h"

namespace shardc::fuzz {

/// Program number `index` of the sequence `seed`.
Program makeProgram(uint64_t seed, int64_t index);
/// From now on each program that is made has tensors without elements. Called
/// before programs are made.
void emptyPrograms();

struct Job {
  uint64_t seed = 0;
  int64_t first = 0, count = 0;
  int processes = 1;
  int secondsEach = 60;
  bool optimized = true;
  std::string fault; ///< planted in each program; empty: none
  bool stopAtFirst = false;
};

/// Checks the programs `first` to `first + count - 1` in child processes, which
/// are replaced when one crashes or hangs. Entry i is of program first + i;
/// those not reached after the first failure stay Pending. Calls
/// `progress(done)` now and then.
std::vector<Outcome> runPrograms(const Job &job,
                                 llvm::function_ref<void(int64_t)> progress);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_WORKERS_H
