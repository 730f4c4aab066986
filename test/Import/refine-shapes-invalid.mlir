// RUN: shard-opt %s --split-input-file --spmd-refine-shapes=shapes="0=6x4" --verify-diagnostics
// RUN: not shard-opt %s --split-input-file --spmd-refine-shapes=shapes="0=6xq" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: shapes option has '0=6xq', expected an argument and sizes such as 0=8x6

// expected-error @below {{shapes option gives argument 0 the shape 6x4, but its type is 'tensor<?x3xf32>'}}
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// -----

// expected-error @below {{unsupported: argument 1 of @main has dynamic shape 'tensor<?xf32>'; give its shape (--shapes=1=4x8) or inputs}}
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %bytes: tensor<3000000000xui8>) -> tensor<i32> {
  // expected-error @below {{'stablehlo.get_dimension_size' op has the result type 'i32', but dim 0 has 3000000000 elements}}
  %n = stablehlo.get_dimension_size %bytes, dim = 0 : (tensor<3000000000xui8>) -> tensor<i32>
  return %n : tensor<i32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %some = stablehlo.compare GE, %n, %seven, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @below {{expected at least 7 rows, found 6}}
  stablehlo.custom_call @shape_assertion(%some, %n) {error_message = "expected at least 7 rows, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>, %shape: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.dynamic_reshape' at {{.*}}: its shape depends on more than shapes of arguments}}
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  // expected-error-re @below {{unsupported: 'stablehlo.set_dimension_size' at {{.*}} sets a dim of 6 elements to 2}}
  %0 = stablehlo.set_dimension_size %x, %two, dim = 0 : (tensor<6x4xf32>, tensor<i32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  // expected-error @below {{unsupported: shapes of the results of 'stablehlo.reshape', 'tensor<?xf32>', cannot be inferred from its operands}}
  %0 = stablehlo.reshape %x : (tensor<?x4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %zero: tensor<f32>) -> tensor<?x4xf32> {
  %two = stablehlo.constant dense<2> : tensor<2xi32>
  // expected-error @below {{has 3 operands, expected n inputs, n initial values and five shapes}}
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %two) {called_computations = [@add]} : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %zero: tensor<f32>) -> tensor<?x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2x2xi32>
  // expected-error @below {{expects one function in called_computations}}
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %one, %one, %one, %one, %none) : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %i: tensor<2xi32>) -> tensor<?x?xf32> {
  %sizes = stablehlo.constant dense<[7, 4]> : tensor<2xi32>
  // expected-error @below {{takes slices of 7 of a dim of 6 elements}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0>}> : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %p: tensor<i1>) -> tensor<?x4xf32> {
  // expected-error @below {{carries value 0 of type 'tensor<6x4xf32>', but its body makes it 'tensor<12x4xf32>'}}
  %0 = stablehlo.while(%y = %x) : tensor<?x4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    stablehlo.return %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %p: tensor<i1>) -> tensor<?x4xf32> {
  // expected-error @below {{has branches of types 'tensor<6x4xf32>' and 'tensor<12x4xf32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?x4xf32>
  }, {
    %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    stablehlo.return %1 : tensor<?x4xf32>
  }) : (tensor<i1>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %state: tensor<2xui64>, %shape: tensor<1xi32>) -> tensor<?xui32> {
  // expected-error @below {{expects a state and a shape, rng_algorithm, and a state and numbers as results}}
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %shape) : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
  return %0#1 : tensor<?xui32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %zero: tensor<f32>) -> tensor<?x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1x2xi32>
  // expected-error @below {{has a window of other than 2 dims}}
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %one, %one, %one, %one, %none) {called_computations = [@add]} : (tensor<?x4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%x: tensor<?x4xf32>, %image: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x?x?x4xf32> {
  %padding = stablehlo.constant dense<1> : tensor<1x2xi32>
  // expected-error @below {{padding has type 'tensor<1x2xi32>', expected shape [2, 2]}}
  %0 = "stablehlo.dynamic_conv"(%image, %w, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>, tensor<1x2xi32>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?xi8> {
  // expected-error@+1 {{has blocks of type 'tensor<4611686018427387904xi8>', too many for a tensor of 63 bits}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<?x4xf32>) {
    %n = stablehlo.constant dense<4611686018427387904> : tensor<1xi64>
    %i = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi8>
    sdy.return %i : tensor<?xi8>
  } : (tensor<?x4xf32>) -> tensor<?xi8>
  return %0 : tensor<?xi8>
}
