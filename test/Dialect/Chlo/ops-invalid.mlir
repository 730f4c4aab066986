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

// -----

func.func @main(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %g: tensor<2xi32>) {
  // expected-error @below {{has group sizes of type 'tensor<2xi32>', expected one for each group of 'tensor<3x6x5xf32>'}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<2xi32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @main(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %g: tensor<3xi32>) {
  // expected-error @below {{has 0 group dims, expected one of the second operand}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @main(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %g: tensor<3xi32>) {
  // expected-error @below {{expected dims of 'tensor<8x6xf32>' and 'tensor<3x6x5xf32>', each once, as many on both sides}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @main(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %g: tensor<3xi32>) {
  // expected-error @below {{unknown field 'ragged'}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<ragged = [2]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @contracted(%a: tensor<8x6xf32>, %b: tensor<3x7x5xf32>, %g: tensor<3xi32>) {
  // expected-error @+1 {{multiplies 'tensor<8x6xf32>' by 'tensor<3x7x5xf32>', expected batching and contracting dims of equal sizes}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x7x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @square_of_integers(%a: tensor<4xi32>) {
  // expected-error @below {{'chlo.square' op operand #0 must be ranked tensor of }}
  %0 = chlo.square %a : tensor<4xi32> -> tensor<4xi32>
  return
}
