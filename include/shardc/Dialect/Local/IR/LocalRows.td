//===- LocalRows.td - Rows asked for by index ---------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALROWS_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCALROWS_TD

include "shardc/Dialect/Local/IR/LocalDialect.td"

class Local_RowsOp<string mnemonic, list<Trait> traits = []> : Local_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Local_CommunicationOpInterface>] # traits>;

def Local_RowPlanOp : Local_RowsOp<"row_plan"> {
  let summary = "Find out whose rows this rank's indices name.";
  let description = [{
    Gathers and scatters with the same indices share a plan, and one whose indices do not change leaves a loop.
    `vector` is the dim of the index vectors (the number of dims if each is one number); the others, of which
    those that are cut are listed after `batch` (owned intervals alone count), make one position each. Of the
    addressed dims, `components` says which component of a vector is the start along it (-1 - d: the position
    along batch dim d itself), `slices` how many rows from there on, and `rows` which rows each coordinate owns
    and which part of every slice it needs. Positions are row-major over batch dims, then parts of slices.
    ```mlir
    %p = local.row_plan %indices vector 1 components [0] slices [1]
        rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]>]
        on @mesh : tensor<8x1xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$indices, I64Attr:$vector_dim, DenseI64ArrayAttr:$components,
                       DenseI64ArrayAttr:$slices, Local_DimExchangeArrayAttr:$rows, Local_DimExchangeArrayAttr:$dims,
                       FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs I64:$plan);
  let assemblyFormat = [{
    $indices `vector` $vector_dim `components` $components `slices` $slices `rows` custom<DimExchanges>($rows)
    `batch` custom<DimExchanges>($dims) (`reason` $reason^)? `on` $mesh attr-dict `:` type($indices)
  }];
}

def Local_GatherRowsOp : Local_RowsOp<"gather_rows"> {
  let summary = "Take the rows that a plan's indices name from the ranks that own them.";
  let description = [{
    Starts are clamped as StableHLO does. The addressed dims of `operand` are those from `first` on; in the result
    the plan's batch dims and then the parts of its slices (those of more than one row) are in their place. `dims` lists the operand's cut
    dims: owned intervals.
    ```mlir
    %p = local.row_plan %indices vector 1 components [0] slices [1]
        rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]>]
        on @mesh : tensor<8x1xi32>
    %1 = local.gather_rows %p of %0 first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
        on @mesh : tensor<50x16xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins I64:$plan, AnyRankedTensor:$operand, I64Attr:$first, Local_DimExchangeArrayAttr:$dims,
                       FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $plan `of` $operand `first` $first custom<DimExchanges>($dims) (`reason` $reason^)? `on` $mesh attr-dict
    `:` type($operand) `->` type($result)
  }];
  let extraClassDeclaration = "RowPlanOp getRowPlan();";
}

def Local_ScatterRowsOp : Local_RowsOp<"scatter_rows", [AllTypesMatch<["into", "result"]>]> {
  let summary = "Send rows of updates to the ranks that own what a plan's indices name.";
  let description = [{
    Each is combined with what is there, in the order of the number of an update in the whole tensor of updates:
    so a sum has the same bits on any mesh. Without a kind the last update stays. Rows outside the tensor are left
    out. `updates` has the plan's batch dims and parts of slices where `into` has the addressed dims.
    ```mlir
    %p = local.row_plan %indices vector 1 components [0] slices [1]
        rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]>]
        on @mesh : tensor<8x1xi32>
    %1 = local.scatter_rows %p by sum %updates into %0 first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
        on @mesh : tensor<8x16xf32>, tensor<50x16xf32>
    ```
  }];
  let arguments = (ins I64:$plan, AnyRankedTensor:$updates, AnyRankedTensor:$into, OptionalAttr<Spmd_ReductionKind>:$kind,
                       I64Attr:$first, Local_DimExchangeArrayAttr:$dims, FlatSymbolRefAttr:$mesh, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $plan (`by` $kind^)? $updates `into` $into `first` $first custom<DimExchanges>($dims) (`reason` $reason^)? `on` $mesh
    attr-dict `:` type($updates) `,` type($into)
  }];
  let extraClassDeclaration = "RowPlanOp getRowPlan();";
}

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALROWS_TD
