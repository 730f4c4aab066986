// RUN: shard-opt %s --spmd-make-reproducible --split-input-file --verify-diagnostics

// Updates two elements long may meet in one of them.
func.func @main(%x: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x2xf32>) -> tensor<8xf32> {
  // expected-error @below {{under --reproducible: updates longer than an element in a dim that is indexed, or in batches, may meet in parts; scatter elements}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<8xf32>
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

// -----

func.func @main(%x: tensor<2x8xcomplex<f32>>, %y: tensor<8x2xf32>) -> tensor<2x2xcomplex<f32>> {
  // expected-error @below {{under --reproducible: its factors are of different kinds}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x8xcomplex<f32>>, tensor<8x2xf32>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}
