//===- SpmdManual.td - Regions that communicate by themselves ---*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDMANUAL_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDMANUAL_TD

include "shardc/Dialect/Spmd/IR/SpmdBase.td"

def Spmd_ShardingArrayAttr : TypedArrayAttrBase<Spmd_ShardingAttr, "one sharding for each value">;

def Spmd_ManualOp : Spmd_Op<"manual", [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A region on local shapes along some axes, which communicates along them by itself.";
  let description = [{
    Global view. Along the manual axes, operands arrive in `in_shardings` and results leave in
    `out_shardings`; the region sees the blocks, which are equally large, and its values are
    sharded along the other, free axes only. Each coordinate of the manual axes runs the region
    on its own; StableHLO's collectives in it name ranks of the whole mesh. Of the free axes, the
    shardings are what is asked for before propagation, and what is so after it. In each dim the
    manual axes come before the free ones. Regions may be nested.
    ```mlir
    %1 = spmd.manual(%0) in [#spmd.sharding<@mesh, [{"x"}, {} ]>] out [#spmd.sharding<@mesh, [{"x"}, {} ]>] along ["x"] {
    ^bb0(%block: tensor<4x6xf32>):
      spmd.return %block : tensor<4x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Spmd_ShardingArrayAttr:$in_shardings,
                       Spmd_ShardingArrayAttr:$out_shardings, StrArrayAttr:$manual_axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `in` $in_shardings `out` $out_shardings `along` $manual_axes attr-dict-with-keyword
    $body `:` functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// What `boundary`, one of the shardings of operands or results, leaves to the
    /// region: the same without the manual axes. Requires a verified op.
    ShardingAttr getBodySharding(ShardingAttr boundary);
    bool isManual(::mlir::StringAttr axis) { return ::llvm::is_contained(getManualAxes(), axis); }
    /// The number of blocks that the manual axes of `dim` make.
    int64_t countBlocks(DimShardingAttr dim, MeshAttr mesh);
    bool hasManualAxes(DimShardingAttr dim) { return ::llvm::any_of(dim.getAxes(), [&](::mlir::StringAttr axis) { return isManual(axis); }); }
  }];
}

def Spmd_ReturnOp : Spmd_Op<"return", [Pure, Terminator, HasParent<"ManualOp">]> {
  let summary = "Ends a manual region.";
  let description = [{
    ```mlir
    // Each rank along x has its own two numbers.
    %1 = spmd.manual() in [] out [#spmd.sharding<@mesh, [{"x"} ]>] along ["x"] {
      %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
      spmd.return %0 : tensor<2xf32>
    } : () -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDMANUAL_TD
