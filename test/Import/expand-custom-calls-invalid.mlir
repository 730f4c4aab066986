// RUN: shard-opt %s --split-input-file --spmd-expand-custom-calls --spmd-collect-checks --verify-diagnostics

func.func @main(%x: tensor<5x48xf32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{custom call @ApproxTopK has 1 operands and 1 results, expected n tensors, n initial values, n results and a reduction_dim}}
  %0 = stablehlo.custom_call @ApproxTopK(%x) {mhlo.backend_config = {reduction_dim = 1 : i64}} : (tensor<5x48xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @main(%x: tensor<5x48xf32>, %z: tensor<f32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{custom call @ApproxTopK expects one comparator of 2 arguments in called_computations}}
  %0 = stablehlo.custom_call @ApproxTopK(%x, %z) {mhlo.backend_config = {reduction_dim = 1 : i64}} : (tensor<5x48xf32>, tensor<f32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @main(%x: tensor<i32>) {
  %0 = stablehlo.while(%i = %x) : tensor<i32> cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    // expected-error-re @+1 {{unsupported: 'check.expect_eq' at {{.*}} is in a region of 'stablehlo.while', where it cannot be followed}}
    check.expect_eq %i, %x : tensor<i32>
    %go = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return
}

// -----

func.func @main(%a: tensor<5x3xf32>, %b: tensor<7x2xf32>, %c: tensor<4xi32>) -> tensor<7x2xf32> {
  // expected-error @below {{custom call @ragged_all_to_all sends rows of 'tensor<5x3xf32>' into 'tensor<7x2xf32>', expected rows of one type and a result of the second}}
  %0 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %c, %c, %c, %c) {backend_config = {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<5x3xf32>, tensor<7x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}

// -----

func.func @main(%a: tensor<5x3xf32>, %c: tensor<3xi32>) -> tensor<5x3xf32> {
  // expected-error @below {{custom call @ragged_all_to_all has offsets of type 'tensor<3xi32>', expected four vectors of integers of one type, as long as a group of 2 or a multiple of it}}
  %0 = stablehlo.custom_call @ragged_all_to_all(%a, %a, %c, %c, %c, %c) {backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @main(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{custom call @ragged_all_to_all has 2 operands, expected six, one result and replica_groups in its backend_config}}
  %0 = stablehlo.custom_call @ragged_all_to_all(%a, %a) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @main(%x: tensor<5x48xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>) {
  // expected-error @+1 {{custom call @mhlo.topk expects one operand, two results, k, and the largest asked for}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = false}} : (tensor<5x48xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<5x3xi32>
}

// -----

func.func @main(%x: tensor<5xf32>) {
  // expected-error @+1 {{custom call @dce_sink expects one tensor}}
  stablehlo.custom_call @dce_sink(%x, %x) {has_side_effect = true} : (tensor<5xf32>, tensor<5xf32>) -> ()
  return
}

// -----

func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  // expected-error @+1 {{custom call @dce_sink has results, expected none}}
  %0:2 = stablehlo.custom_call @dce_sink(%x) {has_side_effect = true} : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %0#0, %0#1 : tensor<5xf32>, tensor<5xf32>
}

// -----

func.func @main(%x: tensor<5x48xf32>, %z: tensor<f32>) -> tensor<5x49xf32> {
  // expected-error @below {{custom call @ApproxTopK turns 'tensor<5x48xf32>' into 'tensor<5x49xf32>', expected a part of dim 1}}
  %0 = stablehlo.custom_call @ApproxTopK(%x, %z) {mhlo.backend_config = {reduction_dim = 1 : i64}} : (tensor<5x48xf32>, tensor<f32>) -> tensor<5x49xf32>
  return %0 : tensor<5x49xf32>
}

// -----

func.func @main(%x: tensor<5x3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{custom call @LayoutConstraint expects results of its operands' types}}
  %0 = stablehlo.custom_call @LayoutConstraint(%x) : (tensor<5x3xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{custom call @control_dep expects no results}}
  %0 = stablehlo.custom_call @control_dep(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
