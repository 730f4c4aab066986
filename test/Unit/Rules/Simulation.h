//===- Simulation.h - One op, cut in every way ------------------*- C++ -*-===//
#ifndef SHARDC_TEST_UNIT_RULES_SIMULATION_H
#define SHARDC_TEST_UNIT_RULES_SIMULATION_H

#include "Interpreter.h"
#include "shardc/Interfaces/Localization.h"

namespace shardc::test {

/// Says what is wrong with `rule` for `op` in itself: numbers of tensors and
/// dims, factors out of range, results that are no exact merges, reads outside
/// an operand that declares none. Empty if nothing is.
std::string checkRule(mlir::Operation *op, const ShardingRule &rule);

/// Two factors, in ascending order, that one axis cuts.
using SharedAxis = std::optional<std::pair<int64_t, int64_t>>;

/// Cuts factor i of the op's rule at `cuts[i]` (one shard: not at all), each
/// over a mesh axis of its own, but for the two of `shared`, which have as many
/// shards; hands every rank what its rule says it needs
/// and no more; localizes the op once; runs it on all ranks; compares each
/// rank's result with its block of the whole. `environment` holds the global
/// values. Returns what differs, or nothing.
std::string checkCut(mlir::Operation *op, llvm::ArrayRef<Boundaries> cuts,
                     const Environment &environment,
                     SharedAxis shared = std::nullopt);

} // namespace shardc::test

#endif // SHARDC_TEST_UNIT_RULES_SIMULATION_H
