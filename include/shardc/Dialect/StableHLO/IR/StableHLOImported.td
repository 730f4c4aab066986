//===- StableHLOImported.td - Ops that only import meets ------------------===//
//
// Import says them in other ops, or refuses them, before any other stage.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_TD

include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.td"

//===----------------------------------------------------------------------===//
// Communication of programs that run side by side
//===----------------------------------------------------------------------===//

def StableHLO_CollectiveReduceOp : StableHLO_Op<"collective_reduce", [RecursiveMemoryEffects]> {
  let summary = "Elementwise reduction over a group, for its first member; zeros for the others.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_SendOp : StableHLO_Op<"send"> {
  let summary = "Hand values to who receives on the channel.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_TokenType:$token,
      StableHLO_ChannelHandleAttr:$channel_handle,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
      OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs StableHLO_TokenType:$result);
  let hasVerifier = 1;
}

def StableHLO_RecvOp : StableHLO_Op<"recv"> {
  let summary = "Values that were sent on the channel, in their order.";
  let arguments = (ins StableHLO_TokenType:$token, StableHLO_ChannelHandleAttr:$channel_handle,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
      OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def StableHLO_InfeedOp : StableHLO_Op<"infeed"> {
  let summary = "The next values that are fed in.";
  let arguments = (ins StableHLO_TokenType:$token,
      DefaultValuedOptionalAttr<StrAttr, "\"\"">:$infeed_config, OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed"> {
  let summary = "Values that leave the program.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_TokenType:$token,
      DefaultValuedOptionalAttr<StrAttr, "\"\"">:$outfeed_config);
  let results = (outs StableHLO_TokenType:$result);
}

def StableHLO_CrossReplicaSumOp
    : StableHLO_Op<"cross-replica-sum", [Pure, SameOperandsAndResultType]> {
  let summary = "The sum over a group of replicas (an older all_reduce).";
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs StableHLO_Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Operations that are under way
//===----------------------------------------------------------------------===//

def StableHLO_AsyncStartOp
    : StableHLO_Op<"async_start", [IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "Begins a collective or a slice.";
  let description = [{
    ```mlir
    %f = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
      stablehlo.return %g : tensor<4xf32>
    }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
    %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands);
  let results = (outs StableHLO_FutureType:$future);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done"> {
  let summary = "The results of what has begun.";
  let arguments = (ins StableHLO_FutureType:$future);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products and rows by older names
//===----------------------------------------------------------------------===//

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let summary = "A product of tensors by named dims.";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let summary = "A sum over named dims, the others in another order.";
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", [Pure]> {
  let summary = "Slices of a dim by index.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$index, I64Attr:$dim,
      I64Attr:$batch_dims);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOIMPORTED_TD
