//===- Register.h - Sharding rules of StableHLO and CHLO --------*- C++ -*-===//
#ifndef SHARDC_RULES_REGISTER_H
#define SHARDC_RULES_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc {

/// Attaches ShardingRuleOpInterface and LocalizeOpInterface to the ops of
/// stablehlo and chlo that have a rule, as soon as those dialects are loaded.
/// An op without one is gathered and runs whole on every rank.
void registerShardingRules(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_RULES_REGISTER_H
