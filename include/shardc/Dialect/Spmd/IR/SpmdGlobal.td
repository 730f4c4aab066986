//===- SpmdGlobal.td - Ops of the global view --------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_TD

include "shardc/Dialect/Spmd/IR/SpmdBase.td"
include "shardc/Dialect/Spmd/IR/SpmdManual.td"

def Spmd_MeshOp : Spmd_Op<"mesh", [Symbol]> {
  let summary = "A named arrangement of ranks.";
  let description = [{
    Rank r has the row-major coordinates of r in the mesh.
    ```mlir
    spmd.mesh @mesh = <["x"=4, "y"=2]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Spmd_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Spmd_ConstrainOp : Spmd_Op<"constrain", [Pure, SameOperandsAndResultType]> {
  let summary = "Ask for a sharding at this place.";
  let description = [{
    ```mlir
    %1 = spmd.constrain %0 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ShardingAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Spmd_ExtentOp : Spmd_Op<"extent", [Pure]> {
  let summary = "An extent that is known when the program is bound, as a value.";
  let description = [{
    The number that follows from the mesh's open extents as `placeholder` does.
    ```mlir
    %n = spmd.extent 231947 : tensor<i32>
    ```
  }];
  let arguments = (ins I64Attr:$placeholder);
  let results = (outs 0DTensorOf<[AnyInteger]>:$result);
  let assemblyFormat = "$placeholder attr-dict `:` type($result)";
}

def Spmd_ReshardOp : Spmd_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "Move a value from one sharding to another.";
  let description = [{
    Only the parts that a rank needs and does not own move. `reason` says who asked.
    ```mlir
    %1 = spmd.reshard %0 <@mesh, [{"x"}, {} ]> -> <@mesh, [{}, {"x"} ]>
        reason "operand 1 of 'stablehlo.dot_general' contracts dim 0" : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ShardingAttr:$source,
                       Spmd_ShardingAttr:$target, StrAttr:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $source `->` $target `reason` $reason attr-dict `:` type($result)";
}

def Spmd_DealOp : Spmd_Op<"deal", [Pure, SameOperandsAndResultType]> {
  let summary = "Put a dim in zigzag order, or `back`.";
  let description = [{
    With shard i from b to e, as `sizes` say: the result is the i-th part from the front, elements ⌈b / 2⌉ to ⌈e / 2⌉, and the i-th
    from the end, as many as remain of the shard, for each i in turn. Under a causal mask such shards are equal work. Where `sizes` follow from what
    is bound, `by <…>` (#spmd.formula) in front of them is the formula of their boundaries. `reason` says who asked.
    ```mlir
    // 0 1 2 3 4 5 6 7 becomes 0 1 6 7 2 3 4 5.
    %1 = spmd.deal %0 dim 0 sizes [4, 4] : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, I64Attr:$dim, DenseI64ArrayAttr:$sizes,
                       OptionalAttr<Spmd_FormulaAttr>:$formula, UnitAttr:$back, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `dim` $dim (`by` $formula^)? `sizes` $sizes (`back` $back^)? (`reason` $reason^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Spmd_DealtIotaOp : Spmd_Op<"dealt_iota", [Pure]> {
  let summary = "The index that each element of a dim in zigzag order had.";
  let description = [{
    `spmd.deal` of 0, 1, 2 ...
    ```mlir
    %0 = spmd.dealt_iota sizes [4, 4] : tensor<8xi32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes, OptionalAttr<Spmd_FormulaAttr>:$formula);
  let results = (outs 1DTensorOf<[I32, I64]>:$result);
  let assemblyFormat = "(`by` $formula^)? `sizes` $sizes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Spmd_PadOp : Spmd_Op<"pad", [Pure]> {
  let summary = "Read a tensor beyond its edges, where it repeats, is mirrored, or is as at its edge.";
  let description = [{
    result[i] = input[s(i - low)] in each dim; s is the identity inside the input and what `mode` says
    outside. Negative amounts leave elements out; `low = [-1] high = [1]` with `wrap` is a roll by -1.
    Raise makes it; Partition makes an exchange of it.
    ```mlir
    %1 = spmd.pad edge %0 low = [1, 0] high = [1, 0] : tensor<8x4xf32> -> tensor<10x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, Spmd_PaddingMode:$mode, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$mode $input `low` `=` $low `high` `=` $high attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Spmd_HostCallOp : Spmd_Op<"host_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call function `index` of the process that runs the program, with whole values.";
  let description = [{
    `effects`: it is called even if nobody reads its results, and calls with effects keep their order; `ordered` is passed to
    the function. `shards`: every rank calls, with its own shards, and there are no results. Partition makes a
    `local.call_host` of it.
    ```mlir
    %1 = spmd.host_call 0(%0) effects : (tensor<8x4xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Variadic<AnyRankedTensor>:$inputs, UnitAttr:$has_effect, UnitAttr:$ordered,
                       UnitAttr:$shards);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $index `(` $inputs `)` (`effects` $has_effect^)? (`ordered` $ordered^)? (`shards` $shards^)? attr-dict
    `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDGLOBAL_TD
