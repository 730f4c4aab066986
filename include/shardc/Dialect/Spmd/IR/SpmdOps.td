//===- SpmdOps.td - Ops of both views ----------------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDOPS_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDOPS_TD

include "shardc/Dialect/Spmd/IR/SpmdAttributes.td"
include "shardc/Dialect/Spmd/IR/SpmdInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Spmd_Op<string mnemonic, list<Trait> traits = []> : Op<Spmd_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Global view
//===----------------------------------------------------------------------===//

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
  let summary = "Put a dim in the order in which its elements are dealt out from both ends, or `back`.";
  let description = [{
    With shard i of `sizes` elements: the result is the i-th part from the front, ⌈size / 2⌉ elements, and the i-th
    from the end, ⌊size / 2⌋, for each i in turn. Under a causal mask such shards are equal work.
    ```mlir
    // 0 1 2 3 4 5 6 7 becomes 0 1 6 7 2 3 4 5.
    %1 = spmd.deal %0 dim 0 sizes [4, 4] : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, I64Attr:$dim, DenseI64ArrayAttr:$sizes, UnitAttr:$back);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `dim` $dim `sizes` $sizes (`back` $back^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Spmd_DealtIotaOp : Spmd_Op<"dealt_iota", [Pure]> {
  let summary = "The index that each element of a dealt dim had.";
  let description = [{
    `spmd.deal` of 0, 1, 2 ...
    ```mlir
    %0 = spmd.dealt_iota sizes [4, 4] : tensor<8xi32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes);
  let results = (outs 1DTensorOf<[I32, I64]>:$result);
  let assemblyFormat = "`sizes` $sizes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Local view: what differs by rank
//===----------------------------------------------------------------------===//

def Spmd_LookupOp : Spmd_Op<"lookup", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "Read this rank's entry of a table.";
  let description = [{
    One entry for each coordinate along `axes`, row-major: local sizes, offsets, phases.
    ```mlir
    %rows = spmd.lookup [8, 7] along ["x"] on @mesh
    ```
    A table that follows from what is bound has a formula, `by #spmd.formula<…>`; its numbers are those of one binding.
  }];
  let arguments = (ins DenseI64ArrayAttr:$table, StrArrayAttr:$axes, FlatSymbolRefAttr:$mesh,
                       OptionalAttr<Spmd_FormulaAttr>:$formula);
  let results = (outs Index:$result);
  let assemblyFormat = "$table `along` $axes `on` $mesh (`by` $formula^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::DenseI64ArrayAttr":$table, "::mlir::ArrayAttr":$axes,
                                 "::mlir::FlatSymbolRefAttr":$mesh),
      [{ build($_builder, $_state, type, table, axes, mesh, FormulaAttr()); }]>];
  let hasFolder = 1;
}

def Spmd_ArenaPlaceOp : Spmd_Op<"arena_place", [Pure]> {
  let summary = "Where a buffer of the arena begins, or where the arena ends.";
  let description = [{
    The offset in bytes of buffer `number` of the module's `spmd.arena_plan` on this rank; of the number behind the last one
    the bytes of the arena.
    ```mlir
    %offset = spmd.arena_place 3
    ```
  }];
  let arguments = (ins I64Attr:$number);
  let results = (outs Index:$offset);
  let assemblyFormat = "$number attr-dict";
}

def Spmd_DilateOp : Spmd_Op<"dilate", [Pure]> {
  let summary = "Spread elements of one dim apart, in a phase that may differ by rank.";
  let description = [{
    result[i] = input[(i - first) / factor] where that is an element, else `fill`. `first` may
    be negative and `size` is the result's extent along `dim`.
    ```mlir
    %1 = spmd.dilate %0 dim 1 by 2 first %first size %size fill %zero
        : tensor<1x4xf32>, tensor<f32> -> tensor<1x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, I64Attr:$factor, Index:$first,
                       Index:$size, AnyRankedTensor:$fill);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `dim` $dim `by` $factor `first` $first `size` $size `fill` $fill attr-dict
    `:` type($input) `,` type($fill) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Spmd_PadOp : Spmd_Op<"pad", [Pure]> {
  let summary = "Read a tensor beyond its edges, where it stands again, mirrored, or as at its edge.";
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

//===----------------------------------------------------------------------===//
// Local view: communication
//===----------------------------------------------------------------------===//

class Spmd_ExchangeOp<string mnemonic> : Spmd_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Spmd_CommunicationOpInterface>,
    DeclareOpInterfaceMethods<Spmd_ExchangeOpInterface>]> {
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$fill,
                       Spmd_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh,
                       OptionalAttr<StrAttr>:$reason, OptionalAttr<Spmd_ExchangePartArrayAttr>:$parts);
  let results = (outs AnyRankedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input, "::mlir::Value":$fill,
                                 "::mlir::ArrayAttr":$dims, "::mlir::FlatSymbolRefAttr":$mesh, "::mlir::StringAttr":$reason), [{
    build($_builder, $_state, result, input, fill, dims, mesh, reason, /*parts=*/::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = [{
    $input custom<DimExchanges>($dims) (`parts` $parts^)? (`fill` $fill^ `:` type($fill))? (`reason` $reason^)? `on` $mesh attr-dict
    `:` type($input) `->` type($result)
  }];
}

def Spmd_HaloExchangeOp : Spmd_ExchangeOp<"halo_exchange"> {
  let summary = "Grow or shift a shard by its neighbours' border elements.";
  let description = [{
    Each rank's block becomes the block it needs: usually its own and a margin, however wide, in
    one dim or in several at once (corners travel in the same round). Past the domain's edge
    stands `fill`.
    ```mlir
    // 8 rows owned, one more needed on each side: 10 rows.
    %1 = spmd.halo_exchange %0 [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x64xf32> -> tensor<10x64xf32>
    ```
    Where `parts` are given only these arrive, and nobody may read the rest of the result: a star of rows
    and columns leaves its corners out.
    ```mlir
    %1 = spmd.halo_exchange %0 [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>, <dim 1 along [] : [0:4] -> [-1:5]>]
        parts [#spmd.part<[-1:9, 7:17], [0:4]>, #spmd.part<[0:8, 8:16], [-1:5]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x6xf32>
    ```
  }];
}

def Spmd_RebalanceOp : Spmd_ExchangeOp<"rebalance"> {
  let summary = "Move from blocks of one partition to blocks of another; only the differences travel.";
  let description = [{
    ```mlir
    // The second rank gives one row to the first.
    %1 = spmd.rebalance %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:5, 5:8]>] on @mesh : tensor<4x3xf32> -> tensor<?x3xf32>
    ```
  }];
}

def Spmd_AllGatherOp : Spmd_ExchangeOp<"all_gather"> {
  let summary = "Give every rank all that its group owns of the listed dims.";
  let description = [{
    ```mlir
    %1 = spmd.all_gather %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4x3xf32> -> tensor<8x3xf32>
    ```
  }];
}

def Spmd_AllToAllOp : Spmd_ExchangeOp<"all_to_all"> {
  let summary = "Make one dim whole while another is cut.";
  let description = [{
    ```mlir
    // Rows were cut, columns are.
    %1 = spmd.all_to_all %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>, <dim 1 along ["x"] : [0:6, 0:6] -> [0:3, 3:6]>]
        on @mesh : tensor<4x6xf32> -> tensor<8x3xf32>
    ```
  }];
}

def Spmd_ExchangeStartOp : Spmd_Op<"exchange_start", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "First half of an exchange: let the others read this rank's block.";
  let description = [{
    Until the `spmd.exchange_wait` of its token, in the same block, the block stays as it is. Work that does
    not need the result stands between the two.
    ```mlir
    %t = spmd.exchange_start %0 : tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs I64:$token);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Spmd_ExchangeWaitOp : Spmd_Op<"exchange_wait", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Spmd_CommunicationOpInterface>,
    DeclareOpInterfaceMethods<Spmd_ExchangeOpInterface>]> {
  let summary = "Second half of an exchange: take what this rank needs.";
  let description = [{
    `kind` is what the exchange is called where it is reported.
    ```mlir
    %1 = spmd.exchange_wait %t of %0 "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x64xf32> -> tensor<10x64xf32>
    ```
  }];
  let arguments = (ins I64:$token, AnyRankedTensor:$input, StrAttr:$kind, Optional<AnyRankedTensor>:$fill,
                       Spmd_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<Spmd_ExchangePartArrayAttr>:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $token `of` $input $kind custom<DimExchanges>($dims) (`parts` $parts^)? (`fill` $fill^ `:` type($fill))? (`reason` $reason^)?
    `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

def Spmd_AllReduceOp : Spmd_Op<"all_reduce", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Spmd_CommunicationOpInterface>]> {
  let summary = "Combine the partial values of a group; every rank gets the result.";
  let description = [{
    ```mlir
    %1 = spmd.all_reduce sum %0 along ["x"] on @mesh : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ReductionKind:$kind, StrArrayAttr:$axes,
                       FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `along` $axes (`reason` $reason^)? `on` $mesh attr-dict `:` type($result)";
}

def Spmd_ReduceScatterOp : Spmd_Op<"reduce_scatter", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Spmd_CommunicationOpInterface>]> {
  let summary = "Combine the partial values of a group; each rank gets its own block of the result.";
  let description = [{
    Every rank of the group along `axes` holds a partial value of the same box; the tables say which
    part of it each rank keeps (owned: that box; needed: the part).
    ```mlir
    %1 = spmd.reduce_scatter sum %0 along ["x"] [<dim 0 along ["x"] : [0:8, 0:8] -> [0:4, 4:8]>]
        on @mesh : tensor<8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ReductionKind:$kind, StrArrayAttr:$axes,
                       Spmd_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $input `along` $axes custom<DimExchanges>($dims) (`reason` $reason^)? `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// After Lowering
//===----------------------------------------------------------------------===//

def Spmd_RunSiteOp : Spmd_Op<"run_site", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run one communication site into a destination.";
  let description = [{
    On tensors the result is `init`, overwritten; on buffers there is no result. With a token it is the second
    half of an exchange that `spmd.start_site` began, or a use of the plan that one made. `accumulates`: the
    site changes some of what is in `init`.
    ```mlir
    %1 = spmd.run_site 3 ins(%0, %zero : tensor<8x4xf32>, tensor<f32>) outs(%init : tensor<10x4xf32>) -> tensor<10x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, Optional<I64>:$token, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits,
                       UnitAttr:$accumulates);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $site (`after` $token^)? `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $inits `:` type($inits) `)` (`accumulates` $accumulates^)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def Spmd_StartSiteOp : Spmd_Op<"start_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begin the exchange of one site; `spmd.run_site` with the token ends it.";
  let description = [{
    On tensors `held` is the input as peers read it, perhaps a dense copy: the `spmd.run_site` takes it, so that it
    stays until then. On buffers there is the token alone.
    ```mlir
    %t, %held = spmd.start_site 3 ins(%0 : tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyShaped:$input);
  let results = (outs I64:$token, Optional<AnyRankedTensor>:$held);
  let assemblyFormat = "$site `ins` `(` $input `:` type($input) `)` attr-dict (`->` type($held)^)?";
}

def Spmd_ReleaseSiteOp : Spmd_Op<"release_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until nobody reads the source of an exchange any more.";
  let description = [{
    Of a site whose `spmd.run_site` does not wait for that: until here the buffer stays as it is.
    ```mlir
    spmd.release_site 3 of %0 : memref<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyMemRef:$input);
  let assemblyFormat = "$site `of` $input attr-dict `:` type($input)";
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDOPS_TD
