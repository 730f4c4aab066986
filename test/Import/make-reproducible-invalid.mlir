// RUN: shard-opt %s --spmd-make-reproducible --split-input-file --verify-diagnostics

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // expected-error @below {{under --reproducible: of windows only sums of floats from zero, maxima and minima are known to be the same on every mesh}}
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{under --reproducible: of scatters only those that overwrite, add floats or take extremes}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %limit: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error @below {{under --reproducible: it combines by more than elementwise ops on its arguments and constants}}
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.minimum %s, %limit : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }
  return %0 : tensor<f32>
}
// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{under --reproducible: it is not known to give the same bits on every mesh}}
  %0 = stablehlo.custom_call @Unknown(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
