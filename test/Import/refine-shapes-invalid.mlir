// RUN: shard-opt %s --split-input-file --spmd-refine-shapes=shapes="0=6x4" --verify-diagnostics

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
