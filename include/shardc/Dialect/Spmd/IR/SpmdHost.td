//===- SpmdHost.td - Calls of the process that runs a program ---*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDHOST_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDHOST_TD

include "shardc/Dialect/Spmd/IR/SpmdBase.td"

def Spmd_HostCallOp : Spmd_Op<"host_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call function `index` of the process that runs the program, with whole values.";
  let description = [{
    In the global view operands and results are whole. `effects`: it is called even if nobody reads its results, and
    calls with effects keep their order; `ordered` is passed to the function. In the local view the rank at coordinate 0
    along `axes` calls; it alone has elements, of results too; `types` are those of whole operands and results. `shards`: every
    rank calls, with its own shards, and there are no results.
    ```mlir
    %1 = spmd.host_call 0(%0) effects : (tensor<8x4xf32>) -> tensor<8xf32>
    // On a rank: %w has 8 rows on the first, none on others.
    %r = spmd.host_call 0(%w) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh : (tensor<?x4xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Variadic<AnyRankedTensor>:$inputs, UnitAttr:$has_effect, UnitAttr:$ordered,
                       UnitAttr:$shards, OptionalAttr<TypeArrayAttr>:$types, OptionalAttr<StrArrayAttr>:$axes,
                       OptionalAttr<FlatSymbolRefAttr>:$mesh);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $index `(` $inputs `)` (`effects` $has_effect^)? (`ordered` $ordered^)? (`shards` $shards^)?
    (`as` $types^ `along` $axes `on` $mesh)? attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def Spmd_RunHostOp : Spmd_Op<"run_host", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "`spmd.host_call` into destinations.";
  let description = [{
    Once communication is lowered: on tensors results are `inits`, overwritten; on buffers there are none.
    ```mlir
    %r = spmd.run_host 0 ins(%w : tensor<?x4xf32>) outs(%e : tensor<?xf32>) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"]
        on @mesh -> tensor<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits, UnitAttr:$has_effect,
                       UnitAttr:$ordered, TypeArrayAttr:$types, StrArrayAttr:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $index (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)?
    (`effects` $has_effect^)? (`ordered` $ordered^)? `as` $types `along` $axes `on` $mesh attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDHOST_TD
