//===- LocalValues.td - Ops of the local view: what differs by rank *- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_TD

include "shardc/Dialect/Local/IR/LocalDialect.td"

def Local_LookupOp : Local_Op<"lookup", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "Read this rank's entry of a table.";
  let description = [{
    One entry for each coordinate along `axes`, row-major: local sizes, offsets, phases.
    ```mlir
    %rows = local.lookup [8, 7] along ["x"] on @mesh
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

def Local_DilateOp : Local_Op<"dilate", [Pure]> {
  let summary = "Spread elements of one dim apart, in a phase that may differ by rank.";
  let description = [{
    result[i] = input[(i - first) / factor] where that is an element, else `fill`. `first` may
    be negative and `size` is the result's extent along `dim`.
    ```mlir
    %1 = local.dilate %0 dim 1 by 2 first %first size %size fill %zero
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

def Local_AccumulateOp : Local_Op<"accumulate", [Pure, AllTypesMatch<["term", "sum", "result"]>]> {
  let summary = "Add to a sum in its place.";
  let description = [{
    What arrives round after round is added when it is there: sums of plain additions would be taken at the
    end, with all terms held until then.
    ```mlir
    %1 = local.accumulate %term into %sum : tensor<2x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$term, AnyRankedTensor:$sum);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$term `into` $sum attr-dict `:` type($result)";
}

def Local_CallHostOp : Local_Op<"call_host", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "`spmd.host_call` on a rank.";
  let description = [{
    The rank at coordinate 0 along `axes` calls; it alone has elements, of results too. `types` are those of whole operands
    and results. `shards`: every rank calls, with its own shards, and there are no results.
    ```mlir
    // %w has 8 rows on the first rank, none on others.
    %r = local.call_host 0(%w) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh : (tensor<?x4xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Variadic<AnyRankedTensor>:$inputs, UnitAttr:$has_effect, UnitAttr:$ordered,
                       UnitAttr:$shards, TypeArrayAttr:$types, StrArrayAttr:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $index `(` $inputs `)` (`effects` $has_effect^)? (`ordered` $ordered^)? (`shards` $shards^)?
    `as` $types `along` $axes `on` $mesh attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALVALUES_TD
