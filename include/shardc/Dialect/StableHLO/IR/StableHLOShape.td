//===- StableHLOShape.td - Constants, movement and addressing of data -----===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPE_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPE_TD

include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.td"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def StableHLO_ConstantOp : StableHLO_Op<"constant",
    [Pure, ConstantLike, AllTypesMatch<["value", "output"]>,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A tensor known at compile time.";
  let description = [{
    ```mlir
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let summary = "The index along one dim, as a value.";
  let description = [{
    ```mlir
    %0 = stablehlo.iota dim = 0 : tensor<8x4xi32>
    ```
  }];
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}

def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota", [Pure]> {
  let summary = "The index along one dim of a tensor whose shape is a value.";
  let description = [{
    ```mlir
    %1 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi64>) -> tensor<?x4xi32>
    ```
  }];
  let arguments = (ins StableHLO_DimensionTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def StableHLO_BroadcastInDimOp
    : StableHLO_Op<"broadcast_in_dim", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Repeat along new dims and dims of size one.";
  let description = [{
    Operand dim i becomes result dim `broadcast_dimensions[i]`.
    ```mlir
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicBroadcastInDimOp
    : StableHLO_Op<"dynamic_broadcast_in_dim", [NoMemoryEffect]> {
  let summary = "broadcast_in_dim to a shape that is a value.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_DimensionTensor:$output_dimensions,
      DenseI64ArrayAttr:$broadcast_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$resultType, "::mlir::Value":$operand,
      "::mlir::Value":$outputDimensions, "::llvm::ArrayRef<int64_t>":$broadcastDimensions)>];
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_BroadcastOp
    : StableHLO_InferOp<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Repeat along new leading dims.";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [Pure, SameOperandsAndResultElementType]> {
  let summary = "The same elements in row-major order under another shape.";
  let description = [{
    ```mlir
    %1 = stablehlo.reshape %0 : (tensor<2x6xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicReshapeOp
    : StableHLO_Op<"dynamic_reshape", [NoMemoryEffect]> {
  let summary = "reshape to a shape that is a value.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_DimensionTensor:$output_shape);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_TransposeOp
    : StableHLO_InferOp<"transpose", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Permute dims: result dim i is operand dim permutation[i].";
  let description = [{
    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReverseOp : StableHLO_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "Reverse the order along some dims.";
  let description = [{
    ```mlir
    %1 = stablehlo.reverse %0, dims = [0] : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let extraClassDeclaration = compatibleReturnTypes;
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
      `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure]> {
  let summary = "The same bits under another element type.";
  let description = [{
    Where widths differ, the last dim holds the narrower parts.
    ```mlir
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xui32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_GetDimensionSizeOp : StableHLO_InferOp<"get_dimension_size", [Pure]> {
  let summary = "The size of one dim.";
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$dimension);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure]> {
  let summary = "Set the size of one dim of a bounded tensor.";
  let arguments = (ins StableHLO_Tensor:$operand, 0DTensorOf<[I32]>:$size, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

def StableHLO_SliceOp : StableHLO_InferOp<"slice", [Pure, SameOperandsAndResultElementType]> {
  let summary = "A strided box, its position known at compile time.";
  let description = [{
    ```mlir
    %1 = stablehlo.slice %0 [0:8, 1:5:2] : (tensor<8x6xf32>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
      DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_RealDynamicSliceOp : StableHLO_Op<"real_dynamic_slice", [NoMemoryEffect]> {
  let summary = "slice with bounds and strides that are values.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_DimensionTensor:$start_indices,
      StableHLO_DimensionTensor:$limit_indices, StableHLO_DimensionTensor:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicSliceOp
    : StableHLO_InferOp<"dynamic_slice", [Pure]> {
  let summary = "A box of known size at a position that is a value; clamped to the operand.";
  let description = [{
    ```mlir
    %1 = stablehlo.dynamic_slice %0, %i, %j, sizes = [4, 3]
        : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand,
      Variadic<StableHLO_ScalarIntTensor>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsBeforeAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_InferOp<"dynamic_update_slice", [Pure]> {
  let summary = "The operand with a box replaced, at a position that is a value; clamped.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
      Variadic<StableHLO_ScalarIntTensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ConcatenateOp : StableHLO_InferOp<"concatenate", [Pure]> {
  let summary = "Tensors one after another along one dim.";
  let description = [{
    ```mlir
    %2 = stablehlo.concatenate %0, %1, dim = 0
        : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    custom<OperandsBeforeAttribute>($inputs) `dim` `=` $dimension attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_PadOp : StableHLO_InferOp<"pad", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Add a value around and between elements; negative edges cut.";
  let description = [{
    ```mlir
    %1 = stablehlo.pad %0, %v, low = [1, -1], high = [0, 2], interior = [0, 1]
        : (tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$padding_value,
      DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
      DenseI64ArrayAttr:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high
      `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicPadOp : StableHLO_Op<"dynamic_pad", [NoMemoryEffect]> {
  let summary = "pad with widths that are values.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$padding_value,
      StableHLO_DimensionTensor:$edge_padding_low, StableHLO_DimensionTensor:$edge_padding_high,
      StableHLO_DimensionTensor:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Addressing
//===----------------------------------------------------------------------===//

def StableHLO_GatherOp : StableHLO_InferOp<"gather", [Pure]> {
  let summary = "Slices of the operand at positions given by a tensor; clamped.";
  let description = [{
    ```mlir
    %2 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
      StableHLO_GatherDimensionNumbersAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_DynamicGatherOp : StableHLO_Op<"dynamic_gather", [NoMemoryEffect]> {
  let summary = "gather with slice sizes that are a value.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
      StableHLO_DimensionTensor:$slice_sizes,
      StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_ScatterOp : StableHLO_Op<"scatter",
    [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "Combine updates into the inputs at positions given by a tensor.";
  let description = [{
    Updates that would reach outside are dropped. The region says how an old value (first
    argument) and an update (second) combine.
    ```mlir
    %r = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<10x6xf32>
    ```
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_IntTensor:$scatter_indices,
      Variadic<StableHLO_Tensor>:$updates,
      StableHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPE_TD
