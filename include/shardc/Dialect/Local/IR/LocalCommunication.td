//===- LocalCommunication.td - Ops of the local view: communication *- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_TD

include "shardc/Dialect/Local/IR/LocalDialect.td"
include "shardc/Dialect/Local/IR/LocalRows.td"

class Local_ExchangeOp<string mnemonic> : Local_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Local_CommunicationOpInterface>,
    DeclareOpInterfaceMethods<Local_ExchangeOpInterface>]> {
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$fill,
                       Local_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh,
                       OptionalAttr<StrAttr>:$reason, OptionalAttr<Local_ExchangePartArrayAttr>:$parts);
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

def Local_HaloExchangeOp : Local_ExchangeOp<"halo_exchange"> {
  let summary = "Grow or shift a shard by its neighbours' border elements.";
  let description = [{
    Each rank's block becomes the block it needs: usually its own and a margin, however wide, in
    one dim or in several at once (corners travel in the same round). Past the domain's edge
    is `fill`.
    ```mlir
    // 8 rows owned, one more needed on each side: 10 rows.
    %1 = local.halo_exchange %0 [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x64xf32> -> tensor<10x64xf32>
    ```
    Where `parts` are given only these arrive, and nobody may read the rest of the result: a star of rows
    and columns leaves its corners out.
    ```mlir
    %1 = local.halo_exchange %0 [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>, <dim 1 along [] : [0:4] -> [-1:5]>]
        parts [#local.part<[-1:9, 7:17], [0:4]>, #local.part<[0:8, 8:16], [-1:5]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x6xf32>
    ```
  }];
}

def Local_RebalanceOp : Local_ExchangeOp<"rebalance"> {
  let summary = "Move from blocks of one partition to blocks of another; only the differences travel.";
  let description = [{
    ```mlir
    // The second rank gives one row to the first.
    %1 = local.rebalance %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:5, 5:8]>] on @mesh : tensor<4x3xf32> -> tensor<?x3xf32>
    ```
  }];
}

def Local_AllGatherOp : Local_ExchangeOp<"all_gather"> {
  let summary = "Give every rank all that its group owns of the listed dims.";
  let description = [{
    ```mlir
    %1 = local.all_gather %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4x3xf32> -> tensor<8x3xf32>
    ```
  }];
}

def Local_AllToAllOp : Local_ExchangeOp<"all_to_all"> {
  let summary = "Make one dim whole while another is cut.";
  let description = [{
    ```mlir
    // Rows were cut, columns are.
    %1 = local.all_to_all %0 [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>, <dim 1 along ["x"] : [0:6, 0:6] -> [0:3, 3:6]>]
        on @mesh : tensor<4x6xf32> -> tensor<8x3xf32>
    ```
  }];
}

def Local_ExchangeStartOp : Local_Op<"exchange_start", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "First half of an exchange: let the others read this rank's block.";
  let description = [{
    Until the `local.exchange_wait` of its token, in the same block, the block stays as it is. Work that does
    not need the result is between the two.
    ```mlir
    %t = local.exchange_start %0 : tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs I64:$token);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Local_ExchangeWaitOp : Local_Op<"exchange_wait", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Local_CommunicationOpInterface>,
    DeclareOpInterfaceMethods<Local_ExchangeOpInterface>]> {
  let summary = "Second half of an exchange: take what this rank needs.";
  let description = [{
    `kind` is what the exchange is called where it is reported.
    ```mlir
    %1 = local.exchange_wait %t of %0 "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>]
        fill %zero : tensor<f32> on @mesh : tensor<8x64xf32> -> tensor<10x64xf32>
    ```
  }];
  let arguments = (ins I64:$token, AnyRankedTensor:$input, StrAttr:$kind, Optional<AnyRankedTensor>:$fill,
                       Local_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<Local_ExchangePartArrayAttr>:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $token `of` $input $kind custom<DimExchanges>($dims) (`parts` $parts^)? (`fill` $fill^ `:` type($fill))? (`reason` $reason^)?
    `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

def Local_AllReduceOp : Local_Op<"all_reduce", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Local_CommunicationOpInterface>]> {
  let summary = "Combine the partial values of a group; every rank gets the result.";
  let description = [{
    ```mlir
    %1 = local.all_reduce sum %0 along ["x"] on @mesh : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ReductionKind:$kind, StrArrayAttr:$axes,
                       FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `along` $axes (`reason` $reason^)? `on` $mesh attr-dict `:` type($result)";
}

def Local_ReduceScatterOp : Local_Op<"reduce_scatter", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Local_CommunicationOpInterface>]> {
  let summary = "Combine the partial values of a group; each rank gets its own block of the result.";
  let description = [{
    Every rank of the group along `axes` holds a partial value of the same box; the tables say which
    part of it each rank keeps (owned: that box; needed: the part).
    ```mlir
    %1 = local.reduce_scatter sum %0 along ["x"] [<dim 0 along ["x"] : [0:8, 0:8] -> [0:4, 4:8]>]
        on @mesh : tensor<8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Spmd_ReductionKind:$kind, StrArrayAttr:$axes,
                       Local_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $input `along` $axes custom<DimExchanges>($dims) (`reason` $reason^)? `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALCOMMUNICATION_TD
