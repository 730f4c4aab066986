// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @top_k_size(%a: tensor<4x6xf32>) {
  // expected-error @+1 {{asks for 7 of the 6 elements of the last dim}}
  %0, %1 = chlo.top_k(%a, k = 7) : tensor<4x6xf32> -> (tensor<4x7xf32>, tensor<4x7xi32>)
  return
}

// -----

func.func @top_k_scalar(%a: tensor<f32>) {
  // expected-error @+1 {{operand has type 'tensor<f32>', expected at least one dim}}
  %0, %1 = chlo.top_k(%a, k = 7) : tensor<f32> -> (tensor<7xf32>, tensor<7xi32>)
  return
}

// -----

func.func @shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = chlo.next_after %a, %b : tensor<4xf32>, tensor<5xf32> -> tensor<4xf32>
  return
}
