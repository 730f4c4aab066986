//===- SpmdLocal.td - Ops of the local view: what differs by rank *- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_TD

include "shardc/Dialect/Spmd/IR/SpmdBase.td"

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

#endif // SHARDC_DIALECT_SPMD_IR_SPMDLOCAL_TD
