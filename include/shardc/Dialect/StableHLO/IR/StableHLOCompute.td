//===- StableHLOCompute.td - Contractions, windows, reductions, sorting ---===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPUTE_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPUTE_TD

include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.td"

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let summary = "Sum of products over the contracting dims.";
  let description = [{
    Result dims: batching dims, then the other dims of lhs, then those of rhs. The result's
    element type is the type to accumulate in (at least).
    ```mlir
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<4x8x16xf32>, tensor<4x16x2xf32>) -> tensor<4x8x2xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
      OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lhs `,` $rhs `,`
      custom<DotAttributes>($dot_dimension_numbers, $precision_config, $algorithm) attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_DotOp : StableHLO_Op<"dot", [Pure]> {
  let summary = "Product of vectors and matrices (older text).";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `precision` `=` custom<Precisions>($precision_config)^)? attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [Pure]> {
  let summary = "Sum of products over a moving window.";
  let description = [{
    Padding and dilations are in elements, per spatial dim; padding may be negative.
    ```mlir
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding,
      OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
      OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
      OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
      StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
      I64Attr:$feature_group_count, I64Attr:$batch_group_count,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let extraClassDeclaration = [{
    /// The window attributes with their defaults filled in, one entry a
    /// spatial dim: stride 1, dilations 1, padding (0, 0), not reversed.
    ::llvm::SmallVector<int64_t> getWindowStridesOrOnes();
    ::llvm::SmallVector<int64_t> getLhsDilationOrOnes();
    ::llvm::SmallVector<int64_t> getRhsDilationOrOnes();
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPaddingOrZeros();
    ::llvm::SmallVector<bool> getWindowReversalOrFalse();
  }];
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
      `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation,
                                                $rhs_dilation, $window_reversal) `}`
      attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicConvOp : StableHLO_Op<"dynamic_conv", [NoMemoryEffect]> {
  let summary = "convolution with padding that is a value.";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_IntTensor:$padding,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
      OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
      OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
      OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
      StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
      I64Attr:$feature_group_count, I64Attr:$batch_group_count,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions and windows
//===----------------------------------------------------------------------===//

def StableHLO_ReduceOp : StableHLO_Op<"reduce",
    [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "Combine all elements along some dims.";
  let description = [{
    ```mlir
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %2:2 = stablehlo.reduce(%a init: %za), (%b init: %zb) across dimensions = [0]
        : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
      reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
        stablehlo.return %x, %p : tensor<f32>, tensor<i32>
      }
    ```
    The region's arguments are the accumulators, then the elements.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      Variadic<StableHLO_Tensor>:$init_values, DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_Op<"reduce_window",
    [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "Combine all elements of a moving window.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      Variadic<StableHLO_Tensor>:$init_values, DenseI64ArrayAttr:$window_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
      OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
      OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
      OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The window attributes with their defaults filled in, one entry a dim.
    ::llvm::SmallVector<int64_t> getWindowStridesOrOnes();
    ::llvm::SmallVector<int64_t> getBaseDilationsOrOnes();
    ::llvm::SmallVector<int64_t> getWindowDilationsOrOnes();
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPaddingOrZeros();
  }];
  let hasVerifier = 1;
}

def StableHLO_SelectAndScatterOp : StableHLO_Op<"select_and_scatter",
    [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Scatter a source to the element each window selects (max-pool's gradient).";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source,
      StableHLO_Tensor:$init_value, OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let extraClassDeclaration = [{
    /// The window attributes with their defaults filled in, one entry a dim.
    ::llvm::SmallVector<int64_t> getWindowDimensionsOrOnes();
    ::llvm::SmallVector<int64_t> getWindowStridesOrOnes();
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPaddingOrZeros();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Whole-dim algorithms
//===----------------------------------------------------------------------===//

def StableHLO_SortOp : StableHLO_Op<"sort",
    [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Sort several tensors together along one dim.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}

def StableHLO_FftOp : StableHLO_Op<"fft", [Pure]> {
  let summary = "Discrete Fourier transform over the last dims.";
  let description = [{
    ```mlir
    %1 = stablehlo.fft %0, type = RFFT, length = [16]
        : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
    ```
  }];
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<EnumWord>($fft_type) `,` `length` `=` $fft_length attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", [Pure, SameOperandsAndResultType]> {
  let summary = "Cholesky factor of the last two dims.";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$a,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let extraClassDeclaration = compatibleReturnTypes;
  let hasVerifier = 1;
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict
      `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}

def StableHLO_TriangularSolveOp : StableHLO_Op<"triangular_solve", [Pure]> {
  let summary = "Solve with a triangular matrix in the last two dims.";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$a, StableHLO_FloatOrComplexTensor:$b,
      BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal,
      StableHLO_TransposeAttr:$transpose_a);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let hasVerifier = 1;
}

// Each has elements (the operand, its gradients) and numbers of features (all
// that has one dim).
class StableHLO_BatchNormOp<string mnemonic> : StableHLO_Op<mnemonic, [
    Pure,
    PredOpTrait<"feature_index is a dim of the operand",
                CPred<"checks::hasFeatureDim(&($_op))">>,
    PredOpTrait<"scale, offset, mean and variance, and their gradients, have one dim with an element for each feature",
                CPred<"checks::haveElementsForFeatures(&($_op))">>,
    PredOpTrait<"grad_output and the first result have the shape of the operand",
                CPred<"checks::haveShapeOfOperand(&($_op))">>,
    PredOpTrait<"operands and results have one element type",
                CPred<"checks::haveOneElementType(&($_op))">>]>;

def StableHLO_BatchNormInferenceOp : StableHLO_BatchNormOp<"batch_norm_inference"> {
  let summary = "Normalise with given mean and variance.";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatTensor:$scale,
      StableHLO_FloatTensor:$offset, StableHLO_FloatTensor:$mean,
      StableHLO_FloatTensor:$variance, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_BatchNormOp<"batch_norm_training"> {
  let summary = "Normalise with the batch's own mean and variance.";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatTensor:$scale,
      StableHLO_FloatTensor:$offset, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$output, StableHLO_FloatTensor:$batch_mean,
                      StableHLO_FloatTensor:$batch_var);
}

def StableHLO_BatchNormGradOp : StableHLO_BatchNormOp<"batch_norm_grad"> {
  let summary = "Gradient of batch_norm_training.";
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatTensor:$scale,
      StableHLO_FloatTensor:$mean, StableHLO_FloatTensor:$variance,
      StableHLO_FloatTensor:$grad_output, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$grad_operand, StableHLO_FloatTensor:$grad_scale,
                      StableHLO_FloatTensor:$grad_offset);
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [Pure]> {
  let summary = "Uniform random bits from a state, and the next state.";
  let description = [{
    ```mlir
    %state1, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
    ```
  }];
  let arguments = (ins StableHLO_IntTensor:$initial_state,
                       StableHLO_RngAlgorithmAttr:$rng_algorithm);
  let results = (outs StableHLO_IntTensor:$output_state, StableHLO_Tensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<EnumWord>($rng_algorithm) attr-dict
      `:` functional-type(operands, results)
  }];
}

def StableHLO_RngOp : StableHLO_Op<"rng"> {
  let summary = "Random numbers from the machine's own state.";
  let arguments = (ins StableHLO_Tensor:$a, StableHLO_Tensor:$b,
      StableHLO_DimensionTensor:$shape, StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<EnumWord>($rng_distribution) attr-dict
      `:` functional-type(operands, results)
  }];
}

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOCOMPUTE_TD
