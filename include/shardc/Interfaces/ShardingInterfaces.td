//===- ShardingInterfaces.td - Rules and local forms -------*- tablegen -*-===//
#ifndef SHARDC_INTERFACES_SHARDINGINTERFACES_TD
#define SHARDC_INTERFACES_SHARDINGINTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::shardc";
  let description = [{
    How the dims of operands and results are tied together. Attached to ops of other dialects
    as external models in lib/Rules.
  }];
  let methods = [
    InterfaceMethod<"The op's rule; failure if this instance has none (it is then gathered).",
                    "::llvm::FailureOr<::shardc::ShardingRule>", "getShardingRule">
  ];
}

def LocalizeOpInterface : OpInterface<"LocalizeOpInterface"> {
  let cppNamespace = "::shardc";
  let description = "The same op on local operands.";
  let methods = [
    InterfaceMethod<"Builds the local form and returns its results; emits an error on failure.",
                    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "localize",
                    (ins "::shardc::Localization &":$localization)>
  ];
}

#endif // SHARDC_INTERFACES_SHARDINGINTERFACES_TD
