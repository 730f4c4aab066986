//===- StableHLOControl.td - Control flow, calls, collectives -------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROL_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROL_TD

include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.td"

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region of a stablehlo op.";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_WhileOp : StableHLO_Op<"while",
    [RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Repeat body while cond holds.";
  let description = [{
    ```mlir
    %r:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %p = stablehlo.compare LT, %iterArg, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %i = stablehlo.add %iterArg, %one : tensor<i32>
      stablehlo.return %i, %iterArg_0 : tensor<i32>, tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$operand);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_CaseOp : StableHLO_Op<"case", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "One of several branches by index; the last one if out of range.";
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
}

def StableHLO_IfOp : StableHLO_Op<"if", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "One of two branches.";
  let arguments = (ins 0DTensorOf<[I1]>:$pred);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$results);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
}

def StableHLO_MapOp : StableHLO_Op<"map",
    [RecursiveMemoryEffects, RecursivelySpeculatable, StableHLO_Elementwise,
     SameOperandsAndResultShape]> {
  let summary = "A computation on scalars, for each element.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_Op<"optimization_barrier", [Pure]> {
  let summary = "Its operands; nothing moves across.";
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$operand);
  let results = (outs Variadic<StableHLO_TensorOrToken>:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A call of something outside StableHLO.";
  let description = [{
    ```mlir
    %1 = stablehlo.custom_call @target(%0) {api_version = 4 : i32, backend_config = {}}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[StableHLO_AnyValue, StableHLO_FutureType]>>:$inputs,
      StrAttr:$call_target_name,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
      OptionalAttr<StableHLO_BackendConfig>:$backend_config,
      DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
          "::shardc::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
      DefaultValuedOptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "symbols">,
          "{}">:$called_computations,
      OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
      DefaultValuedOptionalAttr<TypedArrayAttrBase<StableHLO_OutputOperandAliasAttr, "aliases">,
          "{}">:$output_operand_aliases);
  let results = (outs Variadic<StableHLO_AnyValue>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_CompositeOp : StableHLO_Op<"composite",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An op by name, with a function that says what it computes.";
  let description = [{
    ```mlir
    %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 2 : i64},
        decomposition = @my.op.impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<StableHLO_AnyValue>:$inputs, StrAttr:$name,
      DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
      FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<StableHLO_AnyValue>:$results);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

def StableHLO_TupleOp : StableHLO_Op<"tuple", [Pure]> {
  let summary = "Values as one.";
  let arguments = (ins Variadic<StableHLO_AnyValue>:$val);
  let results = (outs AnyTuple:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
}

def StableHLO_GetTupleElementOp : StableHLO_Op<"get_tuple_element", [Pure]> {
  let summary = "One value of a tuple.";
  let arguments = (ins AnyTuple:$operand, I32Attr:$index);
  let results = (outs StableHLO_AnyValue:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure]> {
  let summary = "A token later than all its operands.";
  let arguments = (ins Variadic<StableHLO_TokenType>:$inputs);
  let results = (outs StableHLO_TokenType:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` type($result)
  }];
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure]> {
  let summary = "The first token.";
  let results = (outs StableHLO_TokenType:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

//===----------------------------------------------------------------------===//
// Communication, as manual regions hold it
//===----------------------------------------------------------------------===//

def StableHLO_PartitionIdOp : StableHLO_InferOp<"partition_id", [Pure]> {
  let summary = "This partition's number.";
  let results = (outs 0DTensorOf<[UI32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def StableHLO_ReplicaIdOp : StableHLO_InferOp<"replica_id", [Pure]> {
  let summary = "This replica's number.";
  let results = (outs 0DTensorOf<[UI32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def StableHLO_AllGatherOp : StableHLO_Op<"all_gather", [Pure]> {
  let summary = "Blocks of all members of a group, along one dim.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64Attr:$all_gather_dim,
      StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def StableHLO_AllReduceOp : StableHLO_Op<"all_reduce", [RecursiveMemoryEffects]> {
  let summary = "Elementwise reduction over a group.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_ReduceScatterOp : StableHLO_Op<"reduce_scatter", [RecursiveMemoryEffects]> {
  let summary = "Elementwise reduction over a group, each member keeping its block of one dim.";
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$scatter_dimension,
      StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_AllToAllOp : StableHLO_Op<"all_to_all", [Pure]> {
  let summary = "Split along one dim, exchange, join along another.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64Attr:$split_dimension,
      I64Attr:$concat_dimension, I64Attr:$split_count, StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp
    : StableHLO_Op<"collective_permute", [Pure, SameOperandsAndResultType]> {
  let summary = "Send to a partner; zeros for those who receive nothing.";
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs StableHLO_Tensor:$result);
  let extraClassDeclaration = compatibleReturnTypes;
  let hasVerifier = 1;
}

def StableHLO_CollectiveBroadcastOp : StableHLO_Op<"collective_broadcast", [Pure]> {
  let summary = "The values of one member of each group; zeros for those in no group.";
  let description = [{
    It is the group's first member, or, with `has_dynamic_root`, that whose place in the group the last
    operand holds, for each of the others. Import leaves one operand and the first member.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      StableHLO_ReplicaGroups:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let extraClassDeclaration = [{
    /// The operands that are sent.
    ::mlir::OperandRange getSent() {
      return getOperands().drop_back(getHasDynamicRoot() ? 1 : 0);
    }
  }];
  let hasVerifier = 1;
  // Bytecode of JAX's has no has_dynamic_root.
  let useCustomPropertiesEncoding = 1;
}

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROL_TD
