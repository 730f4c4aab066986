// RUN: shard-opt %s --split-input-file --spmd-expand-linear-algebra --verify-diagnostics

func.func @operands(%a: tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>) {
  // expected-error @below {{custom call @lapack_spotrf_ffi has type 'tensor<3x3xf16>' -> 'tensor<3x3xf16>', 'tensor<i32>', expected 1 tensors of f32, f64 or complex numbers and 2 results}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) : (tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x3xf16>, tensor<i32>
}

// -----

func.func @workspace(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @below {{unsupported: custom call @lapack_sgesdd_ffi has result 0 in use, which no program of JAX reads}}
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<i32>)
  return %0#0 : tensor<3x3xf32>
}

// -----

func.func @main(%a: tensor<5x4xf32>) -> tensor<5xf32> {
  // expected-error @below {{custom call @lapack_sgeev_ffi has an operand of type 'tensor<5x4xf32>', expected square matrices}}
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) : (tensor<5x4xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>, tensor<i32>)
  return %0#0 : tensor<5xf32>
}

// -----

func.func @main(%a: tensor<5x5xf32>) -> tensor<5x5xf32> {
  // expected-error @below {{unsupported: custom call @lapack_sgees_ffi sorts eigenvalues by a function}}
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 83 : ui8}} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<i32>, tensor<i32>)
  return %0#0 : tensor<5x5xf32>
}

// -----

func.func @main(%a: tensor<5x5xf32>) -> tensor<5x5xf32> {
  // expected-error @below {{unsupported: custom call @lapack_sgehrd_ffi reduces a part of its matrices, expected all rows}}
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {low = 2 : i32, high = 5 : i32}} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<4xf32>, tensor<i32>)
  return %0#0 : tensor<5x5xf32>
}

// -----

func.func @main(%a: tensor<5x5xf32>, %j: tensor<4xi32>) -> tensor<5x5xf32> {
  // expected-error @below {{expected matrices, one 32-bit integer for each of their columns, and three results}}
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %j) : (tensor<5x5xf32>, tensor<4xi32>) -> (tensor<5x5xf32>, tensor<5xi32>, tensor<5xf32>)
  return %0#0 : tensor<5x5xf32>
}

// -----

func.func @pivots(%p: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  // expected-error @below {{custom call @cu_lu_pivots_to_permutation expects one operand and one result}}
  %0:2 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%p) : (tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xi32>, tensor<3xi32>
}

// -----

func.func @reflectors(%a: tensor<5x3xf32>, %taus: tensor<3xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{custom call @lapack_sormqr_ffi multiplies 'tensor<4x2xf32>' from the left by reflectors in 'tensor<5x3xf32>'}}
  %0 = stablehlo.custom_call @lapack_sormqr_ffi(%a, %taus, %b) {mhlo.backend_config = {left = true, transpose = false}} : (tensor<5x3xf32>, tensor<3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
